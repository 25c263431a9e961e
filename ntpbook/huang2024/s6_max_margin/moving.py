"""Proposition 2 for the reader's numbers of optimal and non-optimal tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View, signed
from ntpcore.data.order import PartialOrder
from ntpcore.exact.margin import closed_form, closed_form_scores, norm_squared, solve_scores

MOST = 6
LETTERS = "abcdefghijklm"
REACH = 0.37  # of a drawing to either side of its name
FEW = 4  # as many tokens of a row bear their score each; of more, those where it changes
Scores = Mapping[str, Fraction]


def shared_order(k: int, m: int) -> PartialOrder:
    """k optimal tokens over m non-optimal: the first over all of these, the rest over the last.

    For k = 2 and m = 3 this is the five-token order of the page, with its names.
    """
    tops, below = list(LETTERS[:k]), [*LETTERS[k : k + m - 1], "q"]
    pairs = {(tops[0], token) for token in below} | {(token, "q") for token in tops[1:]}
    return PartialOrder.of("q", pairs)


def scores() -> Moving:
    """Exact scores and closed form of that order for all sizes up to `MOST`."""
    sizes = tuple(str(size) for size in range(1, MOST + 1))
    return interactive.moving(
        "fig-prop-2-five-tokens",
        Axis("the tokens of the order", names=("closed form of Proposition 2", "optimum")),
        Axis("score", low=-1.05, high=1.05),
        (
            Dial("optimal tokens k", sizes, start=1),
            Dial("non-optimal tokens m", sizes, start=2),
        ),
        lambda k, m: view(k + 1, m + 1),
        "The order at the closed form of Proposition 2 (left) and at the optimum (right). The "
        "height of a token is its score. Every line must span at least one unit; solid lines span "
        "exactly one unit.",
    )


def view(k: int, m: int) -> View:
    """Both solutions, drawn as in the printed picture, and whether they are the same."""
    order = shared_order(k, m)
    high, low = closed_form(k, m)
    printed, true = closed_form_scores(order), solve_scores(order)
    lengths = norm_squared(printed), norm_squared(true)
    slack = sorted((a, b) for a, b in order.pairs if true[a] - true[b] > 1)
    says = (
        f"k = {k}, m = {m}: {beaten(k, m)}. "
        + "".join(
            f"At the optimum {a} scores {true[a] - true[b]} more than {b}. " for a, b in slack
        )
        + f"The closed form has the scores {high} and {signed(low)} "
        f"and the squared norm {lengths[0]}; the optimum has the squared norm {lengths[1]}. "
        + (
            "The closed form is the optimum."
            if printed == true
            else "The closed form is not the optimum."
        )
    )
    curves = (*drawn(order, printed, 0, k, m), *drawn(order, true, 1, k, m))
    return View(tuple(curve for curve in curves if len(curve.x)), says)


def drawn(order: PartialOrder, scores: Scores, place: int, k: int, m: int) -> tuple[Curve, ...]:
    """Pairs and tokens at the heights of their scores, around a place of the axis."""
    tops, below = [*LETTERS[:k]], [*LETTERS[k : k + m - 1], "q"]
    at = spread(tops, place) | spread(below, place)

    def pairs(label: str, line: str, tight: bool) -> Curve:
        chosen = [p for p in sorted(order.pairs) if (scores[p[0]] - scores[p[1]] == 1) == tight]
        xs = [x for a, b in chosen for x in (at[a], at[b], math.nan)]
        ys = [y for a, b in chosen for y in (float(scores[a]), float(scores[b]), math.nan)]
        return Curve(label, "bound", line, xs[:-1], ys[:-1])

    def tokens(label: str, role: str, row: Sequence[str]) -> Curve:
        heights = [float(scores[token]) for token in row]
        notes = tuple(
            signed(scores[token])
            if len(row) <= FEW or i == 0 or scores[token] != scores[row[i - 1]]
            else ""
            for i, token in enumerate(row)
        )
        return Curve(label, role, "points", [at[t] for t in row], heights, tuple(row), notes)

    return (
        pairs("pair with margin 1", "tight", tight=True),
        pairs("pair with a larger margin", "slack", tight=False),
        tokens("optimal tokens", "optimal", tops),
        tokens("non-optimal tokens", "nonoptimal", below),
    )


def spread(row: Sequence[str], place: int) -> dict[str, float]:
    """Places of the tokens of one row, side by side around a place."""
    if len(row) == 1:
        return {row[0]: float(place)}
    step = 2 * REACH / (len(row) - 1)
    return {token: place - REACH + step * number for number, token in enumerate(row)}


def beaten(k: int, m: int) -> str:
    """Above which tokens the optimal tokens lie."""
    first = f"a lies above {listed([*LETTERS[k : k + m - 1], 'q'])}"
    return first if k == 1 else f"{first}, and {listed(LETTERS[1:k])} above q only"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
