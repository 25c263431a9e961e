"""Executable companion to Huang et al. (2024) and Tian et al. (2023) on next-token prediction.

    import ntpcore as ntp

    data = ntp.from_sentences(["S V O P", "V O P", "O P P", "P S V"])
    ntp.analyse(data).realizable.holds
    ntp.max_margin(data).norm_squared
    ntp.fit(data, steps=900).predict("S P").likeliest

Importing the package loads none of this; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ntpcore.front import (
        Fit,
        InputError,
        MaxMargin,
        analyse,
        closed_form,
        fit,
        from_samples,
        from_sentences,
        max_margin,
        next_tokens,
        read,
    )

    __version__: str

__all__ = [
    "Fit",
    "InputError",
    "MaxMargin",
    "__version__",
    "analyse",
    "closed_form",
    "fit",
    "from_samples",
    "from_sentences",
    "max_margin",
    "next_tokens",
    "read",
]


def __getattr__(name: str) -> Any:
    """A name of the front door, loaded when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ntpcore")
    if name in __all__:
        return getattr(import_module("ntpcore.front"), name)
    raise AttributeError(f"module 'ntpcore' has no attribute {name!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    """What a reader may use."""
    return sorted(__all__)
