"""Numbers that Python prints as 3e+03 or 4e-16, as a reader writes them: 3000, and a power of ten.

Sentences of checks, results, and cells of tables come to a page as text, from hundreds of formats.
Here is the one place that sets all of them. Code, what code prints and drawings stay as they are,
and so does `claims.json`.
"""

from __future__ import annotations

import re

from ntpverdicts.maths import MARKED, in_html, in_tex, plain

# One digit before the point, as Python prints it; `2e` in `12e5` is the middle of something else.
NUMBER = re.compile(r"(?<![\w.])([-−]?)(\d(?:\.\d+)?)e([-−+]?\d{1,4})(?!\w|\.\d)")
# In turn: a formula that waits for its setter, what holds no sentence, a comment, a tag, a number.
KEPT = "code|kbd|math|option|pre|samp|script|style|svg|textarea"
PART = re.compile(
    rf"{MARKED.pattern}|<(?P<kept>{KEPT})(?=[\s>]).*?</(?P=kept)>|<!--.*?-->|(?P<tag><[^>]*>)"
    rf"|(?P<number>{NUMBER.pattern})",
    re.DOTALL,
)
READ = re.compile(r'(?<=\s)(?:alt|title|aria-label)="[^"]*"')  # aloud, or in a box: no formulas


def worded(text: str) -> str:
    r"""A text with such numbers as texts of a check have them: 3000, or `$4\cdot 10^{-16}$`."""
    return NUMBER.sub(_worded, text)


def in_page(html: str) -> str:
    """HTML with such numbers outside of code in digits, or marked as formulas to be typeset.

    Attributes that are read aloud have them in plain letters, as 4·10⁻¹⁶.
    """
    return PART.sub(_part, html)


def _worded(number: re.Match[str]) -> str:
    """One number."""
    sign, factor, power = number[1], number[2], number[3].replace("−", "-")
    tex = in_tex(f"{'-' if sign else ''}{factor}e{power}")
    if "^" not in tex:
        return tex.replace("-", "−")
    return f"${{{tex}}}$"  # in braces: no line ends within it


def _spelled(number: re.Match[str]) -> str:
    """One number in plain letters."""
    return plain(_worded(number))


def _part(part: re.Match[str]) -> str:
    """A part of a page."""
    if part["number"]:
        return in_html(worded(part["number"]))
    if part["tag"]:
        return READ.sub(lambda said: NUMBER.sub(_spelled, said[0]), part["tag"])
    return part[0]
