"""A sample too rare to be touched before the conditions of Theorem 2 hold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from ntpbook.shared import rare
from ntpbook.shared.symbols import identity
from ntpcore.huang2024 import bounds, stage1
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.claims import Shown

CLEAR = 1e-3  # by which the logarithms of both conditions are met; rounding is below 1e-12
ETA = 0.36  # just below ||W_kq_star|| / e = 0.368, the largest step size of Theorem 1's proof


@dataclass(frozen=True)
class Asked:
    """What Theorem 2 asks of T and t, in one reading of its constants.

    Attributes:
        c0: the constant in the condition on T.
        c1: the constant in the condition on t.
        length_power: the exponent of L_max.
        rarity: what stands for N.
    """

    c0: float = 384
    c1: float = 1696
    length_power: float = 4
    rarity: str = bounds.N

    def of_T(self, c: bounds.Constants, log_T: bounds.Times) -> bounds.Times:
        """Log of (what T must reach) / T."""
        return bounds.log_thm_2_condition_1(c, log_T, c0=self.c0)

    def of_t(self, c: bounds.Constants, log_t: bounds.Times) -> bounds.Times:
        """Log of (what t must reach) / t."""
        return bounds.log_thm_2_condition_2(
            c, log_t, c0=self.c1, length_power=self.length_power, rarity=self.rarity
        )


PRINTED = Asked()
REPAIRED = Asked(rarity=bounds.PI_MIN)
ONE = Asked(c0=1, c1=1)
READINGS = {
    "the constant 864 in place of 1696 (864 suffices in the step that uses it)": Asked(c1=864),
    r"$L_{\max}^2$ in place of $L_{\max}^4$": Asked(length_power=2),
    "an absolute constant $c_0$, tried with 1": ONE,
    "an absolute constant $c_0$, tried with $10^9$": Asked(c0=1e9, c1=1e9),
}


@dataclass(frozen=True)
class Hidden:
    """A point at which the printed conditions hold, with a rare sample untouched there.

    Attributes:
        steps1: T.
        steps: t.
        log_ratio: how much rarer one sentence is than the other, as a logarithm.
        claimed: lower bound of Theorem 2 on the log-odds of the rare sample's optimal token.
        inside: whether both conditions hold as they are read, with frequencies if they have them.
        eta: the step size.
        norm: ||W_kq_star||.
    """

    steps1: int
    steps: int
    log_ratio: float
    claimed: float
    inside: bool
    eta: float = ETA
    norm: float = 1.0


@dataclass(frozen=True)
class TooRare:
    """The sentences 0 1 0 and 1 0 1, the second too rare for the conditions to know.

    Attributes:
        name: the instance in words.
    """

    name: str = "the sentences 0 1 0 and 1 0 1, the second too rare to be learned"

    def hidden(self, asked: Asked) -> Hidden:
        """A point at which the conditions hold if they are read with N, and what is claimed there.

        T and t are a hundredth larger than the conditions ask, and the ratio by a part in 1e12
        than what hides the sample: all far above rounding, which is a few parts in 1e15. The
        log-odds of the rare sample are at most 1 until then (`rare.log_ratio_that_hides`, which
        rests on `forces`).
        """
        assert all(one.holds for one in forces()), forces()
        eta0 = paper_rates(2)[0]
        base = bounds.constants(rare.rare_problem(0.0), eta0, ETA, 1)
        log_T = bounds.bites_from(lambda s: asked.of_T(base, s))
        steps1 = math.ceil(1.01 * math.exp(log_T)) + 1
        printed = replace(asked, rarity=bounds.N)
        log_t = bounds.bites_from(lambda s: printed.of_t(base, s))
        steps = max(math.ceil(1.01 * math.exp(log_t)) + 1, 100)
        log_ratio = rare.log_ratio_that_hides(steps, ETA, stage1.gap(2, steps1, eta0))
        log_ratio *= 1 + 1e-12
        c = bounds.constants(rare.rare_problem(log_ratio), eta0, ETA, steps1)
        missed = max(asked.of_T(c, math.log(steps1)), asked.of_t(c, math.log(steps)))
        claimed = float(bounds.thm_2_log_odds(c, steps))
        return Hidden(steps1, steps, log_ratio, claimed, bool(missed <= -CLEAR), ETA, c.norm_kq)


def too_rare() -> list[TooRare]:
    """The one rare sentence; how rare it is depends on the reading."""
    return [TooRare()]


@lru_cache
def forces(factor: int = 1) -> tuple[Shown, ...]:
    """The slope of a two-token sample's loss, and the identities from which its size follows.

    The loss is -log T_o with T_o = e^(Am) / (e^(Am) + e^(A(1-m))) and m = 1 / (1 + e^-d). By the
    chain rule its slope in d is -A m (1 - m) 2 (1 - T_o); m (1 - m) is at most 1/4, and as
    e^d (1 - m) = m, it is at least e^-d / 4 for d >= 0.

    Args:
        factor: of the slope; 1 but for a planted error.
    """
    import sympy as sp

    A, d, m = sp.symbols("A d m", positive=True)
    # from the definition again: it judges the slope of this proof
    M = 1 / (1 + sp.exp(-d))
    T = sp.exp(A * m) / (sp.exp(A * m) + sp.exp(A * (1 - m)))
    return (
        identity("slope of the loss in $m$", sp.diff(-sp.log(T), m), -2 * factor * A * (1 - T)),
        identity("slope of $m$ in $d$", sp.diff(M, d), M * (1 - M)),
        identity(r"$\frac14 - m (1 - m)$", sp.Rational(1, 4) - m * (1 - m), (2 * m - 1) ** 2 / 4),
        identity("$e^d (1 - m)$", sp.exp(d) * (1 - M), M),
    )


def untouched(beyond: int = 3) -> tuple[Run, int]:
    """A real run beyond the step from which the printed conditions, with c_0 = 1, hold.

    One sample is so rare that it is still untouched after `beyond` times that step. Returns the run
    and the step.
    """
    case, eta0 = TooRare().hidden(ONE), paper_rates(2)[0]
    steps, gap = beyond * case.steps, stage1.gap(2, case.steps1, eta0)
    run = train(
        "two tokens, one sentence too rare to be learned",
        rare.rare_problem(rare.log_ratio_that_hides(steps, ETA, gap)),
        eta0=eta0,
        eta=ETA,
        steps1=case.steps1,
        steps=steps,
    )
    return run, case.steps
