"""What a test leaves behind that goes on: threads within the code of this project."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import FrameType

from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
OWN = tuple(f"{ROOT / part}/" for part in (*OURS, "tools", "benchmarks"))


def threads_at_work() -> list[str]:
    """Threads, but for this one, in the middle of a function of this project, and which."""
    frames = sys._current_frames()
    others = [one for one in threading.enumerate() if one is not threading.current_thread()]
    found = [(one.name, _own(frames.get(one.ident or 0))) for one in others]
    return [f"{name}: {function}" for name, function in found if function]


def _own(frame: FrameType | None) -> str:
    """The innermost function of this project that a thread is in."""
    while frame and not frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return frame.f_code.co_qualname if frame else ""
