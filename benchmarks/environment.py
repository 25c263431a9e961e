"""The environment of the peers, `.venv-bench`: made once, and again when its list changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-bench"
PYTHON = VENV / "bin" / "python"
LIST = Path(__file__).resolve().with_name("requirements.txt")
STAMP = VENV / "ntpcore-stamp"


def set_up() -> None:
    """Install each peer by itself, so that one that cannot be had leaves the others."""
    wanted = hashlib.sha256(LIST.read_bytes()).hexdigest()
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == wanted:
        return
    print("bench: making .venv-bench for the peers, which takes a few minutes", flush=True)
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--clear", str(VENV)], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input"]
    lines = [line for line in LIST.read_text(encoding="utf-8").splitlines() if "==" in line]
    for line in lines:
        if subprocess.run([*pip, line], check=False).returncode:
            print(f"bench: {line} could not be installed; its rows will say so", flush=True)
    STAMP.write_text(wanted, encoding="utf-8")
