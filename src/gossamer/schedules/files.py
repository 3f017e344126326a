"""Schedules in files: one Parquet file, readable by any tool that reads Parquet.

Rows are of two kinds. Packet rows come first and fill the columns ``origin, message, part``; their order is the packet
number. Hop rows fill ``slot, link, packet``, sorted by slot. The columns of the other kind are null. The file's
key-value metadata holds, under ``gossamer``, a JSON object with the format version, network, task, model, parts,
phases, symmetry, and the number of packets.
"""

from __future__ import annotations

import os
from typing import Any

from gossamer.errors import FileFormatError, ScheduleError
from gossamer.model import Model
from gossamer.reading import fraction
from gossamer.schedules.packets import Packets, Phase
from gossamer.schedules.schedule import Schedule
from gossamer.schedules.storing import FORMAT_VERSION, HOPS, PACKETS, save
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.tables import network_from_dict, open_tables, read_columns, whole_schedule, with_control
from gossamer.tasks import task_from_dict

__all__ = ["FORMAT_VERSION", "load", "save"]


def load(path: str | os.PathLike[str]) -> Schedule:
    """Read a schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule, or of a newer format version.
    """
    with open_tables(path, FORMAT_VERSION) as file:
        if file.header.get("switching", "store-and-forward") != "store-and-forward":
            other = file.header["switching"]
            raise FileFormatError(f"{file.name!r} holds a schedule for {other} switching, not for store and forward")
        with whole_schedule(file.name):
            tables = [(PACKETS, int(file.header["packets"]), "packet"), (HOPS, None, "hop")]
            return _from_header(file.header, read_columns(file.parquet, tables))


def _from_header(header: dict[str, Any], columns: dict[str, Any]) -> Schedule:
    network = network_from_dict(header["network"])
    symmetry = header["symmetry"]
    return Schedule(
        network,
        task_from_dict(header["task"]),
        Model.from_dict(header["model"]),
        *(columns[n] for n in HOPS),
        parts=header["parts"],
        packets=Packets(*(columns[n] for n in PACKETS)),
        phases=[
            Phase(name, slots, fraction(length, "a slot length", error=ScheduleError), control)
            for (name, slots, length), control in with_control(header, header["phases"])
        ],
        symmetry=None if symmetry is None else Symmetry(network, symmetry["generated_by"]),
        algorithm=header["algorithm"],
    )
