"""Figures that a reader can move: the curves for every setting of one or two dials.

A page shows the printed picture. Where scripts run, `book/_static/figures.js` draws what stands
here in its place, for the setting that the reader chooses. It computes nothing: curves and
sentences are all from the notebook.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpverdicts.tables import DOWNLOAD_MIME, Download

Data = dict[str, object]
Numbers = Sequence[float] | NDArray[Any]
ROLES = ("optimal", "nonoptimal", "noncomparable", "other", "bound")
LINES = ("solid", "dashed", "dotted", "points", "bars", "tight", "slack")
PAIRS = ("tight", "slack")  # lines from token to token, without signs on them
FIELDS = ("label", "role", "line", "x", "y", "names", "notes")
DIGITS = 5
LARGEST = 60_000  # bytes of one figure in its page
UNTOUCHED = "Drag a slider to change the figure."


@dataclass(frozen=True)
class Axis:
    """One axis of a figure.

    Attributes:
        label: in words, with the symbol.
        log: whether it is logarithmic.
        low: where it begins; None for the smallest number of all settings.
        high: where it ends; None for the largest.
        names: what stands at 0, 1, 2, ... in place of numbers; bars need them.
    """

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dial:
    """What a reader can move.

    Attributes:
        label: in words, with the symbol.
        values: what it can be set to, as text.
        start: place of the value that the printed picture has, or comes nearest to.
        slider: whether the values are in order; otherwise they are listed.
        plays: whether a button runs through the values, as time does; of one dial at most.

    Raises:
        ValueError: fewer than two values, two alike, or no such start.
    """

    label: str
    values: tuple[str, ...]
    start: int = 0
    slider: bool = True
    plays: bool = False

    def __post_init__(self) -> None:
        if len(set(self.values)) < 2 or len(set(self.values)) < len(self.values):
            raise ValueError(f"{self.label}: {self.values} are not two or more different values")
        if not 0 <= self.start < len(self.values):
            raise ValueError(f"{self.label}: there is no value number {self.start}")


@dataclass(frozen=True, eq=False)
class Curve:
    """A line or a row of points.

    Attributes:
        label: what it shows.
        role: one of ROLES, which gives the colour and the sign.
        line: one of LINES; what is measured is solid or points, a bound dashed or dotted, a pair
            of tokens tight (solid) or slack (dotted).
        x: the places.
        y: the values there; what is not finite is left out, and a line begins anew behind it.
        names: what stands on the signs of points, such as tokens.
        notes: what stands beside them, such as exact values; empty for none.

    Raises:
        ValueError: an unknown role or line, a solid bound, x and y of different lengths, or names
            and notes that are not those of points.
    """

    label: str
    role: str
    line: str
    x: Numbers
    y: Numbers
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in ROLES or self.line not in LINES:
            raise ValueError(f"{self.label}: {self.role}, {self.line} is no role and line")
        if self.role == "bound" and self.line == "solid":
            raise ValueError(f"{self.label}: a bound is dashed or dotted, what is measured solid")
        if len(self.x) != len(self.y):
            raise ValueError(f"{self.label}: {len(self.x)} places and {len(self.y)} values")
        for words in (self.names, self.notes):
            if words and (self.line != "points" or len(words) != len(self.x)):
                raise ValueError(f"{self.label}: {words} are not words for {len(self.x)} points")


@dataclass(frozen=True)
class View:
    """What a reader sees at one setting.

    Attributes:
        curves: the curves.
        says: a sentence about them, computed from the same numbers.
    """

    curves: tuple[Curve, ...]
    says: str


@dataclass(frozen=True)
class Moving:
    """A figure for every setting of its dials.

    Attributes:
        figure: name of the printed figure on the same page, which it belongs to.
        x: the horizontal axis.
        y: the vertical axis.
        dials: one or two dials.
        views: one for each setting, the last dial moving fastest.
        caption: what is true of every setting, for the caption of a moved figure.

    Raises:
        ValueError: no dials or too many, settings without a view, or more data than a page bears.
    """

    figure: str
    x: Axis
    y: Axis
    dials: tuple[Dial, ...]
    views: tuple[View, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        if not 1 <= len(self.dials) <= 2:
            raise ValueError(f"{self.figure}: {len(self.dials)} dials, not one or two")
        settings = math.prod(len(dial.values) for dial in self.dials)
        if len(self.views) != settings:
            raise ValueError(f"{self.figure}: {len(self.views)} views for {settings} settings")
        size = len(embedded(self.data))
        bars = any(curve.line == "bars" for view in self.views for curve in view.curves)
        if bars and (not self.x.names or self.x.log or self.y.log):
            raise ValueError(f"{self.figure}: bars stand at names, and their axes are not log")
        if size > LARGEST:
            raise ValueError(
                f"{self.figure}: {size} bytes, more than {LARGEST}; take fewer points or settings"
            )

    @property
    def data(self) -> Data:
        """What the page draws from; numbers and curves that settings share stand there once."""
        numbers: dict[tuple[float | None, ...], int] = {}
        curves: dict[tuple[object, ...], int] = {}
        views = []
        for view in self.views:
            places = []
            for one in view.curves:
                x, y = (
                    numbers.setdefault(tuple(map(rounded, row)), len(numbers))
                    for row in (one.x, one.y)
                )
                key = (one.label, one.role, one.line, x, y, one.names, one.notes)
                places.append(curves.setdefault(key, len(curves)))
            views.append({"curves": places, "says": view.says})
        drawn = [one for view in self.views for one in view.curves]
        return {
            "x": _axis(self.x, [rounded(x) for one in drawn for x in one.x]),
            "y": _axis(self.y, [rounded(y) for one in drawn for y in one.y]),
            "caption": self.caption,
            "dials": [{"label": dial.label, "values": dial.values} for dial in self.dials],
            "numbers": [list(row) for row in numbers],
            "curves": [
                {name: part for name, part in zip(FIELDS, key, strict=True) if part != ()}
                for key in curves
            ],
            "views": views,
        }

    @property
    def download(self) -> Download:
        """All numbers as a file, a row for each point."""
        settings = itertools.product(*(dial.values for dial in self.dials))
        return Download(
            f"{self.figure}.csv",
            (*(dial.label for dial in self.dials), "curve", self.x.label, self.y.label),
            [
                (*setting, curve.label, rounded(x), rounded(y))
                for setting, view in zip(settings, self.views, strict=True)
                for curve in view.curves
                for x, y in zip(curve.x, curve.y, strict=True)
            ],
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Data:
        """What a notebook shows: the controls, hidden where no script runs, and a link."""
        shown = self.download._repr_mimebundle_()
        dials = "; ".join(f"{dial.label}: {', '.join(dial.values)}" for dial in self.dials)
        return {
            "text/plain": f"{self.figure} can be moved ({dials})",
            "text/html": _form(self) + str(shown["text/html"]),
            DOWNLOAD_MIME: shown[DOWNLOAD_MIME],
        }


def moving(
    figure: str,
    x: Axis,
    y: Axis,
    dials: tuple[Dial, ...],
    view: Callable[..., View],
    caption: str = "",
) -> Moving:
    """A figure whose views a function makes.

    Args:
        figure: name of the printed figure.
        x: the horizontal axis.
        y: the vertical axis.
        dials: one or two dials.
        view: makes the view for the places of all dials.
        caption: what is true of every setting.
    """
    settings = itertools.product(*(range(len(dial.values)) for dial in dials))
    return Moving(figure, x, y, dials, tuple(view(*setting) for setting in settings), caption)


def signed(number: Fraction) -> str:
    """A fraction with a true minus sign."""
    return str(number).replace("-", "−")


def rounded(value: float) -> float | None:
    """A number with five digits; None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def thinned(step: NDArray[np.int64] | NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """Places of at most so many of these increasing steps > 0, evenly spread on a log axis."""
    wanted = np.geomspace(float(step[0]), float(step[-1]), most)
    return np.unique(np.searchsorted(step, wanted * (1 - 1e-9)).clip(0, len(step) - 1))


def embedded(data: Data) -> str:
    """Data as JSON that cannot end the script element which holds it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _axis(axis: Axis, values: Sequence[float | None]) -> Data:
    """An axis with its range: that of all settings, so that curves move and axes do not."""
    drawn = [v for v in values if v is not None and (v > 0 or not axis.log)]
    low = min(drawn) if axis.low is None else axis.low
    high = max(drawn) if axis.high is None else axis.high
    if axis.names:
        low, high = -0.5, len(axis.names) - 0.5
    if not low < high or (axis.log and low <= 0):
        raise ValueError(f"{axis.label}: no axis goes from {low:g} to {high:g}")
    found: Data = {"label": axis.label, "log": axis.log, "low": low, "high": high}
    return found | {"names": axis.names} if axis.names else found


def _form(moved: Moving) -> str:
    """The controls, with the data; the style sheet of the book shows them where scripts run."""
    names = [f"{moved.figure}-dial-{place}" for place in range(len(moved.dials))]
    controls = "".join(
        f'<p><label for="{name}">{escape(dial.label)}</label> {_control(name, dial)}</p>'
        for name, dial in zip(names, moved.dials, strict=True)
    )
    play = "".join(
        f'<button type="button" class="ntp-play" data-plays="{name}">Play</button> '
        for name, dial in zip(names, moved.dials, strict=True)
        if dial.plays
    )
    return (
        f'<form class="ntp-moves" data-figure="{escape(moved.figure)}" autocomplete="off" '
        f'style="display:none"><fieldset disabled><legend>Move this figure</legend>{controls}'
        f'<p>{play}<button type="reset">Reset the figure</button></p></fieldset>'
        f'<output for="{" ".join(names)}" aria-live="polite">{UNTOUCHED}</output>'
        f'<script type="application/json">{embedded(moved.data)}</script></form>'
    )


def _control(name: str, dial: Dial) -> str:
    """A slider with its value beside it, or a list."""
    if dial.slider:
        start = escape(dial.values[dial.start])
        return (
            f'<input id="{name}" type="range" min="0" max="{len(dial.values) - 1}" step="1" '
            f'value="{dial.start}" aria-valuetext="{start}">'
            f' <span class="ntp-value" aria-hidden="true">{start}</span>'
        )
    options = "".join(
        f'<option value="{place}"{" selected" if place == dial.start else ""}>'
        f"{escape(value)}</option>"
        for place, value in enumerate(dial.values)
    )
    return f'<select id="{name}">{options}</select>'
