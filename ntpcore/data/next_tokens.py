"""The next-token map n of any data: read off, given, or inferred where both fail.

The theory takes n(x) from the sentences of one token. Sentences of people begin with few words, so
most tokens have no such sentence. For these n(x) is inferred as the token that follows x most often
anywhere in the text. A token that nothing follows has no next token; none is invented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import Structure

READ, INFERRED, GIVEN, NONE = "read", "inferred", "given", "none"
ORIGINS = (READ, INFERRED, GIVEN, NONE)


@dataclass(frozen=True)
class Entry:
    """The next token of one token, and where it comes from.

    Attributes:
        following: n(x); None where there is none.
        origin: READ off the sentences of one token, INFERRED, GIVEN, or NONE.
        count: how often it follows x where the entry was counted.
        of: how often anything follows x there.
    """

    following: str | None
    origin: str
    count: int = 0
    of: int = 0


def infer(data: Dataset, given: Mapping[str, str | None] | None = None) -> dict[str, Entry]:
    """n of each token of the vocabulary, with its origin.

    Args:
        data: the data set.
        given: the next token of some tokens, or None for none; it comes before what the text says.
    """
    names = data.vocabulary
    starts: dict[int, dict[int, int]] = {}
    pairs: dict[int, dict[int, int]] = {}
    for line in data.lines:
        size = len(line.tokens)
        for at in range(0 if data.prefixes else size - 2, size - 1):
            token, following = line.tokens[at], line.tokens[at + 1]
            tables = (starts, pairs) if at == 0 else (pairs,)
            for table in tables:
                found = table.setdefault(token, {})
                found[following] = found.get(following, 0) + line.count
    given = given or {}
    entries: dict[str, Entry] = {}
    for number, name in enumerate(names):
        if name in given:
            entries[name] = Entry(given[name], GIVEN)
            continue
        read = starts.get(number, {})
        counted = read if len(read) == 1 else pairs.get(number, {})
        if not counted:
            entries[name] = Entry(None, NONE)
            continue
        best = max(counted, key=counted.__getitem__)  # the first of them in the text
        origin = READ if len(read) == 1 else INFERRED
        entries[name] = Entry(names[best], origin, counted[best], sum(counted.values()))
    return entries


def map_of(entries: Mapping[str, Entry]) -> dict[str, str | None]:
    """The map alone."""
    return {token: entry.following for token, entry in entries.items()}


def without_gaps(following: Mapping[str, str | None]) -> dict[str, str]:
    """The part of a map at which there is a next token."""
    return {token: after for token, after in following.items() if after is not None}


def undefined_for(data: Dataset, missing: Sequence[str], so: str) -> InputError:
    """The refusal of data in which some tokens have no next token.

    Args:
        data: the data set.
        missing: these tokens.
        so: what follows from that, and the way out.
    """
    listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
    return InputError(f"{data.name}: the next token n is not defined for {listed}, so {so}")


def next_tokens(
    data: Dataset, given: Mapping[str, str | None] | None = None
) -> dict[str, str | None]:
    """A next-token map for any data, to be passed as `collocation`.

    n(x) is what you give; else what follows x where x starts a sentence, if that is one token; else
    the token that follows x most often anywhere, which is a guess. It is None where nothing
    follows x.

    Args:
        data: the data set.
        given: the next token of some tokens, or None for none.

    >>> from ntpcore.data.dataset import from_sentences
    >>> next_tokens(from_sentences(["the cat sat", "the dog sat", "the cat ran"]))
    {'the': 'cat', 'cat': 'sat', 'sat': None, 'dog': 'sat', 'ran': None}
    """
    return map_of(infer(data, given))


def structure_of(
    data: Dataset,
    given: Mapping[str, str | None] | None = None,
    *,
    max_pairs: int = order.MAX_PAIRS,
) -> Structure:
    """The structure of any data under a next-token map: as `order.analyse`, and orders always.

    Where Assumption 1 leaves the orders undefined, they are those of the map that is read off and
    given; what is given comes first, and may name tokens that have no next token.

    Args:
        data: the data set.
        given: the next token of some tokens, or None for none.
        max_pairs: how many pairs all orders may hold together.

    Raises:
        InputError: some token has no next token and is not given one, or the orders would hold more
            than `max_pairs` pairs.
    """
    given = given or {}
    structure = order.analyse(data, without_gaps(given), max_pairs=max_pairs)
    if structure.orders is not None:
        return structure
    missing = [
        token
        for token, following in structure.collocation.items()
        if following is None and token not in given
    ]
    if missing:
        raise undefined_for(
            data,
            missing,
            "there are no orders; give it in collocation={token: next token}, or give "
            "collocation=ntp.next_tokens(data) for the token that follows most often",
        )
    following = {**structure.collocation, **given}
    orders = order.orders_under(structure.data, following, max_pairs=max_pairs)
    return replace(structure, collocation=following, orders=orders)
