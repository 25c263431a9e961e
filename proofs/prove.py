"""Check the proofs with Coq and write checked.json: what was proved, on which axioms, by what.

The proofs are compiled from scratch in a folder of their own, each file within a time limit. The
check fails, and leaves checked.json as it was, on any axiom under a label, on any step taken for
granted, on a theorem that labels.toml names and Coq does not know. The theorems on Coq's real
numbers stand for no label; axioms.toml lists them with the axioms on which they may rest. Whoever
has no Coq can still ask whether checked.json is that of the sources beside it; the book shows a
mark only then.

    prove.py            check all and write checked.json
    prove.py --verify   say whether checked.json fits the sources; needs no Coq
    prove.py --coqchk   check all, and have Coq's independent checker read the result

Exit status: 0 all is well, 1 something is wrong, 2 there is no Coq here.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RECORD = "checked.json"
LABELS = "labels.toml"
AXIOMS = "axioms.toml"
SECONDS = 600  # for one file, against a proof that never ends; a busy machine needs many
CHECKER_SECONDS = 1800  # for the independent checker
CLOSED = "Closed under the global context"  # what Coq says of what rests on no axiom
NO_COQ = "no coqc here (Debian: apt-get install coq libcoq-mathcomp-algebra)"

# Words that take something for granted, or switch a check of Coq off.
_GRANTED = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Unset\s+\w+\s+Checking|bypass_check"
    r"|Type\s*In\s*Type|Declare\s+ML\s+Module|Load)\b"
)
# In _CoqProject nothing but these lines, so that no option weakens Coq.
_PROJECT_LINES = ("-Q . Companion", "-arg -w -arg -notation-overridden,-ambiguous-paths")


class ProofError(Exception):
    """The proofs are not all right; the message says why."""


class NoCoqError(Exception):
    """There is no Coq on this machine."""


@dataclass(frozen=True)
class Entry:
    """A label of the book, with the theorems that stand for it.

    Attributes:
        label: the label.
        theorems: names such as PrefixClosure.one_optimal_token.
        mark: whether they say all that the claim says, so that the book may show a mark.
        steps: where they do not, the anchors of the steps by hand that they read.
    """

    label: str
    theorems: tuple[str, ...]
    mark: bool
    steps: tuple[str, ...] = ()


def project_files(folder: Path) -> list[str]:
    """The proof files of _CoqProject, in the order in which they need each other.

    Raises:
        ProofError: another option stands there, or the list is not that of the files.
    """
    lines = (folder / "_CoqProject").read_text(encoding="utf-8").split("\n")
    names = [line for line in lines if line.endswith(".v")]
    for line in lines:
        if line and line not in names and line not in _PROJECT_LINES:
            raise ProofError(f"_CoqProject: unknown line {line!r}")
    missing = {path.name for path in folder.glob("*.v")} ^ set(names)
    if missing or len(names) != len(set(names)):
        raise ProofError(f"_CoqProject: {', '.join(sorted(missing)) or 'a file is listed twice'}")
    return names


def hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of everything that a check depends on."""
    names = sorted(path.name for path in folder.glob("*.v"))
    names += [LABELS, AXIOMS, "Makefile", "_CoqProject"]
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def is_current(folder: Path = HERE) -> bool:
    """Whether checked.json is there and is that of the sources beside it; needs no Coq."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return bool(record["sources"] == hashes(folder))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_labels(folder: Path) -> list[Entry]:
    """The labels and their theorems.

    Raises:
        ProofError: an entry lacks something or names no theorem.
    """
    table = tomllib.loads((folder / LABELS).read_text(encoding="utf-8"))
    entries = []
    for label, row in table.items():
        wanted = {"theorems": list, "mark": bool, "says": str, "differs": str, "open": str}
        if set(row) - {"verdict", "steps"} != set(wanted):
            raise ProofError(f"{LABELS}: {label} needs {', '.join(wanted)}")
        if any(type(row[key]) is not kind for key, kind in wanted.items()):
            raise ProofError(f"{LABELS}: {label} has a value of the wrong kind")
        if not row["theorems"] or not all(name.count(".") == 1 for name in row["theorems"]):
            raise ProofError(f"{LABELS}: {label} needs theorems, each as File.name")
        steps = row.get("steps", [])
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            raise ProofError(f"{LABELS}: {label} has steps that are no list of anchors")
        if "steps" in row and row["mark"]:
            raise ProofError(f"{LABELS}: {label} has a mark, which stands for all steps")
        entries.append(Entry(label, tuple(row["theorems"]), row["mark"], tuple(steps)))
    return entries


def read_axioms(folder: Path) -> tuple[frozenset[str], list[str]]:
    """The axioms of Coq's real numbers, and the theorems that may rest on them.

    Raises:
        ProofError: the file does not hold these two lists and nothing else.
    """
    table = tomllib.loads((folder / AXIOMS).read_text(encoding="utf-8"))
    lists = [table.get(key) for key in ("axioms", "theorems")]
    if len(table) != 2 or not all(isinstance(names, list) and names for names in lists):
        raise ProofError(f"{AXIOMS}: needs axioms and theorems, two lists")
    return frozenset(table["axioms"]), table["theorems"]


def axioms_in(answer: str) -> list[str]:
    """The names in an answer of Print Assumptions."""
    return sorted(
        re.findall(r"^([\w.]+)(?=\s*:| *$)", answer.removeprefix("Axioms:"), re.MULTILINE)
    )


def without_comments(text: str) -> str:
    """A Coq source without its comments, which may be nested."""
    parts, depth = [], 0
    for piece in re.split(r"(\(\*|\*\))", text):
        depth += (piece == "(*") - (piece == "*)")
        if not depth and piece != "*)":
            parts.append(piece)
    return "".join(parts)


def refuse_granted(folder: Path, names: list[str]) -> None:
    """Refuse sources with a word that takes something for granted.

    Raises:
        ProofError: there is one.
    """
    for name in names:
        found = _GRANTED.search(without_comments((folder / name).read_text(encoding="utf-8")))
        if found:
            raise ProofError(f"{name}: {found[0]!r} takes something for granted")


def run_coq(command: list[str], folder: Path, what: str, seconds: int = SECONDS) -> str:
    """Run one of Coq's programs and return what it prints.

    Raises:
        ProofError: it fails or takes too long.
        NoCoqError: there is no such program.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except FileNotFoundError:
        raise NoCoqError(NO_COQ) from None
    except subprocess.TimeoutExpired:
        raise ProofError(f"{what}: not done within {seconds} seconds") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise ProofError(f"{what} (status {done.returncode}): " + "\n".join(lines[:12]))
    return done.stdout + done.stderr


def compile_file(folder: Path, name: str) -> None:
    """Compile one file in place, within its time limit.

    Raises:
        ProofError: Coq refuses it.
        NoCoqError: there is no Coq.
    """
    options = ["-w", "-notation-overridden,-ambiguous-paths", "-Q", ".", "Companion"]
    run_coq(["coqc", *options, name], folder, name)


def compile_files(source: Path, names: Sequence[str], folder: Path) -> None:
    """Copy files, in the order in which they need each other, and compile the copies.

    Raises:
        ProofError: Coq refuses one.
        NoCoqError: there is no Coq.
    """
    for name in names:
        shutil.copy(source / name, folder)
        compile_file(folder, name)


def ask(
    folder: Path, names: list[str], theorems: list[str], apart: Sequence[str] = ()
) -> dict[str, tuple[str, str]]:
    """For each theorem what Coq takes it to say, and what it rests on.

    What all of `theorems` rest on is asked first: if that is nothing, each rests on nothing. What
    each of `apart` rests on is asked in any case; the same process answers, since loading all files
    takes as long as two answers.

    Raises:
        ProofError: Coq does not know a theorem.
    """
    asked = [*theorems, *apart]
    script = [f'Redirect "says{i}" Check @Companion.{name}.' for i, name in enumerate(asked)]
    script += ["Definition asked_together :="]
    script += [*(f"let _ := @Companion.{name} in" for name in theorems), "tt."]
    script += ['Redirect "rests" Print Assumptions asked_together.']
    each = [
        f'Redirect "rests{i}" Print Assumptions Companion.{name}.' for i, name in enumerate(asked)
    ]
    ask_coq(folder, names, script + each[len(theorems) :])
    together = read_answer(folder, "rests")
    if together != CLOSED:
        ask_coq(folder, names, each[: len(theorems)])
    found = {}
    for place, theorem in enumerate(asked):
        says = re.sub(r"^\S+\s*:\s", "", read_answer(folder, f"says{place}"))
        closed = place < len(theorems) and together == CLOSED
        rests = CLOSED if closed else read_answer(folder, f"rests{place}")
        found[theorem] = re.sub(r"\n +", "\n ", says), rests
    return found


def ask_coq(folder: Path, names: list[str], questions: list[str]) -> None:
    """Have Coq answer questions about compiled files, each into a file of its own.

    Raises:
        ProofError: Coq does not know a theorem.
    """
    script = ["From mathcomp Require Import all_ssreflect all_algebra."]
    script += [f"From Companion Require Import {name.removesuffix('.v')}." for name in names]
    script += ["Set Printing Width 88.", "Unset Printing Implicit Defensive."]
    (folder / "Ask.v").write_text("\n".join([*script, *questions]) + "\n", encoding="utf-8")
    try:
        compile_file(folder, "Ask.v")
    except ProofError as error:
        unknown = re.search(r"reference (\S+) was not found", str(error))
        if unknown:
            raise ProofError(f"{LABELS}: there is no {unknown[1]}") from None
        raise


def read_answer(folder: Path, name: str) -> str:
    """What Coq wrote into a file."""
    return (folder / f"{name}.out").read_text(encoding="utf-8").strip()


def check(folder: Path = HERE, *, coqchk: bool = False) -> dict[str, Any]:
    """Compile everything in a new folder and ask Coq about each theorem.

    Args:
        folder: where the proofs lie.
        coqchk: whether the independent checker reads the compiled files as well.

    Returns:
        the record that belongs into checked.json.

    Raises:
        ProofError: something does not hold, is taken for granted, or takes too long.
        NoCoqError: there is no Coq.
    """
    if not shutil.which("coqc"):
        raise NoCoqError(NO_COQ)
    before = hashes(folder)
    names, entries = project_files(folder), read_labels(folder)
    allowed, about_reals = read_axioms(folder)
    refuse_granted(folder, names)
    with tempfile.TemporaryDirectory() as scratch:
        compile_files(folder, names, Path(scratch))
        theorems = sorted({theorem for entry in entries for theorem in entry.theorems})
        answers = ask(Path(scratch), names, theorems, about_reals)
        if coqchk:
            rest_on_reals = {theorem.split(".")[0] for theorem in about_reals}
            modules = [
                f"Companion.{module}"
                for module in (name.removesuffix(".v") for name in names)
                if module not in rest_on_reals | {"StdReals", "Audit"}
            ]
            command = ["coqchk", "-silent", "-o", "-Q", ".", "Companion", *modules]
            said = run_coq(command, Path(scratch), "coqchk", CHECKER_SECONDS)
            if not re.search(r"\* Axioms:\s*<none>", said):
                raise ProofError(f"coqchk: {said}")
    for theorem in theorems:
        if (rests := answers[theorem][1]) != CLOSED:
            raise ProofError(f"{theorem} rests on more than Coq's logic:\n{rests}")
    used = {theorem: axioms_in(answers[theorem][1]) for theorem in about_reals}
    if (named := {axiom for axioms in used.values() for axiom in axioms}) != allowed:
        raise ProofError(f"{AXIOMS}: the theorems rest on {', '.join(sorted(named))}")
    if hashes(folder) != before:
        raise ProofError("a source changed while it was checked")
    version = run_coq(["coqc", "--print-version"], folder, "coqc").split()[0]
    return {
        "coq": version,
        "sources": before,
        "labels": rows(entries, answers),
        "reals": [
            theorem_row(theorem, answers[theorem][0], used[theorem]) for theorem in about_reals
        ],
    }


def theorem_row(theorem: str, statement: str, axioms: list[str]) -> dict[str, Any]:
    """What the record says of one theorem."""
    file, name = theorem.split(".")
    return {"file": f"{file}.v", "theorem": name, "statement": statement, "axioms": axioms}


def rows(entries: list[Entry], answers: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """The part of the record that speaks of labels."""
    return {
        entry.label: {
            "mark": entry.mark,
            "steps": list(entry.steps),
            "theorems": [
                theorem_row(theorem, answers[theorem][0], []) for theorem in entry.theorems
            ],
        }
        for entry in entries
    }


def main(arguments: list[str]) -> int:
    """The command line; see the top of this file."""
    if unknown := set(arguments) - {"--verify", "--coqchk"}:
        print(f"unknown: {', '.join(sorted(unknown))}; there are --verify and --coqchk")
        return 1
    if "--verify" in arguments:
        current = is_current()
        print(f"{RECORD} is {'' if current else 'not '}that of these sources")
        return 0 if current else 1
    try:
        record = check(coqchk="--coqchk" in arguments)
    except NoCoqError as error:
        print(error)
        return 2
    except ProofError as error:
        print(error)
        return 1
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (HERE / RECORD).write_text(text, encoding="utf-8")
    theorems = {(t["file"], t["theorem"]) for r in record["labels"].values() for t in r["theorems"]}
    marks = sum(row["mark"] for row in record["labels"].values())
    print(
        f"Coq {record['coq']}: {len(theorems)} theorems, {marks} marks; axioms: none; "
        f"{len(record['reals'])} theorems on real numbers, axioms as in {AXIOMS}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
