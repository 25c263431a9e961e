"""What a stranger reads first is true: versions agree, commands exist, nothing foreign is in it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def text_files():
    """Every text file that belongs to the repository."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in names.splitlines()]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()]


def test_citation_and_package_have_one_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.M).group(1) == PROJECT["version"]


def test_the_changelog_begins_with_this_version_and_its_verdicts():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)", changelog, re.M).group(1)
    assert first == PROJECT["version"]
    assert re.search(r"^### (.+)$", changelog, re.M).group(1) == "Verdicts"


def test_every_requirement_is_pinned_with_hashes_and_no_address():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if line and line[0] not in " #"]
    assert len(packages) > 100
    assert all("==" in line and line.endswith("\\") for line in packages)
    assert not [line for line in lines if "://" in line or line.lstrip().startswith("--i")]


def test_every_package_that_the_project_names_is_pinned():
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    groups = PROJECT["optional-dependencies"].values()
    for wanted in [*PROJECT["dependencies"], *(name for group in groups for name in group)]:
        name = re.match(r"[A-Za-z0-9.-]+", wanted).group(0).lower()
        if name == "ntpcore":  # an extra that takes in another of our own
            continue
        assert re.search(rf"^{re.escape(name)}==", pinned, re.M), name


def test_commands_of_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z]+)\b", README)):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for name in re.findall(r"examples/[\w.]+", README):
        assert (ROOT / name).is_file(), name


def test_links_of_the_readme_lead_to_files():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).is_file(), target


def test_the_tour_of_the_readme_shows_what_the_command_prints():
    shown = README.split("$ .venv/bin/ntpcore check examples/example1.txt\n")[1].split("...\n")[0]
    command = [sys.executable, "-m", "ntpcore", "check", "examples/example1.txt"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.startswith(shown)


@pytest.mark.parametrize(
    "pattern",
    [
        r"/(?:home|root|Users)/\w",
        r"\b(?:pypi|registry\.npmjs|files\.pythonhosted)\.",
        r"^-----BEGIN ",
        r"\b(?:TODO|FIXME|XXX)\b",
    ],
)
def test_no_file_names_a_machine_or_a_registry(pattern):
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in text_files()
        if path != Path(__file__)
        for match in re.finditer(pattern, path.read_text(encoding="utf-8"), re.M)
    ]
    assert not found


def test_the_search_for_foreign_words_can_find_some():
    assert re.search(r"/(?:home|root|Users)/\w", "see /home/someone")


def test_no_executed_notebook_and_no_large_file_is_committed():
    command = ["git", "ls-files"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in names.splitlines()]
    assert not [path for path in files if path.suffix == ".ipynb"]
    assert not [path for path in files if path.is_file() and path.stat().st_size > 2_000_000]


def test_citation_and_package_have_one_author_and_the_same_keywords():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (author,) = PROJECT["authors"]
    assert f'authors:\n  - name: "{author["name"]}"\n' in citation
    listed = re.search(r"^keywords:\n((?:  - .+\n)+)", citation, re.M).group(1)
    assert re.findall(r"- (.+)", listed) == PROJECT["keywords"]
    python = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]


def test_pre_commit_runs_what_make_lint_runs():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    (command,) = re.findall(r"entry: \.venv/bin/python (.+)", hooks)
    lint = re.search(r"^lint:.*\n\t@\$\(VENV_PYTHON\) (.+)$", (ROOT / "Makefile").read_text(), re.M)
    assert command == lint.group(1)


@pytest.mark.parametrize("name", ["book.yml", "release.yml"])
def test_workflows_pin_their_actions_and_say_what_was_never_tried(name):
    text = (ROOT / ".github/workflows" / name).read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one) for one in used)
    assert "ntested: it has never run" in text.replace("is untested", "Untested")
    assert "secrets." not in text
