"""Run the notebooks that must run, several at once, and say of each why it ran or not."""

from __future__ import annotations

import ast
import contextlib
import os
import platform
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from doit.control import TaskControl
from doit.dependency import Dependency
from doit.exceptions import BaseFail, TaskFailed
from doit.runner import MThreadRunner
from doit.task import Task

from ntpverdicts.imports import Package, import_closure
from tools.pipeline.bookkeeping import open_records, reasons, short, tracked_task
from tools.pipeline.parameters import Parameters
from tools.pipeline.progress import Display
from tools.pipeline.source import OURS, code_cells, default_parameters, parse_code

SOURCES = Path("notebooks")
PAGES = Path("pages")
FAILED = Path(".build/failed")
MANY = 3  # kernels of which one to fork pays: it takes as long to get ready as they do
UNFORKED = "NTPCORE_UNFORKED"  # the environment variable that `.ci/run all` sets
RECORDS = Path(".build/notebooks.json")
# What beside modules shapes what an executed copy holds.
SHAPING = (Path("requirements.txt"), Path("tools/pipeline/matplotlibrc"))


@dataclass(frozen=True)
class Outcome:
    """What a run over the notebooks did: names of pages, and one message per failure."""

    ran: tuple[str, ...]
    skipped: tuple[str, ...]
    failures: tuple[str, ...]


def page_names() -> list[str]:
    """Names of all notebooks."""
    return sorted(path.stem for path in SOURCES.glob("*.md"))


def defaults_by_page() -> dict[str, dict[str, object]]:
    """For every notebook the names and defaults of its parameters."""
    return {
        page: default_parameters(code_cells((SOURCES / f"{page}.md").read_text(encoding="utf-8")))
        for page in page_names()
    }


def inputs(page: str, package: Package) -> set[Path]:
    """Every file that the executed copy of a page depends on."""
    source = SOURCES / f"{page}.md"
    trees = [parse_code(cell) for cell in code_cells(source.read_text(encoding="utf-8"))]
    parsed = [tree for tree in trees if tree is not None]
    shaping = executing_modules(package.root)
    return {source, *import_closure(parsed, package), *named_files(parsed), *SHAPING, *shaping}


@cache
def executing_modules(root: Path) -> frozenset[Path]:
    """The modules of the tools with which notebooks are executed."""
    names = [f"tools.pipeline.{name}" for name in ("execute", "forked_kernels", "kernel")]
    package = Package(("tools",), root)
    lost = [name for name in names if package.file(name) is None]
    if lost:
        raise ValueError(f"no module is called {', '.join(lost)}; name the one that took its place")
    return package.closure(names)


def named_files(trees: Iterable[ast.AST]) -> set[Path]:
    """Files of the project that code names in full, such as "benchmarks/results.json"."""
    texts = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/" in node.value
    }
    paths = {Path(text) for text in texts if len(text) < 200 and "\0" not in text}
    return {path for path in paths if not path.is_absolute() and path.is_file()}


def state(parameters: Parameters) -> dict[str, object]:
    """What an executed copy depends on beside files."""
    return {"Python": platform.python_version(), **parameters}


def page_task(page: str, folder: Path, parameters: Parameters, package: Package) -> Task:
    """The task that makes the executed copy of one page."""

    def action() -> TaskFailed | None:
        from tools.pipeline.execute import (  # slow to load, and often not needed
            NotebookError,
            execute,
        )

        source, failed = SOURCES / f"{page}.md", FAILED / f"{page}.ipynb"
        try:
            execute(source, folder / f"{page}.ipynb", failed, parameters)
        except NotebookError as problem:
            return TaskFailed(str(problem), report=True)
        except OSError as error:
            return TaskFailed(f"{page}: {error}; make room on the disk", report=True)
        return None

    made = [folder / f"{page}.ipynb"]
    return tracked_task(page, action, inputs(page, package), made, state(parameters))


class Reporter:
    """doit's events as lines for people."""

    def __init__(self, records: Dependency, why: Mapping[str, list[str]], display: Display) -> None:
        self.records, self.why, self.display = records, why, display
        self.started: dict[str, float] = {}
        self.ran: list[str] = []
        self.skipped: list[str] = []
        self.failures: list[str] = []

    def execute_task(self, task: Task) -> None:
        """A page begins to run."""
        self.started[task.name] = time.monotonic()
        self.display.begin(task.name)

    def add_success(self, task: Task) -> None:
        """A page ran: save that at once, so that a kill later does not lose it."""
        self.records.backend.dump()
        seconds = time.monotonic() - self.started[task.name]
        self.ran.append(task.name)
        self.display.end(task.name, f"ran: {short(self.why[task.name])} ({seconds:.1f} s)")

    def skip_uptodate(self, task: Task) -> None:
        """A page need not run."""
        self.skipped.append(task.name)
        self.display.end(task.name, "skipped: nothing changed")

    def add_failure(self, task: Task, fail: BaseFail) -> None:
        """A page did not run to its end."""
        self.records.backend.dump()
        text = fail.message if isinstance(fail, TaskFailed) else f"{task.name}: {fail.get_msg()}"
        self.failures.append(text)
        self.display.end(task.name, f"FAILED (ran: {short(self.why[task.name])})")

    def get_status(self, task: Task) -> None:
        """Nothing to say."""

    def complete_run(self) -> None:
        """Nothing to say."""


def run_pages(
    wanted: Mapping[str, Parameters],
    folder: Path,
    file: Path,
    jobs: int,
    display: Display,
    meanwhile: Callable[[], None],
) -> Outcome:
    """Bring the executed copies of some pages up to date.

    Args:
        wanted: for every page its parameters.
        folder: where the executed copies go.
        file: where the records of that folder are kept.
        jobs: how many run at once; each has a kernel, a process of its own.
        display: what shows progress.
        meanwhile: what this process does while kernels compute, if any page must run.
    """
    records = open_records(file)
    package = Package(OURS)
    # By what follows the paper, from the end of the alphabet on: there the experiments stand, which
    # take longest and would leave a processor idle at the end; and the two pages that run at first
    # compile different loops, which all others find compiled.
    pages = sorted(wanted.items(), key=lambda one: one[0].split("_", 1)[-1], reverse=True)
    tasks = [page_task(page, folder, given, package) for page, given in pages]
    why = {task.name: reasons(records, task, state(wanted[task.name])) for task in tasks}
    if any(why.values()):
        find_classes()
        sys.setswitchinterval(0.0002)  # or messages of kernels would wait for `meanwhile`
        threading.Thread(target=meanwhile, daemon=True).start()
    reporter = Reporter(records, why, display)
    control = TaskControl(tasks)
    control.process(None)
    with display.stage("notebooks", len(tasks)), kernels(sum(map(bool, why.values()))):
        runner = MThreadRunner(records, reporter, continue_=True, num_process=jobs)
        runner.run_all(control.task_dispatcher())
    return Outcome(tuple(reporter.ran), tuple(reporter.skipped), tuple(reporter.failures))


def kernels(number: int) -> contextlib.AbstractContextManager[None]:
    """How so many kernels are started: many as forks of one that has loaded what they need.

    With `UNFORKED` in the environment, each loads what it needs itself.
    """
    if number < MANY or os.environ.get(UNFORKED):
        return contextlib.nullcontext()
    from tools.pipeline.forked_kernels import forking

    return forking()


def find_classes() -> None:
    """Load what executes notebooks, and let it find the classes that it names in strings.

    Once here, rather than by all workers at the same time: when two look at once, the second one
    now and then gets what the first has found where it expects a name, and its page fails.
    """
    import nbformat
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NotebookExecutionManager

    import tools.pipeline.execute  # noqa: F401

    nothing = NotebookExecutionManager(nbformat.v4.new_notebook(), progress_bar=False)
    client = PapermillNotebookClient(nothing)
    client.create_kernel_manager().client()


def is_current(page: str) -> bool:
    """Whether the published executed copy of a page is up to date, whatever its parameters."""
    records = open_records(RECORDS)
    kept = records.get_values(page).get("state", {})
    task = tracked_task(page, None, inputs(page, Package(OURS)), [PAGES / f"{page}.ipynb"], kept)
    return kept.get("Python") == platform.python_version() and not reasons(records, task, kept)


def copy_published(pages: list[str], folder: Path) -> None:
    """Copy published executed copies into another folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        shutil.copy(PAGES / f"{page}.ipynb", folder / f"{page}.ipynb")


def copy_unrun(pages: Iterable[str], folder: Path) -> None:
    """Put copies of pages that did not run beside those that did."""
    from tools.pipeline.execute import leave_unrun  # slow to load

    for page in pages:
        leave_unrun(SOURCES / f"{page}.md", folder / f"{page}.ipynb")


def remove_strays(folder: Path) -> None:
    """Remove executed copies whose notebook is gone."""
    for path in folder.glob("*.ipynb"):
        if path.stem not in page_names():
            path.unlink()
