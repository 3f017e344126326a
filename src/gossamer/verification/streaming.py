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
from gossamer.jit import njit
from gossamer.networks.network import IntArray, Network
from gossamer.questions.costs import StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import MOVE, Task
from gossamer.schedules.packets import CONTROL
from gossamer.verification.metrics import BufferPeak
from gossamer.verification.violations import Verification, Violation, named_count

_CAUSALITY, _CAPACITY, _DUPLICATE = 0, 1, 2
_COUNTED = 3
# places in `state`
_SLOT, _PENDING, _PEAK, _PEAK_NODE, _PEAK_SLOT, _OVER, _DATA = range(7)


@njit(cache=True, nogil=True, small=100_000)
def _arrive(state, link_target, location, held, before, changed, pending_link, pending_packet, limit):
    """Let the packets of the current slot arrive, and look at the buffers of the nodes that they reach.

    With a buffer limit, `before` int32[N] is what a node held before the slot `changed` int32[N].
    """
    for i in range(state[_PENDING]):
        v = link_target[pending_link[i]]
        location[pending_packet[i]] = v
        held[v] += 1
        if held[v] > state[_PEAK]:
            state[_PEAK], state[_PEAK_NODE], state[_PEAK_SLOT] = held[v], v, state[_SLOT] + 1
        if limit > 0:
            if changed[v] != state[_SLOT]:
                changed[v], before[v] = state[_SLOT], held[v] - 1
            if held[v] == limit + 1 and before[v] <= limit:
                state[_OVER] += 1
    state[_PENDING] = 0


@njit(cache=True, nogil=True, small=100_000)
def _replay(
    slot, link, packet, link_source, link_target, capacity, state, location, departed, held, before, changed, used,
    used_in, limit, pending_link, pending_packet, found_kind, found_hop, counts,
):  # fmt: skip
    """Replay a chunk; write violations as (kind, hop of the chunk) while there is room, and count all of them.

    `state` keeps the current slot, the packets on links in it, and the fullest node so far. `used_in` int32[L] is the
    last slot in which a link was used, `used` int32[L] how often then, empty where every capacity is 1. `departed`
    int32[P] is the last slot in which a packet left a node. Returns the number of violations written, or -1-h if hop
    h goes back in time or has a number out of range.
    """
    written, links, packets = 0, link_source.size, location.size
    for h in range(slot.size):
        t, ln, p = slot[h], link[h], packet[h]
        if t < state[_SLOT] or t < 0 or ln < 0 or ln >= links or p < -1 or p >= packets:
            return -1 - h
        if t != state[_SLOT]:
            _arrive(state, link_target, location, held, before, changed, pending_link, pending_packet, limit)
            state[_SLOT] = t
        wrong = -1
        if used_in[ln] != t:
            used_in[ln] = t
            if used.size:
                used[ln] = 1
        elif used.size:
            used[ln] += 1
            if used[ln] > capacity[ln]:
                wrong = _CAPACITY
        else:
            wrong = _CAPACITY
        if wrong >= 0:
            counts[wrong] += 1
            if written < found_kind.size:
                found_kind[written], found_hop[written] = wrong, h
                written += 1
        if p < 0:
            continue
        state[_DATA] += 1
        wrong = -1
        if location[p] != link_source[ln]:
            wrong = _CAUSALITY
        elif departed[p] == t:
            wrong = _DUPLICATE
        if wrong >= 0:
            counts[wrong] += 1
            if written < found_kind.size:
                found_kind[written], found_hop[written] = wrong, h
                written += 1
            continue
        departed[p] = t
        u = link_source[ln]
        if limit > 0 and changed[u] != t:
            changed[u], before[u] = t, held[u]
        held[u] -= 1
        n = state[_PENDING]
        if n == pending_link.size:  # only where links are overfull, which is counted
            continue
        pending_link[n], pending_packet[n] = ln, p
        state[_PENDING] = n + 1
    return written


_KINDS = ("causality", "link capacity", "duplicate")


@dataclass(frozen=True)
class StreamVerification:
    """What the streaming checker found.

    `verification`: violations, as from `gossamer.verify`. `hops`, `control_hops`: hops of the messages' packets, and of
    control packets. `delivered`: messages that are at their targets. `buffer`: the most packets that a node held at a
    slot boundary, its own and delivered ones included.
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
        self._state[_SLOT] = -1
        fullest = int(self._held.argmax()) if network.node_count else 0
        self._state[_PEAK] = self._held[fullest]
        self._state[_PEAK_NODE] = fullest
        if rules.buffer is not None:
            self._state[_OVER] = np.count_nonzero(self._held > rules.buffer)
        self._counts = np.zeros(_COUNTED, np.int64)
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
        began = time.process_time()
        slot, link, packet = (np.asarray(column, np.int32) for column in (slot, link, packet))
        if not slot.shape == link.shape == packet.shape or slot.ndim != 1:
            raise ScheduleError("slot, link and packet must be columns of one length")
        if not slot.size:
            return
        kinds = np.zeros(max(self.limit - len(self._found), 0), np.int64)
        hops = np.zeros_like(kinds)
        data = int(self._state[_DATA])
        written = _replay(
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
        data = int(self._state[_DATA]) - data
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
        began = time.process_time()
        _arrive(
            self._state, self.network.link_target, self._location, self._held, self._before, self._changed,
            self._pending[0], self._pending[1], self.rules.buffer or 0,
        )  # fmt: skip
        lost = np.flatnonzero(self._location != self._targets)
        counts = {kind: int(n) for kind, n in zip(_KINDS, self._counts, strict=True)}
        counts |= {"delivery": int(lost.size), "buffer": int(self._state[_OVER]), "slot length": self._slot_length}
        name = self.network.node_name
        for p in lost[: max(self.limit - len(self._found), 0)].tolist():
            text = f"packet {p} ends at node {name(self._location[p])}, not at {name(self._targets[p])}"
            self._found.append(Violation("delivery", text, packets=(p,)))
        node, boundary = int(self._state[_PEAK_NODE]), int(self._state[_PEAK_SLOT])
        peak = BufferPeak(int(self._state[_PEAK]), node, boundary)
        if counts["buffer"] and len(self._found) < self.limit:
            text = f"before slot {boundary}: node {name(node)} holds {peak.packets} packets, buffer {self.rules.buffer}"
            self._found.append(Violation("buffer", text, slot=boundary, nodes=(node,)))
        self.seconds += time.process_time() - began
        counts = {kind: n for kind, n in counts.items() if n}
        data = int(self._state[_DATA])
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
