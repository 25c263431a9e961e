"""Claims judged on a reader's own data: which, with what reason, and how to repeat it."""

from __future__ import annotations

import subprocess
import sys

import literal
import pytest
from hypothesis import given, settings
from strategies import realizable_data
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE, find_check
from ntpbook.huang2024.s6_max_margin import orders as judged
from ntpcli import check as report
from ntpcli import judge as on_data
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, InputError, from_sentences
from ntpcore.exact import columns, margin_fast
from ntpverdicts.claims import Check, Verdict

EXAMPLE_1 = ["S V O P", "V O P", "O P P", "P S V"]
TRAINED = [
    *("huang2024-lem-5", "huang2024-lem-6", "huang2024-lem-7", "huang2024-lem-7-corrected"),
    *("huang2024-thm-1", "huang2024-thm-1-corrected", "huang2024-thm-2"),
    *("huang2024-thm-2-corrected", "huang2024-eq-4", "huang2024-eq-13", "huang2024-thm-3"),
]


def judge(sentences: list[str], training: on_data.Training | None = None) -> dict[str, Check]:
    """All claims on the data, by label."""
    found = report.answer(from_sentences(sentences), source="x", training=training)
    return {check.label: check for check in found.checks}


def test_the_claims_that_data_decide() -> None:
    orders = ["huang2024-prop-2", "huang2024-prop-4", "huang2024-eq-16"]
    assert list(on_data.labels(None)) == orders + TRAINED
    assert on_data.labels("huang2024-eq-16") == ("huang2024-eq-16",)
    assert on_data.labels("huang2024-thm-3") == ("huang2024-thm-3",)
    assert set(TRAINED) == on_data.FREQUENT


def test_a_claim_that_data_do_not_decide_is_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match="prop-99: no such claim; data decide huang2024-prop-2"):
        on_data.labels("huang2024-prop-99")
    with pytest.raises(InputError, match="see the page huang2024_s4_realizable of the book"):
        on_data.labels("huang2024-ex-1")


def test_without_steps_only_orders_are_judged() -> None:
    found = judge(EXAMPLE_1)
    assert [found[label].verdict for label in on_data.JUDGES] == [Verdict.PROVED] * 3
    assert found["huang2024-prop-2"].repeat == "ntpcore check x --claim huang2024-prop-2"
    for label in TRAINED:
        assert found[label].verdict is Verdict.OPEN
        assert found[label].evidence == "Not run; add --steps 900."
        assert found[label].repeat == f"ntpcore check x --steps 900 --claim {label}"


def test_with_steps_a_run_is_judged() -> None:
    found = judge(EXAMPLE_1, (60, None, 0.4))
    assert found["huang2024-thm-3"].verdict is Verdict.OPEN
    assert "the run ends before $t_3$" in found["huang2024-thm-3"].evidence
    for label in ("huang2024-lem-5", "huang2024-lem-6", "huang2024-eq-13"):
        assert found[label].verdict is Verdict.PROVED, label
    assert found["huang2024-thm-3"].repeat == (
        "ntpcore check x --steps 60 --eta 0.4 --claim huang2024-thm-3"
    )
    other = judge(EXAMPLE_1, (60, 0.25, None))["huang2024-lem-5"]
    assert other.repeat == "ntpcore check x --steps 60 --eta0 0.25 --claim huang2024-lem-5"


def test_without_assumption_3_what_presumes_it_stays_open() -> None:
    found = judge(["0 1 1 1", "1 0"], (20, None, None))
    reason = "Assumption 3 fails on these data, and the statement presumes it."
    assert {found[label].evidence for label in TRAINED} == {reason}
    assert {found[label].unit for label in TRAINED} == {"runs"}


def test_without_assumption_1_everything_stays_open_with_the_reason() -> None:
    for check in judge(["a b c", "a b d"], (20, None, None)).values():
        assert check.verdict is Verdict.OPEN
        assert check.evidence.startswith("Assumption 1 fails")


def test_without_two_tokens_there_is_no_gradient() -> None:
    found = judge(["a a", "b b"], (20, None, None))
    assert found["huang2024-thm-3"].evidence == (
        "No sentence has two distinct tokens, so there is no gradient to follow."
    )


def test_every_claim_on_data_has_a_judge() -> None:
    judges = {*on_data.JUDGES, *on_data.TRAINED}
    assert {claim.label for claim in CATALOGUE if claim.on_data} == judges
    for label, check in judged.JUDGED.items():
        assert find_check(label) is check


@settings(max_examples=60)
@given(realizable_data())
def test_claims_on_orders_are_proved_on_closed_data_and_open_on_others(data: Dataset) -> None:
    found = report.answer(data)
    orders = (found.structure.orders or {}).values()
    right = all(literal.hall(order.pairs) for order in orders)
    samples = [(sample.sentence, sample.next_token) for sample in data.samples()]
    closed = literal.is_prefix_closed(samples)
    checks = [check for check in found.checks if check.label in on_data.JUDGES]
    expected = Verdict.PROVED if orders and closed else Verdict.OPEN
    assert [check.verdict for check in checks] == [expected] * 3
    assert right or not closed
    if orders and not closed:
        lacking = "The data lack prefix closure, which the statement presumes."
        for check in checks:
            assert check.evidence.startswith(lacking)
            assert (check.numbers["failed"].value == 0) == right
    assert found.holds == found.structure.frequent.holds


LOADED = """
import sys
from ntpcore.__main__ import main
sys.argv = ["ntpcore", "check", "examples/five_tokens.jsonl"]
try:
    main()
except SystemExit as end:
    assert end.code in (0, None)
found = {name.partition(".")[0] for name in sys.modules}
print(sorted(found & {"numpy", "numba", "scipy", "sympy"}))
print(max((name for name in sys.modules if name.startswith("ntpbook.")), key=len))
print("ntpbook.catalogue" in sys.modules)
"""


def test_a_plain_check_judges_without_the_catalogue_and_without_numpy() -> None:
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "open       huang2024-eq-16: The data lack prefix closure" in done.stdout
    orders = "ntpbook.huang2024.s6_max_margin.orders"  # the checks of claims on orders alone
    assert done.stdout.splitlines()[-3:] == ["[]", orders, "False"]


def test_the_report_has_the_same_columns_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    data = generate.experiment(3, prefix_closed=False).data
    plain = report.to_json(report.answer(data))
    calls: list[int] = []
    monkeypatch.setattr(columns, "MANY_PAIRS", 0)
    real = margin_fast.W_kq_star
    monkeypatch.setattr(margin_fast, "W_kq_star", lambda orders: (calls.append(1), real(orders))[1])
    assert report.to_json(report.answer(data)) == plain
    assert calls
    monkeypatch.setitem(sys.modules, "ntpcore.exact.margin_fast", None)  # as without numpy
    assert report.to_json(report.answer(data)) == plain
