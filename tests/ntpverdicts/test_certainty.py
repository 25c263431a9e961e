"""How claims are known is derived from the steps of their proofs, and from nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ntpverdicts.certainty import Kind, certainties, faults, with_certainty


def step(how: str, source: str = "", at: str = "") -> dict[str, Any]:
    """A step of a proof as a ledger holds it."""
    return {"text": f"{how} {source}{at}", "how": how, "source": source, "at": at, "shown": []}


def hand(at: str) -> dict[str, Any]:
    """A step by hand."""
    return step("by hand", at=at)


def row(label: str, *steps: dict[str, Any], verdict: str = "proved", **more: Any) -> dict[str, Any]:
    """A row of a ledger, whose `uses` are those of its steps."""
    used = [one["source"] for one in steps if one["how"] == "uses"]
    return {"label": label, "verdict": verdict, "proof": list(steps), "uses": used} | more


def words(*rows: dict[str, Any]) -> dict[str, str | None]:
    """What the badges of some rows say."""
    found = certainties({one["label"]: one for one in rows})
    return {label: one.words if one else None for label, one in found.items()}


def test_steps_that_ran_make_a_computed_proof_and_a_theorem_of_others_a_cited_one() -> None:
    rows = row("a", step("executed"), step("enclosed")), row("b", step("cited", "horn2013, 4.2.2"))
    assert words(*rows) == {"a": "computed", "b": "cited"}


def test_a_step_by_hand_is_inherited_through_every_claim_and_counted_once() -> None:
    base = row("a", hand("one"), hand("two"))
    left, right = row("b", step("uses", "a"), hand("one")), row("c", step("uses", "a"))
    top = row("d", step("uses", "b"), step("uses", "c"), step("executed"))
    assert words(top, base, left, right) == {
        "d": "by hand (3)",
        "a": "by hand (2)",
        "b": "by hand (3)",
        "c": "by hand (2)",
    }


def test_what_a_proof_assistant_read_is_not_counted_here_or_above() -> None:
    read = row("a", hand("one"), machine={"by": "Coq"})
    partly = row("b", hand("one"), hand("two"), machine_steps=["one"])
    above = row("c", step("uses", "a"), step("uses", "b"), step("executed"))
    assert words(read, partly, above) == {
        "a": "machine-checked",
        "b": "by hand (1)",
        "c": "by hand (1)",
    }


def test_a_false_statement_with_a_typed_step_is_never_computed_or_machine_checked() -> None:
    assert words(row("prime-numbers", hand("trust-me"))) == {"prime-numbers": "by hand (1)"}


def test_a_refutation_is_known_by_its_witness() -> None:
    kinds = ("exact", "enclosed", "floating point")
    rows = [row(kind[:2], verdict="refuted", witness_kind=kind) for kind in kinds]
    argued = row("z", hand("one"), verdict="refuted", witness_kind="exact")
    assert list(words(*rows, argued).values()) == [
        "exact witness",
        "enclosed witness",
        "floating-point witness",
        "by hand (1)",
    ]


def test_other_verdicts_have_no_certainty() -> None:
    assert words(row("a", verdict="seen"), row("b", verdict="well posed")) == {"a": None, "b": None}
    assert with_certainty({"a": row("a", step("executed"))})["a"]["certainty"]["kind"] == "computed"
    assert with_certainty({"a": row("a", verdict="open")})["a"]["certainty"] is None


def test_where_the_check_of_a_claim_below_did_not_run_nothing_is_said_of_the_whole() -> None:
    base, middle = row("a", hand("x"), tried=1), row("b", step("uses", "a"), tried=1)
    top = row("c", step("uses", "b"), tried=1)
    rows = {one["label"]: one for one in (base, middle, top)}
    assert with_certainty(rows)["c"]["certainty"]["words"] == "by hand (1)"
    del base["tried"]
    found = with_certainty(rows)
    assert [label for label, one in found.items() if "certainty" in one] == ["a"]


def test_claims_that_use_each_other_in_a_circle_are_refused() -> None:
    with pytest.raises(ValueError, match="in a circle: a uses b uses a"):
        words(row("a", step("uses", "b")), row("b", step("uses", "a")))


def fault(*rows: dict[str, Any]) -> list[str]:
    """What is wrong with some rows."""
    return faults({one["label"]: one for one in rows})


def test_a_proof_rests_on_what_is_proved_or_well_posed() -> None:
    above = row("b", step("uses", "a"))
    assert fault(row("a", step("executed")), above) == []
    assert fault(row("a", verdict="well posed"), above) == []
    for verdict in ("not contradicted", "refuted", "open", "seen"):
        assert fault(row("a", verdict=verdict), above) == [
            f"b is proved and rests on a, which is {verdict}"
        ]


def test_the_claims_that_the_steps_use_are_those_that_the_row_names() -> None:
    base = row("a", step("executed"))
    silent, idle = row("b", step("uses", "a"), uses=[]), row("c", step("executed"), uses=["a"])
    assert fault(base, silent) == ["b: a step uses a, which its row does not name in `uses`"]
    assert fault(base, idle) == ["c names a under `uses`, and no step of its proof uses it"]


def test_a_step_by_hand_has_a_place_of_its_own() -> None:
    assert fault(row("a", hand(""))) == ["a: the step by hand 'by hand ' has no place on the page"]
    assert fault(row("a", hand("x"), hand("x"))) == ["a: two steps by hand are placed at 'x'"]


def test_every_kind_has_one_word() -> None:
    assert len({kind.value for kind in Kind}) == len(Kind) == 7
