"""The report on a reader's data: one page, safe and complete, or one message and no page."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from program import CONTRADICTION, EXAMPLE_1, Run, odd_five_tokens, sentences

from ntpcli import judge, rows
from ntpcli.report import figures as plots_report
from ntpcli.report import page as report_page
from ntpcli.report import report_tables as report_study
from ntpcli.report.report_tables import Note
from ntpcore.data.dataset import Dataset, InputError
from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
NAME = "odd $x^ <b>.jsonl"


def ntpcore(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `ntpcore report` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "ntpcore", "report", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )


@pytest.fixture(scope="module")
def odd_page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report on tokens that try to be code, formulas and control characters."""
    folder = tmp_path_factory.mktemp("odd")
    os.rename(odd_five_tokens(folder), folder / NAME)
    done = ntpcore(folder, NAME, "--steps", "50", "-o", "page.html")
    assert (done.returncode, sentences(done.stderr)) == (0, [])
    assert done.stdout == "written: page.html\n"
    assert sorted(os.listdir(folder)) == sorted([NAME, "page.html"])
    return (folder / "page.html").read_text(encoding="utf-8")


def pictures(page: str) -> list[str]:
    """The SVG drawings in a page."""
    found = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    return [base64.b64decode(text).decode("utf-8") for text in found]


def test_tokens_in_a_report_are_data(odd_page: str) -> None:
    assert "<script" not in odd_page
    assert "&lt;script&gt;" in odd_page
    assert "Report on odd $x^ &lt;b&gt;.jsonl" in odd_page
    assert not [c for c in odd_page if c in "\x1b\x07\x9b\u202e\u200d"]
    for svg in pictures(odd_page):
        assert "<script" not in svg
        assert not [c for c in svg if c in "\x1b\x07\x9b\u202e\u200d"]


def test_a_readers_environment_changes_no_byte_of_a_report(
    odd_page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backend without figures, pink axes, a program that Python starts with, no threads."""
    os.rename(odd_five_tokens(tmp_path), tmp_path / NAME)
    (tmp_path / "colours.rc").write_text("axes.facecolor: pink\n", encoding="utf-8")
    (tmp_path / "startup.py").write_text("print('started')\n", encoding="utf-8")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "colours.rc"))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "startup.py"))
    monkeypatch.setenv("NUMBA_NUM_THREADS", "0")  # with which numba does not start
    foreign = ntpcore(tmp_path, NAME, "--steps", "50", "-o", "page.html")
    assert foreign.returncode == 0, foreign.stderr
    assert len(pictures(odd_page)) == 5
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == odd_page


def test_a_cell_that_draws_nothing_and_says_nothing_is_an_error() -> None:
    cell = {"cell_type": "code", "source": "plots_report.draw_loss(study)", "outputs": []}
    with pytest.raises(InputError, match=r"no picture: plots_report\.draw_loss\(study\) drew none"):
        list(report_page._cell(cell))
    cell["outputs"] = [{"data": {"text/html": "<p>why</p>"}}]
    assert list(report_page._cell(cell)) == ['<div class="wide"><p>why</p></div>']


def test_a_report_reaches_no_network_and_names_no_folder(odd_page: str) -> None:
    assert "default-src 'none'" in odd_page
    everything = odd_page + "".join(pictures(odd_page))
    links = set(re.findall(r'(?:src|href)="([^"#][^"]{0,40})', everything))
    assert links
    assert all(link.startswith("data:image/") for link in links)
    for folder in (str(ROOT), "/tmp/", sys.prefix, os.path.expanduser("~") + "/"):
        assert folder not in everything


def test_a_report_has_every_part(odd_page: str) -> None:
    for part in (
        "Assumption 1 (realizable): holds",
        "squared norm of W_kq*: 7/6",
        "2/3",
        "(1,2) (1,1)",
        "Proposition 2",
        "ntp-open",
        "likeliest next token",
        f"ntpcore check &#x27;{NAME.replace('<b>', '&lt;b&gt;')}&#x27; --steps 50",
        "SHA-256",
        "papermill",
    ):
        assert part in odd_page, part
    assert len(pictures(odd_page)) == 5
    assert odd_page.count("<img ") == len(re.findall(r'<img [^>]*alt="[^"]{20,}"', odd_page)) == 5


def test_data_that_fail_show_witnesses_and_what_to_drop() -> None:
    study = report_study.study(CONTRADICTION, name="contradiction.txt", steps=10)
    assert "at least 75.0%" in report_study.summary(study)._repr_html_()
    assert "contradiction.txt:1: 0 1 1 → 0" in report_study.assumptions(study)._repr_html_()
    assert "1: 0 = 1 0" in report_study.learned(study)._repr_html_()
    assert "Dropping 1 of 4 samples" in report_study.repair_table(study)._repr_html_()
    assert "token is confused" in report_study.attention(study)._repr_html_()
    assert "Nothing was trained" in report_study.prediction_table(study)._repr_html_()
    # nothing is defined, so that no claim which data decide is judged
    decided = judge.labels(None)
    assert f" {len(decided)} claims are open" in report_study.summary(study)._repr_html_()
    listed = report_study.verdicts(study)._repr_html_()
    assert sorted(re.findall(r"(?:huang2024|ours)-[\w-]+", listed)) == sorted(decided)
    plots_report.draw_orders(study)
    assert plots_report.draw_matrix(study) == plots_report.NOTHING


def test_every_rule_of_the_assumptions_is_explained_in_words() -> None:
    code = (ROOT / "ntpcore/data/order.py").read_text(encoding="utf-8")
    noted = set(re.findall(r'\b(?:failures|frequent)\.note\("([\w-]+)"\)', code))
    assert noted == set(rows.RULES)
    study = report_study.study(CONTRADICTION, name="contradiction.txt", steps=10)
    assert "2 times a token lies above one" in report_study.assumptions(study)._repr_html_()


def test_data_that_compare_nothing_say_so(tmp_path: Path) -> None:
    (tmp_path / "flat.txt").write_text("a b\nb a\n")
    study = report_study.study(str(tmp_path / "flat.txt"), name="flat.txt", steps=10)
    assert "nothing is compared" in report_study.attention(study)._repr_html_()
    assert "nothing is learnt" in report_study.training_table(study)._repr_html_()
    assert isinstance(plots_report.draw_orders(study), Note)


def test_predictions_are_for_sentences_that_the_data_do_not_hold() -> None:
    study = report_study.study(EXAMPLE_1, name="example1.txt", steps=900)
    table = report_study.prediction_table(study)
    shown = [row[0] for row in table.rows]
    assert shown
    assert not {"S V", "V O", "O P", "P S"} & set(shown)
    assert table.rows[shown.index("S P")][1] == "V"


def test_dollars_and_length_cannot_make_a_formula_of_a_token() -> None:
    assert plots_report.label("$x$") == "\\$x\\$"
    assert len(plots_report.label("x" * 50)) <= 10
    assert plots_report._different(["a", "a", "b"]) == ["a", "a (2)", "b"]


BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "missing": (("none.txt",), "none.txt: cannot be read"),
    "empty": (("empty.txt",), "empty.txt: the input holds no sentence"),
    "standard input": (("-",), "<stdin>: a report is on a file"),
    "there already": (("data.txt", "-o", "old.html"), "old.html: there is such a file already"),
    "the data": (("data.txt", "-o", "data.txt", "--overwrite"), "data.txt: the data are read"),
    "a folder": (("data.txt", "-o", "."), ".: this is not a plain file"),
    "twice": (("data.txt", "-o", "a", "--pdf", "./a"), "./a: named twice"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_reported_gets_one_message(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"data.txt": "a b\nb a\n", "empty.txt": "", "old.html": "precious"}.items():
        (tmp_path / name).write_text(text)
    result = run("report", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"ntpcore: {message}")
    assert result.err.count("\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["data.txt", "empty.txt", "old.html"]
    assert (tmp_path / "old.html").read_text() == "precious"


def test_data_too_large_for_a_part_get_a_page_that_says_so(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE_1, tmp_path / "data.txt")
    done = ntpcore(tmp_path, "data.txt", "--max-pairs", "2")
    assert (done.returncode, sentences(done.stderr)) == (0, [])
    page = (tmp_path / "report.html").read_text()
    assert "Orders, attention, training and verdicts are left out: data.txt:1: the partial" in page
    assert "Assumption 1 (realizable): not decided" in page
    assert "Not decided: the orders are too large." in page
    assert "Assumption 1 (realizable): holds" not in page
    assert "Nothing has to be dropped" not in page


def refuse(data: Dataset, *_: object) -> None:
    raise InputError(f"{data.name}: its collocation is not injective")


def test_a_page_without_the_part_to_drop_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_study.study(CONTRADICTION, name="contradiction.txt", steps=10)
    assert whole.left_out == ()
    monkeypatch.setattr(report_study.repair, "tabulate", refuse)
    study = report_study.study(CONTRADICTION, name="contradiction.txt", steps=10)
    for part in (report_study.summary(study), report_study.repair_table(study)):
        assert "What to drop is left out: contradiction.txt: its" in part._repr_html_()
    assert "Nothing has to be dropped" not in report_study.repair_table(study)._repr_html_()
    assert "contradiction.txt:1: 0 1 1 → 0" in report_study.assumptions(study)._repr_html_()


def test_without_a_browser_or_a_package_the_message_says_so(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(report_page.shutil, "which", lambda name: None)
    result = run("report", EXAMPLE_1, "--pdf", "a.pdf")
    assert result.code == 2
    assert result.err.startswith("ntpcore: --pdf needs Chromium, and none is installed")
    monkeypatch.setitem(sys.modules, "papermill", None)
    result = run("report", EXAMPLE_1)
    assert (result.code, result.out) == (2, "")
    assert "needs the package papermill, which is not installed" in result.err
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(
    not any(map(shutil.which, report_page.BROWSERS)), reason="Chromium is not installed"
)
def test_a_browser_prints_the_page() -> None:
    html = b"<!DOCTYPE html><title>a</title><p>one page"
    assert report_page.print_pdf(html, report_page.find_browser()).startswith(b"%PDF-")


def test_a_wheel_holds_the_notebook_and_every_package(tmp_path: Path) -> None:
    for name in (*OURS, "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    build = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = set(wheel.namelist())
    assert "ntpcli/report/template.md" in names
    modules = {str(path.relative_to(ROOT)) for one in OURS for path in (ROOT / one).rglob("*.py")}
    assert modules <= names
