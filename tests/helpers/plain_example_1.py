"""The paper's Example 1 from the loss, the softmax and its counts alone, without our modules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from mpmath import mp

# How often the optimal token of a query and each rival occur in a sample: P S; S V; S V O and V O,
# with the rivals S and V of O; O P.
SAMPLES = {"S": [(1, 1)], "V": [(1, 1)], "O": [(1, 1, 1), (1, 0, 1)], "P": [(1, 1)]}
TOKENS = {"S": "SP", "V": "VS", "O": "OSV", "P": "OP"}  # in the order of the counts


def star(query: str) -> list[float]:
    """Proposition 2: m / (1 + m) for the optimal token over m rivals, -1 / (1 + m) for them."""
    m = len(TOKENS[query]) - 1
    return [m / (1 + m)] + [-1 / (1 + m)] * m


@cache
def trained(steps: int = 900) -> dict[str, list[mp.mpf]]:
    """W_kq by query after stage 2 at the paper's step sizes and T = 900, with 80 digits.

    The gradient of equation (1) by the chain rule; the four queries share a step.
    """
    with mp.workdps(80):
        A, eta = mp.mpf(900) * mp.mpf("0.1") / mp.sqrt(3), mp.mpf("0.025")
        w = {q: [mp.mpf(0)] * len(rows[0]) for q, rows in SAMPLES.items()}
        for _ in range(steps):
            gradient = {q: [mp.mpf(0)] * len(column) for q, column in w.items()}
            for q, counts in ((q, counts) for q, rows in SAMPLES.items() for counts in rows):
                powers = [mp.exp(x) * c for x, c in zip(w[q], counts, strict=True)]
                m = [power / sum(powers) for power in powers]
                z = [mp.exp(A * share) for share in m]
                total = sum(z, mp.mpf(4 - len(z)))
                d = [A * (one / total - (place == 0)) for place, one in enumerate(z)]
                mean = sum(share * slope for share, slope in zip(m, d, strict=True))
                for place, share in enumerate(m):
                    gradient[q][place] += share * (d[place] - mean)
            norm = mp.sqrt(sum(x**2 for column in gradient.values() for x in column))
            w = {q: [x - eta * g / norm for x, g in zip(w[q], gradient[q], strict=True)] for q in w}
    return w


def far(eta: float, steps: int) -> Iterator[dict[str, np.ndarray]]:
    """W_kq by query, in floats, before each of the steps of any size and after the last.

    The force on a rival y, share of y times (slope of y - mean slope), is kept as a factor and a
    logarithm, which has digits where the share is e^-1000; that on the optimal token is the rest.
    """
    A = 900 * 0.1 / math.sqrt(3)
    w = {q: np.zeros(len(tokens)) for q, tokens in TOKENS.items()}
    yield w
    for _ in range(steps):
        forces = []
        for q, counts in ((q, counts) for q, rows in SAMPLES.items() for counts in rows):
            places = [place for place, c in enumerate(counts) if c]
            logs = np.array([w[q][place] + math.log(counts[place]) for place in places])
            logs -= np.logaddexp.reduce(logs)
            z = np.exp(A * np.exp(logs))
            T = z / (z.sum() + 4 - len(z))
            T[0] = -(z[1:].sum() + 4 - len(z)) / (z.sum() + 4 - len(z))  # T - 1 of the optimal one
            factor = A * (T - np.exp(logs) @ T)
            forces += [(q, *one) for one in zip(places, factor, logs, strict=True)][1:]
        top = max(log for *_, log in forces)
        G = {q: np.zeros(len(column)) for q, column in w.items()}
        for q, place, factor, log in forces:
            G[q][place] += factor * math.exp(log - top)
            G[q][0] -= factor * math.exp(log - top)
        norm = math.sqrt(sum(column @ column for column in G.values()))
        w = {q: w[q] - eta * G[q] / norm for q in w}
        yield w


def along_star(w: dict[str, np.ndarray]) -> float:
    """<W, W_kq_star> / ||W_kq_star||^2, by which every margin of W_kq_star grows."""
    return sum(column @ star(q) for q, column in w.items()) / (13 / 6)


def log_missed(w: dict[str, np.ndarray]) -> float:
    """log of the sum of 1 - m_o over the samples, where that is e^-margin, summed over rivals."""
    return float(
        np.logaddexp.reduce(
            [
                w[q][place] + math.log(c) - w[q][0] - math.log(counts[0])
                for q, rows in SAMPLES.items()
                for counts in rows
                for place, c in enumerate(counts)
                if place and c
            ]
        )
    )


def one_minus_cos(w: dict[str, list[mp.mpf]]) -> float:
    """1 minus the cosine between these weights and W_kq_star; ||W_kq_star||^2 = 13/6."""
    with mp.workdps(80):
        sixths = {q: [mp.mpf(round(6 * one)) / 6 for one in star(q)] for q in w}
        along = mp.fsum(x * y for q in w for x, y in zip(w[q], sixths[q], strict=True))
        squared = mp.fsum(x**2 for column in w.values() for x in column)
        return float(1 - along / mp.sqrt(squared * 13 / 6))


def residual() -> dict[tuple[str, str], float]:
    """R across W_kq_star, which W(t) - t eta W_star / ||W_star|| tends to: by (query, token).

    O is before S in one of the five samples that compare, S V O, and before V in two, with V O.
    Only ratios matter: margins log 2 + log C on one rival, log 3 + log C on two.
    """
    margins = {"S": [math.log(2)], "V": [math.log(2)], "P": [math.log(2)]}
    margins["O"] = [math.log(3), math.log(6)]  # S once, V twice
    R, W_star = {}, {}
    for q, tokens in TOKENS.items():
        top = sum(margins[q]) / len(tokens)
        R |= {(q, x): top - u for x, u in zip(tokens, [0.0, *margins[q]], strict=True)}
        W_star |= {(q, x): one for x, one in zip(tokens, star(q), strict=True)}
    along = sum(R[place] * W_star[place] for place in R) / (13 / 6)
    return {place: R[place] - along * W_star[place] for place in R}


def constant() -> float:
    """c in 1 - cos ~ c / (t eta)^2: half the squared length of R."""
    return sum(x * x for x in residual().values()) / 2
