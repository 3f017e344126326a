"""Personalized exchanges: every message has an origin and a destination of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.questions.tasks.task import Ids, Messages, OfActive, Task, to_one

__all__ = ["Pairs", "PartialExchange", "PartialGather", "TotalExchange"]


class Pairs(Task):
    """An exchange; message number ``origin*n + destination`` over n terminals."""

    def _pairs(self, network: Network, origin: npt.ArrayLike, target: npt.ArrayLike) -> Messages:
        a = np.asarray(origin, np.int64)
        b = np.asarray(target, np.int64)
        a, b = (x.reshape(-1) for x in np.broadcast_arrays(a[:, None], b[None, :]))
        keep = a != b
        a, b = a[keep], b[keep]
        return to_one(a * network.terminal_count + b, a, b)

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs."""
        return network.terminal_count**2

    def dual_ids(self, network: Network, ids: Ids) -> Ids:
        """Swap origin and destination."""
        n = network.terminal_count
        return ids % n * n + ids // n

    def renamed_ids(self, network: Network, ids: Ids, by: Callable[[Ids], Ids]) -> Ids:
        """Rename origin and destination."""
        n = network.terminal_count
        return by(ids // n) * n + by(ids % n)


@dataclass(frozen=True)
class TotalExchange(Pairs):
    """Every node sends a different message to every other (alltoall). Message number: ``origin*n + destination``."""

    name = "total-exchange"
    summary = "every node sends a different message to every other node"
    invariant = True

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message for each ordered pair of terminals."""
        nodes = np.arange(network.terminal_count)
        return self._pairs(network, nodes if origins is None else origins, nodes)

    def dual(self, network: Network) -> Task:
        """Total exchange again."""
        return self


@dataclass(frozen=True)
class PartialExchange(OfActive, Pairs):
    """Each active node sends a different message to every other node. Message number: ``origin*n + destination``."""

    name = "partial-exchange"
    summary = "each of a set of active nodes sends a different message to every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each active node to each other terminal."""
        return self._pairs(network, self.active, np.arange(network.terminal_count))

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs with an active node."""
        return len(self.active) * network.terminal_count

    def dual(self, network: Network) -> Task:
        """Partial gather."""
        return PartialGather(self.active)


@dataclass(frozen=True)
class PartialGather(OfActive, Pairs):
    """Each active node receives a different message from every other. Message number: ``origin*n + destination``."""

    name = "partial-gather"
    summary = "each of a set of active nodes receives a different message from every other node"

    def messages(self, network: Network, origins: npt.ArrayLike | None = None) -> Messages:
        """One message from each terminal to each other active node."""
        return self._pairs(network, np.arange(network.terminal_count), self.active)

    def most_messages(self, network: Network) -> int:
        """Return the number of pairs with an active node."""
        return len(self.active) * network.terminal_count

    def dual(self, network: Network) -> Task:
        """Partial exchange."""
        return PartialExchange(self.active)
