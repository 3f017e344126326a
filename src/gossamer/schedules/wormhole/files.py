"""Wormhole schedules in files: how one stands in Parquet or in text; `gossamer.schedules.files` writes and reads it.

In Parquet a row is a message: ``step, source, displacement_0, displacement_1, ..., payload, control_bytes``, sorted by
step. The file's key-value metadata holds, under ``gossamer``, a JSON object with the format version, ``"switching":
"wormhole"``, network, task, cost, phases, algorithm, the number of sets, the pieces (``origin, message, piece, size``)
and the set entries (``set, packet``: piece `packet` is in set `set`). In version 1 these are rows before the messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.networks.network import Network
from gossamer.questions.costs import LinearCost
from gossamer.questions.tasks import Task
from gossamer.schedules.columns import column, whole
from gossamer.schedules.files import FileForm
from gossamer.schedules.serialization import complete, control_phases, network_to_dict, with_control
from gossamer.schedules.table_files import FileTable, OpenFile, TableRows
from gossamer.schedules.wormhole.channels import Channels
from gossamer.schedules.wormhole.payloads import Payloads, Pieces, StepPhase

_PER_SET, _PER_STEP = 24, 120
"""Bytes that a set and a step take, the latter with its exact cost, when the schedule is looked at."""

_LOWEST = "the lowest-numbered link that brings a message nearer"
"""How a file of a network that is no array or torus tells the ways of messages."""

_PIECES = FileTable(
    "pieces",
    "piece",
    ("origin", "message", "piece", "size"),
    "piece {number}: piece {piece} of message {message}, {size} bytes from {origin}",
)
_SETS = FileTable("set_entries", "set", ("set", "packet"), "set {set}: piece {packet}")


def _message_table(dimensions: int) -> FileTable:
    """Return the table of messages on a network of some dimensions."""
    moves = [f"displacement_{i}" for i in range(dimensions)]
    way = ",".join(f"{{{name}}}" for name in moves)
    line = f"step {{step}}: from {{source}} by {way} set {{payload:control}} control bytes {{control_bytes}}"
    return FileTable("messages", "message", ["step", "source", *moves, "payload", "control_bytes"], line)


def _describe(schedule: Any, text: bool) -> tuple[dict[str, Any], list[TableRows]]:
    """Return the description and the tables of a wormhole schedule."""
    sets, pieces = schedule.payloads, {name: getattr(schedule.packets, name) for name in _PIECES.columns}
    table = _message_table(schedule.channels.dimensions)
    values = [schedule.step, schedule.source, *schedule.displacement.T, schedule.payload, schedule.control_bytes]
    newer = not text or schedule.ports != "all" or not schedule.channels.on_grid
    header = {
        "version": 2 if newer else 1,
        "switching": "wormhole",
        "network": network_to_dict(schedule.network, text=text),
        "task": schedule.task.to_dict(),
        "model": {**schedule.cost.to_dict(), "ports": schedule.ports},
        "phases": [[p.name, p.steps, p.length] for p in schedule.phases],
        "algorithm": schedule.algorithm,
        "pieces": schedule.packets.count,
        "sets": sets.count,
        "set_entries": int(sets.packet.size),
        **control_phases(schedule.phases),
        **({} if schedule.channels.on_grid else {"ways": _LOWEST}),
    }
    return header, [
        TableRows.of(_PIECES, pieces),
        TableRows.of(_SETS, {"set": sets.owner, "packet": sets.packet}),
        TableRows.of(table, dict(zip(table.columns, values, strict=True))),
    ]


def _arguments(file: OpenFile, network: Network, task: Task) -> dict[str, Any]:
    """Return the arguments of a wormhole schedule but network and task."""
    header, room = file.header, file.room
    channels = Channels(network)
    if not channels.on_grid and header.get("ways") != _LOWEST:
        raise ValueError(f"network {network.spec} is not an array or torus, and the ways of messages are not told")
    model = complete(header["model"], LinearCost().to_dict())
    sets = whole(header["sets"], "the number of sets")
    room.take(_PER_SET * sets, f"{sets:,} sets")
    phases = [
        StepPhase(name, whole(steps, f"the number of steps of phase {name!r}"), length, control)
        for (name, steps, length), control in with_control(header, header["phases"])
    ]
    steps = sum(phase.steps for phase in phases)
    room.take(_PER_STEP * steps, f"{steps:,} steps")
    table = _message_table(channels.dimensions)
    columns = file.read([_PIECES, _SETS, table])
    owner = column(columns["set"], "set")
    if owner.size and (bool((owner[1:] < owner[:-1]).any()) or owner[0] < 0 or owner[-1] >= sets):
        raise ValueError(f"column 'set' must ascend within 0..{sets - 1}")
    return {
        "cost": LinearCost.from_dict({**model, "ports": "all"}),
        "displacement": np.stack([columns[name] for name in table.columns[2:-2]], axis=1),
        **{name: columns[name] for name in ("step", "source", "payload", "control_bytes")},
        "payloads": Payloads(np.searchsorted(owner, np.arange(sets + 1)).astype(np.int64), columns["packet"]),
        "packets": Pieces(*(columns[name] for name in _PIECES.columns)),
        "phases": phases,
        "algorithm": header["algorithm"],
        "ports": model["ports"],
    }


FORM = FileForm("wormhole messages", _PIECES.name, _describe, _arguments, 2)
"""How wormhole schedules stand in files."""
