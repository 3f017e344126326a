"""Which rank runs which node."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np

from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks.network import Network
from gossamer.reading.files import read_text
from gossamer.schedules import Schedule, expand

__all__ = ["numbered_by_ranks", "read_nodes"]


def numbered_by_ranks(schedule: Schedule, nodes: Sequence[int]) -> Schedule:
    """Return a schedule with every node renamed to the rank that runs it.

    Parameters
    ----------
    schedule : Schedule
        On a network in which every node is a terminal.
    nodes : sequence of int
        The node of each rank.

    Raises
    ------
    NetworkError
        If not every node is there once.

    Examples
    --------
    >>> import gossamer
    >>> turned = numbered_by_ranks(gossamer.plan("array:3", "gather").schedule, [2, 0, 1])
    >>> turned.task, bool(gossamer.verify(turned))
    (Gather(root=1), True)
    """
    network = schedule.network
    n = network.node_count
    given = [int(v) for v in nodes]
    if sorted(given) != list(range(n)):
        raise NetworkError(
            f"the nodes of the ranks must be every node of {network.spec} once, 0..{n - 1}; got {shown(given)}"
        )
    rank_of = np.empty(n, np.int64)
    rank_of[given] = np.arange(n)
    source, target = rank_of[network.link_source], rank_of[network.link_target]
    order = np.lexsort((np.arange(source.size), source))
    renamed = Network(
        f"{network.spec} by ranks",
        n,
        source[order],
        target[order],
        network.link_capacity[order],
        link_occupancy=network.link_occupancy[order],
        link_latency=network.link_latency[order],
        links_only=True,
    )
    return expand(schedule).relabel(rank_of.tolist(), renamed)


def read_nodes(path: str | os.PathLike[str], network: Network) -> list[int]:
    """Return the node of each rank from a file with a line for each: the rank, then the node or its coordinates.

    Raises
    ------
    FileFormatError
        If a line is not that, or a rank is missing or there twice.
    NetworkError
        If there is no such node.
    """
    name = str(path)
    lines = read_text(path).splitlines()
    found: dict[int, int] = {}
    for number, line in enumerate(lines, 1):
        words = re.split(r"[\s,;:()]+", line.partition("#")[0].strip(" \t,;:()"))
        if words == [""]:
            continue
        if len(words) < 2 or not all(re.fullmatch("[0-9]{1,9}", w) for w in words):
            raise FileFormatError(
                f"{name!r}, line {number}: want a rank and a node or its coordinates, got {shown(line)}"
            )
        rank, *place = map(int, words)
        if rank in found:
            raise FileFormatError(f"{name!r}, line {number}: rank {rank} is there twice")
        found[rank] = network.node(place[0] if len(place) == 1 else tuple(place))
    missing = [rank for rank in range(len(found)) if rank not in found]
    if missing:
        raise FileFormatError(f"{name!r} has no line for rank {missing[0]}")
    return [found[rank] for rank in range(len(found))]
