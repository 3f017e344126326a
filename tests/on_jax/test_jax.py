"""Collectives of JAX on virtual devices, in a process of its own, since the number of devices is set once."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.errors import NotApplicableError, ScheduleError
from gossamer.execution.jax import prepare


@pytest.mark.jax
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="the extra 'jax' is not installed")
def test_sixteen_devices_get_what_jaxs_own_collectives_give():
    paths = [str(Path(gossamer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("devices.py"))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert " checks passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("network", ["torus:4x4", "hypercube:4", "star:4", "array:3x4", "kautz:2,3"])
@pytest.mark.parametrize("task", ["allgather", "allreduce", "alltoall"])
def test_lanes_are_as_many_as_a_node_has_links_and_carry_every_block(network, task):
    net = gossamer.network(network)
    ready = prepare(gossamer.plan(net, task))
    assert len(ready.lanes) <= max(net.degree, int(net.in_degree.max()))
    for pairs in ready.lanes:
        assert len({u for u, _ in pairs}) == len({v for _, v in pairs}) == len(pairs)
    idle = ready.blocks - 1
    assert np.count_nonzero(ready.send != idle) == np.count_nonzero(ready.write != idle) == ready.schedule.hop_count
    peer = np.full((net.node_count, len(ready.lanes)), -1)
    for lane, pairs in enumerate(ready.lanes):
        for u, v in pairs:
            peer[u, lane] = v
    for u, t, lane in zip(*np.nonzero(ready.send != idle), strict=True):
        assert ready.write[peer[u, lane], t, lane] != idle


def test_what_a_device_keeps_for_itself_has_no_gradient():
    table = gossamer.questions.tasks.DemandTable.of([], [([0, 1], [1], 1)])
    with pytest.raises(NotApplicableError, match="demands has no gradient: device 1 keeps its own"):
        prepare(gossamer.plan("ring:3", table)).dual  # noqa: B018 - refused when it is made


@pytest.mark.parametrize("value", [None, 3, "plan.parquet"])
def test_only_schedules_are_prepared(value):
    with pytest.raises(ScheduleError, match="a store-and-forward schedule is wanted, got"):
        prepare(value)
