"""The sums by which Theorem 1 follows from Lemmas 6 and 7 (Appendix C.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage1.steps import one_over_t
from ntpbook.shared import rare
from ntpbook.shared.symbols import at_least_zero, identity
from ntpbook.shared.symbols import at_most as symbols_at_most
from ntpcore.data.dataset import from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import paper_rates, train
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, at_most, count, left_out
from ntpverdicts.once import once
from ntpverdicts.vocabulary import by_hand, check, executed, uses

Floats = NDArray[np.float64]

STEPS = 3000  # of a run, all of them recorded
SUM = 1e-11  # a sum of thousands of terms of one sign, each rounded at 1e-16 of its size


@dataclass(frozen=True)
class EveryStep:
    """Every step of a run of stage 2 from zero.

    Attributes:
        name: data and step size.
        c: what the bounds depend on.
        norms: ||W^(t)|| at t = 0, 1, ...
        along: <W^(t), W_kq_star> / ||W_kq_star|| there.
    """

    name: str
    c: bounds.Constants
    norms: Floats
    along: Floats


@once
def path(name: str, share: float) -> EveryStep:
    """A run with a share of the largest step size that the proof allows, ||W_kq_star|| / e."""
    problem: Problem = from_dataset(example_1()) if name == "Example 1" else rare.rare_problem(0.0)
    eta = share * problem.norm / math.e
    return walked(name, problem, eta)


def walked(name: str, problem: Problem, eta: float) -> EveryStep:
    """A run with this step size, all of its steps recorded."""
    run = train(
        name,
        problem,
        eta0=paper_rates(problem.vocab_size)[0],
        eta=eta,
        steps1=rare.STEPS_1,
        steps=STEPS,
        record=range(STEPS + 1),
    )
    rows = run.second.rows
    along = np.append(0.0, rows.norm[1:] * (1 - rows.one_minus_cos[1:]))
    return EveryStep(f"{name}, $\\eta = {eta:.3g}$", run.constants, rows.norm, along)


@cache
def one_pair() -> EveryStep:
    """0 1 -> 0 beside 0 -> 1 and 1 -> 0: t_0 eta is nearly as large as it can be, 8.26 of 9."""
    data = from_samples([("0", "1"), ("1", "0"), ("0 1", "0")], "one pair")
    return walked("one pair", from_dataset(data), 0.258)


def paths() -> list[EveryStep]:
    """Example 1 and the two-token data at the largest step size and a third of it; one pair."""
    names = ("Example 1", "two tokens")
    return [*(path(name, share) for name in names for share in (1.0, 1 / 3)), one_pair()]


# What the proof uses


def one_step(share: int = 2, part: str = "1") -> Iterator[Shown]:
    """With a, b the norms after and before, p = <dW, W>/b: p >= a - b - eta^2/(2 b), and p <= eta.

    a^2 = b^2 + 2 b p + eta^2 as the step has the length eta. And p / (1 + alpha) is p less its
    share alpha / (1 + alpha).

    Args:
        share: the 2 of eta^2 / (2 b).
        part: of eta alpha / (1 + alpha).
    """
    import sympy as sp

    a, b, eta, alpha = sp.symbols("a b eta alpha", positive=True)
    p, slack = sp.symbols("p", real=True), sp.symbols("slack", nonnegative=True)
    found = sp.solve(b**2 + 2 * b * p + eta**2 - a**2, p)[0]
    rest = sp.factor(found - (a - b - eta**2 / (share * b)))
    yield identity(r"$p - (a - b - \eta^2/(2b))$", rest, (a - b) ** 2 / (2 * b))
    less = p / (1 + alpha) - (p - sp.sympify(part) * eta * alpha / (1 + alpha))
    room = sp.factor(less.subs(p, eta - slack))
    yield at_least_zero(
        r"$p/(1 + \alpha) - p + \eta\alpha/(1 + \alpha)$, $p = \eta - "
        r"\text{slack}$",
        room,
    )


def alpha_by_the_norm(factor: int = 8) -> Iterator[Shown]:
    """alpha falls with the norm, and at Lemma 6's norm it is as displayed.

    (1 + log(2 L r)) / r has the slope -log(2 L r) / r^2, and 2 L r >= 1 from t_0 on. At
    r = t eta / (2 L s), s = ||W*||, the factor is 8 N L^3 s^3 / (t eta), and what stands beside it
    is log t less log(s / (e eta)), which is not negative for eta <= s / e.

    Args:
        factor: the 8 of the claim.
    """
    import sympy as sp

    N, L, s, t, r, more = sp.symbols("N L s t r more", positive=True)
    eta = sp.symbols("eta", positive=True)
    alpha = 4 * N * L**2 * s**2 / r * (1 + sp.log(2 * L * r))
    slope = sp.diff(alpha, r).subs(r, (1 + more) / (2 * L))  # 2 L r = 1 + more
    yield at_least_zero(r"minus the slope at $2 L r = 1 + \text{more}$", sp.simplify(-slope))
    at = alpha.subs(r, t * eta / (2 * L * s))
    shown = factor * N * L**3 * s**3 / (t * eta) * (sp.log(sp.E * eta / s) + sp.log(t))
    yield identity(r"$\alpha$ at the norm of Lemma 6", at, shown)
    smaller = sp.log(sp.E * eta / s).subs(eta, s / (sp.E * (1 + more)))
    yield at_least_zero(
        r"$-\log(\mathrm e\,\eta/s)$, $\eta = s/(\mathrm e (1 + \text{more}))$",
        sp.simplify(-smaller),
    )


def norm_at_t_0(first: str = "9") -> Iterator[Shown]:
    """t_0 eta <= eta + 8 L s^2 <= 9 L s^2 for eta <= s / e: s / e <= L s^2 with L >= 2, s >= 7/10.

    Args:
        first: the 9 of the claim.
    """
    import sympy as sp

    k, d = sp.symbols("k d", nonnegative=True)
    L, s = 2 + k, sp.Rational(7, 10) + d  # 1 / sqrt(2) > 7 / 10, and 1 / e < 2 / 5
    largest = sp.Rational(2, 5) * s + 8 * L * s**2
    yield symbols_at_most(
        r"$\frac25 s + 8 L s^2$ against $9 L s^2$", largest, sp.sympify(first) * L * s**2
    )


def last_line(last: int = 54) -> Iterator[Shown]:
    """36 L^2 s^3 + 2 eta L^2 s^2 log t + 16 N L^4 s^4 log^2 t <= 54 N L^4 s^4 log^2 t, t >= 2.

    With eta = s / e, its largest, L = 2 + k, s = 1/sqrt(2) + d, N = 1 + m, log t = log 2 + u.

    Args:
        last: the 54 of the claim.
    """
    import sympy as sp

    k, d, m, u = sp.symbols("k d m u", nonnegative=True)
    L, s, N, log_t = 2 + k, 1 / sp.sqrt(2) + d, 1 + m, sp.log(2) + u
    left = 36 * L**2 * s**3 + 2 * s / sp.E * L**2 * s**2 * log_t + 16 * N * L**4 * s**4 * log_t**2
    yield _least(last * N * L**4 * s**4 * log_t**2 - left, "the remainder")


def early(last: int = 54) -> Iterator[Shown]:
    """At t < t_0 the bound exceeds 1: t eta < 9 L s^2 and log t >= log 2.

    Args:
        last: the 54 of the claim.
    """
    import sympy as sp

    k, d = sp.symbols("k d", nonnegative=True)
    L, s = 2 + k, 1 / sp.sqrt(2) + d
    bound = sp.cancel(last * L**4 * s**4 / (9 * L * s**2)) * sp.log(2) ** 2
    yield _least(bound - 1, "the bound - 1")


def _least(polynomial: Any, name: str) -> Shown:
    """That all coefficients of a polynomial in symbols that are not negative are positive."""
    import sympy as sp

    room = sp.expand(polynomial)
    least = min(sp.Poly(room, *sorted(room.free_symbols, key=str)).coeffs())
    found = sp.N(least, 3)
    text = str(found)
    return Shown(f"the smallest coefficient of {name}", text, ">", "0", text, bool(least > 0))


# The row


def lines(
    one: EveryStep, sum_1: float, sum_2: float, last: float
) -> Iterator[tuple[str, Floats, Floats]]:
    """Name, smaller and larger side of each line of the proof, at t = t_0 + 1, t_0 + 2, ..."""
    c, t_0 = one.c, bounds.lem_7_start(one.c)
    L, s, N = c.max_length, c.norm_kq, c.sample_count
    norms, t = one.norms, np.arange(t_0 + 1, len(one.norms))
    before = norms[t_0:-1]
    alpha = np.exp(bounds.log_lem_7_alpha(c, before))
    step = np.diff(norms[t_0:]) - c.eta**2 / (2 * before) - c.eta * alpha / (1 + alpha)
    yield "a step", step, np.diff(one.along[t_0:])
    log_t = np.log(t)
    yield r"the sum of $1/\|W\|$", np.cumsum(1 / before), sum_1 * L * s / c.eta * log_t
    claimed = sum_2 * N * (L * s) ** 3 / c.eta * log_t**2
    yield r"the sum of $\alpha/(1 + \alpha)$", np.cumsum(alpha / (1 + alpha)), claimed
    yield r"the sum of $\alpha$", np.cumsum(alpha), claimed
    lost = 18 * L * s**2 + c.eta * L * s * log_t + 8 * N * (L * s) ** 3 * log_t**2
    yield "the norm minus the component along $W^*$", norms[t] - one.along[t], lost
    yield "the last line", 2 * L * s * lost, last * N * (L * s) ** 4 * log_t**2


@check(
    "huang2024-app-thm-1-sums",
    over="runs",
    instances=paths,
    says=r"Given Lemmas 6 and 7 and $\eta \le \|W_{\mathrm{kq}}^*\|/\mathrm e$, each line of the "
    "proof of Theorem 1 follows from the line before, and the constant 54 suffices. On {tried} "
    "runs with every step from $t_0$ on recorded, all lines hold, in {compared} comparisons.",
    tolerance=SUM,
    proof=(
        uses("huang2024-lem-6", r"$t\eta/(2 L \|W_{\mathrm{kq}}^*\|) \le \|W\|$"),
        executed(
            "one step: the growth of the norm and of the component along $W^*$",
            one_step,
            planted={
                r"$\eta^2/\|W\|$ in place of $\eta^2/(2\|W\|)$.": {"share": 1},
                r"Half of $\eta\alpha/(1 + \alpha)$.": {"part": "1/2"},
            },
        ),
        executed(
            r"the displayed bound on $\alpha_{t'}$, from $t_0$ on",
            alpha_by_the_norm,
            planted={"7 in place of 8.": {"factor": 7}},
        ),
        executed(
            r"$1/t' \le \log t' - \log(t' - 1)$",
            one_over_t,
            planted={r"$\frac{11}{10}$ of $1/t'$.": {"factor": "11/10"}},
        ),
        by_hand(r"the sums of $1/t'$ and of $\log(t')/t'$ over $t_0 \le t' < t$ are at most $\log "
        r"t$ and $\log^2 t$; the bound on what the steps from $t_0$ on add to the norm minus the "
        "component along $W^*$",
                at="sums"),
        executed(
            r"$\|W^{(t_0)}\| \le t_0\eta \le 9 L \|W_{\mathrm{kq}}^*\|^2$",
            norm_at_t_0,
            planted={"8 in place of 9.": {"first": "8"}},
        ),
        executed(
            r"the bound of Theorem 1, the last line of the proof, for every $t \ge 2$",
            last_line,
            planted={"42 in place of 54, in the symbolic last line.": {"last": 42}},
        ),
        executed(
            "before $t_0$ the bound of Theorem 1 exceeds 1",
            early,
            planted={"4 in place of 54, in the bound before $t_0$.": {"last": 4}},
        ),
    ),
    planted={
        r"The first sum with $\frac1{10}$ in place of its 2.": {"sum_1": 0.1},
        r"The second sum with $\frac1{10}$ in place of its 8.": {"sum_2": 0.1},
        "15 in place of 54, in the last line on the runs.": {"last": 15.0},
        r"$9 L \|W_{\mathrm{kq}}^*\|^2$, the bound on the norm at $t_0$, 1.1 times "
        "sharper.": {"first": 9 / 1.1},
    },
)  # fmt: skip
def check_huang2024_app_thm_1_sums(
    one: EveryStep, sum_1: float = 2.0, sum_2: float = 8.0, last: float = 54.0, first: float = 9.0
) -> Iterator[Said]:
    """Every line of the proof of Theorem 1, at every step from t_0 on, and the norm at t_0.

    Args:
        one: the run.
        sum_1: factor of L ||W*|| log t / eta, which bounds the sum of 1 / ||W||.
        sum_2: factor of N L^3 ||W*||^3 log^2 t / eta, which bounds the sum of alpha.
        last: the constant of Theorem 1.
        first: factor of L ||W*||^2, which bounds ||W|| at t_0.
    """
    t_0 = bounds.lem_7_start(one.c)
    if t_0 + 1 >= len(one.norms):
        yield left_out("the run ends before $t_0$")
        return
    claimed = first * one.c.max_length * one.c.norm_kq**2
    yield at_most(float(one.norms[t_0]), claimed, "the norm at $t_0$")
    for name, smaller, larger in lines(one, sum_1, sum_2, last):
        steps = np.arange(t_0 + 1, t_0 + 1 + len(smaller))
        yield arrays.at_most(smaller, larger, f"{name}, $t$ = {{at}}", at=steps)
    yield count("steps", len(one.norms) - 1 - t_0)
