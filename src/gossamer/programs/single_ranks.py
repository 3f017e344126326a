"""Programs of single ranks, made of the stored hops alone: nothing is expanded, neither in space nor in time.

Each stored hop has one translate that leaves a rank, if its source is of the rank's orbit, and one that enters it. A
packet of a rank is a stored one, the generation it is of, and the translation that takes it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError, ScheduleError, VerificationError
from gossamer.networks.network import Network
from gossamer.programs.layout import blocks_of_message, invariant_layout, layout
from gossamer.programs.lowering import (
    Carried,
    check_sizes,
    in_parts,
    listed_messages,
    lower,
    moved_messages,
    packets_before,
    traced,
)
from gossamer.programs.program import Operations, Program
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import COMBINE, chunked
from gossamer.reading import whole
from gossamer.schedules import CONTROL, Schedule
from gossamer.schedules.hop_table import hop_ends, summed_packets
from gossamer.schedules.packets import message_rows
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.verification import verify
from gossamer.verification.replay_inputs import ReplayState
from gossamer.verification.timed_replay import replay_timed

Numbers = npt.NDArray[np.int64]


class Transfers(NamedTuple):
    """What crosses from node to node, by the slot in which it begins.

    * `first`, `last` (int64[T]): the hop with which each leaves the one node, and the one with which it comes to the
      other: the same without switches in between.
    * `begin`, `end` (int64[T]): the slot in which it leaves, and from which on it is usable.
    * `source`, `target` (int32[T]): the nodes.
    """

    first: Numbers
    last: Numbers
    begin: Numbers
    end: Numbers
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]


def transfers(schedule: Schedule, switches: bool = False) -> Transfers:
    """Return the transfers of the stored hops but those of control packets, of one generation.

    `schedule`: verified. `switches`: whether each hop is one; else what passes through switches is one transfer from
    rank to rank. Raises `NotApplicableError` if a switch between ranks sends several copies of what came once, or adds.

    O(stored hops log stored hops): all hops of a stored packet are stored.
    """
    network, ranks = schedule.network, schedule.network.terminal_count
    ends = hop_ends(network, schedule.parts, schedule.slot, schedule.link)
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    if switches or ranks == network.node_count:
        data = np.flatnonzero(schedule.packet != CONTROL)
        return Transfers(data, data, schedule.slot[data].astype(np.int64), ends[data], source[data], target[data])
    carries = _carried_by_switches(schedule)
    inner = source >= ranks
    first = np.where(inner, carries, np.arange(schedule.slot.size))  # the hop with which a rank sends what each carries
    while (through := inner & (first >= 0) & inner[np.maximum(first, 0)]).any():
        first[through] = first[first[through]]
    last = np.flatnonzero((target < ranks) & (schedule.packet != CONTROL) & (first >= 0))
    last = last[source[first[last]] != target[last]]  # what comes back is there already
    last = last[np.argsort(schedule.slot[first[last]], kind="stable")]
    first = first[last]
    return Transfers(first, last, schedule.slot[first].astype(np.int64), ends[last], source[first], target[last])


def _carried_by_switches(schedule: Schedule) -> Numbers:
    """Return the hop that each hop out of a switch carries on, int64[H], -1 for others; refuse copies and sums."""
    network, ranks = schedule.network, schedule.network.terminal_count
    source, target = network.link_source[schedule.link], network.link_target[schedule.link]
    carries = np.full(schedule.slot.size, -1, np.int64)
    data = schedule.packet != CONTROL
    summed = summed_packets(schedule)
    if summed.any():
        state = ReplayState(schedule)
        state.judge_sums()
        carries[:] = replay_timed(schedule, state, 1).carries_on
    rows = message_rows(schedule.messages, schedule.packets)
    adds = schedule.rules.reduction & (schedule.messages.discipline[rows] >= COMBINE)
    key = schedule.packet * np.int64(network.node_count)
    end = hop_ends(network, schedule.parts, schedule.slot, schedule.link)
    came, left = (np.flatnonzero(data & (ends >= ranks)) for ends in (target, source))
    came = came[np.lexsort((end[came], (key + target)[came]))]
    left = left[np.lexsort((schedule.slot[left], (key + source)[left]))]
    there, at = (key + target)[came], (key + source)[left]
    number = np.arange(at.size) - np.searchsorted(at, at)
    low, high = (np.searchsorted(there, at, side) for side in ("left", "right"))
    packet = schedule.packet[left]
    added = adds[packet] & ((high - low > 1) | (summed[packet] & (carries[left] < 0)))
    copied = ~summed[packet] & (number >= high - low)
    for wrong, does, rule in ((added, "adds", "reduction"), (copied, "sends several copies of", "replication")):
        if wrong.any():
            name = network.node_name(int(source[left[np.argmax(wrong)]]))
            raise NotApplicableError(
                f"switch {name} {does} what comes to it, and a switch runs no rank; plan with --no-{rule}"
            )
    plain = ~summed[packet]
    carries[left[plain]] = came[(low + number)[plain]]
    return carries


def between_ranks(schedule: Schedule) -> Schedule:
    """Return the schedule without switches: each transfer from rank to rank through switches is one over a link.

    `schedule`: of a network with switches; any other one is returned as it is. Returns: on a network of the terminals
    alone, with a link for each pair that exchanges something and each time that takes. Starts and ends are those of the
    schedule; control packets are left out. Raises `NotApplicableError` if a switch sends several copies of what came
    once, or adds. Raises `VerificationError` if the schedule is not valid.

    O(hops log hops), and what a verification takes.

    >>> import gossamer
    >>> rules = gossamer.Rules(replication=False)
    >>> through = gossamer.plan("leaf-spine:2,2,2", "alltoall", rules=rules).schedule
    >>> found = between_ranks(through)
    >>> through.network.node_count, found.network.node_count, bool(gossamer.verify(found))
    (8, 4, True)
    """
    network = schedule.network
    ranks = network.terminal_count
    if ranks == network.node_count:
        return schedule
    found = verify(schedule, 1)
    if not found:
        raise VerificationError(f"a schedule that is not valid has no program: {found.violations[0].text}")
    schedule = schedule.unrolled().expand()
    every = transfers(schedule)
    takes = every.end - every.begin
    kinds, link = np.unique(np.stack([every.source, every.target, takes]), axis=1, return_inverse=True)
    among = Network(
        network.spec, ranks, kinds[0].astype(np.int32), kinds[1].astype(np.int32), max(takes.size, 1),
        link_occupancy=kinds[2], labels=None if network.labels is None else network.labels[:ranks], links_only=True,
    )  # fmt: skip
    place = np.full(schedule.slot.size, -1, np.int64)
    place[every.last] = np.arange(takes.size)
    repeats = schedule.repeats
    if repeats is not None:  # what a rank carries on came to it with the last hop of a transfer
        own = repeats[every.first].astype(np.int64)
        repeats = np.where(own >= 0, place[np.maximum(own, 0)], own)
    return Schedule(
        among, schedule.task, Rules(segmented=schedule.rules.segmented), every.begin,
        link.reshape(-1).astype(np.int32), schedule.packet[every.last], parts=schedule.parts, packets=schedule.packets,
        repeats=None if repeats is None or bool((repeats == -1).all()) else repeats, algorithm=schedule.algorithm,
        cost=schedule.cost,
    )  # fmt: skip


def worms_between_ranks(schedule: WormholeSchedule) -> Schedule:
    """Return wormhole messages as a schedule of packets, which go from rank to rank over a link for each pair in slots.

    `schedule`: ways through other nodes are left out, as are control messages; a slot is a step, whatever it takes.
    Raises `NotApplicableError` if its messages are cut into different numbers of pieces. It is not verified.

    O(pieces that all messages carry).

    >>> import gossamer
    >>> worms = gossamer.plan("array:3", "partial-sum-allreduce", switching="wormhole").schedule
    >>> found = worms_between_ranks(worms)
    >>> found.network.node_count, found.task == worms.task, bool(gossamer.verify(found))
    (3, True, True)
    """
    network, ranks = schedule.network, schedule.network.terminal_count
    pieces, messages = schedule.packets, schedule.messages
    parts = 1 + int(pieces.piece.max(initial=0))
    if pieces.count != parts * messages.count:
        raise NotApplicableError("a program cuts all messages into as many pieces; here some have more than others")
    every, piece = schedule.payloads.carried(schedule.payload)
    packet = (np.searchsorted(messages.ids, pieces.message) * parts + pieces.piece)[piece]
    kinds, link = np.unique(np.stack([schedule.source[every], schedule.target[every]]), axis=1, return_inverse=True)
    among = Network(
        network.spec, ranks, kinds[0], kinds[1], max(every.size, 1),
        labels=None if network.labels is None else network.labels[:ranks], links_only=True,
    )  # fmt: skip
    return Schedule(
        among, chunked(schedule.task, parts), Rules(), schedule.step[every], link.reshape(-1).astype(np.int32), packet,
        algorithm=schedule.algorithm,
    )  # fmt: skip


class _SingleRanks:
    """The program of a schedule by rank, made when it is asked for; what `Program` keeps."""

    def __init__(self, schedule: Schedule, every: Transfers) -> None:
        self._schedule, self._every = schedule, every
        network, symmetry = schedule.network, schedule.symmetry
        self._rows = message_rows(schedule.messages, schedule.packets)
        self._before = packets_before(schedule, self._rows)
        self._orbit = np.arange(network.node_count) if symmetry is None else symmetry.orbit
        self._at = [np.argsort(self._orbit[ends], kind="stable") for ends in (every.source, every.target)]
        self._first = [
            np.searchsorted(self._orbit[ends][order], np.arange(int(self._orbit.max()) + 2))
            for ends, order in zip((every.source, every.target), self._at, strict=True)
        ]
        found = None if symmetry is None else invariant_layout(schedule.task, network, schedule.messages)
        self._moved: tuple[bool, bool] | None = None
        if found is not None:
            self._places, *moved = found
            self._moved = moved[0], moved[1]
            self._messages = schedule.messages
        else:
            count = schedule.messages.count * (1 if symmetry is None else symmetry.order)
            if count > _MOST_MESSAGES:
                raise NotApplicableError(
                    f"programs of single ranks have the places of all messages of {schedule.task.describe()} in "
                    f"buffers: {count:,}; at most {_MOST_MESSAGES:,} are allowed"
                )
            self._messages = schedule.messages if symmetry is None else schedule.task.messages(network)
            self._places = layout(schedule.task, network, self._messages)
        self._parts = blocks_of_message(schedule)
        check_sizes(self._places, self._parts)
        self.sizes = np.column_stack([self._places.input_size, self._places.output_size]) * self._parts

    @property
    def representatives(self) -> list[int]:
        """One rank of each orbit."""
        symmetry = self._schedule.symmetry
        return list(range(self._schedule.network.terminal_count)) if symmetry is None else symmetry.terminals.tolist()

    def rank(self, rank: int) -> Operations:
        """Return the operations of a rank."""
        schedule, every = self._schedule, self._every
        turns = np.arange(schedule.generations, dtype=np.int64)[:, None]
        later = turns * (0 if schedule.repetition is None else schedule.repetition.period)
        packets, n = schedule.packets.count, schedule.network.node_count
        found = []
        for kind, (near, far) in enumerate(((every.source, every.target), (every.target, every.source))):
            a, b = self._first[kind][[self._orbit[rank], self._orbit[rank] + 1]]
            rows = self._at[kind][a:b]
            by, peer = self._translations(near[rows], rank), far[rows].astype(np.int64)
            if schedule.symmetry is not None:
                peer = schedule.symmetry.translate(by, peer)
            last, shape = every.last[rows], (turns.size, rows.size)
            packet = schedule.packet[last] + turns * packets
            found.append((
                (every.begin[rows] + later).ravel(), np.full(rows.size * turns.size, kind, np.uint8),
                np.broadcast_to(peer, shape).ravel(), (packet * n + by).ravel(), (schedule.slot[last] + later).ravel(),
                np.broadcast_to(turns, shape).ravel(), np.broadcast_to(last, shape).ravel(),
            ))  # fmt: skip
        slot, kinds, peer, key, *order = (np.concatenate(column) for column in zip(*found, strict=True))
        row = np.lexsort((*order[::-1], kinds, slot))
        known, number = np.unique(key[row], return_inverse=True)
        ends = (slot[row].astype(np.int32), kinds[row], peer[row].astype(np.int32), number.astype(np.int32))
        first = np.array([0, row.size], np.int64)
        columns, scratch = traced(schedule, (first, *ends), self._carried(known), rank)
        own = slice(*np.searchsorted(self._places.copies[:, 0], [rank, rank + 1]).tolist())
        copies = in_parts(self._places.copies[own], self._parts)
        return Operations.of(rank, columns, copies[:, 1:], [*self.sizes[rank], scratch[0]])

    def _translations(self, nodes: npt.NDArray[np.int32], rank: int) -> Numbers:
        """Return the translations that take nodes to a rank, by name."""
        symmetry = self._schedule.symmetry
        return np.zeros(nodes.size, np.int64) if symmetry is None else symmetry.taking(nodes, rank)

    def _carried(self, keys: Numbers) -> Carried:
        """Return what the packets of a rank are, each a stored one of a generation, translated."""
        schedule, messages, places = self._schedule, self._messages, self._places
        table, n, symmetry = schedule.packets, schedule.network.node_count, schedule.symmetry
        by, number = keys % n, keys // n
        packet, turn = number % max(table.count, 1), number // max(table.count, 1)
        needed = (number - packet + self._before[packet]) * n + by
        at = np.minimum(np.searchsorted(keys, needed), max(keys.size - 1, 0))
        before = np.where((self._before[packet] >= 0) & (keys[at] == needed), at, -1).astype(np.int32)
        part = table.part[packet]
        if schedule.repetition is not None:
            part = (part + turn * schedule.repetition.packets).astype(np.int32)
        adds = schedule.rules.reduction
        if symmetry is not None and self._moved is not None:
            return moved_messages(
                messages, places, self._moved, self._rows[packet],
                lambda nodes: symmetry.translate(by, nodes), part, self._parts, before, adds,
            )  # fmt: skip
        row = self._rows[packet]
        if symmetry is not None:
            ids = schedule.task.renamed_ids(
                schedule.network, table.message[packet], lambda nodes: symmetry.translate(by, nodes)
            )
            row = np.searchsorted(messages.ids, ids).astype(np.int32)
        return listed_messages(messages, places, row, part, self._parts, before, adds)


_MOST_MESSAGES = 20_000_000
"""Messages of which places are listed at most: 2 GB."""


def lower_ranks(schedule: Schedule, ranks: Sequence[int], *, switches: bool = False) -> Program:
    """Return the program of some ranks of a schedule, as `gossamer.lower` has them, without that of the others.

    Parameters
    ----------
    schedule : Schedule
        Of any kind. It is verified first: of one that is invariant one orbit.
    ranks : sequence of int
        Which ones: terminals of the network.
    switches : bool
        Whether ranks send to switches, as in `gossamer.lower`; else what passes through switches is sent from rank to
        rank, as in `between_ranks`.

    Returns
    -------
    Program
        Iterating over it gives these ranks, ascending; ``rank`` gives any rank, made when it is asked for.

    Raises
    ------
    ScheduleError, VerificationError
        As `gossamer.lower`, and if there is no such rank.
    NotApplicableError
        If a switch copies or adds, or the task has too many messages to place in buffers one by one.

    Notes
    -----
    O(stored hops log stored hops), and for each rank its operations: seconds where all ranks would take hours. Where
    partial sums are sent, all ranks are made.

    Examples
    --------
    >>> import gossamer
    >>> plan = gossamer.plan("torus:4x4", "alltoall").schedule
    >>> program = lower_ranks(plan, [11])
    >>> [mine.rank for mine in program], program.rank(11).count == gossamer.lower(plan).rank(11).count
    ([11], True)
    """
    n = schedule.network.terminal_count
    chosen = sorted({whole(r, "a rank", 0, n - 1, allowed=f"0..{n - 1}", error=ScheduleError) for r in ranks})
    found = verify(schedule, 1)
    if not found:
        raise VerificationError(f"a schedule that is not valid has no program: {found.violations[0].text}")
    if summed_packets(schedule).any():  # what an arrival does to a sum depends on what came to all others
        return lower(schedule if switches else between_ranks(schedule)).of(chosen)
    every = transfers(schedule, switches)
    network, slots = schedule.network, schedule.slot_count
    if not switches and n < network.node_count:
        slots = int(every.end.max(initial=0)) + schedule.slots_before_last
        network = Network(network.spec, n, [], [], labels=network.labels and network.labels[:n], links_only=True)
    return Program(
        network,
        schedule.task,
        _SingleRanks(schedule, every),
        algorithm=schedule.algorithm,
        parts=blocks_of_message(schedule),
        slots=slots,
        hops=every.begin.size * schedule.times,
    ).of(chosen)
