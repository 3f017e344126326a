"""Slurm's ``topology.conf`` and ``topology.yaml``: the tree of switches, or the blocks, of a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from gossamer.atomic_files import quantity
from gossamer.errors import FileFormatError, nearest, shown
from gossamer.networks.builder import LinkKind, NetworkFormat, Wiring, attributed, path_and
from gossamer.networks.network import Network
from gossamer.networks.structures import Assumption, Assumptions
from gossamer.reading.files import check_pieces, file_name, read_bytes, read_text, text_lines
from gossamer.reading.node_lists import expanded

_TREE = {"switchname": "SwitchName", "nodes": "Nodes", "switches": "Switches", "linkspeed": "LinkSpeed"}
_BLOCK = {"blockname": "BlockName", "nodes": "Nodes", "blocksizes": "BlockSizes"}
_PIECES = {b"\n": 600, b",": 600}


def read_slurm_topology(
    path: str | PathLike[str], *, topology: str | None = None, link: str | None = None, latency: str | None = None
) -> Network:
    """Read the switches or blocks of a cluster from the file ``topology.conf`` or ``topology.yaml`` of Slurm.

    Parameters
    ----------
    path : path
        Lines ``SwitchName=s0 Nodes=node[0-15]`` and ``SwitchName=top Switches=s[0-3]`` (plugin ``topology/tree``), or
        ``BlockName=b0 Nodes=node[0-17]`` and ``BlockSizes=18,36`` (``topology/block``); or YAML with the same in
        entries ``topology``. ``LinkSpeed`` has no unit there and is passed over.
    topology : str, optional
        The entry of ``topology.yaml``. Default: the one with ``cluster_default: true``, else the first.
    link, latency : str, optional
        Bandwidth and latency of every link, such as ``50GB/s`` and ``1us``. Default: none, so that plans are in steps.

    Returns
    -------
    Network
        The nodes of the cluster are the terminals, in the order of the file, with their names as labels. A block is a
        switch; where there are several block sizes, blocks that follow each other are joined by a switch for each size
        above the first, and by a last one that joins all. Every link has capacity 1: the file does not say how many
        cables there are.

    Raises
    ------
    FileFormatError
        If there are no nodes, or (with the line number) a line is malformed, a name is there twice, or a switch is not
        described.
    """
    name = f"Slurm topology {file_name(path)}"
    kind = attributed(name, {"bandwidth": link, "latency": latency}, FileFormatError)[1]
    below = _Below(name)
    assumed: list[Assumption] = []
    first = next(text_lines(path, "a topology.conf", pieces=_PIECES), (0, ""))[1]
    if re.match(r"---|-(\s|$)|topology\s*:", first):
        assumed += _from_yaml(path, below, topology)
    elif topology is not None:
        raise FileFormatError(f"{name}: topology= chooses an entry of topology.yaml; a topology.conf has one only")
    else:
        _from_lines(path, below)
    if below.sizes and not below.blocks:
        raise FileFormatError(f"{below.sized}: block sizes are given, and no blocks")
    wiring = Wiring(name)
    terminals = _join(wiring, below, kind)
    if not terminals:
        raise FileFormatError(f"{name}: there are no nodes")
    text = "one cable from each place to the one above it, which the file does not tell"
    edit = "write it as .edges with 'gossamer network FILE -o FILE.edges', and edit that"
    if below.blocks:
        levels = len(below.sizes) - 1 if len(below.sizes) > 1 else 0
        joined = f", {quantity(levels, 'level')} of switches for the larger sizes" if levels else ""
        assumed.append(Assumption(f"a switch for each block{joined}, and one that joins all", edit))
    assumed.append(Assumption(text, edit))
    every = [*terminals, *below.switches]
    return wiring.network(f"slurm:{path}", every, len(terminals), every, [Assumptions(tuple(assumed))])


class _Switch(NamedTuple):
    """Where a switch is described, and what is below it."""

    where: str
    nodes: list[str]
    switches: list[str]


@dataclass
class _Below:
    """What a file says so far: of switches and blocks what is below them, and the sizes of blocks."""

    name: str
    switches: dict[str, _Switch] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    sized: str = ""
    known: int = 0

    def names(self, text: str, where: str) -> list[str]:
        found = expanded(text, where, self.known)
        self.known += len(found)
        return found

    def add(self, where: str, names: str, nodes: str | None, switches: str | None, block: bool) -> None:
        """Add a switch or a block, or several that are alike."""
        if block and nodes is None:
            raise FileFormatError(f"{where}: a block needs nodes")
        if nodes is None and switches is None:
            raise FileFormatError(f"{where}: a switch needs Nodes= or Switches=")
        of = [[] if text is None else self.names(text, where) for text in (nodes, switches)]
        for name in self.names(names, where):
            if name in self.switches:
                raise FileFormatError(f"{where}: {'block' if block else 'switch'} {shown(name)} is there twice")
            if bool(self.blocks) != block and self.switches:
                raise FileFormatError(f"{where}: a file has switches or blocks, not both")
            self.switches[name] = _Switch(where, *of)
            if block:
                self.blocks.append(name)

    def set_sizes(self, where: str, words: Iterable[str]) -> None:
        """Set the sizes of blocks: each a power of two times the first, and larger than the one before."""
        if self.sizes:
            raise FileFormatError(f"{where}: block sizes are given twice")
        for word in words:
            size = int(word) if re.fullmatch("[1-9][0-9]{0,6}", word.strip()) else 0
            times, rest = divmod(size, self.sizes[0] if self.sizes else max(size, 1))
            if not size or rest or times & (times - 1) or (self.sizes and size <= self.sizes[-1]):
                allowed = "whole numbers that ascend, each a power of two times the first"
                raise FileFormatError(f"{where}: block sizes must be {allowed}, got {shown(word)}")
            self.sizes.append(size)
        self.sized = where


def _join(wiring: Wiring, below: _Below, kind: LinkKind) -> dict[str, None]:
    """Add all links, and the switches that join blocks; return the nodes."""
    terminals: dict[str, None] = {}
    owned: dict[str, str] = {}
    for switch, (where, nodes, switches) in below.switches.items():
        for node in nodes:
            if node in below.switches or node in terminals:
                what = "a block" if below.blocks else "a switch"
                raise FileFormatError(f"{where}: {shown(node)} is {what if node in below.switches else 'there twice'}")
            terminals[node] = None
            wiring.add(where, node, switch, 1, kind)
        for other in switches:
            if other not in below.switches:
                raise FileFormatError(f"{where}: switch {shown(other)} is not described")
            if other in owned:
                raise FileFormatError(f"{where}: switch {shown(other)} is below {owned[other]} already; it is no tree")
            owned[other] = switch
            wiring.add(where, other, switch, 1, kind)
    row = below.blocks
    for level, (size, larger) in enumerate(zip(below.sizes, below.sizes[1:], strict=False), 1):
        row = _joined(wiring, below, row, larger // size, f"blocks of {below.sizes[level]}", kind, terminals)
    if len(row) > 1:
        _joined(wiring, below, row, len(row), "blocks", kind, terminals)
    return terminals


def _joined(
    wiring: Wiring, below: _Below, row: list[str], count: int, called: str, kind: LinkKind, terminals: dict[str, None]
) -> list[str]:
    """Join so many switches of a row each time by one above, and return those."""
    if len(row) <= 1:
        return row
    above: list[str] = []
    for at in range(0, len(row), count):
        name = called if count >= len(row) else f"{called}, {at // count}"
        if name in below.switches or name in terminals:
            raise FileFormatError(
                f"{below.name}: {shown(name)} names a block or node, and is the name of a switch above"
            )
        below.switches[name] = _Switch("", [], [])
        for one in row[at : at + count]:
            wiring.add(below.name, one, name, 1, kind)
        above.append(name)
    return above


# topology.conf


def _from_lines(path: str | PathLike[str], below: _Below) -> None:
    for where, line in _lines(path, below.name):
        given = _fields(line, where)
        if "blocksizes" in given:
            if len(given) > 1:
                raise FileFormatError(f"{where}: BlockSizes stands in a line of its own, got {shown(line)}")
            below.set_sizes(where, given["blocksizes"].split(","))
            continue
        named = given.get("switchname") or given.get("blockname")
        if named is None:
            raise FileFormatError(f"{where}: a line begins with SwitchName= or BlockName=, got {shown(line)}")
        below.add(where, named, given.get("nodes"), given.get("switches"), "blockname" in given)


def _lines(path: str | PathLike[str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines with their places; a line that ends in a backslash goes on in the next."""
    start, parts = 0, []
    for place, line in text_lines(path, "a topology.conf", pieces=_PIECES):
        start = start or place
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield f"{name}, line {start}", " ".join(parts).strip()
            start, parts = 0, []
    if parts:
        yield f"{name}, line {start}", " ".join(parts).strip()


def _fields(line: str, where: str) -> dict[str, str]:
    found: dict[str, str] = {}
    block = re.match("(?i)Block(?:Name|Sizes)=", line) is not None
    keys = _BLOCK if block else _TREE
    for word in line.split():
        key, sign, value = word.partition("=")
        if key.lower() not in keys or not sign or not value:
            hint = nearest(key, keys.values())
            raise FileFormatError(
                f"{where}: expected one of {', '.join(keys.values())} with =, got {shown(word)}{hint}"
            )
        if key.lower() in found:
            raise FileFormatError(f"{where}: {key} is given twice")
        found[key.lower()] = value
    return found


# topology.yaml, and of YAML what stands in it: lists and mappings by indentation, lists in brackets, plain values.

_DEEP = 20
_ENTRY = re.compile(r"""("[^"]*"|'[^']*'|[^\s:#'"\[\]{}&*!|>%@`,-][^:#]*?)\s*:(?:\s+(.*))?""")


class _Yaml(NamedTuple):
    """A value of YAML, and the line where it begins."""

    value: str | list[_Yaml] | dict[str, _Yaml]
    line: int


@dataclass
class _YamlLines:
    """The lines that are left: their numbers, indentation and text."""

    name: str
    rows: list[tuple[int, int, str]]
    at: int = 0

    def refused(self, line: int, what: str) -> FileFormatError:
        return FileFormatError(f"{self.name}, line {line}: {what}")

    def value(self, indent: int, deep: int) -> _Yaml:
        """Return the list or mapping whose entries begin at an indentation."""
        line = self.rows[self.at][0]
        if deep > _DEEP:
            raise self.refused(line, f"lists and mappings are over {_DEEP} deep")
        if re.match(r"-(\s|$)", self.rows[self.at][2]):
            return _Yaml(self._list(indent, deep), line)
        return _Yaml(self._mapping(indent, deep), line)

    def _list(self, indent: int, deep: int) -> list[_Yaml]:
        found = []
        while self.at < len(self.rows) and self.rows[self.at][1] == indent:
            line, _, text = self.rows[self.at]
            if not re.match(r"-(\s|$)", text):
                break
            rest = text[1:].lstrip()
            if not rest:
                found.append(self._inner(indent, line, deep))
            elif _ENTRY.fullmatch(rest) or re.match(r"-(\s|$)", rest):
                place = indent + len(text) - len(rest)
                self.rows[self.at] = (line, place, rest)
                found.append(self.value(place, deep + 1))
            else:
                self.at += 1
                found.append(self._scalar(rest, line))
        return found

    def _mapping(self, indent: int, deep: int) -> dict[str, _Yaml]:
        found: dict[str, _Yaml] = {}
        while self.at < len(self.rows) and self.rows[self.at][1] == indent:
            line, _, text = self.rows[self.at]
            entry = _ENTRY.fullmatch(text)
            if entry is None:
                raise self.refused(line, f"expected an entry such as 'nodes: node[0-7]', got {shown(text)}")
            key = entry[1].strip("\"'")
            if key in found:
                raise self.refused(line, f"{key} is given twice")
            if entry[2]:
                self.at += 1
                found[key] = self._scalar(entry[2], line)
            else:
                found[key] = self._inner(indent, line, deep, lists=True)
        if self.at < len(self.rows) and self.rows[self.at][1] > indent:
            raise self.refused(self.rows[self.at][0], "it is indented more than the lines before it")
        return found

    def _inner(self, indent: int, line: int, deep: int, lists: bool = False) -> _Yaml:
        """Return what is indented below a line: nothing is an empty text; a list may stand as far left as its name."""
        self.at += 1
        if self.at < len(self.rows):
            inner, text = self.rows[self.at][1:]
            if inner > indent or (lists and inner == indent and re.match(r"-(\s|$)", text)):
                return self.value(inner, deep + 1)
        return _Yaml("", line)

    def _scalar(self, text: str, line: int) -> _Yaml:
        if text.startswith("["):
            if not text.endswith("]"):
                raise self.refused(line, f"a list in brackets ends in its line, got {shown(text)}")
            words = [word.strip() for word in text[1:-1].split(",")]
            return _Yaml([self._scalar(word, line) for word in words if word], line)
        quoted = re.fullmatch(r"\"([^\"\\]*)\"|'([^']*)'", text)
        if quoted is None and text[0] in "\"'{}&*!|>%@`":
            raise self.refused(line, f"{shown(text)} is YAML that is not read; write it as a plain value or a list")
        return _Yaml((quoted[1] or quoted[2] or "") if quoted else text, line)


def _from_yaml(path: str | PathLike[str], below: _Below, topology: str | None) -> list[Assumption]:
    """Take one of the topologies of a file, and return what was assumed."""
    entries = [_named(below, entry) for entry in _yaml_entries(path, below.name)]
    names = [name for name, _ in entries]
    for i, (name, entry) in enumerate(entries):
        if name in names[:i]:
            raise _wrong(below, entry["topology"], f"topology {shown(name)} is there twice")
    if topology is not None and topology not in names:
        raise FileFormatError(f"{below.name}: no topology {shown(topology)}; it has: {', '.join(names)}")
    default = _default(below, entries)
    chosen = topology or default
    entry = dict(entries)[chosen]
    kinds = [key for key in entry if key not in ("topology", "cluster_default")]
    if len(kinds) != 1 or kinds[0] not in ("tree", "block"):
        told = ", ".join(kinds) or "none"
        raise _wrong(below, entry["topology"], f"topology {shown(chosen)} must have 'tree' or 'block', got {told}")
    (_yaml_tree if kinds[0] == "tree" else _yaml_blocks)(below, _mapping(below, entry[kinds[0]]))
    if topology is not None or len(names) == 1:
        return []
    return [Assumption(f"topology {chosen} of {', '.join(names)}", f"slurm:{path},topology=NAME")]


def _default(below: _Below, entries: list[tuple[str, dict[str, _Yaml]]]) -> str:
    """Return the topology that is the default, the first one if none is."""
    found = []
    for name, entry in entries:
        said = _text(below, entry.get("cluster_default"))
        if said is not None and said.lower() not in ("true", "false"):
            raise _wrong(below, entry["cluster_default"], f"cluster_default must be true or false, got {shown(said)}")
        if said is not None and said.lower() == "true":
            found.append(name)
            if len(found) > 1:
                told = f"topology {shown(found[0])} is the default already"
                raise _wrong(below, entry["cluster_default"], told)
    return (found or [entries[0][0]])[0]


def _yaml_entries(path: str | PathLike[str], name: str) -> list[_Yaml]:
    check_pieces(path, read_bytes(path), _PIECES | {b"-": 300})
    rows = []
    for number, line in enumerate(read_text(path, "a topology.yaml").split("\n"), 1):
        text = re.sub(r"(?:^|\s)#.*", "", line).rstrip()
        said = text.lstrip(" ")
        if "\t" in text:
            raise FileFormatError(f"{name}, line {number}: YAML has no tabs")
        if said and text != "---":
            rows.append((number, len(text) - len(said), said))
    if not rows:
        raise FileFormatError(f"{name}: there are no topologies")
    lines = _YamlLines(name, rows)
    found = lines.value(rows[0][1], 0)
    if lines.at < len(rows):
        raise lines.refused(rows[lines.at][0], f"{shown(rows[lines.at][2])} belongs to nothing")
    if not isinstance(found.value, list):
        raise lines.refused(found.line, "a topology.yaml is a list of entries '- topology: NAME'")
    return found.value


def _wrong(below: _Below, at: _Yaml, what: str) -> FileFormatError:
    return FileFormatError(f"{below.name}, line {at.line}: {what}")


def _mapping(below: _Below, of: _Yaml) -> dict[str, _Yaml]:
    if not isinstance(of.value, dict):
        raise _wrong(below, of, "expected entries such as 'nodes: node[0-7]'")
    return of.value


def _text(below: _Below, of: _Yaml | None) -> str | None:
    """Return a text, or the texts of a list with commas between them."""
    if of is None or isinstance(of.value, str):
        return None if of is None else str(of.value)
    if isinstance(of.value, list):
        return ",".join(_text(below, each) or "" for each in of.value)
    raise _wrong(below, of, "expected a value, got entries")


def _named(below: _Below, of: _Yaml) -> tuple[str, dict[str, _Yaml]]:
    entry = _mapping(below, of)
    if next(iter(entry)) != "topology" or not _text(below, entry["topology"]):
        raise _wrong(below, of, "an entry begins with 'topology: NAME'")
    return str(_text(below, entry["topology"])), entry


def _entries(below: _Below, of: dict[str, _Yaml], key: str, known: tuple[str, ...]) -> Iterator[dict[str, _Yaml]]:
    """Yield the entries of a list in a mapping, each of them with known names only."""
    at = of[key]
    if not isinstance(at.value, list):
        raise _wrong(below, at, f"{key} must be a list of entries '- {known[0]}: NAME'")
    for one in at.value:
        entry = _mapping(below, one)
        for name, value in entry.items():
            if name not in known:
                raise _wrong(
                    below, value, f"expected one of {', '.join(known)}, got {shown(name)}{nearest(name, known)}"
                )
        if known[0] not in entry:
            raise _wrong(below, one, f"an entry of {key} has a name: '{known[0]}: NAME'")
        yield entry


def _check_names(below: _Below, of: dict[str, _Yaml], known: tuple[str, ...], needed: str = "") -> None:
    for name, value in of.items():
        if name not in known:
            told = f"expected one of {', '.join(known)}, got {shown(name)}{nearest(name, known)}"
            raise _wrong(below, value, told)
    if needed and needed not in of:
        raise FileFormatError(f"{below.name}: the topology has no {needed!r}")


def _yaml_tree(below: _Below, tree: dict[str, _Yaml]) -> None:
    _check_names(below, tree, ("switches",), "switches")
    for entry in _entries(below, tree, "switches", ("switch", "children", "nodes")):
        where = f"{below.name}, line {entry['switch'].line}"
        name, nodes, children = (_text(below, entry.get(key)) for key in ("switch", "nodes", "children"))
        if not nodes and not children:
            raise FileFormatError(f"{where}: a switch needs 'nodes' or 'children'")
        below.add(where, str(name), nodes or None, children or None, False)


def _yaml_blocks(below: _Below, block: dict[str, _Yaml]) -> None:
    _check_names(below, block, ("block_sizes", "blocks"), "blocks")
    if "block_sizes" in block:
        at = block["block_sizes"]
        below.set_sizes(f"{below.name}, line {at.line}", (_text(below, at) or "").split(","))
    for entry in _entries(below, block, "blocks", ("block", "nodes")):
        below.add(
            f"{below.name}, line {entry['block'].line}", str(_text(below, entry["block"])),
            _text(below, entry.get("nodes")) or None, None, True,
        )  # fmt: skip


SLURM = NetworkFormat(
    name="slurm",
    summary="switches or blocks of a cluster, from the topology.conf or topology.yaml of Slurm",
    source="gossamer.networks.read_slurm_topology",
    suffixes=(".conf", ".yaml", ".yml"),
    read=lambda path, words=None: read_slurm_topology(path, **(words or {})),
    recognizes=lambda text: bool(
        re.search(
            r"^\s*(?:(?:SwitchName|BlockName|BlockSizes)\s*=|-\s*topology\s*:)", text, re.MULTILINE | re.IGNORECASE
        )
    ),
    form=path_and("topology", "link", "latency"),
    parameters="PATH[,topology=NAME][,link=50GB/s][,latency=1us]",
)
