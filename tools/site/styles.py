"""Style sheets without the rules that no page of the site can need.

The theme brings all of Bootstrap; a page uses a tenth of it. A rule goes only if each of its
selectors names a class, an id or an element that stands in no page and in no script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import tinycss2

WORD = re.compile(r"[A-Za-z_][\w-]*")
NAMES = re.compile(r"""\b(?:class|id)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
TAGS = re.compile(r"<([A-Za-z][\w-]*)")
ESCAPE = re.compile(r"\\(.)")
CLASS_OR_ID = re.compile(r"[.#]((?:[\w-]|\\.)+)")
ELEMENT = re.compile(r"(?:^|[\s>+~])([A-Za-z][\w-]*)")
ATTRIBUTE = re.compile(r"\[[^\]]*\]")
STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
NESTING = {"media", "supports", "layer", "container"}
DEFINED = re.compile(rf"(--[\w-]+)\s*:(?:{STRING.pattern}|[^;{{}}\"'])*;?")
# Where a script gives a class or an id to an element.
GIVEN = re.compile(
    r"(?:classList\.(?:add|toggle|replace)\(|classList\s*=|className\s*\+?=|\.id\s*="
    r"|setAttribute\(\s*['\"](?:class|id)['\"]\s*,)([^;)]*)"
)
# Where a script puts a name together: ntp-${role}.
BEGUN = re.compile(r"([A-Za-z][\w-]*-)\$\{")
ASKED = re.compile(r"var\(\s*(--[\w-]+)")


@dataclass(frozen=True)
class Used:
    """What a site names.

    Attributes:
        names: classes and ids of the pages, and every word of the scripts.
        tags: elements of the pages, and every word of the scripts.
        begun: how names begin that scripts put together.
    """

    names: frozenset[str]
    tags: frozenset[str]
    begun: tuple[str, ...] = ()


def used_by(pages: Iterable[str], scripts: Iterable[str], stack: Iterable[str]) -> Used:
    """What pages and scripts name.

    Args:
        pages: the pages.
        scripts: scripts of this book: any word of theirs may be a class.
        stack: scripts of theme and extensions: a class counts where they give it to an element.
    """
    names: set[str] = set()
    tags: set[str] = set()
    for page in pages:
        for double, single in set(NAMES.findall(page)):
            names.update((double or single).split())
        tags.update(tag.lower() for tag in set(TAGS.findall(page)))
    own = list(scripts)
    words = {word for script in own for word in WORD.findall(script)}
    begun = tuple(sorted({name for script in own for name in BEGUN.findall(script)}))
    for script in stack:
        words |= {word for given in GIVEN.findall(script) for word in WORD.findall(given)}
        words |= {word for given in NAMES.findall(script) for word in " ".join(given).split()}
    return Used(frozenset(names | words), frozenset(tags | words | {"from", "to"}), begun)


def can_match(selector: str, used: Used) -> bool:
    """Whether some element of the site may match; in doubt it may."""
    bare = ATTRIBUTE.sub("", STRING.sub("", _without_functions(selector)))
    for name in CLASS_OR_ID.findall(bare):
        plain = ESCAPE.sub(r"\1", name)
        if plain not in used.names and not plain.startswith(used.begun):
            return False
    plain = re.sub(r"::?[\w-]+", "", CLASS_OR_ID.sub("", bare))
    return all(tag.lower() in used.tags for tag in ELEMENT.findall(plain))


def _without_functions(selector: str) -> str:
    """A selector without what stands in brackets, such as in :not(...): that decides nothing."""
    kept, depth = "", 0
    for sign in selector:
        depth += sign == "("
        kept += sign if not depth else ""
        depth -= sign == ")"
    return kept


def _selectors(prelude: str) -> list[str]:
    """The selectors of a rule."""
    found, depth, start = [], 0, 0
    for at, sign in enumerate(prelude):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            found.append(prelude[start:at])
            start = at + 1
    return [*found, prelude[start:]]


def slim(css: str, used: Used) -> str:
    """A style sheet without rules that can match nothing, comments and needless space."""
    return _rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), used)


def _rules(rules: Iterable[tinycss2.ast.Node], used: Used) -> str:
    """Rules as text, without those that can match nothing."""
    text = ""
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = _selectors(tinycss2.serialize(rule.prelude))
            kept = [one.strip() for one in selectors if can_match(one, used)]
            body = _tight(tinycss2.serialize(rule.content)) if kept else ""
            text += f"{','.join(kept)}{{{body}}}\n" if body else ""
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTING and rule.content:
            inside = _rules(
                tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True),
                used,
            )
            head = f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude).rstrip()}"
            text += f"{head}{{{inside}}}\n" if inside else ""
        elif rule.type == "at-rule":
            text += _tight(rule.serialize()) + "\n"
        elif rule.type == "error":
            raise ValueError(f"a style sheet cannot be read: {rule.message}")
    return text


def _tight(body: str) -> str:
    """Declarations without comments and needless space; what is quoted stays."""
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    parts = re.split(rf"({STRING.pattern})", body)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"\s+", " ", parts[at])
        parts[at] = re.sub(r"\s*([;{}])\s*", r"\1", parts[at])
        parts[at] = re.sub(r"(?<=[\w)]):\s+", ":", parts[at])
    return "".join(parts).strip().rstrip(";")


def drop_unasked(sheets: dict[Path, str], others: Iterable[str]) -> dict[Path, str]:
    """Style sheets without definitions of variables that nothing asks for.

    Args:
        sheets: all style sheets of the site.
        others: pages and scripts, which may ask for variables by name.
    """
    words = {word for text in others for word in re.findall(r"--[\w-]+", text)}
    while True:
        asked = words | {name for css in sheets.values() for name in ASKED.findall(css)}
        fewer = {
            path: "\n".join(_without_unasked(line, asked) for line in css.split("\n"))
            for path, css in sheets.items()
        }
        if fewer == sheets:
            return fewer
        sheets = fewer


def _without_unasked(line: str, asked: set[str]) -> str:
    """A rule of a slim style sheet without definitions that nothing asks for."""
    return DEFINED.sub(lambda found: found[0] if found[1] in asked else "", line)
