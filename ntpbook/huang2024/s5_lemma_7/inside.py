"""Checks of two steps inside the proof of Lemma 7 that are not implied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ntpbook.shared import enclosed
from ntpcore.verdicts.claims import Verdict
from ntpcore.verdicts.compare import Said, at_least, at_most, left_out, result
from ntpcore.verdicts.vocabulary import Variant, check


@dataclass(frozen=True)
class TwoSamples:
    """Attention in two sentences with different queries, so that any masses go together.

    Attributes:
        first: masses of the rivals in the sample n_0.
        second: the same in the sample n.
        gap: A.
        vocab_size: |V|.
    """

    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    gap: int
    vocab_size: int

    @property
    def name(self) -> str:
        """The masses in words."""
        parts = (", ".join(map(str, masses)) for masses in (self.first, self.second))
        return "rivals of mass {} against {}, A = {}".format(*parts, self.gap)

    def miss(self, masses: tuple[Fraction, ...]) -> Any:
        """1 - T of the right next token, an interval; call it within `enclosed.digits`."""
        from mpmath import iv

        def power(mass: Fraction) -> Any:
            return iv.exp(iv.mpf(self.gap * mass.numerator) / mass.denominator)

        right = power(1 - sum(masses, Fraction(0)))
        wrong = sum((power(mass) for mass in masses), iv.mpf(self.vocab_size - 1 - len(masses)))
        return wrong / (right + wrong)


HALVES = (Fraction(1, 4), Fraction(1, 4))


def pairs_of_samples() -> list[TwoSamples]:
    """Two rivals that share a mass against one that has nearly as much alone; one rival each."""
    alone = [TwoSamples((Fraction(1, k),), (Fraction(1, k + 1),), 5, 6) for k in (2, 3, 5)]
    return [TwoSamples(HALVES, (Fraction(9, 20),), gap, 5) for gap in (40, 10)] + alone


def alone() -> list[TwoSamples]:
    """One rival in each sentence."""
    return [one for one in pairs_of_samples() if len(one.first) == 1]


@check(
    "huang2024-app-lem-7-comparison",
    over="pairs of sentences",
    instances=pairs_of_samples,
    says="The sentence with less attention off its optimal token is continued more surely.",
    fails="Two rivals that share an attention disturb less than one that has a little less alone: "
    "with A = 40 the right token is missed by {first} there and by {second} here.",
    planted={
        "One rival in each sentence, where it is right.": Variant(
            instances=alone, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_app_lem_7_comparison(one: TwoSamples) -> Iterator[Said]:
    """phi_-^(n) < phi_-^(n_0) gives T^(n_0) <= T^(n)."""
    if not sum(one.second) < sum(one.first):
        yield left_out("phi_- of n is not the smaller one")
        return
    with enclosed.digits(40):
        first, second = one.miss(one.first), one.miss(one.second)
        yield at_most(enclosed.upper(second), enclosed.lower(first), "1 - T of n by that of n_0")
        if one.gap == 40:
            yield result("first", float(enclosed.upper(first)), digits=2)
            yield result("second", enclosed.down(enclosed.lower(second), 4), digits=2)


@dataclass(frozen=True)
class Weighted:
    """Terms A^(n,*) <= 0 of the samples of type 1 with their frequencies.

    Attributes:
        name: what it is.
        terms: pairs (frequency, term) of the samples of type 1.
        sample_count: N, all samples.
        pi_min: the least frequency of any sample.
    """

    name: str
    terms: tuple[tuple[Fraction, Fraction], ...]
    sample_count: int
    pi_min: Fraction


RARE = Weighted(
    "four samples, the rare one badly read",
    ((Fraction(1, 8), Fraction(-1)),),
    4,
    Fraction(1, 8),
)
EQUAL = Weighted(
    "four samples, equally frequent",
    tuple((Fraction(1, 4), -Fraction(1, k)) for k in (1, 2, 5)),
    4,
    Fraction(1, 4),
)


@check(
    "huang2024-app-lem-7-weights",
    over="weights",
    instances=lambda: [EQUAL, RARE],
    says="The worst term of a sample of type 1 is at least N times their weighted sum.",
    fails="A badly read sample of frequency 1/8 among four has one eighth of its term in the sum, "
    "and N is 4.",
    planted={
        "All four equally frequent, where it is right.": Variant(
            instances=lambda: [EQUAL], expected=Verdict.NOT_CONTRADICTED
        ),
        "1/pi_min in the place of N, which repairs it.": Variant(
            {"rarity": True}, expected=Verdict.NOT_CONTRADICTED
        ),
    },
)
def check_huang2024_app_lem_7_weights(one: Weighted, rarity: bool = False) -> Iterator[Said]:
    """max A^(n_0,*) >= N sum pi^(n) A^(n,*), over samples of type 1."""
    worst = max(term for _, term in one.terms)
    total = sum((pi * term for pi, term in one.terms), Fraction(0))
    factor = 1 / one.pi_min if rarity else one.sample_count
    yield at_least(worst, factor * total)
