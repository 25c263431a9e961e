"""Checks of the equations of Appendix C that the lemmas of stage 2 start from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import numpy as np

from ntpbook.shared.constraints import sample_violations
from ntpcore.data.dataset import Dataset
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.exact import margin
from ntpcore.huang2024 import stage1, training, transformer
from ntpcore.huang2024.problem import from_dataset
from ntpcore.verdicts.claims import Check, Control, Verdict

# Equations (9) and (10)


def check_huang2024_eq_9(datasets: Iterable[Dataset], seed: int = 7, place: int = -1) -> Check:
    """The weights of (9) are the attention of Section 3, at random W_kq and rotated tokens.

    Args:
        datasets: sentences to try.
        seed: of the random matrices and embeddings.
        place: the position that is taken for the query; -1 is the last one.
    """
    label, unit = "huang2024-eq-9", "sentences"
    rng = np.random.default_rng(seed)
    tried, worst = 0, 0.0
    for data in datasets:
        size = len(data.vocabulary)
        E = np.linalg.qr(rng.normal(size=(size, size)))[0]
        W = rng.normal(size=(size, size)) * 3
        for sample in data.samples():
            tried += 1
            X = transformer.embed(sample.sentence, data.vocabulary, E)
            scores = [math.exp(x @ W @ X[:, place]) for x in X.T]  # (9), term by term
            weights = np.array(scores) / math.fsum(scores)
            error = float(np.abs(weights - transformer.attention(X, W)).max())
            worst = max(worst, error)
            if error > 1e-12:  # a few hundred roundings
                shown = " ".join(sample.sentence)
                return Check(label, Verdict.REFUTED, tried, unit, "The two differ.", witness=shown)
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"Equation (9), summed term by term, gives the attention weights of Section 3 on {tried} "
        f"sentences; the largest difference is {worst:.0e}.",
        parameters={"seed": seed},
    )


def control_huang2024_eq_9() -> Control:
    """The first token of a sentence is not its query."""
    found = check_huang2024_eq_9([example_1()], place=0).verdict
    return Control("The first token taken for the query.", Verdict.REFUTED, found)


def check_huang2024_eq_10(
    datasets: Iterable[Dataset], steps: int = 20, seed: int = 7, power: float = 1.0
) -> Check:
    """The update (10), dense and with the gradient as (6) prints it, is what `training` runs.

    Args:
        datasets: data to train on.
        steps: number of steps.
        seed: of the data.
        power: of the norm by which the gradient is divided; (10) has 1.
    """
    label, unit = "huang2024-eq-10", "data sets"
    eta, eta0, steps1 = 0.3, 0.5, 20
    tried, worst = 0, 0.0
    for data in datasets:
        tried += 1
        problem = from_dataset(data)
        W_ov = stage1.weights(problem.following, steps1, eta0)
        E, W = np.eye(problem.vocab_size), np.zeros((problem.vocab_size,) * 2)
        for _ in range(steps):
            G = transformer.attention_gradient(data, W_ov, W, E)
            W = W - eta * G / np.linalg.norm(G) ** power
        gap = stage1.gap(problem.vocab_size, steps1, eta0)
        ours = np.zeros_like(W)
        state = training.run(problem, steps, eta, gap).state
        ours[problem.entry_token, problem.entry_query] = state.weights
        error = float(np.abs(ours - W).max() / np.abs(W).max())
        worst = max(worst, error)
        if error > 1e-8:  # the dense gradient subtracts nearly equal numbers
            witness = f"{data.name}, |V| = {problem.vocab_size}: relative difference {error:.1e}"
            return Check(label, Verdict.REFUTED, tried, unit, "The two differ.", witness=witness)
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"On {tried} data sets, {steps} dense steps of (10) with the gradient (6) give the "
        f"matrix that the training library gives, up to a relative {worst:.0e}.",
        parameters={"seed": seed},
    )


def control_huang2024_eq_10() -> Control:
    """Plain gradient descent is another rule."""
    found = check_huang2024_eq_10([example_1()], power=0.0).verdict
    return Control("Plain gradient descent, without the norm.", Verdict.REFUTED, found)


# Equation (12)


def check_huang2024_eq_12(
    datasets: Iterable[Dataset], seed: int = 7, scale: Fraction = Fraction(1)
) -> Check:
    """(12), position by position, has the pairs of (3) for constraints and one solution.

    Another matrix of the same norm must break a constraint; the proof of Lemma 7 starts there.

    Args:
        datasets: realizable data.
        seed: of the other matrices.
        scale: factor of the solution that is tested; 1 is right.
    """
    label, unit = "huang2024-eq-12", "data sets"
    rng = np.random.default_rng(seed)
    tried = constraints = others = 0
    for data in datasets:
        tried += 1
        problem = from_dataset(data)
        orders = analyse(data).orders or {}
        asked = {(q, a, b) for q, order in orders.items() for a, b in order.pairs}
        columns = {
            q: {x: scale * score for x, score in solution.scores.items()}
            for q, solution in margin.W_kq_star(orders).items()
        }
        wrong, count = sample_violations(data, columns)
        constraints += count
        if constraints_12(data) != asked:
            wrong = ["the constraints of (12) and (3) differ"]
        star = problem.W_kq_star
        for _ in range(20):
            others += 1
            W = star + rng.normal(size=len(star)) * 10.0 ** rng.uniform(-4, 1)
            W *= problem.norm / np.linalg.norm(W)
            if (W[problem.pairs[:, 0]] - W[problem.pairs[:, 1]]).min() >= 1:
                wrong.append("another matrix of the same norm meets all constraints")
        if wrong:
            return Check(
                label,
                Verdict.REFUTED,
                tried,
                unit,
                "A property of (12) fails.",
                witness=f"{data.name}: {wrong[0]}",
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        unit,
        f"On {tried} data sets the constraints of (12) are the pairs of (3), the exact solution "
        f"meets all {constraints} of them, and each of {others} other matrices of its norm "
        "breaks one.",
        parameters={"seed": seed},
        by_hand=("a strictly convex objective has one minimiser",),
    )


def constraints_12(data: Dataset) -> set[tuple[str, str, str]]:
    """Query, optimal and other token of each constraint of (12), read off position by position."""
    collocation = analyse(data).collocation
    found = set()
    for sample in data.samples():
        query = sample.sentence[-1]
        for best, other in product(sample.sentence, repeat=2):
            if collocation[best] == sample.next_token != collocation[other]:
                found.add((query, best, other))
    return found


def control_huang2024_eq_12() -> Control:
    """The solution shrunk by a tenth breaks constraints."""
    found = check_huang2024_eq_12([example_1()], scale=Fraction(9, 10)).verdict
    return Control("The solution of Example 1, shrunk by a tenth.", Verdict.REFUTED, found)
