"""Steps of the proofs on stage 1 that run: each derives what it shows from the loss or from W_ov*.

n stands for |V|, and a column has the symbols of `ntpbook.shared.stage_1_law.column`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ntpbook.shared.one_sample import squares
from ntpbook.shared.stage_1_law import along_the_optimum, column
from ntpbook.shared.symbols import at_least_zero, at_most, identity, signed_coefficients
from ntpverdicts.claims import Shown


@lru_cache
def gradient_is_never_zero(wrong_tokens: int = 1) -> tuple[Shown, ...]:
    """The gradient's entry at n(x) is minus the probability of all wrong tokens, so not zero.

    Args:
        wrong_tokens: 1, as there is a wrong token; 0 where there is none.
    """
    import sympy as sp

    one = column()
    wrong = wrong_tokens * (sp.exp(one.b) + one.R)
    missing, rest = wrong / (sp.exp(one.a) + wrong), sp.symbols("rest", nonnegative=True)
    return (
        identity(r"the entry of the gradient at $\mathrm n(x)$", one.right, -missing),
        at_least_zero("minus this entry", missing, strictly=True),
        at_least_zero("the squared norm of the gradient", missing**2 + rest, strictly=True),
    )


@lru_cache
def projection(margin: str = "1") -> tuple[Shown, ...]:
    """A column of <W_ov*, G> is minus the probability of its wrong tokens, at any logits.

    Args:
        margin: of the matrix that stands for W_ov*.
    """
    import sympy as sp

    one, n = column(), sp.symbols("n", positive=True)
    optimum = sp.sympify(margin) * (1 - 1 / n), -sp.sympify(margin) / n
    projected = optimum[0] * one.right + optimum[1] * (one.wrong + one.others)
    wrong = sp.exp(one.b) + one.R
    return (identity(r"$\langle W^* x, G x\rangle$", projected, -wrong / (sp.exp(one.a) + wrong)),)


@lru_cache
def norm_of_a_column(most: int = 2) -> tuple[Shown, ...]:
    """A column of G has a squared norm of at most 2 S^2, S being its entry at n(x) but for a sign.

    The others, of any number, are not negative and have the sum S.

    Args:
        most: the 2 of 2 S^2.
    """
    import sympy as sp

    one = column()
    return (
        identity(
            "the sum of a column of the gradient", one.right + one.wrong + one.others, sp.Integer(0)
        ),
        at_least_zero("the entry of a wrong token", one.wrong),
        *squares(most),
    )


@lru_cache
def sum_of_margins(low: str = "-1/n") -> tuple[Shown, ...]:
    """<W_ov*, W> is the sum of all margins of W by n; if all were above r, it would exceed this.

    Args:
        low: the entries of W_ov* other than at n(x).
    """
    import sympy as sp

    n, size = sp.symbols("n", positive=True), sp.symbols("w", positive=True)
    top, others = sp.symbols("W_n S", real=True)  # the logit of n(x), and the sum of all others
    star = sp.sqrt(n - 1)
    projected = (1 - 1 / n) * top + sp.sympify(low, locals={"n": n}) * others
    r = size / star
    return (
        identity(r"a column of $\langle W^*, W\rangle$", projected, ((n - 1) * top - others) / n),
        identity(
            r"$n\, \|W^*\|\, \|W\|$ divided by $n (n - 1)$ margins",
            n * star * size / (n * (n - 1)),
            r,
        ),
    )


@lru_cache
def log_is_above_its_chord(slope: str = "1/2") -> tuple[Shown, ...]:
    """log(1 + z) >= z / 2 on [0, 1]: concave, 0 at 0, and above 0 at 1.

    Args:
        slope: of the right side.
    """
    import sympy as sp

    z = sp.symbols("z", nonnegative=True)
    rise = sp.log(1 + z) - sp.sympify(slope) * z
    return (
        at_least_zero(
            r"minus the second derivative of $\log(1 + z) - z/2$", sp.simplify(-sp.diff(rise, z, 2))
        ),
        identity(r"$\log(1 + z) - z/2$ at $z = 0$", rise.subs(z, 0), sp.Integer(0)),
        at_least_zero(r"$\log(1 + z) - z/2$ at $z = 1$", rise.subs(z, 1), strictly=True),
    )


@lru_cache
def far_multiple(times: int = 2, share: str = "1/4") -> tuple[Shown, ...]:
    """n (n - 1) e^-s is at most a share of e^-r if s = r + times log(2 n).

    Args:
        times: how often log(2 n) is added.
        share: the factor of e^-r.
    """
    import sympy as sp

    m, r = sp.symbols("m r", positive=True)
    n = m + 1
    ratio = sp.simplify(n * m * sp.exp(-(r + times * sp.log(2 * n))) / sp.exp(-r))
    room = sp.factor(sp.sympify(share) - ratio)
    return (at_least_zero(rf"${share} - n (n - 1) e^{{r - s}}$", room),)


@lru_cache
def second_derivative(power: int = 2) -> tuple[Shown, ...]:
    """Along a direction v the second derivative of log sum e^z is the variance of v, a mean square.

    The sum has any number of terms. With Z = sum e^(z_i + s v_i), the sum of v_i^k e^(z_i), divided
    by Z at s = 0, is the mean of v^k under the predicted probabilities.

    Args:
        power: of the mean that is subtracted.
    """
    import sympy as sp

    s, v = sp.symbols("s v", real=True)
    i, n = sp.Symbol("i", integer=True), sp.Symbol("n", integer=True, positive=True)
    logit, along = sp.IndexedBase("z", real=True), sp.IndexedBase("v", real=True)
    Z = sp.Symbol("Z", positive=True)
    means = {k: sp.symbols(f"E_v{k}", real=True) for k in (1, 2)}
    total = sp.Sum(sp.exp(logit[i] + s * along[i]), (i, 1, n))
    found = sp.diff(sp.log(total), s, 2).subs(s, 0)
    named = {sp.Sum(along[i] ** k * sp.exp(logit[i]), (i, 1, n)): means[k] * Z for k in means}
    second = sp.expand(found.xreplace({total.subs(s, 0): Z, **named}))
    return (
        identity("second derivative", second, means[2] - means[1] ** power),
        identity(r"mean of $(v - \mathbb E v)^2$", _mean((v - means[1]) ** 2, v, means), second),
    )


def _mean(square: Any, v: Any, means: dict[int, Any]) -> Any:
    """The mean of a quadratic polynomial in v, term by term."""
    import sympy as sp

    free, linear, quadratic = reversed(sp.Poly(square, v).all_coeffs())
    return free + linear * means[1] + quadratic * means[2]


@lru_cache
def loss_along_the_optimum(low: str = "-1/n") -> tuple[Shown, ...]:
    """L_0(B W_ov*) = n log(1 + (n - 1) e^-B), whose slope is negative and whose limit is 0.

    Args:
        low: the entries of W_ov* other than at n(x).
    """
    import sympy as sp

    of_a_column, B, m = along_the_optimum(column().loss, low)
    ratio = sp.simplify(sp.exp(of_a_column))
    loss = (m + 1) * sp.log(ratio)
    return (
        identity(r"$\mathrm e$ to the power of the loss of a column", ratio, 1 + m * sp.exp(-B)),
        at_least_zero(
            r"minus the slope of $\mathcal L_0(B\,W_{\mathrm{ov}}^*)$",
            sp.simplify(-sp.diff(loss, B)),
            strictly=True,
        ),
        identity("its limit as $B$ grows", sp.limit(loss, B, sp.oo), sp.Integer(0)),
    )


@lru_cache
def law_is_inside(half: int = 2, quarter: int = 4) -> tuple[Shown, ...]:
    """The bounds of Proposition 1 leave room for norm t eta_0, cosine 1 and rate eta_0 / ||W*||.

    With n = 2 + k and t = 2 + u; each difference is written so that its sign can be read off.

    Args:
        half: the 2 of the lower bound on the norm.
        quarter: the 4 of the stated rate.
    """
    import sympy as sp

    k, u = sp.symbols("k u", nonnegative=True)
    eta0 = sp.symbols("eta_0", positive=True)
    star, t = sp.sqrt(1 + k), 2 + u
    room = t * eta0 - t * eta0 / (half * star)
    seen = t * eta0 * (4 * k + 3) / (2 * star * (2 * star + 1))
    turn = 12 * star**3 * sp.log(2 * (2 + k)) * sp.log(t) / (t * eta0)
    return (
        identity(r"$t\eta_0 - t\eta_0/(2\|W^*\|)$", room, seen),
        at_least_zero("this difference", seen),
        at_least_zero(r"the bound on $1 - \cos$", turn),
        at_least_zero("rate minus stated rate", t * eta0 / star - t * eta0 / (quarter * star)),
    )


@lru_cache
def margin_by_the_printed_A(four: int = 4) -> tuple[Shown, ...]:
    """The margin T eta_0 / ||W*|| is 4 sqrt(n - 1) A, which is at least A.

    Args:
        four: the 4 of the claim.
    """
    import sympy as sp

    k, T = sp.symbols("k T", nonnegative=True)
    eta0 = sp.symbols("eta_0", positive=True)
    star = sp.sqrt(1 + k)
    A = T * eta0 / (4 * star**2)
    return (
        identity("margin", T * eta0 / star, four * star * A),
        at_least_zero(r"square of $4\sqrt{n - 1}$, minus 1", sp.expand((4 * star) ** 2 - 1)),
    )


@lru_cache
def one_over_t(factor: str = "1") -> tuple[Shown, ...]:
    """1/t <= log t - log(t - 1) for t > 1: with s = 1/t, equal at 0 and of the larger slope.

    Args:
        factor: of 1/t.
    """
    import sympy as sp

    s, u = sp.symbols("s u", positive=True)
    rise = -sp.log(1 - s) - sp.sympify(factor) * s
    slope = sp.simplify(sp.diff(rise, s).subs(s, 1 / (1 + u)))
    return (
        identity(r"$-\log(1 - s) - s$ at $s = 0$", rise.subs(s, 0), sp.Integer(0)),
        at_least_zero(r"the slope of $-\log(1 - s) - s$ at $s = 1/(1 + u)$", slope),
    )


@lru_cache
def gain_of_the_norm(share: int = 2) -> tuple[Shown, ...]:
    """a - b <= eta p + eta^2 / (2 b), b and a being the norms before and after a step.

    The step has the length eta and the cosine p with W, so that a^2 = b^2 + 2 b eta p + eta^2.

    Args:
        share: the 2 of eta^2 / (2 b).
    """
    import sympy as sp

    a, b, eta = sp.symbols("a b eta", positive=True)
    p = sp.symbols("p", real=True)
    found = sp.solve(b**2 + 2 * b * eta * p + eta**2 - a**2, p)[0]
    room = sp.factor(eta * found + eta**2 / (share * b) - (a - b))
    return (
        identity(r"$\eta p + \eta^2/(2b) - (a - b)$", room, (a - b) ** 2 / (2 * b)),
        at_least_zero("$(a - b)^2/(2b)$", (a - b) ** 2 / (2 * b)),
    )


@lru_cache
def part_of_the_gain(share: str = "1") -> tuple[Shown, ...]:
    """p / (1 + alpha) >= p - alpha / (1 + alpha) for p <= 1.

    Args:
        share: of alpha / (1 + alpha).
    """
    import sympy as sp

    alpha, less = sp.symbols("alpha less", nonnegative=True)
    p = 1 - less
    room = sp.factor(p / (1 + alpha) - p + sp.sympify(share) * alpha / (1 + alpha))
    return (at_least_zero(r"left minus right, $p = 1 - \text{less}$", room),)


@lru_cache
def step_along_the_optimum(lost: float = 1) -> tuple[Shown, ...]:
    """The inequality of one step from Lemma 2 and the growth of the norm.

    By Lemma 2 a step has the component p / (1 + alpha) + more along W*, p = 1 - less being its
    cosine with W; the norm b grows by eta p + eta^2 / (2 b) - gain.

    Args:
        lost: the sign of the two terms that are subtracted; 1 in truth.
    """
    import sympy as sp

    alpha, less, more, gain, b, eta = sp.symbols("alpha less more gain b eta", nonnegative=True)
    p = 1 - less
    growth = eta * p + eta**2 / (2 * b) - gain
    right = growth - lost * (eta**2 / (2 * b) + eta * alpha / (1 + alpha))
    return (at_most("the right side", right, eta * (p / (1 + alpha) + more)),)


@lru_cache
def alpha_by_itself(power: int = 1) -> tuple[Shown, ...]:
    """alpha / (1 + alpha) <= alpha for alpha >= 0.

    Args:
        power: of the alpha on the right.
    """
    import sympy as sp

    alpha = sp.symbols("alpha", nonnegative=True)
    return (at_most(r"$\alpha/(1 + \alpha)$", alpha / (1 + alpha), alpha**power),)


@lru_cache
def sums_over_the_steps(first: float = 4, second: float = 4) -> tuple[Shown, ...]:
    """The sums of 1 / (t' eta_0) and alpha over 2 <= t' < t, by induction over t, and ||W*|| >= 1.

    The sum of 1/t' is empty at t = 2 and at most log(t - 1): one more term adds at most
    log t - log(t - 1). By the law alpha is 2 s l / (t' eta_0) with s = ||W*|| and l = log(2 |V|).

    Args:
        first: the factor of s log t / eta_0.
        second: the factor of s^2 l log t / eta_0.
    """
    import sympy as sp

    before, rise, short, less = sp.symbols("before rise short less", nonnegative=True)
    d, length, log_t, eta0 = sp.symbols("d l logarithm eta_0", nonnegative=True)
    s, total = 1 + d, log_t - short  # the sum of 1/t' is at most log(t - 1), and so at most log t
    alphas = total * 2 * s * length / eta0
    return (
        at_most("one more term, $1/t$", (before - short) + (rise - less), before + rise),
        at_most(r"the sum of $1/(t'\eta_0)$", total / eta0, first * s * log_t / eta0),
        at_most(r"the sum of $\alpha_{t'}$", alphas, second * s**2 * length * log_t / eta0),
    )


@lru_cache
def last_line(last: int = 6) -> tuple[Shown, ...]:
    """2 eta_0 + 2 eta_0 s log t + 4 s^2 l log t <= 6 s^2 l log t, l = log(2 |V|), 2 eta_0 <= s.

    With 2 eta_0 = s - less, s = 1 + d, l = log 4 + m and log t = log 2 + u every coefficient of the
    difference is positive; |V| and t are at least 2.

    Args:
        last: the 6 of the right side.
    """
    import sympy as sp

    d, m, u, less = sp.symbols("d m u less", nonnegative=True)
    s, length, log_t = 1 + d, sp.log(4) + m, sp.log(2) + u
    left = (s - less) * (1 + s * log_t) + 4 * s**2 * length * log_t
    room = sp.expand(last * s**2 * length * log_t - left)
    least = min(signed_coefficients(room))
    return (at_least_zero("the smallest coefficient of right side minus left side", least),)


@lru_cache
def attention_on_one_token(others: int = 0) -> tuple[Shown, ...]:
    """A sentence of one token has the attention 1 on it, whatever its score.

    Args:
        others: sum of the exponentials of other scores.
    """
    import sympy as sp

    score = sp.symbols("score", real=True)
    weight = sp.exp(score) / (sp.exp(score) + others)
    return (identity("the weight of the only token", weight, sp.Integer(1)),)
