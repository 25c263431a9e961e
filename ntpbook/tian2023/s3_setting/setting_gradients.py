"""Checks of Section 3.1: Lemma 1, equations (3) and (4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s3_setting import setting_symbols as symbols
from ntpcore.tian2023 import layer
from ntpcore.tian2023.layer import Sample
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]
Gradients = Callable[[Sample, Floats, Floats], tuple[Floats, Floats]]
Row = Callable[[Sample, Floats, Floats], Floats]

STEP = 1e-30  # along the imaginary axis: no difference is taken, so nothing cancels
ROUNDING = 1e-13  # a few hundred roundings of numbers near one, relative to the largest of Y
BY_HAND = (
    "the chain rule: the differential of the likelihood is the product of the three derivatives "
    "that sympy finds (log-softmax, normalisation, softmax)",
    "the part -b b^T of the derivative of the softmax drops out, since b^T X P = (X^T b)^T P = 0",
)


def imaginary_gradients(sample: Sample, Y: Floats, Z: Floats) -> tuple[Floats, Floats]:
    """The derivatives of the likelihood by Y and by Z, entry by entry along the imaginary axis."""
    out = []
    for which in range(2):
        found = np.zeros_like(Y)
        for place in np.ndindex(*Y.shape):
            moved = [Y.astype(complex), Z.astype(complex)]
            moved[which][place] += STEP * 1j
            found[place] = layer.log_likelihood(sample, *moved).imag / STEP
        out.append(found)
    return out[0], out[1]


def _weights(
    rng: np.random.Generator, M: int, length: int, heat: float
) -> tuple[Sample, Floats, Floats]:
    """A random sequence with random Y and Z whose entries are of the size `heat`."""
    sample = layer.random_sample(rng, M, length)
    return sample, heat * rng.normal(size=(M, M)), heat * rng.normal(size=(M, M))


def _error(found: Floats, expected: Floats, scale: float) -> float:
    """Largest difference relative to the size of the terms that enter."""
    return float(np.abs(found - expected).max()) / scale


def check_tian2023_lem_1(
    cases: int = 200, seed: int = 7, formula: Gradients = layer.gradients
) -> Check:
    """Both gradients of Lemma 1 are the derivatives of the likelihood of one sequence.

    Args:
        cases: number of random sequences.
        seed: of the sequences and weights.
        formula: what is compared with the derivatives.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, length = 2 + number % 5, 1 + number % 9
            sample, Y, Z = _weights(rng, M, length, (0.1, 1.0, 3.0)[number % 3])
            expected, found = imaginary_gradients(sample, Y, Z), formula(sample, Y, Z)
            scale = max(1.0, float(np.abs(Y).max()))
            error = max(_error(a, b, scale) for a, b in zip(found, expected, strict=True))
            yield Case(f"M = {M}, {length} contextual tokens, case {number}", -error)

    return _judged(
        "tian2023-lem-1",
        instances(),
        unit="random sequences",
        claim="With batch size 1 the gradient of (2) by Y and by Z is (3)",
        parameters={"cases": cases, "seed": seed},
        proved=_derivatives_are_symbolic(),
    )


def _derivatives_are_symbolic() -> bool:
    """The three derivatives that the chain rule multiplies, and the part that drops out."""
    return (
        symbols.likelihood_slope()
        and symbols.unit_jacobian()
        and symbols.softmax_jacobian()
        and symbols.centre_drops()
    )


def _judged(
    label: str,
    cases: Iterable[Case],
    *,
    unit: str,
    claim: str,
    parameters: dict[str, int],
    proved: bool,
    by_hand: tuple[str, ...] = BY_HAND,
) -> Check:
    """`judge` with the tolerance of this page, and the worst error as a number."""
    return with_error(
        judge(
            label,
            cases,
            unit=unit,
            claim=claim,
            tolerance=ROUNDING,
            parameters=parameters,
            by_hand=by_hand,
            proved=proved,
        )
    )


def with_error(check: Check) -> Check:
    """The worst error as a number of its own, without its sign."""
    size = abs(float(check.numbers["worst"]))
    return replace(check, numbers={**check.numbers, "error": f"{size:.0e}"})


def control_tian2023_lem_1() -> Control:
    """Without the projection the gradient by Z is not a derivative."""

    def unprojected(sample: Sample, Y: Floats, Z: Floats) -> tuple[Floats, Floats]:
        dY, _ = layer.gradients(sample, Y, Z)
        X = layer.one_hot(sample.context, len(Y))
        v = X.T @ layer.attention(X, Z[sample.query])
        error = np.eye(len(Y))[sample.following] - layer.softmax(Y.T @ layer.unit(v))
        row = v / np.linalg.norm(v) * (Y @ error)
        return dY, np.outer(np.eye(len(Y))[sample.query], row)

    return Control(
        "The projection left out of the gradient by Z.",
        Verdict.REFUTED,
        check_tian2023_lem_1(cases=20, formula=unprojected).verdict,
    )


def check_tian2023_eq_3(
    cases: int = 60, seed: int = 7, formula: Gradients = layer.gradients
) -> Check:
    """The formulas (3), as printed, along random directions, for long sequences and many tokens.

    Args:
        cases: number of random sequences.
        seed: of sequences, weights and directions.
        formula: the right-hand sides for learning rates 1.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, length = (5, 20, 80)[number % 3], (1, 10, 100, 600)[number % 4]
            sample, Y, Z = _weights(rng, M, length, 1.0)
            dY, dZ = formula(sample, Y, Z)
            for which, slope in (("Y", dY), ("Z", dZ)):
                direction = rng.normal(size=(M, M))
                step = STEP * 1j * direction
                moved = (Y + step, Z) if which == "Y" else (Y, Z + step)
                expected = float(layer.log_likelihood(sample, *moved).imag) / STEP
                found = float((slope * direction).sum())
                scale = max(1.0, float(np.abs(slope * direction).sum()))
                name = f"{which}, M = {M}, {length} contextual tokens, case {number}"
                yield Case(name, -abs(found - expected) / scale)

    return _judged(
        "tian2023-eq-3",
        instances(),
        unit="random directions",
        claim="The formulas (3) give the slope of the likelihood along a direction",
        parameters={"cases": cases, "seed": seed},
        proved=_derivatives_are_symbolic(),
    )


def control_tian2023_eq_3() -> Control:
    """The transpose of Y is easily forgotten in the formula for Z."""

    def transposed(sample: Sample, Y: Floats, Z: Floats) -> tuple[Floats, Floats]:
        dY, dZ = layer.gradients(sample, Y, Z)
        X = layer.one_hot(sample.context, len(Y))
        f = layer.unit(X.T @ layer.attention(X, Z[sample.query]))
        g = Y.T @ (np.eye(len(Y))[sample.following] - layer.softmax(Y.T @ f))
        dZ[sample.query] = f * (g - f * (f @ g))
        return dY, dZ

    return Control(
        "Y instead of its transpose in the formula for Z.",
        Verdict.REFUTED,
        check_tian2023_eq_3(cases=12, formula=transposed).verdict,
    )


def check_tian2023_eq_4(
    cases: int = 200, seed: int = 7, formula: Row = layer.row_gradient
) -> Check:
    """One row of Z moves, by (4), which is f * (g - f (f . g)); the other rows do not enter.

    Args:
        cases: number of random sequences.
        seed: of sequences and weights.
        formula: the right-hand side of (4) for learning rate 1.
    """

    def instances() -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, length = 2 + number % 7, 1 + number % 12
            sample, Y, Z = _weights(rng, M, length, 1.0)
            m = sample.query
            _, dZ = layer.gradients(sample, Y, Z)
            others = np.delete(dZ, m, axis=0)
            stirred = rng.normal(size=Z.shape)
            stirred[m] = Z[m]
            again = layer.gradients(sample, Y, stirred)[1][m]
            row = formula(sample, Y, Z[m])
            scale = max(1.0, float(np.abs(Y).max()))
            errors = [
                float(np.abs(others).max()),
                _error(again, dZ[m], scale),
                _error(row, dZ[m], scale),
                _error(layer.short_row_gradient(sample, Y, Z[m]), row, scale),
            ]
            yield Case(f"M = {M}, {length} contextual tokens, case {number}", -max(errors))

    return _judged(
        "tian2023-eq-4",
        instances(),
        unit="random sequences",
        claim="Only the row of the query moves, by (4), and no other row of Z enters",
        parameters={"cases": cases, "seed": seed},
        by_hand=("the row of (3) at the query, transposed", *BY_HAND),
        proved=symbols.counts_are_diagonal() and symbols.centre_drops(),
    )


def control_tian2023_eq_4() -> Control:
    """Without the norm in the denominator the row is too short."""

    def unscaled(sample: Sample, Y: Floats, z: Floats) -> Floats:
        X = layer.one_hot(sample.context, len(Y))
        v = X.T @ layer.attention(X, z)
        return layer.row_gradient(sample, Y, z) * float(np.linalg.norm(v))

    return Control(
        "The norm of X^T b left out of the denominator.",
        Verdict.REFUTED,
        check_tian2023_eq_4(cases=20, formula=unscaled).verdict,
    )
