"""The surroundings that notebooks and Sphinx run in: the same on every machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from ntpcli.report import surroundings

# Python looks for circles among objects whenever so many are new: often enough for memory, and
# seldom enough to be no part of what a page takes. (With 700, as Python has it, a twentieth.)
NEW_OBJECTS = 200_000
# Under this variable pictures are made and not drawn, where nobody looks at them.
UNDRAWN = {"MPLBACKEND": "agg"}


def isolate(root: Path, build: Path, more: Sequence[str] = ()) -> None:
    """Set this process's environment, which kernels inherit, and write the kernel's description.

    The kernel is the very Python that runs this, whatever kernels the user has installed, and no
    configuration or history of the user's home is read or written.

    Args:
        root: folder of the project, which kernels import ntpcore from.
        build: folder for what they write.
        more: names of variables that are kept beside those that every notebook inherits.
    """
    folder = (root / build / "runtime").resolve()
    collecting = f"--IPKernelApp.exec_lines=__import__('gc').set_threshold({NEW_OBJECTS})"
    folders = surroundings.jupyter_folders(folder, [collecting])
    shutil.copy(Path(__file__).with_name("matplotlibrc"), folder / "matplotlib" / "matplotlibrc")
    ours = surroundings.ONE_THREAD | {
        "PYTHONPATH": str(root.resolve()),
        "JAX_PLATFORMS": "cpu",
        # Small models, whose code takes longer to optimize fully than to run.
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    surroundings.replace(surroundings.inherited(os.environ, more) | folders | ours)
