"""The cost in steps: what it accepts, what it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import gossamer
from gossamer.errors import ModelError


@pytest.mark.parametrize("time", [1, 0, "1/3", 0.25, Fraction(2, 7), np.int64(1)])
def test_control_time_is_kept_exactly(time):
    kept = gossamer.StepCost(time).control_time
    assert kept == Fraction(time if isinstance(time, str) else str(time))
    assert type(kept) is Fraction


@pytest.mark.parametrize("time", [-1, "3/2", "soon", "1/0", None, float("inf"), float("nan")])
def test_illegal_times_are_named(time):
    with pytest.raises(ModelError, match=r"control_time must be a fraction of a step in \[0, 1\], got"):
        gossamer.StepCost(time)
