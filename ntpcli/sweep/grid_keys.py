"""The keys of a sweep's file: what each means, which values it takes, and where it applies."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ntpcore.huang2024.training import GREATEST_RATE, LEAST_RATE

Value = int | float | bool | str

RANDOM, LANGUAGES = ("prefix-closed", "open"), ("brackets", "server-log")
MOST_STEPS = 10**9  # a run on small data takes a quarter of an hour for so many


@dataclass(frozen=True)
class Key:
    """One key of a grid.

    Attributes:
        name: how it is written.
        kind: what its values are: int, float, bool or str.
        default: the value where a grid does not have it; None for what the paper takes.
        least: smallest number.
        most: largest number.
        choices: the texts that are allowed.
        generators: the generators that take it; empty for all.
        meaning: what it is, in a few words.
    """

    name: str
    kind: type
    default: Value | None
    least: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    meaning: str = ""

    @property
    def rule(self) -> str:
        """What may be given, for messages."""
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        if self.kind is bool:
            return "true or false"
        what = "a whole number" if self.kind is int else "a number"
        return f"{what} from {self.least:g} to {self.most:g}"

    def accepts(self, value: object) -> bool:
        """Whether a value is of the right type and in range."""
        if self.kind is bool:
            return isinstance(value, bool)
        if self.kind is str:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if self.kind is int and not isinstance(value, int):
            return False
        return self.least <= value <= self.most

    def applies(self, generator: str) -> bool:
        """Whether this generator takes the key."""
        return not self.generators or generator in self.generators


KEYS = (
    Key("generator", str, RANDOM[0], choices=RANDOM + LANGUAGES, meaning="what makes the data"),
    Key("vocab_size", int, 20, 2, 1000, generators=RANDOM, meaning="|V|"),
    Key("sentences", int, 40, 1, 100_000, meaning="sentences or sessions that are drawn"),
    Key("max_length", int, 6, 2, 1000, generators=RANDOM, meaning="tokens of the longest sentence"),
    Key("frequent", bool, True, generators=RANDOM, meaning="whether Assumption 3 holds"),
    Key("max_depth", int, 3, 1, 100, generators=("brackets",), meaning="brackets open at once"),
    Key("max_requests", int, 4, 1, 1000, generators=("server-log",), meaning="most requests"),
    Key(
        "repair",
        str,
        None,
        choices=("none", "greedy"),
        meaning="train on all, or on a large realizable part; languages default to greedy",
    ),
    Key("seed", int, 0, 0, 2**63 - 1, meaning="of the random data"),
    Key("eta0", float, None, LEAST_RATE, GREATEST_RATE, meaning="step size of stage 1"),
    Key("eta", float, None, LEAST_RATE, GREATEST_RATE, meaning="step size of stage 2"),
    Key("steps1", int, 900, 1, MOST_STEPS, meaning="T, steps of stage 1"),
    Key("steps", int, 900, 1, MOST_STEPS, meaning="steps of stage 2"),
)
BY_NAME = {key.name: key for key in KEYS}
