"""Figures drawn a second time for a phone: as wide as its screen, panels one below the other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from IPython.core.formatters import BaseFormatter
from IPython.core.getipython import get_ipython
from matplotlib.artist import Artist, getp
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation
from traitlets import ObjectName, Unicode

from ntpverdicts.tables import NARROW_MIME

WIDTH = 4.0  # inches, 384 pixels, of which a phone shows nine tenths or more
PANEL = 2.9  # inches, the greatest height of one panel among several
LOW = 2.2  # inches, the same in a long column
SMALL = 9.5  # points, the largest text beside a curve
SQUARE = 4  # so many panels stand two by two
LONG = 0.3  # of the width of the drawing: panels make room for words that are shorter
BROAD = 0.75  # of the width of the drawing, from which on a legend stands above it
EDGE = 2.0  # pixels between a text and the edge of the drawing


class NarrowFormatter(BaseFormatter):
    """What Jupyter asks for the narrow drawing of a figure, after the wide one."""

    format_type = Unicode(NARROW_MIME)
    print_method = ObjectName("_repr_narrow_")


def show_narrow_too() -> None:
    """Let each figure that a notebook shows bring its narrow drawing with it."""
    shell = get_ipython()
    if shell is None or shell.display_formatter is None:
        return
    formatter = NarrowFormatter(parent=shell.display_formatter)
    formatter.for_type(Figure, narrow_svg)  # type: ignore[no-untyped-call]
    shell.display_formatter.formatters[NARROW_MIME] = formatter


def narrow_svg(fig: Figure) -> str:
    """The narrow drawing of a figure as SVG; the figure is as before afterwards."""
    text = io.StringIO()
    with narrowed(fig):
        fig.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


@contextmanager
def narrowed(fig: Figure) -> Iterator[None]:
    """A figure as wide as a phone while the body runs: panels in a column, legends too."""
    with ExitStack() as stack:
        wide, high = fig.get_size_inches()
        stack.callback(fig.set_size_inches, wide, high)
        panels = panels_of(fig)
        if panels:
            columns = 2 if len(panels) == SQUARE else 1
            rows = len(panels) // columns
            stack_panels(panels, GridSpec(rows, columns, figure=fig), stack)
            high = rows * min(high, PANEL if rows < SQUARE else LOW)
        fig.set_size_inches(min(wide, WIDTH), high)
        inner = [legend for axes in fig.axes if (legend := axes.get_legend()) is not None]
        texts = [*(one.texts for one in fig.axes), *(one.get_texts() for one in inner)]
        for one in (text for part in texts for text in part):
            change(one, stack, fontsize=min(float(one.get_fontsize()), SMALL))
        for axes in fig.axes:
            for one in axes.texts:
                if one.get_window_extent().width > LONG * fig.bbox.width:
                    change(one, stack, in_layout=False)
        for legend in [*fig.legends, *inner]:
            if legend.get_window_extent().width > BROAD * fig.bbox.width:
                put_in_a_column(fig, legend, stack)
        fig.draw_without_rendering()
        for axes in fig.axes:
            fit_labels(axes, stack)
            for one in axes.texts:
                keep_inside(fig, one, stack)
        yield


def change(artist: Artist, stack: ExitStack, **values: Any) -> None:
    """Set properties of a part of a figure until the stack ends."""
    stack.callback(artist.set, **{name: getp(artist, name) for name in values})
    artist.set(**values)


def panels_of(fig: Figure) -> list[Axes]:
    """The panels of a figure that has some side by side, row by row; none if it has not."""
    placed = {axes: spec for axes in fig.axes if (spec := axes.get_subplotspec()) is not None}
    grids = {spec.get_gridspec() for spec in placed.values()}
    if len(grids) != 1 or grids.pop().ncols == 1:
        return []
    return sorted(placed, key=lambda axes: (placed[axes].rowspan.start, placed[axes].colspan.start))


def stack_panels(panels: list[Axes], grid: GridSpec, stack: ExitStack) -> None:
    """Place panels in a grid, row by row, with numbers at every left edge."""
    for place, axes in enumerate(panels):
        if (spec := axes.get_subplotspec()) is not None:
            stack.callback(axes.set_subplotspec, spec)
        axes.set_subplotspec(grid[place])
        if not axes.yaxis.get_tick_params()["labelleft"] and place % grid.ncols == 0:
            stack.callback(axes.tick_params, axis="y", labelleft=False)
            axes.tick_params(axis="y", labelleft=True)


def put_in_a_column(fig: Figure, legend: Legend, stack: ExitStack) -> None:
    """Show a legend above the panels, with its entries one below the other."""
    handles = [one for one in legend.legend_handles if one is not None]
    labels = [one.get_text() for one in legend.get_texts()]
    change(legend, stack, visible=False, in_layout=False)
    other = fig.legend(handles, labels, loc="outside upper left", frameon=False, fontsize=SMALL)
    stack.callback(other.remove)


def fit_labels(axes: Axes, stack: ExitStack) -> None:
    """Set labels of axes smaller where they are longer than their axis."""
    box = axes.get_window_extent()
    for label, room in ((axes.xaxis.label, box.width), (axes.yaxis.label, box.height)):
        extent = label.get_window_extent()
        if (long := max(extent.width, extent.height)) > room:
            change(label, stack, fontsize=float(label.get_fontsize()) * max(room / long, 0.7))


def keep_inside(fig: Figure, text: Text, stack: ExitStack) -> None:
    """Move a text that leaves the drawing at the right or the left back into it."""
    box = text.get_window_extent()
    right, left = fig.bbox.width - EDGE - box.x1, EDGE - box.x0
    shift = right if right < 0 else max(left, 0.0)
    if shift and text.get_visible() and box.width < fig.bbox.width:
        moved = ScaledTranslation(shift / fig.dpi, 0, fig.dpi_scale_trans)
        change(text, stack, transform=text.get_transform() + moved)
