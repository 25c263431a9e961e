"""The catalogue: every numbered item of both papers, and the statements that are ours.

A row without a page is planned: it stands in the table of claims, counted as open, and nowhere
else. Labels, pages, checks and tests match one to one; tests and the build insist on it.
"""

from __future__ import annotations

from ntpcore import catalogue_huang2024, catalogue_tian2023
from ntpcore.claims import Claim

CATALOGUE: tuple[Claim, ...] = catalogue_huang2024.ROWS + catalogue_tian2023.ROWS
