"""Execute one text notebook: Jupytext, papermill, normalise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.iorw import write_ipynb

from ntpcli.report.sockets import sockets
from ntpcore.data.files import replacing
from tools.pipeline.kernel import UNDRAWN
from tools.pipeline.normalise import UNRUN, normalise, to_text

# Seconds that one cell may take before the build gives up: far above any page's budget.
CELL_LIMIT = 900
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
NO_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="40"><text x="8" y="25" '
    'font-size="14" fill="#767676">not drawn: this page was not run</text></svg>'
)


class NotebookError(Exception):
    """A notebook did not run to its end; the message is one paragraph for people."""


class SavingOnce(NBClientEngine):  # type: ignore[misc]  # papermill has no types
    """papermill's engine, which writes a notebook at its end only.

    By itself it writes the whole notebook before and after every cell, those of text included,
    which takes a sixth of the processor time of a long page.
    """

    name = "saving-once"

    @classmethod
    def execute_notebook(
        cls, nb: Any, kernel_name: str, output_path: str | None = None, **settings: Any
    ) -> Any:
        """The executed notebook. What stops it, papermill's own errors aside, finds it written."""
        try:
            return super().execute_notebook(nb, kernel_name, output_path=None, **settings)
        except BaseException:
            write_ipynb(nb, output_path)
            raise


papermill_engines.register(SavingOnce.name, SavingOnce)


def execute(source: Path, target: Path, failed: Path, parameters: Mapping[str, object]) -> None:
    """Run a notebook and put its executed copy in place, whole or not at all.

    Args:
        source: the text notebook.
        target: where the executed copy goes.
        failed: where the copy goes that shows how far a failing notebook came.
        parameters: values for its parameters cell.

    Raises:
        NotebookError: a cell raised an error, ran out of time, or the kernel died.
    """
    failed.parent.mkdir(parents=True, exist_ok=True)
    failed.unlink(missing_ok=True)
    notebook = jupytext.read(source)
    notebook.metadata.kernelspec = KERNEL
    try:
        with sockets() as connection:
            executed = papermill.execute_notebook(
                notebook,
                str(failed),
                parameters=dict(parameters),
                kernel_name="python3",
                engine_name=SavingOnce.name,
                progress_bar=False,
                log_output=False,
                start_timeout=120,
                execution_timeout=CELL_LIMIT,
                shutdown_kernel="immediate",  # asked politely, one in ten takes seconds to go
                coalesce_streams=True,  # in how many parts a text arrives is chance
                **connection,
            )
    except papermill.PapermillExecutionError as error:
        injected = 1 if parameters else 0
        raise NotebookError(describe(source.stem, error, injected, failed)) from None
    except CellTimeoutError:
        text = f"{source.stem}: a cell took longer than {CELL_LIMIT} seconds; see {failed}"
        raise NotebookError(text) from None
    except DeadKernelError:
        raise NotebookError(f"{source.stem}: the kernel died; see {failed}") from None
    drawn = os.environ.get("MPLBACKEND") != UNDRAWN["MPLBACKEND"]
    if drawn and (blank := without_picture(executed)):
        raise NotebookError(f"{source.stem}: {blank}; see {failed}")
    failed.unlink(missing_ok=True)
    _hide_injected(executed)
    _put_in_place(executed, target)


def leave_unrun(source: Path, target: Path) -> None:
    """Put a copy of a notebook in place that holds no outputs but an empty picture for each figure.

    Other pages can refer to it, and it says itself that it was not run.
    """
    notebook = jupytext.read(source)
    notebook.metadata.kernelspec = KERNEL
    notebook.metadata[UNRUN] = True
    for cell in notebook.cells:
        if has_caption(cell):
            data = {"image/svg+xml": NO_PICTURE}
            cell.outputs = [nbformat.v4.new_output("display_data", data)]
    _put_in_place(notebook, target)


def _put_in_place(notebook: Any, target: Path) -> None:
    """Write a notebook whole or not at all."""
    plain = normalise(notebook)
    nbformat.validate(plain)
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as stream:
        stream.write(to_text(plain).encode("utf-8"))


def without_picture(notebook: Any) -> str:
    """A sentence about the first cell with a caption and no picture; nothing if there is none."""
    for cell in filter(has_caption, notebook.cells):
        kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
        if not any(kind.startswith("image/") for kind in kinds):
            name = cell.metadata["mystnb"]["figure"].get("name", "a figure without a name")
            return f"the cell of {name} has a caption and draws no picture"
    return ""


def has_caption(cell: Any) -> bool:
    """Whether a cell is one that draws a figure."""
    return cell.cell_type == "code" and "figure" in cell.metadata.get("mystnb", {})


def describe(
    page: str, error: papermill.PapermillExecutionError, injected: int, failed: Path
) -> str:
    """Page, cell, error, and where to look; cells are counted as in the text notebook."""
    lines = [line.strip() for line in str(error.evalue).splitlines() if line.strip()]
    what = f"{error.ename}: {lines[0]}" if lines else error.ename
    begins = next((line.strip() for line in error.source.splitlines() if line.strip()), "")
    return (
        f"{page}, code cell {error.exec_count - injected}: {what}\n"
        f"  the cell begins: {begins}\n"
        f"  the page as far as it ran: {failed}"
    )


def _hide_injected(notebook: Any) -> None:
    """Give the cell that papermill put in the tags of the parameters cell, such as hide-input."""
    tags: list[str] = []
    for cell in notebook.cells:
        own = cell.metadata.get("tags", [])
        if "parameters" in own:
            tags = [tag for tag in own if tag != "parameters"]
        elif "injected-parameters" in own:
            cell.metadata["tags"] = own + tags
