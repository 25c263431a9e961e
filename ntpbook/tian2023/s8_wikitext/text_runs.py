"""Runs of the transformer on text: what is trained, what is kept, what the figures measure.

Nothing here needs JAX; the training itself is in `text_model`.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpcore.data.files import replacing

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]
CODE = ("text_model.py", "text_runs.py")  # what a kept run depends on, beside plan and text


@dataclass(frozen=True)
class Plan:
    """One run.

    Attributes:
        vocabulary: V.
        layers: number of layers.
        positional: add sinusoidal positions to the embedding.
        rate: learning rate, the same throughout.
        feed_forward_factor: multiple of the rate for the two feed-forward layers.
        seed: of the start and of the dropout.
        record: numbers of updates after which attention is looked at, increasing.
        width: d, of the embedding.
        hidden: of the feed-forward layers.
        dropout: share of units left out.
        clip: largest norm of a gradient.
    """

    vocabulary: int
    layers: int
    positional: bool
    rate: float
    feed_forward_factor: float
    seed: int
    record: tuple[int, ...]
    width: int = 200
    hidden: int = 200
    dropout: float = 0.3
    clip: float = 0.5

    def __post_init__(self) -> None:
        if not self.record or self.record[0] < 0 or sorted(set(self.record)) != [*self.record]:
            raise ValueError(f"record is {self.record}; give increasing numbers from 0 on")
        if self.rate <= 0 or self.layers < 1 or self.width % 2:
            raise ValueError("give a positive rate, at least one layer and an even width")

    @property
    def shared(self) -> Plan:
        """The same without what compiled code does not depend on."""
        return replace(
            self, rate=1.0, feed_forward_factor=1.0, positional=False, seed=0, record=(0,)
        )


@dataclass(frozen=True, eq=False)
class Text:
    """Text as numbers of tokens.

    Attributes:
        segments: (S, B, T + 1), batches to train on; the last token of a row is only predicted.
        pieces: (P, T + 1), held-out text that attention is looked at on.
        queries: (Q,), tokens whose scores are kept.
    """

    segments: Integers
    pieces: Integers
    queries: Integers

    @property
    def digest(self) -> str:
        """Hash of it all."""
        mark = hashlib.sha256()
        for part in (self.segments, self.pieces, self.queries):
            mark.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        return mark.hexdigest()


@dataclass(frozen=True, eq=False)
class TextRun:
    """What a plan gave up to some recorded step.

    Attributes:
        plan: the plan.
        parameters: arrays by name, after the last recorded step reached; none once it is finished.
        batch_losses: (T,), loss of each batch before its update.
        losses: (R,), held-out loss at the recorded steps.
        attention: (R, P, T, T), attention of the first layer on the held-out pieces.
        scores: (2, Q, V), scores of pairs of tokens without positions, at the first recorded step
            and at the last one reached.
    """

    plan: Plan
    parameters: Mapping[str, Floats]
    batch_losses: Floats
    losses: Floats
    attention: Floats
    scores: Floats

    @property
    def finished(self) -> bool:
        """Whether all steps are recorded."""
        return len(self.losses) == len(self.plan.record)

    def extended(
        self,
        parameters: Mapping[str, Floats],
        batch_losses: Floats,
        loss: float,
        attention: Floats,
        scores: Floats,
    ) -> TextRun:
        """This run and one more recorded step."""
        first = not len(self.losses)
        last = len(self.losses) + 1 == len(self.plan.record)
        return TextRun(
            self.plan,
            {} if last else parameters,
            np.concatenate([self.batch_losses, batch_losses]),
            np.append(self.losses, np.float32(loss)),
            attention[None] if first else np.concatenate([self.attention, attention[None]]),
            np.array([scores if first else self.scores[0], scores]),
        )


def empty(plan: Plan, parameters: Mapping[str, Floats]) -> TextRun:
    """A run that has not begun."""
    none = np.zeros(0, dtype=np.float32)
    maps, scores = none.reshape(0, 0, 0, 0), none.reshape(0, 0, 0)
    return TextRun(plan, parameters, none, none, maps, scores)


# What the figures show


def entropies(attention: NDArray[Any]) -> NDArray[np.float64]:
    """Mean entropy in nats of attention rows with at least two tokens to attend to.

    Args:
        attention: (..., P, T, T), causal; row i attends to i + 1 tokens.

    Returns:
        (...).
    """
    rows = np.asarray(attention[..., 1:, :], dtype=float)
    logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    return np.asarray(-(rows * logs).sum(axis=-1).mean(axis=(-2, -1)))


def changes(attention: NDArray[Any]) -> NDArray[np.float64]:
    """Mean total variation between attention at neighbouring recorded steps.

    Args:
        attention: (R, P, T, T).

    Returns:
        (R - 1,), between 0 and 1.
    """
    rows = np.asarray(attention[..., 1:, :], dtype=float)
    return np.asarray(0.5 * np.abs(np.diff(rows, axis=0)).sum(axis=-1).mean(axis=(-2, -1)))


# Kept runs


def fingerprint(plan: Plan, text: Text) -> str:
    """Hash of a plan, its text, and the code that trains it."""
    mark = hashlib.sha256(json.dumps(asdict(plan), sort_keys=True).encode())
    mark.update(text.digest.encode())
    for name in CODE:
        mark.update(Path(__file__).with_name(name).read_bytes())
    return mark.hexdigest()[:24]


def save(run: TextRun, text: Text, folder: Path) -> None:
    """Write a run, finished or not, all or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{fingerprint(run.plan, text)}.npz"
    arrays: dict[str, Any] = {f"parameter {k}": v for k, v in run.parameters.items()}
    names = ("batch_losses", "losses", "attention", "scores")
    arrays |= {name: getattr(run, name) for name in names}
    with replacing(target) as file:
        np.savez(file, allow_pickle=False, **arrays)


def load(plan: Plan, text: Text, folder: Path) -> TextRun | None:
    """What is kept of a run, or None where there is nothing that can be read whole."""
    try:
        path = folder / f"{fingerprint(plan, text)}.npz"
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            parts = {name: file[name] for name in file.files}
        names = ("batch_losses", "losses", "attention", "scores")
        kept = [parts.pop(name) for name in names]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None  # absent or damaged: it is run again
    parameters = {name.removeprefix("parameter "): value for name, value in parts.items()}
    run = TextRun(plan, parameters, *kept)
    reached = len(run.losses)
    whole = 0 < reached <= len(plan.record) and len(run.attention) == reached
    whole = whole and len(run.scores) == 2 and (run.finished or len(parameters) > 0)
    return run if whole and len(run.batch_losses) == plan.record[reached - 1] else None
