"""The ledger as HTML: how many claims have which verdict, and a row for each.

All of it is plain HTML that is complete without scripts. `book/_static/ledger.js` reads the data
attributes written here to search, sort and filter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any
from urllib.parse import urlencode

from ntpverdicts.certainty import Kind
from ntpverdicts.claims import Verdict
from ntpverdicts.dependencies import Standing, describe
from ntpverdicts.graph import badge, short_name
from ntpverdicts.ledger import drawn_with, kinds_of, verdicts_in
from ntpverdicts.maths import in_html, parts, plain, shorten

Row = Mapping[str, Any]
Papers = Mapping[str, str]

STATES = {
    "grounded": "all its ground checked",
    "tainted": "rests on refuted or open",
    "unsound": "refuted or open itself",
}
IN_WORDS = {
    "text": "said in the text",
    "figure": "shown in a figure",
    "statement": "other statement of this book",
}
INSTANCES = {"random": "drawn at random (with a seed)", "fixed": "the same in every run"}
LONGEST = 150  # characters of a witness, and of evidence of several sentences, in one row
SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z$])")  # between two sentences
HEADS = (("order", "Claim"), ("verdict", "Verdict"), ("tried", "Evidence"))
RANKS = {
    verdict: rank
    for rank, verdict in enumerate(
        (
            *(Verdict.REFUTED, Verdict.NOT_SEEN, Verdict.OPEN, Verdict.UNDECIDED),
            *(Verdict.NOT_CONTRADICTED, Verdict.SEEN, Verdict.WELL_POSED, Verdict.PROVED),
        )
    )
}


def evidence_line(row: Row) -> str:
    """What was tried and what came of it, in one line."""
    if "tried" not in row:
        return ""
    words = [f"tried: {row['tried']} ({row['unit']})"]
    words += [f"worst slack {shorten(row['slack'], LONGEST)}"] if row["slack"] else []
    words += [f"witness: {shorten(row['witness'], LONGEST)}"] if row["witness"] else []
    return "; ".join(words)


def counts(rows: Iterable[Row], papers: Papers) -> str:
    """How many claims of each paper have which verdict; each number leads to those rows.

    Args:
        rows: rows of the ledger.
        papers: names of the papers by their keys, in order.
    """
    rows = list(rows)
    words = verdicts_in(rows)
    there = [paper for paper in papers if any(row["paper"] == paper for row in rows)]
    heads = "".join(f'<th scope="col">{text}</th>' for text in
                    ("", *(v.value for v in words), "all"))  # fmt: skip
    body = "".join(
        f'<tr><th scope="row">{_number(rows, papers[paper], paper=paper)}</th>'
        + "".join(
            f'<td data-verdict="{v.value}">{_number(rows, paper=paper, verdict=v.value)}</td>'
            for v in words
        )
        + f'<td data-verdict="all">{_number(rows, paper=paper)}</td></tr>'
        for paper in there
    )
    total = "".join(
        f'<td data-verdict="{v.value}">'
        f"<span>{_number(rows, verdict=v.value)}{_kinds(rows, {'verdict': v.value})}</span></td>"
        for v in words
    )
    planned = sum(bool(row["planned"]) for row in rows)
    note = (
        f"Of the open ones {planned} are planned: listed, and not treated yet." if planned else ""
    )
    return (
        # full-width: the theme gives the table the right column, too
        '<div class="ntp-wide full-width" role="region" tabindex="0" '
        'aria-label="Verdicts by paper">'
        f'<table class="ntp-counts"><thead><tr>{heads}</tr></thead><tbody>{body}'
        f'<tr><th scope="row">all</th>{total}'
        f'<td data-verdict="all">{len(rows)}</td></tr></tbody></table></div>'
        f"<p>{note}</p>"
    )


def count(rows: Iterable[Row], wanted: Mapping[str, str], kind: str = "") -> int:
    """How many rows are as wanted, and known in that way if one is named."""
    return sum(
        all(row[key] == value for key, value in wanted.items()) and kind in ("", _kind(row))
        for row in rows
    )


def _number(rows: list[Row], text: str = "", **wanted: str) -> str:
    """How many rows are as wanted, or a text, as a link to them."""
    found = count(rows, wanted)
    if not found:
        return text or "0"
    return f'<a href="?{escape(urlencode(wanted))}#ledger">{escape(text) or found}</a>'


def _kinds(rows: list[Row], wanted: Mapping[str, str]) -> str:
    """How the proofs or refutations among some rows are known, each kind as a link to its rows."""
    fitting = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    parts = []
    for kind, number in kinds_of(fitting, Verdict(wanted["verdict"])).items():
        query = escape(urlencode({**wanted, "certainty": kind}))
        parts.append(f'<a href="?{query}#ledger">{number} {escape(kind)}</a>')
    return f'<br><span class="ntp-small">{"<br>".join(parts)}</span>' if parts else ""


def filters(rows: Iterable[Row], standings: Mapping[str, Standing], papers: Papers) -> str:
    """The form that the script brings to life; without scripts it stays hidden."""
    rows = list(rows)
    kinds = sorted({row["kind"] for row in rows})
    found_papers = {row["paper"] for row in rows}
    verdicts = {v.value: v.value for v in verdicts_in(rows)}
    known = [one.value for one in Kind if any(_kind(row) == one.value for row in rows)]
    states = {standing.state for standing in standings.values()}
    return (
        '<form class="ntp-filter" role="search" aria-label="Filter the ledger" hidden>'
        '<label>Search <input type="search" name="q" placeholder="words, label, number"></label>'
        + _choice("paper", "Paper", {k: v for k, v in papers.items() if k in found_papers})
        + _choice("kind", "Kind", {kind: IN_WORDS.get(kind, kind) for kind in kinds})
        + _choice("verdict", "Verdict", verdicts)
        + _choice("certainty", "Known by", {kind: kind for kind in known})
        + _choice("standing", "Rests on", {k: v for k, v in STATES.items() if k in states})
        + _choice("instances", "Instances", INSTANCES)
        + '<button type="reset">Show all</button> '
        '<button type="button" class="ntp-unfold">Unfold all chapters</button></form>'
        f'<p class="ntp-shown" role="status" aria-live="polite" hidden>{len(rows)} of {len(rows)} '
        "claims shown</p>"
    )


def _kind(row: Row) -> str:
    """How a proof or a refutation is known; empty for other verdicts."""
    return str(row["certainty"]["kind"]) if row.get("certainty") else ""


def _choice(name: str, title: str, options: Mapping[str, str]) -> str:
    """A list to choose from."""
    listed = "".join(
        f'<option value="{escape(value)}">{escape(text)}</option>'
        for value, text in options.items()
    )
    return (
        f'<label>{title} <select name="{name}"><option value="">all</option>{listed}</select>'
        "</label>"
    )


def table(
    rows: Iterable[Row],
    standings: Mapping[str, Standing],
    verdict_address: Callable[[Row], str],
    source_address: Callable[[Row], str],
    papers: Papers,
    *,
    anchors: bool,
    chapters: Mapping[str, str] | None = None,
) -> str:
    """The table of claims.

    Args:
        rows: rows of the ledger.
        standings: for every label of the catalogue its standing.
        verdict_address: where the verdict of a claim stands.
        source_address: where the code of its check stands; empty when there is none.
        papers: names of the papers by their keys.
        anchors: whether rows get their labels as ids.
        chapters: titles of pages by their names; with them the script folds rows by chapter.
    """
    rows = list(rows)
    names = {label: label for label in standings} | {
        str(row["label"]): short_name(row) for row in rows
    }
    head = "".join(
        f'<th scope="col"{f" data-sort={key}" if key else ""}>{text}</th>' for key, text in HEADS
    )
    body = "".join(
        _row(
            row,
            standings[row["label"]],
            names,
            verdict_address(row),
            source_address(row),
            papers,
            anchors,
            (chapters or {}).get(str(row["page"]), ""),
        )
        for row in rows
    )
    return (
        '<div class="ntp-wide" role="region" tabindex="0" aria-label="Claims and verdicts">'
        f'<table class="ntp-ledger ntp-claims"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(
    row: Row,
    standing: Standing,
    names: Mapping[str, str],
    verdict_address: str,
    source_address: str,
    papers: Papers,
    anchors: bool,
    chapter: str,
) -> str:
    """One claim; whatever it says is escaped."""
    label = escape(str(row["label"]))
    number = escape(str(row["number"]))
    paper = papers.get(row["paper"], row["paper"])
    place = paper if row["where"].lower() == paper.lower() else f"{paper}, {row['where']}"
    place += f"; {row['edition']}" if row.get("edition") else ""
    links = []
    if verdict_address:
        number = f'<a class="reference internal" href="{escape(verdict_address)}">{number}</a>'
    if source_address:
        links.append(f'<a class="reference internal" href="{escape(source_address)}">source</a>')
    data = {
        "paper": row["paper"],
        "kind": row["kind"],
        "verdict": row["verdict"],
        "certainty": _kind(row),
        "rank": RANKS[Verdict(row["verdict"])],
        "standing": standing.state,
        "tried": row.get("tried", -1),
        "instances": "random" if drawn_with(row) else "fixed",
        "typed": typed(f"{row['title']} {row.get('evidence') or ''}"),  # for who searches pi_min
    } | ({"chapter": chapter} if chapter else {})
    identity = f' id="{label}"' if anchors else ""
    given = "".join(f' data-{key}="{escape(str(value))}"' for key, value in data.items())
    return (
        f'<tr{identity} class="ntp-row-{row["verdict"].replace(" ", "-")}"{given}>'
        f'<th scope="row">{number}<p class="ntp-about">{in_html(str(row["title"]))}</p>'
        f'<p class="ntp-small">{escape(place)}<br><a href="#{label}"><code>{label}</code></a></p>'
        "</th>"
        f"<td>{badge(row)}{_standing(row, standing, names)}</td>"
        f"<td>{_evidence(row)}{' '.join(links)}</td></tr>"
    )


def typed(text: str) -> str:
    r"""The formulas of a text as one types them: `$1/\pi_{\min}$` as 1/pi_min."""
    tex = " ".join(part for part, is_tex in parts(text) if is_tex)
    return re.sub(r"\\(?:mathrm|mathcal|operatorname|text|left|right)\b ?|[\\{}]", "", tex)


def _standing(row: Row, standing: Standing, names: Mapping[str, str]) -> str:
    """What a claim rests on, below its badge."""
    if row["planned"]:
        return ""
    return f'<p class="ntp-small">{escape(describe(standing, names))}</p>'


def first_sentences(text: str) -> str:
    """The first sentence of a text, and those after it for which there is room in a row."""
    found, *others = SENTENCE.split(" ".join(text.split()))
    for sentence in others:
        if len(plain(f"{found} {sentence}")) > LONGEST:
            break
        found = f"{found} {sentence}"
    return found


def _evidence(row: Row) -> str:
    """The evidence of one row, and from where a bound would say something."""
    if row["planned"]:
        return ""
    text = f"<p>{in_html(first_sentences(str(row['evidence'])))}</p>"
    line = evidence_line(row)
    text += f'<p class="ntp-small">{in_html(line)}</p>' if line else ""
    if row.get("vacuous"):
        before = in_html(str(row["vacuous"]))
        text += f'<p class="ntp-small"><strong>Vacuous</strong> before {before}</p>'
    return text
