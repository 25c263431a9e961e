"""A mark says that a proof assistant read a claim, and stands only while the sources are those."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.claims import render_html
from tools.site import machine_checked


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    """A copy of the proofs without what was compiled."""
    ignore = shutil.ignore_patterns("*.vo*", "*.glob", "__pycache__", ".*")
    return Path(shutil.copytree(ROOT / "proofs", tmp_path / "proofs", ignore=ignore))


def test_marked_labels_are_claims_with_theorems_and_no_axioms(proofs: Path) -> None:
    found = machine_checked.marks(proofs)
    assert set(found) <= {claim.label for claim in CATALOGUE}
    assert "ours-prefix-closure" in found
    for entry in found.values():
        assert entry["by"].startswith("Coq 8.")
        assert entry["says"]
        assert all(theorem["axioms"] == [] for theorem in entry["theorems"])


@pytest.mark.parametrize("file", ["Orders.v", "labels.toml", "_CoqProject"])
def test_a_changed_source_takes_every_mark_away(proofs: Path, file: str) -> None:
    with (proofs / file).open("a", encoding="utf-8") as source:
        source.write("\n")
    assert machine_checked.marks(proofs) == {}


def test_without_a_record_there_are_no_marks(proofs: Path) -> None:
    (proofs / "checked.json").unlink()
    assert machine_checked.marks(proofs) == {}
    assert machine_checked.marks(proofs / "nowhere") == {}


def test_the_card_sets_the_formulas_of_what_was_read() -> None:
    read = {
        "by": "Coq",
        "says": r"All $t \ge 1$.",
        "differs": "$x < y$",
        "open": "",
        "theorems": [],
    }
    data = {"label": "ours-x", "verdict": "proved", "evidence": "E.", "machine": read}
    html = render_html(data)
    assert '<p>All <span class="ntp-tex" data-tex="t \\ge 1">t ≥ 1</span>.</p>' in html
    assert 'data-tex="x &lt; y"' in html


def test_the_card_names_file_theorem_axioms_and_version() -> None:
    theorem = {"file": "A.v", "theorem": "<b>", "statement": "forall x, x < 1", "axioms": []}
    read = {"by": "Coq 8.16.1", "says": "S.", "differs": "", "open": "O.", "theorems": [theorem]}
    known = {"kind": "machine-checked", "words": "machine-checked", "by_hand": [], "cited": []}
    data = {"label": "ours-x", "verdict": "proved", "evidence": "E.", "machine": read}
    data["certainty"] = known
    html = render_html(data)
    assert "proved, machine-checked</span>" in html
    assert ">Read by Coq 8.16.1</div>" in html
    assert "<code>A.v</code>, <code>&lt;b&gt;</code>; axioms: none" in html
    assert "forall x, x &lt; 1" in html
    assert "Not covered: O." in html
    assert "What differs" not in html
