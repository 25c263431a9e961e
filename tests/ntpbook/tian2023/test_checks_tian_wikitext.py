"""Checks of the experiments on text, on made-up runs; with the real text only if it is named."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from tiny_book import ROOT

from ntpbook.tian2023.s8_wikitext import wikitext as checks
from ntpcore.data import wikitext
from ntpcore.tian2023 import text_order
from ntpcore.tian2023.text_runs import Plan, Run, entropies
from ntpcore.verdicts.claims import Verdict

RECORD = tuple(range(0, 16))
T = 8
WIKITEXT = wikitext.read_corpus("", 50)
REAL = dataclasses.replace(WIKITEXT, real=True)


def mixture(share, place):
    """Attention that gives a share to one key of each row, and the rest to all alike."""
    even = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    one = np.zeros((T, T))
    one[np.arange(T), np.minimum(place, np.arange(T))] = 1
    return (1 - share) * even + share * one


def run(plan, shares, hops=False):
    """A run with these shares at its records; attention hops from key to key if asked to."""
    maps = [
        [mixture(s, 2 * p + (r % 2 if hops else 0)) for p in range(3)] for r, s in enumerate(shares)
    ]
    n = len(shares)
    none = np.zeros(0, dtype=np.float32)
    return Run(plan, {}, none, np.zeros(n), np.array(maps), np.zeros((2, 1, 1)))


def seven(shares, hops=False, only=None):
    """Runs of Figure 7; `only` names positions of runs that rest, whatever the others do."""
    plans = checks.figure_7_plans(9, (1, 2), RECORD, 4)
    rest = 0.9 * (1 - np.exp(-np.arange(16) / 3))
    return [run(p, rest) if only is p.positional else run(p, shares, hops) for p in plans]


SNAP = 0.9 * (1 - np.exp(-np.arange(16) / 3))


def test_tian2023_fig_7_holds_for_attention_that_becomes_sparse_and_rests():
    found = checks.check_tian2023_fig_7(seven(SNAP), REAL)
    assert found.verdict is Verdict.CONSISTENT
    assert found.tried == 8
    assert [r.verdict for r in found.readings] == [Verdict.CONSISTENT] * 4
    assert found.numbers["survived"] == "survived"


@pytest.mark.parametrize(
    ("shares", "hops"),
    [(SNAP[::-1], False), (np.linspace(0, 0.9, 16), False), (SNAP, True), (0 * SNAP, False)],
    ids=["gets dense", "goes on", "hops", "never moves"],
)
def test_tian2023_fig_7_falls_with_any_half_of_it(shares, hops):
    found = checks.judge_fig_7(seven(shares, hops))
    assert found.verdict is Verdict.REFUTED
    assert "layer(s), seed 1" in found.witness
    published = checks.check_tian2023_fig_7(seven(shares, hops), REAL)
    assert published.verdict is Verdict.OPEN  # a small form decides nothing about the figure
    assert "Not seen at this size" in published.evidence


def test_tian2023_fig_7_survives_under_one_reading():
    found = checks.check_tian2023_fig_7(seven(SNAP[::-1], only=True), REAL)
    assert found.verdict is Verdict.CONSISTENT
    by_reading = {r.text[:12]: r.verdict for r in found.readings}
    assert by_reading == {"with positio": Verdict.CONSISTENT, "without posi": Verdict.REFUTED}


def test_tian2023_fig_7_measures_by_hand():
    plan = Plan(9, 1, True, 5.0, 2.0, 1, (0, 1, 2, 3, 4, 5, 6), width=4, hidden=4)
    found = run(plan, (0, 0.2, 0.5, 0.6, 0.7, 0.75, 0.8))
    # Total variation of `mixture` is linear in the share.
    unit = checks.thirds(run(plan, (0, 0, 1, 1, 1, 1, 1)))[0]
    assert checks.thirds(found) == pytest.approx((0.5 * unit, 0.1 * unit))
    assert checks.fine(found) == pytest.approx((0.25 * unit, 0.05 * unit))
    with pytest.raises(ValueError, match="every third"):
        checks.thirds(dataclasses.replace(found, plan=dataclasses.replace(plan, record=(0, 1))))


def test_tian2023_fig_7_control_is_noticed():
    assert checks.control_tian2023_fig_7(seven(SNAP)).noticed
    shown = checks.download_fig_7(seven(SNAP))
    assert len(shown.rows) == 8 * 16
    assert shown.rows[0][:5] == (1, True, 1, 0, f"{entropies(seven(SNAP)[0].attention[0]):.6g}")


def sweep(with_positions, without, spread=0.01, seeds=4):
    """A table from means at the five rates."""
    noise = spread * np.array([-1, -0.3, 0.2, 1.1])[:seeds]
    return {
        (positional, rate): mean + noise
        for positional, means in ((True, with_positions), (False, without))
        for rate, mean in zip(checks.RATES, means, strict=True)
    }


FALLS, RISES = (2.5, 2.4, 2.2, 2.1, 2.0), (2.0, 2.1, 2.2, 2.4, 2.5)


def test_tian2023_fig_10_holds_where_entropy_falls_and_not_where_it_rises():
    found = checks.check_tian2023_fig_10(sweep(FALLS, RISES), REAL)
    assert found.verdict is Verdict.CONSISTENT
    assert [r.verdict.value for r in found.readings] == ["consistent"] * 2 + ["refuted"] * 2
    worse = checks.check_tian2023_fig_10(sweep(RISES, RISES), REAL)
    assert worse.verdict is Verdict.REFUTED
    assert "from rate 1 to 2: mean entropy 2.000 to 2.100" in worse.witness


def test_tian2023_fig_10_is_not_fooled_by_noise():
    rng = np.random.default_rng(2)
    flat = {(p, r): 2 + rng.normal(size=4) for p in (True, False) for r in checks.RATES}
    assert checks.check_tian2023_fig_10(flat, REAL).verdict is Verdict.REFUTED


def test_tian2023_fig_10_does_not_take_an_equal_mean_for_a_fall():
    found = checks.check_tian2023_fig_10(sweep((2.5, 2.4, 2.4, 2.1, 2.0), FALLS), REAL)
    assert (found.numbers["with_steps"], found.numbers["no_steps"]) == ("3 of 4", "4 of 4")
    assert found.readings[0].verdict is Verdict.REFUTED


def test_tian2023_fig_10_trend_by_hand():
    values = np.array([[3.0, 2.0], [2.0, 3.0], [1.0, 1.0]])
    correlation, chance = checks.trend(values)
    assert correlation == pytest.approx((-1 - 0.5) / 2)
    # Of 36 pairs of orders 5 have correlations that sum to -1.5 or less: (-1, -1), (-1, -1/2) ...
    assert chance == pytest.approx(5 / 36, abs=0.012)


def test_tian2023_fig_10_control_is_noticed():
    for table in (sweep(FALLS, FALLS), sweep(RISES, RISES), sweep(FALLS, RISES, spread=0.3)):
        assert checks.control_tian2023_fig_10(table).noticed
    assert checks.show_fig_10(sweep(FALLS, RISES)).rows[0][1] == "2.500 ± 0.009"
    assert len(checks.download_fig_10(sweep(FALLS, RISES)).rows) == 40


def sample_context():
    """Counts of the sample text."""
    text = wikitext.segments(WIKITEXT.train, 20, 35)
    queries = wikitext.frequent_words(WIKITEXT, 15)
    return text_order.count_contexts(text, queries, len(WIKITEXT.vocabulary))


def test_ours_wikitext_order_holds_for_scores_that_follow_it():
    rng = np.random.default_rng(0)
    together, agreement = rng.integers(10, 90, size=(8, 101)), rng.random((8, 101))
    context = text_order.Context(together.astype(float), agreement, np.full(101, 1000.0))
    scores = agreement + together / 90
    found = checks.check_ours_wikitext_order(scores, context, REAL)
    assert found.verdict is Verdict.CONSISTENT
    opposite = checks.check_ours_wikitext_order(-scores, context, REAL)
    assert opposite.verdict is Verdict.REFUTED
    assert "for the opposite 0.001" in opposite.witness


def test_ours_wikitext_order_moves_from_the_first_record_to_the_last_by_hand():
    plans = checks.figure_10_plans(9, (1, 2), 60, 4)
    assert {plan.record for plan in plans} == {(0, 60)}
    assert checks.figure_10_plans(9, (1,), 60, 4, every=25)[0].record == (0, 25, 50, 60)
    first, second = (run(plan, SNAP[:3]) for plan in plans[:2])
    first = dataclasses.replace(first, scores=np.array([[[1.0]], [[2.0]], [[5.0]]]))
    second = dataclasses.replace(second, scores=np.array([[[3.0]], [[9.0]], [[1.0]]]))
    assert checks.moved_scores([first, second]).tolist() == [[1.0]]  # (4 - 2) / 2


def test_ours_wikitext_order_needs_both_halves():
    context = sample_context()
    rng = np.random.default_rng(0)
    noise = rng.normal(size=context.together.shape)
    assert checks.judge_order(noise, context).verdict is Verdict.REFUTED
    half = checks.judge_order(np.nan_to_num(context.agreement) + 0.1 * noise, context)
    assert half.numbers["distinct_p"] == "0.001"


def test_ours_wikitext_order_control_is_noticed():
    context = sample_context()
    scores = np.random.default_rng(0).normal(size=context.together.shape)
    assert checks.control_ours_wikitext_order(scores, context).noticed
    queries = wikitext.frequent_words(WIKITEXT, 15)
    assert checks.show_order(scores, context, WIKITEXT, queries.tolist()).rows[0][0] == "the"


def test_without_wikitext_all_rows_are_open_and_say_why():
    context = sample_context()
    for found in (
        checks.check_tian2023_fig_7(seven(SNAP), WIKITEXT),
        checks.check_tian2023_fig_10(sweep(FALLS, FALLS), WIKITEXT),
        checks.check_ours_wikitext_order(np.zeros(context.together.shape), context, WIKITEXT),
    ):
        assert found.verdict is Verdict.OPEN
        assert "WIKITEXT_DIR" in found.evidence
        assert found.numbers["survived"] == "could not be judged in this build"


def test_what_was_read_is_shown_by_hash_and_not_by_place():
    shown = dict(checks.show_corpus(WIKITEXT).rows)
    assert shown["SHA-256, train"] == WIKITEXT.digests["train"][:16]
    assert not [value for value in shown.values() if "/" in value]


def test_jax_is_loaded_only_where_a_model_is_trained():
    code = (
        "import sys, ntpbook.tian2023.s8_wikitext.wikitext, ntpcore.commands.cli\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.skipif(not os.environ.get("WIKITEXT_DIR"), reason="WIKITEXT_DIR names no folder")
def test_the_real_text_is_read():
    corpus = wikitext.read_corpus(str(ROOT / os.environ["WIKITEXT_DIR"]), 500)
    assert corpus.real
    assert corpus.vocabulary[:2] == ("the", ",")
    assert 0.5 < corpus.covered < 0.8
    assert wikitext.segments(corpus.train, 20, 35).shape[1:] == (20, 36)
