"""What a network is: sizes, distances, structure, symmetry, bottleneck, speeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gossamer.networks.as_network import as_network
from gossamer.networks.bottleneck import NarrowCut, bottleneck
from gossamer.networks.conversion import port_attributes
from gossamer.networks.failures import cables
from gossamer.networks.network import Failed, Network
from gossamer.networks.recognition import recognition
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import RatedLinks, Speeds
from gossamer.networks.symmetry import symmetry_words
from gossamer.writing import Rows, bandwidth_text, quantity, seconds_text

__all__ = ["Description", "describe"]

_WORK = 2_000_000_000
"""Links looked at for distances, at most: beyond, a sample of nodes stands for all."""
_SAMPLE = 64
_SHOWN = 12


@dataclass(frozen=True)
class Description(Rows):
    """What a network is.

    Attributes
    ----------
    network : Network
        The network.
    structure : str
        What it is or was recognized as, or why nothing was.
    symmetry : str
        Which nodes look the same.
    connected : bool
        Whether every node can reach every other.
    diameter : int or None
        The largest distance between two nodes, None if they are not connected.
    mean_distance : float or None
        The mean distance between two different terminals that can reach each other.
    exact : bool
        Whether distances were taken from every node; else from 64, so that the diameter is at least what is told.
    cut : NarrowCut or None
        The narrowest cut that was found.
    sound : Description or None
        The same of the network before something failed, if something did.
    """

    network: Network
    structure: str
    symmetry: str
    connected: bool
    diameter: int | None
    mean_distance: float | None
    exact: bool
    cut: NarrowCut | None
    sound: Description | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        net, cut = self.network, self.cut
        return {
            "network": net.spec,
            "nodes": net.node_count,
            "terminals": net.terminal_count,
            "links": net.link_count,
            "cables": len(cables(net)),
            "two_way": net.two_way,
            "parallel": net.parallel,
            "degrees": _counts(net.out_degree),
            "capacities": _counts(net.link_capacity),
            "speeds": _speeds(net),
            "shared_ports": port_attributes(net),
            "structure": self.structure,
            "symmetry": self.symmetry,
            "connected": self.connected,
            "diameter": self.diameter,
            "mean_distance": self.mean_distance,
            "distances_exact": self.exact,
            "cut": None
            if cut is None
            else {
                "nodes": [net.node_name(i) for i in cut.nodes.tolist()],
                "terminals": [cut.inside, cut.outside],
                "links": cut.links,
                "capacity": cut.capacity,
                "bandwidth": cut.bandwidth,
            },
            "sound": None if self.sound is None else self.sound.to_dict(),
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return what a person wants to read, as (label, text) rows."""
        net = self.network
        switches = net.node_count - net.terminal_count
        nodes = quantity(net.node_count, "node")
        if switches:
            nodes += f": {quantity(net.terminal_count, 'terminal')}, {switches:,} switch{'es' if switches > 1 else ''}"
        found = [
            ("network", net.spec),
            ("nodes", nodes),
            ("links", self._links()),
            ("degree", _counted(net.out_degree, "node")),
            *self._rates(),
            ("structure", self.structure),
            ("symmetry", self.symmetry),
            ("distances", self._distances()),
        ]
        if self.cut is not None:
            found.append(("bottleneck", self._cut(self.cut)))
        if self.sound is not None:
            own = dict(found)
            found += [(f"sound {label}", text) for label, text in self.sound.rows() if own.get(label) != text]
        return found

    def _links(self) -> str:
        net = self.network
        ways = "each with an opposite" if net.two_way else "not all with an opposite of their kind"
        parallel = ", some parallel" if net.parallel else ""
        return f"{quantity(net.link_count, 'link')} between {len(cables(net)):,} pairs of nodes, {ways}{parallel}"

    def _rates(self) -> list[tuple[str, str]]:
        net = self.network
        found = []
        if net.uniform_capacity != 1:
            found.append(("capacity", _counted(net.link_capacity, "link")))
        if net.uniform_occupancy != 1 or net.uniform_latency != 0:
            found.append(("occupancy", _counted(net.link_occupancy, "link") + " (slots)"))
            found.append(("latency", _counted(net.link_latency, "link") + " (slots)"))
        if net.shared_ports is not None:
            found.append(("shared ports", _ports(net.shared_ports)))
        rated = net.find(RatedLinks)
        if rated is not None and net.find(Speeds) is None:
            found.append(("published speed", f"{bandwidth_text(rated.bandwidth)} for each packet at once"))
        rows = _speeds(net)
        if rows:
            texts = [
                f"{bandwidth_text(r['bandwidth'])}"
                + (f" after {seconds_text(r['latency'])}" if r["latency"] else "")
                + f": {quantity(r['links'], 'link')}"
                for r in rows[:_SHOWN]
            ]
            more = len(rows) - _SHOWN
            found.append(("speeds", "; ".join(texts) + (f"; {more:,} more speeds" if more > 0 else "")))
        return found

    def _distances(self) -> str:
        if not self.connected:
            return "not connected: some nodes cannot reach others"
        mean = "" if self.mean_distance is None else f", {self.mean_distance:.4g} on the average between terminals"
        sure = "" if self.exact else f"at least, from {_SAMPLE} nodes, "
        return f"{sure}diameter {self.diameter}{mean}"

    def _cut(self, cut: NarrowCut) -> str:
        names = [self.network.node_name(i) for i in cut.nodes[:_SHOWN].tolist()]
        more = cut.nodes.size - _SHOWN
        side = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
        width = quantity(cut.links, "link")
        if cut.capacity != cut.links:
            width += f" of capacity {cut.capacity:,}"
        if cut.bandwidth is not None:
            width += f", {bandwidth_text(cut.bandwidth)} each way" if self.network.two_way else (
                f", {bandwidth_text(cut.bandwidth)}"
            )  # fmt: skip
        return (
            f"{width} between {cut.inside:,} and {cut.outside:,} terminals, the narrowest cut found; one side: {side}"
        )

    def __repr__(self) -> str:
        return f"<Description of {self.network!r}: {self.structure}>"


def describe(network: Network | Any) -> Description:
    """Return what a network is: sizes, distances, structure, symmetry, its bottleneck and its speeds.

    Parameters
    ----------
    network : Network, str, path or networkx graph
        As for `gossamer.plan`.

    Returns
    -------
    Description
        It tells itself in rows; ``to_dict()`` has plain values.

    Notes
    -----
    O(N L) time, on large networks for distances from 64 nodes only.

    Examples
    --------
    >>> import gossamer
    >>> told = gossamer.describe("torus:4x6")
    >>> told.diameter, told.cut.links, told.cut.inside
    (5, 8, 12)
    """
    net = as_network(network)
    connected, diameter, mean, exact = _reach(net)
    known = net.find(Failed)
    return Description(
        net,
        recognition(net).words,
        symmetry_words(net),
        connected,
        diameter,
        mean,
        exact,
        bottleneck(net),
        None if known is None else describe(known.sound),
    )


def _reach(network: Network) -> tuple[bool, int | None, float | None, bool]:
    """Return whether nodes reach each other, diameter, mean distance of terminals, and whether all were seen."""
    n, terminals = network.node_count, network.terminal_count
    exact = n * max(network.link_count, 1) <= _WORK
    same = network.group is not None and terminals == n
    sources = [0] if same else range(n) if exact else np.linspace(0, n - 1, _SAMPLE).astype(int).tolist()
    most, total, pairs, connected = 0, 0, 0, True
    for source in sources:
        distance = network.distances(source)
        connected &= int(distance.min()) >= 0
        most = max(most, int(distance.max()))
        if source < terminals:
            own = distance[:terminals]
            total += int(own[own > 0].sum())
            pairs += int((own > 0).sum())
    return connected, most if connected else None, total / pairs if pairs else None, exact or same


def _counts(values: Any) -> dict[str, int]:
    found, counts = np.unique(values, return_counts=True)
    return {str(v): int(c) for v, c in zip(found.tolist(), counts.tolist(), strict=True)}


def _counted(values: Any, noun: str) -> str:
    """Return values with how often they occur; one alone without."""
    counts = _counts(values)
    if len(counts) == 1:
        return next(iter(counts))
    told = [f"{value}: {quantity(count, noun)}" for value, count in list(counts.items())[:_SHOWN]]
    return "; ".join(told) + (f"; {len(counts) - _SHOWN:,} more" if len(counts) > _SHOWN else "")


def _ports(ports: SharedPorts) -> str:
    """Return what shared ports pass, and how many links go through them."""
    links = int(((ports.sending >= 0) | (ports.receiving >= 0)).sum())
    capacity, held = np.asarray(ports.capacity), np.asarray(ports.occupancy)
    told = (
        f"{quantity(ports.count, 'port')} of {quantity(links, 'link')}, packets at once: {_counted(capacity, 'port')}"
    )
    if int(held.max()) > 1:
        told += f", slots for each: {_counted(held, 'port')}"
    if ports.bandwidth is not None:
        rates, counts = np.unique(ports.bandwidth, return_counts=True)
        told += ", " + "; ".join(
            f"{bandwidth_text(rate)}: {quantity(int(count), 'port')}"
            for rate, count in list(zip(rates.tolist(), counts.tolist(), strict=True))[::-1][:_SHOWN]
        )
    return told


def _speeds(network: Network) -> list[dict[str, Any]]:
    """Return bandwidth, latency and number of links of each speed, the fastest first."""
    speeds = network.find(Speeds)
    if speeds is None:
        return []
    found, counts = np.unique(np.stack([speeds.bandwidth, speeds.latency], axis=1), axis=0, return_counts=True)
    rows = zip(found.tolist(), counts.tolist(), strict=True)
    return [{"bandwidth": b, "latency": d, "links": int(c)} for (b, d), c in rows][::-1]
