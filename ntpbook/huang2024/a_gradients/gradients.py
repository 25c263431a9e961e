"""Checks of the page on the gradients: equations (5) and (6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s3_setup.checks import REPEATED
from ntpbook.shared import digits
from ntpbook.shared.digits import Numbers
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.verdicts.claims import Check, Control, Verdict
from ntpcore.verdicts.tables import Table

POINTS = "points"
STEP = 20  # h = 10^-20: an error of h^2 = 1e-40 by theory, and as much by rounding of 60 digits
FORMULA_TOLERANCE = 1e-30  # far above both errors of a difference quotient, see STEP
FLOAT_TOLERANCE = 1e-12  # some hundred operations on numbers of order one, each rounded at 2e-16


class Point(NamedTuple):
    """Where a gradient is compared: data, embedding (d, |V|) and both matrices.

    The numbers are such that floats hold them exactly, save those of a rotated embedding.
    """

    name: str
    data: Dataset
    following: tuple[int, ...]
    E: Numbers
    W_ov: Numbers
    W_kq: Numbers


def points(seed: int, trials: int) -> Iterator[Point]:
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
            yield Point(name, one, following, E, digits.exact(W_ov), digits.exact(W_kq))


def check_huang2024_eq_5(seed: int, trials: int, target: int = 1) -> Check:
    """The gradient of L_0, entry by entry for any size, and against differences of L_0."""
    return _check(
        "huang2024-eq-5",
        stage1_identities(target),
        lambda p, h: digits.central_differences(
            lambda W: digits.stage1_loss(p.following, W, p.E), p.W_ov, h
        ),
        lambda p: digits.stage1_gradient(p.following, p.W_ov, p.E, target),
        lambda p: transformer.stage1_gradient(
            {p.data.vocabulary[x]: p.data.vocabulary[v] for x, v in enumerate(p.following)},
            digits.as_floats(p.W_ov),
            digits.as_floats(p.E),
        ),
        seed,
        trials,
        by_hand=("the sum over tokens is differentiated term by term",),
    )


def control_huang2024_eq_5(seed: int) -> Control:
    """Without the next token the formula is the gradient of another function."""
    return Control(
        "The formula with T_0(x) alone, the vector of the next token left out.",
        Verdict.REFUTED,
        check_huang2024_eq_5(seed, 1, target=0).verdict,
    )


def check_huang2024_eq_6(seed: int, trials: int, outer: int = 1) -> Check:
    """The gradient of L by W_kq, by its parts for any size, and against differences of L."""
    return _check(
        "huang2024-eq-6",
        attention_identities(outer) | dict(_smallest_case(outer)),
        lambda p, h: digits.central_differences(
            lambda W: digits.loss(p.data, p.W_ov, W, p.E), p.W_kq, h
        ),
        lambda p: digits.attention_gradient(p.data, p.W_ov, p.W_kq, p.E, outer),
        lambda p: transformer.attention_gradient(
            p.data, *(digits.as_floats(M) for M in (p.W_ov, p.W_kq, p.E))
        ),
        seed,
        trials,
        by_hand=(
            "the sum over samples is differentiated term by term",
            "the chain rule multiplies the three derivatives",
        ),
    )


def control_huang2024_eq_6(seed: int) -> Control:
    """Without its second part the derivative of the inner softmax is wrong."""
    return Control(
        "The formula with diag(phi) alone, phi phi^T left out.",
        Verdict.REFUTED,
        check_huang2024_eq_6(seed, 1, outer=0).verdict,
    )


def _check(
    label: str,
    identities: dict[str, Any],
    differences: Callable[[Point, Any], Numbers],
    formula: Callable[[Point], Numbers],
    library: Callable[[Point], NDArray[np.float64]],
    seed: int,
    trials: int,
    *,
    by_hand: tuple[str, ...],
) -> Check:
    """Identities that must vanish, then formula and library against difference quotients."""
    broken = [f"{name}: {value}" for name, value in identities.items() if value != 0]
    worst, worst_float, tried = 0.0, 0.0, 0
    for point in points(seed, trials):
        tried += 1
        with mp.workdps(digits.DIGITS):
            true = differences(point, mp.mpf(10) ** -STEP)
            far = digits.relative_distance(formula(point), true)
        float_far = digits.relative_distance(digits.exact(library(point)), true)
        worst, worst_float = max(worst, far), max(worst_float, float_far)
        if far > FORMULA_TOLERANCE or float_far > FLOAT_TOLERANCE:
            broken.append(f"{point.name}: relative distance {max(far, float_far):.1e}")
            break
    if broken:
        evidence = "The formula is not the derivative of the loss."
        return Check(label, Verdict.REFUTED, tried, POINTS, evidence, witness=broken[0])
    return Check(
        label,
        Verdict.PROVED,
        tried,
        POINTS,
        f"{len(identities)} identities of sympy, with symbols for whatever the size adds, cover "
        f"every entry. At {tried} points the formula meets difference quotients to {worst:.0e}, "
        f"and our code, in floats, to {worst_float:.0e}.",
        numbers={
            "tried": str(tried),
            "worst": f"{worst:.0e}",
            "float": f"{worst_float:.0e}",
            "identities": str(len(identities)),
        },
        parameters={"seed": seed, "trials": trials},
        by_hand=by_hand,
    )


def stage1_identities(target: int = 1) -> dict[str, Any]:
    """The derivative of one term of L_0 by one entry of W_ov, minus that of (5).

    An entry w in row v meets the coordinate x of the token. The rest of the logit of v is a, and R
    stands for the exponentials of all other logits, however many there are.
    """
    import sympy as sp

    w, x, a, c = sp.symbols("w x a c", real=True)
    R = sp.symbols("R", positive=True)
    logit = w * x + a
    T = sp.exp(logit) / (sp.exp(logit) + R)
    total = sp.log(sp.exp(logit) + R)
    return {
        "row of the next token": sp.simplify(sp.diff(total - logit, w) - (T - target) * x),
        "another row": sp.simplify(sp.diff(total - c, w) - T * x),
    }


def attention_identities(outer: int = 1) -> dict[str, Any]:
    """The three derivatives that the chain rule multiplies, minus their parts of (6).

    R and a collect all that does not depend on the variable; Q is the exponential of the score at
    another position, which R contains.
    """
    import sympy as sp

    y, s, w, x, q, a, c = sp.symbols("y s w x q a c", real=True)
    R, Q = sp.symbols("R Q", positive=True)
    T, total = sp.exp(y) / (sp.exp(y) + R), sp.log(sp.exp(y) + R)
    own, other = sp.exp(s) / (sp.exp(s) + R + Q), Q / (sp.exp(s) + R + Q)
    return {
        "loss by the logit of the next token": sp.simplify(sp.diff(total - y, y) - (T - 1)),
        "loss by another logit": sp.simplify(sp.diff(total - c, y) - T),
        "weight by its own score": sp.simplify(sp.diff(own, s) - (own - outer * own**2)),
        "weight by another score": sp.simplify(sp.diff(other, s) + outer * other * own),
        "score by an entry": sp.simplify(sp.diff(x * w * q + a, w) - x * q),
    }


@lru_cache
def _smallest_case(outer: int) -> tuple[tuple[str, Any], ...]:
    """The whole of (6) for one sentence of two tokens, two classes, d = 2, all entries symbols.

    Exponentials are replaced by symbols, the outer ones first, so that what has to vanish is a
    polynomial.
    """
    import sympy as sp

    names = [[f"{name}{i}{j}" for i in (0, 1) for j in (0, 1)] for name in ("W", "K", "X")]
    W, K, X = (sp.Matrix(2, 2, [sp.Symbol(n, real=True) for n in row]) for row in names)

    def softmax(v: Any) -> Any:
        terms = [sp.exp(sp.expand(entry - v[0])) for entry in v]
        return sp.Matrix([term / sum(terms) for term in terms])

    phi = softmax(X.T * K * X[:, 1])
    T = softmax(W * X * phi)
    error = T - sp.Matrix([1, 0])
    G = X * (sp.diag(*phi) - outer * phi * phi.T) * X.T * W.T * error * X[:, 1].T
    left = []
    for place in (1, 3):  # both rows of one column
        rest = sp.diff(-sp.log(T[0]), K[place]) - G[place]
        while exponentials := rest.atoms(sp.exp):
            nested = [e for e in exponentials if e.args[0].has(sp.exp)]
            smallest = min(nested or exponentials, key=lambda e: e.count_ops())
            rest = rest.subs(smallest, sp.Dummy(positive=True))
        numerator = sp.expand(sp.fraction(sp.together(rest))[0])
        left.append((f"two tokens, entry {place}", 0 if numerator == 0 else "does not vanish"))
    return tuple(left)


def distances(point: Point, exponents: list[int], outer: int = 1) -> dict[str, list[float]]:
    """Relative distance of (5) and of (6) from difference quotients with step 10^-k, by k."""
    found: dict[str, list[float]] = {"(5)": [], "(6)": []}
    with mp.workdps(digits.DIGITS):
        five = digits.stage1_gradient(point.following, point.W_ov, point.E, outer)
        six = digits.attention_gradient(point.data, point.W_ov, point.W_kq, point.E, outer)
        for exponent in exponents:
            h = mp.mpf(10) ** -exponent
            true = digits.central_differences(
                lambda W: digits.stage1_loss(point.following, W, point.E), point.W_ov, h
            )
            found["(5)"].append(digits.relative_distance(five, true))
            true = digits.central_differences(
                lambda W: digits.loss(point.data, point.W_ov, W, point.E), point.W_kq, h
            )
            found["(6)"].append(digits.relative_distance(six, true))
    return found


def float_errors(gap: float, scales: list[float]) -> dict[str, list[float]]:
    """How far the direction of (6), computed in floats, is from the true one, on Example 1.

    Evaluated as printed, and as the training code does it, at W_kq = scale times W_kq_star.

    Args:
        gap: A, the margin of W_ov.
        scales: the scales.

    Returns:
        distances of unit vectors; 1 where the printed form gives a gradient of zero.
    """
    data = example_1()
    problem = from_dataset(data)
    size = problem.vocab_size
    W_ov = np.full((size, size), -gap / size)
    W_ov[problem.following, np.arange(size)] += gap
    found: dict[str, list[float]] = {"as printed": [], "without differences": []}
    for scale in scales:
        weights = scale * problem.W_kq_star
        W_kq = _dense(problem, weights)
        with mp.workdps(digits.DIGITS):
            args = digits.exact(W_ov), digits.exact(W_kq), digits.exact(np.eye(size))
            G = digits.attention_gradient(data, *args)
            true = digits.as_floats(G / digits.norm(G))
        G = transformer.attention_gradient(data, W_ov, W_kq, np.eye(size))
        length = float(np.sqrt((G**2).sum()))
        printed = G / length if length else 0 * G
        ours = _dense(problem, training.gradient(problem, weights, gap)[1])
        for name, value in (("as printed", printed), ("without differences", ours)):
            found[name].append(float(np.sqrt(((value - true) ** 2).sum())))
    return found


def errors_in_training(seed: int, datasets: int, steps: Sequence[int]) -> Table:
    """How far (6), evaluated as printed in floats, is from the true direction during training.

    The experiment of Section 7, at the exact iterates of stage 2. The reference is the direction
    that training uses; tests hold it against two hundred digits at the same steps.

    Args:
        seed: of the first data set.
        datasets: how many data sets, by consecutive seeds.
        steps: the steps at which to compare.
    """
    columns = []
    for number in range(seed, seed + datasets):
        setting = generate.experiment(number)
        problem = from_dataset(setting.data)
        gap = stage1.gap(problem.vocab_size, setting.steps1, setting.eta0)
        W_ov = gap * stage1.W_ov_star(problem.following)
        run, errors = None, []
        for step in steps:
            run = training.run(problem, step, setting.eta, gap, record=[step], state=run)
            weights = run.state.weights
            args = W_ov, _dense(problem, weights), np.eye(problem.vocab_size)
            printed = transformer.attention_gradient(setting.data, *args)
            length = float(np.sqrt((printed**2).sum())) or 1.0
            true = _dense(problem, training.gradient(problem, weights, gap)[1])
            errors.append(float(np.sqrt(((printed / length - true) ** 2).sum())))
        columns.append(errors)
    header = ("step t", *(f"data set {number + 1}" for number in range(datasets)))
    rows = zip(*columns, strict=True)
    cells = [
        (str(t), *(f"{error:.1e}" for error in row)) for t, row in zip(steps, rows, strict=True)
    ]
    return Table(header, tuple(cells))


def _dense(problem: Problem, entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries of W_kq as a matrix (token, query)."""
    W = np.zeros((problem.vocab_size, problem.vocab_size))
    W[problem.entry_token, problem.entry_query] = entries
    return W
