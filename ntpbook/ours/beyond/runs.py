"""Runs with one switch turned, and sentences kept back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ntpbook.ours.beyond import layers
from ntpbook.ours.beyond.layers import KQ, OV, Floats, Optimiser, TrainedLayers
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.examples import example_1
from ntpcore.exact import margin
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import paper_rates
from ntpverdicts.once import once

STEPS_1 = 900  # of stage 1, as in the paper's experiment
RECORD = (10, 30, 100, 200, 500, 1000, 2000, 5000)

AS_PRINTED = "as in the paper"
SMALL_START = "random start, entries of size 0.1"
LARGE_START = "random start, entries of size 1"
PLAIN = "plain gradient descent in stage 2"
ADAM = "Adam in both stages"
JOINT = "both layers at once, by one normalized gradient"
ON_1 = "stage 1 on the loss (1)"
SWITCHES = (AS_PRINTED, SMALL_START, LARGE_START, PLAIN, ADAM, JOINT, ON_1)
TURNING, STUCK = (AS_PRINTED, SMALL_START), (PLAIN, ADAM)


@dataclass(frozen=True, eq=False)
class Turned:
    """A run of both stages with one switch turned.

    Attributes:
        data: what it was trained on.
        switch: which switch.
        problem: the training problem.
        run: the layers at `RECORD`.
    """

    data: str
    switch: str
    problem: Problem
    run: TrainedLayers

    @property
    def name(self) -> str:
        """Data and switch."""
        return f"{self.data}, {self.switch}"

    def attention(self) -> Floats:
        """1 - cos of W_kq to the max-margin attention, at the recorded steps."""
        star = layers.W_kq_star(self.problem)
        return np.array([layers.one_minus_cos(W, star) for W in self.run.W_kq])

    def exponent(self) -> float:
        """Exponent of t in that, over the last decade of steps."""
        at = self.run.step.index(self.run.step[-1] // 10)
        values = self.attention()
        return float(np.log10(values[-1] / values[at]))

    def feed_forward(self) -> float:
        """1 - cos of W_ov to the max-margin one, at the end."""
        return layers.one_minus_cos(self.run.W_ov[-1], layers.W_ov_star(self.problem))


def data_sets(seed: int) -> Iterator[tuple[str, Dataset]]:
    """Example 1, and the data of the paper's experiment: twenty tokens."""
    yield "Example 1", example_1()
    yield f"20 tokens, seed {seed}", generate.experiment(seed, prefix_closed=True).data


def turned(name: str, data: Dataset, switch: str, seed: int) -> Turned:
    """Train with one switch turned.

    Args:
        name: of the data.
        data: the data.
        switch: one of `SWITCHES`.
        seed: of a random start.
    """
    problem = from_dataset(data)
    size, (eta0, eta) = problem.vocab_size, paper_rates(problem.vocab_size)
    scale = {SMALL_START: 0.1, LARGE_START: 1.0}.get(switch, 0.0)
    rng = np.random.default_rng(seed)
    start = scale * rng.normal(size=(size, size)), scale * rng.normal(size=(size, size))
    own = layers.sentences(data, problem)
    if switch == JOINT:
        both = layers.train(own, start, Optimiser("normalized", eta0), RECORD)
        return Turned(name, switch, problem, both)
    kind = "Adam" if switch == ADAM else "normalized"
    first = own if switch == ON_1 else layers.single_tokens(problem)
    W_ov = layers.train(first, start, Optimiser(kind, eta0), (STEPS_1,), (OV,)).W_ov[-1]
    # plain steps of size 1: those of size eta would hardly leave zero in so many steps
    second = Optimiser("plain", 1.0) if switch == PLAIN else Optimiser(kind, eta)
    return Turned(name, switch, problem, layers.train(own, (W_ov, start[1]), second, RECORD, (KQ,)))


@once
def with_switch(seed: int, switch: str) -> tuple[Turned, ...]:
    """One switch on both data sets."""
    return tuple(turned(name, data, switch, seed) for name, data in data_sets(seed))


def of_switches(seed: int = 7, switches: tuple[str, ...] = SWITCHES) -> list[Turned]:
    """The runs with these switches, those on the same data side by side."""
    found = [with_switch(seed, switch) for switch in switches]
    return [one for same in zip(*found, strict=True) for one in same]


# Sentences kept back


@dataclass(frozen=True, eq=False)
class KeptBack:
    """What a trained model says of sentences that it has not seen.

    Attributes:
        name: the data.
        decided: kept-back sentences in which one token has the largest max-margin score.
        tied: those in which several have it.
        agrees: decided ones that the model continues by the token with the largest score.
        right: decided ones that it continues as the data do.
        tied_right: tied ones that it continues as the data do.
    """

    name: str
    decided: int
    tied: int
    agrees: int
    right: int
    tied_right: int


def kept_back(seed: int, part: int = 3, reverse: bool = False) -> KeptBack:
    """Keep back one in `part` of the longer samples, train on the rest, and ask.

    Args:
        seed: of the data.
        part: how many samples there are for one that is kept back.
        reverse: read the max-margin scores upside down, a planted error.
    """
    rng = np.random.default_rng(seed)
    data = generate.random_dataset(rng, 12, 60, 6)
    samples = list(data.samples())
    whole = from_dataset(data)
    longer = [k for k, sample in enumerate(samples) if len(set(sample.sentence)) > 1]
    hidden = set(rng.choice(longer, len(longer) // part, replace=False).tolist())
    rest = [(s.sentence, s.next_token, s.count) for k, s in enumerate(samples) if k not in hidden]
    names = whole.vocabulary
    collocation = {names[x]: names[y] for x, y in enumerate(whole.following.tolist())}
    problem = from_dataset(from_samples(rest), collocation)
    scores = {q: margin.solve_scores(order) for q, order in problem.orders.items()}

    eta0, eta = paper_rates(whole.vocab_size)
    zero = np.zeros((whole.vocab_size, whole.vocab_size))
    first = layers.train(
        layers.single_tokens(whole), (zero, zero), Optimiser("normalized", eta0), (STEPS_1,), (OV,)
    )
    seen = layers.sentences(data, whole, hidden)
    start = first.W_ov[-1], zero
    run = layers.train(seen, start, Optimiser("normalized", 10 * eta), (5000,), (KQ,))
    logits = run.last.weights @ run.W_ov[-1].T
    tally = np.zeros(5, dtype=int)
    for k in sorted(hidden):
        sentence, answer = samples[k].sentence, names[int(logits[k].argmax())]
        of = scores.get(sentence[-1], {})
        value = {x: (-1 if reverse else 1) * of.get(x, 0) for x in set(sentence)}
        best = [x for x in value if value[x] == max(value.values())]
        right = answer == samples[k].next_token
        if len(best) == 1:
            said = collocation[best[0]]
            tally += [1, 0, answer == said, right, 0]
        else:
            tally += [0, 1, 0, 0, right]
    return KeptBack(f"seed {seed}", *map(int, tally))


def all_kept_back(seed: int = 7, sets: int = 6) -> list[KeptBack]:
    """Several random data sets."""
    return [kept_back(seed + k) for k in range(sets)]


def read_upside_down(seed: int = 7) -> list[KeptBack]:
    """One of them with its scores read upside down."""
    return [kept_back(seed, reverse=True)]
