"""Theorems A and B: their steps in sympy, their inequalities on states and runs, their bounds."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from mpmath import mp
from scipy.optimize import nnls

from ntpbook.huang2024.why_it_turns import bounds, corollaries, instances, model, steps

ALL_STEPS = (steps.gradient_from_the_loss, steps.lemma_4, *steps.THEOREM_B)


@pytest.mark.parametrize("step", ALL_STEPS, ids=lambda step: step.__name__)
def test_every_line_of_a_step_holds(step):
    lines = step()
    assert lines
    assert [line.name for line in lines if not line.holds] == []


@pytest.mark.parametrize(
    ("step", "planted"),
    [
        (steps.gradient_from_the_loss, {"factor": 2}),
        (steps.gradient_for_all_rivals, {"factor": 2}),
        (steps.lemma_4, {"factor": -1}),
        (steps.lemma_5, {"drop": 1}),
        (steps.lemma_6, {"length": 1}),
        (steps.theorem_a_bounds_on_h, {"two": 1}),
        (steps.theorem_a_one_sample, {"two": 1}),
        (steps.theorem_a_other_samples, {"shift": 1}),
        (steps.theorem_a_sum, {"power": 1}),
        (steps.theorem_b_recursion, {"sign": -1}),
        (steps.theorem_b_direction, {"factor": 1}),
        (steps.theorem_b_margins, {"factor": 31}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_step_with_a_planted_error_has_a_line_that_fails(step, planted):
    assert [line.name for line in step(**planted) if not line.holds]


def test_an_inequality_refuses_symbols_that_may_be_negative():
    x = sp.Symbol("x", real=True)
    with pytest.raises(ValueError, match="x may be negative"):
        _ = steps.AtMost("x", sp.Integer(0), x).holds


def test_an_inequality_by_hand():
    x = sp.Symbol("x", nonnegative=True)
    assert steps.AtMost("2 x <= 1 + x^2 is no sum of such terms", 2 * x, 1 + x**2).holds is False
    assert steps.AtMost("x / (1 + x) <= x", x / (1 + x), x).coefficients == (1, 1, 1)
    assert steps.AtMost("1 <= 2", sp.Integer(1), sp.Integer(2)).holds
    assert not steps.AtMost("2 <= 1", sp.Integer(2), sp.Integer(1)).holds


@pytest.mark.parametrize(
    ("sentence", "optimal", "vocab_size"), [((1, 0), 0, 3), ((0, 1, 1), 1, 2), ((2, 0, 1), 2, 4)]
)
def test_the_gradient_holds_for_other_sentences(sentence, optimal, vocab_size):
    assert all(line.holds for line in steps.gradient_from_the_loss(sentence, optimal, vocab_size))


# States and runs

SIZES = (0.01, 1.0, 1e6)


@pytest.fixture
def digits():
    """Sixty digits."""
    with mp.workdps(60):
        yield


def broken(compared):
    """Names of the inequalities that fail."""
    found = list(compared)
    assert found
    return {each.name for each in found if each.slack < 0}


def by_least_squares(data):
    """W* from the nearest point of the cone of the B_e to a far point: scipy's solver."""
    places = sorted(data.star)
    B = np.zeros((len(data.pairs), len(places)))
    for row, (q, a, b) in enumerate(data.pairs):
        B[row, places.index((q, a))], B[row, places.index((q, b))] = 1, -1
    # The shortest B^T p with sum p = 1 is W* / S: residual of the system (B^T; 1) l = (0; 1).
    matrix = np.vstack([B.T, np.ones(len(B))])
    multipliers, _ = nnls(matrix, np.concatenate([np.zeros(len(places)), [1.0]]))
    W = B.T @ multipliers
    return dict(zip(places, W / (B @ W).min(), strict=True))


@pytest.mark.parametrize("name", instances.edges())
def test_the_brute_force_max_margin_solution_is_that_of_a_solver(name):
    data = instances.edges()[name]
    found = by_least_squares(data)
    assert all(float(data.star[place]) == pytest.approx(found[place]) for place in data.star)


def test_max_margin_solutions_of_random_data_are_those_of_a_solver():
    for seed in range(60):
        data = instances.random_data(np.random.default_rng(seed))
        found = by_least_squares(data)
        assert all(float(data.star[p]) == pytest.approx(found[p], abs=1e-9) for p in data.star)


def test_the_max_margin_solution_of_the_five_tokens_by_hand():
    star = instances.edges()["slack pair"].star
    half, third = Fraction(1, 2), Fraction(1, 3)
    by_hand = {0: 2 * third, 1: half, 2: -third, 3: -third, 4: -half}
    assert star == {(4, token): score for token, score in by_hand.items()}


@pytest.mark.usefixtures("digits")
def test_forces_without_cancellation_are_equation_6():
    rng = np.random.default_rng(5)
    for _ in range(20):
        data = instances.random_data(rng)
        W = {place: mp.mpf(float(rng.normal())) for place in data.star}  # u~ of either sign
        plain = model.plain_gradient(data, W, mp.mpf(7))
        quick = model.gradient(data, model.forces(data, W, mp.mpf(7)))
        assert max(abs(plain[place] - quick[place]) for place in W) < mp.mpf(10) ** -50


@pytest.mark.usefixtures("digits")
def test_one_pair_by_hand():
    data = instances.edges()["one pair"]
    W = {(1, 0): mp.mpf(2), (1, 1): mp.mpf(-1)}
    compared = instances.theorem_a(data, W, 1)
    assert compared.left == 3  # the only pair has the margin 3
    assert mp.almosteq(compared.right, 3 + mp.log(8))  # W* = (1/2, -1/2), S = 1/2, L = 2


@pytest.mark.usefixtures("digits")
def test_theorem_a_holds_at_random_states():
    rng = np.random.default_rng(11)
    for _ in range(300):
        data, A = instances.random_data(rng), 10 ** rng.uniform(-2, 3)
        W = instances.random_state(rng, data)
        assert instances.invariant(data, W) > -(mp.mpf(10) ** -50)
        found = [instances.theorem_a(data, W, A), instances.lemma_6(data, W, A)]
        if model.inner(data.star, W) >= 0:
            found.append(instances.lemma_7_form(data, W, A))
        assert not broken(found)


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("name", instances.edges())
@pytest.mark.parametrize("eta", SIZES)
def test_theorem_b_holds_at_the_ends_of_its_ranges(name, eta):
    data = instances.edges()[name]
    for A in (0.01, 3, 1e3):
        assert not broken(instances.theorem_b(data, A, eta, 25))


def test_theorem_b_holds_on_runs_that_follow_equation_6():
    rng = np.random.default_rng(3)
    for eta in (0.025, 0.3):
        data = instances.random_data(rng)
        with mp.workdps(int(60 + 120 * eta)):
            assert not broken(instances.theorem_b(data, 3, eta, 40, plain=True))


def without_pi(data):
    """K without log(1 / pi_min)."""
    return instances.K(data) + mp.log(data.pi_min)


def without_length(data):
    """K without the powers of L."""
    return -mp.log(data.pi_min)


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize(
    ("planted", "name"),
    [(without_pi, "two pairs, one rare"), (without_length, "one rival a thousand times")],
)
def test_k_needs_the_rarest_sample_and_the_length(planted, name):
    data = instances.edges()[name]
    assert {"||y||^2", "tan^2"} <= broken(instances.theorem_b(data, 3, 0.3, 100, planted))
    states = list(model.run(data, 3, 0.1, 150))
    assert not broken(instances.theorem_a(data, W, 3) for W in states)
    assert broken(instances.theorem_a(data, W, 3, planted) for W in states)


@pytest.mark.usefixtures("digits")
def test_k_needs_the_whole_logarithm_of_the_rarest_share():
    """Twenty pairs e^-1000 times rarer than one more: 20/21 of the logarithm is needed."""
    parts = instances.shares(1, *[mp.exp(-1000)] * 20)
    samples = (
        model.Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), pi) for i, pi in enumerate(parts)
    )
    data = model.Data(42, tuple(samples))
    W = data.zero | {(1, 0): mp.mpf(495), (1, 1): mp.mpf(-495)}
    assert not broken([instances.theorem_a(data, W, 5)])
    assert broken([instances.theorem_a(data, W, 5, lambda data: instances.K(data) * 0.9)])


@pytest.mark.usefixtures("digits")
def test_the_factor_2_of_theorem_b_cannot_be_a_quarter():
    data = instances.edges()["four queries, heavy tails"]
    assert broken(instances.theorem_b(data, 3, 1e6, 1, factor=mp.mpf(1) / 4)) == {"tan^2"}


@pytest.mark.usefixtures("digits")
def test_the_next_token_must_follow_a_token_of_the_sentence():
    with mp.workdps(20):
        assert broken(instances.next_token_from_outside(300)) == {"norm below"}
        assert broken(instances.next_token_from_outside(16_000)) == {"norm below", "1 - cos"}


@pytest.mark.usefixtures("digits")
def test_without_assumption_3_the_norm_bound_and_lemma_5_fail():
    data = instances.outnumbered()
    assert not data.frequent
    assert broken(instances.theorem_b(data, 40, 0.01, 20)) == {"norm below", "Lemma 5, growth"}


def test_a_comparison_of_no_number_is_an_error():
    with pytest.raises(ArithmeticError, match="compares no numbers"):
        instances.Compared("x", mp.nan, mp.mpf(1))


def test_data_with_a_confused_token_are_refused():
    one, two = (model.Sample(0, a, 1, ((b, 1),), mp.mpf(1)) for a, b in ((0, 1), (1, 2)))
    with pytest.raises(ValueError, match="confused"):
        model.Data(3, (one, two))


# Bounds

EXAMPLE_1 = (13 / 6, bounds.K(3, -math.log(9)), 0.025)  # S, K, eta of Example 1, as in the paper


def test_constants_of_example_1():
    assert EXAMPLE_1[1] == pytest.approx(math.log(1296))  # 2 * 9 * 8 * 9


def test_where_theorem_b_beats_the_trivial_bound_on_example_1():
    trivial = bounds.one_minus_cos_trivial(13 / 6)
    assert 1 - trivial == pytest.approx(math.sqrt(3 / 13))  # 1 / sqrt(2 S)
    never_empty, linear = (
        bounds.first_step(lambda t, f=f: f(*EXAMPLE_1, t), trivial)
        for f in (bounds.one_minus_cos, bounds.one_minus_cos_linear)
    )
    # tan^2 = c / t is below 2 S - 1 = 10 / 3, and c / 2 t below 1 - sqrt(3 / 13)
    with mp.workdps(30):
        c = mp.mpf(13) / 3 * (1 + mp.sqrt(2) * mp.log(1296) / mp.mpf("0.025"))
        assert never_empty == mp.ceil(c * 3 / 10) == 529
        assert linear == mp.ceil(c / 2 / (1 - mp.sqrt(mp.mpf(3) / 13)))
    assert 1 - bounds.one_minus_cos(*EXAMPLE_1, 900) > 0.58
    assert bounds.first_step(lambda t: bounds.one_minus_cos_linear(*EXAMPLE_1, t), 1) == 881


def test_a_first_step_by_hand():
    assert bounds.first_step(lambda t: 10 / t, 1) == 11
    assert bounds.first_step(lambda t: 10 / t, 20) == 1
    with pytest.raises(ValueError, match="stays above"):
        bounds.first_step(lambda t: 1.0, 1)


def test_k_needs_two_tokens():
    assert bounds.K(2, 0.0) == pytest.approx(math.log(8))
    with pytest.raises(ValueError, match="at least 2"):
        bounds.K(1, 0.0)


def test_bounds_are_those_that_the_runs_are_held_against():
    with mp.workdps(30):
        data = instances.edges()["idle pair"]
        S, eta, t = float(data.S), 0.3, 7
        k = bounds.K(data.max_length, float(mp.log(data.pi_min)))
        assert k == pytest.approx(float(instances.K(data)))
        tangents = [c for c in instances.theorem_b(data, 3, eta, t) if c.name == "tan^2"]
        assert bounds.tan_squared(S, k, eta, t) == pytest.approx(float(tangents[-1].right))
    assert bounds.one_minus_cos(S, k, eta, t) == pytest.approx(
        1 - 1 / math.sqrt(1 + bounds.tan_squared(S, k, eta, t))
    )
    assert bounds.norm_bounds(0.5, 0.3, 10) == (pytest.approx(3), pytest.approx(3))


def test_margins_and_loss_by_hand():
    assert bounds.margins_from(0.5, 1.0, 10.0) == 8  # 32 / 4
    assert bounds.margins_from(0.5, 10.0, math.sqrt(2)) == pytest.approx(80)
    assert bounds.least_margin(0.5, 0.1, 20) == pytest.approx(math.sqrt(2))
    assert bounds.log_loss_excess(3, 2.0, 0.5, 0.1, 20) == pytest.approx(math.log(8) - math.sqrt(2))


# Corollaries: the paper's statements with 1 / pi_min for N, in every reading of their constants

READINGS = (
    [(corollaries.upper_bound_on_K, {}), (corollaries.equation_4_as_printed, {})]
    + [(corollaries.lemma_7, {"factor": factor}) for factor in (4, 8)]
    + [
        (corollaries.theorem_1, {"factor": factor, "length_power": power})
        for factor in (54, 53)
        for power in (4, 1)
    ]
    + [
        (claim, {"c0": c0, "length_power": power})
        for claim in (corollaries.theorem_2, corollaries.equation_4)
        for c0 in (1696, 1728, 864, 432)
        for power in (4, 2)
    ]
    + [
        (corollaries.equation_4_as_printed, {"c0": c0, "length_power": power})
        for c0, power in ((55, 4), (109, 3), (218, 2))
    ]
)


@pytest.mark.parametrize(("claim", "reading"), READINGS)
def test_the_corrected_statements_follow(claim, reading):
    assert [line.name for line in claim(**reading) if not line.holds] == []


@pytest.mark.parametrize(
    ("claim", "planted"),
    [
        (corollaries.lemma_7, {"rarity_power": 0}),
        (corollaries.theorem_1, {"rarity_power": 0}),
        (corollaries.theorem_2, {"rarity_power": 0}),
        (corollaries.theorem_2, {"c0": 1}),
        (corollaries.equation_4, {"c0": 1}),
        (corollaries.equation_4_as_printed, {"c0": 54}),
        (corollaries.equation_4_as_printed, {"c0": 1696, "length_power": 1}),
    ],
)
def test_a_corollary_with_a_planted_error_does_not_follow(claim, planted):
    assert [line.name for line in claim(**planted) if not line.holds]


def test_the_corollaries_on_numbers():
    """The same implications in floats, written from the paper."""
    rng = np.random.default_rng(2)
    for _ in range(2000):
        L, pi, S = int(rng.integers(2, 50)), 10 ** -rng.uniform(0, 12), 10 ** rng.uniform(-0.3, 2)
        w, t = math.sqrt(S), int(10 ** rng.uniform(0.31, 9))
        eta, k = w / math.e * 10 ** -rng.uniform(0, 4), bounds.K(L, math.log(pi))
        theorem_1 = 54 * L**4 * S**2 * math.log(t) ** 2 / (pi * t * eta)
        assert bounds.one_minus_cos_linear(S, k, eta, t) <= theorem_1
        length = 4 * L * rng.uniform(1, 100)
        assert k * w <= 4 * L**2 * S * (1 + math.log(2 * L * length)) / pi
        late = 2
        while late < 1696 * L**4 * S**3 * math.log(late) ** 2 / (pi * eta):
            late *= 2  # the condition of Theorem 2
        assert late >= bounds.margins_from(S, k, eta)
        assert bounds.least_margin(S, eta, late) >= late * eta / (4 * L * S)
