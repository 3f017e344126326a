"""What comes out of a design: the network in files, its cables, its schedules, and its traffic in flits."""

from __future__ import annotations

import csv
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import whole_file, whole_folder
from gossamer.errors import ModelError
from gossamer.networks import Network, write_network
from gossamer.networks.derived import cables
from gossamer.planning.switching import save
from gossamer.simulation.flits import Routers
from gossamer.simulation.flits.routing import Routing, deadlock_freedom, routing
from gossamer.simulation.flits.routing.routing_function import RoutedMessages
from gossamer.simulation.flits.saturation import saturation_throughput
from gossamer.simulation.flits.settings import TrafficSettings
from gossamer.studies.design.plan_candidates import Design, DesignedNetwork

if TYPE_CHECKING:
    import pyarrow as pa

# How a network carries uniform traffic in flits, on routes that cannot deadlock.

TABLED = ("hop-classes", "layered")
"""Routing functions whose routes are a table, the first choice first."""
_CHANNELS = (8, 16, 32)


@dataclass(frozen=True)
class FlitRun:
    """Uniform traffic on a network.

    * `network`, `routing`: the network's spec and the routing function.
    * `virtual_channels`: of each link.
    * `freedom`: why its routes cannot deadlock: classes of virtual channels, dependencies without a circle.
    * `throughput`, `ideal`: flits a node and cycle that get through at saturation, and that would if channels were
      always busy.
    * `latency`: mean cycles of a message at the smallest load that was run.
    """

    network: str
    routing: str
    virtual_channels: int
    freedom: str
    throughput: float
    ideal: float
    latency: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return vars(self) | {"throughput": round(self.throughput, 4), "latency": round(self.latency, 2)}


def flit_run(network: Network, *, channels: int = 0, measured: int = 3_000, seed: int = 0) -> FlitRun:
    """Search the saturation of a network under uniform traffic, on shortest routes that cannot deadlock.

    `network`: up to 1,100 nodes. `channels`: virtual channels of a link. 0: 8, or 16 or 32 where the routes need more
    layers. `measured`: cycles of a run. `seed`: for the traffic.

    Tori go in dimension order, others on evenly chosen shortest routes, each hop on higher virtual channels than the
    one before, or, where the channels are fewer than the diameter has hops, in layers of channels without circles.

    Raises ModelError if the routes are too many to write down.

    >>> import gossamer
    >>> found = flit_run(gossamer.network("torus:4x4"), measured=500)
    >>> found.routing, 0 < found.throughput <= found.ideal
    ('dimension-order', True)
    """
    function, routers = chosen_routing(network, channels)
    name = function.name
    settings = TrafficSettings(routing=name, routers=routers, warmup=measured // 3, measured=measured, seed=seed)
    found = saturation_throughput(network, resolution=0.05, settings=settings)
    latency = found.runs[0].latency if found.runs else float("nan")
    freedom = str(deadlock_freedom(function))
    return FlitRun(
        network.spec, function.name, routers.virtual_channels, freedom, found.throughput, found.ideal, latency
    )


def chosen_routing(network: Network, channels: int, names: tuple[str, ...] = ()) -> tuple[Routing, Routers]:
    """Return the first routing function that goes, of those named, and routers with as many channels as it needs."""
    names = names or (("default",) if network.grid is not None else TABLED)
    tried = [(count, name) for count in ((channels,) if channels else _CHANNELS) for name in names]
    for count, name in tried:
        routers = Routers(virtual_channels=count)
        try:
            return routing(network, name, routers), routers
        except ModelError:
            if (count, name) == tried[-1]:
                raise
    raise AssertionError("the last one returns or raises")


# The routes of a network as tables: for every two nodes the ports and the classes of virtual channels on the way.

MOST_ROUTED = 1024
"""Nodes up to which routes are written."""


def routing_table(network: Network, channels: int = 0) -> pa.Table:
    """Return evenly chosen shortest routes between all nodes, on virtual channels on which they cannot deadlock.

    `network`: up to 1,024 nodes, none of them a switch. `channels`: virtual channels of a link; 0: as many as the
    routes need, 8 at the least.

    Returns: a row for every two nodes: ``source``, ``target``, ``ports``, the port of each node on the way that a
    message leaves by, and ``classes``, the class of virtual channels that it takes there. The metadata has ``routing``,
    ``virtual_channels``, ``classes``, the virtual channels of each class, and ``deadlock``, why there is none.

    Raises ModelError if the network is too large or the routes need more virtual channels.

    >>> import gossamer
    >>> table = routing_table(gossamer.network("star:4"))
    >>> table.num_rows, table.slice(0, 1).to_pylist()
    (552, [{'source': 0, 'target': 1, 'ports': [1, 2, 1], 'classes': [1, 2, 3]}])
    """
    import pyarrow as pa

    n = network.node_count
    if n > MOST_ROUTED or network.terminal_count < n:
        raise ModelError(
            f"routes are written for up to {MOST_ROUTED:,} nodes, none of them a switch; got {network.spec}"
        )
    rule, routers = chosen_routing(network, channels, TABLED)
    source, target = (x[~np.eye(n, dtype=bool).reshape(-1)] for x in np.divmod(np.arange(n * n), n))
    size = rule.row_size
    route = np.zeros(source.size * size + 1, np.int32)
    begin = np.arange(source.size, dtype=np.int64) * size + 1
    rule.write(RoutedMessages(route, begin, source, target, np.random.default_rng(0)))
    hops = route[begin - 1].astype(np.int64)
    at = np.repeat(begin, hops) + np.arange(int(hops.sum())) - np.repeat(np.cumsum(hops) - hops, hops)
    link, kind = route[at] >> 8, route[at] & 255
    offsets = pa.array(np.concatenate([[0], np.cumsum(hops)]), pa.int32())
    port = pa.array(link - network.first_link[network.link_source[link]], pa.int16())
    columns = {"source": pa.array(source, pa.int32()), "target": pa.array(target, pa.int32()),
               "ports": pa.ListArray.from_arrays(offsets, port),
               "classes": pa.ListArray.from_arrays(offsets, pa.array(kind, pa.int16()))}  # fmt: skip
    told: dict[str, Any] = {
        "routing": rule.name,
        "virtual_channels": str(routers.virtual_channels),
        "classes": json.dumps([[v for v in range(64) if int(bits) >> v & 1] for bits in rule.classes]),
        "deadlock": str(deadlock_freedom(rule)),
    }
    return pa.table(columns).replace_schema_metadata(told)


def write_routes(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the routes of a network to a Parquet file; see `routing_table`."""
    import pyarrow.parquet as pq

    table = routing_table(network)
    with whole_file(path) as part:
        pq.write_table(table, part)


def cable_rows(network: Network, length: npt.NDArray[np.float64] | None = None) -> list[tuple[object, ...]]:
    """Return a row for each cable: node, port, node, port and its length in meters, which is empty if not known.

    Port p of a node is its p-th link. A link without an opposite is a cable from its source to its target.

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


def write_found(found: DesignedNetwork, folder: Path) -> list[str]:
    """Write a network that was found to a folder; return the names of the files.

    ``network.txt`` has its spec, ``network.graphml`` and ``network.edges`` its links, ``cables.csv`` its cables,
    ``places.csv`` where its nodes stand if they have places, ``routes.parquet`` its routes up to 1,024 nodes, free of
    deadlock (`gossamer.studies.design.design_files.routing_table`), and ``TASK.parquet`` the schedule of each task.
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

    Raises FileFormatError if the folder exists and is not empty, or cannot be made.
    """
    with whole_folder(folder) as part:
        write_found(design.best, part)
        (part / "designs.json").write_text(json.dumps(design.to_dicts(), indent=1) + "\n", encoding="utf-8")
        return sorted(path.name for path in part.iterdir())
