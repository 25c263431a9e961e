"""Checks of the page on the gradients: equations (5) and (6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s3_setup.checks import REPEATED
from ntpbook.shared import digits
from ntpbook.shared.digits import Numbers
from ntpbook.shared.symbols import identity
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import transformer
from ntpcore.huang2024.problem import from_dataset
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, holds, most
from ntpverdicts.once import once
from ntpverdicts.vocabulary import check, executed

STEP = 20  # h = 10^-20: an error of h^2 = 1e-40 by theory, and as much by rounding of 60 digits
IN_DIGITS = 1e-30  # far above both errors of a difference quotient, see STEP
IN_FLOATS = 1e-12  # some hundred operations on numbers of order one, each rounded at 2e-16
DIFFERENCES = "the error h^2 of difference quotients"


@dataclass(frozen=True, eq=False)
class GradientPoint:
    """Where a gradient is compared: data, embedding (d, |V|) and both matrices.

    The numbers are such that floats hold them exactly, save those of a rotated embedding.
    """

    name: str
    data: Dataset
    following: tuple[int, ...]
    E: Numbers
    W_ov: Numbers
    W_kq: Numbers


def points(seed: int = 7, trials: int = 2) -> Iterator[GradientPoint]:
    """Example 1, once with repetitions, and random data, each with three kinds of tokens.

    The tokens are one-hot vectors, then those rotated, then vectors in general position in a space
    with one dimension more; neither (5) nor (6) needs Assumption 2.
    """
    rng = np.random.default_rng(seed)
    data = [example_1(), from_sentences(REPEATED, "Example 1 with repetitions")]
    for number in range(trials):
        closed = number % 2 == 0
        data.append(generate.random_dataset(rng, 4, 4, 3, prefix_closed=closed))
    for one in data:
        size = len(one.vocabulary)
        embeddings = {
            "one-hot": digits.exact(np.eye(size)),
            "rotated": digits.rotation(rng, size),
            "general": digits.exact(rng.normal(size=(size + 1, size))),
        }
        following = tuple(int(x) for x in from_dataset(one).following)
        for kind, E in embeddings.items():
            d = len(E)
            W_ov, W_kq = rng.normal(size=(size, d)), rng.normal(size=(d, d))
            name = f"{one.name}, {kind} tokens"
            yield GradientPoint(name, one, following, E, digits.exact(W_ov), digits.exact(W_kq))


def _compare(
    loss: Callable[[Numbers], Any], at: Numbers, formula: Numbers, library: NDArray[np.float64]
) -> Iterator[Said]:
    """Relative distances of a formula and of our code from difference quotients of the loss."""
    with mp.workdps(digits.DIGITS):
        true = digits.central_differences(loss, at, mp.mpf(10) ** -STEP)
        far = digits.relative_distance(formula, true)
    yield _within(far, IN_DIGITS, "the formula, in sixty digits")
    in_floats = digits.relative_distance(digits.exact(library), true)
    yield _within(in_floats, IN_FLOATS, "our code, in floats")
    yield most("distance", far, 1, DIFFERENCES)


def _within(far: float, limit: float, what: str) -> Said:
    """Whether a distance is one of rounding; what is too far away says how far."""
    close = far <= limit
    return holds(close, what if close else f"{what}: relative distance {far:.1e}")


# Equation (5)


@once
def gradient_of_stage_1(target: int = 1) -> tuple[Shown, ...]:
    """The derivative of L_0 by one entry of W_ov, for any number of tokens and any |V|, d.

    An entry w in row v meets the coordinate x[k] of token k. The rest of the logit of v is a[k],
    R[k] stands for the exponentials of all other logits, hit[k] is 1 where v is n of token k and
    else 0, and c[k] is the logit of n of token k where it is another.

    Args:
        target: what is subtracted from the probability of the next token.
    """
    import sympy as sp

    w = sp.Symbol("w", real=True)
    k, tokens = sp.Symbol("k", integer=True), sp.Symbol("n", integer=True, positive=True)
    x, a, c, hit = (sp.IndexedBase(name, real=True) for name in ("x", "a", "c", "hit"))
    R = sp.IndexedBase("R", positive=True)
    logit = w * x[k] + a[k]
    own = hit[k] * logit + (1 - hit[k]) * c[k]  # the logit of n of token k
    loss = sp.Sum(sp.log(sp.exp(logit) + R[k]) - own, (k, 1, tokens))
    T = sp.exp(logit) / (sp.exp(logit) + R[k])
    formula = sp.Sum((T - target * hit[k]) * x[k], (k, 1, tokens))
    return (identity("entry of (5)", sp.diff(loss, w), formula, expand=False),)


@check(
    "huang2024-eq-5",
    over="choices of data and matrices",
    instances=points,
    says="Symbolic differentiation gives formula (5) for every entry, for vocabularies and "
    "embeddings of any size. For {tried} choices of data and matrices, formula (5) agrees with "
    "difference quotients to a relative error of at most {distance}, and with the code of this "
    "book up to rounding.",
    fails="Formula (5) is not the derivative of the loss.",
    proof=(
        executed(
            "the derivative of the loss of stage 1 with respect to one entry, for any number of "
            "tokens",
            gradient_of_stage_1,
        ),
    ),
    planted={
        "$T_0(x)$ without the one-hot vector of the next token subtracted.": {"target": 0},
        "The one-hot vector of the token itself in place of that of the next token.": {"own": True},
    },
)
def check_huang2024_eq_5(one: GradientPoint, target: int = 1, own: bool = False) -> Iterator[Said]:
    """dL_0 = sum over tokens of (T_0(x) - e_n(x)) x^T."""
    following = tuple(range(len(one.following))) if own else one.following
    names = one.data.vocabulary
    n = {names[x]: names[v] for x, v in enumerate(one.following)}
    with mp.workdps(digits.DIGITS):
        formula = digits.stage1_gradient(following, one.W_ov, one.E, target)
    yield from _compare(
        lambda W: digits.stage1_loss(one.following, W, one.E),
        one.W_ov,
        formula,
        transformer.stage1_gradient(n, digits.as_floats(one.W_ov), digits.as_floats(one.E)),
    )


# Equation (6)


@once
def gradient_of_stage_2(outer: int = 1, share: int = 1) -> tuple[Shown, ...]:
    """The derivative of the loss by one entry of W_kq, for any length, any |V| and d.

    An entry w of W_kq adds w x[l] q to the score of position l, x[l] being a coordinate of its
    token and q one of the query. E[l] is the exponential of the score without it, u[v, l] the logit
    that position l alone gives to v, and o the next token. The sum over the samples comes last.

    Args:
        outer: what multiplies phi phi^T.
        share: power of the frequency of a sample.
    """
    import sympy as sp

    w, q = sp.symbols("w q", real=True)
    l, v, i = sp.symbols("l v i", integer=True)  # noqa: E741 (a position)
    L, V, o, N = sp.symbols("L V o N", integer=True, positive=True)
    E, pi = sp.IndexedBase("E", positive=True), sp.IndexedBase("pi", positive=True)
    x, u = sp.IndexedBase("x", real=True), sp.IndexedBase("u", real=True)

    def positions(term: Any) -> Any:
        return sp.Sum(term, (l, 1, L))

    # from the definition again, in symbols: it judges equation (6)
    top = E[l] * sp.exp(w * x[l] * q)
    logit = {
        v: positions(u[v, l] * top) / positions(top),
        o: positions(u[o, l] * top) / positions(top),
    }
    loss = sp.log(sp.Sum(sp.exp(logit[v]), (v, 1, V))) - logit[o]

    def column(r: Any) -> Any:
        """Row r of W_ov X (diag(phi) - phi phi^T) X^T, at the coordinate of x, times q."""
        mean = positions(E[l] * x[l]) / positions(E[l])
        vote = positions(u[r, l] * E[l]) / positions(E[l])
        return (positions(u[r, l] * E[l] * x[l]) / positions(E[l]) - outer * vote * mean) * q

    powers = sp.exp(positions(u[v, l] * E[l]) / positions(E[l]))
    formula = sp.Sum(powers * column(v), (v, 1, V)) / sp.Sum(powers, (v, 1, V)) - column(o)
    of_sample = sp.Function("loss")
    whole = sp.Sum(pi[i] * of_sample(i, w), (i, 1, N))
    terms = sp.Sum(pi[i] ** share * sp.diff(of_sample(i, w), w), (i, 1, N))
    return (
        identity("entry of (6), one sample", sp.diff(loss, w).subs(w, 0), formula, expand=False),
        identity("the sum over samples", sp.diff(whole, w), terms, expand=False),
    )


@once
def smallest_case(outer: int = 1) -> tuple[Shown, ...]:
    """One column of (6) for one sentence of two tokens, |V| = 2 and d = 2, all entries symbols.

    Exponentials are replaced by symbols, the outer ones first, so that what has to vanish is a
    polynomial.
    """
    import sympy as sp

    names = [[f"{name}{i}{j}" for i in (0, 1) for j in (0, 1)] for name in ("W", "K", "X")]
    W, K, X = (sp.Matrix(2, 2, [sp.Symbol(n, real=True) for n in row]) for row in names)

    def softmax(v: Any) -> Any:
        terms = [sp.exp(sp.expand(entry - v[0])) for entry in v]
        return sp.Matrix([term / sum(terms) for term in terms])

    # the dense form again, in symbols: its derivative is taken
    phi = softmax(X.T * K * X[:, 1])
    T = softmax(W * X * phi)
    error = T - sp.Matrix([1, 0])
    G = X * (sp.diag(*phi) - outer * phi * phi.T) * X.T * W.T * error * X[:, 1].T
    found = []
    for place in (1, 3):  # both rows of one column
        rest = sp.diff(-sp.log(T[0]), K[place]) - G[place]
        while exponentials := rest.atoms(sp.exp):
            nested = [e for e in exponentials if e.args[0].has(sp.exp)]
            smallest = min(nested or exponentials, key=lambda e: e.count_ops())
            rest = rest.subs(smallest, sp.Dummy(positive=True))
        numerator = sp.expand(sp.fraction(sp.together(rest))[0])
        zero = numerator == 0
        name = f"two tokens, entry $K_{{{(place - 1) // 2}1}}$ of $W_{{\\mathrm{{kq}}}}$"
        left = "0" if zero else "a polynomial that is not 0"
        found.append(Shown(name, r"$-d \log T_0 / dK$", "=", "(6)", left, bool(zero)))
    return tuple(found)


@check(
    "huang2024-eq-6",
    over="choices of data and matrices",
    instances=points,
    says="Symbolic differentiation gives formula (6) for every entry, for vocabularies and "
    "embeddings of any size and sentences of any length. For {tried} choices of data and "
    "matrices, formula (6) agrees with difference quotients to a relative error of at most "
    "{distance}, and with the code of this book up to rounding.",
    fails="Formula (6) is not the derivative of the loss.",
    proof=(
        executed(
            "the derivative of the loss of one sample of any length with respect to one entry, "
            "and the sum over samples",
            gradient_of_stage_2,
            planted={"The frequency of a sample squared.": {"share": 2}},
        ),
        executed(
            "a second derivation of (6): the formula in matrices, for one sentence of two tokens "
            r"with $d = |\mathcal V| = 2$, and for the two entries of one column",
            smallest_case,
        ),
    ),
    planted={
        r"$\mathrm{diag}(\phi_n)$ in place of $\mathrm{diag}(\phi_n) - \phi_n\phi_n^\top$.": {
            "outer": 0
        },
        "The same frequency for every distinct sentence.": {"weighted": False},
    },
)
def check_huang2024_eq_6(
    one: GradientPoint, outer: int = 1, weighted: bool = True
) -> Iterator[Said]:
    """dL = sum pi X (diag(phi) - phi phi^T) X^T W_ov^T (T - p) x_L^T."""
    data = one.data
    if not weighted:
        data = from_samples(((s.sentence, s.next_token) for s in data.samples()), data.name)
    floats = (digits.as_floats(M) for M in (one.W_ov, one.W_kq, one.E))
    with mp.workdps(digits.DIGITS):
        formula = digits.attention_gradient(data, one.W_ov, one.W_kq, one.E, outer)
    yield from _compare(
        lambda W: digits.loss(one.data, one.W_ov, W, one.E),
        one.W_kq,
        formula,
        transformer.attention_gradient(one.data, *floats),
    )
