"""Stage 1: by hand, in many digits straight from equation (7), and with planted errors."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from every_check import failure

from ntpbook.huang2024.s5_stage1 import checks, steps
from ntpbook.shared import digits, first_stage, stage_1_law
from ntpbook.shared.first_stage import cycle, iterated
from ntpbook.shared.in_force import FACTS, facts
from ntpbook.shared.symbols import formula
from ntpcore.data.dataset import from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, stage1
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.maths import in_tex, plain

PAIR = iterated(cycle(2), 1.0, 20)  # W* = (1/2) [[-1, 1], [1, -1]], norm 1
FOUR = iterated(cycle(4), 0.1, 60)
RUNS = [PAIR, FOUR, iterated(cycle(5), 2.0, 60)]


def literal(size, eta0, steps, start=None):
    """W_ov after some steps of equation (7) in many digits, on one cycle of tokens."""
    following = [(x + 1) % size for x in range(size)]
    E = digits.exact(np.eye(size))
    if start is None:
        return digits.train_ov(following, E, eta0, steps)
    W = digits.exact(start)
    with mp.workdps(digits.DIGITS):
        for _ in range(steps):
            G = digits.stage1_gradient(following, W, E)
            W = W - mp.mpf(eta0) * G / digits.norm(G)
    return W


def planted(**changes):
    """The runs, with some columns of their measurements changed by functions."""
    return [
        replace(
            one,
            rows=replace(
                one.rows, **{key: change(getattr(one.rows, key)) for key, change in changes.items()}
            ),
        )
        for one in RUNS
    ]


def test_runs_end_with_the_experiment_and_have_fifty_times_its_step_too():
    found = list(first_stage.from_zero(3, 0))
    paper = [0.2 / math.sqrt(size) for size in (2, 3, 4, 50, 20)]
    assert [one.eta0 for one in found[1::2]] == pytest.approx(paper)
    assert [one.eta0 for one in found[::2]] == pytest.approx([50 * rate for rate in paper])
    assert len(list(first_stage.any_start(3, 1))) == 2 * len(list(first_stage.from_zero(3, 1)))
    assert sorted(next(iter(first_stage.from_zero(3, 1))).following) == [0, 1]


def test_a_run_with_a_number_that_is_none_is_an_error_and_no_pass():
    """A NaN in one row must not hide the violation in another."""

    def spoil(values):
        values = values.copy()
        values[-1], values[-2] = 5 * values[-1], math.nan
        return values

    for check in (checks.check_huang2024_lem_1, checks.check_huang2024_prop_1):
        with pytest.raises(NotANumberError):
            check.judge(planted(norm=spoil))


# Equation (7)


def test_huang2024_eq_7_by_hand_for_two_tokens():
    _, W = stage1.iterate(np.array([1, 0]), 1, 3.0)
    assert pytest.approx(np.array([[-1.5, 1.5], [1.5, -1.5]]), abs=1e-15) == W


def test_huang2024_eq_7_agrees_with_many_digits_from_a_random_start():
    start = np.random.default_rng(1).normal(size=(3, 3))
    _, W = stage1.iterate(np.array([1, 2, 0]), 25, 0.3, start=start)
    assert pytest.approx(digits.as_floats(literal(3, 0.3, 25, start)), abs=1e-13) == W


def test_huang2024_eq_7_gradient_of_a_column_agrees_with_differences():
    one = stage_1_law.column()
    logits, h = {one.a: 0.3, one.b: -1.2, one.R: 2.5}, 1e-6

    def loss(**moved):
        return float(one.loss.subs(logits | {getattr(one, key): v for key, v in moved.items()}))

    for symbol, entry, at in (("a", one.right, 0.3), ("b", one.wrong, -1.2)):
        slope = (loss(**{symbol: at + h}) - loss(**{symbol: at - h})) / (2 * h)
        assert float(entry.subs(logits)) == pytest.approx(slope, rel=1e-8)
    # R = e^z1 + e^z2 with both z moved: the sum of the entries at them
    scale = math.exp(h)
    slope = (loss(R=2.5 * scale) - loss(R=2.5 / scale)) / (2 * h)
    assert float(one.others.subs(logits)) == pytest.approx(slope, rel=1e-8)


# The law


def test_ours_stage_1_law_by_hand_for_two_tokens():
    assert stage1.weights(np.array([1, 0]), 4, 0.5) == pytest.approx(np.array([[-1, 1], [1, -1]]))
    assert math.exp(stage1.log_loss(2, 4, 0.5)) == pytest.approx(2 * math.log(1 + math.exp(-2)))


def test_ours_stage_1_law_agrees_with_many_digits():
    law = stage1.weights(np.array([1, 2, 3, 4, 0]), 40, 2.0)
    W = literal(5, 2.0, 40)
    assert digits.relative_distance(digits.exact(law), W) < 1e-15
    with mp.workdps(digits.DIGITS):
        loss = digits.stage1_loss([1, 2, 3, 4, 0], W, digits.exact(np.eye(5)))
        assert float(mp.log(loss)) == pytest.approx(stage1.log_loss(5, 40, 2.0), rel=1e-14)


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("norm", lambda x: 1.0000001 * x),
        ("one_minus_cos", lambda x: x + 1e-6),
        ("log_loss", lambda x: x + 1e-6),
        ("least_gap", lambda x: 0.999999 * x),
        ("greatest_gap", lambda x: 1.000001 * x),
    ],
)
def test_ours_stage_1_law_notices_a_trajectory_that_is_off(column, change):
    assert checks.check_ours_stage_1_law.judge(RUNS).verdict is Verdict.PROVED
    off = checks.check_ours_stage_1_law.judge(planted(**{column: change}))
    assert off.verdict is Verdict.REFUTED


# Equation (8), Lemmas 1 to 3


def test_huang2024_eq_8_by_hand_at_zero():
    # two mistakes of 1/2, gradient of norm 1
    assert (PAIR.rows.mistakes[0], PAIR.rows.cos_star[0]) == pytest.approx((1.0, -1.0))


def test_huang2024_eq_8_agrees_with_a_dense_product():
    rng = np.random.default_rng(3)
    following, star = [2, 0, 1], stage1.W_ov_star(np.array([2, 0, 1]))
    for _ in range(5):
        W = rng.normal(size=(3, 3)) * 3
        G = digits.as_floats(
            digits.stage1_gradient(following, digits.exact(W), digits.exact(np.eye(3)))
        )
        T = np.exp(W) / np.exp(W).sum(axis=0)
        wrong = T.sum() - T[following, range(3)].sum()
        assert (G * star).sum() == pytest.approx(-wrong, rel=1e-12)


def test_huang2024_lem_1_by_hand_for_two_tokens():
    # ||W*|| = 1, eta_0 = 1: after 10 steps from norm 1 between 4 and 11
    assert bounds.lem_1_norm(_constants(PAIR), 10.0, 1.0) == (4.0, 11.0)
    assert PAIR.rows.norm == pytest.approx(PAIR.rows.step)


def test_huang2024_lem_1_agrees_with_many_digits_from_a_random_start():
    start = np.random.default_rng(4).normal(size=(4, 4))
    norm = float(digits.norm(literal(4, 0.1, 30, start)))
    first = float(np.linalg.norm(start))
    assert 30 * 0.1 / (2 * math.sqrt(3)) - first <= norm <= 30 * 0.1 + first
    rows, _ = stage1.iterate(np.array([1, 2, 3, 0]), 30, 0.1, start=start)
    assert rows.norm[-1] == pytest.approx(norm, rel=1e-13)


@pytest.mark.parametrize("factor", [1.001, 0.01])
def test_huang2024_lem_1_notices_scaled_weights(factor):
    assert checks.check_huang2024_lem_1.judge(RUNS).verdict is Verdict.PROVED
    scaled = planted(norm=lambda x: factor * x)
    assert checks.check_huang2024_lem_1.judge(scaled).verdict is Verdict.REFUTED


def test_huang2024_app_lem_1_cosine_by_hand_for_one_wrong_token():
    # one column [-1, 1, 0] is left: the product is 1 by (8), the norm sqrt(2)
    for one in checks.one_column_left():
        product = -one.rows.cos_star * one.norm_star
        assert product == pytest.approx(1 / math.sqrt(2), rel=1e-6)
    # at W = 0 the gradient is -W*/... and the product is ||W*||
    assert -PAIR.rows.cos_star[0] * PAIR.norm_star == pytest.approx(1.0)


def test_huang2024_app_prop_3_step_by_hand_from_zero():
    # |V| = 2, eta_0 = 1/2, the second step: norms 1/2 and 1, alpha = 2 log 4 / (1/2) = 4 log 4
    rows, _ = stage1.iterate(cycle(2), 2, 0.5, record=range(3))
    one = first_stage.First("by hand", cycle(2), 0.5, 0.0, rows)
    alpha = 4 * math.log(4)
    right = 0.5 - 0.25 / (2 * 0.5) - 0.5 * alpha / (1 + alpha)
    (said,) = checks.check_huang2024_app_prop_3_step.body(one)
    assert float(said.slack) == pytest.approx((0.5 - right) / 0.5)  # by eta_0


def test_huang2024_app_p_1_by_hand_and_without_closure():
    closed = from_samples([("a", "b"), ("b", "a"), ("a b", "b")], "a b")
    tried = checks.Tried(closed, 0)
    assert checks.check_huang2024_app_p_1.judge([tried]).verdict is Verdict.PROVED
    place = failure(checks.check_huang2024_app_p_1, checks.five_tokens(), closed=False)
    assert plain(place) == "five tokens, |V| = 5, the second token of a c q is not n(a)"


def test_huang2024_app_l_0_by_hand_for_two_tokens():
    # logits 1 and 0 for the right and the wrong token of both: 2 log(1 + 1/e)
    W = np.array([[0.0, 1.0], [1.0, 0.0]])
    with mp.workdps(30):
        alone = digits.stage1_loss([1, 0], digits.exact(W), digits.exact(np.eye(2)))
        assert float(alone) == pytest.approx(2 * math.log(1 + math.exp(-1)))
    one = checks.Place("by hand", W, np.array([1, 0]), 1.0)
    assert checks.check_huang2024_app_l_0.judge([one]).verdict is Verdict.PROVED
    assert failure(checks.check_huang2024_app_l_0, [one], longer=True)


def test_huang2024_lem_2_by_hand_for_two_tokens():
    # ||W*|| = 1 and |V| = 2: 1 + 2 log 4 / ||W||
    assert bounds.lem_2_factor(_constants(PAIR), 4.0) == pytest.approx(1 + math.log(2))
    assert PAIR.rows.cos_weights[1:] == pytest.approx(-1)


def test_huang2024_lem_2_holds_at_random_matrices():
    rng = np.random.default_rng(6)
    n = np.array([1, 2, 3, 0])
    for scale in (0.01, 1.0, 30.0):
        W = rng.normal(size=(4, 4)) * scale
        G = digits.stage1_gradient(n.tolist(), digits.exact(W), digits.exact(np.eye(4)))
        G = digits.as_floats(G)
        norm = np.linalg.norm(W)
        factor = 1 + 2 * math.sqrt(3) * math.log(8) / norm
        right = factor * (G * stage1.W_ov_star(n)).sum() * norm / math.sqrt(3)
        assert (G * W).sum() >= right


def test_huang2024_lem_3_by_hand_for_three_tokens():
    W = stage1.weights(np.array([1, 2, 0]), 1, 2**0.5)
    assert W[:, 0] == pytest.approx([-1 / 3, 2 / 3, -1 / 3])


def test_huang2024_lem_3_agrees_with_many_digits():
    W = literal(5, 0.7, 12)
    for x in range(5):
        wrong = [W[v, x] for v in range(5) if v != (x + 1) % 5]
        assert max(wrong) - min(wrong) < 1e-50


# Propositions 1 and 3


def _constants(one):
    """What `bounds` wants to know; only size, norm and step size are used for stage 1."""
    star = math.sqrt(one.size - 1)
    last = int(one.rows.step[-1])
    return bounds.Constants(one.size, 1, 1, star, 1.0, 0.0, one.eta0, 1.0, last)


def next_root(factor: float) -> float:
    """The larger root of t = factor log t; each round of the iteration shrinks what is missing."""
    t = factor
    for _ in range(60):
        t = factor * math.log(t)
    return t


def test_huang2024_prop_1_by_hand_for_the_experiment():
    found = checks.check_huang2024_prop_1.judge([iterated(cycle(20), 0.2 / 20**0.5)])
    bound = 12 * 19**1.5 * math.log(40) * math.log(900) / (900 * 0.2 / 20**0.5)
    numbers = {name: one.value for name, one in found.numbers.items()}
    assert numbers["bound"] == pytest.approx(bound, rel=1e-12)
    first = numbers["from"]
    assert 12 * 19**1.5 * math.log(40) * math.log(first) / (first * 0.2 / 20**0.5) == pytest.approx(
        1
    )
    assert numbers["rate_ratio"] == pytest.approx(4, rel=0.01)
    assert (numbers["T"], found.tried) == (900, 1)
    root = next_root(12 * 19**1.5 * math.log(40) / (0.2 / 20**0.5))
    assert found.vacuous.startswith(f"$t = {{{in_tex(f'{root:.3g}')}}}$")


def test_huang2024_prop_1_agrees_with_many_digits_and_with_the_table_of_bounds():
    c = _constants(RUNS[2])
    for t in (2, 7, 60):
        W = literal(5, 2.0, t)
        with mp.workdps(digits.DIGITS):
            loss = digits.stage1_loss([1, 2, 3, 4, 0], W, digits.exact(np.eye(5)))
            assert loss <= 20 * mp.exp(-bounds.prop_1_loss_rate(c) * t)
        lower, upper = bounds.prop_1_norm(c, t)
        assert lower <= float(digits.norm(W)) <= upper * (1 + 1e-15)
    found = checks.check_huang2024_prop_1.judge([RUNS[2]]).numbers["bound"].value
    assert math.exp(bounds.log_prop_1_direction(c, math.log(60))) == pytest.approx(found)


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("norm", lambda x: x + 10),
        ("norm", lambda x: x / 5),
        ("log_loss", lambda x: x + 10),
    ],
)
def test_huang2024_prop_1_notices_planted_errors(column, change):
    judge = checks.check_huang2024_prop_1.judge
    assert judge(RUNS).verdict is Verdict.PROVED
    assert judge(planted(**{column: change})).verdict is Verdict.REFUTED


def test_huang2024_prop_1_notices_a_wrong_direction_where_its_bound_bites():
    one = iterated(cycle(2), 50.0, 900)  # 12 log 4 log t / (50 t) is below 1 from t = 3 on
    turned = replace(one, rows=replace(one.rows, one_minus_cos=one.rows.one_minus_cos + 1))
    judge = checks.check_huang2024_prop_1.judge
    assert judge([one]).verdict is Verdict.PROVED
    assert judge([turned]).verdict is Verdict.REFUTED


def test_huang2024_prop_3_by_hand_cosine_is_one():
    assert PAIR.rows.one_minus_cos[1:].max() < 1e-30


def test_huang2024_prop_3_agrees_with_many_digits():
    W = digits.as_floats(literal(5, 2.0, 9))
    star = stage1.W_ov_star(np.array([1, 2, 3, 4, 0]))
    cosine = (W * star).sum() / np.linalg.norm(W) / 2
    assert cosine == pytest.approx(1, abs=1e-15)


def test_huang2024_prop_3_bound_says_nothing_of_a_wrong_direction_at_sixty_small_steps():
    turned = planted(one_minus_cos=lambda x: x + 1.3)[1:2]
    assert checks.check_huang2024_prop_3.judge(turned).verdict is Verdict.PROVED


# Corollary 1


def test_huang2024_cor_1_by_hand_for_two_tokens():
    # A = 20 / 4 = 5, and the margin is 20 > 15
    assert bounds.cor_1_interval(_constants(PAIR)) == (5.0, 15.0)
    assert PAIR.rows.greatest_gap[-1] == pytest.approx(20)
    one = checks.Margins("by hand", 2, Fraction(1), 20)
    ends = {"lower": lambda n: 0, "upper": lambda n: 17}  # 16 is the square of 20 / 5
    assert one.steps < one.asked(5)  # 384 log 4 log 20
    assert checks.check_huang2024_cor_1.judge([one], **ends).verdict is Verdict.OPEN
    long = replace(one, steps=10_000)
    assert checks.check_huang2024_cor_1.judge([long], **ends).verdict is Verdict.NOT_CONTRADICTED
    ends["upper"] = lambda n: 16
    assert checks.check_huang2024_cor_1.judge([long], **ends).verdict is Verdict.REFUTED


def test_huang2024_cor_1_is_refuted_by_many_digits_where_its_condition_holds(monkeypatch):
    monkeypatch.setattr(digits, "DIGITS", 300)  # for probabilities of e^-600
    one = checks.Margins("two tokens", 2, Fraction(200**2), 3)
    assert one.steps >= one.asked(7)
    W = digits.as_floats(literal(2, 200.0, 3))
    assert W[1, 0] - W[0, 0] > 3 * 3 * 200 / 4  # 3A


def test_huang2024_cor_1_is_refuted_under_every_reading_by_example_1_at_the_paper_s_step_size():
    found = checks.check_huang2024_cor_1()
    assert {one.verdict for one in found.readings} == {Verdict.REFUTED}
    # T >= 384 (|V| - 1)^(7/2) log(2 |V|) log(T) / eta_0, and twice as many steps to be sure
    steps = 2 * next_root(384 * 3**3.5 * math.log(8) / 0.1)
    quoted = re.match(r"\|V\| = 4, η_0 = 0\.1, T = (\d+)", plain(found.witness))
    assert abs(int(quoted[1]) - steps) <= 2  # rounded up before it is doubled
    numbers = {name: one.value for name, one in found.numbers.items()}
    ends = numbers["least_ratio"], numbers["greatest_ratio"]
    assert ends == pytest.approx((4, 28))  # 4 sqrt(|V| - 1) for |V| of 2 and 50
    assert numbers["ratio"] == pytest.approx(4 * math.sqrt(19))
    first = numbers["from"]  # |V| = 20, exponent 5
    asked = 384 * 19**2.5 * math.log(40) * math.log(first) / (0.2 / math.sqrt(20))
    assert first == pytest.approx(asked, rel=1e-9)


def test_huang2024_cor_1_tests_its_hypotheses_on_every_first_stage():
    found = checks.check_huang2024_cor_1()
    assert found.hypotheses == (checks.LONG_ENOUGH, checks.FROM_ZERO, *FACTS)
    one = checks.Margins("by hand", 3, Fraction(1), 10_000)
    assert one.data.prefix_closed
    assert [line.next_token for line in one.data.samples()] == ["1", "2", "0", "2"]


def test_each_fact_in_force_is_lost_by_an_instance_of_its_own():
    outweighed = from_samples([(("a", "a", "b"), "a"), (("a",), "b"), (("b",), "a")])
    slanted = np.eye(4) + 1e-6 * np.eye(4)[::-1]
    lost = {
        r"Assumption 1, and every next token is $\mathrm n$ of a token of its sentence": facts(
            from_sentences(["a b", "c b", "b a"])
        ),
        "Assumption 2": facts(example_1(), slanted),
        "Assumption 3": facts(outweighed),
        "prefix closure": facts(outweighed),
    }
    assert all(one.holds for one in facts(example_1()))
    for name, said in lost.items():
        assert {one.name: one.holds for one in said}[name] is False, name


def test_huang2024_cor_1_says_how_many_first_stages_were_too_short():
    short = [checks.Margins("short", 20, Fraction(4, 2000), 900)]
    found = checks.check_huang2024_cor_1.judge(short)
    assert found.verdict is Verdict.OPEN
    assert found.left_out == {"$T$ is smaller than the corollary requires": 1}


def test_huang2024_cor_1_corrected_by_hand_for_five_tokens():
    assert stage1.gap(5, 6, 0.5) == 1.5


def test_huang2024_cor_1_corrected_agrees_with_many_digits():
    W = digits.as_floats(literal(5, 2.0, 7))
    gaps = [W[(x + 1) % 5, x] - W[v, x] for x in range(5) for v in range(5) if v != (x + 1) % 5]
    assert gaps == pytest.approx([7.0] * 20, rel=1e-14)


# Said in passing


def direct_loss(W):
    """L_0 written plainly, for the collocation x -> x + 1."""
    columns = range(len(W))
    return sum(np.log(np.exp(W[:, x] - W[(x + 1) % len(W), x]).sum()) for x in columns)


def test_huang2024_app_stage_1_limit_by_hand_for_two_tokens():
    star = np.array([[-0.5, 0.5], [0.5, -0.5]])
    by_hand = math.log(2 * math.log(1 + math.exp(-3)))
    assert checks.log_loss(3 * star) == pytest.approx(by_hand, abs=1e-14)


def test_huang2024_app_stage_1_limit_loss_agrees_with_the_plain_formula():
    W = np.random.default_rng(1).normal(size=(5, 5))
    assert math.exp(checks.log_loss(W)) == pytest.approx(direct_loss(W), rel=1e-13)


def test_huang2024_app_convex_by_hand_the_missing_probability_is_not():
    # two tokens, margins 1 and 9 in each column: the middle lies above the chord
    one, other = np.array([[0.0, 1], [1, 0]]), np.array([[0.0, 9], [9, 0]])
    middle = (checks.missing(one) + checks.missing(other)) / 2
    assert checks.missing(one) == pytest.approx(2 / (1 + math.e))
    assert checks.missing(one / 2 + other / 2) < middle  # convex there, but not everywhere
    pair = checks.Pair("by hand", -one, -other)
    assert checks.check_huang2024_app_convex.judge([pair], logarithm=False).witness
    assert checks.check_huang2024_app_convex.judge([pair]).verdict is Verdict.PROVED


def test_huang2024_app_stage_1_rate_by_hand_and_no_larger_rate_will_do():
    # |V| = 2, eta_0 = 2, t = 60: L_0 = 2 log(1 + e^-120)
    assert stage1.log_loss(2, 60, 2.0) == pytest.approx(math.log(2) - 120, rel=1e-15)
    run = [iterated(cycle(2), 2.0, 60)]
    assert checks.check_huang2024_app_stage_1_rate.judge(run).verdict is Verdict.PROVED
    faster = checks.check_huang2024_app_stage_1_rate.judge(run, faster=1.0001)
    assert faster.verdict is Verdict.REFUTED


def test_huang2024_app_constant_a_margins_are_four_roots_times_the_printed_one():
    found = checks.check_huang2024_app_constant_a(sets=2)
    ends = found.numbers["least"].value, found.numbers["most"].value
    assert ends == pytest.approx((4, 28))
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED, Verdict.REFUTED]
    alone = checks.check_huang2024_app_constant_a.judge([PAIR])  # |V| = 2 only
    assert [one.verdict for one in alone.readings] == [Verdict.REFUTED, Verdict.NOT_CONTRADICTED]


def test_huang2024_app_lem_2_lower_by_hand_for_two_tokens():
    # margins 2 and 0: ||W||^2 = 2, r = sqrt 2, the least margin 0, L_0 = log 2 + log(1 + e^-2)
    W = checks.Matrix("by hand", np.array([[-1.0, 0.0], [1.0, 0.0]]))
    assert W.r == pytest.approx(math.sqrt(2))
    loss = math.exp(checks.log_loss(W.W))
    assert loss == pytest.approx(math.log(2) + math.log(1 + math.exp(-2)))
    assert loss >= math.log1p(math.exp(-math.sqrt(2))) >= math.exp(-math.sqrt(2)) / 2
    found = checks.check_huang2024_app_lem_2_lower.judge([W])
    assert found.numbers["closest"].value == pytest.approx(1)  # (r - 0) / r


def test_huang2024_app_lem_2_lower_is_tried_near_equality_for_all_sizes():
    found = checks.check_huang2024_app_lem_2_lower(trials=100)
    assert 0 <= found.numbers["closest"].value < 1e-6
    assert len({len(one.W) for one in checks.near_and_far(7, 5)}) == 5


def test_huang2024_app_lem_2_upper_by_hand_for_two_tokens():
    r = 1.5
    W = (r + 2 * math.log(4)) * stage1.W_ov_star(cycle(2))
    loss = 2 * math.log(1 + math.exp(-r) / 16)
    assert math.exp(checks.log_loss(W)) == pytest.approx(loss, rel=1e-13)
    assert loss <= math.exp(-r) / 4


def test_huang2024_app_lem_2_upper_comes_near_its_quarter():
    found = checks.check_huang2024_app_lem_2_upper(trials=60)
    assert 0.24 < found.numbers["most"].value < 0.25
    fifth = checks.check_huang2024_app_lem_2_upper.judge(checks.near_and_far(), share="1/5")
    assert fifth.verdict is Verdict.REFUTED
    assert not steps.far_multiple(2, "1/5")[0].holds


def test_huang2024_app_prop_1_sum_norms_are_those_of_many_digits():
    """||W^(2)|| is twice eta_0, from equation (7) alone."""
    for size, eta0 in ((2, 0.5), (5, 1.0)):
        found = checks.norms(size, eta0).norms
        for t in (1, 2, 3):
            assert float(digits.norm(literal(size, eta0, t))) == pytest.approx(
                found[t - 1], rel=1e-14
            )
        assert found[1] == pytest.approx(2 * eta0, rel=1e-14)


def test_huang2024_app_prop_1_sum_by_hand_the_sums_of_three_steps():
    # |V| = 2, eta_0 = 1/2, norms t / 2: at t = 4 the first sum is 2/2 + 2/3 = 5/3, the second
    # alpha = 4 log 4 / t', so the sum of 4 log 4 / (t' + 4 log 4) over t' = 2 and 3
    log_4 = math.log(4)
    four = replace(checks.norms(2, 0.5), norms=checks.norms(2, 0.5).norms[:4])
    second = 4 * log_4 / (2 + 4 * log_4) + 4 * log_4 / (3 + 4 * log_4)
    factors = {"first": 5 / 3 / (2 * log_4), "second": second / (2 * log_4 * log_4)}
    body = checks.check_huang2024_app_prop_1_sum.body
    for at, (name, factor) in enumerate(factors.items()):
        held, violated = (
            list(body(four, **{name: near * factor}))[at] for near in (1.0001, 0.9999)
        )
        assert held.slack > 0 > violated.slack
        assert plain(violated.where) == f"{name} sum, t = 4"


def test_huang2024_app_prop_1_sum_last_line_by_hand_for_five_tokens():
    # norm 2, t = 2: 2 eta_0 + (4 eta_0 + 16 log 10) log 2 <= 24 log 10 log 2 up to 1.338 norms;
    # with eta_0 in the place of the second norm, 2 eta_0, it would be up to 1.692 norms
    edge = 8 * math.log(10) * math.log(2) / (2 + 4 * math.log(2))
    assert edge / 2 == pytest.approx(1.338, abs=1e-3)
    judge = checks.check_huang2024_app_prop_1_sum.judge
    for factor, verdict in ((0.999, Verdict.PROVED), (1.001, Verdict.REFUTED)):
        found = judge([checks.norms(5, factor * edge)], last=6.0, any_step=True)
        assert found.verdict is verdict
    assert "last line, t = 2" in plain(found.witness)


def test_huang2024_app_prop_1_sum_last_line_fails_for_large_steps():
    found = checks.check_huang2024_app_prop_1_sum()
    (reading,) = found.readings
    assert reading.verdict is Verdict.REFUTED
    # |V| = 2, t = 2, eta_0 = 2: 4 + (4 + 4 log 4) log 2 = 10.6 against 6 log 4 log 2 = 5.8
    left, right = 4 + (4 + 4 * math.log(4)) * math.log(2), 6 * math.log(4) * math.log(2)
    assert plain(reading.witness).startswith("|V| = 2, η_0 = 2, last line, t = 2")
    assert reading.witness.endswith(f"violated by {1 - right / left:.3g}")
    left_out = checks.check_huang2024_app_prop_1_sum.judge(checks.large_steps())
    assert left_out.left_out == {checks.SMALL_ETA: len(checks.large_steps())}


def test_huang2024_app_prop_1_sum_what_the_last_line_needs_by_hand():
    # its least coefficient is the constant one, at |V| = 2 and t = 2
    (shown,) = steps.last_line()
    assert shown.holds
    least = 4 * sp.log(2) ** 2 - 1 - sp.log(2)
    assert float(least) == pytest.approx(2 * math.log(4) * math.log(2) - 1 - math.log(2))
    assert shown.left == formula(least)


def test_the_answers_to_the_exercises():
    loss_after = [4 * math.log1p(3 * math.exp(-t / (10 * math.sqrt(3)))) for t in (122, 123)]
    assert loss_after[0] > 1 / 100 > loss_after[1]
    assert math.sqrt(25 / 16 - 1) * 4 == 3
    rng = np.random.default_rng(4)
    E, raised = np.eye(5), np.zeros((5, 5)) + rng.normal(size=5)  # one number for each column
    plain, shifted = np.zeros((5, 5)), raised.copy()
    for _ in range(20):
        for W in (plain, shifted):
            said = np.exp(W) / np.exp(W).sum(axis=0)
            G = said - np.roll(E, 1, axis=0)
            W -= 0.3 * G / np.linalg.norm(G)
    np.testing.assert_allclose(shifted, raised + plain, atol=1e-12)
    law = 20 * 0.3 * (np.roll(E, 1, axis=0) - 1 / 5) / 2  # the norm of W_ov* is 2
    np.testing.assert_allclose(plain, law, atol=1e-12)
