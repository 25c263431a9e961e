"""`make fuzz`: a million odd inputs for readers, command line and saved runs; none may break them.

Three generators share the work: mutations from a seed, hypothesis, and atheris, which follows what
code an input reaches. atheris lives in an environment of its own, and where it cannot be installed
the run says so loudly and goes on. Then inputs of doubling size are timed: reading must be linear.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from ntpcore.data import digest
from tools.quality import fuzz_environment
from tools.quality.fuzz_targets import TARGETS, corpus
from tools.quality.mutate import WORDS, mutants

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks/fuzz.json"
# Inputs of each target by each generator; a command takes a hundred times as long as a text.
MUTATED = {"text": 250_000, "jsonl": 500_000, "collocation": 250_000, "checkpoint": 15_000}
MUTATED |= {"command_line": 4_000}
IMAGINED = {"text": 2_000, "jsonl": 2_000, "collocation": 2_000, "checkpoint": 500}
IMAGINED |= {"command_line": 300}
GUIDED = {"text": 40_000, "jsonl": 40_000, "collocation": 20_000, "checkpoint": 5_000}
GUIDED |= {"command_line": 1_000}
SECONDS = 2.0  # that one input may take on an idle machine
CODE = ("cli", "dataset", "files", "order", "report", "storage", "training_report", "claims_report")

Feed = Callable[[bytes], None]


def feeder(target: str, folder: str) -> Feed:
    """A function that runs one target on one input, and says which input broke it."""
    path = os.path.join(folder, f"{target}.data")

    def feed(content: bytes) -> None:
        began = time.process_time()
        try:
            TARGETS[target](path, content)
        except BaseException:
            broken = Path(tempfile.gettempdir()) / f"ntpcore-fuzz-{target}.input"
            broken.write_bytes(content)
            print(f"fuzz: {target} broke; the input is kept in {broken}", file=sys.stderr)
            raise
        assert time.process_time() - began < SECONDS, f"{target}: {len(content)} bytes took long"

    return feed


def imagined(target: str, feed: Feed, count: int) -> None:
    """Inputs that hypothesis makes up; it makes a broken one small."""
    words = st.sampled_from([*WORDS, *corpus(target)])
    inputs = st.lists(st.one_of(words, st.binary(max_size=40), st.text(max_size=20).map(encode)))
    options = settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    options(given(inputs.map(b"".join))(feed))()


def encode(text: str) -> bytes:
    """A text as UTF-8, halves of surrogate pairs included."""
    return text.encode("utf-8", "surrogatepass")


def guided(counts: dict[str, int]) -> dict[str, int]:
    """Inputs that atheris finds by what code they reach; how many were run of each target."""
    if not fuzz_environment.set_up():
        print("fuzz: !!! ATHERIS DID NOT RUN: it cannot be installed here !!!", flush=True)
        return {}
    executed = {}
    for target, count in counts.items():
        print(f"fuzz: {target}: {count} by atheris", flush=True)
        command = [
            str(fuzz_environment.PYTHON),
            "-m",
            "tools.quality.fuzz_guided",
            target,
            str(count),
        ]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *libraries()])}
        environment["NUMBA_DISABLE_JIT"] = "1"  # compiled loops cannot be followed
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        ran = re.search(r"stat::number_of_executed_units:\s*(\d+)", said)
        if done.returncode or ran is None:
            raise SystemExit(f"{said[-4000:]}\nfuzz: atheris broke {target}; see the lines above")
        executed[target] = int(ran[1])
    return executed


def libraries() -> list[str]:
    """Where the packages of this environment lie, which the other one borrows."""
    return [path for path in sys.path if path.endswith("site-packages")]


# Inputs that grow: a reader that takes more than linear time on one of them shows it here.
GROWING: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "one token": ("text", lambda n: b"a " * n),
    "tokens all different": ("text", lambda n: b" ".join(b"%d" % i for i in range(n))),
    "one long token": ("text", lambda n: b"a" * n),
    "blank lines": ("text", lambda n: b"\n" * n + b"a b"),
    "lines all different": ("text", lambda n: b"".join(b"a %d\n" % i for i in range(n))),
    "carriage returns": ("text", lambda n: b"\r" * n + b"a b"),
    "growing beginnings": ("text", lambda n: _beginnings(int(n**0.5))),
    "nested lists": ("jsonl", lambda n: b"[" * n),
    "a long number": ("jsonl", lambda n: b'{"count": ' + b"9" * n + b"}"),
    "many keys": ("jsonl", lambda n: b"{" + b",".join(b'"%d":1' % i for i in range(n)) + b"}"),
    "escapes": ("jsonl", lambda n: b'{"sentence": ["' + b"\\u0061" * n + b'"], "next": "b"}'),
    "a sentence": ("jsonl", lambda n: b'{"sentence": [' + b'"a",' * n + b'"b"], "next": "b"}'),
    "collocations": ("collocation", lambda n: b"".join(b"%d a\n" % i for i in range(n))),
}


def _beginnings(n: int) -> bytes:
    """Lines each of which goes on with the one before."""
    return b"\n".join(b"a " * i for i in range(n))


def growth(name: str, folder: str, size: int) -> float:
    """How many times longer an input of twice the size takes: the least of five tries."""
    target, make = GROWING[name]
    path, found = os.path.join(folder, f"{target}.growing"), []
    for _ in range(5):
        seconds = []
        for factor in (1, 2):
            content = make(size * factor) + b" "  # its length decides what is done beside
            content += b" " * (1 - len(content) % 8)
            began = time.process_time()
            TARGETS[target](path, content)
            seconds.append(time.process_time() - began)
        found.append(seconds[1] / seconds[0])
    return min(found)


def code_hash() -> str:
    """A hash of the modules that read what a reader gives."""
    return digest.of_files(ROOT / f"ntpcore/{name}.py" for name in CODE)


def in_memory() -> str | None:
    """A folder that lies in memory, where there is one: a million small files tire a disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    """Run everything, and write down what ran."""
    began = time.monotonic()
    reached = guided(GUIDED)
    with tempfile.TemporaryDirectory(prefix="ntpcore-fuzz-", dir=in_memory()) as folder:
        for target, count in MUTATED.items():
            print(f"fuzz: {target}: {count} mutations", flush=True)
            feed = feeder(target, folder)
            for number, content in enumerate(mutants(corpus(target), seed=2026, count=count), 1):
                feed(content)
                if number % 50_000 == 0:
                    print(f"fuzz: {target}: {number} done", flush=True)
            print(f"fuzz: {target}: {IMAGINED[target]} by hypothesis", flush=True)
            imagined(target, feed, IMAGINED[target])
        slow = {name: growth(name, folder, 100_000) for name in GROWING}
    counts = {"mutations": MUTATED, "hypothesis": IMAGINED, "atheris": reached}
    total = sum(sum(one.values()) for one in counts.values())
    found = {
        "command": "make fuzz",
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("hypothesis", "numpy", "typer")}
        | ({"atheris": fuzz_environment.VERSION} if reached else {}),
        "seconds": round(time.monotonic() - began),
        "inputs": total,
        "broken": 0,  # the first one ends the run
        "by": counts,
        "growth_on_doubling": {name: round(value, 2) for name, value in slow.items()},
        "code": code_hash(),
    }
    RESULT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"fuzz: {total} inputs, none broke anything; written to {RESULT.relative_to(ROOT)}")
    bad = [f"{name}: {value:.1f} times" for name, value in slow.items() if value > 3]
    print("fuzz: " + (f"MORE THAN LINEAR: {bad}" if bad else "reading takes linear time"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
