"""A result is written whole or not at all, in the place that was named and no other."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ntpcore.data import files
from ntpcore.data.dataset import InputError


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_keeps_its_permissions_and_a_new_one_has_those_of_any(tmp_path: Path) -> None:
    private, new, other = tmp_path / "private", tmp_path / "new", tmp_path / "other"
    private.write_bytes(b"old")
    private.chmod(0o600)
    other.touch()
    files.write_whole({str(private): b"secret", str(new): b"result"})
    assert (private.read_bytes(), mode(private)) == (b"secret", 0o600)
    assert (new.read_bytes(), mode(new)) == (b"result", mode(other))
    assert sorted(tmp_path.iterdir()) == [new, other, private]


def test_a_link_that_lies_in_wait_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    # the names that were guessable: the target's, the process, and an ending
    (tmp_path / f"out.{os.getpid()}.part").symlink_to(victim)
    files.write_whole({str(tmp_path / "out"): b"result"})
    assert victim.read_bytes() == b"precious"
    assert (tmp_path / "out").read_bytes() == b"result"


def test_a_link_to_a_target_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write_whole({str(tmp_path / "link"): b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_whatever_goes_wrong_the_target_stays_and_nothing_is_left(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")

    def interrupted() -> None:
        with files.replacing(target) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(InputError, match="cannot be written"):
        files.write_whole({str(target): b"new", str(tmp_path / "absent" / "file"): b"x"})
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_long_name_is_written_and_one_too_long_is_refused_at_once(tmp_path: Path) -> None:
    long = tmp_path / ("n" * 252)
    files.check_place(str(long))
    files.write_whole({str(long): b"result"})
    assert long.read_bytes() == b"result"
    with pytest.raises(InputError, match="cannot be written"):
        files.check_place(str(tmp_path / ("n" * 300)))
    umlauts = tmp_path / ("ü" * 120)
    files.write_whole({str(umlauts): b"result"})
    assert umlauts.read_bytes() == b"result"


def test_of_two_that_write_one_new_file_both_results_stay(tmp_path: Path) -> None:
    target = tmp_path / "out"
    files.write_whole({str(target): b"first"}, overwrite=False)
    with pytest.raises(InputError, match="another command wrote this file meanwhile") as told:
        files.write_whole({str(target): b"second"}, overwrite=False)
    assert target.read_bytes() == b"first"
    (kept,) = set(tmp_path.iterdir()) - {target}
    assert str(told.value).endswith(str(kept))
    assert kept.read_bytes() == b"second"
    files.write_whole({str(target): b"third"})
    assert target.read_bytes() == b"third"


def test_what_a_killed_process_left_is_found_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with files.replacing(target):
        during = files.leftovers(target)
        assert len(during) == 1
        assert os.path.dirname(during[0]) == str(tmp_path)
    for name in ("out.csv.part", ".out.csv.part", ".other.csv.abcdefgh.part", ".out.csv.1.part"):
        (tmp_path / name).touch()
    assert files.leftovers(target) == []


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a plain file"), files.replacing(tmp_path):
        pass
