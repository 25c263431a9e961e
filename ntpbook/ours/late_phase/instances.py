"""Distributions, points, states and runs on which the late phase is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.ours.late_phase.model import K_2, Late, Vector, attention, combine
from ntpbook.shared import enclosure, small_data
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.digits import DIGITS
from ntpbook.shared.enclosed_setting import example_1_setting
from ntpbook.shared.plain_stage2 import Data, Pair, Sample, Weights
from ntpverdicts.once import once

# Each query has one optimal token, so that all pairs are tight and none is idle.
STARS = ("two pairs, one rare", "one rival a thousand times", "four queries, heavy tails")


@dataclass(frozen=True)
class Distribution:
    """A distribution on the pairs of some data."""

    name: str
    data: Data
    p: Mapping[Pair, Fraction]


def distributions(seed: int = 7, trials: int = 120) -> Iterator[Distribution]:
    """The dual solution of five tokens, and random distributions on pairs of random data."""
    data, third = small_data.edges()["slack pair"], Fraction(1, 3)
    dual = {(4, 0, 2): third, (4, 0, 3): third, (4, 1, 4): Fraction(1, 2)}
    yield Distribution("the dual solution", data, {e: x / data.S for e, x in dual.items()})
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        data = small_data.random_data(rng)
        yield Distribution(f"trial {trial}", data, random_distribution(rng, data.pairs))


def random_distribution(
    rng: np.random.Generator, pairs: Iterable[Pair], largest: int = 10**6
) -> dict[Pair, Fraction]:
    """A distribution of random integers on a random part of the pairs, some of them tiny."""
    chosen = list(pairs)
    keep = rng.random(len(chosen)) < rng.uniform(0.2, 1)
    keep[int(rng.integers(len(chosen)))] = True
    chosen = [e for e, kept in zip(chosen, keep, strict=True) if kept]
    scale = rng.uniform(0, np.log(largest), len(chosen))
    parts = [1 + int(np.exp(x)) for x in scale]
    return {e: Fraction(part, sum(parts)) for e, part in zip(chosen, parts, strict=True)}


@dataclass(frozen=True)
class Triple:
    """A point z, a step t by the norm and a squared norm S."""

    z: Fraction
    t: Fraction
    S: Fraction

    @property
    def name(self) -> str:
        """The three numbers."""
        return f"$z = {self.z}$, $t = {self.t}$, $S = {self.S}$"


def between_the_ends(seed: int = 7, trials: int = 120) -> Iterator[Triple]:
    """Numbers with S >= 1/2, 0 < t <= 1, -1 < z <= 2S - 1: both ends, then random ones."""
    half, one = Fraction(1, 2), Fraction(1)
    yield from (Triple(2 * S - 1, t, S) for S in (half, one, 9 * one) for t in (one, half))
    yield Triple(Fraction(-999, 1000), Fraction(9, 10), half)
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        part, t, more = (Fraction(int(x), 1000) for x in rng.integers(1, 1001, 3))
        S = half + 10 * more
        yield Triple(2 * S * part - 1, t, S)


def beyond_the_end() -> list[Triple]:
    """Numbers with z above 2S - 1."""
    return [Triple(Fraction(3), Fraction(1, 2), Fraction(1))]


@dataclass(frozen=True)
class TwoPoints:
    """Two points across W* and a step size."""

    name: str
    late: Late
    y: Vector
    v: Vector
    eta: Any


def random_weights(rng: np.random.Generator, data: Data, scale: float) -> Weights:
    """Normal weights of this size."""
    return {place: mp.mpf(float(rng.normal())) * mp.mpf(scale) for place in data.star}


def points(seed: int = 7, trials: int = 80) -> Iterator[TwoPoints]:
    """Random points near and far, at small, middle and the largest step sizes."""
    rng = np.random.default_rng(seed)
    with mp.workdps(DIGITS):
        for trial in range(trials):
            late = Late(small_data.random_data(rng))
            y, v = (
                late.split(random_weights(rng, late.data, 10 ** rng.uniform(-6, 2)))[1]
                for _ in range(2)
            )
            largest = max(late.w, 2 / late.w)
            for part, eta in (
                ("small", late.w / 100),
                ("middle", late.w * mp.mpf("0.7")),
                ("largest", largest * mp.mpf("0.999")),
            ):
                yield TwoPoints(f"trial {trial}, {part} step", late, y, v, eta)


@dataclass(frozen=True)
class Far:
    """A state of training."""

    name: str
    data: Data
    A: Any
    W: Weights


def far_states(seed: int = 7, trials: int = 120) -> Iterator[Far]:
    """Random states far along W*, those with 1 - m_o <= 1/4."""
    rng = np.random.default_rng(seed)
    with mp.workdps(DIGITS):
        for trial in range(trials):
            data, A = small_data.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 2.5))
            far, near = 10 ** rng.uniform(0.5, 2), random_weights(rng, data, rng.uniform(0, 1))
            W = {place: far * plain.as_real(data.star[place]) + near[place] for place in near}
            if max(attention(data, W)) <= mp.mpf(1) / 4:
                yield Far(f"trial {trial}", data, A, W)


def any_states(seed: int = 7, trials: int = 120) -> Iterator[Far]:
    """Random states at which the optimal token has the largest mass."""
    rng = np.random.default_rng(seed)
    with mp.workdps(DIGITS):
        for trial in range(trials):
            data, A = small_data.random_data(rng), mp.mpf(10 ** rng.uniform(-1, 2.5))
            yield Far(f"trial {trial}", data, A, small_data.random_state(rng, data))


# Runs


@dataclass(frozen=True)
class LateRun:
    """A run of the loss from W = 0.

    Attributes:
        name: the data and the step size.
        late: the exponential model of the data.
        A: the gap.
        eta: the step size.
        states: W^(t) at some steps t, in order.
        longest: the largest ||y|| at any step.
    """

    name: str
    late: Late
    A: Any
    eta: Any
    states: tuple[tuple[int, Weights], ...]
    longest: Any


def late_run(name: str, data: Data, eta: Any, record: tuple[int, ...], A: int = 3) -> LateRun:
    """A run with the states at some steps."""
    late, kept, longest = Late(data), [], mp.mpf(0)
    for t, W in enumerate(plain.run(data, mp.mpf(A), eta, max(record)), start=1):
        y = late.split(W)[1]
        longest = max(longest, mp.sqrt(plain.inner(y, y)))
        if t in record:
            kept.append((t, W))
    return LateRun(
        rf"{name}, $\eta = {mp.nstr(eta, 3)}$", late, mp.mpf(A), eta, tuple(kept), longest
    )


def star_data() -> dict[str, Data]:
    """Data with one optimal token for each query, Example 1 last."""
    edges = small_data.edges()
    return {name: edges[name] for name in STARS} | {"Example 1": small_data.example_1()}


@once
def converging(steps: int = 400) -> tuple[LateRun, ...]:
    """Runs at half of ||W*|| and just below the largest step size of Theorem C."""
    found = []
    with mp.workdps(DIGITS):
        for name, data in star_data().items():
            w = Late(data).w
            for eta in (max(w, 2 / w) * mp.mpf("0.95"), w / 2):
                found.append(late_run(name, data, eta, (steps // 2, steps)))
    return tuple(found)


@once
def huge_steps(steps: int = 150) -> tuple[LateRun, ...]:
    """Runs at 5/2 and 20 times ||W*||, where the residual swings."""
    with mp.workdps(DIGITS):
        return tuple(
            late_run(name, data, Late(data).w * part, (steps,))
            for name, data in star_data().items()
            for part in (mp.mpf(5) / 2, mp.mpf(20))
        )


@once
def with_an_idle_pair(steps: int = 1024) -> tuple[LateRun, ...]:
    """The path a > c, a > d, b > d, whose pair a > d is idle, with three shares and two gaps.

    a, b, c, d are the tokens 0, 1, 2, 3, and d is the query.
    """
    found = []
    with mp.workdps(25):
        for share, A in ((1, 3), (9, 3), (1, 30)):
            pi = small_data.shares(share, 1)
            first = Sample(3, 0, 1, ((2, 1), (3, 1)), pi[0])
            data = Data(4, (first, Sample(3, 1, 1, ((3, 1),), pi[1])))
            name = f"path, shares {share} to 1, $A = {A}$"
            record = (steps // 4, steps // 2, steps)
            found.append(late_run(name, data, mp.mpf(1) / 2, record, A))
    return tuple(found)


def huge_steps_then_idle() -> tuple[LateRun, ...]:
    """Runs at huge step sizes without an idle pair, then runs with one."""
    return (*huge_steps(), *with_an_idle_pair())


def converging_then_idle() -> tuple[LateRun, ...]:
    """Runs that converge without an idle pair, then runs with one."""
    return (*converging(), *with_an_idle_pair())


def idle_direction() -> Vector:
    """v* of the path of `with_an_idle_pair`, (1, -1, 1, -1) / 2 in the order a, b, c, d."""
    half = mp.mpf(1) / 2
    return {(3, 0): half, (3, 1): -half, (3, 2): half, (3, 3): -half}


# Theorem G and equation (4)


def soon(seed: int = 7, trials: int = 120) -> Iterator[Far | LateRun]:
    """Random states, and runs with rare sentences until Theorem G speaks."""
    yield from any_states(seed, trials)
    A, eta = 40, mp.mpf(300)
    with mp.workdps(DIGITS):
        for name in ("two pairs, one rare", "four queries, heavy tails"):
            data = small_data.edges()[name]
            S = plain.as_real(data.S)
            until = 2 * S * (1 + 2 * K_2(data.max_length) * mp.sqrt(S) / eta)
            yield late_run(name, data, eta, (int(mp.floor(until)) + 1,), A)


def first_steps(hundredths: str = "36 10 1") -> Iterator[LateRun]:
    """One step on two pairs with the shares .999 and .001, A = 120, ||W*|| = 1.

    Args:
        hundredths: step sizes in hundredths; 1 / e is .367...
    """
    with mp.workdps(DIGITS):
        parts = enumerate((mp.mpf(999) / 1000, mp.mpf(1) / 1000))
        samples = tuple(Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), p) for i, p in parts)
        for part in map(int, hundredths.split()):
            yield late_run("two pairs", Data(4, samples), mp.mpf(part) / 100, (1,), 120)


def a_long_first_step() -> Iterator[LateRun]:
    """The step size 50, which eta <= ||W*|| / e rules out."""
    yield from first_steps("5000")


# Large step sizes


@dataclass(frozen=True)
class Beyond:
    """Where the exponential model stands after some steps from a random start.

    Attributes:
        name: the data and the step size.
        distance: ||y - R||.
    """

    name: str
    distance: Any


def beyond(seed: int = 7, trials: int = 4, hundredths: str = "115 150 190") -> Iterator[Beyond]:
    """Step sizes between max(||W*||, 2 / ||W*||) and 2 ||W*||, from random starts.

    Args:
        seed: of the starts and the data.
        trials: data sets, with two to five queries of one to four rivals.
        hundredths: step sizes in hundredths of ||W*||, those above 2 / ||W*|| are run.
    """
    rng = np.random.default_rng(seed)
    with mp.workdps(30):
        for trial in range(trials):
            late = Late(random_stars(rng))
            for part in map(int, hundredths.split()):
                eta = late.w * part / 100
                if eta <= max(late.w, 2 / late.w):
                    continue
                mix = {e: mp.mpf(3 * float(rng.normal())) for e in late.data.pairs}
                y = late.split(combine(mix, late.data))[1]  # a run stays in the span of the pairs
                for _ in range(300):
                    y = late.step(y, eta)[0]
                away = {place: y[place] - late.R[place] for place in y}
                size = mp.sqrt(plain.inner(away, away))
                yield Beyond(rf"data {trial}, $\eta = {part}/100\,\|W^*\|$", size)


def random_stars(rng: np.random.Generator) -> Data:
    """Random data with one optimal token for each query and heavy-tailed shares."""
    rivals = [int(m) for m in rng.integers(1, 5, size=int(rng.integers(3, 6)))]
    parts = small_data.shares(*(mp.exp(-float(x)) for x in rng.exponential(3, len(rivals))))
    size = 5 + len(rivals)
    return Data(
        size,
        tuple(
            Sample(q, size - 1, 1, tuple((j, 1) for j in range(m)), pi)
            for q, (m, pi) in enumerate(zip(rivals, parts, strict=True))
        ),
    )


def above_the_limit(seed: int = 7, trials: int = 2) -> Iterator[Beyond]:
    """Step sizes above 2 ||W*||."""
    yield from beyond(seed, trials, "230")


# Enclosed runs


@dataclass(frozen=True)
class Enclosed:
    """An enclosed run, from the step at which its certificate is made on.

    Attributes:
        name: the data.
        certificate: what holds at all later steps.
        later: the enclosed state at step 900, then states from the certificate on.
    """

    name: str
    certificate: enclosure.Certificate
    later: tuple[enclosure.EnclosedState, ...]


@once
def enclosed(first: int = 1000, steps: int = 1600) -> tuple[Enclosed, ...]:
    """Example 1 with a certificate at one step and states up to another.

    Raises:
        ValueError: the condition of the certificate is not met at the first step.
    """
    states = _enclosed_states(example_1_setting(), first, steps)
    made = enclosure.certify(states[1], Fraction(1, 100))
    if made is None:
        raise ValueError(f"no certificate at step {first}; take a later one")
    return (Enclosed("Example 1", made, states),)


@once
def enclosed_at(step: int) -> enclosure.EnclosedState:
    """Example 1 in balls after so many steps."""
    (state,) = enclosure.enclose(example_1_setting(), step, {step})
    return state


def of_other_data(first: int = 1000, steps: int = 1600) -> tuple[Enclosed, ...]:
    """The certificate of Example 1 beside a run where one sample counts twice."""
    (right,) = enclosed(first, steps)
    setting = example_1_setting()
    one, *others = setting.terms
    changed = replace(setting, terms=(replace(one, weight=2 * one.weight), *others))
    return (replace(right, later=_enclosed_states(changed, first, steps)),)


def _enclosed_states(
    setting: enclosure.EnclosedSetting, first: int, steps: int
) -> tuple[enclosure.EnclosedState, ...]:
    """The state of step 900, and those from one step to another, every hundred steps."""
    return enclosure.enclose(setting, steps, {900, *range(first, steps, 100), steps})
