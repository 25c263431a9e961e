"""Checks of Section 5 of Tian et al. (2023): (10), and what its paths do to the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s5_fates import attention, instances, steps
from ntpbook.tian2023.s5_fates.instances import (
    Chain,
    ClassFlow,
    Drawn,
    Instance,
    Moment,
    Shared,
    Start,
    Weighted,
)
from ntpcore.tian2023 import decoder
from ntpcore.tian2023.classes import (
    attention_scores,
    common_tokens,
    correlations,
    distinct_tokens,
)
from ntpverdicts import arrays
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import (
    Said,
    assume,
    at_least,
    below,
    count,
    equal,
    least,
    left_out,
    most,
    result,
)
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]
SUMS = 1e-9  # relative; sums over at most 50 classes of terms that cancel to a few digits
INTEGRATOR = 1e-7  # z is right to about 1e-9, and r is an exponential of it over a difference
SIGN = 1e-12  # a few thousand roundings of the size against which a strict sign is measured
LAW_98 = executed(
    "equation (98), the time derivative of a distinct token's logit",
    steps.distinct_token,
    planted={"$f_{nl}$ instead of its square.": {"power": 1}},
)
PART_ALONG_F = executed(
    "the component of the gradient (9) along $f_n$ drops out",
    steps.coordinate,
    planted={"Vectors $f_n$ that do not have norm 1.": {"square": 2}},
)
GAIN = executed(
    r"$r/\chi$ is constant along solutions, and $\dot r = 2r\dot z$",
    steps.relative_gain,
    planted={"The exponent without its factor 2.": {"factor": 1}},
)

# Lemma 4 and equation (10)


def printed(one: Instance, state: decoder.DecoderState, normalized: bool = True) -> Floats:
    """Equation (10) over eta_Z, with gamma beta from a trained decoder."""
    beta = -np.array([decoder.gradient_coefficients(state, n) for n in range(one.K)])
    f = one.f if normalized else attention_scores(one.classes, one.z)
    return attention.velocity(one.query, f, beta)


def by_query(one: Instance, moves: Floats) -> Floats:
    """The gradients of the classes, added up for each query."""
    out = np.zeros_like(one.z)
    np.add.at(out, np.asarray(one.query), moves)
    return out


def alike(found: Floats, expected: Floats, where: str = "") -> Said:
    """Equal, relative to the largest entry."""
    return arrays.equal(found, expected, where, scale=float(np.abs(expected).max()))


@check(
    "tian2023-lem-4",
    over="instances",
    instances=instances.instances,
    says="For {tried} sets of classes, with decoders trained by (7) and by (26), the right-hand "
    "side of (10) equals the gradient with respect to $z_m$ of the sum of the log-likelihoods "
    "of all classes with query $m$.",
    tolerance=SUMS,
    proof=(
        uses(
            "tian2023-eq-6",
            "in the limit of long sequences the combined vector is parallel to $c_n$",
        ),
        uses(
            "tian2023-eq-9", "the gradient $g_n$ is a linear combination of the $f_{n'}$, as in (9)"
        ),
        executed(
            r"the derivative of $f = c/\|c\|$ with respect to $z$",
            steps.derivative_of_unit_scores,
            planted={"$c$ divided by its sum.": {"power": 1}},
        ),
        executed(
            r"the derivative of $\ln\alpha_{nn}$ with respect to $f$",
            steps.derivative_of_likelihood,
            planted={r"$\alpha_n$ added to $e_n$.": {"sign": 1}},
        ),
        PART_ALONG_F,
        by_hand(
            "the chain rule for any number of tokens and outputs, and the sum over the "
            "classes of the query",
            at="chain-rule",
        ),
    ),
    readings={
        r"$t$ counts steps of batch size 1, as in Theorem 1 and in $\gamma(t)$.": {
            "share": "drawn"
        },
    },
    planted={
        "Equation (10) with the attention scores $c_n$ instead of the unit vectors $f_n$.": {
            "normalized": False
        },
    },
)
def check_tian2023_lem_4(
    one: Instance, share: str = "each", normalized: bool = True
) -> Iterator[Said]:
    """(10) = sum of d ln alpha_n / dz_m over the classes n of query m, by complex steps."""
    for modified in (True, False):
        state = one.trained(modified)
        expected = by_query(one, instances.sample_gradients(one, state))
        if share == "drawn":
            expected = expected / one.K  # each class is shown with probability 1 / K
        word = "(26)" if modified else "(7)"
        yield alike(printed(one, state, normalized), expected, f"decoder by {word}")


@check(
    "tian2023-eq-10",
    over="instances",
    instances=instances.instances,
    says=r"For {tried} sets of classes with random $\iota_n$ and $\beta_{nn'}$, the right-hand "
    r"side of (10) equals the sum of $\mathrm{diag}(f_n)(I - f_n f_n^\top) g_n$ over the "
    "classes of the query, and its entries sum to zero.",
    tolerance=SUMS,
    proof=(
        PART_ALONG_F,
        by_hand("(10) is the sum of the contributions of the classes of the query", at="sum"),
    ),
    planted={
        r"Equation (10) without its factor $\mathrm{diag}(f_n)$.": {"weighted": False},
        r"$I - f_n f_n^\top$ with the opposite sign.": {"sign": -1},
    },
)
def check_tian2023_eq_10(one: Instance, weighted: bool = True, sign: int = 1) -> Iterator[Said]:
    """(10) in matrices = sum of f_n o (g_n - f_n f_n . g_n), g_n = iota f_n - sum beta f_n'."""
    rng = np.random.default_rng(one.seed)
    f, K, columns = one.f, one.K, one.classes.M
    iota, beta = rng.standard_normal(K), rng.standard_normal((K, K)) * (1 - np.eye(K))
    g = iota[:, None] * f - beta @ f  # equation (9)
    dense, expected = np.zeros_like(one.z), np.zeros_like(one.z)
    for n, m in enumerate(one.query):
        inner = sign * (np.outer(f[n], f[n]) - np.eye(columns))
        terms = inner @ np.sum([beta[n, k] * f[k] for k in range(K) if k != n], axis=0)
        dense[m] += np.diag(f[n]) @ terms if weighted else terms
        expected[m] += f[n] * (g[n] - f[n] * (f[n] @ g[n]))  # (4) for endless sequences
    yield alike(dense, expected)
    yield alike(attention.velocity(one.query, f, beta), expected, "the library")
    total = float(np.abs(dense).sum())
    yield arrays.equal(dense.sum(axis=1), 0.0, "sums of rows", scale=total)


@check(
    "tian2023-lem-4-corrected",
    over="instances",
    instances=instances.instances,
    says="For {tried} sets of classes, the mean step of batch size 1 with a uniformly drawn "
    r"class equals (10) with $\eta_Z/K$ in place of $\eta_Z$.",
    tolerance=SUMS,
    proof=(
        uses("tian2023-lem-4", "the sum over the classes of a query is (10)"),
        by_hand("the mean over a uniformly drawn class is $1/K$ times this sum", at="mean"),
    ),
    planted={
        r"$\eta_Z$ instead of $\eta_Z/K$.": {"shares": "none"},
        r"$\eta_Z$ divided by the number of classes of the query.": {"shares": "query"},
    },
)
def check_tian2023_lem_4_corrected(one: Instance, shares: str = "all") -> Iterator[Said]:
    """The mean over n of d ln alpha_n / dz_m is (10) over K."""
    state = one.trained(modified=True)
    mean = np.zeros_like(one.z)
    for n, move in enumerate(instances.sample_gradients(one, state)):
        mean[one.query[n]] += move / one.K  # drawn with probability 1 / K
    sizes = np.array([[len(one.classes.of_query(m))] for m in range(one.classes.L)])
    divided = {"all": np.array(one.K), "none": np.array(1), "query": sizes}[shares]
    yield alike(printed(one, state) / divided, mean)
    if one.K <= 3:
        ratio = instances.sgd_ratio(one)
        yield count("runs")
        yield least("least", ratio, 2, "the spread of 800 random draws")
        yield most("most", ratio, 2, "the spread of 800 random draws")


# Theorem 2 and equation (100)


def rises(values: Floats, sizes: Floats | float, where: str) -> Said:
    """values > 0, strictly: beyond rounding of their sizes."""
    return arrays.at_least(np.asarray(values / sizes) - SIGN, 0.0, where, scale=1.0)


@check(
    "tian2023-thm-2",
    over="instances",
    instances=instances.weak_instances,
    says="Under (10) with the coefficients of Theorem 1, the attention logit of every distinct "
    "token grows for {tried} sets of classes, and that of the common token falls for the "
    "{single} sets with exactly one common token.",
    proof=(
        LAW_98,
        uses("tian2023-eq-100", "the time derivative of the single common token's logit"),
        uses("ours-xi-positive", r"$\xi_n > 0$, for draws that are even enough"),
        by_hand("the terms of each token add up to a sum of the stated sign", at="signs"),
    ),
    planted={
        "One more class with only distinct tokens: an eigenvalue of $E$ is 0, and the logits "
        "of these tokens do not move.": Variant(instances=instances.with_a_class_alone),
        r"Coefficients $\beta_{nn'}$ with the opposite sign.": {"sign": -1},
    },
)
def check_tian2023_thm_2(one: Instance, sign: int = 1) -> Iterator[Said]:
    """dz_ml/dt = eta_Z f_nl^2 xi_n > 0 for distinct tokens; < 0 for a single common token."""
    f, data = one.f, one.classes
    moves = attention.velocity(one.query, f, sign * attention.coefficients(correlations(f), one.M))
    for n, m in enumerate(one.query):
        found = list(distinct_tokens(data, n))
        if found:
            yield rises(moves[m, found], f[n, found] ** 2, f"distinct tokens of class {n + 1}")
    common = common_tokens(data)
    for m in range(data.L) if len(common) == 1 else ():
        inside = list(data.of_query(m))
        if any(distinct_tokens(data, n) for n in inside):
            size = float((1 - f[inside, common[0]] ** 2).sum())
            yield rises(-moves[m, list(common)], size, f"the common token, query {m + 1}")
    yield count("printed", int(one.holds("6/sqrt(M)")))
    yield count("single", int(len(common) == 1))
    yield count("true", int(one.K <= 3))
    yield count("positive", int(one.K <= 3 and positive_under_7(one)))


def positive_under_7(one: Instance) -> bool:
    """Whether xi_n > 0 for all classes under (7) itself, at three moments and fixed f_n."""
    start = decoder.zero_decoder(one.M, correlations(one.f))
    times = one.K * np.array([0.5, np.log(one.M), 10 * np.log(one.M)])
    states = decoder.flow(start, 1.0, times, modified=False, relative=1e-8)
    return all(decoder.xi(state, n) > 0 for state in states for n in range(one.K))


@check(
    "tian2023-eq-100",
    over="instances",
    instances=instances.single_common,
    says=r"For {tried} sets of classes with a single common token and random $\beta_{nn'}$ of "
    "both signs, the time derivative of this token's logit by (10) is that of (100).",
    tolerance=SUMS,
    proof=(
        executed(
            "equation (99): the terms of one class for a single common token",
            steps.single_common_token,
        ),
        by_hand("the sum of the terms over $n$ and $n'$", at="sum"),
    ),
    planted={
        "Two common tokens instead of one.": Variant(instances=instances.two_common),
        "$1 - f_{nl}$ instead of $1 - f_{nl}^2$.": {"power": 1},
    },
)
def check_tian2023_eq_100(one: Instance, power: int = 2) -> Iterator[Said]:
    """dz_ml/dt = -eta_Z sum over n of (1 - f_nl^2) xi_n for the single common token l."""
    f, token = one.f, common_tokens(one.classes)[0]
    E = correlations(f)
    beta = np.random.default_rng(one.seed).normal(size=E.shape)
    moves = attention.velocity(one.query, f, beta)[:, token]
    formula = np.zeros(one.classes.L)
    terms = -(1 - f[:, token] ** power) * attention.forces(E, beta)
    np.add.at(formula, np.asarray(one.query), terms)
    size = float((np.abs(beta) * E).sum())  # of the terms, which may cancel
    yield arrays.equal(moves, formula, "query {at}", at=np.arange(len(moves)) + 1, scale=size)


# A common token that grows


@check(
    "ours-common-grows",
    over="vocabulary sizes",
    instances=instances.common_growing,
    says="For {tried} vocabulary sizes from $M = {least_M}$ on, in exact fractions, the two "
    "classes of the proposition satisfy Assumption 2, and at $Z = 0$ the logit of a token "
    "common to both classes grows.",
    tolerance=1e-9,  # of trained coefficients, which are equal up to the integrator's error
    proof=(
        uses("tian2023-eq-88-corrected", r"$\beta$ under the modified update"),
        uses("ours-xi-true", r"$\beta$ under (7), early in training"),
        executed(
            r"$\beta$ is equal for both classes, and positive",
            steps.equal_coefficients,
            planted={
                r"The opposite sign of $E' = I - (I + E)^{-1}$ in one term of $\beta$.": {"sign": 1}
            },
        ),
        executed(
            r"the criterion $x + 1/x > 2/(f_1^\top f_2)$ for growth",
            steps.criterion,
            planted={r"1 instead of 2 in $x + 1/x > 2/(f_1^\top f_2)$.": {"twice": 1}},
        ),
        executed(
            "for the probabilities of the proposition and $M = 165$, both bounds of Assumption 2, "
            "and the criterion at the first token",
            steps.example_of_growth,
            planted={"A vocabulary of 164 tokens.": {"M": 164}},
        ),
        by_hand(
            r"under the mean of (7) over both classes $\beta$ is also equal and positive early in "
            "training",
            at="early",
        ),
        by_hand("if the proposition holds for $M = 165$, it holds for larger $M$", at="larger"),
    ),
    planted={
        "A lower bound of Assumption 2 that is 1.1 times sharper.": {"sharper": Fraction(11, 10)},
        "Weights $(2, 1, 0)$ and $(3, 3, 8)$, which satisfy Assumption 2, but for which the "
        "frequencies of the first token in the two classes are closer to each other.": Variant(
            instances=instances.more_even
        ),
        "A vocabulary of 164 tokens.": Variant(instances=instances.too_small),
    },
)
def check_ours_common_grows(
    one: Weighted | Drawn, sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """36/M <= (f_1.f_2)^2 < 1/4, token 1 is in both classes, and (10) moves it up.

    Both classes are drawn equally often by (26), or Y follows the mean of (7) over both.
    """
    yield count("draws", int(isinstance(one, Drawn)))
    if isinstance(one, Drawn):
        grown, weak = one.rises(), one.holds()
        yield count("grown", int(grown))
        yield count("weak", int(weak))
        yield count("both", int(grown and weak))
        return
    yield at_least(one.squared, sharper * Fraction(36, one.M), "lower bound of Assumption 2")
    yield below(one.squared, Fraction(1, 4), "upper bound of Assumption 2")
    yield below(0, Fraction(one.first[0] * one.second[0]), "the token is common")
    yield below(0, one.speed(0), "the speed")
    for modified in (True, False):
        word = "(26)" if modified else "(7)"
        for beta in one.coefficients(modified):
            yield equal(float(beta[0, 1]), float(beta[1, 0]), f"beta under {word}")
            yield below(0.0, float(beta[0, 1]), f"beta under {word}")
    yield result("speed", one.speed(0))
    yield result("squared", one.squared)
    yield least("least_M", one.M)
    if one.M == 1000:
        yield from fate_of_the_example()


def fate_of_the_example() -> Iterator[Said]:
    """How high the growing common token rises, and at which recorded step it turns."""
    *both, recorded = instances.paths()
    for name, path in zip(("", "_true"), both, strict=True):
        z = path.z[:, 0, 0]
        top = int(z.argmax())
        yield result(f"peak{name}", float(z[top]), 2, "the integrator's tolerance")
        yield result(f"turn{name}", round(recorded[top]))


# Standard LayerNorm


@dataclass(frozen=True)
class Centred:
    """Classes of one query, alike but for their distinct tokens, with one common token.

    Attributes:
        K: number of classes.
        M: size of the vocabulary, which holds 1 + K len(distinct) tokens of classes or more.
        common: probability p of the common token.
        distinct: probabilities of the distinct tokens of a class; with p they sum to 1.
    """

    K: int
    M: int
    common: Fraction
    distinct: tuple[Fraction, ...]

    @property
    def name(self) -> str:
        """The classes in words."""
        own = ", ".join(map(str, self.distinct))
        return f"$K = {self.K}$, $M = {self.M}$, common {self.common}, distinct {own}"

    def first_slopes(self, mean: bool = True) -> list[Fraction]:
        """(1 + K D,), the gradient of J by z at Z = 0, when Y has begun to move from 0.

        Y = sum over n of LN(c_n) (e_n - 1/M)^T, up to a factor; all tokens and outputs are there.
        The slope is multiplied by |LN's argument|^2, which is the same for all classes.

        Args:
            mean: whether LN subtracts the mean.
        """
        K, M, D = self.K, self.M, len(self.distinct)
        rows = []
        for n in range(K):
            c = [Fraction(0)] * M
            c[0] = self.common
            c[1 + n * D : 1 + (n + 1) * D] = self.distinct
            rows.append(c)
        u = [[x - Fraction(int(mean), M) for x in c] for c in rows]
        square = sum((x * x for x in u[0]), Fraction(0))
        slopes = [Fraction(0)] * (1 + K * D)
        for n in range(K):
            errors = [Fraction(int(k == n)) - Fraction(1, M) for k in range(K)]
            g = [sum((u[k][i] * errors[k] for k in range(K)), Fraction(0)) for i in range(M)]
            along = sum((a * b for a, b in zip(u[n], g, strict=True)), Fraction(0)) / square
            for i in range(len(slopes)):
                slopes[i] += rows[n][i] * (g[i] - along * u[n][i])
        return slopes

    def stated(self) -> list[Fraction]:
        """The same by the proposition, token by token."""
        K, M, p = self.K, self.M, self.common
        S = sum((c * c for c in self.distinct), Fraction(0))
        pairs = Fraction(K - 1, M) / (p * p + S - Fraction(1, M))  # K - 1 others, beta = 1/M
        own = [pairs * c * (S - c * (1 - M * p * p)) / M for c in self.distinct]
        return [-K * pairs * p * (p - Fraction(1, M)) * S, *own * K]


def centred_classes() -> list[Centred]:
    """Common tokens from none to most of a class, in vocabularies of 12 to 60 tokens."""
    found = []
    for K, M in ((2, 12), (3, 20), (4, 60)):
        for p in (Fraction(0), Fraction(1, 2 * M), Fraction(1, M), Fraction(1, 10), Fraction(1, 2)):
            for parts in ((1,), (1, 1), (1, 3), (1, 2, 6)):
                own = tuple((1 - p) * Fraction(x, sum(parts)) for x in parts)
                found.append(Centred(K, M, p, own))
    return found


@check(
    "ours-layernorm-fates",
    over="sets of classes",
    instances=centred_classes,
    says="For {tried} sets of classes, in exact fractions, the sign of the gradient with "
    "respect to each attention logit, just after the decoder has started to move, is the sign "
    "that the proposition states. In {lost} of these sets the logit of a distinct token falls.",
    proof=(
        uses("tian2023-app-layernorm", "the gradient of the layer with the mean subtracted"),
        executed(
            "the terms of a pair of classes",
            steps.layernorm_signs,
            planted={"The mean kept in $f$.": {"taken": 0}},
        ),
        PART_ALONG_F,
        by_hand("all pairs of classes have equal terms", at="pairs"),
        by_hand("the decoder and its gradient just after it has started to move", at="start"),
    ),
    planted={
        "The layer of the paper, which keeps the mean.": {"mean": False},
        r"$1/M$ instead of $1/\sqrt M$ as the threshold for $p$.": {"border": "1/M"},
    },
)
def check_ours_layernorm_fates(one: Centred, mean: bool = True, border: str = "") -> Iterator[Said]:
    """Distinct l: slope > 0 iff c_l (1 - M p^2) < S; the common token: slope < 0 iff p > 1/M.

    Every class has a distinct token.
    """
    found, p, M = one.first_slopes(mean), one.common, one.M
    for i, (slope, stated) in enumerate(zip(found, one.stated(), strict=True)):
        yield equal(slope, stated, f"token {i + 1}")
    S = sum(c * c for c in one.distinct)
    weak = 1 - M * p * p if not border else 1 - M * p
    for i, c in enumerate(one.distinct):
        gains = c * weak < S
        yield equal(int(found[1 + i] > 0), int(gains), f"whether distinct token {i + 1} gains")
    yield equal(int(found[0] < 0), int(p > Fraction(1, M)), "whether the common token loses")
    yield count("lost", int(min(found[1:]) < 0))


# Corollary 2


@check(
    "tian2023-cor-2",
    over="solutions of (10)",
    instances=instances.symmetric,
    says="In {tried} solutions of (10) from $Z = 0$ under the hypotheses of Corollary 2, with "
    "classes drawn equally often, the logit of every common token decreases, in {compared} "
    "comparisons at recorded times.",
    proof=(
        executed(
            "the term of a pair of classes in (10) for a common token of all classes",
            steps.shared_common_tokens,
            planted={"The norm instead of its square.": {"power": 1}},
        ),
        LAW_98,
        uses("ours-xi-positive", r"$\xi_n > 0$, for draws that are even enough"),
        by_hand("the sum of the terms of a common token is negative", at="sum"),
        by_hand(
            "the sum remains negative at all times, because no entry of $E$ increases",
            at="stays",
        ),
    ),
    planted={
        "Hypothesis (3) violated: two common tokens with weights 4, 2 in one class and 1, 4 "
        "in the other, each class with a distinct token, under Assumption 2.": Variant(
            instances=instances.unequal_probabilities
        ),
        "Hypothesis (1) violated: the third of three strongly correlated classes has its own "
        "query.": Variant(instances=instances.two_queries),
        "No error, so the check must accept it: hypotheses (2) and (4) dropped, which the proof "
        "does not need, with different distinct tokens in each class, random $Z$, and random "
        "positive coefficients.": Variant(
            instances=instances.uneven, expected=Verdict.NOT_CONTRADICTED
        ),
        r"No error, so the check must accept it: uneven draws with random deviations $\theta_k$ "
        "of about a tenth, which satisfy the condition that the box adds.": Variant(
            instances=instances.noisy, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_tian2023_cor_2(one: Shared | Moment) -> Iterator[Said]:
    """dz_l/dt = -eta_Z w_l^2 / S sum over n of (1 - S/o_n^2) xi_n < 0 for common tokens l.

    The draws are equal, or so even that sqrt(K-1) r/(1-r) < (1 - theta_bar)/(1 + theta_bar) with
    r = |lambda_1(E)| at the start, so that xi_n > 0.
    """
    query, common = np.asarray(one.classes.query), one.common
    for where, f, beta in one.moments():
        moves = attention.velocity(one.classes.query, f, beta)[:, :common]
        size = np.zeros((one.classes.L, common))
        np.add.at(size, query, f[:, :common] ** 2)
        yield rises(-moves, size, where)
    if isinstance(one, Shared):
        yield most("defect", one.defect(), 1)
        yield count("lost", int(not one.keeps_window()))


# Equations (102) and (106)


def chain(one: Chain, squared: bool) -> Iterator[Said]:
    """o_n = sum of c~^2 = sum of P^2 e^(2z), the same for both classes, in fractions.

    Args:
        one: the classes.
        squared: whether o_n^2 stands at the ends of the chain, or o_n itself.
    """
    sums = [sum(x * x for x in scores) for scores in one.scores]
    for n, total in enumerate(sums):
        if not squared:  # o = total for positive numbers iff o^2 = total^2, and o^2 is total
            squares = rf"$o_n^2 = \sum_l \tilde c_l^2 = {total}$"
            where = rf"class {n + 1}, {squares}, and $(\sum_l \tilde c_l^2)^2$"
            yield equal(total, total * total, where)
        yield equal(total, sums[0], rf"class {n + 1} against class 1, $\sum_l \tilde c_l^2$")


HYPOTHESES_OF_106 = (
    "Assumption 2",
    "(1) a single query",
    "(2) matched distinct tokens",
    "(3) common tokens of shared probabilities",
    "(4) $Z(0) = 0$",
)


@check(
    "tian2023-eq-106",
    over="pairs of classes",
    instances=instances.starting_chains,
    says="The norms $o_{n_1}$ and $o_{n_2}$ at the ends of (102) to (106) equal the sums of "
    "squares between them, for {tried} pairs of classes.",
    fails="Equation (102) equates the norm $o_n$ with a sum of squares. By the paper's "
    "definition just before (102), this sum is $o_n^2$.",
    hypotheses=HYPOTHESES_OF_106,
    planted={
        "No error, so the check must accept it: equations (102) to (106) with $o_n^2$ in place "
        "of $o_n$.": Variant({"squared": True}, expected=Verdict.NOT_CONTRADICTED),
    },
)
def check_tian2023_eq_106(one: Chain, squared: bool = False) -> Iterator[Said]:
    """o_1 = sum of c~_1^2 = ... = sum of c~_2^2 = o_2, at the start of the induction."""
    small = Fraction(36, one.M) <= one.overlap < Fraction(1, 4)  # M >= 100 K^2, too
    yield assume("Assumption 2", small and one.M >= 400)
    yield assume("(1) a single query", len(one.scores) == 2)  # two classes, one row of Z
    yield assume("(2) matched distinct tokens", one.distinct[0] == one.distinct[1])
    inside = all(scores[: len(one.common)] == one.common for scores in one.scores)
    yield assume("(3) common tokens of shared probabilities", inside and bool(one.common))
    yield assume("(4) $Z(0) = 0$", all(sum(scores) == 1 for scores in one.scores))
    yield from chain(one, squared)


@check(
    "tian2023-eq-106-corrected",
    over="pairs of classes",
    instances=instances.chains,
    says="For {tried} pairs of classes of one query with matched distinct tokens, in exact "
    r"fractions, $o_n^2 = \sum_l P^2(l|n)\, e^{2z_l}$ has the same value for both classes.",
    proof=(
        executed(
            "$o_1^2$ and $o_2^2$ from (5), for two distinct and two common tokens",
            steps.norms_of_two_classes,
            planted={"A different logit in the second class.": {"moved": True}},
        ),
        by_hand(
            r"the bijection $\phi$ matches equal terms, for any number of tokens", at="bijection"
        ),
    ),
    planted={
        "Hypothesis (2) violated: one class has a distinct token with larger weight.": Variant(
            instances=instances.heavier
        ),
        "The norms without their squares.": {"squared": False},
    },
)
def check_tian2023_eq_106_corrected(one: Chain, squared: bool = True) -> Iterator[Said]:
    """o_1^2 = sum of c~_1^2 = sum of P^2 e^(2z) = ... = o_2^2 for two classes of one query."""
    yield from chain(one, squared)


# Theorem 3


def gains(run: ClassFlow, used: int = 0) -> Iterator[Said]:
    """r(t) = r(0) chi(t) for every ordered pair of distinct tokens.

    Args:
        run: the flow.
        used: whose growth factor is used: 0 for that of l, 1 for that of l'.
    """
    for first in run.tokens:
        for other in run.tokens:
            if first != other:
                gain = attention.relative_gain(run.f, first, other)
                one = (first, other)[used]
                closed = gain[0] * attention.growth(run.z[:, one], float(run.z[0, one]))
                where = f"tokens {first} and {other}, rescaled time {{at}}"
                yield arrays.equal(gain, closed, where, at=run.path.at)


def bounds(run: ClassFlow, token: int, share: bool = True, sharper: float = 1.0) -> Iterator[Said]:
    """2 f^2(0) B <= ln chi <= 2 B after the start, strictly."""
    log_chi = 2 * (run.z[1:, token] - run.z[0, token])
    B, part = run.path.B[1:, run.n], float(run.f[0, token] ** 2) if share else 1.0
    at = run.path.at[1:]
    lower = 2 * part * B * sharper
    yield arrays.at_least(
        log_chi, lower * (1 + SIGN), "lower bound of (12), rescaled time {at}", at=at
    )
    yield arrays.at_most(log_chi, 2 * B * (1 - SIGN), "upper bound, rescaled time {at}", at=at)


NOT_FALLING = "a common token of the class does not lose, as Theorem 3 requires"


@check(
    "tian2023-thm-3",
    over="solutions of (10)",
    instances=instances.runs,
    says="Along {tried} solutions of (10), the relative gain of one distinct token over another "
    r"is $r(t) = r(0)\chi(t)$, the logit $z_{ml_0}$ and the entry $f_{nl_0}$ of the dominant "
    "token increase, and the bounds (12) hold.",
    tolerance=INTEGRATOR,
    proof=(
        LAW_98,
        uses("tian2023-eq-11", "the relative gains of the distinct tokens"),
        uses("tian2023-eq-113", "the relative gains over the common tokens"),
        executed(
            "the growth of $f_{nl_0}^2$, equation (114), for three tokens",
            steps.growth_of_share,
            planted={"A factor 1 instead of 2.": {"factor": 1}},
        ),
        by_hand("$z_{ml_0}$ and $f_{nl_0}$ of the dominant token increase", at="growth"),
        by_hand(
            "$f_{nl_0}^2$ lies between its initial value and 1, which gives the bounds (12)",
            at="between",
        ),
    ),
    planted={
        "A class in which a common token gains, which violates the hypothesis.": Variant(
            {"falling": False}, instances=instances.growing_run
        ),
        "The second strongest distinct token instead of the dominant one.": {"place": 1},
        r"A lower bound on $\ln\chi$ that is 1.1 times sharper.": {"sharper": 1.1},
    },
)
def check_tian2023_thm_3(
    run: ClassFlow, falling: bool = True, place: int = 0, sharper: float = 1.0
) -> Iterator[Said]:
    """(11) for all pairs; z and f of the dominant token increase; (12)."""
    if falling and not run.fall:
        yield left_out(NOT_FALLING)
        return
    first = run.tokens[place]
    for word, values in (("z", run.z[:, first]), ("f", run.f[:, first])):
        yield rises(np.diff(values), np.abs(values[1:]), f"growth of {word}")
    yield from bounds(run, first, sharper=sharper)
    yield from gains(run)


@check(
    "tian2023-eq-11",
    over="solutions of (10)",
    instances=instances.runs,
    says="At all recorded times of {tried} solutions of (10), in {compared} comparisons, the "
    "relative gain of one distinct token over another equals its initial value times the growth "
    r"factor $\chi$ of the former.",
    tolerance=INTEGRATOR,
    proof=(LAW_98, GAIN),
    planted={
        "The growth factor of $l'$ instead of that of $l$.": {"used": 1},
        "Both layers trained, by (7) and (4), instead of (10).": Variant(
            instances=instances.both_layers_trained
        ),
    },
)
def check_tian2023_eq_11(run: ClassFlow, used: int = 0) -> Iterator[Said]:
    """r_(l/l')(t) = r_(l/l')(0) chi_l(t), chi_l = e^(2 (z_l(t) - z_l(0)))."""
    yield from gains(run, used)


@check(
    "tian2023-eq-12",
    over="solutions of (10)",
    instances=instances.runs,
    says=r"Along {tried} solutions of (10), the growth factor $\chi_{l_0}$ of the dominant "
    "token lies strictly between the two exponentials of (12) for $t > 0$.",
    proof=(uses("tian2023-thm-3", "(12) is a clause of Theorem 3"),),
    planted={
        "A distinct token that does not dominate.": {"place": 1},
        r"A lower bound on $\ln\chi$ that is 1.1 times sharper.": {"sharper": 1.1},
        "The lower bound without $f_{nl_0}^2(0)$ in its exponent.": {"share": False},
    },
)
def check_tian2023_eq_12(
    run: ClassFlow, place: int = 0, share: bool = True, sharper: float = 1.0
) -> Iterator[Said]:
    """exp(2 f_0^2(0) B) <= chi_0 <= exp(2 B)."""
    if not run.fall:
        yield left_out(NOT_FALLING)
        return
    yield from bounds(run, run.tokens[place], share, sharper)
    yield least("least_B", float(run.path.B[-1, run.n]), 2)
    yield most("most_B", float(run.path.B[-1, run.n]), 2)


# Equations (112) and (113)


def slope_of_gain(run: ClassFlow, factor: int) -> Iterator[Said]:
    """factor r(0) chi dz/dt = dr/dt for r = (f_0/f_l)^2 - 1, the dominant token first.

    dr/dt is 2 (f_0/f_l)^2 (dz_0/dt - dz_l/dt), as f_0/f_l is a quotient of exponentials.
    """
    f, z, moves, first = run.f, run.z, run.moves, run.tokens[0]
    chi = attention.growth(z[:, first], float(z[0, first]))
    for other in run.tokens[1:]:
        ratio = (f[:, first] / f[:, other]) ** 2
        exact = 2 * ratio * (moves[:, first] - moves[:, other])
        formula = factor * (ratio[0] - 1) * chi * moves[:, first]
        yield arrays.equal(formula, exact, f"token {other}, rescaled time {{at}}", at=run.path.at)


@check(
    "tian2023-eq-112",
    over="pairs of distinct tokens",
    instances=instances.quotients,
    says=r"The derivative of the relative gain of $l_0$ is $r(0)\,\chi_{l_0}\,\dot z_{l_0}$ "
    "for {tried} pairs of tokens.",
    fails="At $t = 0$, in exact fractions, the derivative of the dominant token's relative gain "
    "over another distinct token is twice the right-hand side of (112).",
    hypotheses=(
        "Assumption 2",
        r"$\xi_n > 0$",
        "$l_0$ dominates",
        "common tokens lose",
    ),
    planted={
        "The formula with its factor 2, which is correct: the check must accept it, not refuse "
        "it.": (Variant({"factor": 2}, expected=Verdict.NOT_CONTRADICTED)),
    },
)
def check_tian2023_eq_112(one: instances.Quotient, factor: int = 1) -> Iterator[Said]:
    """dr/dt = r(0) e^(2 (z_0(t) - z_0(0))) dz_0/dt, at t = 0 under (10)."""
    e, (dominant, _, common) = one.overlap, one.speeds()
    window = Fraction(36, one.M) <= e**2 < Fraction(1, 4)  # and M >= 100 K^2
    yield assume("Assumption 2", window and one.M >= 400)
    yield assume(r"$\xi_n > 0$", e > 0 and dominant > 0)
    yield assume("$l_0$ dominates", one.first > one.other)
    yield assume("common tokens lose", common < 0)
    yield equal(factor * one.formula(), one.slope(), "at $t = 0$")


@check(
    "tian2023-eq-112-corrected",
    over="solutions of (10) and pairs of tokens",
    instances=instances.small_and_runs,
    says="Along solutions of (10), and for pairs of distinct tokens at $t = 0$ in exact fractions, "
    "together in {tried} cases, the derivative of the relative gain of the dominant "
    r"token $l_0$ over any other distinct token is $2\,r(0)\,\chi_{l_0}\,\dot z_{l_0}$.",
    tolerance=INTEGRATOR,
    proof=(
        LAW_98,
        GAIN,
        executed(
            r"$\dot r > 0$ for $r(0) > 0$ and $\xi_n > 0$",
            steps.sign_of_gain,
            planted={"A token that need not dominate.": {"leads": False}},
        ),
    ),
    planted={"The factor 2 left out.": {"factor": 1}},
)
def check_tian2023_eq_112_corrected(
    run: ClassFlow | instances.Quotient, factor: int = 2
) -> Iterator[Said]:
    """dr/dt = 2 r(0) e^(2 (z_0(t) - z_0(0))) dz_0/dt."""
    if isinstance(run, instances.Quotient):
        yield equal(factor * run.formula(), run.slope(), "at $t = 0$")
        return
    yield from slope_of_gain(run, factor)


@check(
    "tian2023-eq-113",
    over="solutions of (10)",
    instances=instances.runs,
    says="Along {tried} solutions of (10), the derivative of the relative gain of the dominant "
    "token $l_0$ over every common token agrees with (113) and is positive, and the logit of the "
    "common token falls, in {compared} comparisons.",
    tolerance=INTEGRATOR,
    proof=(
        LAW_98,
        executed(
            r"the derivative of the quotient $\tilde c_{l_0|n}^2/\tilde c_{l'|n}^2$",
            steps.growth_of_common_ratio,
            planted={"A quotient without squares.": {"power": 1}},
        ),
        by_hand(
            "$l_0$ gains and the common token loses, so the derivative is positive", at="signs"
        ),
    ),
    planted={
        "A class in which a common token gains, which violates the hypothesis.": Variant(
            {"falling": False}, instances=instances.growing_run
        ),
        "The formula without its factor 2.": {"factor": 1.0},
    },
)
def check_tian2023_eq_113(
    run: ClassFlow, falling: bool = True, factor: float = 2.0
) -> Iterator[Said]:
    """d/dt (c~_0^2/c~_l^2) = (P_0/P_l)^2 e^(2 (z_0 - z_l)) 2 (dz_0 - dz_l)/dt > 0, common l."""
    if falling and not run.fall:
        yield left_out(NOT_FALLING)
        return
    classes, first = run.path.classes, run.tokens[0]
    P = classes.probabilities[run.n]
    for token in (x for x in common_tokens(classes) if P[x] > 0):
        apart = run.moves[:, first] - run.moves[:, token]
        ratio = (run.f[:, first] / run.f[:, token]) ** 2  # d ratio = 2 ratio d(ln f_0 - ln f_l)
        lead = run.z[:, first] - run.z[:, token]
        formula = (P[first] / P[token]) ** 2 * np.exp(2 * lead) * factor * apart
        where = f"token {token}, rescaled time {{at}}"
        yield arrays.equal(formula, 2 * ratio * apart, where, at=run.path.at)
        yield rises(-run.moves[:, token], np.abs(run.moves[:, token]), "the common token falls")
        yield rises(apart, np.abs(run.moves[:, first]), "growth")


# What Section 5 reads from Theorem 3


@check(
    "tian2023-app-scanning",
    over="solutions of (10)",
    instances=instances.from_zero,
    says="Along {tried} solutions of (10) from $Z = 0$, for any two distinct tokens that are "
    "not dominant, the quotient $f_{nl_0}^2/f_{nl}^2$ for the rarer one is larger, grows "
    "faster, and has grown by the larger factor.",
    fails="In some solution, the rarer of two distinct tokens is not the first to fall behind.",
    tolerance=INTEGRATOR,
    proof=(
        uses("tian2023-eq-11", r"$r(t) = r(0)\chi(t)$"),
        LAW_98,
        executed(
            r"$(1 + r\chi)/(1 + r)$ increases in $r$, up to $\chi$",
            steps.growth_of_quotient,
            planted={r"A $\chi$ that may be below 1.": {"least": 0}},
        ),
        by_hand(
            "the values, slopes, and growth factors of $f_{nl_0}^2/f_{nl}^2$ have the order of "
            "$r(0)$",
            at="order",
        ),
    ),
    planted={
        "$Z(0)$ not zero: the rarest of three distinct tokens starts with a larger logit.": Variant(
            instances=instances.with_a_bonus
        ),
        "A bound on the factor that is 1.1 times sharper.": {"sharper": 1.1},
    },
)
def check_tian2023_app_scanning(run: ClassFlow, sharper: float = 1.0) -> Iterator[Said]:
    """For P(l) < P(l') < P(l_0): f_0^2/f_l^2 is larger, grows faster and by more than f_0^2/f_l'^2.

    By more at t > 0, under (10) with xi_n > 0. Nor does it grow by more than chi of the dominant
    token.
    """
    P, f = run.path.classes.probabilities[run.n], run.f
    ranked = sorted(run.tokens, key=lambda x: -float(P[x]))
    chi = attention.growth(run.z[:, ranked[0]], float(run.z[0, ranked[0]]))
    quotients = [(f[:, ranked[0]] / f[:, x]) ** 2 for x in ranked[1:]]
    for token, q in zip(ranked[1:], quotients, strict=True):
        yield arrays.at_most(q / q[0], chi / sharper, f"token {token}, at most chi")
    for (token, more), (_, rare) in pairwise(zip(ranked[1:], quotients, strict=True)):
        where = f"behind token {token}"
        yield arrays.at_least(rare - more, 0.0, f"{where}, level", scale=rare)
        speeds = np.diff(rare), np.diff(more)
        yield arrays.at_least(speeds[0] - speeds[1], 0.0, f"{where}, speed", scale=rare[1:])
        yield arrays.at_least(rare / rare[0] - more / more[0], 0.0, f"{where}, factor", scale=chi)
    others = ranked[1:]
    yield count("others", len(others))
    yield count("rises", int((f[1] > f[0])[others].sum()))
    yield count("drops", int((f[-1] < f[0])[others].sum()))


@check(
    "tian2023-app-prior",
    over="starts",
    instances=instances.starts,
    says="In {tried} solutions of (10) with different initial logits, the token with the "
    "larger initial $P e^z$ leads at all times, by a growing factor. In {first} of these "
    "solutions the more frequent token leads.",
    proof=(
        uses("tian2023-eq-11", r"$r(t) = r(0)\chi(t)$"),
        LAW_98,
        by_hand("$r$ keeps its sign, and the lead grows", at="sign"),
    ),
    planted={"The leading token predicted from the probabilities alone.": {"with_start": False}},
)
def check_tian2023_app_prior(one: Start, with_start: bool = True) -> Iterator[Said]:
    """ln(f_1/f_2) keeps the sign of ln(P_1 e^z_1(0) / (P_2 e^z_2(0))) and grows in size.

    Under (10) with xi_n > 0.
    """
    lead = np.log(one.P[0] / one.P[1]) + one.z[:, 0] - one.z[:, 1]  # ln f_1 / f_2
    expected = float(lead[0] if with_start else np.log(one.P[0] / one.P[1]))
    ahead = lead * np.sign(expected)
    yield rises(ahead, np.abs(lead[0]), "the sign of the lead")
    yield rises(np.diff(ahead), np.abs(lead[0]), "growth of the lead")
    yield count("first", int(lead[-1] > 0))
    yield count("second", int(lead[-1] < 0))


# What larger growth does to the attention on the distinct tokens


def shares_of(run: ClassFlow) -> Floats:
    """(S, D), attention on the distinct tokens of the class, renormalised, the strongest first."""
    f = run.f[:, list(run.tokens)]
    return np.asarray(f / f.sum(axis=1, keepdims=True))


@check(
    "tian2023-app-sparser",
    over="solutions of (10)",
    instances=instances.runs,
    says="Along {tried} solutions of (10), $B_n$ increases, the relative gain of the stronger "
    "of any two distinct tokens increases, and the entropy of the attention on the "
    "distinct tokens decreases.",
    tolerance=INTEGRATOR,
    proof=(
        LAW_98,
        uses("tian2023-eq-11", r"$r(t) = r(0)\chi(t)$"),
        executed(
            "the entropy of three attention weights decreases at the rate of the covariance of "
            r"$\dot z$ and $\ln p$",
            steps.entropy_of_shares,
            planted={"The covariance with the opposite sign.": {"factor": 1}},
        ),
        by_hand(
            r"the covariance of $\dot z$ and $\ln p$ is not negative, for any number of "
            "tokens",
            at="covariance",
        ),
    ),
    planted={
        "The relative gain of the weaker token over the stronger one.": {"turned": True},
        "Both layers trained at equal rates, for which the entropy increases again.": Variant(
            instances=instances.both_layers_at_equal_rates
        ),
    },
)
def check_tian2023_app_sparser(run: ClassFlow, turned: bool = False) -> Iterator[Said]:
    """B and r_(l/l') of the stronger token grow; the entropy of the shares falls."""
    B = run.path.B[:, run.n]
    yield arrays.at_least(np.diff(B), 0.0, "B")
    for strong, weak in pairwise(run.tokens):
        gain = attention.relative_gain(run.f, *((weak, strong) if turned else (strong, weak)))
        where = f"gain of token {strong} over {weak}"
        yield arrays.at_least(np.diff(gain), 0.0, where, scale=1 + np.abs(gain[1:]))
    shares = shares_of(run)
    entropy = -(shares * np.log(shares)).sum(axis=1)
    yield arrays.at_least(
        -np.diff(entropy), 0.0, "entropy, rescaled time {at}", at=run.path.at[1:], scale=1.0
    )


@check(
    "tian2023-app-frequency-bias",
    over="solutions of (10)",
    instances=instances.from_zero,
    says="Along {tried} solutions of (10) from $Z = 0$, the share of the most frequent distinct "
    "token in the attention on distinct tokens grows, and that of the least frequent one falls.",
    tolerance=INTEGRATOR,
    proof=(
        LAW_98,
        uses("tian2023-eq-11", "the order of the distinct tokens does not change"),
        by_hand(
            "the share of the most frequent distinct token grows, and that of the least "
            "frequent one falls",
            at="extremes",
        ),
    ),
    readings={
        "Attention itself instead of the share: attention on the least frequent distinct "
        "token decreases.": {"part": "attention"},
        "Among all tokens, common ones included, the most frequent one gains.": Variant(
            {"part": "all"}, instances=instances.frequent_common
        ),
    },
    planted={
        "The least frequent token gains instead of losing.": {"turned": True},
        "$Z(0)$ not zero: the rarest of three distinct tokens starts with a larger logit.": Variant(
            instances=instances.with_a_large_bonus
        ),
    },
)
def check_tian2023_app_frequency_bias(
    run: ClassFlow, part: str = "shares", turned: bool = False
) -> Iterator[Said]:
    """The share of the most frequent distinct token grows, that of the least frequent falls."""
    P = run.path.classes.probabilities[run.n]
    if part == "shares":
        ranked = sorted(run.tokens, key=lambda token: -float(P[token]))
        shares = run.f[:, ranked] / run.f[:, ranked].sum(axis=1, keepdims=True)
        first, last = (-1, 0) if turned else (0, -1)
        yield arrays.at_least(np.diff(shares[:, first]), 0.0, "the most frequent token", scale=1.0)
        yield arrays.at_least(-np.diff(shares[:, last]), 0.0, "the least frequent token", scale=1.0)
        return
    c = run.f / run.f.sum(axis=1, keepdims=True)  # attention, which sums to 1
    weakest = min(run.tokens, key=lambda token: float(P[token]))
    token, sign = (weakest, -1) if part == "attention" else (int(P.argmax()), 1)
    where = f"attention {c[0, token]:.4f} at the start and {c[1, token]:.4f} soon after"
    yield arrays.at_least(sign * np.diff(c[:, token]), 0.0, where, scale=1.0)
