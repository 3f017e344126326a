"""What the five papers leave open: each question's gap before this project looked at it, and now.

    pytest benchmarks/bench_open_questions.py -s

Prints a line for each question and case: the time and the bound that were known first, those of today, and which of the
two moved. The first are those of an audit, or of the tree before the question was taken up. The page
`docs/papers/open_questions.md` says what is proved and what is searched. That butterfly:5 takes 9 steps, where this
prints a bound of 8, is proved by `bench_butterfly_broadcast.py`, which also finds 10 steps for butterfly:6.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest

import gossamer
from gossamer.networks import from_networkx
from gossamer.simulation.random_arrivals import Settings, simulate
from gossamer.simulation.random_arrivals.schemes import scheme
from gossamer.simulation.random_arrivals.theory import best_bound, in_flight_bound

pytestmark = pytest.mark.filterwarnings("ignore")


class Case(NamedTuple):
    """A case of a question: what was known before (time, bound), and how to plan it now."""

    question: str
    before: tuple[Fraction | int, Fraction | int]
    spec: str | nx.Graph
    task: str
    words: dict
    rules: dict
    algorithm: str = "best"

    @property
    def where(self) -> str:
        """The network in words."""
        return self.spec if isinstance(self.spec, str) else str(self.spec)


def drawn(nodes, count, seed):
    return sorted(np.random.default_rng(seed).choice(nodes, count, replace=False).tolist())


def fractions(*texts):
    return tuple(Fraction(text) for text in texts)


SPLIT, ONE = {"split": True}, {"ports": "one"}
CASES = [
    Case("split broadcasts of few nodes", fractions("25/3", "5/3"), "torus:6x6x6", "partial-multinode-broadcast",
         {"active": drawn(216, 10, 0)}, SPLIT),
    Case("split broadcasts of few nodes", fractions("35/3", "10/3"), "array:6x6x6", "partial-multinode-broadcast",
         {"active": drawn(216, 10, 0)}, SPLIT),
    Case("allgather on arrays, one port", (20, 13), "array:12", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (24, 17), "array:16", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (18, 15), "array:4x4", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (10, 8), "array:3x3", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (17, 14), "array:3x5", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (29, 24), "array:5x5", "allgather", {}, ONE),
    Case("allgather on arrays, one port", (30, 26), "array:3x3x3", "allgather", {}, ONE),
    Case("allgather without structure, one port", (10, 8), nx.barbell_graph(3, 1), "allgather", {}, ONE),
    Case("allgather without structure, one port", (135, 127), nx.balanced_tree(2, 5), "allgather", {}, ONE),
    Case("allgather without structure, one port", (93, 69), nx.karate_club_graph(), "allgather", {}, ONE),
    Case("allgather without structure, one port", (79, 41), nx.barabasi_albert_graph(40, 2, seed=2), "allgather", {},
         ONE),
    Case("allgather without structure, one port", (258, 101), nx.barabasi_albert_graph(100, 2, seed=2), "allgather", {},
         ONE),
    Case("broadcast in groups", (6, 6), "torus:6x6", "group-multinode-broadcast",
         {"active": list(range(0, 36, 3))}, {}),
    Case("broadcast in groups", (13, 10), "array:5x7", "group-multinode-broadcast",
         {"active": drawn(35, 21, 499931)}, {}),
    Case("fat-tree exchange, any capacities", (11, 9), "fat-tree:k=2,h=3,capacity=2,2,4", "alltoall", {}, {}),
    Case("fat-tree exchange, any capacities", (17, 15), "fat-tree:k=2,h=3,capacity=1,1,2", "alltoall", {}, {}),
    Case("fat-tree exchange, any capacities", (31, 29), "fat-tree:k=2,h=4,capacity=1,2,2,4", "alltoall", {}, {}),
    Case("fat-tree exchange, any capacities", (21, 17), "fat-tree:k=2,h=4,capacity=2,2,4,8", "alltoall", {}, {}),
    Case("broadcast, one port", (7, 6), "extended-ring:40,4", "broadcast", {}, ONE, "exact"),
    Case("broadcast, one port", (9, 8), "butterfly:5", "broadcast", {}, ONE),
    Case("broadcast, one port", (11, 10), "star:6", "broadcast", {}, ONE),
    Case("exchange on 2-D arrays, one port", (49, 43), "array:4x4", "alltoall", {}, ONE),
    Case("partial exchange, few nodes", (16, 14), "torus:4x4x4", "partial-exchange", {"active": drawn(64, 21, 14)}, {}),
    Case("exchange, Cayley networks", (167, 154), "bubble-sort:5", "alltoall", {}, {}),
    Case("exchange, Cayley networks", (67, 64), "butterfly:4", "alltoall", {}, {}),
    Case("exchange, Cayley networks", (112, 111), "star:5", "alltoall", {}, {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{c.question}-{c.where}" for c in CASES])
def test_gap(case, capsys):
    network = case.spec if isinstance(case.spec, str) else from_networkx(nx.Graph(case.spec.edges), case.where)
    plan = gossamer.plan(
        network, gossamer.task(case.task, **case.words), rules=gossamer.Rules(**case.rules), algorithm=case.algorithm
    )
    was, now = (case.before[0] / case.before[1], float(plan.ratio))
    with capsys.disabled():
        print(
            f"\n{case.question}, {case.where}: before {case.before[0]} / {case.before[1]} ({float(was):.3f}), now "
            f"{plan.completion_time} / {plan.bound} ({now:.3f}) by {plan.algorithm}",
            end="",
        )
    assert plan.completion_time >= plan.bound >= case.before[1]


def test_groups_drawn_at_random(capsys):
    """Broadcasts in 400 groups of 3 nodes or more: how many are at their bounds, and those that are not."""
    left = []
    for spec in ("array:5x5", "array:5x7", "torus:6x6", "hypercube:5"):
        network = gossamer.network(spec)
        for seed in range(100):
            draw = np.random.default_rng(seed)
            count = int(draw.integers(3, network.node_count))
            active = sorted(draw.choice(network.node_count, count, replace=False).tolist())
            plan = gossamer.plan(network, gossamer.task("group-multinode-broadcast", active=active))
            if not plan.optimal:
                left.append(f"{plan.completion_time} / {plan.bound} for {count} nodes of {spec}, seed {seed}")
    with capsys.disabled():
        print(f"\nbroadcast in 400 groups drawn at random: {400 - len(left)} at the bound; {'; '.join(left)}", end="")


@pytest.mark.parametrize("name", ["fifo", "priority", "optimal", "mini-packets"])
def test_broadcast_delay(name, capsys):
    made = scheme(name, gossamer.network("torus:8x8"))
    for load in (0.8, 0.9, 0.95):
        found, bound = simulate(made, load=load, settings=Settings(steps=60_000)), best_bound(made, load)
        least = in_flight_bound(made, load, steps=60_000, copies=1 << 24)
        with capsys.disabled():
            print(
                f"\nbroadcast delay at load {load}, torus:8x8, {name}: {found.broadcast} at least {least} (before: at "
                f"least {bound[1]:.2f}), reception {found.reception} at least {bound[0]:.2f}",
                end="",
            )
        assert found.broadcast.mean + found.broadcast.half_width > least.mean - least.half_width


@pytest.mark.parametrize("name", ["flooding", "star-exchanges", "climbing-star-exchanges", "rising-star-exchanges"])
def test_steps_against_packets_in_fat_trees(name, capsys):
    plan = gossamer.plan("fat-tree:k=2,h=6", gossamer.task("allgather"), algorithm=f"fat-tree-{name}")
    with capsys.disabled():
        peak = gossamer.buffer_peak(plan.schedule).packets
        print(
            f"\nallgather on fat-tree:k=2,h=6, {name}: {plan.completion_time} steps, at least {plan.bound}, "
            f"{peak} packets (before: 65 with 25, or 74 with 2)",
            end="",
        )


ROUTERS = ("greedy", "Q", "H", "kunde-2", "kunde-4", "valiant-brebner", "random-slices", "random-nodes",
           "congestion-priced-paths")  # fmt: skip


def test_steps_against_buffers_of_permutations(capsys):
    """The means over ten random permutations, and who is beaten in both."""
    network = gossamer.network("array:16x16")
    from gossamer.questions.tasks.patterns import pattern

    found = {}
    for name in ROUTERS:
        rows = []
        for seed in range(10):
            task = gossamer.task("permutation", destination=pattern("random", network, seed=seed).tolist())
            plan = gossamer.plan(network, task, algorithm=name)
            rows.append((float(plan.completion_time), gossamer.buffer_peak(plan.schedule, counts="all").packets))
        found[name] = (float(np.mean([r[0] for r in rows])), max(r[1] for r in rows))
    with capsys.disabled():
        for name, (steps, packets) in sorted(found.items(), key=lambda item: (item[1][1], item[1][0])):
            beaten = [b for b, (s, p) in found.items() if (s <= steps and p <= packets and (s, p) != (steps, packets))]
            front = "on the frontier" if not beaten else f"beaten by {beaten[0]}"
            print(
                f"\n10 random permutations of array:16x16, {name}: {steps:.1f} steps, {packets} packets, {front}",
                end="",
            )


@pytest.mark.parametrize("spec", ["array:4x4", "array:5x5", "hypercube:4", "torus:4x4"])
def test_steps_with_one_packet_in_transit(spec, capsys):
    """With all moves known ahead: the steps of random and of worst permutations with 1 packet in transit."""
    network = gossamer.network(spec)
    from gossamer.questions.tasks.patterns import pattern

    for name, seed in [("random", 0), ("random", 1), ("random", 2), ("random", 3), ("transpose", 0), ("reversal", 0)]:
        task = gossamer.task("permutation", destination=pattern(name, network, seed=seed).tolist())
        plan = gossamer.plan(network, task, algorithm="exact", rules=gossamer.Rules(buffer=1))
        least = gossamer.lower_bounds(network, task)[0].value
        with capsys.disabled():
            print(
                f"\nsteps against buffers, {spec}, {name} {seed}: {plan.completion_time} steps with 1 packet in "
                f"transit, at least {least} with any number",
                end="",
            )
