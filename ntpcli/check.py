"""The answer of `ntpcore check` as plain data; `rows` puts it in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ntpcli import distance as distances
from ntpcli import judge as on_data
from ntpcore.data import order
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.exact import margin
from ntpcore.exact.columns import solve_all
from ntpcore.learned import MOST_PAIRS, Learned, learn
from ntpverdicts.claims import Check

if TYPE_CHECKING:
    from ntpcore.huang2024.runs import Run

_MOST_ROLES = 20_000_000  # about 2 GB of them


@dataclass(frozen=True)
class Answer:
    """The result of `ntpcore check` for a data set.

    Attributes:
        structure: collocation, orders and assumptions.
        columns: W_kq_star by its columns; None where an assumption leaves it undefined.
        checks: the judged claims.
        learned: what attention learns, if Assumption 1 fails; None if not computed.
        unlearned: why `learned` was not computed, in words.
        distance: how far the data are from Assumption 1, if it fails; None if not measured.
        unmeasured: why `distance` was not measured, in words.
        part: the answer for the largest realizable part found, if requested; None otherwise.
        source: how the command line names the data.
        outlook: what theory says of the run on which claims were judged, and of its continuation.
        run: the run on which claims were judged; None if no run was trained.
    """

    structure: order.Structure
    columns: Mapping[str, margin.Solution] | None
    checks: tuple[Check, ...]
    learned: Learned | None = None
    unlearned: str = ""
    distance: distances.Distance | None = None
    unmeasured: str = ""
    part: Answer | None = None
    source: str = "FILE"
    outlook: tuple[str, ...] = ()
    run: Run | None = None

    @property
    def holds(self) -> bool:
        """Whether every assumption holds and no judged claim is refuted."""
        both = (self.structure.realizable, self.structure.frequent)
        refuted = any(check.verdict.value == "refuted" for check in self.checks)
        return all(assumption.holds is True for assumption in both) and not refuted


def answer(
    data: Dataset,
    given: Mapping[str, str] | None = None,
    *,
    claim: str | None = None,
    max_witnesses: int = order.MAX_WITNESSES,
    max_pairs: int = order.MAX_PAIRS,
    source: str = "FILE",
    training: tuple[int, float | None, float | None] | None = None,
    repair: bool = False,
    next_map: Mapping[str, str | None] | None = None,
) -> Answer:
    """The analysis of a data set, with verdicts on the claims that depend on the data.

    Args:
        data: the data set.
        given: a collocation for tokens that start no sentence.
        claim: label of the only claim to judge; None for all.
        max_witnesses: how many failures of each rule are listed.
        max_pairs: how many pairs all orders may hold together.
        source: how the command line names the data, for the command that repeats a check.
        training: steps, eta0, and eta of a run on which to judge the claims on training; None for
            no run. If eta0 or eta is None, the step size is that of huang2024, Section 7.
        repair: whether to judge the claims on the largest realizable part found, too, if Assumption
            1 fails.
        next_map: the next-token map for `Answer.learned`, with None for no next token; None to use
            `given`.

    Raises:
        InputError: data do not decide the claim, the orders would be too large, the run of
            `training` is refused, or `repair` finds the data too large or `given` not injective.
    """
    labels = on_data.labels(claim)
    structure = order.analyse(data, given, max_witnesses=max_witnesses, max_pairs=max_pairs)
    columns = None
    if structure.orders is not None and not any(o.confused for o in structure.orders.values()):
        columns = solve_all(structure.orders)
    judged = on_data.judge(structure, columns, labels, source, training)
    found = Answer(
        structure, columns, judged.checks, source=source, outlook=judged.outlook, run=judged.run
    )
    if structure.realizable.holds is True:
        return found
    most = MOST_PAIRS if max_pairs == order.MAX_PAIRS else max_pairs
    found = _with_learned(found, given if next_map is None else next_map, most)
    cells = sum(len(line.tokens) ** (2 if data.prefixes else 1) for line in data.lines)
    if not repair and cells > distances.QUICK_CELLS:
        return replace(found, unmeasured=f"ntpcore check {source} --repair measures how far")
    try:
        best = distances.search(data, given, exact=repair)
    except InputError as error:
        if repair:
            raise
        return replace(found, unmeasured=f"how far was not measured: {error}")
    found = replace(found, distance=distances.measure(data, given, best))
    rest = best.rest() if repair else None
    if rest is None:
        return found
    part = answer(
        rest,
        best.collocation,
        claim=claim,
        max_witnesses=max_witnesses,
        max_pairs=max_pairs,
        source=f"{source} --repair",
        training=training,
    )
    return replace(found, part=part)


def _with_learned(found: Answer, given: Mapping[str, str | None] | None, max_pairs: int) -> Answer:
    """The same with what attention learns, or the reason why that was not computed."""
    structure = found.structure
    try:
        learned = learn(structure.data, given, orders=structure.orders, max_pairs=max_pairs)
    except InputError as error:
        return replace(found, unlearned=str(error))
    return replace(found, learned=learned)


def to_json(found: Answer) -> dict[str, object]:
    """The object that `ntpcore check --json` prints; fractions are strings in lowest terms.

    Raises:
        InputError: the object would list more than 20 million roles of tokens.
    """
    structure = found.structure
    data = structure.data
    if len(data.vocabulary) * len(structure.orders or ()) > _MOST_ROLES:
        raise InputError(
            f"{data.name}: --json would give every token a role under every query, more than "
            f"{_MOST_ROLES} in all; leave it out, or use a part of the data"
        )
    learned = {} if found.learned is None else {"learned": _learned(found.learned)}
    distance = {} if found.distance is None else {"distance": distances.to_json(found.distance)}
    part = {} if found.part is None else {"part": to_json(found.part)}
    return {
        "dataset": {
            "vocabulary": list(data.vocabulary),
            "samples": data.sample_count,
            "max_length": data.max_length,
            "prefix_closed": data.prefix_closed,
        },
        "assumptions": {
            "1": _assumption(structure.realizable, data),
            "3": _assumption(structure.frequent, data),
        },
        "collocation": dict(structure.collocation),
        "orders": structure.orders
        and {query: _roles(o, data.vocabulary) for query, o in structure.orders.items()},
        "margin": None if found.columns is None else _margin(found.columns),
        "claims": [check.to_json() for check in found.checks],
        **({"outlook": list(found.outlook)} if found.outlook else {}),
        **learned,
        **distance,
        **part,
    }


def _assumption(assumption: order.Assumption, data: Dataset) -> dict[str, object]:
    """An assumption with its witnesses; `of` counts all failures of the witness's rule."""
    counts = assumption.counts or {}
    witnesses = [
        {
            "rule": failure.rule,
            "of": counts[failure.rule],
            "tokens": list(failure.tokens),
            "message": failure.message,
            "samples": [order.describe_sample(data, sample) for sample in failure.samples],
        }
        for failure in assumption.failures
    ]
    return {"holds": assumption.holds, "witnesses": witnesses}


def _roles(one: order.PartialOrder, vocabulary: tuple[str, ...]) -> dict[str, object] | None:
    """The roles of all tokens under one query; None where a token is confused."""
    if one.confused:
        return None
    upper, lower = set(one.optimal), set(one.nonoptimal)
    return {
        "optimal": [token for token in vocabulary if token in upper],
        "nonoptimal": [token for token in vocabulary if token in lower],
        "noncomparable": [t for t in vocabulary if t not in upper and t not in lower],
    }


def _margin(columns: Mapping[str, margin.Solution]) -> dict[str, object]:
    """W_kq_star: squared norm, columns and block sizes."""
    blocks = {
        query: [list(block.size) for block in column.blocks] for query, column in columns.items()
    }
    scores = {query: column.scores for query, column in columns.items()}
    return {**_scores(scores), "blocks": blocks}


def _scores(columns: Mapping[str, margin.Scores]) -> dict[str, object]:
    """A matrix of scores: squared norm and columns."""
    return {
        "norm_squared": str(margin.norm_squared(columns.values())),
        "columns": {
            query: {token: str(score) for token, score in scores.items()}
            for query, scores in columns.items()
        },
    }


def _learned(found: Learned) -> dict[str, object]:
    """What attention learns: next tokens, cycles, W_mm, and what decides the contexts."""
    return {
        "next_tokens": {
            token: {"next": entry.following, "origin": entry.origin}
            for token, entry in found.entries.items()
        },
        "comparisons": found.comparisons,
        "strict": found.strict,
        "components": {
            query: [list(part) for part in parts] for query, parts in found.components.items()
        },
        "margin": found.solution and _scores(found.solution.columns),
        "contexts": asdict(found.contexts),
    }
