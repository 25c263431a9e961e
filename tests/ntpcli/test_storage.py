"""Saved runs come back as they were; damaged files are refused with the way out."""

import io
import json
import os
import zipfile

import numpy as np
import pytest

from ntpcli import storage
from ntpcore.data import dataset
from ntpcore.data.dataset import InputError
from ntpcore.huang2024 import problem, stage1, training


@pytest.fixture
def run():
    one = problem.from_dataset(dataset.read("examples/example1.txt"))
    return one, training.run(one, 120, 0.025, stage1.gap(4, 900, 0.1), record=[0, 1, 50, 110])


@pytest.fixture
def path(tmp_path, run):
    path = str(tmp_path / "run.npz")
    storage.save(path, *run, {"file": "example1.txt", "eta0": 0.1, "steps1": 900})
    return path


def same(left, right) -> bool:
    """Whether two dataclasses hold the same arrays and numbers."""
    pairs = [(getattr(left, name), getattr(right, name)) for name in left.__dataclass_fields__]
    return all(
        np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
        for a, b in pairs
    )


def rewritten(path, change) -> str:
    """The file with its arrays changed and written again as a sound archive."""
    with np.load(path) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    change(held)
    np.savez(path, **held)
    return path


def with_head(change):
    """A change of the file's JSON part."""

    def rewrite(held):
        head = json.loads(held["head"].tobytes())
        change(head)
        held["head"] = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)

    return rewrite


def test_a_run_comes_back_with_the_same_numbers(run, path):
    saved = storage.load(path)
    assert same(saved.problem, run[0])
    assert same(saved.trajectory.rows, run[1].rows)
    assert same(saved.trajectory.state, run[1].state)
    assert (saved.trajectory.eta, saved.trajectory.gap) == (run[1].eta, run[1].gap)
    assert saved.parameters == {"file": "example1.txt", "eta0": 0.1, "steps1": 900}
    assert saved.problem.norm_squared == run[0].norm_squared


def test_a_saved_run_resumes_with_the_same_numbers(run, path):
    one, half = run
    record = [0, 1, 50, 110, 135, 200]
    whole = training.run(one, 200, half.eta, half.gap, record=record)
    saved = storage.load(path)
    resumed = training.run(
        saved.problem, 200, half.eta, half.gap, record=record, state=saved.trajectory
    )
    assert same(resumed.rows, whole.rows)
    assert same(resumed.state, whole.state)


def test_the_same_run_gives_the_same_file(run, path, tmp_path):
    again = str(tmp_path / "again.npz")
    storage.save(again, *run, storage.load(path).parameters)
    with open(path, "rb") as left, open(again, "rb") as right:
        assert left.read() == right.read()


def test_nothing_in_the_file_is_a_pickle(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            header = archive.read(name)[:128]
            assert b"'descr': '|O'" not in header


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.99])
def test_a_file_cut_short_is_refused(path, share):
    with open(path, "rb") as stream:
        content = stream.read()
    with open(path, "wb") as stream:
        stream.write(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"damaged one.*train again and save"):
        storage.load(path)


def test_any_flipped_byte_is_refused_or_harmless(run, path):
    """No byte may crash the reader or change a number."""
    with open(path, "rb") as stream:
        content = stream.read()
    refused = 0
    for place in range(0, len(content), 37):
        broken = bytearray(content)
        broken[place] ^= 0x5A
        with open(path, "wb") as stream:
            stream.write(broken)
        try:
            saved = storage.load(path)
        except InputError:
            refused += 1
        else:
            assert same(saved.trajectory.rows, run[1].rows)
            assert same(saved.problem, run[0])
    assert refused > 100


@pytest.mark.parametrize(
    "content", [b"", b"not an archive", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"\x80\x04."]
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a saved trajectory"):
        storage.load(str(path))


def test_an_array_file_and_objects_are_refused(tmp_path):
    single = tmp_path / "single.npy"
    np.save(single, np.arange(3))
    with pytest.raises(InputError, match="single array"):
        storage.load(str(single))
    objects = tmp_path / "objects.npz"
    np.savez(objects, head=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="not a saved trajectory"):
        storage.load(str(objects))


def set_item(name, place, value):
    """A change of one number of one array."""

    def change(held):
        held[name] = held[name].copy()
        held[name][place] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_item("problem_rival", 0, 10**6), "entry number is off"),
        (set_item("problem_rival", 0, -1), "entry number is off"),
        (set_item("problem_start", 1, 10**6), "no or too many rivals"),
        (set_item("problem_start", -1, 10**6), "samples are incomplete"),
        (set_item("problem_entry_token", 0, 99), "token number is off"),
        (set_item("problem_following", 0, 0), "collocation is off"),
        (set_item("problem_rival_count", 0, 0), "count is off"),
        (set_item("problem_rival_count", 0, 2), "data do not fit"),
        (set_item("problem_log_pi", 0, np.nan), "frequency is not finite"),
        (set_item("weights", 0, np.inf), "weight is not finite"),
        (set_item("rows_step", 1, 7000), "steps do not increase"),
        (set_item("rows_step", -1, 7000), "a step is off"),
        (lambda held: held.pop("weights"), "not a complete file"),
        (lambda held: held.update(weights=held["weights"][:-1]), "weights are missing"),
        (lambda held: held.update(rows_norm=held["rows_norm"][:-1]), "columns differ"),
        (lambda held: held.update(weights=held["weights"].astype(int)), "wrong form"),
        (lambda held: held.update(rows_norm=held["rows_norm"][None]), "wrong form"),
        (with_head(lambda head: head.update(format="other")), "format is not"),
        (with_head(lambda head: head.update(eta=-1)), "not positive"),
        (with_head(lambda head: head.update(vocabulary=["S", "S", "O", "P"])), "occurs twice"),
        (with_head(lambda head: head.update(vocabulary=[1, 2, 3, 4])), "not a text"),
        (with_head(lambda head: head.pop("problem")), "not a complete file"),
        (with_head(lambda head: head.update(state=3)), "not a complete file"),
    ],
)
def test_a_sound_archive_with_wrong_contents_is_refused(path, change, reason):
    with pytest.raises(InputError, match=reason):
        storage.load(rewritten(path, change))


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        storage.load(str(tmp_path / "nothing.npz"))
    with pytest.raises(InputError, match="cannot be read"):
        storage.load(str(tmp_path))


@pytest.mark.parametrize("name", ["no/folder/run.npz", "", "."])
def test_a_place_that_cannot_be_written_is_refused(tmp_path, run, name):
    with pytest.raises(InputError, match="cannot be written"):
        storage.save(f"{tmp_path}/{name}", *run)
    assert os.listdir(tmp_path) == []


def test_a_device_is_not_replaced(run):
    with pytest.raises(InputError, match="not a plain file"):
        storage.save("/dev/null", *run)


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path, run, path, monkeypatch):
    with open(path, "rb") as stream:
        before = stream.read()

    def fail(stream: io.IOBase, **arrays: object) -> None:
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(InputError, match="No space left"):
        storage.save(path, *run)
    with open(path, "rb") as stream:
        assert stream.read() == before
    assert os.listdir(tmp_path) == ["run.npz"]
