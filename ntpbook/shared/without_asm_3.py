"""Optimal attention can decrease where Assumption 3 fails: an exact example."""

from __future__ import annotations

import math
from fractions import Fraction

from ntpcore.data.dataset import Dataset, from_samples
from ntpcore.data.order import analyse
from ntpcore.huang2024 import bounds, stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Verdict


def outnumbered_data(outnumbered: bool = True) -> Dataset:
    """n: a -> b -> c -> a; "b b a" and a sentence of one b, four a and five c, both followed by c.

    Args:
        outnumbered: whether a and c outnumber b in the second sentence; else each occurs once.
    """
    singles = [("a", "b"), ("b", "c"), ("c", "a")]
    long = "b a a a c c c c c a" if outnumbered else "b c a"
    rows = [*singles, (["b", "b", "a"], "c"), (long.split(), "c")]
    return from_samples(rows, "without Assumption 3" if outnumbered else "one of each")


def outnumbered_run(eta: float = 0.01, steps: int = 2000) -> Run:
    """Stage 2 on these data with A = 60 log 2."""
    problem, gap = from_dataset(outnumbered_data()), 60 * math.log(2)
    eta0 = gap * stage1.norm_star(problem.vocab_size) / 100
    constants = bounds.constants(problem, eta0, eta, 100)
    second = training.run(problem, steps, eta, gap, record=range(steps + 1))
    return Run("data without Assumption 3", problem, constants, second)


def first_moves(data: Dataset, exponent: int = 60) -> dict[tuple[str, ...], Fraction]:
    """How fast the log-odds of the optimal token of each sentence change at W = 0, exactly.

    The derivative along minus the gradient, times a positive constant, for the gap
    A = exponent log 2. With this gap all probabilities are rational: a token of mass m has the
    logit A m, whose exponential is the integer 2^(exponent m).

    Raises:
        ValueError: exponent times a mass is not an integer.
    """
    structure = analyse(data)
    gradient: dict[tuple[str, str], Fraction] = {}
    masses: dict[tuple[str, ...], tuple[dict[str, Fraction], str]] = {}
    for sample in structure.data.samples():
        words = sample.sentence
        m = {x: Fraction(words.count(x), len(words)) for x in dict.fromkeys(words)}
        powers = {x: exponent * share for x, share in m.items()}
        if any(power.denominator != 1 for power in powers.values()):
            raise ValueError(f"exponent {exponent} is no multiple of the length of {words}")
        total = sum(2 ** int(power) for power in powers.values())
        total += len(data.vocabulary) - len(m)
        best = next(x for x in m if structure.collocation[x] == sample.next_token)
        error = {x: Fraction(2 ** int(powers[x]), total) - (x == best) for x in m}
        mean = sum(m[x] * error[x] for x in m)
        for x in m:  # equation (6), an entry of the column of the query
            entry = (words[-1], x)
            move = sample.count * m[x] * (error[x] - mean)
            gradient[entry] = gradient.get(entry, Fraction(0)) + move
        if len(m) > 1:
            masses[words] = m, best
    return {
        words: sum(
            (m[x] / (1 - m[best]) * gradient[words[-1], x] for x in m if x != best),
            -gradient[words[-1], best],
        )
        for words, (m, best) in masses.items()
    }


def check_ours_lem_5_needs_asm_3(outnumbered: bool = True) -> Check:
    """Without Assumption 3 the first step lowers the attention on an optimal token, exactly."""
    label, unit = "ours-lem-5-needs-asm-3", "exact data sets"
    data = outnumbered_data(outnumbered)
    moves = first_moves(data)
    words = min(moves, key=lambda sentence: moves[sentence])
    if moves[words] >= 0:
        return Check(
            label,
            Verdict.REFUTED,
            1,
            unit,
            "On this example no optimal attention decreases at the start.",
            witness=f"least derivative {moves[words]}",
        )
    rows = outnumbered_run().second.rows
    falling = rows.step[rows.change < 0]
    return Check(
        label,
        Verdict.PROVED,
        1,
        unit,
        f"At W = 0, with A = 60 log 2, the log-odds of the optimal token of "
        f'"{" ".join(words)}" have a derivative along the step that is an exact negative '
        "fraction: for every small enough step size the first step lowers them. In floating "
        f"point, with eta = 0.01, they go on falling for {int(falling.max())} steps.",
        numbers={
            "sentence": " ".join(words),
            "derivative": f"{float(moves[words]):.3g}",
            "last": str(int(falling.max())),
            "lengths": " and ".join(str(len(sentence)) for sentence in moves),
            "change": f"{-float(rows.change.min()):.1e}",
        },
        by_hand=("a smooth function with a negative derivative falls at first",),
    )


def control_ours_lem_5_needs_asm_3() -> Control:
    """Where nobody is outnumbered, the exact derivatives are not negative."""
    return Control(
        "The same order, with each token once in the second sentence, so that Assumption 3 holds.",
        Verdict.REFUTED,
        check_ours_lem_5_needs_asm_3(outnumbered=False).verdict,
    )
