"""What does not depend on the switching: verify, save and load a store-and-forward or a wormhole schedule."""

from __future__ import annotations

import os
from typing import Literal

from gossamer.errors import FileFormatError, ScheduleError
from gossamer.schedules import Schedule, Verification
from gossamer.schedules import files as store_and_forward_files
from gossamer.schedules import verify as verify_store_and_forward
from gossamer.wormhole import WormholeSchedule
from gossamer.wormhole import files as wormhole_files
from gossamer.wormhole import verify as verify_wormhole

__all__ = ["SWITCHINGS", "Switching", "load", "save", "verify"]

Switching = Literal["store-and-forward", "wormhole"]

SWITCHINGS: dict[str, str] = {
    "store-and-forward": "a packet crosses one link in a slot and is kept at each node",
    "wormhole": "a message follows its whole path in one step that costs a start-up and its length",
}
"""Kinds of switching, and what each means."""


def verify(schedule: Schedule | WormholeSchedule, limit: int = 20) -> Verification:
    """Check every rule and goal of a schedule and list what is broken.

    See `gossamer.schedules.verify` for store-and-forward schedules, `gossamer.wormhole.verify` for wormhole ones.

    Parameters
    ----------
    schedule : Schedule or WormholeSchedule
        The schedule.
    limit : int
        Violations to name, 0 or more; the rest are counted.

    Raises
    ------
    ScheduleError
        If `limit` is negative, or the first argument is no schedule.

    Examples
    --------
    >>> import gossamer
    >>> print(verify(gossamer.plan("ring:5", "allgather").schedule))
    valid: 4 hops replayed, no violation
    """
    if isinstance(schedule, WormholeSchedule):
        return verify_wormhole(schedule, limit)
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"only schedules can be verified, got {type(schedule).__name__}")
    return verify_store_and_forward(schedule, limit)


def save(schedule: Schedule | WormholeSchedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule to a file, whole or not at all: as text where the suffix is ``.txt``, otherwise as Parquet.

    Raises
    ------
    ScheduleError
        If the first argument is no schedule.
    FileFormatError
        If the file cannot be written, or the network of an invariant schedule cannot be named in a file.
    """
    if not isinstance(schedule, Schedule | WormholeSchedule):
        raise ScheduleError(f"only schedules can be saved, got {type(schedule).__name__}")
    schedule.save(path)


def load(path: str | os.PathLike[str]) -> Schedule | WormholeSchedule:
    """Read a schedule that `save` wrote. It is not verified; ask `gossamer.verify`.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable, truncated, not a schedule, or of a newer format version.
    """
    newest = max(store_and_forward_files.FORMAT_VERSION, wormhole_files.FORMAT_VERSION)
    with store_and_forward_files.open_stored(path, newest) as file:
        switching = file.header.get("switching", "store-and-forward")
    if switching == "wormhole":
        return wormhole_files.load(path)
    if switching != "store-and-forward":
        raise FileFormatError(f"{str(path)!r} holds a schedule for {switching!r} switching, which is unknown here")
    return store_and_forward_files.load(path)
