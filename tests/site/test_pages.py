"""Claims, checks, pages and tests are one to one; pages and modules keep the rules of the house."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts import graph
from ntpverdicts.claims import Claim, certainty_words
from ntpverdicts.imports import imported_names
from ntpverdicts.ledger import count_verdicts
from tools.pipeline import consistency
from tools.pipeline.consistency import label_of_test, mismatches, names_of_functions, typed_counts
from tools.pipeline.outputs import Found, read_checks
from tools.pipeline.source import OURS, code_cells, evidence_of, shown_statements
from tools.site.html import name_fold, toc_pages
from tools.site.inspect_site import Page, missing_controls, off_site, problems, wrong_checks
from tools.site.page_text import page_prose, plain

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.md"))
MODULES = sorted(path for name in OURS for path in (ROOT / name).rglob("*.py"))
CHECKED = [claim for claim in CATALOGUE if claim.page is not None]
LONGEST_CELL = 15  # of one that a reader sees


FOLD = re.compile(
    r'<p class="collapsed admonition-title">([^<]*)</p>\s*<p class="expanded [^>]*>([^<]*)</p>'
)


@pytest.mark.parametrize("name", ["huang2024_s5_stage2", "tian2023_long_times", "long_run"])
def test_a_fold_says_what_is_in_it(book: Path, name: str) -> None:
    folds = FOLD.findall((book / f"pages/{name}.html").read_text(encoding="utf-8"))
    assert folds[0] == ("Show setup", "Hide setup")
    assert set(folds[1:]) == {("Show source", "Hide source")}


def test_a_fold_that_is_neither_keeps_its_name() -> None:
    for tags, source, shown in (
        (["parameters"], "seed = 7", "Show parameters"),
        (["hide-input"], "from a import b\n\nuse(b)", "Show imports"),
        (["hide-input"], "fromage = 1", None),
    ):
        cell = {"cell_type": "code", "metadata": {"tags": tags}, "source": [source]}
        name_fold(cell)
        assert cell["metadata"].get("mystnb", {}).get("code_prompt_show") == shown
    text = {"cell_type": "markdown", "metadata": {}, "source": "from here on"}
    name_fold(text)
    assert text["metadata"] == {}


# Mathematics


@pytest.mark.parametrize(
    "path", NOTEBOOKS + sorted((ROOT / "book").glob("*.md")), ids=lambda p: p.stem
)
def test_every_display_formula_ends_as_it_began(path: Path) -> None:
    assert not unbalanced(path.read_text(encoding="utf-8"))


def unbalanced(text: str) -> list[str]:
    """Signs that open a display formula within another, or close one that is not open."""
    begin, end = r"\begin{equation*}", r"\end{equation*}"
    faults, opened = [], ""
    for sign in re.findall(r"\$\$|\\(?:begin|end)\{equation\*\}", text):
        if (opened, sign) in (("$$", "$$"), (begin, end)):
            opened = ""
        elif opened or sign == end:
            faults.append(f"{sign} after {opened or 'nothing'}")
        else:
            opened = sign
    return faults + ([f"left open: {opened}"] if opened else [])


def test_the_search_for_unbalanced_formulas_can_find_some() -> None:
    assert unbalanced("$$\nx\n\\end{equation*}")
    assert unbalanced("\\begin{equation*}\nx\n$$")
    assert not unbalanced("$$\nx\n$$\n\n\\begin{equation*}\nx\n\\end{equation*}")


# One to one


def test_catalogue_checks_pages_and_tests_are_one_to_one() -> None:
    assert mismatches(CATALOGUE, ROOT) == []


def test_the_program_says_what_does_not_match(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert consistency.main() == 0
    monkeypatch.setattr(consistency, "CATALOGUE", CATALOGUE[1:])
    assert consistency.main() == 1
    assert f"{CATALOGUE[0].function} checks no claim of the catalogue" in capsys.readouterr().out


def test_every_kind_of_mismatch_is_noticed(tmp_path: Path) -> None:
    files = {
        "ntpbook/a.py": "def check_ours_a(): ...\n",
        "notebooks/page.md": ":::{prf:theorem} A\n:label: ours-a\n:::\n",
        "tests/test_a.py": "def test_ours_a_by_hand(): ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    a, b = Claim("ours-a", "A", "a", "here", "page"), Claim("ours-b", "B", "b", "here", "page")
    assert mismatches([a, Claim("ours-c", "C", "c", "here")], tmp_path) == []
    assert mismatches([], tmp_path) == [
        "check_ours_a checks no claim of the catalogue",
        "page page states ours-a, which the catalogue does not place there",
    ]
    assert mismatches([a, b], tmp_path) == [
        "ours-b: 0 functions check_ours_b, not one",
        "page page states ours-b 0 times, not once",
        "ours-b: no test bears its name (test_ours_b_...)",
    ]
    lost = replace(a, page="lost")
    assert "there is no notebooks/lost.md, which ntpbook/catalogue.py names" in mismatches(
        [lost], tmp_path
    )
    (tmp_path / "notebooks/other.md").write_text(files["notebooks/page.md"], encoding="utf-8")
    assert "does not place there" in mismatches([a], tmp_path)[0]


def test_a_typed_count_of_claims_is_refused(tmp_path: Path) -> None:
    for text in ("Of 282 claims some hold.", "Here, 5 are open.", "It rests on 3 steps\nby hand."):
        assert len(typed_counts(text)) == 1, text
    for text in ("What Theorem 2 claims of both.", "Of {tally}`all` claims", "Lemma 7 proved it."):
        assert typed_counts(text) == [], text
    (tmp_path / "README.md").write_text("Of 282 claims 166 are proved.", encoding="utf-8")
    assert mismatches([], tmp_path) == [
        "README.md: the count '282 claims' is typed; write it with the role tally",
        "README.md: the count '166 are proved' is typed; write it with the role tally",
    ]


def test_the_longest_label_claims_a_test() -> None:
    labels = ["ours-a", "ours-a-corrected"]
    assert label_of_test("test_ours_a_corrected_by_hand", labels) == "ours-a-corrected"
    assert label_of_test("test_ours_a_by_hand", labels) == "ours-a"
    assert label_of_test("test_ours_ab", labels) is None


# The built book


def test_the_built_book_holds_everything(book: Path) -> None:
    found = read_checks(ROOT / "pages")
    names = [path.stem for path in NOTEBOOKS]
    assert problems(book, toc_pages(ROOT / "_toc.yml"), names, CATALOGUE, found) == []
    assert len(found) == len(CHECKED)


def test_what_the_book_lacks_is_noticed(book: Path, tmp_path: Path) -> None:
    claim = Claim("ours-x", "X", "x", "here", "page")
    planned = Claim("ours-y", "Y", "y", "here")
    right = Found("page", {"label": "ours-x"})
    assert wrong_checks([claim, planned], [right]) == []
    assert "not 0" in wrong_checks([claim], [])[0]
    assert "not 2" in wrong_checks([claim], [right, right])[0]
    assert "belongs on page" in wrong_checks([claim], [Found("other", {"label": "ours-x"})])[0]
    assert "planned only" in wrong_checks([planned], [Found("page", {"label": "ours-y"})])[0]
    assert "no catalogued claim" in wrong_checks([], [right])[0]
    (tmp_path / "a.css").write_text("@import url('https://elsewhere.example/a.css')", "utf-8")
    assert off_site(tmp_path) == ["a.css fetches https://elsewhere.example/a.css"]
    missing = problems(tmp_path, ["book/preface"], ["lost"], [], [])
    assert any("page book/preface is missing" in text for text in missing)
    assert any("notebook lost is not in _toc.yml" in text for text in missing)
    assert any("index.html" in text for text in missing)


def test_every_checked_claim_shows_its_planted_errors_collapsed(book: Path) -> None:
    names = {claim.page for claim in CHECKED}
    pages = {n: Page((book / f"pages/{n}.html").read_text(encoding="utf-8")) for n in names}
    for claim in CHECKED:
        assert missing_controls(claim, pages[claim.page]) == []


def test_a_control_that_is_missing_or_open_is_noticed() -> None:
    claim = Claim("ours-x", "X", "x", "here", "page")
    card = '<div id="verdict-ours-x"><dl><dt>Evidence</dt></dl>{}</div>'
    control = (
        "<details><summary>How</summary><p>Words.</p>"
        '<div class="ntp-part">It noticed a planted error</div><p>Planted.</p>'
        '<div class="ntp-part">What it rests on</div><p>Nothing.</p></details>'
    )
    empty = control.replace("<p>Planted.</p>", "")
    other = f'<div id="verdict-ours-y">{empty}</div>'
    assert missing_controls(claim, Page(card.format(f"<div>{control}</div>"))) == []
    for html in (
        card.format(""),
        card.format("") + control,
        card.format("") + other,
        card.format(control.replace(' class="ntp-part">It', ">It")),
        card.format(control.replace("<details", "<details open")),
        card.format(empty),
    ):
        assert missing_controls(claim, Page(html)) == [
            "page page does not show the planted errors of ours-x, collapsed"
        ], html


def test_the_start_page_leads_to_the_preface(book: Path) -> None:
    text = (book / "index.html").read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' in text.lower()
    assert "url=book/preface.html" in text


def test_claims_json_lists_the_catalogue_in_order(book: Path) -> None:
    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert [row["label"] for row in rows] == [claim.label for claim in CATALOGUE]
    assert [row["page"] for row in rows] == [claim.page for claim in CATALOGUE]
    planned = [row for row in rows if row["page"] is None]
    assert {(row["verdict"], row["evidence"]) for row in planned} <= {("open", "planned")}
    outer = re.sub(r" \([^)]*\)", "", count_verdicts(rows))  # without the kinds of proof
    assert sum(int(part.split()[0]) for part in outer.split(", ")) == len(CATALOGUE)
    inner = re.search(r"proved \(([^)]*)\)", count_verdicts(rows))
    assert inner is not None
    proved = sum(row["verdict"] == "proved" for row in rows)
    assert sum(int(part.split()[0]) for part in inner[1].split(", ")) == proved


def test_every_link_to_a_verdict_arrives(book: Path) -> None:
    targets = {claim.label: f"pages/{claim.page}" for claim in CHECKED}
    link = re.compile(r'href="([^"#]*)#verdict-([\w-]+)"')
    linked: set[str] = set()
    for name in toc_pages(ROOT / "_toc.yml"):
        page = book / f"{name}.html"
        for address, label in link.findall(page.read_text(encoding="utf-8")):
            arrives = (page.parent / address).resolve() if address else page.resolve()
            assert arrives == (book / f"{targets[label]}.html").resolve(), (name, label)
            linked.add(label)
    assert linked == set(targets), "the ledger links to every verdict"


def with_whole_badges(html: str) -> str:
    """A page whose badges are one text, without the part that tables on phones leave out."""
    return re.sub(r'<span class="ntp-how">([^<]*)</span>', r"\1", html)


def missing_badges(
    claims: list[Claim], verdicts: dict[str, str], known: dict[str, str], html: str
) -> list[str]:
    """Claims whose statement on a page bears no badge, or a wrong one.

    Args:
        claims: those of the page.
        verdicts: by label.
        known: by label, what follows the verdict: how it is known.
        html: the page.
    """
    titles = re.findall(r'<p class="admonition-title" id="([\w-]+)">(.*?)</p>', html, re.DOTALL)
    badge = re.compile(
        r'<span class="ntp-badge ntp-([\w-]+)"><a [^>]*href="[^"#]*#verdict-([\w-]+)"[^>]*>. '
        r"([^<]+)</a>"
    )
    found = {label: badge.findall(title) for label, title in titles}
    return [
        claim.label
        for claim in claims
        if found.get(claim.label)
        != [((v := verdicts[claim.label]).replace(" ", "-"), claim.label, v + known[claim.label])]
    ]


def test_every_statement_bears_its_verdict_as_a_badge(book: Path) -> None:
    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    verdicts = {row["label"]: row["verdict"] for row in rows}
    known = {row["label"]: certainty_words(row) for row in rows}
    for page in {claim.page for claim in CHECKED}:
        claims = [claim for claim in CHECKED if claim.page == page]
        html = with_whole_badges((book / f"pages/{page}.html").read_text(encoding="utf-8"))
        assert missing_badges(claims, verdicts, known, html) == []
        turned = {label: "proved" if v == "open" else "open" for label, v in verdicts.items()}
        assert len(missing_badges(claims, turned, known, html)) == len(claims)
        bare = dict.fromkeys(known, "")
        assert len(missing_badges(claims, verdicts, bare, html)) == sum(
            bool(known[claim.label]) for claim in claims
        )
        assert missing_badges(claims, verdicts, known, html.replace("ntp-badge", ""))


def test_every_figure_has_a_text_for_who_cannot_see_it(book: Path) -> None:
    without = [
        f"{name}: {tag}"
        for name in toc_pages(ROOT / "_toc.yml")
        for tag in re.findall(r"<img [^>]*>", (book / f"{name}.html").read_text(encoding="utf-8"))
        if "logo__image" not in tag
        and (not re.search(r'alt="[^"]+"', tag) or 'alt="../_images' in tag)
    ]
    assert without == []


def test_an_id_that_occurs_twice_is_counted_twice() -> None:
    assert Page('<p id="a"><b id="a">').ids["a"] == 2


# Pages


def page_faults(text: str, twins: Collection[str] = ()) -> list[str]:
    """What is wrong with a text notebook by the rules for pages.

    Args:
        text: the notebook.
        twins: functions that it may define, since a module has the same and a test compares both.
    """
    cells, faults = code_cells(text), []
    if sum("parameters" in cell.tags for cell in cells) != 1:
        faults.append("has not one parameters cell")
    for cell in cells:
        defined = re.findall(r"^\s*(?:async def|def|class)\b\s*(\w*)", cell.source, re.MULTILINE)
        if set(defined) - set(twins):
            faults.append(f"line {cell.line}: defines something, which belongs in ntpcore")
        if cell.visible and len(cell.source.splitlines()) > LONGEST_CELL:
            faults.append(f"line {cell.line}: has more than {LONGEST_CELL} lines")
    return faults


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_keep_the_rules(path: Path) -> None:
    # the first chapter shows its programs, which `test_whole_model.py` holds against `plain.py`
    twins = names_of_functions([ROOT / "ntpbook/ours/whole_model/plain.py"], "")
    shown = twins if path.stem == "whole_model" else ()
    assert page_faults(path.read_text(encoding="utf-8"), shown) == []


def test_broken_rules_are_noticed() -> None:
    def cell(code: str, tags: str = "") -> str:
        return f"```{{code-cell}}\n:tags: [{tags}]\n{code}\n```\n\n"

    good = cell("seed = 1", "parameters") + "Words.\n\n" + cell("seed")
    assert page_faults(good) == []
    assert "parameters" in page_faults(cell("1"))[0]
    assert "defines" in page_faults(good + "Words.\n" + cell("def f():\n    pass"))[0]
    assert page_faults(good + "Words.\n" + cell("def f():\n    pass"), {"f"}) == []
    assert "defines" in page_faults(good + "Words.\n" + cell("def g():\n    pass"), {"f"})[0]
    assert "15 lines" in page_faults(good + "Words.\n" + cell("1\n" * 16))[0]
    assert page_faults(good + cell("seed", "remove-input")) == []


# Stories and their evidence

STORIES = {
    path.stem: evidence_of(text)
    for path in NOTEBOOKS
    if "{evidence}" in (text := path.read_text(encoding="utf-8"))
}
# Chapters whose few claims stand on their only page, under the heading Evidence.
ALONE = {"whole_model", "readers_realizable"}
MOST_WORDS = 1700  # of a story, about ten screens with its figures
CALL = re.compile(r"^checks\.check_\w+\(", re.MULTILINE)


def story_faults(text: str) -> list[str]:
    """What is wrong with a story by the rules for stories.

    Args:
        text: the notebook.
    """
    faults = []
    story, _, rest = text.partition("\n## Evidence\n")
    words = len(plain(page_prose(story)).split())
    if words > MOST_WORDS:
        faults.append(f"has {words} words, more than {MOST_WORDS}")
    if CALL.search(text):
        faults.append("runs a check, which belongs on its evidence page")
    if not 3 <= (shown := len(shown_statements(story))) <= 6:
        faults.append(f"shows {shown} statements, not three to six")
    if not evidence_of(rest):
        faults.append("does not end with its evidence")
    title = story.partition("\n# ")[2].partition("\n")[2].lstrip()
    if title.startswith("```"):
        faults.append("begins with a cell, not with a sentence")
    return faults


@pytest.mark.parametrize("name", STORIES)
def test_stories_keep_the_rules(name: str) -> None:
    text = (ROOT / f"notebooks/{name}.md").read_text(encoding="utf-8")
    assert story_faults(text) == []


def test_a_story_that_breaks_a_rule_is_noticed() -> None:
    shown = ":::{statement} ours-a\n:::\n\n" * 3
    end = "\n## Evidence\n\n:::{evidence} page\n:::\n"
    good = f"---\nx: 1\n---\n\n# A story\n\nWhy?\n\n{shown}{end}"
    assert story_faults(good) == []
    for old, new, fault in (
        ("Why?", "why " * (MOST_WORDS + 1), "words"),
        (end, f"\n```{{code-cell}}\nchecks.check_ours_a()\n```\n{end}", "runs a check"),
        (shown, shown * 3, "shows 9 statements"),
        (end, "", "evidence"),
        ("Why?", "```{code-cell}\n1\n```\n\nWhy?", "begins with a cell"),
    ):
        assert fault in " ".join(story_faults(good.replace(old, new)))


NEEDS = re.compile(r"^\*You need:(.*?)You\s+will\s+learn", re.MULTILINE | re.DOTALL)


def late_needs(path: list[str], texts: Mapping[str, str]) -> list[str]:
    """Chapters that a chapter of the reader's path needs and that do not stand before it.

    Args:
        path: names of the chapters, in order.
        texts: their notebooks.
    """
    return [
        f"{name} needs {needed}"
        for at, name in enumerate(path)
        for needed in re.findall(r"\]\((\w+)\.md", " ".join(NEEDS.findall(texts[name])))
        if needed not in path[:at]
    ]


def test_what_a_chapter_of_the_path_needs_stands_before_it_in_the_path() -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [Path(one["file"]) for one in toc["parts"][0]["chapters"]]
    path = [file.name for file in files if file.parent.name == "pages"]
    texts = {name: (ROOT / f"notebooks/{name}.md").read_text(encoding="utf-8") for name in path}
    assert all(NEEDS.search(text) for text in texts.values())
    assert late_needs(path, texts) == []
    without = [name for name in path if name != "force"]
    assert late_needs(without, texts) == ["two_fates needs force", "snapping needs force"]


def test_every_page_with_claims_is_the_evidence_of_one_story() -> None:
    named = [page for pages in STORIES.values() for page in pages]
    assert sorted(named) == sorted({str(claim.page) for claim in CHECKED} - ALONE)


def test_a_story_shows_the_boxes_of_its_evidence(book: Path) -> None:
    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    for name in STORIES:
        labels = shown_statements((ROOT / f"notebooks/{name}.md").read_text(encoding="utf-8"))
        html = (book / f"pages/{name}.html").read_text(encoding="utf-8")
        for label in labels:
            claim = next(one for one in CHECKED if one.label == label)
            evidence = (book / f"pages/{claim.page}.html").read_text(encoding="utf-8")
            box = re.compile(
                rf'<p class="admonition-title" id="{label}">(?:(?!<section).)*<section[^>]*>'
                r"(.*?)</section>",
                re.DOTALL,
            )
            (shown,), (stated,) = box.findall(html), box.findall(evidence)
            assert spoken(shown) == spoken(stated)
            assert f'href="{claim.page}.html#verdict-{label}"' in html
        listed = re.findall(r'href="([\w-]+)\.html#([\w-]+)"', html.partition('id="evidence"')[2])
        for claim in CHECKED:
            assert (claim.page in STORIES[name]) == ((claim.page, claim.label) in listed)
        end = html.partition('id="evidence"')[2]
        badges = re.findall(r'<span class="ntp-badge[^>]*>([^<]*)', with_whole_badges(end))
        words = [
            graph.long_word_of(row) for page in STORIES[name] for row in rows if row["page"] == page
        ]
        assert [badge.partition(" ")[2] for badge in badges] == words


def spoken(html: str) -> str:
    """What a reader sees of some HTML, without blanks; links to the glossary differ by page."""
    return "".join(re.sub(r"<[^>]*>", "", html).split())


def test_no_executed_notebook_is_committed() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.ipynb", "pages", "_build"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == ""


# Modules


def test_jax_is_imported_by_the_model_of_the_text_experiments_only() -> None:
    users = {
        path.relative_to(ROOT).as_posix()
        for path in MODULES
        if any(
            name.split(".")[0] == "jax"
            for name in imported_names(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    # a rule, not a record: all else that is trained has its gradient written out
    assert users == {"ntpbook/tian2023/s8_wikitext/text_model.py"}


def test_packages_import_nothing_but_the_front_door_which_loads_on_use() -> None:
    for path in MODULES:
        if path.name == "__init__.py" and path.parent.name != "ntpcore":
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert all(isinstance(node, ast.Expr) for node in body), path
