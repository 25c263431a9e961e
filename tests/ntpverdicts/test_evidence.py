"""The sentence of evidence says what happened, whatever did not."""

from ntpverdicts.claims import Verdict
from ntpverdicts.compare import count, holds, left_out, undecided
from ntpverdicts.vocabulary import check


@check(
    "euler-obs-1",
    over="draws",
    instances=lambda: range(3),
    observes=True,
    says="{odd} odd numbers were drawn.",
    planted={"No number is odd.": {"parity": 5}},
)
def check_euler_obs_1(n, parity=1, reason=""):
    """Odd numbers are drawn; nothing is compared where there is a reason."""
    if reason:
        yield undecided(reason)
        return
    if n % 2 == 0:
        yield left_out("even")
        return
    yield count("odd")
    yield holds(n % 2 == parity, f"n = {n}")


def test_an_observation_that_is_not_decided_says_why_though_nothing_was_compared():
    found = check_euler_obs_1.judge(range(3), reason="no draw was made")
    assert (found.verdict, found.tried) == (Verdict.UNDECIDED, 0)
    assert found.evidence == "Not decided: no draw was made (3 times)."


def test_numbers_that_no_instance_gave_are_not_asked_for():
    found = check_euler_obs_1.judge([0, 2])
    assert found.verdict is Verdict.UNDECIDED
    assert found.evidence.startswith("Not decided: nothing was compared on any of the draws.")
    assert found.left_out == {"even": 2}


def test_what_was_seen_is_said_with_its_numbers_and_a_planted_error_is_noticed():
    found = check_euler_obs_1()
    assert found.evidence == "1 odd numbers were drawn. Left out in 2 cases: even."
    assert [one.noticed for one in found.controls] == [True]
