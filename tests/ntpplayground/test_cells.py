"""Cells as the browser runs them, here: order, results, errors, and what stands in for packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ntpplayground import cells, stand_ins
from ntpplayground.cells import Session, names, pending, run

ROOT = Path(__file__).resolve().parents[2]
CHAIN = ["a = 2", "b = a + 1", "c = 10", "b * c"]


def texts(shown: dict[int, list[cells.Output]], at: int) -> list[tuple[str, str]]:
    """Kinds and texts of what a cell showed."""
    return [(one["kind"], one["text"]) for one in shown[at]]


@pytest.mark.parametrize(
    ("code", "needs", "gives"),
    [
        ("x = y", {"y"}, {"x"}),
        ("x = 1\ny = x", set(), {"x", "y"}),
        ("y = x\nx = 1", {"x"}, {"x", "y"}),
        ("x += 1", {"x"}, {"x"}),
        ("[x for x in y]", {"y"}, set()),
        ("[x for x in y]\nx", {"x", "y"}, set()),
        ("{x for x in y if x in z}", {"y", "z"}, set()),
        ("{x: [u for u in x] for x in y}", {"y"}, set()),
        ("[(last := x) for x in y]", {"y"}, {"last"}),
        ("{x: [(last := u) for u in x] for x in y}\nlast", {"y"}, {"last"}),
        ("def f(y):\n    return [(last := x) for x in y]", set(), {"f"}),
        ("def f():\n    return {x: y for x in z}", {"y", "z"}, {"f"}),
        ("def f(x):\n    return x + y", {"y"}, {"f"}),
        ("import a.b as c, d.e", set(), {"c", "d"}),
        ("for i in range(n): t = i", {"range", "n", "i"}, {"i", "t"}),
        ("1 +", set(), set()),
    ],
)
def test_names_that_a_cell_needs_and_gives(code: str, needs: set[str], gives: set[str]) -> None:
    found = names(code)
    assert (set(found[0]) - {"i"}, set(found[1])) == (needs - {"i"}, gives)


def test_a_cell_runs_what_it_needs_and_nothing_else() -> None:
    session = Session()
    assert sorted(run(session, [*CHAIN[:2], "1 / 0", *CHAIN[2:]], 4)) == [0, 1, 3, 4]
    assert texts(run(session, [*CHAIN[:2], "1 / 0", *CHAIN[2:]], 4), 4) == [("text", "30")]
    assert pending(session, [*CHAIN[:2], "1 / 0", *CHAIN[2:]], 4) == []


def test_a_changed_cell_above_runs_again_with_all_between() -> None:
    session = Session()
    run(session, CHAIN, 3)
    changed = ["a = 5", *CHAIN[1:]]
    shown = run(session, changed, 3)
    assert sorted(shown) == [0, 1, 3]
    assert texts(shown, 3) == [("text", "60")]


def test_a_name_made_twice_is_that_of_the_last_cell_above() -> None:
    session, code = Session(), ["n = 1", "n", "n = 2", "n"]
    assert texts(run(session, code, 3), 3) == [("text", "2")]
    assert texts(run(session, code, 1), 1) == [("text", "1")]
    assert texts(run(session, code, 3), 3) == [("text", "2")]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc1")), max_size=7))
def test_every_cell_gives_what_it_gives_from_top_to_bottom(pairs: list[tuple[str, str]]) -> None:
    code = ["a = 1", "b = 2", "c = 3", *(f"{x} = 2 * {y} + {x}\n{x}" for x, y in pairs)]
    scope: dict[str, int] = {}
    expected = []
    for one in code:
        exec(one, scope)
        expected.append(scope[one[0]])
    session = Session()
    for at in [*range(len(code) - 1, 2, -1), *range(3, len(code))]:
        assert texts(run(session, code, at), at) == [("text", str(expected[at]))]


def test_an_error_ends_the_run_and_takes_back_what_the_cell_made() -> None:
    session, code = Session(), ["x = 1", "x = 2\nx.y", "x"]
    shown = run(session, code, 2)
    assert sorted(shown) == [1]
    [(kind, text)] = texts(shown, 1)
    assert kind == "error"
    assert text.startswith('Traceback (most recent call last):\n  File "<cell 1>", line 2')
    assert text.endswith("AttributeError: 'int' object has no attribute 'y'")
    code[1] = "x = 3"
    assert texts(run(session, code, 2), 2) == [("text", "3")]


def test_an_exit_is_an_error_and_prints_come_first() -> None:
    session = Session()
    assert texts(run(session, ["print('a')\nraise SystemExit(3)"], 0), 0)[0] == ("text", "a\n")
    assert run(session, ["print('a')\n(1, 2)"], 0)[0][1] == {"kind": "text", "text": "(1, 2)"}


def test_values_are_shown_as_in_a_notebook() -> None:
    session = Session(claims={"ours-x": {"number": "Theorem 7", "title": "of <x>"}})
    card = (
        "from ntpverdicts.claims import Check, Verdict\n"
        "Check('ours-x', Verdict.OPEN, 0, 'things', 'Nothing <known>.')"
    )
    [(kind, text)] = texts(run(session, [card], 0), 0)
    assert kind == "html"
    assert "<strong>Theorem 7</strong> of &lt;x&gt;" in text
    assert "Nothing &lt;known&gt;." in text
    formula = texts(run(session, ["import sympy\nsympy.Rational(1, 3)"], 0), 0)
    assert formula == [("latex", r"$\displaystyle \frac{1}{3}$")]
    long = texts(run(session, ["{n: 'x' * 30 for n in range(3)}"], 0), 0)
    assert long[0][1].count("\n") == 2, "wrapped as in a notebook"


LOADED = """
import sys, typing
sys.path.insert(0, {folder!r})
from ntpplayground import stand_ins
stand_ins.stand_in()
import ntpbook.trial
try:
    ntpbook.trial.use()
except ModuleNotFoundError as error:
    print(error)
try:
    bool(ntpbook.trial.np.ones(2) == 1)
except ModuleNotFoundError as error:
    print(error)
print(isinstance(3, ntpbook.trial.Array), ntpbook.trial.without)
import importlib
for name in ("numpy_of_nobody", "ntpbook.nothing"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error)
"""
TRIAL = """
import typing
import importlib
import absent_one as np
from absent_one.typing import NDArray
Array = NDArray[np.float64] | int
Either = typing.TypeVar("Either", float, np.ndarray)
EPSILON = 8 * np.finfo(float).eps
try:
    without = importlib.import_module("absent_two")
except ImportError:
    without = "plain Python"
def use():
    return np.ones(3)
"""


def test_a_stand_in_lets_modules_load_and_lets_nothing_be_computed(tmp_path: Path) -> None:
    for package in ("ntpcore", "ntpcli", "ntpplayground", "ntpbook"):
        (tmp_path / package).mkdir(parents=True, exist_ok=True)
        (tmp_path / package / "__init__.py").touch()
    source = Path(stand_ins.__file__).read_text(encoding="utf-8")
    (tmp_path / "ntpplayground/stand_ins.py").write_text(source, encoding="utf-8")
    (tmp_path / "ntpbook" / "trial.py").write_text(TRIAL, encoding="utf-8")
    command = [sys.executable, "-I", "-S", "-c", LOADED.format(folder=str(tmp_path))]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    missing = "this needs absent_one, which the page does not bring along"
    assert found.splitlines() == [
        missing,
        missing,
        "False plain Python",
        "No module named 'numpy_of_nobody'",
        "No module named 'ntpbook.nothing'",
    ]
