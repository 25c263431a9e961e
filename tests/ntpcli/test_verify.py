"""`ntpcore verify`: one claim from its own instances, many at once, and words that are wrong."""

from __future__ import annotations

import json

import pytest
from program import Run

from ntpbook.catalogue import CATALOGUE
from ntpcli import claims, verify
from ntpverdicts.certainty import Certainty, Kind
from ntpverdicts.claims import certainty_words


def test_a_claim_is_verified_with_its_proof_and_its_planted_errors(run: Run) -> None:
    code, out, err = run("verify", "huang2024-eq-1", "--seed", "3", "--set", "trials=4")
    assert (code, err) == (0, "")
    assert "✔ proved" in out
    assert "difference 0" in out
    assert "planted: The same weight for every distinct sentence" in out
    assert "trials=4" in out


def test_the_answer_for_programs_holds_what_the_book_holds(run: Run) -> None:
    code, out, _ = run("verify", "huang2024-eq-1", "--json")
    (one,) = json.loads(out)["claims"]
    assert code == 0
    assert one["label"] == "huang2024-eq-1"
    assert one["proof"][0]["shown"][0]["rest"] == "0"
    assert one["numbers"]["tried"]["value"] == one["tried"]


def test_steps_below_a_claim_that_the_book_does_not_count_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    label = "huang2024-app-decoupling"
    used = ["huang2024-app-one-token", "ours-stage-1-law", "ours-direction"]
    rows: dict[str, claims.Row] = {one: {"verdict": "proved"} for one in [label, *used]}
    certain = Certainty(Kind.BY_HAND, ("ours-direction at sum",)).to_json()

    def words(rows: dict[str, claims.Row], source: str | None) -> str:
        monkeypatch.setattr(claims, "load", lambda folder: claims.Published(rows, source))
        return certainty_words(verify.run(label).data)

    below = ", 2 own steps by hand, using " + ", ".join(used)
    assert words(rows, "an older record") == below
    assert words(rows, None) == below  # the catalogue alone
    counted = {one: {**row, "certainty": certain} for one, row in rows.items()}
    assert words(counted, "claims.json") == ", by hand (3)"


def test_a_refuted_claim_ends_with_exit_code_1(run: Run) -> None:
    code, out, _ = run("verify", "huang2024-app-peaks")
    assert code == 1
    assert "✘ refuted" in out
    assert "witness:" in out


def test_many_claims_are_told_one_by_one() -> None:
    labels = ["huang2024-eq-1", "huang2024-app-reparameterization"]
    found = list(verify.run_all(labels, jobs=1))
    assert [one.data["label"] for one in found] == labels
    assert verify.exit_code(found) == 0
    both = {one.data["label"] for one in verify.run_all(labels, jobs=2)}
    assert both == set(labels)


def test_the_labels_that_are_meant() -> None:
    everything = [claim.label for claim in CATALOGUE]
    assert verify.choose(None, None, True) == everything
    ours = verify.choose(None, "ours", False)
    assert ours == [label for label in everything if label.startswith("ours-")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["huang2024-eq-99"], "no such claim; did you mean"),
        ([], "takes the label of one claim"),
        (["huang2024-eq-1", "--all"], "takes the label of one claim"),
        (["--paper", "x"], "--paper x: no such paper; there are huang2024"),
        (["huang2024-eq-1", "--set", "runs=3"], "has no such parameter; it has seed=7"),
        (["huang2024-eq-1", "--set", "trials"], "write NAME=VALUE"),
        (["huang2024-eq-1", "--set", "trials=x"], "not a value like the default, trials=40"),
        (["--all", "--seed", "3"], "for one claim"),
    ],
)
def test_wrong_words_end_in_one_message(run: Run, words: list[str], message: str) -> None:
    code, out, err = run("verify", *words)
    assert (code, out) == (2, "")
    assert err.startswith("ntpcore: ")
    assert message in err
    assert err.count("\n") == 1


def test_every_label_is_listed(run: Run) -> None:
    code, out, _ = run("verify", "--list")
    assert code == 0
    assert len(out.splitlines()) == len(CATALOGUE)
