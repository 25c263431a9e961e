"""Check a certificate of exact max-margin attention: `python certificate.py certificate.json`.

This file runs alone. It needs Python and nothing else, and shares no code with the solver. It reads
what `ntpcore certify` wrote and accepts it, or names the first place that is wrong. A certificate
holds the samples themselves; orders, assumptions, and components are derived from them here.

What acceptance means, for the samples and the collocation n in the file:

1. `facts` says correctly whether Assumption 1 (n is injective, and no token is confused),
   Assumption 3, prefix closure, and source hold (huang2024, Sections 3 and 4).
2. `columns` has one entry for each query that compares tokens by Definition 1, and its scores are
   the unique shortest vector with a margin of at least 1 on each pair and equal scores on tokens
   that lie above each other in a circle. Proof: the scores are feasible, and the multipliers l are
   positive on pairs with a margin of exactly 1 and satisfy sum of scores of a component = sum of l
   out of it minus sum of l into it. So for any other feasible u, <w, u - w> = sum of l (margin of u
   minus 1) >= 0, hence |u|^2 >= |w|^2 + |u - w|^2. Without circles, this is the theorem
   `certificate_solves` of proofs/MaxMargin.v, which Coq has read.
3. `closed_form` says whether these scores are m/(k+m) and -k/(k+m) (Proposition 2), and
   `norm_squared` is the sum of the squares of all scores.
4. `bounds`, where Assumptions 1 and 3 and source hold: `K` is at least the constant of Theorem A,
   log(2 L^2 (L-1)^3 / pi_min), as (1 + K/n)^n <= e^K shows; and from step `beats_trivial_from` on
   the bound of Theorem B on 1 - cos is below 1 - 1 / (sqrt(2) ||W*||), at this step size.

Numbers are integers, or strings such as "-1/3".
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

Sample = tuple[tuple[int, ...], int, int]  # sentence, next token, count
Pairs = set[tuple[int, int]]  # (upper, lower)

FORMAT = "ntpcore certificate 1"
KEYS = ("format", "vocabulary", "samples", "collocation", "facts", "columns", "norm_squared",
        "bounds")  # fmt: skip
FACTS = ("assumption_1", "assumption_3", "prefix_closed", "source")
COLUMN = ("query", "scores", "multipliers", "closed_form")
BOUNDS = ("eta", "longest", "pi_min", "K", "beats_trivial_from")
ROOT_2, POWER = Fraction(99, 70), 4096  # above the square root of 2; n in (1 + K/n)^n


class RefusedError(Exception):
    """A place in a certificate, and what is wrong there."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")


def need(holds: object, place: str, reason: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise RefusedError(place, reason)


def keys(value: Any, names: tuple[str, ...], place: str) -> None:
    """Refuse what is no object with exactly these names."""
    need(isinstance(value, dict), place, "not an object")
    for name in names:
        need(name in value, place, f"{name!r} is missing")
    for name in value:
        need(name in names, place, f"{name!r} means nothing here")


def items(value: Any, place: str) -> list[tuple[Any, str]]:
    """The parts of a list, each with its place."""
    need(isinstance(value, list), place, "not a list")
    return [(part, f"{place}[{number}]") for number, part in enumerate(value)]


def whole(value: Any, low: int, high: int | None, place: str) -> int:
    """A whole number from low up to, and without, high; None for no limit."""
    need(type(value) is int, place, "not a whole number")
    need(value >= low and (high is None or value < high), place, f"{value} is out of range")
    return int(value)


def fraction(value: Any, place: str) -> Fraction:
    """A fraction in lowest terms, such as "2/3" or "-1"."""
    need(isinstance(value, str), place, 'not a fraction such as "2/3"')
    try:
        found = Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise RefusedError(place, f"{value!r} is not a fraction") from None
    need(str(found) == value, place, f"{value!r} is not in lowest terms; write {str(found)!r}")
    return found


def truth(value: Any, right: bool, place: str) -> None:
    """Refuse what is not the truth value that was found here."""
    need(value is True or value is False, place, "neither true nor false")
    need(value is right, place, f"it says {str(value).lower()}, and the data say otherwise")


def read_samples(certificate: dict[str, Any]) -> tuple[list[int], list[Sample]]:
    """The collocation and the samples."""
    tokens = items(certificate["vocabulary"], "vocabulary")
    for name, place in tokens:
        need(isinstance(name, str), place, "not a token")
    size = len(tokens)
    need(len({name for name, _ in tokens}) == size, "vocabulary", "a token occurs twice")
    found: list[Sample] = []
    seen = set()
    for sample, place in items(certificate["samples"], "samples"):
        need(len(items(sample, place)) == 3, place, "not [sentence, next token, count]")
        sentence = tuple(whole(x, 0, size, at) for x, at in items(sample[0], f"{place}[0]"))
        need(sentence, place, "the sentence is empty")
        following = whole(sample[1], 0, size, f"{place}[1]")
        count = whole(sample[2], 1, None, f"{place}[2]")
        need((sentence, following) not in seen, place, "the sample occurs twice")
        seen.add((sentence, following))
        found.append((sentence, following, count))
    need(found, "samples", "there is none")
    n = [whole(x, 0, size, at) for x, at in items(certificate["collocation"], "collocation")]
    need(len(n) == size, "collocation", f"{len(n)} next tokens for {size} tokens")
    for sentence, following, _ in found:
        if len(sentence) == 1:
            one = sentence[0]
            need(n[one] == following, f"collocation[{one}]", "a sample of one token says otherwise")
    return n, found


def relation(
    n: list[int], samples: list[Sample]
) -> tuple[dict[int, Pairs], bool, bool, list[Sample]]:
    """For each query its pairs; whether source and Assumption 3 hold; samples that compare."""
    pairs: dict[int, Pairs] = {}
    source, frequent, comparing = True, True, []
    for sentence, following, count in samples:
        uppers = {x for x in sentence if n[x] == following}
        if not uppers:
            source = False
            continue
        most = max(sentence.count(x) for x in set(sentence))
        frequent = frequent and most <= sum(sentence.count(x) for x in uppers)
        lowers = set(sentence) - uppers
        if lowers:
            comparing.append((sentence, following, count))
            pairs.setdefault(sentence[-1], set()).update((a, b) for a in uppers for b in lowers)
    return pairs, source, frequent, comparing


def components(pairs: Pairs) -> dict[int, int]:
    """For each token the number of its component: tokens above each other in a circle share one."""
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for a, b in pairs:
        below.setdefault(a, []).append(b)
        above.setdefault(b, []).append(a)
    tokens = sorted({x for pair in pairs for x in pair})
    order, seen = list[int](), set[int]()
    for start in tokens:  # depth first; a token is done after all below it
        stack = [(start, False)]
        while stack:
            token, done = stack.pop()
            if done:
                order.append(token)
            elif token not in seen:
                seen.add(token)
                stack.append((token, True))
                stack.extend((other, False) for other in below.get(token, ()) if other not in seen)
    found: dict[int, int] = {}
    for number, start in enumerate(reversed(order)):
        waiting = [start]
        while waiting:
            token = waiting.pop()
            if token not in found:
                found[token] = number
                waiting.extend(above.get(token, ()))
    return found


def check_column(column: dict[str, Any], pairs: Pairs, place: str) -> Fraction:
    """The sum of the squared scores of one query, after the conditions of optimality held."""
    part = components(pairs)
    scores: dict[int, Fraction] = {}
    for row, at in items(column["scores"], f"{place}.scores"):
        need(len(items(row, at)) == 2, at, "not [token, score]")
        token = whole(row[0], 0, None, at)
        need(token in part, at, f"token {token} is not compared under this query")
        need(not scores or token > max(scores), at, "tokens are not in increasing order")
        scores[token] = fraction(row[1], at)
    for token in part:
        need(token in scores, f"{place}.scores", f"token {token} has no score")
    for a, b in sorted(pairs):
        margin = scores[a] - scores[b]
        if part[a] == part[b]:
            need(margin == 0, place, f"tokens {a} and {b} of one circle score differently")
        else:
            need(margin >= 1, place, f"the margin of {a} above {b} is {margin}")
    balance: dict[int, Fraction] = {}
    last: tuple[int, int] | None = None
    for row, at in items(column["multipliers"], f"{place}.multipliers"):
        need(len(items(row, at)) == 3, at, "not [upper, lower, multiplier]")
        a, b = whole(row[0], 0, None, at), whole(row[1], 0, None, at)
        need((a, b) in pairs and part[a] != part[b], at, f"{a} above {b} asks for no margin")
        need(last is None or (a, b) > last, at, "pairs are not in increasing order")
        last, value = (a, b), fraction(row[2], at)
        need(value > 0, at, "the multiplier is not positive")
        need(scores[a] - scores[b] == 1, at, "a multiplier, and a margin that is not 1")
        balance[part[a]] = balance.get(part[a], Fraction(0)) + value
        balance[part[b]] = balance.get(part[b], Fraction(0)) - value
    sums: dict[int, Fraction] = {}
    for token, score in scores.items():
        sums[part[token]] = sums.get(part[token], Fraction(0)) + score
    for token in scores:
        right = balance.get(part[token], 0)
        need(
            sums[part[token]] == right, place, f"the multipliers do not give token {token}'s score"
        )
    uppers, lowers = {a for a, _ in pairs}, {b for _, b in pairs}
    k, m = len(uppers), len(lowers)
    form = {a: Fraction(m, k + m) for a in uppers} | {b: Fraction(-k, k + m) for b in lowers}
    truth(column["closed_form"], not uppers & lowers and form == scores, f"{place}.closed_form")
    return sum((score**2 for score in scores.values()), Fraction(0))


def check_bounds(found: Any, S: Fraction, comparing: list[Sample], total: int) -> None:
    """The constant of Theorem A, and the step from which Theorem B beats the trivial bound."""
    keys(found, BOUNDS, "bounds")
    eta, K = (fraction(found[name], f"bounds.{name}") for name in ("eta", "K"))
    need(eta > 0, "bounds.eta", "not positive")
    L = max(len(sentence) for sentence, _, _ in comparing)
    need(whole(found["longest"], 2, None, "bounds.longest") == L, "bounds.longest", f"it is {L}")
    least = Fraction(min(count for _, _, count in comparing), total)
    need(fraction(found["pi_min"], "bounds.pi_min") == least, "bounds.pi_min", f"it is {least}")
    inside = 2 * L**2 * (L - 1) ** 3 / least
    need(K.denominator <= 1000, "bounds.K", "write it in thousandths")
    need(0 < K < 10**6, "bounds.K", "out of range")
    need(inside <= (1 + K / POWER) ** POWER, "bounds.K", "too small, or not shown")
    step, place = found["beats_trivial_from"], "bounds.beats_trivial_from"
    if 2 * S <= 1:
        need(step is None, place, "the trivial bound is 0, which nothing beats; write null")
    else:
        from_ = int(2 * S * (1 + ROOT_2 * K / eta) / (2 * S - 1)) + 1
        need(whole(step, 1, None, place) == from_, place, f"it is {from_}")


def check(certificate: Any) -> None:
    """Accept a certificate, or raise.

    Raises:
        RefusedError: names the first place that is wrong.
    """
    keys(certificate, KEYS, "certificate")
    need(certificate["format"] == FORMAT, "format", f"not {FORMAT}")
    n, samples = read_samples(certificate)
    pairs, source, frequent, comparing = relation(n, samples)
    known = {(sentence, y) for sentence, y, _ in samples}
    closed = all((s[:-1], s[-1]) in known for s, _, _ in samples if len(s) > 1)
    confused = any({a for a, _ in one} & {b for _, b in one} for one in pairs.values())
    keys(certificate["facts"], FACTS, "facts")
    right = (len(set(n)) == len(n) and not confused, frequent, closed, source)
    for name, value in zip(FACTS, right, strict=True):
        truth(certificate["facts"][name], value, f"facts.{name}")
    S, queries = Fraction(0), sorted(pairs)
    columns = items(certificate["columns"], "columns")
    need(len(columns) == len(queries), "columns", f"{len(queries)} queries compare tokens")
    for (column, place), query in zip(columns, queries, strict=True):
        keys(column, COLUMN, place)
        found = whole(column["query"], 0, None, f"{place}.query")
        need(found == query, f"{place}.query", f"the next query that compares tokens is {query}")
        S += check_column(column, pairs[query], place)
    need(fraction(certificate["norm_squared"], "norm_squared") == S, "norm_squared", f"it is {S}")
    if right[0] and frequent and source and comparing:
        total = sum(count for _, _, count in samples)
        check_bounds(certificate["bounds"], S, comparing, total)
    else:
        need(certificate["bounds"] is None, "bounds", "Theorem B does not speak of these data")


def once(rows: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose names are different."""
    need(len({name for name, _ in rows}) == len(rows), "certificate", "a name occurs twice")
    return dict(rows)


def main(words: list[str]) -> int:
    """Check a file: 0 if it is accepted, 1 if not, 2 if it cannot be read."""
    if len(words) != 1:
        print("usage: python certificate.py certificate.json", file=sys.stderr)
        return 2
    try:
        with open(words[0], encoding="utf-8") as stream:
            check(json.load(stream, object_pairs_hook=once))
    except (OSError, ValueError, RecursionError) as error:
        print(f"{words[0]}: cannot be read ({error})", file=sys.stderr)
        return 2
    except RefusedError as error:
        print(f"{words[0]}: not accepted: {error}")
        return 1
    print(f"{words[0]}: accepted")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
