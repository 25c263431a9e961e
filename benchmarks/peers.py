"""One peer at work, in an environment of its own: `python peers.py PEER FILE SECONDS`.

Reads arrays from FILE (.npz), works for about so many seconds, and prints one JSON object: seconds
per step or per solution, memory in megabytes, and a result to compare, or what went wrong. Each
peer does what code for research commonly does, on one processor and in float64.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

SLOW = 20  # seconds after which a step is not repeated
LARGEST = 16 * 2**30  # bytes of memory that a peer may ask for


def torch_one_hot(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """PyTorch, sentences as one-hot matrices in a padded batch, dense W_kq, automatic gradient."""
    import torch

    torch.set_num_threads(1)
    size, tokens = int(data["size"]), torch.tensor(data["tokens"])
    X = torch.nn.functional.one_hot(tokens.clamp(min=0), size).double()
    X = X * (tokens >= 0).unsqueeze(-1)
    mask = torch.where(tokens >= 0, 0.0, -torch.inf).double()
    Q = torch.nn.functional.one_hot(torch.tensor(data["query"]), size).double()
    labels = torch.tensor(data["following"][data["optimal"]])
    W_ov = torch.zeros(size, size, dtype=torch.float64)
    W_ov[torch.tensor(data["following"]), torch.arange(size)] = float(data["gap"])
    W = torch.zeros(size, size, dtype=torch.float64, requires_grad=True)

    def steps(number: int) -> None:
        for _ in range(number):
            scores = torch.bmm(X, (Q @ W.T).unsqueeze(-1)).squeeze(-1) + mask
            context = torch.bmm(torch.softmax(scores, 1).unsqueeze(1), X).squeeze(1)
            torch.nn.functional.cross_entropy(context @ W_ov.T, labels).backward()
            with torch.no_grad():
                W.sub_(float(data["eta"]) * W.grad / W.grad.norm())
                W.grad = None

    return steps, lambda: W.detach().numpy()


def torch_gather(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """PyTorch, attention by indexing and logits by scattering, automatic gradient."""
    import torch

    torch.set_num_threads(1)
    size, tokens = int(data["size"]), torch.tensor(data["tokens"])
    mask = torch.where(tokens >= 0, 0.0, -torch.inf).double()
    safe, query = tokens.clamp(min=0), torch.tensor(data["query"]).unsqueeze(1)
    labels = torch.tensor(data["following"][data["optimal"]])
    targets = torch.tensor(data["following"])[safe]
    W = torch.zeros(size, size, dtype=torch.float64, requires_grad=True)

    def steps(number: int) -> None:
        for _ in range(number):
            phi = torch.softmax(W[safe, query] + mask, 1)
            logits = torch.zeros(len(phi), size, dtype=torch.float64)
            logits = logits.scatter_add(1, targets, float(data["gap"]) * phi)
            torch.nn.functional.cross_entropy(logits, labels).backward()
            with torch.no_grad():
                W.sub_(float(data["eta"]) * W.grad / W.grad.norm())
                W.grad = None

    return steps, lambda: W.detach().numpy()


def numpy_dense(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """NumPy, the gradient by hand on dense arrays of samples by tokens."""
    size, tokens, query = int(data["size"]), data["tokens"], data["query"]
    gap, eta, optimal = float(data["gap"]), float(data["eta"]), data["optimal"]
    number, safe = len(tokens), np.maximum(tokens, 0)
    mask, rows = np.where(tokens >= 0, 0.0, -np.inf), np.arange(number)
    W, by_query = np.zeros((size, size)), np.zeros((size, number))
    by_query[query, rows] = 1.0 / number

    def steps(count: int) -> None:
        for _ in range(count):
            scores = W[safe, query[:, None]] + mask
            phi = np.exp(scores - scores.max(axis=1, keepdims=True))
            phi /= phi.sum(axis=1, keepdims=True)
            mass = np.zeros((number, size))
            np.add.at(mass, (rows[:, None], safe), phi)
            error = np.exp(gap * (mass - mass.max(axis=1, keepdims=True)))
            error /= error.sum(axis=1, keepdims=True)
            error[rows, optimal] -= 1.0
            error -= (mass * error).sum(axis=1, keepdims=True)
            gradient = (by_query @ (gap * mass * error)).T
            W[:] -= eta * gradient / np.linalg.norm(gradient)

    return steps, lambda: W


def jax_scan(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """JAX, the indexing form, all steps in one compiled scan."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    import jax.numpy as jnp

    size, tokens, query = int(data["size"]), data["tokens"], data["query"]
    safe, mask = jnp.maximum(tokens, 0), jnp.where(tokens >= 0, 0.0, -jnp.inf)
    rows, optimal = jnp.arange(len(tokens)), jnp.asarray(data["optimal"])
    gap, eta = float(data["gap"]), float(data["eta"])
    kept = {"W": jnp.zeros((size, size))}

    def loss(W: Any) -> Any:
        phi = jax.nn.softmax(W[safe, query[:, None]] + mask, axis=1)
        mass = jnp.zeros((len(tokens), size)).at[rows[:, None], safe].add(gap * phi)
        return -jax.nn.log_softmax(mass, axis=1)[rows, optimal].mean()

    def step(W: Any, _: Any) -> Any:
        gradient = jax.grad(loss)(W)
        return W - eta * gradient / jnp.linalg.norm(gradient), None

    run = jax.jit(lambda W, number: jax.lax.fori_loop(0, number, lambda _, w: step(w, None)[0], W))

    def steps(number: int) -> None:
        kept["W"] = run(kept["W"], number).block_until_ready()

    return steps, lambda: np.asarray(kept["W"])


def clarabel(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """cvxpy with Clarabel: min |w|^2 with w_a - w_b >= 1, set-up included."""
    import cvxpy

    kept: dict[str, Any] = {}

    def solve(number: int) -> None:
        for _ in range(number):
            w = cvxpy.Variable(int(data["entries"]))
            margins = w[data["upper"]] - w[data["lower"]]
            problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(w)), [margins >= 1])
            problem.solve(solver=cvxpy.CLARABEL)
            kept["w"] = w.value

    return solve, lambda: kept["w"]


def torch_sequences(data: dict[str, Any]) -> tuple[Callable[[int], Any], Callable[[], Any]]:
    """PyTorch, Syn-Medium with every position written out as a one-hot row, as the authors do."""
    import torch

    torch.set_num_threads(1)
    size, tokens = int(data["size"]), torch.tensor(data["tokens"])
    query, following = torch.tensor(data["query"]), torch.tensor(data["following"])
    Y = torch.tensor(data["Y"], requires_grad=True)
    Z = torch.tensor(data["Z"], requires_grad=True)
    momentum = float(data["momentum"])
    rates = ((Y, float(data["eta_y"])), (Z, float(data["eta_z"])))
    optimizers = [torch.optim.SGD([w], lr=eta, momentum=momentum) for w, eta in rates]
    done = 0

    def steps(number: int) -> None:
        nonlocal done
        for _ in range(number):
            t = done % len(tokens)
            X = torch.nn.functional.one_hot(tokens[t], size).double()
            b = torch.softmax(torch.bmm(X, Z[query[t]].unsqueeze(-1)).squeeze(-1), 1)
            mixed = torch.bmm(b.unsqueeze(1), X).squeeze(1)
            logits = mixed / mixed.norm(dim=1, keepdim=True) @ Y
            for optimizer in optimizers:
                optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits, following[t]).backward()
            for optimizer in optimizers:
                optimizer.step()
            done += 1

    return steps, lambda: Z.detach().numpy()


PEERS = {
    "PyTorch, one-hot": torch_one_hot,
    "PyTorch, gather": torch_gather,
    "NumPy, dense": numpy_dense,
    "JAX, scan": jax_scan,
    "cvxpy with Clarabel": clarabel,
    "PyTorch, one-hot sequences": torch_sequences,
}
STAGE_2 = tuple(PEERS)[:4]


def measure(steps: Callable[[int], Any], seconds: float) -> float:
    """Median seconds of the processor for a step, over calls of about a tenth of the time."""
    once = 0.0
    for _ in range(2):  # the first call compiles and allocates
        began = time.process_time()
        steps(1)
        once = time.process_time() - began
        if once > SLOW:
            return once
    number = max(1, int(seconds / 10 / max(once, 1e-9)))
    times: list[float] = []
    while len(times) < 3 or sum(times) * number < seconds:
        began = time.process_time()
        steps(number)
        times.append((time.process_time() - began) / number)
        if sum(times) * number > 3 * seconds:
            break
    return statistics.median(times)


def main(peer: str, file: str, seconds: float) -> dict[str, Any]:
    """What is printed."""
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    try:
        data = dict(np.load(file, allow_pickle=False))
        steps, result = PEERS[peer](data)
        if "check" in data:
            steps(int(data["check"]))
            found = np.asarray(result(), dtype=float)
            return {"result": found.tolist()}
        found_seconds = measure(steps, seconds)
    except ImportError as problem:
        return {"absent": str(problem)}
    except Exception as problem:  # every library has its own error for too little memory
        return {"fails": str(problem).strip().splitlines()[0][:200] or type(problem).__name__}
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": found_seconds, "megabytes": megabytes}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
