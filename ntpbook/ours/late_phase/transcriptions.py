"""Theorem E in its three transcriptions, compared: many digits (`model`), floats, balls.

The one in floats speaks to readers (`ntpcore.huang2024.later_bounds`), the one in balls proves the
bounds of the page. At states of Example 1 each says for which delta condition (late) holds, and
what it makes of the state; all three have to say the same.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

from mpmath import mp

from ntpbook.ours.late_phase import model
from ntpbook.shared import enclosure, small_data
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.enclosed_setting import example_1_setting
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import later_bounds, training
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import paper_rates, train
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

STEPS = tuple(range(500, 1001, 50))
ETA = Fraction(1, 40)  # the paper's step size for four tokens
DELTAS = tuple(Fraction(str(value)) for value in later_bounds.DELTAS)
# A float has 53 bits, and the lag is a difference of numbers a hundred times as large.
ROUNDING = 1e-11

Made = tuple[Fraction, float, float, float]  # delta, least, most, lag


@cache
def _digits() -> dict[int, plain.Weights]:
    """Example 1 in fifty digits, at these steps."""
    with mp.workdps(50):
        run = plain.run(small_data.example_1(), mp.sqrt(2700), _eta(), max(STEPS))
        return {t: W for t, W in enumerate(run, start=1) if t in STEPS}


def _eta() -> Any:
    """The step size in many digits."""
    return mp.mpf(ETA.numerator) / ETA.denominator


@cache
def _balls() -> dict[int, enclosure.EnclosedState]:
    """Example 1 in balls, at these steps."""
    setting = example_1_setting()
    return {one.step: one for one in enclosure.enclose(setting, max(STEPS), STEPS)}


@cache
def _floats() -> tuple[Problem, dict[int, training.Trajectory]]:
    """Example 1 in floats, at these steps."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(problem.vocab_size)
    run = train("Example 1", problem, eta0=eta0, eta=eta, steps1=900, steps=0).second
    found = {}
    for step in STEPS:
        run = training.run(problem, step, eta, run.gap, record=[], state=run)
        found[step] = run
    return problem, found


def in_digits(step: int, without_omega: int = 0, without_S: int = 0) -> Made | None:
    """The smallest delta that will do, and the certificate, in fifty digits."""
    with mp.workdps(50):
        data, W = small_data.example_1(), _digits()[step]
        for delta in DELTAS:
            d = mp.mpf(delta.numerator) / delta.denominator
            made = model.certify(
                data, W, step, mp.sqrt(2700), _eta(), d,
                of_omega=1 - without_omega, of_S=1 - without_S,
            )  # fmt: skip
            if made:
                return delta, float(made.least), float(made.reach), float(made.lag)
    return None


def in_balls(step: int) -> Made | None:
    """The same in balls."""
    for delta in DELTAS:
        if made := enclosure.certify(_balls()[step], delta):
            return delta, float(made.least), float(made.most), float(made.lag)
    return None


def in_floats(step: int) -> Made | None:
    """The same in floats; the delta is read off, as omega is the distance and 2 delta."""
    problem, runs = _floats()
    run = runs[step]
    made = later_bounds.band(problem, run.state.weights, step, run.eta, run.gap)
    if made is None:
        return None
    # 2 delta is what is left of ||R|| + omega
    exact = {delta: _most(step, delta) for delta in DELTAS}
    delta = min(exact, key=lambda one: abs(exact[one] - made.most))
    return delta, made.least, made.most, made.lag


@once
def _most(step: int, delta: Fraction) -> float:
    """||R|| + omega for this delta."""
    with mp.workdps(50):
        late, W = model.Late(small_data.example_1()), _digits()[step]
        y = late.split(W)[1]
        return float(model.omega(late, y, _eta(), mp.mpf(delta.numerator) / delta.denominator)
                     + mp.sqrt(plain.inner(late.R, late.R)))  # fmt: skip


@once
def transcriptions(without_omega: int = 0, without_S: int = 0) -> tuple[Shown, ...]:
    """All three at the states of Example 1 after 500, 550, ..., 1000 steps.

    Args:
        without_omega: 1 leaves omega out of condition (late), in many digits.
        without_S: 1 leaves S out of the lag, in many digits.
    """
    found = []
    for step in STEPS:
        right = in_digits(step, without_omega, without_S)
        for words, other in (("balls", in_balls(step)), ("floats", in_floats(step))):
            found.append(alike(f"step {step}, digits and {words}", right, other))
    return tuple(found)


def alike(name: str, one: Made | None, other: Made | None) -> Shown:
    """Whether two transcriptions say the same."""
    if one is None or other is None:
        rest = "0" if one is other else "one of the two"
        return Shown(name, _said(one), "=", _said(other), rest, one is other)
    off = max(abs(a - b) / max(abs(a), 1.0) for a, b in zip(one[1:], other[1:], strict=True))
    same = one[0] == other[0] and off < ROUNDING
    return Shown(name, _said(one), "=", _said(other), f"{off:.0e}", same)


def _said(made: Made | None) -> str:
    """A certificate in words."""
    if made is None:
        return "no certificate"
    return rf"$\delta = {made[0]}$, $\|y\|$ from {made[1]:.4g} to {made[2]:.4g}, lag {made[3]:.4g}"
