"""Checks of the page that lays the two papers side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ntpbook.ours.long_times import stationary
from ntpbook.ours.two_papers import joint, parting_data, paths
from ntpbook.shared import reduced_flow
from ntpbook.shared.levels import beyond, never_rises, within
from ntpbook.shared.origins import INTEGRATOR
from ntpbook.shared.symbols import at_least_zero, identity
from ntpcore.data import generate, order
from ntpcore.data.dataset import Dataset
from ntpcore.data.examples import example_1
from ntpcore.data.order import Structure
from ntpcore.exact import margin
from ntpcore.huang2024 import training, transformer
from ntpcore.tian2023.classes import SequenceClasses, synthetic_classes
from ntpcore.tian2023.coupled import Symmetric
from ntpverdicts import arrays
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, at_most, below, count, equal, holds, least, most, result
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, relation, uses

Floats = joint.Floats
STEPS = 10_000  # of joint training; Algorithm 1 has its direction long before
RATES = ((1.0, 0.1), (5.0, 0.5), (1.0, 1.0))  # (eta_Y, eta_Z)

# One layer


def random_data(seed: int = 7, sets: int = 20, frequent: bool = True) -> tuple[Dataset, ...]:
    """Random realizable data; every other set is prefix-closed, if Assumption 3 holds."""
    return tuple(
        generate.random_dataset(
            np.random.default_rng((seed, i)),
            8,
            30,
            6,
            prefix_closed=frequent and i % 2 == 0,
            frequent=frequent,
        )
        for i in range(sets)
    )


@dataclass(frozen=True)
class Layer:
    """A data set, and Y and Z, (V, V) each, at which both papers' layers are computed."""

    name: str
    data: Dataset
    Y: Floats
    Z: Floats


def random_layers(seed: int = 7, sets: int = 20) -> Iterator[Layer]:
    """Random data with random dense matrices."""
    rng = np.random.default_rng(seed)
    for i, data in enumerate(random_data(seed, sets)):
        V = len(data.vocabulary)
        yield Layer(f"data set {i}", data, *rng.normal(size=(2, V, V)))


def layer_of(sentence: tuple[str, ...], one: Layer, hide: bool) -> Floats:
    """Logits as each paper writes them, position by position.

    Args:
        sentence: its last token is the query.
        one: the matrices.
        hide: tian2023, (1) and (2), without the last position; huang2024, Section 3, otherwise.
    """
    tokens, one_hot = one.data.vocabulary, np.eye(len(one.Y))
    if not hide:
        X = transformer.embed(sentence, tokens, one_hot)
        return np.asarray(transformer.logits(X, one.Y.T, one.Z.T))
    X = transformer.embed(sentence[:-1], tokens, one_hot).T  # (T - 1, V)
    mixed = X.T @ transformer.softmax(X @ one.Z[tokens.index(sentence[-1])])
    return np.asarray(one.Y.T @ (mixed / np.linalg.norm(mixed)))


def positions_are_counts(once: bool = False) -> Iterator[Shown]:
    """The attention in the sentence a a b c a under the query a, by positions and by counts.

    Args:
        once: every token counts once, however often it occurs.
    """
    import sympy as sp

    z = sp.symbols("z_a z_b z_c", real=True)
    places = (0, 0, 1, 2, 0)
    for name, seen in (("all positions seen", places), ("the last position hidden", places[:-1])):
        weights = [sp.exp(z[x]) for x in seen]  # the softmax over positions, of one-hot tokens
        times = [1 if once else seen.count(x) for x in range(3)]
        total = sum(n * sp.exp(score) for n, score in zip(times, z, strict=True))
        for x, token in enumerate("abc"):
            own = [w for w, y in zip(weights, seen, strict=True) if y == x]
            by_position = _one_by_one(own) / _one_by_one(weights)
            by_counts = times[x] * sp.exp(z[x]) / total
            yield identity(f"$b_{token}$ with {name}", by_position, by_counts)


def _one_by_one(terms: Sequence[Any]) -> Any:
    """A sum in which equal terms stay apart, as a card shows it."""
    import sympy as sp

    return sp.Add(*terms, evaluate=False)


@check(
    "ours-two-layer",
    over="random data sets",
    instances=random_layers,
    says=r"The logits are $Y^\top b$ in the first paper and $Y^\top b/\|b\|$ in the second, with "
    "the attention $b$ summed over the positions of each token. The check compares {sentences} "
    "vectors of logits, those of both papers on the sentences of {tried} random data sets.",
    tolerance=1e-12,  # sums of a few dozen terms of order one
    proof=(
        uses("huang2024-eq-1", "The definition of the layer of the first paper."),
        uses("tian2023-eq-1", "The definition of attention in the second paper."),
        uses("tian2023-eq-2", "The definition of the layer after attention in the second paper."),
        executed(
            "In the sentence a a b c a with the query a, for any scores, the attention summed over "
            "the positions of each token is $b$.",
            positions_are_counts,
        ),
        by_hand(
            "In any sentence, the attention summed over the positions of each token is $b$, so "
            r"the logits of the two papers are $Y^\top b$ and $Y^\top b/\|b\|$.",
            at="counts",
        ),
    ),
    planted={
        "The scaling to length 1 in the logits of the first paper instead of "
        "those of the second.": {"swapped": True},
        "Scores taken from the columns of $Z$ instead of its rows.": {"turned": True},
        "Every token counts once, however often it occurs.": {"once": True},
    },
)
def check_ours_two_layer(
    one: Layer, swapped: bool = False, turned: bool = False, once: bool = False
) -> Iterator[Said]:
    """Both layers are Y^T b, b_x = N_x e^(Z_qx) / sum_y N_y e^(Z_qy), or Y^T b/|b|."""
    for hide in (False, True):
        samples = joint.from_dataset(one.data, hide_query=hide)
        if once:
            samples = replace(samples, counts=np.minimum(samples.counts, 1.0))
        found = joint.logits(samples, one.Y, one.Z.T if turned else one.Z, unit=hide != swapped)
        kept = [s.sentence for s in one.data.samples() if len(s.sentence) > 1 or not hide]
        for row, sentence in zip(found, kept, strict=True):
            own = layer_of(sentence, one, hide)
            where = f"{' '.join(sentence)}, query {'hidden' if hide else 'seen'}"
            yield arrays.equal(row, own, where, scale=max(1.0, float(np.abs(own).max())))
        yield count("sentences", len(kept))


# Optimal tokens among the classes


@once
def structures(seed: int = 7, sets: int = 20) -> tuple[Structure, ...]:
    """Orders and assumptions of the random data."""
    return tuple(order.analyse(one) for one in random_data(seed, sets))


def outnumbered(seed: int = 7, sets: int = 20) -> tuple[Structure, ...]:
    """The same of realizable data in which Assumption 3 fails."""
    return tuple(order.analyse(one) for one in random_data(seed, sets, frequent=False))


def a_companion(role: str = "optimal") -> Iterator[Shown]:
    """In the class of `rivals` the token d1 is in one class only, and not optimal.

    The data satisfy Assumption 1 and source.

    Args:
        role: of the tokens among which d1 is said not to be.
    """
    structure = order.analyse(parting_data.rivals(2, 1))
    met = structure.realizable.holds is True
    failing = int(not met)
    yield relation("data sets that violate Assumption 1", failing, "=", 0, failing)
    classes = parting_data.classes_of_query(structure.data, "q")
    spread = sum(any("d1" in s for s, _ in rows) for rows in classes.values())
    optimal = getattr((structure.orders or {})["q"], role)
    yield relation("classes of $q$ that hold $d_1$", spread, "=", 1, Fraction(spread - 1))
    times = tuple(optimal).count("d1")
    yield relation(f"times that $d_1$ is among the {role} tokens", times, "=", 0, times)


@check(
    "ours-two-optimal-distinct",
    over="data sets with orders",
    instances=structures,
    says="In random data that satisfy Assumption 1, each of {optimal} optimal tokens occurs in "
    "every sentence of its class and in no other class of its query. {several} queries have "
    "several optimal tokens. {shared} non-optimal tokens occur in several classes of their query.",
    proof=(
        uses("huang2024-def-1", "The order of the tokens under a query."),
        uses("huang2024-asm-1", "Realizable data."),
        uses("tian2023-app-classes", "The definition of distinct tokens."),
        by_hand(
            r"Every sentence with the next token $\mathrm n(o)$ contains the optimal token $o$.",
            at="contains",
        ),
        by_hand(
            "No sentence of the same query with another next token contains $o$.", at="elsewhere"
        ),
        executed(
            "The converse fails: in one data set that satisfies Assumption 1, a token $d_1$ that "
            "always accompanies $o$ is distinct but not optimal.",
            a_companion,
        ),
    ),
    planted={
        "The claim that non-optimal tokens occur in one class of their query only.": {
            "role": "nonoptimal"
        }
    },
    name=lambda one: one.data.name,
)
def check_ours_two_optimal_distinct(one: Structure, role: str = "optimal") -> Iterator[Said]:
    """An optimal token occurs in one class of its query only, and in every sentence of it."""
    for query, found in (one.orders or {}).items():
        classes = parting_data.classes_of_query(one.data, query)
        spread = {
            x: sum(any(x in s for s, _ in rows) for rows in classes.values())
            for x in one.data.vocabulary
        }
        yield count("several", int(len(found.optimal) > 1))
        yield count("shared", sum(spread[x] > 1 for x in found.nonoptimal))
        yield count("optimal", len(found.optimal))
        for token in getattr(found, role):
            inside = classes.get(str((one.collocation or {})[token]), [])
            yield equal(spread[token], 1, f"classes of query {query} that hold {token}")
            missing = sum(token not in sentence for sentence, _ in inside)
            yield equal(missing, 0, f"sentences of its class without {token}, query {query}")


@check(
    "ours-two-most-frequent",
    over="data sets with orders",
    instances=structures,
    says="In random data that satisfy Assumptions 1 and 3, no token is more probable than the "
    "optimal one in each of {classes} classes. In {ties} of these classes another token is as "
    "probable as the optimal one.",
    proof=(
        uses(
            "huang2024-asm-3",
            "In each sentence, the optimal token is at least as frequent as any other token.",
        ),
        uses("ours-two-optimal-distinct", "The optimal token occurs in every sentence."),
        by_hand(
            "The optimal token has the largest share in every sentence of its class, and therefore "
            "the largest average share.",
            at="averages",
        ),
    ),
    planted={
        "The bound on the other tokens' probabilities 1.1 times sharper.": {
            "sharper": Fraction(11, 10)
        },
        "Data that satisfy Assumption 1 but not Assumption 3.": Variant(instances=outnumbered),
        "The claim that the optimal token is strictly the most probable one.": {"strictly": True},
    },
    name=lambda one: one.data.name,
)
def check_ours_two_most_frequent(
    one: Structure, strictly: bool = False, sharper: Fraction = Fraction(1)
) -> Iterator[Said]:
    """P(x | q, n(o)) <= P(o | q, n(o)) for every token x, in exact fractions."""
    for query, found in (one.orders or {}).items():
        classes = parting_data.classes_of_query(one.data, query)
        for token in found.optimal:
            shares = parting_data.context_shares(classes[str((one.collocation or {})[token])])
            best = max((share for x, share in shares.items() if x != token), default=Fraction(0))
            where = f"query {query}, optimal token {token}"
            compare = below if strictly else at_most
            yield compare(sharper * best, shares[token], where)
            yield count("classes")
            yield count("ties", int(best == shares[token]))


# Example 1


@dataclass(frozen=True)
class Rates:
    """Learning rates of joint training."""

    eta_y: float
    eta_z: float

    @property
    def name(self) -> str:
        """The rates in words."""
        return rf"$\eta_Y = {self.eta_y:g}$, $\eta_Z = {self.eta_z:g}$"


def pairs_of_rates() -> Iterator[Rates]:
    """Three pairs of learning rates."""
    for pair in RATES:
        yield Rates(*pair)


@check(
    "ours-two-example-1",
    over="pairs of rates",
    instances=pairs_of_rates,
    says="In Example 1, the optimal token of the queries S, V, and O is the query. If the query is "
    "hidden, only the sample S V O leaves attention a choice. In this sample the attention on V "
    f"rises from 1/2 to {{share}} or more in {STEPS} steps, with every pair of learning rates. "
    "The max-margin scores of S and V under O are both {score}.",
    observes=True,
    planted={
        "The claim that the common token S gains relative to the distinct token V.": {"gains": "S"},
        "The query visible in training.": {"hide": False},
    },
)
def check_ours_two_example_1(one: Rates, gains: str = "V", hide: bool = True) -> Iterator[Said]:
    """On Example 1: who is optimal, what is left to choose, and which token gains."""
    data = example_1()
    orders = order.analyse(data).orders or {}
    own = {query for query, found in orders.items() if found.optimal == (query,)}
    yield holds(own == {"S", "V", "O"}, f"queries that are their own optimal token: {sorted(own)}")
    scores = margin.solve_scores(orders["O"])
    yield equal(scores["S"], scores["V"], "max-margin scores of S and V under O")
    yield result("score", scores["S"])
    samples = joint.from_dataset(data, hide_query=hide)
    free = np.flatnonzero((samples.counts > 0).sum(axis=1) > 1)
    yield equal(len(free), 1, "samples that leave a choice")
    record = [0, *training.log_grid(STEPS)[1:]]
    run = joint.train(samples, record, eta_y=one.eta_y, eta_z=one.eta_z, unit=True)
    winner = samples.vocabulary.index(gains)
    share = np.array([joint.attend(samples, Z)[free[0], winner] for Z in run.Z])
    yield equal(float(share[0]), 0.5, f"share of {gains} at first")
    yield never_rises(-share, f"minus the share of {gains}")
    yield holds(float(share[0]) < float(share[-1]), f"share of {gains} at the end")
    yield least("share", float(share[-1]), 2)


# Frequency against margin


@dataclass(frozen=True)
class TrainedChoice:
    """Optimal tokens and rivals in a sentence, rates, and what a training chose."""

    optimal: int
    rival: int
    rates: Rates
    choice: parting_data.Choice

    @property
    def name(self) -> str:
        """Which run."""
        counts = f"{self.optimal} optimal, {self.rival} rivals"
        return f"{self.choice.training}, {counts}, {self.rates.name}"


def trainings(steps: int = 600) -> Iterator[TrainedChoice]:
    """Algorithm 1 and six joint trainings on three data sets, at two pairs of rates."""
    for optimal, rival in ((3, 2), (2, 2), (2, 3)):
        for pair in RATES[:2]:
            for choice in parting_data.choices(parting_data.rivals(optimal, rival), *pair, steps):
                yield TrainedChoice(optimal, rival, Rates(*pair), choice)


@check(
    "ours-two-choice",
    over="training runs",
    instances=trainings,
    says="On three data sets with two classes of one query: if the query is hidden or one-token "
    "sentences are missing, the more frequent of the two distinct tokens of a class gains "
    "attention relative to the other one, and equally frequent tokens keep equal attention. "
    "Otherwise the optimal token gains attention relative to its rival for all counts, with "
    "Algorithm 1 and with joint training, with and without scaling of the attended sum, and the "
    "optimal token ends with at least {least} of the attention.",
    observes=True,
    planted={
        "The attention of the optimal token and of its rival exchanged.": {"exchanged": True},
        "The claim that every training method selects the optimal token.": {"margin": True},
        "The claim that every training method follows the counts.": {"frequency": True},
    },
)
def check_ours_two_choice(
    one: TrainedChoice, exchanged: bool = False, margin: bool = False, frequency: bool = False
) -> Iterator[Said]:
    """Odds of the optimal token against its rival, against the ratio of their counts."""
    o, d = one.choice.optimal, one.choice.rival
    lead, counts = (d / o if exchanged else o / d), one.optimal / one.rival
    follows = (parting_data.by_frequency(one.choice.training) or frequency) and not margin
    if not follows:
        yield holds(max(1.0, counts) < lead, f"odds {lead:.3g} of the optimal token")
        yield least("least", o, 2)
    elif one.optimal == one.rival:
        yield within(abs(lead - 1), 1e-9, "distance of a tie")  # two runs of equal arithmetic
    elif one.optimal > one.rival:
        yield holds(counts < lead, f"odds {lead:.3g} of the more frequent optimal token")
    else:
        yield holds(lead < counts, f"odds {lead:.3g} of the less frequent optimal token")


# Syn-Small


@dataclass(frozen=True)
class Sampled:
    """Sequences of synthetic classes."""

    classes: SequenceClasses
    seed: int
    samples: int

    @property
    def name(self) -> str:
        """Which sample."""
        return f"seed {self.seed}, {self.classes.K} classes, {self.classes.L} queries"


def syn_small(seed: int = 7, sets: int = 3, samples: int = 100) -> Iterator[Sampled]:
    """Syn-Small: two queries with one next token each."""
    for i in range(sets):
        yield Sampled(synthetic_classes(2, 1), seed + i, samples)


def two_each(seed: int = 7, samples: int = 100) -> Iterator[Sampled]:
    """One query with two next tokens, as in Syn-Medium."""
    yield Sampled(synthetic_classes(1, 2), seed, samples)


@check(
    "ours-two-syn-small",
    over="sampled data sets",
    instances=syn_small,
    says="In {tried} samples of Syn-Small with {samples} sequences of each class, Assumption 1 "
    r"of the first paper holds with $\mathrm n$ of the query equal to the next token of its "
    "class. Under each query, the only optimal token is the query itself, and it lies above all "
    "tokens of the context.",
    proof=(
        uses("huang2024-asm-1", "Realizable data."),
        uses("huang2024-def-1", "The order of the tokens under a query."),
        by_hand(
            r"The next token of a sentence is $\mathrm n$ of its query and of no other token.",
            at="query",
        ),
        by_hand(
            "The query lies above all other tokens of its sentences, and no token lies both "
            "above some token and below some token.",
            at="order",
        ),
    ),
    planted={
        "Two classes per query, as in Syn-Medium.": Variant(instances=two_each),
        "The next tokens of the two queries exchanged.": {"exchanged": True},
    },
)
def check_ours_two_syn_small(one: Sampled, exchanged: bool = False) -> Iterator[Said]:
    """Syn-Small is realizable data whose only optimal token, for each query, is the query."""
    n = dict(parting_data.collocation_by_query(one.classes))
    if exchanged:
        n["q0"], n["q1"] = n["q1"], n["q0"]
    structure = order.analyse(parting_data.syn_data(one.classes, one.seed, one.samples), n)
    broken = ", ".join(sorted(structure.realizable.counts or {}))
    yield holds(
        structure.realizable.holds is True, f"Assumption 1, broken rules: {broken or 'none'}"
    )
    for query, found in (structure.orders or {}).items():
        yield holds(found.optimal == (query,), f"optimal tokens of {query}: {found.optimal}")
        yield below(0, len(found.nonoptimal), f"tokens below {query}")
    yield result("samples", one.samples)


# Stage 2 of huang2024 by two rules


@dataclass(frozen=True)
class Stage2:
    """Stage 2 on one data set by plain and by normalized gradients."""

    name: str
    clocks: paths.Clocks


@once
def stages(seed: int = 7, steps: int = 10_000) -> tuple[Stage2, ...]:
    """Example 1 and two random data sets, step size 2, after a stage 1 with the gap 3."""
    chosen = (example_1(), *random_data(seed, 3)[1:])
    return tuple(
        Stage2(f"data set {i}", paths.stage_2(one, steps, 2.0, 3.0)) for i, one in enumerate(chosen)
    )


@check(
    "ours-two-speed",
    over="data sets",
    instances=stages,
    says="On Example 1 and two random data sets, stage 2 of Algorithm 1 was run with plain "
    "gradients. Over the last tenfold increase of $t$, the loss minus its minimum decays like a "
    r"power of $t$ with an exponent between {steep} and {flat}, and the norm of $W_{\mathrm{kq}}$ "
    r"deviates from a straight line in $\ln t$ by at most a fraction of {bend} of its growth. At "
    r"the end the cosine of the angle between $W_{\mathrm{kq}}$ and the max-margin solution is at "
    "least {cosine}. "
    "With normalized gradients the norm is nearly proportional to $t$.",
    observes=True,
    planted={
        "An excess loss that decays like $1/t^2$.": {"exponent": -2.0},
        "A norm that grows like $t$ with plain gradients, as with normalized ones.": {
            "straight": True
        },
    },
)
def check_ours_two_speed(
    one: Stage2, exponent: float = -1.0, straight: bool = False
) -> Iterator[Said]:
    """By plain gradients the excess loss falls like 1/t and the norm grows like ln t."""
    run = one.clocks
    late = run.steps >= run.steps[-1] / 10  # the last decade
    t, norm = run.steps[late], run.plain[late]
    slope = float(np.polyfit(np.log(t), np.log(run.excess[late]), 1)[0])
    x = t if straight else np.log(t)
    left = norm - np.polyval(np.polyfit(x, norm, 1), x)
    bend = float(np.abs(left).max() / np.ptp(norm))
    linear = run.normalized[late] / t
    # Levels set beforehand: a twentieth of the exponent 1; a twentieth of the norm's growth, where
    # t and ln t over a decade depart by a sixth from a line in the other; 18 degrees; a tenth,
    # where ln t/t would change by more than its last value
    yield within(abs(slope - exponent), 0.05, "distance of the exponent of the excess loss")
    yield within(bend, 0.05, "departure of the norm from a straight line")
    yield beyond(run.cosine, 0.95, "cosine with the max-margin solution")
    yield within(float(np.ptp(linear) / linear[-1]), 0.1, "normalized norm by t, its range")
    yield least("steep", slope, 3)
    yield most("flat", slope, 3)
    yield most("bend", bend, 1)
    yield least("cosine", run.cosine, 3)


# Equation (10) of tian2023 by two rules


@dataclass(frozen=True)
class TenTwice:
    """A design, its rates, and how long (10) is followed by plain gradients."""

    design: Symmetric
    eta_y: float
    eta_z: float
    horizon: float

    @property
    def name(self) -> str:
        """Which design."""
        return f"$K = {self.design.K}$, weights {self.design.distinct}"


def tens(
    eta_y: float = 5.0, eta_z: float = 0.5, horizon: float = 1e9, second: float = 0.15
) -> Iterator[TenTwice]:
    """2, 5 and 10 classes of one query with a common token and three distinct ones."""
    for K in (2, 5, 10):
        yield TenTwice(Symmetric(K, 1000, (0.5,), (0.1, second, 0.25)), eta_y, eta_z, horizon)


def tied_tens(horizon: float = 1e9) -> Iterator[TenTwice]:
    """The same with two strongest tokens."""
    return tens(horizon=horizon, second=0.25)


def ten_for_classes_alike(classes: str = "all") -> Iterator[Shown]:
    """(10) for K classes that are alike, one common token, every beta_nn' the same.

    The force on token l is f_l times the sum over n' of beta (f_l f_n.f_n' - f_n'l), where
    f_n.f_n' = f_c^2, f_n'l is f_c for the common token and 0 for a distinct one of class n, and
    xi = (K - 1) beta f_c^2. The common token has it from all K classes.

    Args:
        classes: "all" for the common token, or "one".
    """
    import sympy as sp

    K, beta, f_c, f_l = sp.symbols("K beta f_c f_l", positive=True)
    xi, many = (K - 1) * beta * f_c**2, K if classes == "all" else 1
    distinct = f_l * (K - 1) * beta * (f_l * f_c**2 - 0)
    common = many * f_c * (K - 1) * beta * (f_c * f_c**2 - f_c)
    yield identity("a distinct token", sp.Matrix([distinct]), sp.Matrix([xi * f_l**2]))
    yield identity("the common token", sp.Matrix([common]), sp.Matrix([-K * xi * (1 - f_c**2)]))


def xi_for_equal_overlaps(more: int = 0) -> Iterator[Shown]:
    """xi/gamma = M/(M - 1) (-o)(K - 1)(e + 1/(M - 1)) for I + E with e off the diagonal.

    (I + E)^-1 has d on the diagonal and o = -e/((1 - e)(1 + (K - 1) e)) < 0 elsewhere, so that E'
    has 1 - d and -o. With theta = sigma = 0 the corrected (88) gives beta, and xi/gamma is the sum
    of beta e over K - 1 classes.

    Args:
        more: classes that the inverse has too many.
    """
    import sympy as sp

    K, M, e = sp.symbols("K M e", positive=True)
    o = -e / ((1 - e) * (1 + (K + more - 1) * e))
    d = 1 - (K - 1) * e * o
    yield identity(
        "a row of the matrix of overlaps times its inverse, on the diagonal",
        sp.Matrix([d + (K - 1) * e * o]),
        sp.Matrix([1]),
    )
    elsewhere = sp.Matrix([e * d + o + (K - 2) * e * o])
    yield identity(
        "a row of the matrix of overlaps times its inverse, off the diagonal",
        elsewhere,
        sp.Matrix([0]),
    )
    own, other = 1 - d, -o  # entries of E'
    beta = M / (M - 1) * other + M / (M - 1) ** 2 * (1 - own - (K - 2) * other)
    found = (K - 1) * e * beta
    claimed = M / (M - 1) * (-o) * (K - 1) * (e + 1 / (M - 1))
    yield identity(r"$\xi$ divided by $\gamma$", sp.Matrix([found]), sp.Matrix([claimed]))
    (k, m), x = sp.symbols("k m", nonnegative=True), sp.Symbol("x", positive=True)
    at = {K: 2 + k, M: 2 + m, e: 1 / (1 + x)}  # so 0 < e < 1
    yield at_least_zero(r"$\xi$ divided by $\gamma$", sp.factor(claimed.subs(at)), strictly=True)


@check(
    "ours-two-path",
    over="designs",
    instances=tens,
    says="On three designs of classes that are alike, $Z$ follows the same curve under equation "
    "(10) with plain and with normalized gradients. After {horizon} plain steps the most "
    "probable distinct token has at most {share} of the attention; with normalized steps it has "
    "99 percent after at most {steps} steps.",
    proof=(
        uses("tian2023-eq-10", "The equation (10) for the attention logits."),
        uses(
            "tian2023-eq-88-corrected",
            r"The coefficients $\xi_n$ of (10) under the modified update.",
        ),
        executed(
            r"For equal overlaps between 0 and 1 the corrected (88) gives the stated $\xi_n$, "
            "which is positive.",
            xi_for_equal_overlaps,
            planted={"One class too many in the inverse.": {"more": 1}},
        ),
        executed(
            r"For classes that are alike, (10) moves the logit of a distinct token at the rate "
            r"$\eta_Z\xi f_l^2$ and that of the common token at the rate "
            r"$-K\eta_Z\xi(1 - f_c^2)$.",
            ten_for_classes_alike,
            planted={"The common token driven by one class only.": {"classes": "one"}},
        ),
        by_hand(
            r"A positive factor that all components of $\dot Z$ share changes the speed along the "
            "curve, not the curve.",
            at="curve",
        ),
        by_hand(
            "Along the curve, the attention on every other token, divided by that on the most "
            "probable distinct token, decreases to 0.",
            at="winner",
        ),
        by_hand("Steps of constant length reach the end of the curve.", at="length"),
    ),
    planted={
        "The logit of the common token in the normalized run falls by ten percent more than (10) "
        "says.": {"turn": 1.1},
        "Two most probable distinct tokens instead of one.": Variant(instances=tied_tens),
    },
)
def check_ours_two_path(one: TenTwice, turn: float = 1.0) -> Iterator[Said]:
    """z under (10) by plain gradients is z after as long a way of unit speed; one token wins."""
    times = np.geomspace(1e-3, one.horizon, 40)
    plain = paths.plain_path(one.design, one.eta_y, one.eta_z, times)
    lengths = np.maximum(plain[:, -1], 0.0)  # the first one is 0 up to rounding
    other = paths.normalized_path(one.design, lengths)
    other[:, -1] *= turn
    # two integrations at a relative tolerance of 1e-9 over forty stops
    yield within(paths.relative_distance(plain[:, :-1], other), 1e-5, "distance of the curves")
    far = np.linspace(0, 400, 4001)
    reached = np.array(
        [paths.top_share(one.design, z) for z in paths.normalized_path(one.design, far)]
    )
    share = paths.top_share(one.design, plain[-1, :-1])
    # "all": 99 of 100, where tied tokens end with 50; "not there": less than half the way from the
    # share of counts to 1
    weights = one.design.distinct
    half = (1 + max(weights) / sum(weights)) / 2
    yield beyond(float(reached[-1]), 0.99, "the strongest token along the curve")
    yield within(share, half, "the strongest token by plain gradients")
    yield most("share", share, 2)
    arrived = np.flatnonzero(reached > 0.99)
    if len(arrived):
        yield most("steps", round(float(far[arrived[0]]) / one.eta_z))
    yield result("horizon", one.horizon, 1, "exact")


# True gradients: the sphere and the simplex


@dataclass(frozen=True)
class Race:
    """A design of the coupled flow, and until which ln t it is followed."""

    design: Symmetric
    ratio: float
    log_t: float

    @property
    def name(self) -> str:
        """Which design."""
        d = self.design
        return (
            f"$K = {d.K}$, $M = {d.M}$, weights {d.distinct}, "
            rf"$\eta_Y/\eta_Z = {self.ratio:g}$"
        )


def races(log_t: float = 1000.0, second: float = 0.15) -> Iterator[Race]:
    """Three distinct tokens; the next tokens as the only outputs (M = K), and 1000 outputs."""
    for K in (2, 5, 10):
        for M in (K, 1000):
            for ratio in (1.0, 10.0):
                yield Race(Symmetric(K, M, (0.5,), (0.1, second, 0.25)), ratio, log_t)


def tied_races(log_t: float = 1000.0) -> Iterator[Race]:
    """The same with two strongest tokens."""
    return races(log_t, 0.25)


def many_common(log_t: float = 1000.0) -> Iterator[Race]:
    """A hundred common tokens and M = K, so that weaker tokens drop as far as one can follow."""
    yield Race(Symmetric(2, 2, (1.0,) * 100, (0.01, 0.5, 1.0)), 1.0, log_t)


@once
def attention(race: Race, sphere: bool) -> tuple[Floats, Floats]:
    """Attention at a hundredth, a tenth and the whole of the time on the scale ln t.

    Returns:
        (3, D), shares among the distinct tokens, and (3,), attention of a class on all tokens but
        its most probable distinct one.
    """
    until = 3 * race.log_t + 20  # ln t grows at least a third as fast, which is checked
    grid = np.concatenate([[0.0], np.geomspace(1e-3, until, 6000)])
    path = reduced_flow.follow(race.design, race.ratio, grid, sphere)
    if path.log_time[-1] < race.log_t:
        raise ArithmeticError(f"the path ends at ln t = {path.log_time[-1]}, before {race.log_t}")
    at = race.log_t * np.array([0.01, 0.1, 1.0])
    top = len(race.design.common) + int(np.argmax(race.design.distinct))
    others = np.delete(path.scores, top, axis=1).sum(axis=1)  # not 1 - c, which rounds
    shares = [np.interp(at, path.log_time, column) for column in path.shares.T]
    return np.stack(shares, axis=1), np.interp(at, path.log_time, others)


@check(
    "ours-two-ball",
    over="designs",
    instances=races,
    says="{tried} choices of classes that are alike, with three distinct tokens each, were "
    r"followed to $\ln t = {log_t}$. With attention scaled to length 1, the most probable "
    "distinct token ends with at most {shared} of the attention on distinct tokens, and the "
    r"share of every distinct token changes by at most {moved} in the last nine tenths of $\ln "
    "t$. With plain softmax all tokens except the most probable distinct one together end with "
    "at most {left} of the attention.",
    observes=True,
    planted={
        "Plain softmax instead of scaled attention.": {"first": False},
        "Scaled attention instead of plain softmax.": {"second": True},
        "Two most probable distinct tokens instead of one.": Variant(instances=tied_races),
        "One hundred common tokens, where weaker distinct tokens lose attention at all times "
        "that the runs reach.": Variant(instances=many_common),
    },
)
def check_ours_two_ball(one: Race, first: bool = True, second: bool = False) -> Iterator[Said]:
    """Shares stay on the sphere, f = q/|q|; on the simplex, f = q/sum q, one token wins."""
    weights = np.array(one.design.distinct)
    top = int(weights.argmax())
    shares, _ = attention(one, first)
    half = float((1 + weights[top] / weights.sum()) / 2)  # half the way from its count share to 1
    before, moved = np.abs(np.diff(shares, axis=0))
    yield within(float(shares[2, top]), half, "scaled: share of the strongest token")
    # what moves falls like 1/ln^2 t, a hundredfold in a decade of ln t; no sum would converge if it
    # did not fall, and a tenth is what falls like 1/ln t
    yield within(float(moved.sum()), float(before.sum()) / 10, "scaled: change of the shares")
    _, others = attention(one, second)
    # a level set beforehand: where nobody wins, others keep half or more
    yield within(float(others[2]), 0.001, "softmax: attention on all others")
    yield within(float(others[2]), float(others[1]) / 10, "softmax: its fall")
    yield most("shared", float(shares[2, top]), 3, INTEGRATOR)
    yield most("moved", float(moved.max()), 1, INTEGRATOR)
    yield most("left", float(others[2]), 1, INTEGRATOR)
    yield result("log_t", one.log_t, 4, "exact")


@dataclass(frozen=True)
class Circling:
    """Symmetric classes, and how many steps of which length Z takes."""

    data: Symmetric
    steps: int
    length: float

    @property
    def name(self) -> str:
        """Which design."""
        weights = ", ".join(f"{x:.3g}" for x in self.data.distinct)
        return f"$K = {self.data.K}$, {len(self.data.common)} common, weights {weights}"


def circling(
    seed: int = 7, drawn: int = 5, steps: int = 30_000, length: float = 0.01
) -> Iterator[Circling]:
    """The designs of (10) above, and random ones with one or two common tokens."""
    for K in (2, 5, 10):
        yield Circling(Symmetric(K, 1000, (0.5,), (0.1, 0.15, 0.25)), steps, length)
    rng = np.random.default_rng(seed)
    for _ in range(drawn):
        K, C, D = (int(rng.integers(*ends)) for ends in ((2, 7), (1, 3), (2, 5)))
        common, distinct = rng.uniform(0.1, 1, C), rng.uniform(0.1, 1, D)
        yield Circling(Symmetric(K, 1000, tuple(common), tuple(distinct)), steps, length)


def on_the_way(length: float = 0.01) -> Iterator[Circling]:
    """The same after thirty steps."""
    return circling(drawn=0, steps=30, length=length)


@check(
    "ours-two-circle",
    over="designs",
    instances=circling,
    says="We ran {tried} choices of classes that are alike, three given and the others random, "
    r"with the learning rate $\eta_Y = 5$ of the decoder. In the last nine tenths of {steps} steps "
    "the gradient of $Z$ reverses its direction in all but at most {kept} steps. "
    "Averaged over two successive steps, attention "
    "equals the stationary attention $Z^*(Y)$ with a relative error of at most {apart}.",
    observes=True,
    planted={
        "$Z^*(Y)$ of the decoder after one percent of the steps.": {"aim": "young"},
        "The claim that one token takes all the attention.": {"aim": "winner"},
        "Only thirty steps, before attention has reached $Z^*(Y)$.": Variant(instances=on_the_way),
    },
)
def check_ours_two_circle(one: Circling, aim: str = "") -> Iterator[Said]:
    """With steps of Z of one length, Z turns back and forth about Z*(Y), which moves with Y."""
    n = one.steps
    walk = stationary.normalised(one.data, 5.0, one.length, [n // 100 or 1, n // 10, n, n + 1])
    turns = float((walk.flips[2] - walk.flips[1]) / (n - n // 10))
    found = walk.path.scores[2:].mean(axis=0)
    still = stationary.rest(one.data, walk.path.rows[0 if aim == "young" else 2])
    if aim == "winner":
        still = (found == found.max()).astype(float)
    apart = np.abs(found - still)
    # "nearly every step", a level set beforehand: 19 of 20; on the way there none turns back
    yield beyond(turns, 0.95, "share of the steps that turn back")
    # one step moves a logit by at most its length, to either side of Z*(Y)
    farthest = float((apart / still).max()) if aim != "winner" else float(apart.max())
    yield within(farthest, 2 * one.length, "distance of attention from $Z^*(Y)$")
    yield most("kept", n - n // 10 - int(walk.flips[2] - walk.flips[1]))
    yield result("steps", n)
    yield most("apart", float((apart / found).max()), 1)
