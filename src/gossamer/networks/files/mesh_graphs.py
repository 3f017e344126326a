"""Mesh graph descriptors of tt-metal: meshes and tori of accelerators and what joins them, as text of protocol buffers.

A descriptor has mesh descriptors (a grid of devices, with links between neighbors), graph descriptors (meshes or graphs
and the connections between them), and the instance at the top.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.family import MAX_CAPACITY
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import check_pieces, file_name, read_bytes, read_text

_CHANNEL = {"WORMHOLE_B0": 12.5e9, "BLACKHOLE": 50e9}
"""Bytes a second of one Ethernet link, each way, by architecture: 100 and 400 Gbit/s."""
_MOST_DEVICES = 200_000
_DEEPEST = 20


# The text of protocol buffers.


class _Field(NamedTuple):
    """A field: its name, its value (a word, or a message) and its line."""

    name: str
    value: str | _Message
    line: int


@dataclass
class _Message:
    """The fields of a message, in their order; those of a name are read by `one` and `every`."""

    name: str
    line: int
    fields: list[_Field] = field(default_factory=list)

    def refused(self, what: str, line: int = 0) -> FileFormatError:
        return FileFormatError(f"{self.name}, line {line or self.line}: {what}")

    def check(self, *known: str, passed: tuple[str, ...] = ()) -> None:
        """Refuse fields that are not known; those `passed` over mean nothing for a network."""
        for each in self.fields:
            if each.name not in (*known, *passed):
                hint = nearest(each.name, known) or f"; known are: {', '.join(known)}"
                raise self.refused(f"field {shown(each.name)} is not known{hint}", each.line)

    def every(self, name: str) -> list[_Field]:
        return [each for each in self.fields if each.name == name]

    def messages(self, name: str) -> list[_Message]:
        for each in self.every(name):
            if isinstance(each.value, str):
                raise self.refused(f"{name} must be a message in braces, got {shown(each.value)}", each.line)
        return [each.value for each in self.every(name) if isinstance(each.value, _Message)]

    def message(self, name: str) -> _Message:
        found = self.messages(name)
        if len(found) != 1:
            raise self.refused(f"{name!r} must be there once, it is there {len(found)} times")
        return found[0]

    def words(self, name: str) -> list[str]:
        for each in self.every(name):
            if not isinstance(each.value, str):
                raise self.refused(f"{name} must be a value, got a message", each.line)
        return [str(each.value) for each in self.every(name)]

    def text(self, name: str, default: str | None = None) -> str:
        found = self.words(name)
        if len(found) == 1:
            return found[0].strip("\"'")
        if default is not None and not found:
            return default
        raise self.refused(f"{name!r} must be there once, it is there {len(found)} times")

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self.text(name, None if default is None else str(default))
        if not re.fullmatch("[0-9]{1,9}", value) or not least <= int(value) <= most:
            line = self.every(name)[0].line
            raise self.refused(f"{name} must be a whole number in {least}..{most}, got {shown(value)}", line)
        return int(value)


_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_][\w.]*|-?[0-9][\w.+-]*|[{}<>\[\]:;,])"""
)


def _tokens(text: str, name: str) -> Iterator[tuple[str, int]]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FileFormatError(f"{name}, line {line}: {shown(text[at])} is no part of a descriptor")
        if match[1]:
            yield match[1], line
        line += match[0].count("\n")
        at = match.end()


def _parsed(path: str | PathLike[str], name: str) -> _Message:
    """Return the fields of a file."""
    check_pieces(path, read_bytes(path), {b":": 400, b"{": 500, b",": 100})
    root = _Message(name, 1)
    open_ones, label, line, listing, colon = [root], "", 1, False, False
    for token, line in _tokens(read_text(path, "a mesh graph descriptor: not UTF-8"), name):
        inner = open_ones[-1]
        if token in "{<" and label:
            if len(open_ones) > _DEEPEST:
                raise inner.refused(f"messages are over {_DEEPEST} deep", line)
            open_ones.append(_Message(name, line))
            inner.fields.append(_Field(label, open_ones[-1], line))
            label, colon = "" if not listing else label, False
        elif token in "}>" and len(open_ones) > 1 and not label:
            open_ones.pop()
        elif token == "[" and label and colon and not listing:
            listing = True
        elif token == "]" and listing:
            label, listing, colon = "", False, False
        elif token == ":" and label and not colon:
            colon = True
        elif token in ",;" and (listing or not label):
            continue
        elif label and colon and token not in "{}<>[]:;,":
            inner.fields.append(_Field(label, token, line))
            if not listing:
                label, colon = "", False
        elif not label and re.match("[A-Za-z_]", token):
            label = token
        else:
            raise inner.refused(f"{shown(token)} cannot stand here", line)
    if len(open_ones) > 1 or label:
        raise root.refused("the file ends within a field or message", line)
    return root


# From descriptors to devices and links.

Path = tuple[str, ...]
"""An instance: its name and those of the graphs that it is in, from the outermost on."""


@dataclass
class _Mesh:
    """A mesh descriptor."""

    name: str
    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    channels: int
    express: list[tuple[int, int]]
    rate: float
    arch: str
    relaxed: bool

    @property
    def devices(self) -> int:
        return math.prod(self.sides)


@dataclass
class _Reading:
    """What has been made so far: instances of meshes with their first devices, and links."""

    name: str
    wiring: Wiring
    meshes: dict[str, _Mesh]
    graphs: dict[str, _Message]
    given: LinkKind
    labels: list[str] = field(default_factory=list)
    first: dict[Path, int] = field(default_factory=dict)
    of: dict[Path, _Mesh] = field(default_factory=dict)
    leading: dict[Path, Path] = field(default_factory=dict)  # the first mesh of each instance
    spread: int = 0
    relaxed: bool = False

    def kind(self, mesh: _Mesh, other: _Mesh | None = None) -> LinkKind:
        """Return the kind of links of a mesh, or between two: as fast as the slower one's."""
        if self.given.bandwidth is not None:
            return self.given
        rate = min(mesh.rate, mesh.rate if other is None else other.rate)
        return LinkKind(rate, self.given.latency)


def read_mesh_graph(path: str | PathLike[str], *, link: str | None = None, latency: str | None = None) -> Network:
    """Read meshes and tori of accelerators from a mesh graph descriptor of tt-metal (version 2).

    Parameters
    ----------
    path : path
        The text of protocol buffers, usually ``.textproto``.
    link : str, optional
        Bandwidth of one channel, each way, such as ``50GB/s``. Default: that of the architecture, 12.5 GB/s of
        ``WORMHOLE_B0`` and 50 GB/s of ``BLACKHOLE``.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

    Returns
    -------
    Network
        The devices are the terminals, mesh after mesh, those of a mesh row by row as their ``device_id`` says, with
        labels such as ``M0.0 (1,3)``. Neighbors are joined by a link of the capacity ``channels.count``; dimensions
        that are ``RING`` wrap, of which a side of 2 is a single edge. Express connections are links of the same
        capacity. A connection of two meshes without devices is spread over devices of the same place: its channels
        begin with device 0 and are as far apart as possible.

    Raises
    ------
    FileFormatError
        If (with the line number) the text is malformed, a field is not known, a descriptor or an instance that is
        referred to is not there, or instances contain each other.
    """
    name = f"mesh graph {file_name(path)}"
    root = _parsed(path, name)
    root.check("mesh_descriptors", "graph_descriptors", "top_level_instance", passed=("pinnings",))
    given = attributed(f"{name}: link", {"bandwidth": link, "latency": latency}, FileFormatError)[1]
    meshes: dict[str, _Mesh] = {}
    for message in root.messages("mesh_descriptors"):
        mesh = _mesh(message)
        if mesh.name in meshes:
            raise message.refused(f"mesh descriptor {shown(mesh.name)} is there twice")
        meshes[mesh.name] = mesh
    graphs: dict[str, _Message] = {}
    for message in root.messages("graph_descriptors"):
        if (called := message.text("name")) in graphs:
            raise message.refused(f"graph descriptor {shown(called)} is there twice")
        graphs[called] = message
    reading = _Reading(name, Wiring(name), meshes, graphs, given)
    _instance(reading, root.message("top_level_instance"), (), ())
    assumed = []
    if given.bandwidth is None:
        used = {mesh.arch: mesh.rate for mesh in reading.of.values()}
        rates = ", ".join(f"{rate / 1e9:g} GB/s of {arch}" for arch, rate in used.items())
        assumed.append(Assumption(f"channels of {rates}, each way", f"mesh-graph:{path},link=RATE"))
    if reading.spread:
        text = f"channels of {reading.spread} connections that name no devices, spread over devices of the same places"
        assumed.append(Assumption(text, "name the devices in the file, by device_id"))
    if reading.relaxed:
        assumed.append(Assumption("as many channels as are asked for where the policy RELAXED allows fewer"))
    known = [Assumptions(tuple(assumed))] if assumed else []
    count = len(reading.labels)
    return reading.wiring.network(f"mesh-graph:{path}", range(count), None, reading.labels, known)


def _mesh(message: _Message) -> _Mesh:
    message.check("name", "arch", "device_topology", "channels", "host_topology", "express_connections")
    topology = message.message("device_topology")
    topology.check("dims", "types", "dim_types")
    dims, types = topology.words("dims"), topology.words("types") + topology.words("dim_types")
    sides = tuple(int(d) if re.fullmatch("[1-9][0-9]{0,6}", d) else 0 for d in dims)
    if not sides or not all(sides) or math.prod(sides) > _MOST_DEVICES:
        raise topology.refused(f"dims must be whole numbers above 0 with at most {_MOST_DEVICES:,} devices, got {dims}")
    if len(types) not in (0, len(sides)) or any(each not in ("LINE", "RING") for each in types):
        raise topology.refused(f"there is LINE or RING for each of the {len(sides)} dims, got {', '.join(types)}")
    arch = message.text("arch")
    if arch not in _CHANNEL:
        raise message.refused(f"arch must be one of {', '.join(_CHANNEL)}, got {shown(arch)}")
    hosts = message.message("host_topology")
    hosts.check("dims")
    across = [int(d) if re.fullmatch("[1-9][0-9]{0,6}", d) else 0 for d in hosts.words("dims")]
    if len(across) != len(sides) or not all(h and side % h == 0 for h, side in zip(across, sides, strict=True)):
        told = f"a whole number for each of the {len(sides)} dims of the devices, which it divides"
        raise hosts.refused(f"dims of hosts must be {told}, got {hosts.words('dims')}")
    channels, relaxed = _channels(message)
    express = []
    for each in message.messages("express_connections"):
        each.check("src", "dst")
        express.append((each.whole("src", 0, math.prod(sides) - 1), each.whole("dst", 0, math.prod(sides) - 1)))
        if len(set(express[-1])) == 1:
            raise each.refused(f"device {express[-1][0]} is connected to itself")
    wraps = tuple(each == "RING" for each in types) or (False,) * len(sides)
    return _Mesh(message.text("name"), sides, wraps, channels, express, _CHANNEL[arch], arch, relaxed)


def _channels(message: _Message) -> tuple[int, bool]:
    found = message.message("channels")
    found.check("count", "policy")
    policy = found.text("policy", "STRICT")
    if policy not in ("STRICT", "RELAXED"):
        raise found.refused(f"policy must be STRICT or RELAXED, got {shown(policy)}")
    return found.whole("count", 1, MAX_CAPACITY), policy == "RELAXED"


def _instance(reading: _Reading, reference: _Message, path: Path, within: tuple[str, ...]) -> tuple[str, ...]:
    """Make the mesh or graph that is referred to, in the graphs of a path; return its own path."""
    kind, called, own = _referred(reading, reference, path)
    if own in reading.leading:
        raise reference.refused(f"{' '.join(own[-2:])} is there twice")
    reading.leading[own] = own
    if kind == "mesh":
        _place(reading, own, reading.meshes[called], reference)
        return own
    if called in within:
        raise reference.refused(f"graph {shown(called)} contains itself")
    if len(within) > _DEEPEST:
        raise reference.refused(f"graphs are over {_DEEPEST} deep")
    graph = reading.graphs[called]
    graph.check("name", "type", "instances", "channels", "graph_topology", "connections")
    inner = [_instance(reading, each, own, (*within, called)) for each in graph.messages("instances")]
    if not inner:
        raise graph.refused("a graph needs instances")
    reading.leading[own] = reading.leading[inner[0]]
    _connect(reading, graph, own, inner)
    return own


def _referred(reading: _Reading, reference: _Message, path: Path) -> tuple[str, str, Path]:
    """Return what is referred to, ``mesh`` or ``graph``, its descriptor and its path."""
    reference.check("mesh", "graph")
    if len(reference.fields) != 1:
        raise reference.refused("a reference has one field, 'mesh' or 'graph'")
    kind = reference.fields[0].name
    inner = reference.message(kind)
    called = inner.text(f"{kind}_descriptor")
    known = reading.meshes if kind == "mesh" else reading.graphs
    if called not in known:
        raise inner.refused(f"there is no {kind} descriptor {shown(called)}{nearest(called, known)}")
    return kind, called, (*path, f"{called}.{inner.whole(f'{kind}_id', 0, 10**6, 0)}")


def _place(reading: _Reading, own: Path, mesh: _Mesh, at: _Message) -> None:
    """Make the devices of a mesh and the links between neighbors."""
    first = len(reading.labels)
    if first + mesh.devices > _MOST_DEVICES:
        raise at.refused(f"there are over {_MOST_DEVICES:,} devices")
    reading.first[own], reading.of[own] = first, mesh
    reading.relaxed |= mesh.relaxed
    prefix = "/".join(own)
    reading.labels += [f"{prefix} ({','.join(map(str, at))})" for at in np.ndindex(mesh.sides)]
    place = np.arange(mesh.devices).reshape(mesh.sides) + first
    kind = reading.kind(mesh)
    where = f"{reading.name}, line {at.line}"
    for axis, (side, wrap) in enumerate(zip(mesh.sides, mesh.wraps, strict=True)):
        lines = np.moveaxis(place, axis, -1).reshape(-1, side)
        pairs = [(k, k + 1) for k in range(side - 1)] + ([(side - 1, 0)] if wrap and side > 2 else [])
        for a, b in pairs:
            for u, v in zip(lines[:, a].tolist(), lines[:, b].tolist(), strict=True):
                reading.wiring.add(where, u, v, mesh.channels, kind)
    for u, v in mesh.express:
        reading.wiring.add(where, first + u, first + v, mesh.channels, kind)


def _connect(reading: _Reading, graph: _Message, own: Path, inner: list[Path]) -> None:
    """Add the connections of a graph: of its topology, or those that are listed."""
    shape, listed = graph.text("graph_topology", ""), graph.messages("connections")
    if shape and shape not in ("ALL_TO_ALL", "RING"):
        raise graph.refused(f"graph_topology must be ALL_TO_ALL or RING, got {shown(shape)}")
    if shape and listed:
        raise graph.refused("a graph has a graph_topology or connections, not both")
    if shape:
        channels, relaxed = _channels(graph)
        reading.relaxed |= relaxed
        pairs = list(itertools.combinations(inner, 2))
        if shape == "RING":
            pairs = [*itertools.pairwise(inner), *([(inner[-1], inner[0])] if len(inner) > 2 else [])]
        for one, other in pairs:
            _join(reading, graph, (one, None), (other, None), channels, False)
    for connection in listed:
        connection.check("nodes", "channels", "directional")
        ends = [_end(reading, each, own) for each in connection.messages("nodes")]
        if len(ends) != 2:
            raise connection.refused(f"a connection joins two nodes, got {len(ends)}")
        way = connection.text("directional", "false")
        if way not in ("true", "false"):
            raise connection.refused(f"directional must be true or false, got {shown(way)}")
        channels, relaxed = _channels(connection)
        reading.relaxed |= relaxed
        _join(reading, connection, ends[0], ends[1], channels, way == "true")


End = tuple[Path, int | None]


def _end(reading: _Reading, reference: _Message, path: Path) -> End:
    """Return the instance at an end of a connection, and the device if one is named."""
    kind, _, own = _referred(reading, reference, path)
    inner = reference.message(kind)
    if kind == "graph":
        inner.check("graph_descriptor", "graph_id", "mesh", "graph")
        below = [each for each in inner.fields if each.name in ("mesh", "graph")]
        if below:
            nested = _Message(inner.name, inner.line, below)
            return _end(reading, nested, own)
        if own not in reading.leading:
            raise inner.refused(f"there is no instance {'/'.join(own)}")
        return own, None
    inner.check("mesh_descriptor", "mesh_id", "device_id")
    if own not in reading.first:
        raise inner.refused(f"there is no instance {'/'.join(own)}")
    most = reading.of[own].devices - 1
    return own, inner.whole("device_id", 0, most) if inner.every("device_id") else None


def _join(reading: _Reading, at: _Message, one: End, other: End, channels: int, one_way: bool) -> None:
    """Join two instances by so many channels; where no devices are named they are spread over the first meshes'."""
    ends = []
    for path, device in (one, other):
        mesh = reading.leading[path]
        ends.append((reading.of[mesh], reading.first[mesh], device))
    (first, begin, device), (second, start, opposite) = ends
    kind = reading.kind(first, second)
    where = f"{reading.name}, line {at.line}"
    if begin == start and device == opposite:
        raise at.refused("a connection joins two different nodes")
    if device is not None and opposite is not None:
        reading.wiring.add(where, begin + device, start + opposite, channels, kind, one_way=one_way)
        return
    reading.spread += 1
    both = min(first.devices, second.devices)
    for k in range(channels):
        place = k * both // channels if channels <= both else k % both
        u, v = (place if d is None else d for d in (device, opposite))
        reading.wiring.add(where, begin + u, start + v, 1, kind, one_way=one_way)


MESH_GRAPH = NetworkFormat(
    name="mesh-graph",
    summary="meshes and tori of accelerators, from a mesh graph descriptor of tt-metal",
    source="gossamer.networks.read_mesh_graph",
    suffixes=(".textproto",),
    read=lambda path, words=None: read_mesh_graph(path, **(words or {})),
    recognizes=lambda text: bool(re.search(r"(?m)^\s*(?:mesh_descriptors|top_level_instance)\s*:?\s*\{", text)),
    form=path_and("link", "latency"),
    parameters="PATH[,link=50GB/s][,latency=1us]",
)
