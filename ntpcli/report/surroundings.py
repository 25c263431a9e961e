"""What an executed notebook inherits: one list for the pages of the book and for reports alike.

Whatever is not on it would let a reader's machine shape a page: MPLBACKEND takes the figures away,
MATPLOTLIBRC colours them, PYTHONSTARTUP runs code of its own.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

KEPT = (
    # where programs, libraries and temporary files are
    *("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "USERPROFILE", "APPDATA"),
    # whether Python writes down what it compiled, and where; and where numba does
    *("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"),
    "NUMBA_CACHE_DIR",
    # which instructions of the processor are used, as for another kind of processor
    *("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "OPENBLAS_CORETYPE"),
    *("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"),
)
# Sums in one order, however many processors there are.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def inherited(environment: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """The variables of an environment that are on the list.

    Args:
        environment: of the process that starts a kernel.
        more: further names that are let through.
    """
    return {name: value for name, value in environment.items() if name in (*KEPT, *more)}


def jupyter_folders(folder: Path, options: Sequence[str] = ()) -> dict[str, str]:
    """Variables under which a kernel is this very Python, and reads nothing of the user's home.

    Args:
        folder: where the kernel is described, and where it may write; made if it is missing.
        options: of the kernel.

    Raises:
        OSError: the folder cannot be written.
    """
    for name in ("ipython", "config", "data", "run", "matplotlib"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    spec = folder / "share" / "kernels" / "python3"
    spec.mkdir(parents=True, exist_ok=True)
    # Level 50: kernels would warn at start (TCP, to this machine only) and complain when stopped.
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    command += ["--log-level=50", "--HistoryManager.enabled=False", *options]
    description = {"argv": command, "display_name": "Python 3", "language": "python"}
    (spec / "kernel.json").write_text(json.dumps(description), encoding="utf-8")
    return {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PATH": str(folder / "share"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_RUNTIME_DIR": str(folder / "run"),
        "MPLCONFIGDIR": str(folder / "matplotlib"),
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
    }


def replace(environment: Mapping[str, str]) -> None:
    """Make this the environment of the process, which kernels inherit."""
    os.environ.clear()
    os.environ.update(environment)
