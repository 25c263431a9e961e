"""The hypotheses in force inside Appendix C of Huang et al., tested on the data of an instance.

Section 3 of the paper adds one standing fact to its assumptions: every beginning of a training
sentence is a training sentence ("prefix closure"). Section 4.1 adds another, which
`ntpcore.data.order.analyse` counts as a part of Assumption 1: the next token of a sentence is n of
one of its tokens ("source").
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ntpcore.data.dataset import Dataset
from ntpcore.data.order import analyse
from ntpcore.huang2024.asymptotics import Floats
from ntpcore.huang2024.problem import Problem
from ntpverdicts.compare import Assumed, assume

REALIZABLE = r"Assumption 1, and every next token is $\mathrm n$ of a token of its sentence"
ORTHONORMAL = "Assumption 2"
FREQUENT = "Assumption 3"
CLOSURE = "prefix closure"
FACTS = (REALIZABLE, ORTHONORMAL, FREQUENT, CLOSURE)


def facts(data: Dataset, E: Floats | None = None) -> Iterator[Assumed]:
    """Whether a data set meets Assumptions 1 to 3 and the standing facts.

    E: (d, |V|), the embedding. Without one, token x is e_x, as in all runs of this book, which
    compute with one weight per pair of tokens.
    """
    found = analyse(data)
    yield assume(REALIZABLE, found.realizable.holds is True)
    yield assume(ORTHONORMAL, _orthonormal(np.eye(len(data.vocabulary)) if E is None else E))
    yield assume(FREQUENT, found.frequent.holds is True)
    yield assume(CLOSURE, data.prefix_closed)


def facts_of_problem(problem: Problem) -> Iterator[Assumed]:
    """The same for a training problem, which forgets the sentences.

    What is left of Assumption 1 is tested: n is a bijection and no token is confused. Source needs
    the sentences; `ntpcore.huang2024.problem` refuses to make a problem of data that break it.
    """
    bijection = sorted(problem.following.tolist()) == list(range(problem.vocab_size))
    clear = not any(order.confused for order in problem.orders.values())
    best = problem.optimal_count[problem.sample_of]
    yield assume(REALIZABLE, bijection and clear)
    yield assume(ORTHONORMAL, _orthonormal(np.eye(problem.vocab_size)))
    yield assume(FREQUENT, bool((problem.rival_count <= best).all()))
    yield assume(CLOSURE, problem.prefix_closed)


def _orthonormal(E: Floats) -> bool:
    """Whether the columns of an embedding are orthonormal, to rounding."""
    return bool(np.allclose(E.T @ E, np.eye(E.shape[1]), rtol=0, atol=1e-12))
