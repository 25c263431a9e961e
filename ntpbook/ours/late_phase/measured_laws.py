"""The laws of the late phase, the rate and the logarithm, measured on long runs in floats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.ours.late_phase import instances
from ntpbook.ours.late_phase.instances import Beyond
from ntpbook.shared.levels import beyond, within
from ntpbook.shared.rate_runs import RATE_FACTORS, rate_run, rate_runs, runs_at_multiples
from ntpcore.data import generate
from ntpcore.data.examples import FIVE_TOKENS, example_1, realize
from ntpcore.data.order import PartialOrder
from ntpcore.huang2024 import asymptotics
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run
from ntpverdicts.compare import Said, count, least, most
from ntpverdicts.once import once
from ntpverdicts.tables import Table
from ntpverdicts.vocabulary import Variant, check, uses

Floats = NDArray[np.float64]

PATH = PartialOrder.of("d", {("a", "c"), ("a", "d"), ("b", "d")})
ETA = 0.36  # below ||W_kq_star|| / e on all of these data

# The law 1 - cos ~ c / (t eta)^2

LARGE_FACTORS = (1.15, 1.9)  # of ||W_kq_star||; the law is conjectured below 2


@dataclass(frozen=True, eq=False)
class Late:
    """How a late run compares with the law.

    Attributes:
        run: the run.
        predicted: c.
        measured: (t eta)^2 (1 - cos) at the last step.
        by_norm: ||W||^2 (1 - cos) there; ||W|| / (t eta) tends to 1.
        slope: log-log slope of 1 - cos over the last two decades.
    """

    run: Run
    predicted: float
    measured: float
    by_norm: float
    slope: float

    @property
    def error(self) -> float:
        """Relative error of (t eta)^2 (1 - cos)."""
        return _relative(self.measured, self.predicted)

    @property
    def error_by_norm(self) -> float:
        """Relative error of ||W||^2 (1 - cos)."""
        return _relative(self.by_norm, self.predicted)


def _relative(a: float, b: float) -> float:
    """Their difference by the larger one, so that a prediction of 0 is wrong by 1."""
    return abs(a - b) / max(abs(a), abs(b))


def too_fast(seed: int = 7) -> tuple[Run, ...]:
    """Example 1 and a random data set just above the largest step size of the conjecture."""
    return runs_at_multiples(seed, 1, 30_000, (2.2,))


def late(run: Run, alike: bool = False) -> Late:
    """Compare the last recorded step of a run with the law.

    Args:
        run: the run.
        alike: compute the constant as if all merged samples had the same share.
    """
    rows = run.second.rows
    t_eta = float(rows.step[-1]) * run.constants.eta
    fit = rows.step >= rows.step[-1] / 100
    slope = np.polyfit(np.log(rows.step[fit]), np.log(rows.one_minus_cos[fit]), 1)[0]
    last = float(rows.one_minus_cos[-1])
    by_norm = float(rows.norm[-1]) ** 2 * last
    problem = run.problem
    if alike:
        shares = np.full(len(problem.log_pi), -math.log(len(problem.log_pi)))
        problem = replace(problem, log_pi=shares)
    constant = asymptotics.star_constant(problem)
    return Late(run, constant, t_eta**2 * last, by_norm, float(slope))


def rate_table(lates: Sequence[Late]) -> Table:
    """c, and (t eta)^2 (1 - cos) with its relative error at each step size."""
    width, rows = len(RATE_FACTORS), []
    for first in range(0, len(lates), width):
        group = lates[first : first + width]
        cells = [f"{one.measured:.4f} ({one.error:.0e})" for one in group]
        rows.append((group[0].run.name, f"{group[0].predicted:.4f}", *cells))
    return Table(("data", "c", *(f"η = {f:g}‖W*‖" for f in RATE_FACTORS)), tuple(rows))


@check(
    "ours-rate",
    over="runs",
    instances=rate_runs,
    says=r"On all {tried} runs on Example 1 and random prefix-closed data, $(t\eta)^2(1 - \cos)$ "
    "at the last step differs from the explicit constant $c$ by a relative error of at most "
    r"{error}, and $\|W\|^2(1 - \cos)$ by at most {error_by_norm}. Fitted over the last two "
    r"decades of $t$, the exponent of $t$ in $1 - \cos$ is between {steepest} and {flattest}.",
    proof=(
        uses("ours-prefix-closure", "each query has at most one optimal token"),
        uses("ours-sharp-rate", "Theorem C, with $R$ in closed form"),
    ),
    planted={
        "The constant computed as if all samples were equally frequent.": {"alike": True},
        r"Step sizes of $2.2\,\|W_{\mathrm{kq}}^*\|$.": Variant(instances=too_fast),
    },
)
def check_ours_rate(run: Run, alike: bool = False) -> Iterator[Said]:
    """(t eta)^2 (1 - cos) tends to c, prefix-closed, eta < max(||W*||, 2 / ||W*||)."""
    one = late(run, alike)
    # (t eta)^2 (1 - cos) is off by a part of order 1 / (t eta); with ||W|| for t eta only the
    # part that decays exponentially, rounding, and the rest of the transient remain.
    yield within(one.error, 0.05, r"$(t\eta)^2 (1 - \cos)$ from its constant")
    yield within(one.error_by_norm, 1e-4, r"$\|W\|^2 (1 - \cos)$ from its constant")
    yield most("error", one.error, digits=2)
    yield most("error_by_norm", one.error_by_norm, digits=1)
    yield least("steepest", one.slope, digits=4, origin="a fit over two decades")
    yield most("flattest", one.slope, digits=4, origin="a fit over two decades")


def large_steps(seed: int = 7, trials: int = 4) -> Iterator[Beyond | Run]:
    """The model from random starts, and runs from zero on Example 1 and two random data sets."""
    yield from instances.beyond(seed, trials)
    for run in runs_at_multiples(seed, 2, 20_000, LARGE_FACTORS):
        if run.constants.eta >= max(run.problem.norm, 2 / run.problem.norm):
            yield run


@check(
    "ours-rate-large-steps",
    over="starts and runs",
    instances=large_steps,
    says=r"From {starts} random starts and with step sizes from 1.15 to 1.9 times $\|W^*\|$, "
    "normalized gradient descent on the sum of exponentials comes within {farthest} of the "
    "minimizer $R$ of $F$ in 300 steps. On {runs} runs of Algorithm 1 at such step sizes, "
    r"$\|W\|^2(1 - \cos)$ at the last step differs from the constant of Theorem C by a relative "
    "error of at most {error}.",
    planted={
        r"The model with step sizes of $2.3\,\|W^*\|$.": Variant(
            instances=instances.above_the_limit
        ),
        r"Runs with step sizes of $2.2\,\|W^*\|$.": Variant(instances=too_fast),
    },
)
def check_ours_rate_large_steps(one: Beyond | Run) -> Iterator[Said]:
    """Theorem C for max(||W*||, 2 / ||W*||) <= eta < 2 ||W*||: y tends to R."""
    if isinstance(one, Run):
        found = late(one)
        yield within(found.error_by_norm, 1e-4, r"$\|W\|^2 (1 - \cos)$ from its constant")
        yield most("error", found.error_by_norm, digits=1)
        yield count("runs")
        return
    yield within(float(one.distance), 1e-6, "the distance from R")
    yield most("farthest", float(one.distance), digits=1)
    yield count("starts")


def oscillation(steps: int) -> float:
    """||W||^2 (1 - cos) by c on Example 1 just above the largest step size of the conjecture."""
    problem = from_dataset(example_1())
    found = late(rate_run("Example 1", problem, 2.2 * problem.norm, steps))
    return found.by_norm / found.predicted


# When a logarithm appears


@once
def _logarithm_runs(seed: int, sets: int, steps: int) -> tuple[Run, ...]:
    """The path order as data, the five tokens, Example 1, and random data not prefix-closed."""
    problems = [
        ("the path a > c, a > d, b > d", from_dataset(realize(PATH))),
        ("the five tokens", from_dataset(realize(FIVE_TOKENS))),
        ("Example 1", from_dataset(example_1())),
    ]
    for number in range(sets):
        rng = np.random.default_rng((seed, number))
        size = int(rng.integers(4, 9))
        length = int(rng.integers(3, 7))
        data = generate.random_dataset(rng, size, 3 * size, length, prefix_closed=False)
        problems.append((f"random {number} ({size} tokens)", from_dataset(data)))
    return tuple(rate_run(name, problem, ETA, steps) for name, problem in problems)


def logarithm_runs(seed: int = 7, late_sets: int = 16, late_steps: int = 30_000) -> tuple[Run, ...]:
    """The path order as data, the five tokens, Example 1, and random data not prefix-closed."""
    return _logarithm_runs(seed, late_sets, late_steps)


def residual_length(run: Run) -> Floats:
    """sqrt(2) ||W|| sqrt(1 - cos) at the recorded steps, the length of W across W_kq_star."""
    rows = run.second.rows
    return np.asarray(rows.norm * np.sqrt(2 * rows.one_minus_cos))


def growth(run: Run) -> float:
    """Slope of the residual length against log t over the last decade."""
    step = run.second.rows.step
    keep = step >= step[-1] / 10
    return float(np.polyfit(np.log(step[keep]), residual_length(run)[keep], 1)[0])


def count_degenerate(problem: Problem) -> int:
    """How many tight pairs must carry no force."""
    return sum(len(pairs) for pairs in asymptotics.degenerate(problem).values())


def predicted_growth(problem: Problem) -> float:
    """Length of the shortest r that separates degenerate pairs by 1 or more, other tight ones by 0.

    It is the max-margin direction of the degenerate pairs among all directions that the other tight
    pairs do not see; 0 if there is none.
    """
    free: list[Floats] = []
    bound: list[Floats] = []
    for query, order in problem.orders.items():
        solution = problem.solutions[query]
        idle = asymptotics.degenerate_pairs(order, solution)
        for upper, lower in sorted(asymptotics.tight_pairs(order, solution)):
            row = _difference(problem, query, upper, lower)
            (free if (upper, lower) in idle else bound).append(row)
    if not free:
        return 0.0
    G, E = np.array(free), np.array(bound)
    G = G - G @ np.linalg.pinv(E) @ E
    gram, dual = G @ G.T, np.zeros(len(G))
    for _ in range(2000):  # exact coordinate steps on the dual, a handful of variables
        for i in range(len(G)):
            dual[i] = max(0.0, dual[i] + (1 - float(gram[i] @ dual)) / gram[i, i])
    return float(np.linalg.norm(G.T @ dual))


def _difference(problem: Problem, query: str, upper: str, lower: str) -> Floats:
    """The row with +1 at one entry of a query and -1 at another."""
    names = problem.vocabulary
    row = np.zeros(len(problem.entry_token))
    entries = zip(problem.entry_query.tolist(), problem.entry_token.tolist(), strict=True)
    for k, (q, x) in enumerate(entries):
        if names[q] == query:
            row[k] = (names[x] == upper) - (names[x] == lower)
    return row


def logarithm_table(runs: Sequence[Run]) -> Table:
    """Degenerate pairs, predicted and measured growth of the residual per unit of log t."""
    rows = []
    for run in runs:
        predicted = predicted_growth(run.problem)
        # less than this is what is left of the transient, and rounding
        measured = f"{growth(run):.3f}" if abs(growth(run)) > 1e-3 else "less than 0.001"
        idle = count_degenerate(run.problem)
        rows.append((run.name, str(idle), f"{predicted:.3f}", measured))
    header = ("data", "idle pairs", "predicted growth", "measured growth")
    return Table(header, tuple(rows))


@check(
    "ours-rate-logarithm",
    over="data sets",
    instances=logarithm_runs,
    says="On {settled} data sets without an idle pair, the norm of the residual changes by at "
    r"most {largest_settled} per unit of $\log t$ over the last decade of steps. On {growing} "
    r"data sets with an idle pair, the norm grows by at least {least_growing} per unit of "
    r"$\log t$, and this growth differs from the predicted $\|v^*\|$ by at most {miss}.",
    proof=(
        uses("ours-sharp-rate", "Theorem C: without an idle pair the residual converges"),
        uses(
            "ours-logarithm-law",
            "Theorem D: with an idle pair the norm of the residual is "
            r"$\|v^*\|\log t$ up to smaller terms",
        ),
    ),
    planted={
        "A logarithm predicted wherever the tight pairs contain a cycle, instead of wherever a "
        "pair is idle.": {"excess": True},
        "Twice the predicted growth.": {"times": 2.0},
    },
)
def check_ours_rate_logarithm(run: Run, excess: bool = False, times: float = 1.0) -> Iterator[Said]:
    """The residual grows by its predicted multiple of log t if a tight pair is idle, else settles.

    A growth within a fifth of the predicted one counts, and one of a fiftieth as none: what is left
    of the transient after so many steps is smaller.
    """
    slope, problem = growth(run), run.problem
    idle = _excess_pairs(problem) if excess else count_degenerate(problem)
    if not idle:
        yield within(abs(slope), 0.02, "no idle pair, growth of the residual")
        yield count("settled")
        yield most("largest_settled", abs(slope), digits=1, origin="a fit over a decade")
        return
    predicted = times * predicted_growth(problem)
    yield beyond(slope, 0.2, f"{idle} idle pairs, growth of the residual")
    if predicted:
        miss = abs(slope / predicted - 1)
        yield within(miss, 0.2, "growth off the predicted one by")
        yield most("miss", 100 * miss, digits=1, origin="a fit over a decade", unit="percent")
    yield count("growing")
    yield least("least_growing", slope, digits=2, origin="a fit over a decade")


def _excess_pairs(problem: Problem) -> int:
    """Tight pairs beyond those of a spanning forest, for all queries."""
    excess = 0
    for query, order in problem.orders.items():
        tight = asymptotics.tight_pairs(order, problem.solutions[query])
        rows = np.array([_difference(problem, query, a, b) for a, b in sorted(tight)])
        excess += len(rows) - int(np.linalg.matrix_rank(rows))
    return excess
