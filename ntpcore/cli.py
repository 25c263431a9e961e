"""The command line: `ntpcore check FILE` and its like."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ntpcore import dataset, order, report

STYLES = {
    "title": "bold",
    "plain": "",
    "faint": "dim",
    "proved": "green",
    "consistent": "blue",
    "refuted": "red",
    "open": "yellow",
}

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(epilog="Example: ntpcore check examples/example1.txt")
def commands() -> None:
    """Check statements on next-token prediction on data of your own."""


@app.command(
    epilog="Examples: ntpcore check examples/example1.txt  |  "
    "ntpcore check examples/five_tokens.jsonl --claim huang2024-prop-2  |  "
    "printf 'SVOP\\nVOP\\nOPP\\nPSV\\n' | ntpcore check - --chars --json"
)
def check(
    file: Annotated[str, typer.Argument(help="Data to check; - reads standard input.")],
    form: Annotated[
        str | None,
        typer.Option("--format", help="text or jsonl; told by the name of the file otherwise."),
    ] = None,
    chars: Annotated[
        bool, typer.Option("--chars", help="Every character that is no white space is a token.")
    ] = False,
    collocation: Annotated[
        str | None,
        typer.Option("--collocation", help="File of two columns: a token and its next token."),
    ] = None,
    claim: Annotated[
        str | None, typer.Option("--claim", help="Judge only the claim with this label.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the report.")
    ] = False,
    max_witnesses: Annotated[
        int, typer.Option("--max-witnesses", min=0, help="Failures listed of each rule.")
    ] = order.MAX_WITNESSES,
    max_pairs: Annotated[
        int, typer.Option("--max-pairs", min=1, help="Pairs that all orders may hold together.")
    ] = order.MAX_PAIRS,
) -> None:
    """Assumptions, orders, exact max-margin attention and verdicts for the data in FILE.

    A text file has one sentence per line, tokens separated by white space; every beginning of a
    line is a sample whose next token is the token after it. A JSON Lines file has one sample per
    line: {"sentence": ["S", "V"], "next": "O", "count": 3}.

    Exit code 0: every assumption holds and no judged claim is refuted. 1: an assumption fails or a
    judged claim is refuted. 2: the input cannot be used.
    """
    if file == collocation == "-":
        raise dataset.InputError(
            "<stdin>: data and collocation cannot both come from it; put one of them in a file"
        )
    data = dataset.read(file, form=form, chars=chars)
    given = None if collocation is None else order.read_collocation(collocation)
    found = report.answer(
        data,
        given,
        claim=claim,
        max_witnesses=max_witnesses,
        max_pairs=max_pairs,
        source=_source(file, form, chars, collocation, max_pairs),
    )
    _write(_json(found) if as_json else _text(found))
    raise typer.Exit(0 if found.holds else 1)


def _json(found: report.Answer) -> str:
    """The answer as one JSON object, in characters that standard output can take."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    ascii_only = encoding.lower().replace("-", "") != "utf8"
    return json.dumps(report.to_json(found), ensure_ascii=ascii_only, indent=2) + "\n"


def _text(found: report.Answer) -> str:
    """The answer for people, in colours where standard output is a terminal."""
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    with console.capture() as capture:
        report.write_text(found, lambda line, role: console.print(Text(line, style=STYLES[role])))
    return capture.get()


def _write(text: str) -> None:
    """Write to standard output; a reader that has seen enough (`| head -1`) is no error."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        _drop_output()


def _drop_output() -> None:
    """Let what is still to be written go nowhere, so that the end of the process cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _source(
    file: str, form: str | None, chars: bool, collocation: str | None, max_pairs: int
) -> str:
    """The arguments that repeat the reading of the data, quoted for a shell."""
    words = [f"./{file}" if file.startswith("-") and file != "-" else file]
    words += ["--format", form] if form else []
    words += ["--chars"] if chars else []
    words += ["--collocation", collocation] if collocation is not None else []
    words += ["--max-pairs", str(max_pairs)] if max_pairs != order.MAX_PAIRS else []
    return " ".join(_quote(word) for word in words)


def _quote(word: str) -> str:
    """A word for a shell; what cannot be printed is spelled as bash and its like read it."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(_spelled(character) for character in word) + "'"


def _spelled(character: str) -> str:
    """A character within $'...'."""
    if character in "'\\":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def main() -> None:
    """Run the command line; bad input gets one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except dataset.InputError as error:
        print(f"ntpcore: {report.show_name(str(error))}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        _drop_output()
        print(
            f"ntpcore: the answer cannot be written ({error.strerror}); make room, or send it "
            "somewhere else",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except MemoryError:
        print("ntpcore: the data do not fit into memory; use a part of them", file=sys.stderr)
        raise SystemExit(2) from None
