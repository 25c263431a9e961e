"""The first part of Theorem 3 as a corollary to Theorem B: compared tokens leave zero linearly."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ntpbook.shared import rare
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import direction
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, count, left_out, most
from ntpverdicts.once import once
from ntpverdicts.vocabulary import by_hand, check, executed, uses

LONGEST = 60_000  # steps of a run; data whose t_3 is later are left out


def least_score(problem: Problem) -> float:
    """mu, the least |W_kq_star[x, q]| of a compared token."""
    return float(min(abs(x) for one in problem.solutions.values() for x in one.scores.values()))


def separated(problem: Problem, eta: float) -> float:
    """t_3 of the data."""
    k = direction.K(problem.max_length, problem.log_pi_min)
    return direction.separated_from(problem.norm**2, k, eta, least_score(problem))


def run_until(name: str, problem: Problem, eta: float) -> Run | None:
    """A run to twice t_3, with early steps recorded, too; None where that is too long."""
    late = math.ceil(separated(problem, eta))
    if 2 * late > LONGEST:
        return None
    record = sorted({1, 2, 3, 5, 10, late, late + 1, 3 * late // 2, 2 * late})
    return train(
        f"{name}, $\\eta = {eta:g}$",
        problem,
        eta0=paper_rates(problem.vocab_size)[0],
        eta=eta,
        steps1=900,
        steps=2 * late,
        record=record,
    )


@once
def some_runs(seed: int, sets: int) -> tuple[Run | None, ...]:
    """Example 1, a rare sentence, and small random data with Assumption 3, two step sizes each."""
    rng = np.random.default_rng(seed)
    problems = [
        ("Example 1", from_dataset(example_1())),
        ("a sentence $e^{200}$ times rarer", rare.rare_problem(200.0)),
    ]
    for number in range(sets):
        size, closed = int(rng.integers(3, 6)), bool(number % 2)
        data = generate.random_dataset(rng, size, 2 * size, 3, prefix_closed=closed)
        problems.append((f"random data {number} with {size} tokens", from_dataset(data)))
    comparing = [(name, one) for name, one in problems if one.solutions]
    return tuple(run_until(name, one, eta) for name, one in comparing for eta in (1.0, 20.0))


def runs(seed: int = 7, sets: int = 10) -> tuple[Run | None, ...]:
    """These runs."""
    return some_runs(seed, sets)


def entry_of_the_limit(eight: int = 8) -> tuple[Shown, ...]:
    """|W[x, q]| >= x_t (mu / w - tan), tan <= mu / (2 w) from t_3 on, x_t >= t eta / (sqrt(2) w).

    W = x_t W* / w + y with ||y|| = x_t tan, and an entry of y is at most ||y||. The other entries
    of y have together the norm `others`. The step t is t_3 (1 + more).

    Args:
        eight: the 8 of t_3.
    """
    import sympy as sp

    w, mu, eta, K, t = sp.symbols("w mu eta K t", positive=True)
    more, (entry, others) = sp.Symbol("more", nonnegative=True), sp.symbols("y_1 others", real=True)
    S = w**2
    tan_squared = 2 * S / t * (1 + sp.sqrt(2) * K / eta)
    t_3 = eight * S**2 * (1 + sp.sqrt(2) * K / eta) / mu**2
    room = sp.factor((mu / (2 * w)) ** 2 - tan_squared.subs(t, t_3 * (1 + more)))
    along = t * eta / (sp.sqrt(2) * w)
    left = along * (mu / w - mu / (2 * w))
    return (
        at_least_zero(r"$\|y\|^2 - y_1^2$", (entry**2 + others**2) - entry**2),
        at_least_zero(
            r"$(\mu/(2\|W^*\|))^2$ minus the bound on the squared tangent, from $t_3$ on", room
        ),
        identity("the lower bound on an entry", left, mu * t * eta / (2 * sp.sqrt(2) * S)),
    )


@check(
    "ours-separation",
    over="runs",
    instances=runs,
    says="The corollary follows from Theorem B for every step size. On {runs} runs, on Example 1, "
    "data with one rare sentence, and random data, both inequalities hold at all {steps} recorded "
    "steps from $t_3$ on, and at these steps the smallest entry $|W[x, x^q]|$ of a compared token "
    "is at most {closest} times its lower bound $C_0 t$.",
    proof=(
        uses(
            "ours-direction",
            r"a bound on the tangent of the angle to $W^*$, and $x_t \ge t\eta/(\sqrt2\,\|W^*\|)$",
        ),
        executed(
            "the entries of $W$ of compared tokens have the signs of $W^*$ and the claimed size",
            entry_of_the_limit,
            planted={"4 in place of 8 in $t_3$.": {"eight": 4}},
        ),
        by_hand("$W^*$ is positive at optimal tokens and negative at non-optimal ones", at="signs"),
        uses(
            "huang2024-app-never-together",
            "under its query, no sample with two different tokens contains a non-comparable token",
        ),
        by_hand("the entry of a non-comparable token has zero gradient and stays 0", at="zero"),
    ),
    loose="in these runs, up to step $2 t_3$, the absolute value of every entry of a compared "
    "token is at least 1.9 times the bound $C_0 t$, because the bound leaves room for the "
    "component orthogonal to $W^*$ to cancel half of the entry",
    planted={
        "The constant $C_0$ eight times as large.": {"slope": 8.0},
        "The lower bound $C_0 t^{3/2}$ in place of $C_0 t$.": {"power": 1.5},
        "The bound required from the first step on.": {"lateness": 0.0},
        "The opposite sign of the entries of optimal tokens.": {"sign": -1},
    },
)
def check_ours_separation(
    run: Run | None,
    slope: float = 1.0,
    lateness: float = 1.0,
    sign: int = 1,
    power: float = 1.0,
) -> Iterator[Said]:
    """W[x, q] >= C_0 t at optimal, -W[x, q] >= C_0 t at other compared tokens, from t_3 on.

    The entry of a non-comparable token is 0 by a step of the proof, and is no number of a run.
    C_0 = mu eta / (2 sqrt(2) S), t_3 = 8 S^2 (1 + sqrt(2) K / eta) / mu^2.

    Args:
        run: data and path; None where t_3 is too late.
        slope: factor of C_0.
        lateness: factor of t_3.
        sign: of the entries of optimal tokens.
        power: of t.
    """
    if run is None:
        yield left_out("$t_3$ is beyond the longest run")
        return
    rows, eta = run.second.rows, run.constants.eta
    late = rows.step >= lateness * separated(run.problem, eta)
    late &= rows.step > 0
    apart = np.minimum(sign * rows.least_optimal, -rows.greatest_nonoptimal)[late]
    t, mu = rows.step[late], least_score(run.problem)
    claimed = direction.least_separation(run.problem.norm**2, eta, slope * mu, 1.0) * t**power
    yield arrays.at_least(apart, claimed, "step {at}", at=t)
    yield most("closest", float((apart / claimed).max()), digits=2)
    yield count("runs")
    yield count("steps", len(t))
