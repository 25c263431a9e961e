"""Steps of the proofs on the fates of tokens: from the likelihood to (10), and along its paths.

Sums over tokens and classes are shown for a few of them, or term by term: (10) is a sum of terms
over n and n', so that an identity of one term is enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.verdicts.claims import Shown

# From the likelihood to equation (10)


def derivative_of_unit_scores() -> Iterator[Shown]:
    """df_k/dz_l = f_l (delta_kl - f_k f_l) for f = c / |c|, c_l = P_l e^(z_l): three tokens."""
    import sympy as sp

    P, z = sp.symbols("P_1:4", positive=True), sp.symbols("z_1:4", real=True)
    c = [p * sp.exp(x) for p, x in zip(P, z, strict=True)]
    norm = sp.sqrt(sum(x**2 for x in c))
    f = [x / norm for x in c]
    for k, token in ((0, 0), (0, 1)):
        expected = f[token] * (int(k == token) - f[k] * f[token])
        yield identity(f"df_{k + 1}/dz_{token + 1}", sp.diff(f[k], z[token]), expected)


def derivative_of_likelihood() -> Iterator[Shown]:
    """d ln alpha_n / df = Y (e_n - alpha) for alpha = softmax(Y^T f): two tokens, two logits."""
    import sympy as sp

    f = sp.symbols("f_1:3", real=True)
    Y = sp.Matrix(2, 2, sp.symbols("Y_1:3_1:3", real=True))
    logits = [sum(Y[k, j] * f[k] for k in range(2)) for j in range(2)]
    total = sum(sp.exp(one) for one in logits)
    alpha = [sp.exp(one) / total for one in logits]
    for k in range(2):
        found = sp.diff(logits[0] - sp.log(total), f[k])
        expected = Y[k, 0] * (1 - alpha[0]) - Y[k, 1] * alpha[1]
        yield identity(f"d ln alpha_1 / df_{k + 1}", found, expected)


def coordinate() -> Iterator[Shown]:
    """f o (g - f f.g) = f o (f f.b - b) for g = iota f - b and f.f = 1: what is left of (9).

    In one coordinate: f = f_nl, b that of sum beta f_n', e = f_n . sum beta f_n'.
    """
    import sympy as sp

    f, b, e, iota = sp.symbols("f b e iota")
    g, inner = iota * f - b, iota * 1 - e  # f_n . f_n = 1
    yield identity(
        "a coordinate of diag(f) (I - f f^T) g", sp.expand(f * (g - f * inner)), f * (e * f - b)
    )


def distinct_token() -> Iterator[Shown]:
    """(98): of a distinct token f_n'l = 0, and the term of (10) is f_nl^2 f_n . f_n'."""
    import sympy as sp

    f, other, e = sp.symbols("f other e")
    term = f * (e * f - other)  # diag(f_n) (f_n f_n^T - I) f_n' in the coordinate l
    yield identity("a term of a distinct token", term.subs(other, 0), f**2 * e)


def layernorm_signs() -> Iterator[Shown]:
    """Terms of (10) with standard LayerNorm: classes alike, one common token p, distinct c_l.

    With u = c - 1/M, a^2 = |u|^2 = p^2 + S - 1/M and S the sum of all c_d^2, f = u/a. A pair of
    classes gives its token l the term (c_l/a) (f_n.f_n' f_nl - f_n'l).
    """
    import sympy as sp

    p, c, S, M = sp.symbols("p c_l S M", positive=True)
    square = p**2 + S - 1 / M
    N = sp.Symbol("N")  # tokens of a class; the entries of c add up to 1 in each
    # |c - 1/M|^2, over the tokens of a class and the M - N others
    entries = p**2 + S - 2 / M + N / M**2 + (M - N) / M**2
    yield identity("|c - 1/M|^2", entries, square)
    inner = (p**2 - 1 / M) / square  # f_n.f_n': c_n.c_n' = p^2
    distinct = c * (inner * (c - 1 / M) - (0 - 1 / M)) / square
    yield identity("a distinct token", distinct, c * (S - c * (1 - M * p**2)) / M / square**2)
    common = p * (inner - 1) * (p - 1 / M) / square
    yield identity("the common token", common, -p * (p - 1 / M) * S / square**2)


def single_common_token() -> Iterator[Shown]:
    """(99): a single common token l has f_n . f_n' = f_nl f_n'l, and -(1 - f_nl^2) of it."""
    import sympy as sp

    f, other = sp.symbols("f other")
    e = f * other
    term = f * (e * f - other)
    yield identity("a term of a single common token", term, -(1 - f**2) * e)


def shared_common_tokens() -> Iterator[Shown]:
    """A term of (10) for common tokens of shared probabilities, one query: -(w^2/S)(1 - S/o^2) e.

    With w = rho_l e^(z_l), S the sum of w^2 over the common tokens, norms o and o' of two classes:
    f_nl = w / o, f_n'l = w / o', e = f_n . f_n' = S / (o o').
    """
    import sympy as sp

    w, S, o, other = sp.symbols("w S o other", positive=True)
    e = S / (o * other)
    term = w / o * (e * w / o - w / other)
    yield identity("a term of a shared common token", term, -(w**2) / S * (1 - S / o**2) * e)


def squares_of_scores() -> Iterator[Shown]:
    """c~^2 = P^2 e^(2z) for c~ = P e^z."""
    import sympy as sp

    P, z = sp.symbols("P z", real=True)
    yield identity("c~^2", (P * sp.exp(z)) ** 2, P**2 * sp.exp(2 * z))


# Two classes


def equal_coefficients() -> Iterator[Shown]:
    """For two classes and equal draws beta_12 = beta_21 in Theorem 1, and both are positive."""
    import sympy as sp

    e, M = sp.symbols("e M", positive=True)
    prime = sp.eye(2) - sp.Matrix([[1, e], [e, 1]]).inv()
    q_1, q_0 = M / (M - 1), M / (M - 1) ** 2
    # over k != n only k = n' is left
    first, second = (q_1 * prime[n, 1 - n] + q_0 * (1 - prime[1 - n, 1 - n]) for n in (0, 1))
    yield identity("beta_12 and beta_21", first, second)
    yield identity(
        "as a sum of two positive terms over 1 - e^2", first, (q_1 * e + q_0) / (1 - e**2)
    )


def criterion() -> Iterator[Shown]:
    """A token of both classes moves at beta f_1l f_2l [(x + 1/x) f_1.f_2 - 2], x = f_1l / f_2l."""
    import sympy as sp

    e, a, b, beta = sp.symbols("e a b beta", positive=True)
    speed = beta * (a * (e * a - b) + b * (e * b - a))  # (10), class 1 and class 2
    yield identity("the speed", speed, beta * a * b * ((a / b + b / a) * e - 2))


# Along paths of (10)


def relative_gain() -> Iterator[Shown]:
    """r / chi is constant and dr/dt = 2 r dz/dt, from (98) alone, for any path of xi and o.

    With u = (P e^z)^2 and f^2 = u / o^2, (98) reads dz/dt = force u for every distinct token of the
    class, where force = eta_Z xi_n / o^2 is common to them.
    """
    import sympy as sp

    t = sp.Symbol("t")
    P, other, start = sp.symbols("P P_other z_0", positive=True)
    z, w, force = sp.Function("z")(t), sp.Function("w")(t), sp.Function("force")(t)
    u, v = P**2 * sp.exp(2 * z), other**2 * sp.exp(2 * w)
    laws = {z.diff(t): force * u, w.diff(t): force * v}
    r, chi = u / v - 1, sp.exp(2 * (z - start))
    yield identity("d(r / chi)/dt", (r / chi).diff(t).subs(laws), sp.S.Zero)
    yield identity("dr/dt", r.diff(t).subs(laws), 2 * r * force * u)


def growth_of_share() -> Iterator[Shown]:
    """d ln f_0^2 / dt = 2 sum over l of f_l^2 (dz_0/dt - dz_l/dt): three tokens, (114)."""
    import sympy as sp

    t = sp.Symbol("t")
    z = [sp.Function(f"z_{number}")(t) for number in range(3)]
    P = sp.symbols("P_0:3", positive=True)
    u = [p**2 * sp.exp(2 * one) for p, one in zip(P, z, strict=True)]
    shares = [one / sum(u) for one in u]
    found = sp.log(u[0]).diff(t) - sp.log(sum(u)).diff(t)
    expected = 2 * sum(f * (z[0].diff(t) - one.diff(t)) for f, one in zip(shares, z, strict=True))
    yield identity("d ln f_0^2 / dt", sp.together(found), sp.together(expected))


def growth_of_quotient() -> Iterator[Shown]:
    """(1 + r chi) / (1 + r) grows in r for chi > 1, and is at most chi."""
    import sympy as sp

    r, more = sp.symbols("r more", positive=True)
    chi = 1 + more
    factor = (1 + r * chi) / (1 + r)
    yield at_least_zero("its derivative in r", sp.factor(factor.diff(r)), strictly=True)
    yield at_least_zero("what is left to chi", sp.factor(chi - factor), strictly=True)
