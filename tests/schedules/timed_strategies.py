"""Random networks with times, switches and rules; legal schedules on them, and ways to break them. All by a seed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from gossamer.errors import GossamerError
from gossamer.networks import Network, SharedPorts
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import (
    Broadcast,
    MultinodeBroadcast,
    MultipleBroadcast,
    OneToManyRouting,
    PartialExchange,
    PartialMultinodeBroadcast,
    Permutation,
    Scatter,
    Task,
    TotalExchange,
)
from gossamer.schedules import CONTROL, Packets, Schedule

MOVE = 1
PORTS = ("all", "all", "one", "one-send", "one-receive")


def random_network(rng: random.Random, *, two_way: bool = False, plain: bool = False) -> Network:
    """A strongly connected network of 2 to 7 nodes with random capacities, times, switches and parallel links."""
    n = rng.randint(2, 7)
    edges = {(rng.randrange(v), v) for v in range(1, n)}
    edges |= {(u, v) for u in range(n) for v in range(u + 1, n) if rng.random() < 0.25}
    longest, furthest = (1, 0) if plain else (rng.randint(1, 4), rng.randint(0, 3))

    def kind() -> tuple[int, int, int]:
        return rng.randint(1, 2), rng.randint(1, longest), rng.randint(0, furthest)

    links = []
    for u, v in sorted(edges):
        kinds = {kind()[1:]: kind()[0] for _ in range(1 if plain else rng.choice([1, 1, 1, 2]))}
        there = [(u, v, c, *times) for times, c in kinds.items()]
        back = [(v, u, *rest) for _, _, *rest in there] if two_way else [(v, u, *kind())]
        links += there + back
    links.sort()
    terminals = rng.choice([n, rng.randint(1, n)])
    source, target, capacity, occupancy, latency = zip(*links, strict=True)
    network = Network(
        "random", n, source, target, capacity, link_occupancy=occupancy, link_latency=latency,
        terminal_count=terminals, links_only=True,
    )  # fmt: skip
    return network if plain or rng.random() < 0.6 else network.with_ports(random_ports(rng, network, two_way=two_way))


def random_ports(rng: random.Random, network: Network, *, two_way: bool = False) -> SharedPorts:
    """Up to four ports, of any links or, for links that are alike both ways, of nodes."""
    count = rng.randint(1, 4)
    if two_way:
        of_node = [rng.randint(-1, count - 1) for _ in range(network.node_count)]
        sides = [[of_node[v] for v in ends.tolist()] for ends in (network.link_source, network.link_target)]
    else:
        sides = [[rng.randint(-1, count - 1) for _ in range(network.link_count)] for _ in range(2)]
    capacity, held = [rng.choice([1, 1, 2, 3]) for _ in range(count)], [9] * count
    for side in sides:
        for e, p in enumerate(side):
            held[p] = min(held[p], int(network.link_occupancy[e])) if p >= 0 else held[p]
    return SharedPorts(*sides, capacity, [rng.randint(1, most) for most in held])


def random_task(rng: random.Random, n: int) -> Task:
    """A task that copies or moves, among n terminals."""
    some = sorted(rng.sample(range(n), rng.randint(1, n)))
    return rng.choice(
        [
            Broadcast(rng.randrange(n)),
            Scatter(rng.randrange(n)),
            MultinodeBroadcast(),
            TotalExchange(),
            PartialMultinodeBroadcast(some),
            PartialExchange(some),
            MultipleBroadcast([rng.randint(0, 2) for _ in range(n - 1)] + [1]),
            Permutation(rng.sample(range(n), n)),
            _routing(rng, n),
        ]
    )


def _routing(rng: random.Random, n: int) -> OneToManyRouting:
    rows: list[list[int]] = [[] for _ in range(n)]
    for v in range(n):
        rows[rng.randrange(n)].append(v)
    return OneToManyRouting(rows)


def random_rules(rng: random.Random, parts: int = 1) -> Rules:
    """Any rules but a limit of the buffers."""
    return Rules(
        ports=rng.choice(PORTS),
        split=parts > 1,
        cut_through=rng.random() < 0.5,
        replication=rng.random() < 0.5,
        reduction=rng.random() < 0.5,
    )


class Builder:
    """Places the hops of one packet after the other as early as links and ports allow, or a little later."""

    def __init__(self, rng: random.Random, network: Network, task: Task, rules: Rules, parts: int) -> None:
        self.rng, self.network, self.rules, self.parts = rng, network, rules, parts
        self.messages = task.messages(network)
        self.table = Packets.of(self.messages, parts)
        columns = (network.link_source, network.link_target, network.link_occupancy, network.link_latency)
        self.links = [(u, v, o, late * parts) for u, v, o, late in zip(*(c.tolist() for c in columns), strict=True)]
        self.capacity = network.link_capacity.tolist()
        self.placed: list[tuple[int, int, int]] = []  # slot, link, packet
        self.lazy = rng.choice([0.0, 0.0, 0.3])

    def build(self) -> list[tuple[int, int, int]]:
        """All hops."""
        row = {number: i for i, number in enumerate(self.messages.ids.tolist())}
        packets = list(range(self.table.count))
        self.rng.shuffle(packets)
        for p in packets:
            i = row[int(self.table.message[p])]
            m = self.messages
            targets = list(range(self.network.terminal_count))
            if m.targets is not None and m.target_start is not None:
                targets = m.targets[m.target_start[i] : m.target_start[i + 1]].tolist()
            self.spread(p, int(m.origin[i]), targets, copied=int(m.discipline[i]) != MOVE)
        return sorted(self.placed, key=lambda hop: hop[0])

    def spread(self, packet: int, origin: int, targets: list[int], *, copied: bool) -> None:
        """Bring a packet to its targets: each by a path from a node that holds it."""
        ready: dict[int, tuple[int, int]] = {origin: (0, 0)}  # when its head and its tail are at the nodes that hold it
        self.rng.shuffle(targets)
        for target in targets:
            if target in ready:
                continue
            path = self.path(list(ready), target)
            for e in path:
                u, v, o, late = self.links[e]
                t = self.slot(e, max(ready[u][0], ready[u][1] - o))
                self.placed.append((t, e, packet))
                passing = self.rules.cut_through and v >= self.network.terminal_count
                ready[v] = (t + late if passing else t + o + late, t + o + late)
                if not copied:
                    del ready[u]
            if copied and not self.rules.replication:
                for v in [v for v in ready if v >= self.network.terminal_count]:
                    del ready[v]

    def path(self, holders: list[int], target: int) -> list[int]:
        """A path from the holders, over nodes that are none; mostly a short one."""
        far = {target: 0}
        frontier = [target]
        for v in frontier:
            for u, w, *_ in self.links:
                if w == v and u not in far and v not in holders:
                    far[u] = far[v] + 1
                    frontier.append(u)
        at = self.rng.choice([h for h in holders if h in far])
        path = []
        while at != target:
            nearer = [
                e for e, (u, v, *_) in enumerate(self.links)
                if u == at and v in far and v not in holders and far[v] == min(
                    far[w] for a, w, *_ in self.links if a == at and w in far and w not in holders
                )
            ]  # fmt: skip
            path.append(self.rng.choice(nearer))
            at = self.links[path[-1]][1]
        return path

    def slot(self, link: int, ready: int) -> int:
        """A slot from `ready` on in which the link and the ports are free; mostly the first."""
        t = ready
        while not self.free(link, t) or self.rng.random() < self.lazy:
            t += 1
        return t

    def free(self, link: int, t: int) -> bool:
        """Whether a hop over the link may start in slot t."""
        u, v, o, late = self.links[link]
        ports = self.rules.ports
        near = [(s, *self.links[e], e) for s, e, _ in self.placed if s < t + o + late + 50]
        for s, a, b, length, later, _ in near:
            if ports in ("one", "one-send") and a == u and s < t + o and t < s + length:
                return False
            if (
                ports in ("one", "one-receive")
                and b == v
                and s + later < t + late + o
                and t + late < s + later + length
            ):
                return False
        if not all(self.fits(sends, link, t) for sends in (True, False)):
            return False
        starts = [s for s, *_, e in near if e == link and abs(s - t) < o]
        # at no time may more than the capacity be on the link
        return all(sum(s <= x < s + o for s in [*starts, t]) <= self.capacity[link] for x in [*starts, t])

    def fits(self, sends: bool, link: int, t: int) -> bool:
        """Whether a shared port passes one more packet."""
        ports = self.network.shared_ports
        if ports is None:
            return True
        side = (ports.sending if sends else ports.receiving).tolist()
        port = side[link]
        held = int(ports.occupancy[port])

        def enters(e: int, s: int) -> int:
            return s if sends else s + sum(self.links[e][2:]) - held

        here = [enters(e, s) for s, e, _ in [*self.placed, (t, link, -1)] if side[e] == port]
        most = max(sum(a <= x < a + held for a in here) for x in here)
        return port < 0 or most <= int(ports.capacity[port])


def random_schedule(seed: int, *, two_way: bool = False, plain: bool = False) -> Schedule:
    """A legal explicit schedule of a task that copies or moves."""
    rng = random.Random(seed)
    network = random_network(rng, two_way=two_way, plain=plain)
    task = random_task(rng, network.terminal_count)
    parts = rng.choice([1, 1, 2])
    rules = random_rules(rng, parts).on(network)
    builder = Builder(rng, network, task, rules, parts)
    hops = builder.build()
    columns = list(zip(*hops, strict=True)) or [[], [], []]
    return Schedule(network, task, rules, *columns, parts=parts, algorithm="random")


HOW = ("drop", "shift", "shift", "relink", "double", "swap", "shorten", "earlier", "control", "rules", "phase")


def mutated(seed: int, schedule: Schedule) -> Schedule:
    """The schedule with one to three things changed at random."""
    rng = random.Random(seed)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        try:
            schedule = broken(rng, schedule, rng.choice(HOW))
        except GossamerError:
            continue
    return schedule


def broken(rng: random.Random, schedule: Schedule, how: str) -> Schedule:
    """The schedule with one thing changed."""
    rows = list(zip(schedule.slot.tolist(), schedule.link.tolist(), schedule.packet.tolist(), strict=True))
    phases = list(schedule.phases)
    if how == "shorten" and phases[-1].slots:
        phases[-1] = replace(phases[-1], slots=phases[-1].slots - 1)
    elif how == "phase":
        phases[-1] = replace(phases[-1], slot_length=phases[-1].slot_length * rng.choice([Fraction(1, 2), 2]))
    elif how == "rules":
        name = rng.choice(["cut_through", "replication", "reduction", "ports"])
        value = rng.choice(PORTS) if name == "ports" else not getattr(schedule.rules, name)
        return schedule.replace(rules=replace(schedule.rules, **{name: value}))
    elif rows:
        i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
        (t, e, p), (s, f, q) = rows[i], rows[j]
        if how == "drop":
            del rows[i]
        elif how in ("shift", "earlier"):
            by = -1 if how == "earlier" else rng.choice([-2, -1, 1, 2, 5])
            rows[i] = (max(t + by, 0), e, p)
        elif how == "relink":
            near = schedule.network.out_links(int(schedule.network.link_source[e]))
            rows[i] = (t, rng.choice([*near, rng.randrange(schedule.network.link_count)]), p)
        elif how == "double":
            rows.append((max(t + rng.choice([0, 0, 1, -1, 3]), 0), rng.choice([e, f]), p))
        elif how == "swap":
            rows[i], rows[j] = (t, e, q), (s, f, p)
        elif how == "control":
            rows.append((t, f, CONTROL))
    rows.sort(key=lambda row: row[0])
    slot, link, packet = zip(*rows, strict=True) if rows else ([], [], [])
    return schedule.replace(slot=slot, link=link, packet=packet, phases=phases)
