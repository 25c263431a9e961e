"""Summaries of what the checks compute: they tell changed instances apart, and not rounding."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import watched

from ntpcore.checks.tian2023 import judge
from ntpcore.claims import Check, Verdict

NAME = "ntpcore.checks.tiny"
SOURCE = """
from functools import cache
from ntpcore.checks.tian2023.judge import Case, relative_error

@cache
def instances():
    return [half(one) for one in (1.0, 2.0)]

def half(x):
    return x / 2

def cases(size):
    for one in instances():
        yield Case("one", one / size)

def least(judged, power):
    return min(power(one.slack) for one in judged)

def check(size=2):
    return least(cases(size), lambda slack: slack**3)
"""


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module of checks."""
    module = types.ModuleType(NAME)
    monkeypatch.setitem(sys.modules, NAME, module)
    exec(SOURCE, vars(module))  # so that its functions are those of that module
    return module


def sums(work: Callable[[], object], module: types.ModuleType | None = None) -> dict[str, str]:
    """Summaries of what some work calls."""
    with watched.recorded(module) as found:
        work()
    return {name: str(one) for name, one in found.items()}


def test_a_sum_by_hand() -> None:
    one = watched.Sum()
    one.add([2.0, -3.0])
    weights = 1.5 + np.cos([0, 1, 2])
    values = [2 / 1e-6, 2 / 1e-6, 3 / 1e-6]  # the length first
    assert one.total == pytest.approx(weights @ ([1, 1, -1] * np.log1p(values)))
    assert (one.calls, one.values) == (1, 3)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Fraction(1, 4), [0.25]),
        (1 + 2j, [1, 2]),
        (np.array([[1, 2], [3, 4]]), [1, 2, 3, 4, 2, 2]),
        ({"a": 1}, [*watched.numbers("a"), 1]),
        (judge.Case("x", -1.0), [*watched.numbers("x"), -1]),
        (10**400, [1e300]),
        (float("nan"), [1e30]),
        ({3, 1}, [1, 3]),
        ("slack 0.31 at 7", watched.numbers("slack 0.32 at 8")),
    ],
)
def test_numbers_of_a_value(value: object, found: Any) -> None:
    if not isinstance(value, np.ndarray) and isinstance(value, complex):
        value = np.complex128(value)
    assert watched.numbers(value) == pytest.approx(np.array(found, dtype=float))


def test_a_check_counts_by_its_verdict_for_the_rest_is_pinned() -> None:
    checks = [Check("huang2024-eq-1", Verdict.PROVED, n, "numbers", "All.") for n in (1, 2)]
    assert watched.numbers(checks[0]) == watched.numbers(checks[1])
    other = Check("huang2024-eq-1", Verdict.CONSISTENT, 1, "numbers", "All.")
    assert watched.numbers(checks[0]) != watched.numbers(other)


@pytest.mark.parametrize("change", [1e-15, -3e-16])
def test_rounding_is_no_difference(change: float) -> None:
    before, after = watched.Sum(), watched.Sum()
    before.add([1e9, 0.3, 0.0])
    after.add([1e9 * (1 + change), 0.3 + change, change])
    assert watched.alike(str(before), str(after))


@pytest.mark.parametrize("other", [[0.3, 0.2], [0.2, 0.301], [0.2], [0.2, 0.3, 0.0], [0.2, 1e-5]])
def test_another_order_number_or_value_is_a_difference(other: list[float]) -> None:
    before, after = watched.Sum(), watched.Sum()
    before.add([0.2, 0.3])
    after.add(other)
    assert not watched.alike(str(before), str(after))
    assert watched.alike(watched.ROUNDING, str(after))


def test_everything_that_a_check_calls_is_summed_up(tiny: types.ModuleType) -> None:
    found = sums(lambda: tiny.check())
    calls = {name.removeprefix("checks.tiny."): one.split()[0] for name, one in found.items()}
    assert calls == {
        **{"check": "2", "cases": "3", "instances": "2", "half": "4"},
        **{"least": "2", "least argument": "6"},  # two cases, and two calls of the power
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [("(1.0, 2.0)", "(1.0, 3.0)"), ("slack**3", "slack**2"), ("one / size", "one * size")],
)
def test_a_small_error_changes_a_summary(tiny: types.ModuleType, before: str, after: str) -> None:
    found = sums(lambda: tiny.check())
    exec(SOURCE.replace(before, after), vars(tiny))
    other = sums(lambda: tiny.check())
    assert not all(watched.alike(found[name], other[name]) for name in found)


def test_the_same_is_found_again_and_nothing_stays_watched(tiny: types.ModuleType) -> None:
    before = dict(vars(tiny))
    found = sums(lambda: tiny.check())
    assert vars(tiny) == before
    assert sums(lambda: tiny.check()) == found  # though `instances` keeps what it made


def test_what_a_cache_of_the_test_makes_is_left_out(
    tiny: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = types.ModuleType("test_checks_tiny")
    monkeypatch.setitem(sys.modules, test.__name__, test)
    source = "from functools import cache\n@cache\ndef kept():\n    return tiny.half(8.0)\n"
    test.__dict__["tiny"] = tiny
    exec(source, vars(test))
    first = sums(lambda: test.kept(), test)
    assert set(first) == {"test_checks_tiny.kept"}
    assert sums(lambda: test.kept(), test) == first


def test_of_the_rest_of_the_package_only_what_checks_call_is_noted() -> None:
    from ntpcore import stage1
    from ntpcore.checks.huang2024 import rare

    assert not sums(lambda: stage1.gap(2, 3, 0.1))
    found = sums(lambda: rare.log_ratio_that_hides(400, 0.1))
    assert set(found) == {
        "checks.huang2024.rare.log_ratio_that_hides",
        "checks.huang2024.rare.rare_gap",
        "checks.huang2024.runs.paper_rates",
        "stage1.gap",
    }


def test_what_checks_hand_to_sympy_is_noted(tiny: types.ModuleType) -> None:
    source = """
import sympy as sp
def vanishes():
    x = sp.symbols("x", positive=True)
    f = sp.Function("f")(x)
    return sp.simplify(f.diff(x) - f.diff(x) + sp.log(x**2) - 2 * sp.log(x)) == 0
"""
    exec(source, vars(tiny))
    found = sums(lambda: tiny.vanishes())
    assert set(found) == {"checks.tiny.vanishes", "sympy.symbols", "sympy.simplify"}
    exec(source.replace("x**2", "x**3").replace("2 *", "3 *"), vars(tiny))
    other = sums(lambda: tiny.vanishes())
    assert other["checks.tiny.vanishes"] == found["checks.tiny.vanishes"]
    assert not watched.alike(other["sympy.simplify"], found["sympy.simplify"])


def test_an_error_passes_and_a_generator_stays_lazy(tiny: types.ModuleType) -> None:
    asked: list[int] = []

    def items() -> Iterator[int]:
        for one in range(3):
            asked.append(one)
            yield one

    vars(tiny)["first"] = cache(lambda given: next(given))
    with pytest.raises(ZeroDivisionError), watched.recorded():
        list(tiny.cases(0))
    with watched.recorded():
        taken = watched.Watch()._items(items(), "items")
        assert next(taken) == 0
    assert asked == [0]
