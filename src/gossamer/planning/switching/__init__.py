"""The table of switchings, and what does not depend on them: verify, save and load a schedule of any.

A further switching is one more entry of `SWITCHINGS`, an object that fulfills
`gossamer.planning.switching.protocol.Switching`.
"""

from __future__ import annotations

import os
from typing import Any

from gossamer.errors import FileFormatError, ScheduleError, shown
from gossamer.planning.switching.protocol import SHORT, AnySchedule, Facts, Streamed, Switching
from gossamer.planning.switching.store_and_forward import StoreAndForward
from gossamer.planning.switching.wormhole import Wormhole
from gossamer.reading import choice
from gossamer.schedules import files
from gossamer.schedules.table_files import open_tables
from gossamer.verification import Verification

__all__ = [
    "SHORT",
    "SWITCHINGS",
    "AnySchedule",
    "Facts",
    "Streamed",
    "Switching",
    "load",
    "named",
    "of",
    "save",
    "schedule_of",
    "verify",
]

SWITCHINGS: dict[str, Switching[Any, Any]] = {s.name: s for s in (StoreAndForward(), Wormhole())}
"""Kinds of switching, by name."""


def named(name: str) -> Switching[Any, Any]:
    """Return the switching of a name; ModelError if there is none.

    >>> named("wormhole").words
    ('step', 'channel', 'pieces')
    """
    return SWITCHINGS[choice(name, "switching", SWITCHINGS)]


def schedule_of(given: Any) -> Any:
    """Return the schedule of what planning returned, or the schedule itself.

    Raises
    ------
    ScheduleError
        If the schedule was checked as it was made and not kept.
    """
    if hasattr(given, "verification") and hasattr(given, "schedule"):
        if given.schedule is None:
            raise ScheduleError("the schedule was checked as it was made and not kept; see `verification`")
        return given.schedule
    return given


def of(schedule: AnySchedule) -> Switching[Any, Any]:
    """Return the switching of a schedule; ScheduleError if it is none."""
    name = getattr(schedule, "switching", None)
    if not isinstance(name, str) or name not in SWITCHINGS:
        raise ScheduleError(f"a schedule is needed, got {type(schedule).__name__}")
    return SWITCHINGS[name]


def verify(schedule: Any, limit: int = 20) -> Verification:
    """Check every rule and goal of a schedule and list what is broken.

    See `gossamer.verification.verify` for store-and-forward schedules, `gossamer.wormhole.verify` for wormhole ones.

    Parameters
    ----------
    schedule : Schedule, WormholeSchedule or Outcome
        The schedule, or what `gossamer.plan` returned.
    limit : int
        Violations to name, 0 or more; the rest are counted.

    Raises
    ------
    ScheduleError
        If `limit` is negative, or the first argument is no schedule.

    Examples
    --------
    >>> import gossamer
    >>> print(verify(gossamer.plan("ring:5", "allgather")))
    valid: 20 transfers (4 checked, the rest by symmetry), no violation
    """
    found = schedule_of(schedule)
    return of(found).verify(found, limit)


def save(schedule: Any, path: str | os.PathLike[str]) -> None:
    """Write a schedule, or that of an outcome, to a file: ``.parquet``, or as text ``.txt``.

    The file appears whole or not at all.

    Raises
    ------
    ScheduleError
        If the first argument is no schedule.
    FileFormatError
        If the suffix is another one, the file cannot be written, or the network of an invariant schedule cannot be
        named in a file.
    """
    found = schedule_of(schedule)
    of(found)
    found.save(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Returns
    -------
    Schedule or WormholeSchedule
        Whichever the file holds.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule, or of a newer format version.
    """
    with open_tables(path, files.FORM.version) as file:
        name = file.header.get("switching", "store-and-forward")
    if not isinstance(name, str) or name not in SWITCHINGS:
        raise FileFormatError(f"{str(path)!r} holds a schedule for {shown(name)} switching, which is unknown here")
    return SWITCHINGS[name].load(path)
