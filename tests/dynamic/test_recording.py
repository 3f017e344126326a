"""A recorded simulation is the simulation: the same transmissions as the twin, and queues that add up."""

from __future__ import annotations

import numpy as np
import pytest

import gossamer
from dynamic.simpy_twin import Twin
from gossamer.errors import ModelError
from gossamer.simulation.random_arrivals import Settings, Trace, record, schemes, simulate
from gossamer.simulation.random_arrivals.queueing_state import QueueState, SchemeTables

pytestmark = pytest.mark.uncompiled
CUBE, TORUS = gossamer.network("hypercube:3"), gossamer.network("torus:4x3")


@pytest.mark.parametrize("ties", ["fifo", "age", "critical-path"])
@pytest.mark.parametrize("made", [lambda: schemes.star(TORUS), lambda: schemes.mini_packets(CUBE)])
def test_the_log_is_the_run_of_the_twin(made, ties):
    scheme = made()
    random = np.random.default_rng(3)
    times = np.sort(random.uniform(0, 30, 25))
    sources = random.integers(scheme.source_nodes.size, size=25).astype(np.int32)
    choices = np.zeros(25, np.int32)
    plain, logged = (QueueState(SchemeTables.of(scheme, ties), most_copies=10**5, recorded=r) for r in (None, -1.0))
    for machine in (plain, logged):
        machine.measure(25)
        machine.advance(times, sources, choices, np.arange(25, dtype=np.int32), np.zeros((0, 2)), "done")
    assert plain.log is None
    assert np.array_equal(plain.cell_sum, logged.cell_sum)
    assert np.array_equal(plain.services, logged.services)
    twin = Twin(scheme, ties)
    twin.run(times, sources, choices)
    rows = int(logged.log.counts[0])
    time, which = logged.log.time[:rows], logged.log.which[:rows]
    assert np.bincount(which[:, 0], minlength=scheme.network.link_count).tolist() == [
        twin.transmissions[link] for link in range(scheme.network.link_count)
    ]
    waits = sorted(wait for waits in twin.waits.values() for wait in waits)
    assert sorted(time[:, 1] - time[:, 0]) == pytest.approx(waits, abs=1e-9)
    assert logged.log.birth[:25].tolist() == times.tolist()
    assert logged.log.source[:25].tolist() == scheme.source_nodes[sources].tolist()
    # a broadcast is sent to as many nodes as receive it, and nothing before it is born
    assert (np.bincount(which[:, 1]) == rows // 25).all()
    assert (time[:, 0] >= logged.log.birth[which[:, 1]]).all()


def test_each_link_sends_one_copy_at_a_time_of_what_waits_at_it():
    scheme = schemes.star(TORUS)
    found = record(scheme, load=0.8, settings=Settings(steps=80, warmup=40, seed=4))
    sent = np.isfinite(found.start)
    source, target = found.network.link_source[found.link], found.network.link_target[found.link]
    for link in range(found.network.link_count):
        starts = np.sort(found.start[sent & (found.link == link)])
        assert (np.diff(starts) >= found.service - 1e-9).all()
    # a copy is queued where the broadcast was born, or where a copy of it has just come
    for row in np.flatnonzero(found.queued > 2):
        b = found.broadcast[row]
        if found.origin[b] == source[row] and found.queued[row] == pytest.approx(found.birth[b]):
            continue
        came = (found.broadcast == b) & (target == source[row]) & sent
        assert np.isclose(found.start[came] + found.service, found.queued[row]).any()
    # no link is idle while something waits at it
    for time in (10.0, 33.3, 79.0):
        sending = sent & (found.start <= time) & (found.start + found.service > time)
        assert (
            np.bincount(found.link[sending], minlength=found.network.link_count)[found.waiting(time) > 0] == 1
        ).all()


def test_the_mean_wait_and_the_use_of_links_are_those_of_the_simulation():
    scheme = schemes.star(CUBE)
    found = record(scheme, load=0.6, settings=Settings(steps=3000, warmup=100, seed=1))
    result = simulate(scheme, load=0.6, settings=Settings(steps=3000, warmup=100, seed=1))
    sent = np.isfinite(found.start)
    assert (found.start - found.queued)[sent].mean() == pytest.approx(result.mean_wait, rel=0.05)
    assert sent.sum() / 3000 / CUBE.link_count == pytest.approx(result.utilization.mean(), rel=0.02)


def test_a_trace_is_recorded_from_its_first_request():
    found = record(schemes.star(CUBE), settings=Settings(arrivals=Trace([0.5, 2.0], [3, 0]), steps=50))
    assert (found.origin.tolist(), found.birth.tolist()) == ([3, 0], [0.5, 2.0])
    assert found.start.size == 14
    assert np.isfinite(found.start).all()
    cut = record(schemes.star(CUBE), settings=Settings(arrivals=Trace([0.5, 2.0], [3, 0]), steps=2))
    assert cut.steps == 2
    assert (cut.queued < 2).all()
    assert (np.isinf(cut.start) | (cut.start < 2)).all()


def test_too_much_to_record_is_refused():
    with pytest.raises(ModelError, match="transmissions would be recorded, of at most 4,000,000; choose fewer steps"):
        record(schemes.star(gossamer.network("torus:16x16")), load=0.5, settings=Settings(steps=1e5))
    with pytest.raises(ModelError, match="more than 100 copies were in flight"):
        record(schemes.star(TORUS), load=1.5, settings=Settings(most_in_flight=100), above_limit=True)
