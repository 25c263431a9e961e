"""Checks of displays in Appendices B and C.1: in two proofs, and of the common margin A."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage1.stage1_app import SIZES, cycle, log_loss
from ntpbook.huang2024.s5_stage1.stage1_claims import (
    TOLERANCE,
    cyclic_run,
    first_stage,
    law_identities,
)
from ntpbook.shared.said import settle
from ntpcore.huang2024 import stage1
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

# Norms and logarithms of sums of up to a few thousand rounded terms.
ROUNDING = 1e-11


def matrices(trials: int, seed: int) -> Iterator[Floats]:
    """Random matrices near and far from W_ov*, of norms from 0.1 to some thousands."""
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        size = SIZES[trial % len(SIZES)]
        near = 10.0 ** rng.uniform(-8, 1)
        W = stage1.W_ov_star(cycle(size)) + near * rng.normal(size=(size, size))
        yield W * 10.0 ** rng.uniform(-1, 3) / np.linalg.norm(W)


def ratio(W: Floats) -> float:
    """||W|| / ||W_ov*||."""
    return float(np.linalg.norm(W)) / stage1.norm_star(len(W))


def check_huang2024_app_lem_2_lower(trials: int, seed: int = 7, share: float = 1.0) -> Check:
    """Some margin is at most r = ||W|| / ||W*||, so L_0(W) >= log(1 + e^-r) >= e^-r / 2.

    Args:
        trials: random matrices.
        seed: of the matrices.
        share: factor of r; below 1 it is a planted error.
    """
    import sympy as sp

    top, n = sp.symbols("w n", positive=True)
    low = sp.symbols("S", real=True)  # sum of the other entries of a column
    z = sp.symbols("z", nonnegative=True)
    projection = top * (1 - 1 / n) - low / n  # column of W* times column of W
    margins = ((n - 1) * top - low) / n  # 1 / n times the sum of the column's margins
    rise = sp.log(1 + z) - z / 2
    symbols = {
        "<W*, W> is the sum of all margins by |V|": sp.simplify(projection - margins) == 0,
        "log(1 + z) - z/2 is concave": bool((-sp.diff(rise, z, 2)).simplify().is_nonnegative),
        "and not negative at 0 and 1": rise.subs(z, 0) == 0 and bool(rise.subs(z, 1) > 0),
    }
    fault, closest = "", math.inf
    for W in matrices(trials, seed):
        r, following = ratio(W), cycle(len(W))
        margin = W[following, np.arange(len(W))] - W
        margin[following, np.arange(len(W))] = np.inf
        least, found = float(margin.min()), log_loss(following, W)
        closest = min(closest, (r - least) / r)
        if least > share * r + ROUNDING * r and not fault:
            fault = f"|V| = {len(W)}, r = {r:.3g}: all margins exceed {share:g} r"
        if found < math.log(math.log1p(math.exp(-share * r))) - ROUNDING * r and not fault:
            fault = f"|V| = {len(W)}, r = {r:.3g}: log L_0 = {found:.3g}"
    return settle(
        "huang2024-app-lem-2-lower",
        symbols=symbols,
        fault=fault,
        tried=trials,
        unit="random matrices",
        evidence="The margins of W sum up to |V| <W*, W>, which is at most |V| ||W*|| ||W||, so "
        "that one of them is at most r; log(1 + z) >= z/2 on [0, 1] by concavity. On "
        f"{trials} random matrices both hold, the least margin coming to {closest:.0e} of r.",
        numbers={"tried": str(trials), "closest": f"{closest:.0e}"},
        parameters={"seed": seed},
        by_hand=(
            "Cauchy and Schwarz, and the number |V| (|V| - 1) of margins",
            "one summand of the loss is at most the loss",
        ),
    )


def control_huang2024_app_lem_2_lower() -> Control:
    """With half the ratio both inequalities are wrong near W*."""
    return Control(
        "Half of ||W|| / ||W*|| in the place of the whole.",
        Verdict.REFUTED,
        check_huang2024_app_lem_2_lower(20, share=0.5).verdict,
    )


def check_huang2024_app_lem_2_upper(trials: int, seed: int = 7, times: int = 2) -> Check:
    """W' = (r + 2 log(2|V|)) W* has a loss of at most e^-r / 2, and of at most L_0(W).

    Args:
        trials: random matrices W.
        seed: of the matrices.
        times: how often log(2|V|) is added; the paper has 2.
    """
    import sympy as sp

    m = sp.symbols("m", positive=True)
    n = m + 1
    symbols = {
        "n (n - 1) / (2n)^2 <= 1/4": bool(sp.simplify(sp.Rational(1, 4) - n * m / (2 * n) ** 2) > 0)
    }
    fault, most = "", 0.0
    for W in matrices(trials, seed):
        r, size = ratio(W), len(W)
        far = stage1.W_ov_star(cycle(size)) * (r + times * math.log(2 * size))
        found = log_loss(cycle(size), far)
        most = max(most, math.exp(found + r))
        above = found > min(-r - math.log(2), log_loss(cycle(size), W)) + ROUNDING * (1 + r)
        if above and not fault:
            fault = f"|V| = {size}, r = {r:.3g}: L_0(W') = {math.exp(found + r):.3g} e^-r"
    return settle(
        "huang2024-app-lem-2-upper",
        symbols=symbols,
        fault=fault,
        tried=trials,
        unit="random matrices",
        evidence="The loss at s W* is |V| log(1 + (|V| - 1) e^-s), at most |V| (|V| - 1) e^-s; "
        "with s = r + 2 log(2|V|) this is less than e^-r / 4 for every |V|. On "
        f"{trials} random matrices it is at most {most:.3f} e^-r and below L_0(W).",
        numbers={"tried": str(trials), "most": f"{most:.3f}"},
        parameters={"seed": seed},
        by_hand=("log(1 + s) is at most s", "with the lower bound on L_0(W), the last part"),
        readings=tuple(
            Reading(
                f"the damaged factor of the last line is {text}",
                Verdict.PROVED if most <= value else Verdict.REFUTED,
            )
            for text, value in (("1/2", 0.5), ("1/4", 0.25))
        ),
    )


def control_huang2024_app_lem_2_upper() -> Control:
    """With log(2|V|) added once the loss is too large from three tokens on."""
    return Control(
        "log(2|V|) added once in place of twice.",
        Verdict.REFUTED,
        check_huang2024_app_lem_2_upper(20, times=1).verdict,
    )


def check_huang2024_app_prop_1_sum(most_steps: int, begin: int = 2) -> Check:
    """The two sums and the last step of the proof of Proposition 3.

    Args:
        most_steps: the largest t that is summed to.
        begin: first term of the sums; the paper has 2.
    """
    import sympy as sp

    s = sp.symbols("s", nonnegative=True)
    under = sp.diff(-sp.log(1 - s) - s, s).subs(s, 1 / (1 + sp.symbols("u", positive=True)))
    worst = sp.log(2) * (2 * sp.log(4) - 1)  # at |V| = 2 and t = 2, where it is smallest
    symbols = {
        "1/t <= log t - log(t - 1)": bool(sp.simplify(under).is_positive),
        "1 <= ||W*|| (2 log(2|V|) - 1) log t": bool(worst > 1),
    }
    sums = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(begin, most_steps))])
    t = np.arange(begin, most_steps + 1)
    over = sums > np.log(t) + ROUNDING
    fault = f"t = {t[over][0]}: the sum of 1/t' is {sums[over][0]:.3g}" if over.any() else ""
    small, large = (_last_step(most_steps, factor) for factor in (0.5, 50.0))
    return settle(
        "huang2024-app-prop-1-sum",
        symbols=symbols,
        fault=fault or (f"2 eta_0 = ||W*||: {small}" if small else ""),
        tried=len(t),
        unit="numbers of steps",
        evidence="1/t' <= log t' - log(t' - 1), so the sums are at most log t times their first "
        f"factors; summed up to t = {most_steps} they are. The last step holds if 2 eta_0 <= "
        "||W*||, which the proof uses without saying so.",
        numbers={"steps": str(most_steps), "slack": f"{float((np.log(t) - sums).min()):.3f}"},
        by_hand=("log(2|V|), log t and ||W*|| grow with |V| and t, so the smallest case decides",),
        readings=(
            Reading("with 2η₀ ≤ ‖W*‖", Verdict.PROVED),
            Reading(
                "the last step for every η₀" + (f"; {large}" if large else ""),
                Verdict.REFUTED if large else Verdict.CONSISTENT,
            ),
        ),
    )


def _last_step(most_steps: int, factor: float) -> str:
    """Where ||W^(2)|| + 2 eta_0 ||W*|| log t + 4 ||W*||^2 log(2|V|) log t exceeds what it must not.

    That is 6 ||W*||^2 log(2|V|) log t, half of the 12 of the result; eta_0 is `factor` times
    ||W*||, and ||W^(2)|| = 2 eta_0 by the exact law.
    """
    for size in SIZES:
        star = stage1.norm_star(size)
        eta0, log_size = factor * star, math.log(2 * size)
        for t in (2, 3, 10, most_steps):
            left = 2 * eta0 + (2 * eta0 * star + 4 * star**2 * log_size) * math.log(t)
            if left > 6 * star**2 * log_size * math.log(t):
                return f"fails at |V| = {size}, t = {t}, η₀ = {factor:g}‖W*‖"
    return ""


def control_huang2024_app_prop_1_sum() -> Control:
    """A sum from 1 on exceeds log t."""
    return Control(
        "The sums begun at t' = 1 in place of 2.",
        Verdict.REFUTED,
        check_huang2024_app_prop_1_sum(1000, begin=1).verdict,
    )


# Appendix C.1, after Corollary 1


def check_huang2024_app_constant_a(
    runs: Iterable[Run], scale: float = 0.0, **parameters: int
) -> Check:
    """After stage 1 all margins are one number A, a fixed multiple of the printed one.

    Args:
        runs: the runs.
        scale: of the entries of a random start; the statement is about 0.
        parameters: what repeats the runs.
    """
    fault, tried, ratios = "", 0, []
    for run in runs:
        tried += 1
        first = first_stage(run, scale)
        later = first.rows.step >= 1
        low, high = first.rows.least_gap[later], first.rows.greatest_gap[later]
        ratio = low / (first.time[later] * first.constants.C0)
        ratios.append(float(ratio[-1]))
        spread = float((np.abs(high - low) / np.abs(high)).max())
        drift = float((np.abs(ratio - ratio[-1]) / ratio[-1]).max())
        if max(spread, drift) > TOLERANCE and not fault:
            fault = f"{first.name}: margins differ by a relative {spread:.1g}"
    laws = law_identities()
    return settle(
        "huang2024-app-constant-a",
        symbols={"margin": laws["margin"] == 0, "norm": laws["squared norm of W*"] == 0},
        fault=fault,
        tried=tried,
        unit="runs, and every |V| at least 2 by symbols",
        evidence="By the exact law all margins are equal, at every step. They are 4 sqrt(|V| - 1) "
        f"times the printed A, on {tried} runs {min(ratios, default=0):.3g} to "
        f"{max(ratios, default=0):.3g} times, whatever T.",
        numbers={"least": f"{min(ratios, default=0):.3g}", "most": f"{max(ratios, default=0):.3g}"},
        parameters=parameters,
        by_hand=("the induction of the exact law",),
        readings=_a_readings(ratios, fault),
    )


def _a_readings(ratios: Sequence[float], fault: str) -> tuple[Reading, ...]:
    """What becomes of the statement as A and Theta are read; ratios are margins by printed A."""
    common = Verdict.REFUTED if fault else Verdict.PROVED
    printed = all(abs(one - 1) < TOLERANCE for one in ratios)
    bounded = max(ratios, default=1) <= 2 * min(ratios, default=1)  # over |V| from 2 to 50
    return (
        Reading("A is the common margin, whatever its size", common),
        Reading("Θ(A) in T, with constants that depend on |V|", common),
        Reading("A is T η₀/(4‖W*‖²), as printed", _told(printed)),
        Reading("Θ(A) with constants that serve every |V|", _told(bounded)),
    )


def _told(holds: bool) -> Verdict:
    """The verdict of a reading that runs decide."""
    return Verdict.CONSISTENT if holds else Verdict.REFUTED


def control_huang2024_app_constant_a() -> Control:
    """From a random start the margins differ."""
    check = check_huang2024_app_constant_a([cyclic_run(4, 0.1, 900)], scale=1.0)
    return Control("A random start in place of zero.", Verdict.REFUTED, check.verdict)
