"""The transformer on text, its measures, and the permutation test."""

import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ntpbook.tian2023.s8_wikitext import text_model, text_order, text_runs
from ntpbook.tian2023.s8_wikitext.text_runs import Plan, Text

PLAN = Plan(7, 2, True, 0.5, 2.0, 3, (0, 2, 4, 6), width=4, hidden=6)


def tiny_text(seed=0):
    """Random tokens."""
    rng = np.random.default_rng(seed)
    return Text(
        rng.integers(7, size=(3, 2, 6)).astype(np.int32),
        rng.integers(7, size=(2, 6)).astype(np.int32),
        np.array([0, 3], dtype=np.int32),
    )


def softmax(x):
    """Along the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def plainly(p, tokens, plan):
    """Logits and first attention of one sequence, position by position, in plain numpy."""
    d = plan.width

    def norm(x, name):
        return (x - x.mean()) / np.sqrt(x.var() + 1e-5) * p[f"{name}.w"] + p[f"{name}.b"]

    xs = []
    for place, token in enumerate(tokens):
        x = p["embedding"][token].astype(float) * np.sqrt(d)
        for j in range(d if plan.positional else 0):
            angle = place / 10000 ** ((j - j % 2) / d)
            x[j] += np.cos(angle) if j % 2 else np.sin(angle)
        xs.append(x)
    first = None
    for i in range(plan.layers):
        w, b = p[f"{i}.in.w"], p[f"{i}.in.b"]
        q, k, v = ([x @ w[:, s] + b[s] for x in xs] for s in np.split(np.arange(3 * d), 3))
        rows = [
            softmax(np.array([a @ k[j] for j in range(n + 1)]) / d**0.5) for n, a in enumerate(q)
        ]
        first = first or rows
        new = []
        for x, row in zip(xs, rows, strict=True):
            mixed = sum(share * value for share, value in zip(row, v, strict=False))
            x = norm(x + mixed @ p[f"{i}.out.w"] + p[f"{i}.out.b"], f"{i}.norm1")
            inner = np.maximum(x @ p[f"{i}.up.w"] + p[f"{i}.up.b"], 0)
            new.append(norm(x + inner @ p[f"{i}.down.w"] + p[f"{i}.down.b"], f"{i}.norm2"))
        xs = new
    return np.array([x @ p["decoder.w"] + p["decoder.b"] for x in xs]), first


@pytest.mark.parametrize("positional", [True, False])
def test_the_forward_pass_is_that_of_the_equations(positional):
    plan = replace(PLAN, positional=positional)
    rng = np.random.default_rng(1)
    p = {k: v + 0.1 * rng.normal(size=v.shape) for k, v in text_model.start_of(plan).items()}
    p = {k: v.astype(np.float32) for k, v in p.items()}
    tokens = tiny_text().segments[0, :, :-1]
    logits, attention = text_model.forward(p, jnp.asarray(tokens), plan, float(positional))
    for b in range(2):
        own, rows = plainly(p, tokens[b], plan)
        np.testing.assert_allclose(logits[b], own, atol=2e-5)  # single precision
        for i, row in enumerate(rows):
            np.testing.assert_allclose(attention[b, i, : i + 1], row, atol=1e-6)
            assert not np.any(attention[b, i, i + 1 :])


def test_a_position_does_not_see_what_follows():
    p = text_model.start_of(PLAN)
    tokens = tiny_text().segments[0, :, :-1]
    other = tokens.copy()
    other[:, 3:] = (other[:, 3:] + 1) % 7
    one, two = (text_model.forward(p, jnp.asarray(t), PLAN, 1.0)[0] for t in (tokens, other))
    np.testing.assert_array_equal(one[:, :3], two[:, :3])
    assert not np.allclose(one[:, 3:], two[:, 3:])


def test_the_loss_is_the_mean_of_the_negative_log_probabilities():
    p = text_model.start_of(PLAN)
    tokens = tiny_text().segments[0]
    logits, _ = text_model.forward(p, jnp.asarray(tokens[:, :-1]), PLAN, 1.0)
    chances = softmax(np.asarray(logits, dtype=float))
    own = [-np.log(chances[b, t, tokens[b, t + 1]]) for b in range(2) for t in range(5)]
    got = text_model.loss_of(p, jnp.asarray(tokens), PLAN, 1.0)
    assert float(got) == pytest.approx(np.mean(own), rel=1e-5)


def test_the_gradient_is_the_slope_of_the_loss():
    p = {k: jnp.asarray(v) for k, v in text_model.start_of(PLAN).items()}
    tokens = jnp.asarray(tiny_text().segments[0])
    gradients = jax.grad(text_model.loss_of)(p, tokens, PLAN, 1.0)
    rng = np.random.default_rng(0)
    along = {k: rng.normal(size=v.shape).astype(np.float32) for k, v in p.items()}
    h = 3e-3
    up, down = (
        float(
            text_model.loss_of({k: v + s * h * along[k] for k, v in p.items()}, tokens, PLAN, 1.0)
        )
        for s in (1, -1)
    )
    slope = sum(float((gradients[k] * along[k]).sum()) for k in p)
    assert (up - down) / (2 * h) == pytest.approx(slope, rel=5e-3)  # single precision


def test_an_update_clips_the_global_norm_and_speeds_up_the_feed_forward_layers():
    p = {"embedding": jnp.zeros(2), "0.up.w": jnp.zeros(1), "0.out.w": jnp.zeros(1)}
    g = {"embedding": jnp.array([0.0, 3.0]), "0.up.w": jnp.array([4.0]), "0.out.w": jnp.zeros(1)}
    new = text_model.update(p, g, 10.0, 2.0, 0.5)
    np.testing.assert_allclose(new["embedding"], [0, -3], rtol=1e-5)  # 10 * (0.5 / 5) * 3
    np.testing.assert_allclose(new["0.up.w"], [-8], rtol=1e-5)
    small = text_model.update(p, {k: v / 100 for k, v in g.items()}, 10.0, 2.0, 0.5)
    np.testing.assert_allclose(small["embedding"], [0, -0.3], rtol=1e-5)


def test_dropout_keeps_the_mean_and_leaves_out_the_right_share():
    plan = replace(PLAN, layers=1, width=500, hidden=2, vocabulary=7)
    p = {k: jnp.asarray(v) for k, v in text_model.start_of(plan).items()}
    p |= {"embedding": jnp.ones((7, 500)), "decoder.w": jnp.eye(500)[:, :7]}
    seen = []
    for name in ("0.in", "0.out", "0.up", "0.down"):
        p[f"{name}.w"] = jnp.zeros_like(p[f"{name}.w"])
        p[f"{name}.b"] = jnp.zeros_like(p[f"{name}.b"])
    for key in range(40):
        logits, _ = text_model.forward(
            p, jnp.zeros((1, 5), dtype=jnp.int32), plan, 0.0, jax.random.key(key)
        )
        seen.append(np.asarray(logits).ravel() < 0)
    # Norm layers shift what is kept above zero and what is left out below.
    assert np.mean(seen) == pytest.approx(0.3, abs=0.05)  # 1400 draws: 4 deviations


def test_scores_without_positions_are_those_of_the_attention():
    plan = replace(PLAN, positional=False)
    p = text_model.start_of(plan)
    text = tiny_text()
    attention, _, scores = text_model.look(
        p, jnp.asarray(text.pieces), jnp.arange(7), 0.0, plan.shared
    )
    row = text.pieces[0, :5]
    own = softmax(np.asarray(scores, dtype=float)[row[4], row])
    np.testing.assert_allclose(attention[0, 4], own, atol=1e-6)


def same(one, other):
    """Whether two runs are alike bit for bit."""
    names = ("batch_losses", "losses", "attention", "scores")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


def test_a_run_depends_on_neither_threads_nor_where_it_stopped(tmp_path):
    text = tiny_text()
    plans = [replace(PLAN, seed=seed) for seed in (1, 2, 3)]
    whole = text_model.train_all(plans, text, threads=1)
    assert all(same(*p) for p in zip(whole, text_model.train_all(plans, text), strict=True))
    stopped = []

    def stop(plan, count, found):
        stopped.append(count)
        if len(stopped) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        text_model.train(plans[0], text, tmp_path, stop)
    half = text_runs.load(plans[0], text, tmp_path)
    assert half is not None
    assert len(half.losses) == 2
    assert not half.finished
    found = []
    again = text_model.train(plans[0], text, tmp_path, lambda *told: found.append(told[1:]))
    assert found == [(2, True), (2, False), (2, False)]
    assert same(again, whole[0])
    kept = text_runs.load(plans[0], text, tmp_path)
    assert kept is not None
    assert kept.finished
    assert not kept.parameters
    assert same(kept, whole[0])
    assert len(whole[0].batch_losses) == 6
    assert not same(whole[0], whole[1])


def test_kept_runs_that_are_damaged_or_of_other_text_are_not_used(tmp_path):
    text = tiny_text()
    text_model.train(PLAN, text, tmp_path)
    assert text_runs.load(PLAN, tiny_text(1), tmp_path) is None
    assert text_runs.load(replace(PLAN, rate=0.4), text, tmp_path) is None
    (file,) = tmp_path.glob("*.npz")
    file.write_bytes(file.read_bytes()[:1000])
    assert text_runs.load(PLAN, text, tmp_path) is None


@pytest.mark.parametrize(
    "changes", [{"record": (2, 1)}, {"record": ()}, {"rate": 0.0}, {"width": 3}]
)
def test_plans_that_make_no_sense_are_refused(changes):
    with pytest.raises(ValueError, match="give"):
        replace(PLAN, **changes)


def test_entropies_and_changes_by_hand():
    even = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
    sharp = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0]])
    maps = np.array([[even, even], [sharp, even]])
    mean = (np.log(2) + np.log(3)) / 2
    np.testing.assert_allclose(text_runs.entropies(maps), [mean, mean / 2])
    np.testing.assert_allclose(text_runs.changes(maps), [(1 / 2 + 2 / 3) / 2 / 2])


# The order


def test_contexts_are_counted_as_by_hand():
    rng = np.random.default_rng(0)
    segments = rng.integers(5, size=(2, 3, 6)).astype(np.int32)
    queries = np.array([1, 4], dtype=np.int32)
    found = text_order.count_contexts(segments, queries, 5)
    for place, q in enumerate(queries):
        for k in range(5):
            following = [
                row[i + 1]
                for row in segments.reshape(-1, 6)
                for i in range(1, 5)
                if row[i] == q and k != q and k in row[:i]
            ]
            assert found.together[place, k] == len(following)
            pairs = list(itertools.combinations(following, 2))
            if pairs:
                own = np.mean([a == b for a, b in pairs])
                assert found.agreement[place, k] == pytest.approx(own)
            else:
                assert np.isnan(found.agreement[place, k])
    assert found.frequency.tolist() == np.bincount(segments[..., 1:].ravel(), minlength=5).tolist()


def test_ranks_and_strata_by_hand():
    assert text_order.ranks(np.array([[3.0, 1, 3, 2]])).tolist() == [[2.5, 0, 2.5, 1]]
    assert text_order.strata_of(np.array([5.0, 9, 1, 7]), 2).tolist() == [1, 0, 1, 0]
    used = np.array([[True, True, True, False, True]])
    strata = np.array([0, 0, 1, 1, 1])
    found = text_order.centred(np.array([[4.0, 6, 1, 9, 2]]), used, strata)
    assert found.tolist() == [[-0.5, 0.5, -0.5, 0, 0.5]]


def test_the_permutation_test_finds_what_is_there_and_nothing_else():
    rng = np.random.default_rng(0)
    measure = rng.normal(size=(6, 60))
    used = rng.random((6, 60)) < 0.7
    strata = np.arange(60) // 10
    for sign in (1, -1):
        scores = sign * measure + rng.normal(size=measure.shape)
        found = text_order.permutation_test(scores, measure, used, strata, 199, 0)
        assert (found.p_above, found.p_below)[sign < 0] == 1 / 200
        assert sign * found.correlation > 0.4
    chances = [
        text_order.permutation_test(
            rng.normal(size=(1, 60)) + rng.normal(size=measure.shape) / 3,  # common to all queries
            rng.normal(size=(1, 60)) + measure / 3,
            used,
            strata,
            99,
            seed,
        ).p_above
        for seed in range(200)
    ]
    assert np.mean(np.array(chances) <= 0.1) == pytest.approx(0.1, abs=0.065)  # 3 deviations


def test_exchanging_keys_keeps_them_in_their_strata():
    """Scores that depend on the stratum only cannot be told from chance."""
    strata = np.arange(40) // 10
    scores = np.broadcast_to(strata.astype(float), (3, 40))
    measure = np.broadcast_to(np.arange(40.0), (3, 40))
    found = text_order.permutation_test(scores, measure, np.ones((3, 40), bool), strata, 99, 0)
    assert (found.p_above, found.p_below) == (1.0, 1.0)
