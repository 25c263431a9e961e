"""What the paper says in passing (huang2024), on the page s6_generalization."""

from dataclasses import replace

import numpy as np
import pytest

from ntpbook.huang2024.s6_generalization import generalization_app
from ntpbook.huang2024.s7_experiment import experiment
from ntpbook.shared import rare
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data import order
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import runs
from ntpcore.verdicts.claims import Verdict

EQUAL = rare.rare_run(0.0, 300, 0.36)


def with_rows(run, **columns):
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))


@pytest.fixture(scope="module")
def trained():
    """Example 1 and four random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@pytest.fixture(scope="module")
def both():
    """The experiment on one data set of each kind."""
    return [
        *experiment.experiments(3, 1),
        *experiment.experiments(3, 1, prefix_closed=False),
    ]


def test_huang2024_app_never_together_by_hand_on_example_1():
    data = example_1()
    assert generalization_app.together(data, data, alone=False) == ""
    assert generalization_app.together(data, data, alone=True) == ""
    orders = order.analyse(data).orders
    assert {q: sorted(one.compared) for q, one in orders.items()} == {
        "S": ["P", "S"],
        "V": ["S", "V"],
        "O": ["O", "S", "V"],
        "P": ["O", "P"],
    }


def test_huang2024_app_never_together_is_proved_and_a_forgotten_sentence_is_noticed():
    check = generalization_app.check_huang2024_app_never_together([example_1()])
    assert (check.verdict, check.numbers["sentences"]) == (Verdict.PROVED, "5")
    assert [one.verdict for one in check.readings] == [Verdict.PROVED, Verdict.REFUTED]
    assert check.readings[1].text == "in all sentences (n swaps a and b: a in a → b)"
    assert generalization_app.all_compared(3)
    assert generalization_app.control_huang2024_app_never_together([example_1()]).noticed
    two = from_samples([("a", "b"), ("b", "a"), ("ab", "b")], "two")
    found = generalization_app.check_huang2024_app_never_together([two], forget=True)
    assert found.witness == "two: a in a b → b"


def test_huang2024_app_extended_order_levels_by_hand():
    assert set(generalization_app.levels_make_an_order().values()) == {True}
    flat = generalization_app.levels_make_an_order((1, 1, 0))
    assert [name for name, shown in flat.items() if not shown] == ["non-comparable in between"]
    turned = generalization_app.levels_make_an_order((0, 1, 2))
    assert not turned["extends the old order"]


def test_huang2024_app_extended_order_notices_levels_that_are_not_ordered():
    class Circle(int):
        """Each of 0, 1 and 2 is above the one before, and 0 above 2."""

        def __gt__(self, other):
            return (self - other) % 3 == 1

    class Highest(int):
        """2 is above all, itself among them."""

        def __gt__(self, other):
            return int(self) > int(other) or self == 2

    for kind, failing in (
        (Circle, ["transitive", "extends the old order"]),
        (Highest, ["no token above itself"]),
    ):
        found = generalization_app.levels_make_an_order((kind(2), kind(1), kind(0)))
        assert [name for name, shown in found.items() if not shown] == failing


def test_huang2024_app_extended_order_holds_in_trained_models_and_exactly(trained):
    check = generalization_app.check_huang2024_app_extended_order([*trained, outnumbered_run()])
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, len(trained))
    assert check.numbers["orders"] == str(sum(len(run.problem.orders) for run in trained))
    assert generalization_app.control_huang2024_app_extended_order(trained[0]).noticed
    best = trained[0].problem.is_optimal
    for entry, wrong in ((np.flatnonzero(best)[0], -1e-9), (np.flatnonzero(~best)[-1], 0.0)):
        weights = trained[0].second.state.weights.copy()
        weights[entry] = wrong  # a single score on the wrong side
        state = replace(trained[0].second.state, weights=weights)
        run = replace(trained[0], second=replace(trained[0].second, state=state))
        found = generalization_app.check_huang2024_app_extended_order([run])
        assert found.verdict is Verdict.REFUTED
    exact = trained[0].problem.solutions["O"].scores
    assert [exact[x] > 0 for x in ("O", "S", "V")] == [True, False, False]
