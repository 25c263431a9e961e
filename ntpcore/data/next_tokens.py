"""The next-token map n of any data: given, read off one-token sentences, or inferred.

The theory takes n(x) from the sentence that consists of x alone. In natural language few words
begin a sentence. If x has no such sentence, or several with different next tokens, n(x) is inferred
as the token that follows x most often anywhere in the text; lists of samples count last tokens of
sentences only. A token that no token follows has no next token.
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
        following: n(x), the next token of token x; None if x has none.
        origin: READ off the one-token sentence of x, INFERRED, GIVEN, or NONE.
        count: how often n(x) follows x: in one-token sentences if READ, anywhere if INFERRED.
        of: how often any token follows x in the places of `count`.
    """

    following: str | None
    origin: str
    count: int = 0
    of: int = 0


def infer(data: Dataset, given: Mapping[str, str | None] | None = None) -> dict[str, Entry]:
    """The next token of each token of the vocabulary, with its origin.

    Args:
        data: the data set.
        given: the next token of some tokens, None for no next token; overrides the data.
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
    """The next-token map, without the origins of its entries."""
    return {token: entry.following for token, entry in entries.items()}


def without_gaps(following: Mapping[str, str | None]) -> dict[str, str]:
    """A next-token map without the tokens that have no next token."""
    return {token: after for token, after in following.items() if after is not None}


def undefined_for(data: Dataset, missing: Sequence[str], so: str) -> InputError:
    """The error to raise for data in which some tokens have no next token.

    Args:
        data: the data set.
        missing: the tokens without a next token.
        so: the consequence and the remedy, for the message.
    """
    listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
    return InputError(f"{data.name}: the next token n is not defined for {listed}, so {so}")


def next_tokens(
    data: Dataset, given: Mapping[str, str | None] | None = None
) -> dict[str, str | None]:
    """A next-token map for any data, to be passed as `collocation`.

    The next token n(x) of token x is the given one. Otherwise n(x) is the token that follows x as a
    one-token sentence, if only one token does. Otherwise n(x) is a guess: the token that follows x
    most often anywhere. n(x) is None if no token follows x.

    Args:
        data: the data set.
        given: the next token of some tokens, None for no next token.

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
    """The structure of any data, as from `order.analyse`, but always with orders.

    If `order.analyse` leaves the orders undefined, the orders are those of the next-token map that
    `given` and the one-token sentences define. Where both define n(x), `given` prevails,
    even with None.

    Args:
        data: the data set.
        given: the next token of some tokens, None for no next token.
        max_pairs: how many pairs all orders may hold together.

    Raises:
        InputError: the data define no next token for some token that `given` does not name, or the
            orders would hold more than `max_pairs` pairs.
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
