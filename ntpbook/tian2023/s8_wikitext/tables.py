"""Tables and files of the experiments on text of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ntpbook.tian2023.s8_wikitext.experiment import Order, Source, Sweep
from ntpbook.tian2023.s8_wikitext.text_runs import TextRun, changes, entropies
from ntpbook.tian2023.s8_wikitext.wikitext import Corpus
from ntpverdicts.tables import Download, Table


def table_of_sweeps(sweeps: Sequence[Sweep]) -> Table:
    """Mean and standard deviation over seeds for each rate."""
    rows = tuple(
        (
            one.name,
            *(f"{cell.mean():.3f} ± {cell.std(ddof=1):.3f}" for cell in one.entropy),
        )
        for one in sweeps
    )
    return Table(("", *(f"rate {rate:g}" for rate in sweeps[0].rates)), rows)


def table_of_keys(order: Order, on: Source, shown: int = 6) -> Table:
    """For some queries the keys that gained and that lost most, among those met often enough."""
    words, rows = on.corpus.vocabulary, []
    for place, query in enumerate(on.text.queries.tolist()[:shown]):
        used = np.flatnonzero(order.context.together[place, :-1] >= 30)
        keys = used[np.argsort(-order.scores[place, used], kind="stable")]
        names = [words[int(key)] for key in keys]
        rows.append((words[query], " ".join(names[:6]), " ".join(names[-6:])))
    return Table(("query", "gained most", "lost most"), tuple(rows))


def table_of_text(corpus: Corpus) -> Table:
    """What was read."""
    rows = [("text", corpus.source)]
    rows += [(f"SHA-256, {part}", digest[:16]) for part, digest in sorted(corpus.digests.items())]
    rows += [
        ("training tokens", f"{len(corpus.train)}"),
        ("held-out tokens", f"{len(corpus.held_out)}"),
        ("vocabulary", f"{len(corpus.vocabulary)}"),
        ("training tokens in the vocabulary", f"{100 * corpus.covered:.0f} %"),
    ]
    return Table(("what", "value"), tuple(rows))


# Files: under the number of a figure there is WikiText or nothing


def file_of_runs(runs: Sequence[TextRun], corpus: Corpus) -> Download:
    """Entropy, change since the last record and held-out loss of every run at every record."""
    rows = []
    for run in runs:
        entropy = entropies(run.attention)
        change = [float("nan"), *changes(run.attention)]
        plan = run.plan
        for place, step in enumerate(plan.record):
            start = (corpus.source, plan.layers, plan.positional, plan.seed, step)
            measured = (entropy[place], change[place], run.losses[place])
            rows.append((*start, *(f"{value:.6g}" for value in measured)))
    header = (
        "text", "layers", "positions", "seed", "iteration", "entropy", "change", "held_out_loss",
    )  # fmt: skip
    name = "tian2023-fig-7.csv" if corpus.real else "sample-text-attention.csv"
    return Download(name, header, rows)


def file_of_sweeps(sweeps: Sequence[Sweep], corpus: Corpus) -> Download:
    """Entropy at the end of every run of Figure 10."""
    rows = [
        (corpus.source, one.positional, rate, number + 1, f"{value:.6g}")
        for one in sorted(sweeps, key=lambda one: one.positional)
        for rate, values in zip(one.rates, one.entropy, strict=True)
        for number, value in enumerate(values)
    ]
    name = "tian2023-fig-10.csv" if corpus.real else "sample-text-entropy.csv"
    return Download(name, ("text", "positions", "rate", "run", "entropy"), rows)
