"""Partial exchange on larger arrays and tori: completion time over the best bound, and how long it takes to find.

    pytest benchmarks --benchmark-only --benchmark-timer=time.process_time -o python_files='bench_*.py'

The 15 smaller cases of the source's open problem are printed by ``gossamer reproduce varvarigos-bertsekas``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, hstack

import gossamer


def block(sides, corner, shape):
    """Return the nodes of a box."""
    nodes = np.arange(np.prod(sides)).reshape(sides)
    return nodes[tuple(slice(a, a + n) for a, n in zip(corner, shape, strict=True))].reshape(-1).tolist()


def drawn(nodes, count, seed):
    return np.random.default_rng(seed).choice(nodes, count, replace=False).tolist()


CASES = [
    ("array:8x8x8", "corner 4x4x4", block((8, 8, 8), (0, 0, 0), (4, 4, 4))),
    ("array:8x8x8", "a plane", list(range(64))),
    ("torus:8x8x8", "128 at random", drawn(512, 128, 0)),
    ("array:12x10x6", "center 4x4x4", block((12, 10, 6), (4, 3, 1), (4, 4, 4))),
    ("array:24x16", "48 at random", drawn(384, 48, 1)),
    ("array:16x16x16", "300 at random", drawn(4096, 300, 0)),
]


@pytest.mark.parametrize(("spec", "where", "active"), CASES, ids=[f"{s}-{w}" for s, w, _ in CASES])
def test_partial_exchange(benchmark, capsys, spec, where, active):
    plan = benchmark.pedantic(
        lambda: gossamer.plan(spec, gossamer.task("partial-exchange", active=active)), rounds=1, warmup_rounds=0
    )
    seconds = benchmark.stats.stats.min
    facts = {
        "active": len(active),
        "algorithm": plan.algorithm,
        "time": str(plan.completion_time),
        "bound": str(plan.bound),
        "ratio": round(plan.ratio, 3),
        "hops": plan.schedule.hop_count,
        "seconds": round(seconds, 1),
        "million_hops_per_second": round(plan.schedule.hop_count / seconds / 1e6, 2),
    }
    benchmark.extra_info.update(facts)
    with capsys.disabled():
        print(f"\npartial exchange on {spec}, {where}: " + ", ".join(f"{k} {v}" for k, v in facts.items()))


def test_small_random_sets(capsys):
    """Many small random sets, among which the ratios are worst."""
    found = []
    for spec, nodes, count in (
        ("torus:4x4x4", 64, 21),
        ("torus:4x4x4", 64, 8),
        ("torus:5x5", 25, 8),
        ("array:4x4x4", 64, 21),
    ):
        for seed in range(30):
            active = sorted(drawn(nodes, count, seed))
            plan = gossamer.plan(spec, gossamer.task("partial-exchange", active=active))
            found.append((plan.ratio, spec, count, seed))
    at_bound = sum(ratio == 1 for ratio, *_ in found)
    with capsys.disabled():
        print(f"\n{len(found)} random sets: {at_bound} at the bound, median {np.median([f[0] for f in found]):.3f}")
        for ratio, spec, count, seed in sorted(found, reverse=True)[:5]:
            print(f"  {ratio:.3f} {spec}, {count} at random, seed {seed}")


def flow_through_slots(network, active, slots):
    """Return how far the largest load of a link in a slot can be lowered if packets may be divided.

    All must be there after so many slots. A linear program: for each active node a flow through nodes and links in
    slots to all other nodes. If it is 1 at most, no prices of links in slots prove that the exchange takes longer.
    """
    nodes, links = network.node_count, network.link_count
    rows, columns, signs, rooms, flows, goals, size = [], [], [], [], [], [], 0
    slot, state = (x.ravel() for x in np.meshgrid(np.arange(slots), np.arange(nodes), indexing="ij"))
    when, link = (x.ravel() for x in np.meshgrid(np.arange(slots), np.arange(links), indexing="ij"))
    for i, s in enumerate(active):
        near = network.distances(s)
        goes, waits = near[network.link_source[link]] <= when, near[state] <= slot
        tail = np.r_[(when * nodes + network.link_source[link])[goes], (slot * nodes + state)[waits]]
        head = np.r_[((when + 1) * nodes + network.link_target[link])[goes], ((slot + 1) * nodes + state)[waits]]
        number = size + np.arange(tail.size)
        rows += [i * (slots + 1) * nodes + head, i * (slots + 1) * nodes + tail]
        columns += [number, number]
        signs += [np.ones(tail.size), -np.ones(tail.size)]
        rooms.append((when * links + link)[goes])
        flows.append(number[: goes.sum()])
        goal = np.zeros((slots + 1, nodes))
        goal[slots] = 1
        goal[slots, s] = 0
        goal[0, s] -= nodes - 1
        goals.append(goal.ravel())
        size += tail.size
    kept = coo_array((np.concatenate(signs), (np.concatenate(rows), np.concatenate(columns)))).tocsr()
    goal = np.concatenate(goals)
    used = np.diff(kept.indptr) > 0
    room, flow = np.concatenate(rooms), np.concatenate(flows)
    loads = coo_array((np.ones(room.size), (room, flow)), shape=(slots * links, size))
    most = coo_array(-np.ones((slots * links, 1)))
    found = linprog(
        np.r_[np.zeros(size), 1], A_ub=hstack([loads, most]).tocsr(), b_ub=np.zeros(slots * links),
        A_eq=hstack([kept[used], coo_array((int(used.sum()), 1))]).tocsr(), b_eq=goal[used], method="highs-ipm",
    )  # fmt: skip
    return found.fun


def test_no_prices_of_slots_close_the_widest_gap(capsys):
    network, active = gossamer.network("torus:4x4x4"), sorted(drawn(64, 21, 14))
    plan = gossamer.plan(network, gossamer.task("partial-exchange", active=active))
    load = flow_through_slots(network, active, 14)
    with capsys.disabled():
        print(f"\n21 at random, seed 14: {plan.completion_time} / {plan.bound}; divided, 14 slots at load {load:.4f}")
    assert load <= 1
    assert flow_through_slots(network, active, 13) > 1
