"""Messages of the program in the words of the page, which has buttons and fields, not options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ntpcli import terminal

FINAL = ".,;:!?…"  # marks that end a sentence or a part of it

PLACE = re.compile(r"^(?:ntpcore: )?(?:part of )?(?:sentences\.txt|samples\.jsonl)(?::(\d+))?: ")
SAID = {
    "separate tokens by white space, or give --chars": (
        "separate tokens by white space, or choose “characters” above the text"
    ),
    "JSON Lines name their tokens; leave out --chars": (
        "JSON Lines name their tokens; choose “JSON Lines” above the text"
    ),
    ", or raise --max-pairs": "",
    "(--json lists them)": "(the JSON below has them all)",
    " (--json lists up to --max-witnesses)": "",
    ", and ntpcore.max_margin computes them": "",
    "Not run; add --steps 900.": (
        "Not decided here: the statement is about a whole training run. “Attention over steps” "
        "below shows one."
    ),
    "or give the collocation in a file": "or write its next token into the field “Next tokens”",
    "or give --collocation": "or write its next token into the field “Next tokens”",
    "the given collocation has another": "the field “Next tokens” has another",
    "ntpcore check names it": "“Check” names it",
    "without a collocation there are no orders to judge": (
        "the text does not give every token a next token, and inferred ones are not judged"
    ),
    "the input holds no sentence": "there is no sentence",
    "use a part of the file": "use a part of the text",
    "use a part of the data": "use a part of the text",
    ", or raise --memory (room= of dataset.read)": "",
    ", or raise --memory": "",
}
# What is not cut out but replaced as a whole.
WHOLE = (
    (
        re.compile(r"^ntpcore check .* --repair measures how far$"),
        "The text is too long for “Check” to measure how far it is from Assumption 1; “Make it "
        "realizable” measures this.",
    ),
    (
        re.compile(r"^.*--json would give every token a role .*$"),
        "There are too many tokens and queries for this page; use a part of the text.",
    ),
    (
        re.compile(r"^.*--json would list \d+ dropped samples.*$"),
        "Too many samples would be dropped for this page; use a part of the text.",
    ),
)


def plainly(message: str) -> str:
    """A message without the command line: places are lines of the text, ways out are controls."""
    for pattern, words in WHOLE:
        if pattern.match(message):
            return words
    for theirs, ours in SAID.items():
        message = message.replace(theirs, ours)
    match = PLACE.match(message)
    if match is None:
        return message.removeprefix("ntpcore: ")
    rest = message[match.end() :]
    return f"Line {match[1]}: {rest}" if match[1] else rest[:1].upper() + rest[1:]


def alike(tokens: Iterable[str]) -> str:
    """One line if two words differ only in case or in a final punctuation mark; else empty."""
    first: dict[str, str] = {}
    for token in tokens:
        word = token.rstrip(FINAL).casefold()
        if word and first.setdefault(word, token) != token:
            one, other = terminal.show(first[word]), terminal.show(token)
            return (
                f"“{one}” and “{other}” are different tokens here: capital letters and punctuation "
                "marks count. If you mean one word, write it the same way everywhere, and put a "
                "space before a punctuation mark."
            )
    return ""
