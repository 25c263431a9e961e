"""Tests of the checks on prefix closure and of the search that they rest on."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from types import SimpleNamespace

import numpy as np
import pytest

from ntpbook.huang2024.s4_prefix_closure import line_search, prefix_closure
from ntpcore.data.dataset import Dataset, from_samples, from_sentences
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.verdicts.claims import Verdict

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
        if not prefix_closure.broken_hypotheses(analyse(spelled(n, line)))
    ]


def random_data(trials: int) -> list[Dataset]:
    """Random data sets of six to nine tokens."""
    rng = np.random.default_rng(3)
    return [prefix_closure.random_closed(rng, 6 + trial % 4, 10, 7) for trial in range(trials)]


# The general theorem


def test_ours_prefix_closure_holds_for_example_1():
    data = example_1()
    optimal = {query: order.optimal for query, order in (analyse(data).orders or {}).items()}
    assert optimal == {"S": ("S",), "V": ("V",), "O": ("O",), "P": ("O",)}
    check = prefix_closure.check_ours_prefix_closure([data])
    assert check.verdict is Verdict.CONSISTENT
    assert check.numbers["orders"] == "4"


def test_ours_prefix_closure_is_consistent_on_random_data():
    check = prefix_closure.check_ours_prefix_closure(random_data(60), seed=3, trials=60)
    assert check.verdict is Verdict.CONSISTENT
    assert check.tried == 60  # so the generator keeps all four hypotheses
    assert int(check.numbers["orders"]) > 60


def test_ours_prefix_closure_agrees_with_definition_1_read_off_sample_by_sample():
    for data in random_data(20):
        n = {s.sentence[0]: s.next_token for s in data.samples() if len(s.sentence) == 1}
        above = {
            (sample.sentence[-1], x, y)
            for sample in data.samples()
            for x, y in product(sample.sentence, repeat=2)
            if n[x] == sample.next_token != n[y]
        }
        lowers = {(query, y) for query, _, y in above}
        tops = {(query, x) for query, x, _ in above} - lowers
        assert len({query for query, _ in tops}) == len(tops)


def test_ours_prefix_closure_notices_five_tokens_without_closure():
    rows = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "q"), ("q", "a")]
    data = from_samples([*rows, ("acq", "b"), ("adq", "b"), ("bq", "c")])
    assert prefix_closure.broken_hypotheses(analyse(data)) == {"closure"}
    assert prefix_closure.check_ours_prefix_closure([data]).verdict is Verdict.OPEN
    check = prefix_closure.check_ours_prefix_closure([data], "closure")
    assert check.verdict is Verdict.REFUTED
    assert check.witness.endswith("a, b under query q")


def test_ours_prefix_closure_control_is_noticed():
    check = prefix_closure.check_ours_prefix_closure([example_1()])
    assert check.with_control(prefix_closure.control_ours_prefix_closure()).control is not None


@pytest.mark.parametrize("failing", [line_search.two_optimal, line_search.two_next])
@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_prefix_closure_needs_each_hypothesis(dropped, failing):
    data = prefix_closure.smallest_without(dropped, failing)
    assert prefix_closure.broken_hypotheses(analyse(data)) == {dropped}
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


def test_ours_prefix_closure_small_is_proved_up_to_five_tokens():
    check = prefix_closure.check_ours_prefix_closure_small(5)
    assert check.verdict is Verdict.PROVED
    assert check.numbers["types"] == "18"


def test_ours_prefix_closure_small_is_not_proved_by_four_tokens():
    check = prefix_closure.check_ours_prefix_closure_small(4)
    assert check.verdict is Verdict.CONSISTENT


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
        if not prefix_closure.broken_hypotheses(structure):
            allowed += 1
            assert all(len(one.optimal) == 1 for one in (structure.orders or {}).values())
    assert allowed > 0


def test_ours_prefix_closure_small_search_ends_by_itself():
    for n in line_search.collocations(4):
        complete = line_search.reachable(n)
        longest = max(map(len, complete.values()))
        assert line_search.reachable(n, longest=longest + 3) == complete


@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_prefix_closure_small_notices_a_dropped_hypothesis(dropped):
    tokens = 4 if dropped == "order" else 3
    check = prefix_closure.check_ours_prefix_closure_small(tokens, dropped)
    assert check.verdict is Verdict.REFUTED
    fewer = prefix_closure.check_ours_prefix_closure_small(tokens - 1, dropped)
    assert fewer.verdict is Verdict.CONSISTENT


def test_ours_prefix_closure_small_control_is_noticed():
    check = prefix_closure.check_ours_prefix_closure_small(2)
    control = prefix_closure.control_ours_prefix_closure_small()
    assert check.with_control(control).control is not None


# The corollary


def test_ours_last_token_reads_the_rule_of_example_1():
    structure = analyse(example_1())
    rule = prefix_closure.last_token_rule(structure)
    assert rule == {"S": "V", "V": "O", "O": "P", "P": "P"}
    assert structure.collocation["P"] == "S"
    check = prefix_closure.check_ours_last_token([example_1()], 3)
    assert check.verdict is Verdict.CONSISTENT


def test_ours_last_token_agrees_with_followers_in_the_lines():
    for data in random_data(20):
        rule = prefix_closure.last_token_rule(analyse(data))
        for line in data.lines:
            words = [data.vocabulary[token] for token in line.tokens]
            assert words[2:] == [rule[token] for token in words[1:-1]]


def test_ours_last_token_covers_a_fixed_point():
    data = from_sentences(["a a a a", "b c b b", "c b"])
    assert prefix_closure.broken_hypotheses(analyse(data)) == frozenset()
    assert prefix_closure.last_token_rule(analyse(data))["a"] == "a"
    assert prefix_closure.check_ours_last_token([data], 2).verdict is Verdict.CONSISTENT


@pytest.mark.parametrize("dropped", HYPOTHESES)
def test_ours_last_token_fails_without_a_hypothesis(dropped):
    data = prefix_closure.smallest_without(dropped, line_search.two_next)
    assert prefix_closure.check_ours_last_token([data], 0).verdict is Verdict.OPEN
    check = prefix_closure.check_ours_last_token([data], 0, dropped)
    assert check.verdict is Verdict.REFUTED


def test_ours_last_token_control_is_noticed():
    check = prefix_closure.check_ours_last_token([example_1()], 2)
    assert check.with_control(prefix_closure.control_ours_last_token()).control is not None


def test_table_escapes_what_tokens_may_contain():
    table = prefix_closure.Table(("<a>",), (("<script>",),))
    assert "<script>" not in table._repr_html_()


@pytest.mark.parametrize("blind", HYPOTHESES)
def test_controls_ask_for_every_hypothesis(blind: str, monkeypatch: pytest.MonkeyPatch):
    """A check that overlooks the lack of one hypothesis, and no other, is not good enough."""

    def overlooks(name: str) -> None:
        right = getattr(prefix_closure, name)

        def check(*arguments: object) -> object:
            if arguments[-1] != blind:
                return right(*arguments)
            return SimpleNamespace(verdict=Verdict.CONSISTENT)  # all that a control looks at

        monkeypatch.setattr(prefix_closure, name, check)

    for name in ("check_ours_prefix_closure", "check_ours_last_token"):
        control = getattr(prefix_closure, name.replace("check", "control"))
        assert control().noticed
        overlooks(name)
        assert not control().noticed
