"""Cartesian products of networks; tori, arrays, hypercubes and hypercycles are products of their sides."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size
from gossamer.networks.finite_groups import AbelianGroup, Group, ProductGroup
from gossamer.networks.network import Factors, IntArray, Network
from gossamer.networks.structures import CayleyGroup, Coordinates, Grid, Structure


def product(*factors: Network, spec: str | None = None) -> Network:
    """Return the Cartesian product of networks.

    Two nodes are adjacent if they differ in exactly one coordinate and are adjacent there (Dimakopoulos 1996, section
    2.1.1). Coordinates of the first factor are most significant in the node number. The links of a node are those of
    its first coordinate, then of its second, and so on.

    Parameters
    ----------
    *factors : Network
        At least one network, each with every node a terminal and with links of capacity 1.
    spec : str, optional
        The canonical spec of a family of products; default ``product:(...)x(...)``.

    Returns
    -------
    Network
        With `factors`. It has the direct product of the groups when every factor has one, and the grid of all
        sides when every factor has one. Its coordinates are those of the factors, one after the other, where a factor
        without coordinates counts as one coordinate, its node number.

    Raises
    ------
    NetworkError
        If a factor has routing nodes or other capacities, or the product is too large.

    Notes
    -----
    Degrees, distances and eccentricities add up over the factors (2.1)-(2.3). O(L) time.

    Examples
    --------
    >>> from gossamer.networks import ring, complete, product
    >>> product(ring(5), complete(4))
    <Network product:(ring:5)x(complete:4): 20 nodes, 100 links>
    """
    if not factors:
        raise NetworkError("a product needs at least one factor")
    for f in factors:
        if f.terminal_count != f.node_count or f.uniform_capacity != 1:
            raise NetworkError(f"factor {f.spec!r} of a product must have only terminals and links of capacity 1")
    n = _product_size(*(Size(f.node_count, f.link_count) for f in factors)).nodes
    source, target = _links(factors, n)
    return Network(
        spec or "product:" + "x".join(f"({f.spec})" for f in factors),
        n,
        source,
        target,
        structures=_structures(factors, n),
        links_only=any(f.links_only for f in factors),
    )


def _structures(factors: tuple[Network, ...], n: int) -> list[Structure]:
    """Return what is known of a product: its factors, their group, their grid or else their coordinates."""
    single = len(factors) == 1
    known: list[Structure | None] = [factors[0].find(Factors) if single else Factors(factors)]
    group, grid = _group(factors), _grid(factors)
    known.append(None if group is None else CayleyGroup(group))
    known.append(Coordinates(_coordinates(factors, n)) if grid is None else grid)
    return [structure for structure in known if structure is not None]


def _links(factors: Sequence[Network], n: int) -> tuple[IntArray, IntArray]:
    """Return source and target of every link, sorted by source and, within a node, by factor."""
    widths = [f.degree if f.link_count else 0 for f in factors]
    node = np.arange(n, dtype=np.int32)
    table = np.empty((n, sum(widths)), np.int32)
    column, stride = 0, n
    regular = True
    for f, width in zip(factors, widths, strict=True):
        stride //= f.node_count
        shape = (n // (f.node_count * stride), f.node_count, stride)  # nodes by what stands before, here, after
        degree = f.out_degree
        regular &= bool((degree == width).all())
        for k in range(width):
            link = np.minimum(f.first_link[:-1] + k, f.link_count - 1)
            step = np.where(k < degree, (f.link_target[link] - np.arange(f.node_count)) * stride, 0).astype(np.int32)
            np.add(node.reshape(shape), step[:, None], out=table.reshape(*shape, -1)[..., column])
            column += 1
    if regular:
        return np.repeat(node, table.shape[1]), table.reshape(-1)
    present = table != node[:, None]
    return np.repeat(node, present.sum(axis=1)), table[present]


def _grid(factors: Sequence[Network]) -> Grid | None:
    grids = [f.grid for f in factors if f.grid is not None]
    if len(grids) < len(factors):
        return None
    return Grid(tuple(s for g in grids for s in g.sides), tuple(w for g in grids for w in g.wraps))


def _group(factors: Sequence[Network]) -> Group | None:
    groups = [f.group for f in factors if f.group is not None]
    if len(groups) < len(factors):
        return None
    if all(isinstance(g, AbelianGroup) for g in groups):
        return AbelianGroup(tuple(m for g in groups if isinstance(g, AbelianGroup) for m in g.moduli))
    return ProductGroup(tuple(groups))


def _coordinates(factors: Sequence[Network], n: int) -> IntArray:
    node = np.arange(n)
    stride = n
    columns: list[npt.NDArray[np.int64] | IntArray] = []
    for f in factors:
        stride //= f.node_count
        own = node // stride % f.node_count
        columns.append(own[:, None] if f.coordinates is None else f.coordinates[own])
    return np.concatenate(columns, axis=1).astype(np.int32)


def _product_size(*factors: Size) -> Size:
    nodes = math.prod(f.nodes for f in factors)
    return checked_size("product", nodes, sum(nodes // f.nodes * f.links for f in factors))


PRODUCT = Family(
    name="product",
    function=product,
    size=_product_size,
    form=spec_parameters.factors,
    parameters="(SPEC)x(SPEC)...",
    summary="Cartesian product of any networks without routing nodes",
    example="product:(ring:5)x(complete:4)",
    source="Dimakopoulos 1996, section 2.1.1",
    small=("product:(ring:5)x(array:3)", "product:(complete:4)x(star:3)"),
)
