"""HyperX networks and flattened butterflies: routers in a grid, all adjacent along each dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.circulants import generalized_hypercube
from gossamer.networks.family import Family, Size, is_list, one_or_each, whole_number
from gossamer.networks.finite_groups import AbelianGroup
from gossamer.networks.network import Network
from gossamer.networks.product import product
from gossamer.networks.router_networks import router_network, router_size
from gossamer.networks.structures import CayleyGroup


def hyperx(sides: Sequence[int], capacity: Sequence[int] | int = 1, p: int = 0) -> Network:
    """Return the HyperX of routers in a grid, each adjacent to all that differ from it in one coordinate.

    Parameters
    ----------
    sides : sequence of int
        S: routers along each dimension, at least 1; the first is most significant in the number of a router.
    capacity : int or sequence of int
        K: links between two routers that differ in a dimension, as the capacity of one; one number for all
        dimensions, or one for each.
    p : int
        T: terminals at each router. 0: the routers are the terminals themselves.

    Returns
    -------
    Network
        Spec ``hyperx:sides=AxB...``, with ``capacity=...`` and ``p=...`` where they are not 1 and 0. Without terminals
        it is a Cayley network; with capacity 1, too, the `generalized_hypercube` of these sides, with its factors.

    Raises
    ------
    NetworkError
        If there are no sides, a parameter is out of range, or the network is too large.

    Notes
    -----
    The distance of two routers is the number of coordinates in which they differ. O(L log L) time.

    References
    ----------
    Ahn, Binkert, Davis, McLaren and Schreiber 2009.

    Examples
    --------
    >>> hyperx((4, 8)).degree, hyperx((4, 8), capacity=(2, 1), p=3)
    (10, <Network hyperx:sides=4x8,capacity=2x1,p=3: 128 nodes, 512 links>)
    """
    _hyperx_size(sides, capacity, p)
    sides, p = tuple(map(int, sides)), int(p)
    widths = one_or_each("hyperx", capacity, len(sides), "side")
    told = widths[0] if len(set(widths)) == 1 else "x".join(map(str, widths))
    values = {"sides": "x".join(map(str, sides)), "capacity": told, "p": p}
    return _grid_of_routers(spec_parameters.canonical("hyperx", values, capacity=1, p=0), sides, widths, p)


def flattened_butterfly(k: int, n: int) -> Network:
    """Return the k-ary n-flat: k**(n-1) routers with k terminals each, a butterfly whose rows became routers.

    Parameters
    ----------
    k : int
        At least 2.
    n : int
        At least 2.

    Returns
    -------
    Network
        Spec ``flattened-butterfly:k,n``: ``k**n`` terminals. The routers stand in a grid of n-1 dimensions with k
        along each, all adjacent along each dimension.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    The same as `hyperx` with n-1 sides of k and ``p = k``. O(L log L) time.

    References
    ----------
    Kim, Dally and Abts 2007.

    Examples
    --------
    >>> flattened_butterfly(4, 3)
    <Network flattened-butterfly:4,3: 80 nodes, 224 links>
    """
    _flattened_size(k, n)
    k, n = int(k), int(n)
    return _grid_of_routers(f"flattened-butterfly:{k},{n}", (k,) * (n - 1), (1,) * (n - 1), k)


def _grid_of_routers(spec: str, sides: tuple[int, ...], widths: tuple[int, ...], p: int) -> Network:
    if not p and set(widths) == {1}:
        known = generalized_hypercube(*sides)
        return product(*(known.factors or (known,)), spec=spec)
    routers = math.prod(sides)
    router = np.arange(routers)[:, None]
    pieces, digits, stride = [], [], routers
    for side, width in zip(sides, widths, strict=True):
        stride //= side
        own = router // stride % side
        target = router + ((own + np.arange(1, side)) % side - own) * stride
        pieces.append((np.repeat(router.ravel(), side - 1), target.ravel(), width))
        digits.append(own)
    group = [] if p else [CayleyGroup(AbelianGroup(sides))]
    return router_network(spec, routers, pieces, p=p, places=np.concatenate(digits, axis=1), structures=group)


def _hyperx_size(sides: Sequence[int], capacity: Sequence[int] | int = 1, p: int = 0) -> Size:
    if not is_list(sides) or not sides:
        raise NetworkError("hyperx: sides must be a sequence of at least one whole number")
    numbers = [whole_number(s, "hyperx", "a side") for s in sides]
    one_or_each("hyperx", capacity, len(sides), "side")
    routers = math.prod(numbers)
    return router_size("hyperx", routers, routers * sum(s - 1 for s in numbers), p)


def _flattened_size(k: int, n: int) -> Size:
    k, n = (whole_number(x, "flattened-butterfly", name, low=2) for x, name in ((k, "k"), (n, "n")))
    routers = k ** min(n - 1, 64)
    return router_size("flattened-butterfly", routers, routers * (n - 1) * (k - 1), k)


HYPERX = Family(
    name="hyperx",
    function=hyperx,
    size=_hyperx_size,
    form=spec_parameters.named(
        {"sides": spec_parameters.side_numbers, "capacity": spec_parameters.side_numbers, "p": spec_parameters.integer},
        capacity=(1,),
        p=0,
    ),
    parameters="sides=AxB...,capacity=1|CxD...,p=0",
    summary="routers in a grid, all adjacent along each dimension; p terminals at each router (0: the routers)",
    example="hyperx:sides=4x8,capacity=2x1,p=4",
    source="Ahn, Binkert, Davis, McLaren and Schreiber 2009",
    small=("hyperx:sides=2x3,capacity=1x2",),
)
FLATTENED_BUTTERFLY = Family(
    name="flattened-butterfly",
    function=flattened_butterfly,
    size=_flattened_size,
    form=spec_parameters.numbers,
    parameters="k,n",
    summary="k-ary n-flat: k^(n-1) routers in n-1 dimensions, all adjacent along each, with k terminals each",
    example="flattened-butterfly:4,3",
    source="Kim, Dally and Abts 2007",
    small=("flattened-butterfly:2,2",),
)
