"""The queueing simulator against exact formulas, its own books, and bad input."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import gossamer
from gossamer.errors import GossamerError, ModelError, NotApplicableError
from gossamer.simulation.random_arrivals import (
    Bernoulli,
    OnOff,
    Poisson,
    Settings,
    Trace,
    scheme_from_parents,
    schemes,
    simulate,
)

LINE = gossamer.network("array:3")
DOWN = [LINE.link_between(0, 1), LINE.link_between(1, 2)]


def one_link(**tables):
    """Return a scheme in which node 0 sends every packet over one link."""
    given = {"parent": [-1], "step": [0], "translated": False, "sources": [0], "receivers": 1} | tables
    return scheme_from_parents("one link", gossamer.network("array:2"), **given)


def cube(dimensions=4, priority="two-class"):
    return schemes.star(gossamer.network(f"hypercube:{dimensions}"), priority=priority)


# -- exact queues ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.8, 0.9])
def test_one_link_is_an_m_d_1_queue(rate):
    result = simulate(one_link(), rate=rate, settings=Settings(broadcasts=300_000, seed=1))
    assert result.reception.covers(1 + rate / (2 * (1 - rate)), 1.5)
    assert result.reception.half_width < 0.06 * result.reception.mean
    assert result.utilization == pytest.approx([rate, 0], abs=0.01)
    assert result.wait[0] == pytest.approx(result.reception.mean - 1)


def test_m_d_1_distribution_begins_with_the_empty_queue():
    """A packet finds the server idle with probability 1 - rho, and then its delay is 1."""
    result = simulate(one_link(), rate=0.6, settings=Settings(broadcasts=200_000))
    cells = result.reception_delays
    one = round(1 / cells.width)
    assert cells.count[:one].sum() == 0
    assert cells.count[one] / cells.count.sum() == pytest.approx(0.4 + 0.6 * cells.width * 0.4, abs=0.015)


def test_the_second_queue_of_a_tandem_of_equal_servers_never_waits():
    tandem = scheme_from_parents(
        "tandem", LINE, parent=[-1, 0], step=DOWN, priority=[0, 1], translated=False, sources=[0]
    )
    result = simulate(tandem, rate=0.8, settings=Settings(broadcasts=200_000))
    assert result.wait[1] == 0
    assert result.reception.covers(1.5 + 2, 1.5)
    assert result.broadcast.covers(2 + 2, 1.5)


@pytest.mark.parametrize(("rate", "high"), [(0.8, 0.25), (0.8, 0.75), (0.5, 0.5), (0.9, 0.1)])
def test_two_classes_wait_as_in_the_head_of_line_formulas(rate, high):
    both = one_link(parent=[-1, -1], step=[0, 0], tree=[0, 1], priority=[0, 1], probability=[high, 1 - high])
    result = simulate(both, rate=rate, settings=Settings(broadcasts=400_000, seed=2))
    first = rate / (2 * (1 - rate * high))
    assert result.wait[0] == pytest.approx(first, rel=0.04)
    assert result.wait[1] == pytest.approx(first / (1 - rate), rel=0.06)
    assert result.class_share[0] == pytest.approx(high, abs=0.01)


def test_slotted_high_class_does_not_see_the_low_one():
    high, rate = 0.5, 0.8
    both = one_link(parent=[-1, -1], step=[0, 0], tree=[0, 1], priority=[0, 1], probability=[high, 1 - high])
    result = simulate(both, rate=rate, settings=Settings(broadcasts=400_000, time="slotted"))
    assert result.wait[0] == pytest.approx(rate * high / (2 * (1 - rate * high)), rel=0.03)
    assert result.mean_wait == pytest.approx(rate / (2 * (1 - rate)), rel=0.05)


def test_bernoulli_requests_of_one_node_never_wait_in_slots():
    result = simulate(one_link(), rate=0.9, settings=Settings(arrivals=Bernoulli(), time="slotted", broadcasts=5000))
    assert result.reception.mean == 1
    assert result.wait == {0: 0.0}


def test_parts_of_a_message_take_their_part_of_a_step():
    """Both parts of a message go over one link, one right after the other: together, an M/D/1 queue."""
    halves = one_link(parent=[-1, -1], step=[0, 0], tree=[0, 1], parts=2)
    rate = 0.6
    result = simulate(halves, rate=rate, settings=Settings(broadcasts=200_000))
    assert result.reception.covers(1 + rate / (2 * (1 - rate)), 1.5)
    assert result.utilization[0] == pytest.approx(rate, abs=0.01)
    assert result.transmissions > 2 * 200_000


def test_age_and_critical_path_keep_the_mean_wait_of_one_queue():
    """Work is conserved: in one queue with equal services no order changes the mean wait."""
    both = one_link(parent=[-1, -1], step=[0, 0], tree=[0, 1], probability=[0.5, 0.5])
    waits = [
        simulate(both, rate=0.8, settings=Settings(broadcasts=20_000, ties=t)).mean_wait
        for t in ("fifo", "age", "critical-path")
    ]
    assert waits == pytest.approx([waits[0]] * 3)


# -- schemes --------------------------------------------------------------------------------------------------------


def test_light_load_gives_mean_distance_and_eccentricity():
    result = simulate(cube(), load=0.001, settings=Settings(broadcasts=3000))
    assert result.reception.mean == pytest.approx(32 / 15, rel=0.01)
    assert result.broadcast.mean == pytest.approx(4, rel=0.01)


def test_same_seed_same_result_and_another_seed_another():
    first, again, other = (simulate(cube(), load=0.7, settings=Settings(broadcasts=2000, seed=s)) for s in (3, 3, 4))
    assert first.reception == again.reception
    assert first.broadcast == again.broadcast
    assert first.peak_in_flight == again.peak_in_flight
    assert (first.utilization == again.utilization).all()
    assert first.reception != other.reception


def test_replications_are_independent_and_narrow_the_interval():
    several = simulate(cube(), load=0.7, settings=Settings(broadcasts=3000, replications=4))
    assert several.reception.samples == 4
    assert several.broadcasts == 12_000
    assert 0 < several.reception.half_width < 0.5


def test_every_receipt_is_counted_once():
    result = simulate(cube(5), load=0.8, settings=Settings(broadcasts=2500, warmup=100))
    assert result.reception_delays.count.sum() == 31 * 2500
    assert result.broadcast_delays.count.sum() == 2500
    assert result.class_share[0] == pytest.approx(15 / 31)
    assert sum(result.class_share.values()) == pytest.approx(1)


def test_utilization_of_a_balanced_scheme_is_the_load():
    result = simulate(cube(), load=0.6, settings=Settings(steps=20_000))
    assert result.utilization.mean() == pytest.approx(0.6, abs=0.01)
    assert result.utilization.max() < 0.64


def test_histogram_agrees_with_the_means():
    result = simulate(cube(), load=0.8, settings=Settings(broadcasts=4000))
    cells = result.reception_delays
    middle = (cells.edges[:-1] + cells.edges[1:]) / 2
    assert (middle * cells.count).sum() / cells.count.sum() == pytest.approx(result.reception.mean, abs=cells.width)
    assert cells.quantile(0.1) < cells.quantile(0.5) < cells.quantile(0.99)


def test_some_nodes_may_generate_all_broadcasts():
    result = simulate(cube(), load=0.2, nodes=[0, 5], settings=Settings(broadcasts=2000))
    assert result.rate == pytest.approx(0.2 * 4 / 15 * 8)
    assert result.utilization.mean() == pytest.approx(0.2, abs=0.02)


def test_bursts_wait_longer_than_poisson_requests():
    smooth = simulate(cube(), load=0.5, settings=Settings(broadcasts=3000))
    bursts = simulate(cube(), load=0.5, settings=Settings(broadcasts=3000, arrivals=OnOff(20, 180)))
    assert bursts.mean_wait > 1.5 * smooth.mean_wait
    assert bursts.arrivals == "OnOff"


def test_a_trace_is_replayed_to_its_end():
    """Two broadcasts far apart on an idle network, and one that waits for the one before it."""
    tandem = scheme_from_parents("tandem", LINE, parent=[-1, 0], step=DOWN, translated=False, sources=[0])
    result = simulate(tandem, settings=Settings(arrivals=Trace([0.0, 10.0, 10.25], [0, 0, 0])))
    assert result.broadcasts == 3
    assert result.broadcast.mean == pytest.approx((2 + 2 + 2.75) / 3)
    assert result.peak_in_flight == 2
    assert result.transmissions == 6


def test_a_late_warm_up_of_a_trace_is_not_measured():
    result = simulate(one_link(), settings=Settings(arrivals=Trace([0.0, 0.0, 10.0], [0, 0, 0]), warmup=5))
    assert result.reception.mean == 1
    assert result.broadcasts == 1


def test_progress_is_told():
    lines = []
    simulate(cube(), load=0.5, progress=lines.append, settings=Settings(broadcasts=500))
    assert any("star" in line and "measured" in line and "100%" in line for line in lines)


def test_a_line_of_a_table_has_every_figure():
    line = simulate(cube(), load=0.5, settings=Settings(broadcasts=500)).to_dict()
    assert {"network", "load", "reception", "broadcast_p99", "wait_0", "wait_1", "stable"} <= line.keys()
    assert line["network"] == "hypercube:4"


# -- choices that look at the load ----------------------------------------------------------------------------------


def test_global_choice_shortens_delays():
    drawn, chosen = (
        simulate(cube(priority="fifo"), load=0.9, settings=Settings(steps=8000, seed=1, choose=c))
        for c in ("oblivious", "global")
    )
    assert chosen.reception.mean < 0.9 * drawn.reception.mean
    assert chosen.utilization.max() < 0.95


def test_local_choice_is_unstable_at_high_load_and_guarded_is_not():
    local = simulate(cube(priority="optimal"), load=0.9, settings=Settings(choose="local", seed=1))
    assert not local.stable
    assert math.isnan(local.reception.mean)
    assert "grew" in local.reason
    guarded = simulate(cube(priority="optimal"), load=0.9, settings=Settings(choose="guarded", seed=1))
    assert guarded.stable


def test_the_mean_over_neighbors_chooses_better_than_the_source_alone_on_the_4_cube():
    settings = {c: Settings(choose=c, seed=1, steps=8000) for c in ("oblivious", "local", "neighbors")}
    found = {c: simulate(cube(priority="optimal"), load=0.8, settings=s) for c, s in settings.items()}
    assert not found["local"].stable
    assert found["neighbors"].stable
    assert found["neighbors"].reception.mean < 0.95 * found["oblivious"].reception.mean
    fifo = {c: simulate(cube(priority="fifo"), load=0.8, settings=s).reception.mean for c, s in settings.items()}
    assert fifo["neighbors"] < 0.97 * fifo["local"] < fifo["oblivious"]


def test_load_aware_choice_needs_dimensions_and_choices():
    with pytest.raises(NotApplicableError, match="says no dimensions"):
        simulate(one_link(), rate=0.5, settings=Settings(choose="global"))
    with pytest.raises(NotApplicableError, match="has a single choice"):
        simulate(replace(one_link(), dimension=np.zeros(2, np.int32)), rate=0.5, settings=Settings(choose="global"))


# -- instability ----------------------------------------------------------------------------------------------------


def test_reversed_priority_is_unstable_at_load_08():
    result = simulate(cube(5, "reversed"), load=0.8, settings=Settings(seed=1))
    assert not result.stable
    assert "unstable" in str(result)
    assert result.utilization.mean() < 0.75
    assert result.observed[0] > 50


def test_other_priorities_are_stable_there():
    assert all(
        simulate(cube(5, p), load=0.8, settings=Settings(seed=1)).stable for p in ("fifo", "two-class", "optimal")
    )


def test_load_above_the_limit_is_unstable_when_forced():
    result = simulate(one_link(), rate=1.1, above_limit=True, settings=Settings(broadcasts=5000))
    assert not result.stable
    assert result.backlog[-1, 1] > result.backlog[len(result.backlog) // 2, 1] > 0


def test_a_run_that_outgrows_its_memory_is_reported():
    result = simulate(one_link(), rate=3.0, above_limit=True, settings=Settings(broadcasts=50_000, most_in_flight=2000))
    assert not result.stable
    assert result.reason == "more than 2,000 copies were in flight"


def asked(load=None, rate=None, nodes=None, **settings):
    return {"load": load, "rate": rate, "nodes": nodes, "settings": Settings(**settings)}


# -- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give the load or the rate, one of the two"),
        ({"load": 0.5, "rate": 0.5}, "give the load or the rate, one of the two"),
        ({"load": 0}, "load must be a number above 0, got 0"),
        ({"rate": -1}, "rate must be a number above 0, got -1"),
        ({"rate": float("nan")}, "rate must be a number above 0, got nan"),
        ({"load": 1.0}, "load 1 is not below the stability limit 1, at which link"),
        ({"load": 2.5}, "load 2.5 is not below the stability limit 1, at which link"),
        ({"load": 0.5, "time": "slots"}, "time must be 'continuous' or 'slotted', got 'slots' .did you mean 'slotted'"),
        ({"load": 0.5, "ties": "oldest"}, "ties must be 'fifo', 'age' or 'critical-path', got 'oldest'"),
        ({"load": 0.5, "choose": "globel"}, "did you mean 'global'"),
        ({"load": 0.5, "replications": 0}, "replications must be a whole number in 1..10000, got 0"),
        ({"load": 0.5, "mixture": 1.5}, "mixture must be a number in 0..1, got 1.5"),
        ({"load": 0.5, "guard": -1}, "guard must be a number of at least 0, got -1"),
        ({"load": 0.5, "seed": -1}, "seed must be a whole number in 0..9223372036854775807, got -1"),
        ({"load": 0.5, "steps": 1e12}, r"about 4.3e\+13 transmissions would be simulated, .* day; choose fewer steps"),
        ({"load": 0.5, "steps": 1e308}, r"about inf transmissions would be simulated"),
        ({"load": 0.5, "warmup": 1e300}, r"about 3.2e\+301 transmissions would be simulated"),
        ({"load": 1e-300}, r"about 6.2e\+302 steps would be simulated for 2,666 broadcasts, of at most 1e\+12"),
        ({"load": 0.5, "replications": 10**9}, "replications must be a whole number in 1..10000, got 1000000000"),
        (
            {"load": 0.5, "seed": 2**64},
            "seed must be a whole number in 0..9223372036854775807, got 18446744073709551616",
        ),
        (
            {"load": 0.5, "arrivals": OnOff(0.1, 0.1), "steps": 1e7},
            r"each node would go on and off .* times in .* steps, of at most 1e\+07 times; choose longer mean times",
        ),
        ({"load": 1.0, "choose": "global"}, "load 1 is not below 1, from which on no scheme is stable"),
        ({"load": 0.5, "steps": 0}, "steps must be a number above 0, got 0"),
        ({"load": 0.5, "broadcasts": 0}, "broadcasts must be a whole number of at least 1, got 0"),
        ({"load": 0.5, "broadcasts": 5, "steps": 5}, "in steps or in broadcasts"),
        ({"load": 0.5, "warmup": -1}, "warmup, unless it is 'auto', must be a number of at least 0, got -1"),
        ({"load": 0.5, "warmup": "some"}, "warmup, unless it is 'auto', must be a number of at least 0, got 'some'"),
        ({"load": 0.5, "nodes": [16]}, "node 16 generates no broadcasts"),
        ({"load": 0.5, "nodes": []}, "no node would generate broadcasts"),
        ({"load": 0.5, "arrivals": Trace([0.0], [0])}, "a trace has its own rate"),
        ({"arrivals": Trace([0.0], [16])}, "request 1 is at node 16, .*; 16 nodes do, from 0 to 15"),
        (
            {"arrivals": Trace([0.0, 3.0], [1, 1]), "warmup": 7},
            "the warm-up of 7 steps is as long as trace, which ends at 3",
        ),
    ],
)
def test_bad_input_gets_one_clear_line(arguments, message):
    with pytest.raises(GossamerError, match=message) as error:
        simulate(cube(), **asked(**arguments))
    assert "\n" not in str(error.value)


def test_the_limit_of_some_nodes_is_their_own():
    with pytest.raises(ModelError, match="not below the stability limit"):
        simulate(cube(), load=0.5, nodes=[0])


def test_a_choice_that_looks_at_the_load_is_not_held_to_the_limit_of_a_drawn_one():
    uneven = schemes.star(gossamer.network("torus:4x4"), coin=False)  # saturated at 3/4 if drawn
    assert simulate(uneven, load=0.78, settings=Settings(choose="global", steps=300)).load == pytest.approx(0.78)


def test_default_runs_are_long_enough_for_their_intervals():
    exact, covered = 1 + 0.9 / (2 * (1 - 0.9)), 0
    for seed in range(40):
        covered += simulate(one_link(), rate=0.9, settings=Settings(seed=seed)).reception.covers(exact)
    assert covered >= 34  # of 40, where 95% is meant


def test_the_limit_names_the_link_that_binds():
    arc = schemes.arc(gossamer.network("array:6x6"))
    with pytest.raises(
        ModelError, match=r"load 0.9 is not below the stability limit 0.833333, at which link \(.*\)->\("
    ):
        simulate(arc, load=0.9)


def test_links_of_several_packets_are_refused():
    tree = gossamer.network("fat-tree:k=2,h=2,capacity=exponential")
    scheme = scheme_from_parents("one", tree, parent=[-1], step=[0], translated=False, sources=[0], receivers=1)
    with pytest.raises(ModelError, match="carry several packets at a time"):
        simulate(scheme, rate=0.1)


def test_memory_does_not_grow_with_the_length_of_the_run():
    from gossamer.simulation.random_arrivals.queueing_state import QueueState, SchemeTables

    scheme = cube(5)
    machine = QueueState(SchemeTables.of(scheme), most_copies=10**6)
    machine.measure(1)
    stream = Poisson().stream(np.random.default_rng(0), scheme.source_nodes, scheme.rate(0.8), 1.0)
    sizes = []
    for _ in range(20):
        time, source = stream.take(2000)
        drawn = np.random.default_rng(1).integers(5, size=2000, dtype=np.int32)
        machine.advance(time, source, drawn, np.zeros(2000, np.int32), np.zeros((0, 2)))
        sizes.append((machine.copies.shape, machine.casts.shape))
    assert sizes[-1] == sizes[4]


@pytest.mark.parametrize("length", [{"steps": 0.001}, {"broadcasts": 3}])
def test_a_very_short_run_is_not_taken_for_an_unstable_one(length):
    result = simulate(cube(), load=0.5, settings=Settings(**length))
    assert result.stable
    assert not result.settled


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"load": "0.5"}, "load must be a number above 0, got '0.5'"),
        ({"load": 0.5, "seed": 1.5}, "seed must be a whole number"),
        ({"load": 0.5, "arrivals": "poisson"}, r"arrivals must be Poisson\(\)"),
        ({"rate": True}, "rate must be a number"),
    ],
)
def test_values_of_a_wrong_type_get_one_clear_line(wrong, why):
    scheme = scheme_from_parents("both ways", gossamer.network("ring:3"), parent=[-1, -1], step=[0, 1])
    with pytest.raises(ModelError, match=why):
        simulate(scheme, **asked(**wrong))
