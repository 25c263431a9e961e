"""Check of Lemma 12: rows of the decoder when classes are drawn at random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder, sampling
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SIZES = ((30, 2), (1000, 2), (1000, 10), (1000, 50), (1_000_000, 10), (1_000_000, 50))
STEPS = (0.01, 0.5, 2.0)
MULTIPLES = (4, 16, 100, 1000)  # N / K^2
FAILURES = (1e-3, 0.05, 0.5)
JOINT_ROUNDING = 1e-8  # the probability errs by 1e-12 and is divided by delta >= 1e-3


def check_tian2023_lem_12(
    seed: int = 7, sizes: Sequence[tuple[int, int]] = SIZES, exponent: float = 1.0
) -> Check:
    """Rows are (1 + theta_n) (M-1) h(mean) zeta_n with |theta_n| <= K/sqrt(N) sqrt(ln(K/delta)).

    The probability of the event is computed from the multinomial distribution; sampled runs of the
    update (26) confirm the form of the rows.

    Args:
        seed: of the sampled runs.
        sizes: pairs M, K.
        exponent: the power of K/sqrt(N) in the bound; the paper has 1.
    """
    label = "tian2023-lem-12"
    example = _theta_example(np.random.default_rng(seed))
    check = judge(
        label,
        itertools.chain(_form_cases(seed), _theta_cases(sizes, exponent)),
        unit="runs and settings",
        claim="Rows keep the direction zeta_n, and with probability 1 - delta no theta_n is larger "
        "than K/sqrt(N) sqrt(ln(K/delta))",
        tolerance=JOINT_ROUNDING,
        numbers={**example, **_fitted_exponents()},
        parameters={"seed": seed},
    )
    if check.verdict is Verdict.REFUTED:
        return check
    return replace(
        check,
        readings=(
            Reading(
                "the form of the rows, for the modified update (26)",
                Verdict.PROVED if row_symbols() else check.verdict,
            ),
            Reading("the bound with a constant of 1, for N >= 4 K^2", check.verdict),
        ),
        by_hand=("Lemma 5 for each row by itself: under (26) no other row moves it",),
    )


def row_symbols() -> bool:
    """One update (26) of class n moves row n only, and along zeta_n, for symbolic M and h.

    F^T (f_n - F E' e_n) = (I + E)(I - E') e_n = e_n with I - E' = (I + E)^-1; and logits
    (M - 1) h at n, -h elsewhere, leave (M - 1)/(M - 1 + e^(M h)) to all wrong tokens together and
    the same share to each of them.
    """
    import sympy as sp

    M, h = sp.symbols("M h", positive=True)
    K = sp.Symbol("K", integer=True, positive=True)
    gram = sp.Identity(K) + sp.MatrixSymbol("E", K, K)
    moved = sp.simplify(gram * gram.I)  # with the definition I - E' = (I + E)^-1
    right, wrong = sp.exp((M - 1) * h), sp.exp(-h)
    total = right + (M - 1) * wrong
    size = (M - 1) / (M - 1 + sp.exp(M * h))
    at_n = sp.simplify(1 - right / total - size)
    elsewhere = sp.simplify(-wrong / total + size / (M - 1))  # zeta_n is -1/(M - 1) there
    return bool(moved == sp.Identity(K) and at_n == elsewhere == 0)


def _form_cases(seed: int) -> Iterator[Case]:
    """Minus the relative error of the rows of sampled runs against (1 + theta_n) w_n."""
    for number, (M, K, eta, N) in enumerate(((30, 2, 0.5, 60), (200, 5, 2.0, 500))):
        rng = np.random.default_rng((seed, number))
        state = sampled_state(rng, M, K, eta, N)
        theta = sampling.row_errors(M, K, eta, N, state.updates)
        mean = float(decoder.height(M, eta * -(-N // K))) * (M - 1) / M
        rows = (1 + theta)[:, None] * mean * short_zeta(M, K)
        error = float(np.abs(rows - state.W).max() / np.abs(rows).max())
        yield Case(f"M = {M}, K = {K}, eta = {eta:g}, N = {N}, rows", -error)


def sampled_state(
    rng: np.random.Generator, M: int, K: int, eta: float, N: int, modified: bool = True
) -> decoder.DecoderState:
    """N steps of batch size 1 on random classes with two common tokens."""
    made = data.random_classes(rng, K, M, common=2, distinct=2)
    start = decoder.zero_decoder(M, data.correlations(data.unit_scores(made)))
    return decoder.run(start, rng.integers(K, size=N), eta, modified)


def short_zeta(M: int, K: int) -> Floats:
    """zeta_n of each class for the logits that `DecoderState` keeps, (K, K + 1)."""
    return np.array([decoder.zeta(M, n)[np.r_[:K, -1 if M > K else 0]] for n in range(K)])


def _theta_cases(sizes: Iterable[tuple[int, int]], exponent: float) -> Iterator[Case]:
    """1 - P(some |theta_n| is larger)/delta."""
    for (M, K), eta, multiple in itertools.product(sizes, STEPS, MULTIPLES):
        N = multiple * K * K
        bounds = [printed_theta(K, N, delta, exponent) for delta in FAILURES]
        chances = sampling.row_error_chances(M, K, eta, N, bounds)
        for delta, chance in zip(FAILURES, chances, strict=True):
            where = f"M = {M}, K = {K}, eta = {eta:g}, N = {N}, delta = {delta:g}"
            yield Case(where, 1 - (1 - chance) / delta)


def printed_theta(K: int, N: int, delta: float, exponent: float = 1.0) -> float:
    """(K / sqrt(N))^exponent sqrt(ln(K/delta)); the paper has the exponent 1."""
    return float((K / math.sqrt(N)) ** exponent * math.sqrt(math.log(K / delta)))


def _theta_example(rng: np.random.Generator, runs: int = 2000) -> dict[str, str]:
    """What holds with probability 0.95, exactly and over sampled runs, and the bound."""
    M, K, eta, N, delta = 1000, 10, 0.5, 10_000, 0.05
    sampled = np.quantile(sampling.sampled_row_errors(rng, M, K, eta, N, runs), 1 - delta)
    found, bound = sampling.row_error_quantile(M, K, eta, N, delta), printed_theta(K, N, delta)
    return {
        "M": str(M),
        "eta": f"{eta:g}",
        "N": str(N),
        "K": str(K),
        "delta": f"{delta:g}",
        "found": f"{found:.4f}",
        "sampled": f"{sampled:.4f}",
        "runs": str(runs),
        "bound": f"{bound:.3f}",
        "loose": f"{bound / found:.0f}",
    }


def _fitted_exponents(M: int = 1_000_000, delta: float = 0.05) -> dict[str, str]:
    """Slopes of the logarithm of the exact quantile over two decades of N, and over K."""
    draws, many = np.logspace(3, 5, 7).round().astype(int), (5, 10, 20, 50)
    early = [sampling.row_error_quantile(M, 10, 1e-3, int(N), delta) for N in draws]
    late = [sampling.row_error_quantile(M, 10, 1.0, 10 * int(N), delta) for N in draws]
    by_K = [sampling.row_error_quantile(M, K, 1e-4, 100_000, delta) for K in many]
    return {
        "slope_early": f"{slope(draws, early):.2f}",
        "slope_late": f"{slope(draws, late):.2f}",
        "slope_K": f"{slope(many, by_K):.2f}",
        "slope_K_bound": f"{slope(many, [printed_theta(K, 100_000, delta) for K in many]):.2f}",
    }


def slope(x: Sequence[float] | Floats | Integers, y: Sequence[float]) -> float:
    """Least-squares slope of log y against log x."""
    return float(np.polyfit(np.log(np.asarray(x)), np.log(np.asarray(y)), 1)[0])


def control_tian2023_lem_12() -> Control:
    """A deviation of order K^2/N would be too small."""
    return Control(
        "K/sqrt(N) squared in the bound on theta.",
        Verdict.REFUTED,
        check_tian2023_lem_12(sizes=SIZES[:3], exponent=2.0).verdict,
    )
