"""Work that a process of its own does while this one goes on, with the same errors as here.

The site needs some files that Sphinx has no part in; on two cores they cost no time this way.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from typing import Self

FAILED = 3  # exit code of a function that raised an error
LEFT = 2  # exit code of one that nobody waited for


class Beside:
    """A function at work in a process of its own, which ends with this one."""

    def __init__(self, module: str, function: str, *arguments: str) -> None:
        """Start `function` of `module` with these arguments; what it returns is not kept."""
        self.name = f"{module}.{function}"
        # While its standard input is open, this process lives.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.site.background", module, function, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> Self:
        """Nothing more than what has begun."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it, if it has not ended."""
        self.stop()

    def wait(self) -> None:
        """Wait for its end; once that is there, a second call does nothing.

        Raises:
            Exception: what the function raised.
            RuntimeError: its process died, or said something, such as a warning.
        """
        assert self._process.stdout is not None
        if self._process.stdout.closed:
            return
        said = self._process.stdout.read()
        code = self._process.wait()
        self.stop()
        if code == FAILED:
            raise _told(said)
        if code or said:
            text = said.decode("utf-8", "replace").strip()
            raise RuntimeError(f"{self.name} ended with exit code {code}: {text}")

    def stop(self) -> None:
        """Stop it wherever it is."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def main(module: str, function: str, *arguments: str) -> int:
    """Call a function; an error goes back as it is."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        getattr(importlib.import_module(module), function)(*arguments)
    except Exception as error:
        print("", _telling(error), sep="\n")
        return FAILED
    return 0


def _telling(error: Exception) -> str:
    """An error as a line of JSON: its type, and what it was made from."""
    kind = type(error)
    given: list[object] = [str(part) for part in error.args]
    if isinstance(error, OSError) and error.errno is not None:
        file = None if error.filename is None else str(error.filename)
        given = [error.errno, error.strerror, file]
    return json.dumps([kind.__module__, kind.__qualname__, given])


def _told(said: bytes) -> Exception:
    """The error that stands in the last line."""
    module, name, given = json.loads(said.splitlines()[-1])
    error: Exception = getattr(importlib.import_module(module), name)(*given)
    return error


def _leave_with_parent() -> None:
    """End this process at once when nobody waits for it any more."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(LEFT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
