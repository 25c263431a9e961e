"""Figures for a phone: panels below one another, every word inside, and no trace left behind."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from ntpbook.look import narrow, plots


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def row(panels: int) -> Figure:
    """A row of panels on one scale, with a legend above all and a label at the end of a curve."""
    fig, axes = plt.subplots(1, panels, figsize=(9.6, 3.6), layout="constrained", sharey=True)
    for place, one in enumerate(axes):
        for name in ("the common token", "distinct, rare", "distinct, frequent"):
            one.plot([0, 1], [0, place + 1], label=name)
        one.text(1, 1, "a label where the curve ends")
    axes[0].set_ylabel("attention on the tokens of one class, as a share")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def faults(fig: Figure) -> set[str]:
    """What a reader with a phone would miss in a figure as it is."""
    fig.draw_without_rendering()
    found = set()
    boxes = [one.get_position() for one in fig.axes]
    for left, right in itertools.pairwise(boxes):
        if len(boxes) != narrow.SQUARE and right.y1 > left.y0:
            found.add("panels side by side")
    if fig.bbox.width > 1.01 * narrow.WIDTH * fig.dpi:
        found.add("wide")
    texts = [text for one in fig.axes for text in one.texts]
    texts += [text for one in fig.legends if one.get_visible() for text in one.get_texts()]
    for text in texts:
        box = text.get_window_extent()
        if box.x0 < 0 or box.x1 > fig.bbox.width:
            found.add(f"outside: {text.get_text()}")
    for one in fig.axes:
        if one.get_subplotspec().is_first_col() and not one.yaxis.get_tick_params()["labelleft"]:
            found.add("no numbers at the left edge")
    return found


def drawing(fig: Figure) -> str:
    """A figure as SVG, without the random names of its parts."""
    text = io.StringIO()
    fig.savefig(text, format="svg", metadata={"Date": None})
    return re.sub(r"\b[mpC][0-9a-f]{10,}", "", text.getvalue())


@pytest.mark.parametrize("panels", [2, 3, 4])
def test_panels_stand_below_one_another_with_every_word_inside(panels: int) -> None:
    with narrow.narrowed(fig := row(panels)):
        assert faults(fig) == set()
        tops = [round(one.get_position().y1, 2) for one in fig.axes]
        assert tops == sorted(tops, reverse=True)
        assert len(set(tops)) == (2 if panels == narrow.SQUARE else panels)


def test_a_figure_that_stays_wide_is_noticed() -> None:
    assert {"panels side by side", "wide"} <= faults(row(2))


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("stack_panels", "panels side by side"),
        ("keep_inside", "outside: a label where the curve ends"),
    ],
)
def test_each_part_is_needed(monkeypatch: pytest.MonkeyPatch, part: str, fault: str) -> None:
    monkeypatch.setattr(narrow, part, lambda *given: None)
    with narrow.narrowed(fig := row(2)):
        assert fault in faults(fig)


def test_a_legend_that_stays_in_a_row_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "BROAD", 100.0)
    with narrow.narrowed(fig := row(2)):
        assert any(one.startswith("outside: ") for one in faults(fig))


def test_the_figure_is_as_before_afterwards() -> None:
    fig = row(3)
    fig.draw_without_rendering()  # a layout begins where the last one ended
    before = drawing(fig)
    narrow.narrow_svg(fig)
    after = drawing(fig)
    assert re.findall(r"<svg [^>]*>", after) == re.findall(r"<svg [^>]*>", before)
    assert len(after) == pytest.approx(len(before), rel=0.01)
    assert [one.get_visible() for one in fig.legends] == [True]


def test_a_notebook_shows_both_drawings_of_a_figure() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        narrow.show_narrow_too()
        fig, _ = plots.new_two()
        shown, _ = shell.display_formatter.format(fig)
        assert 'width="288pt"' in shown[narrow.NARROW_MIME]
    finally:
        InteractiveShell.clear_instance()
