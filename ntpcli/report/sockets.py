"""How one speaks to a kernel: through files in a folder, where no other program can come between.

Jupyter picks free ports and lets the kernel take them later. Whoever takes one of them in between,
on a busy machine now and then, ends the kernel before it says a word.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Bytes that the address of such a file may have, on the systems that allow the fewest.
ADDRESS_LIMIT = 103
LAST = "kernel-99"


def fit(folder: Path) -> bool:
    """Whether this system has such files, and would take them in this folder."""
    return hasattr(socket, "AF_UNIX") and len(os.fsencode(folder / LAST)) <= ADDRESS_LIMIT


@contextlib.contextmanager
def sockets(folder: Path | None = None) -> Iterator[dict[str, Any]]:
    """What papermill needs to know to speak to one kernel so, for as long as the body runs.

    Args:
        folder: where the folder of these files is made; None for where temporary files are.

    Yields:
        arguments of `papermill.execute_notebook`; none where files do not fit, and there the
        kernel listens at ports.
    """
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
        if not fit(Path(own)):
            yield {}
            return
        from traitlets.config import Config

        address = str(Path(own) / "kernel")
        yield {"config": Config(KernelManager={"transport": "ipc", "ip": address})}
