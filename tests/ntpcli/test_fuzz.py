"""No input breaks a reader or the command line; reading takes linear time and bounded memory.

`pytest --hypothesis-profile=many tests/ntpcli/test_fuzz.py` tries a hundred times as many
inputs, others each time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from odd_inputs import TARGETS, inputs

from ntpcore.data import dataset, order

ROOT = Path(__file__).resolve().parents[2]
# Inputs for one example of a usual test; a command takes a hundred times as long as a text.
MORE = {"text": 10, "jsonl": 10, "collocation": 10, "checkpoint": 1, "command_line": 0.6}


def feed(target: str, phases: tuple[Phase, ...] = tuple(Phase)) -> None:
    """Try many inputs on a target; hypothesis makes one that breaks it small, and shows it."""
    count = int(MORE[target] * settings().max_examples)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "data"))

        @settings(max_examples=count, phases=phases, suppress_health_check=list(HealthCheck))
        @given(inputs(target))
        def one(content: bytes) -> None:
            TARGETS[target](path, content)

        one()


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_breaks_anything(target: str) -> None:
    feed(target)


@pytest.mark.parametrize("target", ["text", "jsonl", "collocation"])
def test_a_reader_that_cannot_refuse_wrong_bytes_is_noticed(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the check of bytes that are no UTF-8, or of characters, a reader breaks."""
    monkeypatch.setattr(dataset, "_is_utf8", lambda line: ord(line[0]) // 0)
    with pytest.raises(ZeroDivisionError):
        feed(target, (Phase.generate,))


def test_a_long_token_does_not_make_a_long_message(tmp_path: Path) -> None:
    """What fuzzing found first: a message as long as the token that it quotes."""
    (tmp_path / "n.txt").write_text(f"a {'9' * 5000}\na b\n")
    with pytest.raises(dataset.InputError) as raised:
        order.read_collocation(str(tmp_path / "n.txt"))
    assert len(str(raised.value)) < 400


# Linear time, by counting what Python does and not by the clock


# Inputs that grow, each with its target.
GROWING: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "one token": ("text", lambda n: b"a " * n),
    "tokens all different": ("text", lambda n: b" ".join(b"%d" % i for i in range(n))),
    "one long token": ("text", lambda n: b"a" * n),
    "blank lines": ("text", lambda n: b"\n" * n + b"a b"),
    "lines all different": ("text", lambda n: b"".join(b"a %d\n" % i for i in range(n))),
    "carriage returns": ("text", lambda n: b"\r" * n + b"a b"),
    "growing prefixes": ("text", lambda n: b"\n".join(b"a " * i for i in range(int(n**0.5)))),
    "nested lists": ("jsonl", lambda n: b"[" * n),
    "a long number": ("jsonl", lambda n: b'{"count": ' + b"9" * n + b"}"),
    "many keys": ("jsonl", lambda n: b"{" + b",".join(b'"%d":1' % i for i in range(n)) + b"}"),
    "escapes": ("jsonl", lambda n: b'{"sentence": ["' + b"\\u0061" * n + b'"], "next": "b"}'),
    "a sentence": ("jsonl", lambda n: b'{"sentence": [' + b'"a",' * n + b'"b"], "next": "b"}'),
    "collocations": ("collocation", lambda n: b"".join(b"%d a\n" % i for i in range(n))),
}


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


@pytest.mark.parametrize("name", GROWING)
def test_twice_the_input_takes_twice_the_work(name: str, tmp_path: Path) -> None:
    target, make = GROWING[name]
    path = str(tmp_path / "data")

    def read(size: int) -> int:
        content = make(size) + b" "
        content += b" " * (1 - len(content) % 8)
        return calls(lambda: TARGETS[target](path, content))

    read(10)
    assert read(4000) <= 2.3 * read(2000) + 200


def test_more_than_linear_work_is_noticed() -> None:
    def square(n: int) -> int:
        return calls(lambda: [len("") for _ in range(n) for _ in range(n)])

    assert square(200) > 2.3 * square(100) + 200


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
        timeout=3000,
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
