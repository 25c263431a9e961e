"""What every check of the book must do, asked in one place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ntpbook.catalogue import find_check
from ntpverdicts.claims import Check, How, Verdict
from ntpverdicts.vocabulary import Checked, Executed

TESTS = Path(__file__).resolve().parents[1]
# The verdicts of the book, and the parameters with which a check says the same on few instances.
# What trains too long to run whole names the file in which its chapter asks the same of runs that
# are made for the test.
PINNED = tomllib.loads((TESTS / "verdicts.toml").read_text(encoding="utf-8"))
ROWS = tomllib.loads((TESTS / "small.toml").read_text(encoding="utf-8"))
ELSEWHERE = {label: row["asked_in"] for label, row in ROWS.items() if "asked_in" in row}
SMALL = {label: row for label, row in ROWS.items() if label not in ELSEWHERE}


@cache
def sound(label: str) -> Check:
    """What the check of a claim says on few instances, after all that every check must do.

    Its verdict is that of the book, and a proved statement has a proof; see `assert_sound`.
    """
    verdict = Verdict(PINNED[label][-1])
    found = assert_sound(find_check(label), verdict, **SMALL.get(label, {}))
    assert bool(found.proof) or verdict is not Verdict.PROVED, f"{label} is proved without a proof"
    return found


def assert_sound(one: Checked, verdict: Verdict, **parameters: Any) -> Check:
    """Run a check: its verdict, an answer to each planted error, steps that were shown and hold.

    Args:
        one: the check.
        verdict: what it must say.
        parameters: those of its instances that differ from the page's.

    Returns:
        what it says, for questions of its own.
    """
    found = one(**parameters)
    assert found.verdict is verdict, f"{one.label}: {found.verdict}, {found.witness}"
    in_steps = sum(len(step.planted) for step in one.proof if isinstance(step, Executed))
    assert len(found.controls) == len(one.planted) + in_steps, f"{one.label}: an error not tried"
    assert one.planted, f"{one.label}: no error is planted"
    missed = [control.planted for control in found.controls if not control.noticed]
    assert not missed, f"{one.label}: not noticed: {missed}"
    for step in found.proof:
        if step.how in (How.EXECUTED, How.ENCLOSED):
            assert step.shown, f"{one.label}: nothing shown by {step.text}"
        assert all(shown.holds for shown in step.shown), f"{one.label}: {step.text}"
    return found


def failure(one: Checked, instances: Iterable[Any], **changes: Any) -> str:
    """Where a check finds its first fault on these instances, spoilt on purpose; empty for none.

    `judge` would refuse to call this a refutation, as spoilt instances break the hypotheses.
    """
    found = one._run(list(instances), changes, {}, stop=True, strict=False)
    return "" if found.failed is None else found.failed.where or "the statement itself"
