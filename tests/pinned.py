"""The evidence of checks is pinned: what a test's checks said when they were last looked at.

While a test of `test_checks_*.py` runs, every `Check` that is made is written down: its verdict,
the number of instances, evidence, witness, slack, numbers, parameters and readings; and for every
function of the checks a summary of what it gave back (`watched.py`): instances, slacks, errors.
`tests/pins` holds what was found when the pins were last renewed, a file for each test file; a test
whose checks say or compute something else fails. So what a check does cannot change unnoticed where
nobody asserts it.

A pin is made by the code that it guards: it shows that something changed, not that it was right.
What is right is asserted by the tests themselves, by hand or by an independent computation.

`make pin-evidence` renews the pins; `git diff tests/pins` then shows what changed. A summary that
is only rounding, and so differs from machine to machine, is marked as such where it differs:
`pytest --loosen-pins` with another processor (or OPENBLAS_CORETYPE) does that. On a kind of
processor on which no pins were written these summaries are not compared, what checks say is: a long
run at a large step size amplifies rounding. Tests on random examples (hypothesis) are not pinned.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import watched

from ntpcore.claims import Check

FOLDER = Path(__file__).parent / "pins"
FIELDS = (
    *("label", "verdict", "tried", "unit", "evidence", "witness", "slack"),
    *("numbers", "parameters", "readings", "vacuous"),
)
NOISE = 1e-9  # what is smaller is rounding, which differs from machine to machine
FIXTURE = "fixture "  # before the name of a fixture among the tests
PROCESSORS = "processors.txt"  # among the pins: kinds on which they were written, a line each
HOW = "if that is meant, run `make pin-evidence` and look at `git diff tests/pins`"


@contextmanager
def recorded() -> Iterator[list[dict[str, Any]]]:
    """What the checks made meanwhile say, each once, in the order made."""
    found: list[dict[str, Any]] = []
    original = Check.__post_init__

    def note(check: Check) -> None:
        original(check)
        said = check.to_json()
        one = {name: said[name] for name in FIELDS if said[name]}
        if "slack" in one and _is_noise(one["slack"]):
            one["slack"] = watched.ROUNDING  # and so is the place where it is worst
        if one not in found:
            found.append(one)

    Check.__post_init__ = note
    try:
        yield found
    finally:
        Check.__post_init__ = original


@cache
def pins_of(stem: str) -> dict[str, dict[str, Any]]:
    """The pins of a test file, by test."""
    file = FOLDER / f"{stem}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def processor() -> str:
    """The kind of processor, by the vector instructions that numpy finds."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[index]
    return " ".join([platform.machine(), *found["baseline"], *found.get("found", [])])


def comparable(summed: dict[str, Any]) -> dict[str, Any]:
    """The part of a pin that is compared here: all of it on a known kind of processor."""
    file = FOLDER / PROCESSORS
    known = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return summed if processor() in known else {"checks": summed.get("checks", [])}


def differences(pinned: object, found: object, place: str = "") -> list[str]:
    """Where something is not as it was pinned, numbers being equal to the last place printed."""
    if place.endswith(".values") and isinstance(pinned, dict) and isinstance(found, dict):
        return [
            f"{place}.{key}: {found.get(key)}, pinned {pinned.get(key)}"
            for key in {**pinned, **found}
            if not watched.alike(pinned.get(key, "no"), found.get(key, "no"))
        ]
    if isinstance(pinned, dict) and isinstance(found, dict):
        return [
            line
            for key in {**pinned, **found}
            for line in differences(pinned.get(key), found.get(key), f"{place}.{key}")
        ]
    if isinstance(pinned, list) and isinstance(found, list) and len(pinned) == len(found):
        pairs = enumerate(zip(pinned, found, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{place}[{i}]")]
    if pinned == found or alike(str(pinned), str(found)):
        return []
    return [f"{place}: {found!r}, pinned {pinned!r}"]


def alike(pinned: str, found: str) -> bool:
    """Whether two texts differ by rounding only: in the last place of a number, or in one that is
    nothing but rounding. Whole numbers have to be equal."""
    if watched.NUMBER.sub("#", pinned) != watched.NUMBER.sub("#", found):
        return False
    pairs = zip(watched.NUMBER.findall(pinned), watched.NUMBER.findall(found), strict=True)
    return all(a == b or _near(a.replace("−", "-"), b.replace("−", "-")) for a, b in pairs)


def _is_noise(slack: str) -> bool:
    """Whether a slack, followed by its place, is nothing but rounding."""
    number = watched.NUMBER.match(slack)
    return number is not None and 0 < abs(float(number[0].replace("−", "-"))) < NOISE


def _near(pinned: str, found: str) -> bool:
    """Whether two printed numbers may be one."""
    apart, size = abs(float(pinned) - float(found)), max(abs(float(pinned)), abs(float(found)))
    place = max(_last_place(pinned), _last_place(found))
    return size < NOISE or apart <= 1.001 * place


def _last_place(number: str) -> float:
    """What one more in the last digit adds; 0 for a whole number."""
    digits, _, exponent = number.lower().partition("e")
    decimals = len(digits.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if decimals or exponent else 0.0


def summary(checks: list[dict[str, Any]], sums: dict[str, watched.Sum]) -> dict[str, Any]:
    """What a test or a fixture is pinned by."""
    values = {name: str(one) for name, one in sorted(sums.items())}
    return {key: part for key, part in (("checks", checks), ("values", values)) if part}


def renewed(old: dict[str, Any], found: dict[str, Any], *, all_anew: bool) -> dict[str, Any]:
    """What to pin from now on: what is marked as rounding stays so.

    Args:
        old: the earlier pin.
        found: by this run.
        all_anew: renew it; else keep the earlier one, and mark the sums that differ as rounding.
    """
    before, now = old.get("values", {}), found.get("values", {})
    if all_anew:
        kept = {
            key: before[key] if before.get(key) == watched.ROUNDING else value
            for key, value in now.items()
        }
        return {**found, "values": kept} if kept else found
    kept = {
        key: value if watched.same(value, now.get(key, "no")) else watched.ROUNDING
        for key, value in before.items()
    }
    return {**old, "values": kept} if kept else old


def to_text(pins: dict[str, dict[str, Any]]) -> str:
    """A file of pins."""
    return json.dumps(dict(sorted(pins.items())), indent=1, ensure_ascii=False) + "\n"
