"""The training loop in plain Python against the fast one, and against high precision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plain_training import named_following, plain_prediction

from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, InputError, from_sentences, read
from ntpcore.data.order import analyse
from ntpcore.huang2024 import plain, prediction, problem, stage1, training

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
STEPS = 900
CLOSE = 1e-9  # 900 steps, each with a relative rounding error of a few 1e-16, not cancelling


def random_data(seed: int) -> Dataset:
    """A small realizable data set; every other one is prefix-closed, every third not frequent."""
    rng = np.random.default_rng(seed)
    size, sentences = int(rng.integers(3, 8)), int(rng.integers(3, 12))
    return generate.random_dataset(
        rng, size, sentences, 6, prefix_closed=seed % 2 == 0, frequent=seed % 3 > 0
    )


def fast(data: Dataset) -> tuple[problem.Problem, training.Trajectory]:
    """The same run by the fast kernel."""
    task = problem.from_dataset(data)
    eta0, eta = training.Settings().rates(task.vocab_size)
    gap = stage1.gap(task.vocab_size, STEPS, eta0)
    return task, training.run(task, STEPS, eta, gap, record=[STEPS])


@pytest.mark.parametrize("seed", range(12))
def test_the_plain_loop_agrees_with_the_fast_one(seed: int) -> None:
    data = random_data(seed)
    trained = plain.train(analyse(data))
    task, run = fast(data)
    assert trained.gap == pytest.approx(run.gap, rel=CLOSE)
    names = task.vocabulary
    keys = zip(task.entry_token.tolist(), task.entry_query.tolist(), strict=True)
    theirs = dict(
        zip([(names[x], names[q]) for x, q in keys], run.state.weights.tolist(), strict=True)
    )
    assert trained.weights.keys() == theirs.keys()
    assert trained.weights == pytest.approx(theirs, rel=CLOSE, abs=CLOSE * run.rows.norm[-1])
    for sample in list(data.samples())[:10]:
        mine = plain.predict(trained, sample.sentence)
        other = prediction.predict(task, run, sample.sentence)
        assert mine.probabilities == pytest.approx(other.probabilities, rel=CLOSE, abs=1e-300)
        assert mine.attention == pytest.approx(other.attention, rel=CLOSE)
        assert mine.roles == other.roles


def test_the_comparison_notices_one_step_too_few() -> None:
    data = random_data(0)
    _, run = fast(data)
    weights = list(plain.train(analyse(data), steps=STEPS - 1).weights.values())
    assert np.linalg.norm(weights) != pytest.approx(run.rows.norm[-1], rel=CLOSE)


@pytest.mark.parametrize("size", [2, 3, 10, 40])
def test_stage_1_agrees_with_the_dense_iteration(size: int) -> None:
    following = np.roll(np.arange(size), -1)
    rows, _ = stage1.iterate(following, 200, 0.1, record=[200])
    gap = plain.stage1(size, 200, 0.1)
    assert gap == pytest.approx(float(rows.least_gap[0]), rel=CLOSE)
    assert gap == pytest.approx(float(rows.greatest_gap[0]), rel=CLOSE)
    assert gap == pytest.approx(stage1.gap(size, 200, 0.1), rel=CLOSE)
    assert plain.stage1(size, 201, 0.1) != pytest.approx(gap, rel=CLOSE)


def test_stage_1_goes_on_where_the_loss_is_below_all_floats() -> None:
    assert plain.stage1(3, 1000, 10.0) == pytest.approx(stage1.gap(3, 1000, 10.0), rel=CLOSE)


def test_the_direction_survives_gaps_at_which_softmax_minus_one_hot_is_zero() -> None:
    data = read(str(EXAMPLES / "example1.txt"))
    trained = plain.train(analyse(data), steps=3000, eta=1.0)
    task = problem.from_dataset(data)
    run = training.run(task, 3000, 1.0, trained.gap, record=[3000], plain=True)
    assert np.linalg.norm(list(trained.weights.values())) == pytest.approx(run.rows.norm[-1])
    assert run.rows.least_log_odds[-1] > 100


def test_predictions_are_those_of_the_formulas_in_high_precision() -> None:
    data = read(str(EXAMPLES / "example1.txt"))
    trained = plain.train(analyse(data))
    following = named_following(problem.from_dataset(data))
    sentence = ("O", "S", "P")
    phi, T = plain_prediction(data.vocabulary, following, trained.weights, trained.gap, sentence)
    found = plain.predict(trained, sentence)
    assert found.attention == pytest.approx([float(p) for p in phi], rel=CLOSE)
    plainly = {v: float(p) for v, p in T.items()}
    assert found.probabilities == pytest.approx(plainly, rel=CLOSE)


def test_data_that_cannot_be_trained_on_are_refused_in_the_words_of_the_fast_loop() -> None:
    for data in (read(str(EXAMPLES / "contradiction.txt")), from_sentences(["a a"])):
        with pytest.raises(InputError) as theirs:
            problem.from_dataset(data)
        with pytest.raises(InputError) as mine:
            plain.train(analyse(data))
        assert str(mine.value) == str(theirs.value)


@pytest.mark.parametrize("sentence", [(), ("x",), ("S", "<img>")])
def test_sentences_that_cannot_be_asked_are_refused_in_the_same_words(
    sentence: tuple[str, ...],
) -> None:
    data = read(str(EXAMPLES / "example1.txt"))
    task, run = fast(data)
    with pytest.raises(InputError) as theirs:
        prediction.predict(task, run, sentence)
    with pytest.raises(InputError) as mine:
        plain.predict(plain.train(analyse(data), steps=1), sentence)
    assert str(mine.value) == str(theirs.value)


def test_progress_is_told_after_each_step() -> None:
    told: list[tuple[int, int]] = []
    data = read(str(EXAMPLES / "five_tokens.jsonl"))
    plain.train(analyse(data), steps=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_the_module_needs_the_standard_library_only() -> None:
    program = (
        "import sys; sys.modules.update(dict.fromkeys(['numpy', 'numba', 'scipy']));"
        "from ntpcore.data.dataset import read; from ntpcore.data.order import analyse;"
        "from ntpcore.huang2024 import plain;"
        "plain.train(analyse(read('examples/example1.txt')), steps=1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
