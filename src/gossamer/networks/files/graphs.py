"""Files that hold graphs: node-link JSON, GraphML, GML; and DOT, which is written only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gossamer.atomic_files import exact_bandwidth, exact_duration
from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks.builder import NetworkFormat, Wiring, attributed
from gossamer.networks.network import Network
from gossamer.networks.networkx_conversion import (
    from_networkx,
    link_attributes,
    node_attributes,
    numbered_graph,
    port_attributes,
    read_ports,
    to_networkx,
    warn_of_weights,
)
from gossamer.networks.structures import Speeds
from gossamer.reading.files import JSON_PIECES, check_xml, file_name, opened, read_json

if TYPE_CHECKING:
    import networkx as nx


def _reader(
    kind: str, read: Callable[[bytes], nx.Graph[Any]], check: Callable[[Path, str], None] | None = None
) -> Callable[[Path], Network]:
    """Return a reader of files that hold a NetworkX graph, which `read` makes of their bytes once they are checked."""

    def reader(path: Path) -> Network:
        import networkx as nx

        file = f"graph file {file_name(path)}"
        if check is not None:
            check(path, kind)
        with opened(path) as opened_file:
            data = opened_file.read()
        try:
            graph = read(data)
        except (nx.NetworkXException, ValueError, KeyError, TypeError, SyntaxError, RecursionError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise FileFormatError(f"{file}: not a {kind} ({reason})") from None
        if all(isinstance(v, str) and re.fullmatch("0|[1-9][0-9]{0,9}", v) for v in graph):
            graph = nx.relabel_nodes(graph, {v: int(v) for v in graph})
        return from_networkx(graph, str(path))

    return reader


# -- JSON ------------------------------------------------------------------------------------------------------


def _read_json(path: Path) -> Network:
    """Read nodes and edges straight from the file: a NetworkX graph would put parallel links side by side."""
    kind, file = "node-link graph in JSON", f"graph file {file_name(path)}"
    try:
        fields = read_json(path, {**JSON_PIECES, b"{": 270})  # a node or a link, in the network too
        if not isinstance(fields, dict) or not isinstance(fields.get("nodes"), list):
            raise ValueError("a node-link graph is an object with lists 'nodes' and 'edges'")
        nodes = {_name(node["id"]): node for node in fields["nodes"]}
        if len(nodes) < len(fields["nodes"]):
            raise ValueError("a node is there twice")
        wiring = _json_links(file, fields, nodes)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{file}, line {error.lineno}: not a {kind} ({error.msg})") from None
    except (NetworkError, FileFormatError):
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileFormatError(f"{file}: not a {kind} ({reason})") from None
    if not nodes:
        raise NetworkError(f"{file} has no nodes")
    warn_of_weights(str(path), fields["edges"] if "edges" in fields else fields["links"])
    return numbered_graph(str(path), nodes, wiring)


def _json_links(file: str, fields: dict[str, Any], nodes: dict[Any, Any]) -> Wiring:
    wiring = Wiring(file, NetworkError)
    directed, many = (_truth(fields, name) for name in ("directed", "multigraph"))
    for i, edge in enumerate(fields["edges"] if "edges" in fields else fields["links"]):
        if not isinstance(edge, dict) or not {"source", "target"} <= edge.keys():
            raise ValueError(f"edge {i}, counted from 0, has no 'source' and 'target'")
        u, v = (_name(edge[end]) for end in ("source", "target"))
        if u not in nodes or v not in nodes:
            raise ValueError(f"an edge joins {shown(u)} and {shown(v)}, which are not both nodes")
        where = f"{file}, edge {shown(u)} to {shown(v)}"
        capacity, link = attributed(where, edge, NetworkError)
        if not many and wiring.has(u, v, link):
            raise ValueError(f"the edge from {shown(u)} to {shown(v)} is repeated, and it is no multigraph")
        wiring.add(where, u, v, capacity, link, one_way=directed)
    told = fields.get("graph")
    read_ports(wiring, file, told.get("ports") if isinstance(told, dict) else None, NetworkError)
    return wiring


def _truth(fields: dict[str, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise ValueError(f"{name!r} must be true or false, got {shown(value)}")
    return value


def _name(value: object) -> object:
    """Return the name of a node, where JSON turned a tuple into a list."""
    return tuple(map(_name, value)) if isinstance(value, list) else value


def _write_json(network: Network, path: Path) -> None:
    """Write what NetworkX calls node-link data; links of a node keep their order."""
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), strict=True)
    fields = {
        "directed": True,
        "multigraph": network.parallel,
        "graph": {"name": network.spec, **({"ports": ports} if (ports := port_attributes(network)) else {})},
        "nodes": [{"id": i, **told} for i, told in enumerate(node_attributes(network))],
        "edges": [
            {"source": u, "target": v, **told} for (u, v), told in zip(ends, link_attributes(network), strict=True)
        ],
    }
    path.write_text(json.dumps(fields, ensure_ascii=False) + "\n", encoding="utf-8")


# -- GraphML and GML -------------------------------------------------------------------------------------------


def _check_graphml(path: Path, kind: str) -> None:
    """Refuse nodes that are there twice, and edges between what is no node: NetworkX would make nodes of it."""
    nodes: set[str] = set()
    ends: dict[str, str] = {}  # where each node is an end first

    def look(tag: str, attributes: dict[str, str], where: str) -> None:
        name = tag.rpartition(":")[2]
        if name == "node" and "id" in attributes:
            if attributes["id"] in nodes:
                raise FileFormatError(f"{where}: node {shown(attributes['id'])} is there twice")
            nodes.add(attributes["id"])
        elif name == "edge":
            for end in ("source", "target"):
                if end not in attributes:
                    raise FileFormatError(f"{where}: an edge has no {end!r}")
                ends.setdefault(attributes[end], where)

    check_xml(path, kind, look)
    for node, where in ends.items():
        if node not in nodes:
            raise FileFormatError(f"{where}: an edge joins {shown(node)}, which is no node of the file")


def _read_graphml(data: bytes) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.read_graphml(BytesIO(data))
    # NetworkX keeps the defaults of keys apart
    every: tuple[tuple[str, Iterable[dict[str, Any]]], ...] = (
        ("node_default", graph.nodes.values()),
        ("edge_default", (told for _, _, told in graph.edges(data=True))),
    )
    for name, items in every:
        defaults = graph.graph.get(name, {})
        for told in items:
            told |= {key: value for key, value in defaults.items() if key not in told}
    return graph


def _read_gml(data: bytes) -> nx.Graph[Any]:
    import networkx as nx

    graph: nx.Graph[Any] = nx.read_gml(BytesIO(data))
    return graph


def _write_graphml(network: Network, path: Path) -> None:
    import networkx as nx

    nx.write_graphml_xml(to_networkx(network), path)


# -- DOT -------------------------------------------------------------------------------------------------------


def _write_dot(network: Network, path: Path) -> None:
    """Write a graph for Graphviz; an edge of two equal links is one line."""
    both = network.two_way
    back = network.reverse_link.tolist() if both else []
    kind, arrow = ("graph", "--") if both else ("digraph", "->")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{kind} {_quoted(network.spec)} {{\n")
        for i in range(network.node_count):
            shape = "circle" if i < network.terminal_count else "box"
            file.write(f"  {i} [label={_quoted(network.node_name(i))}, shape={shape}];\n")
        for link, (u, v, told) in enumerate(_dot_links(network)):
            if not both or link < back[link]:
                file.write(f"  {u} {arrow} {v}{told};\n")
        file.write("}\n")


def _dot_links(network: Network) -> list[tuple[int, int, str]]:
    speeds = network.find(Speeds)
    found = []
    for link, (u, v, c) in enumerate(
        zip(network.link_source.tolist(), network.link_target.tolist(), network.link_capacity.tolist(), strict=True)
    ):
        told = [f"{c} x"] if c > 1 else []
        if speeds is not None:
            told += [exact_bandwidth(float(speeds.bandwidth[link])), exact_duration(float(speeds.latency[link]))]
        found.append((u, v, f' [label="{" ".join(told)}"]' if told else ""))
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


_SOURCE = "NetworkX, Reading and writing graphs"

JSON = NetworkFormat(
    name="node-link",
    summary="node-link graph in JSON, as NetworkX writes it",
    source=_SOURCE,
    suffixes=(".json",),
    read=_read_json,
    write=_write_json,
)
GRAPHML = NetworkFormat(
    name="graphml",
    summary="GraphML file",
    source=_SOURCE,
    suffixes=(".graphml",),
    read=_reader("GraphML file", _read_graphml, _check_graphml),
    write=_write_graphml,
)
GML = NetworkFormat(
    name="gml",
    summary="GML file",
    source=_SOURCE,
    suffixes=(".gml",),
    read=_reader("GML file", _read_gml),
)
DOT = NetworkFormat(
    name="dot",
    summary="graph for Graphviz, written only",
    source="Graphviz, The DOT language",
    suffixes=(".dot", ".gv"),
    write=_write_dot,
)
