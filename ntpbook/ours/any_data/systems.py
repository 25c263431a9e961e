"""Normalized descent on a contradiction beside a comparison that nothing contradicts.

Notation as in the theorem: u is the difference of scores in the contradictory query, phi the part
of the loss that depends on it, m the margin of the strict query, s(m) > 0 the force on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

LAST = 20_000  # steps that a check compares


@dataclass(frozen=True)
class System:
    """A pair of losses, a step size, and a start.

    Attributes:
        name: in words.
        slope: phi', which is zero at `centre` and increases on [centre - h, centre + h].
        force: s = -psi', positive, and non-increasing from m = 0 on.
        h: length of a step of (u, m).
        centre: u*.
        steepest: beta, a Lipschitz constant of phi' on that interval.
        between: for a margin m_T >= 0, numbers a and b with a <= s(m) e^m <= b for all m >= m_T.
        start: u and m at step 0.
    """

    name: str
    slope: Callable[[float], float]
    force: Callable[[float], float]
    h: float
    centre: float
    steepest: float
    between: Callable[[float], tuple[float, float]]
    start: tuple[float, float]


@dataclass(frozen=True)
class PathState:
    """One step of a path.

    Attributes:
        step: its number t.
        u: difference of scores in the contradictory query.
        m: margin of the strict query.
        slope: phi'(u).
        force: s(m).
    """

    step: int
    u: float
    m: float
    slope: float
    force: float

    @property
    def norm(self) -> float:
        """N_t, the norm of the gradient of the two losses."""
        return math.hypot(self.slope, self.force)


def path(system: System, steps: int = LAST) -> Iterator[PathState]:
    """The states of normalized descent, step 0 included, as long as the gradient is not zero."""
    u, m = system.start
    for step in range(steps + 1):
        now = PathState(step, u, m, system.slope(u), system.force(m))
        yield now
        if not now.norm:
            return
        u -= system.h * now.slope / now.norm
        m += system.h * now.force / now.norm


@dataclass(frozen=True)
class Swing:
    """A step T from which the hypotheses of the theorem hold, and its constants.

    Attributes:
        first: the state at T.
        gamma: the smaller of |phi'(u_T)| and |phi'(u_{T+1})|.
        largest: Gamma, above the norm of the gradient at T and at all later steps.
        lower: slope of the line below e^m.
        upper: slope of the line above e^m.
    """

    first: PathState
    gamma: float
    largest: float
    lower: float
    upper: float


def swing(system: System, states: Sequence[PathState], *, condition: bool = True) -> Swing | None:
    """The first step from which the hypotheses hold; None if there is none.

    Args:
        system: whose path it is.
        states: the path from step 0 on.
        condition: whether beta h s^2 <= gamma^3 is asked for, as the theorem does.
    """
    for now, then in pairwise(states):
        gamma = min(abs(now.slope), abs(then.slope))
        opposite = now.slope * then.slope < 0
        weak = system.steepest * system.h * now.force**2 <= gamma**3
        if now.m >= 0 and opposite and (weak or not condition):
            reach = system.h - gamma / system.steepest
            steep = max(abs(system.slope(system.centre + way * reach)) for way in (-1, 1))
            largest = math.hypot(steep, now.force)
            a, b = system.between(now.m)
            upper = b * math.expm1(system.h) / gamma
            return Swing(now, gamma, largest, a * system.h / largest, upper)
    return None


# Plain losses


def quadratic(h: float = 0.02) -> System:
    """phi = u^2 / 2 and psi = e^-m, from the middle of the swing: the lines are nearly tight."""
    return System(
        f"u^2/2 and e^-m, h = {h:g}",
        lambda u: u,
        lambda m: math.exp(-m),
        h,
        0.0,
        1.0,
        lambda m: (1.0, 1.0),
        (h / 2, 9.0),
    )


def skewed(h: float = 0.1) -> System:
    """phi' = u + u^2 / 2: the two sides of the minimum differ."""
    return System(
        f"phi' = u + u^2/2 and e^-m, h = {h:g}",
        lambda u: u + u * u / 2,
        lambda m: math.exp(-m),
        h,
        0.0,
        1.0 + h,
        lambda m: (1.0, 1.0),
        (0.5, 0.0),
    )


def contracting(h: float = 0.02) -> System:
    """A force so large that u falls to its minimum from alternating sides."""
    return System(
        "u^2/2 and a force of 2h/3",
        lambda u: u,
        lambda m: 2 * h / 3,
        h,
        0.0,
        1.0,
        lambda m: (2 * h / 3 * math.exp(m), 2 * h / 3 * math.exp(m)),
        (h / 1000, 1.0),
    )


# The three contexts


@dataclass(frozen=True)
class Contexts:
    """How often each of the three contexts occurs, and the model after stage 1.

    Attributes:
        first: count of "a q", followed by n(a).
        second: count of "a q q", followed by n(q).
        strict: count of "b r", followed by n(b).
        single: count of all samples of one token, on which the loss of stage 2 is constant.
        vocabulary: number of tokens.
        scale: c; after stage 1, W_ov x is c times a solution with margin 1.
        eta: step size of stage 2.
    """

    first: int
    second: int
    strict: int = 1
    single: int = 6
    vocabulary: int = 6
    scale: float = 4.0
    eta: float = 0.05

    @property
    def total(self) -> int:
        """The number of samples."""
        return self.first + self.second + self.strict + self.single


def missing(alpha: float, contexts: Contexts) -> float:
    """1 - p + p' where the optimal token has the attention alpha, and one other token the rest.

    p and p' are the probabilities of the next tokens of the two.
    """
    # in the attention, not in m_j / m_o: `steps` proves it so, and `between` bounds this part
    c, rest = contexts.scale, contexts.vocabulary - 2
    right, wrong = math.exp(c * alpha), math.exp(c * (1 - alpha))
    return (2 * wrong + rest) / (right + wrong + rest)


def pull(alpha: float, contexts: Contexts) -> float:
    """Minus the derivative of a sample's loss by the score of its optimal token less the other."""
    return contexts.scale * alpha * (1 - alpha) * missing(alpha, contexts)


def slope(u: float, contexts: Contexts) -> float:
    """phi'(u): "a q" pulls a up, "a q q" pulls q up."""
    alone, twice = 1 / (1 + math.exp(-u)), 2 / (2 + math.exp(u))
    up, down = pull(alone, contexts), pull(twice, contexts)
    return (contexts.second * down - contexts.first * up) / contexts.total


def force(m: float, contexts: Contexts) -> float:
    """s(m) of "b r"."""
    return contexts.strict * pull(1 / (1 + math.exp(-m)), contexts) / contexts.total


def balance(contexts: Contexts) -> float:
    """u*, where phi' is zero, by bisection between -5 and 5."""
    low, high = -5.0, 5.0
    while high - low > 1e-15 * max(1.0, abs(low)):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if slope(middle, contexts) < 0 else (low, middle)
    return (low + high) / 2


def steepest(contexts: Contexts, centre: float, h: float, points: int = 200) -> float:
    """The largest slope of phi' on a grid of [centre - h, centre + h], one percent added.

    Raises:
        ValueError: phi' decreases somewhere on the grid.
    """
    grid = [centre - h + 2 * h * place / points for place in range(points + 1)]
    values = [slope(u, contexts) for u in grid]
    steps = [(b - a) * points / (2 * h) for a, b in pairwise(values)]
    if min(steps) <= 0:
        raise ValueError(f"phi' does not increase within {h:g} of {centre:g}")
    return 1.01 * max(steps)


def of_contexts(contexts: Contexts) -> System:
    """The system that training of the three contexts follows, from zero."""
    centre, h = balance(contexts), math.sqrt(2) * contexts.eta
    limit = contexts.strict * contexts.scale / contexts.total

    def between(m: float) -> tuple[float, float]:
        alpha = 1 / (1 + math.exp(-m))
        return limit * alpha**2 * missing(1.0, contexts), limit * missing(alpha, contexts)

    return System(
        f'"a q" {contexts.first} times, "a q q" {contexts.second} times, c = {contexts.scale:g}',
        lambda u: slope(u, contexts),
        lambda m: force(m, contexts),
        h,
        centre,
        steepest(contexts, centre, h),
        between,
        (0.0, 0.0),
    )


CONTEXTS = (
    Contexts(1, 1),
    Contexts(1, 2),
    Contexts(3, 1),
    Contexts(2, 3, strict=4, scale=2.0),
    Contexts(1, 2, vocabulary=20, single=20, scale=6.0),
)


def systems() -> list[System]:
    """All systems on which the theorem is tried."""
    return [quadratic(), skewed(), *map(of_contexts, CONTEXTS)]


def without_contradiction(contexts: Contexts) -> System:
    """The same contexts as if "a q q" did not occur: u grows, and no minimum holds it."""
    alone = Contexts(
        contexts.first, 0, contexts.strict, contexts.single, contexts.vocabulary, contexts.scale,
        contexts.eta,
    )  # fmt: skip
    return System(
        "without a contradiction",
        lambda u: slope(u, alone),
        lambda m: force(m, alone),
        math.sqrt(2) * alone.eta,
        math.inf,
        math.inf,
        lambda m: (0.0, math.inf),
        (0.0, 0.0),
    )
