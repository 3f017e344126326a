"""Schedules in files: one Parquet file, readable by any tool that reads Parquet.

Rows are of two kinds. Packet rows come first and fill the columns ``origin, message, part``; their order is the packet
number. Hop rows fill ``slot, link, packet``, sorted by slot. The columns of the other kind are null. The file's
key-value metadata holds, under ``gossamer``, a JSON object with the format version, network, task, model, parts,
phases, symmetry, and the number of packets.
"""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

from gossamer.errors import FileFormatError
from gossamer.model import Model
from gossamer.schedules.schedule import Packets, Phase, Schedule
from gossamer.schedules.symmetry import Symmetry
from gossamer.schedules.tables import (
    control_phases,
    network_from_dict,
    network_to_dict,
    open_tables,
    read_columns,
    whole_schedule,
    with_control,
    write_tables,
)
from gossamer.tasks import task_from_dict

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

_HOPS = ("slot", "link", "packet")
_PACKETS = ("origin", "message", "part")


def save(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a Parquet file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written, or the schedule is invariant and its network cannot be named in a file.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "plan.parquet"
    >>> s = gossamer.plan("ring:5", "allgather").schedule
    >>> save(s, path)
    >>> load(path) == s
    True
    """
    if schedule.symmetry is not None and schedule.network.links_only:
        raise FileFormatError(
            f"an invariant schedule on {schedule.network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    packets = {name: getattr(schedule.packets, name) for name in _PACKETS}
    hops = {name: getattr(schedule, name) for name in _HOPS}
    write_tables(path, _header(schedule), [packets, hops])


def _header(schedule: Schedule) -> dict[str, Any]:
    symmetry = schedule.symmetry
    return {
        "version": FORMAT_VERSION,
        "network": network_to_dict(schedule.network),
        "task": schedule.task.to_dict(),
        "model": schedule.model.to_dict(),
        "parts": schedule.parts,
        "phases": [[p.name, p.slots, str(p.slot_length)] for p in schedule.phases],
        "symmetry": None if symmetry is None else {"generated_by": symmetry.generated_by},
        "algorithm": schedule.algorithm,
        "packets": schedule.packets.count,
        **control_phases(schedule.phases),
    }


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
            tables = [(_PACKETS, int(file.header["packets"]), "packet"), (_HOPS, None, "hop")]
            return _from_header(file.header, read_columns(file.parquet, tables))


def _from_header(header: dict[str, Any], columns: dict[str, Any]) -> Schedule:
    network = network_from_dict(header["network"])
    symmetry = header["symmetry"]
    return Schedule(
        network,
        task_from_dict(header["task"]),
        Model.from_dict(header["model"]),
        *(columns[n] for n in _HOPS),
        parts=header["parts"],
        packets=Packets(*(columns[n] for n in _PACKETS)),
        phases=[
            Phase(name, slots, Fraction(length), control)
            for (name, slots, length), control in with_control(header, header["phases"])
        ],
        symmetry=None if symmetry is None else Symmetry(network, symmetry["generated_by"]),
        algorithm=header["algorithm"],
    )
