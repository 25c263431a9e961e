"""The certificate that `ntpcore certify` writes: what the solver found, for a checker."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ntpcli.check import Write, show_name
from ntpcore import certificate
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import ASSUMPTION_1, CLOSURE, SOURCE, Structure, facts, with_tokens
from ntpcore.exact import margin
from ntpcore.front import max_margin
from ntpcore.huang2024 import direction

FINE = 1000  # parts of one in which K is written
MOST_CELLS = 5_000_000  # tokens of all samples, each spelled out; half a minute of checking


def make(structure: Structure, eta: float | None = None) -> dict[str, Any]:
    """The certificate of a data set, which `certificate.check` accepts.

    Args:
        structure: the data set, analysed.
        eta: the step size of stage 2; None for 0.05 / sqrt(|V|), rounded to a millionth.

    Raises:
        InputError: a token has no next token or two of them, the data are too large, or the step
            size is not positive.
    """
    data = structure.data
    _refuse(structure, eta)
    numbers = {token: place for place, token in enumerate(data.vocabulary)}
    found = max_margin(structure)
    columns = []
    for query in sorted(found.columns, key=numbers.__getitem__):
        order, scores = found.orders[query], found.columns[query]
        multipliers = {
            (numbers[a], numbers[b]): value for (a, b), value in found.multipliers[query].items()
        }
        closed = not order.confused and margin.closed_form_scores(order) == scores
        columns.append(
            {
                "query": numbers[query],
                "scores": sorted([numbers[token], str(score)] for token, score in scores.items()),
                "multipliers": [[*pair, str(multipliers[pair])] for pair in sorted(multipliers)],
                "closed_form": closed,
            }
        )
    holds = facts(structure)
    made = {
        "format": certificate.FORMAT,
        "vocabulary": list(data.vocabulary),
        "samples": [
            [[numbers[token] for token in one.sentence], numbers[one.next_token], one.count]
            for one in data.samples()
        ],
        "collocation": [numbers[str(structure.collocation[token])] for token in data.vocabulary],
        "facts": {
            "assumption_1": holds[ASSUMPTION_1],
            "assumption_3": structure.frequent.holds is True,
            "prefix_closed": holds[CLOSURE],
            "source": holds[SOURCE],
        },
        "columns": columns,
        "norm_squared": str(found.norm_squared),
        "bounds": None,
    }
    if holds[ASSUMPTION_1] and holds[SOURCE] and structure.frequent.holds and columns:
        made["bounds"] = _bounds(structure, found.norm_squared, eta)
    certificate.check(made)
    return made


def _refuse(structure: Structure, eta: float | None) -> None:
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
    if cells > MOST_CELLS:
        raise InputError(
            f"{data.name}: its samples, each spelled out, hold {cells} tokens, and {MOST_CELLS} "
            "fit into a certificate; use a part of the file"
        )
    if eta is not None and not 0 < eta < math.inf:
        raise InputError(f"--eta {eta:g}: give a step size above 0")


def _bounds(structure: Structure, S: Fraction, given: float | None) -> dict[str, Any]:
    """K of Theorem A from above, and the step from which Theorem B beats the trivial bound."""
    orders, data = structure.orders or {}, structure.data
    usual = Fraction(round(50_000 / math.sqrt(len(data.vocabulary))), 10**6)
    eta = usual if given is None else Fraction(str(given))
    compared = [
        one for one in data.samples() if len(set(one.sentence)) > 1 and one.sentence[-1] in orders
    ]
    total = sum(one.count for one in data.samples())
    L = max(len(one.sentence) for one in compared)
    least = Fraction(min(one.count for one in compared), total)
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
        if key in ("samples", "columns"):
            rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
            lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write_summary(made: dict[str, Any], path: str, write: Write) -> None:
    """What a certificate says, in a few lines; `write` takes a line and the role of it."""
    write(f"written: {show_name(path)}", "title")
    for name, holds in made["facts"].items():
        write(f"  {name.replace('_', ' ')}: {'yes' if holds else 'no'}", "plain")
    columns = made["columns"]
    closed = sum(one["closed_form"] for one in columns)
    write(f"  {len(columns)} queries, squared norm {made['norm_squared']}", "plain")
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
