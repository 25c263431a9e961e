"""Relations between expressions of sympy, as steps of proofs show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ntpcore.verdicts.claims import Shown

_LONGEST = 400  # signs of an expression that a page shows


def identity(name: str, left: Any, right: Any) -> Shown:
    """left = right, found by simplifying the difference, not by comparing how both are written.

    Args:
        name: what the identity says, in words.
        left: an expression or a matrix of sympy, derived from a definition.
        right: what it should be.
    """
    import sympy as sp

    rest = sp.simplify(sp.expand_log(sp.expand(left - right)))
    zero = rest.is_zero_matrix is True if hasattr(rest, "shape") else rest == 0
    return Shown(name, _text(left), "=", _text(right), "0" if zero else _text(rest), bool(zero))


def at_least_zero(name: str, expression: Any, *, strictly: bool = False) -> Shown:
    """expression >= 0, from what sympy knows of the signs of its symbols.

    Args:
        name: what the inequality says, in words.
        expression: written so that every part has a sign, such as a sum of products.
        strictly: whether zero fails.
    """
    import sympy as sp

    found = sp.sympify(expression)
    known = found.is_positive if strictly else found.is_nonnegative
    return Shown(name, _text(found), ">" if strictly else ">=", "0", _text(found), known is True)


def shown_steps(steps: Iterable[Any]) -> tuple[Shown, ...]:
    """Identities and inequalities of `why_it_turns.steps`, as a page shows them."""
    found = []
    for one in steps:
        equation = hasattr(one, "left")
        sides = (one.left, one.right) if equation else (one.smaller, one.larger)
        left, right = map(_text, sides)
        rest = _text(one.difference)
        found.append(Shown(one.name, left, "=" if equation else "<=", right, rest, one.holds))
    return tuple(found)


def _text(expression: Any) -> str:
    """An expression as a page shows it."""
    text = str(expression)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
