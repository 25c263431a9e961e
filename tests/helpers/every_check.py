"""What every check of the book must do, asked in one place: for the tests of its chapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ntpcore.verdicts.claims import Check, How, Verdict
from ntpcore.verdicts.vocabulary import Checked, Executed


def known(one: Checked, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Those parameters that a check has, of some for a whole chapter."""
    return {name: value for name, value in parameters.items() if name in one.defaults}


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
