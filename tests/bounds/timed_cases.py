"""Small networks whose links differ in capacity and times, with switches, tasks and rules; all by a seed."""

from __future__ import annotations

import random

import networkx as nx

from gossamer import Network, Rules
from gossamer.networks import SharedPorts
from gossamer.questions.tasks import (
    Allreduce,
    Broadcast,
    Gather,
    GroupMultinodeBroadcast,
    MultinodeBroadcast,
    OneToManyRouting,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    Permutation,
    Reduce,
    ReduceScatter,
    Scatter,
    Task,
    TotalExchange,
)

PORTS = ("all", "all", "one", "one-send", "one-receive")


def random_network(rng: random.Random, most: int = 5) -> Network:
    """A strongly connected network, perhaps with one-way and parallel links."""
    while True:
        n = rng.randint(3, most)
        terminals = n - rng.choice([0, 0, 1, 1, 2])
        if terminals < 2:
            continue
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.6]
        links = sorted(
            {(u, v) for u, v in pairs if rng.random() < 0.9} | {(v, u) for u, v in pairs if rng.random() < 0.9}
        )
        graph = nx.DiGraph(links)
        if len(graph) < n or not nx.is_strongly_connected(graph):
            continue
        slow, late = rng.choice([[1], [1, 1, 2], [1, 2, 3]]), rng.choice([[0], [0, 0, 1], [0, 1, 3]])
        kinds = {}
        for u, v in links:
            # between switches, a packet that is passed on at once must not come back in the same slot
            least = int(min(u, v) >= terminals)
            kinds[u, v] = [(rng.choice([1, 1, 2]), rng.choice(slow), max(least, rng.choice(late)))]
            if rng.random() < 0.1:
                _, occupancy, latency = kinds[u, v][0]
                kinds[u, v].append((rng.choice([1, 2]), occupancy + rng.choice([0, 1]), latency + 1))
        rows = [(u, v, *kind) for u, v in links for kind in kinds[u, v]]
        source, target, capacity, occupancy, latency = zip(*rows, strict=True)
        return Network(
            "g", n, source, target, capacity, link_occupancy=occupancy, link_latency=latency,
            terminal_count=terminals, links_only=True,
        )  # fmt: skip


def random_ports(rng: random.Random, network: Network) -> SharedPorts:
    """One to three ports: a port of some nodes, each of its own or one for several, or of any links."""
    count = rng.randint(1, 3)
    if rng.random() < 0.6:
        of_node = [rng.choice([-1, *range(count)]) for _ in range(network.node_count)]
        sides = [[of_node[v] for v in ends.tolist()] for ends in (network.link_source, network.link_target)]
    else:
        sides = [[rng.randint(-1, count - 1) for _ in range(network.link_count)] for _ in range(2)]
    held = [9] * count
    for side in sides:
        for e, p in enumerate(side):
            held[p] = min(held[p], int(network.link_occupancy[e])) if p >= 0 else held[p]
    return SharedPorts(*sides, [rng.choice([1, 1, 1, 2]) for _ in held], [rng.randint(1, most) for most in held])


def random_task(rng: random.Random, n: int) -> Task:
    """A task among n terminals."""
    u, v = rng.sample(range(n), 2)
    lists = [sorted(rng.sample(range(n), 2)) if w == u else [] for w in range(n)]
    some = rng.sample(range(n), rng.randint(1, n))
    return rng.choice(
        [Broadcast(u), Scatter(u), Gather(u), Reduce(u), MultinodeBroadcast(), ReduceScatter(), TotalExchange(),
         PartialExchange(some), PartialGather([v]), PartialMultinodeBroadcast(some), PartialReduceScatter([u]),
         GroupMultinodeBroadcast([u, v]), Permutation([(w + u + 1) % n for w in range(n)]), OneToManyRouting(lists),
         Allreduce()]
    )  # fmt: skip


def random_case(seed: int, most: int = 5) -> tuple[Network, Task, Rules, int]:
    """A network, a task, rules, and into how many parts a message is cut."""
    rng = random.Random(seed)
    network = random_network(rng, most)
    ports = random.Random(seed + 1_000_000)
    if ports.random() < 0.4:
        network = network.with_ports(random_ports(ports, network))
    task = random_task(rng, network.terminal_count)
    parts = rng.choice([1, 1, 1, 2])
    switches = network.terminal_count < network.node_count
    rules = Rules(
        ports=rng.choice(PORTS),
        split=parts > 1,
        cut_through=switches and rng.random() < 0.5,
        replication=not switches or rng.random() < 0.6,
        reduction=switches and rng.random() < 0.5,
    )
    return network, task, rules, parts
