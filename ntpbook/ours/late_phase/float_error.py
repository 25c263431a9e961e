"""Runs in floats beside the same runs in balls: how far off the book's measured paths are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from flint import arb, ctx

from ntpbook.shared import enclosure
from ntpbook.shared.enclosed_setting import paper_setting
from ntpbook.shared.levels import within
from ntpbook.shared.origins import ENCLOSURE
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset
from ntpcore.data.examples import example_1
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.compare import Said, count, holds, result
from ntpverdicts.once import once
from ntpverdicts.tables import Table
from ntpverdicts.vocabulary import Variant, check

EPSILON = 2.0**-52
NARROW = 100  # bits behind the point that every weight has left at the end of a run
ROOT = Path(__file__).resolve().parents[3]
LONG = "benchmarks/enclosed.json"  # made by `make enclosed-long`
BITS = 420  # more than the balls of these runs lose, and NARROW


@dataclass(frozen=True)
class Pair:
    """One run in balls and in floats, with their states at the same steps.

    Attributes:
        name: the data.
        states: in balls.
        floats: the run of `ntpcore`.
    """

    name: str
    states: tuple[enclosure.EnclosedState, ...]
    floats: Run


def steps_of(last: int) -> list[int]:
    """The steps at which both are compared."""
    return [step for step in (1, 10, 100, 300, 900, 2000, 3000) if step <= last]


def share_off(eta: float, step: int, across: float) -> float:
    """4 2^-52 (4 + eta t^2 / ||y_t||), by what share 1 - cos of a float run may be off."""
    return 4 * EPSILON * (4 + eta * step**2 / across)


def in_floats(
    data: Dataset, last: int, stretch: float = 1.0, record: list[int] | None = None
) -> Run:
    """The float run at the paper's step sizes, that of stage 2 times `stretch`."""
    problem = from_dataset(data)
    eta0, eta = paper_rates(problem.vocab_size)
    return train(
        data.name,
        problem,
        eta0=eta0,
        eta=stretch * eta,
        steps1=900,
        steps=last,
        record=record or steps_of(last),
    )


def sets_of_data(seed: int) -> tuple[tuple[str, Dataset, int], ...]:
    """Name, data and last step: Example 1, and the experiment of Section 7 with |V| = 20."""
    closed, other = (generate.experiment(seed, prefix_closed=value).data for value in (True, False))
    return (
        ("Example 1", example_1(), 3000),
        ("20 tokens, prefix-closed", closed, 900),
        ("20 tokens, other data", other, 900),
    )


@once
def in_balls(seed: int, place: int) -> tuple[enclosure.EnclosedState, ...]:
    """The enclosed run of one of these data sets, made once."""
    _, data, last = sets_of_data(seed)[place]
    return enclosure.enclose(paper_setting(data), last, steps_of(last), BITS)


def pairs(seed: int = 7) -> list[Pair]:
    """The three runs in balls and in floats."""
    return [
        Pair(name, in_balls(seed, place), in_floats(data, last))
        for place, (name, data, last) in enumerate(sets_of_data(seed))
    ]


def stretched(seed: int = 7) -> list[Pair]:
    """Example 1 with a float step size that is off by one part in 10^9."""
    name, data, last = sets_of_data(seed)[0]
    return [Pair(name, in_balls(seed, 0), in_floats(data, last, 1 + 1e-9))]


@check(
    "ours-float-runs",
    over="runs",
    instances=pairs,
    says="The runs were computed in floating point and in ball arithmetic, which encloses the "
    r"exact values. At all {steps} recorded steps the relative error of $1 - \cos$ in the "
    r"floating-point run is at most the observed bound. With $|\mathcal V| = 20$, the exact "
    r"$1 - \cos$ after 900 steps is {closed_900} on the prefix-closed data and {other_900} on the "
    r"data that are not prefix-closed. At the last step, one hundred binary places of every entry "
    r"of $W_{\mathrm{kq}}$ are certain.",
    observes=True,
    planted={
        "A floating-point step size off by one part in $10^9$.": Variant(instances=stretched),
        "Weights known to 400 binary places.": {"narrow": 400},
        "One thousandth of the observed bound on the relative error.": {"share": 1e-3},
    },
)
def check_ours_float_runs(one: Pair, share: float = 1.0, narrow: int = NARROW) -> Iterator[Said]:
    """|float - exact| of 1 - cos is at most 4 2^-52 (4 + eta t^2 / ||y_t||) of it, at some steps.

    The entries of W grow to t eta, so that a step rounds by 2^-52 t eta at most; steps across W*
    do not expand, and t of them add up to eta t^2 / 2. It is seen in the float runs of this
    machine, and not proved of others.

    Args:
        one: the run twice.
        share: of this bound.
        narrow: bits behind the point to which every weight is known after the last step.
    """
    with ctx.workprec(53):
        widest = max(float(value.rad()) for value in one.states[-1].W.values())
    yield holds(widest <= 2.0**-narrow, "the widest ball")
    rows, eta = one.floats.second.rows, one.floats.constants.eta
    floats = dict(zip(rows.step.tolist(), rows.one_minus_cos.tolist(), strict=True))
    for state in one.states:
        with ctx.workprec(state.bits):
            exact = enclosure.one_minus_cos(state)
            _, y = enclosure.split(state)
            across = enclosure.inner(y, y).sqrt()
            off = abs(arb(floats[state.step]) / exact - 1)
        with ctx.workprec(53):
            found, length = float(arb(off).upper()), float(arb(across).lower())
        allowed = share_off(eta, state.step, length)
        yield within(found / (share * allowed), 1.0, f"step {state.step}")
        yield count("steps")
        if state.step == 900 and one.name != "Example 1":
            kind = "closed" if "prefix" in one.name else "other"
            yield result(f"{kind}_900", float(arb(exact)), digits=10, origin=ENCLOSURE)


def long_rows(path: str = LONG) -> list[tuple[int, str, float, float]]:
    """Step, 1 - cos of the long enclosed run and of a float run made now, what this may be off."""
    rows = json.loads((ROOT / path).read_text(encoding="utf-8"))["rows"]
    steps = [int(row["step"]) for row in rows]
    run = in_floats(example_1(), steps[-1], record=steps)
    measured, eta = run.second.rows, run.constants.eta
    across = measured.norm * np.sqrt(measured.one_minus_cos * (2 - measured.one_minus_cos))
    place = {int(step): number for number, step in enumerate(measured.step)}
    return [
        (
            step,
            str(row["one_minus_cos"]),
            float(measured.one_minus_cos[place[step]]),
            share_off(eta, step, float(across[place[step]])),
        )
        for step, row in zip(steps, rows, strict=True)
    ]


def long_table(path: str = LONG) -> Table:
    """The long enclosed run beside what a float run of as many steps may be off."""
    cells = [(f"{step}", value, f"{share:.0e}") for step, value, _, share in long_rows(path)]
    return Table(
        ("step", "1 − cos, enclosed", "bound on the relative error of a float run"), tuple(cells)
    )


def long_origin(path: str = LONG) -> str:
    """When and how the long run was made."""
    found = json.loads((ROOT / path).read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"{found['command']} on {found['date']}, {found['seconds']} s of processor time; "
        f"{found['machine']}; {versions}; code {found['code'][:12]}"
    )
