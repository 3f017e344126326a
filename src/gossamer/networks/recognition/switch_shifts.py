"""Shifts of dragonflies: symmetries of the switches, each with the terminals below it, found under any numbering."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.cable_orbits import pattern_of
from gossamer.networks.hierarchy import link_kinds
from gossamer.networks.network import Network

__all__ = ["SwitchShift", "switch_shift"]

Numbers = npt.NDArray[np.int64]

_MOST_SWITCHES, _TRIES = 20_000, 400
"""Switches that are looked at, and images of one of them that are tried."""


class SwitchShift(NamedTuple):
    """A symmetry that moves each group of a dragonfly to another, again and again until all are back.

    Attributes
    ----------
    groups : int
        Groups.
    routers, terminals : int
        Switches of each group, and terminals at each of them.
    order : int
        After how many times all nodes are back.
    moved : int64[N]
        Where each node goes.
    lengths : int64[L]
        2 for the cables between groups, 1 for all others: the paths that are short by these go by one of those cables
        or by two.
    """

    groups: int
    routers: int
    terminals: int
    order: int
    moved: Numbers
    lengths: Numbers

    @property
    def words(self) -> str:
        """What it is, for people."""
        return (
            f"dragonfly of {self.groups:,} groups of {self.routers} switches, all adjacent, with {self.terminals} "
            f"terminals at each"
        )


def switch_shift(network: Network) -> SwitchShift | None:
    """Return a symmetry that moves all groups of a dragonfly; None if the network is none, or none is found.

    Parameters
    ----------
    network : Network
        Any; those that are looked at have as many terminals at each switch, two-way links, none parallel, and links of
        one kind between switches of a group, between groups, and to terminals.

    Returns
    -------
    SwitchShift or None
        Checked link by link. That of the highest order of those tried.

    Notes
    -----
    Groups are the parts that are left without the links between switches with few neighbors in common. O(L D) for each
    switch that is tried as the image of one, with rounds D of telling switches apart.

    Examples
    --------
    >>> from gossamer.networks import parse
    >>> found = switch_shift(parse("dragonfly:a=4,h=2,p=2,arrangement=relative"))
    >>> found.order, found.words
    (9, 'dragonfly of 9 groups of 4 switches, all adjacent, with 2 terminals at each')
    """
    if "_switch_shift" not in vars(network):
        vars(network)["_switch_shift"] = _found(network)
    known: SwitchShift | None = vars(network)["_switch_shift"]
    return known


def _found(network: Network) -> SwitchShift | None:
    terminals, n = network.terminal_count, network.node_count
    alone = network.shared_ports is None and not network.parallel and network.two_way and network.uniform_capacity == 1
    switches = n - terminals
    if not alone or not 2 < switches <= _MOST_SWITCHES or terminals % switches or terminals < switches:
        return None
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    up = source < terminals
    own = target[up]
    if not bool((network.out_degree[:terminals] == 1).all()) or int(own.min()) < terminals:
        return None
    below = np.bincount(own - terminals, minlength=switches)
    if bool((below != terminals // switches).any()):
        return None
    between = np.flatnonzero((source >= terminals) & (target >= terminals))
    ends = source[between] - terminals, target[between] - terminals
    group, inside = _groups(switches, *ends)
    if group is None:
        return None
    kind = link_kinds(network)
    sorts = (kind[up], kind[target < terminals], kind[between[inside]], kind[between[~inside]])
    if any(np.unique(each).size > 1 for each in sorts):
        return None
    shift, order = _shift(switches, *ends, inside, group)
    if shift is None:
        return None
    # the terminals of a switch go to those of its image, in the order of their numbers
    by_switch = np.argsort(own, kind="stable").reshape(switches, -1)
    moved = np.empty(n, np.int64)
    moved[by_switch] = by_switch[shift]
    moved[terminals:] = terminals + shift
    lengths = np.ones(network.link_count, np.int64)
    lengths[between[~inside]] = 2
    count = int(group.max()) + 1
    return SwitchShift(count, switches // count, terminals // switches, order, moved, lengths)


def _groups(count: int, source: Numbers, target: Numbers) -> tuple[Numbers | None, npt.NDArray[np.bool_]]:
    """Return the group of each switch, all adjacent, and which links are inside; None if there are none such."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    near = csr_array((np.ones(source.size, np.int64), (source, target)), shape=(count, count))
    common = np.asarray((near @ near)[source, target]).ravel()
    inside = common > (int(common.max()) - 1) // 2
    part = csr_array((inside[inside].astype(np.int8), (source[inside], target[inside])), shape=(count, count))
    groups, group = connected_components(part, directed=False)
    size = count // groups
    whole = groups > 1 and size > 2 and bool((np.bincount(group) == size).all())
    if not whole or int(inside.sum()) != groups * size * (size - 1):
        return None, inside
    return group.astype(np.int64), inside


def _shift(
    count: int, source: Numbers, target: Numbers, inside: npt.NDArray[np.bool_], group: Numbers
) -> tuple[Numbers | None, int]:
    """Return a symmetry of the switches that leaves none of them, nor do its powers, in place; and its order."""
    order = np.lexsort((target, source))
    plain = Network("switches", count, source[order].astype(np.int32), target[order].astype(np.int32), links_only=True)
    pattern = pattern_of(plain)
    first = pattern.told_apart(pattern.start, [0])
    look = np.sort(first)
    best: tuple[Numbers | None, int] = None, 1
    groups = int(group.max()) + 1
    rank = np.empty(count, np.int64)  # switches by their rank in their group: many networks are numbered alike
    by_group = np.argsort(group, kind="stable")
    rank[by_group] = np.arange(count) % (count // groups)
    candidates = np.lexsort((group, rank != rank[0]))
    for other in candidates[:_TRIES].tolist():
        if group[other] == group[0]:
            continue
        there = pattern.told_apart(pattern.start, [other])
        if not np.array_equal(np.sort(there), look):
            continue
        p = pattern.matched(first, there)
        if p is None:
            continue
        cycles = _cycles(p)
        if cycles is not None and cycles > best[1]:
            best = p, cycles
        if best[1] == groups:
            break
    return best


def _cycles(p: Numbers) -> int | None:
    """Return the length of all cycles of a permutation; None if they differ.

    >>> _cycles(np.array([1, 0, 3, 2])), _cycles(np.array([1, 0, 2]))
    (2, None)
    """
    at, length = p.copy(), 1
    here = np.arange(p.size)
    while not bool((at == here).any()):
        at, length = p[at], length + 1
    return length if bool((at == here).all()) else None
