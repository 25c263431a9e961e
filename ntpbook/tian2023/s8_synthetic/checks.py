"""Checks of the synthetic experiments: Figures 4, 5, 6, 11 and 12.

All are observations of random runs. Runs of one size and seed see the same samples, so that they
are compared seed by seed, by Student's t; every check states the level of all its comparisons
together (Bonferroni). A difference within its interval is undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.origins import LONG_RUN, SEEDS
from ntpbook.tian2023.s8_synthetic import expected_loss, figure_6, runs
from ntpbook.tian2023.s8_synthetic.experiments import Stream, common_mass, distinct_shares
from ntpbook.tian2023.s8_synthetic.figure_6 import LEVEL, UNRESOLVED, Cell, Comparison
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import Said, count, holds, least, most, result, undecided
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, check

Floats = NDArray[np.float64]

# Figure 4


def of_gradient_descent(seeds_small: int = 20) -> list[tuple[Stream, ...]]:
    """All seeds of Syn-Small by gradient descent: one experiment."""
    return [runs.gradient_descent(seeds_small)]


def differs(one: Floats, other: Floats, level: float, where: str) -> Said:
    """other > one on average, seed by seed at a level; undecided if that resolves nothing."""
    mean, error, quantile = figure_6.compare(one, other, level)
    if abs(mean) <= quantile * error:
        return undecided(f"{where}: the difference {mean:.2g} is within its interval")
    return holds(mean > 0, where)


@check(
    "tian2023-fig-4",
    over="seeds",
    instances=of_gradient_descent,
    size=len,
    name=lambda one: "",
    says=r"On Syn-Small, with $\eta_Z = 1$, we compare the end with the start for each decoder, "
    r"and the slow decoder ($\eta_Y = 1$) with the fast one ($\eta_Y = 10$). All six comparisons "
    "are paired over {tried} seeds and significant at a joint level of 1 %. The entropy of the "
    "attention on distinct tokens falls from {start} nats to {slow} with the slow decoder and to "
    "{fast} with the fast decoder. At iteration 48, the last row of the paper's figure, the "
    "entropy is {slow_48} with the slow and {fast_48} with the fast decoder. The fast decoder "
    "reaches each of the losses 0.1, 0.01, and 0.001 sooner; for example, the loss 0.01 after "
    "{fast_arrives} iterations instead of {slow_arrives}. In {every} of {tried} seeds all six "
    "comparisons come out as claimed. No token takes all the attention with either decoder: with "
    "the slow one, the strongest distinct token of a class has on average {top} of the attention "
    "on distinct tokens.",
    observes=True,
    planted={
        "The runs with the fast decoder used in place of those with the slow one.": {
            "slow": 1,
            "fast": 0,
        },
        "Attention measured before the first update, when it has not moved.": Variant(
            {"end": 0}, expected=Verdict.UNDECIDED
        ),
        "A loss that both decoders reach before the first update.": Variant(
            {"losses": (10.0,)}, expected=Verdict.UNDECIDED
        ),
        "A loss that neither decoder reaches within the run.": Variant(
            {"losses": (1e-12,)}, expected=Verdict.UNDECIDED
        ),
    },
)
def check_tian2023_fig_4(
    streams: tuple[Stream, ...],
    slow: int = 0,
    fast: int = 1,
    end: int = -1,
    losses: tuple[float, ...] = (0.1, 0.01, 0.001),
) -> Iterator[Said]:
    """Entropy falls; a faster decoder reaches every loss sooner and ends with a higher entropy."""
    start = runs.entropies(streams, slow, 0)
    ends = {one: runs.entropies(streams, one, end) for one in (slow, fast)}
    arrive = {
        (one, loss): np.array([float(runs.first_below(s.losses[one], loss)) for s in streams])
        for one in (slow, fast)
        for loss in losses
    }
    parts = (
        ("sparser in the end, slow decoder", ends[slow], start),
        ("sparser in the end, fast decoder", ends[fast], start),
        *(
            (f"the fast decoder is below {loss:g} sooner", arrive[fast, loss], arrive[slow, loss])
            for loss in losses
        ),
        ("the fast decoder leaves attention denser", ends[slow], ends[fast]),
    )
    for words, less, more in parts:
        yield differs(less, more, LEVEL / len(parts), words)
    every = np.all([less < more for _, less, more in parts], axis=0)
    yield count("every", int(every.sum()))
    classes = streams[0].plan.classes
    shares = np.array([distinct_shares(classes, s.Z[slow, end]) for s in streams])
    yield result("start", float(start.mean()), 4)
    yield result("top", float(shares.max(axis=2).mean()), 2, SEEDS)
    for word, one in (("slow", slow), ("fast", fast)):
        yield result(word, float(ends[one].mean()), 4, SEEDS)
        yield result(f"{word}_sd", float(ends[one].std(ddof=1)), 2, SEEDS)
        middle = arrive[one, losses[len(losses) // 2]]
        yield result(f"{word}_arrives", float(middle.mean()), 2, SEEDS)
        yield result(f"{word}_48", float(runs.entropies(streams, one, -2).mean()), 4, SEEDS)
        mass = float(np.mean([common_mass(classes, s.Z[one, end]) for s in streams]))
        yield result(f"{word}_common", mass, 2, SEEDS)


# Figure 5


def of_adam(seeds_small: int = 20) -> list[tuple[Stream, ...]]:
    """All seeds of Syn-Small by Adam: one experiment."""
    return [runs.adam(seeds_small)]


def overlaps(sets: Sequence[Sequence[Sequence[frozenset[int]]]]) -> Floats:
    """(R S, R S), overlap of the subsets of any two runs, rate by rate, averaged over classes."""
    flat = [one for of_rate in sets for one in of_rate]
    return np.array(
        [
            [np.mean([runs.overlap(x, y) for x, y in zip(one, other, strict=True)])
             for other in flat]
            for one in flat
        ]
    )  # fmt: skip


def excess(near: Floats, rates: NDArray[np.int64]) -> tuple[float, float]:
    """Mean overlap of two runs of one rate, and of two runs of different rates."""
    same = rates[:, None] == rates[None, :]
    others = ~np.eye(len(rates), dtype=bool)
    return float(near[same & others].mean()), float(near[~same].mean())


def by_chance(near: Floats, rates: int, seeds: int, draws: int = 999) -> float:
    """Share of relabellings of the rates within each seed whose excess is as large as the true one.

    If the rate did not matter, the runs of one seed could change places: an exact test.
    """
    rng = np.random.default_rng(0)
    true = np.repeat(np.arange(rates), seeds)

    def gap(labels: NDArray[np.int64]) -> float:
        within, between = excess(near, labels)
        return within - between

    stated, at_least = gap(true), 1
    for _ in range(draws):
        mixed = np.array([rng.permutation(rates) for _ in range(seeds)]).T.ravel()
        at_least += gap(mixed) >= stated
    return at_least / (draws + 1)


@check(
    "tian2023-fig-5",
    over="seeds",
    instances=of_adam,
    size=len,
    name=lambda one: "",
    says="On Syn-Small with Adam, in {tried} seeds the subset of distinct tokens with more than "
    "an equal share of attention differs between learning rates in every class. A permutation "
    "test of the rates within each seed is significant at 1 % ($p$ = {chance}): two subsets "
    "overlap by {within} on average for the same rate and by {between} for different rates, "
    "where 1 means equal subsets. With a larger learning rate, the token with the most attention "
    "is a more frequent token. Attention is not on a single token: on average {strong} of the 10 "
    "distinct tokens have more than 5 % each of the attention on distinct tokens.",
    observes=True,
    planted={
        "The runs of one learning rate used for all rates.": {"cells": (0, 0, 0)},
        "The rates permuted at random within each seed.": Variant(
            {"mixed": True}, expected=Verdict.UNDECIDED
        ),
    },
)
def check_tian2023_fig_5(
    streams: tuple[Stream, ...], cells: tuple[int, ...] = (0, 1, 2), mixed: bool = False
) -> Iterator[Said]:
    """Tokens with more than an equal share: another subset for another rate, by the rate."""
    classes = streams[0].plan.classes

    seeds, rng = range(len(streams)), np.random.default_rng(0)
    places = [rng.permutation(cells) if mixed else cells for _ in seeds]

    def z_of(c: int, i: int) -> Floats:
        return np.asarray(streams[i].Z[places[i][c], -1])

    sets = [[runs.favourites(classes, z_of(c, i)) for i in seeds] for c in range(len(cells))]
    for a, b in combinations(range(len(cells)), 2):
        for i in seeds:
            differ = all(x != y for x, y in zip(sets[a][i], sets[b][i], strict=True))
            yield holds(differ, f"seed {streams[i].plan.seed}, rates {a + 1} and {b + 1}: differ")
    near = overlaps(sets)
    within, between = excess(near, np.repeat(np.arange(len(cells)), len(streams)))
    chance = by_chance(near, len(cells), len(streams))
    if chance > LEVEL:
        yield undecided(f"whether the rate decides: p = {chance:.2g}")
    else:
        yield holds(between < within, "overlap between and within rates")
    shares = np.array([[distinct_shares(classes, z_of(c, i)) for i in seeds]
                       for c in range(len(cells))])  # fmt: skip
    peaks = shares.argmax(axis=-1).mean(axis=(1, 2))
    yield result("chance", chance, 1, "the spread of 999 relabelings")
    strong = float((shares > 0.05).sum(axis=-1).mean())
    numbers = {"within": within, "between": between, "strong": strong}
    numbers |= {"first_peak": float(peaks[0]), "last_peak": float(peaks[-1])}
    for name, value in numbers.items():
        yield result(name, value, 2, SEEDS)


# Figure 6


@dataclass(frozen=True, eq=False)
class Sweep:
    """What was read from the sweep of Syn-Medium, by cell, one value (or row) for each seed."""

    entropy: Mapping[Cell, Floats]
    recall: Mapping[Cell, Floats]
    top: Mapping[Cell, Floats]

    @property
    def seeds(self) -> int:
        """Streams of samples: the seeds of all sizes."""
        return sum(len(self.entropy[cell]) for cell in {c[0]: c for c in self.entropy}.values())


@once
def swept(one_query: int = 100, more_queries: int = 20) -> tuple[Sweep]:
    """The whole sweep, one instance; see `runs.medium`."""
    streams = runs.medium(one_query, more_queries)
    entropy, recall = runs.entropy_table(streams), runs.recall_table(streams)
    return (Sweep(entropy, recall, runs.top_table(streams)),)


def of_medium(one_query: int = 100, more_queries: int = 20) -> tuple[Sweep]:
    """The whole sweep: 100 seeds of one query and 20 of each larger number, as each size needs."""
    return swept(one_query, more_queries)


def words(one: Comparison) -> str:
    """Both cells of a comparison."""
    (L, e, r), (_, f, s) = one.first, one.second
    rate = f" = {e:g}$" if e == f else f"$ from {e:g} to {f:g}"
    ratio = f"ratio {r:g}" if r == s else f"ratio {r:g} to {s:g}"
    return rf"$L = {L}$, $\eta_Z{rate}, {ratio}: mean difference {one.mean:+.4f}"


def told(found: Sequence[Comparison]) -> Iterator[Said]:
    """Facts for what is resolved; undecided if more than one comparison in twenty stays open."""
    for one in found:
        if one.seen:
            yield holds(one.seen == one.claimed, words(one))
    rest = [one for one in found if not one.seen]
    if len(rest) > UNRESOLVED * len(found):
        where = "; ".join(words(one) for one in rest)
        yield undecided(f"{len(rest)} of {len(found)} comparisons are not significant: {where}")
    yield count("pairs", len(found))
    yield count("clear", len(found) - len(rest))
    yield count("open", len(rest))


def counted(table: Mapping[Cell, Floats]) -> Iterator[Said]:
    """The most and the fewest seeds of a size."""
    sizes = [len(values) for values in table.values()]
    yield result("many", max(sizes))
    yield result("few", min(sizes))


def shuffled(table: Mapping[Cell, Floats]) -> dict[Cell, Floats]:
    """The ratios exchanged at random within each seed, so that no ratio differs from another."""
    rng = np.random.default_rng(0)
    out: dict[Cell, Floats] = {}
    ratios = sorted({r for _, _, r in table})
    for L, e in sorted({(L, e) for L, e, _ in table}):
        rows = rng.permuted(np.array([table[L, e, r] for r in ratios]), axis=0)
        out |= {(L, e, r): row for r, row in zip(ratios, rows, strict=True)}
    return out


@check(
    "tian2023-fig-6",
    over="streams of samples",
    instances=of_medium,
    size=lambda one: one.seeds,
    name=lambda one: "",
    says=r"On Syn-Medium, {pairs} comparisons test whether each step up in $\eta_Z$ at a fixed "
    r"ratio $\eta_Y/\eta_Z$ lowers the entropy, and each step up in the ratio from 2 on raises "
    "it. At a joint level of 1 %, {clear} comparisons are significant, all as the paper states, "
    "and {open} are not significant. The comparisons are paired by seed, with {many} seeds for "
    "one query and {few} for each other number of queries. From the ratio 1 to 2 the entropy "
    r"falls at every $\eta_Z$ for {dips} of 4 numbers of queries, and rises at every $\eta_Z$ "
    "for {rising} of them. For {tails} combinations of rates and number of queries, some seed "
    "ends with an entropy far below the median. The lowest such entropy is {deepest} robust "
    "standard deviations below the median.",
    observes=True,
    planted={
        "The threshold ratio set to 1 instead of 2.": {"threshold": 1.0},
        "The ratios permuted at random within each seed.": Variant(
            {"mixed": True}, expected=Verdict.UNDECIDED
        ),
    },
)
def check_tian2023_fig_6(one: Sweep, threshold: float = 2.0, mixed: bool = False) -> Iterator[Said]:
    """Entropy falls with eta_Z at a fixed ratio, and rises with the ratio from the threshold on."""
    table = shuffled(one.entropy) if mixed else one.entropy
    found = figure_6.judge(table, threshold)
    yield from told((*found.against, *found.supported, *found.unresolved))
    yield from counted(table)
    kinds = list(figure_6.dips(table).values())
    tails = figure_6.tails(table)
    yield result("dips", kinds.count("dip"))
    yield result("rising", kinds.count("no dip"))
    yield result("tails", len(tails))
    yield result("deepest", max(tails.values(), default=0.0), 2, SEEDS)


# The threshold of Figure 6


@dataclass(frozen=True)
class Thresholds:
    """All sizes of Figure 6: one experiment."""

    sizes: tuple[expected_loss.Size, ...]


def of_expectation() -> list[Thresholds]:
    """The sizes of Figure 6 on the expected loss."""
    return [Thresholds(tuple(expected_loss.all_sizes()))]


@check(
    "tian2023-app-threshold",
    over="sizes",
    instances=of_expectation,
    size=lambda one: len(one.sizes),
    name=lambda one: "",
    says="On the expected loss of the classes of Syn-Medium, without momentum, the entropy after "
    r"100 steps first falls and then rises with the ratio $\eta_Y/\eta_Z$, for all {tried} "
    "numbers of queries. The minimum of the entropy is at ratios from {off_low} to {off_high} "
    "and is {depth} to {depth_most} nats below the value at ratio 0.5. With momentum 0.9, at the "
    r"same effective rates (each rate divided by $1 - \beta$, where $\beta$ is the momentum), the "
    "minimum is at ratios from {on_low} to {on_high}.",
    fails="On the expected loss, without momentum, the entropy after 100 steps does not first "
    r"fall and then rise with the ratio $\eta_Y/\eta_Z$.",
    observes=True,
    readings={
        "The ratio alone determines the threshold: it is the same with and without momentum, "
        "at the same effective rates.": {"which": "place"}
    },
    planted={
        "No momentum in either set of runs, so that the threshold is the same.": Variant(
            {"which": "place", "beta": 0.0}, expected=Verdict.SEEN
        ),
        "The entropy falls with the ratio up to 10.": {"first": -1},
        "The entropy rises with the ratio from 0.5 on.": {"first": 0},
    },
)
def check_tian2023_app_threshold(
    one: Thresholds, beta: float = 0.9, which: str = "dip", first: int | None = None
) -> Iterator[Said]:
    """Without momentum entropy falls up to one of the ratios from 1 to 5, and rises from there."""
    ratios = expected_loss.RATIOS
    for size in one.sizes:
        entropy = expected_loss.dips(size, 0.0)
        on, off = int(np.argmin(expected_loss.dips(size, beta))), int(np.argmin(entropy))
        where = f"{size.name}: least at ratio {ratios[on]:g} with momentum, {ratios[off]:g} without"
        if which == "place":
            yield holds(on == off, where)
        else:
            turn = off if first is None else range(len(ratios))[first]
            steps = np.diff(entropy)
            yield holds(bool((steps[:turn] < 0).all() and (steps[turn:] > 0).all()), where)
            yield holds(1 <= ratios[off] < ratios[-1], where)
        yield least("depth", float(entropy[0] - entropy[off]), 2, "the grid of ratios")
        yield most("depth_most", float(entropy[0] - entropy[off]), 2, "the grid of ratios")
        yield least("on_low", ratios[on], 2, "the grid of ratios")
        yield most("on_high", ratios[on], 2, "the grid of ratios")
        yield least("off_low", ratios[off], 2, "the grid of ratios")
        yield most("off_high", ratios[off], 2, "the grid of ratios")


# A single token

SHARP: Cell = (1, 3.0, 10.0)  # one query, eta_Z = 3, eta_Y = 30


@check(
    "ours-single-winner",
    over="streams of samples",
    instances=of_medium,
    size=lambda one: len(one.top[SHARP]),
    name=lambda one: "",
    says=r"In {tried} runs of Syn-Medium with one query, $\eta_Z = 3$, and $\eta_Y = 30$, "
    "{winners} of {classes} classes ended with more than 0.99 of their attention on one token, "
    "and {strong} with more than 0.9. In each class, take the largest share of a single token. The "
    "largest of these shares over all classes is {best}, and their median is {median}.",
    fails="No class ends with more than 0.99 of its attention on one token; the largest share "
    "is {best}.",
    observes=True,
    planted={
        r"The slowest attention, $\eta_Z = 0.5$, at equal rates.": {"cell": (1, 0.5, 1.0)},
        "A winner required to have 0.999 of the attention.": {"level": 0.999},
    },
)
def check_ours_single_winner(one: Sweep, cell: Cell = SHARP, level: float = 0.99) -> Iterator[Said]:
    """Some class of some run ends with more than 0.99 of its attention on a single token."""
    found = one.top[cell]
    yield holds(bool((found > level).any()), f"the most is {found.max():.4f}")
    yield result("winners", int((found > level).sum()))
    yield result("strong", int((found > 0.9).sum()))
    yield result("classes", found.size)
    yield result("best", float(found.max()), 4, LONG_RUN)
    yield result("median", float(np.median(found)), 2, SEEDS)


# Figures 11 and 12


def neighbours(table: Mapping[Cell, Floats], along: int, sign: int) -> list[Comparison]:
    """Neighbouring lines: along 1 is eta_Z, along 2 the ratio; sign 1 claims a rise."""
    pairs: list[tuple[Cell, Cell]] = []
    for L, e, r in sorted(table):
        line = sorted(x for x in table if x[0] == L and x[3 - along] == (L, e, r)[3 - along])
        after = line[line.index((L, e, r)) + 1 :]
        pairs += [((L, e, r), after[0])] if after else []
    return [
        Comparison(a, b, sign, *figure_6.compare(table[a], table[b], LEVEL / len(pairs)))
        for a, b in pairs
    ]  # fmt: skip


def descents(one: Sweep, along: int, sign: int, early: int = 0) -> Iterator[Said]:
    """Which of two neighbouring lines falls faster, and whether it is that of higher entropy."""
    drop = {cell: found[:, early] - found[:, -1] for cell, found in one.recall.items()}
    found = neighbours(drop, along, sign)
    yield from told(found)
    alike = [
        pair.mean * float(one.entropy[pair.second].mean() - one.entropy[pair.first].mean()) > 0
        for pair in found
    ]
    yield from counted(drop)
    yield count("with_entropy", sum(alike))
    yield count("right", sum(pair.mean * sign > 0 for pair in found))


SAYS = (
    "On Syn-Medium, {pairs} comparisons test whether recall decreases FASTER, as the threshold "
    "grows, for the larger of two neighboring values of RATE. At a joint level of 1 %, {clear} "
    "comparisons are significant, and all of them confirm this; {open} are not significant. The "
    "comparisons are paired by seed, with {many} seeds for one query and {few} for each other "
    "number of queries. In {with_entropy} comparisons recall decreases faster for the runs of "
    "higher entropy, in agreement with the paper's explanation."
)
FLAT = Variant({"early": -1}, expected=Verdict.UNDECIDED)


@check(
    "tian2023-fig-11",
    over="streams of samples",
    instances=of_medium,
    size=lambda one: one.seeds,
    name=lambda one: "",
    says=SAYS.replace("FASTER", "faster").replace("RATE", r"$\eta_Y/\eta_Z$"),
    observes=True,
    planted={
        "The claim that recall decreases more slowly for the larger ratio.": {"sign": -1},
        "The decrease measured between two equal thresholds.": FLAT,
    },
)
def check_tian2023_fig_11(one: Sweep, sign: int = 1, early: int = 0) -> Iterator[Said]:
    """At fixed eta_Z recall(first threshold) - recall(last) is the larger, the larger eta_Y."""
    yield from descents(one, 2, sign, early)


@check(
    "tian2023-fig-12",
    over="streams of samples",
    instances=of_medium,
    size=lambda one: one.seeds,
    name=lambda one: "",
    says=SAYS.replace("FASTER", "more slowly").replace("RATE", r"$\eta_Z$"),
    observes=True,
    planted={
        r"The claim that recall decreases faster for the larger $\eta_Z$.": {"sign": 1},
        "The decrease measured between two equal thresholds.": FLAT,
    },
)
def check_tian2023_fig_12(one: Sweep, sign: int = -1, early: int = 0) -> Iterator[Said]:
    """At a fixed ratio recall(first threshold) - recall(last) is the smaller, the larger eta_Z."""
    yield from descents(one, 1, sign, early)
