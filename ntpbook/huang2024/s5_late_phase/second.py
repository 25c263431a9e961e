"""Second derivations of risky steps of Theorems C, E, F and G: in numbers of sixty digits.

They do not follow the proofs. Theorem C: the derivative of a step at R, by differences. Theorem E:
perturbations chosen against the bound. Theorem F: the least value of F by duality. Theorem G:
states that an ascent makes as bad as it can.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from mpmath import mp

from ntpbook.huang2024.s5_late_phase import instances, model
from ntpbook.huang2024.s5_late_phase.model import K_2, Late, Vector, descent_constant
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.digits import DIGITS
from ntpbook.shared.symbols import identity
from ntpcore.verdicts.claims import Shown

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


@cache
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
            found.append(_short(f"{name}: step at R", off, "<", mp.mpf(10) ** -20, off < 1e-20))
            mean = plain.inner(v, curved)
            held = 0 < mean <= 1 / late.S + mp.mpf(10) ** -50  # two single pairs attain it
            found.append(_short(f"{name}: <v, F'' v>", mean, "<=", 1 / late.S, held))
    return tuple(found)


@cache
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
                words = f"{name}, delta = {mp.nstr(delta, 2)}: growth of the root of the energy"
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


@cache
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
    found = [identity("log sum C e^-u less its dual, three pairs", rest, sp.Integer(0))]
    with mp.workdps(DIGITS):
        for name, data in instances.star_data().items():
            late = Late(data)
            rivals = {q: sum(e[0] == q for e in late.tight) for q, _, _ in late.tight}
            share = {e: 1 / ((1 + rivals[e[0]]) * late.S) for e in late.tight}
            value = mp.fsum(x * mp.log(late.C[e] / x**entropy) for e, x in share.items())
            off = abs(late.F(late.R) - value)
            found.append(_short(f"{name}: F(R) less it", off, "<", mp.mpf(10) ** -50, off < 1e-50))
    return tuple(found)


@cache
def worst_states(share: float = 1.0, tries: int = 200) -> tuple[Shown, ...]:
    """Theorem G: from random states with a large loss, changes that raise the mean margin are kept.

    The mean of the margins, weighted by the forces, stays below K_2.

    Args:
        share: of K_2; 1 in truth.
        tries: changes tried on each of three states.
    """
    found: list[Shown] = []
    rng = np.random.default_rng(7)
    with mp.workdps(DIGITS):
        for far in instances.any_states(seed=11, trials=40):
            if len(found) == 3 or (best := _mean_if_large(far.data, far.W, far.A)) is None:
                continue
            W, A = dict(far.W), far.A
            for _ in range(tries):
                size = mp.mpf(float(10 ** rng.uniform(-1, 1)))
                moved = {x: y + size * mp.mpf(float(rng.normal())) for x, y in W.items()}
                gap = A * mp.mpf(float(np.exp(rng.normal() / 3)))
                value = _mean_if_large(far.data, moved, gap)
                if value is not None and value > best:
                    W, A, best = moved, gap, value
            bound = mp.mpf(share) * K_2(far.data.max_length)
            words = f"the mean margin of what moves, worst of {tries} from state {len(found) + 1}"
            found.append(_short(words, best, "<=", bound, best <= bound))
    return tuple(found)


def _mean_if_large(data: plain.Data, W: Vector, A: Any) -> Any:
    """The mean margin where all u~ >= 0 and the loss exceeds |V| e^{-A/4}; else None."""
    if any(u < 0 for n in data.samples for u in plain.effective_margins(n, W)):
        return None
    pairs = zip(data.samples, model.losses(data, W, A), strict=True)
    if mp.fsum(n.pi * value for n, value in pairs) <= data.vocab_size * mp.exp(-A / 4):
        return None
    b = [value for values in plain.forces(data, W, A) for value in values]
    u = [value for n in data.samples for value in plain.margins(n, W)]
    return mp.fsum(p * v for p, v in zip(b, u, strict=True)) / mp.fsum(b)
