"""Fat trees: complete trees of any arity in each level, whose branches may widen towards the root."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.family import MAX_CAPACITY, Family, Size, checked_size, is_list, whole_number
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates, Levels

Counts = npt.NDArray[np.int64]


def fat_tree(
    arity: int | Sequence[int], height: int | None = None, capacity: str | Sequence[int] = "constant"
) -> Network:
    """Return the fat tree in which the nodes of a level all have the same number of children; the leaves are terminals.

    Parameters
    ----------
    arity : int or sequence of int
        k, at least 2: the children of every inner node; or ``k_1, ..., k_h``: those of the nodes of level 1, ..., h.
    height : int, optional
        h, at least 0. Height 0 is a single leaf, height 1 a star (the theorems of the source assume at least 2). May be
        left out where the children are given by level.
    capacity : {'constant', 'exponential'} or sequence of int
        Packets per slot and direction of the branches between levels i-1 and i, for i = 1..h: all 1; the
        ``k_1*...*k_(i-1)`` leaves below, ``k**(i-1)``; or the h numbers ``c_1, ..., c_h``, at least 1 and never
        decreasing towards the root.

    Returns
    -------
    Network
        Spec ``fat-tree:k=K,h=H,capacity=...``, or ``fat-tree:k=k_1,...,k_h,capacity=...`` where levels differ (a list
        that is constant or exponential is called so). The leaves are nodes 0..n-1 from left to right and the only
        terminals; then come level 1, level 2, ..., and the root last. Coordinates are (level, place in the level). The
        first link of a node leads to its parent (the root has none), the others to its children from left to right.

    Raises
    ------
    NetworkError
        If a parameter is out of range, the number of children or of capacities is not h, or capacities decrease.

    Notes
    -----
    Node (i, x) has parent (i+1, x div k_(i+1)). Two leaves are 2l apart, with l the lowest level at which they share an
    ancestor. O(N) time.

    References
    ----------
    Dimakopoulos 1996, section 6.1.

    Examples
    --------
    >>> fat_tree(2, 3, "exponential")
    <Network fat-tree:k=2,h=3,capacity=exponential: 15 nodes, 28 links>
    >>> fat_tree((2, 3)).terminal_count
    6
    """
    _fat_tree_size(arity, height, capacity)
    arities = _arities(arity, height)
    levels = Levels(arities, _capacities(arities, capacity))
    sizes = [levels.leaves[-1] // leaves for leaves in levels.leaves]
    first = np.concatenate([[0], np.cumsum(sizes)])
    level = np.repeat(np.arange(levels.height + 1), sizes)
    if len(set(arities)) > 1:
        shape = f"k={','.join(map(str, arities))}"
    else:  # a single leaf may have any k
        shape = f"k={arities[0] if arities else arity},h={levels.height}"
    return Network(
        f"fat-tree:{shape},capacity={_pattern(levels)}",
        sum(sizes),
        *_branches(levels, sizes, first),
        terminal_count=sizes[0],
        structures=[levels, Coordinates(np.stack([level, np.arange(sum(sizes)) - first[level]], axis=1))],
    )


def _branches(levels: Levels, sizes: list[int], first: Counts) -> tuple[Counts, ...]:
    """Return source, target and capacity of every link, int64[L] each; `sizes` and `first` nodes of each level."""
    source, target, branch = [], [], []
    for i, size in enumerate(sizes):
        place = np.arange(size)
        ends, widths = [], []
        if i < levels.height:
            ends.append(first[i + 1] + place[:, None] // levels.arities[i])
            widths.append(np.full(1, levels.capacities[i]))
        if i > 0:
            k = levels.arities[i - 1]
            ends.append(first[i - 1] + np.arange(size * k).reshape(size, k))
            widths.append(np.full(k, levels.capacities[i - 1]))
        table = np.concatenate(ends, axis=1) if ends else np.empty((1, 0), np.int64)
        source.append(np.repeat(first[i] + place, table.shape[1]))
        target.append(table.reshape(-1))
        branch.append(np.tile(np.concatenate(widths), size) if widths else table.reshape(-1))
    return np.concatenate(source), np.concatenate(target), np.concatenate(branch)


def _fat_tree_size(
    arity: int | Sequence[int], height: int | None = None, capacity: str | Sequence[int] = "constant"
) -> Size:
    arities = _arities(arity, height)
    branches, sizes = 0, 1
    for k in reversed(arities):
        sizes *= k
        branches += sizes
    size = checked_size("fat-tree", branches + 1, 2 * branches)
    _capacities(arities, capacity)
    return size


def _arities(arity: int | Sequence[int], height: int | None) -> tuple[int, ...]:
    """Return the children of the nodes of levels 1..h; of a uniform tree that is too high only the first 64."""
    several = is_list(arity)
    given = tuple(arity) if is_list(arity) else (arity,)
    numbers = tuple(whole_number(k, "fat-tree", "k", low=2) for k in given)
    if height is None:
        if not several:
            raise NetworkError("fat-tree: the height h is missing; it is needed where all levels have one arity k")
        return numbers
    h = whole_number(height, "fat-tree", "h", low=0)
    if several and len(numbers) not in (1, h):
        raise NetworkError(f"fat-tree: height {h} needs {h} arities k_1,...,k_{h}, or one for all, got {len(numbers)}")
    return numbers * min(h, 64) if len(numbers) == 1 else numbers


def _capacities(arities: tuple[int, ...], capacity: str | Sequence[int]) -> tuple[int, ...]:
    h = len(arities)
    if capacity == "constant":
        return (1,) * h
    if capacity == "exponential":
        return Levels(arities, ()).leaves[:-1]
    if isinstance(capacity, str) or not isinstance(capacity, Sequence):
        raise NetworkError(
            f"fat-tree: capacity must be constant, exponential or {h} integers c_1,...,c_h, got {shown(capacity)}"
        )
    numbers = tuple(whole_number(c, "fat-tree", "a capacity", 1, MAX_CAPACITY) for c in capacity)
    if len(numbers) != h:
        raise NetworkError(f"fat-tree: height {h} needs {h} capacities c_1,...,c_{h}, got {len(numbers)}")
    for i in range(1, h):
        if numbers[i] < numbers[i - 1]:
            raise NetworkError(
                f"fat-tree: capacities must not decrease towards the root, "
                f"got c_{i + 1}={numbers[i]} after c_{i}={numbers[i - 1]}"
            )
    return numbers


def _pattern(levels: Levels) -> str:
    for name in ("constant", "exponential"):
        if levels.capacities == _capacities(levels.arities, name):
            return name
    return ",".join(map(str, levels.capacities))


def _one_or_more(family: Family, text: str) -> int | tuple[int, ...]:
    """Read the children of all nodes, or those of each level."""
    numbers = spec_parameters.integers(family, text)
    return numbers if len(numbers) > 1 else numbers[0]


def _word_or_numbers(family: Family, text: str) -> str | tuple[int, ...]:
    return text if re.fullmatch("[a-z]+", text) else spec_parameters.integers(family, text)


FAT_TREE = Family(
    name="fat-tree",
    function=fat_tree,
    size=_fat_tree_size,
    form=spec_parameters.named(
        {"k": _one_or_more, "h": spec_parameters.integer, "capacity": _word_or_numbers}, h=None, capacity="constant"
    ),
    parameters="k=K,h=H|k=k_1,...,k_h,capacity=constant|exponential|c_1,...,c_h",
    summary="complete tree of single switches of height h, k children each or k_i at level i, leaves are terminals; "
    "for the folded Clos that is called a fat tree elsewhere, see folded-clos",
    example="fat-tree:k=2,h=4,capacity=exponential",
    source="Dimakopoulos 1996, section 6.1",
    small=(
        "fat-tree:k=2,h=3,capacity=constant",
        "fat-tree:k=3,h=2,capacity=exponential",
        "fat-tree:k=2,3,capacity=constant",
    ),
)
