"""Checks of Lemma 7 and of the sketch: how the gradient aligns with the max-margin direction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from ntpbook.huang2024.s5_lemma_7 import inside_proof
from ntpbook.huang2024.s5_stage2_lemmas import instances
from ntpbook.huang2024.s5_stage2_lemmas.checks import UNEQUAL
from ntpbook.huang2024.s5_stage2_lemmas.instances import Certain
from ntpbook.shared import ends, rare
from ntpbook.shared.in_force import FACTS, facts, facts_of_problem
from ntpbook.shared.rare import Hidden
from ntpbook.shared.symbols import identity
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.runs import Run
from ntpverdicts import arrays
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import Said, assume, at_least, at_most, count, least, left_out, most
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # norms of up to some thousands, sums of as many rounded steps

# A rare sentence stays hidden

SHARE = Fraction(1, 100)  # the rare column moves at most this much for each unit of the other


@dataclass(frozen=True)
class Rare:
    """A run of the two-token data to be held against the lemma.

    Attributes:
        log_ratio: R.
        eta: step size.
        steps: so many steps are taken.
        gap: A.
    """

    log_ratio: float
    eta: float
    steps: int
    gap: float

    @property
    def name(self) -> str:
        """The parameters in words."""
        return f"$R = {self.log_ratio:g}$, $\\eta = {self.eta:g}$, $A = {self.gap:g}$"


def rare_data() -> Iterator[Rare]:
    """Sentences from as frequent to far rarer, small and large steps, small and large gaps."""
    for log_ratio in (0.0, 3.0, 30.0, 3000.0):
        for eta in (0.01, 0.36, 5.0):
            for gap in (0.1, 3.0, rare.rare_gap()):
                yield Rare(log_ratio, eta, 2000, gap)


@check(
    "ours-hidden-sentence",
    over="runs",
    instances=rare_data,
    says="On {tried} runs on the data of two tokens, the margin of the rare sentence and its "
    "force, minus the derivative of the loss with respect to this margin, are at most "
    r"$\varepsilon$ times the margin and the force of the frequent sentence ({compared} "
    "comparisons). The bounds on the forces that the proof uses are proved symbolically.",
    tolerance=1e-9,  # margins are sums of two thousand rounded steps
    proof=(
        executed("the negative derivative of the loss with respect to a margin", rare.force),
        executed("bounds on this derivative", rare.force_bounds),
        executed(
            "how a step changes the margins, and the cosine",
            rare.geometry,
            planted={r"Steps of the squared length $3\eta^2$ in the margins.": {"squared": 3}},
        ),
        by_hand(
            r"$d_1 \le \sqrt2\,\eta s$ after $s$ steps; a bound on the ratio of the increments of "
            "$d_2$ and $d_1$ is also a bound on $d_2/d_1$",
            at="ratio",
        ),
        by_hand(
            r"$d_2 \le \sum_{s < t} \sqrt2\,\eta\,\varepsilon_s \le \varepsilon_t$, since $x \le "
            "e^x - 1$",
            at="sum",
        ),
    ),
    planted={
        r"$(e^A + 1)/2$ left out of $\varepsilon$.": {"with_gap": False},
        r"$\varepsilon$ 1.1 times sharper.": {"sharper": 1.1},
        r"$\sqrt2$ left out of the exponent of $\varepsilon$.": {"root": 1.0},
        r"$m (1 - m) \ge e^{-d}$ in place of $e^{-d}/4$.": {"quarter": 1},
        "Half the derivative.": {"factor": Fraction(1, 2)},
    },
)
def check_ours_hidden_sentence(
    one: Rare, with_gap: bool = True, root: float = math.sqrt(2), sharper: float = 1.0
) -> Iterator[Said]:
    """d_2 <= share min(1, d_1), f_2 <= share f_1, share = (e^A + 1) / 2 e^(sqrt(2) eta t - R)."""
    problem = rare.rare_problem(one.log_ratio)
    at = training.run(problem, 0, one.eta, one.gap, record=[])
    for t in (1, 2, 5, 20, 100, 500, one.steps):
        at = training.run(problem, t, one.eta, one.gap, state=at, record=[])
        log_share = root * one.eta * t - one.log_ratio
        log_share += math.log1p(math.exp(one.gap)) - math.log(2) if with_gap else 0.0
        log_share -= math.log(sharper)
        w_2, _, w_1, _ = np.abs(at.state.weights)
        push = np.abs(training.gradient(problem, at.state.weights, one.gap)[1])
        if log_share > 300:  # the share is no bound any more
            yield count("idle")
            continue
        share, where = math.exp(log_share), f"step {t}"
        yield at_most(2 * float(w_2), share * min(1.0, 2 * float(w_1)), where, scale=1.0)
        yield at_most(float(push[0]), share * float(push[2]), where, scale=1.0)


# Lemma 7


def rarest(log_alpha_factor: float) -> Hidden:
    """The two-token data so rare that alpha_t with this constant fails, by the proof on the page.

    The path t eta is so long that factor N L_max^2 ||W*||^2 (1 + log(2 L_max x)) / x is below 2/5
    at x = t eta / sqrt(1 + SHARE^2); a hundredth is added.
    """
    c = bounds.constants(rare.rare_problem(0.0), 1.0, 1.0, 1)
    log_x = bounds.bites_from(
        lambda log_x: bounds.log_lem_7_alpha(c, math.exp(log_x), factor=log_alpha_factor),
        math.log(2 / 5),
    )
    path = 1.01 * math.exp(log_x) * math.sqrt(1 + float(SHARE) ** 2)
    return Hidden(math.ceil(path / rare.ETA), rare.ETA, SHARE)


@cache
def rarest_runs() -> tuple[Run, ...]:
    """Runs on these data for both readings of the constant."""
    return tuple(rarest(factor).run() for factor in FACTORS)


FACTORS = bounds.READINGS["huang2024-lem-7"]["factor"]


def hidden_and_runs(seed: int = 7, sets: int = 10, steps: int = 2000) -> list[Run | Hidden]:
    """The data of the proof on the page, runs on them, and the prefix-closed runs of the page."""
    return [rarest(4), *rarest_runs(), *instances.frequent_runs(seed, sets, steps)]


def equal_run() -> list[Run]:
    """The two sentences, equally frequent."""
    return [rare.rare_run(0.0, 4000, rare.ETA)]


def just_before() -> list[Run]:
    """The rare sentence, up to a step at which alpha_t is a twentieth above what is needed."""
    c = rarest_runs()[0].constants
    log_x = bounds.bites_from(
        lambda log_x: bounds.log_lem_7_alpha(c, math.exp(log_x)),
        math.log(1.05 * (math.sqrt(2) - 1)),
    )
    return [rare.rare_run(rarest(4).log_ratio, math.floor(math.exp(log_x) / rare.ETA), rare.ETA)]


@check(
    "huang2024-lem-7",
    over="runs and rare sentences",
    instances=hidden_and_runs,
    says=r"From $t_0$ on, the stated $\alpha_t$ is at least the $\alpha$ that the inequality "
    "needs, at {compared} recorded steps.",
    fails=r"A sufficiently rare sentence is learned so late that the stated $\alpha_t$, which "
    "contains no frequency, is too small long before the sentence is learned, for every reading "
    "of its constant.",
    tolerance=1e-12,  # both are quotients of sums of a few hundred terms, alpha_t below 1e3
    hypotheses=(inside_proof.LATE, *FACTS),
    planted={
        "The same two sentences, equally frequent, for which the lemma holds; this rules out a "
        "check that refutes everything.": Variant(
            instances=equal_run, expected=Verdict.NOT_CONTRADICTED
        ),
        r"$1/\pi_{\min}$ in place of $N$.": Variant(
            {"rarity": bounds.PI_MIN}, instances=rarest_runs, expected=Verdict.NOT_CONTRADICTED
        ),
        r"The run with the rare sentence, up to shortly before the stated $\alpha_t$ becomes too "
        "small.": Variant(instances=just_before, expected=Verdict.NOT_CONTRADICTED),
        r"$\alpha_t$ 1.1 times sharper, on the same run.": Variant(
            {"factor": 4 / 1.1}, instances=just_before
        ),
    },
    readings={
        r"the constant of $\alpha_t$ is 8": Variant({"factor": 8.0}, instances=lambda: [rarest(8)]),
        r"the constant of $\alpha_t$ is 1000; the page of Lemma 7 refutes all constants": Variant(
            {"factor": 1000.0}, instances=lambda: [rarest(1000)]
        ),
    },
)
def check_huang2024_lem_7(
    one: Run | Hidden, factor: float = 4.0, rarity: str = bounds.N
) -> Iterator[Said]:
    """alpha_t >= the least alpha with <G, W> >= (1 + alpha) <G, W*> ||W|| / ||W*||, t >= t_0.

    Under Assumptions 1 to 3 and prefix closure, with any step size.
    """
    if isinstance(one, Hidden):
        yield assume(
            inside_proof.LATE, one.steps >= math.ceil(16 / one.eta)
        )  # L_max = 2, ||W*|| = 1
        yield from facts(rare.two_tokens())
        with ctx.workdps(30):
            needed, allowed = ends.lower(one.needed_alpha()), hidden_alpha(one, factor)
        yield at_least(
            allowed,
            needed,
            r"the stated $\alpha_t$ against the one needed by the lemma on rare sentences",
        )
        return
    if not one.problem.prefix_closed:
        yield left_out("the data are not prefix-closed")
        return
    late = _late(one)
    if one.problem.frequent and late.any():
        yield assume(inside_proof.LATE, bool(late.any()))
        yield from facts_of_problem(one.problem)
    yield from aligned(one, factor, rarity)
    for number in FACTORS if late.any() else ():
        missed = one.second.rows.needed_alpha[late] - _alpha(one, number, bounds.N)
        yield most(f"missed_{number:g}", float(missed.max()), digits=2)


def hidden_alpha(one: Hidden, factor: float) -> Fraction:
    """At least alpha_t on the two-token data: it falls with the norm; N = 4, L_max = 2, ||W*|| = 1.

    Call it with some thirty digits.
    """
    norm = one.norm()
    return ends.upper(factor * 16 * (1 + (4 * norm).log()) / norm)


def _late(run: Run) -> NDArray[np.bool_]:
    """The recorded steps from t_0 on."""
    late: NDArray[np.bool_] = run.second.rows.step >= max(1, bounds.lem_7_start(run.constants))
    return late


def _log_alpha(run: Run, factor: float, rarity: str, exponent: int = 1) -> Floats:
    """log alpha_t of Lemma 7 at recorded steps from t_0 on, with a power of its N or 1/pi_min."""
    norm = run.second.rows.norm[_late(run)]
    log_alpha = bounds.log_lem_7_alpha(run.constants, norm, factor=factor, rarity=rarity)
    return np.asarray(log_alpha) + (exponent - 1) * run.constants.log_rarity(rarity)


def _alpha(run: Run, factor: float, rarity: str, exponent: int = 1) -> Floats:
    """alpha_t there; beyond e^700 it bounds anything."""
    return np.exp(np.minimum(_log_alpha(run, factor, rarity, exponent), 700.0))


def aligned(run: Run, factor: float, rarity: str, exponent: int = 1) -> Iterator[Said]:
    """alpha_t against the alpha that the projections of a run need, from t_0 on."""
    if not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    rows, late = run.second.rows, _late(run)
    if not late.any():
        yield left_out("the run does not reach $t_0$")
        return
    allowed = _alpha(run, factor, rarity, exponent)
    needed = np.maximum(rows.needed_alpha[late], 0.0)
    scale = np.ones_like(allowed)
    yield arrays.at_least(
        allowed, needed, r"$\alpha_t$, step {at}", at=rows.step[late], scale=scale
    )


def runs_and_rarest(seed: int = 7, sets: int = 10, steps: int = 2000) -> list[Run]:
    """The runs of the page, and those with a rare sentence."""
    return [*rarest_runs(), *instances.frequent_runs(seed, sets, steps)]


@check(
    "huang2024-lem-7-corrected",
    over="runs",
    instances=runs_and_rarest,
    says=r"From $t_0$ on, $\alpha_t$ with $1/\pi_{\min}$ in place of $N$, and with the smallest "
    r"reading 4 of its constant, is at least the $\alpha$ that the inequality needs, at "
    "{compared} recorded steps of {tried} runs.",
    tolerance=1e-12,  # both are quotients of sums of a few hundred terms
    proof=(
        uses(
            "ours-corrected-statements",
            r"Theorem A: $K \|W^*\|$ is at most $\alpha_t \|W\|$, from $t_0$ on and for every "
            "step size",
        ),
    ),
    loose="no instance can be close to equality: by Theorem A the inequality holds with $K "
    r"\|W_{\mathrm{kq}}^*\| / \|W\|$ in place of $\alpha_t$, where $K$ depends only on $L_{\max}$ "
    r"and $\pi_{\min}$; from $t_0$ on $\alpha_t$ is more than 18 times this value for all data, "
    "and the ratio is smallest for two tokens",
    planted={
        r"$N$ in place of $1/\pi_{\min}$, on the runs with a rare sentence.": {"rarity": bounds.N},
        r"$1/\pi_{\min}$ left out.": {"exponent": 0},
        r"$\pi_{\min}$ in place of $1/\pi_{\min}$.": {"exponent": -1},
    },
    vacuous=r"$t = 10^{bites}$ at the earliest, where $\alpha_t$ falls below 1 on the run with "
    r"the smallest $\alpha_t$",
)
def check_huang2024_lem_7_corrected(
    run: Run, factor: float = 4.0, rarity: str = bounds.PI_MIN, exponent: int = 1
) -> Iterator[Said]:
    """alpha_t = 4 L_max^2 ||W*||^2 (1 + log(2 L_max ||W||)) / (pi_min ||W||), from t_0 on."""
    yield from aligned(run, factor, rarity, exponent)
    rows, late = run.second.rows, _late(run)
    if not run.problem.frequent or not late.any():
        return
    # (1 + alpha) |cos| < 1: beyond that the inequality follows from Cauchy and Schwarz
    above = np.logaddexp(0.0, _log_alpha(run, factor, rarity)) < -np.log(-rows.cos_star[late])
    yield count("telling", int(above.sum()))
    yield most("most", float(rows.needed_alpha[late].max()), digits=2)
    yield least("bites", log_bites(run) / math.log(10), digits=4)


def log_bites(run: Run) -> float:
    """log t from which the corrected alpha_t is below 1 if the norm is as large as it can be."""
    c = run.constants
    log_scale = math.log(2 * c.max_length)
    fixed = float(bounds.log_lem_7_alpha(c, 1.0, rarity=bounds.PI_MIN)) - math.log1p(log_scale)

    def largest(log_t: float) -> float:
        log_norm = log_t + math.log(c.eta)
        return float(fixed - log_norm + np.log1p(max(log_scale + log_norm, 0.0)))

    return bounds.bites_from(largest)


# A violated constraint

APART = 1e-12  # 1 - cos above which W_kq is surely not a multiple of W_kq_star


def closed_and_runs(seed: int = 7, sets: int = 10, steps: int = 2000) -> list[Run | Certain]:
    """Two tokens, one of them twice in a sentence, at t_0, and the runs of the page."""
    return [instances.certain_closed(), *instances.frequent_runs(seed, sets, steps)]


def only_closed() -> list[Certain]:
    """Without the runs."""
    return [instances.certain_closed()]


def repeated() -> list[Certain]:
    """Sentences that hold their optimal token twice and twenty times; not prefix-closed."""
    return [instances.certain_repeated(times) for times in (2, 20)]


APART_FROM_STAR = r"$W_{\mathrm{kq}}$ is no multiple of $W_{\mathrm{kq}}^*$"


@check(
    "huang2024-app-violated-sample",
    over="runs and enclosed steps",
    instances=closed_and_runs,
    says="At each of {compared} steps from $t_0$ on, some sample keeps at least the stated "
    "attention on its non-optimal tokens.",
    fails="If a non-optimal token scores $d$ less than an optimal token that occurs $c$ times, "
    "its attention weight is $e^{-d}/(c + e^{-d})$. In the sentence with $c = 1$, $d$ exceeds "
    r"$r = \|W\|/\|W_{\mathrm{kq}}^*\|$, so this weight is below $e^{-r}$; in the sentence with "
    r"$c = 2$, the weight of about $\frac12 e^{-d}$ is below $e^{-r}$ as well.",
    tolerance=ROUNDING,
    hypotheses=(inside_proof.LATE, APART_FROM_STAR, *FACTS),
    planted={
        r"$1/L_{\max}$ before the exponential.": Variant(
            {"shared": True}, expected=Verdict.NOT_CONTRADICTED
        ),
        r"$\frac7{10}$ before the exponential, slightly less than $1/\sqrt2$.": Variant(
            {"constant": Fraction(7, 10)}, expected=Verdict.NOT_CONTRADICTED
        ),
        r"$\frac7{10}$, 1.1 times sharper, on the witness.": Variant(
            {"constant": Fraction(77, 100)}, instances=only_closed
        ),
    },
    readings={
        "without prefix closure, for sentences that contain their optimal token 2 and 20 times; "
        "with more repetitions any constant before the exponential fails": Variant(
            {"closed": False, "constant": Fraction(1, 10)}, instances=repeated
        ),
    },
)
def check_huang2024_app_violated_sample(
    one: Run | Certain,
    constant: Fraction = Fraction(1),
    shared: bool = False,
    closed: bool = True,
) -> Iterator[Said]:
    """Some sample has phi_- >= exp(-||W|| / ||W*||) where W is no multiple of W*, for t >= t_0."""
    L = one.max_length if isinstance(one, Certain) else one.constants.max_length
    log_share = math.log(constant / L if shared else constant)
    if isinstance(one, Certain):
        yield assume(inside_proof.LATE, one.step >= one.start)
        yield assume(APART_FROM_STAR, one.apart)
        yield from facts(one.data)
        sure = one.log_claimed + Fraction(math.floor(log_share * 1e9), 10**9)
        yield at_least(one.log_rest, sure, r"the largest $\log\phi_-$ of all samples")
        return
    if not one.problem.frequent or (closed and not one.problem.prefix_closed):
        yield left_out(UNEQUAL if not one.problem.frequent else "the data are not prefix-closed")
        return
    rows, c = one.second.rows, one.constants
    held = (rows.step >= bounds.lem_7_start(c)) & (rows.one_minus_cos > APART)
    if not held.any():
        yield left_out("$W$ is a multiple of $W^*$ at every step from $t_0$ on")
        return
    yield assume(inside_proof.LATE, bool(held.any()))
    yield assume(APART_FROM_STAR, bool((rows.one_minus_cos[held] > APART).all()))
    yield from facts_of_problem(one.problem)
    log_rest = -np.logaddexp(0.0, rows.least_log_odds[held])
    claimed = log_share - rows.norm[held] / c.norm_kq
    yield arrays.at_least(
        log_rest, claimed, "the largest log weight, step {at}", at=rows.step[held]
    )
    yield count("runs")
    yield count("failing", int((log_rest < claimed - ROUNDING).any()))


@once
def weight_of_a_rival(heat: int = 1) -> tuple[Shown, ...]:
    """A rival weighs e^-gap times as much as one optimal position, by (9).

    Args:
        heat: what scores are divided by in the softmax.
    """
    import sympy as sp

    best, gap = sp.symbols("best gap", real=True)
    rest = sp.Symbol("rest", positive=True)
    weights = sp.exp(best / heat), sp.exp((best - gap) / heat)
    optimal, rival = (one / (sum(weights) + rest) for one in weights)
    return (identity("the weight of a non-optimal token", rival, optimal * sp.exp(-gap)),)


def repeated_often(seed: int = 7, sets: int = 10, steps: int = 2000) -> list[Run]:
    """Runs, and sentences that hold their optimal token twice."""
    return [instances.repeated_run(2), *instances.frequent_runs(seed, sets, steps)]


@check(
    "huang2024-app-violated-sample-corrected",
    over="runs",
    instances=repeated_often,
    says=r"A non-optimal token that scores at most $r = \|W\|/\|W_{\mathrm{kq}}^*\|$ below the "
    "optimal token has at least $e^{-r}$ times the attention of one position of the optimal "
    r"token, and this position has at least $1/L_{\max}$ by Lemma 5. At all recorded steps of "
    "{tried} runs, in {compared} comparisons, such a non-optimal token exists, and the non-optimal "
    r"tokens of some sample have at least the attention $e^{-r}/L_{\max}$; the smallest quotient "
    "of their attention and this bound is {least}.",
    tolerance=ROUNDING,
    proof=(
        executed(
            "the attention weight of one position of a non-optimal token, from its margin and the "
            "weight of one position of the optimal token",
            weight_of_a_rival,
            planted={"Scores halved in the softmax.": {"heat": 2}},
        ),
        uses(
            "huang2024-eq-12",
            r"$W_{\mathrm{kq}}^*$ is the shortest matrix that satisfies all "
            "constraints",
        ),
        by_hand(
            "if all margins exceeded $r$, then $W/r$ would satisfy all constraints of (12) "
            "strictly, although it is no longer than the shortest matrix that satisfies them",
            at="gaps",
        ),
        uses(
            "huang2024-lem-5",
            r"a position of the optimal token has at least $1/L_{\max}$ of "
            "the attention",
        ),
    ),
    planted={
        "A thousand times the weight, on sentences that repeat their optimal token.": Variant(
            {"larger": 1000.0}, instances=lambda: [instances.repeated_run(50)]
        ),
        "A margin of at most $r$, 1.1 times sharper.": {"half": 1 / 1.1},
        "A weight 1.1 times sharper, for an optimal token that occurs fifty times.": Variant(
            {"larger": 1.1}, instances=lambda: [instances.repeated_run(50)]
        ),
    },
)
def check_huang2024_app_violated_sample_corrected(
    run: Run, larger: float = 1.0, half: float = 1.0
) -> Iterator[Said]:
    """min gap <= r = ||W|| / ||W*||, and max phi_- >= e^-r / L_max, at every t."""
    if not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    rows, c = run.second.rows, run.constants
    r = rows.norm / c.norm_kq
    yield arrays.at_most(
        rows.least_gap, half * r, "the margins, step {at}", at=rows.step, scale=1 + r
    )
    log_rest = -np.logaddexp(0.0, rows.least_log_odds)
    claimed = math.log(larger / c.max_length) - r
    yield arrays.at_least(log_rest, claimed, "the weight, step {at}", at=rows.step, scale=1 + r)
    yield least("least", math.exp(min(float((log_rest - claimed).min()), 700.0)), digits=3)


# Section 5.3, Step 3


def declining() -> list[Run]:
    """A rare sentence, on a run whose last decade begins where the needed C_0 has its maximum."""
    run = rare.rare_run(1000.0, 2500, rare.ETA, record=range(2501))
    rows = run.second.rows
    later = rows.norm > math.e
    C_0 = np.maximum(rows.needed_alpha[later], 0) * rows.norm[later] / np.log(rows.norm[later])
    end = 10 * int(rows.step[later][C_0.argmax()])
    return [rare.rare_run(1000.0, end, rare.ETA, record=range(end + 1))]


def hiding() -> list[Run]:
    """A sentence that stays hidden until the needed C_0 exceeds what Lemma 7 would allow."""
    return [rarest(16).run()]


@check(
    "huang2024-app-sketch-3",
    over="runs",
    instances=instances.long_runs,
    says="The criterion was fixed in advance: over the last decade of steps, the steps after a "
    "tenth of the last step, the constant $C_0$ that the inequality needs is nowhere larger than "
    "before. The criterion is met on {tried} runs with at least two decades of steps "
    "(two factors of ten) from $t_0$ on.",
    tolerance=1e-9,  # of C_0: needed alphas are rounded at 1e-16, norms go to 1e5
    proof=(
        uses("ours-alignment", r"Theorem A: the inequality with $\alpha = K \|W^*\|/\|W\|$"),
        uses("huang2024-lem-6", r"$\|W\| \ge t\eta/(\sqrt2\,\|W^*\|)$"),
        by_hand(
            r"$\|W\| \ge 4L_{\max} \ge 8$ from $t_0$ on, so $C_0 = K \|W^*\|/\log 8$ suffices",
            at="constant",
        ),
    ),
    planted={
        "Projections that differ by a thousandth at every step, without any decay.": {"power": 0.0},
        "Projections whose difference decays like the inverse square root of the norm.": {
            "power": 0.5
        },
        "$C_0$ 1.1 times sharper than before, on a run that ends early in its decline.": Variant(
            {"sharper": 1.1}, instances=declining
        ),
    },
    readings={
        r"$C_0$ depends on $N$, $L_{\max}$, and $\|W_{\mathrm{kq}}^*\|$ alone, as "
        "in Lemma 7": Variant({"printed": True}, instances=hiding),
    },
)
def check_huang2024_app_sketch_3(
    run: Run, power: float | None = None, printed: bool = False, sharper: float = 1.0
) -> Iterator[Said]:
    """C_0(t) = alpha_t ||W|| / log ||W||, alpha_t the needed one: max over late t <= max before.

    C_0 may depend on the data. Where it may not (`printed`), it is 4 N L^2 ||W*||^2 (2 + log(2 L)),
    which makes the printed alpha_t of Lemma 7 smaller, as ||W|| >= e.
    """
    if not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    rows = run.second.rows
    late = (rows.step >= bounds.lem_7_start(run.constants)) & (rows.norm > math.e)
    if not late.any() or rows.step[-1] < 100 * rows.step[late][0]:
        yield left_out("fewer than two decades of steps from $t_0$ on")
        return
    norm = rows.norm[late]
    alpha = rows.needed_alpha[late] if power is None else 1e-3 * norm**-power
    constant = np.maximum(alpha, 0.0) * norm / np.log(norm)
    if printed:
        c = run.constants
        allowed = 4 * c.sample_count * (c.max_length * c.norm_kq) ** 2
        allowed *= 2 + math.log(2 * c.max_length)
        yield arrays.at_most(constant, allowed, "$C_0$, step {at}", at=rows.step[late], scale=1)
        return
    last = rows.step[late] > rows.step[-1] / 10
    before = float(constant[~last].max())
    yield arrays.at_most(
        constant[last], before / sharper, "$C_0$, step {at}", at=rows.step[late][last], scale=1
    )
    yield count("needing", int(constant.max() > 1e-9))
    yield most("most", float(constant.max()), digits=2)
