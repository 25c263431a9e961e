"""How far data are from Assumption 1: shares of contexts and tokens, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from ntpcore.data.dataset import Dataset
from ntpcore.exact import repair, repair_program
from ntpcore.exact.repair import Repair

QUICK_CELLS = 1_000_000  # tokens of sentences that are searched unasked: some two seconds
_EXACT_CELLS = 2_000  # variables of an integer program that is solved in a few seconds
_SECONDS = 10.0


@dataclass(frozen=True)
class Distance:
    """How much of a data set breaks each rule of Assumption 1, a sample being a context.

    Attributes:
        part: a large realizable part, with the collocation that it goes by.
        tokens: tokens of the vocabulary.
        starting: samples whose sentence is one token; these alone define the collocation.
        missing: tokens that start no sentence.
        ambiguous: tokens that are followed by different ones where they start a sentence.
        contested: samples of one such token that are not followed by its most frequent next token.
        shared: tokens whose only next token is that of an earlier one, too.
        unexplained: samples whose next token is n of no token of the sentence, n being that of the
            part.
        contradicting: other samples that the part had to drop, as they make a token win that loses
            in kept ones.
    """

    part: Repair
    tokens: int
    starting: int
    missing: int
    ambiguous: int
    contested: int
    shared: int
    unexplained: int
    contradicting: int


def search(data: Dataset, given: Mapping[str, str] | None, *, exact: bool = True) -> Repair:
    """A large realizable part: the largest where the integer program is quick, else a greedy one.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence.
        exact: whether to run that program at all; without it the answer is the same wherever
            SciPy is missing, as in a browser.

    Raises:
        InputError: the data are too large, or the given collocation is not injective.
    """
    table = repair.tabulate(data, given)
    small = repair_program.group_cells(table) <= _EXACT_CELLS
    if exact and small and find_spec("scipy") is not None:
        return repair_program.solve_exact(table, seconds=_SECONDS)
    return repair.solve_greedy(table)


def measure(data: Dataset, given: Mapping[str, str] | None, part: Repair) -> Distance:
    """The distance of a data set from each rule, counted anew from its lines.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence.
        part: a realizable part of it.
    """
    followers: dict[int, dict[int, int]] = {}
    for line in data.lines:
        if data.prefixes or len(line.tokens) == 2:
            found = followers.setdefault(line.tokens[0], {})
            found[line.tokens[1]] = found.get(line.tokens[1], 0) + line.count
    known = set(given or {})
    single = [next(iter(found)) for found in followers.values() if len(found) == 1]
    unexplained = part.unexplained_weight
    return Distance(
        part=part,
        tokens=len(data.vocabulary),
        starting=sum(sum(found.values()) for found in followers.values()),
        missing=sum(
            token not in followers and name not in known
            for token, name in enumerate(data.vocabulary)
        ),
        ambiguous=sum(len(found) > 1 for found in followers.values()),
        contested=sum(sum(found.values()) - max(found.values()) for found in followers.values()),
        shared=len(single) - len(set(single)),
        unexplained=unexplained,
        contradicting=part.table.weight - part.kept_weight - unexplained,
    )


def to_json(found: Distance) -> dict[str, object]:
    """The distance as plain data; contexts are counted as often as they occur."""
    return {
        "tokens": found.tokens,
        "contexts": found.part.table.weight,
        "contexts_of_one_token": found.starting,
        "collocation-missing": found.missing,
        "collocation-ambiguous": found.ambiguous,
        "collocation-ambiguous-contexts": found.contested,
        "collocation-not-injective": found.shared,
        "next-token-unexplained": found.unexplained,
        "confused-token": found.contradicting,
        "explained": found.part.kept_weight,
        "explained_at_most": found.part.bound,
        "method": found.part.method,
        "proved": found.part.proved,
    }
