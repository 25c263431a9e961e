"""Checks of stage 1: equations (7) and (8), Lemmas 1 to 3, Propositions 1 and 3, Corollary 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage1 import steps
from ntpbook.huang2024.s5_stage2_lemmas.instances import Tried, small_data
from ntpbook.shared import digits
from ntpbook.shared.first_stage import (
    SIZE,
    STEPS,
    First,
    any_start,
    backwards,
    cycle,
    from_zero,
    measured,
    not_normalized,
    random_starts,
)
from ntpbook.shared.in_force import FACTS, facts
from ntpbook.shared.stage_1_law import BY_LAW, LAW, TANGENT
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import bounds, stage1
from ntpcore.huang2024.logs import log_softplus
from ntpcore.huang2024.runs import paper_rates
from ntpverdicts import arrays
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import (
    Said,
    assume,
    at_least,
    at_most,
    below,
    count,
    equal,
    holds,
    least,
    left_out,
    most,
    result,
)
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A thousand float steps, and exponentials of gaps of up to some thousands, which carry an absolute
# rounding of 1e-16 times the gap over to the direction.
RUN = 1e-11
LATE = "a loss that after 900 steps decays at its final rate to two digits"
# Norms, and logarithms of sums of exponentials, rounded some hundred times.
SUM = 1e-11
STEP = "step {at}"
NOT_NORMALIZED = "Gradient descent with the same step size, not divided by the norm."
SHARPER = {"The bound 1.1 times sharper.": {"sharper": 1.1}}


# Equation (7)


@dataclass(frozen=True)
class Place:
    """A matrix W, (|V|, |V|), a collocation and a step size, from where one step is taken."""

    name: str
    W: Floats
    following: Integers
    eta0: float


def places(seed: int = 7, trials: int = 6) -> Iterator[Place]:
    """Random matrices of growing size, up to logits of several hundred."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        size = int(rng.integers(2, 8))
        following, eta0 = rng.permutation(size), float(rng.choice([0.05, 1.0]))
        W = rng.normal(size=(size, size)) * 3**trial
        yield Place(
            rf"trial {trial}, $|\mathcal V| = {size}$, $\eta_0 = {eta0:g}$", W, following, eta0
        )


@check(
    "huang2024-eq-7",
    over="random matrices",
    instances=places,
    shows="no step (7) divides by zero if there are at least two tokens, and our code takes the "
    "step (7)",
    says=r"For any logits, the entry of the gradient in row $\mathrm n(x)$ is negative: it is "
    "minus the total probability of the wrong tokens. At {tried} random matrices the step of our "
    "code agrees with (7) up to rounding.",
    tolerance=1e-14,  # one subtraction of floats, of a step right to a few last digits
    proof=(
        executed(
            r"the entry of the gradient at $\mathrm n(x)$ is negative, so the gradient is not zero",
            steps.gradient_is_never_zero,
            planted={"A vocabulary without a wrong token.": {"wrong_tokens": 0}},
        ),
    ),
    planted={
        "The step not divided by the norm of the gradient.": {"power": 0},
        "The step taken along the gradient in place of against it.": {"sign": 1},
        r"The gradient without its term $e_{\mathrm{In}(x)}$.": {"target": 0},
    },
)
def check_huang2024_eq_7(one: Place, power: int = 1, sign: int = -1, target: int = 1) -> Said:
    """W' = W - eta_0 G / ||G|| in many digits, G = sum_x (T_0(x) - e_{n(x)}) x^T by (5)."""
    _, after = stage1.iterate(one.following, 1, one.eta0, start=one.W, record=())
    with mp.workdps(digits.DIGITS + int(2 * np.abs(one.W).max())):  # digits for 1 - T
        W, E = digits.exact(one.W), digits.exact(np.eye(len(one.W)))
        G = digits.stage1_gradient(one.following.tolist(), W, E, target)
        moved = W + sign * mp.mpf(one.eta0) * G / digits.norm(G) ** power
        far = float(digits.norm(digits.exact(after) - moved) / digits.norm(W))
    return equal(far, 0.0, r"distance divided by $\|W\|$", scale=1.0)


# The exact law


@check(
    "ours-stage-1-law",
    over="runs",
    instances=from_zero,
    says=r"The closed form of stage 1 is proved by induction for every $|\mathcal V|$, $\eta_0$, "
    "and $t$. On {tried} runs from zero the iteration of (7) agrees with the closed form in "
    "{compared} numbers, up to rounding.",
    tolerance=RUN,
    proof=LAW,
    planted={
        r"A direction whose entries other than at $\mathrm n(x)$ are $-1/(|\mathcal V|+1)$.": {
            "low": "-1/(n + 1)"
        },
        "Steps longer by one part in a million.": {"factor": 1 + 1e-6},
        NOT_NORMALIZED: Variant(instances=not_normalized),
        "A random start in place of zero.": Variant(instances=random_starts),
    },
)
def check_ours_stage_1_law(one: First, factor: float = 1.0) -> Iterator[Said]:
    """W = s W_ov*, s = t eta_0 / ||W_ov*||: norm t eta_0, cosine 1, margins s, loss by s."""
    t, rows = one.since(1)
    n, s = one.size, factor * t * one.eta0 / one.norm_star
    log_loss = math.log(n) + log_softplus(math.log(n - 1) - s)  # |V| log(1 + (|V| - 1) e^-s)
    at = rows.step
    yield arrays.equal(rows.norm, factor * t * one.eta0, f"norm at {STEP}", at=at)
    yield arrays.equal(rows.one_minus_cos, 0 * t, f"$1 - \\cos$ at {STEP}", at=at, scale=1.0)
    yield arrays.equal(rows.least_gap, s, f"smallest margin at {STEP}", at=at)
    yield arrays.equal(rows.greatest_gap, s, f"largest margin at {STEP}", at=at)
    size = np.maximum(1, np.abs(log_loss))
    yield arrays.equal(
        rows.log_loss, log_loss, f"$\\log \\mathcal L_0$ at {STEP}", at=at, scale=size
    )


# Equation (8), Lemmas 1 to 3


@check(
    "huang2024-eq-8",
    over="runs from any start",
    instances=any_start,
    says="For any $W$, the contribution of each column to the inner product is minus the total "
    "probability of its wrong tokens, so (8) is an equality. On {tried} runs, at {compared} steps, "
    "the two sides of (8) agree up to rounding.",
    tolerance=RUN,
    proof=(
        uses(
            "huang2024-eq-2",
            r"$W_{\mathrm{ov}}^*$ has the columns $e_{\mathrm n(x)} - "
            r"1/|\mathcal V|$",
        ),
        executed(
            r"the part of one column in $\langle W_{\mathrm{ov}}^*, G\rangle$, with the gradient "
            r"$G$ of $\mathcal L_0$",
            steps.projection,
        ),
        by_hand("the sum of these parts over the tokens $x$", at="sum"),
    ),
    planted={
        r"$W_{\mathrm{ov}}^*$ with margins of $\frac9{10}$ in place of 1.": {"margin": "9/10"}
    },
)
def check_huang2024_eq_8(one: First, margin: str = "1") -> Said:
    """<W_ov*, G> = -sum_x sum_{i != In(x)} [T_0(x)]_i, both divided by ||G||."""
    rows = one.rows
    left = float(Fraction(margin)) * rows.cos_star * one.norm_star
    return arrays.equal(left, -rows.mistakes, STEP, at=rows.step)


def one_column_left() -> list[First]:
    """All columns learned but one, in which a single wrong token holds nearly all probability."""
    found = []
    for size in (3, 20):
        W = 60 * stage1.W_ov_star(cycle(size))
        W[(np.arange(size) + 2) % size, np.arange(size)] += np.where(np.arange(size) == 0, 80.0, 0)
        found.append(
            measured(rf"$|\mathcal V| = {size}$, one column left", cycle(size), 1.0, {0: W})
        )
    return found


def any_start_and_one_column(seed: int = 7, sets: int = 10) -> Iterator[First]:
    """Runs from any start, and matrices near the least cosine."""
    yield from one_column_left()
    yield from any_start(seed, sets)


@check(
    "huang2024-app-lem-1-cosine",
    over="runs and matrices",
    instances=any_start_and_one_column,
    says="If the wrong tokens of a column have the total probability $S$, this column of the "
    r"gradient has a norm of at most $\sqrt2\,S$; so the inner product of $W_{\mathrm{ov}}^*$ and "
    r"$-G/\|G\|$ is at least $1/\sqrt2$. For {tried} runs and matrices the bounds $1/\sqrt2$ and "
    r"$\frac12$ hold, in {compared} comparisons, and the smallest inner product is {least}.",
    tolerance=RUN,
    proof=(
        uses(
            "huang2024-eq-8",
            r"$-\langle W_{\mathrm{ov}}^*, G\rangle$ is the sum of the "
            "probabilities of all wrong tokens",
        ),
        executed(
            r"$\|G x\|$ is at most $\sqrt2\,S_x$, where $-S_x$ is the entry of column $x$ at "
            r"$\mathrm n(x)$",
            steps.norm_of_a_column,
            planted={r"1 in place of $\sqrt2$.": {"most": 1}},
        ),
        by_hand(r"$\|G\|$ is at most the sum of the norms of its columns", at="columns"),
    ),
    planted={
        r"The bound $1/\sqrt2$ made 1.1 times sharper.": {"root": math.sqrt(2) / 1.1},
        r"$\frac34$ in place of $\frac12$.": {"half": 0.75},
    },
)
def check_huang2024_app_lem_1_cosine(
    one: First, half: float = 0.5, root: float = math.sqrt(2)
) -> Iterator[Said]:
    """<W_ov*, -G / ||G||> >= 1/sqrt(2) >= 1/2, at any W_ov."""
    product = -one.rows.cos_star * one.norm_star
    yield arrays.at_least(product, half, rf"$\frac12$ at {STEP}", at=one.rows.step)
    yield arrays.at_least(product, 1 / root, rf"$1/\sqrt2$ at {STEP}", at=one.rows.step)
    yield least("least", float(product.min()), digits=4)


@check(
    "huang2024-lem-1",
    over="runs from any start",
    instances=any_start,
    says=r"Both bounds on $\|W_{\mathrm{ov}}^{(t)}\|$ are proved for any start, the lower bound "
    r"even with $\sqrt2$ in place of 2. On {tried} runs both bounds hold, in {compared} "
    "comparisons.",
    tolerance=RUN,
    proof=(
        uses("huang2024-app-lem-1-cosine", r"$\langle W_{\mathrm{ov}}^*, -G/\|G\|\rangle \ge "
                                           r"1/\sqrt2$"),
        by_hand("the upper bound from the triangle inequality; the lower bound from the sum over "
                "the steps and the Cauchy–Schwarz inequality",
                at="triangle"),
    ),
    planted={
        NOT_NORMALIZED: Variant(instances=not_normalized),
        "The lower bound four times as steep.": {"steeper": 4.0},
        "The upper bound 1.1 times sharper.": {"length": 1 / 1.1},
    },
)  # fmt: skip
def check_huang2024_lem_1(one: First, steeper: float = 1.0, length: float = 1.0) -> Iterator[Said]:
    """t eta_0 + ||W_0|| >= ||W|| >= t eta_0 / (2 ||W_ov*||) - ||W_0||."""
    t, rows = one.since(1)
    upper = length * t * one.eta0 + one.start
    lower = steeper * t * one.eta0 / (2 * one.norm_star) - one.start
    yield arrays.at_most(rows.norm, upper, f"upper bound at {STEP}", at=rows.step)
    yield arrays.at_least(rows.norm, lower, f"lower bound at {STEP}", at=rows.step, scale=upper)


@check(
    "huang2024-lem-2",
    over="runs from any start",
    instances=any_start,
    says=r"The proof of Lemma 2 in the paper covers every $W \ne 0$. On {tried} runs the "
    "inequality of the lemma holds at {compared} steps.",
    tolerance=RUN,
    proof=(
        uses(
            "huang2024-app-lem-2-upper",
            r"$\mathcal L_0(W') \le \mathcal L_0(W)$ at $W' = (r + "
            r"2\log(2|\mathcal V|))\,W_{\mathrm{ov}}^*$",
        ),
        uses("huang2024-app-convex", r"$\mathcal L_0$ is convex"),
        by_hand(
            r"therefore $\langle G, W - W'\rangle \ge 0$, which is the inequality of Lemma "
            "2",
            at="slope",
        ),
    ),
    planted={
        "The second term of the factor in parentheses subtracted instead of added.": {"sign": -1},
        "The right-hand side 1.1 times sharper, at a late step.": {"sharper": 1.1},
    },
)
def check_huang2024_lem_2(one: First, sign: int = 1, sharper: float = 1.0) -> Said:
    """<G, W> >= (1 + 2 ||W_ov*|| log(2|V|) / ||W||) <G, W_ov*> ||W|| / ||W_ov*||, where W != 0."""
    rows = one.since(1)[1]
    alpha = 2 * one.norm_star * math.log(2 * one.size) / rows.norm
    right = (1 + sign * alpha) * rows.cos_star / sharper
    return arrays.at_least(rows.cos_weights, right, STEP, at=rows.step)


@check(
    "huang2024-lem-3",
    over="runs",
    instances=from_zero,
    says="The equality of all wrong logits is part of the closed form of stage 1. On {tried} "
    "runs, at {compared} steps, all wrong logits of a token are equal up to rounding.",
    tolerance=RUN,
    proof=(BY_LAW,),
    planted={
        "A random start, which the lemma excludes.": Variant(instances=random_starts),
    },
)
def check_huang2024_lem_3(one: First) -> Said:
    """(e_i - e_{i'})^T W x = 0 for i, i' != In(x), relative to the largest margin."""
    t, rows = one.since(1)
    return arrays.equal(rows.spread, 0 * t, STEP, at=rows.step, scale=np.abs(rows.greatest_gap))


# Propositions 1 and 3


def norm_and_direction(one: First, length: float) -> Iterator[Said]:
    """t eta_0 / (2 ||W_ov*||) <= ||W|| <= t eta_0, and the bound on 1 - cos, for t >= 2."""
    t, rows = one.since(2)
    n, star, at = one.size, one.norm_star, rows.step
    yield arrays.at_most(rows.norm, length * t * one.eta0, f"norm at {STEP}", at=at)
    yield arrays.at_least(rows.norm, t * one.eta0 / (2 * star), f"norm at {STEP}", at=at)
    bound = 12 * star**3 * math.log(2 * n) * np.log(t) / (t * one.eta0)
    yield arrays.at_most(rows.one_minus_cos, bound, f"$1 - \\cos$ at {STEP}", at=at)
    # of several instances the last one counts, which is the paper's experiment
    yield result("T", int(t[-1]))
    yield result("bound", float(bound[-1]), digits=4)

    def log_bound(log_t: float) -> float:
        return math.log(12 * star**3 * math.log(2 * n) / one.eta0) + math.log(log_t) - log_t

    yield result("from", math.exp(bounds.bites_from(log_bound)), digits=3)


VACUOUS = r"$t = {from}$ ($|\mathcal V| = 20$ and the step size of the paper)"


@check(
    "huang2024-prop-1",
    over="runs",
    instances=from_zero,
    says="The proposition follows from the closed form of stage 1 for every "
    r"$|\mathcal V| \ge 2$, every "
    r"$\eta_0$, and every $t$. On {tried} runs all bounds hold, in {compared} comparisons.",
    tolerance=RUN,
    proof=(
        BY_LAW,
        executed(
            "the closed form satisfies the bounds",
            steps.law_is_inside,
            planted={
                r"$t\eta_0/\|W_{\mathrm{ov}}^*\|$ in place of half of it in the lower bound.": {
                    "half": 1
                }
            },
        ),
        TANGENT,
    ),
    planted={
        NOT_NORMALIZED: Variant(instances=not_normalized),
        "A loss that decays faster than the closed form by one part in a hundred.": {"rate": 1.01},
        "The upper bound on the norm 1.1 times sharper.": {"length": 1 / 1.1},
    },
    vacuous=VACUOUS,
)
def check_huang2024_prop_1(one: First, rate: float = 0.25, length: float = 1.0) -> Iterator[Said]:
    """Norm and direction, and L_0 <= |V| (|V| - 1) e^(-eta_0 t / (4 ||W_ov*||)), for t >= 2."""
    yield from norm_and_direction(one, length)
    t, rows = one.since(2)
    n = one.size
    claimed = math.log(n * (n - 1)) - rate * one.eta0 * t / one.norm_star
    size = 1 + np.abs(claimed)
    yield arrays.at_most(
        rows.log_loss, claimed, f"$\\log \\mathcal L_0$ at {STEP}", at=rows.step, scale=size
    )
    true = (rows.log_loss[-2] - rows.log_loss[-1]) / (t[-1] - t[-2])
    yield result("rate_ratio", 4 * true * one.norm_star / one.eta0, digits=2, origin=LATE)


@check(
    "huang2024-prop-3",
    over="runs",
    instances=from_zero,
    says="The proposition follows from the closed form of stage 1 for every "
    r"$|\mathcal V| \ge 2$, every "
    r"$\eta_0$, and every $t$. On {tried} runs both bounds hold, in {compared} comparisons.",
    tolerance=RUN,
    proof=(
        BY_LAW,
        executed(
            "the closed form satisfies the bounds",
            steps.law_is_inside,
            planted={
                r"$t\eta_0/\|W_{\mathrm{ov}}^*\|$ in place of half of it in the lower bound.": {
                    "half": 1
                }
            },
        ),
    ),
    planted={
        "Stage 1 trained on the inverse of the collocation, at a large step size.": Variant(
            instances=backwards
        ),
        "The upper bound on the norm 1.1 times sharper.": {"length": 1 / 1.1},
    },
    vacuous=VACUOUS,
)
def check_huang2024_prop_3(one: First, length: float = 1.0) -> Iterator[Said]:
    """Norm and direction of Proposition 1, for t >= 2 and from zero."""
    yield from norm_and_direction(one, length)


# Corollary 1

Factor = Callable[[int], Fraction | int]  # by n = |V|


@dataclass(frozen=True)
class Margins:
    """The first stage of a length for which Corollary 1 speaks.

    Attributes:
        name: the instance in words.
        size: |V|.
        eta0_squared: square of the step size.
        steps: T.
    """

    name: str
    size: int
    eta0_squared: Fraction
    steps: int

    def asked(self, power: int) -> float:
        """384 ||W_ov*||^power log(2|V|) log T / eta_0, which T must reach."""
        star, eta0 = math.sqrt(self.size - 1), math.sqrt(self.eta0_squared)
        return 384 * star**power * math.log(2 * self.size) * math.log(self.steps) / eta0

    @property
    def data(self) -> Dataset:
        """The collocation x -> x + 1 as data, and the sentence 0 1, which is followed by 2 or 0."""
        names = [str(x) for x in range(self.size)]
        singles = [([x], names[(place + 1) % self.size]) for place, x in enumerate(names)]
        return from_samples([*singles, (["0", "1"], names[2 % self.size])], self.name)


def first_allowed(size: int, eta0: float, power: int) -> float:
    """The first T that is as large as Corollary 1 asks."""
    fixed = math.log(384 * math.sqrt(size - 1) ** power * math.log(2 * size) / eta0)
    return math.exp(bounds.bites_from(lambda log_T: fixed + math.log(log_T) - log_T))


def long_first_stages() -> Iterator[Margins]:
    """Four tokens, as in Example 1, and 2 to 50 tokens, those of the paper's experiment last.

    The step size is the paper's, and T twice the first one allowed under either exponent.
    """
    for size in (4, 2, 3, 5, 10, 50, SIZE):
        eta0 = paper_rates(size)[0]
        steps = 2 * math.ceil(first_allowed(size, eta0, 7))
        squared = Fraction(4, 100 * size)  # 0.2 / sqrt(d) with d = |V|
        yield Margins(
            rf"$|\mathcal V| = {size}$, $\eta_0 = {eta0:.3g}$, $T = {steps}$", size, squared, steps
        )


NORM = r"\|W_{\mathrm{ov}}^*\|"
LONG_ENOUGH, FROM_ZERO = "$T$ as large as the corollary requires", "zero start"


@check(
    "huang2024-cor-1",
    over="first stages",
    instances=long_first_stages,
    says="All margins lie in $(A, 3A)$ after {tried} first stages.",
    fails=r"By the closed form of stage 1 all margins are $T\eta_0/\sqrt{|\mathcal V|-1} = "
    r"4\sqrt{|\mathcal V|-1}\,A$, which is at least $4A$ for every $|\mathcal V| \ge 2$ and every "
    r"$T$. In exact fractions, for {tried} choices of $|\mathcal V|$, $\eta_0$, and $T$, the "
    "margins are {least_ratio} to {greatest_ratio} times $A$. The lower bound $A$ is correct.",
    hypotheses=(LONG_ENOUGH, FROM_ZERO, *FACTS),
    planted={
        r"A correct upper bound, $\frac{21}5 \sqrt{|\mathcal V|-1}\,A$, for $3A$.": Variant(
            {"upper": lambda n: Fraction(441, 25) * (n - 1)}, expected=Verdict.NOT_CONTRADICTED
        ),
        r"The upper bound $\frac{21}5 \sqrt{|\mathcal V|-1}\,A$ made 1.1 times sharper.": {
            "upper": lambda n: Fraction(441, 25) * (n - 1) / Fraction(121, 100)
        },
        r"The lower bound $\frac{21}5 \sqrt{|\mathcal V|-1}\,A$ in place of $A$.": {
            "lower": lambda n: Fraction(441, 25) * (n - 1), "upper": lambda n: 25 * (n - 1),
        },
    },
    readings={
        rf"$T \ge 384 \|W_{{\mathrm{{ov}}}}^*\|^{power} \log(2|\mathcal V|) \log T/\eta_0$ and "
        rf"$A = T\eta_0/(4 {norm})$": {
            "power": power, "of_norm": of_norm,
        }
        for power, of_norm, norm in ((7, 2, rf"{NORM}^2"), (5, 1, NORM), (7, 1, NORM))
    },
)  # fmt: skip
def check_huang2024_cor_1(
    one: Margins,
    power: int = 5,
    of_norm: int = 2,
    lower: Factor = lambda n: 1,
    upper: Factor = lambda n: 9,
) -> Iterator[Said]:
    """A < T eta_0 / ||W_ov*|| < 3A in squares, A = T eta_0 / (4 ||W_ov*||^2), T as large as asked.

    Args:
        one: the first stage, whose margins are those of the exact law.
        power: exponent of the norm in what is asked of T.
        of_norm: its exponent in A.
        lower: square of the lower end by A.
        upper: square of the upper end by A.
    """
    if one.steps < one.asked(power):
        yield left_out("$T$ is smaller than the corollary requires")
        return
    n = one.size
    yield assume(LONG_ENOUGH, one.steps >= one.asked(power))
    yield assume(FROM_ZERO, not stage1.weights(cycle(n), 0, math.sqrt(one.eta0_squared)).any())
    yield from facts(one.data)
    margin = one.steps**2 * one.eta0_squared / (n - 1)
    A = one.steps**2 * one.eta0_squared / (16 * (n - 1) ** of_norm)
    yield below(Fraction(lower(n)), margin / A, f"the squared margin is ${margin / A} A^2$")
    yield below(margin / A, Fraction(upper(n)), f"the squared margin is ${margin / A} A^2$")
    ratio = math.sqrt(margin / A)
    yield least("least_ratio", ratio, digits=4)
    yield most("greatest_ratio", ratio, digits=4)
    yield result("ratio", ratio, digits=4)  # of several instances the last one counts
    yield result("from", first_allowed(n, math.sqrt(one.eta0_squared), power), digits=3)


@check(
    "huang2024-cor-1-corrected",
    over="runs",
    instances=from_zero,
    says=r"The value of the margins is part of the closed form of stage 1, for every $|\mathcal "
    "V|$ and without a condition on $T$. On {tried} runs the iteration of (7) agrees with this "
    "value in {compared} numbers, up to rounding.",
    tolerance=RUN,
    proof=(
        BY_LAW,
        executed(
            "the margin after stage 1 in units of the $A$ of the paper",
            steps.margin_by_the_printed_A,
            planted={"3 in place of 4.": {"four": 3}},
        ),
    ),
    planted={
        "The margin larger by one part in a million.": {"factor": 1 + 1e-6},
        r"The norm of $W_{\mathrm{ov}}^*$ taken as $\sqrt{|\mathcal V|}$.": {"less": 0},
        "Stage 1 trained on the inverse of the collocation.": Variant(instances=backwards),
    },
)
def check_huang2024_cor_1_corrected(
    one: First, factor: float = 1.0, less: int = 1
) -> Iterator[Said]:
    """Least and greatest margin after T steps are T eta_0 / sqrt(|V| - 1)."""
    t, rows = one.since(1)
    margin = factor * t * one.eta0 / math.sqrt(one.size - less)
    yield arrays.equal(rows.least_gap, margin, STEP, at=rows.step)
    yield arrays.equal(rows.greatest_gap, margin, STEP, at=rows.step)


# Section 5.1, after equation (2)

SIZES = (2, 3, 5, 20, 50)


def log_loss(W: Floats) -> float:
    """log L_0 of a matrix, with the collocation x -> x + 1, which stands for all.

    L_0 does not look at the order of the rows.
    """
    rows, _ = stage1.iterate(cycle(len(W)), 0, 1.0, start=W)
    return float(rows.log_loss[0])


@dataclass(frozen=True)
class Multiple:
    """B times W_ov* for |V| = size tokens."""

    name: str
    size: int
    B: float


def multiples() -> Iterator[Multiple]:
    """Multiples from 1 to 1000 for 2 to 50 tokens."""
    for size in SIZES:
        for B in (1.0, 10.0, 100.0, 1000.0):
            yield Multiple(rf"$|\mathcal V| = {size}$, $B = {B:g}$", size, B)


@check(
    "huang2024-app-stage-1-limit",
    over="matrices",
    instances=multiples,
    says=r"For symbolic $|\mathcal V|$ the loss at $B\,W_{\mathrm{ov}}^*$ is $|\mathcal V| "
    r"\log(1 + (|\mathcal V|-1) e^{-B})$, which decreases to 0. At {tried} matrices the "
    r"computed loss is at most $|\mathcal V| (|\mathcal V|-1) e^{-B}$, up to rounding.",
    tolerance=SUM,
    proof=(
        uses(
            "ours-stage-1-law",
            r"the loss at $B\,W_{\mathrm{ov}}^*$, the matrix that one step of length "
            r"$B\,\|W_{\mathrm{ov}}^*\|$ reaches from zero",
        ),
        executed(
            r"$\mathcal L_0(B\,W_{\mathrm{ov}}^*)$, its slope, and its limit",
            steps.loss_along_the_optimum,
            planted={
                r"$W_{\mathrm{ov}}^*$ with entries of $-1/(|\mathcal V|+1)$.": {"low": "-1/(n + 1)"}
            },
        ),
        TANGENT,
    ),
    planted={
        **SHARPER,
        r"$W_{\mathrm{ov}}^*$ with one of its margins reduced to 0.": {"short": 1.0},
        r"The bound $|\mathcal V| e^{-B}$.": {"wrong": lambda n: 1},
    },
)
def check_huang2024_app_stage_1_limit(
    one: Multiple, short: float = 0.0, wrong: Factor = lambda n: n - 1, sharper: float = 1.0
) -> Said:
    """L_0(B W_ov*) <= |V| (|V| - 1) e^-B, which tends to 0 as B grows.

    Args:
        one: B and |V|.
        short: by how much one margin of the matrix falls short of 1.
        wrong: the number of wrong tokens.
        sharper: what the bound is divided by.
    """
    star = stage1.W_ov_star(cycle(one.size))
    star[2 % one.size, 0] += short
    claimed = math.log(one.size * wrong(one.size) / sharper) - one.B
    return at_most(log_loss(one.B * star), claimed, r"$\log \mathcal L_0$")


# Section 5.1, before Proposition 1


@dataclass(frozen=True)
class Pair:
    """Two matrices, (|V|, |V|)."""

    name: str
    one: Floats
    other: Floats


def pairs(seed: int = 7, trials: int = 60) -> Iterator[Pair]:
    """Random pairs of matrices with 2 to 8 tokens and entries from a tenth to some tens."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        size = int(rng.integers(2, 9))
        scale = 10.0 ** rng.uniform(-1, 1.3)
        one, other = rng.normal(size=(2, size, size)) * scale
        yield Pair(rf"pair {trial}, $|\mathcal V| = {size}$", one, other)


def missing(W: Floats) -> float:
    """The sum of the probabilities of wrong tokens: the loss without its logarithm."""
    shifted = np.exp(W - W.max(axis=0))
    probabilities = shifted / shifted.sum(axis=0)
    return float((1 - probabilities[cycle(len(W)), np.arange(len(W))]).sum())


@check(
    "huang2024-app-convex",
    over="random pairs of matrices",
    instances=pairs,
    says="Along any direction, the second derivative of the loss of a column is the variance of "
    "the direction's entries under the predicted probabilities. For {tried} random pairs of "
    "matrices the chord does not lie below the graph at the {compared} points that were compared.",
    tolerance=SUM,
    proof=(
        executed(
            "the second derivative is a variance",
            steps.second_derivative,
            planted={"In the variance, the mean of $v$ not squared.": {"power": 1}},
        ),
        by_hand(r"a sum of convex functions is convex, and $W \mapsto W x$ is linear", at="sum"),
    ),
    planted={
        "The bound by the chord 1.1 times sharper.": {"sharper": 1.1},
        "The probability of a wrong token in place of minus the logarithm of the probability of "
        "the right one.": {"logarithm": False},
    },
)
def check_huang2024_app_convex(
    pair: Pair, logarithm: bool = True, sharper: float = 1.0
) -> Iterator[Said]:
    """L_0((1 - s) W + s W') <= (1 - s) L_0(W) + s L_0(W') at s = 1/4, 1/2 and 3/4."""

    def loss(W: Floats) -> float:
        return math.exp(log_loss(W)) if logarithm else missing(W)

    ends = loss(pair.one), loss(pair.other)
    for s in (0.25, 0.5, 0.75):
        middle = loss((1 - s) * pair.one + s * pair.other)
        chord = ((1 - s) * ends[0] + s * ends[1]) / sharper
        yield at_most(middle, chord, f"$s = {s}$", scale=1 + sum(ends))


# Section 5.1, after Proposition 1


@check(
    "huang2024-app-stage-1-rate",
    over="runs",
    instances=from_zero,
    says=r"By the closed form of stage 1 the cosine of $W_{\mathrm{ov}}$ and $W_{\mathrm{ov}}^*$ "
    r"is 1, the norm is $t\eta_0$, and the loss is at most $|\mathcal V| (|\mathcal V|-1) e^{-C_0 "
    r"t}$ with $C_0 = \eta_0/\|W_{\mathrm{ov}}^*\|$. The loss is asymptotically equal to this "
    "bound. On {tried} runs the cosine and the norm have these values, and the loss obeys the "
    "bound, in {compared} comparisons.",
    tolerance=RUN,
    proof=(BY_LAW, TANGENT),
    planted={
        **SHARPER,
        "The rate larger by one part in a hundred.": {"faster": 1.01},
        NOT_NORMALIZED: Variant(instances=not_normalized),
    },
)
def check_huang2024_app_stage_1_rate(
    one: First, faster: float = 1.0, sharper: float = 1.0
) -> Iterator[Said]:
    """1 - cos = 0, ||W|| = t eta_0, L_0 <= |V| (|V| - 1) e^(-C_0 t), C_0 = eta_0 / ||W_ov*||."""
    t, rows = one.since(1)
    n, at = one.size, rows.step
    claimed = math.log(n * (n - 1) / sharper) - faster * one.eta0 / one.norm_star * t
    yield arrays.at_most(
        rows.log_loss, claimed, f"$\\log \\mathcal L_0$ at {STEP}", at=at, scale=1 + t
    )
    yield arrays.equal(rows.norm, t * one.eta0, f"norm at {STEP}", at=at)
    yield arrays.equal(rows.one_minus_cos, 0 * t, f"$1 - \\cos$ at {STEP}", at=at, scale=1.0)


# Displays in the proof of Lemma 2


@dataclass(frozen=True)
class Matrix:
    """A matrix W, (|V|, |V|), other than zero."""

    name: str
    W: Floats

    @property
    def r(self) -> float:
        """||W|| / ||W_ov*||."""
        return float(np.linalg.norm(self.W)) / math.sqrt(len(self.W) - 1)


def near_and_far(seed: int = 7, trials: int = 200) -> Iterator[Matrix]:
    """Random matrices near and far from W_ov*, of norms from 0.1 to some thousands."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        size = SIZES[trial % len(SIZES)]
        near = 10.0 ** rng.uniform(-8, 1)
        W = stage1.W_ov_star(cycle(size)) + near * rng.normal(size=(size, size))
        W *= 10.0 ** rng.uniform(-1, 3) / np.linalg.norm(W)
        yield Matrix(rf"matrix {trial}, $|\mathcal V| = {size}$, norm {np.linalg.norm(W):.3g}", W)


NEAR = "matrices within 1e-8 of W_ov*, which cost eight digits"


@check(
    "huang2024-app-lem-2-lower",
    over="random matrices",
    instances=near_and_far,
    says=r"The margins of $W$ sum to $|\mathcal V| \langle W_{\mathrm{ov}}^*, W\rangle \le "
    r"|\mathcal V|\, \|W_{\mathrm{ov}}^*\|\, \|W\|$, so one of them is at most $r = "
    r"\|W\|/\|W_{\mathrm{ov}}^*\|$. On {tried} random matrices this bound on the smallest margin "
    "and the stated bounds on the loss hold, and the smallest margin comes within a relative "
    "distance of {closest} of its bound $r$.",
    tolerance=SUM,
    proof=(
        uses(
            "huang2024-eq-2",
            r"$W_{\mathrm{ov}}^*$ has the columns $e_{\mathrm n(x)} - "
            r"1/|\mathcal V|$",
        ),
        executed(
            r"$\langle W_{\mathrm{ov}}^*, W\rangle$ is the sum of the margins divided by "
            r"$|\mathcal V|$",
            steps.sum_of_margins,
            planted={
                r"$W_{\mathrm{ov}}^*$ with entries of $-1/(|\mathcal V|+1)$.": {"low": "-1/(n + 1)"}
            },
        ),
        by_hand(
            r"the Cauchy–Schwarz inequality, and the number $|\mathcal V| (|\mathcal V| - "
            "1)$ of margins",
            at="schwarz",
        ),
        by_hand(
            "the loss is a sum of positive terms, so one term is at most the loss", at="summand"
        ),
        executed(
            r"$\log(1 + z) \ge z/2$ on $[0, 1]$",
            steps.log_is_above_its_chord,
            planted={r"$\frac34$ in place of $\frac12$.": {"slope": "3/4"}},
        ),
    ),
    planted={
        r"$\|W\|/\|W_{\mathrm{ov}}^*\|$, the bound on the smallest margin, 1.1 times sharper.": {
            "share": 1 / 1.1
        },
        "The lower bound on the loss raised by a thousandth.": {"share": 0.999},
    },
)
def check_huang2024_app_lem_2_lower(one: Matrix, share: float = 1.0) -> Iterator[Said]:
    """Some margin is at most r, and L_0(W) >= log(1 + e^-r) >= e^-r / 2."""
    r, columns = share * one.r, np.arange(len(one.W))
    margins = one.W[cycle(len(one.W)), columns] - one.W
    wrong = cycle(len(one.W))[None, :] != columns[:, None]
    smallest = float(margins[wrong].min())
    log_share = float(log_softplus(-r))  # log log(1 + e^-r)
    yield at_most(smallest, r, "the smallest margin", scale=r)
    yield at_least(log_loss(one.W), log_share, r"$\log \mathcal L_0$", scale=1 + r)
    yield at_least(log_share, -r - math.log(2), r"$\log\log(1 + e^{-r})$", scale=1 + r)
    yield least("closest", (one.r - smallest) / one.r, digits=1, origin=NEAR)


@check(
    "huang2024-app-lem-2-upper",
    over="random matrices",
    instances=near_and_far,
    says=r"The loss at $s\,W_{\mathrm{ov}}^*$ is at most $|\mathcal V| (|\mathcal V|-1) e^{-s}$; "
    r"for $s = r + 2\log(2|\mathcal V|)$ with $r = \|W\|/\|W_{\mathrm{ov}}^*\|$ this bound is less "
    r"than $\frac14 e^{-r}$ for every $|\mathcal V|$. For {tried} random matrices $W$ the loss at "
    r"$s\,W_{\mathrm{ov}}^*$ with this $s$ is at most ${most}\, e^{-r}$, and at most "
    r"$\mathcal L_0(W)$.",
    tolerance=SUM,
    proof=(
        uses(
            "ours-stage-1-law",
            r"the loss at $s\,W_{\mathrm{ov}}^*$ is $|\mathcal V| \log(1 + "
            r"(|\mathcal V|-1) e^{-s})$",
        ),
        TANGENT,
        executed(
            r"$|\mathcal V| (|\mathcal V|-1) e^{-s}$ is at most $\frac14 e^{-r}$ for $s = r + "
            r"2\log(2|\mathcal V|)$",
            steps.far_multiple,
        ),
        uses("huang2024-app-lem-2-lower", r"$\mathcal L_0(W) \ge \frac12 e^{-r}$"),
    ),
    planted={
        r"$\log(2|\mathcal V|)$ added once in place of twice.": {"times": 1},
        r"The bound $\frac14 e^{-r}$ 1.1 times sharper.": {"share": "10/44"},
    },
)
def check_huang2024_app_lem_2_upper(
    one: Matrix, times: int = 2, share: str = "1/4"
) -> Iterator[Said]:
    """L_0(W') <= e^-r / 4 <= e^-r / 2 and L_0(W') <= L_0(W) at W' = (r + 2 log(2|V|)) W_ov*."""
    n, r = len(one.W), one.r
    far = log_loss((r + times * math.log(2 * n)) * stage1.W_ov_star(cycle(n)))
    claimed = math.log(Fraction(share)) - r
    yield at_most(far, claimed, r"$\log \mathcal L_0(W')$", scale=1 + r)
    yield at_most(far, log_loss(one.W), r"$\log \mathcal L_0(W')$", scale=1 + r)
    yield most("most", math.exp(far + r), digits=3)


# Displays in the proof of Proposition 3


@dataclass(frozen=True, eq=False)
class Norms:
    """||W_ov|| after 1, 2, ..., T steps from zero.

    Attributes:
        name: the instance in words.
        size: |V|.
        eta0: step size.
        norms: (T,), as the iteration has them.
    """

    name: str
    size: int
    eta0: float
    norms: Floats


@once
def norms(size: int, eta0: float) -> Norms:
    """The norms of a run of equation (7), at every step."""
    rows, _ = stage1.iterate(cycle(size), STEPS, eta0)
    return Norms(rf"$|\mathcal V| = {size}$, $\eta_0 = {eta0:.3g}$", size, eta0, rows.norm[1:])


def small_steps() -> list[Norms]:
    """The paper's step size, and ||W_ov*|| / 2, the largest that the proof of Proposition 3 has."""
    steps = {size: (paper_rates(size)[0], math.sqrt(size - 1) / 2) for size in SIZES}
    return [norms(size, eta0) for size in SIZES for eta0 in steps[size]]


def large_steps() -> list[Norms]:
    """Steps of two and of fifty times ||W_ov*||."""
    return [norms(size, times * math.sqrt(size - 1)) for size in SIZES for times in (2, 50)]


SMALL_ETA = r"$2\eta_0$ exceeds $\|W_{\mathrm{ov}}^*\|$"


@check(
    "huang2024-app-prop-1-sum",
    over="runs",
    instances=small_steps,
    says=r"Since $1/t' \le \log t' - \log(t'-1)$, the sums over the steps satisfy the stated "
    r"bounds. All bounds hold on {tried} runs with $2\eta_0 \le \|W_{\mathrm{ov}}^*\|$, in "
    "{compared} comparisons. On these runs the left side of the last line of the proof is at "
    "most {fullest} times its right side.",
    tolerance=SUM,
    proof=(
        BY_LAW,
        executed(
            r"$1/t \le \log t - \log(t - 1)$",
            steps.one_over_t,
            planted={"$1.1/t$ in place of $1/t$.": {"factor": "11/10"}},
        ),
        executed(
            r"$\alpha/(1 + \alpha) \le \alpha$",
            steps.alpha_by_itself,
            planted={r"$\alpha^2$ in place of $\alpha$.": {"power": 2}},
        ),
        executed(
            r"both sums, by induction over $t$, since $\|W_{\mathrm{ov}}^*\| \ge 1$",
            steps.sums_over_the_steps,
        ),
        executed(
            r"the last line of the proof, for all $|\mathcal V|$ and $t$",
            steps.last_line,
            planted={"5 in place of 6.": {"last": 5}},
        ),
    ),
    planted={
        r"The first bound with the factor $\frac9{10}$ in place of 4.": {"first": 0.9},
        "The second bound with the factor 1 in place of 4.": {"second": 1.0},
        "The last line 1.1 times sharper.": {"last": 6 / 1.1},
    },
    readings={
        r"without $2\eta_0 \le \|W_{\mathrm{ov}}^*\|$, which the proposition does "
        "not assume": Variant({"any_step": True}, instances=large_steps),
    },
)
def check_huang2024_app_prop_1_sum(
    one: Norms,
    first: float = 4.0,
    second: float = 4.0,
    last: float = 6.0,
    any_step: bool = False,
) -> Iterator[Said]:
    """The sums of 1 / ||W|| and of alpha / (1 + alpha) over 2 <= t' < t, and the last line.

    From a zero start, with 2 eta_0 <= ||W_ov*||.
    """
    star, log_2V = math.sqrt(one.size - 1), math.log(2 * one.size)
    if 2 * one.eta0 > star * (1 + 1e-12) and not any_step:
        yield left_out(SMALL_ETA)
        return
    t = np.arange(2, len(one.norms) + 1)
    alpha = 2 * star * log_2V / one.norms[1:]  # from t' = 2 on
    sums = [np.append(0.0, np.cumsum(terms[:-1])) for terms in (
        1 / one.norms[1:], alpha / (1 + alpha))]  # fmt: skip
    log_t = np.log(t)
    bound = first * star / one.eta0 * log_t
    yield arrays.at_most(sums[0], bound, "first sum, $t = {at}$", at=t)
    bound = second * star**2 * log_2V / one.eta0 * log_t
    yield arrays.at_most(sums[1], bound, "second sum, $t = {at}$", at=t)
    left = one.norms[1] + 2 * one.eta0 * star * log_t + 4 * star**2 * log_2V * log_t
    bound = last * star**2 * log_2V * log_t
    yield arrays.at_most(left, bound, "last line, $t = {at}$", at=t)
    yield most("fullest", float((left / bound).max()), digits=3)


def every_step(seed: int = 7, sets: int = 3) -> Iterator[First]:
    """From zero and from random starts, every step recorded; the last one is long and far out."""
    rng = np.random.default_rng(seed)
    for number in range(sets):
        size = int(rng.integers(2, 10))
        for scale in (0.0, 1.0, 5.0):
            start = scale * np.random.default_rng((seed, number)).normal(size=(size, size))
            rows, _ = stage1.iterate(cycle(size), 300, 0.3, record=range(301), start=start)
            norm = float(np.linalg.norm(start))
            yield First(
                rf"$|\mathcal V| = {size}$, start of norm {norm:.2g}", cycle(size), 0.3, norm, rows
            )
    rows, _ = stage1.iterate(cycle(2), STEPS, 7.0, record=range(STEPS + 1))
    yield First(rf"$|\mathcal V| = 2$, $\eta_0 = 7$, {STEPS} steps", cycle(2), 7.0, 0.0, rows)


@check(
    "huang2024-app-prop-3-step",
    over="runs from any start",
    instances=every_step,
    says="The inequality follows from Lemma 2 and a bound on the growth of the norm in one step. "
    "On {tried} runs it holds at all {compared} steps.",
    tolerance=1e-9,  # differences of norms of up to some thousands, rounded at 1e-16 of them
    proof=(
        uses(
            "huang2024-lem-2",
            r"Lemma 2 at $W = W_{\mathrm{ov}}^{(t)}$, with the gradient $G$ and $\alpha = "
            r"\alpha_t$: $-\langle G, W\rangle \le -(1 + \alpha) \langle G, "
            r"W_{\mathrm{ov}}^*\rangle \|W\| / \|W_{\mathrm{ov}}^*\|$",
        ),
        executed(
            r"the norm grows by at most $\eta_0 p + \eta_0^2/(2\|W\|)$, where $p$ is the cosine "
            "of the step and $W$",
            steps.gain_of_the_norm,
            planted={r"$\eta_0^2/\|W\|$ in place of $\eta_0^2/(2\|W\|)$.": {"share": 1}},
        ),
        executed(
            r"$p/(1 + \alpha) \ge p - \alpha/(1 + \alpha)$ for $p \le 1$",
            steps.part_of_the_gain,
            planted={
                r"$\alpha/(2(1 + \alpha))$ in place of $\alpha/(1 + \alpha)$.": {"share": "1/2"}
            },
        ),
        executed("Lemma 2 and these two bounds give the inequality", steps.step_along_the_optimum),
    ),
    planted={
        "The right-hand side 1.1 times sharper, at a late step.": {"sharper": 1.1},
        r"$\eta_0^2/(2\|W\|)$ and $\eta_0\alpha/(1 + \alpha)$ added in place of subtracted.": {
            "lost": -1.0
        },
    },
)
def check_huang2024_app_prop_3_step(
    one: First, sharper: float = 1.0, lost: float = 1.0
) -> Iterator[Said]:
    """<W' - W, W*> / ||W*|| >= ||W'|| - ||W|| - eta_0^2 / (2 ||W||) - eta_0 alpha / (1 + alpha).

    W' is W after one step of (7), alpha = 2 ||W*|| log(2|V|) / ||W||, W != 0.
    """
    t, rows = one.since(1)
    along = rows.norm * (1 - rows.one_minus_cos)
    before = rows.norm[:-1]
    alpha = 2 * one.norm_star * math.log(2 * one.size) / before
    right = np.diff(rows.norm) - lost * one.eta0 * (one.eta0 / (2 * before) + alpha / (1 + alpha))
    right = np.where(right > 0, sharper, 1 / sharper) * right
    yield arrays.at_least(np.diff(along), right, STEP, at=t[1:], scale=one.eta0)


# Section 4: n and L_0


def five_tokens() -> list[Tried]:
    """The data on which the closed form of Proposition 2 fails, which are not prefix-closed."""
    singles = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "q"), ("q", "a")]
    longer = [("a c q", "b"), ("a d q", "b"), ("b q", "c")]
    return [Tried(from_samples([*singles, *longer], "five tokens"), 0)]


@check(
    "huang2024-app-p-1",
    over="data sets",
    instances=lambda seed=7, sets=20: small_data(seed, sets),
    says="By prefix closure the second token of every sentence is the next token after the first "
    "token alone. The check confirms this for {sentences} sentences of two or more tokens, from "
    "{tried} prefix-closed data sets.",
    proof=(
        by_hand(
            r"$([x_1], x_2)$ is a sample, generated by $p_1^*$, and $\mathrm n(x_1)$ is "
            "$x_2$",
            at="prefix",
        ),
    ),
    planted={
        "Data of five tokens that are not prefix-closed.": Variant(
            {"closed": False}, instances=five_tokens
        ),
    },
)
def check_huang2024_app_p_1(one: Tried, closed: bool = True) -> Iterator[Said]:
    """n(x_1) = x_2 = p_1*([x_1]) for every training sentence, under prefix closure."""
    if closed and not one.data.prefix_closed:
        yield left_out("the data are not prefix-closed")
        return
    samples = list(one.data.samples())
    n = {sample.sentence[0]: sample.next_token for sample in samples if len(sample.sentence) == 1}
    for sample in samples:
        x_1, x_2 = (*sample.sentence, sample.next_token)[:2]
        yield holds(
            n[x_1] == x_2,
            rf"the second token of {' '.join(sample.sentence)} is not $\mathrm n$({x_1})",
        )
    yield count("sentences", sum(len(sample.sentence) > 1 for sample in samples))


@check(
    "huang2024-app-l-0",
    over="random layers",
    instances=places,
    says="In a sentence of one token the attention weight is 1, so the output depends on "
    r"$W_{\mathrm{ov}}$ alone. In sixty digits, $|\mathcal V|$ times the mean loss of the "
    r"sentences of one token equals $\mathcal L_0$ for {tried} random layers with rotated token "
    "embeddings.",
    tolerance=1e-50,  # sixty digits
    proof=(
        executed(
            "the attention weight of the only token of a sentence is 1",
            steps.attention_on_one_token,
            planted={"A second token in the formula for the attention.": {"others": 1}},
        ),
        by_hand(
            r"the sum over the $|\mathcal V|$ sentences, each of frequency $1/|\mathcal V|$",
            at="sum",
        ),
    ),
    planted={
        "A second token in every sentence of the data.": {"longer": True},
        r"The loss multiplied by $|\mathcal V| - 1$ in place of $|\mathcal V|$.": {"less": 1},
    },
)
def check_huang2024_app_l_0(one: Place, longer: bool = False, less: int = 0) -> Said:
    """|V| L(theta) = L_0(W_ov) on the data [x] -> n(x), for any W_kq."""
    size = len(one.W)
    rows = [
        ([str(x), "0"] if longer else [str(x)], str(following))
        for x, following in enumerate(one.following)
    ]
    data = from_samples(rows, one.name)
    n = [data.vocabulary.index(str(one.following[int(x)])) for x in data.vocabulary]
    rng = np.random.default_rng(size)
    with mp.workdps(digits.DIGITS):
        E = digits.rotation(rng, size)
        W_ov, W_kq = digits.exact(one.W), digits.exact(rng.normal(size=(size, size)))
        whole = (size - less) * digits.loss(data, W_ov, W_kq, E)
        alone = digits.stage1_loss(n, W_ov, E)
        return equal(float((whole - alone) / alone), 0.0, scale=1.0)


# Appendix C.1, after Corollary 1


@check(
    "huang2024-app-constant-a",
    over="runs",
    instances=from_zero,
    says="By the closed form of stage 1 all margins are equal at every step. At every $T$ they are "
    r"$4\sqrt{|\mathcal V|-1}$ times the paper's $A = T\eta_0/(4\|W_{\mathrm{ov}}^*\|^2)$. On "
    "{tried} runs, with different vocabularies, this factor is {least} to {most}.",
    tolerance=RUN,
    proof=(
        uses("huang2024-cor-1-corrected", r"all margins are $T\eta_0/\sqrt{|\mathcal V| - 1}$"),
    ),
    planted={
        "A random start in place of zero.": Variant(instances=random_starts),
        "Margins whose quotient by $A$ changes from step to step.": {"drift": 1e-6},
    },
    readings={
        r"all margins equal the stated $A = T\eta_0/(4\|W_{\mathrm{ov}}^*\|^2)$": {
            "read": "as printed"
        },
        r"the margins are $\Theta(A)$ with constants that do not depend on $|\mathcal V|$, tried "
        r"with the constants $\frac1{20}$ and 20": {"read": "for all"},
    },
)
def check_huang2024_app_constant_a(
    one: First, read: str = "common", drift: float = 0.0
) -> Iterator[Said]:
    """All margins are one number, for each |V| a fixed multiple of T eta_0 / (4 ||W_ov*||^2)."""
    t, rows = one.since(1)
    ratio = rows.least_gap * 4 * (one.size - 1) / (t * one.eta0) * (1 + drift * np.sqrt(t))
    yield arrays.equal(rows.least_gap, rows.greatest_gap, STEP, at=rows.step)
    yield arrays.equal(ratio, ratio[-1], STEP, at=rows.step)
    if read == "as printed":
        yield arrays.equal(ratio, 1.0, f"margin divided by $A$ at {STEP}", at=rows.step)
    elif read == "for all":
        yield arrays.at_least(ratio, 1 / 20, f"margin divided by $A$ at {STEP}", at=rows.step)
        yield arrays.at_most(ratio, 20.0, f"margin divided by $A$ at {STEP}", at=rows.step)
    yield least("least", float(ratio.min()), digits=3)
    yield most("most", float(ratio.max()), digits=3)
