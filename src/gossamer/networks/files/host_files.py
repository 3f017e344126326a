"""Files that say where ranks are: rank maps of torus machines, and host files of who is cabled to whom by what device.

A rank map has a line with the coordinates of each rank; a host file is the JSON of MLX's launcher.
"""

from __future__ import annotations

import json
import math
import re
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.derived import renumbered
from gossamer.networks.grids import array, torus
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import JSON_PIECES, check_pieces, file_name, read_bytes, read_text, text_lines

_MOST_PLACES = 1_000_000
"""Places of a machine; a line of text cannot ask for more memory than these take."""


def read_coordinates(path: str | PathLike[str]) -> Network:
    r"""Read the network of a torus machine from a file that says where each rank is.

    Parameters
    ----------
    path : path
        A line for each rank: its number, then its coordinates, separated by spaces or commas; ``#`` starts a comment. A
        first line ``torus 8x8x4`` or ``array 8x8`` gives the shape; without it, it is a torus with the sides that
        the coordinates need.

    Returns
    -------
    Network
        Rank r is node r. Places without a rank are switches, which pass messages on.

    Raises
    ------
    FileFormatError
        If ranks are not 0, 1, 2, ..., or (with the line number) a line is malformed, a rank or a place is there twice,
        or a place is outside the shape.

    Notes
    -----
    Where every place has a rank, the network is known to be the torus or array, renumbered.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import read_coordinates
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ranks.txt")
    ...     _ = path.write_text("torus 4\n0 0\n1 2\n2 1\n")
    ...     machine = read_coordinates(path)
    >>> machine.terminal_count, machine.link_target.tolist()
    (3, [2, 3, 3, 2, 1, 0, 0, 1])
    """
    name = f"rank map {file_name(path)}"
    shape: tuple[str, tuple[int, ...]] | None = None
    place_of: dict[int, tuple[int, ...]] = {}
    rank_at: dict[tuple[int, ...], int] = {}
    dimensions = 0
    for number, line in text_lines(path, "a rank map", pieces={b"\n": 450}):
        where = f"{name}, line {number}"
        if re.match("(?i)torus|array", line):
            if shape is not None or place_of:
                raise FileFormatError(f"{where}: the shape stands in the first line, once")
            shape = _shape(line, where)
            continue
        rank, place = _place(line, where)
        if rank in place_of or place in rank_at:
            what = f"rank {rank}" if rank in place_of else f"a rank at {place}"
            raise FileFormatError(f"{where}: {what} is there twice")
        dimensions = dimensions or len(place)
        if len(place) != dimensions:
            raise FileFormatError(f"{where}: {len(place)} coordinates are given, before it was another number")
        if shape is not None and (
            len(place) != len(shape[1]) or any(x >= s for x, s in zip(place, shape[1], strict=True))
        ):
            raise FileFormatError(f"{where}: {place} is outside {'x'.join(map(str, shape[1]))}")
        place_of[rank], rank_at[place] = place, rank
    if not place_of or max(place_of) != len(place_of) - 1:
        raise FileFormatError(f"{name}: ranks must be 0, 1, 2, ..., got {len(place_of)} of them"
                              + (f" up to {max(place_of)}" if place_of else ""))  # fmt: skip
    places = np.array([place_of[r] for r in range(len(place_of))], np.int64)
    kind, sides = shape or ("torus", tuple((places.max(axis=0) + 1).tolist()))
    if shape is None and math.prod(sides) > max(64 * len(places), 1024):
        text = (
            f"{len(places)} ranks are few for {'x'.join(map(str, sides))} places; if so, say it in a first line torus"
        )
        raise FileFormatError(f"{name}: {text}")
    return _network(f"coordinates:{path}", name, kind, sides, places)


def _network(spec: str, name: str, kind: str, sides: tuple[int, ...], places: np.ndarray) -> Network:
    try:
        machine = (torus if kind == "torus" else array)(*sides)
    except NetworkError as error:
        raise FileFormatError(f"{name}: {error}") from None
    node = np.ravel_multi_index(tuple(places.T), sides)
    empty = np.ones(machine.node_count, bool)
    empty[node] = False
    order = np.concatenate([node, np.flatnonzero(empty)])
    return renumbered(machine, order, spec, terminal_count=len(node))


def _shape(line: str, where: str) -> tuple[str, tuple[int, ...]]:
    match = re.fullmatch(r"(torus|array)[\s:]+([0-9]{1,9}(?:\s*[x,]\s*[0-9]{1,9})*)", line, re.IGNORECASE)
    sides = tuple(map(int, re.findall("[0-9]+", match[2]))) if match else ()
    if match is None or min(sides) < 1 or math.prod(sides) > _MOST_PLACES:
        raise FileFormatError(f"{where}: a shape is such as 'torus 8x8x4', got {shown(line)}")
    return match[1].lower(), sides


def _place(line: str, where: str) -> tuple[int, tuple[int, ...]]:
    words = re.split(r"[\s,:()]+", line.strip("() \t"))
    if len(words) < 2 or not all(re.fullmatch("[0-9]{1,9}", word) for word in words):
        raise FileFormatError(f"{where}: expected a rank and its coordinates, such as '5 0 1 1', got {shown(line)}")
    return int(words[0]), tuple(map(int, words[1:]))


COORDINATES = NetworkFormat(
    name="coordinates",
    summary="torus or array with own ranks: a line 'rank x y z' for each",
    source="gossamer.networks.read_coordinates",
    suffixes=(".coords", ".ranks"),
    read=read_coordinates,
    recognizes=lambda text: bool(re.match(r"(?i)(?:\s*#.*\n|\s*\n)*\s*(?:torus|array)[\s:]+[0-9]", text)),
    aliases=("rank-map",),
)


# Host files.

_LARGEST, _MOST_HOSTS = 64_000_000, 4096
"""Bytes of a host file, and hosts in it."""
_THUNDERBOLT = "10GB/s"
"""What Thunderbolt 5 carries each way: 80 Gbit/s."""


def read_host_file(path: str | PathLike[str], *, link: str | None = None, latency: str | None = None) -> Network:
    r"""Read who is cabled to whom from a host file, or a file of devices, of MLX's launcher.

    Parameters
    ----------
    path : path
        JSON: a list of hosts ``{"ssh": "a", "ips": [...], "rdma": [null, "rdma_en5", ["rdma_en4", "rdma_en3"]]}``, or
        an object with such a list ``hosts``, or only the lists ``rdma``. Entry j of host i is the device of host i
        whose cable leads to host j: null where there is none, a list for several cables.
    link : str, optional
        Bandwidth of a cable, each way, such as ``10GB/s``. Default: that of Thunderbolt 5, 10 GB/s, where all devices
        are named as its ports are, ``rdma_en5``; else none, so that plans are in steps.
    latency : str, optional
        Latency of every cable, such as ``10us``. Default: 0.

    Returns
    -------
    Network
        Host i is node i, with its name as label. Parallel cables are a link of that capacity. A device that leads to
        several hosts, as through a switch, is a port that its links share.

    Raises
    ------
    FileFormatError
        If the file is no such JSON, or (with the line number) an entry is malformed or contradicts that of the other
        host.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import read_host_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "three.json")
    ...     _ = path.write_text('[[null, "en5", "en4"], ["en5", null, null], [["en4"], null, null]]')
    ...     hosts = read_host_file(path, link="10GB/s")
    >>> hosts.labels, hosts.link_target.tolist()
    (('host0', 'host1', 'host2'), [1, 2, 0, 0])
    """
    name = f"host file {file_name(path)}"
    names, rows, lines = _hosts(path, name)
    devices = [[_devices(entry, f"{name}, line {lines[i]}") for entry in row] for i, row in enumerate(rows)]
    for i, row in enumerate(devices):
        if len(row) != len(names) or row[i]:
            told = "leads to itself" if len(row) == len(names) else f"has {len(row)} entries"
            text = f"'rdma' has an entry for each of the {len(names)} hosts, null for itself"
            raise FileFormatError(f"{name}, line {lines[i]}: {shown(names[i])} {told}; {text}")
    listed = [device for row in devices for entry in row for device in entry]
    known = []
    if link is None and listed and all(re.fullmatch("rdma_en[0-9]+", device) for device in listed):
        link = _THUNDERBOLT
        text = "cables of 10 GB/s each way, as of Thunderbolt 5, whose ports are named so"
        known = [Assumptions((Assumption(text, f"host-file:{path},link=RATE"),))]
    plain = attributed(f"{name}: link", {"bandwidth": link, "latency": latency}, FileFormatError)[1]
    wiring = Wiring(name)
    shared = [{d for d in _all(row) if sum(d in entry for entry in row) > 1} for row in devices]
    for i, j in combinations(range(len(names)), 2):
        forth, back = devices[i][j], devices[j][i]
        if len(forth) != len(back):
            told = f"{shown(names[i])} has {len(forth)} to {shown(names[j])}, which has {len(back)} back"
            raise FileFormatError(f"{name}, line {lines[j]}: the cables are not the same at both ends: {told}")
        for own, other in zip(forth, back, strict=True):
            ends = (
                f"{names[i]} {own}" if own in shared[i] else None,
                f"{names[j]} {other}" if other in shared[j] else None,
            )
            kind = LinkKind(plain.bandwidth, plain.latency, 1, 0, *ends)
            wiring.add(f"{name}, line {lines[i]}", i, j, 1, kind)
    return wiring.network(f"host-file:{path}", range(len(names)), None, names, known)


def _all(row: list[list[str]]) -> list[str]:
    return [device for entry in row for device in entry]


def _hosts(path: str | PathLike[str], name: str) -> tuple[list[str], list[list[Any]], list[int]]:
    """Return the names of hosts, their lists of devices, and the lines where they begin."""
    data = read_bytes(path)
    if len(data) > _LARGEST:
        raise FileFormatError(f"{name}: a host file has at most {_LARGEST // 10**6} MB, got {len(data) // 10**6} MB")
    check_pieces(path, data, JSON_PIECES)
    text = read_text(path, "a host file: not UTF-8")
    try:
        told = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{name}, line {error.lineno}: not JSON ({error.msg})") from None
    except RecursionError:
        raise FileFormatError(f"{name}: lists are too deep") from None
    hosts = told.get("hosts") if isinstance(told, dict) else told
    if not isinstance(hosts, list) or not hosts:
        raise FileFormatError(f"{name}: a host file is a list of hosts, or an object with a list 'hosts'")
    if len(hosts) > _MOST_HOSTS:
        raise FileFormatError(f"{name}: a host file has at most {_MOST_HOSTS:,} hosts, got {len(hosts):,}")
    lines = _element_lines(text, 2 if isinstance(told, dict) else 1)
    lines = lines[-len(hosts) :] if len(lines) >= len(hosts) else [1] * len(hosts)
    names: list[str] = []
    rows: list[list[Any]] = []
    for i, host in enumerate(hosts):
        where = f"{name}, line {lines[i]}"
        row = host.get("rdma") if isinstance(host, dict) else host
        if not isinstance(row, list):
            raise FileFormatError(f"{where}: host {i} has no list 'rdma' that says by which devices it is cabled")
        label = host.get("ssh", f"host{i}") if isinstance(host, dict) else f"host{i}"
        if not isinstance(label, str) or not label:
            raise FileFormatError(f"{where}: 'ssh' must be the name of a host, got {shown(label)}")
        names.append(label)
        rows.append(row)
    for i, label in enumerate(names):
        if label in names[:i]:
            raise FileFormatError(f"{name}, line {lines[i]}: host {shown(label)} is there twice")
    return names, rows, lines


def _element_lines(text: str, depth: int) -> list[int]:
    """Return the lines where objects and lists begin that are so deep in others.

    >>> _element_lines('[[null],' + chr(10) + '["]["]]', 1)
    [1, 2]
    """
    found, level, line, at = [], 0, 1, 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        if match[0] in "[{":
            if level == depth:
                line += text.count("\n", at, match.start())
                at = match.start()
                found.append(line)
            level += 1
        elif match[0] in "]}":
            level -= 1
    return found


def _devices(entry: Any, where: str) -> list[str]:
    found = [] if entry is None else entry if isinstance(entry, list) else [entry]
    for device in found:
        if not isinstance(device, str) or not device or found.count(device) > 1:
            allowed = "null, a device such as 'rdma_en5', or a list of them"
            raise FileFormatError(f"{where}: an entry of 'rdma' is {allowed}, got {shown(entry)}")
    return found


def _write_host_file(network: Network, path: Path) -> None:
    """Write the hosts; devices are named ``rdma_en0``... in the order of the links of a host."""
    ports = network.shared_ports
    if network.terminal_count < network.node_count or not network.two_way or ports is not None:
        raise FileFormatError("a host file has hosts and cables between them: no switches, one-way links, shared ports")
    rows: list[list[Any]] = [[[] for _ in range(network.node_count)] for _ in range(network.node_count)]
    used = [0] * network.node_count
    ends = zip(network.link_source.tolist(), network.link_target.tolist(), network.link_capacity.tolist(), strict=True)
    for u, v, capacity in ends:
        rows[u][v] += [f"rdma_en{used[u] + k}" for k in range(capacity)]
        used[u] += capacity
    hosts = [
        {
            "ssh": network.node_name(u),
            "ips": [],
            "rdma": [None if not entry else entry[0] if len(entry) == 1 else entry for entry in row],
        }
        for u, row in enumerate(rows)
    ]
    lines = ",\n".join(f"  {json.dumps(host, ensure_ascii=False)}" for host in hosts)
    path.write_text(f'{{"backend": "jaccl", "envs": [], "hosts": [\n{lines}\n]}}\n', encoding="utf-8")


HOST_FILE = NetworkFormat(
    name="host-file",
    summary="hosts and the cables between them, from the JSON of MLX's launcher",
    source="gossamer.networks.read_host_file",
    suffixes=(".hosts", ".json"),
    read=lambda path, words=None: read_host_file(path, **(words or {})),
    write=_write_host_file,
    recognizes=lambda text: bool(re.search(r'(?s)^\s*(?:\[\s*\[\s*null\b|[\[{].*"(?:rdma|ips)"\s*:)', text)),
    form=path_and("link", "latency"),
    parameters="PATH[,link=10GB/s][,latency=10us]",
)
