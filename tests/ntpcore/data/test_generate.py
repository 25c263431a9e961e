"""Random data are what they claim to be."""

import numpy as np
import pytest

from ntpcore.data import generate, order


@pytest.mark.parametrize("prefix_closed", [True, False])
@pytest.mark.parametrize("frequent", [True, False])
def test_random_data_are_realizable(prefix_closed, frequent):
    failing = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        data = generate.random_dataset(
            rng, 2 + seed % 12, 40, 2 + seed % 7, prefix_closed=prefix_closed, frequent=frequent
        )
        structure = order.analyse(data)
        assert structure.realizable.holds is True
        assert data.prefix_closed or not prefix_closed
        failing += structure.frequent.holds is False
    assert (failing == 0) is frequent


def test_data_without_prefix_closure_reach_several_optimal_tokens():
    most = 0
    for seed in range(10):
        data = generate.random_dataset(np.random.default_rng(seed), 8, 60, 5, prefix_closed=False)
        most = max(most, *(len(one.optimal) for one in order.analyse(data).orders.values()))
    assert most >= 3


def test_prefix_closed_data_have_one_sentence_for_each_start_and_length():
    drawn = generate.random_dataset(np.random.default_rng(1), 9, 3000, 7)
    sentences = [sample.sentence for sample in drawn.samples()]
    assert len({(sentence[0], len(sentence)) for sentence in sentences}) == len(sentences) <= 9 * 7
    open_ = generate.random_dataset(np.random.default_rng(1), 9, 3000, 7, prefix_closed=False)
    assert len(list(open_.samples())) > 9 * 7


def test_the_same_seed_gives_the_same_data():
    first, second = (generate.random_dataset(np.random.default_rng(5), 6, 20, 4) for _ in range(2))
    assert list(first.samples()) == list(second.samples())


def test_random_orders_leave_no_token_alone():
    for seed in range(50):
        one = generate.random_order(np.random.default_rng(seed), 6, 6, density=0.1)
        assert not one.confused
        assert one.optimal
        assert one.nonoptimal


@pytest.mark.parametrize("sizes", [(1, 3, 3), (3, 0, 3), (3, 3, 1)])
def test_sizes_that_are_too_small_are_refused(sizes):
    with pytest.raises(ValueError, match="give vocab_size"):
        generate.random_dataset(np.random.default_rng(0), *sizes)


@pytest.mark.parametrize("prefix_closed", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_the_experiment_is_that_of_the_paper(seed, prefix_closed):
    setting = generate.experiment(seed, prefix_closed=prefix_closed)
    structure = order.analyse(setting.data)
    assert len(setting.data.vocabulary) == 20
    assert structure.realizable.holds is True
    assert structure.frequent.holds is True
    assert setting.data.prefix_closed or not prefix_closed
    assert setting.eta0 == pytest.approx(0.2 / 20**0.5)
    assert setting.eta == pytest.approx(0.05 / 20**0.5)
    assert (setting.steps1, setting.steps2) == (900, 900)
    assert setting.data.sample_count > 40
    again = generate.experiment(seed, prefix_closed=prefix_closed)
    assert list(again.data.samples()) == list(setting.data.samples())
    assert list(generate.experiment(seed + 5).data.samples()) != list(setting.data.samples())
