"""Permutations under a limit of the buffers, by CP-SAT: where each packet is at each slot boundary.

A packet may go any way, also back to a node where it was before, so what the solver proves holds for all schedules. It
does not leave its target again where only packets in transit are counted: staying there takes no buffer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from gossamer.algorithms.any_network.exact.model import Found, Longs, Patience
from gossamer.questions.cases import Case, Offer, Proof, Refusal
from gossamer.questions.tasks import Permutation
from gossamer.schedules import Phase, Schedule

__all__ = ["propose_walks", "walked"]

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

    def solve(self, patience: Patience, share: float) -> tuple[str, Found | None]:
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
        return "found", Found(*np.array(rows, np.int32).reshape(-1, 3).T)


def _targets(case: Case) -> Longs:
    """Return the target of each packet, int64[P]."""
    assert isinstance(case.task, Permutation)
    return np.array(case.task.destination, np.int64)[case.messages.origin]


def walked(case: Case) -> tuple[Schedule, Proof | None]:
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
    patience, certain = Patience(case.budget, case.seed), True
    patience.work *= _SINGLE
    most = int(apart.sum())
    found = Found(*np.zeros((3, 0), np.int32)) if not most else None
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
    return schedule, Proof("exact search", Fraction(least), witness) if least > told else None


def _one_by_one(case: Case, origin: Longs, target: Longs) -> Found:
    """Return the hops of packets that take a shortest path each, one packet after the other."""
    net = case.network
    rows: list[tuple[int, int, int]] = []
    for p, (u, v) in enumerate(zip(origin.tolist(), target.tolist(), strict=True)):
        parent, way = net.breadth_first(u).parent_link, []
        while v != u:
            way.append(int(parent[v]))
            v = int(net.link_source[way[-1]])
        rows += [(len(rows) + i, e, p) for i, e in enumerate(reversed(way))]
    return Found(*np.array(rows, np.int32).reshape(-1, 3).T)


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
