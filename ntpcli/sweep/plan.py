"""The file of a sweep: TOML, read as data under a strict schema, into one cell for each run.

    [[grid]]
    generator = ["prefix-closed", "open"]
    vocab_size = [6, 10]
    seed = { from = 0, to = 9 }
    eta = [0.05, 0.2]
    steps = 20000

Every combination of the values in a grid is a run; a file may have several grids.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import product

from ntpcli.sweep.grid_keys import BY_NAME, KEYS, LANGUAGES, Key, Value
from ntpcore.data.dataset import InputError

MOST_RUNS = 100_000
MOST_BYTES = 1_000_000
# A key of many parts, which the parser takes quadratic time to read; those of a sweep have two.
DOTTED = re.compile(r"^(?:[^\n.=#]*\.){20}", re.MULTILINE)
EXAMPLE = "[[grid]] with lines such as seed = { from = 0, to = 9 } and eta = [0.05, 0.2]"


@dataclass(frozen=True)
class Cell:
    """The parameters of one run; None where a key does not apply, or stands for the paper's value.

    Attributes:
        grid: which [[grid]] of the file it belongs to, counted from 1.
        generator: what makes the data.
        vocab_size: |V| of random data.
        sentences: how many sentences or sessions are drawn.
        max_length: longest sentence of random data.
        frequent: whether random data satisfy Assumption 3.
        max_depth: of brackets.
        max_requests: of a server's log.
        repair: "none", or "greedy" to train on a large realizable part.
        seed: of the data.
        eta0: step size of stage 1.
        eta: step size of stage 2.
        steps1: steps of stage 1.
        steps: steps of stage 2.
    """

    grid: int
    generator: str
    vocab_size: int | None
    sentences: int
    max_length: int | None
    frequent: bool | None
    max_depth: int | None
    max_requests: int | None
    repair: str
    seed: int
    eta0: float | None
    eta: float | None
    steps1: int
    steps: int


@dataclass(frozen=True)
class Plan:
    """A sweep.

    Attributes:
        cells: the runs, in the order of the rows.
    """

    cells: tuple[Cell, ...]

    @property
    def mark(self) -> str:
        """A hash of all runs and their order, in hexadecimal: layout and remarks do not count."""
        text = json.dumps([list(asdict(cell).values()) for cell in self.cells])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read(path: str) -> Plan:
    """Read the file of a sweep.

    Raises:
        InputError: the file cannot be read, is no TOML, or breaks a rule of the schema.
    """
    try:
        with open(path, "rb") as stream:
            raw = stream.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"{path or repr(path)}: cannot be read ({reason}); name a TOML file"
        ) from None
    except ValueError as error:
        raise InputError(f"{path!r}: not a file name ({error})") from None
    if len(raw) > MOST_BYTES:
        raise InputError(
            f"{path}: more than {MOST_BYTES:,} bytes, which is no grid; write ranges as "
            "seed = { from = 0, to = 999 }"
        )
    try:
        return parse(raw.decode("utf-8"), path)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not valid UTF-8; convert the file to UTF-8 first") from None


def parse(text: str, name: str = "sweep.toml") -> Plan:
    """The sweep that a text describes.

    Args:
        text: the content of the file.
        name: what messages call it.

    Raises:
        InputError: as for `read`.
    """
    deep = DOTTED.search(text)
    if deep:
        line = text.count("\n", 0, deep.start()) + 1
        raise InputError(f"{name}:{line}: a key with many dots, nested too deeply; write {EXAMPLE}")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
        where = f"{name}:{place[1]}" if place else name
        why = str(error)[: place.start()].strip() if place else str(error)
        raise InputError(f"{where}: broken TOML ({why}); write {EXAMPLE}") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; write {EXAMPLE}") from None
    except ValueError as error:  # a number with too many digits, a date that is none
        raise InputError(f"{name}: broken TOML ({error}); write {EXAMPLE}") from None
    for key in found:
        if key != "grid":
            where = _Place(text, name, 0).of(key)
            raise InputError(f"{where}: unknown key {key!r}; all keys stand below a line [[grid]]")
    grids = found.get("grid")
    if not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
        where = _Place(text, name, 0).of("grid") if "grid" in found else name
        raise InputError(f"{where}: there is no [[grid]]; write {EXAMPLE}")
    if not grids:
        raise InputError(f"{name}: no grid, so nothing to run; write {EXAMPLE}")
    values = [
        _values(grid, _Place(text, name, number)) for number, grid in enumerate(grids, start=1)
    ]
    _check_size(values, name)
    return Plan(_cells(values, name))


@dataclass(frozen=True)
class _Place:
    """Where things stand in the file.

    Attributes:
        text: the content of the file.
        name: what messages call it.
        grid: which grid is meant, counted from 1; 0 for what stands above the first.
    """

    text: str
    name: str
    grid: int

    def of(self, key: str) -> str:
        """File and line of a key of the grid, or of the grid's header, or the file alone."""
        grid, header = 0, ""
        for number, line in enumerate(self.text.splitlines(), start=1):
            where = f"{self.name}:{number}"
            if re.match(r"\s*\[\[\s*(grid|\"grid\"|'grid')\s*\]\]", line):
                grid += 1
                header = where if grid == self.grid else header
            elif grid == self.grid and re.match(
                rf"\s*\[?\s*[\"']?(grid\.)?{re.escape(key)}[\"']?\s*[=.\]]", line
            ):
                return where
        return header or self.name


def _values(grid: Mapping[str, object], place: _Place) -> dict[str, list[Value | None]]:
    """The values of each key of a grid, in the order of `KEYS`."""
    for name in grid:
        if name not in BY_NAME:
            known = ", ".join(BY_NAME)
            raise InputError(f"{place.of(name)}: unknown key {name!r}; the keys are {known}")
    values = {
        key.name: [key.default] if key.name not in grid else _listed(key, grid[key.name], place)
        for key in KEYS
    }
    generators = [str(generator) for generator in values["generator"]]
    for name in grid:
        for generator in generators:
            if not BY_NAME[name].applies(generator):
                raise InputError(
                    f"{place.of(name)}: {name!r} means nothing to the generator {generator!r}; "
                    "give that generator a [[grid]] of its own without it"
                )
    return values


def _listed(key: Key, given: object, place: _Place) -> list[Value | None]:
    """The values that a key was given, one or many, all of them checked."""
    where = place.of(key.name)
    if isinstance(given, dict):
        given = _range(key, given, where)
    many = given if isinstance(given, list | range) else [given]
    if not len(many):
        raise InputError(f"{where}: {key.name!r} is empty, so no run is left; give {key.rule}")
    if len(many) > MOST_RUNS:
        raise InputError(
            f"{where}: {key.name!r} has {len(many):,} values; a sweep has at most "
            f"{MOST_RUNS:,} runs"
        )
    for value in many:
        if not key.accepts(value):
            raise InputError(f"{where}: {key.name!r} is {_shown(value)}; give {key.rule}")
    values = [key.kind(value) for value in many]
    if len(set(values)) < len(values):
        twice = next(value for value in values if values.count(value) > 1)
        raise InputError(f"{where}: {key.name!r} has {twice!r} twice; leave one out")
    return values


def _range(key: Key, given: Mapping[str, object], where: str) -> range:
    """The whole numbers of { from = 0, to = 9 }, both ends included."""
    example = f"{key.name} = {{ from = 0, to = 9 }}"
    if key.kind is not int:
        raise InputError(f"{where}: {key.name!r} is a table; only whole numbers have ranges")
    if set(given) != {"from", "to"}:
        raise InputError(f"{where}: a range has the keys from and to; write {example}")
    for name in ("from", "to"):
        if not key.accepts(given[name]):
            raise InputError(f"{where}: {name!r} is {_shown(given[name])}; give {key.rule}")
    first, last = given["from"], given["to"]
    assert isinstance(first, int)
    assert isinstance(last, int)
    if last - first >= MOST_RUNS:  # len() of a longer range may not be a number
        raise InputError(
            f"{where}: {key.name!r} has {last - first + 1:,} values; a sweep has at most "
            f"{MOST_RUNS:,} runs"
        )
    return range(first, last + 1)


def _check_size(grids: list[dict[str, list[Value | None]]], name: str) -> None:
    """Refuse more runs than a sweep may have, before they are spelled out."""
    sizes = [math.prod(map(len, values.values())) for values in grids]
    if sum(sizes) <= MOST_RUNS:
        return
    values = grids[sizes.index(max(sizes))]
    factors = [f"{len(many):,} {key}" for key, many in values.items() if len(many) > 1]
    raise InputError(
        f"{name}: {sum(sizes):,} runs (the largest grid has {' × '.join(factors)}); a sweep has at "
        f"most {MOST_RUNS:,}, so split it or take fewer values"
    )


def _cells(grids: list[dict[str, list[Value | None]]], name: str) -> tuple[Cell, ...]:
    """All runs in order, no two alike."""
    seen: dict[tuple[object, ...], int] = {}
    cells = []
    for number, values in enumerate(grids, start=1):
        for cell in _combinations(number, values):
            key = tuple(getattr(cell, field.name) for field in fields(Cell) if field.name != "grid")
            if key in seen:
                raise InputError(
                    f"{name}: grids {seen[key]} and {number} both hold the run {describe(cell)}; "
                    "leave it out of one of them"
                )
            seen[key] = number
            cells.append(cell)
    return tuple(cells)


def _combinations(number: int, values: Mapping[str, list[Value | None]]) -> Iterator[Cell]:
    """The runs of one grid; the last key changes fastest."""
    for combination in product(*values.values()):
        given = dict(zip(values, combination, strict=True))
        generator = str(given["generator"])
        for key in KEYS:
            if not key.applies(generator):
                given[key.name] = None
        if given["repair"] is None:
            given["repair"] = "greedy" if generator in LANGUAGES else "none"
        yield Cell(grid=number, **given)  # type: ignore[arg-type]


def describe(cell: Cell) -> str:
    """A run in one line: what is set."""
    given = {name: value for name, value in asdict(cell).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in given.items() if name != "grid")


def _shown(value: object) -> str:
    """A value for a message, cut where it is long."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."
