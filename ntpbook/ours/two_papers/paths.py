"""Stage 2 of huang2024 and equation (10) of tian2023, by plain and by normalized gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from ntpbook.ours.two_papers import joint
from ntpcore.data import order
from ntpcore.data.dataset import Dataset
from ntpcore.exact import margin
from ntpcore.huang2024 import training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.tian2023.coupled import Symmetric
from ntpcore.tian2023.decoder import speed

Floats = joint.Floats

# Stage 2 of huang2024 by plain and by normalized gradients


@dataclass(frozen=True)
class Clocks:
    """Stage 2 on the same data by two rules.

    Attributes:
        steps: (R,), recorded steps.
        plain: (R,), norm of W_kq by plain gradients.
        normalized: (R,), the same by normalized ones.
        excess: (R,), loss by plain gradients above its infimum.
        cosine: cosine of the last W_kq by plain gradients with the max-margin solution.
    """

    steps: Floats
    plain: Floats
    normalized: Floats
    excess: Floats
    cosine: float


def stage_2(data: Dataset, steps: int, eta: float, gap: float) -> Clocks:
    """Stage 2 from W_kq = 0 after a short stage 1, by both rules.

    A long stage 1 makes every plain gradient smaller by the factor e^-A, so that nothing moves.

    Args:
        data: realizable data.
        steps: number of steps.
        eta: step size of both.
        gap: A, the margin of every token after stage 1.
    """
    size = len(data.vocabulary)
    problem = from_dataset(data)
    record = [step for step in training.log_grid(steps, 10) if step > 0]
    second = training.run(problem, steps, eta, gap, record=record)
    structure = order.analyse(data)
    place = {token: i for i, token in enumerate(data.vocabulary)}
    Y = np.zeros((size, size))
    for token, following in structure.collocation.items():
        Y[place[token], place[str(following)]] = gap
    samples = joint.from_dataset(data, hide_query=False)
    run = joint.train(samples, record, eta_y=0, eta_z=eta, unit=False, Y=Y)
    star = np.zeros((size, size))
    for query, solution in margin.W_kq_star(structure.orders or {}).items():
        for token, score in solution.scores.items():
            star[place[query], place[token]] = float(score)
    Z = run.Z[-1]
    cosine = float((Z * star).sum() / np.linalg.norm(Z) / np.linalg.norm(star))
    return Clocks(
        np.array(record, dtype=np.float64),
        np.linalg.norm(run.Z, axis=(1, 2)),
        np.asarray(second.rows.norm),
        run.loss - training.floor(size, gap),
        cosine,
    )


# Equation (10) of tian2023 by plain and by normalized gradients, for symmetric classes of one query
# that share one common token


def unit_vector(design: Symmetric, z: Floats) -> Floats:
    """f_n of any class: its distinct tokens, then the common one, by symmetry the same for all n.

    Args:
        design: the classes.
        z: (D + 1,), scores of the distinct tokens and of the common one.
    """
    c = np.array([*design.distinct, *design.common]) * np.exp(z - z.max())
    return np.asarray(c / np.linalg.norm(c))


def direction(design: Symmetric, z: Floats) -> Floats:
    """Right-hand side of (10) over eta_Z xi_n: f_l^2 for distinct tokens, -K (1 - f_c^2) for c.

    Source: tian2023, Theorem 2 and (100), for classes that are alike.
    """
    squares = unit_vector(design, z) ** 2
    return np.append(squares[:-1], -design.K * (1 - squares[-1]))


def steering(design: Symmetric, z: Floats) -> float:
    """xi_n / gamma at theta = sigma = 0 for equal correlations (tian2023, Theorem 1, corrected)."""
    K, M = design.K, design.M
    e = float(unit_vector(design, z)[-1] ** 2)
    # (I + E)^-1 for E = e (J - I): diagonal minus 1, and off the diagonal
    off = -e / ((1 - e) * (1 + (K - 1) * e))
    diagonal = -(K - 1) * e * off
    return M / (M - 1) * (diagonal - (K - 1) / (M - 1) * off)


def full_length(design: Symmetric, z: Floats) -> float:
    """Norm of `direction` as a row of Z: the distinct tokens of all classes are entries."""
    d = direction(design, z)
    return float(math.sqrt(design.K * (d[:-1] ** 2).sum() + d[-1] ** 2))


def plain_path(design: Symmetric, eta_y: float, eta_z: float, times: Floats) -> Floats:
    """z under (10) by plain gradients, integrated in ln t (theta = sigma = 0).

    Args:
        design: the classes.
        eta_y: learning rate of the decoder.
        eta_z: learning rate of the attention.
        times: (R,), increasing, in steps.

    Returns:
        (R, D + 2): z, and the length of the path so far.
    """
    size = len(design.distinct) + 1

    def slope(log_t: float, state: Floats) -> Floats:
        t, z = math.exp(log_t), state[:size]
        gamma = float(speed(design.M, design.K, eta_y, t))
        pace = t * eta_z * gamma * steering(design, z)
        return np.append(pace * direction(design, z), pace * full_length(design, z))

    logs = np.log(times)
    found = solve_ivp(
        slope, (logs[0], logs[-1]), np.zeros(size + 1), "LSODA", t_eval=logs, rtol=1e-9, atol=1e-12
    )
    return np.asarray(found.y.T)


def normalized_path(design: Symmetric, lengths: Floats) -> Floats:
    """z along the same path after steps of unit speed.

    Args:
        design: the classes.
        lengths: (R,), increasing lengths of the path, the first one 0.

    Returns:
        (R, D + 1): z.
    """

    def slope(_: float, z: Floats) -> Floats:
        return np.asarray(direction(design, z) / full_length(design, z))

    found = solve_ivp(
        slope,
        (0.0, float(lengths[-1])),
        np.zeros(len(design.distinct) + 1),
        "LSODA",
        t_eval=lengths,
        rtol=1e-9,
        atol=1e-12,
    )
    return np.asarray(found.y.T)


def top_share(design: Symmetric, z: Floats) -> float:
    """Attention on the strongest distinct token, as a share of all attention of a class."""
    c = np.array([*design.distinct, *design.common]) * np.exp(z - z.max())
    return float(c[:-1].max() / c.sum())


def relative_distance(path: Floats, other: Floats) -> float:
    """Largest difference of two paths by the size of the first."""
    return float(np.abs(path - other).max() / np.abs(path).max())
