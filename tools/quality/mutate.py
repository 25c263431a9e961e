"""Mutations of bytes, the same for the same seed; they stand in for libFuzzer, and beside it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

WORDS = (
    *(b"\n", b"\r\n", b" ", b"\t", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80"),
    *("\u2028\u0085\u3000\u200f\u202e👩\u200d💻ﷺ\x1c\x1d\x0b\x1b[31m".encode(), "\ufeff".encode()),
    *(b'{"sentence": [', b'"next": ', b'"count": ', b"]}", b'"', b"\\ud800", b"\\u0000", b"{}"),
    *(b"1e999", b"NaN", b"-0", b"9" * 400, b"9" * 5000, b"null", b"true", b"[" * 2000, b"S V"),
    *(b"$x_1^2$", b"<script>", b"__import__('os')", b"${HOME}", b"%s%n", b"../../x", b"--"),
)
LONGEST = 20_000


def mutants(corpus: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Inputs made from a corpus by a few random changes each.

    Args:
        corpus: what to start from.
        seed: of the random numbers.
        count: how many inputs.
    """
    rng = random.Random(seed)
    pool = list(corpus)
    for number in range(count):
        content = bytearray(rng.choice(pool))
        for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
            _change(content, rng, pool)
        found = bytes(content[:LONGEST])
        if number % 50 == 0 and len(found) < 2000:  # a change of a change, now and then
            pool[len(corpus) :] = [*pool[len(corpus) :], found][-200:]
        yield found


def _change(content: bytearray, rng: random.Random, pool: Sequence[bytes]) -> None:
    """One random change in place."""
    place, end = rng.randrange(len(content) + 1), rng.randrange(len(content) + 1)
    low, high = min(place, end), max(place, end)
    match rng.randrange(7):
        case 0 if content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case 1:
            content[place:place] = rng.choice(WORDS)
        case 2:
            content[place:place] = rng.randbytes(rng.randrange(1, 9))
        case 3:
            del content[low : min(high, low + 60)]
        case 4:
            content[place:place] = content[low : low + 200] * rng.choice((1, 2, 20))
        case 5:
            other = rng.choice(pool)
            content[low:high] = other[rng.randrange(len(other) + 1) :]
        case _:
            for spot in range(low, min(high, low + 4)):
                content[spot] = rng.randrange(256)
