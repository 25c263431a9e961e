"""The transformer of the WikiText experiments in JAX: forward pass, update, training with records.

Post-norm encoder layers with one head, as in the tutorial that the authors' notebook follows:
embedding, scaled by the root of its width, with or without sinusoidal positions; queries, keys and
values with biases; output projection; two feed-forward layers; layer norms; dropout; a linear
decoder. Training is plain gradient descent with clipping of the global norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from ntpbook.tian2023.s8_wikitext import text_runs
from ntpbook.tian2023.s8_wikitext.text_runs import Plan, Text, TextRun

Floats = NDArray[np.float32]
Parameters = dict[str, jax.Array]
Tick = Callable[[Plan, int, bool], None]
# The code runs as fast as with level 3, the default, and compiles in half of the time.
QUICKLY = {"xla_backend_optimization_level": 1}


def start_of(plan: Plan) -> dict[str, Floats]:
    """Parameters at the start, drawn as PyTorch's layers and the tutorial draw them.

    Returns:
        arrays by name; those of layer i begin with `i.`.
    """
    rng = np.random.default_rng((plan.seed, 7))
    d, h, V = plan.width, plan.hidden, plan.vocabulary

    def uniform(bound: float, *shape: int) -> Floats:
        return rng.uniform(-bound, bound, size=shape).astype(np.float32)

    found = {"embedding": uniform(0.1, V, d), "decoder.w": uniform(0.1, d, V)}
    found["decoder.b"] = np.zeros(V, dtype=np.float32)
    for i in range(plan.layers):
        shapes = {"in": (d, 3 * d), "out": (d, d), "up": (d, h), "down": (h, d)}
        for name, (wide, tall) in shapes.items():
            bound = (6 / (4 * d)) ** 0.5 if name == "in" else wide**-0.5
            found[f"{i}.{name}.w"] = uniform(bound, wide, tall)
            zero = name in ("in", "out")
            found[f"{i}.{name}.b"] = uniform(0.0 if zero else bound, tall)
        for name in ("norm1", "norm2"):
            found[f"{i}.{name}.w"] = np.ones(d, dtype=np.float32)
            found[f"{i}.{name}.b"] = np.zeros(d, dtype=np.float32)
    return found


def positions(length: int, width: int) -> Floats:
    """Sinusoidal positional encoding, (length, width): sines at even places, cosines at odd."""
    rates = np.exp(np.arange(0, width, 2) * (-np.log(10000.0) / width))
    angles = np.arange(length)[:, None] * rates
    table = np.zeros((length, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles[:, : width // 2])
    return table.astype(np.float32)


def forward(
    parameters: Parameters,
    tokens: jax.Array,
    plan: Plan,
    positional: jax.Array | float,
    key: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Logits (B, T, V), and the attention of the first layer (B, T, T).

    Args:
        parameters: see `start_of`.
        tokens: (B, T).
        plan: sizes and dropout.
        positional: 1 to add the positions, 0 to leave them out.
        key: of the dropout; None switches dropout off.
    """
    d, length = plan.width, tokens.shape[1]
    keys: Iterator[jax.Array] = iter(
        () if key is None else jax.random.split(key, 1 + 4 * plan.layers)
    )

    def drop(x: jax.Array) -> jax.Array:
        if key is None or plan.dropout == 0:
            return x
        left_out = round(plan.dropout * 65536)  # of 65536: random halves of words are cheap
        kept = jax.random.bits(next(keys), x.shape, "uint16") >= left_out
        return jnp.where(kept, x * (65536 / (65536 - left_out)), 0.0)

    def linear(x: jax.Array, name: str) -> jax.Array:
        return x @ parameters[f"{name}.w"] + parameters[f"{name}.b"]

    def norm(x: jax.Array, name: str) -> jax.Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x = x * jax.lax.rsqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5)
        return x * parameters[f"{name}.w"] + parameters[f"{name}.b"]

    x = drop(parameters["embedding"][tokens] * d**0.5 + positional * positions(length, d))
    causal = jnp.tril(jnp.ones((length, length), dtype=bool))
    first = jnp.zeros(())
    for i in range(plan.layers):
        query, other, value = jnp.split(linear(x, f"{i}.in"), 3, axis=-1)
        scores = jnp.einsum("bid,bjd->bij", query, other) / d**0.5
        attention = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf), axis=-1)
        first = attention if i == 0 else first
        mixed = jnp.einsum("bij,bjd->bid", drop(attention), value)
        x = norm(x + drop(linear(mixed, f"{i}.out")), f"{i}.norm1")
        inner = drop(jax.nn.relu(linear(x, f"{i}.up")))
        x = norm(x + drop(linear(inner, f"{i}.down")), f"{i}.norm2")
    return linear(x, "decoder"), first


def loss_of(
    parameters: Parameters,
    tokens: jax.Array,
    plan: Plan,
    positional: jax.Array | float,
    key: jax.Array | None = None,
) -> jax.Array:
    """Mean cross-entropy of the next tokens, in nats.

    Args:
        parameters: see `start_of`.
        tokens: (B, T + 1); each token but the first is to be predicted.
        plan: sizes and dropout.
        positional: 1 to add the positions, 0 to leave them out.
        key: of the dropout.
    """
    logits, _ = forward(parameters, tokens[:, :-1], plan, positional, key)
    right = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - right).mean()


def update(
    parameters: Parameters,
    gradients: Parameters,
    rate: jax.Array | float,
    factor: jax.Array | float,
    clip: float,
) -> Parameters:
    """One step of gradient descent after clipping the global norm of all gradients.

    Args:
        parameters: see `start_of`.
        gradients: of the loss, by the same names.
        rate: learning rate.
        factor: multiple of it for the two feed-forward layers.
        clip: largest norm.
    """
    size = jnp.sqrt(sum((g * g).sum() for g in gradients.values()))
    scale = rate * jnp.minimum(1.0, clip / (size + 1e-6))
    faster = (".up.", ".down.")
    return {
        name: value
        - (scale * factor if any(part in name for part in faster) else scale) * gradients[name]
        for name, value in parameters.items()
    }


@partial(jax.jit, static_argnames=("plan", "count"), compiler_options=QUICKLY)
def advance(
    parameters: Parameters,
    segments: jax.Array,
    step: int,
    settings: tuple[float, float, float, int],
    plan: Plan,
    count: int,
) -> tuple[Parameters, jax.Array]:
    """Several updates.

    Args:
        parameters: see `start_of`.
        segments: (S, B, T + 1), the batches of the text, taken in order and again from the first.
        step: updates made before.
        settings: rate, multiple of it for the feed-forward layers, 1 or 0 for positions, and the
            seed of the dropout, whose masks depend on it and on the number of the update alone.
        plan: sizes; of what is in the settings it is not asked, so that plans share compiled code.
        count: how many updates.

    Returns:
        the parameters, and the losses (count,) before each update.
    """
    rate, factor, positional, seed = settings

    def one(now: Parameters, number: jax.Array) -> tuple[Parameters, jax.Array]:
        tokens = segments[number % segments.shape[0]]
        key = jax.random.fold_in(jax.random.key(seed), number)
        loss, gradients = jax.value_and_grad(loss_of)(now, tokens, plan, positional, key)
        return update(now, gradients, rate, factor, plan.clip), loss

    return jax.lax.scan(one, parameters, step + jnp.arange(count))


@partial(jax.jit, static_argnames=("plan",), compiler_options=QUICKLY)
def look(
    parameters: Parameters,
    pieces: jax.Array,
    queries: jax.Array,
    positional: float,
    plan: Plan,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """What is recorded: without dropout, on held-out text.

    Args:
        parameters: see `start_of`.
        pieces: (P, T + 1), held-out text.
        queries: (Q,), tokens.
        positional: 1 to add the positions, 0 to leave them out.
        plan: sizes.

    Returns:
        attention of the first layer (P, T, T); mean loss; and the scores (Q, V) of the first layer
        that a pair of tokens has without positions.
    """
    _, attention = forward(parameters, pieces[:, :-1], plan, positional)
    d = plan.width
    both = parameters["embedding"] * d**0.5 @ parameters["0.in.w"] + parameters["0.in.b"]
    scores = both[queries, :d] @ both[:, d : 2 * d].T / d**0.5
    return attention, loss_of(parameters, pieces, plan, positional), scores


def train(
    plan: Plan,
    text: Text,
    folder: Path | None = None,
    tick: Tick | None = None,
) -> TextRun:
    """Train one plan; with a folder, go on from what is kept there and keep what is done.

    The result does not depend on where an earlier run stopped.

    Args:
        plan: what to train.
        text: what on.
        folder: where unfinished and finished runs are kept.
        tick: called with the plan, a number of updates, and whether they were found made.
    """
    kept = text_runs.load(plan, text, folder) if folder else None
    run = kept or text_runs.empty(plan, start_of(plan))
    if tick and kept:
        tick(plan, plan.record[len(run.losses) - 1], True)
    parameters = {name: jnp.asarray(value) for name, value in run.parameters.items()}
    positional = float(plan.positional)
    settings = (plan.rate, plan.feed_forward_factor, positional, plan.seed)
    segments, pieces = jnp.asarray(text.segments), jnp.asarray(text.pieces)
    queries = jnp.asarray(text.queries)
    for number in range(len(run.losses), len(plan.record)):
        step = plan.record[number - 1] if number else 0
        losses: Floats = np.zeros(0, dtype=np.float32)
        if count := plan.record[number] - step:
            parameters, found = advance(parameters, segments, step, settings, plan.shared, count)
            losses = np.asarray(found)
        attention, held_out, scores = look(parameters, pieces, queries, positional, plan.shared)
        run = run.extended(
            {name: np.asarray(value) for name, value in parameters.items()},
            losses,
            float(held_out),
            np.asarray(attention),
            np.asarray(scores),
        )
        if folder:
            text_runs.save(run, text, folder)
        if tick:
            tick(plan, count, False)
    return run


def train_all(
    plans: Sequence[Plan],
    text: Text,
    *,
    threads: int = 2,
    folder: Path | None = None,
    tick: Tick | None = None,
) -> list[TextRun]:
    """Many plans, several at once; the result does not depend on how many.

    Args:
        plans: what to train.
        text: what on.
        threads: how many at once.
        folder: where runs are kept.
        tick: see `train`; called from all threads.
    """
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda plan: train(plan, text, folder, tick), plans))
