"""Checks of Section 3: the layer, its likelihood, its normalisation, and Table 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge
from ntpbook.tian2023.s3_setting import setting_symbols as symbols
from ntpcore.tian2023 import layer
from ntpcore.tian2023.layer import Embedded, Sample
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]
SIZES = ((3, 2), (5, 8), (20, 6), (20, 40))  # (M, d), with d below and above M


def random_layers(cases: int, seed: int) -> Iterator[tuple[str, Embedded, Sample]]:
    """Random layers, each with a random sequence, and both in words."""
    rng = np.random.default_rng(seed)
    for number in range(cases):
        M, d = SIZES[number % len(SIZES)]
        length = (1, 3, 17, 127)[number // len(SIZES) % 4]
        where = f"M = {M}, d = {d}, {length} contextual tokens, case {number}"
        yield where, layer.random_embedded(rng, M, d), layer.random_sample(rng, M, length)


def check_tian2023_eq_1(cases: int = 120, seed: int = 7, masked: bool = True) -> Check:
    """Weights of (1): a distribution over the context, without the query, from a row of Z.

    Args:
        cases: number of random layers and sequences.
        seed: of the layers and sequences.
        masked: whether the query is masked in the position-by-position computation.
    """

    def instances() -> Iterator[Case]:
        for where, net, sample in random_layers(cases, seed):
            M = len(net.Z)
            weights = layer.embedded_weights(net, sample, masked=masked)
            b = layer.attention(layer.one_hot(sample.context, M), net.Z[sample.query])
            off = max(
                float(np.abs(weights[:-1] - b).max()),
                float(weights[-1]),
                abs(float(b.sum()) - 1),
                float(-b.min()),
            )
            yield Case(where, -off)

    return judge(
        "tian2023-eq-1",
        instances(),
        unit="random layers",
        claim="Scores of pairs of embeddings give the weights of a masked softmax of a row of Z",
        tolerance=1e-12,  # scores of order ten, from sums of up to d^2 products
        parameters={"cases": cases, "seed": seed},
    )


def control_tian2023_eq_1() -> Control:
    """A query that attends to itself takes weight from the context."""
    return Control(
        "The mask left out, so that the query attends to itself.",
        Verdict.REFUTED,
        check_tian2023_eq_1(cases=16, masked=False).verdict,
    )


def check_tian2023_eq_2(
    cases: int = 120, seed: int = 7, decoder: Callable[[Embedded], Floats] = lambda net: net.Y
) -> Check:
    """J from embeddings is J from Y and Z, and a log probability.

    Args:
        cases: number of random layers and sequences.
        seed: of the layers and sequences.
        decoder: Y from the weights of a layer.
    """

    def instances() -> Iterator[Case]:
        for where, net, sample in random_layers(cases, seed):
            M = len(net.Z)
            Y = decoder(net)
            # all next tokens, so that the probabilities can be summed
            every = [Sample(sample.context, sample.query, n) for n in range(M)]
            logs = np.array([float(layer.log_likelihood(one, Y, net.Z)) for one in every])
            expected = layer.embedded_log_likelihood(net, every[sample.following])
            off = max(
                abs(logs[sample.following] - expected) / max(1.0, abs(expected)),
                abs(float(np.exp(logs).sum()) - 1),
                float(logs.max()),
            )
            yield Case(where, -off)

    return judge(
        "tian2023-eq-2",
        instances(),
        unit="random layers",
        claim="J is the log of a probability and the same in embeddings as in Y and Z",
        tolerance=1e-12,  # logits of order ten, from sums of up to d^2 products
        parameters={"cases": cases, "seed": seed},
    )


def control_tian2023_eq_2() -> Control:
    """Y without the transpose of W_V is another decoder."""
    return Control(
        "Y = U W_V U^T, without the transpose.",
        Verdict.REFUTED,
        check_tian2023_eq_2(cases=16, decoder=lambda net: net.U @ net.W_V @ net.U.T).verdict,
    )


def norm_gap(U: Floats, v: Floats) -> float:
    """| |U^T v| / |v| - 1 |, by how much normalising embeddings and tokens differs."""
    return abs(float(np.linalg.norm(U.T @ v) / np.linalg.norm(v)) - 1)


def check_tian2023_app_normalization(cases: int = 60, seed: int = 7, stretch: float = 0.0) -> Check:
    """|U^T X^T b| = |X^T b| for orthonormal embeddings, nearly so for nearly orthonormal ones.

    Args:
        cases: number of random embeddings.
        seed: of the embeddings.
        stretch: by what fraction the first embedding is longer than 1; the claim needs 0.
    """
    rng = np.random.default_rng(seed)

    def instances() -> Iterator[Case]:
        for number in range(cases):
            M = (2, 5, 20, 60)[number % 4]
            d = M + (0, 7)[number % 2]
            U = np.linalg.qr(rng.normal(size=(d, M)))[0].T
            U[0] *= 1 + stretch
            v = rng.dirichlet(np.full(M, 0.3)) + 1e-9
            yield Case(f"M = {M}, d = {d}, orthonormal, case {number}", -norm_gap(U, v))

    check = judge(
        "tian2023-app-normalization",
        instances(),
        unit="random embeddings",
        claim="Orthonormal embeddings keep the norm of every X^T b",
        tolerance=1e-13,  # rounding of sums of up to 67 products
        parameters={"cases": cases, "seed": seed},
        by_hand=("LN(U^T v) = U^T v / |U^T v| = U^T LN(v) once the norms agree",),
        proved=symbols.orthonormal_norms(),
    )
    if check.verdict is Verdict.REFUTED:
        return check
    gaps, excess = _nearly_orthonormal(rng)
    return replace(
        check,
        evidence=f"{check.evidence} Independent Gaussian embeddings of dimension d are orthonormal "
        "only nearly: the ratio of the norms misses 1 by "
        + ", ".join(f"{gap:.2g} (d = {d})" for d, gap in gaps.items())
        + f" on average, and its square by at most |U U^T - I|, in all {len(gaps) * 50} of them "
        f"(least slack {excess:.2g}).",
        numbers={**check.numbers, **{f"gap_{d}": f"{gap:.2g}" for d, gap in gaps.items()}},
    )


def _nearly_orthonormal(rng: np.random.Generator) -> tuple[dict[int, float], float]:
    """Mean gap of the norms by dimension for 60 tokens, and the least slack of the bound."""
    gaps, slack = {}, np.inf
    for d in (16, 64, 256, 1024):
        found = []
        for _ in range(50):
            U = rng.normal(size=(60, d)) / np.sqrt(d)
            v = rng.dirichlet(np.full(60, 0.3))
            found.append(norm_gap(U, v))
            squared = abs(float((U.T @ v) @ (U.T @ v) / (v @ v)) - 1)
            slack = min(slack, float(np.linalg.norm(U @ U.T - np.eye(60), 2)) - squared)
        gaps[d] = float(np.mean(found))
    assert slack > -1e-12  # the bound is that of the spectral norm
    return gaps, slack


def control_tian2023_app_normalization() -> Control:
    """One embedding longer than the others breaks the identity."""
    return Control(
        "One embedding that is a hundredth longer than 1.",
        Verdict.REFUTED,
        check_tian2023_app_normalization(cases=8, stretch=0.01).verdict,
    )


def table_1_attention(tokens: tuple[int, ...], z: Floats, T: int, base: int) -> tuple[float, int]:
    """Weight of the query on itself, and the token of the query, with the positions of Table 1.

    The query is x_(T-1), the next token x_T, and (1) sums over all positions before x_T that it
    sums over: t < T counted from 1, or the same shifted by one if positions count from 0.

    Args:
        tokens: the whole sequence with its next token.
        z: (M,), row of Z of the query.
        T: the length that the table's indices are made of.
        base: number of the first position, 0 or 1.

    Returns:
        the total weight of position T - 1, and the query.
    """
    query_place = T - 1 - base
    # (1) in its own numbering masks what stands at T: its sum runs over t = 1, ..., T - 1. Counted
    # from 0 every index falls by one, and the sum runs over t = 0, ..., T - 2.
    summed = [t - base for t in (range(1, T) if base else range(T - 1))]
    b = layer.attention(layer.one_hot(tuple(tokens[i] for i in summed), len(z)), z)
    own = sum(float(w) for i, w in zip(summed, b, strict=True) if i == query_place)
    return own, tokens[query_place]


def check_tian2023_app_table_1(cases: int = 40, seed: int = 7, base: int = 0) -> Check:
    """Query x_(T-1) and next token x_T, read with positions counted from 0 or from 1.

    Args:
        cases: number of random sequences.
        seed: of the sequences.
        base: number of the first position.
    """

    def instances(first: int) -> Iterator[Case]:
        rng = np.random.default_rng(seed)
        for number in range(cases):
            M, context = 6, 1 + number % 8
            tokens = tuple(rng.integers(M, size=context + 2).tolist())
            # counted from 0, x_T is the last of T + 1 tokens; counted from 1, of T tokens
            T = len(tokens) - 1 + first
            own, query = table_1_attention(tokens, rng.normal(size=M), T, first)
            off = own + (query != tokens[-2])
            yield Case(f"{context} contextual tokens, case {number}", -off)

    def judged(first: int) -> Check:
        return judge(
            "tian2023-app-table-1",
            instances(first),
            unit="random sequences",
            claim="With the positions of Table 1 the query of (1) does not attend to itself and "
            f"stands just before the next token, when positions count from {first}",
            tolerance=0.0,
            witness="With query x_(T-1) the sum over t < T in (1) includes the query.",
            parameters={"cases": cases, "seed": seed},
        )

    check, other = judged(base), judged(1)
    if check.verdict is Verdict.REFUTED:
        return check
    return replace(
        check,
        readings=(
            Reading(
                "positions count from 0, so that all indices of (1) and (2) fall by one",
                check.verdict,
            ),
            Reading(
                "the indices of the table in (1) and (2) as they stand: the query attends to "
                f"itself ({other.witness})",
                other.verdict,
            ),
        ),
    )


def control_tian2023_app_table_1() -> Control:
    """Positions counted from 1, as (1) counts them."""
    return Control(
        "The table's indices put into (1), whose positions count from 1.",
        Verdict.REFUTED,
        check_tian2023_app_table_1(cases=8, base=1).verdict,
    )
