"""Checks of the decoder of Tian et al. (2023): equation (7) and its critical points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023.classes import SequenceClasses, attention_scores, random_classes, unit_scores
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

SIZES = ((5, 2), (12, 3), (40, 10), (150, 20), (400, 50))  # M and K of the random instances
TINY = 1e-30  # the imaginary step of a derivative, whose square is nothing


def instances(
    seed: int, rounds: int = 2, etas: tuple[float, ...] = (0.01, 0.2, 2.0)
) -> Iterator[tuple[str, SequenceClasses, Floats, Floats, float]]:
    """Random classes, scores z, decoders Y and learning rates, from small to large.

    Yields:
        name, classes, the (K, M) array of the f_n, Y of shape (M, M), eta_Y.
    """
    for M, K in SIZES:
        for number in range(rounds):
            rng = np.random.default_rng((seed, M, number))
            common = int(rng.integers(1, 3))
            classes = random_classes(rng, K, M, common, 1, common_mass=float(rng.uniform(0.1, 0.6)))
            f = unit_scores(classes, rng.normal(size=(1, M)))
            Y = rng.normal(size=(M, M)) * 10.0 ** rng.uniform(-2, 1)
            for eta in etas[: 1 if M > 100 else None]:
                yield f"M = {M}, K = {K}, eta = {eta:g}, draw {number}", classes, f, Y, eta


def log_likelihood(w: NDArray[np.complex128], n: int) -> complex:
    """log softmax(w)_n for complex logits."""
    top = w.real.max()
    return complex(w[n] - top - np.log(np.exp(w - top).sum()))


def softmax_residual(w: Floats, n: int) -> Floats:
    """e_n - softmax(w), its entry n as the sum of the other probabilities."""
    weights = np.exp(w - w.max())
    out = -weights / weights.sum()
    out[n] = np.delete(weights, n).sum() / weights.sum()
    return np.asarray(out)


# Equation (7)


@cache
def likelihood_gradient_holds() -> bool:
    """d/dY_(l,j) of log softmax(Y^T f)_n is f_l (delta_nj - alpha_j), whatever M is.

    The entries Y_ln and Y_lj of one row are symbols; all other summands of the two logits, and the
    weight of all other tokens, are arbitrary.
    """
    import sympy as sp

    f, y_n, y_j, a, b = sp.symbols("f y_n y_j a b", real=True)
    rest = sp.Symbol("rest", positive=True)
    w_n, w_j = f * y_n + a, f * y_j + b
    total = sp.exp(w_n) + sp.exp(w_j) + rest
    J = w_n - sp.log(total)
    at_n = sp.diff(J, y_n) - f * (1 - sp.exp(w_n) / total)
    at_j = sp.diff(J, y_j) + f * sp.exp(w_j) / total
    return bool(sp.simplify(at_n) == 0 and sp.simplify(at_j) == 0)


def check_tian2023_eq_7(seed: int = 7, normalised: bool = True) -> Check:
    """(7) is the gradient of the likelihood (2) at fixed attention.

    Args:
        seed: of the random instances.
        normalised: whether f_n is c_n / |c_n|, as the paper has it, or c_n itself.
    """

    def cases() -> Iterator[Case]:
        for name, classes, f, Y, _ in instances(seed):
            c = attention_scores(classes)
            inputs = c / np.linalg.norm(c, axis=1, keepdims=True)  # LN of the limit
            printed = inputs if normalised else c
            rng = np.random.default_rng(seed)
            D = rng.normal(size=Y.shape)
            for n in range(min(len(f), 5)):
                moved = inputs[n] @ (Y + 1j * TINY * D)
                derivative = log_likelihood(moved, n).imag / TINY
                residual = softmax_residual(inputs[n] @ Y, n)
                terms = np.outer(printed[n], residual) * D
                scale = float(np.abs(terms).sum())
                yield Case(f"{name}, class {n}", -abs(derivative - float(terms.sum())) / scale)

    return judge(
        "tian2023-eq-7",
        cases(),
        unit="random classes, decoders and directions",
        claim="f_n (e_n - alpha_n)^T is the derivative of the log-likelihood for symbolic entries "
        "of Y and any rest of the vocabulary, and agrees with complex-step derivatives",
        tolerance=1e-13,  # sums of up to 400 x 400 rounded terms, relative to their sizes
        parameters={"seed": seed},
        by_hand=(
            "LN(X^T b) tends to c_n / |c_n| because X^T b tends to c_n (Lemma 2), which is not 0",
        ),
        proved=likelihood_gradient_holds(),
    )


def control_tian2023_eq_7(seed: int = 7) -> Control:
    """Scores that are not normalised."""
    return Control(
        "c_n in the place of f_n in the update.",
        Verdict.REFUTED,
        check_tian2023_eq_7(seed, normalised=False).verdict,
    )


# Critical points


@cache
def missing_probability_is_positive() -> bool:
    """1 - alpha_nn = S / (e^w + S) > 0, and at least (M - 1) / (M - 1 + e^D).

    S is the weight of the M - 1 other tokens; if none of their logits is more than D below w, then
    S >= (M - 1) e^(w - D), and S / (e^w + S) grows with S.
    """
    import sympy as sp

    w, D = sp.symbols("w D", real=True)
    S = sp.Symbol("S", positive=True)
    M = sp.Symbol("M", positive=True)
    share = S / (sp.exp(w) + S)
    q = sp.Symbol("q", positive=True)
    at_least = share.subs(S, q * sp.exp(w - D)).subs(q, M - 1) - (M - 1) / (M - 1 + sp.exp(D))
    grows = sp.simplify(sp.diff(share, S) - sp.exp(w) / (sp.exp(w) + S) ** 2) == 0
    return bool(share.is_positive and grows and sp.simplify(at_least) == 0)


def check_tian2023_app_critical(seed: int = 7, spread: float = 1.0) -> Check:
    """At finite Y the gradient of the mean log-likelihood has a positive lower bound.

    Args:
        seed: of the random instances.
        spread: factor of the largest logit gap D in the bound; 1 is right.
    """

    def cases() -> Iterator[Case]:
        for name, _, f, Y, eta in instances(seed):
            K, M = f.shape
            trained = f.T @ np.linalg.solve(f @ f.T, 10 * eta * np.eye(K, M))  # w_n = 10 eta e_n
            for kind, decoder in (("random", Y), ("trained", trained)):
                logits = f @ decoder
                residuals = np.array([softmax_residual(logits[n], n) for n in range(K)])
                gap = logits[np.arange(K), np.arange(K)] - logits.min(axis=1)
                missing = (M - 1) / (M - 1 + np.exp(spread * gap))
                for n in range(K):
                    found = residuals[n, n]
                    yield Case(f"{name}, {kind} Y, class {n}", float(1 - missing[n] / found))
                whole = float(np.linalg.norm(f.T @ residuals))  # sum over the classes
                bound = np.linalg.svd(f, compute_uv=False)[-1] * np.linalg.norm(missing)
                yield Case(f"{name}, {kind} Y, all classes", float(1 - bound / whole))

    check = judge(
        "tian2023-app-critical",
        cases(),
        unit="gradients",
        claim="A probability 1 - alpha_nn that is missing is S / (e^w + S) with S > 0, in symbols, "
        "at least (M - 1) / (M - 1 + e^D) where logits differ by at most D, and no gradient is "
        "smaller than this times the least singular value of F",
        tolerance=1e-9,  # logits of trained decoders come from a linear system; the bound is tight
        parameters={"seed": seed},
        by_hand=(
            "a sum of outer products of independent vectors f_n with rows r_n vanishes only if all "
            "r_n do",
            "finitely many steps of finite size from Y = 0 leave Y finite",
        ),
        proved=missing_probability_is_positive(),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    return replace(
        check,
        readings=(
            Reading("no finite Y makes the gradient of each single class vanish", check.verdict),
            Reading(
                "no finite Y makes the gradient of the mean over all classes vanish, F having full "
                "column rank (Assumption 2)",
                check.verdict,
            ),
        ),
    )


def control_tian2023_app_critical(seed: int = 7) -> Control:
    """A bound that asks for more than is there."""
    return Control(
        "D/2 in the place of D in the exponent of the lower bound.",
        Verdict.REFUTED,
        check_tian2023_app_critical(seed, spread=0.5).verdict,
    )
