"""The answer of `ntpcore repair`, as plain data, as text for a terminal, and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ntpcore.commands.check import Write, show, show_name
from ntpcore.data import order
from ntpcore.data.dataset import InputError
from ntpcore.exact.repair import Repair, spell

_LISTED = 12
_WORDS = 12


def to_json(found: Repair) -> dict[str, object]:
    """The object that `ntpcore repair --json` prints."""
    data = found.table.data
    return {
        "samples": len(found.table.samples),
        "weight": found.table.weight,
        "kept": len(found.kept),
        "kept_weight": found.kept_weight,
        "bound": found.bound,
        "gap": found.gap,
        "method": found.method,
        "collocation": dict(found.collocation),
        "dropped": [
            {**order.describe_sample(data, one.at), "count": one.count, "reason": one.reason}
            for one in found.dropped
        ],
    }


def write_text(found: Repair, write: Write, written: Mapping[str, str]) -> None:
    """The answer for people; `write` takes a line and the role of it.

    Args:
        found: the realizable part.
        write: takes a line and its role.
        written: names of the files that were written: "samples" and "collocation".
    """
    table = found.table
    write(f"Data  {show_name(table.data.name)}", "title")
    write(f"  {table.weight} samples, {len(table.samples)} of them distinct", "plain")
    if found.dropped:
        what = "Largest realizable part" if found.gap == 0 else "Realizable part"
        kept = f"{found.kept_weight} of {table.weight} samples ({found.share:.1%})"
        write(f"{what}: {kept}", "title")
    else:
        write("✔ Nothing has to be dropped", "proved")
    if found.gap == 0:
        write(f"  {found.method}: no realizable part is larger (gap 0)", "proved")
    else:
        write(
            f"  {found.method}: a larger one has at most {found.bound} samples (gap {found.gap}, "
            f"{found.gap / table.weight:.1%} of all)",
            "open",
        )
    _write_collocation(found, write)
    if found.dropped:
        plural = "sample" if len(found.dropped) == 1 else "samples"
        write(f"  drop {len(found.dropped)} distinct {plural}:", "plain")
    for one in found.dropped[:_LISTED]:
        write(f"    {_place(found, one.at)}{_times(one.count)}", "plain")
        write(f"      {show_name(one.reason)}", "faint")
    if len(found.dropped) > _LISTED:
        write(f"    ... and {len(found.dropped) - _LISTED} more (--json lists all)", "faint")
    if "samples" in written:
        write(f"  the rest is in {show_name(written['samples'])}", "plain")
    if "collocation" in written:
        write(f"  the collocation is in {show_name(written['collocation'])}", "plain")


def _write_collocation(found: Repair, write: Write) -> None:
    """The first few pairs of the collocation."""
    pairs = [f"{show(a)} → {show(b)}" for a, b in found.collocation.items()]
    more = f", and {len(pairs) - _LISTED} more" if len(pairs) > _LISTED else ""
    write(f"  collocation: {', '.join(pairs[:_LISTED])}{more}", "plain")


def _times(count: int) -> str:
    """How often a sample occurs, if more than once."""
    return f" ({count} times)" if count > 1 else ""


def _place(found: Repair, at: order.SampleAt) -> str:
    """A sample as file:line: sentence → next token, the sentence cut at its beginning."""
    data = found.table.data
    line = data.lines[at.line]
    words = [show(data.vocabulary[token]) for token in line.tokens[: at.length]]
    cut = ["…", *words[-_WORDS:]] if len(words) > _WORDS else words
    following = show(data.vocabulary[line.tokens[at.length]])
    return f"{show_name(data.name)}:{line.number}: {' '.join(cut)} → {following}"


def rest_lines(found: Repair) -> bytes:
    """The kept samples as JSON Lines.

    Raises:
        InputError: nothing can be kept.
    """
    if not found.kept:
        raise InputError(
            f"{found.table.data.name}: no sample fits the given collocation, so nothing is left "
            "to write; leave out --collocation"
        )
    rows = []
    for number in found.kept:
        sentence, following = spell(found.table, number)
        row = {"sentence": sentence, "next": following, "count": found.table.counts[number]}
        rows.append(json.dumps(row, ensure_ascii=False) + "\n")
    return "".join(rows).encode()


def collocation_lines(found: Repair) -> bytes:
    """The collocation in two columns.

    Raises:
        InputError: a token holds white space, which a file of columns cannot.
    """
    for token in found.collocation:
        if len(token.split()) != 1 or token.split()[0] != token:
            raise InputError(
                f"{found.table.data.name}: the token {token!r} holds white space, and the columns "
                "of a collocation are divided by it; rename the token"
            )
    return "".join(f"{a} {b}\n" for a, b in found.collocation.items()).encode()
