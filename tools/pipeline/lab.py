"""`make lab`: JupyterLab on the notebooks, with text notebooks opening as notebooks.

Binder gets the same by `postBuild`, which calls this module with the word `prepare`. Both let every
kernel begin in the project's folder, where the files lie that notebooks name.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.pipeline.kernel import isolate

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "tools" / "pipeline" / "jupyter" / "labconfig"
# What a server needs to open a browser and a terminal.
SESSION = (
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    *("BROWSER", "SHELL", "TERM", "LANG", "WIKITEXT_DIR"),
)
STARTUP = Path("profile_default", "startup", "00-folder.py")


def begin_in(folder: Path, ipython: Path) -> None:
    """Let kernels that use a folder of IPython settings begin in a folder of ours."""
    file = ipython / STARTUP
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"import os\n\nos.chdir({str(folder)!r})\n", encoding="utf-8")


def prepare(prefix: Path, home: Path) -> None:
    """Set up a JupyterLab that others start, as Binder does.

    Args:
        prefix: of the Python that JupyterLab runs with.
        home: of the user whom it runs for.
    """
    shutil.copytree(SETTINGS, prefix / "etc" / "jupyter" / "labconfig", dirs_exist_ok=True)
    begin_in(ROOT, home / ".ipython")


def main(arguments: list[str]) -> None:
    """Become JupyterLab, with this project's settings and none of the user's."""
    if arguments == ["prepare"]:
        prepare(Path(sys.prefix), Path.home())
        return
    isolate(ROOT, Path(".build"), SESSION)
    begin_in(ROOT, Path(os.environ["IPYTHONDIR"]))
    os.environ["JUPYTER_CONFIG_PATH"] = str(SETTINGS.parent)
    folder = f"--ServerApp.root_dir={ROOT / 'notebooks'}"
    # In a container one is root, and without this Jupyter only says so and ends.
    root = ["--allow-root"] if os.geteuid() == 0 else []
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", folder, *root, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
