"""The names of `import ntpcore`: data, structure, max-margin attention, training.

Everything here is loaded when it is first used. Data, structure, and `max_margin` work without
numpy; `MaxMargin.to_numpy` and `fit` need it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.data.order import Pair, PartialOrder, Structure, analyse
from ntpcore.exact import any_order, margin
from ntpcore.exact.columns import solve_all
from ntpcore.exact.margin import Multipliers, Scores, closed_form

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ntpcore.huang2024.prediction import Prediction
    from ntpcore.huang2024.problem import Problem
    from ntpcore.huang2024.runs import Run

__all__ = [
    "Fit",
    "InputError",
    "MaxMargin",
    "analyse",
    "closed_form",
    "fit",
    "from_samples",
    "from_sentences",
    "max_margin",
    "read",
]


@dataclass(frozen=True)
class MaxMargin:
    """The max-margin attention matrix W_kq* of a data set, exact and with a certificate.

    Attributes:
        vocabulary: the tokens, in the order of rows and columns of `to_numpy`.
        orders: for each query that compares tokens, its relation.
        columns: for each of these queries the score of each compared token; all others score 0.
        multipliers: for each of them, the positive multipliers that prove its scores optimal.
        components: for each of them, the sets of tokens that lie above each other in a circle and
            so share a score; single tokens are left out.
    """

    vocabulary: tuple[str, ...]
    orders: Mapping[str, PartialOrder]
    columns: Mapping[str, Scores]
    multipliers: Mapping[str, Multipliers]
    components: Mapping[str, tuple[tuple[str, ...], ...]]

    @cached_property
    def norm_squared(self) -> Fraction:
        """||W_kq*||^2."""
        return margin.norm_squared(self.columns.values())

    @property
    def norm(self) -> float:
        """||W_kq*||."""
        return math.sqrt(self.norm_squared)

    @property
    def support_vectors(self) -> dict[str, tuple[Pair, ...]]:
        """For each query the pairs (upper, lower) with a positive multiplier, sorted."""
        return {query: tuple(sorted(found)) for query, found in self.multipliers.items()}

    def certificate_errors(self) -> list[str]:
        """What keeps scores and multipliers from proving each other optimal; empty for a proof."""
        return [
            f"query {query}: {error}"
            for query, order in self.orders.items()
            for error in any_order.certificate_errors(
                order, self.columns[query], self.multipliers[query]
            )
        ]

    def to_numpy(self) -> NDArray[np.float64]:
        """W_kq*, shape (|V|, |V|): entry [i, j] is the score of token i under query j."""
        import numpy as np

        number = {token: place for place, token in enumerate(self.vocabulary)}
        W = np.zeros((len(number), len(number)))
        for query, scores in self.columns.items():
            for token, score in scores.items():
                W[number[token], number[query]] = float(score)
        return W


def max_margin(
    data: Dataset | Structure | Mapping[str, PartialOrder],
    collocation: Mapping[str, str] | None = None,
) -> MaxMargin:
    """The exact max-margin solution of a data set, whatever its orders are.

    Orders of two levels, as Assumption 1 of huang2024 gives them, are those of equation (3).
    Chains, several levels, and cycles are solved as the graph-SVM of Li et al. (2024): tokens of a
    cycle share their score.

    Args:
        data: a data set, what `analyse` said of it, or a relation for each query.
        collocation: the next token of tokens that start no sentence.

    Raises:
        ValueError: the collocation is not defined on the whole vocabulary; names the tokens.

    Source: huang2024, equation (3); Li et al. (2024).

    >>> found = max_margin(from_sentences(["S V O P", "V O P", "O P P", "P S V"]))
    >>> found.columns["O"], found.norm_squared
    ({'O': Fraction(2, 3), 'S': Fraction(-1, 3), 'V': Fraction(-1, 3)}, Fraction(13, 6))
    """
    vocabulary, orders = _orders(data, collocation)
    columns: dict[str, Scores] = {}
    multipliers: dict[str, Multipliers] = {}
    circles: dict[str, tuple[tuple[str, ...], ...]] = {}
    two_levels = {query: order for query, order in orders.items() if not order.confused}
    solutions = solve_all(two_levels)
    for query, order in orders.items():
        if query in two_levels:
            circles[query] = ()
            columns[query] = solutions[query].scores
            multipliers[query] = solutions[query].multipliers
        else:
            found = any_order.solve(order)
            circles[query] = tuple(part for part in found.components if len(part) > 1)
            columns[query], multipliers[query] = found.scores, found.multipliers
    return MaxMargin(vocabulary, orders, columns, multipliers, circles)


def _orders(
    data: Dataset | Structure | Mapping[str, PartialOrder],
    collocation: Mapping[str, str] | None,
) -> tuple[tuple[str, ...], Mapping[str, PartialOrder]]:
    """The vocabulary and the relation of each query."""
    if isinstance(data, Mapping):
        tokens = dict.fromkeys(data)
        tokens |= {token: None for order in data.values() for token in sorted(order.compared)}
        return tuple(tokens), data
    structure = analyse(data, collocation) if isinstance(data, Dataset) else data
    if structure.orders is None:
        missing = [token for token, following in structure.collocation.items() if following is None]
        listed = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ValueError(
            f"{structure.data.name}: the next token n is not defined for {listed}, so there are no "
            "orders; give it in collocation={token: next token}"
        )
    return structure.data.vocabulary, structure.orders


@dataclass(frozen=True, eq=False)
class Fit:
    """A layer trained by Algorithm 1 of huang2024 from zero.

    Attributes:
        problem: the data as training sees them.
        run: both stages, with the constants that the bounds depend on.
        snapshots: for each recorded step the entries of W_kq that move, shape (K,).
    """

    problem: Problem
    run: Run
    snapshots: Mapping[int, NDArray[np.float64]]

    @property
    def steps(self) -> NDArray[np.int64]:
        """The recorded steps of stage 2, shape (R,)."""
        return self.run.second.rows.step

    @property
    def loss(self) -> NDArray[np.float64]:
        """The cross-entropy (1) in nats at the recorded steps, shape (R,)."""
        return self.run.second.rows.loss

    @property
    def one_minus_cos(self) -> NDArray[np.float64]:
        """1 minus the cosine between W_kq and W_kq* at the recorded steps, shape (R,)."""
        return self.run.second.rows.one_minus_cos

    def W(self, step: int | None = None) -> NDArray[np.float64]:
        """W_kq at a recorded step, shape (|V|, |V|): entry [i, j] is token i under query j.

        Args:
            step: one of `steps`; None for the last one.

        Raises:
            ValueError: the step was not recorded.
        """
        import numpy as np

        wanted = int(self.steps[-1]) if step is None else step
        if wanted not in self.snapshots:
            near = ", ".join(str(one) for one in self.steps[-5:].tolist())
            raise ValueError(f"step {step} was not recorded; steps holds ..., {near}")
        W = np.zeros((self.problem.vocab_size, self.problem.vocab_size))
        W[self.problem.entry_token, self.problem.entry_query] = self.snapshots[wanted]
        return W

    def predict(self, sentence: str | Sequence[str]) -> Prediction:
        """What the trained layer predicts after a sentence of known tokens, and what it attends to.

        Raises:
            InputError: the sentence is empty, or a token is not in the vocabulary.
        """
        from ntpcore.huang2024.prediction import predict

        words = sentence.split() if isinstance(sentence, str) else sentence
        return predict(self.problem, self.run.second, words)


def fit(
    data: Dataset,
    *,
    steps: int = 900,
    steps1: int = 900,
    eta0: float | None = None,
    eta: float | None = None,
    record: Sequence[int] | None = None,
    collocation: Mapping[str, str] | None = None,
) -> Fit:
    """Train one layer of attention on a data set by Algorithm 1 of huang2024.

    Args:
        data: a data set that satisfies Assumption 1.
        steps: steps of stage 2, the normalized gradient descent on W_kq.
        steps1: steps of stage 1, taken by its exact law.
        eta0: step size of stage 1; None for 0.2 / sqrt(|V|) as in Section 7 of the paper.
        eta: step size of stage 2; None for 0.05 / sqrt(|V|).
        record: steps of stage 2 to record; None for an even grid in the logarithm.
        collocation: the next token of tokens that start no sentence.

    Raises:
        InputError: Assumption 1 fails, no sentence compares two tokens, or a number makes no sense.

    Source: huang2024, Algorithm 1.
    """
    from ntpcore.huang2024 import bounds, stage1, training
    from ntpcore.huang2024.problem import from_dataset
    from ntpcore.huang2024.runs import Run

    problem = from_dataset(data, collocation)
    eta0, eta = training.Settings(steps, steps1, eta0, eta).rates(problem.vocab_size)
    gap = stage1.gap(problem.vocab_size, steps1, eta0)
    wanted = sorted({int(one) for one in (training.log_grid(steps) if record is None else record)})
    wanted = [step for step in wanted if 0 <= step <= steps]
    if not wanted:
        raise InputError(f"record names no step from 0 to {steps}")
    trajectory, snapshots = None, {}
    for step in wanted:
        trajectory = training.run(
            problem, step, eta, gap, record=wanted, state=trajectory, brief=True
        )
        snapshots[step] = trajectory.state.weights.copy()
    assert trajectory is not None
    constants = bounds.constants(problem, eta0, eta, steps1)
    return Fit(problem, Run(data.name, problem, constants, trajectory), snapshots)
