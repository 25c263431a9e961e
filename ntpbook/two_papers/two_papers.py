"""Checks of the page that lays the two papers side by side: data, choices of the attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.order import Structure
from ntpcore.exact import margin
from ntpcore.huang2024 import joint, stage1, training, transformer
from ntpcore.huang2024.problem import from_dataset
from ntpcore.tian2023.classes import SequenceClasses, draw_counts, synthetic_classes
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = joint.Floats
STEPS = 10_000  # of joint training; Algorithm 1 has its direction long before
RATES = ((1.0, 0.1), (5.0, 0.5), (1.0, 1.0))  # (eta_Y, eta_Z)

# One layer


def check_ours_two_layer(data: Iterable[Dataset], seed: int = 7, swap: bool = False) -> Check:
    """Both papers' layers out of one formula, against each paper's own, on random matrices.

    Args:
        data: the data sets.
        seed: of the matrices.
        swap: exchange the two switches, for the negative control.
    """
    label, unit, rng = "ours-two-layer", "sentences", np.random.default_rng(seed)
    tried, worst = 0, 0.0
    for dataset in data:
        V = len(dataset.vocabulary)
        Y, Z = rng.normal(size=(2, V, V))
        for hide in (False, True):
            samples = joint.from_dataset(dataset, hide_query=hide)
            kept = [s for s in dataset.samples() if len(s.sentence) > 1 or not hide]
            found = joint.logits(samples, Y, Z, unit=hide != swap)
            for row, sample in zip(found, kept, strict=True):
                tried += 1
                own = _second(dataset, sample.sentence, Y, Z) if hide else None
                if own is None:
                    X = transformer.embed(sample.sentence, dataset.vocabulary, np.eye(V))
                    own = transformer.logits(X, Y.T, Z.T)
                error = float(np.abs(row - own).max() / max(1.0, np.abs(own).max()))
                worst = max(worst, error)
                if error > 1e-12:  # rounding of sums of a few dozen terms of size 1
                    return Check(
                        label,
                        Verdict.REFUTED,
                        tried,
                        unit,
                        "The common formula and a paper's own give different logits.",
                        witness=f"{' '.join(sample.sentence)}, query "
                        f"{'hidden' if hide else 'seen'}: relative difference {error:.2g}",
                    )
    return Check(
        label,
        Verdict.CONSISTENT if tried else Verdict.OPEN,
        tried,
        unit,
        "The common formula gives the logits of both papers, each with its two switches, to a "
        f"relative error of at most {worst:.1g}."
        if tried
        else "No sentence was given.",
        numbers={"error": f"{worst:.1g}"},
        parameters={"seed": seed},
    )


def _second(dataset: Dataset, sentence: tuple[str, ...], Y: Floats, Z: Floats) -> Floats:
    """Logits as tian2023 writes them: one-hot X of the positions before the query, (1) and (2)."""
    V = len(dataset.vocabulary)
    X = transformer.embed(sentence[:-1], dataset.vocabulary, np.eye(V)).T  # (T - 1, V)
    b = transformer.softmax(X @ Z[dataset.vocabulary.index(sentence[-1])])
    mixed = X.T @ b
    return np.asarray(Y.T @ (mixed / np.linalg.norm(mixed)))


def control_ours_two_layer(data: Sequence[Dataset], seed: int = 7) -> Control:
    """The scaling to length 1 put into the wrong paper."""
    return Control(
        "The switch for the scaling to length 1 is set the wrong way round.",
        Verdict.REFUTED,
        check_ours_two_layer(data, seed, swap=True).verdict,
    )


# Optimal tokens among the classes


def classes_of_query(data: Dataset, query: str) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """Sentences with this query by next token: the sequence classes of tian2023 for one query."""
    classes: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for sample in data.samples():
        if sample.sentence[-1] == query:
            classes.setdefault(sample.next_token, []).append((sample.sentence, sample.count))
    return classes


def check_ours_two_optimal_distinct(
    structures: Iterable[Structure], role: str = "optimal", **parameters: int
) -> Check:
    """An optimal token occurs in one class of its query only, and in every sentence of it.

    Args:
        structures: realizable data sets.
        role: "optimal", or "nonoptimal" for the negative control.
        parameters: what repeats the data.
    """
    label, unit = "ours-two-optimal-distinct", "optimal tokens"
    tried, several, shared = 0, 0, 0
    for structure in structures:
        for query, query_order in (structure.orders or {}).items():
            classes = classes_of_query(structure.data, query)
            several += len(query_order.optimal) > 1
            spread = {
                x: sum(any(x in s for s, _ in rows) for rows in classes.values())
                for x in structure.data.vocabulary
            }
            shared += sum(spread[x] > 1 for x in query_order.nonoptimal)
            for token in getattr(query_order, role):
                tried += 1
                inside = classes.get(str(structure.collocation[token]), [])
                if spread[token] != 1 or not all(token in sentence for sentence, _ in inside):
                    return Check(
                        label,
                        Verdict.REFUTED,
                        tried,
                        unit,
                        "A token is no distinct token of its class.",
                        witness=f"{structure.data.name}: token {token} occurs in {spread[token]} "
                        f"classes of query {query}",
                    )
    return Check(
        label,
        Verdict.CONSISTENT if tried else Verdict.OPEN,
        tried,
        unit,
        f"Each is in every sentence of its class and in no other class of its query. {several} "
        f"queries have several optimal tokens; {shared} times a non-optimal token is shared by "
        "classes. A proof stands on the page."
        if tried
        else "No data set with an optimal token was given.",
        numbers={"several": str(several), "shared": str(shared)},
        parameters=parameters,
        by_hand=("the proof on the page, of a few lines, from Definition 1 and Assumption 1",),
    )


def control_ours_two_optimal_distinct(structures: Sequence[Structure]) -> Control:
    """Non-optimal tokens in the place of optimal ones: some are common."""
    return Control(
        "The same asked of non-optimal tokens.",
        Verdict.REFUTED,
        check_ours_two_optimal_distinct(structures, "nonoptimal").verdict,
    )


def check_ours_two_most_frequent(structures: Iterable[Structure], **parameters: int) -> Check:
    """Under Assumption 3 no token of a class is more probable than its optimal token.

    Probabilities are exact: P(x|class) weighs each sentence by its frequency and by the share of
    its positions that hold x.

    Args:
        structures: realizable data sets.
        parameters: what repeats the data.
    """
    label, unit = "ours-two-most-frequent", "classes"
    tried, ties = 0, 0
    for structure in structures:
        for query, query_order in (structure.orders or {}).items():
            classes = classes_of_query(structure.data, query)
            for token in query_order.optimal:
                tried += 1
                shares = context_shares(classes[str(structure.collocation[token])])
                others = [share for x, share in shares.items() if x != token]
                ties += max(others, default=Fraction(0)) == shares[token]
                if max(others, default=Fraction(0)) > shares[token]:
                    return Check(
                        label,
                        Verdict.REFUTED,
                        tried,
                        unit,
                        "Some token of a class is more probable than its optimal token.",
                        witness=f"{structure.data.name}, query {query}: the optimal token {token} "
                        f"has probability {shares[token]}, another one {max(others)}",
                    )
    return Check(
        label,
        Verdict.CONSISTENT if tried else Verdict.OPEN,
        tried,
        unit,
        f"The optimal token is the most probable one in each class, tied with another in {ties}. "
        "A proof stands on the page."
        if tried
        else "No data set with an optimal token was given.",
        numbers={"ties": str(ties)},
        parameters=parameters,
        by_hand=("averages keep inequalities that hold in every sentence",),
    )


def control_ours_two_most_frequent(structures: Sequence[Structure]) -> Control:
    """Data without Assumption 3."""
    return Control(
        "Realizable data in which optimal tokens may be outnumbered.",
        Verdict.REFUTED,
        check_ours_two_most_frequent(structures).verdict,
    )


def context_shares(rows: Sequence[tuple[tuple[str, ...], int]]) -> dict[str, Fraction]:
    """P(x | class) over the positions of its sentences, exact."""
    total = sum(count for _, count in rows)
    shares: Counter[str] = Counter()
    for sentence, count in rows:
        for token, times in Counter(sentence).items():
            shares[token] += Fraction(count * times, total * len(sentence))  # type: ignore[assignment]
    return {token: Fraction(share) for token, share in shares.items()}


# Example 1


def check_ours_two_example_1(data: Dataset, gains: str = "V") -> Check:
    """Example 1 through both papers: what is hidden, what is left to choose, who chooses what.

    Args:
        data: Example 1.
        gains: the token that is said to gain on the other one, S or V.
    """
    label = "ours-two-example-1"
    structure = order.analyse(data)
    orders = structure.orders or {}
    own = [query for query, found in orders.items() if found.optimal == (query,)]
    samples = joint.from_dataset(data, hide_query=True)
    free = [i for i, row in enumerate(samples.counts) if (row > 0).sum() > 1]
    winner = samples.vocabulary.index(gains)
    scores = margin.solve_scores(orders["O"])
    equal = scores["S"] == scores["V"]
    record = [0, *training.log_grid(STEPS)[1:]]
    runs = [
        joint.train(samples, record, eta_y=eta_y, eta_z=eta_z, unit=True) for eta_y, eta_z in RATES
    ]
    shares = [
        np.array([joint.attend(samples, Z)[row, winner] for Z in found.Z])
        for found in runs
        for row in free[:1]
    ]
    rises = all((np.diff(share) >= 0).all() and share[-1] > share[0] for share in shares)
    if len(own) == 3 and len(free) == 1 and equal and rises:
        return Check(
            label,
            Verdict.CONSISTENT,
            len(RATES),
            "pairs of rates",
            f"The optimal token is the query itself for {', '.join(own)}. With the query hidden "
            f"one sample, S V O, leaves a choice; there the share of {gains} rises from 1/2 to "
            f"{shares[0][-1]:.2f} in {STEPS} steps, and by every pair of rates, while the "
            f"max-margin scores of S and V under O are both {scores['S']}.",
            numbers={"share": f"{shares[0][-1]:.2f}", "score": str(scores["S"])},
        )
    return Check(
        label,
        Verdict.REFUTED,
        len(RATES),
        "pairs of rates",
        "One of the four parts fails.",
        witness=f"queries that are their own optimal token: {own}; samples with a choice: "
        f"{len(free)}; equal max-margin scores of S and V: {equal}; share of {gains} in S V O "
        f"after {STEPS} steps: {[round(float(share[-1]), 2) for share in shares]}, never falling: "
        f"{rises}",
    )


def control_ours_two_example_1(data: Dataset) -> Control:
    """S, which occurs in two classes, is said to gain."""
    return Control(
        "The common token S is said to gain on the distinct token V.",
        Verdict.REFUTED,
        check_ours_two_example_1(data, gains="S").verdict,
    )


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


def check_ours_two_choice(
    counts: Sequence[tuple[int, int]], steps: int, exchanged: bool = False
) -> Check:
    """Which token each training prefers when optimality and frequency agree, tie and disagree.

    Args:
        counts: pairs (optimal tokens, rivals) of `rivals`.
        steps: of joint training.
        exchanged: read the masses of optimal token and rival the wrong way round, for the control.
    """
    label, unit, tried = "ours-two-choice", "trainings", 0
    least = 1.0
    for optimal, rival in counts:
        for eta_y, eta_z in RATES[:2]:
            for choice in choices(rivals(optimal, rival), eta_y, eta_z, steps):
                tried += 1
                o, d = choice.optimal, choice.rival
                if exchanged:
                    o, d = d, o
                lead = o / d
                if by_frequency(choice.training):
                    # The tie is exact up to rounding of the two runs of equal arithmetic.
                    expected = (
                        abs(lead - 1) < 1e-9
                        if optimal == rival
                        else ((lead - optimal / rival) * (optimal - rival) > 0)
                    )
                else:
                    expected = lead > max(1.0, optimal / rival)
                    least = min(least, o)
                if not expected:
                    return Check(
                        label,
                        Verdict.REFUTED,
                        tried,
                        unit,
                        "A training prefers another token than the one predicted.",
                        witness=f"{choice.training}, {optimal} optimal tokens and {rival} rivals, "
                        f"rates {eta_y:g} and {eta_z:g}: masses {o:.3f} and {d:.3f}",
                    )
    return Check(
        label,
        Verdict.CONSISTENT if tried else Verdict.OPEN,
        tried,
        unit,
        "Where training sees no token on its own, since the query is hidden or one-token sentences "
        "are missing, the more frequent of the two distinct tokens gains on the other, and a tie "
        "stays a tie; where it sees them, the optimal token gains on its rival whatever the "
        "counts are, by Algorithm 1 and by joint training, with and without scaling."
        if tried
        else "No data were given.",
        numbers={"least": f"{least:.2f}"},
        parameters={"steps": steps},
    )


def control_ours_two_choice(counts: Sequence[tuple[int, int]], steps: int) -> Control:
    """The two tokens taken for each other."""
    return Control(
        "The masses of the optimal token and of its rival are exchanged.",
        Verdict.REFUTED,
        check_ours_two_choice(counts, steps, exchanged=True).verdict,
    )


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


def check_ours_two_syn_small(
    classes: SequenceClasses, samples: int = 100, seeds: Sequence[int] = (7, 8, 9)
) -> Check:
    """Syn-Small is realizable data whose only optimal token, for each query, is the query.

    Args:
        classes: Syn-Small, or another design for the negative control.
        samples: sequences of each class.
        seeds: of the samples, one data set each.
    """
    label, unit = "ours-two-syn-small", "sampled data sets"
    for number, seed in enumerate(seeds, start=1):
        data = syn_data(classes, seed, samples)
        structure = order.analyse(data, collocation_by_query(classes))
        wrong = [
            query
            for query, found in (structure.orders or {}).items()
            if found.optimal != (query,) or not found.nonoptimal
        ]
        if not structure.realizable.holds or wrong:
            rules = sorted(structure.realizable.counts or {})
            return Check(
                label,
                Verdict.REFUTED,
                number,
                unit,
                "The data are not realizable in this way.",
                witness=f"seed {seed}, {data.name}: broken rules: {', '.join(rules) or 'none'}; "
                f"queries with other optimal tokens: {', '.join(wrong) or 'none'}",
                parameters={"samples": samples},
            )
    return Check(
        label,
        Verdict.CONSISTENT,
        len(seeds),
        unit,
        f"{samples} sequences of each class satisfy Assumption 1 with n(query) = the next token of "
        "its class, and the query is its only optimal token, above all the context.",
        parameters={"samples": samples},
    )


def control_ours_two_syn_small() -> Control:
    """Syn-Medium: two next tokens per query, so that the query cannot decide."""
    return Control(
        "Two classes per query, as in Syn-Medium.",
        Verdict.REFUTED,
        check_ours_two_syn_small(synthetic_classes(1, 2)).verdict,
    )
