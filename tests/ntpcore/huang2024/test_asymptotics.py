"""The law 1 - cos ~ c / (t eta)^2, its constant, and the pairs that break it."""

import itertools

import cvxpy as cp
import numpy as np
import pytest

from ntpcore.data import dataset, generate
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpcore.exact.judged import FIVE_TOKENS, small_orders
from ntpcore.huang2024 import asymptotics, problem, stage1, training

PATH = PartialOrder.of("q", {("a", "q"), ("a", "c"), ("b", "q"), ("b", "c"), ("b", "d")})


def of(order: PartialOrder):
    solution = margin.solve(order)
    return asymptotics.degenerate_pairs(order, solution)


def largest_multiplier(order: PartialOrder, solution: margin.Solution, pair) -> float:
    """The largest multiplier of a pair in any dual solution, by linear programming."""
    tight = sorted(asymptotics.tight_pairs(order, solution))
    units = cp.Variable(len(tight), nonneg=True)
    balance = [
        sum((units[i] for i, p in enumerate(tight) if token in p), start=0.0)
        == abs(float(solution.scores[token]))
        for token in order.compared
    ]
    task = cp.Problem(cp.Maximize(units[tight.index(pair)]), balance)
    return task.solve(solver=cp.CLARABEL)


def run(data, steps: int, *, eta: float = 0.05):
    one = problem.from_dataset(data)
    late = training.run(one, steps, eta, stage1.gap(one.vocab_size, 900, 0.1), record=[steps])
    return one, late, float((steps * eta) ** 2 * late.rows.one_minus_cos[0])


def test_a_path_of_four_tokens_has_a_pair_without_flow():
    """a > c, d and b > d: all scores are +-1/2, so a ships all to c and nothing to d."""
    order = PartialOrder.of("d", {("a", "c"), ("a", "d"), ("b", "d")})
    assert of(order) == {("a", "d")}
    assert asymptotics.tight_pairs(order, margin.solve(order)) == order.pairs


def test_slack_pairs_are_not_counted():
    assert of(FIVE_TOKENS) == set()
    tight = asymptotics.tight_pairs(FIVE_TOKENS, margin.solve(FIVE_TOKENS))
    assert FIVE_TOKENS.pairs - tight == {("a", "q")}


def test_degenerate_pairs_agree_with_linear_programming():
    orders = list(itertools.islice(small_orders(3, 3, 9), 0, None, 7))
    pairs = found = 0
    for order in orders:
        solution = margin.solve(order)
        degenerate = asymptotics.degenerate_pairs(order, solution)
        for pair in asymptotics.tight_pairs(order, solution):
            # the solver is good to 1e-8, the smallest positive value here is above 1/20
            assert (largest_multiplier(order, solution, pair) < 1e-5) == (pair in degenerate)
            pairs += 1
        found += bool(degenerate)
    assert pairs > 150
    assert 5 < found < len(orders)


def test_example_1_has_the_constant_of_the_closed_form():
    one, _, measured = run(dataset.read("examples/example1.txt"), 100_000)
    assert asymptotics.star_constant(one) == pytest.approx(0.2506276, abs=1e-7)
    assert asymptotics.asymptotic_constant(one) == pytest.approx(asymptotics.star_constant(one))
    assert measured == pytest.approx(asymptotics.star_constant(one), rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_prefix_closed_data_have_no_degenerate_pair_and_the_closed_constant(seed):
    data = generate.experiment(seed).data
    one, _, measured = run(data, 20_000)
    assert asymptotics.degenerate(one) == {}
    assert asymptotics.asymptotic_constant(one) == pytest.approx(asymptotics.star_constant(one))
    # the remainder falls like 1 / t: 1e-3 at t eta = 1000
    assert measured == pytest.approx(asymptotics.star_constant(one), rel=5e-3)


def test_the_constant_holds_with_several_optimal_tokens():
    samples = [([x], y) for x, y in zip("abcq", "bcqa", strict=True)]
    samples += [("acq", "b", 5), ("bcq", "c", 1), ("aaq", "b", 2)]
    one, _, measured = run(dataset.from_samples(samples), 20_000)
    assert len(one.orders["q"].optimal) == 2
    assert asymptotics.degenerate(one) == {}
    assert measured == pytest.approx(asymptotics.asymptotic_constant(one), rel=1e-3)
    with pytest.raises(ValueError, match="several optimal"):
        asymptotics.star_constant(one)


def test_pairs_with_slack_make_the_constant_depend_on_the_run():
    data = dataset.read("examples/five_tokens.jsonl")
    one, late, measured = run(data, 20_000)
    with pytest.raises(ValueError, match="has slack"):
        asymptotics.asymptotic_constant(one)
    constant = asymptotics.asymptotic_constant(one, late.state.weights)
    assert measured == pytest.approx(constant, rel=1e-3)
    blind = asymptotics.asymptotic_constant(one, np.zeros(len(late.state.weights)))
    assert measured > 2 * blind


def test_a_degenerate_pair_keeps_the_product_growing():
    samples = [([x], y) for x, y in zip("abcd", "bcda", strict=True)]
    data = dataset.from_samples([*samples, ("acd", "b"), ("bd", "c")])
    one, late, first = run(data, 2_000)
    assert asymptotics.degenerate(one) == {"d": {("a", "d")}}
    second, third = (run(data, steps)[2] for steps in (20_000, 200_000))
    assert second > 1.5 * first
    assert third > 1.3 * second
    with pytest.raises(ValueError, match="no multiplier"):
        asymptotics.asymptotic_constant(one, late.state.weights)


@pytest.mark.parametrize("seed", range(8))
def test_both_ways_to_the_constant_agree_on_random_prefix_closed_data(seed: int) -> None:
    one = problem.from_dataset(generate.random_dataset(np.random.default_rng(seed), 6, 12, 5))
    general, closed_form = asymptotics.asymptotic_constant(one), asymptotics.star_constant(one)
    assert general == pytest.approx(closed_form, rel=1e-7, abs=1e-12)
