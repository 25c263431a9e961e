"""Checks of Lemmas 13 to 17 and of equation (90): the spectra of E and E'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s4_gradient import gradient_steps as steps
from ntpcore.tian2023.classes import E_prime
from ntpcore.tian2023.gradient import random_correlations
from ntpcore.verdicts.claims import Check, Control, Verdict

Floats = NDArray[np.float64]

UNIT = "matrices E"
SPECTRAL = "the spectral theorem: functions of E act on its eigenvalues"
ROUNDING = 1e-9  # condition of I + E is at most 400 here; its inverse loses four digits of 16


@dataclass(frozen=True, eq=False)
class Spectrum:
    """E of some classes with its eigenvalues.

    Attributes:
        where: the instance in words.
        E: (K, K), correlations.
        values: (K,), eigenvalues, ascending.
        vectors: (K, K), eigenvectors as columns.
        inverse: (K, K), E' = I - (I + E)^-1, from a linear system and not from the eigenvalues.
    """

    where: str
    E: Floats
    values: Floats
    vectors: Floats
    inverse: Floats

    @property
    def K(self) -> int:
        """Number of classes."""
        return len(self.E)

    @property
    def radius(self) -> float:
        """|lambda_1|."""
        return float(np.abs(self.values).max())

    @property
    def inverse_radius(self) -> float:
        """The largest absolute eigenvalue of E'."""
        return float(np.abs(np.linalg.eigvalsh(self.inverse)).max())


def spectrum(where: str, E: Floats) -> Spectrum:
    """The spectrum of one E."""
    values, vectors = np.linalg.eigh(E)
    return Spectrum(where, E, values, vectors, E_prime(E))


def random_spectra(seed: int, count: int, within_window: bool) -> list[Spectrum]:
    """E of random nonnegative vectors, K = 2, ..., 50, small K first; every tenth is a pair.

    Args:
        seed: of the vectors.
        count: how many.
        within_window: whether |lambda_1| < 1/K, as Assumption 2 has it, or only < 1.
    """
    rng = np.random.default_rng(seed)
    sizes = np.sort(np.floor(2 * 25.5 ** rng.uniform(0, 1, count)).astype(int))
    found = []
    for number, K in enumerate(sizes):
        top = 1 / K if within_window else 1.0
        radius = top * (rng.uniform(0.01, 0.995) if number % 5 else 0.995)
        found.append(
            spectrum(
                f"K = {K}, |lambda_1| up to {radius:.3g}, matrix {number} of seed {seed}",
                random_correlations(rng, int(K), radius),
            )
        )
    return found


def relative_slack(left: Floats | float, right: Floats | float) -> float:
    """Least (right - left) by the larger size: negative where left <= right fails."""
    left, right = np.asarray(left), np.asarray(right)
    size = np.maximum(np.maximum(np.abs(left), np.abs(right)), 1e-300)
    return float(((right - left) / size).min())


def proof(
    label: str,
    spectra: Iterable[Spectrum],
    slack: Callable[[Spectrum], float],
    claim: str,
    proved_by: Sequence[Callable[[], bool]],
    by_hand: tuple[str, ...],
    **parameters: int,
) -> Check:
    """Judge a statement on all matrices, with the symbolic steps of its proof."""
    failed = steps.failed_steps(*proved_by)
    check = judge(
        label,
        (Case(one.where, slack(one)) for one in spectra),
        unit=UNIT,
        claim=claim,
        tolerance=ROUNDING,
        parameters=parameters,
        by_hand=by_hand,
        proved=not failed,
    )
    return steps.told(check)


# Lemma 13


def check_tian2023_lem_13(
    spectra: Iterable[Spectrum], mean: bool = False, **parameters: int
) -> Check:
    """max |E_ij| <= |lambda_1| (tian2023, Lemma 13).

    Args:
        spectra: the matrices.
        mean: whether the mean |eigenvalue| is the bound, not the largest.
        parameters: what repeats the matrices.
    """
    return proof(
        "tian2023-lem-13",
        spectra,
        lambda one: relative_slack(
            one.E.max(), float(np.abs(one.values).mean()) if mean else one.radius
        ),
        "No entry of E exceeds its largest absolute eigenvalue",
        (steps.lemma_13_step,),
        ("a Rayleigh quotient lies between the extreme eigenvalues",),
        **parameters,
    )


def control_tian2023_lem_13(spectra: Iterable[Spectrum]) -> Control:
    """The mean eigenvalue does not bound the entries."""
    return Control(
        "The mean absolute eigenvalue in the place of the largest.",
        Verdict.REFUTED,
        check_tian2023_lem_13(spectra, mean=True).verdict,
    )


# Lemma 14


def check_tian2023_lem_14(
    spectra: Iterable[Spectrum], sign: float = 1.0, **parameters: int
) -> Check:
    """(I + E)^-1 = I - E' with eigenvalues lambda / (1 + lambda) (tian2023, Lemma 14).

    Args:
        spectra: the matrices.
        sign: 1, or -1 for E' with the sign of Appendix D.1.
        parameters: what repeats the matrices.
    """

    def slack(one: Spectrum) -> float:
        prime = (one.vectors * (sign * one.values / (1 + one.values))) @ one.vectors.T
        unit = np.eye(one.K)
        return -float(np.abs((unit + one.E) @ (unit - prime) - unit).max())

    return proof(
        "tian2023-lem-14",
        spectra,
        slack,
        "I - E' inverts I + E when E' has the eigenvalues lambda / (1 + lambda)",
        (steps.inverse_step,),
        (SPECTRAL,),
        **parameters,
    )


def control_tian2023_lem_14(spectra: Iterable[Spectrum]) -> Control:
    """E' of the notation section has the opposite sign."""
    return Control(
        "E' with the sign of Appendix D.1.",
        Verdict.REFUTED,
        check_tian2023_lem_14(spectra, sign=-1.0).verdict,
    )


# Lemma 15


def check_tian2023_lem_15(
    spectra: Iterable[Spectrum], sign: float = -1.0, **parameters: int
) -> Check:
    """max |lambda_i(E')| <= |lambda_1| / (1 - l) for |lambda_1| <= l < 1 (tian2023, Lemma 15).

    Args:
        spectra: the matrices.
        sign: the sign in the denominator; the lemma has a minus.
        parameters: what repeats the matrices.
    """

    def slack(one: Spectrum) -> float:
        levels = one.radius + (1 - one.radius) * np.array([0.0, 0.5, 0.99])
        return relative_slack(one.inverse_radius, one.radius / (1 + sign * levels))

    return proof(
        "tian2023-lem-15",
        spectra,
        slack,
        "No eigenvalue of E' exceeds |lambda_1| / (1 - lambda)",
        (steps.lemma_15_step,),
        (SPECTRAL,),
        **parameters,
    )


def control_tian2023_lem_15(spectra: Iterable[Spectrum]) -> Control:
    """A plus in the denominator is right for positive eigenvalues only."""
    return Control(
        "1 + lambda in the place of 1 - lambda.",
        Verdict.REFUTED,
        check_tian2023_lem_15(spectra, sign=1.0).verdict,
    )


# Lemma 16


def check_tian2023_lem_16(
    spectra: Iterable[Spectrum], length: float = 1.0, **parameters: int
) -> Check:
    """E'_nn <= 0, and < 0 where some E_kn > 0 (tian2023, Lemma 16).

    The strict form is judged by E'_nn <= -|E e_n|^2 / (1 + |lambda_1|), which the proof gives.

    Args:
        spectra: the matrices.
        length: common length of the f_n; the lemma needs 1.
        parameters: what repeats the matrices.
    """

    def slack(one: Spectrum) -> float:
        E = one.E + (length**2 - 1) * (one.E + np.eye(one.K))
        prime = one.inverse if length == 1 else E_prime(E)
        bound = -np.sum(one.E**2, axis=1) / (1 + one.radius)
        inside = bound < 0
        isolated = float(np.abs(np.diag(prime)[~inside]).max(initial=0.0))
        if isolated > ROUNDING:
            return -isolated
        return relative_slack(np.diag(prime)[inside], bound[inside])

    return proof(
        "tian2023-lem-16",
        spectra,
        slack,
        "The diagonal of E' is not positive, and negative where the class overlaps with another",
        (steps.second_order_step, steps.equation_93_steps),
        (SPECTRAL, "E_nn = 0, so that E'_nn = -(E G E)_nn"),
        **parameters,
    )


def control_tian2023_lem_16(spectra: Iterable[Spectrum]) -> Control:
    """Vectors that are slightly too long put a positive diagonal into E."""
    return Control(
        "Vectors f_n that are one per cent longer than 1, so that the diagonal of E is not zero.",
        Verdict.REFUTED,
        check_tian2023_lem_16(spectra, length=1.01).verdict,
    )


# Lemma 17


def check_tian2023_lem_17(
    spectra: Iterable[Spectrum], sign: float = -1.0, **parameters: int
) -> Check:
    """|E'_kn - E_nk| <= |lambda_1|^2 / (1 - |lambda_1|) (tian2023, Lemma 17).

    Args:
        spectra: the matrices.
        sign: the sign in the denominator; the lemma has a minus.
        parameters: what repeats the matrices.
    """
    return proof(
        "tian2023-lem-17",
        spectra,
        lambda one: relative_slack(
            float(np.abs(one.inverse - one.E).max()), one.radius**2 / (1 + sign * one.radius)
        ),
        "Entries of E' and of E differ by at most |lambda_1|^2 / (1 - |lambda_1|)",
        (steps.second_order_step, steps.lemma_17_step),
        (SPECTRAL, "entries of a symmetric matrix are at most its largest |eigenvalue|"),
        **parameters,
    )


def control_tian2023_lem_17(spectra: Iterable[Spectrum]) -> Control:
    """A plus in the denominator is too small."""
    return Control(
        "1 + |lambda_1| in the place of 1 - |lambda_1|.",
        Verdict.REFUTED,
        check_tian2023_lem_17(spectra, sign=1.0).verdict,
    )


# Equation (90)


def check_tian2023_eq_90(
    spectra: Iterable[Spectrum], less: float = 1.0, **parameters: int
) -> Check:
    """|E'_kn| <= |lambda_1| / (1 - 1/K) <= 1 / (K - 1) if |lambda_1| < 1/K (eq. (90)).

    Args:
        spectra: matrices with |lambda_1| < 1/K.
        less: what is subtracted from K; the paper has 1.
        parameters: what repeats the matrices.
    """

    def slack(one: Spectrum) -> float:
        largest, middle = one.inverse_radius, one.radius / (1 - 1 / one.K)
        first = relative_slack(float(np.abs(one.inverse).max()), largest)
        second = relative_slack(largest, middle)
        return min(first, second, relative_slack(middle, 1 / (one.K - less)))

    return proof(
        "tian2023-eq-90",
        spectra,
        slack,
        "Entries of E' are at most 1 / (K - 1)",
        (steps.lemma_15_step, steps.equation_90_step),
        (SPECTRAL, "entries of a symmetric matrix are at most its largest |eigenvalue|"),
        **parameters,
    )


def control_tian2023_eq_90(spectra: Iterable[Spectrum]) -> Control:
    """1/K would be too small."""
    return Control(
        "1/K in the place of 1/(K - 1).",
        Verdict.REFUTED,
        check_tian2023_eq_90(spectra, less=0.0).verdict,
    )
