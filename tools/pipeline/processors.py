"""Judge claims a second time, as on an older processor, and compare with the book.

With these variables numba, numpy, OpenBLAS and JAX leave out what newer processors of the kind
x86-64 have. Both results are of one commit, so that nothing is compared with what was found on
another day. Each check is called with the parameters that its page gave it, without the page:
verdicts do not depend on what else a notebook has run. `.ci/run all`, which the workflow runs, does
so under the oldest Python that it finds; it takes as long as the pages do.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ntpbook.catalogue import CATALOGUE, find_check
from ntpverdicts.document import FILE, to_text
from tools.pipeline import record
from tools.pipeline.folders import WIKITEXT
from tools.pipeline.jobs import at_once
from tools.pipeline.kernel import UNDRAWN, isolate
from tools.pipeline.outputs import Found, with_repeat
from tools.site.published import publish

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(".build/other-processor")
OLDER = {
    "NUMBA_CPU_NAME": "haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    "OPENBLAS_CORETYPE": "Haswell",
}
OLDER_XLA = "--xla_cpu_max_isa=AVX2"  # for JAX, beside the flags that every build has

Rows = Sequence[Mapping[str, Any]]


def main(words: list[str]) -> int:
    """Judge the claims of a book under this environment, and compare.

    Args:
        words: the `claims.json` of that book, without it the one of this checkout.
    """
    book = Path(words[0] if words else ROOT / record.BOOK).resolve()
    os.chdir(ROOT)
    if not book.is_file():
        print(f"error: there is no {book}; run `make book` first", file=sys.stderr)
        return 1
    isolate(ROOT, BUILD, [WIKITEXT])
    os.environ["XLA_FLAGS"] += f" {OLDER_XLA}"
    os.environ |= UNDRAWN  # no check reads a picture
    rows = json.loads(book.read_text(encoding="utf-8"))["claims"]
    made = publish(CATALOGUE, judge_again(rows))
    (BUILD / FILE).write_text(to_text(made), encoding="utf-8")
    return record.main([str(book), str(BUILD / FILE)])


def judge_again(rows: Rows) -> list[Found]:
    """What the checks of these rows of a `claims.json` say here, in the order of the rows."""
    with ProcessPoolExecutor(at_once(), get_context("spawn")) as pool:
        waiting = {pool.submit(judge_page, page): page[0]["page"] for page in by_page(rows)}
        found: dict[str, Found] = {}
        for number, future in enumerate(as_completed(waiting), 1):
            for data in future.result():
                page = waiting[future]
                found[data["label"]] = Found(page, with_repeat(data, page))
            print(f"  {number} of {len(waiting)}: {waiting[future]}", flush=True)
    return [found[row["label"]] for row in rows if row["label"] in found]


def by_page(rows: Rows) -> Iterator[Rows]:
    """The checked rows of each page; checks of one page share runs, and so a process."""
    pages: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["page"] is not None:
            pages.setdefault(row["page"], []).append(row)
    yield from pages.values()


def judge_page(rows: Rows) -> list[dict[str, Any]]:
    """What the checks of these rows say, with the parameters that the rows name."""
    return [find_check(row["label"])(**row["parameters"]).to_json() for row in rows]


if __name__ == "__main__":
    os.environ |= OLDER
    sys.exit(main(sys.argv[1:]))
