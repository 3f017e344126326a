"""The exact least time of a task on a tiny network whose links take time, by constraint programming.

Written from the definition of the links and of the switches, not from the library: it reads a network's columns, a
task's messages and the fields of the rules, and nothing else.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from bounds.oracle import UndecidedError
from gossamer import Network, Rules, Schedule
from gossamer.questions.tasks import COMBINE, MOVE, Task


class _Model:
    """Hops (link, slot) of each packet within so many slots, and when what comes over a link can go on over another."""

    def __init__(self, network: Network, rules: Rules, slots: int, parts: int) -> None:
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self.network, self.rules, self.slots = network, rules, slots
        columns = zip(network.link_source, network.link_target, network.link_capacity, strict=True)
        self.links = [(int(u), int(v), int(c)) for u, v, c in columns]
        self.o = [int(x) for x in network.link_occupancy]
        self.l = [int(x) * parts for x in network.link_latency]
        self.out, self.into = defaultdict(list), defaultdict(list)
        for e, (u, v, _) in enumerate(self.links):
            self.out[u].append(e)
            self.into[v].append(e)
        self.hops = [(e, t) for e in range(len(self.links)) for t in range(slots - self.o[e] - self.l[e] + 1)]
        self.x: list[dict[tuple[int, int], object]] = []

    def switch(self, v: int) -> bool:
        return v >= self.network.terminal_count

    def packet(self) -> dict[tuple[int, int], object]:
        self.x.append({hop: self.model.new_bool_var("") for hop in self.hops})
        return self.x[-1]

    def hops_of(self, links: list[int]) -> list[tuple[int, int]]:
        wanted = set(links)
        return [hop for hop in self.hops if hop[0] in wanted]

    def ready(self, a: int, t: int, b: int) -> int:
        """The first slot in which what left over link a in slot t can leave over b."""
        if self.rules.cut_through and self.switch(self.links[a][1]):
            return t + self.l[a] + max(0, self.o[a] - self.o[b])
        return t + self.o[a] + self.l[a]

    def resources(self) -> None:
        limited = self.rules.send_limited or self.rules.receive_limited
        for s in range(self.slots):
            busy = [
                [h for h in self.hops if h[0] == e and h[1] <= s < h[1] + self.o[e]] for e in range(len(self.links))
            ]
            taken = [
                [h for h in self.hops if h[0] == e and h[1] <= s - self.l[e] < h[1] + self.o[e]]
                for e in range(len(self.links))
            ]
            for e, (_, _, capacity) in enumerate(self.links):
                self.model.add(sum(x[h] for x in self.x for h in busy[e]) <= (1 if limited else capacity))
            for inside in self.in_ports(s):
                self.model.add(sum(x[h] for x in self.x for h in inside[1]) <= inside[0])
            for v in range(self.network.node_count):
                if self.rules.send_limited:
                    self.model.add(sum(x[h] for x in self.x for e in self.out[v] for h in busy[e]) <= 1)
                if self.rules.receive_limited:
                    self.model.add(sum(x[h] for x in self.x for e in self.into[v] for h in taken[e]) <= 1)

    def in_ports(self, s: int) -> list[tuple[int, list[tuple[int, int]]]]:
        """Each shared port, each way, with how many packets it passes and the hops that would be in it in slot s."""
        ports = self.network.shared_ports
        if ports is None:
            return []
        found = []
        for port, (capacity, held) in enumerate(zip(ports.capacity.tolist(), ports.occupancy.tolist(), strict=True)):
            out = [(e, t) for e, t in self.hops if ports.sending[e] == port and t <= s < t + held]
            into = [
                (e, t) for e, t in self.hops
                if ports.receiving[e] == port and t + self.o[e] + self.l[e] - held <= s < t + self.o[e] + self.l[e]
            ]  # fmt: skip
            found += [(capacity, out), (capacity, into)]
        return found

    def uses_up(self, x: dict[tuple[int, int], object], v: int, all_leave: bool) -> None:
        """Each departure from v uses up an arrival; with `all_leave` each arrival is used."""
        pairs = defaultdict(list)
        for a, s in self.hops_of(self.into[v]):
            for b, t in self.hops_of(self.out[v]):
                if self.ready(a, s, b) <= t:
                    both = self.model.new_bool_var("")
                    pairs[a, s, True].append(both)
                    pairs[b, t, False].append(both)
        for hop in self.hops_of(self.out[v]):
            self.model.add(sum(pairs[*hop, False]) == x[hop])
        for hop in self.hops_of(self.into[v]):
            if all_leave:
                self.model.add(sum(pairs[*hop, True]) == x[hop])
            else:
                self.model.add(sum(pairs[*hop, True]) <= x[hop])

    def follows(self, before: list, after: list) -> None:
        """Hops of `after`, pairs of (link, slot) and a variable, start when those of `before` have ended."""
        for t in range(self.slots):
            begun = self.model.new_bool_var("")
            for (e, s), hop in before:
                if s + self.o[e] + self.l[e] > t:
                    self.model.add_implication(begun, hop.negated())
            for (_, s), hop in after:
                if s == t:
                    self.model.add_implication(hop, begun)

    def moved(self, x: dict[tuple[int, int], object], origin: int, target: int) -> None:
        """One packet, at one place at a time; it may pass a node several times."""
        m = self.model
        for v in range(self.network.node_count):
            came, left = self.hops_of(self.into[v]), self.hops_of(self.out[v])
            here = int(v == origin)
            m.add(here + sum(x[h] for h in came) - sum(x[h] for h in left) == int(v == target))
            for b, t in left:
                before = sum(x[h] for h in left if h[1] <= t)
                there = sum(x[a, s] for a, s in came if self.ready(a, s, b) <= t)
                m.add(before <= here + there).only_enforce_if(x[b, t])

    def copied(self, x: dict[tuple[int, int], object], origin: int, targets: set[int]) -> None:
        m = self.model
        for v in range(self.network.node_count):
            came, left = self.hops_of(self.into[v]), self.hops_of(self.out[v])
            if self.switch(v) and not self.rules.replication:
                self.uses_up(x, v, False)
                continue
            m.add(sum(x[h] for h in came) <= int(v != origin))
            if v in targets and v != origin:
                m.add(sum(x[h] for h in came) == 1)
            for b, t in left:
                m.add(x[b, t] <= int(v == origin) + sum(x[a, s] for a, s in came if self.ready(a, s, b) <= t))

    def combined(self, x: dict[tuple[int, int], object], root: int, shares: set[int]) -> None:
        m = self.model
        for v in range(self.network.node_count):
            came, left = self.hops_of(self.into[v]), self.hops_of(self.out[v])
            if v == root:
                m.add(sum(x[h] for h in left) == 0)
            elif v in shares:
                m.add(sum(x[h] for h in left) == 1)
            elif self.switch(v) and not self.rules.reduction:
                self.uses_up(x, v, True)
                continue
            else:
                m.add(sum(x[h] for h in left) <= 1)
                m.add(sum(x[h] for h in left) <= sum(x[h] for h in came))
            for a, s in came if v != root else ():
                m.add(x[a, s] <= sum(x[b, t] for b, t in left if self.ready(a, s, b) <= t))


def schedule_within(network: Network, task: Task, rules: Rules, slots: int, parts: int = 1) -> Schedule | None:
    """A schedule of at most so many slots, each the parts-th part of a step, or None. The limit is of work."""
    from ortools.sat.python import cp_model

    messages = task.messages(network)
    model = _Model(network, rules, slots, parts)
    rows: list[list[dict[tuple[int, int], object]]] = []
    ends = [set(range(network.terminal_count))] * messages.count
    if messages.target_start is not None:
        ends = [set(part.tolist()) for part in np.split(messages.targets, messages.target_start[1:-1])]
    for row, targets in enumerate(ends):
        origin, size = int(messages.origin[row]), 1 if messages.sizes is None else int(messages.sizes[row])
        rows.append([])
        for _ in range(size * parts):
            x = model.packet()
            rows[-1].append(x)
            if messages.discipline[row] == MOVE:
                model.moved(x, origin, min(targets))
            elif messages.discipline[row] == COMBINE:
                model.combined(x, origin, targets)
            else:
                model.copied(x, origin, targets)
    model.resources()
    for row, before in enumerate([] if messages.after is None else messages.after.tolist()):
        if before >= 0 and messages.partwise:
            for first, later in zip(rows[before], rows[row], strict=True):
                model.follows([*first.items()], [*later.items()])
        elif before >= 0:
            model.follows(*([item for x in rows[r] for item in x.items()] for r in (before, row)))
    for later, earlier in messages.waits:
        for v in range(network.terminal_count):
            came, begins = [], []
            for row, stage in enumerate(messages.stage.tolist()):
                combined, origin = messages.discipline[row] == COMBINE, int(messages.origin[row])
                hops = [item for x in rows[row] for item in x.items()]
                if stage == earlier and (v == origin if combined else v in ends[row]):
                    came += [item for item in hops if model.links[item[0][0]][1] == v]
                if stage == later and (v in ends[row] if combined else v == origin):
                    begins += [item for item in hops if model.links[item[0][0]][0] == v]
            if came and begins:
                model.follows(came, begins)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = 1.0
    status = solver.solve(model.model)
    if status == cp_model.UNKNOWN:
        raise UndecidedError
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    if status == cp_model.INFEASIBLE:
        return None
    packets = range(len(model.x))
    hops = sorted((t, e, p) for p in packets for (e, t), used in model.x[p].items() if solver.value(used))
    columns = list(zip(*hops, strict=True)) or [[], [], []]
    return Schedule(network, task, rules, *columns, parts=parts)
