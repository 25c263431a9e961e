"""`make note`: the theorems on convergence as a short paper in LaTeX, out of their pages.

The text is that of two pages: statements, words, proofs, and the derivations that run there. The
numbers are those of the last build. Where there is a LaTeX, the note is set as a PDF, too.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import yaml

from ntpcore.verdicts.claims import shown_number

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("huang2024_s5_convergence", "huang2024_s5_late_phase")
FOLDER = ROOT / "_build" / "note"
NAME = "convergence"
TITLE = "Training a one-layer transformer turns it to its margin: rates, constants, certificates"

CELL = re.compile(r"^```\{code-cell\}\n(?:---\n(.*?)\n---\n)?(.*?)^```\n", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^:::\{prf:(\w+)\}[ ]*([^\n]*)\n(.*?)^:::\n", re.DOTALL | re.MULTILINE)
DISPLAY = re.compile(r"\$\$(.*?)\$\$", re.DOTALL)
RAW = re.compile(r"\\begin\{equation\*\}.*?\\end\{equation\*\}", re.DOTALL)
KINDS = {
    "theorem", "lemma", "corollary", "proposition", "conjecture", "observation", "remark", "proof",
}  # fmt: skip
# what a cell does that is no derivation: judging, drawing, running
CALLS = re.compile(
    r"^(checks|measured|optimum|figures|fig|run|approaches|lates|log_runs|f\")", re.M
)
# characters of the prose that LaTeX reads as commands
SPECIAL = {"%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "’": "'", "–": "--", "−": "$-$"}


def convert(page: str, results: Mapping[str, str]) -> str:
    """One page of the book in LaTeX.

    Args:
        page: its text, in MyST.
        results: printed numbers by "label:name".

    Raises:
        ValueError: the page quotes a number that the build does not have, or has a kind of block
            that the note does not know.
    """
    text = page.split("\n---\n", 1)[1]
    kept: list[str] = []  # pieces that no rule of prose may touch

    def keep(piece: str) -> str:
        kept.append(piece)
        return f"\x00{len(kept) - 1}\x00"

    def cell(found: re.Match[str]) -> str:
        options, code = found[1] or "", found[2].strip()
        if "tags" in options or "name:" in options or CALLS.search(code):
            return ""
        return keep(f"{{\\small\\begin{{verbatim}}\n{code}\n\\end{{verbatim}}}}") + "\n"

    def display(found: re.Match[str]) -> str:
        return keep(f"\\begin{{equation*}}{found[1].rstrip()}\n\\end{{equation*}}")

    def quoted(found: re.Match[str]) -> str:
        if found[1] not in results:
            raise ValueError(f"the build has no number {found[1]!r}; make book, then make note")
        return results[found[1]]

    text = CELL.sub(cell, text)
    text = BLOCK.sub(block, text)
    text = RAW.sub(lambda found: keep(found[0]), text)
    text = DISPLAY.sub(display, text)
    text = re.sub(r"\{result\}`([^`]+)`", quoted, text)
    text = re.sub(r"\$[^$]+\$", lambda found: keep(found[0]), text)
    text = prose(text, keep)
    while "\x00" in text:
        text = re.sub("\x00(\\d+)\x00", lambda found: kept[int(found[1])], text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def block(found: re.Match[str]) -> str:
    """A statement or a proof as an environment."""
    kind, name, body = found[1], found[2].strip(), found[3]
    if kind not in KINDS:
        raise ValueError(f"the note knows no {kind}; it knows {', '.join(sorted(KINDS))}")
    body = re.sub(r"^:(label|nonumber|class):.*\n", "", body, flags=re.M)
    title = f"[{name.removesuffix('(ours)').strip()}]" if name and kind != "proof" else ""
    return f"\\begin{{{kind}}}{title}\n{body.strip()}\n\\end{{{kind}}}\n"


def prose(text: str, keep: Callable[[str], str]) -> str:
    """Marks of MyST as LaTeX; `keep` puts away what is finished."""
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.M)
    text = re.sub(r"\s*\(\{verdict\}`[^`]*`\)", "", text)
    text = re.sub(r"\{verdict\}`([^`]*)`", "this book", text)
    text = re.sub(r"\{prf:ref\}`([^`<]*?)\s*<[^`]*>`", r"\1", text)
    text = re.sub(r"\{cite:[pt]\}`([^`]+)`", lambda f: keep(f"\\cite{{{f[1]}}}"), text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`([^`]+)`", lambda f: keep(f"\\texttt{{{escaped(f[1])}}}"), text)
    parts = re.split(r"(\\(?:begin|end)\{\w+\}(?:\[[^\]]*\])?|\\item)", text)
    text = "".join(part if k % 2 else escaped(part) for k, part in enumerate(parts))
    text = re.sub(r"\*\*(.+?)\*\*", r"\\textbf{\1}", text, flags=re.DOTALL)
    text = re.sub(r"\*(.+?)\*", r"\\emph{\1}", text, flags=re.DOTALL)
    text = re.sub(r"^\\#\\#\\# (.*)$", r"\\subsection*{\1}", text, flags=re.M)
    text = re.sub(r"^\\#\\# (.*)$", r"\\section*{\1}", text, flags=re.M)
    return re.sub(r"^\\# (.*)$", r"\\section*{\1}", text, flags=re.M)


def escaped(text: str) -> str:
    """Characters that LaTeX would read as commands, written out."""
    return "".join(SPECIAL.get(character, character) for character in text)


def document(pages: list[str], dated: str) -> str:
    """The whole note."""
    kinds = "\n".join(
        f"\\newtheorem*{{{kind}}}{{{kind.capitalize()}}}" for kind in sorted(KINDS - {"proof"})
    )
    return f"""\\documentclass[11pt]{{article}}
\\usepackage[a4paper,margin=25mm]{{geometry}}
\\usepackage[T1]{{fontenc}}
\\usepackage[utf8]{{inputenc}}
\\usepackage{{amsmath,amssymb,amsthm}}
{kinds}
\\sloppy
\\title{{{TITLE}}}
\\author{{The NTP companion authors}}
\\date{{{dated}}}
\\begin{{document}}
\\maketitle
\\noindent This note is made from two pages of \\emph{{Next-token prediction, checked}}, an
executable companion to two theory papers. There every statement has a check that runs, with
planted errors. Code in this text runs there, too.

{chr(10).join(pages)}
\\bibliographystyle{{plain}}
\\bibliography{{references}}
\\end{{document}}
"""


def numbers(claims: Path) -> dict[str, str]:
    """Printed numbers of a build by "label:name"."""
    rows = json.loads(claims.read_text(encoding="utf-8"))["claims"]
    return {
        f"{row['label']}:{name}": shown_number(value)
        for row in rows
        for name, value in row.get("numbers", {}).items()
    }


def set_in_type(folder: Path) -> str:
    """Run LaTeX where there is one; what became of it, in words.

    Raises:
        RuntimeError: LaTeX refused the note.
    """
    if shutil.which("pdflatex") is None or shutil.which("bibtex") is None:
        return "there is no pdflatex here, so the note is not set; any LaTeX sets it"
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{NAME}.tex"]
    for command in (latex, ["bibtex", NAME], latex, latex):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]} refused the note:\n{done.stdout[-2000:]}")
    return str((folder / f"{NAME}.pdf").relative_to(ROOT))


def main() -> int:
    """Write the note of the last build."""
    claims = ROOT / "_build" / "html" / "claims.json"
    if not claims.is_file():
        print("there is no built book; run make book first", file=sys.stderr)
        return 2
    results = numbers(claims)
    texts = [(ROOT / "notebooks" / f"{page}.md").read_text(encoding="utf-8") for page in PAGES]
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = document([convert(text, results) for text in texts], edition())
    (FOLDER / f"{NAME}.tex").write_text(made, encoding="utf-8")
    shutil.copy(ROOT / "references.bib", FOLDER / "references.bib")
    print(f"Note       {(FOLDER / NAME).relative_to(ROOT)}.tex")
    print(f"Set        {set_in_type(FOLDER)}")
    return 0


def edition() -> str:
    """The release as the citation file names it."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return f"Version {cited['version']}, {cited['date-released']}"


if __name__ == "__main__":
    sys.exit(main())
