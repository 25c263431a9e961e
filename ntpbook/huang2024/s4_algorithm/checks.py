"""Checks of the page on Algorithm 1: what it is, where it is defined, and that it loses nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import digits
from ntpbook.shared.digits import Numbers
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, InputError, from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, at_most, count, equal, holds, most, result
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, uses

Floats = NDArray[np.float64]

FASTER = 4  # times the paper's step sizes, so that few slow steps lead far

# Algorithm 1


@dataclass(frozen=True, eq=False)
class Case:
    """Data, and an embedding (d, |V|) with orthonormal columns."""

    name: str
    data: Dataset
    E: Numbers
    steps: int


@dataclass(frozen=True)
class Undefined:
    """Data, T and T_1 for which Algorithm 1 divides by a norm that is zero."""

    name: str
    data: Dataset
    T: int
    T_1: int


def both_kinds(seed: int = 7, steps: int = 25) -> Iterator[Case | Undefined]:
    """The smallest inputs without a direction; Example 1 and random data, rotated tokens or not."""
    yield from smallest_undefined()
    rng = np.random.default_rng(seed)
    for data in (
        example_1(),
        generate.random_dataset(rng, 5, 4, 3, prefix_closed=True),
        generate.random_dataset(rng, 4, 5, 3, prefix_closed=False),
    ):
        size = len(data.vocabulary)
        yield Case(f"{data.name}, one-hot tokens", data, digits.exact(np.eye(size)), steps)
        yield Case(f"{data.name}, rotated tokens", data, digits.rotation(rng, size), steps)


def smallest_undefined() -> list[Undefined]:
    """The smallest inputs on which a step of Algorithm 1 has no direction."""
    swap = from_samples([(["a"], "b"), (["b"], "a")])
    return [
        Undefined("one token, line 4", from_samples([(["a"], "a")]), 1, 0),
        Undefined("no sentence with two tokens, line 7", swap, 1, 1),
        Undefined("$T = 0$, line 7", example_1(), 0, 1),
    ]


def example_1_with_a_step() -> list[Undefined]:
    """An input on which the algorithm is defined."""
    return [Undefined("$T = 1$, line 7", example_1(), 1, 1)]


def negative_along_optimal(of_rivals: int = 1) -> Iterator[Shown]:
    """Lemma 4 along W' = e_o e_q^T, whose mean is m_o, with the sum over the rivals as a symbol.

    m_o = 1 / (1 + u) and T_o = 1 / (1 + v) lie between 0 and 1.

    Args:
        of_rivals: the sign of the sum over the rivals, 1 in truth.
    """
    import sympy as sp

    A, u, v, rivals = sp.symbols("A u v sum_of_T_j_m_j", positive=True)
    m_o, T_o = 1 / (1 + u), 1 / (1 + v)
    along = A * (T_o - 1) * m_o * (1 - m_o) + of_rivals * A * rivals * (0 - m_o)
    stated = -A * m_o * ((1 - T_o) * (1 - m_o) + rivals)
    yield identity("the derivative with respect to $W[o, q]$", along, stated)
    minus = sp.factor(sp.together(-along))
    yield at_least_zero("minus the derivative with respect to $W[o, q]$", minus, strictly=True)


@check(
    "huang2024-alg-1",
    over="inputs",
    instances=both_kinds,
    tolerance=1e-12,  # rounding of some hundred float steps; the literal run has sixty digits
    shows=r"let Assumptions 1 and 2 hold, let each next token be $\mathrm n$ of a token of its "
    r"sentence, and let there be two or more tokens and $T_1 \ge 1$. Then Algorithm 1 is defined "
    "(no step divides by zero) if and only if some sentence has two different tokens and "
    r"$T \ge 1$",
    says="On {runs} runs of both stages, the algorithm transcribed line by line and the library "
    "(the fast code of this book) "
    r"give the same $W_{\mathrm{ov}}$ and $W_{\mathrm{kq}}$ up to rounding. On {refused} "
    "inputs with a gradient of zero, the algorithm divides zero by zero, and the library raises "
    "an error.",
    fails="The algorithm, transcribed line by line, and the library differ.",
    proof=(
        uses("huang2024-eq-5", "the gradient of stage 1"),
        by_hand(
            "line 4: no probability is 0, so the gradient of stage 1 never vanishes", at="line-4"
        ),
        uses(
            "ours-stage-1-law",
            "from step 1 of stage 1 on, the logit that a token gives to its follower exceeds its "
            "other logits by a margin $A > 0$, the same for all tokens",
        ),
        uses("huang2024-lem-4", "line 7: the derivative of the loss of one sample"),
        executed(
            "line 7: the derivative with respect to the entry of the optimal token is negative, "
            "where $m_o = 1/(1 + u)$ and $T_o = 1/(1 + v)$",
            negative_along_optimal,
            planted={
                "The sum over the non-optimal tokens with the opposite sign.": {"of_rivals": -1}
            },
        ),
        by_hand(
            "by Assumption 1, no other sample with the same query contributes a positive term to "
            "this derivative",
            at="samples",
        ),
    ),
    planted={
        "In the library, stage 1 ends one step too early.": {"missed": 1},
        "Example 1 with $T = 1$ among the inputs with a gradient of zero.": Variant(
            instances=example_1_with_a_step
        ),
    },
)
def check_huang2024_alg_1(one: Case | Undefined, missed: int = 0) -> Iterator[Said]:
    """W_ov^(T) and W_kq^(T_1) of the printed lines are the library's; 0/0 where no direction is."""
    if isinstance(one, Undefined):
        yield holds(not is_defined(one), "the literal algorithm runs")
        yield holds(is_refused(one), "the library runs")
        yield count("refused")
        return
    for name, distance in distances(one, missed).items():
        yield at_most(distance, 0, name, scale=1.0)
    yield count("runs")


def distances(case: Case, missed: int) -> dict[str, float]:
    """Relative distances of the library from a literal run: W_ov twice, W_kq.

    W_ov comes from the iteration and from the exact law. A literal W_ov, W_kq become W_ov E and
    E^T W_kq E in the coordinates of the tokens.
    """
    problem, steps = from_dataset(case.data), case.steps
    eta0, eta = (FASTER * rate for rate in paper_rates(problem.vocab_size))
    taken = steps - missed
    W_ov = digits.train_ov(problem.following.tolist(), case.E, eta0, steps)
    W_kq = digits.train_kq(case.data, W_ov, case.E, eta, steps)
    with mp.workdps(digits.DIGITS):
        W_ov, W_kq = W_ov @ case.E, case.E.T @ W_kq @ case.E
    _, iterated = stage1.iterate(problem.following, taken, eta0, record=())
    law = stage1.weights(problem.following, taken, eta0)
    gap = stage1.gap(problem.vocab_size, taken, eta0)
    trained = np.zeros((problem.vocab_size, problem.vocab_size))
    run = training.run(problem, steps, eta, gap, record=())
    trained[problem.entry_token, problem.entry_query] = run.state.weights
    return {
        r"$W_{\mathrm{ov}}$, step by step": digits.relative_distance(digits.exact(iterated), W_ov),
        r"$W_{\mathrm{ov}}$, in closed form": digits.relative_distance(digits.exact(law), W_ov),
        r"$W_{\mathrm{kq}}$": digits.relative_distance(digits.exact(trained), W_kq),
    }


def is_defined(one: Undefined) -> bool:
    """Whether Algorithm 1, run literally, never divides by zero."""
    data = one.data
    following = {s.sentence[0]: s.next_token for s in data.samples() if len(s.sentence) == 1}
    numbers = [data.vocabulary.index(following[token]) for token in data.vocabulary]
    E = digits.exact(np.eye(len(numbers)))
    try:
        W_ov = digits.train_ov(numbers, E, 0.1, one.T)
        digits.train_kq(data, W_ov, E, 0.1, one.T_1)
    except ZeroDivisionError:
        return False
    return True


def is_refused(one: Undefined) -> bool:
    """Whether the library refuses to train on these data."""
    try:
        training.run(from_dataset(one.data), one.T_1, 0.1, one.T * 0.1)
    except InputError:
        return True
    return False


# The loss of stage 1


@dataclass(frozen=True, eq=False)
class Singles:
    """Sentences of one token each, W_ov (|V|, d), W_kq (d, d) and tokens E, (d, |V|)."""

    name: str
    data: Dataset
    W_ov: Floats
    W_kq: Floats
    E: Floats


def singles(
    seed: int = 7, trials: int = 40, *, count_of_first: int = 1, front: bool = False
) -> list[Singles]:
    """Random collocations and matrices, with orthonormal tokens.

    Args:
        seed: of the random numbers.
        trials: how many.
        count_of_first: how often the sentence of the first token occurs.
        front: whether each sentence gets another token in front of its own.
    """
    rng = np.random.default_rng(seed)
    made = []
    for trial in range(trials):
        size = int(rng.integers(2, 7))
        n = rng.permutation(size)
        rows = [
            (
                [f"t{(x + 1) % size}"] * front + [f"t{x}"],
                f"t{n[x]}",
                count_of_first if x == 0 else 1,
            )
            for x in range(size)
        ]
        W_ov, W_kq = 2 * rng.normal(size=(2, size, size))
        E, _ = np.linalg.qr(rng.normal(size=(size, size)))
        data = from_samples(rows, rf"trial {trial}, $|\mathcal V| = {size}$")
        made.append(Singles(data.name, data, W_ov, W_kq, E))
    return made


@check(
    "huang2024-app-stage-1-loss",
    over="random collocations",
    instances=singles,
    tolerance=1e-12,  # sums of some dozen terms of order one
    says=r"For {tried} random collocations with random $W_{\mathrm{ov}}$, $W_{\mathrm{kq}}$, and "
    r"orthonormal token embeddings, $|\mathcal V|$ times the mean cross-entropy of the sentences "
    r"of one token equals $\mathcal L_0$.",
    proof=(
        uses("huang2024-eq-1", "the loss as a sum over distinct sentences"),
        uses(
            "huang2024-app-one-token",
            "a sentence of one token has the logits "
            r"$W_{\mathrm{ov}} x$",
        ),
        by_hand(
            r"each of the $|\mathcal V|$ sentences has the frequency $1/|\mathcal V|$", at="sum"
        ),
    ),
    planted={
        "The mean over the tokens in place of the sum.": {"mean": True},
        "Another token in front of each sentence.": Variant(instances=lambda: singles(front=True)),
    },
    readings={
        "each sentence of one token counted as often as it occurs in the data, where one occurs "
        "twice": Variant(instances=lambda: singles(count_of_first=2)),
    },
)
def check_huang2024_app_stage_1_loss(one: Singles, mean: bool = False) -> Iterator[Said]:
    """L_0(W_ov) = |V| L(theta) on the sentences of one token, each once.

    Args:
        one: the sentences with next tokens, and matrices.
        mean: whether L_0 is divided by |V|.
    """
    size, names = len(one.data.vocabulary), one.data.vocabulary
    stated = 0.0
    for sample in one.data.samples():
        z = one.W_ov @ one.E[:, names.index(sample.sentence[-1])]
        # the loss of stage 1 again, as stated: it judges `transformer`
        stated += float(np.log(np.exp(z).sum()) - z[names.index(sample.next_token)])
    whole = transformer.cross_entropy(one.data, one.W_ov, one.W_kq, one.E)
    yield equal(size * whole, stated / size if mean else stated)


# Two stages lose nothing


def growing_first_stage(steps: int = 3000) -> list[Run]:
    """Example 1 with longer and longer first stages, at four times the paper's eta."""
    return runs_of_example(steps, (100, 300, 900, 2700))


def runs_of_example(steps: int, stages: tuple[int, ...]) -> list[Run]:
    """Algorithm 1 on Example 1 with these first stages."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(problem.vocab_size)
    return [
        train(f"Example 1, $T = {T}$", problem, eta0=eta0, eta=4 * eta, steps1=T, steps=steps)
        for T in stages
    ]


def least_loss(wrong: int = 0) -> Iterator[Shown]:
    """The loss at the attention 1 on the optimal token, and its limit as A grows.

    Args:
        wrong: the logit of the other tokens in units of A, 0 in truth.
    """
    import sympy as sp

    A, others = sp.symbols("A others", positive=True)  # others = |V| - 1
    at_one = sp.log(sp.exp(A) + others * sp.exp(wrong * A)) - A  # the logit of n(o) is A
    floor = sp.log(1 + others * sp.exp(-A))
    yield identity("the loss with all attention on $o$", sp.exp(at_one), sp.exp(floor))
    yield identity("its limit as $A$ grows", sp.limit(at_one, A, sp.oo), sp.Integer(0))


@check(
    "huang2024-app-decoupling",
    over="runs of both stages",
    instances=growing_first_stage,
    tolerance=1e-13,  # one softmax of one score
    says=r"In a sentence of one token the attention weight is 1, whatever $W_{\mathrm{kq}}$ is. "
    r"With the $W_{\mathrm{ov}}$ of stage 1, no attention brings the loss below $\log(1 + "
    r"(|\mathcal V| - 1) e^{-A})$, which tends to 0 as $T$ grows. On {tried} runs on Example 1, "
    "stage 2 reduces the excess of the loss over this value to at most {most} times its initial "
    "size.",
    proof=(
        uses(
            "huang2024-app-one-token",
            "the loss of sentences of one token does not depend on "
            r"$W_{\mathrm{kq}}$",
        ),
        uses("ours-stage-1-law", "the margins $A$ after stage 1 grow in proportion to $T$"),
        by_hand("attention 1 on the optimal token minimizes the loss", at="floor"),
        executed(
            "the least loss at attention 1 on the optimal token, and its limit as $A$ grows",
            least_loss,
            planted={"The other next tokens have the logit $A$, too.": {"wrong": 1}},
        ),
        uses("ours-direction", "in stage 2 all margins grow without bound"),
        by_hand(
            "as all margins grow, the attention on optimal tokens tends to 1, and the loss tends "
            "to its minimum",
            at="limit",
        ),
    ),
    planted={
        "Only one step of stage 2.": Variant(instances=lambda: runs_of_example(1, (900,))),
        "Stage 1 trained on sentences of two tokens.": {"pairs": True},
    },
)
def check_huang2024_app_decoupling(run: Run, pairs: bool = False) -> Iterator[Said]:
    """L_0 does not see W_kq; stage 2 comes to the least loss at W_ov, within a hundredth."""
    moved = seen_by_stage_1(run.problem, run.second.gap, pairs)
    yield at_most(moved, 0, r"change of the loss of stage 1 with $W_{\mathrm{kq}}$", scale=1.0)
    rows = run.second.rows
    left = math.exp(float(rows.log_excess[-1] - rows.log_excess[0]))
    yield holds(left <= 0.01, f"a fraction {left:.2g} of the excess loss remains")
    yield most("most", left, 1)
    yield result("last", float(rows.loss[-1]), 1)
    yield count("runs")


def seen_by_stage_1(problem: Problem, gap: float, pairs: bool = False) -> float:
    """How much the loss of the sentences of one token moves with a random W_kq.

    Args:
        problem: the data.
        gap: A.
        pairs: whether each sentence gets another token in front of it.
    """
    names = problem.vocabulary
    nexts = [names[v] for v in problem.following]
    rows = [
        ((other, name) if pairs else (name,), following)
        for name, other, following in zip(names, (*names[1:], names[0]), nexts, strict=True)
    ]
    data = from_samples(rows, "the data of stage 1")
    number = {name: place for place, name in enumerate(data.vocabulary)}
    place = [names.index(name) for name in number]
    size, rng = len(names), np.random.default_rng(len(names))
    W_ov = gap * stage1.W_ov_star(problem.following)[np.ix_(place, place)]
    losses = [
        transformer.loss(data, W_ov, scale * rng.normal(size=(size, size)), np.eye(size))
        for scale in (0.0, 1.0, 100.0)
    ]
    return max(losses) - min(losses)
