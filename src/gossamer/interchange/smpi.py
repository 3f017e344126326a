"""Time-independent traces for SimGrid's SMPI, with a platform and the hosts: what ``smpirun -replay`` takes.

A slot is a number of receives and sends and a wait for all of them. ``trace.txt`` lists the files of the ranks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.interchange.format import Format, Plan, RowText
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.programs import SEND, Operations

# Platforms for SimGrid: a network with a bandwidth and a latency for every link.

BANDWIDTH, LATENCY = 125e6, 1e-6
"""Bytes a second and seconds of links of which nothing is known."""

_HEAD = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""


def platform_kind(network: Network) -> str:
    """Return how routes are found: ``torus`` for SimGrid's own torus, else ``Floyd`` by shortest paths.

    Tori and hypercubes are SimGrid's own clusters, on which MPI's algorithms get the dimension-ordered routes that
    such machines have. On other networks shortest paths may concentrate, so compare only schedules there.

    >>> import gossamer
    >>> platform_kind(gossamer.network("torus:4x4")), platform_kind(gossamer.network("star:4"))
    ('torus', 'Floyd')
    """
    grid = network.grid
    closed = grid is not None and all(w or s == 2 for w, s in zip(grid.wraps, grid.sides, strict=True))
    return "torus" if closed and network.plain else "Floyd"


def link_speeds(
    network: Network, bandwidth: npt.ArrayLike | None = None, latency: npt.ArrayLike | None = None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return bytes a second and seconds of each link, float64[L] each: those given, else those of the network.

    >>> import gossamer
    >>> [column.tolist() for column in link_speeds(gossamer.network("array:2"))]
    [[125000000.0, 125000000.0], [1e-06, 1e-06]]
    """
    speeds = network.find(Speeds)
    known = (BANDWIDTH, LATENCY) if speeds is None else (speeds.bandwidth, speeds.latency)
    columns = [own if given is None else given for given, own in zip((bandwidth, latency), known, strict=True)]
    rate, delay = (np.broadcast_to(np.asarray(c, np.float64), network.link_count) for c in columns)
    return rate, delay


def write_platform(
    network: Network,
    folder: Path,
    bandwidth: npt.ArrayLike | None = None,
    latency: npt.ArrayLike | None = None,
    speed: float = 1e9,
) -> None:
    """Write ``platform.xml`` and ``hosts.txt`` into a folder.

    * `network`: its nodes are hosts ``node-0``, ``node-1``, ...
    * `folder`: an existing folder.
    * `bandwidth`, `latency`: bytes a second of a link, for each of the packets that it carries at once, and seconds
      that it takes besides. Default: those of the network where it has them, else 125 MB/s and 1 microsecond.
    * `speed`: floating-point operations per second of a host.
    """
    hosts = "".join(f"node-{v}\n" for v in range(network.node_count))
    (folder / "hosts.txt").write_text(hosts, encoding="utf-8")
    rate, delay = link_speeds(network, bandwidth, latency)
    alike = bool(np.all(rate == rate[:1]) and np.all(delay == delay[:1]) and np.all(network.link_capacity == 1))
    with (folder / "platform.xml").open("wb") as file:
        file.write(_HEAD.encode())
        grid = network.grid
        if platform_kind(network) == "torus" and grid is not None and alike:
            sides = ",".join(map(str, reversed(grid.sides)))  # SimGrid's first dimension varies fastest
            file.write(
                f'<cluster id="network" prefix="node-" radical="0-{network.node_count - 1}" suffix="" '
                f'speed="{speed:g}f" bw="{rate[0]:g}Bps" lat="{delay[0]:g}s" topology="TORUS" '
                f'topo_parameters="{sides}" sharing_policy="SPLITDUPLEX"/>\n</platform>\n'.encode()
            )
            return
        file.write(b'<zone id="network" routing="Floyd">\n')
        for row in RowText(f'<host id="node-{{0}}" speed="{speed:g}f"/>\n').rows(0, [range(network.node_count)]):
            file.write(row)
        link = (
            '<link id="link-{0}" bandwidth="{1}Bps" latency="{4}ps" sharing_policy="SHARED"/>\n'
            '<route src="node-{2}" dst="node-{3}" symmetrical="NO"><link_ctn id="link-{0}"/></route>\n'
        )
        widths = network.link_capacity * rate
        columns: list[npt.NDArray[Any]] = [
            np.arange(network.link_count),
            widths.astype("int64"),
            network.link_source,
            network.link_target,
            np.rint(delay * 1e12).astype("int64"),
        ]
        declared, routed = (RowText(text + "\n") for text in link.strip().split("\n"))
        for text in (declared, routed):  # links must be known before routes
            for row in text.rows(0, columns):
                file.write(row)
        file.write(b"</zone>\n</platform>\n")


_TEXT = RowText("{0} irecv {1} 0 {2}\n", "{0} isend {1} 0 {2}\n", "{0} waitall\n", "{0} init\n", "{0} finalize\n")


def rank_rows(mine: Operations, part_bytes: int) -> bytes:
    """Return the trace of a rank.

    >>> import gossamer
    >>> program = gossamer.lower(gossamer.plan("array:2", "allgather").schedule)
    >>> rank_rows(program.rank(1), 100).decode().splitlines()
    ['1 init', '1 irecv 0 0 100', '1 isend 0 0 100', '1 waitall', '1 finalize']
    """
    # a slot begins with its receives and ends with a wait
    order = np.lexsort((mine.kind == SEND, mine.slot))
    slot, peer = mine.slot[order], mine.peer[order]
    last = np.flatnonzero(np.append(slot[1:] != slot[:-1], True)) if slot.size else np.zeros(0, np.intp)
    which = np.insert((mine.kind[order] == SEND).astype(np.int64), last + 1, 2)
    peers = np.insert(peer, last + 1, 0)
    which, peers = np.concatenate([[3], which, [4]]), np.concatenate([[0], peers, [0]])
    return b"".join(_TEXT.rows(which, [mine.rank, peers, part_bytes]))


def _write(plan: Plan, folder: Path) -> None:
    names = []
    for mine in plan.program:
        name = f"rank-{mine.rank}.txt"
        (folder / name).write_bytes(rank_rows(mine, plan.part_bytes))
        names.append(name)
    (folder / "trace.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    write_platform(plan.schedule.network, folder)


SMPI = Format(
    "smpi",
    "traces and a platform for SimGrid's smpirun -replay",
    _write,
    folder=True,
    sized=True,
    switches=True,
    by_rank=True,
)  # its platform has a host for each switch, too
