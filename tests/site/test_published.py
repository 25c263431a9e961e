"""claims.json: its schema, its content, and the hash of the code that decided."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tiny_book import ROOT

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.document import to_text
from ntpverdicts.imports import Package
from tools.pipeline.source import OURS, code_cells
from tools.site.checksources import code_hash, deciding_files, find_sources
from tools.site.published import field_rows, schema_faults

NOTEBOOK = Path("notebooks/huang2024_s6_max_margin.md")
FUNCTION = "check_huang2024_prop_2"
SOUND = ("proved", "not contradicted", "well posed", "seen")


@pytest.fixture(scope="module")
def document(book: Path) -> dict[str, Any]:
    """The published document."""
    return json.loads((book / "claims.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def schema(book: Path) -> dict[str, Any]:
    """The schema that the site carries."""
    return json.loads((book / "claims.schema.json").read_text(encoding="utf-8"))


def test_the_published_document_follows_its_schema(
    document: dict[str, Any], schema: dict[str, Any]
) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema_faults(document, schema) == []
    assert document["schema"] == "claims.schema.json"


@pytest.mark.parametrize(
    ("key", "value"),
    [("verdict", "maybe"), ("label", "x"), ("vacuous", "yes"), ("new", 1), ("code_hash", "0")],
)
def test_what_breaks_the_schema_is_noticed(
    document: dict[str, Any], schema: dict[str, Any], key: str, value: object
) -> None:
    broken = copy.deepcopy({**document, "claims": document["claims"][:3]})
    assert schema_faults(broken, schema) == []
    broken["claims"][0][key] = value
    assert schema_faults(broken, schema)[0].startswith("claims/0")
    del broken["claims"][0]["verdict"]
    assert any("'verdict' is a required property" in one for one in schema_faults(broken, schema))


def test_every_field_is_described(schema: dict[str, Any]) -> None:
    rows = field_rows(schema)
    assert all(kind and text for _, kind, text in rows)
    assert {name for name, _, _ in rows} == set(schema["$defs"]["claim"]["required"])


def test_a_checked_claim_has_statement_source_hash_control_and_repeat(
    document: dict[str, Any],
) -> None:
    checked = [row for row in document["claims"] if not row["planned"]]
    assert len(checked) == sum(claim.page is not None for claim in CATALOGUE)
    for row in checked:
        for key in ("statement", "source", "code_hash", "controls"):
            assert row[key], (row["label"], key)
        assert row["tried"] or row["verdict"] in ("open", "undecided"), row["label"]
        assert row["vacuous"] == bool(row["vacuous_before"])
    planned = [row for row in document["claims"] if row["planned"]]
    assert all(row["verdict"] == "open" and row["code_hash"] is None for row in planned)


def test_standing_in_the_document_follows_from_its_verdicts(document: dict[str, Any]) -> None:
    rows = {row["label"]: row for row in document["claims"]}
    for row in rows.values():
        bad = [one for one in row["rests_on"] if rows[one]["verdict"] not in SOUND]
        assert row["tainted_by"] == bad
        assert row["grounded"] == (row["verdict"] in SOUND and not bad)
        assert set(row["uses"]) <= set(row["rests_on"])
        assert all(row["label"] in rows[one]["used_by"] for one in row["uses"])
    assert rows["huang2024-prop-2"]["grounded"]
    assert rows["huang2024-thm-1-corrected"]["grounded"]


def test_the_file_is_sorted_as_the_catalogue_and_ends_in_a_line(
    book: Path, document: dict[str, Any]
) -> None:
    assert [row["label"] for row in document["claims"]] == [claim.label for claim in CATALOGUE]
    assert (book / "claims.json").read_text(encoding="utf-8") == to_text(document)


def test_every_source_is_in_the_site_at_its_anchor(book: Path, document: dict[str, Any]) -> None:
    for row in document["claims"]:
        if row["source"]:
            page, _, anchor = row["source"]["page"].partition("#")
            assert f'id="{anchor}"' in (book / page).read_text(encoding="utf-8"), row["label"]
            lines = (ROOT / row["source"]["file"]).read_text(encoding="utf-8").splitlines()
            assert lines[row["source"]["line"] - 1].startswith(f"def {anchor}(")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the hash of a check's code is made from."""
    for name in OURS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    return tmp_path


def hash_in(project: Path) -> str:
    return code_hash(NOTEBOOK, find_sources(project)[FUNCTION].file, Package(OURS, project))


@pytest.mark.parametrize(
    "file",
    [
        "ntpbook/huang2024/s6_max_margin/checks.py",
        "ntpcore/exact/margin.py",
        "ntpverdicts/claims.py",
    ],
)
def test_the_hash_changes_with_the_code_that_decides(project: Path, file: str) -> None:
    before = hash_in(project)
    assert before == hash_in(ROOT)
    with (project / file).open("a", encoding="utf-8") as module:
        module.write("\n")
    assert hash_in(project) != before


def test_the_hash_changes_with_the_cells_of_the_page_and_not_with_its_prose(project: Path) -> None:
    before, page = hash_in(project), project / NOTEBOOK
    text = page.read_text(encoding="utf-8")
    page.write_text(text + "\nOne more sentence.\n", encoding="utf-8")
    assert hash_in(project) == before
    cell = code_cells(text)[0].source
    page.write_text(text.replace(cell, cell + "\n# changed", 1), encoding="utf-8")
    assert hash_in(project) != before


def test_the_hash_stays_when_a_row_is_added_or_other_code_changes(project: Path) -> None:
    before = hash_in(project)
    for file in ("ntpbook/tian2023/s3_setting/claims.toml", "ntpcore/huang2024/bounds.py"):
        with (project / file).open("a", encoding="utf-8") as module:
            module.write("\n")
    assert hash_in(project) == before
    files = {
        path.name
        for path in deciding_files(NOTEBOOK, find_sources()[FUNCTION].file, Package(OURS, ROOT))
    }
    assert {"margin.py", "order.py", "orders.py"} <= files
    assert "bounds.py" not in files


def test_two_checks_of_one_name_are_refused(project: Path) -> None:
    module = project / "ntpbook/huang2024/s3_setup/checks.py"
    module.write_text(f"def {FUNCTION}(): ...\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"{FUNCTION} is defined in"):
        find_sources(project)


PRINTED = re.compile(r"Matrix\(|\+/-|\d[eE][+-]?\d|\bsqrt\(|\*\*")  # what programs print
DECIMAL = re.compile(r"\d+\.\d+")


def printed_by_a_program(text: str) -> list[str]:
    """What a text shows as a program prints it and as no book does."""
    long = [one for one in DECIMAL.findall(text) if len(one.replace(".", "").lstrip("0")) >= 10]
    return PRINTED.findall(text) + long


def shown_on_cards(claim: dict[str, Any]) -> Iterator[str]:
    """The texts of a claim's card; the evidence may have many digits, where each is certified."""
    yield from (claim[key] or "" for key in ("title", "slack", "witness", "loose"))
    for reading in claim["readings"]:
        yield from (reading["text"], reading["witness"] or "")
    for step in claim["proof"]:
        yield step["text"]
        for one in step["shown"]:
            yield from (one[key] for key in ("name", "left", "right", "rest"))
    yield from (one["planted"] for one in claim["controls"])
    yield from (claim["machine"][key] for key in ("says", "differs", "open") if claim["machine"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Matrix([[x]])", ["Matrix("]),
        ("[0.125 +/- 5.69e-16]", ["+/-", "9e-1"]),
        ("2.62e+03", ["2e+0"]),
        ("T eta / sqrt(|V| - 1)", ["sqrt("]),
        ("$t = 0.2763102111$", ["0.2763102111"]),
        (r"$\sqrt2 x^{2} e^{-3}$, $10^{-35}$, 0.000123456", []),
    ],
)
def test_the_print_of_a_program_is_told_from_mathematics(text: str, found: list[str]) -> None:
    assert printed_by_a_program(text) == found


def test_cards_show_mathematics_and_no_print_of_a_program(document: dict[str, Any]) -> None:
    printed = {
        claim["label"]: (text, found)
        for claim in document["claims"]
        for text in shown_on_cards(claim)
        if (found := printed_by_a_program(text))
    }
    assert printed == {}
