"""Networks in files: one file a format, one table of all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from gossamer.atomic_files import whole_file
from gossamer.errors import FileFormatError
from gossamer.networks.builder import NetworkFormat
from gossamer.networks.family import Family, Size, checked_size
from gossamer.networks.files.edge_list import DIRECTED_EDGES, EDGES, read_edge_list, write_edge_list
from gossamer.networks.files.graphs import DOT, GML, GRAPHML, JSON
from gossamer.networks.files.host_dumps import LSTOPO, ROCM_SMI, read_lstopo, read_rocm_smi
from gossamer.networks.files.host_files import COORDINATES, HOST_FILE, read_coordinates, read_host_file
from gossamer.networks.files.ibnetdiscover import IBNETDISCOVER, read_ibnetdiscover
from gossamer.networks.files.mesh_graphs import MESH_GRAPH, read_mesh_graph
from gossamer.networks.files.nccl import NCCL, NCCL_GRAPH, read_nccl_graph, read_nccl_topology
from gossamer.networks.files.nvidia_smi import NVIDIA_SMI, read_nvidia_smi
from gossamer.networks.files.simulators import BOOKSIM, HTSIM, NS3, SIMGRID, read_simgrid
from gossamer.networks.files.slurm import SLURM, read_slurm_topology
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, opened

__all__ = [
    "FILE_FAMILIES",
    "FORMATS",
    "read_coordinates",
    "read_edge_list",
    "read_host_file",
    "read_ibnetdiscover",
    "read_lstopo",
    "read_mesh_graph",
    "read_nccl_graph",
    "read_nccl_topology",
    "read_network",
    "read_nvidia_smi",
    "read_rocm_smi",
    "read_simgrid",
    "read_slurm_topology",
    "suffixes",
    "writable_suffixes",
    "write_edge_list",
    "write_network",
]

# The table of formats: what reads and writes network files, and which format a file is of.

FORMATS: tuple[NetworkFormat, ...] = (
    EDGES,
    DIRECTED_EDGES,
    JSON,
    GRAPHML,
    GML,
    DOT,
    ROCM_SMI,
    NVIDIA_SMI,
    NCCL,
    NCCL_GRAPH,
    LSTOPO,
    HOST_FILE,
    MESH_GRAPH,
    IBNETDISCOVER,
    SLURM,
    COORDINATES,
    SIMGRID,
    BOOKSIM,
    HTSIM,
    NS3,
)
"""Every format, in the order in which they are shown; the first of a suffix is that of a file of unknown content."""

_LOOK = 65_536
"""Bytes of a file that are looked at to find its format."""
_LINES = 50
_ALONE = ("half-duplex", "one-way")
"""Lines of an edge list that are one word."""
_PROSE = re.compile(r"^.{2000}|<[a-z]+>|^(?:import|def|from) ", re.MULTILINE)
"""What no list of edges has."""


def suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files that `read_network` reads."""
    return tuple(dict.fromkeys(s for each in FORMATS if each.read is not None for s in each.suffixes))


def writable_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files that `write_network` writes."""
    return tuple(dict.fromkeys(s for each in FORMATS if each.write is not None for s in each.suffixes))


def read_network(path: str | PathLike[str]) -> Network:
    """Read a network from a file.

    Parameters
    ----------
    path : path
        ``.edges`` or ``.txt``: an edge list (`read_edge_list`), ``.dedges``: one of one-way links; ``.json``: a
        node-link graph as NetworkX writes it, or a host file; ``.graphml``, ``.gml``. Edges may have a ``capacity``, a
        ``bandwidth``, a ``latency`` and nodes ``terminal`` false, as in `from_networkx`. ``.xml``: a topology or graph
        of NCCL, of lstopo or SimGrid; ``.conf``, ``.yaml``: the topology of Slurm; ``.ibnet``: the output of
        ibnetdiscover; ``.textproto``: a mesh graph descriptor; ``.coords``, ``.ranks``: a rank map; ``.anynet``,
        ``.ns3``: networks of simulators. Where several formats have a suffix the content tells which it is, and so it
        does for a ``.txt`` and a file of any other suffix, such as the output of ``nvidia-smi topo -m`` or
        ``rocm-smi --showtopo``.

    Returns
    -------
    Network
        With the links of the file, `links_only`.

    Raises
    ------
    FileFormatError
        If neither the suffix nor the content is of a format, or the file cannot be read.
    NetworkError
        If the graph is no network.

    Examples
    --------
    >>> import tempfile, pathlib, networkx as nx
    >>> from gossamer.networks import read_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "petersen.graphml")
    ...     nx.write_graphml(nx.petersen_graph(), path)
    ...     read_network(path).diameter
    2
    """
    suffix = Path(path).suffix.lower()
    found = next((each for each in FORMATS if suffix in each.suffixes and each.read is not None), None)
    alike = [each for each in FORMATS if suffix in each.suffixes and each.read is not None]
    with opened(path) as file:
        head = file.read(_LOOK)
    if found is not None and not head.strip(b"\xef\xbb\xbf \t\r\n"):
        raise FileFormatError(f"graph file {file_name(path)}: the file is empty")
    if found is None or suffix == ".txt" or len(alike) > 1:
        found = _recognized(head, found, FORMATS if found is None or suffix == ".txt" else alike)
        if found is None:
            told = "of no known format by its content; else the suffix must be one of " + ", ".join(suffixes())
            if head[:4] == b"PAR1":
                told = "a Parquet file, such as the schedules that plan writes, and no network"
            raise FileFormatError(f"graph file {file_name(path)}: it is {told}")
    assert found.read is not None  # of those that have one
    return found.read(Path(path))


def _recognized(head: bytes, usual: NetworkFormat | None, formats: Sequence[NetworkFormat]) -> NetworkFormat | None:
    """Return which of some formats a file that begins with some bytes is of, else the `usual` one of its suffix."""
    text = head.decode("utf-8-sig", errors="replace")
    found = next((each for each in formats if each.recognizes(text)), usual)
    if found is not None:
        return found
    if b"\0" in head or "\ufffd" in text[:-4]:
        return None
    begin = text.lstrip()
    if begin.startswith("{"):
        return JSON
    if begin.startswith("<"):
        return GRAPHML if re.search(r"<graphml\b", text) else None
    if re.match(r"(?:#.*\n|Creator .*\n|\s)*graph\s*\[", text):
        return GML
    lines = [line.split("#")[0].split() for line in text.splitlines()[:_LINES]]
    words = [line for line in lines if line]
    edge = words and all(len(line) >= 2 or line[0] in _ALONE for line in words[:-1] or words)
    return EDGES if edge and not _PROSE.search(text) else None


def write_network(network: Network, path: str | PathLike[str]) -> None:
    """Write a network to a file; `read_network` gives an equal one back, but for what a format has no words for.

    Parameters
    ----------
    network : Network
        Any network. Its links, capacities, times, speeds, labels and terminals are written; its group, grid or other
        structure is not.
    path : path
        ``.edges``, ``.txt``, ``.json``, ``.graphml``, ``.dot`` or ``.gv``; ``.hosts`` for MLX's launcher; ``.ibnet``
        as ibnetdiscover prints; ``.anynet`` for BookSim, ``.ns3`` for ns-3's models of RDMA, ``.topo`` for htsim, of
        which the last is not read. The file appears whole or not at all.

    Raises
    ------
    FileFormatError
        If the suffix is another, the format has no words for the network, or the file cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import ring, read_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ring.json")
    ...     write_network(ring(5), path)
    ...     read_network(path) == ring(5)
    True
    """
    suffix = Path(path).suffix.lower()
    found = next((each.write for each in FORMATS if suffix in each.suffixes and each.write is not None), None)
    if found is None:
        raise FileFormatError(
            f"network file {file_name(path)}: the suffix must be one of {', '.join(writable_suffixes())}"
        )
    with whole_file(path) as part:
        found(network, part)


def _family(each: NetworkFormat) -> Family:
    """Return the family of the networks in files of a format: its parameter is the path."""
    read = each.read
    assert read is not None

    def size(*given: object) -> Size:
        network = read(*given)
        return checked_size(each.name, network.node_count, network.link_count)

    return Family(
        name=each.name,
        function=read,
        size=size,
        form=each.form,
        parameters=each.parameters,
        summary=each.summary,
        example=f"{each.name}:{'network' if each.suffixes else 'topology'}{(*each.suffixes, '.txt')[0]}",
        source=each.source,
        aliases=each.aliases,
        reads_file=True,
    )


FILE_FAMILIES: tuple[Family, ...] = tuple(_family(each) for each in FORMATS if each.read is not None)
"""The families that read a file."""
