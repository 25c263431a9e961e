"""Check a certificate of exact max-margin attention: `python certificate.py certificate.json`.

This file runs alone and shares no code with the solver. It accepts what `ntpcore certify` wrote, or
names the first place that is wrong. A certificate holds the samples; orders, assumptions, and
components are derived here. Numbers are integers, or strings such as "-1/3".

What acceptance means, for the samples and the collocation n in the file:

1. `facts` says correctly whether Assumption 1 (n is injective, and no token is confused),
   Assumption 3, prefix closure, and source hold (huang2024, Sections 3 and 4). `theorems` lists for
   each theorem its hypotheses on the data that are met and missing; it applies if none is missing.
2. `columns` has one entry for each query that compares tokens by Definition 1. Its `pairs` name for
   each pair a sample that forces it, and a multiplier. Its `scores` are the unique shortest vector
   with a margin of at least 1 on each pair and equal scores on tokens above each other in a circle.
   Proof: the scores are feasible, and the multipliers l are positive on pairs with a margin of
   exactly 1 and satisfy sum of scores of a component = sum of l out of it minus sum of l into it.
   So for any feasible u, <w, u - w> = sum of l (margin of u minus 1) >= 0, hence |u|^2 >= |w|^2 +
   |u - w|^2. Without circles, this is `certificate_solves` of proofs/MaxMargin.v, which Coq has
   read.
3. `closed_form` says whether these scores are m/(k+m) and -k/(k+m) (Proposition 2), and
   `norm_squared` is the sum of the squares of all scores.
4. `bounds`, where Theorem B applies: `K` is at least the constant of Theorem A, log(2 L^2 (L-1)^3 /
   pi_min), as (1 + K/n)^n <= e^K shows; and from step `beats_trivial_from` on the bound of Theorem
   B on 1 - cos is below 1 - 1 / (sqrt(2) ||W*||), at this step size.
"""

from __future__ import annotations

import gc
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Any

Sample = tuple[tuple[int, ...], int, int]  # sentence, next token, count
Data = tuple[list[int], list[Sample]]  # collocation, samples
Below = dict[int, set[int]]  # for each token with something below it, the tokens below it
Orders = dict[int, Below]  # for each query that compares tokens
Levels = list[tuple[Fraction, list[int]]]  # scores, each with its tokens

FORMAT = "ntpcore certificate 2"
KEYS = ("format", "vocabulary", "samples", "collocation", "facts", "theorems", "columns",
        "norm_squared", "bounds")  # fmt: skip
FACTS = A1, A3, CLOSURE, SOURCE = "assumption_1", "assumption_3", "prefix_closed", "source"
THEOREMS = {"Proposition 2": (A1, CLOSURE, SOURCE), "Proposition 4": (A1, CLOSURE, SOURCE),
            "Theorem A": (A1, A3, SOURCE), "Theorem B": (A1, A3, SOURCE)}  # fmt: skip
COLUMN = ("query", "scores", "pairs", "closed_form")
BOUNDS = ("eta", "longest", "pi_min", "K", "beats_trivial_from")
FRACTION = re.compile("-?[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
ROOT_2, POWER = Fraction(99, 70), 4096  # above the square root of 2; n in (1 + K/n)^n


class RefusedError(Exception):
    """A place in a certificate, and what is wrong there."""


def need(holds: object, place: str, reason: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise RefusedError(f"{place}: {reason}")


def keys(value: Any, names: tuple[str, ...], place: str) -> None:
    """Refuse what is no object with exactly these names."""
    need(isinstance(value, dict), place, "not an object")
    for name in names:
        need(name in value, place, f"{name!r} is missing")
    for name in value:
        need(name in names, place, f"{name!r} means nothing here")


def items(value: Any, place: str, parts: str = "") -> Iterator[tuple[Any, str]]:
    """The parts of a list, each with its place; `parts` names them where their number is fixed."""
    need(isinstance(value, list), place, "not a list")
    need(not parts or len(value) == parts.count(",") + 1, place, f"not [{parts}]")
    return ((part, f"{place}[{number}]") for number, part in enumerate(value))


def whole(value: Any, low: int, high: int | None, place: str) -> int:
    """A whole number from low up to, and without, high; None for no limit."""
    need(type(value) is int, place, "not a whole number")
    need(value >= low and (high is None or value < high), place, f"{value} is out of range")
    return int(value)


def tokens(value: Any, size: int | None, place: str) -> list[int]:
    """A list of tokens by their numbers, which is not empty."""
    need(isinstance(value, list) and value, place, "not a list of tokens")
    if set(map(type, value)) != {int} or (size and not 0 <= min(value) <= max(value) < size):
        for part, at in items(value, place):
            whole(part, 0, size, at)
    return list(value)


def fraction(value: Any, place: str) -> Fraction:
    """A fraction in lowest terms, such as "2/3" or "-1"."""
    need(isinstance(value, str) and FRACTION.fullmatch(value), place, 'not a fraction like "2/3"')
    found = Fraction(value)
    need(str(found) == value, place, f"{value!r} is not in lowest terms; write {str(found)!r}")
    return found


def read_samples(certificate: dict[str, Any]) -> Data:
    """The collocation and the samples."""
    names = certificate["vocabulary"]
    for name, place in items(names, "vocabulary"):
        need(isinstance(name, str), place, "not a token")
    need(len(set(names)) == len(names), "vocabulary", "a token occurs twice")
    n = tokens(certificate["collocation"], len(names), "collocation")
    need(len(n) == len(names), "collocation", f"{len(n)} next tokens for {len(names)} tokens")
    found: dict[tuple[tuple[int, ...], int], int] = {}
    for sample, place in items(certificate["samples"], "samples"):
        items(sample, place, "sentence, next token, count")
        sentence = tuple(tokens(sample[0], len(n), f"{place}[0]"))
        following = whole(sample[1], 0, len(n), f"{place}[1]")
        need((sentence, following) not in found, place, "the sample occurs twice")
        found[sentence, following] = whole(sample[2], 1, None, f"{place}[2]")
        agrees = len(sentence) > 1 or n[sentence[0]] == following
        need(agrees, place, "the collocation has another next token for this token")
    need(found, "samples", "there is none")
    return n, [(*sample, count) for sample, count in found.items()]


def derive(n: list[int], samples: list[Sample]) -> tuple[Orders, dict[str, bool], list[Sample]]:
    """For each query its order; the facts; the samples that compare tokens."""
    before = Below()  # for each token y, the tokens x with n(x) = y
    for token, following in enumerate(n):
        before.setdefault(following, set()).add(token)
    orders, source, frequent, comparing = Orders(), True, True, list[Sample]()
    for sentence, following, count in samples:
        present = set(sentence)
        uppers = before.get(following, set()) & present
        source = source and bool(uppers)
        if frequent and uppers:
            times = Counter(sentence)
            frequent = max(times.values()) <= sum(times[x] for x in uppers)
        if 0 < len(uppers) < len(present):
            comparing.append((sentence, following, count))
            for a in uppers:
                orders.setdefault(sentence[-1], {}).setdefault(a, set()).update(present)
    orders = {q: {a: x - before[n[a]] for a, x in one.items()} for q, one in orders.items()}
    known = {(sentence, y) for sentence, y, _ in samples}
    closed = all((s[:-1], s[-1]) in known for s, _, _ in samples if len(s) > 1)
    confused = any(not lowers.isdisjoint(one) for one in orders.values() for lowers in one.values())
    facts = (len(before) == len(n) and not confused, frequent, closed, source)
    return orders, dict(zip(FACTS, facts, strict=True)), comparing


def reach(graph: Below, start: int) -> set[int]:
    """The tokens to which a path leads."""
    found, waiting = {start}, [start]
    while waiting:
        fresh = graph.get(waiting.pop(), set()) - found
        found |= fresh
        waiting.extend(fresh)
    return found


def components(below: Below, scores: dict[int, int], place: str) -> dict[int, int]:
    """For each token one of its component; refuses a pair of equal scores that is on no circle."""
    part = {x: x for x in scores}  # on a circle all margins are 0, as none is negative
    down, up = Below(), Below()
    for a, b in ((a, b) for a, lowers in below.items() for b in lowers if scores[a] == scores[b]):
        down.setdefault(a, set()).add(b)
        up.setdefault(b, set()).add(a)
    for start in down:
        if part[start] == start:
            circle = reach(down, start)
            need(circle == reach(up, start), place, f"token {start} scores like one below it")
            part.update(dict.fromkeys(circle, start))
    return part


def check_column(column: Any, data: Data, below: Below, place: str) -> Levels:
    """The scores of one query, after their witnesses and their optimality were checked."""
    (n, samples), levels = data, Levels()
    for row, at in items(column["scores"], f"{place}.scores"):
        items(row, at, "score, tokens")
        levels.append((fraction(row[0], at), tokens(row[1], None, at)))
    flows, seen = [], Below()
    for row, at in items(column["pairs"], f"{place}.pairs"):
        items(row, at, "sample, multiplier, upper token, lower tokens")
        sentence, following, _ = samples[whole(row[0], 0, len(samples), at)]
        a, rivals = whole(row[2], 0, None, at), tokens(row[3], None, at)
        new, known = set(rivals), seen.setdefault(a, set())
        forced = sentence[-1] == column["query"] and a in sentence and n[a] == following
        forced = forced and new <= below.get(a, set()) and new.issubset(sentence)
        need(forced, at, f"sample {row[0]} does not put token {a} above all of these")
        need(len(new) == len(rivals) and known.isdisjoint(new), at, "a pair comes twice")
        known |= new
        flows.append((fraction(row[1], at), a, rivals, at))
    need(seen == below, f"{place}.pairs", "a pair of the order is missing")
    unit = lcm(*(x.denominator for x, _ in levels), *(flow[0].denominator for flow in flows))
    scores: dict[int, int] = {}  # in parts of 1/unit
    for value, row in levels:
        scores |= dict.fromkeys(row, value.numerator * (unit // value.denominator))
    need(len(scores) == sum(len(row) for _, row in levels), place, "a token has two scores")
    uppers, lowers = set(below), set().union(*below.values())
    need(scores.keys() == uppers | lowers, f"{place}.scores", "not the tokens that are compared")
    part, left = components(below, scores, place) if uppers & lowers else {}, dict(scores)
    for multiplier, a, rivals, at in flows:
        need(multiplier >= 0, at, "the multiplier is negative")
        flow = multiplier.numerator * (unit // multiplier.denominator)
        low = scores[a] - unit
        for b in rivals if {low} != {*map(scores.__getitem__, rivals)} else ():
            fits = not flow and (scores[b] < low or part.get(a, a) == part.get(b, b))
            need(fits or scores[b] == low, at, f"{a} above {b}: a margin below 1, or a slack flow")
        for b in rivals if flow else ():
            left[b] += flow
        left[a] -= flow * len(rivals)
    for x, rest in [*left.items()] if part else ():  # each component adds up at one token
        left[x] -= rest
        left[part[x]] += rest
    need(not any(left.values()), place, "the multipliers do not give the scores")
    k, m = len(uppers), len(lowers)
    two_levels = {score for score, _ in levels} == {Fraction(m, k + m), Fraction(-k, k + m)}
    closed = two_levels and not uppers & lowers  # each optimal token is 1 above another, at least
    need(column["closed_form"] is closed, f"{place}.closed_form", f"it is {closed}".lower())
    return levels


def check_bounds(found: Any, S: Fraction, comparing: list[Sample], total: int) -> None:
    """The constant of Theorem A, and the step from which Theorem B beats the trivial bound."""
    keys(found, BOUNDS, "bounds")
    eta, K = (fraction(found[name], f"bounds.{name}") for name in ("eta", "K"))
    need(eta > 0, "bounds.eta", "not positive")
    L = max(len(sentence) for sentence, _, _ in comparing)
    need(whole(found["longest"], 2, None, "bounds.longest") == L, "bounds.longest", f"it is {L}")
    least = Fraction(min(count for _, _, count in comparing), total)
    need(fraction(found["pi_min"], "bounds.pi_min") == least, "bounds.pi_min", "another share")
    inside = 2 * L**2 * (L - 1) ** 3 / least
    need(K.denominator <= 1000 and 0 < K < 10**6, "bounds.K", "no thousandths, or out of range")
    need(inside <= (1 + K / POWER) ** POWER, "bounds.K", "too small, or not shown")
    step = found["beats_trivial_from"]  # none if the trivial bound is 0
    right = int(2 * S * (1 + ROOT_2 * K / eta) / (2 * S - 1)) + 1 if 2 * S > 1 else None
    need(type(step) is type(right) and step == right, "bounds.beats_trivial_from", "another step")


def check(certificate: Any) -> None:
    """Accept a certificate, or raise a `RefusedError` that names the first place that is wrong."""
    keys(certificate, KEYS, "certificate")
    need(certificate["format"] == FORMAT, "format", f"not {FORMAT}")
    n, samples = read_samples(certificate)
    orders, facts, comparing = derive(n, samples)
    keys(certificate["facts"], FACTS, "facts")
    for name, value in facts.items():
        need(certificate["facts"][name] is value, f"facts.{name}", f"it is {value}".lower())
    keys(certificate["theorems"], tuple(THEOREMS), "theorems")
    for name, needed in THEOREMS.items():
        met, missing = ([fact for fact in needed if facts[fact] is x] for x in (True, False))
        right = {"met": met, "missing": missing}
        need(certificate["theorems"][name] == right, f"theorems.{name}", f"it is {right}")
    columns, queries = list(items(certificate["columns"], "columns")), sorted(orders)
    need(len(columns) == len(queries), "columns", f"{len(queries)} queries compare tokens")
    sizes: Counter[Fraction] = Counter()
    for (column, place), query in zip(columns, queries, strict=True):
        keys(column, COLUMN, place)
        found = whole(column["query"], 0, None, f"{place}.query")
        need(found == query, f"{place}.query", f"the next query that compares tokens is {query}")
        for score, row in check_column(column, (n, samples), orders[query], place):
            sizes[score] += len(row)
    S = sum((count * score**2 for score, count in sizes.items()), Fraction(0))
    need(fraction(certificate["norm_squared"], "norm_squared") == S, "norm_squared", "another sum")
    if comparing and all(facts[name] for name in THEOREMS["Theorem B"]):
        check_bounds(certificate["bounds"], S, comparing, sum(count for _, _, count in samples))
    else:
        need(certificate["bounds"] is None, "bounds", "Theorem B does not apply to these data")


def once(rows: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON whose names are different."""
    need(len({name for name, _ in rows}) == len(rows), "certificate", "a name occurs twice")
    return dict(rows)


def main(words: list[str]) -> int:
    """Check a file: 0 if it is accepted, 1 if not, 2 if it cannot be read."""
    if len(words) != 1:
        print("usage: python certificate.py certificate.json", file=sys.stderr)
        return 2
    gc.disable()  # nothing here refers to itself, and looking for it takes time
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
