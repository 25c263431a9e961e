"""The package as people install it: wheel and sdist, in environments that hold nothing else.

No index is asked. An environment is empty but for the package, installed by pip, and for links to
what its requirements name, transitively, among the packages of this one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.pipeline.source import OURS

ROOT = Path(__file__).resolve().parents[2]
TEXT = "S V O P\nV O P\nO P P\nP S V\n"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel and an sdist of the sources, built without a network."""
    folder = tmp_path_factory.mktemp("sources")
    for name in (*OURS, "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    code = (
        "from setuptools import build_meta as b;"
        "print(b.build_sdist('dist')); print(b.build_wheel('dist'))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


def asked(one: Requirement, extras: set[str]) -> bool:
    """Whether a requirement is due with these extras."""
    return one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)


def closure(first: list[Requirement], own: list[Requirement]) -> set[str]:
    """Names of all distributions that these requirements need, and theirs."""
    found: dict[str, set[str]] = {}
    todo = list(first)
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if name == "ntpcore":  # an extra that names another one
            todo += [more for more in own if asked(more, set(one.extras))]
            continue
        if name in found and one.extras <= found[name]:
            continue
        found[name] = found.get(name, set()) | one.extras
        for text in distribution(name).requires or []:
            more = Requirement(text)
            if asked(more, {"", *one.extras}):
                todo.append(more)
    return set(found)


def environment(folder: Path, archive: Path, extra: str) -> Path:
    """An environment with this archive and what its extra asks for; its Python."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    command = [*pip, "--no-index", "--no-build-isolation", "--quiet", str(archive)]
    # where pip builds an sdist it needs setuptools, which an empty environment has not
    (site,) = (folder / "lib").glob("python*/site-packages")
    builders = link(site, {"setuptools"}) if archive.suffix == ".gz" else []
    subprocess.run(command, check=True, capture_output=True)
    for path in builders:
        path.unlink()
    info = next(site.glob("ntpcore-*.dist-info"))
    own = [Requirement(text) for text in Distribution.at(info).requires or []]
    link(site, closure([one for one in own if asked(one, {"", extra})], own))
    return python


def link(site: Path, names: set[str]) -> list[Path]:
    """Links to the files of these distributions."""
    made = []
    for name in names:
        one = distribution(name)
        for top in {file.parts[0] for file in one.files or () if file.parts[0] != ".."}:
            target = Path(str(one.locate_file(top)))
            if target.exists() and top != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(target)
                made.append(site / top)
    return made


def run(python: Path, folder: Path, *words: str, code: int = 0) -> str:
    """What an installed `ntpcore` prints in a folder that is no checkout."""
    done = subprocess.run(
        [str(python.parent / "ntpcore"), *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=3000,
        check=False,
    )
    assert done.returncode == code, (words, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stdout if code != 2 else done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a text of a reader's own."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "text.txt").write_text(TEXT)
    (work / "far.txt").write_text("a b\na c\n")
    return work


@pytest.fixture(scope="module")
def bare(built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and nothing that an extra asks for."""
    return environment(tmp_path_factory.mktemp("bare") / "env", built["wheel"], "")


def ours(python: Path) -> dict[str, bytes]:
    """What is installed of this project in an environment: its files by name."""
    (site,) = (python.parents[1] / "lib").glob("python*/site-packages")
    paths = [path for name in OURS for path in (site / name).rglob("*")]
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in paths
        if path.is_file() and path.suffix != ".pyc"
    }


def test_every_command_answers_bare(bare: Path, folder: Path) -> None:
    code = "import importlib.util as u; print([n for n in ('numpy', 'numba') if u.find_spec(n)])"
    assert subprocess.check_output([bare, "-c", code], text=True) == "[]\n"
    assert run(bare, folder, "--version").startswith("ntpcore ")
    assert "Assumption 1 (realizable): holds" in run(bare, folder, "check", "text.txt")
    assert "drop 1 distinct sample" in run(bare, folder, "repair", "far.txt", "--greedy")
    assert "proved" in run(bare, folder, "claims", "--paper", "huang2024")
    assert "Theorem 1" in run(bare, folder, "claims", "huang2024-thm-1")
    for words, extra in (
        (("verify", "huang2024-eq-1"), "checks"),
        (("report", "text.txt"), "train"),
        (("train", "text.txt"), "train"),
        (("predict", "text.txt", "--sentence", "O S P"), "train"),
        (("check", "text.txt", "--steps", "9"), "train"),
        (("sweep", "none.toml"), "sweep"),
    ):
        said = run(bare, folder, *words, code=2)
        assert said.count("\n") == 1
        assert f"ntpcore[{extra}]" in said


def test_an_sdist_installs_what_a_wheel_does(
    bare: Path, built: dict[str, Path], folder: Path, tmp_path: Path
) -> None:
    python = environment(tmp_path / "env", built["sdist"], "")
    assert ours(python) == ours(bare)
    assert len(ours(bare)) > 200
    assert "Assumption 1 (realizable): holds" in run(python, folder, "check", "text.txt")


def test_three_commands_give_model_verdicts_and_page_with_the_extra_train(
    built: dict[str, Path], folder: Path, tmp_path: Path
) -> None:
    python = environment(tmp_path / "env", built["wheel"], "train")
    assert "saved in text.npz" in run(python, folder, "train", "text.txt")
    said = run(python, folder, "check", "text.txt", "--steps", "100")
    assert "not contradicted huang2024-thm-1: Norm and direction satisfy" in said
    assert run(python, folder, "report", "text.txt", "--steps", "100") == "written: report.html\n"
    assert "Assumption 1 (realizable): holds" in (folder / "report.html").read_text()
    (folder / "cycle.jsonl").write_text((ROOT / "examples/cycle.jsonl").read_text())
    assert "integer program: no realizable" in run(python, folder, "repair", "cycle.jsonl")
    assert "next" in run(python, folder, "predict", "text.npz", "--sentence", "O S P")


def test_a_claim_is_verified_with_the_extra_checks(
    built: dict[str, Path], folder: Path, tmp_path: Path
) -> None:
    python = environment(tmp_path / "env", built["wheel"], "checks")
    assert "proved" in run(python, folder, "verify", "huang2024-eq-1")
    assert len(run(python, folder, "verify", "--list").splitlines()) > 200


def test_a_package_without_a_requirement_is_noticed(bare: Path, tmp_path: Path) -> None:
    (rich,) = (bare.parents[1] / "lib").glob("python*/site-packages/rich")
    package = rich.readlink()
    rich.unlink()
    try:
        with pytest.raises(AssertionError):
            run(bare, tmp_path, "check", "none.txt")
    finally:
        rich.symlink_to(package)
