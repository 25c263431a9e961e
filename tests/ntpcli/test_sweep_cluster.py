"""Sweeps on a real Dask scheduler with two worker processes; one is killed, then the scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from ntpcli.sweep import cluster, journal, one_run, output, plan, run
from ntpcli.sweep.columns import Row
from ntpcli.sweep.fingerprint import code_hash
from ntpcore.data.dataset import InputError

ROOT = Path(__file__).resolve().parents[2]
GRID = """
[[grid]]
generator = ["prefix-closed", "open", "brackets"]
sentences = 12
repair = "none"
seed = { from = 0, to = 7 }
steps = 2000
"""


@dataclass(frozen=True)
class Cluster:
    """A scheduler and its workers, each a process of its own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    scheduler = start(
        "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
    )
    processes = [scheduler]
    try:
        while not file.exists() or not file.read_text("utf-8").endswith("}"):
            assert scheduler.poll() is None, "the scheduler did not start"
            time.sleep(0.1)
        address = json.loads(file.read_text("utf-8"))["address"]
        for number in range(2):
            own = ("--local-directory", str(folder / str(number)), "--name", str(number))
            processes.append(start("dask_worker", address, "--no-nanny", "--nthreads", "1", *own))
        yield Cluster(address, scheduler, tuple(processes[1:]))
    finally:
        for process in processes:
            process.kill()
            process.wait()


def send(process: subprocess.Popen[bytes], sign: signal.Signals) -> None:
    """Stop or kill a process, and wait until it is dead if it was killed."""
    process.send_signal(sign)
    if sign is signal.SIGKILL:
        process.wait()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_sweep_survives_a_worker_and_keeps_its_runs_when_the_scheduler_dies(
    two: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    from distributed import Client

    sweep, path = plan.parse(GRID), str(tmp_path / "r.parquet")
    wanted = output.content(run.rows(sweep), ".parquet")
    # From now on this process does no run itself, also when one worker with one thread is left.
    monkeypatch.setattr(one_run, "measure", lambda cell: pytest.fail("done here, not by a worker"))
    with Client(two.address, timeout=3000, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=3000)

    # One of two workers stands still from the first row on, so that it holds runs, and is killed
    # half-way: every row arrives, none twice, and all are equal to those of this process.
    came: list[int] = []

    def lose_worker(done: int, total: int) -> None:
        came.append(done)
        if done in (1, total // 2):
            send(two.workers[0], signal.SIGSTOP if done == 1 else signal.SIGKILL)

    run.to_file(sweep, path, partial(cluster.on_dask, address=two.address), progress=lose_worker)
    assert came == list(range(25))
    assert two.workers[0].poll() == -signal.SIGKILL
    assert Path(path).read_bytes() == wanted

    # The scheduler is killed while one run goes on that would take an hour: the others are kept.
    long = plan.parse(f"{GRID}\n[[grid]]\nsteps = 1_000_000_000\n")

    # As long as it lives, it may be as slow as a busy machine makes it; then time flies.
    leaps = itertools.count(start=1)

    def lose_scheduler(done: int, total: int) -> None:
        if done == total - 1:
            send(two.scheduler, signal.SIGKILL)
            late = SimpleNamespace(monotonic=lambda: next(leaps) * 1e12, sleep=time.sleep)
            monkeypatch.setattr(cluster, "time", late)

    lost = partial(cluster.on_dask, address=two.address, patience=60)
    with pytest.raises(InputError, match="what is finished is kept"):
        run.to_file(long, path, lost, overwrite=True, progress=lose_scheduler)
    assert Path(path).read_bytes() == wanted
    head = journal.Head(long.mark, code_hash(), 25)
    with journal.opened(journal.path_for(path), head) as kept:
        rows = [kept.rows[number] | {"sweep": sweep.mark} for number in range(24)]
    assert output.content(rows, ".parquet") == wanted
    caplog.clear()
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).error("what Dask would say of a scheduler that is gone")
    assert caplog.records == []  # we tell it, in one sentence


@pytest.mark.parametrize("address", ["", "127.0.0.1", "tcp://", "foo://x:1", "tcp://x:1 y", "-x:1"])
def test_what_is_no_address_is_told_at_once(address: str):
    with pytest.raises(InputError, match=r"no address; give what|no Dask scheduler"):
        cluster.connect(address, 0.1)


def test_what_takes_a_connection_and_does_not_answer_is_no_scheduler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "SPARE_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(InputError, match="no Dask scheduler answers there"):
            cluster.connect(address, 0.1)
    for thread in threading.enumerate():
        if thread.name == "ntpcore-connect":
            thread.join()


def test_rows_of_other_code_are_refused():
    row: Row = {"code": "another"}
    with pytest.raises(InputError, match="a worker has other code than this process"):
        cluster._check_code(row["code"], "a worker")
    cluster._check_code(code_hash(), "a worker")


class Gone:
    """A client whose scheduler went."""

    status = "closed"

    def ncores(self) -> dict[str, int]:
        raise OSError("Timed out trying to connect")

    def as_current(self) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()


@dataclass(eq=False)
class Future:
    """A run that is over: what it gave, or how it was lost; first perhaps out of reach."""

    outcome: Row | BaseException
    out_of_reach: int = 0

    def done(self) -> bool:
        return True

    def result(self, timeout: float) -> Row:
        if self.out_of_reach:
            self.out_of_reach -= 1
            raise TimeoutError
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Lossy(Gone):
    """A cluster with one thread on which runs end one after the other as given, then well.

    With `away` its scheduler is gone from the first lost run on.
    """

    status = "running"

    def __init__(self, *outcomes: BaseException, away: bool = False) -> None:
        self.outcomes, self.away = [*outcomes], away
        self.given: list[int] = []

    def ncores(self) -> dict[str, int]:
        return {"tcp://x:2": 1} if self.status == "running" else super().ncores()

    def submit(self, _: object, number: int, *__: object, **___: object) -> Future:
        self.given.append(number)
        if not self.outcomes:
            return Future({"run": number, "code": code_hash()})
        if self.away:
            self.status = "closed"
        return Future(self.outcomes.pop(0))


def rows_of(client: Gone, runs: int, again: bool = False) -> list[Row]:
    todo = dict(enumerate(plan.parse(GRID).cells[:runs]))
    return list(cluster._rows(client, todo, "mark", "tcp://x:1", 1.0, again))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to wait for a run."""
    monkeypatch.setattr("distributed.wait", lambda *_, **__: None)


LOST = [OSError("Stream is closed"), CancelledError("one-0"), asyncio.CancelledError()]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", LOST)
def test_a_scheduler_that_dies_ends_in_a_sentence_after_the_patience(error: BaseException) -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=r"gone since 1 seconds; what is finished is kept"):
        rows_of(Lossy(error, away=True), 1)
    assert time.monotonic() - began >= 1.0


def test_a_cluster_whose_workers_never_come_ends_in_the_same_sentence() -> None:
    with pytest.raises(InputError, match=r"gone since 1 seconds; what is finished is kept"):
        rows_of(Gone(), 1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", LOST)
def test_a_run_that_a_scheduler_forgot_is_given_again(error: BaseException) -> None:
    client = Lossy(error)
    assert sorted(row["run"] for row in rows_of(client, 9)) == [*range(9)]
    assert sorted(client.given) == [0, *range(9)]


@pytest.mark.usefixtures("at_once")
def test_no_more_runs_are_given_at_once_than_some_for_each_thread() -> None:
    client = Lossy()
    rows = cluster._rows(client, dict(enumerate(plan.parse(GRID).cells)), "mark", "tcp://x:1", 1.0)
    next(rows)
    assert len(client.given) == cluster.AHEAD


@pytest.mark.usefixtures("at_once")
def test_a_run_whose_workers_die_is_done_again_without_others_and_fails_the_second_time() -> None:
    from distributed import KilledWorker

    killed = KilledWorker("one-0", "a worker", 4)
    client = Lossy(killed)
    assert [row["run"] for row in rows_of(client, 3)] == [1, 2, 0]
    assert client.given == [0, 1, 2, 0]
    once = Lossy(killed, killed)
    (failed,) = rows_of(once, 1)
    assert (failed["run"], failed["status"], failed["error"]) == (0, "failed", "ProcessDied")
    assert once.given == [0, 0]


@pytest.mark.usefixtures("at_once")
def test_what_lies_on_a_worker_that_does_not_answer_is_waited_for_after_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, submit = Lossy(), Lossy.submit

    def hanging(self: Lossy, function: object, number: int, *rest: object, **_: object) -> Future:
        future = submit(self, function, number, *rest)
        future.out_of_reach = 3 * (number == 0)
        return future

    monkeypatch.setattr(Lossy, "submit", hanging)
    assert [row["run"] for row in rows_of(client, 9)] == [*range(1, 9), 0]
    assert client.given == [*range(9)]
    assert [row["run"] for row in rows_of(client, 1, again=True)] == [0]


@pytest.mark.usefixtures("at_once")
def test_an_error_of_a_run_is_no_lost_scheduler() -> None:
    with pytest.raises(ValueError, match="of the run"):
        rows_of(Lossy(ValueError("of the run")), 1)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("error", LOST)
def test_a_scheduler_that_dies_under_a_single_run_ends_in_the_same_sentence(
    error: BaseException,
) -> None:
    with pytest.raises(InputError, match="what is finished is kept"):
        rows_of(Lossy(error, away=True), 1, again=True)
