"""Schedules as tables of other libraries: Arrow, and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gossamer.errors import NotApplicableError
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.spans import hop_ends
from gossamer.schedules.storing import hop_columns
from gossamer.schedules.transform import expand

__all__ = ["to_arrow", "to_frame"]


def to_arrow(schedule: HopTable) -> Any:
    """Return the hops of a schedule as an Arrow table.

    Parameters
    ----------
    schedule : Schedule
        An invariant one is expanded.

    Returns
    -------
    pyarrow.Table
        One row a hop, by slot: int32 ``slot`` in which it starts, ``usable`` from which slot on what it brings can move
        on, ``source``, ``target``, ``link``, ``packet``; int64 ``message``; int32 ``part``, ``origin`` of the message,
        for reductions the root; and ``phase``, a name. A control packet has -1 in `packet`, `message`, `part` and
        `origin`. No value is null.

    Notes
    -----
    O(hops) time, 40 bytes a hop.

    Examples
    --------
    >>> import gossamer
    >>> table = to_arrow(gossamer.plan("array:3", "gather").schedule)
    >>> table.select(["slot", "source", "target", "message"]).to_pylist()[-1]
    {'slot': 1, 'source': 1, 'target': 0, 'message': 2}
    """
    import pyarrow as pa

    schedule = expand(schedule)
    network, table, slot, link = schedule.network, schedule.packets, schedule.slot, schedule.link
    told = hop_columns(network, table, link, schedule.packet)
    usable = slot + np.int32(1) if network.plain else hop_ends(network, schedule.parts, slot, link).astype(np.int32)
    origin = np.append(table.origin, np.int32(-1))[schedule.packet]
    first = np.array([p.first_slot for p in schedule.phases[1:]], np.int64)
    phase = np.searchsorted(first, slot, side="right").astype(np.int32)
    names = pa.array([p.name for p in schedule.phases], pa.string())
    columns = {
        "slot": slot, "usable": usable, "source": told["source"], "target": told["target"], "link": link,
        "packet": schedule.packet, "message": told["message"], "part": told["part"], "origin": origin,
    }  # fmt: skip
    arrays = [pa.array(c) for c in columns.values()]
    return pa.Table.from_arrays([*arrays, pa.DictionaryArray.from_arrays(phase, names)], [*columns, "phase"])


def to_frame(schedule: HopTable) -> Any:
    """Return the hops of a schedule as a data frame of pandas, with the columns of `to_arrow`.

    Raises
    ------
    NotApplicableError
        If pandas is not installed.

    Notes
    -----
    Polars and DuckDB take `to_arrow`: ``polars.from_arrow(schedule.to_arrow())``.
    """
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise NotApplicableError("to_frame needs pandas: pip install pandas; to_arrow does without") from None
    return to_arrow(schedule).to_pandas()
