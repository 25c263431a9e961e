"""Cells that are run in the page: what the executed notebook says, or what a reader made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe import AXE, NO_AXE, judge
from browser import NARROW, OVERFLOW, WIDE, serve
from playwright.sync_api import Browser, Page

from ntpverdicts.claims import MIME
from tools.site.runnable import cells_of

ROOT = Path(__file__).resolve().parents[2]
PAGE, OTHER = "huang2024_s6_max_margin", "tian2023_s4_sampling"
IDLE = "() => document.querySelector('[data-run=stop]').disabled"
SAID = "() => document.querySelector('.ntp-run-status').textContent"
# What every cell that ran shows: its place in the notebook, its texts, its cards and formulas.
SHOWN = """() => [...document.querySelectorAll('.ntp-run-cell')].map(one => {
  const cell = one.closest('[class*=ntp-cell-]');
  const all = selector => [...cell.querySelectorAll(`.cell_output ${selector}`)];
  const inTex = element => {
    const copy = element.cloneNode(true);
    for (const one of copy.querySelectorAll('.ntp-tex')) one.replaceWith(`$${one.dataset.tex}$`);
    return copy.textContent;
  };
  return {
    place: Number(/ntp-cell-(\\d+)/.exec(cell.className)[1]),
    code: one.querySelector('textarea').value,
    text: all('.text_plain pre').map(e => e.textContent).join('\\n'),
    evidence: all('.ntp-check .ntp-evidence').map(inTex),
    head: all('.ntp-check .ntp-head').map(e => e.textContent),
    formulas: all('.math:not(.ntp-tex) math').length,
    unset: all('.ntp-tex:not(:has(math))').length,
    errors: all('.ntp-run-error').length,
  };
})"""


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """Every address that the pages asked for."""
    return []


@pytest.fixture(scope="module")
def below(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The book at an address below another one, as many hosts have it."""
    folder = tmp_path_factory.mktemp("host")
    (folder / "some").mkdir()
    (folder / "some" / "book").symlink_to(book.resolve(), target_is_directory=True)
    with serve(folder) as address:
        yield f"{address}some/book/"


@pytest.fixture(scope="module")
def page(browser: Browser, below: str, requests: list[str]) -> Iterator[Page]:
    """A page on which nothing has been started."""
    context = browser.new_context(viewport=WIDE)
    opened = context.new_page()
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(f"{below}pages/{PAGE}.html")
    yield opened
    context.close()


def executed(name: str) -> list[dict[str, Any]]:
    """The code cells of the executed notebook that the book was made from."""
    file = ROOT / "pages" / f"{name}.ipynb"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def said(cell: dict[str, Any]) -> tuple[str, list[str], bool]:
    """Texts, evidence and whether there is a formula in what a cell of a notebook showed."""
    texts, evidence, formula = [], [], False
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", "")})
        if MIME in data:
            evidence.append(data[MIME]["evidence"])
        elif "text/latex" in data:
            formula = True
        elif "text/html" not in data:
            texts.append("".join(data["text/plain"]).rstrip("\n"))
    return "\n".join(texts).strip(), evidence, formula


def differences(shown: list[dict[str, Any]], cells: list[dict[str, Any]]) -> list[str]:
    """Where the page and the executed notebook do not say the same."""
    wrong = []
    for one in shown:
        text, evidence, formula = said(cells[one["place"]])
        found = one["text"].strip(), one["evidence"], one["formulas"] > 0
        if (*found, one["unset"], one["errors"]) != (text, evidence, formula, 0, 0):
            wrong.append(f"cell {one['place']}: {one} instead of {text!r} {evidence} {formula}")
    return wrong


# The article. That no key reaches an element is said by the theme with a -1, by our script with
# nothing. Whichever comes last wins, and for readers it is the same.
ARTICLE = """document.querySelector('article').innerHTML.replaceAll(' tabindex="-1"', '')"""
# A run that asks for an address when it has begun, and then never ends.
ENDLESS = """import js
request = js.XMLHttpRequest.new()
request.open("GET", "it-runs", False)
request.send()
while True:
    pass"""


def runs(page: str) -> int:
    """How many cells of a page can run in it, as its notebook tells."""
    notebook = json.loads((ROOT / "pages" / f"{page}.ipynb").read_text(encoding="utf-8"))
    return sum(one.run for one in cells_of(notebook))


def run_all(page: Page) -> list[dict[str, Any]]:
    """Run all cells of a page, and hand back what they show."""
    page.click("[data-run=all]")
    page.wait_for_function(IDLE)
    assert page.evaluate(SAID).startswith("All "), page.evaluate(SAID)
    found: list[dict[str, Any]] = page.evaluate(SHOWN)
    return found


def area(page: Page, text: str) -> Any:
    """The cell that can be changed and holds a text."""
    return page.locator(".ntp-run-cell", has=page.locator("textarea")).nth(
        page.evaluate(
            "text => [...document.querySelectorAll('.ntp-run-code')]"
            ".findIndex(e => e.value.includes(text))",
            text,
        )
    )


def test_nothing_is_loaded_before_the_first_use(page: Page, requests: list[str]) -> None:
    assert page.is_visible("[data-run=start]")
    said = page.inner_text(".ntp-run p >> nth=0")
    count = re.match(r"Of the (\d+) code cells on this page, (\d+) run in your browser", said)
    assert count
    assert int(count[2]) == runs(PAGE) < int(count[1])
    assert not [one for one in requests if "/cells/" in one or "worker" in one or "engine" in one]


def test_all_cells_give_what_the_executed_notebook_says_and_a_reset_takes_it_back(
    page: Page,
) -> None:
    printed = page.evaluate(ARTICLE)
    page.click("[data-run=start]")
    page.wait_for_selector(".ntp-run-code:visible")
    assert page.evaluate("document.activeElement.textContent") == "Run all"
    cells = executed(PAGE)
    shown = run_all(page)
    assert len(shown) == runs(PAGE)
    assert [one["code"] for one in shown] == ["".join(cells[o["place"]]["source"]) for o in shown]
    assert differences(shown, cells) == []
    place = next(at for at, one in enumerate(shown) if re.search(r"\d", one["text"]))
    text = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), shown[place]["text"], count=1)
    planted = [*shown[:place], shown[place] | {"text": text}, *shown[place + 1 :]]
    assert len(differences(planted, cells)) == 1, "a wrong number is noticed"
    assert any("Proposition 2" in head for one in shown for head in one["head"])
    page.click("[data-run=reset]")
    assert page.evaluate(SAID) == "The page is as it was printed."
    page.evaluate("() => { document.querySelector('.ntp-run-status').textContent = ''; }")
    page.wait_for_function(f"printed => {ARTICLE} === printed", arg=printed)


def test_a_changed_cell_changes_its_result_and_what_is_below(page: Page) -> None:
    page.click("[data-run=start]")
    one = area(page, "L_star")
    code = one.locator("textarea")
    code.fill(code.input_value().replace("sp.solve(", "len(").replace(", multipliers)", ")"))
    code.press("Control+Enter")
    page.wait_for_function(IDLE)
    result = one.locator("xpath=ancestor::*[contains(@class, 'ntp-cell-')]//pre").last
    assert result.inner_text().strip() == "4"
    code.fill("sp.Rational(1, 3) + sp.sqrt(2)")
    one.locator("button").click()
    page.wait_for_function(IDLE)
    cell = one.locator("xpath=ancestor::*[contains(@class, 'ntp-cell-')]")
    assert cell.locator(".math math msqrt").count() == 1


def test_an_error_stands_in_the_page_and_the_next_run_goes_on(page: Page) -> None:
    one = area(page, "sp.Rational(1, 3)")
    cell = one.locator("xpath=ancestor::*[contains(@class, 'ntp-cell-')]")
    for code, last in [
        ("def third(x):\n    return 1 / x\n\nthird(0)", "ZeroDivisionError: division by zero"),
        ("1 +", "SyntaxError: invalid syntax"),
        ("checks.check_huang2024_eq_14()",
         "ModuleNotFoundError: this needs numpy, which the page does not bring along"),
        ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
    ]:  # fmt: skip
        one.locator("textarea").fill(code)
        one.locator("button").click()
        page.wait_for_function(IDLE)
        shown = cell.locator(".ntp-run-error pre").inner_text()
        assert shown.splitlines()[-1] == last
        assert page.evaluate(SAID).endswith(last)
        assert "/ntp/ntpplayground/cells.py" not in shown
        assert ("line 2, in third" in shown) == ("third" in code)
    one.locator("textarea").fill("print('on'); 1 + 1")
    one.locator("button").click()
    page.wait_for_function(IDLE)
    assert cell.locator(".cell_output pre").all_inner_texts() == ["on", "2"]


def test_the_cells_fit_a_phone_pass_axe_and_are_reached_by_keyboard(page: Page) -> None:
    assert AXE.is_file(), NO_AXE
    page.set_viewport_size(NARROW)
    assert page.evaluate(OVERFLOW) == 0
    page.set_viewport_size(WIDE)
    assert judge(page, {"light": set(), "dark": set()}) == []
    page.set_viewport_size(WIDE)
    page.focus("[data-run=all]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.run") == "reset", "nothing to stop"
    page.focus(".ntp-run-code:visible >> nth=0")
    page.keyboard.press("Tab")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert re.fullmatch(rf"Run cell \d+ of {runs(PAGE)}", label)


def test_a_long_run_can_be_stopped_and_another_page_runs_as_well(page: Page, below: str) -> None:
    one = area(page, "print('on')")
    one.locator("textarea").fill(ENDLESS)
    with page.expect_request("**/it-runs"):
        one.locator("button").click()
    one.locator("button").click()
    page.wait_for_function(IDLE)
    assert page.evaluate(SAID).startswith("Stopped.")
    page.goto(f"{below}pages/{OTHER}.html")
    page.click("[data-run=start]")
    page.wait_for_selector(".ntp-run-code:visible")
    assert differences(run_all(page), executed(OTHER)) == []


def test_a_page_that_was_opened_as_a_file_says_why_it_cannot(browser: Browser, book: Path) -> None:
    context = browser.new_context()
    opened = context.new_page()
    opened.goto((book.resolve() / "pages" / f"{PAGE}.html").as_uri())
    assert opened.is_disabled("[data-run=start]")
    assert "opened as a file" in opened.evaluate(SAID)
    context.close()
    without = browser.new_context()
    without.add_init_script("delete window.WebAssembly;")
    with serve(book) as address:
        other = without.new_page()
        other.goto(f"{address}pages/{PAGE}.html")
        assert other.evaluate(SAID) == "This browser cannot run Python: it lacks WebAssembly."
    without.close()


@pytest.mark.usefixtures("browser")  # without one nothing was asked at all
def test_nothing_was_asked_of_other_machines(requests: list[str], below: str) -> None:
    assert any("cells.tar.xz" in one for one in requests)
    assert [one for one in requests if not one.startswith(below)] == []
