"""What was built from what: doit's records, kept by content and saved after every task."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from doit.dependency import DatabaseException, Dependency, FileChangedChecker, JSONCodec, JsonDB
from doit.task import Task

State = Mapping[str, object]


class Records(JsonDB):
    """doit's records in a JSON file that is replaced whole, so that no kill can leave half of it.

    Records that cannot be read are forgotten: everything is then built anew.
    """

    def _load(self) -> object:
        try:
            return super()._load()
        except DatabaseException:
            return {}

    def dump(self) -> None:
        """Save the records."""
        unfinished = Path(f"{self.name}.unfinished")
        unfinished.write_text(self.codec.encode(self._db), encoding="utf-8")
        os.replace(unfinished, self.name)


class Content(FileChangedChecker):
    """Tell changes by content only, never by time.

    A file is read once per build, before anything runs. What a task is recorded to have used is
    thus never newer than what it did use, even when somebody saves the file meanwhile.
    """

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}

    def digest(self, path: str) -> str:
        """Digest of the file as this build first saw it."""
        if path not in self.digests:
            self.digests[path] = digest(Path(path))
        return self.digests[path]

    def check_modified(self, file_path: str, file_stat: object, state: object) -> bool:
        """Whether the file is not the recorded one."""
        return self.digest(file_path) != state

    def get_state(self, dep: str, current_state: object) -> str:
        """What to record of a file."""
        return self.digest(dep)


def digest(path: Path) -> str:
    """Digest of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def open_records(path: Path) -> Dependency:
    """doit's view of the records in this file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return Dependency(Records, str(path), checker_cls=Content, codec_cls=JSONCodec)


def tracked_task(
    name: str,
    action: Callable[[], object] | None,
    inputs: Iterable[Path],
    targets: Iterable[Path],
    state: State,
) -> Task:
    """A task that is up to date while its inputs, its state and its targets are unchanged.

    Args:
        name: name of the task.
        action: function without arguments; may return a `TaskFailed`. None: the caller acts.
        inputs: files it reads.
        targets: files it makes; a change of the first one by others makes it run again.
        state: what else its result depends on.
    """
    targets = list(targets)

    def save() -> dict[str, object]:
        return {"state": dict(state), "made": digest(targets[0])}

    def state_unchanged(task: Task, values: Mapping[str, object]) -> bool:
        return values.get("state") == state

    def result_unchanged(task: Task, values: Mapping[str, object]) -> bool:
        return not targets[0].exists() or values.get("made") == digest(targets[0])

    task = Task(
        name,
        None if action is None else [action],
        file_dep=sorted(str(path) for path in inputs),
        targets=[str(path) for path in targets],
        uptodate=[state_unchanged, result_unchanged],
        io={"capture": False},
    )
    task.value_savers.append(save)
    return task


def reasons(records: Dependency, task: Task, state: State) -> list[str]:
    """Why a task must run, in plain words; empty when nothing changed."""
    for path in task.file_dep:
        records.checker.digest(path)  # as it is now, before anything runs
    status = records.get_status(task, {}, get_log=True)
    if status.status == "up-to-date":
        return []
    values = records.get_values(task.name)
    if not values:
        return ["no earlier result"]
    found = status.reasons
    words = _state_changes(values.get("state", {}), state)
    words += [f"{name} is missing" for name in found.get("missing_file_dep", [])]
    words += [f"{name} is missing" for name in found.get("missing_target", [])]
    added = found.get("added_file_dep", [])
    words += [f"{name} is used now" for name in added]
    words += [f"{name} is no longer used" for name in found.get("removed_file_dep", [])]
    words += [f"{name} changed" for name in sorted(found.get("changed_file_dep", []))]
    words = [word for word in words if word.removesuffix(" changed") not in added]
    return words or [f"{task.targets[0]} was changed by hand"]


def _state_changes(old: State, new: State) -> list[str]:
    """What differs between two states, such as "seed is 7 (was the page's own)"."""
    words = []
    for key in sorted({*old, *new}):
        before, after = old.get(key, "the page's own"), new.get(key, "the page's own")
        if before != after:
            words.append(f"{key} is {after} (was {before})")
    return words


def short(words: list[str], most: int = 3) -> str:
    """A few reasons in one line."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f", and {more} more" if more > 0 else "")
