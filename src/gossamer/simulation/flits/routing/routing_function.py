"""What a routing function is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks.network import IntArray
from gossamer.simulation.flits.destinations import Draws
from gossamer.simulation.flits.fabric import Fabric
from gossamer.simulation.flits.settings import Routers
from gossamer.simulation.flits.state import Adaptive

Ints = npt.NDArray[np.int64]
Integers = npt.NDArray[np.integer]

NO_STEP = -9
"""Behind the end of a route in a table of routes."""
EJECT = -1


class Joined(NamedTuple):
    """Classes of virtual channels of which a message takes the first on its way to any router, the second from it."""

    before: int
    behind: int


class RoutedMessages(NamedTuple):
    """Messages whose routes are to be written.

    `route` int32 is where, from ``begin[m]`` on for message m, int64[M]; `source` and `target` are terminals, int[M].
    """

    route: IntArray
    begin: Ints
    source: Integers
    target: Integers
    random: Draws


class Routing(ABC):
    """A routing function on one fabric with given routers.

    * `name`: its name in `ROUTINGS`.
    * `fabric`: where it routes.
    * `classes`, int64[K]: the virtual channels of each class, as bits; class 0 are all of them.
    * `longest`: the most links that a route has.
    * `routes`: routes that are written for a message: 2 where its source chooses.
    * `draws`: how often `write` draws 0 or 1 for a message; None if it draws something else.
    * `adaptive`: the ways of heads that find them step by step.
    * `escape`: virtual channels, as bits, that a message does not leave for others.
    """

    name = ""
    routes = 1
    longest = 0
    draws: int | None = None
    adaptive: Adaptive | None = None
    escape = 0
    classes: Ints

    def __init__(self, fabric: Fabric, settings: Routers) -> None:
        self.fabric, self.settings = fabric, settings

    @property
    def row_size(self) -> int:
        """Places that the routes of a message take: for each the number of its links, its steps and its end."""
        return self.routes * (self.longest + 2)

    def ends(self, target: Integers) -> Ints:
        """Return the last step of messages to the terminals `target`, int64[M]."""
        return ends(self.fabric, self.settings, target)

    @abstractmethod
    def write(self, sent: RoutedMessages) -> None:
        """Write the routes of messages: links at ``begin - 1``, steps from ``begin`` on.

        A second route begins ``longest + 2`` places behind the first.
        """

    @abstractmethod
    def every_route(self) -> Iterator[IntArray]:
        """Yield all routes between routers that may be taken, or all their parts; int32[M, most steps] each.

        Two steps in succession in some route are so in one that is yielded. Rows are filled up with `NO_STEP`.
        """

    def joined(self) -> list[Joined]:
        """Return what classes follow each other at routers on the way."""
        return []


def ends(fabric: Fabric, settings: Routers, target: Integers) -> Ints:
    """Return the last step of messages to the terminals `target`, int64[M]."""
    if settings.ejection == "channels":
        return np.full(target.size, EJECT, np.int64)
    queues = fabric.link_count + fabric.injections(settings.injection).size
    return (queues + target.astype(np.int64)) << 8


def halves(bits: int) -> tuple[int, int]:
    """Return the lower and the upper half of virtual channels; the lower is the larger one.

    >>> halves(0b111)
    (3, 4)
    """
    which = [v for v in range(bits.bit_length()) if bits >> v & 1]
    low = sum(1 << v for v in which[: (len(which) + 1) // 2])
    return low, bits & ~low


def phases(lanes: int, count: int, name: str, each: int) -> list[int]:
    """Return `count` groups of at least `each` of so many virtual channels, as bits.

    Raises ModelError if they do not suffice.
    """
    if lanes < count * each:
        raise ModelError(f"routing {name!r} needs virtual_channels of at least {count * each} here, got {lanes}")
    bounds = [lanes * k // count for k in range(count + 1)]
    return [(1 << b) - (1 << a) for a, b in pairwise(bounds)]


# Routes that are written from legs between routers: one leg, two by way of a random router, or a choice of both.


class Legs(Routing):
    """A routing function with one way, or one that is drawn, between two routers."""

    @abstractmethod
    def leg(self, sent: RoutedMessages, at: Integers, to: Integers, kind: int, hops: Ints) -> None:
        """Write ways between routers behind `hops` steps, which grow; `kind` is added to the classes."""

    def write(self, sent: RoutedMessages) -> None:
        """Write routes of one leg; see `Routing.write`."""
        self.direct_way(sent, 0)

    def direct_way(self, sent: RoutedMessages, kind: int) -> None:
        """Write routes of one leg in the classes from `kind` on."""
        per, hops = self.fabric.per_router, np.zeros(sent.source.size, np.int64)
        self.leg(sent, sent.source // per, sent.target // per, kind, hops)
        sent.route[sent.begin - 1] = hops


class TwoLegs(Legs):
    """To a random router first, then to the target, each leg on virtual channels of its own (Valiant).

    `kinds`: what is added to the classes of the first and of the second leg.
    """

    name = "valiant"
    kinds: tuple[int, int]

    def write(self, sent: RoutedMessages) -> None:
        """Write routes of two legs; see `Routing.write`."""
        per, hops = self.fabric.per_router, np.zeros(sent.source.size, np.int64)
        middle = sent.random.integers(0, self.fabric.router_count, sent.source.size)
        self.leg(sent, sent.source // per, middle, self.kinds[0], hops)
        self.leg(sent, middle, sent.target // per, self.kinds[1], hops)
        sent.route[sent.begin - 1] = hops


class Choosing(TwoLegs):
    """The source chooses between the shortest and a random longer way by the queues that it sees (UGAL).

    It compares flits waiting for the first link times links of the way. Shortest paths take the virtual channels of
    second legs.
    """

    name = "ugal"
    routes = 2

    def write(self, sent: RoutedMessages) -> None:
        """Write both routes; see `Routing.write`."""
        self.direct_way(sent, self.kinds[1])
        super().write(sent._replace(begin=sent.begin + self.longest + 2))
