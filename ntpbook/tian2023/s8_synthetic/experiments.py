"""The synthetic experiments of Tian et al. (2023): Syn-Small and Syn-Medium, simulated.

All parameters are those of the paper and of the authors' code: batches of 128 sequences with 127
contextual tokens, a class drawn uniformly for each, 100 iterations, momentum 0.9. All pairs of
learning rates of one size and seed see the same samples.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s8_synthetic import _simulator
from ntpcore import exponential
from ntpcore.data.files import replacing
from ntpcore.tian2023 import classes as of_sequences
from ntpcore.tian2023.classes import (
    SequenceClasses,
    attention_scores,
    distinct_tokens,
    synthetic_classes,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rates = tuple[float, float]

# What a kept stream depends on, beside its plan.
CODE = (
    *(Path(__file__).with_name(name) for name in ("experiments.py", "_simulator.py")),
    *(Path(str(module.__file__)) for module in (of_sequences, exponential)),
)
QUERIES = (1, 3, 5, 10)  # of Syn-Medium, with two next tokens each
ETA_Z = (0.5, 1.0, 2.0, 3.0)
RATIOS = (1.0, 2.0, 5.0, 10.0)  # eta_Y / eta_Z
MEDIUM_RATES = tuple((ratio * eta_z, eta_z) for eta_z in ETA_Z for ratio in RATIOS)


@dataclass(frozen=True)
class Plan:
    """One stream of samples, and the pairs of rates that are trained on it.

    Attributes:
        queries: L, number of query tokens.
        next_per_query: next tokens of each query.
        seed: of the samples and of the random start.
        rates: pairs (eta_Y, eta_Z).
        iterations: number of updates.
        record: numbers of updates after which Z is kept, increasing.
        uniform_start: start from U(-M^-1/2, M^-1/2) instead of zero.
        adam: Adam instead of SGD with momentum.
        batch: sequences in a batch.
        length: contextual tokens of a sequence.
        momentum: of SGD.
    """

    queries: int
    next_per_query: int
    seed: int
    rates: tuple[Rates, ...]
    iterations: int = 100
    record: tuple[int, ...] = (100,)
    uniform_start: bool = False
    adam: bool = False
    batch: int = 128
    length: int = 127
    momentum: float = 0.9

    def __post_init__(self) -> None:
        steps = self.record
        if (
            not steps
            or steps[0] < 0
            or steps[-1] > self.iterations
            or sorted(set(steps)) != [*steps]
        ):
            raise ValueError(
                f"record is {steps}; give increasing numbers from 0 to {self.iterations}"
            )
        if not self.rates or any(eta <= 0 for pair in self.rates for eta in pair):
            raise ValueError(f"rates are {self.rates}; give pairs of positive numbers")

    @property
    def classes(self) -> SequenceClasses:
        """The classes that the samples are drawn from."""
        return synthetic_classes(self.queries, self.next_per_query)


@dataclass(frozen=True, eq=False)
class Stream:
    """What a plan gave.

    Attributes:
        plan: the plan.
        losses: (C, T), mean loss of each batch before its update, for each pair of rates.
        Z: (C, R, L, M), Z after the recorded numbers of updates.
    """

    plan: Plan
    losses: Floats
    Z: Floats


def small(seed: int, rates: Sequence[Rates], **changes: object) -> Plan:
    """Syn-Small: two queries with one next token each, from zero (tian2023, Figures 4 and 5)."""
    return Plan(2, 1, seed, tuple(rates), **changes)  # type: ignore[arg-type]


def medium(
    queries: int, seed: int, rates: Sequence[Rates] = MEDIUM_RATES, **changes: object
) -> Plan:
    """Syn-Medium: two next tokens per query, from a uniform start (tian2023, Figures 6, 11, 12)."""
    changes = {"uniform_start": True, **changes}
    return Plan(queries, 2, seed, tuple(rates), **changes)  # type: ignore[arg-type]


def samples_of(plan: Plan) -> tuple[Integers, Integers]:
    """The stream of samples of a plan.

    Returns:
        classes (T, B), and counts (T, B, S) of the tokens of the sample's class.
    """
    rng = np.random.default_rng((plan.seed, plan.queries, plan.next_per_query))
    classes = plan.classes
    shape = (plan.iterations, plan.batch)
    drawn = rng.integers(classes.K, size=shape)
    weights = classes.probabilities[0][classes.probabilities[0] > 0]  # the same in all classes
    return drawn, rng.multinomial(plan.length, weights / weights.sum(), size=shape)


def start_of(plan: Plan) -> tuple[Floats, Floats]:
    """Y on the context tokens, (R, M), and Z, (L, M), at the start."""
    classes = plan.classes
    contexts = int((classes.probabilities > 0).any(axis=0).sum())
    if not plan.uniform_start:
        return np.zeros((contexts, classes.M)), np.zeros((classes.L, classes.M))
    rng = np.random.default_rng((plan.seed, plan.queries, plan.next_per_query, 1))
    bound = classes.M**-0.5
    return (
        rng.uniform(-bound, bound, size=(contexts, classes.M)),
        rng.uniform(-bound, bound, size=(classes.L, classes.M)),
    )


def simulate(plan: Plan, samples: tuple[Integers, Integers] | None = None) -> Stream:
    """Train every pair of rates of a plan on its stream of samples.

    Next tokens are the last K tokens of the vocabulary.

    Args:
        plan: what to train.
        samples: those of `samples_of`, where they are at hand.
    """
    classes = plan.classes
    drawn, counts = samples or samples_of(plan)
    tokens = np.array([np.flatnonzero(row > 0) for row in classes.probabilities])
    following = np.arange(classes.M - classes.K, classes.M)
    queries = np.array(classes.query, dtype=np.int64)
    record = np.array(plan.record, dtype=np.int64)
    losses = np.zeros((len(plan.rates), plan.iterations))
    kept = np.zeros((len(plan.rates), len(record), classes.L, classes.M))
    for c, (eta_y, eta_z) in enumerate(plan.rates):
        Y, Z = start_of(plan)
        _simulator.run(
            tokens,
            queries,
            following,
            drawn,
            counts,
            Y,
            Z,
            float(eta_y),
            float(eta_z),
            plan.momentum,
            plan.adam,
            record,
            losses[c],
            kept[c],
        )
    return Stream(plan, losses, kept)


def simulate_all(
    plans: Sequence[Plan],
    *,
    threads: int = 2,
    folder: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Stream]:
    """Many plans, several at once; with a folder, finished ones are kept there and not run again.

    The result does not depend on the number of threads, nor on what was finished before.

    Args:
        plans: what to run.
        threads: how many at once; the compiled loop runs without Python's lock.
        folder: where finished streams are kept, one file each, named by a hash of plan and code.
        progress: called with the number of finished plans and of all.
    """
    done = 0

    def one(plan: Plan) -> Stream:
        found = _load(plan, folder) if folder else None
        if found is None:
            found = simulate(plan)
            if folder:
                _save(found, folder)
        return found

    streams: list[Stream] = []
    with ThreadPoolExecutor(threads) as pool:
        for stream in pool.map(one, plans):
            streams.append(stream)
            done += 1
            if progress:
                progress(done, len(plans))
    return streams


def fingerprint(plan: Plan) -> str:
    """Hash of a plan and of the code that runs it."""
    mark = hashlib.sha256(json.dumps(asdict(plan), sort_keys=True).encode())
    for file in CODE:
        mark.update(file.read_bytes())
    return mark.hexdigest()[:24]


def _save(stream: Stream, folder: Path) -> None:
    """Write a finished stream, all or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{fingerprint(stream.plan)}.npz"
    with replacing(target) as file:
        np.savez(file, allow_pickle=False, losses=stream.losses, Z=stream.Z)


def _load(plan: Plan, folder: Path) -> Stream | None:
    """A finished stream, or None where there is none that can be read whole."""
    try:
        path = folder / f"{fingerprint(plan)}.npz"
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            losses, Z = file["losses"], file["Z"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None  # absent or damaged: it is run again
    shape = (len(plan.rates), plan.iterations)
    return Stream(plan, losses, Z) if losses.shape == shape else None


# What the figures show


def distinct_shares(classes: SequenceClasses, z: Floats) -> Floats:
    """c_n on the distinct tokens of each class, renormalised to sum 1: (K, D)."""
    c = attention_scores(classes, z)
    shares = np.array([c[n, list(distinct_tokens(classes, n))] for n in range(classes.K)])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def distinct_entropy(classes: SequenceClasses, z: Floats) -> float:
    """Entropy in nats of c_n on the class's distinct tokens, averaged over classes (Figure 6)."""
    shares = distinct_shares(classes, z)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(-(shares * logs).sum(axis=1).mean())


def common_mass(classes: SequenceClasses, z: Floats) -> float:
    """Mass of c_n on common tokens, averaged over classes."""
    c = attention_scores(classes, z)
    own = [c[n, list(distinct_tokens(classes, n))].sum() for n in range(classes.K)]
    return float(1 - np.mean(own))


def recall(classes: SequenceClasses, z: Floats, thresholds: Floats) -> Floats:
    """Share of distinct tokens with softmax(z_m) at or above each threshold (Figures 11, 12).

    The softmax runs over the whole vocabulary; shares are averaged over classes.

    Returns:
        one share for each threshold.
    """
    weights = np.exp(z - z.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    own = np.array(
        [weights[classes.query[n], list(distinct_tokens(classes, n))] for n in range(classes.K)]
    )
    return np.asarray((own[None] >= thresholds[:, None, None]).mean(axis=(1, 2)))


def cells(streams: Sequence[Stream], at: int = -1) -> Iterator[tuple[int, Rates, list[Floats]]]:
    """For each number of queries and pair of rates, Z of all seeds at one recorded step."""
    sizes = sorted({stream.plan.queries for stream in streams})
    for queries in sizes:
        chosen = [stream for stream in streams if stream.plan.queries == queries]
        for c, rates in enumerate(chosen[0].plan.rates):
            yield queries, rates, [stream.Z[c, at] for stream in chosen]
