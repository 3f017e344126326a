"""The matrix that ``nvidia-smi topo -m`` prints: which GPUs of a server are joined by NVLinks, which by PCI Express."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from os import PathLike

from gossamer.errors import FileFormatError, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import file_name, text_lines

MOST_NVLINKS = 18
"""The most NVLinks that a GPU has: where the matrix shows more in all, they lead to switches."""

_MODELS = (
    (r"P100", "P100", 4, "20GB/s", 3),
    (r"V100", "V100", 6, "25GB/s", 3),
    (r"A100|A800", "A100", 12, "25GB/s", 4),
    (r"G?H100|H800|G?H200|H20", "H100 or H200", 18, "25GB/s", 5),
    (r"G?B100|G?B200|G?B300", "B200", 18, "50GB/s", 5),
    (r"R100|R200|Rubin", "Rubin", 36, "50GB/s", 6),
)
"""GPUs: how texts name them, their name, their NVLinks, the bandwidth of one each way, their PCI Express."""

_PCIE = {3: "15.75GB/s", 4: "31.5GB/s", 5: "63GB/s", 6: "126GB/s"}
"""Bandwidth of 16 lanes of each generation of PCI Express, each way."""

_COUNTED = (0, 1, 2, 3, 5)
"""The models, of those above, that a number of NVLinks is taken for: the first that has so many."""

_LEVELS = ("PIX", "PXB", "PHB", "NODE", "SYS")  # the nearer, the earlier
_SWITCHES = ("PCIe switch", "PCIe switches", "host bridge", "NUMA node", "CPUs")
_DEVICE = re.compile(r"(?:GPU|NIC|mlx|hfi|bnxt|irdma|efa|rocep|ibp|qedr|hns)\w*", re.IGNORECASE)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class _Matrix:
    """The devices in the order of the columns, and what joins each with each."""

    name: str
    path: str
    models: tuple[int, ...] = ()
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
        Bandwidth of one NVLink, each way, such as ``25GB/s``. Default: that of the GPUs that the text names, as
        ``nvidia-smi -L`` prints them; else of those that have as many NVLinks as the matrix counts: up to 4 are taken
        for a P100 (20 GB/s), 6 for a V100, 12 for an A100, 18 for an H100 (25 GB/s), 36 for a Rubin (50 GB/s).
    pcie : str, optional
        Bandwidth of a PCI Express connection, each way. Default: that of 16 lanes of the generation of these GPUs; of
        generation 4 if nothing tells it.
    latency : str, optional
        Latency of every link, such as ``1us``. Default: 0.

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
    counts = {
        (a, b): int(matrix.joined[a, b][2:])
        for a, b in itertools.combinations(gpus, 2)
        if matrix.joined[a, b].startswith("NV")
    }
    groups = _joined(gpus, counts)
    given = {"nvlink": nvlink if counts else None, "pcie": pcie if len(groups) > 1 else None}
    rates, assumed = _speeds(matrix, gpus, counts, len(groups) > 1, given)
    kinds = {
        what: attributed(where, {"bandwidth": rate, "latency": latency}, FileFormatError)[1]
        for what, rate in rates.items()
    }
    switches = _nvlinks(matrix, gpus, counts, wiring, kinds["nvlink"])
    if len(groups) > 1:
        switches += _tree(matrix, gpus, wiring, kinds["pcie"])
    known = [Assumptions(tuple(assumed))] if assumed else []
    return wiring.network(f"nvidia-smi:{path}", gpus + switches, len(gpus), gpus + switches, known)


def _speeds(
    matrix: _Matrix, gpus: list[str], counts: dict[tuple[str, str], int], by_pcie: bool, given: dict[str, str | None]
) -> tuple[dict[str, str | None], list[Assumption]]:
    """Return the bandwidths of NVLinks and of PCI Express, and what was assumed of them."""
    for what, rate in given.items():  # refused before anything is assumed
        attributed(f"{matrix.name}: {what}", {"bandwidth": rate}, FileFormatError)
    rates, assumed = dict(given), list[Assumption]()
    most = max(_nvlinks_of(gpus, counts).values(), default=0)
    model, why = None, ""
    if len(matrix.models) == 1:
        model, why = _MODELS[matrix.models[0]], "which the file names"
    elif counts:
        model = next((_MODELS[i] for i in _COUNTED if most <= _MODELS[i][2]), _MODELS[_COUNTED[-1]])
        why = f"which have up to {model[2]} NVLinks; the file shows {most} a GPU"
    if counts and given["nvlink"] is None:
        assert model is not None  # counted, if not named
        rates["nvlink"] = model[3]
        other = "; a B200, which has as many, has 50 GB/s" if model[2] == 18 and len(matrix.models) != 1 else ""
        text = f"NVLinks of {_spaced(model[3])} each way, {most} a GPU, as of {model[1]}, {why}{other}"
        assumed.append(Assumption(text, f"nvidia-smi:{matrix.path},nvlink=RATE"))
    if by_pcie and given["pcie"] is None:
        generation = 4 if model is None else model[4]
        rates["pcie"] = _PCIE[generation]
        of = "" if model is None else f", as of {model[1]}"
        text = f"PCI Express of {_spaced(_PCIE[generation])} each way: 16 lanes of generation {generation}{of}"
        assumed.append(Assumption(text, f"nvidia-smi:{matrix.path},pcie=RATE"))
    return rates, assumed


def _spaced(rate: str) -> str:
    return rate.replace("GB", " GB")


def _nvlinks_of(gpus: list[str], counts: dict[tuple[str, str], int]) -> dict[str, int]:
    """Return the NVLinks of each GPU: those to all others, or, where they lead to switches, those of each pair."""
    total = {g: sum(n for pair, n in counts.items() if g in pair) for g in gpus}
    if max(total.values(), default=0) <= MOST_NVLINKS:
        return total
    return {g: max((n for pair, n in counts.items() if g in pair), default=0) for g in gpus}


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
    found = _Matrix(name, str(path), _models(path))
    for place, line in text_lines(path, "the text of nvidia-smi topo -m", comment=""):
        where = f"{name}, line {place}"
        words = _ESCAPE.sub("", line).split()
        if not words:
            continue
        if not found.devices:
            if re.fullmatch("GPU[0-9]+", words[0]):
                found.devices = list(itertools.takewhile(_DEVICE.fullmatch, words))
                if len(set(found.devices)) < len(found.devices):
                    raise FileFormatError(f"{where}: a device is named twice")
            continue
        if words[0] in ("Legend:", "NIC") or words[0].endswith(":"):
            break
        if words[0] in found.devices:
            _row(found, words, where)
        elif re.fullmatch("GPU[0-9]+", words[0]) and len(found.place) < len(found.devices):
            raise FileFormatError(f"{where}: {words[0]} is none of the devices of the first row")
    if not found.devices:
        raise FileFormatError(f"{name}: there is no row of names that begins with GPU0")
    missing = [d for d in found.devices if d not in found.place]
    if missing:
        raise FileFormatError(f"{name}: the row of {missing[0]} is missing")
    _check(found)
    return found


def _models(path: str | PathLike[str]) -> tuple[int, ...]:
    """Return which models of GPUs a file names outside its matrix, as ``nvidia-smi -L`` and the table of it do."""
    found = set()
    for _, line in text_lines(path, "the text of nvidia-smi topo -m", comment=""):
        if re.match(r"\s*(?:GPU [0-9]+:|\|\s*[0-9]+\s)|.*\b(?:NVIDIA|Tesla)\b", line):
            found |= {i for i, model in enumerate(_MODELS) if re.search(rf"\b(?:{model[0]})\b", line)}
    return tuple(sorted(found))


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


def _read(path: str, words: dict[str, str] | None = None) -> Network:
    return read_nvidia_smi(path, **(words or {}))


def _recognizes(text: str) -> bool:
    for line in text.splitlines():
        words = _ESCAPE.sub("", line).split()
        if words and words[0] == "GPU0":
            return len(words) == 1 or bool(_DEVICE.fullmatch(words[1])) or "CPU" in words
    return False


NVIDIA_SMI = NetworkFormat(
    name="nvidia-smi",
    summary="GPUs of a server, from the text that nvidia-smi topo -m prints",
    source="gossamer.networks.read_nvidia_smi",
    read=_read,
    recognizes=_recognizes,
    form=path_and("nvlink", "pcie", "latency"),
    parameters="PATH[,nvlink=25GB/s][,pcie=32GB/s][,latency=1us]",
)
