"""The normalized margin of the layer: classes of any kind, any number of outputs and queries.

With equally frequent classes the flow is that of the sum of the losses, l_n = -ln alpha_n. Put
Lambda = sum of l_n and q = -ln(e^Lambda - 1), the margin of one pair of labels with that loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from ntpbook.ours.long_times.steps import M
from ntpbook.ours.long_times.unequal import Unequal, follow
from ntpbook.shared.symbols import identity
from ntpverdicts.claims import Shown

Floats = NDArray[np.float64]


def margin_steps(entropy: bool = True) -> tuple[Shown, ...]:
    """The identities behind the theorem for one class and for the sum of the losses; s is a loss.

    dq/d Lambda = -1/delta(q), delta(q) = 1/(1 + e^q) = 1 - e^-Lambda;
    h(s) = (1 - e^-s) q(s) has h'' = -e^-s (q + 1/(1 - e^-s));
    sum of p_k m_k = q_n + entropy of p, for p_k proportional to e^-m_k and e^-q_n = sum e^-m_k,
    for three wrong labels; and for any number, p_k m_k = p_k q_n - p_k ln p_k for each.

    Args:
        entropy: the mean margin has the entropy of the wrong labels in it.
    """
    s = sp.Symbol("s", positive=True)
    q = -sp.log(sp.exp(s) - 1)
    h = (1 - sp.exp(-s)) * q
    m = sp.symbols("m1:4", real=True)
    total = sum(sp.exp(-x) for x in m)
    p = [sp.exp(-x) / total for x in m]
    logs = [-x - sp.log(total) for x in m]  # ln p_k
    mean = sum(a * x for a, x in zip(p, m, strict=True))
    spread = -sum(a * b for a, b in zip(p, logs, strict=True)) if entropy else sp.Integer(0)
    total_of_all, margin = sp.Symbol("S", positive=True), m[0]  # S = e^-q_n
    part = sp.exp(-margin) / total_of_all
    log = sp.expand_log(sp.log(part))
    share = -part * sp.log(total_of_all) - (part * log if entropy else 0)
    bend = -sp.exp(-s) * (q + 1 / (1 - sp.exp(-s)))
    return (
        identity(r"$dq/d\Lambda$", sp.diff(q, s), -1 / (1 - sp.exp(-s))),
        identity("$h''$", sp.diff(h, s, 2), bend),
        identity("mean margin of a class", sp.expand(mean), sp.expand(-sp.log(total) + spread)),
        identity("part of one wrong label among any number", part * margin, share),
    )


def length_steps(centered: bool = True) -> tuple[Shown, ...]:
    """(e_n - 1_M/M).(e_m - 1_M/M) = 1 - 1/M for n = m, and -1/M otherwise.

    So sum_n f_n (e_n - 1_M/M)^T has at most the squared length K (1 - 1/M), as f_n.f_m >= 0.

    Args:
        centered: 1_M/M is taken off.
    """
    off = 1 / M if centered else sp.Integer(0)
    own = (1 - off) ** 2 + (M - 1) * off**2
    other = 2 * (1 - off) * (-off) + (M - 2) * off**2
    return (
        identity("squared length of $e_n - 1_M/M$", own, 1 - 1 / M),
        identity("inner product of two of them", other, -1 / M),
    )


def angle_steps(scaled: bool = True) -> tuple[Shown, ...]:
    """K = M = 2: what is left of f_1 + f_2 at right angles to u = w f_1 - (1 - w) f_2.

    With |f_n| = 1, f_1.f_2 = e and w = delta_1/(delta_1 + delta_2): u.(f_1 + f_2) is
    (2 w - 1)(1 + e), and the squared length of f_1 + f_2 at right angles to u is (1 - e^2)/|u|^2.

    Args:
        scaled: f_2 has length 1; without it half of that.
    """
    w, e = sp.symbols("w e", positive=True)
    f_1 = sp.Matrix([1, 0])
    f_2 = sp.Matrix([e, sp.sqrt(1 - e**2)]) * (1 if scaled else sp.Rational(1, 2))
    u, both = w * f_1 - (1 - w) * f_2, f_1 + f_2
    square, along = u.dot(u), u.dot(both)
    rest = both - along / square * u
    return (
        identity(r"$u \cdot (f_1 + f_2)$", along, (2 * w - 1) * (1 + e)),
        identity("$f_1 + f_2$ across $u$", rest.dot(rest) * square, 1 - e**2),
    )


@dataclass(frozen=True, eq=False)
class Margins:
    """What the theorem speaks of, along a path from a moment with Lambda < ln 2.

    Attributes:
        q: (S,), margin of the whole.
        size: (S,), length of Y over all M outputs.
        tangent: (S,), tan of the angle between Y and its slope.
        work: (S,), sum over classes and wrong labels of alpha_nk m_nk, in units of delta(q) q.
        wrong: (S, K), delta_n.
        most: the least upper bound of q/|Y| for K classes and M outputs.
    """

    q: Floats
    size: Floats
    tangent: Floats
    work: Floats
    wrong: Floats
    most: float

    @property
    def bound(self) -> float:
        """ln(most |Y|/q) at the start."""
        return float(np.log(self.most * self.size[0] / self.q[0]))

    def gathered(self, values: Floats) -> float:
        """The integral of values over ln |Y|, by trapezoids."""
        return float(np.trapezoid(values, np.log(self.size)))


def largest(K: int, M: int) -> float:
    """(M/(K (M - 1)))^(1/2), which q/|Y| stays below: the limit for f_n at right angles."""
    return float((M / (K * (M - 1))) ** 0.5)


def measure(
    one: Unequal,
    log_t: Floats,
    sphere: bool = True,
    lone: bool = False,
    start: Floats | None = None,
) -> Margins:
    """The margins of a run from the first recorded Lambda <= 0.35 on.

    Args:
        one: the classes.
        log_t: (S,), increasing values of ln(1 + t).
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        lone: the slope of Y is told of the first class only.
        start: (N, K + 1), the decoder at first; zero when left out.

    Raises:
        ArithmeticError: Lambda does not come down to 0.35.
    """
    course = follow(one, log_t, sphere, start)
    loss = -np.log1p(-course.wrong).sum(axis=1)
    late = loss <= 0.35
    if not late.any():
        raise ArithmeticError(f"the sum of the losses ends at {loss[-1]}")
    first = int(np.argmax(late))
    f, Y, error, loss = (x[first:] for x in (course.f, course.Y, course.error, loss))
    many = np.append(np.ones(one.K), one.M - one.K)  # the last column stands for M - K outputs
    shown = slice(0, 1) if lone else slice(None)
    slope = np.einsum("sni,snk->sik", f[:, shown], error[:, shown])
    scale = 1 / -np.expm1(-loss)  # so that no product underflows
    slope *= scale[:, None, None]
    inner = (Y * slope * many).sum(axis=(1, 2))
    size = np.sqrt((Y**2 * many).sum(axis=(1, 2)))
    across = slope - (inner / size**2)[:, None, None] * Y
    tangent = np.sqrt((across**2 * many).sum(axis=(1, 2))) * size / inner
    q = -np.log(np.expm1(loss))
    work = np.einsum("sni,sik,snk,k->s", f, Y, error, many) / (-np.expm1(-loss) * q)
    return Margins(q, size, tangent, work, course.wrong[first:], largest(one.K, one.M))
