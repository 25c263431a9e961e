"""What the paper says in passing (huang2024), on the page s4_prefix_closure."""

from dataclasses import replace

import pytest

from ntpbook.huang2024.s4_prefix_closure import prefix_app
from ntpbook.huang2024.s7_experiment import experiment
from ntpbook.shared import rare
from ntpcore.huang2024 import runs
from ntpcore.verdicts.claims import Verdict

EQUAL = rare.rare_run(0.0, 300, 0.36)


def with_rows(run, **columns):
    """A run with other measurements."""
    return replace(run, second=replace(run.second, rows=replace(run.second.rows, **columns)))


@pytest.fixture(scope="module")
def trained():
    """Example 1 and four random data sets, 4000 steps at twenty times the paper's step size."""
    return runs.collection(3, 2, 4000, factors=(20,))


@pytest.fixture(scope="module")
def both():
    """The experiment on one data set of each kind."""
    return [
        *experiment.experiments(3, 1),
        *experiment.experiments(3, 1, prefix_closed=False),
    ]


def test_huang2024_app_prefixes_by_hand():
    swap = {("0",): "1", ("1",): "0", ("0", "1"): "0", ("1", "0"): "1"}
    model = {**swap, ("0", "0"): "0", ("1", "1"): "1"}
    assert prefix_app.grown(model, "0", 2) == ["0", "1", "0"]
    assert prefix_app.strays(model, ["0", "1", "0"]) == []
    assert prefix_app.strays(model, ["0", "0", "0"]) == ["0 → 0"]
    assert prefix_app.held(("0", "1", "0")) == [["0", "1"], ["0", "1", "0"]]
    assert len(list(prefix_app.models(2))) == 2 ** (2 + 4)


def test_huang2024_app_prefixes_holds_where_sentences_are_grown_and_fails_for_any_others():
    check = prefix_app.check_huang2024_app_prefixes(2)
    assert (check.verdict, check.tried) == (Verdict.CONSISTENT, 2 * 64)
    assert [one.verdict for one in check.readings] == [Verdict.CONSISTENT, Verdict.REFUTED]
    assert prefix_app.control_huang2024_app_prefixes().noticed
    wild = prefix_app.check_huang2024_app_prefixes(2, by_model=False)
    assert wild.witness == "the sentence 0 1 0: ['0 → 1']"
    assert not wild.readings
