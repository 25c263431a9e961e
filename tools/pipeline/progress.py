"""Progress: a bar on a terminal, plain lines when piped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Display:
    """Says what happens, line by line, with a bar below the lines when somebody watches."""

    def __init__(self) -> None:
        # soft_wrap: a piped line stays one line however long it is.
        self.console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
        self.progress: Progress | None = None
        self.running: list[str] = []

    def say(self, text: str = "", style: str = "") -> None:
        """Print a line as it is."""
        self.console.print(text, style=style or None, markup=False)

    @contextmanager
    def stage(self, title: str, steps: int) -> Iterator[None]:
        """Show a bar, on a terminal, while the body runs."""
        if not self.console.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn())
        with Progress(
            *columns, TimeElapsedColumn(), console=self.console, transient=True
        ) as progress:
            self.progress = progress
            self.running = []
            progress.add_task(title, total=steps)
            try:
                yield
            finally:
                self.progress = None

    def begin(self, name: str) -> None:
        """One step of the stage begins."""
        self.running.append(name)
        self._describe()

    def end(self, name: str, text: str) -> None:
        """One step of the stage is over, with this to say about it."""
        self.say(f"  {name}: {text}")
        if name in self.running:
            self.running.remove(name)
        if self.progress is not None:
            self.progress.advance(self.progress.task_ids[0])
        self._describe()

    def _describe(self) -> None:
        """Name the running steps beside the bar."""
        if self.progress is not None and self.running:
            text = ", ".join(self.running)
            self.progress.update(self.progress.task_ids[0], description=text)
