"""What every check of the book must do, asked in one place."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ntpbook.catalogue import find_check, find_claim
from ntpverdicts.claims import Check, How, Verdict
from ntpverdicts.document import FILE, without_data
from ntpverdicts.imports import Package
from ntpverdicts.maths import outside
from ntpverdicts.vocabulary import Checked, Executed
from tools.pipeline.source import OURS
from tools.site.checksources import code_hash

TESTS = Path(__file__).resolve().parents[1]
# The verdicts of the book, and the parameters with which a check says the same on few instances.
# What trains too long to run whole names the file in which its chapter asks the same of runs that
# are made for the test.
PINNED = tomllib.loads((TESTS / "verdicts.toml").read_text(encoding="utf-8"))
ROWS = tomllib.loads((TESTS / "small.toml").read_text(encoding="utf-8"))
ELSEWHERE = {label: row["asked_in"] for label, row in ROWS.items() if "asked_in" in row}
SMALL = {label: row for label, row in ROWS.items() if label not in ELSEWHERE}
BARE = re.compile(r"[\^_\\|<>]")  # signs of formulas, which names of relations set as such


@cache
def sound(label: str) -> Check:
    """What the check of a claim says on few instances, after all that every check must do.

    Its verdict is that of the book, and a proved statement has a proof; see `assert_sound`.
    """
    assert label in PINNED, f"{label} has no row in tests/verdicts.toml; CONTRIBUTING, step 3"
    return assert_sound(find_check(label), Verdict(PINNED[label][-1]), **SMALL.get(label, {}))


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
    assert_row_sound(one, verdict, found.to_json())
    return found


def assert_row_sound(one: Checked, verdict: Verdict, row: Mapping[str, Any]) -> None:
    """The same of what a check said as plain data, such as a row of a `claims.json`."""
    assert row["verdict"] == verdict.value, f"{one.label}: {row['verdict']}, {row['witness']}"
    in_steps = sum(len(step.planted) for step in one.proof if isinstance(step, Executed))
    tried = len(row["controls"])
    assert tried == len(one.planted) + in_steps, f"{one.label}: an error not tried"
    assert one.planted, f"{one.label}: no error is planted"
    missed = [each["planted"] for each in row["controls"] if each["expected"] != each["obtained"]]
    assert not missed, f"{one.label}: not noticed: {missed}"
    for step in row["proof"]:
        if step["how"] in (How.EXECUTED.value, How.ENCLOSED.value):
            assert step["shown"], f"{one.label}: nothing shown by {step['text']}"
        assert all(each["holds"] for each in step["shown"]), f"{one.label}: {step['text']}"
        bare = [each["name"] for each in step["shown"] if BARE.search(outside(each["name"]))]
        assert not bare, f"{one.label}: formulas without dollar signs: {bare}"
    assert row["proof"] or verdict is not Verdict.PROVED, f"{one.label} is proved without a proof"


@cache
def rows_of_this_code() -> Mapping[str, Mapping[str, Any]]:
    """What the built book says, by labels, as far as today's code said it; empty without a book.

    `make test` builds the book first, where every check ran on all of its instances with all of its
    planted errors. A row of other code, as after an edit, is left out, and so is one that is open
    since its data were not there: a checkout has no WikiText.
    """
    if "NTPCORE_BOOK" not in os.environ:
        return {}
    root = TESTS.parent
    text = (root / os.environ["NTPCORE_BOOK"] / FILE).read_text(encoding="utf-8")
    package, found, document = Package(OURS, root), {}, json.loads(text)
    absent = without_data(document)
    for row in document["claims"]:
        if row["label"] in absent:
            continue
        claim, source = find_claim(row["label"]), row["source"]
        if claim.page is not None and source is not None:
            notebook = Path("notebooks") / f"{claim.page}.md"
            if row["code_hash"] == code_hash(notebook, Path(source["file"]), package):
                found[row["label"]] = row
    return found


def failure(one: Checked, instances: Iterable[Any], **changes: Any) -> str:
    """Where a check finds its first fault on these instances, spoilt on purpose; empty for none.

    `judge` would refuse to call this a refutation, as spoilt instances break the hypotheses.
    """
    found = one._run(list(instances), changes, {}, stop=True, strict=False)
    return "" if found.failed is None else found.failed.where or "the statement itself"
