"""Folders of data that a reader names: notebooks get a link named by the hash of what is in them.

So a page runs again when a file there changes and only then, and what is built is the same wherever
the folder lies: its path is nowhere in the book.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tools.pipeline.parameters import Parameters, UsageError

WIKITEXT = "WIKITEXT_DIR"


def link_folders(
    variables: Mapping[str, str],
    environment: Mapping[str, str],
    defaults: Mapping[str, Parameters],
    build: Path,
) -> dict[str, str]:
    """The variables with the folder of WikiText, from make's command line or the environment.

    Args:
        variables: parameters on make's command line.
        environment: of this process; a folder named there counts if some page asks for it.
        defaults: for every page the names and defaults of its parameters.
        build: where the link is made.

    Raises:
        UsageError: the folder is not as it must be.
    """
    others = {name: text for name, text in variables.items() if name.upper() != WIKITEXT}
    asked = any(WIKITEXT.lower() in page for page in defaults.values())
    text = variables.get(WIKITEXT, "") or environment.get(WIKITEXT, "")
    if not asked:
        return dict(variables)
    if not text:
        return others
    from ntpbook.tian2023.s8_wikitext.wikitext import find_folder
    from ntpcore.data.dataset import (
        InputError,  # here: it loads numpy, and often there is no folder
    )

    try:
        digest = find_folder(text).digest
    except InputError as error:
        raise UsageError(str(error)) from None
    link = build / f"wikitext-{digest[:16]}"
    if not link.is_symlink() or link.readlink() != Path(text).resolve():
        unfinished = link.with_name(f"{link.name}.{os.getpid()}")
        unfinished.symlink_to(Path(text).resolve())
        unfinished.replace(link)
    return others | {WIKITEXT: str(link)}
