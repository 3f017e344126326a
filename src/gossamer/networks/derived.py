"""Networks made of others: with other node numbers, without some links, joined, transposed, and lifts.

A lift (derived graph of a voltage graph) has a copy of a group for each vertex of a small graph, and each edge of that
graph is one element of the group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gossamer.errors import FileFormatError, NetworkError, nearest, shown
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import Group
from gossamer.networks.grids import array, ring, torus
from gossamer.networks.group_specs import NamedGroup, group_named, split_outside
from gossamer.networks.network import Network
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.structures import Coordinates, IntArray, Speeds, Structure, int_array
from gossamer.reading import seed as read_seed
from gossamer.reading.node_lists import expanded

__all__ = [
    "KINDS",
    "LIFT",
    "TRANSPOSED",
    "Lifted",
    "Renumbered",
    "among",
    "cables",
    "half_duplex",
    "lift",
    "renumbered",
    "transposed",
    "without",
]

# The transposed network, as a spec: the schedules of dual tasks are made on it.

_One = TypeVar("_One")


def transposed(*network: Network) -> Network:
    """Return `Network.transposed`: the network with every link turned round.

    Parameters
    ----------
    network : Network
        One network. Where every link has an opposite, the network itself is returned.

    Returns
    -------
    Network
        Spec ``transposed:(SPEC)``.

    Raises
    ------
    NetworkError
        If there is not exactly one network.

    Examples
    --------
    >>> from gossamer.networks import de_bruijn
    >>> transposed(de_bruijn(2, 2)).link_target.tolist()
    [2, 0, 2, 1, 3, 1]
    """
    return _single(network).transposed


def _single(given: Sequence[_One]) -> _One:
    if len(given) != 1:
        raise NetworkError(f"transposed: one network is turned round, got {len(given)}; the form is transposed:(SPEC)")
    return given[0]


TRANSPOSED = Family(
    name="transposed",
    function=transposed,
    size=lambda *size: _single(size),
    form=spec_parameters.factors,
    parameters="(SPEC)",
    summary="a network with every link turned round; itself where every link has an opposite",
    example="transposed:(kautz:2,3)",
    source="reverse of a directed graph",
    small=("transposed:(de-bruijn:2,3)",),
)


# Half-duplex cables: the two links of a cable take turns.


def half_duplex(network: Network) -> Network:
    """Return the network with cables that carry packets one way at a time: a shared port for each pair of links.

    Parameters
    ----------
    network : Network
        Every link has an opposite of the same capacity and times, and none goes through a shared port.

    Returns
    -------
    Network
        The same links; both of a cable send and receive through the port of the cable, which passes as many packets
        at once as each of them, each as long. So a packet may start on one of them when the last one on the other has
        left its source: latencies are not waited for.

    Raises
    ------
    NetworkError
        If some link has no opposite, or links share ports already.

    Notes
    -----
    O(L) time.

    Examples
    --------
    >>> import gossamer
    >>> ring = half_duplex(gossamer.network("ring:4"))
    >>> gossamer.plan("ring:4", "alltoall").completion_time, gossamer.plan(ring, "alltoall").completion_time
    (Fraction(2, 1), Fraction(4, 1))
    """
    if network.shared_ports is not None:
        raise NetworkError(f"links of {network.spec} share ports, so its cables are not made half-duplex")
    if not network.two_way:
        raise NetworkError(f"half-duplex cables need links both ways, and {network.spec} has some of one way")
    back = network.reverse_link
    first = np.flatnonzero(np.arange(network.link_count) < back)
    cable = np.empty(network.link_count, np.int32)
    cable[first] = cable[back[first]] = np.arange(first.size, dtype=np.int32)
    speeds = network.find(Speeds)
    return network.with_ports(
        SharedPorts(
            cable,
            cable,
            network.link_capacity[first],
            network.link_occupancy[first],
            None if speeds is None else speeds.bandwidth[first],
        )
    )


# The network among some nodes of another: their links with each other, and what structure is left.


def among(network: Network, nodes: Sequence[int]) -> Network:
    """Return the network of some nodes and the links between them; node i of it is ``nodes[i]``, a terminal.

    `network` (Network): any network. `nodes` (sequence of int): terminals, each once. Returns: with the capacities and
    times of the links. Where the nodes are all that differ in some coordinates of an array or torus, in ascending
    order, it is the array or torus of these dimensions, and known as such. Raises `NetworkError` if a node is no
    terminal or listed twice.

    O(nodes + links).

    >>> among(torus(4, 5), [5, 6, 7, 8, 9])
    <Network ring:5: 5 nodes, 10 links>
    >>> among(torus(4, 5), [0, 1, 5])
    <Network 3 nodes of torus:4x5: 3 nodes, 4 links>
    """
    chosen = np.asarray(nodes, np.int64)
    if not chosen.size or int(chosen.min()) < 0 or int(chosen.max()) >= network.terminal_count:
        raise NetworkError(f"nodes must be terminals 0..{network.terminal_count - 1} of {network.spec}")
    place = np.full(network.node_count, -1, np.int64)
    place[chosen] = np.arange(chosen.size)
    if np.unique(chosen).size < chosen.size:
        raise NetworkError("a node is listed twice")
    links = np.flatnonzero((place[network.link_source] >= 0) & (place[network.link_target] >= 0))
    links = links[np.argsort(place[network.link_source[links]], kind="stable")]
    source, target = place[network.link_source[links]], place[network.link_target[links]]
    known = _sub_grid(network, chosen)
    if known is not None:
        key = source * chosen.size + target
        order = np.argsort(key, kind="stable")
        wanted = known.link_source.astype(np.int64) * chosen.size + known.link_target
        if known.link_count == links.size and np.array_equal(key[order][np.argsort(np.argsort(wanted))], wanted):
            links = links[order][np.argsort(np.argsort(wanted))]
            same = network.uniform_capacity is not None
            if not same or network.uniform_capacity != 1:
                known = None
    spec = f"{chosen.size} nodes of {network.spec}" if known is None else known.spec
    if known is not None and network.plain and network.find(Speeds) is None:
        return known
    return Network(
        spec,
        chosen.size,
        place[network.link_source[links]].astype(np.int32),
        place[network.link_target[links]].astype(np.int32),
        network.link_capacity[links],
        link_occupancy=network.link_occupancy[links],
        link_latency=network.link_latency[links],
        structures=() if known is None else known.structures,
        links_only=True,
    )


def _sub_grid(network: Network, nodes: npt.NDArray[np.int64]) -> Network | None:
    """Return the array or torus that nodes are which fill some dimensions of one, in their order; None if not."""
    grid, places = network.grid, network.coordinates
    if grid is None or places is None or nodes.size < 2:
        return None
    mine = places[nodes]
    varying = [d for d in range(grid.dimensions) if np.unique(mine[:, d]).size > 1]
    sides = tuple(grid.sides[d] for d in varying)
    if int(np.prod(sides)) != nodes.size:
        return None
    strides = np.cumprod((1, *sides[:0:-1]))[::-1]
    if not np.array_equal(mine[:, varying] @ strides, np.arange(nodes.size)):
        return None
    wraps = {grid.wraps[d] for d in varying if grid.sides[d] > 2}
    if len(wraps) > 1:
        return None
    if len(sides) == 1 and wraps == {True}:
        return ring(sides[0])
    return torus(*sides) if wraps == {True} else array(*sides)


# Failures in words, as people type them: ``links:0-1,5-6``, ``nodes:17``, ``random-links:2%``.

KINDS = ("links", "nodes", "terminals", "random-links", "random-nodes", "random-terminals")
"""What may stand before the colon."""


def without(network: Network, words: Iterable[str], seed: int = 0) -> Network:
    """Return what is left of a network when what is named fails.

    * `network` (Network): the sound network.
    * `words` (iterable of str): ``links:0-1,5-6``: cables between two nodes, both ways; ``links:0->1``: one way;
      ``links:0-1*1``: one of the cables between two nodes. ``nodes:17``: nodes that go, ``terminals:17``: nodes that
      stay as switches. ``random-links:2%``, ``random-nodes:3``, ``random-terminals:1``: so many at random, or a share
      of all, rounded to the nearest number. Nodes are numbers, names or coordinates in parentheses. Ranges of nodes are
      ``nodes:4-7`` or, in names and links, in brackets: ``nodes:gpu[4-7]``, ``links:gpu[0-1,5]-leaf0``.
    * `seed` (int): for the random ones.

    Returns: as `Network.without` makes it; the network itself if there are no words. Raises `NetworkError` if a text is
    of no such form, or there is no such link or node, or no terminal is left.

    >>> from gossamer.networks import torus
    >>> without(torus(4, 4), ["links:(0,0)-(0,1)", "random-nodes:1"])
    <Network torus:4x4 without link (0,0)-(0,1) and node (3,1): 15 nodes, 54 links>
    """
    links: list[int | tuple[int, int] | tuple[int, int, int]] = []
    nodes: list[int] = []
    terminals: list[int] = []
    rng = np.random.default_rng(read_seed(seed))
    given = list(words)
    for text in given:
        kind, colon, rest = text.strip().partition(":")
        if not colon and "-" in kind and kind not in KINDS:  # two ends and nothing else: a link
            kind, colon, rest = "links", ":", kind
        kind = f"{kind}s" if f"{kind}s" in KINDS else kind
        if kind not in KINDS or not colon or not rest.strip():
            told = f"{shown(text)}{nearest(kind, KINDS)}"
            raise NetworkError(f"what fails must be such as links:0-1, nodes:17 or random-links:2%, got {told}")
        if kind == "links":
            links += [link for word in _split(rest) for link in _links(network, word)]
        elif kind == "random-links":
            ends = cables(network)
            links += [(int(u), int(v)) for u, v in ends[_drawn(rng, rest, len(ends), text)]]
        else:
            chosen = terminals if kind.endswith("terminals") else nodes
            if kind.startswith("random"):
                among = network.terminal_count if chosen is terminals else network.node_count
                chosen += _drawn(rng, rest, among, text).tolist()
            else:
                chosen += [node for word in _split(rest) for node in _nodes(network, word)]
    return network.without(links, nodes, terminals) if given else network


def cables(network: Network) -> npt.NDArray[np.int64]:
    """Return the two nodes of each pair that links join, whatever their number and ways: int64[cables, 2], in order.

    >>> from gossamer.networks import ring
    >>> cables(ring(3)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    low = np.minimum(network.link_source, network.link_target).astype(np.int64)
    high = np.maximum(network.link_source, network.link_target)
    pairs = np.unique(low * network.node_count + high)
    return np.stack([pairs // network.node_count, pairs % network.node_count], axis=1)


def _split(text: str) -> list[str]:
    """Return the words between commas that are in no parentheses; those with brackets as all that they stand for.

    >>> _split("a, (0,1), gpu[0-1,3]-leaf[0-1]")
    ['a', '(0,1)', 'gpu0-leaf0', 'gpu0-leaf1', 'gpu1-leaf0', 'gpu1-leaf1', 'gpu3-leaf0', 'gpu3-leaf1']
    """
    words = [word.strip() for word in re.split(r",(?![^()]*\)|[^\[\]]*\])", text)]
    return [name for word in words for name in (_expanded(word) if "[" in word else [word])]


def _expanded(word: str) -> list[str]:
    try:
        return expanded(word, "what fails")
    except FileFormatError as error:
        raise NetworkError(str(error)) from None


def _nodes(network: Network, word: str) -> list[int]:
    """Return a node, or those of a range such as ``4-7`` or ``gpu4-gpu7``, where no node is called so."""
    found = re.fullmatch(r"(.*?)([0-9]{1,9})\s*-\s*(?:\1)?([0-9]{1,9})", word)
    if found is None or (network.labels is not None and word in network.labels):
        return [network.node(word)]
    return [network.node(name) for name in _expanded(f"{found[1]}[{found[2]}-{found[3]}]")]


def _links(network: Network, word: str) -> list[int | tuple[int, int] | tuple[int, int, int]]:
    """Return the links ``u->v``, the cable ``u-v`` or ``u-v*n``; a hyphen may also be part of a name."""
    known = None if network.labels is None else set(network.labels)
    some = re.fullmatch(r"(.+?)\s*\*\s*([0-9]{1,9})", word)
    if some is not None:
        if "->" in word:
            raise NetworkError(f"some of several cables fail both ways, such as 0-1*1, got {shown(word)}")
        return [(*_cable(network, some[1], known), int(some[2]))]
    u, arrow, v = word.partition("->")
    if arrow:
        source, target = network.node(u.strip()), network.node(v.strip())
        network.link_between(source, target)  # refuses what is not there
        return [i for i in network.out_links(source) if network.link_target[i] == target]
    return [_cable(network, word, known)]


def _cable(network: Network, word: str, known: set[str] | None) -> tuple[int, int]:
    """Return the two nodes of ``u-v``, which are joined."""
    for place in (m.start() for m in re.finditer("-", word)):
        u, v = word[:place].strip(), word[place + 1 :].strip()
        if known is None or (_is_node(u, known) and _is_node(v, known)):
            ends = network.node(u), network.node(v)
            sides = (network.link_source, network.link_target)
            joined = [np.unique(there[here == ends[0]]) for here, there in (sides, sides[::-1])]
            near = np.unique(np.concatenate(joined))
            if ends[1] not in near:
                names = [str(x) if u.isdecimal() else network.node_name(int(x)) for x in near.tolist()]
                told = f"{', '.join(names[:6])}{', ...' if len(names) > 6 else ''}"
                hint = f"; node {u} has links to {told} (did you mean '{u}-{names[0]}'?)" if names else ""
                raise NetworkError(f"network {network.spec!r} has no link {shown(word)}{hint}")
            return ends
    raise NetworkError(f"a link that fails must be two nodes such as 0-1, or 0->1 for one way, got {shown(word)}")


def _is_node(text: str, labels: set[str]) -> bool:
    return text in labels or text.isdecimal()


def _drawn(rng: np.random.Generator, text: str, count: int, whole: str) -> npt.NDArray[np.int64]:
    """Return so many of a number of things, at random and in order: a number, or a share in percent."""
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(%?)\s*", text)
    amount = Fraction(match[1]) if match else Fraction(-1)
    if match and match[2]:
        amount = Fraction(int(amount * count / 100 + Fraction(1, 2))) if amount <= 100 else Fraction(-1)
    if amount.denominator != 1 or not 0 <= amount <= count:
        raise NetworkError(
            f"what fails at random must be a number up to {count} or a share such as 2%, got {shown(whole)}"
        )
    return np.sort(rng.choice(count, int(amount), replace=False))


@dataclass(frozen=True, eq=False)
class Renumbered(Structure):
    """The network is another one with its nodes renumbered, so that a schedule of that one is one of this.

    Attributes
    ----------
    original : Network
        The other network, of which more is known.
    place : int32[N]
        The node of `original` that each node is.
    """

    original: Network
    place: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", int_array(self.place, "places"))

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse another number of nodes or links."""
        if self.original.node_count == self.place.size == nodes and self.original.link_count == links:
            return None
        return f"it is said to be {self.original.spec!r} renumbered, which has {self.original.node_count} nodes"

    def transposed(self, order: IntArray) -> Structure:
        """Keep it: the other network is turned round as well."""
        return Renumbered(self.original.transposed, self.place)


def renumbered(network: Network, order: npt.ArrayLike, spec: str, *, terminal_count: int | None = None) -> Network:
    """Return the network whose node i is node ``order[i]`` of another.

    Parameters
    ----------
    network : Network
        Any network.
    order : array_like of int, shape (N,)
        Each node once; without `terminal_count`, the terminals first.
    spec : str
        Its name, which does not parse back.
    terminal_count : int, optional
        How many nodes are terminals. Default: as many as before.

    Returns
    -------
    Network
        Links, capacities, times, speeds, names and coordinates stay with their nodes; the links of a node keep their
        order. If the terminals stay the terminals, `find(Renumbered)` has the original.

    Raises
    ------
    NetworkError
        If `order` does not have each node once, or a terminal becomes a switch without `terminal_count`.

    Notes
    -----
    O(L log L) time.

    Examples
    --------
    >>> from gossamer.networks import ring
    >>> turned = renumbered(ring(4), [0, 2, 1, 3], "my ring")
    >>> turned.link_target.tolist(), turned.find(Renumbered).original.spec
    ([2, 3, 3, 2, 1, 0, 0, 1], 'ring:4')
    """
    given = int_array(order, "order")
    n = network.node_count
    if given.shape != (n,) or not np.array_equal(np.sort(given), np.arange(n)):
        raise NetworkError(f"the order must have each of the {n} nodes of {network.spec} once")
    count = network.terminal_count if terminal_count is None else terminal_count
    same = count == network.terminal_count and int(given[:count].max()) < count
    if not same and terminal_count is None:
        raise NetworkError(f"the order must have the {count} terminals of {network.spec} first")
    new = np.empty(n, np.int32)
    new[given] = np.arange(n, dtype=np.int32)
    source = new[network.link_source]
    links = np.argsort(source, kind="stable")
    return Network(
        spec,
        n,
        source[links],
        new[network.link_target][links],
        network.link_capacity[links],
        link_occupancy=network.link_occupancy[links],
        link_latency=network.link_latency[links],
        terminal_count=count,
        structures=[*_carried(network, given, links), *([Renumbered(network, given)] if same else [])],
        labels=None if network.labels is None else [network.labels[i] for i in given.tolist()],
        links_only=True,
    )


def _carried(network: Network, order: IntArray, links: npt.NDArray[np.int64]) -> list[Structure]:
    found: list[Structure] = []
    if network.coordinates is not None and network.labels is None:
        found.append(Coordinates(network.coordinates[order]))
    speeds = network.find(Speeds)
    if speeds is not None:
        found.append(Speeds(speeds.bandwidth[links], speeds.latency[links]))
    if network.shared_ports is not None and (ports := network.shared_ports.remaining(order, int_array(links, "links"))):
        found.append(ports)
    return found


NAME = "lift"
_MOST_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class Lifted(Structure):
    """That nodes are copies of a group, which acts on all of them by multiplication from the left.

    `group` (Group): node ``a*order + x`` is element x of copy a.
    """

    group: Group

    def fault(self, nodes: int, links: int) -> str | None:
        """Return why it cannot be that of a network with so many nodes, or None."""
        return None if nodes % self.group.order == 0 else "the nodes are no copies of the group"

    def moved(self, nodes: int) -> IntArray:
        """Return int32[order, nodes]: the node to which each element takes each node, the identity first."""
        copy, x = np.divmod(np.arange(nodes), self.group.order)
        by = np.arange(self.group.order)[:, None]
        return (copy * self.group.order + self.group.compose(by, x[None, :])).astype(np.int32)


def lift(group: str, edges: Sequence[tuple[int, int, int]]) -> Network:
    """Return the lift of a small graph by elements of a group, one on each edge.

    `group` (str): such as ``abelian(4,4)``; the kinds are those of `gossamer.networks.group_specs.GROUP_KINDS`. `edges`
    (sequence of (int, int, int)): ``(a, b, g)``: node ``(a, x)`` is joined to ``(b, x*g)`` for every element x.
    Vertices are 0, 1, ... up to the largest; loops and parallel edges are allowed, as long as no node is joined to
    itself, or to another twice. Returns: spec ``lift:GROUP;a-b*g,a-b*g,...``, without ``*g`` where g is the identity,
    0. Node ``(a, x)`` has number ``a*order + x``; its neighbors are in ascending order. Raises `NetworkError` if there
    is no such group, a number is out of range, nodes are joined to themselves or twice, or the network is not
    connected.

    Left multiplication of all x by an element is an automorphism that moves every node: distances from one node of each
    vertex are all there are. A lift of one vertex is a Cayley network, one over ``abelian(1)`` any graph, by its edges.
    O(L log L) time.

    Source: Gross 1974.

    >>> lift("abelian(5)", [(0, 1, 0), (0, 0, 1), (1, 1, 2)])  # Petersen's graph
    <Network lift:abelian(5);0-1,0-0*1,1-1*2: 10 nodes, 30 links>
    """
    named, known, vertices = _checked(group, edges)
    order = named.group.order
    x = np.arange(order, dtype=np.int64)
    links = np.concatenate(
        [np.stack([a * order + x, b * order + named.group.compose(x, g)], axis=1) for a, b, g in known]
    )
    both = np.concatenate([links, links[:, ::-1]])
    # an edge from a vertex to itself by an element that is its own inverse joins each pair from both ends
    twice = [a == b and int(named.group.compose(g, g)) == 0 for a, b, g in known]
    ends = np.unique(both, axis=0)
    if np.any(ends[:, 0] == ends[:, 1]):
        raise NetworkError(f"{NAME}: an edge from a vertex to itself needs an element other than the identity, 0")
    if len(ends) < len(both) - sum(twice) * order:
        raise NetworkError(f"{NAME}: two edges join the same nodes")
    text = ",".join(f"{a}-{b}*{g}" if g else f"{a}-{b}" for a, b, g in known)
    at = np.arange(vertices * order)
    network = Network(
        f"{NAME}:{named.text};{text}",
        vertices * order,
        ends[:, 0].astype(np.int32),
        ends[:, 1].astype(np.int32),
        structures=[Coordinates(np.stack([at // order, at % order], axis=1).astype(np.int32)), Lifted(named.group)],
    )
    if (count := int((network.distances(0) >= 0).sum())) < network.node_count:
        raise NetworkError(f"{NAME}: the edges reach only {count} of {network.node_count} nodes from node 0")
    return network


def _checked(group: str, edges: Sequence[tuple[int, int, int]]) -> tuple[NamedGroup, list[tuple[int, int, int]], int]:
    named = group_named(group)
    known: list[tuple[int, int, int]] = []
    for a, b, g in edges:
        ends = [whole_number(v, NAME, "a vertex", 0, _MOST_VERTICES - 1) for v in (a, b)]
        known.append((ends[0], ends[1], whole_number(g, NAME, "an element", 0, named.group.order - 1)))
    if not known:
        raise NetworkError(f"{NAME}: at least one edge is needed")
    return named, known, 1 + max(max(a, b) for a, b, _ in known)


def _size(group: str, edges: Sequence[tuple[int, int, int]]) -> Size:
    named, known, vertices = _checked(group, edges)
    order = named.group.order
    once = sum(a == b and int(named.group.compose(g, g)) == 0 for a, b, g in known)
    return checked_size(NAME, vertices * order, (2 * len(known) - once) * order)


def _form(family: Family, text: str) -> list[object]:
    parts = [p.strip() for p in split_outside(text.lower(), ";")]
    if len(parts) != 2:
        raise NetworkError(f"{family.name}: expected {family.parameters}, got {shown(text)}")
    edges = []
    for edge in parts[1].split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})\s*-\s*([0-9]{1,6})\s*(?:\*\s*([0-9]{1,9})\s*)?", edge)
        if not match:
            raise NetworkError(f"{family.name}: edges are such as 0-1*5, got {shown(edge)}")
        edges.append((int(match[1]), int(match[2]), int(match[3] or 0)))
    return [parts[0], edges]


LIFT = Family(
    name=NAME,
    function=lift,
    size=_size,
    form=_form,
    parameters="GROUP;a-b*g,a-b*g,...",
    summary="a copy of a group for each vertex of a small graph; an edge a-b*g joins (a, x) to (b, x*g)",
    example="lift:abelian(5);0-1,0-0*1,1-1*2",
    source="Gross 1974",
    small=("lift:abelian(5);0-1,0-0*1,1-1*2", "lift:semidirect(3,2,2);0-1,0-1*1,0-0*3,1-1*2"),
)
