"""Read a schedule from another tool's format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gossamer.errors import FileFormatError, shown
from gossamer.interchange.goal_reader import read_goal
from gossamer.interchange.msccl_json_reader import read_msccl_json
from gossamer.interchange.msccl_xml_reader import read_msccl_xml
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.schedules import Schedule

__all__ = ["READERS", "import_schedule"]

READERS: dict[str, Callable[[Path, Network, str | None], Schedule]] = {
    ".xml": lambda path, network, task: read_msccl_xml(path, network),
    ".json": lambda path, network, task: read_msccl_json(path, network),
    ".goal": read_goal,
}
"""What reads the files of each suffix."""


def import_schedule(path: str | os.PathLike[str], network: object, task: str | None = None) -> Schedule:
    """Read a schedule that another tool made, for a network whose node r is rank r. It is not verified.

    Parameters
    ----------
    path : path
        MSCCL XML (``.xml``), the JSON of msccl-tools (``.json``) or GOAL (``.goal``).
    network : object
        What `gossamer.network` takes.
    task : str, optional
        The collective that a GOAL file is, which does not say it: ``allgather``, ``alltoall`` and so on. The others say
        it themselves.

    Returns
    -------
    Schedule
        Steps become slots, as early as they can be. `gossamer.verify` judges it, and everything else that takes a
        schedule takes it.

    Raises
    ------
    FileFormatError
        If the file cannot be read, its steps do not fit together or do not do what its collective is, or it sends
        between nodes that are not linked.

    Examples
    --------
    >>> import gossamer, pathlib, tempfile
    >>> from gossamer.interchange import export
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ring.xml"
    >>> export(gossamer.plan("ring:5", "allreduce").schedule, path, "msccl-xml")
    >>> found = import_schedule(path, "ring:5")
    >>> found.completion_time, bool(gossamer.verify(found))
    (Fraction(4, 1), True)
    """
    net = as_network(network)
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        known = ", ".join(READERS)
        raise FileFormatError(f"foreign schedule {shown(str(path), 300)}: the suffix must be one of {known}")
    if task is not None and reader is not read_goal:
        raise FileFormatError(f"{str(path)!r} says itself which collective it is; name a task for .goal only")
    return reader(Path(path), net, task)
