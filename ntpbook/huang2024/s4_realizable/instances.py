"""Small data sets with parameters along which their loss tends to zero (huang2024, Section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, from_samples, from_sentences


@dataclass(frozen=True)
class Weights:
    """A data set, and parameters along which its loss is driven to zero.

    Attributes:
        data: the data set.
        W_ov: for each token, its column of W_ov; it is multiplied by a scale B that grows.
        odds: for each query, exp(W_kq[x, q]) of the tokens x, 1 where none is given.
    """

    data: Dataset
    W_ov: Mapping[str, Mapping[str, Fraction]]
    odds: Mapping[str, Mapping[str, Fraction]]

    @property
    def name(self) -> str:
        """Size and name of the data."""
        return f"{len(self.data.vocabulary)} tokens, {self.data.name}"


def columns(rows: str, *entries: tuple[int, ...]) -> dict[str, dict[str, Fraction]]:
    """W_ov from the entries of its columns, over the tokens named by single letters, by thirds."""
    return {
        token: {row: Fraction(value, 3) for row, value in zip(rows, column, strict=True)}
        for token, column in zip(rows, entries, strict=True)
    }


def separation(weights: Weights) -> Fraction:
    """Smallest lead of the right logit over any other one, over all samples, at scale B = 1.

    At scale B a sample's loss is at most (|V| - 1) exp(-B times this). So the loss tends to zero
    as B grows exactly if the separation is positive.
    """
    leads = []
    for sample in weights.data.samples():
        odds = weights.odds.get(sample.sentence[-1], {})
        mass = [odds.get(token, Fraction(1)) for token in sample.sentence]
        logit = {
            v: sum(
                (
                    share * weights.W_ov[x][v]
                    for share, x in zip(mass, sample.sentence, strict=True)
                ),
                Fraction(0),
            )
            / sum(mass)
            for v in weights.data.vocabulary
        }
        right = logit.pop(sample.next_token)
        leads.append(right - max(logit.values()))
    return min(leads)


def loss_bound(weights: Weights, scale: float) -> float:
    """(|V| - 1) exp(-B separation): an upper bound of the loss at scale B, in nats."""
    return (len(weights.data.vocabulary) - 1) * math.exp(-scale * float(separation(weights)))


def decay(weights: Weights, scales: Sequence[float]) -> tuple[list[float], list[float]]:
    """The scales, and the bound of the loss at each of them."""
    return list(scales), [loss_bound(weights, scale) for scale in scales]


def separating_weights(data: Dataset, favour: int | None = None) -> Weights:
    """Parameters along which the loss of realizable data tends to zero.

    W_ov x = e_n(x); under a query an optimal token gets L_max times the attention of another.

    Args:
        data: data with n known for every token.
        favour: how many times the attention of another token an optimal one gets; L_max if None.
    """
    structure = order.analyse(data)
    names, following = data.vocabulary, structure.collocation
    odds = Fraction(data.max_length if favour is None else favour)
    return Weights(
        data,
        {x: {v: Fraction(following[x] == v) for v in names} for x in names},
        {q: dict.fromkeys(one.optimal, odds) for q, one in (structure.orders or {}).items()},
    )


# Data without what Assumption 1 asks for, and a loss that tends to zero all the same


def peak_outside() -> Weights:
    """A next token that is not n of any token of its sentence; |V| = 3."""
    data = from_sentences(["0 1 0", "1 2", "2 0"], "lines 0 1 0, 1 2, 2 0")
    return Weights(data, columns("012", (9, 10, 0), (9, 0, 10), (10, 0, 0)), {})


def contradictory_orders() -> Weights:
    """0 above 1 and 1 above 0 under query 1; |V| = 2."""
    data = from_sentences(["0 1 1 0", "1 0"], "lines 0 1 1 0, 1 0")
    return Weights(data, columns("01", (0, 3), (3, 0)), {"1": {"0": Fraction(3, 2)}})


def shared_next_token() -> Weights:
    """n(0) = n(1) = 0; |V| = 2."""
    return Weights(
        from_sentences(["0 0", "1 0"], "lines 0 0, 1 0"), columns("01", (3, 0), (3, 0)), {}
    )


def closed_chain() -> Weights:
    """0 above 2 and 2 above 3, but not 0 above 3, under query 2; |V| = 4, n runs around them.

    The data are prefix-closed, W_ov x = e_n(x), and in every sample each position of the optimal
    token has a larger weight than each other position.
    """
    data = from_sentences(["0 1 2 1", "1 2 3 2 3", "2 3", "3 0"], "lines 0 1 2 1, 1 2 3 2 3")
    W_ov = columns("0123", (0, 3, 0, 0), (0, 0, 3, 0), (0, 0, 0, 3), (3, 0, 0, 0))
    three, nine = Fraction(3), Fraction(9)
    return Weights(data, W_ov, {"1": {"1": three}, "2": {"0": nine, "2": three}, "3": {"1": three}})


def broken_chain() -> Weights:
    """a above b and b above c, but not a above c, under query q; no sentence repeats a token.

    n runs around a, b, c, q; "a b q" is followed by n(a) and "b c q" by n(b), and W_ov x = e_n(x).
    """
    singles = [("a", "b"), ("b", "c"), ("c", "q"), ("q", "a")]
    data = from_samples(
        [*singles, (tuple("abq"), "b"), (tuple("bcq"), "c")], "a b q → b, b c q → c"
    )
    W_ov = columns("abcq", (0, 3, 0, 0), (0, 0, 3, 0), (0, 0, 0, 3), (3, 0, 0, 0))
    return Weights(data, W_ov, {"q": {"a": Fraction(9), "b": Fraction(3)}})


def smaller_weight() -> Weights:
    """Attention prefers the wrong token; |V| = 2, n swaps 0 and 1, Assumption 1 holds.

    The sentence 0 1 is followed by n(0); its token 0 gets a third of the attention, but the column
    of 0 in W_ov is five times as long as that of 1.
    """
    data = from_sentences(["0 1 1", "1 0"], "lines 0 1 1, 1 0")
    return Weights(data, columns("01", (0, 15), (3, 0)), {"1": {"0": Fraction(1, 2)}})


def outnumbered() -> Dataset:
    """Smallest data set found that meets Assumption 1 and breaks Assumption 3, for two tokens."""
    return from_sentences(["0 1 1 1", "1 0"], "0 1 1 1 with 1 0")


def repeated_token() -> Dataset:
    """Realizable data with a sentence that repeats a token which another sentence rates low."""
    samples = [("a", "b"), ("b", "a"), ("ba", "a"), ("aa", "b")]
    return from_samples([(tuple(s), following) for s, following in samples], "a repeated token")
