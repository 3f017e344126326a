"""Sets of active nodes and destinations from files: text, ``.npy`` and Matrix Market."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zlib import error as ZlibError  # noqa: N812

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, TaskError

__all__ = ["active_nodes", "read_active", "read_destinations", "read_numbers", "whole_numbers"]

MATRIX_MARKET = (".mtx", ".mtx.gz", ".mtx.bz2")

_NUMBERS = re.compile(r"-?[0-9]{1,18}([\s,]+-?[0-9]{1,18})*,?")


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong while the block reads `path` into one FileFormatError of one line."""
    name = _shown(os.fspath(path))
    try:
        yield
    except FileFormatError:
        raise
    except FileNotFoundError:
        raise FileFormatError(f"no such file: {name}") from None
    except MemoryError:
        raise FileFormatError(f"cannot read {name}: it says that it holds more than fits in memory") from None
    except (OSError, ValueError, OverflowError, EOFError, TokenError, SyntaxError, ZlibError) as error:
        reason = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), type(error).__name__)
        raise FileFormatError(f"cannot read {name}: {reason}") from None


def _shown(text: str) -> str:
    """Return `text` quoted, its middle left out if it is long."""
    return repr(text if len(text) <= 200 else f"{text[:100]}...{text[-40:]}")


def _read_array(path: str | os.PathLike[str]) -> npt.NDArray[Any]:
    """Return the one-dimensional array of integers or booleans in a ``.npy`` file."""
    with _reading(path), Path(path).open("rb") as file:
        if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
            raise FileFormatError(f"{str(path)!r} is not a .npy file")
        file.seek(0)
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise FileFormatError(
            f"{str(path)!r} must hold a one-dimensional array of integers or booleans, "
            f"got {array.dtype} in {array.ndim} dimensions"
        )
    return array


def _read_text(path: str | os.PathLike[str]) -> list[int]:
    return [number for at, line in _lines(path) for number in _numbers(path, at, line)]


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file that say something, with their numbers from 1, without comments."""
    with _reading(path):
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise FileFormatError(f"{str(path)!r} is not a text file of node numbers") from None
    for at, line in enumerate(text.split("\n"), start=1):
        said = line.split("#", 1)[0].strip()
        if said:
            yield at, said


def _numbers(path: str | os.PathLike[str], at: int, line: str) -> list[int]:
    numbers = []
    for word in line.replace(",", " ").split():
        if not re.fullmatch("[-+]?[0-9]{1,18}", word):
            raise FileFormatError(f"{str(path)!r}, line {at}: {_shown(word)} is not a node number")
        numbers.append(int(word))
    return numbers


def read_numbers(path: str | os.PathLike[str]) -> list[int]:
    """Read whole numbers from a text file (separated by spaces, commas or lines, ``#`` comments) or a ``.npy`` array.

    Raises
    ------
    FileFormatError
        If the file is missing or unreadable, or holds anything but whole numbers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "destinations.txt"
    >>> _ = path.write_text("3 -1, 0  # node 1 sends nothing")
    >>> read_numbers(path)
    [3, -1, 0]
    """
    if not str(path).lower().endswith(".npy"):
        return _read_text(path)
    array = _read_array(path)
    if array.dtype.kind == "b":
        raise FileFormatError(f"{str(path)!r} must hold an array of integers, got booleans")
    return [int(x) for x in array]


def read_destinations(
    path: str | os.PathLike[str], node_count: int, *, sets: bool = False
) -> list[int] | list[list[int]]:
    r"""Read where the message of each node goes.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file, or a text file (``#`` comments) of one of two forms. In the first, every line is
        ``source: destination``, and nodes that are not listed send nothing. In the second, the destinations stand in
        the order of the nodes, -1 for none: anyhow separated, or, with `sets`, one line for each node.
    node_count : int
        Number of nodes.
    sets : bool
        Whether a message may have several destinations (one-to-many routing).

    Returns
    -------
    list of int, or list of list of int
        The destination of every node, -1 for none; with `sets`, the destinations of every node. Whether the
        destinations exist and differ is for the task to say.

    Raises
    ------
    FileFormatError
        If the file is missing or unreadable, or holds anything else.
    TaskError
        If a source does not exist or is given twice, or has not one destination where it must.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "destinations.txt"
    >>> _ = path.write_text("0: 3  # nodes 1 and 3 send nothing\n2: 0\n")
    >>> read_destinations(path, 4)
    [3, -1, 0, -1]
    >>> read_destinations(path, 4, sets=True)
    [[3], [], [0], []]
    """
    text = not str(path).lower().endswith(".npy")
    lines = list(_lines(path)) if text else []
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
        where = f"{str(path)!r}, line {at}"
        if not colon or len(sources) != 1 or not targets:
            raise FileFormatError(f"{where}: {_shown(line)} is not of the form 'source: destination'")
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


def _nonempty_columns(path: str | os.PathLike[str]) -> list[int]:
    """Return the columns of a Matrix Market file that hold a non-zero."""
    import scipy.io
    import scipy.sparse

    with _reading(path):
        rows, columns, _, layout, _, _ = scipy.io.mminfo(path)
        if layout == "array" and 0 in (rows, columns):  # scipy 1.17 divides by the zero and the process dies
            return []
        matrix = scipy.sparse.coo_array(scipy.io.mmread(path))
        matrix.sum_duplicates()
    nonempty: npt.NDArray[np.intp] = np.unique(matrix.col[matrix.data != 0])
    return [int(c) for c in nonempty]


def read_active(path: str | os.PathLike[str], node_count: int | None = None) -> tuple[int, ...]:
    """Read a set of active nodes from a file.

    Parameters
    ----------
    path : str or path
        A text file of node numbers; a ``.npy`` file of node numbers, or of booleans that mark the active nodes; or a
        Matrix Market file (``.mtx``, ``.mtx.gz``, ``.mtx.bz2``), whose non-empty columns are the active nodes.
    node_count : int, optional
        Number of booleans that a mask must have.

    Returns
    -------
    tuple of int
        The active nodes in ascending order.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable or of another kind.
    TaskError
        If it names no node, one twice, or a negative one, or if a mask has another length than `node_count`.

    Notes
    -----
    In ``y = A x`` with one component of x a node, a change of x_j matters to others only if column j of A is not empty.
    A column is empty if its entries are absent or zero. O(m log m) time for m numbers or entries.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "active.txt"
    >>> _ = path.write_text("5, 2  # two nodes")
    >>> read_active(path)
    (2, 5)
    """
    name = str(path).lower()
    if name.endswith(MATRIX_MARKET):
        nodes = _nonempty_columns(path)
    elif name.endswith(".npy"):
        array = _read_array(path)
        if array.dtype.kind == "b":
            if node_count is not None and array.size != node_count:
                raise TaskError(
                    f"{str(path)!r} marks {array.size} nodes as active or idle; the network has {node_count}"
                )
            array = np.flatnonzero(array)
        nodes = [int(x) for x in array]
    else:
        nodes = _read_text(path)
    if not nodes:
        raise TaskError(f"{str(path)!r} names no active node; at least one is needed")
    nodes.sort()
    if nodes[0] < 0:
        raise TaskError(f"{str(path)!r} names the node {nodes[0]}; node numbers start at 0")
    for before, node in itertools.pairwise(nodes):
        if before == node:
            raise TaskError(f"{str(path)!r} lists node {node} twice")
    return tuple(nodes)


def active_nodes(text: str, node_count: int, seed: int = 0) -> tuple[int, ...]:
    """Return the active nodes that a command-line word names.

    Parameters
    ----------
    text : str
        ``all``; ``random:M`` for M nodes drawn with `seed`; numbers such as ``0,5,7``; or else the path of a file for
        `read_active` (a file whose name is a number needs a folder before it, as in ``./5``).
    node_count : int
        Nodes to draw from, and the length of a mask in a file.

    Returns
    -------
    tuple of int
        The active nodes in ascending order; numbers are not compared with `node_count` here, but by the task.

    Raises
    ------
    TaskError
        If the word is empty, M is not in 1..node_count, or the file names no legal set.
    FileFormatError
        If the file cannot be read.

    Examples
    --------
    >>> active_nodes("7,0,5", 8), active_nodes("random:2", 8, seed=1)
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
        if not re.fullmatch("[0-9]{1,18}", count) or not 1 <= int(count) <= node_count:
            raise TaskError(f"random:M needs M in 1..{node_count}, got {_shown(count)}")
        drawn = np.random.default_rng(seed).choice(node_count, int(count), replace=False)
        return tuple(sorted(drawn.tolist()))
    if _NUMBERS.fullmatch(word):
        return tuple(sorted(_listed(word)))
    try:
        return read_active(text, node_count)
    except FileFormatError as error:
        if str(error).startswith("no such file"):
            raise FileFormatError(f"{error}; the active nodes are {allowed}") from None
        raise


def whole_numbers(text: str) -> list[int]:
    """Return the numbers that a command-line word lists, such as ``2,0,1``, or that the file it names holds.

    Raises
    ------
    FileFormatError
        If the word is no list and no file that `read_numbers` can read.

    Examples
    --------
    >>> whole_numbers("2,0,1")
    [2, 0, 1]
    """
    word = text.strip()
    return _listed(word) if _NUMBERS.fullmatch(word) else read_numbers(text)


def _listed(word: str) -> list[int]:
    return [int(piece) for piece in word.replace(",", " ").split()]
