"""Small random demands: tables of copies, moves and reductions, tasks in groups, and tasks that wait; all by a seed."""

from __future__ import annotations

import random

from bounds.timed_cases import PORTS, random_network
from gossamer import Network, Rules
from gossamer.questions.tasks import DemandTable, Grouped, Task, Together, task

RANKED = ("broadcast", "reduce", "scatter", "gather", "allgather", "reduce-scatter", "alltoall", "allreduce")


def random_table(rng: random.Random, n: int, rows: int, largest: int = 2) -> DemandTable:
    """A table of a few rows: copies, moves and reductions, some of whose results go on, of 1 or more packets each."""
    demands, contributions = [], []
    for _ in range(rows):
        size = rng.choice([1, 1, largest])
        some = rng.sample(range(n), rng.randint(2, n))
        if rng.random() < 0.5:
            demands.append((some[0], some[1:], size))
        else:
            roots = rng.sample(range(n), rng.choice([1, 1, 2]))
            shares = some if some != roots[:1] else [v for v in range(n) if v != roots[0]]
            contributions.append((shares, roots, size))
    return DemandTable.of(demands, contributions)


def random_groups(rng: random.Random, n: int) -> Grouped:
    """A task in one or two groups, which may share nodes."""
    size = rng.randint(2, n)
    groups = [rng.sample(range(n), size) for _ in range(rng.choice([1, 1, 2]))]
    return Grouped(task(rng.choice(RANKED)), groups)


def random_demands(rng: random.Random, n: int) -> Task:
    """A table, a task in groups, or two or three of these, of which some wait for others."""
    kind = rng.randrange(4)
    if kind == 0:
        return random_table(rng, n, rng.randint(1, 4))
    if kind == 1:
        return random_groups(rng, n)
    count = rng.choice([2, 2, 3])
    several = [
        rng.choice(
            [
                lambda: random_table(rng, n, rng.randint(1, 2), 1),
                lambda: random_groups(rng, n),
                lambda: task("broadcast", root=rng.randrange(n)),
                lambda: task("reduce", root=rng.randrange(n)),
            ]
        )()
        for _ in range(count)
    ]
    waits = [(later, earlier) for later in range(count) for earlier in range(later) if rng.random() < 0.7]
    return Together(several, waits=waits)


def demand_case(seed: int, most: int = 4) -> tuple[Network, Task, Rules]:
    """A network, perhaps with times and switches, demands, and rules."""
    rng = random.Random(seed)
    network = random_network(rng, most)
    asked = random_demands(rng, network.terminal_count)
    switches = network.terminal_count < network.node_count
    rules = Rules(
        ports=rng.choice(PORTS),
        cut_through=switches and rng.random() < 0.3,
        replication=not switches or rng.random() < 0.6,
        reduction=switches and rng.random() < 0.5,
    )
    return network, asked, rules
