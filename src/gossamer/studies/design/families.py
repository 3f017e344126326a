"""Networks of the families that have a given number of nodes and links a node, as specs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["SPEC_FAMILIES", "specs_of"]

Draw = np.random.Generator

_RANDOM = 4


def specs_of(family: str, nodes: int, degree: int, rng: Draw) -> list[str]:
    """Return specs of a family with so many nodes and at most so many links a node.

    Examples
    --------
    >>> specs_of("torus", 64, 6, np.random.default_rng(0))
    ['torus:8x8', 'torus:16x4', 'torus:4x4x4', 'ring:64', 'hypercube:6']
    """
    return list(SPEC_FAMILIES[family](nodes, degree, rng))


def _shapes(nodes: int, least: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a product of at most so many sides, in falling order."""

    def go(left: int, sides: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if left == 1:
            yield sides
        elif len(sides) < most:
            top = min(left, sides[-1] if sides else left)
            for side in range(top, least - 1, -1):
                if left % side == 0:
                    yield from go(left // side, (*sides, side))

    yield from go(nodes, ())


def _tori(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    found = [s for s in _shapes(nodes, 3, degree // 2) if len(s) > 1]
    for sides in sorted(found, key=lambda s: (len(s), s)):
        if sides[0] <= 8 * sides[-1]:
            yield f"torus:{'x'.join(map(str, sides))}"
    if nodes >= 3 and degree >= 2:
        yield f"ring:{nodes}"
    if nodes & (nodes - 1) == 0 and 1 <= nodes.bit_length() - 1 <= degree:
        yield f"hypercube:{nodes.bit_length() - 1}"


def _twisted(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for sides in _shapes(nodes, 2, degree // 2):
        if len(sides) > 1 and set(sides) == {min(sides), 2 * min(sides)}:
            yield f"twisted-torus:sides={'x'.join(map(str, sides))}"
        if len(sides) == 2:
            for shift in sorted(set(rng.integers(1, sides[0], 6).tolist())):
                yield f"twisted-torus:sides={sides[0]}x{sides[1]},twists=0,0/{shift},0"


def _generalized_hypercubes(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for sides in _shapes(nodes, 2, degree):
        if sum(sides) - len(sides) <= degree:
            yield f"generalized-hypercube:{'x'.join(map(str, sides))}"


def _drawn(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if nodes * degree % 2 == 0 and 2 < degree < nodes:
        for seed in rng.integers(0, 10**6, _RANDOM).tolist():
            yield f"jellyfish:n={nodes},d={degree},seed={seed}"


def _lifts(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if nodes % (degree + 1) == 0 and nodes > degree + 1:
        for seed in rng.integers(0, 10**6, _RANDOM).tolist():
            yield f"xpander:d={degree},k={nodes // (degree + 1)},seed={seed}"


def _slim_flies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for q in range(3, 100):
        if 2 * q * q == nodes and (3 * q - {0: 0, 1: 1, 2: 0, 3: -1}[q % 4]) // 2 <= degree:
            yield f"slim-fly:q={q}"


def _polarflies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    yield from (f"polarfly:q={q}" for q in range(2, 200) if q * q + q + 1 == nodes and q + 1 <= degree)


def _dragonflies(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for h in range(1, degree):
        for a in range(2, degree - h + 2):
            if a * (a * h + 1) == nodes:
                yield f"dragonfly:a={a},h={h}"


def _kautz(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    if 2 <= degree < nodes:
        yield f"generalized-kautz:{degree},{nodes}"
        yield f"generalized-de-bruijn:{degree},{nodes}"


def _permuted(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for m in range(3, 9):
        if math.factorial(m) == nodes and m - 1 <= degree:
            yield from (f"{name}:{m}" for name in ("star", "pancake", "bubble-sort"))


def _bits(nodes: int, degree: int, rng: Draw) -> Iterator[str]:
    for d in range(3, 16):
        if d << d == nodes:
            yield from (text for text, links in ((f"ccc:{d}", 3), (f"butterfly:{d}", 4)) if links <= degree)


SPEC_FAMILIES: dict[str, Callable[[int, int, Draw], Iterator[str]]] = {
    "torus": _tori,
    "twisted-torus": _twisted,
    "generalized-hypercube": _generalized_hypercubes,
    "jellyfish": _drawn,
    "xpander": _lifts,
    "slim-fly": _slim_flies,
    "polarfly": _polarflies,
    "dragonfly": _dragonflies,
    "kautz": _kautz,
    "permutation-network": _permuted,
    "butterfly": _bits,
}
"""Families without a search of generators: nodes, links a node and chance give specs. Kautz networks are one-way."""
