"""The document `claims.json` at the root of the site: what the book found, for programs."""

from __future__ import annotations

import json
import platform
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE
from ntpcore.verdicts.claims import Claim
from ntpcore.verdicts.imports import Package
from tools.pipeline.outputs import Data, Found, ledger, read_checks, standings_of
from tools.pipeline.source import OURS
from tools.site.checksources import Source, code_hash, find_sources
from tools.site.prose import statements

SCHEMA = Path("book/claims.schema.json")
FILE = "claims.json"
# What the checks compute with; the pins of everything else are in requirements.txt.
PACKAGES = ("numpy", "sympy", "scipy", "networkx", "numba", "mpmath", "matplotlib")
# Of a check, in the order of the file; all of it is absent while a claim is planned.
CHECK_FIELDS = ("tried", "unit", "slack", "witness", "control")
LISTS = ("readings", "by_hand")


def write(pages: str, folder: str) -> None:
    """Write the document and its schema into a folder.

    Args:
        pages: folder of the executed notebooks.
        folder: where they go.

    Raises:
        ValueError: the document does not follow its schema; names the place.
    """
    text = to_text(publish(CATALOGUE, read_checks(Path(pages))))
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / FILE).write_text(text, encoding="utf-8")
    shutil.copy(SCHEMA, Path(folder) / SCHEMA.name)


def publish(catalogue: Iterable[Claim], found: Iterable[Found]) -> Data:
    """The whole document.

    Args:
        catalogue: all claims.
        found: the checks in the executed notebooks.

    Raises:
        ValueError: the document does not follow its schema; names the place.
    """
    catalogue = list(catalogue)
    rows = ledger(catalogue, found)
    standings = standings_of(rows)
    sources, package = find_sources(), Package(OURS)
    texts: dict[str, str] = {}
    for path in sorted(Path("notebooks").glob("*.md")):
        texts |= statements(path.read_text(encoding="utf-8"))
    document: Data = {
        "schema": SCHEMA.name,
        "versions": versions(),
        "claims": [
            _entry(row, texts.get(row["label"]), sources.get(claim.function), package)
            | {
                "used_by": list(standings[claim.label].used_by),
                "rests_on": list(standings[claim.label].ground),
                "grounded": standings[claim.label].grounded,
                "tainted_by": list(standings[claim.label].tainted_by),
            }
            for claim, row in zip(catalogue, rows, strict=True)
        ],
    }
    wrong = schema_faults(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    if wrong:
        raise ValueError(f"{FILE} does not follow {SCHEMA}: {'; '.join(wrong[:5])}")
    return document


def _entry(row: Data, statement: str | None, source: Source | None, package: Package) -> Data:
    """What the document says of one claim, but for what it rests on."""
    treated = not row["planned"]
    page = Path("notebooks") / f"{row['page']}.md"
    known = source if treated else None
    return {
        "label": row["label"],
        "paper": row["paper"],
        "kind": row["kind"],
        "number": row["number"],
        "title": row["title"],
        "where": row["where"],
        "statement": statement,
        "verdict": row["verdict"],
        "planned": row["planned"],
        "vacuous": bool(row.get("vacuous")),
        "vacuous_before": row.get("vacuous"),
        "evidence": row["evidence"],
        **{key: row.get(key) for key in CHECK_FIELDS},
        **{key: row.get(key, []) for key in LISTS},
        "numbers": row.get("numbers", {}),
        "parameters": row.get("parameters", {}),
        "page": row["page"],
        "source": known
        and {
            "file": known.file.as_posix(),
            "line": known.line,
            "function": known.function,
            "page": f"{known.page}.html#{known.anchor}",
        },
        "repeat": row.get("repeat") or None,
        "uses": row["uses"],
        "about": row["about"],
        "code_hash": code_hash(page, known.file, package) if known else None,
    }


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of the packages that the checks compute with."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {"python": platform.python_version(), "ntpcore": str(project["version"])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def schema_faults(document: object, schema: Mapping[str, Any]) -> list[str]:
    """Where a document breaks a schema, one sentence each."""
    import jsonschema  # slow to load, and needed only when a site is built

    validator = jsonschema.Draft202012Validator(schema)
    return [
        f"{'/'.join(str(part) for part in error.absolute_path) or 'the whole'}: {error.message}"
        for error in sorted(validator.iter_errors(document), key=str)
    ]


def to_text(document: Data) -> str:
    """The document as a file; the same for the same book, byte for byte."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def field_rows(schema: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Every field of a claim with its type and meaning, as the schema has them."""
    return [
        (name, _type(field), str(field.get("description", "")))
        for name, field in schema["$defs"]["claim"]["properties"].items()
    ]


def _type(field: Mapping[str, Any]) -> str:
    """The type of a field in words."""
    if "$ref" in field:
        return {"labels": "list of labels", "text": "text"}.get(
            field["$ref"].rsplit("/", 1)[1], field["$ref"].rsplit("/", 1)[1]
        )
    if "enum" in field:
        return "one of " + ", ".join(str(value) for value in field["enum"])
    words = {"string": "text", "object": "object", "array": "list", "boolean": "true or false",
             "integer": "whole number", "null": "null"}  # fmt: skip
    given = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return " or ".join(words[one] for one in given)
