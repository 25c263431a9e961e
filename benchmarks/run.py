"""`make bench`: everything side by side in one run, printed and saved.

With the arguments `tiny FILE`, the same on the smallest sizes, saved in FILE, for the tests; with
`part peers`, only the strongest peers, some minutes; with `part NAME ...`, only those parts, whose
rows replace those of before. One
processor is used, except for the rows on two threads, on starts, pages and the book; only those are
times by the clock on the wall, all others are times of the processor, ours and the peers', which
other work on the machine changes less.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import environment, pages, texts
from benchmarks.instances import problem_of, random_graph, random_samples
from benchmarks.peers import STAGE_2
from ntpbook.benchmarks import benchmark
from ntpbook.tian2023.s8_synthetic import experiments
from ntpcore.data import dataset, generate
from ntpcore.exact import margin_fast
from ntpcore.huang2024 import horizon, stage1, training
from ntpcore.huang2024.fast import loops as _fast
from ntpcore.huang2024.fast import packing as _packing
from ntpcore.huang2024.fast import stepping
from ntpcore.huang2024.problem import from_dataset
from tools.site.html import toc_pages

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
TIMEOUT = 600  # seconds for one peer
STRONGEST = ROOT / "benchmarks" / "strongest.json"
FLOORS = 2.5  # a nonzero may cost so many times what exponentials and memory traffic alone take
RUNS = 2  # of the strongest peers, both of which are shown

Row = dict[str, Any]
Arrays = dict[str, Any]


def row(
    name: str,
    size: str,
    peer: str,
    ours: float | None,
    theirs: float | None,
    unit: str,
    goal: float | None,
) -> Row:
    """One row; the ratio is larger for better. Where theirs is a limit, the goal is 1."""
    ratio = theirs / ours if ours and theirs else None
    found = {
        "name": name,
        "size": size,
        "peer": peer,
        "ours": ours,
        "theirs": theirs,
        "unit": unit,
        "ratio": ratio,
        "goal": goal,
    }
    cells = benchmark.table({"rows": [found]}).rows[0]
    print("  ".join(cell for cell in cells if cell), flush=True)
    return found


def median(
    work: Callable[[], Any], seconds: float, clock: Callable[[], float] = time.process_time
) -> float:
    """Median seconds of a call, the first one not counted."""
    work()
    times: list[float] = []
    spent = 0.0
    while len(times) < 5 or spent < seconds:
        began = clock()
        work()
        times.append(clock() - began)
        spent += times[-1]
    return statistics.median(times)


def ask(peer: str, seconds: float, arrays: Arrays, patience: int = TIMEOUT) -> dict[str, Any]:
    """What a peer measures, in a process of its own, which is not waited for any longer."""
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, allow_pickle=False, **arrays)
        script = str(ROOT / "benchmarks" / "peers.py")
        command = [str(environment.PYTHON), script, peer, file.name, str(seconds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
        except FileNotFoundError:
            return {"absent": "there is no .venv-bench"}
        except subprocess.TimeoutExpired:
            return {"fails": f"not done in {patience} s"}
    lines = done.stdout.strip().splitlines()
    found: dict[str, Any] = json.loads(lines[-1]) if lines else {"fails": "its process was killed"}
    return found


def versus(
    name: str,
    size: str,
    peer: str,
    ours: float,
    goal: float | None,
    seconds: float,
    arrays: Arrays,
    patience: int = TIMEOUT,
) -> tuple[Row, dict[str, Any]]:
    """A row of times in microseconds, and what the peer said."""
    answer = ask(peer, seconds, arrays, patience)
    reason = [f"{word}: {answer[word]}" for word in ("absent", "fails") if word in answer]
    shown = f"{peer} ({reason[0]})" if reason else peer
    theirs = answer["seconds"] * 1e6 if "seconds" in answer else None
    return row(name, size, shown, ours * 1e6, theirs, "µs", goal), answer


def first_phase(
    loops: stepping.Loops,
    eta: float,
    seconds: float,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Seconds of a step of the first phase."""
    entries = len(loops.problem.entry_token)
    steps = max(1, int(2e6) // loops.size)
    loop = _fast.advance if loops.useful_threads == 1 else _fast.advance_on_threads

    def work() -> None:
        weights = np.zeros(entries)
        loop(loops.packed, weights, loops.room, eta, 0, steps, np.inf, 0, 0.0, loops.useful_threads)

    return median(work, seconds, clock) / (steps + 1)  # the last one is looked at once more


def training_rows(tiny: bool) -> Iterator[Row]:
    """Steps of stage 2 against the peers, and their memory."""
    small = {"PyTorch, one-hot": 150, "PyTorch, gather": 80, "NumPy, dense": 40, "JAX, scan": 10}
    cases: list[tuple[int, int, dict[str, int]]] = [(20, 200, small)]
    if not tiny:
        cases += [(200, 4000, {"PyTorch, one-hot": 1000, "JAX, scan": 100})]
        cases += [(1000, 20_000, {"PyTorch, one-hot": 10_000, "JAX, scan": 500})]
    for size, number, goals in cases:
        samples = random_samples(np.random.default_rng(0), size, number)
        loops = stepping.Loops(problem_of(samples), 8.0)
        eta, text = 0.05 / size**0.5, f"V={size}, N={number}"
        arrays = peer_arrays(samples, loops.gap, eta)
        for peer in STAGE_2:
            ours = first_phase(loops, eta, 0.2 if tiny else 0.5)
            found, answer = versus(
                "stage 2, one step", text, peer, ours, goals.get(peer), 0.2 if tiny else 1, arrays
            )
            yield found
            if "megabytes" in answer and not tiny:
                megabytes = answer["megabytes"]
                yield row("stage 2, memory of the peers", text, peer, None, megabytes, "MB", None)


def peer_arrays(samples: Any, gap: float, eta: float) -> dict[str, Any]:
    """What a peer needs of a training problem."""
    return {
        "size": samples.vocab_size,
        "tokens": samples.tokens,
        "query": samples.query,
        "optimal": samples.optimal,
        "following": np.roll(np.arange(samples.vocab_size), -1),
        "gap": gap,
        "eta": eta,
    }


def long_rows(tiny: bool) -> Iterator[Row]:
    """A run of a million steps against the plain loop."""
    steps = 20_000 if tiny else 1_000_000
    one = problem_of(random_samples(np.random.default_rng(0), 20, 200))
    eta, gap, text = 0.05 / 20**0.5, 8.0, f"V=20, N=200, {steps} steps"
    training.run(one, 20_000, eta, gap, record=[])  # compiled
    began = time.process_time()
    ours = training.run(one, steps, eta, gap, record=[])
    middle = time.process_time()
    plain = training.run(one, steps, eta, gap, record=[], plain=True)
    end = time.process_time()
    name, goal = "stage 2, whole run", None if tiny else 60.0
    yield row(name, text, "our plain loop", middle - began, end - middle, "s", goal)
    apart = np.abs(ours.state.weights - plain.state.weights).max()
    relative = float(apart / np.abs(plain.state.weights).max())
    yield row("stage 2, relative difference of W", text, "limit", relative, 1e-10, "", 1.0)


def growth_rows(tiny: bool) -> Iterator[Row]:
    """Cost for each nonzero from small to large, its limit, memory, and a second thread."""
    cases = [(20, 200), (200, 4000)]
    if not tiny:
        cases += [(1000, 20_000), (10_000, 100_000), (100_000, 1_000_000)]
    exponential, bandwidth = measured_limits()
    yield row("one exponential", "in vectors", "numpy.exp", *exponential, "ns", None)
    yield row("memory traffic", "triad", "none", bandwidth, None, "GB/s", None)
    costs = []
    for size, number in cases:
        one = problem_of(random_samples(np.random.default_rng(0), size, number))
        loops, eta = stepping.Loops(one, 8.0), 0.05 / size**0.5
        cost = first_phase(loops, eta, 0.3 if tiny else 2.0) / loops.size * 1e9
        costs.append(cost)
        assert loops.packed is not None
        entries, bytes_each = len(one.entry_token), _packing.bytes_of(loops.packed) / loops.size
        exponentials = 1 + 2 * entries / loops.size  # one per token, and two per entry of W
        streamed = bytes_each + 5 * 8 * entries / loops.size
        least = exponentials * exponential[0] + streamed / bandwidth
        text = f"V={size}, N={number}, {loops.size} nonzeros"
        limit = f"{FLOORS} x the exponentials and the memory traffic"
        yield row("cost of a nonzero", text, limit, cost, FLOORS * least, "ns", 1.0)
        limit_of_memory = 20.0 if loops.size > 5000 else None
        name = "memory of a nonzero"
        goal = 1.0 if limit_of_memory else None
        yield row(name, text, "limit", bytes_each, limit_of_memory, "bytes", goal)
    size, number = cases[-1]
    name, text = "cost of a nonzero, growth", f"from {cases[0]} to {cases[-1]}"
    yield row(name, text, "limit", max(costs) / min(costs), 2.0, "x", 1.0)
    if not tiny:
        alone_on = os.sched_getaffinity(0)
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
        alone = first_phase(loops, eta, 3.0, time.perf_counter)
        both = stepping.Loops(one, 8.0, threads=2)
        shared = first_phase(both, eta, 3.0, time.perf_counter)
        os.sched_setaffinity(0, alone_on)
        text = f"V={size}, N={number}"
        yield row("two threads", text, "one thread", shared * 1e3, alone * 1e3, "ms", 1.6)


def measured_limits() -> tuple[tuple[float, float], float]:
    """Nanoseconds of an exponential, ours and NumPy's, and gigabytes per second of a triad."""
    x, out = np.random.default_rng(0).uniform(-8, 0, 4096), np.empty(4096)
    ours = median(lambda: _fast._exponentials(x, out), 0.2) / 4096 * 1e9
    theirs = median(lambda: np.exp(x, out=out), 0.2) / 4096 * 1e9
    a, b, c = (np.ones(4_000_000) for _ in range(3))

    def triad() -> None:
        np.multiply(b, 3.0, out=a)
        np.add(a, c, out=a)

    return (ours, theirs), 5 * a.nbytes / median(triad, 0.5) / 1e9


def memory_rows(tiny: bool) -> Iterator[Row]:
    """Memory of the whole process on the largest data, and where peers end."""
    if tiny:
        return
    code = (
        "import resource, numpy as np\n"
        "from benchmarks.instances import problem_of, random_samples\n"
        "from ntpcore.huang2024 import training\n"
        "one = problem_of(random_samples(np.random.default_rng(0), 100_000, 1_000_000))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
        "training.run(one, 20, 0.05 / 316, 8.0, record=[])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    megabytes = float(done.stdout.split()[-1])
    text = "V=100000, N=1000000"
    yield row("stage 2, whole process", text, "limit", megabytes, 1000.0, "MB", 1.0)
    for size, number in ((10_000, 20_000), (10_000, 200_000), (100_000, 1_000_000)):
        samples = random_samples(np.random.default_rng(0), size, number)
        loops, eta = stepping.Loops(problem_of(samples), 8.0), 0.05 / size**0.5
        ours, text = first_phase(loops, eta, 0.5), f"V={size}, N={number}, 16 GB"
        for peer in STAGE_2:
            arrays = peer_arrays(samples, 8.0, eta)
            yield versus("stage 2, one step", text, peer, ours, None, 1.0, arrays, 120)[0]


def sweep_rows(tiny: bool) -> Iterator[Row]:
    """One iteration of one pair of rates of Syn-Medium, drawing the samples included in ours."""
    for queries in (1,) if tiny else experiments.QUERIES:
        plan = experiments.medium(queries, 1, iterations=4 if tiny else 100, record=(0,))
        cells = plan.iterations * len(plan.rates)
        ours = median(partial(experiments.simulate, plan), 0.2 if tiny else 3.0) / cells
        arrays = sequences(plan) | {"eta_y": 1.0, "eta_z": 1.0, "momentum": plan.momentum}
        text, goal = f"Syn-Medium, L={queries}, M={plan.classes.M}", None if tiny else 20.0
        peer = "PyTorch, one-hot sequences"
        seconds = 0.2 if tiny else 2.0
        yield versus("experiments, one iteration", text, peer, ours, goal, seconds, arrays)[0]


def sequences(plan: experiments.Plan) -> dict[str, Any]:
    """The first samples of a plan with every position written out, for a peer."""
    drawn, counts = experiments.samples_of(plan)
    drawn, counts = drawn[:10], counts[:10]
    classes = plan.classes
    support = np.array([np.flatnonzero(row > 0) for row in classes.probabilities])
    flat = [
        np.repeat(support[n], row)
        for n, row in zip(drawn.ravel(), counts.reshape(drawn.size, -1), strict=True)
    ]
    bound, rng = classes.M**-0.5, np.random.default_rng(0)
    Y, Z = rng.uniform(-bound, bound, size=(2, classes.M, classes.M))
    first = classes.M - classes.K - classes.L  # queries stand before the next tokens
    return {
        "size": classes.M,
        "tokens": np.array(flat).reshape(*drawn.shape, plan.length),
        "query": first + np.array(classes.query)[drawn],
        "following": classes.M - classes.K + drawn,
        "Y": Y,
        "Z": Z,
    }


def margin_rows(tiny: bool) -> Iterator[Row]:
    """The exact solver, certificate included, against a convex solver."""
    peer, seconds = "cvxpy with Clarabel", 0.3 if tiny else 3.0
    for size, number in [(20, 200), (200, 4000), (2000, 40_000)][: 1 if tiny else 3]:
        one = problem_of(random_samples(np.random.default_rng(0), size, number))
        upper, lower = one.pairs[:, 0].copy(), one.pairs[:, 1].copy()
        arrays = {"upper": upper, "lower": lower, "entries": len(one.entry_token)}
        ours = solve_seconds(**arrays, seconds=0.3)
        text = f"V={size}, {len(upper)} pairs"
        yield versus("whole W_kq_star", text, peer, ours, 150, seconds, arrays)[0]
    graphs = [(10_000, 3000, 1.0, 10), (10_000, 2000, 3.0, 10)]
    graphs += [(100_000, 30_000, 1.0, 100)]
    for pairs, side, power, goal in [(300, 100, 1.0, None)] if tiny else graphs:
        upper, lower = random_graph(np.random.default_rng(0), pairs, side, power)
        arrays = {"upper": upper, "lower": lower, "entries": 2 * side}
        ours = solve_seconds(**arrays, seconds=0.5)
        text = f"{len(upper)} pairs, {'uniform' if power == 1 else 'power law'}"
        used = np.unique(np.concatenate([upper, lower]), return_inverse=True)
        ends = used[1].reshape(2, -1)
        arrays = {"upper": ends[0], "lower": ends[1], "entries": len(used[0])}
        yield versus("one graph", text, peer, ours, goal, min(seconds, 1.0), arrays)[0]


def solve_seconds(upper: Any, lower: Any, entries: int, seconds: float) -> float:
    """Seconds of an exact solution with its certificate."""
    return median(lambda: margin_fast.solve_pairs(upper, lower, entries), seconds)


def horizon_rows(tiny: bool) -> Iterator[Row]:
    """The late flow against exact steps, its time, and what 1e15 depends on."""
    example = dataset.read(str(ROOT / "examples" / "example1.txt"))
    cases = [("Example 1", example, 0.025, stage1.gap(4, 900, 0.1))]
    for seed in range(0 if tiny else 3):
        setting = generate.experiment(seed, prefix_closed=False)
        gap = stage1.gap(20, setting.steps1, setting.eta0)
        cases.append((f"random {seed}, V=20", setting.data, setting.eta, gap))
    for name, data, eta, gap in cases:
        one = from_dataset(data)
        start = training.run(one, 100_000, eta, gap, record=[])
        weights, far = start.state.weights, np.array([1e6, 1e7, 1e9, 1e15])
        flow = horizon.extend(one, weights, 100_000, eta, gap, far)
        run = start
        for place, step in enumerate((1_000_000, 10_000_000)[: 1 if tiny else 2]):
            run = training.run(one, step, eta, gap, record=[], state=run)
            exact = run.state.weights - step * eta * one.W_kq_star / one.norm
            apart = np.linalg.norm(flow.offset[place] - exact) / np.linalg.norm(exact)
            text = f"{name}, {step:.0e} steps"
            yield row("late flow, error", text, "exact steps", float(apart), 1e-5, "", 1.0)
        to_1e9 = np.array([1e9])

        def work() -> None:
            horizon.extend(one, weights, 100_000, eta, gap, to_1e9)  # noqa: B023 (runs at once)

        seconds = median(work, 0.2)
        yield row("late flow, 1e5 to 1e9", name, "limit", seconds, 1.0, "s", 1.0)
        later = training.run(one, 400_000, eta, gap, record=[], state=start).state.weights
        other = horizon.extend(one, later, 400_000, eta, gap, far)
        apart = abs(other.one_minus_cos[-1] / flow.one_minus_cos[-1] - 1)
        text = f"{name}, handed over at 1e5 or 4e5"
        yield row("1 - cos at 1e15, difference", text, "limit", float(apart), 1e-5, "", 1.0)


def start_rows(tiny: bool) -> Iterator[Row]:
    """How long a process takes to start."""
    command = [sys.executable, "-m", "ntpcore", "check", "examples/example1.txt"]
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    for options in [[]] if tiny else [[], ["--steps", "900"]]:
        text = "ntpcore check" + " ".join(["", *options])
        with tempfile.TemporaryDirectory() as folder:
            fresh = {"NUMBA_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": folder}
            env = os.environ | fresh
            env.pop("PYTHONDONTWRITEBYTECODE", None)  # make sets it; a reader does not
            first = command_seconds(command + options, env)
            times = [command_seconds(command + options, env) for _ in range(2 if tiny else 7)]
            with tempfile.TemporaryDirectory() as numba:  # pip leaves byte code, and no numba
                installed = command_seconds(command + options, env | {"NUMBA_CACHE_DIR": numba})
        goal = 1.0 if not options else None
        yield row("start", text, "limit", statistics.median(times), 1.2, "s", goal)
        limit = 4.0 if options else 6.0
        yield row("first ever start", text, "limit", first, limit, "s", 1.0)
        yield row("first start after pip install", text, "limit", installed, limit, "s", 1.0)


def command_seconds(command: list[str], env: dict[str, str], cwd: Path = ROOT) -> float:
    """Seconds of a command."""
    began = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, check=False, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def book_rows(tiny: bool) -> Iterator[Row]:
    """How long the book takes, in a copy of the project."""
    if tiny:
        return
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in listed.stdout.splitlines():
            if (ROOT / path).is_file():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, folder / path)
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
        env = os.environ | {"PYTHONPATH": str(folder), "NTPCORE_VARIABLES": ""}
        env["NUMBA_CACHE_DIR"] = str(folder / "numba")
        command = [sys.executable, "-m", "tools.pipeline.build"]
        yield book_row("nothing cached", command_seconds(command, env, folder), 240.0, folder)
        yield book_row("nothing changed", command_seconds(command, env, folder), 5.0, folder)
        page = folder / "notebooks" / "huang2024_s5_loss.md"
        page.write_text(page.read_text(encoding="utf-8") + "\nEdited.\n", encoding="utf-8")
        yield book_row("one notebook edited", command_seconds(command, env, folder), 20.0, folder)


def book_row(what: str, seconds: float, limit: float, folder: Path) -> Row:
    """A row on building the book; nothing was measured if no book was built."""
    built = (folder / "_build" / "html" / "index.html").exists()
    peer = "limit" if built else "limit (no book was built)"
    return row("make book", what, peer, seconds if built else None, limit, "s", 1.0)


def page_rows(tiny: bool) -> Iterator[Row]:
    """First render of the built book with a processor four times slower, and what moves then."""
    if tiny:
        return
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # a reader's browser has them all
    found = pages.measure(ROOT / "_build" / "html", toc_pages(ROOT / "_toc.yml"))
    peer = "limit" if found else "limit (no built book, or no browser)"
    size = f"first visit, processor {pages.SLOWER} times slower"
    values = found or (None, None, None)
    cases = (("median page", 0.7, "s"), ("slowest page", 0.7, "s"), ("layout shift", 0.1, ""))
    for (what, limit, unit), value in zip(cases, values, strict=True):
        yield row(f"first render, {what}", size, peer, value, limit, unit, 1.0)


def text_rows(tiny: bool) -> Iterator[Row]:
    """The largest realizable part of a text, searched for by `ntpcore repair --greedy`."""
    if not tiny:
        yield from texts.text_rows(row, ROOT)


def growing_rows(tiny: bool) -> Iterator[Row]:
    """Commands on data of growing size."""
    if not tiny:
        yield from texts.growing_rows(row, ROOT)


def certificate_rows(tiny: bool) -> Iterator[Row]:
    """Certificates of texts."""
    if not tiny:
        yield from texts.certificate_rows(row, ROOT)


def machine() -> dict[str, str]:
    """What the numbers were measured on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": f"{os.cpu_count()} x {model}",
        "memory": f"{pages / 2**30:.0f} GB",
        "system": platform.platform(terse=True),
        "load": f"load {os.getloadavg()[0]:.1f} at the start",
    }


def versions() -> dict[str, str]:
    """Versions of what was compared."""
    found = {"Python": platform.python_version()}
    found |= {name: importlib.metadata.version(name) for name in ("numpy", "numba", "scipy")}
    pins = environment.LIST.read_text(encoding="utf-8").splitlines()
    return found | dict(line.split("==") for line in pins if "==" in line)


PARTS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "training": training_rows,
    "long": long_rows,
    "growth": growth_rows,
    "sweep": sweep_rows,
    "margin": margin_rows,
    "horizon": horizon_rows,
    "start": start_rows,
    "book": book_rows,
    "page": page_rows,
    "text": text_rows,
    "growing": growing_rows,
    "certificates": certificate_rows,
    "memory": memory_rows,
}


def strongest_peers(target: Path, *words: str) -> None:
    """Run the strongest peers twice, each part in a process of its own, and save each run."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    one = env | {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    several = {name: value for name, value in env.items() if "_NUM_THREADS" not in name}
    several.pop("XLA_FLAGS", None)
    results = described()
    runs: list[dict[str, Any]] = []
    for _ in range(RUNS):
        run: dict[str, Any] = {"load": f"{os.getloadavg()[0]:.1f}", "rows": []}
        for part, around in (("steps", one), ("columns", one), ("threads", several)):
            command = [str(environment.PYTHON), "-m", "benchmarks.strongest", part, *words]
            done = subprocess.run(
                command, cwd=ROOT, env=around, stdout=subprocess.PIPE, text=True, check=True
            )
            run["rows"] += [json.loads(line) for line in done.stdout.splitlines()]
        runs.append(run)
        save(target, results | {"runs": runs})


def save(target: Path, results: dict[str, Any]) -> None:
    """Write results to a file."""
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    target.write_text(text, encoding="utf-8")


def described() -> dict[str, Any]:
    """When, where, and what is measured."""
    return {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "code": benchmark.code_hash(),
    }


def some_parts(names: list[str]) -> int:
    """Measure these parts anew; rows of before with the same names give way, others stay."""
    if names == ["peers"]:
        strongest_peers(STRONGEST)
        print(f"Saved to {STRONGEST}.")
        return 0
    results = benchmark.read(str(RESULTS))
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows = [row for name in names for row in PARTS[name](False)]
    again = {row["name"] for row in rows}
    results["rows"] = [row for row in results["rows"] if row["name"] not in again] + rows
    save(RESULTS, noted(results, names))
    return 0


def noted(results: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """With a note on which parts were measured when, where and of which code, if not all alike.

    Once all are alike, that is where the results are from, and nothing is left of an older machine.
    """
    measured = f"code {benchmark.code_hash()[:12]}"
    where = f"{datetime.date.today().isoformat()}, {machine()['processor']}, {measured}"
    anew = {**results.get("anew", {}), **dict.fromkeys(names, where)}
    if set(anew) == set(PARTS) and set(anew.values()) == {where}:
        return {**described(), "rows": results["rows"]}
    groups = [
        f"{', '.join(sorted(name for name in anew if anew[name] == one))} ({one})"
        for one in sorted(set(anew.values()))
    ]
    return results | {"anew": anew, "note": f"parts measured anew: {'; '.join(groups)}"}


def main(arguments: list[str]) -> int:
    """Run everything; with `tiny FILE` the smallest sizes, with `part NAME ...` only some."""
    tiny = arguments[:1] == ["tiny"]
    target = Path(arguments[1]) if tiny else RESULTS
    if not tiny:
        environment.set_up()
    if arguments[:1] == ["part"]:
        return some_parts(arguments[1:])
    if not tiny:
        some_parts(["peers"])
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results: dict[str, Any] = described() | {"rows": []}
    for part in PARTS.values():
        results["rows"] += list(part(tiny))
        save(target, results)  # after each part: a run takes long
    print(f"{benchmark.summary(results)} Saved to {target}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
