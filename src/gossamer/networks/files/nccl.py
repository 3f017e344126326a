"""What NCCL and RCCL dump as XML: the topology of a server, and the rings and trees that they chose on it.

``NCCL_TOPO_DUMP_FILE`` has GPUs, NVLinks or xGMI, PCI Express and CPUs, ``NCCL_GRAPH_DUMP_FILE`` channels.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike
from typing import NamedTuple

from gossamer.atomic_files import bandwidth_text, quantity
from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import Element, file_name, read_xml

_NVLINK = {60: 20e9, 70: 25e9, 80: 25e9, 86: 14.0625e9, 90: 25e9, 100: 50e9}
"""Bytes a second of one NVLink, each way, from the compute capability on at which a GPU has them."""

_XGMI = {"906": 46e9, "908": 46e9, "90a": 50e9, "910": 50e9, "940": 64e9, "941": 64e9, "942": 64e9, "950": 76.8e9}
"""Bytes a second of one xGMI link, each way, of AMD's GPUs by the number of their instruction set, from data sheets."""

_CPUS = 10e9
"""Bytes a second between two CPUs, which the file does not tell: what NCCL takes for Intel processors since 2017."""

_SWITCH, _CPU = "0x068000", "0x068001"

_PCI = ("pci", "gpu", "nic")
"""What is in a place of PCI Express."""
_DIRECT = ("nvlink", "xgmi", "c2c")
"""Links of a GPU beside PCI Express."""

_Given = dict[str, LinkKind | None]


@dataclass
class _Server:
    """What has been found so far."""

    name: str
    path: str
    wiring: Wiring
    given: _Given
    gpus: dict[str, Element] = field(default_factory=dict)  # by bus
    switches: dict[str, None] = field(default_factory=dict)
    direct: list[tuple[str, Element, str]] = field(default_factory=list)
    assumed: dict[str, Assumption] = field(default_factory=dict)

    def where(self, element: Element) -> str:
        return f"{self.name}, line {element.line}"

    def kind(self, of: str, rate: float, text: str) -> LinkKind:
        """Return the kind of links that was asked for, else that of a rate, which is assumed in words."""
        asked = self.given[of]
        if asked is not None and asked.bandwidth is not None:
            return asked
        told = f"{text} of {bandwidth_text(rate)} each way"
        self.assumed.setdefault(told, Assumption(told, f"nccl:{self.path},{of}=RATE"))
        return LinkKind(rate, None if asked is None else asked.latency)

    def plain(self, rate: float) -> LinkKind:
        """Return the kind of links whose rate the file tells."""
        asked = self.given["pcie"]
        return LinkKind(rate, None if asked is None else asked.latency)


def read_nccl_topology(
    path: str | PathLike[str],
    *,
    nvlink: str | None = None,
    xgmi: str | None = None,
    cpus: str | None = None,
    latency: str | None = None,
) -> Network:
    """Read the GPUs of a server from a topology file of NCCL or RCCL.

    Parameters
    ----------
    path : path
        XML as NCCL writes it to ``NCCL_TOPO_DUMP_FILE``.
    nvlink, xgmi : str, optional
        Bandwidth of one NVLink or xGMI link, each way, such as ``25GB/s``. Default: what GPUs of the compute capability
        ``sm``, or of the instruction set ``gcn``, have.
    cpus : str, optional
        Bandwidth between two CPUs, each way. Default: 10 GB/s.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

    Returns
    -------
    Network
        The GPUs are the terminals, in the order of their ranks (or else of their device numbers), labeled ``GPU0``...;
        PCI Express switches, CPUs and NVSwitches are switches. Links have speeds: PCI Express what its attributes
        ``link_speed`` and ``link_width`` say, a connection from chip to chip (``c2c``) what it says; NVLinks, xGMI and
        those of CPUs, which the file only counts, as above. ``count`` NVLinks to one place are a link of that
        capacity. Network adapters, and switches that lead to nothing else, are left out.

    Raises
    ------
    FileFormatError
        If the file is no such XML, or (with the line number) an element lacks an attribute or has an illegal one.
    """
    root = read_xml(path, "NCCL topology")
    name = f"NCCL topology {file_name(path)}"
    if root.name != "system":
        raise FileFormatError(
            f"{name}, line {root.line}: the outermost element must be 'system', got {shown(root.name)}"
        )
    if (version := root.attributes.get("version", "1")) not in ("1", "2"):
        raise FileFormatError(f"{name}, line {root.line}: version must be 1 or 2, got {shown(version)}")
    rates = {"nvlink": nvlink, "xgmi": xgmi, "cpus": cpus, "pcie": None}
    given: _Given = {
        of: attributed(f"{name}: {of}", {"bandwidth": rate, "latency": latency}, FileFormatError)[1]
        for of, rate in rates.items()
    }
    server = _Server(name, str(path), Wiring(name), given)
    found = []
    for cpu in root.all("cpu"):
        found.append(f"CPU{_attribute(server, cpu, 'numaid')}")
        if found[-1] in server.switches:
            raise FileFormatError(f"{server.where(cpu)}: {found[-1]} is there twice")
        server.switches[found[-1]] = None
        for pci in cpu.all("pci"):
            _pci(server, pci, found[-1], found[-1])
    if not server.gpus:
        raise FileFormatError(f"{name}: there is no element 'gpu'")
    for bus, link, near in server.direct:
        _direct(server, bus, link, near)
    _check_both_ways(server)
    if len(found) > 1:
        between = server.kind("cpus", _CPUS, "links between CPUs, which the file does not tell,")
        for i, one in enumerate(found):
            for other in found[:i]:
                server.wiring.add(name, one, other, 1, between)
    order = _order(server)
    labels = {bus: f"GPU{i}" for i, bus in enumerate(order)}
    kept = _pruned(server)
    if sum(name in server.switches for name in found) < 2:
        server.assumed = {text: each for text, each in server.assumed.items() if ",cpus=" not in each.change}
    known = [Assumptions(tuple(server.assumed.values()))] if server.assumed else []
    return kept.network(
        f"nccl:{path}", nodes := [*order, *server.switches], len(order), [labels.get(n, n) for n in nodes], known
    )


def _pci(server: _Server, pci: Element, above: str, cpu: str) -> None:
    """Add a place of PCI Express, what is in it, and its link to what is above."""
    bus = _attribute(server, pci, "busid").lower()
    kind = server.plain(_pci_rate(server, pci))
    gpus = list(pci.all("gpu"))
    if len(gpus) > 1 or bus in server.gpus or bus in server.switches:
        raise FileFormatError(f"{server.where(pci)}: busid {shown(bus)} is there twice")
    if gpus:
        server.gpus[bus] = gpus[0]
        for link in gpus[0].inner:
            if link.name in _DIRECT:
                server.direct.append((bus, link, cpu))
            elif hint := nearest(link.name, _DIRECT):  # others of newer versions are passed over, as NCCL does
                raise FileFormatError(f"{server.where(link)}: element {shown(link.name)} is not known{hint}")
    else:
        server.switches[bus] = None
    server.wiring.add(server.where(pci), bus, above, 1, kind)
    for inner in pci.inner:
        if inner.name == "pci":
            _pci(server, inner, bus, cpu)
        elif inner.name not in _PCI and (hint := nearest(inner.name, _PCI)):
            raise FileFormatError(f"{server.where(inner)}: element {shown(inner.name)} is not known{hint}")


def _pci_rate(server: _Server, pci: Element) -> float:
    """Return the bytes a second of a PCI Express connection: of its lanes, after the line code of its generation."""
    speed, width = pci.attributes.get("link_speed", ""), pci.attributes.get("link_width", "")
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,3})?) *GT/s.*", speed)
    lanes = int(width) if re.fullmatch("[0-9]{1,3}", width) else 0
    if not speed or (match is None and speed.lower().startswith("unknown")) or width == "0":
        return 12e9  # what NCCL takes where the system does not tell
    if match is None or not Fraction(match[1]) or not lanes:
        allowed = "link_speed must be such as '16.0 GT/s PCIe' and link_width such as '16'"
        raise FileFormatError(f"{server.where(pci)}: {allowed}, got {shown(speed)} and {shown(width)}")
    rate = Fraction(match[1])
    return float(rate * 10**9 / 8 * lanes * (Fraction(8, 10) if rate <= 5 else Fraction(128, 130)))


def _direct(server: _Server, bus: str, link: Element, cpu: str) -> None:
    """Add the links from a GPU to one place beside PCI Express; those between two GPUs are told by both."""
    count, where = _number(server, link, "count", 1), server.where(link)
    if link.name == "c2c":  # in MB/s
        kind = server.plain(_number(server, link, "bw", 1) * 1e6)
        server.wiring.add(where, bus, cpu, count, kind)
        return
    target, tclass = _attribute(server, link, "target").lower(), link.attributes.get("tclass", "").lower()
    kind = _nvlink_kind(server, bus, where) if link.name == "nvlink" else _xgmi_kind(server, bus, where)
    if target in server.gpus:
        server.wiring.add(where, bus, target, count, kind, one_way=True)
    elif tclass.startswith(_SWITCH) and link.name == "nvlink":
        name = f"NVSwitch {target}" if target else "NVSwitch"
        server.switches.setdefault(name)
        server.wiring.add(where, bus, name, count, kind)
    elif tclass.startswith(_CPU):
        server.wiring.add(where, bus, cpu, count, kind)  # to its own, as NCCL has it
    else:
        why = f"is no GPU of the file, and tclass {shown(tclass)} none of a switch ({_SWITCH})"
        raise FileFormatError(f"{where}: the target {shown(target)} {why}")


def _check_both_ways(server: _Server) -> None:
    """Refuse links between two GPUs of which the other GPU tells another number, or none."""
    counts: dict[tuple[str, str, str], int] = {}
    lines: dict[tuple[str, str, str], str] = {}
    for bus, link, _ in server.direct:
        if link.name != "c2c" and (target := link.attributes["target"].lower()) in server.gpus:
            key = (link.name, bus, target)
            counts[key] = counts.get(key, 0) + _number(server, link, "count", 1)
            lines.setdefault(key, server.where(link))
    for (name, bus, target), count in counts.items():
        if (back := counts.get((name, target, bus), 0)) != count:
            raise FileFormatError(
                f"{lines[name, bus, target]}: {bus} has {count} {name} to {target}, which has {back} back"
            )


def _nvlink_kind(server: _Server, bus: str, where: str) -> LinkKind:
    sm = _number(server, server.gpus[bus], "sm", 0)
    rate = next((r for least, r in reversed(_NVLINK.items()) if sm >= least), None)
    if rate is None:
        raise FileFormatError(f"{where}: GPUs of compute capability sm={sm} have no NVLinks")
    return server.kind("nvlink", rate, f"NVLinks, as GPUs of compute capability {sm / 10:.1f} have them,")


def _xgmi_kind(server: _Server, bus: str, where: str) -> LinkKind:
    gcn = _attribute(server, server.gpus[bus], "gcn").lower().removeprefix("gfx").partition(":")[0]
    if gcn not in _XGMI:
        known = ", ".join(f"gfx{each}" for each in _XGMI)
        raise FileFormatError(f"{where}: the speed of xGMI of gcn={shown(gcn)} is not known; of {known} it is")
    return server.kind("xgmi", _XGMI[gcn], f"xGMI links, as GPUs of gfx{gcn} have them,")


def _order(server: _Server) -> list[str]:
    """Return the GPUs by rank, or else by device number."""
    key = "rank" if all("rank" in gpu.attributes for gpu in server.gpus.values()) else "dev"
    numbers: dict[int, str] = {}
    for bus, gpu in server.gpus.items():
        if numbers.setdefault(number := _number(server, gpu, key, 0), bus) != bus:
            raise FileFormatError(f"{server.where(gpu)}: there is a second GPU with {key} {number}")
    return [bus for _, bus in sorted(numbers.items())]


def _pruned(server: _Server) -> Wiring:
    """Return the links without those to switches that lead to nothing else, and drop these switches."""
    links = dict(server.wiring.links())
    while True:
        near: dict[str, set[str]] = {name: set() for name in server.switches}
        for u, v, _ in links:
            for a, b in ((u, v), (v, u)):
                if a in near:
                    near[str(a)].add(str(b))
        ends = {name for name, others in near.items() if len(others) <= 1}
        if not ends:
            break
        for name in ends:
            del server.switches[name]
        links = {key: c for key, c in links.items() if key[0] not in ends and key[1] not in ends}
    kept = Wiring(server.name)
    for (u, v, kind), capacity in links.items():
        kept.add(server.name, u, v, capacity, kind, one_way=True)
    return kept


def _attribute(server: _Server | _Dump, element: Element, name: str) -> str:
    value = element.attributes.get(name)
    if value is None:
        raise FileFormatError(f"{server.where(element)}: {element.name!r} has no attribute {name!r}")
    return value


def _number(server: _Server | _Dump, element: Element, name: str, least: int) -> int:
    value = _attribute(server, element, name)
    if not re.fullmatch("[0-9]{1,6}", value) or int(value) < least:
        at = f"{server.where(element)}: {name}"
        raise FileFormatError(f"{at} must be a whole number of at least {least}, got {shown(value)}")
    return int(value)


# Channels: the order in which rings and trees pass through GPUs and network adapters.

_PATTERNS = {1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "CollNet"}
_LINES = (1, 2, 3, 4)
"""Patterns whose channels are GPUs one after the other."""
_TYPES = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")


class ChannelGraph(NamedTuple):
    """A graph of a dump: channels of one pattern.

    * `number`: its ``id``: 0 for rings, 1 for trees.
    * `pattern`: 4 is a ring; 1, 2 and 3 are trees, whose channels are chains of the GPUs of a server.
    * `inside`, `outside`: bytes a second of a channel, each way, between GPUs and through an adapter.
    * `channels`: of each the ranks of its GPUs, and the numbers of the adapters by which it enters and leaves the
      server.
    * `line`: where it begins in the file.
    """

    number: int
    pattern: int
    inside: float
    outside: float
    channels: list[tuple[list[int], list[int]]]
    line: int


class _Dump(NamedTuple):
    """What messages call a dump of graphs."""

    name: str

    def where(self, element: Element) -> str:
        return f"{self.name}, line {element.line}"


def read_channel_graphs(path: str | PathLike[str]) -> list[ChannelGraph]:
    """Return the graphs of a dump that NCCL writes to ``NCCL_GRAPH_DUMP_FILE``, or reads from ``NCCL_GRAPH_FILE``.

    Raises `FileFormatError` if the file is no such XML, or (with the line number) a channel or an attribute is
    malformed.
    """
    root, dump = read_xml(path, "NCCL graph"), _Dump(f"NCCL graph {file_name(path)}")
    if root.name != "graphs":
        raise FileFormatError(f"{dump.where(root)}: the outermost element must be 'graphs', got {shown(root.name)}")
    if (version := root.attributes.get("version", "1")) != "1":
        raise FileFormatError(f"{dump.where(root)}: version must be 1, got {shown(version)}")
    found: dict[int, ChannelGraph] = {}
    for element in root.inner:
        if element.name != "graph":
            raise FileFormatError(f"{dump.where(element)}: expected 'graph', got {shown(element.name)}")
        graph = _channel_graph(dump, element)
        if graph.number in found:
            raise FileFormatError(f"{dump.where(element)}: there is a second graph of id {graph.number}")
        found[graph.number] = graph
    if not found:
        raise FileFormatError(f"{dump.name}: there is no element 'graph'")
    return list(found.values())


def _channel_graph(dump: _Dump, element: Element) -> ChannelGraph:
    number, pattern = _number(dump, element, "id", 0), _number(dump, element, "pattern", 1)
    if pattern not in _PATTERNS:
        known = ", ".join(f"{k} ({word})" for k, word in _PATTERNS.items())
        raise FileFormatError(f"{dump.where(element)}: pattern must be one of {known}, got {pattern}")
    for name in ("typeintra", "typeinter"):
        if (kind := _attribute(dump, element, name)) not in _TYPES:
            raise FileFormatError(
                f"{dump.where(element)}: {name} must be one of {', '.join(_TYPES)}, got {shown(kind)}"
            )
    inside, outside = (_rate(dump, element, name) for name in ("speedintra", "speedinter"))
    channels, count = [], _number(dump, element, "nchannels", 0)
    for channel in element.inner:
        if channel.name != "channel":
            raise FileFormatError(f"{dump.where(channel)}: expected 'channel', got {shown(channel.name)}")
        channels.append(_channel(dump, channel, pattern))
        if sorted(channels[-1][0]) != sorted(channels[0][0]) and pattern in _LINES:
            raise FileFormatError(f"{dump.where(channel)}: its GPUs are not those of the first channel")
    if len(channels) != count:
        raise FileFormatError(f"{dump.where(element)}: nchannels is {count}, and {len(channels)} channels follow")
    return ChannelGraph(number, pattern, inside, outside, channels, element.line)


def _channel(dump: _Dump, channel: Element, pattern: int) -> tuple[list[int], list[int]]:
    ranks: list[int] = []
    adapters: list[int] = []
    for element in channel.inner:
        if element.name not in ("gpu", "net"):
            raise FileFormatError(f"{dump.where(element)}: expected 'gpu' or 'net', got {shown(element.name)}")
        if element.name == "gpu" and "rank" in element.attributes:
            ranks.append(_number(dump, element, "rank", 0))
            continue
        device = _attribute(dump, element, "dev")  # NCCL takes it for hexadecimal, with 0x or without
        if not re.fullmatch("(?:0x)?[0-9a-fA-F]{1,16}", device):
            raise FileFormatError(f"{dump.where(element)}: dev must be hexadecimal, got {shown(device)}")
        (ranks if element.name == "gpu" else adapters).append(int(device, 16))
    if not ranks or len(set(ranks)) < len(ranks):
        raise FileFormatError(f"{dump.where(channel)}: a channel has each of its GPUs once, got {shown(str(ranks))}")
    if pattern in _LINES and len(adapters) not in (0, 2):
        raise FileFormatError(f"{dump.where(channel)}: a channel has two elements 'net' or none, got {len(adapters)}")
    return ranks, adapters


def _rate(dump: _Dump, element: Element, name: str) -> float:
    """Return bytes a second; the file has GB/s."""
    value = _attribute(dump, element, name)
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,9})?", value):
        raise FileFormatError(f"{dump.where(element)}: {name} must be a number of GB/s, got {shown(value)}")
    return float(value) * 1e9


def read_nccl_graph(path: str | PathLike[str], *, graph: str | None = None, latency: str | None = None) -> Network:
    """Read the rings or trees that NCCL chose on a server: a network of what they use of it.

    Parameters
    ----------
    path : path
        XML as NCCL writes it to ``NCCL_GRAPH_DUMP_FILE``.
    graph : str, optional
        The ``id`` of the graph. Default: 0, the rings, or the first one that has rings or trees.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

    Returns
    -------
    Network
        The GPUs are the terminals, in the order of their ranks, labeled ``GPU0``...; each channel is a link of its
        speed from each GPU to the next one: one way around a ring, both ways along the chain of a tree. Channels
        between the same GPUs are one link of that capacity. Where channels leave the server, adapters are switches
        ``NET0``..., and the switch ``outside`` stands for the other servers.

    Raises
    ------
    FileFormatError
        As `read_channel_graphs`; or if there is no graph of that id, or it has no rings or trees.
    """
    name, every = f"NCCL graph {file_name(path)}", read_channel_graphs(path)
    usable = [each for each in every if each.pattern in _LINES and each.channels]
    listed = ", ".join(f"{each.number} ({_PATTERNS[each.pattern]})" for each in every)
    asked = [each for each in usable if graph is None or str(each.number) == graph.strip()]
    if not asked:
        what = "no graph of rings or trees" if graph is None else f"no graph {shown(graph)} of rings or trees"
        raise FileFormatError(f"{name}: there is {what}; it has: {listed}")
    chosen = min(asked, key=lambda each: (each.pattern != 4, each.number))
    if not chosen.inside:
        raise FileFormatError(f"{name}, line {chosen.line}: speedintra must be above 0")
    delay = attributed(name, {"latency": latency}, FileFormatError)[1].latency
    wiring, ranks = Wiring(name), sorted(chosen.channels[0][0])
    adapters: dict[str, None] = {}
    within, beyond = (LinkKind(rate or chosen.inside, delay) for rate in (chosen.inside, chosen.outside))
    where, ring = f"{name}, line {chosen.line}", chosen.pattern == 4
    for order, nets in chosen.channels:
        stops = [f"GPU{rank}" for rank in order]
        for one, other in itertools.pairwise(stops):
            wiring.add(where, one, other, 1, within, one_way=ring)
        if not nets:
            if ring and len(stops) > 1:
                wiring.add(where, stops[-1], stops[0], 1, within, one_way=True)
            continue
        enters, leaves = (f"NET{net}" for net in nets)
        adapters |= {enters: None, leaves: None}
        for way in (("outside", enters, stops[0]), (stops[-1], leaves, "outside")):
            for one, other in itertools.pairwise(way):
                wiring.add(where, one, other, 1, beyond, one_way=ring)
    nodes = [*(f"GPU{rank}" for rank in ranks), *adapters, *(["outside"] if adapters else [])]
    text = (
        f"graph {chosen.number}, {quantity(len(chosen.channels), _PATTERNS[chosen.pattern])}, of the file's: {listed}"
    )
    assumed = [Assumption(text, f"nccl-graph:{path},graph=ID")] if len(every) > 1 and graph is None else []
    if adapters:
        assumed.append(Assumption("what leaves the server by one adapter comes back by the other one of its channel"))
    known = [Assumptions(tuple(assumed))] if assumed else []
    return wiring.network(f"nccl-graph:{path}", nodes, len(ranks), nodes, known)


NCCL = NetworkFormat(
    name="nccl",
    summary="GPUs of a server, from a topology file of NCCL or RCCL",
    source="gossamer.networks.read_nccl_topology",
    suffixes=(".xml",),
    read=lambda path, words=None: read_nccl_topology(path, **(words or {})),
    recognizes=lambda text: bool(re.search(r"(?m)^\s*(?:<[?!][^>]*>\s*)*<system[\s>]", text)),
    form=path_and("nvlink", "xgmi", "cpus", "latency"),
    parameters="PATH[,nvlink=25GB/s][,xgmi=64GB/s][,cpus=10GB/s][,latency=1us]",
)
NCCL_GRAPH = NetworkFormat(
    name="nccl-graph",
    summary="rings or trees that NCCL chose on a server, from its graph file",
    source="gossamer.networks.read_nccl_graph",
    suffixes=(".xml",),
    read=lambda path, words=None: read_nccl_graph(path, **(words or {})),
    recognizes=lambda text: bool(re.search(r"(?m)^\s*(?:<[?!][^>]*>\s*)*<graphs[\s>]", text)),
    form=path_and("graph", "latency"),
    parameters="PATH[,graph=0][,latency=1us]",
)
