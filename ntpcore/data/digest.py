"""A digest of files by their content, with which a result says what code it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def of_files(files: Iterable[Path], *words: str) -> str:
    """SHA-256 in hexadecimal of the contents one after the other, and of words behind them."""
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    for word in words:
        whole.update(word.encode())
    return whole.hexdigest()
