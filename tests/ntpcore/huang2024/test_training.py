"""Stage 2 is exact in direction at any step, repeatable, and refuses what it cannot do."""

import builtins
import importlib.util
import math
import sys

import mpmath as mp
import numpy as np
import plain_example_1
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from plain_training import (
    dense,
    jax_attention_gradient,
    named_following,
    named_weights,
    plain_direction,
    plain_gradient,
    plain_loss,
)
from strategies import realizable_data
from trained import EXAMPLE_1, SETS, fields_equal

from ntpcore.data import dataset
from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import problem, stage1, training, transformer
from ntpcore.huang2024.fast import kernel as _kernel
from ntpcore.huang2024.fast import stepping


def example_run(steps: int, **options):
    one = problem.from_dataset(EXAMPLE_1)
    return one, training.run(one, steps, 0.025, stage1.gap(4, 900, 0.1), **options)


@pytest.mark.parametrize("name", SETS)
def test_the_direction_is_exact_where_automatic_differentiation_has_none(name):
    """At the true W(t), against equation (6) with 200 digits."""
    setting = SETS[name]
    one = problem.from_dataset(setting.data)
    gap = stage1.gap(20, setting.steps1, setting.eta0)
    W_ov = gap * stage1.W_ov_star(one.following)
    automatic = jax_attention_gradient(setting.data, W_ov, np.eye(20))
    eps, run = np.finfo(float).eps, None
    for step in (1_000, 10_000, 20_000, 100_000):
        run = training.run(one, step, setting.eta, gap, record=[], state=run)
        weights = run.state.weights
        exact = plain_direction(one, setting.data, weights, gap, digits=200)
        ours = training.gradient(one, weights, gap)[1]
        # six sums of logarithms, each rounded by eps / 2 of its size at most
        assert np.abs(ours - exact).max() < 6 * eps / 2 * (1 + np.ptp(weights) + gap)
        found = automatic(dense(one, weights))[one.entry_token, one.entry_query]
        lost = np.linalg.norm(found / np.linalg.norm(found) - exact)
        # eps / (1 - phi) of the sample that pulls most, phi its largest share, and the same of its
        # probability 1 / (1 + (|V| - 1) e^-gap): both are subtracted from one
        least = (weights[one.pairs[:, 0]] - weights[one.pairs[:, 1]]).min()
        predicted = eps * math.exp(least) + eps * math.exp(gap) / 19
        if predicted < 1:
            assert predicted / 10 < lost < 10 * predicted
        else:
            assert lost > 0.5  # not one digit
    assert predicted > 1


@settings(max_examples=60)
@given(realizable_data(), st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 8.0]))
def test_the_gradient_is_equation_6_at_random_points(data, seed, gap):
    assume(any(len(set(sample.sentence)) > 1 for sample in data.samples()))
    one = problem.from_dataset(data)
    weights = np.random.default_rng(seed).normal(size=len(one.entry_token))
    W_ov = gap * stage1.W_ov_star(one.following)
    E = np.eye(one.vocab_size)
    plain = transformer.attention_gradient(data, W_ov, dense(one, weights), E)
    log_norm, direction = training.gradient(one, weights, gap)
    ours = dense(one, math.exp(log_norm) * direction)
    assert ours == pytest.approx(plain, rel=1e-9, abs=1e-13 * np.abs(plain).max())


@pytest.mark.parametrize("gap", [1e-8, 1.0, 60.0, 3000.0])
def test_a_small_and_a_huge_gap_do_no_harm(gap):
    one = problem.from_dataset(EXAMPLE_1)
    weights = np.random.default_rng(1).normal(size=len(one.entry_token))
    exact = plain_direction(one, EXAMPLE_1, weights, gap, digits=3000)
    assert training.gradient(one, weights, gap)[1] == pytest.approx(exact, rel=1e-11, abs=1e-14)


def test_twenty_steps_agree_with_fifty_digits():
    one, run = example_run(20)
    with mp.workdps(50):
        W = dict.fromkeys(named_weights(one, run.state.weights), mp.mpf(0))
        gap, eta = mp.mpf(run.gap), mp.mpf(run.eta)
        for _ in range(20):
            gradient = plain_gradient(EXAMPLE_1, named_following(one), W, gap)
            norm = mp.sqrt(mp.fsum(value**2 for value in gradient.values()))
            W = {key: w - eta * gradient[key] / norm for key, w in W.items()}
        loss = plain_loss(EXAMPLE_1, named_following(one), W, gap)
    assert run.state.weights == pytest.approx([float(w) for w in W.values()], abs=1e-15)
    assert run.rows.loss[-1] == pytest.approx(float(loss), rel=1e-14)


def test_a_planted_error_in_the_data_is_noticed():
    one = problem.from_dataset(EXAMPLE_1)
    weights = np.random.default_rng(1).normal(size=len(one.entry_token))
    other = dataset.from_sentences(["S V O P", "V O P", "O P P", "P S V", "P S V"])
    wrong = plain_direction(one, other, weights, 2.0, digits=30)
    assert np.abs(training.gradient(one, weights, 2.0)[1] - wrong).max() > 0.01


@pytest.mark.parametrize("name", SETS)
def test_the_loss_excess_is_exact_far_below_the_last_digit_of_the_loss(name):
    setting = SETS[name]
    one = problem.from_dataset(setting.data)
    gap = stage1.gap(20, setting.steps1, setting.eta0)
    run = training.run(one, 50_000, setting.eta, gap, record=[0, 10, 3000, 50_000])
    for row, step in enumerate(run.rows.step):
        weights = training.run(one, int(step), setting.eta, gap, record=[]).state.weights
        with mp.workdps(250):
            W = named_weights(one, weights)
            loss = plain_loss(setting.data, named_following(one), W, mp.mpf(gap))
            excess = mp.log(loss - mp.log1p(19 * mp.exp(-mp.mpf(gap))))
        assert run.rows.log_excess[row] == pytest.approx(float(excess), rel=1e-12)
        assert run.rows.loss[row] == pytest.approx(float(loss), rel=1e-12)
    assert run.rows.log_excess[-1] < -100


def test_measurements_are_what_they_are_called():
    one, gap = problem.from_dataset(EXAMPLE_1), 5.0  # equation (6) itself has no digits at 50
    run = training.run(one, 300, 0.025, gap, record=[300])
    rows, weights = run.rows, run.state.weights
    W, star = dense(one, weights), dense(one, one.W_kq_star)
    G = transformer.attention_gradient(
        EXAMPLE_1, gap * stage1.W_ov_star(one.following), W, np.eye(4)
    )

    def cos(a, b):
        return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))

    def best(text):
        sentence = text.split()
        X = transformer.embed(tuple(sentence), one.vocabulary, np.eye(4))
        return transformer.attention(X, W)

    assert rows.norm[0] == pytest.approx(np.linalg.norm(W))
    assert rows.one_minus_cos[0] == pytest.approx(1 - cos(W, star), rel=1e-10)
    assert rows.cos_star[0] == pytest.approx(cos(G, star), rel=1e-10)
    assert rows.cos_weights[0] == pytest.approx(cos(G, W), rel=1e-10)
    assert rows.needed_alpha[0] == pytest.approx(cos(G, W) / cos(G, star) - 1, rel=1e-7)
    assert rows.log_gradient[0] == pytest.approx(math.log(np.linalg.norm(G)), rel=1e-10)
    optimal = [best("S V O")[2], best("V O")[1], best("S V")[1], best("P S")[1], best("O P")[0]]
    assert rows.least_attention[0] == pytest.approx(min(optimal))
    odds = min(optimal) / (1 - min(optimal))
    assert rows.least_log_odds[0] == pytest.approx(math.log(odds))
    names = {name: place for place, name in enumerate(one.vocabulary)}
    S, V, O, P = (names[name] for name in "SVOP")  # noqa: E741
    gaps = [W[O, O] - W[S, O], W[O, O] - W[V, O], W[V, V] - W[S, V], W[S, S] - W[P, S]]
    assert rows.least_gap[0] == pytest.approx(min(*gaps, W[O, P] - W[P, P]))
    assert rows.least_optimal[0] == pytest.approx(min(W[O, O], W[V, V], W[S, S], W[O, P]))
    lowers = [W[S, O], W[V, O], W[S, V], W[P, S], W[P, P]]
    assert rows.greatest_nonoptimal[0] == pytest.approx(max(lowers))


def test_steps_between_two_rows_are_followed_too():
    one, every = example_run(400, record=range(401))
    coarse = training.run(one, 400, every.eta, every.gap, record=[0, 400]).rows
    assert coarse.change[1] == every.rows.change[1:].min()
    assert coarse.change_step[1] == every.rows.step[every.rows.change.argmin()]
    assert coarse.log_weight[1] == every.rows.log_weight.min()
    assert coarse.log_weight[1] == pytest.approx(-math.log(3))
    odds = every.rows.least_log_odds
    # with one query slowest throughout, the smallest change is that of the smallest log-odds
    assert every.rows.change[1:].max() > 0
    assert (np.diff(odds) >= every.rows.change[1:] - 1e-14).all()
    assert not every.decreased


def test_a_decrease_without_assumption_3_is_seen():
    """The smallest known failure of Lemma 5: three tokens, two samples, a small step."""
    data = dataset.from_samples(
        [("0", "1"), ("1", "2"), ("2", "0"), (list("100222222220"), "2"), (list("11100"), "2")]
    )
    weights = [-60.0, -60.0, -60.0, math.log(0.75), math.log(0.25)]
    one = problem.from_dataset(data, log_weights=weights)
    assert not one.frequent
    run = training.run(one, 50, 0.01, 40.0)
    assert run.decreased
    assert run.rows.change.min() < -1e-6
    with_counts = dataset.from_samples(
        [("0", "1"), ("1", "2"), ("2", "0"), (list("1102"), "2"), (list("110"), "2")]
    )
    assert not training.run(problem.from_dataset(with_counts), 50, 0.01, 40.0).decreased


@pytest.mark.parametrize("eta", [0.025, 1e6])
def test_large_steps_neither_overflow_nor_decrease_the_attention(eta):
    one = problem.from_dataset(EXAMPLE_1)
    run = training.run(one, 200, eta, stage1.gap(4, 900, 0.1), record=range(201))
    for field in training.Rows.__dataclass_fields__:
        assert np.isfinite(getattr(run.rows, field)[1:]).all(), field
    assert not run.decreased


def test_example_1_approaches_its_limit_with_the_square_of_time():
    _, run = example_run(100_000, record=[10_000, 100_000])
    rows = run.rows
    slope = math.log(rows.one_minus_cos[1] / rows.one_minus_cos[0]) / math.log(10)
    assert slope == pytest.approx(-2, abs=1e-3)
    # c by hand, half the squared length of W across W_star: sin^2 ||W||^2 / 2, with weights near
    # 1600 that are rounded at 2e-13
    sine_squared = rows.one_minus_cos[1] * (2 - rows.one_minus_cos[1])
    assert rows.norm[1] ** 2 * sine_squared / 2 == pytest.approx(
        plain_example_1.constant(), rel=1e-11
    )


def test_a_frequency_of_e_to_the_minus_seven_million_is_no_obstacle():
    """Two samples; the rare one is seen only once the other's gradient has shrunk as far."""
    lines = dataset.from_sentences(["0 1 2", "2 3 0"])
    log_ratio = -6.8e6
    one = problem.from_dataset(
        lines, {"1": "2", "3": "0"}, log_weights=[0.0, 0.0, log_ratio, log_ratio]
    )
    assert one.norm_squared == 1
    run = training.run(one, 1_400_000, 3.6, 10.0, record=[1_300_000, 1_400_000])
    # while the rare sample waits, W has one of two equal columns: cos = 1 / sqrt(2)
    assert run.rows.one_minus_cos[0] == pytest.approx(1 - math.sqrt(0.5), rel=1e-12)
    assert run.rows.least_attention[0] == 0.5
    # then both columns grow alike; the first stays ahead by the log of the ratio, 6.8e6
    x = run.rows.norm[1] ** 2  # columns (u, -u) and (v, -v) with 2 (u - v) = 6.8e6
    total = math.sqrt(2 * x / 2 - (6.8e6 / 2) ** 2)  # u + v
    assert run.rows.one_minus_cos[1] == pytest.approx(1 - total / math.sqrt(x), rel=1e-4)


def test_a_run_is_repeated_bit_for_bit():
    setting = SETS["not prefix-closed"]
    one = problem.from_dataset(setting.data)
    first, second = (training.run(one, 2000, setting.eta, 9.0) for _ in range(2))
    assert fields_equal(first.rows, second.rows)
    assert fields_equal(first.state, second.state)


@pytest.mark.parametrize("stop", [0, 7, 137, 500])
def test_a_resumed_run_has_the_same_rows_on_the_default_grid(stop):
    one, whole = example_run(777)
    assert stop in (0, 7) or stop not in training.log_grid(777)
    half = training.run(one, stop, whole.eta, whole.gap)
    assert half.rows.step[-1] == stop
    resumed = training.run(one, 777, whole.eta, whole.gap, state=half)
    assert fields_equal(whole.rows, resumed.rows)
    assert fields_equal(whole.state, resumed.state)


def test_work_done_in_small_pieces_has_the_same_numbers(monkeypatch):
    one, whole = example_run(300)
    monkeypatch.setattr(training, "ENTRIES_PER_CALL", 1)
    seen = []
    pieces = training.run(
        one, 300, whole.eta, whole.gap, progress=lambda step, steps: seen.append((step, steps))
    )
    assert fields_equal(whole.rows, pieces.rows)
    assert seen == [(step, 300) for step in range(1, 301)]


def test_without_numba_the_loops_run_as_plain_python(monkeypatch):
    real = builtins.__import__

    def without_numba(name, *rest, **named):
        if name.split(".")[0] == "numba":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_numba)
    monkeypatch.setitem(sys.modules, "numba", None)
    spec = importlib.util.spec_from_file_location("plain_kernel", _kernel.__file__)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    assert type(plain.advance).__name__ == "function"
    one, compiled = example_run(200)
    monkeypatch.setattr(stepping, "_kernel", plain)
    uncompiled = training.run(one, 200, compiled.eta, compiled.gap)
    assert uncompiled.state.weights == pytest.approx(compiled.state.weights, rel=1e-12)
    assert uncompiled.rows.change == pytest.approx(compiled.rows.change, rel=1e-9)


@pytest.mark.parametrize(
    ("steps", "eta", "gap", "reason"),
    [
        (-1, 0.1, 1.0, "steps is -1"),
        (1, 0.0, 1.0, "step size eta is 0.0"),
        (1, math.nan, 1.0, "step size eta is nan"),
        (1, 0.1, 0.0, "gap A of stage 1 is 0.0"),
        (1, 0.1, math.inf, "gap A of stage 1 is inf"),
    ],
)
def test_senseless_parameters_are_refused(steps, eta, gap, reason):
    with pytest.raises(InputError, match=reason):
        training.run(problem.from_dataset(EXAMPLE_1), steps, eta, gap)


def test_resuming_something_else_is_refused():
    one, run = example_run(10)
    other = problem.from_dataset(dataset.from_sentences(["S V O P", "V O P", "O P P P", "P S V"]))
    for changed in [(one, 0.03, run.gap), (one, run.eta, 1.0), (other, run.eta, run.gap)]:
        with pytest.raises(InputError, match="other data, step size or gap"):
            training.run(changed[0], 20, changed[1], changed[2], state=run)
    with pytest.raises(InputError, match="at step 10 already"):
        training.run(one, 9, run.eta, run.gap, state=run)


def test_the_logarithmic_grid_starts_with_every_step():
    assert training.log_grid(0).tolist() == [0]
    assert training.log_grid(5).tolist() == [0, 1, 2, 3, 4, 5]
    grid = training.log_grid(10**6, per_decade=10)
    assert grid[:5].tolist() == [0, 1, 2, 3, 4]
    assert grid[-1] == 10**6
    assert len(grid) < 62
    assert (np.diff(grid) > 0).all()
