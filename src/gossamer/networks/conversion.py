"""Networks from and to NetworkX graphs, and from edge-list files."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks._parameters import check_links, whole_number
from gossamer.networks.network import Network

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["from_networkx", "read_edge_list", "to_networkx"]

MAX_CAPACITY = 2**31 - 1


def from_networkx(graph: nx.Graph[Any], name: str | None = None) -> Network:
    """Return the network of a NetworkX graph.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
        An undirected edge becomes two links. The edge attribute ``capacity`` (an integer, default 1) is the capacity
        of its links. Nodes with the attribute ``terminal=False`` only pass packets on.
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
    check_links(f"graph {name!r}", graph.number_of_edges() * (1 if graph.is_directed() else 2))
    terminal = dict(graph.nodes(data="terminal", default=True))
    nodes = [v for v in graph if terminal[v]] + [v for v in graph if not terminal[v]]
    if not nodes:
        raise NetworkError(f"graph {name!r} has no nodes")
    number = {v: i for i, v in enumerate(nodes)}
    source, target, capacity = [], [], []
    for v in nodes:
        for w, attributes in graph.adj[v].items():
            if v == w:
                raise NetworkError(f"graph {name!r}: node {shown(v)} has an edge to itself")
            source.append(number[v])
            target.append(number[w])
            where = f"graph {name!r}, edge {shown(v)} to {shown(w)}"
            capacity.append(whole_number(attributes.get("capacity", 1), where, "capacity", 1, MAX_CAPACITY))
    numbered = all(type(v) is int and v == i for i, v in enumerate(nodes))
    return Network(
        name,
        len(nodes),
        np.array(source, np.int32),
        np.array(target, np.int32),
        np.array(capacity, np.int32),
        terminal_count=sum(map(bool, terminal.values())),
        labels=None if numbered else [str(v) for v in nodes],
        links_only=True,
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
        Named by the spec. Every edge has the attribute ``capacity``; nodes have ``terminal``, ``coordinates`` (a tuple,
        where the network has them) and ``label`` (likewise).

    Notes
    -----
    `from_networkx` gives an equal network back. O(N + L) time.

    Examples
    --------
    >>> from gossamer.networks import torus, to_networkx
    >>> to_networkx(torus(3, 3)).nodes[5]
    {'terminal': True, 'coordinates': (1, 2)}
    """
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph(name=network.spec)
    graph.add_nodes_from((i, {"terminal": i < network.terminal_count}) for i in range(network.node_count))
    if network.coordinates is not None:
        for i, place in enumerate(network.coordinates.tolist()):
            graph.nodes[i]["coordinates"] = tuple(place)
    if network.labels is not None:
        for i, label in enumerate(network.labels):
            graph.nodes[i]["label"] = label
    links = (network.link_source, network.link_target, network.link_capacity)
    graph.add_edges_from((u, v, {"capacity": c}) for u, v, c in zip(*(array.tolist() for array in links), strict=True))
    return graph


def read_edge_list(path: str | PathLike[str], *, directed: bool = False) -> Network:
    r"""Read a network from a text file with a line ``u v`` or ``u v capacity`` for each edge.

    Parameters
    ----------
    path : path
        A UTF-8 text file. Names are separated by white space; ``#`` starts a comment; empty lines are skipped.
    directed : bool
        Whether a line is one link from u to v; by default it is an edge, that is, a link each way.

    Returns
    -------
    Network
        If the names are exactly 0..N-1, they are the node numbers. Otherwise nodes are numbered in increasing order
        (if every name is an integer) or in the order in which the file mentions them, and keep their names as
        `labels`. Links of a node are in the order of the file. The network is `links_only`: the file may change.

    Raises
    ------
    FileFormatError
        If the file cannot be read or has no edges, or (with the line number) a line is malformed, joins a node to
        itself, or repeats an edge.

    Notes
    -----
    O(L log L) time.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import read_edge_list
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "triangle.txt")
    ...     _ = path.write_text("a b   # the first edge\nb c\nc a 2\n")
    ...     triangle = read_edge_list(path)
    >>> triangle.labels, triangle.link_capacity.tolist()
    (('a', 'b', 'c'), [1, 2, 1, 1, 1, 2])
    """
    edges, names = _edges(Path(path), directed)
    number, labels = _numbering(names)
    ends = np.array([(number[u], number[v]) for u, v in edges], np.int32)
    capacity = np.fromiter(edges.values(), np.int32, len(edges))
    if not directed:
        ends = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
        capacity = np.repeat(capacity, 2)
    order = np.argsort(ends[:, 0], kind="stable")
    return Network(
        f"{'directed-' if directed else ''}edges:{path}",
        len(number),
        ends[order, 0],
        ends[order, 1],
        capacity[order],
        labels=labels,
        links_only=True,
    )


def _edges(path: Path, directed: bool) -> tuple[dict[tuple[str, str], int], dict[str, None]]:
    """Return the edges of a file with their capacities, and the names of the nodes, in the order of the file."""
    edges: dict[tuple[str, str], int] = {}
    names: dict[str, None] = {}
    file = f"edge list {shown(str(path), 300)}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{file}: not a UTF-8 text file") from None
    except ValueError:  # a null character in the path
        raise FileFormatError(f"{file}: cannot be read (no legal path)") from None
    for place, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{file}, line {place}"
        if len(words) not in (2, 3):
            raise FileFormatError(f"{where}: expected 'u v' or 'u v capacity', got {shown(line.strip())}")
        u, v = words[:2]
        if u == v:
            raise FileFormatError(f"{where}: node {shown(u)} is joined to itself")
        if (u, v) in edges or (not directed and (v, u) in edges):
            raise FileFormatError(f"{where}: {'link' if directed else 'edge'} {shown(u)} {shown(v)} is repeated")
        names.update({u: None, v: None})
        edges[u, v] = _capacity(where, words[2]) if len(words) == 3 else 1
    if not edges:
        raise FileFormatError(f"{file}: the file has no edges")
    return edges, names


def _capacity(where: str, word: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", word) or not 1 <= int(word) <= MAX_CAPACITY:
        raise FileFormatError(f"{where}: capacity must be a whole number in 1..{MAX_CAPACITY}, got {shown(word)}")
    return int(word)


def _numbering(names: dict[str, None]) -> tuple[dict[str, int], list[str] | None]:
    """Return the number of each name, and the names by number unless they are the numbers."""
    ordered = list(names)
    if all(re.fullmatch("0|[1-9][0-9]{0,99}", name) for name in ordered):
        ordered.sort(key=int)
    number = {name: i for i, name in enumerate(ordered)}
    return number, None if all(name == str(i) for name, i in number.items()) else ordered
