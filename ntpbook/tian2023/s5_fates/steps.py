"""Steps of the proofs on the fates of tokens: from the likelihood to (10), and along its paths.

Sums over tokens, outputs and classes have a symbolic number of terms, or one symbol stands for all
terms that a derivative does not touch. Where a step takes a few tokens, its text says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ntpbook.shared.symbols import at_least_zero, identity
from ntpverdicts.claims import Shown

# From the likelihood to equation (10)


def derivative_of_unit_scores(power: int = 2) -> Iterator[Shown]:
    """df_k/dz_l = f_l (delta_kl - f_k f_l) for f = c / |c|, c_l = P_l e^(z_l), any size.

    Args:
        power: the norm is the root of the sum of these powers; 2 in truth, 1 for the sum itself.
    """
    import sympy as sp

    P, z = sp.symbols("P_k P_l", positive=True), sp.symbols("z_k z_l", real=True)
    rest = sp.symbols("rest", nonnegative=True)  # the powers of all other entries
    c = [p * sp.exp(x) for p, x in zip(P, z, strict=True)]
    norm = (sum(x**power for x in c) + rest) ** sp.Rational(1, power)
    f = [x / norm for x in c]
    for token, name in ((0, "$df_k/dz_k$"), (1, "$df_k/dz_l$")):
        expected = f[token] * (int(token == 0) - f[0] * f[token])
        yield identity(name, sp.diff(f[0], z[token]), expected)


def derivative_of_likelihood(sign: int = -1) -> Iterator[Shown]:
    """d ln alpha_n / df_k = row k of Y (e_n - alpha) for alpha = softmax(Y^T f), any sizes.

    Output n has the logit Y_n f_k + B_n, where B_n is what the other entries of f add to it; each
    of the others has the logit Y_j f_k + B_j.

    Args:
        sign: of alpha; -1 in truth.
    """
    import sympy as sp

    f, Y_n, B_n = sp.symbols("f_k Y_n B_n", real=True)
    j, others = sp.Symbol("j", integer=True), sp.Symbol("J", integer=True, positive=True)
    Y, B = sp.IndexedBase("Y", real=True), sp.IndexedBase("B", real=True)
    own, weight = sp.exp(Y_n * f + B_n), sp.exp(Y[j] * f + B[j])
    total = own + sp.Sum(weight, (j, 1, others))
    found = sp.diff(Y_n * f + B_n - sp.log(total), f)
    mean = (Y_n * own + sp.Sum(Y[j] * weight, (j, 1, others))) / total  # row k of Y alpha
    yield identity(r"$d \ln \alpha_n/df_k$", found, Y_n + sign * mean)


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


def entry_of_10() -> Shown:
    """An entry of diag(f_n) (f_n f_n^T - I) f_n' is f_l (f_l f_n . f_n' - f_n'l): any vectors."""
    import sympy as sp

    M, row = sp.Symbol("M", integer=True, positive=True), sp.Symbol("l", integer=True)
    f, other = sp.MatrixSymbol("f", M, 1), sp.MatrixSymbol("o", M, 1)
    entry = ((f * f.T - sp.Identity(M)) * other).expand().doit()[row, 0]
    (index,) = (one.limits[0][0] for one in entry.atoms(sp.Sum))
    inner = sp.Sum(f[index, 0] * other[index, 0], (index, 0, M - 1))
    return identity(
        "an entry of a term of (10)",
        f[row, 0] * entry,
        f[row, 0] * (f[row, 0] * inner - other[row, 0]),
    )


def classes_in_10(overlap: Any = None) -> tuple[Any, Any, Any, Any]:
    """f_nl, the sum of the terms of class n in (10), xi_n/gamma, and what other classes add.

    The N other classes k have the coefficients beta_nk, the entries o_k = f_kl, and the products
    e_k = f_n . f_k. A class k adds o_k G_k to the row, with G_k = 0 for another query.

    Args:
        overlap: e_k as a function of f_nl and o_k; any numbers without it.
    """
    import sympy as sp

    f, k = sp.Symbol("f_nl"), sp.Symbol("k", integer=True)
    all_others = (k, 1, sp.Symbol("N", integer=True, positive=True))
    beta, o, e, G = (sp.IndexedBase(name)[k] for name in ("beta", "o", "e", "G"))
    e = e if overlap is None else overlap(f, o)
    own = f * sp.Sum(beta * (e * f - o), all_others)
    return f, own, sp.Sum(beta * e, all_others), sp.Sum(o * G, all_others)


def distinct_token(power: int = 2) -> Iterator[Shown]:
    """(98): for a distinct token all other f_kl = 0, and (10) adds up to f_nl^2 xi_n.

    Args:
        power: of f_nl; 2 in truth.
    """
    import sympy as sp

    yield entry_of_10()
    f, own, xi, others = classes_in_10()
    gone = {one: sp.S.Zero for one in (own + others).atoms(sp.Indexed) if str(one.base) == "o"}
    speed = (own + others).xreplace(gone).doit()
    yield identity("the speed of a distinct token", speed, f**power * xi)


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
    # u_n.u_n', over the common token, N - 1 distinct ones of each class, and the others
    product = (p - 1 / M) ** 2 + 2 * (1 - p - (N - 1) / M) * (-1 / M) + (M - 2 * N + 1) / M**2
    yield identity("$(c_n - 1/M) \\cdot (c_{n'} - 1/M)$", product, p**2 - 1 / M)
    inner = (p**2 - 1 / M) / square  # f_n.f_n'
    distinct = c * (inner * (c - taken / M) - (0 - taken / M)) / square
    yield identity(
        "the term of a distinct token", distinct, c * (S - c * (1 - M * p**2)) / M / square**2
    )
    common = p * (inner - 1) * (p - taken / M) / square
    yield identity("the term of the common token", common, -p * (p - 1 / M) * S / square**2)


def single_common_token(power: int = 2) -> Iterator[Shown]:
    """(99): a single common token l has f_n . f_k = f_nl f_kl, and class n adds -(1 - f_nl^2) xi_n.

    Args:
        power: of f_nl in 1 - f_nl^2; 2 in truth.
    """
    yield entry_of_10()
    f, own, xi, _ = classes_in_10(overlap=lambda f, o: f * o)
    yield identity("the terms of a class for a single common token", own, -(1 - f**power) * xi)


def shared_common_tokens(power: int = 2) -> Iterator[Shown]:
    """A term of (10) for common tokens of shared probabilities, one query: -(w^2/S)(1 - S/o^2) e.

    w_i = rho_i e^(z_i) of the C common tokens, S the sum of their squares, o and o' the norms of
    two classes, which share no other token.

    Args:
        power: of o in S / o^2; 2 in truth.
    """
    import sympy as sp

    yield entry_of_10()
    i, common = sp.Symbol("i", integer=True), sp.Symbol("C", integer=True, positive=True)
    entry = sp.IndexedBase("w")[i]
    w, S, o, other = sp.symbols("w S o o'", positive=True)
    inner = sp.Sum(entry / o * (entry / other), (i, 1, common))
    squares = sp.Sum(entry**2, (i, 1, common))
    yield identity(r"$f_n \cdot f_{n'}$", inner, squares / (o * other))
    e = S / (o * other)
    term = w / o * (w / o * e - w / other)
    yield identity("a term of a shared common token", term, -(w**2) / S * (1 - S / o**power) * e)


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
    yield identity("as a sum over $1 - e^2$", first, (q_1 * e + q_0) / (1 - e**2))
    more, x = sp.symbols("more x", positive=True)  # M = 1 + more, and e = x/(1 + x) < 1
    value = ((q_1 * e + q_0) / (1 - e**2)).subs({M: 1 + more, e: x / (1 + x)})
    yield at_least_zero(r"$\beta$ for $M > 1$ and $e < 1$", sp.factor(value), strictly=True)


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


def example_of_growth(M: int = 165) -> Iterator[Shown]:
    """Weights (2, 1, 0) and (1, 4, 4): 36/M <= e^2 < 1/4, and (x + 1/x) e > 2 for token 1.

    Args:
        M: size of the vocabulary.
    """
    import sympy as sp

    first, second = sp.Matrix([2, 1, 0]), sp.Matrix([1, 4, 4])
    e = first.dot(second) / (first.norm() * second.norm())
    x = (first[0] / first.norm()) / (second[0] / second.norm())
    yield at_least_zero("$(f_1 \\cdot f_2)^2 - 36/M$", e**2 - sp.Rational(36, M))
    yield at_least_zero("$1/4 - (f_1 \\cdot f_2)^2$", sp.Rational(1, 4) - e**2, strictly=True)
    yield at_least_zero("$(x + 1/x) e - 2$", sp.simplify((x + 1 / x) * e - 2), strictly=True)


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


def sign_of_gain(leads: bool = True) -> Iterator[Shown]:
    """2 r(0) chi eta_Z f^2 xi > 0 by (98), for r(0) > 0 and xi > 0.

    Args:
        leads: whether r(0) > 0; without it r(0) has any sign.
    """
    import sympy as sp

    chi, eta, f, xi = sp.symbols("chi eta_Z f xi", positive=True)
    r = sp.Symbol("r_0", positive=True) if leads else sp.Symbol("r_0", real=True)
    yield at_least_zero(r"$\dot r$", 2 * r * chi * eta * f**2 * xi, strictly=True)


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
