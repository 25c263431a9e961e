"""The environment of the peers, `.venv-bench`."""

from __future__ import annotations

from pathlib import Path

from tools.pipeline import side_environment

PYTHON = side_environment.python_of("bench")
LIST = Path(__file__).resolve().with_name("requirements.txt")


def set_up() -> None:
    """Install each peer by itself, so that one that cannot be had leaves the others."""
    text = LIST.read_text(encoding="utf-8")
    peers = [[line] for line in text.splitlines() if "==" in line]
    for [line] in side_environment.set_up("bench", text, peers, partly=True):
        print(f"bench: {line} could not be installed; its rows will say so", flush=True)
