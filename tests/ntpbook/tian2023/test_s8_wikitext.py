"""The experiments on text, on made-up runs; on the real text only if it is named."""

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from every_check import assert_sound
from tiny_book import ROOT

from ntpbook.tian2023.s8_wikitext import checks, experiment, tables, text_order, wikitext
from ntpbook.tian2023.s8_wikitext.text_runs import Plan, entropies
from ntpverdicts.claims import Verdict
from ntpverdicts.compare import NotANumberError
from ntpverdicts.document import without_data

SAMPLE = wikitext.read_corpus("", 50)
SNAP = 0.9 * (1 - np.exp(-np.arange(16) / 3))
NAMES = ("tian2023_fig_7", "tian2023_fig_10", "ours_wikitext_order")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, request):
    """The real text is read by the one test that asks for it."""
    if "real" not in request.node.name:
        monkeypatch.delenv(experiment.FOLDER, raising=False)


def seven(shares, real=True, width=4, hops=False, only=None):
    """Models of Figure 7 with two seeds; `only` names positions of models that rest anyway."""
    plans = experiment.figure_7_plans(9, (1, 2), tuple(range(16)), width)
    runs = [
        experiment.made_up_run(plan, SNAP if only is plan.positional else shares) for plan in plans
    ]
    if hops:
        runs = [run if only is run.plan.positional else hopping(run) for run in runs]
    return experiment.models_of(runs, real)


def hopping(run):
    """The run with its held-out pieces exchanged at every other record."""
    attention = run.attention.copy()
    attention[1::2] = np.roll(attention[1::2], 1, axis=1)
    return dataclasses.replace(run, attention=attention)


def everything(name, real):
    """Instances of a check that show what it asks for."""
    if name == "tian2023_fig_7":
        return seven(SNAP, real)
    sweeps, order = experiment.made_up_sweeps, experiment.made_up_order
    made = sweeps() if name == "tian2023_fig_10" else order()
    return [dataclasses.replace(one, real=real) for one in made]


@pytest.mark.parametrize("name", NAMES)
def test_without_wikitext_all_is_undecided_and_says_why(name):
    judge = getattr(checks, f"check_{name}").judge
    assert judge(everything(name, real=True)).verdict is Verdict.SEEN
    found = judge(everything(name, real=False))
    assert (found.verdict, found.tried) == (Verdict.UNDECIDED, 0)
    assert "WIKITEXT_DIR" in found.evidence
    row = {"label": name, "verdict": found.verdict.value, "evidence": found.evidence}
    assert without_data({"claims": [row]}) == {name}
    assert {one.verdict for one in found.readings} <= {Verdict.UNDECIDED}
    assert found.numbers  # of the sample text, for the page


@pytest.mark.parametrize("name", NAMES)
def test_planted_errors_are_noticed_and_what_holds_is_seen(name):
    check = getattr(checks, f"check_{name}")
    expected = [one.expected for one in check.planted.values()]
    assert expected == [Verdict.SEEN, Verdict.NOT_SEEN, Verdict.NOT_SEEN]
    order = dataclasses.replace(sample_order(), real=False)
    made = {"ours_wikitext_order": [order]}.get(name, everything(name, False))
    # not the text itself: nothing is decided, and every planted error is judged as expected
    assert_sound(dataclasses.replace(check, instances=lambda **_: made), Verdict.UNDECIDED)


def test_a_place_on_the_reader_s_machine_is_no_parameter_of_a_check():
    for name in NAMES:
        defaults = getattr(checks, f"check_{name}").defaults
        assert defaults == {"vocabulary": 500, "width": 32, "seeds": 3}


# Figure 7


@pytest.mark.parametrize(
    ("shares", "hops"),
    [(SNAP[::-1], False), (np.linspace(0, 0.9, 16), False), (SNAP, True), (0 * SNAP, False)],
    ids=["gets dense", "goes on", "hops", "never moves"],
)
def test_tian2023_fig_7_falls_with_any_half_of_it(shares, hops):
    """A small form decides nothing about the figure; one of the authors' size does."""
    small = checks.check_tian2023_fig_7.judge(seven(shares, hops=hops))
    assert small.verdict is Verdict.UNDECIDED
    assert "does not decide it at the authors'" in small.evidence
    found = checks.check_tian2023_fig_7.judge(seven(shares, hops=hops), as_if=True)
    assert found.verdict is Verdict.NOT_SEEN
    assert found.witness.startswith("1 layer with positions, seed 1")


def test_tian2023_fig_7_is_decided_at_the_authors_size():
    plans = experiment.figure_7_plans(9, (1,), (0, 500, 1000, 1500), 200)
    for shares, verdict in (
        ((0, 0.8, 0.85, 0.9), Verdict.SEEN),
        ((0, 0.3, 0.6, 0.9), Verdict.NOT_SEEN),
    ):
        runs = [experiment.made_up_run(plan, shares) for plan in plans]
        twice = experiment.models_of([*runs, *runs], real=True)
        assert all(model.full for model in twice)
        assert checks.check_tian2023_fig_7.judge(twice).verdict is verdict
    assert not any(model.full for model in seven(SNAP))


def test_tian2023_fig_7_survives_under_one_kind_of_reading():
    found = checks.check_tian2023_fig_7.judge(seven(SNAP[::-1], only=True))
    assert found.verdict is Verdict.SEEN
    by_reading = {one.text[:12]: one.verdict for one in found.readings}
    assert by_reading == {"with positio": Verdict.SEEN, "without posi": Verdict.UNDECIDED}


def test_tian2023_fig_7_measures_by_hand():
    plan = Plan(9, 1, True, 5.0, 2.0, 1, (0, 1, 2, 3, 4, 5, 6), width=4, hidden=4)
    found = experiment.made_up_run(plan, (0, 0.2, 0.5, 0.6, 0.7, 0.75, 0.8))
    # Total variation of `mixture` is linear in the share.
    unit = experiment.thirds(experiment.made_up_run(plan, (0, 0, 1, 1, 1, 1, 1)))[0]
    assert experiment.thirds(found) == pytest.approx((0.5 * unit, 0.1 * unit), rel=1e-5)
    assert experiment.fine(found) == pytest.approx((0.25 * unit, 0.05 * unit), rel=1e-5)
    with pytest.raises(ValueError, match="every third"):
        experiment.thirds(dataclasses.replace(found, plan=dataclasses.replace(plan, record=(0, 1))))


def test_tian2023_fig_7_numbers_are_means_over_seeds():
    models = seven(SNAP)
    found = checks.check_tian2023_fig_7.judge(models)
    ends = [entropies(run.attention[-1]) for run in models[0].runs]
    assert models[0].key == "with_1"
    assert found.numbers["with_1_end"].value == pytest.approx(np.mean(ends))
    assert found.numbers["with_1_end_spread"].value == pytest.approx(np.std(ends, ddof=1))
    counts = {name: found.numbers[name].value for name in ("runs", "sparser", "seeds", "updates")}
    assert counts == {"runs": 8, "sparser": 8, "seeds": 2, "updates": 15}


def test_tian2023_fig_7_with_a_number_that_is_none_is_an_error():
    model = seven(SNAP)[0]
    spoilt = dataclasses.replace(
        model.runs[0], attention=np.full_like(model.runs[0].attention, np.nan)
    )
    with pytest.raises(NotANumberError):
        checks.check_tian2023_fig_7.judge(
            [dataclasses.replace(model, runs=(spoilt, *model.runs[1:]))]
        )


def test_tian2023_fig_7_file_stands_under_the_figure_s_number_for_wikitext_only():
    runs = [run for model in seven(SNAP) for run in model.runs]
    shown = tables.file_of_runs(runs, SAMPLE)
    assert shown.name == "sample-text-attention.csv"
    assert len(shown.rows) == 8 * 16
    first = (SAMPLE.source, 1, True, 1, 0, f"{entropies(runs[0].attention[0]):.6g}")
    assert shown.rows[0][:6] == first
    real = dataclasses.replace(SAMPLE, real=True, source="WikiText")
    named = tables.file_of_runs(runs, real)
    assert (named.name, named.rows[0][0]) == ("tian2023-fig-7.csv", "WikiText")


# Figure 10

FALLS, RISES = (2.5, 2.4, 2.2, 2.1, 2.0), (2.0, 2.1, 2.2, 2.4, 2.5)


def two_sweeps(with_positions, without):
    """Sweeps on WikiText around these means."""
    made = (experiment.made_up_sweeps(with_positions)[0], experiment.made_up_sweeps(without)[1])
    return [dataclasses.replace(one, real=True) for one in made]


def test_tian2023_fig_10_holds_where_entropy_falls_and_not_where_it_rises():
    found = checks.check_tian2023_fig_10.judge(two_sweeps(FALLS, RISES))
    assert found.verdict is Verdict.SEEN
    verdicts = [one.verdict for one in found.readings]
    assert verdicts == [Verdict.SEEN] + [Verdict.NOT_SEEN] * 2
    worse = checks.check_tian2023_fig_10.judge(two_sweeps(RISES, RISES))
    assert worse.verdict is Verdict.NOT_SEEN
    assert worse.witness.startswith("with positions, rank correlation ")
    by_steps = checks.check_tian2023_fig_10.judge(two_sweeps(RISES, RISES), steps=True)
    assert "from rate 1 to 2: mean entropy 2.000 to 2.100" in by_steps.witness


def test_tian2023_fig_10_is_not_fooled_by_noise():
    rng = np.random.default_rng(2)
    flat = [
        experiment.Sweep(positional, experiment.RATES, 2 + rng.normal(size=(5, 4)), True)
        for positional in (True, False)
    ]
    assert checks.check_tian2023_fig_10.judge(flat).verdict is Verdict.NOT_SEEN


def test_tian2023_fig_10_does_not_take_an_equal_mean_for_a_fall():
    found = checks.check_tian2023_fig_10.judge(two_sweeps((2.5, 2.4, 2.4, 2.1, 2.0), FALLS))
    counts = [found.numbers[name].value for name in ("with_steps", "no_steps", "steps")]
    assert counts == [3, 4, 4]
    assert found.readings[0].verdict is Verdict.NOT_SEEN


def test_tian2023_fig_10_trend_by_hand():
    values = np.array([[3.0, 2.0], [2.0, 3.0], [1.0, 1.0]])
    correlation, chance = experiment.trend(values)
    assert correlation == pytest.approx((-1 - 0.5) / 2)
    # Of 36 pairs of orders 5 have correlations that sum to -1.5 or less: (-1, -1), (-1, -1/2) ...
    assert chance == pytest.approx(5 / 36, abs=0.012)


def test_tian2023_fig_10_sweeps_are_entropies_at_the_end_by_rate_and_seed():
    plans = experiment.figure_10_plans(9, (1, 2), 60, 4)
    shares = {plan: 0.1 * plan.rate + 0.01 * plan.seed for plan in plans}
    runs = [experiment.made_up_run(plan, (0.0, share)) for plan, share in shares.items()]
    with_positions, without = experiment.sweeps_of(runs, real=True)
    assert (with_positions.positional, without.positional) == (True, False)
    assert with_positions.rates == experiment.RATES
    assert with_positions.entropy.shape == (5, 2)
    one = experiment.made_up_run(plans[0], (0.0, 0.1 * 3 + 0.02))
    assert with_positions.entropy[2, 1] == pytest.approx(float(entropies(one.attention[-1])))


def test_tian2023_fig_10_table_and_file():
    made = two_sweeps(FALLS, RISES)
    assert tables.table_of_sweeps(made).rows[0][1] == "2.500 ± 0.009"
    shown = tables.file_of_sweeps(made, SAMPLE)
    assert (shown.name, len(shown.rows)) == ("sample-text-entropy.csv", 40)
    real = dataclasses.replace(SAMPLE, real=True)
    assert tables.file_of_sweeps(made, real).name == "tian2023-fig-10.csv"


# The order


def sample_order(scores=None):
    """The counts of the sample text with some scores."""
    text = wikitext.segments(SAMPLE.train, 20, 35)
    queries = wikitext.frequent_words(SAMPLE, 15)
    context = text_order.count_contexts(text, queries, len(SAMPLE.vocabulary))
    if scores is None:
        scores = np.random.default_rng(0).normal(size=context.together.shape)
    return experiment.Order("sample", scores, context, True)


def test_ours_wikitext_order_says_where_the_opposite_holds():
    opposite = checks.check_ours_wikitext_order.judge(experiment.opposite_order(), as_if=True)
    assert opposite.verdict is Verdict.NOT_SEEN
    assert "for the opposite 0.001" in opposite.witness


def test_ours_wikitext_order_moves_from_the_first_record_to_the_last_by_hand():
    plans = experiment.figure_10_plans(9, (1, 2), 60, 4)
    assert {plan.record for plan in plans} == {(0, 60)}
    assert experiment.figure_10_plans(9, (1,), 60, 4, every=25)[0].record == (0, 25, 50, 60)
    first, second = (experiment.made_up_run(plan, SNAP[:3]) for plan in plans[:2])
    first = dataclasses.replace(first, scores=np.array([[[1.0]], [[2.0]], [[5.0]]]))
    second = dataclasses.replace(second, scores=np.array([[[3.0]], [[9.0]], [[1.0]]]))
    assert experiment.moved_scores([first, second]).tolist() == [[1.0]]  # (4 - 2) / 2


def test_ours_wikitext_order_needs_both_halves():
    noise = sample_order()
    assert checks.check_ours_wikitext_order.judge([noise]).verdict is Verdict.NOT_SEEN
    half = sample_order(np.nan_to_num(noise.context.agreement) + 0.1 * noise.scores)
    found = checks.check_ours_wikitext_order.judge([half])
    assert found.numbers["distinct_p"].value == pytest.approx(0.001)
    assert found.verdict is Verdict.NOT_SEEN


def test_ours_wikitext_order_frequency_is_no_explanation():
    order = sample_order()
    assert len(np.unique(checks.by_frequency(order), axis=0)) == 1  # alike for all queries
    source = experiment.source(50)
    shown = tables.table_of_keys(order, source)
    assert shown.rows[0][0] == "the"


# The text


def test_what_was_read_is_shown_by_hash_and_not_by_place():
    shown = dict(tables.table_of_text(SAMPLE).rows)
    assert shown["SHA-256, train"] == SAMPLE.digests["train"][:16]
    assert not [value for value in shown.values() if "/" in value]


def test_the_text_comes_from_the_folder_that_is_named(tmp_path, monkeypatch):
    assert not experiment.source(50).corpus.real
    for name in ("valid.txt", "test.txt"):
        (tmp_path / name).write_text("the cat sat on a mat . " * 400 + "\n", encoding="utf-8")
    monkeypatch.setenv(experiment.FOLDER, str(tmp_path))
    found = experiment.source(50)
    assert found.corpus.real
    assert found.text.segments.shape[1:] == (20, 36)


def test_jax_is_loaded_only_where_a_model_is_trained():
    code = (
        "import sys, ntpbook.tian2023.s8_wikitext.checks, ntpcli.cli\n"
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
