"""Routing instances of every class of Han 1990 on an array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import gossamer
from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.routing.move_and_smooth import MOVE_AND_SMOOTH
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.tasks import OneToManyRouting, Permutation, Task
from gossamer.questions.tasks.patterns import pattern


def algorithm(name: str, task: type[Task] = Permutation) -> Algorithm:
    """Return the algorithm of that name for the task."""
    return next(a for a in MOVE_AND_SMOOTH if a.name == name and task in a.tasks)


def permutation(network: Network, moves: dict) -> Permutation:
    """Return the partial permutation with the given destination for each source, nodes as coordinates."""
    sides = network.grid.sides
    destination = [-1] * network.node_count
    for source, target in moves.items():
        destination[int(np.ravel_multi_index(source, sides))] = int(np.ravel_multi_index(target, sides))
    return Permutation(tuple(destination))


def broadcasts(network: Network, sources: int, draw: np.random.Generator, density: float = 1.0) -> OneToManyRouting:
    """Return messages of some nodes that together go to a share of all nodes."""
    n = network.node_count
    origin = draw.choice(n, sources, replace=False)
    of = np.where(draw.random(n) < density, draw.integers(0, sources, n), -1)
    sets: list[tuple[int, ...]] = [()] * n
    for i, u in enumerate(origin):
        sets[u] = tuple(np.flatnonzero(of == i).tolist())
    return OneToManyRouting(tuple(sets))


def partial(network: Network, density: float, draw: np.random.Generator) -> Permutation:
    """Return a random permutation of which a share of the messages is sent."""
    n = network.node_count
    return Permutation(tuple(np.where(draw.random(n) < density, draw.permutation(n), -1).tolist()))


def every_class(network: Network, seed: int) -> Iterator[Task]:
    """Yield an instance of every class: named, full, partial, adversarial, broadcast."""
    draw = np.random.default_rng(seed)
    square = len(set(network.grid.sides)) == 1 and network.grid.dimensions == 2
    power = network.node_count & (network.node_count - 1) == 0
    names = ["transpose", "reversal", "row-reversal", "identity"]
    names += ["bit-reversal", "shuffle", "complement"] if power else []
    names += ["packed-triangle", "packed-rows", "packed-columns"] if square and power else []
    for name in names:
        yield Permutation(tuple(pattern(name, network, seed=seed).tolist()))
    yield Permutation(tuple(draw.permutation(network.node_count).tolist()))
    yield partial(network, float(draw.uniform(0.05, 0.95)), draw)
    yield broadcasts(network, int(draw.integers(1, max(network.node_count // 2, 2))), draw)
    yield broadcasts(network, 1, draw, 0.5)


def run(name: str, network: Network, task: Task, buffer: int | None = None):
    """Return the verified schedule of an algorithm with buffers counted, its steps of messages and of counting."""
    rules = gossamer.Rules(buffer=buffer, buffer_counts="all")
    schedule = algorithm(name, type(task)).build(Case(network, task, rules, gossamer.StepCost(1)))
    found = gossamer.verify(schedule)
    assert found, found
    control = sum(p.slots for p in schedule.phases if p.control)
    return schedule, schedule.slot_count - control, control
