"""Tests of the page beyond the assumptions: both layers in plain numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from every_check import sound

from ntpbook.ours.beyond import checks, layers, runs
from ntpbook.ours.beyond.layers import KQ, OV, Optimiser
from ntpcore.data.dataset import from_sentences
from ntpcore.data.examples import example_1
from ntpcore.huang2024 import stage1, training
from ntpcore.huang2024.problem import from_dataset


def loss_of(data: layers.Sentences, W_ov: np.ndarray, W_kq: np.ndarray) -> float:
    """The loss (1), token by token as it is printed."""
    total = 0.0
    for counts, q, y, share in zip(
        np.exp(data.log_counts).round(), data.query, data.following, data.share, strict=True
    ):
        tokens = [x for x in range(len(counts)) for _ in range(int(counts[x]))]
        weights = np.array([math.exp(W_kq[x, q]) for x in tokens])
        read = sum(
            w * np.eye(len(counts))[x] for w, x in zip(weights / weights.sum(), tokens, strict=True)
        )
        logits = W_ov @ read
        total -= share * (logits[y] - math.log(sum(map(math.exp, logits))))
    return total


@pytest.mark.parametrize("layer", [OV, KQ])
def test_ours_beyond_assumptions_gradients_agree_with_differences_of_the_printed_loss(layer):
    problem = from_dataset(example_1())
    data = layers.sentences(example_1(), problem)
    rng = np.random.default_rng(3)
    size = problem.vocab_size
    W = {OV: rng.normal(size=(size, size)), KQ: rng.normal(size=(size, size))}
    found = layers.slopes(data, W[OV], W[KQ])
    assert found.loss == pytest.approx(loss_of(data, W[OV], W[KQ]), rel=1e-12)
    for place in np.ndindex(size, size):
        sides = []
        for h in (1e-6, -1e-6):
            moved = {name: matrix.copy() for name, matrix in W.items()}
            moved[layer][place] += h
            sides.append(loss_of(data, moved[OV], moved[KQ]))
        assert found.of[layer][place] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-8)


def test_ours_beyond_assumptions_the_paper_s_own_run_is_that_of_the_library():
    problem = from_dataset(example_1())
    one = runs.turned("Example 1", example_1(), runs.AS_PRINTED, 7)
    gap = stage1.iterate(problem.following, runs.STEPS_1, 0.1, record=[runs.STEPS_1])[0]
    fast = training.run(problem, 1000, 0.025, float(gap.least_gap[-1]))
    plain = one.run.W_kq[one.run.step.index(1000)]
    at = plain[problem.entry_token, problem.entry_query]
    assert at == pytest.approx(fast.state.weights, rel=1e-7)


def test_ours_beyond_assumptions_the_exponent_is_read_off_by_hand():
    one = runs.turned("Example 1", example_1(), runs.AS_PRINTED, 7)
    values = one.attention()
    first, last = one.run.step.index(500), len(values) - 1
    assert one.exponent() == pytest.approx(math.log10(values[last] / values[first]))


def test_ours_joint_training_shares_one_norm():
    problem = from_dataset(example_1())
    data = layers.sentences(example_1(), problem)
    zero = np.zeros((problem.vocab_size, problem.vocab_size))
    found = layers.train(data, (zero, zero), Optimiser("normalized", 0.5), (1, 2))
    step = [found.W_ov[1] - found.W_ov[0], found.W_kq[1] - found.W_kq[0]]
    assert math.hypot(*(np.linalg.norm(part) for part in step)) == pytest.approx(0.5)


def test_ours_adam_stage_1_three_tokens_by_hand():
    # 2 P - 1 1^T has the columns (1, -1, -1), P - 1 1^T / 3 the columns (2, -1, -1) / 3
    cosine = (2 + 1 + 1) / math.sqrt(3 * 6)
    assert cosine == pytest.approx(2 * math.sqrt(2) / 3)
    found = sound("ours-adam-stage-1")
    assert found.numbers["cosine_3"].value == pytest.approx(cosine)
    assert not all(one.holds for one in checks.one_matrix_at_every_step(0))


def test_ours_held_out_agrees_and_a_reversed_reading_does_not():
    found = sound("ours-held-out")
    assert found.numbers["decided"].value > 0


def test_ours_held_out_what_is_kept_back_has_no_share():
    data = from_sentences(["0 1 0", "1 0 1"])
    problem = from_dataset(data)
    found = layers.sentences(data, problem, kept_back=[1])
    assert found.share[1] == 0
    assert found.share.sum() == pytest.approx(1)
