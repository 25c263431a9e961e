"""Runs of stage 2 in ball arithmetic: every number comes with a radius that contains the truth.

The iteration itself is carried out in balls (python-flint, Arb), with the forces written as sums of
terms that are not negative, so that nothing cancels. Balls grow by less than a bit in a step; with
some hundreds of bits to begin with, a run of thousands of steps stays enclosed to many digits. A
run whose balls grow too large is refused, never shortened or rounded.

Step size and gap are given by their squares, which are rational at the paper's parameters:
eta^2 = 0.0025 / |V|, A^2 = T^2 eta0^2 / (|V| - 1) with eta0^2 = 0.04 / |V|.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

Place = tuple[str, str]  # query, token
Weights = dict[Place, Any]

START_BITS = 256
BITS_PER_STEP = 1  # more than balls of the runs tried grow in a step; checked, not assumed
WIDEST = 40  # bits that a weight must have left behind the point


@dataclass(frozen=True)
class Terms:
    """Samples with the same query, optimal token and counts, which share all terms of the loss.

    Attributes:
        query: the last token.
        optimal: the token o with n(o) next.
        count: how often it occurs.
        rivals: the other tokens with their numbers of occurrences.
        weight: how often such samples occur, in proportion.
    """

    query: str
    optimal: str
    count: int
    rivals: tuple[tuple[str, int], ...]
    weight: int


@dataclass(frozen=True)
class EnclosedSetting:
    """What a run of stage 2 depends on, exactly.

    Attributes:
        vocab_size: |V|.
        terms: merged samples that compare tokens.
        star: W_kq_star.
        A_squared: square of the gap of stage 1.
        eta_squared: square of the step size.
    """

    vocab_size: int
    terms: tuple[Terms, ...]
    star: Mapping[Place, Fraction]
    A_squared: Fraction
    eta_squared: Fraction

    @property
    def S(self) -> Fraction:
        """||W_kq_star||^2."""
        return sum((score**2 for score in self.star.values()), Fraction(0))

    @property
    def max_length(self) -> int:
        """L, the longest sentence that compares tokens."""
        return max(n.count + sum(count for _, count in n.rivals) for n in self.terms)


@dataclass(frozen=True)
class EnclosedState:
    """An enclosed state of a run.

    Attributes:
        setting: the run.
        step: t.
        bits: working precision.
        W: balls that contain the entries of W_kq^(t).
    """

    setting: EnclosedSetting
    step: int
    bits: int
    W: Weights


def merge(
    samples: Iterable[tuple[Sequence[str], str, int]], following: Mapping[str, str]
) -> tuple[Terms, ...]:
    """The terms of samples (sentence, next token, count); sentences of one token are left out.

    Args:
        samples: the data.
        following: the collocation n.

    Raises:
        ValueError: a next token is n of no token of its sentence.
    """
    before = {after: token for token, after in following.items()}
    merged: Counter[tuple[str, str, int, tuple[tuple[str, int], ...]]] = Counter()
    for sentence, after, count in samples:
        tokens, o = Counter(sentence), before[after]
        if o not in tokens:
            raise ValueError(f"{after!r} follows no token of the sentence {' '.join(sentence)!r}")
        if len(tokens) > 1:
            rivals = tuple(sorted((j, times) for j, times in tokens.items() if j != o))
            merged[sentence[-1], o, tokens[o], rivals] += count
    return tuple(Terms(*key, weight) for key, weight in sorted(merged.items()))


def exact(value: Fraction) -> Any:
    """The ball around a fraction at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def forces(setting: EnclosedSetting, W: Weights, A: Any) -> list[list[Any]]:
    """Of each sample and rival the force weight * b / A, b = A m_j h_j, as `-grad` has it.

    With x_k = m_k / m_o, near_k = e^{-A m_o (1 - x_k)}, X = sum of near_k + far, it is
    weight m_o x_j (near_j + m_o far + m_o sum_k (1 - x_k) near_k) / (1 + X).
    """
    found = []
    for n in setting.terms:
        top = W[n.query, n.optimal]
        x = [exact(Fraction(c, n.count)) * (W[n.query, j] - top).exp() for j, c in n.rivals]
        m_o = 1 / (1 + sum(x, arb(0)))
        near = [(-A * m_o * (1 - value)).exp() for value in x]
        far = (setting.vocab_size - 1 - len(x)) * (-A * m_o).exp()
        common = far + sum(((1 - v) * e for v, e in zip(x, near, strict=True)), arb(0))
        scale = n.weight * m_o / (1 + sum(near, far))
        found.append([scale * v * (e + m_o * common) for v, e in zip(x, near, strict=True)])
    return found


def pull(setting: EnclosedSetting, b: Sequence[Sequence[Any]]) -> Weights:
    """Minus the gradient up to a positive factor: the sum of the forces times e_o - e_j."""
    found = {place: arb(0) for place in setting.star}
    for n, values in zip(setting.terms, b, strict=True):
        for (j, _), value in zip(n.rivals, values, strict=True):
            found[n.query, n.optimal] += value
            found[n.query, j] -= value
    return found


def inner(V: Weights, W: Weights) -> Any:
    """<V, W>."""
    return sum((V[place] * W[place] for place in V), arb(0))


def enclose(
    setting: EnclosedSetting, steps: int, record: Iterable[int], bits: int | None = None
) -> tuple[EnclosedState, ...]:
    """Enclosed states of the run W^(t+1) = W^(t) - eta grad / ||grad|| from W = 0 (Algorithm 1).

    Args:
        setting: the run.
        steps: how many steps.
        record: the steps whose states are kept.
        bits: precision to begin with; by default `BITS_PER_STEP` times the steps and 256.

    Raises:
        ArithmeticError: a ball has become too large; begin with more bits.
    """
    kept, bits = set(record), bits or START_BITS + BITS_PER_STEP * steps
    states = []
    with ctx.workprec(bits):
        A, eta = exact(setting.A_squared).sqrt(), exact(setting.eta_squared).sqrt()
        W = {place: arb(0) for place in setting.star}
        narrow = arb(2) ** -WIDEST
        for t in range(steps + 1):
            if t in kept:
                states.append(EnclosedState(setting, t, bits, W))
            G = pull(setting, forces(setting, W, A))
            scale = eta / inner(G, G).sqrt()
            W = {place: W[place] + scale * G[place] for place in W}
            if not all(value.rad() < narrow for value in W.values()):
                raise ArithmeticError(
                    f"step {t + 1}: a weight is known to fewer than {WIDEST} bits; begin with more "
                    f"than {bits}"
                )
    return tuple(states)


# What an enclosed state says


def _star(setting: EnclosedSetting) -> Weights:
    """W_kq_star in balls."""
    return {place: exact(score) for place, score in setting.star.items()}


def split(state: EnclosedState) -> tuple[Any, Weights]:
    """(x, y): the length of W along W_kq_star and its part across."""
    star, S = _star(state.setting), exact(state.setting.S)
    along = inner(state.W, star) / S
    return along * S.sqrt(), {place: state.W[place] - along * star[place] for place in star}


def one_minus_cos(state: EnclosedState) -> Any:
    """Ball around 1 - cos of the angle between W and W_kq_star, t >= 1."""
    with ctx.workprec(state.bits):
        x, y = split(state)
        root = (1 + inner(y, y) / x**2).sqrt()
        return inner(y, y) / x**2 / (root * (1 + root))


def missed_attention(state: EnclosedState) -> list[Any]:
    """Balls around phi_- = 1 - m_o of each merged sample."""
    with ctx.workprec(state.bits):
        found = []
        for n in state.setting.terms:
            top = state.W[n.query, n.optimal]
            part = [
                exact(Fraction(c, n.count)) * (state.W[n.query, j] - top).exp() for j, c in n.rivals
            ]
            rho = sum(part, arb(0))
            found.append(rho / (1 + rho))
        return found


def norm(state: EnclosedState) -> Any:
    """Ball around ||W_kq||."""
    with ctx.workprec(state.bits):
        return inner(state.W, state.W).sqrt()


def step_cosine(state: EnclosedState) -> Any:
    """Ball around the cosine of minus the gradient and W_kq_star."""
    with ctx.workprec(state.bits):
        A = exact(state.setting.A_squared).sqrt()
        G = pull(state.setting, forces(state.setting, state.W, A))
        S = exact(state.setting.S)
        return inner(G, _star(state.setting)) / (S * inner(G, G)).sqrt()


# Bounds for all later steps


@dataclass(frozen=True)
class Certificate:
    """Bounds on 1 - cos at all later steps, from one enclosed state.

    Attributes:
        state: the state at step t_1.
        least: ||y_t|| is at least this for all t >= t_1.
        most: and at most this.
        lag: t eta - lag <= x_t <= t eta.
    """

    state: EnclosedState
    least: Any
    most: Any
    lag: Any

    def bounds(self, t: int) -> tuple[float, float]:
        """Numbers below and above 1 - cos at step t >= t_1.

        Raises:
            ValueError: t is before t_1, or t eta does not surely exceed the lag.
        """
        with ctx.workprec(self.state.bits):
            length = t * exact(self.state.setting.eta_squared).sqrt()
            if t < self.state.step or not length > self.lag:
                raise ValueError(f"the certificate of step {self.state.step} says nothing of {t}")
            low = self.least**2 / (2 * (length**2 + self.most**2))
            high = self.most**2 / (2 * (length - self.lag) ** 2)
        with ctx.workprec(53):
            return float(low.lower()), float(high.upper())


def log_weights(setting: EnclosedSetting) -> dict[tuple[str, str, str], Any]:
    """log C_e of each pair e = (q, a, b), C_e the sum of pi c_b / c_a over its samples."""
    total = sum(n.weight for n in setting.terms)
    C: dict[tuple[str, str, str], Fraction] = {}
    for n in setting.terms:
        for j, count in n.rivals:
            pair = (n.query, n.optimal, j)
            C[pair] = C.get(pair, Fraction(0)) + Fraction(n.weight * count, total * n.count)
    return {pair: exact(value).log() for pair, value in C.items()}


def residual(setting: EnclosedSetting) -> Weights:
    """Ball around R, the limit of W - t eta W_kq_star / ||W_kq_star|| across W_kq_star.

    Margins log(C_e (1 + m)) up to a constant, m rivals of the query; its entries sum to zero.

    Raises:
        ValueError: a query has several optimal tokens.
    """
    queries: dict[str, list[tuple[str, str, str]]] = {}
    logs = log_weights(setting)
    for pair in logs:
        queries.setdefault(pair[0], []).append(pair)
    R = {place: arb(0) for place in setting.star}
    for query, pairs in queries.items():
        if len({a for _, a, _ in pairs}) > 1:
            raise ValueError(f"query {query!r} has several optimal tokens")
        values = {pair: logs[pair] + arb(1 + len(pairs)).log() for pair in pairs}
        top = sum(values.values(), arb(0)) / (1 + len(pairs))
        for (_, a, b), value in values.items():
            R[query, a], R[query, b] = top, top - value
    star, S = _star(setting), exact(setting.S)
    along = inner(R, star) / S
    return {place: R[place] - along * star[place] for place in R}


def potential(setting: EnclosedSetting, y: Weights) -> Any:
    """F(y) = log of the sum of C_e e^{-<B_e, y>}."""
    logs = log_weights(setting)
    return sum(((log - y[q, a] + y[q, b]).exp() for (q, a, b), log in logs.items()), arb(0)).log()


def certify(state: EnclosedState, delta: Fraction) -> Certificate | None:
    """Bounds on 1 - cos for all steps from an enclosed state on; None where they do not follow.

    Under Assumptions 1 to 3, one optimal token for each query, eta < max(w, 2 / w), w =
    ||W_kq_star||. With c = max((1 - h) / (1 - h + 2 h S), 1 - eta w / 2), h = eta / w (the first
    for h <= 1), omega = sqrt(||y - R||^2 + eta w (F(y) - F(R)) / c) + 2 delta, it follows if
    8 eta w (3 A + 4) (L - 1) (1 + sqrt(2) S / eta) e^{-x / w + sqrt(2) (||R|| + omega)} is at most
    min(delta, delta^2 c / (sqrt(2) eta w)).

    Args:
        state: W^(t) in balls.
        delta: what perturbations of the late phase may add, in (0, 1].

    Raises:
        ValueError: a query has several optimal tokens, or eta is too large.
    """
    setting = state.setting
    with ctx.workprec(state.bits):
        A, eta = exact(setting.A_squared).sqrt(), exact(setting.eta_squared).sqrt()
        S, d, root = exact(setting.S), exact(delta), arb(2).sqrt()
        w = S.sqrt()
        h = eta / w
        c = 1 - eta * w / 2
        if h < 1 and not c > (1 - h) / (1 - h + 2 * h * S):
            c = (1 - h) / (1 - h + 2 * h * S)
        if not c > 0:
            raise ValueError("the step size is not surely below max(||W*||, 2 / ||W*||)")
        R, (x, y) = residual(setting), split(state)
        away = {place: y[place] - R[place] for place in y}
        excess = (potential(setting, y) - potential(setting, R)).nonnegative_part()
        omega = (inner(away, away) + eta * w / c * excess).sqrt() + 2 * d
        size = inner(R, R).sqrt()
        left = 8 * eta * w * (3 * A + 4) * (setting.max_length - 1) * (1 + root * S / eta)
        left *= (-x / w + root * (size + omega)).exp()
        if not (left < d and left < d**2 * c / (root * eta * w)):
            return None
        lag = state.step * eta - x + S / (root * c) * (excess + root * d) + d
        return Certificate(state, (size - omega).nonnegative_part(), size + omega, lag)
