"""The catalogue: every numbered item of both papers, and the statements that are ours."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from ntpcore.verdicts import catalogue
from ntpcore.verdicts.claims import Claim

FOLDER = Path(__file__).resolve().parent
# For every paper its name in tables, and the words that people use for it when they search.
PAPERS = {
    "huang2024": "Huang, Liang, Yang (2024)",
    "tian2023": "Tian et al. (2023)",
    "ours": "This book",
}
SEARCHED = {
    "huang2024": "huang liang yang 2024 huang2024",
    "tian2023": "tian wang chen du 2023 tian2023 scan snap",
    "ours": "ours this book",
}
# The edition of each paper that the book judges, as rows and errata name it.
EDITIONS = {
    "huang2024": "preprint of September 2024 (arXiv 2409.17335; our copy names no version)",
    "tian2023": "arXiv 2305.16380 v4 of 30 October 2023",
}
# Chapters that hold claims, in the order of the book; a test compares it with `_toc.yml`.
CHAPTERS = (
    "whole_model",
    "huang2024/s3_setup",
    "huang2024/s4_realizable",
    "huang2024/s4_prefix_closure",
    "huang2024/s4_algorithm",
    "huang2024/s6_max_margin",
    "huang2024/s5_stage1",
    "huang2024/s5_stage2_lemmas",
    "huang2024/s5_lemma_7",
    "huang2024/s5_stage2",
    "huang2024/s5_convergence",
    "huang2024/s5_late_phase",
    "huang2024/s5_loss",
    "huang2024/s6_generalization",
    "huang2024/s7_experiment",
    "huang2024/s7_reach",
    "huang2024/beyond",
    "huang2024/a_gradients",
    "tian2023/s3_setting",
    "tian2023/s4_decoder",
    "tian2023/s4_sampling",
    "tian2023/s4_gradient",
    "tian2023/s5_fates",
    "tian2023/s6_snapping",
    "tian2023/long_times",
    "tian2023/s7_discussion",
    "tian2023/s8_synthetic",
    "tian2023/reversal",
    "tian2023/s8_wikitext",
    "readers/realizable",
    "two_papers",
)


def page_of(chapter: str) -> str:
    """The notebook of a chapter."""
    return chapter.replace("/", "_")


CATALOGUE: tuple[Claim, ...] = catalogue.gather(
    (FOLDER / chapter, page_of(chapter)) for chapter in CHAPTERS
)


def find_claim(label: str) -> Claim:
    """The claim with this label.

    Raises:
        ValueError: the catalogue has no such label.
    """
    for claim in CATALOGUE:
        if claim.label == label:
            return claim
    raise ValueError(f"the catalogue holds no claim {label!r}; labels look like huang2024-prop-2")


def find_check(label: str) -> Any:
    """The check of a claim, out of the module of its chapter that defines or imports it.

    Raises:
        ValueError: the catalogue has no such label, or its chapter no such check.
    """
    claim = find_claim(label)
    chapter = next(one for one in CHAPTERS if page_of(one) == claim.page)
    for file in sorted((FOLDER / chapter).glob("*.py")):
        if f"def {claim.function}(" in file.read_text(encoding="utf-8"):
            module = import_module(f"ntpbook.{chapter.replace('/', '.')}.{file.stem}")
            return getattr(module, claim.function)
    if (FOLDER / chapter / "checks.py").is_file():  # one that also judges a reader's data
        module = import_module(f"ntpbook.{chapter.replace('/', '.')}.checks")
        if hasattr(module, claim.function):
            return getattr(module, claim.function)
    raise ValueError(f"the chapter {chapter} defines no {claim.function}")
