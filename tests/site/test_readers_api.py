"""The ten calls do as written what their page says, on the example and on data that fail."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ntpcore.data.dataset import InputError
from ntpverdicts.claims import Verdict
from tools.pipeline.source import code_cells

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "notebooks/readers_api.md").read_text(encoding="utf-8")


def ten_calls(data: str) -> list[object]:
    """Run the cells of the page; give back what those show that follow the heading of the calls."""
    first = PAGE[: PAGE.index("\n## Ten calls\n")].count("\n") + 1
    names: dict[str, object] = {}
    shown = []
    for cell in code_cells(PAGE):
        tree = ast.parse(cell.source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "page", "exec"), names)
        if "parameters" in cell.tags:
            names["data"] = data
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "page", "eval"), names)
            shown += [value] if cell.line > first else []
    return shown


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_there_are_ten_calls_in_order() -> None:
    assert re.findall(r"^\*\*(\d+)\. ", PAGE, re.M) == [str(n) for n in range(1, 11)]


def test_the_ten_calls_on_example_1() -> None:
    shown = ten_calls("")
    assert shown[0] == (("S", "V", "O", "P"), 9, True)
    assert shown[1] == (5, 2)
    assert shown[2] == (True, True, ())
    assert shown[3] == (1.0, 0, "counted", [])
    assert shown[4] == ("S", ("S",), ("P",))
    assert shown[5] == ({"S": "1/2", "P": "-1/2"}, "13/6")
    assert shown[8][0] == "V"
    assert set(shown[9].values()) <= {verdict.value for verdict in Verdict}


def test_the_ten_calls_on_data_that_are_not_realizable() -> None:
    shown = ten_calls("examples/contradiction.txt")
    assert shown[2][0] is False
    assert shown[3][:2] == (0.75, 0)
    assert len(shown) == 10


def test_the_ten_calls_on_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: cannot be read"):
        ten_calls("nowhere.txt")
