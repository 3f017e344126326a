"""Networks from and to NetworkX graphs."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks._parameters import MAX_CAPACITY, checked_size, fractional_capacity, whole_number
from gossamer.networks.network import IntArray, Network

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_networkx", "to_networkx"]


def from_networkx(graph: nx.Graph[Any], name: str | None = None) -> Network:
    """Return the network of a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        An undirected edge becomes two links. The edge attribute ``capacity`` (a whole number, default 1) is the
        capacity of its links. Nodes with the attribute ``terminal=False`` only pass packets on.
    name : str, optional
        What the network is called; default the name of the graph, or ``networkx graph``.

    Returns
    -------
    Network
        The i-th node of the graph is node i, except that nodes with ``terminal=False`` come after the others. Links of
        a node are in the order of the graph's adjacency. Nodes that are not already 0..N-1 in order keep their names as
        `labels`. The name does not parse back, so the network is `links_only`.

    Raises
    ------
    NetworkError
        If the graph is empty, has parallel edges or self-loops, or a capacity is not a positive integer.

    Warns
    -----
    UserWarning
        If edges have a ``weight`` or ``bandwidth``, which is not used, and no ``capacity``.

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
    if graph.is_multigraph():
        raise NetworkError(f"graph {name!r} may hold parallel edges; convert it to networkx.Graph or DiGraph first")
    checked_size(f"graph {name!r}", len(graph), graph.number_of_edges() * (1 if graph.is_directed() else 2))
    terminal = dict(graph.nodes(data="terminal", default=True))
    nodes = [v for v in graph if terminal[v]] + [v for v in graph if not terminal[v]]
    if not nodes:
        raise NetworkError(f"graph {name!r} has no nodes")
    links = _links(name, graph, nodes)
    _warn_of_unused(name, graph)
    numbered = all(type(v) is int and v == i for i, v in enumerate(nodes))
    return Network(
        name,
        len(nodes),
        *links,
        terminal_count=sum(map(bool, terminal.values())),
        labels=None if numbered else [str(v) for v in nodes],
        links_only=True,
    )


def _links(name: str, graph: nx.Graph[Any], nodes: list[Any]) -> IntArray:
    """Return source, target and capacity of every link, int32[3, L], for the nodes in their order."""
    number = {v: i for i, v in enumerate(nodes)}
    links = []
    for v in nodes:
        for w, attributes in graph.adj[v].items():
            if v == w:
                raise NetworkError(f"graph {name!r}: node {shown(v)} has an edge to itself")
            where = f"graph {name!r}, edge {shown(v)} to {shown(w)}"
            links.append((number[v], number[w], _capacity(where, attributes)))
    return np.ascontiguousarray(np.array(links, np.int32).reshape(-1, 3).T)


def _capacity(where: str, attributes: dict[str, Any]) -> int:
    value = attributes.get("capacity", 1)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, float | Fraction | Decimal):
        raise NetworkError(f"{where}: {fractional_capacity(value)}")
    return whole_number(value, where, "capacity", 1, MAX_CAPACITY)


def _warn_of_unused(name: str, graph: nx.Graph[Any]) -> None:
    """Say so if edges have what looks like a capacity under another name, and none of their own."""
    for _, _, attributes in graph.edges(data=True):
        unused = sorted({"bandwidth", "weight"} & attributes.keys())
        if unused and "capacity" not in attributes:
            warnings.warn(
                f"graph {name!r}: the edge attribute {unused[0]!r} is not used; how many packets an edge carries per "
                "slot is its attribute 'capacity', a whole number (here 1)",
                stacklevel=3,
            )
            return


def to_networkx(network: Network) -> nx.DiGraph[int]:
    """Return the network as a directed NetworkX graph on the nodes 0..N-1.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    networkx.DiGraph
        Named by the spec. Every edge has the attribute ``capacity``; nodes have ``terminal``, ``coordinates`` (a text
        such as ``(1,2)``, where the network has them) and ``label`` (likewise). GraphML and GML can hold all of them.

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

    graph: nx.DiGraph[int] = nx.DiGraph(name=network.spec)
    graph.add_nodes_from((i, {"terminal": i < network.terminal_count}) for i in range(network.node_count))
    if network.coordinates is not None:
        for i, place in enumerate(network.coordinates.tolist()):
            graph.nodes[i]["coordinates"] = f"({','.join(map(str, place))})"
    if network.labels is not None:
        for i, label in enumerate(network.labels):
            graph.nodes[i]["label"] = label
    links = (network.link_source, network.link_target, network.link_capacity)
    graph.add_edges_from((u, v, {"capacity": c}) for u, v, c in zip(*(array.tolist() for array in links), strict=True))
    return graph
