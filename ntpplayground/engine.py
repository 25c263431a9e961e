"""What the playground of the book shows: what `ntpcore` answers on a text, as plain data.

The browser writes what the reader typed into a file and calls these functions, so that it goes the
same way as on the command line, down to the numbers of lines in messages. Every text in `view` is
safe to print, and cut to what a page can show; `json` is what `ntpcore check --json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

from ntpcli import check as report
from ntpcli import repair as repairs
from ntpcli import rows, terminal
from ntpcore import learned
from ntpcore.data import dataset, next_tokens, order
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import PartialOrder
from ntpcore.exact import any_order, margin
from ntpcore.exact import repair as repairing
from ntpcore.huang2024 import plain
from ntpcore.learned import Learned
from ntpplayground import (
    attention_steps,
    certificates,
    diagram,
    explain,
    map_field,
    table,
    wording,
)
from ntpverdicts import maths
from ntpverdicts.claims import MARKS

MOST_ORDERS = 12  # of each kind, what a page shows; the JSON has all
MOST_LINES, MOST_WORDS, MOST_COLUMNS, MOST_NEXT = 60, 60, 16, 10
MOST_PAIRS, MOST_DROPPED, LONGEST = 60, 60, 400
MOST_ALIKE = 3  # failures of one rule that are listed
MOST_SOLVED = 2_000  # pairs of an order that is solved in a second
CERTIFICATE = "certificate.json"
PART = "part of "  # how the name of a part begins
View = dict[str, object]


def check(path: str, chars: bool = False, edits: str | None = None) -> View:
    """The answer of `ntpcore check PATH [--chars] --json`, and what a page shows of it.

    Args:
        path: the data.
        chars: whether every character is a token.
        edits: the lines that the reader wrote into the field of next tokens, such as "the → cat";
            the collocation that the command line takes from a file.

    Returns:
        `exit`, the exit code of that command; then `message` if it is 2, in the words of the page,
        else `json`, as printed on standard output, and `view`.
    """
    try:
        text = _read(path, chars, edits)
        source = f"{path} --chars" if chars else path
        found = report.answer(text.data, text.given, source=source, next_map=text.said)
        view = _view(found) | _next_tokens(text) | {"table": text.table}
        view["alike"] = "" if chars else wording.alike(text.data.vocabulary)
        if found.structure.orders is None and found.learned is not None:
            view |= _inferred_orders(found.learned, text.data)
    except InputError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal("the data do not fit into memory; use a part of them")
    json_text = json.dumps(report.to_json(found), ensure_ascii=False, indent=2) + "\n"
    return {"exit": 0 if found.holds else 1, "json": json_text, "view": view}


@dataclass(frozen=True)
class _Text:
    """What the reader typed.

    Attributes:
        data: the data set.
        entries: the next token of each token, with its origin.
        automatic: the same without what the reader wrote.
        said: what the reader wrote into the field of next tokens, None for no next token.
        unknown: tokens in that field that the text does not have.
        table: what was done with a table; empty for sentences.
    """

    data: Dataset
    entries: Mapping[str, next_tokens.Entry]
    automatic: Mapping[str, next_tokens.Entry]
    said: Mapping[str, str | None]
    unknown: Sequence[str]
    table: str

    @property
    def given(self) -> dict[str, str]:
        """What the reader wrote, where there is a next token."""
        return next_tokens.without_gaps(self.said)

    @property
    def following(self) -> dict[str, str | None]:
        """The next-token map."""
        return next_tokens.map_of(self.entries)


def _read(path: str, chars: bool, edits: str | None) -> _Text:
    """The data set in a file, with its next-token map."""
    note = "" if path.endswith(dataset.JSON_SUFFIXES) else table.take(path)
    data = dataset.read(path, chars=chars)
    entries = next_tokens.infer(data)
    if edits is None:
        return _Text(data, entries, entries, {}, (), note)
    changed, unknown = map_field.edits_in(edits, entries)
    wider = order.with_tokens(data, next_tokens.without_gaps(changed))
    return _Text(wider, next_tokens.infer(wider, changed), entries, changed, unknown, note)


def _next_tokens(text: _Text) -> View:
    """The next-token map, what it rests on, and what decides the samples under it."""
    entries = text.entries
    origins = [entry.origin for entry in entries.values()]
    return {
        "map": {
            "entries": [
                [
                    terminal.show(token),
                    None if entry.following is None else terminal.show(entry.following),
                    entry.origin,
                    entry.count,
                    entry.of,
                ]
                for token, entry in list(entries.items())[:MOST_LINES]
            ],
            "more": max(0, len(entries) - MOST_LINES),
            "field": map_field.written(entries),
            "automatic": map_field.written(text.automatic),
            "counts": {origin: origins.count(origin) for origin in next_tokens.ORIGINS},
            "unknown": _tokens(text.unknown),
        },
    }


def _inferred_orders(learned: Learned, data: Dataset) -> View:
    """The orders by the inferred map, where the text itself gives none."""
    orders = learned.orders
    shown = [_order(orders[query], None, data) for query in list(orders)[:MOST_ORDERS]]
    return {"orders": shown, "moreOrders": len(orders) - len(shown), "inferred": True}


def ask(
    path: str,
    sentence: str,
    chars: bool = False,
    steps: int = plain.STEPS,
    progress: plain.Progress | None = None,
    trained: Callable[[plain.Trained], object] | None = None,
    known: plain.Trained | None = None,
    part: bool = False,
    edits: str | None = None,
) -> View:
    """The answer of `ntpcore predict PATH --sentence SENTENCE --steps STEPS [--chars]`.

    Where that command refuses, as Assumption 1 fails, the model is trained on all samples, by the
    next-token map that the page shows.

    Args:
        path: the data to train on.
        sentence: tokens, separated by white space, or characters.
        chars: whether every character is a token.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.
        trained: called with the trained model, which may be handed back as `known`.
        known: the model, if it was trained before on the same data, as long.
        part: whether to train on the part that `repair` keeps, where the data are not realizable.
        edits: the lines that the reader wrote into the field of next tokens.

    Returns:
        `exit`; then `message` if it is 2, else `view`.
    """
    words = list("".join(sentence.split())) if chars else sentence.split()
    try:
        if known is None:
            structure = _structure(path, chars, part, edits)
            known = plain.train(structure, steps=steps, progress=progress, anyway=True)
            if trained is not None:
                trained(known)
        answer = plain.predict(known, words)
    except InputError as error:
        return _refusal(str(error))
    best = sorted(answer.probabilities.items(), key=lambda item: -item[1])[:MOST_NEXT]
    return {
        "exit": 0,
        "view": {
            "sentence": [terminal.show(word) for word in words],
            "attention": list(answer.attention),
            "roles": [answer.roles[word] for word in words],
            "next": [[terminal.show(token), probability] for token, probability in best],
            "more": max(0, len(answer.probabilities) - MOST_NEXT),
            "steps": known.steps,
            "covered": known.structure.realizable.holds is True,
            "notes": _training_notes(known.structure),
        },
    }


def _structure(path: str, chars: bool, part: bool, edits: str | None) -> order.Structure:
    """What to train on: the data, or on demand the part of them that `repair` keeps."""
    text = _read(path, chars, edits)
    structure = order.analyse(text.data, text.given, max_witnesses=1)
    if structure.realizable.holds is True:
        return structure
    if part:
        best, rest = _kept(text, path)
        return order.analyse(rest, best.collocation, max_witnesses=1)
    orders = order.orders_under(text.data, text.following)
    return replace(structure, data=text.data, collocation=text.following, orders=orders)


def _training_notes(structure: order.Structure) -> list[str]:
    """What was trained, and what theory says of it, a sentence each."""
    samples = f"{structure.data.sample_count} distinct samples"
    if structure.realizable.holds is True:
        kept = structure.data.name.startswith(PART)
        what = "that can be kept together" if kept else "of your text"
        return [
            f"The model was trained on the {samples} {what}. Assumption 1 holds for them, so that "
            "the max-margin direction is defined as in the paper."
        ]
    return [
        f"The model was trained on all {samples} of your text, also on those that contradict each "
        "other. Training used the next tokens that “Check” shows; a token without a next token "
        "adds nothing to a prediction.",
        "Assumption 1 fails for your text. Theorems 1, 2, and 3 of the paper presume it, so they "
        "do not apply: no theorem of the paper says where this attention converges.",
    ]


def certify(path: str, chars: bool = False, part: bool = False, edits: str | None = None) -> View:
    """The certificate that `ntpcore certify PATH [--chars]` writes.

    Args:
        path: the data.
        chars: whether every character is a token.
        part: whether it is about the part that `repair` keeps, with the collocation of that part.
        edits: the lines that the reader wrote into the field of next tokens.

    Returns:
        `exit`; then `message` if it is 2, else `text`, as written to the file, and `implied`.
    """
    try:
        text = _read(path, chars, edits)
        data: Dataset = text.data
        given: Mapping[str, str] = text.given
        if part:
            best, data = _kept(text, path)
            given = best.collocation
        return certificates.write(order.analyse(data, given))
    except InputError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal("the data do not fit into memory; use a part of them")


def verify(path: str) -> View:
    """What the checker says of a file: as `certificates.check`, or `exit` 2 and `message`."""
    try:
        return certificates.check(path)
    except InputError as error:
        return {"exit": 2, "message": terminal.show_name(str(error))}


def _kept(text: _Text, path: str) -> tuple[repairing.Repair, Dataset]:
    """What the greedy search found, and the part of the data that it keeps.

    Raises:
        InputError: it keeps nothing.
    """
    best = repairing.solve_greedy(repairing.tabulate(text.data, text.given))
    rest = best.rest()
    if rest is None:
        raise InputError(f"{path}: no part of it is realizable")
    return best, rest


def repair(path: str, chars: bool = False, edits: str | None = None) -> View:
    """A realizable part by the greedy search, and what `check` answers for that part.

    The collocation is the one of `ntpcore repair PATH --greedy [--chars]`, and the same samples
    are dropped.

    Returns:
        `exit`, 1 if an assumption fails on the part or a claim is refuted there; then `message` if
        it is 2, else `repair`, `json` and `view`, the last two of the part.
    """
    try:
        text = _read(path, chars, edits)
        best, rest = _kept(text, path)
        found = report.answer(rest, best.collocation, source=f"{path} --repair")
        part = {"repair": repairs.to_json(best), "part": report.to_json(found)}
        chosen = _chosen(text, best)
        undecided = {token for token, entry in chosen.items() if entry.following is None}
        view = _view(found, undecided)
        view |= _next_tokens(replace(text, data=rest, entries=chosen)) | {"table": text.table}
    except InputError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal("the data do not fit into memory; use a part of them")
    json_text = json.dumps(part, ensure_ascii=False, indent=2) + "\n"
    exit_code = 0 if found.holds else 1
    return {"exit": exit_code, "json": json_text, "repair": _repair(best, undecided), "view": view}


def _chosen(text: _Text, best: repairing.Repair) -> dict[str, next_tokens.Entry]:
    """The collocation of a part, without the pairs that only fill it up.

    A pair is needed where a kept sample goes by it. All others could be any, and none is shown.
    """
    names = best.table.data.vocabulary
    needed = {
        best.sources[best.table.data.lines[at.line].tokens[at.length]] for at, _ in best.kept()
    }
    entries = {}
    for number, token in enumerate(names):
        before = text.entries.get(token, next_tokens.Entry(None, next_tokens.NONE))
        following = best.collocation[token]
        if number not in needed and token not in text.given:
            entries[token] = next_tokens.Entry(None, next_tokens.NONE)
        elif following == before.following and before.origin != next_tokens.INFERRED:
            entries[token] = before
        else:
            entries[token] = next_tokens.Entry(following, next_tokens.INFERRED)
    return entries


def turn(
    path: str,
    sentence: str,
    chars: bool = False,
    steps: int = plain.STEPS,
    progress: plain.Progress | None = None,
    part: bool = False,
    edits: str | None = None,
) -> View:
    """The attention of a sentence at steps of a training, beside the max-margin direction.

    Args:
        path: the data to train on.
        sentence: tokens, separated by white space, or characters.
        chars: whether every character is a token.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.
        part: whether to train on the part that `repair` keeps, where the data are not realizable.
        edits: the lines that the reader wrote into the field of next tokens.

    Returns:
        `exit`; then `message` if it is 2, else `view`.
    """
    words = list("".join(sentence.split())) if chars else sentence.split()
    try:
        structure = _structure(path, chars, part, edits)
        frames = attention_steps.frames(structure, words, steps, progress)
    except InputError as error:
        return _refusal(str(error))
    under = (structure.orders or {}).get(words[-1])
    return {
        "exit": 0,
        "view": {
            "sentence": [terminal.show(word) for word in words],
            "roles": [plain.role_of(word, under) for word in words],
            "frames": [[one.step, list(one.attention), list(one.aim)] for one in frames],
            "steps": steps,
            "covered": structure.realizable.holds is True,
            "notes": _training_notes(structure),
        },
    }


def _repair(best: repairing.Repair, undecided: Collection[str]) -> View:
    """What was dropped, and why: no reason names the next token of an undecided token."""
    data = best.table.data
    listed = []
    for one in islice(best.dropped(), MOST_DROPPED):
        line = data.lines[one.at.line]
        before = line.tokens[max(0, one.at.length - MOST_WORDS) : one.at.length]
        following = data.vocabulary[line.tokens[one.at.length]]
        source = data.vocabulary[best.sources[line.tokens[one.at.length]]]
        reason = one.reason
        if source in undecided:
            reason = f"no token has the next token {terminal.show(following)!r} in the kept part"
        listed.append(
            {
                "line": line.number,
                "cut": one.at.length > MOST_WORDS,
                "words": [terminal.show(data.vocabulary[token]) for token in before],
                "next": terminal.show(following),
                "count": one.count,
                "reason": _cut(terminal.show_name(reason)),
            }
        )
    return {
        "weight": best.table.weight,
        "kept": best.kept_weight,
        "most": best.bound,
        "dropped": listed,
        "more": best.dropped_count - len(listed),
    }


def _refusal(message: str) -> View:
    """A message, in the words of the page."""
    return {"exit": 2, "message": wording.plainly(terminal.show_name(message))}


def _view(found: report.Answer, undecided: Collection[str] = ()) -> View:
    """What the page shows of an answer; the next tokens of undecided tokens are not shown."""
    structure = found.structure
    data = structure.data
    view: View = {
        "tokens": len(data.vocabulary),
        "samples": data.sample_count,
        "longest": data.max_length,
        "closed": data.prefix_closed,
        "assumptions": [
            {"number": "1", "words": "realizable", "holds": structure.realizable.holds},
            {"number": "3", "words": "optimal tokens frequent", "holds": structure.frequent.holds},
        ],
        "sections": _sections(found),
        "lines": _lines(data, structure),
        "moreLines": max(0, len(data.lines) - MOST_LINES),
        "claims": [
            {
                "labels": [one.label for one in checks],
                "verdict": checks[0].verdict.value,
                "mark": MARKS[checks[0].verdict],
                "evidence": _said(checks[0].evidence),
            }
            for checks in rows.alike(found.checks)
        ],
    }
    return view | _orders(found) | _matrices(found, undecided)


def _sections(found: report.Answer) -> list[View]:
    """What attention learns or can decide, and how far the data are from the assumptions."""
    structure = found.structure
    parts = [rows.of_learned(found)]
    if structure.realizable.holds is True:
        decides = rows.of_contexts(learned.contexts(structure.data, structure.collocation, {}))
        parts = [rows.Row("What attention can decide", "title", (decides,))]
    if structure.realizable.holds is not True or structure.frequent.holds is not True:
        parts.append(rows.of_assumptions(found, MOST_ALIKE))
    return [_row(part) for part in parts if part is not None]


def _row(one: rows.Row) -> View:
    """A row in the words of the page, which has lines to show and no commands."""
    return {
        "text": _cut(wording.plainly(one.text)),
        "lines": [place.line for place in one.below if place.role == rows.PLACE],
        "below": [
            _row(lower) for lower in one.below if lower.role not in (rows.PLACE, rows.COMMAND)
        ],
    }


def _lines(data: Dataset, structure: order.Structure) -> list[View]:
    """The distinct lines as they were read, those that break an assumption first to be kept."""
    marks: dict[int, dict[int, list[str]]] = {}
    for assumption in (structure.realizable, structure.frequent):
        for failure in assumption.failures:
            for sample in failure.samples:
                at = marks.setdefault(sample.line, {}).setdefault(sample.length, [])
                at.append(failure.rule)
    places = sorted(range(len(data.lines)), key=lambda place: (place not in marks, place))
    shown = []
    for place in sorted(places[:MOST_LINES]):
        line = data.lines[place]
        words = [terminal.show(data.vocabulary[token]) for token in line.tokens[:MOST_WORDS]]
        shown.append(
            {
                "number": line.number,
                "count": line.count,
                "words": words,
                "more": len(line.tokens) - len(words),
                "marks": [
                    {"length": length, "rules": list(dict.fromkeys(rules))}
                    for length, rules in sorted(marks.get(place, {}).items())
                ],
            }
        )
    return shown


def _orders(found: report.Answer) -> View:
    """The orders, those first under which the closed form of Proposition 2 fails."""
    orders, columns = found.structure.orders, found.columns
    if orders is None:
        return {"orders": None, "moreOrders": 0, "wrong": 0}
    wrong = {
        query
        for query, column in (columns or {}).items()
        if margin.closed_form_scores(orders[query]) != column.scores
    }
    chosen = sorted(orders, key=lambda query: query not in wrong)[:MOST_ORDERS]
    exact: Mapping[str, margin.Solution] = columns or {}
    shown = [_order(orders[query], exact.get(query), found.structure.data) for query in chosen]
    return {"orders": shown, "moreOrders": len(orders) - len(chosen), "wrong": len(wrong)}


def _order(one: PartialOrder, exact: margin.Solution | None, data: Dataset) -> View:
    """One order: its drawing, the roles, and the exact column with its proof."""
    drawing = diagram.draw(one)
    others = [token for token in data.vocabulary if token not in one.compared]
    view: View = {
        "query": terminal.show(one.query),
        "drawing": None if drawing is None else _drawing(drawing),
        "words": diagram.in_words(one),
        "roles": {
            "optimal": _tokens(one.optimal),
            "non-optimal": _tokens(one.nonoptimal),
            "non-comparable": _tokens(others),
            "confused": _tokens(sorted(one.confused)),
        },
        "column": None,
    }
    if exact is not None:
        view["column"] = _column(one, explain.compare(one, exact))
    else:
        view |= _any_scores(one)
    return view


def _any_scores(one: PartialOrder) -> View:
    """The max-margin scores of an order of which the closed form does not speak."""
    if len(one.pairs) > MOST_SOLVED:
        return {"scores": None, "circles": []}
    solution = any_order.solve(one)  # two levels, several, or circles
    scores = list(solution.scores.items())
    return {
        "scores": [
            [terminal.show(token), _fraction(score)] for token, score in scores[:MOST_WORDS]
        ],
        "moreScores": max(0, len(scores) - MOST_WORDS),
        "circles": [_tokens(part) for part in solution.components if len(part) > 1],
        "proved": not any_order.certificate_errors(one, solution.scores, solution.multipliers),
    }


def _drawing(drawing: diagram.Diagram) -> View:
    """A drawing as plain data."""
    return {
        "width": drawing.width,
        "height": drawing.height,
        "nodes": [node._asdict() for node in drawing.nodes],
        "lines": [{"points": line.points, "back": line.back} for line in drawing.lines],
    }


def _tokens(tokens: Iterable[str]) -> list[str]:
    """The first tokens, and how many more there are."""
    listed = list(tokens)
    more = [f"and {len(listed) - MOST_WORDS} more"] if len(listed) > MOST_WORDS else []
    return [terminal.show(token) for token in listed[:MOST_WORDS]] + more


def _column(one: PartialOrder, both: explain.Comparison) -> View:
    """The exact column of a query beside the closed form, with blocks and certificate."""
    exact, closed = both.exact, both.closed
    errors = margin.certificate_errors(one, exact.scores, exact.multipliers)
    return {
        "agree": both.hall is None,
        "words": explain.in_words(one, both),
        "closedNorm": _fraction(margin.norm_squared(closed)),
        "exactNorm": _fraction(margin.norm_squared(exact.scores)),
        "scores": [
            [terminal.show(token), _fraction(closed[token]), _fraction(exact.scores[token])]
            for token in list(exact.scores)[:MOST_WORDS]
        ],
        "blocks": [
            {
                "optimal": _tokens(block.optimal),
                "nonoptimal": _tokens(block.nonoptimal),
                "size": list(block.size),
                "upper": _fraction(block.value),
                "lower": _fraction(block.value - 1),
            }
            for block in exact.blocks
        ],
        "pairs": [
            {
                "upper": terminal.show(a),
                "lower": terminal.show(b),
                "margin": _fraction(exact.scores[a] - exact.scores[b]),
                "weight": _fraction(exact.multipliers.get((a, b), Fraction(0))),
            }
            for a, b in sorted(one.pairs)[:MOST_PAIRS]
        ],
        "morePairs": max(0, len(one.pairs) - MOST_PAIRS),
        "certified": not errors,
    }


def _matrices(found: report.Answer, undecided: Collection[str]) -> View:
    """W_kq_star and W_ov_star as tables of fractions, where they are small enough to be read."""
    collocation, columns = found.structure.collocation, found.columns
    tokens = found.structure.data.vocabulary
    total = next_tokens.without_gaps(collocation)
    view: View = {"W_kq": None, "W_ov": None, "normSquared": None}
    if columns is not None:
        norm = margin.norm_squared(column.scores for column in columns.values())
        view["normSquared"] = _fraction(norm)
        scores = {query: column.scores for query, column in columns.items()}
        view["W_kq"] = _table(tokens, scores, "0")
    if len(total) == len(tokens) and len(tokens) <= MOST_COLUMNS:
        shown = {
            token: column
            for token, column in margin.W_ov_star(total).items()
            if token not in undecided
        }
        view["W_ov"] = _table(tokens, shown, "")
    return view


def _table(
    tokens: tuple[str, ...], columns: Mapping[str, margin.Scores], missing: str
) -> View | None:
    """A matrix with a row for each token and these columns; None where it is too large."""
    if len(tokens) > MOST_COLUMNS or not columns:
        return None
    return {
        "columns": [terminal.show(query) for query in columns],
        "rows": [
            [
                terminal.show(token),
                *(_fraction(c[token]) if token in c else missing for c in columns.values()),
            ]
            for token in tokens
        ],
    }


def _said(evidence: str) -> str:
    """What was found of a claim, in the words of the page and without formulas."""
    return _cut(wording.plainly(terminal.show_name(maths.plain(evidence))))


def _cut(text: str) -> str:
    """A sentence of bearable length."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _fraction(value: Fraction) -> str:
    """A fraction in lowest terms, with a proper minus sign."""
    return str(value).replace("-", "−")


WARM = (  # realizable; with several next tokens; with a circle; nothing
    "a b\nb a\na b b\n",
    "the cat sat on the mat\nthe dog sat\na dog ran\n",
    "a b\nb c\nc a\na b c b\na b c c\nb a c a\nb a c b\na c b b\na c b c\n",
    "",
)


def warm_up() -> None:
    """Answer every kind of question once, so that all that answers need is loaded."""
    path = "sentences.txt"
    for content in WARM:
        Path(path).write_text(content, encoding="utf-8")
        written = certify(path)
        Path(CERTIFICATE).write_text(str(written.get("text", "")), encoding="utf-8")
        answers = (
            written,
            verify(CERTIFICATE),
            check(path),
            repair(path, edits=""),
            ask(path, "a b", steps=1),
            turn(path, "a b", steps=1),
        )
        json.dumps(answers)
    Path(path).unlink()
    Path(CERTIFICATE).unlink()
