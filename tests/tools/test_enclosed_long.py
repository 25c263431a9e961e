"""The long enclosed run: written down as it should be, and confirmed by two other runs."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from flint import arb, ctx

from ntpbook.ours.late_phase import float_error
from ntpbook.shared import enclosure
from ntpbook.shared.enclosed_setting import example_1_setting
from tools.pipeline import enclosed_long

FOUND = json.loads((enclosed_long.ROOT / float_error.LONG).read_text(encoding="utf-8"))


def test_the_file_says_command_machine_versions_date_and_the_code_that_is_here():
    assert set(FOUND) == {
        "command", "date", "machine", "versions", "seconds", "code", "bits", "rows",
    }  # fmt: skip
    assert FOUND["code"] == enclosed_long.code_hash(), "make enclosed-long"
    assert [row["step"] for row in FOUND["rows"]] == list(enclosed_long.STEPS)


def test_its_first_digits_are_those_of_a_shorter_run_in_balls():
    shorter = {state.step: state for state in float_error.in_balls(7, 0)}
    compared = 0
    for row in FOUND["rows"]:
        if row["step"] in shorter:
            state = shorter[row["step"]]
            with ctx.workprec(state.bits):
                off = abs(arb(enclosure.one_minus_cos(state)) / arb(row["one_minus_cos"]) - 1)
                assert off < arb(10) ** -(enclosed_long.DIGITS - 1)
                compared += 1
    assert compared == 2


def test_every_row_is_confirmed_by_a_run_in_floats_and_another_step_size_is_not():
    rows = list(float_error.long_rows())
    assert len(rows) == len(FOUND["rows"])
    for _, exact, measured, share in rows:
        off = abs(Decimal(measured) / Decimal(exact) - 1)
        assert off < Decimal(share)
        assert abs(Decimal(measured) * Decimal("1.00001") / Decimal(exact) - 1) > Decimal(share)


def test_a_state_with_wide_balls_is_refused():
    (state,) = enclosure.enclose(example_1_setting(), 100, [100])
    assert enclosed_long.ends(state)["step"] == 100
    with ctx.workprec(state.bits):
        wide = {place: arb(value, arb(10) ** -20) for place, value in state.W.items()}
    with pytest.raises(ArithmeticError, match="step 100: 1 - cos is known to fewer digits"):
        enclosed_long.ends(replace(state, W=wide))
