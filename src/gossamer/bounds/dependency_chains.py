"""Bounds from chains of what waits for what: collectives after others, results after their contributions.

Forward in time, each message can be at a target no earlier than the way there takes from when it may leave: after all
that the collectives it waits for bring to its origin, which takes as long as their ways, and as the node's links need
for all of it. Backwards in time the same holds for what must still follow. So a message proves the sum of both; a node
what it must receive (or send) between the two; and any messages the bound of these alone, between the earliest of the
former and the least of the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.earliest_arrivals import searches, spread, takes_time
from gossamer.bounds.proofs import Chain
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts
from gossamer.questions.cases.links import FAR, Links, least_time
from gossamer.questions.tasks import (
    COMBINE,
    Allreduce,
    Broadcast,
    Chunked,
    DemandTable,
    Grouped,
    Messages,
    MultinodeBroadcast,
    Reduce,
    ReduceScatter,
    Task,
    Together,
    chunked,
)
from gossamer.questions.tasks.composite_tasks import with_targets

# Bounds for tasks whose messages wait for others: the broadcasts of an allreduce follow its reductions.

_SEQUENCE_SOURCE = "folklore: the result of a block leaves its root after the last contribution arrived"


def sequence_bounds(case: Case, best: Callable[[Case], Bound]) -> Iterator[Bound]:
    """Yield the bounds of an allreduce that add times of its two halves.

    `case`: what is asked; anything but an allreduce has no such bound. `best`: ``case -> Bound``: the largest bound of
    another case.

    Each block is reduced before it is broadcast, so the two take the sum of their bounds. The last reduction ends no
    earlier than a reduce-scatter can, and its block must still be broadcast from its root; the first broadcast begins
    no earlier than the shortest reduction ends, and all broadcasts follow it.
    """
    task, packets = (case.task.task, case.task.packets) if isinstance(case.task, Chunked) else (case.task, 1)
    if not isinstance(task, Allreduce) or not case.demands:
        return
    near, far = _reaches(case, False), _reaches(case, True)
    reach = near[1] + far[1]
    root = int(near[0][np.argmax(reach)])
    reduce, broadcast = best(case.related(task=Reduce(root))), best(case.related(task=Broadcast(root)))
    yield Bound.of(
        "reduce, then broadcast", Chain((reduce, broadcast)),
        f"the block of root {case.name(root)} takes {case.time_text(reduce.value)} to reduce ({reduce.name}) and then "
        f"{case.time_text(broadcast.value)} to broadcast ({broadcast.name})",
        "sequence", _SEQUENCE_SOURCE,
    )  # fmt: skip
    for whole, first, last, name in (
        (ReduceScatter(), False, True, "reduce-scatter, then broadcast"),
        (MultinodeBroadcast(), True, False, "reduce, then multinode broadcast"),
    ):
        bound = best(case.related(task=chunked(whole, packets)))
        least = _least(case, far if first else near, first)
        first_half = whole.name.replace("-", " ") if first else whole.name
        single = "the last block must still be broadcast" if last else "a first block must be reduced before"
        yield Bound.of(
            name, Chain((bound, least)),
            f"the {first_half} takes {case.time_text(bound.value)} ({bound.witness}), and {single}, at least "
            f"{case.time_text(least)}",
            "sequence", _SEQUENCE_SOURCE,
        )  # fmt: skip


def _reaches(case: Case, inward: bool) -> tuple[Counts, Counts]:
    """Return terminals, and how long a packet takes at the least from each to the furthest other, or `inward` back."""
    count = 1 if case.invariant else case.network.terminal_count
    roots = np.arange(count, dtype=np.int64)
    if not takes_time(case):
        return roots, case.metric.eccentricities(roots, inward)
    links = case.links.turned if inward else case.links
    # at least the time of a link where it is not worked out
    found = np.full(count, int((links.hold + links.latency).min()), np.int64)
    for v in spread(roots, searches(links)).tolist():
        found[v] = int(links.travel(np.array([v])).usable[: case.network.terminal_count].max())
    return roots, found


def _least(case: Case, reaches: tuple[Counts, Counts], inward: bool) -> Fraction:
    """Return a time that no single broadcast, or `inward` reduction, beats from any root."""
    steps = int(reaches[1].min())
    if case.whole:
        limited = case.receive_limited if inward else case.send_limited
        if limited and bool(case.links.stores.all()):
            steps = max(steps, (case.network.terminal_count - 1).bit_length())
        return Fraction(steps)
    # every node but the root receives (or sends) one message over its links: of the two slowest, one is not the root
    links, n = (case.links if inward else case.links.turned), case.network.terminal_count
    rate = np.zeros(links.node_count)
    (np.maximum if links.send_limited else np.add).at(rate, links.source, links.rate)
    times = []
    for v in np.argsort(rate[:n], kind="stable")[:2].tolist():
        mine = slice(int(links.first[v]), int(links.first[v + 1]))
        columns = links.capacity[mine], links.occupancy[mine], links.latency[mine]
        if links.send_limited:
            columns = columns[0][:1], columns[1].min(keepdims=True), columns[2].min(keepdims=True)
        times.append(least_time(1, *columns, False))
    return max(Fraction(steps if takes_time(case) else 0), min(t or Fraction(0) for t in times))


LARGEST = 2_000_000
"""Pairs of an origin and a target up to which chains are followed."""

_SOURCE = "folklore: what waits begins when what it waits for is there"
_SUBSETS = 8
_LEVELS = 3
_NODES = 64
_FINE = 5040
"""Times of segmented messages are counted in such parts of a step, rounded down."""


class _Rows(Task):
    """Some messages of a task, which wait for nothing."""

    name = "messages"

    def __init__(self, messages: Messages, kept: Counts) -> None:
        assert messages.target_start is not None
        assert messages.targets is not None
        lengths = np.diff(messages.target_start)[kept]
        start = np.append(0, np.cumsum(lengths))
        place = np.arange(start[-1]) + np.repeat(messages.target_start[kept] - start[:-1], lengths)
        sizes = None if messages.sizes is None else messages.sizes[kept]
        columns = messages.origin[kept], messages.discipline[kept], start, messages.targets[place]
        self._messages = Messages(messages.ids[kept], *columns, sizes=sizes)

    def messages(self, network: object, origins: object = None) -> Messages:
        """Return the messages."""
        return self._messages


@dataclass(frozen=True, eq=False)
class _Way:
    """The pairs of a task in one direction of time: from `start` to `end`, int64[p] each, of message `row`.

    `after` int64[m] is the message that one waits for, or -1; `level` int64[m] after how many others it may come;
    `once` bool[m] whether what a message brings to an end comes once, however many starts it has; `waits` pairs
    (later, earlier) of so many `stages`.
    """

    links: Links
    row: Counts
    start: Counts
    end: Counts
    time: Counts
    after: Counts
    level: Counts
    once: Counts
    stage: Counts
    size: Counts
    waits: tuple[tuple[int, int], ...]
    stages: int
    unit: int

    def followed(self) -> Counts:
        """Return when each pair may begin at the earliest, int64[p]."""
        ready = np.zeros((self.stages, self.links.node_count), np.int64)
        begin = np.zeros(self.row.size, np.int64)
        done = np.zeros(self.after.size, np.int64)
        levels = self.level[self.row]
        depth = np.unique(levels)
        for now in depth.tolist():
            mine = np.flatnonzero(levels == now)
            row = self.row[mine]
            before = np.where(self.after[row] >= 0, done[self.after[row]], 0)
            begin[mine] = np.maximum(ready[self.stage[row], self.start[mine]], before)
            np.maximum.at(done, row, begin[mine] + self.time[mine])
            for k in np.unique(self.stage[row]).tolist():
                later = [a for a, b in self.waits if b == k]
                if later:
                    so_far = np.flatnonzero((self.stage[self.row] == k) & (levels <= now))
                    came = self._came(so_far, begin[so_far] + self.time[so_far])
                    for a in later:
                        ready[a] = np.maximum(ready[a], came)
        return begin

    def _came(self, pairs: Counts, arrive: Counts) -> Counts:
        """Return when all that some pairs bring can be at each node, int64[N]."""
        came = np.zeros(self.links.node_count, np.int64)
        np.maximum.at(came, self.end[pairs], arrive)
        order = np.argsort(self.end[pairs], kind="stable")
        nodes, first = np.unique(self.end[pairs][order], return_index=True)
        for v, mine in zip(nodes.tolist(), np.split(order, first[1:]), strict=True):
            came[v] = max(came[v], self.taken(v, pairs[mine], arrive[mine]))
        return came

    def taken(self, node: int, pairs: Counts, arrive: Counts) -> int:
        """Return when a node can have taken in what some pairs bring to it, the earliest at times `arrive`."""
        row, size = self.row[pairs], self.size[self.row[pairs]]
        if bool(self.once[row].any()):  # contributions to one root count once, with the last of them
            key = np.where(self.once[row], row, self.size.size + np.arange(row.size))
            _, which = np.unique(key, return_inverse=True)
            last = np.zeros(which.max() + 1, np.int64)
            many = last.copy()
            np.maximum.at(last, which, arrive)
            np.maximum.at(many, which, size)
            arrive, size = last, many
        view, best, unit = self.links.turned, 0, self.unit
        mine = slice(int(view.first[node]), int(view.first[node + 1]))
        capacity, occupancy, hold, latency = (x[mine] for x in (view.capacity, view.occupancy, view.hold, view.latency))
        if self.links.receive_limited:
            capacity, occupancy = np.ones(1, np.int64), occupancy.min(keepdims=True)
            hold, latency = hold.min(keepdims=True), latency.min(keepdims=True)
        for since in spread(np.unique(arrive), _LEVELS).tolist():
            wait = np.maximum(since - unit * hold, unit * latency)
            time = least_time(int(size[arrive >= since].sum()), capacity, unit * occupancy, wait, view.whole)
            best = best if time is None else max(best, int(time))
        return best


def _ways(case: Case) -> tuple[_Way, _Way, Messages] | None:
    """Return the pairs forward and backwards in time, and the messages; None where there are too many."""
    messages = with_targets(case.messages, case.network.terminal_count)
    assert messages.target_start is not None
    assert messages.targets is not None
    if messages.targets.size > LARGEST:
        return None
    row = np.repeat(np.arange(messages.count), np.diff(messages.target_start))
    origin, target = messages.origin[row].astype(np.int64), messages.targets.astype(np.int64)
    row, origin, target = (x[origin != target] for x in (row, origin, target))
    inward = messages.discipline == COMBINE
    start, end = np.where(inward[row], target, origin), np.where(inward[row], origin, target)
    unit = 1 if case.whole else _FINE
    time = _times(case, start, end) * unit
    none = np.full(messages.count, -1, np.int64)
    after = none if messages.after is None else messages.after
    followed_by = none.copy()
    followed_by[after[after >= 0]] = np.flatnonzero(after >= 0)
    stage = np.zeros(messages.count, np.int64) if messages.stage is None else messages.stage.astype(np.int64)
    size = np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes
    back = tuple((b, a) for a, b in messages.waits)
    # after how many others a message may come: of earlier collectives, and of its contributions
    level = 2 * messages.stage_depths()[stage] + (after >= 0)
    level_back = 2 * messages.stage_depths(turned=True)[stage] + (followed_by >= 0)
    forth = _Way(
        case.links, row, start, end, time, after, level, inward, stage, size, messages.waits, messages.stages, unit
    )
    turned = _Way(
        case.links.turned, row, end, start, time, followed_by, level_back, ~inward, stage, size, back, messages.stages,
        unit,
    )  # fmt: skip
    return forth, turned, messages


def _times(case: Case, start: Counts, end: Counts) -> Counts:
    """Return the least time of the way of each pair, of a link where that is not worked out."""
    links = case.links
    time = np.full(start.size, int((links.hold + links.latency).min()), np.int64)
    order = np.argsort(start, kind="stable")
    nodes, first = np.unique(start[order], return_index=True)
    groups = np.split(order, first[1:])
    for i in spread(np.arange(nodes.size), searches(links)).tolist():
        time[groups[i]] = links.travel(nodes[i : i + 1]).usable[end[groups[i]]]
    return np.where(time < FAR, time, 0)


def chain_bounds(case: Case, best: Callable[[Case], Bound]) -> Iterator[Bound]:
    """Yield the bounds of what waits for what.

    `case`: what is asked; where nothing waits there is no such bound. `best`: ``case -> Bound``: the largest bound of
    another case.

    O(searches * L log L + pairs log pairs), and the bounds of a few sets of messages.
    """
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    if not isinstance(task, Grouped | Together | DemandTable) or not case.demands:
        return
    if case.messages.after is None and not case.messages.waits:
        return
    ways = _ways(case)
    if ways is None:
        return
    forth, back, messages = ways
    before, behind = forth.followed(), back.followed()
    whole = before + forth.time + behind
    at = int(np.argmax(whole))
    if whole[at]:
        node, end, unit = int(forth.start[at]), int(forth.end[at]), forth.unit
        ends = f"from node {case.name(node)} to node {case.name(end)}"
        text = (
            f"a message takes {_time(case, forth.time[at], unit)} {ends}, "
            f"what it waits for {_time(case, before[at], unit)}, and what waits for it {_time(case, behind[at], unit)}"
        )
        proof = Chain(tuple(_fraction(time[at], unit) for time in (before, forth.time, behind)))
        yield Bound.of("chain", proof, text, "sequence", _SOURCE)
    for way, early, late, verb in ((forth, before, behind, "receive"), (back, behind, before, "send")):
        yield from _nodes(case, way, early + way.time, late, verb)
    yield from _subsets(case, messages, forth, before, behind, best)


def _fraction(time: int, unit: int) -> Fraction:
    """Return a time in steps, of unsegmented messages a whole number."""
    return Fraction(int(time), unit)


def _time(case: Case, time: int, unit: int) -> str:
    return case.time_text(_fraction(time, unit))


def _nodes(case: Case, way: _Way, arrive: Counts, late: Counts, verb: str) -> Iterator[Bound]:
    """Yield the node that longest takes in (or sends) what it must, between what comes before and after."""
    count = np.bincount(way.end, way.size[way.row], way.links.node_count)
    best: tuple[int, int, int] | None = None
    for v in np.argsort(-count, kind="stable")[:_NODES].tolist():
        mine = np.flatnonzero(way.end == v)
        if not mine.size:
            break
        for least in spread(np.unique(late[mine]), _LEVELS).tolist():
            some = mine[late[mine] >= least]
            time = way.taken(v, some, arrive[some]) + least
            if best is None or time > best[0]:
                best = time, v, least
    if best is not None:
        time, node, least = best
        taken, around = _time(case, time - least, way.unit), _time(case, least, way.unit)
        text = f"node {case.name(node)} has what it must receive after {taken}, and what waits for that takes {around}"
        if verb == "send":
            text = f"what node {case.name(node)} must send takes {taken} to its targets, and what it waits for {around}"
        proof = Chain((_fraction(time - least, way.unit), _fraction(least, way.unit)), node=node)
        yield Bound.of(f"node {verb}s in a chain", proof, text, "sequence", _SOURCE)


def _subsets(
    case: Case, messages: Messages, forth: _Way, before: Counts, behind: Counts, best: Callable[[Case], Bound]
) -> Iterator[Bound]:
    """Yield the bounds of some messages by themselves, with the least times before and after any of them."""
    early = np.full(messages.count, FAR, np.int64)
    late = early.copy()
    np.minimum.at(early, forth.row, before)
    np.minimum.at(late, forth.row, behind)
    rows = np.flatnonzero(early < FAR)
    chosen: dict[bytes, Counts] = {}
    for low in spread(np.unique(early[rows]), _LEVELS).tolist():
        for high in spread(np.unique(late[rows]), _LEVELS).tolist():
            some = rows[(early[rows] >= low) & (late[rows] >= high)]
            if some.size and low + high > 0:
                chosen.setdefault(some.tobytes(), some)
    for kind in (2 * forth.stage + (forth.after >= 0), forth.stage):
        for k in np.unique(kind[rows]).tolist():
            some = rows[kind[rows] == k]
            if int(early[some].min() + late[some].min()) > 0:
                chosen.setdefault(some.tobytes(), some)
    found: Bound | None = None
    for some in list(chosen.values())[:_SUBSETS]:
        bound = best(case.related(task=_Rows(messages, some)))
        around = int(early[some].min()), int(late[some].min())
        proof = Chain((bound, *(_fraction(time, forth.unit) for time in around)))
        if found is None or proof.value > found.value:
            early_text, late_text = (_time(case, time, forth.unit) for time in around)
            text = (
                f"{quantity(some.size, 'message')} take {case.time_text(bound.value)} ({bound.witness}), plus at least "
                f"{early_text} before and {late_text} after"
            )
            found = Bound.of("one after the other", proof, text, "sequence", _SOURCE)
    if found is not None:
        yield found
