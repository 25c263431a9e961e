"""Figures hold their controls and can be saved: what the pages get."""

from __future__ import annotations

import pytest

from tools.site.figure_controls import frame_figures, telling_name

IMAGE = (
    '<img class="ntp-in-light" alt="two bars" src="../_images/a.svg" />'
    '<img class="ntp-in-dark" alt="two bars" src="../_images/a-dark.svg" />'
)
FIGURE = (
    f'<figure class="align-default" id="fig-a">{IMAGE}<figcaption><p>A.</p></figcaption></figure>'
)
FORM = (
    '<form class="ntp-moves" data-figure="fig-a" style="display:none"><fieldset disabled>'
    '<input id="d"></fieldset><output for="d">Said.</output></form>'
)


def test_what_is_said_stands_above_the_picture_and_the_controls_below_it() -> None:
    html = frame_figures(f"<p>x</p>{FIGURE}<p>y</p><div>{FORM}</div>", "huang2024_s5_loss")
    figure = html[html.index("<figure") : html.index("</figure>")]
    places = [figure.index(one) for one in ("<output", "<img", "<form", "<figcaption", "ntp-save")]
    assert places == sorted(places)
    assert html.count("<form") == html.count("<output") == html.count('id="fig-a"') == 1
    assert "<div></div>" in html


def test_a_figure_without_a_caption_takes_them_too() -> None:
    bare = FIGURE.replace("<figcaption><p>A.</p></figcaption>", "")
    html = frame_figures(bare + FORM, "preface")
    assert html.index("<img") < html.index("<form") < html.index("</figure>")


def test_controls_of_a_figure_elsewhere_stay_where_they_are() -> None:
    other = FORM.replace("fig-a", "fig-b")
    assert frame_figures(FIGURE + other, "p").endswith(other)
    with pytest.raises(ValueError, match="without a place"):
        frame_figures(FIGURE + FORM.replace("output", "span"), "p")


def test_files_are_named_after_page_and_figure() -> None:
    html = frame_figures(FIGURE, "huang2024_s5_loss")
    assert '<a href="../_images/a.svg" download="huang2024-s5-loss-a.svg"' in html
    assert 'data-name="huang2024-s5-loss-a.png"' in html
    assert telling_name("two_papers", "fig-two-ball") == "two-papers-two-ball"
    plain = '<figure id="fig-p"><img src="photo.png"></figure>'
    assert frame_figures(plain, "p") == plain
