"""The playground in a real browser: the same answers as the command line, from any input."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import (
    AXE,
    NARROW,
    OVERFLOW,
    WIDE,
    fits_and_passes_axe,
    hear_trouble,
)
from playground_cases import BUSY, MALFORMED, NASTY, PRESETS, Case, Said, command, random_cases
from playwright.sync_api import Browser, Page, Route

from ntpplayground.wording import plainly

ROOT = Path(__file__).resolve().parents[2]
RANDOM = 30
FIVE = 1  # place of the five tokens among the presets

# Put a text in, press Check, and hand back what the page says once it is done.
ASK = f"""async ([form, text]) => {{
  const at = name => document.getElementById('pg-' + name);
  at('text').value = text;
  document.querySelector(`input[name=pg-form][value=${{form}}]`).checked = true;
  at('check').click();
  while ({BUSY}) await new Promise(done => setTimeout(done, 20));
  const place = document.querySelector('.pg-json');
  if (place) {{
    place.closest('details').open = true;
    while (!place.textContent) await new Promise(done => setTimeout(done, 10));
  }}
  return {{
    json: place && place.textContent,
    error: at('error').hidden ? null : at('error').querySelector('bdi').textContent,
    status: at('status').textContent,
  }};
}}"""

# Stops what plays between two frames, so that no message has to arrive before the last one.
# Press Play, and press it again after three pictures.
STOP_ON_THE_WAY = """() => new Promise(done => {
  const step = document.querySelector('.pg-step'), play = document.querySelector('.pg-play');
  let pictures = 0;
  new MutationObserver((_, watch) => {
    pictures += 1;
    if (pictures < 3) return;
    watch.disconnect();
    play.click();
    done();
  }).observe(step, { childList: true, characterData: true, subtree: true });
  play.click();
})"""
# From now on the page knows which of its intervals still run.
KEEP_INTERVALS = """() => {
  const { setInterval: begin, clearInterval: end } = window;
  window.ntpIntervals = new Set();
  window.setInterval = (...given) => {
    const number = begin(...given);
    window.ntpIntervals.add(number);
    return number;
  };
  window.clearInterval = number => {
    window.ntpIntervals.delete(number);
    end(number);
  };
}"""
# Change the fragment of the address, and wait until all listeners have heard it.
FOLLOW = """fragment => new Promise(done => {
  addEventListener('hashchange', () => setTimeout(done), { once: true });
  location.hash = fragment;
})"""


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """Every address that the page asked for."""
    return []


@pytest.fixture(scope="module")
def page(
    browser: Browser, playground: str, requests: list[str], trouble: list[str]
) -> Iterator[Page]:
    """The page with its engine loaded, once for all tests; opened by a link to a preset."""
    context = browser.new_context(viewport=WIDE)
    opened = context.new_page()
    opened.on("request", lambda request: requests.append(request.url))
    hear_trouble(opened, trouble)
    opened.goto(playground)
    opened.wait_for_selector("#pg-check:visible")
    opened.goto(f"{playground}#preset=five-tokens")
    opened.wait_for_selector("#pg-result h3")
    yield opened
    context.close()


def seen(page: Page, case: Case) -> dict[str, str | None]:
    """What the page says of a case."""
    found: dict[str, str | None] = page.evaluate(ASK, [case.form, case.text])
    return found


def agrees(found: dict[str, str | None], said: Said) -> bool:
    """Whether the page says what the command line said."""
    if said.code == 2:
        return (found["json"], found["error"]) == (None, plainly(said.err.removesuffix("\n")))
    return (found["json"], found["error"]) == (said.out, None)


FILLS = """() => {
  const part = name => getComputedStyle(document.querySelector(`#pg-result svg ${name}`));
  const box = part("rect");
  return [box.fill, part("text").fill, box.stroke, part(".pg-line").stroke, "none"];
}"""


def test_a_preset_opens_by_its_link_and_tells_why_proposition_2_fails(page: Page) -> None:
    assert "fails under 1 query" in page.inner_text("#pg-status")
    shown = page.inner_text("#pg-result")
    for part in ("6/5", "7/6", "S = {b}", "N(S) = {q}", "which is less than m |S|"):
        assert part in shown
    place = shown.index("Where the closed form fails")
    assert place < shown.index("Collocation"), "what most readers look for comes first"
    assert page.locator("#pg-result svg text").first.is_visible()
    fills = page.evaluate(FILLS)
    assert len(set(fills)) == len(fills), "signs, letters and lines of an order can be told apart"


COUNT_WORKERS = """
window.workers = 0;
window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    window.workers += 1;
  }
};
"""
SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } });"
# Idle callbacks run in the order in which they were asked for, so the page's own has run by then.
IDLE = "() => new Promise(done => requestIdleCallback(() => done(window.workers)))"


@pytest.mark.parametrize(("given", "loaded"), [(COUNT_WORKERS, 1), (COUNT_WORKERS + SAVES_DATA, 0)])
def test_python_is_loaded_before_it_is_asked_unless_the_reader_saves_data(
    browser: Browser, playground: str, given: str, loaded: int
) -> None:
    context = browser.new_context()
    context.add_init_script(given)
    page = context.new_page()
    page.goto(playground)
    page.wait_for_selector("#pg-check:visible")
    assert page.evaluate(IDLE) == loaded
    assert "Loading" not in page.inner_text("#pg-status"), (
        "nothing is said of what nobody asked for"
    )
    assert page.is_hidden("#pg-progress")
    page.click("#pg-check")
    page.wait_for_selector("#pg-result h3")
    assert page.evaluate("window.workers") == 1, (
        "the engine that was loaded is the one that answers"
    )
    context.close()


def test_the_engine_starts_from_its_snapshot(page: Page, requests: list[str]) -> None:
    seen(page, PRESETS[0])
    assert [one for one in requests if "ntpcore.snapshot.packed" in one]
    assert not [one for one in requests if "ntpcore.zip" in one], "which a browser falls back to"


# Two texts in different elements, on one line, with nothing between them.
GLUED = """() => {
  const found = [];
  const texts = [];
  for (const root of document.querySelectorAll('.pg-root')) {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode;
      if (!node.data.trim() || node.parentElement.closest('script, textarea, svg')) continue;
      const range = document.createRange(); // without white space, which may not be drawn
      range.setStart(node, node.data.length - node.data.trimStart().length);
      range.setEnd(node, node.data.trimEnd().length);
      const places = [...range.getClientRects()].filter(place => place.width > 0);
      if (places.length) texts.push({ node, first: places[0], last: places.at(-1) });
    }
  }
  for (let at = 1; at < texts.length; at += 1) {
    const [one, two] = [texts[at - 1], texts[at]];
    if (one.node.parentElement === two.node.parentElement) continue;
    const touch = Math.abs(two.first.left - one.last.right) < 1.5;
    const oneLine = Math.abs(two.first.bottom - one.last.bottom) < 8;
    const end = one.node.data.slice(-20), begin = two.node.data.slice(0, 20);
    const letters = /[\\p{L}\\p{N}]\\s*$/u.test(end) && /^[\\p{L}\\p{N}]/u.test(begin);
    if (touch && oneLine && letters) found.push(`${end}|${begin}`);
  }
  return found;
}"""
PLANT_GLUE = """() => document.querySelector('#pg-prediction').insertAdjacentHTML('beforeend',
  '<p><label style="display: inline-block">Step of training </label><output>step 0</output>')"""
FOUR = Case(
    "text",
    "The cat sat on the mat.\nThe dog sat on the rug.\n"
    "A bird sang in the tree.\nThe cat ran to the tree.\n",
)
COMMAND_LINE = re.compile(r"\bntpcore\b|(?<!\S)--[a-z]|sentences\.txt|samples\.jsonl")


def test_four_natural_sentences_are_answered_trained_on_and_edited(page: Page) -> None:
    seen(page, FOUR)
    page.locator(".pg-json").evaluate("node => { node.closest('details').open = false; }")
    answer = page.inner_text("#pg-result")
    assert "1 read off your sentences, 11 inferred, 3 without a next token" in answer
    learned, far = (
        answer.index(f"{part} ") for part in ("What attention learns", "How far the data are")
    )
    assert learned < far
    assert "65.0% (13) by the last token, the query itself" in answer
    assert "20.0% (4) have a next token that is n of no token of their sentence" in answer
    assert "13 tokens start no sentence" in answer
    assert not COMMAND_LINE.search(answer)
    assert page.evaluate(GLUED) == []
    page.fill("#pg-sentence", "The cat sat")
    page.fill("#pg-steps", "100")
    page.click("#pg-ask")
    page.wait_for_selector("#pg-prediction table")
    assert "on all samples, although Assumption 1 fails" in page.inner_text("#pg-status-ask")
    assert page.inner_text("#pg-status-ask").endswith("The next token is “on”.")
    told = page.inner_text("#pg-prediction")
    assert "Theorems 1, 2, and 3 of the paper presume it, so they do not apply" in told
    page.click("#pg-turn")
    page.wait_for_selector(".pg-slider")
    assert page.evaluate(GLUED) == []
    page.evaluate(PLANT_GLUE)
    assert page.evaluate(GLUED) == ["Step of training |step 0"]
    page.click("#pg-edit-map")
    assert page.evaluate("document.activeElement.id") == "pg-map"
    assert "the → tree." in page.input_value("#pg-map").split("\n")
    page.fill("#pg-map", page.input_value("#pg-map").replace("the → tree.", "the -> mat."))
    page.wait_for_selector("#pg-next-tokens :text('the → mat. (yours)')")
    assert "10 inferred, 1 yours" in page.inner_text("#pg-next-tokens")
    assert "next=the%20-%3E%20mat.&" in page.evaluate("location.hash")
    fits_and_passes_axe(page)
    page.fill("#pg-map", "the one two\n")
    page.wait_for_selector("#pg-error:visible")
    assert "Next tokens: the line 'the one two' is not a token" in page.inner_text("#pg-error")
    page.click("#pg-infer")
    page.wait_for_selector("#pg-next-tokens :text('the → tree.')")
    assert "the → tree." in page.input_value("#pg-map").split("\n")
    assert "next=" not in page.evaluate("location.hash")
    page.fill("#pg-steps", "900")


def test_next_tokens_of_the_reader_come_back_by_a_link(browser: Browser, playground: str) -> None:
    page = browser.new_page()
    text = quote("a b\na b c\n")
    page.goto(f"{playground}#form=text&next={quote('b → a')}&text={text}")
    page.wait_for_selector("#pg-next-tokens :text('b → a (yours)')")
    assert "b → a" in page.input_value("#pg-map").split("\n")
    page.close()


def test_a_table_says_which_column_was_read(page: Page) -> None:
    seen(page, Case("text", 'text,label\n"The cat sat, then slept",1\nA dog ran,0\n'))
    assert "Its column “text” was used, 2 sentences" in page.inner_text("#pg-table-note")
    shown = page.inner_text("#pg-next-tokens")
    assert "sat, → then" in shown
    assert "label" not in shown


@pytest.mark.parametrize("kind", ["presets", "nasty", "random", "malformed"])
def test_answers_are_those_of_the_command_line(page: Page, tmp_path: Path, kind: str) -> None:
    cases = {
        "presets": PRESETS,
        "nasty": NASTY,
        "random": random_cases(RANDOM),
        "malformed": [case for case in MALFORMED if "\\ud800" not in case.text],
    }[kind]
    broken = [
        case for case in cases
        if not agrees(seen(page, case), command(tmp_path, "check", case, "--json"))
    ]  # fmt: skip
    assert broken == []
    assert page.evaluate("window.pwned") is None
    assert page.locator("#pg-root img, #pg-result script").count() == 0


def test_an_error_planted_in_what_is_served_is_noticed(
    browser: Browser, playground: str, tmp_path: Path
) -> None:
    def plant(route: Route) -> None:
        body = route.fetch().body()
        changed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(changed, "w") as new:
            for name in old.namelist():
                content = old.read(name)
                if name == "ntpcore/data/dataset.py":
                    assert b"len(line.tokens) - start)" in content
                    content = content.replace(b"- start)", b"- start + 1)")
                new.writestr(name, content)
        route.fulfill(body=changed.getvalue())

    context = browser.new_context()
    context.route("**/ntpcore.snapshot*", lambda route: route.fulfill(status=404))
    context.route("**/ntpcore.zip*", plant)
    planted = context.new_page()
    planted.goto(playground)
    found = seen(planted, PRESETS[FIVE])
    context.close()
    assert found["json"] is not None
    assert not agrees(found, command(tmp_path, "check", PRESETS[FIVE], "--json"))


def test_the_trained_model_answers_as_the_command_line(page: Page, tmp_path: Path) -> None:
    seen(page, PRESETS[0])
    page.fill("#pg-sentence", "O S P")
    page.press("#pg-sentence", "Enter")
    page.wait_for_selector("#pg-prediction table")
    cells = page.locator("#pg-prediction table").nth(1).locator("tbody tr").all_inner_texts()
    shown = {token: float(value) for token, value in (row.split("\t") for row in cells)}
    said = command(tmp_path, "predict", PRESETS[0], "--sentence", "O S P", "--json")
    theirs = json.loads(said.out)["probabilities"]
    assert shown == {token: pytest.approx(value, rel=5e-3) for token, value in theirs.items()}
    assert page.inner_text("#pg-status-ask").endswith("The next token is “P”.")
    page.fill("#pg-sentence", "O X")
    page.click("#pg-ask")
    page.wait_for_selector("#pg-error-ask:visible")
    refused = command(tmp_path, "predict", PRESETS[0], "--sentence", "O X", "--json")
    assert page.inner_text("#pg-error-ask bdi") == plainly(refused.err.strip())


TOLD = "part => document.getElementById('pg-status').textContent.includes(part)"
BARS = """() => [...document.querySelectorAll('#pg-prediction tbody tr')].map(row =>
  [...row.querySelectorAll('.pg-bar-number')].map(number => Number(number.textContent)))"""
DRAWN = """() => [...document.querySelectorAll('#pg-prediction tbody tr')].map(row =>
  [...row.querySelectorAll('.pg-bar-track')].map(track =>
    track.firstChild.getBoundingClientRect().width / track.clientWidth))"""


def test_a_text_that_is_not_realizable_is_made_so(page: Page, tmp_path: Path) -> None:
    seen(page, PRESETS[0])
    assert page.locator("#pg-repair").count() == 0, "nothing to repair where Assumption 1 holds"
    seen(page, PRESETS[3])
    page.focus("#pg-repair")
    page.keyboard.press("Enter")
    page.wait_for_function(TOLD, arg="Kept 4 of 8")
    said = json.loads(command(tmp_path, "repair", PRESETS[3], "--greedy", "--json").out)
    shown = page.locator(".pg-dropped > li").all_inner_texts()
    assert len(shown) == len(said["dropped"])
    for one, text in zip(said["dropped"], shown, strict=True):
        head = f"{' '.join(one['sentence'])} → {one['next']}: "
        unmade = f"no token has the next token {one['next']!r} in the kept part"
        assert text.startswith((head + one["reason"], head + unmade))
        assert text.endswith(f"show line {one['line']}")
    pairs = page.locator(".pg-pairs li").all_inner_texts()
    assert len(pairs) == len(said["collocation"])
    for (a, b), shown_pair in zip(said["collocation"].items(), pairs, strict=True):
        assert shown_pair.removesuffix(" (inferred)") in (f"{a} → {b}", f"{a} ○ has no next token")
    assert "✔ Assumption 1 (realizable) holds" in page.inner_text("#pg-result")
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.locator(".pg-dropped .pg-small").first.click()
    picked = "(t => t.value.slice(t.selectionStart, t.selectionEnd))(document.activeElement)"
    assert page.evaluate(picked) == "the dog sat up"
    fits_and_passes_axe(page)


def test_attention_over_steps_moves_by_keyboard_and_ends_at_the_trained_model(
    page: Page,
) -> None:
    seen(page, PRESETS[FIVE])
    page.fill("#pg-steps", "900")
    page.fill("#pg-sentence", "a b q")
    page.click("#pg-ask")
    page.wait_for_selector("#pg-prediction table")
    table = page.locator("#pg-prediction table").first.locator("tbody tr").all_inner_texts()
    trained = [float(row.split("\t")[1]) for row in table]
    page.click("#pg-turn")
    slider = page.wait_for_selector(".pg-slider")
    assert slider is not None
    third = [pytest.approx(1 / 3, abs=6e-4)] * 2
    assert page.evaluate(BARS) == [third, third, third]
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "step 30 of 900"
    first = page.evaluate(BARS)
    assert first[0][0] > 0.34 > first[1][0], "a is ahead of b"
    page.keyboard.press("End")
    assert page.inner_text(".pg-step") == "step 900 of 900"
    last = page.evaluate(BARS)
    assert [row[0] for row in last] == [pytest.approx(one, abs=6e-4) for one in trained]
    assert page.evaluate(DRAWN) == [[pytest.approx(x, abs=0.02) for x in row] for row in last]
    page.evaluate(KEEP_INTERVALS)
    page.evaluate(STOP_ON_THE_WAY)
    assert page.evaluate("window.ntpIntervals.size") == 0, "it moves no more"
    assert page.inner_text(".pg-step") == "step 60 of 900"
    page.evaluate("() => document.querySelector('.pg-play').click()")
    assert page.evaluate("window.ntpIntervals.size") == 1
    page.click(".pg-play")
    fits_and_passes_axe(page)


def test_the_address_holds_the_text_and_brings_it_back(page: Page) -> None:
    case = Case("chars", "猫犬猫\n犬猫 #&=%?\n🐈<img>\n")
    page.fill("#pg-sentence", "犬 猫")
    seen(page, case)
    link = page.evaluate("location.hash")
    assert link == f"#form=chars&sentence={quote('犬 猫')}&text={quote(case.text)}"
    page.fill("#pg-sentence", "")
    seen(page, PRESETS[0])
    page.evaluate("link => { location.hash = link; }", link)
    page.wait_for_function(
        "text => document.getElementById('pg-text').value === text", arg=case.text
    )
    assert page.is_checked("input[value=chars]")
    assert page.input_value("#pg-sentence") == "犬 猫"


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("form=text&text=%E4%A", "The address is damaged"),
        ("form=words&text=a", "form as one of text, chars, jsonl"),
        ("form=text", "must name a text"),
        ("form=text&form=text&text=a", "not one that this page wrote"),
        ("form=text&text=a&color=red", "not one that this page wrote"),
        ("preset=none", "names a preset that there is not"),
        ("<img src=x onerror=window.pwned=1>=", "not one that this page wrote"),
        ("no-such-place", "a place that this page does not have"),
        (f"form=text&text={'a' * 20001}", "more text than this page takes"),
    ],
)
def test_a_bad_address_is_told_and_changes_nothing(page: Page, fragment: str, message: str) -> None:
    before = page.input_value("#pg-text")
    page.evaluate("link => { location.hash = link; }", fragment)
    page.wait_for_function(
        "text => document.getElementById('pg-error').textContent.includes(text)", arg=message
    )
    assert page.input_value("#pg-text") == before
    assert page.evaluate("window.pwned") is None


def test_a_link_to_a_heading_is_no_bad_address(page: Page) -> None:
    seen(page, PRESETS[0])
    page.evaluate(FOLLOW, "how-it-works")
    assert page.is_hidden("#pg-error")


def test_a_text_that_is_too_long_is_refused_with_what_helps(page: Page) -> None:
    found = seen(page, Case("text", "a b\n" * 5001))
    assert found["json"] is None
    assert "20004 characters, and this page takes 20000" in str(found["error"])
    assert "The package has no such limit" in str(found["error"])
    assert "ntpcore check" not in page.inner_text("article")


def test_typing_checks_by_itself_and_a_key_checks_at_once(page: Page) -> None:
    seen(page, PRESETS[0])
    page.fill("#pg-text", "")
    page.locator("#pg-text").press_sequentially("a b\nb a\na b b")
    page.wait_for_function("document.getElementById('pg-status').textContent.includes('2 tokens')")
    page.fill("#pg-text", "a b\nb c\nc a\n")
    page.press("#pg-text", "Control+Enter")
    page.wait_for_function("document.getElementById('pg-status').textContent.includes('3 tokens')")


def test_it_opens_with_example_1_and_tells_the_form_of_a_text_by_itself(
    browser: Browser, playground: str
) -> None:
    page = browser.new_page()
    page.goto(playground)
    assert page.input_value("#pg-text") == PRESETS[0].text
    assert page.is_checked("input[value=text]")
    page.fill("#pg-text", "abab\nba\n")
    assert page.is_checked("input[value=chars]"), "typed over the example"
    for text, form in (
        ("the cat sat\nthe dog ran\n", "text"),
        ("abcab\nbca\n", "chars"),
        ('{"sentence": ["a"], "next": "b"}\n', "jsonl"),
        ("a {b} c\nabc\n", "text"),
    ):
        page.fill("#pg-text", "")
        page.fill("#pg-text", text)
        assert page.is_checked(f"input[value={form}]"), text
    page.check("input[value=chars]")
    page.fill("#pg-text", "a b\nb a\n")
    assert page.is_checked("input[value=chars]"), "what the reader says stays"
    page.close()


def test_everything_can_be_done_from_the_keyboard(page: Page) -> None:
    page.focus("#pg-presets button")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('pg-status').textContent.includes('4 tokens')")
    order = []
    for _ in range(20):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.id || document.activeElement.textContent")
        order.append(name)
        if name == "pg-copy":
            break
    places = [order.index(name) for name in ("Two next tokens", "pg-text", "pg-check", "pg-copy")]
    assert places == sorted(places)
    seen(page, PRESETS[3])
    page.locator(".pg-small:text('show line')").first.focus()
    page.keyboard.press("Enter")
    picked = "(t => t.value.slice(t.selectionStart, t.selectionEnd))(document.activeElement)"
    assert page.evaluate(picked) == "the cat sat down"


def test_what_breaks_an_assumption_is_marked_in_the_text(page: Page) -> None:
    seen(page, PRESETS[3])
    assert page.locator("mark.pg-next").all_inner_texts()[:2] == ["cat", "dog"]
    assert "→ dog: collocation ambiguous" in page.inner_text(".pg-lines")
    seen(page, PRESETS[2])
    assert page.locator(".pg-line.pg-back").count() == 1
    label = page.get_attribute("svg.pg-order", "aria-label")
    assert "rock above ? and scissors" in str(label)


@pytest.mark.parametrize("place", range(len(PRESETS)))
def test_answers_fit_a_phone_are_legible_and_pass_axe(page: Page, place: int) -> None:
    assert AXE.is_file(), "run make setup"
    seen(page, PRESETS[place])
    page.evaluate(
        "document.querySelectorAll('#pg-result details').forEach(d => { d.open = true; })"
    )
    fits_and_passes_axe(page)


def test_long_tokens_do_not_break_the_layout(page: Page) -> None:
    page.set_viewport_size(NARROW)
    for case in NASTY:
        seen(page, case)
        assert page.evaluate(OVERFLOW) == 0
    page.set_viewport_size(WIDE)


def test_print_has_the_answer_and_no_buttons(page: Page) -> None:
    seen(page, PRESETS[FIVE])
    page.emulate_media(media="print")
    assert page.is_visible("#pg-result .pg-table")
    assert not page.is_visible("#pg-check")
    page.emulate_media(media="screen")
    assert page.is_visible("#pg-check")


# An engine that never hears a question has no answer to it, however fast the machine is.
DEAF = """() => {
  window.heard = Worker.prototype.postMessage;
  Worker.prototype.postMessage = () => {};
}"""
HEARING = "() => { Worker.prototype.postMessage = window.heard; }"


def test_a_time_limit_and_a_stop_end_the_engine_and_the_next_question_starts_it(
    page: Page, tmp_path: Path
) -> None:
    limits = """([checkSeconds, askSeconds]) => {
      Object.assign(document.getElementById('pg-root').dataset, {checkSeconds, askSeconds});
    }"""
    said = command(tmp_path, "check", PRESETS[FIVE], "--json")
    usual = page.evaluate(
        "() => { const { checkSeconds, askSeconds } = document.getElementById('pg-root').dataset;"
        " return [checkSeconds, askSeconds]; }"
    )
    seen(page, PRESETS[FIVE])
    page.evaluate(DEAF)
    page.evaluate(limits, [0.01, 0.05])
    page.click("#pg-check")
    page.wait_for_selector("#pg-error:visible")
    assert "Stopped after 0.01 seconds" in page.inner_text("#pg-error")
    page.evaluate(HEARING)
    page.evaluate(limits, usual)
    assert agrees(seen(page, PRESETS[FIVE]), said)
    page.evaluate(DEAF)
    page.evaluate(limits, [0.01, 0.05])
    page.fill("#pg-sentence", "1 2")
    page.fill("#pg-steps", "5000")
    page.click("#pg-ask")
    page.wait_for_selector("#pg-error-ask:visible")
    assert "Stopped after 0.05 seconds" in page.inner_text("#pg-error-ask")
    page.evaluate(limits, usual)
    page.fill("#pg-sentence", "")
    page.click("#pg-check")
    page.click("#pg-stop")
    assert page.inner_text("#pg-status") == "Stopped."
    assert page.inner_text("#pg-result") == ""
    page.evaluate(HEARING)
    assert agrees(seen(page, PRESETS[FIVE]), said)


def test_nothing_was_asked_of_other_machines_and_no_error_was_logged(
    page: Page, requests: list[str], trouble: list[str], book_address: str
) -> None:
    assert page.url.startswith(book_address)
    assert [one for one in requests if not one.startswith((book_address, "blob:", "data:"))] == []
    assert trouble == []


def test_opened_as_a_file_it_says_what_to_do(browser: Browser, book: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((book.resolve() / "book" / "playground.html").as_uri() + "#preset=cycle")
    assert "make serve" in page.inner_text("#pg-file")
    assert page.is_disabled("#pg-check")
    assert errors == []
    context.close()


def test_without_scripts_the_command_is_named(browser: Browser, playground: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(playground)
    assert "ntpcore check sentences.txt" in page.inner_text("noscript")
    assert page.is_hidden("#pg-root")
    context.close()


def test_an_engine_that_cannot_be_loaded_is_told(browser: Browser, playground: str) -> None:
    context = browser.new_context()
    context.route("**/engine/sizes.json*", lambda route: route.fulfill(status=404))
    page = context.new_page()
    page.goto(playground)
    found = seen(page, PRESETS[0])
    assert "The engine in your browser failed" in str(found["error"])
    assert "or use the package" in str(found["error"])
    assert "ntpcore check" not in page.inner_text("article")
    context.close()
