"""The checker: hops a second on one core, and the bytes that an explicit schedule holds for each hop.

    pytest benchmarks/bench_verification.py --benchmark-only --benchmark-timer=time.process_time

Stated limits: at least 20 million hops a second, at most 16 bytes a hop. The schedules come from the simplest code that
makes valid ones: shortest paths taken one offset at a time or packed into the first free slots, and greedy flooding.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gossamer
from gossamer.schedules import Packets, Schedule, Symmetry
from gossamer.verification import buffer_peak, verify

MILLION_HOPS_PER_SECOND = 20
BYTES_PER_HOP = 16


def exchange(spec: str, *, dense: bool) -> Schedule:
    """Total exchange over shortest paths from node 0: one hop of one offset a slot, or each as early as links allow."""
    network = gossamer.network(spec)
    degree, parent = network.degree, network.breadth_first(0).parent_link
    taken: list[set[int]] = [set() for _ in range(degree)]
    rows, t = [], -1
    for p, v in enumerate(np.random.default_rng(0).permutation(np.arange(1, network.node_count)).tolist()):
        path: list[int] = []
        while v:
            path.append(int(parent[v]))
            v = int(network.link_source[path[-1]])
        t = -1 if dense else t
        for link in reversed(path):
            t += 1
            while dense and t in taken[link % degree]:
                t += 1
            taken[link % degree].add(t)
            rows.append((t, link, p, network.link_target[path[0]]))
    slot, link, packet, target = np.array(sorted(rows, key=lambda row: row[0])).T
    packet = target - 1  # messages are numbered by their offset
    task = gossamer.task("total-exchange")
    return Schedule(network, task, gossamer.Rules(), slot, link, packet, symmetry=Symmetry(network))


def flood(spec: str) -> Schedule:
    """Multinode broadcast: in each slot, along each generator, to the first new node that the oldest holders reach."""
    network = gossamer.network(spec)
    degree, target = network.degree, network.link_target.reshape(network.node_count, -1).tolist()
    reached, order, rows, t = {0}, [0], [], 0
    next_holder = [0] * degree
    while len(order) < network.node_count:
        holders = len(order)
        for g in range(degree):
            while next_holder[g] < holders and target[order[next_holder[g]]][g] in reached:
                next_holder[g] += 1
            if next_holder[g] < holders:
                u = order[next_holder[g]]
                reached.add(target[u][g])
                order.append(target[u][g])
                rows.append((t, u * degree + g))
        t += 1
    slot, link = np.array(rows).T
    task = gossamer.task("multinode-broadcast")
    packet = np.zeros_like(slot)
    return Schedule(network, task, gossamer.Rules(), slot, link, packet, symmetry=Symmetry(network))


def shuffled(schedule: Schedule) -> Schedule:
    """The same schedule with its packets numbered at random, which is what caches like least."""
    order = np.random.default_rng(1).permutation(schedule.packets.count)
    table = schedule.packets
    packets = Packets(table.origin[order], table.message[order], table.part[order])
    return schedule.replace(packet=np.argsort(order)[schedule.packet], packets=packets)


CASES = {
    "exchange, torus:8x8x8, an offset at a time": lambda: exchange("torus:8x8x8", dense=False).expand(),
    "exchange, torus:8x8x8, dense": lambda: exchange("torus:8x8x8", dense=True).expand(),
    "exchange, hypercube:9, dense": lambda: exchange("hypercube:9", dense=True).expand(),
    "exchange, hypercube:11, dense, shuffled": lambda: shuffled(exchange("hypercube:11", dense=True).expand()),
    "multinode broadcast, torus:32x32": lambda: flood("torus:32x32").expand(),
    "reduce-scatter, torus:32x32": lambda: flood("torus:32x32").expand().reverse(),
    "allreduce, torus:32x32": lambda: flood("torus:32x32").reverse().then(flood("torus:32x32")).expand(),
    "multinode broadcast, torus:100x100x100, invariant": lambda: flood("torus:100x100x100"),
}


@cache
def case(name: str) -> Schedule:
    schedule = CASES[name]()
    verify(schedule).raise_if_invalid()
    return schedule


def told(benchmark, capsys, what: str, schedule: Schedule, **facts) -> None:
    rate = schedule.stored_hops / benchmark.stats.stats.min / 1e6
    facts = {
        "hops": schedule.stored_hops,
        "million_hops_per_second": round(rate, 1),
        "ratio_to_limit": round(rate / MILLION_HOPS_PER_SECOND, 2),
        **facts,
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{name} {value}" for name, value in facts.items()))


@pytest.mark.parametrize("name", CASES)
def test_verification(benchmark, capsys, name):
    schedule = case(name)
    assert benchmark.pedantic(verify, args=(schedule,), rounds=5, warmup_rounds=1)
    size = schedule.nbytes / schedule.stored_hops
    told(
        benchmark, capsys, f"verify {name}", schedule,
        bytes_per_hop=round(size, 2), bytes_ratio_to_limit=round(size / BYTES_PER_HOP, 2),
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in CASES if "torus" in name])
def test_buffer_peak(benchmark, capsys, name):
    schedule = case(name)
    peak = benchmark.pedantic(buffer_peak, args=(schedule,), rounds=3, warmup_rounds=1)
    told(benchmark, capsys, f"buffer peak of {name}", schedule, peak=peak.packets)
