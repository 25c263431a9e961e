"""Checks of the coupled flow: its reduction, Figure 2, and how it snaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared.judge import Case, judge, relative_error
from ntpcore.tian2023 import coupled, decoder
from ntpcore.tian2023.coupled import Path, Symmetric
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]

# The reduction

SHAPES = (
    Symmetric(2, 4, (1.0,), (1.0,)),
    Symmetric(3, 12, (0.5, 0.2), (1.0, 0.3), 1),
    Symmetric(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2),
    Symmetric(6, 60, (2.0,), (1.0, 0.1), 3),
    coupled.syn(2, 2),
)


def check_ours_coupled_flow(seed: int = 7, queries: int | None = None) -> Check:
    """The reduced slopes are those of the dense model, at random symmetric states and along runs.

    Args:
        seed: of the states.
        queries: number of queries that the reduction is told, if not the right one.
    """
    rng = np.random.default_rng(seed)

    def cases() -> Iterator[Case]:
        for data in SHAPES:
            told = data if queries is None else replace(data, queries=queries)
            for scale in (0.1, 1.0, 3.0):
                state = scale * rng.normal(size=len(coupled.zero_state(data)))
                yield Case(
                    f"{data}, random state of size {scale}", -_slope_error(data, told, state)
                )
            yield Case(f"{data}, 300 steps", -_run_error(data, told))

    return judge(
        "ours-coupled-flow",
        cases(),
        unit="states and runs",
        claim="The reduced flow is the dense one",
        tolerance=1e-13,  # sums over up to 60 tokens and 300 steps
        numbers={"rows": str(len(coupled.zero_state(coupled.one_of_each(2, 5, 0.5))))},
        parameters={"seed": seed},
        by_hand=(
            "with equal logits in all queries, permuting the classes with their distinct tokens "
            "commutes with the expected gradient in Y, and every query adds up equally many equal "
            "terms, so that states of the stated form stay of that form",
        ),
    )


def _slope_error(data: Symmetric, told: Symmetric, state: Floats) -> float:
    """Largest difference of the slopes of Y and z, relative to the largest slope."""
    p = np.concatenate(data.probabilities)
    f, g, out = np.empty(len(p)), np.empty(len(p)), np.empty(len(state))
    sizes = (len(data.common), data.K, data.M, told.queries, 0.7, 0.3)
    coupled.fill_slopes(state, p, *sizes, False, f, g, out)
    dense = coupled.dense_slopes(data.classes(), *coupled.dense(data, state), 0.7, 0.3)
    reduced = coupled.dense(data, out)
    size = max(float(np.abs(part).max()) for part in dense)
    return max(float(np.abs(a - b).max()) for a, b in zip(dense, reduced, strict=True)) / size


def _run_error(data: Symmetric, told: Symmetric) -> float:
    """The same for the states after 300 steps from zero."""
    classes = data.classes()
    Y, z = np.zeros((data.M, data.M)), np.zeros((data.queries, data.M))
    for _ in range(300):
        change_Y, change_z = coupled.dense_slopes(classes, Y, z, 2.0, 1.0)
        Y += change_Y
        z += change_z
    run = coupled.descend(told, 2.0, 1.0, [300])
    found = coupled.dense(data, run.rows[0])
    return max(
        float(np.abs(Y - found[0]).max()) / float(np.abs(Y).max()),
        float(np.abs(z - found[1]).max()) / float(np.abs(z).max()),
    )


def control_ours_coupled_flow(seed: int = 7) -> Control:
    """One query for data with several."""
    return Control(
        "The reduction told of one query for data that have two or three.",
        Verdict.REFUTED,
        check_ours_coupled_flow(seed, queries=1).verdict,
    )


# Snapping of the coupled flow

TIMES = np.geomspace(0.1, 1e8, 181)  # twenty points in each decade


def paths(
    ratios: Sequence[float] = (1.0, 2.0, 10.0, 100.0), K: int = 10, M: int = 1000
) -> list[Path]:
    """The coupled flow of classes with one common and one distinct token, eta_Z = 1.

    The last one is gradient descent, 1e7 steps at the ratio 10.
    """
    data = coupled.one_of_each(K, M, 0.5)
    runs = [coupled.flow(data, r, 1.0, TIMES) for r in ratios]
    steps = np.unique(np.geomspace(1, 1e7, 141).astype(np.int64))
    return [*runs, coupled.descend(data, 10.0, 1.0, steps.tolist())]


def theorem_1_xi(run: Path) -> Floats:
    """xi of Theorem 1 at theta = sigma = 0 for the F of each moment of a run (modified update)."""
    K, M, e = run.data.K, run.data.M, run.epsilon
    gamma = decoder.speed(M, K, run.eta_y, run.t)
    q1 = M / (M - 1)
    return np.asarray(gamma * q1 * (K - 1) * e * (e + 1 / (M - 1)) / ((1 - e) * (1 + (K - 1) * e)))


def snapping_slack(t: Floats, z: Floats, onset: float, M: int, tau: Floats) -> dict[str, float]:
    """Slacks of: rises; slows on the clock ln t from 3 t_0 on; far less on ln ln(M tau).

    The last two compare the slopes at 1e4 and 1e7: the one must fall by 30 per cent at least, the
    other by 20 per cent at most.
    """
    clock = np.gradient(z, np.log(t))
    inner = np.gradient(z, np.log(np.log(M * tau)))
    late = clock[(t >= 3 * onset) & (t <= 1e7)]
    a, b = int(np.argmin(np.abs(t - 1e4))), int(np.argmin(np.abs(t - 1e7)))
    return {
        "rises": float(np.diff(z).min()),
        "slows": float(-np.diff(late).max()),
        "falls": float(0.7 - clock[b] / clock[a]),
        "flat": float(inner[b] / inner[a] - 0.8),
    }


def check_ours_coupled_snapping(
    runs: Sequence[Path], gains: Mapping[str, Floats] | None = None
) -> Check:
    """The coupled dynamics rise, slow down after t_0, and go on about like ln ln t.

    Args:
        runs: flow or descent at several ratios, one common and one distinct token, eta_Z = 1.
        gains: under "z", the logit to be judged in the place of that of the distinct token.
    """
    rows = []
    for run in runs:
        onset = decoder.transition(run.data.M, run.data.K, run.eta_y)
        z = run.z_distinct[:, 0] if gains is None else gains["z"]
        moving = run.t >= 1.0
        tau = run.eta_y * run.t[moving] / run.data.K
        found = snapping_slack(run.t[moving], z[moving], onset, run.data.M, tau)
        where = f"K = {run.data.K}, M = {run.data.M}, eta_Y/eta_Z = {run.eta_y:g}"
        rows += [Case(f"{where}, {name}", slack) for name, slack in found.items()]
        balance = run.z_common[:, 0] + run.data.K * run.z_distinct[:, 0]
        rows.append(Case(f"{where}, z_c = -K z_l", 1e-9 - float(np.abs(balance).max())))
        rows.append(Case(f"{where}, xi > 0", float(run.xi.min())))
    far = [(run.xi / theorem_1_xi(run))[run.t >= 1.0] for run in runs]
    numbers = {
        "low": f"{min(float(x.min()) for x in far):.4f}",
        "high": f"{max(float(x.max()) for x in far):.2f}",
        **{f"end_{run.eta_y:g}": f"{float(run.z_distinct[-1, 0]):.3f}" for run in runs[:-1]},
        **_slope_numbers(runs),
        "descent": f"{descent_error(runs[-1]):.4f}",
        "steps": f"{runs[-1].t[-1]:.0f}",
    }
    if gains is None:
        numbers, back = _reversal(numbers)
        rows.append(Case("reversal with g, none without memory", back))
        speeding = _small_correlation()
        numbers["speeding"] = f"{speeding:.2f}"
        rows.append(Case("no slow-down on the clock ln t for epsilon_0 = 0.1", speeding - 1))
    return judge(
        "ours-coupled-snapping",
        rows,
        unit="properties of runs",
        claim="The coupled flow scans and snaps",
        tolerance=0.0,  # every property has its own room
        numbers=numbers,
    )


def descent_error(run: Path) -> float:
    """Relative difference of the gain at the last step, between descent and flow."""
    flow = coupled.flow(run.data, run.eta_y, run.eta_z, run.t[-1:])
    return relative_error(float(run.z_distinct[-1, 0]), float(flow.z_distinct[-1, 0]))


def _small_correlation() -> float:
    """Slope on the clock ln t at 1e7 by that at 1e4, for epsilon_0 = 0.1 and eta_Y = 10 eta_Z."""
    run = coupled.flow(coupled.one_of_each(10, 1000, 0.1), 10.0, 1.0, TIMES)
    clock = np.gradient(run.z_distinct[:, 0], np.log(run.t))
    a, b = (int(np.argmin(np.abs(run.t - when))) for when in (1e4, 1e7))
    return float(clock[b] / clock[a])


def _slope_numbers(runs: Sequence[Path]) -> dict[str, str]:
    """Slopes on both clocks of the run with ratio 10, at 1e4 and 1e7."""
    for run in runs:
        if run.eta_y == 10.0:
            z, t = run.z_distinct[:, 0], run.t
            z, t = z[t > 1], t[t > 1]
            clock = np.gradient(z, np.log(t))
            nested = np.gradient(z, np.log(np.log(run.data.M * run.eta_y * t / run.data.K)))
            at = [int(np.argmin(np.abs(t - when))) for when in (1e4, 1e7)]
            return {
                "ln_early": f"{clock[at[0]]:.4f}",
                "ln_late": f"{clock[at[1]]:.4f}",
                "lnln_early": f"{nested[at[0]]:.4f}",
                "lnln_late": f"{nested[at[1]]:.4f}",
            }
    return {}


def reversal(ratio: float, forget: bool) -> Path:
    """The coupled flow of the paper's classes with one query and two next tokens, eta_Z = 1."""
    return coupled.flow(coupled.syn(1, 2), ratio, 1.0, TIMES, forget, 1e-9)


def rise(run: Path) -> float:
    """By how much the entropy of the distinct tokens ends above its least value."""
    entropy = run.entropy
    return float(entropy[-1] - entropy.min())


def _reversal(numbers: dict[str, str]) -> tuple[dict[str, str], float]:
    """Entropy rises again for small ratios, never if g is projected; slack of all this."""
    found = {
        (r, forget): reversal(r, forget) for r in (1.0, 2.0, 100.0) for forget in (False, True)
    }
    back = {key: rise(run) for key, run in found.items()}
    positive = min(float(run.xi.min()) for run in found.values())
    slack = min(
        back[1.0, False] - 1e-3,
        back[2.0, False] - 1e-3,
        1e-9 - back[100.0, False],
        *(1e-9 - back[r, True] for r in (1.0, 2.0, 100.0)),
        positive,
    )
    run = found[1.0, False]
    f, g = run.gradients
    C = len(run.data.common)
    kappa = g[:, C:] / f[:, C:]
    least = int(np.argmin(run.entropy))
    return {
        **numbers,
        "rise_1": f"{back[1.0, False]:.4f}",
        "rise_2": f"{back[2.0, False]:.4f}",
        "least_at": f"{run.t[least]:.0f}",
        "weak_over_strong": f"{kappa[least, 0] / kappa[least, -1]:.3f}",
    }, slack


def control_ours_coupled_snapping(runs: Sequence[Path]) -> Control:
    """A gain that goes on like ln t."""
    t = runs[0].t
    return Control(
        "A gain of 0.01 ln(1 + t), which never slows down on the clock ln t.",
        Verdict.REFUTED,
        check_ours_coupled_snapping(runs[:1], {"z": 0.01 * np.log1p(t)}).verdict,
    )


# Figure 2


def stages(run: Path, swap: bool = False) -> dict[str, float]:
    """Slacks of the four stages of Figure 2 in one run, and how far they overlap.

    Args:
        run: classes with several common and distinct tokens.
        swap: take common tokens for distinct ones and the other way round.
    """
    C = len(run.data.common)
    c = run.scores
    mass = c[:, C:].sum(axis=1) if swap else c[:, :C].sum(axis=1)
    top, log_t = c[:, -1], np.log(run.t)
    p = np.concatenate(run.data.probabilities)
    loss = -np.gradient(mass, log_t)
    gain = np.gradient(np.log(c[:, -1] / c[:, C]), log_t)
    peak = int(np.argmax(gain))
    return {
        "start": 1e-2 - float(np.abs(c[0] - p).max()),
        "suppression": float(-np.diff(mass).max()),
        "winner": float(np.diff(top).min()),
        "frozen": 0.5 - float(gain[-1] / gain[peak]),
        "nobody takes all": 0.5 - float(top[-1]),
        "loss_at_peak": float(loss[peak] / loss.max()),
        "late": float(gain[-1] / gain[peak]),
        "top": float(top[-1]),
    }


def check_tian2023_fig_2(swap: bool = False) -> Check:
    """The four stages of the schematic in the coupled flow, and whether they follow each other.

    Args:
        swap: see `stages`.
    """
    data = [(coupled.syn(1, 2), r) for r in (1.0, 10.0)] + [(coupled.syn(5, 2), 10.0)]
    runs = [coupled.flow(d, r, 1.0, TIMES, False, 1e-9) for d, r in data]
    rows, overlap, late, top = [], [], [], []
    for run in runs:
        found = stages(run, swap)
        overlap.append(found.pop("loss_at_peak"))
        late.append(found.pop("late"))
        top.append(found.pop("top"))
        where = f"K = {run.data.K}, M = {run.data.M}, eta_Y/eta_Z = {run.eta_y:g}"
        rows += [Case(f"{where}, {name}", slack) for name, slack in found.items()]
    check = judge(
        "tian2023-fig-2",
        rows,
        unit="properties of runs",
        claim="Uniform start, falling common tokens, a rising strongest distinct token, slow-down",
        tolerance=0.0,  # every property has its own room
        numbers={
            "overlap": f"{min(overlap):.2f}",
            "late": f"{max(late):.2f}",
            "top": f"{max(top):.2f}",
        },
    )
    if check.verdict is Verdict.REFUTED:
        return check
    return replace(
        check,
        readings=(
            Reading(
                "All four things happen, from a start that attends by frequency to a state that "
                "moves slowly.",
                Verdict.CONSISTENT,
            ),
            Reading(
                "One stage after the other: when the distinct tokens part fastest, the common ones "
                f"still lose at {min(overlap):.2f} of their highest speed or more.",
                Verdict.REFUTED if min(overlap) > 0.5 else Verdict.CONSISTENT,
            ),
        ),
    )


def control_tian2023_fig_2() -> Control:
    """Common and distinct tokens swapped."""
    return Control(
        "Distinct tokens taken for common ones.",
        Verdict.REFUTED,
        check_tian2023_fig_2(swap=True).verdict,
    )
