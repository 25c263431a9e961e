"""The law 1 - cos ~ c / (t eta)^2, its constant, and the pairs that break it."""

import itertools
import math

import cvxpy as cp
import numpy as np
import plain_example_1
import pytest

from ntpcore.data import dataset, generate
from ntpcore.data.examples import FIVE_TOKENS, small_orders
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
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


def across(one: problem.Problem, weights: np.ndarray) -> float:
    """Half the squared length of the weights across W_star, which needs no late time to be c.

    A step's direction depends on this part alone, so that it settles exponentially in t eta.
    """
    star = one.W_kq_star / np.linalg.norm(one.W_kq_star)
    rest = weights - (weights @ star) * star
    return rest @ rest / 2


def run(data, steps: int, *, eta: float = 0.05):
    """The problem, its run, and (t eta)^2 (1 - cos) at the end."""
    one = problem.from_dataset(data)
    late = training.run(one, steps, eta, stage1.gap(one.vocab_size, 900, 0.1), record=[steps])
    return one, late, float((steps * eta) ** 2 * late.rows.one_minus_cos[0])


def behind(one: problem.Problem, late: training.Trajectory) -> float:
    """The share of t eta by which W falls short along W_star: 1 - cos is larger by twice as much.

    The next term is its square, at most 1e-6 in these tests.
    """
    star = one.W_kq_star / np.linalg.norm(one.W_kq_star)
    way = late.state.step * late.eta
    return 1 - late.state.weights @ star / way


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
    one, late, measured = run(dataset.read("examples/example1.txt"), 100_000)
    by_hand = plain_example_1.constant()
    assert asymptotics.star_constant(one) == pytest.approx(by_hand, rel=1e-13)
    # weights near 3000 are rounded at 2e-13 and this part of them has length 0.7
    assert across(one, late.state.weights) == pytest.approx(by_hand, rel=1e-11)
    assert measured == pytest.approx(by_hand * (1 + 2 * behind(one, late)), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_prefix_closed_data_have_no_degenerate_pair_and_the_closed_constant(seed):
    data = generate.experiment(seed).data
    one, late, measured = run(data, 20_000)
    assert asymptotics.degenerate(one) == {}
    c = asymptotics.star_constant(one)
    # weights near 1000 are rounded at 1e-13
    assert across(one, late.state.weights) == pytest.approx(c, rel=1e-11)
    # 1 - cos is tan^2 / 2 - 3 tan^4 / 8: the second term takes the share 3 c / 2 (t eta)^2
    assert measured == pytest.approx(c * (1 + 2 * behind(one, late)), rel=3 * c / 1000**2)


def test_the_closed_constant_is_refused_with_several_optimal_tokens():
    samples = [([x], y) for x, y in zip("abcq", "bcqa", strict=True)]
    samples += [("a c q", "b", 5), ("b c q", "c", 1), ("a a q", "b", 2)]
    one = problem.from_dataset(dataset.from_samples(samples))
    assert len(one.orders["q"].optimal) == 2
    assert asymptotics.degenerate(one) == {}
    with pytest.raises(ValueError, match="several optimal"):
        asymptotics.star_constant(one)


def test_pairs_with_slack_make_the_constant_depend_on_the_run():
    one, late, measured = run(dataset.read("examples/five_tokens.jsonl"), 20_000)
    # a > c, d and b > q are tight and a > q has slack. Margins log 3, log 3 and log 2 alone leave
    # (2/3)(1/2) / (7/6) log(3/2)^2 across W_star; a > q then moves m from {b, q} to {a, c, d}.
    names = [one.vocabulary[x] for x in one.entry_token]
    m = sum(w for x, w in zip(names, late.state.weights, strict=True) if x in "acd")
    settled = math.log(1.5) ** 2 / 7
    assert m > 0
    assert measured == pytest.approx(settled + m**2 * (1 / 3 + 1 / 2) / 2, rel=1e-3)
    assert measured > settled + m**2 * (1 / 3 + 1 / 2) / 2


def test_a_degenerate_pair_keeps_the_product_growing():
    samples = [([x], y) for x, y in zip("abcd", "bcda", strict=True)]
    data = dataset.from_samples([*samples, ("a c d", "b"), ("b d", "c")])
    for steps in (2_000, 20_000, 200_000):
        one, late, measured = run(data, steps)
        # Weights are a, b, -b, -a, and x = a - b. In units of the pull on b, that on a is
        # 1 + e^-x and the norm is near 2, so that x' = e^-x / 2 and x = log(t eta / 2). In the
        # norm, e^-x / 2 more takes (log t eta) / 2 from e^x = t eta / 2.
        way = steps * 0.05
        x, error = math.log(way / 2), math.log(way) / way
        shortfall = 2 * behind(one, late)
        assert math.sqrt(2 * measured) == pytest.approx(x * math.sqrt(1 + shortfall), abs=error)
    assert asymptotics.degenerate(one) == {"d": {("a", "d")}}
