"""The topology that NCCL writes as XML (``NCCL_TOPO_DUMP_FILE``): GPUs, NVLinks, PCI Express, CPUs of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike

from gossamer.errors import FileFormatError, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring
from gossamer.networks.network import Network
from gossamer.reading.files import Element, file_name, read_xml

__all__ = ["NCCL", "read_nccl_topology"]

_NVLINK = {60: 20e9, 70: 25e9, 80: 25e9, 86: 14.0625e9, 90: 25e9, 100: 50e9}
"""Bytes a second of one NVLink, each way, from the compute capability on at which a GPU has them."""

_CPUS = 10e9
"""Bytes a second between two CPUs, which the file does not tell: what NCCL takes for Intel processors since 2017."""

_SWITCH, _CPU = "0x068000", "0x068001"


@dataclass
class _Server:
    """What has been found so far."""

    name: str
    wiring: Wiring
    gpus: dict[str, Element] = field(default_factory=dict)  # by bus
    switches: dict[str, None] = field(default_factory=dict)
    nvlinks: list[tuple[str, Element, str]] = field(default_factory=list)

    def where(self, element: Element) -> str:
        return f"{self.name}, line {element.line}"


def read_nccl_topology(path: str | PathLike[str]) -> Network:
    """Read the GPUs of a server from a topology file of NCCL.

    Parameters
    ----------
    path : path
        XML as NCCL writes it to ``NCCL_TOPO_DUMP_FILE``.

    Returns
    -------
    Network
        The GPUs are the terminals, in the order of their ranks (or else of their device numbers), labeled ``GPU0``...;
        PCI Express switches, CPUs and NVSwitches are switches. Links have speeds: PCI Express what its attributes
        ``link_speed`` and ``link_width`` say, an NVLink what GPUs of the compute capability ``sm`` have, and CPUs are
        joined by 10 GB/s each, which the file does not tell; latencies are not told and 0. ``count`` NVLinks to one
        place are a link of that capacity. Network adapters, and switches that lead to nothing else, are left out.

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
    server = _Server(name, Wiring(name))
    cpus = []
    for cpu in root.all("cpu"):
        cpus.append(f"CPU{_attribute(server, cpu, 'numaid')}")
        if cpus[-1] in server.switches:
            raise FileFormatError(f"{server.where(cpu)}: {cpus[-1]} is there twice")
        server.switches[cpus[-1]] = None
        for pci in cpu.all("pci"):
            _pci(server, pci, cpus[-1], cpus[-1])
    for i, one in enumerate(cpus):
        for other in cpus[:i]:
            server.wiring.add(name, one, other, 1, LinkKind(_CPUS, 0.0))
    if not server.gpus:
        raise FileFormatError(f"{name}: there is no element 'gpu'")
    for bus, nvlink, near in server.nvlinks:
        _nvlink(server, bus, nvlink, near)
    order = _order(server)
    labels = {bus: f"GPU{i}" for i, bus in enumerate(order)}
    return _pruned(server, order, labels).network(
        f"nccl:{path}", nodes := [*order, *server.switches], len(order), [labels.get(n, n) for n in nodes]
    )


def _pci(server: _Server, pci: Element, above: str, cpu: str) -> None:
    """Add a place of PCI Express, what is in it, and its link to what is above."""
    bus = _attribute(server, pci, "busid").lower()
    kind = LinkKind(_pci_rate(server, pci), 0.0)
    gpus = list(pci.all("gpu"))
    if len(gpus) > 1 or bus in server.gpus or bus in server.switches:
        raise FileFormatError(f"{server.where(pci)}: busid {shown(bus)} is there twice")
    if gpus:
        server.gpus[bus] = gpus[0]
        server.nvlinks += [(bus, nvlink, cpu) for nvlink in gpus[0].all("nvlink")]
    else:
        server.switches[bus] = None
    server.wiring.add(server.where(pci), bus, above, 1, kind)
    for inner in pci.all("pci"):
        _pci(server, inner, bus, cpu)


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


def _nvlink(server: _Server, bus: str, nvlink: Element, cpu: str) -> None:
    """Add the NVLinks from a GPU to one place; those between two GPUs are told by both."""
    count = _number(server, nvlink, "count", 1)
    target, kind = _attribute(server, nvlink, "target").lower(), nvlink.attributes.get("tclass", "").lower()
    where = server.where(nvlink)
    sm = _number(server, server.gpus[bus], "sm", 0)
    rate = next((r for least, r in reversed(_NVLINK.items()) if sm >= least), None)
    if rate is None:
        raise FileFormatError(f"{where}: GPUs of compute capability sm={sm} have no NVLinks")
    speed = LinkKind(rate, 0.0)
    if target in server.gpus:
        server.wiring.add(where, bus, target, count, speed, one_way=True)
    elif kind.startswith(_SWITCH):
        name = f"NVSwitch {target}" if target else "NVSwitch"
        server.switches.setdefault(name)
        server.wiring.add(where, bus, name, count, speed)
    elif kind.startswith(_CPU):
        server.wiring.add(where, bus, cpu, count, speed)  # to its own, as NCCL has it
    else:
        why = f"is no GPU of the file, and tclass {shown(kind)} none of a switch ({_SWITCH})"
        raise FileFormatError(f"{where}: the target {shown(target)} {why}")


def _order(server: _Server) -> list[str]:
    """Return the GPUs by rank, or else by device number."""
    key = "rank" if all("rank" in gpu.attributes for gpu in server.gpus.values()) else "dev"
    numbers = {bus: _number(server, gpu, key, 0) for bus, gpu in server.gpus.items()}
    return sorted(server.gpus, key=numbers.__getitem__)


def _pruned(server: _Server, gpus: list[str], labels: dict[str, str]) -> Wiring:
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


def _attribute(server: _Server, element: Element, name: str) -> str:
    value = element.attributes.get(name)
    if value is None:
        raise FileFormatError(f"{server.where(element)}: {element.name!r} has no attribute {name!r}")
    return value


def _number(server: _Server, element: Element, name: str, least: int) -> int:
    value = _attribute(server, element, name)
    if not re.fullmatch("[0-9]{1,6}", value) or int(value) < least:
        at = f"{server.where(element)}: {name}"
        raise FileFormatError(f"{at} must be a whole number of at least {least}, got {shown(value)}")
    return int(value)


NCCL = NetworkFormat(
    name="nccl",
    summary="GPUs of a server, from a topology file of NCCL",
    source="gossamer.networks.read_nccl_topology",
    suffixes=(".xml",),
    read=read_nccl_topology,
    recognizes=lambda text: any(line.strip().startswith("<system") for line in text.splitlines()),
)
