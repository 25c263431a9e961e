"""Steps of the proofs on the fates of tokens: from the likelihood to (10), and along its paths.

Sums over tokens and classes are shown for a few of them, or term by term: (10) is a sum of terms
over n and n', so that an identity of one term is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown

# From the likelihood to equation (10)


def derivative_of_unit_scores(power: int = 2) -> Iterator[Shown]:
    """df_k/dz_l = f_l (delta_kl - f_k f_l) for f = c / |c|, c_l = P_l e^(z_l): three tokens.

    Args:
        power: the norm is the root of the sum of these powers; 2 in truth, 1 for the sum itself.
    """
    import sympy as sp

    P, z = sp.symbols("P_1:4", positive=True), sp.symbols("z_1:4", real=True)
    c = [p * sp.exp(x) for p, x in zip(P, z, strict=True)]
    norm = sum(x**power for x in c) ** sp.Rational(1, power)
    f = [x / norm for x in c]
    for k, token in ((0, 0), (0, 1)):
        expected = f[token] * (int(k == token) - f[k] * f[token])
        yield identity(f"$df_{{{k + 1}}}/dz_{{{token + 1}}}$", sp.diff(f[k], z[token]), expected)


def derivative_of_likelihood(sign: int = -1) -> Iterator[Shown]:
    """d ln alpha_n / df = Y (e_n - alpha) for alpha = softmax(Y^T f): two tokens, two logits.

    Args:
        sign: of alpha; -1 in truth.
    """
    import sympy as sp

    f = sp.symbols("f_1:3", real=True)
    Y = sp.Matrix(2, 2, sp.symbols("Y_1:3_1:3", real=True))
    logits = [sum(Y[k, j] * f[k] for k in range(2)) for j in range(2)]
    total = sum(sp.exp(one) for one in logits)
    alpha = [sp.exp(one) / total for one in logits]
    for k in range(2):
        found = sp.diff(logits[0] - sp.log(total), f[k])
        expected = Y[k, 0] * (1 + sign * alpha[0]) + sign * Y[k, 1] * alpha[1]
        yield identity(rf"$d \ln \alpha_1/df_{{{k + 1}}}$", found, expected)


def coordinate(square: int = 1) -> Iterator[Shown]:
    """f o (g - f f.g) = f o (f f.b - b) for g = iota f - b and f.f = 1: what is left of (9).

    In one coordinate: f = f_nl, b that of sum beta f_n', e = f_n . sum beta f_n'.

    Args:
        square: f_n . f_n; 1 in truth.
    """
    import sympy as sp

    f, b, e, iota = sp.symbols("f b e iota")
    g, inner = iota * f - b, iota * square - e
    yield identity(
        r"a coordinate of $\mathrm{diag}(f) (I - f f^\top) g$",
        sp.expand(f * (g - f * inner)),
        f * (e * f - b),
    )


def rows_of_10(tokens: int) -> tuple[list[Any], list[Any], Any]:
    """f_n, f_n' and the term diag(f_n) (f_n f_n^T - I) f_n' of (10), from matrices.

    Args:
        tokens: how many; f_n and f_n' are general vectors.
    """
    import sympy as sp

    f = sp.Matrix(sp.symbols(f"f_1:{tokens + 1}"))
    other = sp.Matrix(sp.symbols(f"o_1:{tokens + 1}"))
    term = sp.diag(*f) * (f * f.T - sp.eye(tokens)) * other
    return list(f), list(other), term


def distinct_token(power: int = 2) -> Iterator[Shown]:
    """(98): of a distinct token f_n'l = 0, and the term of (10) is f_nl^2 f_n . f_n'.

    Args:
        power: of f_nl; 2 in truth.
    """
    f, other, term = rows_of_10(4)
    gone = {other[0]: 0}  # token 1 is distinct to class n
    inner = sum(x * y for x, y in zip(f, other, strict=True)).subs(gone)
    found, expected = term[0].subs(gone).expand(), (f[0] ** power * inner).expand()
    yield identity("a term of a distinct token", found, expected)


def layernorm_signs(taken: int = 1) -> Iterator[Shown]:
    """Terms of (10) with standard LayerNorm: classes alike, one common token p, distinct c_l.

    With u = c - 1/M, a^2 = |u|^2 = p^2 + S - 1/M and S the sum of all c_d^2, f = u/a. A pair of
    classes gives its token l the term (c_l/a) (f_n.f_n' f_nl - f_n'l).

    Args:
        taken: how often the mean 1/M is taken off in f; once in truth.
    """
    import sympy as sp

    p, c, S, M = sp.symbols("p c_l S M", positive=True)
    square = p**2 + S - 1 / M
    N = sp.Symbol("N")  # tokens of a class; the entries of c add up to 1 in each
    # |c - 1/M|^2, over the tokens of a class and the M - N others
    entries = p**2 + S - 2 / M + N / M**2 + (M - N) / M**2
    yield identity("$|c - 1/M|^2$", entries, square)
    inner = (p**2 - 1 / M) / square  # f_n.f_n': c_n.c_n' = p^2
    distinct = c * (inner * (c - taken / M) - (0 - taken / M)) / square
    yield identity(
        "the term of a distinct token", distinct, c * (S - c * (1 - M * p**2)) / M / square**2
    )
    common = p * (inner - 1) * (p - taken / M) / square
    yield identity("the term of the common token", common, -p * (p - 1 / M) * S / square**2)


def single_common_token(power: int = 2) -> Iterator[Shown]:
    """(99): a single common token l has f_n . f_n' = f_nl f_n'l, and -(1 - f_nl^2) of it.

    Token 1 is common; of the others each class has two of its own.

    Args:
        power: of f_nl in 1 - f_nl^2; 2 in truth.
    """
    f, other, term = rows_of_10(5)
    own = {f[3]: 0, f[4]: 0, other[1]: 0, other[2]: 0}
    inner = sum(x * y for x, y in zip(f, other, strict=True)).subs(own)
    expected = -(1 - f[0] ** power) * inner
    yield identity("a term of a single common token", term[0].subs(own).expand(), expected.expand())


def shared_common_tokens(power: int = 2) -> Iterator[Shown]:
    """A term of (10) for common tokens of shared probabilities, one query: -(w^2/S)(1 - S/o^2) e.

    w = rho_l e^(z_l) of two common tokens, S the sum of their squares, d and D what two classes
    have beside; o^2 = S + d^2. (10) is written out with all tokens.

    Args:
        power: of o in S / o^2; 2 in truth.
    """
    import sympy as sp

    w, v, d, D = sp.symbols("w v d D", positive=True)
    S = w**2 + v**2
    o, o_other = sp.sqrt(S + d**2), sp.sqrt(S + D**2)
    f = sp.Matrix([w, v, d, 0]) / o
    other = sp.Matrix([w, v, 0, D]) / o_other
    term = sp.diag(*f) * (f * f.T - sp.eye(4)) * other
    e = (f.T * other)[0]
    yield identity(r"$f_n \cdot f_{n'}$", e, S / (o * o_other))
    expected = -(w**2) / S * (1 - S / o**power) * e
    yield identity("a term of a shared common token", sp.simplify(term[0] - expected), sp.S.Zero)


def norms_of_two_classes(moved: bool = False) -> Iterator[Shown]:
    """o_1^2 = o_2^2 from (5): two distinct tokens of each class, matched, and two common ones.

    Args:
        moved: whether the logit of one distinct token of the second class is another one.
    """
    import sympy as sp

    P = sp.symbols("P_1:3", positive=True)  # of the distinct tokens, in the order of phi
    rho = sp.symbols("rho_1:3", positive=True)
    z, y = sp.symbols("z_1:3", real=True), sp.symbols("y_1:3", real=True)  # distinct, common
    image = (sp.Symbol("z", real=True), z[1]) if moved else z
    squares = []
    for own in (z, image):
        scores = [p * sp.exp(x) for p, x in zip(P, own, strict=True)]
        scores += [p * sp.exp(x) for p, x in zip(rho, y, strict=True)]
        squares.append(sum(x**2 for x in scores))
        shares = [x / sp.sqrt(squares[-1]) for x in scores]
        yield identity("the squares of $f_n$, $o_n^2$ being that sum", sum(x**2 for x in shares), 1)
    yield identity("$o_1^2$ and $o_2^2$", squares[0], squares[1])


# Two classes


def equal_coefficients(sign: int = -1) -> Iterator[Shown]:
    """For two classes and equal draws beta_12 = beta_21 in Theorem 1, and both are positive.

    Args:
        sign: of E' in the second term; -1 in truth.
    """
    import sympy as sp

    e, M = sp.symbols("e M", positive=True)
    prime = sp.eye(2) - sp.Matrix([[1, e], [e, 1]]).inv()
    q_1, q_0 = M / (M - 1), M / (M - 1) ** 2
    # over k != n only k = n' is left
    first, second = (q_1 * prime[n, 1 - n] + q_0 * (1 + sign * prime[1 - n, 1 - n]) for n in (0, 1))
    yield identity(r"$\beta_{12}$ and $\beta_{21}$", first, second)
    yield identity(
        "as a sum of two positive terms over $1 - e^2$", first, (q_1 * e + q_0) / (1 - e**2)
    )


def criterion(twice: int = 2) -> Iterator[Shown]:
    """A token of both classes moves at beta f_1l f_2l [(x + 1/x) f_1.f_2 - 2], x = f_1l / f_2l.

    Args:
        twice: what is taken from the bracket; 2 in truth.
    """
    import sympy as sp

    e, a, b, beta = sp.symbols("e a b beta", positive=True)
    speed = beta * (a * (e * a - b) + b * (e * b - a))  # (10), class 1 and class 2
    yield identity(
        r"the speed $\dot z_l$ of a token in both classes",
        speed,
        beta * a * b * ((a / b + b / a) * e - twice),
    )


# Along paths of (10)


def relative_gain(factor: int = 2) -> Iterator[Shown]:
    """r / chi is constant and dr/dt = 2 r dz/dt, from (98) alone, for any path of xi and o.

    With u = (P e^z)^2 and f^2 = u / o^2, (98) reads dz/dt = force u for every distinct token of the
    class, where force = eta_Z xi_n / o^2 is common to them.

    Args:
        factor: in chi = e^(2 (z - z(0))) and in dr/dt; 2 in truth.
    """
    import sympy as sp

    t = sp.Symbol("t")
    P, other, start = sp.symbols("P P_other z_0", positive=True)
    z, w, force = sp.Function("z")(t), sp.Function("w")(t), sp.Function("force")(t)
    u, v = P**2 * sp.exp(2 * z), other**2 * sp.exp(2 * w)
    laws = {z.diff(t): force * u, w.diff(t): force * v}
    r, chi = u / v - 1, sp.exp(factor * (z - start))
    yield identity(r"$d(r/\chi)/dt$", (r / chi).diff(t).subs(laws), sp.S.Zero)
    yield identity("$dr/dt$", r.diff(t).subs(laws), factor * r * force * u)


def growth_of_share(factor: int = 2) -> Iterator[Shown]:
    """d ln f_0^2 / dt = 2 sum over l of f_l^2 (dz_0/dt - dz_l/dt): three tokens, (114).

    Args:
        factor: 2 in truth.
    """
    import sympy as sp

    t = sp.Symbol("t")
    z = [sp.Function(f"z_{number}")(t) for number in range(3)]
    P = sp.symbols("P_0:3", positive=True)
    u = [p**2 * sp.exp(2 * one) for p, one in zip(P, z, strict=True)]
    shares = [one / sum(u) for one in u]
    found = sp.log(u[0]).diff(t) - sp.log(sum(u)).diff(t)
    expected = factor * sum(
        f * (z[0].diff(t) - one.diff(t)) for f, one in zip(shares, z, strict=True)
    )
    yield identity(r"$d \ln f_0^2/dt$", sp.together(found), sp.together(expected))


def growth_of_quotient(least: int = 1) -> Iterator[Shown]:
    """(1 + r chi) / (1 + r) grows in r for chi > 1, and is at most chi.

    Args:
        least: what chi exceeds; 1 in truth, and 0 for a chi that may have fallen.
    """
    import sympy as sp

    r, more = sp.symbols("r more", positive=True)
    chi = least + more
    factor = (1 + r * chi) / (1 + r)
    yield at_least_zero(
        r"the derivative of $(1 + r\chi)/(1 + r)$ in $r$", sp.factor(factor.diff(r)), strictly=True
    )
    yield at_least_zero(
        r"$\chi$ minus $(1 + r\chi)/(1 + r)$", sp.factor(chi - factor), strictly=True
    )


def growth_of_common_ratio(power: int = 2) -> Iterator[Shown]:
    """(113): d/dt (c~_0^2 / c~_l^2) = (P_0/P_l)^2 e^(2 (z_0 - z_l)) 2 (dz_0/dt - dz_l/dt).

    Args:
        power: of the quotient of the scores; 2 in truth.
    """
    import sympy as sp

    t = sp.Symbol("t")
    P, other = sp.symbols("P_0 P_l", positive=True)
    z, w = sp.Function("z_0")(t), sp.Function("z_l")(t)
    ratio = (P * sp.exp(z) / (other * sp.exp(w))) ** power
    expected = (P / other) ** 2 * sp.exp(2 * (z - w)) * 2 * (z.diff(t) - w.diff(t))
    yield identity(
        "the derivative of the quotient, divided by the right side of (113)",
        sp.powsimp(ratio.diff(t) / expected),
        sp.S.One,
    )


def entropy_of_shares(factor: int = -1) -> Iterator[Shown]:
    """dH/dt = -cov(dz/dt, ln p) for the entropy H of shares p proportional to P e^z: three tokens.

    The covariance is the sum over pairs of p_i p_j (dz_i - dz_j) (ln p_i - ln p_j).

    Args:
        factor: of the covariance; -1 in truth.
    """
    import sympy as sp

    p, v = sp.symbols("p_1:4", positive=True), sp.symbols("v_1:4", real=True)  # v = dz/dt
    total = sum(p)
    mean = sum(x * y for x, y in zip(p, v, strict=True)) / total
    # with P e^z = p: shares s = p / sum(p), ds/dt = s (v - mean)
    s = [x / total for x in p]
    slope = -sum(x * (y - mean) * (sp.log(x) + 1) for x, y in zip(s, v, strict=True))
    pairs = [(0, 1), (0, 2), (1, 2)]
    cov = sum(s[i] * s[j] * (v[i] - v[j]) * (sp.log(p[i]) - sp.log(p[j])) for i, j in pairs)
    yield identity(
        "$dH/dt$", sp.simplify(sp.expand_log(slope, force=True) - factor * cov), sp.S.Zero
    )
