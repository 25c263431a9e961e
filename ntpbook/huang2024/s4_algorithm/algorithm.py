"""Check of the page on Algorithm 1: two-stage normalized gradient descent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import digits
from ntpbook.shared.digits import Numbers
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, InputError, from_samples
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset
from ntpcore.huang2024.runs import paper_rates
from ntpcore.verdicts.claims import Check, Control, Verdict

RUNS = "runs of both stages"
# Rounding of some hundred float steps; the literal run has sixty digits.
TOLERANCE = 1e-12
FASTER = 4  # times the paper's step sizes, so that few slow steps lead far


class Case(NamedTuple):
    """Data, and an embedding (d, |V|) with orthonormal columns."""

    name: str
    data: Dataset
    E: Numbers


def cases(seed: int) -> Iterator[Case]:
    """Example 1, prefix-closed and other random data, with one-hot and with rotated tokens."""
    rng = np.random.default_rng(seed)
    for data in (
        example_1(),
        generate.random_dataset(rng, 5, 4, 3, prefix_closed=True),
        generate.random_dataset(rng, 4, 5, 3, prefix_closed=False),
    ):
        size = len(data.vocabulary)
        yield Case(f"{data.name}, one-hot tokens", data, digits.exact(np.eye(size)))
        yield Case(f"{data.name}, rotated tokens", data, digits.rotation(rng, size))


def check_huang2024_alg_1(seed: int, steps: int, missed: int = 0) -> Check:
    """The library's two stages are Algorithm 1; where it is undefined, both say so.

    Args:
        seed: of the random data and rotations.
        steps: T = T_1.
        missed: steps of stage 1 that the library leaves out, none but for a planted error.
    """
    label = "huang2024-alg-1"
    worst, where, tried = 0.0, "", 0
    for case in cases(seed):
        tried += 1
        far = max(distances(case, steps, missed))
        if far >= worst:
            worst, where = far, case.name
    faults = undefined_faults()
    if worst > TOLERANCE or faults:
        found = [f"{where}: relative distance {worst:.1e}", *faults]
        evidence = "The library and the algorithm, run literally, differ."
        witness = found[0] if worst > TOLERANCE else faults[0]
        return Check(label, Verdict.REFUTED, tried, RUNS, evidence, witness=witness)
    return Check(
        label,
        Verdict.CONSISTENT,
        tried,
        RUNS,
        f"On {tried} runs of {steps} steps in each stage, W_ov and W_kq of the literal algorithm "
        f"and of the library agree to {worst:.0e} relatively. The algorithm divides zero by zero "
        "on the three smallest inputs without a direction, and the library refuses them.",
        slack=f"{worst:.0e} of {TOLERANCE:.0e} allowed ({where})",
        numbers={"worst": f"{worst:.0e}", "tried": str(tried), "steps": str(steps)},
        parameters={"seed": seed, "steps": steps},
        by_hand=("the gradient of stage 2 vanishes nowhere if two tokens share a sentence",),
    )


def control_huang2024_alg_1(seed: int, steps: int) -> Control:
    """One step of stage 1 left out changes A by one part in T."""
    return Control(
        "The library's second stage started one step of stage 1 too early.",
        Verdict.REFUTED,
        check_huang2024_alg_1(seed, steps, missed=1).verdict,
    )


def distances(case: Case, steps: int, missed: int) -> tuple[float, float, float]:
    """Relative distances of the library from a literal run: W_ov twice, W_kq.

    W_ov comes from the iteration and from the exact law. A literal W_ov, W_kq become W_ov E and
    E^T W_kq E in the coordinates of the tokens.
    """
    problem = from_dataset(case.data)
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
    return (
        digits.relative_distance(digits.exact(iterated), W_ov),
        digits.relative_distance(digits.exact(law), W_ov),
        digits.relative_distance(digits.exact(trained), W_kq),
    )


def undefined() -> dict[str, tuple[Dataset, tuple[int, int]]]:
    """The smallest inputs on which Algorithm 1 divides by a norm that is zero, with T and T_1."""
    return {
        "one token, line 4": (from_samples([(["a"], "a")]), (1, 0)),
        "no sentence with two tokens, line 7": (
            from_samples([(["a"], "b"), (["b"], "a")]),
            (1, 1),
        ),
        "T = 0, line 7": (example_1(), (0, 1)),
    }


def undefined_faults() -> list[str]:
    """Where the literal algorithm does not divide by zero, or the library does not refuse."""
    faults = []
    for name, (data, steps) in undefined().items():
        if is_defined(data, steps):
            faults.append(f"{name}: the literal algorithm runs")
        try:
            problem = from_dataset(data)
            training.run(problem, steps[1], 0.1, steps[0] * 0.1)
        except InputError:
            continue
        faults.append(f"{name}: the library runs")
    return faults


def is_defined(data: Dataset, steps: tuple[int, int]) -> bool:
    """Whether Algorithm 1, run literally, never divides by zero."""
    following = {s.sentence[0]: s.next_token for s in data.samples() if len(s.sentence) == 1}
    numbers = [data.vocabulary.index(following[token]) for token in data.vocabulary]
    E = digits.exact(np.eye(len(numbers)))
    try:
        W_ov = digits.train_ov(numbers, E, 0.1, steps[0])
        digits.train_kq(data, W_ov, E, 0.1, steps[1])
    except ZeroDivisionError:
        return False
    return True


def literal_losses(recorded: Sequence[int], T: int) -> tuple[list[float], list[float]]:
    """Losses of both stages on Example 1 at the recorded steps, from the literal algorithm.

    Args:
        recorded: the steps, of either stage.
        T: steps of stage 1 before stage 2.

    Returns:
        L_0 of stage 1 and L of stage 2.
    """
    data = example_1()
    following = from_dataset(data).following.tolist()
    E, (eta0, eta) = digits.exact(np.eye(4)), paper_rates(4)
    first, second, trained = [], [], digits.train_ov(following, E, eta0, T)
    for step in recorded:
        W_ov = digits.train_ov(following, E, eta0, step)
        first.append(float(digits.stage1_loss(following, W_ov, E)))
        W_kq = digits.train_kq(data, trained, E, eta, step)
        second.append(float(digits.loss(data, trained, W_kq, E)))
    return first, second


def library_losses(
    recorded: Sequence[int], T: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """The same losses from the library, and the floor of the second one."""
    problem = from_dataset(example_1())
    eta0, eta = paper_rates(4)
    gap = stage1.gap(4, T, eta0)
    first = np.exp([stage1.log_loss(4, step, eta0) for step in recorded])
    second = training.run(problem, max(recorded), eta, gap, record=recorded).rows.loss
    return first, second, training.floor(4, gap)
