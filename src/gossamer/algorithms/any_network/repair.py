"""A schedule repaired after links failed: only the packets that crossed them, or crowd now, are led elsewhere.

The hops of every packet make a tree. Trees over links that are gone are grown anew over the loads of all others, by the
prices of `gossamer.graphs.priced_trees`; then the hops are scheduled in the order in which they were.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.any_network.dependent_collectives import Half, halves_of, joined
from gossamer.algorithms.any_network.priced_routing import timed
from gossamer.errors import NotApplicableError
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, heights, scheduled, shaken
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case
from gossamer.schedules import CONTROL, Schedule, expand
from gossamer.schedules.packets import message_rows

_POWERS = (8.0, 30.0)
_RELIEF = (30.0, 60.0, 100.0) * 4
_VAIN = 2
"""Turns of relief that may change nothing."""
_ANEW, _SHALLOW = (8.0, 30.0), 1.0
"""Turns in which all trees of an allreduce are grown anew, and what a slot of delay costs: results are out sooner."""
_SMALL = 30_000
"""Hops up to which orders are also drawn at random."""
_SHAKES, _MOST_SHAKES, _SHAKEN = 20, 60, 150_000
"""How often packets are moved in time, more often where few hops are: few enough for a tenth of the time of a plan."""
_SHARES = (0.02, 0.1, 0.3, 1.0) * 3
"""Slots by which a packet that is drawn one place later may wait in each of them."""

Longs = npt.NDArray[np.int64]


class _NumberedHops(NamedTuple):
    """Hops of packets as numbered in the messages of the task: link (-1 if it is gone), packet and slot, int64[H]."""

    link: Longs
    packet: Longs
    slot: Longs

    def of(self, kept: npt.NDArray[np.bool_]) -> _NumberedHops:
        return _NumberedHops(self.link[kept], self.packet[kept], self.slot[kept])


def repaired(schedule: Schedule, case: Case, link: IntArray) -> Schedule:
    """Return a schedule of the same task on what is left of a network.

    * `schedule`: a valid schedule of unsegmented packets.
    * `case`: its task and rules on a network of the same nodes.
    * `link` (int32[L]): the number in `case.network` of each link of the schedule's network, -1 for what is gone.

    Raises `NotApplicableError` if messages are in parts, or control packets tell nodes of each other, or the rules
    limit the buffers. Raises `NetworkError` if some target is cut off.

    O(H log H) for H hops, and O(L + N log N) for each packet that is led elsewhere.

    Source: Gossamer.

    >>> import gossamer
    >>> found = gossamer.plan("torus:4x4", "alltoall").schedule
    >>> left = found.network.without(links=[(0, 1)])
    >>> gossamer.replan(found, left).verification.ok
    True
    """
    _refuse(schedule)
    roads = LinkResources.of(case.network, case.rules)
    hops = _hops_of(schedule, case, link)
    growth, draw = TreeGrowth(roads), np.random.default_rng(case.seed)
    halves = halves_of(case)
    old = [_kept(hops, half, roads) for half in halves]
    for forest, _ in old:
        _load(growth, forest)
    forests = {half.inward: _regrown(growth, half, *kept, draw) for half, kept in zip(halves, old, strict=True)}
    lowest, vain = growth.congestion, 0
    for power in _RELIEF:
        if vain > _VAIN or lowest <= case.floor:
            break
        for half in halves:
            hot = 0.995 * growth.congestion
            visit = draw.permutation(half.numbers.size)
            forests[half.inward] = growth.grow(
                half.demand, half.branches, forests[half.inward],
                power=power, depth_cost=0.03, hot=hot, inward=half.inward, visit=visit,
            )  # fmt: skip
        vain = 0 if growth.congestion < lowest - 1e-9 else vain + 1
        lowest = min(lowest, growth.congestion)
    both = len(halves) == 2  # results wait for contributions: depths and the order of hops decide more than loads
    for power in _ANEW if both else ():
        for half in halves:
            forests[half.inward] = growth.grow(
                half.demand, half.branches, forests[half.inward],
                power=power, depth_cost=_SHALLOW, inward=half.inward, visit=draw.permutation(half.numbers.size),
            )  # fmt: skip
        lowest = growth.congestion
    graph, packet = joined(case, forests)
    orders, least = _orders(graph, packet, hops, roads, draw), max(int(case.floor), ceil(lowest - 1e-9))
    starts = scheduled(graph, roads, rounds=2, orders=orders, least=least)
    if both:
        most = max(_SHAKES, min(_MOST_SHAKES, _SHAKEN // max(1, graph.link.size)))
        starts = shaken(graph, roads, starts, least=least, seed=case.seed, most=most)
    return timed(case, starts, graph.link, packet)


def rescheduled(schedule: Schedule, case: Case) -> Schedule | None:
    """Return a schedule of the same trees in which every hop goes as soon as it can, or None if hops make no trees.

    What phases kept apart overlaps then.

    `schedule`: a valid schedule of the case, of unsegmented packets and without control packets. `case`: its task,
    network and rules.

    O(H log H) for H hops.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:5"), gossamer.task("allreduce"))
    >>> two = gossamer.plan("array:5", "allreduce", algorithm="two-way-greedy-flooding").schedule
    >>> two.completion_time, rescheduled(two, case).completion_time
    (Fraction(8, 1), Fraction(8, 1))
    """
    roads = LinkResources.of(case.network, case.rules)
    hops = _hops_of(schedule, case, np.arange(case.network.link_count, dtype=np.int32))
    forests = {}
    for half in halves_of(case):
        forests[half.inward], broken = _kept(hops, half, roads)
        if broken.size:
            return None
    graph, packet = joined(case, forests)
    orders = _orders(graph, packet, hops, roads, np.random.default_rng(case.seed))
    least = ceil(case.floor)
    starts = scheduled(graph, roads, rounds=6, orders=orders, least=least)
    return timed(case, shaken(graph, roads, starts, least=least, seed=case.seed), graph.link, packet)


def _hops_of(schedule: Schedule, case: Case, link: IntArray) -> _NumberedHops:
    """Return the hops of all packets, over links as they are numbered in `link`."""
    found, messages = expand(schedule), case.messages
    number = messages.first_packet()[message_rows(messages, found.packets)] + found.packets.part
    return _NumberedHops(link.astype(np.int64)[found.link], number[found.packet], found.slot.astype(np.int64))


def _refuse(schedule: Schedule) -> None:
    if schedule.parts > 1:
        raise NotApplicableError("a schedule of messages in parts is not repaired; plan it anew")
    if bool((schedule.packet == CONTROL).any()):
        raise NotApplicableError("a schedule with control packets is not repaired; plan it anew")
    if schedule.rules.buffer is not None:
        raise NotApplicableError("a schedule under a limit of the buffers is not repaired; plan it anew")


def _kept(hops: _NumberedHops, of: Half, roads: LinkResources) -> tuple[Forest, Longs]:
    """Return the trees of the packets whose hops still make one, and the places of the other packets."""
    inward, numbers, demand, branches = of
    count, nodes = numbers.size, roads.cut.size
    half = np.full(int(max(hops.packet.max(initial=-1), numbers.max(initial=-1))) + 1, -1, np.int64)
    half[numbers] = np.arange(count)
    mine = hops.of(half[hops.packet] >= 0)
    packet, link = half[mine.packet], mine.link
    broken = np.zeros(count, bool)
    broken[packet[link < 0]] = True
    whole = ~broken[packet]
    packet, link, slot = packet[whole], link[whole], mine.slot[whole]
    takes = (roads.occupancy + roads.latency)[link]
    tail, head = (roads.target, roads.source) if inward else (roads.source, roads.target)
    begin = -(slot + takes) if inward else slot
    order = np.lexsort((begin, packet))
    packet, link, begin, over = packet[order], link[order], begin[order], (begin + takes)[order]
    first = np.searchsorted(packet, np.arange(count + 1))
    # the hop that brings a packet to a node: the last that is over in time
    low, wide = int(begin.min(initial=0)), int(over.max(initial=0) - begin.min(initial=0)) + 1
    came = (packet * nodes + head[link]) * wide + (over - low)
    sort = np.argsort(came, kind="stable")
    came = came[sort]
    asked = (packet * nodes + tail[link]) * wide + (begin - low)
    place = np.searchsorted(came, asked, "right") - 1
    by = sort[np.maximum(place, 0)] if sort.size else np.zeros(0, np.int64)
    fits = (place >= 0) & (came[np.maximum(place, 0)] // wide == asked // wide) & (by < np.arange(by.size))
    at_origin = tail[link] == demand.origin[packet]
    parent = np.where(at_origin, -1, by - first[packet])
    broken[packet[~(fits | at_origin)]] = True
    single = np.flatnonzero(~branches[tail[link]] & ~at_origin)  # what passes a node once for each copy
    used = np.bincount(by[single], minlength=link.size)
    broken[packet[used > 1]] = True
    which = np.repeat(np.arange(count), np.diff(demand.first))
    away = demand.target != demand.origin[which]
    wanted = which[away] * nodes + demand.target[away]
    last = np.searchsorted(came, (wanted + 1) * wide) - 1
    reached = (last >= 0) & (np.append(came, -1)[last] // wide == wanted)
    broken[which[away][~reached]] = True
    begins, ends = first[:-1].copy(), first[1:].copy()
    ends[broken] = begins[broken]
    forest = Forest(begins, ends, link.astype(np.int32), parent.astype(np.int32))
    return forest, np.flatnonzero(broken)


def _load(growth: TreeGrowth, forest: Forest) -> None:
    """Put the hops of trees on links and ports."""
    size = forest.end - forest.begin
    offset = np.cumsum(size) - size
    link = forest.link[np.arange(size.sum()) + np.repeat(forest.begin - offset, size)]
    roads = growth.roads
    growth.loads[0][:] += np.bincount(link, minlength=roads.source.size) * growth.use
    growth.loads[1][:] += np.bincount(
        roads.source[link], weights=growth.occupancy[link] * roads.send_limited, minlength=roads.cut.size
    )
    growth.loads[2][:] += np.bincount(
        roads.target[link], weights=growth.occupancy[link] * roads.receive_limited, minlength=roads.cut.size
    )
    for side in growth.ports[:2] if growth.ports[2].size else ():
        growth.loads[3][:] += np.bincount(side[link] + 1, minlength=growth.ports[2].size + 1)[1:] * growth.ports[2]


def _regrown(growth: TreeGrowth, half: Half, forest: Forest, broken: Longs, draw: np.random.Generator) -> Forest:
    """Return all trees, those of some packets grown again."""
    if not broken.size:
        return forest
    demand = half.demand
    count = np.diff(demand.first)[broken]
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(count)])
    place = np.arange(first[-1]) + np.repeat(demand.first[broken] - first[:-1], count)
    some = PacketDemand(demand.origin[broken], first, demand.target[place])
    new: Forest | None = None
    for power in _POWERS:
        visit = draw.permutation(broken.size)
        new = growth.grow(some, half.branches, new, power=power, depth_cost=0.03, inward=half.inward, visit=visit)
    assert new is not None
    begin, end = forest.begin.copy(), forest.end.copy()
    begin[broken], end[broken] = new.begin + forest.link.size, new.end + forest.link.size
    link, parent = (np.concatenate([a, b]) for a, b in ((forest.link, new.link), (forest.parent, new.parent)))
    return Forest(begin, end, link, parent)


def _orders(
    graph: HopGraph, packet: IntArray, hops: _NumberedHops, roads: LinkResources, draw: np.random.Generator
) -> list[npt.NDArray[np.float64]]:
    """Return orders of the hops: as they were, new ones as late as they may be; and by what is still to come."""
    links = roads.source.size
    old = np.flatnonzero(hops.link >= 0)
    keys = hops.packet[old] * links + hops.link[old]
    sort = np.argsort(keys, kind="stable")
    wanted = packet.astype(np.int64) * links + graph.link
    place = np.minimum(np.searchsorted(keys[sort], wanted), max(keys.size - 1, 0))
    height = heights(graph, roads)[0].astype(np.float64)
    late = max(float(hops.slot.max(initial=0)), float(height.max(initial=0))) - height
    if not keys.size:
        return [late]
    known = keys[sort][place] == wanted
    before = np.where(known, hops.slot[old][sort][place].astype(np.float64), late)
    found = [before, late, np.minimum(before, late)]
    if graph.link.size < _SMALL:
        turns = (draw.permutation(int(packet.max(initial=0)) + 1) for _ in _SHARES)
        found += [late + share * turn[packet] for turn, share in zip(turns, _SHARES, strict=True)]
    return found
