"""Sets of active nodes and destinations from files: text, ``.npy`` and Matrix Market."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, TaskError

__all__ = ["active_nodes", "read_active", "read_numbers"]


def read_numbers(path: str | os.PathLike[str]) -> list[int]:
    """Read whole numbers from a text file (separated by spaces, commas or lines, ``#`` comments) or a ``.npy`` array.

    Raises
    ------
    FileFormatError
        If the file is missing or unreadable, or holds anything but whole numbers.
    """
    name = str(path)
    if not Path(path).exists():
        raise FileFormatError(f"no such file: {name!r}")
    try:
        if name.endswith(".npy"):
            array = np.load(path, allow_pickle=False)
            if array.ndim != 1 or array.dtype.kind not in "iub":
                raise FileFormatError(
                    f"{name!r} must hold a one-dimensional array of integers or booleans, got {array.dtype}"
                )
            return [int(x) for x in (np.flatnonzero(array) if array.dtype.kind == "b" else array)]
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FileFormatError(f"{name!r} is not a text file of node numbers") from None
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise FileFormatError(f"cannot read {name!r}: {reason}") from None
    numbers = []
    for at, line in enumerate(text.splitlines(), start=1):
        for word in line.split("#", 1)[0].replace(",", " ").split():
            try:
                numbers.append(int(word))
            except ValueError:
                raise FileFormatError(f"{name!r}, line {at}: {word!r} is not a node number") from None
    return numbers


def _nonempty_columns(path: str | os.PathLike[str]) -> list[int]:
    """Return the columns of a Matrix Market file that hold a non-zero."""
    import scipy.io
    import scipy.sparse

    try:
        matrix = scipy.sparse.coo_array(scipy.io.mmread(path))
    except (OSError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"cannot read the Matrix Market file {str(path)!r}: {str(error).splitlines()[0]}"
        ) from None
    columns: npt.NDArray[np.intp] = np.unique(matrix.col[matrix.data != 0])
    return [int(c) for c in columns]


def read_active(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Read a set of active nodes from a file.

    Parameters
    ----------
    path : str or path
        A text file of node numbers; a ``.npy`` file of node numbers or with one boolean a node; or a Matrix Market file
        (``.mtx``, ``.mtx.gz``), whose non-empty columns are the active nodes.

    Raises
    ------
    FileFormatError
        If the file is missing, unreadable or of another kind.
    TaskError
        If it names no node, or one twice.

    Notes
    -----
    In ``y = A x`` with one component of x a node, a change of x_j matters to others only if column j of A is not empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "active.txt"
    >>> _ = path.write_text("5, 2  # two nodes")
    >>> read_active(path)
    (2, 5)
    """
    name = str(path)
    if not Path(path).exists():
        raise FileFormatError(f"no such file: {name!r}")
    nodes = _nonempty_columns(path) if name.endswith((".mtx", ".mtx.gz")) else read_numbers(path)
    if not nodes:
        raise TaskError(f"{name!r} names no active node; at least one is needed")
    for node in {n for n in nodes if nodes.count(n) > 1} if len(set(nodes)) < len(nodes) else ():
        raise TaskError(f"{name!r} lists node {node} twice")
    return tuple(sorted(nodes))


def active_nodes(text: str, node_count: int, seed: int = 0) -> tuple[int, ...]:
    """Return the active nodes that a command-line word names.

    Parameters
    ----------
    text : str
        ``all``; ``random:M`` for M nodes drawn with `seed`; numbers such as ``0,5,7``; or else the path of a file for
        `read_active`.
    node_count : int
        Nodes to draw from.

    Raises
    ------
    TaskError
        If M is not in 1..node_count.
    FileFormatError
        If the file cannot be read.

    Examples
    --------
    >>> active_nodes("7,0,5", 8), active_nodes("random:2", 8, seed=1)
    ((0, 5, 7), (0, 4))
    """
    word = text.strip()
    if word == "all":
        return tuple(range(node_count))
    if word.startswith("random:"):
        count = word.removeprefix("random:")
        if not count.isdecimal() or not 1 <= int(count) <= node_count:
            raise TaskError(f"random:M needs M in 1..{node_count}, got {count!r}")
        drawn = np.random.default_rng(seed).choice(node_count, int(count), replace=False)
        return tuple(sorted(drawn.tolist()))
    if word and all(piece.strip().lstrip("-").isdecimal() for piece in word.split(",")):
        return tuple(sorted(int(piece) for piece in word.split(",")))
    return read_active(text)
