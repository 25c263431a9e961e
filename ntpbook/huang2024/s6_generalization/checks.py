"""Checks of the page on unseen sentences: Theorem 3, Example 2, and what is said beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from ntpbook.huang2024.s6_generalization import separation
from ntpbook.shared.symbols import at_most, identity
from ntpcore.data import generate, order
from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.examples import example_1
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import bounds, direction, prediction, training
from ntpcore.huang2024.direction import K
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, collection, train
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, below, count, holds, least, left_out, most
from ntpverdicts.maths import verbatim
from ntpverdicts.numbers import written
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, relation, uses

Floats = NDArray[np.float64]

TIE = 1e-9  # two probabilities that symmetry makes equal agree up to rounding

# Runs


@once
def trained(seed: int, sets: int, steps: int, frequent: bool) -> tuple[Run, ...]:
    """Example 1 and random data, twenty times the paper's step size."""
    return tuple(collection(seed, sets, steps, frequent=frequent, factors=(20,)))


def all_runs(seed: int = 7, sets: int = 10, steps: int = 8000) -> tuple[Run, ...]:
    """Runs on data with Assumption 3, and on data that need not satisfy it."""
    return trained(seed, sets, steps, True) + trained(seed, sets, steps, False)


def frequent_runs(seed: int = 7, sets: int = 10, steps: int = 8000) -> tuple[Run, ...]:
    """Runs on data with Assumption 3."""
    return trained(seed, sets, steps, True)


@once
def example_run(eta0: float, eta: float, steps1: int, steps: int) -> Run:
    """Algorithm 1 on Example 1."""
    return train(
        "Example 1", from_dataset(example_1()), eta0=eta0, eta=eta, steps1=steps1, steps=steps
    )


def turned(run: Run) -> Run:
    """The run with the sign of its W_kq turned at every step."""
    rows, state = run.second.rows, run.second.state
    upside_down = replace(
        rows,
        least_optimal=-rows.least_optimal,
        greatest_nonoptimal=-rows.greatest_nonoptimal,
    )
    other = replace(state, weights=-state.weights)
    return replace(run, second=replace(run.second, rows=upside_down, state=other))


# How far apart tokens are


def separation_of(run: Run) -> tuple[Floats, Floats]:
    """Steps, and by how much the least compared token is apart from the non-comparable ones.

    Non-comparable tokens keep the entry 0, so this is the least of W[x, q] over optimal and of
    -W[x, q] over non-optimal tokens.
    """
    rows = run.second.rows
    return rows.step.astype(float), np.minimum(rows.least_optimal, -rows.greatest_nonoptimal)


def settled_from(run: Run) -> float:
    """The t from which the separation is held against C_0 t: (||W*|| / mu) (4 + K / (2 eta)).

    It follows from the data and the step size alone: mu is the least |W_kq_star[x, q]| of a
    compared token, and K = log(2 L^2 (L - 1)^3 / pi_min). Its form is that of the time in Theorem
    B; its two numbers were chosen on other random data than those of the check.
    """
    c, problem = run.constants, run.problem
    mu = min(abs(x) for one in problem.solutions.values() for x in one.scores.values())
    waiting = K(problem.max_length, problem.log_pi_min) / (2 * c.eta)
    return c.norm_kq / float(mu) * (4 + waiting)


def constant(run: Run) -> float:
    """C_0, a tenth of the limit of the separation over t."""
    return bounds.thm_3_slope(run.constants, run.problem.solutions.values()) / 10


@dataclass(frozen=True)
class Unseen:
    """An unseen sentence of one kind of non-comparable token and non-optimal tokens.

    Attributes:
        tokens: the sentence.
        expected: n of its non-comparable token.
    """

    tokens: tuple[str, ...]
    expected: str


def unseen_sentences(problem: Problem, kinds: int = 1) -> list[Unseen]:
    """For each query that is non-optimal, non-comparable tokens before all its non-optimal ones.

    Args:
        problem: the data.
        kinds: how many different non-comparable tokens; one as the theorem's proof has it. With
            several, `expected` is n of the first of them.
    """
    found = []
    following = {
        token: problem.vocabulary[int(problem.following[place])]
        for place, token in enumerate(problem.vocabulary)
    }
    for query, one in problem.orders.items():
        if query not in one.nonoptimal:
            continue
        others = [token for token in one.nonoptimal if token != query]
        free = [token for token in problem.vocabulary if token not in one.compared]
        for place in range(len(free) - kinds + 1):
            sentence = (*free[place : place + kinds], *others, query)
            found.append(Unseen(sentence, following[free[place]]))
    return found


def decided(run: Run, one: Unseen) -> bool:
    """Whether T and t are large for this sentence: C_0 t >= log c + 3, and A is large, too.

    Its c non-optimal positions together then weigh at most e^-3 against 1, and the right token
    leads by A (1 - 2 e^-3) or more, which makes up for all other tokens together.
    """
    weighs = constant(run) * run.second.state.step >= math.log(len(one.tokens) - 1) + 3
    lead = run.second.gap * (1 - 2 * math.exp(-3))
    return weighs and lead > math.log(max(run.problem.vocab_size - 1, 1))


def predictions(run: Run, kinds: int) -> Iterator[Said]:
    """Every unseen sentence is followed by n of its non-comparable token."""
    yield count("sentences", 0)
    for one in unseen_sentences(run.problem, kinds):
        if not decided(run, one):
            yield left_out("$T$ or $t$ is too small for a sentence")
            continue
        yield from continued(run, one, 0.5)
        yield count("sentences")


# Theorem 3


def enough(run: Run, one: Unseen, eps_0: float) -> bool:
    """Whether T and t are as large as the proof asks: C_0 t >= log c + 3 with its C_0, and A.

    The c non-optimal positions together then weigh at most e^-3 against 1, which is less than eps =
    e^-3, and A (1 - 2 eps) >= log(|V| / eps_0) leaves at most eps_0 of probability to others.
    """
    problem = run.problem
    slope = direction.least_separation(
        problem.norm**2, run.constants.eta, separation.least_score(problem), 1.0
    )
    step = run.second.state.step
    late = step >= separation.separated(problem, run.constants.eta)
    weighs = slope * step >= math.log(len(one.tokens) - 1) + 3
    lead = run.second.gap * (1 - 2 * math.exp(-3))
    return bool(late and weighs and lead >= math.log(problem.vocab_size / eps_0))


def weight_of_the_free_token(more: int = 0) -> tuple[Shown, ...]:
    """With x_0 at the score 0 and c rivals at -s or below, x_0 has 1 / (1 + c e^-s), or more.

    At s = log(c / eps) this is 1 / (1 + eps), at least 1 - eps.

    Args:
        more: rivals that are not counted; 0 in truth.
    """
    import sympy as sp

    eps, short = sp.symbols("eps short", nonnegative=True)
    kept, c = sp.symbols("kept c", nonnegative=True)  # e^-s, the number of rivals
    lost = (c + more) * kept / (1 + short)
    s = sp.log(c / eps)
    return (
        at_most("the attention weight of $x_0$", 1 / (1 + c * kept), 1 / (1 + lost)),
        identity(r"$c\,e^{-s}$ at $s = \log(c/\epsilon)$", c * sp.exp(-s), eps),
        at_most(r"$1 - \epsilon \le 1/(1 + \epsilon)$", 1 - eps, 1 / (1 + eps)),
    )


@check(
    "huang2024-thm-3",
    over="runs",
    instances=separation.runs,
    says="On {runs} runs of up to $2 t_3$ steps, with an explicit step $t_3$ and an explicit "
    "constant $C_0 > 0$, the scores of compared tokens differ from those of non-comparable tokens "
    "by at least $C_0 t$ at the steps $t$ from $t_3$ on. After {sentences} unseen "
    r"sentences of one non-comparable token $x_0$ and non-optimal tokens, $\mathrm n(x_0)$ has "
    r"probability at least $1 - \epsilon_0$ with $\epsilon_0 = \frac1{20}$.",
    fails="A difference of scores is too small, or a prediction is not the claimed one.",
    proof=(
        uses("ours-separation", "both inequalities, from $t_3$ on"),
        executed(
            "the attention weight of $x_0$ next to $c$ non-optimal tokens",
            weight_of_the_free_token,
            planted={"One non-optimal token not counted.": {"more": 1}},
        ),
        by_hand(
            r"the attention weight of $x_0$ is at least $1 - \epsilon$ for $t \ge t_3 + "
            r"\log(c/\epsilon)/C_0$",
            at="weight",
        ),
        uses(
            "huang2024-app-thm-3-probability",
            r"a lower bound on the probability of $\mathrm n(x_0)$, from the attention weight of "
            "$x_0$",
        ),
    ),
    planted={
        "Differences of scores that grow like a logarithm.": {"slowed": True},
        "Optimal tokens that always stay below the non-comparable ones.": {"upside_down": True},
        "Sentences with two kinds of non-comparable tokens.": {"kinds": 2},
    },
    readings={
        r"$t = O(\log(1/\epsilon))$, as printed in our copy": Variant(
            {"any_t": True}, lambda: [example_run(0.1, 0.025, 900, 10)]
        ),
    },
)
def check_huang2024_thm_3(
    run: Run | None,
    kinds: int = 1,
    slowed: bool = False,
    upside_down: bool = False,
    any_t: bool = False,
) -> Iterator[Said]:
    """W[x, q] >= C_0 t at optimal and -W[x, q] >= C_0 t at non-optimal x; then n(x_0) follows.

    C_0 and t_3 are those of `ours-separation`.
    """
    if run is None or not run.problem.frequent:
        yield left_out("$t_3$ is beyond the longest run" if run is None else "Assumption 3 fails")
        return
    run = turned(run) if upside_down else run
    if not any_t:
        t, apart = separation_of(run)
        apart = np.log1p(np.maximum(apart, 0.0)) if slowed else apart
        t_3 = separation.separated(run.problem, run.constants.eta)
        late = t >= t_3
        if not late.any():
            yield left_out(f"the run ends before $t_3$, which is {written(t_3)}")
            return
        mu, S = separation.least_score(run.problem), run.problem.norm**2
        claimed = direction.least_separation(S, run.constants.eta, mu, 1.0) * t[late]
        share = (apart[late] - claimed) / claimed
        yield arrays.slack(share, "step {at}", at=t[late].astype(int))
        yield count("runs")
    yield count("sentences", 0)
    for one in unseen_sentences(run.problem, kinds):
        if not any_t and not enough(run, one, EPS_0):
            yield left_out("$T$ or $t$ is too small for a sentence")
            continue
        yield from continued(run, one, 1 - EPS_0)
        yield count("sentences")


EPS_0 = 0.05  # what may be missing of the probability of n(x_0)


def continued(run: Run, one: Unseen, level: float) -> Iterator[Said]:
    """An unseen sentence is followed by n of its non-comparable token, with this probability."""
    answer = prediction.predict(run.problem, run.second, one.tokens)
    probability = answer.probabilities[one.expected]
    told = verbatim(f"{' '.join(one.tokens)}: {one.expected} has probability {probability:.3f}")
    yield holds(answer.likeliest == one.expected and probability > level + TIE, told)


# Theorem 3 on runs, earlier than is proved


@check(
    "ours-separation-runs",
    over="runs",
    instances=all_runs,
    observes=True,
    says="On all {tried} runs, on Example 1 and random data with and without Assumption 3, the "
    "scores of compared tokens differ from those of non-comparable tokens by at least $C_0 t$ at "
    r"every recorded step from a certain step on, which the data and $\eta$ determine. Here $C_0$ "
    r"is a tenth of the limit of $\frac1t\min|W[x, x^q]|$ over the compared tokens $x$. After "
    "{sentences} unseen sentences of one non-comparable token "
    r"$x_0$ and non-optimal tokens, the model predicts $\mathrm n(x_0)$.",
    fails="A difference of scores is too small, or a prediction is not the claimed one.",
    planted={
        "Differences of scores that grow like a logarithm.": {"slowed": True},
        "Optimal tokens that always stay below the non-comparable ones.": {"upside_down": True},
        "Sentences with two kinds of non-comparable tokens.": {"kinds": 2},
    },
)
def check_ours_separation_runs(
    run: Run,
    kinds: int = 1,
    slowed: bool = False,
    upside_down: bool = False,
) -> Iterator[Said]:
    """W[x, q] >= C_0 t at optimal and -W[x, q] >= C_0 t at non-optimal x; then n(x_0) follows."""
    run = turned(run) if upside_down else run
    t, apart = separation_of(run)
    apart = np.log1p(np.maximum(apart, 0.0)) if slowed else apart
    late = t >= settled_from(run)
    if not late.any():
        yield left_out(r"$t$ is too small for the data and $\eta$")
        return
    C_0 = constant(run)
    yield arrays.slack(
        (apart - C_0 * t)[late] / (C_0 * t)[late], "step {at}", at=t[late].astype(int)
    )
    share = float(apart[-1] / (10 * C_0 * t[-1]))
    yield least("least_share", share, 3)
    yield most("most_share", share, 3)
    yield count("runs")
    yield from predictions(run, kinds)


# Example 2

# The sentences of Example 2 and longer ones of its kind, with the likeliest next token after the
# stages of the paper's experiment; none where two tokens share the first place.
EXPECTED: Mapping[str, str] = {"SP": "V", "OSP": "P", "VP": "O", "SVP": ""}


@dataclass(frozen=True)
class Question:
    """A sentence of one-letter tokens put to a model trained on Example 1."""

    run: Run
    name: str
    expected: str


def questions(
    eta0: float = 0.1, eta: float = 0.025, steps1: int = 900, steps: int = 900
) -> list[Question]:
    """The sentences, after both stages with the paper's step sizes for four tokens."""
    run = example_run(eta0, eta, steps1, steps)
    return [Question(run, sentence, token) for sentence, token in EXPECTED.items()]


def likeliest(answer: prediction.Prediction) -> list[str]:
    """All tokens that share the largest probability."""
    top = max(answer.probabilities.values())
    return [token for token, p in answer.probabilities.items() if p >= top - TIE]


@check(
    "huang2024-ex-2",
    over="unseen sentences",
    instances=questions,
    says="For sufficiently large $T$ and $t$, SP is followed by V and OSP by P. After 900 steps "
    "of each stage, the probability of the expected next token of SP, OSP, and VP differs from 1 "
    "by at most {missing}. After SVP two tokens are equally probable.",
    fails="A prediction is not the expected one.",
    proof=(
        uses(
            "huang2024-thm-3",
            "SP consists of the non-comparable token S and the non-optimal token P, the query",
        ),
        uses(
            "ours-separation",
            "under the query P, O scores above 0 and P below 0, by a multiple of $t$",
        ),
        by_hand("OSP: S scores 0, so O has all of the attention in the limit", at="optimal"),
    ),
    planted={
        "The model before stage 2, with equal attention.": {"fresh": True},
        r"The opposite sign of $W_{\mathrm{kq}}$.": {"upside_down": True},
    },
)
def check_huang2024_ex_2(
    one: Question, fresh: bool = False, upside_down: bool = False
) -> Iterator[Said]:
    """n of the token with the largest limit score is the likeliest; two such tokens share it."""
    run = turned(one.run) if upside_down else one.run
    second = run.second
    if fresh:
        second = training.run(run.problem, 0, second.eta, second.gap)
    answer = prediction.predict(run.problem, second, tuple(one.name))
    first = likeliest(answer)
    told = f"followed by {' or '.join(first)}"
    if not one.expected:
        yield holds(len(first) == 2, told)
        return
    yield holds(first == [one.expected], told)
    lost = sum(p for token, p in answer.probabilities.items() if token != one.expected)
    yield most("missing", lost, 1)


# Said in Section 6


@once
def random_data(seed: int = 7, sets: int = 10) -> tuple[Dataset, ...]:
    """Random data of three to eight tokens, prefix-closed ones and others in turn; Example 1."""
    rng = np.random.default_rng(seed)
    sizes = [(int(rng.integers(3, 9)), bool(i % 2)) for i in range(3 * sets)]
    made = [generate.random_dataset(rng, k, 12, 5, prefix_closed=closed) for k, closed in sizes]
    return (*made, example_1())


def swap() -> list[Dataset]:
    """Two tokens that follow each other; no sentence compares anything."""
    return [from_samples([("a", "b"), ("b", "a")], r"$\mathrm n$ swaps a and b")]


def all_compared(most_tokens: int = 4, first: int = 0) -> Iterator[Shown]:
    """Every set of tokens, with any of them deciding: how many of its tokens are not compared.

    Args:
        most_tokens: of a sentence.
        first: how many tokens below the deciding one are left out; 0 in truth.
    """
    for size in range(2, most_tokens + 1):
        missing = 0
        for tokens in combinations("abcdefgh", size):
            for decides in tokens:
                pairs = {(decides, x) for x in [x for x in tokens if x != decides][first:]}
                missing += len(set(tokens) - PartialOrder.of("q", pairs).compared)
        yield relation(
            f"non-comparable tokens in sentences of {size} tokens", missing, "=", 0, missing
        )


@check(
    "huang2024-app-never-together",
    over="data sets",
    instances=random_data,
    name=lambda one: one.name,
    says="In a sentence with two different tokens, one optimal token determines the next token "
    "and lies above all other tokens, so every token of the sentence is compared. The check "
    "confirms this for {sentences} such sentences of {tried} data sets.",
    proof=(
        uses(
            "huang2024-def-1",
            "the token that determines the next token lies above every other token of the sentence",
        ),
        by_hand(
            "the token that determines the next token and every other token of the sentence "
            "are compared",
            at="pairs",
        ),
        executed(
            "all sets of two to four tokens, for every choice of the optimal token",
            all_compared,
            planted={"One of the tokens below the optimal one left out.": {"first": 1}},
        ),
    ),
    planted={"Orders computed without the sentence that has the most tokens.": {"forget": True}},
    readings={
        "claimed for all training sentences, also those of one token": Variant(
            {"alone": True}, swap
        )
    },
)
def check_huang2024_app_never_together(
    one: Dataset, alone: bool = False, forget: bool = False
) -> Iterator[Said]:
    """Every token of a sentence with two different ones is comparable under its query."""
    samples = list(one.samples())
    known = [(sample.sentence, sample.next_token, sample.count) for sample in samples]
    if forget:
        known.remove(max(known, key=lambda row: len(set(row[0]))))
    orders = order.analyse(from_samples(known, one.name)).orders or {}
    for sample in samples:
        if len(set(sample.sentence)) == 1 and not alone:
            continue
        found = orders.get(sample.sentence[-1])
        free = [x for x in sample.sentence if found is None or x not in found.compared]
        words = f"{' '.join(sample.sentence)} → {sample.next_token}"
        yield holds(not free, f"{', '.join(free)} in {words}")
        yield count("sentences")


def three_levels(levels: tuple[int, ...] = (2, 1, 0)) -> Iterator[Shown]:
    """ "On a higher level than" is a strict order with the non-comparable tokens in between.

    Args:
        levels: those of optimal, non-comparable and non-optimal tokens.
    """
    above = {pair: levels[pair[0]] > levels[pair[1]] for pair in product(range(3), repeat=2)}
    themselves = sum(above[x, x] for x in range(3))
    yield relation("levels above themselves", themselves, "=", 0, themselves)
    broken = sum(
        above[x, y] and above[y, z] and not above[x, z] for x, y, z in product(range(3), repeat=3)
    )
    yield relation("chains of three that are not transitive", broken, "=", 0, broken)
    for name, pair in (
        ("optimal above non-optimal", (0, 2)),
        ("optimal above non-comparable", (0, 1)),
        ("non-comparable above non-optimal", (1, 2)),
    ):
        yield relation(
            name, levels[pair[0]], ">", levels[pair[1]], levels[pair[0]] - levels[pair[1]]
        )


@check(
    "huang2024-app-extended-order",
    over="trained models",
    instances=frequent_runs,
    says="In {tried} models trained on Example 1 and random data, for all {orders} queries, "
    "optimal tokens score above 0 and non-optimal tokens below 0, at every recorded step from the "
    "first on. Non-comparable tokens keep the score 0, because their entries have zero gradient.",
    proof=(
        uses(
            "ours-pairs",
            "every sample raises the score of its optimal token and lowers the scores of its "
            "other tokens",
        ),
        by_hand(
            "a token has one role per query, so the effects of the samples have the same sign",
            at="role",
        ),
        by_hand("entries at non-comparable tokens have zero gradient, so they stay 0", at="zero"),
        executed(
            "the three levels of scores form a strict order that contains the order of the query",
            three_levels,
            planted={
                "Non-comparable tokens with the score of the optimal ones.": {"levels": (2, 2, 0)}
            },
        ),
    ),
    planted={
        r"The opposite sign of $W_{\mathrm{kq}}$.": {"upside_down": True},
        "Non-comparable tokens with the lowest score of an optimal one.": {"at_optimal": True},
    },
)
def check_huang2024_app_extended_order(
    run: Run, upside_down: bool = False, at_optimal: bool = False
) -> Iterator[Said]:
    """W[o, q] > 0 > W[z, q] for optimal o and non-optimal z, while W[x_0, q] = 0."""
    if not run.problem.frequent:
        yield left_out("Assumption 3 fails")
        return
    run = turned(run) if upside_down else run
    rows, best = run.second.rows, run.problem.is_optimal
    for name, up, down in (
        ("trained", rows.least_optimal[1:], rows.greatest_nonoptimal[1:]),
        ("exact", run.problem.W_kq_star[best], run.problem.W_kq_star[~best]),
    ):
        zero = float(up.min()) if at_optimal else 0.0
        yield below(zero, float(up.min()), f"{name}: lowest score of an optimal token")
        yield below(float(down.max()), zero, f"{name}: highest score of a non-optimal token")
    yield count("orders", len(run.problem.orders))
