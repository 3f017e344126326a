"""Routing tables: the next cable by node and destination, with virtual layers; read and written as InfiniBand dumps."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import check_writable, whole_file
from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks.network import Network
from gossamer.networks.structures import IntArray, Speeds, Structure, int_array
from gossamer.reading.files import file_name, text_lines

__all__ = [
    "MAX_LAYERS", "CablePorts", "Cables", "RoutingTable", "VirtualLanes", "read_routing_table", "write_routing_table",
]  # fmt: skip

Ints = npt.NDArray[np.int64]

MAX_LAYERS = 16
"""Service levels, and virtual lanes for data and management, that InfiniBand has."""

_MOST_ENTRIES = 1 << 28
"""Entries of a table, nodes times terminals, at most (1 GiB)."""
_MOST_CABLES = 1 << 22
_MOST_UNITS = 1 << 20


class Cables(NamedTuple):
    """The directions of the cables of a network: a link of capacity k is k of them, one after the other.

    `source`, `target` and `link` int32[C] in ascending order of `link`, so that those that leave a node are a slice;
    `first` int64[N+1] where those of each node begin; `time` int64[C], how long a packet takes, where the fastest cable
    takes the least whole number by which all are whole numbers.
    """

    source: IntArray
    target: IntArray
    link: IntArray
    first: Ints
    time: Ints

    @classmethod
    def of(cls, network: Network) -> Cables:
        """Return those of a network.

        >>> import gossamer
        >>> Cables.of(gossamer.network("ring:4")).target.tolist()
        [1, 3, 2, 0, 3, 1, 0, 2]
        """
        count = int(network.link_capacity.sum())
        if count > _MOST_CABLES:
            raise NetworkError(f"{network.spec} has {count:,} cables one way; tables are made for {_MOST_CABLES:,}")
        link = np.repeat(np.arange(network.link_count, dtype=np.int32), network.link_capacity)
        source, target = network.link_source[link], network.link_target[link]
        first = np.searchsorted(source, np.arange(network.node_count + 1)).astype(np.int64)
        return cls(source, target, link, first, _times(network)[link])


def _times(network: Network) -> Ints:
    """Return whole numbers in the proportion of the times that a packet takes on the links."""
    speeds = network.find(Speeds)
    slots = network.link_occupancy.astype(np.int64)
    if speeds is not None and slots.size and int(slots.max()) == 1:
        kinds, which = np.unique(speeds.bandwidth, return_inverse=True)
        ratios = [Fraction(float(kinds[-1] / kind)).limit_denominator(1000) for kind in kinds]
        unit = math.lcm(*(ratio.denominator for ratio in ratios))
        each = np.array([min(int(ratio * unit), _MOST_UNITS) for ratio in ratios], np.int64)
        slots = each[which]
    return slots // (int(np.gcd.reduce(slots)) if slots.size else 1)


class VirtualLanes(NamedTuple):
    """The virtual lane on each cable of what has a service level, where it changes from cable to cable.

    `first` uint8[C, 16], by direction of a `Cables` and level, that of messages which begin at the source of the cable;
    `onward` uint8[A, 16] that of messages which come from another cable, by the `arcs` of the cables. On lane 15, which
    is for management, switches drop messages.
    """

    first: npt.NDArray[np.uint8]
    onward: npt.NDArray[np.uint8]

    @staticmethod
    def arcs(cables: Cables) -> Ints:
        """Return int64[C+1]: of cable c followed by the k-th that leaves its target the arc is the c-th entry plus k.

        >>> import gossamer
        >>> VirtualLanes.arcs(Cables.of(gossamer.network("ring:3"))).tolist()
        [0, 2, 4, 6, 8, 10, 12]
        """
        return np.concatenate([[0], np.cumsum(np.diff(cables.first)[cables.target])]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class CablePorts(Structure):
    """What an InfiniBand fabric calls its nodes and the ends of its cables.

    * `guid` (tuple of int): the GUID of each node. Of a network without switches, whose nodes pass messages on, that of
      the switch which a node is beside its adapter.
    * `port_guid` (tuple of int): the GUID of the port that has the LID: of an adapter its cabled port of the least
      number, of a switch its own.
    * `lid` (int32[N]): the local identifier of that port; 0 where it is not told.
    * `link` (int32[C]): the link of each direction of a `Cables`.
    * `port`, `far` (int32[C]): the port of the source that it leaves through, and the port of the target that it
      enters. Of several cables between two nodes the k-th one way is the k-th the other way.
    * `lmc` (int): ports of adapters have ``2**lmc`` LIDs, from `lid` on.
    """

    guid: tuple[int, ...]
    port_guid: tuple[int, ...]
    lid: IntArray
    link: IntArray
    port: IntArray
    far: IntArray
    lmc: int = 0

    def __post_init__(self) -> None:
        for name, what in (("lid", "LIDs"), ("link", "links"), ("port", "ports"), ("far", "ports")):
            object.__setattr__(self, name, int_array(getattr(self, name), what))

    @classmethod
    def of(cls, network: Network) -> CablePorts:
        """Return those that a fabric told, else numbers in the order of nodes and links.

        Terminals have LIDs 1, 2, ... in their order and switches the next ones; the GUID of node v is
        ``2**60 + 256 * v``, that of its port p is larger by p. The ports of a node are 1, 2, ... in the order of its
        links. Of a network without switches, node v is an adapter of that number and switch N + v, and one port more is
        that of the cable between the two.

        Raises
        ------
        NetworkError
            If a link has no opposite of the same capacity.
        """
        known = network.find(cls)
        if known is not None:
            return known
        cables, n, t = Cables.of(network), network.node_count, network.terminal_count
        place = np.arange(cables.source.size) - cables.first[:-1][cables.source] + 1
        order = np.lexsort((cables.time, cables.target, cables.source))
        back = np.lexsort((cables.time, cables.source, cables.target))
        there = [ends[order] for ends in (cables.source, cables.target, cables.time)]
        here = [ends[back] for ends in (cables.target, cables.source, cables.time)]
        if any((one != other).any() for one, other in zip(there, here, strict=True)):
            raise NetworkError(f"{network.spec} has links without an opposite, and cables have two ends")
        far = np.empty_like(place)
        far[order] = place[back]
        shift = n if n == t else 0
        guid = [_first_guid(v + shift) for v in range(n)]
        entry = [
            1 if shift or cables.first[v] == cables.first[v + 1] else int(place[cables.first[v]]) for v in range(t)
        ]
        port_guid = [_first_guid(v) + entry[v] for v in range(t)] + guid[t:]
        return cls(tuple(guid), tuple(port_guid), int_array(np.arange(n) + 1, "LIDs"), cables.link, place, far)

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse another number of nodes or links."""
        fits = len(self.guid) == len(self.port_guid) == self.lid.size == nodes
        fits = fits and self.link.size == self.port.size == self.far.size and int(self.link.max(initial=-1)) < links
        return None if fits else f"names are needed for each of {nodes} nodes, and ports of {links} links"

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep the names of the nodes and the ports of the links that remain."""
        new = np.full(int(self.link.max(initial=-1)) + 1, -1, np.int64)
        new[links] = np.arange(links.size)
        kept = np.flatnonzero(new[self.link] >= 0)
        kept = kept[np.argsort(new[self.link[kept]], kind="stable")]
        guid, port_guid = (tuple(names[v] for v in nodes.tolist()) for names in (self.guid, self.port_guid))
        link = int_array(new[self.link[kept]], "links")
        return CablePorts(guid, port_guid, self.lid[nodes], link, self.port[kept], self.far[kept], self.lmc)

    def with_fewer_cables(self, lost: Ints) -> Structure:
        """Take away the last cables of links."""
        first = np.searchsorted(self.link, self.link, side="left")
        count = np.bincount(self.link)
        kept = np.arange(self.link.size) - first < (count - lost)[self.link]
        link, port, far = self.link[kept], self.port[kept], self.far[kept]
        return CablePorts(self.guid, self.port_guid, self.lid, link, port, far, self.lmc)


def _first_guid(number: int) -> int:
    """Return the GUID that a node has where none is told; those of its ports follow."""
    return 2**60 + 256 * number


@dataclass(frozen=True, eq=False)
class RoutingTable:
    """Which cable a message takes at each node, by its destination; and in which virtual layer it travels.

    * `network` (Network): with N nodes, of which T are terminals.
    * `cable` (int32[N, P*T]): the direction of a `Cables` by which node v sends what is for terminal t, -1 at t itself
      and where there is none. With P LIDs a terminal there are P paths from a source to a destination: column
      ``p*T + t`` is path p to t. Usually P is 1.
    * `layer` (uint8[T, P*T]): the virtual layer of what source s sends to destination t: the service level, and without
      `lanes` the virtual lane on every cable.
    * `name` (str): how it was made, or the file that it was read from.
    * `lanes` (VirtualLanes): the virtual lanes of the service levels.
    """

    network: Network
    cable: IntArray
    layer: npt.NDArray[np.uint8]
    name: str
    lanes: VirtualLanes | None = None

    def __post_init__(self) -> None:
        n, t = self.network.node_count, self.network.terminal_count
        check_size(self.network)
        table = int_array(self.cable, "cables of a routing table")
        object.__setattr__(self, "cable", table)
        layer = np.asarray(self.layer)
        columns = table.shape[1] if table.ndim == 2 else 0
        if (
            table.shape != (n, columns)
            or not columns
            or columns % t
            or layer.shape != (t, columns)
            or (layer.dtype != np.uint8)
        ):
            raise NetworkError(f"a routing table of {self.network.spec} has {n} x {t} cables and {t} x {t} layers")
        if self.lanes is not None:
            shapes = self.lanes.first.shape, self.lanes.onward.shape
            arcs = int(VirtualLanes.arcs(self.cables)[-1])
            if shapes != ((self.cables.source.size, MAX_LAYERS), (arcs, MAX_LAYERS)) or self.layers > MAX_LAYERS:
                told = f"{self.cables.source.size} cables, {arcs} pairs of them and {MAX_LAYERS} levels"
                raise NetworkError(f"virtual lanes of {self.network.spec} are of {told}")
        used = table >= 0
        leaves = self.cables.source[np.where(used, table, 0)] if self.cables.source.size else np.zeros_like(table)
        out = (table < -1) | (table >= self.cables.source.size) | (used & (leaves != np.arange(n)[:, None]))
        if out.any():
            node, target = (int(x) for x in np.argwhere(out)[0])
            name = self.network.node_name
            raise NetworkError(f"routing table: node {name(node)} has no cable {int(table[node, target])} to send to "
                               f"{name(target % t)}")  # fmt: skip

    @cached_property
    def cables(self) -> Cables:
        """The directions of the cables."""
        return Cables.of(self.network)

    @property
    def paths(self) -> int:
        """The number of paths from a source to a destination, P."""
        return int(self.cable.shape[1]) // self.network.terminal_count

    @property
    def layers(self) -> int:
        """The number of virtual layers."""
        return int(self.layer.max(initial=0)) + 1


def check_size(network: Network, paths: int = 1) -> None:
    """Refuse a network whose tables would take more than a gigabyte."""
    n, t = network.node_count, network.terminal_count * paths
    if n * t > _MOST_ENTRIES:
        raise NetworkError(
            f"a routing table of {network.spec} would have {n * t:,} entries; it is made for {_MOST_ENTRIES:,}"
        )


# Files: the dumps of OpenSM and ibroute.
#
# A linear forwarding table says for each switch and local identifier (LID) through which port a packet leaves. The
# service level of a path, source LID to destination LID, is that of OpenSM's dump of path records; which virtual lane a
# service level takes is said for each switch and pair of ports.

_HEAD = re.compile(r"Unicast lids \[[^\]]*\] of switch\b.*?\bguid (0x[0-9a-fA-F]{1,16})\b.*")
_ENTRY = re.compile(r"(0x[0-9a-fA-F]{1,4}|[0-9]{1,5})\s+([0-9]{1,3})\b\s*(?:[:#].*|\(.*)?")
_PORT_GUID = re.compile(r"\bportguid (0x[0-9a-fA-F]{1,16})\b")
_REST = re.compile(r"Lid\s+Out\s+Destination|Port\s+Info|[0-9]+ (?:valid )?lids dumped|#.*|ibwarn:|\*\*\* WARNING")
_PATHS = re.compile(r"(?:Channel Adapter|Switch|Router)\s+0x[0-9a-fA-F]{1,16},\s*base LID ([0-9]{1,5})\b.*")
_PATH = re.compile(r"(0x[0-9a-fA-F]{1,4})\s*:\s*([0-9]{1,3})\s*(?::.*)?")
_RECORD = re.compile(r"(?:PathRecord dump:|([a-z_0-9]+)\.{2,}(\S+))")
_LANES_OF = re.compile(r"(?:Channel Adapter|Switch|Router)\s+(0x[0-9a-fA-F]{1,16})\b.*")
_LANES_HEAD = re.compile(r"#\s*SL2VL table:\s*(?:Lid ([0-9]{1,5})|(.*))")
_LANES_ROW = re.compile(r"(?:ports:\s*in)?\s*([0-9]{1,3}),?\s+(?:out\s+)?([0-9]{1,3})\s*:((?:[\s|]*[0-9]{1,9})*)[\s|]*")
_NO_PORT = _NOT_TOLD = 255
_MOST_LID = 0xBFFF
_SUFFIXES = (".lft", ".sl", ".sl2vl")
_RULE = "#" + "-" * 56


def read_routing_table(
    path: str | PathLike[str],
    network: Network,
    levels: str | PathLike[str] | None = None,
    lanes: str | PathLike[str] | None = None,
) -> RoutingTable:
    """Read a routing table from a dump of the forwarding tables of the switches of an InfiniBand fabric.

    * `path` (path): what ``ibroute`` or ``dump_lfts.sh`` prints for each switch, or OpenSM writes as
      ``opensm-lfts.dump``: a line ``Unicast lids [0x1-0x20] of switch ... guid 0x...`` and a line with LID and port for
      each destination.
    * `network` (Network): the fabric as ``ibnetdiscover`` describes it, with GUIDs, LIDs and ports. Of any other
      network they are numbers in order, as `write_routing_table` uses them.
    * `levels` (path): service levels by source and destination: path records that ``saquery`` prints, or
      ``opensm-path-records.dump``. Default: all are 0.
    * `lanes` (path): virtual lanes of service levels by switch, port in and port out: ``opensm-sl2vl.dump``, or what
      ``smpquery sl2vl LID PORT`` prints for each port of each switch. Default: a lane of its own for each level.

    Returns: its layers are the service levels. What a switch does not say is -1, and so is what leads to another
    adapter, or to another port than that of the LID. Adapters send through the cabled port of the least number. If they
    have several LIDs (LMC above 0), each is a path of its own. Raises `FileFormatError` if (with the line) a switch or
    a port is not in the network, is there twice or something is malformed; or the network does not tell LIDs.

    Destinations that are switches are left out. Nothing is checked that a table may do wrong: `judge` of
    `gossamer.verification.routing_tables` does.
    """
    name, ports, cables = file_name(path), CablePorts.of(network), Cables.of(network)
    n, t = network.node_count, network.terminal_count
    check_size(network, 1 << ports.lmc)
    columns = _numbered(network, ports, t)
    node_of = {guid: v for v, guid in enumerate(ports.guid)}
    leaves = {(int(u), int(p)): c for c, (u, p) in enumerate(zip(cables.source, ports.port, strict=True))}
    entered = first_ports(network, ports)
    owners = {guid: terminal for terminal, guid in enumerate(ports.port_guid[:t])}
    table = np.full((n, t << ports.lmc), -1, np.int32)
    _send_from_adapters(network, ports, table)
    node, done = -1, set[int]()
    told: set[int] = set()
    for number, line in text_lines(path, "a dump of forwarding tables", comment="", pieces={b"\n": 300}):
        where = f"{name}, line {number}"
        if head := _HEAD.fullmatch(line):
            node = node_of.get(int(head[1], 16), -1)
            if node < 0 or (n > t > node):
                raise FileFormatError(f"{where}: {network.spec} has no switch with GUID {head[1]}")
            if node in done:
                raise FileFormatError(f"{where}: the table of {network.node_name(node)} is there twice")
            done.add(node)
            told = set()
            table[node] = -1
        elif entry := _ENTRY.fullmatch(line):
            if node < 0:
                raise FileFormatError(f"{where}: an entry stands before the first line 'Unicast lids ... of switch'")
            lid, port = int(entry[1], 0), int(entry[2])
            if lid in told:
                raise FileFormatError(f"{where}: LID {lid} is there twice")
            told.add(lid)
            column = columns.get(lid, -1)
            if (
                (guid := _PORT_GUID.search(line))
                and (owner := owners.get(int(guid[1], 16), -1)) >= 0
                and (column < 0 or column % t != owner)
            ):
                raise FileFormatError(
                    f"{where}: LID {lid} is one of {network.node_name(owner)}, which has other LIDs in "
                    f"{network.spec}; tables are read beside the ibnetdiscover output of their fabric"
                )
            if column < 0 or column % t == node or port in (0, _NO_PORT):
                continue
            if (node, port) not in leaves:
                raise FileFormatError(f"{where}: port {port} of {network.node_name(node)} has no cable")
            cable = leaves[node, port]
            to = int(cables.target[cable])
            if n == t or to >= t or (to == column % t and int(ports.far[cable]) == entered[to]):
                table[node, column] = cable
        elif not _REST.match(line):
            raise FileFormatError(f"{where}: neither a switch nor an entry such as '0x0004 021', got {shown(line)}")
    if not done:
        raise FileFormatError(f"{name}: there is no line 'Unicast lids ... of switch ... guid 0x...'")
    layer = np.zeros((t, table.shape[1]), np.uint8)
    if levels is not None:
        _read_levels(levels, columns, layer)
    found = None if lanes is None else _read_lanes(lanes, network, ports, cables, leaves)
    return RoutingTable(network, table, layer, Path(path).name, found)


def _read_lanes(
    path: str | PathLike[str], network: Network, ports: CablePorts, cables: Cables, leaves: dict[tuple[int, int], int]
) -> VirtualLanes:
    """Read the virtual lanes of service levels, by switch, port in and port out; adapters have one row.

    Every two cables of a switch must have a row, but for the way back by the same one.
    """
    name, n, t = file_name(path), network.node_count, network.terminal_count
    alone = n == t
    first = np.tile(np.arange(MAX_LAYERS, dtype=np.uint8), (cables.source.size, 1))
    arcs = VirtualLanes.arcs(cables)
    onward = np.full((int(arcs[-1]), MAX_LAYERS), _NOT_TOLD, np.uint8)
    enters = {(int(cables.target[c]), int(far)): c for c, far in enumerate(ports.far)}
    by_guid = {guid: v for v, guid in enumerate(ports.guid)}
    adapters = {guid: v for v, guid in enumerate(ports.port_guid[:t])}
    by_lid = {lid + (n if alone else 0): v for v, lid in enumerate(ports.lid.tolist()) if lid and (alone or v >= t)}
    adapter_lids = {lid + path: v for v, lid in enumerate(ports.lid[:t].tolist()) for path in range(1 << ports.lmc)}
    node, adapter, done = -1, False, set[tuple[int, int, int]]()
    queried = None
    for number, line in text_lines(path, "a dump of virtual lanes", comment="", pieces={b"\n": 200}):
        where = f"{name}, line {number}"
        if head := _LANES_OF.fullmatch(line):
            called, adapter = f"with GUID {head[1]}", line.startswith("Channel")
            node = (adapters if adapter else by_guid).get(int(head[1], 16), -1)
        elif queried := _LANES_HEAD.fullmatch(line):
            if queried[1] is None:
                raise FileFormatError(f"{where}: the switch must be told by its LID, as 'smpquery sl2vl LID PORT' does")
            called, lid = f"with LID {queried[1]}", int(queried[1])
            adapter = lid not in by_lid
            node = adapter_lids.get(lid, -1) if adapter else by_lid[lid]
        if head or queried:
            if node < 0:
                raise FileFormatError(f"{where}: {network.spec} has no switch or adapter {called}")
        elif row := _LANES_ROW.fullmatch(line):
            if node < 0:
                told = "'Switch 0x...' or '# SL2VL table: Lid 7'"
                raise FileFormatError(f"{where}: lanes stand before their switch, a line {told}")
            values = [int(word) for word in re.findall("[0-9]+", row[3])]
            if len(values) != MAX_LAYERS or max(values) >= MAX_LAYERS:
                raise FileFormatError(f"{where}: a row has the lanes 0..{MAX_LAYERS - 1} of {MAX_LAYERS} levels, got "
                                      f"{shown(row[3].strip())}")  # fmt: skip
            into, out = int(row[1]), int(row[2])
            if adapter:
                if not alone:
                    first[cables.first[node] : cables.first[node + 1]] = values
                continue
            if (node, into, out) in done:
                raise FileFormatError(f"{where}: ports {into} and {out} of {network.node_name(node)} are there twice")
            done.add((node, into, out))
            leaving, entering = leaves.get((node, out), -1), enters.get((node, into), -1)
            if leaving >= 0 and entering >= 0:
                onward[arcs[entering] + leaving - cables.first[node]] = values
            elif leaving >= 0 and alone and into == int(np.diff(cables.first)[node]) + 1:
                first[leaving] = values
        elif not line.startswith("#"):
            raise FileFormatError(
                f"{where}: neither a switch nor a row such as '1   2   : 0  1 ...', got {shown(line)}"
            )
    if not alone:
        for c in np.flatnonzero(cables.target < t).tolist():  # adapters pass nothing on
            onward[arcs[c] : arcs[c + 1]] = MAX_LAYERS - 1
    silent = np.flatnonzero(onward[:, 0] == _NOT_TOLD)
    before = np.searchsorted(arcs, silent, side="right") - 1
    after = cables.first[cables.target[before]] + silent - arcs[before]
    back = (cables.target[after] == cables.source[before]) & (ports.far[after] == ports.port[before])
    if not back.all():
        a, b = (int(each[~back][0]) for each in (before, after))
        told = f"port {ports.far[a]} to port {ports.port[b]} of {network.node_name(int(cables.target[a]))}"
        raise FileFormatError(f"{name}: there are no virtual lanes from {told}")
    onward[silent] = MAX_LAYERS - 1
    return VirtualLanes(first, onward)


def _numbered(network: Network, ports: CablePorts, count: int) -> dict[int, int]:
    """Return the column of each LID of a terminal."""
    lids = ports.lid[:count].tolist()
    if 0 in lids:
        missing = network.node_name(lids.index(0))
        raise FileFormatError(f"{network.spec} does not tell the LID of {missing}, which tables are about")
    found: dict[int, int] = {}
    for terminal, base in enumerate(lids):
        for path in range(1 << ports.lmc):
            if base + path in found:
                other = network.node_name(found[base + path] % count)
                raise FileFormatError(f"{network.spec}: {other} and {network.node_name(terminal)} both have LID "
                                      f"{base + path}")  # fmt: skip
            found[base + path] = path * count + terminal
    return found


def first_ports(network: Network, ports: CablePorts) -> list[int]:
    """Return the cabled port of the least number of each terminal, 0 of one without cables."""
    first, port = Cables.of(network).first.tolist(), ports.port.tolist()
    return [min(port[first[v] : first[v + 1]], default=0) for v in range(network.terminal_count)]


def _send_from_adapters(network: Network, ports: CablePorts, table: IntArray) -> None:
    """Let every terminal that is joined to switches send all through its first port; a table says what others do."""
    t, first = network.terminal_count, Cables.of(network).first.tolist()
    for v in range(t if network.node_count > t else 0):
        if first[v] < first[v + 1]:
            table[v] = first[v] + int(np.argmin(ports.port[first[v] : first[v + 1]]))
            table[v, v::t] = -1


def _read_levels(path: str | PathLike[str], columns: dict[int, int], layer: npt.NDArray[np.uint8]) -> None:
    """Fill in the service level of each source and column."""
    name, source, count = file_name(path), -1, layer.shape[0]
    found = False
    record: dict[str, int] = {}

    def put(where: str, source: int, column: int, level: int) -> None:
        if level >= MAX_LAYERS:
            raise FileFormatError(f"{where}: a service level is 0..{MAX_LAYERS - 1}, got {level}")
        if source >= 0 and column >= 0:
            layer[source % count, column] = level

    for number, line in text_lines(path, "a dump of path records", pieces={b"\n": 200}):
        where = f"{name}, line {number}"
        if head := _PATHS.fullmatch(line):
            source, found = columns.get(int(head[1]), -1), True
        elif row := _PATH.fullmatch(line):
            if not found:
                raise FileFormatError(f"{where}: a path stands before its source, a line '... base LID 4 ...'")
            put(where, source, columns.get(int(row[1], 16), -1), int(row[2]))
        elif field := _RECORD.fullmatch(line):  # of saquery: the level follows both LIDs
            found = True
            if field[1] is None:
                record = {}
            elif field[1] in ("slid", "dlid", "sl"):
                if not re.fullmatch(r"0x[0-9a-fA-F]{1,4}|[0-9]{1,5}", field[2]):
                    raise FileFormatError(f"{where}: {field[1]} must be a number, got {shown(field[2])}")
                record[field[1]] = int(field[2], 0)
                if field[1] == "sl" and not {"slid", "dlid"} <= record.keys():
                    raise FileFormatError(f"{where}: a service level stands before the LIDs of its path")
                if field[1] == "sl":
                    put(where, columns.get(record["slid"], -1), columns.get(record["dlid"], -1), record["sl"])
        else:
            raise FileFormatError(f"{where}: neither a source nor a path such as '0x0004 : 1', got {shown(line)}")
    if not found:
        raise FileFormatError(f"{name}: there is no source, a line such as 'Channel Adapter 0x..., base LID 4, ...'")


def write_routing_table(table: RoutingTable, path: str | PathLike[str]) -> None:
    r"""Write a routing table in the formats of OpenSM's dumps.

    `table` (RoutingTable): any. `path` (path): ``.lft``: linear forwarding tables, which ``opensm -R file -U PATH``
    loads; ``.sl``: the service level of each path, as path records; ``.sl2vl``: the virtual lane of each service level,
    by switch, port in and port out. The file appears whole or not at all. Raises `FileFormatError` if the suffix is
    another, the file cannot be written, or there are more than 16 layers.

    >>> import tempfile, pathlib, gossamer
    >>> found = gossamer.routes("fat-tree:k=2,h=2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tables.lft")
    ...     write_routing_table(found.tables, path)
    ...     again = read_routing_table(path, found.tables.network)
    ...     print(path.read_text().splitlines()[1], (again.cable == found.tables.cable).all())
    0x0001 002 # Channel Adapter portguid 0x1000000000000001: '(0,0)' True
    """
    suffix, network = check_suffix(path), table.network
    if table.layers > MAX_LAYERS:
        raise FileFormatError(f"the table has {table.layers} layers; InfiniBand has {MAX_LAYERS} service levels")
    ports = CablePorts.of(network)
    _check_ports(table, ports)
    check_writable(Path(path))
    write = {".lft": _write_tables, ".sl": _write_levels, ".sl2vl": _write_lanes}[suffix]
    with whole_file(Path(path)) as part, part.open("w", encoding="utf-8") as file:
        write(table, ports, file)


def _check_ports(table: RoutingTable, ports: CablePorts) -> None:
    """Refuse what forwarding tables of InfiniBand have no words for."""
    network, t = table.network, table.network.terminal_count
    _numbered(network, ports, t)
    if table.paths not in (1, 1 << ports.lmc):
        raise FileFormatError(f"the table has {table.paths} paths to an adapter, which has {1 << ports.lmc} LIDs")
    most = int(ports.lid.max()) + (t if t == network.node_count else 0) + (1 << ports.lmc) - 1
    if most > _MOST_LID:
        raise FileFormatError(f"{network.spec} would have LIDs to {most:,}, and those of unicast end at {_MOST_LID:,}")
    if int(ports.port.max(initial=0)) >= _NO_PORT:
        raise FileFormatError(f"{network.spec} has switches of {int(ports.port.max())} ports; tables know 1..254")
    if t == network.node_count:
        return
    degree = np.diff(table.cables.first)[:t]
    if degree.max(initial=0) > 1:
        name, most = network.node_name(int(np.argmax(degree > 1))), int(degree[np.argmax(degree > 1)])
        raise FileFormatError(
            f"{name} has {most} cabled ports, each with a LID of its own; tables are written for adapters of one cable"
        )


def check_suffix(path: str | PathLike[str]) -> str:
    """Return the suffix of a file of tables, or refuse it."""
    suffix = Path(path).suffix.lower()
    if suffix not in _SUFFIXES:
        raise FileFormatError(f"tables file {file_name(path)}: the suffix must be one of {', '.join(_SUFFIXES)}")
    return suffix


def _switches(network: Network) -> range:
    """Return the nodes that have forwarding tables: the switches, or all of a network without."""
    n, t = network.node_count, network.terminal_count
    return range(t if t < n else 0, n)


def _write_tables(table: RoutingTable, ports: CablePorts, file: TextIO) -> None:
    network, cables = table.network, table.cables
    n, t = network.node_count, network.terminal_count
    each, alone = 1 << ports.lmc, n == t
    base = ports.lid.tolist()
    own = [lid + (n if alone else 0) for lid in base]  # those of the switches
    told = [f"# Channel Adapter portguid 0x{ports.port_guid[v]:016x}: '{network.node_name(v)}'" for v in range(t)]
    lids = [(base[d] + path, path % table.paths * t + d) for d in range(t) for path in range(each)]
    most = max(lids)[0] if lids else 0
    most, to_switches = max(most, *own), _routes_to_switches(table)
    for v in _switches(network):
        name = network.node_name(v)
        file.write(f"Unicast lids [0-{most}] of switch Lid {own[v]} guid 0x{ports.guid[v]:016x} ('{name}'):\n")
        port = np.where(table.cable[v] < 0, _NO_PORT, ports.port[table.cable[v]])
        if alone:
            port[v::t] = int(cables.first[v + 1] - cables.first[v]) + 1  # that of its own adapter
        rows = [(lid, f"{port[column]:03d} {told[column % t]}") for lid, column in lids if port[column] != _NO_PORT]
        for w in _switches(network):
            at = 0 if w == v else _NO_PORT if to_switches[v, w] < 0 else int(ports.port[to_switches[v, w]])
            if at != _NO_PORT and own[w]:
                rows.append((own[w], f"{at:03d} # Switch portguid 0x{ports.guid[w]:016x}: '{network.node_name(w)}'"))
        file.write("".join(f"0x{lid:04x} {text}\n" for lid, text in sorted(rows)) + f"{most} lids dumped\n")


def _routes_to_switches(table: RoutingTable) -> IntArray:
    """Return the cable by which a node sends what is for a switch, int32[N, N]; -1 where there is none.

    That for an adapter of the switch, so that messages which manage switches take paths that are there already. Those
    to a switch without adapters take fewest cables.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    network, cables = table.network, table.cables
    n, t = network.node_count, network.terminal_count
    if n == t:
        return table.cable[:, :t]
    found = np.full((n, n), -1, np.int32)
    near = cables.target[cables.first[:t][np.diff(cables.first)[:t] > 0]]  # the switch of each adapter
    terminals = np.flatnonzero(np.diff(cables.first)[:t] > 0)
    found[:, near] = table.cable[:, terminals]
    bare = np.setdiff1d(np.arange(t, n), near)
    between = np.flatnonzero((cables.source >= t) & (cables.target >= t))
    ends = cables.target[between], cables.source[between]  # against the direction of messages
    graph = coo_array((np.ones(between.size), ends), (n, n)).tocsr()
    _, onward = dijkstra(graph, unweighted=True, indices=bare, return_predecessors=True)
    cable_of = {(int(cables.source[c]), int(cables.target[c])): c for c in between[::-1].tolist()}
    for w, row in zip(bare.tolist(), onward.tolist(), strict=True):
        for v in range(t, n):
            found[v, w] = cable_of.get((v, row[v]), -1)
    return found


def _write_levels(table: RoutingTable, ports: CablePorts, file: TextIO) -> None:
    t, each = table.network.terminal_count, 1 << ports.lmc
    lids, name = ports.lid.tolist(), table.network.node_name
    entered = first_ports(table.network, ports)
    alone = t == table.network.node_count
    for s in range(t):
        first = 1 if alone or not entered[s] else entered[s]
        file.write(f'Channel Adapter 0x{ports.port_guid[s]:016x}, base LID {lids[s]}, "{name(s)}", port {first}\n')
        rows = [(lids[d] + path, table.layer[s, path % table.paths * t + d]) for d in range(t) for path in range(each)
                if d != s]  # fmt: skip
        file.write("# LID  : SL\n" + "".join(f"0x{lid:04X} : {int(level):<2d}\n" for lid, level in rows) + "\n")


def _write_lanes(table: RoutingTable, ports: CablePorts, file: TextIO) -> None:
    network, t, cables = table.network, table.network.terminal_count, table.cables
    own = [min(level, table.layers - 1) for level in range(MAX_LAYERS)]
    arcs = VirtualLanes.arcs(cables)
    leaves = {(int(u), int(p)): c for c, (u, p) in enumerate(zip(cables.source, ports.port, strict=True))}
    enters = {(int(v), int(p)): c for c, (v, p) in enumerate(zip(cables.target, ports.far, strict=True))}

    def told(node: int, into: int, out: int) -> str:
        values = own
        leaving, entering = leaves.get((node, out), -1), enters.get((node, into), -1)
        if table.lanes is not None and leaving >= 0:
            rows = table.lanes.first[leaving] if entering < 0 else (
                table.lanes.onward[arcs[entering] + leaving - cables.first[node]])  # fmt: skip
            values = rows.tolist()
        return "".join(f" {lane:<2d}" for lane in values)

    head = "#in out :" + "".join(f" {level:<2d}" for level in range(MAX_LAYERS))
    alone = t == network.node_count
    for v in range(t):
        called = f'Channel Adapter 0x{ports.port_guid[v]:016x}, base LID {int(ports.lid[v])}, "{network.node_name(v)}"'
        first = -1 if alone or cables.first[v] == cables.first[v + 1] else int(ports.port[cables.first[v]])
        file.write(f"{called}\n{head}\n{_RULE}\n0   0   :{told(v, -1, first)}\n{_RULE}\n\n")
    for v in _switches(network):
        mine = sorted(ports.port[table.cables.first[v] : table.cables.first[v + 1]].tolist())
        mine += [len(mine) + 1] if alone else []
        lid = int(ports.lid[v]) + (t if alone else 0)
        file.write(f'Switch 0x{ports.guid[v]:016x}, base LID {lid}, "{network.node_name(v)}"\n{head}\n{_RULE}\n')
        rows: Iterator[tuple[int, int]] = itertools.product(mine, [0, *mine])
        file.write("".join(f"{into:<3d} {out:<3d} :{told(v, into, out)}\n" for out, into in rows) + f"{_RULE}\n\n")
