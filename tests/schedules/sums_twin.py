"""A plain simulation of partial sums that carries sets of contributions, one packet at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

OF_SUMS = ("causality", "duplicate", "lost contribution", "delivery")


@dataclass(frozen=True)
class Switches:
    """Nodes from `first` on are switches, which may add, and may copy what they have."""

    first: int
    adds: bool = True
    copies: bool = True


class Sum(NamedTuple):
    """Contributions, and when the tail of their sum is there."""

    of: frozenset[int]
    tail: int


def settled(arrivals: list[Sum], held: Sum) -> tuple[Sum, int, int]:
    """Return (what a node holds after the arrivals, wasted, counted twice) by the rule as the docs have it."""

    def largest(sums: list[Sum]) -> list[Sum]:
        return [
            a for i, a in enumerate(sums)
            if not any(a.of < b.of or (a.of == b.of and j < i) for j, b in enumerate(sums))
        ]  # fmt: skip

    kept = largest(arrivals)
    both = frozenset().union(*(a.of for a in kept))
    tail = max(a.tail for a in kept)
    if sum(len(a.of) for a in kept) == len(both):
        if both <= held.of:
            return held, len(arrivals), 0
        if both >= held.of:
            return Sum(both, tail), len(arrivals) - len(kept), 0
        if not both & held.of:
            return Sum(held.of | both, max(tail, held.tail)), len(arrivals) - len(kept), 0
    kept = largest([a for a in arrivals if not a.of <= held.of])
    wasted, twice = len(arrivals) - len(kept), 0
    for a in kept:
        if a.of & held.of:
            twice += 1
        else:
            held = Sum(held.of | a.of, max(a.tail, held.tail))
    return held, wasted, twice


def simulated(
    hops: list[tuple[int, ...]], members: list[int], targets: list[int], switches: Switches | None = None
) -> tuple[int, ...]:
    """Return (hops that cannot leave, wasted, counted twice, goals not met) of one packet's rows.

    A row is (start, when it is usable, sender, receiver), then the row that it repeats, -1, or -2 less the time of
    which it carries the sum, and where switches cut through when its tail has left and when it is there.
    """
    twin = _SumsTwin([_filled(row) for row in hops], members, switches or Switches(2**30))
    for t in sorted({t for hop in twin.hops for t in hop[:2]}):
        twin.run(t)
    unmet = sum(twin.sums.get(v, NOTHING).of != set(members) for v in targets)
    return twin.early, twin.wasted, twin.twice, unmet


def _filled(row: tuple[int, ...]) -> tuple[int, ...]:
    row = (*row, -1) if len(row) == 4 else row
    return row if len(row) == 7 else (*row, row[1], row[1])


NOTHING = Sum(frozenset(), -1)


class _SumsTwin:
    """The sums of one packet, from time to time."""

    def __init__(self, hops: list[tuple[int, ...]], members: list[int], switches: Switches) -> None:
        self.hops, self.switches = hops, switches
        self.sums = {v: Sum(frozenset([v]), -1) for v in members}
        self.ever = {-1: dict(self.sums)}
        self.carried: dict[int, Sum] = {}  # as they are at their senders
        self.passing = {j for _, _, u, _, j, *_ in hops if j >= 0 and hops[j][3] == u}
        self.came: dict[int, list[int]] = {}  # rows that have come to a node and are not settled
        self.last: dict[int, int] = {}  # the latest row that left a switch which adds nothing
        self.used: set[int] = set()  # rows that passed through a switch that does not copy
        self.early = self.wasted = self.twice = 0

    def run(self, t: int) -> None:
        for i, (start, usable, _, _, *_) in enumerate(self.hops):
            if usable == t > start:
                self.bring(i)
        waiting = [i for i, hop in enumerate(self.hops) if hop[0] == t]
        for v in {hop[3] for hop in self.hops}:
            if not self.awaited(waiting, v):
                self.settle(v, t)
        while ready := [i for i in waiting if self.ready(i, waiting)]:
            i = ready[0]
            waiting.remove(i)
            load = self.load(i)
            if not load.of or load.tail > self.hops[i][5]:
                self.early += 1
            else:
                self.leave(i, load)
                if self.hops[i][1] == t:
                    self.bring(i)
            v = self.hops[i][3]
            if not self.awaited(waiting, v):
                self.settle(v, t)
        self.early += len(waiting)
        for v in list(self.came):
            self.settle(v, t)

    def is_switch(self, v: int) -> bool:
        return v >= self.switches.first

    def awaited(self, waiting: list[int], v: int) -> bool:
        """Whether something may still come to a node at this time."""
        return any(
            self.hops[i][3] == v and self.hops[i][0] == self.hops[i][1] and i not in self.passing for i in waiting
        )

    def ready(self, i: int, waiting: list[int]) -> bool:
        t, _, u, _, again, *_ = self.hops[i]
        return again not in waiting if again >= 0 else -2 - again in range(t) or not self.awaited(waiting, u)

    def bring(self, i: int) -> None:
        if i in self.carried and i not in self.passing:
            self.came.setdefault(self.hops[i][3], []).append(i)

    def settle(self, v: int, t: int) -> None:
        if self.came.get(v) and (self.switches.adds or not self.is_switch(v)):
            arrivals = [Sum(self.carried[i].of, self.hops[i][6]) for i in sorted(self.came.pop(v))]
            self.sums[v], wasted, twice = settled(arrivals, self.sums.get(v, NOTHING))
            self.wasted, self.twice = self.wasted + wasted, self.twice + twice
        self.ever.setdefault(t, {})[v] = self.sums.get(v, NOTHING)

    def load(self, i: int) -> Sum:
        """Return what leaves, or nothing."""
        t, _, u, _, again, gone, _ = self.hops[i]
        copies, adds = (not self.is_switch(u) or x for x in (self.switches.copies, self.switches.adds))
        if again >= 0:
            _, usable, source, target, _, _, end = self.hops[again]
            if again not in self.carried or (target == u and (usable > t or (again in self.used and not copies))):
                return NOTHING
            if target == u:
                return Sum(self.carried[again].of, end)
            return self.carried[again] if source == u and copies else NOTHING
        if again < -1:
            if not copies or not adds:
                return NOTHING
            return next((self.ever[x][u] for x in range(-2 - again, -2, -1) if u in self.ever.get(x, {})), NOTHING)
        if adds:
            return self.sums.get(u, NOTHING)
        able = [(self.hops[j][6], j) for j in self.came.get(u, ()) if self.hops[j][6] <= gone]
        if able:
            return Sum(self.carried[min(able)[1]].of, min(able)[0])
        j = self.last.get(u)
        return NOTHING if j is None or not copies else Sum(self.carried[j].of, self.hops[j][6])

    def leave(self, i: int, load: Sum) -> None:
        _, _, u, _, again, gone, _ = self.hops[i]
        self.carried[i] = load
        if again >= 0 and self.hops[again][3] == u:
            self.used.add(again)
        if again != -1 or not self.is_switch(u):
            return
        if self.switches.adds and not self.switches.copies:
            self.sums[u] = NOTHING
        elif not self.switches.adds:
            able = [(self.hops[j][6], j) for j in self.came.get(u, ()) if self.hops[j][6] <= gone]
            if able:
                self.last[u] = min(able)[1]
                self.came[u].remove(self.last[u])


def sent_again(hops: list[tuple[int, int, int]], combined: dict[int, int], adding: range) -> set[int]:
    """Return the packets of reductions, given with their roots, that a node that adds sends twice, or the root at all.

    `hops` are (packet, sender, receiver).
    """
    sends = Counter((p, u) for p, u, _ in hops if u in adding)
    return {p for (p, u), often in sends.items() if p in combined and (often > 1 or combined[p] == u)}
