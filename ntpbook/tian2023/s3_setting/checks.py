"""Checks of Section 3 and Appendix H of Tian et al. (2023): the layer, its gradient, the data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import bags
from ntpbook.shared.origins import INTEGRATOR
from ntpbook.tian2023.s3_setting import counts, steps
from ntpbook.tian2023.s3_setting.instances import (
    LENGTHS,
    Counted,
    Distribution,
    Embedding,
    Far,
    Layer,
    Long,
    Named,
    Strays,
    Together,
    Training,
    Weighted,
    Written,
    collection,
    context_distance,
    counted,
    decoder_time_movement,
    disjoint,
    distances,
    distances_of_shares,
    distributions,
    embeddings,
    enclosed_failure,
    is_violated,
    large_tables,
    long_sequences,
    random_layers,
    small_tables,
    trained,
    trainings,
    written,
)
from ntpcore.tian2023 import classes as families
from ntpcore.tian2023 import layer
from ntpcore.tian2023.classes import SequenceClasses
from ntpcore.tian2023.layer import Sample
from ntpverdicts import arrays
from ntpverdicts.compare import Said, at_most, below, count, equal, holds, least, most, result
from ntpverdicts.vocabulary import Variant, by_hand, check, cited, executed, uses

Floats = NDArray[np.float64]

# The data: Figure 1, distinct and common tokens, Table 1


@check(
    "tian2023-fig-1",
    over="sets of classes",
    instances=collection,
    says="In {tried} sets of classes, sequences with 127 contextual tokens contain only tokens "
    "of their class, and some classes of each set overlap.",
    shows="the definition of classes makes sense: sequences can be drawn from them, and "
    "classes can overlap",
    planted={
        "Two classes without a shared token.": Variant({}, disjoint),
        "Tokens drawn from another class.": {"off": 1},
    },
)
def check_tian2023_fig_1(one: Named, off: int = 0) -> Iterator[Said]:
    """Contexts of class n have P(.|n) > 0 at all tokens; min(P(l|n), P(l|n')) > 0 somewhere."""
    rng, data = np.random.default_rng(one.seed), one.classes
    p = data.probabilities
    for n in range(data.K):
        drawn = families.draw_counts(rng, data, (n + off) % data.K, 200, 127)
        stray, wrong = int(drawn[:, p[n] == 0].sum()), int((drawn.sum(axis=1) != 127).sum())
        yield at_most(stray, 0, f"tokens from outside class {n}")
        yield at_most(wrong, 0, f"contexts of another length in class {n}")
    shared = np.minimum(p[:, None], p[None]).sum(axis=2)[np.triu_indices(data.K, 1)]
    yield below(0.0, float(shared.max()), "no overlap")


@check(
    "tian2023-app-classes",
    over="sets of classes",
    instances=collection,
    says="In {tried} sets of classes, {common} tokens are common and {distinct} are distinct. "
    "A single token determines the class if and only if it is distinct.",
    shows="the definition makes sense: every token that occurs is either distinct or common",
    planted={
        "Common only if shared by at least three classes.": {"smallest": 3},
        "The least likely class given the token instead of the most likely one.": {"best": False},
    },
)
def check_tian2023_app_classes(one: Named, smallest: int = 2, best: bool = True) -> Iterator[Said]:
    """Common and distinct tokens part the union of supports; max_n P(n|l) = 1 iff l is distinct."""
    data = one.classes
    where: dict[int, set[int]] = {}
    for n, row in enumerate(data.probabilities):
        for token in np.flatnonzero(row).tolist():
            where.setdefault(token, set()).add(n)
    common = {token for token, inside in where.items() if len(inside) >= smallest}
    distinct = [x for n in range(data.K) for x in families.distinct_tokens(data, n)]
    every = [*families.common_tokens(data), *distinct]
    yield holds(len(every) == len(set(every)), "a token in two parts")
    yield holds(set(every) == set(where), "a token in no part")
    yield holds(common == set(families.common_tokens(data)), "the common tokens")
    for token, inside in where.items():
        yield holds(set(families.occurrences(data, token)) == inside, f"Omega({token})")
        # Bayes: the chance of the class once the token is seen, for equally frequent classes
        chances = data.probabilities[:, token] / data.probabilities[:, token].sum()
        certain = float(chances.max() if best else chances.min()) == 1
        yield holds(certain == (token in distinct), f"certainty from token {token}")
    yield count("common", len(families.common_tokens(data)))
    yield count("distinct", len(distinct))
    yield count("alone", sum(len(data.of_query(m)) == 1 for m in range(data.L)))


def positions(seed: int = 7, cases: int = 40) -> Iterator[Sequence]:
    """Whole sequences of up to eight contextual tokens, with a row of Z."""
    for number in range(cases):
        rng = np.random.default_rng((seed, number))
        context = 1 + number % 8
        tokens = tuple(rng.integers(6, size=context + 2).tolist())
        yield Sequence(f"contextual tokens: {context}, case {number}", tokens, rng.normal(size=6))


@dataclass(frozen=True, eq=False)
class Sequence:
    """A whole sequence with its query and its next token, and the row of Z of the query."""

    name: str
    tokens: tuple[int, ...]
    z: Floats


def weight_at(one: Sequence, place: int, T: int, base: int) -> float:
    """Weight that (1) gives to a place of the sequence when positions are counted from `base`.

    Counted from 1, (1) sums over t = 1, ..., T - 1; counted from 0, every index of (1) falls by
    one, and it sums over t = 0, ..., T - 2.

    Args:
        one: the sequence.
        place: where in the sequence, counted from 0 always.
        T: the length that the indices are made of.
        base: number of the first position, 0 or 1.
    """
    summed = [t - base for t in (range(1, T) if base else range(T - 1))]
    X = layer.one_hot(tuple(one.tokens[i] for i in summed), len(one.z))
    b = layer.attention(X, one.z)
    return sum(float(w) for i, w in zip(summed, b, strict=True) if i == place)


@check(
    "tian2023-app-table-1",
    over="random sequences",
    instances=positions,
    says="If the positions of Table 1 are counted from 0, the query does not attend to "
    "itself in (1) and comes just before the next token, for symbolic $T$ and in {tried} "
    "sequences.",
    proof=(executed("all indices of (1) and (2) lowered by one", steps.positions_shift),),
    readings={
        "If positions are counted from 1, as in (1), and the query is $x_{T-1}$, as in the table, "
        "the query does not attend to itself in (1).": {"base": 1},
    },
    planted={
        "The table's indices used in (1), with positions counted from 1.": {"base": 1},
        "A table that calls $x_{T-2}$ the query.": {"early": 1},
    },
)
def check_tian2023_app_table_1(one: Sequence, base: int = 0, early: int = 0) -> Iterator[Said]:
    """Counted from 0, the query x_(T-1) is outside the sum of (1), just before x_T, the last."""
    # counted from 0, x_T is the last of T + 1 tokens; counted from 1, of T tokens
    T = len(one.tokens) - 1 + base
    place = T - 1 - early - base
    yield at_most(weight_at(one, place, T, base), 0.0, "weight of the query on itself")
    yield equal(place, len(one.tokens) - 2, "place of the query")


# The layer: equations (1) and (2), normalisation


@check(
    "tian2023-eq-1",
    over="random layers",
    instances=random_layers,
    says="The check tests both statements on {tried} random layers.",
    tolerance=1e-12,  # scores of order ten, from sums of up to d^2 products
    shows="the definition makes sense: the attention weights are a probability distribution over "
    "the context, and embeddings and the table $Z$ give the same weights",
    planted={
        "The mask left out, so that the query attends to itself.": {"masked": False},
        r"The scores not divided by $\sqrt d$.": {"scaled": False},
    },
)
def check_tian2023_eq_1(one: Layer, masked: bool = True, scaled: bool = True) -> Iterator[Said]:
    """b_t = exp(u_q^T W_Q W_K^T u_t/sqrt(d))/sum = softmax(Z_(q, x_t)), over the context alone."""
    net, sample = one.net, one.sample
    weights = layer.embedded_weights(net, sample, masked=masked)
    Z = net.Z * (1.0 if scaled else math.sqrt(net.U.shape[1]))
    b = layer.attention(layer.one_hot(sample.context, one.M), Z[sample.query])
    yield arrays.equal(weights[:-1], b, "weight of position {at}", at=range(len(b)), scale=1.0)
    yield equal(float(weights[-1]), 0.0, "weight of the query", scale=1.0)
    yield equal(float(b.sum()), 1.0, "sum of the weights")
    yield arrays.at_least(b, 0.0, "least weight", scale=1.0)


@check(
    "tian2023-eq-2",
    over="random layers",
    instances=random_layers,
    says="The check tests both statements on {tried} random layers.",
    tolerance=1e-12,  # logits of order ten, from sums of up to d^2 products
    shows="the definition makes sense: $J$ is the mean logarithm of a probability, and "
    "embeddings and the tables $Y$ and $Z$ give the same probability",
    planted={
        r"$Y = U W_V U^\top$, without the transpose.": {"transposed": False},
        "The attention not normalized before the decoder.": {"normalised": False},
    },
)
def check_tian2023_eq_2(
    one: Layer, transposed: bool = True, normalised: bool = True
) -> Iterator[Said]:
    """J = log softmax(Y^T LN(X^T b))_(x_(T+1)), with Y = U W_V^T U^T."""
    net, M = one.net, one.M
    Y = net.Y if transposed else net.U @ net.W_V @ net.U.T
    context, query, following = one.sample.context, one.sample.query, one.sample.following
    if normalised:
        every = [Sample(context, query, n) for n in range(M)]
        logs = np.array([float(layer.log_likelihood(x, Y, net.Z)) for x in every])
    else:
        X = layer.one_hot(context, M)
        logs = np.log(layer.softmax(Y.T @ (X.T @ layer.attention(X, net.Z[query]))))
    expected = layer.embedded_log_likelihood(net, one.sample)
    size = max(1.0, abs(expected))
    yield equal(float(logs[following]), expected, "the two forms", scale=size)
    yield equal(float(np.exp(logs).sum()), 1.0, "sum of the probabilities")
    yield at_most(float(logs.max()), 0.0, "largest log", scale=1.0)


@check(
    "tian2023-app-normalization",
    over="sets of embeddings",
    instances=embeddings,
    says=r"For {tried} sets of embeddings, the norms of $\hat u_T$ and $X^\top b_T$ are equal if "
    "the embeddings are orthonormal. Otherwise the square of the ratio of the norms differs from 1 "
    r"by at most the spectral norm of $U U^\top - I$.",
    tolerance=1e-12,  # rounding of sums of up to a thousand products
    proof=(
        executed(
            r"$\|U^\top v\| = \|v\|$ when $UU^\top = I$",
            steps.orthonormal_norms,
            planted={r"$UU^\top = 2I$ instead of $UU^\top = I$.": {"scale": 2}},
        ),
        by_hand(
            r"$\mathrm{LN}(U^\top v) = U^\top v/\|U^\top v\| = U^\top \mathrm{LN}(v)$ when the "
            "norms agree",
            at="norms",
        ),
        by_hand(
            r"$|v^\top (UU^\top - I) v|$ is at most the largest absolute eigenvalue times "
            r"$\|v\|^2$",
            at="near",
        ),
    ),
    planted={
        r"The bound $\|UU^\top - I\|$ 1.1 times sharper.": {"sharper": 1.1},
        "One of the orthonormal embeddings stretched to norm 1.01.": {"stretch": 0.01},
        "Nearly orthonormal embeddings treated as orthonormal.": {"nearly": False},
    },
)
def check_tian2023_app_normalization(
    one: Embedding, stretch: float = 0.0, nearly: bool = True, sharper: float = 1.0
) -> Iterator[Said]:
    """|U^T v| = |v| if U U^T = I; else | |U^T v|^2/|v|^2 - 1 | <= |U U^T - I|."""
    U = one.U.copy()
    U[0] *= 1 + stretch
    ratio = float(np.linalg.norm(U.T @ one.v) / np.linalg.norm(one.v))
    if one.orthonormal or not nearly:
        yield equal(ratio, 1.0, "ratio of the norms")
        return
    bound = float(np.linalg.norm(U @ U.T - np.eye(len(U)), 2))
    yield at_most(abs(ratio**2 - 1), bound / sharper, "square of the ratio")
    if len(U) > 2:
        yield most(f"gap_{U.shape[1]}", abs(ratio - 1), digits=2)


# The gradient: Lemma 1, equations (3) and (4), sums

ROUNDING = 1e-13  # a few hundred roundings of numbers near one, relative to the largest of Y
STEP = 1e-30  # along the imaginary axis: no difference is taken, so nothing cancels

LIKELIHOOD = executed(
    "the derivative of a log-softmax",
    steps.likelihood_slope,
    planted={"The entry 0 instead of 1 in $x_{T+1}$ at the next token.": {"target": 0}},
)
DIAGONAL = executed(
    r"$X^\top \mathrm{diag}(b) X$ is diagonal",
    bags.counts_are_diagonal,
    planted={"Rows of $X$ with a second entry 1, at the token before.": {"one_hot": False}},
)
CENTRE = executed(
    "$P_v v = 0$", steps.centre_drops, planted={r"$P_v = I - 2vv^\top/\|v\|^2$.": {"share": 2}}
)
SHARES = executed(
    "the length cancels: the attention on a token depends on the token frequencies alone",
    bags.shares_decide,
    planted={"Each token of the sequence counted once, however often it occurs.": {"once": True}},
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


def printed_gradients(
    one: Weighted, projected: bool = True, transposed: bool = True, scaled: bool = True
) -> tuple[Floats, Floats]:
    """The right-hand sides of (3); without changes those of the library.

    Args:
        one: sequence and tables.
        projected: whether P is there.
        transposed: whether it is Y^T that multiplies the error.
        scaled: whether |X^T b| is in the denominator.
    """
    if projected and transposed and scaled:
        return layer.gradients(one.sample, one.Y, one.Z)
    M, m = one.M, one.sample.query
    dY, _ = layer.gradients(one.sample, one.Y, one.Z)
    X = layer.one_hot(one.sample.context, M)
    v = X.T @ layer.attention(X, one.Z[m])
    error = np.eye(M)[one.sample.following] - layer.softmax(one.Y.T @ layer.unit(v))
    g = (one.Y if transposed else one.Y.T) @ error
    P = layer.projection(v) if projected else np.eye(M)
    row = v * (P @ g) / (float(np.linalg.norm(v)) if scaled else 1.0)
    return dY, np.outer(np.eye(M)[m], row)


@check(
    "tian2023-lem-1",
    over="random sequences",
    instances=small_tables,
    says="With batch size 1, (3) gives the gradients of the objective (2) with respect to $Y$ "
    "and $Z$, for any number of tokens. All entries of (3) agree with numerical derivatives on "
    "{tried} random sequences.",
    tolerance=ROUNDING,
    proof=(
        LIKELIHOOD,
        executed(
            "the derivative of a logit with respect to a score",
            steps.logit_along_a_score,
            planted={r"The projection without the square of $\|X^\top b\|$.": {"power": 1}},
        ),
        DIAGONAL,
        by_hand("the chain rule over all logits, for $Y$ and for $Z$", at="chain"),
    ),
    planted={
        "The projection left out of the gradient with respect to $Z$.": {"projected": False},
        r"The norm of $X^\top b$ left out of the denominator.": {"scaled": False},
    },
)
def check_tian2023_lem_1(
    one: Weighted, projected: bool = True, scaled: bool = True
) -> Iterator[Said]:
    """(3) with learning rates 1 is dJ/dY and dJ/dZ, entry by entry."""
    found = printed_gradients(one, projected, scaled=scaled)
    expected = imaginary_gradients(one.sample, one.Y, one.Z)
    scale = max(1.0, float(np.abs(one.Y).max()))
    for name, a, b in zip(("Y", "Z"), found, expected, strict=True):
        yield arrays.equal(a, b, f"gradient by {name}", scale=scale)


def centred(v: Any) -> Any:
    """v less the mean of its entries."""
    return v - v.sum() / len(v)


def layernorm_decoder_slopes(one: Weighted) -> Floats:
    """The derivatives of ln alpha by Y, entry by entry, with standard LayerNorm, imaginary."""
    X, found = layer.one_hot(one.sample.context, one.M), np.zeros_like(one.Y)
    seen = layer.unit(centred(X.T @ layer.attention(X, one.Z[one.sample.query])))
    for place in np.ndindex(*one.Y.shape):
        moved = one.Y.astype(complex)
        moved[place] += STEP * 1j
        found[place] = np.log(layer.softmax(moved.T @ seen)[one.sample.following]).imag / STEP
    return found


def layernorm_slopes(one: Weighted) -> Floats:
    """The derivatives of ln alpha by the row of the query, with standard LayerNorm, imaginary."""
    X, found = layer.one_hot(one.sample.context, one.M), np.zeros(one.M)
    for i in range(one.M):
        z = one.Z[one.sample.query].astype(complex)
        z[i] += STEP * 1j
        seen = layer.unit(centred(X.T @ layer.attention(X, z)))
        alpha = layer.softmax(one.Y.T @ seen)
        found[i] = np.log(alpha[one.sample.following]).imag / STEP
    return found


def zero_columns(seed: int = 7, cases: int = 200) -> Iterator[Weighted]:
    """The sequences of Lemma 1, with columns of Y that sum to zero, as training keeps them."""
    for one in small_tables(seed, cases):
        yield replace(one, Y=one.Y - one.Y.mean(axis=0))


@check(
    "tian2023-app-layernorm",
    over="random sequences",
    instances=zero_columns,
    says="On {tried} random sequences, numerical derivatives agree with the gradients (3) and "
    r"(4) for the centered vector $X^\top b_T - \mathbf 1/M$. The gradient with respect to $Y$ "
    "preserves the column sums of $Y$.",
    tolerance=ROUNDING,
    proof=(
        LIKELIHOOD,
        executed(
            "the derivative of the normalization",
            steps.unit_jacobian,
            planted={r"$\|v\|$ instead of $\|v\|^2$ in the projection $P_v$.": {"power": 1}},
        ),
        executed(
            "the derivative of a softmax",
            steps.softmax_jacobian,
            planted={r"The derivative $db_i/ds_i$ without the 1 of $\delta_{ii}$.": {"own": 0}},
        ),
        CENTRE,
        executed(
            r"the mean of $X^\top b$ is $1/M$, and it cancels in the derivative",
            steps.mean_drops,
            planted={r"Entries of $X^\top b$ that sum to 2 instead of 1.": {"total": 2}},
        ),
        by_hand("the chain rule: the product of the three derivatives", at="chain"),
        by_hand(
            r"the term $-bb^\top$ contributes nothing, because $\mathbf 1^\top Y = 0$ at all "
            "times: it starts at 0, and it is constant, because the entries of "
            r"$\mathrm{LN}(v)$ sum to 0",
            at="columns",
        ),
    ),
    planted={
        r"The norm of $X^\top b$ instead of that of $X^\top b - \frac1M \mathbf 1$.": {
            "norm": "plain"
        },
        r"The projection for $X^\top b$, mean included.": {"along": "plain"},
        r"$X^\top b$, mean included, in the gradient with respect to $Y$.": {"seen": "plain"},
        "A decoder whose columns do not sum to zero.": Variant(instances=small_tables),
    },
)
def check_tian2023_app_layernorm(
    one: Weighted, norm: str = "centred", along: str = "centred", seen: str = "centred"
) -> Iterator[Said]:
    """Y' = (u/|u|) (x_(T+1) - alpha)^T, z_m' = X^T diag(b) X (P_u/|u|) Y (x_(T+1) - alpha).

    u = X^T b - 1/M is not 0, and the columns of Y sum to 0, as Y' leaves their sums.
    """
    X = layer.one_hot(one.sample.context, one.M)
    v = X.T @ layer.attention(X, one.Z[one.sample.query])
    u = centred(v)
    yield equal(float(v.mean()), 1 / one.M, "the mean")
    error = np.eye(one.M)[one.sample.following] - layer.softmax(one.Y.T @ layer.unit(u))
    P = layer.projection(u if along == "centred" else v)
    row = v * (P @ one.Y @ error) / float(np.linalg.norm(u if norm == "centred" else v))
    scale = max(1.0, float(np.abs(one.Y).max())) / float(np.linalg.norm(u))
    yield arrays.equal(row, layernorm_slopes(one), "gradient by token {at}", scale=scale)
    by_Y = np.outer(layer.unit(u if seen == "centred" else v), error)
    yield arrays.equal(by_Y, layernorm_decoder_slopes(one), "gradient by Y", scale=1.0)
    yield arrays.equal(by_Y.sum(axis=0), 0.0, "column sums of the gradient by Y", scale=1.0)


@check(
    "tian2023-eq-3",
    over="random sequences",
    instances=large_tables,
    says="Equation (3) gives the derivatives of the log-likelihood: {compared} numerical "
    "derivatives in random directions agree, for up to 80 tokens and 600 positions.",
    tolerance=ROUNDING,
    proof=(uses("tian2023-lem-1", "(3) is the gradient"),),
    planted={
        "$Y$ instead of its transpose in the formula for $Z$.": {"transposed": False},
        "The projection left out of the gradient with respect to $Z$.": {"projected": False},
    },
)
def check_tian2023_eq_3(
    one: Weighted, transposed: bool = True, projected: bool = True
) -> Iterator[Said]:
    """<dY, D> and <dZ, D> of (3) are the slopes of J along a direction D."""
    rng = np.random.default_rng(one.seed)
    slopes = printed_gradients(one, projected, transposed)
    for which, slope in zip(("Y", "Z"), slopes, strict=True):
        direction = rng.normal(size=one.Y.shape)
        step = STEP * 1j * direction
        moved = (one.Y + step, one.Z) if which == "Y" else (one.Y, one.Z + step)
        expected = float(layer.log_likelihood(one.sample, *moved).imag) / STEP
        terms = slope * direction
        scale = max(1.0, float(np.abs(terms).sum()))
        yield equal(float(terms.sum()), expected, f"slope by {which}", scale=scale)


@check(
    "tian2023-eq-4",
    over="random sequences",
    instances=small_tables,
    says="On {tried} random sequences only the row of $Z$ that belongs to the query changes. Its "
    r"change is (4), and for learning rate 1 it equals $f \circ (g - f(f^\top g))$ with $f = "
    r"\mathrm{LN}(X^\top b_T)$ and $g = Y(x_{T+1} - \alpha)$. The change does not depend on any "
    "other row of $Z$.",
    tolerance=ROUNDING,
    proof=(
        uses("tian2023-eq-3", "the gradient with respect to $Z$"),
        DIAGONAL,
        by_hand("the row of (3) at the query, transposed", at="row"),
    ),
    planted={
        r"The norm of $X^\top b$ left out of the denominator.": {"scaled": False},
        "The row of the next token instead of that of the query.": {"off": 1},
    },
)
def check_tian2023_eq_4(one: Weighted, scaled: bool = True, off: int = 0) -> Iterator[Said]:
    """z_m' = X^T diag(b) X P Y (x_(T+1) - alpha)/|X^T b| is row m of (3), the others are zero."""
    M, m = one.M, (one.sample.query + off) % one.M
    _, dZ = layer.gradients(one.sample, one.Y, one.Z)
    stirred = np.random.default_rng(one.seed).normal(size=one.Z.shape)
    stirred[one.sample.query] = one.Z[one.sample.query]
    _, again = layer.gradients(one.sample, one.Y, stirred)
    row = layer.row_gradient(one.sample, one.Y, one.Z[one.sample.query])
    if not scaled:
        X = layer.one_hot(one.sample.context, M)
        row = row * np.linalg.norm(X.T @ layer.attention(X, one.Z[one.sample.query]))
    scale = max(1.0, float(np.abs(one.Y).max()))
    short = layer.short_row_gradient(one.sample, one.Y, one.Z[one.sample.query])
    yield arrays.equal(np.delete(dZ, m, axis=0), 0.0, "the other rows", scale=scale)
    yield arrays.equal(again, dZ, "with other rows of Z", scale=scale)
    yield arrays.equal(row, dZ[m], "row m of (3)", scale=scale)
    yield arrays.equal(short, dZ[m], "f * (g - f (f . g))", scale=scale)


# Several heads


@dataclass(frozen=True, eq=False)
class Heads:
    """A random sequence with tables Y and Z for each head, (H, M, M) each."""

    name: str
    sample: Sample
    Y: Floats
    Z: Floats


def several_heads(seed: int = 7, cases: int = 60) -> Iterator[Heads]:
    """Two and three heads on the sequences of Lemma 1, up to six tokens."""
    for number in range(cases):
        rng = np.random.default_rng((seed, number))
        H, M, length = 2 + number % 2, 2 + number % 5, 1 + number % 9
        Y, Z = (0.1, 1.0, 3.0)[number % 3] * rng.normal(size=(2, H, M, M))
        name = f"{H} heads, $M = {M}$, contextual tokens: {length}, case {number}"
        yield Heads(name, layer.random_sample(rng, M, length), Y, Z)


def logits_of_heads(sample: Sample, Y: Any, Z: Any) -> Any:
    """The sum of Y_h^T LN(X^T b_h) over the heads."""
    X = layer.one_hot(sample.context, Y.shape[1])
    rows = Z[:, sample.query]
    seen = [layer.unit(X.T @ layer.attention(X, z)) for z in rows]
    return sum(y.T @ f for y, f in zip(Y, seen, strict=True))


@check(
    "tian2023-app-multi-head",
    over="random layers of two and three heads",
    instances=several_heads,
    says="On {tried} random layers with several heads, the gradient for each head is (3) with "
    r"the attention of that head and with $\alpha$ computed from all heads together.",
    tolerance=ROUNDING,
    proof=(
        uses(
            "tian2023-lem-1",
            "the gradient of a single head, for any error $x_{T+1} - "
            r"\alpha$",
        ),
        by_hand("the other heads add a constant to the logits", at="constant"),
    ),
    readings={
        r"Each head is trained as if alone, with the $\alpha$ of its own logits.": {"alone": True},
    },
    planted={
        "The attention of another head in the gradient of a head.": {"off": 1},
        r"The mean of the heads instead of their sum in $\alpha$.": {"mean": True},
    },
)
def check_tian2023_app_multi_head(
    one: Heads, alone: bool = False, off: int = 0, mean: bool = False
) -> Iterator[Said]:
    """dY_h = LN(X^T b_h)(x_(T+1) - alpha)^T and (3) for Z_h, alpha = softmax(sum of all logits)."""
    M, H, m = one.Y.shape[1], len(one.Y), one.sample.query
    X, target = layer.one_hot(one.sample.context, M), np.eye(M)[one.sample.following]
    whole = layer.softmax(logits_of_heads(one.sample, one.Y, one.Z) / (H if mean else 1))
    scale = max(1.0, float(np.abs(one.Y).max()))
    for h in range(H):
        v = X.T @ layer.attention(X, one.Z[(h + off) % H][m])
        f = layer.unit(v)
        error = target - (layer.softmax(one.Y[h].T @ f) if alone else whole)
        row = v * (layer.projection(v) @ one.Y[h] @ error) / float(np.linalg.norm(v))
        by_Y, by_Z = np.zeros((M, M)), np.zeros(M)
        for place in np.ndindex(M, M):
            moved = one.Y.astype(complex)
            moved[(h, *place)] += STEP * 1j
            logits = logits_of_heads(one.sample, moved, one.Z)
            by_Y[place] = np.log(layer.softmax(logits)[one.sample.following]).imag / STEP
        for i in range(M):
            turned = one.Z.astype(complex)
            turned[h, m, i] += STEP * 1j
            logits = logits_of_heads(one.sample, one.Y, turned)
            by_Z[i] = np.log(layer.softmax(logits)[one.sample.following]).imag / STEP
        yield arrays.equal(np.outer(f, error), by_Y, f"$Y$ of head {h + 1}", scale=scale)
        yield arrays.equal(row, by_Z, f"$Z$ of head {h + 1}", scale=scale)


# The start, and sums of rows


@dataclass(frozen=True)
class Drawn:
    """M token embeddings and a matrix W, (d, d), all of independent normal entries."""

    M: int
    d: int
    seed: tuple[int, int]

    @property
    def name(self) -> str:
        """The sizes in words."""
        return f"$M = {self.M}$, $d = {self.d}$"

    def entries(self, own: bool) -> Floats:
        """Entries of U V^T, U and V of variance 1/d; `own` puts U in the place of V."""
        rng = np.random.default_rng(self.seed)
        U, V = rng.normal(size=(2, self.M, self.d)) / math.sqrt(self.d)
        return np.asarray((U @ (U if own else V).T).ravel())


def drawn_starts(seed: int = 7, draws: int = 3) -> list[Drawn]:
    """Three dimensions, from 16 to 1024."""
    return [Drawn(200, d, (seed, i)) for d in (16, 128, 1024) for i in range(draws)]


@check(
    "tian2023-app-zero-start",
    over="draws",
    instances=drawn_starts,
    says="In {tried} draws of 40000 inner products of independent Gaussian vectors with $d$ "
    "components of variance $1/d$, the mean is 0 and the variance $1/d$, within six standard "
    "errors. The largest absolute value of an inner product for $d = 1024$ is {largest}.",
    proof=(
        executed(
            "the mean and the variance of one product of two components", steps.gaussian_products
        ),
        by_hand(
            "the $d$ terms of an inner product are independent, so their variances add",
            at="variances",
        ),
    ),
    planted={
        r"Inner products of vectors with themselves, the diagonal of $UU^\top$.": {"own": True},
        "The variance $1/d^2$.": {"power": 2},
    },
)
def check_tian2023_app_zero_start(one: Drawn, own: bool = False, power: int = 1) -> Iterator[Said]:
    """u.v of independent normal vectors with variance 1/d: mean 0, variance 1/d."""
    found, variance = one.entries(own), one.d**-power
    # entries of a row or a column share a vector: they are uncorrelated, and their squares have the
    # covariance 2/d^3; one square has the variance (2 + 6/d)/d^2
    M, d = one.M, one.d
    # in standard errors, of which six are allowed
    errors = 1 / (math.sqrt(d) * M), math.sqrt(2 + 6 / d + 4 * (M - 1) / d) / (d * M)
    yield arrays.slack(6 - abs(float(found.mean())) / errors[0], "the mean")
    off = abs(float((found**2).mean()) - variance)
    yield arrays.slack(6 - off / errors[1], "the variance")
    if one.d == 1024:
        yield most("largest", float(np.abs(found).max()), digits=2)


@check(
    "tian2023-app-row-sums",
    over="random runs",
    instances=trainings,
    says="After 40 steps from zero, with plain gradients and with momentum, the entries of each "
    "row of $Y$ and $Z$ sum to zero in {tried} runs. Under Adam the sum of the entries of a row "
    "reaches {adam}.",
    tolerance=ROUNDING,  # 40 steps, each adding rounding of sums of six numbers near one
    proof=(
        uses("tian2023-eq-3", "the gradients with respect to $Y$ and $Z$"),
        executed(
            "the entries of the error sum to zero",
            steps.errors_sum_to_zero,
            planted={"The entry 0 instead of 1 in $x_{T+1}$ at the next token.": {"target": 0}},
        ),
        CENTRE,
        by_hand(
            r"$X \mathbf 1 = \mathbf 1$, so $P X^\top \mathrm{diag}(b) X \mathbf 1 = P X^\top b = "
            "0$",
            at="ones",
        ),
        by_hand(
            "a sum of updates with zero row sums has zero row sums, which covers batches, "
            "momentum, and weight decay",
            at="sum",
        ),
    ),
    readings={
        "The sum of the rows, as vectors, is zero.": {"axis": 0},
        "The entries of each row sum to zero under Adam, which the paper also uses.": {
            "rules": ("adam",)
        },
    },
    planted={
        "Zero sums of the entries of each row required of runs with Adam.": {"rules": ("adam",)},
        "Zero required of the sum of the rows as vectors.": {"axis": 0},
    },
)
def check_tian2023_app_row_sums(
    run: Training, rules: tuple[str, ...] = ("gradient", "momentum"), axis: int = 1
) -> Iterator[Said]:
    """Y 1 = 0 and Z 1 = 0 after training from zero."""
    for rule in rules:
        for name, W in zip(("Y", "Z"), trained(run, rule), strict=True):
            yield arrays.equal(W.sum(axis=axis), 0.0, f"trained with {rule}, ${name}$", scale=1.0)
    largest = max(float(np.abs(W.sum(axis=1)).max()) for W in trained(run, "adam"))
    yield most("adam", largest, digits=2)


# Long sequences: Assumption 1, equations (5) and (6), Lemma 2


@dataclass(frozen=True)
class Bag:
    """A context, a class, or a sequence, which a check draws from the seed and the number."""

    seed: int
    number: int

    @property
    def name(self) -> str:
        """The number in words."""
        return f"context {self.number}"


@dataclass(frozen=True)
class Speeds:
    """Ratios eta_Y/eta_Z of the coupled flow, each ten times the one before."""

    name: str
    ratios: tuple[float, ...]
    seed: int


def numbered_bags(seed: int = 7, cases: int = 60) -> Iterator[Bag]:
    """Bags of one seed, by number."""
    return (Bag(seed, number) for number in range(cases))


def conditions(seed: int = 7, cases: int = 60) -> Iterator[Bag | Speeds]:
    """Contexts for (a), and the coupled flow at four ratios for (c)."""
    yield from numbered_bags(seed, cases)
    yield Speeds("four ratios", (1.0, 10.0, 100.0, 1000.0), seed)


@check(
    "tian2023-asm-1",
    over="contexts, and training runs at four ratios of the rates",
    instances=conditions,
    says=r"Shuffling the context does not change the output. The larger $\eta_Y/\eta_Z$, the "
    "less the decoder's input $f_n$ moves until the decoder gives the right token the "
    "probability one half.",
    tolerance=1e-13,  # sums of up to 40 weights in another order
    shows="(a) and (c) can hold; (b) is an idealization for $T = 128$",
    planted={
        "A positional bias of 0.01 per position, which violates (a).": {"slope": 0.01},
        "The opposite of (c): $f_n$ moves more if the decoder learns faster.": {"slower": True},
    },
)
def check_tian2023_asm_1(
    one: Bag | Speeds, slope: float = 0.0, slower: bool = False
) -> Iterator[Said]:
    """(a) X^T b does not depend on the order; (c) f_n moves less for larger eta_Y/eta_Z."""
    if isinstance(one, Speeds):
        yield from _speeds(one, slower)
        return
    rng = np.random.default_rng((one.seed, one.number))
    M, length = 8, 1 + one.number % 40
    tokens, z = rng.integers(M, size=length), rng.normal(size=M)
    outputs = []
    for order in (np.arange(length), rng.permutation(length)):
        X = layer.one_hot(tuple(tokens[order].tolist()), M)
        b = layer.softmax(X @ z + slope * np.arange(length))
        outputs.append(layer.unit(X.T @ b))
    yield arrays.equal(outputs[0], outputs[1], f"(a) {length} tokens shuffled", scale=1.0)


def _speeds(one: Speeds, slower: bool) -> Iterator[Said]:
    """Movements of f_n fall with the ratio; how far contexts of 127 tokens are from their limit."""
    moved = [decoder_time_movement(ratio) for ratio in one.ratios]
    for quick, slow, ratio in zip(moved, moved[1:], one.ratios, strict=False):
        words = f"(c) eta_Y/eta_Z from {ratio:g} to {10 * ratio:g}: f_n moves by {quick:.2g}, then"
        yield holds(
            (quick if slower else slow) <= (slow if slower else quick), f"{words} {slow:.2g}"
        )
    for movement, ratio in zip(moved, one.ratios, strict=True):
        yield result(f"moved_{ratio:g}", movement, digits=2, origin=INTEGRATOR)
    small = families.synthetic_classes(2, 1)
    distance = context_distance(np.random.default_rng(one.seed), small, 127, 400)
    yield result("distance", distance, digits=2)


@check(
    "tian2023-eq-5",
    over="random classes",
    instances=numbered_bags,
    says="The check finds this on {tried} random classes: in a sequence whose token frequencies "
    "are exactly $P$, the attention on all positions of a token together is (5). The length $T$ "
    "cancels for symbolic $T$ and $P$.",
    tolerance=1e-13,  # sums of up to a hundred weights
    shows="the definition makes sense: (5) is the attention in a sequence with token frequencies "
    "$P$",
    proof=(
        SHARES,
        by_hand("equal tokens of a sequence have equal weights, which are summed", at="equal"),
    ),
    planted={
        "The factor $P(l|m,n)$ left out.": {"weighted": False},
        "$e^{2z}$ instead of $e^z$.": {"heat": 2.0},
    },
)
def check_tian2023_eq_5(one: Bag, weighted: bool = True, heat: float = 1.0) -> Iterator[Said]:
    """c_l = P(l) e^(z_l)/sum is X^T b for a sequence whose shares are P."""
    rng = np.random.default_rng((one.seed, one.number))
    M = 2 + one.number % 8
    number = rng.integers(0, 6, size=M)
    number[0] += 1
    z = (0.3, 1.0, 5.0)[one.number % 3] * rng.normal(size=(1, M))
    P = number / number.sum() if weighted else (number > 0) / (number > 0).sum()
    c = families.attention_scores(SequenceClasses(P[None], (0,)), heat * z)[0]
    # the sequence is written out twice as long: only shares count
    X = layer.one_hot(tuple(np.repeat(np.arange(M), 2 * number).tolist()), M)
    yield arrays.equal(c, X.T @ layer.attention(X, z[0]), f"$M = {M}$", scale=1.0)


@check(
    "tian2023-lem-2",
    over="random classes",
    instances=long_sequences,
    says=r"$X^\top b$ depends only on the token frequencies $q$, which converge to $P$ by the "
    "strong law of large numbers. In {tried} random classes, for 100 to one million contextual "
    r"tokens, the mean distance of $X^\top b$ from its limit $c$ in the norm $\|\cdot\|_1$ falls "
    "like one over the square root of the length. The constant of proportionality is the "
    "one that the delta method predicts, within five standard errors.",
    proof=(
        SHARES,
        DIAGONAL,
        cited(
            "the token frequencies $q$ converge to $P$ almost surely",
            "durrett2019",
            "Theorem 2.4.1",
        ),
        by_hand(
            r"$X^\top b = q e^z/\sum q e^z$ is a continuous function of $q$ near $P$, since the "
            "sum is positive",
            at="continuous",
        ),
    ),
    planted={
        "One percent of all positions filled with the same token.": {"drift": 0.01},
        "The distance falling like one over the length instead of one over its square root.": {
            "power": 1.0
        },
        "A constant 20 percent larger than that of the delta method.": {"factor": 1.2},
    },
)
def check_tian2023_lem_2(
    one: Long, drift: float = 0.0, power: float = 0.5, factor: float = 1.0
) -> Iterator[Said]:
    """E|X^T b - c|_1 sqrt(T - 1) = constant of the delta method, within five standard errors.

    The tokens of a context are drawn independently.
    """
    means, errors = distances(one, drift)
    lengths = np.array(LENGTHS, dtype=float)
    scaled, spread = means * lengths**power, 5 * errors * lengths**power
    constant = factor * counts.distance_constant(one.P, one.z)
    away = np.abs(scaled - constant) / spread  # in five standard errors
    yield arrays.slack(1 - away, "{at} contextual tokens", at=LENGTHS)
    yield least("least", float((scaled / constant).min()), digits=3)
    yield most("most", float((scaled / constant).max()), digits=3)
    exponent = float(np.polyfit(np.log(lengths), np.log(means), 1)[0])
    yield result("exponent", exponent, digits=3)


@check(
    "tian2023-eq-6",
    over="random sequences",
    instances=partial(numbered_bags, cases=80),
    says=r"At every length, $X^\top b$ is (5) with token frequencies in place of $P$, and "
    r"$X^\top \mathrm{diag}(b) X$ is the diagonal matrix of $X^\top b$. So the second limit in "
    "(6) follows from the first. Both identities hold for {tried} random sequences.",
    tolerance=1e-13,  # sums of up to 300 weights
    proof=(
        uses("tian2023-lem-2", r"$X^\top b$ and $X^\top \mathrm{diag}(b) X$ at every length"),
        SHARES,
        DIAGONAL,
    ),
    planted={
        r"The outer product of $X^\top b$ with itself instead of the diagonal matrix.": {
            "outer": True
        },
        "Frequencies that omit one position.": {"forgotten": 1},
    },
)
def check_tian2023_eq_6(one: Bag, outer: bool = False, forgotten: int = 0) -> Iterator[Said]:
    """X^T b = q e^z/sum(q e^z) and X^T diag(b) X = diag(X^T b), for the shares q of a sequence.

    With q -> P almost surely (law of large numbers, cited) both are (6), c being (5).
    """
    rng = np.random.default_rng((one.seed, one.number))
    M, length = 2 + one.number % 12, (1, 5, 40, 300)[one.number % 4]
    X = layer.one_hot(tuple(rng.integers(M, size=length).tolist()), M)
    z = 2 * rng.normal(size=M)
    b = layer.attention(X, z)
    v = X.T @ b
    expected = np.outer(v, v) if outer else np.diag(v)
    q = X[forgotten:].sum(axis=0) / length
    shares = q * np.exp(z) / max(float(q @ np.exp(z)), 1e-300)
    yield arrays.equal(v, shares, f"{length} tokens, X^T b", scale=1.0)
    yield arrays.equal(X.T @ np.diag(b) @ X, expected, f"{length} tokens, the matrix", scale=1.0)


# How long is long: Lemma 18

RADIUS = executed(
    r"the radius at which $S$ times the bound (138) equals $\delta$, for any number $S$ of tokens",
    steps.radius_for_tokens,
    planted={"$N$ instead of $2N$ under the root.": {"twice": 1}},
)


@check(
    "tian2023-eq-137",
    over="sequences",
    instances=written,
    says="On {tried} sequences, the sum over positions in (137) equals the sum over tokens.",
    tolerance=1e-12,  # sums of up to 200 numbers near one
    proof=(
        by_hand("equal tokens of a sequence give equal terms, which are summed", at="regrouped"),
    ),
    planted={
        "Division by $T$ instead of $T - 1$.": {"more": 1},
        "Token frequencies of the first half only.": {"half": True},
    },
)
def check_tian2023_eq_137(one: Written, more: int = 0, half: bool = False) -> Iterator[Said]:
    """sum_t h_(x_t) x_t/(T - 1) = sum_l q_l h_l e_l, q_l the share of the positions of l."""
    tokens, h = one.drawn()
    found = np.zeros(len(h))
    for token in tokens:
        found[token] += h[token] / (len(tokens) + more)
    counted_ = tokens[: 1 + len(tokens) // 2] if half else tokens
    q = np.array([counted_.count(token) / len(counted_) for token in range(len(h))])
    yield arrays.equal(found, q * h, f"{len(tokens)} tokens", scale=1.0)


@check(
    "tian2023-eq-138",
    over="triples of length, probability, and distance",
    instances=distances_of_shares,
    says="For {tried} choices of length, probability, and distance, the exact binomial "
    "probability that a token frequency is at least $t$ away from its probability is at "
    "most the bound (138).",
    tolerance=1e-9,  # of scipy's binomial tails, relative
    proof=(
        executed(
            "Hoeffding's computation",
            steps.hoeffding,
            planted={"$s^2/16$ instead of $s^2/8$.": {"eighth": 16}},
        ),
        by_hand(
            r"from a second derivative of at most $1/4$ to $\phi(s) \le s^2/8$, by integrating "
            "twice",
            at="twice",
        ),
        by_hand(
            r"Markov's inequality for $e^{s(\text{count} - N P)}$, and independence of the "
            "positions, which turns its mean into a power",
            at="markov",
        ),
    ),
    planted={
        "An exponent that is 1.1 times sharper.": {"sharper": 1.1},
        "One tail: the bound without its factor 2.": {"tails": 1},
    },
)
def check_tian2023_eq_138(one: Far, sharper: float = 1.0, tails: int = 2) -> Iterator[Said]:
    """P(|q_l - P(l)| >= t) <= 2 exp(-2 (T - 1) t^2)."""
    bound = tails * math.exp(-2 * sharper * one.length * one.distance**2)
    yield at_most(one.chance(), bound, scale=bound)


TOGETHER = ((1, 3, Fraction(17, 20)),)  # length, tokens and delta of the witness


@check(
    "tian2023-lem-18",
    over="pairs of length and distribution, and sequences",
    instances=counted,
    says="In {compared} comparisons the exact binomial probability that the frequency of one "
    r"token deviates by more than the radius of Lemma 18 is at most $\delta$, and both identities "
    r"of Lemma 18, for $X^\top h_X$ and for $X^\top \mathrm{diag}(h_X) X$, hold. The number of "
    "positions with the token $l$, which is binomial, is $(T - 1) q_l$, not $T q_l$.",
    fails="By exact multinomial probabilities, the probability that some token frequency "
    r"deviates by more than the radius of Lemma 18 is above $\delta$.",
    tolerance=1e-9,  # of scipy's binomial tails, relative
    proof=(
        uses("tian2023-eq-137", "the first identity of Lemma 18"),
        DIAGONAL,
        uses("tian2023-eq-138", "the probability (138) that the frequency of a token deviates"),
        RADIUS,
    ),
    readings={
        r"With probability at least $1 - \delta$, no token frequency differs from its probability "
        "by more than the radius of Lemma 18.": {"which": "together"},
    },
    planted={
        "The radius of Lemma 18 1.1 times sharper.": {"factor": 1 / 1.1},
        "Half the radius of Lemma 18.": {"factor": 0.5},
        "$T$ instead of $T - 1$ in the frequencies.": {"more": 1},
    },
)
def check_tian2023_lem_18(
    one: Counted, which: str = "single", factor: float = 1.0, more: int = 0
) -> Iterator[Said]:
    """P(|q_l - P(l)| > sqrt(ln(2/delta)/(2(T-1)))) <= delta; X^T h_X/(T-1) = q * h.

    The tokens of a context are drawn independently, T >= 2, and 0 < delta < 1.
    """
    if isinstance(one, Together):
        yield from _together(one, which)
    elif which == "single" and isinstance(one, Strays):
        radius = factor * counts.radius(one.length, one.delta)
        failure = counts.token_failure(one.length, one.p, radius)
        yield at_most(failure, one.delta, "probability of a larger deviation", scale=one.delta)
    elif which == "single" and isinstance(one, Written):
        tokens, h = one.drawn()
        M, length = len(h), len(tokens)
        X = layer.one_hot(tokens, M)
        q, whole = np.bincount(tokens, minlength=M) / length, length + more
        yield arrays.equal(X.T @ (X @ h) / whole, q * h, "(134)", scale=1.0)
        matrix = X.T @ np.diag(X @ h) @ X / whole
        yield arrays.equal(matrix, np.diag(q * h), "(135)", scale=1.0)


def _together(one: Together, which: str) -> Iterator[Said]:
    """All tokens at once: the exact witness, and at which lengths a violation was seen."""
    for length, tokens, delta in TOGETHER:
        if (one.length, one.tokens) == (length, tokens):
            failure = enclosed_failure(length, tokens, delta)
            if which == "together":
                yield at_most(failure, delta, rf"$\delta = {delta}$, probability {failure}")
            yield result("joint", failure)
            yield result("delta", float(delta), digits=2)
            yield result("radius", counts.radius(length, float(delta)), digits=3)
    yield count("pairs")
    yield most("longest", one.length if is_violated(one) else 0)


@check(
    "ours-uniform-counts",
    over=r"triples of length, distribution, and $\delta$",
    instances=distributions,
    says=r"For {tried} choices of length, distribution, and $\delta$, the exact probability that "
    "no token frequency differs from its probability by more than our radius is at least $1 - "
    r"\delta$.",
    # a probability near 1 minus rounding, held against delta = 1e-8
    tolerance=1e-5,
    proof=(
        uses("tian2023-lem-18", r"Lemma 18 for one token, with $\delta/S$ instead of $\delta$"),
        RADIUS,
        by_hand("the union bound over the tokens that can occur", at="union"),
        cited(
            r"for the second radius: $\mathbb P(\sup|\hat G - G| > r) \le 2e^{-2Nr^2}$",
            "massart1990",
            "Corollary 1",
        ),
        by_hand(
            "a probability is a difference of two values of a distribution function",
            at="difference",
        ),
    ),
    planted={
        "The radius of Lemma 18 required for all tokens at once.": {"single": True},
        "Our radius 1.1 times sharper.": {"factor": 1 / 1.1},
        "Our radius halved.": {"factor": 0.5},
    },
)
def check_ours_uniform_counts(
    one: Distribution, single: bool = False, factor: float = 1.0
) -> Iterator[Said]:
    """P(some |q_l - P_l| > r) <= delta with r = min(sqrt(a(S)), 2 sqrt(a(1))).

    Here a(n) = ln(2 n / delta) / (2 N), N = T - 1, and S tokens have positive probability.
    """
    tokens = 1 if single else one.tokens
    radius = factor * counts.uniform_radius(one.length, one.delta, tokens)
    yield at_most(
        one.failure(radius), one.delta, "probability of a larger deviation", scale=one.delta
    )
    # where the second radius is the smaller one: 2 S/delta > (2/delta)^4
    switch = next(S for S in range(1, 10**7) if math.log(2 * S / 0.5) > 4 * math.log(2 / 0.5))
    yield result("switch", switch)
    yield result("small", counts.uniform_radius(127, 0.05, 20), digits=3)
    yield result("single", counts.radius(127, 0.05), digits=3)
