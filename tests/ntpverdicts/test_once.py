"""A result that is kept is found again, however the call is written."""

from ntpverdicts.once import once


def test_the_same_call_runs_once_however_it_is_written():
    calls = []

    @once
    def made(seed: int = 7, *, steps: int = 100) -> tuple[int, int]:
        """Made."""
        calls.append((seed, steps))
        return seed, steps

    first = made()
    assert made(7) is made(seed=7) is made(7, steps=100) is made(steps=100, seed=7) is first
    assert calls == [(7, 100)]
    assert made(8) == (8, 100)
    assert calls == [(7, 100), (8, 100)]
    assert made.__doc__ == "Made."
