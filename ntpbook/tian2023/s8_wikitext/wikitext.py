"""WikiText from a folder, or the book's own sample text, as numbers of tokens.

The folder is named by the reader; nothing is ever fetched. WikiText-2 is the word-level language
modelling data set of S. Merity, C. Xiong, J. Bradbury and R. Socher (Pointer Sentinel Mixture
Models, 2016), published by Salesforce Research.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s8_wikitext import sample_text
from ntpcore.data.dataset import InputError

Integers = NDArray[np.int32]

PARTS = ("train", "valid", "test")
FORMS = ("wiki.{}.tokens", "wiki.{}.raw", "wiki.{}.txt", "{}.txt", "{}.tokens", "{}.raw", "{}")
UNKNOWN, END = "<unk>", "<eos>"
WHERE = (
    "WikiText-2 is published by Salesforce Research with the paper Pointer Sentinel Mixture Models "
    "(Merity, Xiong, Bradbury, Socher 2016); unpack it and name its folder by WIKITEXT_DIR"
)


@dataclass(frozen=True)
class Folder:
    """The files of a WikiText folder.

    Attributes:
        files: path of each part that is there: train, valid, test.
        digests: SHA-256 of the bytes of each.
    """

    files: dict[str, Path]
    digests: dict[str, str]

    @property
    def digest(self) -> str:
        """One hash for all files."""
        text = "".join(f"{part} {self.digests[part]}\n" for part in sorted(self.digests))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Corpus:
    """Text to train on and held-out text.

    Attributes:
        source: what it is, in words.
        real: whether it is WikiText and not the book's own sample.
        digests: SHA-256 of every file that was read, by part.
        vocabulary: the tokens by number; the last one stands for all that are not listed.
        train: numbers of the tokens to train on.
        held_out: numbers of the tokens to look at.
        covered: share of the training tokens that are in the vocabulary.
    """

    source: str
    real: bool
    digests: dict[str, str]
    vocabulary: tuple[str, ...]
    train: Integers
    held_out: Integers
    covered: float


def find_folder(path: str) -> Folder:
    """The files of a WikiText folder, under any of their usual names.

    Raises:
        InputError: there is no such folder, it holds neither of the parts needed, or a part twice.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"WIKITEXT_DIR={path}: no such folder. {WHERE}")
    files: dict[str, Path] = {}
    for part in PARTS:
        found = [folder / form.format(part) for form in FORMS]
        found = [file for file in found if file.is_file()]
        if len(found) > 1:
            names = " and ".join(file.name for file in found)
            raise InputError(f"WIKITEXT_DIR={path}: {names} are both there; keep one")
        if found:
            files[part] = found[0]
    missing = [part for part in ("valid", "test") if part not in files]
    if missing:
        names = ", ".join(form.format(missing[0]) for form in FORMS)
        raise InputError(
            f"WIKITEXT_DIR={path}: no {' and no '.join(missing)} file there (looked for {names}). "
            + WHERE
        )
    try:
        digests = {
            part: hashlib.sha256(file.read_bytes()).hexdigest() for part, file in files.items()
        }
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read ({error.strerror})") from None
    return Folder(files, digests)


def split(text: str) -> list[str]:
    """Tokens of a text that has blanks between them: small letters, a mark at each line's end."""
    return [
        word
        for line in text.lower().splitlines()
        if (words := line.split())
        for word in [*words, END]
    ]


def build_vocabulary(tokens: Iterable[str], size: int) -> tuple[str, ...]:
    """The most frequent tokens, ties in alphabetical order, and in the last place the unknown.

    Args:
        tokens: the training tokens.
        size: of the vocabulary at most; 0 for all tokens.
    """
    counts = Counter(tokens)
    counts.pop(UNKNOWN, None)
    ordered = sorted(counts, key=lambda token: (-counts[token], token))
    return (*(ordered[: size - 1] if size else ordered), UNKNOWN)


def encode(tokens: Sequence[str], vocabulary: Sequence[str]) -> Integers:
    """Numbers of tokens; those not listed get the last number."""
    place = {token: number for number, token in enumerate(vocabulary)}
    return np.array([place.get(token, len(vocabulary) - 1) for token in tokens], dtype=np.int32)


def read_corpus(path: str, size: int, full: bool = False) -> Corpus:
    """Training and held-out tokens.

    The reduced form trains on the validation file and holds the test file out. The full one trains
    on the training file, if there is one, and holds the validation file out.

    Args:
        path: the folder; "" for the book's own sample text.
        size: of the vocabulary at most; 0 for all tokens.
        full: which form.

    Raises:
        InputError: the folder cannot be used.
    """
    if not path:
        texts = sample_text.write(seed=1), sample_text.write(seed=2, paragraphs=60)
        digests = {
            part: hashlib.sha256(text.encode()).hexdigest()
            for part, text in zip(("train", "held out"), texts, strict=True)
        }
        return _corpus("the book's own sample text", False, digests, *texts, size)
    folder = find_folder(path)
    parts = ("train", "valid") if full and "train" in folder.files else ("valid", "test")
    try:
        texts = tuple(folder.files[part].read_text(encoding="utf-8") for part in parts)  # type: ignore[assignment]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"WIKITEXT_DIR={path}: a file is not UTF-8 text ({error})") from None
    digests = {part: folder.digests[part] for part in parts}
    return _corpus("WikiText", True, digests, *texts, size)


def _corpus(
    source: str, real: bool, digests: dict[str, str], train: str, held_out: str, size: int
) -> Corpus:
    """A corpus from two texts."""
    tokens = split(train)
    vocabulary = build_vocabulary(tokens, size)
    numbers = encode(tokens, vocabulary)
    covered = float((numbers != len(vocabulary) - 1).mean()) if len(numbers) else 0.0
    others = encode(split(held_out), vocabulary)
    return Corpus(source, real, digests, vocabulary, numbers, others, covered)


def segments(tokens: Integers, batch: int, length: int) -> Integers:
    """Batches of segments of one stream cut into parallel strips.

    Args:
        tokens: the stream.
        batch: B, strips.
        length: T.

    Returns:
        (S, B, T + 1); the last token of a row is the first one of the same row in the next batch.

    Raises:
        InputError: the text is too short for one batch.
    """
    columns = len(tokens) // batch
    if columns < length + 1:
        raise InputError(
            f"the text has {len(tokens)} tokens; {batch * (length + 1)} are needed for one batch"
        )
    strips = tokens[: batch * columns].reshape(batch, columns)
    starts = range(0, columns - length, length)
    return np.stack([strips[:, start : start + length + 1] for start in starts])


def pieces(tokens: Integers, count: int, length: int) -> Integers:
    """Pieces of held-out text, spread evenly over it: (count, length + 1).

    Raises:
        InputError: the text is too short.
    """
    if len(tokens) < count * (length + 1):
        raise InputError(
            f"the held-out text has {len(tokens)} tokens; {count * (length + 1)} are needed"
        )
    starts = np.linspace(0, len(tokens) - length - 1, count).astype(int)
    return np.stack([tokens[start : start + length + 1] for start in starts])


def frequent_words(corpus: Corpus, count: int) -> Integers:
    """The most frequent words: tokens of letters only."""
    words = [number for number, token in enumerate(corpus.vocabulary) if token.isalpha()]
    return np.array(words[:count], dtype=np.int32)
