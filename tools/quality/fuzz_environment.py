"""The environment of atheris, `.venv-fuzz`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools.pipeline import side_environment

PYTHON = side_environment.python_of("fuzz")
FILE = Path(__file__).resolve().with_name("fuzz_requirements.txt")
PINS = FILE.read_text(encoding="utf-8")
VERSION = PINS.partition("==")[2].split()[0]


def set_up() -> bool:
    """Make the environment; whether atheris can run in it.

    There are wheels for few versions of Python and for Linux only, so a failure is no error.
    """
    atheris = ["--require-hashes", "--only-binary", ":all:", "-r", str(FILE)]
    if side_environment.set_up("fuzz", PINS, [atheris]):
        return False
    return not subprocess.run([PYTHON, "-c", "import atheris"]).returncode
