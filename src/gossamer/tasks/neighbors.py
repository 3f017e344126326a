"""Neighbor exchange: every node sends a message over each of its links, as in the halo exchange of a stencil."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.errors import TaskError
from gossamer.networks.network import Network
from gossamer.tasks.messages import Ids, Messages, Task, to_one

__all__ = ["NeighborExchange"]


@dataclass(frozen=True)
class NeighborExchange(Task):
    """Every terminal sends a different message to each terminal that it has a link to (halo, neighbor alltoall).

    Message number: ``origin*n + destination`` over n terminals.

    Examples
    --------
    >>> import gossamer
    >>> NeighborExchange().messages(gossamer.network("array:3")).ids.tolist()
    [1, 3, 5, 7]
    """

    name = "neighbor-exchange"
    summary = "every node sends a different message to each of its neighbors"

    def check(self, network: Network) -> None:
        """Raise TaskError if no terminal has a link to another."""
        if network.terminal_count > 1 and not _edges(network)[0].size and network.link_count:
            raise TaskError(f"no terminal of {network.spec} is linked to another, so there are no neighbors")

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """Return one message for each pair of terminals with a link."""
        source, target = _edges(network)
        ids = source * np.int64(network.terminal_count) + target
        ids, once = np.unique(ids, return_index=True)
        return to_one(ids, source[once], target[once])

    def most_messages(self, network: Network) -> int:
        """Return the number of links."""
        return network.link_count

    def dual(self, network: Network) -> Task:
        """Return the neighbor exchange of the links turned round, which is the same task on the transposed network."""
        return self

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Swap origin and destination."""
        n = network.terminal_count
        return ids % n * n + ids // n

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename origin and destination."""
        n = network.terminal_count
        return by(ids // n) * n + by(ids % n)


def _edges(network: Network) -> tuple[Ids, Ids]:
    among = (network.link_source < network.terminal_count) & (network.link_target < network.terminal_count)
    return network.link_source[among].astype(np.int64), network.link_target[among].astype(np.int64)
