"""The errata of a paper as rows, and as text and LaTeX that a referee can copy."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ntpverdicts.maths import parts, plain
from tools.site.page_text import MISSING

# The most severe first. Each erratum has the first of these that applies, from the mildest on: a
# changed constant mends it; an added hypothesis or a new quantity mends it; nothing of the kind
# does; a step of an argument fails and the statement stands; a word.
SEVERITIES = ("statement", "hypothesis", "constant", "argument", "wording")
# What it is an erratum of: a numbered statement, a step of a proof, or motivation and remarks.
GROUPS = ("statement", "proof", "motivation")
HEADINGS = {
    "statement": "Numbered statements, figures and equations",
    "proof": "Steps of proofs and sketches",
    "motivation": "Motivation and remarks",
}
COLUMNS = ("Place, severity", "Printed", "Should read", "Witness")


@dataclass(frozen=True)
class Erratum:
    """One line of the errata.

    Attributes:
        label: of the claim.
        place: number in the paper.
        printed: what stands there, with formulas between dollar signs.
        read: what it should read.
        severity: one of SEVERITIES.
        group: one of GROUPS.
        witness: the counterexample that the check found, with formulas between dollar signs.
        note: what a reader must know beside the verdict; may be empty.
        reply: what the authors answered; may be empty.
    """

    label: str
    place: str
    printed: str
    read: str
    severity: str
    group: str
    witness: str
    note: str
    reply: str


def read_errata(
    text: str, rows: Mapping[str, Mapping[str, Any]], paper: str, *, partial: bool = False
) -> list[Erratum]:
    """The errata of a paper, the most severe first.

    Args:
        text: of the file that lists them.
        rows: the ledger by label; the witness is that of the check.
        paper: key of the paper.
        partial: some checks did not run, and their witnesses are missing.

    Raises:
        ValueError: a severity, a group or a label is unknown, nothing shows an erratum, or a
            statement that is refuted is not listed.
    """
    found = []
    for label, one in tomllib.loads(text).items():
        if label not in rows or one["severity"] not in SEVERITIES:
            raise ValueError(f"errata: {label}, {one['severity']} is no claim and severity")
        row, shows = rows[label], rows.get(one.get("evidence", label), {})
        witness = shows.get("witness") or (shows.get("evidence") if "evidence" in one else "")
        if row["paper"] != paper:
            continue
        if partial and not ("tried" in row and "tried" in shows):
            witness = MISSING
        elif not witness or ("evidence" not in one and row["verdict"] != "refuted"):
            raise ValueError(f"errata: nothing shows {label}, which is {row['verdict']}")
        texts = (one["printed"], one["read"], one["severity"], _group(label, row, one), witness)
        found.append(
            Erratum(label, row["number"], *texts, one.get("note", ""), one.get("reply", ""))
        )
    missing = {
        label
        for label, row in rows.items()
        if row["paper"] == paper and row["verdict"] == "refuted"
    } - {one.label for one in found}
    if missing:
        raise ValueError(f"errata: {', '.join(sorted(missing))} refuted and not listed")
    return sorted(found, key=lambda one: (GROUPS.index(one.group), SEVERITIES.index(one.severity)))


def _group(label: str, row: Mapping[str, Any], one: Mapping[str, str]) -> str:
    """Of what it is an erratum: remarks are counted with the motivation, and an erratum of a
    sentence in the text says whether that is a step of a proof.

    Raises:
        ValueError: it does not, or names no group.
    """
    kinds = {"remark": "motivation", "text": one.get("group", "")}
    group = kinds.get(str(row["kind"]), "statement")
    if group not in GROUPS:
        raise ValueError(f'errata: {label} needs group = "proof" or "motivation"')
    return group


# Copies

SIGNS = {
    "→": r"\to", "η": r"\eta", "π": r"\pi", "≤": r"\le", "≥": r"\ge", "‖": r"\|",
    "·": r"\cdot", "ρ": r"\rho", "ξ": r"\xi", "α": r"\alpha", "√": r"\surd", "∞": r"\infty",
    MISSING: r"\ldots",
    **{sign: f"^{digit}" for digit, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "^-",
}  # fmt: skip
DASHES = {"−": "-", "–": "-"}
ESCAPED = {sign: "\\" + sign for sign in "&%#_{}$"} | {
    "\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "|": "$|$",
}  # fmt: skip


def latex(text: str) -> str:
    """A witness as LaTeX, in ASCII: formulas stay, words are escaped.

    Raises:
        ValueError: a sign has no LaTeX here.
    """
    found = "".join(
        f"${part}$"
        if tex
        else "".join(
            f"${SIGNS[sign]}$" if sign in SIGNS else DASHES.get(sign, ESCAPED.get(sign, sign))
            for sign in part
        )
        for part, tex in parts(text)
    )
    if not found.isascii():
        strange = sorted({sign for sign in found if not sign.isascii()})
        raise ValueError(f"no LaTeX for {strange} in {text!r}")
    return found


def as_text(errata: Sequence[Erratum]) -> str:
    """All errata for a mail."""
    blocks = (
        (
            f"{place + 1}. {one.place} ({one.severity})",
            f"   Printed: {plain(one.printed)}",
            f"   Should read: {plain(one.read)}",
            f"   Witness: {plain(one.witness)}",
            *((f"   Note: {plain(one.note)}",) if one.note else ()),
        )
        for place, one in enumerate(errata)
    )
    return "\n\n".join("\n".join(block) for block in blocks)


def as_latex(errata: Sequence[Erratum]) -> str:
    """All errata as a list in LaTeX, for a report; it needs no package."""
    items = (
        "\n".join(
            (
                rf"\item \textbf{{{latex(one.place)}}} ({one.severity}).",
                rf"  \emph{{Printed:}} {one.printed}.",
                rf"  \emph{{Should read:}} {one.read}.",
                rf"  \emph{{Witness:}} {latex(one.witness.rstrip('.'))}.",
                *((f"  {one.note}",) if one.note else ()),
            )
        )
        for one in errata
    )
    return "\n".join((r"\begin{enumerate}", *items, r"\end{enumerate}"))
