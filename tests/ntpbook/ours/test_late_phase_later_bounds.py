"""What `ntpcore train` tells of a run on data outside of Theorem B."""

from __future__ import annotations

from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.huang2024 import later_bounds


def test_without_assumption_3_theory_says_that_it_is_silent() -> None:
    rare = outnumbered_run()
    silent = later_bounds.sentences(rare.problem, rare.constants, rare.second.state.weights, 9, 1.0)
    assert silent == ["Theorem B does not apply to these data: Assumption 3 fails"]
