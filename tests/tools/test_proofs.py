"""The machine-checked proofs: the record fits them, Coq accepts them and nothing that is planted in
them, and their definitions say what ntpcore computes."""

import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise, product
from pathlib import Path

import numpy as np
import pytest
from thorough import ASKED_FOR

from ntpbook.catalogue import CATALOGUE
from ntpcli import certify
from ntpcore import certificate
from ntpcore.data import dataset, generate, order
from ntpcore.exact import margin

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "proofs" / "prove.py").is_file())
PROOFS = ROOT / "proofs"
PLANTED = tomllib.loads((PROOFS / "planted.toml").read_text(encoding="utf-8"))["planted"]
EXAMPLES = sorted(p for p in (ROOT / "examples").iterdir() if p.suffix in (".txt", ".jsonl"))


def _load(name):
    spec = importlib.util.spec_from_file_location(name, PROOFS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


prove, audit = _load("prove"), _load("audit")
NEEDS_COQ = pytest.mark.skipif(not shutil.which("coqc"), reason=prove.NO_COQ)


# The record


def test_the_record_is_that_of_the_sources():
    assert prove.is_current(PROOFS), "run `make proofs`"


def test_any_changed_source_ends_the_record(tmp_path):
    names = [*prove.hashes(PROOFS), prove.RECORD]
    for name in names:
        shutil.copy(PROOFS / name, tmp_path)
    assert prove.is_current(tmp_path)
    for name in names[:-1]:
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(kept + b"\n")
        assert not prove.is_current(tmp_path), name
        (tmp_path / name).write_bytes(kept)
    shutil.copy(PROOFS / "Fields.v", tmp_path / "More.v")
    assert not prove.is_current(tmp_path)
    (tmp_path / "More.v").unlink()
    (tmp_path / prove.RECORD).write_text("{}")
    assert not prove.is_current(tmp_path)
    (tmp_path / prove.RECORD).unlink()
    assert not prove.is_current(tmp_path)


def test_the_record_speaks_of_the_labels_and_of_no_axiom():
    record = json.loads((PROOFS / prove.RECORD).read_text(encoding="utf-8"))
    entries = prove.read_labels(PROOFS)
    assert list(record["labels"]) == [entry.label for entry in entries]
    allowed, about_reals = prove.read_axioms(PROOFS)
    named = [f"{row['file'][:-2]}.{row['theorem']}" for row in record["reals"]]
    assert named == about_reals
    assert {axiom for row in record["reals"] for axiom in row["axioms"]} == allowed
    for entry in entries:
        row = record["labels"][entry.label]
        assert row["mark"] == entry.mark
        assert row["steps"] == [*entry.steps]
        assert [f"{t['file'][:-2]}.{t['theorem']}" for t in row["theorems"]] == [*entry.theorems]
        assert all(t["axioms"] == [] and t["statement"] for t in row["theorems"])


def test_every_mark_belongs_to_a_claim_of_the_book():
    labels = {claim.label for claim in CATALOGUE}
    assert {entry.label for entry in prove.read_labels(PROOFS) if entry.mark} <= labels


def test_a_row_of_labels_needs_all_its_parts(tmp_path):
    row = '[x]\ntheorems = ["A.b"]\nmark = true\nsays = ""\ndiffers = ""\nopen = ""\n'
    (tmp_path / prove.LABELS).write_text(row)
    assert prove.read_labels(tmp_path) == [prove.Entry("x", ("A.b",), True)]
    for old, new in [("mark = true\n", ""), ("true", '"yes"'), ('"A.b"', ""), ("A.b", "b")]:
        (tmp_path / prove.LABELS).write_text(row.replace(old, new))
        with pytest.raises(prove.ProofError, match="x "):
            prove.read_labels(tmp_path)


def test_steps_belong_to_a_row_without_a_mark_and_are_anchors(tmp_path):
    row = (
        '[x]\ntheorems = ["A.b"]\nmark = false\nsteps = ["a"]\nsays = ""\ndiffers = ""\nopen = ""\n'
    )
    (tmp_path / prove.LABELS).write_text(row)
    assert prove.read_labels(tmp_path) == [prove.Entry("x", ("A.b",), False, ("a",))]
    for old, new in [("false", "true"), ('["a"]', '"a"'), ('["a"]', "[1]")]:
        (tmp_path / prove.LABELS).write_text(row.replace(old, new))
        with pytest.raises(prove.ProofError, match="x "):
            prove.read_labels(tmp_path)


def test_the_axioms_are_two_lists_that_are_not_empty(tmp_path):
    for text in ('axioms = ["A.a"]\n', 'axioms = []\ntheorems = ["A.b"]\n', 'axioms = "A.a"\n'):
        (tmp_path / prove.AXIOMS).write_text(text)
        with pytest.raises(prove.ProofError, match="two lists"):
            prove.read_axioms(tmp_path)


def test_axioms_are_read_off_an_answer_of_coq():
    answer = "Axioms:\nA.a : forall x : R,\n      x = x\nlong_name\n  : Prop\n"
    assert prove.axioms_in(answer) == ["A.a", "long_name"]
    assert prove.axioms_in(prove.CLOSED) == []


def test_other_options_and_other_files_are_refused(tmp_path):
    project = (PROOFS / "_CoqProject").read_text(encoding="utf-8")
    for path in PROOFS.glob("*.v"):
        shutil.copy(path, tmp_path)
    (tmp_path / "_CoqProject").write_text(project)
    assert prove.project_files(tmp_path) == prove.project_files(PROOFS)
    for more in ("-arg -type-in-type\n", "Absent.v\n", "Fields.v\n"):
        (tmp_path / "_CoqProject").write_text(project + more)
        with pytest.raises(prove.ProofError, match="_CoqProject"):
            prove.project_files(tmp_path)


def test_words_that_take_for_granted_are_refused_outside_comments(tmp_path):
    (tmp_path / "A.v").write_text("(* Admitted (* nested Axiom *) admit *) Lemma x : True.")
    prove.refuse_granted(tmp_path, ["A.v"])
    for word in ("Admitted.", "Axiom x : False.", "Unset Guard Checking.", "admit."):
        (tmp_path / "A.v").write_text(f"(* fine *) {word}")
        with pytest.raises(prove.ProofError, match=r"A\.v"):
            prove.refuse_granted(tmp_path, ["A.v"])


# The audit


AUDIT = (PROOFS / "Audit.v").read_text(encoding="utf-8")
HIDDEN = {
    "an axiom": "Axiom bad : False.",
    "a variable outside a section": "Variable bad : False.",
    "a statement with arguments": "Definition statement_big (R : rcfType) : Prop := True.",
    "a statement as a notation": "Notation statement_big := True.",
    "a statement stated twice": "Definition statement_reals : Prop := True.",
    "a statement of another type": "Definition statement_big : Type := True.",
    "another file loaded": "From Companion Require Import StdReals.",
    "more loaded than is written": "Import GRing.Theory Num.Theory Order.TTheory StdReals.",
    "a definition by tactics": "Definition a : nat := ltac:(exact 0).",
    "a symbol that is defined anew": 'Notation "x <= y" := True.',
    "an axiom between two strings": '"(*"%string. Axiom bad : False. "*)"%string.',
    "an axiom after a string in a comment": '(* " (* " *) Axiom bad : False. (* " *) " *)',
    "a letter that looks like another": "Definition \u0440 := 0.",
}


def test_the_audit_reads_its_statements():
    names = audit.statements(AUDIT)
    assert {"theorem_B", "theorem_1_corrected", "direction_converges"} <= set(names)
    section = "Section Extra.\nVariables (R : rcfType).\nDefinition a := 0.\nEnd Extra.\n"
    more = "Definition statement_more :\n  Prop := True.\n"
    assert audit.statements(AUDIT + section + more) == [*names, "more"]


@pytest.mark.parametrize("name", HIDDEN)
def test_nothing_but_definitions_passes_the_audit(name):
    with pytest.raises(SystemExit, match=r"^Audit\.v"):
        audit.statements(f"{AUDIT}\n{HIDDEN[name]}\n")


def test_an_axiom_keeps_its_whole_name():
    answer = "Axioms:\nClassical_Prop.classic' : False\nClassical_Prop.classic\n  : forall P, P"
    assert audit.axioms(answer) == {"Classical_Prop.classic'", "Classical_Prop.classic"}
    assert audit.axioms("Closed under the global context\n") == set()
    with pytest.raises(SystemExit):
        audit.axioms("Axioms :")


def test_no_file_may_pose_as_one_of_coq(tmp_path):
    for name in ("Audit.v", "Audited.v"):
        shutil.copy(PROOFS / name, tmp_path)
    (tmp_path / "_CoqProject").write_text("Orders.v\nClassical_Prop.v\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"Classical_Prop\.v"):
        audit.main(tmp_path)


# The page


def test_the_page_shows_the_audit_file_whole_and_in_its_order():
    page = (ROOT / "book" / "machine_checked.md").read_text(encoding="utf-8")
    audit = (PROOFS / "Audit.v").read_text(encoding="utf-8")
    shown = re.findall(r"^```coq\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert _lines("".join(shown)) == _lines(audit)
    assert _lines("".join(shown[:-1])) != _lines(audit)


def _lines(text):
    return [line for line in text.splitlines() if line]


def test_the_page_counts_the_errors_in_the_audit_file_and_there_are_twenty():
    page = (ROOT / "book" / "machine_checked.md").read_text(encoding="utf-8")
    planted = sum(error["file"] == "Audit.v" for error in PLANTED)
    assert planted >= 20
    assert planted == 26, "the page says twenty-six"
    assert "Twenty-six changes of *Audit.v*" in page


# Coq


# The max-margin part, from Definition 1 to the closed form, and what it needs: `make test` has Coq
# read these files, and plants errors in them. The others take ten times as long and ask Coq the
# same; `.ci/run all` has it read all, and whoever changes a proof does by NTPCORE_ANEW=1
# (CONTRIBUTING). That no other file changed since Coq read it, the record tells by its hashes.
PART = {"Fields.v", "Orders.v", "PrefixClosure.v", "MaxMargin.v", "Frobenius.v", "BlockForm.v"}
PART |= {"Hall.v", "Existence.v", "Matrix.v", "Dual.v", "FiveTokens.v", "Example1.v"}
PART |= {"Executable.v"}


@dataclass(frozen=True)
class Compiled:
    """Proofs that Coq has read: all, or those of the max-margin part.

    Attributes:
        folder: where they and what Coq made of them lie.
        names: the files, in the order in which they need each other.
        said: what coqc printed for each.
        record: of the check of all files; None for a part.
    """

    folder: Path
    names: list
    said: dict
    record: dict | None


@pytest.fixture(scope="module")
def compiled(tmp_path_factory, request):
    """The proofs, compiled: one run is expensive.

    Where errors are planted, Coq is asked as well on which variables of its section each proof
    rests.
    """
    folder, run, said = tmp_path_factory.mktemp("proofs"), prove.run_coq, {}
    planted = test_a_planted_error_stops_the_check.__name__
    asked = [i for i in request.session.items if getattr(i, "originalname", "") == planted]
    wrong = {item.callspec.params["error"]["file"] for item in asked}

    def run_and_keep(command, where, what, *more):
        if command[0] == "coqc" and what in wrong:
            command = ["coqc", "-set", "Suggest Proof Using", *command[1:]]
        said[what] = run(command, where, what, *more)
        return said[what]

    names = prove.project_files(PROOFS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prove, "run_coq", run_and_keep)
        if os.environ.get(ASKED_FOR):
            patch.setattr(prove.tempfile, "TemporaryDirectory", lambda: nullcontext(str(folder)))
            return Compiled(folder, names, said, prove.check(PROOFS))
        names = [name for name in names if name in PART]
        prove.compile_files(PROOFS, names, folder)
        return Compiled(folder, names, said, None)


@NEEDS_COQ
@pytest.mark.slow
@pytest.mark.thorough
def test_coq_reads_all_proofs_and_writes_the_same_record(compiled):
    assert compiled.record == json.loads((PROOFS / prove.RECORD).read_text(encoding="utf-8"))


@NEEDS_COQ
@pytest.mark.slow
def test_coq_reads_the_max_margin_part_and_says_what_the_record_says(compiled):
    record = json.loads((PROOFS / prove.RECORD).read_text(encoding="utf-8"))
    known = {
        f"{row['file'].removesuffix('.v')}.{row['theorem']}": row["statement"]
        for label in record["labels"].values()
        for row in label["theorems"]
        if row["file"] in PART
    }
    assert len(known) >= 40
    answers = prove.ask(compiled.folder, compiled.names, sorted(known))
    assert {rests for _, rests in answers.values()} == {prove.CLOSED}
    for theorem, (says, _) in answers.items():
        assert _unqualified(says) == _unqualified(known[theorem]), theorem


def _unqualified(statement):
    """A statement without line ends and without the files of its names.

    Coq prints the file of a name that another file, loaded later, has as well.
    """
    files = "|".join(name.removesuffix(".v") for name in prove.project_files(PROOFS))
    return " ".join(re.sub(rf"\b(?:{files})\.", "", statement).split())


def test_the_max_margin_part_needs_no_other_file():
    for name in PART:
        assert _needs(name) <= PART, name


@NEEDS_COQ
@pytest.mark.slow
def test_an_unknown_theorem_an_axiom_and_a_slow_proof_are_found(compiled, tmp_path, monkeypatch):
    names = compiled.names
    folder = _linked(compiled, tmp_path)
    with pytest.raises(prove.ProofError, match=r"no Companion\.Orders\.absent"):
        prove.ask(folder, names, ["Orders.absent"])
    (folder / "Own.v").write_text("Axiom own : False. Lemma wrong : 0 = 1. case own. Qed.")
    prove.compile_file(folder, "Own.v")
    says, rests = prove.ask(folder, [*names, "Own.v"], ["Own.wrong"])["Own.wrong"]
    assert says == "0 = 1"
    assert "own : False" in rests
    monkeypatch.setattr(prove, "SECONDS", 0.01)
    with pytest.raises(prove.ProofError, match="not done within"):
        prove.run_coq(["coqc", "--version"], folder, "Slow.v", prove.SECONDS)


def test_without_coq_the_check_says_so(monkeypatch, capsys):
    monkeypatch.setattr(prove.shutil, "which", lambda _: None)
    assert prove.main([]) == 2
    assert capsys.readouterr().out.count("\n") == 1


def _linked(compiled, folder):
    """A copy of the compiled folder; what is not changed is a link."""
    for name in compiled.names:
        for file in (name, name + "o"):
            (folder / file).symlink_to(compiled.folder / file)
    return folder


def _needs(name):
    """The files of ours that a file needs."""
    text = (PROOFS / name).read_text(encoding="utf-8")
    needs = re.findall(r"From Companion Require (?:Import )?([\w\s]+)\.", text)
    return {f"{need}.v" for need in " ".join(needs).split()}


def _needing(names, changed):
    """The changed file and those that need it, in order."""
    found = [changed]
    for name in names:
        if _needs(name) & set(found):
            found.append(name)
    return found


def _check_again(folder, names, todo):
    """What prove.check does, for files some of which are compiled."""
    prove.refuse_granted(folder, names)
    for name in todo:
        prove.compile_file(folder, name)


LEMMA = "(?:Lemma|Theorem|Corollary|Proposition|Fact|Remark|Example)"
# How a sentence of Coq begins that stands by itself, outside a proof.
SENTENCE = re.compile(
    rf"^(?:#\[|{LEMMA}|Definition|Fixpoint|Inductive|Variant|Record|Notation|Local|Let|Variables?"
    r"|Hypothes[ie]s|Context|Section|End|From)\b",
    re.MULTILINE,
)


MATHCOMP = "From mathcomp Require Import all_ssreflect all_algebra."


def _without_mathcomp(text):
    """A text without the import that a running Coq has made already, where nothing comes before."""
    before, found, after = text.partition(MATHCOMP)
    return before + after if found and not re.search(r"^From\b", before, re.MULTILINE) else text


class Coq:
    """A running Coq that can take back what it was told: what many questions share is read once."""

    def __init__(self, folder):
        options = ["-q", "-emacs", "-w", "-notation-overridden,-ambiguous-paths"]
        self.process = subprocess.Popen(
            ["coqtop", *options, "-Q", ".", "Companion"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.told = 0

    def tell(self, text):
        """What it says to some sentences, and its state after them; it goes on after an error."""
        self.told += 1
        mark = f"mark{self.told}end"
        writer = threading.Thread(target=self._write, args=(f"{text}\nLocate {mark}.\n",))
        limit = threading.Timer(prove.SECONDS, self.process.kill)
        writer.start(), limit.start()
        lines = []
        while not lines or f"No object of basename {mark}" not in lines[-1]:
            lines.append(self.process.stdout.readline())
            assert lines[-1], f"Coq ended, or was not done within {prove.SECONDS} seconds"
        limit.cancel(), limit.join(), writer.join()
        said = "".join(lines)
        return said, int(re.findall(r"<prompt>\S+ < (\d+) \|", said)[-1])

    def _write(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def back(self, state):
        """Take back everything since a state."""
        assert "Error" not in self.tell(f"BackTo {state}.")[0]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def _rests_on(said):
    """For each lemma of a section the variables on which its proof rests, as coqc printed them."""
    found = re.findall(
        r"^The proof of (\S+)\s+should start with one of the following commands:\s+"
        r"Proof using ([^.]*)\.",
        said,
        re.MULTILINE,
    )
    assert len(found) == len(dict(found)) == said.count("should start with")
    return dict(found)


def _granted(text, rests):
    """Sentences that coqc took, without their proofs; all rest on the same variables as before."""
    starts = [0, *(m.start() for m in SENTENCE.finditer(text) if m.start()), len(text)]
    return "".join(_one_granted(text[a:b], rests) for a, b in pairwise(starts))


def _one_granted(text, rests):
    lemma = re.match(r"(?:#\[.*?\]\s*)?(?:Local )?" + LEMMA + r" (\S+)", text)
    if not lemma:
        return text
    using = f" using {rests[lemma[1]]}" if lemma[1] in rests else ""
    return re.sub(
        r"\bProof\..*?\bQed\.", f"Proof{using}. Admitted.", text, count=1, flags=re.DOTALL
    )


def _as_module(name, told):
    """A file that needs changed ones, as a module; the changed ones have been told as modules."""
    modules = "|".join(n.removesuffix(".v") for n in told)

    def known(need):
        names = re.findall(rf"\b(?:{modules})\b", need[2])
        left = re.sub(rf"\b(?:{modules})\b", "", need[2])
        lines = [f"From Companion Require {need[1]}{left}."] if left.split() else []
        lines += [f"Import {' '.join(names)}."] if names and need[1] else []
        return "\n".join(lines)

    text = (PROOFS / name).read_text(encoding="utf-8")
    text = re.sub(r"From Companion Require (Import |)([\w\s]+)\.", known, text)
    module = name.removesuffix(".v")
    return f"Module {module}.\n{_without_mathcomp(text)}\nEnd {module}.\n"


def _contents(coq, module):
    """What a module says, name by name, with the type of each."""
    said, _ = coq.tell(f"Print Module {module}.")
    assert "Struct" in said, said
    return said[said.index("Struct") : said.rindex("End")].split()


def _first_refusals(coq, start, name, files, changes, rests):
    """For each change of a file what Coq says first against it; empty if it takes the whole file.

    The sentences before a change are told once for all changes, and without their proofs, which
    coqc took before; from the change on all is told. That a file without its proofs says the same
    as the compiled one is asked in the end. A file that has no proof refuses little by itself:
    those that need it are told after it, and in the end Coq has to take them with it unchanged.

    Args:
        coq: a running Coq, taken back to `start` in the end.
        start: its state in which no sentence of the file has been told.
        name: of the file.
        files: those that are compiled, in order.
        changes: pairs of an old text and a new one.
        rests: for each lemma of the file the variables of its section on which its proof rests.
    """
    source = _without_mathcomp((PROOFS / name).read_text(encoding="utf-8"))
    module = name.removesuffix(".v")
    told = [name] if "Qed." in source else _needing(files, name)
    further = [_as_module(other, told) for other in told[1:]]
    if further:  # what these need besides is loaded once
        needs = " ".join(n.removesuffix(".v") for n in files[: files.index(told[-1])])
        needs = re.sub(rf"\b{module}\b", "", needs)
        assert "Error" not in coq.tell(f"From Companion Require {needs}.")[0]
    coq.tell(f"Module {module}.")
    found, done = {}, 0
    for old, new in sorted(changes, key=lambda change: source.index(change[0])):
        starts = [m.start() for m in SENTENCE.finditer(source, 0, source.index(old) + 1)]
        said, state = coq.tell(_granted(source[done : starts[-1]], rests))
        assert "Error" not in said, f"{name}: {said}"
        done = starts[-1]
        rest = f"{source[done:].replace(old, new)}\nEnd {module}.\n"
        errors = (_first_error(coq, text) for text in (rest, *further))
        found[old, new] = next(filter(None, errors), "")
        coq.back(state)
    said, _ = coq.tell(f"{_granted(source[done:], rests)}\nEnd {module}.\n")
    assert "Error" not in said, f"{name}: {said}"
    assert not any(_first_error(coq, text) for text in further)
    coq.tell(f"From Companion Require {module}.")
    assert _contents(coq, f"Top.{module}") == _contents(coq, f"Companion.{module}"), name
    coq.back(start)
    return found


def _first_error(coq, text):
    """The first error that Coq finds in a text, told sentence by sentence; empty if none."""
    starts = [0, *(m.start() for m in SENTENCE.finditer(text) if m.start())]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        said, _ = coq.tell(text[start:end])
        if error := re.search(r"\bError\b.*?(?=<prompt>)", said, re.DOTALL):
            return error[0]
    return ""


@pytest.fixture(scope="module")
def refusals(compiled):
    """What Coq says first against a planted error, in the file where it is planted.

    One Coq for all files: what most of them import takes longer to load than many have to say.
    """
    known, coq = {}, Coq(compiled.folder)
    said, start = coq.tell(MATHCOMP)
    assert "Error" not in said, said

    def first(error):
        if error["file"] not in known:
            changes = [(e["old"], e["new"]) for e in PLANTED if e["file"] == error["file"]]
            rests = _rests_on(compiled.said[error["file"]])
            known[error["file"]] = _first_refusals(
                coq, start, error["file"], compiled.names, changes, rests
            )
        return known[error["file"]][error["old"], error["new"]]

    yield first
    coq.close()


def _planted(error):
    """An error as a parameter of the test."""
    marks = () if error["file"] in PART else (pytest.mark.thorough,)
    return pytest.param(error, id=f"{error['file']}: {error['why']}", marks=marks)


@NEEDS_COQ
@pytest.mark.slow
@pytest.mark.parametrize("error", [*map(_planted, PLANTED)])
def test_a_planted_error_stops_the_check(error, refusals, compiled, tmp_path):
    source = (PROOFS / error["file"]).read_text(encoding="utf-8")
    assert source.count(error["old"]) == 1
    said = refusals(error)
    if not said:  # it is refused for its words, or in a file that needs this one
        folder = _linked(compiled, tmp_path)
        todo = _needing(compiled.names, error["file"])
        for name in todo:
            (folder / (name + "o")).unlink()
        (folder / error["file"]).unlink()
        (folder / error["file"]).write_text(source.replace(error["old"], error["new"]))
        with pytest.raises(prove.ProofError) as refused:
            _check_again(folder, compiled.names, todo)
        said = str(refused.value)
    # It is refused for what it says, and not because it cannot be read.
    assert not re.search("[Ss]yntax error|Illegal begin|not done within", said)


def test_there_are_forty_planted_errors_in_all_kinds_of_files():
    assert len({(error["file"], error["new"]) for error in PLANTED}) == len(PLANTED) >= 40
    files = {error["file"] for error in PLANTED}
    assert files == set(prove.project_files(PROOFS)) - {"Fields.v"}
    assert files >= PART - {"Fields.v"}
    assert sum(error["file"] in PART for error in PLANTED) >= 30


# The code


def _random_samples(seed):
    """Samples over few tokens, with any map n; tokens are often confused."""
    rng = random.Random(seed)
    tokens = "abcdef"[: rng.randint(2, 6)]
    n = {x: rng.choice(tokens) for x in tokens}
    if seed % 2:
        n = dict(zip(tokens, rng.sample(tokens, len(tokens)), strict=True))
    samples = [([x], n[x]) for x in tokens]
    for _ in range(rng.randint(1, 8)):
        sentence = rng.choices(tokens, k=rng.randint(2, 5))
        samples.append((sentence, n[rng.choice(sentence)]))
    return dataset.from_samples(samples)


def _structures():
    """All examples that have orders, and fifty small random data sets."""
    found = [order.analyse(dataset.read(str(path))) for path in EXAMPLES]
    rng = np.random.default_rng(20)
    realizable = [
        generate.random_dataset(rng, 6, 8, 4, prefix_closed=i % 2 == 0) for i in range(25)
    ]
    found += [order.analyse(data) for data in realizable]
    found += [order.analyse(_random_samples(seed)) for seed in range(25)]
    return [structure for structure in found if structure.orders is not None]


def _list(items):
    return "[:: " + "; ".join(items) + "]" if items else "[::]"


def _fraction(value):
    sign = "- " if value < 0 else ""
    return f"({sign}fracq (Posz {abs(value.numerator)}%N, Posz {value.denominator}%N))"


PRELUDE = """From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Orders MaxMargin Hall Executable.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Close Scope nat_scope.
Definition code (r : role) : nat :=
  match r with Optimal => 0 | Nonoptimal => 1 | Confused => 2 | Noncomparable => 3 end%N.
Definition same_rat (r s : seq rat) := r == s.
"""


def _questions(structure, shift):
    """Lines of Coq that compare all of a structure with what Coq's definitions say of the data.

    What is said of scores is asked once more with each of them changed by `shift`.
    """
    number = {token: place for place, token in enumerate(structure.data.vocabulary)}
    tokens = [str(place) for place in number.values()]
    following = [str(number[structure.collocation[token]]) for token in number]
    samples = [
        f"({_list([str(number[t]) for t in s.sentence])}, {number[s.next_token]})"
        for s in structure.data.samples()
    ]
    lines = [
        f"Definition tokens := ({_list(tokens)})%N.",
        f"Definition n (x : nat) : nat := nth 0%N ({_list(following)})%N x.",
        f"Definition data : seq (seq nat * nat) := ({_list(samples)})%N.",
        "Definition all_pairs := [seq (x, y) | x <- tokens, y <- tokens].",
        "Definition pairs q := [seq p <- all_pairs | aboveb n data q p.1 p.2].",
        "Definition roles q := [seq code (role_of n data q x) | x <- tokens].",
    ]
    return lines + [line for part in _by_order(structure, shift) for line in part]


def _by_order(structure, shift):
    """The questions of a structure, order by order."""
    number = {token: place for place, token in enumerate(structure.data.vocabulary)}
    return [
        _order_questions(
            structure.orders.get(query, order.PartialOrder(query, frozenset())), number, shift
        )
        for query in number
    ]


def _order_questions(one, number, shift):
    """Lines of Coq about one order."""
    q = number[one.query]
    pairs = [f"({number[x]}, {number[y]})" for x, y in one.pairs]
    roles = [
        {True: "2"}.get(x in one.confused)
        or ("0" if x in one.optimal else "1" if x in one.nonoptimal else "3")
        for x in number
    ]
    lines = [
        f"Eval vm_compute in perm_eq (pairs {q}%N) ({_list(pairs)})%N.",
        f"Eval vm_compute in roles {q}%N == ({_list(roles)})%N.",
    ]
    if not one.pairs or one.confused:
        return lines
    solution = margin.solve(one)
    scores = {x: solution.scores.get(x, Fraction(0)) for x in number}
    printed = {x: margin.closed_form_scores(one).get(x, Fraction(0)) for x in number}
    multipliers = [
        f"(({number[x]}%N, {number[y]}%N), {_fraction(c)})"
        for (x, y), c in solution.multipliers.items()
    ]
    lines.append(f"Definition l{q} : seq (nat * nat * rat) := {_list(multipliers)}.")
    for name, more in (("right", Fraction(0)), ("wrong", shift)):
        scores[one.optimal[0]] += more
        printed[one.optimal[0]] += more
        listed = _list([_fraction(c) for c in scores.values()])
        lines += [
            f"Definition {name}{q} (x : nat) : rat := nth 0 {listed} x.",
            f"Eval vm_compute in proves tokens (pairs {q}%N) {name}{q} l{q}.",
            f"Eval vm_compute in same_rat [seq closed_form_on _ (pairs {q}%N) x | x <- tokens] "
            f"{_list([_fraction(c) for c in printed.values()])}.",
        ]
    return lines


def _answers(folder, structures, shift):
    """What Coq answers, true or false: for each order to its two questions, or to all six."""
    parts = [
        "\n".join([f"Module M{place}.", *_questions(structure, shift), f"End M{place}."])
        for place, structure in enumerate(structures)
    ]
    (folder / "Compare.v").write_text(PRELUDE + "\n".join(parts) + "\n")
    said = prove.run_coq(
        ["coqc", "-w", "none", "-Q", ".", "Companion", "Compare.v"], folder, "Compare.v", 300
    )
    assert said.count(": bool") == "\n".join(parts).count("Eval vm_compute")
    answers = iter(re.findall(r"= (true|false)\s+: bool", said))
    return [
        [next(answers) == "true" for line in lines if line.startswith("Eval")]
        for structure in structures
        for lines in _by_order(structure, shift)
    ]


@NEEDS_COQ
@pytest.mark.slow
def test_ntpcore_computes_what_coq_defines(compiled, tmp_path):
    folder = _linked(compiled, tmp_path)
    structures = _structures()
    assert len(structures) >= 53
    answers = _answers(folder, structures, Fraction(1, 7))
    solved = [o for s in structures for o in s.orders.values() if not o.confused]
    confused = [o for s in structures for o in s.orders.values() if o.confused]
    assert len(solved) >= 50
    assert len(confused) >= 10
    assert sum(not margin.satisfies_hall(one) for one in solved) >= 1
    # other scores are noticed in each of them, twice
    longer = [answer for answer in answers if len(answer) > 2]
    assert len(longer) == len(solved)
    assert all(answer == [True, True] for answer in answers if len(answer) == 2)
    assert all(answer == [True, True, True, True, False, False] for answer in longer)


# The checker of certificates


def _one_by_one(column):
    """A column with a row for each token and for each pair, and its numbers as fractions."""
    scores = [[Fraction(score), [x]] for score, tokens in column["scores"] for x in tokens]
    rows = column["pairs"]
    pairs = [[i, Fraction(value), a, [b]] for i, value, a, lowers in rows for b in lowers]
    return {**column, "scores": scores, "pairs": pairs}


def _changed_column(rng, column):
    """A column as it is, or changed so that a single one of the conditions may fail."""
    made = _one_by_one(column)
    scores, pairs = made["scores"], made["pairs"]
    multiplier = {(row[2], row[3][0]): row for row in pairs}
    squares = [
        (a, b, c, d)
        for (a, b), (c, d) in product(multiplier, repeat=2)
        if a < c and b != d and {(a, d), (c, b)} <= multiplier.keys()
    ]
    how, step = rng.randrange(5), Fraction(rng.choice((-1, 1)), rng.randint(1, 6))
    if how == 0:  # one number: the sums fail
        row, at = rng.choice([(row, 0) for row in scores] + [(row, 1) for row in pairs])
        row[at] += step
    elif how == 1:  # a multiplier and its scores: the sums hold
        pair = rng.choice(pairs)
        pair[1] += step
        for row in scores:
            row[0] += step * ((row[1] == [pair[2]]) - (row[1] == pair[3]))
    elif how == 2 and squares:  # four multipliers around a square: only their signs may fail
        a, b, c, d = rng.choice(squares)
        for pair, sign in (((a, b), 1), ((a, d), -1), ((c, d), 1), ((c, b), -1)):
            multiplier[pair][1] += sign * step
    elif how == 3:  # all numbers: only the margins fail
        factor = rng.choice((0, Fraction(1, 2), 2))
        for row, at in [(row, 0) for row in scores] + [(row, 1) for row in pairs]:
            row[at] *= factor
    else:
        return column
    for row, at in [(row, 0) for row in scores] + [(row, 1) for row in pairs]:
        row[at] = str(row[at])
    return made


def _accepts(column, n, samples, below):
    """Whether the checker accepts a column."""
    try:
        certificate.check_column(column, n, samples, below, "column")
    except certificate.RefusedError:
        return False
    return True


def _columns(number):
    """Columns of random data without circles, in the words of Coq, and the checker's answers."""
    rng, questions, answers = random.Random(30), [], []
    for seed in count():
        made = certify.make(order.analyse(_random_samples(seed)))
        n = made["collocation"]
        samples = certificate.read_samples(made)
        orders, _ = certificate.derive(n, samples)
        for short in made["columns"]:
            pairs = [list(row) for row in certify.spelled_out(n, samples, short)]
            column = {**short, "pairs": pairs}
            if column["circles"]:  # which `certificate_solves` does not speak of
                continue
            for one in (_changed_column(rng, column) for _ in range(3)):
                if len(questions) == number:
                    return questions, answers
                questions.append(_in_coq(one, orders[one["query"]], len(n)))
                answers.append(_accepts(one, n, samples, orders[one["query"]]))


def _in_coq(column, below, size):
    """Pairs, scores, and multipliers of a column, numbers as sign, numerator, and denominator."""

    def write(value):
        return f"({str(value < 0).lower()}, {abs(value.numerator)}, {value.denominator})"

    pairs = [f"({a}, {b})" for a, lowers in below.items() for b in lowers]
    scores = {x: Fraction(score) for score, tokens in column["scores"] for x in tokens}
    multipliers = [
        f"(({a}, {b}), {write(Fraction(value))})"
        for _, value, a, lowers in column["pairs"]
        for b in lowers
        if Fraction(value)
    ]
    listed = [write(scores.get(x, Fraction(0))) for x in range(size)]
    return f"({_list(pairs)}, {_list(listed)}, {_list(multipliers)})"


JUDGE = """From mathcomp Require Import all_ssreflect all_algebra.
From Companion Require Import Executable.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Local Open Scope nat_scope.
Definition number (c : bool * nat * nat) : rat :=
  let: (minus, p, q) := c in (let r := fracq (Posz p, Posz q) in if minus then - r else r)%R.
Definition column : Type :=
  seq (nat * nat) * seq (bool * nat * nat) * seq (nat * nat * (bool * nat * nat)).
Definition judge (c : column) : bool :=
  proves (iota 0 (size c.1.2)) c.1.1 (fun x => number (nth (false, 0, 1) c.1.2 x))
    [seq (e.1, number e.2) | e <- c.2].
"""


@NEEDS_COQ
@pytest.mark.slow
def test_the_checker_of_certificates_accepts_what_coq_accepts(compiled, tmp_path):
    """With CASES=10000 in the environment ten thousand columns are compared, in minutes."""
    questions, answers = _columns(int(os.environ.get("CASES", "1000")))
    folder = _linked(compiled, tmp_path)
    parts = [
        f"Definition part{i} : seq column := {_list(questions[i : i + 250])}.\n"
        f"Eval vm_compute in map judge part{i}."
        for i in range(0, len(questions), 250)
    ]
    (folder / "Columns.v").write_text(JUDGE + "\n".join(parts) + "\n")
    command = ["coqc", "-w", "none", "-Q", ".", "Companion", "Columns.v"]
    said = prove.run_coq(command, folder, "Columns.v", 5000)
    coq = [word == "true" for word in re.findall(r"\b(true|false)\b", said)]
    assert len(questions) / 5 < sum(answers) < 4 * len(questions) / 5
    assert coq == answers
