"""`ntpcore train` and `ntpcore predict` without numpy and numba, by the plain-Python loop."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from ntpcore.commands.check import Write, show, show_name
from ntpcore.data import files
from ntpcore.data.dataset import Dataset, InputError
from ntpcore.data.order import Assumption, PartialOrder, Structure, analyse
from ntpcore.huang2024 import plain

SUFFIX = ".run.json"
FORMAT = "ntpcore plain run 1"
SAVE_SECONDS = 60.0
SLOWLY = (
    "trained in plain Python, which takes some hundred times longer; pip install 'ntpcore[train]' "
    "for compiled loops and for measurements on the way"
)

Rates = tuple[int, float, float]  # steps of stage 1, eta0, eta


def needed() -> bool:
    """Whether one of the packages of the compiled loops is missing."""
    return any(find_spec(name) is None for name in ("numpy", "numba", "scipy"))


def target_of(file: str) -> str:
    """Where a run on this file is saved unless told otherwise."""
    return f"{'trajectory' if file == '-' else Path(file).stem or 'trajectory'}{SUFFIX}"


def check_target(path: str, resume: bool, overwrite: bool, inputs: list[str]) -> None:
    """Refuse a target before anything is computed.

    Raises:
        InputError: its name is not that of a plain run, or it cannot be used.
    """
    if not path.endswith(SUFFIX):
        raise InputError(
            f"{path}: a run without numpy and numba is saved as JSON; name a file that ends in "
            f"{SUFFIX}, or pip install 'ntpcore[train]'"
        )
    if resume and overwrite:
        raise InputError("--resume and --overwrite exclude each other; give one of them")
    files.check_target(path, "--output", overwrite or resume, inputs)
    files.check_place(path)


def rates_of(vocab_size: int, steps1: int, eta0: float | None, eta: float | None) -> Rates:
    """Steps of stage 1 and step sizes, those of huang2024, Section 7, unless told.

    Raises:
        InputError: a step size is no positive number that floats carry.
    """
    root = math.sqrt(vocab_size)
    found = (0.2 / root if eta0 is None else eta0, 0.05 / root if eta is None else eta)
    for name, value in zip(("--eta0", "--eta"), found, strict=True):
        if not 1e-12 <= value <= 1e12:
            raise InputError(f"{name} is {value!r}; give a positive number from 1e-12 to 1e+12")
    return steps1, *found


def train(
    data: Dataset,
    given: Mapping[str, str] | None,
    steps: int,
    rates: Rates,
    *,
    going_on: str | None = None,
    save: Callable[[plain.Trained], None] | None = None,
    progress: plain.Progress | None = None,
) -> plain.Trained:
    """Train both stages on a data set, or go on with a run in a file.

    Args:
        data: the data set.
        given: next tokens of tokens that start no sentence.
        steps: steps of stage 2 in all.
        rates: how to train.
        going_on: the file of a run to go on with.
        save: called with the run as it stands, every minute and when Ctrl-C stops it.
        progress: called with the steps taken and those in all.

    Raises:
        InputError: the data are not realizable, or the run to go on with does not fit.
    """
    structure = analyse(data, given, max_witnesses=1)
    steps1, eta0, eta = rates
    state = None if going_on is None else _fitting(going_on, structure, rates, steps)
    latest: list[plain.Trained] = []
    last = [time.monotonic()]

    def keep(now: plain.Trained) -> None:
        latest[:] = [now]
        if save is not None and time.monotonic() - last[0] >= SAVE_SECONDS:
            save(now)
            last[0] = time.monotonic()

    try:
        return plain.train(
            structure,
            steps=steps,
            steps1=steps1,
            eta0=eta0,
            eta=eta,
            state=state,
            keep=keep,
            progress=progress,
        )
    except KeyboardInterrupt:
        if save is not None and latest:
            save(latest[0])
        raise


def _fitting(path: str, structure: Structure, rates: Rates, steps: int) -> plain.Trained:
    """The run in a file, if it is on these data with these settings and not past its end.

    Raises:
        InputError: it is not.
    """
    old, parameters = _load(path)
    found = tuple(parameters[name] for name in ("steps1", "eta0", "eta"))
    names = ("--steps1", "--eta0", "--eta")
    differs = [
        f"{name} {there} there, {here} here"
        for name, there, here in zip(names, found, rates, strict=True)
        if there != here
    ]
    same = old.structure.collocation == structure.collocation
    if not same or old.structure.orders != structure.orders:
        name = structure.data.name
        differs.insert(0, f"data {parameters.get('data')!r} there, other data in {name!r} here")
    if differs:
        raise InputError(
            f"{path}: the run to go on with does not fit: {'; '.join(differs)}; give what is "
            "there, or another --output"
        )
    if old.steps > steps:
        raise InputError(
            f"{path}: the run is at step {old.steps} already, past {steps}; give --steps "
            f"{old.steps} or more"
        )
    return old


def save(path: str, run: plain.Trained, rates: Rates) -> None:
    """Write a run as JSON; floats are written so that they are read back bit for bit.

    Raises:
        InputError: the file cannot be written.
    """
    structure = run.structure
    content = {
        "format": FORMAT,
        "parameters": dict(zip(("steps1", "eta0", "eta"), rates, strict=True))
        | {"data": structure.data.name},
        "collocation": dict(structure.collocation),
        "orders": {q: sorted(one.pairs) for q, one in (structure.orders or {}).items()},
        "gap": run.gap,
        "steps": run.steps,
        "weights": [[token, query, w] for (token, query), w in run.weights.items()],
    }
    files.write_whole({path: json.dumps(content, ensure_ascii=False).encode()})


def load(path: str) -> plain.Trained:
    """Read a run that `save` wrote.

    Raises:
        InputError: the file cannot be read, or does not hold a complete run.
    """
    return _load(path)[0]


def _load(path: str) -> tuple[plain.Trained, dict[str, float]]:
    """A run and its parameters."""
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
        if content["format"] != FORMAT:
            raise ValueError("another format")
        vocabulary = tuple(content["collocation"])
        orders = {
            str(query): PartialOrder.of(query, [(str(a), str(b)) for a, b in pairs])
            for query, pairs in content["orders"].items()
        }
        collocation = {str(a): str(b) for a, b in content["collocation"].items()}
        weights = {(str(a), str(b)): float(w) for a, b, w in content["weights"]}
        gap, steps = float(content["gap"]), int(content["steps"])
        if not all(map(math.isfinite, [gap, *weights.values()])):
            raise ValueError("a number that is not finite")
        if sorted(collocation.values()) != sorted(vocabulary):
            raise ValueError("a collocation that is no bijection")
        if any({token, query} - set(vocabulary) for token, query in weights):
            raise ValueError("a weight of an unknown token")
        data = Dataset(vocabulary, (), True, path)
        parameters = dict(content["parameters"])
        if not {"steps1", "eta0", "eta"} <= set(parameters):
            raise ValueError("its settings are missing")
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read ({reason}); name a saved run") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: not a saved run, or a damaged one ({error}); train again and save to a new "
            "file"
        ) from None
    structure = Structure(data, collocation, orders, Assumption(True), Assumption(None))
    return plain.Trained(structure, gap, weights, steps), parameters


def write_summary(run: plain.Trained, rates: Rates, path: str, write: Write) -> None:
    """The run in a few lines; `write` takes a line and the role of it."""
    steps1, eta0, eta = rates
    write(f"Training  {show_name(run.structure.data.name)}", "title")
    write(f"  stage 1: {steps1} steps of {eta0:.4g}; all logits lead by {run.gap:.4g}", "plain")
    write(f"  stage 2: {run.steps} steps of {eta:.4g}", "plain")
    norm = math.sqrt(math.fsum(w * w for w in run.weights.values()))
    write(f"    norm of W_kq                  {norm:.6g}", "plain")
    write(f"  {SLOWLY}", "faint")
    write(f"  saved in {show_name(path)}", "plain")


def prediction_json(answer: plain.Prediction) -> dict[str, object]:
    """The object that `ntpcore predict --json` prints."""
    return {
        "probabilities": dict(answer.probabilities),
        "attention": list(answer.attention),
        "roles": dict(answer.roles),
    }


def write_prediction(words: list[str], answer: plain.Prediction, write: Write) -> None:
    """A prediction for people, as that of the compiled loops."""
    write(f"After  {' '.join(show(token) for token in words)}", "title")
    for token, weight in zip(words, answer.attention, strict=True):
        role = answer.roles[token]
        colour = {"optimal": "not contradicted", "non-optimal": "refuted"}.get(role, "faint")
        write(f"  attention {weight:8.6f}  {show(token):<24} {role}", colour)
    best = sorted(answer.probabilities.items(), key=lambda item: -item[1])[:10]
    for token, probability in best:
        write(f"  next      {probability:8.6f}  {show(token)}", "plain")
