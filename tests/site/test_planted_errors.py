"""Errors planted in a copy of the library, one at a time: each turns a verdict or fails a test."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from planted import CHECKS
from tiny_book import ROOT
from warm import Warm

from tools.pipeline.pin import PINS, from_text

MARGIN, ORDER = "ntpcore/exact/margin.py", "ntpcore/data/order.py"
TRANSFORMER, PROBLEM = "ntpcore/huang2024/transformer.py", "ntpcore/huang2024/problem.py"


@dataclass(frozen=True)
class Planted:
    """An error, and what must notice it.

    Attributes:
        name: what is wrong.
        changes: (file, old text, new text), the old text standing there once.
        labels: checks that must not give their published verdict, or not run through.
        test: a test of the project that must fail.
        error: how the error shows where it is by another error than those of `REFUSALS`.
    """

    name: str
    changes: tuple[tuple[str, str, str], ...]
    labels: tuple[str, ...] = ()
    test: str = ""
    error: str = ""


SWAPPED_M_AND_K = (
    Planted(
        "m and k swapped in the closed form",
        (
            (MARGIN, "(order.optimal, Fraction(m, k + m))", "(order.optimal, Fraction(k, k + m))"),
            (MARGIN, "order.nonoptimal, Fraction(-k,", "order.nonoptimal, Fraction(-m,"),
        ),
        ("huang2024-prop-2-corrected",),
    ),
    Planted(
        "m and k swapped in the exact solver",
        (
            (MARGIN, "(uppers, Fraction(m, k + m))", "(uppers, Fraction(k, k + m))"),
            (MARGIN, "(lowers, Fraction(-k, k + m))", "(lowers, Fraction(-m, k + m))"),
        ),
        ("ours-block-form", "huang2024-eq-3"),
    ),
)
NO_SHIFT = (
    Planted(
        "no shift in the log-sum-exp of the loss",
        ((TRANSFORMER, "    top = v.max()\n", "    top = np.float64(0.0)\n"),),
        test="tests/ntpcore/huang2024/test_transformer.py::test_scores_of_any_size_have_a_softmax_and_a_logarithm_of"
        "_their_sum",
        error="RuntimeWarning",  # an overflow
    ),
    Planted(
        "no shift in the softmax",
        ((TRANSFORMER, "np.exp(v - v.max())", "np.exp(v)"),),
        test="tests/ntpcore/huang2024/test_transformer.py::test_scores_of_any_size_have_a_softmax_and_a_logarithm_of"
        "_their_sum",
        error="RuntimeWarning",  # an overflow
    ),
    Planted(
        "no shift in sums of logarithms",
        (("ntpcore/huang2024/logs.py", "    top = max(logs)\n", "    top = 0.0\n"),),
        ("huang2024-lem-7-corrected",),
    ),
    Planted(
        "no shift in the attention of the inner loop",
        (
            (
                "ntpcore/huang2024/fast/kernel.py",
                "            largest = max(largest, out.share[e])\n",
                "            largest = 0.0\n",
            ),
        ),
        ("huang2024-lem-7-corrected",),
    ),
    Planted(
        "no common scale of the forces in the inner loop",
        (
            (
                "ntpcore/huang2024/fast/kernel.py",
                "        top = max(top, out.level[i])\n",
                "        top = 0.0\n",
            ),
        ),
        ("huang2024-lem-7-corrected",),
    ),
)
WRONG_RARITY = (
    Planted(
        "N for 1/pi_min in the corrected statements",
        (
            (
                "ntpcore/huang2024/bounds.py",
                "return -self.log_pi_min",
                "return math.log(self.sample_count)",
            ),
        ),
        ("huang2024-lem-7-corrected",),
    ),
)
FLIPPED = (
    Planted(
        "the test of inequalities flipped",
        (
            (
                "ntpcore/verdicts/vocabulary.py",
                "said.slack < (0 if said.exact else -self.tolerance)",
                "said.slack > (0 if said.exact else -self.tolerance)",
            ),
        ),
        ("huang2024-eq-1", "huang2024-prop-2-corrected"),
    ),
    Planted(
        "the margins of the certificate flipped",
        ((MARGIN, "if slack < 0:", "if slack > 0:"),),
        ("ours-block-form", "huang2024-prop-2-corrected"),
    ),
    Planted(
        "Assumption 3 flipped",
        ((ORDER, "if counts[query] > counts[most]:", "if counts[query] < counts[most]:"),),
        ("huang2024-asm-3",),
    ),
    Planted(
        "the bounds on the norm of Lemma 6 exchanged",
        (
            (
                "ntpcore/huang2024/bounds.py",
                "    return t * c.eta / (2 * c.max_length * c.norm_kq) - start, t * c.eta + start",
                "    return t * c.eta + start, t * c.eta / (2 * c.max_length * c.norm_kq) - start",
            ),
        ),
        ("huang2024-lem-6",),
    ),
)
NO_FREQUENCY = (
    Planted(
        "the frequency of one sample left out of the loss",
        (
            (
                TRANSFORMER,
                "pi = sample.count / total if weighted else",
                "pi = sample.count / total if weighted and sample is not samples[0] else",
            ),
        ),
        ("huang2024-eq-1",),
    ),
    Planted(
        "the frequency of one sample left out of the gradient",
        (
            (
                TRANSFORMER,
                "    gradient = np.zeros_like(W_kq)\n",
                "    pi[-1] = 1.0\n    gradient = np.zeros_like(W_kq)\n",
            ),
        ),
        ("huang2024-eq-6", "huang2024-eq-10"),
    ),
    Planted(
        "the frequency of one sample left out of training",
        ((PROBLEM, "append(log_share)", "append(log_share if len(merged) > 1 else 0.0)"),),
        ("huang2024-alg-1", "huang2024-eq-10"),
    ),
)
OTHER_ORDER = (
    Planted(
        "tokens sorted after they were numbered",
        (
            (
                "ntpcore/data/dataset.py",
                "return Dataset(tuple(self.numbers), lines",
                "return Dataset(tuple(sorted(self.numbers)), lines",
            ),
        ),
        ("huang2024-ex-1",),
    ),
    Planted(
        "tokens numbered in another order for training",
        ((PROBLEM, "in enumerate(data.vocabulary)}", "in enumerate(sorted(data.vocabulary))}"),),
        ("huang2024-alg-1", "huang2024-eq-10"),
        error="KeyError",  # a sample asks for an entry of W_kq that the numbering does not have
    ),
    Planted(
        "entries sorted backwards",
        (
            (
                PROBLEM,
                "for query, _, tokens in shapes for token, _ in tokens})",
                "for query, _, tokens in shapes for token, _ in tokens}, reverse=True)",
            ),
        ),
        test="tests/ntpcore/huang2024/test_problem.py::test_entries_are_sorted_by_query_and_then_by_token",
    ),
)
ALL = (*SWAPPED_M_AND_K, *NO_SHIFT, *WRONG_RARITY, *FLIPPED, *NO_FREQUENCY, *OTHER_ORDER)


def copy_with(folder: Path, changes: tuple[tuple[str, str, str], ...]) -> Path:
    """A copy of the library and its tests with some changes."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("ntpcore", "ntpbook", "tests", "tools", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for file in ("pyproject.toml", "_toc.yml"):
        shutil.copy(ROOT / file, folder / file)
    for file, old, new in changes:
        text = (folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{file} has changed: {old!r} stands there no more"
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    return folder


# Loops are interpreted: on data as small as these, compiling them would take longest.
ENVIRONMENT = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "NUMBA_DISABLE_JIT": "1"}
SLOW = ("flint", "networkx", "numba", "pytest", "scipy.optimize", "sympy")


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    """A Python that has loaded what checks need of others, and nothing of any copy."""
    running = Warm(SLOW, ENVIRONMENT)
    yield running
    running.close()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy without an error."""
    return copy_with(tmp_path_factory.mktemp("sound") / "copy", ())


def run(warm: Warm, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy, which it imports."""
    return warm.run(folder, list(words), ENVIRONMENT | {"PYTHONPATH": str(folder)})


def verdicts_in(warm: Warm, folder: Path, labels: list[str]) -> dict[str, str]:
    """What some checks say in a copy."""
    done = run(warm, folder, "tests/helpers/planted.py", *labels)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_without_an_error_every_verdict_is_the_published_one(warm: Warm, sound: Path) -> None:
    pins = from_text((ROOT / PINS).read_text(encoding="utf-8"))
    assert verdicts_in(warm, sound, list(CHECKS)) == {label: pins[label][-1] for label in CHECKS}


# How the library refuses a result: a value, a planted error of a check that the check does not
# notice, a certificate that fails, an invariant. Any other error is a crash, which says nothing.
REFUSALS = {"ValueError", "InputError", "NotANumberError", "ArithmeticError", "AssertionError"}


def is_noticed(found: str, published: str, error: str = "") -> bool:
    """Whether a check says anything but its published verdict, and has not merely crashed."""
    kind = found.removeprefix("error ")
    return found != published and (kind == found or kind in REFUSALS | {error})


def fails_as_meant(said: str, error: str = "") -> bool:
    """Whether one test failed, by an assertion or the error that is meant, not by a crash."""
    meant = "assert |AssertionError" + (f"|{error}:" if error else "")
    return "1 failed" in said and re.search(rf"^E +({meant})", said, re.MULTILINE) is not None


@pytest.mark.parametrize("planted", ALL, ids=lambda planted: planted.name)
def test_a_planted_error_turns_a_verdict_or_fails_a_test(
    warm: Warm, tmp_path: Path, planted: Planted
) -> None:
    folder = copy_with(tmp_path / "copy", planted.changes)
    assert planted.labels or planted.test
    published = from_text((ROOT / PINS).read_text(encoding="utf-8"))
    if planted.labels:
        for label, found in verdicts_in(warm, folder, list(planted.labels)).items():
            assert is_noticed(found, published[label][-1], planted.error), (label, found)
    if planted.test:
        done = run(warm, folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", planted.test)
        assert done.returncode == 1, done.stdout
        assert fails_as_meant(done.stdout, planted.error), done.stdout


@pytest.mark.parametrize("wrong", ["    nobody\n", "    )\n"])
def test_a_planted_crash_counts_for_nothing(warm: Warm, tmp_path: Path, wrong: str) -> None:
    (one,) = (planted for planted in NO_SHIFT if planted.name == "no shift in sums of logarithms")
    ((file, old, _),) = one.changes
    folder = copy_with(tmp_path / "copy", ((file, old, wrong),))
    done = run(warm, folder, "tests/helpers/planted.py", *one.labels)
    published = from_text((ROOT / PINS).read_text(encoding="utf-8"))
    # a text that is no Python may stop the program before it says anything
    for label, found in json.loads(done.stdout or "{}").items():
        assert found.startswith("error ")
        assert not is_noticed(found, published[label][-1])
    assert done.stdout or "SyntaxError" in done.stderr


def test_a_test_that_crashes_is_told_from_one_that_fails() -> None:
    assert fails_as_meant("E   assert 1 == 2\n1 failed in 0.1s")
    assert not fails_as_meant("E   NameError: name 'x' is not defined\n1 failed in 0.1s")


@pytest.mark.parametrize("test", sorted({one.test for one in ALL if one.test}))
def test_without_an_error_those_tests_pass(warm: Warm, sound: Path, test: str) -> None:
    done = run(warm, sound, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    assert done.returncode == 0, done.stdout
