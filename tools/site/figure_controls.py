"""What stands around a figure: the controls that move it, what they say, and how to keep it."""

from __future__ import annotations

import re
from html import escape

FIGURE = re.compile(r'<figure\b[^>]*\bid="([^"]+)"[^>]*>.*?</figure>', re.DOTALL)
FORM = re.compile(r'<form class="ntp-moves" data-figure="([^"]+)".*?</form>', re.DOTALL)
SAYS = re.compile(r"<output\b.*?</output>", re.DOTALL)
LIGHT = re.compile(r'<img class="ntp-in-light[^>]*\bsrc="([^"]+\.svg)"')
PLACE = "<figcaption"


def frame_figures(html: str, page: str) -> str:
    """A page whose figures hold their controls, and can be saved and shown alone.

    Args:
        html: the page, whose drawings have their twins for the dark.
        page: its name, for the names of files that a reader saves.
    """
    forms = {found[1]: found[0] for found in FORM.finditer(html)}
    framed: set[str] = set()

    def frame(found: re.Match[str]) -> str:
        name = found[1]
        figure = with_way_out(found[0], telling_name(page, name))
        if name not in forms:
            return figure
        framed.add(name)
        return with_controls(figure, forms[name])

    html = FIGURE.sub(frame, html)
    return FORM.sub(lambda form: _only_framed(form, framed), html)


def _only_framed(form: re.Match[str], framed: set[str]) -> str:
    """Controls that stand in their figure by now, and only there; others stay."""
    inside = form.string.rfind("<figure", 0, form.start()) > form.string.rfind(
        "</figure>", 0, form.start()
    )
    return form[0] if inside or form[1] not in framed else ""


def with_controls(figure: str, form: str) -> str:
    """A figure with what is said above the picture and the controls under it."""
    says = SAYS.search(form)
    if says is None:
        raise ValueError(f"controls without a place for what they say: {form[:80]}")
    spoken = says[0].replace("<output", '<output class="ntp-says" style="display:none"', 1)
    start = figure.index(">") + 1
    figure = figure[:start] + spoken + figure[start:]
    rest = form.replace(says[0], "", 1)
    at = figure.find(PLACE)
    at = at if at >= 0 else figure.index("</figure>")
    return figure[:at] + rest + figure[at:]


def with_way_out(figure: str, name: str) -> str:
    """A figure that can be saved under a name, and shown alone; as it was if it is no drawing."""
    picture = LIGHT.search(figure)
    if picture is None:
        return figure
    row = (
        f'<p class="ntp-save"><a href="{picture[1]}" download="{escape(name)}.svg" '
        f'aria-label="Save this figure as SVG">SVG</a> '
        f'<button type="button" class="ntp-png" data-name="{escape(name)}.png" '
        f'aria-label="Save this figure as PNG">PNG</button> '
        f'<button type="button" class="ntp-alone" aria-label="Show this figure alone, large">'
        f"large</button></p>"
    )
    return figure.replace("</figure>", f"{row}</figure>")


def telling_name(page: str, figure: str) -> str:
    """A name for a file: of the page and of the figure."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{page} {figure.removeprefix('fig-')}")
    return words.strip("-").lower()
