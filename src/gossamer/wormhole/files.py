"""Wormhole schedules in files: one Parquet file, readable by any tool that reads Parquet.

Rows are of three kinds, one after the other; the columns of the other kinds are null. Piece rows fill ``origin,
message, piece, size``; their order is the number of the piece. Payload rows fill ``set, packet``: piece `packet` is in
set `set`. Message rows fill ``step, source, displacement_0, displacement_1, ..., payload, control_bytes``, sorted by
step. The file's key-value metadata holds, under ``gossamer``, a JSON object with the format version, ``"switching":
"wormhole"``, network, task, cost, phases, algorithm, and the numbers of pieces, sets and set entries.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from gossamer.costs import LinearCost
from gossamer.errors import FileFormatError
from gossamer.schedules.columns import column
from gossamer.schedules.tables import network_from_dict, open_tables, read_columns, whole_schedule, with_control
from gossamer.tasks import task_from_dict
from gossamer.wormhole.message_table import Phase
from gossamer.wormhole.payloads import Payloads, Pieces
from gossamer.wormhole.schedule import WormholeSchedule
from gossamer.wormhole.storing import FORMAT_VERSION, PIECES, SETS, message_columns, save

__all__ = ["FORMAT_VERSION", "load", "save"]


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
    names = message_columns(network.grid.dimensions)
    tables = (
        (PIECES, int(header["pieces"]), "piece"),
        (SETS, int(header["set_entries"]), "set"),
        (names, None, "message"),
    )
    columns = read_columns(parquet, tables)
    owner, sets = column(columns["set"], "set"), int(header["sets"])
    if owner.size and (bool((owner[1:] < owner[:-1]).any()) or owner[0] < 0 or owner[-1] >= sets):
        raise ValueError(f"column 'set' must ascend within 0..{sets - 1}")
    return WormholeSchedule(
        network,
        task_from_dict(header["task"]),
        LinearCost.from_dict(header["model"]),
        columns["step"],
        columns["source"],
        np.stack([columns[name] for name in names[2:-2]], axis=1),
        columns["payload"],
        payloads=Payloads(np.searchsorted(owner, np.arange(sets + 1)).astype(np.int64), columns["packet"]),
        packets=Pieces(*(columns[name] for name in PIECES)),
        phases=[
            Phase(name, steps, length, control)
            for (name, steps, length), control in with_control(header, header["phases"])
        ],
        control_bytes=columns["control_bytes"],
        algorithm=header["algorithm"],
    )
