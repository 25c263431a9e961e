"""Comfort of reading in a real browser, served and as files: previews, folding, search, copying."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import WIDE
from playwright.sync_api import Browser, BrowserContext, Page, expect

from ntpbook.catalogue import CATALOGUE, find_check
from ntpverdicts.claims import SOUND

BOX = "#ntp-preview"
BADGE = "article a[href*='verdict-huang2024-prop-2']"
PROOF = "pages/huang2024_s4_prefix_closure.html"
LEMMAS = "pages/huang2024_s5_stage2_lemmas.html"


@pytest.fixture(scope="module", params=["served", "file"])
def site(request: pytest.FixtureRequest, book: Path, book_address: str) -> str:
    """How every address of the site begins: over http, then as files."""
    return book_address if request.param == "served" else f"{book.resolve().as_uri()}/"


@pytest.fixture
def errors() -> list[str]:
    """What consoles called an error or a warning."""
    return []


@pytest.fixture
def context(browser: Browser, errors: list[str]) -> Iterator[BrowserContext]:
    """A window of its own for a test; nothing may complain in it."""
    opened = browser.new_context(viewport=WIDE)
    opened.on(
        "console", lambda line: line.type in ("error", "warning") and errors.append(line.text)
    )
    opened.on("weberror", lambda error: errors.append(str(error.error)))
    yield opened
    opened.close()
    assert errors == []


def opened(context: BrowserContext, address: str) -> Page:
    """A page."""
    page = context.new_page()
    page.goto(address)
    return page


# Symbols


def test_symbols_of_an_evidence_page_are_at_hand_anywhere(
    context: BrowserContext, site: str
) -> None:
    page = opened(context, f"{site}{LEMMAS}")
    page.mouse.wheel(0, 5000)
    button = page.get_by_role("button", name="Symbols")
    expect(button).to_be_in_viewport()
    panel = page.get_by_role("region", name="Symbols on this page")
    expect(panel).to_be_hidden()
    button.click()
    expect(panel).to_contain_text("length of the longest sentence")  # L_max, of the whole book
    expect(panel).not_to_contain_text("speed coefficient")  # gamma, which is Tian et al.'s
    of_page = page.locator("article > section > p", has=page.locator("math")).first
    in_panel = panel.locator("p", has=page.locator("math")).first
    assert in_panel.text_content() == of_page.text_content()
    assert page.locator("#ntp-symbols [id]").count() == 0
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert button.get_attribute("aria-expanded") == "false"
    page.close()


def test_a_symbol_that_is_not_on_the_page_is_not_among_its_symbols(
    context: BrowserContext, site: str
) -> None:
    page = opened(context, f"{site}pages/tian2023_s4_decoder.html")
    page.get_by_role("button", name="Symbols").click()
    panel = page.get_by_role("region", name="Symbols on this page")
    expect(panel).to_contain_text("size of the vocabulary; numbers of classes")
    expect(panel).not_to_contain_text("stationary attention of a fixed decoder")  # Z*(Y)
    page.close()


def test_symbols_fit_a_phone_and_stories_have_no_such_button(browser: Browser, site: str) -> None:
    phone = browser.new_context(viewport={"width": 320, "height": 640}, has_touch=True)
    page = opened(phone, f"{site}{LEMMAS}")
    page.get_by_role("button", name="Symbols").tap()
    panel = page.get_by_role("region", name="Symbols on this page")
    expect(panel).to_contain_text("length of the longest sentence")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert panel.evaluate("one => one.getBoundingClientRect().bottom <= innerHeight")
    page.goto(f"{site}pages/loss.html")
    assert page.get_by_role("button", name="Symbols").count() == 0
    phone.close()


def test_a_tap_on_a_number_writes_its_origin_behind_it(context: BrowserContext, site: str) -> None:
    page = opened(context, f"{site}pages/snapping.html")
    number = page.locator("abbr.ntp-result").first
    written = "element => getComputedStyle(element, '::after').content"
    assert number.evaluate(written) == "none"
    number.click()
    title = number.get_attribute("title")
    assert title
    assert title in number.evaluate(written)
    number.click()
    assert number.evaluate(written) == "none"


# Previews


def test_a_badge_shows_the_statement_with_formulas_and_verdict(
    context: BrowserContext, site: str
) -> None:
    context.clock.install()
    page = opened(context, f"{site}book/preface.html")
    page.locator(BADGE).first.hover()
    box = page.locator(BOX)
    expect(box.locator("math").first).to_be_visible()
    expect(box.locator(".ntp-badge")).to_contain_text("✔ proved")
    expect(box).to_contain_text("Proposition 2")
    assert box.locator(".math").count() == box.locator("math").count() > 5
    box.hover()  # the pointer may move onto it, and it stays
    page.clock.run_for(60_000)  # of the page's own time
    expect(box).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    page.mouse.move(0, 0)


def test_the_keyboard_opens_and_closes_a_preview(context: BrowserContext, site: str) -> None:
    page = opened(context, f"{site}book/reference.html")  # a page without formulas of its own
    link = page.locator("a.ntp-term").first
    page.keyboard.press("Tab")
    link.focus()
    box = page.locator(BOX)
    expect(box).to_be_visible()
    assert link.get_attribute("aria-describedby") == "ntp-preview"
    assert box.get_attribute("role") == "tooltip"
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    assert link.get_attribute("aria-describedby") is None
    assert page.evaluate("() => document.activeElement.className").count("ntp-term")


def test_formulas_have_their_style_on_a_page_that_has_none(
    context: BrowserContext, site: str
) -> None:
    page = opened(context, f"{site}book/references.html")
    style = page.locator("link[href*='maths.css']")
    assert style.count() == 0
    page.evaluate(
        """() => {
          const link = document.createElement("a");
          link.href = "../pages/huang2024_s6_max_margin.html#huang2024-prop-2";
          link.textContent = "Proposition 2";
          document.querySelector("article").prepend(link);
        }"""
    )
    page.locator("article a").first.hover()
    expect(page.locator(f"{BOX} math").first).to_be_visible()
    expect(style).to_have_count(1)


UNLIKE = """() => {
  const ground = e => {
    const color = getComputedStyle(e).backgroundColor;
    return color === 'rgba(0, 0, 0, 0)' ? ground(e.parentElement) : color;
  };
  const all = [...document.querySelectorAll('div.math')];
  const wrong = all.filter(e =>
    !getComputedStyle(e).backgroundImage.includes(`${ground(e.parentElement)} 40%`));
  return [all.length, wrong.length];
}"""


ALONE = """() => [...document.querySelectorAll('article p span.math')].filter(span => {
  const [formula, mark] = span.childNodes;
  if (!formula.checkVisibility() || mark?.nodeType !== Node.TEXT_NODE) return false;
  const range = document.createRange();
  range.selectNode(mark);
  const one = formula.getBoundingClientRect(), other = range.getBoundingClientRect();
  return other.left < one.right - 2 || other.left > one.right + 2 || other.top > one.bottom;
}).length"""
WIDTHS = range(360, 520, 8)


def test_no_full_stop_begins_a_line_and_roots_are_followed_by_no_gap(
    browser: Browser, book_address: str
) -> None:
    page = browser.new_page()
    page.goto(f"{book_address}pages/convergence.html")
    page.evaluate("document.fonts.ready.then(() => true)")
    assert page.locator("article p span.math").count() > 50

    def alone() -> int:
        found = 0
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            found += page.evaluate(ALONE)
        return found

    assert alone() == 0
    gaps = "() => [...document.querySelectorAll('article p msqrt')].map(root => Math.round("
    gaps += "root.getBoundingClientRect().right - root.firstElementChild.getBoundingClientRect()"
    gaps += ".right))"
    found = page.evaluate(gaps)
    assert found
    assert max(found) <= 1
    page.add_style_tag(content="span.math { white-space: normal !important; }")  # planted
    assert alone() > 0
    page.close()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_what_covers_the_shadow_of_a_formula_has_the_colour_behind_it(
    context: BrowserContext, site: str, look: str
) -> None:
    page = opened(context, f"{site}pages/huang2024_s5_convergence.html")
    page.evaluate("look => { document.documentElement.dataset.theme = look; }", look)
    found, wrong = page.evaluate(UNLIKE)
    assert found > 10
    assert wrong == 0
    page.evaluate(
        "() => { document.querySelector('div.math').style.setProperty('--ground', 'red'); }"
    )
    assert page.evaluate(UNLIKE)[1] == 1


def test_a_preview_moves_nothing_and_leaves_with_the_pointer(
    context: BrowserContext, book_address: str
) -> None:
    page = opened(context, f"{book_address}book/preface.html")
    page.locator(BADGE).first.hover()
    expect(page.locator(BOX)).to_be_visible()
    # In one step, since a font that comes in late may move lines between two.
    with_it, without_it = page.locator(BOX).evaluate(
        """box => {
          const heights = () => [document.documentElement.scrollHeight, document.body.offsetHeight];
          const shown = heights();
          box.style.display = "none";
          const hidden = heights();
          box.style.display = "";
          return [shown, hidden];
        }"""
    )
    assert with_it == without_it
    page.mouse.move(0, 0)
    expect(page.locator(BOX)).to_be_hidden()


def test_touch_gets_no_previews_and_without_their_script_there_are_none(
    browser: Browser, book_address: str
) -> None:
    touch = browser.new_context(viewport=WIDE, has_touch=True, is_mobile=True)
    plain = browser.new_context(viewport=WIDE)
    plain.route("**/preview.js*", lambda route: route.abort())
    for context in (touch, plain):
        context.clock.install()
        page = opened(context, f"{book_address}book/preface.html")
        page.locator(BADGE).first.hover()
        page.clock.run_for(60_000)  # of the page's own time
        # A preview begins with the script that holds its text.
        assert page.locator("script[src*='/previews/']").count() == 0
        assert page.locator(BOX).count() == 0
        context.close()


# Proofs, equations, reports


def test_proofs_fold_and_open_for_a_click_and_on_paper(context: BrowserContext, site: str) -> None:
    page = opened(context, f"{site}{PROOF}")
    proof = page.locator("details.ntp-proof").first
    text = proof.locator("div.proof")
    expect(text).to_be_hidden()
    page.emulate_media(media="print")
    expect(text).to_be_visible()
    page.emulate_media(media="screen")
    expect(text).to_be_hidden()
    proof.locator("summary").click()
    expect(text.locator("math").first).to_be_visible()


def test_paper_shows_the_folds_of_cards_without_the_listing(
    context: BrowserContext, site: str
) -> None:
    page = opened(context, f"{site}pages/huang2024_s6_max_margin.html")
    card = page.locator("[id='verdict-huang2024-prop-2']")
    witness, listing = card.locator("dd").first, card.locator(".ntp-code")
    expect(witness).to_be_hidden()
    page.emulate_media(media="print")
    expect(witness).to_be_visible()
    expect(card.locator("summary")).to_be_hidden()
    page.emulate_media(media="screen")
    expect(witness).to_be_hidden()
    card.locator("summary").click()
    expect(listing).to_be_visible()
    expect(witness).to_be_visible()
    page.emulate_media(media="print")
    expect(listing).to_be_hidden()
    expect(card.locator(".ntp-part", has_text="The check,")).to_be_visible()


def test_a_card_says_all_but_drawing_and_listing_without_scripts(
    browser: Browser, book_address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{book_address}pages/huang2024_s6_max_margin.html")
    card = page.locator("[id='verdict-huang2024-prop-2']")
    card.locator("summary").click()
    text = card.inner_text()
    check = find_check("huang2024-prop-2")
    right = sum(one.expected in SOUND for one in check.planted.values())
    noticed = f"It noticed {len(check.planted) - right} planted errors"
    assert right == 1
    lines = f"{len(inspect.getsource(check.body).splitlines())} lines"
    for words in ("Witness", noticed, "It accepted a case that holds", "Rests on: Eq. (15)", lines):
        assert words in text
    assert card.get_by_role("link", name="source of this check").is_visible()
    context.close()


def test_a_link_into_what_is_folded_opens_it(context: BrowserContext, site: str) -> None:
    page = opened(context, f"{site}{PROOF}")
    name = page.evaluate("() => document.querySelector('details.ntp-proof [id]').id")
    page.goto(f"{site}{PROOF}#{name}")
    page.evaluate("() => window.dispatchEvent(new HashChangeEvent('hashchange'))")
    expect(page.locator(f"[id='{name}']")).to_be_visible()


def test_the_link_of_an_equation_is_stable_and_copied(browser: Browser, book_address: str) -> None:
    context = browser.new_context(viewport=WIDE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened(context, f"{book_address}{LEMMAS}")
    page.locator("#eq-9").click()
    expect(page.locator(".ntp-voice")).to_have_text("The link is copied.")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == f"{book_address}{LEMMAS}#eq-9" == page.url
    formula = page.locator(".ntp-equation:has(#eq-9)")
    assert "9" in formula.inner_text()
    card = page.locator(".ntp-check").first
    card.locator("summary").click()
    report = card.locator(".ntp-report")
    report.locator("button").click()
    expect(report.locator(".ntp-copied")).to_have_text("Copied.")
    text = page.evaluate("() => navigator.clipboard.readText()")
    assert text == report.locator("pre").inner_text()
    assert text.startswith("Claim: huang2024-")
    context.close()


MARK = """() => {
  const number = document.querySelector('p abbr.ntp-result:has(msup)');
  getSelection().selectAllChildren(number.closest('p'));
}"""
LEAVE = "addEventListener('copy', event => event.stopPropagation(), true)"


@pytest.mark.parametrize("as_ours", [True, False], ids=["by us", "by the browser"])
def test_powers_of_ten_are_copied_with_their_words(
    browser: Browser, book_address: str, as_ours: bool
) -> None:
    context = browser.new_context(viewport=WIDE)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not as_ours:
        context.add_init_script(LEAVE)
    page = opened(context, f"{book_address}pages/experiment.html")
    page.evaluate(MARK)
    page.keyboard.press("Control+C")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    in_words = re.search(r"by a factor of \d⋅10[⁰¹²³⁴⁵⁶⁷⁸⁹]+ or more", copied)
    assert (in_words is not None) == as_ours, copied
    context.close()


# Search


@pytest.mark.parametrize(
    ("query", "number", "paper"),
    [
        ("Theorem 1", "Theorem 1", ""),
        ("eq. (9)", "Equation (9)", ""),
        ("Lemma 7 tian", "Lemma 7", "tian2023"),
        ("prop 2", "Proposition 2", ""),
        ("Thm.1 huang", "Theorem 1", "huang2024"),
        ("Does Theorem 1 hold, and why?", "Theorem 1", ""),
    ],
)
def test_the_search_finds_statements_by_number(
    context: BrowserContext, site: str, query: str, number: str, paper: str
) -> None:
    labels = {
        row.label for row in CATALOGUE if row.number == number and row.label.startswith(paper)
    }
    page = context.new_page()
    page.goto(f"{site}search.html?q={query}")
    links = page.locator(".ntp-found li a")
    expect(links.first).to_be_visible()
    # all that have this number come before all else
    first = links.all()[: len(labels)]
    assert [link.inner_text() for link in first] == [number] * len(labels)
    assert {str(link.get_attribute("href")).partition("#")[2] for link in first} == labels


def test_the_search_finds_statements_by_words_and_then_terms(
    context: BrowserContext, site: str
) -> None:
    first = [row.number for row in CATALOGUE if "Hall" in row.title.split()]
    first.append("Hall condition")  # of the glossary
    page = context.new_page()
    page.goto(f"{site}search.html?q=Hall")
    links = page.locator(".ntp-found li a")
    expect(links.first).to_be_visible()
    assert links.all_inner_texts()[: len(first)] == first


def test_the_search_follows_the_typing_and_forgives_a_letter(
    context: BrowserContext, site: str
) -> None:
    page = context.new_page()
    page.goto(f"{site}search.html?q=lemma+7")
    found = page.locator(".ntp-found li a").first
    assert found.inner_text().startswith("Lemma 7")
    field = page.locator("main input[name=q]")
    for typed in ("closed form", "closd form", "clsoed form", "closeed form", "propositoin 2"):
        field.fill("")
        field.press_sequentially(typed)
        texts = page.locator(".ntp-found li").all_text_contents()
        assert any(text.startswith("Proposition 2") for text in texts), typed
    for typed in ("xyzzy", "clossedd form"):  # two letters are too many
        field.fill(typed)
        assert page.locator(".ntp-found").count() == 0


def test_the_field_of_every_page_answers_as_one_types(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.goto(f"{site}pages/two_papers.html")
    assert page.evaluate("() => window.NTP_STATEMENTS") is None  # it comes with the first use
    page.keyboard.press("Control+k")
    page.wait_for_function("() => document.querySelector('.ntp-answers')")
    page.keyboard.type("clsoed form")
    link = page.locator(".ntp-answers li a").filter(has_text="Proposition 2").first
    expect(link).to_be_visible()
    page.keyboard.press("Tab")
    focused = "() => document.activeElement.closest('.ntp-answers') !== null"
    assert page.evaluate(focused), "the next stop is the first answer"
    page.locator(".search-button__wrapper input").fill("xyzzy")
    expect(page.locator(".ntp-answers [role=status]")).to_contain_text("No results")
    assert page.locator(".ntp-answers li").count() == 0
    field = page.locator(".search-button__wrapper input")
    field.fill("install")
    sections = page.locator(".ntp-answers li a")
    expect(sections.filter(has_text="Install").first).to_be_visible()
    field.fill("proposition 2")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused)
    first = page.evaluate("() => document.activeElement.href")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.href") != first
    page.keyboard.press("ArrowUp")
    assert page.evaluate("() => document.activeElement.href") == first
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**#huang2024-prop-2")


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("install", "preface"),
        ("how do I cite", "references"),
        ("Adam", "if_you_train"),
        ("Coq", "machine_checked"),
        ("SVM", "max_margin"),
        ("softmax temperature", "glossary"),
    ],
)
def test_words_that_no_statement_has_lead_to_a_section(
    context: BrowserContext, site: str, asked: str, place: str
) -> None:
    page = context.new_page()
    page.goto(f"{site}book/preface.html")
    page.keyboard.press("Control+k")
    page.wait_for_function("() => document.querySelector('.ntp-answers')")
    page.locator(".search-button__wrapper input").fill(asked)
    expect(page.locator(".ntp-answers li a").first).to_be_visible()
    found = page.eval_on_selector_all(
        ".ntp-answers > section > ul a", "all => all.map(a => a.href)"
    )
    assert any(f"/{place}.html" in address for address in found), found


@pytest.mark.parametrize(
    ("asked", "first", "second"),
    [
        ("Theorem 2", "pages/loss.html", "#huang2024-thm-2"),
        ("loss linear", "pages/loss.html", "pages/huang2024_"),
        ("Does the loss converge linearly?", "pages/loss.html", "#huang2024-app-linear-loss"),
        ("five tokens", "max_margin.html#five-tokens-without", "#ours-prefix-closure-small"),
        ("max margin", "pages/max_margin.html", ""),
        ("install", "preface.html#install", ""),
        ("how do I cite", "preface.html#cite", ""),
        ("softmax temperature", "glossary.html#term-softmax-temperature", ""),
        ("Coq", "machine_checked.html", ""),
        ("Adam", "#tian2023-fig-5", "#ours-adam-stage-1"),
        ("W for my data", "#huang2024-alg-1", ""),
        ("random runs", "claims.html#numbers-that-rest-on-random-runs", ""),
        ("support vector", "glossary.html#term-support-vector", ""),
    ],
)
def test_a_chapter_that_answers_a_question_comes_before_claims(
    context: BrowserContext, site: str, asked: str, first: str, second: str
) -> None:
    page = opened(context, f"{site}search.html?q={asked}")
    expect(page.locator(".ntp-found li a").first).to_be_visible()
    found = page.eval_on_selector_all(".ntp-found li a", "all => all.map(a => a.href)")
    assert first in found[0], found[:3]
    assert second in (found[1:] or [""])[0], found[:3]


def test_what_was_found_is_one_stop_away(context: BrowserContext, site: str) -> None:
    page = context.new_page()
    page.goto(f"{site}search.html?q=lemma+7")
    expect(page.locator(".ntp-found li a").first).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('.ntp-found') !== null")


def test_the_search_answers_a_question_and_quotes_what_pages_say(
    context: BrowserContext, site: str
) -> None:
    page = context.new_page()
    page.goto(f"{site}search.html?q=how+fast+does+attention+converge+to+the+max-margin+solution")
    first = page.locator(".ntp-found li").first
    expect(first).to_contain_text("attention converges in direction to the max-margin solution")
    page.goto(f"{site}search.html?q=theroem+1")  # pages know no misspelt word, statements do
    expect(page.locator(".ntp-found li").first).to_contain_text("refuted")
    expect(page.locator(".search-summary")).to_contain_text("the statements above")
    if site.startswith("file:"):
        return  # there no page is fetched, and so none is quoted
    page.goto(f"{site}search.html?q=cells")
    expect(page.locator(".search-summary")).to_contain_text("finished, found")
    page.wait_for_load_state("networkidle")  # each page that was found is fetched to be quoted
    found = page.locator("#search-results li:has(> p.context)")
    expect(found.nth(1)).to_be_visible()
    quoted = " ".join(page.locator("#search-results p.context").all_text_contents())
    bars = ("code cells on this page", ".ipynb (notebook)", "Show source", "cells needs JavaScript")
    assert [one for one in bars if one in quoted] == []


def test_what_the_search_finds_is_there_and_nothing_is_found_for_nonsense(
    context: BrowserContext, site: str
) -> None:
    page = context.new_page()
    page.goto(f"{site}search.html?q=lemma+7+huang")
    page.locator(".ntp-found li a").first.click()
    page.wait_for_url("**#huang2024-lem-7")
    expect(page.locator("[id='huang2024-lem-7']")).to_be_visible()
    page.goto(f"{site}search.html?q=xyzzy+%3Cb%3E")
    page.wait_for_function("() => document.querySelector('.search-summary')?.textContent")
    assert page.locator(".ntp-found").count() == 0


# Downloads


def test_the_download_button_saves_a_notebook(context: BrowserContext, book_address: str) -> None:
    page = opened(context, f"{book_address}{PROOF}")
    page.locator(".dropdown-download-buttons button").first.click()
    with page.expect_download() as saved:
        page.locator("a[href$='.ipynb']").first.click()
    assert saved.value.suggested_filename == "huang2024_s4_prefix_closure.ipynb"
    made = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert made["nbformat"] == 4
    assert "Prefix closure" in "".join(made["cells"][1]["source"])


# Figures in the dark


def test_figures_are_drawn_dark_in_the_dark_and_never_inverted(
    browser: Browser, book_address: str
) -> None:
    for look, name in (("dark", "ntp-in-dark"), ("light", "ntp-in-light")):
        context = browser.new_context(viewport=WIDE, color_scheme=look)
        page = opened(context, f"{book_address}pages/huang2024_s6_max_margin.html")
        for media in ("screen", "print"):
            page.emulate_media(media=media, color_scheme=look)
            shown = page.eval_on_selector_all(
                "article figure img",
                "all => all.filter(one => getComputedStyle(one).display !== 'none')"
                ".map(one => [one.className, getComputedStyle(one).filter])",
            )
            wanted = name if media == "screen" else "ntp-in-light"
            assert shown
            assert all(wanted in classes and filtered == "none" for classes, filtered in shown)
        context.close()
