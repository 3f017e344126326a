"""The links that each row of a timeline crosses: one of a hop, several of a worm."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.schedules import Timeline

__all__ = ["NodePairs", "routes"]

Column = npt.NDArray[Any]


class NodePairs:
    """Links from one node to another, parallel ones together."""

    def __init__(self, network: Network) -> None:
        self.count = network.node_count
        key = network.link_source.astype(np.int64) * self.count + network.link_target
        self.key, self.first, of_link = np.unique(key, return_index=True, return_inverse=True)
        self.capacity = np.bincount(of_link, network.link_capacity).astype(np.int32)

    def number(self, source: Column, target: Column) -> npt.NDArray[np.int32]:
        """Return the number of the pair of each source and target."""
        wanted = source.astype(np.int64) * self.count + target
        return np.searchsorted(self.key, wanted).astype(np.int32)


def routes(
    schedule: Any, rows: Timeline, pairs: NodePairs
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the links that each row crosses, as `first` int32[R+1] and `way`: one a hop, several a worm.

    The third is the share of a worm that a row is, one of several pieces; empty where all rows are whole.
    """
    displacement = getattr(schedule, "displacement", None)
    if displacement is None:
        hop = np.arange(rows.count + 1, dtype=np.int32)
        return hop, pairs.number(rows.source, rows.target), np.zeros(0, np.float32)
    sizes = np.append(np.diff(schedule.payloads.first), 1)[schedule.payload]
    of = np.repeat(np.arange(len(sizes)), sizes)
    hops = schedule.hops[of]
    first = np.concatenate([[0], np.cumsum(hops)]).astype(np.int32)
    row = np.repeat(np.arange(rows.count), hops)
    within = np.arange(row.size) - first[row]
    channels = schedule.channels
    if not channels.on_grid:
        begins, links = channels.paths(schedule.source, displacement)
        link = links[begins[of][row] + within]
        net = schedule.network
        return first, pairs.number(net.link_source[link], net.link_target[link]), (1 / sizes[of]).astype(np.float32)
    steps = np.abs(displacement.astype(np.int64))
    gone = np.concatenate([np.zeros((len(steps), 1), np.int64), np.cumsum(steps, axis=1)], axis=1)[of]
    sign = np.sign(displacement.astype(np.int64))[of]

    def after(hop: Column) -> Column:
        moved = np.clip(hop[:, None] - gone[row, :-1], 0, steps[of][row]) * sign[row]
        return np.asarray(channels.target(rows.source[row], moved))

    return first, pairs.number(after(within), after(within + 1)), (1 / sizes[of]).astype(np.float32)
