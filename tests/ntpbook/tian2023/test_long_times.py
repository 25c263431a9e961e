"""Tests of the chapter on long times."""

from __future__ import annotations

import numpy as np
import plain_layer
import pytest
import sympy as sp

from ntpbook.tian2023.long_times import reduced, steps
from ntpbook.tian2023.long_times.reduced import Design, follow, one_of_each
from ntpcore.scansnap import coupled

# Symbolic steps


@pytest.mark.parametrize("step", steps.STEPS, ids=lambda step: step.__name__)
def test_every_identity_holds(step: object) -> None:
    found = step()
    assert len(found) >= 1
    for identity in found:
        assert identity.difference == 0, identity.name


def failing(identities: tuple[steps.Identity, ...]) -> list[str]:
    return [identity.name for identity in identities if identity.difference != 0]


def test_another_exponent_fails_the_closed_form() -> None:
    assert failing(steps.closed_form_steps(1 / (2 * (steps.K + 1)))) == ["z_d' = w'/(K + 1)"]


def test_the_exponent_1_fails_the_law() -> None:
    assert "the exponent alpha" in failing(steps.law_4_steps(sp.Integer(1)))


def test_the_margin_grows_on_the_sphere_by_this_identity_only() -> None:
    assert failing(steps.margin_steps(sphere=False)) == ["|r| chi'"]


def test_the_sphere_fails_the_softmax_theorem() -> None:
    assert len(failing(steps.simplex_steps(sphere=True))) == 2


def test_sums_over_tokens_are_sums() -> None:
    rng = np.random.default_rng(0)
    f, r = rng.random(4), rng.random(4)
    form = steps.over_distinct((steps.f - 2 * steps.r) ** 2 * steps.f)
    values = {sp.Symbol(f"D{i}{j}"): float((f**i * r**j).sum()) for i in range(4) for j in range(4)}
    assert float(form.subs(values)) == pytest.approx(((f - 2 * r) ** 2 * f).sum(), rel=1e-12)


# The reduced system

SHAPES = (
    (Design(2, 4, (1.0,), (1.0,)), 1.0),
    (Design(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2), 0.5),
    (Design(3, 3, (0.5, 0.2), (1.0, 0.3)), 3.0),
    (Design(6, 30, (2.0,), (1.0, 0.1), 3), 10.0),
)


@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize(("design", "ratio"), SHAPES)
def test_the_reduced_system_is_the_layer(design: Design, ratio: float, sphere: bool) -> None:
    sigma = np.array([0.5, 3.0, 12.0])
    K, C, D = design.K, len(design.common), len(design.distinct)
    P = plain_layer.tokens(design.common, design.distinct, K)
    query = [n // (K // design.L) for n in range(K)]
    Y, Z, t = plain_layer.on_the_clock(P, query, design.M, ratio * 0.3, 0.3, sigma, sphere)
    path = follow(design, ratio, sigma, sphere)
    assert np.log1p(ratio * 0.3 * np.array(t) / K) == pytest.approx(path.log_time, abs=1e-7)
    for i in range(len(sigma)):
        z, state = path.z[i], path.rows[i]
        a, s, r = state[C + D : 2 * C + D], state[2 * C + D : 2 * C + 2 * D], path.r[i]
        for n in range(K):
            own = slice(C + n * D, C + (n + 1) * D)
            assert Z[i][query[n], :C] == pytest.approx(z[:C], abs=1e-7)
            assert Z[i][query[n], own] == pytest.approx(z[C:], abs=1e-7)
            assert Y[i][own, n] == pytest.approx(s + r * (1 - 1 / K), abs=1e-7)
            assert Y[i][own, (n + 1) % K] == pytest.approx(s - r / K, abs=1e-7)
        assert Y[i][:C, 0] == pytest.approx(a, abs=1e-7)


def test_the_wrong_layer_is_noticed() -> None:
    design, sigma = SHAPES[0][0], np.array([3.0])
    P = plain_layer.tokens(design.common, design.distinct, 2)
    _, Z, _ = plain_layer.on_the_clock(P, [0, 0], 4, 1.0, 1.0, sigma, sphere=True)
    assert abs(Z[0][0, 1] - follow(design, 1.0, sigma, sphere=False).z[0, 1]) > 0.01


@pytest.mark.parametrize(
    ("data", "ratio"),
    [
        (coupled.one_of_each(10, 1000, 0.5), 10.0),
        (coupled.syn(2, 2), 3.0),
        (coupled.Symmetric(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2), 1.0),
        (coupled.one_of_each(3, 12, 0.3), 0.5),
    ],
)
def test_the_reduced_system_is_the_flow_in_time(data: coupled.Symmetric, ratio: float) -> None:
    t = np.geomspace(1, 1e8, 9)
    flow = coupled.flow(data, ratio, 1.0, t)
    path = follow(reduced.of_symmetric(data), ratio, np.geomspace(1e-4, 60, 3000))
    when = np.log1p(ratio * t / data.K)
    z = np.hstack([flow.z_common, flow.z_distinct])
    for j in range(z.shape[1]):
        # linear interpolation between 3000 times: (step^2/8) z'' is below 1e-5
        assert np.interp(when, path.log_time, path.z[:, j]) == pytest.approx(z[:, j], abs=2e-5)


def test_the_first_moment_by_hand() -> None:
    # f = (1, 1)/sqrt 2 at the start, x = (M - K)/M: r = f sigma, s = f x sigma/K, a = f x sigma
    path = follow(one_of_each(2, 6, 0.5), 1.0, np.array([1e-6]))
    f, x = 0.5**0.5, 4 / 6
    assert path.rows[0, 2:5] == pytest.approx([f * x * 1e-6, f * x / 2 * 1e-6, f * 1e-6], rel=1e-5)
    # delta = 1, so that eta_Y t/K = sigma
    assert path.log_time[0] == pytest.approx(1e-6, rel=1e-5)
    assert path.z[0, 0] == pytest.approx(-2 * path.z[0, 1], rel=1e-6)


def test_a_clock_that_turns_back_is_refused() -> None:
    with pytest.raises(ValueError, match="increasing"):
        follow(one_of_each(2, 2, 0.5), 1.0, np.array([1.0, 0.5]))
    with pytest.raises(ValueError, match="M >= K"):
        Design(3, 2, (1.0,), (1.0,))
