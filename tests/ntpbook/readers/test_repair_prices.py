"""The bound that joins pairs and rivals: by hand, against every part, and with planted errors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from numpy.typing import NDArray

from ntpbook.readers.realizable.checks import largest_by_force
from ntpcli.repair import tighten
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.exact import repair, repair_program
from ntpcore.exact.repair_program import PARTS, Cells, evaluate, price_bound

Integers = NDArray[np.int64]
Evaluate = Callable[[Cells, Integers, Integers], tuple[int, object]]


def bound_of(data: Dataset, given: dict[str, str] | None = None) -> int | None:
    return price_bound(repair.tabulate(data, given), 0, rounds=300)


def small_data(rng: random.Random, tokens: str = "abcd") -> Dataset:
    """A few samples, or a few lines, of these tokens."""
    if rng.random() < 0.5:
        lines = [rng.choices(tokens, k=rng.randint(2, 4)) for _ in range(3)]
        return from_sentences(lines)
    rows = [
        (rng.choices(tokens, k=rng.randint(1, 3)), rng.choice(tokens), rng.randint(1, 3))
        for _ in range(6)
    ]
    return from_samples(rows)


def test_joined_it_is_less_than_the_least_of_both() -> None:
    # Of the first three two stay, as x, y and z have only a and b to be n of; rivals do not see it.
    # Of the last two one stays, by rivals; pairs do not see it.
    data = from_samples(
        [
            (["b", "a"], "x"),
            (["a", "b"], "y"),
            (["a"], "z"),
            (["d", "e"], "u"),
            (["d", "e"], "v"),
        ]
    )
    greedy = repair.solve_greedy(repair.tabulate(data))
    assert (greedy.bound, bound_of(data)) == (4, 3)
    assert (tighten(greedy).bound, tighten(greedy).kept_weight) == (3, greedy.kept_weight)


def test_a_group_is_a_class_and_a_next_token() -> None:
    """Written out from the classes: samples come sorted by their next tokens."""
    rng = random.Random(6)
    for _ in range(40):
        table = repair.tabulate(small_data(rng, rng.choice(("abc", "abcde"))))
        cells = repair_program.cells_of(table)
        named = sorted(
            ((one, following) for one, following, _ in repair.classes(table)),
            key=lambda sample: sample[1],
        )
        pairs = set(zip(cells.group.tolist(), named, strict=True))
        assert len(pairs) == len(set(named)) == len(set(cells.group.tolist()))
        members = Counter(one for one, _ in set(named))
        assert sorted(np.diff(cells.start).tolist()) == sorted(members.values())


def test_what_lines_forbid_one_another_is_not_in_it() -> None:
    data = from_samples([(["a", "b", "q"], "x"), (["b", "c", "q"], "y"), (["c", "a", "q"], "z")])
    assert largest_by_force_of_tokens(data) == 2
    assert bound_of(data) == 3


def largest_by_force_of_tokens(data: Dataset) -> int:
    """The optimum where queries are the same, by every choice of n^-1 among the tokens."""
    sets = [set(sample.sentence) for sample in data.samples()]
    tokens = sorted(set().union(*sets))
    best = 0
    for tops in product(tokens, repeat=len(sets)):
        if len(set(tops)) < len(tops):
            continue
        for mask in product((False, True), repeat=len(sets)):
            upper = {top for top, keep in zip(tops, mask, strict=True) if keep}
            fits = (
                one & upper == {top}
                for one, top, keep in zip(sets, tops, mask, strict=True)
                if keep
            )
            best = max(best, sum(mask) if all(fits) else 0)
    return best


def test_a_given_collocation_leaves_fewer_pairs() -> None:
    data = from_samples([(["a", "b"], "x"), (["a"], "y")])
    assert bound_of(data) == 2
    assert bound_of(data, {"b": "y"}) == 1


@pytest.mark.parametrize("seed", range(40))
def test_no_part_is_larger_at_the_end_of_the_search(seed: int) -> None:
    data = small_data(random.Random(seed))
    found = bound_of(data)
    assert found is not None
    assert largest_by_force(data) <= found <= repair.solve_greedy(repair.tabulate(data)).bound


def too_low(evaluated: Evaluate, seeds: range = range(40)) -> list[int]:
    """Seeds where the bound at some shares and prices lies below the largest part."""
    found = []
    for seed in seeds:
        data = small_data(random.Random(seed))
        cells = repair_program.cells_of(repair.tabulate(data))
        rng, truth = np.random.default_rng(seed), largest_by_force(data)
        for part in (0.0, 0.3, 1.0):
            share = cells.weight * np.minimum(1, rng.random(len(cells.weight)) + part - 0.2)
            share = np.clip(share, 0, cells.weight).astype(np.int64)
            price = (rng.random(cells.tokens) * part * PARTS).astype(np.int64)
            if evaluated(cells, share, price)[0] < truth * PARTS:
                found.append(seed)
    return found


def test_any_shares_and_prices_bound_every_part() -> None:
    assert not too_low(evaluate)


def without_prices(cells: Cells, share: Integers, price: Integers) -> tuple[int, object]:
    return evaluate(cells, share, price)[0] - int(price.sum()), None


def without_rest(cells: Cells, share: Integers, price: Integers) -> tuple[int, object]:
    value = evaluate(cells, share, price)[0]
    return value - evaluate(cells, share, np.full_like(price, 2**60))[0] + int(
        price.size
    ) * 2**60, 0


@pytest.mark.parametrize("planted", [without_prices, without_rest])
def test_half_of_the_bound_is_none(planted: Evaluate) -> None:
    assert too_low(planted)


def test_data_too_large_for_whole_numbers_have_no_such_bound() -> None:
    data = from_samples([(["a"], "b", 10**14), (["b"], "a", 1)])
    assert bound_of(data) is None


@settings(max_examples=60)
@given(strategies.tiny_data())
def test_no_part_is_larger_than_the_exact_one_nor_than_either_bound(data: Dataset) -> None:
    truth, table = largest_by_force(data), repair.tabulate(data)
    assert repair_program.solve_exact(table).kept_weight == truth
    assert truth <= repair.solve_greedy(table).bound <= repair.rivals_bound(table)
    assert truth <= min(repair._heaviest(repair._classes(table, short)) for short in (1, 2, 9))
