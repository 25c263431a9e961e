"""Executed notebooks and prose to HTML: stage, build cold, and only then replace the old book."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib
import io
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import yaml

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.claims import MIME, render_html
from ntpverdicts.graph import arrange_all
from ntpverdicts.imports import Package, import_closure
from ntpverdicts.ledger import Data
from ntpverdicts.tables import NARROW_MIME
from tools.pipeline.node import NodeError, find_module, find_node
from tools.pipeline.normalise import UNRUN
from tools.pipeline.outputs import read_checks, read_downloads, read_narrow
from tools.pipeline.source import OURS, code_cells
from tools.site import published
from tools.site.background import Beside
from tools.site.checksources import find_sources
from tools.site.inspect_site import problems
from tools.site.machine_checked import rows_of
from tools.site.maths import FONT, TEMML
from tools.site.pictures import write_narrow
from tools.site.runnable import cells_of
from tools.site.shrink import slim_site

STAGE = Path(".build/stage")
SOURCE, OUTPUT = STAGE / "src", STAGE / "html"
LOG = Path(".build/sphinx.log")
TOC = Path("_toc.yml")
ROOT_FILES = ("_config.yml", "_toc.yml", "references.bib", "CITATION.cff")
# What shapes the HTML beside Python modules, which are found by their imports.
SHAPING = tuple(
    Path(name)
    for name in ("package-lock.json", "pyproject.toml", "requirements.txt", "tools/site/maths.cjs")
)
PROOFS = (".v", ".json", ".toml", ".py")  # files that decide what a proof assistant has read
# What setting the site loads of others, and takes a second.
SLOW = ("jupyter_book.sphinx", "myst_nb.sphinx_ext", "sphinx.builders.html", "fontTools.subset")
ARTICLE = re.compile(r'<article class="bd-article"[^>]*>(.*)</article>', re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
EXCHANGE = 2  # RENAME_EXCHANGE of Linux's renameat2
HERE = -100  # AT_FDCWD


class SiteError(Exception):
    """The HTML could not be built or is not as it must be; the old book stays."""


def toc_pages(toc: Path = TOC) -> list[str]:
    """Every page that the table of contents names, the first one first."""
    return list(files_of(yaml.safe_load(toc.read_text(encoding="utf-8"))))


def evidence_pages() -> set[str]:
    """Names of the pages of evidence, which referees read, and on no phone."""
    parts = yaml.safe_load(TOC.read_text(encoding="utf-8")).get("parts", [])
    return {Path(name).name for name in files_of([one for one in parts if is_evidence(one)])}


def is_evidence(part: Mapping[str, Any]) -> bool:
    """Whether a part of the table of contents holds pages of evidence."""
    return str(part.get("caption", "")).startswith("Evidence: ")


def article_of(html: str) -> str:
    """What stands in the article of a page; nothing if it has none."""
    found = ARTICLE.search(html)
    return found[1] if found else ""


def title_of(html: str) -> str:
    """The title of a page without that of the book; nothing if it has none."""
    found = TITLE.search(html)
    return unescape(found[1]).rpartition(" — ")[0] if found else ""


def files_of(entry: object) -> Iterator[str]:
    """The pages named in a part of the table of contents."""
    if isinstance(entry, list):
        for item in entry:
            yield from files_of(item)
    elif isinstance(entry, dict):
        for key in ("root", "file"):
            if key in entry:
                yield str(entry[key])
        for key in ("parts", "chapters", "sections", "subtrees", "entries"):
            yield from files_of(entry.get(key))


def book_files() -> list[Path]:
    """The prose pages and what belongs to them."""
    return sorted(
        path
        for path in Path("book").rglob("*")
        if path.is_file() and not any(part.startswith((".", "__")) for part in path.parts)
    )


def site_inputs(pages: Path) -> list[Path]:
    """Every file that the HTML depends on."""
    roots = [Path(name) for name in ROOT_FILES if Path(name).exists()]
    sources = [*Path("notebooks").glob("*.md"), *setting_modules()]
    sources += [path for name in OURS for path in Path(name).rglob("*.py")]
    sources += [
        path for name in OURS for end in ("toml", "json") for path in Path(name).rglob(f"*.{end}")
    ]
    sources += [path for path in Path("examples").glob("*") if path.is_file()]
    sources += [path for path in Path("proofs").glob("*") if path.suffix in PROOFS]
    sources += [path for path in SHAPING if path.is_file()]
    return [*roots, *book_files(), *sorted(pages.glob("*.ipynb")), *sorted(set(sources))]


def setting_modules() -> frozenset[Path]:
    """The modules of the tools that setting the site loads."""
    package = Package(("tools",))
    trees = [ast.parse(path.read_text("utf-8")) for path in Path("book/_ext").glob("*.py")]
    return package.closure(["tools.site.html"]) | import_closure(trees, package)


def build_site(pages: Path, target: Path) -> None:
    """Build the whole site cold, check it, and put it in place of the old one.

    Args:
        pages: folder of the executed notebooks.
        target: folder of the site.

    Raises:
        SiteError: Sphinx warned or failed, or the output is not as it must be.
    """
    try:
        find_node()
        find_module(Path(), TEMML)
        find_module(Path(), FONT)
    except NodeError as error:
        raise SiteError(str(error)) from None
    shutil.rmtree(STAGE, ignore_errors=True)
    stage_sources(pages)
    unrun = unrun_pages(pages)
    with Beside(published.__name__, "write", str(SOURCE / "pages"), str(OUTPUT)) as claims:
        run_sphinx(partial=bool(unrun))
        try:
            claims.wait()
        except ValueError as error:
            raise SiteError(str(error)) from None
    (OUTPUT / ".buildinfo").unlink(missing_ok=True)  # depends on where the project lies
    found = read_checks(SOURCE / "pages")
    write_downloads(SOURCE / "pages", OUTPUT / "data")
    write_narrow(OUTPUT / "_images", read_narrow(pages, without=evidence_pages()))
    try:
        slim_site(OUTPUT)
    except ValueError as error:
        raise SiteError(str(error)) from None
    notebooks = sorted(path.stem for path in Path("notebooks").glob("*.md"))
    claims_here = [claim for claim in CATALOGUE if claim.page not in unrun]
    wrong = problems(OUTPUT, toc_pages(), notebooks, claims_here, found)
    if wrong:
        raise SiteError("the built pages are not as they must be:\n  " + "\n  ".join(wrong))
    replace(OUTPUT, target, previous_of(target))
    shutil.rmtree(STAGE, ignore_errors=True)


def unrun_pages(pages: Path) -> set[str]:
    """The pages of a folder that stand there without results; a whole book has none."""
    return {
        path.stem
        for path in pages.glob("*.ipynb")
        if json.loads(path.read_text(encoding="utf-8"))["metadata"].get(UNRUN)
    }


def write_downloads(pages: Path, folder: Path) -> None:
    """Write the files that pages offer.

    Raises:
        SiteError: two pages offer different files of one name.
    """
    written: dict[str, tuple[str, str]] = {}
    for page, name, text in read_downloads(pages):
        if written.setdefault(name, (page, text))[1] != text:
            raise SiteError(f"{page} and {written[name][0]} offer different files named {name}")
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def stage_sources(pages: Path) -> None:
    """Copy what Sphinx reads, and nothing else, into the stage."""
    for path in [Path(name) for name in ROOT_FILES if Path(name).exists()] + book_files():
        (SOURCE / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, SOURCE / path)
    (SOURCE / "pages").mkdir(parents=True, exist_ok=True)
    rows = rows_of(read_checks(pages))
    for path in pages.glob("*.ipynb"):
        (SOURCE / "pages" / path.name).write_text(with_cards(path, rows), encoding="utf-8")


def with_cards(path: Path, rows: Mapping[str, Data]) -> str:
    """An executed notebook whose checks are drawn as cards that name their claims.

    A check knows its label alone; number and title of the claim come from the catalogue.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        name_fold(cell)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(NARROW_MIME, None)  # Sphinx would warn that it is unknown
            if MIME in output.get("data", {}):
                label = output["data"][MIME]["label"]
                output["data"]["text/html"] = render_html(rows[label])
    return json.dumps(notebook, ensure_ascii=False)


def name_fold(cell: dict[str, Any]) -> None:
    """Let the fold of a cell say what is in it, where that is parameters or begins with imports."""
    source = "".join(cell["source"]).lstrip()
    if "parameters" in cell["metadata"].get("tags", []):
        name = "parameters"
    elif cell["cell_type"] == "code" and source.startswith(("import ", "from ")):
        name = "imports"
    else:
        return
    settings = cell["metadata"].setdefault("mystnb", {})
    settings |= {"code_prompt_show": f"Show {name}", "code_prompt_hide": f"Hide {name}"}


def get_ready() -> None:
    """Do what takes seconds of setting the site and hangs on no notebook, while those run.

    What goes wrong here goes wrong again when the site is set, and is told then.
    """
    with contextlib.suppress(Exception):
        for name in SLOW:
            importlib.import_module(name)
        from tools.site.highlight import fragment  # which loads Sphinx

        arrange_all(CATALOGUE)
        for check in find_sources().values():
            fragment(check.file, check.first, check.last)
        for path in sorted(Path("notebooks").glob("*.md")):
            cells = code_cells(path.read_text(encoding="utf-8"))
            code = [{"cell_type": "code", "source": one.source, "metadata": {}} for one in cells]
            cells_of({"cells": code})  # what a name leads to is looked up once


def run_sphinx(*, partial: bool = False) -> None:
    """Run Jupyter Book's Sphinx build on the stage, in this process, so that no kill orphans it.

    Args:
        partial: some pages did not run, and the results of their checks are missing.

    Raises:
        SiteError: it failed, or warned about anything.
        KeyboardInterrupt: it was stopped.
        OSError: the system refused a file.
    """
    from jupyter_book.sphinx import build_sphinx  # slow to load, and often not needed
    from sphinx.util.console import nocolor

    nocolor()
    says, warns = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(says), contextlib.redirect_stderr(warns):
        result = build_sphinx(
            SOURCE,
            OUTPUT,
            noconfig=True,
            path_config=SOURCE / "_config.yml",
            doctreedir=STAGE / "doctrees",
            confoverrides={
                "external_toc_path": (SOURCE / "_toc.yml").resolve().as_posix(),
                "latex_individualpages": False,
                "nitpicky": True,
                "ntp_partial": partial,
            },
            freshenv=True,
            force_all=True,
            warningiserror=True,
            keep_going=True,
        )
    if isinstance(result, KeyboardInterrupt | OSError):
        raise result  # whoever called knows what to say
    place = f"{SOURCE.resolve()}/"
    # myst-nb counts 10000 lines to a cell
    warnings = re.sub(r"\.ipynb:(\d+)(\d{4}):", _cell_and_line, warns.getvalue().replace(place, ""))
    warnings = warnings.strip()
    LOG.write_text(says.getvalue().replace(place, "") + "\n" + warnings + "\n", encoding="utf-8")
    if result or warnings:
        raise SiteError(f"Sphinx warned, and warnings are errors (all of it: {LOG}):\n{warnings}")


def _cell_and_line(place: re.Match[str]) -> str:
    """A place in a notebook, in words."""
    return f".ipynb, cell {int(place[1])}, line {int(place[2])}:"


def previous_of(target: Path) -> Path:
    """Where the old site waits while the new one takes its place."""
    return Path(".build") / f"previous-{target.name}"


def replace(new: Path, target: Path, previous: Path) -> None:
    """Put `new` in the place of `target`, in one step where the system can.

    Elsewhere two renames do it; when killed between them, `recover` brings the old one back.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        new.rename(target)
    elif not exchange(new, target):
        shutil.rmtree(previous, ignore_errors=True)
        target.rename(previous)
        new.rename(target)
        shutil.rmtree(previous, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step; False where the system has no such call."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return bool(call(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def recover(target: Path) -> bool:
    """Bring back the old site if a build was killed between its two renames."""
    previous = previous_of(target)
    if previous.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        previous.rename(target)
        return True
    shutil.rmtree(previous, ignore_errors=True)
    return False
