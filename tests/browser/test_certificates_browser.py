"""Certificates in the playground: saved as the program writes them, and judged by its checker."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import WIDE, fits_and_passes_axe, hear_trouble
from playground_cases import BUSY, NASTY, PRESETS, Case, command, random_cases
from playwright.sync_api import Browser, Page, Route

from ntpcli import certify
from ntpcore import certificate
from ntpcore.data.dataset import InputError
from ntpplayground import certificates
from tools.site.playground import bundled_files

EXAMPLE_1, FIVE, CIRCLE, TWICE = PRESETS
FOUR = Case("text", "The cat sat on the mat.\nThe dog sat on the rug.\n")
PICKED = "(t => t.value.slice(t.selectionStart, t.selectionEnd))(document.activeElement)"
SET = f"""async ([form, text]) => {{
  document.getElementById('pg-text').value = text;
  document.querySelector(`input[name=pg-form][value=${{form}}]`).checked = true;
  document.getElementById('pg-check').click();
  while ({BUSY}) await new Promise(done => setTimeout(done, 20));
}}"""


@pytest.fixture(scope="module")
def page(browser: Browser, playground: str, trouble: list[str]) -> Iterator[Page]:
    """The page with its engine loaded, once for all tests."""
    context = browser.new_context(viewport=WIDE, accept_downloads=True)
    opened = context.new_page()
    hear_trouble(opened, trouble)
    opened.goto(f"{playground}#preset=five-tokens")
    opened.wait_for_selector("#pg-result h3")
    yield opened
    context.close()


def saved(page: Page, case: Case, folder: Path) -> str:
    """What "Save certificate" hands out for a case."""
    page.evaluate(SET, [case.form, case.text])
    with page.expect_download() as waiting:
        page.click("#pg-save")
    assert waiting.value.suggested_filename == "certificate.json"
    waiting.value.save_as(folder / "saved.json")
    return (folder / "saved.json").read_bytes().decode()


def written(case: Case, folder: Path) -> str:
    """What the program writes for a case."""
    said = command(folder, "certify", case, "-o", "written.json", "--overwrite")
    assert said.code == 0, said.err
    return (folder / "written.json").read_bytes().decode()


def judge(page: Page, text: str) -> str:
    """What the page says of a certificate whose text is in its field."""
    page.fill("#pg-certificate", text)
    page.click("#pg-check-certificate")
    page.wait_for_function(f"() => !{BUSY}")
    return page.inner_text("#pg-verdict")


@pytest.mark.parametrize("case", [*PRESETS, FOUR, NASTY[0], NASTY[3], NASTY[5]])
def test_the_saved_file_is_the_one_that_the_program_writes(
    page: Page, tmp_path: Path, case: Case
) -> None:
    assert saved(page, case, tmp_path) == written(case, tmp_path)
    assert "Saved as certificate.json" in page.inner_text("#pg-status")
    assert page.is_visible("#pg-result h3"), "the answer stays"


def test_saved_files_of_random_data_are_those_of_the_program(page: Page, tmp_path: Path) -> None:
    cases = random_cases(9)
    certified = 0
    for case in cases:
        said = command(tmp_path, "certify", case, "-o", "written.json", "--overwrite")
        if said.code == 2:
            page.evaluate(SET, [case.form, case.text])
            page.click("#pg-save")
            page.wait_for_selector("#pg-error:visible")
            assert "the next token n is not defined" in page.inner_text("#pg-error").lower()
            continue
        certified += 1
        assert saved(page, case, tmp_path) == (tmp_path / "written.json").read_text("utf-8")
    assert certified >= 6


def test_the_part_that_is_kept_has_a_certificate_of_its_own(page: Page, tmp_path: Path) -> None:
    page.evaluate(SET, [TWICE.form, TWICE.text])
    page.click("#pg-repair")
    page.wait_for_function(
        "() => document.getElementById('pg-status').textContent.includes('Kept')"
    )
    with page.expect_download() as waiting:
        page.click("#pg-save")
    waiting.value.save_as(tmp_path / "part.json")
    found = json.loads((tmp_path / "part.json").read_text("utf-8"))
    certificate.check(found)
    assert found["facts"]["assumption_1"] is True
    assert sum(count for _, _, count in found["samples"]) == 4


@pytest.mark.parametrize("case", [EXAMPLE_1, FIVE, CIRCLE, TWICE])
def test_an_accepted_certificate_says_what_it_implies(
    page: Page, tmp_path: Path, case: Case
) -> None:
    text = written(case, tmp_path)
    shown = judge(page, text)
    assert "✔ Accepted" in shown
    implied = page.locator("#pg-verdict li").all_inner_texts()
    assert implied == certify.implied(json.loads(text))
    assert page.inner_text("#pg-status-certificate") == "The checker accepts this certificate."
    target = page.get_attribute("#pg-verdict a", "href")
    assert page.locator(f"[id='{str(target)[1:]}']").count() == 1


def change(text: str, old: str, new: str) -> str:
    """A text with one place changed."""
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("case", "old", "new", "line", "reason"),
    [
        (FIVE, '"7/6"', '"6/5"', 30, "norm_squared: another sum"),
        (FIVE, '["1/2", [1]]', '["2/3", [1]]', 28, "a margin below 1, or a slack multiplier"),
        (FIVE, '"samples": [5]', '"samples": [1]', 25, "facts.prefix_closed: these samples"),
        (CIRCLE, '"samples": [6, 5]', '"samples": [5, 6]', 23, "facts.assumption_1: these samples"),
        (TWICE, '{"samples": [0, 3]', '{"samples": [0, 1]', 20, "collocation: these samples"),
    ],
)
def test_a_changed_certificate_is_refused_with_line_and_reason(
    page: Page, tmp_path: Path, case: Case, old: str, new: str, line: int, reason: str
) -> None:
    text = change(written(case, tmp_path), old, new)
    shown = judge(page, text)
    assert "✘ Not accepted" in shown
    assert f"Line {line}: " in shown
    assert reason in shown
    with pytest.raises(certificate.RefusedError) as refused:
        certificate.check(json.loads(text))
    assert str(refused.value) in shown
    assert "does not accept" in page.inner_text("#pg-status-certificate")
    page.click("#pg-verdict button")
    assert page.evaluate(PICKED) == text.split("\n")[line - 1]


def test_what_the_checker_says_is_legible_fits_a_phone_and_passes_axe(
    page: Page, tmp_path: Path
) -> None:
    text = written(FIVE, tmp_path)
    for one in (text, change(text, '"7/6"', '"6/5"')):
        judge(page, one)
        fits_and_passes_axe(page)


def test_a_file_is_checked_as_soon_as_it_is_chosen(page: Page, tmp_path: Path) -> None:
    text = written(FIVE, tmp_path)
    (tmp_path / "wrong.json").write_text(change(text, '"7/6"', '"6/5"'), encoding="utf-8")
    for name, said in (("written.json", "✔ Accepted"), ("wrong.json", "✘ Not accepted")):
        page.set_input_files("#pg-certificate-file", tmp_path / name)
        page.wait_for_selector(f"#pg-verdict :text('{said}')")
    page.set_input_files("#pg-certificate-file", tmp_path / "written.json")
    page.wait_for_selector("#pg-verdict :text('✔ Accepted')")
    assert page.input_value("#pg-certificate") == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no certificate yet"),
        (" \n", "There is no certificate yet"),
        ('{"format": ', "This is not JSON: Expecting value in line 1, column 12."),
        ("S V O P\nV O P\n", "This is not JSON: Expecting value in line 1, column 1."),
        ("[" * 100_000, "lists within lists without end"),
        ("9" * 5000, "a number too long to read"),
        (" " * 2_000_001, "at most 2000000 characters"),
    ],
)
def test_a_bad_text_gets_one_message(page: Page, text: str, message: str) -> None:
    assert judge(page, text) == ""
    assert message in page.inner_text("#pg-error-certificate")
    assert page.inner_text("#pg-status-certificate") == ""
    assert page.is_hidden("#pg-error")
    assert "✔ Accepted" in judge(page, json.dumps(MINIMAL)), "the next one is checked"
    assert page.is_hidden("#pg-error-certificate")


# By hand: two next tokens of a.
MINIMAL = {
    "format": certificate.FORMAT,
    "vocabulary": ["a"," b"],
    "lines": [[0, 0], [0, 1]],
    "samples": [[0, 1, 1], [1, 1, 1]],
    "collocation": {"samples": [0, 1], "tokens": []},
}  # fmt: skip


def test_a_file_that_is_no_text_gets_one_message(page: Page, tmp_path: Path) -> None:
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\xff\xfe")
    page.set_input_files("#pg-certificate-file", tmp_path / "picture.json")
    page.wait_for_selector("#pg-error-certificate:visible")
    assert "not text in UTF-8" in page.inner_text("#pg-error-certificate")
    assert page.inner_text("#pg-verdict") == ""


def test_names_in_a_certificate_are_no_html(page: Page) -> None:
    nasty = dict(MINIMAL, vocabulary=["<img src=x onerror=window.pwned=1>", "\ud800"])
    assert "✔ Accepted" in judge(page, json.dumps(nasty))
    named = {"<img src=x onerror=window.pwned=1>": 1}
    assert "means nothing here" in judge(page, json.dumps(dict(MINIMAL, **named)))
    assert page.evaluate("window.pwned") is None
    assert page.locator("#pg-verdict img").count() == 0


def test_it_works_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    page.evaluate(SET, [FIVE.form, FIVE.text])
    page.focus("#pg-save")
    with page.expect_download() as waiting:
        page.keyboard.press("Enter")
    waiting.value.save_as(tmp_path / "saved.json")
    page.fill("#pg-certificate", (tmp_path / "saved.json").read_text("utf-8"))
    page.focus("#pg-certificate-file")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "pg-certificate"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pg-verdict :text('✔ Accepted')")


def test_the_checker_in_the_page_is_the_file_that_runs_alone(
    browser: Browser, playground: str, tmp_path: Path
) -> None:
    name = "ntpcore/certificate.py"
    alone = Path(certificate.__file__).read_bytes()
    assert bundled_files()[name] == alone
    seen: list[bytes] = []

    def plant(route: Route) -> None:
        body = route.fetch().body()
        changed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(changed, "w") as new:
            for one in old.namelist():
                content = old.read(one)
                if one == name:
                    seen.append(content)
                    content = content.replace(b'need(shown, place, "', b'need(True, place, "')
                new.writestr(one, content)
        route.fulfill(body=changed.getvalue())

    context = browser.new_context()
    context.route("**/ntpcore.snapshot*", lambda route: route.fulfill(status=404))
    context.route("**/ntpcore.zip*", plant)
    planted = context.new_page()
    planted.goto(playground)
    planted.wait_for_selector("#pg-check-certificate:visible")
    false = change(written(TWICE, tmp_path), '{"samples": [0, 3]', '{"samples": [0, 1]')
    assert "✔ Accepted" in judge(planted, false), "a checker without this line accepts it"
    assert seen == [alone]
    context.close()


def test_lists_within_lists_are_counted_and_texts_are_not(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    for text, message in (
        ('{"a":' * 21 + "1" + "}" * 21, "without end"),
        ("[0," * 21 + "1" + "]" * 21, "without end"),
        ('["' + "[" * 30 + '\\"' + "{" * 30 + '"', "Expecting ',' delimiter"),
        ("[[]," * 30, "without end"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            certificates.check(str(path))
    path.write_text("[" + "[]," * 30 + "[]]", encoding="utf-8")
    assert certificates.check(str(path))["refusal"] == "certificate: not an object"


def test_the_line_of_a_refusal_is_found_in_any_layout() -> None:
    text = '\n{"a\\"b": [1,\n {"c": [], "d": "]"},\n[2]] ,\n "e": 7}'
    assert certificates.line_of(text, "certificate: 'f' is missing") == 2
    assert certificates.line_of(text, 'a"b[1].d: wrong') == 3
    assert certificates.line_of(text, 'a"b[2][0]: wrong') == 4
    assert certificates.line_of(text, 'a"b[7]: wrong') == 2
    assert certificates.line_of(text, "e.f[0]: wrong") == 5


def test_no_error_was_logged(page: Page, trouble: list[str]) -> None:
    assert page.is_visible("#pg-save")
    assert trouble == []
