"""Kernels that are forks: they do what other kernels do, and end when they should."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import papermill
import pytest

from ntpcli.report.sockets import ADDRESS_LIMIT, LAST, fit, sockets
from tools.pipeline import forked_kernels, notebooks
from tools.pipeline.execute import NotebookError, execute
from tools.pipeline.kernel import isolate

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks into /proc")

PAGE = """---
kernelspec: {name: python3, display_name: Python 3}
---

```{code-cell}
---
mystnb:
  figure:
    name: fig-one
    caption: A line.
---
import gc, os, sys
import matplotlib.pyplot as plt
print(sys.argv[0].rpartition("/")[2], sys.path, os.getcwd(), __name__, sys.stdin.fileno())
print(hash("one"), sys.flags, gc.get_threshold(), gc.isenabled())
print(plt.get_backend(), sorted(name for name in os.environ if name != "JPY_PARENT_PID"))
plt.plot([1, 2]);
```

```{code-cell}
import sympy
sympy.Rational(7, 6)
```

```{code-cell}
for word in ("one", "two", "three"):
    print(word, flush=True)
```
"""
HOW = """---
kernelspec: {name: python3, display_name: Python 3}
---

```{code-cell}
import json, os, ipykernel
print("of", open(f"/proc/{os.getppid()}/cmdline").read())
```

```{code-cell}
connection = json.load(open(ipykernel.get_connection_file()))
address = connection["ip"] + "-" + str(connection["shell_port"])
print("by", connection["transport"], os.path.exists(address), "folder", os.path.dirname(address))
```
"""
FORKED = "tools.pipeline.kernel_parent"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder to run notebooks in, in the environment of a build."""
    before, here = dict(os.environ), Path.cwd()
    found = tmp_path_factory.mktemp("notebooks")
    isolate(ROOT, found / "build")
    os.chdir(found)
    yield found
    os.chdir(here)
    os.environ.clear()
    os.environ.update(before)


def executed(folder: Path, text: str) -> str:
    """The executed copy of a notebook, in which the name of a test is not to be seen."""
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    (folder / "page.md").write_text(text)
    execute(folder / "page.md", folder / "page.ipynb", folder / "failed.ipynb", {})
    return (folder / "page.ipynb").read_text()


def runs(pid: int) -> bool:
    """Whether a process still does something."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid: int) -> bool:
    """Whether a process ends by itself."""
    until = time.monotonic() + 3000
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not runs(pid)


# What a reader's shell may hold and no page may show.
FOREIGN = {
    "MPLBACKEND": "Agg",
    "MATPLOTLIBRC": "colours.rc",
    "PYTHONSTARTUP": "startup.py",
    "NUMBA_NUM_THREADS": "0",
    "PYTHONOPTIMIZE": "2",
    "COLUMNS": "40",
    "FORCE_COLOR": "1",
    "SOURCE_DATE_EPOCH": "1000000000",
}


@pytest.fixture(scope="module")
def plain(folder: Path) -> tuple[str, str]:
    """Both notebooks as a kernel executes them that loads everything for itself."""
    return executed(folder, PAGE), executed(folder, HOW)


@pytest.fixture(scope="class")
def forking(folder: Path, plain: tuple[str, str]) -> Iterator[None]:
    """Kernels are forks now, of a process that was started out of a reader's shell."""
    (folder / "colours.rc").write_text("axes.facecolor: pink\n", encoding="utf-8")
    (folder / "startup.py").write_text("print('started')\n", encoding="utf-8")
    for name, value in FOREIGN.items():
        os.environ[name] = str(folder / value) if (folder / value).is_file() else value
    isolate(ROOT, folder / "build")
    with forked_kernels.forking():
        yield


def test_a_text_that_arrives_in_parts_is_one_output(plain: tuple[str, str]) -> None:
    """In how many parts depends on the machine, and an executed copy must not."""
    cell = json.loads(plain[0])["cells"][-1]
    assert [output["text"] for output in cell["outputs"]] == ["one\ntwo\nthree\n"]


def spoken(notebook: str) -> tuple[str, str]:
    """How a kernel was spoken to, and the folder that this took."""
    found = re.search(r'"(by \w+ \w+) folder (.*?)\\n"', notebook)
    assert found
    return found[1], found[2]


@pytest.mark.usefixtures("forking")
class TestForks:
    """Of one process, one after the other."""

    def test_a_fork_does_what_another_kernel_does_in_any_environment(
        self, folder: Path, plain: tuple[str, str]
    ) -> None:
        assert not set(FOREIGN) & set(os.environ)
        assert "image/svg+xml" in plain[0] or "image/png" in plain[0]
        assert executed(folder, PAGE) == plain[0]
        assert FORKED not in plain[1]
        assert FORKED in executed(folder, HOW)

    def test_a_figure_without_a_picture_fails_its_page(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(
            NotebookError, match="cell of fig-one has a caption and draws no picture"
        ):
            executed(folder, PAGE.replace("plt.plot([1, 2]);", ""))
        assert (folder / "failed.ipynb").is_file()
        monkeypatch.setenv("MPLBACKEND", "agg")  # where nobody looks at pictures, none is asked for
        executed(folder, PAGE)

    def test_a_kernel_is_spoken_to_where_no_other_program_can_take_its_place(
        self, folder: Path, plain: tuple[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A port that is free when it is picked may be taken when the kernel wants it."""
        how, alone = spoken(plain[1])
        again, forked = spoken(executed(folder, HOW))
        assert how == again == "by ipc True"
        assert alone != forked
        assert not Path(alone).exists()
        assert not Path(forked).exists()
        monkeypatch.setattr("ntpcli.report.sockets.ADDRESS_LIMIT", len(alone))
        assert spoken(executed(folder, HOW)) == ("by tcp False", "")


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize(
    ("cells", "words", "kept"),
    [
        (("print('begun')", "1 / 0"), "code cell 2: ZeroDivisionError", "begun"),
        (
            ("print('begun')", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"),
            "the kernel died",
            "begun",
        ),
        # How much of a page a second is enough for depends on the machine: one cell, no output.
        (("import time\ntime.sleep(10_000)",), "a cell took longer than 1 seconds", "10_000"),
    ],
)
def test_a_page_that_ends_early_is_kept_as_far_as_it_ran(
    folder: Path, cells: tuple[str, ...], words: str, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if len(cells) == 1:
        monkeypatch.setattr("tools.pipeline.execute.CELL_LIMIT", 1)
    head = PAGE[: PAGE.index("```{code-cell}")]
    text = head + "".join(f"```{{code-cell}}\n{cell}\n```\n\n" for cell in cells)
    with pytest.raises(NotebookError, match=words):
        executed(folder, text)
    written = json.loads((folder / "failed.ipynb").read_text())["cells"]
    first = next(cell for cell in written if cell["cell_type"] == "code")
    assert kept in json.dumps(first["outputs"] if kept == "begun" else first["source"])


def test_no_kernel_is_a_fork_if_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(notebooks.UNFORKED, raising=False)
    with notebooks.kernels(notebooks.MANY):
        assert forked_kernels._source is not None
    with notebooks.kernels(notebooks.MANY - 1):
        assert forked_kernels._source is None
    monkeypatch.setenv(notebooks.UNFORKED, "1")
    with notebooks.kernels(notebooks.MANY):
        assert forked_kernels._source is None
    assert f"export {notebooks.UNFORKED}=" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_a_notebook_is_written_once_and_not_around_every_cell(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages have a hundred cells and megabytes of pictures."""
    written = []
    monkeypatch.setattr(papermill.engines, "write_ipynb", lambda *_: written.append("by a cell"))
    monkeypatch.setattr(papermill.execute, "write_ipynb", lambda *_: written.append("at the end"))
    executed(folder, PAGE)
    assert written == ["at the end"]


def test_a_folder_that_is_too_far_down_for_sockets_is_known() -> None:
    """What fits can be bound, and one letter more than what fits anywhere cannot."""
    short = Path(tempfile.mkdtemp())
    here, there = short / LAST, short / ("x" * (ADDRESS_LIMIT - len(str(short / LAST)) - 1)) / LAST
    assert len(str(there)) == ADDRESS_LIMIT
    there.parent.mkdir()
    for one in (here, there):
        assert fit(one.parent)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(one))
    further = short / ("y" * 108)
    further.mkdir()
    assert not fit(further)
    with socket.socket(socket.AF_UNIX) as bound, pytest.raises(OSError, match="too long"):
        bound.bind(str(further / LAST))
    with sockets(further) as connection:
        assert connection == {}
    with sockets() as connection:
        assert connection["config"].KernelManager.transport == "ipc"
    shutil.rmtree(short)


def test_when_what_kernels_are_forks_of_is_killed_they_end_and_each_loads_for_itself(
    folder: Path,
) -> None:
    words = ["ipykernel_launcher", "-f", str(folder / "connection.json"), "--log-level=50"]
    with forked_kernels.forking():
        source = forked_kernels._source
        assert source is not None
        kernel = source.fork(words, str(folder), dict(os.environ))
        until = time.monotonic() + 3000
        while not (folder / "connection.json").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert kernel.poll() is None
        source.process.kill()
        source.process.wait()
        assert kernel.wait() == -signal.SIGKILL
        assert ends(kernel.pid)
        with pytest.raises(ConnectionError):
            source.fork(words, str(folder), dict(os.environ))
        assert FORKED not in executed(folder, HOW)


def test_forks_end_with_their_exit_codes_and_with_who_started_them(folder: Path) -> None:
    (folder / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "stays.py").write_text("import time\nopen('stays', 'w')\ntime.sleep(1000)\n")
    source, environment = forked_kernels.Source(), dict(os.environ)
    assert source.fork(["leaves"], str(folder), environment).wait() == 3
    killed, left = (source.fork(["stays"], str(folder), environment) for _ in range(2))
    assert killed.poll() is None
    killed.kill()
    assert killed.wait() == killed.poll() == -signal.SIGKILL
    killed.terminate()  # which is nothing to a process that has ended
    assert left.poll() is None
    source.close()
    assert ends(left.pid)
    assert left.wait() == -signal.SIGKILL
