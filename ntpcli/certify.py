"""The certificate that `ntpcore certify` writes: what the solver found, for a checker."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from ntpcli.check import Write, show_name
from ntpcore import certificate
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import ASSUMPTION_1, CLOSURE, SOURCE, Structure, facts, with_tokens
from ntpcore.exact import margin
from ntpcore.front import MaxMargin, max_margin
from ntpcore.huang2024 import direction

Numbered = tuple[tuple[int, ...], int, int]  # a sample: sentence, next token, count
Ratio = tuple[int, int]  # numerator and denominator of a fraction
Witnesses = dict[int, list[tuple[int, int, list[int]]]]

FACT_NAMES = {
    "assumption_1": "Assumption 1",
    "assumption_3": "Assumption 3",
    "prefix_closed": "prefix closure",
    "source": "source",
}
MOST_DIGITS = 40  # of a squared norm that the summary writes out
FINE = 1000  # parts of one in which K is written
MOST_CELLS = 5_000_000  # tokens of all samples, each of them spelled out


def make(
    structure: Structure, eta: float | None = None, *, most_cells: int = MOST_CELLS
) -> dict[str, Any]:
    """The certificate of a data set, which `certificate.check` accepts.

    Args:
        structure: the data set, analysed.
        eta: the step size of stage 2; None for 0.05 / sqrt(|V|), rounded to a millionth.
        most_cells: tokens that all samples may hold together, each spelled out.

    Raises:
        InputError: a token has no next token or two of them, the data are too large, or the step
            size is not positive.
    """
    data = structure.data
    _refuse(structure, eta, most_cells)
    found = max_margin(structure)
    holds = facts(structure)
    known = {
        "assumption_1": holds[ASSUMPTION_1],
        "assumption_3": structure.frequent.holds is True,
        "prefix_closed": holds[CLOSURE],
        "source": holds[SOURCE],
    }
    theorems = {
        name: {
            "met": [fact for fact in needed if known[fact]],
            "missing": [fact for fact in needed if not known[fact]],
        }
        for name, needed in certificate.THEOREMS.items()
    }
    numbers = {token: place for place, token in enumerate(data.vocabulary)}
    n = [numbers[str(structure.collocation[token])] for token in data.vocabulary]
    samples: list[Numbered] = [
        (tuple(map(numbers.__getitem__, one.sentence)), numbers[one.next_token], one.count)
        for one in data.samples()
    ]
    witnesses = first_witnesses(n, samples)
    columns = [
        _column(found, query, numbers, witnesses[numbers[query]])
        for query in sorted(found.columns, key=numbers.__getitem__)
    ]
    try:
        norm_squared = str(found.norm_squared)
    except ValueError:  # Python writes numbers of up to 4300 digits
        raise InputError(
            f"{data.name}: the squared norm is a fraction of more digits than Python writes; use a "
            "part of the file"
        ) from None
    made = {
        "format": certificate.FORMAT,
        "vocabulary": list(data.vocabulary),
        "samples": [[list(sentence), y, count] for sentence, y, count in samples],
        "collocation": n,
        "facts": known,
        "theorems": theorems,
        "columns": columns,
        "norm_squared": norm_squared,
        "bounds": None,
    }
    if not theorems["Theorem B"]["missing"] and columns:
        made["bounds"] = _bounds(samples, n, found.norm_squared, eta)
    certificate.check(made)
    return made


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
    pairs = []
    for number, upper, lowers in witnesses:
        groups: dict[Ratio, list[int]] = {}
        for lower in lowers:
            groups.setdefault(multipliers.get((upper, lower), (0, 1)), []).append(lower)
        pairs += [[number, str(Fraction(*r)), upper, group] for r, group in groups.items()]
    scores = {Fraction(*ratio): sorted(tokens) for ratio, tokens in levels.items()}
    k, m = len(order.optimal), len(order.nonoptimal)
    # Each optimal token scores 1 more than some other, at least.
    closed = not order.confused and set(scores) == set(margin.closed_form(k, m))
    return {
        "query": numbers[query],
        "scores": [[str(score), scores[score]] for score in sorted(scores, reverse=True)],
        "pairs": pairs,
        "closed_form": closed,
    }


def _refuse(structure: Structure, eta: float | None, most_cells: int) -> None:
    """Refuse data without a collocation, too many of them, and an impossible step size."""
    data = structure.data
    if "collocation-ambiguous" in (structure.realizable.counts or {}):
        raise InputError(
            f"{data.name}: a token has two next tokens, so there is no n to certify; ntpcore check "
            "names it, and ntpcore repair says what to drop"
        )
    missing = [token for token, following in structure.collocation.items() if following is None]
    if missing:
        listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise InputError(
            f"{data.name}: n is not defined for {listed}, so there are no orders to certify; add "
            "lines of one token and its next token, or give --collocation"
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
        "longest": L,
        "pi_min": str(least),
        "K": str(K),
        "beats_trivial_from": int(wide / (2 * S - 1)) + 1 if 2 * S > 1 else None,
    }


def to_text(made: dict[str, Any]) -> str:
    """A certificate as a file: a line for each sample and each column."""
    lines = []
    for key, value in made.items():
        if key in ("samples", "columns") and value:
            rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_summary(made: dict[str, Any], path: str, write: Write) -> None:
    """What a certificate says, in a few lines; `write` takes a line and the role of it."""
    write(f"written: {show_name(path)}", "title")
    for name, holds in made["facts"].items():
        write(f"  {FACT_NAMES[name]}: {'yes' if holds else 'no'}", "plain")
    for name, hypotheses in made["theorems"].items():
        missing = " and ".join(FACT_NAMES[one] for one in hypotheses["missing"])
        write(f"  {name} {f'does not apply, without {missing}' if missing else 'applies'}", "plain")
    columns = made["columns"]
    closed = sum(one["closed_form"] for one in columns)
    squared = made["norm_squared"]
    if len(squared) > MOST_DIGITS:
        squared = f"about {float(Fraction(squared)):.6g}"
    write(f"  {len(columns)} queries, squared norm {squared}", "plain")
    write(f"  m/(k+m) and -k/(k+m) are the solution for {closed} of them", "plain")
    if (bounds := made["bounds"]) is not None:
        since = bounds["beats_trivial_from"]
        told = f"beats the trivial one from step {since} on" if since else "never beats the trivial"
        write(f"  at step size {bounds['eta']} the bound of Theorem B {told}", "plain")
    write("  python -m ntpcore.certificate FILE accepts it, or names what is wrong", "faint")


def same_data(found: Any, data: Dataset, given: Mapping[str, str] | None = None) -> bool:
    """Whether an accepted certificate is about these data, and about this collocation if given."""
    data = with_tokens(data, given or {})
    numbers = {token: place for place, token in enumerate(found["vocabulary"])}
    if set(numbers) != set(data.vocabulary):
        return False
    n = found["collocation"]
    if any(n[numbers[token]] != numbers[following] for token, following in (given or {}).items()):
        return False
    samples = {
        (tuple(numbers[token] for token in one.sentence), numbers[one.next_token]): one.count
        for one in data.samples()
    }
    return samples == {(tuple(sentence), y): count for sentence, y, count in found["samples"]}
