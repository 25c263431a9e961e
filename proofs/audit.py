"""Is what was proved what Audit.v says? A second, small check that shares nothing with prove.py.

It compiles Audit.v beside the one file that it needs, refuses anything in it but definitions, and
has Coq confirm for each `statement_x` of Audit.v that the theorem `x` of Audited.v has exactly this
type, and print the axioms on which it rests. None may be there but those of Coq's real numbers, and
these only where the statement is about real numbers.

    audit.py [folder]   the folder with the proofs, the one of this file if none is named

Exit status: 0 all is well, 1 something is wrong.
"""

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
# What a sentence of Audit.v may begin with: nothing that proves, assumes or hides anything.
ALLOWED = re.compile(
    r"From \w+ Require( Import)? [\w ]+|(Uns|S)et (Implicit Arguments|Strict Implicit"
    r"|Printing Implicit Defensive)|Import GRing\.Theory Num\.Theory Order\.TTheory"
    r"|Local Open Scope ring_scope|(Section|End) \w+|Variables? |Implicit Types? |Notation \w+ :="
    r"|Definition \w+|Fixpoint descent |Record training_data "
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
    for sentence in sentences(text):
        if not ALLOWED.match(sentence):
            sys.exit(f"Audit.v: {sentence[:60]!r} is no definition")
    return re.findall(r"^Definition statement_(\w+) : Prop :=", text, re.MULTILINE)


def coqc(folder: Path, name: str) -> str:
    """Compile one file; an error where Coq refuses it."""
    quiet = ["-w", "-notation-overridden,-ambiguous-paths"]
    done = subprocess.run(
        ["coqc", *quiet, "-Q", ".", "Companion", name],
        cwd=folder,
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
    return set(re.findall(r"^([\w.]+)", answer.removeprefix("Axioms:\n"), re.MULTILINE))


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
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        for name in ("StdReals.v", "Audit.v"):  # Audit.v rests on no other definition of ours
            shutil.copy(folder / name, here)
            coqc(here, name)
        for name in (folder / "_CoqProject").read_text(encoding="utf-8").splitlines():
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
