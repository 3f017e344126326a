"""Wormhole schedules in files: one Parquet file, readable by any tool that reads Parquet.

Rows are of three kinds, one after the other; the columns of the other kinds are null. Piece rows fill ``origin,
message, piece, size``; their order is the number of the piece. Payload rows fill ``set, packet``: piece `packet` is in
set `set`. Message rows fill ``step, source, displacement_0, displacement_1, ..., payload, control_bytes``, sorted by
step. The file's key-value metadata holds, under ``gossamer``, a JSON object with the format version, ``"switching":
"wormhole"``, network, task, model, phases, algorithm, and the numbers of pieces, sets and set entries.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gossamer.errors import FileFormatError
from gossamer.schedules.columns import column
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
from gossamer.wormhole.model import WormholeModel
from gossamer.wormhole.schedule import Payloads, Phase, Pieces, WormholeSchedule

__all__ = ["FORMAT_VERSION", "load", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

_PIECES = ("origin", "message", "piece", "size")
_SETS = ("set", "packet")


def _columns(dimensions: int) -> list[str]:
    return ["step", "source", *(f"displacement_{i}" for i in range(dimensions)), "payload", "control_bytes"]


def save(schedule: WormholeSchedule, path: str | os.PathLike[str]) -> None:
    """Write a wormhole schedule to a Parquet file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.wormhole import PayloadTable, WormholeModel, WormholeSchedule
    >>> net, table = gossamer.network("torus:3"), PayloadTable()
    >>> sets = [table.row([0])] * 2
    >>> s = WormholeSchedule(net, gossamer.task("broadcast"), WormholeModel(), [0, 0], [0, 0], [[1], [-1]], sets,
    ...                      payloads=table.payloads())
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "broadcast.parquet"
    >>> save(s, path)
    >>> load(path) == s
    True
    """
    sets = schedule.payloads
    moves = schedule.displacement.T
    values = [schedule.step, schedule.source, *moves, schedule.payload, schedule.control_bytes]
    header = {
        "version": FORMAT_VERSION,
        "switching": "wormhole",
        "network": network_to_dict(schedule.network),
        "task": schedule.task.to_dict(),
        "model": schedule.model.to_dict(),
        "phases": [[p.name, p.steps, p.length] for p in schedule.phases],
        "algorithm": schedule.algorithm,
        "pieces": schedule.packets.count,
        "sets": sets.count,
        "set_entries": int(sets.packet.size),
        **control_phases(schedule.phases),
    }
    tables = [
        {name: getattr(schedule.packets, name) for name in _PIECES},
        dict(zip(_SETS, (sets.owner, sets.packet), strict=True)),
        dict(zip(_columns(len(moves)), values, strict=True)),
    ]
    write_tables(path, header, tables)


def load(path: str | os.PathLike[str]) -> WormholeSchedule:
    """Read a wormhole schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a wormhole schedule, or of a newer format version.
    """
    with open_tables(path, FORMAT_VERSION) as file:
        if file.header.get("switching") != "wormhole":
            raise FileFormatError(f"{file.name!r} does not hold a wormhole schedule")
        with whole_schedule(file.name):
            return _from_file(file.parquet, file.header)


def _from_file(parquet: Any, header: dict[str, Any]) -> WormholeSchedule:
    network = network_from_dict(header["network"])
    if network.grid is None:
        raise ValueError(f"network {network.spec} is not an array or torus")
    names = _columns(network.grid.dimensions)
    tables = (
        (_PIECES, int(header["pieces"]), "piece"),
        (_SETS, int(header["set_entries"]), "set"),
        (names, None, "message"),
    )
    columns = read_columns(parquet, tables)
    owner, sets = column(columns["set"], "set"), int(header["sets"])
    if owner.size and (bool((owner[1:] < owner[:-1]).any()) or owner[0] < 0 or owner[-1] >= sets):
        raise ValueError(f"column 'set' must ascend within 0..{sets - 1}")
    return WormholeSchedule(
        network,
        task_from_dict(header["task"]),
        WormholeModel.from_dict(header["model"]),
        columns["step"],
        columns["source"],
        np.stack([columns[name] for name in names[2:-2]], axis=1),
        columns["payload"],
        payloads=Payloads(np.searchsorted(owner, np.arange(sets + 1)).astype(np.int64), columns["packet"]),
        packets=Pieces(*(columns[name] for name in _PIECES)),
        phases=[
            Phase(name, steps, length, control)
            for (name, steps, length), control in with_control(header, header["phases"])
        ],
        control_bytes=columns["control_bytes"],
        algorithm=header["algorithm"],
    )
