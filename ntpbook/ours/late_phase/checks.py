"""Checks of the late phase: from the harmonic inequality to the sharp rate, the loss, bounds for
all later steps."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, ctx
from mpmath import mp

from ntpbook.ours.late_phase import instances, model, second_derivations, short_steps, steps
from ntpbook.ours.late_phase.instances import (
    Distribution,
    Enclosed,
    Far,
    LateRun,
    Triple,
    TwoPoints,
)
from ntpbook.ours.late_phase.transcriptions import transcriptions
from ntpbook.shared import corollaries, enclosure
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.digits import DIGITS, at_most
from ntpbook.shared.levels import within
from ntpbook.shared.origins import ENCLOSURE, SIXTY_DIGITS
from ntpverdicts import compare
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, count, least, most, result
from ntpverdicts.vocabulary import SHARPER, Variant, by_hand, check, enclosed, executed, uses

ROUNDING = 1e-50  # of sixty digits

# Lemma H


@check(
    "ours-harmonic",
    over="distributions",
    instances=instances.distributions,
    says="The proof uses the Cauchy–Schwarz inequality. A second proof uses duality; one of the "
    "steps shows its computation. The check verifies Lemma H in exact fractions for {tried} "
    "distributions $p$ on the pairs of random data and of data with five tokens. The data with "
    "five tokens have a slack pair, and for them the closed form of $W^*$ in Proposition 2 is "
    "wrong. Equality holds for their dual solution, scaled to a distribution.",
    proof=(
        executed(
            r"$G_e = P_a + P_b$ by the products $\langle B_e, B_f\rangle$, and a bound on each "
            "$1/G_e$ by the Cauchy–Schwarz inequality, with the scores of $W^*$",
            steps.harmonic_by_cauchy,
            planted={"Cubes of the scores instead of their squares.": {"power_of_scores": 3}},
        ),
        by_hand(
            r"in the sum of these bounds with the weights $p_e$, each token counts once: $\sum_v "
            r"(W_v^*)^2 \le S$",
            at="sum",
        ),
        executed(
            r"for a second proof, from $\langle B_e, B_f\rangle \ge 0$: the sum of the $p_e/G_e$ "
            r"minus $x^\top Q x$ is a sum of squares, where $x_e = p_e/G_e$ and $Q_{ef} = \langle "
            r"B_e, B_f\rangle$",
            steps.harmonic_by_duality,
        ),
    ),
    planted={
        f"$S$ {SHARPER}.": {"part": Fraction(11, 10)},
        "$1/G_e^2$ instead of $1/G_e$.": {"inverse": 2},
        "Half of $S$ as the bound.": {"part": 2},
        "In the second proof, $1/G_e + 1/G_f$ instead of $1/G_e - 1/G_f$.": {"between": 1},
    },
)
def check_ours_harmonic(
    one: Distribution, inverse: int = 1, part: Fraction | int = 1
) -> Iterator[Said]:
    """sum of p_e / G_e over p_e > 0 is at most ||W*||^2, G_e = <B_e, sum p_f B_f>."""
    V = model.combine(one.p, one.data)
    total = sum(x / model.margin(e, V) ** inverse for e, x in one.p.items() if x)
    yield compare.at_most(total, one.data.S / part)
    yield count("equalities", int(total == one.data.S))


# Lemma D


@check(
    "ours-descent-pointwise",
    over="numbers",
    instances=instances.between_the_ends,
    says="The inequality between numbers is proved symbolically. The check verifies it in exact "
    r"fractions for {tried} triples $(z, \sigma, S)$, {equalities} of them with equality.",
    proof=(
        executed(
            "the difference of the two sides, and the sign of its bracket for $z$ up to $2S - 1$",
            steps.descent_pointwise,
        ),
    ),
    planted={
        "Half of $2S - 1$ in the constant $c$.": {"part": 2},
        f"The right side {SHARPER}.": {"sharper": Fraction(11, 10)},
        "$z$ up to $2S + 1$.": Variant(instances=instances.beyond_the_end),
        "In the proof, $2S - 2$ instead of $2S - 1$.": {"descent_shift": -1},
    },
)
def check_ours_descent_pointwise(
    one: Triple, part: int = 1, sharper: Fraction | int = 1
) -> Iterator[Said]:
    """z/(1+tz) >= c z + (1-c) z/(1+z) for -1 < z <= 2S-1, 0 < t <= 1, c = (1-t)/(1+t(2S-1))."""
    z, t = one.z, one.t
    c = (1 - t) / (1 + t * (2 * one.S - 1) / part)
    left, right = c * z + (1 - c) * z / (1 + z), z / (1 + t * z)
    yield compare.at_most(left + (sharper - 1) * abs(left), right, "both sides")
    yield count("equalities", int(left == right))


@check(
    "ours-descent",
    over="points",
    instances=instances.points,
    says=r"The steps contain a proof of the descent for $\eta < \|W^*\|$ and the computations of "
    "an independent second proof. Both inequalities of Lemma D, the descent of $F$ and the "
    "inequality for distances, hold in {tried} cases, each with random points and a small, a "
    "middle, or a large step size ({compared} comparisons with sixty digits).",
    tolerance=ROUNDING,
    proof=(
        executed(
            "orthogonal to $W^*$, a step of the model is gradient descent on $F$",
            steps.one_step,
            planted={"A step with the opposite sign.": {"downhill": 1}},
        ),
        executed(
            "$F$ is convex and its gradient has the Lipschitz constant 1", short_steps.smoothness
        ),
        uses("ours-harmonic", "Lemma H: the mean of $z/(1 + z)$ is nonnegative"),
        uses("ours-descent-pointwise", "the inequality between numbers"),
        executed(
            r"two bounds on $e^{-x}$ and $\log x$; the second entry of the maximum $c$, from "
            "smoothness",
            short_steps.elementary,
            planted={"$1 + (1 + x)e^{-x}$ instead of $1 - (1 + x)e^{-x}$.": {"sign": -1}},
        ),
        by_hand(
            "the change of $F$ as a mean over the pairs; the mean of the inequality between "
            "numbers; $c$ decreases with the step size",
            at="mean",
        ),
        executed(
            "for a second proof of the descent: derivatives and values of a function that is "
            "first convex, then concave",
            steps.descent_by_shape,
        ),
        executed(
            r"inequality of distances: the square of $y - s\nabla F(y) - v$ expanded",
            steps.distance,
            planted={"The cross term counted once instead of twice.": {"cross": 1}},
        ),
        executed(
            "inequality of distances: by the convexity of $F$ and its descent",
            short_steps.distance_by_descent,
            planted={"$3s(F(y) - F(v))$ instead of $2s(F(y) - F(v))$ in the proof.": {"cross": 3}},
        ),
    ),
    planted={
        f"The descent {SHARPER}: $1.1c$.": {"better": 1.1},
        "The constant with $2S - 2$ instead of $2S - 1$ in the proof.": {"descent_shift": -1},
        "$s(F(y) - F(v))$ instead of $-2s(F(y) - F(v))$.": {"cross_term": -1},
        "The Lipschitz constant $1/2$ instead of 1.": {"part": 8},
    },
)
def check_ours_descent(one: TwoPoints, better: float = 1, cross_term: int = 2) -> Iterator[Said]:
    """F(y') <= F(y) - c s ||grad F(y)||^2, y' = y - s grad F(y), and the distances to a point v."""
    with mp.workdps(DIGITS):
        late, y, v = one.late, one.y, one.v
        new, s, D = late.step(y, one.eta)
        c = better * model.descent_constant(late.S, one.eta)
        old, now = late.F(y), late.F(new)
        yield at_most(now + c * s * D, old, "descent")
        before, after = ({k: z[k] - v[k] for k in y} for z in (y, new))
        right = plain.inner(before, before) + s / c * (old - now)
        right -= cross_term * s * (old - late.F(v))
        yield at_most(plain.inner(after, after), right, "distance")


# Lemma P and the loss of a state


@check(
    "ours-perturbation",
    over="states",
    instances=instances.far_states,
    says="The bounds of Lemma P on the weights are proved for every state in which every sample "
    r"has $1 - m_o \le 1/4$, where $m_o$ is the attention on the optimal token. The bound on the "
    r"step is proved if, moreover, all pairs are tight and $\epsilon \le 1$. The bounds on the "
    r"loss are proved for every state. At {tried} random states with $1 - m_o \le 1/4$, computed "
    "with sixty digits, every bound whose conditions are met holds ({compared} comparisons).",
    tolerance=ROUNDING,
    proof=(
        uses("ours-pairs", "the weights $b_j = A m_j h_j$ of the pairs in the gradient"),
        executed(
            r"bounds on the odds $X$ of an error, on $\tau_j$, and on $h_j$ in terms of $r = 1 - "
            "m_o$",
            steps.perturbation,
            planted={r"$X \le X_* e^{Ar}$ instead of $X_* e^{2Ar}$.": {"power": 1}},
        ),
        executed(
            r"lower bounds on $1 - r$ and $1 - 2r$ by exponentials for $r \in [0, 1/4]$, and the "
            "sum of the exponents",
            short_steps.exponentials_of_lemma_p,
            planted={"$e^{-2.7r}$ instead of $e^{-2.8r}$.": {"second": "27/10"}},
        ),
        executed(
            "a small change of the weights changes the step direction little; the change of the "
            "shares is a sum of transports, each from one pair to another pair",
            short_steps.step_by_shares,
        ),
        by_hand(
            r"$\Xi_e$ is an average of the numbers $m_o h_j/h_*$, so the bound on their "
            r"logarithms holds for $\log\Xi_e$",
            at="shares",
        ),
        executed(
            "for a sample with two rivals, the derivative of the loss where all attention is on "
            "the optimal token",
            steps.loss_of_one_sample,
            planted={r"$h_*$ without $|\mathcal V|/(|\mathcal V| - 1)$.": {"votes": 0}},
        ),
        executed(
            r"the derivative of the loss $\log(1 + X)$ with respect to $\log X$ is between $1 - "
            "T_*$ and 1",
            short_steps.slope_of_the_loss,
            planted={"A derivative of at least $T_*$ instead of $1 - T_*$.": {"wrong": 0}},
        ),
    ),
    planted={
        f"The lower bound on the loss {SHARPER}.": {"sharper": 1.1},
        "$(3A/2 + 4)r$ instead of $(3A + 4)r$.": {"three": 1.5},
        "The upper bound $0.9Ar$ instead of $2Ar$ on the loss above its infimum.": {"two": 0.9},
        "In the proof, half the bound on the change of the step direction.": {"transported": 4},
    },
)
def check_ours_perturbation(
    one: Far, three: float = 3, two: float = 2, sharper: float = 1
) -> Iterator[Said]:
    """|log Xi_e| <= (3 A + 4) r; a step is that of the model but for 2 ||W*|| (e^eps - 1); loss."""
    with mp.workdps(DIGITS):
        data, A, W = one.data, one.A, one.W
        late, missed = model.Late(data), model.attention(data, W)
        _, wrong, h_star = model.one_hot(data, A)
        b = plain.forces(data, W, A)
        for e, value in forces_on_pairs(data, b).items():
            Xi = value * mp.exp(model.margin(e, W)) / (A * h_star * late.C[e])
            yield at_most(abs(mp.log(Xi)), (three * A + 4) * max(missed), "force")
        u = min(model.margin(e, W) for e in data.pairs)
        epsilon = 2 * (3 * A + 4) * (data.max_length - 1) * mp.exp(-u)
        if late.all_tight and epsilon <= 1:
            apart = step_apart(late, W, plain.gradient(data, b))
            yield at_most(apart, 2 * late.w * mp.expm1(epsilon), "step")
        pairs = zip(data.samples, missed, model.excesses(data, W, A), strict=True)
        parts = [(n.pi * r, n.pi * excess) for n, r, excess in pairs]
        mean, excess = (mp.fsum(column) for column in zip(*parts, strict=True))
        yield at_most(sharper * wrong * A * mean, excess, "loss from below")
        yield at_most(excess, two * A * mean, "loss from above")


def forces_on_pairs(data: plain.Data, b: list[list[Any]]) -> dict[plain.Pair, Any]:
    """The total force on each pair."""
    total = dict.fromkeys(data.pairs, mp.mpf(0))
    for sample, values in zip(data.samples, b, strict=True):
        for (j, _), value in zip(sample.rivals, values, strict=True):
            total[sample.query, sample.optimal, j] += value
    return total


def step_apart(late: model.Late, W: plain.Weights, G: plain.Weights) -> Any:
    """Distance of the directions of a true step and of a step of the model."""
    g = model.combine(late.p(late.split(W)[1]), late.data)
    sizes = mp.sqrt(plain.inner(G, G)), mp.sqrt(plain.inner(g, g))
    apart = {v: G[v] / sizes[0] - g[v] / sizes[1] for v in G}
    return mp.sqrt(plain.inner(apart, apart))


# Theorem C


@check(
    "ours-sharp-rate",
    over="runs",
    instances=instances.converging,
    says="There are {tried} runs with one optimal token per query, computed with sixty digits. Let "
    "$h$ be the distance of the residual from its predicted limit $R$ halfway through a run. At "
    r"the end of the run this distance is at most $h^{3/2}$, or it is below $10^{-45}$, the level "
    r"of the rounding errors. Moreover, $(t\eta)^2(1 - \cos)$ then equals $\|R\|^2/2$ "
    r"up to the next term of its expansion in powers of $1/(t\eta)$ ({compared} comparisons). The "
    r"step sizes go up to 0.95 times the bound of Theorem C on $\eta$.",
    proof=(
        uses(
            "ours-direction",
            r"Theorem B: margins grow like $t$, and $\|y\|$ at most like $\sqrt t$",
        ),
        uses("ours-perturbation", "Lemma P: the run is the model up to a small perturbation"),
        uses("ours-descent", "Lemma D: $F$ decreases in a step of the model"),
        by_hand(
            "the perturbations of the model, those from slack pairs included, are exponentially "
            "small in $t$",
            at="model",
        ),
        by_hand(
            "$F$ has a unique minimizer on $Y$, by a dual solution that is positive on all tight "
            "pairs",
            at="goal",
        ),
        by_hand(
            r"$F(y_t) - \min F$ and the changes of $t\eta - x_t$ decrease exponentially",
            at="speed",
        ),
        by_hand(
            r"where each query has one optimal token, the margins of $R$ are $\log(C_e(1 + m))$ up "
            "to one additive constant",
            at="constant",
        ),
        executed(
            "on four data sets with one optimal token per query, a step of the model near $R$ is "
            "a contraction in a random direction, by finite differences",
            second_derivations.step_at_the_limit,
            planted={"Nine tenths of $F''(R)$ in a step of the model near $R$.": {"factor": 0.9}},
        ),
        executed(
            "a run with a slack pair and several optimal tokens of one query",
            second_derivations.beyond_stars,
            planted={
                "The multiplier $1/4$ instead of $1/3$ in the limits of the shares.": {
                    "multiplier": "1/4"
                }
            },
        ),
    ),
    planted={
        f"The constant {SHARPER}.": {"half": 0.5 / 1.1},
        r"$\|R\|^2$ instead of half of it.": {"half": 1},
        r"$R$ with the margins $\log C_e$ instead of $\log(C_e(1 + m))$.": {"rivals": 0},
    },
)
def check_ours_sharp_rate(one: LateRun, half: float = 0.5, rivals: int = 1) -> Iterator[Said]:
    """y tends to R exponentially fast, and (t eta)^2 (1 - cos) to ||R||^2 / 2."""
    with mp.workdps(DIGITS):
        late, R = one.late, one.late.residual(rivals)
        early, last = (distance(late, W, R) for _, W in one.states)
        floor = mp.mpf(10) ** -45  # below it lies the rounding of four hundred steps
        yield at_most(last, max(early ** (mp.mpf(3) / 2), floor), "distance to R, both halves")
        t, W = one.states[-1]
        length, size = t * one.eta, mp.sqrt(plain.inner(R, R))
        lag = length - late.split(W)[0]
        rate = length**2 * model.one_minus_cos(late, W)
        room = 3 * size**2 * ((size + lag) / length) ** 2
        yield at_most(abs(rate - half * size**2 * (1 + 2 * lag / length)), room, f"rate, $t = {t}$")
        yield result("constant", float(size**2 / 2), digits=5, origin=SIXTY_DIGITS)


def distance(late: model.Late, W: plain.Weights, R: model.Vector) -> Any:
    """||y - R||."""
    y = late.split(W)[1]
    apart = {place: y[place] - R[place] for place in y}
    return mp.sqrt(plain.inner(apart, apart))


# Theorem C0 and its converse


@check(
    "ours-bounded-residual",
    over="runs",
    instances=instances.huge_steps_then_idle,
    says="The check tries {tried} runs. On data without an idle pair, with step sizes of 2.5 and "
    r"20 times $\|W^*\|$, the distance of the residual from the minimizer $R$ of $F$ at the last "
    r"step is at most $\frac2p\bigl(\log\frac1p + \frac{\eta}{\sqrt2}\bigr) + \eta$, where $p$ is "
    r"the smallest share of a pair at $R$. On data with an idle pair, the largest norm of the "
    r"residual up to the last step $t$ is at least $\log t/(2\sqrt2)$.",
    proof=(
        executed(
            "orthogonal to $W^*$, a step of the model is gradient descent on $F$",
            steps.one_step,
            planted={"A step with the opposite sign.": {"downhill": 1}},
        ),
        uses("ours-direction", "Theorem B: margins grow like $t$, for every step size"),
        uses("ours-perturbation", "Lemma P: the run is the model up to a small perturbation"),
        by_hand("the norms of the perturbations of the model have a finite sum", at="model"),
        executed(
            "the squared distance to $R$ after a step, expanded",
            steps.distance,
            planted={"The cross term counted once instead of twice.": {"cross": 1}},
        ),
        by_hand(
            r"$F(y) - F(R)$ grows at least linearly in $\|y - R\|$, with a slope $\kappa > 0$, "
            "by compactness",
            at="kappa",
        ),
        executed(
            "a large residual does not grow if no pair is idle; how much idle pairs add in a step",
            short_steps.long_residual,
        ),
        by_hand(
            r"there is a matrix $v$ with $\langle B_e, v\rangle \ge 1$ on the idle pairs and 0 on "
            "the other tight pairs, by Motzkin's theorem",
            at="motzkin",
        ),
        by_hand(
            "only if: with a bounded residual the share of the idle pairs would stay above a "
            "constant, and the sum of their contributions would diverge",
            at="only-if",
        ),
    ),
    loose=r"On data without an idle pair, at step sizes up to $20\|W^*\|$, the distance of the "
    r"residual from $R$ stays below one ninth of $\frac2p\bigl(\log\frac1p + \eta/\sqrt2\bigr) + "
    r"\eta$, where $p$ is the smallest share of a pair at $R$. On data with an idle pair, the "
    r"largest norm of the residual is at least 2.2 times $\log t/(2\sqrt2)$.",
    planted={
        r"The bound of the proof without its terms in $\eta$.": {"swings": 0},
        r"With an idle pair, growth like $4\log t/\sqrt2$ instead of $\log t/(2\sqrt2)$.": {
            "slope": 8
        },
        "In the proof, $s(F(y) - F(R))$ instead of $2s(F(y) - F(R))$.": {"times": 1},
    },
)
def check_ours_bounded_residual(one: LateRun, swings: int = 1, slope: float = 1) -> Iterator[Said]:
    """||y|| is bounded if and only if no tight pair is idle, for every step size."""
    with mp.workdps(DIGITS):
        t, W = one.states[-1]
        if one.late.one_optimal:
            late = one.late
            several = max(len([e for e in late.data.pairs if e[0] == q]) for q, _, _ in late.tight)
            smallest = 1 / (late.S * (1 + several))
            swing = swings * one.eta
            bound = 2 / smallest * (mp.log(1 / smallest) + swing / mp.sqrt(2)) + swing
            yield at_most(distance(late, W, late.R), bound, f"$t = {t}$")
        else:
            yield at_most(slope * mp.log(t) / mp.sqrt(8), one.longest, f"$t = {t}$")


# Theorem D


@check(
    "ours-logarithm-law",
    over="runs",
    instances=instances.with_an_idle_pair,
    says="On {tried} runs with one query and an idle pair, the component of the residual along "
    r"$v^*$ grows by $\|v^*\|$ per unit of $\log t$, with a relative error of at most {off}. "
    "From the middle to the end of a run, the squared norm of the component orthogonal to $v^*$ "
    r"changes by at most $1/(t\eta)$, where $t$ is the step in the middle. The proof step on the "
    r"energy of $z_t/\log t$, with $z_t$ from part (iv) of the proof, belongs to a second "
    "derivation.",
    proof=(
        uses(
            "ours-sharp-rate",
            "the run is the model up to a small perturbation, and $F_1$ has "
            "one minimizer, as $F$ in Theorem C",
        ),
        uses("ours-descent", "Lemma D and the inequality of distances"),
        uses("ours-perturbation", "Lemma P"),
        by_hand(
            "$v^*$ exists: otherwise a multiplier of an idle pair could be positive (Motzkin)",
            at="motzkin",
        ),
        by_hand(
            r"$\inf F$ is the minimum of $F_1$, and $\sum\|\nabla F\|^2$ is finite", at="infimum"
        ),
        by_hand(
            r"sums of distances give $\|y\| = O(\log t)$ and $F - \inf F = O(\log^2 t/t)$",
            at="distances",
        ),
        by_hand(
            r"$\langle B_e, z\rangle \ge \log t - 2\log\log t - C$ on idle pairs, by the bound "
            r"on $F - \inf F$",
            at="idle",
        ),
        executed(
            r"for a second derivation: identities for the energy $\frac12\|\zeta - v^*\|^2$ of "
            r"$\zeta = z/\log t$, with the $z = z_t$ of part (iv) of the proof",
            steps.logarithm_by_energy,
            planted={"The energy without its factor one half.": {"half": 1}},
        ),
        by_hand(
            r"the direction of the residual: $\|z - v^*\log t\|^2 = O(\log t \log\log "
            "t)$",
            at="direction",
        ),
    ),
    planted={
        f"The growth {SHARPER}.": {"speed": 1.1},
        "$v^*$ with twice its norm.": {"speed": 2},
        r"$v^*$ with half its norm, so that $(t\eta)^2(1 - \cos)$ grows one quarter as fast.": {
            "speed": 0.5
        },
    },
)
def check_ours_logarithm_law(one: LateRun, speed: float = 1) -> Iterator[Said]:
    """y / log t tends to v*, the shortest direction with <B_e, v> >= 1 on the idle pairs."""
    # On the path q = <y, v*> has dq / ds = r / sqrt((2 + r)^2 + r^2), s = t eta and r = K e^-q the
    # force on the idle pair by that on another. So e^q is near K / 2 (s - log s + c), c > 0, and q
    # off by (log s) / s at most. Beside v*, the other two pairs settle at equal forces whatever q
    # is, but for terms of order 1 / s.
    with mp.workdps(DIGITS):
        v = instances.idle_direction()
        (_, _), (early, first), (late, second) = one.states
        y, z = (one.late.split(W)[1] for W in (first, second))
        grown = plain.inner(z, v) - plain.inner(y, v)
        off = abs(grown / mp.log(mp.mpf(late) / early) - speed)
        s = early * one.eta
        next_term = mp.log(s) / s / mp.log(mp.mpf(late) / early)
        yield at_most(off, next_term, f"growth from $t = {early}$ to {late}")
        beside = [plain.inner(one, one) - plain.inner(one, v) ** 2 for one in (y, z)]
        yield at_most(abs(beside[1] - beside[0]), 1 / s, "the component orthogonal to v*")
        yield most("off", float(off), digits=1)


# Theorem E


def later_bounds(first: int = 1000, far: int = 10**5) -> Iterator[Shown]:
    """On Example 1 the bounds from an enclosed state, as balls of floats rounded outwards.

    Args:
        first: the step of the state on which condition (late) is asked.
        far: the step of the bounds.
    """
    (one,) = instances.enclosed()
    state = one.later[1] if first == 1000 else instances.enclosed_at(first)
    step, again = state.step, enclosure.certify(state, Fraction(1, 100))
    yield Shown(
        rf"condition (late) at step {step}, $\delta = 1/100$, in balls",
        "its left side",
        "<",
        "its right side",
        "surely negative" if again else "not surely negative",
        again is not None,
    )
    low, high = one.certificate.bounds(far)
    rest = f"{low - high:.2g}"
    yield Shown(rf"$1 - \cos$ at $t = {far}$", f"{low:.5g}", "<=", f"{high:.5g}", rest, low <= high)


@check(
    "ours-certificate",
    over="runs",
    instances=instances.enclosed,
    says="On Example 1, at the paper's step size, every number is certified by ball arithmetic. "
    r"At step 900, $1 - \cos$ is {at_900}. By Theorem E, the state at step 1000 bounds $1 - \cos$ "
    r"at all later steps. For example, $(t\eta)^2(1 - \cos)$ is at least {low} and at most {high} "
    r"at $t = 100\,000$. The bounds of Theorem E hold in {compared} comparisons with certified "
    "states from step 1000 on.",
    proof=(
        uses(
            "ours-sharp-rate", "$R$ is the minimizer of $F$ where each query has one optimal token"
        ),
        uses("ours-descent", "the inequality of distances with $v = R$"),
        uses("ours-perturbation", "Lemma P"),
        uses("ours-trivial-bound", r"$x$ grows by at least $\eta/(\sqrt2\,\|W^*\|)$ in a step"),
        executed(
            "how much one perturbation changes the energy",
            short_steps.energy_of_a_perturbed_step,
            planted={"The Lipschitz constant of $F$ left out.": {"lipschitz": 0}},
        ),
        executed(
            r"sums of perturbations, the geometric tail, $1 - \cos$",
            steps.certificate,
            planted={"The sum of the $b_k$ subtracted instead of added.": {"sum_sign": -1}},
        ),
        executed(
            "condition (late) implies the conditions of Lemma P",
            steps.lateness_of_the_certificate,
            planted={"3 instead of 8 in condition (late).": {"eight": 3}},
        ),
        by_hand(
            r"as long as the energy is below $\omega^2$, a geometric series bounds all "
            "perturbations by the left side of (late): induction",
            at="induction",
        ),
        by_hand(r"the bound $\xi$ on the lag $t\eta - x_t$, from $\sum\|\nabla F\|^2$", at="lag"),
        executed(
            "condition (late) and the lag at eleven states of Example 1: implementations with "
            "many digits, in ball arithmetic, and in floating point agree",
            transcriptions,
            planted={
                r"$\omega$ left out of condition (late).": {"without_omega": 1},
                "$S$ left out of the lag.": {"without_S": 1},
            },
        ),
        enclosed(
            r"condition (late) at step 1000 of Example 1, and both bounds on $1 - \cos$",
            later_bounds,
            planted={"The state after 600 steps instead of 1000.": {"first": 600}},
        ),
        executed(
            "runs of the model on four data sets, with perturbations chosen as worst cases for "
            "the bound",
            second_derivations.worst_perturbations,
            planted={r"$\delta/100$ instead of $2\delta$.": {"allowed": 0.01}},
        ),
    ),
    planted={
        f"Both bounds {SHARPER}.": {"sharper": 1.1},
        "Both bounds without the term for perturbations.": {"omega": 0},
        "Bounds that decrease like $1/t$ instead of $1/t^2$.": {"power": 1},
        "A run where one sample counts twice.": Variant(instances=instances.of_other_data),
    },
)
def check_ours_certificate(
    one: Enclosed, omega: int = 1, power: int = 2, sharper: float = 1
) -> Iterator[Said]:
    """1 - cos is at least (||R|| - omega)^2 / (2 (t eta)^2 + 2 (||R|| + omega)^2), and at most
    (||R|| + omega)^2 / (2 (t eta - xi)^2), for all t from the step of the certificate on."""
    made = one.certificate
    middle = (made.least + made.most) / 2
    if not omega:
        made = enclosure.Certificate(made.state, middle, middle, made.lag * 0)
    before, *later = one.later
    for state in later:
        low, high = made.bounds(state.step)
        scale = (state.step / made.state.step) ** (2 - power)
        with ctx.workprec(53):
            value = arb(enclosure.one_minus_cos(state))
            ends = float(value.lower()), float(value.upper())
        yield compare.at_most(sharper * scale * low, ends[0], f"below, $t = {state.step}$")
        yield compare.at_most(sharper * ends[1], scale * high, f"above, $t = {state.step}$")
    far, eta = 10**5, 1 / 40
    low, high = (x * (far * eta) ** 2 for x in made.bounds(far))
    yield least("low", low, digits=4, origin=ENCLOSURE)
    yield most("high", high, digits=4, origin=ENCLOSURE)
    yield result("at_900", float(enclosure.one_minus_cos(before)), digits=9, origin=ENCLOSURE)


# Theorem F


def least_value(late: model.Late) -> Any:
    """inf F: at R where each query has one optimal token, otherwise for the path with an idle pair.

    There p* is 1/2 on the pairs a > c and b > d, and inf F = sum of p* log(C / p*).
    """
    if late.one_optimal:
        return late.F(late.R)
    return mp.log(2 * mp.sqrt(late.C[3, 0, 2] * late.C[3, 1, 3]))


@check(
    "ours-loss-law",
    over="runs",
    instances=instances.converging_then_idle,
    says="On {settled} runs with one optimal token per query, computed with sixty digits, the "
    "quotient of the two sides of the limit differs from 1 by at most {off} at the last step. "
    "On {idle} runs with an idle pair this quotient comes closer to 1 when $t$ doubles, and "
    r"differs from 1 by at most {far} at the last step. The limit $\xi$ is taken from an earlier "
    "step than the loss.",
    proof=(
        uses(
            "ours-sharp-rate", r"Theorem C: $y_t$ and $t\eta - x_t$ converge where no pair is idle"
        ),
        uses("ours-logarithm-law", r"Theorem D: $F(y_t) \to \inf F$ where a pair is idle"),
        uses(
            "ours-perturbation",
            "Lemma P: the weights of the pairs at large margins",
        ),
        by_hand(
            r"$\mathcal L - \mathcal L^*$, by integrating these weights along $W^*$; "
            r"$F(y_t) \to \inf F$ and $t\eta - x_t \to \xi$, with or without idle pairs",
            at="limit",
        ),
        executed(
            "the dual formula for $F$ with three pairs, and its value at $R$ on four data sets",
            second_derivations.least_value_by_duality,
            planted={
                r"The entropy counted twice in the dual formula for $\inf F$.": {"entropy": 2}
            },
        ),
        executed(
            "runs with a slack pair, and with an idle pair",
            second_derivations.beyond_stars,
            planted={
                "The multiplier $1/4$ instead of $1/3$ in the limits of the shares.": {
                    "multiplier": "1/4"
                }
            },
        ),
    ),
    planted={
        r"Without the factor $e^{\inf F}$.": {"potential": 0},
        r"The rate $\eta/(2\|W^*\|)$.": {"rate": 0.5},
    },
)
def check_ours_loss_law(one: LateRun, potential: int = 1, rate: float = 1) -> Iterator[Said]:
    """e^{t eta / ||W*||} (L - L*) tends to A h* e^{inf F + xi / ||W*||}.

    xi is the limit of t eta - x_t, here its value at the recorded step before t: with the value at
    t itself t eta would cancel. Without an idle pair both sides agree at last to 1e-12; with one
    their distance falls by a third at least when t doubles, and to 1/100 at last.
    """
    with mp.workdps(DIGITS):
        late, A, off = one.late, one.A, []
        for (before, earlier), (t, W) in pairwise(one.states):
            xi = before * one.eta - late.split(earlier)[0]
            pairs = zip(late.data.samples, model.excesses(late.data, W, A), strict=True)
            excess = mp.fsum(n.pi * value for n, value in pairs)
            constant = A * model.one_hot(late.data, A)[2]
            constant *= mp.exp(potential * least_value(late) + xi / late.w)
            off.append(abs(mp.exp(rate * t * one.eta / late.w) * excess / constant - 1))
        settled = late.one_optimal
        yield within(float(off[-1]), 1e-12 if settled else 1e-2, f"$t = {one.states[-1][0]}$")
        if not settled:
            yield within(float(off[-1] / off[0]), 2 / 3, "the distance when t doubles")
        yield count("settled", int(settled))
        yield count("idle", int(not settled))
        yield most("off" if settled else "far", float(off[-1]), digits=1)


# Theorem G and equation (4)


@check(
    "ours-loss-soon",
    over="states and runs",
    instances=instances.soon,
    says=r"At {states} random states whose loss exceeds $|\mathcal V|e^{-A/4}$, the mean of the "
    "margins, weighted as in the gradient, is at most $K_2$. In {runs} runs with sample "
    r"frequencies down to about $10^{-30}$, the loss is at most $|\mathcal V|e^{-A/4}$ after the "
    "stated number of steps.",
    tolerance=ROUNDING,
    proof=(
        uses("ours-pairs", "the weights of the pairs, and that all $m_o$ and $m_o - m_k$ increase"),
        by_hand("the loss of each sample decreases with $t$", at="falls"),
        executed(
            "the total weight of the pairs of a sample, a lower bound on $m_o(1 - m_o)$, and the "
            "constants in $K_2$",
            steps.loss_without_frequencies,
        ),
        by_hand("samples with $m_o < 3/4$ contribute more than $e^{-A/4}$ to the loss", at="pull"),
        uses("ours-alignment", "parts (ii) and (iv) of the proof of Theorem A, within one sample"),
        by_hand(
            r"the mean margin in samples with $m_o \ge 7/8$ and in samples with $m_o < 7/8$, "
            "separately",
            at="margins",
        ),
        executed(
            "bounds on functions of one variable, and the number of steps by the perceptron "
            "argument",
            short_steps.loss_while_large,
        ),
        uses("ours-trivial-bound", r"$\|W\| \ge t\eta/(\sqrt2\,\|W^*\|)$"),
        by_hand(
            r"$\|W\|^2$ grows by at most $2\eta K_2\|W^*\| + \eta^2$ in a step", at="perceptron"
        ),
        executed(
            "inequalities for another argument, by entropy, which gives a smaller number $K_2'$ in "
            "place of $K_2$",
            short_steps.loss_by_entropy,
            planted={"$7/(8L)$ instead of $3/(8L)$.": {"thirds": 7}},
        ),
        executed(
            "states constructed as worst cases",
            second_derivations.worst_states,
            planted={"One hundredth of $K_2'$.": {"share": 0.01}},
        ),
    ),
    loose="Another argument, by entropy, gives a smaller number $K_2'$ in place of $K_2$. Over all "
    "states constructed as worst cases, with sentences of up to 20 tokens and with gaps and "
    "margins on a grid, the largest mean margin is a few percent of $K_2'$ and at most 1.1 percent "
    "of $K_2$. At random states the mean margin is a smaller part of $K_2$.",
    planted={
        r"The smaller loss $|\mathcal V|e^{-3A/2}$ after as many steps.": {"power": 1.5},
        "0 instead of $K_2$.": {"bound": 0},
        "$7L^2$ instead of $8L^2$ in the proof.": {"eight": 7},
        r"$\log^4$ instead of $\log^3$ in the proof.": {"three": 4},
    },
)
def check_ours_loss_soon(
    one: Far | LateRun, power: float = 0.25, bound: float = 1
) -> Iterator[Said]:
    """Loss <= |V| e^{-A/4} for t > 2 S (1 + 2 K_2 ||W*|| / eta), K_2 = 8 L^2 + log(14 L^3).

    L is the longest sentence. A run is tried at the first such t. At a state with a larger loss the
    mean of the margins, weighted by the forces, is at most K_2: a step of the proof.
    """
    with mp.workdps(DIGITS):
        if isinstance(one, LateRun):
            data, A, (t, W) = one.late.data, one.A, one.states[-1]
            left = mp.log(mean_loss(data, W, A))
            # an absolute slack, because both sides are logarithms
            yield compare.at_most(
                float(left - mp.log(data.vocab_size) + power * A), 0.0, f"$t = {t}$"
            )
            yield count("runs")
        elif mean_loss(one.data, one.W, one.A) > one.data.vocab_size * mp.exp(-one.A / 4):
            b = plain.forces(one.data, one.W, one.A)
            pulls = [value for values in b for value in values]
            u = [value for n in one.data.samples for value in plain.margins(n, one.W)]
            mean = mp.fsum(p * v for p, v in zip(pulls, u, strict=True)) / mp.fsum(pulls)
            yield at_most(mean, bound * model.K_2(one.data.max_length))
            yield count("states")


def mean_loss(data: plain.Data, W: plain.Weights, A: Any) -> Any:
    """The loss (1)."""
    pairs = zip(data.samples, model.losses(data, W, A), strict=True)
    return mp.fsum(n.pi * value for n, value in pairs)


@check(
    "ours-eq-4-printed",
    over="runs",
    instances=instances.first_steps,
    says=r"For $t \ge 2$ the paper's condition on $t$ implies the condition of Theorem G, "
    r"whatever $N$, $L_{\max}$, $\|W^*\|$, and $\eta \le \|W^*\|/\mathrm e$ are. At $t = 1$, "
    r"where the condition is empty, equation (4) holds on {tried} runs with step sizes up to "
    r"$\|W^*\|/\mathrm e$.",
    proof=(
        uses(
            "ours-loss-soon",
            r"Theorem G: the loss is at most $|\mathcal V|e^{-A/4}$ for $t > 2S(1 + "
            r"2K_2\|W^*\|/\eta)$",
        ),
        executed(
            r"bounds on logarithms by tangents, $\log x \le x - 1$, and $\log t \ge \log 2$ for "
            r"$t \ge 2$",
            corollaries.tangents,
            planted={"Tangents with half the slope.": {"slope": "1/2"}},
        ),
        executed(
            r"for $t \ge 2$ the stated condition on $t$ implies the condition of Theorem G",
            corollaries.equation_4_as_printed,
        ),
        executed(
            r"for $t \ge 2$ the condition with $L^3$ and $c_0 = 109$, and with $L^2$ and $c_0 = "
            "218$, implies the condition of Theorem G, too",
            corollaries.equation_4_by_powers,
            planted={r"$c_0 = 108$ with the third power of $L_{\max}$.": {"third": 108}},
        ),
        executed(
            r"the exponent of (4) at $t = 1$, by $\eta \le \|W^*\|/\mathrm e$",
            corollaries.equation_4_at_once,
            planted={"A step size eleven times as large.": {"larger": 11}},
        ),
        uses("ours-pairs", "the optimal token has the largest attention"),
        by_hand(
            r"no loss exceeds $\log|\mathcal V|$, and at $t = 1$ the right side of (4) is at "
            r"least $|\mathcal V|$",
            at="first-step",
        ),
    ),
    loose=r"No loss exceeds $\log|\mathcal V|$, and $|\mathcal V|/\log|\mathcal V| \ge \mathrm "
    r"e$. So at $t = 1$, where the condition on $t$ is empty, the right side of (4) is at least "
    r"$\mathrm e$ times the loss. For $t \ge 2$ the corollary is weaker than Theorem G.",
    planted={
        "The exponent of (4) multiplied by $-3$.": {"times": -3},
        "$c_0 = 54$ in the condition.": {"c0": 54},
        r"The step size 50 at $t = 1$, which $\eta \le \|W^*\|/\mathrm e$ excludes.": Variant(
            instances=instances.a_long_first_step
        ),
    },
)
def check_ours_eq_4_printed(one: LateRun, times: float = 1) -> Iterator[Said]:
    """log L <= log |V| - T C_0 (1 - 2 L / (L + e^{C_1 t})) at t = 1, |V| = 4, L = 2, S = 1."""
    with mp.workdps(DIGITS):
        t, W = one.states[-1]
        exponent = times * one.A / (4 * mp.sqrt(3)) * (1 - 4 / (2 + mp.exp(one.eta / 8)))
        left = mp.log(mean_loss(one.late.data, W, one.A))
        yield compare.at_most(float(left - mp.log(4) + exponent), 0.0, f"$t = {t}$")
