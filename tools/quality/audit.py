"""`make audit`: ask an advisory service about the pinned packages, and say what came of it.

pip-audit asks, from an environment of its own, `.venv-audit`. It calls a package that the service
does not know "skipped" and ends well; here nothing that was not answered passes for sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.pipeline import side_environment

ROOT = Path(__file__).resolve().parents[2]
PYTHON = side_environment.python_of("audit")
PIN = "pip-audit==2.10.1"
ASK = ("-m", "pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner", "off")


def judge(found: Mapping[str, Any] | None, said: str) -> tuple[int, list[str]]:
    """Exit code and lines for what pip-audit answered.

    Args:
        found: its answer; None where there is none.
        said: what else it said.

    Returns:
        0 if every package was answered for and none has an advisory, 1 if one has, 2 if the service
        did not answer for all of them.
    """
    if found is None:
        last = (said.strip().splitlines() or ["no word"])[-1]
        return 2, [f"audit: could not run, so nothing is known: {last[:300]}"]
    rows = found["dependencies"]
    lines = [
        f"audit: {row['name']} {row['version']}: {one['id']}; fixed in "
        f"{', '.join(one['fix_versions']) or 'no version yet'}"
        for row in rows
        for one in row.get("vulns", ())
    ]
    advisories, unknown = len(lines), sum("skip_reason" in row for row in rows)
    answered = len(rows) - unknown
    lines.append(f"audit: {answered} of {len(rows)} packages answered for, {advisories} advisories")
    if unknown or not rows:
        lines.append(f"audit: of {unknown} packages nothing is known; this needs a network")
    return (1 if advisories else 2 if unknown or not rows else 0), lines


def main() -> int:
    """Make the environment if it is missing, ask, and say what came of it."""
    if side_environment.set_up("audit", PIN, [[PIN]]):
        print("audit: could not run: pip-audit cannot be installed; see the lines above")
        return 2
    done = subprocess.run(
        [str(PYTHON), *ASK, "--format", "json", "-r", str(ROOT / "requirements.txt")],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = None
    code, lines = judge(found, done.stderr)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
