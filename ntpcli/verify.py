"""`ntpcore verify`: run the check of one claim, or of many, from its own instances."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from difflib import get_close_matches
from multiprocessing import get_context
from typing import Any

from ntpcli import claims
from ntpcli.terminal import Write
from ntpcore.data.dataset import InputError
from ntpverdicts.certainty import JUDGED, Kind, certainty_of, used_in
from ntpverdicts.claims import AGAINST, MARKS, Verdict, certainty_words, shown_number
from ntpverdicts.maths import plain
from ntpverdicts.vocabulary import Checked

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Verified:
    """What the check of one claim said.

    Attributes:
        number: what the source calls the claim.
        title: what it is about.
        data: what `Check.to_json` gave.
        seconds: how long it took.
    """

    number: str
    title: str
    data: Data
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return Verdict(self.data["verdict"])


def choose(label: str | None, paper: str | None, everything: bool) -> list[str]:
    """The labels that are meant.

    Raises:
        InputError: nothing or too much is asked for, or there is no such claim or paper.
    """
    from ntpbook.catalogue import CATALOGUE, PAPERS

    if sum((label is not None, paper is not None, everything)) != 1:
        raise InputError(
            "verify takes the label of one claim, or --paper huang2024, or --all; --list names "
            "all labels"
        )
    labels = [claim.label for claim in CATALOGUE]
    if label is not None:
        if label not in labels:
            near = get_close_matches(label, labels, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else "--list names all labels"
            raise InputError(f"{label}: no such claim; {hint}")
        return [label]
    if paper is not None and paper not in PAPERS:
        raise InputError(f"--paper {paper}: no such paper; there are {', '.join(PAPERS)}")
    return [claim.label for claim in CATALOGUE if everything or claim.paper == paper]


def parameters(label: str, seed: int | None, settings: Iterable[str]) -> dict[str, Any]:
    """The parameters of a check that were given on the command line.

    Args:
        label: label of the claim.
        seed: of random instances; None for the check's own.
        settings: words such as "sets=40".

    Raises:
        InputError: the check has no such parameter, or the value is not of its kind.
    """
    from ntpbook.catalogue import find_check

    defaults = _checked(label, find_check(label)).defaults
    given = {} if seed is None else {"seed": str(seed)}
    for word in settings:
        name, sign, value = word.partition("=")
        if not sign:
            raise InputError(f"--set {word}: write NAME=VALUE, such as --set sets=40")
        given[name] = value
    found: dict[str, Any] = {}
    for name, value in given.items():
        option = f"--seed {value}" if name == "seed" else f"--set {name}={value}"
        if name not in defaults:
            known = ", ".join(f"{key}={one}" for key, one in defaults.items()) or "none"
            raise InputError(
                f"{option}: the check of {label} has no such parameter; it has {known}"
            )
        kind = type(defaults[name])
        try:
            found[name] = kind(value)
        except ValueError:
            raise InputError(
                f"{option}: not a value like the default, {name}={defaults[name]}"
            ) from None
    return found


def _checked(label: str, check: Any) -> Checked:
    """A check that has instances of its own.

    Raises:
        InputError: its instances are made by its page.
    """
    from ntpbook.catalogue import find_claim

    if isinstance(check, Checked):
        return check
    page = find_claim(label).page
    raise InputError(f"{label}: this check runs on its page only; make page PAGE={page}")


def run(label: str, given: Mapping[str, Any] | None = None) -> Verified:
    """Run one check with its planted errors, and say how the claim is known."""
    return _known(_run(label, given), claims.load(None))


def _run(label: str, given: Mapping[str, Any] | None = None) -> Verified:
    """Run one check with its planted errors."""
    from ntpbook.catalogue import find_check, find_claim

    claim, began = find_claim(label), time.monotonic()
    data = _checked(label, find_check(label))(**(given or {})).to_json()
    return Verified(claim.number, claim.title, data, time.monotonic() - began)


def _known(one: Verified, published: claims.Published) -> Verified:
    """The same with its certainty, where the book knows that of all claims that it uses."""
    if not all(_knows(published, other) for other in used_in(one.data)):
        return one
    certainty = _certainty(published, str(one.data["label"]), one.data)
    return replace(one, data={**one.data, "certainty": certainty})


def _knows(published: claims.Published, label: str) -> bool:
    """Whether the book says how a claim is known; an older record does not.

    Without that, steps by hand below the claim would go uncounted, and the badge says too much.
    """
    if not published.judged or label not in published.rows:
        return False
    judged = published.rows[label].get("verdict") in JUDGED
    return not judged or claims.certainty_in(published, label) is not None


def _certainty(published: claims.Published, label: str, data: Data) -> dict[str, object] | None:
    """How the claim is known by the steps that ran here and, for what it uses, by the book."""
    row = published.rows.get(label, {})
    known = claims.certainty_in(published, label)
    machine = known is not None and known.kind is Kind.MACHINE_CHECKED
    own = {**data, "machine": machine, "machine_steps": row.get("machine_steps") or ()}
    used = {other: claims.certainty_in(published, other) for other in used_in(own)}
    found = certainty_of(own, used)
    return found.to_json() if found else None


def run_all(labels: list[str], jobs: int) -> Iterator[Verified]:
    """Run many checks, in this process or in several, each as soon as it is done."""
    published = claims.load(None)  # once, for all of them
    if jobs == 1 or len(labels) == 1:
        yield from (_known(_run(label), published) for label in labels)
        return
    with ProcessPoolExecutor(min(jobs, os.cpu_count() or 1), get_context("spawn")) as pool:
        waiting = [pool.submit(_run, label) for label in labels]
        try:
            for future in as_completed(waiting):
                yield _known(future.result(), published)
        finally:
            for future in waiting:
                future.cancel()


def exit_code(found: Iterable[Verified]) -> int:
    """1 if any claim is refuted or what it says is not seen, else 0."""
    return int(any(one.verdict in AGAINST for one in found))


def to_json(found: Iterable[Verified]) -> dict[str, object]:
    """The object that `ntpcore verify --json` prints."""
    return {
        "claims": [
            {"number": one.number, "title": one.title, **one.data, "seconds": round(one.seconds, 2)}
            for one in found
        ]
    }


def write_line(one: Verified, write: Write) -> None:
    """One claim in a line, for many of them."""
    name = f"{one.data['label']}: {one.verdict.value}{certainty_words(one.data)}"
    line = f"{MARKS[one.verdict]} {name} ({one.seconds:.1f} s). {plain(one.data['evidence'])}"
    write(line, one.verdict.value)


def write_text(one: Verified, write: Write) -> None:
    """One claim for people: verdict, evidence, witness, steps of the proof, planted errors."""
    data = one.data
    write(f"{data['label']}  {one.number}: {plain(one.title)}", "title")
    word = one.verdict.value + certainty_words(data)
    write(f"{MARKS[one.verdict]} {word}", one.verdict.value)
    write(f"  {plain(data['evidence'])}", "plain")
    for key, title in (("witness", "witness"), ("slack", "worst slack")):
        if data[key]:
            write(f"  {title}: {plain(data[key])}", "plain")
    for number, step in enumerate(data["proof"], 1):
        source = f", {step['source']}" if step["source"] else ""
        write(f"  step {number}: {plain(step['text'])} ({step['how']}{source})", "plain")
        for shown in step["shown"]:
            sides = f"{plain(shown['left'])} {shown['relation']} {plain(shown['right'])}"
            rest = plain(shown["rest"])
            write(f"      {plain(shown['name'])}: {sides}; difference {rest}", "faint")
    for reading in data["readings"]:
        write(f"  read as: {plain(reading['text'])} ({reading['verdict']})", "plain")
    for name, value in data["numbers"].items():
        write(f"  {name} = {shown_number(value)}", "faint")
    for control in data["controls"]:
        answer = f"The check answered {control['obtained']}, as it must."
        write(f"  planted: {plain(control['planted'])} {answer}", "faint")
    write(f"  repeat: {data['repeat']}  ({one.seconds:.1f} s)", "faint")


def write_labels(write: Write) -> None:
    """Every label with what it stands for."""
    from ntpbook.catalogue import CATALOGUE

    for claim in CATALOGUE:
        write(f"{claim.label:<36} {claim.number}: {plain(claim.title)}", "plain")
