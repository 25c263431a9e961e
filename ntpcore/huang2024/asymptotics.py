"""How W_kq turns towards its limit at late times: 1 - cos ~ c / (t eta)^2, and when it does not.

Once the attention is nearly one-hot, the loss excess is a sum of C_e e^(-u_e) over the tight pairs
e, with margins u = B W, and smaller terms. If a dual solution is positive on every tight pair, W(t)
- t eta W_star / ||W_star|| settles at a residual R that minimises the convex function

    log sum_e C_e e^(-(B R)_e) + <R, W_star> / ||W_star||^2,

and (t eta)^2 (1 - cos) tends to half the squared length of R across W_star. If some tight pair
cannot carry a multiplier (a degenerate pair), there is no minimiser and R grows like a logarithm.
Pairs with slack move sums between the tight components before they die out; that part of R depends
on the run. Where each query has one optimal token, R has a closed form (`star_residual`).
`ours-sharp-rate` and `ours-logarithm-law` in this project's book prove all this for stage 2, under
Assumptions 1 to 3 and for step sizes below max(||W_star||, 2 / ||W_star||).
"""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ntpcore.data.order import Pair, PartialOrder
from ntpcore.exact.margin import Solution
from ntpcore.huang2024.problem import Problem

Floats = NDArray[np.float64]


def tight_pairs(order: PartialOrder, solution: Solution) -> set[Pair]:
    """The pairs whose margin is exactly 1 at the max-margin solution."""
    scores = solution.scores
    return {(a, b) for a, b in order.pairs if scores[a] - scores[b] == 1}


def degenerate_pairs(order: PartialOrder, solution: Solution) -> set[Pair]:
    """The tight pairs whose multiplier is zero in every dual solution, exactly.

    Dual solutions are the ways to ship fixed amounts from optimal to non-optimal tokens along the
    tight pairs. Given one, another uses the pair (a, b) iff units can be sent round a cycle through
    it: forward along any tight pair, back along a pair that carries some. That is to say, iff a and
    b are strongly connected.
    """
    tight = tight_pairs(order, solution)
    graph: nx.DiGraph[tuple[str, str]] = nx.DiGraph()
    graph.add_edges_from(((a, "above"), (b, "below")) for a, b in sorted(tight))
    carrying = (pair for pair, units in solution.multipliers.items() if units)
    graph.add_edges_from(((b, "below"), (a, "above")) for a, b in sorted(carrying))
    part = {
        node: place
        for place, nodes in enumerate(nx.strongly_connected_components(graph))
        for node in nodes
    }
    return {(a, b) for a, b in tight if part[a, "above"] != part[b, "below"]}


def degenerate(problem: Problem) -> dict[str, set[Pair]]:
    """The degenerate pairs of each query that has any."""
    found = {
        query: degenerate_pairs(order, problem.solutions[query])
        for query, order in problem.orders.items()
    }
    return {query: pairs for query, pairs in found.items() if pairs}


def star_residual(problem: Problem) -> Floats:
    """R where each query has one optimal token, in closed form: on prefix-closed data, (K,).

    Then R_o - R_j = log C_oj - log lambda_oj up to a multiple of the margins of W_star, with the
    multipliers lambda_oj = 1 / (1 + m), m rivals of o, and the entries of each query sum to zero.

    Raises:
        ValueError: a query has several optimal tokens.
    """
    if any(len(order.optimal) > 1 for order in problem.orders.values()):
        raise ValueError(
            "a query has several optimal tokens; the closed form of R needs one for each"
        )
    pairs, log_C = tight_terms(problem)
    size = np.bincount(pairs[:, 0], minlength=len(problem.W_kq_star))  # rivals of each o
    difference = log_C + np.log1p(size[pairs[:, 0]])
    R = np.zeros(len(problem.W_kq_star))
    np.add.at(R, pairs[:, 0], difference / (1 + size[pairs[:, 0]]))
    R[pairs[:, 1]] = R[pairs[:, 0]] - difference
    star = problem.W_kq_star
    across: Floats = R - star * float(R @ star) / problem.norm**2
    return across


def star_constant(problem: Problem) -> float:
    """c = ||R||^2 / 2 in 1 - cos ~ c / (t eta)^2 where each query has one optimal token.

    Raises:
        ValueError: a query has several optimal tokens.
    """
    R = star_residual(problem)
    return float(R @ R) / 2


def tight_terms(problem: Problem) -> tuple[NDArray[np.int64], Floats]:
    """The tight pairs (E, 2) and log C_e, C_e = sum_i pi_i (count of j) / (count of o)."""
    place = {(a, b): number for number, (a, b) in enumerate(problem.pairs.tolist())}
    logs = np.full(len(place), -math.inf)
    uppers = problem.optimal[problem.sample_of].tolist()
    terms = problem.log_pi[problem.sample_of] + problem.log_ratio
    for upper, lower, term in zip(uppers, problem.rival.tolist(), terms.tolist(), strict=True):
        at = place[upper, lower]
        logs[at] = np.logaddexp(logs[at], term)
    names, solutions = problem.vocabulary, problem.solutions
    keep = []
    for upper, lower in problem.pairs.tolist():
        scores = solutions[names[problem.entry_query[upper]]].scores
        a, b = names[problem.entry_token[upper]], names[problem.entry_token[lower]]
        keep.append(scores[a] - scores[b] == 1)
    kept = np.array(keep)
    return problem.pairs[kept], logs[kept]
