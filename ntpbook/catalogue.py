"""The catalogue: every numbered item of both papers, and the statements that are ours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ntpverdicts import catalogue
from ntpverdicts.claims import Claim
from ntpverdicts.vocabulary import registered

FOLDER = Path(__file__).resolve().parent
# For every paper, by its key in references.bib: its name in tables, its name where there is little
# room, and the words that people use for it when they search. This is all that names the papers.
PAPERS = {
    "huang2024": "Huang, Liang, Yang (2024)",
    "tian2023": "Tian et al. (2023)",
    "ours": "This book",
}
SHORT = {"huang2024": "Huang et al.", "tian2023": "Tian et al.", "ours": "this book"}
SEARCHED = {
    "huang2024": "huang liang yang 2024 huang2024",
    "tian2023": "tian wang chen du 2023 tian2023 scan snap",
    "ours": "ours this book",
}
# The edition of each paper that the book judges, as rows and errata name it.
EDITIONS = {
    "huang2024": "arXiv 2409.17335, preprint of September 2024",
    "tian2023": "arXiv 2305.16380 v4 of 30 October 2023",
}


@dataclass(frozen=True)
class Chapter:
    """A chapter that holds claims.

    Attributes:
        folder: its code, below this one.
        page: its notebook; pages keep the addresses under which they were first published.
        modules: those of its modules that define checks.
    """

    folder: str
    page: str
    modules: tuple[str, ...] = ("checks",)


# About in the order of the papers. `_toc.yml` has the order of the pages.
CHAPTERS = (
    Chapter("ours/whole_model", "whole_model"),
    Chapter("huang2024/s3_setup", "huang2024_s3_setup"),
    Chapter("huang2024/s4_realizable", "huang2024_s4_realizable"),
    Chapter("huang2024/s4_prefix_closure", "huang2024_s4_prefix_closure"),
    Chapter("huang2024/s4_algorithm", "huang2024_s4_algorithm"),
    Chapter("huang2024/s6_max_margin", "huang2024_s6_max_margin", ("checks", "orders")),
    Chapter("huang2024/s5_stage1", "huang2024_s5_stage1"),
    Chapter("huang2024/s5_stage2_lemmas", "huang2024_s5_stage2_lemmas"),
    Chapter("huang2024/s5_lemma_7", "huang2024_s5_lemma_7", ("checks", "inside_proof")),
    Chapter("huang2024/s5_stage2", "huang2024_s5_stage2", ("checks", "sums")),
    Chapter("huang2024/s5_loss", "huang2024_s5_loss", ("checks", "chain")),
    Chapter(
        "huang2024/s6_generalization",
        "huang2024_s6_generalization",
        ("checks", "two_displays", "separation"),
    ),
    Chapter("huang2024/s7_experiment", "huang2024_s7_experiment"),
    Chapter("huang2024/a_gradients", "huang2024_a_gradients"),
    Chapter("tian2023/s3_setting", "tian2023_s3_setting"),
    Chapter("tian2023/s4_decoder", "tian2023_s4_decoder"),
    Chapter("tian2023/s4_sampling", "tian2023_s4_sampling"),
    Chapter("tian2023/s4_gradient", "tian2023_s4_gradient"),
    Chapter("tian2023/s5_fates", "tian2023_s5_fates"),
    Chapter("tian2023/s6_snapping", "tian2023_s6_snapping"),
    Chapter("tian2023/s7_discussion", "tian2023_s7_discussion"),
    Chapter("tian2023/s8_synthetic", "tian2023_s8_synthetic"),
    Chapter("tian2023/s8_wikitext", "tian2023_s8_wikitext"),
    Chapter("ours/convergence", "huang2024_s5_convergence", ("checks", "optimum")),
    Chapter(
        "ours/late_phase", "huang2024_s5_late_phase", ("checks", "float_error", "measured_laws")
    ),
    Chapter("ours/reach", "huang2024_s7_reach"),
    Chapter("ours/beyond", "huang2024_beyond"),
    Chapter("ours/long_times", "tian2023_long_times"),
    Chapter("ours/reversal", "tian2023_reversal"),
    Chapter("ours/two_papers", "two_papers"),
    Chapter("ours/any_data", "any_data_evidence"),
    Chapter("readers/realizable", "readers_realizable"),
)


CATALOGUE: tuple[Claim, ...] = catalogue.gather((FOLDER / one.folder, one.page) for one in CHAPTERS)


def chapter_of(claim: Claim) -> Chapter | None:
    """The chapter of a claim; None for one that has no page yet."""
    return next((one for one in CHAPTERS if one.page == claim.page), None)


def find_claim(label: str) -> Claim:
    """The claim with this label.

    Raises:
        ValueError: the catalogue has no such label.
    """
    for claim in CATALOGUE:
        if claim.label == label:
            return claim
    raise ValueError(f"the catalogue holds no claim {label!r}; labels look like huang2024-prop-2")


def modules_of(label: str) -> tuple[str, ...]:
    """The modules that may define the check of a claim, by their dotted names.

    Raises:
        ValueError: the catalogue has no such label.
    """
    chapter = chapter_of(find_claim(label))
    if chapter is None:
        return ()
    return tuple(f"ntpbook.{chapter.folder.replace('/', '.')}.{one}" for one in chapter.modules)


def find_check(label: str) -> Any:
    """The check of a claim: what a module of its chapter registers under its label.

    Raises:
        ValueError: the catalogue has no such label, or its chapter no such check.
    """
    for module in modules_of(label):
        if label not in registered:
            import_module(module)
    if label not in registered:
        raise ValueError(f"no chapter has a check of {label}")
    return registered[label]
