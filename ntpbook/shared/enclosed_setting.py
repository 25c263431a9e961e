"""The setting of the paper's experiment, for runs enclosed in balls."""

from __future__ import annotations

from fractions import Fraction

from ntpbook.shared import enclosure
from ntpcore.data import order
from ntpcore.data.dataset import Dataset
from ntpcore.data.examples import example_1
from ntpcore.exact import margin


def paper_setting(data: Dataset) -> enclosure.EnclosedSetting:
    """A data set under Assumption 1 at the gap and the step size of the paper's experiment.

    Raises:
        ValueError: the data do not meet Assumption 1.
    """
    found, size = order.analyse(data), len(data.vocabulary)
    if found.orders is None:
        raise ValueError(f"{data.name} does not meet Assumption 1")
    samples = [(one.sentence, one.next_token, one.count) for one in data.samples()]
    star = {
        (query, token): score
        for query, solution in margin.W_kq_star(found.orders).items()
        for token, score in solution.scores.items()
    }
    eta0_squared = Fraction(4, 100 * size)
    return enclosure.EnclosedSetting(
        size,
        enclosure.merge(samples, {x: y for x, y in found.collocation.items() if y is not None}),
        star,
        900**2 * eta0_squared / (size - 1),
        Fraction(25, 10_000 * size),
    )


def example_1_setting() -> enclosure.EnclosedSetting:
    """Example 1 at the gap and the step size of the paper's experiment."""
    return paper_setting(example_1())
