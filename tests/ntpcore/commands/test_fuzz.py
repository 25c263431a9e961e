"""A short run of `make fuzz`, and what it found: no input breaks a reader or the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ntpcore.data import dataset, order
from tools.quality import fuzz, fuzz_targets
from tools.quality.mutate import mutants

ROOT = Path(__file__).resolve().parents[3]
SHORT = {"text": 1000, "jsonl": 3000, "collocation": 3000, "checkpoint": 150, "command_line": 60}


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder in memory, where there is one."""
    with tempfile.TemporaryDirectory(dir=fuzz.in_memory()) as name:
        yield name


@pytest.mark.parametrize("target", SHORT)
def test_mutations_break_nothing(target: str, folder: str) -> None:
    feed = fuzz.feeder(target, folder)
    for content in mutants(fuzz_targets.corpus(target), seed=1, count=SHORT[target]):
        feed(content)


@pytest.mark.parametrize("target", ["text", "jsonl", "checkpoint"])
def test_what_hypothesis_imagines_breaks_nothing(target: str, folder: str) -> None:
    fuzz.imagined(target, fuzz.feeder(target, folder), 100)


def test_mutations_are_the_same_every_time_and_not_all_alike() -> None:
    first, second = (list(mutants([b"a b\n"], seed=3, count=200)) for _ in range(2))
    assert first == second
    assert len(set(first)) > 120
    assert first != list(mutants([b"a b\n"], seed=4, count=200))


@pytest.mark.parametrize("target", ["text", "jsonl", "collocation"])
def test_a_planted_error_is_found(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of bytes that are no UTF-8, or of characters, a reader breaks."""
    monkeypatch.setattr(fuzz.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(dataset, "_is_utf8", lambda line: ord(line[0]) // 0)
    feed = fuzz.feeder(target, str(tmp_path))
    inputs = mutants(fuzz_targets.corpus(target), seed=1, count=2000)
    with pytest.raises(ZeroDivisionError):
        deque(map(feed, inputs), maxlen=0)
    assert (tmp_path / f"ntpcore-fuzz-{target}.input").exists()


def test_a_long_token_does_not_make_a_long_message(tmp_path: Path) -> None:
    """What fuzzing found first: a message as long as the token that it quotes."""
    (tmp_path / "n.txt").write_text(f"a {'9' * 5000}\na b\n")
    with pytest.raises(dataset.InputError) as raised:
        order.read_collocation(str(tmp_path / "n.txt"))
    assert len(str(raised.value)) < 400


# Linear time, by counting what Python does and not by the clock


def calls(work: Callable[[], object]) -> int:
    """Calls of functions, of Python's and of C's, that some work makes."""
    count = 0

    def profile(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", fuzz.GROWING)
def test_twice_the_input_takes_twice_the_work(name: str, tmp_path: Path) -> None:
    target, make = fuzz.GROWING[name]
    path = str(tmp_path / "data")

    def read(size: int) -> int:
        content = make(size) + b" "
        content += b" " * (1 - len(content) % 8)
        return calls(lambda: fuzz_targets.TARGETS[target](path, content))

    read(10)
    assert read(4000) <= 2.3 * read(2000) + 200


def test_more_than_linear_work_is_noticed() -> None:
    def square(n: int) -> int:
        return calls(lambda: [len("") for _ in range(n) for _ in range(n)])

    assert square(200) > 2.3 * square(100) + 200


def test_the_published_run_had_a_million_inputs_and_broke_nothing() -> None:
    found = json.loads(fuzz.RESULT.read_text(encoding="utf-8"))
    assert found["inputs"] == sum(sum(one.values()) for one in found["by"].values()) >= 1_000_000
    assert found["broken"] == 0
    assert all(value < 3 for value in found["growth_on_doubling"].values())


# Memory

LARGE = {
    "one line": ("yes ab | tr -d '\\n' | head -c 500000000", ":1: a line of more than 20000000"),
    "words in one line": ("yes ab | tr '\\n' ' ' | head -c 500000000", ":1: a line of more than"),
    "a huge vocabulary": ("seq 1 60000000", "the data do not fit: "),
}


@pytest.mark.parametrize(("source", "message"), LARGE.values(), ids=LARGE)
def test_500_megabytes_end_in_a_message_within_memory(source: str, message: str) -> None:
    """Under a limit of 2 GB on memory, beyond which the system would refuse it."""
    program = f"ulimit -v 2000000; {sys.executable} -m ntpcore check -"
    done = subprocess.run(
        ["bash", "-c", f"{source} | ({program})"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    ours = [line for line in done.stderr.splitlines() if line.startswith("ntpcore: ")]
    assert len(ours) == 1
    assert message in ours[0]
    assert "Traceback" not in done.stderr


def test_room_is_counted_for_tokens_and_for_distinct_lines(tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("".join(f"a t{i}\n" for i in range(100)))
    (tmp_path / "same.txt").write_text("a b\n" * 10_000)
    with pytest.raises(dataset.InputError, match=r"many\.txt:\d+: the data do not fit"):
        dataset.read(str(tmp_path / "many.txt"), room=100_000)
    assert dataset.read(str(tmp_path / "many.txt"), room=200_000).sample_count == 100
    assert dataset.read(str(tmp_path / "same.txt"), room=5_000).lines[0].count == 10_000
