"""Checks by the labels of their claims."""

from __future__ import annotations

from ntpbook.catalogue import find_check
from ntpverdicts.claims import Check


def judge(label: str, *given: object, **changes: object) -> Check:
    """The check of a claim on these instances, with some arguments of its body changed."""
    found: Check = find_check(label).judge(given, **changes)
    return found
