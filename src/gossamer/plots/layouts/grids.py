"""Layouts of grids: rows and columns, blocks of rows and columns, and hypercubes as tori of side 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.plots.layouts.layout import ARC, STRAIGHT, STUB, Layout, Points

Ints = npt.NDArray[np.int64]

Digits = npt.NDArray[np.integer]

ARC_LIMIT = 300
"""Up to this many links that pass over other nodes are drawn in full, as arcs; more of them as stubs."""
BLOCK_ARC_LIMIT = 32
"""The same for links from block to block."""
FOLD = 4
"""A line or grid this many times longer than wide, and longer than FOLD_FROM, is folded into strips."""
FOLD_FROM = 32
GRAY_FROM = 5
"""Hypercubes of at least this many dimensions are drawn as tori of side 4."""

_GAP = 1.0
_TURNS = (0.0, 45.0, 22.5, 67.5, 11.25, 56.25, 33.75, 78.75)
"""Degrees by which the stubs of each level of blocks are turned against rows and columns."""


def by_digits(
    network: Network,
    sides: Sequence[int],
    wraps: Sequence[bool] | None = None,
    digits: Digits | None = None,
    names: Sequence[str] | None = None,
) -> Layout:
    """Place nodes by coordinates: the last two in rows and columns, those before as rows and columns of blocks.

    * `network`: its nodes are numbered by `digits`, the first most significant, unless `digits` are given.
    * `sides`: values of each coordinate.
    * `wraps`: dimensions whose links between the first and the last place are drawn as stubs that leave the grid.
      Default: the links are drawn like any others.
    * `digits` (int[N, d]): coordinates of the nodes.
    * `names`: what the coordinates are called in the notes; default their numbers.
    """
    if digits is None:
        strides = np.array([math.prod(sides[k + 1 :]) for k in range(len(sides))], np.int64)
        digits = np.arange(network.node_count)[:, None] // strides % np.array(sides)
    wide = [k for k, side in enumerate(sides) if side > 1] or [len(sides) - 1]
    width = tuple(int(sides[k]) for k in wide)
    at = np.asarray(digits[:, wide], np.int64)
    positions, levels = grid_positions(width, at)
    step = at[network.link_target] - at[network.link_source]
    side = np.array(width)
    around, sign = _ways(step, side, None if wraps is None else np.array([wraps[k] for k in wide]))
    wrapped = around.any(axis=1)
    way = positions[network.link_target] - positions[network.link_source]
    near = np.hypot(way[:, 0], way[:, 1]) < 1.6
    inner = ~(step[:, levels > 0] != 0).any(axis=1) if levels.any() else np.ones(len(step), bool)
    far = ~near & ~wrapped
    broken = far & inner & (np.abs(step).sum(axis=1) == 1)  # at the ends of a folded strip
    long = far & ~broken
    shape = np.full(len(step), STRAIGHT)
    shape[wrapped | broken] = STUB
    for links, limit in ((long & inner, ARC_LIMIT), (long & ~inner, BLOCK_ARC_LIMIT)):
        shape[links] = ARC if int(links.sum()) <= limit else STUB
    unit = np.array([_heading(int(level), row) for level, row in _level_rows(len(width))])
    direction = _fanned(sign @ unit, np.where(around, 1, np.minimum(np.abs(step), side - np.abs(step))).max(axis=1))
    direction /= np.maximum(np.hypot(direction[:, 0], direction[:, 1]), 1e-12)[:, None]
    notes = []
    if (wrapped & inner).any():
        notes.append(f"Stubs at the rim{' of a block' if levels.any() else ''} are wrap-around links.")
    if broken.any():
        notes.append("The rows are cut into strips; stubs lead on to the next strip.")
    if (long & inner & (shape == STUB)).any():
        notes.append("Turned stubs within a row or column are links to nodes further away in it.")
    if ((shape == STUB) & ~inner).any():
        outer = [k for k, level in zip(wide, levels, strict=True) if level > 0]
        notes.append(_outer_note([names[k] if names else str(k) for k in outer], int(levels.max())))
    return Layout(positions, shape, direction, _block_names(positions, digits, wide, levels), tuple(notes))


def _ways(step: Ints, side: Ints, wraps: npt.NDArray[np.bool_] | None) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return for each link and dimension whether it goes around the rim, and the sign of its way (-1, 0, 1)."""
    if wraps is None:
        return np.zeros(step.shape, bool), np.sign(np.where(np.abs(step) * 2 > side, -step, step))
    around = (np.abs(step) == side - 1) & wraps & (step != 0)
    return around, np.sign(np.where(around, -step, step))


def _outer_note(dimensions: list[str], highest: int) -> str:
    """Return what the stubs between blocks are, which cross these dimensions."""
    turned = "Diagonal" if highest == 1 else "Slanted"
    word = "dimension" if len(dimensions) == 1 else "dimensions"
    return f"{turned} stubs are links to the same place in another block, along {word} {', '.join(dimensions)}."


def _fanned(direction: Points, jump: Ints) -> Points:
    """Turn the directions of longer jumps a little, so that their stubs do not cover each other."""
    turn = np.radians(15.0 * np.clip(jump - 1, 0, 3))
    x, y = direction.T
    return np.stack([x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn)], axis=1)


def by_bits(network: Network, bits: int) -> Layout:
    """Place a hypercube as the torus that it is: two bits, in the order of the Gray code, are a ring of four."""
    if bits < GRAY_FROM:
        return by_digits(network, (2,) * bits)
    sides, digits, bit = bit_pairs(np.arange(network.node_count), bits)
    names = [f"{b}" if side == 2 else f"{b}, {b + 1}" for b, side in zip(bit, sides, strict=True)]
    layout = by_digits(network, sides, [side == 4 for side in sides], digits, names)
    note = "Rows and columns follow the Gray code: neighbors, and the first and the last of four, differ in one bit."
    return replace(layout, blocks=(), notes=(note, *layout.notes))


def bit_pairs(word: Ints, bits: int) -> tuple[tuple[int, ...], Ints, list[int]]:
    """Read words as coordinates: sides, places by the Gray code, and the first bit (from the left) of each."""
    shifts = list(range(0, bits, 2))[::-1]
    pairs = word[:, None] >> np.array(shifts) & 3
    sides = tuple(2 if shift == bits - 1 else 4 for shift in shifts)
    return sides, pairs ^ pairs >> 1, [max(bits - 2 - shift, 0) for shift in shifts]


def _level_rows(dimensions: int) -> list[tuple[int, bool]]:
    """Return for each dimension its level of blocks (0 within a block) and whether it goes down rather than across."""
    return [((dimensions - 1 - k) // 2, (dimensions - 1 - k) % 2 == 1) for k in range(dimensions)]


def _heading(level: int, row: bool) -> tuple[float, float]:
    turn = math.radians(_TURNS[level % len(_TURNS)] - (90 if row else 0))
    return math.cos(turn), math.sin(turn)


def grid_positions(sides: tuple[int, ...], at: Ints, gap_of_blocks: float = _GAP) -> tuple[Points, Ints]:
    """Return places and the level of each dimension."""
    plan = _level_rows(len(sides))
    levels = np.array([level for level, _ in plan])
    x, y = np.zeros(len(at)), np.zeros(len(at))
    width = height = 0.0
    for level in range(int(levels.max()) + 1):
        dims = np.flatnonzero(levels == level)
        columns, rows = sides[dims[-1]], sides[dims[0]] if len(dims) == 2 else 1
        column, row = at[:, dims[-1]], at[:, dims[0]] if len(dims) == 2 else np.zeros(len(at), np.int64)
        gap = 1.0 if level == 0 else 1.0 + gap_of_blocks * (0.6 + 0.4 * min(level, 4))
        if len(sides) <= 2:
            column, row, columns, rows = _folded(column, row, columns, rows)
        elif len(dims) == 1:  # the blocks of a single dimension, in reading order
            across = _across(columns, width + gap, height + gap)
            row, rows = column // across, -(-columns // across)
            column, columns = column % across, across
        x += column * (width + gap)
        y -= row * (height + gap)
        width += (columns - 1) * (width + gap)
        height += (rows - 1) * (height + gap)
    return np.stack([x, y + 0.0], axis=1), levels


def _across(count: int, width: float, height: float) -> int:
    """Return how many blocks to put in a row so that the whole is not much wider than high."""
    if count <= 3:
        return count
    best = min(range(1, count + 1), key=lambda c: (abs(math.log(c * width / (-(-count // c) * height * 1.25))), c))
    return -(-count // -(-count // best))


def _folded(column: Ints, row: Ints, columns: int, rows: int) -> tuple[Ints, Ints, int, int]:
    """Cut a long grid into strips below each other (a tall one into strips side by side)."""
    if rows > columns:
        row, column, rows, columns = _folded(row, column, rows, columns)
        return column, row, columns, rows
    if columns <= FOLD_FROM or columns <= FOLD * rows:
        return column, row, columns, rows
    pitch = rows + 1
    strips = max(1, round(math.sqrt(columns / (1.4 * pitch))))
    length = -(-columns // strips)
    return column % length, row + column // length * pitch, length, rows + (strips - 1) * pitch


def _block_names(
    positions: Points, digits: Digits, wide: list[int], levels: Ints
) -> tuple[tuple[float, float, str], ...]:
    """Name the blocks of rows and columns by the coordinates that their nodes share, as in ``(3,*,*)``."""
    outer = [k for k, level in zip(wide, levels, strict=True) if level > 0]
    if not outer:
        return ()
    _, first, block = np.unique(digits[:, outer], axis=0, return_index=True, return_inverse=True)
    block = block.reshape(-1)
    if len(first) > 64 or len(block) < 9 * len(first):
        return ()
    names = []
    for b, node in enumerate(first):
        inside = positions[block == b]
        shared = [str(int(v)) if k in outer else "*" for k, v in enumerate(digits[node])]
        middle = float(inside[:, 0].min() + inside[:, 0].max()) / 2
        names.append((middle, float(inside[:, 1].max()), f"({','.join(shared)})"))
    return tuple(names)
