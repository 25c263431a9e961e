"""Rows on `ntpcore repair --greedy` on WikiText-2, from the folder that WIKITEXT_DIR names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ntpcore.data.wikitext import FORMS

PARTS = ("valid", "test")
GOALS = {"wall clock": (30.0, "s"), "processor": (30.0, "s"), "peak memory": (1000.0, "MB")}

STARTER = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
clock = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, clock, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""

Row = dict[str, Any]


class Used(NamedTuple):
    """What a command took: seconds by the clock and of the processor, and peak megabytes."""

    clock: float
    processor: float
    memory: float


def find(part: str) -> Path | None:
    """The file of this part of WikiText-2; None where there is none."""
    folder = os.environ.get("WIKITEXT_DIR", "")
    found = [Path(folder, form.format(part)) for form in FORMS] if folder else []
    return next((file for file in found if file.is_file()), None)


def use(command: list[str], root: Path) -> Used:
    """What a command takes, its output thrown away.

    A small process starts it: the system counts the memory of whoever starts a process as the least
    that it takes.

    Raises:
        CalledProcessError: it fails.
    """
    program = [sys.executable, "-c", STARTER, *command]
    done = subprocess.run(program, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    code, clock, processor, peak = json.loads(done.stdout)
    if code:
        raise subprocess.CalledProcessError(code, command)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    return Used(clock, processor, peak * unit / 1e6)


def text_rows(row: Callable[..., Row], root: Path) -> Iterator[Row]:
    """For each part a row by the clock, one of the processor and one of peak memory.

    Args:
        row: makes a row, as that of `benchmarks.run`.
        root: the checkout.
    """
    for part in PARTS:
        file = find(part)
        size = f"WikiText-2, {part}"
        found: Used | tuple[None, None, None] = (None, None, None)
        peer = "limit (no such file; name its folder by WIKITEXT_DIR)"
        if file is not None:
            command = [sys.executable, "-m", "ntpcore", "repair", str(file), "--format", "text"]
            found, peer = use([*command, "--greedy"], root), "limit"
        for value, (what, (limit, unit)) in zip(found, GOALS.items(), strict=True):
            yield row(f"repair of a text, {what}", size, peer, value, limit, unit, 1)
