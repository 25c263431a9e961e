"""Claims of the papers, and what a check of one returns.

A `Claim` is a row of the catalogue: what a paper states and where the book treats it. A `Check` is
what running a check gave: a verdict with its evidence. Rules that keep verdicts honest are enforced
when a `Check` is made, so that a refutation without a witness cannot even be built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from html import escape
from typing import Any

MIME = "application/vnd.ntpcore.check+json"


class Verdict(Enum):
    """What a check established; the four words are explained on the page `book/verdicts.md`."""

    PROVED = "proved"
    CONSISTENT = "consistent"
    REFUTED = "refuted"
    OPEN = "open"


MARKS = {
    Verdict.PROVED: "✔",
    Verdict.CONSISTENT: "≈",
    Verdict.REFUTED: "✘",
    Verdict.OPEN: "○",
}


# What the second word of a label stands for.
KINDS = {
    "def": "definition",
    "ex": "example",
    "asm": "assumption",
    "alg": "algorithm",
    "prop": "proposition",
    "thm": "theorem",
    "lem": "lemma",
    "cor": "corollary",
    "rem": "remark",
    "eq": "equation",
    "fig": "figure",
    "app": "text",
}


@dataclass(frozen=True)
class Claim:
    """One statement, as the catalogue lists it.

    Attributes:
        label: `<paper>-<kind>-<number>`, or `ours-...` for a statement of this book.
        number: what the source calls it, such as "Proposition 2".
        title: what it is about, in a few words.
        where: the section of the paper that holds it.
        page: name of the notebook that checks it; None while the claim is only planned.
        uses: labels of the claims that its proof rests on.
        on_data: whether its truth depends on the data, so that `ntpcore check` judges it.
        about: labels of the claims that it speaks about without resting on them.
    """

    label: str
    number: str
    title: str
    where: str
    page: str | None = None
    uses: tuple[str, ...] = ()
    on_data: bool = False
    about: tuple[str, ...] = ()

    @property
    def paper(self) -> str:
        """The BibTeX key of the paper, or "ours"."""
        return self.label.split("-", 1)[0]

    @property
    def kind(self) -> str:
        """What it is: told by its label, or for one of ours by the first word of its number."""
        paper, kind, *_ = self.label.split("-")
        return KINDS[kind] if paper != "ours" else self.number.split()[0].strip(",").lower()

    @property
    def function(self) -> str:
        """Name of the function that checks this claim."""
        return "check_" + self.label.replace("-", "_")


@dataclass(frozen=True)
class Reading:
    """One plausible reading of a statement whose printed form is uncertain, with its verdict."""

    text: str
    verdict: Verdict


@dataclass(frozen=True)
class Control:
    """A planted error or broken hypothesis that a check must notice.

    Attributes:
        planted: what was broken, in words.
        expected: the verdict that shows that the check noticed.
        obtained: the verdict that the check gave.
    """

    planted: str
    expected: Verdict
    obtained: Verdict

    @property
    def noticed(self) -> bool:
        """Whether the check gave the verdict that the planted error calls for."""
        return self.expected is self.obtained


@dataclass(frozen=True)
class Check:
    """Outcome of checking one claim.

    Attributes:
        label: label of the claim, one of the catalogue.
        verdict: what the check established.
        tried: number of instances that were examined.
        unit: what one instance is, in the plural ("partial orders").
        evidence: one sentence on what was tried and found; the reason when the verdict is open.
        witness: for a refutation, the smallest known instance that shows it.
        slack: worst slack of an inequality and where it occurred.
        numbers: named results that the prose of a page may quote.
        parameters: the parameters that repeat the run.
        by_hand: steps of the argument that no machine checked.
        readings: plausible readings of a damaged statement, each with its verdict.
        vacuous: for a bound that says nothing at the scale of the experiment, from where it would.
        control: the negative control that ran with this check.
        repeat: the command that repeats this check.

    Raises:
        ValueError: a rule of honest verdicts is broken (unknown label, refutation without witness,
            verdict without instances, refutation under some readings only, blind control).
    """

    label: str
    verdict: Verdict
    tried: int
    unit: str
    evidence: str
    witness: str = ""
    slack: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int | str] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    vacuous: str = ""
    control: Control | None = None
    repeat: str = ""

    def __post_init__(self) -> None:
        claim = find_claim(self.label)
        refuted = self.verdict is Verdict.REFUTED
        if refuted and not self.witness:
            raise ValueError(f"{self.label}: a refutation must show a witness")
        if self.verdict is not Verdict.OPEN and self.tried < 1:
            raise ValueError(f"{self.label}: {self.verdict.value!r} needs at least one instance")
        if not self.evidence:
            raise ValueError(f"{self.label}: a verdict needs its evidence, an open one its reason")
        if refuted and any(reading.verdict is not Verdict.REFUTED for reading in self.readings):
            raise ValueError(f"{self.label}: refuted only when every plausible reading is refuted")
        if self.control is not None and not self.control.noticed:
            raise ValueError(
                f"{self.label}: the negative control was not noticed: {self.control.planted} gave "
                f"{self.control.obtained.value!r}, expected {self.control.expected.value!r}"
            )
        if not self.repeat and claim.page is not None:
            words = [f"{name.upper()}={value}" for name, value in self.parameters.items()]
            object.__setattr__(
                self, "repeat", " ".join(["make page", f"PAGE={claim.page}", *words])
            )

    def with_control(self, control: Control) -> Check:
        """This check together with its negative control, which must have been noticed."""
        return replace(self, control=control)

    def to_json(self) -> dict[str, object]:
        """The check as plain data: the object that `ntpcore check --json` and the book store."""
        claim = find_claim(self.label)
        control = self.control
        return {
            "label": self.label,
            "verdict": self.verdict.value,
            "number": claim.number,
            "title": claim.title,
            "tried": self.tried,
            "unit": self.unit,
            "evidence": self.evidence,
            "witness": self.witness or None,
            "slack": self.slack or None,
            "numbers": dict(self.numbers),
            "parameters": dict(self.parameters),
            "by_hand": list(self.by_hand),
            "readings": [{"text": r.text, "verdict": r.verdict.value} for r in self.readings],
            "vacuous": self.vacuous or None,
            "control": control
            and {
                "planted": control.planted,
                "expected": control.expected.value,
                "obtained": control.obtained.value,
            },
            "repeat": self.repeat,
        }

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        """What a notebook shows of a check: text, HTML, and the data that the book reads."""
        return {
            "text/plain": render_text(self),
            "text/html": render_html(self.to_json()),
            MIME: self.to_json(),
        }


def find_claim(label: str) -> Claim:
    """The claim with this label.

    Raises:
        ValueError: the catalogue has no such label.
    """
    from ntpcore.catalogue import CATALOGUE  # here, because the catalogue is made of `Claim`s

    for claim in CATALOGUE:
        if claim.label == label:
            return claim
    raise ValueError(f"the catalogue holds no claim {label!r}; labels look like huang2024-prop-2")


def render_text(check: Check) -> str:
    """A check in one line, for a terminal or a plain notebook."""
    line = f"{MARKS[check.verdict]} {check.label}: {check.verdict.value}. {check.evidence}"
    return line + (f" Witness: {check.witness}" if check.witness else "")


def render_html(data: Mapping[str, object]) -> str:
    """A check as HTML, from what `Check.to_json` gave; every text in it is escaped."""
    verdict = str(data["verdict"])
    rows = [("Evidence", str(data["evidence"]))]
    for key, title in [
        ("witness", "Witness"),
        ("slack", "Worst slack"),
        ("vacuous", "Says nothing before"),
    ]:
        if data[key]:
            rows.append((title, str(data[key])))
    if data["by_hand"]:
        rows.append(("Done by hand", "; ".join(_list(data["by_hand"]))))
    for reading in _list(data["readings"]):
        rows.append((f"Read as ({reading['verdict']})", reading["text"]))
    definitions = "".join(f"<dt>{escape(t)}</dt><dd>{escape(text)}</dd>" for t, text in rows)
    if data["repeat"]:
        definitions += f"<dt>Repeat</dt><dd><code>{escape(str(data['repeat']))}</code></dd>"
    control = data["control"]
    details = ""
    if isinstance(control, dict):
        details = (
            "<details><summary>Negative control: noticed</summary><p>"
            f"{escape(control['planted'])} The check answered <em>{escape(control['obtained'])}"
            "</em>, as it must.</p></details>"
        )
    mark = MARKS[Verdict(verdict)]
    return (
        f'<div class="ntp-check ntp-{verdict}"><p class="ntp-head">'
        f'<span class="ntp-badge ntp-{verdict}"><span aria-hidden="true">{mark}</span> {verdict}'
        f"</span> <strong>{escape(str(data['number']))}</strong> {escape(str(data['title']))}</p>"
        f"<dl>{definitions}</dl>{details}</div>"
    )


def _list(value: object) -> list[Any]:
    """A list out of decoded JSON, for the type checker's sake."""
    assert isinstance(value, list)
    return value
