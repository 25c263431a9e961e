"""Check of the page on the setup: equation (1)."""

from __future__ import annotations

import numpy as np

from ntpcore import dataset, transformer
from ntpcore.claims import Check, Control, Verdict

REPEATED = ("S V O P", "S V O P", "S V O P", "V O P", "O P P", "P S V")


def check_huang2024_eq_1(seed: int, trials: int, weighted: bool = True) -> Check:
    """Equation (1) is the mean cross-entropy, sorted by distinct sentence.

    Symbolically for one sample, with Z for the sum of the exponentials, whatever its size; and
    numerically on Example 1 with repeated sentences, at random parameters of either matrix.
    """
    import sympy as sp

    label, unit = "huang2024-eq-1", "random pairs of matrices"
    t, z = sp.symbols("t", real=True), sp.symbols("Z", positive=True)
    identity = sp.simplify(sp.expand_log(-sp.log(sp.exp(t) / z)) - (sp.log(z) - t))
    worst = 0.0
    rng = np.random.default_rng(seed)
    data = dataset.from_sentences(REPEATED, "Example 1 with repetitions")
    size = len(data.vocabulary)
    for _ in range(trials):
        W_ov, W_kq = rng.normal(size=(2, size, size)) * 2
        direct = transformer.cross_entropy(data, W_ov, W_kq, np.eye(size))
        sorted_ = transformer.loss(data, W_ov, W_kq, np.eye(size), weighted=weighted)
        worst = max(worst, abs(sorted_ - direct) / direct)
    # 1e-12: some thirty terms of order one, each rounded a few times at 2.2e-16
    if identity != 0 or worst > 1e-12:
        return Check(
            label,
            Verdict.REFUTED,
            trials,
            unit,
            "The two forms of the loss differ.",
            witness=f"relative difference {worst:.1e}; symbolic difference {identity}",
        )
    return Check(
        label,
        Verdict.PROVED,
        trials,
        unit,
        f"-log(exp(t)/Z) = log Z - t holds identically, for any number of tokens; on {trials} "
        f"random pairs of matrices both losses agree to {worst:.0e} relatively.",
        parameters={"seed": seed, "trials": trials},
        numbers={"worst": f"{worst:.0e}", "trials": str(trials)},
        by_hand=("equal samples are collected, each with its frequency",),
    )


def control_huang2024_eq_1(seed: int, trials: int) -> Control:
    """Equal weights on data with repeated sentences must be noticed."""
    return Control(
        "Frequencies left out: every distinct sentence counts alike, although one repeats.",
        Verdict.REFUTED,
        check_huang2024_eq_1(seed, trials, weighted=False).verdict,
    )
