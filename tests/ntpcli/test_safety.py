"""Tokens, names and parameters are data: shown as they are, never run, never read as markup."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import pytest
from papermill.translators import translate_parameters
from program import Run, has_control_characters

from ntpcli.report import figures as plots_report
from ntpcore.data import dataset
from ntpcore.data.order import PartialOrder
from tools.pipeline.execute import execute

ROOT = Path(__file__).resolve().parents[2]
NASTY = (
    "<script>alert(1)</script>",
    "$x_1^{2",
    "\\$\\frac{}{$",
    "\\input{/etc/passwd}",
    "\x1b[31mred\x1b]0;t\x07",
    "\u202eevil\u2066",
    "__import__('os').system('touch pwned')",
    "${HOME}`touch pwned`$(touch pwned)",
    "../../pwned",
    "'\"&amp;<!--",
    "%s%n{0}{{7*7}}",
    "\u200d\ufeff\u0301",
)


def nasty_file(folder: Path) -> Path:
    """Realizable data over these tokens: a ring, and for each a sentence that needs attention."""
    rows = []
    for number, token in enumerate(NASTY):
        following, last = NASTY[(number + 1) % len(NASTY)], NASTY[number - 2]
        rows += [{"sentence": [token], "next": following}]
        rows += [{"sentence": [token, last], "next": following}]
    path = folder / "nasty.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_every_command_shows_nasty_tokens_as_data(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = nasty_file(tmp_path).name
    for words in (
        ("check", name, "--steps", "20"),
        ("train", name, "--steps", "20", "-o", "run.npz"),
        ("predict", "run.npz", "--sentence", f"{NASTY[6].split()[0]} {NASTY[7].split()[0]}"),
        ("predict", "run.npz", "--sentence", "\x1b[31m\u202e"),
        ("repair", name, "--greedy", "--write", "rest.jsonl"),
    ):
        result = run(*words)
        assert result.code in (0, 2), result.err
        assert result.out or result.err.startswith("ntpcore: ")
        assert not has_control_characters(result.out + result.err)
    assert sorted(os.listdir(tmp_path)) == ["nasty.jsonl", "rest.jsonl", "run.npz"]
    assert set(dataset.read("rest.jsonl").vocabulary) == set(NASTY)


@pytest.mark.parametrize("token", NASTY)
def test_a_drawing_shows_a_token_letter_by_letter(token: str, tmp_path: Path) -> None:
    plots_report.use_report_style()
    fig, axes = plt.subplots()
    plots_report._draw_order(axes, PartialOrder.of(token, [(token, "b$"), (token, "\\")]))
    fig.savefig(tmp_path / "a.svg")
    plt.close(fig)
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<script" not in svg
    assert not has_control_characters(svg)


# Parameters


@pytest.mark.parametrize("value", [*NASTY, "'''", '"""', "\\", "a\nimport os", "\\'; x = 1 #"])
def test_a_parameter_of_a_notebook_is_a_value(value: str) -> None:
    code = translate_parameters("python3", "python", {"data": value}, "Parameters")
    (only,) = ast.parse(code).body
    assert isinstance(only, ast.Assign)
    assert ast.literal_eval(only.value) == value


def test_a_parameter_that_looks_like_code_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("page.md").write_text(
        "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n"
        "kernelspec: {name: python3, display_name: Python 3}\n---\n\n"
        "```{code-cell}\n:tags: [parameters]\ndata = ''\n```\n\n```{code-cell}\ndata\n```\n",
        encoding="utf-8",
    )
    value = "'\"\"\"\n__import__('os').system('touch pwned')\n#\\"
    execute(Path("page.md"), Path("out.ipynb"), Path("failed.ipynb"), {"data": value})
    shown = nbformat.read("out.ipynb", as_version=4).cells[-1].outputs[0]["data"]["text/plain"]
    assert ast.literal_eval(shown) == value
    assert not Path("pwned").exists()


# Code

FORBIDDEN = {"eval", "exec", "compile", "__import__"}
# numba's own cache, beside the modules: what stands at its head is written, nothing is read.
# Cells that a reader changes run as in a notebook, but in a browser.
ALLOWED = {
    "ntpcore/_cache.py": {"import pickle", "pickle.dumps"},
    "ntpplayground/cells.py": {"compile", "exec", "eval"},
}


def dangers(text: str) -> set[str]:
    """What in some code could run data: pickles, evaluation, shells."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            found |= {f"import {n}" for n in names & {"pickle", "marshal", "shelve", "dill"}}
        if not isinstance(node, ast.Call):
            continue
        name, keywords = ast.unparse(node.func), {k.arg: k.value for k in node.keywords}
        if name in FORBIDDEN or name.startswith("pickle.") or name in ("os.system", "os.popen"):
            found.add(name)
        if name in ("np.load", "np.save", "np.savez", "np.savez_compressed"):
            allowed = keywords.get("allow_pickle")
            if not isinstance(allowed, ast.Constant) or allowed.value is not False:
                found.add(name)
        if "shell" in keywords or (name == "yaml.load"):
            found.add(name)
    return found


@pytest.mark.parametrize("folder", ["ntpcore", "tools", "book/_ext", "benchmarks"])
def test_no_code_reads_pickles_or_runs_data(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): dangers(path.read_text(encoding="utf-8"))
        for path in (ROOT / folder).rglob("*.py")
    }
    assert found
    wrong = {name: words - ALLOWED.get(name, set()) for name, words in found.items()}
    assert {name: words for name, words in wrong.items() if words} == {}


def test_dangers_are_noticed() -> None:
    for text in (
        "import pickle",
        "from pickle import loads",
        "eval(x)",
        "np.load(f)",
        "np.load(f, allow_pickle=True)",
        "subprocess.run(x, shell=True)",
        "yaml.load(x)",
        "os.system(x)",
    ):
        assert dangers(text), text
    assert not dangers("np.load(f, allow_pickle=False); ast.literal_eval(x); yaml.safe_load(x)")
