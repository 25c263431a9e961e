"""Second derivations of risky steps of Theorems C, E, F and G: in numbers of sixty digits.

They do not follow the proofs. Theorem C: the derivative of a step at R, by differences. Theorem E:
perturbations chosen against the bound. Theorem F: the least value of F by duality. Theorems C and F
where a query has several optimal tokens. Theorem G: states that are built to be bad.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.ours.late_phase import instances, model
from ntpbook.ours.late_phase.model import Late, Vector, descent_constant
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared import small_data
from ntpbook.shared.digits import DIGITS
from ntpbook.shared.symbols import identity
from ntpverdicts.claims import Shown
from ntpverdicts.once import once

TINY = "1e-25"  # length of a difference; its square is beyond the digits that are asked for


def _moved(y: Vector, v: Vector, far: Any) -> Vector:
    """y + far v."""
    return {place: y[place] + far * v[place] for place in y}


def _across(late: Late, rng: np.random.Generator) -> Vector:
    """A random direction of length 1 that the gradients of F reach."""
    weights = {e: mp.mpf(float(rng.normal())) for e in late.tight}
    y = late.split(model.combine(weights, late.data))[1]
    size = mp.sqrt(plain.inner(y, y))
    return {place: value / size for place, value in y.items()}


def _short(name: str, left: Any, sign: str, right: Any, holds: bool) -> Shown:
    """A relation between numbers, with few of their digits."""
    rest = mp.nstr(left - right, 3)
    return Shown(name, mp.nstr(left, 6), sign, mp.nstr(right, 6), rest, bool(holds))


def second_derivative(late: Late, v: Vector) -> Vector:
    """F''(R) v: minus the mean of B_e^perp <B_e, v> under the limit shares, whose mean is 0."""
    p = late.p(late.R)
    pushes = {e: p[e] * model.margin(e, v) for e in late.tight}
    return late.split(model.combine(pushes, late.data))[1]


@once
def step_at_the_limit(factor: float = 1.0) -> tuple[Shown, ...]:
    """Theorem C: near R a step is v -> v - eta w F''(R) v, and 0 < <v, F'' v> <= |v|^2 / S.

    So its factors lie in [1 - eta / w, 1), and every run that comes near R stays, for eta < 2 w.

    Args:
        factor: of eta w; 1 in truth.
    """
    found, rng = [], np.random.default_rng(7)
    with mp.workdps(DIGITS):
        far = mp.mpf(TINY)
        for name, data in instances.star_data().items():
            late = Late(data)
            v = _across(late, rng)
            curved = second_derivative(late, v)
            eta = late.w * mp.mpf("1.9")
            there, _, _ = late.step(_moved(late.R, v, far), eta)
            rest = {x: (there[x] - late.R[x]) / far - v[x] for x in v}
            apart = _moved(rest, curved, factor * eta * late.w)
            off = mp.sqrt(plain.inner(apart, apart))
            found.append(_short(f"{name}: step at $R$", off, "<", mp.mpf(10) ** -20, off < 1e-20))
            mean = plain.inner(v, curved)
            held = 0 < mean <= 1 / late.S + mp.mpf(10) ** -50  # two single pairs attain it
            found.append(
                _short(rf"{name}: $\langle v, F'' v\rangle$", mean, "<=", 1 / late.S, held)
            )
    return tuple(found)


@once
def worst_perturbations(allowed: float = 2.0) -> tuple[Shown, ...]:
    """Theorem E: steps of the model, each pushed away from R as far as the budget goes.

    The pushes sum to min(delta, delta^2 / Lambda), spent at once, evenly, or by halves.

    Args:
        allowed: times delta, by which the root of the energy may grow; 2 in truth.
    """
    found, rng = [], np.random.default_rng(7)
    with mp.workdps(25):
        for name, data in instances.star_data().items():
            late = Late(data)
            eta = late.w * mp.mpf("0.9")
            c = descent_constant(late.S, eta)
            for delta in (mp.mpf(1) / 10, mp.mpf(1)):
                budget = min(delta, delta**2 * c / (mp.sqrt(2) * eta * late.w))
                starts = [_moved(late.R, _across(late, rng), far) for far in (mp.mpf(0), 1)]
                grown = max(
                    _growth(late, eta, c, start, [budget * part for part in parts])
                    for start in starts
                    for parts in _spendings()
                )
                words = rf"{name}, $\delta = {mp.nstr(delta, 2)}$: growth of the root of the energy"
                bound = mp.mpf(allowed) * delta
                found.append(_short(words, grown, "<=", bound, grown <= bound))
    return tuple(found)


def _spendings(steps: int = 12) -> list[list[Any]]:
    """Shares of the budget: at once, evenly, by halves."""
    at_once = [mp.mpf(1)] + [mp.mpf(0)] * (steps - 1)
    halves = [mp.mpf(1) / 2 ** (k + 1) for k in range(steps)]
    return [at_once, [mp.mpf(1) / steps] * steps, halves]


def _growth(late: Late, eta: Any, c: Any, y: Vector, pushes: list[Any]) -> Any:
    """The largest root of the energy on the way, less the first one."""

    def root(y: Vector) -> Any:
        away = _moved(y, late.R, -1)
        excess = max(late.F(y) - late.F(late.R), mp.mpf(0))
        return mp.sqrt(plain.inner(away, away) + eta * late.w / c * excess)

    first = largest = root(y)
    for push in pushes:
        y, _, _ = late.step(y, eta)
        away = _moved(y, late.R, -1)
        size = mp.sqrt(plain.inner(away, away))
        if size == 0:  # at R every way leads off
            away = _across(late, np.random.default_rng(1))
            size = mp.mpf(1)
        y = _moved(y, away, push / size)
        largest = max(largest, root(y))
    return largest - first


@once
def least_value_by_duality(entropy: int = 1) -> tuple[Shown, ...]:
    """Theorem F: F(y) = sum p log(C / p) - sum p <B, y>, and the last sum vanishes at R.

    So inf F is sum p* log(C_e / p*_e) with p* = 1 / ((1 + m) S), from no minimisation at all.

    Args:
        entropy: factor of log p; 1 in truth.
    """
    import sympy as sp

    C, u = sp.symbols("C_1:4", positive=True), sp.symbols("u_1:4", real=True)
    terms = [a * sp.exp(-b) for a, b in zip(C, u, strict=True)]
    p = [term / sum(terms) for term in terms]
    dual = sum(q * (sp.log(a) - entropy * sp.log(q) - b) for q, a, b in zip(p, C, u, strict=True))
    rest = sp.simplify(sp.expand_log(sp.log(sum(terms)) - dual, force=True))
    found = [identity(r"$\log \sum C e^{-u}$ minus its dual, three pairs", rest, sp.Integer(0))]
    with mp.workdps(DIGITS):
        for name, data in instances.star_data().items():
            late = Late(data)
            rivals = {q: sum(e[0] == q for e in late.tight) for q, _, _ in late.tight}
            share = {e: 1 / ((1 + rivals[e[0]]) * late.S) for e in late.tight}
            value = mp.fsum(x * mp.log(late.C[e] / x**entropy) for e, x in share.items())
            off = abs(late.F(late.R) - value)
            found.append(
                _short(f"{name}: $F(R)$ minus its dual", off, "<", mp.mpf(10) ** -50, off < 1e-50)
            )
    return tuple(found)


@once
def beyond_stars(multiplier: str = "1/3") -> tuple[Shown, ...]:
    """Theorems C and F where a query has several optimal tokens: a slack pair, then an idle one.

    Five tokens a > c, d, q and b > q, a > q slack: the shares at R are the multipliers by S = 7/6,
    1/3 on a > c and a > d, 1/2 on b > q, which is all that is used of R; y itself settles, with its
    part outside Y: a > q weighs e^{-x / (6 w)} at most, 1e-23 after 200 steps. On the path the loss
    comes to its constant like 1/t.

    Args:
        multiplier: of a > c and a > d; 1/3 in truth.
    """
    found = []
    edges = small_data.edges()
    with mp.workdps(40):
        data = edges["slack pair"]
        w = Late(data).w
        one = instances.late_run("a slack pair", data, 2 / w * mp.mpf("0.95"), (200, 300))
        late, (_, (t, W)) = one.late, one.states
        middle, last = (late.split(state)[1] for _, state in one.states)
        third = mp.mpf(Fraction(multiplier).numerator) / Fraction(multiplier).denominator
        star = {(4, 0, 2): third, (4, 0, 3): third, (4, 1, 4): mp.mpf(1) / 2}
        p = late.p(last)
        off = max(abs(p[e] - value / late.S) for e, value in star.items())
        words = "a slack pair: distance of the shares from their limits"
        found.append(_short(words, off, "<", mp.mpf(10) ** -20, off < 1e-20))
        away = _moved(last, middle, -1)
        off = mp.sqrt(plain.inner(away, away))
        found.append(_short("the residual has settled", off, "<", mp.mpf(10) ** -20, off < 1e-20))
        far = abs(_loss_by_its_law(one, W, t, late.F(last)) - 1)
        found.append(
            _short(
                "the quotient of the two sides in Theorem F, minus 1",
                far,
                "<",
                mp.mpf(10) ** -20,
                far < 1e-20,
            )
        )
        path = instances.late_run("path", edges["idle pair"], mp.mpf(1) / 2, (200, 400))
        half = mp.mpf(1) / 2
        used = ((3, 0, 2), (3, 1, 3))  # multipliers 1/2 each, S = 1
        least = mp.fsum(half * mp.log(path.late.C[e] / half) for e in used)
        early, late_off = (abs(_loss_by_its_law(path, W, t, least) - 1) for t, W in path.states)
        words = "an idle pair: this quotient minus 1, at a later and at an earlier step"
        found.append(_short(words, late_off, "<", early, late_off < 0.6 * early))
    return tuple(found)


def _loss_by_its_law(one: instances.LateRun, W: plain.Weights, t: int, least: Any) -> Any:
    """e^{t eta / w} (L - L_star) by A h_star e^{inf F + xi / w}, with the lag of x at step t."""
    late = one.late
    pairs = zip(late.data.samples, model.excesses(late.data, W, one.A), strict=True)
    excess = mp.fsum(n.pi * value for n, value in pairs)
    lag = t * one.eta - late.split(W)[0]
    constant = one.A * model.one_hot(late.data, one.A)[2] * mp.exp(least + lag / late.w)
    return mp.exp(t * one.eta / late.w) * excess / constant


@once
def worst_states(share: float = 1.0) -> tuple[Shown, ...]:
    """Theorem G: states built to be bad, against the bound K_2' by entropy (`short_steps`).

    A common sample has all its margins equal; a rare one is not read at all, and holds the loss
    just above its level. For each L the worst over margins and gaps on a grid. The mean margin of
    what moves comes to a few per cent of K_2' at most, and grows slowly with L: no state that is
    known comes near the constants.

    Args:
        share: of K_2'; 1 in truth.
    """
    found = []
    for L in (2, 3, 5, 10, 20):
        J = L - 1
        mean = max(
            _mean_of_two(vocab_size, J, unread, float(A), float(u))
            for vocab_size in (L, L + 1, 10 * L)
            for unread in {1, J}
            for A in np.geomspace(4, 40, 25)
            for u in np.linspace(0.1, 6, 40)
        )
        bound = share * (2.05 * L * np.log(7 * J) + np.log(14 * L * J**2))
        words = f"$L = {L}$: the mean margin, weighted as in the gradient"
        found.append(_short(words, mp.mpf(mean), "<=", mp.mpf(bound), mean <= bound))
    return tuple(found)


def _mean_of_two(vocab_size: int, rivals: int, unread: int, A: float, u: float) -> float:
    """The mean margin where the loss is just |V| e^{-A/4}, or above it without the rare sample.

    Zero if no share of the rare sample brings the loss there.

    Args:
        vocab_size: |V|.
        rivals: of the common sample.
        unread: rivals of the rare sample, all with the mass of the optimal token.
        A: the gap.
        u: the margins of the common sample.
    """
    level = vocab_size * np.exp(-A / 4)
    loss, force = _loss_and_force(vocab_size, rivals, A, u)
    most, rare = _loss_and_force(vocab_size, unread, A, 0.0)
    if loss > level:
        return u
    if most <= level:
        return 0.0
    pi = (level - loss) / (most - loss)
    return float((1 - pi) * force * u / ((1 - pi) * force + pi * rare))


def _loss_and_force(vocab_size: int, rivals: int, A: float, u: float) -> tuple[float, float]:
    """Loss and total force of a sample whose rivals all have the effective margin u."""
    x = [math.exp(-u)] * rivals
    one = plain.loss_and_force(x, A, vocab_size, exp=math.exp, total=math.fsum)
    return math.log1p(one.X), math.fsum(one.b)
