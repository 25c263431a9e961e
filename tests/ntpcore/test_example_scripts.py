"""The scripts in examples/python: each runs as it stands, and prints what is true."""

from __future__ import annotations

import runpy
from fractions import Fraction
from pathlib import Path

import pytest

import ntpcore as ntp

SCRIPTS = Path(__file__).resolve().parents[2] / "examples" / "python"


def output(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that a script prints."""
    runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def numbers(line: str) -> list[float]:
    """A row of a table."""
    return [float(word) for word in line.split()]


def test_every_script_is_tried_here_and_has_at_most_sixty_lines() -> None:
    names = {path.stem: path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.py")}
    tests = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert names.keys() == {name for name in tests if name in names}
    assert {name: text.count("\n") for name, text in names.items() if text.count("\n") > 60} == {}


def test_exact_max_margin(capsys: pytest.CaptureFixture[str]) -> None:
    _, *rows, last = output("exact_max_margin", capsys)
    assert last == "50 certificates accepted"
    assert len(rows) == 50
    # every query has a pair of margin 1 at least, which costs a squared norm of 1/2
    for row in rows:
        _, _, queries, vectors, square = row.split()
        assert int(vectors) >= int(queries) > 0
        assert Fraction(square) >= Fraction(int(queries), 2)


def test_rate_of_theorem_1(capsys: pytest.CaptureFixture[str]) -> None:
    _, *rows, slope, start = output("rate_of_theorem_1", capsys)
    for row in rows:
        _, cosine, bound, lower, norm, upper = numbers(row)
        assert 0 < cosine <= bound
        assert lower <= norm <= upper
    assert "falls like t^-1." in slope
    _, _, bound, *_ = numbers(rows[-1])
    assert bound > 1, "so that it starts to say something later than the run ends"
    assert float(start.split()[-2]) > numbers(rows[-1])[0]


def test_closed_form_and_hall(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output("closed_form_and_hall", capsys)
    assert "margin: 1   sum: 0" in lines
    assert "all pairs: closed form right: True" in lines
    assert "five tokens: closed form right: False" in lines
    assert "  S = ['b'] reaches only N(S) = ['q']" in lines
    assert lines[-1] == "  squared norms: 7/6 and 6/5"


def test_decoder_and_attention(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output("decoder_and_attention", capsys)
    gap = lines.index("")
    for row in lines[1:gap]:
        _, recursion, height, closed = numbers(row)
        assert recursion == pytest.approx(height, rel=0.01)
        assert closed == pytest.approx(height, abs=1e-4)
    scores = [numbers(row)[1:4] for row in lines[gap + 2 : -1]]
    assert all(sum(one) == pytest.approx(1.0, abs=2e-4) for one in scores)
    common = [one[0] for one in scores]
    assert common == sorted(common, reverse=True)
    assert lines[-1] == "attention leaves the common token: True"


def test_columns_on_a_cluster(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    text = tmp_path / "text.txt"
    lines = ["S V O P", "V O P", "O P P", "P S V", "S V O P P", "V O P S", "O P S V", "S V O P"]
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["columns_on_a_cluster.py", str(text)])
    *rows, last = output("columns_on_a_cluster", capsys)
    data = ntp.read(text)
    whole = ntp.max_margin(data, ntp.next_tokens(data))
    assert last == f"squared norm {whole.norm_squared}"
    wanted = {query: one for query, one in whole.columns.items() if one}
    assert len(rows) == len(wanted)
    for query, *scores in map(str.split, rows):
        found = dict(score.split("=") for score in scores)
        assert {token: Fraction(score) for token, score in found.items()} == wanted[query]

    text.write_text("S V\nS O\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no map n"):
        output("columns_on_a_cluster", capsys)
