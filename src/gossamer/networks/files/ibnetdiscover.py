"""What ``ibnetdiscover`` prints: the adapters, switches and cables of an InfiniBand fabric."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from gossamer.atomic_files import bandwidth_text
from gossamer.errors import FileFormatError, shown
from gossamer.networks.builder import PLAIN, LinkKind, NetworkFormat, Wiring
from gossamer.networks.network import Network
from gossamer.networks.routing_tables import CablePorts, Cables, first_ports
from gossamer.networks.structures import Assumption, Assumptions, Speeds, int_array
from gossamer.reading.files import file_name, text_lines

_LANE = {
    "SDR": 2.0, "DDR": 4.0, "QDR": 8.0, "FDR10": 10.0, "FDR": 14.0625 * 64 / 66, "EDR": 25.0, "HDR": 50.0,
    "NDR": 100.0, "XDR": 200.0,
}  # fmt: skip
"""Data that one lane carries, in Gbit/s, after the line code."""

_AGGREGATION = "Aggregation Node"
_NODE = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,4})\s+"([^"]{1,100})"(?:\s*#\s*"([^"]*)")?.*')
_PORT = re.compile(r'\[([0-9]{1,4})\](?:\([0-9a-fA-F]+\))?\s+"([^"]{1,100})"\s*\[([0-9]{1,4})\](.*)')
_OWN_LID = re.compile(r'#\s*(?:"[^"]*".*\bport 0\s+)?lid ([0-9]{1,9})\b')
_OTHER_LID = re.compile(r'"\s*lid ([0-9]{1,9})\b')
_LMC = re.compile(r"\blmc ([0-9]{1,9})\b")
_GUID_OF_PORT = re.compile(r"(?:\[[0-9]{1,4}\])?\(([0-9a-fA-F]{1,16})\)")
_GUID = re.compile(r"[A-Za-z]+-([0-9a-fA-F]{1,16})")
_RATE = re.compile(r"\b([0-9]{1,2})x(?:\s?)([A-Z]{2,4}(?:10)?)\b")


class _Cable(NamedTuple):
    """One end of a cable, and what it says of the other."""

    node: str
    port: int
    other: str
    other_port: int
    kind: LinkKind
    where: str
    told: str


@dataclass
class _Fabric:
    name: str
    kinds: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    ends: dict[tuple[str, int], _Cable] = field(default_factory=dict)
    lids: dict[tuple[str, int], int] = field(default_factory=dict)
    port_guids: dict[tuple[str, int], int] = field(default_factory=dict)
    lmc: dict[int, str] = field(default_factory=dict)


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
        switches contain; either may lack its block where a port of a switch leads to it; switches and routers are
        switches. Labels are the descriptions in
        quotes where each is there once, otherwise the names such as ``H-0002c903000abcd0``. Cables between the same two
        nodes are one link of their capacities together if they are of one speed. Links have the data rate of their
        width and generation (``4xHDR`` is 25 GB/s each way); latencies are not told and 0. If no cable tells its
        speed, links have none.

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
            _lid(fabric, (node, 0), _OWN_LID.search(line), where)
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
    fabric.ends[node, port] = _Cable(node, port, match[2], int(match[3]), kind, where, match[4])
    if fabric.kinds[node] != "Switch":
        _lid(fabric, (node, port), _OWN_LID.search(match[4]), where)
        if told := _LMC.search(match[4]):
            if int(told[1]) > 7:
                raise FileFormatError(f"{where}: an LMC is 0 to 7, got {told[1]}")
            fabric.lmc.setdefault(int(told[1]), where)
    _lid(fabric, (match[2], int(match[3])), _OTHER_LID.search(match[4]), where)
    other = (match[2], int(match[3]))
    for end, guid in (((node, port), _GUID_OF_PORT.match(match[0])), (other, _GUID_OF_PORT.match(match[4]))):
        if guid is not None:
            fabric.port_guids.setdefault(end, int(guid[1], 16))


def _lid(fabric: _Fabric, port: tuple[str, int], told: re.Match[str] | None, where: str) -> None:
    """Keep the local identifier of a port, or at port 0 of a switch."""
    if told is None:
        return
    lid = int(told[1])
    if lid > 0xFFFF or (0xC000 <= lid < 0xFFFF):  # 65535 stands for none
        raise FileFormatError(f"{where}: a LID is 1 to {0xBFFF:,}, or 0 where there is none, got {lid}")
    if 0 < lid < 0xC000 and fabric.lids.setdefault(port, lid) != lid:
        called = f"port {port[1]} of {shown(port[0])}" if port[1] else shown(port[0])
        raise FileFormatError(f"{where}: {called} has LID {lid} here, and {fabric.lids[port]} before")


def _network(fabric: _Fabric, spec: str) -> Network:
    wiring = Wiring(fabric.name)
    inner, assumed = _inner(fabric)
    rates = Counter(cable.kind for cable in fabric.ends.values() if cable.kind != PLAIN)
    usual, silent = rates.most_common(1)[0][0] if rates else PLAIN, 0
    joined: list[tuple[str, int, str, int, LinkKind]] = []
    for cable in fabric.ends.values():
        if cable.node in inner or cable.other in inner:
            continue
        if cable.other not in fabric.kinds:
            raise FileFormatError(f"{cable.where}: there is no node {shown(cable.other)}")
        back = fabric.ends.get((cable.other, cable.other_port))
        if back is not None and (back.other, back.other_port) != (cable.node, cable.port):
            raise FileFormatError(f"{cable.where}: port {cable.other_port} of {shown(cable.other)} leads elsewhere")
        if back is not None and (cable.node, cable.port) > (back.node, back.port):
            continue
        kind = cable.kind if back is None or cable.kind != PLAIN else back.kind
        if back is not None and PLAIN not in (cable.kind, back.kind) and cable.kind != back.kind:
            raise FileFormatError(f"{cable.where}: the two ends of the cable have different speeds")
        silent += kind == PLAIN
        kind = usual if kind == PLAIN else kind
        wiring.add(cable.where, cable.node, cable.other, 1, kind)
        joined.append((cable.node, cable.port, cable.other, cable.other_port, kind))
        joined.append((cable.other, cable.other_port, cable.node, cable.port, kind))
    terminals = [n for n, kind in fabric.kinds.items() if kind == "Ca" and n not in inner]
    if not terminals:
        raise FileFormatError(f"{fabric.name}: there is no channel adapter (Ca)")
    nodes = terminals + [n for n, kind in fabric.kinds.items() if kind != "Ca"]
    times = Counter(fabric.told[n] for n in nodes)
    labels = {n: name if (name := fabric.told[n]) and times[name] == 1 else n for n in nodes}
    nodes.sort(key=lambda n: (fabric.kinds[n] != "Ca", _natural(labels[n])))
    if rates:
        text = "data rates of the widths and generations of the cables, which the file does not tell"
        assumed.append(Assumption(text, "write it as .edges with 'gossamer network FILE -o FILE.edges', and edit that"))
        if silent:
            what = "a cable that tells no speed has" if silent == 1 else f"{silent} cables that tell no speed have"
            assumed.append(Assumption(f"{what} that of most others, {bandwidth_text(usual.bandwidth or 0)}"))
    known = [Assumptions(tuple(assumed))] if assumed else []
    found = wiring.network(spec, nodes, len(terminals), [labels[n] for n in nodes], known)
    ports = _ports(fabric, found, nodes, joined)
    if ports is None:
        return found
    return wiring.network(spec, nodes, len(terminals), [labels[n] for n in nodes], [*known, ports])


def _ports(
    fabric: _Fabric, network: Network, nodes: list[str], joined: list[tuple[str, int, str, int, LinkKind]]
) -> CablePorts | None:
    """Return what the fabric calls its nodes and ports; None where a name tells no GUID."""
    guids = [int(match[1], 16) for n in nodes if (match := _GUID.fullmatch(n))]
    if len(guids) < len(nodes):
        return None
    if len(fabric.lmc) > 1:
        one, (differs, where) = list(fabric.lmc.items())[:2]
        raise FileFormatError(f"{where}: LMC {differs}, and others have {one[0]}; adapters are read that have equally "
                              "many LIDs")  # fmt: skip
    place, cables, speeds = {n: v for v, n in enumerate(nodes)}, Cables.of(network), network.find(Speeds)
    rate = [None] * network.link_count if speeds is None else speeds.bandwidth.tolist()
    waiting: dict[tuple[int, int, float | None], list[tuple[int, int, int]]] = {}
    entry: dict[str, int] = {}
    for node, port, other, far, kind in joined:
        u, v = place[node], place[other]
        waiting.setdefault((u, v, kind.bandwidth), []).append((port if u < v else far, port, far))
        entry[node] = min(port, entry.get(node, port))
    for numbers in waiting.values():
        numbers.sort(reverse=True)  # in the order of the ports at the same end, so that both ways agree
    ends = zip(cables.source.tolist(), cables.target.tolist(), cables.link.tolist(), strict=True)
    ports = [waiting[u, v, rate[link]].pop()[1:] for u, v, link in ends]
    lids, port_guid = [], []
    for n, own in zip(nodes, guids, strict=True):
        mine = (n, entry.get(n, 1) if fabric.kinds[n] == "Ca" else 0)
        lid = fabric.lids.get(mine, 0)
        if not lid and not mine[1]:
            lid = next((known for (m, _), known in fabric.lids.items() if m == n), 0)
        lids.append(lid)
        port_guid.append(fabric.port_guids.get(mine, own) if mine[1] else own)
    near, distant = (int_array([end[k] for end in ports], "ports") for k in (0, 1))
    return CablePorts(
        tuple(guids), tuple(port_guid), int_array(lids, "LIDs"), cables.link, near, distant, next(iter(fabric.lmc), 0)
    )


def _inner(fabric: _Fabric) -> tuple[set[str], list[Assumption]]:
    """Return the aggregation nodes that switches contain, and what was assumed of ends that have no block."""
    inner = {n for n, kind in fabric.kinds.items() if kind == "Ca" and _AGGREGATION in fabric.told[n]}
    without: dict[str, None] = {}
    adapters = 0
    for cable in list(fabric.ends.values()):
        if cable.other not in fabric.kinds and _AGGREGATION in cable.told:
            without[cable.other] = None
        elif cable.other not in fabric.kinds and cable.other.startswith("H-") and fabric.kinds[cable.node] == "Switch":
            adapters += 1
            fabric.kinds[cable.other], fabric.told[cable.other] = "Ca", _described(cable.told)
    assumed = []
    if adapters:
        what = "an adapter has no block Ca" if adapters == 1 else f"{adapters} adapters have no block Ca"
        assumed.append(Assumption(f"{what}: taken from the ports of switches that lead there"))
    if without:
        one = len(without) == 1
        what = "an aggregation node has" if one else f"{len(without)} aggregation nodes have"
        assumed.append(Assumption(f"{what} no block Ca: left out"))
    return inner | set(without), assumed


def _described(told: str) -> str:
    """Return the description in the comment of a port."""
    quoted = re.search('"([^"]*)"', told)
    return quoted[1].strip() if quoted else ""


def _natural(label: str) -> list[tuple[int, str]]:
    """Return a key that puts node2 before node10."""
    return [(int(word or 0), "") if word.isdecimal() else (-1, word) for word in re.split("([0-9]{1,18})", label)]


def write_ibnetdiscover(network: Network, path: Path) -> None:
    """Write a network as ``ibnetdiscover`` prints an InfiniBand fabric, with GUIDs, LIDs and ports.

    Those are what a fabric told, or numbers in order (`CablePorts`). Terminals are adapters. A node of a network
    without switches is a switch and an adapter that is joined to it.
    """
    ports, cables, speeds = CablePorts.of(network), Cables.of(network), network.find(Speeds)
    n, t = network.node_count, network.terminal_count
    if network.shared_ports is not None or not network.plain:
        what = "ports that links share" if network.shared_ports is not None else "times in slots"
        raise FileFormatError(f"ibnetdiscover has no words for {what}, which {network.spec} has")
    alone = n == t and network.find(CablePorts) is None
    width = (
        [""] * network.link_count if speeds is None else [_width(network, rate) for rate in speeds.bandwidth.tolist()]
    )
    names = [network.node_name(v).replace('"', "'") for v in range(n)]
    lids, first = ports.lid.tolist(), cables.first.tolist()
    far, link, entered = ports.far.tolist(), cables.link.tolist(), first_ports(network, ports)
    node_guid = [guid - 1 for guid in ports.port_guid] if alone else list(ports.guid)
    nodes = [(f"H-{node_guid[v]:016x}" if v < t else f"S-{ports.guid[v]:016x}") for v in range(n)]
    switch = [f"S-{guid:016x}" for guid in ports.guid]
    own = [width[max(link[first[v] : first[v + 1]], key=lambda i: 0.0 if speeds is None else speeds.bandwidth[i])]
           if first[v] < first[v + 1] else "" for v in range(t)]  # fmt: skip
    lines = ["#", f"# Topology file: {network.spec}", "#"]
    for v in range(0 if alone else t, n):
        out = range(first[v], first[v + 1])
        most = max((int(ports.port[c]) for c in out), default=0) + alone
        lid, called = lids[v] + (n if alone else 0), f"switch of {names[v]}" if alone else names[v]
        guid = ports.guid[v]
        lines += ["", "vendid=0x0", "devid=0x0", f"sysimgguid=0x{guid:x}", f"switchguid=0x{guid:x}({guid:x})"]
        lines.append(f'Switch\t{most} "{switch[v]}"\t\t# "{called}" base port 0 lid {lid} lmc 0')
        for c in sorted(out, key=lambda c: int(ports.port[c])):
            w = int(cables.target[c])
            adapter = not alone and w < t
            guid_of = f"({ports.port_guid[w] + far[c] - entered[w]:x})" if adapter else ""
            other, whose = (nodes[w] if not alone else switch[w]), lids[w] + (n if alone else 0)
            told = names[w] if not alone else f"switch of {names[w]}"
            lines.append(f'[{ports.port[c]}]\t"{other}"[{far[c]}]{guid_of} \t\t# "{told}" lid {whose}{width[link[c]]}')
        if alone:
            end = f'[{most}]\t"{nodes[v]}"[1]({ports.port_guid[v]:x})'
            lines.append(f'{end} \t\t# "{names[v]}" lid {lids[v]}{own[v]}')
    for v in range(t):
        guid, out = node_guid[v], range(first[v], first[v + 1])
        most = 1 if alone else max((int(ports.port[c]) for c in out), default=1)
        lines += ["", "vendid=0x0", "devid=0x0", f"sysimgguid=0x{guid:x}", f"caguid=0x{guid:x}"]
        lines.append(f'Ca\t{most} "{nodes[v]}"\t\t# "{names[v]}"')
        for c in [] if alone else sorted(out, key=lambda c: int(ports.port[c])):
            w, p = int(cables.target[c]), int(ports.port[c])
            mine = f"lid {lids[v] if p == entered[v] else 0} lmc {ports.lmc}"
            lines.append(f'[{p}]({ports.port_guid[v] + p - entered[v]:x}) \t"{nodes[w]}"[{far[c]}]\t\t# {mine} '
                         f'"{names[w]}" lid {lids[w]}{width[link[c]]}')  # fmt: skip
        if alone:
            up = first[v + 1] - first[v] + 1
            lines.append(f'[1]({ports.port_guid[v]:x}) \t"{switch[v]}"[{up}]\t\t# lid {lids[v]} lmc 0 "switch of '
                         f'{names[v]}" lid {lids[v] + n}{own[v]}')  # fmt: skip
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _width(network: Network, rate: float) -> str:
    """Return the width and generation that has a data rate, as the end of a line."""
    for name, lane in _LANE.items():
        for lanes in (4, 1, 2, 8, 12):
            if abs(lanes * lane * 1e9 / 8 - rate) < 0.005 * rate:
                return f" {lanes}x{name}"
    known = ", ".join(f"4x{name} {bandwidth_text(lane * 1e9 / 2)}" for name, lane in _LANE.items())
    raise FileFormatError(f"{network.spec}: no cable of InfiniBand has {bandwidth_text(rate)}; there are: {known}")


IBNETDISCOVER = NetworkFormat(
    name="ibnetdiscover",
    summary="InfiniBand fabric, from the text that ibnetdiscover prints",
    source="gossamer.networks.read_ibnetdiscover",
    suffixes=(".ibnet",),
    read=read_ibnetdiscover,
    write=write_ibnetdiscover,
    recognizes=lambda text: bool(re.search(r"^(?:vendid=0x|(?:Switch|Ca)\s+[0-9]+\s+\")", text, re.MULTILINE)),
    aliases=("ib",),
)
