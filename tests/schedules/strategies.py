"""Hypothesis strategies for schedules: small networks, tasks on them, legal schedules, and ways to break them."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import gossamer
from gossamer.errors import GossamerError, TaskError
from gossamer.networks import Network
from gossamer.questions.costs import StepCost
from gossamer.questions.tasks import (
    TASKS,
    DemandTable,
    GroupMultinodeBroadcast,
    MultipleBroadcast,
    MultipleReduce,
    NeighborExchange,
    OneToManyRouting,
    PartialExchange,
    PartialGather,
    PartialMultinodeBroadcast,
    PartialReduceScatter,
    Permutation,
    Task,
    UnevenExchange,
    UnevenGather,
    UnevenScatter,
)
from gossamer.schedules import CONTROL, Packets, Phase, Schedule, Symmetry

COPY, MOVE, COMBINE = 0, 1, 2

NAMES = tuple(name for name in TASKS if name not in ("neighbor-exchange", "partial-sum-allreduce"))
"""Tasks that say their messages whatever the links are, and whose reductions have roots."""

SPECS = (
    "array:2", "array:5", "array:3x3", "array:2x2x2", "ring:3", "ring:6", "torus:3x3", "torus:2x3", "hypercube:3",
    "star:3", "complete:4", "circulant:7,1,2", "ccc:2", "product:(array:2)x(complete:3)", "fat-tree:k=2,h=2",
    "fat-tree:k=2,h=2,capacity=exponential", "fat-tree:k=3,h=1,capacity=2", "fat-tree:k=2,h=3,capacity=1,2,2",
)  # fmt: skip


@st.composite
def graphs(draw, two_way: bool | None = None) -> Network:
    """A connected network given by its links alone, with several capacities and perhaps nodes that only pass on."""
    n = draw(st.integers(2, 7))
    rng = random.Random(draw(st.integers(0, 2**32)))
    edges = {(rng.randrange(v), v) for v in range(1, n)}
    edges |= {(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.3}
    links = [*edges, *((v, u) for u, v in edges)]
    if not (draw(st.booleans()) if two_way is None else two_way):
        links += [(i, (i + 1) % n) for i in range(n) if n > 2]  # a one-way ring keeps the network connected
        links = [e for e in sorted(set(links)) if e[1] == (e[0] + 1) % n or rng.random() < 0.7]
    links = sorted(set(links))
    wide = draw(st.integers(1, 3))
    width = {frozenset(e): rng.randint(1, wide) for e in links}
    return Network(
        "some graph",
        n,
        [u for u, _ in links],
        [v for _, v in links],
        [width[frozenset(e)] if two_way else rng.randint(1, wide) for e in links],
        terminal_count=draw(st.integers(1, n)),
        links_only=True,
    )


networks = st.sampled_from(SPECS).map(gossamer.network) | graphs()


@st.composite
def tasks(draw, network: Network, names: tuple[str, ...] = NAMES) -> Task:
    """Any task that fits the network."""
    n = network.terminal_count
    kind = TASKS[draw(st.sampled_from(names))]
    if kind in (
        *(PartialMultinodeBroadcast, GroupMultinodeBroadcast, PartialReduceScatter),
        *(PartialExchange, PartialGather),
    ):
        return kind(draw(st.sets(st.integers(0, n - 1), min_size=1)))
    if kind in (MultipleBroadcast, MultipleReduce):
        return kind(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    if kind is Permutation:
        targets = draw(st.permutations(range(n)))
        return Permutation([v if draw(st.integers(0, 4)) else -1 for v in targets])
    if kind is OneToManyRouting:
        rows: list[list[int]] = [[] for _ in range(n)]
        for v in range(n):
            u = draw(st.integers(-1, n - 1))
            if u >= 0:
                rows[u].append(v)
        return OneToManyRouting(rows)
    if kind is UnevenExchange:
        return kind([[0 if u == v else draw(st.integers(0, 2)) for v in range(n)] for u in range(n)])
    if kind in (UnevenScatter, UnevenGather):
        return kind(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), draw(st.integers(0, n - 1)))
    if kind is DemandTable:
        return draw(demand_tables(n))
    if kind is NeighborExchange:
        with suppress(TaskError):
            NeighborExchange().check(network)
            return NeighborExchange()
        return TASKS["total-exchange"]()
    return kind(draw(st.integers(0, n - 1))) if hasattr(kind, "root") else kind()


@st.composite
def demand_tables(draw, n: int) -> DemandTable:
    """Any small table of demands, and of contributions with one destination."""
    if n == 1:
        return DemandTable.of()
    demands, contributions = [], []
    for _ in range(draw(st.integers(0, 4))):
        u, *ends = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=4, unique=True))
        demands.append((u, ends, draw(st.integers(1, 3))))
    for _ in range(draw(st.integers(0, 2))):
        root, *shares = draw(st.lists(st.integers(0, n - 1), min_size=2, max_size=4, unique=True))
        contributions.append((shares, [root], draw(st.integers(1, 2))))
    return DemandTable.of(demands, contributions)


class Builder:
    """Fills slots with randomly chosen legal hops until the task is done; plain Python, for small networks."""

    def __init__(
        self, rng: random.Random, network: Network, task: Task, parts: int, ports: str, symmetry: Symmetry | None
    ) -> None:
        self.rng, self.network, self.ports, self.symmetry = rng, network, ports, symmetry
        self.ends = list(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
        self.messages = task.messages(network, None if symmetry is None else symmetry.terminals)
        self.table = Packets.of(self.messages, parts)
        self.row = np.searchsorted(self.messages.ids, self.table.message).tolist()
        self.kind = self.messages.discipline[self.row].tolist() if self.row else []
        self.origin = self.table.origin.tolist()
        m = self.messages
        every = list(range(network.terminal_count))
        self.targets = [
            every if m.targets is None else m.targets[m.target_start[r] : m.target_start[r + 1]].tolist()
            for r in self.row
        ]
        self.to = {v: self.distances_to(v) for v in range(network.node_count)}
        self.has = [{v} for v in self.origin]  # of copied packets the holders, of moved ones the place
        self.detours = [rng.choice([0, 0, 1, 2]) for _ in self.origin]
        self.trees = [
            self.tree(v, shares) if k == COMBINE else {}
            for v, k, shares in zip(self.origin, self.kind, self.targets, strict=True)
        ]

    def distances_to(self, target: int) -> list[int]:
        """Hops to the target from every node."""
        far = [-1] * self.network.node_count
        far[target], frontier = 0, [target]
        for v in frontier:
            for u, w in self.ends:
                if w == v and far[u] < 0:
                    far[u] = far[v] + 1
                    frontier.append(u)
        return far

    def nearer(self, u: int, target: int) -> int:
        """A random link from u towards the target."""
        far = self.to[target]
        return self.rng.choice([e for e, (a, b) in enumerate(self.ends) if a == u and far[b] == far[u] - 1])

    def tree(self, root: int, shares: list[int]) -> dict[int, int]:
        """For a reduction, the link by which each node that takes part sends its share on."""
        up: dict[int, int] = {}
        for v in shares:
            while v != root and v not in up:
                up[v] = self.nearer(v, root)
                v = self.ends[up[v]][1]
        return up

    def wishes(self, p: int) -> list[int]:
        """The links that packet p could cross next."""
        if self.kind[p] == MOVE:
            (u,) = self.has[p]
            if u == self.targets[p][0]:
                return []
            if self.detours[p]:
                self.detours[p] -= 1
                around = [e for e, (a, b) in enumerate(self.ends) if a == u and self.to[self.targets[p][0]][b] >= 0]
                return [self.rng.choice(around)]
            return [self.nearer(u, self.targets[p][0])]
        if self.kind[p] == COMBINE:
            awaited = {self.ends[e][1] for e in self.trees[p].values()}
            return [e for u, e in self.trees[p].items() if u not in awaited]
        row = self.row[p]
        if self.messages.after is not None and self.messages.after[row] >= 0:
            needed = [q for q, r in enumerate(self.row) if r == self.messages.after[row]]
            if any(self.trees[q] for q in needed):
                return []
        if set(self.targets[p]) <= self.has[p]:
            return []
        return [e for e, (u, v) in enumerate(self.ends) if u in self.has[p] and v not in self.has[p]]

    def classes(self, e: int) -> tuple[object, int, int]:
        """What stands for a link and its ends when resources are counted."""
        u, v = self.ends[e]
        if self.symmetry is None:
            return e, u, v
        orbit = self.symmetry.orbit
        return int(self.symmetry.link_orbit(e)), int(orbit[u]), int(orbit[v])

    def hops(self) -> list[tuple[int, int, int]]:
        """All hops (slot, link, packet)."""
        rows, t = [], 0
        while True:
            wishes = [(e, p) for p in range(len(self.kind)) for e in self.wishes(p)]
            if not wishes:
                return rows
            self.rng.shuffle(wishes)
            links: Counter[object] = Counter()
            sends, gets, arriving, leaving = set(), set(), set(), set()
            for e, p in wishes:
                u, v = self.ends[e]
                link, a, b = self.classes(e)
                busy = links[link] >= self.network.link_capacity[e] or (p, v) in arriving or self.rng.random() < 0.1
                if busy or (self.ports != "all" and a in sends) or (self.ports == "one" and b in gets):
                    continue
                links[link] += 1
                sends.add(a)
                gets.add(b)
                leaving.add((p, u, v))
                if self.kind[p] == COPY:
                    arriving.add((p, v))
                rows.append((t, e, p))
            for p, u, v in leaving:
                if self.kind[p] == COMBINE:
                    del self.trees[p][u]
                else:
                    self.has[p].add(v)
                    if self.kind[p] == MOVE:
                        self.has[p].remove(u)
            t += 1


def build(
    seed: int, network: Network, task: Task, *, ports: str = "all", parts: int = 1, symmetry: Symmetry | None = None
) -> Schedule:
    """Return a legal schedule of the task, chosen at random by `seed`."""
    builder = Builder(random.Random(seed), network, task, parts, ports, symmetry)
    rows = builder.hops()
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    model = gossamer.Rules(ports=ports, split=parts > 1, reduction=True).on(network)
    return Schedule(network, task, model, *columns, parts=parts, symmetry=symmetry, algorithm="random")


@st.composite
def phased(draw, schedule: Schedule) -> Schedule:
    """The schedule with a phase of control packets in front, and its slots cut into phases of several lengths."""
    lead = draw(st.integers(0, 2))
    links = [draw(st.integers(0, schedule.network.link_count - 1)) for _ in range(lead)]
    cut = draw(st.integers(0, schedule.slot_count))
    length = Fraction(1, schedule.parts)
    phases = [
        Phase("control", lead, Fraction(1, 3), control=True),
        Phase("first", cut, length * draw(st.integers(1, 3))),
        Phase("second", schedule.slot_count - cut, length),
    ]
    return schedule.replace(
        cost=StepCost("1/3"),
        slot=np.concatenate([np.arange(lead, dtype=np.int32), schedule.slot + lead]),
        link=np.concatenate([np.array(links, np.int32), schedule.link]),
        packet=np.concatenate([np.full(lead, CONTROL, np.int32), schedule.packet]),
        phases=phases if lead else phases[1:],
    )


@st.composite
def schedules(draw, names: tuple[str, ...] = NAMES, two_way: bool = False) -> Schedule:
    """A legal explicit schedule; with `two_way`, of a network all of whose links have an opposite."""
    network = draw(st.sampled_from(SPECS).map(gossamer.network) | graphs(True) if two_way else networks)
    task = draw(tasks(network, names))
    ports = draw(st.sampled_from(["all", "one", "one-send"]))
    schedule = build(draw(st.integers(0, 2**32)), network, task, ports=ports, parts=draw(st.sampled_from([1, 1, 2, 3])))
    return draw(phased(schedule))


# -- breaking them -------------------------------------------------------------------------------------------


def narrower(network: Network) -> Network:
    """The same links with one packet a slot each."""
    ends = (network.link_source, network.link_target)
    return Network("narrow", network.node_count, *ends, terminal_count=network.terminal_count, links_only=True)


def changed_hops(rng: random.Random, schedule: Schedule, how: str) -> dict[str, object]:
    """Return new hop columns."""
    rows = list(zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True))
    if not rows:
        return {}
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    (t, e, p), (s, f, q) = rows[i], rows[j]
    last = schedule.slot_count - 1
    if how == "shift":
        rows[i] = (min(max(t + rng.choice([-2, -1, 1, 2]), 0), last), e, p)
    elif how == "relink":
        rows[i] = (t, rng.randrange(schedule.network.link_count), p)
    elif how == "drop":
        del rows[i]
    elif how == "double":
        rows.append((rng.choice([t, rng.randint(0, last)]), e, p))
    elif how == "swap":
        rows[i], rows[j] = (t, e, q), (s, f, p)
    elif how == "control":
        rows.append((t, rng.choice([e, f]), CONTROL))
    elif how == "squeeze":
        rows = [(a // 2, b, c) for a, b, c in rows]
    rows.sort(key=lambda row: row[0])
    slot, link, packet = zip(*rows, strict=True) if rows else ([], [], [])
    return {"slot": slot, "link": link, "packet": packet}


def changed_table(rng: random.Random, schedule: Schedule, how: str) -> dict[str, object]:
    """Return a new packet table, and hops that follow it where that keeps the schedule."""
    table = schedule.packets
    columns = [table.origin.tolist(), table.message.tolist(), table.part.tolist()]
    if not columns[0]:
        return {}
    i = rng.randrange(table.count)
    packet = schedule.packet
    if how == "permute" or how == "shuffle":
        order = rng.sample(range(table.count), table.count)
        columns = [[c[k] for k in order] for c in columns]
        if how == "permute":
            where = np.append(np.argsort(order), CONTROL).astype(np.int32)
            packet = where[packet]
    elif how == "extra":
        for c in columns:
            c.append(c[i])
    else:
        column = {"origin": 0, "message": 1, "part": 2}[how]
        high = schedule.network.node_count - 1
        columns[column][i] = rng.randint(0, high) if how == "origin" else columns[column][i] + rng.choice([-1, 1])
    return {"packets": Packets(*columns), "packet": packet}


HOPS = ("shift", "relink", "drop", "double", "swap", "control", "squeeze")
TABLE = ("permute", "shuffle", "extra", "origin", "message", "part")
RULES = ("ports", "split", "slot length", "control time", "narrow", "parts")


def broken(rng: random.Random, schedule: Schedule, how: str) -> Schedule:
    """Return the schedule with one thing changed, or itself if the change makes no schedule at all."""
    rules = schedule.rules
    changes: dict[str, object]
    if how in HOPS:
        changes = changed_hops(rng, schedule, how)
    elif how in TABLE:
        changes = changed_table(rng, schedule, how)
    elif how == "ports":
        changes = {"rules": replace(rules, ports=rng.choice(["one", "one-send"]))}
    elif how == "split":
        changes = {"rules": replace(rules, split=False)}
    elif how == "slot length":
        phases = [replace(p, slot_length=p.slot_length / rng.choice([1, 2])) for p in schedule.phases]
        changes = {"phases": phases}
    elif how == "control time":
        changes = {"cost": StepCost("1/2")}
    elif how == "parts":
        changes = {"parts": schedule.parts + 1}
    else:
        changes = {} if schedule.symmetry else {"network": narrower(schedule.network)}
    try:
        return schedule.replace(**changes)
    except GossamerError:
        return schedule


mutations = st.lists(
    st.tuples(st.sampled_from(5 * HOPS + TABLE + RULES), st.integers(0, 2**32)), min_size=1, max_size=3
)


def mutated(schedule: Schedule, changes: list[tuple[str, int]]) -> Schedule:
    """Return the schedule after some of the `mutations`."""
    for how, seed in changes:
        schedule = broken(random.Random(seed), schedule, how)
    return schedule
