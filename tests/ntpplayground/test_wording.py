"""Messages in the words of the page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ntpplayground import wording

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [
    path for folder in ("ntpcore", "ntpcli", "ntpbook") for path in (ROOT / folder).rglob("*.py")
]


def texts_of_the_program() -> str:
    """Every text in the program, those of f-strings joined."""
    found = []
    for path in PROGRAM:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    one.value if isinstance(one, ast.Constant) else "{}" for one in node.values
                ]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return "\n".join(found)


def test_every_phrase_that_is_replaced_is_one_that_the_program_says() -> None:
    said = texts_of_the_program()
    ours = "\n".join(wording.SAID.values())
    assert [phrase for phrase in wording.SAID if phrase not in said and phrase not in ours] == []
    assert "a phrase that nobody says" not in said


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ntpcore: sentences.txt:3: the token is empty", "Line 3: the token is empty"),
        ("samples.jsonl: no sample here", "No sample here"),
        ("part of sentences.txt: no sample here", "No sample here"),
        ("ntpcore: the sentence is empty", "the sentence is empty"),
        ("ntpcore check sentences.txt --repair measures how far",
         "The text is too long for “Check” to measure how far it is from Assumption 1; “Make it "
         "realizable” measures this."),
    ],
)  # fmt: skip
def test_places_are_lines_and_ways_out_are_controls(theirs: str, ours: str) -> None:
    assert wording.plainly(theirs) == ours


@pytest.mark.parametrize(
    ("tokens", "named"),
    [
        (("the", "cat", "sat", "cat."), ("“cat” and “cat.”",)),
        (("The", "cat", "the"), ("“The” and “the”",)),
        (("Why?", "cat", "why"), ("“Why?” and “why”",)),
        (("the", "then", "cats", "cat", ".", "!", "a.b", "ab"), ()),
    ],
)
def test_words_that_differ_in_case_or_a_final_mark_only_are_named(
    tokens: tuple[str, ...], named: tuple[str, ...]
) -> None:
    line = wording.alike(tokens)
    assert all(words in line for words in named)
    assert bool(line) == bool(named)
