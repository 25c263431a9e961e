"""Is what was proved what Audit.v says? A second, small check that shares nothing with prove.py.

It compiles Audit.v beside the one file that it needs, refuses anything in it but definitions and
the fixed lines that load MathComp and Coq's reals, and has Coq confirm for each `statement_x` of
Audit.v that the theorem `x` of Audited.v has this type, up to computation, and print the axioms on
which it rests. None may be there but those of Coq's real numbers, and these only where the
statement is about real numbers. Coq, MathComp, and StdReals.v are trusted; `statement_reals` says
what StdReals.v is.

    audit.py [folder]   the folder with the proofs, the one of this file if none is named

Exit status: 0 all is well, 1 something is wrong.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LINES = 300  # what somebody reads in an hour
ABOUT_REALS = {"reals", "direction_converges"}
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
    "Epsilon.epsilon_statement",
}
# The sentences of Audit.v: these lines, which load what is trusted, ...
FIXED = {
    "From mathcomp Require Import all_ssreflect all_algebra",
    "From Coq Require Rdefinitions Rtrigo_def Rpower",
    "From Companion Require StdReals",
    "Import GRing.Theory Num.Theory Order.TTheory",
    "Set Implicit Arguments",
    "Unset Strict Implicit",
    "Unset Printing Implicit Defensive",
    "Local Open Scope ring_scope",
}
# ... and definitions; variables only within a section, where they are arguments and no axioms.
DEFINED = re.compile(
    r"Implicit Types? .+ : .+|Notation \w+ := .+|Definition \w+ .*:= .+"
    r"|Fixpoint descent .*:= .+|Record training_data .*:= .+"
)


def sentences(text: str) -> list[str]:
    """The sentences of a Coq file, without comments."""
    parts = re.split(r"(\(\*|\*\))", text)
    kept, depth = "", 0
    for part in parts:
        depth += {"(*": 1, "*)": -1}.get(part, 0)
        kept += part if depth == 0 and part != "*)" else " "
    return [" ".join(s.split()) for s in re.split(r"\.(?=\s|$)", kept) if s.strip()]


def statements(text: str) -> list[str]:
    """The names of the statements; an error where the file holds anything but definitions."""
    if text.count("\n") > LINES:
        sys.exit(f"Audit.v has more than {LINES} lines")
    # Coq reads strings in comments, too: one that holds the sign of a comment could hide much.
    quoted = text.split('"')[1::2]
    hiding = any("(*" in one or "*)" in one for one in quoted) or text.count('"') % 2
    told = sentences(text)
    if not text.isascii() or hiding or any('"' in sentence for sentence in told):
        sys.exit("Audit.v holds a sign that may hide something: use ASCII, and strings in comments")
    names: list[str] = []
    mentioned: list[str] = []
    section = ""
    for sentence in told:
        opens = re.fullmatch(r"Section (\w+)", sentence)
        if opens and not section:
            section = opens[1]
        elif section and sentence == f"End {section}":
            section = ""
        elif not (
            sentence in FIXED
            or (DEFINED.fullmatch(sentence) and "ltac" not in sentence)
            or (section and re.fullmatch(r"Variables? .+ : .+", sentence))
        ):
            sys.exit(f"Audit.v: {sentence[:60]!r} is no definition")
        names += re.findall(r"^Definition statement_(\w+) : Prop :=", sentence)
        mentioned += re.findall(r"\bstatement_(\w+)", sentence)
    if names != mentioned or len(set(names)) < len(names):
        sys.exit(f"Audit.v names the statements {mentioned}, and defines {names} as propositions")
    return names


def coqc(folder: Path, name: str) -> str:
    """Compile one file; an error where Coq refuses it."""
    quiet = ["-w", "-notation-overridden,-ambiguous-paths"]
    done = subprocess.run(
        ["coqc", *quiet, "-Q", ".", "Companion", name],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "COQPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name}: {done.stderr.strip()}")
    return done.stdout


def axioms(answer: str) -> set[str]:
    """The axioms in an answer of Print Assumptions; an error where it is none."""
    if answer.strip() == "Closed under the global context":
        return set()
    if not answer.startswith("Axioms:\n"):
        sys.exit(f"no answer of Print Assumptions: {answer!r}")
    return set(re.findall(r"^(\S+)", answer.removeprefix("Axioms:\n"), re.MULTILINE))


def main(folder: Path) -> int:
    """Check Audit.v against Audited.v in a copy of the folder."""
    names = statements((folder / "Audit.v").read_text(encoding="utf-8"))
    theorems = re.findall(
        r"^Theorem (\w+) : Audit\.statement_(\w+)\.$",
        (folder / "Audited.v").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    if sorted(names) != sorted(theorem for theorem, _ in theorems):
        sys.exit(f"Audit.v states {sorted(names)}, Audited.v proves {sorted(theorems)}")
    project = (folder / "_CoqProject").read_text(encoding="utf-8").splitlines()
    if posing := {f"{name.split('.')[0]}.v" for name in AXIOMS} & set(project):
        sys.exit(f"{', '.join(posing)}: a file with the name of one of Coq's, whose axioms pass")
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        for name in ("StdReals.v", "Audit.v"):  # Audit.v rests on no other definition of ours
            shutil.copy(folder / name, here)
            coqc(here, name)
        for name in project:
            if name.endswith(".v") and not (here / name).exists():
                shutil.copy(folder / name, here)
                coqc(here, name)
        asked = ["From Companion Require Audit Audited."]
        for name in names:
            asked += [
                f"Definition is_{name} : Audit.statement_{name} := Audited.{name}.",
                f'Redirect "{name}" Print Assumptions is_{name}.',
            ]
        (here / "Ask.v").write_text("\n".join(asked) + "\n", encoding="utf-8")
        coqc(here, "Ask.v")
        for name in names:
            found = axioms((here / f"{name}.out").read_text(encoding="utf-8"))
            if unexpected := found - (AXIOMS if name in ABOUT_REALS else set()):
                sys.exit(f"{name} rests on {', '.join(sorted(unexpected))}")
            print(f"{name}: {', '.join(sorted(found)) or 'no axiom'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
