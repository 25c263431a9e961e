"""Theorems A and B: their steps in sympy, their inequalities on states and runs, their bounds."""

import math
from fractions import Fraction

import numpy as np
import plain_example_1
import pytest
import sympy as sp
from every_check import failure
from least_norm import least_norm
from mpmath import mp

from ntpbook.ours.convergence import checks, instances, steps
from ntpbook.shared import corollaries, digits, small_data, symbols
from ntpbook.shared import plain_stage2 as model
from ntpcore.huang2024 import direction as bounds
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError


def test_an_inequality_refuses_symbols_that_may_be_negative():
    x = sp.Symbol("x", real=True)
    with pytest.raises(ValueError, match="x may be negative"):
        symbols.at_most("x", sp.Integer(0), x)


def test_an_inequality_by_hand():
    x = sp.Symbol("x", nonnegative=True)
    assert symbols.at_most("2 x <= 1 + x^2 is no sum of such terms", 2 * x, 1 + x**2).holds is False
    assert symbols.signed_coefficients(x**2 / (1 + x)) == (1, 1, 1)
    assert symbols.at_most("1 <= 2", sp.Integer(1), sp.Integer(2)).holds
    assert not symbols.at_most("2 <= 1", sp.Integer(2), sp.Integer(1)).holds


@pytest.mark.parametrize(
    ("sentence", "optimal", "vocab_size"), [((1, 0), 0, 3), ((0, 1, 1), 1, 2), ((2, 0, 1), 2, 4)]
)
def test_the_gradient_holds_for_other_sentences(sentence, optimal, vocab_size):
    assert all(line.holds for line in steps.gradient_from_the_loss(sentence, optimal, vocab_size))


# States and runs


@pytest.fixture
def sixty_digits():
    """Sixty digits."""
    with mp.workdps(60):
        yield


def by_solver(data):
    """W* from the margins alone, by a solver for quadratic programs."""
    places = sorted(data.star)
    B = np.zeros((len(data.pairs), len(places)))
    for row, (q, a, b) in enumerate(data.pairs):
        B[row, places.index((q, a))], B[row, places.index((q, b))] = 1, -1
    return dict(zip(places, least_norm(B), strict=True))


@pytest.mark.parametrize("name", small_data.edges())
def test_the_brute_force_max_margin_solution_is_that_of_a_solver(name):
    data = small_data.edges()[name]
    found = by_solver(data)
    assert all(
        float(data.star[place]) == pytest.approx(found[place], abs=1e-5) for place in data.star
    )


def test_max_margin_solutions_of_random_data_are_those_of_a_solver():
    for seed in range(60):
        data = small_data.random_data(np.random.default_rng(seed))
        found = by_solver(data)
        assert all(float(data.star[p]) == pytest.approx(found[p], abs=1e-5) for p in data.star)


def test_the_max_margin_solution_of_the_five_tokens_by_hand():
    star = small_data.edges()["slack pair"].star
    half, third = Fraction(1, 2), Fraction(1, 3)
    by_hand = {0: 2 * third, 1: half, 2: -third, 3: -third, 4: -half}
    assert star == {(4, token): score for token, score in by_hand.items()}


@pytest.mark.usefixtures("sixty_digits")
def test_forces_without_cancellation_are_equation_6():
    rng = np.random.default_rng(5)
    for _ in range(20):
        data = small_data.random_data(rng)
        W = {place: mp.mpf(float(rng.normal())) for place in data.star}  # u~ of either sign
        plain = model.plain_gradient(data, W, mp.mpf(7))
        quick = model.gradient(data, model.forces(data, W, mp.mpf(7)))
        assert max(abs(plain[place] - quick[place]) for place in W) < mp.mpf(10) ** -50


@pytest.mark.usefixtures("sixty_digits")
def test_ours_pairs_at_zero_by_hand():
    """One pair at W = 0, |V| = 2: m = T = 1/2 twice, so that h = 1/2 and b = A / 4."""
    data = small_data.edges()["one pair"]
    assert model.forces(data, data.zero, mp.mpf(8)) == [[mp.mpf(2)]]
    assert model.gradient(data, [[mp.mpf(2)]]) == {(1, 0): 2, (1, 1): -2}
    state = instances.WeightsState("by hand", data, mp.mpf(8), data.zero, by_positions=True)
    found = checks.check_ours_pairs.judge([state])
    assert (found.verdict, found.slack) == (Verdict.PROVED, "")  # m_o = 1 / L exactly


def test_ours_pairs_fails_where_assumption_3_does():
    (run,) = instances.outnumbered()
    assert "step 1" in failure(checks.check_ours_trivial_bound, [run])
    state = next(iter(instances.below_a_rival()))
    assert failure(checks.check_ours_pairs, [state])


@pytest.mark.usefixtures("sixty_digits")
def test_ours_alignment_of_one_pair_by_hand():
    data = small_data.edges()["one pair"]
    W = {(1, 0): mp.mpf(2), (1, 1): mp.mpf(-1)}
    found = checks.check_ours_alignment.judge(
        [instances.WeightsState("by hand", data, mp.mpf(1), W)]
    )
    # the only pair has the margin 3; W* = (1/2, -1/2), S = 1/2 and L = 2, so that K = log 8
    assert found.numbers["room"].value == pytest.approx(math.log(8), rel=1e-14)


@pytest.mark.usefixtures("sixty_digits")
def test_ours_alignment_on_a_run_that_follows_equation_6():
    """<g, W> and its bound from the gradient by positions, without the formula for forces."""
    rng = np.random.default_rng(3)
    for eta in (0.025, 0.3):
        data = small_data.random_data(rng)
        with mp.workdps(int(60 + 120 * eta)):
            for W in model.run(data, 3, eta, 40, plain=True):
                G = model.plain_gradient(data, W, mp.mpf(3))
                total = mp.fsum(value for value in G.values() if value > 0)  # optimal tokens
                along = model.inner(data.star, W) / model.as_real(data.S)
                assert model.inner(G, W) / total <= along + instances.K(
                    data.max_length, data.pi_min
                )


def tangents(data, A, eta, steps):
    """tan^2 after each step, by equation (6) position by position."""
    for W in model.run(data, A, eta, steps, plain=True):
        along = model.inner(data.star, W) ** 2 / model.as_real(data.S)
        yield model.inner(W, W) / along - 1


def test_ours_direction_is_that_of_equation_6():
    data = small_data.edges()["two optimal tokens"]
    with mp.workdps(80):
        run = instances.run("", data, 3, 0.3, 20)
        for row, tangent in zip(run.rows, tangents(data, 3, 0.3, 20), strict=True):
            assert abs(row.across / row.along**2 - tangent) < mp.mpf(10) ** -40


def test_ours_direction_needs_the_factor_and_the_next_token_in_its_sentence():
    rare = [one for one in instances.runs() if one.name.startswith("two pairs, one rare")]
    assert failure(checks.check_ours_direction, rare) == ""
    assert "step" in failure(checks.check_ours_direction, rare, rarity=0)
    assert "step" in failure(checks.check_ours_direction, instances.from_outside())
    assert "$x$ at step" in failure(checks.check_ours_trivial_bound, instances.from_outside())


def test_ours_direction_is_nearly_attained_by_the_first_huge_step():
    """Twenty pairs, S = 10: the step goes along one of them, so that tan^2 is 2 S - 1 = 19."""
    with mp.workdps(60):
        run = instances.run("", instances.many_pairs(20), 3, 1e6, 1)
        (row,) = run.rows
        assert float(run.S) == 10
        assert float(row.across / row.along**2) == pytest.approx(19, rel=1e-12)
        assert float(row.across) == pytest.approx(0.95e12, rel=1e-12)


def test_ours_direction_itself_fails_where_a_next_token_comes_from_outside():
    (run,) = instances.from_outside(16_000)
    last = run.rows[-1]
    with mp.workdps(20):
        cos = last.along / mp.sqrt(last.squared)
        bound = (1 + mp.sqrt(2) * instances.K(3, run.pi_min) / run.eta) / 2 / last.step
        assert 1 - cos > bound


def test_ours_trivial_bound_is_an_equality_for_one_pair():
    (run,) = [one for one in instances.runs() if one.name.startswith("one pair to t_A")]
    assert float(run.S) == 0.5
    assert all(float(row.along) == pytest.approx(row.step * 4) for row in run.rows)
    assert 2 * math.sqrt(0.5) / math.sqrt(2) == pytest.approx(1)  # 1 / (sqrt(2) ||W*||)


def test_ours_trivial_bound_quotes_example_1():
    found = checks.check_ours_trivial_bound.judge([instances.runs()[-1]])
    assert found.numbers["example_cos"].value == pytest.approx(math.sqrt(3 / 13))
    assert found.numbers["example_beats"].value == 529
    plain = plain_example_1.one_minus_cos(plain_example_1.trained())
    # both runs have dozens of digits; at the end ||W||^2 - <W, W*>^2 / ||W*||^2, which is about
    # 2 (1 - cos) ||W||^2, is taken from numbers of 53 bits, each rounded a few times
    rounding = 4 * 2**-53 / (2 * plain)
    assert found.numbers["example_measured"].value == pytest.approx(plain, rel=rounding)


def test_a_comparison_of_no_number_is_an_error():
    with pytest.raises(NotANumberError, match="compares no numbers"):
        digits.at_most(mp.nan, mp.mpf(1), "x")


def test_data_with_a_confused_token_are_refused():
    one, two = (model.Sample(0, a, 1, ((b, 1),), mp.mpf(1)) for a, b in ((0, 1), (1, 2)))
    with pytest.raises(ValueError, match="confused"):
        model.Data(3, (one, two))


# Bounds

EXAMPLE_1 = (13 / 6, bounds.K(3, -math.log(9)), 0.025)  # S, K, eta of Example 1, as in the paper


def test_constants_of_example_1():
    assert EXAMPLE_1[1] == pytest.approx(math.log(1296))  # 2 * 9 * 8 * 9


def test_ours_trivial_bound_is_beaten_on_example_1():
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


def test_bounds_are_those_of_high_precision():
    data = small_data.edges()["idle pair"]
    S, eta, t = float(data.S), 0.3, 7
    k = bounds.K(data.max_length, float(mp.log(data.pi_min)))
    assert k == pytest.approx(float(instances.K(data.max_length, data.pi_min)))
    assert bounds.tan_squared(S, k, eta, t) == pytest.approx(
        2 * S / t + 2 * math.sqrt(2) * S * k / (eta * t)
    )
    assert bounds.one_minus_cos(S, k, eta, t) == pytest.approx(
        1 - 1 / math.sqrt(1 + bounds.tan_squared(S, k, eta, t))
    )


def test_margins_and_loss_by_hand():
    assert bounds.margins_from(0.5, 1.0, 10.0) == 8  # 32 / 4
    assert bounds.margins_from(0.5, 10.0, math.sqrt(2)) == pytest.approx(80)
    assert bounds.least_margin(0.5, 0.1, 20) == pytest.approx(math.sqrt(2))
    # 8 S^2 = 2, mu^2 = 1/4, 1 + sqrt(2) K / eta = 3, and the margin's slope times mu
    assert bounds.separated_from(0.5, math.sqrt(2), 1.0, 0.5) == pytest.approx(24)
    assert bounds.least_separation(0.5, 0.1, 0.5, 20) == pytest.approx(math.sqrt(0.5))
    assert bounds.log_loss_excess(3, 2.0, 0.5, 0.1, 20) == pytest.approx(math.log(8) - math.sqrt(2))


# Corollaries: the paper's statements with 1 / pi_min for N, in every reading of their constants

READINGS = (
    [(corollaries.upper_bound_on_K, {}), (corollaries.equation_4_as_printed, {})]
    + [(corollaries.tangents, {})]
    + [(corollaries.theorem_1_on_the_page, {}), (corollaries.equation_4_by_powers, {})]
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


def test_ours_corrected_statements_on_numbers():
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
