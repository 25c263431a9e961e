"""Forty data sets made as by Li et al. (2024), solved exactly and by a solver in floating point.

Li, Huang, Ildiz, Rawat, and Oymak, "Mechanics of Next Token Prediction with Self-Attention" (2024),
code at github.com/yixiao-huang/next-token-prediction. `draw` follows `data_generator` in
data_utils.py (commit eb66117) and `data_of` follows `next_data`: n sentences of T different tokens
out of K, labels drawn from all tokens and once more from the sentence if they are not in it, and
the whole drawn again until the graphs of the queries are acyclic, or one has a cycle. Their label
is a token of the sentence; here it is the source of the next token, which n maps one to one.
"""

from __future__ import annotations

import random

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest

import ntpcore as ntp
from ntpcore.data.dataset import Dataset
from ntpcore.data.order import PartialOrder
from ntpcore.front import MaxMargin

K, T, N = 6, 4, 6  # tokens, length and number of sentences, as in their notebooks
SEEDS = range(40)  # even: acyclic with chains; odd: with a cycle


def chained(order: PartialOrder) -> bool:
    """Whether some token lies above one token and below another."""
    return bool(order.confused)


def cyclic(order: PartialOrder) -> bool:
    """Whether some tokens lie above each other in a circle."""
    return not nx.is_directed_acyclic_graph(nx.DiGraph(sorted(order.pairs)))


def draw(rng: random.Random, same_last_token: bool) -> Dataset:
    """Sentences of T different tokens, each with one of its tokens as the source of its label."""
    names = [f"e{number}" for number in range(K)]
    n = dict(zip(names, rng.sample(names, K), strict=True))
    samples: list[tuple[list[str], str]] = [([token], n[token]) for token in names]
    for _ in range(N):
        sentence = rng.sample(names, T)
        label = rng.choice(names)
        if same_last_token and sentence[-1] != names[0]:
            if names[0] in sentence:
                sentence[sentence.index(names[0])] = sentence[-1]
            sentence[-1] = names[0]
        samples.append((sentence, n[label if label in sentence else rng.choice(sentence)]))
    return ntp.from_samples(samples)


def data_of(seed: int) -> Dataset:
    """The first data set of a seed whose orders are of the kind that is asked for."""
    rng = random.Random(seed)
    while True:
        data = draw(rng, same_last_token=seed % 4 < 2)
        orders = (ntp.analyse(data).orders or {}).values()
        has_cycle, has_chain = any(map(cyclic, orders)), any(map(chained, orders))
        if has_cycle == (seed % 2 == 1) and has_chain:
            return data


def literal_orders(data: Dataset) -> dict[str, set[tuple[str, str]]]:
    """Definition 1 for the samples, pair by pair: the token that has the label as its next token
    lies above all others of its sentence."""
    n = {one.sentence[0]: one.next_token for one in data.samples() if len(one.sentence) == 1}
    found: dict[str, set[tuple[str, str]]] = {}
    for one in data.samples():
        pairs = {
            (a, b) for a in one.sentence for b in one.sentence if n[a] == one.next_token != n[b]
        }
        if pairs:
            found.setdefault(one.sentence[-1], set()).update(pairs)
    return found


def graph_svm(pairs: set[tuple[str, str]]) -> dict[str, float]:
    """Graph-SVM of one query by Clarabel: min |w|^2, equal scores on cycles, margins of 1 else."""
    names = sorted({token for pair in pairs for token in pair})
    graph = nx.DiGraph(sorted(pairs))
    rows = []
    w = cp.Variable(len(names))
    for a, b in sorted(pairs):
        margin = w[names.index(a)] - w[names.index(b)]
        rows.append(margin == 0 if nx.has_path(graph, b, a) else margin >= 1)
    within = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w)), rows)
    problem.solve(solver=cp.CLARABEL, **within)
    assert problem.status == cp.OPTIMAL
    return dict(zip(names, np.asarray(w.value).tolist(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_exact_solution_is_that_of_a_float_solver(seed: int) -> None:
    data = data_of(seed)
    exact: MaxMargin = ntp.max_margin(data)
    literal = literal_orders(data)
    assert {query: set(order.pairs) for query, order in exact.orders.items()} == literal
    for query, pairs in literal.items():
        wanted = graph_svm(pairs)
        found = {token: float(score) for token, score in exact.columns[query].items()}
        assert found == pytest.approx(wanted, abs=1e-5)
    assert exact.certificate_errors() == []


def test_half_of_the_data_sets_are_acyclic_with_chains_and_half_are_cyclic() -> None:
    for seed in SEEDS:
        exact = ntp.max_margin(data_of(seed))
        circles = [part for parts in exact.components.values() for part in parts]
        assert bool(circles) == (seed % 2 == 1)
        assert any(order.confused for order in exact.orders.values())  # a chain, or a cycle
