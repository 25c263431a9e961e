"""The runs behind the figures of the synthetic experiments, and the tables made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s8_synthetic import experiments, figure_6
from ntpbook.tian2023.s8_synthetic.experiments import (
    QUERIES,
    Stream,
    cells,
    distinct_entropy,
    distinct_shares,
    recall,
)
from ntpbook.tian2023.s8_synthetic.figure_6 import Cell
from ntpcore.tian2023.classes import SequenceClasses, attention_scores, synthetic_classes
from ntpverdicts.once import once
from ntpverdicts.tables import Download, Table

Floats = NDArray[np.float64]

SLOW_AND_FAST = ((1.0, 1.0), (10.0, 1.0))  # Figure 4: (eta_Y, eta_Z)
ADAM = ((0.1, 0.1), (0.5, 0.5), (1.0, 1.0))  # Figure 5
# Updates after which Figure 4 shows attention, the last row being 48 there; and the end of the run.
MAPS = (0, 2, 4, 6, 8, 10, 48, 100)
# Axes of Figures 11 and 12: first and last threshold for each number of queries.
THRESHOLDS = {1: (0.028, 0.038), 3: (0.012, 0.016), 5: (0.0075, 0.0105), 10: (0.0040, 0.0050)}


# The runs, shared by the checks and the page


@once
def gradient_descent(seeds: int) -> tuple[Stream, ...]:
    """Syn-Small by gradient descent at both rates of Figure 4, one stream for each seed."""
    plans = [experiments.small(s, SLOW_AND_FAST, record=MAPS) for s in range(1, seeds + 1)]
    return tuple(experiments.simulate_all(plans))


@once
def adam(seeds: int) -> tuple[Stream, ...]:
    """Syn-Small by Adam at the three rates of Figure 5, one stream for each seed."""
    plans = [experiments.small(s, ADAM, adam=True) for s in range(1, seeds + 1)]
    return tuple(experiments.simulate_all(plans))


@once
def medium(one_query: int, more_queries: int) -> tuple[Stream, ...]:
    """The sweep of Syn-Medium.

    Args:
        one_query: seeds of L = 1, whose entropies spread most.
        more_queries: seeds of each larger L.
    """
    plans = [
        experiments.medium(L, seed)
        for L in QUERIES
        for seed in range(1, (one_query if L == 1 else more_queries) + 1)
    ]
    return tuple(experiments.simulate_all(plans))


# What is read from them


def entropies(streams: Sequence[Stream], cell: int, at: int = -1) -> Floats:
    """Entropy of the distinct tokens after one recorded step, for each seed."""
    return np.array([distinct_entropy(s.plan.classes, s.Z[cell, at]) for s in streams])


def first_below(losses: Floats, level: float) -> int:
    """The first iteration whose batch has a loss below the level; the number of all if none has."""
    found = np.flatnonzero(losses < level)
    return int(found[0]) if len(found) else len(losses)


def favourites(classes: SequenceClasses, z: Floats) -> list[frozenset[int]]:
    """For each class, the distinct tokens (0 to 9) with more than an equal share of attention."""
    shares = distinct_shares(classes, z)
    return [frozenset(int(x) for x in np.flatnonzero(row > 1 / len(row))) for row in shares]


def overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """Size of the intersection by that of the union."""
    return len(one & other) / len(one | other)


def entropy_table(streams: Sequence[Stream], at: int = -1) -> dict[Cell, Floats]:
    """Entropy of the distinct tokens for each cell of the sweep: one value for each seed."""
    return {
        (queries, eta_z, round(eta_y / eta_z, 9)): np.array(
            [distinct_entropy(synthetic_classes(queries, 2), z) for z in Zs]
        )
        for queries, (eta_y, eta_z), Zs in cells(streams, at)
    }


def top_table(streams: Sequence[Stream]) -> dict[Cell, Floats]:
    """The largest attention on one token: for each cell (S, K), a row for each seed."""
    return {
        (queries, eta_z, round(eta_y / eta_z, 9)): np.array(
            [attention_scores(synthetic_classes(queries, 2), z).max(axis=1) for z in Zs]
        )
        for queries, (eta_y, eta_z), Zs in cells(streams)
    }


def thresholds(queries: int, points: int = 21) -> Floats:
    """Thresholds on the axis of the paper's figure, near 1/M."""
    return np.linspace(*THRESHOLDS[queries], points)


def recall_table(streams: Sequence[Stream]) -> dict[Cell, Floats]:
    """Recall at the thresholds of each size, for each cell: a row for each seed."""
    return {
        (queries, eta_z, round(eta_y / eta_z, 9)): np.array(
            [recall(synthetic_classes(queries, 2), z, thresholds(queries)) for z in Zs]
        )
        for queries, (eta_y, eta_z), Zs in cells(streams)
    }


# Tables and files


def show_fig_6(table: Mapping[Cell, Floats]) -> Table:
    """All cells of Figure 6: mean, standard deviation over seeds, and number of seeds."""
    sizes = sorted({queries for queries, _, _ in table})
    etas = sorted({eta_z for _, eta_z, _ in table})
    ratios = sorted({ratio for _, _, ratio in table})
    rows = tuple(
        (
            str(q),
            str(len(table[q, e, ratios[0]])),
            f"{e:g}",
            *(f"{table[q, e, r].mean():.3f} ± {table[q, e, r].std(ddof=1):.3f}" for r in ratios),
        )
        for q in sizes
        for e in etas
    )
    return Table(("L", "seeds", "eta_Z", *(f"ratio {r:g}" for r in ratios)), rows)


def show_open(table: Mapping[Cell, Floats]) -> Table:
    """The comparisons of Figure 6 that its level does not resolve."""
    rows = tuple(
        (
            str(one.first[0]),
            f"{one.first[1]:g} to {one.second[1]:g}" if one.claimed < 0 else f"{one.first[1]:g}",
            f"{one.first[2]:g} to {one.second[2]:g}" if one.claimed > 0 else f"{one.first[2]:g}",
            "rise" if one.claimed > 0 else "fall",
            f"{one.mean:+.4f} ± {one.quantile * one.error:.4f}",
        )
        for one in figure_6.judge(table).unresolved
    )
    return Table(
        ("L", "eta_Z", "ratio", "entropy is claimed to", "mean difference and its interval"), rows
    )


def show_tails(table: Mapping[Cell, Floats]) -> Table:
    """Cells with a heavy lower tail: median, least value, and how deep that is."""
    rows = tuple(
        (
            str(q), f"{e:g}", f"{r:g}",
            f"{np.median(table[q, e, r]):.3f}", f"{table[q, e, r].min():.3f}", f"{depth:.1f}",
        )
        for (q, e, r), depth in sorted(figure_6.tails(table).items())
    )  # fmt: skip
    header = (
        "L",
        "eta_Z",
        "ratio",
        "median",
        "least",
        "robust standard deviations below the median",
    )
    return Table(header, rows)


def download_fig_4(streams: Sequence[Stream]) -> Download:
    """All losses of Figure 4."""
    rows = [
        (eta_y, eta_z, stream.plan.seed, t, float(loss))
        for c, (eta_y, eta_z) in enumerate(streams[0].plan.rates)
        for stream in streams
        for t, loss in enumerate(stream.losses[c])
    ]
    header = ("eta_y", "eta_z", "seed", "iteration", "loss")
    return Download("tian2023-fig-4.csv", header, rows)


def download_fig_6(table: Mapping[Cell, Floats]) -> Download:
    """All cells of Figure 6 as a file."""
    rows = [
        (q, e, r, float(values.mean()), float(values.std(ddof=1)), len(values))
        for (q, e, r), values in sorted(table.items())
    ]
    header = ("query_tokens", "eta_z", "eta_ratio", "entropy_mean", "entropy_std", "seeds")
    return Download("tian2023-fig-6.csv", header, rows)


def show_long(streams: Sequence[Stream]) -> Table:
    """Mean entropies of long runs at their recorded steps."""
    plans = streams[0].plan
    rows = []
    for queries in sorted({s.plan.queries for s in streams}):
        chosen = [s for s in streams if s.plan.queries == queries]
        for c, (eta_y, eta_z) in enumerate(plans.rates):
            means = [entropies(chosen, c, at).mean() for at in range(len(plans.record))]
            said = (f"{mean:.3f}" for mean in means)
            rows.append((str(queries), f"{eta_y:g}", f"{eta_z:g}", *said))
    header = ("L", "eta_Y", "eta_Z", *(f"after {t}" for t in plans.record))
    return Table(header, tuple(rows))


def download_recall(name: str, table: Mapping[Cell, Floats]) -> Download:
    """Mean recall at all thresholds as a file; the same numbers draw both figures."""
    rows = [
        (q, e, r, float(threshold), float(value))
        for (q, e, r), found in sorted(table.items())
        for threshold, value in zip(thresholds(q), found.mean(axis=0), strict=True)
    ]
    return Download(name, ("query_tokens", "eta_z", "eta_ratio", "threshold", "recall"), rows)
