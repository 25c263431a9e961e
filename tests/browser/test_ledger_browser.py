"""The ledger in a real browser: filters, keys, links to views, and no script at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import NARROW, SHOWN_ROWS, WIDE, visit
from playwright.sync_api import Browser, Page
from site_visit import source_pages

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.ledger_table import RANKS

LABELS = [claim.label for claim in CATALOGUE]


@pytest.fixture
def ledger(browser: Browser, book_address: str) -> Iterator[Page]:
    """The ledger, open and ready."""
    context = browser.new_context(viewport=WIDE)
    page = context.new_page()
    page.goto(f"{book_address}book/claims.html")
    page.wait_for_selector(".ntp-filter:not([hidden])")
    yield page
    context.close()


def shown(page: Page) -> list[str]:
    """Labels of the rows that can be seen, in their order."""
    return page.evaluate(SHOWN_ROWS)


def status(page: Page) -> str:
    """What a screen reader hears of the filter."""
    return page.inner_text(".ntp-shown")


def test_chapters_fold_until_something_is_filtered(ledger: Page) -> None:
    heads = ledger.locator(".ntp-chapter-row button")
    assert shown(ledger) == []
    assert heads.count() == len({claim.page for claim in CATALOGUE})
    assert status(ledger) == f"{len(LABELS)} of {len(LABELS)} claims shown"
    first = [claim.label for claim in CATALOGUE if claim.page == CATALOGUE[0].page]
    heads.first.press("Enter")
    assert shown(ledger) == first
    assert heads.first.get_attribute("aria-expanded") == "true"
    heads.first.press("Enter")
    assert shown(ledger) == []
    ledger.select_option("[name=verdict]", "refuted")
    assert len(shown(ledger)) > len({claim.page for claim in CATALOGUE}) / 2
    assert ledger.locator(".ntp-chapter-row:visible").count() == 0


def test_random_instances_can_be_listed(ledger: Page) -> None:
    ledger.select_option("[name=instances]", "random")
    drawn = set(shown(ledger))
    ledger.select_option("[name=instances]", "fixed")
    fixed = set(shown(ledger))
    assert drawn | fixed == set(LABELS)
    assert not drawn & fixed
    assert "huang2024-lem-5" in drawn  # its check takes a seed
    assert "huang2024-fig-1" in fixed


def test_filters_narrow_the_rows(ledger: Page) -> None:
    ledger.click(".ntp-unfold")
    assert shown(ledger) == LABELS
    ledger.select_option("[name=paper]", "huang2024")
    ledger.select_option("[name=kind]", "theorem")
    theorems = [c.label for c in CATALOGUE if c.paper == "huang2024" and c.kind == "theorem"]
    assert shown(ledger) == theorems
    assert status(ledger) == f"{len(theorems)} of {len(LABELS)} claims shown"
    assert ledger.get_attribute(".ntp-shown", "aria-live") == "polite"
    ledger.fill(".ntp-filter [name=q]", "PI_MIN explicit bound")
    assert shown(ledger) == ["huang2024-thm-1-corrected"]
    ledger.fill(".ntp-filter [name=q]", "nowhere to be found")
    assert status(ledger).startswith("0 of")
    ledger.click("button[type=reset]")
    ledger.wait_for_function("() => document.querySelector('.ntp-shown').textContent[0] !== '0'")
    assert shown(ledger) == LABELS  # still unfolded
    ledger.click(".ntp-unfold")
    assert shown(ledger) == []


def test_a_view_can_be_linked(ledger: Page, browser: Browser) -> None:
    ledger.select_option("[name=paper]", "huang2024")
    ledger.select_option("[name=verdict]", "refuted")
    ledger.fill(".ntp-filter [name=q]", "sentences")
    ledger.click("th[data-sort=tried] button")
    address, rows = ledger.url, shown(ledger)
    assert "paper=huang2024&verdict=refuted&sort=tried" in address.replace("q=sentences&", "")
    again = browser.new_page()
    again.goto(address)
    again.wait_for_selector(".ntp-filter:not([hidden])")
    assert shown(again) == rows
    assert 0 < len(rows) < len(LABELS)
    again.close()


def test_the_counts_lead_to_their_rows(ledger: Page) -> None:
    number = ledger.locator("table.ntp-counts a[href*='verdict=refuted']").first
    count = int(number.inner_text())
    number.click()
    ledger.wait_for_selector(".ntp-filter:not([hidden])")
    assert len(shown(ledger)) == count


def test_a_senseless_view_shows_everything(ledger: Page) -> None:
    ledger.goto(re.sub(r"[?#].*", "", ledger.url) + "?paper=nobody&sort=%3Cb%3E&kind=")
    ledger.wait_for_selector(".ntp-filter:not([hidden])")
    assert status(ledger) == f"{len(LABELS)} of {len(LABELS)} claims shown"


def test_the_keyboard_sorts_and_screen_readers_hear_it(ledger: Page) -> None:
    head = ledger.locator("th[data-sort=verdict]")
    assert head.get_attribute("aria-sort") == "none"
    ledger.focus("th[data-sort=verdict] button")
    ledger.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    verdicts = ledger.eval_on_selector_all(
        "table.ntp-claims tbody tr[id]", "rows => rows.map(row => row.dataset.verdict)"
    )
    order = [verdict.value for verdict in RANKS]
    assert verdicts == sorted(verdicts, key=order.index)
    assert len(set(verdicts)) > 2
    ledger.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    backwards = ledger.eval_on_selector_all(
        "table.ntp-claims tbody tr[id]", "rows => rows.map(row => row.dataset.verdict)"
    )
    assert backwards == sorted(verdicts, key=order.index, reverse=True)
    assert sorted(shown(ledger)) == sorted(LABELS)


def test_a_linked_row_is_shown_whatever_the_filter(ledger: Page) -> None:
    address = re.sub(r"[?#].*", "", ledger.url)
    ledger.goto(f"{address}?paper=tian2023#huang2024-thm-1")
    ledger.wait_for_selector(".ntp-filter:not([hidden])")
    assert "huang2024-thm-1" in shown(ledger)


def test_without_scripts_every_row_and_link_is_there(browser: Browser, book_address: str) -> None:
    context = browser.new_context(viewport=NARROW, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book_address}book/claims.html")
    assert page.locator("table.ntp-claims tbody tr:visible").count() == len(LABELS)
    assert page.locator(".ntp-filter:visible").count() == 0
    assert page.locator(".ntp-graph a[href]").count() > 20
    context.close()


def test_boxes_of_a_graph_are_reached_by_the_keyboard(ledger: Page) -> None:
    ledger.focus(".ntp-graph a.ntp-node")
    assert ledger.evaluate("() => document.activeElement.getAttribute('aria-label')")
    target = ledger.evaluate("() => document.activeElement.getAttribute('href')")
    ledger.keyboard.press("Enter")
    ledger.wait_for_url(f"**/{target.removeprefix('../')}")


@pytest.mark.parametrize("page", source_pages()[:3])
def test_source_pages_are_as_good_as_others(browser: Browser, book_address: str, page: str) -> None:
    seen = visit(browser, f"{book_address}{page}.html", book_address)
    assert (seen.off_site, seen.errors, seen.failed, seen.twins) == ([], [], [], [])
    assert (seen.overflow, seen.dark, seen.poor) == (0, True, [])


def test_open_graphs_fit_a_phone_and_can_be_read_in_both_looks(
    browser: Browser, book_address: str
) -> None:
    context = browser.new_context(viewport=NARROW)
    page = context.new_page()
    page.goto(f"{book_address}pages/huang2024_s5_stage2.html")
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    page.wait_for_selector("html[data-drawn]")
    over = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) == 0
    for look in ("light", "dark"):
        page.emulate_media(color_scheme=look)
        page.reload()
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        page.wait_for_selector("html[data-drawn]")
        contrasts = page.evaluate(BOX_CONTRAST)
        assert len(contrasts) > 20
        assert min(contrasts) >= 4.5, look
    context.close()


PHONE = {"width": 390, "height": 844}

BOX_CONTRAST = """() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const linear = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  return [...document.querySelectorAll('a.ntp-node')].map(box => {
    const text = light(parse(getComputedStyle(box.querySelector('text')).fill));
    const ground = light(parse(getComputedStyle(box.querySelector('rect')).fill));
    return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
  });
}"""


def test_the_ledger_script_asks_nobody() -> None:
    text = Path("book/_static/ledger.js").read_text(encoding="utf-8")
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?:", text)


SMALLEST = """box => Math.min(...[...box.querySelectorAll('a.ntp-node text')]
  .map(text => text.getBoundingClientRect().height).filter(Boolean))"""


def test_a_drawing_can_be_read_fits_zooms_and_shows_what_is_near_a_claim(ledger: Page) -> None:
    box = ledger.locator(".ntp-graph:has([data-claim])").first
    bar = ledger.locator(".ntp-graph-bar").first
    fits = "node => node.scrollWidth <= node.clientWidth + 1"
    assert box.evaluate(SMALLEST) > 10, "names can be read at first"
    bar.get_by_label("Fit the drawing").click()
    assert box.evaluate(fits)
    assert box.evaluate(SMALLEST) < 10, "a drawing in which names cannot be read is noticed"
    bar.get_by_label("Larger").click()
    bar.get_by_label("Larger").click()
    assert not box.evaluate(fits)
    bar.get_by_label("Fit the drawing").click()
    assert box.evaluate(fits)
    label = "huang2024-thm-1"
    claim = next(c for c in CATALOGUE if c.label == label)
    bar.get_by_label("Show what is near").select_option(label)
    near = box.locator("[data-claim]:visible")
    users = {c.label for c in CATALOGUE if label in c.uses}
    drawn = set(near.evaluate_all("all => all.map(one => one.dataset.claim)"))
    every = set(
        box.locator("[data-claim]").evaluate_all("all => all.map(one => one.dataset.claim)")
    )
    assert drawn == ({label, *claim.uses} | users) & every
    assert {label, *claim.uses} <= drawn < every
    assert box.evaluate(fits)
    bar.get_by_label("Show what is near").select_option("")
    assert box.locator("[data-claim]:visible").count() == len(every)
    assert ledger.locator("[name=kind] option").all_text_contents().count("said in the text") == 1
    bar.get_by_label("Show the drawing large, on the whole screen").click()
    ledger.wait_for_function("() => document.fullscreenElement?.matches('.ntp-graph')")
    ledger.evaluate("document.exitFullscreen()")


WIDER = """() => [...document.querySelectorAll('.bd-article .ntp-wide:has(table)')]
  .filter(box => box.scrollWidth > box.clientWidth + 1)
  .map(box => box.getAttribute('aria-label'))"""


def test_on_a_phone_no_table_of_claims_slides_and_rows_name_their_parts(
    browser: Browser, book_address: str
) -> None:
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.goto(f"{book_address}book/claims.html")
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    assert page.evaluate(WIDER) == []
    named = page.eval_on_selector_all(
        "table.ntp-counts td", "all => all.map(one => getComputedStyle(one, '::before').content)"
    )
    assert {'"proved"', '"refuted"', '"all"'} <= set(named)
    page.add_style_tag(content="table { min-width: 36rem !important; }")
    assert page.evaluate(WIDER) != [], "a table that slides is noticed"
    context.close()


def test_each_claim_has_one_address_that_stays(ledger: Page) -> None:
    assert ledger.evaluate(
        "labels => labels.every(label => document.getElementById(label)"
        '.querySelector(`a[href="#${label}"]`))',
        LABELS,
    )
