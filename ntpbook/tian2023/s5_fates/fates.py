"""Checks of Lemma 4, equations (10) and (100), and Theorem 2 of Tian et al. (2023)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s5_fates.fates_instances import Instance
from ntpcore.tian2023 import attention, decoder
from ntpcore.tian2023.classes import (
    E_prime,
    SequenceClasses,
    attention_scores,
    common_tokens,
    correlations,
    distinct_tokens,
    random_classes,
)
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]
RUNS = 6  # of stochastic training
ROUNDING = 1e-9  # relative; sums over at most 50 classes of terms that cancel to a few digits
XI_BY_HAND = (
    "xi_n > 0 is Theorem 1(a), proved as ours-xi-positive on the page on the gradient for draws "
    "that are even enough, as t >> K^2 is read",
    "(10) is a sum of such terms over n and n', so that an identity term by term is enough",
)

# Identities


@cache
def term_identities() -> dict[str, object]:
    """What (10), (98) and (99) need, as expressions of sympy that must vanish.

    Written in one coordinate: f = f_nl, b the coordinate of sum beta f_n', e = f_n . sum beta f_n',
    iota the coefficient of f_n in (9); in the last two, other = f_n'l and e = f_n . f_n'.
    """
    import sympy as sp

    f, b, e, iota, other = sp.symbols("f b e iota other")
    g, inner = iota * f - b, iota - e  # f_n . f_n = 1
    term = f * (e * f - other)  # of diag(f_n) (f_n f_n^T - I) f_n', in one coordinate
    return {
        "(10)": sp.expand(f * (g - f * inner) - f * (e * f - b)),
        "(98)": sp.expand(term.subs(other, 0) - f**2 * e),
        "(99)": sp.expand((term + (1 - f**2) * e).subs(e, f * other)),
    }


# Lemma 4


def check_tian2023_lem_4(
    cases: Iterable[Instance], normalized: bool = True, **parameters: int
) -> Check:
    """Equation (10) is the gradient of the summed likelihood, for decoders trained both ways.

    Args:
        cases: the instances.
        normalized: whether the vectors in (10) are the f_n; False puts the c_n in their place.
        parameters: what repeats the instances.
    """
    used = list(cases)

    def errors() -> Iterator[Case]:
        for one in used:
            for modified in (True, False):
                state = trained(one, modified)
                printed = _printed(one, state, normalized)
                expected = sample_gradients(one, state)
                summed = np.zeros_like(printed)
                np.add.at(summed, np.asarray(one.classes.query), expected)
                kind = "(26)" if modified else "(7)"
                yield Case(f"{one.name}, decoder by {kind}", -_difference(printed, summed))

    check = judge(
        "tian2023-lem-4",
        errors(),
        unit="instances",
        claim="Equation (10) is the gradient in z_m of the log-likelihoods of the classes of query "
        "m, added up, at decoders trained by (7) and by (26)",
        tolerance=ROUNDING,
        parameters=parameters,
        by_hand=(
            "from Lemmas 1 and 2 to equation (94), the row form (4) for endless sequences",
            "g is a combination of the f_n: Theorem 1 for (26), and exact for (7) at fixed f_n",
        ),
        proved=term_identities()["(10)"] == 0,
    )
    clock = check_tian2023_lem_4_corrected(used, divided=False)
    together = "One unit of time shows every class of the query once, as the proof adds them up."
    single = "t counts steps of batch size 1, as in Theorem 1 and in gamma(t)."
    readings = (Reading(together, check.verdict), Reading(single, clock.verdict))
    return replace(check, readings=readings)


def trained(one: Instance, modified: bool, rounds: int = 12) -> decoder.DecoderState:
    """A decoder after some rounds over the classes, at the f_n of an instance."""
    start = decoder.zero_decoder(one.M, correlations(one.f))
    K = one.classes.K
    draws = np.tile(np.arange(K), rounds)
    return decoder.run(start, draws, eta=0.5, modified=modified)


def _printed(one: Instance, state: decoder.DecoderState, normalized: bool) -> Floats:
    """Equation (10) times eta_Z = 1, with gamma beta from a trained decoder."""
    K = one.classes.K
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in range(K)])
    f = one.f if normalized else attention_scores(one.classes, one.z)
    return attention.velocity(one.classes.query, f, beta)


def sample_gradients(one: Instance, state: decoder.DecoderState) -> Floats:
    """(K, columns), the derivative of log alpha_n of each class in the row of its query.

    By complex steps through softmax, norm and exponential: nothing of the paper's is used.
    """
    P, K, step = one.classes.probabilities, one.classes.K, 1e-30
    Y = one.f.T @ state.A
    copies = np.append(np.ones(K), state.M - K)
    out = np.zeros_like(P)
    for n, m in enumerate(one.classes.query):
        inside = np.flatnonzero(P[n] > 0)
        z = np.tile(one.z[m, inside].astype(complex), (len(inside), 1))
        z += 1j * step * np.eye(len(inside))  # row i moves token i
        weights = P[n, inside] * np.exp(z)
        f = weights / np.sqrt((weights**2).sum(axis=1, keepdims=True))
        logits = f @ Y[inside]
        top = logits.real.max()
        total = (copies * np.exp(logits - top)).sum(axis=1)
        out[n, inside] = (logits[:, n] - top - np.log(total)).imag / step
    return out


def _difference(found: Floats, expected: Floats) -> float:
    """Largest difference, relative to the largest entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def control_tian2023_lem_4(cases: Iterable[Instance]) -> Control:
    """Without the normalisation of f_n the formula is another one."""
    return Control(
        "Equation (10) with the attention scores c_n in the place of the unit vectors f_n.",
        Verdict.REFUTED,
        check_tian2023_lem_4(cases, normalized=False).verdict,
    )


# Equation (10)


def check_tian2023_eq_10(
    cases: Iterable[Instance], weighted: bool = True, seed: int = 7, **parameters: int
) -> Check:
    """(10) in matrices as printed, for any coefficients, against the form with vectors.

    Args:
        cases: the instances.
        weighted: whether the factor diag(f_n) is there.
        seed: of the random coefficients.
        parameters: what repeats the instances.
    """
    rng = np.random.default_rng(seed)

    def errors() -> Iterator[Case]:
        for one in cases:
            f, query = one.f, one.classes.query
            K, columns = one.classes.K, one.classes.M
            iota, beta = rng.standard_normal(K), rng.standard_normal((K, K)) * (1 - np.eye(K))
            g = iota[:, None] * f - beta @ f  # equation (9)
            dense = np.zeros((one.classes.L, columns))
            for n, m in enumerate(query):
                inner = np.outer(f[n], f[n]) - np.eye(columns)
                terms = inner @ np.sum([beta[n, k] * f[k] for k in range(K) if k != n], axis=0)
                dense[m] += np.diag(f[n]) @ terms if weighted else terms
            expected = attention.velocity_of_gradient(query, f, g)
            yield Case(one.name, -_difference(dense, expected))
            # relative to the terms that cancel
            yield Case(
                f"{one.name}, sums of rows",
                -float(np.abs(dense.sum(axis=1)).max() / np.abs(dense).sum()),
            )

    return judge(
        "tian2023-eq-10",
        errors(),
        unit="evaluations",
        claim="The printed sum equals diag(f_n) (I - f_n f_n^T) g_n, added up, for random iota and "
        "beta, and its rows sum to zero",
        tolerance=ROUNDING,
        parameters=parameters,
        by_hand=("the identity in one coordinate holds for all tokens and all classes",),
        proved=term_identities()["(10)"] == 0,
    )


def control_tian2023_eq_10(cases: Iterable[Instance]) -> Control:
    """The leading factor is needed."""
    return Control(
        "Equation (10) without its factor diag(f_n).",
        Verdict.REFUTED,
        check_tian2023_eq_10(cases, weighted=False).verdict,
    )


# Lemma 4, corrected


def check_tian2023_lem_4_corrected(
    cases: Iterable[Instance], divided: bool = True, **parameters: int
) -> Check:
    """The expected step of batch size 1 is (10) with eta_Z / K.

    Args:
        cases: the instances.
        divided: whether eta_Z is divided by K.
        parameters: what repeats the instances.
    """
    used = list(cases)

    def errors() -> Iterator[Case]:
        for one in used:
            K, state = one.classes.K, trained(one, True)
            mean = np.zeros_like(one.z)
            for n, move in enumerate(sample_gradients(one, state)):
                mean[one.classes.query[n]] += move / K  # drawn with probability 1 / K
            formula = _printed(one, state, True) / (K if divided else 1)
            yield Case(one.name, -_difference(formula, mean))

    small = [one for one in used if divided and one.classes.K <= 3][:RUNS]
    ratios = [sgd_ratio(one) * one.classes.K for one in small]
    return judge(
        "tian2023-lem-4-corrected",
        errors(),
        unit="instances",
        claim="The mean step of batch size 1, its class drawn uniformly, is (10) with "
        f"{'eta_Z / K' if divided else 'eta_Z'}",
        tolerance=ROUNDING,
        numbers={
            "least": f"{min(ratios, default=0):.2f}",
            "most": f"{max(ratios, default=0):.2f}",
            "runs": str(len(ratios)),
        },
        parameters=parameters,
        by_hand=("the mean of a uniform draw is linear",),
        proved=divided and term_identities()["(10)"] == 0,
    )


def sgd_ratio(one: Instance, eta_Y: float = 0.5, steps: int = 800, seed: int = 7) -> float:
    """How far SGD moves Z, over how far the printed (10) would, for a small eta_Z.

    The decoder takes random modified updates; Z takes the gradient of each drawn sample. Both
    displacements are per eta_Z, and compared along the printed direction.
    """
    f, query, K = one.f, one.classes.query, one.classes.K
    E = correlations(f)
    state, moved = decoder.zero_decoder(one.M, E), np.zeros_like(one.z)
    mix = np.eye(K) - E_prime(E)  # column n: the coefficients of f_n - F E' e_n in (26)
    for n in np.random.default_rng(seed).integers(K, size=steps).tolist():
        g = decoder.gradient_coefficients(state, n) @ f
        moved[query[n]] += f[n] * (g - f[n] * (f[n] @ g))
        A = state.A + eta_Y * np.outer(mix[:, n], decoder.residual(state.W[n], n, one.M))
        state = decoder.DecoderState(one.M, E, A, state.updates)
    beta = attention.coefficients(E, one.M)
    gamma = float(attention.clock(one.M, K, eta_Y, 1.0, float(steps))) * K  # integral of gamma
    printed = gamma * attention.velocity(query, f, beta)
    return float((moved * printed).sum() / (printed**2).sum())


def control_tian2023_lem_4_corrected(cases: Iterable[Instance]) -> Control:
    """The sum over the classes is K times the mean."""
    return Control(
        "eta_Z in the place of eta_Z / K.",
        Verdict.REFUTED,
        check_tian2023_lem_4_corrected(cases, divided=False).verdict,
    )


# Theorem 2


def check_tian2023_thm_2(cases: Iterable[Instance], **parameters: int) -> Check:
    """Distinct tokens rise and a single common token falls, with Theorem 1's coefficients."""
    used = list(cases)
    identities = term_identities()
    printed = sum(one.holds("6/sqrt(M)") for one in used)
    single = sum(len(common_tokens(one.classes)) == 1 for one in used)
    true = [one for one in used if one.classes.K <= 3]
    positive = sum(_true_forces_are_positive(one) for one in true)
    return judge(
        "tian2023-thm-2",
        (case for one in used for case in _signs(one)),
        unit="rows of Z with one kind of token",
        claim="Every distinct token rises, and a single common token falls",
        tolerance=0.0,  # strict signs, which `_signs` turns into -1 when they fail
        numbers={
            "instances": str(len(used)),
            "printed": str(printed),
            "single": str(single),
            "positive": str(positive),
            "true": str(len(true)),
        },
        parameters=parameters,
        by_hand=XI_BY_HAND,
        proved=identities["(98)"] == 0 and identities["(99)"] == 0,
    )


def _signs(one: Instance) -> Iterator[Case]:
    """Velocities over f_nl^2, or over sum_n (1 - f_nl^2): xi_n / gamma or a mean of it."""
    f, query, data = one.f, one.classes.query, one.classes
    E = correlations(f)
    beta = attention.coefficients(E, one.M)
    moves = attention.velocity(query, f, beta)
    for n, m in enumerate(query):
        found = list(distinct_tokens(data, n))
        if found:
            yield Case(f"{one.name}, class {n}", _sign(moves[m, found], f[n, found] ** 2))
    common = common_tokens(data)
    for m in range(data.L) if len(common) == 1 else ():
        inside = list(data.of_query(m))
        if not any(distinct_tokens(data, n) for n in inside):
            continue
        size = (1 - f[inside, common[0]] ** 2).sum()
        yield Case(f"{one.name}, common token, query {m}", _sign(-moves[m, [common[0]]], size))


def _sign(values: Floats, sizes: Floats) -> float:
    """The least value over its size, or -1 unless all are positive: the signs are strict."""
    return float((values / sizes).min()) if (values > 0).all() else -1.0


def _true_forces_are_positive(one: Instance) -> bool:
    """Whether xi_n > 0 for all classes under (7) itself, at three moments and fixed f_n."""
    start = decoder.zero_decoder(one.M, correlations(one.f))
    K = one.classes.K
    times = K * np.array([0.5, np.log(one.M), 10 * np.log(one.M)])
    states = decoder.flow(start, 1.0, times, modified=False, relative=1e-8)
    return all(decoder.xi(state, n) > 0 for state in states for n in range(K))


def control_tian2023_thm_2(cases: Iterable[Instance]) -> Control:
    """A class that shares nothing has an eigenvalue 0, against Assumption 2, and stands still."""
    isolated = []
    for one in cases:
        P = one.classes.probabilities
        wider = np.zeros((len(P) + 1, P.shape[1] + 2))
        wider[:-1, :-2], wider[-1, -2:] = P, 0.5
        query = (*one.classes.query, 0)
        z = np.hstack([one.z, np.zeros((len(one.z), 2))])
        isolated.append(Instance(one.name, SequenceClasses(wider, query), one.M, z))
    return Control(
        "One more class, all of whose tokens are distinct: an eigenvalue of E is 0, and its tokens "
        "do not move.",
        Verdict.REFUTED,
        check_tian2023_thm_2(isolated).verdict,
    )


# Equation (100)


def check_tian2023_eq_100(cases: Iterable[Instance], seed: int = 7, **parameters: int) -> Check:
    """The speed of the single common token is -eta_Z sum_n (1 - f_nl^2) xi_n, for any beta."""
    rng = np.random.default_rng(seed)

    def errors() -> Iterator[Case]:
        for one in cases:
            f, query = one.f, one.classes.query
            E, token = correlations(f), common_tokens(one.classes)[0]
            beta = rng.normal(size=E.shape)
            xi = attention.forces(E, beta)
            moves = attention.velocity(query, f, beta)[:, token]
            formula = np.zeros(one.classes.L)
            np.add.at(formula, np.asarray(query), -(1 - f[:, token] ** 2) * xi)
            size = float((np.abs(beta) * E).sum())  # of the terms, which may cancel
            yield Case(one.name, -float(np.abs(moves - formula).max()) / size)

    return judge(
        "tian2023-eq-100",
        errors(),
        unit="instances",
        claim="The common token moves at the speed of (100), for random beta of both signs",
        tolerance=ROUNDING,
        parameters=parameters,
        by_hand=XI_BY_HAND[1:],
        proved=term_identities()["(99)"] == 0,
    )


def control_tian2023_eq_100(seed: int = 7) -> Control:
    """With two common tokens the formula fails."""
    rng = np.random.default_rng(seed)
    data = random_classes(rng, 3, 8, 2, 2)
    one = Instance("two common tokens", data, 100, np.zeros((1, 8)))
    return Control(
        "Two common tokens in the place of one.",
        Verdict.REFUTED,
        check_tian2023_eq_100([one]).verdict,
    )
