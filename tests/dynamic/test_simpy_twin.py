"""The compiled simulator and the SimPy twin make the same events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gossamer
from dynamic.simpy_twin import Twin
from gossamer.simulation.random_arrivals import scheme_from_parents, schemes
from gossamer.simulation.random_arrivals.queueing_state import QueueState, SchemeTables

pytestmark = pytest.mark.uncompiled


def both(scheme, ties, times, sources, choices):
    """Return delays of each broadcast, waits by class and services by link, of the kernel and of the twin."""
    machine = QueueState(SchemeTables.of(scheme, ties), most_copies=10**6)
    machine.measure(len(times))
    cells = np.arange(len(times), dtype=np.int32)
    given = (np.array(times, np.float64), np.array(sources, np.int32), np.array(choices, np.int32))
    assert machine.advance(*given, cells, np.zeros((0, 2)), "done")
    assert machine.in_flight == machine.backlog == machine.open == 0
    twin = Twin(scheme, ties)
    return machine, twin, twin.run(times, sources, choices)


def assert_same(machine, twin, delays):
    links = machine.tables.scheme.network.link_count
    assert machine.cell_count[0].tolist() == [len(d) for d in delays]
    assert machine.cell_sum[0] == pytest.approx([sum(d) for d in delays], rel=1e-9, abs=1e-9)
    assert machine.cell_sum[1] == pytest.approx([max(d) for d in delays], rel=1e-9, abs=1e-9)
    assert machine.services.tolist() == [twin.transmissions[link] for link in range(links)]
    for rank, name in enumerate(machine.tables.classes.tolist()):
        assert machine.wait_count[rank] == len(twin.waits[name])
        assert machine.wait_sum[rank] == pytest.approx(sum(twin.waits[name]), rel=1e-9, abs=1e-6)


MIX = {"broadcast": 1, "unicast": 3, "multicast": 1}


def small_schemes():
    cube, torus, mesh = (gossamer.network(s) for s in ("hypercube:3", "torus:4x3", "array:4x4"))
    return {
        "STAR, two classes": schemes.star(cube),
        "STAR, optimal": schemes.star(torus, priority="optimal"),
        "STAR, reversed": schemes.star(cube, priority="reversed"),
        "ARC": schemes.arc(mesh),
        "mini-packets": schemes.mini_packets(cube),
        "STAR minis": schemes.star_minis(cube, priority="optimal"),
        "mixed": schemes.mixed(schemes.star(torus), MIX, size=3, ways=2),
        "mixed, unicasts first": schemes.mixed(schemes.arc(mesh), MIX, size=2, ways=2, order=["unicast"]),
        "mixed, a pattern": schemes.mixed(schemes.star(cube), MIX, size=2, destination=[7, 6, 5, 4, 3, 2, 1, 0]),
    }


SCHEMES = small_schemes()


def drawn(scheme, count, seed):
    random = np.random.default_rng(seed)
    return random.integers(scheme.source_nodes.size, size=count), random.integers(scheme.choice_count, size=count)


@pytest.mark.parametrize("ties", ["fifo", "age", "critical-path"])
@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("slotted", [False, True])
def test_same_events_as_simpy(name, ties, slotted):
    scheme = SCHEMES[name]
    random = np.random.default_rng(len(name) + slotted)
    count = 60
    times = np.cumsum(random.exponential(1 / (0.9 * scheme.rate(1.0) * scheme.source_nodes.size), count)) * scheme.parts
    times = np.ceil(times) if slotted else times
    assert_same(*both(scheme, ties, times.tolist(), *drawn(scheme, count, slotted)))


def test_same_events_with_more_classes_than_bits_in_a_word():
    """Class c is drawn as choice c; the queue of one link holds all of them."""
    many = scheme_from_parents(
        "many classes", gossamer.network("array:2"), parent=np.full(50, -1), step=np.zeros(50), tree=np.arange(50),
        priority=np.arange(50)[::-1], probability=np.full(50, 0.02), translated=False, sources=[0], receivers=1,
    )  # fmt: skip
    times = np.arange(200) * 0.6
    assert_same(*both(many, "fifo", times.tolist(), *drawn(many, 200, 1)))


@pytest.mark.parametrize("ties", ["fifo", "age"])
def test_same_events_after_the_tables_have_grown(ties):
    scheme = SCHEMES["STAR, two classes"]
    sources, choices = drawn(scheme, 500, 2)
    machine, twin, delays = both(scheme, ties, [0.0] * 500, sources * 0, choices)
    assert machine.peak > 1500
    assert_same(machine, twin, delays)


def test_same_events_with_a_link_table():
    """The columns of the table are the dimensions in reverse order."""
    scheme = SCHEMES["STAR, two classes"]
    turned = replace(scheme, link_table=scheme.link_table[:, ::-1])
    assert_same(*both(turned, "fifo", (np.arange(80) * 0.3).tolist(), *drawn(scheme, 80, 3)))


@settings(max_examples=25)
@given(st.data())
def test_same_events_with_many_at_one_time(data):
    scheme = SCHEMES[data.draw(st.sampled_from(sorted(SCHEMES)))]
    ties = data.draw(st.sampled_from(["fifo", "age", "critical-path"]))
    count = data.draw(st.integers(1, 25))
    halves = data.draw(st.lists(st.integers(0, 12), min_size=count, max_size=count))
    sources = data.draw(st.lists(st.integers(0, scheme.source_nodes.size - 1), min_size=count, max_size=count))
    choices = data.draw(st.lists(st.integers(0, scheme.choice_count - 1), min_size=count, max_size=count))
    assert_same(*both(scheme, ties, sorted(h / 2 for h in halves), sources, choices))


@pytest.mark.parametrize("ties", ["fifo", "age"])
def test_same_events_where_memory_is_asked_for_ahead(ties):
    from gossamer.simulation.random_arrivals import _kernels

    scheme = schemes.star(gossamer.network("hypercube:11"))
    times = np.arange(8) * 0.3
    machine, twin, delays = both(scheme, ties, times.tolist(), *drawn(scheme, 8, 5))
    assert machine.queue.size > _kernels.FAR
    assert_same(machine, twin, delays)
