"""Full disks, read-only places, kills, damaged caches: nothing is lost or half-written.

The messages say what to do. The build's own faults are in test_build.py.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numba
import pytest
from program import CONTRADICTION, EXAMPLE_1, EXAMPLES, sentences
from small_disk import with_little_room

from ntpcli import storage

pytest.importorskip("numba")
ROOT = Path(__file__).resolve().parents[2]
LONG = str(EXAMPLES / "gettysburg.txt")


def command(*arguments: str, python: tuple[str, ...] = ()) -> list[str]:
    """The command line of `ntpcore` with these arguments."""
    return [sys.executable, *python, "-m", "ntpcore", *arguments]


def start(
    folder: Path, words: list[str], limit: int | None = None, pipe: int = -1
) -> subprocess.Popen[str]:
    """A process of its own.

    Args:
        folder: where it runs.
        words: what it runs.
        limit: how many bytes the disk takes, in whichever file.
        pipe: how many bytes it can write before somebody has read them.
    """
    return subprocess.Popen(
        words if limit is None else with_little_room(limit, words),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pipesize=pipe,
        text=True,
    )


# Every command that writes, and the file it writes.
WRITING = {
    "train": (("train", EXAMPLE_1, "--steps", "20", "-o", "old", "--overwrite"), "old"),
    "repair": (("repair", CONTRADICTION, "--greedy", "--write", "old", "--overwrite"), "old"),
    "report": (("report", EXAMPLE_1, "--steps", "20", "-o", "old", "--overwrite"), "old"),
}


@pytest.mark.parametrize(("arguments", "target"), WRITING.values(), ids=WRITING)
@pytest.mark.parametrize("room", [0, 30])
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, arguments: tuple[str, ...], target: str, room: int
) -> None:
    (tmp_path / target).write_text("precious")
    out, err = (process := start(tmp_path, command(*arguments), room)).communicate(timeout=3000)
    assert (process.returncode, out) == (2, "")
    (said,) = sentences(err)
    assert "ake room" in said
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {target: "precious"}


@pytest.mark.parametrize(
    "arguments", [row[0] for row in WRITING.values()][:2], ids=["train", "repair"]
)
def test_a_place_that_takes_no_file_is_a_message(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """The kernel takes no file in /sys, even from root."""
    place = "/sys" if os.geteuid() == 0 else str(tmp_path)
    tmp_path.chmod(0o500)
    words = [f"{place}/x" if word == "old" else word for word in arguments]
    out, err = (process := start(ROOT, command(*words))).communicate(timeout=3000)
    assert (process.returncode, out) == (2, "")
    (said,) = sentences(err)
    assert f"{place}/x: cannot be written (Permission denied)" in said
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


# Ctrl-C


def stopped_after(
    folder: Path, words: tuple[str, ...], name: str, count: int
) -> tuple[int, list[str]]:
    """Send Ctrl-C once a command has loaded a module and so many more; its exit code and words."""
    # It cannot run ahead of who reads its lines by more than a page of them.
    with start(folder, command(*words, python=("-X", "importtime")), pipe=4096) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        loaded = (line.rsplit("|", 1)[-1].strip() for line in process.stderr)
        assert name in loaded  # reads up to there
        for _ in range(count):
            next(loaded)
        process.send_signal(signal.SIGINT)
        said = "".join(line for line in process.stderr if not line.startswith("import time:"))
        assert process.stdout.read() == ""
        assert "Traceback" not in said
        return process.wait(timeout=3000), sentences(said)


@pytest.fixture(scope="module")
def modules_of_a_check() -> int:
    """How many modules a check that nobody stops loads after `ntpcore`."""
    words = command("check", LONG, python=("-X", "importtime"))
    _, err = start(ROOT, words).communicate(timeout=3000)
    names = [line.rsplit("|", 1)[-1].strip() for line in err.splitlines()]
    return len(names) - names.index("ntpcore") - 1


@pytest.mark.parametrize("share", [0.01, 0.15, 0.3, 0.4, 0.55])
def test_a_check_stopped_while_it_loads_says_so_in_one_line(
    tmp_path: Path, modules_of_a_check: int, share: float
) -> None:
    """Before `ntpcore` is loaded, Python itself starts, and nothing of the program is there."""
    count = max(1, int(share * modules_of_a_check))
    stopped = (130, ["ntpcore: stopped"])
    assert stopped_after(tmp_path, ("check", LONG), "ntpcore", count) == stopped


def test_training_that_is_stopped_leaves_no_file(tmp_path: Path) -> None:
    words = ("train", EXAMPLE_1, "--steps", str(10**12), "-o", "run")
    assert stopped_after(tmp_path, words, "ntpcli.storage", 0) == (
        130,
        ["ntpcore: stopped"],
    )
    assert list(tmp_path.iterdir()) == []


def report_at_work(folder: Path) -> subprocess.Popen[str]:
    """An endless report whose notebook is running, its folders below `folder`."""
    temporary = folder / "tmp"
    temporary.mkdir()
    words = command("report", EXAMPLE_1, "--steps", str(10**9), "-o", str(folder / "r.html"))
    process = subprocess.Popen(
        words,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 3000
    while len(list(temporary.glob("ntpcore-*/matplotlib/*"))) == 0:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.1)
    return process


def nothing_left_of_the_report(folder: Path) -> None:
    """Neither a folder nor a page."""
    left = [path for path in (folder / "tmp").iterdir() if path.name.startswith("ntpcore-")]
    assert left == []
    assert not (folder / "r.html").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_report_that_is_terminated_leaves_no_folder(tmp_path: Path, number: int) -> None:
    """TERM, or HUP of a closed terminal, arrives while the notebook runs."""
    with report_at_work(tmp_path) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=3000)
    assert (process.returncode, out, sentences(err)) == (128 + number, "", ["ntpcore: stopped"])
    nothing_left_of_the_report(tmp_path)


def test_a_kernel_that_would_abort_on_its_way_out_is_not_heard(tmp_path: Path) -> None:
    """As ZeroMQ now and then does, with a line on stderr; the report is whole by then."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        "if 'ipykernel_launcher' in sys.orig_argv:\n"
        "    atexit.register(os.abort)\n"
        "    atexit.register(os.write, os.dup(2), b'Assertion failed\\n')\n"
    )
    done = subprocess.run(
        command("report", EXAMPLE_1, "--steps", "5", "-o", str(tmp_path / "r.html")),
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"written: {tmp_path}/r.html\n")
    assert "Assertion failed" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")
def test_a_report_whose_kernel_is_killed_says_so_once(tmp_path: Path) -> None:
    """As the system does when memory runs out; packages below have words of their own for it."""
    with report_at_work(tmp_path) as process:
        listed = Path(f"/proc/{process.pid}/task").glob("*/children")
        (kernel,) = [int(child) for file in listed for child in file.read_text().split()]
        os.kill(kernel, signal.SIGKILL)
        out, err = process.communicate(timeout=3000)
    assert (process.returncode, out) == (2, "")
    (said,) = sentences(err)
    assert "the process that computes it ended" in said
    nothing_left_of_the_report(tmp_path)


def test_a_program_in_the_background_does_not_hear_ctrl_c(tmp_path: Path) -> None:
    deaf = 'trap "" INT; echo deaf; exec "$@"'
    process = start(tmp_path, ["sh", "-c", deaf, "sh", *command("check", EXAMPLE_1)])
    assert process.stdout is not None
    assert process.stdout.readline() == "deaf\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=3000)
    assert (process.returncode, sentences(err)) == (0, [])
    assert out.startswith("Data")


# Kills


def contents_after_kills(folder: Path, target: str, many: int, *words: str) -> list[bytes]:
    """What a file holds after its writer was killed at several places, and last when it was not."""
    folder.mkdir()
    program = str(ROOT / "tests/helpers/killed.py")
    done = subprocess.run(
        [sys.executable, program, str(folder), target, str(many), *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [bytes.fromhex(one) for one in json.loads(done.stdout)]


@pytest.mark.parametrize(("name", "many"), [("train", 9), ("repair", 9), ("report", 1)])
def test_a_killed_process_leaves_the_old_file_or_the_whole_new_one(
    tmp_path: Path, name: str, many: int
) -> None:
    arguments, target = WRITING[name]
    folder = tmp_path / "work"
    entry = "ntpcli.cli:main"
    *left, whole = contents_after_kills(folder, target, many, entry, *arguments)
    assert len(left) == many
    assert left[0] == b"precious" != whole
    assert {len(one) for one in left[1:]} <= {len(b"precious"), len(whole)}
    if name == "train":
        (folder / target).write_bytes(whole)
        assert storage.load(str(folder / target)).trajectory.state.step == 20


def test_a_writer_that_may_be_killed_half_way_is_noticed(tmp_path: Path) -> None:
    in_place = (
        "def write():\n"
        "    with open('old', 'w') as file:\n"
        "        file.write('the whole')\n"
        "        file.flush()\n"
        "        file.write(' of it')\n"
    )
    *left, whole = contents_after_kills(tmp_path / "work", "old", 4, in_place)
    assert whole == b"the whole of it"
    assert {b"", b"the whole"} <= set(left)


# The cache of compiled loops

LOOP = '''"""A loop."""

from ntpcore.compiled import compiled


@compiled
def total(n: int) -> int:
    """The sum of the numbers below n."""
    found = 0
    for i in range(n):
        found += i
    return found
'''


def load(path: Path) -> ModuleType:
    """The module in this file, loaded anew."""
    spec = importlib.util.spec_from_file_location("loop_of_this_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_loop(path: Path) -> bool:
    """Run the loop, which must be right; whether it came from the cache."""
    module = load(path)
    assert module.total(5) == 10
    return sum(module.total.stats.cache_hits.values()) == 1


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module with one compiled function, which is cached beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    assert not run_loop(path)
    assert run_loop(path)
    return path


def test_what_calls_a_compiled_function_of_a_changed_module_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function within is part of what was compiled, and numba looks at one module alone."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.syspath_prepend(tmp_path)
    inner, outer = tmp_path / "inner_of_this_test.py", tmp_path / "outer.py"
    head = "from ntpcore.compiled import compiled\n"
    within = "@compiled\ndef value(n: int) -> int:\n    return n + {}\n"
    outer.write_text(
        f"{head}from inner_of_this_test import value\n"
        "@compiled\ndef total(n: int) -> int:\n    return 2 * value(n)\n"
    )
    for added, cached in ((1, 0), (1, 1), (30, 0), (30, 1)):
        inner.write_text(head + within.format(added))
        sys.modules.pop("inner_of_this_test", None)
        importlib.invalidate_caches()
        module = load(outer)
        assert module.total(5) == 2 * (5 + added)
        assert sum(module.total.stats.cache_hits.values()) == cached


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_anew(loop: Path, suffix: str) -> None:
    (file,) = (loop.parent / "__pycache__").glob(f"*.{suffix}")
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    for content in (b"", whole[: len(whole) // 2], bytes(flipped), b"\x80\x04N.", b"foreign"):
        file.write_bytes(content)
        assert not run_loop(loop)
        assert run_loop(loop)


def test_a_cache_without_room_is_done_without(loop: Path) -> None:
    for path in loop.parent.rglob("*.nb*"):
        path.unlink()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        assert not run_loop(loop)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(loop.parent.rglob("*.nb*")) == []
    assert not run_loop(loop)
    assert run_loop(loop)


def test_a_cache_killed_between_index_and_data_is_not_believed(loop: Path) -> None:
    """The index of a changed module may not name what was compiled before the change."""
    loop.write_text(LOOP.replace("found += i", "found += 2 * i - i"))
    os.utime(loop, (1, 1))
    assert not run_loop(loop)
    (data,) = (loop.parent / "__pycache__").glob("*.1.nbc")
    data.unlink()
    assert not run_loop(loop)
    assert run_loop(loop)
