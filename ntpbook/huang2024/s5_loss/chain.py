"""From margins to attention and to the loss: the chain by which Theorem 2 is proved (C.6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ntpbook.huang2024.s5_loss.instances import log_loss, with_a_crowd
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.huang2024.runs import Run
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, holds
from ntpverdicts.vocabulary import by_hand, check, executed, uses

ROUNDING = 1e-9  # logarithms of sums of a few hundred rounded terms


def needed(square: int = 2, part: str = "1/2") -> Iterator[Shown]:
    """The least constant in the condition on t that leaves half of the margin.

    With U, U* the directions, ||U - U*||^2 = 2 (1 - cos) is at most 108 N L^4 s^4 log^2 t / (t eta)
    by Theorem 1, and t eta = c N L^4 s^6 log^2 t by the condition, s = ||W*||. By Theorem 1 the
    norm is at least t eta / (2 L s), and half of the norm by s is then t C_1.

    Args:
        square: square of the norm of a pair's matrix.
        part: of the margin 1/s that the distance may take.
    """
    import sympy as sp

    c, s, common = sp.symbols("c s common", positive=True)
    squared = 108 * common * s**4 / (c * common * s**6)  # common is N L^4 log^2 t
    taken = sp.sqrt(square * squared)
    found = sp.solve(taken - sp.sympify(part) / s, c)[0]
    yield identity(r"the constant that leaves half of $1/\|W^*\|$", found, sp.Integer(432 * square))
    yield at_least_zero("1696 minus this constant", 1696 - found)
    t, eta, L = sp.symbols("t eta L", positive=True)
    norm = t * eta / (2 * L * s)
    yield identity(r"half of $\|W\|/\|W^*\|$ at the norm", norm / s / 2, t * eta / (4 * L * s**2))


def attention_of_margins(fewer: int = 0) -> Iterator[Shown]:
    """c_o / (c_o + c e^-m) >= 1 / (1 + L e^-m), c_o >= 1, c <= L - c_o; at last 1 / (1 + eps).

    Args:
        fewer: what is taken off L; 0 in truth.
    """
    import sympy as sp

    more, rest, slack = sp.symbols("more rest slack", nonnegative=True)
    r, L, eps = sp.symbols("r L eps", positive=True)  # r = e^-m
    c_o, c = 1 + more, rest
    length = c_o + c + slack
    gap = sp.factor(c_o / (c_o + c * r) - 1 / (1 + (length - fewer) * r))
    yield at_least_zero(r"the difference, $L = c_o + c + \text{slack}$", gap)
    # t = (4 L S / eta) log(L / eps) makes the margin m = t eta / (4 L S) the logarithm of L / eps
    yield identity(r"$L e^{-m}$ at $m = \log(L/\epsilon)$", L * sp.exp(-sp.log(L / eps)), eps)


def loss_of_attention(whole: int = 0) -> Iterator[Shown]:
    """One sample: a lead of A (2 m_o - 1) at least, which is A less 2 A L / (L + e^m).

    Args:
        whole: 1 claims a lead of A m_o.
    """
    import sympy as sp

    A, L, E = sp.symbols("A L E", positive=True)  # E = e^m
    m_o, left, n = sp.symbols("m_o left n", nonnegative=True)
    rival = 1 - m_o - left  # the mass of one rival, where others have `left`
    lead = A * m_o - A * rival
    claimed = A * m_o if whole else A * (2 * m_o - 1)
    yield at_least_zero("lead $- A (2 m_o - 1)$", sp.expand(lead - claimed))
    yield identity("$2 m_o - 1$", 2 / (1 + L / E) - 1, 1 - 2 * L / (L + E))
    x = sp.symbols("x", nonnegative=True)
    rise = (n + 1) * x - sp.log(1 + n * x)  # |V| = n + 1
    yield identity(
        r"$|\mathcal V| x - \log(1 + (|\mathcal V| - 1) x)$ at 0", rise.subs(x, 0), sp.Integer(0)
    )
    yield at_least_zero("its slope", sp.factor(sp.diff(rise, x)))


@check(
    "huang2024-app-thm-2-chain",
    over="runs",
    instances=with_a_crowd,
    says="Given Theorem 1, each line of the proof of Theorem 2 follows from the line before. At "
    "every recorded step of {tried} runs the smallest margin bounds the attention, and the "
    "attention bounds the loss. The condition on $t$ needs a constant of at least 864 so that at "
    r"least half of $\|W\|/\|W^*\|$, the first term of (13), remains; the paper has 1696. There "
    "are {compared} comparisons, among them that of these two constants, once for each run.",
    tolerance=ROUNDING,
    proof=(
        uses("huang2024-eq-13", "(13), a lower bound on the margins"),
        executed(
            r"the constant in the condition on $t$ that leaves half of $\|W\|/\|W^*\|$ in (13), "
            "which is at least $t\\,C_1$",
            needed,
            planted={"A third of the margin in place of its half.": {"part": "1/3"}},
        ),
        executed(
            "a lower bound on the margins implies a lower bound on the attention weights",
            attention_of_margins,
            planted={"$L - 3$ in place of $L$.": {"fewer": 3}},
        ),
        executed(
            "a lower bound on the attention weight implies an upper bound on the loss of a sample",
            loss_of_attention,
            planted={"$A m_o$ in place of $A (2 m_o - 1)$, in the proof.": {"whole": 1}},
        ),
        uses("huang2024-cor-1-corrected", r"all gaps of stage 1 are one number $A \ge T C_0$"),
        by_hand(r"the loss $\mathcal L$ is a mean of the losses of the samples", at="mean"),
    ),
    planted={
        r"1 in place of $L_{\max}$ in the bound on attention.": {"length": 1},
        "$A m_o$ in place of $A (2 m_o - 1)$ in the bound on the loss.": {"twice": 1.0},
        "800 in place of 1696.": {"constant": 800},
        "The odds of the optimal tokens 1.1 times sharper.": {"odds": 1.1},
        "The bound on the loss 1.1 times sharper.": {"sharper": 1.1},
    },
    readings={
        r"the norm 2 of the matrix $P$ in place of $\sqrt2$, as the 108 under the root in Appendix "
        "D.2 suggests": {"square": 4},
    },
)
def check_huang2024_app_thm_2_chain(
    one: Run,
    constant: int = 1696,
    square: int = 2,
    length: int = 0,
    twice: float = 2.0,
    odds: float = 1.0,
    sharper: float = 1.0,
    power: int = 1,
) -> Iterator[Said]:
    """m_o >= 1 / (1 + L e^-m) for the least margin m, and L <= |V| e^(-A (2 m_o - 1)).

    Args:
        one: a run.
        constant: in the condition on t.
        square: square of the norm of a pair's matrix.
        length: what stands for L_max; 0 for L_max.
        twice: the factor 2 in 2 m_o - 1.
        odds: what multiplies the claimed odds of the optimal tokens.
        sharper: what divides the bound on the loss.
        power: of L_max; 1 in truth.
    """
    yield holds(constant >= 432 * square, "the constant in the condition on $t$")
    rows, c = one.second.rows, one.constants
    claimed = rows.least_gap - power * np.log(length or c.max_length) + np.log(odds)
    # both sides are logarithms, so that slacks are absolute
    yield arrays.at_least(
        rows.least_log_odds, claimed, "log-odds, step {at}", at=rows.step, scale=1.0
    )
    m_o = 1 / (1 + np.exp(-rows.least_log_odds))
    exponent = -one.second.gap * (twice * m_o - (twice - 1))
    bound = np.log(c.vocab_size) + exponent - np.log(sharper)
    # the exponent is a rounded number of the size of A
    yield arrays.at_most(
        log_loss(one), bound, "log of the loss, step {at}", at=rows.step, scale=1 + one.second.gap
    )
