"""How often each lower bound is the largest one, and the only largest one, over networks, tasks and rules.

A bound that is never the only largest one is told by others; whether it stays depends on what it explains.

    python benchmarks/bench_bounds_census.py [--each 200] [--seed 1] [--kinds plain timed]
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator

import networkx as nx
import numpy as np

import gossamer
from gossamer import Rules
from gossamer.bounds import Bound, bounds
from gossamer.errors import GossamerError
from gossamer.networks import SharedPorts, from_networkx
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import TASKS, DemandTable, Grouped, Task, Together
from gossamer.testing import NETWORKS, tasks_of

PORTS = ("all", "all", "one", "one-send", "one-receive")
KINDS = ("plain", "larger", "random", "faulty", "timed", "switched", "shared ports", "groups", "waiting",
         "large", "fat trees", "packets")  # fmt: skip
LARGER = ("torus:6x6", "torus:4x5x3", "array:7x7", "array:15", "ring:24", "hypercube:6", "fat-tree:k=2,h=5",
          "fat-tree:k=4,h=2", "complete:17", "star:4", "ccc:3", "butterfly:3", "torus:5x8,capacity=1x3",
          "dgx-a100:servers=3", "array:4x4x4")  # fmt: skip
LARGE = ("torus:12x12", "torus:6x6x6", "array:20x12", "array:8x8x8", "hypercube:8", "ring:60", "star:5", "ccc:4",
         "fat-tree:k=2,h=6", "dgx-a100:servers=8")  # fmt: skip
RANKED = ("broadcast", "reduce", "scatter", "gather", "allgather", "reduce-scatter", "alltoall", "allreduce")


def graph(draw: random.Random) -> Network:
    """Return a connected network of a random graph: of few links, of many, a tree, cliques in a row, or two sides."""
    n, seed = draw.randint(4, 14), draw.randrange(1 << 30)
    kind = draw.randrange(5)
    if kind == 0:
        return from_networkx(nx.random_labeled_tree(n, seed=seed), "tree")
    if kind == 1:
        return from_networkx(nx.barbell_graph(draw.randint(3, 5), draw.randint(0, 3)), "barbell")
    if kind == 2:
        return from_networkx(nx.complete_bipartite_graph(draw.randint(1, 4), draw.randint(2, 7)), "two sides")
    density = 0.25 if kind == 3 else 0.5
    while True:
        found = nx.gnp_random_graph(n, density, seed=seed)
        if nx.is_connected(found):
            return from_networkx(found, "random")
        seed += 1


def directed(draw: random.Random, terminals: int, switches: int) -> Network:
    """Return a strongly connected network, perhaps with one-way links, whose links differ in capacity and times."""
    n = terminals + switches
    while True:
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if draw.random() < 0.6]
        links = sorted({p for p in pairs if draw.random() < 0.9} | {p[::-1] for p in pairs if draw.random() < 0.9})
        found = nx.DiGraph(links)
        if len(found) < n or not nx.is_strongly_connected(found):
            continue
        slow, late = draw.choice([[1], [1, 1, 2], [1, 2, 5]]), draw.choice([[0], [0, 0, 1], [0, 1, 4]])
        rows = [
            (u, v, draw.choice([1, 1, 2]), draw.choice(slow), max(int(min(u, v) >= terminals), draw.choice(late)))
            for u, v in links
        ]
        source, target, capacity, occupancy, latency = zip(*rows, strict=True)
        return Network("directed", n, source, target, capacity, link_occupancy=occupancy, link_latency=latency,
                       terminal_count=terminals, links_only=True)  # fmt: skip


def faulty(draw: random.Random) -> Network | None:
    """Return a network of a family without some of its links, None if nothing connected is left."""
    network = gossamer.network(draw.choice(("torus:4x4", "array:4x4", "hypercube:4", "torus:3x5", "ring:9", "ccc:3")))
    found = nx.Graph(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    found.remove_edges_from(draw.sample(sorted(found.edges), draw.randint(1, 4)))
    return from_networkx(found, "faulty") if nx.is_connected(found) else None


def timed(draw: random.Random) -> Network:
    """Return a network of a family whose links take time: all the same, or each its own."""
    network = gossamer.network(draw.choice(("torus:3x4", "array:3x3", "ring:7", "hypercube:3", "complete:5", "star:3")))
    if draw.random() < 0.4:
        return network.with_times(draw.randint(1, 4), draw.randint(0, 5))
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    links = network.link_count
    return network.with_times(numbers.integers(1, 4, links), numbers.integers(0, 4, links))


def sharing(draw: random.Random) -> Network:
    """Return a network whose links share ports: those of a node, or those of two neighboring numbers."""
    network = directed(draw, draw.randint(3, 6), draw.randint(0, 2))
    group = draw.choice((1, 2))
    sides = network.link_source // group, network.link_target // group
    held = np.full(int(max(side.max() for side in sides)) + 1, 99)
    for side in sides:
        np.minimum.at(held, side, network.link_occupancy)
    return network.with_ports(SharedPorts(*sides, np.ones_like(held), np.minimum(held, draw.randint(1, 3))))


def table(draw: random.Random, n: int) -> DemandTable:
    """Return a few demands for copies and for sums, of 1 or 2 packets each."""
    copies, sums = [], []
    for _ in range(draw.randint(1, 4)):
        some, size = draw.sample(range(n), draw.randint(2, n)), draw.choice((1, 1, 2))
        if draw.random() < 0.5:
            copies.append((some[0], some[1:], size))
        else:
            sums.append((some, draw.sample(range(n), draw.choice((1, 2))), size))
    return DemandTable.of(copies, [(shares, roots, size) for shares, roots, size in sums if shares != roots])


def grouped(draw: random.Random, n: int) -> Grouped:
    """Return a collective in one or two groups."""
    size = draw.randint(2, n)
    return Grouped(gossamer.task(draw.choice(RANKED)), [draw.sample(range(n), size) for _ in range(draw.randint(1, 2))])


def waiting(draw: random.Random, n: int) -> Together:
    """Return two or three tasks of which some wait for others."""
    several: list[Task] = [draw.choice((table, grouped))(draw, n) for _ in range(draw.randint(2, 3))]
    pairs = [(later, earlier) for later in range(len(several)) for earlier in range(later) if draw.random() < 0.7]
    return Together(several, waits=pairs)


def large(draw: random.Random) -> Network:
    """Return a network of a hundred nodes or more: of a family, or a random graph, perhaps of several parts."""
    seed = draw.randrange(1 << 30)
    if draw.random() < 0.5:
        return gossamer.network(draw.choice(LARGE))
    found: nx.Graph = draw.choice((
        lambda: nx.random_regular_graph(4, 100, seed=seed),
        lambda: nx.random_internet_as_graph(120, seed=seed),
        lambda: nx.connected_caveman_graph(12, 9),
        lambda: nx.barabasi_albert_graph(110, 2, seed=seed),
        lambda: nx.random_labeled_tree(100, seed=seed),
    ))()  # fmt: skip
    return from_networkx(found, "large")


def fat_tree(draw: random.Random) -> Network:
    """Return a fat tree of two or three levels, with branches of some capacities."""
    k, h = draw.choice(((2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (4, 2)))
    capacities = ",".join(str(c) for c in sorted(draw.randint(1, 2 * k**i) for i in range(h)))
    return gossamer.network(f"fat-tree:k={k},h={h}" + (f",capacity={capacities}" if draw.random() < 0.8 else ""))


def network_of(kind: str, draw: random.Random) -> Network | None:
    """Return a network of a kind."""
    if kind == "plain":
        return gossamer.network(draw.choice(NETWORKS))
    if kind == "larger":
        return gossamer.network(draw.choice(LARGER))
    if kind == "random":
        return graph(draw)
    if kind == "faulty":
        return faulty(draw)
    if kind == "timed":
        return timed(draw)
    if kind == "switched":
        return directed(draw, draw.randint(2, 6), draw.randint(1, 4))
    if kind == "large":
        return large(draw)
    if kind == "fat trees":
        return fat_tree(draw)
    if kind == "packets":
        return draw.choice((graph, lambda draw: gossamer.network(draw.choice(NETWORKS))))(draw)
    if kind == "shared ports":
        return sharing(draw)
    return draw.choice((graph, timed, lambda draw: directed(draw, draw.randint(3, 6), draw.randint(0, 2))))(draw)


def cases(kind: str, count: int, seed: int) -> Iterator[Case]:
    """Yield so many cases of a kind in which something has to move."""
    draw = random.Random(f"{kind} {seed}")
    names = list(TASKS)
    while count:
        try:
            network = network_of(kind, draw)
            if network is None or network.terminal_count < 2:
                continue
            n = network.terminal_count
            if kind == "groups":
                task: Task = draw.choice((table, grouped))(draw, n)
            elif kind == "waiting":
                task = waiting(draw, n)
            elif kind == "packets":
                name = draw.choice(("broadcast", "reduce", "allreduce", "scatter"))
                task = gossamer.task(name, packets=draw.randint(2, 40))
            else:
                every = list(tasks_of(TASKS[draw.choice(names)], network, draw.randrange(100)))
                if not every:
                    continue
                task = draw.choice(every)
            switches = n < network.node_count
            rules = Rules(ports=draw.choice(PORTS), split=draw.random() < 0.25,
                          cut_through=switches and draw.random() < 0.3,
                          replication=not switches or draw.random() < 0.6,
                          reduction=switches and draw.random() < 0.5)  # fmt: skip
            case = Case(network, task, rules)
            if not case.demands:
                continue
        except GossamerError:
            continue
        count -= 1
        yield case


def census(found: tuple[Bound, ...]) -> tuple[set[str], bool]:
    """Return the names of the largest bounds, and whether there is but one."""
    names = {bound.name.split(" dimension")[0].split(" factor")[0] for bound in found if bound.value == found[0].value}
    return names, len(names) == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=200, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    chosen = parser.parse_args()
    seen, largest, alone, where = Counter[str](), Counter[str](), Counter[str](), Counter[tuple[str, str]]()
    total, began = 0, time.process_time()
    for kind in chosen.kinds:
        for case in cases(kind, chosen.each, chosen.seed):
            found = bounds(case)
            total += 1
            seen.update({bound.name.split(" dimension")[0].split(" factor")[0] for bound in found})
            names, one = census(found)
            largest.update(names)
            if one:
                alone.update(names)
                where.update((name, kind) for name in names)
    print(f"{total:,} cases, {time.process_time() - began:.0f} s of CPU")
    print(f"{'bound':36} {'told':>6} {'largest':>8} {'alone':>6}  where alone")
    for name in sorted(seen, key=lambda name: (-alone[name], -largest[name], name)):
        places = ", ".join(f"{kind} {where[name, kind]}" for kind in KINDS if where[name, kind])
        print(f"{name:36} {seen[name]:6,} {largest[name]:8,} {alone[name]:6,}  {places}")


if __name__ == "__main__":
    main()
