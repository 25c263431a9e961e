"""Check of Section 7: a residual connection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s7_discussion.discussion_runs import VOCABULARY
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import decoder, population
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.tian2023.population import State
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]


def two_queries(common: float, local: float, shared: bool = True) -> SequenceClasses:
    """Two queries with two classes each; token 1 occurs in one class of each query.

    Token 0 is common to all classes, token 1 distinct within each query only, tokens 2 to 5 are
    distinct, 6 and 7 are the queries. Without `shared`, tokens 8 and 9 take the places of 0 and 1
    in the second query.

    Args:
        common: weight of token 0; the distinct tokens have 1.
        local: weight of token 1.
        shared: whether the queries share contextual tokens.
    """
    p = np.zeros((4, 10))
    p[:, 0] = common
    p[[0, 2], 1] = local
    p[np.arange(4), 2 + np.arange(4)] = 1.0
    if not shared:
        p[2:, [8, 9]], p[2:, [0, 1]] = p[2:, [0, 1]], 0.0
    return SequenceClasses(p / p.sum(axis=1, keepdims=True), (0, 0, 1, 1))


QUERIES = np.array([6, 7])


def local_score(classes: SequenceClasses, skip: str, ratio: float, time: float = 1e4) -> float:
    """The score of token 1 under the first query after training with a residual connection."""
    data = population.of_classes(classes, QUERIES, VOCABULARY)
    end = population.flow(data, population.start(data), 1.0, 1 / ratio, np.array([time]), skip)
    return float(end[0].z[0, 0, 1])


@dataclass(frozen=True)
class Modified:
    """The first class after training the decoder by (26) with a residual connection.

    Attributes:
        force: slope of the score of token 1 under the first query.
        same: beta / iota for the other class of the query.
        other: largest |beta| / iota for a class of the other query.
        correlation: f_n . f_n' of the two classes of the first query, normalised.
    """

    force: float
    same: float
    other: float
    correlation: float


def modified_force(classes: SequenceClasses, skip: str, time: float = 20.0) -> Modified:
    """The decoder under (26) for some steps, and what it then does to the attention.

    Args:
        classes: the data.
        skip: residual connection, "before" or "after".
        time: steps of batch size 1.
    """
    data = population.of_classes(classes, QUERIES, VOCABULARY)
    first = population.start(data)
    f = population.inputs(data, population.scores(data, first.z), skip)[0]
    norm = float(np.linalg.norm(f[0]))  # the same for all: 1, or the root of 2
    f = f / norm
    E = families.correlations(f)
    zero = decoder.zero_decoder(VOCABULARY, E)
    state = decoder.flow(zero, norm**2, np.array([time]), modified=True)[0]
    Y = (f.T @ state.A)[None] / norm
    slope = population.gradient(data, State(Y, first.z), skip)
    a = decoder.gradient_coefficients(state, 0) / decoder.gradient_coefficients(state, 0)[0]
    return Modified(
        float(slope.z[0, 0, 1]), float(-a[1]), float(np.abs(a[2:]).max()), float(E[0, 1])
    )


WEIGHTS = ((0.1, 0.3), (0.1, 1.0), (0.3, 0.3), (0.3, 1.0))  # of the common and the local token
CONNECTIONS = {"before": "LN(X^T b + x_T)", "after": "LN(X^T b) + x_T"}


def check_tian2023_app_residual(
    skips: Sequence[str] = ("after", "before"), ratio: float = 100.0, shared: bool = True
) -> Check:
    """With a residual connection a token that is distinct within its query must gain.

    Args:
        skips: which connections to judge.
        ratio: eta_Y / eta_Z of the coupled flows.
        shared: whether classes of different queries share contextual tokens.
    """
    cases, readings = [], []
    for skip in skips:
        for dynamics in ("coupled flow", "decoder under (26)"):
            slacks = []
            for common, local in WEIGHTS:
                one = two_queries(common, local, shared)
                coupled = dynamics == "coupled flow"
                slack = (
                    local_score(one, skip, ratio) if coupled else modified_force(one, skip).force
                )
                where = f"{CONNECTIONS[skip]}, {dynamics}, weights {common:g} (common to all) and "
                cases.append(Case(f"{where}{local:g} (common to the queries)", slack))
                slacks.append(slack)
            lost = sum(slack < 0 for slack in slacks)
            text = f"{CONNECTIONS[skip]}, {dynamics}: the token loses for {lost} of {len(WEIGHTS)}"
            readings.append(
                Reading(f"{text} weights", Verdict.REFUTED if lost else Verdict.CONSISTENT)
            )
    found = modified_force(two_queries(*WEIGHTS[1], shared), "after")
    check = judge(
        "tian2023-app-residual",
        cases,
        unit="combinations of weights, connections and dynamics",
        claim="A token that is distinct among the classes of its query gains",
        tolerance=1e-9,  # far below every score seen, far above the integrator's error
        witness="Two queries have two classes each; token 0 occurs in all four, token 1 in one of "
        "each query, and each class has a token of its own with weight 1.",
        numbers={
            "same": f"{found.same:.2f}",
            "other": f"{found.other:.2f}",
            "correlation": f"{found.correlation:.2f}",
        },
    )
    if not all(reading.verdict is Verdict.REFUTED for reading in readings):
        return check
    return replace(check, readings=tuple(readings))


def control_tian2023_app_residual() -> Control:
    """Queries that share no contextual token: the same judging finds no violation."""
    return Control(
        "The missing hypothesis added, for LN(X^T b) + x_T: queries share no contextual token. The "
        "check must find no violation then.",
        Verdict.CONSISTENT,
        check_tian2023_app_residual(skips=("after",), shared=False).verdict,
    )
