"""`ntpcore claims`: the catalogue, published verdicts, and clear messages for bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpcli import claims as claims_report
from ntpcli import cli
from ntpcore.data.dataset import InputError
from ntpverdicts import maths
from ntpverdicts.ledger import Data


def entry(label: str, verdict: str, uses: tuple[str, ...] = (), **more: object) -> Data:
    return {
        "label": label,
        "kind": "lemma",
        "number": label.upper(),
        "title": "about it",
        "where": "Section 1",
        "verdict": verdict,
        "evidence": "Seen.",
        "uses": list(uses),
    } | more


ENTRIES = [
    entry("huang2024-lem-1", "refuted", witness="the \x1b[31mred one"),
    entry("huang2024-lem-2", "not contradicted", ("huang2024-lem-1",), statement="First.\nSecond."),
    entry(
        "ours-x",
        "proved",
        about=["huang2024-lem-1"],
        vacuous_before="t = 9",
        tried=3,
        unit="runs",
        certainty={
            "kind": "by hand",
            "words": "by hand (2)",
            "cited": [],
            "by_hand": ["step-ours-x-one", "step-ours-y-two"],
        },
    ),
    entry("tian2023-lem-1", "open", planned=True),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"claims": ENTRIES}), encoding="utf-8")
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command prints."""
    with pytest.raises(SystemExit) as end:
        cli.app(["claims", *words])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_without_a_book_the_record_of_the_package_answers(tmp_path: Path):
    published = claims_report.load(None, tmp_path / "claims.json")
    recorded = json.loads((ROOT / "ntpbook/record.json").read_text(encoding="utf-8"))
    verdicts = {row["label"]: row["verdict"] for row in recorded["claims"]}
    assert published.source == f"the record of the release of {recorded['date']}"
    assert list(published.rows) == [claim.label for claim in CATALOGUE]
    for label, row in published.rows.items():
        assert row.get("verdict") == verdicts.get(label)
    assert claims_report.choose(published, verdict="refuted")


def test_a_claim_younger_than_the_record_has_no_verdict(tmp_path: Path):
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"date": "2026-01-01", "claims": []}), encoding="utf-8")
    published = claims_report.load(None, tmp_path / "claims.json", record)
    assert claims_report.choose(published, verdict="proved") == []
    lines: list[str] = []
    row = claims_report.find(published, "huang2024-thm-1")
    claims_report.write_claim(published, row, lambda line, _: lines.append(line))
    assert "No verdict: the claim is younger than the last release." in lines
    lines.clear()
    claims_report.write_list(published, [row], lambda line, _: lines.append(line))
    assert lines[1] == f"1 of {len(CATALOGUE)} claims"


def test_without_a_book_the_catalogue_is_printed_and_how_to_get_verdicts(tmp_path: Path):
    published = claims_report.load(None, tmp_path / "claims.json", tmp_path / "record.json")
    lines: list[str] = []
    rows = claims_report.choose(published, paper="huang2024", kind="theorem")
    claims_report.write_list(published, rows, lambda line, role: lines.append(line))
    assert len(rows) == sum(c.paper == "huang2024" and c.kind == "theorem" for c in CATALOGUE)
    assert lines[-1] == claims_report.HINT
    assert "make book" in lines[-1]
    assert not any("open" in line for line in lines[:-2])
    with pytest.raises(InputError, match="--verdict refuted: No verdicts: no book is built here"):
        claims_report.choose(published, verdict="refuted")
    lines.clear()
    row = claims_report.find(published, "huang2024-thm-1")
    claims_report.write_claim(published, row, lambda line, role: lines.append(line))
    assert claims_report.HINT in lines
    assert any("huang2024-lem-7" in line for line in lines)
    assert not any("Tainted" in line for line in lines)


def test_a_list_shows_marks_verdicts_counts_and_its_source(
    capsys: pytest.CaptureFixture[str], file: Path
):
    text = said(capsys, "--from", str(file))
    assert "✘ refuted              huang2024-lem-1  HUANG2024-LEM-1: about it" in text
    assert "✔ proved, by hand (2)  ours-x" in text
    assert "○ planned" in text
    assert "4 of 4 claims: 1 proved (1 by hand), 1 not contradicted, 1 refuted, 1 open" in text
    assert f"Verdicts from {file}" in text


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["--paper", "ours"], ["ours-x"]),
        (["--verdict", "refuted"], ["huang2024-lem-1"]),
        (["--known-by", "by hand"], ["ours-x"]),
        (["--known-by", "machine-checked"], []),
        (["--search", "SECOND first"], ["huang2024-lem-2"]),
        (["--kind", "lemma", "--paper", "tian2023"], ["tian2023-lem-1"]),
        (["--search", "nowhere"], []),
    ],
)
def test_filters_work_together_and_in_json(
    capsys: pytest.CaptureFixture[str], file: Path, words: list[str], labels: list[str]
):
    data = json.loads(said(capsys, "--from", str(file), "--json", *words))
    assert [row["label"] for row in data["claims"]] == labels
    assert data["source"] == str(file)


def test_one_claim_is_explained(capsys: pytest.CaptureFixture[str], file: Path):
    text = said(capsys, "huang2024-lem-2", "--from", str(file))
    for part in ("≈ not contradicted", "  First.\n  Second.\n", "evidence:    Seen.",
                 "Its proof uses:", "✘ refuted huang2024-lem-1", "Tainted",
                 "(huang2024-lem-1)"):  # fmt: skip
        assert part in text, part
    text = said(capsys, "ours-x", "--from", str(file))
    for part in (
        "It speaks about:",
        "says nothing before t = 9",
        "tried:       3 (runs)",
        "✔ proved, by hand (2)",
        "by hand:     step-ours-y-two",
    ):
        assert part in text, part
    assert "Used by:" in said(capsys, "huang2024-lem-1", "--from", str(file))
    data = json.loads(said(capsys, "huang2024-lem-2", "--from", str(file), "--json"))
    assert data["tainted_by"] == data["rests_on"] == ["huang2024-lem-1"]
    assert data["claim"]["verdict"] == "not contradicted"


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str], file: Path):
    text = said(capsys, "huang2024-lem-1", "--from", str(file))
    assert "\x1b" not in text
    assert "the \\x1b[31mred one" in text


def test_the_built_book_is_found_and_explained(book: Path, capsys: pytest.CaptureFixture[str]):
    text = said(capsys, "huang2024-thm-1", "--from", str(book / "claims.json"))
    for part in (
        "✘ refuted",
        "witness:",
        "repeat:      ntpcore verify huang2024-thm-1",
        "source:      ntpbook/huang2024/s5_stage2/checks.py:",
        "page:        pages/huang2024_s5_stage2.html#verdict-huang2024-thm-1",
        "control:",
        "huang2024-lem-7",
    ):
        assert part in text, part


RAW_TEX = re.compile(
    r"\\|\$|&|begin\{|end\{"
    r"|(?:begin|end)(?:equation|align|gather|cases|array|\w?matrix|split)"
)
COMMAND = re.compile(r"\\[A-Za-z]+")


def printed_faults(published: claims_report.Published) -> list[str]:
    """Raw TeX in what the command prints of every claim, and commands that have no plain form."""
    faults = []
    for label, row in published.rows.items():
        lines: list[str] = []
        claims_report.write_claim(published, row, lambda line, _, to=lines: to.append(line))
        lines += [claims_report.show(text) for text in row.get("hypotheses") or ()]
        faults += [f"{label}: {line}" for line in lines if RAW_TEX.search(line)]
        texts = [row["title"], row["evidence"], str(row.get("statement"))]
        texts += [reading["text"] for reading in row.get("readings") or ()]
        faults += [
            f"{label}: {name}"
            for name in sorted(set(COMMAND.findall("\n".join(texts))) - {r"\begin", r"\end"})
            if maths.spelled(f"{name} x y").startswith(name[1:]) and name[1:] not in maths.WORDS
        ]
    return faults


def test_no_claim_is_printed_with_raw_tex(book: Path):
    published = claims_report.load(str(book / "claims.json"))
    assert len(published.rows) > 300
    assert printed_faults(published) == []
    for planted in (r"$\unknown x$", r"$x & y", "\\begin{split} x", r"\frac12"):
        rows = {"ours-x": entry("ours-x", "proved", about=[], statement=planted)}
        assert len(printed_faults(claims_report.Published(rows, "x"))) == 1, planted


def test_a_display_is_printed_row_by_row():
    statement = (
        "Then\n" + r"\begin{equation*} \begin{gathered} x \le \tfrac12,\\ y \ge 3 \end{gathered}"
        r" \end{equation*}" + "\nfor $z$."
    )
    row = entry("ours-x", "proved", about=[], statement=statement)
    lines: list[str] = []
    published = claims_report.Published({"ours-x": row}, "x")
    claims_report.write_claim(published, row, lambda line, _: lines.append(line))
    assert lines[2:6] == ["  Then", "    x ≤ ½,", "    y ≥ 3", "  for z."]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """The command as a reader runs it."""
    return subprocess.run(
        [sys.executable, "-m", "ntpcore", "claims", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["huang2024-lem-11"], "huang2024-lem-11: no such claim; did you mean huang2024-lem-1"),
        (["zzz"], "zzz: no such claim; ntpcore claims lists them all"),
        (["--paper", "x"], "--paper x: choose one of huang2024, tian2023, ours"),
        (["--kind", "x"], "--kind x: choose one of lemma"),
        (["--verdict", "x"], "--verdict x: choose one of proved, not contradicted, refuted, open"),
        (["ours-x", "--paper", "ours"], "--paper ours: filters a list, and ours-x is one claim"),
    ],
)
def test_bad_words_end_in_one_message(file: Path, words: list[str], message: str):
    done = command(*words, "--from", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"ntpcore: {message}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"claims": [', "no JSON at line 1"),
        ("[1]", 'no list "claims"'),
        ('{"claims": [1]}', "claim 1 is no object"),
        ('{"claims": [{"label": "x"}]}', 'claim 1 has no text "kind"'),
        (json.dumps({"claims": [entry("ours-x", "maybe")]}), 'has the verdict "maybe"'),
        (
            json.dumps({"claims": [entry("ours-x", "open") | {"uses": 3}]}),
            'no list of labels "uses"',
        ),
        (json.dumps({"claims": [entry("ours-x", "open", ("ours-y",))]}), "uses ours-y, which is"),
        (json.dumps({"claims": [entry("ours-x", "open", ("ours-x",))]}), "in a circle"),
        ("[" * 100_000, "nested too deep"),
        (None, "cannot be read (No such file or directory)"),
        (b"\xff", "not UTF-8 at byte 0"),
    ],
)
def test_a_damaged_file_is_named_with_the_reason(
    tmp_path: Path, content: str | bytes | None, message: str
):
    path = tmp_path / "claims.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=r"claims\.json: ") as error:
        claims_report.standing_of(claims_report.load(str(path)), "ours-x")
    assert message in str(error.value)
