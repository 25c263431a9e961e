"""Drawing of the page beyond the assumptions."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from ntpbook.look.plots import BOUND, NONCOMPARABLE, OPTIMAL
from ntpbook.ours.beyond import runs
from ntpbook.ours.beyond.runs import Turned

LOOKS = {
    runs.AS_PRINTED: (OPTIMAL, "-", "o"),
    runs.SMALL_START: (OPTIMAL, "--", "s"),
    runs.JOINT: (NONCOMPARABLE, "-", "^"),
    runs.PLAIN: (BOUND, "--", "v"),
    runs.ADAM: (BOUND, "-", "D"),
}
NAMES = {
    runs.AS_PRINTED: "as in the paper",
    runs.SMALL_START: "small random start",
    runs.JOINT: "both layers at once",
    runs.PLAIN: "plain descent",
    runs.ADAM: "Adam",
}


def draw_switches(axes: Axes, found: Sequence[Turned]) -> None:
    """1 - cos of W_kq against the step, one line for each switch.

    Args:
        axes: where to draw.
        found: runs on one data set; those without a look of their own are left out.
    """
    shown = [one for one in found if one.switch in LOOKS]
    heights: list[float] = []
    for one in sorted(shown, key=lambda run: -float(run.attention()[-1])):
        color, line, marker = LOOKS[one.switch]
        values = one.attention()
        axes.plot(one.run.step, values, line, color=color, marker=marker, markersize=4)
        height = float(values[-1])
        if heights and height > heights[-1] / 1.7:  # names do not touch
            height = heights[-1] / 1.7
        heights.append(height)
        axes.text(one.run.step[-1] * 1.15, height, NAMES[one.switch], color=color, va="center")
    axes.set(xscale="log", yscale="log", xlim=(1, 2e5), xlabel="steps $t$ of stage 2")
    axes.set_xticks([1, 10, 100, 1000])
    axes.set_ylabel("$1 - \\cos$ to $W_{\\mathrm{kq}}^*$")
