"""What a sweep says of rates: exponents with their spread, claims counted, failures named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ntpcli.sweep.columns import CLAIMS, COLUMNS, FAILS, HOLDS, OUTSIDE, SILENT, Row
from ntpverdicts.tables import Download, Table

RESAMPLES = 400  # of the data sets; the ends of an interval then move by a few percent of its width
# Runs with one of these step from one row to the next on the same data.
_SAME_DATA = (
    "generator",
    "vocab_size",
    "sentences",
    "max_length",
    "frequent",
    "max_depth",
    "max_requests",
    "repair",
    "seed",
)


@dataclass(frozen=True)
class Spread:
    """How a number is spread over some runs.

    Attributes:
        runs: how many runs.
        sets: how many data sets they are on.
        low: its quantile of 5 percent.
        median: its median.
        high: its quantile of 95 percent.
        interval: where the median may lie, 95 percent of medians of resampled data sets.
    """

    runs: int
    sets: int
    low: float
    median: float
    high: float
    interval: tuple[float, float]

    def cells(self, digits: int) -> tuple[str, ...]:
        """The spread as cells of a table."""
        shown = [f"{value:.{digits}f}" for value in (self.low, self.median, self.high)]
        first, last = (f"{value:.{digits}f}" for value in self.interval)
        return str(self.runs), str(self.sets), *shown, f"{first} to {last}"


SPREAD_HEADER = ("runs", "data sets", "5% of runs below", "median", "5% above", "median, 95%")


def finished(rows: Iterable[Row]) -> list[Row]:
    """The rows of runs that did not fail."""
    return [row for row in rows if row["status"] == "ok"]


def idle(row: Row) -> bool:
    """Whether the data have a tight pair without force, which brings a logarithm."""
    return bool(row["idle_pairs"])


def spread(rows: Sequence[Row], column: str, seed: int) -> Spread | None:
    """The spread of a column; None where no run has a value.

    Runs on the same data are not independent, so that whole data sets are resampled, not runs.

    Args:
        rows: the runs.
        column: which number.
        seed: of the resampling.
    """
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        value = row[column]
        if isinstance(value, int | float):
            groups.setdefault(tuple(row[name] for name in _SAME_DATA), []).append(float(value))
    if not groups:
        return None
    sets = [np.array(values) for values in groups.values()]
    rng = np.random.default_rng(seed)
    medians = [
        np.median(np.concatenate([sets[i] for i in rng.integers(len(sets), size=len(sets))]))
        for _ in range(RESAMPLES)
    ]
    low, median, high = np.quantile(np.concatenate(sets), (0.05, 0.5, 0.95)).tolist()
    first, last = np.quantile(medians, (0.025, 0.975)).tolist()
    return Spread(sum(map(len, sets)), len(sets), low, median, high, (first, last))


def column_of(rows: Iterable[Row], column: str) -> list[float]:
    """The numbers in a column, in the order of the rows; rows without one are left out."""
    return [float(value) for row in rows if isinstance(value := row[column], int | float)]


def values_of(rows: Iterable[Row], column: str) -> list[int | float]:
    """The different numbers in a column, increasing."""
    return sorted({value for row in rows if isinstance(value := row[column], int | float)})


def kinds(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The finished runs, by whether a tight pair of their data carries no force."""
    every = finished(rows)
    parts = [
        ("no idle pair", [row for row in every if not idle(row)]),
        ("an idle pair", [row for row in every if idle(row)]),
    ]
    return [(name, part) for name, part in parts if part]


def exponent_table(rows: Sequence[Row], seed: int) -> Table:
    """Exponents of 1 - cos and of its bound, over two decades and over the last."""
    columns = {
        "1 − cos, two decades": "direction_exponent",
        "1 − cos, last decade": "direction_exponent_last",
        "bound, two decades": "bound_exponent",
    }
    cells = []
    for kind, part in kinds(rows):
        for name, column in columns.items():
            found = spread(part, column, seed)
            if found is not None:
                cells.append((kind, name, *found.cells(3)))
    return Table(("data with", "exponent of", *SPREAD_HEADER), tuple(cells))


def factor_table(rows: Sequence[Row], factors: Sequence[str], column: str, seed: int) -> Table:
    """One column by the values of each factor, the data without an idle pair first.

    Args:
        rows: the runs.
        factors: columns by whose values the runs are grouped, one at a time.
        column: which number.
        seed: of the resampling.
    """
    cells = []
    for kind, part in kinds(rows):
        for factor in factors:
            for value in values_of(part, factor):
                found = spread([row for row in part if row[factor] == value], column, seed)
                if found is not None:
                    cells.append((kind, factor, f"{value:g}", *found.cells(3)))
    return Table(("data with", "by", "", *SPREAD_HEADER), tuple(cells))


def growth_table(rows: Sequence[Row]) -> Table:
    """Growth of the residual for each unit of log t: the range over all runs of each kind."""
    cells = []
    for kind, part in kinds(rows):
        found = values_of(part, "residual_growth")
        if found:
            cells.append(
                (kind, str(len(part)), *(f"{round(x, 3) + 0.0:.3f}" for x in (found[0], found[-1])))
            )
    return Table(("data with", "runs", "least growth", "largest growth"), tuple(cells))


def loss_table(rows: Sequence[Row]) -> Table:
    """Rates of the loss excess by generator, in units of eta / ||W_kq_star||, and the bound's."""
    cells = []
    every = finished(rows)
    for generator in sorted({str(row["generator"]) for row in every}):
        part = [row for row in every if row["generator"] == generator]
        rates, claimed = values_of(part, "loss_rate"), values_of(part, "loss_rate_bound")
        if rates:
            cells.append(
                (
                    generator,
                    str(len(part)),
                    f"{rates[0]:.6f} to {rates[-1]:.6f}",
                    f"{claimed[0]:.4f} to {claimed[-1]:.4f}",
                )
            )
    return Table(("generator", "runs", "measured rate", "rate of equation (4)"), tuple(cells))


def claims_table(rows: Sequence[Row]) -> Table:
    """On how many runs each claim holds, fails, says nothing, or presumes what is not so."""
    from ntpbook.catalogue import find_claim  # only where claims were judged

    every = finished(rows)
    cells = []
    for label in CLAIMS:
        counts = Counter(row[label] for row in every)
        numbers = [str(counts[word]) for word in (HOLDS, FAILS, SILENT, OUTSIDE)]
        cells.append((find_claim(label).number, *numbers))
    return Table(
        ("claim", "holds", "fails", "says nothing", "outside its hypotheses"), tuple(cells)
    )


def slack_table(rows: Sequence[Row]) -> Table:
    """How much room the corrected Theorem 1 leaves, over all runs on which it can be judged."""
    every = finished(rows)
    named: list[tuple[str, str, Callable[[float], str]]] = [
        ("smallest relative slack", "thm_1_corrected_slack", lambda x: f"{x:.1e}"),
        ("1 − cos divided by its bound, at most", "thm_1_used_log10", lambda x: f"10^{x:.1f}"),
        ("step from which the bound beats the norms", "thm_1_bites_log10", lambda x: f"10^{x:.1f}"),
    ]
    cells = []
    for name, column, show in named:
        found = column_of(every, column)
        if found:
            quantiles = np.quantile(found, (0.0, 0.5, 1.0)).tolist()
            cells.append((name, str(len(found)), *map(show, quantiles)))
    return Table(("corrected Theorem 1", "runs", "least", "median", "largest"), tuple(cells))


def failure_table(rows: Sequence[Row]) -> Table:
    """Runs that failed, by generator and reason."""
    counts = Counter(
        (str(row["generator"]), str(row["repair"]), f"{row['error']}: {_first(row['message'])}")
        for row in rows
        if row["status"] == "failed"
    )
    cells = [(*key, str(count)) for key, count in sorted(counts.items())]
    return Table(("generator", "repair", "reason", "runs"), tuple(cells))


def _first(message: object) -> str:
    """A message up to what differs from run to run, without the marks of code of a terminal."""
    return str(message).split(": '")[0].replace("`", "")


def download(rows: Sequence[Row]) -> Download:
    """All rows and columns, as a file that the page links to."""
    header = tuple(column.name for column in COLUMNS)
    cells = [tuple("" if row[name] is None else row[name] for name in header) for row in rows]
    return Download("readers-sweeps.csv", header, cells)
