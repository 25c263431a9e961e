"""The command line: `ntpcore check FILE` and its like."""

from __future__ import annotations

import gc
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress
from rich.text import Text

from ntpcli import check as report
from ntpcli import rows, terminal
from ntpcore.data import dataset, order

STYLES = {
    "title": "bold",
    "plain": "",
    "faint": "dim",
    "proved": "green",
    "not contradicted": "blue",
    "refuted": "red",
    "open": "yellow",
    "well posed": "green",
    "seen": "blue",
    "not seen": "red",
    "undecided": "yellow",
}
# What has to be installed for a package that is missing.
EXTRAS = {
    "train": ("numpy", "scipy", "numba", "matplotlib", "papermill", "jupytext", "ipykernel"),
    "checks": ("sympy", "mpmath", "flint", "jax"),
    "sweep": ("joblib", "dask", "distributed", "pyarrow"),
    "book": ("nbconvert", "nbformat"),
}
# Extras that include `train` and what a command needs next.
WHOLE = {"verify": "checks", "sweep": "sweep"}

# What Typer raises for wrong options; it stands in a module of its own, or of Click's.
_MISUSE = cast(type[Exception], typer.BadParameter.__mro__[2])

# After so many new objects Python looks for circles. At its own limit of 700 this time grows faster
# than the data, as all older objects are looked at again and again; few circles are there.
_NEW_OBJECTS = 1_000_000

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    """Print the version and end."""
    if not wanted:
        return
    try:
        found = version("ntpcore")
    except PackageNotFoundError:
        found = "not installed, run from its sources"
    _write(f"ntpcore {found}\n")
    raise typer.Exit


@app.callback(epilog="Example: ntpcore check examples/example1.txt")
def commands(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_version),
    ] = False,
) -> None:
    """Check statements on next-token prediction on data of your own."""


File = Annotated[str, typer.Argument(help="Data to read; - reads standard input.")]
Form = Annotated[
    str | None,
    typer.Option("--format", help="text or jsonl; told by the name of the file otherwise."),
]
Chars = Annotated[
    bool, typer.Option("--chars", help="Every character that is no white space is a token.")
]
Collocation = Annotated[
    str | None,
    typer.Option("--collocation", help="File of two columns: a token and its next token."),
]
Memory = Annotated[
    float,
    typer.Option(
        "--memory",
        min=0.001,
        help="Gigabytes that the data may take; limits on what is computed grow with it.",
    ),
]
MAX_STEPS = 10**15  # floats tell all steps up to here apart
Steps = Annotated[int, typer.Option("--steps", min=0, max=MAX_STEPS, help="Steps of stage 2.")]
Steps1 = Annotated[int, typer.Option("--steps1", min=1, max=MAX_STEPS, help="Steps of stage 1.")]
Eta0 = Annotated[
    float | None, typer.Option("--eta0", help="Step size of stage 1; 0.2/sqrt(|V|) by default.")
]
Eta = Annotated[
    float | None, typer.Option("--eta", help="Step size of stage 2; 0.05/sqrt(|V|) by default.")
]
MaxPairs = Annotated[
    int, typer.Option("--max-pairs", min=1, help="Pairs that all orders may hold together.")
]
OverwriteFiles = Annotated[
    bool, typer.Option("--overwrite", help="Replace these files if they are there.")
]
OverwriteOutput = Annotated[
    bool, typer.Option("--overwrite", help="Replace OUTPUT if it is there.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of the report.")
]


@app.command(
    epilog="Examples: ntpcore check examples/example1.txt  |  "
    "ntpcore check examples/five_tokens.jsonl --claim huang2024-prop-2  |  "
    "ntpcore check examples/example1.txt --steps 900  |  "
    "printf 'SVOP\\nVOP\\nOPP\\nPSV\\n' | ntpcore check - --chars --json"
)
def check(
    file: File,
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    claim: Annotated[
        str | None, typer.Option("--claim", help="Judge only the claim with this label.")
    ] = None,
    as_json: AsJson = False,
    max_witnesses: Annotated[
        int, typer.Option("--max-witnesses", min=0, help="Failures listed of each rule.")
    ] = order.MAX_WITNESSES,
    max_pairs: MaxPairs = order.MAX_PAIRS,
    memory: Memory = 1.0,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            min=1,
            max=MAX_STEPS,
            help="Train so long, and judge the claims on training too.",
        ),
    ] = None,
    eta0: Eta0 = None,
    eta: Eta = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Judge the claims on a realizable part, found by a greedy search, too."
        ),
    ] = False,
) -> None:
    """Assumptions, orders, exact max-margin attention and verdicts for the data in FILE.

    A text file has one sentence per line, tokens separated by white space; every beginning of a
    line is a sample whose next token is the token after it. A JSON Lines file has one sample per
    line: {"sentence": ["S", "V"], "next": "O", "count": 3}.

    Exit code 0: every assumption holds and no judged claim is refuted. 1: an assumption fails or a
    judged claim is refuted. 2: the input cannot be used.
    """
    if steps is None and (eta0 is not None or eta is not None):
        raise dataset.InputError(
            f"--{'eta' if eta0 is None else 'eta0'}: nothing is trained without --steps; add "
            "--steps 900, or leave it out"
        )
    data, given = _read(file, form, chars, collocation, memory)
    found = report.answer(
        data,
        given,
        claim=claim,
        max_witnesses=max_witnesses,
        max_pairs=max_pairs,
        source=_source(file, form, chars, collocation, max_pairs, memory),
        training=None if steps is None else (steps, eta0, eta),
        repair=repair,
    )
    if as_json:
        _write(_json(report.to_json(found)))
    else:
        _write(_text(lambda write: rows.write_text(found, write)))
    raise typer.Exit(0 if found.holds else 1)


@app.command(
    epilog="Examples: ntpcore repair examples/contradiction.txt  |  "
    "ntpcore repair examples/gettysburg.txt --greedy --write rest.jsonl --write-collocation n.txt"
)
def repair(
    file: File,
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Search without SciPy: fast, with a bound, not exact.")
    ] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="Time for the integer program.")
    ] = 60.0,
    write: Annotated[
        str | None, typer.Option("--write", help="Write the rest to this file, as JSON Lines.")
    ] = None,
    write_collocation: Annotated[
        str | None,
        typer.Option("--write-collocation", help="Write the collocation to this file."),
    ] = None,
    memory: Memory = 1.0,
    overwrite: OverwriteFiles = False,
    as_json: AsJson = False,
) -> None:
    """The largest part of the data in FILE for which Assumption 1 holds, and what to drop.

    An integer program finds the fewest samples to drop, counted as often as they occur, and the
    collocation that lets the most of them stay. Where time runs out, the gap says how much
    larger another part could be. What --write and --write-collocation wrote can be checked by
    ntpcore check REST --collocation COLLOCATION.

    Exit code 0: a part was found. 2: the input cannot be used.
    """
    from ntpcli import repair as repair_report
    from ntpcore.data import files
    from ntpcore.exact import repair as repairing
    from ntpcore.exact import repair_program

    targets = {"--write": write, "--write-collocation": write_collocation}
    wanted = {option: path for option, path in targets.items() if path is not None}
    inputs = [name for name in (file, collocation) if name not in (None, "-")]
    for option, path in wanted.items():
        files.check_target(path, option, overwrite, inputs)
        files.check_place(path)
    if len({os.path.realpath(path) for path in wanted.values()}) < len(wanted):
        raise dataset.InputError(f"{write}: named twice; give samples and collocation a file each")
    data, given = _read(file, form, chars, collocation, memory)
    table = repairing.tabulate(data, given)
    if greedy:
        found = repair_report.tighten(repairing.solve_greedy(table))
    else:
        found = repair_program.solve_exact(table, seconds=seconds)
    contents = {}
    if write is not None:
        contents[write] = repair_report.rest_lines(found)
    if write_collocation is not None:
        contents[write_collocation] = repair_report.collocation_lines(found)
    files.write_whole(contents, overwrite=overwrite)
    names = {"samples": write, "collocation": write_collocation}
    written = {what: path for what, path in names.items() if path is not None}
    if as_json:
        _write(_json(repair_report.to_json(found)))
    else:
        _write(_text(lambda say: repair_report.write_text(found, say, written)))


@app.command(
    epilog="Examples: ntpcore certify examples/example1.txt -o certificate.json  |  "
    "ntpcore certify --check certificate.json  |  "
    "ntpcore certify examples/example1.txt --check certificate.json"
)
def certify(
    context: typer.Context,
    file: Annotated[
        str | None, typer.Argument(help="Data to read; - reads standard input.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The certificate to write.")
    ] = "certificate.json",
    check: Annotated[
        str | None, typer.Option("--check", help="Check this certificate, and write none.")
    ] = None,
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    eta: Eta = None,
    max_pairs: MaxPairs = order.MAX_PAIRS,
    memory: Memory = 1.0,
    overwrite: OverwriteOutput = False,
) -> None:
    """Write exact max-margin attention for the data in FILE with a proof, or check such a file.

    A certificate holds the samples, their collocation, scores and multipliers in fractions, which
    assumptions hold, samples that refute the others, and from which step the bound of Theorem B
    says something. Where two samples show that no collocation exists, it says that. Its checker is
    one file of plain Python, which runs without this package: python -m ntpcore.certificate.

    Exit code 0: written, or accepted. 1: not accepted, with the place that is wrong. 2: the input
    cannot be used.
    """
    from ntpcli import certify as certifying
    from ntpcore import certificate
    from ntpcore.data import files

    if check is not None:
        if option := _first_given(context, "output", "eta", "max_pairs", "overwrite"):
            raise dataset.InputError(
                f"{option} changes nothing with --check, which writes no certificate; leave out "
                f"one of the two"
            )
        option = _first_given(context, "form", "chars", "collocation", "memory")
        if option is not None and file is None:
            raise dataset.InputError(
                f"{option} is about FILE, and --check without FILE reads no data; name FILE to "
                f"compare the certificate with it, or leave out {option}"
            )
        try:
            found = files.read_json(check, pairs=certificate.once)
            certificate.check(found)
        except certificate.RefusedError as error:
            _write(f"{terminal.show_name(check)}: not accepted: {terminal.show_name(str(error))}\n")
            raise typer.Exit(1) from None
        if file is not None and not certifying.same_data(
            found, *_read(file, form, chars, collocation, memory)
        ):
            _write(f"{terminal.show_name(check)}: right, and of other data than {file}\n")
            raise typer.Exit(1)
        _write(f"{terminal.show_name(check)}: accepted\n")
        _write("".join(f"  {sentence}\n" for sentence in certifying.implied(found)))
        return
    if file is None:
        raise dataset.InputError("certify needs FILE to certify, or --check CERTIFICATE")
    files.check_target(output, "--output", overwrite, [file] if file != "-" else [])
    files.check_place(output)
    data, given = _read(file, form, chars, collocation, memory)
    most_cells = round(memory * certifying.MOST_CELLS)
    structure = order.analyse(data, given, max_pairs=max_pairs)
    made = certifying.make(structure, eta, most_cells=most_cells)
    files.write_whole({output: certifying.to_text(made).encode()}, overwrite=overwrite)
    _write(_text(lambda say: certifying.write_summary(made, output, say)))


@app.command(
    name="report",
    epilog="Examples: ntpcore report examples/example1.txt -o report.html  |  "
    "ntpcore report examples/five_tokens.jsonl -o report.html --pdf report.pdf",
)
def write_report(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The page to write.")
    ] = "report.html",
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    steps: Annotated[
        int, typer.Option("--steps", min=1, max=MAX_STEPS, help="Steps of stage 2.")
    ] = 900,
    max_pairs: MaxPairs = order.MAX_PAIRS,
    memory: Memory = 1.0,
    pdf: Annotated[
        str | None, typer.Option("--pdf", help="Print it to this file, by Chromium.")
    ] = None,
    overwrite: OverwriteFiles = False,
) -> None:
    """One page on the data in FILE, to be read in any browser without a network.

    What the data are, assumptions with witnesses, orders, exact max-margin attention, training with
    its bounds, the verdict of every claim that data decide, predictions, and how to repeat it all.

    Exit code 0: the page was written. 2: the input cannot be used, and nothing was written.
    """
    from ntpcli.report import page as report_page
    from ntpcore.data import files

    if "-" in (file, collocation):
        raise dataset.InputError(
            "<stdin>: a report is on a file, whose name and content it tells; save the data first"
        )
    inputs = [name for name in (file, collocation) if name is not None]
    files.check_target(output, "--output", overwrite, inputs)
    files.check_place(output)
    if pdf is not None:
        files.check_target(pdf, "--pdf", overwrite, inputs)
        files.check_place(pdf)
        if os.path.realpath(pdf) == os.path.realpath(output):
            raise dataset.InputError(f"{pdf}: named twice; give page and print a file each")
    browser = None if pdf is None else report_page.find_browser()
    form_given = form
    form = form or ("jsonl" if file.lower().endswith(dataset.JSON_SUFFIXES) else "text")
    with report_page.copied(file, collocation, _room(memory)) as (data, columns):
        _read(data, form, chars, columns, memory)
        parameters = {
            "path": data,
            "name": file,
            "form": form,
            "chars": chars,
            "collocation": columns,
            "steps": steps,
            "max_pairs": max_pairs,
            "room": _room(memory),
            "source": _source(file, form_given, chars, collocation, max_pairs, memory),
        }
        page = report_page.page(parameters, file)
    contents = {output: page}
    if pdf is not None and browser is not None:
        contents[pdf] = report_page.print_pdf(page, browser)
    files.write_whole(contents, overwrite=overwrite)
    _write("".join(f"written: {terminal.show_name(name)}\n" for name in contents))


@app.command(
    epilog="Examples: ntpcore train examples/example1.txt  |  "
    "ntpcore train examples/example1.txt --output run.npz --steps 9000 --resume"
)
def train(
    file: File,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where to save it; by default FILE's name with .npz."),
    ] = None,
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    steps: Steps = 900,
    steps1: Steps1 = 900,
    eta0: Eta0 = None,
    eta: Eta = None,
    memory: Memory = 1.0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in OUTPUT, up to --steps in all.")
    ] = False,
    overwrite: OverwriteOutput = False,
) -> None:
    """Train the transformer on the data in FILE (Algorithm 1), and save the trajectory.

    A long run is saved every minute, and when Ctrl-C stops it; --resume goes on with the same bits.
    Both stages start from zero. The saved file holds measurements at recorded steps, the weights,
    and the data as far as training needs them; ntpcore predict reads it.
    """
    from ntpcli import storage
    from ntpcli import train as training_report
    from ntpcore.huang2024.training import Settings

    target = training_report.target_of(file) if output is None else output
    inputs = [name for name in (file, collocation) if name not in (None, "-")]
    going_on = training_report.check_target(target, resume, overwrite, inputs)
    data, given = _read(file, form, chars, collocation, memory)
    settings = Settings(steps, steps1, eta0, eta)

    mine = resume or overwrite  # whether the file there, if any, may be replaced

    def keep(now: storage.Saved) -> None:
        nonlocal mine
        storage.save(target, now.problem, now.trajectory, now.parameters, overwrite=mine)
        mine = True

    def save(now: storage.Saved) -> None:
        keep(now)
        _say_saved(target, now.trajectory.state.step)

    with _progress() as progress:
        saved = training_report.train(
            data,
            given,
            settings,
            going_on=going_on,
            progress=progress,
            save=save,
            name=target,
        )
    keep(saved)
    _write(_text(lambda write: training_report.write_summary(saved, target, write)))


@app.command(
    epilog='Examples: ntpcore predict examples/example1.txt --sentence "S P"  |  '
    'ntpcore predict run.npz --sentence "O S P" --json'
)
def predict(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="Data to train on, or a trajectory (.npz).")],
    sentence: Annotated[str, typer.Option("--sentence", help="Tokens, separated by white space.")],
    form: Form = None,
    chars: Chars = False,
    collocation: Collocation = None,
    steps: Steps = 900,
    steps1: Steps1 = 900,
    eta0: Eta0 = None,
    eta: Eta = None,
    memory: Memory = 1.0,
    as_json: AsJson = False,
) -> None:
    """Ask a trained transformer for the next token of a sentence, seen or unseen.

    FILE is a trajectory that ntpcore train saved, or data, which are then trained on first.
    """
    from ntpcli import storage
    from ntpcli import train as training_report  # loaded only where needed
    from ntpcore.huang2024 import prediction
    from ntpcore.huang2024.training import Settings

    if file.endswith(".npz"):
        given_too = ("form", "collocation", "steps", "steps1", "eta0", "eta", "memory")
        if option := _first_given(context, *given_too):
            raise dataset.InputError(
                f"{file}: {option} changes nothing in a saved trajectory; leave it out, or name "
                "the data"
            )
        saved = storage.load(file)
    else:
        data, given = _read(file, form, chars, collocation, memory)
        settings = Settings(steps, steps1, eta0, eta)
        with _progress() as progress:
            saved = training_report.train(data, given, settings, progress=progress)
    words = list("".join(sentence.split())) if chars else sentence.split()
    answer = prediction.predict(saved.problem, saved.trajectory, words)
    if as_json:
        _write(_json(training_report.prediction_json(answer)))
    else:
        _write(_text(lambda write: training_report.write_prediction(answer, write)))


@app.command(
    epilog="Examples: ntpcore sweep examples/sweep.toml -o results.parquet  |  "
    "ntpcore sweep examples/sweep.toml -o results.csv --jobs 2  |  "
    "ntpcore sweep examples/sweep.toml -o results.parquet --backend dask "
    "--scheduler tcp://127.0.0.1:8786"
)
def sweep(
    file: Annotated[str, typer.Argument(help="The grids of the sweep, in TOML.")],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The table to write: .parquet or .csv.")
    ] = "results.parquet",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, max=1024, help="Runs at once; one per processor by default."),
    ] = None,
    backend: Annotated[
        str, typer.Option("--backend", help="local, or dask for the workers of a cluster.")
    ] = "local",
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of the Dask scheduler.")
    ] = None,
    patience: Annotated[
        float,
        typer.Option("--patience", min=1, max=86400, help="Seconds to wait for a cluster."),
    ] = 30.0,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Throw away the runs kept of another sweep or other code."),
    ] = False,
    overwrite: OverwriteOutput = False,
) -> None:
    """Do every run of the grids in FILE, and write a table with one row for each.

    Every combination of the values in a [[grid]] is a run: data from a generator, both stages of
    training, rates and exponents fitted, the bounds and claims held against it. Finished runs are
    kept beside the table, in OUTPUT.runs, until it is written. A sweep that was stopped goes on
    when the same command is given again. A run that fails has a row that says why.

    Exit code 0: the table is complete. 2: the input cannot be used, or a file cannot be written.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums in one order, however many processors
    from ntpcli.sweep import command  # numpy and numba are loaded only where needed

    with _progress("runs") as progress:
        outcome = command.run_file(
            file,
            output,
            command.backend(backend, jobs, scheduler, patience),
            overwrite=overwrite,
            restart=restart,
            progress=progress,
        )
    _write(_text(lambda write: command.write_outcome(outcome, output, write)))


@app.command(
    epilog="Examples: ntpcore claims --paper huang2024 --verdict refuted  |  "
    "ntpcore claims --search margin  |  ntpcore claims huang2024-thm-1"
)
def claims(
    label: Annotated[
        str | None, typer.Argument(help="Explain this claim; without it, list claims.")
    ] = None,
    paper: Annotated[
        str | None, typer.Option("--paper", help="Only of one paper, such as tian2023, or ours.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--kind", help="Only theorems (theorem), lemmas (lemma), ...")
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", help='Only proved, "not contradicted", refuted, ...')
    ] = None,
    known_by: Annotated[
        str | None,
        typer.Option("--known-by", help='Only machine-checked, computed, cited, "by hand", ...'),
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", help="Only with these words, in any order.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="claims.json of a built book; by default the one built here."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of text.")
    ] = False,
) -> None:
    """The claims of both papers and of the book, with the verdicts that a built book published.

    With a LABEL, one claim: its statement, verdict and evidence, how to repeat the check, what the
    claim rests on, and what rests on it.
    """
    from ntpcli import claims as claims_report  # reads nothing until it is asked for

    published = claims_report.load(source)
    if label is None:
        rows = claims_report.choose(
            published,
            paper=paper,
            kind=kind,
            verdict=verdict,
            known_by=known_by,
            search=search,
        )
        if as_json:
            _write(_json(claims_report.list_json(published, rows)))
        else:
            _write(_text(lambda write: claims_report.write_list(published, rows, write)))
        return
    given = {
        "--paper": paper,
        "--kind": kind,
        "--verdict": verdict,
        "--known-by": known_by,
        "--search": search,
    }
    for option, value in given.items():
        if value is not None:
            raise dataset.InputError(
                f"{option} {value}: filters a list, and {label} is one claim; leave one out"
            )
    row = claims_report.find(published, label)
    if as_json:
        _write(_json(claims_report.explain_json(published, row)))
    else:
        _write(_text(lambda write: claims_report.write_claim(published, row, write)))


@app.command(
    epilog="Examples: ntpcore verify huang2024-thm-1  |  "
    "ntpcore verify huang2024-eq-1 --seed 3  |  "
    "ntpcore verify --paper tian2023 --jobs 2  |  ntpcore verify --list"
)
def verify(
    label: Annotated[str | None, typer.Argument(help="Label of a claim.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of random instances.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, another parameter of the check.")
    ] = None,
    paper: Annotated[str | None, typer.Option("--paper", help="All claims of this paper.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All claims.")] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="Name all labels, and run nothing.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes at once.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Run the check of the claim LABEL with its planted errors: verdict, evidence, proof, witness.

    The instances are those of the claim's page. Exit code 0: nothing is refuted. 1: a claim is
    refuted, or what it says is not seen. 2: there is no such claim or parameter.
    """
    from ntpcli import verify as verifying

    if listed:
        _write(_text(verifying.write_labels))
        return
    labels = verifying.choose(label, paper, everything)
    if len(labels) > 1 and (seed is not None or settings):
        raise dataset.InputError("--seed and --set are for one claim; name its label")
    if label is not None:
        found = [verifying.run(label, verifying.parameters(label, seed, settings or ()))]
        if not as_json:
            _write(_text(lambda write: verifying.write_text(found[0], write)))
    else:
        found = []
        with _progress("checking") as advance:
            for one in verifying.run_all(labels, jobs):
                found.append(one)
                if advance is not None:
                    advance(len(found), len(labels))
                if not as_json:
                    _write(_text(partial(verifying.write_line, one)))
    if as_json:
        _write(_json(verifying.to_json(found)))
    raise typer.Exit(verifying.exit_code(found))


def _read(
    file: str, form: str | None, chars: bool, collocation: str | None, memory: float
) -> tuple[dataset.Dataset, dict[str, str] | None]:
    """The data, and the collocation given beside them."""
    if file == collocation == "-":
        raise dataset.InputError(
            "<stdin>: data and collocation cannot both come from it; put one of them in a file"
        )
    data = dataset.read(file, form=form, chars=chars, room=_room(memory))
    return data, None if collocation is None else order.read_collocation(collocation)


def _room(memory: float) -> int:
    """The bytes that data may take, for so many gigabytes."""
    return round(memory * dataset.ROOM)


def _say_saved(target: str, step: int) -> None:
    """Say on standard error what a file holds of a run that is not at its end."""
    text = f"ntpcore: {terminal.show_name(target)} holds the run up to step {step}"
    print(f"{text}; --resume goes on with it", file=sys.stderr)


def _first_given(context: typer.Context, *options: str) -> str | None:
    """The first of these options that stands on the command line, as a user writes it."""
    for option in options:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            return "--format" if option == "form" else f"--{option.replace('_', '-')}"
    return None


@contextmanager
def _progress(what: str = "training") -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on the terminal, with the time left; None where standard error is none."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with Progress(
        *Progress.get_default_columns(), MofNCompleteColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _json(value: dict[str, object]) -> str:
    """One JSON object, in characters that standard output can take."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    ascii_only = encoding.lower().replace("-", "") != "utf8"
    return json.dumps(value, ensure_ascii=ascii_only, indent=2) + "\n"


def _text(say: Callable[[terminal.Write], None]) -> str:
    """An answer for people, in colours where standard output is a terminal."""
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    with console.capture() as capture:
        say(lambda line, role: console.print(Text(line, style=STYLES[role])))
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
    file: str,
    form: str | None,
    chars: bool,
    collocation: str | None,
    max_pairs: int,
    memory: float,
) -> str:
    """The arguments that repeat the reading of the data, quoted for a shell."""
    words = [f"./{file}" if file.startswith("-") and file != "-" else file]
    words += ["--format", form] if form else []
    words += ["--chars"] if chars else []
    words += ["--collocation", collocation] if collocation is not None else []
    words += ["--max-pairs", str(max_pairs)] if max_pairs != order.MAX_PAIRS else []
    words += ["--memory", f"{memory:g}"] if memory != 1.0 else []
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


def _say_misuse(error: Exception) -> None:
    """A wrong option in one line, as any other bad input; without a command, the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # type: ignore[attr-defined]
        return
    words = " ".join(error.format_message().split())  # type: ignore[attr-defined]
    name = getattr(getattr(error, "ctx", None), "info_name", None)
    known = {one.name or getattr(one.callback, "__name__", "") for one in app.registered_commands}
    command = f"ntpcore {name}" if name in known else "ntpcore"
    words = terminal.show_name(words.rstrip("."))
    print(f"ntpcore: {words}; {command} --help lists what there is", file=sys.stderr)


def main() -> None:
    """Run the command line; bad input gets one message and exit code 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is None:
        print("ntpcore: standard output is closed; send it somewhere", file=sys.stderr)
        raise SystemExit(2)
    gc.set_threshold(_NEW_OBJECTS)
    try:
        raise SystemExit(app(standalone_mode=False) or 0)
    except _MISUSE as error:
        _say_misuse(error)
        raise SystemExit(2) from None
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        extra = next((name for name, packages in EXTRAS.items() if missing in packages), None)
        if extra is None:
            raise
        if extra == "train":
            extra = WHOLE.get("".join(sys.argv[1:2]), extra)
        print(
            f"ntpcore: this needs the package {missing}, which is not installed; "
            f"pip install 'ntpcore[{extra}]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except dataset.InputError as error:
        print(f"ntpcore: {terminal.show_name(str(error))}", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        _drop_output()
        text = f"the answer cannot be written ({error.strerror})"  # to standard output
        if error.filename is not None:
            text = f"the system refused {error.filename} ({error.strerror})"
        text = terminal.show_name(text)
        print(f"ntpcore: {text}; make room, or send it somewhere else", file=sys.stderr)
        raise SystemExit(2) from None
    except MemoryError:
        print("ntpcore: the data do not fit into memory; use a part of them", file=sys.stderr)
        raise SystemExit(2) from None
