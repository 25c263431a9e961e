"""The experiments on text: what is trained, on WikiText or the book's own sample, and made up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s8_wikitext import text_order, wikitext
from ntpbook.tian2023.s8_wikitext.text_order import Context
from ntpbook.tian2023.s8_wikitext.text_runs import Plan, Text, TextRun, changes, entropies
from ntpbook.tian2023.s8_wikitext.wikitext import Corpus
from ntpverdicts.once import once

Floats = NDArray[np.float64]

FOLDER = "WIKITEXT_DIR"  # environment variable that names the folder of WikiText
RATES = (1.0, 2.0, 3.0, 4.0, 5.0)
BATCH, LENGTH = 20, 35  # of the authors
WIDTH, UPDATES = 200, 1500  # of the authors, for Figure 7
RECORD = tuple(range(0, 751, 50))  # of this page
TRIED = tuple(range(0, 151, 10))  # on the book's own text, which decides nothing
PERMUTATIONS = 9999  # of the rates within each seed


def said(positional: bool) -> str:
    """With or without positions, in words."""
    return "with positions" if positional else "without positions"


# What is trained


@dataclass(frozen=True, eq=False)
class Source:
    """The text of this page.

    Attributes:
        corpus: WikiText, or the book's own sample.
        text: its batches, held-out pieces and queries.
    """

    corpus: Corpus
    text: Text

    @property
    def size(self) -> int:
        """Number of tokens of the vocabulary."""
        return len(self.corpus.vocabulary)


def source(vocabulary: int = 500) -> Source:
    """WikiText from the folder that WIKITEXT_DIR names, or the book's own sample without one."""
    return _source(os.environ.get(FOLDER, ""), vocabulary)


@once
def _source(folder: str, vocabulary: int) -> Source:
    """The text in a folder."""
    corpus = wikitext.read_corpus(folder, vocabulary)
    text = Text(
        wikitext.segments(corpus.train, batch=BATCH, length=LENGTH),
        wikitext.pieces(corpus.held_out, count=32, length=LENGTH),
        wikitext.frequent_words(corpus, 40),
    )
    return Source(corpus, text)


def figure_7_plans(
    vocabulary: int, seeds: Sequence[int], record: tuple[int, ...], width: int
) -> list[Plan]:
    """One layer and three, with positions and without, at the authors' rates 5 and 10."""
    return [
        Plan(vocabulary, layers, positional, 5.0, 2.0, seed, record, width=width, hidden=width)
        for layers in (1, 3)
        for positional in (True, False)
        for seed in seeds
    ]


def figure_10_plans(
    vocabulary: int, seeds: Sequence[int], iterations: int, width: int, every: int = 0
) -> list[Plan]:
    """One layer, one rate for all parameters, with positions and without.

    Args:
        vocabulary: V.
        seeds: of each rate.
        iterations: number of updates.
        width: of the model.
        every: keep a record after so many updates; 0 for the start and the end only.
    """
    record = (*range(0, iterations, every or iterations), iterations)
    return [
        Plan(vocabulary, 1, positional, rate, 1.0, seed, record, width=width, hidden=width)
        for positional in (True, False)
        for rate in RATES
        for seed in seeds
    ]


def record(on: Source) -> tuple[int, ...]:
    """The numbers of updates after which attention is looked at, for Figure 7."""
    return RECORD if on.corpus.real else TRIED


def runs_7(vocabulary: int = 500, width: int = 32, seeds: int = 3) -> tuple[TextRun, ...]:
    """The runs of Figure 7."""
    on = source(vocabulary)
    plans = figure_7_plans(on.size, range(1, seeds + 1), record(on), width)
    return trained(tuple(plans), on)


def runs_10(vocabulary: int = 500, width: int = 32, seeds: int = 3) -> tuple[TextRun, ...]:
    """The runs of Figure 10."""
    on = source(vocabulary)
    # Recorded as often as the others, so that one compiled loop serves both.
    every = record(on)[1]
    plans = figure_10_plans(on.size, range(1, seeds + 1), 8 * every, width, every)
    return trained(tuple(plans), on)


@once
def trained(plans: tuple[Plan, ...], on: Source) -> tuple[TextRun, ...]:
    """Train some plans; the claims of a page share their runs."""
    from ntpbook.tian2023.s8_wikitext import text_model  # here: it loads JAX

    return tuple(text_model.train_all(plans, on.text))


# Figure 7: the runs of one model


@dataclass(frozen=True, eq=False)
class Model:
    """One model of Figure 7, with a run for each seed.

    Attributes:
        layers: how many.
        positional: whether positions are added.
        runs: one for each seed.
        real: whether they ran on WikiText.
    """

    layers: int
    positional: bool
    runs: tuple[TextRun, ...]
    real: bool

    @property
    def name(self) -> str:
        """The model in words."""
        return f"{self.layers} layer{'s' if self.layers > 1 else ''} {said(self.positional)}"

    @property
    def key(self) -> str:
        """Begin of the names of its numbers."""
        return f"{'with' if self.positional else 'no'}_{self.layers}"

    @property
    def full(self) -> bool:
        """Whether it has the authors' size."""
        plans = [run.plan for run in self.runs]
        return all(plan.width >= WIDTH and plan.record[-1] >= UPDATES for plan in plans)


def models_of(runs: Sequence[TextRun], real: bool) -> list[Model]:
    """The four models of Figure 7."""
    found = []
    for layers in (1, 3):
        for positional in (True, False):
            kind = (layers, positional)
            own = [run for run in runs if (run.plan.layers, run.plan.positional) == kind]
            found.append(Model(layers, positional, tuple(own), real))
    return found


def models(vocabulary: int = 500, width: int = 32, seeds: int = 3) -> list[Model]:
    """The four models, trained in a small form."""
    return models_of(runs_7(vocabulary, width, seeds), source(vocabulary).corpus.real)


def thirds(run: TextRun) -> tuple[float, float]:
    """Change of attention over the first and over the last third of the updates.

    Raises:
        ValueError: the recorded steps do not fall into thirds.
    """
    record = np.array(run.plan.record)
    places = [np.flatnonzero(3 * record == k * record[-1]) for k in range(4)]
    if any(len(place) != 1 for place in places):
        raise ValueError(f"{run.plan.record} has no record at every third of the updates")
    found = changes(run.attention[[int(place[0]) for place in places]])
    return float(found[0]), float(found[-1])


def fine(run: TextRun) -> tuple[float, float]:
    """Mean change between neighbouring records in the first and in the last third of them."""
    found = changes(run.attention)
    many = len(found) // 3
    return float(found[:many].mean()), float(found[-many:].mean())


# Figure 10: entropy by learning rate


@dataclass(frozen=True, eq=False)
class Sweep:
    """Mean attention entropy at the end, for several learning rates.

    Attributes:
        positional: whether positions are added.
        rates: (R,), increasing.
        entropy: (R, seeds).
        real: whether the runs were on WikiText.
    """

    positional: bool
    rates: tuple[float, ...]
    entropy: Floats
    real: bool

    @property
    def name(self) -> str:
        """With or without positions."""
        return said(self.positional)


def sweeps_of(runs: Sequence[TextRun], real: bool) -> list[Sweep]:
    """The runs of Figure 10 with positions, and those without."""
    found = []
    for positional in (True, False):
        chosen = [run for run in runs if run.plan.positional is positional]
        rates = sorted({run.plan.rate for run in chosen})
        ends = [
            [float(entropies(run.attention[-1])) for run in chosen if run.plan.rate == rate]
            for rate in rates
        ]
        found.append(Sweep(positional, tuple(rates), np.array(ends), real))
    return found


def sweeps(vocabulary: int = 500, width: int = 32, seeds: int = 3) -> list[Sweep]:
    """Both sweeps, trained in a small form."""
    return sweeps_of(runs_10(vocabulary, width, seeds), source(vocabulary).corpus.real)


def trend(values: Floats) -> tuple[float, float]:
    """Mean over seeds of the rank correlation of rate and entropy, and how often chance is below.

    Args:
        values: (rates, seeds), rates increasing.
    """
    places = np.arange(len(values)) - (len(values) - 1) / 2
    rank = np.argsort(np.argsort(values, axis=0, kind="stable"), axis=0) - places.max()
    scale = (places * places).sum() * values.shape[1]
    rng = np.random.default_rng(0)
    observed = float(places @ rank.sum(axis=1) / scale)
    drawn = rng.permuted(np.broadcast_to(rank.T, (PERMUTATIONS, *rank.T.shape)), axis=2)
    others = drawn.sum(axis=1) @ places / scale
    below = int((others <= observed + 1e-12).sum())  # equal ranks may differ by rounding
    return observed, (1 + below) / (1 + PERMUTATIONS)


# The order of the theory


@dataclass(frozen=True, eq=False)
class Order:
    """How far training moved scores, and what the text says of the same queries and keys.

    Attributes:
        name: the model in words.
        scores: (Q, V), end minus start, mean over seeds.
        context: counts of the training text.
        real: whether that is WikiText.
    """

    name: str
    scores: Floats
    context: Context
    real: bool


def moved_scores(runs: Sequence[TextRun]) -> Floats:
    """How far training moved the scores of each query and key, mean over seeds: (Q, V)."""
    return np.asarray(np.mean([run.scores[-1] - run.scores[0] for run in runs], axis=0))


def order_of(runs: Sequence[TextRun], on: Source) -> Order:
    """The order in the runs with one layer and without positions."""
    plain = [run for run in runs if run.plan.layers == 1 and not run.plan.positional]
    context = text_order.count_contexts(on.text.segments, on.text.queries, on.size)
    return Order("1 layer without positions", moved_scores(plain), context, on.corpus.real)


def orders(vocabulary: int = 500, width: int = 32, seeds: int = 3) -> list[Order]:
    """The order in the runs of Figure 7."""
    return [order_of(runs_7(vocabulary, width, seeds), source(vocabulary))]


# Made up, to see that a check can hold and can fail


def mixture(share: float, place: int, length: int = 8) -> Floats:
    """Attention that gives a share to one key of each row, and the rest to all alike."""
    even = np.tril(np.ones((length, length))) / np.arange(1, length + 1)[:, None]
    one = np.zeros((length, length))
    one[np.arange(length), np.minimum(place, np.arange(length))] = 1
    mixed: Floats = (1 - share) * even + share * one
    return mixed


def made_up_run(plan: Plan, shares: Sequence[float]) -> TextRun:
    """A run whose attention gives these shares to single keys at its records."""
    maps = np.array([[mixture(share, 2 * piece) for piece in range(3)] for share in shares])
    none = np.zeros(0, dtype=np.float32)
    losses = np.zeros(len(shares), dtype=np.float32)
    return TextRun(plan, {}, none, losses, maps.astype(np.float32), np.zeros((2, 1, 1), np.float32))


def snapping() -> list[Model]:
    """Attention that becomes sparse fast and then rests, in all four models and two seeds."""
    plans = figure_7_plans(9, (1, 2), tuple(range(16)), 4)
    shares = 0.9 * (1 - np.exp(-np.arange(16) / 3))
    return models_of([made_up_run(plan, shares.tolist()) for plan in plans], real=False)


def restless(run: TextRun) -> TextRun:
    """The run with attention on other pieces in each record of its last third."""
    attention = run.attention.copy()
    many = len(attention) // 3
    for place in range(len(attention) - many, len(attention)):
        shift = 1 + place % (attention.shape[1] - 1)  # never all the way round
        attention[place] = np.roll(attention[place], shift, axis=0)
    return replace(run, parameters={}, attention=attention)


def played_backwards(run: TextRun) -> TextRun:
    """The run in the reverse order."""
    return replace(run, parameters={}, attention=run.attention[::-1])


def made_up_sweeps(means: Sequence[float] = (2.5, 2.4, 2.2, 2.1, 2.0)) -> list[Sweep]:
    """Entropies around these means at the five rates, four seeds, with positions and without."""
    scatter = 0.01 * np.array([-1, -0.3, 0.2, 1.1])
    entropy = np.array(means)[:, None] + scatter
    return [Sweep(positional, RATES, entropy, False) for positional in (True, False)]


def rising_sweeps() -> list[Sweep]:
    """The same with means that rise with the rate."""
    return made_up_sweeps((2.0, 2.1, 2.2, 2.4, 2.5))


def made_up_order(sign: int = 1) -> list[Order]:
    """Scores that follow distinctness and co-occurrence, in eight queries and a hundred keys."""
    rng = np.random.default_rng(0)
    together, agreement = rng.integers(10, 90, size=(8, 101)), rng.random((8, 101))
    context = Context(together.astype(float), agreement, np.full(101, 1000.0))
    return [Order("made up", sign * (agreement + together / 90), context, False)]


def opposite_order() -> list[Order]:
    """Scores that follow the opposite."""
    return made_up_order(-1)
