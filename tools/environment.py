"""Make `.venv` once, and again only when what it is made from changed.

Runs with any Python 3, before anything is installed, so that an old one gets a sentence and not
a syntax error: standard library only, nothing newer than Python 3.6 in the syntax.
"""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "ntpcore-stamp.json"
OLDEST = (3, 11)


def wanted_state():
    """What a finished environment is made from: Python, place, pins, and the package's own file."""
    return {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "root": str(ROOT),
        "requirements": hashlib.sha256((ROOT / "requirements.txt").read_bytes()).hexdigest(),
        "package": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
    }


def finished_state():
    """The state that the last finished set-up wrote, or None: never finished, or removed."""
    try:
        return json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def steps(wanted, finished):
    """Which of "create", "packages" and "package" must run to get from one state to the other."""
    if finished is None or any(wanted[key] != finished.get(key) for key in ("python", "root")):
        return ["create", "packages", "package"]
    if wanted["requirements"] != finished.get("requirements"):
        return ["packages", "package"]
    return ["package"] if wanted["package"] != finished.get("package") else []


def run(command, problem):
    """Run one command of the set-up; when it fails, say what that means and stop."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    if subprocess.call([str(part) for part in command], env=environment):
        sys.exit("set-up: " + problem)


def set_up(todo):
    """Do the steps. The stamp goes first and comes back last: half-finished is never finished."""
    pip = [VENV / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input"]
    if STAMP.exists():
        STAMP.unlink()
    if "create" in todo:
        print("set-up: making .venv with Python {}.{}.{}".format(*sys.version_info[:3]), flush=True)
        run(
            [getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", VENV],
            "could not make .venv (on Debian and Ubuntu: install the package python3-venv)",
        )
    if "packages" in todo:
        print("set-up: installing the pinned packages, which takes a few minutes", flush=True)
        run(
            [*pip, "--require-hashes", "-r", ROOT / "requirements.txt"],
            "the packages of requirements.txt could not be installed; see the lines above",
        )
    run(
        [*pip, "--no-deps", "--no-build-isolation", "-e", ROOT],
        "the package ntpcore itself could not be installed; see the lines above",
    )
    STAMP.write_text(json.dumps(wanted_state(), indent=2) + "\n", encoding="utf-8")
    print("set-up: done", flush=True)


def main():
    """Bring `.venv` up to date, one set-up at a time."""
    if sys.version_info < OLDEST:
        sys.exit(
            "set-up: Python {}.{} or newer is needed, and this is {}.{} ({}). "
            "Name a newer one: make book PYTHON=python3.12".format(
                *(OLDEST + tuple(sys.version_info[:2]) + (sys.executable,))
            )
        )
    (ROOT / ".build").mkdir(exist_ok=True)
    with open(str(ROOT / ".build" / "setup.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        todo = steps(wanted_state(), finished_state())
        if todo:
            set_up(todo)


if __name__ == "__main__":
    main()
