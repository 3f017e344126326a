"""The checker for exchanges of networks whose missing links are made up for: what is sent again, and how.

What the network with all its links does is checked as any other schedule, by one orbit. Which of its packets cross
missing links, and whether these are sent again, is checked here, by code that shares nothing with the builders.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.questions.tasks import MOVE
from gossamer.schedules.packets import message_rows
from gossamer.schedules.schedule import RepairedSchedule

__all__ = ["follow_repairs", "lost_pairs"]


@njit(cache=True, nogil=True)
def _mark(key, bits):
    """Set the bit of each key."""
    for k in key:
        bits[k >> 3] |= np.uint8(1 << (k & 7))


@njit(cache=True, nogil=True)
def _walk(first_link, link_target, source, target, hops, port, turn, gap, turns, lost, used, level):
    """Follow packets hop by hop, and return whether each is one of those lost, and all come to their targets in time.

    * `first_link`, int64[N + 1], `link_target`, int32[L]. `source`, int32[P], `target`, int64[P], `hops`, int[P].
    * `port`, `turn`, int[H]: of each hop. `gap`: turns from the start of a hop until what it brings can go on.
    * `lost`, uint8[]: a bit for each pair that is sent again; cleared. `used`, uint8[]: a bit for each turn of each
      link, zero.
    * `level`, int8[N, turns + gap + 1], or with no rows: zero; written is how many more packets are in transit.
    """
    n, h = first_link.size - 1, 0
    for p in range(source.size):
        v, ready = np.int64(source[p]), np.int64(0)
        key = v * n + target[p]
        if (lost[key >> 3] >> (key & 7)) & 1 == 0:
            return False
        lost[key >> 3] ^= np.uint8(1 << (key & 7))
        for i in range(hops[p]):
            e, t = first_link[v] + port[h], np.int64(turn[h])
            if e >= first_link[v + 1] or t < ready or t >= turns:
                return False
            place = e * turns + t
            if (used[place >> 3] >> (place & 7)) & 1:
                return False
            used[place >> 3] |= np.uint8(1 << (place & 7))
            if i and level.shape[0]:
                level[v, t + 1] -= 1
            v, ready = np.int64(link_target[e]), t + gap
            if i + 1 < hops[p] and level.shape[0]:
                level[v, ready] += 1
            h += 1
        if v != target[p]:
            return False
    return h == port.size


def lost_pairs(schedule: RepairedSchedule) -> npt.NDArray[np.uint8] | None:
    """Return a bit for each pair of nodes of whose packet some hop would cross a missing link; None if nodes differ.

    The bit of source and target is that of the number source*N + target.
    """
    sound, network, n = schedule.sound, schedule.network, schedule.network.node_count
    whole, symmetry, place = sound.network, sound.symmetry, schedule.place
    assert symmetry is not None
    if not np.array_equal(np.sort(place), np.arange(n)) or whole.parallel or network.parallel:
        return None
    link = whole.links_between(place[network.link_source], place[network.link_target])
    if int(link.min(initial=0)) < 0:
        return None
    missing = np.setdiff1d(np.arange(whole.link_count), link)
    back = np.empty(n, np.int64)
    back[place] = np.arange(n)
    messages, table = sound.messages, sound.packets
    row = message_rows(messages, table)
    assert messages.targets is not None
    origin, target = messages.origin[row].astype(np.int64), messages.targets[row].astype(np.int64)
    kind, bits = symmetry.link_orbit(sound.link), np.zeros(-(-n * n // 8), np.uint8)
    for each in missing.tolist():
        hop = np.flatnonzero(kind == symmetry.link_orbit(each))
        leaves = whole.link_source[sound.link[hop]]
        by, packet = symmetry.taking(leaves, np.full(hop.size, whole.link_source[each])), sound.packet[hop]
        _mark(back[symmetry.translate(by, origin[packet])] * n + back[symmetry.translate(by, target[packet])], bits)
    return bits


def follow_repairs(schedule: RepairedSchedule, levels: bool = False) -> tuple[bool, npt.NDArray[np.int8]]:
    """Return whether exactly what crosses missing links is sent again, in turns in which links are free.

    And, if `levels`, by how much the packets in transit at each node change in each turn, int8[N, turns].

    That all else is delivered is for `gossamer.verify` to say of ``schedule.sound``: without some packets, the others
    of an exchange move as before.
    """
    network, whole, rules = schedule.network, schedule.sound.network, schedule.rules.on(schedule.network)
    none = np.zeros((0, 0), np.int8)
    messages = schedule.sound.messages
    times = [(each.uniform_occupancy, each.uniform_latency, each.uniform_capacity) for each in (network, whole)]
    plain = all(
        each.shared_ports is None and each.terminal_count == each.node_count and not each.parallel
        for each in (network, whole)
    )
    if times[0] != times[1] or times[0][2] != 1 or not plain or schedule.sound.task != schedule.task:
        return False, none
    if rules.send_limited or rules.receive_limited or rules.buffer is not None or messages.targets is None:
        return False, none
    single = messages.target_start is None or bool((np.diff(messages.target_start) == 1).all())
    if bool((messages.discipline != MOVE).any()) or messages.sizes is not None or messages.after is not None:
        return False, none
    lost = lost_pairs(schedule) if single and not messages.waits and int(schedule.port.min(initial=0)) >= 0 else None
    if lost is None:
        return False, none
    takes = network.uniform_occupancy or 1
    gap = -(-(takes + (network.uniform_latency or 0)) // takes)
    turns = int(schedule.turn.max(initial=0)) + 1
    slots = schedule.phases[-1].slots
    if turns and (turns * takes + (network.uniform_latency or 0) > slots or schedule.phases[-1].slot_length != 1):
        return False, none
    level = np.zeros((network.node_count, turns + gap + 1), np.int8) if levels else none
    used = np.zeros(-(-network.link_count * turns // 8), np.uint8)
    good = _walk(
        network.first_link.astype(np.int64), network.link_target, schedule.source, schedule.targets(),
        schedule.hops_again, schedule.port, schedule.turn, gap, turns, lost, used, level,
    )  # fmt: skip
    return bool(good) and not lost.any(), level
