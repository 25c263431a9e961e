"""The part of numpy that a page of small matrices needs, in plain Python, for the reader's browser.

Arrays of real numbers with one or two axes: arithmetic with broadcasting, products of matrices,
sums along an axis, and the ways of numpy to pick rows and columns and to print. It is the `np` of
cells that name nothing else of numpy (`tools.site.runnable` finds them); using what it lacks is an
error that says so.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Shape = tuple[int, ...]
Operation = Callable[[float, float], float]
FUNCTIONS = ("array", "exp", "eye", "log", "mean", "ones", "outer", "sqrt", "sum", "zeros")


class Array:
    """Numbers in a row or in a rectangle.

    Attributes:
        values: the numbers, row by row.
        shape: (n,) or (rows, columns).
    """

    __slots__ = ("shape", "values")

    def __init__(self, values: list[float], shape: Shape) -> None:
        self.values, self.shape = values, shape

    @property
    def T(self) -> Array:
        """Rows and columns exchanged."""
        if len(self.shape) == 1:
            return self
        rows, columns = self.shape
        picked = [self.values[c::columns] for c in range(columns)]
        return Array([value for column in picked for value in column], (columns, rows))

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """What numpy gives for an index, a slice, a list of indices, or None, for each axis."""
        first, second = (*key, slice(None))[:2] if isinstance(key, tuple) else (key, slice(None))
        if second is None and len(self.shape) == 1:
            column = self[first]
            return Array(column.values, (len(column), 1))
        rows, one_row = _places(first, self.shape[0])
        if len(self.shape) == 1:
            picked = [self.values[place] for place in rows]
            return picked[0] if one_row else Array(picked, (len(picked),))
        width = self.shape[1]
        columns, one_column = _places(second, width)
        picked = [self.values[row * width + column] for row in rows for column in columns]
        if one_row and one_column:
            return picked[0]
        one = one_row or one_column
        return Array(picked, (len(picked),) if one else (len(rows), len(columns)))

    def __matmul__(self, other: Array) -> Any:
        """The product of matrices; a row of numbers is a vector."""
        left = self.shape if len(self.shape) == 2 else (1, *self.shape)
        right = other.shape if len(other.shape) == 2 else (*other.shape, 1)
        if left[1] != right[0]:
            raise ValueError(f"shapes {self.shape} and {other.shape} do not fit in a product")
        rows = [self.values[left[1] * r : left[1] * (r + 1)] for r in range(left[0])]
        columns = [other.values[c :: right[1]] for c in range(right[1])]
        found = [builtins.sum(map(operator.mul, row, column)) for row in rows for column in columns]
        shape = (*self.shape[:-1], *other.shape[1:])
        return Array(found, shape) if shape else found[0]

    def __neg__(self) -> Array:
        return Array([-value for value in self.values], self.shape)

    def __add__(self, other: Any) -> Array:
        return _combined(operator.add, self, other)

    def __sub__(self, other: Any) -> Array:
        return _combined(operator.sub, self, other)

    def __mul__(self, other: Any) -> Array:
        return _combined(operator.mul, self, other)

    def __truediv__(self, other: Any) -> Array:
        return _combined(_divided, self, other)

    def __pow__(self, other: Any) -> Array:
        return _combined(operator.pow, self, other)

    def __radd__(self, other: Any) -> Array:
        return _combined(operator.add, other, self)

    def __rsub__(self, other: Any) -> Array:
        return _combined(operator.sub, other, self)

    def __rmul__(self, other: Any) -> Array:
        return _combined(operator.mul, other, self)

    def __rtruediv__(self, other: Any) -> Array:
        return _combined(_divided, other, self)

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """The sum of all numbers, of each column (axis 0), or of each row (axis 1)."""
        return self._along(builtins.sum, axis, keepdims)

    def mean(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """The same for means."""
        return self._along(lambda row: _divided(builtins.sum(row), len(row)), axis, keepdims)

    def max(self, axis: int | None = None, keepdims: bool = False) -> Any:
        """The same for largest numbers."""
        return self._along(max, axis, keepdims)

    def round(self, digits: int = 0) -> Array:
        """The numbers with so many digits after the point."""
        return Array([round(value, digits) for value in self.values], self.shape)

    def _along(
        self, reduce: Callable[[list[float]], float], axis: int | None, keepdims: bool
    ) -> Any:
        if axis is None or len(self.shape) == 1:
            return reduce(self.values)
        turned = self if axis in (1, -1) else self.T
        width = turned.shape[1]
        found = [reduce(turned.values[width * r : width * (r + 1)]) for r in range(len(turned))]
        if not keepdims:
            return Array(found, (len(found),))
        return Array(found, (len(found), 1) if axis in (1, -1) else (1, len(found)))

    def __str__(self) -> str:
        return self._printed(" ", "")

    def __repr__(self) -> str:
        return f"array({self._printed(', ', '      ')})"

    def _printed(self, comma: str, indent: str) -> str:
        """The numbers with as many digits as the longest needs, at most eight, as numpy does."""
        numbers = [f"{value:.8f}".rstrip("0") for value in self.values]
        places = max((len(number.partition(".")[2]) for number in numbers), default=0)
        padded = [f"{number:{len(number.partition('.')[0]) + 1 + places}}" for number in numbers]
        width = max((len(number) for number in padded), default=0)
        words = [number.rjust(width) for number in padded]
        if len(self.shape) == 1:
            return f"[{comma.join(words)}]"
        row = self.shape[1]
        lines = [comma.join(words[row * r : row * (r + 1)]) for r in range(len(self))]
        return "[" + f"{comma.rstrip()}\n{indent} ".join(f"[{line}]" for line in lines) + "]"


def array(values: Any) -> Array:
    """An array of numbers, or of rows of equal length."""
    if isinstance(values, Array):
        return Array(list(values.values), values.shape)
    rows = list(values)
    if rows and isinstance(rows[0], Array | Sequence):
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise ValueError(f"rows have different lengths: {sorted(widths)}")
        return Array([float(value) for row in rows for value in row], (len(rows), widths.pop()))
    return Array([float(value) for value in rows], (len(rows),))


def zeros(shape: int | Shape) -> Array:
    """An array of zeros."""
    size = (shape,) if isinstance(shape, int) else shape
    return Array([0.0] * math.prod(size), size)


def ones(shape: int | Shape) -> Array:
    """An array of ones."""
    return zeros(shape) + 1.0


def eye(n: int) -> Array:
    """The identity matrix."""
    return Array([float(row == column) for row in range(n) for column in range(n)], (n, n))


def outer(a: Array, b: Array) -> Array:
    """The matrix of all products of an entry of a and an entry of b."""
    return Array([x * y for x in a.values for y in b.values], (len(a.values), len(b.values)))


def exp(x: Any) -> Any:
    """The exponential, entry by entry."""
    return _each(lambda value: math.exp(value) if value < 709.78 else math.inf, x)


def log(x: Any) -> Any:
    """The natural logarithm, entry by entry."""
    return _each(lambda value: math.log(value) if value > 0 else _at_zero(value), x)


def sqrt(x: Any) -> Any:
    """The square root, entry by entry."""
    return _each(lambda value: math.sqrt(value) if value >= 0 else math.nan, x)


def sum(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The sum of all numbers, or along an axis."""
    return array(x).sum(axis, keepdims)


def mean(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """The mean of all numbers, or along an axis."""
    return array(x).mean(axis, keepdims)


def __getattr__(name: str) -> Any:
    """Say what this part of numpy has.

    Raises:
        AttributeError: for everything else.
    """
    has = ", ".join(FUNCTIONS)
    raise AttributeError(f"the numpy of this page has no {name}; it has {has}")


def _each(function: Callable[[float], float], x: Any) -> Any:
    """A function of every number."""
    if not isinstance(x, Array | Sequence):
        return function(x)
    numbers = array(x)
    return Array(list(map(function, numbers.values)), numbers.shape)


def _divided(a: float, b: float) -> float:
    """A quotient, infinite or no number where b is 0."""
    if b:
        return a / b
    return math.nan if not a or math.isnan(a) else math.copysign(math.inf, a)


def _at_zero(value: float) -> float:
    """The logarithm of what is not positive."""
    return -math.inf if value == 0 else math.nan


def _places(key: Any, size: int) -> tuple[Sequence[int], bool]:
    """The places of an axis that a key picks, and whether it is one index.

    Raises:
        IndexError: an index is not of this axis.
    """
    if isinstance(key, slice):
        return range(size)[key], False
    one = not isinstance(key, Sequence)
    try:
        return [range(size)[place] for place in ([key] if one else key)], one
    except IndexError:
        raise IndexError(f"index {key} is out of bounds for an axis of size {size}") from None


def _combined(operation: Operation, left: Any, right: Any) -> Array:
    """An operation of two arrays, or of an array and a number, with numpy's broadcasting.

    Raises:
        ValueError: the shapes do not fit.
    """
    if not isinstance(right, Array):
        return Array([operation(value, right) for value in left.values], left.shape)
    if not isinstance(left, Array):
        return Array([operation(left, value) for value in right.values], right.shape)
    if left.shape == right.shape:
        return Array(list(map(operation, left.values, right.values)), left.shape)
    (a, b), (c, d) = ((1, 1, *one.shape)[-2:] for one in (left, right))
    if (a != c and 1 not in (a, c)) or (b != d and 1 not in (b, d)):
        raise ValueError(f"shapes {left.shape} and {right.shape} do not fit together")
    rows, columns = max(a, c), max(b, d)
    first = [left.values[(r % a) * b + k % b] for r in range(rows) for k in range(columns)]
    second = [right.values[(r % c) * d + k % d] for r in range(rows) for k in range(columns)]
    one_axis = len(left.shape) == len(right.shape) == 1
    return Array(list(map(operation, first, second)), (columns,) if one_axis else (rows, columns))
