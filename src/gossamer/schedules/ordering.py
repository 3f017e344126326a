"""What the checker asks about order: whether anything leaves before what it depends on is complete.

There are two kinds of dependence: of a message on another one that ends at its origin (the result of a reduction), and
of all that a node starts in one collective on all that another one brings to it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.spans import hop_ends
from gossamer.schedules.state import ReplayState
from gossamer.schedules.timed import message_spans
from gossamer.tasks import COMBINE, COPY

__all__ = ["Early", "early_messages", "early_starts"]

Rows = npt.NDArray[np.int64]

Early = tuple[npt.NDArray[np.intp], Callable[[int], tuple[int, str]]]
"""What leaves early, and for each the slot in which it does and the fact in words."""

_NONE = np.zeros(0, np.intp)


def early_messages(schedule: HopTable, state: ReplayState) -> Early:
    """Return the messages (or their packets) that leave before what they come after is complete at their origin.

    Notes
    -----
    O(hops).
    """
    messages = schedule.messages
    if messages.after is None:
        return _NONE, _nothing
    if messages.partwise and schedule.packets.count > messages.count:
        return _early_packets(schedule, state)
    after = messages.after
    first, last = _spans(schedule, state)
    ids = messages.ids

    def told(m: int) -> tuple[int, str]:
        need = int(after[m])
        fact = f"message {ids[m]} leaves before message {ids[need]} is complete in slot {last[need]}"
        return int(first[m]), f"slot {first[m]}: {fact}"

    return np.flatnonzero((after >= 0) & (first <= last[np.maximum(after, 0)])), told


def _nothing(_: int) -> tuple[int, str]:
    raise IndexError


def _spans(schedule: HopTable, state: ReplayState) -> tuple[Rows, Rows]:
    """Return the first and the last slot of the hops of each message; 2**31 - 1 and -1 where it has none."""
    from gossamer.schedules import _kernels

    if not schedule.network.plain:
        return message_spans(schedule, state)
    rows = schedule.messages.count
    first, last = np.full(rows, 2**31 - 1, np.int64), np.full(rows, -1, np.int64)
    _kernels.message_spans(schedule.slot, schedule.packet, state.row_of, first, last)
    return first, last


def _early_packets(schedule: HopTable, state: ReplayState) -> Early:
    """Return the packets that leave before the same packet of the message that theirs comes after is complete."""
    messages, table = schedule.messages, schedule.packets
    assert messages.after is not None
    count = table.count
    begun, ended = np.full(count, 2**31 - 1, np.int64), np.full(count, -1, np.int64)
    data = schedule.packet != CONTROL
    packet = schedule.packet[data]
    ends = hop_ends(schedule.network, schedule.parts, schedule.slot[data], schedule.link[data]) - 1
    np.minimum.at(begun, packet, schedule.slot[data].astype(np.int64))
    np.maximum.at(ended, packet, ends)
    first = messages.first_packet() * schedule.parts
    packet_at = np.full(int(first[-1]), -1, np.int64)
    packet_at[first[state.row_of] + table.part] = np.arange(count)
    need = messages.after[state.row_of]
    known = np.flatnonzero((need >= 0) & (table.part < np.diff(first)[np.maximum(need, 0)]))
    awaited = np.full(count, -1, np.int64)
    awaited[known] = packet_at[first[need[known]] + table.part[known]]
    early = np.flatnonzero((awaited >= 0) & (begun <= ended[np.maximum(awaited, 0)]))

    def told(p: int) -> tuple[int, str]:
        q = int(awaited[p])
        what = f"packet {p} of message {table.message[p]} leaves"
        return int(begun[p]), f"slot {begun[p]}: {what} before packet {q} is complete in slot {ended[q]}"

    return early, told


def early_starts(schedule: HopTable, state: ReplayState) -> Early:
    """Return the hops by which a node begins with one collective before all that another brings to it is there.

    Notes
    -----
    O(hops log hops + targets log targets); nothing where no collective waits.
    """
    messages, network = schedule.messages, schedule.network
    if not messages.waits or messages.stage is None:
        return _NONE, _nothing
    hop = np.flatnonzero(schedule.packet != CONTROL)
    packet, link = schedule.packet[hop].astype(np.int64), schedule.link[hop]
    row = state.row_of[packet].astype(np.int64)
    stage = messages.stage[row].astype(np.int64)
    kind = messages.discipline[row]
    source, target = network.link_source[link].astype(np.int64), network.link_target[link].astype(np.int64)
    end = hop_ends(network, schedule.parts, schedule.slot[hop], link)
    n = network.node_count

    done = np.zeros((int(messages.stage.max(initial=0)) + 1) * n, np.int64)  # by stage and node
    listed = _listed(schedule, n)
    ending = np.where(kind == COMBINE, target == messages.origin[row], _among(row, target, listed, network))
    brought = np.flatnonzero(ending)
    order = brought[np.lexsort((end[brought], target[brought], packet[brought]))]
    # a copy is there when it first comes; of what is moved or combined the last arrival counts
    again = np.zeros(order.size, np.bool_)
    again[1:] = (packet[order][1:] == packet[order][:-1]) & (target[order][1:] == target[order][:-1])
    order = order[~(again & (kind[order] == COPY))]
    np.maximum.at(done, stage[order] * n + target[order], end[order])

    starting = np.where(kind == COMBINE, _among(row, source, listed, network), source == messages.origin[row])
    wrong = np.zeros(hop.size, np.bool_)
    for later, earlier in messages.waits:
        wrong |= starting & (stage == later) & (schedule.slot[hop] < done[earlier * n + source])
    early = hop[wrong]

    def told(h: int) -> tuple[int, str]:
        p = int(schedule.packet[h])
        node = int(network.link_source[schedule.link[h]])
        fact = f"node {network.node_name(node)} begins with packet {p} before all is there that it waits for"
        return int(schedule.slot[h]), f"slot {schedule.slot[h]}: {fact}"

    return early, told


def _listed(schedule: HopTable, n: int) -> Rows | None:
    """Return every (row of a message, target) as row times n plus target, ascending; None where all are targets."""
    messages = schedule.messages
    if messages.targets is None or messages.target_start is None:
        return None
    rows = np.repeat(np.arange(messages.count, dtype=np.int64), np.diff(messages.target_start))
    return np.sort(rows * n + messages.targets)


def _among(row: Rows, node: Rows, listed: Rows | None, network: Network) -> npt.NDArray[np.bool_]:
    """Return whether each node is a target, or a contributor, of the message of its row."""
    if listed is None:
        return np.asarray(node < network.terminal_count)
    keys = row * network.node_count + node
    place = np.minimum(np.searchsorted(listed, keys), max(listed.size - 1, 0))
    return listed[place] == keys if listed.size else np.zeros(keys.size, np.bool_)
