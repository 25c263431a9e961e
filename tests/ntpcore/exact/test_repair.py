"""The largest realizable part: by hand, against every part, and as a command."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
import strategies
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy, integers

from ntpcore.data import order
from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.exact import repair, repair_program

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def random_multipliers() -> SearchStrategy[random.Random]:
    return integers(0, 2**32).map(random.Random)


def exact(data: Dataset, n: dict[str, str] | None = None) -> repair.Repair:
    return repair_program.solve_exact(repair.tabulate(data, n))


def greedy(data: Dataset, n: dict[str, str] | None = None) -> repair.Repair:
    return repair.solve_greedy(repair.tabulate(data, n))


def dropped(found: repair.Repair) -> list[tuple[str, str]]:
    spelled = [repair.spell(found.table, one.at) for one in found.dropped()]
    return [(" ".join(sentence), following) for sentence, following in spelled]


def test_realizable_data_lose_nothing() -> None:
    found = exact(read(str(EXAMPLES / "example1.txt")))
    assert (dropped(found), found.gap, found.share) == ([], 0, 1.0)
    assert found.collocation == {"S": "V", "V": "O", "O": "P", "P": "S"}


def test_the_rarer_of_two_contradicting_samples_goes() -> None:
    data = from_samples([(["a"], "b", 2), (["a"], "a", 5), (["b"], "a", 1)])
    found = exact(data)
    assert dropped(found) == [("a", "b"), ("b", "a")]
    assert (found.kept_weight, found.bound) == (5, 5)
    assert (
        next(found.dropped()).reason
        == "its next token 'b' is n('b'), and 'b' is not in the sentence"
    )


def test_a_given_collocation_is_kept_and_decides() -> None:
    data = from_samples([(["a"], "b", 2), (["a"], "a", 5), (["b"], "a", 1)])
    found = exact(data, {"a": "b"})
    assert dropped(found) == [("a", "a")]
    assert found.collocation == {"a": "b", "b": "a"}
    assert exact(data, {"a": "z"}).kept_weight == 1


def test_a_given_collocation_that_is_not_injective_is_refused() -> None:
    with pytest.raises(InputError, match="maps 'a' and 'b' to 'c'"):
        repair.tabulate(from_sentences(["a c"]), {"a": "c", "b": "c"})


def test_a_part_may_be_empty_where_nothing_fits_the_given_collocation() -> None:
    found = exact(from_samples([(["a"], "b")]), {"a": "a"})
    assert (list(found.kept()), found.rest(), found.share) == ([], None, 0.0)


def test_equal_samples_of_different_lines_are_counted_together() -> None:
    table = repair.tabulate(from_sentences(["a b c", "a b c", "a b d", "a"]))
    assert list(table.times(0)) == [(1, 3), (2, 2)]
    assert list(table.times(1)) == [(2, 1)]
    assert table.weight == 6


@given(strategies.messy_data())
def test_samples_are_counted_as_spelling_them_out_counts_them(data: Dataset) -> None:
    table = repair.tabulate(data)
    found = {
        repair.spell(table, order.SampleAt(place, length)): count
        for place in range(len(data.lines))
        for length, count in table.times(place)
    }
    assert found == {(s.sentence, s.next_token): s.count for s in data.samples()}
    assert table.weight == sum(found.values())
    walked = {
        tuple(data.lines[place].tokens[: length + 1]): set(tokens)
        for place in range(len(data.lines))
        for length, tokens in table.beginnings(place)
    }
    assert all(set(words[:-1]) == tokens for words, tokens in walked.items())
    assert len(walked) == len(found)


def test_the_token_that_would_explain_the_most_samples_is_tried_first() -> None:
    # Given U(q) = {a, b}: "a q" -> y once, "b q" -> y twice. So n(b) = y explains two
    # samples and n(a) = y one. Of the sentences of one token "a" goes to q once, and "b" twice.
    data = from_sentences(["a q y", "b q y", "b q y"])
    number = {token: place for place, token in enumerate(data.vocabulary)}
    a, b, q, y = (number[token] for token in "abqy")
    table = repair.tabulate(data)
    found = repair._explained(table, {q: {a, b}})
    assert {following: tokens(table, keys) for following, keys in found.items()} == {
        q: [b, a],
        y: [b, a],
    }


def tokens(table: repair.Table, keys: list[int]) -> list[int]:
    """The tokens that these candidates are."""
    return [table.by_rarity[key % len(table.data.vocabulary)] for key in keys]


def test_heavy_tokens_come_first_and_of_equal_ones_the_rare_ones() -> None:
    table = repair.tabulate(from_sentences(["a b c x", "a b x", "a y x"]))
    number = {token: place for place, token in enumerate(table.data.vocabulary)}
    a, b, c, y = (number[token] for token in "abcy")
    assert tokens(table, table.rank({a: 1, b: 1, c: 1})) == [c, b, a]
    assert tokens(table, table.rank({a: 2, b: 1, c: 1, y: 3})) == [y, a, c, b]


def test_a_text_whose_beginnings_are_long_is_not_spelled_out() -> None:
    rng = random.Random(5)
    words = " ".join(str(int(200 * rng.random() ** 2)) for _ in range(4600))
    table = repair.tabulate(from_sentences([words]))
    assert sum(length for length in range(1, 4600)) > 10_000_000
    tracemalloc.start()
    found = repair.solve_greedy(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert found.kept_weight <= found.bound < table.weight
    rest = found.rest()
    assert rest is not None
    assert order.analyse(rest, found.collocation).realizable.holds


def test_a_part_too_large_to_be_written_sample_by_sample_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = greedy(from_sentences(["a b c d"]))
    assert found.rest() is not None
    monkeypatch.setattr(repair, "MOST_SPELLED", 5)
    with pytest.raises(InputError, match="each spelled out, hold 6 tokens, and 5 fit"):
        found.rest()


def test_data_too_large_for_the_program_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = from_sentences(["a b a c", "b a b a a", "c c a b c"])
    monkeypatch.setattr(repair_program, "MAX_PROGRAM", 3)
    with pytest.raises(InputError, match="add --greedy"):
        exact(data)
    many = from_samples([(s.sentence, s.next_token, 10**9 + 1) for s in data.samples()])
    assert greedy(many).gap > 0


def test_a_solver_without_time_leaves_the_greedy_part_and_its_bound() -> None:
    table = repair.tabulate(read(str(EXAMPLES / "gettysburg.txt")))
    quick = repair.solve_greedy(table)
    found = repair_program.solve_exact(table, seconds=0.0)
    assert quick.gap > 0
    assert found.kept_weight >= quick.kept_weight
    assert found.kept_weight < found.bound <= quick.bound


@settings(max_examples=60)
@given(strategies.messy_data())
def test_parts_are_realizable_and_bounds_hold(data: Dataset) -> None:
    best, quick = exact(data), greedy(data)
    assert quick.kept_weight <= best.kept_weight == best.bound <= quick.bound
    for found in (best, quick):
        rest = found.rest()
        assert rest is not None
        assert order.analyse(rest, found.collocation).realizable.holds
        assert sum(line.count for line in rest.lines) == found.kept_weight
        assert found.kept_weight + sum(one.count for one in found.dropped()) == found.table.weight


@settings(max_examples=30)
@given(strategies.realizable_data())
def test_realizable_data_lose_nothing_ever(data: Dataset) -> None:
    assert not dropped(exact(data))


# Bounds


def test_of_one_line_and_query_only_one_next_token_stays() -> None:
    data = from_sentences(["a b x a b y a b z"])
    assert repair.rivals_bound(repair.tabulate(data)) == 6  # 8 without two of x, y, z
    assert greedy(data).bound <= 6


def test_a_sentence_of_one_token_is_no_rival_of_longer_ones() -> None:
    table = repair.tabulate(from_sentences(["a b c a c"]))
    assert greedy(table.data).kept_weight == table.weight == 4
    assert repair.rivals_bound(table) == 4
    planted = repair._heaviest(repair._classes(table, 0))
    assert planted == 3  # the line as one class, its first sentence among them, is wrong


def test_an_optimum_is_certified_in_whole_numbers_and_nothing_less_is() -> None:
    table = repair.tabulate(read(str(EXAMPLES / "cycle.jsonl")))
    found = repair_program.solve_exact(table)
    assert (found.kept_weight, found.gap) == (5, 0)
    assert (found.method, found.proved) == ("integer program", repair_program.CERTIFIED)
    program = repair_program.formulate(table)
    assert repair_program.certify(program, 5)
    assert not repair_program.certify(program, 4)


@settings(max_examples=40)
@given(strategies.messy_data(), random_multipliers())
def test_any_multipliers_give_a_bound_and_negative_ones_are_refused(
    data: Dataset, draw: random.Random
) -> None:
    table = repair.tabulate(data)
    program, scale = repair_program.formulate(table), repair_program.SCALE
    best = exact(data).kept_weight
    multipliers = [draw.choice([0, scale // 2, scale, 3 * scale]) for _ in program.limits]
    assert repair_program.dual_bound(program, multipliers) >= scale * best
    if multipliers:
        with pytest.raises(ValueError, match="negative"):
            repair_program.dual_bound(program, [-1, *multipliers[1:]])


def test_an_optimum_that_only_integers_show_is_said_on_the_solvers_word() -> None:
    table = repair.tabulate(read(str(EXAMPLES / "two_next_tokens.txt")))
    found = repair_program.solve_exact(table)
    assert (found.kept_weight, found.gap, found.proved) == (4, 0, repair_program.FLOAT)
    assert not repair_program.certify(repair_program.formulate(table), 4)


@pytest.mark.parametrize("shared", [False, True])
def test_pair_weights_are_those_of_the_samples_one_by_one(shared: bool) -> None:
    """Lines in which a next token occurs several times, and lines that occur several times."""
    rng = random.Random(3)
    for _ in range(40):
        tokens = [f"t{number}" for number in range(rng.randint(2, 9))]
        lines = [rng.choices(tokens, k=rng.randint(2, 30)) for _ in range(6)]
        data = from_sentences(lines + lines[:2])
        table = repair.tabulate(data)
        wanted: dict[int, Counter[int]] = {}
        for line, count in Counter(map(tuple, lines + lines[:2])).items():
            ids = [data.vocabulary.index(token) for token in line]
            for length in range(1, len(ids)):
                present = set(ids[:length])
                weight = count * repair._SHARES // len(present) if shared else count
                wanted.setdefault(ids[length], Counter()).update(dict.fromkeys(present, weight))
        for following, weights in wanted.items():
            assert table.pair_weights(following, shared=shared) == weights


def test_of_a_long_line_the_last_tokens_before_count_for_all_that_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repair, "_LONG", 2)
    table = repair.tabulate(from_sentences(["a b c y d y e y"]))
    number = {token: place for place, token in enumerate(table.data.vocabulary)}
    a, b, c, d, y = (number[token] for token in "abcdy")
    assert table.pair_weights(y) == {b: 3, c: 3}  # y follows "a b c" first, with both in it always
    assert table.pair_weights(d) == {c: 1, y: 1}
    assert table.pair_weights(b) == {a: 1}


@settings(max_examples=60)
@given(strategies.messy_data())
def test_upper_tokens_are_those_of_a_search_that_spells_out_every_sentence(data: Dataset) -> None:
    table = repair.tabulate(data)
    sources = {y: x for x, y in enumerate(range(1, len(data.vocabulary)))}
    number = {token: place for place, token in enumerate(data.vocabulary)}
    by_query: dict[int, list[tuple[set[int], int, int]]] = {}
    alone = 0
    for sample in data.samples():
        seen = {number[token] for token in sample.sentence}
        top = sources.get(number[sample.next_token])
        if top in seen and len(seen) == 1:
            alone += sample.count
        elif top in seen:
            row = (seen, sources[number[sample.next_token]], sample.count)
            by_query.setdefault(number[sample.sentence[-1]], []).append(row)
    wanted, weight = {}, alone
    for query, rows in by_query.items():
        wanted[query], reached = best_first(rows)
        weight += reached
    assert repair.choose_uppers(table, sources) == (wanted, weight)


def best_first(rows: list[tuple[set[int], int, int]]) -> tuple[set[int], int]:
    """Add the token with which U explains most, as long as that is more than before."""

    def explained(uppers: set[int]) -> int:
        return sum(weight for seen, top, weight in rows if seen & uppers == {top})

    chosen: set[int] = set()
    while True:
        tops = sorted({top for _, top, _ in rows} - chosen)
        best = max(tops, key=lambda token: explained(chosen | {token}), default=None)
        if best is None or explained(chosen | {best}) <= explained(chosen):
            return chosen, explained(chosen)
        chosen.add(best)


@settings(max_examples=60)
@given(strategies.messy_data())
def test_no_dropped_sample_could_stay_by_the_same_collocation(data: Dataset) -> None:
    found = greedy(data)
    kept = [(*repair.spell(found.table, at), count) for at, count in found.kept()]
    for one in found.dropped():
        more = from_samples([*kept, (*repair.spell(found.table, one.at), one.count)])
        n = {token: found.collocation[token] for token in more.vocabulary}
        assert not order.analyse(more, n).realizable.holds


def test_blocks_of_one_line_share_no_more_tokens_with_rivals_than_it_has_samples() -> None:
    rng = random.Random(2)
    line = " ".join(str(int(300 * rng.random() ** 3)) for _ in range(3000))
    table = repair.tabulate(from_sentences([line]))
    rivals = repair._rivals(table, {y: y for y in range(len(table.data.vocabulary))})
    shared = [repair._within(rivals[q], ranks) for _, ranks, q, _ in table.blocks()]
    assert sum(map(len, shared)) <= table.weight < table.cells / 50
