"""How checks judge inequalities at recorded steps: boundaries and what they say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ntpbook.shared import inequality
from ntpcore.verdicts.claims import Check, Verdict

# huang2024: inequalities at the recorded steps of runs


def held(*slacks: list[float], tolerance: float = 0.5) -> Check:
    """The check of an inequality with these slacks, a list for each run, at steps 10, 20, ..."""
    named = [SimpleNamespace(name=f"run {i}", slacks=one) for i, one in enumerate(slacks)]

    def slack(run: SimpleNamespace) -> inequality.Slack:
        values = np.array(run.slacks, dtype=float)
        return 10 * np.arange(1, len(values) + 1), values

    return inequality.judge_inequality(
        "huang2024-eq-4",
        named,  # type: ignore[arg-type]
        slack,
        "It holds",
        tolerance=tolerance,
        parameters={"seed": 3},
        by_hand=("a step",),
        vacuous="t = 5",
    )


def test_an_inequality_that_holds_says_where_it_is_tightest():
    check = held([3.0, 2.0], [], [4.0, 1.5, 1.5, 9.0])
    assert check.verdict is Verdict.CONSISTENT
    assert (check.tried, check.unit) == (3, "runs")
    assert check.evidence == "It holds on all 3 runs at all 6 recorded steps."
    assert check.slack == "1.5 (run 2, step 20)"
    assert check.numbers == {"worst": "1.5", "runs": "3", "points": "6", "tolerance": "0.5"}
    assert (check.by_hand, check.vacuous) == (("a step",), "t = 5")
    assert check.parameters == {"seed": 3}
    assert held([1.0]).evidence == "It holds on the run at all 1 recorded steps."
    assert held([1.0], [1.0]).slack == "1 (run 0, step 10)"  # the first of equals


def test_an_inequality_fails_only_below_its_tolerance():
    assert held([-0.5]).verdict is Verdict.CONSISTENT
    check = held([2.0, -0.51], [-0.2])
    assert check.verdict is Verdict.REFUTED
    assert check.tried == 2
    assert check.witness == "run 0, step 20: slack -0.51"
    assert check.evidence == "The inequality fails on 2 runs, 3 recorded steps."
    assert check.numbers == {"worst": "-0.51", "runs": "2", "points": "3", "tolerance": "0.5"}
    assert check.parameters == {"seed": 3}


def test_an_inequality_that_nothing_reaches_is_open_with_the_reason():
    check = held([])
    assert (check.verdict, check.tried) == (Verdict.OPEN, 0)
    assert check.evidence == (
        "Not decided: the run does not reach a step at which the statement says anything."
    )
    assert "none of the 2 runs reaches a step" in held([], []).evidence
    assert "none of the 0 runs reaches a step" in held().evidence
    assert held([]).parameters == {"seed": 3}


def test_an_error_of_zero_is_a_slack_of_zero_without_a_sign():
    check = held([-0.0, 1.0])
    assert (check.slack, check.numbers["worst"]) == ("0 (run 0, step 10)", "0")
