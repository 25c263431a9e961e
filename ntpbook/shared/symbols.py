"""Relations between expressions of sympy, as steps of proofs show them."""

from __future__ import annotations

import re
from typing import Any

from ntpverdicts.claims import Shown

IDENTITY, ZERO = r"\mathbb{I}", r"\mathbb{0}"  # as sympy sets these matrices; the book: I, 0
_LONGEST = 160  # signs of an expression that a page typesets; a longer one fits on no line


def identity(name: str, left: Any, right: Any, *, expand: bool = True) -> Shown:
    """left = right, found from the difference, not by comparing how both are written.

    Most differences vanish as quotients of polynomials; the others are simplified by sympy.

    Args:
        name: what the identity says, in words.
        left: an expression or a matrix of sympy, derived from a definition.
        right: what it should be.
        expand: whether to multiply out before sympy simplifies.
    """
    import sympy as sp

    rest = left - right
    if surely_zero(rest):
        rest = sp.Integer(0)
    elif not surely_not_zero(rest):
        rest = sp.simplify(sp.expand_log(sp.expand(rest)) if expand else rest)
    zero = rest.is_zero_matrix is True if hasattr(rest, "shape") else rest == 0
    return Shown(
        name, formula(left), "=", formula(right), "0" if zero else formula(rest), bool(zero)
    )


def surely_zero(expression: Any) -> bool:
    """Whether the expression vanishes as a quotient of polynomials.

    Constants leave sums over an index, powers of one exponential become powers of one symbol, as do
    those of a square root, and whatever else is no sum, product or power with a whole exponent
    becomes a symbol of its own. If the numerator then vanishes when it is multiplied out, the
    expression is zero. False decides nothing.
    """
    import sympy as sp

    if not isinstance(expression, sp.Expr):
        return False
    symbols: dict[Any, Any] = {}
    squares: dict[Any, Any] = {}  # of the symbols that stand for roots

    def polynomial(part: Any) -> Any:
        if part.is_Add or part.is_Mul:
            return part.func(*map(polynomial, part.args))
        if part.is_Pow and part.exp.is_Integer:
            return polynomial(part.base) ** part.exp
        if part.is_Pow and (2 * part.exp).is_Integer:
            root = symbols.setdefault(sp.sqrt(part.base), sp.Dummy())
            squares[root] = polynomial(part.base)
            return root ** (2 * part.exp)
        if part.is_Rational:
            return part
        if isinstance(part, sp.exp):
            times, exponent = part.args[0].as_coeff_Mul()
            if times.is_Integer:
                return symbols.setdefault(sp.exp(exponent), sp.Dummy()) ** times
        return symbols.setdefault(part, sp.Dummy())

    quotient = polynomial(sp.expand_power_exp(_without_constants(expression)))
    return _vanishes(quotient, squares)


def _vanishes(quotient: Any, squares: dict[Any, Any]) -> bool:
    """Whether a quotient of polynomials vanishes, where some symbols have these squares."""
    import sympy as sp

    numerator = sp.expand(sp.fraction(sp.together(quotient))[0])
    for root, square in squares.items():
        if numerator.has(root):
            halves = [sp.Integer(0), sp.Integer(0)]  # of even powers, and of odd ones
            for (power,), coefficient in sp.Poly(numerator, root).terms():
                halves[power % 2] += coefficient * square ** (power // 2)
            return all(_vanishes(half, squares) for half in halves)
    return bool(numerator == 0)


def _without_constants(expression: Any) -> Any:
    """The expression with its sums over one index as sums of terms without constant factors."""
    import sympy as sp

    def apart(one: Any) -> Any:
        ((index, low, high),) = one.limits
        found = []
        for term in sp.Add.make_args(sp.expand(one.function)):
            outside, inside = term.as_independent(index, as_Add=False)
            found.append(outside * sp.Sum(inside, (index, low, high)))
        return sp.Add(*found)

    return expression.replace(lambda one: isinstance(one, sp.Sum) and len(one.limits) == 1, apart)


def surely_not_zero(expression: Any) -> bool:
    """Whether the expression has a value that is not zero, so that no algebra is needed.

    Sums over an index get two terms, and symbols get values that their assumptions allow. The value
    is computed with 40 digits and with 80, which must agree, so that it is no rounding. False
    decides nothing: nothing is tried where there are matrices, or other functions than exponentials
    and logarithms.
    """
    import mpmath
    import sympy as sp

    if not isinstance(expression, sp.Expr):
        return False
    expression = _two_terms(expression)
    symbols = sorted(expression.free_symbols, key=str)
    known = expression.atoms(sp.Function) == expression.atoms(sp.exp, sp.log)
    plain = not expression.atoms(sp.Sum, sp.Product, sp.Integral, sp.Derivative, sp.MatrixSymbol)
    if not known or not plain or not all(_takes_positive_numbers(one) for one in symbols):
        return False
    evaluate = sp.lambdify(symbols, expression, "mpmath")
    values = []
    for digits in (40, 80):
        with mpmath.workdps(digits):
            primes = sp.primerange(11, 10**4)
            numbers = [
                mpmath.mpf(prime) / (1 if one.is_integer else 7)
                for one, prime in zip(symbols, primes, strict=False)
            ]
            values.append(mpmath.mpmathify(evaluate(*numbers)))
    rough, fine = values
    return bool(abs(fine) > 1e-9 and abs(rough - fine) < 1e-9 * abs(fine))


def _two_terms(expression: Any) -> Any:
    """The expression where each sum from 1 to a symbol has two terms, their entries as symbols."""
    import sympy as sp

    highest = {one.limits[0][2] for one in expression.atoms(sp.Sum) if len(one.limits) == 1}
    sizes = {one: 2 for one in highest if one.is_Symbol}
    if not sizes:
        return expression
    written = expression.subs(sizes).doit()
    entries = sorted(written.atoms(sp.Indexed), key=str)
    return written.xreplace({one: sp.Dummy(str(one), positive=True) for one in entries})


def _takes_positive_numbers(symbol: Any) -> bool:
    """Whether a symbol may be any positive number, or any whole one."""
    return bool(
        symbol.is_Symbol
        and symbol.is_commutative
        and symbol.is_real is not False
        and symbol.is_positive is not False
        and not symbol.is_even
    )


def matrices(name: str, left: Any, right: Any, written: str = "") -> Shown:
    """left = right for matrices of symbolic size.

    Args:
        name: what the equation says, in words.
        left: a matrix expression of sympy.
        right: what it should be.
        written: the left side as text, where sympy simplifies it before it can be shown.
    """
    rest = (left - right).expand().doit()
    zero = rest.is_ZeroMatrix is True
    return Shown(
        name, written or formula(left), "=", formula(right), "0" if zero else formula(rest), zero
    )


def at_least_zero(name: str, expression: Any, *, strictly: bool = False) -> Shown:
    """expression >= 0, from what sympy knows of the signs of its symbols.

    Args:
        name: what the inequality says, in words.
        expression: written so that every part has a sign, such as a sum of products.
        strictly: whether zero fails.
    """
    import sympy as sp

    found = sp.sympify(expression)
    known = found.is_positive if strictly else found.is_nonnegative
    return Shown(
        name, formula(found), ">" if strictly else ">=", "0", formula(found), known is True
    )


def at_most(name: str, smaller: Any, larger: Any) -> Shown:
    """smaller <= larger, for all values of symbols that are not negative.

    Their difference is written as one quotient; it is not negative if numerator and denominator,
    expanded in all symbols, have no negative coefficient. The test is sufficient, not necessary.

    Args:
        name: what the inequality says, in words.
        smaller: a rational expression in symbols declared not negative.
        larger: the other side.

    Raises:
        ValueError: a symbol may be negative.
    """
    import sympy as sp

    gap = sp.factor(sp.together(larger - smaller))
    found = all(value.is_nonnegative is True for value in signed_coefficients(gap))
    return Shown(name, formula(smaller), "<=", formula(larger), formula(-gap), found)


def signed_coefficients(quotient: Any) -> tuple[Any, ...]:
    """Coefficients of numerator and denominator, the denominator's first one not negative.

    Raises:
        ValueError: a symbol may be negative.
    """
    import sympy as sp

    symbols = sorted(quotient.free_symbols, key=str)
    for symbol in symbols:
        if not symbol.is_nonnegative:
            raise ValueError(f"{symbol} may be negative; give a symbol that cannot be")
    parts = [sp.expand(part) for part in sp.fraction(quotient)]
    found = [sp.Poly(part, *symbols).coeffs() if part.has(*symbols) else [part] for part in parts]
    sign = -1 if found[1][0].is_negative else 1
    return tuple(sign * value for part in found for value in part)


def formula(expression: Any) -> str:
    """An expression as a card shows it: a number, a formula, or the length of a long formula."""
    import sympy as sp

    expression = sp.sympify(expression)
    if isinstance(expression, sp.MatrixBase) and expression.shape == (1, 1):
        expression = expression[0, 0]
    text = str(expression)
    if getattr(expression, "is_Number", False) and expression.is_finite:
        return text
    if len(text) > _LONGEST:
        return f"(an expression with ${sp.count_ops(expression)}$ operations)"
    names = {symbol: _upright(symbol.name) for symbol in expression.free_symbols}
    words = {symbol: name for symbol, name in names.items() if name}
    # words that stand side by side need a space, and numbers and letters do not
    mul_symbol = r"\," if words else None
    tex = sp.latex(
        expression,
        symbol_names=words,
        mul_symbol=mul_symbol,
        mat_str="pmatrix",
        mat_delim="",
    )
    return f"${tex.replace(IDENTITY, 'I').replace(ZERO, '0')}$"


def _upright(name: str) -> str:
    """How the name of a symbol is set that is a word or has two indices; else empty."""
    if match := re.fullmatch(r"(\w)'(\d\d)", name):
        return f"{match[1]}'_{{{match[2]}}}"
    import sympy as sp

    return rf"\mathrm{{{name}}}" if len(name) > 2 and sp.latex(sp.Symbol(name)) == name else ""
