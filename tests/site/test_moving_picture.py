"""The start page shows a moving figure of a notebook: drawing, words and controls."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import bookmoving

ALT = {"mystnb": {"figure": {"name": "fig-a"}, "image": {"alt": "two\n bars"}}}


def cell(metadata: dict[str, Any], kind: str, text: str | list[str]) -> dict[str, Any]:
    """A cell with one output."""
    return {"metadata": metadata, "outputs": [{"data": {kind: text}}]}


def test_a_figure_is_found_with_its_words_and_controls() -> None:
    drawing = cell(ALT, bookmoving.SVG, ["<svg>", "</svg>"])
    controls = cell({}, "text/html", '<form data-figure="fig-a"></form>')
    found = bookmoving.find_figure({"cells": [drawing, controls]}, "fig-a")
    assert found == ("<svg></svg>", "two bars", '<form data-figure="fig-a"></form>')


def test_a_figure_without_words_controls_or_drawing_is_none() -> None:
    drawing = cell(ALT, bookmoving.SVG, "<svg></svg>")
    mute = cell({"mystnb": {"figure": {"name": "fig-a"}}}, bookmoving.SVG, "<svg></svg>")
    controls = cell({}, "text/html", '<form data-figure="fig-a"></form>')
    other = cell({}, "text/html", '<form data-figure="fig-ab"></form>')
    for cells in ([drawing], [controls], [mute, controls], [drawing, other]):
        assert bookmoving.find_figure({"cells": cells}, "fig-a") is None


def test_the_start_page_has_one_moving_picture_and_three_doors(book: Path) -> None:
    html = (book / "book/preface.html").read_text(encoding="utf-8")
    assert html.count('data-figure="fig-turning"') == html.count('id="fig-turning"') == 1
    picture = re.search(r'<figure[^>]*id="fig-turning">.*?</figure>', html, re.DOTALL)
    assert picture
    assert "Nine places" in picture[0]
    assert html.count("sd-stretched-link") == 3
    assert html.count("<table") == 1
    assert html.count('class="ntp-play"') == 1
    assert "<svg viewBox" in html.partition('class="ntp-layer"')[2]
