"""The data set of the paper's own example."""

from __future__ import annotations

from ntpcore.data.dataset import Dataset, from_sentences

EXAMPLE_1 = ("S V O P", "V O P", "O P P", "P S V")


def example_1() -> Dataset:
    """The data set of Example 1 (huang2024): SVOP, VOP, OPP, PSV."""
    return from_sentences(EXAMPLE_1, "Example 1")
