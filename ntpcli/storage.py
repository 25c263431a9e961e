"""Saved runs: one file with the problem and its trajectory, no pickle, written all or nothing."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.dataset import ROOM, InputError, unwritable
from ntpcore.data.files import replacing
from ntpcore.huang2024.problem import Problem
from ntpcore.huang2024.training import Rows, State, Trajectory, fingerprint

FORMAT = "ntpcore trajectory 1"

_PROBLEM_ARRAYS: dict[str, type[np.generic]] = {
    "following": np.int64,
    "entry_query": np.int64,
    "entry_token": np.int64,
    "optimal": np.int64,
    "optimal_count": np.int64,
    "start": np.int64,
    "rival": np.int64,
    "rival_count": np.int64,
    "log_pi": np.float64,
}
_SCALARS = ("sample_count", "max_length", "log_pi_min", "prefix_closed", "frequent")

Parameter = str | int | float


@dataclass(frozen=True)
class Saved:
    """The content of a file that `save` wrote.

    Attributes:
        problem: the data that were trained on.
        trajectory: the run.
        parameters: further texts and numbers, such as how to read the data again.
    """

    problem: Problem
    trajectory: Trajectory
    parameters: dict[str, Parameter]


class _DamageError(ValueError):
    """A file that does not hold what it should."""


def save(
    path: str,
    problem: Problem,
    trajectory: Trajectory,
    parameters: Mapping[str, Parameter] | None = None,
    *,
    overwrite: bool = True,
) -> None:
    """Write a run to a file; the old file stays until the new one is complete.

    Args:
        path: the file.
        problem: the data that were trained on.
        trajectory: the run.
        parameters: further texts and numbers to store with the run.
        overwrite: whether to replace an existing file.

    Raises:
        InputError: the file cannot be written, or exists at the end and `overwrite` is False.
    """
    state = trajectory.state
    head = {
        "format": FORMAT,
        "vocabulary": problem.vocabulary,
        "problem": {name: getattr(problem, name) for name in _SCALARS},
        "eta": trajectory.eta,
        "gap": trajectory.gap,
        "fingerprint": trajectory.fingerprint,
        "state": [state.step, _finite(state.change), state.change_step, state.log_weight],
        "parameters": dict(parameters or {}),
    }
    arrays = {f"problem_{name}": getattr(problem, name) for name in _PROBLEM_ARRAYS}
    arrays |= {f"rows_{field.name}": getattr(trajectory.rows, field.name) for field in fields(Rows)}
    arrays["weights"] = state.weights
    arrays["head"] = np.frombuffer(json.dumps(head, allow_nan=False).encode(), dtype=np.uint8)
    try:
        with replacing(path, overwrite=overwrite) as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
    except OSError as error:
        raise unwritable(path, error) from None


def load(path: str) -> Saved:
    """Read a run that `save` wrote.

    Raises:
        InputError: the file cannot be read, or does not hold a complete run.
    """
    try:
        with open(path, "rb") as stream:
            _check_size(stream)
            arrays = np.load(stream, allow_pickle=False)
            _must(isinstance(arrays, np.lib.npyio.NpzFile), "it holds a single array")
            return _saved(arrays)  # reads only what a run has, and the head first
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read ({reason}); name a saved trajectory") from None
    except Exception as error:  # damaged archives raise nearly anything, MemoryError included
        detail = str(error) if isinstance(error, _DamageError) else "it is not a complete file"
        raise InputError(
            f"{path}: not a saved trajectory, or a damaged one ({detail}); train again and save to "
            "a new file"
        ) from None


def _check_size(stream: IO[bytes]) -> None:
    """Refuse an archive that would unpack to more than fits, before any of it is unpacked."""
    if zipfile.is_zipfile(stream):
        with zipfile.ZipFile(stream) as archive:
            size = sum(one.file_size for one in archive.infolist())
        _must(size <= ROOM, f"it unpacks to {size // 10**6} MB, and {ROOM // 10**6} MB fit")
    stream.seek(0)


def _finite(value: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return value if math.isfinite(value) else None


def _saved(arrays: Mapping[str, NDArray[Any]]) -> Saved:
    """A run from the arrays of a file, every one of them checked."""
    head = json.loads(arrays["head"].tobytes().decode())
    _must(head["format"] == FORMAT, f"its format is not {FORMAT!r}")
    problem = _problem(head, arrays)
    rows = Rows(
        **{
            field.name: _array(
                arrays, f"rows_{field.name}", np.int64 if "step" in field.name else np.float64
            )
            for field in fields(Rows)
        }
    )
    step, change, change_step, log_weight = head["state"]
    weights = _array(arrays, "weights", np.float64)
    state = State(
        int(step),
        weights,
        math.inf if change is None else float(change),
        int(change_step),
        float(log_weight),
    )
    lengths = {len(getattr(rows, field.name)) for field in fields(Rows)}
    _must(len(lengths) == 1, "its columns differ in length")
    _must(bool((np.diff(rows.step) > 0).all()), "its steps do not increase")
    _must(not len(rows.step) or 0 <= rows.step[0] <= rows.step[-1] <= state.step, "a step is off")
    _must(len(weights) == len(problem.entry_token), "weights are missing")
    _must(bool(np.isfinite(weights).all()), "a weight is not finite")
    eta, gap = float(head["eta"]), float(head["gap"])
    _must(0 < eta < math.inf and 0 < gap < math.inf, "its step size or gap is not positive")
    _must(head["fingerprint"] == fingerprint(problem), "its data do not fit its run")
    trajectory = Trajectory(rows, state, eta, gap, head["fingerprint"])
    return Saved(problem, trajectory, dict(head["parameters"]))


def _problem(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Problem:
    """A problem whose numbers stay within its arrays, as the compiled loops do not check them."""
    vocabulary = tuple(head["vocabulary"])
    values = {
        name: _array(arrays, f"problem_{name}", kind) for name, kind in _PROBLEM_ARRAYS.items()
    }
    scalars = head["problem"]
    problem = Problem(
        vocabulary=vocabulary,
        sample_count=int(scalars["sample_count"]),
        max_length=int(scalars["max_length"]),
        log_pi_min=float(scalars["log_pi_min"]),
        prefix_closed=bool(scalars["prefix_closed"]),
        frequent=bool(scalars["frequent"]),
        **values,
    )
    size, entries = len(vocabulary), len(problem.entry_token)
    samples, rivals = len(problem.optimal), len(problem.rival)
    _must(all(isinstance(token, str) for token in vocabulary), "a token is not a text")
    _must(len(set(vocabulary)) == size, "a token occurs twice")
    _must(np.array_equal(np.sort(problem.following), np.arange(size)), "its collocation is off")
    _must(len(problem.entry_query) == entries, "an entry has no query")
    for numbers in (problem.entry_query, problem.entry_token):
        _must(bool(((numbers >= 0) & (numbers < size)).all()), "a token number is off")
    key = problem.entry_query * size + problem.entry_token
    _must(bool((np.diff(key) > 0).all()), "its entries are not in order")
    _must(samples > 0 and len(problem.start) == samples + 1, "its samples are incomplete")
    _must(problem.start[0] == 0 and problem.start[-1] == rivals, "its samples are incomplete")
    counts = np.diff(problem.start)
    _must(bool(((counts >= 1) & (counts < size)).all()), "a sample has no or too many rivals")
    used = np.concatenate([problem.optimal, problem.rival])
    _must(np.array_equal(np.unique(used), np.arange(entries)), "an entry number is off")
    _must(not np.intersect1d(problem.optimal, problem.rival).size, "a token is confused")
    same = problem.entry_query[problem.optimal][problem.sample_of]
    _must(np.array_equal(same, problem.entry_query[problem.rival]), "a sample has two queries")
    for many, length in ((problem.optimal_count, samples), (problem.rival_count, rivals)):
        _must(len(many) == length and bool((many > 0).all()), "a count is off")
    _must(len(problem.log_pi) == samples, "a frequency is missing")
    _must(bool(np.isfinite(problem.log_pi).all()), "a frequency is not finite")
    return problem


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: type[np.generic]) -> NDArray[Any]:
    """A vector of this kind."""
    array = arrays[name]
    _must(array.dtype == kind and array.ndim == 1, f"{name} has the wrong form")
    return np.ascontiguousarray(array)


def _must(holds: bool, otherwise: str) -> None:
    """Refuse the file unless a rule holds."""
    if not holds:
        raise _DamageError(otherwise)
