"""Data that contradict themselves: exact scores by hand, and the swing that slows all margins."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from ntpbook.look import plots
from ntpbook.ours.any_data import checks, figures, orders, systems, training
from ntpcore.data.order import PartialOrder
from ntpcore.exact import any_order


def test_ours_any_order_by_hand() -> None:
    """a over the circle b, c, d over e over f: sizes 1, 3, 1, 1, so 6 x = 2 for the circle."""
    pairs = [(p[0], p[1]) for p in ("ab", "bc", "cd", "db", "be", "ef", "af")]
    found = orders.solved(pairs)
    third = Fraction(1, 3)
    assert found.solution.scores == {
        "a": 1 + third, "b": third, "c": third, "d": third, "e": third - 1, "f": third - 2
    }  # fmt: skip
    assert found.solution.support_vectors == (("a", "b"), ("b", "e"), ("e", "f"))
    floats = orders.independent(found.order)
    assert floats == pytest.approx({k: float(v) for k, v in found.solution.scores.items()})


def test_ours_any_order_counts_every_relation_on_three_tokens() -> None:
    assert len(list(orders.all_small())) == 2**6 - 1


def test_ours_contradiction_by_hand_in_the_middle_of_the_swing() -> None:
    """phi = u^2/2 without any force: u jumps between h/2 and -h/2, and N is h/2."""
    system = systems.quadratic(0.5)
    still = systems.System(
        "no force", system.slope, lambda m: 0.0, 0.5, 0.0, 1.0, system.between, (0.25, 0.0)
    )
    assert [now.u for now in systems.path(still, 3)] == [0.25, -0.25, 0.25, -0.25]
    assert {now.norm for now in systems.path(still, 3)} == {0.25}


def test_ours_contradiction_needs_both_sides_and_a_weak_force() -> None:
    falling = systems.contracting()
    states = list(systems.path(falling, 50))
    assert all(a.slope * b.slope < 0 for a, b in pairwise(states[:10]))
    assert systems.swing(falling, states) is None
    assert systems.swing(falling, states, condition=False) is not None
    assert abs(states[10].u) < abs(states[0].u) / 10, "the force makes u fall to its minimum"


def test_ours_contradiction_at_the_minimum_itself_margins_grow_linearly() -> None:
    resting = systems.System(
        "at u*",
        lambda u: u,
        lambda m: math.exp(-m),
        0.1,
        0.0,
        1.0,
        lambda m: (1.0, 1.0),
        (0.0, 0.0),
    )
    margins = [now.m for now in systems.path(resting, 100)]
    assert margins == pytest.approx([0.1 * step for step in range(101)])


def test_ours_contradiction_balance_of_equal_counts_is_half_of_ln_2() -> None:
    assert systems.balance(systems.Contexts(2, 2)) == pytest.approx(math.log(2) / 2, abs=1e-12)


def test_ours_contradiction_lines_hold_for_the_force_of_contexts() -> None:
    for contexts in systems.CONTEXTS:
        system = systems.of_contexts(contexts)
        for begin in (0.0, 1.0, 5.0):
            a, b = system.between(begin)
            scaled = [system.force(m) * math.exp(m) for m in np.linspace(begin, begin + 20, 400)]
            assert a <= min(scaled) * (1 + 1e-12)
            assert max(scaled) <= b * (1 + 1e-12)
            forces = [system.force(m) for m in np.linspace(begin, begin + 20, 400)]
            assert all(later < earlier for earlier, later in pairwise(forces))


def test_ours_contradiction_data_gradient_is_that_of_difference_quotients() -> None:
    contexts = systems.Contexts(2, 3, strict=4, scale=2.0)
    data = checks.samples(contexts)
    (start, end) = training.train(data, (0, 1), scale=contexts.scale, eta=contexts.eta)
    G = (start.W - end.W) * start.norm / contexts.eta

    def loss(W: np.ndarray) -> float:
        total = 0.0
        for sentence, told, count in zip(data.sentences, data.told, data.counts, strict=True):
            weights = np.exp([W[x, sentence[-1]] for x in sentence])
            logits = np.zeros(data.vocabulary)
            for x, weight in zip(sentence, weights / weights.sum(), strict=True):
                logits[x] += contexts.scale * weight
            total -= count * (logits[told] - np.log(np.exp(logits).sum()))
        return total / sum(data.counts)

    for entry in ((0, 1), (1, 1), (2, 3), (3, 3), (4, 4), (0, 3)):
        up, down = start.W.copy(), start.W.copy()
        up[entry] += 1e-5
        down[entry] -= 1e-5
        assert G[entry] == pytest.approx((loss(up) - loss(down)) / 2e-5, abs=1e-9)


def test_ours_contradiction_runs_find_circles() -> None:
    circle = training.Samples(((0, 1), (1, 0, 1), (2, 3)), (0, 1, 2), (1, 1, 1), 4)
    assert circle.contradictory == {1}
    assert circle.strict == [(3, 2, 3)]
    chain = training.Samples(((0, 2), (1, 2)), (0, 1), (1, 1), 3)
    assert chain.contradictory == frozenset()


def test_figures_show_components_and_both_kinds_of_growth() -> None:
    order = PartialOrder.of("q", [("a", "b"), ("b", "c"), ("c", "b")])
    _, ax = plots.new_figure()
    figures.draw_components(ax, order, any_order.solve(order))
    assert {text.get_text() for text in ax.texts} >= {"a", "b", "c"}
    assert len(ax.patches) >= 2, "one frame for each component"
    contexts = systems.Contexts(1, 2)
    system = systems.of_contexts(contexts)
    swinging = list(systems.path(system, 500))
    free = list(systems.path(systems.without_contradiction(contexts), 500))
    found = systems.swing(system, swinging)
    assert found is not None
    _, ax = plots.new_figure()
    figures.draw_growth(ax, swinging, free, found)
    assert len(ax.lines) == 4
    plots.plt.close("all")
