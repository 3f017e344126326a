"""What comes out of a design: the network in files, its cables, its schedules."""

from __future__ import annotations

import csv
import json
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.design.designing import Design, Found
from gossamer.design.routes import write_routes
from gossamer.errors import ModelError
from gossamer.networks import Network, write_network
from gossamer.networks.failures import cables
from gossamer.switching import save
from gossamer.writing import whole_folder

__all__ = ["cable_rows", "save_design", "write_found"]


def cable_rows(network: Network, length: npt.NDArray[np.float64] | None = None) -> list[tuple[object, ...]]:
    """Return a row for each cable: node, port, node, port and its length in meters, which is empty if not known.

    Port p of a node is its p-th link. A link without an opposite is a cable from its source to its target.

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> cable_rows(ring(3))
    [(0, 0, 1, 1, ''), (0, 1, 2, 0, ''), (1, 0, 2, 1, '')]
    """
    ends = cables(network)
    port: dict[tuple[int, int], int] = {}
    for link, (u, v) in enumerate(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)):
        port.setdefault((u, v), link - int(network.first_link[u]))
    rows: list[tuple[object, ...]] = []
    for i, (u, v) in enumerate(ends.tolist()):
        meters = "" if length is None else round(float(length[i]), 3)
        rows.append((u, port.get((u, v), ""), v, port.get((v, u), ""), meters))
    return rows


def write_found(found: Found, folder: Path) -> list[str]:
    """Write a network that was found to a folder; return the names of the files.

    ``network.txt`` has its spec, ``network.graphml`` and ``network.edges`` its links, ``cables.csv`` its cables,
    ``places.csv`` where its nodes stand if they have places, ``routes.parquet`` its routes up to 1,024 nodes, free of
    deadlock (`gossamer.design.routes.routing_table`), and ``TASK.parquet`` the schedule of each task.
    """
    (folder / "network.txt").write_text(found.candidate.spec + "\n", encoding="utf-8")
    for suffix in ("graphml", "edges"):
        write_network(found.network, folder / f"network.{suffix}")
    length = None if found.cabling is None else found.cabling.length
    with (folder / "cables.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("node", "port", "other_node", "other_port", "meters"))
        writer.writerows(cable_rows(found.network, length))
    if found.cabling is not None:
        np.savetxt(folder / "places.csv", found.cabling.at, fmt="%.3f", delimiter=",")
    with suppress(ModelError):  # the network is too large, or its routes need more virtual channels than there are
        write_routes(found.network, folder / "routes.parquet")
    for each in found.tasks:
        if each.outcome is not None and each.outcome.schedule is not None:
            save(each.outcome.schedule, folder / f"{each.task}.parquet")
    return sorted(path.name for path in folder.iterdir())


def save_design(design: Design, folder: str | os.PathLike[str]) -> list[str]:
    """Write the best network of a design and the table to a new folder, which appears whole or not at all.

    Raises
    ------
    FileFormatError
        If the folder exists and is not empty, or cannot be made.
    """
    with whole_folder(folder) as part:
        write_found(design.best, part)
        (part / "designs.json").write_text(json.dumps(design.to_dicts(), indent=1) + "\n", encoding="utf-8")
        return sorted(path.name for path in part.iterdir())
