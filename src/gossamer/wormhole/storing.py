"""Writing wormhole schedules to files; `gossamer.wormhole.files` reads them."""

from __future__ import annotations

import os

from gossamer.schedules.tables import control_phases, network_to_dict, write_tables
from gossamer.wormhole.message_table import MessageTable

__all__ = ["FORMAT_VERSION", "PIECES", "SETS", "message_columns", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

PIECES = ("origin", "message", "piece", "size")
SETS = ("set", "packet")


def message_columns(dimensions: int) -> list[str]:
    """Return the names of the columns of message rows on a network of some dimensions."""
    return ["step", "source", *(f"displacement_{i}" for i in range(dimensions)), "payload", "control_bytes"]


def save(schedule: MessageTable, path: str | os.PathLike[str]) -> None:
    """Write a wormhole schedule to a Parquet file, whole or not at all.

    Raises
    ------
    FileFormatError
        If the file cannot be written.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.costs import LinearCost
    >>> from gossamer.wormhole import PayloadTable, WormholeSchedule
    >>> net, table = gossamer.network("torus:3"), PayloadTable()
    >>> sets = [table.row([0])] * 2
    >>> s = WormholeSchedule(net, gossamer.task("broadcast"), LinearCost(), [0, 0], [0, 0], [[1], [-1]], sets,
    ...                      payloads=table.payloads())
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "broadcast.parquet"
    >>> save(s, path)
    >>> gossamer.load(path) == s
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
        "model": schedule.cost.to_dict(),
        "phases": [[p.name, p.steps, p.length] for p in schedule.phases],
        "algorithm": schedule.algorithm,
        "pieces": schedule.packets.count,
        "sets": sets.count,
        "set_entries": int(sets.packet.size),
        **control_phases(schedule.phases),
    }
    tables = [
        {name: getattr(schedule.packets, name) for name in PIECES},
        dict(zip(SETS, (sets.owner, sets.packet), strict=True)),
        dict(zip(message_columns(len(moves)), values, strict=True)),
    ]
    write_tables(path, header, tables)
