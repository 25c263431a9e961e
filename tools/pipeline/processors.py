"""Run the notebooks a second time, as on an older processor, and compare what the checks say.

`.ci/run` calls this after the book is built, on x86-64 only and under the oldest Python that it
finds, with the `claims.json` of the book: with these variables numba, numpy, OpenBLAS and JAX leave
out what newer processors have. Both builds are of one commit, so that nothing is compared with what
was found on another day.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.document import FILE, to_text
from tools.pipeline import record
from tools.pipeline.folders import link_folders
from tools.pipeline.kernel import UNDRAWN, isolate
from tools.pipeline.notebooks import defaults_by_page, run_pages
from tools.pipeline.outputs import read_checks
from tools.pipeline.parameters import choose
from tools.pipeline.progress import Display
from tools.site.published import publish

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(".build/other-processor")
OLDER = {
    "NUMBA_CPU_NAME": "haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4",
    "OPENBLAS_CORETYPE": "Haswell",
}
OLDER_XLA = "--xla_cpu_max_isa=AVX2"  # for JAX, beside the flags that every build has


def main(words: list[str]) -> int:
    """Execute every notebook that checks claims under this environment, and compare with a book.

    Args:
        words: the `claims.json` of that book; none means the one of this checkout.
    """
    book = Path(words[0] if words else ROOT / record.BOOK).resolve()
    os.chdir(ROOT)
    if not book.is_file():
        print(f"error: there is no {book}; run `make book` first", file=sys.stderr)
        return 1
    environment = dict(os.environ)
    isolate(ROOT, BUILD)
    os.environ["XLA_FLAGS"] += f" {OLDER_XLA}"
    os.environ |= UNDRAWN  # no check reads a picture
    claimed = {claim.page for claim in CATALOGUE}
    display = Display()
    defaults = {page: values for page, values in defaults_by_page().items() if page in claimed}
    wanted = choose(defaults, link_folders({}, environment, defaults, BUILD))
    outcome = run_pages(wanted, BUILD / "pages", BUILD / "notebooks.json", 2, display, lambda: None)
    if outcome.failures:
        print("\n".join(outcome.failures), file=sys.stderr)
        return 1
    made = publish(CATALOGUE, read_checks(BUILD / "pages"))
    (BUILD / FILE).write_text(to_text(made), encoding="utf-8")
    return record.main([str(book), str(BUILD / FILE)])


if __name__ == "__main__":
    os.environ |= OLDER
    sys.exit(main(sys.argv[1:]))
