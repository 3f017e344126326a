"""The routes of a network as tables: for every two nodes the ports and the classes of virtual channels on the way."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.design.flits import TABLED, chosen_routing
from gossamer.errors import ModelError
from gossamer.networks import Network
from gossamer.routers.routing import deadlock_freedom
from gossamer.routers.routing.function import Sent
from gossamer.writing import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MOST_ROUTED", "routing_table", "write_routes"]

MOST_ROUTED = 1024
"""Nodes up to which routes are written."""


def routing_table(network: Network, channels: int = 0) -> pa.Table:
    """Return evenly chosen shortest routes between all nodes, on virtual channels on which they cannot deadlock.

    Parameters
    ----------
    network : Network
        Up to 1,024 nodes, none of them a switch.
    channels : int
        Virtual channels of a link; 0: as many as the routes need, 8 at the least.

    Returns
    -------
    pyarrow.Table
        A row for every two nodes: ``source``, ``target``, ``ports``, the port of each node on the way that a message
        leaves by, and ``classes``, the class of virtual channels that it takes there. The metadata has ``routing``,
        ``virtual_channels``, ``classes``, the virtual channels of each class, and ``deadlock``, why there is none.

    Raises
    ------
    ModelError
        If the network is too large or the routes need more virtual channels.

    Examples
    --------
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
    rule.write(Sent(route, begin, source, target, np.random.default_rng(0)))
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
