"""Figures that a reader can move, in a real browser: what is drawn is what the page holds."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import NARROW, OVERFLOW, WIDE
from playwright.sync_api import Browser, Page, Route
from tiny_book import ROOT

SCRIPT = (ROOT / "book/_static/figures.js").read_text(encoding="utf-8")
PAGES = sorted(
    path.stem
    for path in (ROOT / "notebooks").glob("*.md")
    if re.search(r"^(?:moves_\w+|moving)\.", path.read_text(encoding="utf-8"), re.MULTILINE)
)
PLAIN = ("solid", "points", "bars", "tight")  # lines without dashes
NEAR = 0.1  # pixels; coordinates are written with two digits

# What is drawn: curves in pixels, signs, and the places of the ticks with their values.
DRAWN = """form => {
  const figure = document.getElementById(form.dataset.figure);
  const svg = figure.querySelector('.ntp-drawn > svg');
  if (!svg) return null;
  const ticks = (name, place) => [...svg.querySelectorAll(`[data-${name}]`)]
    .map(tick => [Number(tick.dataset[name]), Number(tick.getAttribute(place))]);
  // where bars end: on the side that is not zero
  const zero = ticks('y', 'y').filter(([value]) => value === 0).map(([, at]) => at - 4)[0];
  const ends = group => [...group.querySelectorAll('.ntp-bar')].map(bar => {
    const [x, y, width, height] = ['x', 'y', 'width', 'height']
      .map(name => Number(bar.getAttribute(name)));
    return [x + width / 2, Math.abs(y - zero) < 0.01 ? y + height : y];
  });
  const path = group => group.querySelector('path');
  return {
    x: ticks('x', 'x'), y: ticks('y', 'y').map(([value, at]) => [value, at - 4]),
    label: svg.getAttribute('aria-label'), role: svg.getAttribute('role'),
    says: figure.querySelector('output').textContent,
    caption: figure.querySelector('.ntp-caption-now')?.textContent,
    words: [...svg.querySelectorAll('.ntp-name')].map(text => text.textContent),
    curves: [...svg.querySelectorAll('[data-curve]')].map(group => ({
      label: group.dataset.curve,
      points: group.querySelector('.ntp-bar') ? ends(group)
        : path(group).getAttribute('d').split(/[ML]/).filter(Boolean)
          .map(pair => pair.split(' ').map(Number)),
      look: getComputedStyle(path(group) || group).strokeDasharray,
      signs: group.querySelectorAll('.ntp-sign').length,
    })),
  };
}"""


def opened(browser: Browser, address: str, script: str = SCRIPT, **options: Any) -> Page:
    """A page with this script for figures."""
    page = browser.new_context(**{"viewport": WIDE, **options}).new_page()
    page.route("**/figures.js*", lambda route: serve(route, script))
    page.goto(address, wait_until="load")
    return page


def serve(route: Route, script: str) -> None:
    """Answer with this script."""
    route.fulfill(body=script, content_type="text/javascript")


def faults(data: dict, drawn: dict | None, place: int) -> list[str]:
    """Where a drawing is not what the data hold for the setting of this number."""
    if drawn is None:
        return ["nothing is drawn"]
    view = data["views"][place]
    found = [] if drawn["says"] == view["says"] else [f"says {drawn['says']}"]
    settings = itertools.product(*(dial["values"] for dial in data["dials"]))
    dials = zip(data["dials"], list(settings)[place], strict=True)
    wanted = "; ".join(f"{dial['label']}: {value}" for dial, value in dials)
    if drawn["caption"] is not None and f"Moved to {wanted}." not in drawn["caption"]:
        found.append(f"the caption says {drawn['caption']}")
    names = [word for at in view["curves"] for word in data["curves"][at].get("names", ())]
    if drawn["words"] != names:
        found.append(f"the tokens are {drawn['words']}")
    if len(drawn["curves"]) != len(view["curves"]):
        return [*found, f"{len(drawn['curves'])} curves"]
    for number, shown in zip(view["curves"], drawn["curves"], strict=True):
        curve = data["curves"][number]
        xs, ys = (
            [pixel(value, data[axis], drawn[axis]) for value in data["numbers"][curve[axis]]]
            for axis in ("x", "y")
        )
        wanted = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
        same = len(wanted) == len(shown["points"]) and all(
            math.dist(one, other) < NEAR for one, other in zip(wanted, shown["points"], strict=True)
        )
        if not same or shown["label"] != curve["label"]:
            found.append(f"{curve['label']} is drawn wrongly")
        if (shown["look"] == "none") != (curve["line"] in PLAIN):
            found.append(f"{curve['label']} is {shown['look']}")
    return found


def pixel(value: float | None, axis: dict, ticks: list[tuple[float, float]]) -> float | None:
    """Where a value lies, judged by the first and the last tick of its axis."""
    if value is None or (axis["log"] and value <= 0):
        return None
    see = math.log10 if axis["log"] else float
    (low, at), (high, end) = ticks[0], ticks[-1]
    return at + (see(value) - see(low)) / (see(high) - see(low)) * (end - at)


def figure(page: Page) -> tuple[Any, dict]:
    """The controls of the page, and their data."""
    form = page.locator("form.ntp-moves[data-ready]")
    return form, json.loads(form.locator("script").text_content())


def moves(page: Page) -> Iterator[tuple[int, list[str]]]:
    """Move every control by the keyboard to its ends and back.

    Yields:
        after each move the number of the setting, and what is wrong.
    """
    form, data = figure(page)
    counts = [len(dial["values"]) for dial in data["dials"]]
    places = [int(form.locator(f"[id$=dial-{at}]").input_value()) for at in range(len(counts))]
    for at, count in enumerate(counts):
        control = form.locator(f"[id$=dial-{at}]")
        control.focus()
        for key, place in (("End", count - 1), ("Home", 0), ("ArrowRight", 1)):
            page.keyboard.press("ArrowDown" if select(control) and place == 1 else key)
            places[at] = place
            number = places[0] if len(places) == 1 else places[0] * counts[1] + places[1]
            wrong = faults(data, form.evaluate(DRAWN), number)
            if (
                not select(control)
                and control.get_attribute("aria-valuetext") != (data["dials"][at]["values"][place])
            ):
                wrong.append("the value is not announced")
            yield number, wrong


def faulty(page: Page) -> list[int]:
    """The settings, in the order of the moves, at which something is wrong."""
    return [number for number, wrong in moves(page) if wrong]


def curves(data: dict, view: dict) -> list[dict]:
    """What a setting draws."""
    return [data["curves"][number] for number in view["curves"]]


def everywhere(*_: object) -> bool:
    """An error that no setting hides."""
    return True


def select(control: Any) -> bool:
    """Whether a control is a list."""
    return control.evaluate("node => node.tagName") == "SELECT"


def shows(page: Page) -> tuple[bool, bool, bool]:
    """Whether the printed picture, the drawn one and the controls can be seen."""
    name = page.locator("form.ntp-moves").get_attribute("data-figure")
    parts = (f"#{name} img", f"#{name} .ntp-drawn > svg", "form.ntp-moves")
    return tuple(page.locator(f"{part}:visible").count() > 0 for part in parts)


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_moves_every_figure_to_the_numbers_of_its_setting(
    browser: Browser, book_address: str, name: str
) -> None:
    page = opened(browser, f"{book_address}pages/{name}.html")
    assert shows(page) == (True, False, True)
    assert [wrong for _, wrong in moves(page) if wrong] == []
    assert shows(page) == (False, True, True)
    drawn = figure(page)[0].evaluate(DRAWN)
    assert drawn["role"] == "img"
    assert drawn["says"] in drawn["label"]
    page.emulate_media(media="print")
    assert shows(page) == (True, False, False), "the printed picture is what prints"
    page.emulate_media(media="screen")
    page.click("form.ntp-moves button[type=reset]")
    page.wait_for_selector(".ntp-printed:visible")
    assert shows(page) == (True, False, True)
    page.context.close()


def test_the_figure_of_the_start_page_plays_pauses_and_begins_anew(
    browser: Browser, book_address: str
) -> None:
    page = browser.new_page()
    page.clock.install()
    page.goto(f"{book_address}book/preface.html")
    button, slider = page.locator(".ntp-play"), page.locator("form.ntp-moves input[type=range]")
    page.wait_for_selector("form.ntp-moves[data-ready]")
    first, last = int(slider.input_value()), int(slider.get_attribute("max") or 0)
    button.click()
    assert button.inner_text() == "Pause"
    page.clock.run_for(1500)  # two steps of 0.7 s
    assert int(slider.input_value()) == first + 2
    button.click()
    page.clock.run_for(5000)
    assert int(slider.input_value()) == first + 2
    button.click()
    page.clock.run_for(60_000)
    assert (int(slider.input_value()), button.inner_text()) == (last, "Play")
    button.click()
    assert int(slider.input_value()) == 0
    page.close()


def test_there_are_figures_to_move() -> None:
    assert len(PAGES) >= 6


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        (
            "const view = data.views[chosen()];",
            "const view = data.views[0];",
            lambda data, view, *_: curves(data, view) != curves(data, data["views"][0]),
        ),
        (
            "says.textContent = data.views[chosen()].says",
            "says.textContent = printed",
            lambda _, view, printed, __: view["says"] != printed,
        ),
        (
            'control.setAttribute("aria-valuetext", value);',
            "",
            lambda *moved: moved[-1],  # the page holds what the printed setting announces
        ),
        ("toY(data.numbers[curve.y][at])", "toY(1.02 * data.numbers[curve.y][at])", everywhere),
        (
            "ntp-${curve.role} ntp-${curve.line}`;",
            "ntp-${curve.role}`;",
            lambda data, view, *_: (
                {one["line"] for one in curves(data, view)} - {"solid", "points"}
            ),
        ),
        ("below.textContent = `Moved to ${set", "below.textContent = `${set", everywhere),
        ('form.addEventListener("input"', 'form.addEventListener("mouseup"', everywhere),
    ],
)
def test_a_script_that_does_not_do_its_work_is_noticed_where_it_matters(
    browser: Browser, book_address: str, right: str, wrong: str, where: Callable[..., object]
) -> None:
    assert SCRIPT.count(right) == 1
    page = opened(browser, f"{book_address}pages/loss.html", SCRIPT.replace(right, wrong))
    data, printed = figure(page)[1], page.locator("figure output").text_content()
    still = [
        page.locator(f"form.ntp-moves [id$=dial-{at}]").get_attribute("aria-valuetext")
        for at in range(len(data["dials"]))
    ]
    moved = [
        dial["values"][place] != value
        for dial, value in zip(data["dials"], still, strict=True)
        for place in (-1, 0, 1)
    ]
    found = list(moves(page))
    must = [
        bool(where(data, data["views"][number], printed, another))
        for (number, _), another in zip(found, moved, strict=True)
    ]
    assert [bool(faults) for _, faults in found] == must
    assert any(must)
    page.context.close()


def test_without_scripts_there_is_the_printed_picture_and_the_file(
    browser: Browser, book_address: str, book: Path
) -> None:
    page = opened(browser, f"{book_address}pages/{PAGES[0]}.html", java_script_enabled=False)
    assert shows(page) == (True, False, False)
    name = page.locator("form.ntp-moves").get_attribute("data-figure")
    link = page.locator(f"a[href='../data/{name}.csv']")
    assert link.is_visible()
    assert (book / f"data/{name}.csv").read_text(encoding="utf-8").count("\n") > 100
    page.context.close()


def test_figures_move_in_a_page_opened_as_a_file(browser: Browser, book: Path) -> None:
    page = opened(browser, (book / f"pages/{PAGES[-1]}.html").resolve().as_uri())
    assert faulty(page) == []
    page.context.close()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_moved_figure_fits_a_phone_and_its_curves_stand_out(
    browser: Browser, book_address: str, look: str
) -> None:
    page = opened(
        browser, f"{book_address}pages/{PAGES[0]}.html", viewport=NARROW, color_scheme=look
    )
    assert faulty(page) == []
    assert page.evaluate(OVERFLOW) == 0
    contrasts = page.evaluate(CURVE_CONTRAST)
    assert len(contrasts) > 3
    assert min(contrasts) >= 3, "graphics need a contrast of 3"
    page.set_viewport_size(WIDE)
    page.wait_for_function("() => document.querySelector('.ntp-drawn svg').clientWidth > 500")
    assert faulty(page) == [], "the drawing follows the width of its column"
    page.set_viewport_size(NARROW)
    page.wait_for_function("() => document.querySelector('.ntp-drawn svg').clientWidth < 320")
    smallest = page.evaluate(
        "() => Math.min(...[...document.querySelectorAll('.ntp-drawn svg text')]"
        ".map(text => text.getBoundingClientRect().height))"
    )
    assert smallest > 10, "text is as large as on a wide screen"
    page.context.close()


SLIDING = """() => [...document.querySelectorAll('.bd-article figure')]
  .filter(figure => figure.scrollWidth > figure.clientWidth + 1).map(figure => figure.id)"""
PHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("look", ["light", "dark"])
def test_on_a_phone_no_figure_of_a_story_slides(
    browser: Browser, book_address: str, look: str
) -> None:
    for name in (PAGES[0], MARGIN, "long_run"):
        address = f"{book_address}pages/{name}.html"
        page = opened(browser, address, viewport=PHONE, color_scheme=look)
        assert page.evaluate(SLIDING) == []
        shown = page.eval_on_selector_all(
            ".bd-article figure img",
            "all => Promise.all(all.filter(img => img.checkVisibility()).map(img => {"
            "img.loading = 'eager'; return img.decode().then(() => img.currentSrc)}))",
        )
        ending = "-narrow-dark.svg" if look == "dark" else "-narrow.svg"
        assert len(shown) == page.locator(".bd-article figure").count()
        assert all(one.endswith(ending) for one in shown)
        for dial in page.locator("form.ntp-moves [id*=dial-]").all():
            dial.press("End" if dial.evaluate("one => one.type === 'range'") else "ArrowDown")
            assert page.evaluate(SLIDING) == [], "nor does a moved one"
        page.add_style_tag(content=".bd-article figure img { width: 30rem; max-width: none; }")
        page.evaluate("document.querySelectorAll('form.ntp-moves').forEach(one => one.reset())")
        page.wait_for_function(f"({SLIDING})().length > 0")  # a wide one is noticed
        page.context.close()


def test_a_picture_of_the_evidence_keeps_its_size_on_a_phone_and_the_keyboard_scrolls_it(
    browser: Browser, book_address: str
) -> None:
    page = opened(browser, f"{book_address}pages/huang2024_s7_experiment.html", viewport=NARROW)
    page.wait_for_selector("figure[tabindex]")
    widths = page.eval_on_selector_all(
        ".bd-article figure[tabindex='0'] img",
        "all => all.filter(img => img.checkVisibility()).map(img => img.clientWidth)",
    )
    assert len(widths) == page.locator(".bd-article figure").count()
    assert min(widths) >= 450
    assert page.evaluate(OVERFLOW) == 0
    page.focus("figure[tabindex]")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    page.context.close()


def test_a_control_stays_where_it_is_when_the_drawing_replaces_the_picture(
    browser: Browser, book_address: str
) -> None:
    page = opened(browser, f"{book_address}pages/{PAGES[0]}.html", viewport=NARROW)
    form = figure(page)[0]
    form.locator("button").scroll_into_view_if_needed()
    before = form.bounding_box()["y"]
    form.locator("[id$=dial-0]").focus()
    page.keyboard.press("End")
    assert form.bounding_box()["y"] == pytest.approx(before, abs=2)
    page.context.close()


MARGIN = "max_margin"


def test_a_moved_order_keeps_its_tokens_and_a_wrong_name_is_noticed(
    browser: Browser, book_address: str
) -> None:
    address = f"{book_address}pages/{MARGIN}.html"
    page = opened(browser, address)
    page.locator("form.ntp-moves [id$=dial-1]").press("ArrowLeft")
    page.locator("form.ntp-moves [id$=dial-1]").press("ArrowRight")
    words = page.locator("figure .ntp-drawn .ntp-name").all_text_contents()
    assert words == list("abcdq") * 2, "those of the printed picture, in both drawings"
    looks = page.eval_on_selector_all(
        "figure .ntp-drawn > svg .ntp-curve:not(.ntp-hidden)",
        "all => all.map(one => [one.classList.contains('ntp-slack'), "
        "one.getAttribute('d').split('M').length - 1])",
    )
    assert looks == [[False, 4], [False, 3], [True, 1]], "three of four pairs stay tight"
    page.context.close()
    assert SCRIPT.count("}, curve.names[place])") == 1
    wrong = SCRIPT.replace("}, curve.names[place])", '}, "x")')
    page = opened(browser, address, wrong)
    data = figure(page)[1]
    found = list(moves(page))
    named = [any("names" in one for one in curves(data, data["views"][at])) for at, _ in found]
    assert [bool(faults) for _, faults in found] == named
    assert any(named)
    page.context.close()


def test_controls_and_read_out_stand_in_the_frame_of_the_figure(
    browser: Browser, book_address: str
) -> None:
    for name in ("pages/" + PAGES[0], "book/preface"):
        page = opened(browser, f"{book_address}{name}.html")
        form = page.locator("figure form.ntp-moves[data-ready]")
        says = page.locator("figure output.ntp-says")
        picture = page.locator("figure:has(form) img:visible")
        assert page.locator("form.ntp-moves").count() == form.count() == 1
        tops = [part.bounding_box()["y"] for part in (says, picture, form)]
        assert tops == sorted(tops)
        page.context.close()


def test_a_figure_is_saved_under_a_telling_name_and_shown_alone(
    browser: Browser, book_address: str
) -> None:
    page = opened(browser, f"{book_address}pages/{MARGIN}.html")
    figures = page.locator(".bd-article figure").count()
    assert page.locator("figure .ntp-save").count() == figures > 2
    place = page.locator("#fig-levers")
    for button, begin in (("SVG", b"<?xml"), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            place.get_by_text(button, exact=True).click()
        name = f"max-margin-levers.{button.lower()}"
        assert saved.value.suggested_filename == name
        assert Path(saved.value.path()).read_bytes().startswith(begin)
    place.get_by_text("large").click()
    shown = page.locator("dialog.ntp-stage img:visible")
    assert shown.count() == 1
    assert shown.bounding_box()["width"] > 0.7 * WIDE["width"]
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog.ntp-stage", state="detached")
    assert page.evaluate("document.activeElement.className") == "ntp-alone"
    page.goto(f"{book_address}pages/{MARGIN}.html?alone=fig-max-margin-example")
    assert page.locator("dialog.ntp-stage img:visible").count() == 1
    page.goto(f"{book_address}pages/{MARGIN}.html?alone=nothing")
    assert page.locator("dialog.ntp-stage").count() == 0
    page.context.close()


def saved(page: Page, button: str) -> tuple[str, bytes]:
    """Name and content of the file that a button under the moving figure saves."""
    figure = page.locator("figure:has(form.ntp-moves)")
    with page.expect_download() as waiting:
        figure.get_by_text(button, exact=True).click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def unlike(page: Page) -> list[str]:
    """What the saved SVG lacks of the drawing that is seen: curves, words, colours."""
    text = saved(page, "SVG")[1].decode("utf-8")
    seen = page.evaluate(
        """() => {
          const drawn = document.querySelector('figure .ntp-drawn');
          const all = query => [...drawn.querySelectorAll(query)];
          return [
            ...all('path').map(one => ` d="${one.getAttribute('d')}"`),
            ...all('path').map(one => ` stroke="${getComputedStyle(one).stroke}"`),
            ...all('.ntp-axis, text, .ntp-key li').map(one => `>${one.textContent}</text>`),
            ` fill="${getComputedStyle(document.body).backgroundColor}"`,
          ];
        }"""
    )
    assert len(seen) > 20
    return [one for one in seen if one not in text]


@pytest.mark.parametrize("look", ["light", "dark"])
def test_a_moved_figure_is_saved_as_it_is_seen(
    browser: Browser, book_address: str, look: str
) -> None:
    page = opened(browser, f"{book_address}pages/{MARGIN}.html", color_scheme=look)
    name, printed = saved(page, "SVG")
    assert name == "max-margin-prop-2-five-tokens.svg"
    page.locator("form.ntp-moves [id$=dial-1]").press("ArrowRight")
    assert unlike(page) == []
    assert saved(page, "SVG")[0] == "max-margin-prop-2-five-tokens-moved.svg"
    name, picture = saved(page, "PNG")
    assert name == "max-margin-prop-2-five-tokens-moved.png"
    assert picture.startswith(b"\x89PNG")
    page.click("form.ntp-moves button[type=reset]")
    page.wait_for_selector(".ntp-printed:visible")
    assert saved(page, "SVG")[1] == printed
    page.context.close()
    right = "const look = getComputedStyle(parts[place]);"
    assert SCRIPT.count(right) == 1
    wrong = SCRIPT.replace(right, "const look = getComputedStyle(document.body);")
    page = opened(browser, f"{book_address}pages/{MARGIN}.html", wrong, color_scheme=look)
    page.locator("form.ntp-moves [id$=dial-1]").press("ArrowRight")
    lacks = unlike(page)
    assert lacks, "a drawing without its colours is noticed"
    assert all(one.startswith(" stroke=") for one in lacks), "and lacks nothing else"
    page.context.close()


def test_the_script_asks_nobody_and_writes_no_html() -> None:
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|innerHTML|insertAdjacent", SCRIPT)


CURVE_CONTRAST = """() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const ground = light(parse(getComputedStyle(document.body).backgroundColor));
  const parts = '.ntp-drawn .ntp-curve:not(.ntp-hidden), .ntp-drawn .ntp-axes';
  return [...document.querySelectorAll(parts)].map(part => {
    const ink = light(parse(getComputedStyle(part).stroke));
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
}"""
