"""The scores of `make mutants` as a file, and what is wrong with the list of known survivors."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import tomllib
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools.mutation import Mutant

PACKAGES = ("coverage", "hypothesis", "numpy", "pytest")


@dataclass(frozen=True)
class Part:
    """The outcomes of one part of the package.

    Attributes:
        name: of the part.
        mutants: how many there are in all.
        outcomes: of the mutants tried, by id.
        known: all mutants, by id.
        seed: of the sample.
        source: digest of the modules.
        tests: digest of the test files.
    """

    name: str
    mutants: int
    outcomes: dict[str, str]
    known: dict[str, Mutant]
    seed: int
    source: str
    tests: str


def record(result: Path, listed: Path, part: Part, least: float) -> list[str]:
    """Put a part into the file of results, and say what is wrong.

    Args:
        result: the file, which other parts share.
        listed: the reasons of the survivors that are known, a table `survivors` by id.
        part: its outcomes.
        least: the share that must be killed.

    Returns:
        a line for each survivor without a reason, each reason without a survivor, and a score that
        is too low.
    """
    reasons = _reasons(listed)
    alive = [
        name for name, outcome in part.outcomes.items() if outcome in ("survived", "uncovered")
    ]
    count = Counter(part.outcomes.values())
    killed = count["killed"] + count["timeout"]
    score = killed / max(1, len(part.outcomes))
    found = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {"parts": {}}
    found = _circumstances() | {"parts": found["parts"]}
    found["parts"][part.name] = {
        "date": found["date"],
        "mutants": part.mutants,
        "sample": len(part.outcomes),
        "seed": part.seed,
        "killed": count["killed"],
        "timeouts": count["timeout"],
        "survived": len(alive),
        "score": round(score, 4),
        "source": part.source,
        "tests": part.tests,
        "survivors": [
            {
                "id": name,
                "before": part.known[name].before,
                "after": part.known[name].after,
                "covered": part.outcomes[name] == "survived",
                "reason": reasons.get(name, ""),
            }
            for name in alive
        ],
    }
    result.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    result.write_text(text, encoding="utf-8")
    print(f"{part.name}: {killed} of {len(part.outcomes)} killed, {score:.1%}", flush=True)
    return _faults(part, alive, reasons, score, least)


def _faults(
    part: Part, alive: list[str], reasons: dict[str, str], score: float, least: float
) -> list[str]:
    """What is wrong with a part."""
    faults = [
        f"survived: {name}: {part.known[name].before} -> {part.known[name].after}"
        for name in alive
        if name not in reasons
    ]
    modules = {mutant.module for mutant in part.known.values()}
    for name in reasons:
        if name.split(":")[0] in modules:
            if name not in part.known:
                faults.append(f"listed, but no mutant any more: {name}")
            elif part.outcomes.get(name) in ("killed", "timeout"):
                faults.append(f"listed, but killed: {name}")
    if score < least:
        faults.append(f"{part.name}: {score:.1%} killed, less than {least:.0%}")
    return faults


def _reasons(listed: Path) -> dict[str, str]:
    """Reasons of the known survivors, by id."""
    if not listed.exists():
        return {}
    table: dict[str, str] = tomllib.loads(listed.read_text(encoding="utf-8"))["survivors"]
    return table


def _circumstances() -> dict[str, Any]:
    """When, where and with what the mutants were run."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    packages = {}
    for name in PACKAGES:
        packages[name] = importlib.metadata.version(name)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {"cpu": (models or [platform.machine()])[0], "cores": os.cpu_count()},
        "versions": {"python": platform.python_version(), **packages},
        "command": "make mutants",
    }
