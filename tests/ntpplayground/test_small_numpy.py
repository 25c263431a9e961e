"""The part of numpy in the page against numpy itself."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, mutually_broadcastable_shapes

from ntpplayground import small_numpy as small

NUMBERS = st.integers(-8, 8).map(float)
SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4))


def same(found: Any, wanted: Any) -> bool:
    """Whether both hold the same numbers in the same shape, up to the order of a sum."""
    if isinstance(found, small.Array):
        return found.shape == np.shape(wanted) and np.allclose(
            found.values, np.ravel(wanted), rtol=1e-13, atol=0, equal_nan=True
        )
    return np.shape(wanted) == () and bool(np.isclose(found, wanted, rtol=1e-13, equal_nan=True))


@given(st.data())
def test_operations_broadcast_as_in_numpy(data: st.DataObject) -> None:
    shapes = data.draw(
        mutually_broadcastable_shapes(num_shapes=2, min_dims=1, max_dims=2, max_side=4)
    ).input_shapes
    left, right = (data.draw(arrays(float, shape, elements=NUMBERS)) for shape in shapes)
    ours = small.array(left.tolist()), small.array(right.tolist())
    with np.errstate(all="ignore"):
        for operation in (operator.add, operator.sub, operator.mul, operator.truediv):
            assert same(operation(*ours), operation(left, right))
            assert same(operation(ours[0], 3), operation(left, 3))
            assert same(operation(3, ours[0]), operation(3, left))


@given(st.data())
def test_products_are_those_of_numpy(data: st.DataObject) -> None:
    rows, inner, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    for first in ((rows, inner), (inner,)):
        for second in ((inner, columns), (inner,)):
            left = data.draw(arrays(float, first, elements=NUMBERS))
            right = data.draw(arrays(float, second, elements=NUMBERS))
            ours = small.array(left.tolist()) @ small.array(right.tolist())
            assert same(ours, left @ right)


@given(st.data())
def test_rows_and_columns_are_picked_as_in_numpy(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    matrix = data.draw(arrays(float, shape, elements=NUMBERS))
    ours = small.array(matrix.tolist())
    row, column = (data.draw(st.integers(-size, size - 1)) for size in shape)
    some = data.draw(st.lists(st.integers(-shape[1], shape[1] - 1), min_size=1, max_size=5))
    keys = [row, slice(row, None), (row, column), (slice(None), column), (slice(None), some)]
    for key in keys:
        assert same(ours[key], matrix[key]), key
    assert same(ours[:, column][:, None], matrix[:, column][:, None])
    assert same(ours.T, matrix.T)


@given(arrays(float, SHAPES, elements=NUMBERS))
def test_sums_means_and_largest_go_along_the_same_axis(matrix: Any) -> None:
    ours = small.array(matrix.tolist())
    for name in ("sum", "mean", "max"):
        for axis in (None, 0, 1):
            wanted = getattr(matrix, name)(axis=axis)
            assert same(getattr(ours, name)(axis=axis), wanted)
            if axis is not None:
                kept = getattr(matrix, name)(axis=axis, keepdims=True)
                assert same(getattr(ours, name)(axis=axis, keepdims=True), kept)


@given(arrays(float, SHAPES, elements=NUMBERS))
def test_numbers_with_few_digits_are_printed_alike(matrix: Any) -> None:
    rounded = (matrix / 3).round(3)
    ours = (small.array(matrix.tolist()) / 3).round(3)
    assert str(ours) == str(rounded)
    assert repr(ours) == repr(rounded)
    assert str(ours[0]) == str(rounded[0])


@pytest.mark.parametrize("name", ["exp", "log", "sqrt"])
def test_functions_go_entry_by_entry_to_the_edge_of_the_numbers(name: str) -> None:
    values = [-800.0, -1.0, 0.0, 0.5, 2.0, 800.0]
    with np.errstate(all="ignore"):
        assert same(getattr(small, name)(values), getattr(np, name)(values))


MISUSED: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: small.linalg, AttributeError, "has no linalg; it has array"),
    (lambda: small.zeros((2, 3)) @ small.zeros((2, 3)), ValueError, "do not fit in a product"),
    (lambda: small.zeros((2, 3)) + small.zeros(2), ValueError, "do not fit together"),
    (lambda: small.zeros(3)[3], IndexError, "out of bounds for an axis of size 3"),
    (lambda: small.array([[1, 2], [3]]), ValueError, "different lengths"),
]


@pytest.mark.parametrize(("misuse", "kind", "words"), MISUSED)
def test_misuse_is_named(misuse: Callable[[], object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        misuse()
