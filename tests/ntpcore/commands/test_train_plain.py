"""`ntpcore train` and `ntpcore predict` by the plain-Python loop, as without numpy and numba."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program import CONTRADICTION, EXAMPLE_1, FIVE_TOKENS, Run

from ntpcore.commands import train_plain
from ntpcore.huang2024 import plain, storage


def test_a_plain_run_has_the_weights_of_the_compiled_one(run: Run, tmp_path: Path) -> None:
    slow, fast = str(tmp_path / "a.run.json"), str(tmp_path / "a.npz")
    assert run("train", FIVE_TOKENS, "-o", slow, "--steps", "300").code == 0
    assert run("train", FIVE_TOKENS, "-o", fast, "--steps", "300").code == 0
    one, two = train_plain.load(slow), storage.load(fast)
    names = two.problem.vocabulary
    for place, weight in enumerate(two.trajectory.state.weights):
        pair = tuple(
            names[numbers[place]] for numbers in (two.problem.entry_token, two.problem.entry_query)
        )
        assert one.weights[pair] == pytest.approx(float(weight), abs=1e-9)  # type: ignore[index]


def test_predict_reads_a_plain_run(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "a.run.json")
    code, out, _ = run("train", EXAMPLE_1, "-o", target)
    assert code == 0
    assert "plain Python, which takes some hundred times longer" in out
    answer = json.loads(run("predict", target, "--sentence", "O S P", "--json").out)
    other = json.loads(run("predict", EXAMPLE_1, "--sentence", "O S P", "--json").out)
    assert answer["roles"] == other["roles"]
    assert answer["attention"] == pytest.approx(other["attention"], abs=1e-9)


def test_without_numba_both_commands_take_the_plain_loop(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(train_plain, "needed", lambda: True)
    assert run("train", EXAMPLE_1, "--steps", "20").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["example1.run.json"]
    assert run("predict", EXAMPLE_1, "--steps", "20", "--sentence", "S").code == 0
    code, _, err = run("train", EXAMPLE_1, "-o", "x.npz")
    assert (code, err.count("\n")) == (2, 1)
    assert "name a file that ends in .run.json, or pip install 'ntpcore[train]'" in err


@pytest.mark.parametrize("stop", [1, 37])
def test_a_plain_run_stopped_by_ctrl_c_goes_on_with_the_same_bits(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    whole, parts = str(tmp_path / "a.run.json"), str(tmp_path / "b.run.json")
    assert run("train", FIVE_TOKENS, "-o", whole, "--steps", "60").code == 0
    real, calls = plain.gradient, []

    def interrupt(*words: object) -> list[float]:
        calls.append(1)
        if len(calls) == stop + 1:
            raise KeyboardInterrupt
        return real(*words)  # type: ignore[arg-type]

    monkeypatch.setattr(plain, "gradient", interrupt)
    stopped = run("train", FIVE_TOKENS, "-o", parts, "--steps", "60")
    assert stopped.code == 130
    assert f"b.run.json holds the run up to step {stop}; --resume goes on" in stopped.err
    monkeypatch.setattr(plain, "gradient", real)
    assert train_plain.load(parts).steps == stop
    assert run("train", FIVE_TOKENS, "-o", parts, "--steps", "60", "--resume").code == 0
    assert Path(parts).read_bytes() == Path(whole).read_bytes()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--eta", "0.5"), "does not fit: --eta 0.025 there, 0.5 here"),
        (("--steps", "3"), "the run is at step 20 already, past 3; give --steps 20 or more"),
        (("--overwrite",), "--resume and --overwrite exclude each other"),
    ],
)
def test_a_plain_run_that_cannot_go_on_says_why(
    run: Run, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    target = str(tmp_path / "a.run.json")
    assert run("train", EXAMPLE_1, "-o", target, "--steps", "20").code == 0
    before = Path(target).read_bytes()
    code, out, err = run("train", EXAMPLE_1, "-o", target, "--resume", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    code, _, err = run("train", FIVE_TOKENS, "-o", target, "--resume")
    assert f"data {EXAMPLE_1!r} there, other data in {FIVE_TOKENS!r} here" in err
    assert Path(target).read_bytes() == before


DAMAGED = {
    "no JSON": "{",
    "another object": "{}",
    "another format": '{"format": "x"}',
    "a list": "[1]",
    "a weight of nothing": ("weights", [["S", "unknown", 1.0]]),
    "a weight that is no number": ("weights", [["S", "S", "x"]]),
    "infinity": ("gap", float("inf")),
    "a collocation that is no bijection": ("collocation", {"S": "V", "V": "V"}),
    "no settings": ("parameters", {}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_plain_run_is_refused_in_one_line(run: Run, tmp_path: Path, name: str) -> None:
    target = tmp_path / "a.run.json"
    assert run("train", EXAMPLE_1, "-o", str(target), "--steps", "2").code == 0
    change = DAMAGED[name]
    if isinstance(change, str):
        target.write_text(change)
    else:
        target.write_text(json.dumps(json.loads(target.read_text()) | dict([change])))
    code, out, err = run("predict", str(target), "--sentence", "S")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "not a saved run, or a damaged one" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((CONTRADICTION,), "not realizable"),
        ((EXAMPLE_1, "--eta", "nan"), "--eta is nan"),
        ((EXAMPLE_1, "--eta0", "0"), "--eta0 is 0.0"),
        (("none.txt",), "none.txt: cannot be read"),
    ],
)
def test_bad_input_of_a_plain_run_gets_one_message(
    run: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    code, out, err = run("train", *words, "-o", str(tmp_path / "a.run.json"))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_many_steps_of_stage_1_follow_its_exact_law() -> None:
    many = plain.MANY_STEPS
    assert plain.stage1(4, many + 1, 0.001) == pytest.approx(plain.stage1(4, many, 0.001), rel=1e-4)


def test_the_version_is_that_of_the_package(run: Run) -> None:
    code, out, err = run("--version")
    assert (code, err) == (0, "")
    assert out.startswith("ntpcore ")
