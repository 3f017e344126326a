"""GOAL, the group operation assembly language: text for LogGP simulators and the packet-level ones after them.

An operation waits for what it needs and for the operation before it on its link. A network interface belongs to both
ends of a message, so a link has the number ``out_port * D + in_port`` at both, with D the largest degree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan, earlier_on_link
from gossamer.interchange.rows import RowText
from gossamer.networks.network import Network
from gossamer.programs import SEND, Operations

__all__ = ["GOAL", "interfaces"]

_OPERATIONS = RowText(
    "l{0}: send {1}b to {2} tag {3} cpu 0 nic {4}\n",
    "l{0}: recv {1}b from {2} tag {3} cpu 0 nic {4}\n",
)
_WAITS = RowText("l{0} requires l{1}\n")
_MOST = 256
"""Network interfaces and processors have numbers of 8 bits."""


def interfaces(network: Network) -> npt.NDArray[np.int64]:
    """Return the network interface of every link, int64[L]: no two links at a node have the same.

    >>> import gossamer
    >>> interfaces(gossamer.network("ring:4")).tolist()
    [0, 2, 0, 2, 1, 3, 1, 3]
    """
    order = np.argsort(network.link_target, kind="stable")
    first = np.cumsum(network.in_degree) - network.in_degree
    in_port = np.empty(network.link_count, np.int64)
    in_port[order] = np.arange(network.link_count) - first[network.link_target[order]]
    out_port = np.arange(network.link_count) - network.first_link[network.link_source]
    return out_port * _degree(network) + in_port


def _degree(network: Network) -> int:
    return max(network.degree, int(network.in_degree.max()), 1)


def _limits(plan: Plan) -> Iterator[str]:
    network = plan.schedule.network
    if _degree(network) ** 2 > _MOST:
        yield (
            f"a GOAL file numbers network interfaces 0..{_MOST - 1}, enough for a degree of 16; {network.spec} has "
            f"degree {_degree(network)}"
        )


def _write(plan: Plan, path: Path) -> None:
    network, nics = plan.schedule.network, interfaces(plan.schedule.network)
    n = network.node_count
    key = network.link_source * np.int64(n) + network.link_target
    order = np.argsort(key, kind="stable")
    with path.open("wb") as file:
        file.write(f"num_ranks {n}\n".encode())
        for mine in plan.program:
            file.write(f"\nrank {mine.rank} {{\n".encode())
            ends = mine.rank * np.int64(n) + mine.peer, mine.peer * np.int64(n) + mine.rank
            link = order[np.searchsorted(key, np.where(mine.kind == SEND, *ends), sorter=order)]
            for text in _rank(mine, nics[link], plan.part_bytes):
                file.write(text)
            file.write(b"}\n")


def _rank(mine: Operations, nic: npt.NDArray[np.int64], part_bytes: int) -> Iterator[bytes]:
    label = np.arange(mine.count)
    yield from _OPERATIONS.rows(mine.kind != SEND, [label, part_bytes, mine.peer, mine.slot, nic])
    earlier = earlier_on_link(mine)
    for needed in (mine.after, np.where(earlier == mine.after, -1, earlier)):
        waits = np.flatnonzero(needed >= 0)
        yield from _WAITS.rows(0, [waits, needed[waits]])


GOAL = Format("goal", "GOAL text for LogGP and packet-level simulators", _write, _limits, sized=True)
