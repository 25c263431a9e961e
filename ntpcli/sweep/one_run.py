"""One run of a sweep: from its parameters to its row, failures included."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np

from ntpbook.catalogue import find_check
from ntpcli.sweep.columns import CLAIMS, COLUMNS, FAILS, FREQUENT, HOLDS, OUTSIDE, SILENT, Row
from ntpcli.sweep.fingerprint import code_hash, package_version
from ntpcli.sweep.plan import Cell
from ntpcore.data import generate, languages
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.exact import repair
from ntpcore.huang2024 import asymptotics, bounds, run_measures
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, train
from ntpcore.huang2024.training import Settings
from ntpverdicts.claims import Check, Verdict
from ntpverdicts.vocabulary import Known

LONGEST_MESSAGE = 400
NEEDED_STEPS = 1000  # two decades whose first step is 10: below, a slope is no exponent
ROUNDING = 1e-26  # of 1 - cos: unit vectors that differ by 1e-13 have three digits left

_STEPS = Known()  # of proofs: they do not depend on the run, and are the same for all of a sweep


def run(number: int, cell: Cell, mark: str) -> Row:
    """The row of a run. What goes wrong in it is told in the row, whatever it is.

    Args:
        number: of the run.
        cell: its parameters.
        mark: hash of the sweep.
    """
    row = blank(number, cell, mark)
    try:
        return row | {"status": "ok"} | measure(cell)
    except Exception as error:  # the row says so; nothing is hidden
        return row | failure(type(error).__name__, str(error))


def blank(number: int, cell: Cell, mark: str) -> Row:
    """The row of a run with its parameters, and nothing measured."""
    row: Row = dict.fromkeys(column.name for column in COLUMNS)
    row |= {"run": number, **asdict(cell), "sweep": mark}
    return row | {"version": package_version(), "code": code_hash()}


def failure(kind: str, message: str) -> Row:
    """The columns that tell of a failure."""
    words = " ".join(message.split())[:LONGEST_MESSAGE]
    return {"status": "failed", "error": kind, "message": words}


def measure(cell: Cell) -> Row:
    """What is measured of a run.

    Raises:
        InputError: the data cannot be trained on.
    """
    data = make_data(cell)
    problem, share = make_problem(data, cell)
    settings = Settings(cell.steps, cell.steps1, cell.eta0, cell.eta)
    eta0, eta = settings.rates(problem.vocab_size)
    one = train(data.name, problem, eta0=eta0, eta=eta, steps1=cell.steps1, steps=cell.steps)
    rates: Row = {"eta0": eta0, "eta": eta, "share_kept": share}
    row = rates | data_columns(problem, one) | end_columns(one) | rate_columns(one)
    row |= bound_columns(one) | {label: judge(label, one) for label in CLAIMS}
    return {name: _plain(value) for name, value in row.items()}


def make_data(cell: Cell) -> Dataset:
    """The data of a run."""
    rng = np.random.default_rng(cell.seed)
    if cell.generator == "brackets":
        assert cell.max_depth is not None
        return languages.brackets(rng, cell.sentences, cell.max_depth)
    if cell.generator == "server-log":
        assert cell.max_requests is not None
        return languages.server_log(rng, cell.sentences, cell.max_requests)
    assert cell.vocab_size is not None
    assert cell.max_length is not None
    return generate.random_dataset(
        rng,
        cell.vocab_size,
        cell.sentences,
        cell.max_length,
        prefix_closed=cell.generator == "prefix-closed",
        frequent=bool(cell.frequent),
    )


def make_problem(data: Dataset, cell: Cell) -> tuple[Problem, float]:
    """The training problem, and the share of next tokens that it keeps."""
    if cell.repair == "none":
        return from_dataset(data), 1.0
    part = repair.solve_greedy(repair.tabulate(data))
    rest = part.rest()
    if rest is None:
        raise InputError(f"{data.name}: no part is realizable; draw more sentences")
    return from_dataset(rest, part.collocation), float(part.share)


def data_columns(problem: Problem, one: Run) -> Row:
    """What the data are."""
    c = one.constants
    return {
        "tokens": c.vocab_size,
        "samples": c.sample_count,
        "longest": c.max_length,
        "entries": len(problem.entry_token),
        "pairs": len(problem.pairs),
        "idle_pairs": sum(map(len, asymptotics.degenerate(problem).values())),
        "prefix_closed": problem.prefix_closed,
        "assumption_3": problem.frequent,
        "log_pi_min": c.log_pi_min,
        "norm_ov_star": c.norm_ov,
        "norm_kq_star": c.norm_kq,
        "gap": one.second.gap,
    }


def end_columns(one: Run) -> Row:
    """Where the run ended."""
    rows = one.second.rows
    names = ("loss", "log_excess", "norm", "one_minus_cos", "least_attention")
    last: Row = {name: float(getattr(rows, name)[-1]) for name in names}
    return last | {"attention_fell": one.second.decreased}


def rate_columns(one: Run) -> Row:
    """Fitted exponents and rates; empty where the run is too short or already at rounding."""
    c = one.constants
    if one.second.state.step < NEEDED_STEPS:
        return {}
    direction: Row = {}
    if one.second.rows.one_minus_cos[-1] > ROUNDING:
        direction = {
            "direction_exponent": slope(one, 2),
            "direction_exponent_last": slope(one, 1),
            "residual_growth": residual_growth(one),
        }
    return direction | {
        "bound_exponent": slope(one, 2, bound=True),
        "loss_rate": run_measures.fitted_rate(one),
        "loss_rate_bound": bounds.loss_excess_rate(c) / bounds.loss_excess_rate(c, exact=True),
    }


def slope(one: Run, decades: float, *, bound: bool = False) -> float:
    """Least-squares slope of log(1 - cos), or of its bound, against log t over the last decades."""
    rows = one.second.rows
    keep = rows.step >= rows.step[-1] / 10**decades
    log_t = np.log(rows.step[keep])
    if bound:
        values = bounds.log_thm_1_direction(one.constants, log_t)
    else:
        values = np.log(rows.one_minus_cos[keep])
    return float(np.polyfit(log_t, values, 1)[0])


def residual_growth(one: Run) -> float:
    """Slope of the length of W across W_kq_star against log t over the last decade."""
    rows = one.second.rows
    keep = rows.step >= rows.step[-1] / 10
    across = rows.norm[keep] * np.sqrt(2 * rows.one_minus_cos[keep])
    return float(np.polyfit(np.log(rows.step[keep]), across, 1)[0])


def bound_columns(one: Run) -> Row:
    """How far the bounds of Theorem 1 are from what they bound."""
    c, rows = one.constants, one.second.rows
    speaks = bounds.thm_1_speaks_from(c, rarity=bounds.PI_MIN) / math.log(10)
    row: Row = {
        "thm_1_eta_allowed": c.eta <= bounds.thm_1_largest_eta(c),
        "thm_1_bites_log10": speaks if math.isfinite(speaks) else None,
    }
    for name, rarity in (
        ("thm_1_slack", bounds.N),
        ("thm_1_corrected_slack", bounds.PI_MIN),
    ):
        slacks = run_measures.thm_1_slack(one, rarity)[1]
        row[name] = float(slacks.min()) if len(slacks) else None
    keep = (rows.step >= 2) & (rows.one_minus_cos > 0)
    if keep.any():
        log_bound = bounds.log_thm_1_direction(c, np.log(rows.step[keep]), rarity=bounds.PI_MIN)
        used = np.log(rows.one_minus_cos[keep]) - log_bound
        row["thm_1_used_log10"] = float(used.max()) / math.log(10)
    return row


def judge(label: str, one: Run) -> str:
    """What a claim says of the run, and whether it is so."""
    if label in FREQUENT and not one.problem.frequent:
        return OUTSIDE
    found: Check = find_check(label).judge_data([one], known=_STEPS)
    if found.verdict is Verdict.REFUTED:
        return FAILS
    return SILENT if found.verdict is Verdict.OPEN else HOLDS


def _plain(value: object) -> int | float | bool | str | None:
    """A value as a table holds it: no number stands for a number that is not defined."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, int | float | bool | str):
        return value
    raise InputError(f"{value!r} is no value for a table")
