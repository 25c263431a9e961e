"""Sphinx extension of this book: the playground, a page that computes in the reader's browser.

The directive `playground` writes the controls; what they need is copied into the site, and loaded
by that page only.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from ntpverdicts.graph import short_name
from tools.site import playground
from tools.site.background import Beside
from tools.site.playground import MissingError, bundle, presets

FOLDER = "playground"
SCRIPTS = (
    "dom.js",
    "share.js",
    "engine.js",
    "draw.js",
    "show.js",
    "turning.js",
    "certificate.js",
    "page.js",
)
CHECK_SECONDS, ASK_SECONDS = 30, 120

CHECK = """<noscript><p>The playground needs JavaScript. Without it, the command line gives the
same answers: <code>ntpcore check sentences.txt</code>, from a clone of the repository after
<code>make book</code>.</p></noscript>
<div id="pg-root" class="pg-root" hidden data-worker="{worker}"
data-check-seconds="{check}" data-ask-seconds="{ask}">
<p id="pg-file" hidden>This page was opened as a file, and browsers do not let files load the
playground. In the folder of the project, run <code>make serve</code>, and open
<code>http://127.0.0.1:8000/book/playground.html</code>. Or use the command line:
<code>ntpcore check sentences.txt</code>.</p>
<fieldset><legend>Examples</legend><div id="pg-presets"></div></fieldset>
<fieldset><legend>Each line contains (detected from the text unless you choose)</legend>
<label class="pg-choice"><input type="radio" name="pg-form" value="text" checked> words</label>
<label class="pg-choice"><input type="radio" name="pg-form" value="chars"> characters</label>
<label class="pg-choice"><input type="radio" name="pg-form" value="jsonl"> JSON Lines</label>
</fieldset>
<label class="pg-label" for="pg-text">Training sentences, one to a line</label>
<textarea id="pg-text" rows="8" spellcheck="false" autocapitalize="off" autocomplete="off"
dir="auto" aria-describedby="pg-hint pg-size"></textarea>
<p class="pg-hint"><span id="pg-hint">Ctrl+Enter checks.</span> <span id="pg-size"></span></p>
<details id="pg-map-part"><summary>Next tokens: see and edit the map n</summary>
<label class="pg-label" for="pg-map">Next tokens, one token to a line</label>
<textarea id="pg-map" rows="8" spellcheck="false" autocapitalize="off" autocomplete="off"
dir="auto" aria-describedby="pg-map-hint"></textarea>
<p class="pg-hint" id="pg-map-hint">Write <code>the → cat</code> or <code>the -&gt; cat</code>.
Nothing after the arrow means that the token has no next token. The button <em>Check</em> fills in
the lines that you do not change.</p>
<div class="pg-buttons">
<button type="button" id="pg-infer">Infer the next tokens again</button></div>
</details>
<div class="pg-buttons">
<button type="button" id="pg-check" class="pg-main">Check</button>
<button type="button" id="pg-stop" disabled>Stop</button>
<button type="button" id="pg-copy">Copy link to these sentences</button>
<input type="text" id="pg-link" readonly hidden aria-label="Link to these sentences">
</div>
{answer}
<script type="application/json" id="pg-data">{presets}</script>
<script type="application/json" id="pg-names">{names}</script>
</div>"""

ASK = """<div class="pg-root pg-ask" hidden>
<label class="pg-label" for="pg-sentence">A sentence of tokens from above</label>
<input type="text" id="pg-sentence" spellcheck="false" autocapitalize="off" autocomplete="off"
dir="auto">
<p class="pg-hint"><label>steps of training <input type="number" id="pg-steps" min="1" max="5000"
value="900"></label></p>
<div class="pg-buttons">
<button type="button" id="pg-ask" class="pg-main">Train and ask</button>
<button type="button" id="pg-turn">Attention over steps</button>
<button type="button" id="pg-stop-ask" disabled>Stop</button>
</div>
{answer}
</div>"""

CERTIFICATE = """<div class="pg-root pg-verify" hidden>
<label class="pg-label" for="pg-certificate-file">The file of a certificate</label>
<input type="file" id="pg-certificate-file" accept=".json,application/json">
<label class="pg-label" for="pg-certificate">Or its text</label>
<textarea id="pg-certificate" rows="6" spellcheck="false" autocapitalize="off"
autocomplete="off" dir="ltr"></textarea>
<div class="pg-buttons">
<button type="button" id="pg-check-certificate" class="pg-main">Check the certificate</button>
<button type="button" id="pg-stop-certificate" disabled>Stop</button>
</div>
{answer}
</div>"""

# Progress and answer of a part: how the ids of the first three end, and the name of the last.
ANSWER = """<progress id="pg-progress{part}" hidden aria-label="Progress"></progress>
<p id="pg-status{part}" role="status"></p>
<p id="pg-error{part}" role="alert" hidden></p>
<div id="pg-{name}"></div>"""
PARTS = {  # as in `page.js`
    "check": (CHECK, "", "result"),
    "ask": (ASK, "-ask", "prediction"),
    "certificate": (CERTIFICATE, "-certificate", "verdict"),
}


def as_script(data: object) -> str:
    """Data within a page, which end no script of it."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


class Playground(SphinxDirective):
    """`playground` check, ask, or certificate: controls, and the places for the answers."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write one of the three."""
        if self.arguments[0] not in PARTS:
            known = "check, ask, or certificate"
            raise self.error(f"{self.arguments[0]!r} is no part of the playground: {known}")
        controls, part, name = PARTS[self.arguments[0]]
        self.env.ntp_playground = self.env.docname
        if not hasattr(self.env.app, "ntp_engine"):
            copy_engine(self.env.app)
        depth = self.env.docname.count("/")
        rows = self.env.ntp_rows.items()
        names = {label: short_name(row) for label, row in rows if row["paper"] == "huang2024"}
        html = controls.format(
            answer=ANSWER.format(part=part, name=name),
            worker=escape("../" * depth + f"_static/{FOLDER}/worker.mjs?v={version()}"),
            check=CHECK_SECONDS,
            ask=ASK_SECONDS,
            presets=as_script(presets()),
            names=as_script(names),
        )
        return [nodes.raw("", html, format="html")]


@cache
def version() -> str:
    """What tells a browser that our code changed since it was here last."""
    worker = Path(__file__).parent.parent / "_static" / FOLDER / "worker.mjs"
    return hashlib.sha256(bundle() + worker.read_bytes()).hexdigest()[:12]


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Load scripts and styles on the page of the playground, and on no other."""
    if pagename == getattr(app.env, "ntp_playground", None):
        app.add_css_file(f"{FOLDER}/playground.css")
        for name in SCRIPTS:
            app.add_js_file(f"{FOLDER}/{name}", loading_method="defer")


def copy_engine(app: Sphinx) -> None:
    """Begin to copy what the browser computes with; packing it takes a second."""
    folder = Path(app.outdir) / "_static" / FOLDER / "engine"
    app.ntp_engine = Beside(playground.__name__, "write_engine", str(folder))  # type: ignore[attr-defined]


def finish_engine(app: Sphinx, error: Exception | None) -> None:
    """Wait for the copy."""
    engine: Beside | None = getattr(app, "ntp_engine", None)
    if engine is not None and error is not None:
        engine.stop()
    elif engine is not None:
        try:
            engine.wait()
        except MissingError as missing:
            raise ExtensionError(f"the playground cannot be built: {missing}") from None


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_directive("playground", Playground)
    app.connect("html-page-context", add_files)
    app.connect("build-finished", finish_engine)
    return {"parallel_read_safe": False, "parallel_write_safe": False}
