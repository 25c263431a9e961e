"""Checks of Figures 4, 5, 6, 11 and 12 on short runs, and what they must notice."""

import numpy as np
import pytest

from ntpbook.tian2023.s8_synthetic import synthetic
from ntpcore.tian2023 import experiments
from ntpcore.verdicts.claims import Verdict

RATES = ((1.0, 1.0), (10.0, 1.0))


@pytest.fixture(scope="module")
def small():
    """Syn-Small, five seeds."""
    plans = [experiments.small(s, RATES, record=(0, 10, 100)) for s in range(5)]
    return experiments.simulate_all(plans)


@pytest.fixture(scope="module")
def adam():
    """Syn-Small by Adam, four seeds."""
    rates = tuple((eta, eta) for eta in (0.1, 0.5, 1.0))
    return experiments.simulate_all([experiments.small(s, rates, adam=True) for s in range(4)])


@pytest.fixture(scope="module")
def medium():
    """The whole sweep of Syn-Medium, with the seeds of the book."""
    plans = [experiments.medium(q, s) for q in experiments.QUERIES for s in range(1, 11)]
    return experiments.simulate_all(plans)


def test_tian2023_fig_4_holds_and_notices_exchanged_rates(small):
    check = synthetic.check_tian2023_fig_4(small)
    assert check.verdict is Verdict.CONSISTENT
    assert synthetic.control_tian2023_fig_4(small).noticed
    assert float(check.numbers["slow"]) < float(check.numbers["fast"]) < 2.2


def test_tian2023_fig_4_notices_attention_that_does_not_move(small):
    still = [experiments.Stream(s.plan, s.losses, np.repeat(s.Z[:, :1], 3, axis=1)) for s in small]
    assert synthetic.check_tian2023_fig_4(still).verdict is Verdict.REFUTED


def test_tian2023_fig_4_first_iteration_below_a_level():
    assert synthetic.first_below(np.array([3.0, 0.5, 2.0, 0.1]), 1.0) == 1
    assert synthetic.first_below(np.array([3.0, 2.0]), 1.0) == 2


def test_tian2023_fig_4_download_has_a_row_for_each_loss(small):
    file = synthetic.download_fig_4(small)
    assert file.name == "tian2023-fig-4.csv"
    assert file.text.splitlines()[0] == "eta_y,eta_z,seed,iteration,loss"
    assert len(file.rows) == 2 * 5 * 100
    assert file.rows[0][:4] == (1.0, 1.0, 0, 0)


def test_tian2023_fig_5_holds_and_notices_one_rate_for_all(adam):
    assert synthetic.check_tian2023_fig_5(adam).verdict is Verdict.CONSISTENT
    assert synthetic.control_tian2023_fig_5(adam).noticed


def test_tian2023_fig_5_overlap_by_hand():
    assert synthetic.overlap(frozenset({1, 2}), frozenset({2, 3})) == pytest.approx(1 / 3)


def table_by_hand(entropy):
    """A sweep whose entropies are a function of the ratio and eta_Z, for three seeds."""
    noise = np.array([-0.001, 0.0, 0.001])
    return {
        (q, e, r): entropy(e, r) + noise * (1 + e + r)
        for q in (1, 3)
        for e in (0.5, 1.0)
        for r in (1.0, 2.0, 5.0)
    }


def test_tian2023_fig_6_by_hand():
    good = synthetic.check_tian2023_fig_6(table_by_hand(lambda e, r: 2 - e + abs(r - 2)))
    assert (good.verdict, good.tried) == (Verdict.CONSISTENT, 6 + 4)
    assert good.numbers["dips"] == "2"
    falling = synthetic.check_tian2023_fig_6(table_by_hand(lambda e, r: 2 - e - 0.1 * r))
    assert falling.verdict is Verdict.REFUTED
    rising = synthetic.check_tian2023_fig_6(table_by_hand(lambda e, r: 2 + e + abs(r - 2)))
    assert rising.verdict is Verdict.REFUTED


def test_tian2023_fig_6_holds_on_ten_seeds(medium):
    table = synthetic.entropy_table(medium)
    assert len(table) == 64
    check = synthetic.check_tian2023_fig_6(table)
    assert check.verdict is Verdict.CONSISTENT
    assert synthetic.control_tian2023_fig_6(table).noticed
    file = synthetic.download_fig_6(table)
    assert file.header == (
        "query_tokens",
        "eta_z",
        "eta_ratio",
        "entropy_mean",
        "entropy_std",
        "seeds",
    )
    assert len(file.rows) == 64
    values = table[5, 2.0, 10.0]
    row = next(row for row in file.rows if row[:3] == (5, 2.0, 10.0))
    assert row[3:] == (values.mean(), values.std(ddof=1), 10)


def test_tian2023_fig_11_and_12_order_lines_by_their_descent(medium):
    entropy, table = synthetic.entropy_table(medium), synthetic.recall_table(medium)
    for check in (
        synthetic.check_tian2023_fig_11(table, entropy),
        synthetic.check_tian2023_fig_12(table, entropy),
    ):
        assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 48)


def test_tian2023_fig_11_notices_the_opposite_claim(medium):
    entropy, table = synthetic.entropy_table(medium), synthetic.recall_table(medium)
    assert synthetic.control_tian2023_fig_11(table, entropy).noticed


def test_tian2023_fig_12_notices_the_opposite_claim(medium):
    entropy, table = synthetic.entropy_table(medium), synthetic.recall_table(medium)
    assert synthetic.control_tian2023_fig_12(table, entropy).noticed


def test_tian2023_fig_12_thresholds_lie_near_one_over_the_vocabulary():
    for queries in experiments.QUERIES:
        low, high = synthetic.THRESHOLDS[queries]
        assert low < 1.3 / experiments.medium(queries, 1).classes.M < high * 1.3
