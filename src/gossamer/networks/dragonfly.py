"""Dragonflies: groups of routers that are all adjacent, and links between the groups."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import Family, Size, checked_size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.router_networks import router_network, router_size
from gossamer.reading import choice

Numbers = npt.NDArray[np.int64]

MOST_PORTS = 20_000_000
"""How many ports to other groups there may be where their links are counted one by one."""
ARRANGEMENTS = ("absolute", "relative", "circulant")


def dragonfly(a: int, h: int, g: int | None = None, p: int = 0, arrangement: str = "absolute") -> Network:
    """Return the dragonfly of g groups of a routers, each router with h links to other groups and p terminals.

    Parameters
    ----------
    a : int
        Routers in a group, at least 1; they are all adjacent.
    h : int
        Ports of a router for links to other groups, at least 1.
    g : int, optional
        Groups, ``1..a*h+1``. Default: ``a*h+1``, so that any two groups are joined by one link.
    p : int
        Terminals at each router. 0: the routers are the terminals themselves.
    arrangement : {'absolute', 'relative', 'circulant'}
        Which port leads to which group. The ports of a group are numbered, h to a router; port k of group i leads to

        * absolute: the k-th of the other groups by number, ``k`` below i and ``k+1`` from there on;
        * relative: group ``i+k+1`` modulo g;
        * circulant: groups ``i+1, i-1, i+2, i-2, ...`` modulo g.

    Returns
    -------
    Network
        Spec ``dragonfly:a=A,h=H,...``, with what is not at its default. Router r of group i has the coordinates (i,
        r); with terminals they are (i, r, 0), those of the terminals (i, r, 1..p). The links of a router go to its
        group, to other groups in the order of its ports, and to its terminals.

    Raises
    ------
    NetworkError
        If a parameter is out of range, or the network is too large.

    Notes
    -----
    With fewer than ``a*h+1`` groups the ports are used in rounds of g-1, each of which joins all groups. If ports are
    left after the last whole round, they join each group with those nearest to it on a ring of the groups, as many
    before it as after it; if their number is odd, one joins it with the group opposite where g is even, and one port of
    every group stays free where g is odd. Links between the same two routers are one of greater capacity.

    Diameter 3 at the most between routers with ``g = a*h+1``. O(L log L) time.

    References
    ----------
    Kim, Dally, Scott and Abts 2008; the arrangements: Camarero, Vallejo and Beivide 2014; Hastings et al. 2015.

    Examples
    --------
    >>> dragonfly(4, 2)
    <Network dragonfly:a=4,h=2: 36 nodes, 180 links>
    >>> dragonfly(4, 2, p=2).terminal_count
    72
    """
    _dragonfly_size(a, h, g, p, arrangement)
    a, h, p = int(a), int(h), int(p)
    groups = a * h + 1 if g is None else int(g)
    router = np.arange(groups * a)
    table = router[:, None] // a * a + np.arange(a)
    near = table != router[:, None]
    inside = np.broadcast_to(router[:, None], table.shape)[near], table[near], 1
    defaults = {"g": a * h + 1, "p": 0, "arrangement": "absolute"}
    return router_network(
        spec_parameters.canonical(
            "dragonfly", {"a": a, "h": h, "g": groups, "p": p, "arrangement": arrangement}, **defaults
        ),
        groups * a,
        [inside, _between(a, h, groups, arrangement)],
        p=p,
        places=np.stack([router // a, router % a], axis=1),
        groups=router // a,
    )


def _between(a: int, h: int, g: int, arrangement: str) -> tuple[Numbers, Numbers, Numbers]:
    """Return source, target and capacity of the links between groups, in the order of routers and ports."""
    source, target = [], []
    first = 0
    for times, offsets in _rounds(a * h, g):
        # the other group of each port of a round, int64[g, m]; each pair of groups occurs once in each direction
        group = np.arange(g)[:, None]
        other = (group + offsets[arrangement == "relative"]) % g
        if arrangement == "absolute":
            other = np.sort(other, axis=1)
        key, back = (group * g + other).ravel(), (other * g + group).ravel()
        order = np.argsort(key)
        port = np.tile(np.arange(other.shape[1]), g)
        opposite = port[order[np.searchsorted(key, back, sorter=order)]]
        start = first + np.arange(times)[:, None] * (g - 1)  # the first port of each of the equal rounds
        source.append((group.repeat(other.shape[1]) * a + (start + port) // h).ravel())
        target.append((other.ravel() * a + (start + opposite) // h).ravel())
        first += times * (g - 1)
    ends = np.concatenate(source) * (g * a) + np.concatenate(target)
    pairs, place, count = np.unique(ends, return_index=True, return_counts=True)
    order = np.argsort(place)
    return pairs[order] // (g * a), pairs[order] % (g * a), count[order]


def _rounds(ports: int, g: int) -> list[tuple[int, tuple[Numbers, Numbers]]]:
    """Return how many rounds of ports join groups at which offsets, these as +1, -1, +2, ... and in ascending order."""
    if g < 2:
        return [(1, (np.zeros(0, np.int64), np.zeros(0, np.int64)))]
    ring = np.array([o for d in range(1, g // 2 + 1) for o in dict.fromkeys((d, g - d))], np.int64)
    whole, rest = divmod(ports, g - 1)
    if rest % 2:
        half = [g // 2] if g % 2 == 0 else []
        last = np.concatenate([ring[: rest - 1], np.array(half, np.int64)])
    else:
        last = ring[:rest]
    rounds = [(whole, (ring, np.sort(ring)))]
    return [*rounds, (1, (last, np.sort(last)))] if last.size else rounds


def _dragonfly_size(a: int, h: int, g: int | None = None, p: int = 0, arrangement: str = "absolute") -> Size:
    a, h = whole_number(a, "dragonfly", "a"), whole_number(h, "dragonfly", "h")
    groups = a * h + 1 if g is None else whole_number(g, "dragonfly", "g")
    choice(arrangement, "dragonfly: arrangement", ARRANGEMENTS, error=NetworkError)
    if groups > a * h + 1:
        raise NetworkError(f"dragonfly: g must be at most a*h+1 = {a * h + 1}, got {groups}")
    whole, rest = divmod(a * h, max(groups - 1, 1))
    used = whole * (groups - 1) + rest - (rest % 2 and groups % 2)
    routers = groups * a
    inside = routers * (a - 1)
    size = router_size("dragonfly", routers, inside + routers * h, p)
    links = groups * used
    if h > 1 and groups <= a * h:  # only in two rounds can two links join the same two routers
        if routers * h > MOST_PORTS:
            raise NetworkError(
                f"dragonfly: with fewer than a*h+1 = {a * h + 1} groups at most {MOST_PORTS} ports to other groups are "
                f"allowed, got {routers * h}"
            )
        links = len(_between(a, h, groups, arrangement)[0])
    return checked_size("dragonfly", size.nodes, size.links - routers * h + links)


DRAGONFLY = Family(
    name="dragonfly",
    function=dragonfly,
    size=_dragonfly_size,
    form=spec_parameters.named(
        dict.fromkeys(("a", "h", "g", "p"), spec_parameters.integer) | {"arrangement": spec_parameters.word},
        g=None,
        p=0,
        arrangement="absolute",
    ),
    parameters="a=A,h=H,g=a*h+1,p=0,arrangement=absolute|relative|circulant",
    summary="g groups of a routers, h links of each to other groups, p terminals at each (0: the routers themselves)",
    example="dragonfly:a=4,h=2,p=2",
    source="Kim, Dally, Scott and Abts 2008",
    small=("dragonfly:a=2,h=1", "dragonfly:a=2,h=1,g=2,p=1"),
)
