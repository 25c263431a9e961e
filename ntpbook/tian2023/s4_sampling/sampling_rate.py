"""Checks of Corollary 1 and of a statement of ours: how many steps an accuracy needs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge, relative_error
from ntpbook.tian2023.s4_sampling.sampling_decoder import sampled_state, short_zeta, slope
from ntpcore.tian2023 import decoder, decoder_rate, sampling
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

RATES = (0.01, 0.1, 0.5, 1.0, 2.0)
LONGEST = 200_000  # updates in one run

# Corollary 1

SIZES = ((5, 2), (1000, 2), (1000, 50), (1_000_000, 10))  # M, K
COARSE = (0.5, 0.1, 0.01, 0.001)


def check_tian2023_cor_1(seed: int = 7, power: float = 1.0) -> Check:
    """(71) on runs, and K/(epsilon eta) ln(M/epsilon) steps suffice with a constant of one.

    Args:
        seed: of the runs.
        power: the power of 1/epsilon before the logarithm; the paper has 1.
    """
    check = judge(
        "tian2023-cor-1",
        itertools.chain(_residual_cases(seed), _step_cases(power)),
        unit="residuals and settings",
        claim="Residuals have the form (71) with |sigma| <= eta (|N_n - mean| + c(N_n)), and "
        "after K/(epsilon eta) ln(M/epsilon) steps, at least 4 K^2, all classes are "
        "epsilon-accurate with probability 0.95",
        tolerance=1e-9,  # differences of 1/g on runs of some hundred steps
        numbers=_loose_numbers(),
        parameters={"seed": seed},
    )
    if check.verdict is Verdict.REFUTED:
        return check
    K, M, eta, epsilon = 50, 1000, 1.0, 0.5
    few = math.ceil(decoder_rate.printed_steps(M, K, eta, epsilon))
    heights = decoder_rate.heights_until(M, eta, epsilon)
    missed = 1 - enough(few, K, decoder_rate.counted_steps(heights, M, epsilon))
    readings = (
        Reading(
            "this number of steps, at least 4 K^2 of them (Theorem 5: N >> K^2)", check.verdict
        ),
        Reading(
            f"this number of steps, however small: for K = {K}, M = {M}, eta = {eta:g}, epsilon = "
            f"{epsilon:g} it is {few}, and some class was drawn too rarely with probability "
            f"{missed:.2f}",
            Verdict.REFUTED if missed > 0.05 else Verdict.CONSISTENT,
        ),
    )
    return replace(check, readings=readings)


def _residual_cases(seed: int) -> Iterator[Case]:
    """(71) entry by entry, and |sigma| against the constants of Lemma 11."""
    for number, (M, K, eta, N) in enumerate(((30, 2, 0.5, 80), (1000, 5, 2.0, 900))):
        rng = np.random.default_rng((seed, number))
        state, mean = sampled_state(rng, M, K, eta, N), -(-N // K)
        heights = decoder.recursion(M, eta, int(state.updates.max()))
        ahead = decoder_rate.lead(heights, M, eta)
        expected = float(decoder_rate.wrong_probability(M, float(decoder.height(M, eta * mean))))
        zeta = short_zeta(M, K)
        for n, count in enumerate(state.updates.tolist()):
            where = f"M = {M}, K = {K}, eta = {eta:g}, N = {N}, n = {n}"
            residual = decoder.residual(state.W[n], n, M)
            sigma = residual[n] / expected - 1
            form = np.abs(residual - expected * (1 + sigma) * zeta[n]).max() / residual[n]
            yield Case(where + ", form", -float(form))
            exact = float(decoder_rate.wrong_probability(M, heights[count]))
            yield Case(where + ", size", -relative_error(float(residual[n]), exact))
            off = eta * (abs(count - mean) + float(ahead[count]))
            yield Case(where + ", sigma", 1 - abs(sigma) / off)


def _step_cases(power: float, delta: float = 0.05) -> Iterator[Case]:
    """1 - P(some class is not accurate after the printed number of steps)/delta."""
    for (M, K), eta in itertools.product(SIZES, RATES):
        reached = [e for e in COARSE if decoder_rate.steps_to_accuracy(M, eta, e) < LONGEST]
        heights = decoder_rate.heights_until(M, eta, min(reached))
        for epsilon in reached:
            need = decoder_rate.counted_steps(heights, M, epsilon)
            N = max(4 * K * K, math.ceil(K / (epsilon**power * eta) * math.log(M / epsilon)))
            missed = 1 - enough(N, K, need)
            yield Case(
                f"M = {M}, K = {K}, eta = {eta:g}, epsilon = {epsilon:g}", 1 - missed / delta
            )


def enough(N: int, K: int, need: int) -> float:
    """P(every class is drawn at least `need` times), up to 1e-12."""
    top = math.ceil(N / K + sampling.bernstein_radius(N, 1 / K, 1e-12 / K))
    low = max(need, math.floor(N / K - sampling.bernstein_radius(N, 1 / K, 1e-12 / K)))
    return sampling.all_inside(N, K, low, top)


def steps_for_all(K: int, need: int, delta: float) -> int:
    """The smallest N after which every class was drawn `need` times with probability 1 - delta."""
    low, high = K * need - 1, 2 * K * need + 20 * K
    while enough(high, K, need) < 1 - delta:
        low, high = high, 2 * high
    while high - low > 1:
        half = (low + high) // 2
        low, high = (low, half) if enough(half, K, need) >= 1 - delta else (half, high)
    return high


def _loose_numbers(M: int = 1000, K: int = 10, eta: float = 0.5) -> dict[str, str]:
    """Exact and printed numbers of steps for sampled classes, and their slopes in 1/epsilon."""
    accuracies = (0.1, 0.01, 0.001)
    heights = decoder_rate.heights_until(M, eta, accuracies[-1])
    needs = [decoder_rate.counted_steps(heights, M, epsilon) for epsilon in accuracies]
    found = [steps_for_all(K, need, 0.05) for need in needs]
    printed = [decoder_rate.printed_steps(M, K, eta, epsilon) for epsilon in accuracies]
    fine = np.logspace(2, 4, 9)  # 1/epsilon
    exact = [decoder_rate.steps_to_accuracy(M, eta, 1 / one) for one in fine]
    order = [decoder_rate.printed_steps(M, 1, eta, 1 / one) for one in fine]
    return {
        "M": str(M),
        "K": str(K),
        "eta": f"{eta:g}",
        "epsilon": f"{accuracies[1]:g}",
        "found": str(found[1]),
        "printed": f"{printed[1]:.0f}",
        "even": str(K * needs[1]),
        "least": f"{min(p / f for p, f in zip(printed, found, strict=True)):.1f}",
        "most": f"{max(p / f for p, f in zip(printed, found, strict=True)):.1f}",
        "slope": f"{slope(fine, exact):.2f}",
        "slope_printed": f"{slope(fine, order):.2f}",
    }


def control_tian2023_cor_1() -> Control:
    """A number of steps of order ln(M/epsilon)/sqrt(epsilon) is too small."""
    return Control(
        "The number of steps with the square root of 1/epsilon.",
        Verdict.REFUTED,
        check_tian2023_cor_1(power=0.5).verdict,
    )


# Ours

VOCABULARIES = (2, 5, 30, 1000, 1_000_000)
ACCURACIES = (0.5, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)

ROUNDING = 1e-9  # heights after 2e5 additions of numbers that are right to 1e-16


def check_ours_decoder_rate(
    vocabularies: Sequence[int] = VOCABULARIES, spoiled: float = 1.0
) -> Check:
    """The flow needs S updates exactly, the recursion between S minus a logarithm and ceil(S).

    Args:
        vocabularies: values of M.
        spoiled: a factor of the term ln(M - 1) of S; 1 is right.
    """
    check = judge(
        "ours-decoder-rate",
        _rate_cases(vocabularies, spoiled),
        unit="inequalities and identities at M, eta and epsilon",
        claim="The number of updates to an accuracy is S in continuous time, and for the recursion "
        "at most ceil(S) and at least S - phi(eta) (ln(1/epsilon) + eta)",
        tolerance=ROUNDING,
        numbers=_rate_example(),
        by_hand=(
            "the sum over the updates telescopes",
            "ln(1 + a y) >= a ln(1 + y) for 0 <= a <= 1, since the logarithm is concave",
            "(e^u - 1 - u)/u^2 is a power series with positive coefficients, so it increases",
        ),
        proved=rate_symbols(),
    )
    if check.verdict is not Verdict.PROVED:
        return check
    steps = "S solves (45) for symbols, and so do the growth of V and D in one update. "
    return replace(check, evidence=steps + check.evidence)


def _rate_cases(vocabularies: Sequence[int], spoiled: float) -> Iterator[Case]:
    """The formula against the flow, the bounds against the recursion, the lead at every update."""
    for M, eta in itertools.product(vocabularies, RATES):
        reached = [
            epsilon
            for epsilon in ACCURACIES
            if epsilon <= 1 - 1 / M and decoder_rate.steps_to_accuracy(M, eta, epsilon) < LONGEST
        ]
        extra = (spoiled - 1) * (1 - 1 / M) * math.log(M - 1) / eta
        heights = decoder_rate.heights_until(M, eta, min(reached))
        for epsilon in reached:
            where = f"M = {M}, eta = {eta:g}, epsilon = {epsilon:g}"
            S = decoder_rate.steps_to_accuracy(M, eta, epsilon) + extra
            wrong = float(decoder_rate.wrong_probability(M, float(decoder.height(M, eta * S))))
            yield Case(where + ", flow", -abs(wrong / epsilon - 1))
            low, high = decoder_rate.step_bounds(M, eta, epsilon)
            steps = decoder_rate.counted_steps(heights, M, epsilon)
            # one at S = 0, where the start is accurate already and bounds are 0 up to rounding
            scale = max(S, 1.0)
            yield Case(where + ", at least", (steps - low - extra) / scale)
            yield Case(where + ", at most", (high + extra - steps) / scale)
        yield from _lead_cases(M, eta, heights)


def _lead_cases(M: int, eta: float, heights: Floats) -> Iterator[Case]:
    """c(s) solves (45) at s + c, and lies between 0 and its bound, at every update."""
    c = decoder_rate.lead(heights, M, eta)
    s = np.arange(len(heights))
    where = f"M = {M}, eta = {eta:g}, {len(heights) - 1} updates"
    left = np.expm1(heights) + (M - 1) * heights
    error = np.abs(left[1:] / (M * eta * (s + c)[1:]) - 1).max()
    yield Case(where + ", identity", -float(error))
    room = decoder_rate.largest_lead(M, eta, heights) - c
    yield Case(where + ", lead", float((room / np.maximum(c, 1e-300))[1:].min()))


def _rate_example(M: int = 1000, eta: float = 0.5, epsilon: float = 0.01) -> dict[str, str]:
    """The numbers of updates at one setting."""
    heights = decoder_rate.heights_until(M, eta, epsilon)
    S = decoder_rate.steps_to_accuracy(M, eta, epsilon)
    steps = decoder_rate.counted_steps(heights, M, epsilon)
    c = decoder_rate.lead(heights, M, eta)[steps]
    return {
        "M": str(M),
        "eta": f"{eta:g}",
        "epsilon": f"{epsilon:g}",
        "S": f"{S:.1f}",
        "steps": str(steps),
        "lower": f"{decoder_rate.step_bounds(M, eta, epsilon)[0]:.1f}",
        "lead": f"{c:.2f}",
        "half_log": f"{math.log(1 / epsilon) / 2:.2f}",
        "short": f"{(1 / epsilon + math.log(M / epsilon)) / eta:.1f}",
        "printed": f"{decoder_rate.printed_steps(M, 1, eta, epsilon):.1f}",
    }


def rate_symbols() -> bool:
    """The identities behind the number of updates, for symbolic M, eta, epsilon and height.

    Accuracy epsilon is e^x = (M - 1)(1 - epsilon)/epsilon; put into (45) it gives S. The left-hand
    side V = e^x + (M - 1) x of (45) grows by M eta per unit of time along (44), and by
    M eta + e^x (e^D - 1 - D) in an update that moves x by D = M eta/(M - 1 + e^x). The denominator
    grows by e^x (e^D - 1).
    """
    import sympy as sp

    M, eta, x = sp.symbols("M eta x", positive=True)
    epsilon, D = sp.symbols("epsilon D", positive=True)
    odds = (M - 1) * (1 - epsilon) / epsilon
    accurate = sp.simplify((M - 1) / (M - 1 + odds) - epsilon)
    S = ((1 - 1 / M) * (1 / epsilon + sp.log(odds)) - 1) / eta
    formula = sp.simplify(M * eta * S - (odds + (M - 1) * sp.log(odds) - 1))

    def V(at: sp.Expr) -> sp.Expr:
        return sp.exp(at) + (M - 1) * at

    flow = sp.simplify(sp.diff(V(x), x) * M * eta / (M - 1 + sp.exp(x)) - M * eta)
    growth = V(x + D) - V(x) - D * (M - 1 + sp.exp(x)) - sp.exp(x) * (sp.exp(D) - 1 - D)
    wider = sp.exp(x + D) - sp.exp(x) - sp.exp(x) * (sp.exp(D) - 1)
    # with a = e^x/(M - 1 + e^x): an update adds a (e^D - 1 - D)/D to c and ln(1 + a (e^D - 1)) to
    # ln(M - 1 + e^x), which is at least a D; the ratio is at most phi(D) <= phi(eta)
    a = sp.exp(x) / (M - 1 + sp.exp(x))
    added = sp.exp(x) * (sp.exp(D) - 1 - D) / (D * (M - 1 + sp.exp(x)))  # M eta = D (M - 1 + e^x)
    ratio = sp.simplify(added / (a * D) - (sp.exp(D) - 1 - D) / D**2)
    terms = (accurate, formula, flow, sp.simplify(sp.expand(growth)), sp.expand(wider), ratio)
    return all(sp.simplify(term) == 0 for term in terms)


def control_ours_decoder_rate() -> Control:
    """The logarithm of M belongs to S."""
    return Control(
        "S without the term ln(M - 1).",
        Verdict.REFUTED,
        check_ours_decoder_rate(spoiled=0.0).verdict,
    )
