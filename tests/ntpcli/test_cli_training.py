"""`ntpcore train`, `ntpcore predict` and `ntpcore check --steps`."""

import json
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from data_file import write
from program import CONTRADICTION, EXAMPLE_1, FIVE_TOKENS, Run

from ntpbook.catalogue import find_claim
from ntpcli import cli, storage, waiting_time
from ntpcli import judge as on_data
from ntpcli import train as training_report
from ntpcore.data import dataset
from ntpcore.huang2024 import training


def test_train_saves_a_trajectory_that_predict_reads(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "run.npz")
    code, out, err = run("train", EXAMPLE_1, "--output", target)
    assert (code, err) == (0, "")
    assert "stage 2: 900 steps of 0.025" in out
    assert storage.load(target).trajectory.state.step == 900
    code, out, _ = run("predict", target, "--sentence", "O S P", "--json")
    assert code == 0
    assert json.loads(out)["probabilities"]["P"] > 0.999


def test_predict_prints_exactly_three_keys(run: Run) -> None:
    code, out, _ = run("predict", EXAMPLE_1, "--sentence", "S P", "--json")
    answer = json.loads(out)
    assert code == 0
    assert list(answer) == ["probabilities", "attention", "roles"]
    assert max(answer["probabilities"], key=answer["probabilities"].get) == "V"
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert len(answer["attention"]) == 2
    assert sum(answer["attention"]) == pytest.approx(1)
    assert answer["roles"] == {"S": "non-comparable", "P": "non-optimal"}


def test_predict_tells_people_what_it_looks_at(run: Run) -> None:
    code, out, _ = run("predict", EXAMPLE_1, "--sentence", "O S P")
    assert code == 0
    assert "O                        optimal" in out
    assert out.splitlines()[4].split() == ["next", "1.000000", "P"]


def test_a_run_that_is_gone_on_with_has_the_numbers_of_one_that_never_stopped(
    run: Run, tmp_path: Path
) -> None:
    whole, parts = str(tmp_path / "whole.npz"), str(tmp_path / "parts.npz")
    run("train", EXAMPLE_1, "-o", whole, "--steps", "3000")
    run("train", EXAMPLE_1, "-o", parts, "--steps", "1000")
    code, out, _ = run("train", EXAMPLE_1, "-o", parts, "--steps", "3000", "--resume")
    assert code == 0
    assert "3000 steps" in out
    one, two = storage.load(whole).trajectory.state, storage.load(parts).trajectory.state
    assert np.array_equal(one.weights, two.weights)


def test_nothing_is_written_over(run: Run, tmp_path: Path) -> None:
    target = write(tmp_path, "precious", "run.npz")
    code, out, err = run("train", EXAMPLE_1, "-o", target)
    assert (code, out) == (2, "")
    assert "there is such a file already; give --resume" in err
    assert Path(target).read_text() == "precious"


BAD = {
    "no run to go on with": (
        ("train", EXAMPLE_1, "-o", "nothing.npz", "--resume"),
        "cannot be read",
    ),
    "data that contradict themselves": (("train", CONTRADICTION, "-o", "x.npz"), "not realizable"),
    "a step size of zero": (("train", EXAMPLE_1, "-o", "x.npz", "--eta", "0"), "--eta is 0.0"),
    "a step size that is no number": (
        ("train", EXAMPLE_1, "-o", "x.npz", "--eta0", "nan"),
        "--eta0 is nan",
    ),
    "an unknown token": (
        ("predict", EXAMPLE_1, "--sentence", "S X"),
        "'X' is not in the vocabulary",
    ),
    "an empty sentence": (("predict", EXAMPLE_1, "--sentence", " "), "the sentence is empty"),
    "a missing trajectory": (
        ("predict", "none.npz", "--sentence", "S"),
        "none.npz: cannot be read",
    ),
    "an output without a name": (("train", EXAMPLE_1, "-o", ""), "--output is empty"),
    "a step size that floats cannot carry": (
        ("train", EXAMPLE_1, "-o", "x.npz", "--eta", "1e300"),
        "--eta is 1e+300, where floats no longer carry a run",
    ),
    "a step size for a check that trains nothing": (
        ("check", EXAMPLE_1, "--eta", "3"),
        "--eta: nothing is trained without --steps",
    ),
    "an option that a saved trajectory cannot follow": (
        ("predict", "run.npz", "--sentence", "S", "--eta", "3"),
        "run.npz: --eta changes nothing in a saved trajectory",
    ),
    "a folder that is not there": (
        ("train", EXAMPLE_1, "-o", "no/such/folder/x.npz"),
        "no/such/folder/x.npz",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message_and_exit_code_2(
    run: Run, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, words = BAD[name]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ntpcore: ")
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--steps", "--steps1"])
def test_steps_that_no_integer_holds_are_refused(run: Run, tmp_path: Path, option: str) -> None:
    target = tmp_path / "x.npz"
    code, out, err = run("train", EXAMPLE_1, "-o", str(target), option, str(10**400))
    assert (code, out) == (2, "")
    assert f"Invalid value for '{option}'" in err
    assert not target.exists()


@pytest.mark.parametrize("name", ["data.txt", "collocation.txt", "link.npz"])
def test_no_run_replaces_the_files_it_reads(run: Run, tmp_path: Path, name: str) -> None:
    data = write(tmp_path, Path(EXAMPLE_1).read_text())
    pairs = write(tmp_path, "S V\nV O\nO P\nP S\n", "collocation.txt")
    (tmp_path / "link.npz").symlink_to(data)
    before = (tmp_path / name).read_bytes()
    target = str(tmp_path / name)
    code, out, err = run("train", data, "--collocation", pairs, "-o", target, "--overwrite")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the data are read from this file" in err
    assert (tmp_path / name).read_bytes() == before


def test_a_run_that_went_too_far_says_how_to_go_on(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "x.npz")
    run("train", EXAMPLE_1, "-o", target, "--steps", "5")
    code, _, err = run("train", EXAMPLE_1, "-o", target, "--steps", "3", "--resume")
    assert code == 2
    assert "give --steps 5 or more" in err
    assert run("train", EXAMPLE_1, "-o", target, "--steps", "5", "--resume").code == 0


@pytest.mark.parametrize(
    "options",
    [("--steps", "1"), ("--steps", "4", "--eta0", "1e12"), ("--steps", "4", "--eta0", "1e-12")],
)
@pytest.mark.parametrize("eta", ["1e-12", "0.025", "1e12"])
def test_no_step_size_or_number_of_steps_refutes_anything(
    run: Run, options: tuple[str, ...], eta: str
) -> None:
    code, out, err = run("check", EXAMPLE_1, *options, "--eta", eta, "--json")
    assert (code, err) == (0, "")
    assert "refuted" not in {claim["verdict"] for claim in json.loads(out)["claims"]}


def test_a_stage_1_too_short_for_theorem_3_refutes_nothing(run: Run) -> None:
    options = ("--steps", "5000", "--eta0", "0.001", "--eta", "1", "--claim", "huang2024-thm-3")
    code, out, _ = run("check", EXAMPLE_1, *options, "--json")
    assert code == 0
    claim = json.loads(out)["claims"][0]
    assert claim["verdict"] == "proved"  # its first part, from step 3755 on
    assert "$T$ or $t$ is too small for a sentence" in claim["left_out"]


def test_a_check_of_data_without_a_gradient_answers_all_the_rest(run: Run, tmp_path: Path) -> None:
    data = write(tmp_path, "a b\nb a\n")
    plain, trained = run("check", data, "--json"), run("check", data, "--steps", "5", "--json")
    assert (trained.code, trained.err) == (plain.code, "") == (0, "")
    claims = {claim["label"]: claim for claim in json.loads(trained.out)["claims"]}
    for label in on_data.TRAINED:
        assert claims[label]["verdict"] == "open"
        assert "no gradient to follow" in claims[label]["evidence"]


def test_data_without_a_gradient_are_refused_with_the_reason(run: Run, tmp_path: Path) -> None:
    code, _, err = run("train", write(tmp_path, "a a\nb b\n"), "-o", str(tmp_path / "x.npz"))
    assert code == 2
    assert "two distinct tokens" in err


def test_a_run_is_saved_under_the_name_of_its_data_and_replaced_only_when_asked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("train", EXAMPLE_1, "--steps", "5").code == 0
    assert storage.load("example1.npz").trajectory.state.step == 5
    assert run("train", EXAMPLE_1, "--steps", "7").code == 2
    assert run("train", EXAMPLE_1, "--steps", "7", "--overwrite").code == 0
    assert storage.load("example1.npz").trajectory.state.step == 7
    both = run("train", EXAMPLE_1, "--resume", "--overwrite")
    assert (both.code, both.err.count("\n")) == (2, 1)


def test_a_damaged_trajectory_is_refused_and_left_alone(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.npz"
    run("train", EXAMPLE_1, "-o", str(target), "--steps", "10")
    whole = target.read_bytes()
    target.write_bytes(whole[: len(whole) // 2])
    code, _, err = run("train", EXAMPLE_1, "-o", str(target), "--steps", "20", "--resume")
    assert code == 2
    assert "not a saved trajectory, or a damaged one" in err
    assert target.read_bytes() == whole[: len(whole) // 2]


def test_a_plain_check_leaves_claims_on_training_open_with_the_way_to_run_them(run: Run) -> None:
    _, out, _ = run("check", EXAMPLE_1, "--json")
    claims = {claim["label"]: claim for claim in json.loads(out)["claims"]}
    assert set(on_data.TRAINED) < set(claims)
    for label in on_data.TRAINED:
        assert claims[label]["verdict"] == "open"
        assert claims[label]["evidence"] == "Not run; add --steps 900."
        assert "--steps 900" in claims[label]["repeat"]


def test_check_with_steps_judges_every_claim_on_training(run: Run) -> None:
    code, out, _ = run("check", EXAMPLE_1, "--steps", "900", "--json")
    claims = {claim["label"]: claim for claim in json.loads(out)["claims"]}
    verdicts = {label: claims[label]["verdict"] for label in on_data.TRAINED}
    assert code == 0
    # Lemma 7 begins at step 2080, Theorems 2 and 3 far later.
    late = {f"huang2024-{name}{end}" for name in ("lem-7", "thm-2") for end in ("", "-corrected")}
    late |= {"huang2024-thm-3"}
    assert {label for label, verdict in verdicts.items() if verdict == "open"} == late
    assert "refuted" not in verdicts.values()
    assert (verdicts["huang2024-thm-1"], verdicts["huang2024-eq-4"]) == (
        "not contradicted",
        "proved",
    )


def test_statements_that_presume_assumption_3_are_open_where_it_fails(
    run: Run, tmp_path: Path
) -> None:
    data = write(tmp_path, "0 1 1 1\n1 0\n")
    _, out, _ = run("check", data, "--steps", "50", "--claim", "huang2024-lem-5", "--json")
    (claim,) = json.loads(out)["claims"]
    assert claim["verdict"] == "open"
    assert "Assumption 3 fails" in claim["evidence"]


def test_claims_on_training_are_open_on_data_that_are_not_realizable(run: Run) -> None:
    _, out, _ = run("check", CONTRADICTION, "--steps", "50", "--json")
    assert {claim["verdict"] for claim in json.loads(out)["claims"]} == {"open"}


def test_five_tokens_train_towards_the_true_optimum(run: Run) -> None:
    code, out, _ = run("predict", FIVE_TOKENS, "--sentence", "b q", "--json")
    assert code == 0
    assert json.loads(out)["roles"] == {"b": "optimal", "q": "non-optimal"}


@pytest.mark.parametrize("label", on_data.TRAINED)
def test_every_claim_on_training_is_one_that_data_decide(label: str) -> None:
    assert find_claim(label).on_data


@pytest.mark.parametrize("command", ["train", "predict"])
def test_help_shows_an_example(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"ntpcore {command} examples/example1.txt" in " ".join(out.split())


# Long runs


@pytest.mark.parametrize("stop", [3, 40])
def test_a_run_stopped_by_ctrl_c_is_saved_and_goes_on_with_the_same_bits(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    monkeypatch.setattr(training, "ENTRIES_PER_CALL", 3)  # a call after nearly every step
    whole, parts = str(tmp_path / "whole.npz"), str(tmp_path / "parts.npz")
    assert run("train", FIVE_TOKENS, "-o", whole, "--steps", "4000", "--eta", "0.3").code == 0
    calls = []

    def interrupt(*_: object) -> None:
        calls.append(1)
        if len(calls) == stop:
            raise KeyboardInterrupt

    real = waiting_time.refuse_years
    monkeypatch.setattr(waiting_time, "refuse_years", lambda progress: real(interrupt))
    monkeypatch.setattr(
        sys, "argv", ["ntpcore", "train", FIVE_TOKENS, "-o", parts, "--steps", "4000", "--eta=0.3"]
    )
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 130
    at = storage.load(parts).trajectory.state.step
    assert 0 < at < 4000
    monkeypatch.setattr(waiting_time, "refuse_years", real)
    options = ("--steps", "4000", "--eta", "0.3", "--resume")
    assert run("train", FIVE_TOKENS, "-o", parts, *options).code == 0
    one, two = storage.load(whole).trajectory, storage.load(parts).trajectory
    assert one.state.weights.tobytes() == two.state.weights.tobytes()
    for field in fields(training.Rows):
        first, second = getattr(one.rows, field.name), getattr(two.rows, field.name)
        assert first.tobytes() == second.tobytes(), field.name


def test_a_long_run_is_saved_every_minute(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "ENTRIES_PER_CALL", 200)
    clock = iter(range(0, 10**9, 25))  # seconds from one look to the next
    monkeypatch.setattr(training_report.time, "monotonic", lambda: float(next(clock)))
    result = run("train", EXAMPLE_1, "-o", str(tmp_path / "x.npz"), "--steps", "200")
    assert result.code == 0
    saves = [line for line in result.err.splitlines() if "holds the run up to step" in line]
    assert len(saves) >= 2
    assert all(line.endswith("--resume goes on with it") for line in saves)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--eta", "0.5"), "--eta 0.025 there, 0.5 here"),
        (("--eta0", "0.5"), "--eta0 0.1 there, 0.5 here"),
        (("--steps1", "7"), "--steps1 900 there, 7 here"),
    ],
)
def test_a_resume_that_does_not_fit_names_the_file_and_what_differs(
    run: Run, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    target = tmp_path / "x.npz"
    assert run("train", EXAMPLE_1, "-o", str(target), "--steps", "5").code == 0
    before = target.read_bytes()
    code, out, err = run("train", EXAMPLE_1, "-o", str(target), "--resume", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"ntpcore: {target}: the run to go on with does not fit: {words}")
    assert target.read_bytes() == before


def test_a_resume_on_other_data_names_both(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "x.npz")
    assert run("train", EXAMPLE_1, "-o", target, "--steps", "5").code == 0
    code, _, err = run("train", FIVE_TOKENS, "-o", target, "--resume")
    assert code == 2
    assert f"data {EXAMPLE_1!r} of 9 distinct samples over 4 tokens there" in err
    assert f"{FIVE_TOKENS!r} of " in err


def test_targets_are_checked_before_the_work_begins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dataset, "read", None)  # whoever reads the data first fails
    for words in (
        ("train", EXAMPLE_1, "-o", "no/x.npz"),
        ("repair", EXAMPLE_1, "--write", "no/x.npz"),
        ("report", EXAMPLE_1, "-o", "no/x.npz"),
    ):
        code, _, err = run(*words)
        assert (code, err) == (
            2,
            "ntpcore: no/x.npz: cannot be written (No such file or directory); name another "
            "file, in a folder you may write to\n",
        )


@pytest.mark.parametrize(
    "words",
    [
        ("train", EXAMPLE_1, "-o", "x.npz"),
        ("predict", EXAMPLE_1, "--sentence", "S"),
        ("check", EXAMPLE_1),
    ],
)
def test_steps_that_would_take_years_are_refused_with_an_estimate(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(waiting_time, "YEAR", 3600.0)  # a shorter year, whatever the processor
    code, out, err = run(*words, "--steps", str(10**15))
    assert (code, out) == (2, "")
    assert "--steps 1000000000000000 would take more than" in err
    assert err.endswith("times as fast as the first ones; give fewer\n")
    assert list(tmp_path.iterdir()) == []


def test_an_estimate_is_the_time_of_the_steps_that_are_left() -> None:
    seconds = iter([0.0, 1.0])
    look = waiting_time.refuse_years(faster=1.0, clock=lambda: next(seconds))
    look(0, 10**12)
    with pytest.raises(dataset.InputError, match=r"more than 3\.2 years"):
        look(10**4, 10**12)  # 10^8 seconds
    quick = iter([0.0, 1.0, 2.0])
    look = waiting_time.refuse_years(faster=1.0, clock=lambda: next(quick))
    for done in (0, 10**5, 2 * 10**5):
        look(done, 10**12)  # 10^7 seconds
