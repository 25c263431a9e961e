"""The normalized margin of the layer: classes of any kind, any number of outputs and queries.

With equally frequent classes the flow is that of the sum of the losses, l_n = -ln alpha_n. Put
Lambda = sum of l_n and q = -ln(e^Lambda - 1), the margin of one pair of labels with that loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from ntpbook.tian2023.long_times.steps import Identity
from ntpbook.tian2023.long_times.unequal import Unequal, follow

Floats = NDArray[np.float64]


def margin_steps() -> tuple[Identity, ...]:
    """The identities behind the theorem; s is a loss, w = delta_1/(delta_1 + delta_2).

    dq/d Lambda = -1/delta(q), delta(q) = 1/(1 + e^q) = 1 - e^-Lambda;
    h(s) = (1 - e^-s) q(s) has h'' = -e^-s (q + 1/(1 - e^-s));
    sum of p_k m_k = q_n + entropy of p, for p_k proportional to e^-m_k and e^-q_n = sum e^-m_k;
    u = w f_1 - (1 - w) f_2 with |f_n| = 1, f_1.f_2 = e: u.(f_1 + f_2) and 1 - |u|^2.
    """
    s, w, e = sp.symbols("s w e", positive=True)
    q = -sp.log(sp.exp(s) - 1)
    h = (1 - sp.exp(-s)) * q
    m = sp.symbols("m1:4", real=True)
    total = sum(sp.exp(-x) for x in m)
    p = [sp.exp(-x) / total for x in m]
    logs = [-x - sp.log(total) for x in m]  # ln p_k
    mean = sum(a * x for a, x in zip(p, m, strict=True))
    entropy = -sum(a * b for a, b in zip(p, logs, strict=True))
    bend = -sp.exp(-s) * (q + 1 / (1 - sp.exp(-s)))
    square = w**2 + (1 - w) ** 2 - 2 * w * (1 - w) * e
    along = w + w * e - (1 - w) * e - (1 - w)
    return (
        Identity("dq/d Lambda", sp.diff(q, s), -1 / (1 - sp.exp(-s))),
        Identity("h''", sp.diff(h, s, 2), bend),
        Identity("mean margin of a class", sp.expand(mean), sp.expand(-sp.log(total) + entropy)),
        Identity("u.(f_1 + f_2)", along, (2 * w - 1) * (1 + e)),
        Identity("1 - |u|^2", 1 - square, 2 * w * (1 - w) * (1 + e)),
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
    """

    q: Floats
    size: Floats
    tangent: Floats
    work: Floats
    wrong: Floats

    @property
    def bound(self) -> float:
        """ln(2^(1/2) |Y|/q) at the start."""
        return float(np.log(2**0.5 * self.size[0] / self.q[0]))

    def gathered(self, values: Floats) -> float:
        """The integral of values over ln |Y|, by trapezoids."""
        return float(np.trapezoid(values, np.log(self.size)))


def measure(one: Unequal, log_t: Floats, sphere: bool = True, lone: bool = False) -> Margins:
    """The margins of a run from the first recorded Lambda <= 0.35 on.

    Args:
        one: the classes.
        log_t: (S,), increasing values of ln(1 + t).
        sphere: attention is scaled to length 1; otherwise it is the softmax.
        lone: the slope of Y is told of the first class only.

    Raises:
        ArithmeticError: Lambda does not come down to 0.35.
    """
    course = follow(one, log_t, sphere)
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
    return Margins(q, size, tangent, work, course.wrong[first:])
