"""The certificate that `ntpcore certify` writes for its checker, and what acceptance implies."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ntpcli.terminal import Write, show, show_name
from ntpcore import certificate
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.next_tokens import undefined_for
from ntpcore.data.order import (
    ASSUMPTION_1,
    CLOSURE,
    SOURCE,
    Failure,
    Pair,
    SampleAt,
    Structure,
    facts,
    with_tokens,
)
from ntpcore.exact import margin
from ntpcore.front import MaxMargin, max_margin
from ntpcore.huang2024 import direction

Numbered = tuple[tuple[int, ...], int, int]  # a sample: sentence, next token, count
Ratio = tuple[int, int]  # numerator and denominator of a fraction
Witnesses = dict[int, list[tuple[int, int, list[int]]]]
Refutation = dict[str, list[int]]  # "samples" and "tokens" that show that something fails

FACT_NAMES = {
    "assumption_1": "Assumption 1",
    "assumption_3": "Assumption 3",
    "prefix_closed": "prefix closure",
    "source": "source",
}
RULES = {  # how a failure of a fact is called in an analysis
    "assumption_1": ("collocation-not-injective", "confused-token"),
    "assumption_3": ("optimal-token-outnumbered",),
    "source": ("next-token-unexplained",),
}
HOLDS = {
    "assumption_1": "no two tokens share a next token, and no token is both above and below others "
    "under one query",
    "assumption_3": "no non-optimal token occurs more often in a sentence than the optimal ones",
    "prefix_closed": "every prefix of a sample is a sample",
    "source": "every next token is n of a token of its sentence",
}
MOST_DIGITS = 40  # of a squared norm that the summary writes out
MOST_WORDS, MOST_QUERIES = 12, 5  # of a sample, and failures of the closed form, that it names
FINE = 1000  # parts of one in which K is written
MOST_CELLS = 5_000_000  # tokens of all samples, each of them spelled out


def make(
    structure: Structure, eta: float | None = None, *, most_cells: int = MOST_CELLS
) -> dict[str, Any]:
    """The certificate of a data set, which `certificate.check` accepts.

    Where two samples show that no map of next tokens exists, it says that and nothing else.

    Args:
        structure: the data set, analysed.
        eta: the step size of stage 2; None for 0.05 / sqrt(|V|), rounded to a millionth.
        most_cells: tokens that all samples may hold together, each spelled out.

    Raises:
        InputError: a token has no next token, or another one in a given collocation than in a
            sample; the data are too large; or the step size is not positive.
    """
    data = structure.data
    _refuse(structure, eta, most_cells)
    numbers = {token: place for place, token in enumerate(data.vocabulary)}
    samples: list[Numbered] = [
        (tuple(map(numbers.__getitem__, one.sentence)), numbers[one.next_token], one.count)
        for one in data.samples()
    ]
    places = {(sentence, y): place for place, (sentence, y, _) in enumerate(samples)}
    lines, rows = _lines(samples)
    made: dict[str, Any] = {
        "format": certificate.FORMAT,
        "vocabulary": list(data.vocabulary),
        "lines": lines,
        "samples": rows,
    }
    if twice := _ambiguous(structure):
        found = [places[_sample(data, at)] for at in twice[0].samples]
        made["collocation"] = {"samples": found, "tokens": []}
        certificate.check(made)
        return made
    solution = max_margin(structure)
    made["collocation"] = n = [numbers[str(structure.collocation[x])] for x in data.vocabulary]
    made["facts"] = known = _facts(structure, numbers, places)
    made["theorems"] = {
        name: [fact for fact in needed if known[fact] is not True]
        for name, needed in certificate.THEOREMS.items()
    }
    witnesses = first_witnesses(n, samples)
    made["columns"] = [
        _column(solution, query, numbers, witnesses[numbers[query]])
        for query in sorted(solution.columns, key=numbers.__getitem__)
    ]
    try:
        made["norm_squared"] = str(solution.norm_squared)
    except ValueError:  # Python writes numbers of up to 4300 digits
        raise InputError(
            f"{data.name}: the squared norm is a fraction of more digits than Python writes; use a "
            "part of the file"
        ) from None
    judged = made["columns"] and not made["theorems"]["Theorem B"]
    made["bounds"] = _bounds(samples, n, solution.norm_squared, eta) if judged else None
    certificate.check(made)
    return made


def _lines(samples: Sequence[Numbered]) -> tuple[list[list[int]], list[list[int]]]:
    """Lines that hold all samples, and each sample as its line, its length there, and its count.

    A sample that begins another one shares the line of that: prefixes of one text are spelled once.
    """
    words = [(*sentence, y) for sentence, y, _ in samples]
    holder = dict[int, int]()  # for each sample the one whose line it shares
    longest = None
    for place in sorted(range(len(words)), key=words.__getitem__, reverse=True):
        # In falling order, what begins with these words has come right before them.
        if longest is None or words[longest][: len(words[place])] != words[place]:
            longest = place
        holder[place] = longest
    held = [holder[place] for place in range(len(words))]
    number = {place: line for line, place in enumerate(dict.fromkeys(held))}
    rows = [
        [number[place], len(sentence), count]
        for place, (sentence, _, count) in zip(held, samples, strict=True)
    ]
    return [list(words[place]) for place in number], rows


def _sample(data: Dataset, at: SampleAt) -> tuple[tuple[int, ...], int]:
    """Sentence and next token of a sample, by their numbers."""
    tokens = data.lines[at.line].tokens
    return tuple(tokens[: at.length]), tokens[at.length]


def _ambiguous(structure: Structure) -> list[Failure]:
    """The tokens to which two samples give different next tokens, each with these samples."""
    return [
        one
        for one in structure.realizable.failures
        if one.rule == "collocation-ambiguous" and len(one.samples) == 2
    ]


def _facts(
    structure: Structure,
    numbers: Mapping[str, int],
    places: Mapping[tuple[tuple[int, ...], int], int],
) -> dict[str, bool | Refutation]:
    """For each fact true, or the samples and tokens that refute it first.

    Args:
        structure: the data set, analysed.
        numbers: the number of each token.
        places: the number of each sample.
    """
    holds = facts(structure)
    known: dict[str, bool | Refutation] = {
        "assumption_1": holds[ASSUMPTION_1],
        "assumption_3": structure.frequent.holds is True,
        "prefix_closed": holds[CLOSURE],
        "source": holds[SOURCE],
    }
    failures = (*structure.realizable.failures, *structure.frequent.failures)
    for fact, rules in RULES.items():
        if not known[fact]:
            known[fact] = _refutation(
                next(one for one in failures if one.rule in rules), structure.data, numbers, places
            )
    if not known["prefix_closed"]:
        rows = enumerate(places)
        open_end = next(i for i, (s, _) in rows if len(s) > 1 and (s[:-1], s[-1]) not in places)
        known["prefix_closed"] = {"samples": [open_end], "tokens": []}
    return known


def _refutation(
    failure: Failure,
    data: Dataset,
    numbers: Mapping[str, int],
    places: Mapping[tuple[tuple[int, ...], int], int],
) -> Refutation:
    """A failure of an analysis as samples and tokens, as the checker asks for them."""
    samples = [places[_sample(data, at)] for at in failure.samples]
    tokens = [numbers[token] for token in failure.tokens]
    if failure.rule == "collocation-not-injective":
        return {"samples": [], "tokens": tokens}
    if failure.rule == "confused-token":  # the second sample puts the token above others
        return {"samples": samples[::-1], "tokens": [tokens[1]]}
    return {"samples": samples, "tokens": tokens if failure.rule in RULES["assumption_3"] else []}


def first_witnesses(n: Sequence[int], samples: Sequence[Numbered]) -> Witnesses:
    """For each query, the samples that are the first to force some pairs, with these pairs.

    Args:
        n: for each token its next token.
        samples: sentence, next token, count.

    Returns:
        for each query the triples of the sample's number, an upper token, and lower tokens.
    """
    before: dict[int, set[int]] = {}
    for token, following in enumerate(n):
        before.setdefault(following, set()).add(token)
    seen: dict[tuple[int, int], set[int]] = {}
    found: Witnesses = {}
    for number, (sentence, following, _) in enumerate(samples):
        tokens = set(sentence)
        uppers = before.get(following, set()) & tokens
        for upper in sorted(uppers):
            known = seen.setdefault((sentence[-1], upper), set())
            fresh = tokens - uppers - known
            if fresh:
                known |= fresh
                found.setdefault(sentence[-1], []).append((number, upper, sorted(fresh)))
    return found


def _column(
    found: MaxMargin,
    query: str,
    numbers: Mapping[str, int],
    witnesses: Sequence[tuple[int, int, list[int]]],
) -> dict[str, Any]:
    """The column of one query: scores from the top, and pairs with witness and multiplier.

    Fractions are grouped by numerator and denominator, as their own hash takes much longer.
    """
    order = found.orders[query]
    levels: dict[Ratio, list[int]] = {}
    for token, score in found.columns[query].items():
        levels.setdefault(score.as_integer_ratio(), []).append(numbers[token])
    multipliers = {
        (numbers[a], numbers[b]): value.as_integer_ratio()
        for (a, b), value in found.multipliers[query].items()
    }
    pairs: list[list[Any]] = []
    for number, upper, lowers in witnesses:
        groups: dict[Ratio, list[int]] = {}
        for lower in lowers:
            groups.setdefault(multipliers.get((upper, lower), (0, 1)), []).append(lower)
        # The last row of a sample has what is left, and need not list it.
        *named, others = sorted(groups, key=lambda r: len(groups[r]))
        pairs += [[number, str(Fraction(*r)), upper, groups[r]] for r in named]
        pairs.append([number, str(Fraction(*others)), upper, None])
    scores = {Fraction(*ratio): sorted(tokens) for ratio, tokens in levels.items()}
    return {
        "query": numbers[query],
        "scores": [[str(score), scores[score]] for score in sorted(scores, reverse=True)],
        "pairs": pairs,
        "circles": [
            [numbers[token] for token in circle]
            for part in found.components[query]
            for circle in circles(order.pairs, part)
        ],
        "closed_form_fails_at": _fails_at(scores, witnesses),
    }


def spelled_out(
    n: Sequence[int], samples: Sequence[Numbered], column: dict[str, Any]
) -> list[tuple[int, str, int, list[int]]]:
    """The rows of pairs of a column, with every lower token that a null stands for."""
    seen: dict[int, set[int]] = {}
    found = []
    for number, multiplier, upper, lowers in column["pairs"]:
        sentence, following, _ = samples[number]
        known = seen.setdefault(upper, set())
        if lowers is None:
            below = {x for x in sentence if n[x] != following}
            lowers = sorted(below - known)
        known.update(lowers)
        found.append((number, multiplier, upper, lowers))
    return found


def _fails_at(
    scores: Mapping[Fraction, Sequence[int]], witnesses: Sequence[tuple[int, int, list[int]]]
) -> int | None:
    """The first token to which the closed form gives another score; None if there is none."""
    uppers = {upper for _, upper, _ in witnesses}
    lowers = {lower for _, _, several in witnesses for lower in several}
    high, low = margin.closed_form(len(uppers), len(lowers))
    wrong = set[int]()
    for score, tokens in scores.items():
        wrong |= uppers.intersection(tokens) if score != high else set()
        wrong |= lowers.intersection(tokens) if score != low else set()
    return min(wrong, default=None)


def circles(pairs: Collection[Pair], part: Sequence[str]) -> list[list[str]]:
    """Closed walks along pairs from the first token of a component, through all of its tokens.

    Args:
        pairs: an upper and a lower token each.
        part: the tokens of a strongly connected component, at least two.
    """
    root, members = part[0], set(part)
    down: dict[str, list[str]] = {}
    up: dict[str, list[str]] = {}
    for a, b in sorted(pair for pair in pairs if members.issuperset(pair)):
        down.setdefault(a, []).append(b)
        up.setdefault(b, []).append(a)
    there, back = _paths(down, root), _paths(up, root)
    met = set[str]()
    walks = []
    for token in part[1:]:
        if token not in met:
            walks.append([*there[token], *back[token][-2:0:-1]])
            met.update(walks[-1])
    return walks


def _paths(graph: Mapping[str, Sequence[str]], root: str) -> dict[str, list[str]]:
    """A shortest path from the root to each token that it reaches, both included."""
    found = {root: [root]}
    waiting = deque([root])
    while waiting:
        token = waiting.popleft()
        for following in graph.get(token, ()):
            if following not in found:
                found[following] = [*found[token], following]
                waiting.append(following)
    return found


def _refuse(structure: Structure, eta: float | None, most_cells: int) -> None:
    """Refuse data whose collocation is not known, too many of them, and an impossible step size."""
    data = structure.data
    if not _ambiguous(structure):
        if "collocation-ambiguous" in (structure.realizable.counts or {}):
            raise InputError(
                f"{data.name}: the given collocation has another next token for a token than a "
                "sentence of this token; ntpcore check names it; correct one of the two"
            )
        missing = [token for token, following in structure.collocation.items() if not following]
        if missing:
            raise undefined_for(
                data,
                missing,
                "there are no orders to certify; add lines of one token and its next token, or "
                "give --collocation",
            )
    cells = sum(
        length
        for line, start in zip(data.lines, data.starts, strict=True)
        for length in range(start, len(line.tokens))
    )
    if cells > most_cells:
        raise InputError(
            f"{data.name}: its samples, each spelled out, hold {cells} tokens, and {most_cells} "
            "fit into a certificate; use a part of the file, or raise --memory"
        )
    if eta is not None and not 0 < eta < math.inf:
        raise InputError(f"--eta {eta:g}: give a step size above 0")


def _bounds(
    samples: Sequence[Numbered], n: Sequence[int], S: Fraction, given: float | None
) -> dict[str, Any]:
    """K of Theorem A from above, and the step from which Theorem B beats the trivial bound."""
    usual = Fraction(round(50_000 / math.sqrt(len(n))), 10**6)
    eta = usual if given is None else Fraction(str(given))
    compared = [one for one in samples if len(set(one[0])) > 1]  # where n is injective and source
    total = sum(count for _, _, count in samples)
    L = max(len(sentence) for sentence, _, _ in compared)
    least = Fraction(min(count for _, _, count in compared), total)
    inside = direction.most_rivals(L) / least
    # K with (1 + K/n)^n >= inside, as the checker asks, rounded up
    power = certificate.POWER
    K = Fraction(math.ceil(power * math.expm1(math.log(inside) / power) * FINE) + 1, FINE)
    wide = 2 * S * (1 + certificate.ROOT_2 * K / eta)
    return {
        "eta": str(eta),
        "K": str(K),
        "beats_trivial_from": int(wide / (2 * S - 1)) + 1 if 2 * S > 1 else None,
    }


def to_text(made: dict[str, Any]) -> str:
    """A certificate as a file, with a row of its own for each line, sample, and column."""
    lines = []
    for key, value in made.items():
        if key in ("lines", "samples", "columns") and value:
            rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_summary(made: dict[str, Any], path: str, write: Write) -> None:
    """What a certificate implies, a line each; `write` takes a line and the role of it."""
    write(f"written: {show_name(path)}", "title")
    for sentence in implied(made):
        write(f"  {sentence}", "plain")
    write("  python -m ntpcore.certificate FILE accepts it, or names what is wrong", "faint")


def implied(made: dict[str, Any]) -> list[str]:
    """What an accepted certificate implies, a sentence each."""
    samples = certificate.read_samples(made)
    if isinstance(made["collocation"], dict):
        one, other = (_named(made, samples, at) for at in made["collocation"]["samples"])
        return [
            f"No map of next tokens exists: {one} and {other} give one token two next tokens.",
            "So Assumption 1 fails, and no theorem of the paper applies to these samples.",
        ]
    said = [_fact_in_words(made, samples, fact) for fact in certificate.FACTS]
    for name, hypotheses in made["theorems"].items():
        missing = " and ".join(FACT_NAMES[one] for one in hypotheses)
        said.append(f"{name} {f'does not apply, without {missing}' if missing else 'applies'}.")
    columns, bounds = made["columns"], made["bounds"]
    if not columns:
        return [*said, "No sample compares two tokens, so the max-margin solution is 0."]
    squared = made["norm_squared"]
    if len(squared) > MOST_DIGITS:
        squared = f"about {float(Fraction(squared)):.6g}"
    wrong = [one for one in columns if one["closed_form_fails_at"] is not None]
    queries = f"{len(columns)} {'query' if len(columns) == 1 else 'queries'}"
    said += [
        "The scores in the file are the max-margin solution under every query that compares tokens "
        f"({queries}): no other scores with these margins have so small a norm. Their squared norm "
        f"is {squared}.",
        "The closed form m/(k+m) and -k/(k+m) of Proposition 2 is this solution under "
        + (f"{len(columns) - len(wrong)} of {queries}." if wrong else "every query."),
        *(_failure_of_the_form(made, samples, one) for one in wrong[:MOST_QUERIES]),
    ]
    if bounds is not None:
        since = bounds["beats_trivial_from"]
        told = f"from step {since} on" if since else "at no step"
        said.append(
            f"At step size {bounds['eta']} the bound of Theorem B beats the trivial one {told}."
        )
    return said


def _quoted(made: dict[str, Any], token: int) -> str:
    """A token by its number, for a sentence."""
    return f"'{show(made['vocabulary'][token])}'"


def _named(made: dict[str, Any], samples: Sequence[Numbered], number: int) -> str:
    """A sample by its number, counted from 1, with its tokens; the middle of many is left out."""
    sentence, following, _ = samples[number]
    words = [show(made["vocabulary"][x]) for x in sentence]
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS // 2], "...", *words[-MOST_WORDS // 2 :]]
    return f"sample {number + 1} ({' '.join(words)} -> {show(made['vocabulary'][following])})"


def _fact_in_words(made: dict[str, Any], numbered: Sequence[Numbered], fact: str) -> str:
    """Whether a fact holds, or what refutes it."""
    found, name = made["facts"][fact], FACT_NAMES[fact]
    name = name[0].upper() + name[1:]
    if found is True:
        return f"{name} holds: {HOLDS[fact]}."
    samples = [_named(made, numbered, number) for number in found["samples"]]
    tokens = [_quoted(made, x) for x in found["tokens"]]
    if fact == "source":
        return f"{name} fails: no token of the sentence leads to the next token of {samples[0]}."
    if fact == "prefix_closed":
        return f"{name} fails: {samples[0]} is in the file, and without its last token it is not."
    if fact == "assumption_3":
        sentence, y, _ = numbered[found["samples"][0]]
        optimal = sum(made["collocation"][x] == y for x in sentence)
        return (
            f"{name} fails: in {samples[0]} the non-optimal token {tokens[0]} occurs "
            f"{sentence.count(found['tokens'][0])} times, and the optimal tokens {optimal}."
        )
    if not samples:
        following = _quoted(made, made["collocation"][found["tokens"][0]])
        return f"{name} fails: {tokens[0]} and {tokens[1]} have the same next token {following}."
    query = _quoted(made, numbered[found["samples"][0]][0][-1])
    return (
        f"{name} fails: under the query {query}, {samples[0]} puts {tokens[0]} above another "
        f"token, and {samples[1]} puts it below another."
    )


def _failure_of_the_form(
    made: dict[str, Any], samples: Sequence[Numbered], column: dict[str, Any]
) -> str:
    """Where the closed form is not the solution of a query, in numbers."""
    x, rows = column["closed_form_fails_at"], spelled_out(made["collocation"], samples, column)
    uppers = {upper for _, _, upper, _ in rows}
    lowers = {b for row in rows for b in row[3]}
    high, low = margin.closed_form(len(uppers), len(lowers))
    gives = [str(value) for value, some in ((high, uppers), (low, lowers)) if x in some]
    score = next(score for score, tokens in column["scores"] if x in tokens)
    query, token = _quoted(made, column["query"]), _quoted(made, x)
    return (
        f"Under the query {query} it is not: there it gives {token} {' and '.join(gives)}, and "
        f"the solution is {score}."
    )


def same_data(found: Any, data: Dataset, given: Mapping[str, str] | None = None) -> bool:
    """Whether an accepted certificate is about these data, and about this collocation if given."""
    data = with_tokens(data, given or {})
    numbers = {token: place for place, token in enumerate(found["vocabulary"])}
    if set(numbers) != set(data.vocabulary):
        return False
    n = found["collocation"]
    told = {} if isinstance(n, dict) else given or {}  # which no map can fit
    if any(n[numbers[token]] != numbers[following] for token, following in told.items()):
        return False
    samples = {
        (tuple(numbers[token] for token in one.sentence), numbers[one.next_token]): one.count
        for one in data.samples()
    }
    return samples == {(s, y): count for s, y, count in certificate.read_samples(found)}
