"""The command line: answers, exit codes, and messages for input that cannot be used."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from data_file import write
from program import (
    CONTRADICTION,
    EXAMPLE_1,
    EXAMPLES,
    FIVE_TOKENS,
    ODD,
    Run,
    has_control_characters,
    odd_five_tokens,
    shell,
)

from ntpcli import judge as on_data


def test_example_1_is_answered_as_data_exactly(run: Run):
    result = run("check", EXAMPLE_1, "--json")
    assert (result.code, result.err) == (0, "")
    found = json.loads(result.out)
    claims = found.pop("claims")
    assert found == {
        "dataset": {
            "vocabulary": ["S", "V", "O", "P"],
            "samples": 9,
            "max_length": 3,
            "prefix_closed": True,
        },
        "assumptions": {
            "1": {"holds": True, "witnesses": []},
            "3": {"holds": True, "witnesses": []},
        },
        "collocation": {"S": "V", "V": "O", "O": "P", "P": "S"},
        "orders": {
            "S": {"optimal": ["S"], "nonoptimal": ["P"], "noncomparable": ["V", "O"]},
            "V": {"optimal": ["V"], "nonoptimal": ["S"], "noncomparable": ["O", "P"]},
            "O": {"optimal": ["O"], "nonoptimal": ["S", "V"], "noncomparable": ["P"]},
            "P": {"optimal": ["O"], "nonoptimal": ["P"], "noncomparable": ["S", "V"]},
        },
        "margin": {
            "norm_squared": "13/6",
            "columns": {
                "S": {"S": "1/2", "P": "-1/2"},
                "V": {"V": "1/2", "S": "-1/2"},
                "O": {"O": "2/3", "S": "-1/3", "V": "-1/3"},
                "P": {"O": "1/2", "P": "-1/2"},
            },
            "blocks": {"S": [[1, 1]], "V": [[1, 1]], "O": [[1, 2]], "P": [[1, 1]]},
        },
    }
    assert [(claim["label"], claim["verdict"]) for claim in claims] == [
        ("huang2024-prop-2", "proved"),
        ("huang2024-prop-4", "proved"),
        ("huang2024-eq-16", "proved"),
        *((label, "open") for label in on_data.TRAINED),
    ]


def test_five_tokens_lack_prefix_closure_and_break_the_formula_of_proposition_2(run: Run):
    result = run("check", FIVE_TOKENS, "--json")
    found = json.loads(result.out)
    assert result.code == 0
    assert found["margin"] == {
        "norm_squared": "7/6",
        "columns": {"q": {"a": "2/3", "b": "1/2", "c": "-1/3", "d": "-1/3", "q": "-1/2"}},
        "blocks": {"q": [[1, 2], [1, 1]]},
    }
    assert {claim["verdict"] for claim in found["claims"][:3]} == {"open"}
    first = found["claims"][0]
    assert first["evidence"].startswith(
        "The data lack prefix closure, which the statement presumes."
    )
    assert [first["numbers"][name]["value"] for name in ("printed", "true")] == ["6/5", "7/6"]


def test_confused_tokens_leave_orders_null_and_claims_open(run: Run):
    result = run("check", CONTRADICTION, "--json")
    found = json.loads(result.out)
    assert result.code == 1
    assert found["assumptions"]["1"]["holds"] is False
    assert found["assumptions"]["3"] == {"holds": True, "witnesses": []}
    assert found["orders"] == {"1": None}
    assert found["margin"] is None
    assert {claim["verdict"] for claim in found["claims"]} == {"open"}
    witness = found["assumptions"]["1"]["witnesses"][0]
    assert set(witness) == {"rule", "of", "tokens", "message", "samples"}
    assert (witness["rule"], witness["of"]) == ("confused-token", 2)
    assert [(s["file"], s["line"]) for s in witness["samples"]] == [(CONTRADICTION, 1)] * 2


def test_an_undefined_collocation_leaves_null_what_rests_on_it(run: Run, tmp_path: Path):
    result = run("check", write(tmp_path, "a b c\n"), "--json")
    found = json.loads(result.out)
    assert result.code == 1
    assert found["collocation"] == {"a": "b", "b": None, "c": None}
    assert found["orders"] is None
    assert found["margin"] is None
    assert found["assumptions"]["3"]["holds"] is None
    assert {claim["verdict"] for claim in found["claims"]} == {"open"}


def test_data_that_order_nothing_have_empty_orders(run: Run, tmp_path: Path):
    result = run("check", write(tmp_path, "a b\nb a\n"), "--json")
    found = json.loads(result.out)
    assert result.code == 0
    assert found["orders"] == {}
    assert found["margin"] == {"norm_squared": "0", "columns": {}, "blocks": {}}
    assert {claim["verdict"] for claim in found["claims"]} == {"open"}


def test_the_report_names_orders_scores_and_verdicts(run: Run):
    result = run("check", FIVE_TOKENS)
    assert (result.code, result.err) == (0, "")
    lines = [line.strip() for line in result.out.splitlines()]
    assert "q: a 2/3, b 1/2  >  c -1/3, d -1/3, q -1/2   blocks (1,2) (1,1)" in lines
    assert "squared norm of W_kq*: 7/6" in lines
    assert "✔ Assumption 1 (realizable): holds" in lines
    assert any(line.startswith("○ open       huang2024-eq-16: The data lack") for line in lines)
    assert any(line.startswith("witness: query q: a > c, d, q; b > q, squared") for line in lines)


def test_the_report_shows_the_lines_that_confuse_a_token(run: Run):
    result = run("check", CONTRADICTION)
    assert f"{CONTRADICTION}:1: 0 1 1 → 0" in result.out
    assert "under query '1', '1' lies above '0', which lies above '1'" in result.out


def test_one_claim_can_be_judged_alone(run: Run):
    result = run("check", EXAMPLE_1, "--json", "--claim", "huang2024-eq-16")
    assert [claim["label"] for claim in json.loads(result.out)["claims"]] == ["huang2024-eq-16"]


def test_witnesses_are_limited_and_all_failures_counted(run: Run, tmp_path: Path):
    path = write(tmp_path, " ".join(f"t{i}" for i in range(150)))
    for options, listed in [
        ((), 100),
        (("--max-witnesses", "3"), 3),
        (("--max-witnesses", "0"), 0),
    ]:
        result = run("check", path, "--json", *options)
        witnesses = json.loads(result.out)["assumptions"]["1"]["witnesses"]
        assert result.code == 1
        assert [witness["of"] for witness in witnesses] == [149] * listed
        report = run("check", path, *options)
        assert "149 tokens start no sentence, so their next tokens n are not defined" in report.out
        assert report.out.count("\n") < 40, "tokens that start no sentence are one row"
        assert ("t1, t2, " in report.out) == (listed > 0)
        assert listed == 0 or f", and {149 - min(listed, 12)} more" in report.out


def test_characters_and_a_given_collocation(run: Run, tmp_path: Path):
    path = write(tmp_path, "SVO\nVOP\n")
    n = write(tmp_path, "O P\nP S\n", "n.txt")
    assert run("check", path, "--chars").code == 1
    result = run("check", path, "--chars", "--collocation", n, "--json")
    found = json.loads(result.out)
    assert result.code == 0
    assert found["collocation"] == {"S": "V", "V": "O", "O": "P", "P": "S"}
    assert found["claims"][0]["repeat"] == (
        f"ntpcore check {path} --chars --collocation {n} --claim huang2024-prop-2"
    )


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "empty": ("a.txt", b"", "{}: the input holds no sentence; write one sentence per line"),
    "blank": ("a.txt", b"\n \n", "{}: the input holds no sentence; write one sentence per line"),
    "no sample": ("a.txt", b"a\nb\n", "{}: no sample: every line has a single token"),
    "not UTF-8": ("a.txt", b"a b\n\xe9 b\n", "{}:2: not valid UTF-8; convert the file"),
    "binary": ("a.txt", b"a b\n\0\1\2", "{}:2: this looks like a binary file"),
    "broken JSON": ("a.jsonl", b'{"sentence": [', "{}:1: broken JSON at column 15"),
    "mistyped JSON": (
        "a.jsonl",
        b'{"sentence": "S V", "next": "O"}',
        "{}:1: 'sentence' is a string",
    ),
    "unknown key": ("a.jsonl", b'{"a": 1}', '{}:1: unknown key "a"; the keys are sentence'),
    "empty sentence": ("a.jsonl", b'{"sentence": [], "next": "O"}', "{}:1: 'sentence' is empty"),
    "count": (
        "a.jsonl",
        b'\n{"sentence": ["a"], "next": "b", "count": 0}',
        "{}:2: 'count' is 0; give a positive integer",
    ),
}


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_cannot_be_used_gets_one_message(
    run: Run, tmp_path: Path, name: str, content: bytes, message: str
):
    path = write(tmp_path, content, name)
    for options in ((), ("--json",)):
        result = run("check", path, *options)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("ntpcore: " + message.format(path))
        assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.txt",), "nowhere.txt: cannot be read (No such file or directory); name a"),
        ((str(EXAMPLES),), f"{EXAMPLES}: cannot be read (Is a directory); name a readable"),
        (("",), "'': cannot be read (No such file or directory)"),
        (("a\0b",), "'a\\x00b': not a file name"),
        (("a\x1b[31m\nb",), "a\\x1b[31m\\nb: cannot be read"),
        ((EXAMPLE_1, "--format", "csv"), f"{EXAMPLE_1}: unknown format 'csv'; use one of text"),
        ((FIVE_TOKENS, "--chars"), f"{FIVE_TOKENS}: JSON Lines name their tokens; leave out"),
        ((EXAMPLE_1, "--claim", "nonsense"), "--claim nonsense: no such claim; data decide huang"),
        ((EXAMPLE_1, "--claim", ""), "--claim : no such claim; data decide huang2024-prop-2"),
        ((EXAMPLE_1, "--claim", "huang2024-asm-2"), "--claim huang2024-asm-2: not decided by data"),
        ((EXAMPLE_1, "--claim", "huang2024-cor-1"), "--claim huang2024-cor-1: not decided by data"),
        ((EXAMPLE_1, "--collocation", "nowhere"), "nowhere: cannot be read"),
        ((EXAMPLE_1, "--collocation", ""), "'': cannot be read"),
        ((EXAMPLE_1, "--collocation", EXAMPLE_1), f"{EXAMPLE_1}:1: 4 columns where two are needed"),
        ((EXAMPLE_1, "--max-pairs", "4"), f"{EXAMPLE_1}:4: the partial orders hold more than 4"),
        (("-", "--collocation", "-"), "<stdin>: data and collocation cannot both come from it"),
    ],
)
def test_arguments_that_cannot_be_used_get_one_message(
    run: Run, arguments: tuple[str, ...], message: str
):
    result = run("check", *arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"ntpcore: {message}")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("check",),
        ("check", EXAMPLE_1, EXAMPLE_1),
        ("chek",),
        ("check", EXAMPLE_1, "--sed"),
        ("check", EXAMPLE_1, "--max-witnesses", "-1"),
        ("check", EXAMPLE_1, "--max-pairs", "x"),
    ],
)
def test_a_mistyped_command_exits_with_2(run: Run, arguments: tuple[str, ...]):
    result = run(*arguments)
    assert result.code == 2
    assert "Traceback" not in result.err
    if arguments:
        assert result.err.startswith("ntpcore: ")
        assert result.err.count("\n") == 1
    else:
        assert "Usage: " in result.out + result.err


def test_help_shows_examples(run: Run):
    for arguments in (("--help",), ("-h",), ("check", "--help"), ("check", "-h")):
        result = run(*arguments)
        assert result.code == 0
        assert "ntpcore check examples/example1.txt" in " ".join(result.out.split())


def test_odd_tokens_are_ordinary_data(run: Run, tmp_path: Path):
    plain = json.loads(run("check", FIVE_TOKENS, "--json").out)
    odd = json.loads(run("check", odd_five_tokens(tmp_path), "--json").out)
    assert odd["dataset"]["vocabulary"] == [ODD[token] for token in plain["dataset"]["vocabulary"]]
    assert odd["margin"]["columns"] == {
        ODD["q"]: {ODD[token]: value for token, value in plain["margin"]["columns"]["q"].items()}
    }


def test_the_report_prints_no_control_character(run: Run, tmp_path: Path):
    realizable = run("check", odd_five_tokens(tmp_path))
    assert realizable.code == 0
    assert "[red]👩" in realizable.out
    failing = [
        "\x1b[2J b\u200f \x7f",
        "\x1b[2J b \x1b[2J \x1b[2J b\nb \x1b[2J",
        "\x1b a\nb a\na \x1b\nb \x1b\u202e",
    ]
    for number, text in enumerate(failing):
        result = run("check", write(tmp_path, text, f"\x1b]0;{number}\n\u202e.txt"))
        assert result.code == 1
        assert not has_control_characters(result.out)
    assert not has_control_characters(realizable.out)


def test_a_message_prints_no_control_character(run: Run, tmp_path: Path):
    token = "\x1b[31m\u202e"
    for content, name in [
        (json.dumps({token: 1}), "a.jsonl"),
        (json.dumps({"sentence": token, "next": "b"}), "\x1b[2J.jsonl"),
    ]:
        result = run("check", write(tmp_path, content, name))
        assert result.code == 2
        assert not has_control_characters(result.err)
    n = write(tmp_path, f"a {token}\na b\n", "n.txt")
    result = run("check", EXAMPLE_1, "--collocation", n)
    assert result.code == 2
    assert not has_control_characters(result.err)


@pytest.mark.parametrize(
    "name",
    ["plain.data", "two words.data", "-dash.data", "it's $x.data", "\x1b[31m\\'\n\u200f.data"],
)
def test_the_command_that_a_claim_shows_repeats_it(tmp_path: Path, name: str):
    write(tmp_path, Path(FIVE_TOKENS).read_bytes(), name)
    write(tmp_path, "z z\n", "my n")
    command = (
        f"cd {shlex.quote(str(tmp_path))}; "
        "ntpcore check --format jsonl --max-pairs 4 --collocation 'my n' --claim huang2024-prop-2 "
    )
    first = shell(f"{command} -- {shlex.quote(name)}")
    shown = [line.split(":", 1)[1] for line in first.out.splitlines() if "repeat: " in line]
    assert len(shown) == 1
    assert " --max-pairs 4 " in shown[0]
    assert not has_control_characters(first.out)
    again = shell(f"cd {shlex.quote(str(tmp_path))}; {shown[0]}")
    assert (again.code, again.err) == (0, "")
    assert [line for line in first.out.splitlines() if "huang2024-prop-2:" in line] == [
        line for line in again.out.splitlines() if "huang2024-" in line and "repeat" not in line
    ]


def test_standard_input_is_read_as_text_or_as_told():
    result = shell("ntpcore check - --chars --json", b"SVOP\nVOP\nOPP\nPSV\n")
    found = json.loads(result.out)
    assert result.code == 0
    assert found["margin"]["norm_squared"] == "13/6"
    assert found["claims"][0]["repeat"] == "ntpcore check - --chars --claim huang2024-prop-2"
    assert shell("ntpcore check - --format jsonl", Path(FIVE_TOKENS).read_bytes()).code == 0
    bad = shell("ntpcore check -", b"a b\n\xff\n")
    assert bad == (2, "", "ntpcore: <stdin>:2: not valid UTF-8; convert the file to UTF-8 first\n")
    closed = shell("ntpcore check - <&-")
    assert (closed.code, closed.out) == (2, "")
    assert closed.err.startswith("ntpcore: <stdin>: cannot be read")


def test_a_reader_that_stops_early_is_no_error():
    result = shell("ntpcore check example1.txt | head -1")
    assert result == (0, "Data  example1.txt\n", "")
    assert shell("ntpcore check five_tokens.jsonl --json | true") == (0, "", "")


def test_an_answer_that_cannot_be_written_is_a_message():
    for options in ("", "--json"):
        result = shell(f"ntpcore check example1.txt {options} > /dev/full")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("ntpcore: the answer cannot be written (No space left")
        assert result.err.count("\n") == 1
    closed = "ntpcore: standard output is closed; send it somewhere\n"
    assert shell("ntpcore check five_tokens.jsonl --json >&-") == (2, "", closed)


def test_output_that_cannot_hold_all_characters_is_spelled_out(tmp_path: Path):
    path = shlex.quote(odd_five_tokens(tmp_path))
    report = shell(f"ntpcore check {path}", PYTHONIOENCODING="ascii")
    assert (report.code, report.err) == (0, "")
    assert report.out.isascii()
    assert "\\u25cb open" in report.out
    data = shell(f"ntpcore check {path} --json", PYTHONIOENCODING="ascii")
    assert data.out.isascii()
    assert json.loads(data.out)["dataset"]["vocabulary"] == [ODD[t] for t in "abcdq"]


def test_a_file_name_that_is_not_utf_8_is_no_obstacle(tmp_path: Path):
    name = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(name, "wb") as file:
        file.write(Path(FIVE_TOKENS).read_bytes())
    folder = shlex.quote(str(tmp_path))
    result = shell(f"cd {folder}; ntpcore check $'\\xff.jsonl' --json")
    found: dict[str, Any] = json.loads(result.out)
    assert (result.code, result.err) == (0, "")
    again = shell(f"cd {folder}; {found['claims'][0]['repeat']}")
    assert (again.code, again.err) == (0, "")


def test_answers_do_not_depend_on_the_hash_seed(tmp_path: Path):
    """Five queries, each with its own sparse order of several blocks, and confused data."""
    tokens = [f"t{i}" for i in range(12)]
    rows: list[tuple[list[str], str]] = [
        ([token], tokens[(i + 1) % 12]) for i, token in enumerate(tokens)
    ]
    for q in range(5):
        for a, rivals in [(5, [9, 10, 11]), (6, []), (7, [9 + q % 3]), (8, [])]:
            rows.append(([tokens[i] for i in [a, *rivals, q]], tokens[a + 1]))
    good = "\n".join(json.dumps({"sentence": s, "next": n}) for s, n in rows)
    confused = good + '\n{"sentence": ["t5", "t6", "t0"], "next": "t6"}'
    for number, content in enumerate((good, confused)):
        path = shlex.quote(write(tmp_path, content, f"{number}.jsonl"))
        answers = {
            shell(f"ntpcore check {path} --json; true", PYTHONHASHSEED=seed) for seed in "012"
        }
        assert len(answers) == 1
        (answer,) = answers
        assert answer.err == ""
        margin = json.loads(answer.out)["margin"]
        if number == 0:
            assert all(len(blocks) > 1 for blocks in margin["blocks"].values())
        else:
            assert margin is None
