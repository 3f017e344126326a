"""Networks put together link by link: what every reader of files and graphs ends with."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, GossamerError, shown
from gossamer.networks._parameters import MAX_CAPACITY, checked_size, fractional_capacity
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds, Structure
from gossamer.reading import fraction, whole
from gossamer.reading.quantities import bandwidth, duration

__all__ = ["ATTRIBUTES", "PLAIN", "LinkKind", "Wiring", "attributed"]

ATTRIBUTES = ("capacity", "bandwidth", "latency", "occupancy", "latency_slots")
"""What files and graphs may say of a link, besides its ends."""


class LinkKind(NamedTuple):
    """In what links between the same two nodes may differ: in bytes a second and seconds, and in slots."""

    bandwidth: float | None = None
    latency: float | None = None
    occupancy: int = 1
    latency_slots: int = 0


PLAIN = LinkKind()


class Wiring:
    """Links, collected one by one; those alike between the same nodes become one of their capacities together.

    Parameters
    ----------
    name : str
        What messages call the network, such as ``edge list 'x.edges'``.
    error : type
        The class of what is raised.
    """

    def __init__(self, name: str, error: type[GossamerError] = FileFormatError) -> None:
        self.name, self.error = name, error
        self._links: dict[tuple[Hashable, Hashable, LinkKind], int] = {}

    def __len__(self) -> int:
        return len(self._links)

    def links(self) -> Iterator[tuple[tuple[Hashable, Hashable, LinkKind], int]]:
        """Yield ends and kind of each link with its capacity."""
        return iter(self._links.items())

    def has(self, source: Hashable, target: Hashable, kind: LinkKind = PLAIN) -> bool:
        """Return whether there is such a link already."""
        return (source, target, kind) in self._links

    def add(
        self,
        where: str,
        source: Hashable,
        target: Hashable,
        capacity: int = 1,
        kind: LinkKind = PLAIN,
        *,
        one_way: bool = False,
    ) -> None:
        """Add a link, or one each way; `where` is the place that messages name."""
        if source == target:
            raise self.error(f"{where}: node {shown(source)} is joined to itself")
        for key in ((source, target, kind), (target, source, kind))[: 1 if one_way else 2]:
            total = self._links.get(key, 0) + capacity
            if total > MAX_CAPACITY:
                raise self.error(f"{where}: the links from {shown(key[0])} to {shown(key[1])} have a capacity of over "
                                 f"{MAX_CAPACITY} together")  # fmt: skip
            self._links[key] = total

    def network(
        self,
        spec: str,
        nodes: Sequence[Hashable],
        terminal_count: int | None = None,
        labels: Sequence[str] | None = None,
        structures: Sequence[Structure] = (),
    ) -> Network:
        """Return the network of the links on nodes in their order; links of a node are in the order of adding."""
        checked_size(self.name, len(nodes), len(self._links))
        number = {node: i for i, node in enumerate(nodes)}
        ends = np.array([(number[u], number[v]) for u, v, _ in self._links], np.int32).reshape(-1, 2)
        order = np.argsort(ends[:, 0], kind="stable")
        capacity = np.fromiter(self._links.values(), np.int32, len(self._links))
        times: dict[str, Any] = {}
        known = list(structures)
        if any(kind is not PLAIN and kind != PLAIN for _, _, kind in self._links):
            kinds = np.array([kind[2:] for _, _, kind in self._links], np.int32)[order]
            times = {"link_occupancy": kinds[:, 0], "link_latency": kinds[:, 1]}
            speeds = self._speeds(order.tolist())
            known += [] if speeds is None else [speeds]
        return Network(
            spec,
            len(nodes),
            ends[order, 0],
            ends[order, 1],
            capacity[order],
            terminal_count=terminal_count,
            structures=known,
            labels=labels,
            links_only=True,
            **times,
        )

    def _speeds(self, order: list[int]) -> Speeds | None:
        """Return the speeds of the links in an order; refuse those of some links only."""
        told = [kind for _, _, kind in self._links]
        if all(kind.bandwidth is None and kind.latency is None for kind in told):
            return None
        for u, v, kind in self._links:
            if kind.bandwidth is None:
                what = "other links have one" if kind.latency is None else "it has a latency"
                raise self.error(f"{self.name}: the link from {shown(u)} to {shown(v)} has no bandwidth, but {what}")
        return Speeds(
            np.array([told[i].bandwidth for i in order], np.float64),
            np.array([told[i].latency or 0.0 for i in order], np.float64),
        )


def attributed(where: str, given: Mapping[str, Any], error: type[GossamerError]) -> tuple[int, LinkKind]:
    """Return the capacity and the kind of a link from what is said of it; None stands for what is not said.

    Parameters
    ----------
    where : str
        The place that messages name.
    given : mapping
        By `ATTRIBUTES`: a capacity and slots in whole numbers, of text too; a bandwidth in bytes a second or with a
        unit; a latency in seconds or, as a text, with a unit.
    error : type
        The class of what is raised.

    Examples
    --------
    >>> attributed("line 3", {"capacity": "2", "bandwidth": "50GB/s", "latency": "2us"}, FileFormatError)
    (2, LinkKind(bandwidth=50000000000.0, latency=2e-06, occupancy=1, latency_slots=0))
    """
    said = {name: value for name in ATTRIBUTES if (value := given.get(name)) is not None}
    if not said:
        return 1, PLAIN
    capacity = _whole(where, "capacity", said.pop("capacity", 1), 1, error)
    if not said:
        return capacity, PLAIN
    rate, delay = said.get("bandwidth"), said.get("latency")
    occupancy = _whole(where, "occupancy", said.get("occupancy", 1), 1, error)
    slots = _whole(where, "latency_slots", said.get("latency_slots", 0), 0, error)
    return capacity, LinkKind(
        None if rate is None else _rate(rate, f"{where}: bandwidth", error),
        None if delay is None else _delay(delay, f"{where}: latency", error),
        occupancy,
        slots,
    )


def _rate(value: Any, name: str, error: type[GossamerError]) -> float:
    return float(bandwidth(_with_unit(value, name, "50GB/s or 400Gbit/s", error), name, error=error))


def _delay(value: Any, name: str, error: type[GossamerError]) -> float:
    return float(duration(_with_unit(value, name, "2us or 1.5ms", error), name, error=error))


def _with_unit(value: Any, name: str, example: str, error: type[GossamerError]) -> Any:
    """Refuse a bare number in a text: nobody knows of what."""
    if isinstance(value, str):
        try:
            bare = float(value) != 0
        except ValueError:
            bare = False
        if bare:
            raise error(f"{name} must have a unit, such as {example}, got {shown(value)}")
    return value


def _whole(where: str, name: str, value: Any, least: int, error: type[GossamerError]) -> int:
    """Return a whole number, of a text or of a float that is whole as well."""
    number = fraction(value, f"{where}: {name}", allowed=f"a whole number in {least}..{MAX_CAPACITY}", error=error)
    if name == "capacity" and number.denominator != 1:
        raise error(f"{where}: {fractional_capacity(value)}")
    if number.denominator != 1 or not least <= number <= MAX_CAPACITY:
        raise error(f"{where}: {name} must be a whole number in {least}..{MAX_CAPACITY}, got {shown(value)}")
    return whole(int(number), name, least, error=error)
