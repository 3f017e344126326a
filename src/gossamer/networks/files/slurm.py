"""Slurm's ``topology.conf``: the tree of switches of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike

from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import NetworkFormat, Wiring
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, text_lines
from gossamer.reading.node_lists import expanded

__all__ = ["SLURM", "read_slurm_topology"]

_KEYS = {"switchname": "SwitchName", "nodes": "Nodes", "switches": "Switches", "linkspeed": "LinkSpeed"}


def read_slurm_topology(path: str | PathLike[str]) -> Network:
    """Read the tree of switches of a cluster from the file ``topology.conf`` of Slurm (plugin ``topology/tree``).

    Parameters
    ----------
    path : path
        Lines ``SwitchName=s0 Nodes=node[0-15]`` and ``SwitchName=top Switches=s[0-3]``. ``LinkSpeed`` has no unit there
        and is passed over.

    Returns
    -------
    Network
        The nodes of the cluster are the terminals, in the order of the file, with their names as labels. Every link has
        capacity 1: the file does not say how many cables there are.

    Raises
    ------
    FileFormatError
        If there are no nodes, or (with the line number) a line is malformed, a name is there twice, or a switch is not
        described.
    """
    name = f"Slurm topology {file_name(path)}"
    below: dict[str, tuple[str, list[str], list[str]]] = {}  # place, nodes and switches of each switch
    known = 0
    for where, line in _lines(path, name):
        given = _fields(line, where)
        if "switchname" not in given:
            raise FileFormatError(f"{where}: a line begins with SwitchName=, got {shown(line)}")
        nodes, switches = (expanded(given[key], where, known) if key in given else [] for key in ("nodes", "switches"))
        known += len(nodes) + len(switches)
        if not nodes and not switches:
            raise FileFormatError(f"{where}: a switch needs Nodes= or Switches=")
        for switch in expanded(given["switchname"], where, known):
            if switch in below:
                raise FileFormatError(f"{where}: switch {shown(switch)} is there twice")
            below[switch] = (where, nodes, switches)
    wiring = Wiring(name)
    terminals: dict[str, None] = {}
    owned: dict[str, str] = {}
    for switch, (where, nodes, switches) in below.items():
        for node in nodes:
            if node in below or node in terminals:
                raise FileFormatError(f"{where}: {shown(node)} is {'a switch' if node in below else 'there twice'}")
            terminals[node] = None
            wiring.add(where, node, switch)
        for other in switches:
            if other not in below:
                raise FileFormatError(f"{where}: switch {shown(other)} is not described")
            if other in owned:
                raise FileFormatError(f"{where}: switch {shown(other)} is below {owned[other]} already; it is no tree")
            owned[other] = switch
            wiring.add(where, other, switch)
    if not terminals:
        raise FileFormatError(f"{name}: there are no nodes")
    every = [*terminals, *below]
    return wiring.network(f"slurm:{path}", every, len(terminals), every)


def _lines(path: str | PathLike[str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines with their places; a line that ends in a backslash goes on in the next."""
    start, parts = 0, []
    for place, line in text_lines(path, "a topology.conf", pieces={b"\n": 600, b",": 600}):
        start = start or place
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield f"{name}, line {start}", " ".join(parts).strip()
            start, parts = 0, []
    if parts:
        yield f"{name}, line {start}", " ".join(parts).strip()


def _fields(line: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in line.split():
        key, sign, value = word.partition("=")
        if key.lower() in ("blockname", "blocksizes"):
            raise FileFormatError(f"{where}: blocks (topology/block) are not read; a tree has lines SwitchName=")
        if key.lower() not in _KEYS or not sign or not value:
            hint = nearest(key, _KEYS.values())
            raise FileFormatError(
                f"{where}: expected one of {', '.join(_KEYS.values())} with =, got {shown(word)}{hint}"
            )
        if key.lower() in found:
            raise FileFormatError(f"{where}: {key} is given twice")
        found[key.lower()] = value
    return found


SLURM = NetworkFormat(
    name="slurm",
    summary="tree of switches, from the topology.conf of Slurm",
    source="gossamer.networks.read_slurm_topology",
    suffixes=(".conf",),
    read=read_slurm_topology,
    recognizes=lambda text: bool(re.search(r"^\s*SwitchName\s*=", text, re.MULTILINE | re.IGNORECASE)),
)
