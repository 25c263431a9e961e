"""Checks of the page on prefix closure: one optimal token per query, and the last-token rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ntpbook.huang2024.s4_prefix_closure.instances import (
    all_continuations,
    broken_hypotheses,
    describe,
    random_structures,
    smallest_without,
    spelled_out,
)
from ntpbook.huang2024.s4_prefix_closure.line_search import (
    HYPOTHESES,
    Failing,
    Map,
    collocations,
    compare_pairs,
    off_rule,
    two_next,
    two_optimal,
)
from ntpcore.data.dataset import from_sentences
from ntpcore.data.order import Structure, analyse
from ntpverdicts.claims import Shown
from ntpverdicts.compare import Said, at_most, count, equal, holds, left_out, most
from ntpverdicts.once import once
from ntpverdicts.vocabulary import Variant, by_hand, check, executed, relation, uses

CLAIMED = 5  # tokens, the bound in the statement of the small theorem

WITHOUT_SOURCE = (
    r"The same search over sentences in which a next token need not be $\mathrm n$ of an "
    "earlier token."
)

# The theorem


def told(structure: Structure) -> str:
    """The data of a structure: in words where they are few."""
    data = structure.data
    return describe(data) if len(data.lines) < 10 else f"{data.name}, {len(data.vocabulary)} tokens"


def without(failing: Failing) -> dict[str, Variant]:
    """For each hypothesis the smallest data without it alone, where it is no longer asked for."""

    def data_without(dropped: str) -> Variant:
        return Variant({"dropped": dropped}, lambda: [analyse(smallest_without(dropped, failing))])

    return {
        f"Hypothesis dropped: {words}. The data are the smallest counterexample that violates no "
        "other hypothesis.": data_without(dropped)
        for dropped, words in HYPOTHESES.items()
    }


@check(
    "ours-prefix-closure",
    over="data sets",
    instances=random_structures,
    name=told,
    says="On {tried} prefix-closed data sets that satisfy Assumption 1, with up to {tokens} "
    "tokens and sentences of up to {longest} tokens, each of the {orders} queries that compare "
    "tokens has exactly one optimal token.",
    proof=(
        by_hand(
            r"following $\mathrm n$ from the first token of a sentence reaches every token of the "
            "sentence without leaving the sentence",
            at="first",
        ),
        by_hand(
            r"following $\mathrm n$ from the optimal token of a sentence reaches the query "
            "without leaving the sentence",
            at="decider",
        ),
        by_hand(
            r"because $\mathrm n$ is injective, the shorter of two paths along $\mathrm n$ to the "
            "query is the end of the longer path",
            at="two-ways",
        ),
    ),
    planted=without(two_optimal),
)
def check_ours_prefix_closure(one: Structure, dropped: str = "") -> Iterator[Said]:
    """Under the four hypotheses every query that orders anything has one optimal token."""
    if broken := broken_hypotheses(one) - {dropped}:
        yield left_out("; ".join(f"not true: {HYPOTHESES[key]}" for key in sorted(broken)))
        return
    yield most("tokens", len(one.data.vocabulary))
    yield most("longest", one.data.max_length)
    for query, order in (one.orders or {}).items():
        yield count("orders")
        yield equal(len(order.optimal), 1, f"{', '.join(order.optimal)} under query {query}")


def search(failing: Failing, largest: int, spared: str = "") -> Iterator[Shown]:
    """For all collocations of up to `largest` tokens: pairs of lines that break the conclusion.

    Without a hypothesis lines have six tokens at most, so that the search ends soon.
    """
    longest = 6 if spared else None
    for size in range(1, largest + 1):
        found = [compare_pairs(n, failing, spared, longest) for n in collocations(size, spared)]
        allowed, wrong = sum(one.allowed for one in found), sum(len(one.failures) for one in found)
        words = (
            rf"$|\mathcal V| = {size}$: failures among {allowed} pairs of relations without "
            "confused tokens"
        )
        yield relation(words, wrong, "=", 0, wrong)


def search_optimal(largest: int = CLAIMED, spared: str = "") -> Iterator[Shown]:
    """Two optimal tokens under one query, searched for on up to five tokens.

    Args:
        largest: tokens of the largest vocabulary.
        spared: a hypothesis that is not asked for, a planted error.
    """
    return search(two_optimal, largest, spared)


def search_rule(largest: int = CLAIMED + 1, spared: str = "") -> Iterator[Shown]:
    """Next tokens off the rule f, searched for on up to six tokens; see `search_optimal`."""
    return search(off_rule, largest, spared)


def permutations(max_vocabulary: int = 6) -> list[Map]:
    """One permutation for each cycle type on up to so many tokens."""
    return [n for size in range(1, max_vocabulary + 1) for n in collocations(size)]


def few_tokens(dropped: str) -> Variant:
    """The search without one hypothesis, on as many tokens as it takes, lines of up to six."""
    size = 4 if dropped == "order" else 3
    return Variant(
        {"dropped": dropped, "longest": 6},
        lambda: [n for k in range(1, size + 1) for n in collocations(k, dropped)],
    )


@check(
    "ours-prefix-closure-small",
    over=r"cycle types of $\mathrm n$",
    instances=permutations,
    name=lambda n: "n: " + ", ".join(f"{x} → {y}" for x, y in enumerate(n)),
    says=r"For all {tried} cycle types of $\mathrm n$ on small vocabularies, an exhaustive search "
    "found the {relations} relations that a sentence of any length, with its prefixes, can "
    "produce. Of {pairs} pairs of these relations, {allowed} confuse no token, and none of these "
    "has a query with two optimal tokens.",
    proof=(
        by_hand(r"by renaming tokens, one $\mathrm n$ of each cycle type suffices", at="renaming"),
        by_hand(
            "the comparisons that a sentence adds depend on its set of tokens, its last token, "
            "and its next token, so a search over finitely many states covers all lengths",
            at="states",
        ),
        by_hand(
            "if a query has two optimal tokens, two sentences with their prefixes show it",
            at="two-sentences",
        ),
        executed(
            "all pairs of sentences on up to five tokens, of any length",
            search_optimal,
            planted={WITHOUT_SOURCE: {"largest": 3, "spared": "source"}},
        ),
    ),
    planted={
        f"The same search with one hypothesis dropped: {words}.": few_tokens(dropped)
        for dropped, words in HYPOTHESES.items()
    },
)
def check_ours_prefix_closure_small(
    n: Map, dropped: str = "", longest: int | None = None
) -> Iterator[Said]:
    """No two lines under n, without confused tokens, give a query two optimal tokens."""
    found = compare_pairs(n, two_optimal, dropped, longest)
    yield count("relations", found.relations)
    yield count("pairs", found.tried)
    yield count("allowed", found.allowed)
    words = describe(spelled_out(n, found.failures[0], dropped)) if found.failures else ""
    yield holds(not found.failures, words)


# The corollary


def last_token_rule(structure: Structure, alone: bool = False) -> dict[str, str]:
    """f: for each query n of its optimal token, or n of itself where it orders nothing.

    A query with two optimal tokens has no rule, nor has one whose tokens are all confused.

    Args:
        structure: the data.
        alone: whether n of the query is taken everywhere.
    """
    orders = structure.orders or {}
    rule: dict[str, str] = {}
    for query in structure.data.vocabulary:
        tops = orders[query].optimal if query in orders and not alone else (query,)
        following = structure.collocation[tops[0]] if len(tops) == 1 else None
        if following is not None:
            rule[query] = following
    return rule


def with_longest_lines(seed: int = 7, trials: int = 200) -> tuple[Structure, ...]:
    """Random data, and data in which each sentence follows n at every step from every token."""
    return (*random_structures(seed, trials), analyse(all_continuations()))


@check(
    "ours-last-token",
    over="data sets",
    instances=with_longest_lines,
    name=told,
    says="On {tried} prefix-closed data sets that satisfy Assumption 1, all {samples} samples "
    r"with sentences of $L \ge 2$ tokens follow the rule $x_{L+1} = f(x_L)$. Here $f(q)$ is "
    r"$\mathrm n$ of the optimal token of the query $q$, or $\mathrm n(q)$ if no token is "
    "optimal. Each first token has one continuation, and the number $N$ of distinct samples is at "
    r"most $|\mathcal V| L_{\max}$, with equality on some data.",
    proof=(
        uses("ours-prefix-closure", "a query has at most one optimal token"),
        by_hand(
            "in a sentence with two different tokens, the optimal token of the query determines "
            "the next token",
            at="two",
        ),
        by_hand(
            r"if all tokens of a sentence of two or more tokens are $q$, then $\mathrm n(q) = q$",
            at="repeated",
        ),
        by_hand("each first token has only one continuation, by the rule", at="continuation"),
        executed(
            "the rule on all pairs of sentences on up to six tokens, of any length; a relation is "
            "what a sentence and its prefixes force under each query",
            search_rule,
            planted={WITHOUT_SOURCE: {"largest": 3, "spared": "source"}},
        ),
    ),
    planted=without(two_next)
    | {
        r"The rule $f = \mathrm n$, even for queries with an optimal token.": {"alone": True},
        r"The bound 1.1 times sharper: $\frac{10}{11} |\mathcal V| L_{\max}$.": {
            "share": Fraction(10, 11)
        },
    },
)
def check_ours_last_token(
    one: Structure, dropped: str = "", alone: bool = False, share: Fraction = Fraction(1)
) -> Iterator[Said]:
    """x_(L+1) = f(x_L) for L >= 2; a sentence is given by its start and length; N <= |V| L_max.

    Args:
        one: data.
        dropped: a hypothesis that is not asked for.
        alone: whether n of the last token is taken everywhere.
        share: what the bound of N is multiplied with.
    """
    if broken := broken_hypotheses(one) - {dropped}:
        yield left_out("; ".join(f"not true: {HYPOTHESES[key]}" for key in sorted(broken)))
        return
    data, rule = one.data, last_token_rule(one, alone)
    continuations: dict[tuple[str, int], str] = {}
    for sample in data.samples():
        sentence, following = sample.sentence, sample.next_token
        words = f"{' '.join(sentence)} → {following}"
        if len(sentence) > 1:  # without a rule the first next token sets it
            due = rule.setdefault(sentence[-1], following)
            yield holds(due == following, f"{words}, but f({sentence[-1]}) = {due}")
        other = continuations.setdefault((sentence[0], len(sentence)), words)
        yield holds(other == words, f"{words} and {other}")
    bound = share * len(data.vocabulary) * data.max_length
    yield at_most(data.sample_count, bound, "number of samples")
    yield count("samples", sum(len(sample.sentence) > 1 for sample in data.samples()))


# Said in passing

Model = Mapping[tuple[str, ...], str]  # the ground truth: what follows a sentence


@dataclass(frozen=True)
class Grown:
    """A model, and the token that a sentence starts with."""

    model: Model
    start: str
    longest: int

    def lines(self, by_model: bool) -> list[tuple[str, ...]]:
        """The sentence that the model grows, or all of that length, with what follows them."""
        if not by_model:
            words = product("01", repeat=self.longest - 1)
            sentences = [(self.start, *rest) for rest in words]
            return [(*sentence, self.model[sentence]) for sentence in sentences]
        line: tuple[str, ...] = (self.start,)
        while len(line) <= self.longest:
            line = (*line, self.model[line])
        return [line]


def models(longest: int = 3) -> Iterator[Grown]:
    """All ground-truth models on two tokens for sentences of up to so many tokens."""
    inputs = [word for length in range(1, longest + 1) for word in product("01", repeat=length)]
    for outputs in product("01", repeat=len(inputs)):
        model = dict(zip(inputs, outputs, strict=True))
        yield from (Grown(model, start, longest) for start in "01")


def strays(model: Model, line: tuple[str, ...]) -> list[str]:
    """Beginnings of a sentence whose next token is not that of the model."""
    return [
        f"{' '.join(line[:end])} → {line[end]}"
        for end in range(1, len(line))
        if model[line[:end]] != line[end]
    ]


@once
def held(line: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The samples of our data set made of one sentence, each with its next token."""
    return tuple((*one.sentence, one.next_token) for one in from_sentences([line]).samples())


@check(
    "huang2024-app-prefixes",
    over="generated sentences",
    instances=models,
    says="For all models on two tokens and sentences of up to three tokens, every prefix of "
    "{tried} generated sentences follows the models, and the data set that our code builds from "
    "each sentence contains these prefixes.",
    proof=(
        by_hand("each token after the first is generated from all tokens before it", at="growth"),
    ),
    planted={
        "All sentences of three tokens, generated or not, with the model's next token.": {
            "by_model": False
        },
        "The shortest prefix of each sentence omitted.": {"lost": 1},
    },
    readings={
        "the data may contain any sentence $X$, generated or not, with the next token $p^*(X)$, "
        "as the paper's definition says": {"by_model": False},
    },
)
def check_huang2024_app_prefixes(
    one: Grown, by_model: bool = True, lost: int = 0
) -> Iterator[Said]:
    """x_(l+1) = p_l([x_1, ..., x_l]) for every l < L, if the models generated the sentence."""
    for line in one.lines(by_model):
        wrong = strays(one.model, line)
        yield holds(not wrong, f"{' '.join(line)}: {wrong[0] if wrong else ''}")
        beginnings = tuple(line[: end + 1] for end in range(1, len(line)))
        yield holds(held(line)[lost:] == beginnings, f"{' '.join(line)}: a prefix is missing")
