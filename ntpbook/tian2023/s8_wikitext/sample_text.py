"""The book's own small text, written by a small grammar: what runs where there is no WikiText.

Each paragraph has a topic. Words of the topic are distinct for what comes next; words such as
`the`, `and`, `often` occur in all topics. Any use of it is free.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

# who, where, does, what (in each topic from frequent to rare)
TOPICS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("gardener", "neighbour", "botanist"),
        ("garden", "orchard", "greenhouse"),
        ("waters", "plants", "prunes"),
        ("roses", "apples", "ferns", "tulips"),
    ),
    (
        ("sailor", "captain", "diver"),
        ("harbour", "bay", "lighthouse"),
        ("mends", "steers", "paints"),
        ("boat", "sails", "nets", "anchor"),
    ),
    (
        ("cook", "baker", "guest"),
        ("kitchen", "bakery", "cellar"),
        ("tastes", "bakes", "serves"),
        ("bread", "soup", "cakes", "dumplings"),
    ),
    (
        ("miner", "geologist", "climber"),
        ("valley", "quarry", "cave"),
        ("finds", "weighs", "carves"),
        ("stones", "crystals", "marble", "copper"),
    ),
    (
        ("violinist", "singer", "composer"),
        ("theatre", "chapel", "studio"),
        ("plays", "rehearses", "writes"),
        ("sonata", "songs", "overture", "chorus"),
    ),
    (
        ("astronomer", "student", "watchman"),
        ("observatory", "tower", "meadow"),
        ("counts", "draws", "describes"),
        ("stars", "comets", "planets", "eclipse"),
    ),
)
OFTEN = ("often", "today", "again", "slowly", "sometimes")
LINKS = ("and", "while", "because", "after")


def write(seed: int, paragraphs: int = 220) -> str:
    """The text: the same for the same arguments on every machine.

    Args:
        seed: which text.
        paragraphs: its length; a paragraph has about 45 words.
    """
    rng = random.Random(seed)
    return "\n".join(_paragraph(rng) for _ in range(paragraphs)) + "\n"


def _pick(rng: random.Random, words: Sequence[str]) -> str:
    """One of some words; the first is the most frequent."""
    place = len(words) * rng.random() ** 1.6
    return words[int(place)]


def _paragraph(rng: random.Random) -> str:
    """Three sentences on one topic."""
    topic = TOPICS[int(len(TOPICS) * rng.random())]
    return " ".join(_sentence(rng, topic) for _ in range(3))


def _sentence(rng: random.Random, topic: tuple[tuple[str, ...], ...]) -> str:
    """A sentence of two clauses."""
    who, where, does, what = topic

    def clause() -> str:
        words = ["the", _pick(rng, who)]
        if rng.random() < 0.5:
            words += ["in", "the", _pick(rng, where)]
        if rng.random() < 0.4:
            words.append(_pick(rng, OFTEN))
        return " ".join([*words, _pick(rng, does), "the", _pick(rng, what)])

    return f"{clause()} {_pick(rng, LINKS)} {clause()} ."
