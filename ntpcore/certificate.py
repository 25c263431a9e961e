"""Check a certificate of exact max-margin attention: `python certificate.py certificate.json`.

This file runs alone, on plain Python, and shares no code with the solver. The checker accepts a
certificate that `ntpcore certify` wrote, or names the first wrong place. A certificate holds the
samples; the checker derives orders and facts. Numbers are integers, or strings such as "-1/3".

What acceptance means, for the samples in the file:

0. `collocation` is the map n of next tokens, or two samples that give one token different next
   tokens. In the second case no such map exists, and the file makes no other statement.
1. `facts` says whether Assumption 1 (n is injective, and no token is confused), Assumption 3,
   prefix closure, and source hold (huang2024, Sections 3 and 4): true, or what refutes it
   (`check_witness`). `theorems` lists for each theorem the hypotheses that the data do not meet.
2. `columns` has one entry for each query that compares tokens by Definition 1. A row of `pairs` has
   a sample that forces the pairs, a multiplier, the upper token, and lower tokens (null: all that
   no earlier row names). The `scores` are the unique shortest vector with equal scores on the
   tokens of a cycle and a margin of at least 1 on each pair in no cycle.
   Proof: the scores are feasible, and the multipliers l are positive only on pairs with a margin
   of exactly 1 and satisfy sum of scores of a component = sum of l out of it minus sum into it.
   So for any feasible u, <w, u - w> = sum of l (margin of u minus 1) >= 0, hence |u|^2 >= |w|^2 +
   |u - w|^2. Without cycles, Coq has checked this: `certificate_solves` of proofs/MaxMargin.v.
   Coq has not read this file; tests compare what `check_column` accepts with Coq's own function.
3. `closed_form_fails_at` is null if these scores are m/(k+m) and -k/(k+m) (Proposition 2), else a
   token with another score. `norm_squared` is the sum of the squares of all scores.
4. `bounds`, if Theorem B applies: `K` is at least log(2 L^2 (L-1)^3 / pi_min) of Theorem A, for the
   samples that compare tokens, as (1 + K/n)^n <= e^K shows; from step `beats_trivial_from` on, at
   this step size, the bound of Theorem B on 1 - cos is below 1 - 1 / (sqrt(2) ||W*||).
"""

from __future__ import annotations

import gc
import json
import re
import sys
from collections import Counter
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

Samples = list[tuple[tuple[int, ...], int, int]]  # sentence, next token, count
Below = dict[int, set[int]]  # for each token with something below it, the tokens below it

FORMAT = "ntpcore certificate 4"
KEYS = ("format", "vocabulary", "lines", "samples", "collocation", "facts", "theorems", "columns",
        "norm_squared", "bounds")  # fmt: skip
FACTS = A1, A3, CLOSURE, SOURCE = "assumption_1", "assumption_3", "prefix_closed", "source"
THEOREMS = {"Proposition 2": (A1, CLOSURE, SOURCE), "Proposition 4": (A1, CLOSURE, SOURCE),
            "Theorem A": (A1, A3, SOURCE), "Theorem B": (A1, A3, SOURCE)}  # fmt: skip
COLUMN = ("query", "scores", "pairs", "circles", "closed_form_fails_at")
BOUNDS = ("eta", "K", "beats_trivial_from")
FRACTION = re.compile("-?[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
parse = cache(Fraction)  # columns have the same few fractions
ROOT_2, POWER = Fraction(99, 70), 4096  # above the square root of 2; n in (1 + K/n)^n


class RefusedError(Exception):
    """The first wrong place in a certificate, and the reason."""


def need(holds: object, place: str, reason: str) -> None:
    """Refuse the certificate unless `holds` is true."""
    if not holds:
        raise RefusedError(f"{place}: {reason}")


def keys(value: Any, names: tuple[str, ...], place: str) -> None:
    """Refuse a value that is not an object with exactly these names."""
    need(isinstance(value, dict), place, "not an object")
    for name in (*names, *value):
        need(name in value, place, f"{name!r} is missing")
        need(name in names, place, f"{name!r} means nothing here")


def items(value: Any, place: str, parts: str = "") -> list[tuple[Any, str]]:
    """The entries of a list, each with its place; `parts` names the components of each entry."""
    need(isinstance(value, list), place, "not a list")
    found = [(part, f"{place}[{number}]") for number, part in enumerate(value)]
    for part, at in found if parts else ():
        need(isinstance(part, list) and len(part) == parts.count(",") + 1, at, f"not [{parts}]")
    return found


def whole(value: Any, low: int, high: int | None, place: str) -> int:
    """The value, if it is an integer with low <= value < high; None for no upper limit."""
    need(type(value) is int, place, "not a whole number")
    need(value >= low and (high is None or value < high), place, f"{value} is out of range")
    return int(value)


def tokens(value: Any, size: int | None, place: str) -> list[int]:
    """The value, if it is a nonempty list of token numbers below `size`; None for no limits."""
    need(isinstance(value, list) and value, place, "not a list of tokens")
    need(set(map(type, value)) == {int}, place, "not a list of whole numbers")
    need(size is None or 0 <= min(value) <= max(value) < size, place, "a token is out of range")
    return list(value)


def fraction(value: Any, place: str) -> Fraction:
    """The fraction that a string such as "2/3" or "-1" denotes."""
    need(isinstance(value, str) and FRACTION.fullmatch(value), place, 'not a fraction like "2/3"')
    return parse(value)


def read_samples(certificate: dict[str, Any]) -> Samples:
    """The samples: a sentence is the first `length` tokens of a line; its next token follows."""
    names = [name for name, _ in items(certificate["vocabulary"], "vocabulary")]
    need(all(isinstance(name, str) for name in names), "vocabulary", "a token is no string")
    need(len(set(names)) == len(names), "vocabulary", "a token occurs twice")
    lines = [tuple(tokens(row, len(names), at)) for row, at in items(certificate["lines"], "lines")]
    found, parts = dict[tuple[tuple[int, ...], int], int](), "line, length, count"
    for (number, length, times), place in items(certificate["samples"], "samples", parts):
        line = lines[whole(number, 0, len(lines), f"{place}[0]")]
        end = whole(length, 1, len(line), f"{place}[1]")
        need((line[:end], line[end]) not in found, place, "the sample occurs twice")
        found[line[:end], line[end]] = whole(times, 1, None, f"{place}[2]")
    need(found, "samples", "there is none")
    return [(*sample, count) for sample, count in found.items()]


def check_witness(name: str, found: Any, n: list[int], samples: Samples, place: str) -> None:
    """Refuse samples and tokens that do not refute `name` (fact or "collocation") by definition."""
    keys(found, ("samples", "tokens"), place)
    rows = [samples[whole(i, 0, len(samples), at)] for i, at in items(found["samples"], place)]
    names, shown = [whole(x, 0, len(n), at) for x, at in items(found["tokens"], place)], False
    match name, rows, names:
        case "collocation", [((x,), y, _), ((z,), u, _)], []:  # no n has n(x) = y and n(x) = u
            shown = x == z and y != u
        case "assumption_1", [], [x, z]:  # n is not injective
            shown = x != z and n[x] == n[z]
        case "assumption_1", [(s, y, _), (t, z, _)], [x]:  # s puts x above a token, t below one
            above = x in s and n[x] == y and any(n[b] != y for b in s)
            below = x in t and n[x] != z and any(n[a] == z for a in t)
            shown = s[-1] == t[-1] and above and below
        case "assumption_3", [(s, y, _)], [x]:  # x occurs more often than all a with n(a) = y
            shown = s.count(x) > sum(n[a] == y for a in s) > 0
        case "prefix_closed", [(s, _, _)], []:  # s without its last token is no sample
            shown = len(s) > 1 and (s[:-1], s[-1]) not in {(t, z) for t, z, _ in samples}
        case "source", [(s, y, _)], []:  # y is n of no token of s
            shown = all(n[a] != y for a in s)
    need(shown, place, "these samples and tokens do not show that it fails")


def derive(n: list[int], samples: Samples) -> tuple[dict[int, Below], dict[str, bool]]:
    """The order of each query that compares tokens, and for each fact whether it holds."""
    before = Below()  # for each token y, the tokens x with n(x) = y
    for token, following in enumerate(n):
        before.setdefault(following, set()).add(token)
    orders, source, frequent = dict[int, Below](), True, True
    for sentence, following, _ in samples:
        present = set(sentence)
        uppers = before.get(following, set()) & present
        source = source and bool(uppers)
        if frequent and uppers:
            times = Counter(sentence)
            frequent = max(times.values()) <= sum(times[x] for x in uppers)
        present -= uppers
        for a in uppers if present else ():
            orders.setdefault(sentence[-1], {}).setdefault(a, set()).update(present)
    known = {(s, y) for s, y, _ in samples}
    closed = all((s[:-1], s[-1]) in known for s, _, _ in samples if len(s) > 1)
    confused = any(not lowers.isdisjoint(one) for one in orders.values() for lowers in one.values())
    facts = (len(before) == len(n) and not confused, frequent, closed, source)
    return orders, dict(zip(FACTS, facts, strict=True))


def check_column(column: Any, n: list[int], samples: Samples, below: Below, place: str) -> Fraction:
    """The squared norm of the scores of one query, after a check of its whole column."""
    rows = items(column["scores"], f"{place}.scores", "score, tokens")
    levels = [(fraction(score, at), tokens(row, None, at)) for (score, row), at in rows]
    flows, seen = list[tuple[Fraction, int, set[int], str]](), Below()
    parts = "sample, multiplier, upper token, lower tokens"
    for (number, multiplier, a, rivals), at in items(column["pairs"], f"{place}.pairs", parts):
        sentence, following, _ = samples[whole(number, 0, len(samples), at)]
        known = seen.setdefault(whole(a, 0, None, at), set())
        before, shown = len(known), below.get(a, set()).intersection(sentence)
        new = shown - known if rivals is None else set(tokens(rivals, None, at))
        forced = sentence[-1] == column["query"] and a in sentence and n[a] == following
        need(forced and new <= shown, at, f"sample {number} does not put token {a} above these")
        known |= new
        need(new and len(known) == before + len(rivals or new), at, "a pair comes twice, or none")
        flows.append((fraction(multiplier, at), a, new, at))
    pairs, named = (sum(map(len, one.values())) for one in (below, seen))
    need(pairs == named, f"{place}.pairs", "a pair of the order is missing")
    unit = lcm(*(x.denominator for x, _ in levels), *(flow[0].denominator for flow in flows))
    scores, tied = dict[int, int](), dict[int, set[int]]()  # in parts of 1/unit; with equal scores
    for value, row in levels:
        score = value.numerator * (unit // value.denominator)
        scores |= dict.fromkeys(row, score)
        tied.setdefault(score, set()).update(row)
    uppers, lowers = set(below), set().union(*below.values())
    need(len(scores) == sum(len(row) for _, row in levels), place, "a token has two scores")
    need(scores.keys() == uppers | lowers, f"{place}.scores", "not the tokens that are compared")
    part: dict[int, int] = {}  # for each token of a circle the first one: they are one component
    for circle, at in items(column["circles"], f"{place}.circles"):
        for a, b in zip(tokens(circle, None, at), circle[1:] + circle[:1], strict=True):
            equal = b in below.get(a, ()) and scores[a] == scores[b]
            need(equal, at, f"{a} is not above {b}, or they score differently")
            part[b] = circle[0]
    left = scores.copy()  # for each token its score, minus what multipliers give
    for multiplier, a, rivals, at in flows:
        need(multiplier >= 0, at, "the multiplier is negative")
        flow, low = multiplier.numerator * (unit // multiplier.denominator), scores[a] - unit
        for b in rivals - tied.get(low, set()):  # where the margin is not 1
            free = not flow and (scores[b] < low or part.get(a) == part.get(b, b))
            need(free, at, f"{a} above {b}: a margin below 1, or a slack multiplier")
        for b in rivals if flow else ():
            left[b] += flow
        left[a] -= flow * len(rivals)
    inside = {x: left.pop(x) for x in part}  # of a component what counts is its sum
    for x, first in part.items():
        left[first] = left.get(first, 0) + inside[x]
    need(not any(left.values()), place, "the multipliers do not give the scores")
    k, m, wrong = len(uppers), len(lowers), set[int]()
    for score, level in tied.items():
        wrong |= uppers & level if score * (k + m) != m * unit else set()
        wrong |= lowers & level if score * (k + m) != -k * unit else set()
    said, at = column["closed_form_fails_at"], f"{place}.closed_form_fails_at"
    right = type(said) is int and said in wrong if wrong else said is None
    need(right, at, f"it is {min(wrong, default='null')}")
    return Fraction(sum(score**2 * len(level) for score, level in tied.items()), unit**2)


def check_bounds(found: Any, S: Fraction, samples: Samples) -> None:
    """Check the constant of Theorem A, and where Theorem B begins to beat the trivial bound."""
    keys(found, BOUNDS, "bounds")
    eta, K = (fraction(found[name], f"bounds.{name}") for name in ("eta", "K"))
    need(eta > 0 and 0 < K < 10**6 and K.denominator <= 1000, "bounds", "eta or K is out of range")
    compared = [(len(s), count) for s, _, count in samples if len({*s}) > 1]  # as n is injective
    L = max(length for length, _ in compared)
    least = Fraction(min(count for _, count in compared), sum(count for _, _, count in samples))
    shown = least * (1 + K / POWER) ** POWER >= 2 * L**2 * (L - 1) ** 3
    need(shown, "bounds.K", "too small, or not shown")
    step = found["beats_trivial_from"]  # none if the trivial bound is 0
    right = int(2 * S * (1 + ROOT_2 * K / eta) / (2 * S - 1)) + 1 if 2 * S > 1 else None
    need(type(step) is type(right) and step == right, "bounds.beats_trivial_from", "another step")


def check(certificate: Any) -> None:
    """Accept a certificate, or raise a `RefusedError` that names the first place that is wrong."""
    without_map = isinstance(certificate, dict) and isinstance(certificate.get("collocation"), dict)
    keys(certificate, KEYS[:5] if without_map else KEYS, "certificate")
    need(certificate["format"] == FORMAT, "format", f"not {FORMAT}")
    samples, n = read_samples(certificate), certificate["collocation"]
    if without_map:
        return check_witness("collocation", n, [], samples, "collocation")
    size = len(certificate["vocabulary"])
    need(len(tokens(n, size, "collocation")) == size, "collocation", f"not {size} next tokens")
    other = [i for i, (s, y, _) in enumerate(samples) if len(s) == 1 and n[s[0]] != y]
    need(not other, "collocation", f"samples {other[:1]} have another next token")
    orders, facts = derive(n, samples)
    keys(certificate["facts"], FACTS, "facts")
    for name, said in certificate["facts"].items():
        if said is not True:
            check_witness(name, said, n, samples, f"facts.{name}")
        need(said is not True or facts[name], f"facts.{name}", "it is false; name a witness")
    right = {name: [x for x in needed if not facts[x]] for name, needed in THEOREMS.items()}
    need(certificate["theorems"] == right, "theorems", f"without hypotheses are {right}")
    columns, queries, S = items(certificate["columns"], "columns"), sorted(orders), Fraction(0)
    need(len(columns) == len(queries), "columns", f"{len(queries)} queries compare tokens")
    for (column, place), query in zip(columns, queries, strict=True):
        keys(column, COLUMN, place)
        found = whole(column["query"], 0, None, f"{place}.query")
        need(found == query, f"{place}.query", f"the next query that compares tokens is {query}")
        S += check_column(column, n, samples, orders[query], place)
    need(fraction(certificate["norm_squared"], "norm_squared") == S, "norm_squared", "another sum")
    if orders and not right["Theorem B"]:
        check_bounds(certificate["bounds"], S, samples)
    else:
        need(certificate["bounds"] is None, "bounds", "Theorem B does not apply to these data")


def once(rows: list[tuple[str, Any]]) -> dict[str, Any]:
    """The dict of a JSON object, whose names must be distinct."""
    need(len({name for name, _ in rows}) == len(rows), "certificate", "a name occurs twice")
    return dict(rows)


def main(words: list[str]) -> int:
    """The exit code of a check of a file: 0 accepted, 1 not accepted, 2 usage or unreadable."""
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
