"""Read a schedule from another tool's format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gossamer.errors import FileFormatError, shown
from gossamer.interchange.msccl_json_reader import read_msccl_json
from gossamer.interchange.msccl_xml_reader import read_msccl_xml
from gossamer.networks import as_network
from gossamer.networks.network import Network
from gossamer.schedules import Schedule

__all__ = ["READERS", "import_schedule"]

READERS: dict[str, Callable[[Path, Network], Schedule]] = {".xml": read_msccl_xml, ".json": read_msccl_json}
"""What reads the files of each suffix."""


def import_schedule(path: str | os.PathLike[str], network: object) -> Schedule:
    """Read a schedule that another tool made, for a network whose node r is rank r. It is not verified.

    Parameters
    ----------
    path : path
        MSCCL XML (``.xml``) or the JSON of msccl-tools (``.json``).
    network : object
        What `gossamer.network` takes.

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
    return reader(Path(path), net)
