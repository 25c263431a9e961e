"""The simulator of the synthetic experiments, against one-hot sequences and autodiff."""

import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_book import ROOT

from ntpbook.tian2023.s8_synthetic import _simulator, experiments
from ntpcore import _cache, compiled
from ntpcore.data import dataset, files
from ntpcore.tian2023.classes import SequenceClasses
from ntpverdicts.imports import Package

pytestmark = pytest.mark.usefixtures("in_float64")


TINY = {"iterations": 4, "batch": 11, "length": 9, "record": (0, 2, 4)}


def one_hot_loss(Y, Z, plan, classes, counts):
    """Mean cross-entropy of a batch, every position written out (tian2023, (1) and (2))."""
    data, total = plan.classes, 0.0
    for n, row in zip(classes, counts, strict=True):
        tokens = np.flatnonzero(data.probabilities[n] > 0)
        X = jnp.eye(data.M)[jnp.array(np.repeat(tokens, row))]
        mixed = X.T @ jax.nn.softmax(X @ Z[data.query[n]])
        scores = (mixed / jnp.linalg.norm(mixed)) @ Y
        total -= jax.nn.log_softmax(scores)[data.M - data.K + n]
    return total / len(classes)


def reference(plan, eta_y, eta_z):
    """Losses and last Z by autodiff and the optimizers as PyTorch documents them."""
    M = plan.classes.M
    Y, Z = experiments.start_of(plan)
    Y = np.vstack([Y, np.zeros((M - len(Y), M))])
    drawn, counts = experiments.samples_of(plan)
    slope = jax.value_and_grad(lambda Y, Z, c, k: one_hot_loss(Y, Z, plan, c, k), argnums=(0, 1))
    state = [[Y, np.zeros_like(Y), np.zeros_like(Y)], [Z, np.zeros_like(Z), np.zeros_like(Z)]]
    losses = []
    for t in range(plan.iterations):
        loss, grads = slope(jnp.array(state[0][0]), jnp.array(state[1][0]), drawn[t], counts[t])
        losses.append(float(loss))
        for part, g, eta in zip(state, grads, (eta_y, eta_z), strict=True):
            g = np.array(g)
            if plan.adam:
                part[1] = 0.9 * part[1] + 0.1 * g
                part[2] = 0.999 * part[2] + 0.001 * g**2
                fixed = part[1] / (1 - 0.9 ** (t + 1))
                part[0] = part[0] - eta * fixed / (np.sqrt(part[2] / (1 - 0.999 ** (t + 1))) + 1e-8)
            else:
                part[1] = plan.momentum * part[1] + g
                part[0] = part[0] - eta * part[1]
    return np.array(losses), state[1][0]


@pytest.mark.parametrize("adam", [False, True])
@pytest.mark.parametrize("uniform", [False, True])
def test_runs_agree_with_one_hot_sequences_and_automatic_differentiation(adam, uniform):
    plan = experiments.Plan(2, 1, 3, ((2.0, 0.5),), adam=adam, uniform_start=uniform, **TINY)
    losses, Z = reference(plan, 2.0, 0.5)
    found = experiments.simulate(plan)
    assert found.losses[0] == pytest.approx(losses, rel=1e-10)
    assert np.abs(found.Z[0, -1] - Z).max() < 1e-10


def test_weights_that_no_float_holds_together_are_told_apart_in_each_sample():
    """A token that does not occur may weigh e^1000 times as much as all that do."""
    plan = experiments.Plan(2, 1, 3, ((2.0, 1e7),), **{**TINY, "length": 2})
    losses, Z = reference(plan, 2.0, 1e7)
    found = experiments.simulate(plan)
    assert np.ptp(Z) > 1e5
    assert found.losses[0] == pytest.approx(losses, rel=1e-10)
    assert np.abs(found.Z[0, -1] - Z).max() < 1e-10 * np.ptp(Z)


@pytest.mark.parametrize("size", [1, 4, 6, 7, 20])
def test_the_residual_is_that_of_the_softmax_for_any_number_of_tokens(size):
    rng = np.random.default_rng(size)
    Y, f = rng.normal(size=(9 + size, 13)), rng.uniform(size=size)
    tokens, found = rng.permutation(9 + size)[:size], np.full(13, np.nan)
    loss = _simulator.fill_residual(tokens, f, Y, 5, found)
    logits = f @ Y[tokens]
    probabilities = np.exp(logits) / np.exp(logits).sum()
    assert found == pytest.approx(np.eye(13)[5] - probabilities, rel=1e-12)
    assert loss == pytest.approx(-math.log(probabilities[5]), rel=1e-12)


def test_iteration_0_is_the_loss_before_the_first_update():
    found = experiments.simulate(experiments.small(1, ((1.0, 1.0), (10.0, 1.0)), iterations=100))
    assert found.losses[:, 0] == pytest.approx([math.log(34)] * 2, rel=1e-12)


def test_the_vocabularies_are_those_of_the_authors_code():
    assert experiments.small(1, ((1.0, 1.0),)).classes.M == 34
    sizes = [experiments.medium(queries, 1).classes.M for queries in experiments.QUERIES]
    assert sizes == [33, 79, 125, 240]


def test_all_rates_of_a_plan_see_the_samples_that_one_rate_alone_sees():
    both = experiments.simulate(experiments.Plan(1, 2, 5, ((1.0, 1.0), (5.0, 1.0)), **TINY))
    alone = experiments.simulate(experiments.Plan(1, 2, 5, ((5.0, 1.0),), **TINY))
    assert np.array_equal(both.Z[1], alone.Z[0])
    assert np.array_equal(both.losses[1], alone.losses[0])


def test_threads_do_not_change_the_result():
    plans = [experiments.medium(1, seed, iterations=5, record=(5,)) for seed in range(4)]
    one = experiments.simulate_all(plans, threads=1)
    two = experiments.simulate_all(plans, threads=2)
    assert all(np.array_equal(a.Z, b.Z) for a, b in zip(one, two, strict=True))


def test_finished_streams_are_kept_and_damaged_ones_run_again(tmp_path, monkeypatch):
    plans = [experiments.medium(1, seed, iterations=5, record=(5,)) for seed in range(3)]
    progress = []
    first = experiments.simulate_all(
        plans, folder=tmp_path, progress=lambda done, all_: progress.append((done, all_))
    )
    assert progress == [(1, 3), (2, 3), (3, 3)]
    damaged = tmp_path / f"{experiments.fingerprint(plans[1])}.npz"
    damaged.write_bytes(damaged.read_bytes()[:100])
    ran, plain = [], experiments.simulate

    def counted(plan):
        ran.append(plan.seed)
        return plain(plan)

    monkeypatch.setattr(experiments, "simulate", counted)
    again = experiments.simulate_all(plans, folder=tmp_path)
    assert ran == [1]
    assert all(np.array_equal(a.Z, b.Z) for a, b in zip(first, again, strict=True))
    assert not list(tmp_path.glob("*.part"))


def test_another_plan_has_another_fingerprint():
    plan = experiments.medium(1, 1)
    assert experiments.fingerprint(plan) != experiments.fingerprint(experiments.medium(1, 2))
    assert experiments.fingerprint(plan) == experiments.fingerprint(experiments.medium(1, 1))


def test_the_fingerprint_covers_what_the_simulator_imports():
    reached = Package(["ntpcore", "ntpbook"], ROOT).closure([experiments.__name__])
    code = {(ROOT / path).resolve() for path in reached if path.name != "__init__.py"}
    # these say how a loop is compiled, and how files are kept, not what a run does
    aside = {Path(module.__file__).resolve() for module in (compiled, _cache, files, dataset)}
    assert aside < code
    assert {path.resolve() for path in experiments.CODE} == code - aside


def test_plans_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="record is"):
        experiments.small(1, ((1.0, 1.0),), record=(4, 2))
    with pytest.raises(ValueError, match="record is"):
        experiments.small(1, ((1.0, 1.0),), record=(101,))
    with pytest.raises(ValueError, match="positive"):
        experiments.small(1, ((1.0, 0.0),))


def hand_classes():
    """Two classes of one query; token 0 is common, 1 and 2 belong to class 0, 3 and 4 to 1."""
    p = np.array([[0.5, 0.25, 0.25, 0, 0], [0.5, 0, 0, 0.25, 0.25]])
    return SequenceClasses(p, (0, 0))


def test_entropy_and_mass_by_hand():
    classes, z = hand_classes(), np.zeros((1, 5))
    assert experiments.distinct_entropy(classes, z) == pytest.approx(math.log(2))
    assert experiments.common_mass(classes, z) == pytest.approx(0.5)
    z[0, 1] = math.log(3)  # class 0: shares 3/4 and 1/4
    expected = (-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)) + math.log(2)) / 2
    assert experiments.distinct_entropy(classes, z) == pytest.approx(expected)


def test_recall_by_hand():
    z = np.log(np.array([[0.4, 0.3, 0.1, 0.1, 0.1]]))
    found = experiments.recall(hand_classes(), z, np.array([0.05, 0.2, 0.35]))
    assert found.tolist() == [1.0, 0.25, 0.0]
