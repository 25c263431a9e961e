"""Checks and studies of the page on how far data are from realizable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.exact import repair, repair_program
from ntpcore.exact.repair import Repair
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Table

_EXACT_CELLS = 650  # tokens of all groups; larger data are searched greedily on the page
_SECONDS = 600.0  # never reached on the page, where the search stops after so many nodes
_NODES = 200


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


def check_ours_repair(
    cases: Iterable[Dataset], *, injective: bool = True, **used: int | str
) -> Check:
    """The optimum of the program against all parts, and the greedy part against both bounds."""
    label = "ours-repair"
    tried = failing = behind = 0
    for data in cases:
        tried += 1
        table = repair.tabulate(data)
        truth = largest_by_force(data)
        found = repair_program.optimize(
            repair_program.formulate(table, injective=injective), _SECONDS
        )
        optimum = math.nan if found.bound is None else found.bound
        exact, greedy = repair_program.solve_exact(table), repair.solve_greedy(table)
        failing += truth < table.weight
        behind += greedy.kept_weight < truth
        wrong = {
            f"the optimum is {optimum:g}": not abs(optimum - truth) < 1e-6,
            f"the part found has {exact.kept_weight}": exact.kept_weight != truth,
            f"its gap is {exact.gap}": exact.gap != 0,
            "the part found is not realizable": not _confirmed(exact),
            f"greedy search keeps {greedy.kept_weight}": greedy.kept_weight > truth,
            f"its bound is {greedy.bound}": greedy.bound < truth,
            "its part is not realizable": not _confirmed(greedy),
        }
        problems = [text for text, is_wrong in wrong.items() if is_wrong]
        if problems:
            shown = "; ".join(f"{' '.join(s.sentence)} → {s.next_token}" for s in data.samples())
            witness = f"{shown}: the largest realizable part has {truth}, but {problems[0]}."
            evidence = "The program and the complete search disagree."
            return Check(label, Verdict.REFUTED, tried, "data sets", evidence, witness=witness)
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        "data sets",
        f"On all {tried} random data sets, {failing} of them not realizable as a whole, the "
        "optimum is the weight of the largest realizable part, found by trying every part with "
        f"every collocation. Greedy search falls short on {behind} of them and never exceeds it; "
        "its bound is never exceeded.",
        numbers={"tried": str(tried), "failing": str(failing), "behind": str(behind)},
        parameters=used,
        by_hand=("feasible points are realizable parts, by the roles of tokens",),
    )


def _confirmed(found: Repair) -> bool:
    """Whether the analysis of `ntpcore check` finds the kept part realizable."""
    rest = found.rest()
    return rest is None or order.analyse(rest, found.collocation).realizable.holds is True


def control_ours_repair(cases: Iterable[Dataset]) -> Control:
    """A program that forgets that n is injective must be noticed."""
    return Control(
        "The rows that make the collocation injective were left out of the program.",
        Verdict.REFUTED,
        check_ours_repair(cases, injective=False).verdict,
    )


@dataclass(frozen=True)
class Share:
    """How much of a beginning of a text the theory can explain.

    Attributes:
        sentences: how many sentences it has.
        found: the realizable part.
    """

    sentences: int
    found: Repair

    @property
    def bound(self) -> float:
        """A share that no realizable part exceeds."""
        return self.found.bound / self.found.table.weight


def grow(data: Dataset, steps: int = 6) -> list[Share]:
    """The realizable parts of ever longer beginnings of a text, each twice the one before it."""
    sizes = sorted({math.ceil(len(data.lines) / 2**step) for step in range(steps)})
    return [Share(size, best_part(_beginning(data, size))) for size in sizes]


def best_part(data: Dataset) -> Repair:
    """The largest realizable part of small data, one found greedily of larger data."""
    table = repair.tabulate(data)
    if table.cells > _EXACT_CELLS:
        return repair.solve_greedy(table)
    return repair_program.solve_exact(table, seconds=_SECONDS, nodes=_NODES)


def _beginning(data: Dataset, size: int) -> Dataset:
    """The first distinct lines of a data set; the vocabulary is that of these lines."""
    lines = data.lines[:size]
    used = dict.fromkeys(token for line in lines for token in line.tokens)
    place = {token: number for number, token in enumerate(used)}
    renamed = tuple(
        type(line)(type(line.tokens)("I", [place[t] for t in line.tokens]), line.count, line.number)
        for line in lines
    )
    return Dataset(tuple(data.vocabulary[t] for t in used), renamed, data.prefixes, data.name)


def share_table(studies: Sequence[Sequence[Share]]) -> Table:
    """For each text, as a whole: its size, what is kept, and what could be kept at most."""
    rows = []
    for shares in studies:
        last = shares[-1]
        table = last.found.table
        at_most = "the same" if last.found.gap == 0 else f"{last.bound:.1%}"
        rows.append(
            (
                table.data.name,
                str(len(table.data.vocabulary)),
                str(table.weight),
                f"{last.found.share:.1%}",
                at_most,
                last.found.method,
            )
        )
    header = ("text", "tokens", "next tokens", "explained", "at most", "found by")
    return Table(header, tuple(rows))


def dropped_table(found: Repair, longest: int = 8, most: int = 6) -> Table:
    """The most frequent short sentences that must be dropped, each with the reason."""
    rows = []
    for one in sorted(found.dropped, key=lambda one: -one.count):
        data = found.table.data
        shown = order.describe_sample(data, one.at)
        words = shown["sentence"]
        assert isinstance(words, list)
        if len(words) <= longest:
            rows.append((" ".join(words), str(shown["next"]), str(one.count), one.reason))
    return Table(("sentence", "next", "times", "why it cannot stay"), tuple(rows[:most]))
