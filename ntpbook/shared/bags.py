"""A context as a bag of tokens: what the attention of Tian et al. (2023) makes of equal tokens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ntpbook.shared.symbols import identity
from ntpverdicts.claims import Shown
from ntpverdicts.vocabulary import relation


def shares_decide(once: bool = False) -> Iterator[Shown]:
    """An entry of X^T b depends on the share q of its token alone, not on the length N.

    The token stands at n = N q positions, each with the weight e^z over the sum of all; the other
    tokens add N times some rest to that sum.

    Args:
        once: the token counts once, however often it stands.
    """
    import sympy as sp

    N, q, rest = sp.symbols("N q rest", positive=True)
    z = sp.symbols("z", real=True)
    n = sp.Integer(1) if once else N * q
    weight = sp.exp(z) / (n * sp.exp(z) + N * rest)  # of one position
    yield identity("$n$ positions of one token", n * weight, q * sp.exp(z) / (q * sp.exp(z) + rest))


def counts_are_diagonal(one_hot: bool = True) -> Iterator[Shown]:
    """x_l x_k = delta_lk x_l for a one-hot x, so that X^T diag(b) X = diag(X^T b), any b.

    Only which of token, l and k are equal matters, so that three values of each cover all cases.

    Args:
        one_hot: a token is one entry of x; without it, it is also the entry before.
    """
    import sympy as sp

    token, entry, other = sp.symbols("token l k", integer=True)

    def x(place: sp.Symbol) -> sp.Expr:
        spread = 0 if one_hot else sp.KroneckerDelta(token - 1, place)
        return sp.KroneckerDelta(token, place) + spread

    both, diagonal = x(entry) * x(other), sp.KroneckerDelta(entry, other) * x(entry)
    cases = list(product(range(3), repeat=3))
    places = [dict(zip((token, entry, other), case, strict=True)) for case in cases]
    differing = sum((both - diagonal).subs(place).doit() != 0 for place in places)
    name = rf"number of the {len(cases)} cases in which $x_l x_k$ and $\delta_{{lk}} x_l$ differ"
    yield relation(name, differing, "=", 0, differing)
