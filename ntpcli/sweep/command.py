"""What `ntpcore sweep` does: choose a backend, sweep, and say how it went."""

from __future__ import annotations

import os
from functools import partial

from ntpcli.sweep import backends, cluster, plan, run
from ntpcli.terminal import Write, show_name
from ntpcore.data.dataset import InputError

MOST_REASONS = 5  # told of failures; all of them stand in the table


def backend(name: str, jobs: int | None, scheduler: str | None, patience: float) -> run.Start:
    """The backend that the options name.

    Args:
        name: local or dask.
        jobs: runs at once on this machine; None for one on each processor.
        scheduler: address of the Dask scheduler.
        patience: seconds to wait for a cluster.

    Raises:
        InputError: the options do not go together.
    """
    if name == "local":
        if scheduler is not None:
            raise InputError("--scheduler: only --backend dask has one; add that, or leave it out")
        many = jobs or len(os.sched_getaffinity(0))
        return backends.here if many == 1 else partial(backends.on_processes, jobs=many)
    if name != "dask":
        raise InputError(f"--backend {name!r}: give local or dask")
    if scheduler is None:
        raise InputError(
            "--backend dask: needs --scheduler with the address that `dask scheduler` prints"
        )
    if jobs is not None:
        raise InputError(
            "--jobs: the workers of the cluster tell how many runs go at once; leave it out"
        )
    return partial(cluster.on_dask, address=scheduler, patience=patience)


def run_file(
    file: str,
    output: str,
    start: run.Start,
    *,
    overwrite: bool = False,
    restart: bool = False,
    progress: run.Progress | None = None,
) -> run.Outcome:
    """Read the file of a sweep, and do it; arguments as for `run.to_file`."""
    return run.to_file(
        plan.read(file),
        output,
        start,
        source=file,
        overwrite=overwrite,
        restart=restart,
        progress=progress,
    )


def write_outcome(outcome: run.Outcome, output: str, write: Write) -> None:
    """Say how a sweep went, in a few lines."""
    name = show_name(output)
    if outcome.complete:
        write(f"{name}: complete already, {outcome.runs} rows; nothing was done", "plain")
        return
    failed = sum(count for _, count in outcome.failures)
    write(f"written: {name}, {outcome.runs} rows, {failed} of them failed", "plain")
    if outcome.kept:
        write(f"  {outcome.kept} runs were finished before", "faint")
    for reason, count in outcome.failures[:MOST_REASONS]:
        write(f"  {count} × {show_name(reason)}", "refuted")
    if len(outcome.failures) > MOST_REASONS:
        write(f"  and {len(outcome.failures) - MOST_REASONS} other reasons", "faint")
