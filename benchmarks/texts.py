"""Rows on commands that read WikiText-2, from the folder that WIKITEXT_DIR names."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ntpbook.tian2023.s8_wikitext.wikitext import FORMS

PARTS = ("valid", "test")
REPAIR = {"wall clock": (30.0, "s"), "processor": (30.0, "s"), "peak memory": (1000.0, "MB")}
CHECK = {"wall clock": (2.0, "s"), "processor": (2.0, "s"), "peak memory": (150.0, "MB")}
CERTIFIED = {"made": (30.0, "s"), "checked": (5.0, "s")}
ZIPF = (10_000, 30_000, 100_000, 300_000)  # tokens of a line
TYPES = 50_000  # of Zipf's law: the k-th occurs with a frequency of 1/k
DATA = (10_000, 100_000, 1_000_000, 10_000_000)  # samples; the last take 10 minutes and 5 GB
KINDS = ("repeated", "words of each line shuffled")
SIZE = 50_000_000  # bytes of the text that `check` reads
NO_FILE = "limit (no such file; name its folder by WIKITEXT_DIR)"

STARTER = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
clock = time.perf_counter() - began
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, clock, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""

Row = dict[str, Any]


class Used(NamedTuple):
    """What a command took: seconds by the clock and of the processor, and peak megabytes."""

    clock: float
    processor: float
    memory: float


def find(part: str) -> Path | None:
    """The file of this part of WikiText-2; None where there is none."""
    folder = os.environ.get("WIKITEXT_DIR", "")
    found = [Path(folder, form.format(part)) for form in FORMS] if folder else []
    return next((file for file in found if file.is_file()), None)


def use(command: list[str], root: Path, codes: tuple[int, ...] = (0,)) -> Used:
    """What a command takes, its output thrown away.

    A small process starts it: the system counts the memory of whoever starts a process as the least
    that it takes.

    Raises:
        CalledProcessError: it ends with another exit code than these.
    """
    program = [sys.executable, "-c", STARTER, *command]
    done = subprocess.run(program, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    code, clock, processor, peak = json.loads(done.stdout)
    if code not in codes:
        raise subprocess.CalledProcessError(code, command)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    return Used(clock, processor, peak * unit / 1e6)


def text_rows(row: Callable[..., Row], root: Path) -> Iterator[Row]:
    """For each text a row by the clock, one of the processor and one of peak memory.

    Args:
        row: makes a row, as that of `benchmarks.run`.
        root: the checkout.
    """
    python = [sys.executable, "-m", "ntpcore"]
    for part in PARTS:
        file, found = find(part), None
        if file is not None:
            command = [*python, "repair", str(file), "--format", "text", "--greedy"]
            found = use(command, root)
        yield from _rows(row, "repair of a text", f"WikiText-2, {part}", found, REPAIR)
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            size, found = f"50 MB of WikiText-2, {kind}", None
            if all(find(part) for part in PARTS):
                file = Path(folder, "text.txt")
                file.write_text(enlarged(kind, SIZE), encoding="utf-8")
                # it ends with 1 if the text is not realizable, which no text of this size is
                found = use([*python, "check", str(file), "--format", "text"], root, (1,))
            yield from _rows(row, "check of a text", size, found, CHECK)


def growing_rows(row: Callable[..., Row], root: Path) -> Iterator[Row]:
    """Processor times of commands on random data of growing size.

    Args:
        row: makes a row, as that of `benchmarks.run`.
        root: the checkout.
    """
    python = [sys.executable, "-m", "ntpcore"]
    with tempfile.TemporaryDirectory() as folder:
        for size in ZIPF:
            file = Path(folder, "line.txt")
            file.write_text(zipf_line(size), encoding="utf-8")
            found = use([*python, "repair", str(file), "--greedy"], root).processor
            name = "repair of one line of Zipf text, processor"
            yield row(name, f"{size} tokens", "none", found, None, "s", None)
        for size in DATA:
            file = Path(folder, "data.jsonl")
            with file.open("w", encoding="utf-8") as stream:
                stream.writelines(realizable_lines(size))
            found = use([*python, "check", str(file), "--memory", "20"], root)  # gigabytes
            name, samples = "check of random realizable data", f"{size} samples"
            yield row(f"{name}, processor", samples, "none", found.processor, None, "s", None)
            yield row(f"{name}, peak memory", samples, "none", found.memory, None, "MB", None)


def certificate_rows(row: Callable[..., Row], root: Path) -> Iterator[Row]:
    """Processor times to make and to check certificates of what repair leaves of texts.

    Args:
        row: makes a row, as that of `benchmarks.run`.
        root: the checkout.
    """
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            file, made = find(part), None
            if file is not None:
                made = _certificate(file, Path(folder), root)
            name = "certificate of the realizable part"
            yield from _rows(row, name, f"WikiText-2, {part}", made, CERTIFIED)


def _certificate(file: Path, folder: Path, root: Path) -> tuple[float, float]:
    """Processor seconds to make and to check the certificate of what repair leaves of a text."""
    python = [sys.executable, "-m", "ntpcore"]
    rest, n, target = (str(folder / name) for name in ("rest.jsonl", "n.txt", "certificate.json"))
    written = ["--write", rest, "--write-collocation", n, "--overwrite"]
    use([*python, "repair", str(file), "--format", "text", "--greedy", *written], root)
    command = [*python, "certify", rest, "--collocation", n, "-o", target, "--overwrite"]
    made = use(command, root).processor
    checker = str(root / "ntpcore" / "certificate.py")
    return made, use([sys.executable, checker, target], root).processor


def zipf_line(size: int) -> str:
    """A line of so many random words by Zipf's law."""
    weights = [1 / number for number in range(1, TYPES + 1)]
    words = random.Random(1).choices(range(TYPES), weights, k=size)
    return " ".join(f"w{word}" for word in words) + "\n"


def realizable_lines(size: int, tokens: int = 200, length: int = 8) -> Iterator[str]:
    """Random samples as JSON Lines, so many: n is a cycle, and one token of each is optimal."""
    rng, half = random.Random(1), tokens // 2
    for number in range(size):
        optimal, sentence = number, [number]
        if number >= tokens:
            optimal = rng.randrange(half)
            *others, query = rng.sample(range(half, tokens), length - 1)
            sentence = [optimal, *others]
            rng.shuffle(sentence)
            sentence.append(query)
        row = {"sentence": [f"t{x}" for x in sentence], "next": f"t{(optimal + 1) % tokens}"}
        yield json.dumps(row) + "\n"


def _rows(
    row: Callable[..., Row],
    name: str,
    size: str,
    found: tuple[float, ...] | None,
    goals: dict[str, tuple[float, str]],
) -> Iterator[Row]:
    """What a command took, beside its goals."""
    peer = NO_FILE if found is None else "limit"
    values = found or (None,) * len(goals)
    for value, (what, (limit, unit)) in zip(values, goals.items(), strict=True):
        yield row(f"{name}, {what}", size, peer, value, limit, unit, 1)


def enlarged(kind: str, size: int) -> str:
    """Both files again and again, up to so many letters; shuffled, nearly every line is new.

    Repeated lines are merged by what reads them, so that they say how fast a file is read; new
    ones are samples of their own.
    """
    texts = [file.read_text(encoding="utf-8") for part in PARTS if (file := find(part))]
    lines = [line.split() for text in texts for line in text.splitlines() if line.split()]
    rng = random.Random(1)
    found: list[str] = []
    written = 0
    while written < size:
        for line in lines:
            if kind != KINDS[0]:
                rng.shuffle(line)
            found.append(" ".join(line))
            written += len(found[-1]) + 1
    return "\n".join(found) + "\n"
