"""Tables that people give: sets of nodes, counts and destinations, in words, text, ``.npy`` and Matrix Market files."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, TaskError, shown
from gossamer.reading.files import file_name, read_array, text_lines
from gossamer.reading.matrix_market import MATRIX_MARKET, nonempty_columns
from gossamer.reading.values import seed as check_seed
from gossamer.reading.values import whole_text

__all__ = ["expanded", "folded", "named_nodes", "named_numbers", "read_destinations", "read_nodes", "read_numbers"]

_NUMBERS = re.compile(r"-?[0-9]{1,18}([\s,]+-?[0-9]{1,18})*,?")


def _column(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Return the one-dimensional array of integers or booleans in a ``.npy`` file."""
    array = read_array(path)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise FileFormatError(
            f"{file_name(path)} must hold a one-dimensional array of integers or booleans, "
            f"got {array.dtype} in {array.ndim} dimensions"
        )
    return array


def _lines(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    return list(text_lines(path, "a text file of node numbers"))


def _read_text(path: str | os.PathLike[str]) -> list[int]:
    return [number for at, line in _lines(path) for number in _numbers(path, at, line)]


def _numbers(path: str | os.PathLike[str], at: int, line: str) -> list[int]:
    numbers = []
    for word in line.replace(",", " ").split():
        if not re.fullmatch("[-+]?[0-9]{1,18}", word):
            raise FileFormatError(f"{file_name(path)}, line {at}: {shown(word)} is not a node number")
        numbers.append(int(word))
    return numbers


def read_numbers(path: str | os.PathLike[str]) -> list[int]:
    """Read whole numbers from a text file (separated by spaces, commas or lines, ``#`` comments) or a ``.npy`` array.

    Raises `FileFormatError` if the file is missing or unreadable, or holds anything but whole numbers.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "destinations.txt"
    >>> _ = path.write_text("3 -1, 0  # node 1 sends nothing")
    >>> read_numbers(path)
    [3, -1, 0]
    """
    if not str(path).lower().endswith(".npy"):
        return _read_text(path)
    array = _column(path)
    if array.dtype.kind == "b":
        raise FileFormatError(f"{file_name(path)} must hold an array of integers, got booleans")
    return [int(x) for x in array]


def read_destinations(
    path: str | os.PathLike[str], node_count: int, *, sets: bool = False
) -> list[int] | list[list[int]]:
    r"""Read where the message of each node goes.

    * `path` (str or path): a ``.npy`` file, or a text file (``#`` comments) of one of two forms. In the first, every
      line is ``source: destination``, and nodes that are not listed send nothing. In the second, the destinations stand
      in the order of the nodes, -1 for none: anyhow separated, or, with `sets`, one line for each node.
    * `node_count` (int): number of nodes.
    * `sets` (bool): whether a message may have several destinations (one-to-many routing).

    Returns: list of int, or list of list of int: the destination of every node, -1 for none; with `sets`, the
    destinations of every node. Whether the destinations exist and differ is for the task to say. Raises
    `FileFormatError` if the file is missing or unreadable, or holds anything else. Raises `TaskError` if a source does
    not exist or is given twice, or has not one destination where it must.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "destinations.txt"
    >>> _ = path.write_text("0: 3  # nodes 1 and 3 send nothing\n2: 0\n")
    >>> read_destinations(path, 4)
    [3, -1, 0, -1]
    >>> read_destinations(path, 4, sets=True)
    [[3], [], [0], []]
    """
    text = not str(path).lower().endswith(".npy")
    lines = _lines(path) if text else []
    if any(":" in line for _, line in lines):
        rows = _by_source(path, lines, node_count, sets)
        return rows if sets else [row[0] if row else -1 for row in rows]
    if not sets:
        return read_numbers(path)
    rows = [_numbers(path, *line) for line in lines] if text else [[v] for v in read_numbers(path)]
    return [[] if row == [-1] else row for row in rows]


def _by_source(path: str | os.PathLike[str], lines: list[tuple[int, str]], n: int, sets: bool) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(n)]
    given: dict[int, int] = {}
    for at, line in lines:
        left, colon, right = line.partition(":")
        sources, targets = _numbers(path, at, left), _numbers(path, at, right)
        where = f"{file_name(path)}, line {at}"
        if not colon or len(sources) != 1 or not targets:
            raise FileFormatError(f"{where}: {shown(line)} is not of the form 'source: destination'")
        source = sources[0]
        if not 0 <= source < n:
            raise TaskError(f"{where}: source {source} is outside 0..{n - 1}")
        if source in given:
            raise TaskError(
                f"{where}: node {source} sends a second message, after that of line {given[source]}; only one"
            )
        if len(targets) > 1 and not sets:
            raise TaskError(
                f"{where}: node {source} sends to {len(targets)} nodes; a permutation has one for each source"
            )
        given[source] = at
        rows[source] = [] if targets == [-1] else targets
    return rows


def read_nodes(path: str | os.PathLike[str], node_count: int | None = None) -> tuple[int, ...]:
    """Read a set of active nodes from a file.

    `path` (str or path): a text file of node numbers; a ``.npy`` file of node numbers, or of booleans that mark the
    active nodes; or a Matrix Market file (``.mtx``, ``.mtx.gz``, ``.mtx.bz2``), whose non-empty columns are the active
    nodes. `node_count` (int): number of booleans that a mask must have. Returns: tuple of int: the active nodes in
    ascending order. Raises `FileFormatError` if the file is missing, unreadable or of another kind. Raises `TaskError`
    if it names no node, one twice, or a negative one, or if a mask has another length than `node_count`.

    In ``y = A x`` with one component of x a node, a change of x_j matters to others only if column j of A is not empty.
    A column is empty if its entries are absent or zero. O(m log m) time for m numbers or entries.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "active.txt"
    >>> _ = path.write_text("5, 2  # two nodes")
    >>> read_nodes(path)
    (2, 5)
    """
    name = str(path).lower()
    if name.endswith(MATRIX_MARKET):
        nodes = nonempty_columns(path)
    elif name.endswith(".npy"):
        array = _column(path)
        if array.dtype.kind == "b":
            if node_count is not None and array.size != node_count:
                raise TaskError(
                    f"{file_name(path)} marks {array.size} nodes as active or idle; the network has {node_count}"
                )
            array = np.flatnonzero(array)
        nodes = [int(x) for x in array]
    else:
        nodes = _read_text(path)
    if not nodes:
        raise TaskError(f"{file_name(path)} names no active node; at least one is needed")
    nodes.sort()
    if nodes[0] < 0:
        raise TaskError(f"{file_name(path)} names the node {nodes[0]}; node numbers start at 0")
    for before, node in itertools.pairwise(nodes):
        if before == node:
            raise TaskError(f"{file_name(path)} lists node {node} twice")
    return tuple(nodes)


def named_nodes(text: str, node_count: int, seed: int = 0) -> tuple[int, ...]:
    """Return the active nodes that a command-line word names.

    `text` (str): ``all``; ``random:M`` for M nodes drawn with `seed`; numbers such as ``0,5,7``; or else the path of a
    file for `read_nodes` (a file whose name is a number needs a folder before it, as in ``./5``). `node_count` (int):
    nodes to draw from, and the length of a mask in a file. Returns: tuple of int: the active nodes in ascending order;
    numbers are not compared with `node_count` here, but by the task. Raises `TaskError` if the word is empty, M is not
    in 1..node_count, or the file names no legal set. Raises `FileFormatError` if the file cannot be read.

    >>> named_nodes("7,0,5", 8), named_nodes("random:2", 8, seed=1)
    ((0, 5, 7), (3, 4))
    """
    word = text.strip()
    allowed = "a file, numbers such as 0,5,7, random:M, or all"
    if not word:
        raise TaskError(f"the active set is an empty word; give {allowed}")
    if word == "all":
        return tuple(range(node_count))
    if word.startswith("random:"):
        count = word.removeprefix("random:")
        most = whole_text(count, "M of random:M", 1, node_count, error=TaskError)
        draw = np.random.default_rng(check_seed(seed, error=TaskError))
        drawn = draw.choice(node_count, most, replace=False)
        return tuple(sorted(drawn.tolist()))
    if _NUMBERS.fullmatch(word):
        return tuple(sorted(_listed(word)))
    try:
        return read_nodes(text, node_count)
    except FileFormatError as error:
        if str(error).startswith("no such file"):
            raise FileFormatError(f"{error}; the active nodes are {allowed}") from None
        raise


def named_numbers(text: str) -> list[int]:
    """Return the numbers that a command-line word lists, such as ``2,0,1``, or that the file it names holds.

    Raises `FileFormatError` if the word is no list and no file that `read_numbers` can read.

    >>> named_numbers("2,0,1")
    [2, 0, 1]
    """
    word = text.strip()
    return _listed(word) if _NUMBERS.fullmatch(word) else read_numbers(text)


def _listed(word: str) -> list[int]:
    return [int(piece) for piece in word.replace(",", " ").split()]


# Host lists, in which ``node[1-3,7]`` stands for four names.

MOST_NAMES = 800_000
"""How many names the lists of a file may stand for: each takes about 600 bytes in a network."""

_HOST_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_HOST_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


def expanded(text: str, where: str, known: int = 0) -> list[str]:
    """Return the names that a host list stands for.

    * `text` (str): names separated by commas; in each, brackets hold numbers and ranges. The last bracket runs fastest,
      and a range whose first number has leading zeros keeps its width.
    * `where` (str): the place that messages name.
    * `known` (int): names that the file has said before.

    Raises `FileFormatError` if brackets do not match, a range is malformed or empty, or there would be over 800,000
    names.

    >>> expanded("rack[0-1]n[08-10],login", "line 1")
    ['rack0n08', 'rack0n09', 'rack0n10', 'rack1n08', 'rack1n09', 'rack1n10', 'login']
    """
    names: list[str] = []
    for word in _host_names(text):
        if not word.strip():
            raise FileFormatError(f"{where}: a name is missing in {shown(text)}")
        pieces = list(_HOST_PIECE.finditer(word))
        if sum(len(p[0]) for p in pieces) != len(word):
            raise FileFormatError(f"{where}: brackets do not match in {shown(word)}")
        spans: list[list[tuple[str, int | None, int]]] = [
            _host_spans(p[1], word, where) if p[2] is None else [(p[2], None, 0)] for p in pieces
        ]
        count = math.prod(sum(1 if s[1] is None else s[1] - int(s[0]) + 1 for s in span) for span in spans)
        if known + len(names) + count > MOST_NAMES:
            raise FileFormatError(f"{where}: with {shown(text)} the file has over {MOST_NAMES:,} names")
        names += map("".join, itertools.product(*map(_numbered, spans)))
    return names


def _host_names(text: str) -> list[str]:
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


def _host_spans(text: str, word: str, where: str) -> list[tuple[str, int | None, int]]:
    """Return first number, last number and width of each range in a bracket."""
    found: list[tuple[str, int | None, int]] = []
    for part in text.split(","):
        ends = _HOST_RANGE.fullmatch(part.strip())
        if ends is None or (ends[2] is not None and int(ends[2]) < int(ends[1])):
            raise FileFormatError(f"{where}: a range must be such as 0-7, got {shown(part)} in {shown(word)}")
        found.append((ends[1], int(ends[2] or ends[1]), len(ends[1])))
    return found


def _numbered(span: list[tuple[str, int | None, int]]) -> list[str]:
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
