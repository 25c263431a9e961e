"""Flows of Theorem 3 of Tian et al. (2023), class by class, and the identities behind it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s5_fates.common_grows import two_classes
from ntpcore.tian2023 import attention
from ntpcore.tian2023.classes import (
    SequenceClasses,
    common_tokens,
    correlations,
    distinct_tokens,
    layered_classes,
)

Floats = NDArray[np.float64]
CLOCKS = np.concatenate([[0.0], np.geomspace(1e-2, 1e3, 26)])
FAMILIES = (  # K, M, common tokens, distinct tokens of each class
    (2, 100, 1, 2),
    (2, 10**6, 1, 4),
    (3, 1000, 3, 3),
    (5, 10**4, 2, 5),
    (10, 10**5, 1, 3),
    (20, 10**6, 1, 2),
)


@dataclass(frozen=True, eq=False)
class Run:
    """A flow, and one of its classes.

    Attributes:
        name: the instance in words.
        path: the flow.
        n: the class.
        M: size of the vocabulary.
        fall: whether all common tokens of the class fall at every recorded moment.
    """

    name: str
    path: attention.Path
    n: int
    M: int
    fall: bool

    @property
    def tokens(self) -> tuple[int, ...]:
        """Distinct tokens of the class, the strongest at the start first."""
        f = self.path.f(0)[self.n]
        return tuple(sorted(distinct_tokens(self.path.classes, self.n), key=lambda x: -float(f[x])))

    @property
    def z(self) -> Floats:
        """(S, M), the row of Z of the query of the class."""
        return self.path.z[:, self.path.classes.query[self.n]]

    @property
    def f(self) -> Floats:
        """(S, M), f_n."""
        return np.array([self.path.f(place)[self.n] for place in range(len(self.path.at))])

    @property
    def ratio(self) -> Floats:
        """(S, M), f_nl^2 over that of the strongest distinct token at the start, zero elsewhere."""
        f = self.f
        return np.asarray((f / f[:, [self.tokens[0]]]) ** 2)


def run_of(name: str, classes: SequenceClasses, M: int, n: int, start: Floats | None = None) -> Run:
    """One class under the flow (10), over all of `CLOCKS`."""
    path = attention.flow(classes, M, CLOCKS, start)
    common = [x for x in common_tokens(classes) if classes.probabilities[n, x] > 0]
    fall = bool((moves_of(path, M)[:, classes.query[n], common] < 0).all())
    return Run(name, path, n, M, fall)


def moves_of(path: attention.Path, M: int) -> Floats:
    """(S, L, M), dz over the clock along a flow."""
    out = np.zeros_like(path.z)
    for place in range(len(path.at)):
        f = path.f(place)
        beta = attention.coefficients(correlations(f), M)
        out[place] = attention.velocity(path.classes.query, f, beta)
    return out


def runs(seed: int) -> list[Run]:
    """One class of each family, from zero and from a random start, small ones first."""
    found = [
        run_of("common 1, distinct 2 and 1", layered_classes([1], [[2, 1]] * 2, 5, (0, 0)), 100, 0)
    ]
    for K, M, common, distinct in FAMILIES:
        rng = np.random.default_rng((seed, 6, K, M))
        queries = 1 if common > 1 else int(rng.integers(1, 3))
        for start in (False, True):
            data = layered_classes(
                list(rng.uniform(0.2, 1, size=common)),
                [list(rng.uniform(0.2, 1, size=distinct)) for _ in range(K)],
                common + K * distinct,
                [n % queries for n in range(K)],
            )
            z = np.zeros((data.L, data.M))
            z[:, common:] = rng.normal(scale=0.5, size=(data.L, data.M - common)) * start
            name = f"K = {K}, M = {M}, {common} common tokens, {'random' if start else 'zero'} Z(0)"
            found.append(run_of(name, data, M, 0, z))
    return found


def growing_run() -> Run:
    """A class with a common token that grows, and so fast that its distinct token loses by it."""
    data = two_classes((20, 5, 1, 0), (1, 6, 0, 6))
    return run_of("weights (20, 5, 1, 0) and (1, 6, 0, 6)", data, 1000, 0)


# Symbols


@cache
def gain_identities() -> dict[str, object]:
    """Expressions of sympy that must vanish, for any path of xi and of the norm o.

    With u = (P e^z)^2 and f^2 = u / o^2, (98) reads dz/dt = force u for every distinct token of the
    class, where force = eta_Z xi_n / o^2 is common to them.
    """
    import sympy as sp

    t = sp.Symbol("t")
    P, other, start, force = sp.symbols("P P_other z_0 force", positive=True)
    z, w = sp.Function("z")(t), sp.Function("w")(t)
    u, v = P**2 * sp.exp(2 * z), other**2 * sp.exp(2 * w)
    laws = {z.diff(t): force * u, w.diff(t): force * v}
    r = u / v - 1
    chi = sp.exp(2 * (z - start))
    r0 = sp.Symbol("r_0", positive=True)
    # d ln f_0^2 / dt = 2 sum over l of f_l^2 (dz_0 - dz_l): one further token stands for all
    a, b = sp.Function("a")(t), sp.Function("b")(t)
    top, rest = sp.exp(2 * a), sp.exp(2 * b)
    share = top / (top + rest)
    law = 2 * (1 - share) * (a.diff(t) - b.diff(t))
    return {
        "(11)": sp.simplify((r / chi).diff(t).subs(laws)),
        "(112)": sp.simplify((r0 * chi).diff(t) - 2 * r0 * chi * z.diff(t)),
        "(114)": sp.simplify(sp.log(share).diff(t) - law),
    }
