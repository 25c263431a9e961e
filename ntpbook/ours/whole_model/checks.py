"""How many digits the plain models of the first chapter share with the library.

Errors are bounded to first order in the unit roundoff, as in Higham, Accuracy and Stability of
Numerical Algorithms: the roundings on the way to a number are counted, and where two numbers are
subtracted, their sum takes the place of their difference. What one step does to an error of the
steps before is the largest singular value of its derivative, taken along the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.ours.whole_model import plain
from ntpcore.data.dataset import from_sentences
from ntpcore.data.examples import EXAMPLE_1
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.tian2023 import coupled
from ntpverdicts.compare import Said, finite, holds, least
from ntpverdicts.once import once
from ntpverdicts.vocabulary import check

Floats = NDArray[np.float64]

UNIT = 2.0**-53  # of float64: every operation is right up to this part of its result
EXP = 2  # units that one call of exp may be wrong by; libraries promise one
ETA_0, ETA = 0.1, 0.025  # of huang2024, Section 7, for four tokens
MARKS = (1, 3, 10, 30, 100, 200, 300, 400, 500, 600, 700, 800, 900)
ETA_Y = ETA_Z = 1.0
CLASSES = coupled.Symmetric(2, 7, (0.5,), (0.3, 0.2))


@dataclass(frozen=True, eq=False)
class Mark:
    """Where the plain run stands, and how far rounding may have led it astray.

    Attributes:
        name: which numbers these are.
        step: number of steps taken, T or T_1.
        numbers: the weights of the plain run.
        bound: of the Frobenius distance from exact arithmetic.
    """

    name: str
    step: int
    numbers: Floats
    bound: float


def growth(move: Callable[[Any], Any], state: Floats, moving: NDArray[np.bool_]) -> float:
    """The largest factor by which a step stretches a small change of the entries that move.

    The derivative is taken along the imaginary axis, which subtracts nothing.
    """
    columns = []
    for place in np.argwhere(moving):
        changed = state.astype(complex)
        changed[tuple(place)] += 1e-30j
        columns.append(move(changed)[moving].imag / 1e-30)
    return float(np.linalg.norm(np.array(columns), 2))


def error_of_step(rough: Floats, G: Floats, W: Floats, eta: float) -> float:
    """What one normalized step adds, if G is wrong by `rough` at most, entry by entry."""
    direction = 2 * float(np.linalg.norm(rough) / np.linalg.norm(G)) + UNIT * (G.size + 5)
    return eta * direction + UNIT * float(np.linalg.norm(W) + 2 * eta)


def rough_gradient_ov(W: Floats) -> Floats:
    """How far rounding may lead `gradient_ov` astray: p - e loses what p and e have in common."""
    roundings = 2 * (2 * abs(W).max() + EXP) + len(W)  # of p; its logits are entries of W
    return np.asarray(
        UNIT
        * (roundings + 1)
        * sum(
            np.outer(plain.softmax(W @ plain.E[x]) + plain.E[y], plain.E[x])
            for x, y in plain.n.items()
        )
    )


def rough_gradient_kq(W_ov: Floats, W_kq: Floats, off: float) -> Floats:
    """How far rounding may lead `gradient_kq` astray; W_ov itself is wrong by `off` at most."""
    V, N, most_ov, most_kq = len(W_ov), len(plain.samples), abs(W_ov).max(), abs(W_kq).max()
    total = np.zeros_like(W_kq)
    for s, y in plain.samples:
        X, a, p = plain.forward(s, W_ov, W_kq)
        mean, e, query = (X @ a)[:, None], plain.E[y], X[:, -1]

        def part(left: Any, right: Any, X: Any = X, a: Any = a, query: Any = query) -> Any:
            return np.outer(X @ (a * (left.T @ abs(W_ov).T @ right)), query) / N

        of_a = 2 * (2 * most_kq + EXP) + len(s)  # roundings, each the worst case
        of_mean = of_a + len(s)
        of_p = 2 * ((of_mean + V + 2) * most_ov + EXP + off / UNIT) + V
        of_products = 2 * V + of_a + len(s) + N + 3 + off / UNIT / abs(W_ov).min()
        total += (of_mean + 1) * part(X + mean, abs(p - e))
        total += (of_p + 1) * part(abs(X - mean), p + e)
        total += of_products * part(abs(X - mean), abs(p - e))
    return UNIT * total


@once
def marks_of_algorithm_1(T: int = 100, steps: int = 900) -> tuple[Mark, ...]:
    """W_ov after stage 1, then W_kq at the marks of stage 2."""
    W_ov, W_kq = plain.algorithm_1(T, steps, ETA_0, ETA)
    every = np.ones((4, 4), dtype=bool)
    bound = 0.0
    for W in W_ov[:-1]:
        grown = growth(lambda w: plain.step(w, plain.gradient_ov(w), ETA_0), W, every)
        rough = rough_gradient_ov(W)
        bound = grown * bound + error_of_step(rough, plain.gradient_ov(W), W, ETA_0)
    first, last = Mark("W_ov", T, W_ov[-1], bound), W_ov[-1]
    off = float(abs(last - library_ov(T)).max())  # measured: stage 2 starts from what it has
    found, bound, moving = [first], 0.0, W_kq[-1] != 0
    for t, (W, after) in enumerate(pairwise(W_kq), 1):
        G = plain.gradient_kq(last, W)
        grown = growth(lambda w: plain.step(w, plain.gradient_kq(last, w), ETA), W, moving)
        bound = grown * bound + error_of_step(rough_gradient_kq(last, W, off), G, W, ETA)
        if t in MARKS:
            found.append(Mark("W_kq", t, after, bound))
    return tuple(found)


def library_ov(T: int, eta_0: float = ETA_0) -> Floats:
    """W_ov of the library."""
    problem = from_dataset(from_sentences(EXAMPLE_1))
    return stage1.weights(problem.following, T, eta_0)


def library_kq(T: int, steps: int, eta: float, sentences: Iterable[str]) -> Floats:
    """W_kq of the library, as a matrix."""
    problem = from_dataset(from_sentences(tuple(sentences)))
    gap = stage1.gap(problem.vocab_size, T, ETA_0)
    run = training.run(problem, steps, eta, gap, record=())
    W = np.zeros((problem.vocab_size, problem.vocab_size))
    W[problem.entry_token, problem.entry_query] = run.state.weights
    return W


def digits_of(bound: float, numbers: Floats) -> int:
    """Whole decimal digits that an error of this size leaves of the norm."""
    return math.floor(-math.log10(bound / float(np.linalg.norm(numbers))))


@check(
    "ours-whole-model",
    over="states of the run",
    instances=marks_of_algorithm_1,
    observes=True,
    says="In all {tried} recorded states of a run on Example 1, the weights computed by the "
    "program on the page about the whole model differ from those of the library by less than a "
    "bound on rounding errors. This bound leaves at least "
    r"{digits_W_ov} correct digits of $W_{\mathrm{ov}}$ and {digits_W_kq} of $W_{\mathrm{kq}}$.",
    fails="The page's program and the library differ by more than rounding errors explain.",
    name=lambda mark: f"{mark.name} after {mark.step} steps",
    planted={
        "The library's step size larger by one part in 10 billion.": {"eta": ETA * (1 + 1e-10)},
        "One step too few in the library's first stage.": {"T": 99},
        "One sentence twice in the library's data.": {"sentences": (*EXAMPLE_1, "V O P")},
        "The weights of the page's program rounded to single precision.": {"kind": np.float32},
    },
)
def check_ours_whole_model(
    mark: Mark,
    eta: float = ETA,
    T: int = 100,
    sentences: tuple[str, ...] = EXAMPLE_1,
    kind: type = float,
) -> Iterator[Said]:
    """||plain - library|| is at most what the roundings of the plain program allow."""
    found = library_ov(T) if mark.name == "W_ov" else library_kq(T, mark.step, eta, sentences)
    distance = float(np.linalg.norm(mark.numbers.astype(kind) - found))
    yield holds(finite(distance) <= mark.bound)  # how far below differs between processors
    yield least(f"digits_{mark.name}", digits_of(mark.bound, found))


# Scan and Snap


def rough_slopes(Y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """How far rounding may lead `slopes` astray, entry by entry."""
    K, M = plain.P.shape
    _, f, alpha = plain.layer(Y, z)
    both, error = plain.following + alpha, abs(plain.following - alpha)
    of_f = 2 * (2 * (EXP + 1) + M) + M + 3
    of_alpha = 2 * ((of_f + M) * (f @ abs(Y)).max() + EXP) + M + 1
    dY = f.T @ ((of_alpha + 1) * both + (of_f + K + 2) * error) / K
    g, dg = error @ abs(Y).T, ((of_alpha + 1) * both + M * error) @ abs(Y).T
    h = (f * g).sum(axis=1, keepdims=True)
    dh = (f * dg).sum(axis=1, keepdims=True) + (of_f + M + 1) * h
    dz = f * (dg + f * dh + (2 * of_f + K + 5) * (g + f * h))
    return UNIT * dY, UNIT * dz.mean(0)


def joined(Y: Any, z: Any) -> Any:
    """Y and z in one array, z in the last row."""
    return np.vstack([Y, z])


@once
def marks_of_scan_and_snap(steps: int = 400) -> tuple[Mark, ...]:
    """Y and z of the plain run at some steps, with what rounding may have done."""
    path = plain.scan_and_snap(steps, ETA_Y, ETA_Z)
    moving, bound, found = joined(*path[-1]) != 0, 0.0, []
    rates = joined(np.full_like(path[0][0], ETA_Y), np.full_like(path[0][1], ETA_Z))

    def move(state: Any) -> Any:
        return state + rates * joined(*plain.slopes(state[:-1], state[-1]))

    for t, ((Y, z), after) in enumerate(pairwise(path), 1):
        local = rates * joined(*rough_slopes(Y, z)) + 2 * UNIT * abs(joined(*after))
        bound = growth(move, joined(Y, z), moving) * bound + float(np.linalg.norm(local))
        if t in MARKS:
            found.append(Mark("Y and z", t, joined(*after), bound))
    return tuple(found)


@check(
    "ours-whole-layer",
    over="states of the run",
    instances=marks_of_scan_and_snap,
    observes=True,
    says="In all {tried} recorded states of a run with two classes and one query, the decoder $Y$ "
    "and the attention logits $z$ computed by the program on the page about the whole model "
    "differ from those of the library by less than a bound on rounding errors. This bound leaves "
    "at least {digits} correct digits of $Y$ and $z$.",
    fails="The page's program and the library differ by more than rounding errors explain.",
    name=lambda mark: f"{mark.name} after {mark.step} steps",
    planted={
        "The library's learning rate of the attention larger by one part in 10 billion.": {
            "eta_Z": ETA_Z * (1 + 1e-10)
        },
        "One more output token in the library's vocabulary.": {"M": 8},
        "The library's projection computed for an earlier attention.": {"forget": True},
        "The weights of the page's program rounded to single precision.": {"kind": np.float32},
    },
)
def check_ours_whole_layer(
    mark: Mark, eta_Z: float = ETA_Z, M: int = 7, forget: bool = False, kind: type = float
) -> Iterator[Said]:
    """||plain - library|| is at most what the roundings of the plain program allow."""
    data = coupled.Symmetric(2, M, CLASSES.common, CLASSES.distinct)
    run = coupled.descend(data, ETA_Y, eta_Z, [mark.step], forget)
    Y, z = coupled.dense(data, run.rows[-1])
    found = joined(Y[:7, :7], z[0, :7])
    distance = float(np.linalg.norm(mark.numbers.astype(kind) - found))
    yield holds(finite(distance) <= mark.bound)  # how far below differs between processors
    yield least("digits", digits_of(mark.bound, found))
