"""`make enclosed-long`: Example 1 enclosed in balls for 100 000 steps, written down with its code.

It takes some five minutes and is not part of a build. The page on the late phase shows the numbers;
tests compare the first of them with the run that every build encloses, and all with a float run.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flint import arb, ctx

from ntpbook.ours.late_phase import float_error
from ntpbook.shared import enclosure
from ntpbook.shared.enclosed_setting import example_1_setting
from ntpcore.data import digest

ROOT = Path(__file__).resolve().parents[2]
STEPS = (900, 3000, 10_000, 30_000, 100_000)
BITS = 9500  # the balls lose a twentieth of a bit in a step, and some hundred shall be left
DIGITS = 20
CODE = ("ntpbook/shared/enclosure.py", "ntpbook/shared/enclosed_setting.py")


def code_hash() -> str:
    """A hash of the code that makes the run."""
    return digest.of_files(ROOT / name for name in CODE)


def ends(state: enclosure.EnclosedState) -> dict[str, Any]:
    """1 - cos at an enclosed state to DIGITS digits, all of them certain but for the last one.

    Raises:
        ArithmeticError: the ball is too wide for so many digits.
    """
    with ctx.workprec(state.bits):
        value = arb(enclosure.one_minus_cos(state))
        if not value.rad() < abs(value) * arb(10) ** -(DIGITS + 5):
            raise ArithmeticError(f"step {state.step}: 1 - cos is known to fewer digits")
        return {"step": state.step, "one_minus_cos": value.str(DIGITS, radius=False)}


def main() -> int:
    """Make the run and write it down."""
    began, spent = time.strftime("%Y-%m-%d"), time.process_time()
    states = enclosure.enclose(example_1_setting(), STEPS[-1], STEPS, BITS)
    found = {
        "command": "make enclosed-long",
        "date": began,
        "machine": platform.platform(terse=True),
        "versions": {"Python": platform.python_version(), "flint": version("python-flint")},
        "seconds": round(time.process_time() - spent),
        "code": code_hash(),
        "bits": BITS,
        "rows": [ends(state) for state in states],
    }
    (ROOT / float_error.LONG).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"enclosed-long: {STEPS[-1]} steps in {found['seconds']} s of processor time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
