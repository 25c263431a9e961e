"""Data on which the two papers part, what trainings choose there, and classes of one query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ntpbook.ours.two_papers import joint
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.tian2023.classes import SequenceClasses, draw_counts

Floats = joint.Floats

# Classes of one query


def classes_of_query(data: Dataset, query: str) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """Sentences with this query by next token: the sequence classes of tian2023 for one query."""
    classes: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for sample in data.samples():
        if sample.sentence[-1] == query:
            classes.setdefault(sample.next_token, []).append((sample.sentence, sample.count))
    return classes


def context_shares(rows: Sequence[tuple[tuple[str, ...], int]]) -> dict[str, Fraction]:
    """P(x | class) over the positions of its sentences, exact."""
    total = sum(count for _, count in rows)
    shares: Counter[str] = Counter()
    for sentence, count in rows:
        for token, times in Counter(sentence).items():
            shares[token] += Fraction(count * times, total * len(sentence))  # type: ignore[assignment]
    return {token: Fraction(share) for token, share in shares.items()}


# Frequency against margin

TOKENS = ("o1", "o2", "d1", "d2", "q", "c")


def rivals(optimal: int, rival: int) -> Dataset:
    """Two classes of one query q; each sentence: c c, rivals d, optimal tokens o, q.

    Every token has a one-token sentence, so that the data are realizable; the next token of class
    i is n(o_i). Assumption 3 holds if there are at least as many optimal tokens as rivals and c's.

    Args:
        optimal: how often the optimal token occurs in a sentence.
        rival: how often the other distinct token occurs.
    """
    n = dict(zip(TOKENS, TOKENS[1:] + TOKENS[:1], strict=True))
    samples: list[tuple[tuple[str, ...], str]] = [((x,), n[x]) for x in TOKENS]
    for i in "12":
        sentence = ("c",) * 2 + (f"d{i}",) * rival + (f"o{i}",) * optimal + ("q",)
        samples.append((sentence, n[f"o{i}"]))
    return from_samples(samples, f"{optimal} optimal, {rival} rivals")


@dataclass(frozen=True)
class Choice:
    """What attention does with the first class of `rivals` after training.

    Attributes:
        training: which training, in words.
        optimal: attention mass on the optimal token.
        rival: attention mass on the rival.
        common: attention mass on everything else.
    """

    training: str
    optimal: float
    rival: float
    common: float


ALGORITHM_1 = "two stages, normalized (Huang et al.)"
JOINT_SEEN = "joint, everything seen"
JOINT_HIDDEN = "joint, query hidden (Tian et al.)"
# What joint training sees: (query hidden, one-token sentences kept, sum scaled to length 1).
JOINT = {
    JOINT_SEEN: (False, True, False),
    JOINT_SEEN + ", scaled": (False, True, True),
    JOINT_HIDDEN: (True, True, True),
    "joint, query hidden, not scaled": (True, True, False),
    "joint, no one-token sentences": (False, False, False),
    "joint, no one-token sentences, scaled": (False, False, True),
}


def choices(
    data: Dataset, eta_y: float, eta_z: float, steps: int, names: Iterable[str] = tuple(JOINT)
) -> list[Choice]:
    """The attention of several trainings on the same data, Algorithm 1 first.

    Args:
        data: one of `rivals`.
        eta_y: learning rate of Y in joint training.
        eta_z: learning rate of Z in joint training.
        steps: of joint training.
        names: keys of `JOINT`.
    """
    found = [_choice(ALGORITHM_1, data, False, _algorithm_1(data))]
    for name in names:
        hide, alone, unit = JOINT[name]
        kept = [(s.sentence, s.next_token) for s in data.samples() if alone or len(s.sentence) > 1]
        samples = joint.from_dataset(from_samples(kept), hide_query=hide)
        run = joint.train(samples, [steps], eta_y=eta_y, eta_z=eta_z, unit=unit)
        found.append(_choice(name, from_samples(kept), hide, run.Z[-1]))
    return found


def by_frequency(training: str) -> bool:
    """Whether this training never sees a token without its companions."""
    return training != ALGORITHM_1 and (JOINT[training][0] or not JOINT[training][1])


def _algorithm_1(data: Dataset) -> Floats:
    """Z after Algorithm 1 of huang2024, 900 steps each at the step sizes of its experiment."""
    size = len(data.vocabulary)
    problem = from_dataset(data)
    gap = stage1.gap(size, 900, 0.2 / size**0.5)
    weights = training.run(problem, 900, 0.05 / size**0.5, gap, record=[900]).state.weights
    Z = np.zeros((size, size))
    Z[problem.entry_query, problem.entry_token] = weights
    return Z


def _choice(name: str, data: Dataset, hide: bool, Z: Floats) -> Choice:
    """Masses of attention in the sentence of the first class."""
    samples = joint.from_dataset(data, hide_query=hide)
    o1, d1 = data.vocabulary.index("o1"), data.vocabulary.index("d1")
    row = int(np.flatnonzero((samples.counts[:, o1] > 0) & (samples.counts[:, d1] > 0))[0])
    mass = joint.attend(samples, Z)[row]
    return Choice(name, float(mass[o1]), float(mass[d1]), float(1 - mass[o1] - mass[d1]))


# Syn-Small


def syn_data(classes: SequenceClasses, seed: int, samples: int) -> Dataset:
    """Sampled sequences of classes as sentences, contexts in order of tokens, 127 of them."""
    rng = np.random.default_rng(seed)
    pairs = []
    for n in range(classes.K):
        for row in draw_counts(rng, classes, n, samples, 127):
            context = [f"t{x}" for x in np.flatnonzero(row) for _ in range(row[x])]
            pairs.append(((*context, f"q{classes.query[n]}"), f"n{n}"))
    return from_samples(pairs, f"{classes.K} classes, {classes.L} queries")


def collocation_by_query(classes: SequenceClasses) -> Mapping[str, str]:
    """n(q_m) = the first class of the query m; all other tokens follow each other in a ring."""
    first = {m: classes.of_query(m)[0] for m in range(classes.L)}
    given = {f"q{m}": f"n{n}" for m, n in first.items()}
    names = [f"t{x}" for x in range(classes.M)] + [f"n{n}" for n in range(classes.K)]
    free = [x for x in [*names, *given] if x not in given.values()]
    return given | dict(zip(names, free, strict=True))
