"""Stage 1 of Algorithm 1 as it was iterated: the instances of statements on W_ov."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ntpcore.huang2024 import stage1, training, transformer
from ntpcore.huang2024.runs import paper_rates

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

STEPS = 900  # T of the paper's experiment
SIZE = 20  # its |V|
LARGE = 50  # times the paper's step size


@dataclass(frozen=True, eq=False)
class First:
    """Stage 1 on one collocation, with step size eta0 and from one start.

    Attributes:
        name: the instance in words.
        following: (|V|,), the collocation n by numbers.
        eta0: step size.
        start: ||W_ov|| at the start.
        rows: the measurements.
    """

    name: str
    following: Integers
    eta0: float
    start: float
    rows: stage1.Stage1

    @property
    def size(self) -> int:
        """|V|."""
        return len(self.following)

    @property
    def norm_star(self) -> float:
        """||W_ov_star||, the norm of the matrix with columns e_{n(x)} - 1 / |V|."""
        return float(np.linalg.norm(stage1.W_ov_star(self.following)))

    def since(self, step: int) -> tuple[Floats, stage1.Stage1]:
        """The recorded steps from this one on, as floats, and their measurements."""
        later = self.rows.step >= step
        kept = {one.name: getattr(self.rows, one.name)[later] for one in fields(stage1.Stage1)}
        return kept["step"].astype(np.float64), stage1.Stage1(**kept)


def cycle(size: int) -> Integers:
    """The collocation x -> x + 1 on |V| = size tokens; that of Example 1 for four tokens."""
    return (np.arange(size) + 1) % size


def iterated(following: Integers, eta0: float, steps: int = STEPS, scale: float = 0.0) -> First:
    """Stage 1, iterated step by step from zero or from a random matrix.

    Args:
        following: (|V|,), the collocation n by numbers.
        eta0: step size.
        steps: T.
        scale: standard deviation of the entries at the start.
    """
    start, rows = _iterated(tuple(int(v) for v in following), eta0, steps, scale)
    name = rf"$|\mathcal V| = {len(following)}$, $\eta_0 = {eta0:.3g}$"
    if scale:
        name += f", start of norm {start:.2g}"
    return First(name, following, eta0, start, rows)


@lru_cache(maxsize=1024)  # the statements of a page share their runs
def _iterated(
    following: tuple[int, ...], eta0: float, steps: int, scale: float
) -> tuple[float, stage1.Stage1]:
    """Norm of the start, and measurements at steps spread evenly on a logarithmic scale."""
    size = len(following)
    start = scale * np.random.default_rng(size).normal(size=(size, size))
    record = training.log_grid(steps)
    rows, _ = stage1.iterate(np.array(following), steps, eta0, record=record, start=start)
    return float(np.linalg.norm(start)), rows


def from_zero(seed: int = 7, sets: int = 10, scale: float = 0.0) -> Iterator[First]:
    """Cycles and random collocations of 2 to 50 tokens, the experiment of Section 7 last.

    Each at the paper's step size and at fifty times that, for the paper's number of steps.

    Args:
        seed: of the random collocations.
        sets: how many there are.
        scale: standard deviation of the entries at the start.
    """
    rng = np.random.default_rng(seed)
    random = [rng.permutation(int(rng.integers(4, 13))) for _ in range(sets)]
    maps = [cycle(2), cycle(3), cycle(4), *sorted(random, key=len), cycle(50), cycle(SIZE)]
    for following in maps:
        for factor in (LARGE, 1):
            yield iterated(following, factor * paper_rates(len(following))[0], scale=scale)


def any_start(seed: int = 7, sets: int = 10) -> Iterator[First]:
    """The same from random starts, and from zero."""
    yield from from_zero(seed, sets, scale=1.0)
    yield from from_zero(seed, sets)


def measured(name: str, following: Integers, eta0: float, states: dict[int, Floats]) -> First:
    """Measurements of given matrices, (|V|, |V|) each, as if stage 1 had gone through them."""
    parts = [stage1.iterate(following, 0, eta0, start=W)[0] for W in states.values()]
    columns = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(stage1.Stage1)
    }
    columns["step"] = np.array(list(states))
    return First(name, following, eta0, 0.0, stage1.Stage1(**columns))


def descended(
    following: Integers,
    eta0: float,
    steps: int,
    length: Callable[[Floats], float] = lambda G: float(np.linalg.norm(G)),
) -> First:
    """Gradient descent by the dense equation (5), each step divided by a length of the gradient.

    The length is the norm in equation (7); another one makes a planted error.
    """
    names = [str(x) for x in range(len(following))]
    collocation = {names[x]: names[v] for x, v in enumerate(following)}
    wanted = set(training.log_grid(steps).tolist())
    W, kept = np.zeros((len(names), len(names))), {}
    for step in range(steps + 1):
        if step in wanted:
            kept[step] = W.copy()
        G = transformer.stage1_gradient(collocation, W, np.eye(len(names)))
        W -= eta0 * G / length(G)
    return measured(rf"$|\mathcal V| = {len(names)}$, $\eta_0 = {eta0:.3g}$", following, eta0, kept)


# Instances with an error planted in the training


def not_normalized() -> list[First]:
    """Gradient descent with the same step size, whose steps are not divided by a norm."""
    return [descended(cycle(4), 0.1, STEPS, length=lambda G: 1.0)]


def backwards() -> list[First]:
    """Stage 1 trained on the collocation read backwards, at a large step size."""
    following = cycle(4)
    states = {
        int(step): stage1.weights(np.argsort(following), int(step), 5.0)
        for step in training.log_grid(STEPS)
    }
    return [
        measured(r"$|\mathcal V| = 4$, $\eta_0 = 5$, inverse collocation", following, 5.0, states)
    ]


def random_starts() -> list[First]:
    """Stage 1 from a random matrix."""
    return [iterated(cycle(4), 0.1, scale=1.0)]
