"""Tests of how Figure 6 is judged."""

from __future__ import annotations

import numpy as np
import pytest

from ntpbook.tian2023.s8_synthetic import figure_6
from ntpbook.tian2023.s8_synthetic.experiments import distinct_entropy, medium, simulate
from ntpcore.tian2023.classes import synthetic_classes


def table(means: dict[float, float], sd: float, seeds: int, rng: np.random.Generator):
    """Entropies with given means by ratio, falling with eta_Z, and paired noise."""
    shared = rng.normal(size=seeds)
    return {
        (3, e, r): mean - 0.1 * e + sd * (shared + 0.1 * rng.normal(size=seeds))
        for r, mean in means.items()
        for e in (0.5, 1.0, 2.0)
    }


def test_a_clear_rise_is_seen_and_its_opposite_is_not() -> None:
    rng = np.random.default_rng(0)
    good = table({1.0: 2.1, 2.0: 2.0, 5.0: 2.05, 10.0: 2.1}, 0.05, 20, rng)
    found = figure_6.judge(good)
    assert (found.verdict, len(found.supported)) == ("seen", 14)
    assert figure_6.judge(good, threshold=1.0).verdict == "not seen"
    assert figure_6.dips(good) == {3: "dip"}


def test_no_difference_is_undecided() -> None:
    rng = np.random.default_rng(1)
    flat = table({1.0: 2.0, 2.0: 2.0, 5.0: 2.0, 10.0: 2.0}, 0.5, 20, rng)
    found = figure_6.judge(flat)
    assert found.verdict == "undecided"
    assert not found.against


def test_pairing_resolves_what_seeds_in_another_order_do_not() -> None:
    rng = np.random.default_rng(2)
    noisy = table({2.0: 2.0, 5.0: 2.1}, 0.3, 20, rng)
    assert figure_6.judge(noisy).verdict == "seen"
    mixed = {cell: rng.permutation(values) for cell, values in noisy.items()}
    assert figure_6.judge(mixed).verdict == "undecided"


def test_the_interval_by_hand() -> None:
    one, other = np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0])
    mean, error, quantile = figure_6.compare(one, other, 0.05)
    assert mean == 2.5
    assert error == pytest.approx((5 / 3) ** 0.5 / 2)
    assert quantile == pytest.approx(3.182, abs=1e-3)  # Student's t, 3 degrees of freedom
    with pytest.raises(ValueError, match="finite"):
        figure_6.compare(one, np.array([1.0, 2.0, np.nan, 3.0]), 0.05)


def test_the_level_is_kept_where_nothing_differs() -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(200):
        flat = table({2.0: 2.0, 5.0: 2.0, 10.0: 2.0}, 0.1, 10, rng)
        found = figure_6.judge(flat, level=0.2)
        wrong += any(x.first[1] == x.second[1] for x in (*found.against, *found.supported))
    assert wrong <= 60  # 20 per cent of 200 at most in the mean, and three standard deviations


def test_a_small_sweep_of_the_simulator_is_seen() -> None:
    rates = tuple((r, 1.0) for r in (2.0, 5.0, 10.0)) + tuple(
        (2 * r, 2.0) for r in (2.0, 5.0, 10.0)
    )
    streams = [simulate(medium(3, seed, rates)) for seed in range(1, 11)]
    classes = synthetic_classes(3, 2)
    found = {
        (3, e, y / e): np.array([distinct_entropy(classes, s.Z[c, -1]) for s in streams])
        for c, (y, e) in enumerate(rates)
    }
    outcome = figure_6.judge(found)
    assert outcome.verdict == "seen"
    assert len(outcome.supported) == 7


def test_a_heavy_lower_tail_is_found() -> None:
    values = np.concatenate([np.linspace(1.9, 2.1, 50), [0.8]])
    found = figure_6.tails({(1, 2.0, 10.0): values, (1, 1.0, 1.0): values[:-1]})
    assert list(found) == [(1, 2.0, 10.0)]
