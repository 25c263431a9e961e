"""A reader's file goes through `ntpcore check` one way: a module calls only those below it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import networkx as nx
import pytest

import ntpcore
from ntpbook.huang2024.s6_max_margin import orders as judged
from ntpcli import check, rows
from ntpcore.data import dataset, order
from ntpcore.exact import margin, margin_fast
from tools.pipeline.source import OURS

ROOT = Path(ntpcore.__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
STATEMENTS = "ntpverdicts/vocabulary.py"


def calls(work: Callable[[], object]) -> set[tuple[str, str]]:
    """Which modules of our packages call which others, while something runs."""
    found: set[tuple[str, str]] = set()
    top = f"{ROOT}{os.sep}"

    def module(frame: FrameType | None) -> str:
        name = "" if frame is None else frame.f_code.co_filename
        path = name[len(top) :].replace(os.sep, "/") if name.startswith(top) else ""
        return path if path.split("/")[0] in OURS else ""

    def look(frame: FrameType, event: str, value: object) -> None:
        if event == "call":
            pair = module(frame.f_back), module(frame)
            if pair[0] == STATEMENTS:
                return  # it runs the bodies that it was handed
            if all(pair) and pair[0] != pair[1]:
                found.add(pair)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def circles(found: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The calls from which a way leads back: without them the modules have an order."""
    graph = nx.DiGraph(found)
    return {(caller, callee) for caller, callee in found if nx.has_path(graph, callee, caller)}


def answer(name: str) -> None:
    """What the command does, from the file to the last line that it prints."""
    found = check.answer(dataset.read(str(EXAMPLES / name)), repair=True)
    check.to_json(found)
    rows.write_text(found, lambda line, role: None)


@pytest.mark.parametrize("name", ["example1.txt", "contradiction.txt", "five_tokens.jsonl"])
def test_every_call_goes_down(name: str) -> None:
    found = calls(lambda: answer(name))
    assert ("ntpcli/check.py", "ntpcore/exact/margin.py") in found
    assert ("ntpcli/check.py", "ntpcore/data/order.py") in found
    assert not circles(found)


def test_the_fast_twin_calls_the_plain_one_and_never_the_other_way() -> None:
    orders = order.analyse(dataset.read(str(EXAMPLES / "example1.txt"))).orders
    assert orders is not None
    margin_fast.W_kq_star(orders)  # compiled before it is watched
    found = calls(lambda: margin_fast.W_kq_star(orders))
    assert ("ntpcore/exact/margin_fast.py", "ntpcore/exact/margin.py") in found
    assert not circles(found)


def test_a_call_that_goes_up_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = margin.solve

    def planted(one: order.PartialOrder) -> margin.Solution:
        judged.describe_order(one)
        return plain(one)

    here = planted.__code__.replace(co_filename=margin.__file__)
    monkeypatch.setattr(planted, "__code__", here)
    monkeypatch.setattr(margin, "solve", planted)
    wrong = circles(calls(lambda: answer("example1.txt")))
    assert ("ntpcore/exact/margin.py", "ntpbook/huang2024/s6_max_margin/orders.py") in wrong
