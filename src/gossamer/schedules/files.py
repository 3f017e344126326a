"""Schedules in files: Parquet, readable by any tool that reads it, or text, readable by people.

In Parquet a row is a hop: ``slot, source, target, link, packet, message, part``, sorted by slot. The file's key-value
metadata holds, under ``gossamer``, a JSON object with the format version, network, task, model, parts, phases,
symmetry, and the packets. Text has the same, a line each. In Parquet of version 1 the packets are rows before the hops.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError
from gossamer.networks.network import Network
from gossamer.questions.costs import Clock, StepCost
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import task_from_dict
from gossamer.schedules.columns import whole
from gossamer.schedules.packets import Packets, Phase
from gossamer.schedules.parquet import open_tables
from gossamer.schedules.schedule import Schedule
from gossamer.schedules.serialization import complete, network_from_dict, with_control
from gossamer.schedules.spans import link_ways
from gossamer.schedules.stored import Columns, Rows, Stored, is_text, whole_schedule
from gossamer.schedules.storing import (
    FORMAT_VERSION,
    HOP_ROWS,
    HOPS,
    PACKET_ROWS,
    PACKETS,
    PARALLEL_HOP_ROWS,
    TOLD,
    hop_columns,
    rules_of_switches,
    rules_to_dict,
    save,
)
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.text import open_text

__all__ = ["FORMAT_VERSION", "load", "open_stored", "save"]

_Column = npt.NDArray[np.int64]

_PER_MESSAGE = 32
"""Bytes that a message of the task takes when the schedule is verified."""


def load(path: str | os.PathLike[str]) -> Schedule:
    """Read a schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule, or of a newer format version, or asks for much
        more memory than its size warrants: over 400 MB and 20 times its size, 200 times for the hops.
    """
    with open_stored(path, FORMAT_VERSION, ("store-and-forward", PACKET_ROWS.name)) as file:
        switching = file.header.get("switching", "store-and-forward")
        if switching != "store-and-forward":
            raise FileFormatError(
                f"{file.name!r} holds a schedule for {switching} switching, not for store and forward"
            )
        with whole_schedule(file.name):
            return _schedule(file)


def open_stored(
    path: str | os.PathLike[str], newest: int, first: tuple[str, str] = ("", "")
) -> AbstractContextManager[Stored]:
    """Open a file that holds a schedule, as text where the suffix is ``.txt``; see `open_text` and `open_tables`."""
    return open_text(path, newest, first) if is_text(path) else open_tables(path, newest)


def _schedule(file: Stored) -> Schedule:
    header = file.header
    network = network_from_dict(header["network"], file.room)
    task = task_from_dict(header["task"])
    task.check(network)
    rules = complete(header["model"], rules_to_dict(Rules(), StepCost()))
    rules |= rules_of_switches(rules, network)
    control_time = rules.pop("control_time")
    symmetry = header["symmetry"]
    symmetry = None if symmetry is None else _symmetry(network, symmetry, file)
    messages = task.most_messages(network) // (1 if symmetry is None else symmetry.order)
    file.room.take(_PER_MESSAGE * messages, f"{messages:,} messages of {task.name}")
    columns = _columns(file, network)
    if file.text:
        columns["link"] = _links(network, columns["source"], columns["target"], columns.get("way"))
    return Schedule(
        network,
        task,
        Rules.from_dict(rules),
        *(columns[n] for n in HOPS),
        cost=_cost(header, control_time),
        parts=header["parts"],
        packets=Packets(*(columns[n] for n in PACKETS)),
        phases=[
            Phase(name, slots, length, control)
            for (name, slots, length), control in with_control(header, header["phases"])
        ],
        symmetry=symmetry,
        algorithm=header["algorithm"],
    )


def _symmetry(network: Network, told: Mapping[str, Any], file: Stored) -> Symmetry:
    """Return the symmetry that a file tells: elements of the network's group, or permutations of its nodes."""
    if "permutations" not in told:
        return Symmetry(network, told["generated_by"])
    found = Symmetry(network, permutations=told["permutations"])
    file.room.take(4 * found.order * network.node_count, f"{found.order:,} symmetries of {network.spec}")
    return found


def _cost(header: Mapping[str, Any], control_time: Any) -> StepCost:
    """Return the cost of a schedule: a clock, where the file tells how long a slot lasts and what packets hold."""
    if "clock" not in header:
        return StepCost(control_time)
    return Clock(**complete(header["clock"], Clock().to_dict()))


def _columns(file: Stored, network: Network) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of packets and hops; ValueError if what a file tells of hops twice differs."""
    form = PARALLEL_HOP_ROWS if network.parallel else HOP_ROWS
    given = file.header.get("packets")
    if file.text or not isinstance(given, dict):  # tables one after the other
        count = None if file.text else whole(file.header["packets"], "the number of packets")
        return file.read([Rows(PACKETS, count, "packet", PACKET_ROWS), Rows(HOPS, None, "hop", form)])
    columns = file.read([Rows(PACKETS, None, "packet", PACKET_ROWS)])
    packets = Packets(*(columns[n] for n in PACKETS))

    def compare(first: int, rows: Columns) -> None:
        link, packet = rows["link"], rows["packet"]
        if not link.size or link.min() < 0 or link.max() >= network.link_count or packet.max() >= packets.count:
            return  # the schedule refuses these
        for name, follows in hop_columns(network, packets, link, packet).items():
            other = np.flatnonzero(follows != rows[name])
            if other.size:
                i = int(other[0])
                told = f"link {link[i]} and packet {packet[i]} have {follows[i]}"
                raise ValueError(f"column {name!r} has {rows[name][i]} in row {first + i}, where {told}")

    return columns | file.read([Rows(HOPS, None, "hop", form, TOLD, compare)])


def _links(network: Network, source: _Column, target: _Column, way: _Column | None = None) -> _Column:
    """Return the links between nodes, of parallel ones those of the given places; ValueError if there is none such."""
    n = network.node_count
    key = network.link_source * np.int64(n) + network.link_target
    wanted = np.where((target >= 0) & (target < n), source * n + target, -1)
    if way is not None:
        ways = link_ways(network)
        most = int(ways.max(initial=0)) + 1
        key = key * most + ways
        wanted = np.where((wanted >= 0) & (way >= 0) & (way < most), wanted * most + way, -1)
    order = np.argsort(key, kind="stable")
    place = np.searchsorted(key, wanted, sorter=order)
    link = np.append(order, 0)[place]
    missing = np.flatnonzero(np.append(key, -1)[np.where(place < key.size, link, key.size)] != wanted)
    missing = missing if missing.size else np.flatnonzero(wanted < 0)
    if missing.size:
        u, v = source[missing[0]], target[missing[0]]
        by = "" if way is None else f" by {way[missing[0]]}"
        raise ValueError(f"hop {missing[0]} is over a link {u} -> {v}{by}, which {network.spec} does not have")
    return np.asarray(link, np.int64)
