"""What the playground computes, here: as on the command line, told in words, and safe to show."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playground_cases import FILES, MALFORMED, NASTY, PRESETS, Case, command, random_cases

from ntpcore.data import dataset, examples, order
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpcore.exact import repair as repairing
from ntpcore.huang2024 import plain
from ntpplayground import attention_steps, diagram, explain, wording
from ntpplayground import engine as playground
from tools.pipeline.node import find_node
from tools.site import playground as files

ROOT = Path(__file__).resolve().parents[2]
# Words of the command line: its name, an option, a file that only it has.
COMMAND_LINE = re.compile(r"\bntpcore\b|(?<!\S)--[a-z]|sentences\.txt|samples\.jsonl")
FIVE = PartialOrder.of("q", {("a", "c"), ("a", "d"), ("a", "q"), ("b", "q")})
CYCLE = PartialOrder.of("q", {("a", "b"), ("b", "c"), ("c", "a"), ("a", "q"), ("d", "d2")})

orders = st.builds(
    lambda pairs: PartialOrder.of("q", {(f"a{x}", f"b{y}") for x, y in pairs}),
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14),
)


def answer(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the playground answers, as the browser asks it."""
    monkeypatch.chdir(folder)
    Path(FILES[case.form]).write_bytes(case.text.encode("utf-8"))
    return playground.check(FILES[case.form], chars=case.form == "chars")


@pytest.mark.parametrize("case", [*PRESETS, *NASTY, *random_cases(12)])
def test_the_answer_is_that_of_the_command_line(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(case, tmp_path, monkeypatch)
    said = command(tmp_path, "check", case, "--json")
    assert (found["exit"], found["json"]) == (said.code, said.out)


@pytest.mark.parametrize("case", MALFORMED)
def test_the_message_is_that_of_the_command_line_in_the_words_of_the_page(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(case, tmp_path, monkeypatch)
    said = command(tmp_path, "check", case, "--json")
    assert said.code == 2
    assert found == {"exit": 2, "message": wording.plainly(said.err.removesuffix("\n"))}
    assert not COMMAND_LINE.search(str(found["message"]))


def texts(value: object) -> Iterator[str]:
    """Every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from chain.from_iterable(texts(one) for one in value.values())
    elif isinstance(value, list | tuple):
        yield from chain.from_iterable(texts(one) for one in value)


@pytest.mark.parametrize("case", NASTY)
def test_what_the_page_shows_is_printable_and_short(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = answer(case, tmp_path, monkeypatch)["view"]
    assert json.loads(json.dumps(view)) is not None
    assert isinstance(view, dict)
    for field in ("field", "automatic"):  # the reader's own tokens, for a field to be edited
        del view["map"][field]
    for text in texts(view):
        assert text.isprintable()
        assert len(text) <= 1200


def test_large_answers_are_cut_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{x}" for x in range(100)]
    lines = [f"{a} {b}" for a, b in zip(names, names[1:] + names[:1], strict=True)]
    lines += [" ".join([*names[:at], names[1]]) for at in range(60, 100)]
    case = Case("text", "\n".join(lines))
    view = answer(case, tmp_path, monkeypatch)["view"]
    assert isinstance(view, dict)
    assert view["moreOrders"] > 0
    assert view["moreLines"] > 0
    assert view["W_kq"] is None
    assert len(json.dumps(view)) < 300_000


def test_a_prediction_is_that_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for case, sentence in ((PRESETS[0], "O S P"), (PRESETS[1], "a b q")):
        options = ("--sentence", sentence, "--steps", "300", "--json")
        theirs = json.loads(command(tmp_path, "predict", case, *options).out)
        mine = playground.ask(FILES[case.form], sentence, steps=300)["view"]
        assert isinstance(mine, dict)
        found = {token: pytest.approx(value, rel=1e-9) for token, value in mine["next"]}
        assert theirs["probabilities"] == found
        assert mine["attention"] == pytest.approx(theirs["attention"], rel=1e-9)


def test_a_model_that_was_trained_before_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(PRESETS[0].text, encoding="utf-8")
    models: list[object] = []
    first = playground.ask("sentences.txt", "O P", steps=3, trained=models.append)
    again = playground.ask("missing.txt", "O P", steps=3, known=models[0])  # type: ignore[arg-type]
    assert first == again
    assert playground.ask("sentences.txt", "O X")["exit"] == 2
    assert "is empty" in str(playground.ask("sentences.txt", " ")["message"])


def repaired(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the playground makes of a text that is not realizable."""
    monkeypatch.chdir(folder)
    Path(FILES[case.form]).write_bytes(case.text.encode("utf-8"))
    return playground.repair(FILES[case.form], chars=case.form == "chars")


def test_a_text_is_made_realizable_by_dropping_one_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a is followed by b twice and by c once, so a, b, c, a in a circle costs one sample
    found = repaired(Case("text", "a b\na b\na c\nb c\nc a\n"), tmp_path, monkeypatch)
    repair, view = found["repair"], found["view"]
    assert isinstance(repair, dict)
    assert isinstance(view, dict)
    assert (repair["weight"], repair["kept"], repair["most"], repair["more"]) == (5, 4, 4, 0)
    (one,) = repair["dropped"]
    assert (one["line"], one["words"], one["next"], one["count"]) == (3, ["a"], "c", 1)
    assert one["reason"] == "its next token 'c' is n('b'), and 'b' is not in the sentence"
    assert [one[:2] for one in view["map"]["entries"]] == [["a", "b"], ["b", "c"], ["c", "a"]]
    assert [one[2] for one in view["map"]["entries"]] == ["inferred", "read", "read"]
    assert view["samples"] == 3
    assert view["assumptions"][0]["holds"] is True


@pytest.mark.parametrize("case", [*PRESETS, *NASTY[:4], *random_cases(8)])
def test_a_repair_is_that_of_the_command_line(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = repaired(case, tmp_path, monkeypatch)
    said = command(tmp_path, "repair", case, "--greedy", "--json")
    theirs = json.loads(said.out)
    mine = json.loads(str(found["json"]))
    assert mine["part"]["assumptions"]["1"]["holds"] is True
    for key in ("kept", "kept_weight", "collocation", "dropped"):
        assert mine["repair"][key] == theirs[key]
    assert mine["repair"]["bound"] >= theirs["bound"], "that one is tightened by numpy"


def test_a_repair_that_keeps_what_contradicts_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repairing.Repair, "rest", lambda self: self.table.data)
    found = repaired(PRESETS[3], tmp_path, monkeypatch)
    assert json.loads(str(found["json"]))["part"]["assumptions"]["1"]["holds"] is False
    assert found["exit"] == 1


# Four sentences as people write them: two begin alike and part, and most words begin none.
NATURAL = (
    "The cat sat on the mat.\nThe dog sat on the rug.\n"
    "A bird sang in the old tree.\nI drink tea in the morning.\n"
)


def test_words_that_start_no_sentence_are_one_line_and_no_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = answer(Case("text", NATURAL), tmp_path, monkeypatch)["view"]
    assert isinstance(view, dict)
    assert view["assumptions"][0]["holds"] is False
    learned, far = view["sections"]
    assert learned["text"] == "What attention learns from these data"
    # 18 words, and three of them, The, A and I, begin a line
    missing = set(NATURAL.split()) - {"The", "A", "I"}
    ambiguous, start_none, *_ = far["below"][0]["below"]
    assert ambiguous["below"] == [
        {"text": "'The' has more than one next token: 'cat', 'dog'", "lines": [1, 2], "below": []}
    ]
    assert start_none["text"].startswith(f"{len(missing)} tokens start no sentence")
    named, more = start_none["below"][0]["text"].split(", and ")
    assert set(named.split(", ")) < missing
    assert more == f"{len(missing) - 12} more"
    assert not [text for text in texts(view) if COMMAND_LINE.search(text)]


def test_a_model_of_the_part_that_is_kept_is_that_of_the_part_and_its_collocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(NATURAL, encoding="utf-8")
    found = playground.ask("sentences.txt", "The cat sat on the", steps=30, part=True)["view"]
    assert isinstance(found, dict)
    options = ("--greedy", "--write", "rest.jsonl", "--write-collocation", "n.txt")
    assert command(tmp_path, "repair", Case("text", NATURAL), *options).code == 0
    rest = dataset.read("rest.jsonl")
    words = [line.split() for line in Path("n.txt").read_text(encoding="utf-8").splitlines()]
    trained = plain.train(order.analyse(rest, dict(words)), steps=30)
    theirs = plain.predict(trained, ["The", "cat", "sat", "on", "the"])
    assert found["attention"] == pytest.approx(theirs.attention, rel=1e-9)
    assert dict(found["next"])["mat."] == pytest.approx(theirs.probabilities["mat."], rel=1e-9)
    frames = playground.turn("sentences.txt", "The cat sat on the", steps=30, part=True)["view"]
    assert isinstance(frames, dict)
    assert frames["frames"][-1][1] == pytest.approx(list(theirs.attention), rel=1e-9)
    Path("example.txt").write_text(PRESETS[0].text, encoding="utf-8")
    whole = playground.ask("example.txt", "O P", steps=30)
    assert playground.ask("example.txt", "O P", steps=30, part=True) == whole, "nothing to drop"


# The task of a reader: sentences that contradict each other under any next-token map.
FOUR = (
    "The cat sat on the mat.\nThe dog sat on the rug.\n"
    "A bird sang in the tree.\nThe cat ran to the tree.\n"
)


def checked(
    text: str, monkeypatch: pytest.MonkeyPatch, folder: Path, edits: str | None = None
) -> Any:
    """What the page shows of a text of words."""
    monkeypatch.chdir(folder)
    Path("sentences.txt").write_text(text, encoding="utf-8")
    found = playground.check("sentences.txt", edits=edits)
    assert found["exit"] in (0, 1), found
    return found["view"]


def texts_of_rows(rows: list[Any]) -> Iterator[Any]:
    """All rows, those below others too."""
    for row in rows:
        yield row
        yield from texts_of_rows(row["below"])


def test_four_natural_sentences_get_a_marked_map_shares_and_exact_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = checked(FOUR, monkeypatch, tmp_path)
    entries = {token: rest for token, *rest in view["map"]["entries"]}
    assert entries["A"] == ["bird", "read", 1, 1]
    assert entries["The"] == ["cat", "inferred", 2, 3]
    assert entries["the"] == ["tree.", "inferred", 2, 4]
    assert entries["mat."] == [None, "none", 0, 0], "nothing is invented"
    assert not [token for token, (following, *_) in entries.items() if token == following]
    # by hand: 20 samples; The → dog, cat → ran, the → mat., and the → rug. go against the map,
    # and of the four samples of one token three do not
    told = {row["text"] for row in texts_of_rows(view["sections"])}
    assert "65.0% (13) by the last token, the query itself" in told
    assert "20.0% (4) have a next token that is n of no token of their sentence" in told
    assert "15.0% (3) have a single token, which leaves attention no choice" in told
    assert view["inferred"] is True
    column = next(one for one in view["orders"] if one["query"] == "sat")
    assert column["scores"] == [["sat", "3/4"], ["The", "−1/4"], ["cat", "−1/4"], ["dog", "−1/4"]]
    assert column["proved"] is True
    assert {one["verdict"] for one in view["claims"]} == {"open"}, "no claim is judged by a guess"
    assert all(one["column"] is None for one in view["orders"]), "nor is the closed form"


def test_only_words_that_look_alike_get_a_line_of_help(tmp_path: Path) -> None:
    file = tmp_path / "sentences.txt"
    for text, chars, line in (
        ("The cat sat.\nthe dog sat.\n", False, "“The” and “the” are different tokens"),
        ("The cat sat.\nThe dog sat.\n", False, ""),
        ("The cat sat.\nthe dog sat.\n", True, ""),  # a text of characters has both, as a rule
    ):
        file.write_text(text, encoding="utf-8")
        view = playground.check(str(file), chars=chars)["view"]
        assert isinstance(view, dict)
        assert str(view["alike"]).startswith(line)
        assert bool(view["alike"]) == bool(line)


def test_four_natural_sentences_are_trained_on_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(FOUR, monkeypatch, tmp_path)
    found: Any = playground.ask("sentences.txt", "The cat sat", steps=200)["view"]
    assert found["next"][0][0] == "on"
    assert found["covered"] is False
    told = " ".join(found["notes"])
    assert "all 19 distinct samples" in told
    assert "Theorems 1, 2, and 3 of the paper presume it, so they do not apply" in told
    assert not COMMAND_LINE.search(told)
    turned: Any = playground.turn("sentences.txt", "The cat sat", steps=200)["view"]
    assert turned["frames"][-1][1] == found["attention"]
    assert turned["covered"] is False
    assert sum(turned["frames"][-1][2]) == pytest.approx(1.0)


def test_a_next_token_that_the_reader_writes_is_the_one_that_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = checked(FOUR, monkeypatch, tmp_path, edits="the -> mat.\nzebra → the\n")
    assert ["the", "mat.", "given", 0, 0] in view["map"]["entries"]
    assert view["map"]["unknown"] == ["zebra"]
    best = {}
    for edits in (None, "the → mat."):
        found: Any = playground.ask("sentences.txt", "on the", steps=100, edits=edits)["view"]
        best[edits] = found["next"][0][0]
    assert best == {None: "tree.", "the → mat.": "mat."}


def test_a_next_token_that_the_reader_gives_is_a_collocation_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "a b\na b c\n"
    edits = "b → c\nc → a\n"
    checked(text, monkeypatch, tmp_path)
    found = playground.check("sentences.txt", edits=edits)
    Path("n.txt").write_text("b c\nc a\n", encoding="utf-8")
    said = command(tmp_path, "check", Case("text", text), "--collocation", "n.txt", "--json")
    assert json.loads(str(found["json"]))["assumptions"] == json.loads(said.out)["assumptions"]
    assert json.loads(str(found["json"]))["assumptions"]["1"]["holds"] is True


def test_a_circle_has_exact_scores_and_its_tokens_share_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = checked(playground.WARM[2], monkeypatch, tmp_path)
    circle = next(one for one in view["orders"] if one["circles"])
    assert circle["circles"] == [["a", "b", "c"]]
    assert circle["scores"] == [["a", "0"], ["b", "0"], ["c", "0"]]
    found: Any = playground.turn("sentences.txt", "a b c", steps=5)["view"]
    assert found["roles"] == ["confused"] * 3
    assert found["frames"][-1][2] == pytest.approx([1 / 3] * 3)


def test_the_part_that_is_kept_shows_no_next_token_that_only_fills_the_map_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(FOUR, monkeypatch, tmp_path)
    found: Any = playground.repair("sentences.txt")
    entries = {token: rest[0] for token, *rest in found["view"]["map"]["entries"]}
    theirs = json.loads(found["json"])["repair"]["collocation"]
    invented = {token for token, following in entries.items() if following is None}
    assert invented, "this part leaves tokens without a next token"
    assert all(theirs[token] == entries[token] for token in theirs if token not in invented)
    reasons = " ".join(one["reason"] for one in found["repair"]["dropped"])
    assert not [token for token in invented if f"n({token!r})" in reasons]
    planted = repairing.Repair._reason  # the reasons of the program do name them
    best, _ = playground._kept(playground._read("sentences.txt", False, None), "sentences.txt")
    told = " ".join(planted(best, one.at) for one in best.dropped())
    assert [token for token in invented if f"n({token!r})" in told]


def test_a_map_that_cannot_be_read_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(FOUR, monkeypatch, tmp_path)
    for edits in ("one two three", "the → a → b", "→ a", "the → cat\nthe → dog"):
        for found in (
            playground.check("sentences.txt", edits=edits),
            playground.repair("sentences.txt", edits=edits),
            playground.ask("sentences.txt", "the", edits=edits, steps=1),
            playground.turn("sentences.txt", "the", edits=edits, steps=1),
        ):
            assert found["exit"] == 2
            assert str(found["message"]).startswith("Next tokens: ")


def test_many_failures_of_one_rule_are_one_row_with_a_few_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = [{"sentence": ["a", "b"], "next": f"{x}"} for x in "cdefgh"]
    samples += [{"sentence": [x], "next": y} for x, y in zip("abcdefgh", "bcdefgha", strict=True)]
    Path("samples.jsonl").write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")
    shown: Any = playground.check("samples.jsonl")["view"]
    told = {row["text"]: row for row in texts_of_rows(shown["sections"])}
    # n(a) = b and n(b) = c, so that of c to h only c is a next token of a sentence of a and b
    rule = told["5 samples have a next token that is n of no token of their sentence"]
    assert [row["lines"] for row in rule["below"]] == [[2], [3], [4], []]
    assert rule["below"][-1]["text"] == "... and 2 more"


def test_a_table_is_read_by_its_column_of_sentences_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ["text,label", *(f'"{line}",pos' for line in FOUR.splitlines())]
    view = checked("\n".join(rows), monkeypatch, tmp_path)
    plain_view = checked(FOUR, monkeypatch, tmp_path)
    assert "column “text” was used, 4 sentences" in view["table"]
    assert "the column “label” were left out" in view["table"]
    assert (plain_view["table"], plain_view["sections"][0]) == ("", view["sections"][0])
    assert [one["number"] for one in view["lines"]] == [2, 3, 4, 5], "lines of what was typed"


def test_attention_starts_even_and_ends_as_the_trained_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(PRESETS[0].text, encoding="utf-8")
    seen = []
    view = playground.turn("sentences.txt", "O S P", steps=61, progress=lambda *at: seen.append(at))
    trained = playground.ask("sentences.txt", "O S P", steps=61)["view"]
    assert isinstance(view["view"], dict)
    assert isinstance(trained, dict)
    frames = view["view"]["frames"]
    assert [step for step, _, _ in frames] == [0, *range(3, 61, 3), 61]
    assert frames[0][1] == frames[0][2] == pytest.approx([1 / 3] * 3, rel=1e-12)
    assert frames[-1][1] == trained["attention"]
    assert seen[-1] == (61, 61)


def _norm(weights: Mapping[tuple[str, str], float]) -> float:
    """The Frobenius norm."""
    return math.sqrt(sum(weight * weight for weight in weights.values()))


def test_the_aim_is_the_max_margin_attention_at_the_norm_of_the_weights() -> None:
    data = dataset.read(str(ROOT / "examples" / "example1.txt"))
    structure = order.analyse(data)
    columns = margin.W_kq_star(structure.orders or {})
    whole = {(q, t): float(x) for q, one in columns.items() for t, x in one.scores.items()}
    frame = attention_steps.frames(structure, ["O", "S", "P"], steps=40)[-1]
    model = plain.train(structure, steps=40)
    stretch = _norm(model.weights) / _norm(whole)
    raised = [math.exp(stretch * whole.get(("P", token), 0.0)) for token in ("O", "S", "P")]
    aim = [one / sum(raised) for one in raised]
    assert frame.aim == pytest.approx(aim, rel=1e-12)
    planted = [math.exp(whole.get(("P", token), 0.0)) for token in ("O", "S", "P")]
    assert frame.aim != pytest.approx([one / sum(planted) for one in planted], rel=1e-3)


def test_attention_over_steps_is_refused_with_the_words_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(PRESETS[0].text, encoding="utf-8")
    Path("lone.txt").write_text("a a\n", encoding="utf-8")
    for path, sentence in (("sentences.txt", "O X"), ("sentences.txt", " "), ("lone.txt", "a")):
        found = playground.turn(path, sentence, steps=3)
        assert found == playground.ask(path, sentence, steps=3)
        assert found["exit"] == 2


def test_the_five_tokens_have_the_names_of_the_page() -> None:
    data = dataset.read(str(ROOT / "examples" / "five_tokens.jsonl"))
    assert (order.analyse(data).orders or {})["q"] == examples.FIVE_TOKENS


def test_five_tokens_in_words() -> None:
    found = explain.compare(FIVE, margin.solve(FIVE))
    assert found.hall == explain.Hall(("b",), ("q",), Fraction(3, 5), Fraction(2, 5))
    words = " ".join(explain.in_words(FIVE, found))
    for part in ("squared norm is 6/5", "norm is only 7/6", "S = {b}", "N(S) = {q}",
                 "2·1 = 2, which is less than m |S| = 3·1 = 3", "would sum to 3/5"):  # fmt: skip
        assert part in words


@given(orders)
@settings(max_examples=60)
def test_the_reason_is_right_whenever_the_closed_form_is_wrong(order: PartialOrder) -> None:
    found = explain.compare(order, margin.solve(order))
    k, m = len(order.optimal), len(order.nonoptimal)
    subsets = chain.from_iterable(combinations(order.optimal, size) for size in range(1, k + 1))
    broken = [s for s in subsets if k * len({b for a in s for b in order.below[a]}) < m * len(s)]
    assert (found.hall is not None) == bool(broken)
    words = explain.in_words(order, found)
    assert len(words) == (4 if broken else 2)
    if found.hall is not None:
        assert found.hall.tokens in broken
        assert found.hall.below == tuple(
            sorted({b for a in found.hall.tokens for b in order.below[a]})
        )
        assert found.hall.push == sum(found.closed[a] for a in found.hall.tokens)
        assert found.hall.take == -sum(found.closed[b] for b in found.hall.below)
        assert found.hall.push > found.hall.take


@given(orders)
@settings(max_examples=30)
def test_a_drawing_has_every_token_and_pair_and_upper_tokens_above(order: PartialOrder) -> None:
    drawing = diagram.draw(order)
    assert drawing is not None
    assert {node.label for node in drawing.nodes} == order.compared
    assert len(drawing.lines) == len(order.pairs)
    assert all(line.points[0][1] < line.points[-1][1] for line in drawing.lines)
    assert all(0 < node.x < drawing.width and 0 < node.y < drawing.height for node in drawing.nodes)
    for token in order.compared:
        assert token in drawing.words


def test_a_circle_has_one_line_that_runs_back() -> None:
    drawing = diagram.draw(CYCLE)
    assert drawing is not None
    assert sum(line.back for line in drawing.lines) == 1
    assert {n.label: n.role for n in drawing.nodes} == {
        "a": "confused", "b": "confused", "c": "confused",
        "q": "nonoptimal", "d": "optimal", "d2": "nonoptimal",
    }  # fmt: skip


def test_an_order_too_large_for_a_drawing_has_words_only() -> None:
    order = PartialOrder.of("q", {("a", f"b{x}") for x in range(60)})
    assert diagram.draw(order) is None
    assert "49 more" in diagram.in_words(order)


def test_wide_letters_count_twice() -> None:
    assert diagram.cells("a猫") == 3


# What the browser loads

ALONE = """
import sys
sys.path.insert(0, sys.argv[1])
from ntpplayground import engine as playground
found = playground.check(sys.argv[2])
assert found["view"]["wrong"] == 1, found
assert playground.ask(sys.argv[2], "a q", steps=2)["exit"] == 0
assert playground.turn(sys.argv[2], "a q", steps=2)["exit"] == 0
assert playground.repair(sys.argv[2])["repair"]["kept"] == 8
made = playground.certify(sys.argv[2])
assert made["exit"] == 0, made
open(sys.argv[3], "w").write(made["text"])
assert playground.verify(sys.argv[3]) == {"exit": 0, "implied": made["implied"]}
assert [one["verdict"] for one in found["view"]["claims"][:3]] == ["open"] * 3
assert not {"numpy", "numba", "scipy", "sympy"} & set(sys.modules)
of_the_book = {name for name in sys.modules if name.startswith("ntpbook.")}
assert of_the_book <= {"ntpbook.huang2024.s6_max_margin.orders", "ntpbook.huang2024.s6_max_margin",
                       "ntpbook.huang2024"}, of_the_book
"""


def alone(bundle: Path) -> subprocess.CompletedProcess[str]:
    """Answer with nothing but the bundle and the standard library."""
    five = ROOT / "examples" / "five_tokens.jsonl"
    paths = (str(bundle), str(five), str(bundle.with_name("certificate.json")))
    command = [sys.executable, "-I", "-S", "-c", ALONE, *paths]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_bundle_is_the_same_each_time_and_enough(tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(files.bundle())
    assert files.bundle() == (tmp_path / "all.zip").read_bytes()
    done = alone(tmp_path / "all.zip")
    assert done.returncode == 0, done.stderr


def test_a_bundle_without_one_module_is_noticed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "part.zip", "w") as archive:
        for name, content in files.bundled_files().items():
            if name != "ntpverdicts/layout.py":
                archive.writestr(name, content)
    assert "ntpverdicts.layout" in alone(tmp_path / "part.zip").stderr


def test_bundled_files_of_networkx_are_those_installed() -> None:
    import networkx

    site = Path(networkx.__file__).parent.parent
    replaced = {"networkx/__init__.py", *(f"networkx/{name}/__init__.py" for name in files.EMPTIED)}
    found = files.bundled_files()
    assert "networkx/LICENSE.txt" in found
    for name, content in found.items():
        if name.startswith("networkx/") and name not in replaced and name.endswith(".py"):
            assert content == (site / name).read_bytes()


RESTORE = """
import { readFileSync } from "node:fs";
const { loadPyodide } = await import(process.argv[2] + "/pyodide.mjs");
const memory = new Uint8Array(readFileSync(process.argv[3]));
const python = await loadPyodide({ _loadSnapshot: memory, stdLibURL: process.argv[4] });
python.FS.writeFile("sentences.txt", process.argv[5]);
const code = "from ntpplayground import engine; engine.check('sentences.txt')['json']";
process.stdout.write(python.runPython(code));
"""


def test_the_snapshot_is_the_same_each_time_and_answers_as_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "all.zip").write_bytes(files.bundle())
    (tmp_path / "empty.zip").write_bytes(files.zip_of({}))
    memory = files.take_snapshot(tmp_path / "all.zip")
    assert files.take_snapshot(tmp_path / "all.zip") == memory
    (tmp_path / "memory").write_bytes(memory)
    (tmp_path / "restore.mjs").write_text(RESTORE, encoding="utf-8")
    paths = (tmp_path / "restore.mjs", files.PYODIDE, tmp_path / "memory", tmp_path / "empty.zip")
    told = subprocess.run(
        [find_node(), *map(str, paths), FOUR], capture_output=True, text=True, check=True
    )
    case = Case("text", FOUR)
    assert told.stdout == command(tmp_path, "check", case, "--json").out


def test_a_bundle_that_cannot_answer_makes_no_snapshot(tmp_path: Path) -> None:
    (tmp_path / "part.zip").write_bytes(files.zip_of({"ntpplayground/__init__.py": b""}))
    with pytest.raises(RuntimeError, match=r"snapshot\.mjs made nothing"):
        files.take_snapshot(tmp_path / "part.zip")


def test_without_pyodide_the_build_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PYODIDE", tmp_path / "nowhere")
    with pytest.raises(files.MissingError, match="run make setup"):
        files.write_engine(str(tmp_path / "engine"))
