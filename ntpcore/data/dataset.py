"""Training data: tokens, sentences, and samples, and the files that hold them.

A data set stores the distinct lines of its file, not the samples. A line of a million tokens stands
for almost a million samples, which share the memory of the line.
"""

from __future__ import annotations

import errno
import json
import operator
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import IO, Any, SupportsIndex

FORMATS = ("text", "jsonl")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_KEYS = ("sentence", "next", "count")
Token = str | SupportsIndex  # a token of a caller in Python: its text, or the number of an id

MOST_COUNT = 10**15  # how often a sample may occur: sums of counts stay numbers to be read
LONGEST_LINE = 20_000_000  # characters; a longer one is rather another kind of file
ROOM = 1_000_000_000  # bytes that data may take with what is computed at once: 2 GB in all
# How files begin that hold others.
PACKED = {
    b"\x1f\x8b": "a gzip archive",
    b"PK\x03\x04": "a zip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
# What a distinct line, each of its places, and a token cost of that, as measured.
_LINE, _PLACE, _TOKEN, _LETTER = 600, 12, 800, 8


class InputError(ValueError):
    """Input that cannot be used; the message names the file, the line, the rule, and a remedy."""


def unwritable(path: str, error: OSError) -> InputError:
    """The error to raise for a file that cannot be written, with the reason and a remedy."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    way_out = (
        "make room, or name a file elsewhere"
        if full
        else ("name another file, in a folder you may write to")
    )
    return InputError(f"{path}: cannot be written ({error.strerror or error}); {way_out}")


@dataclass(frozen=True)
class Line:
    """A distinct line of the data.

    Attributes:
        tokens: the numbers of its tokens; the last token serves as a next token only.
        count: how often the line occurs.
        number: the number, from 1, of the first line of the file with these tokens.
    """

    tokens: array[int]
    count: int
    number: int

    def __hash__(self) -> int:
        """The hash of the content; arrays have none."""
        return hash((self.tokens.tobytes(), self.count, self.number))


@dataclass(frozen=True)
class Sample:
    """A distinct pair of a sentence and its next token, and the number of its occurrences."""

    sentence: tuple[str, ...]
    next_token: str
    count: int


@dataclass(frozen=True)
class Dataset:
    """A training data set (huang2024, Section 3).

    Attributes:
        vocabulary: the tokens, in order of first appearance; a token's number is its index here.
        lines: the distinct lines, in order of first appearance.
        prefixes: whether each line x1 ... xn stands for the samples ([x1 ... xl], x(l+1)) for
            l = 1 ... n-1, as in a text file; if False, each line is the single sample
            ([x1 ... x(n-1)], xn), as in a JSON Lines file.
        name: the source of the data, for messages.
    """

    vocabulary: tuple[str, ...]
    lines: tuple[Line, ...]
    prefixes: bool
    name: str = "data"

    @cached_property
    def max_length(self) -> int:
        """The length of the longest sentence, without its next token."""
        return max(len(line.tokens) for line in self.lines) - 1

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """For each line, the length of the shortest sentence whose sample no earlier line contains.

        The sentence of length l consists of the first l tokens of the line. If earlier lines
        contain all samples of a line, its entry is its number of tokens.
        """
        if not self.prefixes:
            return tuple(len(line.tokens) - 1 for line in self.lines)
        return tuple(max(1, shared) for shared in _shared_with_earlier(self.lines))

    @cached_property
    def sample_count(self) -> int:
        """N, the number of distinct (sentence, next token) pairs."""
        pairs = zip(self.lines, self.starts, strict=True)
        return sum(max(0, len(line.tokens) - start) for line, start in pairs)

    @cached_property
    def prefix_closed(self) -> bool:
        """Whether ([x1 ... x(l-1)], xl) is a sample for each sample ([x1 ... xl], y) with l > 1.

        Source: huang2024, Section 3.
        """
        if self.prefixes:
            return True
        samples = {line.tokens.tobytes() for line in self.lines}
        size = array("I").itemsize
        return all(
            len(line.tokens) == 2 or line.tokens.tobytes()[:-size] in samples for line in self.lines
        )

    def samples(self) -> Iterator[Sample]:
        """The distinct samples in order of first appearance; large data can exceed the memory."""
        counts: dict[tuple[str, ...], int] = {}
        for line in self.lines:
            words = tuple(self.vocabulary[token] for token in line.tokens)
            first = 2 if self.prefixes else len(words)
            for end in range(first, len(words) + 1):
                counts[words[:end]] = counts.get(words[:end], 0) + line.count
        for words, count in counts.items():
            yield Sample(words[:-1], words[-1], count)


def _shared_with_earlier(lines: tuple[Line, ...]) -> list[int]:
    """For each line, the number of leading tokens that it shares with some earlier line.

    Sorting brings shared beginnings together. Taking lines out of the sorted chain from last to
    first leaves, beside each line, exactly the earlier ones; the beginnings shared by neighbors
    are carried along. Time is that of sorting, memory that of the lines.
    """
    size = array("I").itemsize
    keys = [line.tokens.tobytes() for line in lines]
    chain = sorted(range(len(lines)), key=keys.__getitem__)
    before = {b: a for a, b in pairwise(chain)}
    after = dict(pairwise(chain))
    common = {b: _common_bytes(keys[a], keys[b]) // size for a, b in pairwise(chain)}
    shared = [0] * len(lines)
    for line in reversed(range(len(lines))):
        left, right = before.get(line), after.get(line)
        shared[line] = max(common.get(line, 0), common[right] if right is not None else 0)
        if right is not None:
            common[right] = min(common[right], common.get(line, 0))
            if left is None:
                del before[right]
            else:
                before[right] = left
        if left is not None:
            if right is None:
                del after[left]
            else:
                after[left] = right
    return shared


def _common_bytes(left: bytes, right: bytes) -> int:
    """Length of the common beginning, by bisection on comparisons that run at memory speed."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle
    return low


class _Collector:
    """Numbers tokens and merges equal lines while a file is read, within so many bytes."""

    def __init__(self, name: str, room: int = ROOM) -> None:
        self.name, self.room, self.used = name, room, 0
        self.numbers: dict[str, int] = {}
        self.counts: dict[bytes, int] = {}
        self.first: dict[bytes, int] = {}

    def add(self, tokens: Iterable[str], count: int, number: int) -> None:
        """Take in one line; a line of one token adds that token to the vocabulary only."""
        words, numbers = list(tokens), self.numbers
        try:  # nearly every line holds known tokens alone, and this loop runs in C
            ids = array("I", map(numbers.__getitem__, words))
        except KeyError:
            for token in words:
                if token not in numbers:
                    numbers[token] = len(numbers)
                    self._take(_TOKEN + _LETTER * len(token), number)
            ids = array("I", map(numbers.__getitem__, words))
        if len(ids) > 1:
            key = ids.tobytes()
            if key not in self.counts:
                self.first[key] = number
                self._take(_LINE + _PLACE * len(ids), number)
            self.counts[key] = self.counts.get(key, 0) + count

    def _take(self, size: int, number: int) -> None:
        """Account for memory, and refuse data that would not fit before they are all read."""
        self.used += size
        if self.used > self.room:
            raise InputError(
                f"{self.name}:{number}: the data do not fit: {len(self.numbers)} tokens and "
                f"{len(self.counts)} distinct lines up to here take {self.room // 10**6} MB of "
                "memory; use a part of the file, or raise --memory (room= of dataset.read)"
            )

    def dataset(self, *, prefixes: bool) -> Dataset:
        """The data set collected so far."""
        name = self.name
        if not self.numbers:
            raise InputError(
                f"{name}: the input holds no sentence; write one sentence per line, its tokens "
                "separated by white space"
            )
        if not self.counts:
            raise InputError(
                f"{name}: no sample: every line has a single token, and a sample needs a sentence "
                "and a next token; separate tokens by white space, or give --chars"
            )
        lines = tuple(
            Line(array("I", key), count, self.first[key]) for key, count in self.counts.items()
        )
        return Dataset(tuple(self.numbers), lines, prefixes, name)


def from_sentences(
    sentences: Iterable[str | Iterable[Token]],
    name: str = "data",
    *,
    vocabulary: Sequence[str] | None = None,
) -> Dataset:
    """The data set whose samples are all proper prefixes of these lines, with their next tokens.

    A line x1 ... xn gives the samples ([x1 ... xl], x(l+1)) for l = 1 ... n-1 (huang2024,
    Section 3).

    Args:
        sentences: the lines; each is a string, split at white space, or a list of tokens, which are
            strings or integers of Python or numpy.
        name: the name of the data in messages.
        vocabulary: the token of each integer, such as the vocabulary of a tokenizer; None to turn
            the integer 7 into the token "7".

    Raises:
        InputError: no line has two tokens, a value is not a token, or the data are too large.
    """
    collector = _Collector(name)
    for number, line in enumerate(_listed(sentences, f"{name}: sentences"), start=1):
        collector.add(_words(line, f"{name}:{number}", vocabulary), 1, number)
    return collector.dataset(prefixes=True)


def from_samples(
    samples: Iterable[
        tuple[str | Iterable[Token], Token]
        | tuple[str | Iterable[Token], Token, int]
        | Mapping[str, Any]
    ],
    name: str = "data",
    *,
    vocabulary: Sequence[str] | None = None,
) -> Dataset:
    """The data set of exactly these samples; no prefixes are added.

    Args:
        samples: pairs (sentence, next token), triples with a count, or mappings with the keys of
            JSON Lines: "sentence", "next", and optionally "count". A sentence is a string, split at
            white space, or a list of tokens.
        name: the name in messages.
        vocabulary: the token of each integer, as in `from_sentences`.

    Raises:
        InputError: there is no sample, a sample has another shape, a sentence is empty, a value is
            not a token, a count is not an integer from 1 to 10^15, or the data are too large.
    """
    collector = _Collector(name)
    for number, sample in enumerate(_listed(samples, f"{name}: samples"), start=1):
        where = f"{name}:{number}"
        sentence, next_token, count = _parts(sample, where)
        words = _words(sentence, where, vocabulary)
        if not words:
            raise InputError(f"{where}: a sample's sentence must have a token")
        if type(count) is not int or not 1 <= count <= MOST_COUNT:
            raise InputError(f"{where}: count is {count!r}; give a positive integer")
        collector.add([*words, _word(next_token, where, vocabulary)], count, number)
    return collector.dataset(prefixes=False)


def _listed(values: Any, what: str) -> Iterable[Any]:
    """Values one by one; a text or a mapping is not a list of them."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{what} are {type(values).__name__}; give a list of them")
    return values


def _parts(sample: Any, where: str) -> tuple[Any, Any, Any]:
    """Sentence, next token and count of a sample."""
    if isinstance(sample, Mapping):
        unknown = sorted(set(map(str, sample)) - set(_KEYS))
        if unknown or not {"sentence", "next"} <= set(sample):
            keys = ", ".join(map(repr, _KEYS))
            raise InputError(
                f"{where}: a sample has the keys {', '.join(map(str, sample))}; they are {keys}"
            )
        return sample["sentence"], sample["next"], sample.get("count", 1)
    if isinstance(sample, str | bytes) or not isinstance(sample, Sequence):
        raise InputError(
            f"{where}: a sample is {sample!r}; give (sentence, next token) or (sentence, next "
            "token, count)"
        )
    if len(sample) not in (2, 3):
        raise InputError(
            f"{where}: a sample has {len(sample)} parts; give (sentence, next token) or (sentence, "
            "next token, count)"
        )
    return sample[0], sample[1], sample[2] if len(sample) == 3 else 1


def _words(line: Any, where: str, vocabulary: Sequence[str] | None) -> list[str]:
    """The tokens of a line."""
    if isinstance(line, str):
        return line.split()
    if isinstance(line, bytes | Mapping) or not isinstance(line, Iterable):
        raise InputError(
            f"{where}: a sentence is {line!r}; give a text, or a list of tokens such as ['S', 'V']"
        )
    return [_word(token, where, vocabulary) for token in line]


def _word(token: Any, where: str, vocabulary: Sequence[str] | None) -> str:
    """A token as a string: its own, the name of an integer, or the vocabulary's."""
    if isinstance(token, str):
        _check_token(token, where)
        return token
    if isinstance(token, bool) or not hasattr(token, "__index__"):
        raise InputError(f"{where}: the token {token!r} is neither a string nor an integer")
    number = operator.index(token)
    if vocabulary is None:
        return str(number)
    if not 0 <= number < len(vocabulary):
        raise InputError(
            f"{where}: the token {number} is outside the vocabulary, which has {len(vocabulary)} "
            "tokens"
        )
    return vocabulary[number]


def read(
    path: str | os.PathLike[str],
    *,
    form: str | None = None,
    chars: bool = False,
    room: int = ROOM,
) -> Dataset:
    """Read a data set from a file.

    Args:
        path: the file to read, or "-" for standard input.
        form: "text" (one sentence per line) or "jsonl" (one sample per line); None for "jsonl" if
            the name ends in .jsonl, .ndjson, or .json, and for "text" otherwise.
        chars: whether each character of a text, except white space, is a token; text only.
        room: the number of bytes of memory that the data may take.

    Raises:
        InputError: the file is missing, a directory, not UTF-8, binary, empty, or malformed; the
            data take more than `room` bytes; or `form` is unknown or excludes `chars`.
    """
    path = os.fspath(path)
    name = path_name(path)
    if form is None:
        form = "jsonl" if path.lower().endswith(JSON_SUFFIXES) else "text"
    if form not in FORMATS:
        raise InputError(f"{name}: unknown format {form!r}; use one of {', '.join(FORMATS)}")
    if chars and form == "jsonl":
        raise InputError(f"{name}: JSON Lines name their tokens; leave out --chars")
    parse = _parse_jsonl if form == "jsonl" else _parse_text(chars)
    collector = _Collector(name, room)
    for number, line in numbered_lines(path):
        parse(collector, line, name, number)
    return collector.dataset(prefixes=form == "text")


def path_name(path: str) -> str:
    """The name of a file in messages: its path, or "<stdin>" for "-"."""
    return "<stdin>" if path == "-" else path or "''"


def numbered_lines(path: str) -> Iterator[tuple[int, str]]:
    """The number, from 1, and the text of each nonblank line of a UTF-8 file.

    Raises:
        InputError: the file cannot be read or is an archive, or a line is not UTF-8 text, holds a
            NUL byte, or is longer than 20 million characters.
    """
    name = path_name(path)
    try:
        with _open(path) as stream:
            lines = iter(partial(stream.readline, LONGEST_LINE + 1), "")
            for number, line in enumerate(lines, start=1):
                if len(line) > LONGEST_LINE and not line.endswith("\n"):
                    raise InputError(
                        f"{name}:{number}: a line of more than {LONGEST_LINE} characters; write "
                        "one sentence or sample per line"
                    )
                if number == 1 and (kind := _packed(line)):
                    raise InputError(
                        f"{name}: this is {kind}, not a text; unpack it, and give the file in it"
                    )
                if "\0" in line:
                    raise InputError(
                        f"{name}:{number}: this looks like a binary file (it holds a NUL byte); "
                        "give a text file, UTF-16 converted to UTF-8"
                    )
                if not _is_utf8(line):
                    raise InputError(
                        f"{name}:{number}: not valid UTF-8; convert the file to UTF-8 first"
                    )
                if line.strip():
                    yield number, line
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"{name}: cannot be read ({reason}); name a readable text file") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name!r}: not a file name ({error})") from None  # NUL in the path


def _open(path: str) -> IO[str]:
    """A file, or standard input, as text in which undecodable bytes survive as surrogates."""
    source: int | str = 0 if path == "-" else path
    return open(source, encoding="utf-8-sig", errors="surrogateescape", closefd=path != "-")


def _packed(line: str) -> str:
    """What kind of archive a first line begins; empty for a text."""
    start = line[:6].encode("utf-8", "surrogateescape")
    return next((kind for sign, kind in PACKED.items() if start.startswith(sign)), "")


def _is_utf8(line: str) -> bool:
    """Whether no byte of this line had to be smuggled through as a surrogate."""
    if line.isascii():
        return True
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _parse_text(chars: bool) -> Callable[[_Collector, str, str, int], None]:
    """A parser of text lines, by words or by characters."""

    def parse(collector: _Collector, line: str, name: str, number: int) -> None:
        collector.add("".join(line.split()) if chars else line.split(), 1, number)

    return parse


def _parse_jsonl(collector: _Collector, line: str, name: str, number: int) -> None:
    """Take in one sample, {"sentence": [...], "next": "...", "count": 1}."""
    where = f"{name}:{number}"
    array_of_objects = InputError(
        f"{where}: this looks like a JSON array; write one object per line, without the brackets "
        "around them and the commas between them"
    )
    example = '{"sentence": ["S", "V"], "next": "O", "count": 3}'
    try:
        record = json.loads(line, object_pairs_hook=_unique_keys)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except json.JSONDecodeError as error:
        if line.lstrip().startswith("["):
            raise array_of_objects from None
        if line.lstrip().startswith("{") and line.rstrip().endswith(("{", "[", ",")):
            reason = "this object does not end on its line; write one object per line"
        else:
            reason = error.msg
        raise InputError(
            f"{where}: broken JSON at column {error.colno} ({reason}); each line must be an "
            f"object such as {example}"
        ) from None
    except ValueError:  # the only other one that json raises
        raise InputError(f"{where}: a number has too many digits; write {example}") from None
    except RecursionError:
        raise InputError(f"{where}: lists nested too deeply; write {example}") from None
    if isinstance(record, list) and all(isinstance(one, dict) for one in record):
        raise array_of_objects
    if not isinstance(record, dict):
        raise InputError(f"{where}: {_kind(record)} where an object is needed; write {example}")
    for key in record:
        if key not in _KEYS:
            raise InputError(f"{where}: unknown key {_shown(key)}; the keys are {', '.join(_KEYS)}")
    for key in _KEYS[:2]:
        if key not in record:
            raise InputError(f"{where}: the key {key!r} is missing; write {example}")
    sentence, next_token, count = record["sentence"], record["next"], record.get("count", 1)
    if not isinstance(sentence, list):
        raise InputError(f"{where}: 'sentence' is {_kind(sentence)}; give a list of tokens")
    if not sentence:
        raise InputError(f"{where}: 'sentence' is empty; a sample needs at least one token")
    for token in [*sentence, next_token]:
        _check_token(token, where)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_COUNT:
        raise InputError(
            f"{where}: 'count' is {_shown(count)}; give a positive integer up to {MOST_COUNT:.0e}"
        )
    collector.add([*sentence, next_token], count, number)


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose keys are all different."""
    record = dict(pairs)
    if len(record) != len(pairs):
        raise InputError("a key occurs twice in one object; keep one of them")
    return record


def _check_token(token: object, where: str) -> None:
    """Refuse what is not a non-empty string of Unicode characters."""
    if not isinstance(token, str):
        way_out = "give one string for each" if isinstance(token, list | dict) else "quote it"
        raise InputError(f"{where}: the token {_shown(token)} is {_kind(token)}; {way_out}")
    if not token:
        raise InputError(f"{where}: a token is the empty string; tokens have a character")
    if not _is_utf8(token):
        raise InputError(
            f"{where}: a token holds half a surrogate pair; write the character itself"
        )


def _kind(value: object) -> str:
    """What JSON calls the type of a value, with its article."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value"}
    return names.get(type(value), "null" if value is None else "a number")


def _shown(value: object) -> str:
    """A value as JSON writes it, cut where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
