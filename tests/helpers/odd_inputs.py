"""Odd inputs for both readers, the command line and the reader of saved runs.

A target takes bytes and returns nothing. An answer and a refusal in one message are right; anything
else is raised, and is an error of ours. `inputs` are the bytes: sound examples that were changed in
a few places, and what is made up from words that readers stumble over.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from ntpcli import cli, storage
from ntpcore.data import dataset, order
from ntpcore.huang2024 import prediction, problem, stage1, training

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LONGEST = 4000  # characters of a message
MAX_PAIRS = 2000
LONGEST_INPUT = 20_000  # bytes
WORDS = (
    *(b"\n", b"\r\n", b" ", b"\t", b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80"),
    *("\u2028\u0085\u3000\u200f\u202e👩\u200d💻ﷺ\x1c\x1d\x0b\x1b[31m".encode(), "\ufeff".encode()),
    *(b'{"sentence": [', b'"next": ', b'"count": ', b"]}", b'"', b"\\ud800", b"\\u0000", b"{}"),
    *(b"1e999", b"NaN", b"-0", b"9" * 400, b"9" * 5000, b"null", b"true", b"[" * 2000, b"S V"),
    *(b"$x_1^2$", b"<script>", b"__import__('os')", b"${HOME}", b"%s%n", b"../../x", b"--"),
)

# Commands that the second and later bytes complete; {} stands for the data.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("check", "{}"),
    ("check", "{}", "--json"),
    ("check", "{}", "--chars", "--max-pairs", "500"),
    ("check", "{}", "--format", "jsonl"),
    ("check", "{}", "--collocation", "{}"),
    ("check", "{}", "--steps", "3", "--json"),
    ("check", "{}", "--claim"),
    ("check",),
    ("repair", "{}", "--greedy"),
    ("repair", "{}", "--greedy", "--json"),
    ("predict", "{}", "--steps", "2", "--sentence"),
    ("predict", "{}.npz", "--sentence"),
    ("train", "{}", "--steps", "2", "--overwrite", "-o", "{}.npz"),
    ("train", "{}", "--steps", "2", "--resume", "-o", "{}.npz"),
    ("claims", "--search"),
    ("claims", "--from", "{}"),
    (),
)


def text(path: str, content: bytes) -> None:
    """Read bytes as a text file, then analyse what it holds."""
    _read(path, content, "text", chars=len(content) % 5 == 0)


def jsonl(path: str, content: bytes) -> None:
    """Read bytes as a JSON Lines file, then analyse what it holds."""
    _read(path, content, "jsonl", chars=False)


def collocation(path: str, content: bytes) -> None:
    """Read bytes as a collocation."""
    _put(path, content)
    with _one_message():
        found = order.read_collocation(path)
        assert found
        assert all(word.split() == [word] for pair in found.items() for word in pair)


def checkpoint(path: str, content: bytes) -> None:
    """Read bytes as a saved run, and use it if it is one.

    Bytes that begin with "=" change single numbers of a sound run, whose archive stays sound.
    """
    _put(path, _altered_run(content[1:]) if content[:1] == b"=" else content)
    with _one_message():
        saved = storage.load(path)
        prediction.predict(saved.problem, saved.trajectory, saved.problem.vocabulary[:2])


def command_line(path: str, content: bytes) -> None:
    """Run a command in this process: a byte says which, then a line of words, then the data."""
    head, _, rest = content.partition(b"\n")
    words = COMMANDS[head[0] % len(COMMANDS)] if head else ()
    tail = head[1:].decode("utf-8", "surrogateescape").split("|")
    given = [word.replace("{}", path) for word in words] + [w for w in tail if w or len(tail) > 1]
    _put(path, rest)
    if any(word in ("-", "report") or word.startswith("--steps") for word in tail):
        return  # standard input, kernels, and long runs, which are right
    out, err, code = _run(given)
    assert code in (0, 1, 2), f"exit code {code} of {given}"
    assert "Traceback" not in err, err
    assert code != 2 or (err and not out) or not given, f"{given}: {out!r} {err!r}"
    if "--json" not in given and "Usage: " not in err + out:
        odd = [c for c in out + err if c != "\n" and unicodedata.category(c) in ("Cc", "Cf")]
        assert not odd, f"{given} prints {odd!r}"


TARGETS: dict[str, Callable[[str, bytes], None]] = {
    "text": text,
    "jsonl": jsonl,
    "collocation": collocation,
    "checkpoint": checkpoint,
    "command_line": command_line,
}


def corpus(target: str) -> list[bytes]:
    """Inputs that mutations start from."""
    texts = [(EXAMPLES / name).read_bytes() for name in ("example1.txt", "contradiction.txt")]
    texts += [b"a b\nb a\n", "日本 語 👩‍💻\n語 日本\n".encode(), b"S V O P\r\nV O P\rO P\n"]
    rows = [(EXAMPLES / "five_tokens.jsonl").read_bytes()]
    rows += [b'{"sentence": ["S", "V"], "next": "O", "count": 3}\n', b'{"sentence": ["\\ud800"]}']
    kinds = {
        "text": texts,
        "jsonl": rows,
        "collocation": [b"S V\nV O\nO P\nP S\n", b"a b\n"],
        "checkpoint": [sound_run(), b"=", b"=\x00\x01\x02\x03"],
        "command_line": [
            bytes([number]) + tail + b"\n" + data
            for number in range(len(COMMANDS))
            for tail in (b"", b"S P", b"huang2024-prop-2", b"--json")
            for data in (texts[0], rows[0], texts[2])
        ],
    }
    return kinds[target]


def inputs(target: str) -> st.SearchStrategy[bytes]:
    """Bytes for a target."""
    return _changed(corpus(target)) | _made_up(corpus(target))


@st.composite
def _changed(draw: st.DrawFn, sound: list[bytes]) -> bytes:
    """One of some inputs, a few places of which hold other bytes."""
    content = bytearray(draw(st.sampled_from(sound)))
    for _ in range(draw(st.integers(0, 4))):
        low = draw(st.integers(0, len(content)))
        high = draw(st.integers(low, min(len(content), low + 60)))
        kept = bytes(content[low:high])
        new = st.one_of(
            st.sampled_from(WORDS),
            st.binary(max_size=9),
            st.just(kept * 20),  # the same again and again
            st.just(bytes(byte ^ 4 for byte in kept)),
        )
        content[low:high] = draw(new)
    return bytes(content[:LONGEST_INPUT])


def _made_up(sound: list[bytes]) -> st.SearchStrategy[bytes]:
    """Words, bytes and texts in a row."""
    texts = st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass"))
    part = st.one_of(st.sampled_from([*WORDS, *sound]), st.binary(max_size=40), texts)
    return st.lists(part).map(lambda parts: b"".join(parts)[:LONGEST_INPUT])


def _put(path: str, content: bytes) -> None:
    """Write a file."""
    with open(path, "wb") as stream:
        stream.write(content)


def _read(path: str, content: bytes, form: str, *, chars: bool) -> None:
    """Read data, and hold what was read against what it must be."""
    _put(path, content)
    with _one_message():
        data = dataset.read(path, form=form, chars=chars)
        assert len(set(data.vocabulary)) == len(data.vocabulary)
        assert all(data.vocabulary)
        if len(content) % 8 == 0:  # what takes longer, of some
            if data.max_length < 300:
                assert data.sample_count == len(list(data.samples()))
            order.analyse(data, max_pairs=MAX_PAIRS)


@contextlib.contextmanager
def _one_message() -> Iterator[None]:
    """Let a refusal pass that is one message which can be encoded."""
    try:
        yield
    except dataset.InputError as refusal:
        message = str(refusal)
        assert message.strip()
        assert len(message) < LONGEST, len(message)


def _run(arguments: list[str]) -> tuple[str, str, int]:
    """The command line in this process: what it printed, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["ntpcore", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main()
        code: object = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    assert isinstance(code, int), code
    return out.getvalue(), err.getvalue(), code


@cache
def _example_run() -> tuple[problem.Problem, training.Trajectory]:
    """A run on Example 1."""
    one = problem.from_dataset(dataset.read(str(EXAMPLES / "example1.txt")))
    gap = stage1.gap(one.vocab_size, 900, 0.1)
    return one, training.run(one, 20, 0.025, gap, record=[0, 1, 10])


@cache
def sound_run() -> bytes:
    """The file of a run on Example 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.npz")
        storage.save(str(path), *_example_run(), {"file": "example1.txt"})
        return path.read_bytes()


@cache
def _sound_arrays() -> dict[str, np.ndarray]:
    """The arrays of that file."""
    with np.load(io.BytesIO(sound_run()), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _altered_run(changes: bytes) -> bytes:
    """A sound archive in which bytes of some arrays were set; three bytes say which and how."""
    arrays = {name: array.copy() for name, array in _sound_arrays().items()}
    names = sorted(arrays)
    for start in range(0, len(changes) - 2, 3):
        which, where, value = changes[start : start + 3]
        raw = arrays[names[which % len(names)]].view(np.uint8)
        if len(raw):
            raw[where * 257 % len(raw)] = value
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()
