"""Algorithm 1 in plain Python, sample by sample: for the browser, and as an oracle for `training`.

Standard library only. Entries of W_kq are stored by (token, query). The formulas are those of
`fast.kernel`, which stores the size of each sample's gradient as a logarithm, so that the direction
stays accurate when the loss is too small for a float. `plain_any` trains on data that break
Assumption 1, on request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ntpcore.data.dataset import InputError
from ntpcore.data.order import PartialOrder, Structure
from ntpcore.huang2024 import plain_any

STEPS = 900  # of either stage, as in Section 7 of huang2024
MANY_STEPS = 100_000  # of stage 1, beyond which its exact law stands for the loop

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Sample:
    """Samples that have the same gradient; entries of W_kq by number.

    Attributes:
        best: entry of the optimal token.
        rivals: entry of each other token, with the log of how often it occurs for each occurrence
            of the optimal token.
        log_share: log of the frequency pi.
    """

    best: int
    rivals: tuple[tuple[int, float], ...]
    log_share: float


@dataclass(frozen=True)
class Trained:
    """A transformer after both stages.

    Attributes:
        structure: the data set that the transformer was trained on.
        gap: A, by how much W_ov lifts the logit of n(x) above all other logits after token x.
        weights: the entries of W_kq by (token, query); all other entries are zero.
        steps: number of steps of stage 2.
    """

    structure: Structure
    gap: float
    weights: Mapping[tuple[str, str], float]
    steps: int


@dataclass(frozen=True)
class Prediction:
    """Next-token probabilities and attention of a trained transformer for one sentence.

    Attributes:
        sentence: the tokens of the sentence; the last one is the query.
        probabilities: probability of each token of the vocabulary to come next.
        attention: attention weight of each position of the sentence.
        roles: role of each token of the sentence under the query: optimal, non-optimal,
            non-comparable, or confused (above one token and below another).
    """

    sentence: tuple[str, ...]
    probabilities: dict[str, float]
    attention: tuple[float, ...]
    roles: dict[str, str]

    @property
    def likeliest(self) -> str:
        """The token with the largest probability; if several tie, the first in the vocabulary."""
        return max(self.probabilities, key=self.probabilities.__getitem__)


def train(
    structure: Structure,
    *,
    steps: int = STEPS,
    steps1: int = STEPS,
    eta0: float | None = None,
    eta: float | None = None,
    state: Trained | None = None,
    keep: Callable[[Trained], None] | None = None,
    progress: Progress | None = None,
    anyway: bool = False,
) -> Trained:
    """Train both stages from zero; the default step sizes are those of huang2024, Section 7.

    Args:
        structure: a realizable data set; any data set if `anyway` is set.
        steps: number of steps of stage 2.
        steps1: number of steps of stage 1.
        eta0: step size of stage 1; 0.2 / sqrt(|V|) if None.
        eta: step size of stage 2; 0.05 / sqrt(|V|) if None.
        state: a run on the same data with the same settings to resume; the result has the numbers
            of an uninterrupted run.
        keep: called with the current run after each step of stage 2.
        progress: called after each step of stage 2 with the steps taken and the total number.
        anyway: if Assumption 1 fails, train on all samples nevertheless. Stage 1 then trains the
            columns of the tokens that have a next token. No theorem says where stage 2 leads.

    Raises:
        InputError: Assumption 1 fails, or no sentence has two distinct tokens.

    Source: huang2024, Algorithm 1.
    """
    realizable = structure.realizable.holds is True
    if not realizable and not anyway:
        reason = structure.realizable.failures[0].message
        raise InputError(
            f"{structure.data.name}: not realizable (Assumption 1), so there is no max-margin "
            f"solution to train towards: {reason}; `ntpcore check` lists all reasons"
        )
    root = math.sqrt(len(structure.data.vocabulary))
    entries: dict[tuple[str, str], int] = {}
    size = len(structure.data.vocabulary)
    samples = _samples(structure, entries) if realizable else []
    mixed = [] if realizable else plain_any.samples(structure, entries)
    if not samples and not mixed:
        raise InputError(
            f"{structure.data.name}: no sentence has two distinct tokens, so the gradient of the "
            "attention is zero everywhere and Algorithm 1 would divide by its norm; add a longer "
            "sentence"
        )
    if state is None:
        columns = sum(following is not None for following in structure.collocation.values())
        gap = stage1(size, steps1, 0.2 / root if eta0 is None else eta0, columns or size)
        weights, first = [0.0] * len(entries), 0
    else:
        gap, first = state.gap, state.steps
        weights = [state.weights[entry] for entry in entries]
    rate = 0.05 / root if eta is None else eta
    for step in range(first, steps):
        if realizable:
            # not zero: an entry is only pulled or only pushed, and the largest sample has scale 1
            direction = gradient(samples, weights, gap, size)
        else:
            direction = plain_any.gradient(mixed, weights, gap, size)
        norm = math.sqrt(math.fsum(value * value for value in direction)) or 1.0
        weights = [w - rate * g / norm for w, g in zip(weights, direction, strict=True)]
        if keep is not None:
            now = dict(zip(entries, weights, strict=True))
            keep(Trained(structure, gap, now, step + 1))
        if progress is not None:
            progress(step + 1, steps)
    return Trained(structure, gap, dict(zip(entries, weights, strict=True)), steps)


def stage1(vocab_size: int, steps: int, eta0: float, columns: int | None = None) -> float:
    """The gap A after normalized gradient descent on W_ov from zero, |V| being at least 2.

    Every column x has one entry for n(x) and |V| - 1 for the other tokens. All trained columns have
    the same gradient up to the order of their entries, and all wrong entries of a column have the
    same gradient. So two numbers describe W_ov. The number of trained columns is `columns`, or |V|
    if None. Beyond 100,000 steps, the exact law of stage 1 replaces the loop.

    Source: huang2024, Algorithm 1, lines 3 to 5, and equation (5).
    """
    trained = vocab_size if columns is None else columns
    if steps > MANY_STEPS:  # the exact law of stage 1
        return steps * eta0 / math.sqrt(vocab_size - 1) * math.sqrt(vocab_size / trained)
    right = wrong = 0.0
    wrongs = vocab_size - 1
    for _ in range(steps):
        log_odds = math.log(wrongs) + wrong - right  # of any wrong token
        scale = _softplus(log_odds)
        pull, push = log_odds - scale, wrong - right - scale  # logs of 1 - T and of a wrong T
        down, up = 1.0, math.exp(push - pull)
        norm = math.sqrt(trained * (down * down + wrongs * up * up))
        right, wrong = right + eta0 * down / norm, wrong - eta0 * up / norm
    return right - wrong


def _samples(structure: Structure, entries: dict[tuple[str, str], int]) -> list[_Sample]:
    """Samples of two or more distinct tokens; their entries of W_kq are numbered on the way."""
    source = {following: token for token, following in structure.collocation.items()}
    counts, total = plain_any.grouped(structure)
    by_best = {
        (query, source[following], tokens): count
        for (query, following, tokens), count in counts.items()
    }
    found = []
    for (query, best, tokens), count in sorted(by_best.items()):
        often = dict(tokens)
        places = {token: entries.setdefault((token, query), len(entries)) for token in often}
        rivals = tuple(
            (places[token], math.log(number / often[best]))
            for token, number in tokens
            if token != best
        )
        found.append(_Sample(places[best], rivals, math.log(count / total)))
    return found


def gradient(
    samples: Sequence[_Sample], weights: Sequence[float], gap: float, vocab_size: int
) -> list[float]:
    """A positive multiple of the gradient of the loss with respect to the entries of W_kq.

    Source: huang2024, equation (6), as in `fast.kernel`.
    """
    parts = [_sample_gradient(sample, weights, gap, vocab_size) for sample in samples]
    top = max(level for level, _, _ in parts)
    found = [0.0] * len(weights)
    for sample, (level, pull, pushes) in zip(samples, parts, strict=True):
        scale = math.exp(level - top)
        found[sample.best] -= scale * pull
        for (entry, _), push in zip(sample.rivals, pushes, strict=True):
            found[entry] += scale * push
    return found


def _sample_gradient(
    sample: _Sample, weights: Sequence[float], gap: float, vocab_size: int
) -> tuple[float, float, list[float]]:
    """Log of a factor; then the pull on the optimal token and the push on each rival by it."""
    logs = [ratio + weights[entry] for entry, ratio in sample.rivals]
    largest = max(logs)
    powers = [math.exp(one - largest) for one in logs]
    total = math.fsum(powers)
    share = [one / total for one in powers]  # s_j = m_j / (1 - m_o)
    odds = weights[sample.best] - largest - math.log(total)
    log_rest = -_softplus(odds)  # log of r = 1 - m_o
    best, rest = math.exp(-_softplus(-odds)), math.exp(log_rest)
    # logits of wrong tokens relative to that of n(h), h being the rival with the largest share
    reach = gap * rest / total
    below = [reach * math.expm1(one - largest) for one in logs]
    odds_of = [math.exp(one) for one in below]
    wrong = math.fsum(odds_of) + (vocab_size - 1 - len(logs)) * math.exp(-reach)
    behind = [-math.expm1(one) / wrong for one in below]  # tau_h - tau_j, tau = T / (1 - T_o)
    pull = best * (1.0 + math.fsum(s * t for s, t in zip(share, odds_of, strict=True)) / wrong)
    lead = pull + math.fsum(s * d for s, d in zip(share, behind, strict=True))
    pushes = [s * (lead - d) for s, d in zip(share, behind, strict=True)]
    level = sample.log_share + log_rest - _softplus(gap * best - reach - math.log(wrong))
    return level, pull, pushes


def predict(trained: Trained, sentence: Sequence[str]) -> Prediction:
    """Next-token probabilities and attention of a trained transformer for a sentence.

    Raises:
        InputError: the sentence is empty, or a token is not in the vocabulary.

    Source: huang2024, Section 4.1.
    """
    vocabulary, collocation = trained.structure.data.vocabulary, trained.structure.collocation
    if not sentence:
        raise InputError("the sentence is empty; give at least one token")
    known = set(vocabulary)
    for token in sentence:
        if token not in known:
            more = ", ..." if len(vocabulary) > 20 else ""
            raise InputError(
                f"{token!r} is not in the vocabulary; its tokens are "
                f"{' '.join(vocabulary[:20])}{more}"
            )
    query = sentence[-1]
    attention = _softmax([trained.weights.get((token, query), 0.0) for token in sentence])
    logits = dict.fromkeys(vocabulary, 0.0)
    for token, weight in zip(sentence, attention, strict=True):
        following = collocation[token]
        if following is not None:
            logits[following] += trained.gap * weight
    order = (trained.structure.orders or {}).get(query)
    return Prediction(
        tuple(sentence),
        dict(zip(logits, _softmax(list(logits.values())), strict=True)),
        tuple(attention),
        {token: role_of(token, order) for token in sentence},
    )


def role_of(token: str, order: PartialOrder | None) -> str:
    """The role of a token in the order of a query, in the words of `Prediction.roles`."""
    if order is None or token not in order.compared:
        return "non-comparable"
    if token in order.confused:
        return "confused"
    return "optimal" if token in order.below else "non-optimal"


def _softplus(x: float) -> float:
    """log(1 + e^x) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _log_sum(logs: Sequence[float]) -> float:
    """log sum exp of finite numbers."""
    top = max(logs)
    return top + math.log(math.fsum(math.exp(one - top) for one in logs))


def _softmax(logs: Sequence[float]) -> list[float]:
    """Shares that sum to one."""
    total = _log_sum(logs)
    return [math.exp(one - total) for one in logs]
