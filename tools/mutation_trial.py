"""Running tests in a fork of this process: once to see what they cover, then once per mutant.

The parent has imported what takes long, numpy to jax, but nothing of the package under test; a fork
imports that, changed or not, and goes. No file of the project is written.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import json
import math
import os
import pkgutil
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

HEAVY = (
    *("hypothesis", "pytest", "networkx", "numpy", "scipy.optimize", "scipy.integrate"),
    *("sympy", "mpmath", "numba", "jax", "cvxpy", "matplotlib.pyplot", "rich.console", "typer"),
    *("playwright.sync_api", "pytest_timeout", "_hypothesis_pytestplugin"),
)
# No plug-in that the tests do not use: some take longer to load than most mutants to be killed.
QUIET = (
    *("-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:unraisableexception"),
    *("-p", "no:threadexception", "-p", "no:faulthandler"),
    *("-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of what is loaded already
)
IMPORTS = 20.0  # seconds of processor time that collecting a file may take
SLACK = 3.0  # seconds of processor time that any test may take
MEMORY = 16 << 30  # bytes of address space; a mutant that asks for more fails
FROM_FILE = "file "  # context of what collecting a test file runs, for all its tests


@dataclass(frozen=True)
class Outcome:
    """What became of a fork.

    Attributes:
        answer: what its work returned; None if it did not get that far.
        error: what it raised, with its traceback.
        timed_out: whether its time was up.
    """

    answer: Any = None
    error: str = ""
    timed_out: bool = False


def preload() -> None:
    """Import what the tests import, as far as it is there."""
    for name in HEAVY:
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)


def in_fork(work: Callable[[], object], seconds: float) -> Outcome:
    """Do some work in a fork, in silence, for so many seconds of processor time at most.

    A busy machine stops no fork; only one that waits forever is stopped by the clock.
    """
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jax warns of forks; its threads are not started yet
        child = os.fork()
    if child == 0:
        os.close(read)
        _work_and_leave(work, write, seconds)
    os.close(write)
    end, told, late = time.monotonic() + 50 * seconds, b"", False
    try:
        while True:
            if not select.select([read], [], [], max(0.0, end - time.monotonic()))[0]:
                late = True
                break
            if not (part := os.read(read, 1 << 16)):
                break
            told += part
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    late = late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
    with contextlib.suppress(json.JSONDecodeError):
        return Outcome(**json.loads(told))
    return Outcome(timed_out=late)


def _work_and_leave(work: Callable[[], object], pipe: int, seconds: float) -> None:
    """The life of a fork."""
    try:
        os.setpgid(0, 0)
        gc.freeze()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        _limit(seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        told = json.dumps({"answer": work()}).encode()
    except BaseException:
        told = json.dumps({"error": traceback.format_exc()}).encode()
    try:
        while told:
            told = told[os.write(pipe, told) :]
    finally:
        os._exit(0)


def _limit(seconds: float) -> None:
    """Stop this process after so many more seconds of processor time."""
    soft = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def trial(root: Path, module: str, source: str, tests: dict[str, float]) -> dict[str, str | None]:
    """Run tests, the first ones first, on a module with this source, until one fails.

    Args:
        root: folder of the project.
        module: dotted name of the module.
        source: what to run in its place.
        tests: seconds that each test takes without a change; five times that is its limit.

    Returns:
        under "by" the test or file that failed; None if none did.
    """
    sys.meta_path.insert(0, _Finder(module, source))
    for file in dict.fromkeys(test.split("::")[0] for test in tests):
        watch = _FirstFailure({t: s for t, s in tests.items() if t.startswith(f"{file}::")})
        _run_pytest(root, file, ["-x"], watch)
        if watch.by is not None:
            return {"by": watch.by}
    return {"by": None}


def coverage_of(root: Path, package: str, file: str) -> dict[str, Any]:
    """Which lines of a package each test of a file runs, and its processor time.

    Results kept by functools are forgotten before each test: a test that would find one ready
    counts as covering what makes it.

    Returns:
        "seconds" by test; "lines" by file of the package and line: contexts, each a test or
        `FROM_FILE` with a test file; "failed", the tests that fail.
    """
    import coverage

    sys.path[:0] = [str(root)]
    cover = coverage.Coverage(data_file=None, source=[str(root / package)], config_file=False)
    cover.start()
    for info in pkgutil.walk_packages([str(root / package)], f"{package}."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)
    watch = _Contexts(package, cover.switch_context)
    _run_pytest(root, file, [], watch)
    cover.stop()
    data = cover.get_data()
    lines = {
        str(Path(path).relative_to(root)): {
            line: [context for context in contexts if context]
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        for path in data.measured_files()
    }
    return {"seconds": watch.seconds, "lines": lines, "failed": watch.failed}


def _run_pytest(root: Path, file: str, options: list[str], watch: object) -> None:
    """Run pytest in this process."""
    import pytest
    from hypothesis import Phase, settings

    # the same examples each time, and no search for a smaller one once a mutant is found
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(
        "mutants", derandomize=True, deadline=None, database=None, phases=phases
    )
    settings.load_profile("mutants")
    os.chdir(root)
    sys.path[:0] = [str(root)]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    pytest.main([*QUIET, *options, file], plugins=[watch])


class _Finder(PathFinder):
    """Finds one module with another source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin, self.source)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module from another source than its file's."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return compile(self.source, self.path, "exec", dont_inherit=True)


class _FirstFailure:
    """Keeps some tests only, in a given order, and notes what fails first."""

    def __init__(self, tests: dict[str, float]) -> None:
        self.tests = tests
        self.place = {test: place for place, test in enumerate(tests)}
        self.by: str | None = None

    def pytest_collectstart(self) -> None:
        _limit(IMPORTS)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self.place]
        items.sort(key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        _limit(SLACK + 5 * self.tests[nodeid])

    def pytest_collectreport(self, report: Any) -> None:
        self._note(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._note(report)

    def _note(self, report: Any) -> None:
        if report.failed and self.by is None:
            self.by = report.nodeid


class _Contexts:
    """Tells the coverage which test runs, and takes the time."""

    def __init__(self, package: str, switch: Callable[[str], None]) -> None:
        self.package, self.switch = package, switch
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_collectstart(self, collector: Any) -> None:
        if collector.nodeid.endswith(".py"):
            self.switch(FROM_FILE + collector.nodeid)

    def pytest_collection_finish(self) -> None:
        self.switch("")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        for kept in _caches(self.package):
            kept.cache_clear()
        self.switch(nodeid)
        self.start = time.process_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = round(time.process_time() - self.start, 3)
        self.switch("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def _caches(package: str) -> Iterator[Any]:
    """The cached functions of the package and of the test files."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == package or name.startswith("test_"):
            for value in list(vars(module).values()):
                if isinstance(value, functools._lru_cache_wrapper):
                    yield value
