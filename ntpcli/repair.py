"""The answer of `ntpcore repair`, as plain data, as text for a terminal, and as files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from itertools import islice

from ntpcli.rows import cut
from ntpcli.terminal import Write, show, show_name
from ntpcore.data import order
from ntpcore.data.dataset import InputError
from ntpcore.exact.repair import COUNTED, Repair, spell
from ntpcore.exact.repair_program import FLOAT, price_bound

_LISTED = 12
_WORDS = 12
_MOST_DROPPED = 300_000  # about 1 GB of JSON


def tighten(found: Repair) -> Repair:
    """The same part with a better bound, where there is a gap and SciPy is installed.

    Raises:
        ArithmeticError: the bound lies below the part; that would be a fault of ours.
    """
    if found.gap == 0 or find_spec("scipy") is None:
        return found
    bound = price_bound(found.table, found.kept_weight)
    if bound is None or bound >= found.bound:
        return found
    if bound < found.kept_weight:
        raise ArithmeticError(f"a bound of {bound} on a part of {found.kept_weight} samples")
    return replace(found, bound=bound)


def to_json(found: Repair) -> dict[str, object]:
    """The object that `ntpcore repair --json` prints.

    Raises:
        InputError: it would list too many samples.
    """
    data = found.table.data
    if found.dropped_count > _MOST_DROPPED:
        raise InputError(
            f"{data.name}: --json would list {found.dropped_count} dropped samples, and at most "
            f"{_MOST_DROPPED} are; leave it out, or use a part of the file"
        )
    return {
        "samples": data.sample_count,
        "weight": found.table.weight,
        "kept": found.kept_count,
        "kept_weight": found.kept_weight,
        "bound": found.bound,
        "gap": found.gap,
        "method": found.method,
        "proved": found.proved,
        "collocation": dict(found.collocation),
        "dropped": [
            {**order.describe_sample(data, one.at), "count": one.count, "reason": one.reason}
            for one in found.dropped()
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
    write(f"  {table.weight} samples, {table.data.sample_count} of them distinct", "plain")
    dropped = found.dropped_count
    if dropped:
        what = "Largest realizable part" if found.gap == 0 else "Realizable part"
        kept = f"{found.kept_weight} of {table.weight} samples ({found.share:.1%})"
        write(f"{what}: {kept}", "title")
    else:
        write("✔ Nothing has to be dropped", "proved")
    if found.gap == 0:
        role = "not contradicted" if found.proved == FLOAT else "proved"
        write(f"  {found.method}: no realizable part is larger (gap 0; {found.proved})", role)
    else:
        write(
            f"  {found.method}: a larger one has at most {found.bound} samples (gap {found.gap}, "
            f"{found.gap / table.weight:.1%} of all; {found.proved})",
            "open",
        )
        if found.proved == COUNTED:
            write("  no bound counts what samples of different lines forbid one another", "faint")
        if find_spec("scipy") is None:
            write("  a better bound: pip install 'ntpcore[train]'", "faint")
    _write_collocation(found, write)
    if dropped:
        write(f"  drop {dropped} distinct {'sample' if dropped == 1 else 'samples'}:", "plain")
    for one in islice(found.dropped(), _LISTED):
        write(f"    {_place(found, one.at)}{_times(one.count)}", "plain")
        write(f"      {show_name(one.reason)}", "faint")
    if dropped > _LISTED:
        write(f"    ... and {dropped - _LISTED} more (--json lists all)", "faint")
    if "samples" in written:
        write(f"  the rest is in {show_name(written['samples'])}", "plain")
    if "collocation" in written:
        write(f"  the collocation is in {show_name(written['collocation'])}", "plain")


def _write_collocation(found: Repair, write: Write) -> None:
    """The first few pairs of the collocation."""
    pairs = [f"{show(a)} → {show(b)}" for a, b in found.collocation.items()]
    write(f"  collocation: {cut(pairs, most=_LISTED)}", "plain")


def _times(count: int) -> str:
    """How often a sample occurs, if more than once."""
    return f" ({count} times)" if count > 1 else ""


def _place(found: Repair, at: order.SampleAt) -> str:
    """A sample as file:line: sentence → next token, the sentence cut at its beginning."""
    data = found.table.data
    line = data.lines[at.line]
    words = [show(data.vocabulary[token]) for token in line.tokens[: at.length]]
    shown = ["…", *words[-_WORDS:]] if len(words) > _WORDS else words
    following = show(data.vocabulary[line.tokens[at.length]])
    return f"{show_name(data.name)}:{line.number}: {' '.join(shown)} → {following}"


def rest_lines(found: Repair) -> bytes:
    """The kept samples as JSON Lines.

    Raises:
        InputError: nothing can be kept, or it would not fit.
    """
    if not found.kept_count:
        raise InputError(
            f"{found.table.data.name}: no sample fits the given collocation, so nothing is left "
            "to write; leave out --collocation"
        )
    rows = []
    for at, count in found.listed():
        sentence, following = spell(found.table, at)
        row = {"sentence": sentence, "next": following, "count": count}
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
