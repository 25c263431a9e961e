"""Kernels that are forks of one process, which has loaded what most notebooks load.

Without it every notebook loads NumPy, SymPy, Matplotlib and Numba anew, for more than a second of a
processor. It ends, with all its forks, when whoever started it ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from tools.pipeline.kernel_parent import BACKEND, received


class Fork:
    """A kernel, told of as `subprocess.Popen` tells of a process."""

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket) -> None:
        """A fork that says its number on this line, and whose end will be told on it.

        Raises:
            ConnectionError: nobody says anything.
        """
        self._line = line
        if not (number := received(line)):
            raise ConnectionError("there was no fork")
        self.pid = int(number)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        """The exit code, once it has ended."""
        if self.returncode is None:
            told = received(self._line)
            # Nothing is told when the process has died that it is a fork of, and it with that.
            self.returncode = int(told) if told else -signal.SIGKILL
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Source:
    """The process that kernels are forks of."""

    def __init__(self) -> None:
        """Start it; what it has to load it loads while others work."""
        self._control, theirs = socket.socketpair()
        self._turn = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.pipeline.kernel_parent"],
            stdin=theirs,
            env=BACKEND | dict(os.environ),
            start_new_session=True,  # Ctrl-C is for who started it, whose end it sees
        )
        theirs.close()

    def fork(self, words: list[str], folder: str, environment: dict[str, str]) -> Fork:
        """A fork that does what a Python called with -m and these words would do.

        Raises:
            OSError: the process is gone.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._turn:
                socket.send_fds(self._control, [b"1"], [theirs.fileno()])
            question = {"words": words, "folder": folder, "environment": environment}
            ours.sendall(json.dumps(question).encode() + b"\n")
            return Fork(ours)
        except OSError:
            ours.close()
            raise

    def close(self) -> None:
        """End it, and what is left of its forks."""
        self._control.close()
        self.process.wait()


_source: Source | None = None


class Provisioner(LocalProvisioner):
    """Starts kernels as forks, for as long as there is a process to fork."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start one; `cmd` is a Python with -m."""
        assert _source is not None, "nothing is forked outside of forking()"
        environment = dict(kwargs.get("env") or os.environ)
        try:
            fork = _source.fork(cmd[2:], kwargs.get("cwd") or os.getcwd(), environment)
        except OSError:  # it died, of too little memory perhaps; each for itself, then
            return await super().launch_kernel(cmd, **kwargs)
        self.process, self.pid, self.pgid = fork, fork.pid, fork.pid
        return self.connection_info


@contextlib.contextmanager
def forking() -> Iterator[None]:
    """While the body runs, whatever starts a kernel gets a fork, where the system has forks."""
    global _source
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        yield
        return
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["forks"] = EntryPoint("forks", f"{__name__}:Provisioner", "")
    before, factory.default_provisioner_name = factory.default_provisioner_name, "forks"
    _source = Source()
    try:
        yield
    finally:
        factory.default_provisioner_name = before
        _source.close()
        _source = None
