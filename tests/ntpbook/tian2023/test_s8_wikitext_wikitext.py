"""Reading WikiText folders, the sample text, and the link that the build gives to notebooks."""

import hashlib
import os
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ntpbook.tian2023.s8_wikitext import sample_text, wikitext
from ntpcore.data.dataset import InputError
from tools.pipeline.folders import link_folders
from tools.pipeline.parameters import UsageError

LINE = " = Title = \n \n The cat saw <unk> . \n"
PAGES = {"a": {"wikitext_dir": "", "seed": 1}, "b": {"seed": 1}}


def folder(path: Path, **texts: str) -> Path:
    """A folder with these files; a dot in a name is written as two underscores."""
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", wikitext.FORMS)
def test_a_folder_is_read_under_all_usual_names(tmp_path, form):
    folder(tmp_path, **{form.format(p).replace(".", "__"): LINE + p for p in wikitext.PARTS})
    found = wikitext.find_folder(str(tmp_path))
    assert set(found.files) == {"train", "valid", "test"}
    assert found.digests["train"] == hashlib.sha256((LINE + "train").encode()).hexdigest()


def test_the_hash_of_a_folder_is_that_of_its_content(tmp_path):
    one = folder(tmp_path / "one", valid__txt="a", test__txt="b")
    other = folder(tmp_path / "other", wiki__valid__tokens="a", wiki__test__tokens="b")
    changed = folder(tmp_path / "changed", valid__txt="b", test__txt="a")
    digests = [wikitext.find_folder(str(path)).digest for path in (one, other, changed)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"valid__txt": "a"}, r"no test file there \(looked for wiki.test.tokens, .*Merity"),
        ({}, "no valid and no test file"),
        ({"valid__txt": "a", "valid__raw": "a", "test__txt": "a"}, "valid.txt and valid.raw"),
    ],
)
def test_what_is_missing_is_said_with_where_to_get_it(tmp_path, texts, message):
    with pytest.raises(InputError, match=message):
        wikitext.find_folder(str(folder(tmp_path, **texts)))


def test_a_folder_that_is_not_there_ends_in_a_message():
    with pytest.raises(InputError, match=r"no such folder.*Salesforce"):
        wikitext.read_corpus("no/such/place", 10)


def test_bytes_that_are_no_text_end_in_a_message(tmp_path):
    folder(tmp_path, test__txt="a")
    (tmp_path / "valid.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        wikitext.read_corpus(str(tmp_path), 10)


def test_tokens_and_vocabulary_by_hand(tmp_path):
    folder(tmp_path, valid__txt="A b A\n\nc <unk> b a\n", test__txt="c d\n")
    corpus = wikitext.read_corpus(str(tmp_path), 4)
    assert wikitext.split("A b\n \nc") == ["a", "b", "<eos>", "c", "<eos>"]
    assert corpus.vocabulary == ("a", "<eos>", "b", "<unk>")  # 3, 2 and 2 times
    assert corpus.train.tolist() == [0, 2, 0, 1, 3, 3, 2, 0, 1]
    assert corpus.held_out.tolist() == [3, 3, 1]
    assert corpus.covered == pytest.approx(7 / 9)
    assert corpus.real
    assert wikitext.read_corpus(str(tmp_path), 0).vocabulary == ("a", "<eos>", "b", "c", "<unk>")


def test_the_full_form_trains_on_the_training_file_if_there_is_one(tmp_path):
    folder(tmp_path, valid__txt="v", test__txt="t")
    assert set(wikitext.read_corpus(str(tmp_path), 0, full=True).digests) == {"valid", "test"}
    folder(tmp_path, train__txt="x y z")
    full = wikitext.read_corpus(str(tmp_path), 0, full=True)
    assert set(full.digests) == {"train", "valid"}
    assert "x" in full.vocabulary
    assert set(wikitext.read_corpus(str(tmp_path), 0).digests) == {"valid", "test"}


def test_segments_are_strips_that_overlap_by_one_token():
    found = wikitext.segments(np.arange(23, dtype=np.int32), batch=2, length=4)
    assert found.tolist() == [
        [[0, 1, 2, 3, 4], [11, 12, 13, 14, 15]],
        [[4, 5, 6, 7, 8], [15, 16, 17, 18, 19]],
    ]
    with pytest.raises(InputError, match="10 are needed"):
        wikitext.segments(np.arange(8, dtype=np.int32), batch=2, length=4)


def test_pieces_spread_over_the_text():
    found = wikitext.pieces(np.arange(100, dtype=np.int32), count=3, length=4)
    assert found[:, 0].tolist() == [0, 47, 95]
    with pytest.raises(InputError, match="are needed"):
        wikitext.pieces(np.arange(10, dtype=np.int32), count=3, length=4)


def test_the_sample_text_is_the_same_everywhere(monkeypatch):
    text = sample_text.write(seed=1)
    assert text != sample_text.write(seed=2)
    plain, asked = random.Random, []

    class Random:  # of a seed that is an int, Python promises the same from `random` alone
        def __init__(self, seed: int) -> None:
            asked.append(seed)
            self.random = plain(seed).random

    monkeypatch.setattr(random, "Random", Random)
    assert sample_text.write(seed=1) == text
    assert asked == [1]


def test_the_sample_text_has_its_structure():
    text = sample_text.write(seed=1)
    one = {part: "|".join(part) for topic in sample_text.TOPICS for part in topic}
    often, links = "|".join(sample_text.OFTEN), "|".join(sample_text.LINKS)
    forms = []
    for who, where, does, what in sample_text.TOPICS:
        clause = f"the (?:{one[who]})(?: in the (?:{one[where]}))?(?: (?:{often}))?"
        clause += f" (?:{one[does]}) the (?:{one[what]})"
        forms.append(rf"{clause} (?:{links}) {clause} \.")
    for line in text.splitlines():  # three sentences on one topic
        assert any(re.fullmatch(" ".join([form] * 3), line) for form in forms)
    counts = Counter(text.split())
    for words in (sample_text.OFTEN, sample_text.LINKS):
        assert max(words, key=counts.__getitem__) == words[0]


def test_the_sample_text_is_read_as_plainly_as_any():
    corpus = wikitext.read_corpus("", 0)
    assert not corpus.real
    texts = sample_text.write(seed=1), sample_text.write(seed=2, paragraphs=60)
    train, held_out = (text.replace("\n", " <eos> ").split() for text in texts)
    assert [corpus.vocabulary[token] for token in corpus.train] == train
    assert [corpus.vocabulary[token] for token in corpus.held_out] == held_out
    counts = Counter(train)
    assert [counts[word] for word in corpus.vocabulary] == sorted(
        (counts[word] for word in corpus.vocabulary), reverse=True
    )
    words = {word for topic in sample_text.TOPICS for part in topic for word in part}
    assert words <= set(train)


# The link


def test_a_folder_becomes_a_link_named_by_its_content(tmp_path):
    one = folder(tmp_path / "one", valid__txt="a", test__txt="b")
    other = folder(tmp_path / "a longer name", valid__txt="a", test__txt="b")
    first = link_folders({}, {"WIKITEXT_DIR": str(one)}, PAGES, tmp_path)["WIKITEXT_DIR"]
    given = {"WIKITEXT_DIR": str(other), "SEED": "1"}
    again = link_folders(given, {"WIKITEXT_DIR": "elsewhere"}, PAGES, tmp_path)
    assert again == {"WIKITEXT_DIR": first, "SEED": "1"}
    assert os.path.realpath(first) == str(other.resolve())
    folder(other, test__txt="c")
    assert link_folders(given, {}, PAGES, tmp_path)["WIKITEXT_DIR"] != first


def test_without_a_folder_or_a_page_that_asks_nothing_is_linked(tmp_path):
    assert link_folders({"WIKITEXT_DIR": ""}, {}, PAGES, tmp_path) == {}
    assert link_folders({}, {"WIKITEXT_DIR": "x"}, {"b": {"seed": 1}}, tmp_path) == {}
    with pytest.raises(UsageError, match="no such folder"):
        link_folders({}, {"WIKITEXT_DIR": "no/such/place"}, PAGES, tmp_path)
