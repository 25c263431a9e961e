"""The front door: `import ntpcore as ntp`, tried as a user of numpy would."""

from __future__ import annotations

import doctest
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import ntpcore as ntp
from ntpcore import front
from ntpcore.data import generate, next_tokens
from ntpcore.data.order import PartialOrder
from ntpcore.exact import columns, margin
from ntpcore.huang2024 import plain

EXAMPLE_1 = ["S V O P", "V O P", "O P P", "P S V"]


def test_importing_loads_nothing_heavy_and_works_without_numpy() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import ntpcore as ntp\n"
        "assert not {'networkx', 'ntpcore.front'} & set(sys.modules)\n"
        "data = ntp.from_sentences(['S V O P', 'V O P', 'O P P', 'P S V'])\n"
        "print(ntp.max_margin(data).norm_squared, ntp.closed_form(1, 2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "13/6 (Fraction(2, 3), Fraction(-1, 3))\n"


def test_every_name_is_there_and_others_are_told() -> None:
    assert all(getattr(ntp, name) is not None for name in ntp.__all__)
    assert dir(ntp) == sorted(ntp.__all__)
    assert ntp.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'solve'; it has Fit, InputError"):
        ntp.solve  # noqa: B018


def test_large_data_get_the_same_columns_by_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    data = generate.experiment(4, prefix_closed=False).data
    plain = ntp.max_margin(data)
    monkeypatch.setattr(columns, "MANY_PAIRS", 0)
    compiled = ntp.max_margin(data)
    assert compiled.columns == plain.columns
    assert compiled.certificate_errors() == []


def test_the_examples_of_the_docstrings_are_right() -> None:
    assert doctest.testmod(front) == doctest.TestResults(failed=0, attempted=6)
    assert doctest.testmod(next_tokens) == doctest.TestResults(failed=0, attempted=2)
    assert doctest.testmod(margin) == doctest.TestResults(failed=0, attempted=1)


def test_the_closed_form_takes_numbers_and_symbols() -> None:
    k, m = sp.symbols("k m", positive=True)
    above, below = ntp.closed_form(k, m)
    assert sp.simplify(above - below) == 1  # the margin
    assert sp.simplify(k * above + m * below) == 0  # stationary under a shift
    assert ntp.closed_form(2, 3) == (Fraction(3, 5), Fraction(-2, 5))
    with pytest.raises(ValueError, match="must be at least 1"):
        ntp.closed_form(0, 3)


def test_data_come_as_text_tokens_integers_and_ids_of_a_tokenizer() -> None:
    text = ntp.from_sentences(["a b a", "b a"])
    assert ntp.from_sentences([["a", "b", "a"], ["b", "a"]]) == text
    names = ["a", "b"]
    numbers = ntp.from_sentences([[0, 1, 0], np.array([1, 0])], vocabulary=names)
    assert numbers == text
    assert ntp.from_sentences([[7, 9], [9, 7]]).vocabulary == ("7", "9")
    samples = ntp.from_samples([("a b", "a", 2), (["b"], "a")])
    assert ntp.from_samples([{"sentence": ["a", "b"], "next": "a", "count": 2},
                             {"sentence": "b", "next": "a"}]) == samples  # fmt: skip


def test_files_come_by_path(tmp_path: Path) -> None:
    file = tmp_path / "data.txt"
    file.write_text("\n".join(EXAMPLE_1), encoding="utf-8")
    assert ntp.read(file).vocabulary == ntp.read(str(file)).vocabulary == ("S", "V", "O", "P")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ntp.from_sentences("a b"), "data: sentences are str; give a list of them"),
        (lambda: ntp.from_sentences([5]), "data:1: a sentence is 5; give a text, or a list"),
        (lambda: ntp.from_sentences([[1.5, 2]]), "the token 1.5 is neither a string nor an int"),
        (lambda: ntp.from_sentences([[True, 2]]), "the token True is neither a string nor an int"),
        (lambda: ntp.from_sentences([["a", ""]]), "a token is the empty string"),
        (lambda: ntp.from_sentences([[0, 2]], vocabulary=["a", "b"]), "outside the vocabulary"),
        (lambda: ntp.from_samples({"sentence": "a"}), "data: samples are dict; give a list"),
        (lambda: ntp.from_samples(["a b"]), "a sample is 'a b'; give (sentence, next token)"),
        (lambda: ntp.from_samples([("a",)]), "a sample has 1 parts"),
        (lambda: ntp.from_samples([{"sentence": "a", "label": "b"}]), "has the keys sentence, lab"),
        (lambda: ntp.from_samples([("a", "b", 0)]), "count is 0; give a positive integer"),
        (lambda: ntp.from_samples([([], "b")]), "a sample's sentence must have a token"),
    ],
)
def test_what_is_no_data_is_refused_by_name(make, message: str) -> None:
    with pytest.raises(ntp.InputError) as told:
        make()
    assert message in str(told.value)


def test_max_margin_is_dense_in_the_order_of_the_vocabulary_and_certified() -> None:
    data = ntp.from_sentences(EXAMPLE_1)
    found = ntp.max_margin(data)
    W = found.to_numpy()
    S, V, O, P = range(4)  # noqa: E741
    assert data.vocabulary == ("S", "V", "O", "P")
    assert W[O, O] == pytest.approx(2 / 3)
    assert W[[S, V], O] == pytest.approx([-1 / 3] * 2)
    assert (W[S, S], W[P, S]) == (0.5, -0.5)
    assert float((W**2).sum()) == pytest.approx(float(found.norm_squared), rel=1e-15)
    assert found.norm == pytest.approx((13 / 6) ** 0.5)
    assert found.support_vectors["O"] == (("O", "S"), ("O", "V"))
    assert found.certificate_errors() == []


def test_orders_with_chains_and_cycles_are_solved() -> None:
    chain = PartialOrder.of("q", [("a", "b"), ("b", "c")])
    circle = PartialOrder.of("r", [("a", "b"), ("b", "a"), ("b", "c")])
    found = ntp.max_margin({"q": chain, "r": circle})
    assert found.columns["q"] == {"a": 1, "b": 0, "c": -1}
    third = Fraction(1, 3)
    assert found.columns["r"] == {"a": third, "b": third, "c": -2 * third}
    assert found.components == {"q": (), "r": (("a", "b"),)}
    assert found.certificate_errors() == []
    # contradicting sentences: under the query 1, 0 and 1 lie above each other
    contradiction = ntp.from_sentences(["0 1 1", "1 0 1 0"])
    assert ntp.max_margin(contradiction).certificate_errors() == []


def test_data_without_a_collocation_say_what_is_missing() -> None:
    data = ntp.from_samples([(["a", "b"], "c")])
    with pytest.raises(ValueError, match=r"not defined for 'a', 'b', 'c', so there are no orders"):
        ntp.max_margin(data)
    given = {"a": "c", "b": "a", "c": "b"}
    assert ntp.max_margin(data, given).columns == {"b": {"a": Fraction(1, 2), "b": -Fraction(1, 2)}}


def test_a_fit_has_weights_at_its_steps_and_predicts() -> None:
    data = ntp.from_sentences(EXAMPLE_1)
    found = ntp.fit(data, steps=400, record=[0, 10, 400])
    assert found.steps.tolist() == [0, 10, 400]
    assert not found.W(0).any()
    last, star = found.W(), ntp.max_margin(data).to_numpy()
    cosine = float((last * star).sum() / np.sqrt((last**2).sum() * (star**2).sum()))
    assert 1 - cosine == pytest.approx(float(found.one_minus_cos[-1]), rel=1e-9)
    assert found.loss[-1] < found.loss[0]
    assert "Assumption 1 holds" in repr(found)
    assert found.run is not None
    assert found.predict("S P", step=0).attention == (0.5, 0.5)
    assert found.predict("S P").likeliest == found.predict(["S", "P"]).likeliest == "V"
    with pytest.raises(ValueError, match=r"step 11 was not recorded; steps holds ..., 0, 10, 400"):
        found.W(11)
    with pytest.raises(ntp.InputError, match="record names no step"):
        ntp.fit(data, steps=5, record=[9])


CONTRARY = ["a b c a", "a c b b", "b a d", "c c a b d", "d a c", "a b d"]


def test_a_fit_on_any_data_is_that_of_the_plain_trainer_and_says_what_does_not_apply() -> None:
    data = ntp.from_sentences(CONTRARY)
    following = ntp.next_tokens(data, {"c": None})
    with pytest.warns(UserWarning, match=r"data: Assumption 1 fails, so Theorems 1, 2, and 3"):
        found = ntp.fit(data, steps=60, record=[0, 7, 60], collocation=following)
    assert found.run is None
    assert "do not apply" in found.scope
    structure = next_tokens.structure_of(data, following)
    for step in (7, 60):
        theirs = plain.train(structure, steps=step, anyway=True)
        assert found.gap == pytest.approx(theirs.gap, rel=1e-12)
        ours = dict(zip(found.entries, found.snapshots[step].tolist(), strict=True))
        assert ours == pytest.approx(dict(theirs.weights), abs=1e-9)
    planted = plain.train(structure, steps=60, eta=0.026, anyway=True)  # for 0.025
    assert ours != pytest.approx(dict(planted.weights), abs=1e-9)


def test_the_loss_of_a_fit_on_any_data_is_the_mean_over_samples_of_what_it_predicts() -> None:
    data = ntp.from_sentences(CONTRARY)
    with pytest.warns(UserWarning, match="Assumption 1 fails"):
        found = ntp.fit(data, steps=20, steps1=5, record=[0, 20], collocation=ntp.next_tokens(data))
    for step, loss in zip((0, 20), found.loss, strict=True):
        parts = [
            -sample.count * np.log(found.predict(sample.sentence, step).probabilities[label])
            for sample in data.samples()
            for label in [sample.next_token]
        ]
        total = sum(sample.count for sample in data.samples())
        assert loss == pytest.approx(sum(parts) / total, rel=1e-12)


def test_a_cycle_ends_in_equal_scores_and_the_direction_of_the_max_margin_solution() -> None:
    data = ntp.read("examples/cycle.jsonl")
    with pytest.warns(UserWarning, match="Assumption 1 fails"):
        found = ntp.fit(data, steps=1000, record=[0, 1000])
    assert np.isnan(found.one_minus_cos[0])
    assert found.one_minus_cos[-1] < 1e-6
    W, names = found.W(), data.vocabulary
    column = {token: W[names.index(token), names.index("?")] for token in names}
    assert column["rock"] == pytest.approx(column["paper"], abs=0.01)
    assert column["rock"] > column["?"]
    assert ntp.max_margin(data).components["?"] == (("paper", "rock", "scissors"),)


def test_data_without_a_next_token_map_are_refused_with_the_way_out() -> None:
    data = ntp.from_sentences(["the cat sat", "the dog sat"])
    for use in (ntp.fit, ntp.max_margin):
        with pytest.raises(
            ntp.InputError, match=r"not defined for 'the', .*ntp\.next_tokens\(data\)"
        ):
            use(data)
    star = ntp.max_margin(data, ntp.next_tokens(data))
    assert star.columns["cat"] == {"cat": Fraction(1, 2), "the": -Fraction(1, 2)}
    flat = ntp.from_sentences(["a b", "a c"])
    with pytest.raises(ntp.InputError, match="no sentence has two distinct tokens"):
        ntp.fit(flat, collocation=ntp.next_tokens(flat))


def test_data_are_keys_by_their_content() -> None:
    once, again = (ntp.from_samples([([1, 2], 3), ([1], 2)]) for _ in range(2))
    other = ntp.from_samples([([1, 2], 3), ([1], 3)])
    assert {once: "right"} == {again: "right"}
    assert hash(once) == hash(again)
    assert len({once, again, other}) == 2
