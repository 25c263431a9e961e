"""`make book` and `make page`: run what must run, build the site, say what came of it."""

from __future__ import annotations

import gc
import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.claims import MARKS, Verdict
from ntpverdicts.ledger import count_verdicts
from tools.pipeline import record
from tools.pipeline.bookkeeping import open_records, reasons, short, tracked_task
from tools.pipeline.consistency import mismatches
from tools.pipeline.folders import link_folders
from tools.pipeline.jobs import jobs_wanted
from tools.pipeline.kernel import isolate
from tools.pipeline.lock import LockedError, lock
from tools.pipeline.notebooks import (
    PAGES,
    RECORDS,
    Outcome,
    copy_published,
    copy_unrun,
    defaults_by_page,
    is_current,
    page_names,
    remove_strays,
    run_pages,
)
from tools.pipeline.outputs import read_checks
from tools.pipeline.parameters import Parameters, UsageError, choose, choose_pages, given_variables
from tools.pipeline.progress import Display
from tools.site.html import SiteError, build_site, get_ready, recover, site_inputs, toc_pages
from tools.site.machine_checked import rows_of

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(".build")
BOOK = Path("_build/html")
PAGE_SITE = Path("_build/page")
PAGE_WORK = BUILD / "page"


def main(arguments: list[str]) -> int:
    """Build the book, or with the argument `page` one page of it with other parameters.

    Returns:
        The exit code: 0 done, 1 the build failed, 2 the command line cannot be used.
    """
    if os.environ.get("PYTHONHASHSEED") != "0":  # takes effect only when Python starts
        environment = os.environ | {"PYTHONHASHSEED": "0"}
        os.execve(
            sys.executable, [sys.executable, "-m", "tools.pipeline.build", *arguments], environment
        )
    os.chdir(ROOT)
    gc.disable()  # few circles are left behind, and looking for them takes a sixth of the time
    display = Display()
    variables, environment = given_variables(os.environ), dict(os.environ)
    try:
        isolate(ROOT, BUILD)
        with lock(BUILD / "lock"):
            for target in (BOOK, PAGE_SITE):
                if recover(target):
                    display.say(f"brought back {target}: an earlier build was stopped half-way")
            if arguments == ["page"]:
                return make_page(environment, variables, display)
            return make_book(environment, variables, display)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (LockedError, SiteError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(
            f"error: the system refused a file ({where}{error.strerror or error}); make room on "
            "the disk and build again. The last good book is in place",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)  # not waiting for kernels: they end with this process
    except KeyboardInterrupt:
        print("stopped; the last good book is in place", file=sys.stderr, flush=True)
        os._exit(130)  # not waiting for kernels: they end with this process


def make_book(
    environment: Mapping[str, str], variables: Mapping[str, str], display: Display
) -> int:
    """Bring `_build/html` up to date."""
    began = time.monotonic()
    defaults = defaults_by_page()
    wanted = choose(defaults, link_folders(variables, environment, defaults, BUILD))
    refuse_mismatches()
    remove_strays(PAGES)
    display.say("Notebooks")
    jobs = jobs_wanted(environment)
    outcome = run_pages(wanted, PAGES, RECORDS, jobs, display, get_ready)
    if outcome.failures:
        return report_failures(outcome)
    display.say("Site")
    bring_up_site(PAGES, BOOK, BUILD / "site.json", display)
    rows = rows_of(read_checks(PAGES)).values()
    display.say()
    display.say(f"Book       {BOOK / 'index.html'}")
    display.say(f"Pages      {len(toc_pages())}")
    display.say(f"Notebooks  {len(outcome.ran)} run, {len(outcome.skipped)} skipped")
    display.say(f"Claims     {count_verdicts(rows)}")
    for number, line in enumerate(record.compared(json.loads(record.BOOK.read_text("utf-8")))):
        display.say(f"Record     {line}" if not number else f"           {line}")
    display.say(f"Time       {time.monotonic() - began:.1f} s")
    return 0


def refuse_mismatches() -> None:
    """Before anything runs, whether claims, checks, statements and tests belong together.

    Raises:
        SiteError: they do not; says where.
    """
    wrong = mismatches(CATALOGUE)
    if wrong:
        text = "\n  ".join(wrong)
        raise SiteError(f"catalogue, checks, pages and tests do not match:\n  {text}")


def make_page(
    environment: Mapping[str, str], variables: Mapping[str, str], display: Display
) -> int:
    """Build a second site in which some pages ran with other parameters; the book stays.

    Pages beside them are those of the book; where it has none of today, they come without results.
    """
    chosen = choose_pages(page_names(), environment.get("PAGE", ""))
    defaults = defaults_by_page()
    defaults = {page: defaults[page] for page in chosen}
    wanted: dict[str, Parameters] = dict(
        choose(defaults, link_folders(variables, environment, defaults, BUILD))
    )
    published = [page for page in page_names() if page not in chosen and is_current(page)]
    unrun = [page for page in page_names() if page not in chosen and page not in published]
    refuse_mismatches()
    folder = PAGE_WORK / "pages"
    remove_strays(folder)
    display.say("Notebooks")
    records = PAGE_WORK / "notebooks.json"
    jobs = jobs_wanted(environment)
    outcome = run_pages(wanted, folder, records, jobs, display, get_ready)
    if outcome.failures:
        return report_failures(outcome)
    copy_published(published, folder)
    copy_unrun(unrun, folder)
    display.say("Site")
    if unrun:
        display.say(f"  pages without a result of today, set without any: {len(unrun)}")
    bring_up_site(folder, PAGE_SITE, PAGE_WORK / "site.json", display)
    display.say()
    for check in read_checks(folder):
        if check.page in chosen:
            verdict = Verdict(check.data["verdict"])
            text = f"{MARKS[verdict]} {check.label}: {verdict.value}. {check.data['evidence']}"
            display.say(text)
    display.say()
    for page in chosen:
        display.say(f"Page  {PAGE_SITE / 'pages' / page}.html")
    return 0


def report_failures(outcome: Outcome) -> int:
    """Say which notebooks failed, last of all, where it is read."""
    for failure in outcome.failures:
        print(f"error: {failure}", file=sys.stderr)
    print("No site was built; what was there before is untouched.", file=sys.stderr)
    return 1


def bring_up_site(pages: Path, target: Path, file: Path, display: Display) -> None:
    """Build the site if anything it is made from changed.

    Raises:
        SiteError: it could not be built.
    """
    records = open_records(file)
    made = [target / name for name in ("claims.json", "index.html")]
    made += [target / f"{page}.html" for page in toc_pages()]
    state = {"Python": platform.python_version()}

    task = tracked_task("site", None, site_inputs(pages), made, state)
    why = reasons(records, task, state)
    if not why:
        display.say("  skipped: nothing changed")
        return
    began = time.monotonic()
    with display.stage("site", 1):
        display.begin("building the site")
        build_site(pages, target)
    task.save_extra_values()
    records.save_success(task)
    records.close()
    display.say(f"  built: {short(why)} ({time.monotonic() - began:.1f} s)")


if __name__ == "__main__":
    code = main(sys.argv[1:])
    gc.freeze()  # or Python would look through all that Sphinx made once more before it ends
    sys.exit(code)
