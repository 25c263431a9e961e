"""Two small languages to try the theory on: nested brackets, and the log of a server."""

from __future__ import annotations

import numpy as np

from ntpcore.data.dataset import Dataset, from_sentences

_BRACKETS = (("(", ")"), ("[", "]"))


def brackets(rng: np.random.Generator, sentences: int, max_depth: int = 3) -> Dataset:
    """Balanced brackets of two kinds, at most so deep, each sentence ended by a full stop.

    What may come next depends on the innermost open bracket, which can lie any number of tokens
    back; whether to open another one is free.
    """
    return from_sentences([_balanced(rng, max_depth) for _ in range(sentences)], "brackets")


def _balanced(rng: np.random.Generator, max_depth: int) -> list[str]:
    """One sentence."""
    opened: list[str] = []
    words: list[str] = []
    while not words or opened or rng.random() < 0.4:
        if not opened or (len(opened) < max_depth and rng.random() < 0.4):
            opening, closing = _BRACKETS[int(rng.integers(2))]
            words.append(opening)
            opened.append(closing)
        else:
            words.append(opened.pop())
    return [*words, "."]


def server_log(rng: np.random.Generator, sessions: int, max_requests: int = 4) -> Dataset:
    """Sessions of a client with a server: a line for each, its events as tokens.

    A client connects and logs in, and is asked again after a refusal. Then it reads or writes; a
    write must be confirmed. Every request is answered by the event that belongs to it, except that
    a read now and then times out, which ends the session.
    """
    return from_sentences([_session(rng, max_requests) for _ in range(sessions)], "server log")


def _session(rng: np.random.Generator, max_requests: int) -> list[str]:
    """One session."""
    words = ["connect", "hello", "login"]
    while rng.random() < 0.2:
        words += ["refused", "login"]
    words.append("welcome")
    for _ in range(int(rng.integers(1, max_requests + 1))):
        if rng.random() < 0.5:
            words += ["write", "confirm", "yes", "stored"]
        elif rng.random() < 0.1:
            return [*words, "read", "timeout"]
        else:
            words += ["read", "data"]
    return [*words, "quit", "goodbye"]
