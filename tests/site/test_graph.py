"""Graphs and the ledger as HTML: complete, escaped, marked, and linked."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from ntpbook.catalogue import CATALOGUE
from ntpverdicts import graph, ledger_table
from ntpverdicts.claims import Claim
from ntpverdicts.dependencies import neighbourhood
from ntpverdicts.ledger import Data, ledger, standings_of

PAPERS = {"huang2024": "Huang", "tian2023": "Tian", "ours": "This book"}
NASTY = '<b>&"x"'
CLAIMS = (
    Claim("huang2024-eq-1", "Equation (1)", NASTY, "Section 1", "page"),
    Claim("huang2024-prop-2", "Proposition 2", "t", "Section 1", "page", ("huang2024-eq-1",)),
    Claim("huang2024-thm-3", "Theorem 3", "t", "Section 1", "page", ("huang2024-prop-2",)),
    Claim("ours-block-form", "Theorem (ours)", "t", "this book", "page", ("huang2024-eq-1",)),
    Claim("tian2023-app-zero", "Section 3, zero", "t", "Section 3"),
    Claim("tian2023-lem-1", "Lemma 1", "t", "Section 3", None, ("tian2023-app-zero",)),
)


def found(label: str, verdict: str, **more: object) -> Data:
    data: Data = {"label": label, "verdict": verdict, "tried": 3, "unit": "runs", "slack": None}
    data |= {"evidence": NASTY, "witness": NASTY if verdict == "refuted" else None}
    return data | {"vacuous": None} | more


@pytest.fixture
def rows() -> dict[str, Data]:
    checks = [
        found("huang2024-eq-1", "proved"),
        found("huang2024-prop-2", "refuted"),
        found("huang2024-thm-3", "not contradicted", vacuous="t = 9", slack="0.5 (run 3)"),
        found("ours-block-form", "not contradicted"),
    ]
    return {row["label"]: row for row in ledger(CLAIMS, checks)}


def draw(rows: dict[str, Data], shown: list[str], **more: object) -> str:
    standings = standings_of(rows.values())
    return graph.draw(rows, standings, shown, lambda row: f"#{row['label']}", name=NASTY, **more)


@pytest.mark.parametrize("sideways", [False, True])
def test_every_box_is_a_link_with_name_mark_and_state(rows: dict[str, Data], sideways: bool):
    html = draw(rows, list(rows), sideways=sideways, focus="huang2024-thm-3")
    boxes = ElementTree.fromstring(html).findall(".//a")
    assert {box.get("href") for box in boxes} == {f"#{label}" for label in rows}
    says = {box.get("href"): box.get("aria-label") for box in boxes}
    assert says["#huang2024-thm-3"] == "Theorem 3, t: not contradicted; tainted"
    assert says["#tian2023-lem-1"] == "Lemma 1, t: open, planned"
    classes = {box.get("href"): str(box.get("class")).split() for box in boxes}
    assert {"ntp-tainted", "ntp-focus"} <= set(classes["#huang2024-thm-3"])
    assert "ntp-grounded" in classes["#ours-block-form"]
    texts = {box.get("href"): "".join(box.itertext()) for box in boxes}
    assert "≈ Theorem 3!" in texts["#huang2024-thm-3"]
    assert "○ Lemma 1?" in texts["#tian2023-lem-1"]
    assert "✘ Proposition 2" in texts["#huang2024-prop-2"]
    assert html.count('class="ntp-line ntp-taint"') == 1
    assert html.count('class="ntp-line ntp-waits"') == 1
    assert html.count('class="ntp-line"') == 2


def test_a_graph_that_is_too_wide_for_paper_is_drawn_sideways_if_that_helps():
    first = Claim("huang2024-asm-1", "Assumption 1", "t", "here", "page")
    for number, direction in ((2, "down"), (20, "sideways")):
        many = [
            Claim(
                f"huang2024-eq-{place}", f"Equation ({place})", "t", "here", "page", (first.label,)
            )
            for place in range(number)
        ]
        some = {row["label"]: row for row in ledger([first, *many], [])}
        standings, drawings = standings_of(some.values()), {}
        for way in ("down", "sideways"):
            drawings[way] = graph.draw(
                some, standings, some, lambda row: "#", name="x", sideways=way == "sideways"
            )
        chosen = graph.draw_narrow(some, standings, some, lambda row: "#", name="x")
        assert chosen == drawings[direction]
        assert graph.fits_paper(chosen)
        assert graph.fits_paper(drawings["down"]) == (direction == "down")


def test_boxes_lie_within_the_drawing_and_do_not_overlap(rows: dict[str, Data]):
    for sideways in (False, True):
        svg = ElementTree.fromstring(draw(rows, list(rows), sideways=sideways)).find("svg")
        assert svg is not None
        places = [
            [float(rect.get(key, "")) for key in ("x", "y", "width", "height")]
            for rect in svg.findall(".//rect")
        ]
        for x, y, width, height in places:
            assert 0 <= x <= x + width <= float(svg.get("width", ""))
            assert 0 <= y <= y + height <= float(svg.get("height", ""))
        for at, (x, y, w, h) in enumerate(places):
            for u, v, r, s in places[:at]:
                assert x + w < u or u + r < x or y + h < v or v + s < y


def test_the_table_says_what_the_graph_shows(rows: dict[str, Data]):
    standings = standings_of(rows.values())
    shown = neighbourhood(standings["huang2024-prop-2"])
    html = graph.table(rows, standings, shown, lambda row: "#", name="x")
    assert html.count("<tr>") == 1 + len(shown) == 4
    assert "rests on what is refuted (Proposition 2)" in html
    assert "refuted itself, on sound ground" in html


def test_a_paper_is_drawn_with_ours_that_lines_join_to_it(rows: dict[str, Data]):
    assert graph.connected_to("huang2024", rows) == [
        "huang2024-eq-1", "huang2024-prop-2", "huang2024-thm-3", "ours-block-form"
    ]  # fmt: skip
    assert graph.connected_to("tian2023", rows) == ["tian2023-app-zero", "tian2023-lem-1"]
    assert graph.connected_to("nobody", rows) == []


def test_short_names_tell_claims_apart(rows: dict[str, Data]):
    names = [graph.short_name(row) for row in rows.values()]
    assert names == ["Eq. (1)", "Proposition 2", "Theorem 3", "block form (ours)", "zero (Sec. 3)",
                     "Lemma 1"]  # fmt: skip


def test_a_claim_is_named_by_what_it_says_and_every_name_is_its_own():
    every = {
        claim.label: graph.short_name({"label": claim.label, "number": claim.number})
        for claim in CATALOGUE
    }
    for paper in ("huang2024", "tian2023", "ours"):
        names = [name for label, name in every.items() if label.startswith(paper)]
        assert len(set(names)) == len(names) > 50
    assert every["ours-long-clock"] == "Lemma: time scale (ours)"
    assert every["ours-direction"] == "Theorem B (ours)"
    assert every["ours-lem-5-needs-asm-3"] == "Lemma 5 needs Assumption 3 (ours)"
    assert every["huang2024-app-lem-7-a-star"] == "Lemma 7: term A at the max-margin solution"
    slugs = re.compile(r"\b(lem|thm|asm|clock)\b")
    assert [name for name in every.values() if slugs.search(name)] == []


def test_the_legend_shows_every_mark_and_state():
    html = graph.legend()
    for word in ("proved", "not contradicted", "refuted", "open", ">!<", ">?<", "ntp-bar"):
        assert word in html


def test_a_row_of_the_ledger_has_evidence_links_and_data(rows: dict[str, Data]):
    standings = standings_of(rows.values())
    html = ledger_table.table(
        rows.values(), standings, lambda r: f"v-{r['label']}", lambda r: f"s-{r['label']}",
        PAPERS, anchors=True,
    )  # fmt: skip
    parts = html.split("<tr id=")
    row = next(part for part in parts if part.startswith('"huang2024-thm-3"'))
    for text in (
        "<strong>Vacuous</strong> before t = 9",
        "worst slack 0.5",
        "tried: 3 (runs)",
        'href="v-huang2024-thm-3"',
        'href="s-huang2024-thm-3"',
        'href="#huang2024-thm-3"',
        'data-verdict="not contradicted"',
        'data-kind="theorem"',
        'data-standing="tainted"',
    ):
        assert text in row, text
    assert "witness" in parts[2]
    assert "<b>" not in html


def test_counts_add_up_and_lead_to_their_rows(rows: dict[str, Data]):
    html = ledger_table.counts(rows.values(), PAPERS)
    found = re.findall(r'<td data-verdict="[^"]+">(.*?)</td>', html)
    cells = [re.sub("<[^>]*>", "", cell) for cell in found]
    assert cells == [
        *("1", "1", "1", "0", "3"), *("0", "0", "0", "2", "2"), *("0", "1", "0", "0", "1"),
        *("1", "2", "1", "2", "6"),
    ]  # fmt: skip
    assert 'href="?paper=huang2024&amp;verdict=refuted#ledger"' in html
    assert "2 are planned" in html


def test_kinds_come_from_labels_and_ours_from_their_numbers(rows: dict[str, Data]):
    assert [row["kind"] for row in rows.values()] == [
        "equation", "proposition", "theorem", "theorem", "text", "lemma"
    ]  # fmt: skip
