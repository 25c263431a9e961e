"""Figures drawn a second time for a phone: as wide as its screen, panels one below the other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager

from IPython.core.formatters import BaseFormatter
from IPython.core.getipython import get_ipython
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from traitlets import ObjectName, Unicode

MIME = "application/vnd.ntpcore.narrow+svg"
WIDTH = 4.0  # inches, 384 pixels: with text of 11 points, readable at 320 pixels, too
PANEL = 2.7  # inches, the greatest height of one panel among several


class NarrowFormatter(BaseFormatter):
    """What Jupyter asks for the narrow drawing of a figure, after the wide one."""

    format_type = Unicode(MIME)
    print_method = ObjectName("_repr_narrow_")


def show_narrow_too() -> None:
    """Let each figure that a notebook shows bring its narrow drawing with it."""
    shell = get_ipython()
    if shell is None:
        return
    formatter = NarrowFormatter(parent=shell.display_formatter)
    formatter.for_type(Figure, narrow_svg)
    shell.display_formatter.formatters[MIME] = formatter


def narrow_svg(fig: Figure) -> str:
    """The narrow drawing of a figure as SVG; the figure is as before afterwards."""
    text = io.StringIO()
    with narrowed(fig):
        fig.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


@contextmanager
def narrowed(fig: Figure) -> Iterator[None]:
    """A figure as wide as a phone, a row of panels as a column, while the body runs."""
    wide, high = fig.get_size_inches()
    panels = row_of_panels(fig)
    places = [one.get_subplotspec() for one in panels]
    hidden = [one for one in panels if not one.yaxis.get_tick_params()["labelleft"]]
    try:
        if panels:
            grid = GridSpec(len(panels), 1, figure=fig)
            for place, one in enumerate(panels):
                one.set_subplotspec(grid[place])
            for one in hidden:
                one.tick_params(labelleft=True)
            fig.set_size_inches(WIDTH, len(panels) * min(high, PANEL))
        else:
            fig.set_size_inches(min(wide, WIDTH), high)
        yield
    finally:
        for one, spec in zip(panels, places, strict=True):
            one.set_subplotspec(spec)
        for one in hidden:
            one.tick_params(labelleft=False)
        fig.set_size_inches(wide, high)


def row_of_panels(fig: Figure) -> list[Axes]:
    """The panels of a figure that has a row of them, from the left; none if it has one panel."""
    placed = {axes: spec for axes in fig.axes if (spec := axes.get_subplotspec()) is not None}
    grids = {spec.get_gridspec() for spec in placed.values()}
    if len(grids) != 1 or (grid := grids.pop()).nrows != 1 or grid.ncols == 1:
        return []
    return sorted(placed, key=lambda axes: placed[axes].colspan.start)
