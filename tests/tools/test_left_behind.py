"""A thread that goes on after a test is noticed."""

import threading

from left_behind import ROOT, threads_at_work

CODE = """
def wait_inside(ready, ended):
    ready.set()
    ended.wait()
"""


def name_after(path: str) -> list[str]:
    """What is at work while a thread runs code of a file with this name."""
    scope: dict = {}
    exec(compile(CODE, path, "exec"), scope)
    ready, ended = threading.Event(), threading.Event()
    thread = threading.Thread(target=scope["wait_inside"], args=(ready, ended), name="left")
    thread.start()
    ready.wait()
    found = threads_at_work()
    ended.set()
    thread.join()
    assert threads_at_work() == []
    return found


def test_a_thread_within_the_project_is_noticed_and_others_are_not():
    assert name_after(str(ROOT / "ntpcore" / "planted.py")) == ["left: wait_inside"]
    assert name_after(str(ROOT / "elsewhere" / "planted.py")) == []
