"""Rank maps of torus machines: a line with the coordinates of each rank."""

from __future__ import annotations

import math
import re
from os import PathLike

import numpy as np

from gossamer.errors import FileFormatError, NetworkError, shown
from gossamer.networks.builder import NetworkFormat
from gossamer.networks.derived import renumbered
from gossamer.networks.grids import array, torus
from gossamer.networks.network import Network
from gossamer.reading.files import file_name, text_lines

__all__ = ["COORDINATES", "read_coordinates"]

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
