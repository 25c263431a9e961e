"""Claims that depend on the data, judged on a reader's own file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ntpbook.huang2024.s6_max_margin import orders as judged
from ntpcli.sweep.columns import CLAIMS, FREQUENT
from ntpcore.data.dataset import InputError
from ntpcore.data.order import Structure
from ntpcore.exact import margin
from ntpverdicts.claims import Check, Verdict
from ntpverdicts.maths import verbatim

if TYPE_CHECKING:
    from ntpcore.huang2024.runs import Run

# Claims on the orders alone, and claims on training; the checks of these are loaded when they are
# asked for, as a plain check needs neither numpy nor numba.
JUDGES = tuple(judged.JUDGED)
TRAINED = CLAIMS

Training = tuple[int, float | None, float | None]  # steps, eta0, eta


@dataclass(frozen=True)
class Judged:
    """What was found on a data set.

    Attributes:
        checks: the judged claims.
        run: the run on which claims on training were judged; None where nothing was trained.
    """

    checks: tuple[Check, ...]
    run: Run | None = None

    @property
    def outlook(self) -> tuple[str, ...]:
        """What theory says of the run and of its continuation."""
        if self.run is None:
            return ()
        from ntpcore.huang2024 import later_bounds

        one, state = self.run, self.run.second.state
        return tuple(
            later_bounds.sentences(
                one.problem, one.constants, state.weights, state.step, one.second.gap
            )
        )


def labels(claim: str | None) -> tuple[str, ...]:
    """The labels to judge: this one, or all.

    Raises:
        InputError: there is no such claim, or data do not decide it.
    """
    if claim is None:
        return (*JUDGES, *TRAINED)
    if claim in JUDGES or claim in TRAINED:
        return (claim,)
    from ntpbook.catalogue import CATALOGUE

    known = {row.label: row for row in CATALOGUE}
    usable = ", ".join((*JUDGES, *TRAINED))
    if claim not in known:
        raise InputError(f"--claim {claim}: no such claim; data decide {usable}")
    page = known[claim].page
    where = f"see the page {page} of the book" if page else "its check is not built yet"
    raise InputError(
        f"--claim {claim}: not decided by data of yours, {where}; data decide {usable}"
    )


def judge(
    structure: Structure,
    columns: Mapping[str, margin.Solution] | None,
    chosen: Iterable[str],
    source: str,
    training: Training | None = None,
) -> Judged:
    """Judge the chosen claims on the orders of a data set, and on a run if one is asked for.

    A claim is open, with the reason, where Assumption 1 fails in a way that leaves it undefined,
    where nothing was trained that it speaks of, and where it presumes what the data do not satisfy.

    Args:
        structure: the data set, analysed.
        columns: W_kq_star by its columns; None where an assumption leaves it undefined.
        chosen: labels of the claims.
        source: how the command line names the data.
        training: how to train, if claims on training are to be judged.
    """
    chosen = tuple(chosen)
    undefined = _undefined(structure)
    exact = judged.columns_of(structure, columns) if columns else []
    run, reason = None, undefined
    if not undefined and any(label in TRAINED for label in chosen):
        run, reason = _train(structure, training)
    checks = []
    for label in chosen:
        words = ["ntpcore check", source, *_steps(label, training), f"--claim {label}"]
        if label in judged.JUDGED:
            check = _judge_orders(label, exact, undefined)
        elif run is not None:
            check = _judge_run(structure, label, run)
        else:
            check = Check(label, Verdict.OPEN, 0, "runs", reason)
        checks.append(replace(check, repeat=" ".join(words)))
    return Judged(_with_certainty(checks), run)


def _with_certainty(checks: list[Check]) -> tuple[Check, ...]:
    """The same, with how the book knows the claims on training that are proved here.

    Claims on orders are judged without the book, and their badges name what their proofs use.
    """
    asked = {
        one.label for one in checks if one.verdict is Verdict.PROVED and one.label not in JUDGES
    }
    if not asked:
        return tuple(checks)
    from ntpcli import claims

    published = claims.load(None)
    known = {label: claims.certainty_in(published, label) for label in asked}
    return tuple(
        replace(one, certainty=found.to_json()) if (found := known.get(one.label)) else one
        for one in checks
    )


def _undefined(structure: Structure) -> str:
    """Why there is nothing to judge; empty where there is."""
    if structure.orders is None:
        return "Assumption 1 fails: without a collocation there are no orders to judge."
    if any(one.confused for one in structure.orders.values()):
        return "Assumption 1 fails: tokens are confused, so the max-margin matrix is not defined."
    return ""


def _train(structure: Structure, training: Training | None) -> tuple[Run | None, str]:
    """The run to judge claims on training by, or the reason why there is none."""
    if training is None:
        return None, "Not run; add --steps 900."
    if structure.realizable.holds is not True:
        return None, "Assumption 1 fails, which every statement on training presumes."
    if not structure.orders:
        return None, "No sentence has two distinct tokens, so there is no gradient to follow."
    from ntpcli import waiting_time
    from ntpcore.huang2024 import runs
    from ntpcore.huang2024.problem import from_structure
    from ntpcore.huang2024.training import STEPS, Settings

    steps, eta0, eta = training
    problem = from_structure(structure)
    eta0, eta = Settings(steps, STEPS, eta0, eta).rates(problem.vocab_size)
    name = structure.data.name
    return runs.train(
        verbatim(name),
        problem,
        eta0=eta0,
        eta=eta,
        steps1=STEPS,
        steps=steps,
        progress=waiting_time.refuse_years(),
    ), ""


def _judge_orders(label: str, exact: list[judged.Column], undefined: str) -> Check:
    """One claim on the orders alone."""
    if not exact:
        reason = undefined or "No query orders two tokens, so there is nothing to judge."
        return Check(label, Verdict.OPEN, 0, "partial orders", reason)
    return judged.on_data(label, exact)


def _judge_run(structure: Structure, label: str, run: Run) -> Check:
    """One claim on training, by the check of its page."""
    if label in FREQUENT and structure.frequent.holds is not True:
        reason = "Assumption 3 fails on these data, and the statement presumes it."
        return Check(label, Verdict.OPEN, 0, "runs", reason)
    from ntpbook.catalogue import find_check

    found: Check = find_check(label).judge_data([run])
    return found


def _steps(label: str, training: Training | None) -> list[str]:
    """The options that repeat the run of a claim on training."""
    if label not in TRAINED:
        return []
    steps, eta0, eta = training or (900, None, None)
    rates = {"--eta0": eta0, "--eta": eta}
    given = [f"{name} {value!r}" for name, value in rates.items() if value is not None]
    return [f"--steps {steps}", *given]
