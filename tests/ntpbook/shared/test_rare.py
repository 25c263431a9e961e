"""Two sentences, one of them rare: the lemma that it stays hidden, recomputed from the loss."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from flint import ctx

from ntpbook.shared import ends, rare
from ntpcore.huang2024 import training


def sample_loss(d, gap):
    """-log T_o of a sentence of two tokens whose scores differ by d, from softmax and logits."""
    m = mp.exp(d / 2) / (mp.exp(d / 2) + mp.exp(-d / 2))
    return mp.log(1 + mp.exp(gap * (1 - m) - gap * m))


def margins(log_ratio, eta, gap, steps):
    """d_1 and d_2 by plain differentiation of the loss, at every step."""
    pi = (1 / (1 + mp.exp(-log_ratio)), 1 / (1 + mp.exp(log_ratio)))
    d = [mp.mpf(0), mp.mpf(0)]
    for _ in range(steps):
        # entries of a column are +-d/2, so that a derivative by an entry is one by d, up to sign
        force = [-p * mp.diff(lambda x: sample_loss(x, gap), x) for p, x in zip(pi, d, strict=True)]
        norm = mp.sqrt(2 * (force[0] ** 2 + force[1] ** 2))
        d = [x + 2 * eta * f / norm for x, f in zip(d, force, strict=True)]
        yield d, force


@mp.workdps(60)
@pytest.mark.parametrize(("log_ratio", "eta", "gap"), [(3, 0.5, 1.0), (12, 0.36, 4.0), (0, 1, 2)])
def test_ours_hidden_sentence_holds_at_thirty_digits(log_ratio, eta, gap):
    states = list(margins(log_ratio, mp.mpf(eta), mp.mpf(gap), 12))
    for t, (d, _) in enumerate(states, start=1):
        share = (mp.exp(gap) + 1) * mp.exp(mp.sqrt(2) * eta * t - log_ratio)
        assert d[1] <= share * min(1, d[0])
        if t < len(states):
            f_1, f_2 = states[t][1]  # the forces after t steps
            assert f_2 <= share * f_1
    problem = rare.rare_problem(log_ratio)
    run = training.run(problem, 12, eta, gap)
    w_2, _, w_1, _ = np.abs(run.state.weights)
    assert [2 * w_1, 2 * w_2] == pytest.approx([float(x) for x in states[-1][0]], rel=1e-9)


def test_the_share_is_that_of_the_log_ratio():
    # (e^A + 1) e^(sqrt(2) eta t - R) = share
    R = rare.log_ratio_that_hides(50, 0.2, gap=1.5, share=0.01)
    assert (math.exp(1.5) + 1) * math.exp(math.sqrt(2) * 10 - R) == pytest.approx(0.01)


def test_what_is_certain_of_hidden_data_is_seen_on_their_run():
    hidden = rare.Hidden(2000, 0.36, Fraction(1, 100))
    run = hidden.run()
    d_1, d_2 = rare.margins(run)
    assert 0 < d_2 <= d_1 / 100
    with ctx.workdps(30):
        norm, apart, alpha = (
            float(ends.lower(one))
            for one in (hidden.norm(), hidden.one_minus_cos(), hidden.needed_alpha())
        )
    rows = run.second.rows
    assert norm <= rows.norm[-1] <= 720
    assert 0.28 < apart <= rows.one_minus_cos[-1] <= 1 - 1 / math.sqrt(2)
    assert 0.4 < alpha <= rows.needed_alpha[-1] <= math.sqrt(2) - 1 + 1e-12
    louder = rare.rare_run(hidden.log_ratio / 4, 2000, 0.36)
    assert rare.margins(louder)[1] > rare.margins(louder)[0] / 100
