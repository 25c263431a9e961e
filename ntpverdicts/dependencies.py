"""What a claim rests on, and whether all of that is sound.

The *ground* of a claim is every other claim that its proof uses, directly or through others. A
claim is sound when its own verdict is proved or not contradicted. Then a claim is

* grounded, when it is sound and so is all its ground;
* tainted, when something in its ground is refuted or open, whatever its own verdict;
* unsound, when only its own verdict is refuted or open: it taints what rests on it.

A tainted claim may well be true, and a check may have found no counterexample: tainted says that
the argument for it, as its uses record it, goes through something that is refuted or not checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from ntpverdicts.claims import AGAINST, NOTHING_TRIED, SOUND, Verdict

MOST = 8  # names in one line


@dataclass(frozen=True)
class Standing:
    """A claim's verdict together with what it rests on.

    Attributes:
        label: label of the claim.
        verdict: its own verdict.
        ground: labels of all claims that it rests on, in the order of the catalogue.
        refuted: those of them that are refuted.
        open: those of them that are open.
        used_by: labels of the claims that use it directly.
    """

    label: str
    verdict: Verdict
    ground: tuple[str, ...]
    refuted: tuple[str, ...]
    open: tuple[str, ...]
    used_by: tuple[str, ...]

    @property
    def tainted_by(self) -> tuple[str, ...]:
        """The labels in its ground that are refuted or open, in the order of the catalogue."""
        return tuple(label for label in self.ground if label in {*self.refuted, *self.open})

    @property
    def grounded(self) -> bool:
        """Whether it and all that it rests on is proved or not contradicted."""
        return self.verdict in SOUND and not self.tainted_by

    @property
    def state(self) -> str:
        """One of "grounded", "tainted" and "unsound"."""
        if self.tainted_by:
            return "tainted"
        return "grounded" if self.verdict in SOUND else "unsound"


def standings(
    uses: Mapping[str, Sequence[str]], verdicts: Mapping[str, Verdict]
) -> dict[str, Standing]:
    """The standing of every claim.

    Args:
        uses: for every label the labels that its proof rests on; its order is the catalogue's.
        verdicts: for every label its verdict.

    Raises:
        ValueError: a claim uses one that is not listed, or claims use each other in a circle.
    """
    unknown = sorted({used for given in uses.values() for used in given} - set(uses))
    if unknown:
        raise ValueError(f"claims use {', '.join(unknown)}, which the catalogue does not hold")
    try:
        order = list(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = " uses ".join(reversed(error.args[1]))
        raise ValueError(f"claims use each other in a circle: {circle}") from None
    grounds: dict[str, set[str]] = {}
    for label in order:
        grounds[label] = {one for used in uses[label] for one in (used, *grounds[used])}
    used_by: dict[str, list[str]] = {label: [] for label in uses}
    for label, given in uses.items():
        for used in dict.fromkeys(given):
            used_by[used].append(label)
    place = {label: number for number, label in enumerate(uses)}
    found = {}
    for label in uses:
        ground = tuple(sorted(grounds[label], key=place.__getitem__))
        found[label] = Standing(
            label,
            verdicts[label],
            ground,
            tuple(one for one in ground if verdicts[one] in AGAINST),
            tuple(one for one in ground if verdicts[one] in NOTHING_TRIED),
            tuple(used_by[label]),
        )
    return found


def neighbourhood(standing: Standing) -> tuple[str, ...]:
    """The claims that the subgraph of one claim shows: its ground, itself, what uses it."""
    return (*standing.ground, standing.label, *standing.used_by)


def describe(standing: Standing, names: Mapping[str, str]) -> str:
    """The standing as a phrase for people.

    Args:
        standing: the standing.
        names: for every label what to call it.
    """
    if standing.state == "tainted":
        given = (("refuted", standing.refuted), ("open", standing.open))
        parts = [f"on what is {word} ({listed(labels, names)})" for word, labels in given if labels]
        return f"rests {' and '.join(parts)}"
    if standing.state == "unsound":
        return f"{standing.verdict.value} itself" + (", on sound ground" if standing.ground else "")
    if not standing.ground:
        return "rests on no other claim"
    return "all that it rests on is checked"


def listed(labels: Sequence[str], names: Mapping[str, str], most: int = MOST) -> str:
    """Some claims by their names, in one line."""
    more = len(labels) - most
    words = ", ".join(names[label] for label in labels[:most])
    return words + (f" and {more} more" if more > 0 else "")
