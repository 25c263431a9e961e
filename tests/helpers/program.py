"""The program in tests: run in this process or in a shell, and what it is fed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from data_file import write

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


EXAMPLE_1, FIVE_TOKENS, CONTRADICTION = (
    str(EXAMPLES / name) for name in ("example1.txt", "five_tokens.jsonl", "contradiction.txt")
)


PROGRAM = shlex.join([sys.executable, "-m", "ntpcore"])


class Result(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Result]


def shell(command: str, given: bytes = b"", **environment: str) -> Result:
    """Run a command in bash, with `ntpcore` as a function, in a process of its own."""
    done = subprocess.run(
        ["bash", "-c", f'ntpcore() {{ {PROGRAM} "$@"; }}; set -o pipefail; {command}'],
        input=given,
        capture_output=True,
        env=os.environ | environment,
        cwd=EXAMPLES,
        timeout=3000,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def sentences(text: str) -> list[str]:
    """What the program itself says on its error stream; libraries may say more."""
    return [line for line in text.splitlines() if line.startswith("ntpcore: ")]


def has_control_characters(text: str) -> bool:
    """Whether anything but a line feed could move the cursor or turn the writing round."""
    return any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in text if c != "\n")


ODD = {
    "a": "\x1b[31mred",
    "b": "<script>",
    "c": "$x_1$",
    "d": "\u202eright to left",
    "q": "[red]👩\u200d💻[/red]\u0007\u009b",
}


def odd_five_tokens(folder: Path) -> str:
    rows = [json.loads(line) for line in Path(FIVE_TOKENS).read_text().splitlines()]
    odd = [
        {"sentence": [ODD[token] for token in row["sentence"]], "next": ODD[row["next"]]}
        for row in rows
    ]
    return write(folder, "\n".join(json.dumps(row) for row in odd), "odd.jsonl")
