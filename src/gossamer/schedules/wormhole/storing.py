"""Writing wormhole schedules to files; `gossamer.schedules.wormhole.files` reads them."""

from __future__ import annotations

import os

from gossamer.schedules.parquet import write_tables
from gossamer.schedules.serialization import control_phases, network_to_dict
from gossamer.schedules.stored import Section, is_text
from gossamer.schedules.text import write_text
from gossamer.schedules.wormhole.message_table import MessageTable

__all__ = ["FORMAT_VERSION", "LOWEST", "PIECES", "SETS", "message_columns", "save", "sections"]

FORMAT_VERSION = 2
"""The newest version, that of Parquet files; text is of version 1 unless ports are limited or there is no grid."""

LOWEST = "the lowest-numbered link that brings a message nearer"
"""How a file of a network that is no array or torus tells the ways of messages."""
PIECES = ("origin", "message", "piece", "size")
SETS = ("set", "packet")


def message_columns(dimensions: int) -> list[str]:
    """Return the names of the columns of message rows on a network of some dimensions."""
    return ["step", "source", *(f"displacement_{i}" for i in range(dimensions)), "payload", "control_bytes"]


def sections(dimensions: int) -> tuple[Section, Section, Section]:
    """Return how the tables stand in a file in text form."""
    moves = ",".join(f"{{displacement_{i}}}" for i in range(dimensions))
    message = f"step {{step}}: from {{source}} by {moves} set {{payload:control}} control bytes {{control_bytes}}"
    return (
        Section("pieces", "piece {number}: piece {piece} of message {message}, {size} bytes from {origin}"),
        Section("set_entries", "set {set}: piece {packet}"),
        Section("messages", message),
    )


def save(schedule: MessageTable, path: str | os.PathLike[str]) -> None:
    """Write a wormhole schedule to a file, whole or not at all: as text where the suffix is ``.txt``, or as Parquet.

    Raises
    ------
    FileFormatError
        If the file cannot be written.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.questions.costs import LinearCost
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
    sets, pieces = schedule.payloads, {name: getattr(schedule.packets, name) for name in PIECES}
    moves = schedule.displacement.T
    values = [schedule.step, schedule.source, *moves, schedule.payload, schedule.control_bytes]
    entries = dict(zip(SETS, (sets.owner, sets.packet), strict=True))
    tables = [pieces, entries, dict(zip(message_columns(len(moves)), values, strict=True))]
    newer = schedule.ports != "all" or not schedule.channels.on_grid
    header = {
        "version": FORMAT_VERSION if newer or not is_text(path) else 1,
        "switching": "wormhole",
        "network": network_to_dict(schedule.network, text=is_text(path)),
        "task": schedule.task.to_dict(),
        "model": {**schedule.cost.to_dict(), "ports": schedule.ports},
        "phases": [[p.name, p.steps, p.length] for p in schedule.phases],
        "algorithm": schedule.algorithm,
        "pieces": schedule.packets.count,
        "sets": sets.count,
        "set_entries": int(sets.packet.size),
        **control_phases(schedule.phases),
        **({} if schedule.channels.on_grid else {"ways": LOWEST}),
    }
    if is_text(path):
        write_text(path, "wormhole", header, list(zip(sections(len(moves)), tables, strict=True)))
        return
    first, last = ({"pieces": pieces, "set_entries": entries}, tables[2])
    count = int(schedule.step.size)
    write_tables(path, header, first, lambda a, b: {n: v[a:b] for n, v in last.items()}, count)
