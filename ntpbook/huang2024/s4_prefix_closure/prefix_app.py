"""Check of the remark of Section 3 that the beginnings of a sample are samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import product

from ntpbook.shared.said import settle
from ntpcore.data.dataset import from_sentences
from ntpcore.verdicts.claims import Check, Control, Reading, Verdict

Model = Mapping[tuple[str, ...], str]  # the ground truth: what follows a sentence


def models(longest: int) -> Iterator[Model]:
    """All ground-truth models on two tokens for sentences of up to so many tokens."""
    inputs = [word for length in range(1, longest + 1) for word in product("01", repeat=length)]
    for outputs in product("01", repeat=len(inputs)):
        yield dict(zip(inputs, outputs, strict=True))


def grown(model: Model, start: str, longest: int) -> list[str]:
    """A sentence with its next token, grown from its first token by the model."""
    line = [start]
    while len(line) <= longest:
        line.append(model[tuple(line)])
    return line


def strays(model: Model, line: list[str]) -> list[str]:
    """Beginnings of a sentence whose next token is not that of the model."""
    return [
        f"{' '.join(line[:end])} → {line[end]}"
        for end in range(1, len(line))
        if model[tuple(line[:end])] != line[end]
    ]


@lru_cache
def held(line: tuple[str, ...]) -> list[list[str]]:
    """The samples of our data set made of one sentence, each with its next token."""
    return [[*sample.sentence, sample.next_token] for sample in from_sentences([line]).samples()]


def check_huang2024_app_prefixes(longest: int, by_model: bool = True) -> Check:
    """A sentence that the models generate has beginnings that follow them, too.

    Args:
        longest: longest sentence; all models on two tokens up to there are gone through.
        by_model: whether sentences are grown by the model; else any sentence is labelled by it.
    """
    tried, fault = 0, ""
    for model in models(longest):
        sentences = [grown(model, start, longest) for start in "01"]
        if not by_model:
            words = product("01", repeat=longest)
            sentences = [[*word, model[word]] for word in words]
        for line in sentences:
            tried += 1
            missing = held(tuple(line)) != [line[: end + 1] for end in range(1, len(line))]
            if (missing or strays(model, line)) and not fault:
                fault = (
                    f"the sentence {' '.join(line)}: {strays(model, line) or 'a beginning lost'}"
                )
    free = check_huang2024_app_prefixes(2, by_model=False) if by_model else None
    return settle(
        "huang2024-app-prefixes",
        symbols={},
        fault=fault,
        tried=tried,
        unit="generated sentences",
        evidence=f"On two tokens, for all models of sentences of up to {longest} tokens, every "
        f"beginning of {tried} generated sentences follows the models, and our data sets hold it.",
        numbers={"tried": str(tried)},
        parameters={"longest": longest},
        by_hand=("each token after the first is generated from all before it, by definition",),
        readings=()
        if free is None
        else (
            Reading("sentences are generated token by token", Verdict.CONSISTENT),
            Reading(
                "D_0 holds any sentences X with the next token p*(X), as its definition reads",
                free.verdict,
            ),
        ),
    )


def control_huang2024_app_prefixes() -> Control:
    """Sentences that no model generated stray from it."""
    return Control(
        "All sentences of two tokens, whoever wrote them, with the model's next token.",
        Verdict.REFUTED,
        check_huang2024_app_prefixes(2, by_model=False).verdict,
    )
