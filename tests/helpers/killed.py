"""A writing program that is killed, once at each of several places while it writes.

Run as `python killed.py FOLDER FILE MANY ENTRY [ARGUMENT ...]`: it loads ENTRY, a function
`module:name` or the source of one, and then forks for every place, so that only the first fork has
to load anything. What counts are the calls of functions that are not written in Python, and their
returns, from where a file in the folder is opened for writing for the last time (what writes may
have tried before whether it can) until a file is put into its place. One fork runs to the end and
counts; the others are killed at MANY places, spread evenly from the first call to the last. With
MANY 1 the only fork is killed just before a file is put into its place.

Prints a list: for each fork that was killed what the file held, and last what it holds whole, or
nothing if no fork ran to the end.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

OLD = b"precious"
NOWHERE, RENAMING = (0, 0), (0, -1)  # where a fork is killed
BEHIND = 3  # calls behind the one that puts a file into its place; the last ones are not reached


def main() -> None:
    """Read the command line, fork and tell."""
    folder, file, many, entry, *arguments = sys.argv[1:]
    if entry.startswith("def "):
        exec(entry, space := {})
        function = space["write"]
    else:
        module, name = entry.split(":")
        function = getattr(importlib.import_module(module), name)
    sys.argv = ["ntpcore", *arguments]
    target, counted = Path(folder, file), Path(f"{folder}.count")
    if many == "1":
        run(function, folder, target, counted, RENAMING)
        print(json.dumps([target.read_bytes().hex(), ""]))
        return
    run(function, folder, target, counted, NOWHERE)
    whole, (times, last) = target.read_bytes(), map(int, counted.read_text().split())
    places = sorted({1 + round(at * (last - 1) / (int(many) - 1)) for at in range(int(many))})
    found = []
    for place in places:
        run(function, folder, target, counted, (times, place))
        found.append(target.read_bytes().hex())
    print(json.dumps([*found, whole.hex()]))


def run(function: Any, folder: str, target: Path, counted: Path, place: tuple[int, int]) -> None:
    """Run a function in a fork that is killed at a place, after so many openings, or at none."""
    target.write_bytes(OLD)
    if not (pid := os.fork()):
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        try:
            watched(function, folder, counted, place)
        except SystemExit as end:
            os._exit(int(end.code or 0))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code == (0 if place == NOWHERE else -signal.SIGKILL), (place, code)


def watched(function: Any, folder: str, counted: Path, place: tuple[int, int]) -> None:
    """Run a function; from each file that it opens for writing count calls, or be killed."""
    times = seen = last = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal seen
        if event in ("c_call", "c_return", "c_exception"):
            seen += 1
            if (times, seen) == place:
                os.kill(os.getpid(), signal.SIGKILL)

    def opened(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal times, seen, last
        if event == "os.rename":
            last = seen + BEHIND
            if place == RENAMING:
                os.kill(os.getpid(), signal.SIGKILL)
        if event != "open" or not arguments[2] & (os.O_WRONLY | os.O_RDWR):
            return
        sys.setprofile(None)  # what this function calls counts for nothing
        if os.path.abspath(str(arguments[0])).startswith(f"{folder}/"):
            times, seen, last = times + 1, 0, 0
        if times and times >= place[0]:
            sys.setprofile(count)

    sys.addaudithook(opened)
    try:
        function()
    finally:
        sys.setprofile(None)
        if place == NOWHERE:
            counted.write_text(f"{times} {last or seen - BEHIND}")


if __name__ == "__main__":
    main()
