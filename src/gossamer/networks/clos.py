"""Folded Clos networks: leaves and spines, k-ary n-trees, and generalized fat trees of any levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import MAX_CAPACITY, Family, Size, checked_size, is_list, one_or_each, whole_number
from gossamer.networks.network import MAX_LINKS, Network
from gossamer.networks.structures import Tiers

Numbers = npt.NDArray[np.int64]


def generalized_fat_tree(children: Sequence[int], parents: Sequence[int], capacity: Sequence[int] | int = 1) -> Network:
    """Return the extended generalized fat tree XGFT(h; m_1, ..., m_h; w_1, ..., w_h), with wider links if wanted.

    Parameters
    ----------
    children : sequence of int
        m_1, ..., m_h: a switch of level i has m_i children. At least one level; each number at least 1.
    parents : sequence of int
        w_1, ..., w_h: a node of level i-1 has w_i parents.
    capacity : int or sequence of int
        Packets per slot and direction of the links between levels i-1 and i, for i = 1..h; one number for all levels,
        or one for each.

    Returns
    -------
    Network
        Spec ``generalized-fat-tree:children=m_1x...,parents=w_1x...``. The ``m_1*...*m_h`` terminals are level 0, from
        left to right; then come the switches of level 1, 2, ..., h. Coordinates are (level, place in the level). The
        links of a node lead to its parents, then to its children, from left to right.

    Raises
    ------
    NetworkError
        If a number is out of range, there is not one for each level, or the network is too large.

    Notes
    -----
    A node of level i is a word ``(x_h, ..., x_(i+1), y_i, ..., y_1)`` of digits ``x_j < m_j`` and ``y_j < w_j``; it is
    adjacent to those of level i+1 with the same digits but for x_(i+1), which becomes y_(i+1). Two terminals are 2l
    apart, with l the highest digit in which they differ. O(L) time.

    References
    ----------
    Ohring, Ibel, Das and Kumar 1995; with links of several cables: Zahavi 2012.

    Examples
    --------
    >>> generalized_fat_tree((4, 8), (1, 4))
    <Network generalized-fat-tree:children=4x8,parents=1x4: 44 nodes, 128 links>
    """
    _tree_size(children, parents, capacity)
    m, w = tuple(map(int, children)), tuple(map(int, parents))
    widths = one_or_each("generalized-fat-tree", capacity, len(m), "level")
    told = widths[0] if len(set(widths)) == 1 else "x".join(map(str, widths))
    values = {"children": "x".join(map(str, m)), "parents": "x".join(map(str, w)), "capacity": told}
    return _tree(spec_parameters.canonical("generalized-fat-tree", values, capacity=1), m, w, widths)


def leaf_spine(leaves: int, spines: int, hosts: int, uplink: int = 1) -> Network:
    """Return a leaf-spine network: every leaf switch has a link to every spine switch, and hosts below it.

    Parameters
    ----------
    leaves, spines : int
        Switches of each kind, at least 1.
    hosts : int
        Terminals at each leaf, at least 1.
    uplink : int
        Capacity of a link between leaf and spine.

    Returns
    -------
    Network
        Spec ``leaf-spine:leaves=L,spines=S,hosts=H``, with ``uplink=...`` if it is not 1. Terminals, leaves and spines
        in this order; coordinates are (tier, place in the tier).

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Terminals of one leaf are 2 apart, others 4. ``uplink*S >= H`` gives it full bisection. O(L) time.

    References
    ----------
    Clos 1953; the tree: Ohring, Ibel, Das and Kumar 1995.

    Examples
    --------
    >>> leaf_spine(8, 4, 4)
    <Network leaf-spine:leaves=8,spines=4,hosts=4: 44 nodes, 128 links>
    """
    _leaf_spine_size(leaves, spines, hosts, uplink)
    values = {"leaves": int(leaves), "spines": int(spines), "hosts": int(hosts), "uplink": int(uplink)}
    spec = spec_parameters.canonical("leaf-spine", values, uplink=1)
    names = ("terminals", "leaves", "spines")
    return _tree(spec, (int(hosts), int(leaves)), (1, int(spines)), (1, int(uplink)), names)


def k_ary_n_tree(k: int, n: int) -> Network:
    """Return the k-ary n-tree: k**n terminals and n levels of k**(n-1) switches with k links down and k up.

    Parameters
    ----------
    k : int
        At least 2.
    n : int
        Levels of switches, at least 1.

    Returns
    -------
    Network
        Spec ``k-ary-n-tree:k,n``. Nodes, coordinates and links in the order of `generalized_fat_tree`.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Diameter 2n between terminals; full bisection. The switches and their links are a butterfly. O(L) time.

    References
    ----------
    Petrini and Vanneschi 1997.

    Examples
    --------
    >>> k_ary_n_tree(2, 3)
    <Network k-ary-n-tree:2,3: 20 nodes, 48 links>
    """
    _k_ary_size(k, n)
    k, n = int(k), int(n)
    return _tree(f"k-ary-n-tree:{k},{n}", (k,) * n, (1,) + (k,) * (n - 1), (1,) * n)


def folded_clos(radix: int, levels: int) -> Network:
    """Return the folded Clos network, or fat tree, of switches that all have the same number of ports.

    Parameters
    ----------
    radix : int
        r, ports of each switch, even and at least 4.
    levels : int
        l, levels of switches, at least 1.

    Returns
    -------
    Network
        Spec ``folded-clos:r,l``: ``2*(r/2)**l`` terminals and ``(2*l-1)*(r/2)**(l-1)`` switches, of which those of the
        top level have all their ports downwards. Nodes, coordinates and links in the order of `generalized_fat_tree`.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    Three levels are the fat tree of r pods of data centers. Full bisection. O(L) time.

    References
    ----------
    Clos 1953; Al-Fares, Loukissas and Vahdat 2008.

    Examples
    --------
    >>> folded_clos(4, 3)
    <Network folded-clos:4,3: 36 nodes, 96 links>
    """
    _folded_size(radix, levels)
    half, top = int(radix) // 2, int(levels)
    children, parents = (half,) * (top - 1) + (2 * half,), (1,) + (half,) * (top - 1)
    return _tree(f"folded-clos:{2 * half},{top}", children, parents, (1,) * top)


def _tree(
    spec: str, m: tuple[int, ...], w: tuple[int, ...], widths: tuple[int, ...], names: tuple[str, ...] = ()
) -> Network:
    h = len(m)
    names = names or ("terminals", *(f"level {i}" for i in range(1, h + 1)))
    sizes = [math.prod(m[i:]) * math.prod(w[:i]) for i in range(h + 1)]
    first = np.concatenate([[0], np.cumsum(sizes)])
    source, target, capacity = [], [], []
    for i, size in enumerate(sizes):
        ends, width = [], []
        node = np.arange(size)[:, None]
        low = math.prod(w[:i])  # values of the digits y_i, ..., y_1, which are the last of the number
        if i < h:  # x_(i+1) stands before them here, y_(i+1) above
            above = node // low // m[i] * w[i] + np.arange(w[i])
            ends.append(first[i + 1] + above * low + node % low)
            width.append(np.full(w[i], widths[i]))
        if i > 0:
            rest = low // w[i - 1]
            below = node // low * m[i - 1] + np.arange(m[i - 1])
            ends.append(first[i - 1] + below * rest + node % rest)
            width.append(np.full(m[i - 1], widths[i - 1]))
        table = np.concatenate(ends, axis=1)
        source.append(np.repeat(first[i] + node.ravel(), table.shape[1]))
        target.append(table.reshape(-1))
        capacity.append(np.tile(np.concatenate(width), size))
    tiers = Tiers(names, tuple(sizes), tuple(range(h + 1)))
    return Network(
        spec,
        sum(sizes),
        np.concatenate(source),
        np.concatenate(target),
        np.concatenate(capacity),
        terminal_count=sizes[0],
        structures=[tiers, tiers.coordinates],
    )


def _levels_size(family: str, m: Sequence[int], w: Sequence[int]) -> Size:
    nodes, links, size = 0, 0, math.prod(m)
    for i in range(len(m) + 1):
        nodes += size
        if i < len(m):
            links += 2 * size * w[i]
            size = size // m[i] * w[i]
        if links > MAX_LINKS**2:
            break
    return checked_size(family, nodes, links)


def _tree_size(children: Sequence[int], parents: Sequence[int], capacity: Sequence[int] | int = 1) -> Size:
    name = "generalized-fat-tree"
    for what, numbers in (("children", children), ("parents", parents)):
        if not is_list(numbers) or not numbers:
            raise NetworkError(f"{name}: {what} must be a sequence of at least one whole number")
    m = [whole_number(x, name, "a number of children") for x in children]
    w = [whole_number(x, name, "a number of parents") for x in parents]
    if len(m) != len(w):
        raise NetworkError(f"{name}: {len(m)} levels have children and {len(w)} have parents; give one number a level")
    one_or_each(name, capacity, len(m), "level")
    return _levels_size(name, m, w)


def _leaf_spine_size(leaves: int, spines: int, hosts: int, uplink: int = 1) -> Size:
    given = {"leaves": leaves, "spines": spines, "hosts": hosts}
    number = {name: whole_number(value, "leaf-spine", name) for name, value in given.items()}
    whole_number(uplink, "leaf-spine", "uplink", 1, MAX_CAPACITY)
    return _levels_size("leaf-spine", (number["hosts"], number["leaves"]), (1, number["spines"]))


def _k_ary_size(k: int, n: int) -> Size:
    k, n = whole_number(k, "k-ary-n-tree", "k", low=2), min(whole_number(n, "k-ary-n-tree", "n"), 64)
    return _levels_size("k-ary-n-tree", (k,) * n, (1,) + (k,) * (n - 1))


def _folded_size(radix: int, levels: int) -> Size:
    radix = whole_number(radix, "folded-clos", "radix", low=4)
    if radix % 2:
        raise NetworkError(f"folded-clos: radix must be even, got {radix} (nearest: {radix - 1} and {radix + 1})")
    half, top = radix // 2, min(whole_number(levels, "folded-clos", "levels"), 64)
    return _levels_size("folded-clos", (half,) * (top - 1) + (radix,), (1,) + (half,) * (top - 1))


LEAF_SPINE = Family(
    name="leaf-spine",
    function=leaf_spine,
    size=_leaf_spine_size,
    form=spec_parameters.named(
        dict.fromkeys(("leaves", "spines", "hosts", "uplink"), spec_parameters.integer), uplink=1
    ),
    parameters="leaves=L,spines=S,hosts=H,uplink=1",
    summary="L leaf switches with H terminals each, all joined to S spine switches by links of capacity `uplink`",
    example="leaf-spine:leaves=8,spines=4,hosts=4",
    source="Clos 1953",
    small=("leaf-spine:leaves=2,spines=2,hosts=2",),
)
FOLDED_CLOS = Family(
    name="folded-clos",
    function=folded_clos,
    size=_folded_size,
    form=spec_parameters.numbers,
    parameters="radix,levels",
    summary="folded Clos, or k-ary fat tree, of switches of one radix: 2*(radix/2)^levels terminals, full bisection",
    example="folded-clos:4,3",
    aliases=("clos",),
    source="Clos 1953; Al-Fares, Loukissas and Vahdat 2008",
    small=("folded-clos:4,2",),
)
K_ARY_N_TREE = Family(
    name="k-ary-n-tree",
    function=k_ary_n_tree,
    size=_k_ary_size,
    form=spec_parameters.numbers,
    parameters="k,n",
    summary="k^n terminals below n levels of k^(n-1) switches with k links down and k up",
    example="k-ary-n-tree:4,2",
    source="Petrini and Vanneschi 1997",
    small=("k-ary-n-tree:2,2",),
)
GENERALIZED_FAT_TREE = Family(
    name="generalized-fat-tree",
    function=generalized_fat_tree,
    size=_tree_size,
    form=spec_parameters.named(
        dict.fromkeys(("children", "parents", "capacity"), spec_parameters.side_numbers), capacity=(1,)
    ),
    parameters="children=m_1x...xm_h,parents=w_1x...xw_h,capacity=1|c_1x...xc_h",
    summary="extended generalized fat tree: a switch of level i has m_i children, a node below it w_i parents",
    example="generalized-fat-tree:children=4x2x3,parents=1x2x2",
    source="Ohring, Ibel, Das and Kumar 1995",
    small=("generalized-fat-tree:children=2x2,parents=2x1,capacity=1x2",),
    aliases=("xgft",),
)
