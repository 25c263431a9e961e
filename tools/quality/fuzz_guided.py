"""One target of `make fuzz` under atheris: python -m tools.quality.fuzz_guided TARGET COUNT."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import atheris

# Not what numba compiles, which instructions for coverage would only slow down.
READERS = [f"ntpcore.{name}" for name in ("cli", "dataset", "order", "report", "storage")]

with atheris.instrument_imports(include=READERS, enable_loader_override=False):
    from tools.quality import fuzz_targets


def main(target: str, count: str) -> None:
    """Run so many inputs; libFuzzer ends the process, with an exit code if one broke something."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ntpcore-fuzz-", dir=shared) as folder:
        seeds = Path(folder) / "corpus"
        seeds.mkdir()
        for number, content in enumerate(fuzz_targets.corpus(target)):
            (seeds / str(number)).write_bytes(content)
        path = str(Path(folder) / "data")
        run = fuzz_targets.TARGETS[target]
        options = [
            f"-runs={count}",
            "-max_len=4000",
            "-seed=1",
            "-timeout=60",
            "-print_final_stats=1",
        ]
        options += [f"-artifact_prefix={tempfile.gettempdir()}/ntpcore-fuzz-"]
        atheris.Setup([sys.argv[0], *options, str(seeds)], lambda content: run(path, content))
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
