"""Tests of the chapter on long times."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import plain_layer
import pytest
import sympy as sp

from ntpbook.ours.long_times import (
    bounds,
    checks,
    exponent,
    laws,
    margins,
    slow_manifold,
    stationary,
    steps,
    unequal,
)
from ntpbook.shared import reduced_flow
from ntpbook.shared.reduced_flow import follow, state_size
from ntpcore.tian2023 import coupled
from ntpcore.tian2023.coupled import Symmetric, one_of_each
from ntpverdicts.claims import Shown, Verdict

# Every check: its verdict, and its planted errors noticed


def test_a_law_without_error_bounds_has_no_proof() -> None:
    for name in ("law", "early", "visible"):
        assert not getattr(checks, f"check_ours_long_{name}").proof


# Symbolic steps


# Those of the conjectured law: the others are steps of proofs.
OF_THE_LAW = (
    steps.closed_form_steps,
    steps.manifold_steps,
    steps.law_4_steps,
    steps.exponent_limit_steps,
)


@pytest.mark.parametrize("step", OF_THE_LAW, ids=lambda step: step.__name__)
def test_every_identity_of_the_law_holds(step) -> None:
    found = step()
    assert len(found) >= 1
    assert failing(found) == []


def failing(found: tuple[Shown, ...]) -> list[str]:
    return [one.name for one in found if not one.holds]


def test_another_exponent_fails_the_closed_form() -> None:
    assert failing(steps.closed_form_steps(1 / (2 * (steps.K + 1)))) == ["$z_d' = w'/(K + 1)$"]


def test_the_exponent_1_fails_the_law() -> None:
    assert r"the exponent $\alpha$" in failing(steps.law_4_steps(sp.Integer(1)))


def test_the_margin_grows_on_the_sphere_by_this_identity_only() -> None:
    assert failing(steps.margin_steps(sphere=False)) == [r"$|r|\,\chi'$"]


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
    (Symmetric(2, 4, (1.0,), (1.0,)), 1.0),
    (Symmetric(4, 20, (0.7, 0.3), (1.0, 0.5, 0.2), 2), 0.5),
    (Symmetric(3, 3, (0.5, 0.2), (1.0, 0.3)), 3.0),
    (Symmetric(6, 30, (2.0,), (1.0, 0.1), 3), 10.0),
)


@pytest.mark.parametrize("sphere", [True, False])
@pytest.mark.parametrize(("design", "ratio"), SHAPES)
def test_ours_long_clock_the_reduced_system_is_the_layer(
    design: Symmetric, ratio: float, sphere: bool
) -> None:
    sigma = np.array([0.5, 3.0, 12.0])
    K, C, D = design.K, len(design.common), len(design.distinct)
    P = plain_layer.tokens(design.common, design.distinct, K)
    query = [n // (K // design.queries) for n in range(K)]
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
    path = follow(data, ratio, np.geomspace(1e-4, 60, 3000))
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
        Symmetric(3, 2, (1.0,), (1.0,))


# Inequalities, tried hard


def simplex_slack(c: np.ndarray, r: np.ndarray, j: int) -> float:
    """c_1 (r_1 - R) + c_j (R - r_j) in units of r_1, for token 0 on top in c and r."""
    R = c[: len(r)] @ r
    return (c[0] * (r[0] - R) + c[j] * (R - r[j])) / r[0]


def test_the_bracket_of_the_softmax_theorem_is_positive_while_the_order_holds() -> None:
    rng = np.random.default_rng(2)
    for _ in range(3000):
        D, C = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        c = np.concatenate([np.sort(rng.dirichlet(np.full(D, 0.3)))[::-1], rng.random(C)])
        c /= c.sum()
        r = np.sort(10 ** rng.uniform(-3, 1, D))[::-1]
        for j in range(1, D):
            assert simplex_slack(c, r, j) >= -1e-15
    # without the order it may be negative
    assert simplex_slack(np.array([0.3, 0.7]), np.array([0.1, 5.0]), 1) < 0


def test_a_stationary_attention_beats_every_other_by_the_margin() -> None:
    rng = np.random.default_rng(3)
    Y = np.array([[2.0, 0.0, -1.0], [0.5, 0.2, -0.3], [-1.0, 0.5, 0.5]])
    f = np.array([0.6, 0.4, 0.0])
    for _ in range(500):  # f proportional to the positive part of g
        f /= np.linalg.norm(f)
        alpha = np.exp(Y.T @ f) / np.exp(Y.T @ f).sum()
        f = np.maximum(Y @ (np.eye(3)[0] - alpha), 0)
    f /= np.linalg.norm(f)
    for _ in range(500):
        other = np.abs(rng.normal(size=3))
        other *= rng.random() ** 0.3 / np.linalg.norm(other)
        assert bounds.unique_slack(Y, 0, f, other) >= -1e-12
    # a vector that is not stationary loses to some other
    wrong = np.array([0.0, 1.0, 0.0])
    assert bounds.unique_slack(Y, 0, wrong, f) < 0


def test_ours_long_angle_begins_at_the_share_of_the_distinct_tokens_and_closes() -> None:
    # Two common tokens of weight 1, distinct ones of weights 1 and 2: at first r is along f_D, so
    # that chi^2 = 1 - eps = (1 + 4) / (1 + 1 + 1 + 4).
    design = Symmetric(2, 2, (1.0, 1.0), (1.0, 2.0))
    chi = checks.kept(checks.DesignRates(design, 1.0)).chi
    assert chi[0] == pytest.approx(math.sqrt(5 / 7), abs=1e-6)
    assert np.diff(chi).min() > -1e-12
    assert chi[-1] > 1 - 1e-6


def test_ours_long_keep_no_token_is_lost_along_random_paths() -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        design = bounds.random_design(rng)
        path = checks.kept(checks.DesignRates(design, 10 ** rng.uniform(-1, 2)))
        for name, slack in bounds.keep_slacks(path).items():
            assert slack >= -1e-9, (name, design)  # the integrator's relative accuracy is 1e-10


def test_the_softmax_loses_tokens_and_fails_the_same_inequalities() -> None:
    design = Symmetric(2, 2, (0.5,), (0.1, 0.15, 0.25))
    found = bounds.keep_slacks(follow(design, 1.0, np.geomspace(1e-2, 1e4, 300), sphere=False))
    assert found["drift of the decoder's ratios"] > 0  # its bound is wide
    assert found["z_d >= 0"] < 0
    assert found["spread of P"] < 0


def test_the_constants_by_hand() -> None:
    # p = (1, 1)/2, K = 2, L = 1: 1 - eps_0 = 1/2, C_1 = 1/2, b = 1/2, C_2 = 2
    found = bounds.keep(one_of_each(2, 2, 0.5))
    assert (found.b, found.C_2) == (0.5, 2.0)
    assert found.drift == 8.0  # 2 sum p_c^2 / (3 C_2 b min p_d^2) = 2/3, below 1


# Laws


def closed_form_error(path: reduced_flow.ClockPath, exponent: float) -> float:
    """The closed form by tan, written anew, and z_d = exponent w: the larger relative error."""
    K, (p_c, p_d) = path.design.K, path.design.p
    T = p_d / p_c * np.exp(path.z[:, 1] - path.z[:, 0])
    left = np.log(T * p_c / p_d) + (T**2 - (p_d / p_c) ** 2) / 2
    form = np.abs(left / ((K - 1 / K) / (2 * path.ratio) * path.r[:, 0] ** 2) - 1)
    split = np.abs(path.z[:, 1] / (exponent * (path.z[:, 1] - path.z[:, 0])) - 1)
    return float(max(form[len(form) // 2 :].max(), split.max()))  # early on T^2 - T_0^2 rounds


@pytest.mark.parametrize("K", [2, 10])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("ratio", [0.1, 100.0])
def test_ours_long_closed_form_and_not_with_half_its_coefficient(
    K: int, epsilon: float, ratio: float
) -> None:
    grid = np.geomspace(1e-2, 1e4, 100)
    path = follow(one_of_each(K, K, epsilon), ratio, grid, relative=1e-11, absolute=1e-18)
    assert closed_form_error(path, 1 / (K + 1)) < 1e-6
    assert closed_form_error(path, 1 / (2 * (K + 1))) > 0.9
    left, right = laws.closed_form(path)
    assert left == pytest.approx(right, rel=1e-6)
    # R = r - O(1/r) and t ~ e^R/K, so that r = ln t + ln K + o(1) and the offset, ln(r/ln t), is
    # ln K/ln t + O(ln ln t/ln^2 t): what is left of the constant falls, over two decades
    late = [66, 99]  # sigma = 1e2 and 1e4
    rest = np.abs((laws.offset(path) * path.log_time)[late] - math.log(K))
    assert rest[1] < rest[0] / 10


def test_the_closed_form_fails_for_more_outputs_than_classes() -> None:
    path = follow(one_of_each(2, 2, 0.5), 1.0, np.geomspace(1, 100, 20))
    bulk = follow(one_of_each(2, 6, 0.5), 1.0, np.geomspace(1, 100, 20))
    assert closed_form_error(path, 1 / 3) < 1e-6
    assert closed_form_error(bulk, 1 / 3) > 0.1
    left, right = laws.closed_form(bulk)
    assert np.abs(left / right - 1).max() > 0.1
    with pytest.raises(ValueError, match="one token of each kind"):
        laws.closed_form(follow(Symmetric(2, 2, (0.5,), (0.2, 0.3)), 1.0, np.array([1.0])))


@pytest.mark.parametrize(("K", "M"), [(2, 4), (3, 6), (2, 8), (3, 12)])
def test_ours_long_law_with_more_outputs(K: int, M: int) -> None:
    grid = np.outer([1e3, 1e4, 1e5], [0.99, 1.0, 1.01]).ravel()
    path = follow(one_of_each(K, M, 0.5), 1.0, grid)
    law = slow_manifold.law(K, M)
    found = np.array([laws.second_coefficient(path, i, law.alpha) for i in (1, 4, 7)])
    # a limit with a rest that is a power of sigma: three decades extrapolate to it, nearer than the
    # last of their steps; not to the coefficient for large M
    gap, step = np.abs(found - law.c), np.diff(found)
    assert gap[0] > gap[1] > gap[2]
    limit = found[2] + step[1] ** 2 / (step[0] - step[1])
    assert abs(limit - law.c) < abs(step[1]) < abs(limit - 2 * (K - 1))
    slope = np.log(path.tangent[8] / path.tangent[6]) / np.log(grid[8] / grid[6])
    assert slope < 0.5  # the exponent 1 is that of M = K


def of_the_clock(K: int, M: int, kappa: float, state: np.ndarray) -> tuple[float, np.ndarray]:
    """D and the slopes of (z_d - z_c, a, s, r) by r, from the lemma on the clock, written anew."""
    lnT, a, s, r = state
    f_c, f_d = 1 / math.sqrt(1 + math.exp(2 * lnT)), 1 / math.sqrt(1 + math.exp(-2 * lnT))
    mu = M / (M - K)
    D = mu * (f_c * a + f_d * s) - f_d * r / K
    x = (M - K) / (M - K + K * math.exp(D))
    g_c, g_d = a * x * mu, s * x * mu + r * (K - 1) / K
    G = f_c * g_c + f_d * g_d
    turn = kappa * f_d * (g_d - f_d * G) - kappa * K * f_c * (g_c - f_c * G)
    return D, np.array([turn, f_c * x, f_d * x / K, f_d]) / f_d


def test_ours_long_exponent_the_margin_moves_by_what_E_leaves_of_F() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        K = int(rng.integers(2, 6))
        M, kappa = K + int(rng.integers(1, 30)), float(rng.uniform(0.1, 3))
        state = np.array([rng.uniform(0, 2), *rng.uniform(0.5, 3, 3)])
        _, slopes = of_the_clock(K, M, kappa, state)
        h = 1e-5
        there, here = (of_the_clock(K, M, kappa, state + w * h * slopes)[0] for w in (1, -1))
        lnT, a, s, r = state
        found = exponent.parts(K, M, kappa * (K + 1), r, s, a, math.exp(lnT))
        f_d = 1 / math.sqrt(1 + math.exp(-2 * lnT))
        assert found["m"] * found["Q"] == pytest.approx(slopes[0], rel=1e-9, abs=1e-9)
        assert f_d * (found["E"] - found["F"]) == pytest.approx((there - here) / (2 * h), rel=1e-4)


@pytest.mark.parametrize(("K", "M", "T"), [(2, 5, 40.0), (3, 12, 150.0)])
def test_ours_long_exponent_a_path_written_anew_stays_inside(K: int, M: int, T: float) -> None:
    from scipy.integrate import solve_ivp

    grid = np.geomspace(1e-2, 1e4, 60)
    start = [math.log(T), 0.0, 0.0, 0.0]
    run = solve_ivp(
        lambda _, y: of_the_clock(K, M, 1.0, y)[1],
        (0.0, 1e4),
        start,
        method="LSODA",
        t_eval=grid,
        rtol=1e-10,
        atol=1e-12,
    )
    found = exponent.parts(K, M, K + 1.0, *run.y[[3, 2, 1]], np.exp(run.y[0]))
    assert (found["D"] > 0).all()
    assert (found["E"] > 0).all()
    assert (found["Q"] > 0).all()
    assert (found["F"] * np.exp(2 * run.y[0]) < 1).all()
    slope = (run.y[0, -1] - run.y[0, -7]) / math.log(grid[-1] / grid[-7])
    assert slope == pytest.approx((K - 1) / (M - 1), rel=0.02)  # and not 1, nor K/M


def test_the_room_of_the_exponent_closes_at_2_K_minus_1_outputs() -> None:
    assert exponent.theta(3, 6) == 1 / 48
    # T without bound: (M - 2K + 1)/M less theta ((M - 1)/M + 3 - 3/K); 1/6 - (5/6 + 2)/48
    far = exponent.Level(3, 6, 1.0, 1e6)
    assert far.room == pytest.approx(1 / 6 - (5 / 6 + 2) / 48, abs=1e-9)
    assert far.powers == pytest.approx((2 / 5, 2 / 5), abs=1e-9)
    assert exponent.Level(3, 5, 1.0, 1e6).room < 1e-9
    assert (
        exponent.Level(2, 5, 3.0, 40.0).at_start() > 0 > exponent.Level(2, 5, 3.0, 20.0).at_start()
    )


def test_the_slow_manifold_goes_on_where_the_flow_stops() -> None:
    grid = np.array([1e3, 1e4, 1e5])
    path = follow(one_of_each(3, 6, 0.5), 1.0, grid)
    T, r = path.tangent, np.linalg.norm(path.r, axis=1)
    slow = slow_manifold.creep(3, 6, np.array([1e3, 1e4, 1e5, 1e30, 1e32]), T[0], r[0])
    assert slow[1:3] == pytest.approx(T[1:], rel=2e-3)
    assert np.log(slow[4] / slow[3]) / np.log(100) == pytest.approx(2 / 5, abs=1e-6)


@pytest.mark.parametrize("K", [2, 10])
def test_ours_long_early_by_the_balance_of_many_outputs(K: int) -> None:
    # M -> infinity: x = T^2/(K + T^2), and d ln T/d ln sigma -> 2 (K - 1)/T^2 as T grows
    gaps = [
        abs(T**2 * slow_manifold.manifold_slope(K, 10**15, T) / (2 * (K - 1)) - 1)
        for T in (30.0, 100.0, 300.0)
    ]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.001


@pytest.mark.parametrize(("K", "epsilon"), [(2, 0.1), (2, 0.5), (10, 0.1)])
def test_ours_long_visible_at_the_root_of_the_ratio(K: int, epsilon: float) -> None:
    # ln t is R + O(1), so that the error falls like 1/sqrt(ratio); 3 sqrt(1e-6) and the grid
    found = laws.measured_relaxation(K, K, epsilon, 1e6)
    assert found == pytest.approx(laws.relaxation(K, epsilon), abs=0.005)


def simplex_rate(path: reduced_flow.ClockPath) -> tuple[float, float]:
    """(1 - c_1) nu sigma^2 at the end of a softmax path with M = K, and its limit 2N/(1 + N).

    N = D - 1 + C L/K, for one strictly most probable distinct token.
    """
    design = path.design
    C, D = len(design.common), len(design.distinct)
    top = int(np.argmax(path.z[-1] + np.log(design.p)))
    rest = np.delete(path.scores[-1], top).sum()  # not 1 - c_1, which rounds
    N = D - 1 + C * design.queries / design.K
    return float(rest * path.nu * path.sigma[-1] ** 2), 2 * N / (1 + N)


def sphere_rate(path: reduced_flow.ClockPath) -> float:
    """f_c^2 nu sigma^2 (K/L + C/D) of a common token at the end; tends to 1 for M = K (derived)."""
    design = path.design
    C, D = len(design.common), len(design.distinct)
    share = float(path.f[-1, 0] ** 2)
    return share * path.nu * float(path.sigma[-1]) ** 2 * (design.K / design.queries + C / D)


@pytest.mark.parametrize(
    "design",
    [Symmetric(2, 2, (0.5,), (0.1, 0.15, 0.25)), Symmetric(4, 4, (0.5, 0.2), (0.3, 0.2), 2)],
)
def test_ours_long_simplex_one_winner_and_several_on_the_sphere(design: Symmetric) -> None:
    grid = np.array([1e2, 1e3, 1e4])
    simplex = follow(design, 1.0, grid, sphere=False, absolute=1e-14)
    found, limit = simplex_rate(simplex)
    assert found == pytest.approx(limit, rel=3e-3)
    sphere = follow(design, 1.0, grid)
    assert sphere_rate(sphere) == pytest.approx(1, abs=1e-3)
    # the losers fall like sigma^-2; on the sphere what still moves does so, and no share falls
    losers = 1 - simplex.shares.max(axis=1)
    assert losers[2] < 1.01 * limit / (simplex.nu * grid[2] ** 2)  # the rate is tested above
    moved = np.abs(np.diff(sphere.shares, axis=0))
    assert (moved[1] < moved[0] / 10).all()
    assert (moved[1] < sphere.shares[-1] / grid[2]).all()


def test_a_tie_at_the_top_is_shared_by_the_softmax_but_does_not_last() -> None:
    design = Symmetric(2, 2, (0.5,), (0.2, 0.2, 0.1))
    path = follow(design, 1.0, np.array([1.0, 10.0]), sphere=False)
    assert path.shares[-1, 0] == pytest.approx(path.shares[-1, 1], rel=1e-9)
    start = np.zeros(state_size(design))
    start[1] = 1e-6  # any difference decides
    nearly = follow(design, 1.0, np.array([1.0, 1e4]), sphere=False, start=start)
    assert nearly.shares[-1, 0] > 0.999


def test_ours_long_rates_set_the_clock_alone() -> None:
    paths = []
    for ratio in (0.1, 1.0, 1000.0):
        scale = (ratio / (1 - 1 / 10)) ** 0.5
        design = Symmetric(10, 10, (0.5, 0.1), (0.3, 0.2))
        paths.append(follow(design, ratio, np.geomspace(0.1, 100, 30) * scale).entropy)
    assert np.ptp(paths, axis=0).max() < 1e-8


# The stationary attention


@pytest.mark.parametrize(
    ("witness", "stable"),
    [(stationary.ARBITRARY, 2), (stationary.TRAINED, 2), (stationary.TAME, 1)],
)
def test_ours_long_several_stable_attentions_are_enclosed(
    witness: stationary.Witness, stable: int
) -> None:
    assert stationary.stable_between(stationary.enclosed_slopes(witness)) == stable


def test_too_few_digits_decide_nothing() -> None:
    with pytest.raises((ArithmeticError, OverflowError)):
        stationary.stable_between(stationary.enclosed_slopes(stationary.TRAINED, digits=30))


def test_the_scan_in_floating_point_finds_the_same() -> None:
    P = np.array([[float(x) for x in row] for row in stationary.TRAINED.P])
    found = {n: stationary.stable_points(P, stationary.trained(P, n)) for n in (100, 1000, 10_000)}
    assert found[100] == pytest.approx([0.0], abs=0.01)
    for steps_of_Y, number in ((1000, 2), (10_000, 2)):
        assert len(found[steps_of_Y]) == number
        Y = np.zeros((2, 4))  # gradient steps on the mean loss, attention by frequency
        f = P / np.sqrt((P**2).sum(axis=1, keepdims=True))
        for _ in range(steps_of_Y):
            a = np.exp(f @ Y)
            Y = Y + f.T @ (np.eye(4) - a / a.sum(axis=1, keepdims=True)) / 4

        def J(w: float, Y: np.ndarray = Y) -> float:
            q = P * np.exp([0.0, w])
            logits = q / np.sqrt((q**2).sum(axis=1, keepdims=True)) @ Y
            return float((np.diag(logits) - np.log(np.exp(logits).sum(axis=1))).mean())

        for w in found[steps_of_Y]:  # a maximum of J within a grid step, 0.005
            assert J(w) > max(J(w - 0.005), J(w + 0.005))


@pytest.mark.parametrize("K", [2, 10])
def test_normalised_steps_circle_the_stationary_attention(K: int) -> None:
    data = coupled.Symmetric(K, 1000, (0.5,), (0.1, 0.15, 0.25))
    walk = stationary.normalised(data, 5.0, 0.01, [10_000, 30_000, 30_001])
    c = walk.path.scores[1:].mean(axis=0)  # of both sides of a turn
    still = stationary.rest(data, walk.path.rows[1])
    assert c == pytest.approx(still, abs=2e-3)
    assert walk.flips[1] - walk.flips[0] > 19_900
    own = c[1:] / c[1:].sum()
    assert own == pytest.approx([0.2, 0.3, 0.5], abs=5e-3)  # the shares of the counts


def test_an_attention_that_rests_is_proportional_to_g() -> None:
    data = coupled.Symmetric(3, 12, (0.5, 0.2), (0.3, 0.2))
    state = coupled.flow(data, 2.0, 1e-12, np.array([50.0])).rows[0]  # Z stands still
    still = stationary.rest(data, state)
    # rows of distinct tokens trained under frequency attention keep the ratios of the counts
    assert still[3] / still[2] == pytest.approx(0.2 / 0.3, rel=1e-9)
    # M > K: common tokens keep attention, in proportion to g with all of Y written out
    Y, _ = coupled.dense(data, state)
    c = np.zeros(12)
    c[:4] = still
    logits = c / np.linalg.norm(c) @ Y
    g = Y @ (np.eye(12)[0] - np.exp(logits) / np.exp(logits).sum())
    assert still == pytest.approx(g[:4] / g[:4].sum(), rel=1e-9)


def test_with_a_useless_decoder_two_attentions_can_attract() -> None:
    # G < 0: rows (-1, 1) for the next token 0; away from w = 0 everything moves outwards
    P, Y = np.array([[0.5, 0.5]]), np.array([[-1.0, 1.0], [-1.0, 1.0]])
    # a class of one more next token gives the scan its shape
    slopes = stationary.scan(P, Y, np.array([-5.0, -0.1, 0.1, 5.0]))
    assert (np.sign(slopes) == [-1, -1, 1, 1]).all()


def test_the_picture_sphere_and_simplex_on_one_clock() -> None:
    design = Symmetric(10, 1000, (0.5,), (0.1, 0.15, 0.25))
    log_t = np.array([1.0, 10.0, 100.0, 1000.0])
    sphere = laws.top_shares(design, 1.0, log_t, True)
    simplex = laws.top_shares(design, 1.0, log_t, False)
    # the softmax: all but the winner falls like ln^-2 t in the end; the sphere: less and less
    rest, moved = 1 - simplex, np.abs(np.diff(sphere))
    power = np.log10(rest[:-1] / rest[1:])  # from one decade of ln t to the next
    assert power[1] < power[2] < 2
    assert round(power[2]) == 2
    assert (moved[1:] < moved[:-1]).all()
    assert 1 - sphere[-1] > 1 - sphere[0] - moved.sum() > rest[3]


def test_with_many_classes_the_shares_stay_near_the_counts_for_ever() -> None:
    limits, drifts = {}, {}
    for K in (10, 100, 1000):
        # by hand: p ~ (.5; .1, .15, .25), so sum p_d^2 = .095 of .345; 2 C_1 = .345/(.095 K)
        twice = Fraction(345, 95 * K)
        b, early = 1 / (1 + twice), 2 * Fraction(25, 100) / (3 * twice * Fraction(1, 100))
        # C_2 = 2 C_1/b, C_2 b = 2 C_1
        drifts[K] = float(twice / b**3) * (1 + math.log(early) / 2)
        design = Symmetric(K, K, (0.5,), (0.1, 0.15, 0.25))
        found = bounds.keep(design)
        assert found.drift == pytest.approx(drifts[K], rel=1e-12)
        path = checks.kept(checks.DesignRates(design, 1.0))
        limits[K] = float(np.ptp(np.log(path.shares[-1] / path.shares[0])))
        assert 0 < limits[K] < drifts[K]
    # the bound falls like ln K/K, so that in the end it is below what fewer classes drift
    assert limits[1000] < limits[100] < limits[10]
    assert drifts[1000] < limits[10]


# Classes that are not alike


def test_ours_long_unequal_slopes_are_those_of_the_layer_written_out() -> None:
    # two classes, tokens 0 common, 1 and 2 of the first class, 3 of the second; four outputs
    one = unequal.Unequal(((1.0,), (2.0,)), ((1.0, 0.5), (1.0,)), 4, 1.0)
    z, Y = np.array([0.1, -0.3, 0.2, 0.4]), np.random.default_rng(1).normal(size=(4, 3))
    wide = np.hstack([Y, Y[:, -1:]])  # both outputs that never come next

    def J(z: np.ndarray, sphere: bool) -> float:
        total = 0.0
        for n, row in enumerate(one.P):
            c = row * np.exp(z) / (row * np.exp(z)).sum()
            logits = wide.T @ (c / np.linalg.norm(c) if sphere else c)
            total += logits[n] - np.log(np.exp(logits).sum())
        return total

    for sphere in (True, False):
        f, error, g = unequal.look(one, z, Y, sphere)
        inner = (f * g).sum(axis=1, keepdims=True)
        force = (f * (g - f * inner) if sphere else f * (g - inner)).sum(axis=0)
        for i in range(4):
            step = 1e-6 * np.eye(4)[i]
            assert force[i] == pytest.approx((J(z + step, sphere) - J(z - step, sphere)) / 2e-6)
        assert (error * np.array([1, 1, 2])).sum(axis=1) == pytest.approx([0, 0], abs=1e-12)


def test_ours_long_unequal_follows_symmetric_classes_like_the_small_system() -> None:
    own = ((1.0, 0.5), (1.0, 0.5))
    one = unequal.Unequal(((2.0,), (2.0,)), own, 6, 3.0)
    small = follow(Symmetric(2, 6, (2.0,), (1.0, 0.5)), 3.0, np.array([5.0, 20.0]))
    # there time counts as ln(1 + eta_Y t/K), and eta_Z = 1
    t = np.expm1(small.log_time) * 2 / 3.0
    course = unequal.follow(one, np.log1p(t))
    assert course.f[:, 0, :3] == pytest.approx(small.f, rel=1e-5)


def test_ours_long_common_wins_needs_a_class_that_leans_on_the_common_token() -> None:
    assert checks.check_ours_long_common_wins.judge(checks.even()).verdict is Verdict.NOT_SEEN
    with pytest.raises(ValueError, match="600"):
        unequal.follow(checks.leaning()[0], np.array([601.0]))


# The normalized margin


def test_ours_long_margin_the_largest_margin_by_length_is_reached_at_right_angles() -> None:
    # K classes that see unit vectors at right angles, Y[n] = e_n - 1/M: every margin is 1
    for K, M in ((2, 2), (3, 7), (5, 5)):
        Y = np.eye(M)[:K] - 1 / M
        assert margins.largest(K, M) == pytest.approx(1 / np.linalg.norm(Y), rel=1e-12)
    assert margins.largest(2, 2) == 1.0


def test_ours_long_margin_its_constants_are_nearly_reached_and_no_weaker_ones_would_be() -> None:
    runs = {one.start is not None: one for one in checks.any_classes()}  # the last of either kind
    *_, shifted, apart = checks.any_classes()
    assert runs[True] == apart
    found = checks.measured(shifted, False)
    assert 0.95 < found.gathered(found.tangent**2) / found.bound < 1
    for weaker in (2.0, 2**0.5):  # in the place of c = 1
        assert found.gathered(found.tangent**2) < (found.bound + math.log(weaker)) / 1.1
    near = checks.measured(apart, False)
    parts = (near.wrong[0, 0] - near.wrong[0, 1]) / near.wrong[0].sum()
    # by hand: margins 100 and 102, so w = 1/(1 + e^-2); y = (100, -102), u = (w, w - 1)
    w = 1 / (1 + math.exp(-2))
    along, square = 100 * w + 102 * (1 - w), w**2 + (1 - w) ** 2
    tangent = ((100**2 + 102**2) * square / along**2 - 1) ** 0.5
    assert near.tangent[0] == pytest.approx(tangent, rel=1e-3)
    assert parts == pytest.approx(math.tanh(1), rel=1e-3)
    assert 0.95 * tangent < parts < tangent


def test_ours_long_keep_its_bounds_are_nearly_reached_where_the_common_token_is_rare() -> None:
    # one rare common token, K = 2: q_c^2 -> 1/(4 nu I), so that P_d/theta -> 1/(1 + 1/2) = 2/3
    design = Symmetric(2, 2, (0.05,), (1.0,))
    path, found = checks.kept(checks.DesignRates(design, 1.0)), bounds.keep(design)
    q = design.p * np.exp(path.z)
    assert path.r[-1, 0] / q[-1, 1] / path.theta[-1] == pytest.approx(2 / 3, rel=0.05)
    assert found.b < 2 / 3 < 1.1 * found.b
    for changed in ("b", "C_2"):
        assert min(bounds.keep_slacks(path, changed).values()) < 0 < found.b


def test_ours_long_still_a_start_that_treats_classes_unlike_ends_at_the_decoder() -> None:
    # two classes of one query, one common token and two distinct ones each, by plain small steps
    P = np.array([[0.4, 0.4, 0.2, 0, 0], [0.2, 0, 0, 0.5, 0.3]])
    r = np.array([[0, 1.0, 2.0, 0, 0], [0, 0, 0, 1.5, 0.5]])
    z = np.array([1.0, -1.0, 0.5, 2.0, -2.0])
    delta = 1.0  # any positive number; the theorem holds for every one
    for step in range(40_000):
        f = P * np.exp(z - z.max())
        f /= np.linalg.norm(f, axis=1, keepdims=True)
        R = (f * r).sum(axis=1, keepdims=True)
        z = z + 0.02 * 1.001 ** min(step, 3000) * delta * (f * (r - f * R)).sum(axis=0)
    aim = r / np.linalg.norm(r, axis=1, keepdims=True)
    assert f == pytest.approx(aim, abs=0.02)


def test_ours_long_margin_is_that_of_a_decoder_written_out() -> None:
    one = unequal.Unequal(((1.0,), (0.5,)), ((0.7, 0.2), (0.4,)), 4, 2.0)
    log_t = np.array([3.0, 6.0])
    course = unequal.follow(one, log_t)
    found = margins.measure(one, log_t)
    # all four columns of Y, each logit by itself, and the slope of Y as a sum of outer products
    Y = np.concatenate([course.Y[1], course.Y[1][:, -1:]], axis=1)
    loss, slope = 0.0, np.zeros_like(Y)
    for n, f in enumerate(course.f[1]):
        alpha = np.exp(f @ Y) / np.exp(f @ Y).sum()
        loss -= math.log(alpha[n])
        slope += np.outer(f, np.eye(4)[n] - alpha)
    q, size = -math.log(math.exp(loss) - 1), np.linalg.norm(Y)
    cosine = (Y * slope).sum() / size / np.linalg.norm(slope)
    assert found.q[-1] == pytest.approx(q, rel=1e-6)
    assert found.size[-1] == pytest.approx(size, rel=1e-12)
    assert found.tangent[-1] == pytest.approx(math.tan(math.acos(cosine)), rel=1e-4)
    assert found.work[-1] == pytest.approx((Y * slope).sum() * (1 + math.exp(q)) / q, rel=1e-6)


def test_ours_long_margin_needs_the_losses_to_be_small_first() -> None:
    with pytest.raises(ArithmeticError, match="sum of the losses"):
        margins.measure(checks.leaning()[0], np.array([0.01, 0.02]))
