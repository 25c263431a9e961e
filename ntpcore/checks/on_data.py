"""Claims that depend on the data, judged on a reader's own file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ntpcore.catalogue import CATALOGUE
from ntpcore.checks.huang2024 import max_margin
from ntpcore.claims import Check, Verdict
from ntpcore.dataset import InputError
from ntpcore.order import PartialOrder, Structure

JUDGES: dict[str, Callable[[Iterable[PartialOrder]], Check]] = {
    "huang2024-prop-2": max_margin.check_huang2024_prop_2,
    "huang2024-prop-4": max_margin.check_huang2024_prop_4,
    "huang2024-eq-16": max_margin.check_huang2024_eq_16,
}


def labels(claim: str | None) -> tuple[str, ...]:
    """The labels to judge: this one, or all.

    Raises:
        InputError: there is no such claim, or data do not decide it.
    """
    if claim is None:
        return tuple(JUDGES)
    if claim in JUDGES:
        return (claim,)
    known = {row.label: row for row in CATALOGUE}
    usable = ", ".join(JUDGES)
    if claim not in known:
        raise InputError(f"--claim {claim}: no such claim; data decide {usable}")
    page = known[claim].page
    where = f"see the page {page} of the book" if page else "its check is not built yet"
    raise InputError(
        f"--claim {claim}: not decided by data of yours, {where}; data decide {usable}"
    )


def judge(structure: Structure, chosen: Iterable[str], source: str) -> tuple[Check, ...]:
    """Judge the chosen claims on the orders of a data set.

    A claim is open, with the reason, where Assumption 1 fails in a way that leaves it undefined.
    """
    return tuple(
        replace(_judge(structure, label), repeat=f"ntpcore check {source} --claim {label}")
        for label in chosen
    )


def _judge(structure: Structure, label: str) -> Check:
    """One claim on the orders of a data set."""
    orders = structure.orders
    if orders is None:
        reason = "Assumption 1 fails: without a collocation there are no orders to judge."
        return Check(label, Verdict.OPEN, 0, "partial orders", reason)
    if any(one.confused for one in orders.values()):
        reason = "Assumption 1 fails: tokens are confused, so the max-margin matrix is not defined."
        return Check(label, Verdict.OPEN, 0, "partial orders", reason)
    return JUDGES[label](orders.values())
