"""Run some checks of the book, small, and print their verdicts: for copies with a planted error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np

from ntpbook.huang2024.a_gradients import gradients
from ntpbook.huang2024.s3_setup import checks as setup
from ntpbook.huang2024.s4_algorithm import algorithm
from ntpbook.huang2024.s4_realizable import realizable
from ntpbook.huang2024.s5_stage2 import stage2
from ntpbook.huang2024.s5_stage2_lemmas import alignment
from ntpbook.huang2024.s5_stage2_lemmas import checks as lemmas
from ntpbook.huang2024.s6_max_margin import max_margin
from ntpcore.data import generate
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import runs
from ntpcore.verdicts.claims import Check


def orders() -> list:
    """Every order of up to three optimal and three non-optimal tokens."""
    return list(max_margin.small_orders(3, 3, max_pairs=9))


def data() -> list:
    """Example 1 and a few random data sets."""
    rng = np.random.default_rng(7)
    return [example_1()] + [
        generate.random_dataset(rng, 6, 12, 4, prefix_closed=i % 2 == 0) for i in range(4)
    ]


def trained() -> list:
    """A few short runs, at the paper's step size and a large one."""
    return runs.collection(7, 1, 60, factors=(1, 200))


CHECKS: dict[str, Callable[[], Check]] = {
    "huang2024-ex-1": lambda: realizable.check_huang2024_ex_1(example_1()),
    "huang2024-asm-3": lambda: realizable.check_huang2024_asm_3(
        example_1(), realizable.outnumbered()
    ),
    "huang2024-prop-2": lambda: max_margin.check_huang2024_prop_2(
        [one for one in orders() if max_margin.has_data(one)]
    ),
    "huang2024-prop-2-corrected": lambda: max_margin.check_huang2024_prop_2_corrected(orders()),
    "ours-block-form": lambda: max_margin.check_ours_block_form(orders()),
    "huang2024-eq-1": lambda: setup.check_huang2024_eq_1(seed=7, trials=5),
    "huang2024-eq-3": lambda: max_margin.check_huang2024_eq_3(data()),
    "huang2024-eq-6": lambda: gradients.check_huang2024_eq_6(7, 1),
    "huang2024-eq-9": lambda: lemmas.check_huang2024_eq_9(sets=2),
    "huang2024-eq-10": lambda: lemmas.check_huang2024_eq_10(sets=4),
    "huang2024-eq-15": lambda: max_margin.check_huang2024_eq_15(data()),
    "huang2024-alg-1": lambda: algorithm.check_huang2024_alg_1(7, 5),
    "huang2024-lem-5": lambda: lemmas.check_huang2024_lem_5.judge(trained()),
    "huang2024-lem-6": lambda: lemmas.check_huang2024_lem_6.judge(trained()),
    "huang2024-lem-7-corrected": lambda: alignment.check_huang2024_lem_7_corrected.judge(
        [*trained(), alignment.rarest(4).run()]
    ),
    "huang2024-thm-1-corrected": lambda: stage2.check_huang2024_thm_1_corrected(
        [stage2.rare_counterexample()]
    ),
}


def verdict(label: str) -> str:
    """The verdict of a check, or the error in its place, which fails a build."""
    try:
        return CHECKS[label]().verdict.value
    except Exception as error:  # whatever a planted error leads to
        return f"error: {type(error).__name__}: {error}"


if __name__ == "__main__":
    print(json.dumps({label: verdict(label) for label in sys.argv[1:]}))
