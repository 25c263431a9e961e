"""Two displays of the proof of Theorem 3 (Appendix D.2): the margins, and 1 - eps_0."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ntpbook.shared.enclosure import exact
from ntpbook.shared.ends import lower, upper
from ntpbook.shared.in_force import FACTS, facts
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import transformer
from ntpcore.huang2024.problem import from_dataset
from ntpverdicts.claims import Shown, Verdict
from ntpverdicts.compare import Said, assume, below, holds, result
from ntpverdicts.maths import in_tex, in_words
from ntpverdicts.numbers import written
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]

# The margins


def one_pair() -> Dataset:
    """The samples 0 to 1, 1 to 0 and 0 1 to 0: n swaps the tokens, and one sample compares them."""
    return from_samples([(("0",), "1"), (("1",), "0"), (("0", "1"), "0")], "the sentence 0 1 0")


@dataclass(frozen=True)
class TwoTokens:
    """Two tokens x, x' under the query of the sentence 0 1 0, where W^(t) is known exactly.

    One pair pulls, so every step goes along W_kq_star: W^(t) = t eta W_kq_star / ||W_kq_star||,
    with N = 3, L_max = 2 and ||W_kq_star||^2 = 1/2.

    Attributes:
        name: which token is x.
        star: (x - x')^T W_kq_star x^q.
        steps: t.
        eta: the step size.
    """

    name: str
    star: int
    steps: int = 3_000_000
    eta: Fraction = Fraction(13, 50)  # below ||W_kq_star|| / e = 0.2601


FORWARD = TwoTokens("the sentence 0 1 0, $x$ the optimal 0 and $x'$ the non-optimal 1", 1)
BACKWARD = TwoTokens("the sentence 0 1 0, $x$ the non-optimal 1 and $x'$ the optimal 0", -1)


@check(
    "huang2024-app-thm-3-margins",
    over="pairs of tokens",
    instances=lambda: [FORWARD, BACKWARD],
    says="The stated lower bound on the margin holds for every pair of tokens.",
    fails="The paper states the inequality for any two tokens. It fails for a non-optimal token "
    "$x$ and an optimal token $x'$. On the sentence 0 1 0, where $W^{(t)}$ is known exactly, "
    "their margin after {t} steps is {margin}, and the stated lower bound is {claimed}. The proof "
    "in the paper inserts the lower bound of Lemma 6 on the norm, but where the difference of "
    "scores is negative, an upper bound on the norm is needed.",
    hypotheses=(*FACTS, r"$\eta \le \|W_{\mathrm{kq}}^*\| / \mathrm e$", r"$t \ge 2$"),
    planted={
        "$x$ optimal and $x'$ non-optimal; then the inequality is correct.": Variant(
            instances=lambda: [FORWARD], expected=Verdict.NOT_CONTRADICTED
        ),
        r"The bound $\|W\| \le t\eta$ from Lemma 6 used if the difference is negative; then the "
        "inequality is correct.": Variant({"repaired": 1}, expected=Verdict.NOT_CONTRADICTED),
    },
)
def check_huang2024_app_thm_3_margins(one: TwoTokens, repaired: int = 0) -> Iterator[Said]:
    """(x - x')^T W x^q >= (x - x')^T W* x^q t eta / (2 L S) - sqrt(108 N L^2 S t eta) log t."""
    yield from facts(one_pair())
    problem = from_dataset(one_pair())
    N, L = problem.sample_count, problem.max_length
    yield assume(
        r"$\eta \le \|W_{\mathrm{kq}}^*\| / \mathrm e$", float(one.eta) <= problem.norm / math.e
    )
    yield assume(r"$t \ge 2$", one.steps >= 2)
    with ctx.workdps(40):
        length, S = exact(one.steps * one.eta), exact(problem.norm_squared)
        margin = one.star * length / S.sqrt()
        first = one.star * length / (2 * L * S)
        if repaired and one.star < 0:
            first = one.star * length / S.sqrt()
        rest = (108 * N * L**2 * S * length).sqrt() * arb(one.steps).log()
        claimed = first - rest
        where = (
            f"$t = {one.steps}$, $\\eta = {one.eta}$: the margin is "
            f"{written(float(upper(margin)), 4)}, "
            f"the claimed lower bound is {written(float(lower(claimed)), 4)}"
        )
        yield holds(lower(margin) >= upper(claimed), where)
        if one.star < 0 and not repaired:
            yield result("t", one.steps)
            yield result("margin", float(upper(margin)), digits=4)
            yield result("claimed", float(lower(claimed)), digits=4)


# The probability of the token that follows the non-comparable one


@dataclass(frozen=True)
class Sentence:
    """Attention in a sentence of one kind of non-comparable token and of rivals.

    Attributes:
        name: sizes.
        free: masses of the non-comparable tokens, one of them in the theorem.
        rivals: masses of the other tokens.
        vocab_size: |V|.
        eps_0: what may be missing of the probability.
    """

    name: str
    free: tuple[float, ...]
    rivals: tuple[float, ...]
    vocab_size: int
    eps_0: float

    def missing(self, A: float) -> float:
        """1 - T of n(x_0), the first of the non-comparable tokens."""
        masses = np.array([*self.free, *self.rivals])
        logits = np.append(A * masses, np.zeros(self.vocab_size - len(masses)))
        return float(transformer.softmax(logits)[1:].sum())


def drawn(seed: int, trials: int, kinds: int) -> list[Sentence]:
    """Random masses, the rivals having less than 1/2 together; eps_0 from 1e-12 to 1/2."""
    rng = np.random.default_rng(seed)
    made = []
    for trial in range(trials):
        number = int(rng.integers(1, 7))
        size = kinds + number + int(rng.integers(0, 6))
        eps = float(rng.uniform(0.02, 0.45))
        rivals = eps * rng.dirichlet(np.full(number, 0.5))
        free = np.full(kinds, (1 - eps) / kinds)
        eps_0 = float(10 ** rng.uniform(-12, np.log10(0.5)))
        name = (
            rf"trial {trial}: $|\mathcal V| = {size}$, {number} other tokens with "
            rf"{in_words(f'{eps:.2g}')}, $\epsilon_0 = {in_tex(f'{eps_0:.1g}')}$"
        )
        made.append(Sentence(name, tuple(free), tuple(rivals), size, eps_0))
    return made


def sentences(seed: int = 7, trials: int = 200) -> list[Sentence]:
    """One kind of non-comparable token, as the theorem has it.

    First a sentence of forty tokens with hardly any attention on rivals: there all other tokens lag
    behind alike, and miss eps_0 together by a fortieth.
    """
    near = Sentence(
        r"$|\mathcal V| = 40$, one other token with $10^{-6}$, $\epsilon_0 = 10^{-6}$",
        (1 - 1e-6,),
        (1e-6,),
        40,
        1e-6,
    )
    return [near, *drawn(seed, trials, 1)]


def two_kinds(seed: int = 7, trials: int = 200) -> list[Sentence]:
    """Two kinds of non-comparable tokens, which share the attention."""
    return drawn(seed, trials, 2)


def lead_and_rest(twice: int = 2) -> Iterator[Shown]:
    """m_0 - m_j >= 1 - 2 eps for m_0 >= 1 - eps, and 1 / (1 + |V| e^(-A (1 - 2 eps))) >= 1 - eps_0.

    A (1 - 2 eps) = log(|V| / eps_0) makes the second summand eps_0.

    Args:
        twice: the 2 of 1 - 2 eps.
    """
    import sympy as sp

    more, left, size = sp.symbols("more left size", nonnegative=True)
    eps, eps_0 = sp.symbols("eps eps_0", positive=True)
    m_0 = 1 - eps + more
    m_j = eps - more - left  # the mass of one rival
    yield at_least_zero(r"$m_0 - m_j - (1 - 2\epsilon)$", sp.expand(m_0 - m_j - (1 - twice * eps)))
    V = size + 1
    yield identity(r"$|\mathcal V| e^{-A (1 - 2\epsilon)}$", V * sp.exp(-sp.log(V / eps_0)), eps_0)
    yield at_least_zero(
        r"$1/(1 + \epsilon_0) - (1 - \epsilon_0)$", sp.factor(1 / (1 + eps_0) - 1 + eps_0)
    )


@check(
    "huang2024-app-thm-3-probability",
    over="sentences with prescribed attention",
    instances=sentences,
    says=r"If the non-comparable token $x_0$ has at least the attention $1 - \epsilon$, with "
    r"$\epsilon < \frac12$, and if the gap $A$ of the logits after stage 1 satisfies $A (1 - "
    r"2\epsilon) \ge \log(|\mathcal V|/\epsilon_0)$, then the probability of $\mathrm n(x_0)$ "
    r"exceeds $1 - \epsilon_0$. The check confirms this for {tried} sentences with prescribed "
    "attention.",
    proof=(
        executed(
            r"the lead of the logit of $\mathrm n(x_0)$, and the total probability of the other "
            "next tokens",
            lead_and_rest,
            planted={r"A lead of $1 - \epsilon$.": {"twice": 1}},
        ),
        by_hand(r"there are fewer than $|\mathcal V|$ other next tokens", at="count"),
        uses(
            "huang2024-cor-1-corrected",
            r"$A = T\eta_0/\|W_{\mathrm{ov}}^*\|$, which grows "
            "with $T$",
        ),
    ),
    planted={
        "The bound on the missing probability 1.1 times sharper.": {"sharper": 1.1},
        "Two kinds of non-comparable tokens, which share the attention.": Variant(
            instances=two_kinds
        ),
        r"$A$ equal to nine tenths of $\log(1/\epsilon_0)$: no $|\mathcal V|$ in the logarithm, no "
        r"division by $1 - 2\epsilon$.": {"share": 0.9},
    },
    readings={
        r"$T = O(\log(1/\epsilon_0))$, as printed in our copy, tried with the factor "
        r"$\frac1{10}$": {"share": 0.1},
    },
)
def check_huang2024_app_thm_3_probability(
    one: Sentence, share: float = 0.0, sharper: float = 1.0
) -> Iterator[Said]:
    """The probability of n(x_0) is above 1 - eps_0.

    Args:
        one: the sentence.
        share: A / log(1 / eps_0); 0 for A = log(|V| / eps_0) / (1 - 2 eps).
        sharper: what divides eps_0.
    """
    eps = sum(one.rivals)
    needed = np.log(one.vocab_size / one.eps_0) / (1 - 2 * eps)
    A = share * np.log(1 / one.eps_0) if share else needed
    yield below(sharper * one.missing(float(A)), one.eps_0)
