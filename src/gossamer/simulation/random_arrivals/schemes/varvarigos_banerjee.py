"""The schemes of Varvarigos and Banerjee on any network with edge-disjoint spanning trees.

Baselines of Yeh, Varvarigos and Lee 1998.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gossamer.simulation.random_arrivals.schemes.edge_disjoint_trees import edge_disjoint_trees, trees_reason
from gossamer.simulation.random_arrivals.schemes.transmission_tables import (
    SchemeRows,
    drawn_trees,
    flooded,
    over_the_root,
    refuse_uncovered,
)

if TYPE_CHECKING:
    from gossamer.networks.network import IntArray, Network
    from gossamer.simulation.random_arrivals.scheme import Scheme

__all__ = ["varvarigos_banerjee_direct", "varvarigos_banerjee_indirect"]

SOURCE = "Varvarigos and Banerjee 1996, as quoted by Yeh, Varvarigos and Lee 1998, section 1"


def varvarigos_banerjee_direct(
    network: Network,
    *,
    priority: str = "fifo",
    trees: Sequence[IntArray] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> Scheme:
    """Return the direct scheme: flood one of k edge-disjoint spanning trees from the source.

    Parameters
    ----------
    network : Network
        Connected, with an opposite for every link.
    priority : str
        A key of `PRIORITIES`; low class: the leaves.
    trees : sequence of int32[N], optional
        Parents; default those of `edge_disjoint_trees`.
    count, seed
        Passed to `edge_disjoint_trees`.

    Raises
    ------
    NotApplicableError
        If the network is not covered or has not so many trees.

    Notes
    -----
    The link into a leaf carries the packets of all other nodes: stable below load factor k / d_ave, half of what the
    network can carry for k = d_ave / 2.

    References
    ----------
    Varvarigos and Banerjee 1996; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(varvarigos_banerjee_direct(gossamer.network("hypercube:4"))).load)
    '1/2'
    """
    return _scheme("varvarigos-banerjee-direct", network, priority, trees, count, seed)


def varvarigos_banerjee_indirect(
    network: Network,
    *,
    priority: str = "fifo",
    trees: Sequence[IntArray] | None = None,
    count: int | None = None,
    seed: int = 0,
) -> Scheme:
    """Return the indirect scheme: up one of k edge-disjoint spanning trees to its center, then down all of it.

    Parameters and errors are those of `varvarigos_banerjee_direct`; low class: the way down.

    Notes
    -----
    The links down from a center carry the packets of all N nodes: stable below load factor k (N-1) / (N d_ave).

    References
    ----------
    Varvarigos and Banerjee 1996; the limit is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> from gossamer.simulation.random_arrivals.theory import stability_limit
    >>> str(stability_limit(varvarigos_banerjee_indirect(gossamer.network("hypercube:4"))).load)
    '15/32'
    """
    return _scheme("varvarigos-banerjee-indirect", network, priority, trees, count, seed)


def _scheme(
    name: str, network: Network, priority: str, trees: Sequence[IntArray] | None, count: int | None, seed: int
) -> Scheme:
    refuse_uncovered(name, network, trees_reason(network))
    chosen = edge_disjoint_trees(network, count, seed=seed) if trees is None else list(trees)
    rows = SchemeRows()
    make = flooded if name.endswith("-direct") else over_the_root
    return drawn_trees(rows, name, network, SOURCE, [make(rows, network, tree) for tree in chosen], priority)
