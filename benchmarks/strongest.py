"""The strongest peers, run by the Python of `.venv-bench`, where ours runs in the same process.

Everything that a row compares takes turns within a round, so that whatever else the machine does
falls on all. A ratio is the median over rounds of their time by ours in the same round, and its
spread is the smallest and the largest. One line of JSON for each row goes to the standard output.

    .venv-bench/bin/python -m benchmarks.strongest steps | threads | columns
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import solvers, sparse
from benchmarks.instances import layered_graph, problem_of, random_graph, random_samples
from ntpcore.exact import margin_fast
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import stepping
from ntpcore.huang2024.problem import Problem

Row = dict[str, Any]
ROUNDS = 5
GAP, CHECKED = 8.0, 50  # A, and the steps after which weights are compared
SIZES = ((20, 200), (200, 4000), (1000, 20_000), (10_000, 100_000))
SHARED = ((1000, 20_000), (10_000, 100_000))  # with all processors
WORK = 1e6  # nonzeros of all steps of one turn
DEAR = 1.0  # seconds: what takes longer gets fewer rounds
TURN = 0.02  # seconds of a solver in one round, at least
# From so many pairs on a solver is left out, to keep the run short.
SLOW_FROM = {"ProxQP": 5000, "OSQP, polished": 50_000, "OSQP, polished, 1e-5": 50_000}
SLOW_FROM |= {name: 5000 for name in solvers.SOLVERS if "1e-12" in name}
SLOW_FROM |= dict.fromkeys(("Clarabel", "Clarabel, faer", "PIQP", "PIQP, condensed"), 50000)


def row(
    name: str, size: str, peer: str, ours: list[float], theirs: list[float], more: Row | None = None
) -> Row:
    """A row of seconds by round."""
    ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
    return {
        "name": name,
        "size": size,
        "peer": peer,
        "ours": statistics.median(ours),
        "theirs": statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "low": min(ratios),
        "high": max(ratios),
        **(more or {}),
    }


def advance(one: Problem, threads: int, eta: float) -> sparse.Run:
    """Our steps from zero weights, as the peers take them."""
    loops = stepping.Loops(one, GAP, threads)
    loop = _fast.advance if loops.useful_threads == 1 else _fast.advance_on_threads

    def run(number: int) -> sparse.Floats:
        weights = np.zeros(len(one.entry_token))
        used = loops.useful_threads
        loop(loops.packed, weights, loops.room, eta, 0, number, np.inf, 0, 0.0, used)
        return weights

    return run


def steps_rows(
    sizes: tuple[tuple[int, int], ...] = SIZES, rounds: int = ROUNDS, threads: int = 1
) -> Iterator[Row]:
    """A step of stage 2, first phase."""
    clock = time.process_time if threads == 1 else time.perf_counter
    for size, number in sizes:
        one = problem_of(random_samples(np.random.default_rng(0), size, number))
        eta, data = 0.05 / size**0.5, sparse.flat(one)
        runs = {"ours": advance(one, threads, eta)}
        missing: list[Row] = []
        text = f"V={size}, N={number}, {len(one.optimal) + len(one.rival)} nonzeros"
        name = "stage 2, one step" + (f", {threads} processors" if threads > 1 else "")
        for peer, prepare in sparse.PEERS.items():
            if threads > 1 and not peer.startswith(("JAX", "PyTorch")):
                continue
            try:
                runs[peer] = prepare(data, GAP, eta)
            except ImportError as problem:
                missing.append({"name": name, "size": text, "peer": peer, "absent": str(problem)})
        expected = runs["ours"](CHECKED)
        errors = {peer: largest(run(CHECKED), expected) for peer, run in runs.items()}
        steps = max(5, int(WORK) // (len(one.optimal) + len(one.rival)))
        calls = {peer: partial(run, steps) for peer, run in runs.items()}
        times = by_turns(calls, rounds, clock)
        for peer in list(runs)[1:]:
            each = [[seconds / steps for seconds in times[who]] for who in ("ours", peer)]
            yield row(name, text, peer, *each, {"error": errors[peer]})
        yield from missing


def largest(found: sparse.Floats, expected: sparse.Floats) -> float:
    """The largest difference of weights.

    Raises:
        ArithmeticError: it is not a number, or so large that something else was computed.
    """
    apart = float(np.abs(found - expected).max())
    if not apart < 1e-9:
        raise ArithmeticError(f"a peer takes other steps: weights differ by {apart}")
    return apart


def by_turns(
    calls: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Seconds of each call, in rounds in which each has its turn, after one that is not counted."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            began = clock()
            call()
            times[name].append(clock() - began)
    return {name: found[1:] for name, found in times.items()}


FEWER, LAYERS = "uniform on fewer tokens", "in layers"
FEW_BLOCKS = (FEWER, LAYERS)  # for pseudoflow alone, which is fast where blocks are few
Case = tuple[str, str, Any, Any, int]  # what, which, upper, lower, number of entries


def columns_cases(tiny: bool) -> list[Case]:
    """All columns of random problems, and single graphs."""
    sizes = ((20, 200), (200, 4000), (2000, 40_000))[: 1 if tiny else None]
    cases: list[Case] = [("whole W_kq_star", f"V={v}", *whole(v, n)) for v, n in sizes]
    graphs = (
        ("uniform", 10_000, 3000, 1.0),
        (FEWER, 10_000, 2000, 1.0),
        ("power law", 10_000, 2000, 3.0),
        ("uniform", 100_000, 30_000, 1.0),
    )
    for kind, pairs, side, power in () if tiny else graphs:
        upper, lower = random_graph(np.random.default_rng(0), pairs, side, power)
        cases.append(("one graph", kind, upper, lower, 2 * side))
    if not tiny:
        cases.append(("one graph", LAYERS, *layered_graph(np.random.default_rng(0), 50)))
    return cases


def columns_rows(cases: list[Case], rounds: int = ROUNDS) -> Iterator[Row]:
    """Exact max-margin scores, certified, against solvers of quadratic programs and pseudoflow."""
    for name, kind, upper, lower, entries in cases:
        text = f"{kind}, {len(upper)} pairs"
        exact = margin_fast.solve_pairs(upper, lower, entries).scores
        pairs_there = solvers.pairs_of(upper, lower)
        ours = partial(margin_fast.solve_pairs, upper, lower, entries)
        for solver, prepare in solvers.SOLVERS.items():
            if kind in FEW_BLOCKS and solver != "pseudoflow":
                continue
            if len(upper) >= SLOW_FROM.get(solver, len(upper) + 1):
                yield {"name": name, "size": text, "peer": solver, "absent": "left out: slow"}
                continue
            try:
                work = prepare(pairs_there)
            except ImportError as problem:
                yield {"name": name, "size": text, "peer": solver, "absent": str(problem)}
                continue
            yield solver_row(name, text, solver, ours, work, exact[pairs_there.used], rounds)


def whole(size: int, number: int) -> tuple[Any, Any, int]:
    """The pairs of all columns of a random problem, and its number of entries."""
    one = problem_of(random_samples(np.random.default_rng(0), size, number))
    return one.pairs[:, 0].copy(), one.pairs[:, 1].copy(), len(one.entry_token)


def solver_row(
    name: str,
    size: str,
    solver: str,
    ours: Callable[[], Any],
    work: solvers.Work,
    exact: Any,
    rounds: int,
) -> Row:
    """Ours and a solver by turns; its set-up is timed apart and not part of the ratio."""
    began = time.process_time()
    error = float(np.abs(work.solve(work.set_up()) - exact).max())
    took = time.process_time() - began
    repeats = rounds if took < DEAR else min(rounds, 2)
    mine: list[float] = []
    set_up: list[float] = []
    solved: list[float] = []
    inner = max(1, int(TURN / max(took, 1e-6)))
    for _ in range(repeats):
        began = time.process_time()
        for _ in range(inner):
            ours()
        mine.append((time.process_time() - began) / inner)
        first, then = 0.0, 0.0
        for _ in range(inner):
            began = time.process_time()
            state = work.set_up()
            middle = time.process_time()
            work.solve(state)
            then += time.process_time() - middle
            first += middle - began
        set_up.append(first / inner)
        solved.append(then / inner)
    more = {"set_up": statistics.median(set_up), "error": error}
    return row(name, size, solver, mine, solved, more)


def main(arguments: list[str]) -> int:
    """Print the rows of one part; `tiny` after it takes the smallest size and two rounds."""
    part, tiny = arguments[0], "tiny" in arguments
    rounds, processors = 2 if tiny else ROUNDS, os.cpu_count() or 1
    if part != "threads":  # before a library counts the processors
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    parts = {
        "steps": lambda: steps_rows(SIZES[: 1 if tiny else None], rounds),
        "threads": lambda: steps_rows(SHARED[: 1 if tiny else None], rounds, processors),
        "columns": lambda: columns_rows(columns_cases(tiny), rounds),
    }
    for found in parts[part]():
        print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
