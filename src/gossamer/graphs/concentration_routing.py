"""Mesh packing in the algorithms A_c of Varvarigos and Bertsekas 1994: the packet of rank i goes to the node of name i.

Algorithm A_c is algorithm A_0 after the dimensions were renamed cyclically. Digit l of a node is the paper's: 0 is the
least significant. Dimensions of side 1 have no links and no digit.

Packing is without a conflict (Theorem 3, after Nassimi and Sahni): correct the digits least significant first, each
along the lines of its dimension. Two packets never stand at one node after a digit k was corrected: they would agree in
digits 0..k of their ranks and in the higher digits of their origins, so the origins would differ by less than
places[k+1] and the ranks by at least as much. The argument holds for digits of different bases. On one line, all
packets start at once from different nodes, so none ever waits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gossamer.jit import njit
from gossamer.networks.grids import grid_links
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.schedules.hop_sinks import Chunk, Sink

__all__ = [
    "Columns",
    "Leg",
    "RotatedClass",
    "Rotation",
    "leg_chunks",
    "links_along",
    "packing_legs",
    "rotations",
    "write_legs",
    "write_packing",
]


Columns: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""The columns slot, link and packet that the phases of a schedule write one after the other."""


@dataclass(frozen=True, eq=False)
class Rotation:
    """The names of the nodes under which algorithm A_c is algorithm A_0.

    Digit l of a name is digit ``(l + c) mod d`` of the node: the name is the cyclic right shift of the node's digits by
    c places. All digits may have different bases.

    * `shift` (int): the class c.
    * `sides` (tuple of int): base of each digit of a name, least significant first.
    * `wraps` (tuple of bool): whether the nodes that differ in a digit only form a ring (gamma = 2) or a line (gamma =
      1).
    * `places` (tuple of int, length d+1): value of a one in each digit: ``places[l] = sides[0] * ... * sides[l-1]``.
    * `strides` (tuple of int): difference in node number of one step along each digit.
    * `columns` (tuple of int): column of each digit in `links_along`, ``(l + c) mod d``.
    * `node` (int32[N]): the node of each name.
    * `name` (int32[N]): the name of each node.
    """

    shift: int
    sides: tuple[int, ...]
    wraps: tuple[bool, ...]
    places: tuple[int, ...]
    strides: tuple[int, ...]
    columns: tuple[int, ...]
    node: IntArray
    name: IntArray

    @property
    def dimensions(self) -> int:
        """Number of digits d."""
        return len(self.sides)


@dataclass(frozen=True, eq=False)
class RotatedClass:
    """The packets that algorithm A_c routes, in the order of the rotated names of their origins.

    * `rotation` (Rotation): the names.
    * `origin` (int32[m]): name of the origin of the packet of each rank, ascending.
    * `packet` (int32[m]): the packet of each rank; the first of consecutive ones when it is cut in halves.
    """

    rotation: Rotation
    origin: IntArray
    packet: IntArray

    @property
    def size(self) -> int:
        """Number of packets m, counting halves once."""
        return int(self.packet.size)


def _kept(grid: Grid) -> list[int]:
    """Return the dimensions of side 2 and more, digit 0 first."""
    return [i for i in reversed(range(grid.dimensions)) if grid.sides[i] > 1]


def rotations(grid: Grid) -> list[Rotation]:
    """Return the rotations 0..d-1 of a grid with d dimensions of side 2 and more.

    O(d N) time and 8 d N bytes.

    Source: Varvarigos and Bertsekas 1994, proof of Theorem 6 and its footnote.

    In the 3 x 2 array, node 3 = (1, 1); its rotated name has digits (1, 1) too, but of bases 2 and 3:

    >>> for r in rotations(Grid((3, 2), (False, False))):
    ...     print(r.sides, r.name.tolist())
    (2, 3) [0, 1, 2, 3, 4, 5]
    (3, 2) [0, 3, 1, 4, 2, 5]
    """
    kept = _kept(grid)
    sides, wraps, strides = ([values[i] for i in kept] for values in (grid.sides, grid.wraps, grid.strides))
    count = math.prod(sides)
    found = []
    for c in range(len(kept)):
        columns = [*range(c, len(kept)), *range(c)]
        turned = [sides[a] for a in columns]
        places = [math.prod(turned[:digit]) for digit in range(len(kept) + 1)]
        node = np.zeros(count, np.int32)
        for digit, a in enumerate(columns):
            node.reshape(-1, turned[digit], places[digit])[...] += (np.arange(turned[digit]) * strides[a])[:, None]
        name = np.empty(count, np.int32)
        name[node] = np.arange(count, dtype=np.int32)
        found.append(
            Rotation(
                c,
                tuple(turned),
                tuple(wraps[a] for a in columns),
                tuple(places),
                tuple(strides[a] for a in columns),
                tuple(columns),
                node,
                name,
            )
        )
    return found


def links_along(network: Network) -> IntArray:
    """Return the link from each node one step up and one step down along each digit.

    Returns: int32[N, d, 2]: link numbers, -1 where an array ends; d counts the dimensions of side 2 and more, least
    significant first.

    O(d L) time.

    >>> from gossamer.networks import ring
    >>> links_along(ring(4))[:, 0].tolist()
    [[0, 1], [2, 3], [4, 5], [6, 7]]
    """
    kept = _kept(network.grid) if network.grid else []
    return grid_links(network)[:, kept] if kept else np.empty((network.node_count, 0, 2), np.int32)


def stacked(classes: Sequence[RotatedClass]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return nodes by name, sizes, origins and packets of classes, one row each, for the kernels."""
    size = np.array([each.size for each in classes], np.int32)
    origin = np.zeros((len(classes), int(size.max(initial=0))), np.int32)
    packet = np.zeros_like(origin)
    for row, each in enumerate(classes):
        origin[row, : each.size], packet[row, : each.size] = each.origin, each.packet
    return np.stack([each.rotation.node for each in classes]), size, origin, packet


# A *cell* is a place in the flat table of links: ``(node * d + digit column) * 2 + way``, way 0 up and 1 down.


@njit(cache=True, nogil=True, small=100_000)
def _travel(slot, link, packet, at, first_slot, done, halves, cell, stride, hops, moved, links):
    """Send packets along straight paths, all starting at once; the rows must have descending numbers of hops.

    Packet ``moved[i] + h`` of each half h makes its k-th hop in slot ``first_slot + k*halves + h``, over the link of
    cell ``cell[i] + k*stride[i]``. `done` hops of each are made already; stops before hops that do not fit. Returns the
    row after the last one written, and the hops of each that are made now.
    """
    going = cell.size
    k = done
    while going > 0 and k < hops[0]:
        while hops[going - 1] <= k:
            going -= 1
        if at + going * halves > slot.size:
            break
        for half in range(halves):
            for i in range(going):
                slot[at] = first_slot + k * halves + half
                link[at] = links[cell[i] + k * stride[i]]
                packet[at] = moved[i] + half
                at += 1
        k += 1
    return at, k


Leg: TypeAlias = tuple[int, IntArray, IntArray]
"""The digit that is corrected, where each packet is before (a name), and the steps that it goes up along the digit."""

Path: TypeAlias = tuple[Rotation, IntArray, Sequence[Leg]]
"""Names, the packets of a class, and their legs."""

Whole: TypeAlias = npt.NDArray[np.int64]


def packing_legs(rotation: Rotation, origin: IntArray, digits: Iterable[int] | None = None) -> Iterator[Leg]:
    """Yield the legs of the packets' paths, one digit after the other.

    * `rotation` (Rotation): the names.
    * `origin` (int32[m]): name of the origin of the packet of each rank, ascending.
    * `digits` (iterable of int): the order in which the digits are corrected; default 0..d-1, the only one that is free
      of conflicts.

    Yields: `digit` (int): the digit that is corrected. `name` (int32[m]): where each packet is before. `move`
    (int32[m]): steps it goes up (or down, if negative) along that digit.

    Source: Varvarigos and Bertsekas 1994, Theorem 3.

    >>> from gossamer.networks import array
    >>> from gossamer.graphs.concentration_routing import rotations
    >>> for leg in packing_legs(rotations(array(3, 3).grid)[0], np.array([2, 5])):
    ...     print(leg[0], leg[1].tolist(), leg[2].tolist())
    0 [2, 5] [-2, -1]
    1 [0, 4] [0, -1]
    """
    rank = np.arange(origin.size, dtype=np.int32)
    name = origin.astype(np.int32)
    for digit in range(rotation.dimensions) if digits is None else digits:
        place, side = rotation.places[digit], rotation.sides[digit]
        move = rank // place % side - name // place % side
        yield digit, name, move
        name = name + move * np.int32(place)


def write_packing(
    columns: Columns,
    at: int,
    first_slot: int,
    classes: Sequence[RotatedClass],
    links: IntArray,
    steps: int,
    halves: int = 1,
    digits: Sequence[int] | None = None,
) -> int:
    """Write the hops of the packing phase of all classes together, sorted by slot.

    * `columns` (tuple of int32 arrays): slot, link and packet of each hop, filled up to row `at`.
    * `at` (int): the row to start from.
    * `first_slot` (int): slot in which the phase begins.
    * `classes` (sequence of RotatedClass): of different shifts: they use different dimensions at any time.
    * `links` (int32[N, d, 2]): from `links_along`.
    * `steps` (int): steps for each digit, at least the largest side less 1. The phase takes ``d * steps * halves``
      slots.
    * `halves` (int): 1, or 2 for packets p and p+1 that share a path; the second follows in the next slot.
    * `digits` (sequence of int): passed to `packing_legs`.

    Returns: the row after the last one written.

    Time linear in the hops, at most ``m * sum(sides - 1)`` for m packets.
    """
    paths = [(each.rotation, each.packet, list(packing_legs(each.rotation, each.origin, digits))) for each in classes]
    return write_legs(columns, at, first_slot, paths, links, [steps] * links.shape[1], halves)


def write_legs(
    columns: Columns,
    at: int,
    first_slot: int,
    paths: Sequence[Path],
    links: IntArray,
    steps: Sequence[int],
    halves: int = 1,
) -> int:
    """Write the hops of packets that go leg by leg, all starting each leg at once; return the row after the last.

    * `columns`, `at`, `first_slot`, `links`, `halves`: as for `write_packing`.
    * `paths` (sequence of (Rotation, int32[m], legs)): names, packets, and their legs as from `packing_legs`, for each
      class.
    * `steps` (sequence of int): steps for each leg, the same for all classes.

    O(hops).
    """
    for leg, length in zip(_straight(paths, links), steps, strict=True):
        at, _ = _travel(*columns, at, first_slot, 0, halves, *leg, links.reshape(-1))
        first_slot += length * halves
    return int(at)


def leg_chunks(sink: Sink, paths: Sequence[Path], links: IntArray, steps: Sequence[int]) -> Iterator[Chunk]:
    """Yield the hops that `write_legs` writes, in chunks of the size that the sink asks for."""
    left = sum(int(np.abs(move).sum(dtype=np.int64)) for _, _, legs in paths for _, _, move in legs)
    first = 0
    for leg, length in zip(_straight(paths, links), steps, strict=True):
        hops = leg[2]
        done, most = 0, int(hops.max(initial=0))
        while done < most:
            columns = sink.columns(left if sink.chunk_hops is None else min(left, max(sink.chunk_hops, hops.size)))
            filled, done = _travel(*columns, 0, first, done, 1, *leg, links.reshape(-1))
            left -= filled
            yield columns[0][:filled], columns[1][:filled], columns[2][:filled]
        first += length


def _straight(paths: Sequence[Path], links: IntArray) -> Iterator[tuple[Whole, Whole, IntArray, IntArray]]:
    """Yield for each leg cells, strides, hops and packets of those that move, those with most hops first."""
    width = 2 * links.shape[1]
    for together in zip(*(legs for _, _, legs in paths), strict=True):
        cells, strides, hops, packets = [], [], [], []
        for (rotation, packet, _), (digit, name, move) in zip(paths, together, strict=True):
            going = np.flatnonzero(move)
            node, way = rotation.node[name[going]], (move[going] < 0).astype(np.int64)
            cells.append(node * np.int64(width) + 2 * rotation.columns[digit] + way)
            strides.append(np.where(way, -1, 1) * (rotation.strides[digit] * width))
            hops.append(np.abs(move[going]))
            packets.append(packet[going])
        far = np.concatenate(hops)
        order = np.argsort(-far, kind="stable")
        yield np.concatenate(cells)[order], np.concatenate(strides)[order], far[order], np.concatenate(packets)[order]
