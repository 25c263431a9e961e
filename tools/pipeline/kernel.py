"""The surroundings that notebooks and Sphinx run in: the same on every machine."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

# Removed, because each would let the caller's machine shape the book. (SOURCE_DATE_EPOCH makes
# Sphinx rewrite the copyright year.)
REMOVED = ("SOURCE_DATE_EPOCH", "PYTHONPATH", "PYTHONSTARTUP", "MPLBACKEND", "COLUMNS", "LINES")

# Python looks for circles among objects whenever so many are new: often enough for memory, and
# seldom enough to be no part of what a page takes. (With 700, as Python has it, a twentieth.)
NEW_OBJECTS = 200_000


def isolate(root: Path, build: Path) -> None:
    """Set this process's environment, which kernels inherit, and write the kernel's description.

    The kernel is the very Python that runs this, whatever kernels the user has installed, and no
    configuration or history of the user's home is read or written.

    Args:
        root: folder of the project, which kernels import ntpcore from.
        build: folder for what they write.
    """
    folder = (root / build / "runtime").resolve()
    spec = folder / "share" / "kernels" / "python3"
    for sub in ("ipython", "config", "data", "run", "matplotlib"):
        (folder / sub).mkdir(parents=True, exist_ok=True)
    spec.mkdir(parents=True, exist_ok=True)
    # Level 50: kernels would warn at start (TCP, to this machine only) and complain when stopped.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    command += ["--log-level=50", "--HistoryManager.enabled=False"]
    command += [f"--IPKernelApp.exec_lines=__import__('gc').set_threshold({NEW_OBJECTS})"]
    description = {"argv": command, "display_name": "Python 3", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(description), encoding="utf-8")
    shutil.copy(Path(__file__).with_name("matplotlibrc"), folder / "matplotlib" / "matplotlibrc")
    for name in REMOVED:
        os.environ.pop(name, None)
    os.environ |= {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PATH": str(folder / "share"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_RUNTIME_DIR": str(folder / "run"),
        "MPLCONFIGDIR": str(folder / "matplotlib"),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(root.resolve()),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
