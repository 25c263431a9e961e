"""Steps of the proofs on any data, in sympy."""

from __future__ import annotations

from functools import partial

import sympy as sp

from ntpbook.shared.symbols import at_least_zero, at_most, identity
from ntpverdicts.claims import Shown

same = partial(identity, expand=False)


def nearer(parts: int = 3) -> tuple[Shown, ...]:
    """The distance of a feasible u from w: |u|^2 - |w|^2 - |u - w|^2 = 2 <w, u - w>.

    With sum over a component of w = multipliers out minus in, and u constant on components,
    <w, u - w> is the sum over pairs of multiplier times (margin of u minus margin of w); here on a
    chain of three components.

    Args:
        parts: how many components of the chain count; 3 in truth.
    """
    w, u = sp.symbols("w u", real=True)
    a, b, c = sp.symbols("a b c", real=True)  # values of u - w on the components
    first, second = sp.symbols("lambda_ab lambda_bc", nonnegative=True)
    sums = (first, second - first, -second)[:parts]  # of w on the components
    inner = sum(total * value for total, value in zip(sums, (a, b, c), strict=False))
    return (
        same("$|u|^2 - |w|^2 - |u - w|^2$", u**2 - w**2 - (u - w) ** 2, 2 * w * (u - w)),
        same(r"$\langle w, u - w\rangle$ on a chain", inner, first * (a - b) + second * (b - c)),
    )


def share(power: int = 2) -> tuple[Shown, ...]:
    """F(x) = x / sqrt(1 + x^2) is the share g / N at x = g / s; 0 < F' <= x^-3.

    Args:
        power: of x under the root; 2 in truth.
    """
    x = sp.Symbol("x", positive=True)
    F = x / sp.sqrt(1 + x**power)
    slope = (1 + x**2) ** sp.Rational(-3, 2)
    return (
        same("$F'$", sp.diff(F, x), slope),
        at_least_zero("$F'$", slope, strictly=True),
        at_most("$F'^2$, against $x^{-6}$", (1 + x**2) ** -3, x**-6),
    )


def landing(shift: int = 0) -> tuple[Shown, ...]:
    """Where the next step lands when the gradient at t + 1 is the smaller one.

    d' = h r - d and d'' = h r' - d', so d'' = d - h (r - r'). With h (r - r') at most
    (g - g') / beta and g at most beta d: beta d'' >= g' and, as phi' has the Lipschitz constant
    beta, g'' >= g - beta (d - d'') >= g'.

    Args:
        shift: what is added to the first identity; 0 in truth.
    """
    d, h, r, r_next, beta = sp.symbols("d h r r_next beta", positive=True)
    g, g_next = sp.symbols("g g_next", positive=True)
    d_next = h * r - d
    slack, steep = sp.symbols("slack steep", nonnegative=True)
    # h (r - r') = (g - g') / beta - slack, and beta d = g + steep
    largest = (g - g_next) / beta - slack
    lands = (g + steep) / beta - largest
    farther, steeper = steep + beta * slack, beta * slack
    return (
        same("$d''$", h * r_next - d_next, d - h * (r - r_next) + shift),
        same(r"$\beta d'' - g'$", beta * lands - g_next, farther),
        at_least_zero(r"$\beta d'' - g'$", farther),
        same(r"$g - \beta (d - d'') - g'$", g - beta * largest - g_next, steeper),
        at_least_zero(r"$g - \beta (d - d'') - g'$", steeper),
    )


def exponential(sign: int = 1) -> tuple[Shown, ...]:
    """1 + x <= e^x <= 1 + x (e^h - 1) / h for 0 <= x <= h: e^x - 1 - x has the slope e^x - 1, and
    the chord lies above a convex function.

    Args:
        sign: of x in the exponent; 1 in truth.
    """
    x, h = sp.symbols("x h", positive=True)
    below, chord = sp.exp(sign * x) - 1 - x, 1 + x * (sp.exp(h) - 1) / h - sp.exp(x)
    return (
        same("slope of $e^x - 1 - x$", sp.diff(below, x), sp.exp(x) - 1),
        same("value of $e^x - 1 - x$ at 0", below.subs(x, 0), sp.Integer(0)),
        same("chord minus $e^x$ at 0", chord.subs(x, 0), sp.Integer(0)),
        same("chord minus $e^x$ at $h$", sp.simplify(chord.subs(x, h)), sp.Integer(0)),
        same("second derivative of chord minus $e^x$", sp.diff(chord, x, 2), -sp.exp(x)),
    )


def gradients(times: int = 2) -> tuple[Shown, ...]:
    """The derivatives of the three losses with respect to the scores, from attention and logits.

    For "a q", "a q q" and "b r": attention is the softmax of the scores, the logit of n(x) is c
    times the attention on x, and all other next tokens have the logit 0.

    Args:
        times: how often q stands in the second context; 2 in truth.
    """
    c, rest = sp.symbols("c rest", positive=True)  # rest = |V| - 2
    x, y = sp.symbols("x y", real=True)  # scores of the two tokens

    def loss(alpha: sp.Expr) -> sp.Expr:
        # from the definition again: it judges `pull`
        right, wrong = sp.exp(c * alpha), sp.exp(c * (1 - alpha))
        return -sp.log(right / (right + wrong + rest))

    def pull(alpha: sp.Expr) -> sp.Expr:
        right, wrong = sp.exp(c * alpha), sp.exp(c * (1 - alpha))
        return c * alpha * (1 - alpha) * (2 * wrong + rest) / (right + wrong + rest)

    alone = sp.exp(x) / (sp.exp(x) + sp.exp(y))
    twice = times * sp.exp(y) / (sp.exp(x) + times * sp.exp(y))
    derivatives = (
        ('"a q", "b r"', "a, b", alone, x, -1),
        ('"a q", "b r"', "q, r", alone, y, 1),
        ('"a q q"', "q", twice, y, -1),
        ('"a q q"', "a", twice, x, 1),
    )
    return (
        *(
            same(
                f"{sample}: derivative with respect to the score of {token}",
                sp.diff(loss(attention), score),
                sign * pull(attention),
            )
            for sample, token, attention, score, sign in derivatives
        ),
        same(
            '"a q q": attention on q',
            twice.subs({x: sp.Symbol("u") + y}),
            2 / (2 + sp.exp(sp.Symbol("u"))),
        ),
    )
