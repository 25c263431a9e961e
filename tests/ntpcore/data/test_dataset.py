"""Reading data: samples, counts, prefixes, and every kind of input that cannot be used."""

from __future__ import annotations

import json
import os
from pathlib import Path

import literal
import pytest
from data_file import write
from hypothesis import given, settings
from strategies import RawSample, messy_lines, messy_samples

from ntpcore.data import dataset
from ntpcore.data.dataset import Dataset, InputError, Sample, from_samples, from_sentences, read

SETTINGS = settings(max_examples=150)
GOOD = b'{"sentence": ["S", "V"], "next": "O"}\n'


def test_example_1_has_nine_samples_and_sentences_up_to_three():
    data = from_sentences(["S V O P", "V O P", "O P P", "P S V"])
    assert (data.sample_count, data.max_length, data.prefix_closed) == (9, 3, True)
    assert data.vocabulary == ("S", "V", "O", "P")
    assert [("".join(s.sentence), s.next_token) for s in data.samples()] == [
        ("S", "V"),
        ("SV", "O"),
        ("SVO", "P"),
        ("V", "O"),
        ("VO", "P"),
        ("O", "P"),
        ("OP", "P"),
        ("P", "S"),
        ("PS", "V"),
    ]


def test_repeated_lines_and_shared_beginnings_raise_the_count_of_samples():
    data = from_sentences(["a b c", "a b", "a b c", "a b a"])
    assert list(data.samples()) == [
        Sample(("a",), "b", 4),
        Sample(("a", "b"), "c", 2),
        Sample(("a", "b"), "a", 1),
    ]
    assert data.sample_count == 3
    assert [(line.count, line.number) for line in data.lines] == [(2, 1), (1, 2), (1, 4)]


def test_one_token_lines_add_to_the_vocabulary_only():
    data = from_sentences(["z", "a b", "y"])
    assert data.vocabulary == ("z", "a", "b", "y")
    assert data.sample_count == 1


def test_json_samples_are_taken_as_they_are(tmp_path: Path):
    path = write(
        tmp_path,
        GOOD + b"\n" + b'{"count": 3, "next": "O", "sentence": ["S", "V"]}\r\n' + b'{"sentence":'
        b' ["S"], "next": "V"}',
        "data.jsonl",
    )
    data = read(path)
    assert list(data.samples()) == [Sample(("S", "V"), "O", 4), Sample(("S",), "V", 1)]
    assert data.prefix_closed
    assert [line.number for line in data.lines] == [1, 4]


@SETTINGS
@given(messy_lines())
def test_text_agrees_with_its_definition_on_messy_lines(lines: list[list[str]]):
    data, expected = from_sentences(lines), literal.samples_of_lines(lines)
    assert [(s.sentence, s.next_token) for s in data.samples()] == expected
    assert data.sample_count == len(expected)
    assert data.max_length == max(len(sentence) for sentence, _ in expected)
    assert data.prefix_closed
    assert literal.is_prefix_closed(expected)
    assert set(data.vocabulary) == {token for line in lines for token in line}
    for sample in data.samples():
        words = [*sample.sentence, sample.next_token]
        assert sample.count == sum(line[: len(words)] == words for line in lines)


@SETTINGS
@given(messy_lines())
def test_starts_name_the_first_line_of_every_sample(lines: list[list[str]]):
    data = from_sentences(lines)
    first: dict[tuple[int, ...], int] = {}
    for place, line in enumerate(data.lines):
        for length in range(1, len(line.tokens)):
            first.setdefault(tuple(line.tokens[: length + 1]), place)
    for place, (line, start) in enumerate(zip(data.lines, data.starts, strict=True)):
        new = [
            length
            for length in range(1, len(line.tokens))
            if first[tuple(line.tokens[: length + 1])] == place
        ]
        assert new == list(range(start, len(line.tokens)))


@SETTINGS
@given(messy_samples())
def test_samples_agree_with_their_definition_on_messy_data(samples: list[RawSample]):
    data = from_samples(samples)
    expected = {(tuple(sentence), following) for sentence, following, _ in samples}
    assert {(s.sentence, s.next_token) for s in data.samples()} == expected
    assert data.sample_count == len(expected)
    assert data.max_length == max(len(sentence) for sentence, _ in expected)
    assert data.prefix_closed == literal.is_prefix_closed(expected)
    for s in data.samples():
        raw = (list(s.sentence), s.next_token)
        assert s.count == sum(
            c for sentence, following, c in samples if (sentence, following) == raw
        )


@SETTINGS
@given(messy_lines())
def test_a_text_file_reads_like_its_lines(tmp_path_factory: pytest.TempPathFactory, lines):
    path = tmp_path_factory.mktemp("text") / "data.txt"
    path.write_text("\n".join("\t ".join(line) for line in lines))
    assert list(read(str(path)).samples()) == list(from_sentences(lines).samples())


@SETTINGS
@given(messy_samples())
def test_a_json_file_reads_like_its_samples(tmp_path_factory: pytest.TempPathFactory, samples):
    path = tmp_path_factory.mktemp("json") / "data.jsonl"
    rows = [{"sentence": s, "next": following, "count": c} for s, following, c in samples]
    path.write_text("\n\n".join(json.dumps(row) for row in rows))
    assert list(read(str(path)).samples()) == list(from_samples(samples).samples())


def test_the_format_is_told_by_the_name_or_by_the_caller(tmp_path: Path):
    for name in ("a.jsonl", "a.NDJSON", "a.json"):
        assert not read(write(tmp_path, GOOD, name)).prefixes
    assert read(write(tmp_path, GOOD, "a.txt")).prefixes
    assert not read(write(tmp_path, GOOD, "a.txt"), form="jsonl").prefixes
    assert read(write(tmp_path, "a b", "a.jsonl"), form="text").prefixes


def test_characters_are_tokens_on_request_and_white_space_is_dropped(tmp_path: Path):
    data = read(write(tmp_path, "S V\tOP\n"), chars=True)
    assert data.vocabulary == ("S", "V", "O", "P")
    assert data.max_length == 3


def test_byte_order_mark_and_foreign_line_ends_change_nothing(tmp_path: Path):
    plain = read(write(tmp_path, "a b\nc a\n"))
    for name, content in [("crlf", b"a b\r\nc a\r\n"), ("bom", b"\xef\xbb\xbfa b\nc a")]:
        data = read(write(tmp_path, content, name))
        assert data.vocabulary == plain.vocabulary
        assert data.lines == plain.lines


@pytest.mark.parametrize(
    "token", ["<script>", "$x_1$", "\x1b[31m", "\u200fx", "👩\u200d💻", "[red]", "'", "\\", "{}"]
)
def test_odd_tokens_are_ordinary_data(tmp_path: Path, token: str):
    assert read(write(tmp_path, f"{token} b\n")).vocabulary == (token, "b")
    row = json.dumps({"sentence": [token], "next": "b c"})
    assert read(write(tmp_path, row, "a.jsonl")).vocabulary == (token, "b c")


def test_a_line_of_a_million_tokens_is_read_without_its_prefixes(tmp_path: Path):
    line = "a b " * 500_000
    data = read(write(tmp_path, f"{line}\n{line}c\n"))
    assert data.max_length == 1_000_000
    assert data.starts == (1, 1_000_000)
    assert data.sample_count == 1_000_000


BAD_TEXT = {
    "empty": (b"", "the input holds no sentence"),
    "blank": (b" \n\t\n\r\n", "the input holds no sentence"),
    "no sample": (b"a\nb\n", "no sample: every line has a single token"),
    "latin-1": (b"a b\n\ncaf\xe9 c\n", ":3: not valid UTF-8"),
    "encoded surrogate": (b"a b\n\xed\xa0\x80 c\n", ":2: not valid UTF-8"),
    "NUL": (b"a b\na\0 b\n", ":2: this looks like a binary file"),
    "gzip": (b"\x1f\x8b\x08\x00\x00", ": this is a gzip archive, not a text; unpack it"),
    "zip": (b"PK\x03\x04\x14\x00", ": this is a zip archive, not a text; unpack it"),
    "UTF-16": ("a b\n".encode("utf-16"), ":1: this looks like a binary file"),
    "image": (b"\x89PNG\r\n\x1a\n\xff\xd8", ":1: not valid UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BAD_TEXT.values(), ids=BAD_TEXT)
def test_text_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes, message: str):
    path = write(tmp_path, content)
    with pytest.raises(InputError) as raised:
        read(path)
    assert str(raised.value).startswith(path)
    assert message in str(raised.value)


BAD_JSON = {
    "broken": ('{"sentence": ["S"', "broken JSON at column"),
    "not JSON": ("S V O", "broken JSON at column 1"),
    "cut string": ('{"sentence": ["S', "broken JSON"),
    "raw control character": ('{"sentence": ["S\x01"], "next": "V"}', "broken JSON"),
    "list": ('["S", "V"]', "a list where an object is needed"),
    "string": ('"S V"', "a string where an object is needed"),
    "number": ("3", "a number where an object is needed"),
    "null": ("null", "null where an object is needed"),
    "truth value": ("true", "a truth value where an object is needed"),
    "unknown key": ('{"sentence": ["S"], "next": "V", "cuont": 2}', 'unknown key "cuont"'),
    "duplicate key": ('{"sentence": ["S"], "next": "V", "next": "O"}', "a key occurs twice"),
    "no sentence": ('{"next": "V"}', "the key 'sentence' is missing"),
    "no next": ('{"sentence": ["S"]}', "the key 'next' is missing"),
    "empty object": ("{}", "the key 'sentence' is missing"),
    "sentence a string": ('{"sentence": "S", "next": "V"}', "'sentence' is a string"),
    "sentence null": ('{"sentence": null, "next": "V"}', "'sentence' is null"),
    "sentence an object": ('{"sentence": {"S": 1}, "next": "V"}', "'sentence' is an object"),
    "empty sentence": ('{"sentence": [], "next": "V"}', "'sentence' is empty"),
    "token a number": ('{"sentence": ["S", 5], "next": "V"}', "the token 5 is a number; quote it"),
    "token a list": ('{"sentence": [["S"]], "next": "V"}', 'the token ["S"] is a list'),
    "token null": ('{"sentence": [null], "next": "V"}', "the token null is null"),
    "next a number": ('{"sentence": ["S"], "next": 1.5}', "the token 1.5 is a number"),
    "next null": ('{"sentence": ["S"], "next": null}', "the token null is null"),
    "empty token": ('{"sentence": [""], "next": "V"}', "a token is the empty string"),
    "empty next": ('{"sentence": ["S"], "next": ""}', "a token is the empty string"),
    "lone surrogate": ('{"sentence": ["\\ud800"], "next": "V"}', "half a surrogate pair"),
    "lone surrogate next": ('{"sentence": ["S"], "next": "\\udc00"}', "half a surrogate pair"),
    "surrogate key": ('{"\\ud800": 1}', 'unknown key "\\ud800"'),
    "count 0": ('{"sentence": ["S"], "next": "V", "count": 0}', "'count' is 0"),
    "count -1": ('{"sentence": ["S"], "next": "V", "count": -1}', "'count' is -1"),
    "count true": ('{"sentence": ["S"], "next": "V", "count": true}', "'count' is true"),
    "count 1.5": ('{"sentence": ["S"], "next": "V", "count": 1.5}', "'count' is 1.5"),
    "count 2.0": ('{"sentence": ["S"], "next": "V", "count": 2.0}', "'count' is 2.0"),
    "count text": ('{"sentence": ["S"], "next": "V", "count": "3"}', "'count' is \"3\""),
    "count null": ('{"sentence": ["S"], "next": "V", "count": null}', "'count' is null"),
    "count infinite": ('{"sentence": ["S"], "next": "V", "count": 1e999}', "'count' is Infinity"),
    "count NaN": ('{"sentence": ["S"], "next": "V", "count": NaN}', "'count' is NaN"),
    "count of 5000 digits": (
        '{"sentence": ["S"], "next": "V", "count": 1' + "0" * 5000 + "}",
        "a number has too many digits",
    ),
    "deep nesting": (
        '{"sentence": ' + "[" * 100_000 + "]" * 100_000 + ', "next": "V"}',
        "lists nested too deeply",
    ),
}


@pytest.mark.parametrize(("line", "message"), BAD_JSON.values(), ids=BAD_JSON)
def test_json_that_cannot_be_used_is_refused_with_its_line(tmp_path: Path, line: str, message: str):
    path = write(tmp_path, GOOD + b"\n" + line.encode() + b"\n", "data.jsonl")
    with pytest.raises(InputError) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path}:3: ")
    assert message in str(raised.value)
    assert len(str(raised.value)) < len(path) + 200


def test_a_long_value_is_cut_in_a_message(tmp_path: Path):
    def message(size: int) -> str:
        line = json.dumps({"k" * size: 1})
        with pytest.raises(InputError) as raised:
            read(write(tmp_path, line, "data.jsonl"))
        return str(raised.value)

    assert f'unknown key "{"k" * 38}";' in message(38)
    assert f'unknown key "{"k" * 36}...;' in message(39)


@pytest.mark.parametrize("depth", range(900, 1010, 5))
def test_no_depth_of_nesting_escapes_the_reader(tmp_path: Path, depth: int):
    line = '{"sentence": [' + "[" * depth + "]" * depth + '], "next": "V"}'
    with pytest.raises(InputError, match=r"is a list; give one string for each|nested too deeply"):
        read(write(tmp_path, line, "data.jsonl"))


def test_json_lines_without_any_line_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="holds no sentence"):
        read(write(tmp_path, b"\n \n", "data.jsonl"))


def test_standard_input_is_read_and_stays_open(tmp_path: Path):
    kept = os.dup(0)
    try:
        with open(write(tmp_path, "a b\n")) as stream:
            os.dup2(stream.fileno(), 0)
        data = read("-")
        os.fstat(0)
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert (data.name, data.vocabulary) == ("<stdin>", ("a", "b"))


def test_data_without_a_file_are_called_data_and_count_once():
    data = from_samples([("a", "b")])
    assert (data.name, data.lines[0].count) == ("data", 1)
    assert Dataset(data.vocabulary, data.lines, False).name == "data"
    assert from_sentences(["a b"]).name == "data"


def test_files_that_cannot_be_opened_are_refused(tmp_path: Path):
    missing = str(tmp_path / "nowhere.txt")
    for path, reason in [
        (missing, r"cannot be read \(No such file or directory\); name a readable text file"),
        (str(tmp_path), "Is a directory"),
        ("", "No such file"),
        ("x" * 5000, "File name too long"),
        ("a\0b", "not a file name"),
    ]:
        with pytest.raises(InputError, match=reason):
            read(path)
    with pytest.raises(InputError, match=r"^'': "):
        read("")


def test_unknown_format_and_characters_of_json_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="unknown format 'csv'; use one of text, jsonl"):
        read(write(tmp_path, "a b"), form="csv")
    with pytest.raises(InputError, match="leave out --chars"):
        read(write(tmp_path, GOOD, "a.jsonl"), chars=True)


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "3"])
def test_samples_need_a_positive_integer_count(count: object):
    with pytest.raises(InputError, match="data:1: count is"):
        from_samples([(["a"], "b", count)])


def test_samples_need_a_sentence():
    with pytest.raises(InputError, match="data:2: a sample's sentence"):
        from_samples([(["a"], "b"), ([], "b")])


# Data that would not fit


def test_the_longest_line_is_read_and_a_longer_one_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "LONGEST_LINE", 7)
    data = read(write(tmp_path, "abc def\n\nghi jkl"))
    assert data.vocabulary == ("abc", "def", "ghi", "jkl")
    for end in ("\n", "\nx y\n", ""):
        path = write(tmp_path, f"abc def\nabc defg{end}")
        with pytest.raises(InputError) as found:
            read(path)
        assert str(found.value) == (
            f"{path}:2: a line of more than 7 characters; write one sentence or sample per line"
        )


def test_data_take_as_much_memory_as_is_reckoned_and_no_more(tmp_path: Path) -> None:
    """800 for a token and 8 for each of its letters; 600 for a line and 12 for each place."""
    path = write(tmp_path, "a b\nabc a\na b\nc\n")
    first, second, third = 2 * 808 + 624, 824 + 624, 808  # the third line is known, the fourth none
    assert read(path, room=first + second + third).vocabulary == ("a", "b", "abc", "c")
    for room, line, tokens, lines in (
        (first + second + third - 1, 4, 4, 2),
        (first + second - 1, 2, 3, 1),
        (first + 823, 2, 3, 1),
        (first - 1, 1, 2, 0),
        (807, 1, 1, 0),
    ):
        with pytest.raises(InputError) as found:
            read(path, room=room)
        assert str(found.value) == (
            f"{path}:{line}: the data do not fit: {tokens} tokens and {lines} distinct lines up to "
            "here take 0 MB of memory; use a part of the file, or raise --memory (room= of "
            "dataset.read)"
        )
    with pytest.raises(InputError, match="take 3 MB"):
        read(write(tmp_path, "".join(f"a{n} b\n" for n in range(4000))), room=3_999_999)
