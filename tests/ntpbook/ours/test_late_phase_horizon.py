"""The late flow grows as the chapter on the late phase predicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from late import EPS, HAND_OVER, INTEGRATED, a_million_steps, late_state, left_out, setting_of

from ntpbook.ours.late_phase.measured_laws import predicted_growth
from ntpcore.huang2024 import horizon


@pytest.mark.parametrize("name", ["path", "0", "1"])
def test_the_offset_grows_by_the_predicted_amount_for_each_decade(name):
    one, eta, gap = setting_of(name)
    far = np.array([1e14, 1e15])
    flow = horizon.extend(one, late_state(one, eta, gap), HAND_OVER, eta, gap, far)
    growth = np.linalg.norm(flow.offset[1] - flow.offset[0]) / math.log(10)
    # the next term, log s / s, is far below what the integrator may lose
    lost = INTEGRATED * np.linalg.norm(flow.offset[1])
    assert growth == pytest.approx(predicted_growth(one), abs=lost)


def test_components_joined_by_all_tight_pairs_are_noticed(monkeypatch):
    """On the path one tight pair carries no force; taking it for a bond lets it pull at once."""
    one, eta, gap = setting_of("path")
    run, exact, (right, later) = a_million_steps(one, eta, gap)
    within = left_out(right.offset, later.offset, 1e6 * EPS / 2 * run.rows.norm[-1])
    assert np.linalg.norm(right.offset[0] - exact) < within
    query = one.entry_query - one.entry_query.min()
    number = np.unique(query, return_inverse=True)[1]
    monkeypatch.setattr(horizon, "_components", lambda _: number)
    start, far = late_state(one, eta, gap), np.array([1e6])
    wrong = horizon.extend(one, start, HAND_OVER, eta, gap, far).offset[0]
    # farther than all decades from the hand-over on carry it
    assert np.linalg.norm(wrong - exact) > predicted_growth(one) * math.log(1e6 / HAND_OVER)
