"""Checks of the synthetic experiments: Figures 4, 5, 6, 11 and 12."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, product

import numpy as np
from numpy.typing import NDArray

from ntpcore.tian2023.classes import SequenceClasses, synthetic_classes
from ntpcore.tian2023.experiments import (
    ETA_Z,
    QUERIES,
    RATIOS,
    Stream,
    cells,
    common_mass,
    distinct_entropy,
    distinct_shares,
    recall,
)
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Download, Table

Floats = NDArray[np.float64]
Cell = tuple[int, float, float]  # queries, eta_Z, eta_Y / eta_Z

THRESHOLDS = {1: (0.028, 0.038), 3: (0.012, 0.016), 5: (0.0075, 0.0105), 10: (0.0040, 0.0050)}

# Figure 4


def entropies(streams: Sequence[Stream], cell: int, at: int = -1) -> Floats:
    """Entropy of the distinct tokens after one recorded step, for each seed."""
    return np.array([distinct_entropy(s.plan.classes, s.Z[cell, at]) for s in streams])


def first_below(losses: Floats, level: float) -> int:
    """The first iteration whose batch has a loss below the level; the number of all if none has."""
    found = np.flatnonzero(losses < level)
    return int(found[0]) if len(found) else len(losses)


def check_tian2023_fig_4(streams: Sequence[Stream], level: float = 0.01) -> Check:
    """Attention becomes sparse; a faster decoder converges sooner and leaves attention denser.

    Args:
        streams: runs of Syn-Small with two pairs of rates, the slower decoder first; their first
            and last recorded steps are the start and the end.
        level: loss that counts as converged.
    """
    label, unit = "tian2023-fig-4", "seeds"
    slow, fast = entropies(streams, 0), entropies(streams, 1)
    start = entropies(streams, 0, 0)
    arrive = np.array([[first_below(s.losses[c], level) for s in streams] for c in (0, 1)])
    parts = {
        "sparser at the end than at the start, slow decoder": start - slow,
        "sparser at the end than at the start, fast decoder": start - fast,
        "the fast decoder converges sooner": (arrive[0] - arrive[1]).astype(float),
        "the fast decoder leaves attention denser": fast - slow,
    }
    wrong = [(text, int(i)) for text, gains in parts.items() for i in np.flatnonzero(~(gains > 0))]
    classes = streams[0].plan.classes
    top = np.array([distinct_shares(classes, s.Z[0, -1]).max(axis=1).mean() for s in streams])
    numbers = {
        "start": f"{start.mean():.3f}",
        "slow": f"{slow.mean():.3f}",
        "slow_sd": f"{slow.std(ddof=1):.3f}",
        "fast": f"{fast.mean():.3f}",
        "fast_sd": f"{fast.std(ddof=1):.3f}",
        "top": f"{top.mean():.2f}",
        "slow_arrives": f"{arrive[0].mean():.0f}",
        "fast_arrives": f"{arrive[1].mean():.0f}",
        "slow_common": f"{np.mean([common_mass(classes, s.Z[0, -1]) for s in streams]):.2f}",
        "fast_common": f"{np.mean([common_mass(classes, s.Z[1, -1]) for s in streams]):.2f}",
    }
    if wrong:
        text, i = wrong[0]
        return Check(
            label,
            Verdict.REFUTED,
            len(streams),
            unit,
            "A part of the claim fails.",
            witness=f"seed {streams[i].plan.seed}: not so that {text}",
            numbers=numbers,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        len(streams),
        unit,
        f"In every seed. Entropy of the distinct part of attention: {numbers['start']} at the "
        f"start, {numbers['slow']} ± {numbers['slow_sd']} with the slow decoder and "
        f"{numbers['fast']} ± {numbers['fast_sd']} with the fast one; the loss falls below "
        f"{level} after {numbers['slow_arrives']} and {numbers['fast_arrives']} iterations. "
        f"Neither is near one winner: the strongest distinct token has {numbers['top']} of the "
        "distinct part.",
        numbers=numbers,
        parameters={"seeds": len(streams)},
    )


def control_tian2023_fig_4(streams: Sequence[Stream]) -> Control:
    """The two pairs of rates exchanged."""
    swapped = [Stream(s.plan, s.losses[::-1], s.Z[::-1]) for s in streams]
    return Control(
        "The runs with the fast decoder are taken for those with the slow one.",
        Verdict.REFUTED,
        check_tian2023_fig_4(swapped).verdict,
    )


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


# Figure 5


def favourites(classes: SequenceClasses, z: Floats) -> list[frozenset[int]]:
    """For each class, the distinct tokens (0 to 9) with more than an equal share of attention."""
    shares = distinct_shares(classes, z)
    return [frozenset(int(x) for x in np.flatnonzero(row > 1 / len(row))) for row in shares]


def overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """Size of the intersection by that of the union."""
    return len(one & other) / len(one | other)


def check_tian2023_fig_5(streams: Sequence[Stream]) -> Check:
    """With Adam, another learning rate picks another subset of the distinct tokens.

    The subset is the set of tokens with more than an equal share. Subsets of different rates must
    differ in every seed and class, and rates must explain more than seeds do: on average, subsets
    of one rate and different seeds overlap more than subsets of different rates.

    Args:
        streams: runs of Syn-Small by Adam with several rates.
    """
    label, unit = "tian2023-fig-5", "seeds"
    classes = streams[0].plan.classes
    rates = streams[0].plan.rates
    sets = [[favourites(classes, s.Z[c, -1]) for s in streams] for c in range(len(rates))]
    equal = [
        (streams[i].plan.seed, rates[a][0], rates[b][0])
        for a, b in combinations(range(len(rates)), 2)
        for i in range(len(streams))
        if any(x == y for x, y in zip(sets[a][i], sets[b][i], strict=True))
    ]
    between = np.mean(
        [
            overlap(x, y)
            for a, b in combinations(range(len(rates)), 2)
            for one, other in product(sets[a], sets[b])
            for x, y in zip(one, other, strict=True)
        ]
    )
    within = np.mean(
        [
            overlap(x, y)
            for chosen in sets
            for one, other in combinations(chosen, 2)
            for x, y in zip(one, other, strict=True)
        ]
    )
    shares = np.array(
        [[distinct_shares(classes, s.Z[c, -1]) for s in streams] for c in range(len(rates))]
    )
    peaks = [float(shares[c].argmax(axis=-1).mean()) for c in range(len(rates))]
    strong = float((shares > 0.05).sum(axis=-1).mean())
    numbers = {
        "within": f"{within:.2f}",
        "between": f"{between:.2f}",
        "strong": f"{strong:.1f}",
        "first_peak": f"{peaks[0]:.1f}",
        "last_peak": f"{peaks[-1]:.1f}",
    }
    if equal or within <= between:
        return Check(
            label,
            Verdict.REFUTED,
            len(streams),
            unit,
            "Learning rates do not decide the subset.",
            witness=f"same subset at two rates (seed, rates): {equal[:1]}; mean overlap "
            f"{within:.2f} within a rate, {between:.2f} between rates",
            numbers=numbers,
        )
    peaks_said = ", ".join(f"{peak:.1f}" for peak in peaks)
    return Check(
        label,
        Verdict.CONSISTENT,
        len(streams),
        unit,
        f"Subsets of different rates differ in every seed and class; the mean overlap is "
        f"{within:.2f} within a rate and {between:.2f} between rates. The strongest token moves up "
        f"with the rate (mean places {peaks_said} of 0 to 9). It is a shift, not a choice: on "
        f"average {strong:.1f} of the 10 distinct tokens keep more than 5 % each.",
        numbers=numbers,
        parameters={"seeds": len(streams)},
    )


def control_tian2023_fig_5(streams: Sequence[Stream]) -> Control:
    """The same rate in the place of all three."""
    same = [Stream(s.plan, s.losses, s.Z[[0] * len(s.Z)]) for s in streams]
    return Control(
        "The runs of one learning rate stand in for those of all.",
        Verdict.REFUTED,
        check_tian2023_fig_5(same).verdict,
    )


# Figure 6


def entropy_table(streams: Sequence[Stream], at: int = -1) -> dict[Cell, Floats]:
    """Entropy of the distinct tokens for each cell of the sweep: one value for each seed."""
    return {
        (queries, eta_z, round(eta_y / eta_z, 9)): np.array(
            [distinct_entropy(synthetic_classes(queries, 2), z) for z in Zs]
        )
        for queries, (eta_y, eta_z), Zs in cells(streams, at)
    }


def check_tian2023_fig_6(table: Mapping[Cell, Floats], threshold: float = 2.0) -> Check:
    """Entropy falls with eta_Z at a fixed ratio, and rises with the ratio beyond the threshold.

    Args:
        table: entropies of the sweep, see `entropy_table`.
        threshold: the ratio from which entropy is said to rise.
    """
    label, unit = "tian2023-fig-6", "comparisons of neighbouring cells"
    sizes = sorted({queries for queries, _, _ in table})
    etas = sorted({eta_z for _, eta_z, _ in table})
    ratios = sorted({ratio for _, _, ratio in table})
    falls = [
        ((q, low, r), (q, high, r)) for q in sizes for r in ratios for low, high in pairwise(etas)
    ]
    rises = [
        ((q, e, low), (q, e, high))
        for q in sizes
        for e in etas
        for low, high in pairwise(ratios)
        if low >= threshold
    ]
    pairs = [(a, b, -1) for a, b in falls] + [(a, b, 1) for a, b in rises]
    wrong = [(a, b, s) for a, b, s in pairs if not s * (table[b] - table[a]).mean() > 0]
    clear = sum(_z_score(s * (table[b] - table[a])) > 2 for a, b, s in pairs)
    lowest = {
        q: [min(ratios, key=lambda r: float(table[q, e, r].mean())) for e in etas] for q in sizes
    }
    dips = sum(all(r == threshold for r in found) for found in lowest.values())
    numbers = {
        "falls": str(len(falls)),
        "rises": str(len(rises)),
        "clear": str(clear),
        "pairs": str(len(pairs)),
        "dips": str(dips),
    }
    if wrong:
        a, b, sign = wrong[0]
        return Check(
            label,
            Verdict.REFUTED,
            len(pairs),
            unit,
            f"{len(wrong)} comparisons go the other way.",
            witness=f"(queries, eta_Z, ratio) from {a} to {b}: entropy "
            f"{table[a].mean():.3f} to {table[b].mean():.3f}, said to "
            f"{'rise' if sign > 0 else 'fall'}",
            numbers=numbers,
        )
    no_dip = [q for q, found in lowest.items() if any(r != threshold for r in found)]
    return Check(
        label,
        Verdict.CONSISTENT,
        len(pairs),
        unit,
        f"Mean entropy falls in all {len(falls)} steps up in eta_Z at a fixed ratio and rises in "
        f"all {len(rises)} steps up in the ratio from {threshold:g} on; {clear} of these "
        f"{len(pairs)} differences exceed two standard errors. A dip at {threshold:g} for every "
        f"eta_Z shows for {dips} of {len(sizes)} sizes"
        + (f", not for {', '.join(map(str, no_dip))} query token(s)." if no_dip else "."),
        numbers=numbers,
        parameters={"seeds": len(next(iter(table.values())))},
    )


def _z_score(differences: Floats) -> float:
    """Mean by standard error; all cells of one seed saw the same samples, so they are paired."""
    return float(differences.mean() / (differences.std(ddof=1) / len(differences) ** 0.5))


def control_tian2023_fig_6(table: Mapping[Cell, Floats]) -> Control:
    """The rise said to begin at a ratio of 1."""
    return Control(
        "The threshold ratio is put at 1 instead of 2.",
        Verdict.REFUTED,
        check_tian2023_fig_6(table, threshold=1.0).verdict,
    )


def show_fig_6(table: Mapping[Cell, Floats]) -> Table:
    """All cells of Figure 6: mean and standard deviation over seeds."""
    sizes = sorted({queries for queries, _, _ in table})
    etas = sorted({eta_z for _, eta_z, _ in table})
    ratios = sorted({ratio for _, _, ratio in table})
    rows = tuple(
        (
            str(q),
            f"{e:g}",
            *(f"{table[q, e, r].mean():.3f} ± {table[q, e, r].std(ddof=1):.3f}" for r in ratios),
        )
        for q in sizes
        for e in etas
    )
    return Table(("L", "eta_Z", *(f"ratio {r:g}" for r in ratios)), rows)


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


# Figures 11 and 12


def thresholds(queries: int, points: int = 21) -> Floats:
    """Thresholds on the axis of the paper's figure, near 1/M."""
    return np.linspace(*THRESHOLDS[queries], points)


def recall_table(streams: Sequence[Stream]) -> dict[Cell, Floats]:
    """Recall at the thresholds of each size, averaged over seeds, for each cell."""
    return {
        (queries, eta_z, round(eta_y / eta_z, 9)): np.mean(
            [recall(synthetic_classes(queries, 2), z, thresholds(queries)) for z in Zs], axis=0
        )
        for queries, (eta_y, eta_z), Zs in cells(streams)
    }


def _descents(
    label: str,
    table: Mapping[Cell, Floats],
    entropy: Mapping[Cell, Floats],
    along: str,
    sign: int,
) -> Check:
    """Whether recall descends the faster (sign 1) or slower (-1), the larger eta_Z or the ratio."""
    unit = "comparisons of neighbouring lines"
    drop = {cell: float(found[0] - found[-1]) for cell, found in table.items()}
    pairs = []
    for q in QUERIES:
        if along == "ratio":
            pairs += [((q, e, a), (q, e, b)) for e in ETA_Z for a, b in pairwise(RATIOS)]
        else:
            pairs += [((q, a, r), (q, b, r)) for r in RATIOS for a, b in pairwise(ETA_Z)]
    wrong = [(a, b) for a, b in pairs if not sign * (drop[b] - drop[a]) > 0]
    with_entropy = sum(
        (drop[b] - drop[a]) * float(entropy[b].mean() - entropy[a].mean()) > 0 for a, b in pairs
    )
    numbers = {
        "pairs": str(len(pairs)),
        "right": str(len(pairs) - len(wrong)),
        "with_entropy": str(with_entropy),
    }
    word = "faster" if sign > 0 else "slower"
    name = "the ratio" if along == "ratio" else "eta_Z"
    said = (
        f"Recall falls {word} from the first to the last threshold for the larger value of {name} "
        f"in {len(pairs) - len(wrong)} of {len(pairs)} comparisons; in {with_entropy} of them the "
        "line of higher entropy falls faster, as the paper says in explanation."
    )
    if wrong:
        a, b = wrong[0]
        return Check(
            label,
            Verdict.REFUTED,
            len(pairs),
            unit,
            said,
            witness=f"(queries, eta_Z, ratio) from {a} to {b}: recall falls by {drop[a]:.3f} and "
            f"by {drop[b]:.3f}",
            numbers=numbers,
        )
    return Check(label, Verdict.CONSISTENT, len(pairs), unit, said, numbers=numbers)


def check_tian2023_fig_11(
    table: Mapping[Cell, Floats], entropy: Mapping[Cell, Floats], sign: int = 1
) -> Check:
    """At fixed eta_Z recall descends the faster, the larger eta_Y.

    Args:
        table: see `recall_table`.
        entropy: see `entropy_table`.
        sign: -1 for the opposite claim, the negative control.
    """
    return _descents("tian2023-fig-11", table, entropy, "ratio", sign)


def check_tian2023_fig_12(
    table: Mapping[Cell, Floats], entropy: Mapping[Cell, Floats], sign: int = -1
) -> Check:
    """At a fixed ratio recall descends the slower, the larger eta_Z.

    Args:
        table: see `recall_table`.
        entropy: see `entropy_table`.
        sign: 1 for the opposite claim, the negative control.
    """
    return _descents("tian2023-fig-12", table, entropy, "eta_z", sign)


def control_tian2023_fig_11(
    table: Mapping[Cell, Floats], entropy: Mapping[Cell, Floats]
) -> Control:
    """The opposite claim."""
    return Control(
        "Recall is said to fall slower for the larger ratio.",
        Verdict.REFUTED,
        check_tian2023_fig_11(table, entropy, sign=-1).verdict,
    )


def control_tian2023_fig_12(
    table: Mapping[Cell, Floats], entropy: Mapping[Cell, Floats]
) -> Control:
    """The opposite claim."""
    return Control(
        "Recall is said to fall faster for the larger eta_Z.",
        Verdict.REFUTED,
        check_tian2023_fig_12(table, entropy, sign=1).verdict,
    )


def download_recall(name: str, table: Mapping[Cell, Floats]) -> Download:
    """Recall at all thresholds as a file; the same numbers draw both figures."""
    rows = [
        (q, e, r, float(threshold), float(value))
        for (q, e, r), found in sorted(table.items())
        for threshold, value in zip(thresholds(q), found, strict=True)
    ]
    return Download(name, ("query_tokens", "eta_z", "eta_ratio", "threshold", "recall"), rows)
