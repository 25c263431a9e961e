"""Parameters of notebooks, as given on the command line of make."""

from __future__ import annotations

from collections.abc import Mapping

# Variables that steer make itself; everything else on its command line is a parameter.
SETTINGS = frozenset({"PAGE", "PYTHON", "JOBS", "PORT"})

Parameters = Mapping[str, object]


class UsageError(Exception):
    """The command line cannot be used; the message says why and what can be used."""


def given_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Parameters on make's command line: it exports them, and their names in one more variable."""
    names = environment.get("NTPCORE_VARIABLES", "").split()
    return {name: environment[name] for name in names if name not in SETTINGS}


def choose(
    defaults: Mapping[str, Parameters], variables: Mapping[str, str]
) -> dict[str, dict[str, object]]:
    """For every page the given parameters that it has, read as its default's type asks.

    Args:
        defaults: for every page the names and defaults of its parameters.
        variables: upper-case names and the texts given for them.

    Raises:
        UsageError: no page has such a parameter, or the text is not a value for it.
    """
    known = sorted({name.upper() for page in defaults.values() for name in page})
    for name in variables:
        if name.upper() not in known:
            choices = f"they have {', '.join(known)}" if known else "they have none"
            raise UsageError(f"no page has a parameter {name}; {choices}")
    return {
        page: {
            name.lower(): read_value(name, text, own[name.lower()])
            for name, text in sorted(variables.items())
            if name.lower() in own
        }
        for page, own in defaults.items()
    }


def read_value(name: str, text: str, default: object) -> object:
    """A text as a value of the default's type.

    Raises:
        UsageError: the text is no such value.
    """
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    try:
        if isinstance(default, bool):
            return words[text.lower()]
        if isinstance(default, int | float):
            return type(default)(text)
        return text
    except (KeyError, ValueError):
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise UsageError(f"{name}={text} is not {kind}, such as {name}={default}") from None


def choose_pages(pages: list[str], wanted: str) -> list[str]:
    """The page of that name, or all pages whose names begin so.

    Raises:
        UsageError: there is none.
    """
    found = [wanted] if wanted in pages else [page for page in pages if page.startswith(wanted)]
    if not wanted or not found:
        problem = f"no page is called or begins with {wanted!r}" if wanted else "name a page"
        raise UsageError(f"{problem}; PAGE can be one of\n  " + "\n  ".join(pages))
    return found
