"""The answer of `ntpcore check` in words, as rows: for a terminal, a report, and the playground.

Each sentence is written here once. A row may have rows below it; the terminal indents them, pages
nest them. The facts behind the rows are those of `check.Answer`, which `--json` prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ntpcli.check import Answer
from ntpcli.distance import Distance
from ntpcli.terminal import Write, show, show_name, warn_of_twins
from ntpcore.data import next_tokens, order
from ntpcore.data.dataset import Dataset
from ntpcore.data.order import Assumption
from ntpcore.exact import margin
from ntpcore.exact.margin import Scores
from ntpcore.exact.repair import Repair
from ntpcore.learned import MOST_SOLVED, Contexts, Learned
from ntpverdicts.claims import MARKS, Check, Verdict, certainty_words
from ntpverdicts.maths import plain

PLACE, COMMAND = "place", "command"  # roles of rows that a page leaves out
EXAMPLES = 2  # failures of one rule that a terminal shows
QUERIES = 3  # of data that break Assumption 1, with contradictions and without
LISTED = 12  # tokens of a row, and queries of data that satisfy Assumption 1


@dataclass(frozen=True)
class Row:
    """One line of the answer.

    Attributes:
        text: what it says, safe to print.
        role: its color: title, plain, faint, a verdict; or PLACE for a sample in the data, or
            COMMAND for what to type next.
        below: the rows that belong to it.
        line: the line of the data that a PLACE is in; 0 elsewhere.
    """

    text: str
    role: str = "plain"
    below: tuple[Row, ...] = ()
    line: int = 0


class Rule(NamedTuple):
    """A rule of Assumption 1 or 3 in words: for one failure of it, and for many."""

    one: str
    many: str


RULES = {
    "collocation-missing": Rule(
        "1 token starts no sentence, so its next token n is not defined",
        "{} tokens start no sentence, so their next tokens n are not defined",
    ),
    "collocation-ambiguous": Rule(
        "1 token is followed by different tokens where it starts a sentence",
        "{} tokens are followed by different tokens where they start a sentence",
    ),
    "collocation-not-injective": Rule(
        "1 token has the same next token as another one",
        "{} tokens have the same next token as another one",
    ),
    "next-token-unexplained": Rule(
        "1 sample has a next token that is n of no token of its sentence",
        "{} samples have a next token that is n of no token of their sentence",
    ),
    "confused-token": Rule(
        "1 time a token lies above one token and below another under the same query",
        "{} times a token lies above one token and below another under the same query",
    ),
    "optimal-token-outnumbered": Rule(
        "1 sample has a non-optimal token more often than the optimal ones",
        "{} samples have a non-optimal token more often than the optimal ones",
    ),
}
_OF_TOKENS = ("collocation-missing", "collocation-ambiguous", "collocation-not-injective")


def sections(found: Answer, most: int = EXAMPLES) -> list[Row]:
    """The whole answer. What attention learns comes before what the theorems ask of the data.

    Args:
        found: what `check` found.
        most: how many failures of one rule are listed.
    """
    learned = of_learned(found)
    parts = [of_data(found), *([learned] if learned else []), of_assumptions(found, most)]
    parts += [] if learned else [of_columns(found)]
    parts.append(of_claims(found))
    if found.part is not None:
        title = "The largest part that was found to satisfy Assumption 1, by itself"
        parts += [Row("", "plain"), Row(title, "title"), *sections(found.part, most)]
    return parts


def write_text(found: Answer, write: Write) -> None:
    """The answer for people; `write` takes a line and the role of it."""
    for one in sections(found):
        _write(one, write, "")


def _write(one: Row, write: Write, indent: str) -> None:
    """A row, and those below it two blanks further in."""
    role = "faint" if one.role in (PLACE, COMMAND) else one.role
    write(f"{indent}{one.text}", role)
    for lower in one.below:
        _write(lower, write, f"{indent}  ")


# The data


def of_data(found: Answer) -> Row:
    """Name, size, and next tokens of the data."""
    structure = found.structure
    data = structure.data
    closed = "yes" if data.prefix_closed else "no"
    known = [f"{show(a)} → {show(b)}" for a, b in structure.collocation.items() if b is not None]
    warning = warn_of_twins(data.vocabulary)
    return Row(
        f"Data  {show_name(data.name)}",
        "title",
        (
            Row(
                f"{len(data.vocabulary)} tokens, {data.sample_count} distinct samples, longest "
                f"sentence {data.max_length}, prefix-closed: {closed}"
            ),
            Row(f"collocation: {cut(known) if known else 'none'}"),
            *([Row(warning, "open")] if warning else []),
        ),
    )


# What attention learns


def of_learned(found: Answer) -> Row | None:
    """What attention learns where Assumption 1 fails; None where it holds."""
    if found.structure.realizable.holds is not False:
        return None
    title = "What attention learns from these data"
    learned = found.learned
    if learned is None:
        return Row(title, "title", (Row(show_name(found.unlearned), "faint"),))
    cycles = [_cycles(learned)] if learned.components else []
    rows = [*_origins(learned), *cycles, _strict(learned), of_contexts(learned.contexts)]
    return Row(title, "title", (*rows, *_growth(learned)))


def _origins(learned: Learned) -> list[Row]:
    """Where the next tokens come from; nothing where all are read off the data or given."""
    origins = [entry.origin for entry in learned.entries.values()]
    guessed, none = origins.count(next_tokens.INFERRED), origins.count(next_tokens.NONE)
    rows = []
    if guessed:
        text = (
            f"the next token n is inferred for {guessed} of {len(origins)} tokens, as the one that "
            "follows most often anywhere; no claim is judged by inferred next tokens"
        )
        rows.append(Row(text))
    if none:
        rows.append(
            Row(f"nothing follows {none} of {len(origins)} tokens, so n is not defined there")
        )
    return rows


def _cycles(learned: Learned) -> Row:
    """The components of more than one token, with their scores."""
    queries, orders = len(learned.components), len(learned.orders)
    return Row(
        f"contradictions: under {queries} of {orders} {'query' if orders == 1 else 'queries'} the "
        "comparisons form cycles; in the max-margin solution W_mm (graph-SVM of Li et al., 2024) "
        "the tokens of a cycle have equal scores",
        "plain",
        _scores(learned, list(learned.components)),
    )


def _strict(learned: Learned) -> Row:
    """The comparisons outside of cycles, with exact scores where nothing contradicts."""
    text = (
        f"strict part: {learned.strict} of {learned.comparisons} comparisons lie in no cycle; the "
        "max-margin solution W_mm meets each with a margin of at least 1"
    )
    others = [query for query in learned.orders if query not in learned.components]
    if learned.solution is None:
        text += (
            f"; its scores are left out for more than {MOST_SOLVED} comparisons"
            ", and ntpcore.max_margin computes them"
        )
    else:
        norm = learned.solution.norm_squared
        said = f"about {float(norm):.6g}" if len(str(norm)) > LISTED else str(norm)
        text += f"; squared norm {said}"
    return Row(text, "plain", _scores(learned, others) if learned.solution else ())


def _scores(learned: Learned, queries: Sequence[str]) -> tuple[Row, ...]:
    """The first of some queries, with the scores of their tokens, or their cycles alone."""
    rows = []
    for query in queries[:QUERIES]:
        parts = learned.components.get(query, ())
        told = cut([_equal(part) for part in parts], "; ")
        if learned.solution is not None:
            told = _levels(learned.solution.columns[query], parts)
        rows.append(Row(f"{show(query)}: {told}"))
    return (*rows, *_more(len(queries) - QUERIES, "queries"))


def _equal(tokens: Iterable[str]) -> str:
    """Tokens of one cycle."""
    return cut([show(token) for token in tokens], " = ")


def _levels(scores: Scores, parts: Sequence[Sequence[str]]) -> str:
    """The scores of one query, the highest first, equal ones together."""
    inside = {token for part in parts for token in part}
    found = []
    for score in sorted(set(scores.values()), reverse=True):
        cycles = [_equal(part) for part in parts if scores[part[0]] == score]
        single = [show(t) for t, value in scores.items() if value == score and t not in inside]
        found.append(f"{cut([*cycles, *single])} {score}")
    return "  >  ".join(found)


def of_contexts(found: Contexts) -> Row:
    """What decides the next tokens of the contexts."""
    decided = found.last + found.earlier
    kinds = (
        (found.last, "by the last token, the query itself"),
        (found.earlier, "by earlier tokens only, so attention alone can decide"),
        (found.contested, "are contested: each such token lies in a cycle with a rival"),
        (found.nowhere, "have a next token that is n of no token of their sentence"),
        (found.alone, "have a single token, which leaves attention no choice"),
    )
    return Row(
        f"of {found.total} contexts, attention decides {share(decided, found.total)}: their next "
        "token is n of a token that scores above all its rivals in W_mm",
        "plain",
        tuple(Row(f"{share(many, found.total)} {text}") for many, text in kinds if many),
    )


def _growth(learned: Learned) -> list[Row]:
    """How fast margins grow, as far as a claim of the book says."""
    rows = []
    if learned.components:
        text = (
            "a contradiction under one query can turn the linear growth of margins under other "
            "queries into logarithmic growth, under normalized descent with a constant step size: "
            "proved for one contradicting pair and one other margin (ours-contradiction), observed "
            "for the smallest margin under queries without a cycle in random data "
            "(ours-contradiction-runs), page any_data of the book"
        )
        rows.append(Row(text))
    if learned.contexts.nowhere:
        text = (
            "contexts whose next token is n of no token of their sentence pull on attention, too, "
            "and may keep it away from W_mm; no claim of the book says how far"
        )
        rows.append(Row(text))
    return rows


# The assumptions


def of_assumptions(found: Answer, most: int = EXAMPLES) -> Row:
    """Whether the assumptions hold, and how far the data are from them."""
    title = "Assumptions of the theorems"
    structure = found.structure
    if structure.realizable.holds is False:
        title = "How far the data are from the assumptions of the theorems"
    return Row(
        title,
        "title",
        (
            _assumption("Assumption 1 (realizable)", structure.realizable, found, most),
            _assumption("Assumption 3 (optimal tokens frequent)", structure.frequent, found, most),
        ),
    )


def _assumption(name: str, one: Assumption, found: Answer, most: int) -> Row:
    """An assumption, the rules that the data break, and the largest part that breaks none."""
    if one.holds is None:
        reason = ", because the collocation is not defined"
        if found.structure.realizable.holds is None:
            reason = ""
        return Row(f"{MARKS[Verdict.OPEN]} {name}: not decided{reason}", Verdict.OPEN.value)
    below = [_rule(rule, one, found, most) for rule in one.counts or {}]
    if one is found.structure.realizable:
        below += _largest_part(found)
    verdict, word = (Verdict.PROVED, "holds") if one.holds else (Verdict.REFUTED, "fails")
    return Row(f"{MARKS[verdict]} {name}: {word}", verdict.value, tuple(below))


def _rule(rule: str, one: Assumption, found: Answer, most: int) -> Row:
    """A broken rule with the first of its failures; tokens that start no sentence in one row."""
    count = (one.counts or {})[rule]
    text = (RULES[rule].one if count == 1 else RULES[rule].many).format(count)
    data = found.structure.data
    size = len(data.vocabulary)
    text += f" ({count / size:.1%} of all tokens)" if rule in _OF_TOKENS else ""
    far = found.distance
    if rule == "collocation-ambiguous" and far is not None:
        text += (
            f"; {share(far.contested, far.starting)} of the contexts of one token contradict any "
            "collocation"
        )
    failures = [failure for failure in one.failures if failure.rule == rule]
    if rule == "collocation-missing":
        tokens = [show(failure.tokens[0]) for failure in failures]
        named = [Row(cut(tokens, whole=count))] if tokens else []
        way_out = "add sentences that start with them, or give the collocation in a file"
        return Row(text, "plain", (*named, Row(way_out, "faint")))
    listed = [
        Row(show_name(failure.message), "plain", tuple(place(data, at) for at in failure.samples))
        for failure in failures[:most]
    ]
    if count > len(listed):
        left = f"... and {count - len(listed)} more (--json lists up to --max-witnesses)"
        listed.append(Row(left, "faint"))
    return Row(text, "plain", tuple(listed))


def place(data: Dataset, sample: order.SampleAt) -> Row:
    """A sample as file:line: sentence → next token."""
    shown = order.describe_sample(data, sample)
    sentence = shown["sentence"]
    assert isinstance(sentence, list)
    words = " ".join(map(show, sentence))
    number = data.lines[sample.line].number
    text = f"{show_name(data.name)}:{number}: {words} → {show(str(shown['next']))}"
    return Row(text, PLACE, (), number)


def _largest_part(found: Answer) -> list[Row]:
    """How much of the data satisfies Assumption 1 at once, and what to do."""
    if found.distance is None:
        return [Row(show_name(found.unmeasured), "faint")] if found.unmeasured else []
    far: Distance = found.distance
    part, weight = far.part, far.part.table.weight
    shares = (
        Row(f"{share(part.kept_weight, weight)} are explained{_limit(part)}"),
        Row(f"{share(far.unexplained, weight)} have a next token that is n of no token of theirs"),
        Row(f"{share(far.contradicting, weight)} make a token win that loses in explained ones"),
    )
    title = f"of {weight} contexts, by the collocation of the largest part found ({part.method})"
    return [Row(title, "plain", shares), *_commands(part, found.source)]


def _commands(part: Repair, source: str) -> list[Row]:
    """What to run next."""
    if part.dropped_count == 0:
        text = (
            f"nothing has to be dropped: ntpcore repair {source} --write-collocation n.txt gives "
            "the collocation with which Assumption 1 holds, for --collocation n.txt"
        )
        return [Row(text, COMMAND)]
    what = (
        f"what to drop, and which collocation to give: ntpcore repair {source} --write "
        "rest.jsonl --write-collocation n.txt"
    )
    claims = f"the claims on the explained part: ntpcore check {source} --repair"
    return [Row(what, COMMAND), Row(claims, COMMAND)]


def _limit(part: Repair) -> str:
    """What no part exceeds, where this one is not known to be the largest."""
    if part.gap == 0:
        return ""
    return f"; no collocation explains more than {part.bound / part.table.weight:.1%}"


# Orders and max-margin attention


def of_columns(found: Answer, most: int = LISTED) -> Row:
    """The orders with exact max-margin attention, for data that satisfy Assumption 1."""
    orders, columns = found.structure.orders, found.columns
    title = "Partial orders and exact max-margin attention W_kq*, by query"
    if orders is None or columns is None:
        return Row(title, "title", (Row("not decided: the orders are too large", "open"),))
    if not columns:
        nothing = "empty: no sentence has two different tokens, so nothing is compared"
        return Row(title, "title", (Row(nothing, "plain"), Row("squared norm of W_kq*: 0")))
    rows = []
    for query in list(columns)[:most]:
        one, column = orders[query], columns[query]
        above = cut([f"{show(t)} {column.scores[t]}" for t in one.optimal])
        below = cut([f"{show(t)} {column.scores[t]}" for t in one.nonoptimal])
        blocks = " ".join(f"({k},{m})" for k, m in (block.size for block in column.blocks))
        rows.append(Row(f"{show(query)}: {above}  >  {below}   blocks {blocks}"))
    total = margin.norm_squared([column.scores for column in columns.values()])
    rows += [*_more(len(columns) - most, "queries"), Row(f"squared norm of W_kq*: {total}")]
    return Row(title, "title", tuple(rows))


# Claims


def of_claims(found: Answer) -> Row:
    """The judged claims, and what theory says of the run."""
    rows = []
    for checks in alike(found.checks):
        check = checks[0]
        name = check.label if len(checks) == 1 else f"{len(checks)} claims"
        word = check.verdict.value + certainty_words(check.to_json())
        below = [Row(f"witness: {show_name(plain(check.witness))}")] if check.witness else []
        last = f"repeat:  {check.repeat}"
        if len(checks) > 1:
            last = ", ".join(one.label for one in checks)
        text = f"{MARKS[check.verdict]} {word:<10} {name}: {plain(check.evidence)}"
        rows.append(Row(text, check.verdict.value, (*below, Row(last, COMMAND))))
    rows += [Row(told, "faint") for told in found.outlook]
    return Row("Claims that depend on the data", "title", tuple(rows))


def alike(checks: Iterable[Check]) -> list[list[Check]]:
    """The checks one by one, but open ones with the same reason and no witness together."""
    groups: dict[str, list[Check]] = {}
    for check in checks:
        shared = check.verdict is Verdict.OPEN and not check.witness
        groups.setdefault(check.evidence if shared else check.label, []).append(check)
    return list(groups.values())


# Words


def cut(
    words: Sequence[str], between: str = ", ", *, most: int = LISTED, whole: int | None = None
) -> str:
    """The first few words, and how many more there are of the whole."""
    left = (len(words) if whole is None else whole) - min(len(words), most)
    return between.join(words[:most]) + (f", and {left} more" if left > 0 else "")


def share(many: int, whole: int) -> str:
    """A share with its number."""
    return f"{many / whole if whole else 0.0:.1%} ({many})"


def _more(left: int, what: str) -> list[Row]:
    """How many more there are, if any."""
    return [Row(f"... and {left} more {what} (--json lists them)", "faint")] if left > 0 else []
