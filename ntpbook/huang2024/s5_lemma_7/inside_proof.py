"""The inside of the proof of Lemma 7: its four bounds, its two types of samples, its last display.

At a state W of stage 2 with t >= t_0, let w = ||W||, s = ||W_kq*||, r = w / s, and

    beta_0 = 2 L_max^2 s^2 (1 + log(2 L_max w)) / w .

A sample is of type 1 if phi_- >= exp(-(1 + beta_0 / 2) r), and of type 2 otherwise. Up to the
factor A pi a sample adds A^(n,t) + B^(n,t) to <grad L, W>, and A^(n,*) + B^(n,*) to
r <grad L, W_kq*>.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from flint import arb, ctx
from mpmath import mp
from numpy.typing import NDArray

from ntpbook.huang2024.s5_lemma_7 import steps
from ntpbook.huang2024.s5_stage2_lemmas import instances
from ntpbook.shared import digits, enclosure, ends, rare
from ntpbook.shared.enclosed_setting import paper_setting
from ntpbook.shared.in_force import FACTS, facts, facts_of_problem
from ntpbook.shared.plain_stage2 import loss_and_force
from ntpcore.data.dataset import from_samples, from_sentences
from ntpcore.huang2024 import bounds, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import (
    Compared,
    LeftOut,
    Said,
    assume,
    at_least,
    at_most,
    below,
    count,
    equal,
    holds,
    left_out,
    most,
    result,
)
from ntpverdicts.numbers import power_of_e
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, relation, uses
from ntpverdicts.vocabulary import enclosed as enclosed_step

Floats = NDArray[np.float64]

DIGITS = 60
FLOATS = 1e-11  # W_kq* and W are floats, of which the terms are made with many digits
LATE = r"$t \ge t_0$"
BETA = 2  # the constant of beta_0; the page says why 1 would do
SIX = (LATE, *FACTS)


# The terms of a sample


@dataclass(frozen=True)
class Terms:
    """What a sample adds to the two projections, by the formula of Lemma 4, without A and pi.

    All are numbers of mpmath. Differences of scores stand where the paper subtracts a mean, since
    masses of attention sum to one; so nothing cancels.

    Attributes:
        place: the sample in words.
        plus: phi_+, the mass on the optimal token.
        minus: phi_-, the mass off it.
        miss: 1 - T of the right next token.
        A_t: sum over optimal positions of (T - 1) phi (a - mean), a being the scores of W.
        A_star: the same with the scores r W_kq*.
        B_plus_t: sum over the others of T phi (phi_+ a - optimal part of the mean), for W.
        B_plus_star: the same for r W_kq*.
        B_minus_t: sum over the others of T phi (phi_- a - other part of the mean), for W.
        B_minus_star: the same for r W_kq*.
        size: sum of T phi phi over pairs of the others, the size of B_- for differences of 1.
    """

    place: str
    plus: Any
    minus: Any
    miss: Any
    A_t: Any
    A_star: Any
    B_plus_t: Any
    B_plus_star: Any
    B_minus_t: Any
    B_minus_star: Any
    size: Any


@dataclass(frozen=True, eq=False)
class Stage2State:
    """A state of stage 2.

    Attributes:
        name: data, step size and step in words.
        problem: the data.
        late: whether its step is t_0 or later.
        gap: A.
        weights: (K,), the entries of W_kq.
    """

    name: str
    problem: Problem
    late: bool
    gap: float
    weights: Floats

    @property
    def w(self) -> Any:
        """||W_kq||."""
        return mp.sqrt(mp.fsum(mp.mpf(x) ** 2 for x in self.weights))

    @property
    def s(self) -> Any:
        """||W_kq*||."""
        return mp.sqrt(mp.mpf(self.problem.norm_squared.numerator)
                       / self.problem.norm_squared.denominator)  # fmt: skip

    def beta_0(self, factor: float = BETA) -> Any:
        """factor L_max^2 s^2 (1 + log(2 L_max w)) / w."""
        L = self.problem.max_length
        return factor * (L * self.s) ** 2 * (1 + mp.log(2 * L * self.w)) / self.w

    def terms(self) -> list[Terms]:
        """Those of each merged sample."""
        r, star = self.w / self.s, self.problem.W_kq_star
        return [self._terms(i, r, star) for i in range(len(self.problem.optimal))]

    def _terms(self, i: int, r: Any, star: Floats) -> Terms:
        """Those of one merged sample."""
        one = self.problem
        inside = slice(one.start[i], one.start[i + 1])
        best, rivals = int(one.optimal[i]), [int(x) for x in one.rival[inside]]
        shares = [mp.mpf(int(c)) / int(one.optimal_count[i]) for c in one.rival_count[inside]]
        gaps = [mp.mpf(self.weights[best]) - mp.mpf(self.weights[x]) for x in rivals]
        ideal = [r * (mp.mpf(star[best]) - mp.mpf(star[x])) for x in rivals]
        odds = [c * mp.exp(-gap) for c, gap in zip(shares, gaps, strict=True)]  # m_j / m_o by (9)
        seen = loss_and_force(odds, self.gap, one.vocab_size)
        plus, wrong = seen.m_o, seen.near
        masses = [plus * part for part in odds]
        minus = mp.fsum(masses)
        T_o = 1 / (1 + seen.X)
        miss = seen.X * T_o

        def part(differences: list[Any]) -> tuple[Any, Any, Any]:
            """A, B_+ and B_- for a matrix whose optimal scores lead by these differences."""
            # Lemma 4 as printed, whose terms the bounds of this page are about
            A = -miss * plus * mp.fsum(m * d for m, d in zip(masses, differences, strict=True))
            B_plus = (
                -T_o
                * plus
                * mp.fsum(T * m * d for T, m, d in zip(wrong, masses, differences, strict=True))
            )
            B_minus = T_o * mp.fsum(
                wrong[j] * masses[j] * masses[k] * (differences[k] - differences[j])
                for j in range(len(masses))
                for k in range(len(masses))
            )
            return A, B_plus, B_minus

        (A_t, plus_t, minus_t), (A_star, plus_star, minus_star) = part(gaps), part(ideal)
        size = T_o * mp.fsum(T * m for T, m in zip(wrong, masses, strict=True)) * minus
        place = f"merged sentence {i}"
        return Terms(
            place, plus, minus, miss, A_t, A_star, plus_t, plus_star, minus_t, minus_star, size
        )

    def type_1(self, sample: Terms, factor: float = BETA) -> bool:
        """Whether phi_- >= exp(-(1 + beta_0 / 2) r)."""
        edge = (1 + self.beta_0(factor) / 2) * self.w / self.s
        return bool(mp.log(sample.minus) >= -edge)


def last_state(run: Run) -> Stage2State:
    """The end of a run."""
    step = run.second.state.step
    late = step >= bounds.lem_7_start(run.constants)
    name = f"{run.name}, step {step}"
    return Stage2State(name, run.problem, late, run.second.gap, run.second.state.weights)


@once
def _two_tokens(log_ratio: float, steps: int, gap: float | None = None) -> Stage2State:
    """Two sentences, one rarer than the other, after some steps of size 0.36 and with this gap."""
    problem = rare.rare_problem(log_ratio)
    run = rare.rare_run(log_ratio, 0, rare.ETA)
    gap = rare.rare_gap() if gap is None else gap
    found = training.run(problem, steps, rare.ETA, gap, record=[])
    late = steps >= bounds.lem_7_start(run.constants)
    words = "equally frequent" if not log_ratio else f"one ${power_of_e(log_ratio)}$ times rarer"
    name = f"two sentences, {words}, $A = {gap:.3g}$, step {steps}"
    return Stage2State(name, problem, late, gap, found.state.weights)


def states(seed: int = 7, sets: int = 10, steps: int = 2000) -> Iterator[Stage2State]:
    """Two tokens, equally frequent and not, early and late; and the ends of prefix-closed runs."""
    yield from edges()
    yield from rare_states()
    for run in instances.frequent_runs(seed, sets, steps):
        if run.problem.prefix_closed:
            yield last_state(run)


def states_and_two_rivals(
    seed: int = 7, sets: int = 10, steps: int = 2000
) -> Iterator[Stage2State]:
    """The same, and a state at which B_-^(n,t) is negative."""
    yield from two_rivals()
    yield from states(seed, sets, steps)


def edges() -> list[Stage2State]:
    """Equally frequent sentences, long after t_0: beta_0 is small, and the bounds are near."""
    return [_two_tokens(0.0, 50), _two_tokens(0.0, 30_000), _two_tokens(0.0, 30_000, 0.1)]


def uneven_states() -> list[Stage2State]:
    """One of two sentences e^10 times rarer, long after t_0: the other has a margin above r."""
    return [_two_tokens(10.0, 30_000)]


@cache
def two_rivals() -> list[Stage2State]:
    """Three tokens in turn: some sentence holds one rival twice and another once, after t_0."""
    lines = [list("bcabca"), list("cabcab"), list("abcabc")]
    problem = from_dataset(from_sentences(lines, "three tokens in turn"))
    run = train("three tokens in turn", problem, eta0=0.1, eta=1.0, steps1=30, steps=100)
    return [last_state(run)]


@cache
def five_tokens() -> list[Stage2State]:
    """The data on which the closed form of Proposition 2 fails; they are not prefix-closed."""
    singles = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "q"), ("q", "a")]
    longer = [("a c q", "b"), ("a d q", "b"), ("b q", "c")]
    problem = from_dataset(from_samples([*singles, *longer], "five tokens"))
    run = train("five tokens", problem, eta0=0.1, eta=1.0, steps1=30, steps=3)
    return [last_state(run)]


def rare_states() -> list[Stage2State]:
    """A sentence so rare that the other is of type 2 already, with a large and a small gap."""
    return [_two_tokens(600.0, 300), _two_tokens(600.0, 300, 0.1)]


def kept(state: Stage2State, closed: bool = True) -> Iterator[Said]:
    """The hypotheses in force, or why a state is left out.

    Args:
        state: the state.
        closed: whether data that are not prefix-closed, and states before t_0, are left out.
    """
    if closed and not state.problem.prefix_closed:
        yield left_out("the data are not prefix-closed")
    elif not state.problem.frequent:
        yield left_out("Assumption 3 fails")
    elif closed and not state.late:
        yield left_out("before $t_0$")
    else:
        yield assume(LATE, state.late)
        yield from facts_of_problem(state.problem)


def near(left: Any, right: Any, where: str) -> Compared:
    """left <= right for numbers of mpmath, as a bound."""
    return replace(digits.at_most(left, right, where), bound=True)


def judged(state: Stage2State, closed: bool = True) -> tuple[list[Said], list[Terms]]:
    """What is said of a state, and its samples if it is judged."""
    said = list(kept(state, closed))
    return said, [] if isinstance(said[0], LeftOut) else state.terms()


def at_least_of_type_1(
    state: Stage2State,
    left: Callable[[Terms], Any],
    right: Callable[[Terms, Any], Any],
    sharper: float,
    factor: float,
) -> Iterator[Said]:
    """left >= right / sharper for samples of type 1, and how near they come.

    Args:
        state: the state.
        left: of a sample; negative.
        right: of a sample and beta_0; negative.
        sharper: what the right side is divided by.
        factor: that of beta_0.
    """
    with mp.workdps(DIGITS):
        said, samples = judged(state)
        yield from said
        beta = state.beta_0(factor)
        for one in samples:
            if state.type_1(one):
                low = right(one, beta)
                yield near(low / sharper, left(one), one.place)
                yield most("most", float(left(one) / low), digits=3)


SHARPER = {"The right-hand side 1.1 times sharper.": {"sharper": 1.1}}
TIGHT: Mapping[str, Variant | Mapping[str, Any]] = {
    **SHARPER,
    r"$\beta_0$ left out of the right-hand side, on data with a sentence whose margin under "
    r"$W_{\mathrm{kq}}$ exceeds $r$.": Variant({"factor": 0.0}, instances=uneven_states),
}
BETA_R = executed(
    r"$\beta_0 r/2 = L^2 s (1 + \lambda) \ge 1 + \lambda$, with $s = \|W_{\mathrm{kq}}^*\|$ and "
    r"$\lambda = \log(2 L w)$",
    steps.beta_times_r,
    planted={r"1 in place of the 2 of $\beta_0$.": {"beta": 1}},
)
STAR = executed(
    r"$s^2 \ge x^2 + y^2 \ge \frac12$ for two scores $x \ge y + 1$ of one query in "
    r"$W_{\mathrm{kq}}^*$",
    steps.least_star,
    planted={r"$\frac35$ in place of $\frac12$.": {"half": "3/5"}},
)
NORM = uses("huang2024-lem-6", r"$w = \|W_{\mathrm{kq}}\| \ge 4 s$ from $t_0$ on")
A_STAR = uses("huang2024-app-lem-7-a-star", r"$A^{(n,*)} \le -(1 - T_o)\,\phi_+ \phi_-\, r$")


# The bounds on A


@check(
    "huang2024-app-lem-7-a-star",
    over="states",
    instances=states,
    says=r"Each margin of $W_{\mathrm{kq}}^*$ is at least 1, and the attention weights of a "
    "sentence sum to 1. At {tried} states of training on prefix-closed data, for {compared} "
    "sentences, the bound on $A^{(n,*)}$ holds, with equality up to rounding.",
    tolerance=FLOATS,
    hypotheses=SIX,
    proof=(
        by_hand(
            r"$a_o^* - \sum_x m_x a_x^* = \sum_j m_j (a_o^* - a_j^*)$, where each difference is "
            "at least $r$",
            at="margins",
        ),
    ),
    planted={
        **SHARPER,
        r"$\phi_+$ left out of the right-hand side, where it is $\frac12$.": Variant(
            {"without": True}, instances=rare_states
        ),
    },
)
def check_huang2024_app_lem_7_a_star(
    state: Stage2State, sharper: float = 1.0, without: bool = False
) -> Iterator[Said]:
    """A^(n,*) <= -(1 - T) phi_+ phi_- r, for every sample that compares."""
    with mp.workdps(DIGITS):
        said, samples = judged(state)
        yield from said
        for one in samples:
            right = -sharper * one.miss * one.minus * state.w / state.s
            yield near(one.A_star, right if without else right * one.plus, one.place)


@check(
    "huang2024-app-lem-7-a-t",
    over="states",
    instances=states,
    says=r"For $\tau > 0$, non-optimal tokens that score more than $\tau$ below the optimal one "
    r"have at most $e^{-\tau}$ of the attention at each position, and the other non-optimal tokens "
    r"contribute at most $\phi_- \tau$ to the sum in $A^{(n,t)}$. "
    r"At {tried} states, for {compared} sentences of type 1 ($\phi_- \ge e^{-(1 + "
    r"\beta_0/2) r}$), "
    r"$-A^{(n,t)}$ is at most {most} times $-(1 + \beta_0)\, A^{(n,*)}$.",
    tolerance=FLOATS,
    hypotheses=SIX,
    proof=(
        A_STAR,
        NORM,
        STAR,
        BETA_R,
        by_hand(r"$A^{(n,t)} \ge -(1 - T_o)\,\phi_+ \phi_-\,(1 + \log(2 L w/\phi_-))$", at="split"),
        executed(
            r"$1 + \lambda + (1 + \frac12\beta_0)\, r \le (1 + \beta_0)\, r$",
            steps.own_direction,
            planted={r"$\beta_0$ left out.": {"beta": 0}},
        ),
    ),
    planted=TIGHT,
)
def check_huang2024_app_lem_7_a_t(
    state: Stage2State, sharper: float = 1.0, factor: float = BETA
) -> Iterator[Said]:
    """A^(n,t) >= (1 + beta_0) A^(n,*) for samples of type 1."""
    yield from at_least_of_type_1(
        state, lambda one: one.A_t, lambda one, beta: (1 + beta) * one.A_star, sharper, factor
    )


# The bounds on B


@check(
    "huang2024-app-lem-7-b-star",
    over="states",
    instances=states,
    says=r"Under prefix closure a query has at most one optimal token, so $W_{\mathrm{kq}}^*$ "
    "gives all other tokens of a sentence the same score. At {tried} states, in {compared} "
    "comparisons, $B_-^{(n,*)}$ is zero up to rounding, and $B^{(n,*)}$ is negative.",
    tolerance=FLOATS,
    hypotheses=SIX,
    proof=(
        uses("ours-prefix-closure", "a query has at most one optimal token"),
        uses(
            "ours-complete-order",
            "if a query has one optimal token and $m$ other compared tokens, each of these scores "
            r"$-\frac{1}{1 + m}$",
        ),
        by_hand(
            "so each difference in $B_-^{(n,*)}$ is zero, and $B_+^{(n,*)}$ is negative", at="equal"
        ),
    ),
    planted={
        r"Five tokens without prefix closure, after three steps: $W_{\mathrm{kq}}^*$ gives "
        "non-optimal tokens different scores.": Variant({"closed": False}, instances=five_tokens),
        "The opposite sign of $B_+^{(n,*)}$.": {"sign": -1},
    },
)
def check_huang2024_app_lem_7_b_star(
    state: Stage2State, closed: bool = True, sign: int = 1
) -> Iterator[Said]:
    """B_-^(n,*) = 0, and B^(n,*) = B_+^(n,*) <= 0."""
    with mp.workdps(DIGITS):
        said, samples = judged(state, closed)
        yield from said
        for one in samples:
            apart = one.B_minus_star / one.size * state.s / state.w
            yield equal(float(apart), 0.0, f"{one.place}, $B_-^{{(n,*)}}$", scale=1.0)
            yield holds(
                bool(sign * one.B_plus_star < 0), f"{one.place}, $B_+^{{(n,*)}}$ is negative"
            )


@check(
    "huang2024-app-lem-7-b-plus",
    over="states",
    instances=states,
    says=r"In a negative term of $B_+^{(n,t)} - (1 + \beta_0)\, B_+^{(n,*)}$, the rival scores "
    r"more than $(1 + \beta_0)\, r$ below the optimal token and has almost no attention. At "
    r"{tried} states, for {compared} sentences of type 1 ($\phi_- \ge e^{-(1 + \beta_0/2) r}$), "
    r"$-B_+^{(n,t)}$ is at most {most} times $-(1 + \beta_0)\, B_+^{(n,*)} - \beta_0\, "
    "A^{(n,*)}$.",
    tolerance=FLOATS,
    hypotheses=SIX,
    proof=(
        A_STAR,
        NORM,
        STAR,
        by_hand(
            r"only negative terms are kept, each at least $-2 w e^{-(1 + \beta_0) r}$", at="dropped"
        ),
        executed(
            r"$2 L s e^{-\beta_0 r/2} \le \beta_0$",
            steps.dropped_terms,
            planted={r"$1/L^4$ in place of the $L$ in $\log(2 L w)$.": {"length": "1/L**4"}},
        ),
    ),
    planted=TIGHT,
)
def check_huang2024_app_lem_7_b_plus(
    state: Stage2State, sharper: float = 1.0, factor: float = BETA
) -> Iterator[Said]:
    """B_+^(n,t) >= (1 + beta_0) B_+^(n,*) + beta_0 A^(n,*) for samples of type 1."""
    yield from at_least_of_type_1(
        state,
        lambda one: one.B_plus_t,
        lambda one, beta: (1 + beta) * one.B_plus_star + beta * one.A_star,
        sharper,
        factor,
    )


@check(
    "huang2024-app-lem-7-b-minus",
    over="states",
    instances=states_and_two_rivals,
    says="The argument is the same as for $A^{(n,t)}$, with the mean score of the non-optimal "
    "tokens in place of the optimal score. At {tried} states, for {compared} sentences of type 1 "
    r"($\phi_- \ge e^{-(1 + \beta_0/2) r}$), $-B_-^{(n,t)}$ is at most {most} times $-\beta_0\, "
    "A^{(n,*)}$.",
    tolerance=FLOATS,
    hypotheses=SIX,
    loose="$B_-^{(n,t)}$ is negative only where one non-optimal token occurs more often than "
    "another, and there it has two factors $e^{-r}$; at all states of the check its size is "
    "less than $10^{-50}$ of the bound",
    proof=(
        A_STAR,
        NORM,
        STAR,
        uses("huang2024-lem-5", r"$\phi_+ \ge 1/L$"),
        by_hand(r"$B_-^{(n,t)} \ge -L (1 - T_o)\,\phi_-\,(1 + \log(2 w))$", at="split"),
        executed(
            r"$L (1 + \log(2 w)) \le \beta_0 r \phi_+$",
            steps.rivals_alone,
            planted={r"$\phi_+ \ge 1/L^2$ in place of $1/L$.": {"share": "L**2"}},
        ),
    ),
    planted={
        "The right-hand side multiplied by $e^{-3r}$.": Variant(
            {"power": 3.0}, instances=two_rivals
        ),
        r"$\beta_0$ left out: $B_-^{(n,t)} \ge 0$.": Variant({"factor": 0.0}, instances=two_rivals),
    },
)
def check_huang2024_app_lem_7_b_minus(
    state: Stage2State, factor: float = BETA, power: float = 0.0
) -> Iterator[Said]:
    """B_-^(n,t) >= beta_0 A^(n,*) for samples of type 1."""
    with mp.workdps(DIGITS):
        said, samples = judged(state)
        yield from said
        shrunk = mp.exp(-power * state.w / state.s)
        for one in samples:
            if state.type_1(one):
                right = shrunk * state.beta_0(factor) * one.A_star
                yield near(right, one.B_minus_t, one.place)
                if factor and not power:
                    yield most("most", float(one.B_minus_t / right), digits=1)


# The two types


@check(
    "huang2024-app-lem-7-type-1",
    over="states",
    instances=states,
    says="The bounds on $A^{(n,t)}$, $B_+^{(n,t)}$, and $B_-^{(n,t)}$ are added. At {tried} "
    r"states, for {compared} sentences of type 1 ($\phi_- \ge e^{-(1 + \beta_0/2) r}$), "
    r"$-(A^{(n,t)} + B^{(n,t)})$ is at most {most} times $-(1 + 3\beta_0)\bigl(A^{(n,*)} + "
    r"B^{(n,*)}\bigr)$.",
    tolerance=FLOATS,
    hypotheses=SIX,
    proof=(
        uses("huang2024-app-lem-7-a-t", r"$A^{(n,t)} \ge (1 + \beta_0)\, A^{(n,*)}$"),
        uses(
            "huang2024-app-lem-7-b-plus",
            r"$B_+^{(n,t)} \ge (1 + \beta_0)\, B_+^{(n,*)} + "
            r"\beta_0\, A^{(n,*)}$",
        ),
        uses("huang2024-app-lem-7-b-minus", r"$B_-^{(n,t)} \ge \beta_0\, A^{(n,*)}$"),
        uses("huang2024-app-lem-7-b-star", r"$B^{(n,*)} = B_+^{(n,*)} \le 0$"),
        executed(
            "the sum of the three bounds",
            steps.type_1_sum,
            planted={r"$1 + 2\beta_0$ in place of $1 + 3\beta_0$.": {"parts": 2}},
        ),
    ),
    planted=TIGHT,
)
def check_huang2024_app_lem_7_type_1(
    state: Stage2State, sharper: float = 1.0, factor: float = BETA
) -> Iterator[Said]:
    """A^(n,t) + B^(n,t) >= (1 + 3 beta_0) (A^(n,*) + B^(n,*)) for samples of type 1."""
    yield from at_least_of_type_1(
        state,
        lambda one: one.A_t + one.B_plus_t + one.B_minus_t,
        lambda one, beta: (1 + 3 * beta) * (one.A_star + one.B_plus_star + one.B_minus_star),
        sharper,
        factor,
    )


@check(
    "huang2024-app-lem-7-type-2",
    over="states",
    instances=states,
    says=r"The contribution of a sample of type 2 ($\phi_- < e^{-(1 + \beta_0/2) r}$) is "
    "negligible. At {tried} states, for {compared} pairs of a sentence of type 2 and a violated "
    r"one, $-(A^{(n,t)} + B^{(n,t)})$ is at most {most} times $-\beta_0\, A^{(n_0,*)}$.",
    tolerance=FLOATS,
    hypotheses=SIX,
    loose=r"for a sample of type 2, the bound on $-(A^{(n,t)} + B^{(n,t)})$ in the proof has a "
    r"factor $e^{-\beta_0 r/2} \le 1/(2 L w)^2$, although a factor $\beta_0$ would suffice; at all "
    r"states of the check, $-(A^{(n,t)} + B^{(n,t)})$ is less than $10^{-50}$ of the stated bound",
    proof=(
        A_STAR,
        NORM,
        STAR,
        uses("huang2024-lem-5", r"$\phi_+ \ge 1/L$ in $n_0$"),
        uses("huang2024-app-lem-7-comparison", "$1 - T_o$ is not larger in $n$ than in $n_0$"),
        by_hand(
            r"$A^{(n,t)}$ and $B^{(n,t)}$, each at least a multiple of $e^{-(1 + \beta_0/2) r}$",
            at="both",
        ),
        executed(
            r"with $\lambda = \log(2 L w) > 0$, $\phi (1 + \lambda - \log\phi)$ increases with "
            r"$\phi$ up to 1",
            steps.grows,
            planted={r"$-\lambda$ in place of $\lambda$.": {"sign": -1}},
        ),
        executed(
            r"$L^2 (1 + \beta_0 + 2 s) e^{-\beta_0 r/2} \le \beta_0$",
            steps.type_2_sum,
            planted={r"$\beta_0 = 0$.": {"beta": 0}},
        ),
    ),
    planted={
        "Any sample in place of a sample of type 2.": {"any_type": True},
        "The right-hand side multiplied by $e^{-2r}$.": {"power": 2.0},
    },
)
def check_huang2024_app_lem_7_type_2(
    state: Stage2State, any_type: bool = False, power: float = 0.0
) -> Iterator[Said]:
    """A^(n,t) + B^(n,t) >= beta_0 A^(n_0,*), n of type 2 and n_0 violated: phi_- >= e^-r / L."""
    with mp.workdps(DIGITS):
        said, samples = judged(state)
        yield from said
        beta, shrunk = state.beta_0(), mp.exp(-power * state.w / state.s)
        for n, n_0 in pairs(state, samples, any_type):
            left, right = n.A_t + n.B_plus_t + n.B_minus_t, beta * n_0.A_star
            yield near(shrunk * right, left, f"{n.place} against {n_0.place}")
            yield most("most", float(left / right), digits=1)


def pairs(
    state: Stage2State, samples: list[Terms], any_type: bool = False
) -> Iterator[tuple[Terms, Terms]]:
    """A sample of type 2, or of any type, with one that has phi_- >= e^-r / L_max."""
    edge = -state.w / state.s - mp.log(state.problem.max_length)
    for n in samples:
        for n_0 in samples:
            if (any_type or not state.type_1(n)) and mp.log(n_0.minus) >= edge:
                yield n, n_0


# Sentences of type 2 against the violated one


@dataclass(frozen=True)
class TwoSamples:
    """Attention in two sentences with different queries, so that any masses go together.

    Attributes:
        first: masses of the rivals in the sample n_0.
        second: the same in the sample n.
        gap: A.
        vocab_size: |V|.
    """

    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    gap: Fraction
    vocab_size: int

    @property
    def name(self) -> str:
        """The masses in words."""
        parts = (", ".join(map(str, masses)) for masses in (self.first, self.second))
        return "non-optimal tokens of mass {} in $n_0$ and {} in $n$, $A$ = {}".format(
            *parts, self.gap
        )

    def miss(self, masses: tuple[Fraction, ...]) -> Any:
        """1 - T of the right next token, a ball at the working precision."""
        right = 1 - sum(masses, Fraction(0))
        x = [enclosure.exact(m / right) for m in masses]
        gap = enclosure.exact(self.gap)
        X = loss_and_force(x, gap, self.vocab_size, exp=arb.exp, total=sum).X
        return X / (1 + X)


QUARTERS = (Fraction(1, 4), Fraction(1, 4))


def shared_and_alone() -> list[TwoSamples]:
    """Rivals that share a mass against one that has some of it alone."""
    found = []
    for gap in (Fraction(1, 10), Fraction(10), Fraction(40)):
        for mass in (Fraction(1, 4), Fraction(1, 10), Fraction(9, 20)):
            found.append(TwoSamples(QUARTERS, (mass,), gap, 5))
        found.append(TwoSamples((Fraction(1, 2),), QUARTERS, gap, 4))
        found.append(TwoSamples((Fraction(1, 20),) * 10, (Fraction(1, 4),), gap, 12))
    return found


def sentences_and_states(
    seed: int = 7, sets: int = 10, steps: int = 2000
) -> Iterator[TwoSamples | Stage2State]:
    """Sentences with any masses, and those of the states of this page."""
    yield from shared_and_alone()
    yield from states(seed, sets, steps)


@check(
    "huang2024-app-lem-7-comparison",
    over="pairs of sentences and states",
    instances=sentences_and_states,
    says=r"With $X_* = (|\mathcal V| - 1)\, e^{-A}$, the odds of a wrong prediction lie between "
    r"$X_* e^{A\phi_-}$ and $X_* e^{2A\phi_-}$. In a sentence of type 2, $\phi_-$ is at most half "
    "as large as in a violated sentence. So the right next token is at least as probable in the "
    "sentence of type 2. Ball arithmetic confirms this for pairs of sentences with prescribed "
    f"attention; a computation with {DIGITS} digits confirms it at states of training. "
    "There are {compared} comparisons on {tried} instances; {types} of the comparisons are at "
    "these states, with a sample of type 2.",
    fails="A sentence with at most half as much attention on its non-optimal tokens as another "
    "one has a less probable next token.",
    tolerance=FLOATS,
    proof=(
        executed(
            r"$\sum_j (e^{A m_j} - 1) \le e^{A\phi_-} - 1$, by induction on the number of rivals",
            steps.one_more_rival,
            planted={"The next rival counted twice.": {"times": 2}},
        ),
        executed(
            r"$X_* e^{A\phi_-} \le X \le X_* e^{2A\phi_-}$ for the odds $X = (1 - T_o)/T_o$",
            steps.odds,
            planted={r"$e^{A\phi_-}$ in place of $e^{2A\phi_-}$ in the upper bound.": {"power": 1}},
        ),
        NORM,
        STAR,
        executed(
            r"$L e^{-\beta_0 r/2} \le \frac12$: $\phi_-$ of a sample of type 2 is at most half of "
            r"$\phi_-$ of the violated sample",
            steps.at_most_half,
            planted={r"1 in place of the 2 of $\beta_0$.": {"beta": 1}},
        ),
        executed(
            r"$e^{2A\phi_-^{(n)}} \le e^{A\phi_-^{(n_0)}}$, so the odds of an error in $n$ are at "
            "most the odds of an error in $n_0$",
            steps.chain,
            planted={
                r"$\phi_-^{(n)} \le \phi_-^{(n_0)}$ in place of $2\phi_-^{(n)} \le "
                r"\phi_-^{(n_0)}$.": {"power": 1}
            },
        ),
    ),
    planted={
        "$1 - T_o$ of $n_0$, the bound, 1.1 times sharper.": {"sharper": Fraction(11, 10)},
        "Nine tenths as much attention on the non-optimal tokens, in place of half.": {
            "share": Fraction(9, 10)
        },
    },
    readings={
        "the paper's reason: any smaller attention on the non-optimal tokens suffices": {
            "share": Fraction(99, 100)
        },
    },
)
def check_huang2024_app_lem_7_comparison(
    one: TwoSamples | Stage2State, share: Fraction = Fraction(1, 2), sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """T^(n_0) <= T^(n) where phi_-^(n) <= phi_-^(n_0) / 2; so for n of type 2 and n_0 violated."""
    if isinstance(one, Stage2State):
        with mp.workdps(DIGITS):
            said, samples = judged(one)
            yield from said
            for n, n_0 in pairs(one, samples):
                place = f"{n.place}, $1 - T_o$ relative to {n_0.place}"
                yield near(n.miss, n_0.miss * sharper.denominator / sharper.numerator, place)
                yield count("types")
        return
    if sum(one.second) > share * sum(one.first):
        yield left_out(r"$\phi_-$ of $n$ is more than half of that of $n_0$")
        return
    with ctx.workdps(40):
        first, second = ends.lower(one.miss(one.first)), ends.upper(one.miss(one.second))
        yield at_most(second, first / sharper, "$1 - T_o$ of $n$ relative to that of $n_0$")


@once
def shared_and_one(mass: Fraction = Fraction(9, 20)) -> tuple[Shown, ...]:
    """1 - T with one rival of mass 9/20 exceeds 1 - T with two rivals of mass 1/4; A = 40, |V| = 5.

    Args:
        mass: of the one rival.
    """
    one = TwoSamples(QUARTERS, (mass,), Fraction(40), 5)
    with ctx.workdps(40):
        alone, together = ends.lower(one.miss(one.second)), ends.upper(one.miss(one.first))
    name = f"$1 - T_o$, one non-optimal token of mass {mass} against two of mass 1/4"
    return (relation(name, alone, ">", together, alone - together),)


@check(
    "ours-lem-7-reason",
    over="pairs of sentences",
    instances=lambda: [TwoSamples(QUARTERS, (Fraction(9, 20),), Fraction(40), 5)],
    says="Ball arithmetic: for $A = 40$ and five tokens, two non-optimal tokens that share half "
    "of the attention give the probability $1 - T_o = {together}$ of a wrong prediction, and a "
    "single one with nine twentieths of the attention gives {alone}.",
    proof=(
        enclosed_step(
            "$1 - T_o$ of both sentences",
            shared_and_one,
            planted={r"One non-optimal token of mass $\frac15$.": {"mass": Fraction(1, 5)}},
        ),
    ),
    planted={
        "The sentences exchanged.": Variant(
            instances=lambda: [TwoSamples((Fraction(9, 20),), QUARTERS, Fraction(40), 5)]
        ),
        "$1 - T_o$ of $n_0$ a thousand times as large.": {"times": 1000},
        "$1 - T_o$ of $n_0$, the bound, 1.1 times sharper, for small $A$.": Variant(
            {"times": Fraction(11, 10)},
            instances=lambda: [TwoSamples(QUARTERS, (Fraction(9, 20),), Fraction(1), 5)],
        ),
    },
)
def check_ours_lem_7_reason(one: TwoSamples, times: Fraction = Fraction(1)) -> Iterator[Said]:
    """phi_-^(n) < phi_-^(n_0), and yet 1 - T^(n) > 1 - T^(n_0)."""
    with ctx.workdps(40):
        first, second = ends.upper(one.miss(one.first)), ends.lower(one.miss(one.second))
    yield below(sum(one.second), sum(one.first), "the attention on the non-optimal tokens")
    yield below(times * first, second, "1 - T")
    if one.gap == 40:
        yield result("together", float(first), digits=2)
        yield result("alone", ends.down(second, 4), digits=2)


# The last display


ETA = Fraction(9, 25)  # a little below ||W_kq*|| / e
START = 45  # t_0 = 8 L_max ||W_kq*||^2 / eta, rounded up, with L_max = 2 and ||W_kq*|| = 1


@dataclass(frozen=True)
class Weighted:
    """The sentences 0 1 0 and 1 0 1 with their beginnings, the second one rarer, at a step.

    Attributes:
        log_10: the first occurs 10^log_10 times for each time that the second does.
        step: t.
    """

    log_10: int
    step: int

    @property
    def name(self) -> str:
        """The data in words."""
        if not self.log_10:
            return f"two tokens, all sentences equally frequent, step {self.step}"
        return f"two tokens, one sentence $10^{{{self.log_10}}}$ times rarer, step {self.step}"

    @property
    def counts(self) -> tuple[int, ...]:
        """How often 0, 0 1, 1 and 1 0 occur."""
        return (10**self.log_10, 10**self.log_10, 1, 1)

    def terms(self) -> list[tuple[Fraction, Fraction]]:
        """Frequency and A^(n,*), to nine digits behind the point, of the samples of type 1.

        Raises:
            ValueError: the balls do not tell of which type a sample is.
        """
        setting = replace(paper_setting(rare.two_tokens()), eta_squared=ETA**2)
        often = dict(zip(("1", "0"), self.counts[1::2], strict=True))  # 0 1 and 1 0, by their query
        terms = tuple(replace(one, weight=often[one.query]) for one in setting.terms)
        setting = replace(setting, terms=terms)
        (state,) = enclosure.enclose(setting, self.step, {self.step})
        found, r = [], enclosure.norm(state)  # as ||W_kq*|| = 1
        with ctx.workprec(state.bits):
            gap = enclosure.exact(setting.A_squared).sqrt()
            beta_0 = BETA * 4 * (1 + (4 * r).log()) / r
            edge = -(1 + beta_0 / 2) * r
            for one, minus in zip(terms, enclosure.missed_attention(state), strict=True):
                if minus.log() >= edge:
                    miss = 1 / (1 + (gap * (1 - 2 * minus)).exp())
                    term = ends.upper(-miss * (1 - minus) * minus * r)
                    found.append((Fraction(one.weight, sum(self.counts)), term))
                elif not minus.log() < edge:
                    raise ValueError(f"{self.name}: the type of a sample is not certain")
        return found


EQUAL, RARE = Weighted(0, 300), Weighted(200, 300)


@check(
    "huang2024-app-lem-7-weights",
    over="states",
    instances=lambda: [EQUAL, RARE],
    says="Among the samples of type 1, the largest term $A^{(n,*)}$ is at least $N$ times the "
    r"sum of all terms $\pi^{(n)} A^{(n,*)}$.",
    fails="The frequent sentence already has almost all attention on its optimal token (type 2). "
    "Only the rare sentence is of type 1, and its term enters the sum with a weight far below "
    "$1/N$.",
    hypotheses=SIX,
    planted={
        "All four samples equally frequent, for which the statement is correct.": Variant(
            instances=lambda: [EQUAL], expected=Verdict.NOT_CONTRADICTED
        ),
        r"$1/\pi_{\min}$ in place of $N$, with which the statement is correct.": Variant(
            {"rarity": True}, expected=Verdict.NOT_CONTRADICTED
        ),
        r"$1/\pi_{\min}$, 1.1 times sharper.": {"rarity": True, "sharper": Fraction(11, 10)},
    },
)
def check_huang2024_app_lem_7_weights(
    one: Weighted, rarity: bool = False, sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """max A^(n_0,*) >= N sum pi^(n) A^(n,*), over the samples of type 1, at t >= t_0."""
    yield assume(LATE, one.step >= START)
    yield from facts(rare.two_tokens())
    rarest = Fraction(sum(one.counts), min(one.counts))  # 1 / pi_min
    factor = rarest if rarity else Fraction(len(one.counts))
    terms = one.terms()
    total = sum((pi * term for pi, term in terms), Fraction(0))
    yield at_least(max(term for _, term in terms), factor * total / sharper)
