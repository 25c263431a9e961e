"""A disk that is full, as a process of its own sees it."""

from __future__ import annotations

import sys

# Not by `preexec_fn`, which forks this process: JAX, where a test before has loaded it, warns of
# every fork, and rightly.
LIMITED = """
import os, resource, sys
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.argv[2], sys.argv[2:])
"""


def with_little_room(size: int, words: list[str]) -> list[str]:
    """The command line `words` (program by its path) where no file may grow beyond `size` bytes."""
    return [sys.executable, "-S", "-c", LIMITED, str(size), *words]
