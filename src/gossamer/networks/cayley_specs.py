"""The family of Cayley networks by the text of a group and the numbers of its generators."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks._parameters import checked_size, whole_number
from gossamer.networks.cayley import cayley_network, reached
from gossamer.networks.cayley_groups.named import NamedGroup, group_named, split_outside
from gossamer.networks.family import Family, Size
from gossamer.networks.network import Network

__all__ = ["CAYLEY", "cayley_of"]


def cayley_of(group: str, generators: Sequence[int], one_way: bool = False) -> Network:
    """Return the Cayley network of a group by its text.

    Parameters
    ----------
    group : str
        Such as ``semidirect(64,8,3)``; the kinds are those of `gossamer.networks.cayley_groups.GROUP_KINDS`.
    generators : sequence of int
        Element numbers, closed under inverses unless the links go one way. The identity and repetitions are dropped.
    one_way : bool
        Whether inverses may be missing.

    Returns
    -------
    Network
        Spec ``cayley:GROUP;G,G,...``, with ``;one-way`` where it is. A node for each element, a link from u to ``u*g``
        for each generator g, in the order given.

    Raises
    ------
    NetworkError
        If there is no such group, a generator is out of range, the inverse of one is missing, or they generate only a
        subgroup.

    Notes
    -----
    O(L) time; groups of permutations and matrices are listed first, at most 200,000 elements.

    Examples
    --------
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
