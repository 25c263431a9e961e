"""What the playground computes, here: as on the command line, told in words, and safe to show."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playground_cases import FILES, MALFORMED, NASTY, PRESETS, Case, command, random_cases

from ntpcore.data import dataset, examples, order
from ntpcore.data.order import PartialOrder
from ntpcore.exact import margin
from ntpcore.exact import repair as repairing
from ntpcore.huang2024 import plain
from ntpplayground import attention_steps, diagram, explain
from ntpplayground import engine as playground
from tools.site import playground as files

ROOT = Path(__file__).resolve().parents[2]
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
def test_the_message_is_that_of_the_command_line(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answer(case, tmp_path, monkeypatch)
    said = command(tmp_path, "check", case, "--json")
    assert said.code == 2
    assert found == {"exit": 2, "message": said.err.removesuffix("\n")}


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
    assert view["collocation"] == [["a", "b"], ["b", "c"], ["c", "a"]]
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
    assumption = view["assumptions"][0]
    # 18 words, and three of them, The, A and I, begin a line
    missing = set(NATURAL.split()) - {"The", "A", "I"}
    first, second = assumption["failures"]
    assert first["message"] == "'The' has more than one next token: 'cat', 'dog'"
    said, listed = second["message"].split(": ")
    assert said.startswith(f"{len(missing)} tokens start no sentence")
    assert set(listed.split(", ")) == missing
    assert assumption["more"] == 0
    assert not [text for text in texts(view) if "ntpcore" in text]


def test_a_model_of_the_part_that_is_kept_is_that_of_the_part_and_its_collocation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sentences.txt").write_text(NATURAL, encoding="utf-8")
    refused = playground.ask("sentences.txt", "The cat sat on the", steps=30)
    assert (refused["exit"], refused["unrealizable"]) == (2, True)
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
    Path("broken.txt").write_text(PRESETS[3].text, encoding="utf-8")
    for path, sentence in (("sentences.txt", "O X"), ("sentences.txt", " "), ("broken.txt", "cat")):
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
                 "2·1 = 2, which is less than m |S| = 3·1 = 3", "hand down 3/5"):  # fmt: skip
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
assert [one["verdict"] for one in found["view"]["claims"][:3]] == ["open"] * 3
assert not {"numpy", "numba", "scipy", "sympy"} & set(sys.modules)
of_the_book = {name for name in sys.modules if name.startswith("ntpbook.")}
assert of_the_book <= {"ntpbook.huang2024.s6_max_margin.orders", "ntpbook.huang2024.s6_max_margin",
                       "ntpbook.huang2024"}, of_the_book
"""


def alone(bundle: Path) -> subprocess.CompletedProcess[str]:
    """Answer with nothing but the bundle and the standard library."""
    five = ROOT / "examples" / "five_tokens.jsonl"
    command = [sys.executable, "-I", "-S", "-c", ALONE, str(bundle), str(five)]
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


def test_without_pyodide_the_build_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PYODIDE", tmp_path / "nowhere")
    with pytest.raises(files.MissingError, match="run make setup"):
        files.write_engine(str(tmp_path / "engine"))
