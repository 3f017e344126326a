from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals.theory import (
    head_of_line_waits,
    many_server_wait,
    one_queue_wait,
    printed_waits,
)


@pytest.mark.parametrize(
    ("side", "nodes", "printed_high", "hol_high", "printed_low", "hol_low"),
    [
        (2, 16, 0.36, 0.78, 9, 7.76),
        (2, 256, 0.41, 0.82, 9, 8.15),
        (5, 25, 0.09, 0.53, 5.63, 5.29),
        (8, 64, 0.06, 0.50, 5.14, 5.00),
    ],
)
def test_reference_waits_at_load_0_9(side, nodes, printed_high, hol_high, printed_low, hol_low):
    high = 0.9 * (nodes / side - 1) / (nodes - 1)
    assert printed_waits(0.9, side, nodes) == pytest.approx((printed_high, printed_low), abs=0.006)
    assert head_of_line_waits([high, 0.9 - high]) == pytest.approx((hol_high, hol_low), abs=0.006)


@given(st.lists(st.floats(0, 0.3), min_size=1, max_size=3))
def test_priorities_keep_the_mean_wait(loads):
    total = sum(loads)
    waits = head_of_line_waits(loads)
    assert sum(load * w for load, w in zip(loads, waits, strict=True)) == pytest.approx(total * one_queue_wait(total))
    assert waits == sorted(waits)


def test_errata_x3_high_copies_wait_for_about_half_the_load_and_not_for_nothing():
    for side in (8, 64, 512):
        high = 0.9 * (side - 1) / (side**2 - 1)
        assert head_of_line_waits([high, 0.9 - high])[0] == pytest.approx(0.45, abs=0.06)
        assert printed_waits(0.9, side, side**2)[0] < 0.6 / side


@pytest.mark.parametrize("servers", [1, 2, 4])
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_many_servers_agree_with_a_simulated_queue(servers, load):
    rng = np.random.default_rng(1)
    arrive = np.cumsum(rng.exponential(1 / (load * servers), 200_000))
    # constant service: customer i takes the server that customer i - k leaves
    begin = arrive.copy()
    for shift in range(servers):
        own = arrive[shift::servers] - np.arange(arrive[shift::servers].size)
        begin[shift::servers] = np.maximum.accumulate(own) + np.arange(own.size)
    assert many_server_wait(load, servers) == pytest.approx((begin - arrive).mean(), rel=0.05, abs=0.002)


def test_one_server_is_the_single_queue():
    for load in (0.0, 0.1, 0.5, 0.9, 0.95):
        assert many_server_wait(load, 1) == pytest.approx(one_queue_wait(load), rel=1e-4)


@pytest.mark.parametrize("load", [-0.1, 1.0, float("nan")])
def test_loads_outside_the_range_are_refused(load):
    with pytest.raises(ModelError, match="at least 0 and below 1"):
        one_queue_wait(load)
    with pytest.raises(ModelError, match="at least 1 server"):
        many_server_wait(0.5, 0)
    with pytest.raises(ModelError, match="of a class"):
        head_of_line_waits([0.1, -0.1])
    with pytest.raises(ModelError, match="sides of at least 2"):
        printed_waits(0.5, 1, 4)
