"""Checks of what the paper says of stage 1 beside its numbered statements, in Section 5.1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage1.stage1_claims import (
    TOLERANCE,
    First,
    cyclic_run,
    first_stage,
    law_identities,
)
from ntpbook.shared.said import settle
from ntpcore.huang2024 import bounds, stage1
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIZES = (2, 3, 5, 20, 50)
# A logarithm of a sum of exponentials, rounded some hundred times.
ROUNDING = 1e-12


def log_loss(following: Integers, W: Floats) -> float:
    """log L_0 at a matrix."""
    rows, _ = stage1.iterate(following, 0, 1.0, start=W)
    return float(rows.log_loss[0])


def cycle(size: int) -> Integers:
    """The collocation x -> x + 1, which stands for all: L_0 does not look at the order of rows."""
    return (np.arange(size) + 1) % size


# Section 5.1, after equation (2)


def check_huang2024_app_stage_1_limit(sizes: Sequence[int] = SIZES, short: float = 0.0) -> Check:
    """L_0(B W_ov*) tends to 0 as B grows.

    Args:
        sizes: vocabularies on which the loss is computed.
        short: by how much one margin of the matrix falls short of 1; 0 is right.
    """
    import sympy as sp

    m, B = sp.symbols("m B", positive=True)
    loss = (m + 1) * sp.log(1 + m * sp.exp(-B))
    slope = sp.simplify(sp.diff(loss, B) * (sp.exp(B) + m))  # -(m + 1) m
    symbols = {
        "the loss at B W*": law_identities()["loss"] == 0,
        "its limit": sp.limit(loss, B, sp.oo) == 0,
        "that it falls": bool((-slope).is_positive),
    }
    fault, tried, last = "", 0, 0.0
    for size in sizes:
        star = stage1.W_ov_star(cycle(size))
        star[2 % size, 0] += short
        for B_value in (1.0, 10.0, 100.0, 1000.0):
            tried += 1
            found = log_loss(cycle(size), B_value * star)
            claimed = math.log(size * (size - 1)) - B_value  # log(1 + s) <= s
            if found > claimed + ROUNDING * B_value and not fault:
                fault = f"|V| = {size}, B = {B_value:g}: log L_0 = {found:.3g} > {claimed:.3g}"
            last = max(last, math.exp(found)) if B_value == 100 else last
    return settle(
        "huang2024-app-stage-1-limit",
        symbols=symbols,
        fault=fault,
        tried=tried,
        unit="matrices",
        evidence="For symbolic |V| the loss at B W* is |V| log(1 + (|V| - 1) e^-B), which falls "
        f"to 0; computed on {tried} matrices it stays below |V| (|V| - 1) e^-B, and is at most "
        f"{last:.0e} at B = 100.",
        numbers={"tried": str(tried), "at_100": f"{last:.0e}"},
        by_hand=("entries of a column other than n(x) are alike, so one of them stands for all",),
    )


def control_huang2024_app_stage_1_limit() -> Control:
    """A matrix with one margin of 0 leaves a loss of log 2."""
    return Control(
        "W_ov* with one of its margins brought down to 0.",
        Verdict.REFUTED,
        check_huang2024_app_stage_1_limit(short=1.0).verdict,
    )


# Section 5.1, before Proposition 1


def check_huang2024_app_convex(trials: int, seed: int = 7, logarithm: bool = True) -> Check:
    """L_0 is convex: its second derivative is a variance, and no chord lies below the graph.

    Args:
        trials: random pairs of matrices.
        seed: of the matrices.
        logarithm: whether the loss has its logarithm; without it, it is the missing probability.
    """
    rng = np.random.default_rng(seed)
    fault, worst = "", math.inf
    for trial in range(trials):
        size = int(rng.integers(2, 9))
        scale = 10.0 ** rng.uniform(-1, 1.3)
        one, other = rng.normal(size=(2, size, size)) * scale
        values = [_loss(cycle(size), W, logarithm) for W in (one, other, (one + other) / 2)]
        slack = (values[0] + values[1]) / 2 - values[2]
        slack /= 1 + abs(values[0]) + abs(values[1])
        worst = min(worst, slack)
        if slack < -ROUNDING and not fault:
            fault = f"pair {trial}, |V| = {size}: the chord is {-slack:.1g} below the middle"
    return settle(
        "huang2024-app-convex",
        symbols=variance_identities(),
        fault=fault,
        tried=trials,
        unit="random pairs of matrices",
        evidence="Along any direction the second derivative of each summand is the variance of "
        "the direction's entries under the predicted probabilities, half a sum of squares for any "
        f"|V|; on {trials} random pairs of matrices no chord lies below the graph.",
        numbers={"tried": str(trials), "worst": f"{worst:.1g}"},
        parameters={"seed": seed},
        by_hand=("a sum of convex functions is convex, and W -> W x is linear",),
    )


def _loss(following: Integers, W: Floats, logarithm: bool) -> float:
    """L_0, or the sum of the missing probabilities as a planted error."""
    if logarithm:
        return math.exp(log_loss(following, W))
    shifted = np.exp(W - W.max(axis=0))
    return float((1 - (shifted / shifted.sum(axis=0))[following, np.arange(len(W))]).sum())


@lru_cache
def variance_identities() -> dict[str, bool]:
    """That the Hessian of log sum exp is a variance, and that a variance is a sum of squares.

    With S_k = sum_i p_i v_i^k for any number of terms, half the double sum of p_i p_j (v_i -
    v_j)^2 is S_2 S_0 - S_1^2, and S_0 = 1.
    """
    import sympy as sp

    z, v = sp.symbols("z:3", real=True), sp.symbols("v:3", real=True)
    s = sp.symbols("s", real=True)
    lse = sp.log(sum(sp.exp(a + s * b) for a, b in zip(z, v, strict=True)))
    second = sp.diff(lse, s, 2).subs(s, 0)
    p = [sp.exp(a) / sum(sp.exp(b) for b in z) for a in z]
    mean = sum(q * b for q, b in zip(p, v, strict=True))
    variance = sum(q * (b - mean) ** 2 for q, b in zip(p, v, strict=True))
    first, square, a, b = sp.symbols("S1 S2 v_i v_j", real=True)
    # any number of terms: Z^(k) / Z is the moment S_k
    moments = sp.diff(sp.log(sp.Function("Z")(s)), s, 2)
    Z = sp.Function("Z")(s)
    by_moments = sp.diff(Z, s, 2) / Z - (sp.diff(Z, s) / Z) ** 2
    double = sp.expand((a - b) ** 2 / 2)
    summed = double.coeff(a, 2) * square + double.coeff(b, 2) * square
    summed += double.coeff(a, 1).coeff(b, 1) * first**2
    return {
        "the Hessian for three entries": sp.simplify(second - variance) == 0,
        "the Hessian by moments, any number": sp.simplify(moments - by_moments) == 0,
        "the variance as a sum of squares": sp.expand(summed - (square - first**2)) == 0,
    }


def control_huang2024_app_convex() -> Control:
    """The missing probability is not convex."""
    return Control(
        "The probability of a wrong token in place of minus the log of that of the right one.",
        Verdict.REFUTED,
        check_huang2024_app_convex(40, logarithm=False).verdict,
    )


# Section 5.1, after Proposition 1


def check_huang2024_app_stage_1_rate(
    runs: Iterable[Run], faster: float = 1.0, **parameters: int
) -> Check:
    """Direction O(log t / t), norm linear in t, and L_0 = O(e^(-C_0 t)), C_0 = eta_0 / ||W*||.

    Args:
        runs: the runs.
        faster: factor of the rate; above 1 it is a planted error.
        parameters: what repeats the runs.
    """
    fault, tried = "", 0
    for run in runs:
        tried += 1
        off = _rate_faults(first_stage(run), faster)
        if off and not fault:
            fault = f"{run.name}: {off}"
    laws = law_identities()
    return settle(
        "huang2024-app-stage-1-rate",
        symbols={name: value == 0 for name, value in laws.items()},
        fault=fault,
        tried=tried,
        unit="runs, and every |V| at least 2 by symbols",
        evidence="By the exact law the cosine is 1, the norm t eta_0, and the loss at most |V| "
        "(|V| - 1) e^(-C_0 t) with C_0 = eta_0/||W*||, which is its limit, too; on "
        f"{tried} runs the iteration agrees.",
        numbers={"runs": str(tried)},
        parameters=parameters,
        by_hand=("the induction of the exact law", "log(1 + s) is at most s"),
    )


def _claimed(first: First, faster: float) -> Floats:
    """log |V| (|V| - 1) - C_0 t."""
    c = first.constants
    rate = faster * bounds.prop_1_loss_rate(c, exact=True)
    claimed: Floats = math.log(c.vocab_size * (c.vocab_size - 1)) - rate * first.time
    return claimed


def _rate_faults(first: First, faster: float) -> str:
    """The first of the three parts that an iteration does not show, or nothing."""
    rows, later = first.rows, first.rows.step >= 1
    over = rows.log_loss - _claimed(first, faster)
    if (over > TOLERANCE * (1 + first.time)).any():
        at = int(rows.step[over > TOLERANCE * (1 + first.time)][0])
        return f"at step {at} the loss is above |V| (|V| - 1) e^(-C_0 t)"
    if (
        np.abs(rows.norm[later] / (first.time[later] * first.constants.eta0) - 1) > TOLERANCE
    ).any():
        return "the norm is not t eta_0"
    if (rows.one_minus_cos[later] > TOLERANCE).any():
        return "the direction is not that of W*"
    return ""


def control_huang2024_app_stage_1_rate() -> Control:
    """No larger rate will do: one part in a hundred is noticed."""
    check = check_huang2024_app_stage_1_rate([cyclic_run(4, 0.5, 900)], faster=1.01)
    return Control("The rate larger by one part in a hundred.", Verdict.REFUTED, check.verdict)
