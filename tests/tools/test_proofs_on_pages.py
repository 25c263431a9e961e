"""Proofs on pages: every step by hand has its argument in the proof of its own claim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.pipeline.proofs import faults, main, proofs_of

PAGE = """\
:::{prf:theorem} 1
:label: ours-a
:nonumber:

All is well.
:::

:::{prf:proof}
By {verdict}`ours-b` and a picture.

(step-ours-a-picture)=
The picture.

It is [enough to look]{#step-ours-a-look}.
:::

(step-ours-a-outside)=
Not in a proof.
"""


def step(how: str, source: str = "", at: str = "") -> dict[str, str]:
    """A step of a proof."""
    return {"text": "a step", "how": how, "source": source, "at": at}


def row(label: str, *steps: dict[str, str], **more: Any) -> dict[str, Any]:
    """A row of the ledger on the page `page`."""
    used = [one["source"] for one in steps if one["how"] == "uses"]
    known = {"label": label, "page": "page", "uses": used, "about": [], "proof": list(steps)}
    return known | more


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one page and one reference."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/page.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "references.bib").write_text("@book{horn2013,\n}\n", encoding="utf-8")
    return tmp_path


def said(project: Path, *rows: dict[str, Any]) -> list[str]:
    """What is wrong, without the name of the page."""
    found = faults({one["label"]: one for one in rows}, project)
    return [line.removeprefix(f"{(project / 'notebooks/page.md').as_posix()}: ") for line in found]


GOOD = row("ours-a", step("uses", "ours-b"), *(step("by hand", at=x) for x in ("picture", "look")))
OTHER = row("ours-b", page="other")


def test_a_page_whose_steps_have_their_places_is_right(project: Path) -> None:
    assert said(project, GOOD, OTHER) == []


def test_a_step_by_hand_without_a_place_is_told(project: Path) -> None:
    more = GOOD | {"proof": [*GOOD["proof"], step("by hand", at="gone")]}
    wanted = "the anchor step-ours-a-gone stands 0 times in a proof, not once"
    assert said(project, more, OTHER) == [f"ours-a: {wanted}"]


def test_a_place_outside_the_proof_does_not_count(project: Path) -> None:
    more = GOOD | {"proof": [*GOOD["proof"], step("by hand", at="outside")]}
    assert "stands 0 times in a proof" in said(project, more, OTHER)[0]


def test_an_anchor_serves_one_step_of_one_claim(project: Path) -> None:
    fewer = GOOD | {"proof": GOOD["proof"][:2]}
    assert said(project, fewer, OTHER) == [
        "the anchor step-ours-a-look belongs to no step by hand of this page"
    ]
    text = PAGE.replace("The picture.", "(step-ours-c-x)=\nThe picture.")
    (project / "notebooks/page.md").write_text(text, encoding="utf-8")
    both = said(project, GOOD, OTHER, row("ours-c", step("by hand", at="x")))
    assert "holds steps of ours-a and ours-c; give each its own proof" in both[0]


def test_a_proof_names_only_what_its_row_names(project: Path) -> None:
    silent = GOOD | {"uses": []}
    assert said(project, silent, OTHER) == [
        "the proof of ours-a names ours-b, which its row does not (uses, about)"
    ]
    assert said(project, silent | {"about": ["ours-b"]}, OTHER) == []


def test_a_claim_of_ours_cited_as_if_it_were_somebody_elses_is_told(project: Path) -> None:
    for source in ("ours-b, Theorem B", "euclid, I.5"):
        key = source.split(",")[0]
        found = said(project, GOOD, OTHER, row("ours-d", step("cited", source), page="other"))
        assert found == [f"ours-d: a step cites '{key}', which references.bib does not hold"]
    known = row("ours-d", step("cited", "horn2013, Theorem 4.2.2"), page="other")
    assert said(project, GOOD, OTHER, known) == []


def test_the_proofs_of_a_page_end_at_their_own_fence() -> None:
    nested = "::::{prf:proof}\n:::{note}\n(step-ours-a-x)=\n:::\nEnd.\n::::\n(step-ours-a-y)=\n"
    (found,) = proofs_of(nested)
    assert (found.line, found.anchors) == (1, ["step-ours-a-x"])


@pytest.mark.parametrize(
    "after", [":::{prf:lemma} 2\nMore.\n:::\n", "```{code-cell}\nrun()\n```\n", ""]
)
def test_a_proof_that_swallows_what_follows_is_told(project: Path, after: str) -> None:
    page = project / "notebooks/page.md"
    text = PAGE.replace("{#step-ours-a-look}.\n:::\n", "{#step-ours-a-look}. :::\n\n" + after)
    page.write_text(text, encoding="utf-8")
    told = [line for line in said(project, GOOD, OTHER) if "does not end" in line]
    assert told == ["the proof in line 8 does not end before what follows it"]


def test_a_page_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lost"]) == 2
    assert capsys.readouterr().out == "there is no notebooks/lost.md\n"
