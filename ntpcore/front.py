"""The names of `import ntpcore`: data, structure, max-margin attention, training.

Each name is loaded at its first use. `MaxMargin.to_numpy` and `fit` need numpy; data, structure,
and `max_margin` do not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.data.next_tokens import next_tokens, structure_of
from ntpcore.data.order import Pair, PartialOrder, Structure, analyse
from ntpcore.exact import any_order, margin
from ntpcore.exact.columns import solve_all
from ntpcore.exact.margin import Multipliers, Scores, closed_form

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ntpcore.huang2024.plain import Prediction
    from ntpcore.huang2024.runs import Run

NextTokens = Mapping[str, str] | Mapping[str, str | None]  # a collocation, which may have gaps

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
    "next_tokens",
    "read",
]


@dataclass(frozen=True)
class MaxMargin:
    """The max-margin attention matrix W_kq* of a data set, exact and with a certificate.

    Attributes:
        vocabulary: the tokens, in the order of rows and columns of `to_numpy`.
        orders: for each query that compares tokens, its relation.
        columns: for each query in `orders`, the score of each compared token; other tokens score 0.
        multipliers: for each query in `orders`, the positive multipliers that prove its scores
            optimal.
        components: for each query in `orders`, the strongly connected components of two or more
            tokens; the tokens of a component share a score.
    """

    vocabulary: tuple[str, ...]
    orders: Mapping[str, PartialOrder]
    columns: Mapping[str, Scores]
    multipliers: Mapping[str, Multipliers]
    components: Mapping[str, tuple[tuple[str, ...], ...]]

    @cached_property
    def norm_squared(self) -> Fraction:
        """The squared Frobenius norm of W_kq*, exact."""
        return margin.norm_squared(self.columns.values())

    @property
    def norm(self) -> float:
        """The Frobenius norm of W_kq*, rounded."""
        return math.sqrt(self.norm_squared)

    @property
    def support_vectors(self) -> dict[str, tuple[Pair, ...]]:
        """For each query the pairs (upper, lower) with a positive multiplier, sorted."""
        return {query: tuple(sorted(found)) for query, found in self.multipliers.items()}

    def certificate_errors(self) -> list[str]:
        """The optimality conditions that scores and multipliers violate; empty if none."""
        return [
            f"query {query}: {error}"
            for query, order in self.orders.items()
            for error in any_order.certificate_errors(
                order, self.columns[query], self.multipliers[query]
            )
        ]

    def to_numpy(self) -> NDArray[np.float64]:
        """W_kq*, shape (|V|, |V|) for |V| tokens; [i, j] is the score of token i under query j."""
        return _matrix(
            self.vocabulary,
            (
                (token, query, float(score))
                for query, scores in self.columns.items()
                for token, score in scores.items()
            ),
        )


def _matrix(
    vocabulary: Sequence[str], entries: Iterable[tuple[str, str, float]]
) -> NDArray[np.float64]:
    """A matrix of attention, shape (|V|, |V|), from token, query, and value of its entries."""
    import numpy as np

    number = {token: place for place, token in enumerate(vocabulary)}
    W = np.zeros((len(number), len(number)))
    for token, query, value in entries:
        W[number[token], number[query]] = value
    return W


def max_margin(
    data: Dataset | Structure | Mapping[str, PartialOrder],
    collocation: NextTokens | None = None,
) -> MaxMargin:
    """The exact max-margin solution of a data set, for any orders of its tokens.

    If Assumption 1 of huang2024 holds, each order has two levels, and the problem is equation (3).
    Orders with chains, several levels, or cycles are solved as the graph-SVM of Li et al. (2024),
    in which the tokens of a cycle share their score.

    Args:
        data: a data set, the result of `analyse`, or a relation for each query.
        collocation: the next tokens that the data do not define, None for no next token; not used
            if `data` is a mapping or has orders. `next_tokens(data)` gives a map for any data.

    Raises:
        InputError: neither `data` nor `collocation` defines the next token of some tokens, which
            the message names; or the orders would hold too many pairs.
        ValueError: a relation in `data` has no pair.

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
    collocation: NextTokens | None,
) -> tuple[tuple[str, ...], Mapping[str, PartialOrder]]:
    """The vocabulary and the relation of each query."""
    if isinstance(data, Mapping):
        tokens = dict.fromkeys(data)
        tokens |= {token: None for order in data.values() for token in sorted(order.compared)}
        return tuple(tokens), data
    structure = data
    if isinstance(data, Dataset) or data.orders is None:
        samples = data if isinstance(data, Dataset) else data.data
        structure = structure_of(samples, collocation)
    assert isinstance(structure, Structure)
    return structure.data.vocabulary, structure.orders or {}


@dataclass(frozen=True, eq=False)
class Fit:
    """A layer trained from zero by Algorithm 1 of huang2024, with R recorded steps of stage 2.

    Attributes:
        structure: the data with the next-token map and the orders used in training.
        gap: A, the amount by which stage 1 raises the logit of n(x) above every other logit.
        steps: (R,), the recorded steps of stage 2.
        loss: (R,), the cross-entropy of equation (1) at each recorded step, in nats.
        entries: the K entries (token, query) of W_kq that are trained; all others stay 0.
        snapshots: for each recorded step, the values of `entries`, (K,).
        run: the run with the constants of the paper's bounds, for `ntpcore.huang2024.bounds`; None
            if Assumption 1 fails, because then no bound applies.
    """

    structure: Structure
    gap: float
    steps: NDArray[np.int64]
    loss: NDArray[np.float64]
    entries: tuple[tuple[str, str], ...]
    snapshots: Mapping[int, NDArray[np.float64]]
    run: Run | None

    def __repr__(self) -> str:
        """The number of samples and steps, the final loss, and whether the theorems apply."""
        return (
            f"Fit({self.structure.data.sample_count} samples, {int(self.steps[-1])} steps, loss "
            f"{self.loss[-1]:.6g} nats; {self.scope})"
        )

    @property
    def scope(self) -> str:
        """Whether Assumption 1 holds, and the consequences if not, in words."""
        if self.run is not None:
            return "Assumption 1 holds"
        return (
            "Assumption 1 fails, so Theorems 1, 2, and 3 of huang2024 and their bounds do not "
            "apply; max_margin gives the solution with cycles (Li et al., 2024), and no bound says "
            "whether, or how fast, training approaches it"
        )

    @cached_property
    def one_minus_cos(self) -> NDArray[np.float64]:
        """(R,), 1 minus the cosine between W_kq and W_kq* at R steps; nan if one is 0."""
        import numpy as np

        if self.run is not None:
            return self.run.second.rows.one_minus_cos
        columns = max_margin(self.structure).columns
        star = np.array([float(columns.get(q, {}).get(token, 0)) for token, q in self.entries])
        rows = np.array([self.snapshots[step] for step in self.steps.tolist()])
        norms = np.sqrt((rows**2).sum(1) * (star @ star))
        cosines: NDArray[np.float64] = np.full(len(rows), np.nan)
        np.divide(rows @ star, norms, where=norms > 0, out=cosines)
        return 1 - cosines

    def W(self, step: int | None = None) -> NDArray[np.float64]:
        """W_kq at a recorded step, (|V|, |V|) for |V| tokens; [i, j] is token i under query j.

        Args:
            step: one of `steps`; None for the last one.

        Raises:
            ValueError: the step was not recorded.
        """
        weights = zip(self.entries, self._at(step).tolist(), strict=True)
        return _matrix(self.structure.data.vocabulary, ((*entry, one) for entry, one in weights))

    def predict(self, sentence: str | Sequence[str], step: int | None = None) -> Prediction:
        """The layer's next-token probabilities and attention after a sentence of known tokens.

        Args:
            sentence: a list of tokens, or a string of tokens separated by white space.
            step: one of `steps`; None for the last one.

        Raises:
            InputError: the sentence is empty, or a token is not in the vocabulary.
            ValueError: the step was not recorded.
        """
        from ntpcore.huang2024 import plain

        words = sentence.split() if isinstance(sentence, str) else sentence
        weights = dict(zip(self.entries, self._at(step).tolist(), strict=True))
        taken = int(self.steps[-1]) if step is None else step
        return plain.predict(plain.Trained(self.structure, self.gap, weights, taken), words)

    def _at(self, step: int | None) -> NDArray[np.float64]:
        """The entries that move, at a recorded step."""
        wanted = int(self.steps[-1]) if step is None else step
        if wanted not in self.snapshots:
            near = ", ".join(str(one) for one in self.steps[-5:].tolist())
            raise ValueError(f"step {step} was not recorded; steps holds ..., {near}")
        return self.snapshots[wanted]


def fit(
    data: Dataset,
    *,
    steps: int = 900,
    steps1: int = 900,
    eta0: float | None = None,
    eta: float | None = None,
    record: Iterable[int] | None = None,
    collocation: NextTokens | None = None,
) -> Fit:
    """One layer of attention, trained on any data by Algorithm 1 of huang2024.

    If Assumption 1 fails, a warning says that no bound applies, and stage 1 trains only the columns
    of the tokens that have a next token.

    Args:
        data: a data set.
        steps: the number of steps of stage 2, the normalized gradient descent on W_kq.
        steps1: the number of steps of stage 1, computed by its exact law if Assumption 1 holds.
        eta0: step size of stage 1; None for 0.2 / sqrt(|V|) as in Section 7 of the paper.
        eta: step size of stage 2; None for 0.05 / sqrt(|V|) as in Section 7 of the paper.
        record: steps of stage 2 to record; None for a logarithmic grid.
        collocation: the next tokens that the data do not define, None for no next token.
            `next_tokens(data)` gives a map for any data.

    Raises:
        InputError: neither `data` nor `collocation` defines the next token of some token, the
            orders would hold too many pairs, no sentence has two distinct tokens, a step size or
            `steps1` is out of range, or `record` names no step from 0 to `steps`.

    Source: huang2024, Algorithm 1.

    >>> import warnings
    >>> data = from_sentences(["the cat sat", "the dog sat", "the cat ran"])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     found = fit(data, steps=100, collocation=next_tokens(data))
    >>> found.predict("the dog").likeliest, found.run
    ('sat', None)
    """
    import numpy as np

    from ntpcore.huang2024 import any_data, bounds, plain, plain_any, stage1, training
    from ntpcore.huang2024.problem import from_structure
    from ntpcore.huang2024.runs import Run

    wanted = sorted({int(one) for one in (training.log_grid(steps) if record is None else record)})
    wanted = [step for step in wanted if 0 <= step <= steps]
    if not wanted:
        raise InputError(f"record names no step from 0 to {steps}")
    structure = structure_of(data, collocation)
    size = len(structure.data.vocabulary)
    eta0, eta = training.Settings(steps, steps1, eta0, eta).rates(size)
    if structure.realizable.holds is True:
        problem = from_structure(structure)
        gap = stage1.gap(size, steps1, eta0)
        trajectory, snapshots = None, {}
        for step in wanted:
            trajectory = training.run(
                problem, step, eta, gap, record=wanted, state=trajectory, brief=True
            )
            snapshots[step] = trajectory.state.weights.copy()
        assert trajectory is not None
        places = zip(problem.entry_token.tolist(), problem.entry_query.tolist(), strict=True)
        names = problem.vocabulary
        run = Run(data.name, problem, bounds.constants(problem, eta0, eta, steps1), trajectory)
        rows, moving = trajectory.rows, tuple((names[i], names[j]) for i, j in places)
        return Fit(structure, gap, rows.step, rows.loss, moving, snapshots, run)
    entries: dict[tuple[str, str], int] = {}
    mixed = plain_any.samples(structure, entries)
    if not mixed:
        raise InputError(
            f"{data.name}: no sentence has two distinct tokens, so there is no attention to train; "
            "add a longer sentence"
        )
    gap = plain.stage1(size, steps1, eta0, sum(map(bool, structure.collocation.values())) or size)
    points = list(any_data.descend(any_data.terms(mixed, size), wanted, gap, eta))
    lone = plain_any.lone_loss(structure, gap)
    found = Fit(
        structure,
        gap,
        np.array(wanted, dtype=np.int64),
        np.array([point.loss + lone for point in points]),
        tuple(entries),
        {point.step: point.weights for point in points},
        None,
    )
    warnings.warn(f"{data.name}: {found.scope}", stacklevel=2)
    return found
