"""The environment of atheris, `.venv-fuzz`: made once, and again when its pins change."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-fuzz"
PYTHON = VENV / "bin" / "python"
PINS = Path(__file__).resolve().with_name("fuzz_requirements.txt")
STAMP = VENV / "ntpcore-stamp"
VERSION = PINS.read_text(encoding="utf-8").partition("==")[2].split()[0]


def set_up() -> bool:
    """Make the environment; whether atheris can run in it.

    There are wheels for few versions of Python and for Linux only, so a failure is no error.
    """
    wanted = hashlib.sha256(PINS.read_bytes()).hexdigest()
    if not STAMP.exists() or STAMP.read_text(encoding="utf-8") != wanted:
        print("fuzz: making .venv-fuzz for atheris", flush=True)
        base = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([base, "-m", "venv", "--clear", str(VENV)], check=True)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--no-input"]
        pip += ["--require-hashes", "--only-binary", ":all:", "-r", str(PINS)]
        if subprocess.run(pip, check=False).returncode == 0:
            STAMP.write_text(wanted, encoding="utf-8")
    return STAMP.exists() and not subprocess.run([PYTHON, "-c", "import atheris"]).returncode
