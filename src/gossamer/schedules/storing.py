"""Writing schedules to files; `gossamer.schedules.files` reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.networks.network import IntArray, Network
from gossamer.questions.costs import Clock, StepCost
from gossamer.questions.rules import Rules
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.packets import Packets
from gossamer.schedules.parquet import write_tables
from gossamer.schedules.serialization import control_phases, has_spec, network_to_dict
from gossamer.schedules.spans import link_ways
from gossamer.schedules.stored import Section, is_text
from gossamer.schedules.text import write_text

__all__ = [
    "FORMAT_VERSION",
    "HOPS",
    "HOP_ROWS",
    "PACKETS",
    "PACKET_ROWS",
    "PARALLEL_HOP_ROWS",
    "TOLD",
    "hop_columns",
    "rules_of_switches",
    "rules_to_dict",
    "save",
]

FORMAT_VERSION = 2
"""The newest version, of Parquet files whose rows are hops alone, and of text that says of links, switches or
symmetries what version 1 cannot; `load` reads both."""

_OF_SWITCHES = ("cut_through", "replication", "reduction")

HOPS = ("slot", "link", "packet")
PACKETS = ("origin", "message", "part")
TOLD = ("source", "target", "message", "part")
"""Columns of a Parquet file that follow from `HOPS`, so that its readers need no other table."""

PACKET_ROWS = Section("packets", "packet {number}: message {message} part {part} from {origin}")
HOP_ROWS = Section("hops", "slot {slot}: {source} -> {target} packet {packet:control}")
PARALLEL_HOP_ROWS = Section("hops", "slot {slot}: {source} -> {target} by {way} packet {packet:control}")
"""The tables of a file in text form; where links are parallel, a hop says by which of those between its ends."""


def rules_to_dict(rules: Rules, cost: StepCost, network: Network | None = None) -> dict[str, Any]:
    """Return the rules and the cost of a schedule as plain values, under one name in files.

    What the rules say of switches is among them where the network has switches, or it is not the default.

    >>> list(rules_to_dict(Rules(), StepCost()))
    ['ports', 'split', 'control_time', 'buffer', 'buffer_counts']
    """
    plain = rules.to_dict() | cost.to_dict()
    names: tuple[str, ...] = ("ports", "split", "control_time", "buffer", "buffer_counts")
    default, switched = Rules(), network is not None and network.terminal_count < network.node_count
    if switched or any(getattr(rules, name) != getattr(default, name) for name in _OF_SWITCHES):
        names += _OF_SWITCHES
    return {name: plain[name] for name in names}


def rules_of_switches(fields: Mapping[str, Any], network: Network) -> dict[str, Any]:
    """Return what a file says of switches: nothing in files of old, when switches replicated and reduced."""
    if any(name in fields for name in _OF_SWITCHES):
        return {name: fields[name] for name in _OF_SWITCHES}
    return {"reduction": True} if network.terminal_count < network.node_count else {}


def save(schedule: HopTable, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a file, whole or not at all: as text where the suffix is ``.txt``, otherwise as Parquet.

    Raises
    ------
    FileFormatError
        If the file cannot be written, or the schedule is invariant and its network cannot be named in a file.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.txt"
    >>> s = gossamer.plan("ring:3", "broadcast").schedule
    >>> save(s, path)
    >>> gossamer.load(path) == s
    True
    >>> path.read_text().splitlines()[-2:]
    ['slot 0: 0 -> 1 packet 0', 'slot 0: 0 -> 2 packet 0']
    """
    symmetry = schedule.symmetry
    if symmetry is not None and symmetry.by_generator and not has_spec(schedule.network):
        raise FileFormatError(
            f"an invariant schedule on {schedule.network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    packets = {name: getattr(schedule.packets, name) for name in PACKETS}
    if is_text(path):
        network, link = schedule.network, schedule.link
        hops: dict[str, npt.NDArray[np.integer]] = {
            "slot": schedule.slot,
            "source": network.link_source[link],
            "target": network.link_target[link],
            "packet": schedule.packet,
        }
        rows = PARALLEL_HOP_ROWS if network.parallel else HOP_ROWS
        if network.parallel:
            hops["way"] = link_ways(network)[link]
        tables = [(PACKET_ROWS, packets), (rows, hops)]
        write_text(path, "store-and-forward", _header(schedule, text=True), tables)
        return
    header = _header(schedule) | {"version": FORMAT_VERSION}
    write_tables(path, header, {"packets": packets}, partial(_rows, schedule), schedule.stored_hops)


def hop_columns(network: Network, table: Packets, link: IntArray, packet: IntArray) -> dict[str, npt.NDArray[Any]]:
    """Return, for hops over links that carry packets, what a file tells besides: the columns `TOLD`.

    Parameters
    ----------
    network : Network
        Of the links.
    table : Packets
        What the packets are.
    link, packet : int32[H]
        Of the hops; packet -1 is a control packet, whose message and part are -1 as well.
    """
    control = packet < 0
    row = np.where(control, 0, packet)
    message, part = (
        np.where(control, values.dtype.type(-1), values[row] if values.size else -1).astype(values.dtype)
        for values in (table.message, table.part)
    )
    ends = network.link_source[link], network.link_target[link]
    return dict(zip(TOLD, (*ends, message, part), strict=True))


def _rows(schedule: HopTable, first: int, last: int) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of some hops, as they stand in a Parquet file."""
    slot, link, packet = (getattr(schedule, name)[first:last] for name in HOPS)
    told = hop_columns(schedule.network, schedule.packets, link, packet)
    return {
        "slot": slot, "source": told["source"], "target": told["target"], "link": link, "packet": packet,
        "message": told["message"], "part": told["part"],
    }  # fmt: skip


def _header(schedule: HopTable, *, text: bool = False) -> dict[str, Any]:
    symmetry = schedule.symmetry
    network = network_to_dict(schedule.network, text=text)
    model = rules_to_dict(schedule.rules, schedule.cost, schedule.network)
    clock = {"clock": schedule.cost.to_dict()} if isinstance(schedule.cost, Clock) else {}
    newer = clock or any(name in network for name in ("times", "speeds", "shared_ports")) or "reduction" in model
    newer = newer or (symmetry is not None and not symmetry.by_generator)
    return {
        "version": FORMAT_VERSION if newer else 1,
        "network": network,
        "task": schedule.task.to_dict(),
        "model": model,
        **clock,
        "parts": schedule.parts,
        "phases": [[p.name, p.slots, str(p.slot_length)] for p in schedule.phases],
        "symmetry": None if symmetry is None else symmetry.to_dict(),
        "algorithm": schedule.algorithm,
        "packets": schedule.packets.count,
        **control_phases(schedule.phases),
    }
