"""Wormhole schedules in files: one Parquet file, readable by any tool that reads Parquet.

A row is a message: ``step, source, displacement_0, displacement_1, ..., payload, control_bytes``, sorted by step. The
file's key-value metadata holds, under ``gossamer``, a JSON object with the format version, ``"switching": "wormhole"``,
network, task, cost, phases, algorithm, the number of sets, the pieces (``origin, message, piece, size``) and the set
entries (``set, packet``: piece `packet` is in set `set`). In version 1 these are rows before the messages.
"""

from __future__ import annotations

import os

import numpy as np

from gossamer.errors import FileFormatError
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import task_from_dict
from gossamer.schedules.columns import column, whole
from gossamer.schedules.files import open_stored
from gossamer.schedules.serialization import complete, network_from_dict, with_control
from gossamer.schedules.stored import Rows, Stored, whole_schedule
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.message_table import Phase
from gossamer.schedules.wormhole.payloads import Payloads, Pieces
from gossamer.schedules.wormhole.schedule import WormholeSchedule
from gossamer.schedules.wormhole.storing import FORMAT_VERSION, LOWEST, PIECES, SETS, message_columns, save, sections

__all__ = ["FORMAT_VERSION", "load", "save"]

_PER_SET, _PER_STEP = 24, 120
"""Bytes that a set and a step take, the latter with its exact cost, when the schedule is looked at."""


def load(path: str | os.PathLike[str]) -> WormholeSchedule:
    """Read a wormhole schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a wormhole schedule, or of a newer format version.
    """
    with open_stored(path, FORMAT_VERSION, ("wormhole", "pieces")) as file:
        if file.header.get("switching") != "wormhole":
            raise FileFormatError(f"{file.name!r} does not hold a wormhole schedule")
        with whole_schedule(file.name):
            return _schedule(file)


def _schedule(file: Stored) -> WormholeSchedule:
    header, room = file.header, file.room
    network = network_from_dict(header["network"], room)
    channels = Channels(network)
    if not channels.on_grid and header.get("ways") != LOWEST:
        raise ValueError(f"network {network.spec} is not an array or torus, and the ways of messages are not told")
    dimensions = channels.dimensions
    model = complete(header["model"], LinearCost().to_dict())
    sets = whole(header["sets"], "the number of sets")
    room.take(_PER_SET * sets, f"{sets:,} sets")
    phases = [
        Phase(name, whole(steps, f"the number of steps of phase {name!r}"), length, control)
        for (name, steps, length), control in with_control(header, header["phases"])
    ]
    steps = sum(phase.steps for phase in phases)
    room.take(_PER_STEP * steps, f"{steps:,} steps")
    names = message_columns(dimensions)
    forms = sections(dimensions)
    keys = ("pieces", "set_entries")
    rows = not file.text and not isinstance(header["pieces"], dict)  # tables one after the other
    counts = [whole(header[key], key) if rows else None for key in keys]
    columns = file.read([
        Rows(PIECES, counts[0], "piece", forms[0]),
        Rows(SETS, counts[1], "set", forms[1]),
        Rows(names, None, "message", forms[2]),
    ])  # fmt: skip
    owner = column(columns["set"], "set")
    if owner.size and (bool((owner[1:] < owner[:-1]).any()) or owner[0] < 0 or owner[-1] >= sets):
        raise ValueError(f"column 'set' must ascend within 0..{sets - 1}")
    return WormholeSchedule(
        network,
        task_from_dict(header["task"]),
        LinearCost.from_dict({**model, "ports": "all"}),
        columns["step"],
        columns["source"],
        np.stack([columns[name] for name in names[2:-2]], axis=1),
        columns["payload"],
        payloads=Payloads(np.searchsorted(owner, np.arange(sets + 1)).astype(np.int64), columns["packet"]),
        packets=Pieces(*(columns[name] for name in PIECES)),
        phases=phases,
        control_bytes=columns["control_bytes"],
        algorithm=header["algorithm"],
        ports=model["ports"],
    )
