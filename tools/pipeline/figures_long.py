"""`make figures-long`: the synthetic experiments run twenty times longer, all cells and seeds.

Finished streams of samples are kept, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ntpbook.tian2023.s8_synthetic import experiments, runs
from ntpbook.tian2023.s8_synthetic.experiments import Plan
from ntpverdicts.tables import Table

FOLDER = Path("_build/figures-long")
ITERATIONS = 2000
RECORD = (100, 300, 1000, ITERATIONS)


def plans(seeds: int, iterations: int, record: tuple[int, ...]) -> list[Plan]:
    """Syn-Medium in all sizes, every pair of rates, for seeds 1, 2, ..."""
    return [
        experiments.medium(queries, seed, iterations=iterations, record=record)
        for queries in experiments.QUERIES
        for seed in range(1, seeds + 1)
    ]


def say_progress(started: float, done: int, total: int) -> None:
    """One line with the time left, counted from the streams of this run."""
    spent = time.monotonic() - started
    left = spent / done * (total - done)
    print(f"  {done} of {total} streams, {spent:.0f} s, about {left:.0f} s left", flush=True)


def as_text(table: Table) -> str:
    """A table for a terminal."""
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (table.header, *table.rows)
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run what is not finished, write one table for each recorded step, print the tables."""
    parser = argparse.ArgumentParser(prog="make figures-long", description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 2 or chosen.iterations < 1 or chosen.threads < 1:
        parser.error("give at least 2 seeds, 1 iteration and 1 thread")
    record = (*(t for t in RECORD if t < chosen.iterations), chosen.iterations)
    wanted = plans(chosen.seeds, chosen.iterations, record)
    print(f"Syn-Medium, {chosen.iterations} iterations, {chosen.seeds} seeds, in {chosen.folder}")
    started = time.monotonic()
    streams = experiments.simulate_all(
        wanted,
        threads=chosen.threads,
        folder=chosen.folder / "streams",
        progress=lambda done, total: say_progress(started, done, total),
    )
    for place, step in enumerate(record):
        table = runs.entropy_table(streams, place)
        file = runs.download_fig_6(table)
        target = chosen.folder / f"tian2023-fig-6-after-{step}.csv"
        target.write_text(file.text, encoding="utf-8")
        print(f"\nEntropy after {step} iterations ({target}):")
        print(as_text(runs.show_fig_6(table)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("stopped; finished streams are kept, the same command goes on")
    except OSError as error:
        sys.exit(
            f"figures-long: {error.filename or ''}: {error.strerror}; finished streams are kept"
        )
