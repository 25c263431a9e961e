"""Data sets and a comparison of runs that more than one test uses."""

import numpy as np

from ntpcore.data import dataset, generate

EXAMPLE_1 = dataset.read("examples/example1.txt")


SETS = {
    "prefix-closed 0": generate.experiment(0),
    "prefix-closed 1": generate.experiment(1),
    "not prefix-closed": generate.experiment(0, prefix_closed=False),
}


def fields_equal(left, right) -> bool:
    """Whether two dataclasses hold the same numbers, bit for bit."""
    names = left.__dataclass_fields__
    return all(
        np.array_equal(getattr(left, name), getattr(right, name), equal_nan=True)
        for name in names
        if name not in ("rows", "state")
    )
