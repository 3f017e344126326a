"""The schedule: a table of hops, with what can be made of it at hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import Pictured
from gossamer.errors import ScheduleError
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.costs import StepCost
from gossamer.questions.tasks import Task
from gossamer.schedules import files, hop_descriptions, transform
from gossamer.schedules.columns import MOST
from gossamer.schedules.hop_descriptions import Hop
from gossamer.schedules.hop_table import MAX_HOPS, HopTable, hop_ends, too_many_hops
from gossamer.schedules.packets import CONTROL, Packets, Phase, message_rows
from gossamer.schedules.timelines import Timeline, hop_timeline

__all__ = [
    "CONTROL",
    "MAX_HOPS",
    "Packets",
    "Phase",
    "RepairedSchedule",
    "RunSchedule",
    "Schedule",
    "load",
    "too_many_hops",
]


class Schedule(HopTable, Pictured):
    """A set of hops: which packet crosses which link in which slot. Immutable.

    The constructor checks shapes, ranges and order only; whether the schedule carries out its task is for
    `gossamer.verify` to say.

    Parameters
    ----------
    network, task, rules
        What is carried out, where, under which rules.
    slot, link, packet : array_like of int, shape (H,)
        One row a hop, kept as int32, sorted by slot, the one in which it starts. What a hop brings can move on in the
        next slot, or as late as the link's occupancy and latency say. Packet ``CONTROL`` (-1) marks control hops. An
        int32 array is taken over without a copy and becomes read-only.
    cost : StepCost
        What hops cost. Default: control packets take no time.
    parts : int
        Parts that every message is cut into; a part takes 1/parts step a hop.
    packets : Packets, optional
        The packet table. Default: `Packets.of` the task's messages.
    phases : sequence of Phase, optional
        Consecutive phases from slot 0; their `first_slot` is set here. Default: one phase of slots of 1/parts step
        that ends with the last hop.
    symmetry : Symmetry, optional
        Given for an invariant schedule: packets and hops are those of the orbit representatives only.
    algorithm : str
        Name of the builder.
    repeats : array_like of int, shape (H,), optional
        Of reductions by partial sums: the earlier row of the same packet whose sum a hop carries again, -1 where it
        carries the sum of its node as it stands. That hop ended at the node from which this one leaves, and what it
        brought is not added to the node's sum but passes through; or it left that node, and an older sum is sent again.
        Or -2 - t, where it carries the sum of its node as it stood in slot t. Default: every hop carries the sum as it
        stands.
    repetition : Repetition, optional
        Given for a schedule that repeats: packets and hops are those of the first generation only, of so many packets
        of each message; packet ``i`` of a message is sent on as packet ``i - packets`` is, a period later.

    Raises
    ------
    ScheduleError
        If a column is malformed, unsorted or out of range, or the phases do not hold every slot.

    Notes
    -----
    A hop takes 12 bytes, a packet 16.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("array:3")
    >>> s = Schedule(net, gossamer.task("broadcast"), gossamer.Rules(), [0, 1], [0, 1], [0, 0])
    >>> s.completion_time, s.hop_count
    (Fraction(2, 1), 2)
    """

    switching: ClassVar[str] = "store-and-forward"
    file_form: ClassVar[files.FileForm] = files.FORM

    @classmethod
    def of(
        cls, case: Case, slot: npt.ArrayLike, link: npt.ArrayLike, packet: npt.ArrayLike, **columns: Any
    ) -> Schedule:
        """Return the schedule of a case: its network, task and rules, with the given hops.

        `columns` are the further keywords of the constructor, such as `parts` and `phases`.
        """
        cost = StepCost(case.control_time)
        return cls(case.network, case.task, case.rules, slot, link, packet, cost=cost, **columns)

    def reverse(self) -> Schedule:
        """Return the time-reversed schedule of the dual task; see `gossamer.schedules.transform.reverse`."""
        return transform.reverse(self)

    def then(self, following: Schedule) -> Schedule:
        """Return this schedule followed by another; see `gossamer.schedules.transform.then`."""
        return transform.then(self, following)

    def relabel(self, mapping: Iterable[int], network: Network | None = None) -> Schedule:
        """Return the schedule with renamed nodes; see `gossamer.schedules.transform.relabel`."""
        return transform.relabel(self, mapping, network)

    def expand(self) -> Schedule:
        """Return the explicit schedule; see `gossamer.schedules.transform.expand`."""
        return transform.expand(self)

    def timeline(self) -> Timeline:
        """Return what happens when, a row a hop; see `gossamer.schedules.timeline`."""
        return hop_timeline(self)

    def hops(self) -> Iterator[Hop]:
        """Yield the hops in order, each with what it is in words; see `gossamer.schedules.hop_descriptions.hops`."""
        return hop_descriptions.hops(self)

    def to_arrow(self) -> Any:
        """Return the hops as an Arrow table; see `gossamer.schedules.hop_descriptions.to_arrow`."""
        return hop_descriptions.to_arrow(self)

    def to_frame(self) -> Any:
        """Return the hops as a data frame of pandas; see `gossamer.schedules.hop_descriptions.to_frame`."""
        return hop_descriptions.to_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schedule to a file; see `gossamer.schedules.files.save`."""
        files.save(self, path)


_WRITTEN_OUT = ("slot", "link", "packet", "packets")


class _ShortForm(Schedule):
    """A schedule that is kept in few rows and written out, by `expand`, when its columns are read."""

    def _begin(self, kept: Schedule, network: Network, task: Task, phases: tuple[Phase, ...]) -> None:
        """Set what every schedule has; rules, cost and algorithm are those of what is kept."""
        self.network, self.task, self.rules, self.cost = network, task, kept.rules, kept.cost
        self.parts, self.symmetry, self.repeats, self.repetition = 1, None, None, None
        self.algorithm, self.phases = kept.algorithm, phases
        if self.slot_count > MOST:
            raise ScheduleError(f"slots must be 0..{MOST - 1}, got {self.slot_count}")

    def __getattr__(self, name: str) -> Any:
        if name not in _WRITTEN_OUT:
            raise AttributeError(name)
        whole = self.expand()
        for column in _WRITTEN_OUT:
            setattr(self, column, getattr(whole, column))
        return getattr(whole, name)


class RunSchedule(_ShortForm):
    """A schedule of packets that travel in runs: kept as the hops of the runs, written out when columns are read.

    A run is some packets of a message that cross the same links, one right after the other, and wait at each node until
    all of them are there: in effect one packet of a length of its own. A message takes a run or two, and its packets
    may be as small as wanted. Everything that is done with a schedule is done with the packets of the runs; the checker
    looks at the hops of runs alone.

    Parameters
    ----------
    runs : Schedule
        Explicit; its packets are the runs, in the order of the task's messages. Those of a message have its packets in
        order.
    length : array_like of int, shape (R,)
        Packets of each run, at least 1.
    task : Task
        The task in packets. Its messages are those of the task of the runs, of other sizes.

    Raises
    ------
    ScheduleError
        If the lengths are not those of the runs, or do not make up the messages of the task, or if the runs are in
        another order.

    Notes
    -----
    Packet j of a run begins each hop j times the link's occupancy later than the run, so that it is at the next node
    before its turn there comes.

    Examples
    --------
    >>> import gossamer
    >>> line, exchange = gossamer.network("array:3"), gossamer.task("alltoallv", counts=[[0, 0, 1], [0] * 3, [0] * 3])
    >>> one = Schedule(line, exchange, gossamer.Rules(), [0, 2], [0, 1], [0, 0])
    >>> whole = gossamer.task("alltoallv", counts=[[0, 0, 2], [0] * 3, [0] * 3])
    >>> s = RunSchedule(one, [2], whole)
    >>> s.slot.tolist(), s.packet.tolist(), s.completion_time
    ([0, 1, 2, 3], [0, 1, 0, 1], Fraction(4, 1))
    """

    def __init__(self, runs: Schedule, length: npt.ArrayLike, task: Task) -> None:
        self.runs, self.length = runs, np.asarray(length, np.int64)
        if self.length.shape != (runs.packets.count,) or int(self.length.min(initial=1)) < 1:
            raise ScheduleError(f"the lengths of runs must be {runs.packets.count} whole numbers, each 1 or more")
        if not runs.explicit or runs.parts > 1 or runs.repeats is not None or len(runs.phases) != 1:
            raise ScheduleError("runs have one phase, every hop of which is listed, and are not cut into parts")
        if CONTROL in runs.packet:
            raise ScheduleError("runs have no control packets")
        task.check(runs.network)
        messages = task.messages(runs.network)
        row = message_rows(messages, runs.packets)
        sizes = np.ones(messages.count, np.int64) if messages.sizes is None else messages.sizes
        if (row < 0).any() or not np.array_equal(np.bincount(row, self.length, messages.count), sizes):
            raise ScheduleError("the lengths of runs do not make up the messages of the task")
        if bool((np.diff(row) < 0).any()):
            raise ScheduleError("runs must be in the order of the messages of the task")
        ends = hop_ends(runs.network, 1, runs.slot, runs.link)
        ends += (self.length[runs.packet] - 1) * runs.network.link_occupancy[runs.link]
        slots = max(int(ends.max(initial=0)), runs.slot_count)
        self._begin(runs, runs.network, task, (replace(runs.phases[0], slots=slots),))

    def expand(self) -> Schedule:
        """Return the schedule with the hops of every packet, as any other is kept."""
        runs = self.runs
        reason = too_many_hops(self.stored_hops)
        if reason is not None:
            raise ScheduleError(f"the packets of the runs: {reason}")
        many = self.length[runs.packet]
        hop = np.repeat(np.arange(many.size), many)
        place = np.arange(hop.size) - np.repeat(np.cumsum(many) - many, many)
        packet = (np.cumsum(self.length) - self.length)[runs.packet][hop] + place
        slot = runs.slot[hop] + place * runs.network.link_occupancy[runs.link][hop]
        order = np.argsort(slot, kind="stable")
        return Schedule(
            runs.network, self.task, runs.rules, slot[order], runs.link[hop][order], packet[order], cost=self.cost,
            phases=self.phases, algorithm=self.algorithm,
        )  # fmt: skip

    def replace(self, **changes: Any) -> Any:
        """Return a schedule with some constructor arguments changed: in runs if only its cost or name is another."""
        if changes.keys() <= {"algorithm", "cost"}:
            return RunSchedule(self.runs.replace(**changes), self.length, self.task)
        return self.expand().replace(**changes)

    @property
    def stored_hops(self) -> int:
        """Number of hops of all packets."""
        return int(self.length[self.runs.packet].sum())

    @property
    def packet_count(self) -> int:
        """Number of packets that travel."""
        return int(self.length.sum())

    @property
    def control_hops(self) -> int:
        """None are of control packets."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns of the runs."""
        return self.runs.nbytes + int(self.length.nbytes)


class RepairedSchedule(_ShortForm):
    """An exchange that is the same at all nodes, less what crosses missing links, and then that on other paths.

    Kept are one node's packets on the network with all links, and the packets that are sent again, with a link and a
    turn for each hop; the columns are written out when they are read. A turn is as long as a packet occupies a link.

    Parameters
    ----------
    sound : Schedule
        Invariant, on the network with all links; all of it is over before anything is sent again.
    network : Network
        What is left of that network: all links take as long as those there.
    place : array_like of int, shape (N,)
        The node there of each node.
    packet, source : array_like of int, shape (P,)
        The packets that are sent again: the packet of `sound` of which each is a translate, and the node of `network`
        at which it begins.
    hops : array_like of int, shape (P,)
        Hops of each.
    port : array_like of int, shape (H,)
        Of each hop, packet by packet: which of the links that leave its node it takes, the first being 0.
    turn : array_like of int, shape (H,)
        In which turn, after `sound`, each hop begins.

    Raises
    ------
    ScheduleError
        If the shapes do not fit, links take different times, or `sound` is cut into parts or repeats.

    Notes
    -----
    3 bytes for each hop that is made again, where columns take 12.
    """

    def __init__(
        self, sound: Schedule, network: Network, place: npt.ArrayLike, packet: npt.ArrayLike, source: npt.ArrayLike,
        hops: npt.ArrayLike, port: npt.ArrayLike, turn: npt.ArrayLike,
    ) -> None:  # fmt: skip
        self.sound, self.place = sound, np.asarray(place, np.int64)
        self.again, self.source = np.asarray(packet, np.int32), np.asarray(source, np.int32)
        self.hops_again, self.port, self.turn = (np.asarray(values) for values in (hops, port, turn))
        same = {self.again.shape, self.source.shape, self.hops_again.shape}
        rows = {self.port.shape, self.turn.shape, (int(self.hops_again.sum(dtype=np.int64)),)}
        if len(same) > 1 or len(rows) > 1:
            raise ScheduleError("the packets that are sent again have columns of different lengths")
        if self.place.shape != (network.node_count,) or sound.network.node_count != network.node_count:
            raise ScheduleError("the network with all links has other nodes")
        if sound.symmetry is None or sound.repetition is not None or sound.parts > 1 or CONTROL in sound.packet:
            raise ScheduleError("what holds but for missing links is invariant, does not repeat and is not cut")
        takes, waits = network.uniform_occupancy, network.uniform_latency
        if takes is None or waits is None or not network.node_count:
            raise ScheduleError("the links of a schedule with repairs take equal times")
        if int(self.again.min(initial=0)) < 0 or int(self.again.max(initial=-1)) >= sound.packets.count:
            raise ScheduleError("a packet that is sent again is none of those of the network with all links")
        slots = (int(self.turn.max(initial=0)) + 1) * takes + waits if self.turn.size else 0
        repairs = Phase("repairs", slots, first_slot=sound.slot_count)
        self._begin(sound, network, sound.task, (*sound.phases, repairs))

    def expand(self) -> Schedule:
        """Return the schedule with all hops, as any other is kept."""
        reason = too_many_hops(self.hop_count)
        if reason is not None:
            raise ScheduleError(reason)
        network, sound, n = self.network, self.sound.expand(), self.network.node_count
        node = np.empty(n, np.int64)
        node[self.place] = np.arange(n)
        messages, there = self.task.messages(network), sound.messages
        assert messages.targets is not None
        assert there.targets is not None
        packets = Packets.of(messages)
        key = messages.origin.astype(np.int64) * n + messages.targets
        row = message_rows(there, sound.packets)
        sound_key = node[there.origin[row]] * n + node[there.targets[row]]
        order = np.argsort(key)
        number = order[np.searchsorted(key, sound_key, sorter=order)]
        target = self.targets()
        again = order[np.searchsorted(key, self.source * np.int64(n) + target, sorter=order)]
        kept = ~np.isin(sound.packet, np.flatnonzero(np.isin(number, again)))
        ends = (node[side[sound.link[kept]]] for side in (sound.network.link_source, sound.network.link_target))
        link = np.empty(self.port.size, np.int64)
        at, place = self.source.astype(np.int64), np.cumsum(self.hops_again, dtype=np.int64) - self.hops_again
        for h in range(int(self.hops_again.max(initial=0))):
            on = np.flatnonzero(self.hops_again > h)
            link[place[on] + h] = network.first_link[at[on]] + self.port[place[on] + h]
            at[on] = network.link_target[link[place[on] + h]]
        slot = self.sound.slot_count + self.turn.astype(np.int64) * (network.uniform_occupancy or 1)
        by_time = np.argsort(slot, kind="stable")
        return Schedule(
            network, self.task, self.rules, np.append(sound.slot[kept], slot[by_time]),
            np.append(network.links_between(*ends), link[by_time]),
            np.append(number[sound.packet[kept]], np.repeat(again, self.hops_again)[by_time]), cost=self.cost,
            packets=packets, phases=self.phases, algorithm=self.algorithm,
        )  # fmt: skip

    def targets(self) -> npt.NDArray[np.int64]:
        """Return where each packet that is sent again goes, int64[P]."""
        sound, symmetry, node = self.sound, self.sound.symmetry, np.empty(self.place.size, np.int64)
        node[self.place] = np.arange(self.place.size)
        messages = sound.messages
        assert messages.targets is not None
        assert symmetry is not None
        target = messages.targets[message_rows(messages, sound.packets)].astype(np.int64)
        found = np.empty(self.again.size, np.int64)
        for low in range(0, found.size, 2**20):  # in pieces, as there may be many
            packet, begin = self.again[low : low + 2**20], self.place[self.source[low : low + 2**20]]
            by = symmetry.taking(sound.packets.origin[packet], begin)
            found[low : low + 2**20] = node[symmetry.translate(by, target[packet])]
        return found

    def replace(self, **changes: Any) -> Any:
        """Return a schedule with some constructor arguments changed: with repairs if only its cost or name is."""
        if changes.keys() <= {"algorithm", "cost"}:
            columns = self.again, self.source, self.hops_again, self.port, self.turn
            return RepairedSchedule(self.sound.replace(**changes), self.network, self.place, *columns)
        return self.expand().replace(**changes)

    @property
    def stored_hops(self) -> int:
        """Number of hops of all packets."""
        return self.hop_count

    @property
    def hop_count(self) -> int:
        """Number of hops that happen."""
        each = np.bincount(self.sound.packet, minlength=self.sound.packets.count)
        return self.sound.hop_count - int(each[self.again].sum()) + int(self.turn.size)

    @property
    def packet_count(self) -> int:
        """Number of packets that travel."""
        return self.sound.packet_count

    @property
    def control_hops(self) -> int:
        """None are of control packets."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns that are kept."""
        kept = (self.place, self.again, self.source, self.hops_again, self.port, self.turn)
        return self.sound.nbytes + int(sum(column.nbytes for column in kept))


def load(path: str | os.PathLike[str]) -> Schedule:
    """Read a plain schedule that `save` wrote. It is not verified; see `gossamer.schedules.files.load`."""
    return files.load(path, Schedule)
