"""Cables that a symmetry of the network takes into each other: what holds of one holds of all."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from gossamer.networks.failures import cables
from gossamer.networks.network import Network
from gossamer.networks.structures import Grid, Speeds

__all__ = ["cable_orbits"]


def cable_orbits(network: Network) -> npt.NDArray[np.int64]:
    """Return the orbit of each cable, under the symmetries that the network's structure tells.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    int64[cables]
        For each cable, in the order of `gossamer.networks.failures.cables`, the number of its orbit. On arrays and
        tori: translations along rings, reflections, and exchanges of equal sides; on other Cayley networks:
        translations, where a factor that is complete counts as one; on fat trees: a level is an orbit. Elsewhere, or
        where capacities, times or speeds differ, every cable is alone: the orbits are never too large, but may be
        finer than they could.

    Notes
    -----
    O(L d) time.

    Examples
    --------
    >>> from gossamer.networks import array, parse, torus
    >>> [len(set(cable_orbits(net).tolist())) for net in (torus(4, 4), torus(4, 5), array(5), parse("ccc:3"))]
    [1, 2, 2, 2]
    """
    ends = cables(network)
    keys = _keys(network, ends) if _even(network) else None
    if keys is None:
        return np.arange(len(ends))
    number: dict[Hashable, int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], np.int64)


def _even(network: Network) -> bool:
    """Whether links differ in nothing but their ends (in fat trees: and in their capacity, by level)."""
    speeds = network.find(Speeds)
    same = speeds is None or all(np.ptp(column) == 0 for column in (speeds.bandwidth, speeds.latency) if column.size)
    return network.plain and same and (network.uniform_capacity is not None or network.levels is not None)


def _keys(network: Network, ends: npt.NDArray[np.int64]) -> list[Hashable] | None:
    """Return what is the same for the cables of one orbit; None if no symmetry is known."""
    if network.levels is not None:
        level = _levels(network)
        return [tuple(sorted(row)) for row in level[ends].tolist()]
    if network.terminal_count < network.node_count:
        return None
    grid = network.grid
    if grid is not None:
        places = np.stack(np.unravel_index(ends, grid.sides), axis=-1)  # [cables, 2, dimensions]
        return [_grid_key(grid, *row) for row in places.tolist()]
    if network.group is None:
        return None
    named = _generator_keys(network)
    link = {(int(u), int(v)): i for i, (u, v) in enumerate(zip(network.link_source, network.link_target, strict=True))}
    back = network.reverse_link
    degree = network.degree
    found: list[Hashable] = []
    for u, v in ends.tolist():
        one = link.get((u, v), link.get((v, u), 0))
        other = int(back[one])
        found.append(min(named[one % degree], named[other % degree]) if other >= 0 else named[one % degree])
    return found


def _levels(network: Network) -> npt.NDArray[np.int64]:
    """Return the level of each node of a fat tree, 0 for the leaves."""
    level = np.full(network.node_count, -1, np.int64)
    level[: network.terminal_count] = 0
    step = 0
    while (level < 0).any():
        near = network.link_target[level[network.link_source] == step]
        level[near[level[near] < 0]] = step + 1
        step += 1
    return level


def _grid_key(grid: Grid, one: list[int], other: list[int]) -> Hashable:
    """Return what symmetries of an array or torus keep of a cable: its dimension and where it is, up to reflection."""
    sides, wraps = grid.sides, grid.wraps
    own = next(d for d in range(grid.dimensions) if one[d] != other[d])
    along = 0 if wraps[own] else min(min(one[own], other[own]), sides[own] - 1 - max(one[own], other[own]))
    rest = sorted(
        (sides[d], wraps[d], 0 if wraps[d] else min(one[d], sides[d] - 1 - one[d]))
        for d in range(grid.dimensions)
        if d != own
    )
    return sides[own], wraps[own], along, tuple(rest)


def _generator_keys(network: Network) -> list[tuple[str, int]]:
    """Return, for each generator, its factor and its place there; 0 for all of a factor that is complete."""
    found: list[tuple[str, int]] = []
    for factor in network.factors or (network,):
        if not factor.link_count:
            continue
        complete = factor.degree == factor.node_count - 1
        found += [(factor.spec, 0 if complete else g) for g in range(factor.degree)]
    return found
