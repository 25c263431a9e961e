"""Checks of Appendix D.4 of Tian et al. (2023): classes drawn at random."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s4_sampling import instances, steps
from ntpbook.tian2023.s4_sampling.instances import (
    EXAMPLE,
    Accuracy,
    Count,
    Dense,
    Joint,
    Line,
    Mean,
    Recursion,
    Sampled,
    Setting,
    Spread,
    Vocabulary,
)
from ntpcore.tian2023 import classes as data
from ntpcore.tian2023 import decoder, decoder_rate, sampling
from ntpcore.verdicts import arrays
from ntpcore.verdicts.compare import (
    Said,
    at_least,
    at_most,
    below,
    count,
    equal,
    least,
    most,
    result,
)
from ntpcore.verdicts.vocabulary import Variant, by_hand, check, cited, executed, uses

Floats = NDArray[np.float64]
TAILS = 1e-9  # p = 1/50 as a float moves a tail of 1e6 draws by 1e-16 times 1e6 at most
JOINT = 1e-6  # 1 - P errs by 1e-13 and is divided by delta >= 1e-6
CHERNOFF = (
    cited(
        "P(N_n - N p >= N e) <= exp(-N KL(p + e || p)), and the lower tail alike",
        "hoeffding1963",
        "Theorem 1",
    ),
    executed("the exponent is KL(p + e || p)", steps.chernoff_exponent),
    by_hand(
        "a function that vanishes at 0 with its derivative and is convex is not negative",
        at="function-vanishes-derivative",
    ),
    by_hand("the sum of the two tails", at="sum-two-tails"),
)

# Lemma 10


@check(
    "tian2023-lem-10",
    over="triples of N, P(n) and delta",
    instances=instances.enough_draws,
    says="N_n is as close to ceil(N P(n)) as (58) says, with the probability that it says, for "
    "{tried} triples of N, P(n) and delta from N = {enough} on.",
    tolerance=TAILS,
    proof=(
        *CHERNOFF,
        executed("KL(p + e || p) is at least 2 e^2", steps.hoeffding_gap),
        by_hand("rounding N P(n) up moves the centre by less than 1", at="rounding-up-moves"),
        executed("the second sign of (58)", steps.order_of_radii),
        executed("2 to 16 draws: fractions for every integer radius", steps.few_draws),
        by_hand(
            "the upper tail of a binomial grows with P(n), the lower one falls",
            at="upper-tail-binomial",
        ),
    ),
    readings={
        "The chain (58) for every delta and N >= 17.": {},
        "Each of the two radii by itself, for every delta and N >= 2.": Variant(
            {"chain": False}, instances=instances.two_draws
        ),
        "The chain (58) for every delta and every N.": Variant(instances=instances.every_count),
    },
    planted={
        "The radius sqrt(N/4 ln(2/delta)) + 1, with N/4 for N/2.": {"share": math.sqrt(0.5)},
        "The order of the radii for few draws, too.": Variant(instances=instances.two_draws),
    },
)
def check_tian2023_lem_10(one: Count, chain: bool = True, share: float = 1.0) -> Iterator[Said]:
    """P(|N_n - ceil(N p)| > radius) <= delta for sqrt(N/2 L) + 1 < sqrt(N L), L = ln(2/delta)."""
    middle = share * (sampling.hoeffding_radius(one.N, one.delta) - 1) + 1
    outer, centre = sampling.outer_radius(one.N, one.delta), sampling.centre(one.N, one.p)
    for word, radius in (("middle", middle), ("outer", outer)):
        missed = sampling.outside(one.N, one.p, centre, radius)
        yield at_most(missed, one.delta, f"{word} radius")
    if chain:
        yield below(middle, outer, "the order of the radii")
    yield least("enough", one.N)


# The radius that knows the variance


@check(
    "ours-bernstein",
    over="triples of N, P(n) and delta",
    instances=instances.counts,
    says="The count stays within a radius that knows its variance for {tried} triples of N, P(n) "
    "and delta.",
    tolerance=TAILS,
    proof=(
        *CHERNOFF,
        executed("KL(p + e || p) is at least v Phi(e/v)", steps.bernstein_divergence),
        executed("Phi(u) is at least u^2 / (2 + 2u/3)", steps.bernstein_function),
        executed("the radius", steps.bernstein_radius),
        executed("its order", steps.bernstein_order),
        by_hand(
            "the lower tail is the upper tail of the other classes, with the same variance",
            at="lower-tail-upper",
        ),
        by_hand(
            "several classes at once: their probabilities of failure add up to at most delta",
            at="several-classes-once",
        ),
    ),
    planted={"The radius with N v L for 2 N v L under the root.": {"variance": 1}},
)
def check_ours_bernstein(one: Count, variance: int = 2) -> Iterator[Said]:
    """|N_n - N p| <= L/3 + sqrt(L^2/9 + 2 N v L) with probability 1 - delta, v = p (1 - p)."""
    share, L = float(one.p), math.log(2 / one.delta)
    radius = L / 3 + math.sqrt(L * L / 9 + variance * one.N * share * (1 - share) * L)
    yield at_most(sampling.outside(one.N, one.p, one.N * share, radius), one.delta)
    if 16 * L / 9 <= one.N:
        yield at_most(radius, sampling.outer_radius(one.N, one.delta), "the order of the radii")
    if one == EXAMPLE:
        yield from radii_of_the_example(one)


def radii_of_the_example(one: Count) -> Iterator[Said]:
    """The radii where classes are many: the two of Lemma 10, ours, and what is needed."""
    K, N, delta = one.p.denominator, one.N, one.delta
    needed = sampling.true_radius(N, one.p, sampling.centre(N, one.p), delta)
    for name, value in (
        ("N", N),
        ("K", K),
        ("needed", needed),
        ("joint_needed", sampling.joint_radius(N, K, delta)),
        ("middle", round(sampling.hoeffding_radius(N, delta))),
        ("outer", round(sampling.outer_radius(N, delta))),
        ("ours", round(sampling.bernstein_radius(N, 1 / K, delta))),
        ("joint_ours", round(sampling.bernstein_radius(N, 1 / K, delta / K))),
    ):
        yield result(name, value)
    yield result("delta", delta, 1)
    yield result("gain", math.sqrt(2 * (K - 1)) / K, 3)


# Remark 4


@check(
    "tian2023-rem-4",
    over="triples of K, N and delta",
    instances=instances.joint,
    says="For delta <= 1/2 all K counts lie within Delta of ceil(N/K) at once with probability at "
    "least 1 - delta, in {tried} triples of K, N and delta.",
    tolerance=JOINT,
    readings={
        "All K classes at once, delta <= 1/2.": {},
        "One class at a time, delta <= 1/2, with Delta + 1 for Delta.": {"single": True, "plus": 1},
        "One class at a time, every delta.": Variant(
            {"single": True}, instances=instances.joint_every_delta
        ),
        "All K classes at once, every delta, with the constant 4.": Variant(
            {"factor": 4}, instances=instances.joint_near_one
        ),
    },
    planted={
        "Delta made of N/K, which is about the variance of a count, instead of N.": {
            "by_class": True
        },
        "Delta/mean at most K/sqrt(N) sqrt(ln(1/delta)), without what rounding adds.": {
            "rounded": 0
        },
    },
)
def check_tian2023_rem_4(
    one: Joint,
    single: bool = False,
    plus: int = 0,
    factor: int = 1,
    by_class: bool = False,
    rounded: int = 1,
) -> Iterator[Said]:
    """P(|N_n - ceil(N/K)| > Delta) <= delta with Delta = ceil(sqrt(N ln(1/delta))), and Delta/mean.

    Delta/mean is at most K sqrt(ln(1/delta)/N) + K/N, which is what "<<" says when N >> K^2.
    """
    K, N, delta = one.K, one.N, one.delta
    Delta = sampling.remark_radius(N // K if by_class else N, delta)
    yield at_most(one.outside(factor * Delta + plus, single), delta)
    small = K * math.sqrt(math.log(1 / delta) / N) + rounded * K / N
    yield at_most(sampling.remark_radius(N, delta) / one.mean, small, "ratio to the mean")
    if (K, N, delta) == (EXAMPLE.p.denominator, EXAMPLE.N, EXAMPLE.delta):
        for name, value in (
            ("N", N),
            ("K", K),
            ("mean", one.mean),
            ("Delta", Delta),
            ("joint", sampling.joint_radius(N, K, delta)),
        ):
            yield result(name, value)
        yield result("delta", delta, 1)
        for name, draws in (("early", K * K), ("late", 10_000 * K * K)):
            ratio = Fraction(sampling.remark_radius(draws, delta) * K, draws)
            yield result(f"ratio_{name}", ratio, 3, "an exact fraction, shortened")


# Lemma 11


@check(
    "tian2023-lem-11",
    over="sets of M, eta and mean count",
    instances=instances.means,
    says="h and g at N_n differ from their values at the mean count by as much as (61) and (62) "
    "allow, with explicit constants, in {tried} sets of M, eta and mean count.",
    tolerance=1e-9,  # a difference of one hundredth of the size keeps thirteen digits
    readings={
        "With constants: 1 in (61), 3 in (62), where eta Delta/3 bounds the change of ln g itself, "
        "and 2 in stage 2; |N_n - mean| for Delta, M >= 4.": {},
        "(62) with eta Delta/3 for sigma' and the sign <=.": {"constant": 1},
    },
    planted={
        "sigma' bounded by eta Delta/4 instead of eta Delta/3.": {"share": 1 / 4},
        "The square of Delta/mean in (61).": {"power": 2.0},
        "The constant 1 in stage 2.": {"late": 1},
    },
)
def check_tian2023_lem_11(
    one: Mean | Vocabulary,
    share: float = 1 / 3,
    power: float = 1.0,
    constant: int = 3,
    late: int = 2,
) -> Iterator[Said]:
    """(61), (62) and the slope of ln g in stage 2, at mean counts m and counts N_n around them.

    |h - h_m| <= h_m |N_n/m - 1|; |ln(g/g_m)| <= eta |N_n - m| / 3; |g/g_m - 1| <= 3 times that;
    -s (dg/ds)/g <= 2 in stage 2.
    """
    if isinstance(one, Vocabulary):
        tau, slopes, begin = one.slopes()
        yield arrays.at_most(slopes[begin:], late, "stage 2, tau = {at}", at=tau[begin:])
        yield most("late", float(slopes[begin:].max()), 3)
        yield most("never", float(slopes.max()), 3)
        return
    M, eta, mean, ratios = one.M, one.eta, one.mean, np.array(one.ratios)
    x, middle = decoder.height(M, eta * mean * ratios), decoder.height(M, eta * mean)
    off = np.abs(ratios - 1)  # |N_n - mean| / mean
    change = np.abs(x - middle) / middle
    yield arrays.at_most(change, off**power, "(61) at N_n/mean = {at}", at=ratios)
    D, D_mean = M - 1 + np.exp(x), M - 1 + np.exp(middle)  # 1/g
    logs, allowed = np.abs(np.log(D / D_mean)), eta * mean * off * share
    yield arrays.at_most(logs, allowed, "ln g at N_n/mean = {at}", at=ratios)
    third = constant * eta * mean * off / 3
    yield arrays.at_most(np.abs(D_mean / D - 1), third, "(62) at N_n/mean = {at}", at=ratios)


# Lemma 12


@check(
    "tian2023-lem-12",
    over="runs and settings",
    instances=instances.rows,
    says="In {tried} runs and settings of (26) rows keep the direction zeta_n, and with "
    "probability 1 - delta no theta_n is larger than K/sqrt(N) sqrt(ln(K/delta)).",
    tolerance=1e-8,  # the probability errs by 1e-12 and is divided by delta >= 1e-3
    readings={
        "The form of the rows under (26), and the bound with a constant of 1 for N >= 4 K^2.": {},
        "Only the form of the rows, theta_n = h*(N_n)/h(mean) - 1, under (26).": {"bounded": False},
    },
    planted={
        "K/sqrt(N) squared in the bound on theta.": {"exponent": 2.0},
        "theta_n of the flow, h(N_n)/h(mean) - 1, in the place of the recursion's.": {"flow": True},
    },
)
def check_tian2023_lem_12(
    one: Sampled | Setting, bounded: bool = True, exponent: float = 1.0, flow: bool = False
) -> Iterator[Said]:
    """w_n = (1 + theta_n) (M-1) h(mean) zeta_n, |theta_n| <= K/sqrt(N) sqrt(ln(K/delta))."""
    if isinstance(one, Sampled):
        theta = sampling.row_errors(one.M, one.K, one.eta, one.N, one.state.updates)
        middle = float(decoder.height(one.M, one.eta * -(-one.N // one.K)))
        if flow:
            times = one.eta * one.state.updates.astype(np.float64)
            theta = decoder.height(one.M, times) / middle - 1
        rows = (1 + theta)[:, None] * middle * (one.M - 1) / one.M
        expected = rows * instances.short_zeta(one.M, one.K)
        yield arrays.equal(one.state.W, expected, "rows", scale=float(np.abs(expected).max()))
    elif bounded:
        bounds = [
            instances.printed_theta(one.K, one.N, delta, exponent) for delta in instances.FAILURES
        ]
        chances = sampling.row_error_chances(one.M, one.K, one.eta, one.N, bounds)
        for delta, chance in zip(instances.FAILURES, chances, strict=True):
            yield at_most(1 - chance, delta, f"delta = {delta:g}")
    if one == instances.ROWS_EXAMPLE:
        yield from rows_of_the_example(instances.ROWS_EXAMPLE)


def rows_of_the_example(one: Setting, delta: float = 0.05, runs: int = 2000) -> Iterator[Said]:
    """What holds with probability 0.95, exactly and over sampled runs, the bound, and exponents."""
    M, K, eta, N = one.M, one.K, one.eta, one.N
    rng = np.random.default_rng(7)  # its own, so that the example is one and the same
    drawn = np.quantile(sampling.sampled_row_errors(rng, M, K, eta, N, runs), 1 - delta)
    found = sampling.row_error_quantile(M, K, eta, N, delta)
    bound = instances.printed_theta(K, N, delta)
    for name, size in (("M", M), ("N", N), ("K", K), ("runs", runs)):
        yield result(name, size)
    yield result("eta", eta, 1)
    yield result("delta", delta, 1)
    yield result("found", found, 2)
    yield result("sampled", float(drawn), 2, f"{runs} sampled runs")
    yield result("bound", bound, 3)
    yield result("loose", bound / found, 2)
    for name, value in instances.fitted_exponents().items():
        yield result(name, value, 2)


# Theorem 5


@check(
    "tian2023-thm-5-exact",
    over="runs",
    instances=instances.solutions,
    says="After N updates (26) the decoder is F (I - E')(I + Theta) W-bar, which equals the form "
    "with the pseudo-inverse, in {tried} runs, for matrices of symbolic size.",
    tolerance=1e-10,  # a few hundred updates, and the pseudo-inverse of a well conditioned F
    proof=(
        executed("(F^+)^T = F (I - E')", steps.two_forms_of_the_solution),
        uses(
            "tian2023-eq-26",
            "an update of class n moves row n of F^T Y by eta_Y (e_n - alpha_n), and no other row",
        ),
        by_hand(
            "alpha_n depends on row n alone, so that updates of other classes in between change "
            "nothing for it",
            at="rows",
        ),
        uses("tian2023-lem-5", "after N_n updates of its class row n is (M - 1) h*(N_n) zeta_n"),
        by_hand("every update is a combination of the f_n, so that Y = F A", at="span"),
    ),
    readings={
        "The gradient (7) in the place of (26), of which the theorem does not speak: the rows of "
        "F^T Y lie on the lines of the zeta_n.": {"plain": True},
    },
    planted={
        "F (I + E') for F (I - E'), the sign of E' in Appendix D.1.": {"sign": -1},
        "W-bar with M for M - 1.": {"less": 0},
        "N-bar rounded down.": {"up": False},
    },
)
def check_tian2023_thm_5_exact(
    one: Dense | Line, sign: int = 1, less: int = 1, up: bool = True, plain: bool = False
) -> Iterator[Said]:
    """Y = (F^+)^T (I + Theta) W-bar = F (I - E') (I + Theta) W-bar.

    Row n of W-bar is (M - 1) h(N-bar) zeta_n, N-bar = ceil(N/K), and
    theta_n = h*(N_n)/h(N-bar) - 1.
    """
    if isinstance(one, Line):
        state = one.plain if plain else one.modified
        yield arrays.equal(instances.off_line(state), 0.0, "share beside the line", scale=1.0)
        off = float(instances.off_line(one.plain).max())
        yield least("N_early", one.N)
        yield most("N_late", one.N)
        yield result(f"off_{one.N}", off, 3)
        return
    K, M, N = one.K, one.M, len(one.draws)
    theta = sampling.row_errors(M, K, one.eta, N, np.bincount(one.draws, minlength=K))
    mean = -(-N // K) if up else N // K
    height = float(decoder.height(M, one.eta * mean)) / M
    W_bar = (M - less) * height * np.array([decoder.zeta(M, n) for n in range(K)])
    rows = (1 + theta)[:, None] * W_bar
    E_prime = data.E_prime(data.correlations(one.f))
    size = float(np.abs(one.Y).max())
    inverse = np.linalg.pinv(one.f.T).T @ rows
    yield arrays.equal(inverse, one.Y, "pseudo-inverse", scale=size)
    solution = one.f.T @ (np.eye(K) - sign * E_prime) @ rows
    yield arrays.equal(solution, one.Y, "E'", scale=size)


@check(
    "tian2023-thm-5",
    over="numbers of draws",
    instances=instances.lines,
    says="Where Assumption 2 holds the solution has the form of the theorem, and with probability "
    "1 - delta no theta_n is larger than 5/2 K/sqrt(N) sqrt(ln(K/delta)), for {tried} numbers of "
    "draws.",
    tolerance=1e-8,  # the probability errs by 1e-12 and is divided by delta >= 1e-3
    loose="At delta = 0.05 the bound is more than nine times the exact quantile for 100, 1000 and "
    "10000 draws: it allows for the spread of a coin, and for five halves of that.",
    proof=(
        uses("tian2023-thm-5-exact", "the form of the solution"),
        uses("tian2023-lem-12", "the size of Theta"),
    ),
    planted={
        "K/sqrt(N) cubed in the bound on theta.": {"exponent": 3.0},
        "A bound without the factor K and the constant.": {"without": True},
        "F (I + E') for F (I - E'), the sign of E' in Appendix D.1.": {"sign": -1},
    },
)
def check_tian2023_thm_5(
    one: Line, exponent: float = 1.0, without: bool = False, sign: int = 1
) -> Iterator[Said]:
    """Y = F (I - E') (I + Theta) W-bar with |theta_n| <= 5/2 K/sqrt(N) sqrt(ln(K/delta)).

    Assumption 2 holds for the correlations E, and N is at least 4 K^2.
    """
    state = one.modified
    M, K = state.M, len(state.E)
    theta = sampling.row_errors(M, K, one.eta, one.N, state.updates)
    height = float(decoder.height(M, one.eta * -(-one.N // K))) / M
    rows = ((1 + theta) * (M - 1) * height)[:, None] * instances.short_zeta(M, K)
    solution = (np.eye(K) - sign * data.E_prime(state.E)) @ rows  # Y = F A
    yield arrays.equal(solution, state.A, "solution", scale=float(np.abs(state.A).max()))
    deltas = (1e-3, 0.05, 0.5)
    bounds = [instances.printed_theta(K, one.N, delta, exponent) for delta in deltas]
    bounds = [b / K if without else 2.5 * b for b in bounds]
    chances = sampling.row_error_chances(M, K, one.eta, one.N, bounds)
    for delta, chance in zip(deltas, chances, strict=True):
        yield at_most(1 - chance, delta, f"Theta, delta = {delta:g}")
    needed = sampling.row_error_quantile(M, K, one.eta, one.N, 0.05)
    yield least("loose", 2.5 * instances.printed_theta(K, one.N, 0.05) / needed, 2)
    yield result("bound", instances.printed_theta(K, one.N, 0.05), 2)


# Corollary 1


@check(
    "tian2023-cor-1",
    over="runs and settings",
    instances=instances.residuals_and_steps,
    says="In {tried} runs and settings of (26) residuals have the form (71) with |sigma| <= eta "
    "(|N_n - mean| + c(N_n)); the printed bounds on |sigma| hold with a constant of one, the later "
    "one in {late} cases; and after K/(epsilon eta) ln(M/epsilon) steps, at least 4 K^2, all "
    "classes are epsilon-accurate with probability 0.95.",
    fails="Residuals or numbers of steps are not those of Corollary 1.",
    tolerance=1e-9,  # differences of 1/g on runs of some hundred steps
    readings={
        "This number of steps, at least 4 K^2 of them (Theorem 5: N >> K^2).": {},
        "This number of steps, however small.": Variant(
            {"multiple": 0}, instances=instances.few_steps
        ),
    },
    planted={
        "The number of steps with the square root of 1/epsilon.": {"power": 0.5},
        "M for M - 1 in (71).": {"less": 0},
        "The bounds on sigma without the root of N.": {"root": 0.0},
    },
)
def check_tian2023_cor_1(
    one: Sampled | Accuracy | Spread,
    multiple: int = 4,
    power: float = 1.0,
    less: int = 1,
    root: float = 0.5,
) -> Iterator[Said]:
    """e_n - alpha_n = (M-1)/(M-1+e^(M h(mean))) (1 + sigma) zeta_n; enough steps for epsilon."""
    if isinstance(one, Spread):
        yield from bounds_on_sigma(one, root)
        return
    if isinstance(one, Sampled):
        yield from residual_of_71(one, less)
        return
    printed = one.K / (one.epsilon**power * one.eta) * math.log(one.M / one.epsilon)
    N = max(multiple * one.K**2, math.ceil(printed))
    yield at_most(1 - instances.enough(N, one.K, one.need), 0.05, "some class lacks draws")
    if (one.M, one.K) == (1000, 10):
        yield from steps_of_the_example(one)


def bounds_on_sigma(one: Spread, root: float) -> Iterator[Said]:
    """|sigma| <= eta sqrt(N ln(1/delta)), and K sqrt(ln(1/delta)/N) late, but for delta."""
    for delta in (0.3, 0.1, 0.01, 1e-4):
        size = math.sqrt(math.log(1 / delta))
        always = one.eta * one.N**root * size
        yield at_most(one.chance_beyond(always), delta, f"first bound, delta = {delta:g}")
        late = one.is_late(delta)
        yield count("late", int(late))
        if late:
            later = one.K * size / one.N ** (1 - root)
            yield at_most(one.chance_beyond(later), delta, f"later bound, delta = {delta:g}")


def residual_of_71(one: Sampled, less: int) -> Iterator[Said]:
    """(71) entry by entry, and |sigma| against the constants of Lemma 11."""
    M, K, eta, mean = one.M, one.K, one.eta, -(-one.N // one.K)
    heights = decoder.recursion(M, eta, int(one.state.updates.max()))
    ahead = decoder_rate.lead(heights, M, eta)
    middle = float(decoder.height(M, eta * mean))
    expected = (M - less) / (M - less + math.exp(middle))
    zeta = instances.short_zeta(M, K)
    for n, times in enumerate(one.state.updates.tolist()):
        residual = decoder.residual(one.state.W[n], n, M)
        sigma = float(residual[n]) / expected - 1
        form = expected * (1 + sigma) * zeta[n]
        yield arrays.equal(residual, form, f"form, class {n + 1}", scale=float(residual[n]))
        exact = (M - less) / (M - less + math.exp(heights[times]))  # Lemma 5 with N_n for s
        yield equal(float(residual[n]), exact, f"size, class {n + 1}")
        allowed = eta * (abs(times - mean) + float(ahead[times]))
        yield at_most(abs(sigma), allowed, f"sigma, class {n + 1}")


def steps_of_the_example(one: Accuracy) -> Iterator[Said]:
    """Exact and printed numbers of steps for sampled classes, and their slopes in 1/epsilon."""
    M, K, eta = one.M, one.K, one.eta
    found = instances.steps_for_all(K, one.need, 0.05)
    printed = decoder_rate.printed_steps(M, K, eta, one.epsilon)
    yield least("least", printed / found, 2)
    yield most("most", printed / found, 3)
    if one.epsilon != 0.01:
        return
    for name, value in (("M", M), ("K", K), ("found", found), ("even", K * one.need)):
        yield result(name, value)
    yield result("printed", round(printed))
    yield result("eta", eta, 1)
    yield result("epsilon", one.epsilon, 1)
    fine = np.logspace(2, 4, 9)  # 1/epsilon
    exact = [decoder_rate.steps_to_accuracy(M, eta, 1 / value) for value in fine.tolist()]
    order = [decoder_rate.printed_steps(M, 1, eta, 1 / value) for value in fine.tolist()]
    yield result("slope", instances.slope(fine, exact), 2)
    yield result("slope_printed", instances.slope(fine, order), 3)


# The exact number of updates


@check(
    "ours-decoder-rate",
    over="recursions",
    instances=instances.recursions,
    says="For {tried} vocabularies and rates and their accuracies, {compared} comparisons, the "
    "number of updates to an accuracy is S in continuous time, and for the recursion at most "
    "ceil(S) and at least S - phi(eta) (ln(1/epsilon) + eta).",
    tolerance=1e-9,  # heights after 2e5 additions of numbers that are right to 1e-16
    proof=(
        executed("S from (45)", steps.time_to_accuracy),
        executed("growth along the flow and in an update", steps.growth_of_both),
        executed("what an update adds to c and to ln D", steps.ratio_of_growths),
        by_hand("the sum over the updates telescopes", at="sum-over-updates"),
        by_hand(
            "ln(1 + a y) >= a ln(1 + y) for 0 <= a <= 1, since the logarithm is concave",
            at="ln-ln-since",
        ),
        by_hand(
            "(e^u - 1 - u)/u^2 is a power series with positive coefficients: it increases",
            at="power-series-positive",
        ),
    ),
    planted={
        "S without the term ln(M - 1).": {"logarithm": 0},
        "phi(eta) halved.": {"phi": 0.5},
    },
)
def check_ours_decoder_rate(
    one: Recursion, logarithm: float = 1, phi: float = 1.0
) -> Iterator[Said]:
    """1 - alpha_nn(S) = epsilon; S - phi (ln(1/epsilon) + eta) <= S* <= ceil(S); c bounded."""
    M, eta = one.M, one.eta
    without = (logarithm - 1) * (1 - 1 / M) * math.log(M - 1) / eta
    factor = phi * decoder_rate.lead_factor(eta)
    for epsilon in one.epsilons:
        where = f"epsilon = {epsilon:g}"
        S = decoder_rate.steps_to_accuracy(M, eta, epsilon) + without
        wrong = float(decoder_rate.wrong_probability(M, float(decoder.height(M, eta * max(S, 0)))))
        yield equal(wrong, epsilon, f"{where}, flow")
        counted = decoder_rate.counted_steps(one.heights, M, epsilon)
        low = S - factor * (math.log(1 / epsilon) + eta)
        # at S = 0 the start is accurate already, and bounds are 0 up to rounding
        yield at_least(float(counted), low, f"{where}, at least", scale=max(S, 1.0))
        yield at_most(float(counted), math.ceil(S - 1e-9), f"{where}, at most", scale=max(S, 1.0))
        if (M, eta, epsilon) == (1000, 0.5, 0.01):
            yield from updates_of_the_example(one, epsilon, S, counted, low)
    yield from lead_of(one, phi)


def lead_of(one: Recursion, phi: float) -> Iterator[Said]:
    """c(s) solves (45) at s + c, and lies between 0 and its bound, at every update."""
    M, eta, heights = one.M, one.eta, one.heights
    c, s = decoder_rate.lead(heights, M, eta), np.arange(len(heights))
    left = np.expm1(heights) + (M - 1) * heights
    yield arrays.equal(left[1:], M * eta * (s + c)[1:], "(45) at s + c, s = {at}", at=s[1:])
    yield arrays.at_least(c, 0.0, "c at s = {at}", at=s)
    bound = phi * decoder_rate.largest_lead(M, eta, heights)
    yield arrays.at_most(c[1:], bound[1:], "the bound on c at s = {at}", at=s[1:])


def updates_of_the_example(
    one: Recursion, epsilon: float, S: float, counted: int, low: float
) -> Iterator[Said]:
    """The numbers of updates at one setting."""
    M, eta = one.M, one.eta
    yield result("M", M)
    yield result("eta", eta, 1)
    yield result("epsilon", epsilon, 1)
    yield result("S", S, 4)
    yield result("steps", counted)
    yield result("lower", low, 4)
    yield result("lead", float(decoder_rate.lead(one.heights, M, eta)[counted]), 3)
    yield result("half_log", math.log(1 / epsilon) / 2, 3)
    yield result("short", (1 / epsilon + math.log(M / epsilon)) / eta, 4)
    yield result("printed", decoder_rate.printed_steps(M, 1, eta, epsilon), 5)
