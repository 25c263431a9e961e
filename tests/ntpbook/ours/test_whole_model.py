"""The plain models of the first chapter: as printed, by hand, in sixty digits, planted errors."""

from __future__ import annotations

import ast
import math

import mpmath as mp
import numpy as np
import pytest
from tiny_book import ROOT

from ntpbook.ours.whole_model import checks, moving, plain
from ntpbook.shared import digits
from ntpcore.data.examples import example_1
from ntpcore.data.order import analyse
from ntpcore.exact import margin
from ntpcore.tian2023 import coupled, layer
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from tools.pipeline.source import code_cells

STAR = {q: one.scores for q, one in margin.W_kq_star(analyse(example_1()).orders).items()}


def statements(text: str) -> dict[str, str]:
    """Top-level functions and assignments, as trees without places, types and docstrings."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for one in node.args.args:
                one.annotation = None
            found[node.name] = ast.dump(node)
        elif isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = ast.dump(node)
    return found


def test_the_page_prints_the_programs_that_the_checks_run():
    page = (ROOT / "notebooks/whole_model.md").read_text(encoding="utf-8")
    printed: dict[str, str] = {}
    for cell in code_cells(page):
        printed = statements(cell.source) | printed  # the first of a name counts
    run = statements((ROOT / "ntpbook/ours/whole_model/plain.py").read_text(encoding="utf-8"))
    assert len(run) > 15
    assert {name: printed.get(name) for name in run} == run


# The whole model


def test_ours_whole_model_first_step_by_hand():
    W_ov, W_kq = plain.algorithm_1(1, 1, 12.0, 1.0)
    # a column of the gradient at zero is 1/4 - e_y, of norm sqrt(3)/2, and there are four: sqrt(3)
    assert W_ov[1][1, 0] == pytest.approx(12 * 0.75 / math.sqrt(3))  # S says V
    assert W_ov[1][0, 0] == pytest.approx(-12 * 0.25 / math.sqrt(3))
    assert W_kq[1][plain.words.index("P"), plain.words.index("S")] < 0  # a loser under the query S
    assert np.linalg.norm(W_kq[1]) == pytest.approx(1)


@pytest.mark.parametrize("steps", [1, 40])
def test_ours_whole_model_rounding_stays_below_its_bound_in_sixty_digits(steps: int):
    T = 20
    marks = {m.name: m for m in checks.marks_of_algorithm_1.__wrapped__(T, 40) if m.step <= 40}
    following = [plain.n[x] for x in range(4)]
    E = digits.exact(np.eye(4))
    W_ov = digits.train_ov(following, E, checks.ETA_0, T)
    with mp.workdps(digits.DIGITS):
        apart = float(digits.norm(digits.exact(marks["W_ov"].numbers) - W_ov))
    assert apart < marks["W_ov"].bound
    W_kq = digits.train_kq(example_1(), W_ov, E, checks.ETA, steps)
    plainly = plain.algorithm_1(T, steps, checks.ETA_0, checks.ETA)[1][-1]
    with mp.workdps(digits.DIGITS):
        apart = float(digits.norm(digits.exact(plainly) - W_kq))
    assert apart < marks["W_kq"].bound


def test_ours_whole_model_a_missing_mean_in_the_plain_gradient_is_noticed(monkeypatch):
    def without_mean(W_ov, W_kq):
        total = 0
        for s, y in plain.samples:
            X, a, p = plain.forward(s, W_ov, W_kq)
            total = total + np.outer(X @ (a * (X.T @ W_ov.T @ (p - plain.E[y]))), X[:, -1])
        return total

    monkeypatch.setattr(plain, "gradient_kq", without_mean)
    marks = checks.marks_of_algorithm_1.__wrapped__(100, 3)
    assert checks.check_ours_whole_model.judge(marks).verdict is Verdict.NOT_SEEN


def test_ours_whole_model_a_run_that_is_no_number_is_an_error_and_no_pass():
    mark = checks.Mark("W_ov", 100, np.full((4, 4), np.nan), 1.0)
    with pytest.raises(NotANumberError):
        checks.check_ours_whole_model.judge([mark])


def test_the_answers_to_the_exercises(monkeypatch):
    W_kq = plain.algorithm_1(5, 3, 0.1, 0.025)[1][-1]
    assert (W_kq == 0).sum() == 7
    numbers = {word: place for place, word in enumerate(plain.words)}
    under_V = {word: W_kq[place, numbers["V"]] for word, place in numbers.items()}
    assert under_V["O"] == under_V["P"] == 0 != under_V["S"]
    with np.errstate(invalid="ignore"):
        assert np.isnan(plain.algorithm_1(0, 1, 0.1, 0.025)[1][-1]).all()
    even = np.array([[0.5, 0.25, 0.25, 0, 0, 0, 0], [0.5, 0, 0, 0.25, 0.25, 0, 0]])
    monkeypatch.setattr(plain, "P", even)
    c = plain.layer(*plain.scan_and_snap(50, 1.0, 1.0)[-1])[0][0]
    assert c[1] == pytest.approx(c[2], rel=1e-12)
    assert c[1] > 0.25
    assert c[0] < 0.5


def test_growth_is_the_largest_singular_value():
    A = np.array([[3.0, 0.0], [4.0, 5.0]])  # singular values sqrt(45) and sqrt(5), by hand
    every, first = np.ones(2, dtype=bool), np.array([True, False])
    assert checks.growth(lambda v: A @ v, np.ones(2), every) == pytest.approx(math.sqrt(45))
    assert checks.growth(lambda v: A @ v, np.ones(2), first) == pytest.approx(3)


def test_digits_are_whole_ones():
    assert checks.digits_of(0.002, np.array([1.0])) == 2
    assert checks.digits_of(0.5, np.array([3.0, 4.0])) == 1


# The moving picture


def test_bars_end_at_their_crosses_when_the_matrix_is_the_max_margin_solution():
    W = np.zeros((4, 4))
    for q, scores in STAR.items():
        for x, score in scores.items():
            W[plain.words.index(x), plain.words.index(q)] = 7 * float(score)
    W_ov = plain.algorithm_1(5, 0, 0.1, 0.1)[0][-1]
    entries = [(q, x) for q in STAR for x in STAR[q]]
    view = moving.view(W_ov, W, 1, STAR, entries)
    up, down, goal = view.curves
    ends = dict(zip(up.x, up.y, strict=True)) | dict(zip(down.x, down.y, strict=True))
    assert [ends[x] for x in goal.x] == pytest.approx(list(goal.y))
    assert "angle to the max-margin solution is 0°" in view.says or "·10" in view.says
    assert set(up.y) == {0.5, 2 / 3} or up.y == pytest.approx([0.5, 0.5, 2 / 3, 0.5])


def test_before_the_first_step_no_bar_is_drawn_and_attention_is_uniform():
    W_ov = plain.algorithm_1(5, 0, 0.1, 0.1)[0][-1]
    zero = np.zeros((4, 4))
    moved = moving.turning(W_ov, [zero] * (moving.STEPS[-1] + 1), STAR, start=0)
    up, down, goal = moved.views[0].curves
    assert (moved.dials[0].values[0], moved.dials[0].start) == ("0", 0)
    assert not np.any([*up.y, *down.y])
    assert np.abs(goal.y).min() > 0
    # of the sentence S V O, whose optimal token occurs once
    assert moved.views[0].says.endswith(
        "attention is uniform, and every sentence gives its optimal token at least 33.3 % of its "
        "attention."
    )


def test_bars_miss_their_crosses_when_two_entries_change_places():
    W = np.zeros((4, 4))
    W[plain.words.index("S"), plain.words.index("S")] = -0.5
    W[plain.words.index("P"), plain.words.index("S")] = 0.5
    found, exact = moving.scores(W, {"S": STAR["S"]}, [("S", "S"), ("S", "P")])
    assert found == pytest.approx(-exact)


# The whole layer


def test_ours_whole_layer_slopes_are_lemma_1_summed_over_long_sequences():
    rng = np.random.default_rng(3)
    Y, z = rng.normal(size=(7, 7)), rng.normal(size=7)
    dY, dz = plain.slopes(Y, z)
    contexts = (
        [0] * 5 + [1] * 3 + [2] * 2,
        [0] * 5 + [3] * 3 + [4] * 2,
    )  # the frequencies, exactly
    total_Y, total_z = np.zeros((7, 7)), np.zeros(7)
    for k, context in enumerate(contexts):
        Z = np.zeros((7, 7))
        Z[6] = z
        sample = layer.Sample(tuple(context), 6, k)
        change_Y, change_Z = layer.gradients(sample, Y, Z)
        total_Y, total_z = total_Y + change_Y / 2, total_z + change_Z[6] / 2
    assert dY == pytest.approx(total_Y, abs=1e-14)
    assert dz == pytest.approx(total_z, abs=1e-14)


def test_ours_whole_layer_first_step_by_hand():
    (_, _), (Y, z) = plain.scan_and_snap(1, 1.0, 1.0)
    length = math.sqrt(0.38)  # of (1/2, 3/10, 1/5)
    assert z == pytest.approx(np.zeros(7))  # Y is zero, so nothing pulls
    assert Y[1, 0] == pytest.approx(0.3 / length * (6 / 7) / 2)
    assert Y[0, 0] == pytest.approx(0.5 / length * (6 / 7 - 1 / 7) / 2)


def test_ours_whole_layer_rounding_stays_below_its_bound_in_exact_steps():
    steps = 10
    mark = next(m for m in checks.marks_of_scan_and_snap.__wrapped__(steps) if m.step == steps)
    with mp.workdps(40):
        Y, z = mp.zeros(7, 7), [mp.mpf(0)] * 7
        P = [[mp.mpf(float(p)) for p in row] for row in plain.P]
        for _ in range(steps):
            dY, dz = mp.zeros(7, 7), [mp.mpf(0)] * 7
            for k in range(2):
                c = [p * mp.exp(s) for p, s in zip(P[k], z, strict=True)]
                length = mp.sqrt(mp.fsum(x * x for x in c))
                f = [x / length for x in c]
                logits = [mp.fsum(f[i] * Y[i, j] for i in range(7)) for j in range(7)]
                total = mp.fsum(mp.exp(one) for one in logits)
                error = [mp.mpf(j == k) - mp.exp(logits[j]) / total for j in range(7)]
                g = [mp.fsum(Y[i, j] * error[j] for j in range(7)) for i in range(7)]
                along = mp.fsum(a * b for a, b in zip(f, g, strict=True))
                for i in range(7):
                    dz[i] += f[i] * (g[i] - f[i] * along) / 2
                    for j in range(7):
                        dY[i, j] += f[i] * error[j] / 2
            Y, z = Y + dY, [a + b for a, b in zip(z, dz, strict=True)]
        rows = [[Y[i, j] for j in range(7)] for i in range(7)] + [z]
        apart = mp.sqrt(
            mp.fsum(
                (mp.mpf(float(mark.numbers[i, j])) - rows[i][j]) ** 2
                for i in range(8)
                for j in range(7)
            )
        )
    assert 0 < apart < mark.bound


def test_ours_whole_layer_agrees_with_the_library_on_other_classes():
    data = coupled.Symmetric(2, 7, (0.5,), (0.3, 0.2))
    assert data.classes().probabilities[:, :7] == pytest.approx(plain.P)
