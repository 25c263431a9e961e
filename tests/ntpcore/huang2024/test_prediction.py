"""What the trained transformer says is what the model computes."""

import numpy as np
import pytest
from plain_training import dense

from ntpcore.data import dataset
from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import prediction, problem, stage1, training, transformer


@pytest.fixture(scope="module")
def trained():
    one = problem.from_dataset(dataset.read("examples/example1.txt"))
    return one, training.run(one, 900, 0.025, stage1.gap(4, 900, 0.1))


@pytest.mark.parametrize(
    ("sentence", "next_token"),
    [("SP", "V"), ("OSP", "P"), ("VP", "O"), ("S", "V"), ("SVO", "P"), ("SPPPP", "V")],
)
def test_example_2_and_longer_cases(trained, sentence, next_token):
    answer = prediction.predict(*trained, list(sentence))
    assert answer.likeliest == next_token
    assert answer.probabilities[next_token] > 0.999


def test_two_kinds_of_noncomparable_tokens_tie(trained):
    answer = prediction.predict(*trained, ["S", "V", "P"])
    assert answer.probabilities["V"] == answer.probabilities["O"]
    assert answer.probabilities["V"] == pytest.approx(0.5)
    assert answer.roles == {"S": "non-comparable", "V": "non-comparable", "P": "non-optimal"}


def test_four_periods_win_early_on(trained):
    one, _ = trained
    early = training.run(one, 100, 0.025, stage1.gap(4, 100, 0.1))
    assert prediction.predict(one, early, list("SPPPP")).likeliest == "S"


def test_probabilities_and_attention_are_those_of_the_dense_model(trained):
    one, _ = trained
    short = training.run(one, 40, 0.025, 1.7)
    E, W = np.eye(4), dense(one, short.state.weights)
    W_ov = 1.7 * stage1.W_ov_star(one.following)
    for sentence in (("O", "S", "P"), ("P", "P", "S", "V"), ("V",)):
        X = transformer.embed(sentence, one.vocabulary, E)
        answer = prediction.predict(one, short, sentence)
        assert answer.attention == pytest.approx(transformer.attention(X, W), abs=1e-15)
        expected = transformer.softmax(transformer.logits(X, W_ov, W))
        assert list(answer.probabilities) == list(one.vocabulary)
        assert list(answer.probabilities.values()) == pytest.approx(expected, abs=1e-14)


def test_roles_are_those_under_the_query(trained):
    assert prediction.predict(*trained, list("OSP")).roles == {
        "O": "optimal",
        "S": "non-comparable",
        "P": "non-optimal",
    }
    assert prediction.predict(*trained, list("OS")).roles["S"] == "optimal"


def test_an_unknown_token_and_an_empty_sentence_are_refused(trained):
    with pytest.raises(InputError, match="'X' is not in the vocabulary; its tokens are S V O P"):
        prediction.predict(*trained, ["S", "X"])
    with pytest.raises(InputError, match="sentence is empty"):
        prediction.predict(*trained, [])


def test_a_run_of_other_data_is_refused(trained):
    _, run = trained
    other = problem.from_dataset(dataset.from_sentences(["S V O P", "V O P", "O P", "P S V O"]))
    assert other.vocabulary == ("S", "V", "O", "P")  # so that it would predict, and wrongly
    with pytest.raises(InputError, match="trained on other data than those given"):
        prediction.predict(other, run, ["S", "P"])
