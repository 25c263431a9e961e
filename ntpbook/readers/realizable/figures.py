"""Drawings of the pages on data of a reader's own."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from ntpbook.readers.realizable.repair import Share
from ntpcore.pages.plots import NONCOMPARABLE, NONOPTIMAL, OPTIMAL

_LOOKS = ((OPTIMAL, "o"), (NONOPTIMAL, "s"), (NONCOMPARABLE, "^"))


def draw_shares(axes: Axes, studies: Sequence[Sequence[Share]]) -> None:
    """Share of next tokens that can be explained, against how much of a text is looked at.

    A filled marker is exact; above a hollow one a bar reaches up to what no part exceeds.

    Args:
        axes: where to draw.
        studies: for each text, its beginnings.
    """
    for shares, (color, marker) in zip(studies, _LOOKS, strict=False):
        xs = [one.found.table.weight for one in shares]
        name = shares[0].found.table.data.name.replace("$", r"\$")
        ys = [one.found.share for one in shares]
        axes.plot(xs, ys, marker=marker, color=color, linewidth=1, label=name)
        for x, one in zip(xs, shares, strict=True):
            exact = one.found.gap == 0
            face = color if exact else "white"
            axes.plot([x, x], [one.found.share, one.bound], color=color, linewidth=1)
            axes.plot(x, one.found.share, marker, color=color, markerfacecolor=face)
    axes.legend(frameon=False, loc="lower left")
    axes.set(xscale="log", ylim=(0, 1.03))
    axes.set(xlabel="next tokens in the text", ylabel="share explained")
