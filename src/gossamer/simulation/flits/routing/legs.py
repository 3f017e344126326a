"""Routes that are written from legs between routers: one leg, two by way of a random router, or a choice of both."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from gossamer.simulation.flits.routing.function import Routing, Sent

__all__ = ["Choosing", "Legs", "TwoLegs"]


class Legs(Routing):
    """A routing function with one way, or one that is drawn, between two routers."""

    @abstractmethod
    def leg(
        self,
        sent: Sent,
        at: npt.NDArray[np.integer],
        to: npt.NDArray[np.integer],
        kind: int,
        hops: npt.NDArray[np.int64],
    ) -> None:
        """Write ways between routers behind `hops` steps, which grow; `kind` is added to the classes."""

    def write(self, sent: Sent) -> None:
        """Write routes of one leg; see `Routing.write`."""
        self.direct_way(sent, 0)

    def direct_way(self, sent: Sent, kind: int) -> None:
        """Write routes of one leg in the classes from `kind` on."""
        per, hops = self.fabric.per_router, np.zeros(sent.source.size, np.int64)
        self.leg(sent, sent.source // per, sent.target // per, kind, hops)
        sent.route[sent.begin - 1] = hops


class TwoLegs(Legs):
    """To a random router first, then to the target, each leg on virtual channels of its own (Valiant).

    Attributes
    ----------
    kinds : (int, int)
        What is added to the classes of the first and of the second leg.
    """

    name = "valiant"
    kinds: tuple[int, int]

    def write(self, sent: Sent) -> None:
        """Write routes of two legs; see `Routing.write`."""
        per, hops = self.fabric.per_router, np.zeros(sent.source.size, np.int64)
        middle = sent.random.integers(0, self.fabric.router_count, sent.source.size)
        self.leg(sent, sent.source // per, middle, self.kinds[0], hops)
        self.leg(sent, middle, sent.target // per, self.kinds[1], hops)
        sent.route[sent.begin - 1] = hops


class Choosing(TwoLegs):
    """The source chooses between the shortest and a random longer way by the queues that it sees (UGAL).

    It compares flits waiting for the first link times links of the way. Shortest ways take the virtual channels of
    second legs.
    """

    name = "ugal"
    routes = 2

    def write(self, sent: Sent) -> None:
        """Write both routes; see `Routing.write`."""
        self.direct_way(sent, self.kinds[1])
        super().write(sent._replace(begin=sent.begin + self.longest + 2))
