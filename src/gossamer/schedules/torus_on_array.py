"""A torus on an array: any schedule on a torus becomes one on the array of the same shape that takes twice as long.

Varvarigos and Bertsekas 1994, section 2. Every ring is folded into a line: position q of the line hosts node q/2 of the
ring if q is even, and node p - (q+1)/2 if q is odd. Neighbors in the ring are then at most two positions apart, and one
slot of the torus becomes two of the array. A transfer from position a two positions on goes over the first link in the
first slot and over the second link in the second one. A transfer to the next position, at either end of the line, goes
in the second slot if a transfer of two positions may start at a in that direction, and in the first slot otherwise. So
no link is used twice in a slot, even if all links of the torus are in use.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.jit import njit
from gossamer.networks.grids import array, grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.questions.tasks import COMBINE, MOVE, Task
from gossamer.schedules.hop_table import summed_packets
from gossamer.schedules.packets import Packets, message_rows
from gossamer.schedules.schedule import Schedule
from gossamer.schedules.transform import expand, relabel

# A hop over link e of the torus is made over link ``first[e]`` of the array in the first of two slots and over
# ``second[e]`` in the second one; -1 where it needs no link in that slot. Bit tables have one row of ``row_bytes``
# bytes a packet and one bit a node.

_COPY, _COMBINE = 0, 2


@njit(cache=True, nogil=True, inline="always")
def _fresh(table, row_bytes, p, v):
    """Set the bit of packet p and node v; return whether it was clear."""
    at, mask = p * row_bytes + (v >> 3), np.uint8(1 << (v & 7))
    if table[at] & mask:
        return False
    table[at] |= mask
    return True


@njit(cache=True, nogil=True, small=100_000)
def _choose(slot, link, packet, kind, first, second, source, target, touched, row_bytes, kept):
    """Mark the hops to make: bit 0 of ``kept[h]`` over ``first``, bit 1 over ``second``. Return their number.

    Of the hops that bring a copied packet to one node the first is kept, and of those that take a contribution from one
    node the last. `touched` must have the bit of every packet at its origin, where a copied packet never arrives and
    whence a contribution never leaves.
    """
    hops, number = slot.size, 0
    combined = False
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):
                e = second[link[h]] if half else first[link[h]]
                if e < 0:
                    continue
                p = packet[h]
                if p >= 0 and kind[p] == _COMBINE:
                    combined = True
                elif p < 0 or kind[p] != _COPY or _fresh(touched, row_bytes, p, target[e]):
                    kept[h] |= 1 << half
                    number += 1
        a = b
    b = hops if combined else 0
    while b > 0:
        a = b
        while a > 0 and slot[a - 1] == slot[b - 1]:
            a -= 1
        for half in range(1, -1, -1):
            for h in range(a, b):
                e = second[link[h]] if half else first[link[h]]
                p = packet[h]
                if e >= 0 and p >= 0 and kind[p] == _COMBINE and _fresh(touched, row_bytes, p, source[e]):
                    kept[h] |= 1 << half
                    number += 1
        b = a
    return number


@njit(cache=True, nogil=True, small=100_000)
def _empty(slot, link, packet, kind, first, second, source, target, has, row_bytes, kept):
    """Take back the kept hops of contributions whose sender has none, and return their number.

    `has` begins with the bits of those who contribute to each packet, and ends with all whom a contribution came to.
    """
    hops, number = slot.size, 0
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):  # what arrives in a slot leaves in a later one
                p = packet[h]
                if kept[h] >> half & 1 and p >= 0 and kind[p] == _COMBINE:
                    u = source[second[link[h]] if half else first[link[h]]]
                    if not has[p * row_bytes + (u >> 3)] >> (u & 7) & 1:
                        kept[h] ^= 1 << half
                        number += 1
            for h in range(a, b):
                p = packet[h]
                if kept[h] >> half & 1 and p >= 0 and kind[p] == _COMBINE:
                    _fresh(has, row_bytes, p, target[second[link[h]] if half else first[link[h]]])
        a = b
    return number


@njit(cache=True, nogil=True, small=100_000)
def _write(slot, link, packet, first, second, kept, to_slot, to_link, to_packet):
    """Write the hops that were kept, sorted by slot: slot t becomes slots 2t and 2t+1."""
    hops, n = slot.size, 0
    a = 0
    while a < hops:
        b = a
        while b < hops and slot[b] == slot[a]:
            b += 1
        for half in range(2):
            for h in range(a, b):
                if kept[h] >> half & 1:
                    to_slot[n] = 2 * slot[h] + half
                    to_link[n] = second[link[h]] if half else first[link[h]]
                    to_packet[n] = packet[h]
                    n += 1
        a = b


Nodes = npt.NDArray[np.int64]


def ring_labels(p: int) -> Nodes:
    """Return the node of a ring of p nodes that each position of a line of p nodes hosts, int64[p].

    Source: Varvarigos and Bertsekas 1994, section 2, proof of Theorem 1.

    >>> ring_labels(5).tolist(), ring_labels(6).tolist()
    ([0, 4, 1, 3, 2], [0, 5, 1, 4, 2, 3])
    """
    q = np.arange(p, dtype=np.int64)
    return np.where(q % 2 == 0, q // 2, p - (q + 1) // 2)


def array_positions(grid: Grid) -> Nodes:
    """Return the node of the array that hosts each node of a torus, int64[N].

    Dimensions that do not wrap around stay as they are.

    >>> from gossamer.networks import ring
    >>> array_positions(ring(5).grid).tolist()
    [0, 2, 4, 3, 1]
    """
    place = np.zeros(1, np.int64)
    for side, wraps in zip(grid.sides, grid.wraps, strict=True):
        position = np.argsort(ring_labels(side)) if wraps else np.arange(side, dtype=np.int64)
        place = (place[:, None] * side + position).reshape(-1)
    return place


def task_on_torus(task: Task, grid: Grid) -> Task:
    """Return the task whose schedule on a torus carries out `task` on the array, once `torus_on_array` has folded it.

    `task`: what is wanted on the array. `grid`: of the torus.

    ``task_on_torus(task, grid).renamed(to) == task``, with `to` from `array_positions`. O(N).

    >>> import gossamer
    >>> torus = gossamer.network("ring:5")
    >>> task_on_torus(gossamer.task("broadcast", root=3), torus.grid)
    Broadcast(root=3)
    >>> task_on_torus(gossamer.task("broadcast", root=1), torus.grid)
    Broadcast(root=4)
    """
    hosted = np.argsort(array_positions(grid))
    return task.renamed(lambda x: hosted[x])


def torus_on_array(schedule: Schedule, *, keep_task: bool = False) -> Schedule:
    """Return the schedule on the array of the same shape: every node takes the part of a node of the torus.

    Parameters
    ----------
    schedule : Schedule
        On a torus, a ring, or a grid that wraps around in some dimensions; of any task, split or whole; all ports. An
        invariant one is expanded first.
    keep_task : bool
        The nodes are renamed, so that a broadcast from node r of the torus becomes one from the node of the array that
        hosts r. With `keep_task` the schedule is translated along the torus first, so that the task stays as it
        is. That is always possible for a task with a root. For a set of active nodes or a permutation it is not: build
        the schedule of `task_on_torus` instead. Tasks that are the same at every node stay as they are anyway.

    Returns
    -------
    Schedule
        On ``array(*sides)``, with twice the slots in every phase and slots of the same lengths.

    Raises
    ------
    ScheduleError
        If the network is not a grid with links of capacity 1, the rules' ports are not ``all``, the packet table has
        messages that the task does not have, or with `keep_task` no translation keeps the task.

    Notes
    -----
    The result of a valid schedule is valid, unless the rules limit buffers: packets on their way stop at a node
    between. A node that a copied packet passes keeps it, and later hops that would bring it once more are left out; the
    same holds, backwards in time, for contributions. Nothing is slowed down if no dimension wraps around.
    O(hops + packets * nodes / 8) time, at most twice the hops.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 2, proof of Theorem 1.

    Examples
    --------
    >>> import gossamer
    >>> torus = gossamer.plan("torus:4x4", "allgather").schedule
    >>> folded = torus_on_array(torus)
    >>> folded.network, torus.completion_time, folded.completion_time, bool(gossamer.verify(folded))
    (<Network array:4x4: 16 nodes, 48 links>, Fraction(4, 1), Fraction(8, 1), True)
    """
    torus, grid = schedule.network, schedule.network.grid
    if grid is None:
        raise ScheduleError(f"{torus.spec} is not a torus, so its schedules cannot be folded into an array")
    if not torus.plain:
        raise ScheduleError(f"{torus.spec} has links that take time; a schedule that is folded needs those of one slot")
    if torus.uniform_capacity != 1:
        raise ScheduleError(f"{torus.spec} has links of a capacity other than 1; those of an array have capacity 1")
    if schedule.rules.ports != "all":
        raise ScheduleError(f"folding a torus into an array needs all-port nodes, not {schedule.rules.ports_text}")
    if summed_packets(schedule).any():
        raise ScheduleError("partial sums would be added at the nodes that they pass, so the schedule cannot be folded")
    schedule = expand(schedule)
    if keep_task:
        schedule = _translated(schedule, grid)
    line = array(*grid.sides)
    if not any(grid.wraps):
        return relabel(schedule, range(line.node_count), line)
    to = array_positions(grid)
    task = schedule.task.renamed(lambda x: to[x])
    ids = schedule.task.renamed_ids(torus, schedule.packets.message, lambda x: to[x])
    packets = Packets(to[schedule.packets.origin].astype(np.int32), ids, schedule.packets.part)
    links = folded_links(line, to[torus.link_source], to[torus.link_target], _on_rings(torus, grid))
    slot, link, packet = fold_hops(line, task, packets, (schedule.slot, schedule.link, schedule.packet), links)
    phases = [replace(p, slots=2 * p.slots) for p in schedule.phases]
    algorithm = f"{schedule.algorithm}, folded" if schedule.algorithm else ""
    return schedule.replace(
        network=line,
        task=task,
        slot=slot,
        link=link,
        packet=packet,
        packets=packets,
        phases=phases,
        algorithm=algorithm,
    )


def folded_links(
    line: Network, source: Nodes, target: Nodes, folded: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """Return the links of an array over which transfers between nodes at most two positions apart are made.

    `line`: the array. `source`, `target`, int64[E]: nodes of the array that host the ends of each link of the torus.
    They differ in one dimension. `folded`, bool[E]: whether the link is of a ring that was folded. Other links join
    neighbors, and are used in the first slot.

    Returns: `first`, `second`, int32[E]: the links in the first and in the second of the two slots, -1 for none.

    O(d (L + E)).

    The ring of three nodes, hosted in the order 0, 2, 1:

    >>> from gossamer.networks import ring
    >>> to = array_positions(ring(3).grid)
    >>> first, second = folded_links(array(3), to[ring(3).link_source], to[ring(3).link_target], np.full(6, True))
    >>> first.tolist(), second.tolist()
    ([0, -1, -1, 3, 2, 1], [1, 0, 3, 2, -1, -1])
    """
    assert line.grid is not None
    at = grid_links(line)
    first, second = (np.full(source.size, -1, np.int32) for _ in range(2))
    for i, (side, wraps, stride) in enumerate(zip(line.grid.sides, line.grid.wraps, line.grid.strides, strict=True)):
        a, b = source // stride % side, target // stride % side
        far = b - a
        if wraps:
            far = np.where(np.abs(far) == side - 1, -np.sign(far), far)
        sign = np.sign(far)
        way = (far < 0).astype(np.int64)
        two = np.abs(far) == 2
        first[two] = at[source[two], i, way[two]]
        second[two] = at[source[two] + sign[two] * stride, i, way[two]]
        one = np.abs(far) == 1
        late = one & folded & (a + 2 * sign >= 0) & (a + 2 * sign < side)
        second[late] = at[source[late], i, way[late]]
        early = one & ~late
        first[early] = at[source[early], i, way[early]]
    return first, second


def fold_hops(
    line: Network,
    task: Task,
    packets: Packets,
    hops: tuple[IntArray, IntArray, IntArray],
    links: tuple[IntArray, IntArray],
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the columns slot, link and packet of hops that each take up to two links of an array.

    `line`: the array. `task`, `packets`: of the schedule on the array. `hops`, tuple of int32[H]: slot, link and packet
    of each hop, sorted by slot; what a link is, `links` says. `links`, tuple of int32[E]: as from `folded_links`: slot
    t of link e becomes slot 2t of array link ``first[e]`` and slot 2t+1 of ``second[e]``.

    Raises ScheduleError if the packet table has messages that the task does not have.

    Leaves out hops that bring a node what it has, as `torus_on_array` says, and those of contributions that left their
    sender another way. 12 bytes a hop of the result; 1 byte a hop and a bit for each packet and node while it works.
    """
    messages = task.messages(line)
    row = message_rows(messages, packets)
    if row.size and int(row.min()) < 0:
        p = int(np.argmin(row))
        raise ScheduleError(f"packet {p} is of message {packets.message[p]}, which the task does not have")
    kind = messages.discipline[row] if row.size else np.zeros(0, np.uint8)
    row_bytes = (line.node_count + 7) // 8 if (kind != MOVE).any() else 0
    touched = np.zeros(max(packets.count * row_bytes, 1), np.uint8)
    if row_bytes:
        place = np.arange(packets.count) * np.int64(row_bytes) + (packets.origin >> 3)
        touched[place] = (1 << (packets.origin & 7)).astype(np.uint8)
    kept = np.zeros(hops[0].size, np.uint8)
    count = _choose(
        *hops, kind, *links, line.link_source, line.link_target, touched, row_bytes, kept
    )  # fmt: skip
    start, targets = messages.target_start, messages.targets
    if (kind == COMBINE).any() and start is not None and targets is not None:  # some contribute, others have nothing
        has = np.zeros(packets.count * row_bytes, np.uint8)
        size = np.diff(start)[row]
        entry = np.arange(size.sum()) + np.repeat(start[row] - (np.cumsum(size) - size), size)
        node = targets[entry].astype(np.int64)
        at = np.repeat(np.arange(packets.count) * np.int64(row_bytes), size) + (node >> 3)
        np.bitwise_or.at(has, at, (1 << (node & 7)).astype(np.uint8))
        count -= _empty(*hops, kind, *links, line.link_source, line.link_target, has, row_bytes, kept)
    columns = (np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32))
    _write(*hops, *links, kept, *columns)
    return columns


def _on_rings(torus: Network, grid: Grid) -> npt.NDArray[np.bool_]:
    """Return whether each link is along a dimension that wraps around, bool[L]."""
    found = np.zeros(torus.link_count, np.bool_)
    for side, wraps, stride in zip(grid.sides, grid.wraps, grid.strides, strict=True):
        if wraps:
            found |= torus.link_source // stride % side != torus.link_target // stride % side
    return found


def _translated(schedule: Schedule, grid: Grid) -> Schedule:
    """Return the schedule after a translation of the torus such that folding it keeps the task."""
    task, network = schedule.task, schedule.network
    wanted = task_on_torus(task, grid)
    if task == wanted:
        return schedule
    origins = np.unique(task.messages(network).origin)
    wanted_origins = np.unique(wanted.messages(network).origin)
    sides, strides = np.array(grid.sides), np.array(grid.strides)
    coordinates = np.arange(network.node_count)[:, None] // strides % sides
    turns = np.array(grid.wraps) | (sides <= 2)
    for origin in wanted_origins.tolist():
        shift = coordinates[origin] - coordinates[origins[0]]
        if (shift[~turns] != 0).any():
            continue
        to = ((coordinates + shift) % sides) @ strides
        if not np.array_equal(np.sort(to[origins]), wanted_origins):
            continue
        if task.renamed(lambda x, to=to: to[x]) == wanted:  # type: ignore[misc]
            return relabel(schedule, to)
    raise ScheduleError(
        f"no translation of {network.spec} keeps this {task.name} on the array; build the schedule of "
        "task_on_torus(task, grid) instead"
    )
