"""The matrix that ``nvidia-smi topo -m`` prints: which GPUs of a server are joined by NVLinks, which by PCI Express."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike

from gossamer.errors import FileFormatError, shown
from gossamer.networks.builder import LinkKind, Wiring, attributed
from gossamer.networks.family import Family
from gossamer.networks.files.format import NetworkFormat
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, text_lines

__all__ = ["NVIDIA_SMI", "read_nvidia_smi"]

MOST_NVLINKS = 18
"""The most NVLinks that a GPU has: where the matrix shows more in all, they lead to switches."""

_LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # the nearer, the earlier
_SWITCHES = ("PCIe switch", "PCIe switches", "host bridge", "NUMA node", "CPUs")
_DEVICE = re.compile(r"(?:GPU|NIC|mlx|hfi|bnxt|irdma|efa|rocep|ibp|qedr|hns)\w*", re.IGNORECASE)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class _Matrix:
    """The devices in the order of the columns, and what joins each with each."""

    name: str
    devices: list[str] = field(default_factory=list)
    joined: dict[tuple[str, str], str] = field(default_factory=dict)
    place: dict[str, str] = field(default_factory=dict)
    numa: dict[str, str] = field(default_factory=dict)


def read_nvidia_smi(
    path: str | PathLike[str], *, nvlink: str | None = None, pcie: str | None = None, latency: str | None = None
) -> Network:
    r"""Read the GPUs of a server from the text that ``nvidia-smi topo -m`` prints.

    Parameters
    ----------
    path : path
        The text, with or without its legend.
    nvlink : str, optional
        Bandwidth of one NVLink, each way, such as ``25GB/s``; the matrix does not tell it.
    pcie : str, optional
        Bandwidth of a PCI Express connection, each way.
    latency : str, optional
        Latency of every link, such as ``1us``.

    Returns
    -------
    Network
        The GPUs are the terminals, with their names as labels. ``NV#`` is a link of capacity #, the number of NVLinks.
        Where a GPU shows more than 18 of them, more than it has, they lead to a switch (NVSwitch): then the switch has
        a link of capacity # to each GPU. If NVLinks join all GPUs, the network is that of the NVLinks; otherwise PCI
        Express joins them by a tree of switches: one for the devices at a PCIe switch (PIX), for those at several
        (PXB), at a host bridge (PHB), in a NUMA node (NODE), and in the server (SYS). Network adapters help to find
        that tree and are left out.

    Raises
    ------
    FileFormatError
        If the text has no such matrix, or (with the line number) a row is malformed or contradicts another.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import read_nvidia_smi
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "topo.txt")
    ...     _ = path.write_text("GPU0 GPU1 GPU2\nGPU0 X NV2 NV1\nGPU1 NV2 X NV1\nGPU2 NV1 NV1 X\n")
    ...     server = read_nvidia_smi(path, nvlink="25GB/s")
    >>> server, server.link_capacity.tolist()
    (<Network nvidia-smi:...topo.txt: 3 nodes, 6 links>, [2, 1, 2, 1, 1, 1])
    """
    matrix = _matrix(path)
    gpus = [d for d in matrix.devices if d.startswith("GPU")]
    wiring = Wiring(matrix.name)
    where = matrix.name
    kinds = {
        what: attributed(where, {"bandwidth": rate, "latency": latency}, FileFormatError)[1]
        for what, rate in (("nvlink", nvlink), ("pcie", pcie))
    }
    counts = {
        (a, b): int(matrix.joined[a, b][2:])
        for a, b in itertools.combinations(gpus, 2)
        if matrix.joined[a, b].startswith("NV")
    }
    switches = _nvlinks(matrix, gpus, counts, wiring, kinds["nvlink"])
    groups = _joined(gpus, counts)
    if len(groups) > 1:
        if (nvlink is None) != (pcie is None) and counts:
            missing = "pcie" if pcie is None else "nvlink"
            raise FileFormatError(
                f"{where}: NVLinks and PCI Express join the GPUs; the bandwidth {missing}= is missing"
            )
        switches += _tree(matrix, gpus, wiring, kinds["pcie"])
    return wiring.network(f"nvidia-smi:{path}", gpus + switches, len(gpus), gpus + switches)


def _nvlinks(
    matrix: _Matrix, gpus: list[str], counts: dict[tuple[str, str], int], wiring: Wiring, kind: LinkKind
) -> list[str]:
    """Add the NVLinks, and return the switches among their ends."""
    total = {g: sum(n for pair, n in counts.items() if g in pair) for g in gpus}
    if max(total.values()) <= MOST_NVLINKS:
        for (a, b), n in counts.items():
            wiring.add(matrix.place[a], a, b, n, kind)
        return []
    switches = []
    for i, group in enumerate(g for g in _joined(gpus, counts) if len(g) > 1):
        name = f"NVSwitch{i}"
        switches.append(name)
        for gpu in group:
            shown_counts = {n for pair, n in counts.items() if gpu in pair}
            if len(shown_counts) > 1 or sum(1 for pair in counts if gpu in pair) < len(group) - 1:
                text = "the NVLinks are too many for direct ones and not the same to all GPUs at a switch"
                raise FileFormatError(f"{matrix.place[gpu]}: {text}")
            wiring.add(matrix.place[gpu], gpu, name, shown_counts.pop(), kind)
    return switches


def _tree(matrix: _Matrix, gpus: list[str], wiring: Wiring, kind: LinkKind) -> list[str]:
    """Add the tree of PCI Express, and return its switches; one that joins nothing new is left out."""
    tops = [(frozenset([d]), d if d.startswith("GPU") else "") for d in matrix.devices]  # each with its topmost node
    near = {(a, b): how for (a, b), how in matrix.joined.items() if not how.startswith("NV")}
    for a, b in itertools.combinations(matrix.devices, 2):
        if (a, b) not in near and matrix.numa.get(a, "a") == matrix.numa.get(b, "b"):
            near[a, b] = "NODE"
    switches: list[str] = []
    for level, kind_of in zip(_LEVELS, _SWITCHES, strict=True):
        allowed = _LEVELS[: _LEVELS.index(level) + 1]
        pairs = [pair for pair, how in near.items() if how in allowed]
        if level == _LEVELS[-1]:
            pairs = list(itertools.pairwise(matrix.devices))
        merged: list[tuple[frozenset[str], str]] = []
        for group in _joined(matrix.devices, pairs):
            inner = [top for top in tops if top[0] <= set(group)]
            below = [node for _, node in inner if node]
            node = below[0] if below else ""
            if len(below) > 1:
                node = f"{kind_of} {sum(s.startswith(kind_of + ' ') for s in switches)}"
                switches.append(node)
                for end in below:
                    wiring.add(matrix.name, end, node, 1, kind)
            merged.append((frozenset(group), node))
        tops = merged
    return switches


def _joined(nodes: list[str], pairs: object) -> list[list[str]]:
    """Return the groups of nodes that pairs join, in the order of their first nodes."""
    group = {node: node for node in nodes}
    for a, b in pairs:  # type: ignore[attr-defined]
        if a in group and b in group and group[a] != group[b]:
            old = group[b]
            group = {node: group[a] if of == old else of for node, of in group.items()}
    return [[n for n in nodes if group[n] == of] for of in dict.fromkeys(group.values())]


# -- the text --------------------------------------------------------------------------------------------------


def _matrix(path: str | PathLike[str]) -> _Matrix:
    """Return the matrix of a file."""
    name = f"nvidia-smi matrix {file_name(path)}"
    found = _Matrix(name)
    for place, line in text_lines(path, "the text of nvidia-smi topo -m", comment=""):
        where = f"{name}, line {place}"
        words = _ESCAPE.sub("", line).split()
        if not words:
            continue
        if not found.devices:
            if words[0].startswith("GPU"):
                found.devices = list(itertools.takewhile(_DEVICE.fullmatch, words))
                if len(set(found.devices)) < len(found.devices):
                    raise FileFormatError(f"{where}: a device is named twice")
            continue
        if words[0] in ("Legend:", "NIC") or words[0].endswith(":"):
            break
        if words[0] in found.devices:
            _row(found, words, where)
    if not found.devices:
        raise FileFormatError(f"{name}: there is no row of names that begins with GPU0")
    missing = [d for d in found.devices if d not in found.place]
    if missing:
        raise FileFormatError(f"{name}: the row of {missing[0]} is missing")
    _check(found)
    return found


def _row(found: _Matrix, words: list[str], where: str) -> None:
    device, cells = words[0], words[1 : len(found.devices) + 1]
    if device in found.place:
        raise FileFormatError(f"{where}: there is a second row of {device}")
    if len(cells) < len(found.devices):
        raise FileFormatError(f"{where}: {len(cells)} entries are given for {len(found.devices)} devices")
    for other, how in zip(found.devices, cells, strict=True):
        if (how == "X") != (other == device) or not re.fullmatch(rf"X|NV[1-9][0-9]?|{'|'.join(_LEVELS)}", how):
            allowed = f"it is NV1 to NV99, {', '.join(_LEVELS)}, or X for the device itself"
            raise FileFormatError(f"{where}: {shown(how)} cannot stand between {device} and {other}; {allowed}")
        if how != "X":
            found.joined[device, other] = how
    found.place[device] = where
    more = words[len(found.devices) + 1 :]
    if len(more) >= 2 and re.fullmatch("[0-9]+", more[1]):
        found.numa[device] = more[1]


def _check(found: _Matrix) -> None:
    for (a, b), how in found.joined.items():
        if found.joined[b, a] != how:
            raise FileFormatError(f"{found.place[b]}: {b} to {a} is {found.joined[b, a]}, but {a} to {b} is {how}")


def _form(family: Family, text: str) -> list[object]:
    """Take a path, and the bandwidths and the latency behind it."""
    words: dict[str, str] = {}
    while match := re.fullmatch(r"(.*\S)\s*,\s*(nvlink|pcie|latency)=([^,]*)", text):
        text = match[1]
        words[match[2]] = match[3].strip()
    return [text, words]


def _read(path: str, words: dict[str, str] | None = None) -> Network:
    return read_nvidia_smi(path, **(words or {}))


def _recognizes(text: str) -> bool:
    lines: Iterator[list[str]] = (_ESCAPE.sub("", line).split() for line in text.splitlines())
    first = next((words for words in lines if words), [])
    return (
        bool(first) and first[0] == "GPU0" and (len(first) == 1 or bool(_DEVICE.fullmatch(first[1])) or "CPU" in first)
    )


NVIDIA_SMI = NetworkFormat(
    name="nvidia-smi",
    summary="GPUs of a server, from the text that nvidia-smi topo -m prints",
    source="gossamer.networks.read_nvidia_smi",
    read=_read,
    recognizes=_recognizes,
    form=_form,
    parameters="PATH[,nvlink=25GB/s][,pcie=32GB/s][,latency=1us]",
)
