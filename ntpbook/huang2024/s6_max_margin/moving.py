"""Proposition 2 for the reader's numbers of optimal and non-optimal tokens."""

from __future__ import annotations

from fractions import Fraction

from ntpcore.data.order import PartialOrder
from ntpcore.exact.margin import closed_form_scores, norm_squared, solve_scores
from ntpcore.pages import interactive
from ntpcore.pages.interactive import Axis, Curve, Dial, Moving, View

MOST = 7


def shared_order(k: int, m: int) -> PartialOrder:
    """k optimal tokens over m non-optimal: the first over all of these, the rest over the last.

    For k = 2 and m = 3 this is the five-token order of the page.
    """
    below = [f"y{place}" for place in range(1, m)] + ["q"]
    pairs = {("x1", token) for token in below} | {(f"x{i}", "q") for i in range(2, k + 1)}
    return PartialOrder.of("q", pairs)


def scores() -> Moving:
    """Exact scores and closed form of that order for all sizes up to `MOST`."""
    sizes = tuple(str(size) for size in range(1, MOST + 1))
    return interactive.moving(
        "fig-prop-2-five-tokens",
        Axis("token: x₁, …, xₖ, then y₁, …, yₘ₋₁, q", low=0, high=2 * MOST + 1),
        Axis("score", low=-1, high=1),
        (
            Dial("optimal tokens k", sizes, start=1),
            Dial("non-optimal tokens m", sizes, start=2),
        ),
        lambda k, m: view(k + 1, m + 1),
    )


def view(k: int, m: int) -> View:
    """Both solutions, and whether they are the same."""
    order = shared_order(k, m)
    printed, true = closed_form_scores(order), solve_scores(order)
    tokens = [f"x{i}" for i in range(1, k + 1)] + [f"y{i}" for i in range(1, m)] + ["q"]
    lengths = norm_squared(printed), norm_squared(true)
    same = printed == true
    says = (
        f"k = {k}, m = {m}: {beaten(k, m)}. The closed form, "
        f"{Fraction(m, k + m)} and {-Fraction(k, k + m)}".replace("-", "−")
        + f", has squared norm {lengths[0]}; the optimum has {lengths[1]}. "
        + ("The closed form is right." if same else "The closed form is not the optimum.")
    )
    places = range(1, k + m + 1)
    curves = (
        Curve(
            "closed form of Proposition 2",
            "bound",
            "points",
            places,
            [float(printed[token]) for token in tokens],
        ),
        Curve(
            "optimal tokens, exact",
            "optimal",
            "points",
            places[:k],
            [float(true[token]) for token in tokens[:k]],
        ),
        Curve(
            "non-optimal tokens, exact",
            "nonoptimal",
            "points",
            places[k:],
            [float(true[token]) for token in tokens[k:]],
        ),
    )
    return View(curves, says)


def beaten(k: int, m: int) -> str:
    """Whom the optimal tokens beat."""
    first = "x₁ beats q" if m == 1 else "x₁ beats y₁ and q" if m == 2 else f"x₁ beats all {m}"
    others = "" if k == 1 else ", x₂ only q" if k == 2 else f", x₂ to x{chr(0x2080 + k)} only q"
    return first + others
