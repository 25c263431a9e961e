"""What claims rest on: ground, taint, and the three states."""

from __future__ import annotations

import tomllib

import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.claims import Verdict
from ntpverdicts.dependencies import describe, listed, neighbourhood, standings

P, C, R, O = Verdict.PROVED, Verdict.NOT_CONTRADICTED, Verdict.REFUTED, Verdict.OPEN  # noqa: E741
PINNED = tomllib.loads((ROOT / "tests" / "verdicts.toml").read_text(encoding="utf-8"))
NAMES = {label: label.upper() for label in "abcde"}


def test_a_chain_of_sound_claims_is_grounded():
    found = standings({"a": (), "b": ("a",), "c": ("b",)}, {"a": P, "b": C, "c": P})
    assert all(one.grounded for one in found.values())
    assert found["c"].ground == ("a", "b")
    assert found["a"].used_by == ("b",)
    assert describe(found["a"], NAMES) == "rests on no other claim"
    assert describe(found["c"], NAMES) == "all that it rests on is checked"


@pytest.mark.parametrize("verdict", [R, O])
def test_an_unsound_claim_taints_all_that_rests_on_it_and_nothing_else(verdict: Verdict):
    uses = {"a": (), "b": ("a",), "c": ("b",), "d": ("c",), "e": ("a",)}
    found = standings(uses, {"a": P, "b": verdict, "c": P, "d": C, "e": C})
    states = {label: one.state for label, one in found.items()}
    assert states == {
        "a": "grounded", "b": "unsound", "c": "tainted", "d": "tainted", "e": "grounded"
    }  # fmt: skip
    assert found["d"].tainted_by == ("b",)
    assert describe(found["d"], NAMES) == f"rests on what is {verdict.value} (B)"
    assert describe(found["b"], NAMES) == f"{verdict.value} itself, on sound ground"


def test_a_refuted_claim_on_refuted_ground_is_tainted_by_the_ground_only():
    found = standings({"a": (), "b": ("a",)}, {"a": R, "b": R})
    assert (found["b"].state, found["b"].tainted_by) == ("tainted", ("a",))
    assert not found["b"].grounded


def test_refuted_and_open_ground_are_told_apart_and_long_lists_are_cut():
    uses = {"a": (), "b": (), "c": ("a", "b")}
    found = standings(uses, {"a": R, "b": O, "c": C})
    assert describe(found["c"], NAMES) == "rests on what is refuted (A) and on what is open (B)"
    many = [str(n) for n in range(11)]
    assert listed(many, {n: n for n in many}).endswith("6, 7 and 3 more")


def test_the_order_of_the_catalogue_is_kept():
    found = standings({"c": ("b", "a"), "a": (), "b": ("a",)}, {"a": R, "b": O, "c": P})
    assert found["c"].ground == found["c"].tainted_by == ("a", "b")
    assert found["a"].used_by == ("c", "b")


def test_a_subgraph_shows_ground_claim_and_direct_dependents():
    uses = {"a": (), "b": ("a",), "c": ("b",), "d": ("c",), "e": ("d",)}
    found = standings(uses, dict.fromkeys(uses, P))
    assert neighbourhood(found["c"]) == ("a", "b", "c", "d")


def test_unknown_claims_and_circles_are_refused():
    with pytest.raises(ValueError, match="claims use x, which the catalogue does not hold"):
        standings({"a": ("x",)}, {"a": P})
    with pytest.raises(ValueError, match=r"in a circle: (a uses b uses a|b uses a uses b)"):
        standings({"a": ("b",), "b": ("a",)}, {"a": P, "b": P})


def test_corrected_statements_rest_on_nothing_that_is_refuted():
    """Else the repair of one statement would rest on the fault of another."""
    wrong = {
        claim.label: used
        for claim in CATALOGUE
        if claim.label.endswith("-corrected") and claim.page is not None
        for used in claim.uses
        if PINNED.get(used, [""])[-1] == R.value
    }
    assert wrong == {}
