"""`ntpcore report`: the notebook of the package, executed on data, as one offline page."""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import IO, Any

from ntpcli.report import surroundings
from ntpcli.report.sockets import sockets
from ntpcli.terminal import show_name
from ntpcore.data.dataset import ROOM, InputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CELL_LIMIT = 3600  # seconds
CHUNK = 2**20  # bytes read at once
PRINT_LIMIT = 180

# What a figure shows, for who cannot see it; the cells of the notebook call these functions.
ALT = {
    "draw_orders": "For each query, tokens above and tokens below, joined by lines. The table of "
    "the next section names the same tokens.",
    "draw_matrix": "The max-margin matrix with its exact entries, rows being tokens and columns "
    "queries. The table below lists them.",
    "draw_loss": "The loss minus its infimum against the steps of stage 2. The table below has its "
    "last value.",
    "draw_direction": "One minus the cosine against the steps, with the bounds of Theorem 1, on "
    "logarithmic axes. The table below has its last value.",
    "draw_norm": "The norm of the attention matrix against the steps, with both bounds of Theorem "
    "1. The table below has its last value.",
}

STYLE = """
:root { color-scheme: light dark; --line: #c8ccd0; --ink: #1b1f24; --soft: #5a6068; --paper: #fff;
  --proved: #1a6b3c; --consistent: #0b5a8f; --refuted: #a8320f; --open: #6b5a00; }
@media (prefers-color-scheme: dark) { :root { --line: #454b52; --ink: #e6e8ea; --soft: #a8aeb5;
  --paper: #14171a; --proved: #6fcf97; --consistent: #6db9ea; --refuted: #f2936f;
  --open: #d9c45c; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: 0.92em; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.7rem; border-bottom: 1px solid
  var(--line); } td { font-variant-numeric: tabular-nums; }
img { max-width: 100%; background: #fff; border-radius: 0.4rem; padding: 0.4rem;
  box-sizing: border-box; } figure { margin: 1rem 0; }
.note { color: var(--soft); }
.ntp-check { border: 1px solid var(--line); border-left: 0.35rem solid var(--open);
  border-radius: 0.4rem; padding: 0.7rem 1rem; margin: 1rem 0; }
.ntp-check.ntp-proved { border-left-color: var(--proved); }
.ntp-check.ntp-not-contradicted { border-left-color: var(--consistent); }
.ntp-check.ntp-refuted { border-left-color: var(--refuted); }
.ntp-badge { border: 1px solid currentcolor; border-radius: 1em; padding: 0 0.6em;
  font-size: 0.85em; font-weight: 600; } .ntp-badge.ntp-proved { color: var(--proved); }
.ntp-badge.ntp-not-contradicted { color: var(--consistent); }
.ntp-badge.ntp-refuted { color: var(--refuted); } .ntp-badge.ntp-open { color: var(--open); }
.ntp-check dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr;
  gap: 0.2rem 1rem; margin: 0; } .ntp-check dt { font-weight: 600; color: var(--soft); }
.ntp-check dd { margin: 0; min-width: 0; } .ntp-check .ntp-head { margin: 0 0 0.5rem; }
.ntp-check .ntp-part { font-weight: 600; margin-top: 0.6rem; }
@media print { body { max-width: none; font-size: 11pt; } .ntp-check, figure, tr { break-inside:
  avoid; } h2 { break-after: avoid; } }
"""


def page(parameters: Mapping[str, object], title: str) -> bytes:
    """The report as one HTML page.

    Args:
        parameters: of the notebook.
        title: what the data are called.

    Raises:
        InputError: a package is missing, or the data cannot be used.
    """
    notebook = execute(parameters)
    body = "\n".join(part for cell in notebook["cells"] for part in _cell(cell))
    name = escape(f"Report on {show_name(title)}")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">\n"
        f"<title>{name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{name}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    ).encode()


def execute(parameters: Mapping[str, object]) -> Any:
    """The executed notebook of the package.

    Raises:
        InputError: a package is missing, or the data cannot be used.
    """
    # Loading jsonschema compiles a grammar of addresses for a second where the package for that is
    # installed, as it is for Jupyter's server. A report has no addresses to check.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    try:
        import jupytext
        import markdown_it  # noqa: F401
        import matplotlib  # noqa: F401
        import papermill
        from nbclient.exceptions import CellTimeoutError, DeadKernelError
    except ImportError as error:
        raise InputError(
            f"a report needs the package {error.name}, which is not installed; pip install "
            "'ntpcore[train]', or use ntpcore check"
        ) from None
    text = resources.files("ntpcli").joinpath("report/template.md").read_text(encoding="utf-8")
    notebook = jupytext.reads(text, fmt="md:myst")
    with (
        _temporary_folder() as folder,
        sockets(folder) as connection,
        _surroundings(folder),
        _silent("papermill"),
    ):
        try:
            return papermill.execute_notebook(
                notebook,
                None,
                parameters=dict(parameters),
                kernel_name="python3",
                progress_bar=False,
                log_output=False,
                cwd=str(folder),
                execution_timeout=CELL_LIMIT,
                shutdown_kernel="immediate",  # asked politely, it may abort and say so
                coalesce_streams=True,  # in how many parts a text arrives is chance
                **connection,
            )
        except papermill.PapermillExecutionError as error:
            raise _failure(error.ename, str(error.evalue)) from None
        except CellTimeoutError:
            raise _failure("TimeoutError", f"a cell took longer than {CELL_LIMIT} s") from None
        except (DeadKernelError, RuntimeError):
            text = "the process that computes it ended; the data may not fit into memory"
            raise _failure("no answer", text) from None


@contextlib.contextmanager
def copied(
    file: str, collocation: str | None, room: int = ROOM
) -> Iterator[tuple[str, str | None]]:
    """Copies of the data and of their collocation, so that all that is said is of the same bytes.

    A pipe can be read once, and a file may change while the page is made. No file may hold more
    than `room` bytes.

    Raises:
        InputError: one cannot be read; messages about a copy name the file that it is of.
    """
    with _temporary_folder() as folder:
        copies = {}
        for place, name in enumerate(one for one in (file, collocation) if one is not None):
            copies[name] = str(folder / str(place) / (os.path.basename(name) or "data"))
            os.mkdir(folder / str(place))
            try:
                with open(name, "rb") as stream, open(copies[name], "wb") as target:
                    _copy_text(name, stream, target, room)
            except InputError:
                raise
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(
                    f"{name or repr('')}: cannot be read ({reason}); name a readable text file"
                ) from None
        try:
            yield copies[file], None if collocation is None else copies[collocation]
        except InputError as error:
            text = str(error)
            for name, copy in copies.items():
                text = text.replace(copy, name)
            raise InputError(text) from None


def _copy_text(name: str, stream: IO[bytes], copy: IO[bytes], room: int) -> None:
    """Copy a text, and stop at what is none: a device without an end, a file of many gigabytes.

    Raises:
        InputError: it holds a NUL byte, or more than data may take.
    """
    size = 0
    while part := stream.read(CHUNK):
        size += len(part)
        if b"\0" in part:
            raise InputError(f"{name}: this looks like a binary file (it holds a NUL byte)")
        if size > room:
            raise InputError(
                f"{name}: more than {room // 10**6} MB, which do not fit; use a part of the file, "
                "or raise --memory"
            )
        copy.write(part)


def _failure(kind: str, text: str) -> InputError:
    """What to say of a notebook that did not run to its end."""
    if kind == "InputError":
        return InputError(text)
    way_out = "Use a part of the data, or ntpcore check"
    if kind == "OSError":
        way_out = "Make room, or let TMPDIR name another folder for temporary files"
    return InputError(
        f"the report could not be made ({kind}: {text}); nothing was written. {way_out}"
    )


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """A folder for what only the making of a report needs; a disk without room is a message."""
    try:
        with tempfile.TemporaryDirectory(prefix="ntpcore-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise _failure("OSError", error.strerror or str(error)) from None


@contextlib.contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """An environment in which the kernel is this very Python, with this package, and no other."""
    before = dict(os.environ)
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([package, before.get("PYTHONPATH", "")]).strip(":;")
    folders = surroundings.jupyter_folders(folder)
    ours = surroundings.ONE_THREAD | {"PYTHONPATH": path}
    surroundings.replace(surroundings.inherited(before) | folders | ours)
    try:
        yield
    finally:
        surroundings.replace(before)


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """A logger that says nothing: why a notebook did not end is said once, in words of ours."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _cell(cell: Any) -> Iterator[str]:
    """What the page shows of a cell: its text, or its outputs; never its code.

    Raises:
        InputError: a cell that draws gave neither a picture nor a reason.
    """
    if cell["cell_type"] == "markdown":
        from markdown_it import MarkdownIt

        yield MarkdownIt("commonmark", {"html": False}).render(cell["source"])
        return
    alt = next((text for name, text in ALT.items() if name in cell["source"]), "")
    shown = [output.get("data", {}) for output in cell.get("outputs", ())]
    if alt and not any({"text/html", "image/svg+xml"} & data.keys() for data in shown):
        raise _failure("no picture", f"{cell['source'].strip()} drew none")
    for data in shown:
        if "text/html" in data:
            yield f'<div class="wide">{_printable(data["text/html"])}</div>'
        elif "image/svg+xml" in data:
            picture = base64.b64encode(data["image/svg+xml"].encode()).decode()
            source = f"data:image/svg+xml;base64,{picture}"
            yield f'<figure><img src="{source}" alt="{escape(alt)}"></figure>'


def _printable(html: str) -> str:
    """A text whose control characters, which only tokens can have brought in, are spelled out."""
    return "\n".join(show_name(line) for line in html.split("\n"))


def find_browser() -> str:
    """Chromium or a browser like it.

    Raises:
        InputError: none is installed.
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise InputError(
        "--pdf needs Chromium, and none is installed; install it, or open the HTML page in a "
        "browser of yours and print it"
    )


def print_pdf(html: bytes, browser: str) -> bytes:
    """A page printed by a browser that reaches no network.

    Raises:
        InputError: the browser did not print it.
    """
    with _temporary_folder() as folder:
        page_file, target = folder / "report.html", folder / "report.pdf"
        page_file.write_bytes(html)
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"]
        command += ["--no-first-run", "--disable-extensions", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # which Chromium demands of root
        command += [f"--print-to-pdf={target}", page_file.as_uri()]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=PRINT_LIMIT, check=False)
        if not target.is_file() or target.stat().st_size == 0:
            raise InputError(
                f"{browser} did not print the page; leave out --pdf, and print the page from a "
                "browser of yours"
            )
        return target.read_bytes()
