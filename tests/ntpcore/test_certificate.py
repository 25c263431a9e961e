"""Certificates of exact max-margin attention: what the checker accepts, alone and after changes."""

from __future__ import annotations

import copy
import json
import math
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ntpcore import certificate
from ntpcore.certificate import RefusedError

# By hand: a, b with n(a) = b and n(b) = a; after "a b" comes b, so that a lies above b under b.
HAND: dict[str, Any] = {
    "format": "ntpcore certificate 1",
    "vocabulary": ["a", "b"],
    "samples": [[[0], 1, 2], [[1], 0, 1], [[0, 1], 1, 1]],
    "collocation": [1, 0],
    "facts": {"assumption_1": True, "assumption_3": True, "prefix_closed": True, "source": True},
    "columns": [
        {
            "query": 1,
            "scores": [[0, "1/2"], [1, "-1/2"]],
            "multipliers": [[0, 1, "1/2"]],
            "closed_form": True,
        }
    ],
    "norm_squared": "1/2",
    # K = log(2 * 4 * 1 / (1/4)) = log 32 = 3.4657...
    "bounds": {
        "eta": "1/10", "longest": 2, "pi_min": "1/4", "K": "347/100", "beats_trivial_from": None,
    },
}  # fmt: skip
# By hand: under q the tokens a, b, c lie above each other in a circle, and all above q: 1/4, -3/4.
CIRCLE: dict[str, Any] = {
    "format": "ntpcore certificate 1",
    "vocabulary": ["a", "b", "c", "q"],
    "samples": [
        [[0], 1, 1], [[1], 2, 1], [[2], 3, 1], [[3], 0, 1],
        [[0, 1, 3], 1, 1], [[1, 2, 3], 2, 1], [[2, 0, 3], 3, 1],
    ],
    "collocation": [1, 2, 3, 0],
    "facts": {"assumption_1": False, "assumption_3": True, "prefix_closed": False, "source": True},
    "columns": [
        {
            "query": 3,
            "scores": [[0, "1/4"], [1, "1/4"], [2, "1/4"], [3, "-3/4"]],
            "multipliers": [[0, 3, "3/4"]],
            "closed_form": False,
        }
    ],
    "norm_squared": "3/4",
    "bounds": None,
}  # fmt: skip


def changed(*path: object, to: Any, of: dict[str, Any] = HAND) -> dict[str, Any]:
    """A certificate with one value changed."""
    made = copy.deepcopy(of)
    place: Any = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return made


@pytest.mark.parametrize("made", [HAND, CIRCLE])
def test_certificates_by_hand_are_accepted(made: dict[str, Any]) -> None:
    certificate.check(made)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (changed("format", to="ntpcore certificate 2"), "format: not"),
        (changed("more", to=1), "certificate: 'more' means nothing here"),
        ({k: v for k, v in HAND.items() if k != "bounds"}, "certificate: 'bounds' is missing"),
        (changed("vocabulary", 1, to="a"), "vocabulary: a token occurs twice"),
        (changed("samples", 0, 2, to=0), r"samples\[0\]\[2\]: 0 is out of range"),
        (changed("samples", 0, 2, to=True), r"samples\[0\]\[2\]: not a whole number"),
        (changed("samples", 2, to=[[0], 1, 1]), r"samples\[2\]: the sample occurs twice"),
        (changed("collocation", 0, to=0), r"collocation\[0\]: a sample of one token"),
        (changed("facts", "source", to=False), "facts.source: it says false"),
        (changed("facts", "prefix_closed", to=1), "facts.prefix_closed: neither true nor false"),
        (changed("columns", to=[]), "columns: 1 queries compare tokens"),
        (changed("columns", 0, "query", to=0), r"columns\[0\].query: the next query"),
        (changed("columns", 0, "scores", 0, 1, to="2/4"), r"\[0\]: '2/4' is not in lowest terms"),
        (changed("columns", 0, "scores", 0, 1, to=0.5), r"scores\[0\]: not a fraction"),
        (changed("columns", 0, "scores", 0, 1, to="0"), "the margin of 0 above 1 is 1/2"),
        (changed("columns", 0, "scores", 0, 1, to="1"), "a multiplier, and a margin that is not 1"),
        (changed("columns", 0, "multipliers", to=[]), "multipliers do not give token 0's"),
        (changed("columns", 0, "multipliers", 0, 2, to="-1/2"), "the multiplier is not positive"),
        (changed("columns", 0, "multipliers", 0, 1, to=0), "0 above 0 asks for no margin"),
        (changed("columns", 0, "closed_form", to=False), "closed_form: it says false"),
        (changed("norm_squared", to="1/3"), "norm_squared: it is 1/2"),
        (changed("bounds", to=None), "bounds: not an object"),
        (changed("bounds", "pi_min", to="1/3"), "bounds.pi_min: it is 1/4"),
        (changed("bounds", "longest", to=3), "bounds.longest: it is 2"),
        (changed("bounds", "K", to="346/100"), "in lowest terms"),
        (changed("bounds", "K", to="173/50"), "bounds.K: too small, or not shown"),
        (changed("bounds", "beats_trivial_from", to=5), "the trivial bound is 0"),
        (changed("columns", 0, "scores", 0, 1, to="1/3", of=CIRCLE), "one circle score"),
        (changed("bounds", to=HAND["bounds"], of=CIRCLE), "Theorem B does not speak of"),
    ],
)  # fmt: skip
def test_the_first_place_that_is_wrong_is_named(made: dict[str, Any], message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        certificate.check(made)


def test_the_file_runs_alone_and_says_what_it_found(tmp_path: Path) -> None:
    alone = tmp_path / "certificate.py"
    alone.write_bytes(Path(certificate.__file__).read_bytes())
    assert len(alone.read_text(encoding="utf-8").splitlines()) <= 300
    for name, text, code, said in (
        ("right.json", json.dumps(HAND), 0, "accepted"),
        (
            "wrong.json",
            json.dumps(changed("norm_squared", to="1")),
            1,
            "not accepted: norm_squared",
        ),
        ("twice.json", '{"format": 1, "format": 2}', 1, "a name occurs twice"),
        ("torn.json", json.dumps(HAND)[:-9], 2, "cannot be read"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-I", "-S", str(alone), name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a certificate holds a number, a text or a truth value."""
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            yield from places(part, (*path, key))
    else:
        yield path


def shortest_by_force(pairs: set[tuple[int, int]], tokens: list[int]) -> Fraction:
    """The squared norm by brute force: the best of all sets of pairs with margins of exactly 1."""
    import numpy as np

    rows = np.array([[(x == a) - (x == b) for x in tokens] for a, b in sorted(pairs)], float)
    best = math.inf
    for mask in range(1, 2 ** len(rows)):
        chosen = rows[[i for i in range(len(rows)) if mask >> i & 1]]
        found = np.linalg.pinv(chosen) @ np.ones(len(chosen))
        if (rows @ found >= 1 - 1e-9).all() and np.allclose(chosen @ found, 1):
            best = min(best, float(found @ found))
    return Fraction(best).limit_denominator(10**6)


def test_of_many_single_changes_none_is_accepted_that_makes_the_certificate_false() -> None:
    rng, accepted = random.Random(7), 0
    for _ in range(2000):
        made = copy.deepcopy(HAND)
        path = rng.choice(list(places(made)))
        place: Any = made
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = rng.choice([0, 1, 2, 3, -1, "1/2", "1", "-1/2", "a", True, False, None])
        try:
            certificate.check(made)
        except RefusedError:
            continue
        accepted += 1
        # what is accepted is true of the samples in it, computed from the definitions
        (column,) = made["columns"]
        pairs = {
            (x, z)
            for s, y, _ in made["samples"]
            for x in s
            for z in s
            if made["collocation"][x] == y != made["collocation"][z] and s[-1] == column["query"]
        }
        assert shortest_by_force(pairs, [0, 1]) == Fraction(made["norm_squared"])
        total = sum(count for _, _, count in made["samples"])
        least = min(Fraction(count, total) for s, _, count in made["samples"] if len(set(s)) > 1)
        assert Fraction(made["bounds"]["pi_min"]) == least
        assert Fraction(made["bounds"]["K"]) >= math.log(8 / least)
    assert accepted  # names of tokens, step sizes and equal values may change
