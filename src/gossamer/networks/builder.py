"""Networks put together link by link: what every reader of files and graphs ends with, and what a format declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gossamer.errors import FileFormatError, GossamerError, shown
from gossamer.networks import spec_parameters
from gossamer.networks.family import MAX_CAPACITY, Family, Form, checked_size, fractional_capacity
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import Assumptions, Speeds, Structure, no_latency
from gossamer.reading import fraction, whole
from gossamer.reading.quantities import bandwidth, duration

ATTRIBUTES = ("capacity", "bandwidth", "latency", "occupancy", "latency_slots", "source_port", "target_port")
"""What files and graphs may say of a link, besides its ends."""


class LinkKind(NamedTuple):
    """In what links between the same two nodes may differ: bytes a second and seconds, slots, ports at their ends."""

    bandwidth: float | None = None
    latency: float | None = None
    occupancy: int = 1
    latency_slots: int = 0
    source_port: str | None = None
    target_port: str | None = None

    @property
    def turned(self) -> LinkKind:
        """The kind of the link in opposite direction."""
        return self._replace(source_port=self.target_port, target_port=self.source_port)


PLAIN = LinkKind()


class PortKind(NamedTuple):
    """What a shared port passes each way: packets at once, bytes a second of each, and slots for which one is in it."""

    capacity: int = 1
    bandwidth: float | None = None
    occupancy: int = 1


class Wiring:
    """Links, collected one by one; those alike between the same nodes become one of their capacities together.

    `name`: what messages call the network, such as ``edge list 'x.edges'``. `error`: the class of what is raised.
    """

    def __init__(self, name: str, error: type[GossamerError] = FileFormatError) -> None:
        self.name, self.error = name, error
        self._links: dict[tuple[Hashable, Hashable, LinkKind], int] = {}
        self._ports: dict[str, PortKind] = {}

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
        for key in ((source, target, kind), (target, source, kind.turned))[: 1 if one_way else 2]:
            total = self._links.get(key, 0) + capacity
            if total > MAX_CAPACITY:
                raise self.error(f"{where}: the links from {shown(key[0])} to {shown(key[1])} have a capacity of over "
                                 f"{MAX_CAPACITY} together")  # fmt: skip
            self._links[key] = total

    def port(self, where: str, name: str, given: Mapping[str, Any]) -> None:
        """Say what a shared port passes: its capacity, bandwidth and occupancy, as `attributed` takes them."""
        for key in given:
            if key not in PortKind._fields:
                raise self.error(f"{where}: a port has no {shown(key)}; it may have: {', '.join(PortKind._fields)}")
        if name in self._ports:
            raise self.error(f"{where}: port {shown(name)} is given twice")
        capacity, kind = attributed(f"{where}, port {shown(name)}", given, self.error)
        self._ports[name] = PortKind(capacity, kind.bandwidth, kind.occupancy)

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
        count = len(self._links)
        source = np.fromiter((number[u] for u, _, _ in self._links), np.int32, count)
        target = np.fromiter((number[v] for _, v, _ in self._links), np.int32, count)
        order = np.argsort(source, kind="stable")
        capacity = np.fromiter(self._links.values(), np.int32, count)
        times: dict[str, Any] = {}
        known = list(structures)
        assumed = next((found.every for found in known if isinstance(found, Assumptions)), ())
        if any(kind is not PLAIN and kind != PLAIN for _, _, kind in self._links):
            kinds = np.array([(kind.occupancy, kind.latency_slots) for _, _, kind in self._links], np.int32)[order]
            times = {"link_occupancy": kinds[:, 0], "link_latency": kinds[:, 1]}
            speeds = self._speeds(order.tolist())
            ports = self._shared_ports(order.tolist(), speeds)
            known += [found for found in (speeds, ports) if found is not None]
            silent = 0 if speeds is None else sum(kind.latency is None for _, _, kind in self._links)
            if silent:
                which = "links" if silent == count else f"{silent:,} of {count:,} links"
                every = (*assumed, no_latency(which))
                known = [*(found for found in known if not isinstance(found, Assumptions)), Assumptions(every)]
        return Network(
            spec,
            len(nodes),
            source[order],
            target[order],
            capacity[order],
            terminal_count=terminal_count,
            structures=known,
            labels=labels,
            links_only=True,
            **times,
        )

    def _shared_ports(self, order: list[int], speeds: Speeds | None) -> SharedPorts | None:
        """Return the ports of the links in an order; those whose bandwidth is not told keep up with their links."""
        told = [kind for _, _, kind in self._links]
        sides = [[getattr(told[i], name) for i in order] for name in ("source_port", "target_port")]
        number = {name: i for i, name in enumerate(dict.fromkeys(p for side in sides for p in side if p is not None))}
        for name in self._ports:
            if name not in number:
                raise self.error(f"{self.name}: no link goes through port {shown(name)}")
        if not number:
            return None
        kinds = [self._ports.get(name, PortKind()) for name in number]
        fastest = [0.0] * len(kinds)
        for side in sides if speeds is not None else ():
            for name, rate in zip(side, () if speeds is None else speeds.bandwidth.tolist(), strict=True):
                if name is not None:
                    fastest[number[name]] = max(fastest[number[name]], rate)
        if speeds is None and any(kind.bandwidth is not None for kind in kinds):
            raise self.error(f"{self.name}: ports have bandwidths, and links have none")
        rates = [fast if kind.bandwidth is None else kind.bandwidth for kind, fast in zip(kinds, fastest, strict=True)]
        sending, receiving = (
            np.array([-1 if name is None else number[name] for name in side], np.int32) for side in sides
        )
        return SharedPorts(
            sending,
            receiving,
            np.array([kind.capacity for kind in kinds], np.int32),
            np.array([kind.occupancy for kind in kinds], np.int32),
            None if speeds is None else np.array(rates, np.float64),
            tuple(number),
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

    * `where`: the place that messages name.
    * `given`: by `ATTRIBUTES`: a capacity and slots in whole numbers, of text too; a bandwidth in bytes a second or
      with a unit; a latency in seconds or, as a text, with a unit.
    * `error`: the class of what is raised.

    >>> capacity, kind = attributed("line 3", {"capacity": "2", "bandwidth": "50GB/s"}, FileFormatError)
    >>> capacity, kind.bandwidth, kind.occupancy
    (2, 50000000000.0, 1)
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
    ports = [None if said.get(name) is None else str(said[name]) for name in ATTRIBUTES[-2:]]
    return capacity, LinkKind(
        None if rate is None else _rate(rate, f"{where}: bandwidth", error),
        None if delay is None else _delay(delay, f"{where}: latency", error),
        occupancy,
        slots,
        *ports,
    )


def _rate(value: Any, name: str, error: type[GossamerError]) -> float:
    return float(bandwidth(value, name, error=error))


def _delay(value: Any, name: str, error: type[GossamerError]) -> float:
    return float(duration(value, name, error=error))


def _whole(where: str, name: str, value: Any, least: int, error: type[GossamerError]) -> int:
    """Return a whole number, of a text or of a float that is whole as well."""
    number = fraction(value, f"{where}: {name}", allowed=f"a whole number in {least}..{MAX_CAPACITY}", error=error)
    if name == "capacity" and number.denominator != 1:
        raise error(f"{where}: {fractional_capacity(value)}")
    if number.denominator != 1 or not least <= number <= MAX_CAPACITY:
        raise error(f"{where}: {name} must be a whole number in {least}..{MAX_CAPACITY}, got {shown(value)}")
    return whole(int(number), name, least, error=error)


# Formats of network files.


@dataclass(frozen=True)
class NetworkFormat:
    """A format of network files.

    * `name`: what stands before the colon of a spec that names the file and its format.
    * `summary`: one line.
    * `source`: where the format is defined.
    * `suffixes`: suffixes of files that are of this format.
    * `read`: returns the network of a file.
    * `write`: writes a network to a file; the path is one that `whole_file` gives.
    * `recognizes`: whether a text file of a suffix that says little, such as ``.txt``, begins as those of the format
      do.
    * `form`: reads what stands behind the colon of a spec.
    * `parameters`: what stands behind the colon, in words.
    * `aliases`: other names.
    """

    name: str
    summary: str
    source: str
    suffixes: tuple[str, ...] = ()
    read: Callable[..., Network] | None = None
    write: Callable[[Network, Path], None] | None = None
    recognizes: Callable[[str], bool] = lambda text: False
    form: Form = spec_parameters.path
    parameters: str = "PATH"
    aliases: tuple[str, ...] = ()


def path_and(*names: str) -> Form:
    """Return the form ``PATH,name=value,...`` of a spec: the path, and the values of those names that stand behind it.

    >>> from gossamer.networks.files import FILE_FAMILIES
    >>> path_and("link", "latency")(FILE_FAMILIES[0], "four, five.json, link=5GB/s,latency=1us")
    ['four, five.json', {'latency': '1us', 'link': '5GB/s'}]
    """
    option = re.compile(rf"(.*\S)\s*,\s*({'|'.join(names)})=([^,]*)", re.DOTALL)

    def read(family: Family, text: str) -> list[object]:
        words: dict[str, str] = {}
        while match := option.fullmatch(text):
            text = match[1]
            words[match[2]] = match[3].strip()
        return [text, words]

    return read
