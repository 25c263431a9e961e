"""How many processes work at once, where nobody says it: as many as there are processors for us."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tools.pipeline.parameters import UsageError

# A kernel takes half a gigabyte, so that many processors would need much memory. On one, two take
# turns: a page waits for its kernel, and the build for the page.
FEWEST, MOST = 2, 8


def at_once() -> int:
    """Processors that this process may use, between `FEWEST` and `MOST`."""
    allowed = getattr(os, "sched_getaffinity", None)  # not on macOS
    return min(max(len(allowed(0)) if allowed else os.cpu_count() or 1, FEWEST), MOST)


def jobs_wanted(environment: Mapping[str, str]) -> int:
    """How many notebooks run at once.

    Raises:
        UsageError: the number given is none.
    """
    text = environment.get("JOBS") or environment.get("NTPCORE_JOBS") or str(at_once())
    if not text.isdecimal() or int(text) < 1:
        raise UsageError(f"JOBS={text} is not a number of notebooks to run at once, such as JOBS=2")
    return int(text)
