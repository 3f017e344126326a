"""What ``ibnetdiscover`` prints: the adapters, switches and cables of an InfiniBand fabric."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from gossamer.errors import FileFormatError, shown
from gossamer.networks.builder import PLAIN, LinkKind, Wiring
from gossamer.networks.files.format import NetworkFormat
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, text_lines

__all__ = ["IBNETDISCOVER", "read_ibnetdiscover"]

_LANE = {
    "SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 14.0625 * 64 / 66, "EDR": 25.0, "HDR": 50.0,
    "NDR": 100.0, "XDR": 200.0,
}  # fmt: skip
"""Data that one lane carries, in Gbit/s, after the line code."""

_NODE = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,4})\s+"([^"]{1,100})"(?:\s*#\s*"([^"]*)")?.*')
_PORT = re.compile(r'\[([0-9]{1,4})\](?:\([0-9a-fA-F]+\))?\s+"([^"]{1,100})"\s*\[([0-9]{1,4})\](.*)')
_RATE = re.compile(r"\b([0-9]{1,2})x(?:\s?)([A-Z]DR(?:10)?)\b")


class _Cable(NamedTuple):
    """One end of a cable, and what it says of the other."""

    node: str
    port: int
    other: str
    other_port: int
    kind: LinkKind
    where: str


@dataclass
class _Fabric:
    name: str
    kinds: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    ends: dict[tuple[str, int], _Cable] = field(default_factory=dict)


def read_ibnetdiscover(path: str | PathLike[str]) -> Network:
    """Read an InfiniBand fabric from the text that ``ibnetdiscover`` prints.

    Parameters
    ----------
    path : path
        The text.

    Returns
    -------
    Network
        Channel adapters (``Ca``) are the terminals, in the order of their names, but for the aggregation nodes that
        switches contain; switches and routers are switches. Labels are the descriptions in quotes where each is there
        once, otherwise the names such as ``H-0002c903000abcd0``. Cables between the same two nodes are one link of
        their capacities together if they are of one speed. Links have the data rate of their width and generation
        (``4xHDR`` is 25 GB/s each way); latencies are not told and 0. If no cable tells its speed, links have none.

    Raises
    ------
    FileFormatError
        If the text has no adapter, or (with the line number) is malformed, or the two ends of a cable contradict each
        other.
    """
    fabric = _Fabric(f"ibnetdiscover output {file_name(path)}")
    node = ""
    for place, line in text_lines(path, "the text of ibnetdiscover", comment="", pieces={b"\n": 800}):
        where = f"{fabric.name}, line {place}"
        if line.startswith(("#", "vendid=", "devid=", "sysimgguid=", "switchguid=", "caguid=", "rtguid=", "Chassis ")):
            continue
        if declared := _NODE.fullmatch(line):
            node = declared[3]
            if node in fabric.kinds:
                raise FileFormatError(f"{where}: node {shown(node)} is there twice")
            fabric.kinds[node], fabric.told[node] = declared[1], (declared[4] or "").strip()
        elif cable := _PORT.fullmatch(line):
            _end(fabric, node, cable, where)
        else:
            raise FileFormatError(f"{where}: neither a node nor a port, got {shown(line)}")
    return _network(fabric, f"ibnetdiscover:{path}")


def _end(fabric: _Fabric, node: str, match: re.Match[str], where: str) -> None:
    if not node:
        raise FileFormatError(f"{where}: a port stands before the first node")
    rate = _RATE.search(match[4].rpartition('"')[2])
    if rate is not None and rate[2] not in _LANE:
        raise FileFormatError(f"{where}: the speed {shown(rate[0])} is not known; there are: {', '.join(_LANE)}")
    kind = PLAIN if rate is None else LinkKind(int(rate[1]) * _LANE[rate[2]] * 1e9 / 8, 0.0)
    port = int(match[1])
    if (node, port) in fabric.ends:
        raise FileFormatError(f"{where}: port {port} of {shown(node)} is there twice")
    fabric.ends[node, port] = _Cable(node, port, match[2], int(match[3]), kind, where)


def _network(fabric: _Fabric, spec: str) -> Network:
    wiring = Wiring(fabric.name)
    inner = {n for n, kind in fabric.kinds.items() if kind == "Ca" and "Aggregation Node" in fabric.told[n]}
    for cable in fabric.ends.values():
        if cable.other not in fabric.kinds:
            raise FileFormatError(f"{cable.where}: there is no node {shown(cable.other)}")
        back = fabric.ends.get((cable.other, cable.other_port))
        if back is not None and (back.other, back.other_port) != (cable.node, cable.port):
            raise FileFormatError(f"{cable.where}: port {cable.other_port} of {shown(cable.other)} leads elsewhere")
        first = back is None or (cable.node, cable.port) < (back.node, back.port)
        if cable.node in inner or cable.other in inner or not first:
            continue
        kind = cable.kind if back is None or cable.kind != PLAIN else back.kind
        if back is not None and PLAIN not in (cable.kind, back.kind) and cable.kind != back.kind:
            raise FileFormatError(f"{cable.where}: the two ends of the cable have different speeds")
        wiring.add(cable.where, cable.node, cable.other, 1, kind)
    terminals = [n for n, kind in fabric.kinds.items() if kind == "Ca" and n not in inner]
    if not terminals:
        raise FileFormatError(f"{fabric.name}: there is no channel adapter (Ca)")
    nodes = terminals + [n for n, kind in fabric.kinds.items() if kind != "Ca"]
    times = Counter(fabric.told[n] for n in nodes)
    labels = {n: told if (told := fabric.told[n]) and times[told] == 1 else n for n in nodes}
    nodes.sort(key=lambda n: (fabric.kinds[n] != "Ca", _natural(labels[n])))
    return wiring.network(spec, nodes, len(terminals), [labels[n] for n in nodes])


def _natural(label: str) -> list[tuple[int, str]]:
    """Return a key that puts node2 before node10."""
    return [(int(word or 0), "") if word.isdecimal() else (-1, word) for word in re.split("([0-9]{1,18})", label)]


IBNETDISCOVER = NetworkFormat(
    name="ibnetdiscover",
    summary="InfiniBand fabric, from the text that ibnetdiscover prints",
    source="gossamer.networks.read_ibnetdiscover",
    suffixes=(".ibnet",),
    read=read_ibnetdiscover,
    recognizes=lambda text: bool(re.search(r"^(?:vendid=0x|(?:Switch|Ca)\s+[0-9]+\s+\")", text, re.MULTILINE)),
    aliases=("ib",),
)
