"""Where one rival has nearly all attention: without Assumption 3, at huge steps.

The reference is written from the definitions: attention (9), logits A times the attention of a
source, softmax, and the chain rule, in so many digits that nothing it subtracts matters.
"""

from __future__ import annotations

import pytest
from mpmath import mp

from ntpcore.data.dataset import from_samples
from ntpcore.data.order import analyse
from ntpcore.huang2024 import plain, problem, training
from ntpcore.huang2024.fast import stepping

NEXT = {"o": "a", "a": "b", "b": "q", "q": "o"}
LONG = {"o": 1, "a": 10, "b": 5, "q": 11}
SHORT = {"o": 1, "a": 3, "b": 1, "q": 6}
SAMPLES = ((LONG, 23), (SHORT, 3))  # both followed by n(o); q stands last
STEPS = 12


def line(counts):
    """A sentence with these tokens, in the order of the dictionary."""
    return [token for token, number in counts.items() for _ in range(number)]


def data():
    """The two samples, and the collocation of every token."""
    alone = [([token], following) for token, following in NEXT.items()]
    return from_samples([(line(counts), "a", number) for counts, number in SAMPLES] + alone)


def gradient(W, gap):
    """dL/dW of both samples: with f_x = dL/d(attention of x), it is m_x (f_x - sum_y m_y f_y)."""
    found = dict.fromkeys(W, mp.mpf(0))
    for counts, number in SAMPLES:
        weight = {x: counts[x] * mp.exp(W[x]) for x in counts}
        m = {x: one / mp.fsum(weight.values()) for x, one in weight.items()}
        logit = {NEXT[x]: mp.exp(gap * m[x]) for x in m}
        T = {v: one / mp.fsum(logit.values()) for v, one in logit.items()}
        f = {x: gap * (T[NEXT[x]] - (NEXT[x] == "a")) for x in m}
        mean = mp.fsum(m[x] * f[x] for x in m)
        for x in m:
            found[x] += number * m[x] * (f[x] - mean)
    return found


def reference(gap, eta, steps=STEPS):
    """W after each step of normalized gradient descent from zero."""
    W, found = {x: mp.mpf(0) for x in NEXT}, []
    for _ in range(steps):
        G = gradient(W, mp.mpf(gap))
        norm = mp.sqrt(mp.fsum(one * one for one in G.values()))
        W = {x: W[x] - eta * G[x] / norm for x in W}
        found.append({x: float(W[x]) for x in W})
    return found


def compiled(gap, eta, steps, **options):
    """The same by `training.run`."""
    task = problem.from_dataset(data())
    run = training.run(task, steps, eta, gap, **options)
    tokens = [task.vocabulary[x] for x in task.entry_token.tolist()]
    return dict(zip(tokens, run.state.weights.tolist(), strict=True))


def in_plain_python(gap, eta, steps):
    """The same by `plain.train`, whose gap comes from stage 1."""
    trained = plain.train(analyse(data()), steps=steps, steps1=100, eta0=gap, eta=eta)
    return trained.gap, {token: weight for (token, _), weight in trained.weights.items()}


# A and eta; at the smaller steps the fast loop takes some of them
CASES = ((105.0, 260.0), (105.0, 90.0), (20.0, 3.0))


@pytest.mark.parametrize(("gap", "eta"), CASES)
@pytest.mark.parametrize("only_plain", [True, False])
def test_a_run_without_assumption_3_is_that_of_high_precision(gap, eta, only_plain):
    with mp.workdps(4000):
        expected = reference(gap, eta)
    assert max(expected[-1]["q"], expected[-1]["b"]) < 0 < expected[-1]["o"]
    for step in (1, 2, 3, STEPS):
        found = compiled(gap, eta, step, plain=only_plain)
        assert found == pytest.approx(expected[step - 1], rel=1e-10, abs=1e-10 * eta), step


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_loop_in_plain_python_is_that_of_high_precision(rate):
    eta = 260 * rate
    gap, _ = in_plain_python(rate, eta, 1)
    with mp.workdps(4000):
        expected = reference(gap, eta)
    for step in (1, 2, 3, STEPS):
        _, found = in_plain_python(rate, eta, step)
        assert found == pytest.approx(expected[step - 1], rel=1e-10, abs=1e-10 * eta), step


def test_the_fast_loop_alone_would_lose_its_digits(monkeypatch):
    gap, eta = CASES[1]
    with mp.workdps(4000):
        expected = reference(gap, eta)
    monkeypatch.setattr(stepping, "LEAST_GAP", -float("inf"))
    found = compiled(gap, eta, STEPS)
    assert max(abs(found[x] - expected[-1][x]) for x in NEXT) > 1
