"""`make wikitext`: the experiments on WikiText at full size, without a time limit.

Every run is kept after each recorded step, so that whatever stops it, the same command goes on and
ends with the same numbers.
"""

from __future__ import annotations

import os

# Before JAX is loaded: one thread for each run, so that sums are taken in one order.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import argparse
import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ntpbook.tian2023.s8_wikitext import checks, experiment, tables, text_model, text_runs, wikitext
from ntpbook.tian2023.s8_wikitext.text_runs import Plan
from ntpcore.data.dataset import InputError
from ntpverdicts.claims import Check, render_text
from ntpverdicts.tables import Download

FOLDER = Path("_build/wikitext")


class Clock:
    """Progress in updates, said at most once in some seconds, with the time left."""

    def __init__(self, plans: Sequence[Plan], every: float = 10.0) -> None:
        self.total = sum(_cost(plan) * plan.record[-1] for plan in plans)
        self.done = self.own = 0.0
        self.began = self.last = time.monotonic()
        self.every, self.lock = every, threading.Lock()

    def tick(self, plan: Plan, updates: int, found: bool) -> None:
        """Count some updates of a plan; those found done do not tell how fast it goes."""
        with self.lock:
            self.done += _cost(plan) * updates
            self.own += 0.0 if found else _cost(plan) * updates
            now = time.monotonic()
            if now - self.last < self.every or not self.own:
                return
            self.last = now
            left = (now - self.began) / self.own * (self.total - self.done)
            share = 100 * self.done / self.total
            print(f"  {share:.1f} %, about {left / 60:.0f} min left", flush=True)


def _cost(plan: Plan) -> float:
    """What one update costs, up to a factor: multiplications per token."""
    return plan.width * plan.vocabulary + plan.layers * plan.width * (
        4 * plan.width + 2 * plan.hidden
    )


def run_all(
    plans: Sequence[Plan], text: text_runs.Text, folder: Path, threads: int
) -> list[text_runs.TextRun]:
    """Train what is not finished, with progress."""
    clock = Clock(plans)
    return text_model.train_all(plans, text, threads=threads, folder=folder, tick=clock.tick)


def write(folder: Path, files: Sequence[Download], found: Sequence[Check]) -> None:
    """Put the tables and the checks into the folder."""
    for file in files:
        (folder / file.name).write_text(file.text, encoding="utf-8")
    rows = json.dumps([check.to_json() for check in found], ensure_ascii=False, indent=2)
    (folder / "checks.json").write_text(rows + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Read the text, train every plan, write tables and checks, print the checks."""
    parser = argparse.ArgumentParser(prog="make wikitext", description=__doc__)
    parser.add_argument("--wikitext-dir", default=os.environ.get("WIKITEXT_DIR", ""))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=1500, help="a multiple of 15")
    parser.add_argument("--vocabulary", type=int, default=0, help="0 for every token")
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args(arguments)
    if chosen.seeds < 2 or chosen.iterations < 15 or chosen.iterations % 15 or chosen.threads < 1:
        parser.error("give at least 2 seeds, iterations in a multiple of 15, and 1 thread")
    corpus = wikitext.read_corpus(chosen.wikitext_dir, chosen.vocabulary, full=True)
    print(f"Text: {corpus.source}, {len(corpus.train)} tokens, {len(corpus.vocabulary)} different")
    if not corpus.real:
        print("WIKITEXT_DIR names no folder; what follows says nothing about WikiText.")
    elif "train" not in corpus.digests:
        print("The folder has no training file; the validation file is trained on instead.")
    text = text_runs.Text(
        wikitext.segments(corpus.train, 20, 35),
        wikitext.pieces(corpus.held_out, 32, 35),
        wikitext.frequent_words(corpus, 40),
    )
    size, seeds = len(corpus.vocabulary), range(1, chosen.seeds + 1)
    record = tuple(range(0, chosen.iterations + 1, chosen.iterations // 15))
    seven = experiment.figure_7_plans(size, seeds, record, chosen.width)
    ten = experiment.figure_10_plans(
        size, seeds, chosen.iterations, chosen.width, every=chosen.iterations // 15
    )
    print(f"{len(seven) + len(ten)} runs, kept in {chosen.folder / 'runs'}", flush=True)
    runs = run_all([*seven, *ten], text, chosen.folder / "runs", chosen.threads)
    first, second = runs[: len(seven)], runs[len(seven) :]
    sweeps = experiment.sweeps_of(second, corpus.real)
    order = experiment.order_of(first, experiment.Source(corpus, text))
    found = [
        checks.check_tian2023_fig_7.judge(experiment.models_of(first, corpus.real)),
        checks.check_tian2023_fig_10.judge(sweeps),
        checks.check_ours_wikitext_order.judge([order]),
    ]
    files = [tables.file_of_runs(first, corpus), tables.file_of_sweeps(sweeps, corpus)]
    write(chosen.folder, files, found)
    for check in found:
        print(render_text(check))
    print(f"Tables and checks: {chosen.folder}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"wikitext: {error}")
    except KeyboardInterrupt:
        print("stopped; runs are kept, the same command goes on", file=sys.stderr, flush=True)
        os._exit(130)  # not waiting for what is being trained
    except OSError as error:
        sys.exit(f"wikitext: {error.filename or ''}: {error.strerror}; finished steps are kept")
