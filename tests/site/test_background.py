"""Work in a process of its own: the same errors as here, and an end with whoever waits for it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.site.background import LEFT, Beside
from tools.site.playground import MissingError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_it_does_its_work(tmp_path: Path) -> None:
    work = Beside("os", "makedirs", str(tmp_path / "a" / "b"))
    work.wait()
    assert (tmp_path / "a" / "b").is_dir()


def test_its_errors_are_errors_here(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for module, function in (("os", "mkdir"), ("tests.site.test_background", "make_folder")):
        with pytest.raises(FileExistsError) as found:
            Beside(module, function, str(tmp_path / "file")).wait()
        assert (found.value.errno, found.value.filename) == (errno.EEXIST, str(tmp_path / "file"))
    with pytest.raises(MissingError, match="gone"):
        Beside("tests.site.test_background", "miss", "gone").wait()


def make_folder(name: str) -> None:
    """Its error names a path, and no text."""
    Path(name).mkdir()


def miss(what: str) -> None:
    """An error of the project."""
    raise MissingError(what)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("builtins", "print", "a warning"), "builtins.print ended with exit code 0: a warning"),
        (("tools.no_such_module", "f"), "No module named 'tools.no_such_module'"),
        (("sys", "exit", "over"), "sys.exit ended with exit code 1: over"),
    ],
)
def test_what_it_says_is_an_error(call: tuple[str, ...], said: str) -> None:
    with pytest.raises((RuntimeError, ModuleNotFoundError), match=said):
        Beside(*call).wait()


def test_it_can_be_stopped() -> None:
    work = Beside("subprocess", "getoutput", "sleep 60")
    work.stop()
    assert work._process.returncode == LEFT, "it was left to its end"


WAITING = """
import os
from tools.site.background import Beside
from tools.site.playground import MissingError

work = Beside("tests.site.test_background", "stay")
print(work._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def stay() -> None:
    """Longer than anybody waits."""
    time.sleep(1000)


def test_it_ends_when_whoever_waits_is_killed() -> None:
    command = [sys.executable, "-c", WAITING]
    env = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=3000, check=False
    )
    pid = int(done.stdout)
    until = time.monotonic() + 3000
    while running(pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert not running(pid)


def running(pid: int) -> bool:
    """Whether a process computes or sleeps; one that ended and was not fetched does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"
