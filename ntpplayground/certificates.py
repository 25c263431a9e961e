"""Certificates on the page: the one of the reader's data, and any that is to be checked.

The checker is `ntpcore/certificate.py`, the file that also runs alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ntpcli import certify
from ntpcli.terminal import show_name
from ntpcore import certificate
from ntpcore.data.dataset import InputError
from ntpcore.data.order import Structure

LONGEST = 300  # letters of a refusal
STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
BLANK = re.compile(r"[ \t\r\n]*")
# Lists within lists; a certificate has six, and a browser's Python bears some thousands.
DEEPEST = 20
# A text, or where a list or an object begins or ends.
PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


def write(structure: Structure) -> dict[str, object]:
    """The certificate that `ntpcore certify` writes of a data set, and what it implies.

    Raises:
        InputError: as `certify.make`.
    """
    made = certify.make(structure)
    return {"exit": 0, "text": certify.to_text(made), "implied": certify.implied(made)}


def check(path: str) -> dict[str, object]:
    """Run the checker on a file.

    Returns:
        `exit`, as of the checker; then `implied`, a sentence each, if it is 0; `line` and
        `refusal`, the first place that is wrong with the reason, if it is 1.

    Raises:
        InputError: the file is no JSON.
    """
    text = Path(path).read_text(encoding="utf-8")
    if _is_deep(text):
        raise InputError("This is not a certificate: it has lists within lists without end.")
    try:
        found = json.loads(text, object_pairs_hook=certificate.once)
        certificate.check(found)
    except certificate.RefusedError as error:
        refusal = show_name(str(error))
        if len(refusal) > LONGEST:
            refusal = refusal[: LONGEST - 1] + "…"
        return {"exit": 1, "line": line_of(text, str(error)), "refusal": refusal}
    except json.JSONDecodeError as error:
        raise InputError(
            f"This is not JSON: {error.msg} in line {error.lineno}, column {error.colno}. A "
            "certificate is a file that “Save certificate” or ntpcore certify wrote."
        ) from None
    except ValueError:  # Python reads numbers of up to 4300 digits
        raise InputError("This is not a certificate: it holds a number too long to read.") from None
    return {"exit": 0, "implied": certify.implied(found)}


def _is_deep(text: str) -> bool:
    """Whether more lists and objects lie within each other than in any certificate."""
    depth = 0
    for piece in PIECE.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(piece[0], 0)
        if depth > DEEPEST:
            return True
    return False


def line_of(text: str, refusal: str) -> int:
    """The line of a certificate at which the place begins that a refusal names, from 1.

    Where a part of the place is missing, it is the line of what should hold it.
    """
    at = _skip(text, 0)
    for index, name in STEP.findall(refusal.partition(":")[0]):
        step = int(index) if index else name
        inside = dict(_parts(text, at))
        if step not in inside:
            break
        at = inside[step]
    return text.count("\n", 0, at) + 1


def _parts(text: str, at: int) -> list[tuple[str | int, int]]:
    """Where the values of the object or list begin that begins here: by name or by number."""
    opening, found = text[at], list[tuple[str | int, int]]()
    if opening not in "{[":
        return found
    decoder = json.JSONDecoder()
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        key: str | int = len(found)
        if opening == "{":
            key, at = decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # the colon
        found.append((key, at))
        at = _skip(text, decoder.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _skip(text: str, at: int) -> int:
    """The first place from here on that is not blank."""
    blank = BLANK.match(text, at)
    return blank.end() if blank else at
