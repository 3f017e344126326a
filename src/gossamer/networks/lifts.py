"""Lifts of small graphs: each vertex a copy of a group, each edge one element of it (voltage graphs)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import Group
from gossamer.networks.group_specs import NamedGroup, group_named, split_outside
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates, IntArray, Structure

__all__ = ["LIFT", "Lifted", "lift"]

NAME = "lift"
_MOST_VERTICES = 20_000


@dataclass(frozen=True, eq=False)
class Lifted(Structure):
    """That nodes are copies of a group, which acts on all of them by multiplication from the left.

    Attributes
    ----------
    group : Group
        Node ``a*order + x`` is element x of copy a.
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

    Parameters
    ----------
    group : str
        Such as ``abelian(4,4)``; the kinds are those of `gossamer.networks.group_specs.GROUP_KINDS`.
    edges : sequence of (int, int, int)
        ``(a, b, g)``: node ``(a, x)`` is joined to ``(b, x*g)`` for every element x. Vertices are 0, 1, ... up to the
        largest; loops and parallel edges are allowed, as long as no node is joined to itself, or to another twice.

    Returns
    -------
    Network
        Spec ``lift:GROUP;a-b*g,a-b*g,...``, without ``*g`` where g is the identity, 0. Node ``(a, x)`` has number
        ``a*order + x``; its neighbors are in ascending order.

    Raises
    ------
    NetworkError
        If there is no such group, a number is out of range, nodes are joined to themselves or twice, or the network is
        not connected.

    Notes
    -----
    Left multiplication of all x by an element is an automorphism that moves every node: distances from one node of each
    vertex are all there are. A lift of one vertex is a Cayley network, one over ``abelian(1)`` any graph, by its edges.
    O(L log L) time.

    References
    ----------
    Gross 1974.

    Examples
    --------
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
