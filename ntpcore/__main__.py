"""The program `ntpcore`, also as `python -m ntpcore`; Ctrl-C, TERM, and HUP end it in one line."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # nothing is loaded before Ctrl-C is cared for
    from types import FrameType
    from typing import NoReturn

_asked = 0  # the signal that asked for an end; shells call a program so stopped by it and 128


def main() -> None:
    """Run the command line; the rest of the program is loaded under the eyes of Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not run in the background
        signal.signal(signal.SIGINT, _stop)
        sys.unraisablehook = _unraisable
    for name in ("SIGTERM", "SIGHUP"):  # temporary folders are removed on the way out
        number = getattr(signal, name, None)  # the second is that of a terminal that closes
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    try:
        from ntpcli import cli

        cli.main()
    except BaseException:
        # Whoever was interrupted may have made another error of it, an import above all.
        if _asked:
            _leave()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of the process is quick


def _stop(number: int, frame: FrameType | None) -> None:
    """Interrupt what runs, so that it tidies up; leave at once when asked again."""
    global _asked
    if _asked:
        _leave()
    _asked = number
    raise KeyboardInterrupt


def _unraisable(problem: sys.UnraisableHookArgs) -> None:
    """An interruption that hit where Python can only print it ends the program, too."""
    if _asked:
        _leave()
    sys.__unraisablehook__(problem)


def _leave() -> NoReturn:
    """Say that the program was stopped, and end it without what else may fail."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.write(2, b"ntpcore: stopped\n")
    finally:
        os._exit(128 + _asked)


if __name__ == "__main__":
    main()
