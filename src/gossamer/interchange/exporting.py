"""Write a schedule in another tool's format."""

from __future__ import annotations

import os
from itertools import islice

from gossamer.errors import NotApplicableError, ScheduleError, nearest, shown
from gossamer.interchange.format import Plan
from gossamer.interchange.table import FORMATS
from gossamer.reading import whole
from gossamer.schedules import Schedule
from gossamer.writing import check_writable, whole_file, whole_folder

__all__ = ["MESSAGE_BYTES", "export"]

MESSAGE_BYTES = 1 << 20
"""Bytes of a message unless somebody says otherwise: 1 MiB."""


def export(
    schedule: Schedule,
    path: str | os.PathLike[str],
    to: str,
    *,
    message_bytes: int = MESSAGE_BYTES,
    limits: bool = True,
) -> None:
    """Write a schedule to a file or a new folder, whole or not at all, in the format `to`.

    Parameters
    ----------
    schedule : Schedule
        What is handed on. It is verified.
    path : path
        The file, replaced if it exists; for formats that are folders, a folder that is new or empty.
    to : str
        A key of ``FORMATS``.
    message_bytes : int
        Bytes of a message, 1 or more, for formats in which they stand.
    limits : bool
        Whether to refuse what the program that reads the format is known not to take.

    Raises
    ------
    NotApplicableError
        If the schedule is beyond a limit of what reads the format; it is named.
    ScheduleError, VerificationError, FileFormatError
        If there is no such format, the schedule is not valid, or the file cannot be written.

    Notes
    -----
    Rank by rank: the memory of the program and of one rank's text.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.goal"
    >>> export(gossamer.plan("ring:4", "allgather").schedule, path, "goal", message_bytes=8)
    >>> path.read_text().splitlines()[:4]
    ['num_ranks 4', '', 'rank 0 {', 'l0: send 8b to 1 tag 0 cpu 0 nic 0']
    """
    format = FORMATS.get(str(to).lower())
    if format is None:
        hint = nearest(str(to), FORMATS) or f"; there are: {', '.join(FORMATS)}"
        raise ScheduleError(f"unknown format {shown(to)}{hint}")
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"a store-and-forward schedule is exported, got {shown(schedule)}")
    most = 2**62
    size = whole(message_bytes, "the bytes of a message", 1, most, allowed="1 or more", error=ScheduleError)
    plan = Plan(schedule, size)
    if not format.folder:
        check_writable(path)  # refuse before the work
    plan.program  # noqa: B018 - verified here
    found = list(islice(format.limits(plan), 1)) if limits else []
    if found:
        raise NotApplicableError(found[0])
    with (whole_folder if format.folder else whole_file)(path) as part:
        format.write(plan, part)
