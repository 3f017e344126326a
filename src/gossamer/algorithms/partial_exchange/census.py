"""Control phases that tell the nodes which of them are active.

A line of p nodes is a tree rooted at its median: values come up to the median and what they make together goes
down again, floor(p/2) control steps each way (Varvarigos and Bertsekas 1994, section 4, phase 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network

__all__ = ["Control", "census", "counts_of_lines"]


class Control(NamedTuple):
    """Control hops: their number of slots, and the slot and link of each, by slot."""

    slots: int
    slot: IntArray
    link: IntArray


def counts_of_lines(network: Network) -> Control:
    """Return the control hops by which every node learns how many active nodes its row and its column have.

    All lines of all dimensions work at once, so ``2 * floor(p/2)`` control steps are enough for the longest side p.

    Examples
    --------
    >>> from gossamer.networks import array
    >>> counts_of_lines(array(4, 4)).slots, counts_of_lines(array(3, 3)).slots
    (4, 2)
    """
    assert network.grid is not None
    everywhere = np.ones(network.node_count, np.bool_)
    passes = [_up(network, c, everywhere) for c in range(network.grid.dimensions)]
    slots = max((side // 2 for side in network.grid.sides), default=0)
    return _up_and_down(network, passes, [0] * len(passes), slots)


def census(network: Network) -> Control:
    """Return the control hops by which every node learns the set of active nodes.

    The sets come up dimension by dimension to the node in the middle and go down the same way. A control packet carries
    a set of nodes here, not just a count. ``2 * sum(floor(p/2))`` control steps over the sides p.

    Examples
    --------
    >>> from gossamer.networks import torus
    >>> found = census(torus(3, 4))
    >>> found.slots, found.slot.size
    (6, 22)
    """
    assert network.grid is not None
    coordinates = network.coordinates
    assert coordinates is not None
    left = np.ones(network.node_count, np.bool_)  # nodes whose line has not been summed up at its median
    passes, begins, begin = [], [], 0
    for c, side in enumerate(network.grid.sides):
        passes.append(_up(network, c, left))
        begins.append(begin)
        begin += side // 2
        left &= coordinates[:, c] == side // 2
    return _up_and_down(network, passes, begins, begin)


def _up(network: Network, axis: int, nodes: npt.NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return step and link of the hops along the lines of `nodes` towards their medians."""
    assert network.grid is not None
    assert network.coordinates is not None
    side = network.grid.sides[axis]
    links = grid_links(network)[:, axis]
    at = network.coordinates[:, axis]
    below, above = np.flatnonzero(nodes & (at < side // 2)), np.flatnonzero(nodes & (at > side // 2))
    step = np.concatenate([at[below], side - 1 - at[above]])
    return step.astype(np.int32), np.concatenate([links[below, 0], links[above, 1]]).astype(np.int32)


def _up_and_down(network: Network, passes: list[tuple[IntArray, IntArray]], begins: list[int], half: int) -> Control:
    """Return the passes followed by themselves, backwards in time over the opposite links."""
    step = np.concatenate([step + begin for (step, _), begin in zip(passes, begins, strict=True)])
    link = np.concatenate([link for _, link in passes])
    slot = np.concatenate([step, 2 * half - 1 - step])
    over = np.concatenate([link, network.reverse_link[link]])
    order = np.argsort(slot, kind="stable")
    return Control(2 * half, slot[order].astype(np.int32), over[order].astype(np.int32))
