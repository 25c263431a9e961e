"""What `ntpcore report` says about a reader's data, as tables and notes for its notebook."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.metadata import PackageNotFoundError, version
from itertools import islice, product
from pathlib import Path

from ntpbook.catalogue import find_claim
from ntpcli import check as report
from ntpcli import terminal
from ntpcli import train as training_report
from ntpcli.rows import Row, alike, cut, of_assumptions, of_columns, of_learned, place
from ntpcli.terminal import show, show_name
from ntpcore.data import dataset, digest, order
from ntpcore.data.dataset import InputError
from ntpcore.exact import repair
from ntpcore.huang2024 import bounds, prediction, runs
from ntpcore.huang2024.training import STEPS
from ntpverdicts.claims import MARKS, Verdict, render_html
from ntpverdicts.maths import plain
from ntpverdicts.tables import Table

MOST = 40  # rows of a table
_WORDS = 12  # tokens that a cell spells out
_PACKAGES = ("ntpcore", "numpy", "networkx", "numba", "matplotlib", "papermill")


@dataclass(frozen=True)
class Note:
    """A paragraph of text where a table or a figure could stand."""

    text: str

    def _repr_html_(self) -> str:
        """The paragraph as HTML."""
        return f'<p class="note">{escape(self.text)}</p>'


@dataclass(frozen=True)
class Page:
    """Several things below each other."""

    parts: tuple[str, ...]

    def _repr_html_(self) -> str:
        """All of them as HTML, each escaped where it was made."""
        return "".join(self.parts)


@dataclass(frozen=True, eq=False)
class Study:
    """All that the report shows.

    Attributes:
        found: what `ntpcore check` finds.
        run: the run on these data; None where they cannot be trained on.
        part: a realizable part; None where nothing has to be dropped.
        steps: steps of stage 2.
        source: how the command line names the data.
        digest: SHA-256 of the file.
        left_out: what of the page is missing because the data are too large for it, and why.
    """

    found: report.Answer
    run: runs.Run | None
    part: repair.Repair | None
    steps: int
    source: str
    digest: str
    left_out: tuple[str, ...] = ()

    @property
    def structure(self) -> order.Structure:
        """Collocation, orders and assumptions."""
        return self.found.structure


def study(
    path: str,
    *,
    name: str | None = None,
    form: str | None = None,
    chars: bool = False,
    collocation: str | None = None,
    steps: int = STEPS,
    max_pairs: int = order.MAX_PAIRS,
    room: int = dataset.ROOM,
    source: str = "FILE",
) -> Study:
    """Read, analyse, judge, train.

    Args:
        path: the file.
        name: what the report calls it; None for its path.
        form: as for `dataset.read`.
        chars: as for `dataset.read`.
        collocation: file of a collocation.
        steps: steps of stage 2.
        max_pairs: how many pairs all orders may hold together.
        room: bytes that the data may take.
        source: how the command line names the data.

    Raises:
        InputError: the data cannot be used.
    """
    name = path if name is None else name
    data = replace(dataset.read(path, form=form, chars=chars, room=room), name=name)
    given = None if collocation is None else order.read_collocation(collocation)
    left_out: list[str] = []
    try:
        found = report.answer(
            data, given, max_pairs=max_pairs, source=source, training=(steps, None, None)
        )
    except InputError as error:  # too many pairs; all else that data can lack was asked before
        left_out.append(f"Orders, attention, training and verdicts are left out: {error}")
        found = report.Answer(order.analyse_collocation(data, given), None, ())
    structure = found.structure
    part = None
    if found.distance is not None:
        part = found.distance.part
    elif structure.realizable.holds is not True:
        try:
            part = repair.solve_greedy(repair.tabulate(data, given))
        except InputError as error:
            left_out.append(f"What to drop is left out: {error}")
    return Study(
        found, found.run, part, steps, source, digest.of_files([Path(path)]), tuple(left_out)
    )


def summary(given: Study) -> Page:
    """The answer in a few sentences."""
    parts = [of_learned(given.found), of_assumptions(given.found)]
    lines = [one.text for part in parts if part is not None for one in part.below]
    if given.part is not None:
        share, most = given.part.share, given.part.bound / given.part.table.weight
        lines.append(
            f"The theory can explain at least {share:.1%} of the next tokens (a realizable part "
            f"was found) and at most {most:.1%}."
        )
    for verdict in Verdict:
        labels = [check.label for check in given.found.checks if check.verdict is verdict]
        if labels and verdict is not Verdict.OPEN:
            lines.append(f"{MARKS[verdict]} {verdict.value}: {', '.join(labels)}.")
    opened = sum(check.verdict is Verdict.OPEN for check in given.found.checks)
    if opened:
        lines.append(f"{MARKS[Verdict.OPEN]} {opened} claims are open here, with the reason below.")
    if given.run is not None and len(given.run.second.rows.step):
        rows = given.run.second.rows
        lines.append(
            f"After {given.steps} steps the attention points along the max-margin matrix up to "
            f"1 - cos = {rows.one_minus_cos[-1]:.2g}."
        )
    warning = terminal.warn_of_twins(given.structure.data.vocabulary)
    lines += [*given.left_out, *([warning] if warning else [])]
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return Page((f"<ul>{items}</ul>",))


def data_table(given: Study) -> Table:
    """Name, size and shape of the data."""
    data = given.structure.data
    rows = (
        ("file", show_name(data.name)),
        ("SHA-256", given.digest),
        ("tokens in the vocabulary", str(len(data.vocabulary))),
        ("distinct samples", str(data.sample_count)),
        ("longest sentence", str(data.max_length)),
        ("every prefix of a sample is a sample", "yes" if data.prefix_closed else "no"),
        ("the tokens", words(data.vocabulary)),
    )
    return Table(("", ""), rows)


def words(tokens: Iterable[str], most: int = _WORDS) -> str:
    """Tokens as text that can be read anywhere, cut after so many."""
    return cut([show(token) for token in tokens], most=most)


def _limited(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Page:
    """A table of the first rows, and how many more there are."""
    parts = [Table(header, tuple(rows[:MOST]))._repr_html_()]
    if len(rows) > MOST:
        text = f"... and {len(rows) - MOST} more; ntpcore check --json lists them."
        parts.append(Note(text)._repr_html_())
    return Page(tuple(parts))


def collocation_table(given: Study) -> Page:
    """n, token by token."""
    pairs = given.structure.collocation.items()
    rows = [(show(a), "not defined" if b is None else show(b)) for a, b in pairs]
    return _limited(("token x", "n(x)"), rows)


def learned(given: Study) -> Page:
    """What attention learns where Assumption 1 fails; nothing where it holds."""
    found = of_learned(given.found)
    return Page(()) if found is None else _nested(found)


def assumptions(given: Study) -> Page:
    """Whether the assumptions hold, and by which samples not."""
    return _nested(of_assumptions(given.found, MOST))


def attention(given: Study) -> Page | Note:
    """W_kq* by its columns, exactly."""
    reason = undefined(given)
    return Note(reason) if reason else _nested(of_columns(given.found, MOST))


def _nested(one: Row) -> Page:
    """The rows below a row, as lists within lists."""

    def items(some: Sequence[Row]) -> str:
        inner = "".join(f"<li>{escape(row.text)}{items(row.below)}</li>" for row in some)
        return f"<ul>{inner}</ul>" if inner else ""

    return Page((items(one.below),))


def words_in_row(sentence: Sequence[str]) -> str:
    """A sentence as text that can be read anywhere."""
    return " ".join(show(token) for token in sentence)


def repair_table(given: Study) -> Page | Note:
    """What to drop so that Assumption 1 holds."""
    part = given.part
    if part is None and given.structure.realizable.holds is not True:
        return Note(" ".join(given.left_out))
    if part is None:
        return Note("Nothing has to be dropped.")
    text = (
        f"Dropping {part.table.weight - part.kept_weight} of {part.table.weight} samples leaves a "
        f"realizable part; no part of more than {part.bound} is realizable. ntpcore repair finds "
        "the largest one, and writes it to a file that can be reported on in turn."
    )
    rows = [
        (place(part.table.data, one.at).text, str(one.count), show_name(one.reason))
        for one in islice(part.dropped(), MOST)
    ]
    table = Table(("sample to drop", "times", "why it cannot stay"), tuple(rows))
    return Page((Note(text)._repr_html_(), table._repr_html_()))


def undefined(given: Study) -> str:
    """Why there is no max-margin matrix; empty where there is one."""
    if given.structure.realizable.holds is None:
        return "Not decided: the orders are too large."
    if given.structure.orders is None:
        return "Not defined: without a collocation there are no orders."
    if given.found.columns is None:
        return "Not defined: a token is confused under some query. W_mm is in the first section."
    if not given.found.columns:
        return "Empty: no sentence has two different tokens, so that nothing is compared."
    return ""


def untrained(given: Study) -> str:
    """Why nothing was trained; empty where something was."""
    if given.structure.realizable.holds is None:
        return "Nothing was trained: the orders are too large."
    if given.structure.realizable.holds is not True:
        return (
            "Nothing was trained: Assumption 1 fails, which every statement on training presumes."
        )
    if given.run is None:
        return "Nothing was trained: no sentence has two different tokens, so nothing is learnt."
    return ""


def training_table(given: Study) -> Table | Note:
    """Where the run stands at its end."""
    if given.run is None:
        return Note(untrained(given))
    rows, c = given.run.second.rows, given.run.constants
    start = bounds.thm_1_speaks_from(c)
    lines = [
        ("steps of stage 1, of size", f"{c.steps1}, {c.eta0:.4g}"),
        ("steps of stage 2, of size", f"{given.steps}, {c.eta:.4g}"),
        ("Theorem 1, as stated, is informative from step", training_report.power(start)),
    ]
    if len(rows.step):
        lines[2:2] = [
            ("loss", f"{rows.loss[-1]:.6g} nats"),
            ("loss minus its infimum", f"{training_report.power(rows.log_excess[-1])} nats"),
            ("norm of W_kq", f"{rows.norm[-1]:.6g}"),
            ("1 - cos to W_kq*", f"{rows.one_minus_cos[-1]:.3g}"),
            ("least attention on optimal tokens", f"{rows.least_attention[-1]:.6g}"),
        ]
    for told in given.found.outlook:
        name, _, rest = told.partition(": ")
        lines.append((name, rest))
    return Table(("", ""), tuple(lines))


def verdicts(given: Study) -> Page:
    """All checks, those with the same reason to be open and no witness together."""
    parts = []
    for checks in alike(given.found.checks):
        check = checks[0]
        if len(checks) > 1 or (check.verdict is Verdict.OPEN and not check.witness):
            labels = ", ".join(one.label for one in checks)
            text = f"{MARKS[check.verdict]} open: {labels}. {plain(check.evidence)}"
            parts.append(Note(text)._repr_html_())
        else:
            claim = find_claim(check.label)
            named = {"number": claim.number, "title": claim.title}
            parts.append(render_html(check.to_json() | named))
    return Page(tuple(parts))


def unseen(data: dataset.Dataset, queries: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Sentences of two tokens that no sample has, by query."""
    known = {
        tuple(data.vocabulary[token] for token in line.tokens[:2])
        for line in data.lines
        if (data.prefixes and len(line.tokens) > 2) or len(line.tokens) == 3
    }
    first = islice(data.vocabulary, 50)
    for query, token in product(queries, list(first)):
        if (token, query) not in known:
            yield token, query


def prediction_table(given: Study) -> Table | Note:
    """What the trained transformer says about sentences that it has not seen."""
    if given.run is None:
        return Note(untrained(given))
    problem, data = given.run.problem, given.structure.data
    sentences: list[tuple[str, ...]] = []
    for query in problem.orders:
        sentences += islice(unseen(data, [query]), 2)
        if len(sentences) >= 12:
            break
    rows = []
    for sentence in sentences:
        answer = prediction.predict(problem, given.run.second, sentence)
        attention = ", ".join(
            f"{show(token)} {weight:.3f} ({answer.roles[token]})"
            for token, weight in zip(sentence, answer.attention, strict=True)
        )
        share = answer.probabilities[answer.likeliest]
        best = [t for t, p in answer.probabilities.items() if math.isclose(p, share, rel_tol=1e-9)]
        likely = words(best, 3) if len(best) < problem.vocab_size else "any token"
        rows.append((words_in_row(sentence), likely, f"{share:.3f}", attention))
    if not rows:
        return Note("Every sentence of two tokens is in the data.")
    header = ("sentence", "likeliest next token", "share", "attention and role")
    return Table(header, tuple(rows))


def commands_table(given: Study) -> Table:
    """The commands that repeat what this page shows."""
    source = given.source
    rows = [
        ("this page", f"ntpcore report {source} --steps {given.steps} -o report.html"),
        ("assumptions, orders, verdicts", f"ntpcore check {source} --steps {given.steps}"),
        ("the run, saved", f"ntpcore train {source} --steps {given.steps} -o run.npz"),
        ("a prediction", "ntpcore predict run.npz --sentence '...'"),
    ]
    if given.part is not None:
        rows[2:] = [("what to drop", f"ntpcore repair {source} --write rest.jsonl")]
    return Table(("what", "command"), tuple(rows))


def versions_table(given: Study) -> Table:
    """Versions that decide what this page says."""
    rows = [("Python", platform.python_version())]
    for name in _PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return Table(("package", "version"), tuple(rows))
