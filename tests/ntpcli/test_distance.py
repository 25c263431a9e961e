"""How far data are from Assumption 1, and the claims on the part that it explains."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import pytest
from data_file import write
from program import CONTRADICTION, EXAMPLE_1, EXAMPLES, Run

from ntpcli import check, distance
from ntpcore.data import order
from ntpcore.data.dataset import read
from ntpplayground import engine as playground

CYCLE, GETTYSBURG = str(EXAMPLES / "cycle.jsonl"), str(EXAMPLES / "gettysburg.txt")


def measured(path: str) -> distance.Distance:
    data = read(path)
    return distance.measure(data, None, distance.search(data, None))


def test_every_rule_is_counted_by_hand(tmp_path: Path) -> None:
    # a is followed by b twice and by c once; d and e are both followed by b; b and c start nothing
    path = write(tmp_path, "a b\na b\na c\nd b\ne b\n")
    found = measured(path)
    assert (found.tokens, found.starting) == (5, 5)
    assert (found.missing, found.ambiguous, found.contested, found.shared) == (2, 1, 1, 1)
    # n(a) = b keeps two samples; then a -> c, d -> b and e -> b have no source in their sentence
    assert (found.part.kept_weight, found.part.gap) == (2, 0)
    assert (found.unexplained, found.contradicting) == (3, 0)


def test_contexts_of_a_cycle_are_explained_or_contradict_and_nothing_else() -> None:
    found = measured(CYCLE)
    assert (found.missing, found.ambiguous, found.shared) == (0, 0, 0)
    assert (found.part.kept_weight, found.unexplained, found.contradicting) == (5, 0, 2)


def test_the_shares_of_a_text_add_up_and_the_part_is_realizable() -> None:
    found = measured(GETTYSBURG)
    part = found.part
    # the text read plainly: what stands before each word of a line, and what follows a first word
    lines = [line.split() for line in Path(GETTYSBURG).read_text(encoding="utf-8").splitlines()]
    weight = sum(len(words) - 1 for words in lines)
    assert part.kept_weight + found.unexplained + found.contradicting == part.table.weight == weight
    after: dict[str, set[str]] = {}
    for first, second, *_ in lines:
        after.setdefault(first, set()).add(second)
    structure = order.analyse(read(GETTYSBURG))
    counts = structure.realizable.counts
    assert counts is not None
    missing = {word for words in lines for word in words} - set(after)
    assert found.missing == counts["collocation-missing"] == len(missing)
    ambiguous = [first for first, seconds in after.items() if len(seconds) > 1]
    assert found.ambiguous == counts["collocation-ambiguous"] == len(ambiguous)


def test_a_check_that_fails_says_how_far_and_what_to_do(run: Run) -> None:
    result = run("check", CONTRADICTION)
    assert result.code == 1
    assert "75.0% (3) are explained" in result.out
    assert "25.0% (1) make a token win that loses in explained ones" in result.out
    assert f"ntpcore check {CONTRADICTION} --repair" in result.out
    assert "How far" not in run("check", EXAMPLE_1).out


def test_what_attention_learns_comes_before_how_far_the_data_are(run: Run) -> None:
    said = run("check", CYCLE).out
    parts = (
        "What attention learns from these data",
        "under 1 of 1 query the comparisons form cycles",
        "?: paper = rock = scissors 1/4  >  ? -3/4",
        "strict part: 3 of 6 comparisons",
        "of 7 contexts, attention decides 0.0% (0)",
        "42.9% (3) are contested",
        "a contradiction under one query can turn the linear growth of margins under other queries "
        "into logarithmic growth",
        "proved for one contradicting pair and one other margin (ours-contradiction)",
        "How far the data are from the assumptions",
        "✘ Assumption 1 (realizable): fails",
    )
    places = [said.find(part) for part in parts]
    assert -1 not in places, said
    assert places == sorted(places)
    assert "What attention learns" not in run("check", EXAMPLE_1).out


def test_a_text_gets_inferred_next_tokens_and_says_so(run: Run) -> None:
    said = run("check", GETTYSBURG).out
    assert "n is inferred for 124 of 138 tokens" in said
    assert "nothing follows 9 of 138 tokens" in said
    assert "nothing follows" not in run("check", CYCLE).out
    assert "no claim is judged by inferred next tokens" in said
    found = json.loads(run("check", GETTYSBURG, "--json").out)["learned"]
    origins = [entry["origin"] for entry in found["next_tokens"].values()]
    assert (origins.count("inferred"), origins.count("none"), len(origins)) == (124, 9, 138)
    kinds = found["contexts"]
    assert sum(kinds.values()) == 2 * kinds["total"]
    assert set(found["components"]) == {"that", "here", "gave"}
    squares = [
        Fraction(x) ** 2 for one in found["margin"]["columns"].values() for x in one.values()
    ]
    assert sum(squares) == Fraction(found["margin"]["norm_squared"])
    assert "learned" not in json.loads(run("check", EXAMPLE_1, "--json").out)


def test_no_more_than_three_rows_alike_stand_below_each_other(run: Run) -> None:
    """The first word of a row is its kind: no kind fills the screen."""
    rows = [line.split() for line in run("check", GETTYSBURG).out.splitlines() if line.strip()]
    kinds = [words[0] if words[0] != "no" else " ".join(words[:3]) for words in rows]
    runs = [len(list(same)) for _, same in groupby(kinds)]
    assert max(runs) <= 3


def test_claims_are_judged_on_the_part_when_asked(run: Run) -> None:
    plain = json.loads(run("check", CYCLE, "--steps", "20", "--json").out)
    assert "part" not in plain
    assert {claim["verdict"] for claim in plain["claims"]} == {"open"}
    result = run("check", CYCLE, "--repair", "--steps", "20", "--json")
    found = json.loads(result.out)
    assert result.code == 1  # the data as they are still break Assumption 1
    assert found["distance"]["explained"] == 5
    assert found["part"]["assumptions"]["1"]["holds"] is True
    verdicts = {claim["label"]: claim["verdict"] for claim in found["part"]["claims"]}
    assert verdicts["huang2024-thm-1-corrected"] == "proved"
    assert verdicts["huang2024-thm-1"] == "open"  # the part is not prefix-closed
    assert "refuted" not in verdicts.values()
    assert all("--repair" in claim["repeat"] for claim in found["part"]["claims"])


def test_a_part_is_judged_on_its_samples_and_no_others(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("check", CYCLE, "--repair", "--json").out)["part"]
    rest, columns = str(tmp_path / "rest.jsonl"), str(tmp_path / "n.txt")
    assert run("repair", CYCLE, "--write", rest, "--write-collocation", columns).code == 0
    again = json.loads(run("check", rest, "--collocation", columns, "--json").out)
    assert found["margin"]["norm_squared"] == again["margin"]["norm_squared"]
    assert found["dataset"] == again["dataset"]


def test_where_nothing_has_to_go_the_collocation_is_offered(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, "a b\n")  # b starts no sentence
    said = run("check", path).out
    assert f"nothing has to be dropped: ntpcore repair {path} --write-collocation n.txt" in said
    columns = str(tmp_path / "n.txt")
    assert run("repair", path, "--write-collocation", columns).code == 0
    assert run("check", path, "--collocation", columns).code == 0


def test_large_data_are_measured_only_when_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distance, "QUICK_CELLS", 100)
    said = run("check", GETTYSBURG).out
    assert f"ntpcore check {GETTYSBURG} --repair measures how far" in said
    assert "are explained" not in said
    assert "are explained" in run("check", GETTYSBURG, "--repair").out


def test_data_that_cannot_be_searched_are_checked_all_the_same(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distance.repair, "tabulate", refuse)
    result = run("check", CONTRADICTION)
    assert (result.code, result.err) == (1, "")
    assert "how far was not measured: too large" in result.out
    asked = run("check", CONTRADICTION, "--repair")
    assert (asked.code, asked.out, asked.err) == (2, "", "ntpcore: too large\n")


def refuse(*_: object) -> None:
    raise check.InputError("too large")


def test_the_playground_says_the_same_rows_without_commands() -> None:
    found = playground.check(CONTRADICTION)["view"]
    assert isinstance(found, dict)
    far = measured(CONTRADICTION)
    told = json.dumps(found["sections"], ensure_ascii=False)
    assert f"75.0% ({far.part.kept_weight}) are explained" in told
    assert f"25.0% ({far.contradicting}) make a token win that loses in explained ones" in told
    assert "ntpcore" not in told
    (only,) = playground.check(EXAMPLE_1)["view"]["sections"]  # type: ignore[index]
    assert only["text"] == "What attention can decide"
