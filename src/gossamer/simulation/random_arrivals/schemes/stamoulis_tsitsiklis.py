"""The schemes of Stamoulis and Tsitsiklis on hypercubes: baselines of Yeh, Varvarigos and Lee 1998."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gossamer.graphs.disjoint_trees import disjoint_tree
from gossamer.simulation.random_arrivals.schemes.dimension_orders import star
from gossamer.simulation.random_arrivals.schemes.mini_packets import hypercube_reason
from gossamer.simulation.random_arrivals.schemes.transmission_tables import (
    SchemeRows,
    drawn_trees,
    over_the_root,
    refuse_uncovered,
)

if TYPE_CHECKING:
    from gossamer.networks.network import Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["indirect_reason", "stamoulis_tsitsiklis_direct", "stamoulis_tsitsiklis_indirect"]

SOURCE = "Stamoulis and Tsitsiklis 1993, as quoted by Yeh, Varvarigos and Lee 1998, section 1"


def stamoulis_tsitsiklis_direct(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the direct scheme: one of d completely unbalanced trees from the source, first come, first served.

    It is STAR in one class.

    Raises
    ------
    NotApplicableError
        If the network is no hypercube.

    Notes
    -----
    Stable for all loads below 1.

    Examples
    --------
    >>> import gossamer
    >>> stamoulis_tsitsiklis_direct(gossamer.network("hypercube:3")).class_count
    1
    """
    refuse_uncovered("stamoulis-tsitsiklis-direct", network, hypercube_reason(network))
    return replace(star(network, priority=priority), name="stamoulis-tsitsiklis-direct", source=SOURCE)


def stamoulis_tsitsiklis_indirect(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the indirect scheme: up one of d edge-disjoint trees with a common root, then down the same tree.

    Parameters
    ----------
    network : Network
        A d-cube, d >= 2.
    priority : str
        A key of `PRIORITIES`; low class: the way down.

    Raises
    ------
    NotApplicableError
        If the network is no hypercube of 2 dimensions or more.

    Notes
    -----
    Stable below 2/3 (1 - 2^-d), where the links from the children of the root are busy all the time: down with the
    load, up with half of it.

    References
    ----------
    Stamoulis and Tsitsiklis 1993; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(stamoulis_tsitsiklis_indirect(gossamer.network("hypercube:4"))).load)
    '5/8'
    """
    name, d, rows = "stamoulis-tsitsiklis-indirect", network.degree, SchemeRows()
    refuse_uncovered(name, network, indirect_reason(network))
    trees = [over_the_root(rows, network, disjoint_tree(d, k)) for k in range(d)]
    return drawn_trees(rows, name, network, SOURCE, trees, priority)


def indirect_reason(network: Network) -> str | None:
    """Say why the indirect scheme does not cover a network, or None if it does."""
    reason = hypercube_reason(network)
    return "needs at least 2 dimensions" if reason is None and network.degree < 2 else reason
