"""Retiming: a schedule for plain links, carried out as early as links with occupancies and latencies allow.

Every link and every port keeps the order in which the schedule uses it; each hop begins as soon as its packet is there
and link and ports are free.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, ScheduleError
from gossamer.graphs.path_and_hop_tables import PortTable, hold_ports, ports_free
from gossamer.jit import njit
from gossamer.networks.network import Network
from gossamer.questions.rules import Rules
from gossamer.schedules import CONTROL, Phase, Schedule
from gossamer.schedules.hop_table import summed_packets
from gossamer.schedules.packets import message_rows
from gossamer.schedules.symmetry import Symmetry

_COPY, _MOVE, _COMBINE = 0, 1, 2


@njit(cache=True, nogil=True, small=100_000)
def _spread(slot, link, first, parallel, occupancy, latency, capacity, chosen):
    """Choose one of parallel links for each hop: the one on which it ends first if none waits for anything else.

    `slot`, `link`, int32[H]: hops by slot, and the link of the plain network over which they go. `first`, `parallel`,
    int64[M + 1], int64[L]: the links that stand for link i of the plain network are ``parallel[first[i]:first[i+1]]``.
    `occupancy`, `latency`, `capacity`, int64[L]: of the links, in slots. `chosen`, int32[H]: written.
    """
    share = np.zeros(parallel.size, np.int64)  # hops times occupancy on each link so far
    for h in range(slot.size):
        best, least = np.int64(-1), np.int64(0)
        for i in range(first[link[h]], first[link[h] + 1]):
            e = parallel[i]
            end = max(np.int64(slot[h]), share[e] // capacity[e]) + occupancy[e] + latency[e]
            if best < 0 or end < least:
                best, least = e, end
        share[best] = max(share[best], np.int64(slot[h]) * capacity[best]) + occupancy[best]
        chosen[h] = best


@njit(cache=True, nogil=True, small=100_000)
def _predecessors(first, hops, slot, link, kind, origin, source, target, one_each, listed, before, earlier, last):
    """Find for each hop what must have come to its sender; return whether each does.

    * `first`, `hops`, int64[P + 1], int64[H]: hops by packet, those of a packet by slot.
    * `slot`, `link`, int32[H].
    * `kind`, `origin`, uint8[P], int32[P].
    * `source`, `target`, int32[L].
    * `one_each`, uint8[2, N]: for copies and for contributions, whether each departure from a node takes an arrival of
      its own.
    * `listed`: whether a node that sent a copy on may get it again.
    * `before`, int64[H]: written: the hop that must be over before a hop begins, -1 if none; for contributions the head
      of a list.
    * `earlier`, int64[H]: written: the hop before it in the list of arrivals.
    * `last`, int64[H]: written: a departure that a hop, which brings a copy again, may not precede; -1 if none.
    """
    nodes = one_each.shape[1]
    head = np.full(nodes, -1, np.int64)  # arrivals: the first one, or the last one of contributions
    tail = np.full(nodes, -1, np.int64)
    left = np.full(nodes, -1, np.int64)  # the last departure
    for p in range(first.size - 1):
        k = kind[p]
        a = first[p]
        while a < first[p + 1]:
            b = a
            while b < first[p + 1] and slot[hops[b]] == slot[hops[a]]:
                h = hops[b]
                u = source[link[h]]
                found = head[u]
                if k == _MOVE:
                    found = hops[b - 1] if b > first[p] else -1
                    if (found < 0 and u != origin[p]) or (found >= 0 and target[link[found]] != u):
                        return False
                elif k == _COPY and u == origin[p] and (found < 0 or not listed):
                    found = -1
                elif one_each[0 if k == _COPY else 1, u]:
                    if found < 0:
                        return False
                    head[u] = earlier[found]
                elif k == _COPY and found < 0:
                    return False
                before[h] = found
                left[u] = h
                b += 1
            for i in range(a, b):
                h = hops[i]
                v = target[link[h]]
                last[h], earlier[h] = -1, -1
                if k == _COPY and listed and (head[v] >= 0 or v == origin[p]):
                    last[h] = left[v]
                if k == _COMBINE and not one_each[1, v]:
                    earlier[h] = head[v]
                    head[v] = h
                elif head[v] < 0 or (k == _COPY and listed and not one_each[0, v]):
                    head[v] = h  # what leaves later waits for the latest arrival, so that the next one finds it gone
                else:
                    earlier[tail[v]] = h
                tail[v] = h
            a = b
        for i in range(first[p], first[p + 1]):
            e = link[hops[i]]
            head[source[e]], head[target[e]], left[source[e]], left[target[e]] = -1, -1, -1, -1
    return True


@njit(cache=True, nogil=True, small=100_000)
def _earliest(
    order, link, packet, before, earlier, last, kind, one_each, source, target, link_class, node_class,
    occupancy, latency, ring, room, send_limited, receive_limited, ports, cut, row_of, after, start,
):  # fmt: skip
    """Write the earliest start of each hop, in the given order on each link and port; return when all is over.

    * `order`, int64[H]: the hops in an order in which they can be carried out.
    * `before`, `earlier`, `last`, int64[H]: of `predecessors`.
    * `link_class`, `node_class`, int32[L], int32[N]: what shares a link or a port: the link and the node themselves, or
      their orbits.
    * `occupancy`, `latency`, int32[L], int64[L]: in slots.
    * `ring`, int64[C + 1]: place of each class of links in `room`; its size is the capacity.
    * `room`, int64[]: minus infinity; the ends of the last hops on each link.
    * `ports`: ports that links share.
    * `cut`, bool[N]: whether a node passes packets on as they come.
    * `row_of`, `after`, int32[P], int64[m]: the message of each packet, and the one that must be complete before it;
      `after` is empty if there is none.
    * `start`, int64[H]: written.
    """
    turn = np.zeros(ring.size - 1, np.int64)
    latest = np.zeros(ring.size - 1, np.int64)
    nodes = node_class.size
    sending = np.zeros(nodes, np.int64)
    receiving = np.zeros(nodes, np.int64)
    done = np.zeros(after.size, np.int64)
    shared = ports[2].size > 0
    free, next_free = np.zeros(ports[3][-1], np.int64), np.zeros(ports[2].size, np.int64)
    over = 0
    for h in order:
        e, p = link[h], packet[h]
        u, v, c = source[e], target[e], link_class[e]
        o, wait = occupancy[e], latency[e]
        t = latest[c]
        a = before[h]
        while a >= 0:
            came = link[a]
            ready = start[a] + latency[came]
            ready += max(0, occupancy[came] - o) if cut[u] else occupancy[came]
            t = max(t, ready)
            if kind[p] != _COMBINE or one_each[1, u]:
                break
            a = earlier[a]
        if last[h] >= 0:
            t = max(t, start[last[h]])
        place = ring[c] + turn[c]
        t = max(t, room[place])
        if send_limited:
            t = max(t, sending[node_class[u]])
        if receive_limited:
            t = max(t, receiving[node_class[v]] - wait)
        if after.size and after[row_of[p]] >= 0:
            t = max(t, done[after[row_of[p]]])
        if shared:
            t = max(t, ports_free(e, o + wait, ports, free, next_free))
            hold_ports(e, t, o + wait, ports, free, next_free)
        start[h] = t
        latest[c] = t
        room[place] = t + o
        turn[c] = (turn[c] + 1) % (ring[c + 1] - ring[c])
        if send_limited:
            sending[node_class[u]] = t + o
        if receive_limited:
            receiving[node_class[v]] = t + wait + o
        if after.size:
            done[row_of[p]] = max(done[row_of[p]], t + o + wait)
        over = max(over, t + o + wait)
    return over


def longest_hop(network: Network) -> int:
    """Return the most slots from the start of a whole packet's hop to its use, the largest occupancy plus latency.

    >>> import gossamer
    >>> longest_hop(gossamer.network("ring:4").with_times(2, 1))
    3
    """
    return int((network.link_occupancy + network.link_latency.astype(np.int64)).max(initial=1))


def retimed(schedule: Schedule, network: Network, rules: Rules | None = None) -> Schedule:
    """Return a schedule with the earliest starts that its order on links and ports allows on links with time.

    * `schedule`: valid for plain links. An invariant one stays invariant where the links look the same from every node.
    * `network`: the same nodes and links, with their times and shared ports; parallel links may stand for one link.
    * `rules`: the rules of the result. Default: those of `schedule`. Under cut-through packets do not wait in switches.

    Returns: with the same hops in one phase, without control packets. Raises `ScheduleError` if the networks differ in
    more than times, control packets take time, or a node sends what it does not have.

    A hop of slot t begins in slot ``t * longest_hop(network)`` at the latest, as every hop before it is over by then.
    O(hops log hops) time; 60 bytes a hop.

    Source: Gossamer. In machine scheduling such starts are called semi-active.

    >>> import gossamer
    >>> plain = gossamer.plan("array:3", "broadcast").schedule
    >>> slow = retimed(plain, gossamer.network("array:3").with_times(2, 1))
    >>> slow.slot.tolist(), slow.completion_time
    ([0, 3], Fraction(6, 1))
    """
    if network.without_time != schedule.network.without_time:
        raise ScheduleError(f"{network.spec} and {schedule.network.spec} differ in more than the times of their links")
    symmetry = _kept(schedule.symmetry, network)
    if symmetry is not None and not symmetry.free and (schedule.rules.send_limited or schedule.rules.receive_limited):
        symmetry = None
    schedule = schedule.expand() if symmetry is None else schedule.unrolled()
    schedule = _without_control(schedule).replace(rules=rules or schedule.rules)
    schedule = _on_parallel_links(schedule, network)
    hops, messages, rules = schedule.stored_hops, schedule.messages, schedule.rules
    if messages.waits:
        raise ScheduleError("collectives wait for others, which retiming does not keep")
    rows = message_rows(messages, schedule.packets)
    if rows.size and int(rows.min()) < 0:
        raise ScheduleError("the packet table has messages that the task does not have")
    if summed_packets(schedule).any():
        raise ScheduleError("partial sums depend on when they are sent, so the schedule cannot be retimed")
    kind, origin = messages.discipline[rows], messages.origin[rows]
    switch = np.arange(network.node_count) >= network.terminal_count
    one_each = np.stack([switch & (not rules.replication), switch & (not rules.reduction)])
    listed = messages.targets is not None
    order = np.argsort(schedule.packet, kind="stable")
    first = np.searchsorted(schedule.packet[order], np.arange(schedule.packets.count + 1))
    before, earlier, last, start = (np.full(hops, -1, np.int64) for _ in range(4))
    ends = network.link_source, network.link_target
    if not _predecessors(
        first, order, schedule.slot, schedule.link, kind, origin, *ends, one_each, listed, before, earlier, last
    ):
        raise ScheduleError("a node sends what it does not have, so the schedule cannot be retimed")
    link_class, node_class = _classes(schedule.symmetry, network)
    over = _earliest(
        np.lexsort((last >= 0, schedule.slot)), schedule.link, schedule.packet, before, earlier, last, kind, one_each,
        *ends, link_class, node_class, network.link_occupancy, network.link_latency.astype(np.int64) * schedule.parts,
        *_rings(schedule, network, link_class), rules.send_limited, rules.receive_limited,
        PortTable.of(network), switch & rules.cut_through, rows,
        np.zeros(0, np.int64) if messages.after is None else messages.after, start,
    )  # fmt: skip
    if over > 2**31 - 1:
        raise ScheduleError(f"the schedule would have {over:,} slots; at most {2**31 - 1:,} are allowed")
    by_start = np.argsort(start, kind="stable")
    return schedule.replace(
        network=network,
        slot=start[by_start].astype(np.int32),
        link=schedule.link[by_start],
        packet=schedule.packet[by_start],
        phases=[Phase(schedule.task.name, int(over), Fraction(1, schedule.parts))],
        symmetry=symmetry,
    )


def _kept(symmetry: Symmetry | None, network: Network) -> Symmetry | None:
    """Return the symmetry of a schedule where its network has it with times, too; None otherwise."""
    if symmetry is None or (not network.alike if symmetry.by_generator else network.parallel):
        return None
    try:
        return symmetry.on(network)
    except (NetworkError, ScheduleError):
        return None


def _without_control(schedule: Schedule) -> Schedule:
    """Return the schedule without its control packets, which may take no time."""
    control = schedule.packet == CONTROL
    if not control.any():
        return schedule
    if schedule.cost.control_time:
        raise ScheduleError("control packets take time, so the schedule cannot be retimed")
    kept = ~control
    return schedule.replace(slot=schedule.slot[kept], link=schedule.link[kept], packet=schedule.packet[kept])


def _on_parallel_links(schedule: Schedule, network: Network) -> Schedule:
    """Return the schedule with one of several parallel links chosen for each hop, where the plain network has one."""
    if schedule.network.link_count == network.link_count:
        return schedule
    plain_link = network.plain_link.astype(np.int64)
    first = np.zeros(schedule.network.link_count + 1, np.int64)
    np.cumsum(np.bincount(plain_link, minlength=schedule.network.link_count), out=first[1:])
    chosen = np.empty(schedule.stored_hops, np.int32)
    _spread(
        schedule.slot, schedule.link, first, np.argsort(plain_link, kind="stable"),
        network.link_occupancy.astype(np.int64), network.link_latency.astype(np.int64) * schedule.parts,
        network.link_capacity.astype(np.int64), chosen,
    )  # fmt: skip
    return schedule.replace(network=network, link=chosen, phases=None)


def _classes(symmetry: Symmetry | None, network: Network) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return what stands for each link and for each node: itself, or its orbit."""
    links, nodes = np.arange(network.link_count, dtype=np.int32), np.arange(network.node_count, dtype=np.int32)
    if symmetry is None:
        return links, nodes
    return symmetry.link_orbit(links).astype(np.int32), symmetry.orbit.astype(np.int32)


def _rings(
    schedule: Schedule, network: Network, link_class: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the last hops of each class of links are kept, and the room for them."""
    classes = int(link_class.max(initial=-1)) + 1
    capacity = np.ones(classes, np.int64)
    if not (schedule.rules.send_limited or schedule.rules.receive_limited):
        capacity[link_class] = network.link_capacity
    used = np.bincount(link_class[schedule.link], minlength=classes)
    ring = np.zeros(classes + 1, np.int64)
    np.cumsum(np.minimum(capacity, np.maximum(used, 1)), out=ring[1:])
    return ring, np.zeros(int(ring[-1]), np.int64)
