"""Checks that are blind to their planted errors: the vocabulary must refuse them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ntpcore.verdicts.compare import Said
from ntpcore.verdicts.vocabulary import Checked


def blind(check: Checked) -> Checked:
    """The same check with a body that passes over every planted change of its arguments.

    Raises:
        ValueError: no error is planted in its arguments, so that there is nothing to pass over.
    """
    planted = {words: one for words, one in check.planted.items() if one.changes}
    if not planted:
        raise ValueError(f"{check.label} plants errors in its instances only")

    def body(one: object) -> Iterable[Said] | Said:
        return check.body(one)

    return replace(check, body=body, planted=planted, readings={}, proof=())
