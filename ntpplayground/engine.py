"""What the playground of the book shows: what `ntpcore` answers on a text, as plain data.

The browser writes what the reader typed into a file and calls these functions, so that it goes the
same way as on the command line, down to the numbers of lines in messages. Every text in `view` is
safe to print, and cut to what a page can show; `json` is what `ntpcore check --json` prints.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import islice

from ntpcli import check as report
from ntpcli import distance
from ntpcli import repair as repairs
from ntpcore.data import dataset, order
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import Assumption, PartialOrder
from ntpcore.exact import margin
from ntpcore.exact import repair as repairing
from ntpcore.huang2024 import plain
from ntpplayground import attention_steps, diagram, explain
from ntpverdicts.claims import MARKS

MOST_ORDERS = 12  # of each kind, what a page shows; the JSON has all
MOST_LINES, MOST_WORDS, MOST_FAILURES, MOST_COLUMNS, MOST_NEXT = 60, 60, 20, 16, 10
MOST_PAIRS, MOST_DROPPED, LONGEST = 60, 60, 400
MISSING = "collocation-missing"

View = dict[str, object]


def check(path: str, chars: bool = False) -> View:
    """The answer of `ntpcore check PATH [--chars] --json`, and what a page shows of it.

    Returns:
        `exit`, the exit code of that command; then `message` if it is 2, as printed on standard
        error, else `json`, as printed on standard output, and `view`.
    """
    try:
        data = dataset.read(path, chars=chars)
        found = report.answer(data, source=f"{path} --chars" if chars else path)
    except InputError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal("the data do not fit into memory; use a part of them")
    text = json.dumps(report.to_json(found), ensure_ascii=False, indent=2) + "\n"
    return {"exit": 0 if found.holds else 1, "json": text, "view": _view(found)}


def ask(
    path: str,
    sentence: str,
    chars: bool = False,
    steps: int = plain.STEPS,
    progress: plain.Progress | None = None,
    trained: Callable[[plain.Trained], object] | None = None,
    known: plain.Trained | None = None,
    part: bool = False,
) -> View:
    """The answer of `ntpcore predict PATH --sentence SENTENCE --steps STEPS [--chars]`.

    Args:
        path: the data to train on.
        sentence: tokens, separated by white space, or characters.
        chars: whether every character is a token.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.
        trained: called with the trained model, which may be handed back as `known`.
        known: the model, if it was trained before on the same data, as long.
        part: whether to train on the part that `repair` keeps, where the data are not realizable.

    Returns:
        `exit`; then `message` if it is 2, and `unrealizable` where the data are; else `view`.
    """
    words = list("".join(sentence.split())) if chars else sentence.split()
    try:
        if known is None:
            structure = _structure(path, chars, part)
            if structure.realizable.holds is not True:
                return _unrealizable(structure)
            known = plain.train(structure, steps=steps, progress=progress)
            if trained is not None:
                trained(known)
        answer = plain.predict(known, words)
    except InputError as error:
        return _refusal(str(error))
    best = sorted(answer.probabilities.items(), key=lambda item: -item[1])[:MOST_NEXT]
    return {
        "exit": 0,
        "view": {
            "sentence": [report.show(word) for word in words],
            "attention": list(answer.attention),
            "roles": [answer.roles[word] for word in words],
            "next": [[report.show(token), probability] for token, probability in best],
            "more": max(0, len(answer.probabilities) - MOST_NEXT),
            "steps": known.steps,
        },
    }


def _structure(path: str, chars: bool, part: bool) -> order.Structure:
    """What to train on: the data, or on demand the part of them that `repair` keeps."""
    data = dataset.read(path, chars=chars)
    structure = order.analyse(data, max_witnesses=1)
    if structure.realizable.holds is True or not part:
        return structure
    best, rest = _kept(data, path)
    return order.analyse(rest, best.collocation, max_witnesses=1)


def _kept(data: Dataset, path: str) -> tuple[repairing.Repair, Dataset]:
    """What the greedy search found, and the part of the data that it keeps.

    Raises:
        InputError: it keeps nothing.
    """
    best = repairing.solve_greedy(repairing.tabulate(data))
    rest = best.rest()
    if rest is None:
        raise InputError(f"{path}: no part of it is realizable")
    return best, rest


def repair(path: str, chars: bool = False) -> View:
    """A realizable part by the greedy search, and what `check` answers for that part.

    The collocation is the one of `ntpcore repair PATH --greedy [--chars]`, and the same samples
    are dropped.

    Returns:
        `exit`, 1 if an assumption fails on the part or a claim is refuted there; then `message` if
        it is 2, else `repair`, `json` and `view`, the last two of the part.
    """
    try:
        best, rest = _kept(dataset.read(path, chars=chars), path)
        found = report.answer(rest, best.collocation, source=f"{path} --repair")
        part = {"repair": repairs.to_json(best), "part": report.to_json(found)}
    except InputError as error:
        return _refusal(str(error))
    except MemoryError:
        return _refusal("the data do not fit into memory; use a part of them")
    text = json.dumps(part, ensure_ascii=False, indent=2) + "\n"
    exit_code = 0 if found.holds else 1
    return {"exit": exit_code, "json": text, "repair": _repair(best), "view": _view(found)}


def turn(
    path: str,
    sentence: str,
    chars: bool = False,
    steps: int = plain.STEPS,
    progress: plain.Progress | None = None,
    part: bool = False,
) -> View:
    """The attention of a sentence at steps of a training, beside the max-margin direction.

    Args:
        path: the data to train on.
        sentence: tokens, separated by white space, or characters.
        chars: whether every character is a token.
        steps: steps of stage 2.
        progress: called with the steps taken and those in all.
        part: whether to train on the part that `repair` keeps, where the data are not realizable.

    Returns:
        `exit`; then `message` if it is 2, and `unrealizable` where the data are; else `view`.
    """
    words = list("".join(sentence.split())) if chars else sentence.split()
    try:
        structure = _structure(path, chars, part)
        if structure.realizable.holds is not True:
            return _unrealizable(structure)
        frames = attention_steps.frames(structure, words, steps, progress)
    except InputError as error:
        return _refusal(str(error))
    under = (structure.orders or {}).get(words[-1])
    return {
        "exit": 0,
        "view": {
            "sentence": [report.show(word) for word in words],
            "roles": [plain.role_of(word, under) for word in words],
            "frames": [[one.step, list(one.attention), list(one.aim)] for one in frames],
            "steps": steps,
        },
    }


def _repair(best: repairing.Repair) -> View:
    """What was dropped, and the next token of each token in the part that was kept."""
    data = best.table.data
    listed = []
    for one in islice(best.dropped(), MOST_DROPPED):
        line = data.lines[one.at.line]
        before = line.tokens[max(0, one.at.length - MOST_WORDS) : one.at.length]
        listed.append(
            {
                "line": line.number,
                "cut": one.at.length > MOST_WORDS,
                "words": [report.show(data.vocabulary[token]) for token in before],
                "next": report.show(data.vocabulary[line.tokens[one.at.length]]),
                "count": one.count,
                "reason": _cut(report.show_name(one.reason)),
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
    """A message, as the command line prints it on standard error."""
    return {"exit": 2, "message": f"ntpcore: {report.show_name(message)}"}


def _unrealizable(structure: order.Structure) -> View:
    """Why there is nothing to train towards; the page offers the part that can be kept."""
    reason = structure.realizable.failures[0].message
    name = structure.data.name
    return {**_refusal(f"{name}: not realizable (Assumption 1): {reason}"), "unrealizable": True}


def _view(found: report.Answer) -> View:
    """What the page shows of an answer."""
    structure = found.structure
    data = structure.data
    view: View = {
        "tokens": len(data.vocabulary),
        "samples": data.sample_count,
        "longest": data.max_length,
        "closed": data.prefix_closed,
        "collocation": [
            [report.show(token), None if following is None else report.show(following)]
            for token, following in list(structure.collocation.items())[: MOST_ORDERS * 4]
        ],
        "assumptions": [
            _assumption("1", "realizable", structure.realizable, data),
            _assumption("3", "optimal tokens are the most frequent", structure.frequent, data),
        ],
        "distance": _distance(found),
        "lines": _lines(data, structure),
        "moreLines": max(0, len(data.lines) - MOST_LINES),
        "claims": [
            {
                "label": one.label,
                "verdict": one.verdict.value,
                "mark": MARKS[one.verdict],
                "evidence": _cut(report.show_name(one.evidence)),
            }
            for one in found.checks
        ],
    }
    return view | _orders(found) | _matrices(found)


def _missing(names: tuple[str, ...], many: int) -> View:
    """Tokens that start no sentence, as one failure that names the first of them."""
    listed = ", ".join(report.show(name) for name in names[:MOST_FAILURES])
    dots = ", …" if many > MOST_FAILURES else ""
    said = "token starts" if many == 1 else "tokens start"
    message = f"{many} {said} no sentence, so nothing says what follows there: "
    return {"rule": MISSING, "places": [], "message": _cut(message + listed + dots)}


def _assumption(number: str, words: str, broken: Assumption, data: Dataset) -> View:
    """An assumption, and the first ways in which it fails; what starts no sentence in one line."""
    missing = [one for one in broken.failures if one.rule == MISSING]
    others = [one for one in broken.failures if one.rule != MISSING]
    failures: list[View] = [
        {
            "rule": failure.rule,
            "message": _cut(report.show_name(failure.message)),
            "places": [
                {"line": data.lines[sample.line].number, "length": sample.length}
                for sample in failure.samples
            ],
        }
        for failure in others[:MOST_FAILURES]
    ]
    counts = broken.counts or {}
    more = sum(counts.values()) - counts.get(MISSING, 0) - len(failures)
    if missing:
        names = tuple(failure.tokens[0] for failure in missing)
        failures.append(_missing(names, counts.get(MISSING, len(names))))
    return {
        "number": number,
        "words": words,
        "holds": broken.holds,
        "failures": failures,
        "more": more,
    }


def _distance(found: report.Answer) -> list[str]:
    """How far the data are from Assumption 1, in sentences; none where it holds."""
    if found.distance is None:
        return [_cut(report.show_name(found.unmeasured))] if found.unmeasured else []
    return [_cut(report.show_name(line.strip())) for line in distance.facts(found.distance)]


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
        words = [report.show(data.vocabulary[token]) for token in line.tokens[:MOST_WORDS]]
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
        "query": report.show(one.query),
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
    return view


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
    return [report.show(token) for token in listed[:MOST_WORDS]] + more


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
            [report.show(token), _fraction(closed[token]), _fraction(exact.scores[token])]
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
                "upper": report.show(a),
                "lower": report.show(b),
                "margin": _fraction(exact.scores[a] - exact.scores[b]),
                "weight": _fraction(exact.multipliers.get((a, b), Fraction(0))),
            }
            for a, b in sorted(one.pairs)[:MOST_PAIRS]
        ],
        "morePairs": max(0, len(one.pairs) - MOST_PAIRS),
        "certified": not errors,
    }


def _matrices(found: report.Answer) -> View:
    """W_kq_star and W_ov_star as tables of fractions, where they are small enough to be read."""
    collocation, columns = found.structure.collocation, found.columns
    tokens = found.structure.data.vocabulary
    total = {token: following for token, following in collocation.items() if following is not None}
    view: View = {"W_kq": None, "W_ov": None, "normSquared": None}
    if columns is not None:
        norm = margin.norm_squared(column.scores for column in columns.values())
        view["normSquared"] = _fraction(norm)
        scores = {query: column.scores for query, column in columns.items()}
        view["W_kq"] = _table(tokens, scores, "0")
    if len(total) == len(tokens) and len(tokens) <= MOST_COLUMNS:
        view["W_ov"] = _table(tokens, margin.W_ov_star(total), "")
    return view


def _table(
    tokens: tuple[str, ...], columns: Mapping[str, margin.Scores], missing: str
) -> View | None:
    """A matrix with a row for each token and these columns; None where it is too large."""
    if len(tokens) > MOST_COLUMNS or not columns:
        return None
    return {
        "columns": [report.show(query) for query in columns],
        "rows": [
            [
                report.show(token),
                *(_fraction(c[token]) if token in c else missing for c in columns.values()),
            ]
            for token in tokens
        ],
    }


def _cut(text: str) -> str:
    """A sentence of bearable length."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _fraction(value: Fraction) -> str:
    """A fraction in lowest terms, with a proper minus sign."""
    return str(value).replace("-", "−")
