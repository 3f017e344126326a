"""All schedules of so many slots as a model for CP-SAT: a variable for each packet, link and slot that can be of use.

Packets that are copied or moved are there from their first arrival on. A contribution leaves each terminal once, after
all that comes to it, and a result leaves its root after all contributions. Only first arrivals are counted, so that a
packet for one target goes over one path.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.demands import demand_of
from gossamer.graphs.precedence import Roads
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case
from gossamer.questions.tasks import COMBINE
from gossamer.schedules import Packets

__all__ = ["Found", "Model", "Patience", "Sought", "sought"]

WORK = 4.0
"""Deterministic time of the solver where there is no budget: half a minute at the most."""

_WORKERS = 8
"""Searches that take turns; more than one processor is used only if the solver is told to."""

Longs = npt.NDArray[np.int64]
_FAR = 1 << 40


class Sought(NamedTuple):
    """What a case asks of each packet.

    Attributes
    ----------
    roads : Roads
        Links and ports.
    origin : int64[P]
        Where each packet is, or the root of what is combined.
    targets : tuple of tuple of int
        The nodes that it must get to, but for its origin.
    combined : bool[P]
        Whether it is a contribution of every terminal.
    awaits : int64[P]
        The packet of contributions after which a result leaves, -1 for none.
    branches : bool[N]
        Whether a node sends several copies of what it received once.
    """

    roads: Roads
    origin: Longs
    targets: tuple[tuple[int, ...], ...]
    combined: npt.NDArray[np.bool_]
    awaits: Longs
    branches: npt.NDArray[np.bool_]

    def useful(self, found: Found) -> Found:
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
        return Found(found.slot[kept], found.link[kept], found.packet[kept])

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


class Patience:
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


class Found(NamedTuple):
    """Hops by packet: slot, link and packet, int32[H], not sorted."""

    slot: IntArray
    link: IntArray
    packet: IntArray


def sought(case: Case) -> Sought:
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
    return Sought(
        Roads.of(case.network, case.rules), demand.origin.astype(np.int64), targets,
        messages.discipline[row] == COMBINE, awaits, terminal | case.rules.replication,
    )  # fmt: skip


def _distances(roads: Roads, weight: Longs | None = None) -> Longs:
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

    Parameters
    ----------
    asked : Sought
        What is asked.
    slots : int
        How many.

    Notes
    -----
    O(P L T) variables for P packets, L links and T slots, less what comes too late to be of use.
    """

    def __init__(self, asked: Sought, slots: int) -> None:
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

    def fewest_hops(self, hint: Found) -> None:
        """Ask for as few hops as possible, beginning with a schedule that is known."""
        self.model.minimize(sum(hop for x in self.x for hop in x.values()))
        known = set(zip(hint.packet.tolist(), hint.link.tolist(), hint.slot.tolist(), strict=True))
        for p, x in enumerate(self.x):
            for (e, s), hop in x.items():
                self.model.add_hint(hop, (p, e, s) in known)

    def solve(self, patience: Patience, share: float = 1.0) -> tuple[str, Found | None]:
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
        found = Found(*(np.ascontiguousarray(column) for column in columns.T))
        return ("best" if status == cp_model.OPTIMAL else "found"), found
