"""Writing schedules to files; `gossamer.schedules.files` reads them."""

from __future__ import annotations

import os
from typing import Any

from gossamer.errors import FileFormatError
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.tables import control_phases, network_to_dict, write_tables

__all__ = ["FORMAT_VERSION", "HOPS", "PACKETS", "save"]

FORMAT_VERSION = 1
"""Version that `save` writes; `load` reads this one and every older one."""

HOPS = ("slot", "link", "packet")
PACKETS = ("origin", "message", "part")


def save(schedule: HopTable, path: str | os.PathLike[str]) -> None:
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
    >>> gossamer.load(path) == s
    True
    """
    if schedule.symmetry is not None and schedule.network.links_only:
        raise FileFormatError(
            f"an invariant schedule on {schedule.network.spec!r} cannot be saved, because a file holds only the links "
            "of such a network and not its group; save its expand() instead"
        )
    packets = {name: getattr(schedule.packets, name) for name in PACKETS}
    hops = {name: getattr(schedule, name) for name in HOPS}
    write_tables(path, _header(schedule), [packets, hops])


def _header(schedule: HopTable) -> dict[str, Any]:
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
