"""All columns of W_kq_star: by compiled code where there is much to do and numpy is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin

MANY_PAIRS = 5000  # from here on, loading compiled code pays


def solve_all(orders: Mapping[str, PartialOrder]) -> Mapping[str, margin.Solution]:
    """The exact solution of each query; the same fractions either way.

    Args:
        orders: for each query its order, without confused tokens.
    """
    if sum(len(one.pairs) for one in orders.values()) > MANY_PAIRS:
        with contextlib.suppress(ImportError):
            from ntpcore.exact import margin_fast  # loads numpy and numba

            return margin_fast.W_kq_star(orders)
    return margin.W_kq_star(orders)
