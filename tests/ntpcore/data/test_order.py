"""Collocation, orders and assumptions, by hand and against the definitions spelled out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import literal
import pytest
from hypothesis import given, settings
from strategies import messy_data, realizable_data, several_optimal_data

from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.data.order import (
    Assumption,
    PartialOrder,
    SampleAt,
    analyse,
    describe_sample,
    read_collocation,
)

SETTINGS = settings(max_examples=250)
EXAMPLE_1 = ["S V O P", "V O P", "O P P", "P S V"]


def counts(assumption: Assumption, rule: str) -> int:
    return (assumption.counts or {}).get(rule, 0)


def test_example_1_has_the_printed_collocation_and_orders():
    structure = analyse(from_sentences(EXAMPLE_1))
    assert structure.collocation == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert structure.orders == {
        "S": PartialOrder.of("S", {("S", "P")}),
        "V": PartialOrder.of("V", {("V", "S")}),
        "O": PartialOrder.of("O", {("O", "S"), ("O", "V")}),
        "P": PartialOrder.of("P", {("O", "P")}),
    }
    assert structure.realizable == Assumption(True, (), {})
    assert structure.frequent == Assumption(True, (), {})


def test_roles_are_disjoint_and_a_token_without_pairs_has_none():
    order = PartialOrder.of("q", {("a", "b"), ("b", "c"), ("d", "c")})
    assert order.optimal == ("a", "d")
    assert order.nonoptimal == ("c",)
    assert order.confused == {"b"}
    assert order.compared == {"a", "b", "c", "d"}
    assert order.below == {"a": ("b",), "b": ("c",), "d": ("c",)}


def test_roles_are_sorted():
    uppers, lowers = ([f"{role}{i}" for i in range(10, 20)] for role in "ab")
    order = PartialOrder.of("q", set(product(uppers, lowers)))
    assert order.optimal == tuple(uppers)
    assert order.nonoptimal == tuple(lowers)
    assert order.below == dict.fromkeys(uppers, tuple(lowers))


def test_a_token_above_itself_is_refused():
    with pytest.raises(ValueError, match="'a' cannot lie above itself"):
        PartialOrder.of("q", {("a", "a")})


def test_a_contradiction_confuses_two_tokens_and_shows_the_lines():
    structure = analyse(from_sentences(["0 1 1 0", "1 0"]))
    assert structure.realizable.holds is False
    assert structure.realizable.counts == {"confused-token": 2}
    one, other = structure.realizable.failures
    assert (one.tokens, other.tokens) == (("1", "0", "1", "1"), ("1", "1", "0", "0"))
    assert [describe_sample(structure.data, s) for s in one.samples] == [
        {"file": "data", "line": 1, "length": 3, "sentence": ["0", "1", "1"], "next": "0"},
        {"file": "data", "line": 1, "length": 2, "sentence": ["0", "1"], "next": "1"},
    ]


def test_a_token_that_starts_no_sentence_leaves_the_collocation_undefined():
    structure = analyse(from_sentences(["a b c"]))
    assert structure.collocation == {"a": "b", "b": None, "c": None}
    assert structure.orders is None
    assert structure.realizable.holds is False
    assert structure.realizable.counts == {"collocation-missing": 2}
    assert [failure.tokens for failure in structure.realizable.failures] == [("b",), ("c",)]
    assert structure.frequent.holds is None


def test_two_next_tokens_leave_the_collocation_undefined():
    structure = analyse(from_sentences(["a b", "b a", "a a"]))
    assert structure.collocation == {"a": None, "b": "a"}
    assert structure.realizable.counts == {"collocation-ambiguous": 1}
    (failure,) = structure.realizable.failures
    assert [describe_sample(structure.data, s)["line"] for s in failure.samples] == [1, 3]


def test_a_shared_next_token_breaks_assumption_1_but_not_the_orders():
    structure = analyse(from_sentences(["a c", "b c", "c a", "a c a b c"]))
    assert structure.realizable.counts == {
        "collocation-not-injective": 1,
        "next-token-unexplained": 1,
    }
    assert structure.realizable.failures[0].tokens == ("a", "b")
    assert structure.orders is not None
    assert structure.orders["b"].pairs == {("a", "c"), ("b", "c")}


def test_a_token_that_joins_later_lies_above_all_that_came_before():
    """The query q meets the next token f again, with one more token above and none below."""
    structure = analyse(from_sentences(["a f", "b f", "f q", "q z", "z z", "a f q f b q f"]))
    assert structure.orders is not None
    assert structure.orders["q"].pairs == set(product("ab", "fq"))


def test_a_next_token_that_no_token_maps_to_is_noted_with_its_sentence():
    structure = analyse(from_sentences(["a b", "b c", "c a", "a b a"]))
    assert structure.realizable.counts == {"next-token-unexplained": 1}
    (failure,) = structure.realizable.failures
    shown = describe_sample(structure.data, failure.samples[0])
    assert (shown["line"], shown["sentence"], shown["next"]) == (4, ["a", "b"], "a")


def test_assumption_3_fails_where_a_rival_is_more_frequent():
    structure = analyse(from_samples([("a", "b"), ("b", "a"), ("a b b", "b"), ("a a b", "b")]))
    assert structure.realizable.holds is True
    assert structure.frequent.counts == {"optimal-token-outnumbered": 1}
    (failure,) = structure.frequent.failures
    assert failure.tokens == ("b",)
    assert describe_sample(structure.data, failure.samples[0])["line"] == 3


def test_a_given_collocation_defines_what_the_data_leave_open():
    data = from_sentences(["a b c", "b c a"])
    assert analyse(data).orders is None
    structure = analyse(data, {"c": "a", "d": "d"})
    assert structure.collocation == {"a": "b", "b": "c", "c": "a", "d": "d"}
    assert structure.data.vocabulary == ("a", "b", "c", "d")
    assert structure.realizable.holds is True


def test_both_columns_of_a_given_collocation_join_the_vocabulary():
    data = from_sentences(["a b", "b a"])
    assert analyse(data, {"c": "a"}).data.vocabulary == ("a", "b", "c")
    assert analyse(data, {"a": "d"}).data.vocabulary == ("a", "b", "d")


def test_of_equally_frequent_rivals_the_first_to_be_so_is_named():
    structure = analyse(from_samples([("a", "a"), ("b", "b"), ("c", "c"), ("b b c c a", "a")]))
    (failure,) = structure.frequent.failures
    assert failure.tokens == ("b",)


def test_a_given_collocation_that_contradicts_the_data_is_ambiguous():
    structure = analyse(from_sentences(["a b", "b a"]), {"a": "a"})
    assert structure.realizable.counts == {"collocation-ambiguous": 1}
    assert structure.collocation["a"] is None


@SETTINGS
@given(messy_data())
def test_messy_data_agree_with_the_definitions_spelled_out(data: Dataset):
    structure, expected = analyse(data), literal.read(data)
    assert structure.collocation == expected.collocation
    assert structure.realizable.holds == expected.realizable
    assert counts(structure.realizable, "collocation-not-injective") == expected.shared
    if expected.orders is None:
        assert structure.orders is None
        assert structure.frequent.holds is None
        return
    assert structure.orders is not None
    assert {q: set(order.pairs) for q, order in structure.orders.items()} == expected.orders
    assert list(structure.orders) == [q for q in data.vocabulary if q in expected.orders]
    assert counts(structure.realizable, "next-token-unexplained") == expected.unexplained
    assert counts(structure.realizable, "confused-token") == expected.confused
    assert structure.frequent.holds == (expected.outnumbered == 0)
    assert counts(structure.frequent, "optimal-token-outnumbered") == expected.outnumbered


@SETTINGS
@given(realizable_data())
def test_realizable_data_are_recognised(data: Dataset):
    structure = analyse(data)
    assert structure.realizable.holds is True
    assert literal.read(data).realizable
    if data.prefixes:
        assert all(len(order.optimal) == 1 for order in (structure.orders or {}).values())


def test_some_drawn_data_have_several_optimal_tokens_per_query():
    most = []

    @settings(max_examples=100, derandomize=True)
    @given(several_optimal_data())
    def collect(data: Dataset) -> None:
        most.extend(len(order.optimal) for order in (analyse(data).orders or {}).values())

    collect()
    assert max(most) >= 3


@SETTINGS
@given(messy_data())
def test_every_witness_shows_what_its_message_says(data: Dataset):
    structure = analyse(data)
    n = structure.collocation
    for failure in (*structure.realizable.failures, *structure.frequent.failures):
        shown = [describe_sample(structure.data, sample) for sample in failure.samples]
        sentences = [(list(s["sentence"]), s["next"]) for s in shown]
        known = {(sample.sentence, sample.next_token) for sample in data.samples()}
        assert all((tuple(sentence), following) in known for sentence, following in sentences)
        match failure.rule:
            case "collocation-missing":
                assert not sentences
            case "collocation-ambiguous":
                assert {tuple(sentence) for sentence, _ in sentences} == {failure.tokens}
                assert len({following for _, following in sentences}) == 2
            case "collocation-not-injective":
                assert sentences == [([token], n[token]) for token in failure.tokens]
                assert len({following for _, following in sentences}) == 1
            case "next-token-unexplained":
                ((sentence, following),) = sentences
                assert following not in {n[token] for token in sentence}
            case "confused-token":
                query, token, above, below = failure.tokens
                (up, up_next), (down, down_next) = sentences
                assert up[-1] == down[-1] == query
                assert {above, token} <= set(up)
                assert {token, below} <= set(down)
                assert n[above] == up_next != n[token] == down_next != n[below]
            case "optimal-token-outnumbered":
                ((sentence, following),) = sentences
                (token,) = failure.tokens
                votes = sum(n[word] == following for word in sentence)
                assert 0 < votes < sentence.count(token)
            case rule:
                pytest.fail(f"unknown rule {rule}")


def test_all_failures_are_counted_and_the_first_ones_listed():
    lines = ["a b", "b a", "c c", "d c", "e c", "a b c", "a b d", "a b b a", "a b b b a"]
    data = from_sentences([*lines, "a b a", "a b b b b", "b a a a b"])
    everything = analyse(data)
    for limit in (0, 1, 2):
        some = analyse(data, max_witnesses=limit)
        for full, cut in [
            (everything.realizable, some.realizable),
            (everything.frequent, some.frequent),
        ]:
            assert cut.counts == full.counts
            assert cut.holds is full.holds is False
            for rule, count in (full.counts or {}).items():
                listed = [failure for failure in cut.failures if failure.rule == rule]
                assert listed == [f for f in full.failures if f.rule == rule][:limit]
                assert len(listed) == min(limit, count)
    assert set(everything.realizable.counts or {}) == {
        "collocation-not-injective",
        "next-token-unexplained",
        "confused-token",
    }


def test_a_hundred_witnesses_of_a_rule_are_listed_by_default():
    structure = analyse(from_sentences([" ".join(f"t{i}" for i in range(150))]))
    assert structure.realizable.counts == {"collocation-missing": 149}
    assert len(structure.realizable.failures) == 100


def test_a_line_of_a_million_tokens_is_analysed():
    line = " ".join(["a", "b", "c"] * 333_333 + ["a"])
    structure = analyse(from_sentences([line, "b c", "c a"]))
    assert structure.data.max_length == 999_999
    assert structure.realizable.holds is True
    assert structure.frequent.holds is True
    assert {q: order.pairs for q, order in (structure.orders or {}).items()} == {
        "a": {("a", "b"), ("a", "c")},
        "b": {("b", "a"), ("b", "c")},
        "c": {("c", "a"), ("c", "b")},
    }


def test_many_tokens_with_one_next_token_cost_no_more_than_their_pairs():
    """Fifty thousand tokens above nothing: a look at all their pairs would never end."""
    tokens = [f"t{i}" for i in range(50_000)]
    lines = [f"{token} f" for token in tokens]
    structure = analyse(from_sentences([*lines, "f f", " f ".join(tokens) + " f"]))
    assert structure.orders == {}
    late = analyse(from_sentences([*lines, "f g", "g g", " f ".join(tokens[:300]) + " f"]))
    assert {q: len(order.pairs) for q, order in (late.orders or {}).items()} == {
        f"t{i}": i + 1 for i in range(1, 300)
    }


def test_orders_beyond_the_limit_are_refused_with_file_and_line():
    tokens = [f"t{i}" for i in range(40)]
    samples = [([token], token) for token in tokens]
    data = from_samples([*samples, (tokens, "t0")], "big.jsonl")
    assert analyse(data, max_pairs=39).realizable.holds is True
    with pytest.raises(InputError) as raised:
        analyse(data, max_pairs=38)
    assert str(raised.value) == (
        "big.jsonl:41: the partial orders hold more than 38 pairs; use fewer or shorter sentences, "
        "or raise --max-pairs"
    )


def test_the_limit_counts_every_pair_once():
    mapped = [("a", "f"), ("b", "f"), ("c", "g"), ("d", "g"), ("f", "f"), ("g", "g")]
    data = from_samples([*mapped, ("a b c d", "f"), ("b a c d", "f")])
    structure = analyse(data, max_pairs=4)
    assert structure.orders is not None
    assert structure.orders["d"].pairs == set(product("ab", "cd"))
    with pytest.raises(InputError, match="more than 3 pairs"):
        analyse(data, max_pairs=3)


def test_a_message_lists_ten_tokens_at_most():
    def message(size: int) -> str:
        lines = [f"a t{i}" for i in range(size)]
        return analyse(from_sentences(lines)).realizable.failures[0].message

    ten = "'a' has more than one next token: " + ", ".join(f"'t{i}'" for i in range(10))
    assert message(10) == ten
    assert message(11) == f"{ten}, ..."


def test_a_message_shows_sixty_letters_of_a_token_at_most():
    def shown(token: str) -> str:
        message = (
            analyse(from_sentences([f"{token} b", f"{token} c"])).realizable.failures[0].message
        )
        return message.partition(" has more")[0]

    letters = "".join(chr(ord("A") + i) for i in range(26)) * 3
    assert shown(letters[:60]) == f"'{letters[:60]}'"
    assert shown(letters[:61]) == f"'{letters[:59]}…'"


def test_the_limit_is_kept_within_a_single_sample():
    """Two million pairs from one sentence are never made."""
    above, below = [f"a{i}" for i in range(20_000)], [f"b{i}" for i in range(20_000)]
    samples = [([token], "f") for token in above] + [([token], "g") for token in below]
    data = from_samples([*samples, (["f"], "f"), (["g"], "g"), ([*above, *below], "f")])
    with pytest.raises(InputError, match="more than 1000 pairs"):
        analyse(data, max_pairs=1000)


def test_the_middle_of_a_long_sentence_is_left_out():
    data = from_sentences([" ".join(f"t{i}" for i in range(101))])
    shown = describe_sample(data, SampleAt(0, 100))
    assert shown["length"] == 100
    assert shown["sentence"] == [
        *(f"t{i}" for i in range(20)),
        "…",
        *(f"t{i}" for i in range(80, 100)),
    ]
    assert shown["next"] == "t100"


def test_a_sentence_of_forty_tokens_is_shown_whole():
    data = from_sentences([" ".join(f"t{i}" for i in range(42))])
    assert describe_sample(data, SampleAt(0, 40))["sentence"] == [f"t{i}" for i in range(40)]
    assert "…" in describe_sample(data, SampleAt(0, 41))["sentence"]


def test_a_collocation_file_has_two_columns(tmp_path: Path):
    path = tmp_path / "n.txt"
    path.write_text("S V\n\nV\tO\nS  V\n")
    assert read_collocation(str(path)) == {"S": "V", "V": "O"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b\na\n", ":2: 1 columns where two are needed"),
        (b"a b c\n", ":1: 3 columns where two are needed"),
        (b"a b\n\na c\n", ":3: 'a' has the next token 'b' further up and 'c' here"),
        (b"\n", ": no collocation in it"),
        (b"a \xff\n", ":1: not valid UTF-8"),
        (b"a \0\n", ":1: this looks like a binary file"),
    ],
)
def test_a_collocation_that_cannot_be_used_is_refused(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "n.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_collocation(str(path))
    assert str(raised.value).startswith(f"{path}{message}")


def test_a_missing_collocation_file_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        read_collocation(str(tmp_path / "nowhere"))


def test_file_and_line_of_a_witness_are_those_of_the_file(tmp_path: Path):
    path = tmp_path / "data.jsonl"
    rows = ['{"sentence": ["a"], "next": "b"}', "", '{"sentence": ["b"], "next": "a"}', ""]
    path.write_text("\n".join([*rows, '{"sentence": ["a", "a"], "next": "a"}']))
    structure = analyse(read(str(path)))
    (failure,) = structure.realizable.failures
    assert describe_sample(structure.data, failure.samples[0]) == {
        "file": str(path),
        "line": 5,
        "length": 2,
        "sentence": ["a", "a"],
        "next": "a",
    }
