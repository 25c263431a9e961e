"""States and runs on which Theorems A and B are tried, ends of ranges first, at sixty digits.

Nothing here proves anything; it would show an error of the proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared import small_data
from ntpbook.shared.digits import DIGITS
from ntpbook.shared.plain_stage2 import Data, Sample, Weights
from ntpcore.data import generate
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import paper_rates, train
from ntpverdicts.maths import in_tex
from ntpverdicts.once import once


def K(max_length: int, pi_min: Any, rarity: float = 1, lengths: int = 1) -> Any:
    """log(2 L^2 (L - 1)^3 / pi_min), the constant of Theorem A.

    Args:
        max_length: L.
        pi_min: the least share.
        rarity: what multiplies log(1 / pi_min); 1 in truth.
        lengths: what multiplies the logarithm of the lengths; 1 in truth.
    """
    L = mp.mpf(max_length)
    return lengths * mp.log(2 * L**2 * (L - 1) ** 3) - rarity * mp.log(pi_min)


# Theorem A


@dataclass(frozen=True)
class WeightsState:
    """Weights at which Theorem A is tried.

    Attributes:
        name: the data and the state.
        data: the samples.
        A: the gap.
        W: the weights.
        by_positions: whether the gradient is also taken by equation (6), position by position.
    """

    name: str
    data: Data
    A: Any
    W: Weights
    by_positions: bool = False


def states(seed: int = 7, trials: int = 80) -> Iterator[WeightsState]:
    """Every tenth state of runs at the ends of ranges, then random states with u~ >= 0."""
    yield from _on_runs()
    rng = np.random.default_rng(seed)
    with mp.workdps(DIGITS):
        for trial in range(trials):
            data, A = small_data.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 3))
            W = small_data.random_state(rng, data)
            yield WeightsState(f"random state {trial}", data, A, W)


def states_and_steps(seed: int = 7, trials: int = 60) -> Iterator[WeightsState]:
    """States of runs and random ones; small ones with the gradient by positions, too.

    One of them is a sentence of thirty different tokens at W = 0, whose optimal token has the mass
    1 / L.
    """
    with mp.workdps(DIGITS):
        rivals = tuple((j, 1) for j in range(1, 30))
        data = Data(30, (Sample(29, 0, 1, rivals, mp.mpf(1)),))
        yield WeightsState("thirty different tokens", data, mp.mpf(3), data.zero, True)
        rng = np.random.default_rng(seed)
        for trial in range(trials):
            data, A = small_data.random_data(rng), mp.mpf(10 ** rng.uniform(-2, 1))
            W = small_data.random_state(rng, data)
            small = max(abs(value) for value in W.values()) < 10
            yield WeightsState(f"random state {trial}", data, A, W, small)
    yield from _on_runs()[::5]


@cache
def _on_runs() -> tuple[WeightsState, ...]:
    """States of runs, and one of twenty pairs that are e^1000 times rarer than one more."""
    found = []
    with mp.workdps(DIGITS):
        for name, data in small_data.edges().items():
            run = enumerate(plain.run(data, 3, 0.1, 150), start=1)
            found += [
                WeightsState(f"{name}, t = {t}", data, mp.mpf(3), W) for t, W in run if t % 10 == 0
            ]
        parts = small_data.shares(1, *[mp.exp(-1000)] * 20)
        samples = (Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), p) for i, p in enumerate(parts))
        data = Data(42, tuple(samples))
        W = data.zero | {(1, 0): mp.mpf(495), (1, 1): mp.mpf(-495)}
        found.append(WeightsState("twenty rare pairs", data, mp.mpf(5), W))
    return tuple(found)


def below_a_rival(depth: int = 50) -> Iterator[WeightsState]:
    """A state that Theorem A excludes: a rival has more attention than the optimal token."""
    with mp.workdps(DIGITS):
        data = small_data.edges()["two pairs, one rare"]
        W = data.zero | {(1, 0): mp.mpf(depth), (1, 1): mp.mpf(-depth)}
        W |= {(3, 2): -mp.mpf(depth), (3, 3): mp.mpf(depth)}
        yield WeightsState("a rival with more attention", data, mp.mpf(3), W)


# Theorem B


@dataclass(frozen=True)
class Row:
    """What a run shows after t steps.

    Attributes:
        step: t.
        along: x, the length of W along W*.
        squared: ||W||^2.
        margin: the least margin of a pair.
    """

    step: int
    along: Any
    squared: Any
    margin: Any

    @property
    def across(self) -> Any:
        """||y||^2, the squared length of W across W*."""
        return self.squared - self.along**2


@dataclass(frozen=True)
class Stage2Run:
    """A run of stage 2 from W = 0.

    Attributes:
        name: the data and the step size.
        S: ||W*||^2.
        max_length: L.
        pi_min: the least share.
        eta: the step size.
        rows: what it shows after each step.
        quoted: under which name pages quote its numbers, if they do.
    """

    name: str
    S: Any
    max_length: int
    pi_min: Any
    eta: Any
    rows: tuple[Row, ...]
    quoted: str = ""


def run(name: str, data: Data, A: Any, eta: Any, steps: int, quoted: str = "") -> Stage2Run:
    """A run by the formula for the forces."""
    eta = mp.mpf(eta)
    S = plain.as_real(data.S)
    rows = tuple(
        Row(
            t,
            plain.inner(data.star, W) / mp.sqrt(S),
            plain.inner(W, W),
            min(u for n in data.samples for u in plain.margins(n, W)),
        )
        for t, W in enumerate(plain.run(data, A, eta, steps), start=1)
    )
    gap, rate = (in_tex(mp.nstr(mp.mpf(one), 3)) for one in (A, eta))
    where = rf"{name}, $A = {gap}$, $\eta = {rate}$"
    return Stage2Run(where, S, data.max_length, data.pi_min, eta, rows, quoted)


@once
def runs(steps: int = 25) -> tuple[Stage2Run, ...]:
    """Gaps from .01 to 1000 and step sizes from .01 to a million; two long runs; Example 1.

    Args:
        steps: of each of the short runs.
    """
    found = []
    with mp.workdps(DIGITS):
        for name, data in small_data.edges().items():
            for A in (0.01, 3, 1e3):
                found += [run(name, data, A, eta, steps) for eta in (0.01, 1.0, 1e6)]
        for name in ("two pairs, one rare", "one rival a thousand times"):
            found.append(run(name, small_data.edges()[name], 3, 0.3, 100))
        pair = small_data.edges()["one pair"]
        found.append(run("one pair to t_A", pair, 3, 4, 30))
        found.append(run("twenty pairs, one of them common", many_pairs(20), 3, 1e6, 3))
        example = small_data.example_1()  # gap and step size of the paper's experiment
        found.append(run("Example 1", example, mp.sqrt(2700), mp.mpf(1) / 40, 900, "example"))
    return tuple(found)


def many_pairs(number: int) -> Data:
    """So many queries of one pair each, the first e^100 times more frequent than the others."""
    rare = [mp.exp(-100)] * (number - 1)
    samples = tuple(
        Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), share)
        for i, share in enumerate(small_data.shares(1, *rare))
    )
    return Data(2 * number, samples)


def with_experiments(seed: int = 7, sets: int = 5) -> Iterator[Stage2Run]:
    """The runs above, and the paper's experiment on random data with |V| = 20, in floats."""
    yield from runs()
    for number in range(seed, seed + sets):
        problem = from_dataset(generate.experiment(number).data)
        eta0, eta = paper_rates(problem.vocab_size)
        found = train("", problem, eta0=eta0, eta=eta, steps1=900, steps=900)
        shown = found.second.rows
        rows = tuple(
            Row(int(t), norm * (1 - far), norm**2, margin)
            for t, norm, far, margin in zip(
                shown.step, shown.norm, shown.one_minus_cos, shown.least_gap, strict=True
            )
            if t
        )
        S, pi_min = problem.norm_squared, mp.exp(problem.log_pi_min)
        name = f"20 tokens, seed {number}"
        yield Stage2Run(name, plain.as_real(S), problem.max_length, pi_min, eta, rows, "twenty")


@once
def from_outside(steps: int = 300, A: int = 3, tenths: int = 3) -> tuple[Stage2Run, ...]:
    """A run where a next token is n of no token of its sentence, which the paper rules out.

    |V| = 3; the sentence 0 0 1 is followed by n(2), the sentence 2 0 too, each half of the data.
    The only pair is 2 above 0 at the query 0, so that S = 1 / 2, L = 3. The query 1 has a column
    without a pair, where the loss has a minimum.

    Args:
        steps: how many.
        A: the gap.
        tenths: ten times the step size.
    """
    with mp.workdps(20):
        eta, rows = mp.mpf(tenths) / 10, []
        W: Weights = dict.fromkeys(((1, 0), (1, 1), (0, 0), (0, 2)), mp.mpf(0))
        for t in range(1, steps + 1):
            G = {}
            for query, tokens in ((1, (0, 0, 1)), (0, (2, 0))):
                column = {token: W[query, token] for token in tokens}
                pull = plain.sentence_gradient(tokens, 2, 3, column, mp.mpf(A))
                G.update({(query, token): value / 2 for token, value in pull.items()})
            norm = mp.sqrt(plain.inner(G, G))
            W = {place: W[place] + eta * G[place] / norm for place in W}
            u = W[0, 2] - W[0, 0]
            rows.append(Row(t, u / mp.sqrt(2), plain.inner(W, W), u))
        half = mp.mpf(1) / 2
        return (Stage2Run("a next token from outside", half, 3, half, eta, tuple(rows)),)


@once
def outnumbered(steps: int = 20) -> tuple[Stage2Run, ...]:
    """A run without Assumption 3: a rival occurs eight times, the optimal token once.

    Tokens 0, 1, 2: one sentence holds 1 once, 0 three times, 2 eight times; the other holds 1
    three times and 0 twice; both end in 0 and are followed by n(1). Shares 3/4 and 1/4.
    """
    with mp.workdps(DIGITS):
        parts = small_data.shares(3, 1)
        first = Sample(0, 1, 1, ((0, 3), (2, 8)), parts[0])
        data = Data(3, (first, Sample(0, 1, 3, ((0, 2),), parts[1])))
        return (run("outnumbered", data, 40, 0.01, steps),)


# What follows for the statements of the paper


@dataclass(frozen=True)
class Sizes:
    """Sizes on which the statements of the paper depend.

    Attributes:
        name: the number of the trial.
        max_length: L.
        pi_min: the least share.
        S: ||W*||^2.
        eta: the step size, at most ||W*|| / e (Lemma 7's comparison does not use it).
        step: t.
        norm: ||W||, for Lemma 7, at least 4 L as from t_0 on.
    """

    name: str
    max_length: int
    pi_min: float
    S: float
    eta: float
    step: int
    norm: float


def sizes(seed: int = 7, trials: int = 400) -> Iterator[Sizes]:
    """The corner where the bounds are nearest, then random sizes over many orders of magnitude."""
    yield Sizes("the corner", 2, 1.0, 0.5, float(np.sqrt(0.5) / np.e), 2, 8.0)
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        L, S = int(rng.integers(2, 50)), float(10 ** rng.uniform(np.log10(0.5), 2))
        eta = float(np.sqrt(S) / np.e * 10 ** -rng.uniform(0, 4))
        yield Sizes(
            f"trial {trial}",
            L,
            float(10 ** -rng.uniform(0, 12)),
            S,
            eta,
            int(10 ** rng.uniform(0.31, 9)),
            float(4 * L * rng.uniform(1, 100)),
        )
