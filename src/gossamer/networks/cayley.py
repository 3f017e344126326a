"""Cayley networks: a node for each element of a group, a link from ``u`` to ``u*g`` for each generator ``g``.

The named families (rings and circulants, tori and hypercubes, permutation networks, cube-connected cycles and
butterflies) are those of Dimakopoulos 1996, section 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks._parameters import checked_size, whole_number
from gossamer.networks.groups import Group
from gossamer.networks.network import Network
from gossamer.networks.structures import CayleyGroup, Structure

__all__ = ["cayley", "cayley_network", "reached"]


def cayley(name: str, group: Group, generators: Iterable[int]) -> Network:
    """Return the Cayley network of a group of your own.

    Parameters
    ----------
    name : str
        A free name; it does not parse back, so the network is `links_only`.
    group : Group
        A group on the element numbers 0..order-1 with identity 0.
    generators : iterable of int
        Element numbers, closed under inverses and generating the group. The identity and repetitions are dropped;
        the order kept is the order of the links of every node.

    Returns
    -------
    Network
        With `group`; link ``u*degree + g`` goes from u to ``u*generators[g]``.

    Raises
    ------
    NetworkError
        If a generator is out of range, the inverse of one is missing, or they generate only a subgroup.

    Notes
    -----
    Node symmetric: left translations are automorphisms that keep the generator of each link (Dimakopoulos 1996,
    section 4.4.2). O(N degree) time.

    Examples
    --------
    >>> from gossamer.networks import AbelianGroup, cayley
    >>> cayley("twisted square", AbelianGroup((2, 4)), [1, 3, 4])
    <Network twisted square: 8 nodes, 24 links>
    """
    elements = [whole_number(g, name, "a generator", 0, group.order - 1) for g in generators]
    inverses = group.inverse(np.array(elements, np.int64)).tolist()
    for g, inverse in zip(elements, inverses, strict=True):
        if inverse not in elements:
            raise NetworkError(f"{name}: generator {g} is given without its inverse {inverse}")
    network = cayley_network(name, group, elements, links_only=True)
    count = reached(network)
    if count < network.node_count:
        raise NetworkError(f"{name}: the generators reach only {count} of {network.node_count} elements")
    return network


def cayley_network(
    spec: str,
    group: Group,
    generators: Iterable[int],
    *,
    structures: Sequence[Structure] = (),
    links_only: bool = False,
) -> Network:
    """Build a Cayley network from generators known to be closed under inverses and to generate the group."""
    elements = [g for g in dict.fromkeys(int(g) for g in generators) if g != 0]
    n, degree = group.order, len(elements)
    checked_size(spec.partition(":")[0], n, n * degree)
    node = np.arange(n, dtype=np.int64)
    target = np.empty((n, degree), np.int32)
    for column, g in enumerate(elements):
        target[:, column] = group.compose(node, g)
    source = np.repeat(np.arange(n, dtype=np.int32), degree)
    known = [CayleyGroup(group), *structures]
    return Network(spec, n, source, target.reshape(-1), structures=known, links_only=links_only)


def reached(network: Network) -> int:
    """Count the nodes that can be reached from node 0, a frontier at a time."""
    table = network.link_target.reshape(network.node_count, -1)
    seen = np.zeros(network.node_count, bool)
    seen[0] = True
    frontier = np.zeros(1, np.int32)
    while frontier.size:
        near = np.unique(table[frontier])
        frontier = near[~seen[near]]
        seen[frontier] = True
    return int(seen.sum())
