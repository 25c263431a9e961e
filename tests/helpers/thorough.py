"""Tests that ask of all what another test asks of a part: `.ci/run all` alone runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

ASKED_FOR = "NTPCORE_ANEW"  # the environment variable that `.ci/run all` sets


def left_out(items: Sequence[pytest.Item], environment: Mapping[str, str]) -> list[pytest.Item]:
    """The tests marked `thorough`, unless the environment asks for them."""
    if environment.get(ASKED_FOR):
        return []
    return [item for item in items if item.get_closest_marker("thorough")]
