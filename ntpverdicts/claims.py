"""Claims, and what a check of one returns.

A `Claim` is a row of a catalogue: what a paper states and where the book treats it. A `Check` is
what running a check gave: a verdict with its evidence. Rules that keep verdicts honest are enforced
when a `Check` is made, so that a refutation without a witness cannot even be built.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from html import escape
from typing import Any

from ntpverdicts.maths import in_html, plain, unbroken
from ntpverdicts.numbers import to_digits

MIME = "application/vnd.ntpcore.check+json"
SUMMARY = "How it was checked"  # of the fold of a card


class Verdict(Enum):
    """What a check established; the page `book/verdicts.md` explains the words.

    The first four are for mathematical statements, `WELL_POSED` is for definitions and assumptions,
    and the last three are for statements about data or random runs.
    """

    PROVED = "proved"
    NOT_CONTRADICTED = "not contradicted"
    REFUTED = "refuted"
    OPEN = "open"
    WELL_POSED = "well posed"
    SEEN = "seen"
    NOT_SEEN = "not seen"
    UNDECIDED = "undecided"


SIGNS = {"=": "=", "<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥"}  # of relations, in HTML
MARKS = {
    Verdict.PROVED: "✔",
    Verdict.NOT_CONTRADICTED: "≈",
    Verdict.REFUTED: "✘",
    Verdict.OPEN: "○",
    Verdict.WELL_POSED: "◇",
    Verdict.SEEN: "●",
    Verdict.NOT_SEEN: "◌",
    Verdict.UNDECIDED: "○",
}
# Verdicts without an instance, those that do not stand against what is claimed, and those that do.
NOTHING_TRIED = frozenset({Verdict.OPEN, Verdict.UNDECIDED})
SOUND = frozenset({Verdict.PROVED, Verdict.NOT_CONTRADICTED, Verdict.WELL_POSED, Verdict.SEEN})
AGAINST = frozenset({Verdict.REFUTED, Verdict.NOT_SEEN})


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
# Kinds that statements of this book have besides; all others are statements.
OWN_KINDS = frozenset(
    {"observation", "conjecture", "property", "law", "approximation", "reduction"}
)


@dataclass(frozen=True)
class Claim:
    """One statement, as the catalogue lists it.

    Attributes:
        label: `<paper>-<kind>-<number>`, or `ours-...` for a statement of this book.
        number: what the source calls it, such as "Proposition 2".
        title: what the claim is about, in a few words.
        where: the section of the paper that contains the claim.
        page: name of the notebook that checks the claim; None while the claim is only planned.
        uses: labels of the claims that its proof uses.
        on_data: whether its truth depends on the data, so that `ntpcore check` judges the claim.
        about: labels of the claims that it mentions without using them.
        paper_page: page of the edition that the book judges; None where that has no page numbers.
    """

    label: str
    number: str
    title: str
    where: str
    page: str | None = None
    uses: tuple[str, ...] = ()
    on_data: bool = False
    about: tuple[str, ...] = ()
    paper_page: int | None = None

    @property
    def paper(self) -> str:
        """The BibTeX key of the paper, or "ours"."""
        return self.label.split("-", 1)[0]

    @property
    def kind(self) -> str:
        """The kind of claim, such as "theorem", by its label; for a claim of this book, by the
        first word of its number, or "statement"."""
        paper, kind, *_ = self.label.split("-")
        if paper != "ours":
            return KINDS[kind]
        word = self.number.split()[0].strip(",").lower()
        return word if word in {*KINDS.values(), *OWN_KINDS} else "statement"

    @property
    def function(self) -> str:
        """Name of the function that checks this claim."""
        return "check_" + self.label.replace("-", "_")


@dataclass(frozen=True)
class Reading:
    """A reading of a statement beside the one that is judged, with its verdict and its witness."""

    text: str
    verdict: Verdict
    witness: str = ""

    def to_json(self) -> dict[str, object]:
        """The reading as plain data."""
        return {"text": self.text, "verdict": self.verdict.value, "witness": self.witness or None}


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


class How(Enum):
    """How a step of a proof is known to be right."""

    EXECUTED = "executed"
    ENCLOSED = "enclosed"
    CITED = "cited"
    USES = "uses"
    BY_HAND = "by hand"


class WitnessKind(Enum):
    """The kind of numbers in which a counterexample was found."""

    EXACT = "exact"
    ENCLOSED = "enclosed"
    FLOATING_POINT = "floating point"


@dataclass(frozen=True)
class Shown:
    """A relation that ran: an identity with its difference, or an inequality with its remainder.

    Attributes:
        name: what the relation is, in words.
        left: left side: a number, words, or words with a formula.
        relation: "=", "<=", ">=", "<" or ">".
        right: right side, in the form of `left`.
        rest: left minus right as text, "0" for an identity that holds; simplified unless a value
            shows that the difference is not 0.
        holds: whether the relation was found to hold.
    """

    name: str
    left: str
    relation: str
    right: str
    rest: str
    holds: bool


@dataclass(frozen=True)
class Step:
    """One step of the proof of a claim.

    Attributes:
        text: what the step says.
        how: how the step is known to be right.
        source: the function that ran; the key of a reference and the number of the theorem cited;
            or the label of the claim that is used.
        shown: the relations that it showed, if it ran.
        at: for a step by hand the name of its argument in the proof of the claim, where the
            anchor `step-<label>-<at>` stands.
    """

    text: str
    how: How
    source: str = ""
    shown: tuple[Shown, ...] = ()
    at: str = ""

    def to_json(self) -> dict[str, object]:
        """The step as plain data."""
        shown = [vars(one) | {} for one in self.shown]
        return {
            "text": self.text,
            "how": self.how.value,
            "source": self.source,
            "shown": shown,
            "at": self.at,
        }


Number = int | float | Fraction


@dataclass(frozen=True)
class Result:
    """A number that a check found.

    Attributes:
        value: the number.
        digits: how many of its digits are good, and shown; None for an exact number. With 0, other
            rounding gives another number, as another seed does, and two digits are shown.
        origin: why no more digits are good: "exact", "rounding", or what amplifies rounding.
        unit: its unit, if it has one.
        side: 1 where the evidence calls it an upper bound, so that it is rounded up; -1 for a lower
            bound; 0 elsewhere.
    """

    value: Number
    digits: int | None = None
    origin: str = "exact"
    unit: str = ""
    side: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"a result is {self.value}, which is no number")
        if isinstance(self.value, float) and self.digits is None:
            raise ValueError(
                f"the result {self.value} does not say how many of its digits are good"
            )

    @property
    def shown(self) -> str:
        """The number as pages print it."""
        text = str(self.value)
        if self.digits is not None:
            text = to_digits(float(self.value), self.digits or 2, self.side)
        return f"{text} {self.unit}".strip()

    def to_json(self) -> dict[str, object]:
        """Value, printed form and accuracy; a fraction as text in lowest terms."""
        value = str(self.value) if isinstance(self.value, Fraction) else self.value
        return {
            "value": value, "shown": self.shown, "digits": self.digits, "origin": self.origin,
        }  # fmt: skip


@dataclass(frozen=True)
class Check:
    """Outcome of checking one claim.

    Attributes:
        label: label of the claim.
        verdict: what the check established.
        tried: number of instances that were examined.
        unit: what one instance is, in the plural ("partial orders").
        evidence: one sentence on what was tried and found; the reason when the verdict is open.
        witness: for a refutation, the smallest known instance that shows it.
        slack: worst slack of an inequality and where it occurred.
        numbers: named results that the prose of a page may quote.
        parameters: the parameters that repeat the run.
        readings: readings beside the one that is judged, each with its verdict.
        vacuous: for a bound without content at the scale of the experiment, from where it has some.
        controls: the planted errors that this check noticed.
        repeat: the command that repeats this check.
        left_out: for each reason why instances were left out, how many.
        proof: the steps of the proof, for a claim that has one.
        witness_kind: for a refutation, in which numbers its witness was found.
        loose: for a bound without a known instance near it, how far from tight it stays.
        hypotheses: those in force at the statement, each tested on the instances.
        certainty: how the claim is known, as the ledger says it; None if a check runs alone.

    Raises:
        ValueError: a rule of honest verdicts is broken (refutation without witness, verdict without
            instances, blind control).
    """

    label: str
    verdict: Verdict
    tried: int
    unit: str
    evidence: str
    witness: str = ""
    slack: str = ""
    numbers: Mapping[str, str | Result] = field(default_factory=dict)
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()
    vacuous: str = ""
    controls: tuple[Control, ...] = ()
    repeat: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)
    proof: tuple[Step, ...] = ()
    witness_kind: WitnessKind | None = None
    loose: str = ""
    hypotheses: tuple[str, ...] = ()
    certainty: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if self.verdict in AGAINST and not self.witness:
            raise ValueError(f"{self.label}: a refutation must show a witness")
        if self.verdict not in NOTHING_TRIED and self.tried < 1:
            raise ValueError(f"{self.label}: {self.verdict.value!r} needs at least one instance")
        if not self.evidence:
            raise ValueError(f"{self.label}: a verdict needs its evidence, an open one its reason")
        for control in self.controls:
            if not control.noticed:
                raise ValueError(
                    f"{self.label}: the negative control was not noticed: {control.planted} gave "
                    f"{control.obtained.value!r}, expected {control.expected.value!r}"
                )

    def with_control(self, *controls: Control) -> Check:
        """This check together with further negative controls, which must have been noticed."""
        return replace(self, controls=(*self.controls, *controls))

    def to_json(self) -> dict[str, object]:
        """The check as plain data: the object that `ntpcore check --json` and the book store."""
        return {
            "label": self.label,
            "verdict": self.verdict.value,
            "tried": self.tried,
            "unit": self.unit,
            "evidence": self.evidence,
            "witness": self.witness or None,
            "slack": self.slack or None,
            "numbers": {
                name: one.to_json() if isinstance(one, Result) else one
                for name, one in self.numbers.items()
            },
            "parameters": dict(self.parameters),
            "readings": [one.to_json() for one in self.readings],
            "vacuous": self.vacuous or None,
            "controls": [
                {
                    "planted": one.planted,
                    "expected": one.expected.value,
                    "obtained": one.obtained.value,
                }
                for one in self.controls
            ],
            "repeat": self.repeat,
            "left_out": dict(self.left_out),
            "proof": [one.to_json() for one in self.proof],
            "witness_kind": self.witness_kind.value if self.witness_kind else None,
            "loose": self.loose or None,
            "hypotheses": list(self.hypotheses),
        } | ({"certainty": dict(self.certainty)} if self.certainty else {})

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        """What a notebook shows of a check: text, HTML, and the data that the book reads."""
        return {
            "text/plain": render_text(self),
            "text/html": render_html(self.to_json()),
            MIME: self.to_json(),
        }


def shown_number(value: object) -> str:
    """A number of a decoded check as pages print it."""
    return str(value["shown"]) if isinstance(value, dict) else str(value)


def css_class(verdict: str) -> str:
    """The class of a verdict in style sheets."""
    return "ntp-" + verdict.replace(" ", "-")


def render_text(check: Check) -> str:
    """A check in one line, for a terminal or a plain notebook."""
    verdict = f"{check.verdict.value}{certainty_words(check.to_json())}"
    line = f"{MARKS[check.verdict]} {check.label}: {verdict}. {plain(check.evidence)}"
    return line + (f" Witness: {plain(check.witness)}" if check.witness else "")


def render_html(data: Mapping[str, object], more: str = "") -> str:
    """A check as HTML, from what `Check.to_json` gave; every text in it is escaped.

    Formulas are in plain letters; a book typesets them (`ntpverdicts.maths.typeset`).

    Badge and evidence are visible; all else is in one fold. The head shows the number and title of
    the claim if the data contain them, as in a ledger, and its label otherwise.

    Args:
        data: the check.
        more: HTML that ends the fold.
    """
    verdict = str(data["verdict"])
    mark = MARKS[Verdict(verdict)]
    number, title = str(data.get("number", "")), str(data.get("title", data["label"]))
    name = f"<strong>{escape(number)}</strong> {in_html(title)}" if number else in_html(title)
    look = css_class(verdict)
    known = _measured(data) + _other_readings(_list(data.get("readings") or [])) + _machine(data)
    fold = known + _proof(data) + _controls(data) + more
    if fold:
        fold = f'<details class="ntp-fold"><summary>{SUMMARY}</summary>{fold}</details>'
    return (
        f'<div class="ntp-check {look}"><p class="ntp-head">'
        f'<span class="ntp-badge {look}"><span aria-hidden="true">{mark}</span> {verdict}'
        f"{escape(certainty_words(data))}</span> {name}</p>"
        f'<p class="ntp-evidence">{in_html(str(data["evidence"]))}</p>{fold}</div>'
    )


def heading(words: str) -> str:
    """The heading of a part of the fold; the words are HTML."""
    return f'<div class="ntp-part" role="heading" aria-level="4">{words}</div>'


def _measured(data: Mapping[str, object]) -> str:
    """What the evidence rests on, and how to get it again."""
    rows = [
        (title, in_html("; ".join(map(str, value)) if isinstance(value, list) else str(value)))
        for key, title in (
            ("witness", "Witness"),
            ("slack", "Worst slack"),
            ("hypotheses", "Hypotheses tested on every instance"),
            ("loose", "Distance from a tight instance"),
            ("vacuous", "Says nothing before"),
        )
        if (value := data.get(key))
    ]
    if data.get("repeat"):
        rows.append(("Repeat", f"<code>{escape(str(data['repeat']))}</code>"))
    listed = "".join(f"<dt>{title}</dt><dd>{text}</dd>" for title, text in rows)
    return f"<dl>{listed}</dl>" if listed else ""


def _other_readings(readings: list[Any]) -> str:
    """Less likely readings, each with its verdict."""
    if not readings:
        return ""
    items = "".join(
        f"<li>{in_html(one['text'].rstrip('.'))} <em>({escape(one['verdict'])})</em>."
        f"{_reading_witness(one)}"
        "</li>"
        for one in readings
    )
    count = "Another reading" if len(readings) == 1 else f"{len(readings)} other readings"
    return f"{heading(count)}<ul>{items}</ul>"


def _reading_witness(reading: Mapping[str, object]) -> str:
    """The witness against a reading that fails."""
    return f" Witness: {in_html(str(reading['witness']))}" if reading.get("witness") else ""


def _machine(data: Mapping[str, object]) -> str:
    """What a proof assistant read: files, theorems, axioms, statements as it prints them."""
    found = data.get("machine")
    if not isinstance(found, dict):
        return ""
    items = "".join(
        f"<li><code>{escape(one['file'])}</code>, <code>{escape(one['theorem'])}</code>; axioms: "
        f"{escape(', '.join(one['axioms']) or 'none')}"
        f'<pre class="ntp-coq">{escape(one["statement"])}</pre></li>'
        for one in found["theorems"]
    )
    words = "".join(
        f"<p>{title}{in_html(found[key])}</p>"
        for key, title in (("says", ""), ("differs", "What differs: "), ("open", "Not covered: "))
        if found[key]
    )
    title = f"Read by {escape(found['by'])}"
    return f"{heading(title)}{words}<ul>{items}</ul>"


def certainty_words(data: Mapping[str, object]) -> str:
    """The words after the verdict in a badge: how it is known, as `ledger` computed it.

    A check that runs alone does not know the proofs of the claims it uses. Its badge counts its own
    steps by hand and names what it uses.
    """
    if "certainty" in data:
        known = data["certainty"]
        return f", {known['words']}" if isinstance(known, dict) else ""
    if data["verdict"] not in (Verdict.PROVED.value, Verdict.REFUTED.value):
        return ""
    steps = _list(data.get("proof") or [])
    own = sum(step["how"] == How.BY_HAND.value for step in steps)
    used = [str(step["source"]) for step in steps if step["how"] == How.USES.value]
    words = f", {own} own {'step' if own == 1 else 'steps'} by hand" if own else ""
    return words + (f", using {', '.join(used)}" if used else "")


def _proof(data: Mapping[str, object]) -> str:
    """The steps of a proof, with the relations that ran."""
    steps = _list(data.get("proof") or [])
    if not steps:
        return ""
    items = []
    for step in steps:
        source = f" <code>{escape(step['source'])}</code>" if step["source"] else ""
        shown = "".join(
            f"<li>{in_html(one['name'])}: {_side(one['left'])} {SIGNS[one['relation']]} "
            f"{_side(one['right'])}, difference {_side(one['rest'])}</li>"
            for one in step["shown"]
        )
        inner = f"<ul>{shown}</ul>" if shown else ""
        place = f' <a href="#{anchor}">argument</a>' if (anchor := anchor_of(data, step)) else ""
        how = f"{step['how']}{source}{place}"
        items.append(f"<li>{in_html(step['text'])} <em>({how})</em>{inner}</li>")
    title = f"How one knows: {len(steps)} {'step' if len(steps) == 1 else 'steps'}"
    return f"{heading(title)}<ol>{''.join(items)}</ol>"


def _side(text: str) -> str:
    """A side of a relation: a number, words, or a formula."""
    return in_html(unbroken(text))


def anchor_of(data: Mapping[str, object], step: Mapping[str, object]) -> str:
    """The anchor of the argument of a step by hand; empty for other steps."""
    return f"step-{data['label']}-{step['at']}" if step.get("at") else ""


def _controls(data: Mapping[str, object]) -> str:
    """The planted errors that were noticed, and the cases that hold and were accepted."""
    controls = _list(data.get("controls") or [])
    errors = [one for one in controls if Verdict(one["expected"]) not in SOUND]
    right = [one for one in controls if Verdict(one["expected"]) in SOUND]
    noticed = "a planted error" if len(errors) == 1 else f"{len(errors)} planted errors"
    accepted = "a case that holds" if len(right) == 1 else f"{len(right)} cases that hold"
    return _answered(f"It noticed {noticed}", errors) + _answered(f"It accepted {accepted}", right)


def _answered(title: str, controls: list[Any]) -> str:
    """Some planted changes with the answers that the check gave, as it must."""
    if not controls:
        return ""
    answers = [f"<em>{escape(one['obtained'])}</em>" for one in controls]
    alike = len(set(answers)) == 1
    said = "With this change" if len(controls) == 1 else "With each of these changes"
    said += f" the check ran again and answered {answers[0] if alike else 'as named'}, as it must."
    if any("times sharper" in one["planted"] for one in controls):
        said += (
            " “1.1 times sharper” means that the planted bound is stronger than the right one by a "
            "factor of 1.1."
        )
    items = "".join(
        f"<li>{in_html(one['planted'])}{'' if alike else f' ({answer})'}</li>"
        for one, answer in zip(controls, answers, strict=True)
    )
    return f"{heading(title)}<p>{said}</p><ul>{items}</ul>"


def _list(value: object) -> list[Any]:
    """A list out of decoded JSON, for the type checker's sake."""
    assert isinstance(value, list)
    return value
