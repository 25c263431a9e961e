"""The errata in one table: none missing, the most severe first, and copies that say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tiny_book import ROOT

from tools.site import errata
from tools.site.page_text import readings_in_words

ROWS = {
    "p-thm-1": {
        "paper": "p",
        "kind": "theorem",
        "number": "Theorem 1",
        "verdict": "refuted",
        "witness": "x² = 2, a_1, $y_2 \\le 3$",
    },
    "p-eq-2": {
        "paper": "p",
        "kind": "equation",
        "number": "Equation (2)",
        "verdict": "refuted",
        "witness": "n = 3",
    },
    "p-lem-3": {
        "paper": "p",
        "kind": "text",
        "number": "Lemma 3",
        "verdict": "not contradicted",
        "witness": "",
    },
    "ours-y": {"paper": "ours", "number": "Ours", "verdict": "proved", "evidence": "for all n"},
}
LISTED = r"""
[p-eq-2]
severity = "constant"
printed = '$a$'
read = '$2a$'

[p-thm-1]
severity = "statement"
printed = '$\frac12 \log(M\eta) \le e^{-C_1 t}$'
read = 'not so'
note = "It is rare."
"""


def test_the_most_severe_stands_first_with_the_witness_of_its_check():
    found = errata.read_errata(LISTED, ROWS, "p")
    assert [one.label for one in found] == ["p-thm-1", "p-eq-2"]
    assert [one.witness for one in found] == ["x² = 2, a_1, $y_2 \\le 3$", "n = 3"]
    assert errata.read_errata(LISTED, ROWS, "q") == []


def step(*more: str) -> str:
    """The errata with one more, of a step of a proof."""
    lines = ("", "[p-lem-3]", "severity = 'argument'", "printed = 'a'", "read = 'b'", *more)
    return LISTED + "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LISTED.split("[p-thm-1]")[0], "p-thm-1 refuted and not listed"),
        (LISTED.replace("constant", "grave"), "grave is no claim"),
        (LISTED.replace("p-eq-2", "p-eq-7"), "p-eq-7"),
        (step("group = 'proof'"), "nothing shows"),
        (step("group = 'proof'", "evidence = 'ours-z'"), "nothing shows"),
        (step("evidence = 'ours-y'"), 'p-lem-3 needs group = "proof" or "motivation"'),
    ],
)
def test_what_is_missing_or_unfounded_is_refused(text: str, words: str):
    with pytest.raises(ValueError, match=re.escape(words)):
        errata.read_errata(text, ROWS, "p")


def test_another_claim_may_show_an_erratum_and_steps_of_proofs_stand_apart():
    text = step("group = 'proof'", "evidence = 'ours-y'")
    found = errata.read_errata(text, ROWS, "p")
    assert [(one.label, one.group) for one in found] == [
        ("p-thm-1", "statement"), ("p-eq-2", "statement"), ("p-lem-3", "proof")
    ]  # fmt: skip
    assert found[-1].witness == "for all n"


def test_copies_say_the_same():
    found = errata.read_errata(LISTED, ROWS, "p")
    text, tex = errata.as_text(found), errata.as_latex(found)
    assert text.startswith("1. Theorem 1 (statement)\n   As stated: ½ log(Mη) ≤ e^(−C_1 t)\n")
    assert "   Evidence: x² = 2, a_1, y_2 ≤ 3" in text
    assert "   Note: It is rare." in text
    assert r"\emph{Evidence:} x$^2$ = 2, a\_1, $y_2 \le 3$." in tex
    assert tex.count(r"\item") == 2
    assert tex.isascii()
    assert errata.latex("1.49·10⁻⁶") == r"1.49$\cdot$10$^-$$^6$"
    with pytest.raises(ValueError, match="no LaTeX"):
        errata.latex("a ☃")


def test_formulas_of_the_errata_are_balanced():
    text = (ROOT / "book/errata.toml").read_text(encoding="utf-8")
    for line in text.splitlines():
        assert line.count("$") % 2 == 0, line
        for formula in re.findall(r"\$([^$]*)\$", line):
            assert formula.count("{") == formula.count("}"), line
            assert "\\" not in errata.plain(f"${formula}$"), line


def test_both_letters_name_every_false_statement(book: Path):
    import json
    import tomllib

    rows = json.loads((book / "claims.json").read_text(encoding="utf-8"))["claims"]
    number = {row["label"]: row["number"] for row in rows}
    listed = tomllib.loads((ROOT / "book/errata.toml").read_text(encoding="utf-8"))
    for label, one in listed.items():
        letter = ROOT / f"docs/letter_{label.split('-')[0]}.md"
        if one["severity"] not in ("wording", "argument"):
            assert number[label].split(",")[0] in letter.read_text(encoding="utf-8"), label


def test_the_built_pages_hold_table_entries_and_replies(book: Path):
    for paper in ("huang2024", "tian2023"):
        html = (book / f"book/errata_{paper}.html").read_text(encoding="utf-8")
        tables = re.findall(r'<table class="[^"]*ntp-errata.*?</table>', html, re.DOTALL)
        assert len(tables) == 3
        labels = re.findall(r'href="#erratum-([\w-]+)"', "".join(tables))
        assert len(labels) > 10
        assert all(f'id="erratum-{label}"' in html for label in labels)
        assert html.count('class="ntp-reply"') == len(labels)
        assert html.count("ntp-copy-text") == 2


def test_a_phone_names_the_columns_as_the_wide_table_does() -> None:
    styles = (ROOT / "book/_static/ntp.css").read_text(encoding="utf-8")
    for place, words in enumerate(errata.COLUMNS[1:], 2):
        assert f'table.ntp-errata td:nth-child({place})::before {{ content: "{words}: ";' in styles


def test_readings_are_sentences_with_their_verdicts() -> None:
    readings = [
        {"text": "$a$ to another class.", "verdict": "refuted"},
        {"text": "only (a); whatever $b$", "verdict": "not contradicted"},
    ]
    assert readings_in_words(readings) == (
        "$a$ to another class (refuted). Only (a); whatever $b$ (not contradicted)."
    )
