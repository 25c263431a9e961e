"""The vocabulary of checks: what no author of a check can forget."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ntpverdicts import arrays
from ntpverdicts.claims import How, Shown, Verdict
from ntpverdicts.compare import (
    NotANumberError,
    Said,
    assume,
    at_least,
    at_most,
    below,
    count,
    equal,
    holds,
    least,
    left_out,
    most,
    result,
    undecided,
)
from ntpverdicts.vocabulary import (
    UNCONDITIONAL,
    Checked,
    Known,
    Variant,
    by_hand,
    check,
    cited,
    executed,
    relation,
    uses,
)


def made(body: Any, **options: Any) -> Checked:
    """A check of the numbers 1, 2, 3, or as the options have it."""
    usual = {
        "over": "numbers",
        "instances": lambda last=3: range(1, last + 1),
        "says": "It holds for {tried} numbers.",
        "planted": {"1.1 times sharper.": Variant(expected=Verdict.NOT_CONTRADICTED)},
        "hypotheses": UNCONDITIONAL,
        "name": lambda one: f"n = {one}",
    }
    return check("ours-x", **(usual | options))(body)


def test_a_check_compares_on_every_instance_and_says_so() -> None:
    found = made(lambda n: at_most(n, 3))()
    assert (found.verdict, found.tried) == (Verdict.NOT_CONTRADICTED, 3)
    assert found.evidence == "It holds for 3 numbers."
    assert found.repeat == "ntpcore verify ours-x"
    assert found.parameters == {"last": 3}


def test_a_sentence_that_names_a_number_nobody_gave_says_which_there_are() -> None:
    def body(n: int) -> Iterator[Said]:
        yield at_most(n, 3)
        yield most("largest", n)

    assert made(body, says="Up to {largest}.")().evidence == "Up to 3."
    with pytest.raises(ValueError, match=r"ours-x: .*\{larges\}.* it has largest, tried"):
        made(body, says="Up to {larges}.")()


def test_the_first_instance_that_fails_is_the_witness() -> None:
    found = made(lambda n: at_most(n, 1), planted={"1.1 times sharper, on one only.": SHORT})()
    assert found.verdict is Verdict.REFUTED
    assert found.witness == "n = 2: violated by 1"


SHORT = Variant(instances=lambda: [1], expected=Verdict.NOT_CONTRADICTED)


def test_a_planted_error_runs_the_same_body_and_must_be_noticed() -> None:
    calls = []

    def body(n: int, factor: int = 1) -> Said:
        calls.append((n, factor))
        return at_most(factor * n, 3)

    found = made(body, planted={"Twice as much, and so 1.1 times sharper.": {"factor": 2}})()
    assert [one.noticed for one in found.controls] == [True]
    assert calls == [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2)]  # it stops where it fails
    with pytest.raises(ValueError, match=r"the negative control was not noticed: 1\.1 times"):
        made(body, planted={"1.1 times sharper.": {"factor": 1}})()


def test_a_check_without_a_planted_error_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="needs a planted error"):
        made(lambda n: at_most(n, 3), planted={})


@pytest.mark.parametrize(
    ("where", "how"),
    [
        ("planted", {"Twice as much.": {"factr": 2}}),
        ("readings", {"Twice as much.": {"factr": 2}}),
        ("proof", (executed("a step", lambda sign=1: [], planted={"Less.": {"factor": 2}}),)),
    ],
)
def test_a_change_of_an_argument_that_nothing_has_is_refused(where: str, how: Any) -> None:
    def body(n: int, factor: int = 1) -> Said:
        return at_most(factor * n, 3)

    with pytest.raises(ValueError, match="nothing has the argument 'fact"):
        made(body, **{"planted": {"Twice as much.": {"factor": 2}}} | {where: how})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_nan_or_an_infinity_is_an_error_and_never_a_pass(bad: float) -> None:
    for compare in (at_most, at_least, equal, below):
        with pytest.raises(NotANumberError):
            compare(bad, 1.0)
        with pytest.raises(NotANumberError):
            compare(1.0, bad)
    for along in (arrays.at_most, arrays.at_least, arrays.equal):
        with pytest.raises(NotANumberError):
            along(np.array([-1.0, bad]), np.array([0.0, 0.0]))
    with pytest.raises(NotANumberError):
        arrays.slack(np.array([bad, -1.0]))
    with pytest.raises(NotANumberError):
        most("x", bad, 3)
    with pytest.raises(NotANumberError):  # one run fails by 1, and has a nan beside it
        made(lambda n: arrays.slack(np.array([-1.0, bad])))()


def test_instances_that_are_left_out_are_counted_and_told() -> None:
    found = made(lambda n: left_out("too small") if n < 3 else at_most(n, 3))()
    assert found.left_out == {"too small": 2}
    assert found.tried == 1
    assert found.evidence == "It holds for 1 number. Left out in 2 cases: too small."


def test_without_a_comparison_there_is_no_verdict() -> None:
    blind = made(lambda n: left_out("always"), planted={"x": Variant(expected=Verdict.OPEN)})()
    assert (blind.verdict, blind.tried) == (Verdict.OPEN, 0)
    assert made(lambda n: at_most(n, 3)).judge([]).verdict is Verdict.OPEN


def test_fractions_are_compared_exactly_whatever_the_tolerance() -> None:
    tiny = Fraction(1, 10**30)
    tight = made(lambda n: at_most(1 + tiny, Fraction(1)), tolerance=0.5)
    assert tight.judge([1]).verdict is Verdict.REFUTED
    loose = made(lambda n: at_most(1 + 1e-9, 1.0), tolerance=1e-8)
    assert loose.judge([1]).verdict is Verdict.NOT_CONTRADICTED
    assert loose.judge([1]).slack == "rounding alone, below $10^{-8}$"


def test_slacks_are_relative_to_the_larger_side() -> None:
    assert at_most(1.0, 2.0).slack == 0.5
    assert at_most(300.0, 100.0).slack == pytest.approx(-2 / 3)
    assert equal(3.0, 4.0).slack == -0.25
    assert at_most(1.0, 2.0, scale=10.0).slack == pytest.approx(0.1)
    assert below(2, 2).slack < 0 < below(1, 2).slack
    assert holds(True).slack == 0 > holds(False).slack


def test_an_array_is_judged_at_its_worst_entry() -> None:
    found = arrays.at_most([1.0, 5.0, 2.0], [2.0, 4.0, 2.0], "step {at}", at=[10, 20, 30])
    assert found.where == "step 20"
    assert found.slack == pytest.approx(-0.2)
    assert found.points == 3
    with pytest.raises(ValueError, match="nothing to compare"):
        arrays.at_most([], [])


TWICE = {"Twice, and so 1.1 times sharper.": {"factor": 2}}


def proof(factor: int = 1) -> Iterator[Shown]:
    """2 + 2 = 4."""
    yield relation("a sum", "2 + 2", "=", 4 * factor, 4 - 4 * factor)


def test_proved_needs_steps_that_hold_and_a_planted_error_breaks_them() -> None:
    steps = (executed("add", proof), by_hand("think", at="thought"), cited("know", "a1", "I.5"))
    found = made(lambda n: at_most(n, 3), proof=steps, planted=TWICE)()
    assert found.verdict is Verdict.PROVED
    assert [one.how for one in found.proof] == [How.EXECUTED, How.BY_HAND, How.CITED]
    assert found.proof[0].shown[0].rest == "0"
    assert found.proof[1].text == "think"
    assert [one.noticed for one in found.controls] == [True]


def test_a_proof_whose_steps_fail_refutes_itself() -> None:
    step = executed("add", lambda factor=2: proof(factor), planted={"Thrice.": {"factor": 3}})
    broken = made(lambda n: at_most(n, 3), proof=(step,), planted={
        "1.1 times sharper.": Variant()})()  # fmt: skip
    assert broken.verdict is Verdict.REFUTED
    assert "a sum: 2 + 2 = 8 fails by -4" in broken.witness
    with pytest.raises(ValueError, match="showed nothing"):
        made(lambda n: at_most(n, 3), proof=(executed("add", lambda: ()),))()


def test_one_failing_instance_outweighs_a_proof() -> None:
    found = made(lambda n: at_most(n, 2), proof=(executed("add", proof),), planted={"x": SHORT})
    assert found.judge([1, 2, 3]).verdict is Verdict.REFUTED


def test_readings_stand_beside_the_statement_that_the_body_compares() -> None:
    def body(n: int, bound: int = 3) -> Said:
        return at_most(n, bound)

    beside = {"the bound is 1": {"bound": 1}, "the bound is 4": {"bound": 4}}
    found = made(body, readings=beside, planted={"1.1 times sharper.": {"bound": 2}})()
    assert found.verdict is Verdict.NOT_CONTRADICTED
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED, Verdict.NOT_CONTRADICTED]
    assert [one.witness for one in found.readings] == ["n = 2: violated by 1", ""]


def test_a_reading_is_proved_only_if_the_proof_covers_it() -> None:
    step = executed("add", proof, planted={"Twice the sum.": {"factor": 2}})
    more = Variant(instances=lambda: [1])
    readings = {"tried": more, "covered": Variant(instances=lambda: [1], covered=True)}
    found = made(lambda n: at_most(n, 3), proof=(step,), readings=readings,
                 planted={"1.1 times sharper.": SHARP})()  # fmt: skip
    assert [one.verdict for one in found.readings] == [Verdict.NOT_CONTRADICTED, Verdict.PROVED]


def test_a_reading_that_holds_does_not_save_the_statement() -> None:
    def body(n: int, bound: int = 1) -> Said:
        return at_most(n, bound)

    sharper = {"1.1 times sharper.": Variant({"bound": 3}, expected=Verdict.NOT_CONTRADICTED)}
    found = made(body, readings={"the bound is 3": {"bound": 3}}, planted=sharper)()
    assert found.verdict is Verdict.REFUTED
    assert found.readings[0].verdict is Verdict.NOT_CONTRADICTED


def odd(n: int) -> Iterator[Said]:
    """Every odd number above one is prime: true of 3, false of 9, and 8 is no odd number."""
    yield assume("n is odd", n % 2 == 1)
    yield holds(n in (2, 3, 5, 7), f"{n} is prime")


PRIME = {"Up to seven only.": Variant(instances=lambda: [7], expected=Verdict.NOT_CONTRADICTED)}


def test_a_witness_outside_the_hypotheses_is_refused() -> None:
    options = {"planted": PRIME, "hypotheses": ("n is odd",), "name": lambda n: f"n = {n}"}
    good = made(odd, instances=lambda: [7, 9], **options)()
    assert good.verdict is Verdict.REFUTED
    assert good.hypotheses == ("n is odd",)
    assert good.to_json()["witness_kind"] == "exact"
    with pytest.raises(ValueError, match="n = 8: the instance breaks the hypothesis 'n is odd'"):
        made(odd, instances=lambda: [7, 8], **options)()


def test_a_refutation_names_its_hypotheses_and_its_witness_is_asked_for_each() -> None:
    with pytest.raises(ValueError, match="names the hypotheses in force"):
        made(odd, instances=lambda: [9], planted=PRIME, hypotheses=())()
    with pytest.raises(ValueError, match="tests nothing of n > 1; yield assume"):
        made(odd, instances=lambda: [9], planted=PRIME, hypotheses=("n is odd", "n > 1"))()


def test_readings_planted_errors_and_data_of_a_reader_may_drop_a_hypothesis() -> None:
    even = Variant(instances=lambda: [8])
    one = made(odd, instances=lambda: [7], planted={"Eight.": even}, readings={"any n": even},
               hypotheses=("n is odd",))  # fmt: skip
    assert one().readings[0].verdict is Verdict.REFUTED
    assert one.judge([8]).verdict is Verdict.REFUTED


def test_a_step_that_no_planted_error_breaks_is_refused() -> None:
    blind = made(lambda n: at_most(n, 3), proof=(executed("add", lambda: proof(1)),),
                 planted={"1.1 times sharper.": SHARP})  # fmt: skip
    with pytest.raises(ValueError, match="no planted error breaks the executed step 'add'"):
        blind()
    own = executed("add", proof, planted={"Twice the sum.": {"factor": 2}})
    found = made(lambda n: at_most(n, 3), proof=(own,), planted={"1.1 times sharper.": SHARP})()
    assert [one.planted for one in found.controls] == ["1.1 times sharper.", "Twice the sum."]
    equal_sides = executed("add", proof, planted={"Nothing.": {"factor": 1}})
    with pytest.raises(ValueError, match="the negative control was not noticed: Nothing"):
        made(lambda n: at_most(n, 3), proof=(equal_sides,), planted={"1.1 times sharper.": SHARP})()


SHARP = Variant(instances=lambda: [4])


def test_a_bound_that_was_never_made_sharper_is_refused() -> None:
    for body in (
        lambda n: at_most(n, 3),
        lambda n: at_least(4.0, n),
        lambda n: below(n, 4),
        lambda n: arrays.at_most([n], [3.0]),
    ):
        with pytest.raises(ValueError, match="it compares with a bound; plant an error"):
            made(body, planted={"Four.": SHARP})()
    assert made(lambda n: at_least(n, 0), planted={"Less.": BELOW})().tried == 3  # no bound
    loose = made(lambda n: at_most(n, 99), planted={"x": Variant(instances=lambda: [100])},
                 loose="3 of 99; no larger number among the first three")  # fmt: skip
    assert loose().loose.startswith("3 of 99")


BELOW = Variant(instances=lambda: [-1])


def test_a_cited_step_has_a_reference_and_a_number() -> None:
    assert cited("know", "horn2013", "Theorem 4.2.2").source == "horn2013, Theorem 4.2.2"
    with pytest.raises(ValueError, match="needs the key of a reference and a number"):
        cited("know", "Euclid", "")


def test_a_step_may_be_another_claim() -> None:
    step = uses("ours-y", "y is positive")
    assert (step.how, step.source, step.text) == (How.USES, "ours-y", "y is positive")


def test_observations_and_definitions_have_words_of_their_own() -> None:
    seen = made(lambda n: at_most(n, 3), observes=True, planted={"1.1 times sharper.": Variant(
        instances=lambda: [4], expected=Verdict.NOT_SEEN)})  # fmt: skip
    assert seen().verdict is Verdict.SEEN
    assert seen.judge([4]).verdict is Verdict.NOT_SEEN
    assert seen.judge([]).verdict is Verdict.UNDECIDED
    open_ = made(lambda n: (at_most(n, 3), undecided("too few seeds")), observes=True)
    assert open_.judge([1]).verdict is Verdict.UNDECIDED
    shown = made(
        lambda n: at_most(n, 3), shows="can be met", planted={"1.1 times sharper.": SHARP}
    )()
    assert shown.verdict is Verdict.WELL_POSED
    assert shown.evidence == "Can be met. It holds for 3 numbers."
    with pytest.raises(ValueError, match="neither proved nor well posed"):
        made(lambda n: at_most(n, 3), observes=True, shows="can be met")


def test_numbers_are_gathered_over_instances_with_their_accuracy() -> None:
    def body(n: int) -> Iterator[Said]:
        yield at_most(n, 3)
        yield count("pairs", 2)
        yield most("largest", n / 7, 3)
        yield least("smallest", Fraction(1, n))
        yield result("last", float(n), 2, "the run amplifies rounding a thousandfold", "nats")

    numbers = made(body)().numbers
    assert {name: one.shown for name, one in numbers.items()} == {  # type: ignore[union-attr]
        "pairs": "6",
        "largest": "0.429",
        "smallest": "1/3",
        "last": "3 nats",
        "tried": "3",
    }
    assert numbers["last"].origin.startswith("the run")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("says", "evidence"),
    [
        ("It is at most {most}.", "It is at most 1.43."),
        ("It is within {most} of $n$.", "It is within 1.43 of $n$."),
        ("It is at least {least} of it.", "It is at least 1.28 of it."),
        ("No run changes by more than {most}.", "No run changes by more than 1.43."),
        ("It never lies within {least}.", "It never lies within 1.28."),
        ("It takes no more than {most}.", "It takes no more than 1.43."),
        ("It takes no less than {least}.", "It takes no less than 1.28."),
        ("It does not exceed {most}.", "It does not exceed 1.43."),
        ("It is not even, and more than {least}.", "It is not even, and more than 1.28."),
        ("None is odd. It is above {least}.", "None is odd. It is above 1.28."),
        ("It comes to {most} and to {least}.", "It comes to 1.42 and to 1.29."),
        ("It went up to step $t = {most}$.", "It went up to step $t = {1.42}$."),
    ],
)
def test_a_number_that_the_evidence_calls_a_bound_is_rounded_to_its_side(
    says: str, evidence: str
) -> None:
    def body(n: int) -> Iterator[Said]:
        yield at_most(n, 3)
        yield most("most", 1.4242, digits=3)
        yield least("least", 1.2871, digits=3)

    assert made(body, says=says)().evidence == evidence


def test_parameters_are_those_of_the_instances() -> None:
    one = made(lambda n: at_most(n, 9))
    assert one.defaults == {"last": 3}
    assert one(last=5).tried == 5
    assert one(last=5).repeat == "ntpcore verify ours-x --set last=5"
    with pytest.raises(ValueError, match="no parameter 'first'; it has last"):
        one(first=1)


def test_a_step_runs_once_for_each_set_of_arguments_in_one_call() -> None:
    ran: list[int] = []

    def step(at: int = 1) -> tuple[Shown, ...]:
        ran.append(at)
        return (relation("at", at, "=", 1, at - 1),)

    one = check(
        "a",
        over="numbers",
        instances=lambda: [1],
        says="All.",
        proof=(executed("one is one", step),),
        planted={"two": {"at": 2}, "another number": Variant(instances=lambda: [-1])},
    )(lambda number: at_least(number, 0))
    found = one()
    assert [control.noticed for control in found.controls] == [True, True]
    assert ran == [1, 2]
    one()
    assert ran == [1, 2, 1, 2]  # the next call knows nothing


def test_a_caller_with_many_data_sets_runs_a_step_once_and_each_set_is_compared() -> None:
    ran: list[int] = []

    def step(at: int = 1) -> tuple[Shown, ...]:
        ran.append(at)
        return (relation("at", at, "=", 1, at - 1),)

    one = made(lambda n: at_most(n, 3), proof=(executed("one is one", step),))
    known: Known = {}
    found = [one.judge_data([n], known=known).verdict for n in (1, 4, 2)]
    assert found == [Verdict.PROVED, Verdict.REFUTED, Verdict.PROVED]
    assert ran == [1]
    assert one.judge([1], known=known, at=2).verdict is Verdict.REFUTED  # other arguments run anew
    assert ran == [1, 2]
    one.judge_data([1])
    assert ran == [1, 2, 1]
