"""Checks of the page on the loss: Theorem 2, equations (4) and (13), the floor, the loss rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import rare
from ntpbook.shared.inequality import Slack, judge_inequality
from ntpcore.data.dataset import from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import bounds, stage1
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run, paper_rates, train
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

# A log-odds or a log loss is a sum of a few hundred rounded terms, each off by 2^-53 of its size.
TOLERANCE = 1e-9
RATE_TOLERANCE = 0.02  # a residual that grows like log t moves a rate by 1 / (t eta), far below
ETA = 0.36  # just below ||W_kq_star|| / e = 0.368, the largest step size of Theorem 1's proof


@dataclass(frozen=True)
class Constants2:
    """One reading of the constants in the two conditions of Theorem 2.

    Attributes:
        text: the reading, in words.
        c0: the constant in the condition on T.
        c1: the constant in the condition on t.
        length_power: the exponent of L_max.
        rarity: what stands for N.
    """

    text: str
    c0: float = 384
    c1: float = 1696
    length_power: float = 4
    rarity: str = bounds.N


READINGS = (
    Constants2("constants 384 and 1696, exponent 4 of L_max, as the scan of the proof shows them"),
    Constants2("constant 864 in place of 1696, which the step that uses it needs", c1=864),
    Constants2("exponent 2 of L_max", length_power=2),
    Constants2("an absolute constant c_0, tried at 1", c0=1, c1=1),
    Constants2("an absolute constant c_0, tried at 1e9", c0=1e9, c1=1e9),
)


@dataclass(frozen=True)
class Hidden:
    """A point at which Theorem 2 speaks of a sample that is still untouched.

    Attributes:
        steps1: T.
        steps: t.
        log_ratio: how much rarer one sentence is than the other, as a logarithm.
        claimed: lower bound of Theorem 2 on the log-odds of the rare sample's optimal token.
        inside: whether both conditions of the theorem hold.
    """

    steps1: int
    steps: int
    log_ratio: float
    claimed: float
    inside: bool

    @property
    def refutes(self) -> bool:
        """Whether the theorem claims more than the log-odds of 1 that the sample has at most."""
        return self.inside and self.claimed > 1.0


def hidden_sample(reading: Constants2, log_ratio: float | None = None) -> Hidden:
    """The first point at which the printed conditions hold, with the rare sample hidden there.

    Until then the log-odds of the rare sample stay below 1 (`rare.log_ratio_that_hides`). The
    conditions are evaluated as the reading has them, with frequencies only if it does.

    Args:
        reading: the constants.
        log_ratio: how rare; as rare as the argument needs if None.
    """
    eta0 = paper_rates(2)[0]
    base = bounds.constants(rare.rare_problem(0.0), eta0, ETA, 1)
    log_T = bounds.bites_from(lambda s: bounds.log_thm_2_condition_1(base, s, c0=reading.c0))
    steps1 = math.ceil(math.exp(log_T)) + 1
    log_t = bounds.bites_from(lambda s: _condition_2(base, s, replace(reading, rarity=bounds.N)))
    steps = max(math.ceil(math.exp(log_t)) + 1, 100)
    needed = rare.log_ratio_that_hides(steps, ETA, stage1.gap(2, steps1, eta0))
    c = bounds.constants(
        rare.rare_problem(needed if log_ratio is None else log_ratio), eta0, ETA, steps1
    )
    inside = (
        bounds.log_thm_2_condition_1(c, math.log(steps1), c0=reading.c0) <= 0
        and _condition_2(c, math.log(steps), reading) <= 0
        and (log_ratio is None or log_ratio >= needed)
    )
    claimed = float(bounds.thm_2_log_odds(c, steps))
    return Hidden(steps1, steps, needed if log_ratio is None else log_ratio, claimed, bool(inside))


def _condition_2(c: bounds.Constants, log_t: bounds.Times, reading: Constants2) -> bounds.Times:
    """Log of (what t must reach) / t under a reading."""
    return bounds.log_thm_2_condition_2(
        c, log_t, c0=reading.c1, length_power=reading.length_power, rarity=reading.rarity
    )


def force_errors(factor: int = 1) -> list[str]:
    """What is wrong with the forces that `rare` assumes, by sympy; empty if nothing is.

    The loss of a sample of the two-token data is -log T_o with T_o = e^(Am) / (e^(Am) +
    e^(A(1-m))) and m = 1 / (1 + e^-d). Its slope in d must be -A m (1 - m) 2 (1 - T_o), times
    `factor`; and between the claimed ends a difference without sign change must remain.
    """
    import sympy as sp

    A, d, m, s = sp.symbols("A d m s", positive=True)
    M = 1 / (1 + sp.exp(-d))
    T = 1 / (1 + sp.exp(A * (1 - 2 * m)))
    slope = sp.diff(-sp.log(T).subs(m, M), d)
    force = factor * A * m * (1 - m) * 2 * (1 - T)
    left = sp.simplify((slope + force.subs(m, M)).rewrite(sp.exp))
    wrong = [] if left == 0 else [f"slope of the loss: {left} remains"]
    # with m = (1 + s) / 2, 0 <= s <= 1: 4 m (1 - m) = 1 - s^2 <= 1, and 2 (1 - T_o) <= 1
    if sp.expand(4 * m * (1 - m) - 1 + s**2).subs(m, (1 + s) / 2).expand() != 0:
        wrong.append("4 m (1 - m) is not 1 - s^2")
    # e^d (1 - m) = m, so that m (1 - m) = m^2 e^-d >= e^-d / 4 for m >= 1/2
    if sp.simplify(sp.exp(d) * (1 - M) - M) != 0:
        wrong.append("e^d (1 - m) is not m")
    return wrong


def log_loss(run: Run) -> Floats:
    """log L at the recorded steps, also where L is smaller than the smallest float."""
    c = run.constants
    log_floor = stage1.log_loss(c.vocab_size, c.steps1, c.eta0) - math.log(c.vocab_size)
    logs: Floats = np.logaddexp(log_floor, run.second.rows.log_excess)
    return logs


def attention_slack(run: Run, factor: float = 1.0) -> Floats:
    """How far the least log-odds exceed `factor` times t C_1, minus log L_max, at each step."""
    rows, c = run.second.rows, run.constants
    claimed = bounds.thm_2_log_odds(c, factor * rows.step.astype(float))
    slack: Floats = (rows.least_log_odds - claimed) / np.maximum(1.0, np.abs(claimed))
    return slack


def loss_slack(run: Run, factor: float = 1.0) -> Floats:
    """How far log L stays below the right-hand side of (4), with `factor` times T C_0 in it."""
    rows, c = run.second.rows, run.constants
    bound = math.log(c.vocab_size) + factor * (
        bounds.log_eq_4_loss(c, rows.step.astype(float)) - math.log(c.vocab_size)
    )
    slack: Floats = (bound - log_loss(run)) / np.maximum(1.0, np.abs(bound))
    return slack


def theorem_slack(run: Run, reading: Constants2, factor: float = 1.0) -> Slack:
    """Both conclusions of Theorem 2 at the recorded steps at which its conditions hold."""
    rows, c = run.second.rows, run.constants
    inside = np.zeros(len(rows.step), dtype=bool)
    if bounds.log_thm_2_condition_1(c, math.log(max(c.steps1, 2)), c0=reading.c0) <= 0:
        late = rows.step >= 8  # log^2 t / t falls from e^2 on
        log_t = np.log(np.maximum(rows.step, 8))
        inside = late & (np.asarray(_condition_2(c, log_t, reading)) <= 0)
    slack = np.minimum(attention_slack(run, factor), loss_slack(run))
    return rows.step[inside], slack[inside]


def check_huang2024_thm_2(
    runs: Iterable[Run], readings: Sequence[Constants2] = (), **parameters: int
) -> Check:
    """Theorem 2 as printed: on runs where its conditions hold, and against a hidden sample.

    Args:
        runs: runs of Algorithm 1.
        readings: for each the argument of `hidden_sample` is made; it refutes the theorem only if
            it refutes every one of them.
        parameters: what repeats the runs.
    """
    label, unit = "huang2024-thm-2", "readings of its constants"
    cases = [hidden_sample(reading) for reading in readings]
    verdicts = [Verdict.REFUTED if case.refutes else Verdict.OPEN for case in cases]
    if not cases or Verdict.OPEN in verdicts:
        return judge_inequality(
            label,
            runs,
            lambda run: theorem_slack(run, READINGS[0]),
            "Where the printed conditions hold, both conclusions hold",
            tolerance=TOLERANCE,
            parameters=parameters,
        )
    first = cases[0]
    broken = force_errors()
    assert not broken, broken
    return Check(
        label,
        Verdict.REFUTED,
        len(cases),
        unit,
        "On two-token data one sentence is so rare that Algorithm 1 does not touch it before the "
        "printed conditions, which know no frequencies, hold; this defeats any constant in them.",
        witness=f"sentences 0 1 0 and 1 0 1, the second e^{first.log_ratio:.2g} times rarer; "
        f"T = {first.steps1:.3g}, t = {first.steps:.3g}, eta = {ETA}: the weight of its optimal "
        f"token is at most {1 / (1 + math.exp(-1)):.3f}, claimed is 1 - e^-{first.claimed:.2g}",
        numbers={
            "T": f"{first.steps1:.2g}",
            "t": f"{first.steps:.2g}",
            "log_ratio": f"{first.log_ratio:.2g}",
            "claimed": f"{first.claimed:.2g}",
            "weight": f"{1 / (1 + math.exp(-1)):.3f}",
        },
        parameters=parameters,
        by_hand=(
            "log T / T and log² t / t tend to 0, so the conditions hold from some T and t on",
            "the sum over the steps that bounds the rare margin, and elementary bounds on the "
            "two forces whose formula sympy confirms",
        ),
        readings=tuple(
            Reading(reading.text, verdict)
            for reading, verdict in zip(readings, verdicts, strict=True)
        ),
    )


def control_huang2024_thm_2() -> Control:
    """With 1 / pi_min in the condition, the same argument must come to nothing."""
    repaired = [replace(reading, rarity=bounds.PI_MIN) for reading in READINGS]
    return Control(
        "The same rare sentence against the conditions with 1/pi_min in place of N.",
        Verdict.OPEN,
        check_huang2024_thm_2([], repaired).verdict,
    )


def untouched(beyond: int = 3) -> tuple[Run, int]:
    """A real run beyond the step from which the printed conditions, with c_0 = 1, hold.

    One sample is so rare that it is still untouched after `beyond` times that step. Returns the run
    and the step.
    """
    case, eta0 = hidden_sample(READINGS[3]), paper_rates(2)[0]
    steps, gap = beyond * case.steps, stage1.gap(2, case.steps1, eta0)
    run = train(
        "two tokens, one sentence too rare to be touched",
        rare.rare_problem(rare.log_ratio_that_hides(steps, ETA, gap)),
        eta0=eta0,
        eta=ETA,
        steps1=case.steps1,
        steps=steps,
    )
    return run, case.steps


def two_weights(run: Run) -> dict[str, Floats]:
    """Weights of the optimal token in both samples of an untouched run, at its recorded steps.

    The common sample is the one whose log-odds are not the least; since each step moves the two
    margins by sqrt(2) eta in all, and W has two opposite entries for each margin, the norm gives
    its log-odds.
    """
    rows = run.second.rows
    rare_odds = rows.least_log_odds
    common_odds = np.sqrt(np.maximum(2 * rows.norm**2 - rare_odds**2, 0.0))
    return {
        "step": rows.step.astype(float),
        "rare": 1 / (1 + np.exp(-rare_odds)),
        "common": 1 / (1 + np.exp(-common_odds)),
    }


def smallest_problem() -> Problem:
    """The data 0 1 0: N = 2, L_max = 2, ||W_kq_star||^2 = 1/2, the frequencies equal."""
    return from_dataset(from_sentences(["0 1 0"], "the sentence 0 1 0"), {"1": "0"})


def inside_run() -> Run:
    """A run on the smallest data into the region where the conditions of Theorem 2 hold."""
    problem = smallest_problem()
    eta0, eta = paper_rates(2)[0], 0.26  # ||W_kq_star|| / e = 0.2601
    c = bounds.constants(problem, eta0, eta, 1)
    log_T = bounds.bites_from(lambda s: bounds.log_thm_2_condition_1(c, s))
    log_t = bounds.bites_from(lambda s: bounds.log_thm_2_condition_2(c, s))
    first, steps = math.ceil(math.exp(log_T)) + 1, math.ceil(math.exp(log_t)) + 1
    record = [0, 1, *np.linspace(steps, 1.05 * steps, 20).astype(int).tolist()]
    return train(
        "the sentence 0 1 0",
        problem,
        eta0=eta0,
        eta=eta,
        steps1=first,
        steps=record[-1],
        record=record,
    )


CORRECTED = replace(READINGS[0], rarity=bounds.PI_MIN)


def check_huang2024_thm_2_corrected(
    runs: Iterable[Run], factor: float = 1.0, **parameters: int
) -> Check:
    """Theorem 2 with 1 / pi_min for N, where its conditions hold; and beyond them, counted.

    `factor` multiplies C_1 in the claimed attention weight.
    """
    many = list(runs)
    check = judge_inequality(
        "huang2024-thm-2-corrected",
        many,
        lambda run: theorem_slack(run, CORRECTED, factor),
        "Where the corrected conditions hold, both conclusions hold; judged",
        tolerance=TOLERANCE,
        parameters=parameters,
    )
    outside = np.concatenate([np.minimum(attention_slack(r, factor), loss_slack(r)) for r in many])
    least = float(outside.min()) if len(outside) else math.inf
    numbers = {
        "all_points": str(len(outside)),
        "failures": str(int((outside < -TOLERANCE).sum())),
        "least": f"{least:.2g}",
        "reached": str(sum(len(theorem_slack(run, CORRECTED)[0]) > 0 for run in many)),
    }
    inside = check.numbers.get("points", "0")
    check = replace(check, numbers={**check.numbers, **numbers})
    far = [run for run in many if not len(theorem_slack(run, CORRECTED)[0])]
    if check.verdict is not Verdict.CONSISTENT or not far:
        return check
    run = max(far, key=lambda one: one.constants.vocab_size)
    log_t = bounds.bites_from(lambda s: _condition_2(run.constants, s, CORRECTED))
    return replace(
        check,
        evidence=f"Both conclusions hold at the {inside} recorded steps where the corrected "
        f"conditions do, on {numbers['reached']} run of {len(many)}; without the conditions they "
        f"fail at {numbers['failures']} of {numbers['all_points']} recorded steps.",
        by_hand=("that the correction repairs the proof of Lemma 7",),
        vacuous=f"t = {math.exp(log_t):.1g} on {run.name}; {len(far)} of the {len(many)} runs "
        "are too short",
    )


def control_huang2024_thm_2_corrected(run: Run) -> Control:
    """An attention bound with a rate above the true one must fail inside the conditions.

    The true log-odds grow by less than eta (1 + 1 / sqrt(2)) in a step, the claimed ones by eta /
    (4 L_max ||W_kq_star||^2) = eta / 4 here.
    """
    return Control(
        "The claimed attention weight with eight times its rate C_1.",
        Verdict.REFUTED,
        check_huang2024_thm_2_corrected([run], factor=8.0).verdict,
    )


def check_huang2024_eq_4(runs: Iterable[Run], factor: float = 1.0, **parameters: int) -> Check:
    """L <= |V| exp(-T C_0 (1 - 2 L_max / (L_max + e^(C_1 t)))) at every recorded step."""
    many = list(runs)
    check = judge_inequality(
        "huang2024-eq-4",
        many,
        lambda run: (run.second.rows.step, loss_slack(run, factor)),
        "The loss stays below the right-hand side, also before the conditions of Theorem 2 hold,",
        tolerance=TOLERANCE,
        parameters=parameters,
    )
    silent = [run for run in many if _says_nothing(run)]
    if check.verdict is not Verdict.CONSISTENT or not silent:
        return check
    run = max(silent, key=lambda one: one.constants.vocab_size)
    c = run.constants
    log_printed = float(bounds.log_eq_4_loss(c, float(run.second.rows.step[-1])))
    numbers = {
        "silent": str(len(silent)),
        "right": f"{math.exp(min(log_printed, 700.0)):.1f}",  # e^700 is near the largest
        "blind": f"{math.log(c.vocab_size):.2f}",
        "loss": f"{float(run.second.rows.loss[-1]):.2g}",
        "T": f"{least_T(c)}",
    }
    where = f"{len(silent)} of the {len(many)} runs, for example {run.name}"
    return replace(
        check, vacuous=f"{_says_from(run)} ({where})", numbers={**check.numbers, **numbers}
    )


def _says_nothing(run: Run) -> bool:
    """Whether (4) allows a loss above log|V|, that of a blind guess, at all recorded steps."""
    steps = run.second.rows.step.astype(float)
    blind = math.log(math.log(run.constants.vocab_size))
    return bool((np.asarray(bounds.log_eq_4_loss(run.constants, steps)) >= blind).all())


def least_T(c: bounds.Constants) -> int:
    """The first T for which (4) gets below log|V| at some t: T C_0 > log(|V| / log|V|)."""
    return math.floor(math.log(c.vocab_size / math.log(c.vocab_size)) / c.C0) + 1


def least_t(c: bounds.Constants) -> float:
    """The first t from which (4) is below log|V|; inf if T is too small for that."""
    if c.steps1 < least_T(c):
        return math.inf
    left = 1 - math.log(c.vocab_size / math.log(c.vocab_size)) / (c.steps1 * c.C0)
    return max(math.log(c.max_length * (2 / left - 1)) / c.C1, 0.0)


def _says_from(run: Run) -> str:
    """From where (4) would say something, for one run."""
    c = run.constants
    T = least_T(c)  # and twice as many, so that something is left for t
    if c.steps1 >= T:
        return f"t = {least_t(c):.2g}"
    t = least_t(replace(c, steps1=2 * T))
    return f"T = {T:.2g}, and with twice that T before t = {t:.2g}"


def control_huang2024_eq_4(run: Run) -> Control:
    """The true gap in place of T C_0, and half as much again, must be too much."""
    true_gap = run.second.gap / (run.constants.steps1 * run.constants.C0)
    return Control(
        "The right-hand side with one and a half times the true gap A in place of T C_0.",
        Verdict.REFUTED,
        check_huang2024_eq_4([run], factor=1.5 * true_gap).verdict,
    )


def margin_slack(run: Run, root: float = math.sqrt(2)) -> Slack:
    """By how much the least margin exceeds ||W|| (1 / ||W*|| - root ||U - U*||), over ||W||.

    U and U* are the unit vectors of W and W*, so that ||U - U*||^2 = 2 (1 - cos).
    """
    rows = run.second.rows
    moved = rows.step > 0
    apart = np.sqrt(2 * rows.one_minus_cos[moved])
    claimed = 1 / run.constants.norm_kq - root * apart
    return rows.step[moved], rows.least_gap[moved] / rows.norm[moved] - claimed


def check_huang2024_eq_13(
    runs: Iterable[Run], root: float = math.sqrt(2), **parameters: int
) -> Check:
    """Equation (13) at every recorded step after the first; its other readings beside it."""
    many = list(runs)

    def judge(slack: Callable[[Run], Slack]) -> Check:
        statement = "Every margin is at least what the distance of the directions leaves of it"
        return judge_inequality(
            "huang2024-eq-13", many, slack, statement, tolerance=TOLERANCE, parameters=parameters
        )

    check = judge(lambda run: margin_slack(run, root))
    if check.verdict is not Verdict.CONSISTENT:
        return check
    bare, chain = judge(lambda run: margin_slack(run, 1.0)), hidden_sample(READINGS[0])
    return replace(
        check,
        by_hand=("Cauchy and Schwarz: it holds for any matrix, whatever the training",),
        readings=(
            Reading("the line that bears the number, with the factor √2", check.verdict),
            Reading("the same without the factor √2", bare.verdict),
            Reading(
                "the end of its chain, margins ≥ t C_1 from the t of Theorem 2 on",
                Verdict.REFUTED if chain.refutes else Verdict.OPEN,
            ),
        ),
        numbers={**check.numbers, "bare": bare.numbers["worst"], **_chain_numbers(many)},
    )


def _chain_numbers(runs: Iterable[Run]) -> dict[str, str]:
    """The least slack of margins over t C_1, by t C_1, after the first step."""
    slacks = [
        rows.least_gap[1:] / bounds.eq_13_gap(run.constants, rows.step[1:].astype(float)) - 1
        for run in runs
        for rows in (run.second.rows,)
    ]
    return {"chain": f"{min(float(slack.min()) for slack in slacks):.2g}"}


def control_huang2024_eq_13(runs: Sequence[Run]) -> Control:
    """A sign error that adds the distance must be noticed."""
    return Control(
        "The distance of the directions added in place of subtracted.",
        Verdict.REFUTED,
        check_huang2024_eq_13(runs, root=-math.sqrt(2)).verdict,
    )


def check_huang2024_app_floor(leading: str = "n") -> Check:
    """The least loss at given W_ov is |V| exp(-T C_0), for symbolic |V| = n and x = e^-A.

    The least loss is log(1 + (n - 1) x). Its distance from `leading` times x vanishes at x = 0 and
    must have a positive slope; the printed floor has the larger e^(-T C_0) in place of x.
    """
    import sympy as sp

    n = sp.symbols("n", integer=True, positive=True)
    x, k, T, eta0 = sp.symbols("x k T eta_0", positive=True)
    size = k + 2  # |V| - 2 = k >= 0, so that signs can be read off coefficients
    top = sp.sympify(leading, locals={"n": n}).subs(n, size)
    distance = top * x - sp.log(1 + (size - 1) * x)
    slope = sp.numer(sp.together(sp.diff(distance, x)))
    signs = sp.Poly(sp.expand(slope), x, k).coeffs()
    at_zero = sp.simplify(distance.subs(x, 0))
    # A / (T C_0) = 4 sqrt(|V| - 1) >= 4, so that e^-A < e^(-T C_0)
    ratio = (T * eta0 / sp.sqrt(size - 1)) / (T * eta0 / (4 * (size - 1)))
    not_steeper = sp.simplify(ratio - 4 * sp.sqrt(size - 1))
    label, unit = "huang2024-app-floor", "symbolic vocabulary sizes"
    if at_zero != 0 or not_steeper != 0 or not all(sign > 0 for sign in signs):
        reason = "The sign of the difference was not found."
        return Check(label, Verdict.OPEN, 0, unit, reason)
    printed, true = _floors(20, 900)
    return Check(
        label,
        Verdict.REFUTED,
        1,
        unit,
        "n x - log(1 + (n - 1) x) vanishes at x = 0 and has a positive slope for x > 0, so the "
        "printed value exceeds the least loss for every |V| >= 2, even with the true gap A.",
        witness=f"|V| = 20, T = 900, the paper's step size: printed {printed:.2f}, in truth "
        f"{true:.3g}; a blind guess has {math.log(20):.2f}",
        numbers={
            "printed": f"{printed:.2f}",
            "true": f"{true:.3g}",
            "blind": f"{math.log(20):.2f}",
            "ratio": f"{4 * math.sqrt(19):.1f}",
        },
        by_hand=(
            "log(1 + Σ e^(z_v - A m_o)) is least at m_o = 1, where all other logits z_v are 0",
        ),
        readings=(
            Reading("equality, with C_0 as printed", Verdict.REFUTED),
            Reading("equality, with T C_0 read as the true gap A", Verdict.REFUTED),
            Reading("equality up to a constant factor, with C_0 as printed", Verdict.REFUTED),
        ),
    )


def _floors(vocab_size: int, steps1: int) -> tuple[float, float]:
    """The printed and the true floor at the paper's step size."""
    eta0, eta = paper_rates(vocab_size)
    norm = stage1.norm_star(vocab_size)
    c = bounds.Constants(vocab_size, 1, 1, norm, 1.0, 0.0, eta0, eta, steps1)
    return bounds.loss_floor_printed(c), bounds.loss_floor(c)


def control_huang2024_app_floor() -> Control:
    """A factor below n - 1 must not pass as an upper bound of the least loss."""
    return Control(
        "The factor |V| - 3/2 in place of |V|, which is no upper bound near x = 0.",
        Verdict.OPEN,
        check_huang2024_app_floor("n - 3/2").verdict,
    )


def fitted_rate(run: Run, first: float = 0.1, last: float = 1.0) -> float:
    """Rate at which log(L - L_star) falls between two shares of the steps, by (eta / ||W*||)."""
    rows = run.second.rows
    end = float(rows.step[-1])
    late = (rows.step >= first * end) & (rows.step <= last * end)
    slope = np.polyfit(rows.step[late].astype(float), rows.log_excess[late], 1)[0]
    return -float(slope) / bounds.loss_excess_rate(run.constants, exact=True)


def swinging_rate(steps: int) -> float:
    """Fitted rate by (eta / ||W*||) on Example 1 above the largest step size of the law."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(problem.vocab_size)[0], 2.2 * problem.norm
    return fitted_rate(train("Example 1", problem, eta0=eta0, eta=eta, steps1=900, steps=steps))


def scaled_excess(
    runs: Sequence[Run], until: float
) -> tuple[dict[str, tuple[Floats, Floats]], tuple[Floats, Floats]]:
    """log(L - L_star) against t eta / ||W*||; for the first run also with the rate of (4)."""
    curves: dict[str, tuple[Floats, Floats]] = {}
    for run in runs:
        rows, c = run.second.rows, run.constants
        times = rows.step.astype(np.float64) * bounds.loss_excess_rate(c, exact=True)
        shown = times <= until
        curves[run.name] = times[shown], rows.log_excess[shown]
    c = runs[0].constants
    times, logs = curves[runs[0].name]
    slower = bounds.loss_excess_rate(c) / bounds.loss_excess_rate(c, exact=True)
    flat: Floats = logs[0] - slower * times
    return curves, (times, flat)


def check_ours_loss_rate(
    runs: Iterable[Run], early: Sequence[Run] = (), factor: float = 1.0, **parameters: int
) -> Check:
    """The fitted rate of the loss excess over the last decade of steps is eta / ||W_kq_star||.

    Args:
        runs: long runs, which are judged if eta < 2 ||W_kq_star||.
        early: runs of about 900 steps, whose rates from step 200 on are told beside.
        factor: multiplies the claimed rate.
        parameters: what repeats the runs.
    """
    label, unit = "ours-loss-rate", "runs"
    many = [run for run in runs if run.constants.eta < 2 * run.problem.norm]
    rates = {run.name: fitted_rate(run) / factor for run in many}
    if not rates:
        return Check(label, Verdict.OPEN, 0, unit, "There is no run.")
    name = max(rates, key=lambda one: abs(rates[one] - 1))
    numbers = {"least": f"{min(rates.values()):.4f}", "most": f"{max(rates.values()):.4f}"}
    if early:
        soon = [fitted_rate(run, first=2 / 9) for run in early]
        numbers |= {"early_least": f"{min(soon):.2f}", "early_most": f"{max(soon):.2f}"}
    steps = f"{min(int(run.second.rows.step[-1]) for run in many)}"
    if abs(rates[name] - 1) > RATE_TOLERANCE:
        return Check(
            label,
            Verdict.REFUTED,
            len(many),
            unit,
            f"A fitted rate is off by more than {RATE_TOLERANCE:.0%}.",
            witness=f"{name}: {rates[name]:.4f} times the claimed rate",
            numbers=numbers,
            parameters=parameters,
        )
    return Check(
        label,
        Verdict.CONSISTENT,
        len(many),
        unit,
        f"Over the last decade of {steps} steps the fitted rates are {numbers['least']} to "
        f"{numbers['most']} times eta/||W_kq*||.",
        slack=f"{abs(rates[name] - 1):.2g} ({name})",
        numbers=numbers,
        parameters=parameters,
    )


def control_ours_loss_rate(runs: Sequence[Run]) -> Control:
    """A rate that is five percent too large must be noticed."""
    return Control(
        "A claimed rate that is five percent too large.",
        Verdict.REFUTED,
        check_ours_loss_rate(runs, factor=1.05).verdict,
    )
