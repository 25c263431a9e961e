"""What two builds say is compared claim by claim, numbers as far as their digits are good; of a
record, the verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ntpverdicts.compare import missing
from tools.pipeline import record


def number(value: object, digits: int | None = None) -> dict[str, Any]:
    return {"value": value, "shown": str(value), "digits": digits, "origin": "rounding"}


def document(**changes: object) -> dict[str, Any]:
    row = {
        "label": "ours-x", "verdict": "not contradicted", "certainty": None,
        "edition": None, "evidence": "It holds.", "witness": None,
        "tried": 3, "slack": "rounding alone, below 1e-12", "vacuous_before": None,
        "machine_steps": [], "readings": [],
        "numbers": {"size": number(1.2345, 3), "count": number(7)},
    }  # fmt: skip
    return {"versions": {"python": "3"}, "claims": [row | changes]}


def test_the_same_documents_do_not_differ() -> None:
    assert record.differences(document(), document()) == []


def test_a_number_may_differ_beyond_its_good_digits_and_no_sooner() -> None:
    def with_size(value: float) -> dict[str, Any]:
        return document(numbers={"size": number(value, 3), "count": number(7)})

    assert record.differences(document(), with_size(1.2346)) == []
    assert record.differences(document(), with_size(1.25)) == ["ours-x: size: 1.2345, and 1.25"]
    other = document(numbers={"size": number(1.2345, 3), "count": number(8)})
    assert record.differences(document(), other) == ["ours-x: count: 7, and 8"]
    gone = document(numbers={"count": number(7)})
    assert record.differences(document(), gone) == ["ours-x: size: only one of them has it"]
    assert record.agree(number("1/3"), number("1/3"))
    assert not record.agree(number("1/3"), number("2/3"))


def test_of_numbers_that_rounding_draws_anew_only_the_verdict_is_compared() -> None:
    def drawn(value: float, **changes: object) -> dict[str, Any]:
        return document(numbers={"size": number(value, 0), "count": number(7)}, **changes)

    assert record.differences(drawn(2.1), drawn(1.7, slack="0.1 (n = 1)", witness="n = 2")) == []
    (line,) = record.differences(drawn(2.1), drawn(2.1, verdict="refuted"))
    assert line.startswith("ours-x: verdict: ")
    (line, *_) = record.differences(document(), drawn(1.2345, verdict="refuted"))
    assert line.startswith("ours-x: verdict: ")


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "refuted"), ("evidence", "It does not."), ("tried", 4), ("witness", "n = 2"),
     ("slack", "0.1 (n = 1)")],
)  # fmt: skip
def test_whatever_else_is_said_differently_is_named(key: str, value: object) -> None:
    (line,) = record.differences(document(), document(**{key: value}))
    assert line.startswith(f"ours-x: {key}: ")


def test_claims_without_their_data_are_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = missing("The text", "name its folder").reason
    absent = document(verdict="undecided", evidence=f"Not decided: {reason}.")
    assert record.differences(document(), absent) == []
    monkeypatch.setattr(record, "RECORD", tmp_path / "record.json")
    assert record.compared(absent) == []
    kept = record.recorded(document()) | {"date": "2026-11-22"}
    record.RECORD.write_text(record.as_lines(kept), encoding="utf-8")
    assert json.loads(record.RECORD.read_text(encoding="utf-8")) == kept
    assert record.compared(document(tried=4))[0].endswith("of 2026-11: 1 of 1 judged here")
    assert record.compared(absent)[0].endswith("0 of 0 judged here; 1 need WikiText-2")
    head, line = record.compared(document(verdict="refuted"))
    assert head.endswith("0 of 1 judged here")
    assert line == "ours-x: not contradicted in the record, refuted here"
    known = {"kind": "computed", "words": "computed", "by_hand": [], "cited": []}
    _, line = record.compared(document(certainty=known))
    assert line.endswith("not contradicted in the record, not contradicted, computed here")
    other = document() | {"claims": [document()["claims"][0] | {"label": "ours-y"}]}
    assert len(record.compared(other)) == 3


def test_two_files_are_compared_with_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text(json.dumps(document()), encoding="utf-8")
    other.write_text(json.dumps(document(tried=9)), encoding="utf-8")
    assert record.main([str(one), str(one)]) == 0
    assert "both say the same" in capsys.readouterr().out
    assert record.main([str(one), str(other)]) == 1
    assert "tried: 3, and 9" in capsys.readouterr().out
