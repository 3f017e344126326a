"""Schedules of all kinds that a certificate can be of, each by a seed."""

from __future__ import annotations

import random
from dataclasses import replace

import gossamer
from gossamer.errors import GossamerError
from gossamer.graphs.modulo_scheduling import Generation
from gossamer.questions.tasks import COMBINE, DemandTable, PartialSumAllreduce, in_packets
from gossamer.schedules import Schedule
from gossamer.verification import buffer_peak
from schedules.timed_strategies import random_schedule

NETWORKS = (
    "ring:5", "array:2x3", "torus:3x3", "hypercube:3", "star:3", "complete:4", "ccc:2", "kautz:2,2", "fat-tree:k=2,h=2",
    "fat-tree:k=2,h=2,capacity=exponential", "torus:2x3,occupancy=2x1,latency=1x0", "circulant:7,1,2",
)  # fmt: skip
TASKS = ("broadcast", "scatter", "gather", "reduce", "allgather", "reduce-scatter", "alltoall", "allreduce")


def planned(rng: random.Random) -> Schedule:
    """A plan of a usual collective."""
    rules = gossamer.Rules(
        ports=rng.choice(["all", "all", "one", "one-send", "one-receive"]), segmented=rng.random() < 0.2,
        cut_through=rng.random() < 0.5, replication=rng.random() < 0.5, reduction=rng.random() < 0.5,
    )  # fmt: skip
    network = gossamer.network(rng.choice(NETWORKS))
    return gossamer.plan(network, rng.choice(TASKS), rules=rules.on(network)).schedule


def of_sums(rng: random.Random) -> Schedule:
    """A plan of an allreduce by partial sums."""
    rules = gossamer.Rules(cut_through=rng.random() < 0.5, replication=rng.random() < 0.7)
    network = gossamer.network(rng.choice(NETWORKS))
    task = in_packets(PartialSumAllreduce(), rng.randint(1, 2))
    return gossamer.plan(network, task, rules=rules.on(network)).schedule


def repeated(rng: random.Random) -> Schedule:
    """A plan whose generations follow each other."""
    network = gossamer.network(rng.choice(NETWORKS[:6]))
    network = network.with_times(*rng.choice([(1, 0), (2, 3), (3, 0)]))
    task = in_packets(gossamer.task(rng.choice(TASKS)), rng.randint(1, 2))
    plan = gossamer.plan(network, task, rules=gossamer.Rules(ports=rng.choice(["all", "one"]))).schedule
    return Generation(plan.unrolled(1).expand()).repeated(rng.randint(2, 5))


def tabled(rng: random.Random) -> Schedule:
    """A plan of a table of demands and contributions."""
    network = gossamer.network(rng.choice(NETWORKS))
    ranks = range(network.terminal_count)
    rows = [rng.sample(ranks, rng.randint(2, 3)) for _ in range(4)]
    demands = [(row[0], row[1:], rng.randint(1, 2)) for row in rows[:2]]
    sums = [(row, [rng.choice(row)], 1) for row in rows[2:]]
    sums.append((rows[0], rows[1], rng.randint(1, 2)))
    return gossamer.plan(network, DemandTable.of(demands, contributions=sums)).schedule


def timed(rng: random.Random) -> Schedule:
    """A random schedule with times, switches and shared ports, or the reverse of one."""
    seed = rng.randrange(10**6)
    if rng.random() < 0.4:
        return random_schedule(seed, two_way=True, plain=rng.random() < 0.3).reverse()
    return random_schedule(seed, plain=rng.random() < 0.3)


KINDS = (planned, timed, of_sums, repeated, tabled)


def sample(seed: int) -> Schedule:
    """Return a valid schedule; now and then, without sums, its rules limit buffers as narrowly as it allows."""
    rng = random.Random(seed)
    while True:
        try:
            found = rng.choice(KINDS)(rng)
            if rng.random() < 0.25 and not (found.messages.discipline >= COMBINE).any():
                counts = rng.choice(["transit", "all"] if found.repetition is None else ["transit"])
                peak = max(1, buffer_peak(found, counts).packets)
                found = found.replace(rules=replace(found.rules, buffer=peak, buffer_counts=counts))
            if gossamer.verify(found).ok:
                return found
        except GossamerError:
            continue
