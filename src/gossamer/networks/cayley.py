"""Cayley networks: a node for each element of a group, a link from ``u`` to ``u*g`` for each generator ``g``.

The named families (rings and circulants, tori and hypercubes, permutation networks, cube-connected cycles and
butterflies) are those of Dimakopoulos 1996, section 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.finite_groups import Group
from gossamer.networks.group_specs import NamedGroup, group_named, split_outside
from gossamer.networks.network import Network
from gossamer.networks.structures import CayleyGroup, Structure

__all__ = ["CAYLEY", "cayley", "cayley_network", "cayley_of", "reached"]


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


# The family of Cayley networks by the text of a group and the numbers of its generators.


def cayley_of(group: str, generators: Sequence[int], one_way: bool = False) -> Network:
    """Return the Cayley network of a group by its text.

    * `group`: such as ``semidirect(64,8,3)``; the kinds are those of `gossamer.networks.group_specs.GROUP_KINDS`.
    * `generators`: element numbers, closed under inverses unless the links go one way. The identity and repetitions are
      dropped.
    * `one_way`: whether inverses may be missing.

    Returns: spec ``cayley:GROUP;G,G,...``, with ``;one-way`` where it is. A node for each element, a link from u to
    ``u*g`` for each generator g, in the order given. Raises `NetworkError` if there is no such group, a generator is
    out of range, the inverse of one is missing, or they generate only a subgroup.

    O(L) time; groups of permutations and matrices are listed first, at most 200,000 elements.

    >>> cayley_of("semidirect(7,3,2)", [1, 2, 3, 18])
    <Network cayley:semidirect(7,3,2);1,2,3,18: 21 nodes, 84 links>
    """
    named, elements = _checked(group, generators, one_way)
    spec = f"cayley:{named.text};{','.join(map(str, elements))}{';one-way' if one_way else ''}"
    network = cayley_network(spec, named.group, elements)
    count = reached(network)
    if count < network.node_count:
        raise NetworkError(f"cayley: the generators reach only {count} of {network.node_count} elements")
    return network


def _checked(group: str, generators: Sequence[int], one_way: bool) -> tuple[NamedGroup, list[int]]:
    named = group_named(group)
    order = named.group.order
    every = dict.fromkeys(whole_number(g, "cayley", "a generator", 0, order - 1) for g in generators)
    elements = [g for g in every if g]
    if not elements and order > 1:
        raise NetworkError("cayley: at least one generator other than the identity, 0, is needed")
    if not one_way:
        inverses = named.group.inverse(np.array(elements, np.int64)).tolist()
        for g, inverse in zip(elements, inverses, strict=True):
            if inverse not in elements:
                raise NetworkError(
                    f"cayley: generator {g} is given without its inverse {inverse}; add it, or end with ;one-way"
                )
    return named, elements


def _size(group: str, generators: Sequence[int], one_way: bool = False) -> Size:
    named, elements = _checked(group, generators, one_way)
    return checked_size("cayley", named.group.order, named.group.order * len(elements))


def _form(family: Family, text: str) -> list[object]:
    parts = [p.strip() for p in split_outside(text.lower(), ";")]
    ways = parts[2:]
    if len(parts) < 2 or len(parts) > 3 or (ways and ways != ["one-way"]):
        raise NetworkError(f"{family.name}: expected {family.parameters}, got {shown(text)}")
    if not re.fullmatch(r"[0-9]{1,12}(\s*,\s*[0-9]{1,12})*", parts[1]):
        raise NetworkError(f"{family.name}: generators are element numbers such as 1,7,12, got {shown(parts[1])}")
    return [parts[0], [int(g) for g in parts[1].split(",")], bool(ways)]


CAYLEY = Family(
    name="cayley",
    function=cayley_of,
    size=_size,
    form=_form,
    parameters="GROUP;g,g,...",
    summary="a node for each element of a group, a link to u*g for each generator g, by element numbers",
    example="cayley:semidirect(7,3,2);1,2,3,18",
    source="Dimakopoulos 1996, section 4.4",
    small=("cayley:semidirect(7,3,2);1,2,3,18", "cayley:polycyclic(2,001.001.000,001.000.000);2,3,4,5"),
)
