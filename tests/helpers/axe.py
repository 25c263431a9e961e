"""axe-core on a page: both looks, three widths, nothing loaded twice and nothing judged twice.

Colors are judged at the widest and at the narrowest window.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
NO_AXE = "no axe-core in node_modules"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
WIDTHS = (1440, 768, 320)
ENDS = (max(WIDTHS), min(WIDTHS))
LOOKS = ("light", "dark")
# What depends on the width: whether something shows, scrolls, or is large enough to be hit.
BY_WIDTH = [
    "aria-hidden-focus",
    "button-name",
    "input-button-name",
    "label",
    "label-content-name-mismatch",
    "link-in-text-block",
    "link-name",
    "nested-interactive",
    "scrollable-region-focusable",
    "select-name",
    "summary-name",
    "target-size",
]

RUN = """async ([rules, tags, include]) => {
  const options = {resultTypes: ['violations'], elementRef: false,
    runOnly: rules ? {type: 'rule', values: rules} : {type: 'tag', values: tags}};
  if (!rules) options.rules = {'color-contrast': {enabled: false}};
  // formulas are for the browser to read; of code, colours alone are judged (below)
  const where = include ? {include} : {exclude: [['math'], ['.highlight pre']]};
  const found = await axe.run(where, options);
  return found.violations.map(v => `${v.id}: ${v.nodes.slice(0, 2).map(n =>
    n.target.join(' ') + ' ' + n.html.slice(0, 90)).join(' | ')} (${v.nodes.length})`);
}"""

# Texts by what decides their contrast: colour, ground, size, weight. One of each is judged.
KINDS = """([known, mark]) => {
  const had = new Set(known), done = new Set(), found = [];
  const grounds = new Map();
  const ground = e => {
    if (!e) return '';
    if (grounds.has(e)) return grounds.get(e);
    const style = getComputedStyle(e), own = style.backgroundColor;
    const solid = style.backgroundImage === 'none' && !/, 0\\)$|transparent/.test(own);
    const all = [solid ? own : '', style.backgroundImage, style.opacity].join('/');
    const opaque = solid && !/rgba/.test(own) && style.opacity === '1';
    const text = opaque ? all : `${all};${ground(e.parentElement)}`;
    grounds.set(e, text.replace(/^(\\/none\\/1;)+/, ''));
    return grounds.get(e);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (!node.data.trim()) continue;
    const e = node.parentElement;
    if (done.has(e)) continue;
    done.add(e);
    if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (/^(script|style|noscript|template)$/i.test(e.tagName)) continue;
    const style = getComputedStyle(e), large = parseFloat(style.fontSize) >= 18.6;
    const svg = e instanceof SVGElement;
    const kind = [svg ? style.fill : style.color, ground(e), large, style.fontWeight, svg,
                  style.textShadow].join('|');
    if (had.has(kind)) continue;
    had.add(kind);
    e.setAttribute(mark, '');
    found.push(kind);
  }
  return found;
}"""
# Every run of axe-core walks through all elements, also through those that it leaves out. So what
# is left out, and has no text to be judged, becomes one element of the same size and text; and what
# is folded away, which axe-core judges only when it is shown, goes.
THIN = """(marks) => {
  for (const part of document.querySelectorAll('details:not([open]) > :not(summary)'))
    part.remove();
  const judged = e => marks.some(mark => e.matches(`[${mark}]`) || e.querySelector(`[${mark}]`));
  for (const code of document.querySelectorAll('.highlight pre'))
    if (!judged(code) && !code.querySelector('a, button, [tabindex]'))
      code.textContent = code.textContent;
  const formulas = [...document.querySelectorAll('math')].filter(one => !judged(one));
  const sizes = formulas.map(one => one.getBoundingClientRect());
  formulas.forEach((one, at) => {
    const place = document.createElement('span');
    place.style.cssText = `display: inline-block; width: ${sizes[at].width}px;` +
      `height: ${sizes[at].height}px`;
    one.replaceWith(place);
  });
}"""
# What shows at a width. The rules by width ask whether something is named, large enough to be hit
# or reached by the keyboard: all of it is asked at the widest and at the narrowest window, where
# most and least shows; of a width between them only what shows at neither.
SHOWN = """width => {
  const which = 'a, area, button, input, label, select, summary, textarea, [role], [tabindex]';
  for (const one of document.querySelectorAll(which))
    if (one.checkVisibility({opacityProperty: true, visibilityProperty: true}))
      one.setAttribute('data-axe-at', `${one.getAttribute('data-axe-at') || ''} ${width}`);
}"""
ONLY = '[data-axe-at=" %s"]'
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"


@cache
def program() -> str:
    """The source of axe-core."""
    return AXE.read_text(encoding="utf-8")


def judge(page: Page, known: dict[str, set[str]]) -> list[str]:
    """What axe-core finds on a loaded page, in both looks and at three widths.

    Args:
        page: the page, loaded; formulas and the colours of its code are gone afterwards.
        known: for each look the kinds of text that were judged before, here or elsewhere;
            grows. Every distinct colour on every distinct ground is judged once.
    """
    page.add_style_tag(content=STILL)
    page.evaluate(program())
    marks = {(width, look): f"data-axe-{width}-{look}" for width in ENDS for look in LOOKS}
    fresh = set()
    for width in WIDTHS:
        _show(page, width, LOOKS[0])
        page.evaluate(SHOWN, width)
        for look in LOOKS if width in ENDS else ():
            _show(page, width, look)
            mark = marks[width, look]
            if kinds := page.evaluate(KINDS, [sorted(known[look]), mark]):
                known[look].update(kinds)
                fresh.add(mark)
    page.evaluate(THIN, list(marks.values()))
    found: list[str] = []
    # Backwards, because every other width costs a layout.
    for width in reversed(WIDTHS):
        for look in reversed(LOOKS):
            if (mark := marks.get((width, look))) in fresh:
                _show(page, width, look)
                said = _run(page, ["color-contrast"], [[f"[{mark}]"]])
                found += [f"{width} px, {look}: {text}" for text in said]
        if width in ENDS or page.locator(ONLY % width).count():
            _show(page, width, LOOKS[0])
            rules = None if width == WIDTHS[0] else BY_WIDTH
            include = None if width in ENDS else [[ONLY % width]]
            found += [f"{width} px: {text}" for text in _run(page, rules, include)]
    return found


def _show(page: Page, width: int, look: str) -> None:
    """Give a page a width and a look."""
    if page.viewport_size != (size := {"width": width, "height": 900}):
        page.set_viewport_size(size)  # type: ignore[arg-type]
    page.evaluate("look => { document.documentElement.dataset.theme = look; }", look)


def _run(page: Page, rules: list[str] | None, include: Any) -> list[str]:
    """Run axe-core."""
    answer: list[str] = page.evaluate(RUN, [rules, TAGS, include])
    return answer
