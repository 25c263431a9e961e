"""The constraints of the max-margin problem (3), read off the samples one by one (huang2024).

Nothing of the orders is used, so that orders and solutions can be held against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from ntpcore.data.dataset import Dataset


class Constraint(NamedTuple):
    """(x_upper - x_lower)^T W x_query >= 1, as a sample asks for it."""

    query: str
    upper: str
    lower: str
    sample: str


def constraints(data: Dataset) -> Iterator[Constraint]:
    """For every sample, its tokens with n(x) = next token against all others.

    Source: huang2024, equation (3).
    """
    samples = list(data.samples())
    n = {one.sentence[0]: one.next_token for one in samples if len(one.sentence) == 1}
    for one in samples:
        tokens = dict.fromkeys(one.sentence)
        for upper, lower in product(tokens, tokens):
            if n[upper] == one.next_token != n[lower]:
                yield Constraint(one.sentence[-1], upper, lower, " ".join(one.sentence))
