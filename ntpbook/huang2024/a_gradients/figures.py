"""What the figures and the table of the page on the gradients show."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.a_gradients.checks import GradientPoint
from ntpbook.shared import digits
from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpverdicts.tables import Table


def distances(point: GradientPoint, exponents: list[int], outer: int = 1) -> dict[str, list[float]]:
    """Relative distance of (5) and of (6) from difference quotients with step 10^-k, by k."""
    found: dict[str, list[float]] = {"(5)": [], "(6)": []}
    with mp.workdps(digits.DIGITS):
        five = digits.stage1_gradient(point.following, point.W_ov, point.E, outer)
        six = digits.attention_gradient(point.data, point.W_ov, point.W_kq, point.E, outer)
        for exponent in exponents:
            h = mp.mpf(10) ** -exponent
            true = digits.central_differences(
                lambda W: digits.stage1_loss(point.following, W, point.E), point.W_ov, h
            )
            found["(5)"].append(digits.relative_distance(five, true))
            true = digits.central_differences(
                lambda W: digits.loss(point.data, point.W_ov, W, point.E), point.W_kq, h
            )
            found["(6)"].append(digits.relative_distance(six, true))
    return found


def float_errors(gap: float, scales: list[float]) -> dict[str, list[float]]:
    """How far the direction of (6), computed in floats, is from the true one, on Example 1.

    Evaluated as stated, and as the training code does it, at W_kq = scale times W_kq_star.

    Args:
        gap: A, the margin of W_ov.
        scales: the scales.

    Returns:
        distances of unit vectors; 1 where equation (6) as stated gives a gradient of zero.
    """
    data = example_1()
    problem = from_dataset(data)
    size = problem.vocab_size
    W_ov = np.full((size, size), -gap / size)
    W_ov[problem.following, np.arange(size)] += gap
    found: dict[str, list[float]] = {"as stated": [], "without differences": []}
    for scale in scales:
        weights = scale * problem.W_kq_star
        W_kq = _dense(problem, weights)
        with mp.workdps(digits.DIGITS):
            args = digits.exact(W_ov), digits.exact(W_kq), digits.exact(np.eye(size))
            G = digits.attention_gradient(data, *args)
            true = digits.as_floats(G / digits.norm(G))
        G = transformer.attention_gradient(data, W_ov, W_kq, np.eye(size))
        length = float(np.sqrt((G**2).sum()))
        printed = G / length if length else 0 * G
        ours = _dense(problem, training.gradient(problem, weights, gap)[1])
        for name, value in (("as stated", printed), ("without differences", ours)):
            found[name].append(float(np.sqrt(((value - true) ** 2).sum())))
    return found


def errors_in_training(seed: int, datasets: int, steps: Sequence[int]) -> Table:
    """How far (6), evaluated as stated in floats, is from the true direction during training.

    The experiment of Section 7, at the exact iterates of stage 2. The reference is the direction
    that training uses; tests hold it against two hundred digits at the same steps.

    Args:
        seed: of the first data set.
        datasets: how many data sets, by consecutive seeds.
        steps: the steps at which to compare.
    """
    columns = []
    for number in range(seed, seed + datasets):
        setting = generate.experiment(number)
        problem = from_dataset(setting.data)
        gap = stage1.gap(problem.vocab_size, setting.steps1, setting.eta0)
        W_ov = gap * stage1.W_ov_star(problem.following)
        run, errors = None, []
        for step in steps:
            run = training.run(problem, step, setting.eta, gap, record=[step], state=run)
            weights = run.state.weights
            args = W_ov, _dense(problem, weights), np.eye(problem.vocab_size)
            printed = transformer.attention_gradient(setting.data, *args)
            length = float(np.sqrt((printed**2).sum())) or 1.0
            true = _dense(problem, training.gradient(problem, weights, gap)[1])
            errors.append(float(np.sqrt(((printed / length - true) ** 2).sum())))
        columns.append(errors)
    header = ("step t", *(f"data set {number + 1}" for number in range(datasets)))
    rows = zip(*columns, strict=True)
    cells = [
        (str(t), *(f"{error:.1e}" for error in row)) for t, row in zip(steps, rows, strict=True)
    ]
    return Table(header, tuple(cells))


def _dense(problem: Problem, entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries of W_kq as a matrix (token, query)."""
    W = np.zeros((problem.vocab_size, problem.vocab_size))
    W[problem.entry_token, problem.entry_query] = entries
    return W
