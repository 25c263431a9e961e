"""What was built from what: doit's records, kept by content and saved after every task."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from doit.dependency import Dependency, FileChangedChecker, JSONCodec, JsonDB
from doit.task import Task

from ntpcore.data.files import replacing

State = Mapping[str, object]


class Records(JsonDB):
    """doit's records in a JSON file that is replaced whole, so that no kill can leave half of it.

    A digest follows them in a line of its own. Records without it, or with another one, are damaged
    or not ours, and forgotten: everything is then built anew.
    """

    def _load(self) -> object:
        content = Path(self.name).read_bytes()
        text, _, said = content.rpartition(b"\n")
        if said.decode(errors="replace") != hashlib.sha256(text).hexdigest():
            return {}
        return self.codec.decode(text.decode("utf-8"))

    def dump(self) -> None:
        """Save the records."""
        text = self.codec.encode(self._db).encode("utf-8")
        with replacing(self.name) as stream:
            stream.write(text + b"\n" + hashlib.sha256(text).hexdigest().encode())


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
        targets: files it makes; a change of any of them by others makes it run again.
        state: what else its result depends on.
    """
    targets = list(targets)

    def save() -> dict[str, object]:
        return {"state": dict(state), "made": made()}

    def made() -> list[str]:
        return [digest(path) for path in targets]

    def state_unchanged(task: Task, values: Mapping[str, object]) -> bool:
        return values.get("state") == state

    def result_unchanged(task: Task, values: Mapping[str, object]) -> bool:
        return not all(path.exists() for path in targets) or values.get("made") == made()

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
    return words or [_altered(task, values)]


def _altered(task: Task, values: Mapping[str, object]) -> str:
    """Which of the files that the task made is no longer the one that it made."""
    known = values.get("made")
    known = known if isinstance(known, list) and len(known) == len(task.targets) else []
    pairs = zip(task.targets, known, strict=False)
    changed = [name for name, made in pairs if digest(Path(name)) != made]
    return f"{(changed or task.targets)[0]} was changed by hand"


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
