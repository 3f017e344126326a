"""The checker for schedules that are too large to keep: hops come in chunks, and are forgotten.

It shares no code with the builders, and none with `gossamer.verify` but the words in which violations are told.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, ScheduleError, TaskError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MOVE, Task
from gossamer.schedules.metrics import BufferPeak
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.violations import Verification, Violation, named_count

__all__ = ["StreamVerification", "StreamingChecker"]

_KINDS = ("causality", "link capacity", "duplicate")


@dataclass(frozen=True)
class StreamVerification:
    """What the streaming checker found.

    Attributes
    ----------
    verification : Verification
        Violations, as from `gossamer.verify`.
    hops, control_hops : int
        Hops of the messages' packets, and of control packets.
    delivered : int
        Messages that are at their targets.
    buffer : BufferPeak
        The most packets that a node held at a slot boundary, its own and delivered ones included.
    """

    verification: Verification
    hops: int
    control_hops: int
    delivered: int
    buffer: BufferPeak

    def __bool__(self) -> bool:
        return self.verification.ok


class StreamingChecker:
    """Checks a schedule as its hops are made.

    Parameters
    ----------
    network : Network
        The network.
    task : Task
        A task whose messages go to one target each and are not copied; packet i is its i-th message.
    rules : Rules
        All ports, no cut-through of switches; a buffer limit must count everything a node holds.
    cost : StepCost, optional
        What control packets take. Default: nothing.
    limit : int
        Violations to name; the rest are counted.

    Raises
    ------
    TaskError
        If messages are copied or combined, have several packets, or wait for others.
    ModelError
        If there are rules that are not checked here.

    Notes
    -----
    Checks adjacency, link capacity, causality, delivery and buffers. O(packets + links) memory, O(hops) time.

    Examples
    --------
    >>> import gossamer
    >>> line = gossamer.network("array:3")
    >>> checker = StreamingChecker(line, gossamer.task("permutation", destination=[2, -1, -1]), gossamer.Rules())
    >>> checker.feed([0], [0], [0])
    >>> checker.feed([1], [1], [0])
    >>> found = checker.finish()
    >>> bool(found), found.hops, found.buffer.packets
    (True, 2, 1)
    """

    def __init__(
        self, network: Network, task: Task, rules: Rules, limit: int = 20, *, cost: StepCost | None = None
    ) -> None:
        from gossamer.schedules.streaming import _kernels

        task.check(network)
        messages = task.messages(network)
        if bool((messages.discipline != MOVE).any()) or messages.targets is None:
            raise TaskError(f"{task.name} copies or combines packets; streaming checks tasks that move them only")
        if messages.sizes is not None and bool((messages.sizes != 1).any()):
            raise TaskError(f"{task.name} has messages of several packets; streaming checks those of one")
        if messages.after is not None or messages.waits:
            raise TaskError(f"messages of {task.name} wait for others, which streaming does not check")
        if not network.plain:
            raise ModelError("streaming checks links that packets cross in one slot; here some take longer")
        if rules.ports != "all":
            raise ModelError(f"streaming checks ports 'all' only, got {rules.ports!r}")
        if rules.on(network).cut_through:
            raise ModelError("streaming checks switches that store and forward, not cut-through")
        if rules.buffer is not None and rules.buffer_counts != "all":
            raise ModelError("streaming counts all that a node holds, and so must a buffer limit: buffer_counts='all'")
        self.network, self.task, self.rules, self.cost = network, task, rules, cost or StepCost()
        self.limit = named_count(limit)
        self._targets = messages.targets
        self._location = messages.origin.astype(np.int32)
        self._held = np.bincount(self._location, minlength=network.node_count).astype(np.int32)
        limited = network.node_count if rules.buffer is not None else 0
        self._before, self._changed = np.zeros(limited, np.int32), np.full(limited, -1, np.int32)
        self._departed = np.full(messages.count, -1, np.int32)
        single = network.uniform_capacity == 1
        self._used_in = np.full(network.link_count, -1, np.int32)
        self._used = np.zeros(0 if single else network.link_count, np.int32)
        room = int(network.link_capacity.sum(dtype=np.int64))
        self._pending = np.empty((2, room), np.int32)
        self._state = np.zeros(8, np.int64)
        self._state[_kernels.SLOT] = -1
        fullest = int(self._held.argmax()) if network.node_count else 0
        self._state[_kernels.PEAK] = self._held[fullest]
        self._state[_kernels.PEAK_NODE] = fullest
        if rules.buffer is not None:
            self._state[_kernels.OVER] = np.count_nonzero(self._held > rules.buffer)
        self._counts = np.zeros(_kernels.COUNTED, np.int64)
        self._found: list[Violation] = []
        self._slot_length = 0
        self._hops = 0
        self.seconds = 0.0

    def feed(
        self, slot: npt.ArrayLike, link: npt.ArrayLike, packet: npt.ArrayLike, slot_length: Fraction = Fraction(1)
    ) -> None:
        """Replay the next hops.

        Parameters
        ----------
        slot, link, packet : int32[h]
            As the columns of a schedule, sorted by slot, none before the last slot fed.
        slot_length : Fraction
            Length of these slots in steps.

        Raises
        ------
        ScheduleError
            If slots go back or a number is out of range; the checker is of no use then.
        """
        from gossamer.schedules.streaming import _kernels

        began = time.process_time()
        slot, link, packet = (np.asarray(column, np.int32) for column in (slot, link, packet))
        if not slot.shape == link.shape == packet.shape or slot.ndim != 1:
            raise ScheduleError("slot, link and packet must be columns of one length")
        if not slot.size:
            return
        kinds = np.zeros(max(self.limit - len(self._found), 0), np.int64)
        hops = np.zeros_like(kinds)
        data = int(self._state[_kernels.DATA])
        written = _kernels.replay(
            slot, link, packet, self.network.link_source, self.network.link_target, self.network.link_capacity,
            self._state, self._location, self._departed, self._held, self._before, self._changed, self._used,
            self._used_in, self.rules.buffer or 0, self._pending[0], self._pending[1], kinds, hops, self._counts,
        )  # fmt: skip
        if written < 0:
            self._refuse(slot, link, packet, -1 - written)
        self._found += [
            _violation(self.network, _KINDS[kinds[i]], slot[hops[i]], link[hops[i]], packet[hops[i]])
            for i in range(written)
        ]
        self._hops += slot.size
        data = int(self._state[_kernels.DATA]) - data
        for least_length, what, there in (
            (Fraction(1), "a packet", data > 0),
            (self.cost.control_time, "a control packet", data < slot.size),
        ):
            if there and slot_length < least_length:
                self._slot_length += 1
                text = f"slot {slot[0]}: slots of {slot_length} step; {what} needs {least_length}"
                self._found.append(Violation("slot length", text, slot=int(slot[0])))
        self.seconds += time.process_time() - began

    def _refuse(self, slot: IntArray, link: IntArray, packet: IntArray, hop: int) -> None:
        """Raise the error of a hop that is none."""
        for name, value, low, high in (
            ("link", int(link[hop]), 0, self.network.link_count - 1),
            ("packet", int(packet[hop]), CONTROL, self._targets.size - 1),
        ):
            if not low <= value <= high:
                raise ScheduleError(f"column {name!r} must be {low}..{high}, got {value}")
        raise ScheduleError(f"slots must be 0 or more and must not go back, got {int(slot[hop])}")

    def finish(self) -> StreamVerification:
        """Let the last packets arrive, and return what was found."""
        from gossamer.schedules.streaming import _kernels

        began = time.process_time()
        _kernels.arrive(
            self._state, self.network.link_target, self._location, self._held, self._before, self._changed,
            self._pending[0], self._pending[1], self.rules.buffer or 0,
        )  # fmt: skip
        lost = np.flatnonzero(self._location != self._targets)
        counts = {kind: int(n) for kind, n in zip(_KINDS, self._counts, strict=True)}
        counts |= {
            "delivery": int(lost.size),
            "buffer": int(self._state[_kernels.OVER]),
            "slot length": self._slot_length,
        }
        name = self.network.node_name
        for p in lost[: max(self.limit - len(self._found), 0)].tolist():
            text = f"packet {p} ends at node {name(self._location[p])}, not at {name(self._targets[p])}"
            self._found.append(Violation("delivery", text, packets=(p,)))
        node, boundary = int(self._state[_kernels.PEAK_NODE]), int(self._state[_kernels.PEAK_SLOT])
        peak = BufferPeak(int(self._state[_kernels.PEAK]), node, boundary)
        if counts["buffer"] and len(self._found) < self.limit:
            text = f"before slot {boundary}: node {name(node)} holds {peak.packets} packets, buffer {self.rules.buffer}"
            self._found.append(Violation("buffer", text, slot=boundary, nodes=(node,)))
        self.seconds += time.process_time() - began
        counts = {kind: n for kind, n in counts.items() if n}
        data = int(self._state[_kernels.DATA])
        verification = Verification(tuple(self._found), counts, self._hops, self.seconds)
        delivered = int(self._targets.size - lost.size)
        return StreamVerification(verification, data, self._hops - data, delivered, peak)


def _violation(network: Network, kind: str, slot: int, link: int, packet: int) -> Violation:
    """Say what is wrong with one hop."""
    where = f"slot {slot}: {network.link_name(int(link))} carries packet {packet}"
    text = {
        "causality": f"{where}, which is not at the sender",
        "link capacity": f"{where} beyond its capacity of {int(network.link_capacity[link])}",
        "duplicate": f"{where}, which leaves twice in this slot",
    }[kind]
    return Violation(kind, text, slot=int(slot), link=int(link), packets=(int(packet),) if packet >= 0 else ())
