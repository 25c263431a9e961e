"""Claims, and the rules that keep verdicts honest."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from graphlib import TopologicalSorter

import pytest

from ntpbook.catalogue import CATALOGUE, find_claim
from ntpverdicts.claims import (
    MARKS,
    MIME,
    Check,
    Claim,
    Control,
    How,
    Reading,
    Result,
    Shown,
    Step,
    Verdict,
    render_html,
    render_text,
)
from ntpverdicts.maths import in_html

LABEL = "huang2024-prop-2"


def check(verdict: Verdict = Verdict.NOT_CONTRADICTED, **changes: object) -> Check:
    fields = {"tried": 3, "unit": "partial orders", "evidence": "Three orders agree."} | changes
    return Check(LABEL, verdict, **fields)


def test_verdicts_have_the_words_and_marks_that_other_programs_read():
    assert {verdict.value: MARKS[verdict] for verdict in Verdict} == {
        "proved": "✔",
        "not contradicted": "≈",
        "refuted": "✘",
        "open": "○",
        "well posed": "◇",
        "seen": "●",
        "not seen": "◌",
        "undecided": "○",
    }
    assert MIME == "application/vnd.ntpcore.check+json"


def test_labels_are_unique_and_well_formed():
    labels = [claim.label for claim in CATALOGUE]
    assert len(set(labels)) == len(labels)
    kinds = "def|ex|asm|alg|prop|thm|lem|cor|rem|eq|fig|app"
    rule = re.compile(rf"((huang2024|tian2023)-({kinds})-[a-z0-9-]+|ours-[a-z0-9-]+)")
    assert [label for label in labels if not rule.fullmatch(label)] == []


def test_claims_use_claims_of_the_catalogue_and_never_each_other_in_a_circle():
    graph = {claim.label: claim.uses for claim in CATALOGUE}
    assert {used for uses in graph.values() for used in uses} <= set(graph)
    assert set(TopologicalSorter(graph).static_order()) == set(graph)
    assert {label for claim in CATALOGUE for label in claim.about} <= set(graph)


def test_a_claim_knows_what_kind_of_statement_it_is():
    words = {
        "def": "definition", "ex": "example", "asm": "assumption", "alg": "algorithm",
        "prop": "proposition", "thm": "theorem", "lem": "lemma", "cor": "corollary",
        "rem": "remark", "eq": "equation", "fig": "figure", "app": "text",
    }  # fmt: skip
    for kind, word in words.items():
        assert Claim(f"huang2024-{kind}-1", "x", "x", "x").kind == word
    assert Claim("ours-x", "Theorem (ours), two", "x", "x").kind == "theorem"
    assert Claim("ours-x", "Property, on the loss", "x", "x").kind == "property"
    assert Claim("ours-x", "The dip of Figure 6 (ours)", "x", "x").kind == "statement"


def test_a_claim_knows_its_paper_and_its_function():
    assert find_claim(LABEL).paper == "huang2024"
    assert find_claim(LABEL).function == "check_huang2024_prop_2"
    assert find_claim("ours-block-form").paper == "ours"


def test_a_claim_depends_on_no_data_and_has_no_page_unless_told():
    claim = Claim("ours-planned", "Theorem (ours)", "not treated yet", "this book")
    assert (claim.page, claim.uses, claim.on_data) == (None, (), False)


def test_an_unknown_label_is_refused():
    with pytest.raises(ValueError, match="no claim 'huang2024-prop-99'"):
        find_claim("huang2024-prop-99")


def test_a_refutation_must_show_a_witness():
    with pytest.raises(ValueError, match="must show a witness"):
        check(Verdict.REFUTED)
    assert check(Verdict.REFUTED, witness="five tokens").witness == "five tokens"


@pytest.mark.parametrize("verdict", [Verdict.PROVED, Verdict.NOT_CONTRADICTED, Verdict.REFUTED])
def test_a_verdict_needs_an_instance(verdict: Verdict):
    with pytest.raises(ValueError, match="needs at least one instance"):
        check(verdict, tried=0, witness="w")


def test_an_open_verdict_needs_a_reason_and_no_instance():
    assert check(Verdict.OPEN, tried=0).verdict is Verdict.OPEN
    with pytest.raises(ValueError, match="an open one its reason"):
        check(Verdict.OPEN, tried=0, evidence="")


def test_readings_are_listed_beside_the_verdict_with_their_witness():
    bad = Reading("as N", Verdict.REFUTED, "two tokens")
    good = Reading("as 1/pi", Verdict.NOT_CONTRADICTED)
    found = check(Verdict.REFUTED, witness="w", readings=(bad, good)).to_json()["readings"]
    assert found == [
        {"text": "as N", "verdict": "refuted", "witness": "two tokens"},
        {"text": "as 1/pi", "verdict": "not contradicted", "witness": None},
    ]


def test_a_blind_control_is_refused():
    blind = Control("a planted error", Verdict.REFUTED, Verdict.NOT_CONTRADICTED)
    noticed = Control("a planted error", Verdict.REFUTED, Verdict.REFUTED)
    assert not blind.noticed
    assert check().with_control(noticed).controls == (noticed,)
    with pytest.raises(ValueError, match="the negative control was not noticed: a planted error"):
        check().with_control(blind)


def test_a_check_shows_itself_as_text_html_and_data():
    nasty = "<script>alert('&')</script>"
    shown = check(
        Verdict.REFUTED,
        witness=nasty,
        evidence=f"Evidence {nasty}",
        slack=nasty,
        readings=(Reading(nasty, Verdict.REFUTED, nasty),),
        hypotheses=(nasty,),
        loose=nasty,
        controls=(Control(nasty, Verdict.NOT_CONTRADICTED, Verdict.NOT_CONTRADICTED),),
        proof=(Step(nasty, How.EXECUTED, nasty, (Shown(nasty, nasty, "=", nasty, nasty, True),)),),
        left_out={nasty: 1},
        vacuous=nasty,
        repeat=nasty,
    )._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html", MIME}
    html = str(shown["text/html"])
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 16
    data = json.loads(json.dumps(shown[MIME]))
    assert data["witness"] == nasty
    noticed = {"planted": nasty, "expected": "not contradicted"}
    noticed["obtained"] = "not contradicted"
    assert data["controls"] == [noticed]
    assert data["proof"][0]["shown"][0]["left"] == nasty
    assert data["readings"] == [{"text": nasty, "verdict": "refuted", "witness": nasty}]


PART = '<div class="ntp-part" role="heading" aria-level="4">'


def test_the_html_of_a_check_has_a_row_for_all_that_it_says():
    claim = find_claim(LABEL)
    everything = check(
        Verdict.REFUTED,
        witness="W",
        slack="S",
        readings=(Reading("R", Verdict.REFUTED, "r"),),
        hypotheses=("A", "B"),
        loose="L",
        controls=(
            Control("Corrected.", Verdict.NOT_CONTRADICTED, Verdict.NOT_CONTRADICTED),
            Control("Planted.", Verdict.REFUTED, Verdict.REFUTED),
            Control("Other.", Verdict.UNDECIDED, Verdict.UNDECIDED),
        ),
        vacuous="V",
        repeat="make it",
    )
    named = {"number": claim.number, "title": claim.title}
    assert render_html(everything.to_json() | named) == (
        '<div class="ntp-check ntp-refuted"><p class="ntp-head">'
        '<span class="ntp-badge ntp-refuted"><span aria-hidden="true">✘</span> refuted</span> '
        f"<strong>{claim.number}</strong> {in_html(claim.title)}</p>"
        '<p class="ntp-evidence">Three orders agree.</p>'
        '<details class="ntp-fold"><summary>How it was checked</summary><dl>'
        "<dt>Witness</dt><dd>W</dd>"
        "<dt>Worst slack</dt><dd>S</dd>"
        "<dt>Hypotheses tested on every instance</dt><dd>A; B</dd>"
        "<dt>Distance from a tight instance</dt><dd>L</dd><dt>Says nothing before</dt><dd>V</dd>"
        "<dt>Repeat</dt><dd><code>make it</code></dd></dl>"
        f"{PART}Another reading</div><ul><li>R <em>(refuted)</em>. Witness: r</li></ul>"
        f"{PART}It noticed 2 planted errors</div><p>With each of these changes the check ran again "
        "and answered as named, as it must.</p><ul><li>Planted. (<em>refuted</em>)</li><li>Other. "
        "(<em>undecided</em>)</li></ul>"
        f"{PART}It accepted a case that holds</div><p>With this change the check ran again and "
        "answered <em>not contradicted</em>, as it must.</p><ul><li>Corrected.</li></ul>"
        "</details></div>"
    )


def test_the_html_of_a_check_has_no_row_for_what_it_leaves_out():
    assert render_html(check().to_json()) == (
        '<div class="ntp-check ntp-not-contradicted"><p class="ntp-head">'
        '<span class="ntp-badge ntp-not-contradicted"><span aria-hidden="true">≈</span> '
        f'not contradicted</span> {LABEL}</p><p class="ntp-evidence">Three orders agree.</p></div>'
    )


def test_a_card_has_one_fold_whatever_it_holds():
    everything = check(
        Verdict.REFUTED,
        witness="W",
        readings=tuple(Reading(text, Verdict.REFUTED) for text in ("first", "second")),
        controls=(Control("Planted.", Verdict.REFUTED, Verdict.REFUTED),),
        proof=(Step("a step", How.BY_HAND, at="here"),),
    )
    html = render_html(everything.to_json(), "<p>&lt;more&gt;</p>")
    assert html.count("<details") == html.count("</details>") == 1
    parts = ("Witness", "2 other readings", "How one knows", "It noticed", "&lt;more&gt;")
    places = [html.index(part) for part in ("</summary>", *parts, "</details>")]
    assert places == sorted(places)
    assert html.index("Three orders agree.") < html.index("<details")


def test_the_data_of_a_check_say_null_for_what_it_leaves_out():
    numbers, parameters = {"worst": Result(Fraction(2, 3))}, {"seed": 7}
    assert check(numbers=numbers, parameters=parameters).to_json() == {
        "label": LABEL,
        "verdict": "not contradicted",
        "tried": 3,
        "unit": "partial orders",
        "evidence": "Three orders agree.",
        "witness": None,
        "slack": None,
        "numbers": {"worst": {"value": "2/3", "shown": "2/3", "digits": None, "origin": "exact"}},
        "parameters": parameters,
        "readings": [],
        "vacuous": None,
        "controls": [],
        "repeat": "",
        "left_out": {},
        "proof": [],
        "witness_kind": None,
        "loose": None,
        "hypotheses": [],
    }


def test_the_text_of_a_check_has_mark_label_verdict_and_witness():
    found = check(Verdict.REFUTED, witness="w.")
    assert render_text(found) == f"✘ {LABEL}: refuted. Three orders agree. Witness: w."
    assert render_text(check()) == f"≈ {LABEL}: not contradicted. Three orders agree."


def test_a_check_that_runs_alone_counts_its_own_steps_by_hand_and_names_what_it_uses():
    first, second = (Step("a step", How.BY_HAND, at=place) for place in ("one", "two"))
    other = Step("a lemma", How.USES, "ours-lemma")
    html = render_html(check(Verdict.PROVED, proof=(first, second, other)).to_json())
    assert "proved, 2 own steps by hand, using ours-lemma</span>" in html
    assert f'<a href="#step-{LABEL}-two">argument</a>' in html
    assert " proved</span>" in render_html(check(Verdict.PROVED).to_json())


def test_the_badge_of_a_ledger_says_how_the_claim_is_known():
    known = {"kind": "by hand", "words": "by hand (7)", "by_hand": [], "cited": []}
    data = check(Verdict.PROVED, proof=(Step("a step", How.BY_HAND, at="one"),)).to_json()
    assert "proved, by hand (7)</span>" in render_html(data | {"certainty": known})
    assert " proved</span>" in render_html(data | {"certainty": None})


def test_a_result_says_how_many_of_its_digits_are_good():
    assert Result(Fraction(7, 6)).shown == "7/6"
    assert Result(0.123456, 3, "rounding").shown == "0.123"
    assert Result(2.5, 2, "rounding", "nats").shown == "2.5 nats"
    assert Result(0.123456, 0, "drawn anew by other rounding").shown == "0.12"
    with pytest.raises(ValueError, match="how many of its digits"):
        Result(0.5)
    with pytest.raises(ValueError, match="no number"):
        Result(float("nan"), 3)


def test_what_stands_against_an_observation_shows_a_witness_too():
    with pytest.raises(ValueError, match="must show a witness"):
        check(Verdict.NOT_SEEN)
    assert check(Verdict.UNDECIDED, tried=0).verdict is Verdict.UNDECIDED


def test_the_readings_of_a_check_are_folded_each_with_its_verdict():
    three = tuple(Reading(text, Verdict.REFUTED) for text in ("first", "second", "<third>"))
    html = render_html(check(Verdict.REFUTED, witness="W", readings=three).to_json())
    assert f"{PART}3 other readings</div><ul><li>first <em>(refuted)</em>.</li>" in html
    assert "<li>&lt;third&gt; <em>(refuted)</em>.</li>" in html
    one = render_html(check(Verdict.REFUTED, witness="W", readings=three[:1]).to_json())
    assert f"{PART}Another reading</div><ul><li>first" in one


@pytest.mark.parametrize(("words", "told"), [("A bound 1.1 times sharper.", 1), ("No sign.", 0)])
def test_a_card_says_what_a_sharper_bound_is_where_one_was_planted(words: str, told: int) -> None:
    claim = find_claim(LABEL)
    found = check(Verdict.PROVED, controls=(Control(words, Verdict.REFUTED, Verdict.REFUTED),))
    html = render_html(found.to_json() | {"number": claim.number, "title": claim.title})
    assert html.count("is stronger than the right one by a factor of 1.1") == told
