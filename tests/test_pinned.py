"""What the checks of a test say is pinned, to the last place printed."""

from __future__ import annotations

import json
from pathlib import Path

import pinned
import pytest
import watched

from ntpcore.claims import Check, Verdict

pytest_plugins = ["pytester"]
TEST = """
from ntpcore.claims import Check, Verdict

def test_one():
    said = {"worst": "WORST", "runs": "3"}
    Check("huang2024-eq-1", Verdict.PROVED, 3, "runs", "All 3.", numbers=said)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("slack 0.0031 on 14 runs", "slack 0.0032 on 14 runs"),
        ("1.20e-04", "1.21e-04"),
        ("an error of 2.2e-16", "an error of 0"),
        ("−0.5, 3", "−0.4, 3"),
    ],
)
def test_rounding_is_no_difference(before: str, after: str) -> None:
    assert pinned.differences([{"a": before}], [{"a": after}]) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("slack 0.0031 on 14 runs", "slack 0.0033 on 14 runs"),
        ("slack 0.0031 on 14 runs", "slack 0.0031 on 15 runs"),
        ("slack 0.0031", "gap 0.0031"),
        ("1.20e-04", "1.20e-03"),
        ("0.5", "-0.5"),
        ("2.2e-16", "2.2e-06"),
        ("V2", "V3"),
        ("7/6", "7/5"),
    ],
)
def test_more_is_one(before: str, after: str) -> None:
    assert pinned.differences([{"a": before}], [{"a": after}]) != []


def test_every_part_of_a_check_is_compared() -> None:
    said = [{"label": "ours-rate", "tried": 3, "numbers": {"worst": "0.10", "runs": "3"}}]
    assert pinned.differences(said, said) == []
    assert pinned.differences(said, []) == [f": [], pinned {said!r}"]
    assert pinned.differences(said, [said[0] | {"tried": 4}]) == ["[0].tried: 4, pinned 3"]
    fewer = [said[0] | {"numbers": {"worst": "0.10"}}]
    assert pinned.differences(said, fewer) == ["[0].numbers.runs: None, pinned '3'"]
    assert pinned.differences(fewer, said) == ["[0].numbers.runs: '3', pinned None"]


def test_the_place_of_a_slack_that_is_rounding_is_not_pinned() -> None:
    slacks = ("-4.44e-16 (draw 0)", "-6.7e-10 (draw 1)", "0 (draw 2)", "-4.44e-08 (draw 3)")
    with pinned.recorded() as found:
        for slack in slacks:
            Check("huang2024-eq-1", Verdict.PROVED, 3, "numbers", "All are equal.", slack=slack)
    assert [one["slack"] for one in found] == ["rounding", *slacks[2:]]


def test_summaries_are_compared_with_room_for_rounding() -> None:
    before = {"values": {"a": "3 12 7.1000", "b": "rounding", "c": "1 1 2.0000"}}
    after = {"values": {"a": "3 12 7.1005", "b": "9 9 9.0000", "c": "1 1 2.0000"}}
    assert pinned.differences(before, after) == []
    after["values"] |= {"a": "3 12 7.1020", "c": "2 1 2.0000", "d": "1 1 1.0000"}
    assert pinned.differences(before, after) == [
        ".values.a: 3 12 7.1020, pinned 3 12 7.1000",
        ".values.c: 2 1 2.0000, pinned 1 1 2.0000",
        ".values.d: 1 1 1.0000, pinned None",
    ]
    del after["values"]["d"], after["values"]["a"]
    assert pinned.differences(before, after)[0] == ".values.a: None, pinned 3 12 7.1000"


def test_what_is_marked_as_rounding_stays_so() -> None:
    old = {"a": "3 12 7.1000", "b": "rounding", "c": "1 1 2.0000", "d": "1 1 2.0000"}
    new = {"a": "3 12 7.1001", "b": "1 1 1.0000", "c": "1 1 2.0005", "e": "1 1 1.0000"}
    before, found = {"checks": [1], "values": old}, {"checks": [2], "values": new}
    kept = pinned.renewed(before, found, all_anew=True)
    assert kept == {"checks": [2], "values": new | {"b": "rounding"}}
    wide = {"c": "rounding", "d": "rounding"}  # less than a failure, and not there at all
    kept = pinned.renewed(before, found, all_anew=False)
    assert kept == {"checks": [1], "values": old | wide}
    assert pinned.renewed({}, {"checks": [2]}, all_anew=True) == {"checks": [2]}


def test_checks_are_recorded_once_and_as_they_were_made() -> None:
    with pinned.recorded() as found:
        for tried in (1, 2, 1):
            Check("huang2024-eq-1", Verdict.PROVED, tried, "numbers", "All are equal.")
    Check("huang2024-eq-1", Verdict.PROVED, 5, "numbers", "All are equal.")
    assert [one["tried"] for one in found] == [1, 2]
    assert found[0]["evidence"] == "All are equal."
    assert "witness" not in found[0]


def test_a_test_fails_when_its_checks_say_something_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hooks of this folder's conftest, in a folder with one test."""
    monkeypatch.setattr(pinned, "FOLDER", pytester.path / "pins")
    here = Path(__file__).parent
    pytester.makeconftest((here / "conftest.py").read_text(encoding="utf-8"))

    def run(worst: str, *options: str) -> dict[str, int]:
        pinned.pins_of.cache_clear()
        pytester.makepyfile(test_checks_tiny=TEST.replace("WORST", worst))
        return pytester.runpytest("-p", "no:cacheprovider", *options).parseoutcomes()

    assert run("0.10") == {"passed": 1}  # nothing is pinned yet
    assert run("0.10", "--renew-pins") == {"passed": 1}
    assert run("0.11") == {"passed": 1}
    assert run("0.13") == {"failed": 1}
    assert run("0.13", "--renew-pins") == {"passed": 1}
    assert run("0.13") == {"passed": 1}
    assert run("0.14", "--loosen-pins") == {"passed": 1}  # only what is computed is loosened
    assert run("0.15") == {"failed": 1}
    refused = pytester.runpytest("-p", "no:cacheprovider", "--renew-pins", "-k", "one")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert run("0.13") == {"passed": 1}
    pinned.pins_of.cache_clear()


def test_the_pins_are_those_of_tests_that_exist() -> None:
    for file in pinned.FOLDER.glob("*.json"):
        text = (pinned.FOLDER.parent / f"{file.stem}.py").read_text(encoding="utf-8")
        for name, found in json.loads(file.read_text(encoding="utf-8")).items():
            function = name.removeprefix(pinned.FIXTURE).split("[")[0]
            assert f"def {function}(" in text, f"{name} is gone; run `make pin-evidence`"
            assert found


def test_sums_are_compared_where_pins_were_written_and_words_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {"checks": [{"slack": "0.5"}], "values": {"a": "1 1 2.0000"}}
    words, sums = before | {"checks": [{"slack": "0.9"}]}, before | {"values": {"a": "1 1 3.0000"}}
    monkeypatch.setattr(pinned, "FOLDER", tmp_path)
    (tmp_path / pinned.PROCESSORS).write_text(f"other\n{pinned.processor()}\n")
    for known in (True, False):
        held = [
            bool(pinned.differences(pinned.comparable(before), pinned.comparable(found)))
            for found in (words, sums)
        ]
        assert held == [True, known]
        (tmp_path / pinned.PROCESSORS).write_text("other\n")


def test_few_summaries_are_left_out_as_rounding() -> None:
    files = [json.loads(file.read_text(encoding="utf-8")) for file in pinned.FOLDER.glob("*.json")]
    found = [found.get("values", {}) for file in files for found in file.values()]
    values = [one for sums in found for one in sums.values()]
    assert values
    assert values.count(watched.ROUNDING) < 0.05 * len(values)
