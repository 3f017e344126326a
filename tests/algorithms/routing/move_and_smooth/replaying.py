"""Hops replayed one at a time, and the move engine once more, in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np

import gossamer
from gossamer.algorithms.routing.move_and_smooth.smoothing import MovingItems
from gossamer.questions.cases import Case
from gossamer.schedules.hop_sinks import RecordingSink
from gossamer.schedules.schedule import CONTROL


def traffic_of(counts) -> MovingItems:
    """Return traffic with so many items at each node of an array, each with a packet of its own."""
    counts = np.asarray(counts)
    net = gossamer.network("array:" + "x".join(map(str, counts.shape)))
    total = int(counts.sum())
    destination = [u if u < total else -1 for u in range(counts.size)]
    traffic = MovingItems.of(Case(net, gossamer.task("permutation", destination=destination)), RecordingSink())
    traffic.node = np.repeat(np.arange(counts.size, dtype=np.int32), counts.reshape(-1))
    return traffic


def replay(traffic: MovingItems, start) -> dict[str, tuple[np.ndarray, int]]:
    """Replay what a recording kept; return for each phase the contents after it and the most packets at a node.

    Fails if a packet is not where it leaves from, or a link carries two in a step.
    """
    net, recording = traffic.network, traffic.sink
    assert isinstance(recording, RecordingSink)
    place = list(np.asarray(start).tolist())
    slots, links, packets = (column.tolist() for column in recording.kept)
    result, first = {}, 0
    for run in recording.phases:
        most = max(Counter(place).values(), default=0)
        for t in range(first, first + run.steps):
            hops = [(ln, p) for s, ln, p in zip(slots, links, packets, strict=True) if s == t]
            assert len({ln for ln, _ in hops}) == len(hops)
            for ln, p in hops:
                if p != CONTROL:
                    assert place[p] == net.link_source[ln]
            for ln, p in hops:
                if p != CONTROL:
                    place[p] = int(net.link_target[ln])
            most = max([most, *Counter(place).values()])
        first += run.steps
        contents = np.bincount(place, minlength=net.node_count).reshape(net.grid.sides)
        result[run.name] = contents, most
    return result


def travel(sides, starts, legs, rule="farthest"):
    """Move packets along their legs in lock-step; return the steps, the ends, and the most packets at a node.

    `legs` lists (axis, signed hops) for each packet. Rules: ``farthest`` remaining first, or ``straight``: a packet
    that moved the same way in the step before goes first, then the farthest; ties by number.
    """
    place = [list(p) for p in starts]
    left = [[[a, h] for a, h in way if h] for way in legs]
    moved = [False] * len(starts)
    steps, most = 0, max(Counter(map(tuple, place)).values())
    while any(left):
        wish = {}
        for p, way in enumerate(left):
            if way:
                link = (*place[p], way[0][0], way[0][1] > 0)
                far = sum(abs(h) for _, h in way)
                key = (-far, p) if rule == "farthest" else (not moved[p], -far, p)
                wish[link] = min(wish.get(link, key), key)
        moved = [False] * len(starts)
        for key in wish.values():
            p = key[-1]
            axis, hops = left[p][0]
            place[p][axis] += 1 if hops > 0 else -1
            left[p][0][1] -= 1 if hops > 0 else -1
            moved[p] = left[p][0][1] != 0
            if not moved[p]:
                left[p].pop(0)
        steps += 1
        most = max(most, *Counter(map(tuple, place)).values())
    assert all(0 <= x < side for at in place for x, side in zip(at, sides, strict=True))
    return steps, [tuple(at) for at in place], most
