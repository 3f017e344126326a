"""The case with plain links that a case with times, or with switches that cut through, is never faster than."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.cases import Case
from gossamer.networks.network import Network

__all__ = ["plain_network", "relaxed", "relaxed_bounds"]


def plain_network(network: Network) -> Network:
    """Return the network with plain links; parallel ones become one that has their capacities together.

    Examples
    --------
    >>> network = Network("two links", 2, [0, 0, 1], [1, 1, 0], link_occupancy=[1, 2, 1], links_only=True)
    >>> plain_network(network).link_capacity.tolist()
    [2, 1]
    """
    if not network.parallel:
        return network.without_time
    pair = network.link_source * np.int64(network.node_count) + network.link_target
    kept, where = np.unique(pair, return_inverse=True)
    capacity = np.bincount(where, weights=network.link_capacity, minlength=kept.size)
    ends = (kept // network.node_count).astype(np.int32), (kept % network.node_count).astype(np.int32)
    return Network(
        network.spec, network.node_count, *ends, np.minimum(capacity, 2**31 - 1).astype(np.int32),
        terminal_count=network.terminal_count, labels=network.labels, links_only=True,
    )  # fmt: skip


def relaxed(case: Case) -> Case:
    """Return the case on plain links, with storing switches.

    Notes
    -----
    Links without time are faster. A switch that cuts through passes a packet on in the slot in which it comes; very
    small parts come as close to that as one likes, so bounds for split messages hold for it.
    """
    net, rules = case.network, case.rules
    plain = net if net.plain else case.once(plain_network, net)
    if rules.cut_through:
        rules = replace(rules, cut_through=False, split=True)
    if plain is net and rules == case.rules:
        return case
    return case.related(network=plain, rules=rules)


def relaxed_bounds(case: Case, families: tuple[Callable[[Case], Iterator[Bound]], ...]) -> Iterator[Bound]:
    """Yield the bounds of families that know plain links and storing switches only."""
    other = relaxed(case)
    for family in families:
        for bound in family(other):
            yield replace(bound, value=Fraction(-(-bound.value // 1))) if case.whole else bound
