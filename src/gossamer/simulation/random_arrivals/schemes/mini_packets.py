"""Messages sent in parts: each part takes its own tree, and a node has received when it has all parts.

The parts are 1/P of a message long and so are their transmissions, so that the load is that of unsegmented packets.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gossamer.graphs.disjoint_trees import disjoint_tree, grown_trees, grown_trees_reason
from gossamer.simulation.random_arrivals.schemes.dimension_orders import (
    flattened,
    product_factors,
    star_orders,
    star_reason,
)
from gossamer.simulation.random_arrivals.schemes.product_broadcasts import product_scheme
from gossamer.simulation.random_arrivals.schemes.transmission_tables import SchemeRows, add_tree, refuse_uncovered

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["hypercube_reason", "mini_packets", "mini_packets_reason", "minis_reason", "star_minis"]

SOURCE = "Stamoulis and Tsitsiklis 1993; Yeh, Varvarigos and Lee 1998, section 2"


def hypercube_reason(network: Network) -> str | None:
    """Say why a network is no hypercube, or None if it is one of at least 1 dimension."""
    grid = network.grid
    if grid is None or any(s > 2 for s in grid.sides) or network.node_count < 2:
        return "needs a hypercube"
    return None


def mini_packets(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the scheme that sends each message in p parts along p trees of a network of degree p that share no link.

    Parameters
    ----------
    network : Network
        A hypercube, on which the trees are those of the paper, or another Cayley network, on which they are grown.
    priority : str
        A key of `PRIORITIES`; low class: the leaves.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    All links carry the same traffic: the trees of a source use every link but those into it. Without other traffic a
    broadcast takes the depth of the deepest tree over p, (d+1)/d on the d-cube.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 6.2; erratum X9.

    Examples
    --------
    >>> import gossamer
    >>> scheme = mini_packets(gossamer.network("hypercube:4"))
    >>> scheme.check()
    >>> scheme.parts
    4
    >>> mini_packets(gossamer.network("torus:5x5")).check()
    """
    refuse_uncovered("mini-packets", network, mini_packets_reason(network))
    p, n = network.degree, network.node_count
    rows, parts = SchemeRows(), []
    if hypercube_reason(network) is None:
        source = SOURCE
        trees = [disjoint_tree(p, k) for k in range(p)]
        depth = np.zeros((p, n), np.int64)
        for k, tree in enumerate(trees):
            for _ in range(p + 1):
                depth[k, 1:] = depth[k, tree[1:]] + 1
        links = [_links_to(tree, p) for tree in trees]
    else:
        source = f"{SOURCE}; trees by Edmonds 1973"
        grown, depth = grown_trees(network)  # type: ignore[assignment]
        links = list(grown)
        trees = [np.where(link < 0, -1, network.link_source[link]) for link in links]
    for tree, link, far in zip(trees, links, depth, strict=True):
        parts.append(add_tree(rows, tree.tolist(), (link % p).tolist(), np.argsort(far, kind="stable").tolist()))
    return rows.scheme(
        "mini-packets",
        network,
        source,
        [[parts]],
        [[Fraction(1)]],
        priority=priority,
        translated=True,
        receivers=n - 1,
        dimension=range(p),
    )


def mini_packets_reason(network: Network) -> str | None:
    """Say why there are no disjoint trees for a network, or None if there are."""
    return grown_trees_reason(network) if hypercube_reason(network) is not None else None


def _links_to(parent: IntArray, d: int) -> IntArray:
    """Return the link by which each node of a hypercube is reached; the links of a node go highest bit first."""
    bit = np.log2(np.maximum(parent ^ np.arange(parent.size), 1)).astype(np.int32)
    return np.where(parent < 0, -1, parent * d + d - 1 - bit).astype(np.int32)


def minis_reason(network: Network) -> str | None:
    """Say why STAR parts do not cover a network, or None if they do."""
    reason = star_reason(network)
    if reason is not None:
        return reason
    sides = {f.node_count for f in flattened(network)} - {1}
    if len(sides) > 1:
        return "needs sides of one length, because every part has the same share"
    return "needs at least 2 dimensions" if network.node_count in sides else None


def star_minis(network: Network, *, priority: str = "fifo") -> Scheme:
    """Return the scheme that sends d parts of each message by STAR, one ending in each dimension.

    Parameters
    ----------
    network : Network
        A product of equal sides: an n-ary d-cube, hypercube, or generalized hypercube.
    priority : str
        A key of `PRIORITIES`; low class: the last dimension.

    Raises
    ------
    NotApplicableError
        If the network is not covered.

    Notes
    -----
    The parts of one broadcast meet on the links near the source, and a node needs all of them: near load 1 it hardly
    beats unsegmented packets (erratum X9). `mini_packets` does not have this fault.

    Examples
    --------
    >>> import gossamer
    >>> star_minis(gossamer.network("torus:5x5")).check()
    """
    refuse_uncovered("star-minis", network, minis_reason(network))
    factors = product_factors(network)
    live = [i for i, f in enumerate(factors) if f.network.node_count > 1]
    share = Fraction(1, len(live))
    orders = {tuple(live[i] for i in order): share for order in star_orders(len(live))}
    return product_scheme("star-minis", network, SOURCE, factors, orders, priority=priority, minis=True)
