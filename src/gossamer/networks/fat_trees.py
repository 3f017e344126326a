"""Fat trees: complete k-ary trees whose branches may widen towards the root."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, nearest, shown
from gossamer.networks import forms
from gossamer.networks._parameters import checked_size, whole_number
from gossamer.networks.family import Family, Size
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates, Levels

__all__ = ["FAT_TREE", "fat_tree"]

Counts = npt.NDArray[np.int64]


def fat_tree(arity: int, height: int, capacity: str | Sequence[int] = "constant") -> Network:
    """Return the complete k-ary fat tree of height h; its leaves are the processors.

    Parameters
    ----------
    arity : int
        k, at least 2.
    height : int
        h, at least 0. Height 0 is a single leaf, height 1 a star (the theorems of the source assume at least 2).
    capacity : {'constant', 'exponential'} or sequence of int
        Packets per slot and direction of the branches between levels i-1 and i, for i = 1..h: all 1; ``k**(i-1)``;
        or the h numbers ``c_1, ..., c_h``, at least 1 and never decreasing towards the root.

    Returns
    -------
    Network
        Spec ``fat-tree:k=K,h=H,capacity=...`` (a list that is constant or exponential is called so). The leaves are
        nodes 0..k**h-1 from left to right and the only terminals; then come level 1, level 2, ..., and the root last.
        Coordinates are (level, place in the level). The first link of a node leads to its parent (the root has none),
        the others to its children from left to right.

    Raises
    ------
    NetworkError
        If a parameter is out of range, the number of capacities is not h, or they decrease.

    Notes
    -----
    Node (i, x) has parent (i+1, x div k). Two leaves are 2l apart, with l the lowest level at which they share an
    ancestor. O(N) time.

    References
    ----------
    Dimakopoulos 1996, section 6.1.

    Examples
    --------
    >>> fat_tree(2, 3, "exponential")
    <Network fat-tree:k=2,h=3,capacity=exponential: 15 nodes, 28 links>
    """
    _fat_tree_size(arity, height, capacity)
    k, h = int(arity), int(height)
    capacities = _capacities(k, h, capacity)
    sizes = [k ** (h - i) for i in range(h + 1)]
    first = np.concatenate([[0], np.cumsum(sizes)])
    levels = np.repeat(np.arange(h + 1), sizes)
    return Network(
        f"fat-tree:k={k},h={h},capacity={_pattern(k, capacities)}",
        sum(sizes),
        *_branches(k, capacities, sizes, first),
        terminal_count=sizes[0],
        structures=[
            Levels(k, h, capacities),
            Coordinates(np.stack([levels, np.arange(sum(sizes)) - first[levels]], axis=1)),
        ],
    )


def _branches(k: int, capacities: tuple[int, ...], sizes: list[int], first: Counts) -> tuple[Counts, ...]:
    """Return source, target and capacity of every link, int64[L] each; `sizes` and `first` nodes of each level."""
    source, target, branch = [], [], []
    for i, size in enumerate(sizes):
        place = np.arange(size)
        ends, widths = [], []
        if i < len(capacities):
            ends.append(first[i + 1] + place[:, None] // k)
            widths.append(np.full(1, capacities[i]))
        if i > 0:
            ends.append(first[i - 1] + np.arange(size * k).reshape(size, k))
            widths.append(np.full(k, capacities[i - 1]))
        table = np.concatenate(ends, axis=1) if ends else np.empty((1, 0), np.int64)
        source.append(np.repeat(first[i] + place, table.shape[1]))
        target.append(table.reshape(-1))
        branch.append(np.tile(np.concatenate(widths), size) if widths else table.reshape(-1))
    return np.concatenate(source), np.concatenate(target), np.concatenate(branch)


def _fat_tree_size(arity: int, height: int, capacity: str | Sequence[int] = "constant") -> Size:
    k = whole_number(arity, "fat-tree", "k", low=2)
    h = whole_number(height, "fat-tree", "h", low=0)
    branches = (k ** (min(h, 64) + 1) - k) // (k - 1)
    size = checked_size("fat-tree", branches + 1, 2 * branches)
    _capacities(k, h, capacity)
    return size


def _capacities(k: int, h: int, capacity: str | Sequence[int]) -> tuple[int, ...]:
    if capacity == "constant":
        return (1,) * h
    if capacity == "exponential":
        return tuple(k**i for i in range(h))
    if isinstance(capacity, str) or not isinstance(capacity, Sequence):
        raise NetworkError(
            f"fat-tree: capacity must be constant, exponential or {h} integers c_1,...,c_h, got {shown(capacity)}"
        )
    numbers = tuple(whole_number(c, "fat-tree", "a capacity", 1, 2**31 - 1) for c in capacity)
    if len(numbers) != h:
        raise NetworkError(f"fat-tree: height {h} needs {h} capacities c_1,...,c_{h}, got {len(numbers)}")
    for i in range(1, h):
        if numbers[i] < numbers[i - 1]:
            raise NetworkError(
                f"fat-tree: capacities must not decrease towards the root, "
                f"got c_{i + 1}={numbers[i]} after c_{i}={numbers[i - 1]}"
            )
    return numbers


def _pattern(k: int, capacities: tuple[int, ...]) -> str:
    for name in ("constant", "exponential"):
        if capacities == _capacities(k, len(capacities), name):
            return name
    return ",".join(map(str, capacities))


def _levels(family: Family, text: str) -> list[object]:
    """Read ``k=...,h=...,capacity=...`` in any order."""
    values: dict[str, list[str]] = {}
    key = ""
    for part in forms.plain(text).split(","):
        name, equals, value = part.partition("=")
        if equals:
            key = name.strip()
            if key not in ("k", "h", "capacity"):
                hint = nearest(key, ["capacity"])
                raise NetworkError(f"{family.name}: unknown parameter {shown(key)}{hint}; {family.usage()}")
            if key in values:
                raise NetworkError(f"{family.name}: parameter {key} is given twice")
            values[key] = [value.strip()]
        elif key == "capacity":
            values[key].append(part.strip())
        else:
            raise NetworkError(f"{family.name}: expected a name and a value, got {shown(part)}; {family.usage()}")
    for key in ("k", "h"):
        if key not in values:
            raise NetworkError(f"{family.name}: {key} is missing; {family.usage()}")
        if len(values[key]) != 1:
            raise NetworkError(f"{family.name}: {key} takes one integer, got {shown(','.join(values[key]))}")
    words = values.get("capacity", ["constant"])
    capacity: object = words[0]
    if not re.fullmatch("[a-z]+", words[0]) or len(words) > 1:
        capacity = [forms.integer(family, word) for word in words]
    return [forms.integer(family, values["k"][0]), forms.integer(family, values["h"][0]), capacity]


FAT_TREE = Family(
    name="fat-tree",
    function=fat_tree,
    size=_fat_tree_size,
    form=_levels,
    parameters="k=K,h=H,capacity=constant|exponential|c_1,...,c_h",
    summary="complete k-ary tree of height h whose leaves are the processors",
    example="fat-tree:k=2,h=4,capacity=exponential",
    source="Dimakopoulos 1996, section 6.1",
    small=("fat-tree:k=2,h=3,capacity=constant", "fat-tree:k=3,h=2,capacity=exponential"),
)
