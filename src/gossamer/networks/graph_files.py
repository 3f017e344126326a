"""Networks from files: edge lists, node-link JSON, GraphML and GML, told apart by their suffix."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.errors import FileFormatError, shown
from gossamer.networks.conversion import from_networkx
from gossamer.networks.edge_lists import read_edge_list
from gossamer.networks.network import Network

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["SUFFIXES", "read_network"]


def read_network(path: str | PathLike[str]) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    path : path
        ``.edges`` or ``.txt``: an edge list (`read_edge_list`), ``.dedges``: one of one-way links; ``.json``: a
        node-link graph as NetworkX writes it; ``.graphml``, ``.gml``. Edges may have a ``capacity`` and nodes
        ``terminal`` false, as in `from_networkx`.

    Returns
    -------
    Network
        With the links of the file, `links_only`.

    Raises
    ------
    FileFormatError
        If the suffix is another, or the file cannot be read.
    NetworkError
        If the graph is no network.

    Examples
    --------
    >>> import tempfile, pathlib, networkx as nx
    >>> from gossamer.networks import read_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "petersen.graphml")
    ...     nx.write_graphml(nx.petersen_graph(), path)
    ...     read_network(path).diameter
    2
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileFormatError(f"graph file {shown(str(path), 300)}: the suffix must be one of {', '.join(SUFFIXES)}")
    return SUFFIXES[suffix](Path(path))


def _edges(path: Path) -> Network:
    return read_edge_list(path)


def _one_way_edges(path: Path) -> Network:
    return read_edge_list(path, directed=True)


def _graph(kind: str, read: Callable[[Path], nx.Graph[Any]]) -> Callable[[Path], Network]:
    """Return a reader of files that hold a NetworkX graph."""

    def reader(path: Path) -> Network:
        import networkx as nx

        file = f"graph file {shown(str(path), 300)}"
        try:
            graph = read(path)
        except OSError as error:
            raise FileFormatError(f"{file}: cannot be read ({error.strerror or error})") from None
        except (nx.NetworkXException, ValueError, KeyError, TypeError, SyntaxError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise FileFormatError(f"{file}: not a {kind} ({reason})") from None
        if all(isinstance(v, str) and re.fullmatch("0|[1-9][0-9]{0,9}", v) for v in graph):
            graph = nx.relabel_nodes(graph, {v: int(v) for v in graph})
        return from_networkx(graph, str(path))

    return reader


def _read_json(path: Path) -> nx.Graph[Any]:
    import networkx as nx

    fields = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(fields, dict) or not isinstance(fields.get("nodes"), list):
        raise ValueError("a node-link graph is an object with lists 'nodes' and 'edges'")
    many, directed = bool(fields.get("multigraph")), bool(fields.get("directed"))
    kinds = {(False, False): nx.Graph, (False, True): nx.DiGraph, (True, False): nx.MultiGraph}
    graph: nx.Graph[Any] = kinds.get((many, directed), nx.MultiDiGraph)()
    for node in fields["nodes"]:
        graph.add_node(_name(node["id"]), **{k: v for k, v in node.items() if k != "id"})
    for edge in fields["edges"] if "edges" in fields else fields["links"]:
        ends = [_name(edge[end]) for end in ("source", "target")]
        if not all(end in graph for end in ends):
            raise ValueError(f"an edge joins {shown(ends[0])} and {shown(ends[1])}, which are not both nodes")
        graph.add_edge(*ends, **{k: v for k, v in edge.items() if k not in ("source", "target", "key")})
    return graph


def _name(value: object) -> object:
    """Return the name of a node, where JSON turned a tuple into a list."""
    return tuple(map(_name, value)) if isinstance(value, list) else value


def _read_graphml(path: Path) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.read_graphml(path)
    return graph


def _read_gml(path: Path) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.read_gml(path)
    return graph


SUFFIXES: dict[str, Callable[[Path], Network]] = {
    ".edges": _edges,
    ".txt": _edges,
    ".dedges": _one_way_edges,
    ".json": _graph("node-link graph in JSON", _read_json),
    ".graphml": _graph("GraphML file", _read_graphml),
    ".gml": _graph("GML file", _read_gml),
}
"""What reads the files of each suffix."""
