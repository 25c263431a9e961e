"""Run some checks of the book, small, and print their verdicts: for copies with a planted error."""

from __future__ import annotations

import json
import sys

from ntpbook.catalogue import find_check

# Labels, with parameters that make the check quick.
CHECKS: dict[str, dict[str, int | float | str]] = {
    "huang2024-ex-1": {},
    "huang2024-asm-3": {},
    "huang2024-prop-2": {},
    "huang2024-prop-2-corrected": {"trials": 5, "max_tokens": 3},
    "ours-block-form": {"trials": 5},
    "huang2024-eq-1": {"trials": 5},
    "huang2024-eq-3": {"trials": 4},
    "huang2024-eq-6": {"trials": 1},
    "huang2024-eq-9": {"sets": 2},
    "huang2024-eq-10": {"sets": 4},
    "huang2024-eq-15": {"trials": 4},
    "huang2024-alg-1": {"steps": 5},
    "huang2024-lem-5": {"sets": 1, "steps": 60},
    "huang2024-lem-6": {"sets": 1, "steps": 60},
    "huang2024-lem-7-corrected": {"sets": 1, "steps": 60},
}


def verdict(label: str) -> str:
    """The verdict of a check, or the kind of an error in its place, for the test to judge."""
    try:
        return find_check(label)(**CHECKS[label]).verdict.value
    except Exception as error:  # whatever a planted error leads to
        return f"error {type(error).__name__}"


if __name__ == "__main__":
    print(json.dumps({label: verdict(label) for label in sys.argv[1:]}))
