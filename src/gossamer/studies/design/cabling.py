"""Where nodes stand, and the cables between them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, ModelError, shown
from gossamer.networks import Network
from gossamer.networks.derived import cables
from gossamer.reading.files import file_name, read_text

Floats = npt.NDArray[np.float64]

_AISLE, _WIDTH, _HEIGHT = 2.4, 0.6, 0.045
_SWAPS = 200


class Cabling(NamedTuple):
    """Cables of a network whose nodes have places.

    `at`, float64[N, 3]: the place of each node in meters. `ends`, int64[C, 2]: the two nodes of each cable. `length`,
    float64[C]: meters along the three axes.
    """

    at: Floats
    ends: npt.NDArray[np.int64]
    length: Floats


def places(text: str, nodes: int) -> Floats:
    """Return places for so many nodes, float64[nodes, 3], in meters.

    `text`: ``line``: a meter apart; ``grid:16x32``: a lattice with a meter between neighbors, of up to three sides;
    ``racks:4x8``: four rows of eight racks, rows 2.4 m and racks 0.6 m apart, the nodes of a rack above each other; or
    a CSV file with a line ``x,y,z`` for each place.

    Raises ModelError, FileFormatError if the text is of no such form, or there are fewer places than nodes.

    >>> places("grid:2x2", 4).tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    match = re.fullmatch(r"(grid|racks):([0-9]{1,5}(?:x[0-9]{1,5}){0,2})", text.strip().lower())
    if text.strip().lower() == "line":
        found = np.stack([np.arange(nodes), *np.zeros((2, nodes))], axis=1).astype(np.float64)
    elif match and match[1] == "grid":
        sides = [int(side) for side in match[2].split("x")] + [1, 1]
        if np.prod(sides, dtype=object) > 10**7:
            raise ModelError(f"a grid has at most 10,000,000 places, got {text}")
        found = np.stack(np.unravel_index(np.arange(int(np.prod(sides[:3]))), sides[:3]), axis=1).astype(np.float64)
    elif match and match[2].count("x") == 1:
        rows, columns = map(int, match[2].split("x"))
        each = -(-nodes // max(rows * columns, 1))
        rack = np.arange(nodes) // max(each, 1)
        found = np.stack(
            [
                rack // max(columns, 1) * _AISLE,
                rack % max(columns, 1) * _WIDTH,
                np.arange(nodes) % max(each, 1) * _HEIGHT,
            ],
            axis=1,
        )
        if rows * columns < 1:
            raise ModelError(f"racks need at least one row and column, got {text}")
    elif Path(text).suffix.lower() == ".csv":
        found = _read(text)
    else:
        raise ModelError(f"a placement is line, grid:AxB, racks:ROWSxCOLUMNS or a .csv file, got {shown(text)}")
    if len(found) < nodes:
        raise ModelError(f"placement {text} has {len(found):,} places for {nodes:,} nodes")
    return found[:nodes]


def _read(path: str) -> Floats:
    try:
        found = np.loadtxt(read_text(path).splitlines(), delimiter=",", ndmin=2)
    except ValueError as error:
        reason = " ".join(str(error).split())[:160]
        raise FileFormatError(f"{file_name(path)}: cannot be read as lines x,y,z: {reason}") from None
    if found.shape[1] > 3 or not np.isfinite(found).all():
        raise FileFormatError(f"{path}: a place has up to three finite coordinates, got {found.shape[1]}")
    return np.pad(found, ((0, 0), (0, 3 - found.shape[1])))


def cabled(network: Network, text: str, *, seed: int = 0, arrange: bool = True) -> Cabling:
    """Return the cables of a network at a placement, the nodes arranged so that they are short.

    `network`: any network. `text`: as for `places`. `seed`: for the arrangement. `arrange`: whether nodes may take any
    of the places; else node i is at place i.

    Simulated annealing over exchanges of two nodes, 200 for each node.

    >>> from gossamer.networks import ring
    >>> float(cabled(ring(8), "grid:2x4").length.sum())
    8.0
    """
    from gossamer.studies.design import _kernels

    at = places(text, network.node_count)
    ends = cables(network)
    if arrange and len(ends):
        n = network.node_count
        both = np.concatenate([ends, ends[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        first = np.searchsorted(both[order, 0], np.arange(n + 1))
        place = np.arange(n)
        _kernels.arrange(first, both[order, 1], np.ascontiguousarray(at), place, _SWAPS * n, seed)
        at = at[place]
    length = np.abs(at[ends[:, 0]] - at[ends[:, 1]]).sum(axis=1)
    return Cabling(at, ends.astype(np.int64), length)
