"""Slurm's ``topology.conf``: the tree of switches of a cluster."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from os import PathLike

from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import Wiring
from gossamer.networks.files.format import NetworkFormat
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, text_lines

__all__ = ["MOST_NAMES", "SLURM", "expanded", "folded", "read_slurm_topology"]

# Host lists, in which ``node[1-3,7]`` stands for four names.

MOST_NAMES = 800_000
"""How many names the lists of a file may stand for: each takes about 600 bytes in a network."""

_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expanded(text: str, where: str, known: int = 0) -> list[str]:
    """Return the names that a host list stands for.

    Parameters
    ----------
    text : str
        Names separated by commas; in each, brackets hold numbers and ranges. The last bracket runs fastest, and a range
        whose first number has leading zeros keeps its width.
    where : str
        The place that messages name.
    known : int
        Names that the file has said before.

    Raises
    ------
    FileFormatError
        If brackets do not match, a range is malformed or empty, or there would be over 800,000 names.

    Examples
    --------
    >>> expanded("rack[0-1]n[08-10],login", "line 1")
    ['rack0n08', 'rack0n09', 'rack0n10', 'rack1n08', 'rack1n09', 'rack1n10', 'login']
    """
    names: list[str] = []
    for word in _split(text):
        if not word.strip():
            raise FileFormatError(f"{where}: a name is missing in {shown(text)}")
        pieces = list(_PIECE.finditer(word))
        if sum(len(p[0]) for p in pieces) != len(word):
            raise FileFormatError(f"{where}: brackets do not match in {shown(word)}")
        spans: list[list[tuple[str, int | None, int]]] = [
            _spans(p[1], word, where) if p[2] is None else [(p[2], None, 0)] for p in pieces
        ]
        count = math.prod(sum(1 if s[1] is None else s[1] - int(s[0]) + 1 for s in span) for span in spans)
        if known + len(names) + count > MOST_NAMES:
            raise FileFormatError(f"{where}: with {shown(text)} the file has over {MOST_NAMES:,} names")
        names += map("".join, itertools.product(*map(_words, spans)))
    return names


def _split(text: str) -> list[str]:
    """Return the parts of a text between commas, but for those that a bracket closes behind."""
    *closed, rest = text.split("]")
    found: list[list[str]] = [[]]
    for segment in closed:
        before, bracket, inside = segment.rpartition("[")
        first, *others = before.split(",")
        found[-1].append(first)
        found += [[part] for part in others]
        found[-1].append(f"{bracket}{inside}]")
    first, *others = rest.split(",")
    found[-1].append(first)
    return ["".join(parts) for parts in found] + others


def _spans(text: str, word: str, where: str) -> list[tuple[str, int | None, int]]:
    """Return first number, last number and width of each range in a bracket."""
    found: list[tuple[str, int | None, int]] = []
    for part in text.split(","):
        ends = _RANGE.fullmatch(part.strip())
        if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
            raise FileFormatError(f"{where}: a range must be such as 0-7, got {shown(part)} in {shown(word)}")
        found.append((ends[1], int(ends[2] or ends[1]), len(ends[1])))
    return found


def _words(span: list[tuple[str, int | None, int]]) -> list[str]:
    return [
        word
        for first, last, width in span
        for word in ([first] if last is None else (f"{i:0{width}d}" for i in range(int(first), last + 1)))
    ]


def folded(numbers: Iterable[int]) -> str:
    """Return a bracket for increasing numbers.

    >>> folded([0, 1, 2, 7])
    '[0-2,7]'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return f"[{','.join(str(a) if a == b else f'{a}-{b}' for a, b in spans)}]"


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
