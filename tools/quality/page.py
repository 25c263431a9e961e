"""Execute chapters and hold what their checks say against the pinned verdicts.

`python -m tools.quality.page huang2024_s5_loss` is what `make quick` runs for a changed notebook,
of which no test but those of the built book knows anything.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

from ntpbook.catalogue import CATALOGUE
from tools.pipeline.execute import NotebookError, execute
from tools.pipeline.kernel import UNDRAWN, isolate
from tools.pipeline.notebooks import SOURCES
from tools.pipeline.outputs import read_checks
from tools.pipeline.pin import PINS, from_text

ROOT = Path(__file__).resolve().parents[2]
WORK = Path(".build/quick")


def wrong(page: str, pins: dict[str, list[str]]) -> list[str]:
    """What an executed page says otherwise than it must, one sentence each.

    Args:
        page: name of a notebook whose executed copy lies in the folder of this module.
        pins: the verdicts that every claim has had.
    """
    found = [check for check in read_checks(WORK) if check.page == page]
    times = Counter(check.label for check in found)
    claims = [claim.label for claim in CATALOGUE if claim.page == page]
    lines = [f"{page}: {times[label]} checks of {label}, not one" for label in claims
             if times[label] != 1]  # fmt: skip
    for check in found:
        pinned, verdict = pins.get(check.label, [""])[-1], check.data["verdict"]
        if verdict not in (pinned, "open"):  # open where a page was given no data
            lines.append(
                f"{page}: {check.label} is {verdict}, and {PINS} has {pinned or 'nothing'}"
            )
    return lines


def main(pages: list[str]) -> int:
    """Run the pages, one after another; 1 if one of them fails or says something else."""
    os.chdir(ROOT)
    pins = from_text(PINS.read_text(encoding="utf-8"))
    isolate(ROOT, WORK)
    os.environ |= UNDRAWN
    lines = []
    for page in pages:
        try:
            source, failed = SOURCES / f"{page}.md", WORK / f"{page}.failed.ipynb"
            execute(source, WORK / f"{page}.ipynb", failed, {})
            lines += wrong(page, pins)
        except NotebookError as problem:
            lines.append(str(problem))
    print("\n".join(lines) or f"{len(pages)} pages ran, with the pinned verdicts")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
