"""Checks on data that contradict themselves: exact scores, and what training does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from ntpbook.ours.any_data import orders, steps, systems, training
from ntpbook.ours.any_data.orders import Solved
from ntpbook.ours.any_data.systems import LAST, Contexts, System
from ntpbook.ours.any_data.training import Samples, TrainedSamples
from ntpbook.shared.levels import within
from ntpcore.exact import any_order
from ntpverdicts.compare import Said, at_least, at_most, count, equal, holds, least, left_out, most
from ntpverdicts.vocabulary import SHARPER, Variant, by_hand, check, executed, uses

ROUNDING = 1e-9
EARLY = 20  # steps in which the dense run and the system agree to rounding
SLOPES = (0.9, 1.1)  # of the margin in ln t, from step 1200 to 3000


@check(
    "ours-any-order",
    over="orders",
    instances=orders.orders,
    says="The check verifies the Karush–Kuhn–Tucker conditions in exact fractions on {tried} "
    "relations: all relations on three tokens, and random relations. Of these, {cyclic} contain "
    "cycles. Where not all scores are zero, a second method in floating point gives the same "
    "scores.",
    proof=(
        by_hand(
            "the problem has exactly one solution, and scores with the multipliers of the theorem "
            "are this solution",
            at="exists",
        ),
        executed(
            r"on a chain of three components, $\langle w, u - w\rangle$ is the sum of multipliers "
            "times differences of margins",
            steps.nearer,
            planted={"Only two of the three components of a chain counted.": {"parts": 2}},
        ),
        by_hand("every solution has multipliers", at="multipliers"),
    ),
    planted={
        "All scores 0.1 percent larger, so that every margin is at least 1.": {
            "factor": Fraction(1001, 1000)
        },
        "All scores 0.1 percent smaller.": {"factor": Fraction(999, 1000)},
        "Every multiplier halved.": {"part": Fraction(1, 2)},
    },
)
def check_ours_any_order(
    one: Solved, factor: Fraction | int = 1, part: Fraction | int = 1
) -> Iterator[Said]:
    """Scores and multipliers prove each other optimal, and an independent method agrees."""
    scores = {token: factor * score for token, score in one.solution.scores.items()}
    multipliers = {pair: part * value for pair, value in one.solution.multipliers.items()}
    errors = any_order.certificate_errors(one.order, scores, multipliers)
    # Where all tokens lie in one component, all scores and multipliers are zero.
    if not one.solution.multipliers:
        yield holds(not any(scores.values()), one.name)
        yield count("cyclic")
        return
    yield holds(not errors, f"{one.name}: {'; '.join(errors[:1])}")
    floats = orders.independent(one.order)
    apart = max(abs(floats[token] - float(score)) for token, score in scores.items())
    yield within(apart, ROUNDING, f"{one.name}: the other method")
    yield count("cyclic", int(any(len(part) > 1 for part in one.solution.components)))
    yield most("levels", len(set(scores.values())))


def started_below_the_condition() -> list[System]:
    """A system in which u falls to its minimum from alternating sides."""
    return [systems.contracting()]


@check(
    "ours-contradiction",
    over="systems",
    instances=systems.systems,
    tolerance=ROUNDING,
    says="On {tried} systems, five of them from data, the hypotheses of the theorem hold from a "
    r"step $T \le$ {from_step} on. Up to step 20000, $u_t$ alternates between the two "
    "sides of $u^*$, and the norm of the gradient and $e^{m_t}$ stay between their bounds, in "
    "{compared} comparisons.",
    proof=(
        executed(
            "$g/N$ increases with $g/s$, with a derivative of at most $(g/s)^{-3}$",
            steps.share,
            planted={"$x^3$ under the root instead of $x^2$.": {"power": 3}},
        ),
        executed(
            r"on which side of $u^*$ and at which distance the next step lands (a prime, or next, "
            r"means one step later; slack and steep are the slacks of the bounds "
            r"$h(r - r') \le (g - g')/\beta$ and $g \le \beta d$)",
            steps.landing,
            planted={"1 added to the distance of the next position.": {"shift": 1}},
        ),
        by_hand(
            r"the sides alternate, and $\gamma_t$, the smaller of two consecutive derivatives in "
            "absolute value, never decreases",
            at="sides",
        ),
        executed(
            "$e^x$ lies between its tangent and its chord on $[0, h]$",
            steps.exponential,
            planted={"$e^{-x}$ instead of $e^x$.": {"sign": -1}},
        ),
        by_hand(r"the bounds on the gradient and on $e^{m_t}$", at="lines"),
    ),
    planted={
        f"The lower bound on $e^{{m_t}}$ {SHARPER}.": {"lower": 1.1},
        f"The upper bound on $e^{{m_t}}$ {SHARPER}.": {"upper": 1.1},
        f"The lower bound on the gradient {SHARPER}.": {"gamma": 1.1},
        f"The upper bound on the gradient {SHARPER}.": {"largest": 1.1},
        r"The condition on $\beta$, $h$, and $s$ left out.": Variant(
            {"condition": False}, instances=started_below_the_condition
        ),
        "$e^{2m}$ instead of $e^m$.": {"power": 2},
    },
)
def check_ours_contradiction(
    one: System,
    lower: float = 1.0,
    upper: float = 1.0,
    gamma: float = 1.0,
    largest: float = 1.0,
    condition: bool = True,
    power: int = 1,
) -> Iterator[Said]:
    """u alternates, gamma <= |phi'| and N <= Gamma, and e^m stays between two lines, from T on."""
    states = list(systems.path(one))
    found = systems.swing(one, states, condition=condition)
    if found is None:
        yield left_out("the hypotheses do not hold at any step")
        return
    begin = found.first.step
    later = states[begin:]
    yield holds(len(states) == LAST + 1, f"{one.name}: the gradient is never zero")
    turns = all(a.slope * b.slope < 0 for a, b in pairwise(later))
    yield holds(turns, f"{one.name}: the sides alternate")
    slopes, norms = [abs(now.slope) for now in later], [now.norm for now in later]
    yield at_least(min(slopes), gamma * found.gamma, f"{one.name}: least |phi'|")
    yield at_most(max(norms), found.largest / largest, f"{one.name}: largest N")
    base = math.exp(found.first.m)
    for now in later[:: max(1, len(later) // 20)]:
        passed, height = now.step - begin, math.exp(power * now.m)
        where = f"{one.name}, step {now.step}"
        yield at_most(base + lower * found.lower * passed, height, where)
        yield at_most(height, base + found.upper / upper * passed, where)
    yield most("from_step", begin)
    if begin:  # else the run begins with a large margin
        per_log = (states[-1].m - states[LAST // 10].m) / math.log(10)
        yield least("least_growth", per_log, digits=3)
        yield most("most_growth", per_log, digits=3)


def samples(contexts: Contexts) -> Samples:
    """The three contexts as data: a, q, b, r are the tokens 0 to 3."""
    return Samples(
        ((0, 1), (0, 1, 1), (2, 3), (4,)),
        (0, 1, 2, 4),
        (contexts.first, contexts.second, contexts.strict, contexts.single),
        contexts.vocabulary,
    )


@check(
    "ours-contradiction-data",
    over="counts",
    instances=lambda: list(systems.CONTEXTS),
    tolerance=ROUNDING,
    says="The check computes the derivatives of the losses of the three kinds of samples "
    "symbolically. For {tried} choices of counts, a full run of stage 2 and the system of the "
    r"theorem agree in $u$, $m$, and, up to the factor $\sqrt2$, the norm of the gradient in the "
    "first 20 steps.",
    proof=(
        uses("huang2024-eq-6", "the gradient of stage 2"),
        executed(
            "the derivatives of the losses of the three kinds of samples with respect to the "
            "scores",
            steps.gradients,
            planted={"The context a q instead of a q q.": {"times": 1}},
        ),
        by_hand(r"a step of $W_{\mathrm{kq}}$ moves $(u, m)$ by $\sqrt2\,\eta$ in norm", at="step"),
    ),
    planted={
        r"A step of $\eta$ instead of $\sqrt2\,\eta$.": {"stretch": 1.0},
        "The counts of the two contradicting contexts exchanged.": {"exchanged": True},
    },
)
def check_ours_contradiction_data(
    one: Contexts, stretch: float = math.sqrt(2), exchanged: bool = False
) -> Iterator[Said]:
    """W_kq in training: u = W[a, q] - W[q, q], m = W[b, r] - W[r, r], |G| = sqrt(2) N."""
    counts = (one.second, one.first) if exchanged else (one.first, one.second)
    told = Contexts(
        *counts, one.strict, one.single, one.vocabulary, one.scale, one.eta * stretch / math.sqrt(2)
    )
    states = list(systems.path(systems.of_contexts(told), EARLY))
    for point in training.train(samples(one), range(EARLY + 1), scale=one.scale, eta=one.eta):
        now, W = states[point.step], point.W
        where = f"{one.first} and {one.second} times, step {point.step}"
        yield equal(float(W[0, 1] - W[1, 1]), now.u, f"u, {where}", scale=1.0)
        yield equal(float(W[2, 3] - W[3, 3]), now.m, f"m, {where}", scale=1.0)
        yield equal(point.norm, math.sqrt(2) * now.norm, f"|G|, {where}")


def agreeing_runs(seed: int = 7, sets: int = 3) -> list[TrainedSamples]:
    """Random data without cycles."""
    return training.random_runs(seed, sets, cycles=False)


@check(
    "ours-contradiction-runs",
    over="data sets",
    instances=training.random_runs,
    observes=True,
    says="The check trains on {tried} random data sets with a cycle. From step 1200 to step 3000, "
    "the smallest margin under queries without a cycle grows by at least {low} and at most {high} "
    r"per unit of $\ln t$. Over the same steps, the relative change of the gradient norm is at "
    "most {change}.",
    fails=r"Margins grow faster or slower than $\ln t$.",
    planted={
        "Data without cycles, where margins grow linearly.": Variant(instances=agreeing_runs),
        r"Growth like $2\ln t$.": {"expected": 2.0},
    },
)
def check_ours_contradiction_runs(one: TrainedSamples, expected: float = 1.0) -> Iterator[Said]:
    """(margin at step 3000 - margin at step 1200) / ln(3000/1200) lies between 0.9 and 1.1."""
    *_, before, last = one.least
    *_, first, end = one.points
    growth = (last - before) / math.log(end.step / first.step)
    low, high = SLOPES
    yield holds(low <= growth / expected <= high, f"{one.name}: {growth:.3g} per unit of ln t")
    yield least("low", growth, digits=3)
    yield most("high", growth, digits=3)
    yield most("change", abs(end.norm / first.norm - 1), digits=1)
