"""Checks of what the abstract and Section 5.2 say of loss and accuracy beside Theorem 2."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage1.stage1_claims import law_identities
from ntpbook.shared.attention import attention
from ntpbook.shared.said import settle
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.logs import log_expm1
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # logarithms of sums of a few hundred terms, of a size of up to some thousands
LINEAR = (0.9, 1.1)  # exponents of t in -log(L - L*) over the last decade that count as linear

# Section 5.2, after Theorem 2


def check_huang2024_app_accuracy(
    runs: Iterable[Run], times: float = 3.0, **parameters: int
) -> Check:
    """Weights of 1/(1 + eps) and A >= 3 log(|V|/eps) give the right token with probability 1 - eps.

    Args:
        runs: runs; at the recorded end eps is read off, and A put to `times` log(|V| / eps).
        times: the factor 3.
        parameters: what repeats the runs.
    """
    import sympy as sp

    eps, s = sp.symbols("eps s", positive=True)
    share = 2 / (1 + eps) - 1
    third = sp.factor((share - sp.Rational(1, 3)).subs(eps, 1 / (2 + s)))
    symbols = {
        "2 m - 1 = (1 - eps)/(1 + eps)": sp.simplify(share - (1 - eps) / (1 + eps)) == 0,
        "which is 1/3 at least up to eps = 1/2": bool(third.is_nonnegative),
        "that weights come to 1/(1 + eps) on all data": False,
    }
    fault, tried, least, stuck = "", 0, math.inf, 0
    for run in runs:
        weights = run.second.state.weights
        own = attention(run.problem, weights, run.second.gap)
        log_eps = float((own.rest - own.best).max())
        if log_eps > math.log(0.5):
            continue
        tried += 1
        A = times * (math.log(run.problem.vocab_size) - log_eps)
        missing = float(attention(run.problem, weights, A).missing.max())
        least = min(least, log_eps - missing)
        stuck += int(own.missing.max() > log_eps + math.log(100))
        if missing > log_eps + ROUNDING and not fault:
            fault = f"{run.name}: log eps = {log_eps:.3g}, log of what is missing {missing:.3g}"
    return settle(
        "huang2024-app-accuracy",
        symbols=symbols,
        fault=fault,
        tried=tried,
        unit="trained models",
        evidence="The wrong tokens have at most (|V| - 1) e^(-A (2 m_o - 1)) of the probability, "
        f"which is below eps. On {tried} trained models, with eps read off the weights and A = 3 "
        "log(|V|/eps), so it is.",
        numbers={"runs": str(tried), "stuck": str(stuck)},
        parameters=parameters,
        by_hand=("the right logit leads each other one by A (2 m_o - 1) at least",),
        readings=(
            Reading("T and t both grow with log(1/ε)", Verdict.CONSISTENT),
            Reading(
                "T grows with another log(1/ε₀) and t alone with log(1/ε): what W_ov leaves to "
                "wrong tokens does not fall",
                Verdict.REFUTED if stuck else Verdict.OPEN,
            ),
        ),
    )


def control_huang2024_app_accuracy(runs: Iterable[Run]) -> Control:
    """A first stage that is too short leaves more than eps."""
    return Control(
        "A of half of log(|V|/eps) only.",
        Verdict.REFUTED,
        check_huang2024_app_accuracy(runs, times=0.5).verdict,
    )


# Section 5.2, the footnote to Theorem 2


def check_huang2024_app_loss_excess(
    runs: Iterable[Run], rate: float = 1.0, **parameters: int
) -> Check:
    """(4) implies L - |V| e^(-T C_0) <= 2 (e - 1) L_max T C_0 |V| e^(-T C_0) e^(-C_1 t).

    Where T C_0 u <= 1, with u = 2 L_max / (L_max + e^(C_1 t)).

    Args:
        runs: runs.
        rate: factor of C_1; above 1 it is a planted error.
        parameters: what repeats the runs.
    """
    import sympy as sp

    x, L, s = sp.symbols("x L s", positive=True)
    chord = (sp.E - 1) * x - sp.exp(x) + 1
    symbols = {
        "e^x - 1 lies below its chord on [0, 1]": bool((-sp.diff(chord, x, 2)).is_positive)
        and chord.subs(x, 0) == 0
        and sp.expand(chord.subs(x, 1)) == 0,
        "u <= 2 L e^-s": bool(
            sp.simplify(2 * L / s - 2 * L / (L + s)).is_positive  # s stands for e^(C_1 t)
        ),
    }
    fault, tried, points, above = "", 0, 0, 0
    for run in runs:
        tried += 1
        c, rows = run.constants, run.second.rows
        t = rows.step.astype(float)
        log_u = math.log(2) - np.logaddexp(0.0, bounds.thm_2_log_odds(c, t))
        small = np.log(c.steps1 * c.C0) + log_u <= 0
        slack = _excess_slack(c, t[small], log_u[small], rate)
        points += len(slack)
        above += int(bounds.loss_floor_printed(c) > bounds.loss_floor(c))
        if len(slack) and slack.min() < -ROUNDING and not fault:
            fault = f"{run.name}, step {int(t[small][slack.argmin()])}"
    return settle(
        "huang2024-app-loss-excess",
        symbols=symbols,
        fault=fault,
        tried=tried,
        unit="runs",
        evidence="The right-hand side of (4) is |V| e^(-T C_0) e^(T C_0 u), e^x - 1 is at most "
        f"(e - 1) x up to x = 1, and u at most 2 L_max e^(-C_1 t); at {points} steps of {tried} "
        "runs the numbers agree.",
        numbers={"runs": str(tried), "points": str(points), "above": str(above)},
        parameters=parameters,
        readings=(
            Reading("L* is the number |V| exp(-T C₀) that the footnote gives", Verdict.PROVED),
            Reading(
                "L* is the least loss: (4) tends to something larger, and implies nothing",
                Verdict.REFUTED if above == tried else Verdict.OPEN,
            ),
        ),
    )


def _excess_slack(c: bounds.Constants, t: Floats, log_u: Floats, rate: float) -> Floats:
    """Log of the claimed excess minus that of (4), both divided by |V| e^(-T C_0)."""
    left = log_expm1(math.log(c.steps1 * c.C0) + log_u)
    right = math.log(2 * (math.e - 1) * c.max_length * c.steps1 * c.C0) - rate * c.C1 * t
    slack: Floats = right - left
    return slack


def control_huang2024_app_loss_excess(runs: Iterable[Run]) -> Control:
    """At twice the rate the excess of (4) is larger."""
    return Control(
        "The rate 2 C_1 in place of C_1.",
        Verdict.REFUTED,
        check_huang2024_app_loss_excess(runs, rate=2.0).verdict,
    )


# Abstract


def loss_exponent(run: Run) -> float:
    """Exponent of t in -log(L - L*) over the last decade of a run, from its value at step 1."""
    rows = run.second.rows
    late = (rows.step >= rows.step[-1] / 10) & (rows.step > 1)
    fallen = rows.log_excess[1] - rows.log_excess[late]
    if not (fallen > 0).all():
        return -math.inf
    return float(np.polyfit(np.log(rows.step[late]), np.log(fallen), 1)[0])


def check_huang2024_app_linear_loss(runs: Iterable[Run], **parameters: int) -> Check:
    """The losses fall exponentially: log L_0 exactly, log(L - L*) in the long run.

    Args:
        runs: long runs.
        parameters: what repeats them.
    """
    laws = law_identities()
    broken = [name for name in ("loss", "loss by e^-s, late") if laws[name] != 0]
    fault, exponents, rates = "; ".join(broken), [], []
    for run in runs:
        exponents.append(loss_exponent(run))
        rows, c = run.second.rows, run.constants
        half = int(np.argmax(rows.step >= rows.step[-1] / 2))
        fall = float(rows.log_excess[half] - rows.log_excess[-1])
        rates.append(fall / float(rows.step[-1] - rows.step[half]) * c.norm_kq / c.eta)
        if not LINEAR[0] <= exponents[-1] <= LINEAR[1] and not fault:
            fault = f"{run.name}: -log(L - L*) grows like t to the power {exponents[-1]:.2f}"
    low, high = min(exponents, default=0), max(exponents, default=0)
    return settle(
        "huang2024-app-linear-loss",
        symbols={},
        fault=fault,
        tried=len(exponents),
        unit="long runs",
        evidence="L_0 falls exponentially by the exact law. On "
        f"{len(exponents)} long runs -log(L - L*) grows like t to the power {low:.2f} to "
        f"{high:.2f} over the last decade of steps.",
        numbers={
            "runs": str(len(exponents)),
            "low": f"{low:.2f}",
            "high": f"{high:.2f}",
            "least_rate": f"{min(rates, default=0):.2f}",
            "most_rate": f"{max(rates, default=0):.2f}",
        },
        parameters=parameters,
        by_hand=("the induction of the exact law of stage 1",),
    )


def control_huang2024_app_linear_loss(run: Run) -> Control:
    """A loss that falls like a power of t must be noticed."""
    rows = run.second.rows
    slow = replace(rows, log_excess=-4 * np.log1p(rows.step.astype(float)))
    return Control(
        "A loss whose excess falls like the fourth power of 1/t.",
        Verdict.REFUTED,
        check_huang2024_app_linear_loss(
            [replace(run, second=replace(run.second, rows=slow))]
        ).verdict,
    )
