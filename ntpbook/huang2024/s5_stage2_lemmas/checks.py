"""Checks of equations (9) to (12) and of Lemmas 4 to 6: what the gradient of stage 2 does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s5_stage2_lemmas import instances
from ntpbook.huang2024.s5_stage2_lemmas.instances import Certain, GradientPlace, Tried
from ntpbook.shared import ends, one_sample, without_asm_3
from ntpbook.shared.attention import attention
from ntpbook.shared.in_force import FACTS, facts, facts_of_problem
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data.dataset import Dataset
from ntpcore.data.order import analyse
from ntpcore.exact import margin
from ntpcore.huang2024 import bounds, stage1, training, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run
from ntpverdicts import arrays
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import (
    Compared,
    Said,
    assume,
    at_least,
    at_most,
    below,
    count,
    holds,
    least,
    left_out,
    result,
)
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_SENTENCES = 200  # of one run on which Lemma 4 is computed both ways
LEAST_SCALE = 1e-290  # floats below 1e-308 have fewer digits
UNEQUAL = "Assumption 3 fails"


def outnumbered() -> list[Run]:
    """A run on data without Assumption 3, on which optimal attention decreases."""
    return [without_asm_3.outnumbered_run()]


# Equations (9) and (10)


@check(
    "huang2024-eq-9",
    over="data sets with random matrices",
    instances=instances.small_data,
    shows="the weights (9) are well defined",
    says="In {sentences} sentences, with random matrices and with random orthonormal vectors as "
    "tokens, the weights computed by (9) are those of the softmax in Section 3.",
    tolerance=1e-12,  # a few hundred roundings of numbers of size 1
    planted={
        "The first token used as the query.": {"place": 0},
        "Scores divided by two.": {"heat": 2.0},
    },
)
def check_huang2024_eq_9(one: Tried, place: int = -1, heat: float = 1.0) -> Iterator[Said]:
    """phi_l = exp(x_l^T W x_L) / (sum of exp(x_i^T W x_L) over all positions i)."""
    rng, names = one.random(), one.data.vocabulary
    E = np.linalg.qr(rng.normal(size=(len(names), len(names))))[0]
    W = rng.normal(size=E.shape) * 3
    for sample in one.data.samples():
        X = transformer.embed(sample.sentence, names, E)
        # (9) again, term by term: it judges `transformer.attention`
        terms = [math.exp(x @ W @ X[:, place] / heat) for x in X.T]
        weights = np.array(terms) / math.fsum(terms)
        where = " ".join(sample.sentence)
        yield arrays.equal(weights, transformer.attention(X, W), where, scale=1.0)
        yield count("sentences")


@check(
    "huang2024-eq-10",
    over="data sets",
    instances=instances.fewer_data,
    shows="the step (10) is defined as long as the gradient is not zero",
    says="On {tried} data sets, 20 steps of (10), computed in dense matrices with the paper's "
    "formula (6) for the gradient, give the same matrix as the training code used on all other "
    "pages.",
    tolerance=1e-8,  # the dense gradient subtracts nearly equal numbers
    planted={
        "Plain gradient descent, not divided by the norm.": {"power": 0.0},
        "Equal weights for all distinct samples, although one occurs more often.": Variant(
            {"alike": True}, instances=lambda: [Tried(instances.repeated_data(1), 0)]
        ),
    },
)
def check_huang2024_eq_10(
    one: Tried, steps: int = 20, power: float = 1.0, alike: bool = False
) -> Iterator[Said]:
    """W <- W - eta G / ||G||, G being equation (6) with dense matrices, from zero."""
    eta, eta0, steps1 = 0.3, 0.5, 20
    problem, N = from_dataset(one.data), len(list(one.data.samples()))
    E, W = np.eye(problem.vocab_size), np.zeros((problem.vocab_size,) * 2)
    W_ov = stage1.weights(problem.following, steps1, eta0)
    shares = np.full(N, 1 / N) if alike else None
    for _ in range(steps):
        G = transformer.attention_gradient(one.data, W_ov, W, E, weights=shares)
        W = W - eta * G / np.linalg.norm(G) ** power
    gap = stage1.gap(problem.vocab_size, steps1, eta0)
    ours = np.zeros_like(W)
    ours[problem.entry_token, problem.entry_query] = training.run(
        problem, steps, eta, gap
    ).state.weights
    yield arrays.equal(ours, W, scale=float(np.abs(W).max()))


# Equation (11)


@once
def ratio_of_weights(heat: int = 1) -> tuple[Shown, ...]:
    """phi_l / phi_l' = exp(a_l - a_l'), and phi_l is smaller, for any rest of the sentence."""
    import sympy as sp

    a, b = sp.symbols("a b", real=True)
    p, q = sp.symbols("p q", positive=True)  # e^a, e^b
    rest = sp.Symbol("rest", nonnegative=True)  # 0 in a sentence of two positions
    Z = sp.exp(a / heat) + sp.exp(b / heat) + rest  # (9)
    quotient = (sp.exp(a / heat) / Z) / (sp.exp(b / heat) / Z)
    return (
        identity("the ratio of two weights", quotient, sp.exp(a - b)),
        at_least_zero("the ratio minus the weight", sp.factor(p / q - p / (p + q + rest))),
    )


@check(
    "huang2024-eq-11",
    over="trained models",
    instances=instances.all_runs,
    says="The ratio of two weights is the exponential of the difference of their scores. In all "
    "{compared} sentences of {tried} trained models no weight exceeds the bound (11), whether "
    "$C_0$ is measured from the largest or from the mean score of the sentence.",
    tolerance=1e-9,  # scores in the thousands leave twelve digits behind the point
    proof=(
        executed(
            "in the quotient of two weights the sum in the denominator of (9) cancels, and "
            "the quotient is at least the first weight",
            ratio_of_weights,
        ),
        by_hand("a convex combination of scores is at most the largest of them", at="convex"),
    ),
    planted={
        "Attention weights computed from halved scores.": {"heat": 2},
        "The bound $e^{-C_0}$ 1.1 times sharper.": {"sharper": 1.1},
    },
)
def check_huang2024_eq_11(run: Run, heat: int = 1, sharper: float = 1.0) -> Iterator[Said]:
    """log phi_l <= -C if a_l is C below a convex combination of scores."""
    problem, weights = run.problem, run.second.state.weights
    for i in range(len(problem.optimal)):
        entries, counts = sample_tokens(problem, i)
        a = weights[entries]
        log_phi = a / heat - np.logaddexp.reduce(a / heat + np.log(counts))
        above = np.array([a.max(), float(a @ counts) / counts.sum()])
        C = above[:, None] - a[None, :]
        bound = -C - math.log(sharper)
        slacks = np.where(C >= 0, bound - log_phi, np.abs(C))  # (11) says nothing where C < 0
        yield Compared(float(arrays.slack(slacks).slack) + 0.0, f"merged sentence {i}")


def sample_tokens(problem: Problem, sample: int) -> tuple[Integers, Floats]:
    """Entries of the tokens of a merged sample, the optimal one first, and how often they occur."""
    inside = slice(problem.start[sample], problem.start[sample + 1])
    entries = np.concatenate([[problem.optimal[sample]], problem.rival[inside]])
    counts = np.concatenate([[problem.optimal_count[sample]], problem.rival_count[inside]])
    return entries, counts.astype(float)


# Equation (12)


@once
def two_roles(share: str = "1/2") -> tuple[Shown, ...]:
    """1/2 at an optimal token and -1/2 at another one meets their constraint: the margin is 1.

    Args:
        share: what stands at optimal tokens.
    """
    import sympy as sp

    best, other = sp.sympify(share), sp.Rational(-1, 2)
    return (at_least_zero("the margin minus 1", best - other - 1),)


@once
def middle(share: str = "1/4") -> tuple[Shown, ...]:
    """|(u + v) / 2|^2 = (|u|^2 + |v|^2) / 2 - |u - v|^2 / 4, entry by entry.

    Args:
        share: the 1/4 of the last term.
    """
    import sympy as sp

    u, v = sp.symbols("u v", real=True)
    right = (u**2 + v**2) / 2 - sp.sympify(share) * (u - v) ** 2
    return (identity("the square of the midpoint", ((u + v) / 2) ** 2, right),)


@check(
    "huang2024-eq-12",
    over="data sets",
    instances=instances.small_data,
    says="The matrices that satisfy the constraints of (12) form a closed convex set, in which "
    "the norm has a unique minimizer. On {tried} data sets the constraints of (12) are those of "
    "(3), the exact solution satisfies all {constraints} of them, and each of {others} other "
    "matrices of the same norm violates one.",
    proof=(
        uses("huang2024-eq-3", "the constraints are those of (3)"),
        executed(
            r"the scores $\frac12$ of optimal tokens and $-\frac12$ of the other tokens of their "
            "sentences have margins of 1",
            two_roles,
            planted={r"$\frac25$ at optimal tokens.": {"share": "2/5"}},
        ),
        by_hand("some matrix has these scores, since a token has one role per query", at="roles"),
        by_hand(
            "a matrix of minimal norm exists, because the set of matrices that satisfy all "
            "constraints is closed",
            at="closest",
        ),
        executed(
            "the midpoint of two matrices of equal norm is shorter",
            middle,
            planted={r"$\frac15$ in place of $\frac14$.": {"share": "1/5"}},
        ),
        by_hand(
            "the matrix of minimal norm is unique, and no other matrix of this norm "
            "satisfies all constraints",
            at="one",
        ),
    ),
    planted={
        "The solution scaled down by a tenth.": {"scale": Fraction(9, 10)},
        r"Constraints 1.1 times sharper: margins of $\frac{11}{10}$.": {"scale": Fraction(10, 11)},
        "A constraint for every pair of different tokens of a sentence.": {"every": True},
    },
)
def check_huang2024_eq_12(
    one: Tried, scale: Fraction = Fraction(1), every: bool = False
) -> Iterator[Said]:
    """Constraints of (12) = pairs of (3); W* meets them; no other matrix of its norm does."""
    orders = analyse(one.data).orders or {}
    pairs = {(q, a, b) for q, order in orders.items() for a, b in order.pairs}
    asked = constraints_12(one.data, every)
    yield holds(asked == pairs, "the constraints of (12) and (3) differ")
    star = margin.W_kq_star(orders)
    for q, a, b in sorted(asked):
        scores = star[q].scores
        gap = scale * (scores[a] - scores[b])
        yield at_least(gap, 1, f"query {q}, {a} against {b}")
    problem, rng = from_dataset(one.data), one.random()
    for _ in range(20):
        W = problem.W_kq_star
        W = W + rng.normal(size=len(W)) * 10.0 ** rng.uniform(-4, 1)
        W *= problem.norm / np.linalg.norm(W)
        gaps = W[problem.pairs[:, 0]] - W[problem.pairs[:, 1]]
        yield below(float(gaps.min()), 1.0, "another matrix of the same norm")
    yield count("constraints", len(asked))
    yield count("others", 20)


def constraints_12(data: Dataset, every: bool = False) -> set[tuple[str, str, str]]:
    """Query, optimal and other token of each constraint of (12), read off position by position.

    Args:
        data: the data.
        every: leave out that n of the other token is not the next token.
    """
    n = analyse(data).collocation
    return {
        (sample.sentence[-1], best, other)
        for sample in data.samples()
        for best, other in product(sample.sentence, repeat=2)
        if best != other and n[other] != sample.next_token
        if every or n[best] == sample.next_token
    }


# Lemma 4


@check(
    "huang2024-lem-4",
    over="runs",
    instances=instances.all_runs,
    says="The formula of the lemma is the derivative of the loss along any $W'$. On up to 200 "
    "sentences of each of {tried} runs, the inner product of the gradient (6) and a random $W'$ "
    "agrees with the lemma.",
    tolerance=1e-9,  # cancellation in T - p leaves nine digits
    proof=(
        executed(
            r"the formula for any number of non-optimal tokens and any $|\mathcal V|$, from the "
            "loss and the softmax",
            one_sample.lemma_4,
        ),
        executed(
            "the formula for explicit sentences, with arbitrary constants in the columns of "
            r"$W_{\mathrm{ov}}$",
            one_sample.lemma_4_by_positions,
        ),
        by_hand(
            "the positions of a token share its score; the loss is a sum over samples", at="sum"
        ),
    ),
    planted={
        "$2A$ in place of $A$.": {"factor": 2},
        r"$W_{\mathrm{ov}}$ with entries changed by a hundredth of $A$, so that its margins "
        "differ.": {"spread": 0.01},
    },
)
def check_huang2024_lem_4(run: Run, factor: int = 1, spread: float = 0.0) -> Iterator[Said]:
    """<grad L, W'> = A sum pi [(T_o - 1) sum phi (x_* - mean) + sum T_j phi (x - mean)] W' q."""
    weights = run.second.state.weights
    rng = np.random.default_rng(len(weights))
    for W in (weights / np.linalg.norm(weights), weights):
        direction = rng.normal(size=len(W))
        samples = rng.permutation(len(run.problem.optimal))[:MOST_SENTENCES]
        sides = np.array(
            [
                projections(run.problem, int(i), W, direction, run.second.gap, spread, rng)
                for i in samples
            ]
        )
        printed, lemma, scale = sides.T
        yield arrays.equal(printed, factor * lemma, "sentence {at}", at=samples, scale=scale)


def projections(
    problem: Problem,
    sample: int,
    W: Floats,
    direction: Floats,
    gap: float,
    spread: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """<grad L_n, W'> as (6) prints it, the same by Lemma 4, and the size of their terms.

    Args:
        problem: the data.
        sample: number of a merged sample.
        W: (K,), the entries of W_kq.
        direction: (K,), those of W'.
        gap: A.
        spread: the entries of W_ov are moved at random by this share of A; the lemma needs 0.
        rng: for these.
    """
    entries, counts = sample_tokens(problem, sample)
    columns = np.full((problem.vocab_size, len(entries)), -gap / problem.vocab_size)
    columns[problem.following[problem.entry_token[entries]], np.arange(len(entries))] += gap
    columns += spread * gap * rng.normal(size=columns.shape)
    place = np.repeat(np.arange(len(entries)), counts.astype(int))  # order does not matter
    columns, positions = columns[:, place], entries[place]  # W_ov X
    following = problem.following[problem.entry_token[positions]]
    label = following[0]  # the optimal token comes first
    phi = transformer.softmax(W[positions])
    T = transformer.softmax(columns @ phi)
    scores = direction[positions]
    lifted = phi * ((scores[:, None] - scores[None, :]) @ phi)  # phi (x - mean)^T W' q
    printed = lifted @ (columns.T @ (T - (np.arange(len(T)) == label)))  # (6)
    optimal = following == label
    lemma = gap * (T[label] - 1) * lifted[optimal].sum()
    lemma += gap * (T[following] * lifted)[~optimal].sum()
    # T - p is rounded where T is near 1, so terms without it set the scale
    scale = max(float(gap * np.abs(lifted).sum()), LEAST_SCALE)
    return float(printed), float(lemma), scale


# Lemma 5


@once
def start_by_counts(sign: int = 1) -> tuple[Shown, ...]:
    """At W = 0 the mass of a token is its share of the positions, so that counts compare masses.

    Of the sentence o and j are named, with the counts c_o and c_j, and all others have the count
    c_k together, which is 0 where there are none.

    Args:
        sign: of c_o - c_j, which Assumption 3 makes not negative.
    """
    import sympy as sp

    counts = (*sp.symbols("c_o c_j", positive=True), sp.Symbol("c_k", nonnegative=True))
    terms = [number * sp.exp(0 * number) for number in counts]  # (9) with all scores 0
    masses = [one / sum(terms) for one in terms]
    more = sp.Symbol("more", nonnegative=True)  # c_o = c_j + more, Assumption 3
    lead = (masses[0] - masses[1]).subs(counts[0], counts[1] + sign * more)
    return (
        identity("the mass of $o$", masses[0], counts[0] / sum(counts)),
        at_least_zero("$m_o - m_j$ if $o$ occurs at least as often", sp.factor(lead)),
    )


@check(
    "huang2024-app-induction",
    over="runs",
    instances=instances.frequent_runs,
    says="In {states} states, at the start and at the end of {tried} runs, the optimal token has "
    "the largest mass in each sentence, and all {entries} entries of the gradient have the "
    "stated signs.",
    tolerance=1e-10,  # logarithms of sums of a few hundred terms, of a size of up to some thousands
    proof=(
        executed(
            "at the start the mass of a token is its share of the positions, and the optimal token "
            "has at least the mass of a token that occurs no more often",
            start_by_counts,
            planted={"The optimal token occurs less often.": {"sign": -1}},
        ),
        executed(
            "the signs of the gradient of a sample, for any number of non-optimal tokens",
            one_sample.signs,
        ),
        by_hand(
            "the samples agree on the signs, since a token has one role per query", at="samples"
        ),
        by_hand(
            "induction over $t$: a step raises the scores of optimal tokens and raises the score "
            "of no rival, so the optimal token keeps the largest mass",
            at="induction",
        ),
    ),
    planted={
        "Data without Assumption 3, for which the condition fails from the start.": Variant(
            {"frequent": False}, instances=outnumbered
        ),
        "$2A$ in place of $A$ in the entries of the gradient.": {"factor": 2},
    },
)
def check_huang2024_app_induction(run: Run, frequent: bool = True) -> Iterator[Said]:
    """While m_o >= m_j in every sentence, entries of optimal tokens are < 0 and others >= 0."""
    if frequent and not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    end = run.second.state.weights
    for where, weights in (("at the start", np.zeros_like(end)), ("at the end", end)):
        found = attention(run.problem, weights, run.second.gap)
        ahead = found.best[run.problem.sample_of] - found.rivals
        yield arrays.slack(ahead, f"{where}, a non-optimal token has a larger mass")
        G = training.gradient(run.problem, weights, run.second.gap)[1]
        is_optimal = run.problem.is_optimal
        yield arrays.at_least(np.where(is_optimal, -G, G), 0.0, f"{where}, a sign")
        yield holds(bool((G[is_optimal] < 0).all()), f"{where}, an optimal entry is not negative")
        yield count("states")
        yield count("entries", len(G))


@check(
    "huang2024-lem-5",
    over="runs",
    instances=instances.frequent_runs,
    says="On {tried} runs with Assumption 3, {steps} steps in all, no measured step decreases the "
    "log-odds of the attention on an optimal token, and no optimal position has attention below "
    r"$1/L_{\max}$.",
    fails="At some step the log-odds of an optimal token decrease, or an optimal position has "
    r"attention below $1/L_{\max}$.",
    tolerance=1e-15,  # log(1/L) is rounded; the sign of a change is exact
    proof=(
        uses(
            "huang2024-app-induction",
            "the optimal token has the largest weight at every step, "
            "and its score rises relative to the others",
        ),
        by_hand(
            r"the weight of an optimal position does not decrease, and it starts at $1/L \ge "
            r"1/L_{\max}$",
            at="weight",
        ),
    ),
    planted={
        "Data that violate Assumption 3: the counterexample of the next section.": Variant(
            {"frequent": False}, instances=outnumbered
        ),
        r"The bound $1/L_{\max}$ 1.1 times sharper.": {"times": 1.1},
    },
)
def check_huang2024_lem_5(run: Run, frequent: bool = True, times: float = 1.0) -> Iterator[Said]:
    """Log-odds of the optimal token never fall, and each of its positions has 1/L_max at least."""
    if frequent and not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    rows = run.second.rows
    later = rows.step > 0
    if later.any():
        change = rows.change[later]
        yield arrays.slack(change, "change of log-odds up to step {at}", at=rows.step[later])
        yield holds(bool((change >= 0).all()), "log-odds fall")
    level = math.log(times * bounds.lem_5_weight(run.constants))
    yield arrays.at_least(rows.log_weight, level, "attention weight, step {at}", at=rows.step)
    yield count("steps", run.second.state.step)


# Section 5.3, Step 1


@check(
    "huang2024-app-sketch-1",
    over="runs",
    instances=instances.frequent_runs,
    says="The lower bound follows from Lemma 5. On {tried} runs the smallest weight of an "
    r"optimal position in any sentence is at least $1/L_{\max}$ at every recorded step, and it "
    r"equals $1/L_{\max}$ at the start of {attained} runs.",
    fails=r"An optimal position has attention below $1/L_{\max}$.",
    tolerance=1e-15,  # log(1/L) is rounded
    proof=(
        uses(
            "huang2024-lem-5",
            "every optimal position has attention of at least "
            r"$1/L_{\max}$ at every step",
        ),
    ),
    planted={
        r"A lower bound of $1.01/L_{\max}$.": {"times": 1.01},
        r"The bound $1/L_{\max}$ 1.1 times sharper.": {"times": 1.1},
    },
)
def check_huang2024_app_sketch_1(run: Run, times: float = 1.0) -> Iterator[Said]:
    """The least attention of an optimal position is 1/L_max at least, and no more can be said."""
    rows, level = run.second.rows, math.log(times * bounds.lem_5_weight(run.constants))
    yield arrays.at_least(rows.log_weight, level, "attention weight, step {at}", at=rows.step)
    yield count("attained", int(abs(float(rows.log_weight[0]) - level) <= 1e-15))


# Lemma 5 without Assumption 3


def first_moves(
    data: Dataset, exponent: int = without_asm_3.EXPONENT
) -> dict[tuple[str, ...], Fraction]:
    """How fast the log-odds of the optimal token of each sentence change at W = 0, exactly.

    The derivative along minus the gradient, times a positive constant, for the gap
    A = exponent log 2. With this gap all probabilities are rational: a token of mass m has the
    logit A m, whose exponential is the integer 2^(exponent m).

    Raises:
        ValueError: exponent times a mass is not an integer.
    """
    structure = analyse(data)
    gradient: dict[tuple[str, str], Fraction] = {}
    masses: dict[tuple[str, ...], tuple[dict[str, Fraction], str]] = {}
    for sample in structure.data.samples():
        words = sample.sentence
        m = {x: Fraction(words.count(x), len(words)) for x in dict.fromkeys(words)}
        powers = {x: exponent * share for x, share in m.items()}
        if any(power.denominator != 1 for power in powers.values()):
            raise ValueError(f"exponent {exponent} is no multiple of the length of {words}")
        # in fractions and not by another form: the sign has to be exact
        total = sum(2 ** int(power) for power in powers.values())
        total += len(data.vocabulary) - len(m)
        best = next(x for x in m if structure.collocation[x] == sample.next_token)
        error = {x: Fraction(2 ** int(powers[x]), total) - (x == best) for x in m}
        mean = sum(m[x] * error[x] for x in m)
        for x in m:  # Lemma 4 for W' = x q^T, divided by A pi
            entry = (words[-1], x)
            move = sample.count * m[x] * (error[x] - mean)
            gradient[entry] = gradient.get(entry, Fraction(0)) + move
        if len(m) > 1:
            masses[words] = m, best
    return {
        words: sum(
            (m[x] / (1 - m[best]) * gradient[words[-1], x] for x in m if x != best),
            -gradient[words[-1], best],
        )
        for words, (m, best) in masses.items()
    }


@once
def log_odds_along(sign: int = -1) -> tuple[Shown, ...]:
    """The log-odds of o move along W' at the rate v_o - sum_j m_j v_j / (1 - m_o).

    The sentence has one rival, with E_k = 0, or two; on the data of the claim none has more.

    Args:
        sign: of the sum over the rivals.
    """
    import sympy as sp

    s, (v_o, v_j, v_k) = sp.Symbol("s", real=True), sp.symbols("v_o v_j v_k", real=True)
    E_o, E_j = sp.symbols("E_o E_j", positive=True)
    E_k = sp.Symbol("E_k", nonnegative=True)
    terms = [E * sp.exp(s * v) for E, v in ((E_o, v_o), (E_j, v_j), (E_k, v_k))]
    m_o, m_j, m_k = (one / sum(terms) for one in terms)  # (9)
    odds = m_o / (m_j + m_k)
    moved, rate = sp.diff(odds, s) / odds, v_o + sign * (m_j * v_j + m_k * v_k) / (1 - m_o)
    return (
        identity("the odds of $o$", sp.cancel(odds - m_o / (1 - m_o)), sp.Integer(0)),
        identity("the slope of their logarithm", *(sp.cancel(x.subs(s, 0)) for x in (moved, rate))),
    )


def two_tokens_alike() -> list[Dataset]:
    """The same order, with each token once in the second sentence."""
    return [without_asm_3.outnumbered_data(outnumbered=False)]


@check(
    "ours-lem-5-needs-asm-3",
    over="exact data sets",
    instances=lambda: [without_asm_3.outnumbered_data()],
    says=r"At $W = 0$ with $A = 60\log 2$, the log-odds of the attention on $b$ in the sentence "
    r"$b\,b\,a$ have a negative derivative along the first step. Computed in fractions, and up to "
    r"a positive factor, this derivative is {derivative}. The log-odds after the first step are "
    r"linear in "
    r"$\eta$, so the step decreases them for every step size. In floating point with $\eta = 0.01$ "
    "the log-odds decrease for {last} steps.",
    fails="On this example no attention on an optimal token decreases at the start.",
    proof=(
        executed("the gradient of a sample, by Lemma 4", one_sample.lemma_4),
        executed(
            "how the log-odds of a token with at most two rivals change with the scores",
            log_odds_along,
            planted={
                "The mean over the non-optimal tokens added in place of subtracted.": {"sign": 1}
            },
        ),
        by_hand(
            r"after the first step the log-odds are linear in $\eta$, with a negative slope",
            at="slope",
        ),
    ),
    planted={
        "Each token once in the second sentence, so that Assumption 3 holds.": Variant(
            instances=two_tokens_alike
        ),
        "$2A$ in place of $A$ in Lemma 4.": {"factor": 2},
    },
)
def check_ours_lem_5_needs_asm_3(data: Dataset) -> Iterator[Said]:
    """Some sentence has d/d eta log(m_o / (1 - m_o)) < 0 at eta = 0 and W = 0."""
    moves = first_moves(data)
    words = min(moves, key=lambda sentence: moves[sentence])
    yield below(moves[words], 0, " ".join(words))
    yield result("derivative", float(moves[words]), digits=3)
    rows = without_asm_3.outnumbered_run(outnumbered=not from_dataset(data).frequent).second.rows
    falling = rows.step[rows.change < 0]
    yield result("last", int(falling.max(initial=0)))
    yield result("change", -float(rows.change.min()), digits=2)


# Lemma 6


@once
def lengths(most: int = 2) -> tuple[Shown, ...]:
    """|x_o - mean|^2 = S^2 + sum of the other masses squared, S being their sum; any x is like o.

    Since sum m^2 <= S^2, this is at most 2 S^2, where S = phi_- for o and S <= 1 for any x.
    """
    import sympy as sp

    m = sp.symbols("m_1:4", nonnegative=True)
    tokens = [sp.eye(4).col(place) for place in range(4)]  # orthonormal, Assumption 2
    rest = sum(m)
    mean = (1 - rest) * tokens[0]
    for mass, token in zip(m, tokens[1:], strict=True):
        mean += mass * token
    away = tokens[0] - mean
    squared = rest**2 + sum(mass**2 for mass in m)
    return (identity("the squared distance", away.dot(away), squared), *one_sample.squares(most))


@check(
    "huang2024-app-gradient-norm",
    over="states",
    instances=instances.states,
    says=r"Let $\phi_-$ be the attention on the non-optimal tokens of a sentence. Because token "
    "embeddings are orthonormal, the distance from the attention-weighted mean of the sentence is "
    r"at most $\sqrt2\,\phi_-$ for the optimal token and at most $\sqrt2$ for any other token. "
    r"At {tried} attention matrices (zero, trained, and random) the bound on the norm of the "
    r"gradient holds, also with $\sqrt2$ in place of 2. The bound of the paper is at least {least} "
    "times the norm of the gradient.",
    tolerance=1e-10,  # logarithms of sums of a few hundred terms, of a size of up to some thousands
    proof=(
        uses("huang2024-lem-4", "as Lemma 4 holds for every $W'$, it gives the gradient itself"),
        executed(
            "the distance of a token from the mean of its sentence, for three other tokens",
            lengths,
        ),
        by_hand(
            "this distance for any number of tokens, and the triangle inequality over positions "
            "and samples",
            at="triangle",
        ),
    ),
    planted={
        r"The bound with $\sqrt2$ made 1.1 times sharper, for a single non-optimal token.": Variant(
            {"root": math.sqrt(2) / 1.1}, instances=instances.one_column
        ),
        r"$\phi_-$ in place of $\sqrt2\,\phi_-$.": {"most": 1},
    },
)
def check_huang2024_app_gradient_norm(
    state: GradientPlace, constant: float = 2.0, root: float = math.sqrt(2)
) -> Iterator[Said]:
    """||G|| <= 2 A sum_n pi ((1 - T_o) phi_+ phi_- + sum_j T_j m_j), at any W_kq; sqrt(2) does."""
    norm = training.gradient(state.problem, state.weights, state.gap)[0]
    bound = log_norm_bound(state, constant)
    yield at_least(bound, norm, scale=1.0)
    yield at_least(log_norm_bound(state, root), norm, r"with $\sqrt2$", scale=1.0)
    yield least("least", math.exp(bound - norm), digits=3)


def log_norm_bound(state: GradientPlace, constant: float) -> float:
    """Log of the displayed bound on the norm of the gradient, with this number for its 2."""
    problem = state.problem
    found = attention(problem, state.weights, state.gap)
    both = np.logaddexp.reduceat(found.wrong + found.rivals, problem.start[:-1])
    each = np.logaddexp(found.missing + found.best + found.rest, both)
    return math.log(constant * state.gap) + float(np.logaddexp.reduce(problem.log_pi + each))


LEMMA_6_TOLERANCE = 1e-10  # t additions of a step of length eta, t up to a few hundred thousand


@check(
    "huang2024-app-lem-6-cosine",
    over="runs",
    instances=instances.all_runs,
    says="The negative gradient of a sample is a sum over pairs of an optimal and a non-optimal "
    r"token, whose margins under $W_{\mathrm{kq}}^*$ are at least 1. On {tried} runs, in "
    r"{compared} comparisons, the cosine of the negative gradient and $W_{\mathrm{kq}}^*$ is at "
    r"least $1/(\sqrt2\,\|W_{\mathrm{kq}}^*\|)$, and so at least the bound of the paper.",
    fails="The cosine falls below its bound.",
    tolerance=LEMMA_6_TOLERANCE,
    proof=(
        uses("huang2024-app-induction", r"$b_j \ge 0$ for every non-optimal token, at every step"),
        executed(r"the gradient of a sample in pairs, and $a = \sum_j b_j$", one_sample.signs),
        executed(r"$\sum_j b_j^2 \le (\sum_j b_j)^2$", one_sample.squares),
        by_hand(
            r"$-\langle G_n, W^*\rangle \ge a_n$ and $\|G_n\| \le \sqrt2\, a_n$, summed over "
            "the samples",
            at="sum",
        ),
    ),
    planted={
        r"The bound with $\sqrt2$ made 1.1 times sharper, on data with a single pair.": Variant(
            {"root": math.sqrt(2) / 1.1}, instances=instances.one_pair
        ),
        "$2A$ in place of $A$ in the entries of the gradient.": {"factor": 2},
        r"$\sum_j b_j^2$ left out of the norm.": {"most": 1},
    },
)
def check_huang2024_app_lem_6_cosine(run: Run, root: float = math.sqrt(2)) -> Iterator[Said]:
    """-cos(G, W*) >= 1 / (sqrt(2) ||W*||) >= min m_o / (2 ||W*||) >= 1 / (2 L_max ||W*||)."""
    rows, c = run.second.rows, run.constants
    if not run.problem.frequent:
        yield left_out(UNEQUAL)
        return
    printed = -bounds.lem_6_cosine(c, rows.least_attention)
    sharper = 1 / (root * c.norm_kq)
    yield arrays.at_least(-rows.cos_star, printed, "as stated, step {at}", at=rows.step)
    yield arrays.at_least(-rows.cos_star, sharper, r"with $\sqrt2$, step {at}", at=rows.step)
    level = 1 / (2 * c.max_length * c.norm_kq)
    yield arrays.at_least(printed, level, r"with $1/L_{\max}$, step {at}", at=rows.step)


@check(
    "huang2024-lem-6",
    over="runs",
    instances=instances.all_runs,
    says=r"The norm of $W_{\mathrm{kq}}$ stays between $t\eta/(2L_{\max}\|W_{\mathrm{kq}}^*\|)$ "
    r"and $t\eta$, and even above $t\eta/(\sqrt2\,\|W_{\mathrm{kq}}^*\|)$. These inequalities hold "
    "at the recorded steps of {tried} runs, in {compared} comparisons.",
    fails="The norm violates its bounds.",
    tolerance=LEMMA_6_TOLERANCE,
    proof=(
        uses(
            "huang2024-app-lem-6-cosine",
            "each step advances by at least "
            r"$\eta/(\sqrt2\,\|W^*\|)$ along $W^*$",
        ),
        by_hand(
            "the sum over the steps, with the Cauchy–Schwarz and the triangle inequality", at="sum"
        ),
    ),
    planted={
        "The bounds computed with half the step size.": {"pace": 0.5},
        r"The bound with $\sqrt2$ made 1.1 times sharper, on data with a single pair.": Variant(
            {"root": math.sqrt(2) / 1.1}, instances=instances.one_pair
        ),
    },
    readings={
        r"for every initial $W_{\mathrm{kq}}$, not for zero alone": Variant(
            {"start": instances.ELSEWHERE_NORM}, instances=instances.from_elsewhere
        ),
    },
)
def check_huang2024_lem_6(
    run: Run, start: float = 0.0, pace: float = 1.0, root: float = math.sqrt(2)
) -> Iterator[Said]:
    """t eta / (sqrt(2) ||W*||) <= ||W|| <= t eta from zero, hence t eta / (2 L ||W*||) <= ||W||."""
    if not (run.second.rows.step > 0).any():
        yield left_out("no step was taken")
        return
    compared = list(_lemma_6(run, start, pace, root))
    sharper = -float(run.second.rows.cos_star.max()) * run.problem.norm * math.sqrt(2)
    if run.problem.frequent:
        yield from compared
        yield least("sharper", sharper, digits=5)
        return
    yield left_out(UNEQUAL)
    yield count("others")
    yield count("others_broken", int(any(one.slack < -LEMMA_6_TOLERANCE for one in compared)))
    yield least("others_sharper", sharper, digits=5)


def _lemma_6(run: Run, start: float, pace: float, root: float) -> Iterator[Compared]:
    """The inequalities at all recorded steps; the sharper one from zero only."""
    rows, c = run.second.rows, run.constants
    later = rows.step > 0
    step, norm = rows.step[later], rows.norm[later]
    t: Floats = pace * step.astype(float)
    low, high = bounds.lem_6_norm(c, t, start)
    yield arrays.at_least(norm, low, "the norm, step {at}", at=step)
    yield arrays.at_most(norm, high, "the norm, step {at}", at=step)
    if not start:
        sharper = t * c.eta / (root * c.norm_kq)
        yield arrays.at_least(norm, sharper, r"the norm with $\sqrt2$, step {at}", at=step)


# Section 5.3, Step 2

FIRST = 437  # the step of Example 1 from which the cosine falls behind, at the paper's step size


def example_and_runs(
    seed: int = 7, sets: int = 10, steps: int = 2000, step: int = FIRST
) -> list[Run | Certain]:
    """Example 1 at the paper's step size, enclosed, and runs."""
    return [instances.certain_example(step), *instances.frequent_runs(seed, sets, steps)]


def shortly_before() -> list[Certain]:
    """Example 1, some steps before the cosine falls behind."""
    return [instances.certain_example(FIRST - 20)]


@check(
    "huang2024-app-sketch-2",
    over="runs and an enclosed step",
    instances=example_and_runs,
    says=r"The cosine of the negative gradient and $W_{\mathrm{kq}}^*$ exceeds the smallest "
    "weight of an optimal token at {compared} recorded steps.",
    fails="The weights of optimal tokens tend to 1 exponentially fast. The cosine of the "
    r"negative gradient and $W_{\mathrm{kq}}^*$ converges more slowly, so it eventually falls "
    "below the smallest of these weights.",
    tolerance=1e-12,  # a cosine of sums of a few hundred terms
    hypotheses=("zero start", *FACTS),
    planted={
        r"The weight divided by $2\|W_{\mathrm{kq}}^*\|$, as in Lemma 6.": Variant(
            {"divided": True}, expected=Verdict.NOT_CONTRADICTED
        ),
        "Example 1 twenty steps before the step that refutes the statement.": Variant(
            instances=shortly_before, expected=Verdict.NOT_CONTRADICTED
        ),
        "The bound, the smallest weight, 1.1 times sharper, on Example 1 twenty steps before the "
        "step that refutes the statement.": Variant(
            {"sharper": Fraction(11, 10)}, instances=shortly_before
        ),
    },
    readings={
        "the weight of each optimal position in place of the attention on the optimal token": {
            "single": True
        },
    },
)
def check_huang2024_app_sketch_2(
    one: Run | Certain,
    divided: bool = False,
    single: bool = False,
    sharper: Fraction = Fraction(1),
) -> Iterator[Said]:
    """cos(-G, W*) > min_n m_o at every step, under Assumptions 1 to 3 and prefix closure."""
    if isinstance(one, Certain):
        yield assume("zero start", one.step >= 0)  # `enclosure.enclose` starts at zero
        yield from facts(one.data)
        # on Example 1 ||W*||^2 = 13/6 > 2, and no sentence repeats its optimal token
        weight = sharper * one.weight / (2 if divided else 1)
        yield at_most(weight, one.cosine, "the smallest optimal weight")
        yield result("weight", ends.down(one.weight, 7), digits=7)
        yield result("cosine", ends.up(one.cosine, 7), digits=7)
        return
    if not one.problem.frequent or not one.problem.prefix_closed:
        yield left_out(UNEQUAL if not one.problem.frequent else "the data are not prefix-closed")
        return
    rows = one.second.rows
    yield assume("zero start", bool(rows.step[0] > 0 or rows.norm[0] == 0))
    yield from facts_of_problem(one.problem)
    later = rows.step > 0
    weights = rows.least_attention
    if single:
        weights = np.exp(rows.log_weight)  # the least since the row before: never too large
    share = 1 / (2 * one.problem.norm) if divided else 1.0
    lead = (-rows.cos_star - share * weights)[later]
    yield arrays.slack(lead, "the cosine, step {at}", at=rows.step[later])
    yield count("runs")
    yield count("failing", int((lead < -1e-12).any()))
