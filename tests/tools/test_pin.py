"""Verdicts are pinned, and a changed one is a line of the changelog."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from tiny_book import ROOT

from ntpverdicts.compare import missing
from ntpverdicts.document import without_data
from tools.pipeline import pin

CHANGELOG = ROOT / "CHANGELOG.md"


def pins() -> pin.Pins:
    return pin.from_text((ROOT / pin.PINS).read_text(encoding="utf-8"))


def test_the_published_verdicts_are_the_pinned_ones(book: Path) -> None:
    document = json.loads((book / "claims.json").read_text(encoding="utf-8"))
    aside = without_data(document)
    assert all("wikitext" in label or label.startswith("tian2023-fig-") for label in aside)
    found = pin.changes(pins(), pin.published_verdicts(document), aside)
    assert not found, (
        "verdicts changed; if that is meant, run `make pin` and put these lines, each with its "
        "reason, under Verdicts in CHANGELOG.md:\n" + "\n".join(f"- {one.line}" for one in found)
    )


def unnamed_changes(history: pin.Pins, changelog: str) -> list[str]:
    """Changes of verdicts that the changelog does not name."""
    lines = [
        pin.Change(label, old, new).line
        for label, verdicts in history.items()
        for old, new in pairwise(verdicts)
    ]
    return [line for line in lines if line not in changelog]


def late_verdicts(changelog: str) -> list[str]:
    """Releases of a changelog whose first section is not that on verdicts."""
    releases = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    return [
        release.splitlines()[0]
        for release in releases
        if re.findall(r"^### (.*)$", release, re.MULTILINE)[:1] != ["Verdicts"]
    ]


def test_the_changelog_names_every_changed_verdict_and_puts_verdicts_first() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    assert unnamed_changes(pins(), text) == []
    assert late_verdicts(text) == []


def test_what_the_changelog_lacks_is_noticed() -> None:
    history = {"ours-x": ["open", "proved", "refuted"]}
    named = "- `ours-x`: open → proved: it ran.\n"
    assert unnamed_changes(history, named) == ["`ours-x`: proved → refuted"]
    assert unnamed_changes(history, named + "- `ours-x`: proved → refuted, by five tokens") == []
    assert late_verdicts("## 2\n\n### Added\n\n### Verdicts\n## 1\n\n### Verdicts\n") == ["2"]


def test_new_changed_and_lost_verdicts_are_told_apart() -> None:
    known = {"ours-a": ["proved"], "ours-b": ["open", "proved"], "ours-c": ["refuted"]}
    published = {"ours-d": "open", "ours-a": "proved", "ours-b": "refuted"}
    assert [one.line for one in pin.changes(known, published)] == [
        "`ours-d`: open (new)",
        "`ours-b`: proved → refuted",
        "`ours-c`: refuted → no longer treated",
    ]
    after = pin.updated(known, published)
    assert after == {
        "ours-d": ["open"],
        "ours-a": ["proved"],
        "ours-b": ["open", "proved", "refuted"],
    }
    assert pin.changes(after, published) == []
    assert pin.from_text(pin.to_text(after)) == after


def test_the_command_writes_the_pins_and_prints_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert pin.main() == 1
    assert "run `make book` first" in capsys.readouterr().err
    rows = [
        {"label": "ours-a", "verdict": "proved", "planned": False},
        {"label": "ours-b", "verdict": "open", "planned": True},
    ]
    pin.PUBLISHED.parent.mkdir(parents=True)
    pin.PUBLISHED.write_text(json.dumps({"claims": rows}), encoding="utf-8")
    pin.PINS.parent.mkdir()
    assert pin.main() == 0
    assert "- `ours-a`: proved (new)" in capsys.readouterr().out
    assert pin.from_text(pin.PINS.read_text(encoding="utf-8")) == {"ours-a": ["proved"]}
    assert pin.main() == 0
    assert "all 1 verdicts are as they were" in capsys.readouterr().out


def test_claims_whose_data_are_not_here_keep_their_pins() -> None:
    told = f"Not decided: {missing('The text', 'name its folder').reason} (2 times)"
    row = {"label": "ours-x", "verdict": "undecided", "evidence": told}
    other = {"label": "ours-y", "verdict": "undecided", "evidence": "Not decided."}
    document = {"claims": [row, other]}
    published = {"ours-x": "undecided", "ours-y": "undecided"}
    aside = without_data(document)
    assert aside == {"ours-x"}
    pins = {"ours-x": ["refuted"], "ours-y": ["proved"]}
    assert [one.label for one in pin.changes(pins, published, aside)] == ["ours-y"]
    assert pin.updated(pins, published, aside) == {
        "ours-x": ["refuted"],
        "ours-y": ["proved", "undecided"],
    }
    assert pin.updated({}, published, aside) == {"ours-y": ["undecided"]}
