"""Which hypotheses an instance breaks."""

from __future__ import annotations

from ntpverdicts.compare import Assumed
from ntpverdicts.vocabulary import Checked


def broken(check: Checked, one: object) -> list[str]:
    """The names of the hypotheses of a check that an instance breaks."""
    said = check.body(one)
    return [each.name for each in said if isinstance(each, Assumed) and not each.holds]
