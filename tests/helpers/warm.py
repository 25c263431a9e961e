"""A Python that has loaded what is slow to load, and forks for every question.

A process of its own, so that nothing of a test is in it: it holds no module of this project, and
every fork loads those of the folder that it is asked about.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OURS = {"ntpbook", "ntpcli", "ntpcore", "ntpplayground", "ntpverdicts", "tests", "tools"}
SECONDS = 3000  # for one answer


class Warm:
    """Such a Python; ask it as one would ask a new one."""

    def __init__(self, modules: tuple[str, ...], environment: Mapping[str, str]) -> None:
        """Start it, in this environment, with these modules."""
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *modules],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, folder: Path, words: list[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """What `python words` says in a folder; words begin with a program or with -m.

        Raises:
            TimeoutError: there is no answer in time.
        """
        assert self._process.stdin is not None
        with tempfile.TemporaryDirectory() as scratch:
            says, warns = Path(scratch, "out"), Path(scratch, "err")
            question = {
                "folder": str(folder),
                "words": words,
                "environment": dict(environment),
                "files": [os.devnull, str(says), str(warns)],
            }
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            code = self._answer()
            return subprocess.CompletedProcess(
                words, code, says.read_text("utf-8"), warns.read_text("utf-8")
            )

    def _answer(self) -> int:
        """The exit code of the fork."""
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], SECONDS)[0]:
            self._process.kill()
            raise TimeoutError(f"no answer within {SECONDS} seconds")
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def main(modules: list[str]) -> None:
    """Load modules; then answer every line of the input with the exit code of a fork."""
    for name in modules:
        importlib.import_module(name)
    assert not OURS & {name.partition(".")[0] for name in sys.modules}, "a module of the project"
    gc.freeze()  # what is loaded stays, and need not be looked at by any fork
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def become(question: Mapping[str, Any]) -> None:
    """Be what a new Python would be, and end like it."""
    for place, name in enumerate(question["files"]):
        file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(file, place)
        os.close(file)
    os.chdir(question["folder"])
    os.environ.clear()
    os.environ.update(question["environment"])
    first, *rest = question["words"]
    ahead = [question["folder"] if first == "-m" else str(Path(first).resolve().parent)]
    ahead += [name for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if name]
    sys.path[:1] = ahead
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    importlib.invalidate_caches()
    if first == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [first, *rest]
        runpy.run_path(first, run_name="__main__")
    sys.exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
