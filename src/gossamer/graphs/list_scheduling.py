"""List scheduling of packets with given paths: every link is busy while a packet waits for it."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, nearest
from gossamer.graphs.path_and_hop_tables import Hops, Paths
from gossamer.jit import njit
from gossamer.networks.network import IntArray

__all__ = ["ORDERS", "Order", "non_wasting", "tightened"]

# Packet p goes over the links ``path[first[p]:first[p + 1]]``. The queue of a link is one list of packets for each
# level; 64 levels share a word that says which of their lists hold a packet, and 64 words share a word of the link.


@njit(cache=True, nogil=True, _nrt=False, inline="always")
def lowest(word):
    """Return the place of the lowest set bit; without branches, which nothing could foretell."""
    bit = word & (~word + np.uint64(1))
    place = np.int64((bit & np.uint64(0xAAAAAAAAAAAAAAAA)) != 0)
    place += np.int64((bit & np.uint64(0xCCCCCCCCCCCCCCCC)) != 0) << 1
    place += np.int64((bit & np.uint64(0xF0F0F0F0F0F0F0F0)) != 0) << 2
    place += np.int64((bit & np.uint64(0xFF00FF00FF00FF00)) != 0) << 3
    place += np.int64((bit & np.uint64(0xFFFF0000FFFF0000)) != 0) << 4
    place += np.int64((bit & np.uint64(0xFFFFFFFF00000000)) != 0) << 5
    return place


@njit(cache=True, nogil=True, inline="always")
def _push(words, words_of, head, following, link, level, p):
    following[p] = head[link, level]
    head[link, level] = p
    word = level >> 6
    words[link, word] |= np.uint64(1) << np.uint64(level & 63)
    words_of[link] |= np.uint64(1) << np.uint64(word)


@njit(cache=True, nogil=True, small=100_000)
def _run_kernel(first, path, level, levels, links, slot, link, packet, when):
    """Send the first packet of every queue in every slot; write the hops by slot and return the number of slots.

    `first`, `path`, `level`, int64[P + 1], int32[H], uint16[H]: paths, and the level at which a packet waits for each
    link of its path; the lowest goes first, in one level the one that came last (of those there at the start, the one
    with the lowest number). `levels`: number of levels, at most 4096. `slot`, `link`, `packet`, int32[H]: written.
    `when`, int32[H] or empty: written with the slot of each hop of `path`.
    """
    packets = first.size - 1
    at = np.empty((packets, 2), np.int64)
    head = np.empty((links, levels), np.int32)
    head[:, :] = -1
    following = np.empty(packets, np.int32)
    words = np.zeros((links, (levels + 63) // 64), np.uint64)
    words_of = np.zeros(links, np.uint64)
    busy = np.empty(links, np.int32)
    count = 0
    for p in range(packets - 1, -1, -1):
        h = first[p]
        at[p, 0], at[p, 1] = h, first[p + 1]
        if h < first[p + 1]:
            e = path[h]
            if words_of[e] == 0:
                busy[count] = e
                count += 1
            _push(words, words_of, head, following, e, level[h], p)
    t, out = 0, 0
    while count:
        begin, kept = out, 0
        for i in range(count):
            e = busy[i]
            word = lowest(words_of[e])
            bit = lowest(words[e, word])
            k = (word << 6) | bit
            p = head[e, k]
            head[e, k] = following[p]
            if following[p] < 0:
                words[e, word] ^= np.uint64(1) << np.uint64(bit)
                if words[e, word] == 0:
                    words_of[e] ^= np.uint64(1) << np.uint64(word)
            slot[out], link[out], packet[out] = t, e, p
            out += 1
            if words_of[e]:
                busy[kept] = e
                kept += 1
        count = kept
        for i in range(begin, out):
            p = packet[i]
            h = at[p, 0]
            if when.size:
                when[h] = t
            h += 1
            at[p, 0] = h
            if h < at[p, 1]:
                e = path[h]
                if words_of[e] == 0:
                    busy[count] = e
                    count += 1
                _push(words, words_of, head, following, e, level[h], p)
        t += 1
    return t


@njit(cache=True, nogil=True, small=100_000)
def _levels_of_hops_left(first, longest, levels, most_first, level):
    """Write the level of each hop by the hops that are left before it, 1..longest."""
    for p in range(first.size - 1):
        for h in range(first[p], first[p + 1]):
            left = first[p + 1] - h
            level[h] = ((longest - left) if most_first else (left - 1)) * levels // longest


@njit(cache=True, nogil=True, small=100_000)
def _levels_of_packets(first, level_of, level):
    """Write the level of each packet to all its hops."""
    for p in range(first.size - 1):
        for h in range(first[p], first[p + 1]):
            level[h] = level_of[p]


@njit(cache=True, nogil=True, small=100_000)
def _slots_along_paths(first, slot, packet, when):
    """Write the slots of the hops, which are sorted by slot, path by path."""
    at = first[:-1].copy()
    for i in range(slot.size):
        p = packet[i]
        when[at[p]] = slot[i]
        at[p] += 1


@njit(cache=True, nogil=True, small=100_000)
def _levels_backwards(first, when, slots, levels, level):
    """Write the levels for the opposite direction of time along mirrored paths: what came last goes first."""
    for p in range(first.size - 1):
        a, b = first[p], first[p + 1]
        for h in range(a, b):
            level[a + b - 1 - h] = np.int64(slots - 1 - when[h]) * levels // slots


@njit(cache=True, nogil=True, small=100_000)
def _mirror(first, values, mirrored):
    """Write the values along each path in the opposite order."""
    for p in range(first.size - 1):
        a, b = first[p], first[p + 1]
        for h in range(a, b):
            mirrored[a + b - 1 - h] = values[h]


# Non-wasting transmission: in every slot, each link for which packets wait sends the best of them.
#
# Varvarigos and Bertsekas 1994, section 4, asks no more than that in its partial exchange, with one class of packets
# before the other on some links; which packet of a class is the best is left open. Paths may lie in any network whose
# links carry one packet a slot.

Order = Literal["random", "farthest-first", "nearest-first", "lowest-id"]

ORDERS: tuple[Order, ...] = get_args(Order)
"""The orders in which packets of one class leave a queue."""

_MAX_LISTS = 2**22
"""The most lists of packets of all queues (16 MB), but 64 for each link."""


def non_wasting(
    paths: Paths,
    links: int,
    order: Order = "farthest-first",
    *,
    later: npt.NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> Hops:
    """Schedule packets along their paths so that no link is idle while a packet waits for it.

    * `paths` (Paths): the path of each packet; all packets are there at the start.
    * `links` (int): number of links of the network; each carries one packet a slot.
    * `order` ({"random", "farthest-first", "nearest-first", "lowest-id"}): which packet of a class a link sends: the
      lowest in an order drawn with `seed`, the one with the most or the fewest hops left, or the one with the lowest
      number.
    * `later` (bool[H]): for each hop of `paths`, whether the packet is in the second class on that link: it waits until
      no packet of the first class does.
    * `seed` (int): for the random order.

    Returns: one hop for each entry of the paths. Raises `ScheduleError` if the order is unknown.

    O(H) time; 18 bytes a hop, 28 a packet, and at most 16 MB for the queues of up to 65,000 links. A queue has at most
    4096 levels, 64 in large networks, and among packets of one level the last to come goes first. So where there are
    more packets than levels, "lowest-id" is the order of blocks of numbers.

    On a line of p nodes, K packets that all go one way end within K+p-2 slots in any order (Varvarigos and Bertsekas
    1994, section 4).

    Source: Varvarigos and Bertsekas 1994, section 4, phase 2.

    >>> paths = Paths(np.array([0, 2, 3]), np.array([0, 1, 0], np.int32))
    >>> hops = non_wasting(paths, 2)
    >>> hops.slots, hops.packet.tolist()
    (2, [0, 1, 0])
    """
    if order not in ORDERS:
        raise ScheduleError(f"order must be one of {', '.join(ORDERS)}, got {order!r}{nearest(str(order), ORDERS)}")
    classes = 1 if later is None else 2
    level = np.empty(paths.link.size, np.uint16)
    if order in ("farthest-first", "nearest-first"):
        levels = _levels(links, classes, paths.longest)
        _levels_of_hops_left(paths.first, paths.longest, levels, order == "farthest-first", level)
    else:
        packets = paths.first.size - 1
        rank = np.arange(packets, dtype=np.int64)
        if order == "random":
            rank = np.random.default_rng(seed).permutation(packets)
        levels = _levels(links, classes, packets)
        _levels_of_packets(paths.first, (rank * levels // max(packets, 1)).astype(np.uint16), level)
    if later is not None:
        level[later] += np.uint16(levels)
    return _run(paths, links, level, levels * classes)[0]


def tightened(paths: Paths, links: int, hops: Hops, rounds: int, least: int) -> Hops:
    """Shorten a schedule by scheduling its packets backwards and forwards in time, again and again.

    * `paths` (Paths): the paths along which `hops` lead.
    * `links` (int): number of links of the network.
    * `hops` (Hops): the schedule to begin with.
    * `rounds` (int): how often to go back and forth.
    * `least` (int): stop at so many slots; the congestion of the paths, for one.

    Returns: the shortest schedule found, `hops` itself if none is shorter.

    Backwards, each link sends the packet that used it last in the schedule before; forwards again, the one that the
    backward schedule needs there first. In project scheduling this is called justification. O(rounds * H) time; 20
    bytes a hop besides those of two schedules.

    Source: Valls, Ballestin and Quintanilla 2005, Justification and RCPSP: a technique that pays.

    >>> paths = Paths(np.array([0, 2, 3, 4]), np.array([0, 1, 0, 0], np.int32))
    >>> slow = non_wasting(paths, 2, "nearest-first")
    >>> slow.slots, tightened(paths, 2, slow, 1, 3).slots
    (4, 3)
    """
    best = hops
    when, level = np.empty(paths.link.size, np.int32), np.empty(paths.link.size, np.uint16)
    _slots_along_paths(paths.first, hops.slot, hops.packet, when)
    backwards = np.empty_like(paths.link)
    _mirror(paths.first, paths.link, backwards)
    slots = hops.slots
    for turn in range(2 * rounds):
        if best.slots <= least:
            break
        levels = _levels(links, 1, slots)
        _levels_backwards(paths.first, when, slots, levels, level)
        back = turn % 2 == 0
        found, when = _run(Paths(paths.first, backwards if back else paths.link), links, level, levels, timed=True)
        slots = found.slots
        if slots < best.slots:
            best = found
            if back:
                best = Hops(slots, slots - 1 - found.slot[::-1], found.link[::-1], found.packet[::-1])
    return best


def _levels(links: int, classes: int, values: int) -> int:
    """Return how many levels a class has for so many different values."""
    return max(1, min(values, min(4096, max(64, _MAX_LISTS // max(links, 1))) // classes))


def _run(
    paths: Paths, links: int, level: npt.NDArray[np.uint16], levels: int, timed: bool = False
) -> tuple[Hops, IntArray]:
    """Return the hops, and if `timed` the slot of each entry of the paths."""
    slot, link, packet = (np.empty(paths.link.size, np.int32) for _ in range(3))
    when = np.empty(paths.link.size if timed else 0, np.int32)
    slots = _run_kernel(paths.first, paths.link, level, levels, links, slot, link, packet, when)
    return Hops(int(slots), slot, link, packet), when
