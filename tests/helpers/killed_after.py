"""A command that kills itself right after two of the files that it keeps are in place.

Run as `python killed_after.py MODULE FOLDER [ARGUMENT ...]`: two different files in FOLDER. A file
may be put into place again and again, and counts once.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from pathlib import Path

KEPT = 2


def main() -> None:
    """Run the module as a program, which ends before it is done."""
    module, folder, *arguments = sys.argv[1:]
    put, seen = os.replace, set[Path]()

    def replace(part: str | Path, target: str | Path) -> None:
        put(part, target)
        if Path(target).parent == Path(folder):
            seen.add(Path(target))
        if len(seen) == KEPT:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace  # type: ignore[assignment]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__")


if __name__ == "__main__":
    main()
