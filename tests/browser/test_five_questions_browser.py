"""Five questions of a fresh reader, answered from the start page: by touch, and by the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from browser import WIDE
from playwright.sync_api import Browser, Locator, Page

SEVERITIES = (", statement", ", hypothesis", ", constant", ", argument", ", wording")
PHONE = {"width": 390, "height": 844}
Press = Callable[[Locator], None]


@pytest.fixture(params=["phone in the dark", "keyboard"])
def reader(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, Press]]:
    """A page, and how this reader follows a link; the one with the keyboard never points."""
    phone = request.param == "phone in the dark"
    context = browser.new_context(
        viewport=PHONE if phone else WIDE,
        color_scheme="dark" if phone else "light",
        has_touch=phone,
    )

    def press(target: Locator) -> None:
        if phone:
            box = target.locator("xpath=ancestor::*[contains(@class, 'sd-card')]")
            (box.first if box.count() else target).tap()  # a door is its whole box
            return
        target.focus()
        assert target.evaluate("node => node === document.activeElement"), "it takes no focus"
        target.page.keyboard.press("Enter")

    yield context.new_page(), press
    context.close()


def row(page: Page, words: str) -> Locator:
    """A row of the table on the start page, as a screen reader names it."""
    return page.get_by_role("row").filter(has_text=words).first


def test_question_1_whether_theorem_1_holds_takes_one_press(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    page.goto(f"{book_address}book/preface.html")
    answer = row(page, "Theorem 1")
    assert "covers rare sentences" in answer.inner_text()
    press(answer.get_by_role("link", name="refuted"))
    page.wait_for_url("**#verdict-huang2024-thm-1")
    card = page.locator("#verdict-huang2024-thm-1")
    assert "A sufficiently rare sentence is learned so late" in card.inner_text()
    sliding = page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")
    assert sliding == "auto", "a link that slides over many screens takes seconds"


def test_question_2_what_is_wrong_worst_first_takes_one_press(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    for name, file in (("Huang et al.", "errata_huang2024"), ("Tian et al.", "errata_tian2023")):
        page.goto(f"{book_address}book/preface.html")
        press(page.get_by_role("main").locator(f"a[href*='{file}']").first)
        page.wait_for_url(f"**/{file}.html")
        tables = page.locator("table.ntp-errata")
        assert tables.count() == 3, f"{name}: statements, steps of proofs, motivation"
        for table in tables.all():
            rows = table.locator("tbody tr td:first-child").all_inner_texts()
            order = [next(i for i, word in enumerate(SEVERITIES) if word in text) for text in rows]
            assert order == sorted(order), name
            assert len(rows) > 1


def test_question_3_what_the_closed_form_means_takes_one_press(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    page.goto(f"{book_address}book/preface.html")
    answer = row(page, "Proposition 2")
    assert "true for the paper's data" in answer.inner_text().replace("\u2019", "'")
    press(answer.get_by_role("link", name="proved").first)
    page.wait_for_url("**#verdict-huang2024-prop-2")
    assert "every optimal token lies above every non-optimal one" in page.inner_text("article")


def test_question_4_what_it_learns_from_four_sentences_takes_two_presses(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    page.goto(f"{book_address}book/preface.html")
    press(page.get_by_role("main").locator("a[href*='playground']").first)
    page.wait_for_url("**/playground.html")
    page.fill("#pg-text", "the cat sat\nthe cat ran\na dog sat\na dog ran\n")
    press(page.get_by_role("button", name="Check", exact=True))
    page.wait_for_selector("#pg-result h3")
    answer = page.inner_text("#pg-result")
    assert "Collocation: the next token of each token" in answer
    assert "Proposition 2" in answer  # statements have names, not labels
    assert "huang2024-" not in answer
    # Nor are sentences without an answer that the theory does not cover; on the same page, whose
    # engine is there.
    page.fill("#pg-text", "The cat sat on the mat.\nThe dog sat on the rug.\n")
    page.fill("#pg-sentence", "The cat sat on the")
    press(page.get_by_role("button", name="Train and ask"))
    page.wait_for_selector("#pg-prediction table")
    assert "although Assumption 1 fails" in page.inner_text("#pg-status-ask")
    assert "ntpcore" not in page.inner_text("#pg-prediction")
    page.fill("#pg-text", "S V O P\nV O P\nO P P\nP S V\n")
    page.fill("#pg-sentence", "O P")
    press(page.get_by_role("button", name="Train and ask"))
    page.wait_for_function(
        "document.querySelector('#pg-status-ask').textContent.startsWith('Trained for 900 steps.')"
    )


def test_how_to_cite_and_what_may_be_reused_takes_one_press(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    page.goto(f"{book_address}book/preface.html")
    press(page.get_by_role("main").get_by_role("link", name="cite and reuse", exact=True))
    page.wait_for_url("**/references.html#cite-this-book")
    words = page.inner_text("article")
    assert "@misc{ntpcompanion" in words
    assert "BSD 3-Clause" in words
    assert "CC BY" in words


def test_question_5_where_the_code_is_takes_two_presses(
    reader: tuple[Page, Press], book_address: str
) -> None:
    page, press = reader
    page.goto(f"{book_address}book/preface.html")
    press(row(page, "Proposition 2").get_by_role("link", name="proved").first)
    page.wait_for_url("**#verdict-huang2024-prop-2")
    card = page.locator("#verdict-huang2024-prop-2")
    press(card.locator("summary"))
    page.wait_for_selector("#verdict-huang2024-prop-2 .ntp-code")
    assert "def check_huang2024_prop_2" in card.locator(".ntp-code pre").inner_text()
    press(card.get_by_role("link", name="source of this check"))  # all that it calls: one more
    page.wait_for_url("**/source/**")
    assert "def check_huang2024_prop_2" in page.inner_text("pre")
