"""Store and forward in fat trees: queues that every node serves by one rule, and packets that never wait.

Paths in a tree leave no choice, so an algorithm is the order in which the leaves send, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import refuse_buffers
from gossamer.errors import NotApplicableError
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Levels, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.rules import Ports, Rules
from gossamer.schedules import Schedule


@njit(cache=True, nogil=True)
def _toward(first_link, link_target, first, size, v, leaf):
    """Return the link from node v towards a leaf: down if the leaf is below v, else its first link, which leads up."""
    below = leaf - first[v]
    if below < 0 or below >= size[v]:
        return first_link[v]
    child = size[link_target[first_link[v + 1] - 1]]  # leaves below a child; the last links lead to the children
    return first_link[v + 1] - size[v] // child + below // child


@njit(cache=True, nogil=True, small=100_000)
def _serve_queues(
    first_link, link_target, reverse_link, link_capacity, leaves, first, size, destination, one_send,
    head, tail, queue, slot, link, packet,
):  # fmt: skip
    """Fill the columns slot by slot; see `gossamer.algorithms.fat_trees.serve_queues`.

    The queue of link e is ``queue[head[e]:tail[e]]``; `head` and `tail` int64[L] advance in place. `destination` is
    empty where every packet goes to all leaves.
    """
    nodes = first_link.size - 1
    turn = np.zeros(nodes, np.int32)  # the child to be served next
    pending = np.zeros(nodes, np.int64)  # packets that wait at each node
    for v in range(leaves):
        for e in range(first_link[v], first_link[v + 1]):
            pending[v] += tail[e] - head[e]
    rows = 0
    t = 0
    while rows < slot.size:
        begin = rows
        for v in range(nodes):
            if pending[v] == 0:
                continue
            a, b = first_link[v], first_link[v + 1]
            sent = rows
            if one_send:
                chosen = -1
                if v < nodes - 1:
                    if head[a] < tail[a]:
                        chosen = a
                    a += 1
                if chosen < 0:
                    for j in range(b - a):
                        c = (turn[v] + j) % (b - a)
                        if head[a + c] < tail[a + c]:
                            chosen = a + c
                            turn[v] = c + 1
                            break
                a, b = chosen, chosen + 1
            for e in range(a, b):
                most = 1 if one_send else link_capacity[e]
                for i in range(head[e], min(head[e] + most, tail[e])):
                    slot[rows], link[rows], packet[rows] = t, e, queue[i]
                    head[e] += 1
                    rows += 1
            pending[v] -= rows - sent
        for row in range(begin, rows):  # what came in this slot can leave in the next
            v = link_target[link[row]]
            p = packet[row]
            if v < leaves:
                continue
            if destination.size:
                e = _toward(first_link, link_target, first, size, v, destination[p])
                queue[tail[e]] = p
                tail[e] += 1
                pending[v] += 1
                continue
            for e in range(first_link[v], first_link[v + 1]):
                if e != reverse_link[link[row]]:
                    queue[tail[e]] = p
                    tail[e] += 1
                    pending[v] += 1
        t += 1


@njit(cache=True, nogil=True, small=100_000)
def _exchange_paths(first_link, link_target, leaves, first, size, start, rest, hops, room, slot, link, packet):
    """Write the hops of packets that leave in slot `start` and wait `rest` slots where they turn, sorted by slot.

    Packets go from each leaf to each other one, by origin and then by destination; `hops` int64[P] is the length of
    their paths. `room` int64[slots+1] must be zero.
    """
    for p in range(start.size):
        turn = start[p] + hops[p] // 2
        room[start[p]] += 1
        room[turn] -= 1
        room[turn + rest[p]] += 1
        room[start[p] + rest[p] + hops[p]] -= 1
    begin, active = 0, 0
    for t in range(room.size):  # from packets that start or end to the first row of each slot
        active += room[t]
        room[t] = begin
        begin += active
    for p in range(start.size):
        v = p // (leaves - 1)
        b = p % (leaves - 1)
        if b >= v:
            b += 1
        for i in range(hops[p]):
            t = start[p] + i
            if 2 * i >= hops[p]:
                t += rest[p]
            row = room[t]
            room[t] += 1
            slot[row], packet[row] = t, p
            link[row] = _toward(first_link, link_target, first, size, v, b)
            v = link_target[link[row]]


Hops = tuple[IntArray, IntArray, IntArray]
"""Columns slot, link and packet, sorted by slot, int32[H]."""


def levels_of(network: Network) -> Levels:
    """Return the shape of a fat tree; NotApplicableError if `network` is none."""
    if network.levels is None:
        raise NotApplicableError(f"network {network.spec!r} is no fat tree")
    return network.levels


def refuse_fat_tree(case: Case, ports: Ports) -> Refusal | None:
    """Refuse for an algorithm of fat trees for one setting of the ports, or not."""
    if case.network.levels is None:
        return Refusal("needs a fat tree")
    if case.rules.ports != ports:
        why = ": a routing node receives from several children at once" if case.receive_limited else ""
        return Refusal(f"is for {Rules(ports=ports).ports_text} nodes{why}")
    return None


def proposing(
    builder: Callable[[Case], Schedule],
    ports: Ports,
    steps: Callable[[Levels], int | None],
    optimal: Callable[[Levels], bool] = lambda levels: False,
    held: Callable[[Levels], int] | None = None,
) -> Callable[[Case], Offer[Schedule] | Refusal]:
    """Return the `propose` of an algorithm for one setting of the ports.

    `builder`, callable: ``case -> schedule``. `steps`, callable: the steps that it takes in a fat tree of a shape; None
    for no promise. `optimal`, callable: whether no schedule of unsegmented messages takes less in a fat tree of a
    shape. `held`, callable: the most packets in transit at a node of a fat tree of a shape, where every leaf ends with
    all n messages and no node holds more. Default: any number, so that limited buffers are refused.
    """

    def propose(case: Case) -> Offer[Schedule] | Refusal:
        refusal = refuse_fat_tree(case, ports)
        if refusal is not None:
            return refusal
        levels = levels_of(case.network)
        most = None
        if held is not None:
            most = held(levels) if case.rules.buffer_counts == "transit" else levels.leaves[-1]
        refusal = refuse_buffers(case.rules, most)
        if refusal is not None:
            return refusal
        time = steps(levels)
        return Offer(
            lambda: builder(case), None if time is None else Fraction(time), optimal=case.whole and optimal(levels)
        )

    return propose


@dataclass(frozen=True, eq=False)
class Spans:
    """Which leaves lie below each node of a fat tree, and the number of the node at a place of a level."""

    network: Network

    def node(self, level: int, place: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the numbers of the nodes at places, counted from the left, of a level."""
        levels = levels_of(self.network)
        first: int = sum(levels.leaves[-1] // leaves for leaves in levels.leaves[:level])
        return place + first

    @cached_property
    def size(self) -> IntArray:
        """Leaves below each node, int32[N]; a leaf is below itself."""
        levels = levels_of(self.network)
        return np.repeat(levels.leaves, [levels.leaves[-1] // n for n in levels.leaves]).astype(np.int32)

    @cached_property
    def first(self) -> IntArray:
        """The leftmost leaf below each node, int32[N]."""
        levels = levels_of(self.network)
        counts = [levels.leaves[-1] // n for n in levels.leaves]
        return np.concatenate([np.arange(c) for c in counts]).astype(np.int32) * self.size

    @cached_property
    def crossings(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Leaves on the near and on the far side of each link, int64[L] each."""
        source, target = self.network.link_source, self.network.link_target
        size, n = self.size.astype(np.int64), self.network.terminal_count
        near = np.where(target > source, size[source], n - size[target])
        return near, n - near

    def ways_down(self, level: int) -> Iterator[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield the links down into all nodes below X, the node of a level above each leaf, one lower level at a time.

        With the level of the nodes that they lead to, the links, int[N, W], and the child of X, 0..k-1, that each of
        these nodes is or lies below, int[N, W].
        """
        network, levels = self.network, levels_of(self.network)
        n, k = levels.leaves, levels.arities[level - 1]
        leaf = np.arange(network.terminal_count, dtype=np.int32)[:, None]
        for i in range(level):
            width = n[level] // n[i]
            place = leaf // n[level] * width + np.arange(width)
            yield i, network.reverse_link[network.first_link[self.node(i, place)]], place // (width // k) % k


def phase_starts(lengths: Sequence[int]) -> list[int]:
    """Return the steps before each of the overlapping phases g = h, h-1, ..., 1.

    `lengths`: item g-1: steps during which packets leave the leaves in phase g.

    Returns: item g is S_g: ``S_h = 0``, ``S_(g-1) = S_g + lengths[g-1] + 2``; item 0 is one step more than the whole
    time.

    The last packets of phase g cross the branches below level g two steps before the first ones of phase g-1 get there.

    Source: Dimakopoulos 1996, sections 6.3.2.2 and 6.3.3.

    >>> phase_starts([1, 2, 4])
    [13, 10, 6, 0]
    """
    starts = [0]
    for length in reversed(lengths):
        starts.append(starts[-1] + length + 2)
    return starts[::-1]


def by_slot(rows: Sequence[tuple[npt.NDArray[Any], ...]]) -> Hops:
    """Return pieces of the columns slot, link and packet as whole columns, sorted by slot and in the given order."""
    slot, link, packet = (
        np.concatenate([np.zeros(0, np.int32), *(np.ravel(r[i]) for r in rows)]).astype(np.int32) for i in range(3)
    )
    order = np.argsort(slot, kind="stable")
    return slot[order], link[order], packet[order]


def serve_queues(network: Network, waiting: IntArray, destination: IntArray | None, one_send: bool) -> Hops:
    """Run the tree: every link has a first-in first-out queue, and nodes pass on what comes as soon as they may.

    `network`: a fat tree of n leaves. `waiting`, int32[n, m]: the packets of each leaf in the order in which it sends
    them. `destination`, int32[n*m] or None: the leaf to which each packet goes; None when every packet goes to all
    leaves: then a node puts it into the queues of all links but the one back. `one_send`: whether a node sends one
    packet a slot: upwards if something waits there, else to its children in turn, skipping those for which nothing
    waits. If not, each link carries as many as its capacity allows.

    Returns: `slot`, `link`, `packet`, int32[H]: in a slot by sender and link. Of packets that come in the same slot the
    one over the lower link queues first.

    O(H + slots * links) time; 16 bytes a hop.
    """
    spans = Spans(network)
    near, far = spans.crossings
    load = near * far if destination is not None else near * np.int64(waiting.shape[1])
    start = np.cumsum(load) - load
    tail = start.copy()
    queue = np.empty(int(load.sum()), np.int32)
    leaves = network.terminal_count
    if network.link_count:
        up = start[network.first_link[:leaves]]
        queue[up[:, None] + np.arange(waiting.shape[1])] = waiting
        tail[network.first_link[:leaves]] += waiting.shape[1]
    slot, link, packet = (np.empty(queue.size, np.int32) for _ in range(3))
    routed = np.zeros(0, np.int32) if destination is None else destination
    _serve_queues(
        network.first_link, network.link_target, network.reverse_link, network.link_capacity, leaves,
        spans.first, spans.size, routed, one_send, start, tail, queue, slot, link, packet,
    )  # fmt: skip
    return slot, link, packet


def exchange_paths(network: Network, start: npt.NDArray[np.int64], rest: npt.NDArray[np.int64] | None = None) -> Hops:
    """Return the hops of a total exchange in which packets wait nowhere but where they turn downwards.

    `network`: a fat tree of n leaves. `start`, int64[n, n]: the slot in which each leaf (row) sends to each (column).
    The diagonal means nothing. `rest`, int64[n, n]: slots that the packets wait at the lowest common ancestor of origin
    and destination. Default: 0.

    Returns: `slot`, `link`, `packet`, int32[H]: in a slot by packet.

    O(H + slots) time.
    """
    spans, levels = Spans(network), levels_of(network)
    n = network.terminal_count
    leaf, others = np.arange(n), ~np.eye(n, dtype=bool)
    hops = np.zeros((n, n), np.int64)
    for below in levels.leaves[:-1]:
        hops += 2 * (leaf[:, None] // below != leaf // below)
    hops, start = hops[others], start[others]
    rest = np.zeros_like(start) if rest is None else rest[others]
    slot, link, packet = (np.empty(int(hops.sum()), np.int32) for _ in range(3))
    room = np.zeros(int((start + rest + hops).max(initial=0)) + 1, np.int64)
    _exchange_paths(
        network.first_link, network.link_target, n, spans.first, spans.size,
        start, rest, hops, room, slot, link, packet,
    )  # fmt: skip
    return slot, link, packet
