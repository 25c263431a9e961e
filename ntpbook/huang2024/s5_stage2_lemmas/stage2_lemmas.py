"""Checks of the lemmas of stage 2: equation (11) and Lemmas 4 to 7."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ntpbook.shared import rare, rare_alpha
from ntpbook.shared.inequality import Slack, judge_inequality
from ntpbook.shared.without_asm_3 import outnumbered_run
from ntpcore.data.dataset import from_samples
from ntpcore.huang2024 import bounds, training, transformer
from ntpcore.huang2024.problem import Problem, from_dataset
from ntpcore.huang2024.runs import Run
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_SENTENCES = 200  # of one run on which Lemma 4 is computed both ways

# Equation (11)


def check_huang2024_eq_11(runs: Iterable[Run], heat: float = 1.0, **parameters: int) -> Check:
    """Equation (11), on all pairs of tokens in all sentences of trained models.

    Args:
        runs: the trained models.
        heat: by what the scores are divided before the softmax; the paper has 1.
        parameters: what repeats the runs.
    """
    import sympy as sp

    label = "huang2024-eq-11"
    a, b = sp.symbols("a b", real=True)
    rest = sp.symbols("rest", positive=True)  # what the other positions add to the normaliser
    upper, lower = sp.exp(a / sp.Rational(heat)), sp.exp(b / sp.Rational(heat))
    Z = upper + lower + rest
    exact = sp.simplify((upper / Z) / (lower / Z) - sp.exp(a - b)) == 0
    check = judge_inequality(
        label,
        runs,
        lambda run: _weight_slack(run, heat),
        "A token that scores C less than another has a weight of at most exp(-C)",
        tolerance=1e-9,  # scores in the thousands leave twelve digits behind the point
        parameters=parameters,
    )
    if check.verdict is not Verdict.CONSISTENT or not exact:
        return check
    return replace(
        check,
        verdict=Verdict.PROVED,
        evidence="The ratio of two weights is the exponential of the difference of their scores, "
        "for symbolic scores and any rest of the sentence. The inequality holds in all "
        f"{check.numbers['points']} merged sentences of {check.tried} trained models.",
        by_hand=(
            "a weight is at most 1, so that it is at most its ratio to another one",
            "a convex combination of scores is at most the largest of them",
        ),
    )


def _weight_slack(run: Run, heat: float) -> Slack:
    """-C - log weight of each position, C being how much the best or the mean score is above it."""
    problem, weights = run.problem, run.second.state.weights
    values = []
    for i in range(len(problem.optimal)):
        entries, counts = sample_tokens(problem, i)
        a = weights[entries]
        log_phi = a / heat - np.logaddexp.reduce(a / heat + np.log(counts))
        above = np.array([a.max(), float(a @ counts) / counts.sum()])
        C = above[:, None] - a[None, :]
        values.append(np.where(C >= 0, -C - log_phi, np.inf).min())
    return np.full(len(values), run.second.state.step), np.array(values) + 0.0  # no -0


def sample_tokens(problem: Problem, sample: int) -> tuple[Integers, Floats]:
    """Entries of the tokens of a merged sample, the optimal one first, and how often they occur."""
    inside = slice(problem.start[sample], problem.start[sample + 1])
    entries = np.concatenate([[problem.optimal[sample]], problem.rival[inside]])
    counts = np.concatenate([[problem.optimal_count[sample]], problem.rival_count[inside]])
    return entries, counts.astype(float)


def control_huang2024_eq_11(run: Run) -> Control:
    """Weights from halved scores fall only half as fast."""
    return Control(
        "Attention weights computed from halved scores.",
        Verdict.REFUTED,
        check_huang2024_eq_11([run], heat=2.0).verdict,
    )


# Lemma 4


def check_huang2024_lem_4(
    runs: Iterable[Run], spread: float = 0.0, seed: int = 7, **parameters: int
) -> Check:
    """The projection of Lemma 4 is that of the gradient (6), symbolically and on runs.

    Args:
        runs: runs whose last W_kq, and the same at a norm of 1, are used.
        spread: by how much the entries of W_ov are moved at random; the lemma needs 0.
        seed: of the random directions W'.
        parameters: what repeats the runs.
    """
    label, unit = "huang2024-lem-4", "runs"
    rng = np.random.default_rng(seed)
    tried, worst, where = 0, 0.0, ""
    for run in runs:
        tried += 1
        weights = run.second.state.weights
        for W in (weights / np.linalg.norm(weights), weights):
            error = _projection_error(run.problem, W, run.second.gap, spread, rng)
            if error > worst:
                worst, where = error, run.name
    numbers = {"worst": f"{worst:.0e}", "runs": str(tried)}
    used: Mapping[str, int | str] = parameters
    if worst > 1e-9 or not _projection_is_symbolic():  # cancellation in T - p leaves nine digits
        return Check(
            label,
            Verdict.REFUTED,
            max(tried, 1),
            unit,
            "The projections differ.",
            witness=f"{where}: relative difference {worst:.1e}",
            numbers=numbers,
        )
    return Check(
        label,
        Verdict.PROVED,
        max(tried, 1),
        unit,
        "The inner product of a column of W_ov with T - p is A times an entry of T - p, for a "
        f"symbolic rest of the vocabulary; on up to 200 sentences of each of {tried} runs the "
        f"two sides of the lemma differ by at most a relative {worst:.0e}.",
        numbers=numbers,
        parameters=used,
        by_hand=("the rest of the projection is the same linear function of these numbers",),
    )


def _projection_is_symbolic() -> bool:
    """W_ov[:, x]^T (T - p) = A (T - p)_n(x), where column x has c at n(x) raised by A, else c.

    T - p sums to zero, so that its entries beside n(x) sum to minus the one at n(x): this is all
    that is used, whatever |V| is.
    """
    import sympy as sp

    A, c, entry = sp.symbols("A c entry", real=True)
    return bool(sp.expand((c + A) * entry - c * entry) == A * entry)


def _projection_error(
    problem: Problem, W: Floats, gap: float, spread: float, rng: np.random.Generator
) -> float:
    """Largest difference of the two projections, relative to the size of their terms."""
    size = problem.vocab_size
    direction = rng.normal(size=len(W))
    worst = 0.0
    samples = rng.permutation(len(problem.optimal))[:MOST_SENTENCES]
    for i in samples.tolist():
        entries, counts = sample_tokens(problem, i)
        columns = np.full((size, len(entries)), -gap / size)
        columns[problem.following[problem.entry_token[entries]], np.arange(len(entries))] += gap
        columns += spread * gap * rng.normal(size=columns.shape)
        place = np.repeat(np.arange(len(entries)), counts.astype(int))  # order does not matter
        columns, positions = columns[:, place], entries[place]  # W_ov X
        following = problem.following[problem.entry_token[positions]]
        label = following[0]  # the optimal token comes first
        phi = transformer.softmax(W[positions])
        T = transformer.softmax(columns @ phi)
        lifted = direction[positions] - phi @ direction[positions]  # (x - xbar)^T W' X_-1
        error = T - (np.arange(size) == label)
        printed = phi * lifted * (columns.T @ error)  # (6)
        optimal = following == label
        lemma = gap * (T[label] - 1) * (phi * lifted)[optimal].sum()
        lemma += gap * (T[following] * phi * lifted)[~optimal].sum()
        # T - p is rounded where T is near 1, so terms without it set the scale
        scale = float((gap * phi * np.abs(lifted)).sum()) or 1.0
        worst = max(worst, abs(float(printed.sum() - lemma)) / scale)
    return worst


def control_huang2024_lem_4(run: Run) -> Control:
    """Margins that are not all A break the identity."""
    return Control(
        "W_ov with entries moved by a hundredth of A, so that its margins differ.",
        Verdict.REFUTED,
        check_huang2024_lem_4([run], spread=0.01).verdict,
    )


def projected_both_ways(positions: int = 2) -> tuple[object, object]:
    """Both sides of Lemma 4 as expressions of sympy, on a sentence of one optimal token and rivals.

    |V| = 4; W_ov has margins A and an arbitrary constant in each column; scores and W' are symbols.
    """
    import sympy as sp

    A = sp.Symbol("A", positive=True)
    c, w, u = (sp.symbols(f"{name}:{positions}", real=True) for name in "cwu")
    size = 4
    W_ov = sp.Matrix(size, positions, lambda v, x: c[x] + (A if v == x else 0))
    phi = sp.Matrix([sp.exp(one) for one in w]) / sum(sp.exp(one) for one in w)
    logits = W_ov * phi
    T = logits.applyfunc(sp.exp) / sum(logits.applyfunc(sp.exp))
    p = sp.Matrix([1] + [0] * (size - 1))
    mean = sum(phi[x] * u[x] for x in range(positions))
    printed = sum(phi[x] * (u[x] - mean) * (W_ov[:, x].T * (T - p))[0] for x in range(positions))
    lemma = A * (T[0] - 1) * phi[0] * (u[0] - mean)
    lemma += A * sum(T[x] * phi[x] * (u[x] - mean) for x in range(1, positions))
    return printed, lemma


# Lemma 5


def signs_hold() -> bool:
    """The two identities behind Lemmas 5 and 6, for a symbolic number of rivals.

    In a sample let m be the mass of the optimal token, m - d_k those of its rivals, tau_k their
    shares of the probability of all wrong tokens, s the share of absent tokens. Divided by
    A pi (1 - T_o), the entry of rival j is m_j (m + tau_j - sum_k m_k tau_k), which is
    m_j (tau_j + m s + sum_k d_k tau_k): no term is negative where m is the largest mass.
    """
    import sympy as sp

    m, s, mj, To, Tj, S = sp.symbols("m s m_j T_o T_j S")
    k, u = sp.symbols("k u", integer=True, positive=True)
    d, tau, tau_j = sp.IndexedBase("d"), sp.IndexedBase("tau"), sp.Symbol("tau_j")
    # Lemma 4 for W' = e_j q^T: rival j has x_j^T (x - xbar) = 1 - m_j at itself, -m_j elsewhere;
    # S is sum_k T_k m_k
    entry = (To - 1) * m * (-mj) + Tj * mj - mj * S
    first = entry - mj * ((1 - To) * m + Tj - S)
    # with m = m (s + sum tau), as the shares sum to 1
    left = m * s + sp.Sum(m * tau[k], (k, 1, u)) + tau_j - sp.Sum((m - d[k]) * tau[k], (k, 1, u))
    right = tau_j + m * s + sp.Sum(d[k] * tau[k], (k, 1, u))
    inner = m * tau[k] - (m - d[k]) * tau[k] - d[k] * tau[k]  # the three sums, term by term
    joined = left - right - sp.Sum(m * tau[k], (k, 1, u))
    joined += sp.Sum((m - d[k]) * tau[k], (k, 1, u)) + sp.Sum(d[k] * tau[k], (k, 1, u))
    return bool(sp.expand(first) == 0 and sp.expand(inner) == 0 and sp.expand(joined) == 0)


SIGNS_BY_HAND = (
    "induction over t: these signs raise the optimal entries and lower the others, so the optimal "
    "mass stays the largest (proof on the page)",
)


def check_huang2024_lem_5(runs: Iterable[Run], **parameters: int) -> Check:
    """Optimal attention never decreases and starts at 1 / L at least, under Assumption 3."""
    check = _judge_lem_5([run for run in runs if run.problem.frequent], parameters)
    if check.verdict is not Verdict.CONSISTENT or not signs_hold():
        return check
    return replace(
        check,
        verdict=Verdict.PROVED,
        evidence="The signs of the gradient are identities for any number of rivals. "
        + check.evidence,
        by_hand=SIGNS_BY_HAND,
    )


def _judge_lem_5(runs: Sequence[Run], parameters: Mapping[str, int]) -> Check:
    """Both halves of the lemma at every step, whether Assumption 3 holds or not."""

    def slack(run: Run) -> Slack:
        rows = run.second.rows
        level = rows.log_weight - np.log(bounds.lem_5_weight(run.constants))
        return rows.step, np.minimum(rows.change, level)

    return judge_inequality(
        "huang2024-lem-5",
        runs,
        slack,
        "In no step does the attention on an optimal token fall, and no optimal position has less "
        "than 1/L_max,",
        tolerance=1e-15,  # log(1/L) is rounded; the change of a step has an exact sign
        parameters=parameters,
    )


def control_huang2024_lem_5() -> Control:
    """Without Assumption 3 a decrease must be seen."""
    return Control(
        "Data that violate Assumption 3, the witness of the next section.",
        Verdict.REFUTED,
        _judge_lem_5([outnumbered_run()], {}).verdict,
    )


# Lemma 6


def check_huang2024_lem_6(runs: Iterable[Run], **parameters: int) -> Check:
    """Both bounds on the norm, and the cosine behind the lower one, under Assumption 3.

    Runs without Assumption 3 are held against the same inequalities, and only counted.
    """
    everything = list(runs)
    held = [run for run in everything if run.problem.frequent]
    others = [run for run in everything if not run.problem.frequent]
    check = _judge_lem_6(held, parameters)
    if check.verdict is not Verdict.CONSISTENT:
        return check
    numbers = {**check.numbers, "sharper": _least_sharper(held)}
    if others:
        numbers |= {
            "others": str(len(others)),
            "others_verdict": _judge_lem_6(others, {}).verdict.value,
            "others_sharper": _least_sharper(others),
        }
    proved = signs_hold()
    return replace(
        check,
        verdict=Verdict.PROVED if proved else check.verdict,
        evidence=("The signs of the gradient are identities for any number of rivals. " * proved)
        + check.evidence,
        numbers=numbers,
        by_hand=(*SIGNS_BY_HAND, "three lines from the signs to the cosine (proof on the page)"),
    )


def _judge_lem_6(runs: Sequence[Run], parameters: Mapping[str, int]) -> Check:
    """The three inequalities, each relative to its right-hand side."""

    def slack(run: Run) -> Slack:
        rows, c = run.second.rows, run.constants
        low, high = bounds.lem_6_norm(c, rows.step[1:].astype(float))
        cosine = rows.cos_star / bounds.lem_6_cosine(c, rows.least_attention)
        parts = [cosine[1:] - 1, rows.norm[1:] / low - 1, 1 - rows.norm[1:] / high]
        return rows.step[1:], np.minimum.reduce(parts)

    return judge_inequality(
        "huang2024-lem-6",
        runs,
        slack,
        "The norm stays between both bounds, and the cosine of the negative gradient and "
        "W_kq* above a half of the least optimal attention by ||W_kq*||,",
        tolerance=1e-10,  # t additions of a step of length eta, t up to a few hundred thousand
        parameters=parameters,
    )


def from_elsewhere(start: float = -20.0, steps: int = 10_000) -> tuple[float, float]:
    """The norm after a start far from zero, and what Lemma 6 would have it be at least.

    n: k -> o -> q -> k, sentence k o q -> q with its beginnings, which o decides. Under the query q
    the token o starts far below its two rivals, which take turns at leading and use up the steps;
    under the query o all is learnt from the start.

    Args:
        start: the entry of o under q.
        steps: steps of stage 2.
    """
    samples = [("k", "o"), ("o", "q"), ("q", "k"), ("ko", "q"), ("koq", "q")]
    problem, eta, gap = from_dataset(from_samples(samples, "from elsewhere")), 0.1, 30.0
    entries = {"oq": start, "kq": 0.3, "qq": 0.0, "oo": 30.0, "ko": -30.0}
    names, fresh = problem.vocabulary, training.run(problem, 0, eta, gap)
    places = zip(problem.entry_token.tolist(), problem.entry_query.tolist(), strict=True)
    weights = np.array([entries[names[x] + names[q]] for x, q in places])
    placed = replace(fresh, state=replace(fresh.state, weights=weights))
    found = training.run(problem, steps, eta, gap, state=placed).state.weights
    low = bounds.lem_6_norm(bounds.constants(problem, 1.0, eta, 1), np.array([float(steps)]))[0]
    return float(np.linalg.norm(found)), float(low[0] - np.linalg.norm(weights))


def with_start_readings(check: Check) -> Check:
    """The check of Lemma 6 with what becomes of it from a start other than zero."""
    norm, low = from_elsewhere()
    readings = (
        Reading("started from zero, as in Algorithm 1", check.verdict),
        Reading("started anywhere", Verdict.REFUTED if norm < low else Verdict.OPEN),
    )
    numbers = {"elsewhere": f"{norm:.1f}", "elsewhere_low": f"{low:.1f}"}
    return replace(check, readings=readings, numbers={**check.numbers, **numbers})


def _least_sharper(runs: Iterable[Run]) -> str:
    """The least cosine of the negative gradient and W_kq_star, in units of 1 / (sqrt 2 ||W*||)."""
    values = [-run.second.rows.cos_star.max() * run.problem.norm * math.sqrt(2) for run in runs]
    return f"{min(values):.4f}"


def control_huang2024_lem_6(run: Run) -> Control:
    """Steps twice as long as declared, and a gradient that points the wrong way."""
    longer = replace(run, constants=replace(run.constants, eta=run.constants.eta / 2))
    rows = replace(run.second.rows, cos_star=-run.second.rows.cos_star)
    turned = replace(run, second=replace(run.second, rows=rows))
    found = {_judge_lem_6([one], {}).verdict for one in (longer, turned)}
    return Control(
        "A run with steps twice as long as declared, and one whose gradient is turned around.",
        Verdict.REFUTED,
        found.pop() if len(found) == 1 else Verdict.CONSISTENT,
    )


# Lemma 7


def check_huang2024_lem_7(runs: Iterable[Run], **parameters: int) -> Check:
    """Lemma 7 as printed, with N, under every reading of its constant."""
    held = [run for run in runs if run.problem.frequent]
    factors = bounds.READINGS["huang2024-lem-7"]["factor"]
    found = [_judge_lem_7("huang2024-lem-7", held, f, bounds.N, parameters) for f in factors]
    check = next((one for one in found if one.verdict is not Verdict.REFUTED), found[-1])
    if check.verdict is Verdict.OPEN:
        return check
    readings = [
        Reading(f"the constant of alpha_t is {factor:g}", one.verdict)
        for factor, one in zip(factors, found, strict=True)
    ]
    if check.verdict is not Verdict.REFUTED:
        return replace(check, readings=tuple(readings))
    if not rare_alpha.failed_steps():
        text = "any absolute constant, and any powers of L_max and ||W_kq*|| (proof on the page)"
        readings.append(Reading(text, Verdict.REFUTED))
    numbers = {
        f"missed_{factor:g}": one.numbers["worst"].lstrip("-")
        for factor, one in zip(factors, found, strict=True)
    }
    failing = [run for run in held if _fails(run, factors[-1])]
    evidence = (
        f"Under every reading it fails on {len(failing)} of {len(held)} runs "
        f"({'; '.join(run.name for run in failing[:3])}); with the larger constant it holds on all "
        "others, at all recorded steps."
    )
    return replace(check, evidence=evidence, readings=tuple(readings), numbers=numbers)


def _fails(run: Run, factor: float) -> bool:
    """Whether the printed lemma fails on this run."""
    _, values = _alpha_slack(run, factor, bounds.N)
    return len(values) > 0 and float(values.min()) < 0


def check_huang2024_lem_7_corrected(
    runs: Iterable[Run], rarity: str = bounds.PI_MIN, **parameters: int
) -> Check:
    """Lemma 7 with 1 / pi_min in the place of N, and with the smaller reading of its constant.

    Args:
        runs: the runs.
        rarity: what stands there; `bounds.N` is what the paper prints.
        parameters: what repeats the runs.
    """
    held = [run for run in runs if run.problem.frequent]
    check = _judge_lem_7("huang2024-lem-7-corrected", held, 4, rarity, parameters)
    if check.verdict is not Verdict.CONSISTENT:
        return check
    telling, most = 0, -np.inf
    for run in held:
        rows = run.second.rows
        late = rows.step >= bounds.lem_7_start(run.constants)
        printed = log_alpha(run, 4, rarity, late)
        # (1 + alpha) |cos| < 1: beyond that the inequality follows from Cauchy and Schwarz
        telling += int((np.logaddexp(0.0, printed) < -np.log(-rows.cos_star[late])).sum())
        most = max(most, float(rows.needed_alpha[late].max(initial=-np.inf)))
    first = min(_log_bites(run) for run in held) / math.log(10)
    vacuous = (
        f"t = 10^{first:.1f} at the earliest: there alpha_t falls below 1 on the most favourable "
        "run"
    )
    numbers = {**check.numbers, "telling": str(telling), "most": f"{most:.2g}"}
    return replace(
        check,
        numbers=numbers,
        vacuous=vacuous,
        by_hand=(
            "the repair of the faulty step of the paper's proof; the rest of it is taken over",
        ),
    )


def _judge_lem_7(
    label: str, runs: Sequence[Run], factor: float, rarity: str, parameters: Mapping[str, int]
) -> Check:
    """The inequality from t_0 on, as a bound on the alpha that a run needs."""
    return judge_inequality(
        label,
        runs,
        lambda run: _alpha_slack(run, factor, rarity),
        "From t_0 on, alpha_t is at least what the projections need",
        tolerance=1e-12,  # both are quotients of sums of a few hundred terms, alpha_t below 1e3
        parameters=parameters,
    )


def _alpha_slack(run: Run, factor: float, rarity: str) -> Slack:
    """alpha_t minus the smallest alpha with which the lemma would hold, from t_0 on."""
    rows = run.second.rows
    late = rows.step >= max(1, bounds.lem_7_start(run.constants))
    alpha = np.exp(np.minimum(log_alpha(run, factor, rarity, late), 700.0))  # e^700: any alpha
    return rows.step[late], alpha - rows.needed_alpha[late]


def log_alpha(run: Run, factor: float, rarity: str, at: NDArray[np.bool_]) -> Floats:
    """log alpha_t of Lemma 7 at these rows of a run."""
    norm = run.second.rows.norm[at]
    return np.asarray(bounds.log_lem_7_alpha(run.constants, norm, factor=factor, rarity=rarity))


def _log_bites(run: Run) -> float:
    """log t from which the corrected alpha_t is below 1 if the norm is as large as it can be."""
    c = run.constants
    log_scale = math.log(2 * c.max_length)
    fixed = float(bounds.log_lem_7_alpha(c, 1.0, rarity=bounds.PI_MIN)) - math.log1p(log_scale)

    def largest(log_t: float) -> float:
        log_norm = log_t + math.log(c.eta)
        return float(fixed - log_norm + np.log1p(max(log_scale + log_norm, 0.0)))

    return bounds.bites_from(largest)


def control_huang2024_lem_7() -> Control:
    """With equal frequencies the lemma holds, and must not be refuted."""
    return Control(
        "The same two sentences, equally frequent: a check that refutes everything would refute "
        "them, too.",
        Verdict.CONSISTENT,
        check_huang2024_lem_7([rare.rare_run(0.0, 4000, rare_alpha.largest_eta())]).verdict,
    )


def control_huang2024_lem_7_corrected(run: Run) -> Control:
    """With N put back, the rare sample must be noticed."""
    return Control(
        "N in the place of 1/pi_min, on the run with a rare sample.",
        Verdict.REFUTED,
        check_huang2024_lem_7_corrected([run], bounds.N).verdict,
    )
