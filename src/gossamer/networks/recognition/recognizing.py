"""From a list of links to the torus, hypercube, array or other network that it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.circulants import complete
from gossamer.networks.grids import array, hypercube, linear_array, ring, torus
from gossamer.networks.hypercycles import generalized_hypercube
from gossamer.networks.network import Network
from gossamer.networks.product import product
from gossamer.networks.recognition.candidates import candidate_order
from gossamer.networks.recognition.factoring import prime_factors
from gossamer.networks.recognition.free_groups import cayley_order
from gossamer.networks.recognition.primes import Prime, prime
from gossamer.networks.recognition.trees import fat_tree_order
from gossamer.networks.renumbering import Renumbered
from gossamer.networks.structures import Grid, IntArray, Speeds, Structure, int_array

__all__ = ["Recognition", "recognition", "recognized"]

Ints = npt.NDArray[np.int64]


class Recognition(NamedTuple):
    """What was found.

    Attributes
    ----------
    original : Network or None
        The network that it is, with the times, the speeds and the names of this one.
    place : int32[N] or None
        The node of `original` that each node is.
    words : str
        A clause for people: what it is, or why that is not known.
    """

    original: Network | None
    place: IntArray | None
    words: str

    @property
    def in_order(self) -> bool:
        """Whether nodes have the same numbers in both."""
        return self.place is not None and _in_order(self.place)


def recognition(network: Network) -> Recognition:
    """Find out what a network is that came as a list of links.

    Parameters
    ----------
    network : Network
        Any network.

    Returns
    -------
    Recognition
        Found are arrays, tori, rings, hypercubes, complete networks, generalized hypercubes and other Cartesian
        products, under any numbering; fat trees, a single switch among them; and, where they are numbered as the
        family numbers them or are small, other Cayley families, Kautz and de Bruijn networks. All links must have
        capacity 1, but for fat trees.

    Notes
    -----
    What would take more than some seconds is not begun, and `words` says so.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> recognition(from_networkx(nx.grid_graph([4, 3], periodic=True))).words
    'torus:3x4'
    >>> recognition(from_networkx(nx.petersen_graph())).words
    'no product of smaller networks, and of no family that is looked for'
    """
    known = vars(network).get("_recognition")
    if not isinstance(known, Recognition):
        known = vars(network)["_recognition"] = _found(network)
    return known


def _found(network: Network) -> Recognition:
    if not network.links_only:
        return Recognition(None, None, f"{network.spec}, as it is named")
    given = network.find(Renumbered)
    if given is not None:
        return _named(given.original, given.place)
    if network.group is not None or network.grid is not None or network.factors or network.levels is not None:
        return Recognition(None, None, "its structure is given")
    if network.parallel:
        return Recognition(None, None, "not looked for: links are parallel")
    if network.terminal_count < network.node_count:
        found = fat_tree_order(network)
        if found is None:
            return Recognition(None, None, "it has switches, and is no complete tree of them")
        return _named(_dressed(network, *found), found[1])
    if network.uniform_capacity != 1:
        return Recognition(None, None, "not looked for: links have other capacities than 1")
    if not network.two_way and not _joined_both_ways(network):
        return _candidate(network, "links are one-way, and it is of no family that is looked for")
    if int(network.distances(0).min()) < 0:
        return Recognition(None, None, "not connected")
    return _factored(network)


def _joined_both_ways(network: Network) -> bool:
    """Whether every link has an opposite, whatever its speed."""
    return bool(network.link_count) and int(network.reverse_link.min()) >= 0


def _named(original: Network, place: IntArray) -> Recognition:
    return Recognition(original, place, f"{original.spec}{'' if _in_order(place) else ', with its nodes renumbered'}")


def _in_order(place: IntArray) -> bool:
    return bool((place == np.arange(place.size)).all())


# -- products --------------------------------------------------------------------------------------------------------


def _factored(network: Network) -> Recognition:
    found = prime_factors(network)
    if found is None:
        return _candidate(network, "not looked for: the network is large")
    root = found.places[0]
    primes = []
    for i, edges in enumerate(found.edges):
        rest = np.delete(found.places, i, axis=1) == np.delete(root, i)
        nodes = np.flatnonzero(rest.all(axis=1))
        layer = np.empty(nodes.size, np.int64)
        layer[found.places[nodes, i]] = nodes
        primes.append(prime(edges, layer))
    if len(primes) == 1 and primes[0].kind == "other":
        return _candidate(network, "no product of smaller networks, and of no family that is looked for")
    others = {i: _other(network, p, found.edges[i]) for i, p in enumerate(primes) if p.kind == "other"}
    for i, (_, order) in others.items():
        primes[i] = primes[i]._replace(order=order)
    choices = []
    for sides in _arrangements(primes):
        place = int_array(_numbers(sides, primes, found.places).astype(np.int32), "places")
        choices.append((_by_name(sides, {i: factor for i, (factor, _) in others.items()}), place))
    original, place = next((c for c in choices if _in_order(c[1])), choices[0])
    return _named(_dressed(network, original, place), place)


class _Side(NamedTuple):
    """A factor of the network as it will be named, and the prime factors that it is made of."""

    kind: str
    size: int
    parts: tuple[int, ...]


def _arrangements(primes: list[Prime]) -> list[list[_Side]]:
    """Return ways to put the factors in order, the most significant first, and to join two edges to a ring of 4."""
    order = sorted(range(len(primes)), key=lambda i: -primes[i].step)
    alone = [_Side(primes[i].kind, primes[i].size, (i,)) for i in order]
    edges = [side for side in alone if side.kind == "edge"]
    if len(edges) < 2 or any(side.kind not in ("edge", "ring") for side in alone):
        return [alone]
    rings = {edges[j]: _Side("ring", 4, edges[j].parts + edges[j + 1].parts) for j in range(0, len(edges) - 1, 2)}
    second = set(edges[1::2])
    paired = [rings.get(side, side) for side in alone if side not in second]
    return [paired, alone] if len(edges) < len(alone) else [alone, paired]


def _numbers(sides: list[_Side], primes: list[Prime], places: Ints) -> Ints:
    """Return the number of each node in the named network."""
    number = np.zeros(len(places), np.int64)
    for side in sides:
        digit = np.zeros(len(places), np.int64)
        for i in side.parts:
            position = np.empty(primes[i].size, np.int64)
            position[primes[i].order] = np.arange(primes[i].size)
            digit = digit * primes[i].size + position[places[:, i]]
        if len(side.parts) == 2:  # round a ring of four made of two edges: 00, 01, 11, 10
            digit = np.array([0, 1, 3, 2])[digit]
        number = number * side.size + digit
    return number


def _by_name(sides: list[_Side], others: dict[int, Network]) -> Network:
    """Return the network of these factors, by the name of a family if there is one."""
    kinds = {side.kind for side in sides}
    sizes = [side.size for side in sides]
    if kinds == {"edge"}:
        return hypercube(len(sizes)) if len(sizes) > 1 else linear_array(2)
    if kinds <= {"edge", "ring"}:
        return torus(*sizes)
    if kinds <= {"edge", "path"}:
        return array(*sizes)
    if kinds == {"complete"} and len(sizes) == 1:
        return complete(sizes[0])
    if kinds <= {"edge", "complete", "ring"} and all(side.size == 3 for side in sides if side.kind == "ring"):
        return generalized_hypercube(*sizes)
    named = {"edge": linear_array, "path": linear_array, "ring": ring, "complete": complete}
    return product(*(others[s.parts[0]] if s.kind == "other" else named[s.kind](s.size) for s in sides))


def _other(network: Network, factor: Prime, edges: Ints) -> tuple[Network, Ints]:
    """Return a factor that is no path, ring or complete network, and the order of its nodes."""
    position = np.empty(factor.size, np.int32)
    position[factor.order] = np.arange(factor.size)
    ends = position[np.concatenate([edges, edges[:, ::-1]])]
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    plain = Network(f"a factor of {network.spec}", factor.size, ends[:, 0], ends[:, 1], links_only=True)
    found = candidate_order(plain)
    if found is None:
        return plain, factor.order
    return found[0], factor.order[np.argsort(found[1])]


# -- others ----------------------------------------------------------------------------------------------------------


def _candidate(network: Network, otherwise: str) -> Recognition:
    """Return the family, of those that are no products, of which the network is a member."""
    found = candidate_order(network) or cayley_order(network)
    if found is None:
        return Recognition(None, None, otherwise)
    original, place = found
    return _named(_dressed(network, original, place), place)


def _dressed(network: Network, original: Network, place: IntArray) -> Network:
    """Return the original with the names, times and speeds of the network."""
    n = network.node_count
    back = np.empty(n, np.int64)
    back[place] = np.arange(n)
    key = network.link_source * np.int64(n) + network.link_target
    order = np.argsort(key)
    wanted = back[original.link_source] * n + back[original.link_target]
    link = order[np.searchsorted(key, wanted, sorter=order)]
    structures: list[Structure] = list(original.structures)
    speeds = network.find(Speeds)
    if speeds is not None:
        structures.append(Speeds(speeds.bandwidth[link], speeds.latency[link]))
    if network.shared_ports is not None and (ports := network.shared_ports.remaining(place, int_array(link, "links"))):
        structures.append(ports)
    plain = network.labels is None and network.coordinates is not None
    return Network(
        original.spec,
        n,
        original.link_source,
        original.link_target,
        original.link_capacity,
        link_occupancy=network.link_occupancy[link],
        link_latency=network.link_latency[link],
        terminal_count=original.terminal_count,
        structures=structures,
        labels=None if plain else [network.node_name(u) for u in back.tolist()],
        links_only=True,
    )


def recognized(network: Network) -> Network:
    """Return the network with what `recognition` finds, or itself if there is nothing.

    The nodes and links stay as they are. ``find(Renumbered)`` has the network that it is, and if the nodes are numbered
    as there, ``find(Grid)`` its grid as well.

    Examples
    --------
    >>> import networkx as nx
    >>> from gossamer.networks import from_networkx
    >>> recognized(from_networkx(nx.cycle_graph(5))).grid
    Grid(sides=(5,), wraps=(True,))
    """
    found = recognition(network)
    if found.original is None or found.place is None or network.find(Renumbered) is not None:
        return network
    known: list[Structure] = [*network.structures, Renumbered(found.original, found.place)]
    grid = found.original.find(Grid)
    if found.in_order and grid is not None:
        known.append(grid)
    copy = Network(
        network.spec,
        network.node_count,
        network.link_source,
        network.link_target,
        network.link_capacity,
        link_occupancy=network.link_occupancy,
        link_latency=network.link_latency,
        terminal_count=network.terminal_count,
        structures=known,
        labels=network.labels,
        links_only=True,
    )
    vars(copy)["_recognition"] = found
    return copy
