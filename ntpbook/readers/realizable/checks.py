"""Check of the page on how far data are from realizable: an integer program against all parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations

import numpy as np

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.exact import repair, repair_program
from ntpcore.exact.repair import Repair
from ntpverdicts.compare import Said, count, equal, finite, holds
from ntpverdicts.vocabulary import by_hand, check, uses

SECONDS = 600.0  # never reached on data of this size


@dataclass(frozen=True, eq=False)
class Tiny:
    """Data so small that every part can be tried."""

    data: Dataset

    @property
    def name(self) -> str:
        """The samples in words."""
        told = (f"{' '.join(s.sentence)} → {s.next_token}" for s in self.data.samples())
        return "; ".join(told)

    @cached_property
    def truth(self) -> int:
        """Weight of the largest realizable part."""
        return largest_by_force(self.data)


def tiny_cases(seed: int = 7, trials: int = 120) -> list[Tiny]:
    """Random tiny data."""
    rng = np.random.default_rng(seed)
    return [Tiny(tiny_data(rng)) for _ in range(trials)]


def tiny_data(rng: np.random.Generator) -> Dataset:
    """One to seven random samples over two to four tokens, of up to four places each."""
    tokens = "abcd"[: rng.integers(2, 5)]
    rows = [
        (
            [tokens[i] for i in rng.integers(len(tokens), size=rng.integers(1, 5))],
            tokens[rng.integers(len(tokens))],
            int(rng.integers(1, 4)),
        )
        for _ in range(rng.integers(1, 8))
    ]
    return from_samples(rows, "tiny data")


def largest_by_force(data: Dataset) -> int:
    """Weight of the largest realizable part, by trying every part with every bijection."""
    samples = [(s.sentence, s.next_token, s.count) for s in data.samples()]
    best = 0
    for mask in range(1, 2 ** len(samples)):
        part = [row for place, row in enumerate(samples) if mask >> place & 1]
        weight = sum(count for _, _, count in part)
        if weight > best and _is_realizable(part, data.vocabulary):
            best = weight
    return best


def _is_realizable(
    part: list[tuple[tuple[str, ...], str, int]], vocabulary: tuple[str, ...]
) -> bool:
    """Whether some collocation of the vocabulary makes these samples realizable."""
    data = from_samples(part)
    return any(
        order.analyse(data, dict(zip(vocabulary, image, strict=True))).realizable.holds
        for image in permutations(vocabulary)
    )


@check(
    "ours-repair",
    over="data sets",
    instances=tiny_cases,
    tolerance=1e-6,  # of the float solver; weights are whole numbers
    says="On all {tried} random data sets, {failing} of them not realizable as a whole, the "
    "optimum of the integer program equals the weight of the largest realizable part, found by "
    "trying every subset of the samples with every collocation. Greedy search finds a smaller part "
    "on {behind} of the {tried} data sets and never a larger one; no realizable part exceeds its "
    "upper bound.",
    fails="The integer program, the complete search, and greedy search with its upper bound do not "
    "agree.",
    proof=(
        uses("huang2024-asm-1", "Realizable data."),
        uses("huang2024-def-1", "The order of the tokens under a query."),
        by_hand(
            "A feasible point of the integer program gives a realizable set of its weight.",
            at="feasible",
        ),
        by_hand(
            "A realizable set gives a feasible point of the integer program with its weight.",
            at="realizable",
        ),
        by_hand("Fractional values of $k$ give no larger maximum than integers.", at="integral"),
    ),
    planted={
        "The constraints that make the collocation injective left out of the program.": {
            "injective": False
        },
        "Every sample counted once, regardless of its weight, in the complete search.": {
            "once": True
        },
        "The bounds of greedy search 1.1 times sharper.": {"sharper": Fraction(11, 10)},
    },
)
def check_ours_repair(
    one: Tiny, injective: bool = True, once: bool = False, sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """The optimum of the program is the weight of the largest realizable part of the data."""
    truth = one.truth
    if once:
        truth = largest_by_force(
            from_samples([(s.sentence, s.next_token) for s in one.data.samples()])
        )
    table = repair.tabulate(one.data)
    program = repair_program.formulate(table, injective=injective)
    found = repair_program.optimize(program, SECONDS)
    yield holds(found.bound is not None, "the program has no optimum")
    optimum = float("nan") if found.bound is None else found.bound
    yield equal(finite(optimum, "the optimum"), float(truth), f"optimum {optimum:g}", scale=1.0)
    exact, greedy = repair_program.solve_exact(table), repair.solve_greedy(table)
    yield equal(exact.kept_weight, truth, f"the part found has {exact.kept_weight}")
    yield equal(exact.gap, 0, "its gap")
    yield holds(confirmed(exact), "the part found is not realizable")
    kept, most = greedy.kept_weight, greedy.bound
    yield holds(sharper * kept <= truth, f"greedy search keeps {kept} of {truth}")
    yield holds(sharper * truth <= most, f"the bound of greedy search is {most}, of {truth}")
    yield holds(confirmed(greedy), "the part of greedy search is not realizable")
    yield count("failing", int(truth < table.weight))
    yield count("behind", int(greedy.kept_weight < truth))


def confirmed(found: Repair) -> bool:
    """Whether the analysis of `ntpcore check` finds the kept part realizable."""
    rest = found.rest()
    return rest is None or order.analyse(rest, found.collocation).realizable.holds is True
