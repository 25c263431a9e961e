"""The late flow agrees with exact steps, with the flow as it stands, and with 60 digits at 1e15."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from late import EPS, HAND_OVER, INTEGRATED, a_million_steps, late_state, left_out, setting_of
from scipy.integrate import solve_ivp

from ntpcore.huang2024 import asymptotics, horizon


@pytest.mark.parametrize("name", ["Example 1", "0", "1", "2"])
def test_the_flow_is_as_near_a_million_exact_steps_as_the_hand_over_allows(name):
    one, eta, gap = setting_of(name)
    run, exact, (flow, later) = a_million_steps(one, eta, gap)
    rows, rounded = run.rows, 1e6 * EPS / 2  # by half a digit in each step
    size, angle = rows.norm[-1], rows.one_minus_cos[-1]
    lost = rounded * size
    assert np.linalg.norm(flow.offset[0] - exact) < left_out(flow.offset, later.offset, lost)
    assert abs(flow.norm[0] - size) < left_out(flow.norm, later.norm, lost)
    # a part of that length across W turns it by as much over the length of W
    turned = math.sqrt(2 * angle) * rounded
    assert abs(flow.one_minus_cos[0] - angle) < left_out(
        flow.one_minus_cos, later.one_minus_cos, turned
    )
    # no gap is off by more than sqrt(2) times as much as W
    assert abs(flow.log_excess[0] - rows.log_excess[-1]) < left_out(
        flow.log_excess, later.log_excess, math.sqrt(2) * lost
    )


def test_the_flow_as_it_stands_gives_the_same():
    """A stiff solver on dv / d log s = s (P / |P| - u), which has digits enough up to 1e7."""
    one, eta, gap = setting_of("path")
    start = late_state(one, eta, gap)
    flow = horizon.flow(one, gap)

    def velocity(log_s, v):
        s = math.exp(log_s)
        logs = flow.logs(v, s)
        p = np.exp(logs - logs.max())
        P = np.bincount(flow.upper, p, len(v)) - np.bincount(flow.lower, p, len(v))
        return s * (P / np.linalg.norm(P) - flow.unit)

    spans = math.log(HAND_OVER * eta), math.log(1e7 * eta)
    v = start - HAND_OVER * eta * flow.unit
    stiff = solve_ivp(velocity, spans, v, method="Radau", rtol=1e-7, atol=1e-7).y[:, -1]
    ours = horizon.extend(one, start, HAND_OVER, eta, gap, np.array([1e7])).offset[0]
    # as near as the stiff solver is asked for: 1 / s^2 is 4e-8 and less
    assert np.linalg.norm(ours - stiff) < 1e-7 * (1 + np.linalg.norm(stiff))


@pytest.mark.parametrize("s", [1e4, 1e13])
def test_the_velocity_has_its_digits_where_the_difference_has_none(s):
    """Against s (P / |P| - u) with 60 digits, the inner part settled to as many."""
    one, eta, gap = setting_of("path")
    flow = horizon.flow(one, gap)
    far = horizon.extend(
        one, late_state(one, eta, gap), HAND_OVER, eta, gap, np.array([max(s / eta, 1e5)])
    )
    state = horizon._state(flow, far.offset[0])
    ours = horizon._velocity(flow, math.log(s), state, flow.inner.T @ far.offset[0])[0]
    s = math.exp(math.log(s))
    with mp.workdps(60):
        exact = _state_velocity_in_digits(one, flow, state, far.offset[0], mp.mpf(s))
    # v* is 1/2 up or down, and s grows at another rate than s + O(log s)
    assert np.abs(ours).max() == pytest.approx(1 / 2, rel=math.log(s) / s + 4 * EPS)
    # Newton's method stops where a step gains less than 1e-26, the square of what it moves
    assert ours == pytest.approx(exact, rel=1e-13, abs=0)


def _state_velocity_in_digits(one, flow, state, v, s):
    """Velocity of component means and of the part along u, with mpmath."""
    entries, inner = len(v), flow.inner.shape[1]
    star = _exact_star(one)
    length = mp.sqrt(mp.fsum(w * w for w in star))
    u = [w / length for w in star]
    pairs = list(zip(flow.upper.tolist(), flow.lower.tolist(), strict=True))
    slack = [star[a] - star[b] - 1 for a, b in pairs]
    basis = _basis_in_digits(flow, u)
    fixed = [
        mp.mpf(state[c]) + mp.mpf(state[-1]) * x for c, x in zip(flow.component, u, strict=True)
    ]
    y = [mp.fsum(basis[k][x] * v[x] for x in range(entries)) for k in range(inner)]
    for _ in range(60):
        full = [f + mp.fsum(y[k] * basis[k][x] for k in range(inner)) for x, f in enumerate(fixed)]
        logs = [
            mp.mpf(c) - (full[a] - full[b]) - s * d / length
            for c, (a, b), d in zip(flow.log_c.tolist(), pairs, slack, strict=True)
        ]
        top = max(logs)
        p = [mp.exp(x - top) for x in logs]
        P = [mp.mpf(0)] * entries
        for (a, b), value in zip(pairs, p, strict=True):
            P[a] += value
            P[b] -= value
        if not inner:
            break
        rows = [[basis[k][a] - basis[k][b] for k in range(inner)] for a, b in pairs]
        slope = mp.matrix(
            [mp.fsum(r[k] * q for r, q in zip(rows, p, strict=True)) for k in range(inner)]
        )
        curve = mp.matrix(
            [
                [
                    mp.fsum(r[i] * r[j] * q for r, q in zip(rows, p, strict=True))
                    for j in range(inner)
                ]
                for i in range(inner)
            ]
        )
        move = mp.lu_solve(curve, slope)
        y = [a + b for a, b in zip(y, move, strict=True)]
        if max(abs(x) for x in move) < mp.mpf(10) ** -50:
            break
    norm = mp.sqrt(mp.fsum(x * x for x in P))
    rate = [s * (x / norm - w) for x, w in zip(P, u, strict=True)]
    count = int(flow.component.max()) + 1
    means = [
        mp.fsum(rate[x] for x in np.flatnonzero(flow.component == c))
        / int((flow.component == c).sum())
        for c in range(count)
    ]
    along = mp.fsum(a * b for a, b in zip(rate, u, strict=True))
    return [float(x) for x in [*means, along]]


def _exact_star(one):
    """W_kq_star with all digits."""
    names = one.vocabulary
    scores = [
        one.solutions[names[q]].scores[names[x]]
        for q, x in zip(one.entry_query.tolist(), one.entry_token.tolist(), strict=True)
    ]
    return [mp.mpf(w.numerator) / w.denominator for w in scores]


def _basis_in_digits(flow, u):
    """The inner basis, made orthogonal to u and to the components once more."""
    sets = [np.flatnonzero(flow.component == c) for c in range(int(flow.component.max()) + 1)]
    basis = []
    for column in flow.inner.T.tolist():
        vector = [mp.mpf(x) for x in column]
        for members in sets:
            mean = mp.fsum(vector[x] for x in members) / len(members)
            for x in members:
                vector[x] -= mean
        for other in [u, *basis]:
            length = mp.fsum(a * a for a in other)
            part = mp.fsum(a * b for a, b in zip(vector, other, strict=True)) / length
            vector = [a - part * b for a, b in zip(vector, other, strict=True)]
        basis.append(vector)
    return basis


@pytest.mark.parametrize("name", ["Example 1", "0", "1", "2"])
def test_five_digits_at_1e15_do_not_depend_on_tolerance_or_hand_over(name, monkeypatch):
    one, eta, gap = setting_of(name)
    far = np.array([1e9, 1e12, 1e15])
    ours = horizon.extend(one, late_state(one, eta, gap), HAND_OVER, eta, gap, far)
    with monkeypatch.context() as patched:
        patched.setattr(horizon, "TOLERANCE", 1e-7)
        coarse = horizon.extend(one, late_state(one, eta, gap), HAND_OVER, eta, gap, far)
    assert coarse.one_minus_cos == pytest.approx(ours.one_minus_cos, rel=1e-5)  # five digits
    later = late_state(one, eta, gap, 4 * HAND_OVER)
    other = horizon.extend(one, later, 4 * HAND_OVER, eta, gap, far)
    # 1 - cos is a square, which loses twice as much
    assert other.one_minus_cos == pytest.approx(ours.one_minus_cos, rel=2 * INTEGRATED)
    apart = np.linalg.norm(other.offset - ours.offset, axis=1)  # of gaps, sqrt(2) times as much
    off = np.abs(other.log_excess - ours.log_excess)
    assert (off <= math.sqrt(2) * apart + 4 * EPS * np.abs(ours.log_excess)).all()


def test_on_example_1_the_constant_is_that_of_the_limiting_problem():
    one, eta, gap = setting_of("Example 1")
    flow = horizon.extend(one, late_state(one, eta, gap), HAND_OVER, eta, gap, np.array([1e15]))
    c = asymptotics.star_constant(one)
    assert flow.one_minus_cos[0] * (1e15 * eta) ** 2 == pytest.approx(c, rel=1e-12)


def test_what_the_flow_cannot_do_is_refused():
    one, eta, gap = setting_of("Example 1")
    early = late_state(one, eta, gap, 100)
    with pytest.raises(ValueError, match="take more steps first"):
        horizon.extend(one, early, 100, eta, gap, np.array([1e6]))
    late = late_state(one, eta, gap)
    with pytest.raises(ValueError, match="steps must increase"):
        horizon.extend(one, late, HAND_OVER, eta, gap, np.array([1e4]))
    with pytest.raises(ValueError, match="needs less than"):
        horizon.extend(one, late, HAND_OVER, 3 * one.norm, gap, np.array([1e6]))
