"""What hops carry, in words: for people who ask what happens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.questions.tasks import COMBINE, MOVE, Messages
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.spans import hop_ends
from gossamer.schedules.storing import hop_columns
from gossamer.schedules.transform import expand

__all__ = ["Hop", "chosen_hops", "hops", "message_words"]

_HOP_ROWS = 10_000


class Hop(NamedTuple):
    """One packet on one link.

    Attributes
    ----------
    slot : int
        The slot in which it starts.
    usable : int
        The slot from which on what it brings can move on.
    source, target, link : int
        Nodes, and the link from the one to the other.
    packet, message, part : int
        What it carries; -1 for a control packet.
    text : str
        All of it in words; ``str(hop)`` is the same.
    """

    slot: int
    usable: int
    source: int
    target: int
    link: int
    packet: int
    message: int
    part: int
    text: str

    def __str__(self) -> str:
        return self.text


def hops(schedule: HopTable) -> Iterator[Hop]:
    """Yield the hops of a schedule in order, each with what it is in words.

    Parameters
    ----------
    schedule : Schedule
        An invariant one is expanded. It need not be valid.

    Notes
    -----
    O(hops) time, about 3 microseconds a hop. `Schedule.to_arrow` and `to_frame` have the numbers in columns.

    Examples
    --------
    >>> import gossamer
    >>> for hop in gossamer.plan("array:3", "gather").schedule.hops():
    ...     print(hop)
    slot 0: (2) sends message 2 of (2) for (0) to (1)
    slot 0: (1) sends message 1 of (1) for (0) to (0)
    slot 1: (1) sends message 2 of (2) for (0) to (0)
    """
    schedule = expand(schedule)
    return chosen_hops(schedule, np.arange(schedule.stored_hops))


def chosen_hops(schedule: HopTable, chosen: npt.NDArray[np.int64]) -> Iterator[Hop]:
    """Yield some hops of an explicit schedule, whose rows are given; see `hops`."""
    network, messages = schedule.network, schedule.messages
    known: dict[int, str] = {}
    for a in range(0, chosen.size, _HOP_ROWS):
        rows = chosen[a : a + _HOP_ROWS]
        slot, link, packet = schedule.slot[rows], schedule.link[rows], schedule.packet[rows]
        told = hop_columns(network, schedule.packets, link, packet)
        usable = slot + 1 if network.plain else hop_ends(network, schedule.parts, slot, link)
        columns = (slot, usable, told["source"], told["target"], link, packet, told["message"], told["part"])
        for t, end, u, v, on, p, m, part in zip(*(c.tolist() for c in columns), strict=True):
            if p == CONTROL:
                what = "a control packet"
            else:
                if m not in known:
                    known[m] = message_words(network, messages, m)
                what = known[m] if schedule.parts == 1 and messages.sizes is None else f"part {part} of {known[m]}"
            when = f"slot {t}" if network.plain else f"slots {t} to {end - 1}"
            text = f"{when}: {network.node_name(u)} sends {what} to {network.node_name(v)}"
            yield Hop(t, end, u, v, on, p, m, part, text)


def message_words(network: Network, messages: Messages, message: int) -> str:
    """Return what a message is: its number, whose it is, and for whom, if that is one node.

    Parameters
    ----------
    network : Network
        For the names of nodes.
    messages : Messages
        Of the task.
    message : int
        Its number in the task.

    Examples
    --------
    >>> import gossamer
    >>> net = gossamer.network("ring:3")
    >>> message_words(net, gossamer.task("alltoall").messages(net), 5)
    'message 5 of (1) for (2)'
    >>> message_words(net, gossamer.task("reduce-scatter").messages(net), 2)
    'message 2, the sum for (2)'
    """
    row = int(np.searchsorted(messages.ids, message))
    origin, kind = network.node_name(int(messages.origin[row])), messages.discipline[row]
    if kind == COMBINE:
        return f"message {message}, the sum for {origin}"
    if messages.after is not None and messages.after[row] >= 0:
        return f"message {message}, the result at {origin}"
    if kind == MOVE and messages.targets is not None and messages.target_start is not None:
        target = network.node_name(int(messages.targets[messages.target_start[row]]))
        return f"message {message} of {origin} for {target}"
    return f"message {message} of {origin}"
