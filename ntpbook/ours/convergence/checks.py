"""Checks of Theorems A and B, of the trivial bound, and of what follows for the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mpmath import mp

from ntpbook.ours.convergence import instances, steps
from ntpbook.ours.convergence.instances import Sizes, Stage2Run, WeightsState
from ntpbook.shared import corollaries
from ntpbook.shared import plain_stage2 as plain
from ntpbook.shared.digits import DIGITS, at_most
from ntpbook.shared.origins import SIXTY_DIGITS
from ntpcore.huang2024 import direction
from ntpverdicts import compare
from ntpverdicts.compare import Said, least, left_out, most
from ntpverdicts.vocabulary import SHARPER, Variant, by_hand, check, cited, executed, uses

ROUNDING = 1e-50  # equalities at sixty digits
NO_RARITY = r"$K$ without $\log(1/\pi_{\min})$."
NO_LENGTHS = "$K$ without the lengths of sentences."


# The gradient as a sum of pairs


@check(
    "ours-pairs",
    over="states",
    instances=instances.states_and_steps,
    says="The proof covers every state at which optimal tokens have the largest attention, and "
    "so every state of every run. At {tried} states, with sixty digits, all weights are positive, "
    "and a step of size 1 decreases no margin. At some of these states (those that are not from "
    "runs and where no entry of $W$ is 10 or larger in size), the check also compares the sum over "
    "pairs with the gradient by equation (6) of the paper, and both agree.",
    tolerance=ROUNDING,
    proof=(
        executed(
            r"from the loss: the negative gradient of a sample is $\sum_j b_j (e_o - e_j) "
            r"e_q^\top$ with $b_j = A m_j h_j$, for any number of rivals and any $|\mathcal V|$",
            steps.gradient_for_all_rivals,
            planted={"Twice the weight.": {"force": 2}},
        ),
        executed(
            "on one sentence of four tokens, the derivatives of the loss, computed position by "
            "position, agree with equation (6) and with $A m h$",
            steps.gradient_from_the_loss,
            planted={"Twice the weight, on one sentence.": {"force": 2}},
        ),
        executed(
            "$h_j$ is a sum of nonnegative terms where $m_o$ is the largest attention, and $m_o "
            r"\ge 1/L$",
            steps.lemma_5,
            planted={"The term $m_o s$ left out.": {"drop_m_o_s": 1}},
        ),
        by_hand(
            "induction: a step raises $W[o, q]$ and lowers $W[j, q]$, so margins grow and $m_o$ "
            "stays the largest mass; at the start $W = 0$, it is the largest by Assumption 3",
            at="induction",
        ),
    ),
    planted={
        "Twice the weights of the pairs.": {"times": 2},
        "A state where a rival has more attention than the optimal token.": Variant(
            instances=instances.below_a_rival
        ),
        "The lower bound on the attention of an optimal token 1.1 times sharper: $1.1/L$.": {
            "sharper": 1.1
        },
    },
)
def check_ours_pairs(one: WeightsState, times: int = 1, sharper: float = 1) -> Iterator[Said]:
    """-grad = sum of pi b B with b > 0, m_o >= 1 / L, and no margin shrinks in a step.

    At states where each optimal token has the largest mass.
    """
    with mp.workdps(DIGITS):
        data, W = one.data, one.W
        seen = plain.samples_at(data, W, one.A)
        b = [sample.b for sample in seen]
        G = plain.gradient(data, b)
        if one.by_positions:
            right = plain.plain_gradient(data, W, one.A)
            size = mp.sqrt(plain.inner(right, right))
            apart = {place: times * G[place] - right[place] for place in G}
            rest = mp.sqrt(plain.inner(apart, apart))
            # the softmax of (6) loses as many digits as its largest exponent has
            yield compare.holds(rest <= size * mp.mpf(10) ** -20, "both forms of the gradient")
        yield compare.holds(all(value > 0 for values in b for value in values), "a weight")
        length = mp.sqrt(plain.inner(G, G))
        after = {place: W[place] + G[place] / length for place in W}
        for sample, (m_o, *_) in zip(data.samples, seen, strict=True):
            u, later = plain.margins(sample, W), plain.margins(sample, after)
            yield compare.holds(all(x <= y for x, y in zip(u, later, strict=True)), "a margin")
            yield at_most(sharper / mp.mpf(data.max_length), m_o, "the mass of the optimal token")


# Theorem A

ALIGNMENT = (
    uses("ours-pairs", r"the negative gradient as a sum over pairs, and $m_o \ge 1/L$"),
    executed(
        r"(i) $h_j \le 2(1 - T_o)$, and $h_k \ge (1 - T_o)/L$",
        steps.theorem_a_bounds_on_h,
        planted={"$1 - T_o$ instead of $2(1 - T_o)$ as a bound on $h_j$.": {"largest_h": 1}},
    ),
    executed(
        r"$\tau_k \ge (1 - s)/(L - 1)$, because $\tau_k$ is the largest of at most $L - 1$ terms "
        "with the sum $1 - s$",
        steps.theorem_a_largest,
        planted={r"$L - 2$ instead of $L - 1$ in the bound on $\tau_k$.": {"fewer": 1}},
    ),
    executed(
        r"(ii) in one sample $p_j/p_k \le 2L\, e^{-(u_j - u_k)}$",
        steps.theorem_a_one_sample,
        planted={"$L$ instead of $2L$ in the bound on $p_j/p_k$.": {"largest_h": 1}},
    ),
    executed(
        "(iii) let all effective margins of a sample exceed $u_0$, the smallest effective margin "
        r"of all samples, by more than $\log L$: then $1 - T_o$ of this sample is at most $L - 1$ "
        "times $1 - T_o$ of the sample $n_0$ that attains $u_0$",
        steps.theorem_a_other_samples,
        planted={
            r"$|\mathcal V| - 1$ instead of $|\mathcal V| - 2$ in the bound on $X_0$.": {
                "others_shift": 1
            },
            "In (iii), a sample with more attention on its rivals than $n_0$.": {"lighter": 0},
        },
    ),
    executed(
        r"(iv) $\sum p_i \delta_i \le \log \sum c_i$ if $p_i \le c_i e^{-\delta_i}$",
        steps.theorem_a_jensen,
        planted={r"$\log x \le 2(x - 1)$ instead of $\log x \le x - 1$.": {"slope": 2}},
    ),
    executed(
        "(iv) the sum of the $c_i$, which gives the constant $K$",
        steps.theorem_a_sum,
        planted={"$L - 1$ instead of its square in the sum of the $c_i$.": {"power_of_length": 1}},
    ),
    cited(
        "$W^*/S$ is a convex combination of the $B_e$ of the pairs with margin 1 at $W^*$, so the "
        r"smallest margin at $W$ is at most $\langle W^*, W\rangle/S$",
        "boyd2004",
        "Section 5.5.3",
    ),
    by_hand(
        "(v) margins are at most effective margins, and the smallest effective margin $u_0$ is "
        r"at most $\log(L - 1)$ above the smallest margin",
        at="sum",
    ),
    executed(
        r"the second inequality, in the form of Lemma 7 with $\alpha = K\|W^*\|/\|W\|$",
        steps.theorem_a_conclusion,
        planted={r"Half of $\alpha$.": {"part": 2}},
    ),
)


@check(
    "ours-alignment",
    over="states",
    instances=instances.states,
    says="The proof covers every state at which optimal tokens have the largest attention, and "
    "so every state of every run. Theorem A holds at {tried} states, computed with sixty digits; "
    r"the smallest difference of its two sides at these states is {room}, which is $\log 8$ up to "
    "rounding.",
    tolerance=ROUNDING,
    proof=ALIGNMENT,
    planted={
        NO_RARITY: {"rarity": 0},
        r"Nine tenths of $\log(1/\pi_{\min})$.": {"rarity": 0.9},
        NO_LENGTHS: {"lengths": 0},
        "A state where a rival has more attention than the optimal token.": Variant(
            instances=instances.below_a_rival
        ),
        rf"The bound on $\langle g, W\rangle$ {SHARPER}.": {"sharper": 1.1},
    },
)
def check_ours_alignment(
    one: WeightsState, rarity: float = 1, lengths: int = 1, sharper: float = 1
) -> Iterator[Said]:
    """<g, W> <= <W*, W> / S + K, and <grad, W> >= (1 + alpha) <grad, W*> ||W|| / ||W*||.

    At states where each optimal token has the largest mass; g is minus the gradient by the sum of
    all forces, K = log(2 L^2 (L - 1)^3 / pi_min), and the second one needs <W*, W> >= 0, W != 0.
    """
    with mp.workdps(DIGITS):
        data, W = one.data, one.W
        k = instances.K(data.max_length, data.pi_min, rarity, lengths)
        S, b = plain.as_real(data.S), plain.forces(data, W, one.A)
        G, total = plain.gradient(data, b), mp.fsum(value for values in b for value in values)
        left, along = plain.inner(G, W) / total, plain.inner(data.star, W)
        yield at_most(sharper * left, along / S + k)
        yield least("room", float(along / S + k - left), digits=5, origin=SIXTY_DIGITS)
        norm = mp.sqrt(plain.inner(W, W))
        if norm:
            alpha = k * mp.sqrt(S) / norm
            right = (1 + alpha) * plain.inner(G, data.star) / total * norm / mp.sqrt(S)
            yield at_most(left, right, "the form of Lemma 7")
        else:
            yield left_out("the form of Lemma 7, where <W*, W> < 0 or W = 0")


# The bound against which every other one is held


@check(
    "ours-trivial-bound",
    over="runs",
    instances=instances.with_experiments,
    says="The bound on the cosine follows from the norm bounds alone, from the first step on. "
    r"On {tried} runs the bounds on $x$, $\|W\|$, and the cosine hold ({compared} comparisons), "
    r"with equality where there is a single pair. On Example 1 the bound gives $\cos \ge "
    "{example_cos}$.",
    tolerance=1e-12,  # the runs with twenty tokens are in floats
    proof=(
        uses("ours-pairs", "a step goes along a convex combination of pairs"),
        executed(
            r"$\|g\| \le \sqrt2$ and $\langle d, W^*\rangle \ge 1/\sqrt2$ for every step $d = "
            r"g/\|g\|$, and the sums over the steps, where $\gamma = 1/\|W^*\|$ and "
            r"$a = \langle d, W^*\rangle/\|W^*\|$",
            steps.lemma_6,
            planted={r"A step without any component along $W^*$.": {"gains": 0}},
        ),
        cited(r"$x \le \|W\|$ and $\langle W, d\rangle \le \|W\|$", "horn2013", "Theorem 5.1.4"),
    ),
    planted={
        r"$1/\|W^*\|$ without $\sqrt2$.": {"length": 1},
        "Pairs $B_e$ with norm 1 in the proof.": {"squared_length": 1},
        f"The lower bounds on the cosine and on $x$ {SHARPER}.": {"sharper": 1.1},
        rf"The upper bound on $\|W\|$ {SHARPER}.": {"shorter": 1.1},
        "Data that violate Assumption 3: a rival occurs eight times as often as the optimal "
        "token.": Variant(instances=instances.outnumbered),
        r"A next token that is not $\mathrm n$ of any token of its sentence.": Variant(
            instances=instances.from_outside
        ),
    },
)
def check_ours_trivial_bound(
    one: Stage2Run, length: int = 2, sharper: float = 1, shorter: float = 1
) -> Iterator[Said]:
    """t eta / (sqrt(2) ||W*||) <= x <= ||W|| <= t eta, cos >= 1 / (sqrt(2) ||W*||), t >= 1."""
    with mp.workdps(DIGITS):
        for row in one.rows:
            least_cos, norm = sharper / mp.sqrt(length * one.S), mp.sqrt(row.squared)
            t_eta, at = row.step * one.eta, f"step {row.step}"
            yield at_most(t_eta * least_cos, row.along, f"$x$ at {at}")
            yield at_most(shorter * norm, t_eta, rf"$\|W\|$ at {at}")
            yield at_most(least_cos, row.along / norm, f"the cosine at {at}")
    if not one.quoted:
        return
    S, k = float(one.S), float(instances.K(one.max_length, one.pi_min))
    eta, name, trivial = float(one.eta), one.quoted, direction.one_minus_cos_trivial(float(one.S))
    beats = direction.first_step(lambda t: direction.one_minus_cos(S, k, eta, t), trivial)
    linear = direction.first_step(lambda t: direction.one_minus_cos_linear(S, k, eta, t), trivial)
    yield least(f"{name}_cos", 1 - trivial, digits=3)
    yield least(f"{name}_beats", beats)
    yield most(f"{name}_beats_last", beats)
    yield least(f"{name}_linear_beats", linear)
    yield least(f"{name}_900", 1 - direction.one_minus_cos(S, k, eta, 900), digits=3)
    measured = float(one.rows[-1].across / one.rows[-1].squared)
    yield most(f"{name}_measured", measured / (1 + math.sqrt(1 - measured)), digits=3)


# Theorem B


@check(
    "ours-direction",
    over="runs",
    instances=instances.runs,
    says="The proof combines Theorem A with the perceptron argument, for every step size and "
    "every $t$. On {tried} runs with sixty digits, with $A$ from 0.01 to 1000 and step sizes "
    "from 0.01 to one million, all bounds hold ({compared} comparisons). The squared tangent of "
    "the angle to $W^*$ is at most {closest} times its bound.",
    tolerance=ROUNDING,
    proof=(
        uses("ours-alignment", "Theorem A, at every step"),
        uses("ours-trivial-bound", r"(c): $t\eta/(\sqrt2\,\|W^*\|) \le x \le \|W\| \le t\eta$"),
        executed(
            r"one step: the increase of $\|y\|^2$ by Theorem A, and the sum over the steps",
            steps.theorem_b_recursion,
            planted={
                "$x^2$ of the new state added instead of subtracted.": {"sign_of_x": -1},
                "Theorem A with $2K$.": {"constant": 2},
            },
        ),
        executed(
            r"the bound on $\|y\|^2$ divided by $x^2$, and the bound on $1 - \cos$",
            steps.theorem_b_direction,
            planted={"$S/t$ instead of $2S/t$.": {"direction": 1}},
        ),
        cited(r"$|\langle B_e, y\rangle| \le \sqrt2\,\|y\|$", "horn2013", "Theorem 5.1.4"),
        executed(
            r"the margins from $t_A$ on, where $w = \|W^*\|$ and $\gamma = 1/w$",
            steps.theorem_b_margins,
            planted={r"$\|y\|$ left out.": {"across": 0}},
        ),
    ),
    planted={
        NO_RARITY: {"rarity": 0},
        NO_LENGTHS: {"lengths": 0},
        "$S/2$ instead of $2S$.": {"two": 0.5},
        rf"The bounds on $\|y\|^2$ and the tangent {SHARPER}.": {"sharper": 1.1},
        r"A next token that is not $\mathrm n$ of any token of its sentence.": Variant(
            instances=lambda: instances.from_outside(300)
        ),
        "The bound on the margins required from $t_A/2$ on.": {"lateness": 16},
    },
)
def check_ours_direction(
    one: Stage2Run,
    rarity: float = 1,
    lengths: int = 1,
    two: float = 2,
    lateness: int = 32,
    sharper: float = 1,
) -> Iterator[Said]:
    """||y||^2 <= 2 K ||W*|| x + eta^2 t, ||y||^2 / x^2 <= (2 S / t) (1 + sqrt(2) K / eta).

    And the margins from t_A on.
    """
    with mp.workdps(DIGITS):
        S, eta, root = one.S, one.eta, mp.sqrt(2)
        w, k = mp.sqrt(S), instances.K(one.max_length, one.pi_min, rarity, lengths)
        late = lateness * S**2 * max(mp.mpf(1), root * k / eta)
        for row in one.rows:
            t, at = row.step, f"step {row.step}"
            bound = two * S / t * (1 + root * k / eta)
            allowed = 2 * k * w * row.along + eta**2 * t
            yield at_most(sharper * row.across, allowed, rf"$\|y\|^2$ at {at}")
            tangent = row.across / row.along**2
            yield at_most(sharper * tangent, bound, rf"$\tan^2$ at {at}")
            cos = row.along / mp.sqrt(row.squared)
            yield at_most(1 - cos, bound / 2, rf"$1 - \cos$ at {at}")
            if t >= late:
                yield at_most(row.along / (2 * w), row.margin, f"least margin at {at}")
                yield at_most(t * eta / (2 * root * S), row.margin, f"least margin at {at}, by $t$")
            yield most("closest", float(tangent / bound), digits=3, origin=SIXTY_DIGITS)


# The statements of the paper


@check(
    "ours-corrected-statements",
    over="sizes",
    instances=instances.sizes,
    says=r"With $1/\pi_{\min}$ in place of $N$, Lemma 7 and Theorems 1 and 2 follow from "
    "Theorems A and B whatever the sizes are, even for the smallest possible readings of the "
    r"constants that are hard to read. At {tried} choices of $L_{\max}$, $\|W^*\|$, $\pi_{\min}$, "
    r"$\eta$, and $t$, all random except one extreme choice, {compared} floating-point comparisons "
    "agree.",
    tolerance=1e-12,
    proof=(
        uses("ours-alignment", "Theorem A, in the form of Lemma 7"),
        uses("ours-direction", "Theorem B: the direction, and the margins from $t_A$ on"),
        uses("ours-trivial-bound", r"the norm bounds, which include $\|W^*\| \ge 1/\sqrt2$"),
        uses(
            "huang2024-app-thm-2-chain",
            "a bound on the attention implies a bound on the loss of a sample",
        ),
        executed(
            r"bounds on the logarithms in $K$ by tangents, $\log x \le x - 1$, and $\log t \ge "
            r"\log 2$ for $t \ge 2$",
            corollaries.tangents,
            planted={"Tangents with half the slope.": {"slope": "1/2"}},
        ),
        executed(
            r"$K \le 3\log 2 + 4(L - 2) + 1/\pi_{\min} - 1$",
            corollaries.upper_bound_on_K,
            planted={"The factor $L^2$ left out of $K$.": {"square": 0}},
        ),
        executed("Lemma 7 from Theorem A", corollaries.lemma_7),
        executed("Theorem 1 from Theorem B", corollaries.theorem_1),
        executed("Theorem 2 from the margins after $t_A$", corollaries.theorem_2),
        executed("equation (4) from Theorem 2", corollaries.equation_4),
        executed(
            "equation (4) at $t = 1$",
            corollaries.equation_4_at_once,
            planted={"A step size eleven times as large.": {"larger": 11}},
        ),
        by_hand(
            r"the loss is at most $\log|\mathcal V|$, and the right side of (4) is at least "
            r"$|\mathcal V|$ at $t = 1$",
            at="first-step",
        ),
    ),
    planted={
        r"No factor $1/\pi_{\min}$ at all.": {"rarity_power": 0},
        "The condition of Theorem 2 with 1 in place of its constant 432.": {"c0": 1},
        "Lemma 7 with one thirtieth of its constant 4.": {"part": 30},
        "Theorem 1 with $t^2$ instead of $t$.": {"power": 2},
    },
    loose="At the closest of 400 random choices of sizes and the extreme choice $L = 2$, "
    r"$\|W^*\|^2 = 1/2$, $\pi_{\min} = 1$, $t = 2$, the values that Theorems A and B give are "
    "below the paper's bounds by a factor of 4 (the time in Theorem 2), 8 (Theorem 1), and 24 "
    r"(Lemma 7), and the margins are $2\sqrt2$ times as large as Theorem 2 needs.",
)
def check_ours_corrected_statements(
    one: Sizes, rarity_power: int = 1, c0: int = 432, part: int = 1, power: int = 1
) -> Iterator[Said]:
    """K ||W*|| <= Lemma 7's alpha_t ||W||, Theorem B's bound <= Theorem 1's, t_A <= Theorem 2's t.

    Equation (4), the norm, the attention and t = 1 are in the steps of the proof only.
    """
    L, S, eta, t = one.max_length, one.S, one.eta, one.step
    k = direction.K(L, math.log(one.pi_min))
    rarity = one.pi_min**-rarity_power
    alpha_norm = 4 * L**2 * S * (1 + math.log(2 * L * one.norm)) * rarity / part
    yield compare.at_most(k * math.sqrt(S), alpha_norm, "Lemma 7")
    printed = 53 * L * S**2 * math.log(t) ** 2 * rarity / (t**power * eta)
    yield compare.at_most(direction.one_minus_cos_linear(S, k, eta, t), printed, "Theorem 1")
    late = c0 * L**2 * S**3 * math.log(2) ** 2 * rarity / eta  # what t reaches at least
    yield compare.at_most(direction.margins_from(S, k, eta), late, "Theorem 2")
    yield compare.at_most(late * eta / (4 * L * S), direction.least_margin(S, eta, late), "margin")
