"""Inputs for the playground, and what the command line says of them."""

from __future__ import annotations

import contextlib
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import numpy as np

from ntpcli import cli
from ntpcore.data import generate
from tools.site.playground import presets

BUSY = "document.querySelector('.pg-root [id^=pg-stop]:enabled')"  # while the page computes
FILES = {"text": "sentences.txt", "chars": "sentences.txt", "jsonl": "samples.jsonl"}


@dataclass(frozen=True)
class Case:
    """A text as a reader types it, and what a line of it holds."""

    form: str
    text: str

    @property
    def arguments(self) -> list[str]:
        """How the command line is told."""
        return [FILES[self.form], *(["--chars"] if self.form == "chars" else [])]


@dataclass(frozen=True)
class Said:
    """What a command gave back."""

    code: int
    out: str
    err: str


def command(folder: Path, action: str, case: Case, *options: str) -> Said:
    """Run `ntpcore ACTION` on a case in a folder, in this process."""
    (folder / FILES[case.form]).write_bytes(case.text.encode("utf-8"))
    arguments = ["ntpcore", action, *case.arguments, *options]
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    err = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("sys.argv", arguments),
    ):
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    out.seek(0)
    return Said(code, out.read(), err.getvalue())


PRESETS = [Case(one["form"], one["text"]) for one in presets()]

MALFORMED = [
    Case("text", ""),
    Case("text", "\n \n"),
    Case("text", "a\nb\n"),
    Case("text", "a b\nc\0d e\n"),
    Case("jsonl", "a b c\n"),
    Case("jsonl", '{"sentence": ["a"]}\n'),
    Case("jsonl", '{"sentence": ["a"], "next": "b"}\n{"sentence": [], "next": "b"}\n'),
    Case("jsonl", '{"sentence": ["a"], "next": "b", "count": 0}\n'),
    Case("jsonl", '{"sentence": "a", "next": "b"}\n'),
    Case("jsonl", '{"sentence": ["<b>"], "next": "b", "<script>": 1}\n'),
    Case("jsonl", '{"sentence": ["\\ud800"], "next": "b"}\n'),
]

IMAGE = "<img/src=x/onerror=window.pwned=1>"
SCRIPT = "</script><script>window.pwned=1</script>"
NASTY = [
    Case("text", f"{IMAGE} {SCRIPT}\n{SCRIPT} {IMAGE}\n{IMAGE} {SCRIPT} {SCRIPT}\n"),
    Case("text", f"{'x' * 3000} b\nb {'x' * 3000}\n{'x' * 3000} b b {'y' * 3000}\n"),
    Case("text", "a\x01\x1b[31m b\x7f\nb\x7f a\x01\x1b[31m\na\x01\x1b[31m b\x7f b\x7f\n"),
    Case("text", "שלום עולם\nעולם שלום\nשלום \u202eعالم שלום\nשלום עולם עולם\n"),
    Case("chars", "🐈🐕🐈\n🐕🐈🐈\n👩🏽\u200d🚀🐕\n"),
    Case(
        "text", "__proto__ constructor\nconstructor __proto__\n__proto__ constructor constructor\n"
    ),
    Case("jsonl", '{"sentence": ["a b", "\\u0000", "&lt;"], "next": "\\t"}\n'),
]


def random_cases(number: int, seed: int = 20) -> list[Case]:
    """Realizable and broken data, prefix-closed and not, as the page takes them."""
    rng, dice = np.random.default_rng(seed), random.Random(seed)
    cases = []
    for at in range(number):
        size, lines = int(rng.integers(3, 9)), int(rng.integers(2, 14))
        if at % 3 == 0:  # any sentences at all
            words = [[f"w{dice.randrange(size)}" for _ in range(dice.randint(1, 6))]
                     for _ in range(lines)]  # fmt: skip
            cases.append(Case("text", "".join(" ".join(line) + "\n" for line in words)))
            continue
        closed = at % 3 == 1
        data = generate.random_dataset(
            rng, size, lines, 6, prefix_closed=closed, frequent=at % 2 == 0
        )
        rows = [
            {"sentence": list(one.sentence), "next": one.next_token, "count": one.count}
            for one in data.samples()
        ]
        cases.append(Case("jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    return cases
