"""Schedules as tables of other libraries: Arrow, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import NotApplicableError
from gossamer.schedules.hop_table import HopTable
from gossamer.schedules.spans import hop_ends
from gossamer.schedules.storing import hop_columns
from gossamer.schedules.transform import expand

__all__ = ["frame", "table", "to_arrow", "to_frame"]


def table(columns: Mapping[str, Any], phase: npt.NDArray[np.int32], names: Iterable[str]) -> Any:
    """Return columns, and the names of the phases to which rows belong, as an Arrow table.

    >>> table({"slot": [0, 1]}, np.array([0, 1], np.int32), ["up", "down"]).to_pylist()
    [{'slot': 0, 'phase': 'up'}, {'slot': 1, 'phase': 'down'}]
    """
    import pyarrow as pa

    phases = pa.DictionaryArray.from_arrays(phase, pa.array(names, pa.string()))
    return pa.table({**columns, "phase": phases})


def frame(arrow: Callable[[], Any]) -> Any:
    """Return the Arrow table that `arrow` makes as a data frame of pandas; NotApplicableError if there is no pandas."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        raise NotApplicableError("to_frame needs pandas: pip install pandas; to_arrow does without") from None
    return arrow().to_pandas()


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
    schedule = expand(schedule)
    network, slot, link = schedule.network, schedule.slot, schedule.link
    told = hop_columns(network, schedule.packets, link, schedule.packet)
    usable = slot + np.int32(1) if network.plain else hop_ends(network, schedule.parts, slot, link).astype(np.int32)
    origin = np.append(schedule.packets.origin, np.int32(-1))[schedule.packet]
    first = np.array([p.first_slot for p in schedule.phases[1:]], np.int64)
    phase = np.searchsorted(first, slot, side="right").astype(np.int32)
    columns = {
        "slot": slot, "usable": usable, "source": told["source"], "target": told["target"], "link": link,
        "packet": schedule.packet, "message": told["message"], "part": told["part"], "origin": origin,
    }  # fmt: skip
    return table(columns, phase, [p.name for p in schedule.phases])


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
    return frame(lambda: to_arrow(schedule))
