"""Data of figures that a reader can move: what the page gets, and what it must never get."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ntpbook.huang2024.s5_loss import moving as moves_loss
from ntpbook.huang2024.s6_max_margin import moving as moves_margin
from ntpbook.look import interactive
from ntpbook.look.interactive import Axis, Curve, Dial, Moving, View, moving
from ntpbook.ours.reach import checks, long_runs
from ntpbook.ours.reach import moving as moves_reach
from ntpbook.tian2023.s4_decoder import moving as decoder_moves
from ntpbook.tian2023.s5_fates import moving as moves_fates
from ntpcore.exact.margin import closed_form_scores, solve_scores
from ntpverdicts.tables import DOWNLOAD_MIME
from tools.pipeline.source import code_cells, parse_code

EVIL = '</script><img src=x onerror="alert(1)">&'
X, Y = Axis("steps t", log=True), Axis("loss", low=0)


def lines(label: str = "loss", factor: float = 1.0) -> tuple[Curve, ...]:
    """A measured curve, and a bound that every setting shares."""
    return (
        Curve(label, "optimal", "solid", (1.0, 10.0), (factor, 2 * factor)),
        Curve("bound", "bound", "dashed", (1.0, 10.0), (5.0, 5.0)),
    )


def example(text: str = "seen") -> Moving:
    """Two dials, six settings."""
    dials = (Dial("size", ("1", "2", "3"), start=1), Dial("kind", (text, "other"), slider=False))
    return moving("fig-x", X, Y, dials, lambda a, b: View(lines(text, a + 2 * b + 1), f"{a} {b}"))


def in_page(moved: Moving) -> dict:
    """The data as a browser would find them in the HTML."""
    html = str(moved._repr_mimebundle_()["text/html"])
    found = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])


def test_every_setting_is_in_the_page_and_what_is_shared_stands_there_once() -> None:
    data = in_page(example())
    assert [view["says"] for view in data["views"]] == ["0 0", "0 1", "1 0", "1 1", "2 0", "2 1"]
    drawn = [[data["curves"][place] for place in view["curves"]] for view in data["views"]]
    assert [data["numbers"][curves[0]["y"]][0] for curves in drawn] == [1, 3, 2, 4, 3, 5]
    assert len({view["curves"][1] for view in data["views"]}) == 1
    assert len({curve["x"] for curve in data["curves"]}) == 1
    assert data["x"] == {"label": "steps t", "log": True, "low": 1.0, "high": 10.0}
    assert data["y"]["low"] == 0
    assert data["y"]["high"] == 10.0


def test_the_page_gets_the_roles_and_lines_of_the_style() -> None:
    data = in_page(example())
    assert {(c["role"], c["line"]) for c in data["curves"]} == {
        ("optimal", "solid"),
        ("bound", "dashed"),
    }
    for role, line in (("blue", "solid"), ("optimal", "wavy"), ("bound", "solid")):
        with pytest.raises(ValueError, match="a curve"):
            Curve("a curve", role, line, (1.0,), (1.0,))


def test_nothing_in_the_data_can_end_its_element() -> None:
    html = str(example(EVIL)._repr_mimebundle_()["text/html"])
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert in_page(example(EVIL))["dials"][1]["values"][0] == EVIL


def test_an_embedding_that_escapes_nothing_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interactive, "embedded", json.dumps)
    assert "<img" in str(example(EVIL)._repr_mimebundle_()["text/html"])


def test_numbers_have_five_digits_and_what_is_not_finite_is_left_out() -> None:
    assert interactive.rounded(math.pi * 1e-20) == 3.1416e-20
    assert interactive.rounded(math.nan) is None
    assert interactive.rounded(math.inf) is None
    gap = Curve("gap", "optimal", "points", np.arange(3.0), np.array([1.0, math.nan, 2.0]))
    moved = moving(
        "fig-x", Axis("x"), Axis("y"), (Dial("d", ("a", "b")),), lambda _: View((gap,), "")
    )
    assert [1.0, None, 2.0] in in_page(moved)["numbers"]


def test_the_file_holds_every_point_of_every_setting() -> None:
    moved = example()
    file = moved._repr_mimebundle_()[DOWNLOAD_MIME]
    rows = list(csv.DictReader(io.StringIO(file["text"])))
    assert file["name"] == "fig-x.csv"
    assert len(rows) == 6 * 4
    assert rows[-4] == {
        "size": "3",
        "kind": "other",
        "curve": "seen",
        "steps t": "1.0",
        "loss": "5.0",
    }


def test_the_controls_are_hidden_disabled_and_named() -> None:
    html = str(example()._repr_mimebundle_()["text/html"])
    assert 'style="display:none"' in html
    assert "<fieldset disabled>" in html
    assert '<label for="fig-x-dial-0">size</label> <input id="fig-x-dial-0" type="range"' in html
    assert 'max="2" step="1" value="1" aria-valuetext="2"' in html
    assert '<output for="fig-x-dial-0 fig-x-dial-1" aria-live="polite">' in html


def test_faulty_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="different values"):
        Dial("size", ("1", "1"))
    with pytest.raises(ValueError, match="no value number 2"):
        Dial("size", ("1", "2"), start=2)
    with pytest.raises(ValueError, match="1 places and 2 values"):
        Curve("c", "optimal", "solid", (1.0,), (1.0, 2.0))
    one = Dial("size", ("1", "2"))
    with pytest.raises(ValueError, match="1 views for 2 settings"):
        Moving("fig-x", X, Y, (one,), (View(lines(), ""),))
    with pytest.raises(ValueError, match="3 dials"):
        moving("fig-x", X, Y, (one, one, one), lambda *_: View(lines(), ""))
    with pytest.raises(ValueError, match="no axis goes from 0 to"):
        moving("fig-x", Axis("t", log=True, low=0), Y, (one,), lambda _: View(lines(), ""))
    long = np.random.default_rng(0).random(9000)
    big = Curve("c", "optimal", "solid", long, long)
    with pytest.raises(ValueError, match="more than 60000; take fewer points"):
        moving("fig-x", X, Y, (one,), lambda _: View((big,), ""))


def test_steps_are_thinned_evenly_and_keep_their_ends() -> None:
    steps = np.arange(1, 1001)
    kept = steps[interactive.thinned(steps, 4)]
    assert kept.tolist() == [1, 10, 100, 1000]


# The figures themselves


def test_the_moved_five_token_order_is_the_one_of_the_page() -> None:
    view = moves_margin.view(2, 3)
    assert view.says.endswith(
        "squared norm 6/5; the optimum has the squared norm 7/6. "
        "The closed form is not the optimum."
    )
    assert "At the optimum a scores 7/6 more than q." in view.says
    left, right = view.curves[:3], view.curves[3:]
    assert [curve.line for curve in left] == ["tight", "points", "points"]
    assert [curve.line for curve in right] == ["tight", "slack", "points", "points"]
    assert [(curve.names, curve.notes) for curve in right[2:]] == [
        (("a", "b"), ("2/3", "1/2")),
        (("c", "d", "q"), ("−1/3", "−1/3", "−1/2")),
    ]
    assert [curve.y for curve in right[2:]] == [[2 / 3, 1 / 2], [-1 / 3, -1 / 3, -1 / 2]]


def test_a_moved_order_has_all_its_pairs_and_each_is_tight_or_slack_as_it_is() -> None:
    for k, m in ((1, 1), (2, 3), (3, 2), (6, 6)):
        order = moves_margin.shared_order(k, m)
        for panel, scores in enumerate((closed_form_scores(order), solve_scores(order))):
            curves = [c for c in moves_margin.view(k, m).curves if round(c.x[0]) == panel]
            spots = {
                (x, y): token
                for c in curves
                for x, y, token in zip(c.x, c.y, c.names or [""] * len(c.x), strict=True)
                if c.line == "points"
            }
            found = {
                (spots[ends[0]], spots[ends[1]]): c.line
                for c in curves
                if c.line in interactive.PAIRS
                for at in range(0, len(c.x), 3)
                for ends in [list(zip(c.x[at : at + 2], c.y[at : at + 2], strict=True))]
            }
            assert found == {
                (a, b): "tight" if scores[a] - scores[b] == 1 else "slack" for a, b in order.pairs
            }


def test_words_on_signs_belong_to_points() -> None:
    with pytest.raises(ValueError, match="are not words for 2 points"):
        Curve("c", "optimal", "points", (1.0, 2.0), (1.0, 2.0), names=("a",))
    with pytest.raises(ValueError, match="are not words for 1 points"):
        Curve("c", "optimal", "solid", (1.0,), (1.0,), notes=("a",))


def test_the_sentence_on_the_closed_form_is_right_for_every_size() -> None:
    for k in range(1, 5):
        for m in range(1, 5):
            order = moves_margin.shared_order(k, m)
            right = closed_form_scores(order) == solve_scores(order)
            says = moves_margin.view(k, m).says
            assert right == ("The closed form is the optimum." in says), (k, m)


def test_the_late_flow_is_right_at_the_largest_and_the_smallest_step_size() -> None:
    name, problem = moves_reach.problems(7)[1]
    for factor in (moves_reach.FACTORS[0], moves_reach.FACTORS[-1]):
        one = moves_reach.long_run(name, problem, factor)
        assert max(long_runs.offset_error(one), long_runs.hand_over(one)) <= checks.TOLERANCE


def test_what_equation_4_allows_is_said_as_it_is_drawn() -> None:
    silent, speaks = (moves_loss.view(moves_loss.trained(7, T)) for T in (900, 30_000))
    assert silent.says.endswith("stays above the loss of a uniform guess.")
    step = float(re.search(r"about step (\d+) on", speaks.says).group(1))
    bound, blind = speaks.curves[1], speaks.curves[2].y[0]
    assert bound.y[np.searchsorted(bound.x, 0.9 * step) - 1] >= blind
    assert bound.y[np.searchsorted(bound.x, 1.1 * step)] < blind


def test_the_recursion_runs_ahead_by_what_the_sentence_says() -> None:
    view = decoder_moves.view(50, 1.0)
    behind = float(re.search(r", ([\d.]+) updates behind", view.says).group(1))
    steps, curve, _ = view.curves
    slope = (curve.y[-1] - curve.y[-2]) / 2
    assert (steps.y[-1] - curve.y[-1]) / slope == pytest.approx(behind, rel=0.1)


def test_a_figure_plays_where_a_dial_is_time() -> None:
    dial = Dial("steps t", ("1", "2", "3"), plays=True)
    still = moving("fig-a", X, Y, (replace(dial, plays=False),), lambda at: View(lines(), str(at)))
    timed = moving("fig-a", X, Y, (dial,), lambda at: View(lines(), str(at)))
    html = [one._repr_mimebundle_()["text/html"] for one in (still, timed)]
    assert ["ntp-play" in one for one in html] == [False, True]
    assert 'data-plays="fig-a-dial-0"' in html[1]


def test_attention_of_the_moved_example_begins_as_it_is_drawn() -> None:
    path = moves_fates.view(0.5, 0.7)
    total = sum(curve.y[0] for curve in path.curves)
    assert total == pytest.approx(1, abs=1e-12)


def test_every_moving_figure_belongs_to_a_printed_one_with_an_alternative_text() -> None:
    root = Path(__file__).resolve().parents[3]
    used = set()
    for path in (root / "notebooks").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        trees = [tree for cell in code_cells(text) if (tree := parse_code(cell)) is not None]
        folders = {
            name.asname or name.name: str(node.module).replace(".", "/")
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        for module in re.findall(r"^(moving|moves_\w+)\.\w+\(", text, re.MULTILINE):
            file = root / folders[module] / "moving.py"
            name = re.search(r'"(fig-[\w-]+)",', file.read_text(encoding="utf-8")).group(1)
            above = text[: text.index(f"\n{module}.")].rsplit("mystnb:", 1)[1]
            assert f"name: {name}\n" in above, (path, name)
            assert "alt: >-" in above
            used.add(file)
    assert used == set((root / "ntpbook").rglob("moving.py"))
