"""Two sentences, one of them as rare as one likes: what bounds without frequencies overlook.

The vocabulary is {0, 1}, n swaps the two, and the data are the sentences 0 1 0 and 1 0 1 with their
beginnings. They are realizable and prefix-closed and satisfy Assumption 3; N = 4, L_max = 2 and
||W_kq_star|| = 1 whatever the frequencies. By symmetry W_kq has the entries +-d_1/2 and +-d_2/2,
d_1 being the margin of the common and d_2 that of the rare query, e^R times rarer.

A rare sentence stays hidden: a sample pulls its margin d with the force f = pi A m (1 - m) (1 - T_o
+ T_j), m = 1 / (1 + e^-d), and a step moves (d_1, d_2) by sqrt(2) eta along (f_1, f_2). With

    share = (e^A + 1) / 2 e^(sqrt(2) eta t - R)

f_2 <= share f_1 and d_2 <= share d_1 in the first t steps, and d_2 <= share. The steps below show
it; `ours-hidden-sentence` is the claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from ntpbook.shared.enclosure import exact
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.huang2024 import stage1
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.claims import Shown
from ntpverdicts.maths import in_tex
from ntpverdicts.numbers import power_of_e, whole
from ntpverdicts.once import once

STEPS_1 = 900  # of stage 1, as in the paper's experiment
SAMPLES = ((("0",), "1"), (("0", "1"), "0"), (("1",), "0"), (("1", "0"), "1"))
# The largest step size that the proof of Theorem 1 allows is ||W_kq_star|| / e = 0.3679.
ETA = 0.36


def two_tokens() -> Dataset:
    """The data: 0 -> 1 and 0 1 -> 0, then 1 -> 0 and 1 0 -> 1."""
    return from_samples(SAMPLES, "two tokens")


def rare_problem(log_ratio: float) -> Problem:
    """The training problem, 1 and 1 0 being e^log_ratio times rarer than 0 and 0 1."""
    data = two_tokens()
    weights = [-log_ratio if sample.sentence[0] == "1" else 0.0 for sample in data.samples()]
    return from_dataset(data, log_weights=weights)


def rare_gap() -> float:
    """A after stage 1 at the paper's step size."""
    return stage1.gap(2, STEPS_1, paper_rates(2)[0])


def rare_run(log_ratio: float, steps: int, eta: float, record: Sequence[int] | None = None) -> Run:
    """Algorithm 1 on these data, step by step."""
    return train(
        f"two tokens, one sentence ${power_of_e(log_ratio)}$ times rarer than the other",
        rare_problem(log_ratio),
        eta0=paper_rates(2)[0],
        eta=eta,
        steps1=STEPS_1,
        steps=steps,
        record=record,
    )


def margins(run: Run) -> tuple[float, float]:
    """d_1 and d_2 at the end of a run on these data; query 1 is that of the common sentence."""
    of_0, _, of_1, _ = run.second.state.weights
    return 2 * abs(float(of_1)), 2 * abs(float(of_0))


def log_ratio_that_hides(
    steps: int, eta: float, gap: float | None = None, share: float = 1.0
) -> float:
    """R = sqrt(2) eta t + log((e^A + 1) / share): the lemma above then has half of it at t."""
    gap = rare_gap() if gap is None else gap
    return math.sqrt(2) * eta * steps + gap + math.log1p(math.exp(-gap)) - math.log(share)


@dataclass(frozen=True)
class Hidden:
    """These data, so rare that the lemma keeps the second query out of the way up to a step.

    Attributes:
        steps: t, at least 1.
        eta: step size.
        share: d_2 and f_2 are at most this share of d_1 and f_1 up to there.
    """

    steps: int
    eta: float
    share: Fraction

    @property
    def log_ratio(self) -> float:
        """R, rounded up to an integer."""
        return float(math.ceil(log_ratio_that_hides(self.steps, self.eta, share=float(self.share))))

    @property
    def name(self) -> str:
        """The data in words."""
        return (
            f"two tokens, one sentence ${power_of_e(self.log_ratio)}$ times rarer than the other, "
            f"$\\eta = {in_tex(f'{self.eta:g}')}$, step {whole(self.steps)}"
        )

    def run(self, record: Sequence[int] | None = None) -> Run:
        """Algorithm 1 on them, up to the step."""
        return rare_run(self.log_ratio, self.steps, self.eta, record)

    def norm(self) -> Any:
        """A ball whose lower end ||W_kq|| exceeds: t eta / sqrt(1 + share^2).

        The steps have the length sqrt(2) eta in (d_1, d_2), of which d_1 has the greater part.
        """
        return arb(self.eta) * self.steps / (1 + exact(self.share) ** 2).sqrt()

    def one_minus_cos(self) -> Any:
        """A ball whose lower end 1 - cos exceeds: the cosine grows with d_2 / d_1 <= 1."""
        x = exact(self.share)
        return 1 - (1 + x) / (2 + 2 * x**2).sqrt()

    def needed_alpha(self) -> Any:
        """A ball whose lower end the alpha of Lemma 7 must exceed.

        1 + alpha = sqrt(2) (f_1 d_1 + f_2 d_2) / (sqrt(d_1^2 + d_2^2) (f_1 + f_2)).
        """
        x = exact(self.share)
        return arb(2).sqrt() / ((1 + x) * (1 + x**2).sqrt()) - 1


# Steps of the lemma


@once
def force(factor: int = 1) -> tuple[Shown, ...]:
    """The loss of a sample falls with its margin at the rate A m (1 - m) (1 - T_o + T_j).

    The sentence holds the optimal token and its rival once each, with scores d/2 and -d/2; the
    columns of W_ov are A times the one-hot next token. `factor` multiplies the force and is 1 but
    for a planted error.
    """
    import sympy as sp

    A, y, m = sp.symbols("A y m", positive=True)  # y = e^(d/2), so that d/dd = (y/2) d/dy
    # from the definition again: it judges the force in the docstring
    weight = y / (y + 1 / y)  # (9)
    logits = A * m, A * (1 - m)  # of n(o) and n(j)
    loss = sp.log(sum(map(sp.exp, logits))) - logits[0]  # (1)
    T_o, T_j = (sp.exp(one) / sum(map(sp.exp, logits)) for one in logits)
    return (
        identity("$dm/dd$", y / 2 * sp.diff(weight, y), weight * (1 - weight)),
        identity(r"minus $d\,\text{loss}/dm$", -sp.diff(loss, m), factor * A * (1 - T_o + T_j)),
    )


@once
def geometry(squared: int = 2) -> tuple[Shown, ...]:
    """A step has the length sqrt(2) eta in (d_1, d_2); the cosine of W_kq and W_kq_star.

    `squared` stands for the square of the sqrt(2) and is another number only for a planted error.
    """
    import sympy as sp

    f_1, f_2, d_1, d_2, eta = sp.symbols("f_1 f_2 d_1 d_2 eta", positive=True)
    gradient = sp.Matrix([-f_1, f_1, -f_2, f_2])  # by the chain rule, d = w_o - w_j
    moved = -eta * gradient / sp.sqrt(gradient.dot(gradient))
    steps = (moved[0] - moved[1]) ** 2 + (moved[2] - moved[3]) ** 2
    W, star = sp.Matrix([d_1, -d_1, d_2, -d_2]) / 2, sp.Matrix([1, -1, 1, -1]) / 2
    cosine = W.dot(star) / sp.sqrt(W.dot(W) * star.dot(star))
    x = d_2 / d_1
    return (
        identity("the squared length of a step in $(d_1, d_2)$", steps, squared * eta**2),
        identity("its direction", (moved[0] - moved[1]) * f_2, (moved[2] - moved[3]) * f_1),
        identity("the squared cosine, $x = d_2/d_1$", cosine**2, (1 + x) ** 2 / (2 + 2 * x**2)),
    )


@once
def force_bounds(quarter: int = 4) -> tuple[Shown, ...]:
    """e^-d / 4 <= m (1 - m) <= 1/4 and 2 / (e^A + 1) <= 1 - T_o + T_j <= 1 for d >= 0.

    With e^-d = 1 / (1 + z) and e^(A (2 m - 1)) = 1 + w, where 1 + w <= e^A = (1 + w) (1 + x). The
    quotient of the two forces is so at most e^(d_1 - R) (e^A + 1) / 2. `quarter` stands for the
    first 4 and is another number only for a planted error.
    """
    import sympy as sp

    z, w, x = sp.symbols("z w x", nonnegative=True)
    m = 1 / (1 + 1 / (1 + z))
    T_o = (1 + w) / (2 + w)  # e^(A m) / (e^(A m) + e^(A (1 - m)))
    both = 1 - T_o + (1 - T_o)
    e_A = (1 + w) * (1 + x)

    def positive(expression: Any) -> Any:
        return sp.factor(sp.together(expression))

    return (
        at_least_zero(r"$\frac14 - m (1 - m)$", positive(sp.Rational(1, 4) - m * (1 - m))),
        at_least_zero(
            rf"$m (1 - m) - e^{{-d}}/{quarter}$", positive(m * (1 - m) - 1 / (1 + z) / quarter)
        ),
        at_least_zero("$1 - (1 - T_o + T_j)$", positive(1 - both)),
        at_least_zero("$1 - T_o + T_j - 2/(e^A + 1)$", positive(both - 2 / (e_A + 1))),
    )
