"""States and runs on which the inequalities of Theorems A and B are tried, ends of ranges first.

Nothing here proves anything; it would show an error of the proofs. The numbers come from `model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.huang2024.why_it_turns import model
from ntpbook.huang2024.why_it_turns.model import Data, Sample, Weights


@dataclass(frozen=True)
class Compared:
    """Both sides of an inequality left <= right on one instance.

    Attributes:
        name: which inequality.
        left: the side that must not be larger.
        right: the other side.
    """

    name: str
    left: Any
    right: Any

    def __post_init__(self) -> None:
        sides = (self.left, self.right)
        if not all(isinstance(side, Fraction) or mp.isfinite(side) for side in sides):
            raise ArithmeticError(f"{self.name}: {self.left} <= {self.right} compares no numbers")

    @property
    def slack(self) -> Any:
        """The right side minus the left one; negative where the inequality fails."""
        return self.right - self.left


def K(data: Data) -> Any:
    """log(2 L^2 (L - 1)^3 / pi_min) (Theorem A)."""
    L = data.max_length
    return mp.log(2 * mp.mpf(L) ** 2 * mp.mpf(L - 1) ** 3) - mp.log(data.pi_min)


Constant = Callable[[Data], Any]


# Theorem A


def invariant(data: Data, W: Mapping[tuple[int, int], Any]) -> Any:
    """The least effective margin; Theorem A supposes that it is not negative."""
    return min(u for sample in data.samples for u in model.effective_margins(sample, W))


def theorem_a(data: Data, W: Weights, A: Any, K: Constant = K) -> Compared:
    """<g, W> <= gamma <W_hat, W> + K at one state, g the mean of the B_e under the forces.

    gamma <W_hat, W> is <W*, W> / S.
    """
    b = model.forces(data, W, mp.mpf(A))
    pulls = [value for values in b for value in values]
    u = [value for sample in data.samples for value in model.margins(sample, W)]
    left = mp.fsum(p * value for p, value in zip(pulls, u, strict=True)) / mp.fsum(pulls)
    return Compared("theorem A", left, model.inner(data.star, W) / model.as_real(data.S) + K(data))


def lemma_7_form(data: Data, W: Weights, A: Any, K: Constant = K) -> Compared:
    """<grad, W*> (1 + K ||W*|| / ||W||) ||W|| / ||W*|| <= <grad, W>, both over the total force."""
    b = model.forces(data, W, mp.mpf(A))
    G, total = model.gradient(data, b), mp.fsum(value for values in b for value in values)
    w, norm = mp.sqrt(model.as_real(data.S)), mp.sqrt(model.inner(W, W))
    alpha = K(data) * w / norm
    left = -(1 + alpha) * model.inner(G, data.star) * norm / w / total
    return Compared("Lemma 7 with alpha", left, -model.inner(G, W) / total)


def lemma_6(data: Data, W: Weights, A: Any) -> Compared:
    """gamma / sqrt(2) <= <d, W_hat>, d the direction of the step."""
    G = model.gradient(data, model.forces(data, W, mp.mpf(A)))
    S = model.as_real(data.S)
    a = model.inner(G, data.star) / mp.sqrt(S * model.inner(G, G))
    return Compared("Lemma 6", 1 / mp.sqrt(2 * S), a * (1 + 1000 * mp.eps))


def position_weights(data: Data, W: Mapping[tuple[int, int], Any]) -> list[Any]:
    """Attention weight of one position of the optimal token, in each sample."""
    found = []
    for sample in data.samples:
        pulls = zip(model.margins(sample, W), sample.rivals, strict=True)
        others = mp.fsum(count * mp.exp(-u) for u, (_, count) in pulls)
        found.append(1 / (sample.count + others))
    return found


# Theorem B


def theorem_b(
    data: Data,
    A: Any,
    eta: Any,
    steps: int,
    K: Constant = K,
    *,
    factor: Any = 2,
    plain: bool = False,
) -> Iterator[Compared]:
    """The inequalities of Theorem B at each step of a run from W = 0.

    ||y||^2 <= 2 K w x + eta^2 t; tan^2 <= (2 S / t) (1 + sqrt(2) K / eta); the norm bounds; and
    from t_A on the margins; and Lemma 5. An equality may miss by rounding, 1000 times mp.eps.

    Args:
        data: the samples.
        A: the gap.
        eta: the step size.
        steps: how many.
        K: the constant of Theorem A.
        factor: the 2 of the bound on tan^2.
        plain: whether gradients come from equation (6), position by position.
    """
    S, k, size = model.as_real(data.S), K(data), mp.mpf(eta)
    w, root, near = mp.sqrt(S), mp.sqrt(2), 1 + 1000 * mp.eps
    t_A = 32 * S**2 * max(mp.mpf(1), root * k / size)
    before = position_weights(data, data.zero)
    for t, W in enumerate(model.run(data, A, eta, steps, plain=plain), start=1):
        x, length = model.inner(data.star, W) / w, model.inner(W, W)
        y = length - x**2
        yield Compared("||y||^2", y, 2 * k * w * x + size**2 * t)
        yield Compared("tan^2", y / x**2, factor * S / t * (1 + root * k / size))
        yield Compared("norm below", t * size / (root * w), x * near)
        yield Compared("norm above", mp.sqrt(length), t * size * near)
        phi = position_weights(data, W)
        falls = max(old - new for old, new in zip(before, phi, strict=True))
        yield Compared("Lemma 5, growth", falls, mp.eps)
        yield Compared("Lemma 5, size", mp.mpf(1) / data.max_length, min(phi) + mp.eps)
        before = phi
        if t >= t_A:
            u = min(value for n in data.samples for value in model.margins(n, W))
            yield Compared("margins", t * size / (2 * root * S), u)


# Data


def shares(*parts: Any) -> list[Any]:
    """Numbers in proportion, with the sum 1."""
    total = mp.fsum(mp.mpf(part) for part in parts)
    return [mp.mpf(part) / total for part in parts]


def edges() -> dict[str, Data]:
    """Small data at the ends of ranges; query and optimal token stand in every sentence."""
    tiny = mp.exp(-40)
    half = shares(1, 1)
    return {
        "one pair": Data(2, (Sample(1, 0, 1, ((1, 1),), mp.mpf(1)),)),
        "one pair, many tokens": Data(10**6, (Sample(1, 0, 1, ((1, 1),), mp.mpf(1)),)),
        "two pairs, one rare": Data(
            4,
            tuple(
                Sample(2 * i + 1, 2 * i, 1, ((2 * i + 1, 1),), p)
                for i, p in enumerate(shares(1, tiny))
            ),
        ),
        "slack pair": Data(
            5,
            (
                Sample(4, 0, 1, ((2, 1), (3, 1), (4, 1)), half[0]),
                Sample(4, 1, 1, ((4, 1),), half[1]),
            ),
        ),
        "idle pair": Data(
            4, (Sample(3, 0, 1, ((2, 1), (3, 1)), half[0]), Sample(3, 1, 1, ((3, 1),), half[1]))
        ),
        "two optimal tokens": Data(
            6,
            (
                Sample(4, 0, 3, ((2, 1), (4, 3)), half[0]),
                Sample(4, 1, 2, ((3, 2), (4, 1)), half[1]),
            ),
        ),
        "one rival a thousand times": Data(
            4, (Sample(1, 0, 1000, ((1, 1000), (2, 1), (3, 1)), mp.mpf(1)),)
        ),
        "four queries, heavy tails": Data(
            8,
            tuple(
                Sample(q, q, 1 + q, ((q + 4, 1), ((q + 5) % 4 + 4, 1 + q)), p)
                for q, p in enumerate(shares(1, 1e-3, 1e-9, 1e-30))
            ),
        ),
    }


def random_data(rng: np.random.Generator, *, frequent: bool = True) -> Data:
    """Up to three queries with up to three optimal tokens and four rivals; heavy-tailed shares.

    With several optimal tokens the query is a rival in each sentence; else it may be optimal.

    Args:
        rng: source of randomness.
        frequent: whether Assumption 3 holds.
    """
    size = int(rng.integers(3, 9))
    size = 12 if size == 8 else size
    rows: list[tuple[int, int, int, dict[int, int]]] = []
    for query in range(int(rng.integers(1, 4))):
        tokens = [int(v) for v in rng.permutation(size) if v != query % size]
        k = int(rng.integers(1, 3 if size < 6 else 4))
        above, below = tokens[:k], [query % size, *tokens[k:]][: int(rng.integers(1, 5))]
        for a in above:
            for _ in range(int(rng.integers(1, 3))):
                chosen = [b for b in below if b == query % size or rng.random() < 0.6]
                count = int(rng.integers(1, 4))
                most = count + 1 if frequent else 6
                rows.append((query, a, count, {b: int(rng.integers(1, most)) for b in chosen}))
    logs = -rng.exponential(float(rng.choice([0.1, 3.0, 30.0])), len(rows))
    parts = shares(*(mp.exp(value) for value in logs))
    return Data(
        size,
        tuple(
            Sample(q, a, count, tuple(sorted(rivals.items())), pi)
            for (q, a, count, rivals), pi in zip(rows, parts, strict=True)
        ),
    )


def random_state(rng: np.random.Generator, data: Data) -> Weights:
    """Weights of a random size with no negative effective margin, some of them just zero."""
    scale = 10.0 ** rng.uniform(-2, 3)
    W = {place: mp.mpf(float(rng.normal()) * scale) for place in data.star}
    for sample in data.samples:
        least = min(model.effective_margins(sample, W))
        if least < 0:
            W[sample.query, sample.optimal] -= least
    return W


# What fails without a hypothesis


def next_token_from_outside(steps: int, A: Any = 3, eta: Any = 0.3) -> tuple[Compared, Compared]:
    """Theorem B and the norm bound where a next token is n of no token of its sentence.

    |V| = 3; the sentence 0 0 1 is followed by n(2), the sentence 2 0 too, each half of the data.
    The only pair is 2 above 0 at the query 0, so that S = 1 / 2, L = 3. The query 1 has a column
    without a pair, where the loss has a minimum.
    """
    W: Weights = {(1, 0): mp.mpf(0), (1, 1): mp.mpf(0), (0, 0): mp.mpf(0), (0, 2): mp.mpf(0)}
    sentences = ((1, (0, 0, 1)), (0, (2, 0)))
    for _ in range(steps):
        G = {}
        for query, tokens in sentences:
            column = {token: W[query, token] for token in tokens}
            pull = model.sentence_gradient(tokens, 2, 3, column, mp.mpf(A))
            G.update({(query, token): value / 2 for token, value in pull.items()})
        norm = mp.sqrt(model.inner(G, G))
        W = {place: W[place] + eta * G[place] / norm for place in W}
    length = mp.sqrt(model.inner(W, W))
    cos = (W[0, 2] - W[0, 0]) / mp.sqrt(2) / length
    k = mp.log(2 * 9 * 8 * 2)
    bound = (1 + mp.sqrt(2) * k / eta) / 2 / steps
    return Compared("1 - cos", 1 - cos, bound), Compared("norm below", steps * mp.mpf(eta), length)


def outnumbered() -> Data:
    """Two sentences without Assumption 3; a run with A = 40 and eta = 0.01 breaks Lemma 5.

    Tokens 0, 1, 2: one sentence holds 1 once, 0 three times, 2 eight times; the other holds 1
    three times and 0 twice; both end in 0 and are followed by n(1). Shares 3/4 and 1/4.
    """
    parts = shares(3, 1)
    return Data(
        3, (Sample(0, 1, 1, ((0, 3), (2, 8)), parts[0]), Sample(0, 1, 3, ((0, 2),), parts[1]))
    )
