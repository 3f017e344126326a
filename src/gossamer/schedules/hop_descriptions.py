"""The hops of a schedule one by one, in words and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.networks.network import Network
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, MOVE, Messages
from gossamer.schedules.hop_table import HopTable, hop_columns, hop_ends
from gossamer.schedules.packets import CONTROL
from gossamer.schedules.transform import expand

__all__ = ["Hop", "chosen_hops", "frame", "hops", "message_words", "table", "to_arrow", "to_frame"]

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

    `schedule` (Schedule): an invariant one is expanded. It need not be valid.

    O(hops) time, about 3 microseconds a hop. `Schedule.to_arrow` and `to_frame` have the numbers in columns.

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

    * `network` (Network): for the names of nodes.
    * `messages` (Messages): of the task.
    * `message` (int): its number in the task.

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
    if kind == ALLCOMBINE:
        listed = None if messages.target_start is None else int(np.diff(messages.target_start)[row])
        return f"message {message}, the sum for all" + ("" if listed is None else f" {listed} of a group")
    if messages.after is not None and messages.after[row] >= 0:
        return f"message {message}, the result at {origin}"
    if kind == MOVE and messages.targets is not None and messages.target_start is not None:
        target = network.node_name(int(messages.targets[messages.target_start[row]]))
        return f"message {message} of {origin} for {target}"
    return f"message {message} of {origin}"


# As tables of other libraries: Arrow, and what is made of it.


def table(columns: Mapping[str, Any], phase: npt.NDArray[np.int32], names: Iterable[str]) -> Any:
    """Return columns, and the names of the phases to which rows belong, as an Arrow table.

    >>> table({"slot": [0, 1]}, np.array([0, 1], np.int32), ["up", "down"]).to_pylist()
    [{'slot': 0, 'phase': 'up'}, {'slot': 1, 'phase': 'down'}]
    """
    import pyarrow as pa

    phases = pa.DictionaryArray.from_arrays(phase, pa.array(names, pa.string()))
    return pa.table({**columns, "phase": phases})


def frame(arrow: Callable[[], Any]) -> Any:
    """Return the Arrow table that `arrow` makes as a data frame of pandas; NotApplicableError if there is no pandas."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise NotApplicableError("to_frame needs pandas: pip install pandas; to_arrow does without") from None
    return arrow().to_pandas()


def to_arrow(schedule: HopTable) -> Any:
    """Return the hops of a schedule as an Arrow table.

    `schedule` (Schedule): an invariant one is expanded. Returns: one row a hop, by slot: int32 ``slot`` in which it
    starts, ``usable`` from which slot on what it brings can move on, ``source``, ``target``, ``link``, ``packet``;
    int64 ``message``; int32 ``part``, ``origin`` of the message, for reductions the root; and ``phase``, a name. A
    control packet has -1 in `packet`, `message`, `part` and `origin`. No value is null.

    O(hops) time, 40 bytes a hop.

    >>> import gossamer
    >>> table = to_arrow(gossamer.plan("array:3", "gather").schedule)
    >>> table.select(["slot", "source", "target", "message"]).to_pylist()[-1]
    {'slot': 1, 'source': 1, 'target': 0, 'message': 2}
    """
    schedule = expand(schedule)
    network, slot, link = schedule.network, schedule.slot, schedule.link
    told = hop_columns(network, schedule.packets, link, schedule.packet)
    usable = slot + np.int32(1) if network.plain else hop_ends(network, schedule.parts, slot, link).astype(np.int32)
    origin = np.append(schedule.packets.origin, np.int32(-1))[schedule.packet]
    first = np.array([p.first_slot for p in schedule.phases[1:]], np.int64)
    phase = np.searchsorted(first, slot, side="right").astype(np.int32)
    columns = {
        "slot": slot, "usable": usable, "source": told["source"], "target": told["target"], "link": link,
        "packet": schedule.packet, "message": told["message"], "part": told["part"], "origin": origin,
    }  # fmt: skip
    return table(columns, phase, [p.name for p in schedule.phases])


def to_frame(schedule: HopTable) -> Any:
    """Return the hops of a schedule as a data frame of pandas, with the columns of `to_arrow`.

    Raises `NotApplicableError` if pandas is not installed.

    Polars and DuckDB take `to_arrow`: ``polars.from_arrow(schedule.to_arrow())``.
    """
    return frame(lambda: to_arrow(schedule))
