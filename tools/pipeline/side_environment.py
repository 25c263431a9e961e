"""Environments beside `.venv`, one for a tool each: made once, and again when its pins change."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ntpcore.data import digest

ROOT = Path(__file__).resolve().parents[2]


def folder_of(name: str) -> Path:
    """Where the environment of this name lies."""
    return ROOT / f".venv-{name}"


def python_of(name: str) -> Path:
    """Its Python."""
    return folder_of(name) / "bin" / "python"


def set_up(
    name: str, pins: str, installs: Sequence[Sequence[str]], *, partly: bool = False
) -> list[Sequence[str]]:
    """Make the environment, unless it is there and finished with the same pins.

    Args:
        name: its name.
        pins: what it is made from.
        installs: arguments of `pip install`, a sequence for each call.
        partly: whether it counts as finished when some of these calls have failed.

    Returns:
        the calls that failed; none where it was there.
    """
    stamp = folder_of(name) / "ntpcore-stamp"
    wanted = digest.of_files((), pins)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return []
    print(f"{name}: making {folder_of(name).name}", flush=True)
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--clear", str(folder_of(name))], check=True)
    pip = [str(python_of(name)), "-m", "pip", "install", "--quiet", "--no-input"]
    failed = [what for what in installs if subprocess.run([*pip, *what], check=False).returncode]
    if partly or not failed:
        stamp.write_text(wanted, encoding="utf-8")
    return failed
