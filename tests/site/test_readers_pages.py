"""Pages that take a file of the reader's show that file, whatever it is."""

from __future__ import annotations

import ast
import re

import pytest
from tiny_book import ROOT

from ntpcli.report import report_tables as report_study
from tools.pipeline.source import code_cells, default_parameters

OWN = (
    "any_data",
    "huang2024_s3_setup",
    "huang2024_s4_algorithm",
    "huang2024_s4_realizable",
    "huang2024_s5_loss",
    "huang2024_s5_stage1",
    "huang2024_s5_stage2",
    "huang2024_s6_generalization",
    "huang2024_s6_max_margin",
    "max_margin",
)
PAGES = (*OWN, "readers_api", "readers_realizable")
FILES = ("examples/five_tokens.jsonl", "examples/contradiction.txt", "examples/gettysburg.txt")


def cells_of(page: str) -> list[str]:
    text = (ROOT / f"notebooks/{page}.md").read_text(encoding="utf-8")
    return [cell.source for cell in code_cells(text)]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_takes_a_file_and_says_so(page: str) -> None:
    text = (ROOT / f"notebooks/{page}.md").read_text(encoding="utf-8")
    assert default_parameters(code_cells(text))["data"] == ""
    assert "DATA=my.txt" in text


@pytest.mark.parametrize(
    ("page", "file"),
    [(page, file) for page in OWN for file in FILES[:2]] + [(page, FILES[2]) for page in OWN[::3]],
)
def test_the_last_section_of_a_page_shows_any_file(
    page: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    cells = cells_of(page)
    first = next(i for i, cell in enumerate(cells) if "data or " in cell)
    assert not any("data or " in cell for cell in cells[first + 1 :])
    names: dict[str, object] = {"data": file, "steps": 20}
    exec(
        "import ntpcore as ntp\nfrom ntpcore.data import dataset, order\n"
        "from ntpcore.exact import margin\n"
        "from ntpcli.report import figures as plots_report, report_tables as report_study",
        names,
    )
    for cell in cells[first:]:
        exec(cell, names)
    own = names["own"] if "own" in names else names["study"].structure  # type: ignore[attr-defined]
    assert own.data.name == file  # type: ignore[attr-defined]


def test_a_page_says_in_a_sentence_why_there_is_nothing_to_train() -> None:
    study = report_study.study(str(ROOT / "examples/contradiction.txt"), steps=5)
    for answer in (report_study.training_table(study), report_study.prediction_table(study)):
        assert "Nothing was trained: Assumption 1 fails" in answer._repr_html_()


def test_the_list_of_pages_that_take_a_file_is_the_whole_list() -> None:
    """Every page with such a parameter is in the list of the page From Python, and no other."""
    taking = {
        path.stem
        for path in (ROOT / "notebooks").glob("*.md")
        if "data" in default_parameters(code_cells(path.read_text(encoding="utf-8")))
    }
    listed = (ROOT / "notebooks/readers_api.md").read_text(encoding="utf-8")
    listed = listed.partition("## Pages that take a file")[2]
    assert set(re.findall(r"\]\((\w+)\.md\)", listed)) | {"readers_api"} == taking == set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_loses_the_name_of_the_file(page: str) -> None:
    assigned = [
        node.id
        for cell in cells_of(page)
        for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    assert assigned.count("data") == 1
