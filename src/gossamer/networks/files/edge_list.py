"""Edge lists: a line for each edge, and a few lines that say more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import exact_bandwidth, exact_duration
from gossamer.errors import FileFormatError, GossamerError, NetworkError, nearest, shown
from gossamer.networks.builder import ATTRIBUTES, PLAIN, LinkKind, NetworkFormat, Wiring, attributed
from gossamer.networks.derived import half_duplex
from gossamer.networks.family import checked_size
from gossamer.networks.network import Network
from gossamer.networks.networkx_conversion import port_attributes
from gossamer.networks.structures import Assumption, Assumptions, Speeds, Structure
from gossamer.reading import quantities
from gossamer.reading.files import file_name, read_bytes, text_lines
from gossamer.reading.node_lists import expanded, folded

# Edge lists of which every line is a pair of names, or a pair and a capacity: read as arrays, not line by line.

_DIGITS = 9
"""Of a capacity, or of a number for a name, that is read here."""
_WIDEST = 64
"""Characters of a name that is read here."""
_SPACE, _LETTER = 1, 2
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(b" \t\r\n")] = _SPACE
_KINDS[0x21:0x7F] = _LETTER
_KINDS[ord('"')] = 0


class PlainEdges(NamedTuple):
    """What such a file says: E edges between N nodes, in the order of its lines.

    * `letters` (S[N]): names of the nodes, in the order in which the lines mention them.
    * `source`, `target` (int32[E]): places of the ends of each edge among the names.
    * `capacity` (int32[E] or int32[1]): 1 where none is given.
    """

    letters: npt.NDArray[np.bytes_]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int32]

    def names(self) -> list[str]:
        """Return the names as texts."""
        return [name.decode("ascii") for name in self.letters.tolist()]

    def numbers(self) -> npt.NDArray[np.int32] | None:
        """Return the numbers that the names are, if they are 0..N-1 and written without zeros in front."""
        nodes = self.letters.size
        width = self.letters.dtype.itemsize
        rows = self.letters.view(np.uint8).reshape(nodes, width)
        found = _numbers(rows.ravel(), np.arange(nodes) * width, np.strings.str_len(self.letters))
        if found is None or ((rows[:, 0] == ord("0")) & (found > 0)).any():
            return None
        there = np.zeros(nodes, np.bool_)
        there[found[found < nodes]] = True
        zero = self.letters[found == 0]
        return found if there.all() and zero[0] == b"0" else None

    def first_fault(self, one_way: bool) -> tuple[int, ...]:
        """Return the first edge that joins a node to itself or repeats one, and the one before it; nothing if none is.

        O(E log E) time.
        """
        ends = self.source, self.target
        if not one_way:
            ends = np.minimum(*ends), np.maximum(*ends)
        pair = ends[0] * np.int64(self.letters.size) + ends[1]
        first = pair.size
        ranked = np.sort(pair)
        if (ranked[1:] == ranked[:-1]).any():
            order = np.argsort(pair, kind="stable")
            first = order[1 + np.flatnonzero(pair[order[1:]] == pair[order[:-1]])].min()
        loops = np.flatnonzero(self.source == self.target)
        at = int(min(first, loops.min(initial=pair.size)))
        return () if at == pair.size else (at, int(np.flatnonzero(pair == pair[at])[0]))


def plain_edges(data: bytes, statements: Collection[str] = ()) -> PlainEdges | None:
    r"""Return the edges of a file of lines ``u v``, or of lines ``u v capacity``; None if anything else stands in it.

    `data` (bytes): the file. Comments from ``#`` on, and empty lines, are passed over. `statements`: words that are no
    names.

    O(n log n) time for n bytes, and memory for about twenty times as many.

    >>> found = plain_edges(b"# a path\nb a\n\na c\n")
    >>> found.names(), found.source.tolist(), found.target.tolist()
    (['b', 'a', 'c'], [0, 1], [1, 2])
    >>> plain_edges(b"one-way\na b\n") is None
    True
    """
    if b"#" in data:
        data = re.sub(rb"#[^\n]*", b"", data)
    text = np.frombuffer(data + b"\n", np.uint8)
    kinds = _KINDS[text]
    if not kinds.all() or not (kinds == _LETTER).any() or text.size > 2**31:
        return None
    edge = np.diff(kinds, prepend=np.uint8(_SPACE))  # 1 where a word begins, 255 where it has ended
    start = np.flatnonzero(edge == 1).astype(np.int32)
    length = np.flatnonzero(edge == 255).astype(np.int32) - start
    del kinds, edge
    count = _words_of_each_line(text, start)
    if count is None:
        return None
    starts, lengths = start.reshape(-1, count), length.reshape(-1, count)
    capacity = np.ones(1, np.int32) if count == 2 else _numbers(text, starts[:, 2], lengths[:, 2])
    if capacity is None or not capacity.all():
        return None
    found = _named(text, starts[:, :2].ravel(), lengths[:, :2].ravel())
    if found is None or np.isin(found[0], [word.encode() for word in statements]).any():
        return None
    letters, place = found
    return PlainEdges(letters, place[::2], place[1::2], capacity)


def _words_of_each_line(text: npt.NDArray[np.uint8], start: npt.NDArray[np.int32]) -> int | None:
    """Return how many words every line has that has any, if that is two or three."""
    line = np.searchsorted(np.flatnonzero(text == ord("\n")), start).astype(np.int32)
    count = 3 if line.size > 2 and line[2] == line[0] else 2
    if line.size % count:
        return None
    first, last = line[::count], line[count - 1 :: count]
    return count if (first == last).all() and (first[1:] != last[:-1]).all() else None


def _numbers(
    text: npt.NDArray[np.uint8], start: npt.NDArray[np.integer], length: npt.NDArray[np.integer]
) -> npt.NDArray[np.int32] | None:
    """Return the numbers that stand at places of a text; None if one is something else, or large."""
    value = np.zeros(start.size, np.int32)
    if length.max() > _DIGITS:
        return None
    for k in range(int(length.max())):
        there = np.flatnonzero(k < length)
        digit = text[start[there] + k] - np.uint8(ord("0"))
        if (digit > 9).any():
            return None
        value[there] = value[there] * 10 + digit
    return value


def _named(
    text: npt.NDArray[np.uint8], start: npt.NDArray[np.int32], length: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.bytes_], npt.NDArray[np.int32]] | None:
    """Return the words at places of a text, each once and in their order, and which of them stands where."""
    width = next((w for w in (4, 8, _WIDEST) if length.max() <= w), None)
    if width == _WIDEST:
        width = int(length.max())
    if width is None or width * start.size > 10 * max(text.size, 1000):
        return None
    letters = np.zeros((start.size, width), np.uint8)
    for k in range(width):
        there = np.flatnonzero(k < length)
        letters[there, k] = text[start[there] + k]
    words = letters.view({4: ">u4", 8: ">u8"}.get(width, f"S{width}")).ravel()
    order = np.argsort(words, kind="stable")
    ranked = words[order]
    new = np.ones(words.size, np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    del ranked, words
    first = order[new]  # of each name, by name
    which = np.empty(order.size, np.int32)
    which[order] = np.cumsum(new, dtype=np.int32) - 1
    by_place = np.argsort(first)
    rank = np.empty(first.size, np.int32)
    rank[by_place] = np.arange(first.size, dtype=np.int32)
    return letters[first[by_place]].view(f"S{width}").ravel(), rank[which]


# Numbers for the nodes of a file: terminals first, names that are numbers in increasing order.


def numbering(
    terminal: Mapping[str, bool], name: str, quoted: Callable[[str], bool] = lambda node: False
) -> tuple[list[str], int, list[str] | None]:
    """Return the nodes in the order of their numbers, how many are terminals, and their names as labels.

    * `terminal`: whether a node is a terminal, by name, in the order in which a file mentions them.
    * `name`: what messages call the file.
    * `quoted`: whether a name is not to be taken for a number.

    Returns: no labels where the names are exactly the numbers. Raises `FileFormatError` if there is no terminal.

    >>> numbering({"10": True, "9": True, "8": False}, "edge list 'x'")
    (['9', '10', '8'], 2, ['9', '10', '8'])
    """
    nodes = list(terminal)
    if all(re.fullmatch("0|[1-9][0-9]{0,99}", node) and not quoted(node) for node in nodes):
        nodes.sort(key=int)
    nodes.sort(key=lambda node: not terminal[node])
    count = sum(terminal.values())
    if not count:
        raise FileFormatError(f"{name}: the file has no terminals")
    plain = all(node == str(i) and not quoted(node) for i, node in enumerate(nodes))
    return nodes, count, None if plain else [str(node) for node in nodes]


_ENDS = ("source", "target")
_COLUMNS = {name.replace("_", "-"): name for name in (*_ENDS, *ATTRIBUTES)} | {name: name for name in ATTRIBUTES}
_STATEMENTS = ("columns", "terminals", "switches", "one-way", "parallel", "half-duplex", "port")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|#.*|([^\s"#]+)')


class _Name(str):
    """A name that stood in quotes: it is neither a number nor a statement, and brackets in it mean nothing."""

    __slots__ = ()


def read_edge_list(path: str | PathLike[str], *, directed: bool = False) -> Network:
    r"""Read a network from a text file with a line ``u v`` or ``u v capacity`` for each edge.

    Parameters
    ----------
    path : path
        A UTF-8 text file. Words are separated by white space; ``#`` starts a comment; empty lines are skipped. A name
        in double quotes may hold anything. Seven kinds of lines say more than an edge:

        ``columns source target capacity bandwidth latency``
            What stands where in the lines that follow: ``source`` and ``target`` first, then any of ``capacity``,
            ``bandwidth`` (with a unit, such as 50GB/s or 400Gbit/s), ``latency`` (with a unit, such as 2us),
            ``occupancy`` and ``latency-slots`` (in slots), ``source-port`` and ``target-port`` (names of ports that
            links share). A line may end early, and ``-`` leaves a place empty. Without this line, what has the unit
            of a bandwidth or a latency in the first edge that says more than its ends is taken for it.
        ``port nv0 capacity=1 bandwidth=300GB/s``
            What a shared port passes each way: ``capacity`` packets at once, of so much ``bandwidth`` each, or in slots
            (``occupancy=2``). Without such a line, one packet as fast as the fastest link through it.
        ``terminals g0 g1`` or ``switches s[0-3]``
            Nodes that produce and consume messages, and nodes that only pass them on; several lines may. If there are
            terminals only, all others are switches, and the reverse.
        ``one-way``
            Every line is one link from source to target.
        ``parallel``
            An edge that is listed several times has so many cables, and their capacity together. Otherwise it is
            taken for a mistake.
        ``half-duplex``
            Every edge carries packets one way at a time, as of `gossamer.networks.derived`.
    directed : bool
        As a line ``one-way``; by default a line is an edge, that is, a link each way.

    Returns
    -------
    Network
        If the names are exactly 0..N-1, switches last, they are the node numbers. Otherwise nodes are numbered in
        increasing order (if every name is an integer) or in the order in which the file mentions them, terminals
        first, and keep their names as `labels`. Links of a node are in the order of the file. The network is
        `links_only`: the file may change. Edges between the same nodes that differ in speed or slots are parallel
        links.

    Raises
    ------
    FileFormatError
        If the file cannot be read or has no edges, or (with the line number) a line is malformed, joins a node to
        itself, or repeats an edge.

    Notes
    -----
    O(L log L) time.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gossamer.networks import read_edge_list
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "triangle.txt")
    ...     _ = path.write_text("a b   # the first edge\nb c\nc a 2\n")
    ...     triangle = read_edge_list(path)
    >>> triangle.labels, triangle.link_capacity.tolist()
    (('a', 'b', 'c'), [1, 2, 1, 1, 1, 2])
    """
    spec = f"{'directed-' if directed else ''}edges:{path}"
    found = _EdgeList(Path(path), directed)
    what = "an edge list: not a UTF-8 text file"
    plain = plain_edges(read_bytes(path), _STATEMENTS)
    if plain is None:
        for place, line in text_lines(path, what, comment="", pieces={b"\n": 600}):
            found.take(place, line)
        return found.network(spec)
    fault = plain.first_fault(directed)
    for edge, (place, line) in enumerate(text_lines(path, what)) if fault else ():
        if edge in fault:  # the line that is repeated, and the one that repeats it
            found.take(place, line)
    return _of_plain(plain, found, spec)


def _of_plain(edges: PlainEdges, found: _EdgeList, spec: str) -> Network:
    """Return the network of a file that only lists edges, as of one whose lines are taken one by one."""
    nodes, one_way = edges.letters.size, found.one_way
    checked_size(found.name, nodes, edges.source.size * (1 if one_way else 2))
    number, labels = edges.numbers(), None
    if number is None:
        names = edges.names()
        ordered, _, labels = numbering(dict.fromkeys(names, True), found.name)
        place = {name: i for i, name in enumerate(ordered)}
        number = np.fromiter((place[name] for name in names), np.int32, nodes)
    ends = number[edges.source], number[edges.target]
    capacity = np.broadcast_to(edges.capacity, edges.source.shape)
    if not one_way:  # the link back stands behind each
        source, target = np.stack(ends, axis=1).ravel(), np.stack(ends[::-1], axis=1).ravel()
        ends, capacity = (source, target), np.repeat(capacity, 2)
    order = np.argsort(ends[0], kind="stable")
    of = (ends[0][order], ends[1][order], capacity[order])
    return Network(spec, nodes, *of, terminal_count=nodes, labels=labels, links_only=True)


class _EdgeList:
    """What the lines of a file have said so far."""

    def __init__(self, path: Path, one_way: bool) -> None:
        self.name = f"edge list {file_name(path)}"
        self.one_way = one_way
        self.several = False
        self.half_duplex = False
        self.columns = ["source", "target", "capacity"]
        self.told = self.counted = False
        self.assumed: list[Structure] = []
        self.roles: dict[str, bool] = {}  # whether it is a terminal, by name
        self.names: dict[str, None] = {}
        self.wiring = Wiring(self.name)
        self.kinds: dict[tuple[str, ...], tuple[int, LinkKind]] = {}  # by what stands behind the ends

    def take(self, place: int, line: str) -> None:
        words = _words(line, self._where(place)) if '"' in line else line.partition("#")[0].split()
        if not words:
            return
        if words[0] in _STATEMENTS and not isinstance(words[0], _Name):
            self._state(self._where(place), words[0], words[1:])
        else:
            self._edge(place, words, line)

    def _where(self, place: int) -> str:
        return f"{self.name}, line {place}"

    def _state(self, where: str, statement: str, words: list[str]) -> None:
        if statement in ("terminals", "switches"):
            for word in words:
                for name in [word] if isinstance(word, _Name) else expanded(word, where, len(self.names)):
                    if self.roles.setdefault(name, statement == "terminals") != (statement == "terminals"):
                        raise FileFormatError(f"{where}: node {shown(name)} is a terminal and a switch")
                    self.names.setdefault(name)
            return
        if statement == "port":
            self._port(where, words)
            return
        if len(self.wiring):
            raise FileFormatError(f"{where}: a line {statement!r} must stand before the edges")
        if statement == "one-way":
            self.one_way = True
        elif statement == "parallel":
            self.several = True
        elif statement == "half-duplex":
            self.half_duplex = True
        elif self.told:
            raise FileFormatError(f"{where}: the columns are given twice")
        else:
            self.columns, self.told = _columns(where, words), True

    def _port(self, where: str, words: list[str]) -> None:
        pairs = [word.partition("=") for word in words[1:]]
        if not words or not all(key and value for key, _, value in pairs):
            raise FileFormatError(f"{where}: expected 'port NAME' and then such as capacity=2 or bandwidth=300GB/s")
        self.wiring.port(where, words[0], {key: value for key, _, value in pairs})

    def _edge(self, place: int, words: list[str], line: str) -> None:
        if not self.told and not len(self.wiring) and len(words) > 2 and all(word in _COLUMNS for word in words):
            self._state(self._where(place), "columns", words)  # the line as it stands in tables
            return
        if not self.told and len(words) > 2 and (columns := _by_units(words[2:])):
            if self.counted:
                told = f"{shown(line)} has a speed, and lines before have capacities"
                raise FileFormatError(f"{self._where(place)}: {told}")
            self.columns, self.told = [*_ENDS, *columns], True
            told = " ".join(self.columns)
            change = f"a line 'columns {told}', or another, before the edges"
            self.assumed = [Assumptions((Assumption(f"columns taken as {told}, by their units", change),))]
        self.counted |= len(words) > 2
        if not 2 <= len(words) <= len(self.columns):
            form = f"'{' '.join(self.columns)}'" if self.told else "'u v' or 'u v capacity'"
            raise FileFormatError(f"{self._where(place)}: expected {form}, got {shown(line)}")
        u, v = words[:2]
        capacity, kind = 1, PLAIN
        if len(words) > 2:
            said = tuple(words[2:])
            if said not in self.kinds:  # thousands of lines say the same
                given = {c: w for c, w in zip(self.columns[2:], said, strict=False) if w != "-"}
                self.kinds[said] = attributed(self._where(place), given, FileFormatError)
            capacity, kind = self.kinds[said]
        if u == v or (self.wiring.has(u, v, kind) and not self.several):
            what = "link" if self.one_way else "edge"
            fault = f"node {shown(u)} is joined to itself"
            if u != v:
                more = "give it more capacity, or the list a line 'parallel' before the edges"
                fault = f"{what} {shown(u)} {shown(v)} is repeated; if there are several cables, {more}"
            raise FileFormatError(f"{self._where(place)}: {fault}")
        self.wiring.add(self.name, u, v, capacity, kind, one_way=self.one_way)
        self.names.setdefault(u)
        self.names.setdefault(v)

    def network(self, spec: str) -> Network:
        if not self.names:
            raise FileFormatError(f"{self.name}: the file has no edges")
        others = not any(self.roles.values())
        terminal = {name: self.roles.get(name, others) for name in self.names}
        nodes, count, labels = numbering(terminal, self.name, quoted=lambda name: isinstance(name, _Name))
        found = self.wiring.network(spec, nodes, count, labels, self.assumed)
        try:
            return half_duplex(found) if self.half_duplex else found
        except NetworkError as error:
            raise FileFormatError(f"{self.name}: {error}") from None


def _words(line: str, where: str) -> list[str]:
    """Return the words of a line in which some stand in quotes."""
    found: list[str] = []
    end = 0
    for match in _WORD.finditer(line):
        if line[end : match.start()].strip() or (match.start() == end > 0):
            break
        end = match.end()
        if match[1] is not None:
            try:
                found.append(_Name(json.loads(match[0], strict=False)))
            except ValueError:
                break
        elif match[2] is not None:
            found.append(match[2])
    else:
        if not line[end:].strip():
            return found
    raise FileFormatError(f"{where}: quotes do not match in {shown(line)}")


def _by_units(words: list[str]) -> list[str]:
    """Return what stands after the ends of an edge where every word has a unit: a bandwidth, a latency, or both."""
    found = [next((name for name, read in _READERS.items() if _reads(read, word)), "") for word in words]
    return found if all(found) and len(set(found)) == len(found) and "bandwidth" in found else []


def _reads(read: Callable[..., object], word: str) -> bool:
    """Return whether a word that is more than a number can be read, or is refused for its unit alone."""
    try:
        read(word, "")
    except GossamerError as error:
        return "say which" in str(error)
    return not word.isdecimal()


_READERS: dict[str, Callable[..., object]] = {"bandwidth": quantities.bandwidth, "latency": quantities.duration}


def _columns(where: str, words: list[str]) -> list[str]:
    for word in words:
        if word not in _COLUMNS:
            known = ", ".join(w for w in _COLUMNS if "_" not in w)
            raise FileFormatError(f"{where}: no column {shown(word)}{nearest(word, _COLUMNS)}; there are: {known}")
    columns = [_COLUMNS[word] for word in words]
    if tuple(columns[:2]) != _ENDS or len(set(columns)) < len(columns):
        raise FileFormatError(f"{where}: columns must begin with 'source target' and name none twice")
    return columns


def write_edge_list(network: Network, path: Path) -> None:
    """Write a network as an edge list; `read_edge_list` gives an equal one back.

    An edge is written once where that keeps the order of links at every node; else the list is one of one-way links.
    """
    names = [str(i) for i in range(network.node_count)]
    if network.labels is not None:
        names = [_quoted(label) for label in network.labels]
    speeds = network.find(Speeds)
    links = _edges_once(network)
    columns: dict[str, list[str]] = {}
    if network.uniform_capacity != 1:
        columns["capacity"] = [str(c) for c in network.link_capacity.tolist()]
    if speeds is not None:
        columns["bandwidth"] = [exact_bandwidth(b) for b in speeds.bandwidth.tolist()]
        columns["latency"] = [exact_duration(d) for d in speeds.latency.tolist()]
    if network.uniform_occupancy != 1 or network.uniform_latency != 0:
        columns["occupancy"] = [str(o) for o in network.link_occupancy.tolist()]
        columns["latency-slots"] = [str(o) for o in network.link_latency.tolist()]
    ports = network.shared_ports
    if ports is not None:
        ways = [_quoted(name) for name in ports.names or ()] + ["-"]
        columns["source-port"] = [ways[p] for p in ports.sending.tolist()]
        columns["target-port"] = [ways[p] for p in ports.receiving.tolist()]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"# {' '.join(network.spec.split())}\n")
        if links is None:
            file.write("one-way\n")
        if columns:
            file.write(f"columns source target {' '.join(columns)}\n")
        _write_roles(network, names, file.write)
        for name, told in port_attributes(network).items():
            more = "".join(f" {k}={exact_bandwidth(x) if k == 'bandwidth' else x}" for k, x in told.items())
            file.write(f"port {_quoted(name)}{more}\n")
        source, target = network.link_source.tolist(), network.link_target.tolist()
        for link in range(network.link_count) if links is None else links:
            more = "".join(f" {column[link]}" for column in columns.values())
            file.write(f"{names[source[link]]} {names[target[link]]}{more}\n")


def _write_roles(network: Network, names: list[str], write: object) -> None:
    assert callable(write)
    n, terminals = network.node_count, network.terminal_count
    alone = bool(((network.in_degree + network.out_degree) == 0).any())
    if network.labels is not None:
        for i in range(n):
            write(f"{'terminals' if i < terminals else 'switches'} {names[i]}\n")
    elif terminals < n or alone:
        write(f"terminals {folded(range(terminals))}\n")
        if terminals < n:
            write(f"switches {folded(range(terminals, n))}\n")


def _quoted(name: str) -> str:
    bare = re.fullmatch(r"[A-Za-z_(][^\s\"#\[\]]*", name) and name not in _STATEMENTS and "," not in name
    return name if bare else json.dumps(name, ensure_ascii=False)


def _edges_once(network: Network) -> list[int] | None:
    """Return a link of each edge, so ordered that adding both ways keeps the order at every node; None if none does."""
    back = network.reverse_link if network.two_way else np.zeros(0, np.int32)
    if not network.two_way:
        return None
    opposite, target = back.tolist(), network.link_target.tolist()
    front, end = network.first_link[:-1].tolist(), network.first_link[1:].tolist()
    found: list[int] = []
    ready = list(range(network.node_count - 1, -1, -1))
    while ready:
        u = ready.pop()
        if front[u] == end[u]:
            continue
        link = front[u]
        v = target[link]
        if front[v] == opposite[link]:
            found.append(link)
            front[u] += 1
            front[v] += 1
            ready += [v, u]
    return found if 2 * len(found) == network.link_count else None


EDGES = NetworkFormat(
    name="edges",
    summary="edge-list file, a line 'u v [capacity]' for each edge",
    source="gossamer.networks.read_edge_list",
    suffixes=(".edges", ".txt"),
    read=read_edge_list,
    write=write_edge_list,
    aliases=("edge-list",),
)
DIRECTED_EDGES = NetworkFormat(
    name="directed-edges",
    summary="edge-list file, a line 'u v [capacity]' for each link from u to v",
    source="gossamer.networks.read_edge_list",
    suffixes=(".dedges",),
    read=lambda path: read_edge_list(path, directed=True),
)
