"""Orders that more than one test uses."""

from __future__ import annotations

import random
from itertools import product

from ntpcore.data.order import PartialOrder

FIVE_TOKENS = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})


def random_order(rng: random.Random, max_optimal: int, max_nonoptimal: int) -> PartialOrder:
    """An order without isolated tokens, sparse or dense."""
    uppers = [f"a{i}" for i in range(rng.randint(1, max_optimal))]
    lowers = [f"b{i}" for i in range(rng.randint(1, max_nonoptimal))]
    density = rng.random() / 2
    pairs = {pair for pair in product(uppers, lowers) if rng.random() < density}
    pairs |= {(a, rng.choice(lowers)) for a in uppers} | {(rng.choice(uppers), b) for b in lowers}
    return PartialOrder.of("q", pairs)
