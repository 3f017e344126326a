"""The flit simulator: flit-hops a second on one core, of whole calls.

    pytest benchmarks/bench_flit_simulator.py --benchmark-only --benchmark-timer=time.process_time

Target: 15 million flit-hops a second, messages of one flit included; the ratio printed is to that. Beyond saturation
most messages are created, kept and never carried, and a flit-hop stands for the whole of that work.
"""

from __future__ import annotations

import pytest

import gossamer
from gossamer.jit import uninterpreted
from gossamer.questions.costs import LinearCost
from gossamer.simulation.flits import Routers, TrafficSettings, simulate_schedule, simulate_traffic

MILLION_FLIT_HOPS_PER_SECOND = 15

LANES = Routers(virtual_channels=4)
TRAFFIC = [
    *(("torus:8x8", load, flits, {}) for flits in (1, 2, 8) for load in (0.1, 0.3, 0.5, 0.9)),
    *((spec, 0.3, 1, {}) for spec in ("torus:4x4x4", "hypercube:6", "array:8x8")),
    *((spec, 0.2, 1, {}) for spec in ("dragonfly:a=4,h=2,p=2", "fat-tree:k=2,h=4")),
    *((spec, 0.3, 1, {"routing": "adaptive", "routers": LANES}) for spec in ("torus:8x8", "hypercube:6")),
    ("torus:8x8", 0.3, 1, {"routers": Routers.preset("booksim")}),
    ("torus:32x32", 0.1, 1, {}),
]
SCHEDULES = {
    "ring all-gather on torus:16x16, barriers": "barrier",
    "ring all-gather on torus:16x16, dependencies": "dependencies",
}


def told(benchmark, capsys, what: str, flit_hops: int) -> None:
    rate = flit_hops / benchmark.stats.stats.min / 1e6
    facts = {
        "flit_hops": flit_hops,
        "million_flit_hops_per_second": round(rate, 2),
        "ratio_to_target": round(rate / MILLION_FLIT_HOPS_PER_SECOND, 2),
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))


def named(spec: str, load: float, flits: int, changes: dict) -> str:
    unit = "flit" if flits == 1 else "flits"
    of = f", {changes.get('routing', 'booksim routers')}" if changes else ""
    return f"{spec} at load {load}, {flits} {unit} a message{of}"


@pytest.mark.parametrize(("spec", "load", "flits", "changes"), TRAFFIC, ids=[named(*case) for case in TRAFFIC])
def test_traffic(benchmark, capsys, spec, load, flits, changes):
    network = gossamer.network(spec)
    measured = 20_000 if network.node_count <= 128 else 2_000
    settings = TrafficSettings(message_flits=flits, warmup=0, measured=measured, **changes)

    def work():
        with uninterpreted():
            return simulate_traffic(network, "uniform", load, settings=settings)

    run = benchmark.pedantic(work, rounds=5, warmup_rounds=1)
    state = ", saturated" if run.saturated else ""
    told(benchmark, capsys, f"uniform traffic, {named(spec, load, flits, changes)}{state}", run.flit_hops)


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
