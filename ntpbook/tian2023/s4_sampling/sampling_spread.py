"""Check of Lemma 11: what the spread of the counts does to h and to g."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import decoder
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

VOCABULARIES = (4, 5, 30, 1000, 50_000, 1_000_000)
RATES = (0.01, 0.1, 0.5, 1.0, 2.0)
RATIOS = (0.0, 0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 1.5, 2.0, 10.0)  # N_n over its mean
DIFFERENCES = 1e-9  # a difference of one hundredth of the size keeps thirteen digits


def check_tian2023_lem_11(
    vocabularies: Sequence[int] = VOCABULARIES, share: float = 1 / 3, power: float = 1.0
) -> Check:
    """(61) with the constant 1, (62) as |d ln g/ds| <= eta/3, and its form in stage 2.

    Args:
        vocabularies: values of M, at least 4.
        share: the 1/3 in sigma' <= eta Delta/3.
        power: the power of Delta over the mean count in (61); the paper has 1.
    """
    late, never = _stage_2_constant(vocabularies)
    literal = _literal_62()
    check = judge(
        "tian2023-lem-11",
        _lem_11_cases(vocabularies, share, power),
        unit="inequalities at M, eta, mean count and N_n",
        claim="h and g at N_n differ from their values at the mean count by as much as (61) and "
        "(62) allow",
        tolerance=DIFFERENCES,
        numbers={
            "late": f"{late:.2f}",
            "never": f"{never:.2f}",
            "literal": f"{literal:.3f}",
        },
        by_hand=(
            "h is concave and starts at 0, so that h(s)/s does not increase",
            "integrals of the slope of ln g between N_n and the mean",
        ),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    exact = Verdict.PROVED if lemma_11_symbols() else Verdict.CONSISTENT
    readings = (
        Reading("(61) with the constant 1 and |N_n - mean| for Delta", exact),
        Reading("(62) for the logarithm: |ln g(N_n) - ln g(mean)| <= eta Delta/3, M >= 4", exact),
        Reading("(62) with eta Delta for sigma', three times its bound, every M >= 2", exact),
        Reading("(62) in stage 2 with 2 Delta/N_n for sigma', N_n in stage 2 too", exact),
        Reading(
            "(62) with eta Delta/3 for sigma' and the sign <=: for M = 1000, eta = 1, mean 9 and "
            f"N_n = 6 the left-hand side is {literal:.3f} times the right-hand side",
            Verdict.REFUTED if literal > 1 else Verdict.CONSISTENT,
        ),
    )
    return replace(check, readings=readings)


def _lem_11_cases(vocabularies: Sequence[int], share: float, power: float) -> Iterator[Case]:
    """Relative slack of each inequality at each point of the grid."""
    for M, eta, mean in itertools.product(vocabularies, RATES, np.logspace(0, 6, 13)):
        ratios = np.array(RATIOS)
        x, middle = decoder.height(M, eta * mean * ratios), decoder.height(M, eta * mean)
        off = np.abs(ratios - 1)  # |N_n - mean| / mean
        where = f"M = {M}, eta = {eta:g}, mean count {mean:.4g}"
        change = np.abs(x - middle) / middle
        yield Case(where + ", (61)", float((1 - change / off**power).min()))
        D, D_mean = M - 1 + np.exp(x), M - 1 + np.exp(middle)  # 1/g
        logs = np.abs(np.log(D / D_mean))
        yield Case(where + ", log g", float((1 - logs / (share * eta * mean * off)).min()))
        yield Case(where + ", g", float((1 - np.abs(D_mean / D - 1) / (eta * mean * off)).min()))
        slope = float(relative_slope(M, middle))
        yield Case(where + ", slope", 1 - slope / share)
        if eta * mean >= decoder.transition(M, 1, 1.0):
            yield Case(where + ", stage 2", 1 - slope * eta * mean / 2)


def relative_slope(M: int, x: float | Floats) -> Floats:
    """-(dg/ds)/(eta g) = M e^x / (M - 1 + e^x)^2 at height x, where g = 1/(M - 1 + e^x)."""
    e = np.exp(-np.asarray(x, dtype=np.float64))
    return np.asarray(M * e / (1 + (M - 1) * e) ** 2)


def _stage_2_constant(vocabularies: Sequence[int]) -> tuple[float, float]:
    """The largest -s (dg/ds)/g in stage 2, which is below 2, and the largest of all."""
    late, never = 0.0, 0.0
    for M in vocabularies:
        tau = decoder.transition(M, 1, 1.0) * np.logspace(-4, 4, 801)
        product = relative_slope(M, decoder.height(M, tau)) * tau
        late = max(late, float(product[400:].max()))
        never = max(never, float(product.max()))
    return late, never


def _literal_62(M: int = 1000, eta: float = 1.0, mean: int = 9, count: int = 6) -> float:
    """|g(N_n) - g(mean)| over g(mean) eta |N_n - mean| / 3."""
    x, middle = decoder.height(M, eta * count), decoder.height(M, eta * mean)
    change = (M - 1 + np.exp(middle)) / (M - 1 + np.exp(x)) - 1
    return float(np.abs(change) / (eta * abs(mean - count) / 3))


def lemma_11_symbols() -> bool:
    """The identities behind Lemma 11, for symbolic M, eta and height; y stands for e^x.

    h is concave; -(dg/ds)/g = eta M y/(M-1+y)^2; (M-1+y)^2 - 4 (M-1) y is a square, so that this is
    at most eta M/(4(M-1)), and 1/3 - M/(4(M-1)) = (M-4)/(12(M-1)); by (45) a difference of 1/g is
    M eta (s - s') less a term of the same sign; in stage 2, M eta s <= 2y.
    """
    import sympy as sp

    M, eta, y, s, x = sp.symbols("M eta y s x", positive=True)
    h = sp.Function("h")(s)
    g = 1 / (M - 1 + sp.exp(M * h))
    slope = sp.diff(g, s).subs(sp.diff(h, s), eta * g)
    concave = sp.diff(eta * g, s).subs(sp.diff(h, s), eta * g) + eta**2 * M * sp.exp(M * h) * g**3
    relative = -slope / g - eta * M * sp.exp(M * h) / (M - 1 + sp.exp(M * h)) ** 2
    square = (M - 1 + y) ** 2 - 4 * (M - 1) * y - (M - 1 - y) ** 2
    third = sp.Rational(1, 3) - M / (4 * (M - 1)) - (M - 4) / (12 * (M - 1))
    time = (sp.exp(x) + (M - 1) * x - 1) / M  # eta s by (45)
    inverse = M - 1 + sp.exp(x) - (M * time + M - (M - 1) * x)
    # with y >= (M - 1) x: 2y - M eta s = y - (M - 1) x + 1 > 0
    stage_2 = 2 * y - (y + (M - 1) * x - 1) - (y - (M - 1) * x + 1)
    return all(
        sp.simplify(term) == 0 for term in (concave, relative, square, third, inverse, stage_2)
    )


def control_tian2023_lem_11() -> Control:
    """M/(4 (M-1)) is above 1/4 for every M."""
    return Control(
        "sigma' bounded by eta Delta/4 instead of eta Delta/3.",
        Verdict.REFUTED,
        check_tian2023_lem_11(share=0.25).verdict,
    )
