"""Small cases exactly, by CP-SAT (the extra ``solver``): the fewest slots, then the fewest hops, and a proof.

A schedule that is known is made shorter until the solver proves that no shorter one exists, or until its time is over.
What was proved is a lower bound.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.overlapped_allreduce import overlapped_allreduce, propose_allreduce
from gossamer.algorithms.any_network.packet_demands import GENERAL_TASKS, demand_of
from gossamer.algorithms.any_network.priced_routing import (
    PRICED_PATHS,
    PRICED_TREES,
    propose_moves,
    propose_trees,
    routed,
)
from gossamer.graphs.precedence_scheduling import LinkResources
from gossamer.networks.network import IntArray
from gossamer.questions.cases import BuilderProof, Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, Allreduce, Permutation
from gossamer.schedules import Packets, Phase, Schedule

__all__ = ["EXACT", "Model", "PacketGoals", "PacketHops", "SolverBudget", "exact", "propose_walks", "sought", "walked"]

# All schedules of so many slots as a model for CP-SAT: a variable for each packet, link and slot that can be of use.
#
# Packets that are copied or moved are there from their first arrival on. A contribution leaves each terminal once,
# after all that comes to it, and a result leaves its root after all contributions. Only first arrivals are counted, so
# that a packet for one target goes over one path.

WORK = 4.0
"""Deterministic time of the solver where there is no budget: half a minute at the most."""

_WORKERS = 8
"""Searches that take turns; more than one processor is used only if the solver is told to."""

Longs = npt.NDArray[np.int64]
_FAR = 1 << 40


class PacketGoals(NamedTuple):
    """What a case asks of each packet.

    * `roads`: links and ports.
    * `origin`, int64[P]: where each packet is, or the root of what is combined.
    * `targets`: the nodes that it must get to, but for its origin.
    * `combined`, bool[P]: whether it is a contribution of every terminal.
    * `awaits`, int64[P]: the packet of contributions after which a result leaves, -1 for none.
    * `branches`, bool[N]: whether a node sends several copies of what it received once.
    """

    roads: LinkResources
    origin: Longs
    targets: tuple[tuple[int, ...], ...]
    combined: npt.NDArray[np.bool_]
    awaits: Longs
    branches: npt.NDArray[np.bool_]

    def useful(self, found: PacketHops) -> PacketHops:
        """Return the hops without those of which nothing that they bring gets to a target.

        Hops over a node that passes on one copy for each that comes are all kept.
        """
        source, target = self.roads.source, self.roads.target
        kept = np.zeros(found.slot.size, bool)
        by = {
            (p, int(target[e])): i
            for i, (e, p) in enumerate(zip(found.link.tolist(), found.packet.tolist(), strict=True))
        }
        for p, ends in enumerate(self.targets):
            for v in ends:
                while v != self.origin[p] and not kept[by[p, v]]:
                    kept[by[p, v]] = True
                    v = int(source[found.link[by[p, v]]])
        kept |= ~self.branches[source[found.link]] | ~self.branches[target[found.link]]
        return PacketHops(found.slot[kept], found.link[kept], found.packet[kept])

    @property
    def least(self) -> int:
        """Slots in which no packet gets to the furthest of its targets, or to its root."""
        far = _distances(self.roads, self.roads.occupancy + self.roads.latency)
        ways = [
            far[list(ends), u] if combined else far[u, list(ends)]
            for u, ends, combined in zip(self.origin.tolist(), self.targets, self.combined.tolist(), strict=True)
        ]
        return int(max((way.max(initial=0) for way in ways), default=0))

    @property
    def fewest_hops(self) -> int:
        """Hops of which there are certainly no fewer: one for each target, over the distance of what has one target."""
        far = _distances(self.roads)
        return sum(
            max(len(ends), max((int(far[u, v]) for v in ends), default=0))
            for u, ends in zip(self.origin.tolist(), self.targets, strict=True)
        )


class SolverBudget:
    """How long solvers may still take: seconds, or without them an amount of work that is the same everywhere."""

    def __init__(self, seconds: float | None, seed: int) -> None:
        self.until = None if seconds is None else time.monotonic() + seconds
        self.work, self.seed = WORK, seed % 2**31

    def solver(self, share: float = 1.0) -> Any:
        """Return a solver with a share of what is left, or None if nothing is."""
        from ortools.sat.python import cp_model

        found = cp_model.CpSolver()
        found.parameters.num_workers = _WORKERS
        found.parameters.interleave_search = True
        found.parameters.random_seed = self.seed
        if self.until is None:
            found.parameters.max_deterministic_time = share * max(self.work, 0.0)
            return found if self.work > 0 else None
        left = self.until - time.monotonic()
        found.parameters.max_time_in_seconds = share * max(left, 0.0)
        return found if left > 0 else None

    def spent(self, solver: Any) -> None:
        """Count the work of a solver."""
        self.work -= solver.response_proto.deterministic_time


class PacketHops(NamedTuple):
    """Hops by packet: slot, link and packet, int32[H], not sorted."""

    slot: IntArray
    link: IntArray
    packet: IntArray


def sought(case: Case) -> PacketGoals:
    """Return what a case asks of each packet.

    >>> import gossamer
    >>> asked = sought(Case(gossamer.network("ring:4"), gossamer.task("broadcast", root=1)))
    >>> asked.targets, asked.fewest_hops
    (((0, 2, 3),), 3)
    """
    messages, demand = case.messages, demand_of(case)
    packets = Packets.of(messages)
    row = np.repeat(np.arange(messages.count), np.diff(messages.first_packet()))
    ends = np.split(demand.target, demand.first[1:-1])
    targets = tuple(tuple(v for v in e.tolist() if v != u) for u, e in zip(demand.origin.tolist(), ends, strict=True))
    awaits = np.full(packets.count, -1, np.int64)
    if messages.after is not None:  # results are as many packets as their contributions, in the same order
        first = messages.first_packet()
        after = messages.after[row]
        awaits = np.where(after >= 0, first[np.maximum(after, 0)] + packets.part, -1)
    terminal = np.arange(case.network.node_count) < case.network.terminal_count
    return PacketGoals(
        LinkResources.of(case.network, case.rules), demand.origin.astype(np.int64), targets,
        messages.discipline[row] == COMBINE, awaits, terminal | case.rules.replication,
    )  # fmt: skip


def _distances(roads: LinkResources, weight: Longs | None = None) -> Longs:
    """Return distances between all nodes over links of some weights, 1 by default: int64[N, N]."""
    nodes = roads.cut.size
    far = np.full((nodes, nodes), _FAR, np.int64)
    np.fill_diagonal(far, 0)
    np.minimum.at(far, (roads.source, roads.target), 1 if weight is None else weight)
    for via in range(nodes):
        np.minimum(far, far[:, via, None] + far[None, via, :], out=far)
    return far


class Model:
    """The schedules of a number of slots.

    `asked`: what is asked. `slots`: how many.

    O(P L T) variables for P packets, L links and T slots, less what comes too late to be of use.
    """

    def __init__(self, asked: PacketGoals, slots: int) -> None:
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self.asked, self.slots = asked, slots
        roads = asked.roads
        self.takes = (roads.occupancy + roads.latency).tolist()
        nodes = range(roads.cut.size)
        self.out = [np.flatnonzero(roads.source == v).tolist() for v in nodes]
        self.into = [np.flatnonzero(roads.target == v).tolist() for v in nodes]
        far = _distances(roads, roads.occupancy + roads.latency)
        packets = range(asked.origin.size)
        self.x: list[dict[tuple[int, int], Any]] = [dict(self._hops(p, far)) for p in packets]
        done = {int(c): self._combined(int(c)) for c in packets if asked.combined[c]}
        for p in packets:
            if not asked.combined[p]:
                self._spread(p, done.get(int(asked.awaits[p])))
        self._resources()

    def _hops(self, p: int, far: Longs) -> Iterator[tuple[tuple[int, int], Any]]:
        """Yield a variable for each link and slot in which a packet can be of use."""
        roads, u = self.asked.roads, int(self.asked.origin[p])
        ends = list(self.asked.targets[p])
        for e, (a, b) in enumerate(zip(roads.source.tolist(), roads.target.tolist(), strict=True)):
            if self.asked.combined[p]:
                first, left = 0, int(far[b, u])
            else:
                first, left = int(far[u, a]), int(far[b, ends].min(initial=_FAR))
            useless = b == u and not self.asked.combined[p]
            for s in range(first, 0 if useless else self.slots - self.takes[e] - left + 1):
                yield (e, s), self.model.new_bool_var("")

    def _sum(self, p: int, links: list[int], first: int, last: int) -> list[Any]:
        """Return the hops of a packet over some links that begin in slots first..last."""
        x = self.x[p]
        return [x[e, s] for e in links for s in range(max(first, 0), last + 1) if (e, s) in x]

    def _arrived(self, p: int, v: int, slot: int) -> list[Any]:
        """Return the hops of a packet to a node that are over before a slot."""
        return [h for e in self.into[v] for h in self._sum(p, [e], 0, slot - self.takes[e])]

    def _spread(self, p: int, complete: list[Any] | None) -> None:
        """State that a packet leaves where it is, its origin once it is complete, and gets to its targets."""
        asked, model = self.asked, self.model
        origin, x = int(asked.origin[p]), self.x[p]
        for v in range(asked.roads.cut.size):
            if v == origin:
                for (e, s), hop in x.items():
                    if complete is not None and asked.roads.source[e] == v:
                        model.add_implication(hop, complete[s])
                continue
            came = self._arrived(p, v, self.slots)
            if v in asked.targets[p]:
                model.add(sum(came) >= 1)
            if asked.branches[v]:
                model.add(sum(came) <= 1)
            here: Any = 0
            for s in range(self.slots):
                came = [h for e in self.into[v] for h in self._sum(p, [e], s - self.takes[e], s - self.takes[e])]
                leaving = [x[e, s] for e in self.out[v] if (e, s) in x]
                if not asked.branches[v]:
                    if leaving:
                        model.add(sum(self._sum(p, self.out[v], 0, s)) <= sum(self._arrived(p, v, s)))
                    continue
                if came:
                    before, here = here, model.new_bool_var("")  # whether the packet is there
                    model.add(here <= sum(came) + before)
                for hop in leaving:
                    model.add(hop <= here)

    def _combined(self, p: int) -> list[Any]:
        """State that each terminal sends its share once, after what comes to it; return when the root has them all."""
        model, root = self.model, int(self.asked.origin[p])
        done = [model.new_bool_var("") for _ in range(self.slots)]
        for v in range(self.asked.roads.cut.size):
            sent = self._sum(p, self.out[v], 0, self.slots)
            model.add(sum(sent) == (0 if v == root else 1))
            for e in self.into[v]:
                for s in range(self.slots):
                    if (e, s) not in self.x[p]:
                        continue
                    there = s + self.takes[e]  # nothing leaves before
                    if v == root:
                        for t in range(min(there, self.slots)):
                            model.add_implication(self.x[p][e, s], done[t].Not())
                    else:
                        model.add(self.x[p][e, s] + sum(self._sum(p, self.out[v], 0, there - 1)) <= 1)
        return done

    def _resources(self) -> None:
        """State that links carry what they can, and ports one packet at a time."""
        roads, packets = self.asked.roads, range(len(self.x))
        occupancy, latency = roads.occupancy.tolist(), roads.latency.tolist()

        def busy(e: int, slot: int) -> list[Any]:
            return [h for p in packets for h in self._sum(p, [e], slot - occupancy[e] + 1, slot)]

        for slot in range(self.slots):
            for e, capacity in enumerate(roads.capacity.tolist()):
                self.model.add(sum(busy(e, slot)) <= capacity)
            for v in range(roads.cut.size):
                if roads.send_limited:
                    self.model.add(sum(h for e in self.out[v] for h in busy(e, slot)) <= 1)
                if roads.receive_limited:
                    self.model.add(sum(h for e in self.into[v] for h in busy(e, slot - latency[e])) <= 1)

    def fewest_hops(self, hint: PacketHops) -> None:
        """Ask for as few hops as possible, beginning with a schedule that is known."""
        self.model.minimize(sum(hop for x in self.x for hop in x.values()))
        known = set(zip(hint.packet.tolist(), hint.link.tolist(), hint.slot.tolist(), strict=True))
        for p, x in enumerate(self.x):
            for (e, s), hop in x.items():
                self.model.add_hint(hop, (p, e, s) in known)

    def solve(self, patience: SolverBudget, share: float = 1.0) -> tuple[str, PacketHops | None]:
        """Return ``found``, ``best``, ``none`` or ``unknown``, and the hops of a schedule.

        ``none`` says that there is no schedule, ``best`` that there is none of fewer hops.
        """
        from ortools.sat.python import cp_model

        solver = patience.solver(share)
        if solver is None:
            return "unknown", None
        status = solver.solve(self.model)
        patience.spent(solver)
        if status == cp_model.INFEASIBLE:
            return "none", None
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return "unknown", None
        rows = [(s, e, p) for p, x in enumerate(self.x) for (e, s), hop in x.items() if solver.value(hop)]
        columns = np.array(rows, np.int32).reshape(-1, 3)
        found = PacketHops(*(np.ascontiguousarray(column) for column in columns.T))
        return ("best" if status == cp_model.OPTIMAL else "found"), found


# Permutations under a limit of the buffers, by CP-SAT: where each packet is at each slot boundary.
#
# A packet may go any way, also back to a node where it was before, so what the solver proves holds for all schedules.
# It does not leave its target again where only packets in transit are counted: staying there takes no buffer.

_SINGLE = 8
"""How much more work of a single search takes about as long."""

_HELD = 3
"""Packets that a node holds at most while one packet after the other is sent: its own, one for it, one passing."""


class Walks:
    """The schedules of a permutation in a number of slots, under the case's limit of the buffers.

    O(P (N + L) T) variables for P packets, less what is too far from a packet's ends.
    """

    def __init__(self, case: Case, slots: int) -> None:
        from ortools.sat.python import cp_model

        net, rules = case.network, case.rules
        self.model, self.slots, self.case = cp_model.CpModel(), slots, case
        self.origin, self.target = case.messages.origin.astype(np.int64), _targets(case)
        self.far: Longs = np.array([net.breadth_first(v).distance for v in range(net.node_count)], np.int64)
        self.leaves_target = rules.buffer_counts == "all"
        self.at = {key: self.model.new_bool_var("") for key in self._places()}
        self.hop: dict[tuple[int, int, int], Any] = {}  # packet, link, slot
        for p in range(self.origin.size):
            self._walk(p)
        for slot in range(slots):
            self._links(slot)
        for boundary in range(1, slots):
            self._buffers(boundary)

    def _places(self) -> Iterator[tuple[int, int, int]]:
        """Yield each packet, node and boundary at which the packet can be there and still come in time."""
        for p, (u, v) in enumerate(zip(self.origin.tolist(), self.target.tolist(), strict=True)):
            for boundary in range(self.slots + 1):
                near = (self.far[u] <= boundary) & (self.far[:, v] <= self.slots - boundary)
                yield from ((p, w, boundary) for w in np.flatnonzero(near).tolist())

    @cached_property
    def _ends(self) -> list[tuple[int, int]]:
        """Source and target of every link."""
        net = self.case.network
        return list(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))

    def _walk(self, p: int) -> None:
        """State that a packet is at one node at each boundary, and gets from one to the next over a link or stays."""
        model, at, home = self.model, self.at, int(self.target[p])
        nodes = range(self.case.network.node_count)
        for slot in range(self.slots):
            leaving: list[list[Any]] = [[] for _ in nodes]
            coming: list[list[Any]] = [[] for _ in nodes]
            for e, (u, v) in enumerate(self._ends):
                if (p, u, slot) in at and (p, v, slot + 1) in at and (u != home or self.leaves_target):
                    self.hop[p, e, slot] = step = model.new_bool_var("")
                    leaving[u].append(step)
                    coming[v].append(step)
            for v in nodes:
                if (p, v, slot) in at and (p, v, slot + 1) in at:
                    stay = model.new_bool_var("")
                    leaving[v].append(stay)
                    coming[v].append(stay)
                if (p, v, slot) in at:
                    model.add(sum(leaving[v]) == at[p, v, slot])
                if (p, v, slot + 1) in at:
                    model.add(sum(coming[v]) == at[p, v, slot + 1])
        for boundary in range(self.slots + 1):
            model.add_exactly_one(at[p, v, boundary] for v in nodes if (p, v, boundary) in at)

    def _links(self, slot: int) -> None:
        """State that links carry what they can in a slot, and limited ports one packet."""
        case, nodes = self.case, range(self.case.network.node_count)
        loads: list[list[Any]] = [
            [self.hop[p, e, slot] for p in range(self.origin.size) if (p, e, slot) in self.hop]
            for e in range(len(self._ends))
        ]
        for load, capacity in zip(loads, case.link_capacity.tolist(), strict=True):
            self.model.add(sum(load) <= capacity)
        for limited, end in ((case.send_limited, 0), (case.receive_limited, 1)):
            for v in nodes if limited else ():
                self.model.add(sum(h for e, ends in enumerate(self._ends) if ends[end] == v for h in loads[e]) <= 1)

    def _buffers(self, boundary: int) -> None:
        """State that no node holds more than the limit at a boundary."""
        limit = self.case.rules.buffer
        for v in range(self.case.network.node_count):
            held = []
            for p, (u, home) in enumerate(zip(self.origin.tolist(), self.target.tolist(), strict=True)):
                if (p, v, boundary) not in self.at or (v == home and not self.leaves_target):
                    continue
                here = self.at[p, v, boundary]
                if v == u and not self.leaves_target:  # in transit only if it has been away
                    here = self._back(p, here, boundary)
                held.append(here)
            if limit is not None and len(held) > limit:
                self.model.add(sum(held) <= limit)

    def _back(self, p: int, here: Any, boundary: int) -> Any:
        """Return whether a packet is at its origin again."""
        back = self.model.new_bool_var("")
        for slot in range(boundary):
            for e, (u, _) in enumerate(self._ends):
                if u == self.origin[p] and (p, e, slot) in self.hop:
                    self.model.add(back >= here + self.hop[p, e, slot] - 1)
        return back

    def solve(self, patience: SolverBudget, share: float) -> tuple[str, PacketHops | None]:
        """Return ``found``, ``none`` or ``unknown``, and the hops of a schedule."""
        from ortools.sat.python import cp_model

        solver = patience.solver(share)
        if solver is None:
            return "unknown", None
        solver.parameters.num_workers = 1  # faster here than searches in turns
        status = solver.solve(self.model)
        patience.spent(solver)
        if status == cp_model.INFEASIBLE:
            return "none", None
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return "unknown", None
        rows = [(slot, e, p) for (p, e, slot), step in self.hop.items() if solver.value(step)]
        return "found", PacketHops(*np.array(rows, np.int32).reshape(-1, 3).T)


def _targets(case: Case) -> Longs:
    """Return the target of each packet, int64[P]."""
    assert isinstance(case.task, Permutation)
    return np.array(case.task.destination, np.int64)[case.messages.origin]


def walked(case: Case) -> tuple[Schedule, BuilderProof | None]:
    """Return a schedule of the fewest slots under a limit of the buffers, or one that is found in time, and a proof.

    If the solver finds none in time, the packets go one after the other, which takes one buffer.

    >>> import gossamer
    >>> task = gossamer.task("permutation", destination=[3, 2, 1, 0])
    >>> case = Case(gossamer.network("array:4"), task, gossamer.Rules(buffer=1))
    >>> walked(case)[0].completion_time  # doctest: +SKIP
    Fraction(4, 1)
    """
    origin, target = case.messages.origin.astype(np.int64), _targets(case)
    apart = np.asarray(case.metric.between(origin, target))
    told = least = slots = max(int(apart.max(initial=0)), math.ceil(case.floor))
    patience, certain = SolverBudget(case.budget, case.seed), True
    patience.work *= _SINGLE
    most = int(apart.sum())
    found = PacketHops(*np.zeros((3, 0), np.int32)) if not most else None
    while found is None and slots < most:
        verdict, found = Walks(case, slots).solve(patience, 0.5)
        certain = certain and verdict == "none"
        least += int(certain)
        slots += int(found is None)
        if patience.solver() is None or (verdict == "unknown" and slots > 2 * told):
            break
    if found is None:
        found, slots = _one_by_one(case, origin, target), most
    order = np.argsort(found.slot, kind="stable")
    hops = (column[order] for column in found)
    schedule = Schedule.of(case, *hops, phases=[Phase(case.task.name, slots)])
    witness = f"among all schedules of {least - 1:,} slots with so small buffers a solver found none that does it"
    return schedule, BuilderProof("exact search", Fraction(least), witness) if least > told else None


def _one_by_one(case: Case, origin: Longs, target: Longs) -> PacketHops:
    """Return the hops of packets that take a shortest path each, one packet after the other."""
    net = case.network
    rows: list[tuple[int, int, int]] = []
    for p, (u, v) in enumerate(zip(origin.tolist(), target.tolist(), strict=True)):
        parent, way = net.breadth_first(u).parent_link, []
        while v != u:
            way.append(int(parent[v]))
            v = int(net.link_source[way[-1]])
        rows += [(len(rows) + i, e, p) for i, e in enumerate(reversed(way))]
    return PacketHops(*np.array(rows, np.int32).reshape(-1, 3).T)


def propose_walks(case: Case) -> Offer[Schedule] | Refusal:
    """Offer a permutation under a limit of the buffers; the size was looked at before."""
    net = case.network
    if not isinstance(case.task, Permutation):
        return Refusal("limits the packets that a node holds only for permutations")
    if net.terminal_count < net.node_count or not net.plain:
        return Refusal("limits the packets that a node holds only on plain links without switches")
    rules = case.rules
    if rules.buffer_counts == "all" and rules.buffer is not None and rules.buffer < _HELD:
        return Refusal(f"may keep {_HELD} packets at one node, more than the buffer of {rules.buffer}")
    return Offer(lambda: case.once(walked, case)[0], effort="solver", proof=lambda: case.once(walked, case)[1])


_MOST = 10_000
"""Packets times links."""

_LISTED = 100_000
"""Messages, at the most, that are listed to be counted."""


def exact(case: Case) -> Schedule:
    """Build a schedule of the fewest slots, and of those one of the fewest hops, or the best found in time.

    Parameters
    ----------
    case : Case
        Packets that are copied or moved on any small network, or an allreduce where all nodes are terminals; whole
        messages, any ports and links. Or a permutation under a limit of the buffers (`walks`). `Case.budget` limits the
        seconds; without it, the work of the solver is limited.

    Raises
    ------
    NetworkError
        If some target cannot be reached.

    Notes
    -----
    Begins with the schedule of the priced paths or trees. If the solver ends, its proof is a bound of the outcome.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> exact(Case(gossamer.network("ring:4"), gossamer.task("alltoall"))).completion_time  # doctest: +SKIP
    Fraction(2, 1)
    """
    return case.once(_solved, case)[0]


def _solved(case: Case) -> tuple[Schedule, BuilderProof | None]:
    """Return the best schedule found, and what was proved."""
    combined = bool((case.messages.discipline == COMBINE).any())
    start = overlapped_allreduce(case) if combined else routed(case)
    slots = start.slot_count
    if not slots:
        return start, None
    asked, patience = sought(case), SolverBudget(case.budget, case.seed)
    best, least = PacketHops(start.slot, start.link, start.packet), max(asked.least, math.ceil(case.floor))
    told = least
    takes = asked.roads.occupancy + asked.roads.latency
    upwards = True
    while least < slots:
        verdict, found = Model(asked, least if upwards else slots - 1).solve(patience, 0.3 if upwards else 1.0)
        if found is not None:
            best, slots = found, int((found.slot + takes[found.link]).max())
        elif verdict == "none":
            least = least + 1 if upwards else slots
        elif not upwards:
            break
        upwards = upwards and verdict != "unknown"
    best = best if combined else asked.useful(best)
    if not combined and best.slot.size > asked.fewest_hops:
        model = Model(asked, slots)
        model.fewest_hops(best)
        best = model.solve(patience)[1] or best
    order = np.argsort(best.slot, kind="stable")
    hops = (best.slot[order], best.link[order], best.packet[order])
    schedule = Schedule.of(case, *hops, phases=[Phase(case.task.name, slots)])
    return schedule, _proof(least) if least > told else None


def _proof(slots: int) -> BuilderProof:
    witness = f"among all schedules of {slots - 1:,} slots a solver found none that does it"
    return BuilderProof("exact search", Fraction(slots), witness)


def propose_exact(case: Case) -> Offer[Schedule] | Refusal:
    """Offer an optimal schedule, as far as the solver gets in its time."""
    if case.rules.segmented:
        return Refusal("plans unsegmented messages")
    if case.rules.cut_through:
        return Refusal("is for switches that store what they pass on")
    if case.network.shared_ports is not None:
        return Refusal("does not know shared NICs or uplinks")
    packets = case.task.most_messages(case.network)
    if packets <= _LISTED:
        packets = case.messages.packet_count
    if packets * case.network.link_count > _MOST:
        return Refusal(f"looks at no more than {_MOST:,} pairs of a packet and a link")
    if case.rules.buffer is not None and importlib.util.find_spec("ortools") is not None:
        return propose_walks(case)
    ahead = propose_allreduce(case) if bool((case.messages.discipline == COMBINE).any()) else _simple(case)
    if isinstance(ahead, Refusal):
        return ahead
    if case.network.terminal_count < case.network.node_count and bool((case.messages.discipline == COMBINE).any()):
        return Refusal("combines contributions only where all nodes are terminals")
    if importlib.util.find_spec("ortools") is None:
        return Refusal("needs the package ortools (the extra 'solver')")
    return Offer(lambda: exact(case), effort="solver", proof=lambda: case.once(_solved, case)[1])


def _simple(case: Case) -> Offer[Schedule] | Refusal:
    """Return what the search says that comes first."""
    found = propose_moves(case)
    return propose_trees(case) if isinstance(found, Refusal) else found


EXACT = Algorithm(
    name="exact",
    tasks=(*PRICED_TREES.tasks, *PRICED_PATHS.tasks[: -len(GENERAL_TASKS)], Allreduce),
    propose=propose_exact,
    networks="small ones (12 nodes for an alltoall, 16 for an allgather)",
    source="gossamer; constraint programming by OR-Tools",
    summary="the fewest steps, then the fewest hops, with a proof as a bound",
    passes_on=True,
    timed=True,
)
