"""Errors planted in a copy of the library, one at a time: each turns a verdict or fails a test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from planted import CHECKS
from tiny_book import ROOT
from warm import Warm

from ntpverdicts.claims import Verdict
from tools.pipeline.pin import PINS, from_text
from tools.pipeline.source import OURS


@dataclass(frozen=True)
class Planted:
    """An error, and what must notice it.

    Attributes:
        name: what is wrong.
        changes: (old text, new text), the old text standing once in the whole package, wherever a
            function was moved to.
        labels: checks that must give another verdict than the published one, or stop with `says`.
        test: a test of the project that must fail, with `says`.
        says: what is said where the error makes something fail that is no verdict; no other
            failure counts, for a planted text that does not even run shows nothing.
    """

    name: str
    changes: tuple[tuple[str, str], ...]
    labels: tuple[str, ...] = ()
    test: str = ""
    says: str = ""


SWAPPED_M_AND_K = (
    Planted(
        "m and k swapped in the closed form",
        (
            (
                "closed_form(len(order.optimal), len(order.nonoptimal))",
                "closed_form(len(order.nonoptimal), len(order.optimal))",
            ),
        ),
        ("huang2024-prop-2-corrected",),
    ),
    Planted(
        "m and k swapped in the exact solver",
        (("closed_form(k, m)\n        scores.update", "closed_form(m, k)\n        scores.update"),),
        ("ours-block-form", "huang2024-eq-3"),
        says="no certificate; token a: score 1/3, but multipliers sum to 2/3",
    ),
)
NO_SHIFT = (
    Planted(
        "no shift in the log-sum-exp of the loss",
        (("    top = v.max()\n", "    top = np.float64(0.0)\n"),),
        test="tests/ntpcore/huang2024/test_transformer.py::test_scores_of_any_size_have_a_softmax_and_a_logarithm_of"
        "_their_sum",
        says="RuntimeWarning: overflow encountered in exp",
    ),
    Planted(
        "no shift in the softmax",
        (("np.exp(v - v.max())", "np.exp(v)"),),
        test="tests/ntpcore/huang2024/test_transformer.py::test_scores_of_any_size_have_a_softmax_and_a_logarithm_of"
        "_their_sum",
        says="RuntimeWarning: overflow encountered in exp",
    ),
    Planted(
        "no shift in sums of logarithms",
        (("top + math.log(math.fsum(math.exp(value - top)", "math.log(math.fsum(math.exp(value)"),),
        ("huang2024-lem-7-corrected",),
        says="ValueError: math domain error",  # the logarithm of a sum that is 0
    ),
    Planted(
        "no shift in the attention of the inner loop",
        (
            (
                "            largest = max(largest, out.share[e])\n",
                "            largest = 0.0\n",
            ),
        ),
        ("huang2024-lem-7-corrected",),
        says="NotANumberError: α_t, step",
    ),
    Planted(
        "no common scale of the forces in the inner loop",
        (
            (
                "        top = max(top, out.level[i])\n",
                "        top = 0.0\n",
            ),
        ),
        ("huang2024-lem-7-corrected",),
        says="InputError: the gradient vanishes at step",
    ),
)
WRONG_RARITY = (
    Planted(
        "N for 1/pi_min in the corrected statements",
        (
            (
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
                "said.slack < (0 if said.exact else -self.tolerance)",
                "said.slack > (0 if said.exact else -self.tolerance)",
            ),
        ),
        ("huang2024-eq-1", "huang2024-prop-2-corrected"),
        says="the negative control was not noticed",
    ),
    Planted(
        "the margins of the certificate flipped",
        (("if slack < 0:", "if slack > 0:"),),
        ("ours-block-form", "huang2024-prop-2-corrected"),
        says="no certificate; pair a > q: the margin is 7/6, below 1",
    ),
    Planted(
        "Assumption 3 flipped",
        (("if counts[query] > counts[most]:", "if counts[query] < counts[most]:"),),
        ("huang2024-asm-3",),
    ),
    Planted(
        "the bounds on the norm of Lemma 6 exchanged",
        (
            (
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
                "    gradient = np.zeros_like(W_kq)\n",
                "    pi[-1] = 1.0\n    gradient = np.zeros_like(W_kq)\n",
            ),
        ),
        ("huang2024-eq-6", "huang2024-eq-10"),
    ),
    Planted(
        "the frequency of one sample left out of training",
        (("append(log_share)", "append(log_share if len(merged) > 1 else 0.0)"),),
        ("huang2024-alg-1", "huang2024-eq-10"),
    ),
)
OTHER_ORDER = (
    Planted(
        "tokens sorted after they were numbered",
        (
            (
                "return Dataset(tuple(self.numbers), lines",
                "return Dataset(tuple(sorted(self.numbers)), lines",
            ),
        ),
        ("huang2024-ex-1",),
    ),
    Planted(
        "tokens numbered in another order for training",
        (
            (
                "    following = [numbers[str(structure.collocation[",
                "    numbers = {token: number for number, token in enumerate(sorted(numbers))}\n"
                "    following = [numbers[str(structure.collocation[",
            ),
        ),
        ("huang2024-alg-1", "huang2024-eq-10"),
        says="KeyError: (0, 2)",  # the equations have an entry that the run has not
    ),
    Planted(
        "entries sorted backwards",
        (
            (
                "for query, _, tokens in shapes for token, _ in tokens})",
                "for query, _, tokens in shapes for token, _ in tokens}, reverse=True)",
            ),
        ),
        test="tests/ntpcore/huang2024/test_problem.py::test_entries_are_sorted_by_query_and_then_by_token",
        says="At index 0 diff: (3, 3) != (0, 0)",
    ),
)
ALL = (*SWAPPED_M_AND_K, *NO_SHIFT, *WRONG_RARITY, *FLIPPED, *NO_FREQUENCY, *OTHER_ORDER)


def copy_with(folder: Path, changes: tuple[tuple[str, str], ...]) -> Path:
    """A copy of the library and its tests with some changes."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in (*OURS, "tests", "tools", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for file in ("pyproject.toml", "_toc.yml"):
        shutil.copy(ROOT / file, folder / file)
    modules = [path for name in OURS for path in (folder / name).rglob("*.py")]
    for old, new in changes:
        texts = {path: path.read_text(encoding="utf-8") for path in modules}
        holders = [path for path, text in texts.items() for _ in range(text.count(old))]
        assert len(holders) == 1, f"{old!r} stands {len(holders)} times in the package"
        holders[0].write_text(texts[holders[0]].replace(old, new), encoding="utf-8")
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


# What a check says that refutes although its author names no hypothesis in force.
REFUTATION = "a refutation names the hypotheses in force"


def notices(found: str, published: str, says: str) -> bool:
    """Whether what a check says in a copy with an error notices it."""
    if found in {verdict.value for verdict in Verdict}:
        return found != published
    if REFUTATION in found:
        return published != Verdict.REFUTED.value  # it came to that, where nothing is refuted
    return bool(says) and says in found


def test_an_error_that_merely_breaks_the_code_is_not_noticed(warm: Warm, tmp_path: Path) -> None:
    broken = (
        ("return Fraction(m, k + m), Fraction(-k,", "return Fraktion(m, k + m), Fraction(-k,"),
    )
    folder = copy_with(tmp_path / "copy", broken)
    [found] = verdicts_in(warm, folder, ["huang2024-prop-2-corrected"]).values()
    assert "NameError" in found
    assert not notices(found, "proved", "no certificate")
    assert not notices(found, "proved", "")
    assert not notices("proved", "proved", "proved")
    assert notices("refuted", "proved", "")


def test_without_an_error_every_verdict_is_the_published_one(warm: Warm, sound: Path) -> None:
    pins = from_text((ROOT / PINS).read_text(encoding="utf-8"))
    assert verdicts_in(warm, sound, list(CHECKS)) == {label: pins[label][-1] for label in CHECKS}


@pytest.mark.parametrize("planted", ALL, ids=lambda planted: planted.name)
def test_a_planted_error_turns_a_verdict_or_fails_a_test(
    warm: Warm, tmp_path: Path, planted: Planted
) -> None:
    folder = copy_with(tmp_path / "copy", planted.changes)
    assert planted.labels or planted.test
    published = from_text((ROOT / PINS).read_text(encoding="utf-8"))
    if planted.labels:
        for label, found in verdicts_in(warm, folder, list(planted.labels)).items():
            assert notices(found, published[label][-1], planted.says), (label, found)
    if planted.test:
        done = run(warm, folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", planted.test)
        assert done.returncode == 1, done.stdout
        assert planted.says, "a test may fail for any reason"
        assert planted.says in done.stdout, done.stdout


@pytest.mark.parametrize("test", sorted({one.test for one in ALL if one.test}))
def test_without_an_error_those_tests_pass(warm: Warm, sound: Path, test: str) -> None:
    done = run(warm, sound, "-m", "pytest", "-q", "-p", "no:cacheprovider", test)
    assert done.returncode == 0, done.stdout
