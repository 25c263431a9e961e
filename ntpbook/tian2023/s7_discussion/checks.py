"""Checks of what Tian et al. (2023) say in the abstract and in Sections 1, 5, 7 and 9."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from ntpbook.shared import origins, reduced_flow
from ntpbook.shared.levels import within
from ntpbook.shared.symbols import identity
from ntpbook.tian2023.s7_discussion import apart, enclosed_steps, one_head, residual, section_8
from ntpbook.tian2023.s7_discussion.instances import (
    DISORDERED,
    RARE,
    RISING,
    Biased,
    Decaying,
    Drawn,
    Growing,
    Heads,
    ScoresOverTime,
    SymmetricUnder10,
    Trajectory,
    biased,
    chance_of_spurious,
    collection,
    decayed_distance,
    distinct_losers,
    drawn_alike,
    drawn_by_position,
    equal_starts,
    flows,
    growing_data,
    head_classes,
    head_starts,
    late_flows,
    ordered_flows,
    scores_under_10,
    smallest_lead,
    symmetric_gainers,
    takeover_log_time,
    trained_heads,
    winners,
)
from ntpcore.tian2023 import layer, population
from ntpcore.tian2023.coupled import Symmetric
from ntpcore.tian2023.population import HeadWeights
from ntpverdicts import arrays
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import (
    Said,
    assume,
    at_least,
    below,
    count,
    holds,
    least,
    left_out,
    most,
    result,
)
from ntpverdicts.maths import in_tex, in_words
from ntpverdicts.vocabulary import Variant, by_hand, check, enclosed, executed, uses

Floats = NDArray[np.float64]

INTEGRATOR = 1e-8  # five times what a tolerance of 1e-11 instead of 1e-8 changes in the runs

# The first stage


@check(
    "tian2023-app-uniform-start",
    over="runs in which both layers train",
    instances=flows,
    says="In {tried} runs, on symmetric classes, on random classes, and on one further example, "
    "every token starts with attention equal to its frequency in the context. Averaged over the "
    "classes of a run, the attention on common tokens never increases up to $10^8$ steps. In a "
    "single class, the attention on common tokens can increase if the data have several common "
    "tokens.",
    tolerance=INTEGRATOR,
    observes=True,
    readings={
        "The attention on common tokens never increases in any single class, for data with one "
        "common token.": {"which": "single"},
        "The attention on common tokens never increases in any single class, for data with any "
        "number of common tokens.": {"which": "any"},
    },
    planted={
        "Attention logits of the opposite sign.": {"factor": -1.0},
        "The attention on distinct tokens instead of common ones.": {"distinct": True},
    },
)
def check_tian2023_app_uniform_start(
    run: Trajectory, which: str = "mean", factor: float = 1.0, distinct: bool = False
) -> Iterator[Said]:
    """c_n(0) = P(.|n), and the attention on common tokens falls between recorded times."""
    c = run.with_scores(factor).c
    yield arrays.equal(c[0], run.classes.probabilities, "the start", scale=1.0)
    mass = c[:, :, run.common].sum(axis=2)
    if distinct:
        mass = 1 - mass
    if which == "single" and len(run.common) > 1:
        yield left_out("several common tokens")
        return
    fall = -np.diff(mass.mean(axis=1) if which == "mean" else mass, axis=0)
    times = run.times[1:] if which == "mean" else run.times[1:, None]
    yield arrays.at_least(fall, 0.0, "$t = {at}$", at=times, scale=1.0)
    yield least("start", float(mass.mean(axis=1)[0]), digits=2)
    yield most("start_most", float(mass.mean(axis=1)[0]), digits=2)
    yield least("fall", float(mass.mean(axis=1)[0] - mass.mean(axis=1)[-1]), digits=2)
    yield most("fall_most", float(mass.mean(axis=1)[0] - mass.mean(axis=1)[-1]), digits=2)
    if run.classes.probabilities.shape == np.shape(RISING):
        n = int(np.argmax(mass[-1] - mass[0]))
        yield result("before", float(mass[0, n]), digits=4, origin=origins.INTEGRATOR)
        yield result("after", float(mass[-1, n]), digits=4, origin=origins.INTEGRATOR)


# The order in which distinct tokens are left behind


def trained_orders(seeds: int = 20) -> list[section_8.Order | Trajectory]:
    """The runs of Section 8 from uniform attention, and those of the flow, which only count."""
    return [*section_8.uniform_starts(seeds), *ordered_flows()]


def all_orders() -> list[section_8.Order]:
    """The runs of Section 8 from uniform attention and from random starts."""
    return [*section_8.uniform_starts(20), *section_8.random_starts(2)]


@check(
    "tian2023-app-dropping",
    over="runs",
    instances=trained_orders,
    name=lambda one: one.name,
    size=lambda one: int(isinstance(one, section_8.Order)),
    says="In all {tried} runs on Syn-Small the changes of attention on the distinct tokens "
    "have the order of their co-occurrence with the query.",
    fails="On Syn-Small, from uniform attention, the order holds for every pair of distinct "
    "tokens of a class in {ordered} of {simulated} runs of 100 updates. In the other runs some "
    "token gains less attention, or loses more, than a rarer distinct token of its class; the "
    "largest violation in the logarithm of the attention is {miss}. As a tendency the order holds "
    "in every run: the smallest rank correlation of gain and co-occurrence, averaged over the "
    "classes, is {rank}.",
    tolerance=INTEGRATOR,
    observes=True,
    readings={
        "As a tendency: the rank correlation of gain and co-occurrence, averaged over the classes "
        "of each run, is above 0.5 on Syn-Small and on Syn-Medium.": Variant(
            {"which": "tendency"}, instances=all_orders
        ),
        "The order holds for every pair of tokens on Syn-Medium, where logits and decoder start at "
        "random instead of from uniform attention.": Variant(
            {}, instances=lambda: section_8.random_starts(2)
        ),
        "The order holds for every pair of tokens on Syn-Small without the noise of batches, from "
        r"zero, with $\eta_Y \ge 2\eta_Z$, after 100 steps.": Variant(
            {"which": "order"}, instances=lambda: section_8.expected()
        ),
        "When both layers train, the rarer of two distinct tokens never leads, for "
        r"$\eta_Y/\eta_Z \ge 100$ and up to $10^6$ steps.": {"which": "flow"},
        "When both layers train, the rarer of two distinct tokens never leads, for every "
        r"$\eta_Y > \eta_Z$ and up to $10^8$ steps.": {
            "which": "flow",
            "fast": 0.0,
            "until": math.inf,
        },
        "When both layers train, the attention on the rarest token of the first class falls "
        "below its initial value.": {"which": "dropped"},
    },
    planted={
        "Gains sorted within each class, so that the order holds.": Variant(
            {"spoil": "sorted"}, expected=Verdict.SEEN
        ),
        "By rank correlation, with gains of the opposite sign.": {
            "which": "tendency",
            "spoil": "opposite",
        },
        "With both layers training, logits of the opposite sign, which favor rare tokens.": {
            "which": "flow",
            "factor": -1.0,
        },
        r"With both layers training, also $\eta_Y/\eta_Z = 10$, and $10^8$ steps.": {
            "which": "flow",
            "fast": 0.0,
            "until": math.inf,
        },
    },
)
def check_tian2023_app_dropping(
    run: section_8.Order | Trajectory,
    which: str = "order",
    fast: float = 100.0,
    until: float = 1e6,
    factor: float = 1.0,
    spoil: str = "",
) -> Iterator[Said]:
    """ln c_l(end)/c_l(0) grows with P(l|n) among the distinct tokens l of a class n."""
    if isinstance(run, section_8.Order):
        found = run.spoilt(spoil)
        if which == "order":
            for n, gains in enumerate(found.gains):
                least_step = float(np.diff(gains).min())
                where = f"class {n}: a token gains {-least_step:.2g} less than the next rarer one"
                yield holds(least_step >= 0, where)
        elif which == "tendency":
            yield within(-found.rank, -0.5, "rank correlation")
        yield least("rank", run.rank, 2, origins.SEEDS)
        yield most("miss", max(-run.step, 0.0), 2, origins.SEEDS)
        yield count("ordered", int(run.step >= 0))
        yield count("simulated")
        return
    fast_enough, one = run.ratio >= fast, run.with_scores(factor)
    rarest, c = run.distinct(0)[0], one.c
    if which == "dropped" and fast_enough:
        holds_ = float(c[-1, 0, rarest]) < float(c[0, 0, rarest])
        yield holds(holds_, f"attention on the rarest token, {c[0, 0, rarest]:.3f} at the start")
    elif which == "flow" and fast_enough:
        inside = run.times <= until
        for n in range(run.classes.K):
            z = one.z[inside][:, run.classes.query[n], run.distinct(n)]
            lead = np.diff(z, axis=1)
            times = run.times[inside][:, None]
            yield arrays.at_least(lead, 0.0, f"class {n}, $t = {{at}}$", at=times, scale=1.0)
    broken = any(
        float(np.diff(run.z[:, run.classes.query[n], run.distinct(n)], axis=1).min()) < -INTEGRATOR
        for n in range(run.classes.K)
    )
    yield count("flows")
    yield count("broken", int(broken and run.ratio < 100))
    yield count("later", int(broken and run.ratio >= 100))
    yield count("dropped", int(run.ratio >= 100 and c[-1, 0, rarest] < c[0, 0, rarest]))
    if run.classes.probabilities.shape == np.shape(DISORDERED):
        rare, often = run.z[-1, 0, run.distinct(1)]
        yield result("rare", float(rare), digits=2, origin=origins.INTEGRATOR)
        yield result("often", float(often), digits=2, origin=origins.INTEGRATOR)


@check(
    "ours-distinct-loses",
    over="ways to train our two classes",
    instances=distinct_losers,
    says="In our example of two classes of one query, both distinct tokens of the second class "
    "have attention logits below 0, their initial value. Ball arithmetic, which bounds all "
    "rounding errors, certifies that the logits are negative after {certain} gradient steps; "
    "after {steps} steps, and for the gradient flow from $t = 10^4$ to $10^8$, the logits were "
    "computed in floating point.",
    observes=True,
    planted={
        "Two classes that are alike except for their tokens.": Variant({}, symmetric_gainers),
        "Attention logits of the opposite sign.": {"sign": -1.0},
    },
)
def check_ours_distinct_loses(one: ScoresOverTime, sign: float = 1.0) -> Iterator[Said]:
    """z_l < 0 for both distinct tokens l of the second class."""
    scores = sign * one.scores
    yield arrays.slack(-one.room - scores, "$t = {at}$", at=one.times[:, None])
    for name, score in zip(("rare", "often"), one.scores[-1, :2], strict=True):
        origin = origins.INTEGRATOR if one.room else origins.ENCLOSURE
        yield result(f"{one.short}_{name}", float(score), digits=2, origin=origin)
    yield most("steps", int(one.times[-1]) if one.short == "steps" else 0)
    yield most("certain", int(one.times[-1]) if one.short == "balls" else 0)


# No winner takes all


def horizons(seed: int = 7, random: int = 8) -> list[Trajectory | SymmetricUnder10]:
    """The runs, and three symmetric classes under (10)."""
    return [*collection(seed, random), SymmetricUnder10(3, 0.2, 10.0)]


@check(
    "tian2023-app-no-winner",
    over="runs in which both layers train",
    instances=horizons,
    says="In {tried} runs on symmetric and random classes no token has 0.99 of the attention on "
    "the distinct tokens of its class at any recorded time up to $10^8$ steps. Later times were "
    "not examined.",
    observes=True,
    readings={
        "No token ever has 0.99 of the attention on the distinct tokens of its class under the "
        "approximation (10), where the growth bound $B_n$ grows without limit.": {"ever": True}
    },
    planted={
        "Logits one thousand times as large.": {"factor": 1000.0},
        "A winner defined by half of the attention.": {"share": 0.5},
    },
)
def check_tian2023_app_no_winner(
    one: Trajectory | SymmetricUnder10, ever: bool = False, factor: float = 1.0, share: float = 0.99
) -> Iterator[Said]:
    """The largest share among the distinct tokens of a class stays below 0.99."""
    if isinstance(one, SymmetricUnder10):
        if ever:
            last = scores_under_10(one, np.array([600.0]))[-1]
            clock = r"$\Gamma = \eta_Z \int_0^t \gamma$, with the $\gamma$ of Theorem 1,"
            where = rf"share when the integral {clock} is $e^{{600}}$"
            yield within(one.share(last), share, where)
        log_time = takeover_log_time(one, share)
        yield result("takeover", round(math.log10(log_time)))
        return
    if ever:
        return
    run = one.with_scores(factor)
    for n in range(run.classes.K):
        shares = run.shares(n)
        if shares[0, -1] >= 0.9:
            yield left_out("a class whose leading token starts with more than 0.9")
            continue
        yield within(float(shares.max()), share, f"class {n}, at some recorded time")
        yield most("gain", float(shares[-1, -1] - shares[0, -1]), digits=1)


# No stationary point


def dual_slope(run: Trajectory, state: HeadWeights, dual: bool = True) -> tuple[float, float]:
    """The slope of J along D = sum_n d_n e_n^T with d_n . f_k = delta_nk, and what it must be.

    The second number is the mean of 1 - alpha_nn over the classes, which is positive at every
    finite Y; so the gradient is not zero wherever the f_n are linearly independent.

    Args:
        run: the run.
        state: where.
        dual: whether the d_n are dual to the f_n, or the f_n themselves.
    """
    seen = population.inputs(run.data, population.scores(run.data, state.z))
    error = population.errors(run.data, state, seen)
    slope = population.gradient(run.data, state)
    K = run.classes.K
    directions = np.linalg.pinv(seen[0]) if dual else seen[0].T  # (M, K), d_n as columns
    found = float((slope.Y[0, :, :K] * directions).sum())
    # the columns of the other outputs are not touched by D; nor are wrong next tokens by d_n
    return found, float(error[np.arange(K), np.arange(K)].mean())


def growth_exponent(run: Trajectory, until: float = math.inf) -> float:
    """Power of time by which the distance that Z moves per decade grew, between the last two.

    0 is the growth of a logarithm; a negative number is slower still.

    Args:
        run: the run.
        until: a time at which to stop, if before the end of the run.
    """
    times = run.times[run.times <= until * 1.000001]
    end = len(times) - 1
    decade, before = (int(np.searchsorted(times, times[-1] / x * 0.999999)) for x in (10, 100))
    last = float(np.linalg.norm(run.z[end] - run.z[decade]))
    earlier = float(np.linalg.norm(run.z[decade] - run.z[before]))
    return math.log10(last / earlier)


@check(
    "tian2023-app-no-stationary",
    over="runs in which both layers train",
    instances=late_flows,
    says="At the examined states of {tried} runs, the derivative of the objective $J$ along "
    r"$\sum_n d_n e_n^\top$, with $d_n$ dual to the $f_n$, is the mean of $1 - \alpha_{nn}$ over "
    r"the classes, where $\alpha_{nn}$ is the predicted probability of the right next token. This "
    "mean is positive. At $10^{12}$ steps the change of $Z$ per decade of time grows more slowly "
    "than $t^{0.1}$.",
    # condition of the f_n times rounding; the probabilities are exact to rounding
    tolerance=1e-8,
    observes=True,
    planted={
        "The $f_n$ themselves instead of their dual vectors.": {"dual": False},
        "The slow growth of $Z$ required at $10^6$ steps already.": {"until": 1e6},
        "Logits with an added term that grows like $t^{1/5}$.": {"power": 0.2},
    },
)
def check_tian2023_app_no_stationary(
    run: Trajectory, dual: bool = True, until: float = math.inf, power: float = 0.0
) -> Iterator[Said]:
    """<dJ/dY, D> = mean of 1 - alpha_nn > 0, and p < 0.1 for |Delta Z| per decade ~ t^p."""
    chosen = list(zip(run.times[::8], run.states[::8], strict=True))
    slopes = np.array([dual_slope(run, state, dual) for _, state in chosen])
    at = np.array([t for t, _ in chosen])
    yield arrays.equal(slopes[:, 0], slopes[:, 1], "slope of J at $t = {at}$", at=at)
    yield holds(bool((slopes[:, 1] > 0).all()), "the slope of J is positive")
    moved = run.with_scores(np.maximum(run.times, 1.0) ** power) if power else run
    exponent = growth_exponent(moved, until)
    yield within(exponent, 0.1, "growth of Z")
    yield most("exponent", exponent, digits=1, origin=origins.INTEGRATOR)
    yield least("least", exponent, digits=1, origin=origins.INTEGRATOR)
    yield most("midway", growth_exponent(run, 1e6), digits=2, origin=origins.INTEGRATOR)
    slope = population.gradient(run.data, run.states[-1])
    norm = math.hypot(float(np.linalg.norm(slope.Y)), float(np.linalg.norm(slope.z)))
    yield least("norm", norm * float(run.times[-1]), digits=2, origin=origins.INTEGRATOR)
    yield most("norm_most", norm * float(run.times[-1]), digits=2, origin=origins.INTEGRATOR)


# Heads and positions


@check(
    "tian2023-app-heads",
    over="sets of heads",
    instances=head_starts,
    says="In {tried} sets of {heads} jointly trained heads with random initial logits $z$, "
    "between {fewest} and {most} different combinations of leading tokens remain. The leading "
    r"tokens of each head are those with the largest initial $P(l|n)\,e^z$. The result is in "
    "floating point, not certified: the leading token of a class has at least {lead} more "
    "attention than the next token, and the integrator's tolerance is $10^{-8}$.",
    observes=True,
    planted={
        "All heads start from zero.": Variant({}, equal_starts),
        "The leading tokens of a head compared with the initial logits of another head.": {
            "off": 1
        },
    },
)
def check_tian2023_app_heads(one: Heads, off: int = 0) -> Iterator[Said]:
    """Heads end with two or more different leaders, each with those of its own start."""
    data = head_classes()
    before, after = winners(data, one.start), winners(data, trained_heads(one))
    different = len(set(after))
    yield holds(different >= 2, f"{different} different combinations")
    yield holds(before[off:] + before[:off] == after, "leaders of the start")
    yield least(
        "lead", smallest_lead(data, trained_heads(one)), digits=2, origin=origins.INTEGRATOR
    )
    yield least("fewest", different)
    yield most("most", different)
    yield most("heads", one.number)
    narrow = Heads(one.number, 0.01, one.seed)  # below the gaps of ln P, the least of which is 0.05
    yield most("narrow", len(set(winners(data, narrow.start))))


@check(
    "tian2023-app-one-head",
    over="layers of two to four heads",
    instances=one_head.layers,
    name=lambda one: one.name,
    says="In {tried} random layers of several heads, the gradient with respect to the logits "
    "of each head is that of a single head, with its own attention and the error shared "
    "by all heads.",
    tolerance=1e-6,  # of differences of J over 2e-5
    proof=(
        uses("tian2023-lem-1", "The gradient of a single head."),
        executed(
            "The derivative of $f$ with respect to $z$, for any number of tokens.",
            one_head.unit_step,
            planted={"Attention without $L_2$ scaling.": {"sphere": False}},
        ),
        executed(
            "The derivative of $J$ with respect to the logits of one head, for any number of heads "
            "and outputs.",
            one_head.error_step,
            planted={"The error of one head alone.": {"first_only": True}},
        ),
        by_hand(
            "The derivatives of $f^h$ and of $J$ together give the stated gradient for head $h$.",
            at="chain",
        ),
    ),
    readings={"Each head has the gradient that it would have without the others.": {"alone": True}},
    planted={
        "The error of each head alone.": {"alone": True},
        "Attention without $L_2$ scaling.": {"sphere": False},
    },
)
def check_tian2023_app_one_head(
    one: one_head.Layer, alone: bool = False, sphere: bool = True
) -> Iterator[Said]:
    """dJ/dz^h = f^h (g - f^h f^h . g), g = Y (x_(T+1) - alpha), with one alpha for all heads."""
    for h in range(len(one.z)):
        found, claimed = one.slope(h), one.single(h, alone, sphere)
        yield arrays.equal(found, claimed, f"head {h + 1}", scale=1.0)


def biases_weigh_counts(added: bool = True) -> Iterator[Shown]:
    """softmax(X z + beta) by tokens for a a b c a, against p e^z/sum with p_l = sum e^beta_t."""
    places, z = (0, 0, 1, 2, 0), sp.symbols("z_a z_b z_c", real=True)
    beta = sp.symbols("beta1:6", real=True)
    weights = [sp.exp(z[x] + b if added else z[x] * b) for x, b in zip(places, beta, strict=True)]
    prior = [sum(sp.exp(b) for y, b in zip(places, beta, strict=True) if y == x) for x in range(3)]
    total = sum(p * sp.exp(score) for p, score in zip(prior, z, strict=True))
    for x in range(3):
        found = sum(w for w, y in zip(weights, places, strict=True) if y == x) / sum(weights)
        yield identity(f"token {'abc'[x]}", found, prior[x] * sp.exp(z[x]) / total)


@check(
    "tian2023-app-positions",
    over="random sequences",
    instances=biased,
    says=r"For {tried} random sequences, attention with a bias $\beta_t$ at each position $t$ "
    "equals formula (5) with token counts in which every occurrence of a token has the weight "
    r"$e^{\beta_t}$ of its position.",
    tolerance=1e-13,  # sums of up to 200 weights
    proof=(
        executed(
            "The sentence a a b c a with any scores and any biases.",
            biases_weigh_counts,
            planted={"The bias multiplied into the scores.": {"added": False}},
        ),
        by_hand(
            "In any sentence, all positions with token $l$ have the factor $e^{z_l}$ in common.",
            at="added-up",
        ),
    ),
    readings={
        "The bias favors some tokens on average, even if tokens have the same distribution at all "
        "positions, as in Section 3.2.": Variant({"prefers": True}, drawn_alike),
    },
    planted={
        "The bias multiplied into the scores instead of added.": {"added": False},
        "A bias that is not exponentiated.": {"raised": False},
        "Tokens whose distribution depends on the position, some of which a bias does favor: "
        "the reading that a bias favors some tokens must hold.": Variant(
            {"prefers": True}, drawn_by_position, expected=Verdict.PROVED
        ),
    },
)
def check_tian2023_app_positions(
    one: Biased | Decaying | Drawn, added: bool = True, raised: bool = True, prefers: bool = False
) -> Iterator[Said]:
    """softmax(X z + beta) is p e^z/sum by tokens with p_l = sum_t e^(beta_t) 1(x_t = l)."""
    if isinstance(one, Drawn):
        if prefers:
            yield from _preferred(one)
        return
    if isinstance(one, Decaying):
        yield result(one.short, decayed_distance(one), digits=2)
        return
    rng = np.random.default_rng((one.seed, one.number))
    M, length = 2 + one.number % 9, (1, 4, 30, 200)[one.number % 4]
    X = layer.one_hot(tuple(rng.integers(M, size=length).tolist()), M)
    z, beta = rng.normal(size=M), rng.normal(size=length)
    b = layer.softmax(X @ z + beta if added else X @ z * beta)
    prior = X.T @ (np.exp(beta) if raised else 1 + beta)
    expected = prior * np.exp(z) / (prior @ np.exp(z))
    yield arrays.equal(X.T @ b, expected, f"{length} tokens", scale=1.0)


def _preferred(one: Drawn) -> Iterator[Said]:
    """That the mean of the weighted share of token 0 is not the mean of its chances, exactly."""
    mean, total = Fraction(0), sum(one.weights)
    for tokens in product((0, 1), repeat=len(one.weights)):
        chance = math.prod(
            (Fraction(p, 100) if token == 0 else 1 - Fraction(p, 100))
            for token, p in zip(tokens, one.chances, strict=True)
        )
        share = sum(w for token, w in zip(tokens, one.weights, strict=True) if token == 0)
        mean += chance * Fraction(share, total)
    plain = Fraction(sum(one.chances), 100 * len(one.chances))
    yield holds(
        mean != plain, f"the mean of the weighted frequency is {mean}, that of $P(l|n)$ is {plain}"
    )


# With a residual connection


RESIDUAL = ("Assumption 2 for the $f_n$ of (5)", "a token distinct among the classes of its query")


@check(
    "tian2023-app-residual",
    over="pairs of weights",
    instances=lambda: residual.WITNESSES,
    says="The logit of a token that is distinct among the classes of its query rises, for "
    "{tried} pairs of weights.",
    fails="With the decoder update (26), on which Theorems 1 and 2 rest, and $x_T$ added after "
    "the normalization, ball arithmetic shows that the logit of token 1, which is distinct among "
    "the classes of its query, falls at $Z = 0$. The example has two queries with two classes "
    "each: token 0 occurs in all four classes, token 1 in one class of each query, and each class "
    "has its own token of weight 1.",
    hypotheses=RESIDUAL,
    proof=(
        enclosed(
            "The derivative of the attention logit of token 1 is negative.",
            residual.forces_below_zero,
            planted={"Queries share no contextual token.": {"overlap": False}},
        ),
    ),
    readings={
        r"The logit rises with $\mathrm{LN}(X^\top b_T) + x_T$ when both layers train, at the "
        "start and after one hundred gradient steps ($M = 1000$, without Assumption 2).": Variant(
            {"dynamics": "coupled flow"}, instances=lambda: residual.WEIGHTS
        ),
        r"The logit rises with $\mathrm{LN}(X^\top b_T + x_T)$ and the decoder under (26).": {
            "skip": "before"
        },
        r"The logit rises with $\mathrm{LN}(X^\top b_T + x_T)$ when both layers train ($M = 1000$, "
        "without Assumption 2).": Variant(
            {"skip": "before", "dynamics": "coupled flow"}, instances=lambda: residual.WEIGHTS
        ),
    },
    planted={
        "The missing hypothesis added, that queries share no contextual token; the check must "
        "find no violation.": Variant({"shared": False}, expected=Verdict.NOT_CONTRADICTED),
        "No contextual token shared by two queries, but $x_T$ added before the normalization.": {
            "shared": False,
            "skip": "before",
        },
    },
)
def check_tian2023_app_residual(
    one: residual.TwoQueries,
    skip: str = "after",
    dynamics: str = "decoder under (26)",
    shared: bool = True,
) -> Iterator[Said]:
    """The force on a locally distinct token, and its score after training, are not negative.

    In force at that line of the paper are the hypotheses of Theorem 2, Assumption 2 among them. It
    is tested for the f_n of (5), which the formula for beta names; for what the decoder sees with
    the connection it fails whenever two classes share a query.
    """
    yield assume(RESIDUAL[0], one.weakly_correlated)
    yield assume(RESIDUAL[1], one.locally_distinct)
    found = residual.modified_force(one, skip, shared)
    if dynamics == "decoder under (26)":
        force = enclosed_steps.above(found.force)
        bound = in_words(f"{force:.3g}")
        where = f"derivative of the logit under (26) at most {bound} times a positive factor"
        yield at_least(force, 0.0, where, scale=1.0)
    else:
        start = enclosed_steps.above(residual.force_at_the_start(one, skip, shared))
        bound = in_tex(f"{start:.3g}")
        where = rf"derivative of the logit at the start at most ${bound}\,\eta_Y t/K$"
        yield at_least(start, 0.0, where, scale=1.0)
        score = enclosed_steps.above(residual.enclosed_score(one, skip, shared=shared))
        where = f"logit after one hundred gradient steps at most {in_words(f'{score:.3g}')}"
        yield at_least(score, 0.0, where, scale=1.0)
    if (one.common, one.local) == (Fraction(1, 10), Fraction(2, 5)):
        for name in ("same", "other", "printed_same", "printed_other"):
            yield result(name, enclosed_steps.above(getattr(found, name)), digits=2)
        yield result("largest", float(np.abs(one.eigenvalues).max()), digits=2)
        yield result("smallest", float(np.abs(one.eigenvalues).min()), digits=2)
        start = enclosed_steps.above(residual.force_at_the_start(one, "after"))
        score = enclosed_steps.above(residual.enclosed_score(one, "after"))
        yield result("flow_start", start, digits=2)
        yield result("flow_score", score, digits=2)


APART = (
    r"$|\lambda_1| < 1/K$, from Assumption 2",
    "queries share no contextual token, and no query is one",
)


@check(
    "tian2023-app-residual-corrected",
    over="sets of classes",
    instances=apart.draw,
    name=lambda one: one.name,
    says="In {tried} random sets of classes whose queries share no contextual token, with $x_T$ "
    "added after the normalization and the decoder under (26), the logits of all {tokens} tokens "
    "that are distinct among the classes of their query rise.",
    proof=(
        executed(
            "The derivative of the attention logit of a distinct token for two classes of "
            "one query, and for three classes with given cosines, for any $M$.",
            apart.force_steps,
            planted={"The query adds nothing to the inner products.": {"query": 0}},
        ),
        by_hand(
            "The classes of other queries do not enter the formula for the derivative of the "
            "logit, and the formula holds for any number of classes.",
            at="force",
        ),
        by_hand(
            "All $w_n$ are between 0 and 1, so the derivative of the logit is positive.", at="sign"
        ),
    ),
    hypotheses=APART,
    planted={
        "$x_T$ added before the normalization.": {"before": True},
        "All queries with the same contextual tokens.": {"shared": True},
        "Each query is a contextual token of another one.": {"contextual": True},
    },
)
def check_tian2023_app_residual_corrected(
    one: apart.Apart, before: bool = False, shared: bool = False, contextual: bool = False
) -> Iterator[Said]:
    """Under (26), with LN(X^T b) + x_T, the force on every locally distinct token is positive."""
    overlap = one.f()[: len(one.blocks[0])] @ one.f()[len(one.blocks[0]) :].T
    yield assume(APART[0], one.largest < 1 / len(one.f()))
    as_context = one.queries(contextual)[:, : one.f().shape[1]]
    yield assume(APART[1], not overlap.any() and not as_context.any())
    forces = one.forces(before, shared, contextual)
    for found in forces:
        yield below(
            0.0, found, "derivative of the logit of a token that is distinct within its query"
        )
    yield count("tokens", len(forces))


# Spurious tokens


@check(
    "tian2023-app-spurious",
    over="series of data sets",
    instances=growing_data,
    says="After training on two classes, the attention logits of rare common tokens have changed "
    "by {small} on average in data sets with one sequence per class, where some of these tokens "
    "seem distinct, and by {large} in data sets with {many} sequences per class, where none of "
    "these tokens seems distinct. "
    "The mean number of seemingly distinct tokens over {repeats} data sets of each size "
    "agrees with its expectation within four standard errors.",
    observes=True,
    planted={
        "Attention logits of the opposite sign.": {"sign": -1.0},
        "Half the probability that a token occurs in one class only.": {"half": 0.5},
    },
)
def check_tian2023_app_spurious(
    one: Growing, sign: float = 1.0, half: float = 1.0
) -> Iterator[Said]:
    """Scores > 0 for the smallest data sets, < 0 for the largest; numbers as 2 x (1 - x)."""
    first, last = one.rows[0], one.rows[-1]
    yield below(0.0, sign * first.score, "one sequence of each class: they gain")
    yield below(sign * last.score, 0.0, f"{last.size} sequences of each class: they lose")
    for row in one.rows:
        chance = half * chance_of_spurious(row.size, 40, 0.1 / RARE)
        variance = max(RARE * chance * (1 - chance), 0.1)  # at least one in a few data sets
        spread = 4 * math.sqrt(variance / row.repeats)
        where = f"{row.size} sequences: number of seemingly distinct tokens"
        yield within(abs(row.seeming - RARE * chance), spread, where)
    for before, after in pairwise(one.rows[1:]):
        where = f"from {before.size} to {after.size} sequences"
        yield within(after.seeming, before.seeming, where)
    yield result("small", first.score, digits=2, origin=origins.INTEGRATOR)
    yield result("large", last.score, digits=3, origin=origins.INTEGRATOR)
    yield result("number_small", first.seeming, digits=2)
    yield result("many", last.size)
    yield result("repeats", last.repeats)


# One or two of ten tokens


def ten_tokens() -> list[tuple[Symmetric, float]]:
    """Ten distinct tokens of weights 0.1 to 1 per class, as in Section 8: sizes and ratios."""
    weights = tuple((np.arange(1, 11) / 10).tolist())
    shapes = ((2, 2, 34), (2, 1, 33), (10, 5, 125))  # K, L, M
    designs = [Symmetric(K, M, (1.0,) * 10, weights, L) for K, L, M in shapes]
    designs.append(Symmetric(2, 33, (1.0,) * 100, weights))
    return [(design, ratio) for design in designs for ratio in (1.0, 10.0)]


def figure_6_runs(first: int = 1, seeds: int = 60) -> list[section_8.Counted]:
    """Figure 6 with one query, eta_Z = 3 and eta_Y = 30: one experiment of the first seeds."""
    return [section_8.counted(first, seeds)]


@check(
    "tian2023-app-few-tokens",
    over="runs",
    instances=figure_6_runs,
    name=lambda one: getattr(one, "name", ""),
    size=lambda one: getattr(one, "seeds", 1),
    says=r"With the settings of Figure 6 (one query, $\eta_Z = 3$, $\eta_Y = 30$), we count the "
    "distinct tokens that share the attention of a class at the end as $e^H$, where $H$ is the "
    "entropy of the attention on the ten distinct tokens of the class. This number is at most two "
    "in {few} of {classes} classes, and its mean over the classes is {mean}.",
    fails="With the settings of Figure 6 the number of distinct tokens that share the attention of "
    "a class is never two or fewer at the end.",
    observes=True,
    readings={
        "When both layers train from zero, without noise, on the classes of Section 8, two or "
        "fewer distinct tokens share the attention at some time.": Variant(
            {}, instances=ten_tokens
        ),
    },
    planted={
        "The runs evaluated before the first update.": {"end": 0},
        "Attention on a single token required.": {"number": 1.0},
    },
)
def check_tian2023_app_few_tokens(
    one: section_8.Counted | tuple[Symmetric, float], end: int = -1, number: float = 2.0
) -> Iterator[Said]:
    """e^entropy of the attention on distinct tokens is at most 2 in some class of some run."""
    if isinstance(one, section_8.Counted):
        found = one.numbers[end]
        yield holds(bool((found <= number).any()), f"{found.min():.3g} tokens at the least")
        yield result("few", int((found <= number).sum()))
        yield result("classes", found.size)
        yield result("mean", float(found.mean()), 2, origins.SEEDS)
        return
    design, ratio = one
    # Six digits: the least number is compared with 2, and no flow comes near it.
    path = reduced_flow.follow(
        design, ratio, np.geomspace(0.1, 1e4, 200), relative=1e-6, absolute=1e-9
    )
    many = np.exp(path.entropy)
    K, common = design.K, len(design.common)
    where = (
        rf"$K = {K}$, {common} common, $\eta_Y/\eta_Z = {ratio:g}$: tokens that share the attention"
    )
    yield within(float(many.min()), number, where)
