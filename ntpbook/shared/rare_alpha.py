"""How rare a sample must be to defeat Lemma 7 of huang2024 with any constant, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ntpbook.shared import rare
from ntpcore.huang2024 import bounds
from ntpcore.huang2024.runs import Run

SHARE = Fraction(1, 100)  # the rare column moves at most this much for each unit of the other
NEEDED = Fraction(2, 5)  # what the alpha of Lemma 7 must reach then


@dataclass(frozen=True)
class Instance:
    """The data of `rare` with a sample so rare that alpha_t with a given constant fails.

    Attributes:
        factor: the constant that stands for 4 in Lemma 7.
        log_ratio: R; the rare sentence is e^-R times as frequent as the other.
        path: t eta, the length of the path of W at which the lemma fails.
    """

    factor: float
    log_ratio: float
    path: float


def constants() -> bounds.Constants:
    """N, L_max and ||W_kq_star|| of the data, with a step size of 1."""
    return bounds.constants(rare.rare_problem(0.0), 1.0, 1.0, 1)


def largest_eta() -> float:
    """||W_kq_star|| / e, what the proof of Theorem 1 allows; the lemma itself does not ask."""
    return bounds.thm_1_largest_eta(constants())


def defeat(factor: float, overshoot: float = 0.0) -> Instance:
    """The instance that defeats alpha_t with this factor, by the proof on the page.

    The path must be so long that factor N L_max^2 ||W*||^2 (1 + log(2 L_max x)) / x is below 2/5
    at x = path / sqrt(1 + SHARE^2); then R = sqrt(2) path + log((e^A + |V| - 1) / (SHARE (|V| -
    1))) keeps the rare sample out of the way up to there.

    Args:
        factor: the constant.
        overshoot: by how much the path is made longer than it must be.
    """
    c, gap = constants(), rare.rare_gap()

    def log_alpha(log_x: float) -> float:
        return bounds.log_lem_7_alpha(c, math.exp(log_x), factor=factor)

    log_x = bounds.bites_from(log_alpha, math.log(NEEDED))
    path = math.exp(log_x) * math.sqrt(1 + SHARE**2) + overshoot
    wrong = c.vocab_size - 1
    rest = gap + math.log1p(wrong * math.exp(-gap)) - math.log(wrong * SHARE)
    return Instance(factor, math.sqrt(2) * path + rest, path)


def defeating_run(factor: float) -> Run:
    """The run that must defeat the lemma with this factor, up to the first whole step that does."""
    eta = largest_eta()
    shortest = defeat(factor).path
    steps = math.ceil(shortest / eta)
    return rare.rare_run(defeat(factor, steps * eta - shortest).log_ratio, steps, eta)


def failed_steps(share: Fraction = SHARE) -> list[str]:
    """The steps of the proof on the page that are not identities of sympy or exact inequalities.

    Write m, r = 1 - m for the attention masses, To and Tj for the probabilities of the two next
    tokens in a sample whose query has one optimal token and one rival.
    """
    import sympy as sp

    m, To, Tj, d = sp.symbols("m To Tj d", nonnegative=True)
    c, Z, p, q, x, L = sp.symbols("c Z p q x L", positive=True)
    r = 1 - m
    # Lemma 4, projected on the two entries of the column and divided by A pi
    entry_o = (To - 1) * m * r - Tj * r * m
    entry_j = -(To - 1) * m * r + Tj * r * (1 - r)
    lower = (c + p) * (c + Z) - c * ((c + p) + (Z - q))
    tail = 1 / (1 + sp.exp(d)) - sp.exp(-d) / 2
    factor = (1 + sp.log(2 * L * x)) / x
    zeros = {
        "the two entries are opposite": entry_o + entry_j,
        "their size is m r (1 - To + Tj)": entry_j - m * r * (1 - To + Tj),
        "m r is at most 1/4": sp.Rational(1, 4) - m * r - (m - sp.Rational(1, 2)) ** 2,
        "1 - To is at least (|V| - 1) / (e^A + |V| - 1)": lower - (p * Z + c * q),
        "r is at least e^-d / 2": tail - (1 - sp.exp(-d)) / (2 * (1 + sp.exp(d))),
        "alpha_t falls with the norm": sp.diff(factor, x) + sp.log(2 * L * x) / x**2,
    }
    failed = [name for name, value in zeros.items() if sp.simplify(value) != 0]
    if (1 + NEEDED) ** 2 * (1 + share) ** 2 * (1 + share**2) >= 2:
        failed.append("sqrt(2) exceeds (1 + 2/5) (1 + share) sqrt(1 + share^2)")
    return failed
