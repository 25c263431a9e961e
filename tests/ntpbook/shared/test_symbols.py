"""Whether an expression is zero, and whether it has another value."""

from __future__ import annotations

import pytest
import sympy as sp

from ntpbook.shared.symbols import formula, identity, surely_not_zero, surely_zero

x, y = sp.symbols("x y", positive=True)
n = sp.Symbol("n", integer=True)
below = sp.Symbol("below", negative=True)
i = sp.Symbol("i", integer=True)
HUGE = 10**60

RATIONAL = 1 / x - 1 / (x + y) - y / (x * (x + y))
EXPONENTIAL = sp.exp(sp.log(x + y) + y, evaluate=False) - (x + y) * sp.exp(y)
# Parts of the size 10^60 cancel: what is left with 40 digits is rounding, here with a digit or two.
CANCELLING = (x + sp.Rational(1, 3)) * HUGE * (x - y) - HUGE * (x**2 - x * y + (x - y) / 3)


@pytest.mark.parametrize("zero", [RATIONAL, EXPONENTIAL, CANCELLING])
def test_what_is_zero_is_never_called_another_value(zero: sp.Expr) -> None:
    assert sp.simplify(zero) == 0
    assert not surely_not_zero(zero)


def test_a_value_that_is_not_zero_is_seen_unless_rounding_could_make_it() -> None:
    assert surely_not_zero(RATIONAL + x / 100)
    assert surely_not_zero(EXPONENTIAL + x / 100)
    assert not surely_not_zero(CANCELLING + x / 100)


def test_a_whole_number_gets_one() -> None:
    assert not surely_not_zero(sp.Pow(-1, 2 * n, evaluate=False) - 1)
    assert surely_not_zero((-1) ** n - 1)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(x - below, id="a symbol that cannot be positive"),
        pytest.param(x + sp.Function("F")(x), id="a function without a name"),
        pytest.param(1 + sp.Sum(x**i, (i, 1, n + 1)), id="a sum without a size"),
        pytest.param(sp.sin(x) + 2, id="another function"),
        pytest.param(sp.Matrix([x, y]), id="a matrix"),
        pytest.param(x + sp.MatrixSymbol("A", 2, 2)[0, 1], id="an entry of a matrix"),
        pytest.param(x / 10**12, id="a value near 0"),
    ],
)
def test_nothing_is_decided_where_nothing_is_tried(expression: sp.Expr) -> None:
    assert not surely_not_zero(expression)


F = sp.IndexedBase("F", positive=True)
G = sp.IndexedBase("G", positive=True)
L, V = sp.symbols("L V", integer=True, positive=True)


def over_all(term: sp.Expr) -> sp.Expr:
    return sp.Sum(term, (i, 1, L))


MEAN = over_all(F[i] * G[i]) / over_all(F[i])
LINEAR = over_all((x * F[i] + y) * G[i]) - x * over_all(F[i] * G[i]) - y * over_all(G[i])
NESTED = sp.Sum(sp.exp(x * over_all(F[i]) + n) * F[n], (n, 1, V))
SUMS = [
    LINEAR,
    over_all(F[i] * (G[i] - MEAN)),
    NESTED / sp.exp(x * over_all(F[i])) - sp.Sum(sp.exp(n) * F[n], (n, 1, V)),
]


@pytest.mark.parametrize("zero", [RATIONAL, CANCELLING, *SUMS])
def test_a_quotient_of_polynomials_that_vanishes_is_zero(zero: sp.Expr) -> None:
    assert surely_zero(zero)
    assert not surely_not_zero(zero)


@pytest.mark.parametrize("zero", [RATIONAL, EXPONENTIAL, CANCELLING, *SUMS])
@pytest.mark.parametrize("more", [x / 10**30, over_all(F[i]) - over_all(G[i]), sp.exp(y) - 1])
def test_nothing_else_is_zero(zero: sp.Expr, more: sp.Expr) -> None:
    assert not surely_zero(zero + more)


def test_sums_with_two_terms_show_that_two_sums_differ() -> None:
    assert surely_not_zero(over_all(F[i] ** 2) - over_all(F[i]) ** 2)
    assert surely_not_zero(over_all(F[i] * (G[i] - 2 * MEAN)))
    assert not surely_not_zero(over_all(sp.Function("F")(i)))


def test_powers_are_not_mixed_up() -> None:
    assert surely_zero(sp.exp(3 * x) - sp.exp(x) ** 3)
    assert surely_zero(sp.exp(x - y) - sp.exp(x) / sp.exp(y))
    assert not surely_zero(sp.exp(x / 2) - sp.exp(x))
    assert not surely_zero(sp.sqrt(x) - x)


def test_a_square_root_has_its_square() -> None:
    size = sp.sqrt(x**2 + sp.exp(2 * y))
    assert surely_zero(x / size**3 * (x**2 + sp.exp(y) ** 2) - x / size)
    assert surely_zero((size + sp.sqrt(x)) ** 2 - x**2 - sp.exp(2 * y) - x - 2 * size * sp.sqrt(x))
    assert not surely_zero(size - x)
    assert not surely_zero(size**2 - x**2)


def test_an_identity_fails_with_its_difference_as_it_stands() -> None:
    right = identity("squares", (x + y) ** 2, x**2 + 2 * x * y + y**2)
    wrong = identity("squares", (x + y) ** 2, x**2 + y**2)
    assert (right.holds, right.rest) == (True, "0")
    assert (wrong.holds, wrong.rest) == (False, r"$- x^{2} - y^{2} + \left(x + y\right)^{2}$")


def test_a_card_typesets_what_fits_on_a_line_and_counts_what_does_not() -> None:
    x, high, entry = sp.symbols("x high E'12")
    assert formula(x**2 / 2) == r"$\frac{x^{2}}{2}$"
    assert formula(sp.Rational(3, 4)) == "3/4"
    assert formula(high * entry) == r"$E'_{12}\,\mathrm{high}$"
    assert formula(sp.Matrix([[x]])) == "$x$"
    matrix = sp.Matrix([[x, 1], [2, sp.exp(x)]])
    assert formula(matrix) == r"$\begin{pmatrix}x & 1\\2 & e^{x}\end{pmatrix}$"
    assert formula(sp.oo) == r"$\infty$"
    assert formula(sp.Identity(3) - sp.MatrixSymbol("A", 3, 3)) == "$I - A$"
    assert formula(sum(x**k for k in range(60))) == "(an expression with $117$ operations)"
