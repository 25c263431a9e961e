"""The document `claims.json` at the root of the site: what the book found, for programs."""

from __future__ import annotations

import json
import platform
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE, EDITIONS
from ntpverdicts import document
from ntpverdicts.claims import Claim
from ntpverdicts.imports import Package
from ntpverdicts.ledger import Data
from tools.pipeline.outputs import Found, read_checks
from tools.pipeline.source import OURS
from tools.site.checksources import Source, code_hash, find_sources
from tools.site.machine_checked import marks, read_steps
from tools.site.page_text import statements

# What the checks compute with; the pins of everything else are in requirements.txt.
PACKAGES = ("numpy", "sympy", "scipy", "networkx", "numba", "mpmath", "matplotlib")


def write(pages: str, folder: str) -> None:
    """Write the document and its schema into a folder.

    Args:
        pages: folder of the executed notebooks.
        folder: where they go.

    Raises:
        ValueError: the document does not follow its schema; names the place.
    """
    text = document.to_text(publish(CATALOGUE, read_checks(Path(pages))))
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / document.FILE).write_text(text, encoding="utf-8")
    (Path(folder) / document.SCHEMA).write_text(document.schema_text(), encoding="utf-8")


def publish(catalogue: Iterable[Claim], found: Iterable[Found]) -> Data:
    """The whole document.

    Args:
        catalogue: all claims.
        found: the checks in the executed notebooks.

    Raises:
        ValueError: the document does not follow its schema; names the place.
    """
    catalogue = list(catalogue)
    sources, package = find_sources(), Package(OURS)
    known = {
        claim.label: (claim, sources[claim.function])
        for claim in catalogue
        if claim.page is not None and claim.function in sources
    }
    texts: dict[str, str] = {}
    for path in sorted(Path("notebooks").glob("*.md")):
        texts |= statements(path.read_text(encoding="utf-8"))
    made = document.publish(
        catalogue,
        (one.data for one in found),
        versions=versions(),
        statements=texts,
        sources={label: place_of(source) for label, (_, source) in known.items()},
        hashes={
            label: code_hash(Path("notebooks") / f"{claim.page}.md", source.file, package)
            for label, (claim, source) in known.items()
        },
        machine=marks(),
        machine_steps=read_steps(),
        editions=EDITIONS,
    )
    wrong = schema_faults(made, json.loads(document.schema_text()))
    if wrong:
        raise ValueError(
            f"{document.FILE} does not follow {document.SCHEMA}: {'; '.join(wrong[:5])}"
        )
    return made


def place_of(source: Source) -> Data:
    """Where the code of a check stands."""
    return {
        "file": source.file.as_posix(),
        "line": source.line,
        "function": source.function,
        "page": f"{source.page}.html#{source.anchor}",
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
