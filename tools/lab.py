"""`make lab`: JupyterLab on the notebooks, with text notebooks opening as notebooks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.kernel import isolate

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> None:
    """Become JupyterLab, with this project's settings and none of the user's."""
    isolate(ROOT, Path(".build"))
    os.environ["JUPYTER_CONFIG_PATH"] = str(ROOT / "tools" / "jupyter")
    folder = f"--ServerApp.root_dir={ROOT / 'notebooks'}"
    # In a container one is root, and without this Jupyter only says so and ends.
    root = ["--allow-root"] if os.geteuid() == 0 else []
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", folder, *root, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
