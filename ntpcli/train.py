"""What `ntpcore train` and `ntpcore predict` do and say on data of a reader's own."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ntpcli import storage, waiting_time
from ntpcli.terminal import Write, show, show_name
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.files import check_place
from ntpcore.huang2024 import bounds, later_bounds, prediction, problem, stage1, training

SAVE_SECONDS = 60.0


def train(
    data: Dataset,
    given: Mapping[str, str] | None,
    settings: training.Settings,
    *,
    going_on: storage.Saved | None = None,
    progress: Callable[[int, int], None] | None = None,
    save: Callable[[storage.Saved], None] | None = None,
    name: str = "OUTPUT",
) -> storage.Saved:
    """Train both stages on a data set, or go on with a run on the same data.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence.
        settings: how to train.
        going_on: the run to go on with.
        progress: called with the steps taken and those in all.
        save: called with the run as it stands, every minute and when Ctrl-C stops it.
        name: of the file of the run to go on with, for messages.

    Raises:
        InputError: the data are not realizable, their gradient vanishes, a setting makes no sense,
            or the run to go on with comes from other data or settings.
    """
    task = problem.from_dataset(data, given)
    eta0, eta = settings.rates(task.vocab_size)
    gap = stage1.gap(task.vocab_size, settings.steps1, eta0)
    parameters: dict[str, storage.Parameter] = {
        "eta0": eta0,
        "eta": eta,
        "steps1": settings.steps1,
        "data": data.name,
    }
    if going_on is not None:
        _check_same(going_on, storage.Saved(task, going_on.trajectory, parameters), name)
    latest: list[training.Trajectory] = []
    last = [time.monotonic()]

    def keep(now: training.Trajectory) -> None:
        latest[:] = [now]
        if save is not None and time.monotonic() - last[0] >= SAVE_SECONDS:
            save(storage.Saved(task, now, parameters))
            last[0] = time.monotonic()

    state = going_on.trajectory if going_on else None
    look = waiting_time.refuse_years(progress)
    try:
        run = training.run(task, settings.steps, eta, gap, state=state, progress=look, keep=keep)
    except KeyboardInterrupt:
        if save is not None and latest:
            save(storage.Saved(task, latest[0], parameters))
        raise
    return storage.Saved(task, run, parameters)


def _check_same(old: storage.Saved, new: storage.Saved, path: str) -> None:
    """Refuse to go on with a run on other data or with other settings, and say what differs.

    Raises:
        InputError: something differs.
    """
    differs = [
        f"--{name} {old.parameters[name]} there, {new.parameters[name]} here"
        for name in ("eta0", "eta", "steps1")
        if name in old.parameters and old.parameters[name] != new.parameters[name]
    ]
    if training.fingerprint(old.problem) != training.fingerprint(new.problem):
        sizes = [
            f"{one.problem.sample_count} distinct samples over {one.problem.vocab_size} tokens"
            for one in (old, new)
        ]
        differs.insert(
            0,
            f"data {old.parameters.get('data', 'unnamed')!r} of {sizes[0]} there, "
            f"{new.parameters['data']!r} of {sizes[1]} here",
        )
    if differs:
        raise InputError(
            f"{path}: the run to go on with does not fit: {'; '.join(differs)}; give what is "
            "there, or another --output"
        )


def target_of(file: str) -> str:
    """Where a run on this file is saved unless told otherwise: its name with .npz, right here."""
    return "trajectory.npz" if file == "-" else f"{Path(file).stem or 'trajectory'}.npz"


def check_target(
    path: str, going_on: bool, overwrite: bool, inputs: Iterable[str] = ()
) -> storage.Saved | None:
    """The run to go on with, read before anything is computed; nothing is replaced unasked.

    Args:
        path: where the run is to be saved.
        going_on: whether to go on with the run that is there.
        overwrite: whether to replace what is there.
        inputs: files that are read, which no run may ever replace.

    Raises:
        InputError: there is a file, and nobody asked to go on with it or to replace it; or there
            is none to go on with, or it is damaged; or both were asked for; or it is an input.
    """
    if not path:
        raise InputError("--output is empty; name a file")
    if going_on and overwrite:
        raise InputError("--resume and --overwrite exclude each other; give one of them")
    for name in inputs:
        if os.path.realpath(path) == os.path.realpath(name):
            raise InputError(f"{path}: the data are read from this file; give another --output")
    if going_on:
        found = storage.load(path)
        check_place(path)
        return found
    if os.path.lexists(path) and not overwrite:
        raise InputError(
            f"{path}: there is such a file already; give --resume to go on with its run, "
            "--overwrite to replace it, or another --output"
        )
    check_place(path)
    return None


def write_summary(saved: storage.Saved, path: str, write: Write) -> None:
    """The run in a few lines; `write` takes a line and the role of it."""
    rows, task = saved.trajectory.rows, saved.problem
    eta0, eta, steps1 = (float(saved.parameters[name]) for name in ("eta0", "eta", "steps1"))
    constants = bounds.constants(task, eta0, eta, int(steps1))
    write(f"Training  {show_name(str(saved.parameters['data']))}", "title")
    write(
        f"  stage 1: {int(steps1)} steps of {eta0:.4g}; W_ov points along W_ov* from the first "
        f"one, all logits lead by {saved.trajectory.gap:.4g}",
        "plain",
    )
    write(f"  stage 2: {saved.trajectory.state.step} steps of {eta:.4g}", "plain")
    if len(rows.step):
        write(f"    loss                          {rows.loss[-1]:.6g} nats", "plain")
        write(f"    loss minus its infimum        {power(rows.log_excess[-1])} nats", "plain")
        write(f"    norm of W_kq                  {rows.norm[-1]:.6g}", "plain")
        write(f"    1 - cos to the exact W_kq*    {rows.one_minus_cos[-1]:.3g}", "plain")
        write(f"    least optimal attention       {rows.least_attention[-1]:.6g}", "plain")
    state = saved.trajectory.state
    for told in later_bounds.sentences(
        task, constants, state.weights, state.step, saved.trajectory.gap
    ):
        write(f"  {told}", "faint")
    write(f"  saved in {show_name(path)}", "plain")


def power(log_value: float) -> str:
    """e to this, in decimal, however small or large."""
    if not math.isfinite(log_value):
        return "0" if log_value < 0 else "infinity"
    exponent = math.floor(log_value / math.log(10))
    return f"{math.exp(log_value - exponent * math.log(10)):.2f}e{exponent:+d}"


def prediction_json(answer: prediction.Prediction) -> dict[str, object]:
    """The object that `ntpcore predict --json` prints."""
    return {
        "probabilities": answer.probabilities,
        "attention": list(answer.attention),
        "roles": answer.roles,
    }


def write_prediction(answer: prediction.Prediction, write: Write) -> None:
    """A prediction for people: what the transformer looks at, and what it expects."""
    write(f"After  {' '.join(show(token) for token in answer.sentence)}", "title")
    for token, weight in zip(answer.sentence, answer.attention, strict=True):
        role = answer.roles[token]
        colour = {"optimal": "not contradicted", "non-optimal": "refuted"}.get(role, "faint")
        write(f"  attention {weight:8.6f}  {show(token):<24} {role}", colour)
    best = sorted(answer.probabilities.items(), key=lambda item: -item[1])[:10]
    for token, probability in best:
        write(f"  next      {probability:8.6f}  {show(token)}", "plain")
