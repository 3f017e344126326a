"""Networks from edge-list files."""

from __future__ import annotations

import re
from functools import partial
from os import PathLike
from pathlib import Path

import numpy as np

from gossamer.errors import FileFormatError, shown
from gossamer.networks import forms
from gossamer.networks._parameters import MAX_CAPACITY, checked_size, fractional_capacity
from gossamer.networks.family import Family, Size
from gossamer.networks.network import Network

__all__ = ["DIRECTED_EDGES", "EDGES", "read_edge_list"]


def read_edge_list(path: str | PathLike[str], *, directed: bool = False) -> Network:
    r"""Read a network from a text file with a line ``u v`` or ``u v capacity`` for each edge.

    Parameters
    ----------
    path : path
        A UTF-8 text file. Names are separated by white space; ``#`` starts a comment; empty lines are skipped.
    directed : bool
        Whether a line is one link from u to v; by default it is an edge, that is, a link each way.

    Returns
    -------
    Network
        If the names are exactly 0..N-1, they are the node numbers. Otherwise nodes are numbered in increasing order
        (if every name is an integer) or in the order in which the file mentions them, and keep their names as
        `labels`. Links of a node are in the order of the file. The network is `links_only`: the file may change.

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
    edges, names = _edges(Path(path), directed)
    number, labels = _numbering(names)
    ends = np.array([(number[u], number[v]) for u, v in edges], np.int32)
    capacity = np.fromiter(edges.values(), np.int32, len(edges))
    if not directed:
        ends = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
        capacity = np.repeat(capacity, 2)
    order = np.argsort(ends[:, 0], kind="stable")
    return Network(
        f"{'directed-' if directed else ''}edges:{path}",
        len(number),
        ends[order, 0],
        ends[order, 1],
        capacity[order],
        labels=labels,
        links_only=True,
    )


def _file_size(path: str, *, directed: bool) -> Size:
    edges, names = _edges(Path(path), directed)
    return checked_size(f"edge list {shown(path, 300)}", len(names), len(edges) * (1 if directed else 2))


def _edges(path: Path, directed: bool) -> tuple[dict[tuple[str, str], int], dict[str, None]]:
    """Return the edges of a file with their capacities, and the names of the nodes, in the order of the file."""
    edges: dict[tuple[str, str], int] = {}
    names: dict[str, None] = {}
    file = f"edge list {shown(str(path), 300)}"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise FileFormatError(f"{file}: not a UTF-8 text file") from None
    except ValueError:  # a null character in the path
        raise FileFormatError(f"{file}: cannot be read (no legal path)") from None
    for place, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{file}, line {place}"
        if len(words) not in (2, 3):
            raise FileFormatError(f"{where}: expected 'u v' or 'u v capacity', got {shown(line.strip())}")
        u, v = words[:2]
        if u == v:
            raise FileFormatError(f"{where}: node {shown(u)} is joined to itself")
        if (u, v) in edges or (not directed and (v, u) in edges):
            raise FileFormatError(f"{where}: {'link' if directed else 'edge'} {shown(u)} {shown(v)} is repeated")
        names.update({u: None, v: None})
        edges[u, v] = _capacity(where, words[2]) if len(words) == 3 else 1
    if not edges:
        raise FileFormatError(f"{file}: the file has no edges")
    return edges, names


def _capacity(where: str, word: str) -> int:
    if re.fullmatch(r"[0-9]*\.[0-9]+", word):
        raise FileFormatError(f"{where}: {fractional_capacity(word)}")
    if not re.fullmatch("[0-9]{1,10}", word) or not 1 <= int(word) <= MAX_CAPACITY:
        raise FileFormatError(f"{where}: capacity must be a whole number in 1..{MAX_CAPACITY}, got {shown(word)}")
    return int(word)


def _numbering(names: dict[str, None]) -> tuple[dict[str, int], list[str] | None]:
    """Return the number of each name, and the names by number unless they are the numbers."""
    ordered = list(names)
    if all(re.fullmatch("0|[1-9][0-9]{0,99}", name) for name in ordered):
        ordered.sort(key=int)
    number = {name: i for i, name in enumerate(ordered)}
    return number, None if all(name == str(i) for name, i in number.items()) else ordered


EDGES = Family(
    name="edges",
    function=read_edge_list,
    size=lambda path: _file_size(path, directed=False),
    form=forms.path,
    parameters="PATH",
    summary="edge-list file, a line 'u v [capacity]' for each edge",
    example="edges:network.txt",
    source="gossamer.networks.read_edge_list",
    aliases=("edge-list",),
)
DIRECTED_EDGES = Family(
    name="directed-edges",
    function=partial(read_edge_list, directed=True),
    size=lambda path: _file_size(path, directed=True),
    form=forms.path,
    parameters="PATH",
    summary="edge-list file, a line 'u v [capacity]' for each link from u to v",
    example="directed-edges:network.txt",
    source="gossamer.networks.read_edge_list",
)
