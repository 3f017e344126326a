"""The flit simulator: flit-hops a second on one core.

    pytest benchmarks/bench_flit_simulator.py --benchmark-only --benchmark-timer=time.process_time

Stated limit: at least 5 million flit-hops a second.
"""

from __future__ import annotations

import pytest

import gossamer
from gossamer.compiling import uninterpreted
from gossamer.costs import LinearCost
from gossamer.routers import TrafficSettings, simulate_schedule, simulate_traffic

MILLION_FLIT_HOPS_PER_SECOND = 5

TRAFFIC = {
    "array:8x8 at load 0.3": ("array:8x8", 0.3),
    "torus:8x8 at load 0.3": ("torus:8x8", 0.3),
    "torus:8x8 at load 0.05": ("torus:8x8", 0.05),
    "torus:8x8 in overload": ("torus:8x8", 1.0),
    "torus:32x32 at load 0.1": ("torus:32x32", 0.1),
}
SCHEDULES = {
    "ring all-gather on torus:16x16, barriers": "barrier",
    "ring all-gather on torus:16x16, dependencies": "dependencies",
}


def told(benchmark, capsys, what: str, flit_hops: int) -> None:
    rate = flit_hops / benchmark.stats.stats.min / 1e6
    facts = {
        "flit_hops": flit_hops,
        "million_flit_hops_per_second": round(rate, 2),
        "ratio_to_limit": round(rate / MILLION_FLIT_HOPS_PER_SECOND, 2),
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))


@pytest.mark.parametrize("name", TRAFFIC)
def test_traffic(benchmark, capsys, name):
    spec, load = TRAFFIC[name]
    network = gossamer.network(spec)
    measured = 20_000 if network.node_count <= 64 else 2_000

    def work():
        with uninterpreted():
            return simulate_traffic(network, "uniform", load, settings=TrafficSettings(warmup=0, measured=measured))

    run = benchmark.pedantic(work, rounds=3, warmup_rounds=1)
    told(benchmark, capsys, f"uniform traffic, {name}", run.flit_hops)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(benchmark, capsys, name):
    model = LinearCost(message_bytes=256)
    schedule = gossamer.plan(
        "torus:16x16", "allgather", algorithm="ring-all-gather", switching="wormhole", cost=model
    ).schedule
    run = benchmark.pedantic(
        simulate_schedule, args=(schedule,), kwargs={"starts": SCHEDULES[name]}, rounds=3, warmup_rounds=1
    )
    told(benchmark, capsys, name, run.flit_hops)
