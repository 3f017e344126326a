"""Networks from and to NetworkX graphs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.errors import GossamerError, NetworkError, shown
from gossamer.networks.builder import Wiring, attributed
from gossamer.networks.family import checked_size
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(graph: nx.Graph[Any], name: str | None = None) -> Network:
    """Return the network of a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        An undirected edge becomes two links. What edges say of themselves are the attributes ``capacity`` (a whole
        number, default 1), ``bandwidth`` (bytes a second, or a text with a unit such as 50GB/s), ``latency`` (seconds,
        or a text such as 2us), ``occupancy`` and ``latency_slots`` (slots), ``source_port`` and ``target_port`` (names
        of ports that links share; what these pass is the graph's attribute ``ports``, by name). Parallel edges that
        differ in capacity only become one link of their capacities together; others stay parallel links, side by side.
        Nodes with the attribute ``terminal=False`` only pass packets on.
    name : str, optional
        What the network is called; default the name of the graph, or ``networkx graph``.

    Returns
    -------
    Network
        The i-th node of the graph is node i, except that nodes with ``terminal=False`` come after the others. Links of
        a node are in the order of the graph's adjacency. Nodes that are not already 0..N-1 in order keep their names as
        `labels`, others their attributes ``label``. The name does not parse back, so the network is `links_only`.

    Raises
    ------
    NetworkError
        If the graph is empty or has self-loops, a capacity is not a positive integer, only some edges have speeds, or
        ``terminal`` is neither true nor false.

    Warns
    -----
    UserWarning
        If edges have a ``weight``, which is not used, and neither ``capacity`` nor ``bandwidth``.

    Notes
    -----
    O(N + L) time.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> from_networkx(nx.petersen_graph())
    <Network Petersen Graph: 10 nodes, 30 links>
    """
    name = name or str(getattr(graph, "name", "")) or "networkx graph"
    if not hasattr(graph, "adjacency"):
        raise NetworkError(f"from_networkx needs a NetworkX graph, got {shown(graph)}")
    checked_size(f"graph {name!r}", len(graph), graph.number_of_edges() * (1 if graph.is_directed() else 2))
    if not len(graph):
        raise NetworkError(f"graph {name!r} has no nodes")
    warn_of_weights(name, (told for _, _, told in graph.edges(data=True)))
    return numbered_graph(name, dict(graph.nodes(data=True)), _wired(name, graph))


def numbered_graph(name: str, nodes: Mapping[Any, Mapping[str, Any]], wiring: Wiring) -> Network:
    """Return the network of nodes, by name with their attributes, and the links between them."""
    for v, told in nodes.items():
        if told.get("terminal", True) not in (True, False):
            raise NetworkError(
                f"graph {name!r}, node {shown(v)}: terminal must be true or false, got {shown(told['terminal'])}"
            )
    ordered = sorted(nodes, key=lambda v: not nodes[v].get("terminal", True))
    labels: list[Any] = [str(v) for v in ordered]
    if all(type(v) is int and v == i for i, v in enumerate(ordered)):
        labels = [nodes[v].get("label") for v in ordered]
        if not all(isinstance(x, str) for x in labels) or len(set(labels)) < len(labels):
            return wiring.network(name, ordered, _terminals(nodes))
    return wiring.network(name, ordered, _terminals(nodes), labels)


def _terminals(nodes: Mapping[Any, Mapping[str, Any]]) -> int:
    return sum(bool(told.get("terminal", True)) for told in nodes.values())


def _wired(name: str, graph: nx.Graph[Any]) -> Wiring:
    """Return every link, for each node in the order of its neighbors."""
    wiring = Wiring(f"graph {name!r}", NetworkError)
    many = graph.is_multigraph()
    for v in graph:
        for w, between in graph.adj[v].items():
            if v == w:
                raise NetworkError(f"graph {name!r}: node {shown(v)} has an edge to itself")
            where = f"graph {name!r}, edge {shown(v)} to {shown(w)}"
            for attributes in between.values() if many else (between,):
                capacity, kind = attributed(where, attributes, NetworkError)
                if kind != kind.turned and not graph.is_directed():
                    raise NetworkError(
                        f"{where}: ports of links need a directed graph, which says where an edge begins"
                    )
                wiring.add(where, v, w, capacity, kind, one_way=True)
    read_ports(wiring, f"graph {name!r}", graph.graph.get("ports"), NetworkError)
    return wiring


def warn_of_weights(name: str, edges: Iterable[Mapping[str, Any]]) -> None:
    """Say so if edges have a weight, which may be meant as a capacity or a bandwidth, and neither of these."""
    if any("weight" in told and not {"capacity", "bandwidth"} & told.keys() for told in edges):
        warnings.warn(
            f"graph {name!r}: the edge attribute 'weight' is not used; how many packets an edge carries per "
            "slot is its attribute 'capacity', a whole number (here 1)",
            stacklevel=3,
        )


def to_networkx(network: Network) -> nx.DiGraph[int]:
    """Return the network as a directed NetworkX graph on the nodes 0..N-1.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    networkx.DiGraph
        A MultiDiGraph if the network has parallel links. Named by the spec. Every edge has the attribute ``capacity``,
        where links have speeds also ``bandwidth`` (bytes a second) and ``latency`` (seconds), and where they are not
        plain ``occupancy`` and ``latency_slots``; nodes have ``terminal``, ``coordinates`` (a text such as ``(1,2)``,
        where the network has them) and ``label`` (likewise). GraphML and GML can hold all of them.

    Notes
    -----
    `from_networkx` gives an equal network back. O(N + L) time.

    Examples
    --------
    >>> from gossamer.networks import torus, to_networkx
    >>> to_networkx(torus(3, 3)).nodes[5]
    {'terminal': True, 'coordinates': '(1,2)'}
    """
    import networkx as nx

    graph: nx.DiGraph[int] = (nx.MultiDiGraph if network.parallel else nx.DiGraph)(name=network.spec)
    graph.add_nodes_from(enumerate(node_attributes(network)))
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)
    graph.add_edges_from((u, v, told) for (u, v), told in zip(ends, link_attributes(network), strict=True))
    if network.shared_ports is not None:
        graph.graph["ports"] = json.dumps(port_attributes(network))
    return graph


def node_attributes(network: Network) -> Iterator[dict[str, Any]]:
    """Yield what graphs say of each node."""
    places = None if network.coordinates is None else network.coordinates.tolist()
    for i in range(network.node_count):
        told: dict[str, Any] = {"terminal": i < network.terminal_count}
        if places is not None:
            told["coordinates"] = f"({','.join(map(str, places[i]))})"
        if network.labels is not None:
            told["label"] = network.labels[i]
        yield told


def link_attributes(network: Network) -> Iterator[dict[str, Any]]:
    """Yield what graphs say of each link."""
    columns: dict[str, Any] = {"capacity": network.link_capacity}
    ports = network.shared_ports
    speeds = network.find(Speeds)
    if speeds is not None:
        columns |= {"bandwidth": speeds.bandwidth, "latency": speeds.latency}
    if network.uniform_occupancy != 1 or network.uniform_latency != 0:
        columns |= {"occupancy": network.link_occupancy, "latency_slots": network.link_latency}
    for link, row in enumerate(zip(*(column.tolist() for column in columns.values()), strict=True)):
        told = dict(zip(columns, row, strict=True))
        if ports is not None:
            for name, side in (("source_port", ports.sending), ("target_port", ports.receiving)):
                if side[link] >= 0:
                    told[name] = (ports.names or ())[side[link]]
        yield told


def port_attributes(network: Network) -> dict[str, dict[str, Any]]:
    """Return what graphs say of each shared port, by its name; nothing where there are none.

    >>> from gossamer.networks import ring
    >>> port_attributes(ring(4))
    {}
    """
    ports = network.shared_ports
    if ports is None:
        return {}
    told: dict[str, Any] = {"capacity": np.asarray(ports.capacity).tolist()}
    if bool((np.asarray(ports.occupancy) > 1).any()):
        told["occupancy"] = np.asarray(ports.occupancy).tolist()
    if ports.bandwidth is not None:
        told["bandwidth"] = ports.bandwidth.tolist()
    return {name: {key: column[i] for key, column in told.items()} for i, name in enumerate(ports.names or ())}


def read_ports(wiring: Wiring, where: str, given: Any, error: type[GossamerError]) -> None:
    """Give a network in the making the ports that graphs tell: a mapping as of `port_attributes`, or its JSON text."""
    if given is None:
        return
    try:
        told = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        told = None
    if not isinstance(told, Mapping) or not all(isinstance(x, Mapping) for x in told.values()):
        raise error(f"{where}: the attribute 'ports' must tell each port by name, got {shown(given)}")
    for name, attributes in told.items():
        wiring.port(where, str(name), attributes)
