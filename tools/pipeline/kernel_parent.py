"""The process that kernels are forks of: it has loaded what most notebooks load, and nothing else.

It holds no module of this project but this one, and no thread. Run by `forked_kernels`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from typing import Any, NoReturn

LOADED = (
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "networkx",
    "numba",
    "numpy",
    "scipy.optimize",
    "sympy",
)
# Jupyter's kernel sets this where nothing is set, before a notebook loads Matplotlib.
BACKEND = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
WIDTH = 12  # characters of a number that is sent


def send(line: socket.socket, number: int) -> None:
    """Send a number, to whoever is still there."""
    with contextlib.suppress(OSError):
        line.sendall(f"{number:{WIDTH}d}".encode())


def received(line: socket.socket) -> bytes:
    """A number from the other end, as it was sent; nothing if that has ended."""
    return line.recv(WIDTH, socket.MSG_WAITALL)


def serve(control: socket.socket) -> None:
    """Fork whenever asked to, and tell how forks end, until nobody can ask any more."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends when this process has
    for name in LOADED:
        importlib.import_module(name)
    gc.freeze()  # what is loaded stays, and need not be looked at by any fork
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    while True:
        ready = select.select([control, reading], [], [])[0]
        if reading in ready:
            os.read(reading, 1000)
            tell_ends(lines)
        if control in ready:
            asked, files, _, _ = socket.recv_fds(control, 1, 1)
            if not asked:
                break
            line = socket.socket(fileno=files[0])
            if not (pid := os.fork()):
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for file in (reading, writing, *(other.fileno() for other in lines.values())):
                    os.close(file)
                become(line)
            lines[pid] = line
    for pid in lines:
        os.kill(pid, signal.SIGKILL)


def tell_ends(lines: dict[int, socket.socket]) -> None:
    """Tell the exit codes of the forks that have ended, and forget these."""
    for pid in list(lines):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with lines.pop(pid) as line:
                send(line, os.waitstatus_to_exitcode(status))


def become(line: socket.socket) -> NoReturn:
    """Be the kernel that is asked for on this line, and end like it."""
    with line.makefile("rb") as stream:
        question: dict[str, Any] = json.loads(stream.readline())
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # which was the line to who started this
    os.chdir(question["folder"])
    os.environ.clear()
    os.environ.update(question["environment"])
    os.environ["JPY_PARENT_PID"] = str(os.getppid())
    send(line, os.getpid())
    line.close()
    sys.argv = question["words"]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    sys.exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=0))
