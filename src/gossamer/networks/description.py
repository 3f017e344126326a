"""What a network is: sizes, distances, structure, symmetry, bottleneck, speeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import Rows, attributes, bandwidth_text, quantity, seconds_text
from gossamer.networks.bottleneck import NarrowCut, bottleneck
from gossamer.networks.derived import cables
from gossamer.networks.hierarchy import Hierarchy, hierarchy, link_kinds
from gossamer.networks.network import Failed, Network
from gossamer.networks.networkx_conversion import port_attributes
from gossamer.networks.recognition import recognition
from gossamer.networks.recognition.free_groups import graph_of
from gossamer.networks.recognition.missing_links import AlmostTorus, almost_torus
from gossamer.networks.recognition.switch_shifts import SwitchShift, switch_groups, switch_shift
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.spec import as_network
from gossamer.networks.structures import Assumptions, RatedLinks, Speeds, SwitchAbilities

__all__ = ["Description", "automorphism_count", "describe", "node_kinds", "symmetry_words"]

# How symmetric a network is: nodes that look the same, from its structure, by colors, or by its automorphisms.

_MOST_NODES = 3_000
_MOST_LINKS = 2_000_000
_ROUNDS = 200


def node_kinds(network: Network) -> npt.NDArray[np.int64]:
    """Return a color for each node such that nodes of different colors cannot be exchanged by any symmetry: int64[N].

    Terminals and switches begin with two colors, and nodes are told apart by the colors of their neighbors and by the
    capacities, times and speeds of the links to them until nothing changes (color refinement). Nodes of one color
    need not be alike. O(rounds L log L) time.

    >>> from gossamer.networks import array, torus
    >>> node_kinds(array(5)).tolist(), len(set(node_kinds(torus(3, 4)).tolist()))
    ([0, 1, 2, 1, 0], 1)
    """
    n = network.node_count
    kind = link_kinds(network)
    kinds = int(kind.max(initial=0)) + 1
    color = (np.arange(n) >= network.terminal_count).astype(np.int64)
    count = len(np.unique(color))
    for _ in range(_ROUNDS):
        rng = np.random.default_rng(count)
        weights = rng.integers(1, 2**61, (2, n * kinds), dtype=np.int64)  # sums tell multisets apart, but for chance
        mark = [color]
        for way, (here, there) in enumerate(
            ((network.link_source, network.link_target), (network.link_target, network.link_source))
        ):
            total = np.zeros(n, np.int64)
            np.add.at(total, here, weights[way, color[there] * kinds + kind])
            mark.append(total)
        _, first, color = np.unique(np.stack(mark), axis=1, return_index=True, return_inverse=True)
        color = np.argsort(np.argsort(first))[color.ravel()]
        if len(first) == count:
            break
        count = len(first)
    return np.asarray(color, np.int64)


def automorphism_count(network: Network) -> int | None:
    """Return how many symmetries a network of two-way links that differ in nothing has.

    None if that is not known: the package ``igraph`` (the extra ``symmetry``) is not installed, the links differ or
    share ports, or there are over 3,000 nodes.
    """
    graph = graph_of(network, _MOST_NODES)
    color = [int(i >= network.terminal_count) for i in range(network.node_count)]
    return None if graph is None else int(graph.count_automorphisms(color=color))


def symmetry_words(network: Network) -> str:
    """Return what is known of the symmetry of a network, for people.

    >>> from gossamer.networks import array, torus
    >>> symmetry_words(torus(3, 4)).partition(";")[0]
    'all nodes look the same: translations by a group of 12'
    """
    found = recognition(network)
    known = found.original if found.original is not None else network
    whole = known.terminal_count == known.node_count and network.shared_ports is None
    if known.group is not None and whole:
        words = f"all nodes look the same: translations by a group of {known.group.order:,}"
    elif network.link_count > _MOST_LINKS:
        return "not looked for: the network is large"
    else:
        shape = hierarchy(network)
        kinds = len(np.unique(node_kinds(network)))
        words = f"at least {kinds:,} kinds of nodes" if kinds > 1 else "no node is told from another by its neighbors"
        if shape is not None and shape.translations:
            order = math.prod(order for _, order in shape.translations)
            words += f"; {order:,} shifts that move every rank and link" + " but those like the missing" * (
                len(shape.missing) > 0
            )
        torus = almost_torus(network) if shape is None else None
        if torus is not None:
            words = f"{torus.original.node_count:,} translations, but for what they take to the missing links"
        shift = switch_shift(network) if shape is None and torus is None else None
        if shift is not None:
            words += f"; {shift.order:,} shifts that move every rank and link"
    count = automorphism_count(network)
    return words if count is None else f"{words}; {count:,} automorphism{'' if count == 1 else 's'}"


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
            **attributes(net, "two_way parallel"),
            "degrees": _counts(net.out_degree),
            "capacities": _counts(net.link_capacity),
            "speeds": _speeds(net),
            **_told_of_machine(net),
            "shared_ports": port_attributes(net),
            **attributes(self, "structure symmetry connected diameter mean_distance"),
            "distances_exact": self.exact,
            "cut": None
            if cut is None
            else {
                "nodes": [net.node_name(i) for i in cut.nodes.tolist()],
                "terminals": [cut.inside, cut.outside],
                **attributes(cut, "links capacity bandwidth"),
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
            *self._machine_rows(),
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

    def _machine_rows(self) -> list[tuple[str, str]]:
        """Return what switches can do, and what was assumed."""
        abilities, assumed = self.network.find(SwitchAbilities), self.network.find(Assumptions)
        found = [] if abilities is None else [("switches", abilities.words)]
        return found + [("assumed", str(each)) for each in (() if assumed is None else assumed.every)]

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
    told = recognition(net)
    shape: Hierarchy | AlmostTorus | SwitchShift | None = None
    if told.original is None:
        shape = hierarchy(net) or almost_torus(net) or (switch_groups(net) if net.links_only else None)
    words = told.words if shape is None else shape.words
    if isinstance(shape, Hierarchy) and not net.links_only:
        words = f"{told.words}: {words}"
    return Description(
        net,
        words,
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


def _told_of_machine(network: Network) -> dict[str, Any]:
    """Return what switches can do and what was assumed, as plain values; nothing where nothing is known."""
    abilities, assumed = network.find(SwitchAbilities), network.find(Assumptions)
    found: dict[str, Any] = {}
    if abilities is not None:
        found["switches"] = {"copies": abilities.copies, "combines": abilities.combines}
    if assumed is not None:
        found["assumptions"] = [each._asdict() for each in assumed.every]
    return found


def _speeds(network: Network) -> list[dict[str, Any]]:
    """Return bandwidth, latency and number of links of each speed, the fastest first."""
    speeds = network.find(Speeds)
    if speeds is None:
        return []
    found, counts = np.unique(np.stack([speeds.bandwidth, speeds.latency], axis=1), axis=0, return_counts=True)
    rows = zip(found.tolist(), counts.tolist(), strict=True)
    return [{"bandwidth": b, "latency": d, "links": int(c)} for (b, d), c in rows][::-1]
