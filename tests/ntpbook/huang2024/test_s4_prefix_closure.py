"""Prefix closure: the theorem, the corollary, and the search that they are tried on."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from by_label import judge

from ntpbook.huang2024.s4_prefix_closure import checks, figures, instances, line_search
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.data.order import Structure, analyse
from ntpverdicts.claims import Verdict
from ntpverdicts.tables import Table

HYPOTHESES = tuple(line_search.HYPOTHESES)


def spelled(n: tuple[int, ...], *lines: tuple[int, ...]) -> Dataset:
    """A prefix-closed data set of these lines and all one-token sentences."""
    singles = [(x, n[x]) for x in range(len(n))]
    return from_sentences([[str(x) for x in line] for line in (*singles, *lines)])


def as_pairs(data: Dataset) -> frozenset[tuple[str, str, str]]:
    """All pairs that the data force, with their queries."""
    orders = analyse(data).orders or {}
    return frozenset((query, *pair) for query, order in orders.items() for pair in order.pairs)


def allowed_lines(n: tuple[int, ...], longest: int) -> list[tuple[int, ...]]:
    """All lines of two or more tokens that satisfy the hypotheses alone, tried one by one."""
    return [
        line
        for length in range(2, longest + 1)
        for line in product(range(len(n)), repeat=length)
        if not instances.broken_hypotheses(analyse(spelled(n, line)))
    ]


def random_structures(trials: int) -> tuple[Structure, ...]:
    """Example 1 and random data sets that satisfy the hypotheses."""
    return instances.random_structures(seed=3, trials=trials)


# All checks of the chapter


# The general theorem


def test_ours_prefix_closure_holds_for_example_1():
    structure = analyse(example_1())
    optimal = {query: order.optimal for query, order in (structure.orders or {}).items()}
    assert optimal == {"S": ("S",), "V": ("V",), "O": ("O",), "P": ("O",)}
    found = judge("ours-prefix-closure", structure)
    assert (found.verdict, found.numbers["orders"].shown) == (Verdict.PROVED, "4")


def test_ours_prefix_closure_is_tried_on_data_that_keep_all_four_hypotheses():
    found = checks.check_ours_prefix_closure(seed=3, trials=60)
    assert (found.tried, dict(found.left_out)) == (61, {})
    assert found.numbers["orders"].value > 60


def test_ours_prefix_closure_agrees_with_definition_1_read_off_sample_by_sample():
    for structure in random_structures(20):
        samples = list(structure.data.samples())
        n = {s.sentence[0]: s.next_token for s in samples if len(s.sentence) == 1}
        above = {
            (sample.sentence[-1], x, y)
            for sample in samples
            for x, y in product(sample.sentence, repeat=2)
            if n[x] == sample.next_token != n[y]
        }
        lowers = {(query, y) for query, _, y in above}
        tops = {(query, x) for query, x, _ in above} - lowers
        assert len({query for query, _ in tops}) == len(tops)


def test_ours_prefix_closure_leaves_out_data_without_closure_and_says_so():
    rows = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "q"), ("q", "a")]
    structure = analyse(
        from_samples([*rows, (tuple("acq"), "b"), (tuple("adq"), "b"), (tuple("bq"), "c")])
    )
    assert instances.broken_hypotheses(structure) == {"closure"}
    found = judge("ours-prefix-closure", structure)
    reason = "not true: every prefix of a sample is a sample"
    assert (found.verdict, dict(found.left_out)) == (Verdict.OPEN, {reason: 1})
    found = judge("ours-prefix-closure", structure, dropped="closure")
    assert found.verdict is Verdict.REFUTED
    assert "a, b under query q" in found.witness


@pytest.mark.parametrize("failing", [line_search.two_optimal, line_search.two_next])
@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_prefix_closure_needs_each_hypothesis(dropped, failing):
    data = instances.smallest_without(dropped, failing)
    assert instances.broken_hypotheses(analyse(data)) == {dropped}
    sentences = [sample.sentence for sample in data.samples()]
    assert len(sentences) == len(set(sentences))


def test_ours_prefix_closure_needs_no_order_under_other_queries():
    n, longest = (1, 2, 3, 0), 5
    for query in range(4):
        mask = 15 << 4 * query
        found = {
            line_search.Relation(one.uppers & mask, one.lowers & mask)
            for one in line_search.reachable(n, "order", longest)
        }
        for one, other in combinations_with_replacement(found, 2):
            both = one | other
            assert both.uppers & both.lowers or not line_search.two_optimal(n, both)


# Up to five tokens


def test_ours_prefix_closure_small_goes_through_all_cycle_types_of_up_to_five_tokens():
    # partitions of 1, 2, 3, 4, 5: 1, 2, 3, 5, 7
    assert len(checks.permutations(5)) == 1 + 2 + 3 + 5 + 7
    shown = list(checks.search_optimal())
    assert len(shown) == 5
    assert all(one.holds for one in shown)


def test_ours_prefix_closure_small_by_hand_for_two_tokens_that_swap():
    # 0 1 goes on with 0, decided by 1, or with 1, decided by 0; from then on the line stays at 1.
    # 1 0 does the same with 0 and 1 exchanged. No line stays at both: (0b0110, 0b1001) is absent.
    found = line_search.reachable((1, 0))
    assert min(map(len, found.values())) == 2
    assert {(one.uppers, one.lowers) for one in found} == {
        (0, 0),
        (0b0100, 0b1000),  # 0 > 1 under query 1
        (0b1000, 0b0100),  # 1 > 0 under query 1
        (0b0001, 0b0010),  # 0 > 1 under query 0
        (0b0010, 0b0001),  # 1 > 0 under query 0
        (0b1001, 0b0110),  # each query decides for itself: 0 1 0 1 ...
        (0b1010, 0b0101),  # 1 decides both: 0 1 0 0 ...
        (0b0101, 0b1010),  # 0 decides both: 1 0 1 1 ...
    }


@pytest.mark.parametrize("n", list(line_search.collocations(3)))
def test_ours_prefix_closure_small_agrees_with_plain_enumeration(n):
    longest = 6
    plain = {as_pairs(spelled(n, line)) for line in allowed_lines(n, longest)}
    searched = line_search.reachable(n, longest=longest)
    assert {as_pairs(spelled(n, line)) for line in searched.values()} == plain


@pytest.mark.parametrize("n", [*line_search.collocations(2), (1, 2, 0), (1, 0, 2)])
def test_ours_prefix_closure_small_agrees_with_all_pairs_of_real_data(n):
    lines = allowed_lines(n, 4 if len(n) == 3 else 6)
    allowed = 0
    for pair in combinations_with_replacement(lines, 2):
        structure = analyse(spelled(n, *pair))
        if not instances.broken_hypotheses(structure):
            allowed += 1
            assert all(len(one.optimal) == 1 for one in (structure.orders or {}).values())
    assert allowed > 0


def test_ours_prefix_closure_small_search_ends_by_itself():
    for n in line_search.collocations(4):
        complete = line_search.reachable(n)
        longest = max(map(len, complete.values()))
        assert line_search.reachable(n, longest=longest + 3) == complete


@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_prefix_closure_small_needs_so_many_tokens_without_a_hypothesis(dropped):
    size = 4 if dropped == "order" else 3
    for tokens, expected in ((size, Verdict.REFUTED), (size - 1, Verdict.PROVED)):
        maps = [n for k in range(1, tokens + 1) for n in line_search.collocations(k, dropped)]
        found = judge("ours-prefix-closure-small", *maps, dropped=dropped, longest=6)
        assert found.verdict is expected


# The corollary


def test_ours_last_token_reads_the_rule_of_example_1():
    structure = analyse(example_1())
    assert checks.last_token_rule(structure) == {"S": "V", "V": "O", "O": "P", "P": "P"}
    assert checks.last_token_rule(structure, alone=True)["P"] == structure.collocation["P"] == "S"
    found = judge("ours-last-token", structure, alone=True)
    assert "O P → P, but f(P) = S" in found.witness


def test_ours_last_token_agrees_with_followers_in_the_lines():
    for structure in random_structures(20):
        rule, data = checks.last_token_rule(structure), structure.data
        for line in data.lines:
            words = [data.vocabulary[token] for token in line.tokens]
            assert words[2:] == [rule[token] for token in words[1:-1]]


def test_ours_last_token_covers_a_fixed_point():
    structure = analyse(from_sentences(["a a a a", "b c b b", "c b"]))
    assert instances.broken_hypotheses(structure) == frozenset()
    assert checks.last_token_rule(structure)["a"] == "a"
    assert judge("ours-last-token", structure).verdict is Verdict.PROVED


@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_last_token_fails_without_a_hypothesis(dropped):
    structure = analyse(instances.smallest_without(dropped, line_search.two_next))
    assert judge("ours-last-token", structure).verdict is Verdict.OPEN
    assert judge("ours-last-token", structure, dropped=dropped).verdict is Verdict.REFUTED


# Said in passing


def test_huang2024_app_prefixes_by_hand():
    swap = {("0",): "1", ("1",): "0", ("0", "1"): "0", ("1", "0"): "1"}
    one = checks.Grown({**swap, ("0", "0"): "0", ("1", "1"): "1"}, "0", 2)
    assert one.lines(by_model=True) == [("0", "1", "0")]
    assert one.lines(by_model=False) == [("0", "0", "0"), ("0", "1", "0")]
    assert checks.strays(one.model, ("0", "1", "0")) == []
    assert checks.strays(one.model, ("0", "0", "0")) == ["0 → 0"]
    assert checks.held(("0", "1", "0")) == (("0", "1"), ("0", "1", "0"))
    assert len(list(checks.models(2))) == 2 * 2 ** (2 + 4)
    found = judge("huang2024-app-prefixes", one, by_model=False)
    assert found.witness == "0 0 0: 0 → 0"


def test_huang2024_app_prefixes_reads_the_definition_of_the_data_by_the_same_check():
    found = checks.check_huang2024_app_prefixes(longest=2)
    assert [one.verdict for one in found.readings] == [Verdict.REFUTED]


def test_ours_last_token_bound_is_reached_by_data_that_follow_n_at_every_step():
    data = instances.all_continuations(4, 3)
    # 0 1 2 3, 1 2 3 0, 2 3 0 1, 3 0 1 2: lengths 1, 2 and 3 from each of four tokens
    assert data.sample_count == 12 == len(data.vocabulary) * data.max_length
    structure = analyse(data)
    assert not instances.broken_hypotheses(structure)
    assert judge("ours-last-token", structure).verdict is Verdict.PROVED
    found = judge("ours-last-token", structure, share=Fraction(10, 11))
    assert found.witness.startswith("n: 0 → 1, ") or "number of samples" in found.witness


# Tables


def test_tables_show_what_was_searched_and_found():
    table = figures.search_table(3)
    assert [row[0] for row in table.rows] == ["1", "2", "3"]
    assert {row[-1] for row in table.rows} == {"0"}
    rows = figures.witness_table(line_search.two_optimal).rows
    assert [row[0] for row in rows] == [
        "n is a bijection",
        "no token is confused",
        "every next token is n of a token of its sentence",
        "every prefix of a sample is a sample",
    ]
    assert all("are optimal under" in row[3] for row in rows)
    assert ("P", "O", "P", "O P → P", "S") in figures.rule_table(analyse(example_1())).rows


def test_a_table_escapes_what_tokens_may_contain():
    assert "<script>" not in Table(("<a>",), (("<script>",),))._repr_html_()


def test_the_answers_to_the_exercises() -> None:
    rule = checks.last_token_rule(analyse(example_1()))
    sentence = ["P", "S"]
    while len(sentence) < 7:
        sentence.append(rule[sentence[-1]])
    assert sentence == list("PSVOPPP")
    following = {"a": "b", "b": "c", "c": "a"}
    longest, samples = 5, []
    for first in following:
        grown = [first]
        for _ in range(longest):
            samples.append((tuple(grown), following[grown[-1]], 1))
            grown.append(following[grown[-1]])
    reached = analyse(from_samples(samples))
    assert reached.realizable.holds
    assert len(list(reached.data.samples())) == 3 * longest
    alone = [((x,), y, 1) for x, y in zip("abcq", "bcqa", strict=True)]
    open_ended = [(("a", "c", "q"), "b", 1), (("b", "c", "q"), "c", 1)]
    orders = analyse(from_samples(alone + open_ended)).orders
    assert orders is not None
    assert set(orders["q"].optimal) == {"a", "b"}
    assert not orders["q"].confused
