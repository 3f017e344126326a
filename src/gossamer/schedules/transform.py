"""Transformations: schedule in, schedule out; nothing is mutated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError, TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.tasks import (
    ALLCOMBINE,
    Allreduce,
    Grouped,
    MultinodeBroadcast,
    ReduceScatter,
    in_packets,
    packets_of,
)
from gossamer.reading import instance
from gossamer.schedules.hop_table import HopTable, hop_ends, link_ways, summed_packets, too_many_hops
from gossamer.schedules.packets import CONTROL, Packets, Phase, message_rows
from gossamer.schedules.symmetry import Symmetry

S = TypeVar("S", bound=HopTable)
Ints = npt.NDArray[np.integer]


def reverse(schedule: S) -> S:
    """Return the schedule run backwards in time over the reversed links: it carries out the dual task.

    Its network is the transposed one, which is the network itself where every link has an opposite.

    The rules become the dual ones: what sends one packet a slot receives one, and switches that replicate reduce.

    Scatter becomes gather, broadcast becomes reduce, multinode broadcast becomes reduce-scatter, and the other way
    round. Phases of control packets at the start stay there as they are: what they find out is needed first in either
    direction.

    Raises
    ------
    TaskError
        If the task has no dual.
    ScheduleError
        If control packets hop after the start, or over a one-way network, if the packet table has messages that the
        task does not have, or if a node sends a partial sum more than once: what is copied forwards would have to be
        divided backwards.

    Notes
    -----
    O(hops). The completion time stays the same (Dimakopoulos 1996, section 1: gather is scatter with each ``(t, u->v)``
    replaced by ``(T+1-t, v->u)``). The result of a valid schedule is valid, unless a copy ends, to no purpose, at a
    node that is no target: it has nothing to send backwards.

    Examples
    --------
    >>> import gossamer
    >>> gather = gossamer.plan("array:4", "scatter").schedule.reverse()
    >>> gather.task, bool(gossamer.verify(gather))
    (Gather(root=0), True)
    """
    network, task = schedule.network, schedule.task
    dual = task.dual(network)
    again = np.flatnonzero(summed_packets(schedule))
    if again.size:
        what = f"a partial sum of packet {again[0]}"
        raise ScheduleError(f"{what} is sent more than once, so the schedule cannot be reversed")
    lead = _leading_control(schedule)
    kept = sum(p.slots for p in schedule.phases[:lead])
    cut = int(np.searchsorted(schedule.slot, kept))
    if np.any(schedule.packet[cut:] == CONTROL):
        raise ScheduleError("control packets hop after the first phases, so the schedule cannot be reversed")

    _check_messages(schedule)
    ids = task.dual_ids(network, schedule.packets.message)
    turned = network.transposed
    if cut and turned is not network:
        raise ScheduleError(
            f"control packets go over one-way links of {network.spec}, so the schedule cannot be reversed"
        )
    slot = _turned_slots(schedule, kept)[cut:][::-1]
    order = slice(None) if bool((slot[1:] >= slot[:-1]).all()) else np.argsort(slot, kind="stable")
    slot = slot[order]
    link = turned.transposed_link[schedule.link[cut:][::-1][order]]
    packet = schedule.packet[cut:][::-1][order]
    symmetry = schedule.symmetry
    if symmetry is None:
        origins = dual.messages(network)
        origin = origins.origin[np.searchsorted(origins.ids, ids)] if ids.size else schedule.packets.origin
    else:
        symmetry = symmetry if turned is network else symmetry.on(turned)
        origin, ids, link = _back_to_representatives(schedule, symmetry, ids, link, packet)
    return schedule.replace(
        network=turned,
        task=dual,
        rules=schedule.rules.dual.on(network),
        slot=np.concatenate([schedule.slot[:cut], slot]),
        link=np.concatenate([schedule.link[:cut], link]),
        packet=np.concatenate([schedule.packet[:cut], packet]),
        packets=Packets(origin.astype(np.int32), ids, schedule.packets.part),
        symmetry=symmetry,
        phases=[*schedule.phases[:lead], *schedule.phases[:lead - 1 if lead else None:-1]],
        algorithm=f"reverse of {schedule.algorithm}" if schedule.algorithm else "",
    )  # fmt: skip


def _turned_slots(schedule: HopTable, kept: int) -> IntArray:
    """Return for each hop the slot in which it starts when time runs backwards: the one in which it ends, mirrored."""
    network, last = schedule.network, schedule.generation_slots + kept
    if network.plain:
        return last - 1 - schedule.slot
    slot = last - hop_ends(network, schedule.parts, schedule.slot, schedule.link)
    if slot.size and int(slot.min()) < 0:
        first = int(schedule.slot[int(np.argmin(slot))])
        raise ScheduleError(f"a hop of slot {first} ends after the last slot, so the schedule cannot be reversed")
    return slot.astype(np.int32)


def _check_messages(schedule: HopTable) -> None:
    """Raise a ScheduleError if a packet's message is none of the task's, so that nobody can say what it becomes."""
    unknown = np.flatnonzero(message_rows(schedule.messages, schedule.packets) < 0)
    if unknown.size:
        p = int(unknown[0])
        raise ScheduleError(f"packet {p} is of message {schedule.packets.message[p]}, which the task does not have")


def _leading_control(schedule: HopTable) -> int:
    """Return how many phases at the start carry control packets only."""
    for i in range(len(schedule.phases)):
        packets = schedule.packet[schedule.phase_hops(i)]
        if not packets.size or np.any(packets != CONTROL):
            return i
    return len(schedule.phases)


def _back_to_representatives(
    schedule: HopTable, symmetry: Symmetry, ids: np.ndarray, link: np.ndarray, packet: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translate each packet whose new origin is not a representative; return origins, message numbers and links."""
    messages = schedule.messages
    origin = schedule.packets.origin.astype(np.int64)
    if messages.targets is not None:
        row = np.searchsorted(messages.ids, schedule.packets.message)
        origin = messages.targets[row].astype(np.int64)
    by = symmetry.taking(origin, symmetry.representatives[symmetry.orbit[origin]])
    moved = symmetry.translate_links(by[packet], link)
    network = symmetry.network
    renamed = schedule.task.dual(network).renamed_ids(network, ids, lambda x: symmetry.translate(by, x))
    return symmetry.translate(by, origin), renamed, moved.astype(np.int32)


def then(first: S, second: S) -> S:
    """Return `first` followed by `second`: a reduce-scatter and then a multinode broadcast are an allreduce.

    Both may be in the same groups.

    Raises
    ------
    TaskError
        If the two tasks do not make a task together.
    ScheduleError
        If networks, rules, costs or parts differ.

    Notes
    -----
    O(hops). If only one of the two is invariant, they have different symmetries, or one repeats, both are expanded.

    Examples
    --------
    >>> import gossamer
    >>> gather = gossamer.plan("ring:5", "allgather").schedule
    >>> both = gather.reverse().then(gather)
    >>> both.task, both.completion_time, bool(gossamer.verify(both))
    (Allreduce(), Fraction(4, 1), True)
    >>> four = gossamer.plan("ring:5", gossamer.task("allgather", packets=4)).schedule
    >>> four.reverse().then(four).task
    Chunked(task=Allreduce(), packets=4)
    """
    instance(second, HopTable, "what follows", error=ScheduleError)
    chunks = packets_of(first.task), packets_of(second.task)
    halves = ReduceScatter(), MultinodeBroadcast()
    groups = first.task.groups if isinstance(first.task, Grouped) else None
    wanted = halves if groups is None else tuple(Grouped(half, groups) for half in halves)
    if (in_packets(first.task, 1), in_packets(second.task, 1)) != wanted:
        raise TaskError(
            f"{first.task.describe()} then {second.task.describe()} is not a known task; "
            "reduce-scatter then allgather is"
        )
    if chunks[0] != chunks[1]:
        raise TaskError(f"messages of {chunks[0]} packets cannot be followed by messages of {chunks[1]}")
    if first.network != second.network:
        raise ScheduleError(f"the schedules are on different networks, {first.network.spec} and {second.network.spec}")
    told = [schedule.rules.on(first.network) for schedule in (first, second)]
    copies, sums = (any(getattr(each, name) for each in told) for name in ("replication", "reduction"))
    rules = [replace(each, replication=copies, reduction=sums) for each in told]  # switches do what those of both do
    if rules[0] != rules[1] or first.cost != second.cost or first.parts != second.parts:
        what = "rules" if rules[0] != rules[1] else "costs" if first.cost != second.cost else "numbers of parts"
        raise ScheduleError(f"the schedules have different {what}")
    if first.symmetry != second.symmetry or (first.repetition, second.repetition) != (None, None):
        first, second = expand(first), expand(second)
    a, b = first.packets, second.packets
    shifted = np.where(second.packet == CONTROL, CONTROL, second.packet + a.count)
    # a group's messages of the second half come after its own of the first, before those of the next group
    sizes = np.array([first.network.terminal_count] if groups is None else [len(group) for group in groups])
    before = np.cumsum(sizes) - sizes
    of_a, of_b = (np.searchsorted(before, table.message, "right") - 1 for table in (a, b))
    return first.replace(
        task=in_packets(Allreduce() if groups is None else Grouped(Allreduce(), groups), chunks[0]),
        rules=rules[0],
        slot=np.concatenate([first.slot, second.slot + first.slot_count]),
        link=np.concatenate([first.link, second.link]),
        packet=np.concatenate([first.packet, shifted]),
        packets=Packets(
            np.concatenate([a.origin, b.origin]),
            np.concatenate([a.message + before[of_a], b.message + before[of_b] + sizes[of_b]]),
            np.concatenate([a.part, b.part]),
        ),
        phases=[*_named(first, "reduce-scatter"), *_named(second, "multinode-broadcast")],
        algorithm=", then ".join(filter(None, [first.algorithm, second.algorithm])),
    )


def _named(schedule: HopTable, stage: str) -> list[Phase]:
    """Return the phases with the stage in front of their names where it is not the name already."""
    return [p if p.name == stage else replace(p, name=f"{stage}: {p.name}") for p in schedule.phases]


def repeated_on_torus(schedule: S, network: Network) -> S:
    """Return the schedule of a task in groups on a torus, repeated on a larger one whose sides are multiples of its.

    Every group is repeated at all distances that are multiples of the sides of the small torus, in row-major order of
    these; a node that takes part for a group is the one as far from its middle as on the small torus.

    Parameters
    ----------
    schedule : Schedule
        On a torus, of a task in groups, plain: not one orbit, without control packets.
    network : Network
        The larger torus.

    Raises
    ------
    TaskError
        If the task is not in groups, or a network is no grid.
    ScheduleError
        If the sides are no multiples, or a packet goes halfway around a side, so that it is not told which way the
        groups lie.

    Notes
    -----
    O(hops of the result). No link is used twice in a slot: each use of a link of the small torus becomes one of every
    link above it.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("allgather", groups=[[0, 1], [2, 3], [4, 5], [6, 7]])
    >>> small = gossamer.plan("ring:8", task).schedule
    >>> large = repeated_on_torus(small, gossamer.network("ring:24"))
    >>> large.completion_time, len(large.task.groups), bool(gossamer.verify(large))
    (Fraction(1, 1), 12, True)
    """
    task, small, grid = schedule.task, schedule.network, network.grid
    if not isinstance(task, Grouped) or small.grid is None or grid is None:
        raise TaskError("a schedule in groups on a torus is repeated on a larger torus")
    sides, larger = np.array(small.grid.sides), np.array(grid.sides)
    if sides.size != larger.size or (larger % sides).any():
        raise ScheduleError(f"the sides of {network.spec} are not multiples of those of {small.spec}")
    at = np.stack(np.unravel_index(np.arange(small.node_count), small.grid.sides), axis=1)
    middle = at[[_middle(at[list(group)], sides, group) for group in task.groups]]
    tiles = np.stack(np.unravel_index(np.arange(network.node_count // small.node_count), larger // sides), axis=1)

    def above(group: Ints, node: Ints) -> tuple[Ints, Ints]:
        """Return how far each node is from the middle of a group, and the nodes above it for all tiles."""
        apart = (at[node] - middle[group] + sides // 2) % sides - sides // 2
        there = (middle[group] + apart + (tiles * sides)[:, None]) % larger
        return apart, np.ravel_multi_index(tuple(np.moveaxis(there, 2, 0)), grid.sides)

    table, count = schedule.packets, schedule.packets.count
    group_of = np.searchsorted(task.first_ids, table.message, "right") - 1
    group = group_of[schedule.packet]
    (before, source), (behind, target) = (
        above(group, ends[schedule.link]) for ends in (small.link_source, small.link_target)
    )
    step = np.abs(behind - before)
    step = np.where(sides == larger, np.minimum(step, sides - step), step)  # the way around a whole side is the same
    if step.size and int(step.sum(axis=1).max()) > 1:
        raise ScheduleError(f"a packet goes halfway around {small.spec}, which tells not where to on {network.spec}")
    members = [above(np.full(len(row), g), np.array(row))[1] for g, row in enumerate(task.groups)]
    larger_task = Grouped(task.task, tuple(tuple(each[k].tolist()) for k in range(len(tiles)) for each in members))
    ids = np.array(larger_task.first_ids).reshape(len(tiles), -1) - np.array(task.first_ids)
    order = np.argsort(np.tile(schedule.slot, len(tiles)), kind="stable")
    packet = schedule.packet + count * np.arange(len(tiles))[:, None]
    return schedule.replace(
        network=network,
        task=larger_task,
        slot=np.tile(schedule.slot, len(tiles))[order],
        link=network.links_between(source.reshape(-1), target.reshape(-1))[order].astype(np.int32),
        packet=packet.reshape(-1)[order].astype(np.int32),
        packets=Packets(
            above(group_of, table.origin)[1].reshape(-1).astype(np.int32),
            (table.message + ids[:, group_of]).reshape(-1),
            np.tile(table.part, len(tiles)),
        ),
    )


def _middle(at: Ints, sides: Ints, nodes: Sequence[int]) -> int:
    """Return that of some nodes from which the others are least far along any side of a torus."""
    apart = np.abs((at[:, None] - at + sides // 2) % sides - sides // 2).max(axis=2)
    return nodes[int(apart.max(axis=1).argmin())]


def relabel(schedule: S, mapping: Iterable[int], network: Network | None = None) -> S:
    """Return the schedule with node u renamed to ``mapping[u]``, on `network` (default: the same).

    Parameters
    ----------
    mapping : iterable of int, N distinct nodes
        An isomorphism: every link that the schedule uses must lead to a link of `network`, and every terminal to a
        terminal. Of parallel links the first is the one with the least latency, occupancy, and then the most capacity,
        and so on.

    Raises
    ------
    ScheduleError
        If `mapping` is not one-to-one, a used link has no image, the schedule is invariant (expand it first), or the
        packet table has messages that the task does not have.

    Notes
    -----
    O(hops + links log links).

    Examples
    --------
    >>> import gossamer
    >>> s = gossamer.plan("ring:5", "broadcast").schedule
    >>> relabel(s, [2, 3, 4, 0, 1]).task
    Broadcast(root=2)
    """
    if schedule.symmetry is not None:
        raise ScheduleError("an invariant schedule cannot be relabeled; expand() it first")
    old = schedule.network
    new = old if network is None else instance(network, Network, "the network", error=ScheduleError)
    names = np.asarray(list(mapping))
    if (
        names.shape != (old.node_count,)
        or names.dtype.kind not in "iu"
        or not np.array_equal(np.sort(names), np.arange(new.node_count))
    ):
        raise ScheduleError(f"the mapping must list each of the {new.node_count} nodes of {new.spec} once")
    to = names.astype(np.int64)
    if old.terminal_count != new.terminal_count or int(to[: old.terminal_count].max()) >= new.terminal_count:
        raise ScheduleError(f"the mapping must lead the terminals to the {new.terminal_count} terminals of {new.spec}")
    _check_messages(schedule)
    ways, wanted_ways = (link_ways(network, fastest_first=True) for network in (new, old))
    most = 1 + int(max(ways.max(initial=0), wanted_ways.max(initial=0)))
    key = (new.link_source.astype(np.int64) * new.node_count + new.link_target) * most + ways
    order = np.argsort(key, kind="stable")
    wanted = (to[old.link_source] * new.node_count + to[old.link_target]) * most + wanted_ways
    missing = np.bincount(schedule.link, minlength=old.link_count) > 0
    image = np.zeros(old.link_count, np.int64)
    if key.size:
        image = order[np.minimum(np.searchsorted(key, wanted, sorter=order), key.size - 1)]
        missing &= key[image] != wanted
    if missing.any():
        raise ScheduleError(f"link {old.link_name(int(np.argmax(missing)))} has no image in {new.spec}")

    task = schedule.task.renamed(lambda x: to[x])
    ids = schedule.task.renamed_ids(old, schedule.packets.message, lambda x: to[x])
    origin = to[schedule.packets.origin].astype(np.int32)
    everywhere = schedule.messages.discipline[message_rows(schedule.messages, schedule.packets)] == ALLCOMBINE
    if everywhere.any():  # whose origins are the first of those that contribute, whoever they are
        messages = task.messages(new)
        rows = np.searchsorted(messages.ids, ids)
        origin = np.where(everywhere, messages.origin[np.minimum(rows, messages.count - 1)], origin).astype(np.int32)
    return schedule.replace(
        network=new,
        task=task,
        link=image[schedule.link].astype(np.int32),
        packets=Packets(origin, ids, schedule.packets.part),
    )


def expand(schedule: S) -> S:
    """Return the explicit schedule of one that is invariant or repeats: every hop of every packet.

    Returns
    -------
    Schedule
        The schedule itself if it is explicit already. The translates of a stored packet have consecutive numbers, and
        the packets of a message, of all generations, too.

    Raises
    ------
    ScheduleError
        If the expansion would hold more than `MAX_HOPS` hops or 2**31 packets, or the packet table has messages that
        the task does not have.

    Notes
    -----
    O(expanded hops) time; 12 bytes a hop and 16 a packet.

    Examples
    --------
    >>> import gossamer
    >>> s = gossamer.plan("ring:5", "allgather").schedule
    >>> s.stored_hops, s.expand().stored_hops
    (4, 20)
    """
    if schedule.explicit:
        return schedule
    if schedule.packet_count > 2**31 - 1:
        raise ScheduleError(
            f"the expansion would hold {schedule.packet_count} packets; at most {2**31 - 1} are allowed"
        )
    reason = too_many_hops(schedule.hop_count)
    if reason is not None:
        raise ScheduleError(f"the expansion {reason}")
    _check_messages(schedule)
    return _translated(schedule.unrolled())


def _translated(schedule: S) -> S:
    """Return an invariant schedule with every translate of every packet and hop."""
    symmetry = schedule.symmetry
    if symmetry is None:
        return schedule
    network, elements = schedule.network, symmetry.elements
    count, stored = symmetry.order, schedule.packets.count
    control = schedule.packet == CONTROL
    link = np.empty((schedule.stored_hops, count), np.int32)
    packet = np.empty((schedule.stored_hops, count), np.int32)
    origin = np.empty((stored, count), np.int32)
    message = np.empty((stored, count), np.int64)
    translation = np.arange(count, dtype=np.int64)
    rows = max(1, 4_000_000 // count)
    for a in range(0, schedule.stored_hops, rows):
        part = slice(a, a + rows)
        link[part] = symmetry.translate_links(elements[None, :], schedule.link[part, None])
        copies = schedule.packet[part, None] * np.int64(count) + translation
        packet[part] = np.where(control[part, None], CONTROL, copies)
    for a in range(0, stored, rows):
        part = slice(a, a + rows)
        origin[part] = symmetry.translate(elements, schedule.packets.origin[part, None])
        message[part] = schedule.task.renamed_ids(
            network, schedule.packets.message[part, None], lambda x: symmetry.translate(elements, x)
        )
    return schedule.replace(
        slot=np.repeat(schedule.slot, count),
        link=link.reshape(-1),
        packet=packet.reshape(-1),
        packets=Packets(origin.reshape(-1), message.reshape(-1), np.repeat(schedule.packets.part, count)),
        symmetry=None,
    )
