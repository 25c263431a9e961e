"""The layout of graphs: layers, order, distances."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ntpbook.catalogue import CATALOGUE
from ntpverdicts.layout import Layout, arrange, assign_layers, crossings

DIAMOND = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c", "a")}


def faults(uses: dict[str, tuple[str, ...]], sizes: dict[str, float], gap: float) -> list[str]:
    """Where a layout breaks its rules."""
    return rule_faults(arrange(uses, sizes, gap), uses, sizes, gap)


def rule_faults(
    found: Layout, uses: dict[str, tuple[str, ...]], sizes: dict[str, float], gap: float
) -> list[str]:
    wrong = [
        f"{node} is not below {used}"
        for node, given_ in uses.items()
        for used in given_
        if found.layers[used] >= found.layers[node]
    ]
    for layer in set(found.layers.values()):
        row = sorted((n for n in uses if found.layers[n] == layer), key=found.places.__getitem__)
        wrong += [
            f"{a} and {b} are too close"
            for a, b in pairwise(row)
            if found.places[b] - found.places[a] < (sizes[a] + sizes[b]) / 2 + gap - 1e-6
        ]
    wrong += [
        f"{node} lies outside"
        for node in uses
        if not found.places[node] - sizes[node] / 2 >= -1e-6
        or found.places[node] + sizes[node] / 2 > found.breadth + 1e-6
    ]
    for (upper, lower), points in found.lines.items():
        layers = [layer for _, layer in points]
        if layers != list(range(found.layers[upper], found.layers[lower] + 1)):
            wrong.append(f"the line from {upper} to {lower} skips a layer")
    return wrong


def test_a_diamond_has_three_layers_and_a_line_that_bends_past_the_middle_one():
    found = arrange(DIAMOND, dict.fromkeys(DIAMOND, 50.0), 10.0)
    assert found.layers == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert len(found.lines["a", "d"]) == 3
    assert set(found.lines) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")}


def test_a_root_stands_just_above_what_uses_it():
    assert assign_layers({"a": (), "b": ("a",), "c": ("b", "r"), "r": ()})["r"] == 1


def test_crossings_are_counted_and_removed():
    below = {"a": ["d"], "b": ["c"]}
    assert crossings([["a", "b"], ["c", "d"]], below) == 1
    found = arrange({"a": (), "b": (), "c": ("b",), "d": ("a",)}, dict.fromkeys("abcd", 10.0), 5.0)
    assert (found.places["a"] < found.places["b"]) == (found.places["d"] < found.places["c"])


@settings(max_examples=60)
@given(st.data())
def test_no_graph_breaks_the_rules(data: st.DataObject):
    count = data.draw(st.integers(1, 9))
    uses = {
        str(n): tuple(str(m) for m in sorted(data.draw(st.sets(st.integers(0, n - 1)))))
        if n
        else ()
        for n in range(count)
    }
    sizes = {node: data.draw(st.floats(1, 200)) for node in uses}
    assert faults(uses, sizes, 10.0) == []
    assert arrange(uses, sizes, 10.0) == arrange(uses, sizes, 10.0)


def test_the_catalogue_can_be_laid_out():
    uses = {claim.label: claim.uses for claim in CATALOGUE}
    assert faults(uses, dict.fromkeys(uses, 90.0), 12.0) == []


def test_broken_rules_are_noticed():
    sizes = dict.fromkeys(DIAMOND, 50.0)
    flat = Layout(dict.fromkeys("abcd", 0), dict.fromkeys("abcd", 30.0), {("a", "b"): ()}, 40.0)
    wrong = " ".join(rule_faults(flat, DIAMOND, sizes, 10.0))
    for word in ("not below", "too close", "outside", "skips"):
        assert word in wrong
