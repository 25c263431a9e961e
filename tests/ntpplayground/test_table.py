"""Tables that are recognized, and sentences that only look like one."""

from __future__ import annotations

import pytest

from ntpplayground.table import recognize


@pytest.mark.parametrize(
    ("text", "column", "sentences"),
    [
        ("text,label\nThe cat sat,pos\nA dog ran,neg\n", "text", ["The cat sat", "A dog ran"]),
        ("id;Sentence\n1;The cat sat\n", "Sentence", ["The cat sat"]),
        ("label\tquote\n1\tThe cat sat\n2\tA dog\n", "quote", ["The cat sat", "A dog"]),
        ('text,label\n"Well, yes",1\n"A ""dog""",0\n', "text", ["Well, yes", 'A "dog"']),
        ('text,label\n"one\ntwo",1\nthree four,0\n', "text", ["one two", "three four"]),
        ("text\nThe cat sat, and slept\nA dog\n", "text", ["The cat sat, and slept", "A dog"]),
        ("title,text\nCats,The cat sat\n", "text", ["The cat sat"]),
    ],
)
def test_the_sentences_of_a_table_are_those_of_one_column(
    text: str, column: str, sentences: list[str]
) -> None:
    found = recognize(text)
    assert found is not None
    assert found.columns[found.chosen] == column
    assert [line for line in found.lines if line] == sentences
    assert f"“{column}”" in found.note
    first = text.split("\n").index(next(one for one in text.split("\n")[1:]))
    assert found.lines[first] == sentences[0], "a sentence keeps the line that it begins on"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The cat sat\nThe dog ran\n",
        "Hello, world\nI am here, now\nYou see it, right\n",
        "one,two\nthree,four\n",
        "text,label\n",
        "text,label\nThe cat sat,pos,more\n",
        "a,b\nsome words,other words\n",
        "S V O P\nV O P\n",
    ],
)
def test_sentences_stay_as_they_are(text: str) -> None:
    assert recognize(text) is None
