"""The queueing simulator: packet transmissions a second on one core, and the memory of the largest networks.

    pytest benchmarks/bench_dynamic.py --benchmark-only --benchmark-timer=time.process_time

Stated limits: at least 10 million transmissions a second on networks that fit in the cache, and 8 GB for the others.
Beside it, the 5 ns that a queueing loop needs for an event when the order of events is known: one transmission is at
least two events, a copy that enters a queue and a service that ends.
"""

from __future__ import annotations

import resource
import time

import pytest

import gossamer
from gossamer.simulation.random_arrivals import Settings, schemes, simulate

MILLION_TRANSMISSIONS_PER_SECOND = 10
NANOSECONDS_PER_EVENT = 5
GIGABYTES = 8


def simulated(benchmark, capsys, spec, priority, millions, rounds):
    """Simulate at load 0.9 and print the figures of the fastest round."""
    network = gossamer.network(spec)
    scheme = schemes.star(network, priority=priority)
    broadcasts = int(millions * 1e6 / network.node_count)
    simulate(scheme, load=0.9, settings=Settings(broadcasts=10, warmup=0))
    result = benchmark.pedantic(
        simulate, (scheme,), {"load": 0.9, "settings": Settings(broadcasts=broadcasts)}, rounds=rounds, warmup_rounds=0
    )
    rate = result.transmissions / benchmark.stats.stats.min
    facts = {
        "transmissions": result.transmissions,
        "million_per_second": round(rate / 1e6, 2),
        "nanoseconds": round(1e9 / rate, 1),
        "times_two_events": round(1e9 / rate / (2 * NANOSECONDS_PER_EVENT), 1),
        "reception": str(result.reception),
        "broadcast": str(result.broadcast),
        "peak_in_flight": result.peak_in_flight,
        "resident_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{scheme.name}, {priority}, {spec}: " + ", ".join(f"{k} {v}" for k, v in facts.items()))
    assert result.stable
    return facts


@pytest.mark.parametrize(
    ("spec", "priority"),
    [("hypercube:8", "fifo"), ("hypercube:8", "two-class"), ("hypercube:8", "optimal"), ("torus:8x8", "optimal")],
)
def test_transmissions_a_second(benchmark, capsys, spec, priority):
    facts = simulated(benchmark, capsys, spec, priority, 20, rounds=3)
    benchmark.extra_info["ratio_to_limit"] = facts["million_per_second"] / MILLION_TRANSMISSIONS_PER_SECOND


@pytest.mark.parametrize("spec", ["hypercube:12", "torus:32x32x32"])
def test_large_networks_fit_in_memory(benchmark, capsys, spec):
    facts = simulated(benchmark, capsys, spec, "two-class", 60, rounds=1)
    assert facts["resident_megabytes"] < 1024 * GIGABYTES


def test_trees_of_every_source_in_one_table(benchmark, capsys):
    """ARC is not translated: its rows are links."""
    scheme = schemes.arc(gossamer.network("array:14x14"))
    began = time.process_time()
    result = benchmark.pedantic(
        simulate, (scheme,), {"load": 0.8, "settings": Settings(broadcasts=50_000)}, rounds=1, warmup_rounds=0
    )
    rate = result.transmissions / (time.process_time() - began) / 1e6
    with capsys.disabled():
        print(f"\narc, array:14x14: rows {scheme.row_count}, million_per_second {rate:.2f}")
