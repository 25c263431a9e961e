"""What `ntpcore certify` writes and accepts."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from data_file import write
from hypothesis import given, settings
from program import CONTRADICTION, EXAMPLE_1, FIVE_TOKENS, Run
from strategies import realizable_data

from ntpcli import certify
from ntpcore import certificate
from ntpcore.certificate import read_samples
from ntpcore.data import generate
from ntpcore.data.dataset import Dataset, InputError, from_samples, from_sentences, read
from ntpcore.data.order import analyse, facts
from ntpcore.exact import margin
from ntpcore.huang2024 import direction
from ntpcore.huang2024.problem import from_dataset


@settings(max_examples=60)
@given(realizable_data())
def test_every_realizable_data_set_gets_a_certificate_that_is_accepted(data: Dataset) -> None:
    structure = analyse(data)
    made = certify.make(structure)
    certificate.check(json.loads(certify.to_text(made)))
    solutions = [margin.solve(order) for order in (structure.orders or {}).values()]
    assert Fraction(made["norm_squared"]) == margin.norm_squared(one.scores for one in solutions)
    assert certify.same_data(made, data)


@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_are_those_of_the_library_from_above(seed: int) -> None:
    data = generate.experiment(seed, prefix_closed=seed % 2 == 0).data
    found, problem = certify.make(analyse(data))["bounds"], from_dataset(data)
    right = direction.K(problem.max_length, problem.log_pi_min)
    K, eta, S = float(Fraction(found["K"])), float(Fraction(found["eta"])), problem.norm_squared
    assert right <= K <= right + 0.05
    trivial, step = direction.one_minus_cos_trivial(float(S)), found["beats_trivial_from"]
    assert direction.one_minus_cos(float(S), K, eta, step) < trivial
    exact = direction.first_step(
        lambda t: direction.one_minus_cos(float(S), right, eta, t), trivial
    )
    assert exact <= step <= 1.01 * exact + 1


def test_orders_with_circles_and_data_without_source_get_one_too() -> None:
    seven = ("a A r s q A", "b B q B", "A a", "B b", "r r", "s s", "q q")
    made = certify.make(analyse(from_sentences(seven)))
    (sample,) = made["facts"]["source"]["samples"]
    assert read_samples(made)[sample] == ((0, 1), made["vocabulary"].index("r"), 1)
    assert made["bounds"] is None
    circle = certify.make(analyse(read(str(Path(EXAMPLE_1).with_name("cycle.jsonl")))))
    names = circle["vocabulary"]
    assert circle["columns"][0]["circles"] == [
        [names.index(x) for x in ("paper", "rock", "scissors")]
    ]
    above, below = (read_samples(circle)[i] for i in circle["facts"]["assumption_1"]["samples"])
    (token,) = circle["facts"]["assumption_1"]["tokens"]
    assert circle["collocation"][token] == above[1] != below[1]
    certificate.check(circle)


def test_data_without_a_map_of_next_tokens_are_refused_with_the_way_out() -> None:
    with pytest.raises(InputError, match=r"n is not defined for 'b'.*give --collocation"):
        certify.make(analyse(from_sentences(["a b"])))
    with pytest.raises(InputError, match="the given collocation has another next token"):
        certify.make(analyse(from_sentences(["a b", "b a"]), {"a": "a"}))
    with pytest.raises(InputError, match="give a step size above 0"):
        certify.make(analyse(read(EXAMPLE_1)), math.nan)


def test_two_samples_without_a_map_of_next_tokens_are_certified(run: Run, tmp_path: Path) -> None:
    # what follows c is not known either, and need not be
    data = from_sentences(["b a", "a b c", "a a", "a b c"])
    made = certify.make(analyse(data))
    assert set(made) == {"format", "vocabulary", "lines", "samples", "collocation"}
    samples = [read_samples(made)[number] for number in made["collocation"]["samples"]]
    assert [[made["vocabulary"][x] for x in (*s, y)] for s, y, _ in samples] == [
        ["a", "b"],
        ["a", "a"],
    ]
    assert [count for _, _, count in samples] == [2, 1]
    certificate.check(json.loads(certify.to_text(made)))
    assert certify.same_data(made, data)
    assert not certify.same_data(made, from_sentences(["b a", "a b c", "a a"]))
    path, target = write(tmp_path, "b a\na b c\na a\n"), str(tmp_path / "c.json")
    told = run("certify", path, "-o", target)
    assert told.code == 0
    assert "sample 2 (a -> b) and sample 4 (a -> a) give one token two next tokens" in told.out
    assert run("certify", path, "--check", target).code == 0
    n = write(tmp_path, "c a\n", "n.txt")
    assert run("certify", path, "--collocation", n, "--check", target).code == 0


@pytest.mark.parametrize("seed", range(12))
def test_what_fails_is_refuted_by_samples_of_the_data(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tokens = [f"t{i}" for i in range(int(rng.integers(2, 6)))]
    n = {x: str(rng.choice(tokens)) for x in tokens}  # seldom injective
    samples = list(n.items())
    for _ in range(int(rng.integers(1, 9))):
        sentence = [str(x) for x in rng.choice(tokens, int(rng.integers(2, 6)))]
        samples.append((" ".join(sentence), str(rng.choice(tokens))))
    structure = analyse(from_samples(samples))
    made = certify.make(structure)
    certificate.check(json.loads(certify.to_text(made)))
    holds = facts(structure)
    assert (made["facts"]["assumption_1"] is True) == holds["Assumption 1"]
    assert (made["facts"]["prefix_closed"] is True) == holds["prefix closure"]
    assert (made["facts"]["source"] is True) == holds["source"]
    assert (made["facts"]["assumption_3"] is True) == structure.frequent.holds
    assert len(certify.implied(made)) >= 9


def test_each_pair_is_witnessed_by_the_first_sample_that_forces_it() -> None:
    # n: a -> b -> c -> a; under c the second sample forces a > b, the third adds b > a only
    samples = [("a", "b"), ("b", "c"), ("c", "a"), ("a c", "b"), ("b a c", "b"), ("a b c", "b")]
    made = certify.make(analyse(from_samples(samples)))
    (column,) = made["columns"]
    a, b, c = (made["vocabulary"].index(token) for token in "abc")
    assert column["query"] == c
    assert [(row[0], row[2], row[3]) for row in column["pairs"]] == [(3, a, None), (4, a, None)]
    rows = certify.spelled_out(made["collocation"], read_samples(made), column)
    assert [(row[0], row[2], row[3]) for row in rows] == [(3, a, [c]), (4, a, [b])]


def test_prefixes_of_one_text_are_spelled_once() -> None:
    data = from_samples(
        [("a b", "c"), ("a", "b"), ("b", "c"), ("a b c", "a"), ("c", "a"), ("a", "b")]
    )
    made = certify.make(analyse(data))
    assert made["lines"] == [[0, 1, 2, 0], [1, 2], [2, 0]]
    assert made["samples"] == [[0, 2, 1], [0, 1, 2], [1, 1, 1], [0, 3, 1], [2, 1, 1]]
    assert [(*s, y) for s, y, _ in read_samples(made)] == [
        (0, 1, 2), (0, 1), (1, 2), (0, 1, 2, 0), (2, 0),
    ]  # fmt: skip


def test_the_summary_names_the_theorems_that_apply(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "certificate.json")
    closed = run("certify", EXAMPLE_1, "-o", target).out
    assert "Proposition 2 applies" in closed
    assert "Theorem B applies" in closed
    five = run("certify", FIVE_TOKENS, "-o", target, "--overwrite").out
    assert "Proposition 2 does not apply, without prefix closure" in five
    assert "Theorem B applies" in five
    assert "Prefix closure fails: sample 6 (a c q -> b) is in the file" in five
    # By hand, k = 2 and m = 3: the closed form gives a 3/5; the solution is 2/3, 2/3 above c and d.
    assert "Under the query 'q' it is not: there it gives 'a' 3/5, and the solution is 2/3." in five
    wrong = run("certify", CONTRADICTION, "-o", target, "--overwrite").out
    assert "Theorem A does not apply, without Assumption 1" in wrong
    assert "under the query '1', sample 2 (0 1 -> 1) puts '0' above another token" in wrong
    assert "sample 3 (0 1 1 -> 0) puts it below another" in wrong


def test_the_command_writes_a_certificate_and_accepts_it(run: Run, tmp_path: Path) -> None:
    target = str(tmp_path / "certificate.json")
    wrote = run("certify", EXAMPLE_1, "-o", target)
    assert (wrote.code, "squared norm is 13/6" in wrote.out) == (0, True)
    assert "beats the trivial one from step 529 on" in wrote.out
    accepted = run("certify", "--check", target).out.splitlines()
    assert accepted[0] == f"{target}: accepted"
    assert accepted[1:] == wrote.out.splitlines()[1:-1], "what it implies is said again"
    assert run("certify", EXAMPLE_1, "--check", target).code == 0
    other = run("certify", FIVE_TOKENS, "--check", target)
    assert (other.code, "right, and of other data" in other.out) == (1, True)
    again = run("certify", EXAMPLE_1, "-o", target)
    assert (again.code, "give --overwrite" in again.err) == (2, True)
    assert run("certify", CONTRADICTION, "-o", target, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "other.json"), "--output changes nothing with --check"),
        (("--output", "certificate.json"), "--output changes nothing with --check"),
        (("--eta", "0.1"), "--eta changes nothing with --check"),
        (("--overwrite",), "--overwrite changes nothing with --check"),
        (("--max-pairs", "9"), "--max-pairs changes nothing with --check"),
        (("--memory", "2"), "--memory is about FILE"),
        (("--chars",), "--chars is about FILE"),
        (("--format", "text"), "--format is about FILE"),
        (("--collocation", "n.txt"), "--collocation is about FILE"),
    ],
)
def test_options_that_mean_nothing_with_check_are_refused(
    run: Run, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    target = str(tmp_path / "certificate.json")
    run("certify", EXAMPLE_1, "-o", target)
    found = run("certify", "--check", target, *options)
    assert (found.code, message in found.err, found.err.count("\n")) == (2, True, 1)


def test_check_compares_the_collocation_that_is_given_beside_the_data(
    run: Run, tmp_path: Path
) -> None:
    data = write(tmp_path, "a b\n")
    n, other = write(tmp_path, "b c\nc a\n", "n.txt"), write(tmp_path, "b a\nc c\n", "other.txt")
    target = str(tmp_path / "certificate.json")
    assert run("certify", data, "--collocation", n, "-o", target).code == 0
    assert run("certify", data, "--collocation", n, "--check", target).code == 0
    assert run("certify", data, "--collocation", other, "--check", target).code == 1
    assert run("certify", data, "--check", target).code == 1  # without c: other data


def test_memory_raises_the_limits_on_data_and_on_what_is_computed(run: Run, tmp_path: Path) -> None:
    lines = "".join(f"a{i} b{i}\n" for i in range(3000))
    text, target = write(tmp_path, lines), str(tmp_path / "certificate.json")
    long = write(tmp_path, "b a\n" + "a b " * 1000, "long.txt")
    for command in (
        ("check", text),
        ("repair", text, "--greedy"),
        ("certify", text, "-o", target),
        ("train", text, "-o", str(tmp_path / "run.npz")),
        ("predict", text, "--sentence", "a1"),
    ):
        small = run(*command, "--memory", "0.001")
        assert (small.code, "take 1 MB of memory" in small.err) == (2, True)
        assert "raise --memory" in small.err
        assert "--memory" not in run(*command, "--memory", "0.1").err
    page = ("report", text, "-o", str(tmp_path / "page.html"))
    refused = run(*page, "--memory", "0.001")
    assert (refused.code, "take 1 MB of memory" in refused.err) == (2, True)
    assert f"ntpcore: {text}:" in refused.err, "and not the copy that is read"
    again = ("certify", long, "-o", target, "--overwrite")
    assert "fit into a certificate" in run(*again, "--memory", "0.1").err
    assert run(*again).code == 0


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{}", 1, "not accepted: certificate: 'format' is missing"),
        ('{"a": 1, "a": 2}', 1, "not accepted: certificate: a name occurs twice"),
        ("{", 2, "no JSON at line 1"),
        (b"\xff", 2, "not UTF-8 at byte 0"),
        ("[" * 100_000, 2, "cannot be read"),
    ],
)
def test_a_file_that_is_no_certificate_gets_one_sentence(
    run: Run, tmp_path: Path, text: str | bytes, code: int, message: str
) -> None:
    found = run("certify", "--check", write(tmp_path, text, "c.json"))
    assert (found.code, message in found.out + found.err) == (code, True)
    assert run("certify", "--check", str(tmp_path / "nowhere.json")).code == 2
    assert run("certify").code == 2
