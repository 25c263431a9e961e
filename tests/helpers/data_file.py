"""A file of data for a test."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path, content: str | bytes, name: str = "data.txt") -> str:
    """Write a file, and return its path."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)
