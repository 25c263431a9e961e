"""`make record`: write down the verdicts of the book, and tell how a build compares with them.

The record is for readers: `ntpcore claims` reads it where no book is built, and `make book` ends by
saying whether this build reproduces its verdicts, and names each difference. Nothing fails on it.
`python -m tools.pipeline.record ONE OTHER` compares all that two files `claims.json` of one commit
say, as for two kinds of processors, and fails on a difference.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ntpverdicts.document import FILE, without_data

RECORD = Path("ntpbook/record.json")
BOOK = Path("_build/html") / FILE
SAID = (
    *("verdict", "certainty", "evidence", "witness", "tried", "slack", "vacuous_before"),
    "machine_steps",
)
KEPT = ("verdict", "certainty", "edition", "evidence", "witness")  # in a record, beside the label
MOST = 12  # differences that `make book` names


def recorded(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a record keeps of a document `claims.json`: what there is of `KEPT`."""
    claims = [
        {"label": row["label"]} | {key: row[key] for key in KEPT if row[key] is not None}
        for row in document["claims"]
    ]
    today = datetime.date.today().isoformat()
    return {"date": today, "versions": document["versions"], "claims": claims}


def as_lines(record: Mapping[str, Any]) -> str:
    """A record as text, a line for each claim."""
    head = {key: value for key, value in record.items() if key != "claims"}
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in record["claims"])
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "claims": [\n{rows}\n]}}\n'


def changed_verdicts(record: Mapping[str, Any], document: Mapping[str, Any]) -> list[str]:
    """Claims whose verdict, or whose kind of proof, is not that of a record, a line each."""
    return _compared(record, document, _verdict_differences)


def _verdict_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Whether a verdict is another one than in a record."""
    if _known(before) != _known(now):
        yield f"{_known(before)} in the record, {_known(now)} here"


def _known(row: Mapping[str, Any]) -> str:
    """A verdict, with how it is known where it is a proof."""
    certainty = row.get("certainty")
    return f"{row['verdict']}, {certainty['words']}" if certainty else str(row["verdict"])


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Where two documents `claims.json` say something else of a claim, a line each."""
    return _compared(one, other, _row_differences)


def _compared(
    one: Mapping[str, Any],
    other: Mapping[str, Any],
    differ: Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[str]],
) -> list[str]:
    """Claims that differ in two documents, a line each; those open for want of data in either of
    them are left out.

    Args:
        one: a record or a `claims.json`.
        other: another.
        differ: what two rows of one claim say differently.
    """
    first, second = (judged(document) for document in (one, other))
    open_ = without_data(one) | without_data(other)
    alone = sorted((set(first) ^ set(second)) - open_)
    lines = [f"{label}: only one of them has it" for label in alone]
    for label in first:
        if label in second and label not in open_:
            lines += [f"{label}: {line}" for line in differ(first[label], second[label])]
    return lines


def judged(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The rows of a document by their labels."""
    return {row["label"]: row for row in document["claims"]}


def _row_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    """What two rows of one claim say differently; of draws only the verdict can be compared."""
    if is_drawn(one) or is_drawn(other):
        if one["verdict"] != other["verdict"]:
            yield f"verdict: {one['verdict']!r}, and {other['verdict']!r}"
        return
    for key in SAID:
        if one[key] != other[key]:
            yield f"{key}: {one[key]!r}, and {other[key]!r}"
    if one["readings"] != other["readings"]:
        yield "the readings have other verdicts"
    names = sorted({*one["numbers"], *other["numbers"]})
    for name in names:
        left, right = one["numbers"].get(name), other["numbers"].get(name)
        if left is None or right is None:
            yield f"{name}: only one of them has it"
        elif not agree(left, right):
            yield f"{name}: {_shown(left)}, and {_shown(right)}"


def is_drawn(row: Mapping[str, Any]) -> bool:
    """Whether other rounding leads to other numbers, and so to other words about them."""
    numbers = [one for one in row["numbers"].values() if not isinstance(one, str)]
    return any(one["digits"] == 0 for one in numbers)


def _shown(result: Mapping[str, Any] | str) -> str:
    """A result as pages show it; some are words."""
    return result if isinstance(result, str) else result["shown"]


def agree(one: Mapping[str, Any] | str, other: Mapping[str, Any] | str) -> bool:
    """Whether two results are one number, as far as their digits are good, or the same words."""
    if isinstance(one, str) or isinstance(other, str):
        return _shown(one) == _shown(other)
    left, right = Fraction(str(one["value"])), Fraction(str(other["value"]))
    digits = one["digits"]
    if digits is None or other["digits"] is None:
        return left == right
    size = max(abs(left), abs(right))
    return abs(left - right) <= size * Fraction(1, 10 ** (min(digits, other["digits"]) - 1))


def compared(document: Mapping[str, Any]) -> list[str]:
    """How a built book compares with the record, in lines for the end of `make book`."""
    if not RECORD.is_file():
        return []
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    missing = without_data(document)
    found = changed_verdicts(record, document)
    count = len(document["claims"]) - len(missing)
    other = {line.split(":")[0] for line in found}
    need = f"; {len(missing)} need WikiText-2" if missing else ""
    head = (
        f"reproduces the verdicts of {record['date'][:7]}: {count - len(other)} of {count} "
        f"judged here{need}"
    )
    more = [f"... and {len(found) - MOST} more"] if len(found) > MOST else []
    return [head, *found[:MOST], *more]


def main(words: list[str]) -> int:
    """Write the record of the built book, or compare two documents."""
    if len(words) == 2:
        documents = [json.loads(Path(word).read_text(encoding="utf-8")) for word in words]
        found = differences(documents[0], documents[1])
        print("\n".join(found) or f"{len(documents[0]['claims'])} claims: both say the same")
        return int(bool(found))
    if not BOOK.is_file():
        print(f"error: there is no {BOOK}; run `make book` first", file=sys.stderr)
        return 1
    document = json.loads(BOOK.read_text(encoding="utf-8"))
    RECORD.write_text(as_lines(recorded(document)), encoding="utf-8")
    absent = len(without_data(document))
    print(f"{RECORD}: {len(document['claims'])} claims, {absent} without data here")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
