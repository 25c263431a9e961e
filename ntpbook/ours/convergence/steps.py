"""The proofs of Theorems A and B, step by step in sympy, from the loss, the softmax, the update.

A step returns identities, whose two sides are computed in different ways, and inequalities, whose
gap is a quotient of polynomials with non-negative coefficients in quantities that are not negative.
Steps that sympy does not show are named in the docstrings, and stand on the page by hand.

Notation: one sample with the optimal token o and rivals j; masses m_o, m_j of attention; the gap A
of stage 1; T_v the probability of n(v); tau_j = T_j / (1 - T_o) and s = 1 - sum of all tau_j;
u~_j = log(m_o / m_j) the effective margin; L the longest sentence; w = ||W*||, S = w^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from ntpbook.shared.symbols import at_most, identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

Sentence = tuple[int, ...]


# The model on one sentence, from its definition


def loss(sentence: Sentence, optimal: int, vocab_size: int, A: Any, column: Any) -> Any:
    """Minus the log-probability of n(o), by positions: attention, W_ov of stage 1, output softmax.

    W_ov has the columns A (e_{n(x)} - 1 / |V|) that stage 1 gives it, with n(x) = x + 1 modulo |V|.

    Args:
        sentence: tokens 0, ..., |V| - 1; the last one is the query.
        optimal: the token o of the sentence whose n(o) comes next.
        vocab_size: |V|.
        A: the gap.
        column: the column of W_kq at the query, by tokens.

    Source: huang2024, equation (1).
    """
    # the dense form again, in symbols: its derivatives judge equation (6) and A m h
    logits = _output_weights(vocab_size, A) * _tokens(sentence, vocab_size) * _phi(sentence, column)
    return sp.log(sum(sp.exp(value) for value in logits)) - logits[(optimal + 1) % vocab_size]


def _phi(sentence: Sentence, column: Any) -> Any:
    """Attention weights of the positions."""
    scores = [sp.exp(column[token]) for token in sentence]
    return sp.Matrix([score / sum(scores) for score in scores])


def _tokens(sentence: Sentence, vocab_size: int) -> Any:
    """X, whose columns are the one-hot tokens of the sentence."""
    return sp.Matrix(vocab_size, len(sentence), lambda v, place: int(sentence[place] == v))


def _output_weights(vocab_size: int, A: Any) -> Any:
    """W_ov after stage 1."""
    return sp.Matrix(
        vocab_size,
        vocab_size,
        lambda v, x: A * (int(v == (x + 1) % vocab_size) - sp.Rational(1, vocab_size)),
    )


@once
def gradient_from_the_loss(
    sentence: Sentence = (0, 0, 2, 1), optimal: int = 0, vocab_size: int = 4, force: int = 1
) -> tuple[Shown, ...]:
    """Derivatives of the loss of one sentence against equation (6), and against A m_j h_j.

    h_j = (1 - T_o) m_o + T_j - sum_k T_k m_k over the rivals k. The sentence is written out; any
    number of rivals and tokens is the next step.

    Args:
        sentence: tokens 0, ..., |V| - 1; the last one is the query.
        optimal: the optimal token.
        vocab_size: |V|.
        force: what multiplies h_j; 1 in truth.

    Source: huang2024, equation (6).
    """
    A = sp.Symbol("A", positive=True)
    y = {token: sp.Symbol(f"y_{token}", positive=True) for token in range(vocab_size)}
    w = {token: sp.log(y[token]) for token in y}  # the scores
    value = loss(sentence, optimal, vocab_size, A, w)
    X, phi, ov = _tokens(sentence, vocab_size), _phi(sentence, w), _output_weights(vocab_size, A)
    logits, short = ov * X * phi, sp.symbols(f"E_0:{vocab_size}", positive=True)
    T = sp.Matrix([sp.exp(logit) for logit in logits]) / sum(sp.exp(logit) for logit in logits)
    p = sp.Matrix([int(v == (optimal + 1) % vocab_size) for v in y])
    equation_6 = X * (sp.diag(*phi) - phi * phi.T) * X.T * ov.T * (T - p)
    mass, prob = X * phi, {v: T[(v + 1) % vocab_size] for v in y}
    rivals = sorted(set(sentence) - {optimal})
    mean = sum(prob[k] * mass[k] for k in rivals)
    b = {
        j: force * A * mass[j] * ((1 - prob[optimal]) * mass[optimal] + prob[j] - mean)
        for j in rivals
    }
    b[optimal] = -sum(b[j] for j in rivals)

    def shown(expression: Any) -> Any:  # E_v for e^(logit v), once the derivative is taken
        return expression.xreplace(dict(zip(map(sp.exp, logits), short, strict=True)))

    found = [
        identity(
            rf"$d\,\text{{loss}}/dW[{x}, q]$ is equation (6)",
            shown(y[x] * sp.diff(value, y[x])),
            shown(equation_6[x]),
            expand=False,
        )
        for x in y
    ]
    masses = [
        identity(
            f"equation (6) is $A m h$ at token {x}", shown(equation_6[x]), shown(b[x]), expand=False
        )
        for x in sorted(b)
    ]
    return (*found, *masses)


@dataclass(frozen=True)
class _Sample:
    """A sample with any number r of rivals, along a line of weights; s is the place on the line.

    Attributes:
        s: the place on the line.
        A: the gap.
        V: |V|.
        r: number of rivals beside the one that is singled out; 0 where there are none.
        k: index of these rivals.
        mass_o, mass_j, mass_k: masses of the optimal token, of the rival j, of the others.
    """

    s: Any
    A: Any
    V: Any
    r: Any
    k: Any
    mass_o: Any
    mass_j: Any
    mass_k: Any

    def sum_k(self, term: Any) -> Any:
        """Sum over the other rivals."""
        return sp.Sum(term, (self.k, 1, self.r))

    @property
    def Z(self) -> Any:
        """What normalises the output: the logit of n(v) is A m_v up to a constant."""
        A = self.A
        inside = sp.exp(A * self.mass_o) + sp.exp(A * self.mass_j)
        return inside + self.sum_k(sp.exp(A * self.mass_k)) + self.V - 2 - self.r

    @property
    def loss(self) -> Any:
        """Minus the log of the probability of n(o)."""
        return sp.log(self.Z) - self.A * self.mass_o

    def T(self, mass: Any) -> Any:
        """Probability of the token that follows one of this mass."""
        return sp.exp(self.A * mass) / self.Z

    def at_0(self, value: Any) -> Any:
        """A value at the start of the line."""
        return value.subs(self.s, 0)


def _sample(v_o: Any, v_j: Any, v_k: Any) -> _Sample:
    """The sample with weights w + s v; v_k(k) for the rivals beside j."""
    s = sp.Symbol("s", real=True)
    A, e_o, e_j, V = sp.symbols("A E_o E_j V", positive=True)
    r, k = sp.Symbol("r", integer=True, nonnegative=True), sp.Symbol("k", integer=True)
    E = sp.IndexedBase("E", positive=True)  # counts times exponentials of the scores at s = 0
    # a rival apart from the others, unlike `one_sample`: this proof raises it alone
    top = (e_o * sp.exp(s * v_o), e_j * sp.exp(s * v_j), E[k] * sp.exp(s * v_k(k)))
    total = top[0] + top[1] + sp.Sum(top[2], (k, 1, r))
    return _Sample(s, A, V, r, k, *(value / total for value in top))


@once
def gradient_for_all_rivals(force: int = 1) -> tuple[Shown, ...]:
    """Equation (2) of the proof, for any number of rivals and any |V|.

    Raising the score of the rival j alone changes the loss at the rate b_j = A m_j h_j, with
    h_j = (1 - T_o) m_o + T_j - sum_k T_k m_k. Raising all scores changes nothing, so that the
    optimal token has minus the sum; hence minus the gradient is sum_j b_j (e_o - e_j) e_q^T.

    Args:
        force: what multiplies h_j; 1 in truth.
    """
    one = _sample(sp.Integer(0), sp.Integer(1), lambda _: sp.Integer(0))
    m_o, m_j = one.at_0(one.mass_o), one.at_0(one.mass_j)
    T_o, T_j = one.at_0(one.T(one.mass_o)), one.at_0(one.T(one.mass_j))
    mean = T_j * m_j + one.at_0(one.sum_k(one.T(one.mass_k) * one.mass_k))
    h = (1 - T_o) * m_o + T_j - mean
    along_j = one.at_0(sp.diff(one.loss, one.s))
    both = _sample(sp.Integer(1), sp.Integer(1), lambda _: sp.Integer(1))
    return (
        identity(
            r"$d\,\text{loss}/dW[j, q] = A m_j h_j$", along_j, force * one.A * m_j * h, expand=False
        ),
        identity(
            "derivative as all scores rise alike",
            both.at_0(sp.diff(both.loss, both.s)),
            sp.Integer(0),
            expand=False,
        ),
    )


@once
def lemma_5(drop_m_o_s: int = 0) -> tuple[Shown, ...]:
    """Why no b_j is negative where the optimal token has the largest mass, and what follows.

    h_j / (1 - T_o) = tau_j + m_o s + sum_k (m_o - m_k) tau_k, a sum of terms that are not negative
    if m_k <= m_o for all rivals; then a step raises W[o, q] and lowers W[j, q] (a token has one
    role per query, Assumption 1), all margins grow, and m_k <= m_o persists, whatever the step
    size. At W = 0 it is Assumption 3. By hand: this induction. And m_o is 1 / (1 + rho), rho
    the sum of m_j / m_o over at most L - 1 rivals, none with more mass than o: at least 1 / L.

    Args:
        drop_m_o_s: 1 leaves out the term m_o s.

    Source: huang2024, Lemma 5.
    """
    T_o, T_j, m_o, m_j = sp.symbols("T_o T_j m_o m_j", positive=True)
    k, r = sp.Symbol("k", integer=True), sp.Symbol("r", integer=True, nonnegative=True)
    T, m = sp.IndexedBase("T", positive=True), sp.IndexedBase("m", positive=True)

    def over_rivals(term: Any) -> Any:
        return sp.Sum(term, (k, 1, r))

    h = (1 - T_o) * m_o + T_j - T_j * m_j - over_rivals(T[k] * m[k])
    s = 1 - (T_j + over_rivals(T[k])) / (1 - T_o)
    positive = T_j + (m_o - m_j) * T_j + m_o * over_rivals(T[k]) - over_rivals(T[k] * m[k])
    positive = positive / (1 - T_o) + (1 - drop_m_o_s) * m_o * s
    rho, more = sp.symbols("rho more", nonnegative=True)
    return (
        identity(
            "$h_j/(1 - T_o)$ as a sum of nonnegative terms", h / (1 - T_o), positive, expand=False
        ),
        at_most(
            r"$m_o = 1/(1 + \rho) \ge 1/L$, as $\rho \le L - 1$",
            1 / (1 + rho + more),
            1 / (1 + rho),
        ),
    )


@once
def lemma_6(squared_length: int = 2, gains: int = 1) -> tuple[Shown, ...]:
    """The norm bounds: gamma / sqrt(2) <= <d, W*> / w for every step d, and their sums.

    d = g / ||g|| with g a convex combination of the B_e, ||B_e||^2 = 2. A convex combination of any
    number of the B_e is no longer than they are, by induction on their number: with one more, with
    the weight p, g becomes (1 - p) g + p B_e, whose squared length falls short of the mean of both
    squared lengths by p (1 - p) times a squared distance, entry by entry. And <B_e, W*> >= 1 gives
    <g, W*> >= 1. The sum over the steps, by induction: if t steps have x >= t eta gamma / sqrt(2)
    and ||W|| <= t eta, so have t + 1; <W, d> falls short of ||W|| by some amount, and ||W|| of
    t eta.

    Args:
        squared_length: the squared length that B_e should have; 2 in truth.
        gains: how often a step gains gamma / sqrt(2); 1 in truth.

    Source: huang2024, Lemma 6, with sqrt(2) in the place of 2 L_max.
    """
    p, q = sp.symbols("p q", nonnegative=True)
    old, new = sp.symbols("g_i B_i", real=True)  # one entry of g and of B_e
    weight = 1 / (1 + q)  # any p in (0, 1]
    less, apart = sp.symbols("less apart", nonnegative=True)  # 2 - ||g||^2, and ||g - B_e||^2
    longer = (1 - weight) * (2 - less) + weight * 2 - weight * (1 - weight) * apart
    pair = sp.Matrix([1, -1])
    norm, more, gamma = sp.symbols("norm more gamma", nonnegative=True)
    a = gamma * (1 + more) / norm  # <g, W_hat> / ||g||, as <g, W*> = 1 + more
    longest = norm + sp.Symbol("short", nonnegative=True)  # sqrt(2), which ||g|| falls short of
    t, eta, least, extra, size, missed = sp.symbols(
        "t eta least extra size missed", nonnegative=True
    )
    gain = gains * least + extra  # a, where least = gamma / sqrt(2)
    return (
        identity(
            "an entry of $(1 - p) g + p B_e$, squared",
            ((1 - p) * old + p * new) ** 2,
            (1 - p) * old**2 + p * new**2 - p * (1 - p) * (old - new) ** 2,
        ),
        at_most(r"$\|g\|^2$ with one more pair", longer, sp.Integer(2)),
        identity(r"$\|B_e\|^2$", sp.Integer(pair.dot(pair)), sp.Integer(squared_length)),
        at_most(r"$1/\|g\| \le a/\gamma$", 1 / norm, a / gamma),
        at_most(r"$\gamma/\sqrt2 \le a$", gamma / longest, a),
        at_most(
            "$x$ after one more step", (t + 1) * eta * least, t * eta * least + more + eta * gain
        ),
        at_most(
            r"$\|W\|^2$ after one more step",
            size**2 + 2 * eta * (size - missed) + eta**2,
            (size + eta) ** 2,
        ),
        at_most(r"$\|W\|$ after one more step", size + eta, size + missed + eta),
    )


# Theorem A: <g, W> <= gamma <W_hat, W> + K


def theorem_a_bounds_on_h(largest_h: int = 2) -> tuple[Shown, ...]:
    """(i): h_j <= 2 (1 - T_o) for all j, and h_k >= (1 - T_o) / L for the rival k with most mass.

    Ones are written as what sums to one: tau_j + rest + s, and m_o + m_j + the other masses. That
    tau_k >= (1 - s) / (L - 1) is `theorem_a_largest`: T_k is the largest T of at most L - 1 rivals.

    Args:
        largest_h: the constant of the upper bound.
    """
    tau_j, tau, s = sp.symbols("tau_j tau s", nonnegative=True)  # tau: all other rivals
    m_o, m_j, m, product = sp.symbols("m_o m_j m product", nonnegative=True)
    one_tau, one_m = tau_j + tau + s, m_o + m_j + m
    upper = (largest_h - 1) * one_tau + one_m
    extra = sp.Symbol("l", nonnegative=True)
    L = 2 + extra
    return (
        at_most(
            r"$\tau_j + m_o - \sum_k \tau_k m_k \le 2$",
            tau_j + m_o - tau_j * m_j - product,
            upper,
        ),
        at_most(r"$(1 - s)/(L - 1) + s/L \ge 1/L$", (tau + s) / L, tau / (L - 1) + s / L),
    )


def theorem_a_largest(fewer: int = 0) -> tuple[Shown, ...]:
    """tau_k >= (1 - s) / (L - 1), the largest of at most L - 1 terms with the sum 1 - s.

    J terms, none larger than tau_k, add up to J tau_k less what they fall short by; L - 1 is J +
    more.

    Args:
        fewer: what is taken off L - 1; 0 in truth.
    """
    tau_k, short, more, j = sp.symbols("tau_k short more j", nonnegative=True)
    J = 1 + j
    total = J * tau_k - short
    return (at_most("the mean of $J$ terms", total / (J + more - fewer), tau_k),)


def theorem_a_one_sample(largest_h: int = 2) -> tuple[Shown, ...]:
    """(ii): in one sample p_j / p_k <= 2 L e^{-(u~_j - u~_k)}, k being the rival of least u~.

    The ratio is m_j h_j / (m_k h_k), and m_j = m_o e^{-u~_j}. If u~_k is above the least of all
    samples by at most log L, another factor L takes it to that.

    Args:
        largest_h: the constant of the upper bound on h.
    """
    A, pi, m_o, h_j, h_k, u_j, u_k = sp.symbols("A pi m_o h_j h_k u_j u_k", positive=True)
    ratio = (pi * A * m_o * sp.exp(-u_j) * h_j) / (pi * A * m_o * sp.exp(-u_k) * h_k)
    short, less, more = sp.symbols("short less more", nonnegative=True)
    rest, L = sp.Symbol("rest", positive=True), 2 + sp.Symbol("l", nonnegative=True)
    largest = 2 * rest / (1 + short)  # what is at most 2 rest, rest being 1 - T_o
    least = rest / L + more
    return (
        identity("$p_j/p_k$", ratio, sp.exp(-(u_j - u_k)) * h_j / h_k),
        at_most(r"$h_j/h_k \le 2L$", largest / least, largest_h * L * (1 + less)),
    )


def theorem_a_other_samples(others_shift: int = 0, lighter: int = 1) -> tuple[Shown, ...]:
    """(iii): 1 - T_o of a sample whose margins are all larger by log L is at most L - 1 times that
    of the sample with the least one.

    With X = (1 - T_o) / T_o. E_a = e^{-A m_o^0 (1 - e^{-u~_0})} and E_b = e^{-A m_o^0}, J rivals.
    m_o^n >= m_o^0 as rho_n < e^{-u~_0} <= rho_0; m_o (1 - e^{-u~}) grows with m_o and with u~, here
    with e^{-u~} = 1 / (1 + v).

    Args:
        others_shift: what is added to |V| - 2 in the bound below on X_0; 0 in truth.
        lighter: whether rho_n is the smaller one, as in truth.
    """
    A, m_o, others = sp.symbols("A m_o others", positive=True)
    E_a, E_b, more, j, v, g = sp.symbols("E_a E_b more j v g", nonnegative=True)
    J, V = 1 + j, 2 + j + v  # one rival at least; |V| >= 1 + J
    X_n, short, kappa_1 = sp.symbols("X_n short kappa", nonnegative=True)
    rho, extra, m, d_m, u, d_u = sp.symbols("rho extra m d_m u d_u", nonnegative=True)
    kappa = 1 + kappa_1
    X_0 = (X_n + short) / kappa
    least = E_a + (V - 2 + others_shift) * E_b
    T, X = sp.exp(A * m_o) / (sp.exp(A * m_o) + others), others * sp.exp(-A * m_o)
    return (
        identity("$X = (1 - T_o)/T_o$ from the softmax", (1 - T) / T, X),
        identity("$1 - T_o = X/(1 + X)$", 1 - T, sp.simplify(X / (1 + X))),
        at_most("$X_n$ from above", J * E_a + (V - 1 - J) * E_b, J * (E_a + (V - 2) * E_b)),
        at_most("$X_0$ from below", least, E_a + (J - 1 + g) * E_b + (V - 1 - J) * E_b),
        at_most(r"$1 - T_n \le \kappa (1 - T_0)$", X_n / (1 + X_n), kappa * X_0 / (1 + X_0)),
        at_most(r"$\rho_n < e^{-\tilde u_0}$", (J * E_b) / (1 + J + more), E_b),
        at_most(
            "$m_o$ of the other sample is not smaller",
            1 / (1 + rho + extra),
            1 / (1 + rho) if lighter else 1 / (1 + rho + 2 * extra),
        ),
        at_most(
            r"$m_o (1 - e^{-\tilde u})$ grows",
            m * u / (1 + u),
            (m + d_m) * (u + d_u) / (1 + u + d_u),
        ),
    )


def theorem_a_jensen(slope: int = 1) -> tuple[Shown, ...]:
    """(iv): if p_i <= c_i e^{-d_i} and sum p_i = 1 then sum p_i d_i <= log sum c_i.

    d_i <= log(c_i / p_i), and log x <= x - 1 at x = c_i / (p_i C), C = sum c_i, gives
    sum p_i log(c_i / p_i) - log C <= sum p_i (x_i - 1) = 0. The function x - 1 - log x has the
    derivative (x - 1) / x and the value 0 at x = 1: its least value.

    Args:
        slope: of the tangent; 1 in truth.
    """
    i, n = sp.Symbol("i", integer=True), sp.Symbol("n", integer=True, positive=True)
    p, c = sp.IndexedBase("p", positive=True), sp.IndexedBase("c", positive=True)
    x = sp.Symbol("x", positive=True)
    C = sp.Sum(c[i], (i, 1, n))
    above = slope * (x - 1) - sp.log(x)
    total = sp.Sum(p[i] * c[i] / p[i], (i, 1, n)).simplify() / C - sp.Sum(p[i], (i, 1, n))
    return (
        identity(r"$\sum p_i (x_i - 1) = 1 - \sum p_i$", total, 1 - sp.Sum(p[i], (i, 1, n))),
        identity(r"derivative of $x - 1 - \log x$", sp.diff(above, x), (x - 1) / x),
        identity("its value at 1", above.subs(x, 1), sp.Integer(0)),
    )


def theorem_a_sum(power_of_length: int = 2) -> tuple[Shown, ...]:
    """The sum of the c_i, and K: samples (ii) give 2 L^2 (L - 1), samples (iii) at most
    2 L^2 (L - 1)^2 (1 - pi) / pi, pi being the share of the sample with the least margin.

    The least u~ is at most the least margin plus log(L - 1), as c_j / c_o >= 1 / (L - 1).

    Args:
        power_of_length: of L - 1 in the bound on the sum.
    """
    longer, q, a, b, rest = sp.symbols("l q a b rest", nonnegative=True)
    L, pi = 2 + longer, 1 / (1 + q)
    c_o, c_j = 1 + a, 1 + b
    total = 2 * L**2 * (L - 1) + 2 * L**2 * (L - 1) ** 2 * (1 - pi) / pi
    bound = 2 * L**2 * (L - 1) ** power_of_length / pi
    K = sp.log(2 * L**2 * (L - 1) ** 3 / pi)
    return (
        at_most(r"$\sum c_i \le 2 L^2 (L - 1)^2/\pi$", total, bound),
        at_most(r"$1/(L - 1) \le c_j/c_o$", 1 / (c_o + c_j + rest - 1), c_j / c_o),
        identity(
            r"$K$ is the log of this bound and $\log(L - 1)$", K, sp.log(bound) + sp.log(L - 1)
        ),
    )


def theorem_a_conclusion(part: int = 1) -> tuple[Shown, ...]:
    """From <g, W> <= gamma <W_hat, W> + K to the form of Lemma 7, alpha = K w / ||W||.

    beta is the total weight, -<grad, W*> = beta <g, W*> >= beta: with <g, W*> = 1 + more,
    <W_hat, W> = ||W|| - short, which may be negative.

    Args:
        part: what divides alpha; 1 in truth.
    """
    beta, w, more, norm, short = sp.symbols("beta w more norm short", nonnegative=True)
    K = sp.Symbol("K", nonnegative=True)
    x = norm - short
    force = beta * (1 + more)  # -<grad, W*>
    alpha = K * w / norm / part
    return (
        at_most(r"$-\langle\nabla, W\rangle$", beta * (x / w + K), (1 + alpha) * force * norm / w),
    )


# Theorem B: the perceptron's recursion


def theorem_b_recursion(sign_of_x: int = 1, constant: int = 1) -> tuple[Shown, ...]:
    """||y+||^2 <= ||y||^2 + 2 eta a K w + eta^2 (1 - a^2), from the update and Theorem A.

    Any W, W* and d in three dimensions, which they span: x = <W, W*> / w and y = W - x W* / w are
    taken from W, and after the step from W + eta d, where ||d|| = 1. Theorem A says <g, W> <= x / w
    + K, as <W*, W> / S is x / w, and ||g|| = <g, W*> / (a w) >= 1 / (a w). So <d, W>, the quotient
    of the two, is at most a (x + K w). Last, the sum over the steps, by induction: if ||y||^2 is at
    most 2 K w x + eta^2 t, then so it is after one more, where x has grown by eta a.

    Args:
        sign_of_x: of a x, which the step takes off <d, W>; 1 in truth.
        constant: times K in Theorem A; 1 in truth.
    """
    eta, K, short, more = sp.symbols("eta K short more", nonnegative=True)
    W, star, d = (sp.Matrix(sp.symbols(f"{name}_1:4", real=True)) for name in ("W", "s", "d"))

    def across(M: Any) -> Any:
        """||y||^2 of M."""
        y = M - star * M.dot(star) / star.dot(star)
        return y.dot(y)

    a, x = (M.dot(star) / sp.sqrt(star.dot(star)) for M in (d, W))
    step = across(W) + 2 * eta * (d.dot(W) - sign_of_x * a * x) + eta**2 * (d.dot(d) - a**2)
    # Theorem A; from here on a, w and x are numbers, and x / w + K is not negative
    alpha, w, X = sp.symbols("a w x", nonnegative=True)
    size = (1 + more) / (alpha * w)  # ||g||, as <g, W*> = 1 + more
    t = sp.Symbol("t", nonnegative=True)
    total = 2 * K * w * X + eta**2 * t  # which ||y||^2 falls short of after t steps; 0 at t = 0
    after = total - short + 2 * eta * constant * K * w * alpha + eta**2 * (1 - alpha**2)
    pull = (X / w + constant * K - short) / size
    return (
        identity(r"$\|y\|^2$ after the step", across(W + eta * d), step, expand=False),
        at_most(r"$\langle d, W\rangle \le a (x + Kw)$", pull, alpha * (X + K * w)),
        at_most(
            "summed over $t$ steps, and one more", after, total + 2 * K * w * eta * alpha + eta**2
        ),
    )


def theorem_b_direction(direction: int = 2) -> tuple[Shown, ...]:
    """tan^2 <= (2 S / t) (1 + sqrt(2) K / eta) and 1 - cos <= tan^2 / 2.

    x = t eta / (sqrt(2) w) + more, by the norm bounds; c = cos = 1 / (1 + k).

    Args:
        direction: the 2 of the bound.
    """
    eta, K, w, t, more, k = sp.symbols("eta K w t more k", nonnegative=True)
    x = t * eta / (sp.sqrt(2) * w) + more
    tangent = (2 * K * w * x + eta**2 * t) / x**2
    c = 1 / (1 + k)
    return (
        at_most(r"$\tan^2$", tangent, direction * w**2 / t * (1 + sp.sqrt(2) * K / eta)),
        at_most(r"$1 - \cos \le \tan^2/2$", 1 - c, (1 / c**2 - 1) / 2),
    )


def theorem_b_margins(lateness: int = 32, across: int = 1) -> tuple[Shown, ...]:
    """u_e >= gamma x / 2 >= t eta / (2 sqrt(2) S) from t_A = 32 S^2 max(1, sqrt(2) K / eta) on.

    u_e >= gamma x - sqrt(2) ||y||, and 8 ||y||^2 <= gamma^2 x^2 if both halves of the bound on
    ||y||^2 are at most a half of it.

    Args:
        lateness: the 32 of t_A.
        across: how often sqrt(2) ||y|| is taken off; 1 in truth.
    """
    eta, K, w, later, more = sp.symbols("eta K w later more", nonnegative=True)
    S, root = w**2, sp.sqrt(2)
    t_1, t_2 = lateness * root * K * S**2 / eta + later, lateness * S**2 + later
    x_1, x_2 = (t * eta / (root * w) + more for t in (t_1, t_2))
    y, x = sp.symbols("y x", nonnegative=True)
    gx = 2 * root * y + x  # gamma x, where 8 y^2 <= (gamma x)^2
    along = sp.Symbol("along", nonnegative=True)  # gamma x
    return (
        at_most(r"$16 K w x \le \gamma^2 x^2/2$", 16 * K * w * x_1, x_1**2 / S / 2),
        at_most(r"$8 \eta^2 t \le \gamma^2 x^2/2$", 8 * eta**2 * t_2, x_2**2 / S / 2),
        at_most(
            r"$\langle B_e, W\rangle \ge \gamma x - \sqrt2\, \|y\|$",
            along - across * root * y,
            along * (1 + more) - root * y + later,  # <B_e, W_hat> >= gamma, and Cauchy-Schwarz
        ),
        at_most(r"$\gamma x - \sqrt2\, \|y\| \ge \gamma x/2$", gx / 2, gx - root * y),
        at_most(r"$\gamma x/2$", t_2 * eta / (2 * root * S), x_2 / (2 * w)),
    )
