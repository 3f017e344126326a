"""What binds a schedule: the nodes and links of the witness of its bound, why no schedule gets around them.

A witness says what must pass where. Here its nodes and links are those of the schedule's network, so that they can be
named and drawn; kinds of links are told by what they carry.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds import Bound
from gossamer.bounds.proofs import (
    CallPrices,
    Chain,
    Cut,
    LateCopies,
    OfTask,
    Partition,
    PartsOverTime,
    PortPrices,
    Prices,
    Proof,
    QuickestFlow,
    Separator,
    TimeCut,
)
from gossamer.networks.derived import Renumbered
from gossamer.networks.network import Network
from gossamer.planning.explaining.critical_path import link_rate

__all__ = ["Binding", "binding"]

Longs = npt.NDArray[np.int64]

_NAMED = 6
"""Nodes or links that are named one by one at the most."""
_MOST_ROUTED = 5_000
"""Nodes of a network in which a path of the witness is looked for."""


def named(network: Network, nodes: npt.NDArray[np.integer]) -> str:
    """Return the names of some nodes, the middle of many left out.

    >>> import gossamer
    >>> named(gossamer.network("ring:9"), np.arange(9)), named(gossamer.network("ring:9"), np.arange(2))
    ('(0), (1), (2), ..., (8)', '(0), (1)')
    """
    names = [network.node_name(int(v)) for v in (nodes if nodes.size <= _NAMED else [*nodes[:3], nodes[-1]])]
    return ", ".join(names if nodes.size <= _NAMED else [*names[:3], "...", names[-1]])


def _longs() -> Longs:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Binding:
    """What binds: the nodes and links by which the largest lower bound is proved.

    Attributes
    ----------
    words : str
        What must pass where, and how long that takes at least.
    nodes : int64[]
        The nodes on one side of the cut, of a path, or those that are priced; empty where the proof names none.
    links : int64[]
        The links that bind: those across the cut, between the parts, of the path, or with a price; empty where the
        proof names none.
    drawn : tuple of str
        Lines that show nodes and links, with why nothing gets around them.
    all_links : bool
        Whether every link of the network binds.
    kind : str
        What proves the bound: ``cut``, ``parts``, ``prices``, ``ports``, ``path``, ``links`` (all of them) or an empty
        text where no nodes and links do.
    reason : str
        In a clause, why nothing gets around the nodes and links; an empty text where there are none.
    share : float64[]
        What each of `links` counts under the prices, the least 1; empty where there are no prices.
    """

    words: str
    nodes: Longs
    links: Longs
    drawn: tuple[str, ...]
    all_links: bool = False
    kind: str = ""
    reason: str = ""
    share: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


class _Witness(NamedTuple):
    """Nodes and links of a proof, their kind as of `Binding`, and what each link counts."""

    kind: str = ""
    nodes: Longs = _longs()
    links: Longs = _longs()
    price: npt.NDArray[Any] = _longs()


_REASONS = {
    "cut": "a cut: whatever goes from one side to the other crosses these links",
    "parts": "parts of the network: whatever goes from part to part crosses these links",
    "prices": "links weighted by prices: whichever paths messages take, they pay at least so much for these links",
    "ports": "nodes whose ports are the bottleneck: each sends, or receives, one packet at a time",
    "path": "the fastest path between the two furthest nodes of what is sent: nothing arrives sooner",
    "links": "all links together: even if every message takes a shortest path, so many transfers need so much time",
}


def binding(network: Network, bounds: Sequence[Bound], cost: object = None) -> Binding:
    """Return what binds, out of the proof of a bound.

    * `network` (Network): of the schedule.
    * `bounds` (sequence of Bound): the largest first. Where its proof names no nodes and links, those of another that
      is as large are taken.
    * `cost` (Clock): of the schedule, where the values of the bounds are in seconds: witnesses count slots that say
      nothing to people.

    >>> import gossamer
    >>> found = binding(gossamer.network("array:6"), gossamer.lower_bounds("array:6", "alltoall"))
    >>> found.kind, found.nodes.tolist(), found.links.tolist()
    ('cut', [0, 1, 2], [3])
    """
    bound = bounds[0]
    found, shown = _witness(network, bound), bound
    for other in bounds[1:]:
        if not found.kind and other.value == bound.value and other.scope == bound.scope:
            found, shown = _witness(network, other), other
    beside = [f"as large: {shown.witness}"] if found.kind and shown is not bound else []
    reason = _REASONS.get(found.kind, "")
    share = found.price / found.price.min() if found.price.size else np.zeros(0)
    return Binding(
        bound.witness,
        found.nodes,
        found.links,
        (*beside, *([reason] if reason else []), *_drawn(network, shown, found, cost)),
        0 < found.links.size == network.link_count,
        found.kind,
        reason,
        share.astype(np.float64),
    )


def _witness(network: Network, bound: Bound) -> _Witness:
    """Return the nodes and the links of a proof, in the numbers of a network that may have been recognized."""
    known = network.find(Renumbered)
    own = np.arange(network.node_count) if known is None else known.place.astype(np.int64)
    source, target = network.link_source, network.link_target
    proof: Any = _inner(bound.proof)

    def side(nodes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        inside = np.zeros(network.node_count, np.bool_)
        inside[nodes] = True
        return inside[own]

    def cut(nodes: npt.NDArray[Any], enter: bool) -> _Witness:
        inside = side(nodes)
        crossing = inside[target] & ~inside[source] if enter else inside[source] & ~inside[target]
        return _Witness("cut", np.flatnonzero(inside), np.flatnonzero(crossing))

    match proof:
        case Cut() | LateCopies() if proof.nodes is not None and proof.nodes.size:
            return cut(proof.nodes, proof.enter)
        case Cut(side=nodes) if nodes is not None and nodes.size:
            return cut(nodes, False)
        case TimeCut() if proof.since.size == network.node_count:
            return cut(np.flatnonzero(proof.since <= proof.since.min()), False)
        case Partition() if proof.part.size == network.node_count:
            part = proof.part[own]
            entering = (part[target] >= 0) & (part[source] != part[target])
            leaving = (part[source] >= 0) & (part[source] != part[target])
            fits = [some for some in (entering, leaving) if int(some.sum()) == proof.capacity.size]
            return _Witness("parts", np.flatnonzero(part >= 0), np.flatnonzero(fits[0] if fits else entering))
        case PortPrices() if proof.price.size == network.node_count:
            return _Witness("ports", np.flatnonzero(proof.price[own] > 0))
        case Separator():
            return _Witness("ports", np.flatnonzero(side(proof.nodes)))
        case Prices() | CallPrices() | QuickestFlow() | PartsOverTime():
            price = {Prices: "price", QuickestFlow: "toll"}.get(type(proof), "length")
            toll = _own_links(network, known, getattr(proof, price))
            ends = side(np.array([proof.source, proof.target])) if isinstance(proof, QuickestFlow) else np.zeros(0)
            if toll is not None and toll.any():
                links = np.flatnonzero(toll)
                return _Witness("prices", np.flatnonzero(ends), links, toll[links])
    if bound.name == "total hops":
        return _Witness("links", links=np.arange(network.link_count))
    return _path(network, bound.witness)


def _inner(proof: Proof | None) -> Any:
    """Return the proof that names nodes or links: of what another task needs too, or of times that follow others."""
    if isinstance(proof, OfTask):
        return _inner(proof.proof)
    if isinstance(proof, Chain):
        parts = [_inner(getattr(part, "proof", None) or part) for part in proof.parts if not isinstance(part, Fraction)]
        return next((part for part in parts if isinstance(part, Cut | Partition | Prices | CallPrices)), None)
    return proof


def _own_links(network: Network, known: Renumbered | None, values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return values of links in the numbers of a network that was recognized as another; None if they do not fit."""
    if values.size != network.link_count:
        return None
    if known is None:
        return values
    n, place, inner = network.node_count, known.place.astype(np.int64), known.original
    if inner.link_count != network.link_count:
        return None
    here = place[network.link_source] * n + place[network.link_target]
    there = inner.link_source.astype(np.int64) * n + inner.link_target
    mine, theirs = np.argsort(here, kind="stable"), np.argsort(there, kind="stable")
    if not np.array_equal(here[mine], there[theirs]):
        return None
    found = np.empty_like(values)
    found[mine] = values[theirs]
    return found


def _path(network: Network, witness: str) -> _Witness:
    """Return the fastest path between the two nodes that a witness of a distance names; nothing of other witnesses."""
    found = re.search(r"node (\S+?) must reach node (\S+?),", witness)
    if found is None or network.node_count > _MOST_ROUTED:
        return _Witness()
    ends = [v for name in found.groups() for v in range(network.node_count) if network.node_name(v) == name]
    if len(ends) != 2:
        return _Witness()
    took = network.link_occupancy.astype(np.int64) + network.link_latency
    far, by, left = {ends[0]: 0}, {ends[0]: -1}, [(0, ends[0])]
    while left:
        time, node = heapq.heappop(left)
        if node == ends[1]:
            break
        for link in network.out_links(node):
            there = int(network.link_target[link])
            if time + int(took[link]) < far.get(there, 1 << 62):
                far[there], by[there] = time + int(took[link]), int(link)
                heapq.heappush(left, (far[there], there))
    links: list[int] = []
    node = ends[1]
    while by.get(node, -1) >= 0:
        links.append(by[node])
        node = int(network.link_source[by[node]])
    links.reverse()
    nodes = [int(network.link_source[e]) for e in links] + ends[1:]
    return _Witness("path", np.array(nodes, np.int64), np.array(links, np.int64)) if links else _Witness()


def _drawn(network: Network, bound: Bound, found: _Witness, cost: object) -> Iterator[str]:
    """Yield lines that show the nodes and links that bind, alike links together."""
    nodes, links = found.nodes, found.links
    if found.kind == "cut":
        others = np.setdiff1d(np.arange(network.node_count), nodes)
        inward = getattr(_inner(bound.proof), "enter", False)
        near, far = (others, nodes) if inward else (nodes, others)
        yield f"[ {named(network, near)} ]  ==>  [ {named(network, far)} ]"
    elif found.kind == "path":
        yield " -> ".join(network.node_name(int(v)) for v in (nodes if nodes.size <= 2 * _NAMED else nodes[:_NAMED]))
        return
    elif found.kind == "ports":
        yield f"{quantity(nodes.size, 'node')}: {named(network, nodes)}"
    groups: dict[tuple[str, str], list[int]] = {}
    share = found.price / found.price.min() if found.price.size else None
    for k, link in enumerate(links.tolist()):
        counts = "" if share is None else f", each counts {share[k]:.3g}"
        groups.setdefault((link_rate(network, link, cost), counts), []).append(link)
    for (rate, counts), some in list(groups.items())[:4]:
        shown = [f"{network.node_name(int(network.link_source[e]))} => {network.node_name(int(network.link_target[e]))}"
                 for e in (some if len(some) <= 4 else [*some[:2], some[-1]])]  # fmt: skip
        if len(some) > 4:
            shown.insert(2, "...")
        yield f"{quantity(len(some), 'link')} of {rate}{counts}: {', '.join(shown)}"
    if share is not None and links.size < network.link_count:
        yield f"{quantity(network.link_count - links.size, 'other link')}: each counts 0"
