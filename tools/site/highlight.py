"""Files of Python as highlighted HTML, by a process of its own (`tools.site.background`)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from sphinx.highlighting import PygmentsBridge


def write(folder: str, *files: str) -> None:
    """Highlight some files, given from the root of the project, into a folder."""
    for name in files:
        code = Path(name).read_text(encoding="utf-8")
        target = highlighted(Path(folder), Path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_highlighted(code), encoding="utf-8")


def fragment(file: Path, first: int, last: int) -> str:
    """Some lines of a file as highlighted HTML, numbered from 1."""
    return _highlighted("\n".join(file.read_text(encoding="utf-8").splitlines()[first - 1 : last]))


@cache
def _highlighted(code: str) -> str:
    """Code as HTML; kept, since a build highlights checks while notebooks run."""
    return str(PygmentsBridge("html").highlight_block(code, "python", linenos=False))


def highlighted(folder: Path, file: Path) -> Path:
    """Where the highlighted form of a file stands."""
    return folder / file.with_suffix(".html")
