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

__all__ = ["MAX_LAYERS", "CablePorts", "Cables", "RoutingTable", "read_routing_table", "write_routing_table"]

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


@dataclass(frozen=True, eq=False)
class CablePorts(Structure):
    """What an InfiniBand fabric calls its nodes and the ends of its cables.

    Attributes
    ----------
    guid : tuple of int
        The GUID of each node; of an adapter that of the port that is cabled first.
    lid : int32[N]
        The local identifier of each node; 0 where it is not told.
    port : int32[C]
        The port of the source of each direction of a `Cables` that it leaves through.
    """

    guid: tuple[int, ...]
    lid: IntArray
    port: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "lid", int_array(self.lid, "local identifiers"))
        object.__setattr__(self, "port", int_array(self.port, "ports"))

    @classmethod
    def of(cls, network: Network) -> CablePorts:
        """Return those that a fabric told, else numbers in the order of nodes and links.

        Terminals have LIDs 1, 2, ... in their order and switches the next ones; the GUID of node v is ``2**60 + v``;
        the ports of a node are 1, 2, ... in the order of its links, and one port more is that of the adapter of a node
        that is a terminal and passes messages on.
        """
        known = network.find(cls)
        if known is not None:
            return known
        cables = Cables.of(network)
        nodes = np.arange(network.node_count)
        place = np.arange(cables.source.size) - cables.first[:-1][cables.source]
        return cls(
            tuple(2**60 + v for v in nodes.tolist()), int_array(nodes + 1, "LIDs"), int_array(place + 1, "ports")
        )

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse another number of nodes."""
        return None if len(self.guid) == self.lid.size == nodes else f"names are needed for each of {nodes} nodes"


@dataclass(frozen=True, eq=False)
class RoutingTable:
    """Which cable a message takes at each node, by its destination; and in which virtual layer it travels.

    Attributes
    ----------
    network : Network
        With N nodes, of which T are terminals.
    cable : int32[N, T]
        The direction of a `Cables` by which node v sends what is for terminal t, -1 at t itself and where there is
        none.
    layer : uint8[T, T]
        The virtual layer of what source s sends to destination t: the service level, and the virtual lane on every
        cable.
    name : str
        How it was made, or the file that it was read from.
    """

    network: Network
    cable: IntArray
    layer: npt.NDArray[np.uint8]
    name: str

    def __post_init__(self) -> None:
        n, t = self.network.node_count, self.network.terminal_count
        check_size(self.network)
        table = int_array(self.cable, "cables of a routing table")
        object.__setattr__(self, "cable", table)
        layer = np.asarray(self.layer)
        if table.shape != (n, t) or layer.shape != (t, t) or layer.dtype != np.uint8:
            raise NetworkError(f"a routing table of {self.network.spec} has {n} x {t} cables and {t} x {t} layers")
        used = table >= 0
        leaves = self.cables.source[np.where(used, table, 0)] if self.cables.source.size else np.zeros_like(table)
        out = (table < -1) | (table >= self.cables.source.size) | (used & (leaves != np.arange(n)[:, None]))
        if out.any():
            node, target = (int(x) for x in np.argwhere(out)[0])
            name = self.network.node_name
            raise NetworkError(f"routing table: node {name(node)} has no cable {int(table[node, target])} to send to "
                               f"{name(target)}")  # fmt: skip

    @cached_property
    def cables(self) -> Cables:
        """The directions of the cables."""
        return Cables.of(self.network)

    @property
    def layers(self) -> int:
        """The number of virtual layers."""
        return int(self.layer.max(initial=0)) + 1


def check_size(network: Network) -> None:
    """Refuse a network whose tables would take more than a gigabyte."""
    n, t = network.node_count, network.terminal_count
    if n * t > _MOST_ENTRIES:
        raise NetworkError(
            f"a routing table of {network.spec} would have {n * t:,} entries; it is made for {_MOST_ENTRIES:,}"
        )


# Files: the dumps of OpenSM and ibroute.
#
# A linear forwarding table says for each switch and local identifier (LID) through which port a packet leaves. The
# service level of a path, source LID to destination LID, is that of OpenSM's dump of path records; which virtual lane a
# service level takes is said for each switch and pair of ports, here the lane of the same number.

_HEAD = re.compile(r"Unicast lids \[[^\]]*\] of switch\b.*?\bguid (0x[0-9a-fA-F]{1,16})\b.*")
_ENTRY = re.compile(r"(0x[0-9a-fA-F]{1,4}|[0-9]{1,5})\s+([0-9]{1,3})\b\s*(?:[:#].*|\(.*)?")
_REST = re.compile(r"Lid\s+Out\s+Destination|Port\s+Info|[0-9]+ (?:valid )?lids dumped|#.*")
_PATHS = re.compile(r"(?:Channel Adapter|Switch|Router)\s+0x[0-9a-fA-F]{1,16},\s*base LID ([0-9]{1,5})\b.*")
_PATH = re.compile(r"(0x[0-9a-fA-F]{1,4})\s*:\s*([0-9]{1,3})\s*(?::.*)?")
_NO_PORT = 255
_SUFFIXES = (".lft", ".sl", ".sl2vl")
_RULE = "#" + "-" * 56


def read_routing_table(
    path: str | PathLike[str], network: Network, levels: str | PathLike[str] | None = None
) -> RoutingTable:
    """Read a routing table from a dump of the forwarding tables of the switches of an InfiniBand fabric.

    Parameters
    ----------
    path : path
        What ``ibroute`` or ``dump_lfts.sh`` prints for each switch, or OpenSM writes as ``opensm-lfts.dump``: a line
        ``Unicast lids [0x1-0x20] of switch ... guid 0x...`` and a line with LID and port for each destination.
    network : Network
        The fabric as ``ibnetdiscover`` describes it, with GUIDs, LIDs and ports. Of any other network they are numbers
        in order, as `write_routing_table` uses them.
    levels : path, optional
        Service levels by source and destination, as OpenSM's ``opensm-path-records.dump``. Default: all are 0.

    Returns
    -------
    RoutingTable
        Its layers are the service levels. What a switch does not say is -1; adapters send through their first cable.

    Raises
    ------
    FileFormatError
        If (with the line) a switch or a port is not in the network, is there twice or something is malformed; or the
        network does not tell LIDs.

    Notes
    -----
    Destinations that are switches are left out. Nothing is checked that a table may do wrong: `judge` of
    `gossamer.verification.routing_tables` does.
    """
    name, ports, cables = file_name(path), CablePorts.of(network), Cables.of(network)
    check_size(network)
    n, t = network.node_count, network.terminal_count
    targets = _numbered(network, ports, t)
    node_of = {guid: v for v, guid in enumerate(ports.guid)}
    leaves = {(int(u), int(p)): c for c, (u, p) in enumerate(zip(cables.source, ports.port, strict=True))}
    table = np.full((n, t), -1, np.int32)
    _send_from_adapters(network, cables, table)
    node, done = -1, set[int]()
    told: set[int] = set()
    for number, line in text_lines(path, "a dump of forwarding tables", comment="", pieces={b"\n": 300}):
        where = f"{name}, line {number}"
        if head := _HEAD.fullmatch(line):
            node = node_of.get(int(head[1], 16), -1)
            if node < 0:
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
            target = targets.get(lid, -1)
            if target < 0 or target == node or port in (0, _NO_PORT):
                continue
            if (node, port) not in leaves:
                raise FileFormatError(f"{where}: port {port} of {network.node_name(node)} has no cable")
            table[node, target] = leaves[node, port]
        elif not _REST.match(line):
            raise FileFormatError(f"{where}: neither a switch nor an entry such as '0x0004 021', got {shown(line)}")
    if not done:
        raise FileFormatError(f"{name}: there is no line 'Unicast lids ... of switch ... guid 0x...'")
    layer = np.zeros((t, t), np.uint8) if levels is None else _read_levels(levels, targets, t)
    return RoutingTable(network, table, layer, Path(path).name)


def _numbered(network: Network, ports: CablePorts, count: int) -> dict[int, int]:
    """Return the terminal of each LID."""
    lids = ports.lid[:count].tolist()
    if 0 in lids:
        missing = network.node_name(lids.index(0))
        raise FileFormatError(f"{network.spec} does not tell the LID of {missing}, which tables are about")
    return {lid: terminal for terminal, lid in enumerate(lids)}


def _send_from_adapters(network: Network, cables: Cables, table: IntArray) -> None:
    """Let every terminal that is joined to switches send all through its first cable; a table says what others do."""
    for v in range(network.terminal_count if network.node_count > network.terminal_count else 0):
        if cables.first[v] < cables.first[v + 1]:
            table[v] = cables.first[v]
            table[v, v] = -1


def _read_levels(path: str | PathLike[str], terminals: dict[int, int], count: int) -> npt.NDArray[np.uint8]:
    name, source = file_name(path), -1
    layer = np.zeros((count, count), np.uint8)
    found = False
    for number, line in text_lines(path, "a dump of path records", pieces={b"\n": 200}):
        where = f"{name}, line {number}"
        if head := _PATHS.fullmatch(line):
            source, found = terminals.get(int(head[1]), -1), True
        elif row := _PATH.fullmatch(line):
            if not found:
                raise FileFormatError(f"{where}: a path stands before its source, a line '... base LID 4 ...'")
            level, target = int(row[2]), terminals.get(int(row[1], 16), -1)
            if level >= MAX_LAYERS:
                raise FileFormatError(f"{where}: a service level is 0..{MAX_LAYERS - 1}, got {level}")
            if source >= 0 and target >= 0:
                layer[source, target] = level
        else:
            raise FileFormatError(f"{where}: neither a source nor a path such as '0x0004 : 1', got {shown(line)}")
    if not found:
        raise FileFormatError(f"{name}: there is no source, a line such as 'Channel Adapter 0x..., base LID 4, ...'")
    return layer


def write_routing_table(table: RoutingTable, path: str | PathLike[str]) -> None:
    r"""Write a routing table in the formats of OpenSM's dumps.

    Parameters
    ----------
    table : RoutingTable
        Any.
    path : path
        ``.lft``: linear forwarding tables, which ``opensm -R file -U PATH`` loads; ``.sl``: the service level of each
        path, as path records; ``.sl2vl``: the virtual lane of each service level, by switch, port in and port out. The
        file appears whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is another, the file cannot be written, or there are more than 16 layers.

    Examples
    --------
    >>> import tempfile, pathlib, gossamer
    >>> found = gossamer.routes("fat-tree:k=2,h=2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "tables.lft")
    ...     write_routing_table(found.tables, path)
    ...     again = read_routing_table(path, found.tables.network)
    ...     print(path.read_text().splitlines()[1], (again.cable == found.tables.cable).all())
    0x0001 002 # Channel Adapter portguid 0x1000000000000000: '(0,0)' True
    """
    suffix = check_suffix(path)
    if table.layers > MAX_LAYERS:
        raise FileFormatError(f"the table has {table.layers} layers; InfiniBand has {MAX_LAYERS} service levels")
    _numbered(table.network, CablePorts.of(table.network), table.network.terminal_count)
    check_writable(Path(path))
    write = {".lft": _write_tables, ".sl": _write_levels, ".sl2vl": _write_lanes}[suffix]
    with whole_file(Path(path)) as part, part.open("w", encoding="utf-8") as file:
        write(table, CablePorts.of(table.network), file)


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
    network = table.network
    t = network.terminal_count
    lids = ports.lid.tolist()
    order = sorted(range(t), key=lambda v: lids[v])
    told = [f"# Channel Adapter portguid 0x{ports.guid[v]:016x}: '{network.node_name(v)}'" for v in range(t)]
    for v in _switches(network):
        name = network.node_name(v)
        file.write(f"Unicast lids [0-{max(lids)}] of switch Lid {lids[v]} guid 0x{ports.guid[v]:016x} ('{name}'):\n")
        port = np.where(table.cable[v] < 0, _NO_PORT, ports.port[table.cable[v]])
        if v < t:
            port[v] = int(table.cables.first[v + 1] - table.cables.first[v]) + 1  # that of its own adapter
        rows = [f"0x{lids[d]:04x} {port[d]:03d} {told[d]}\n" for d in order if port[d] != _NO_PORT]
        file.write("".join(rows) + f"{max(lids)} lids dumped\n")


def _write_levels(table: RoutingTable, ports: CablePorts, file: TextIO) -> None:
    t = table.network.terminal_count
    lids, name = ports.lid.tolist(), table.network.node_name
    for s in range(t):
        first = int(ports.port[table.cables.first[s]]) if table.cables.first[s] < table.cables.first[s + 1] else 1
        head = f'Channel Adapter 0x{ports.guid[s]:016x}, base LID {lids[s]}, "{name(s)}", port {first}'
        rows = [f"0x{lids[d]:04X} : {int(level):<2d}\n" for d, level in enumerate(table.layer[s].tolist()) if d != s]
        file.write(f"{head}\n# LID  : SL\n" + "".join(rows) + "\n")


def _write_lanes(table: RoutingTable, ports: CablePorts, file: TextIO) -> None:
    lanes = "".join(f" {min(level, table.layers - 1):<2d}" for level in range(MAX_LAYERS))
    head = "#in out :" + "".join(f" {level:<2d}" for level in range(MAX_LAYERS))
    for v in _switches(table.network):
        mine = sorted(ports.port[table.cables.first[v] : table.cables.first[v + 1]].tolist())
        mine += [len(mine) + 1] if v < table.network.terminal_count else []
        name, lid = table.network.node_name(v), int(ports.lid[v])
        file.write(f'Switch 0x{ports.guid[v]:016x}, base LID {lid}, "{name}"\n{head}\n{_RULE}\n')
        rows: Iterator[tuple[int, int]] = itertools.product(mine, [0, *mine])
        file.write("".join(f"{into:<3d} {out:<3d} :{lanes}\n" for out, into in rows) + f"{_RULE}\n\n")
