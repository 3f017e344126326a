"""What families of routers have in common: terminals of their own at each router, and links in any order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gossamer.networks.family import Size, checked_size, whole_number
from gossamer.networks.network import Network
from gossamer.networks.structures import Coordinates, Groups, IntArray, Structure, int_array

Ints = npt.NDArray[np.int64]

Links = Sequence[npt.ArrayLike]
"""Source, target and capacity, each int[M] or one number for all."""


def router_size(family: str, routers: int, links: int, p: object) -> Size:
    """Return the size of a network of so many routers and links between them, each router with p terminals or none."""
    own = whole_number(p, family, "p", low=0)
    return checked_size(family, routers * (1 + own), links + 2 * routers * own)


def both_ways(source: npt.ArrayLike, target: npt.ArrayLike, capacity: npt.ArrayLike = 1) -> tuple[Ints, Ints, Ints]:
    """Return the links of undirected edges, those in the given direction first."""
    u, v, c = np.broadcast_arrays(source, target, capacity)
    return np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([c, c])


def router_network(
    spec: str,
    routers: int,
    pieces: Sequence[Links],
    *,
    p: int = 0,
    places: Ints | IntArray | None = None,
    groups: Ints | None = None,
    structures: Sequence[Structure] = (),
    terminal_count: int | None = None,
    links_only: bool = False,
) -> Network:
    """Return the network of routers with p terminals each, or of routers that are the terminals themselves.

    * `routers`: their number R.
    * `pieces`: links between routers 0..R-1, in any order.
    * `p`: terminals at each router. With 0 router r is node r. Else the terminals of router r are the nodes
      ``r*p, ..., r*p + p-1``, and router r is the switch ``R*p + r``.
    * `places` (int[R, k]): coordinates of the routers; those of terminals have one number more, 1..p, which is 0 at a
      router.
    * `groups` (int[R]): which routers belong together; their terminals belong to them.
    * `structures`: what else is known, if ``p`` is 0.
    * `terminal_count`: how many of the routers are terminals, if ``p`` is 0. Default: all.
    * `links_only`: as in `Network`.

    The links of a router are those of the first piece, then those of the second, and so on; last those to its
    terminals. O(L log L) time.
    """
    first = routers * p
    columns = [np.broadcast_arrays(*piece) for piece in pieces]
    if p:
        terminal = np.arange(first)
        router = terminal // p + first
        columns = [(s + first, t + first, c) for s, t, c in columns]
        columns += [np.broadcast_arrays(terminal, router, 1), np.broadcast_arrays(router, terminal, 1)]
    source, target, capacity = (
        np.concatenate([np.zeros(0, np.int64), *(c[i] for c in columns)]).astype(np.int32) for i in range(3)
    )
    order = np.argsort(source, kind="stable")
    if p:
        own = np.arange(routers)[:, None] if places is None else places
        below = np.concatenate([np.repeat(own, p, axis=0), (np.arange(first) % p + 1)[:, None]], axis=1)
        above = np.concatenate([own, np.zeros((routers, 1), np.int64)], axis=1)
        places, structures = np.concatenate([below, above]), []
        groups = None if groups is None else np.concatenate([np.repeat(groups, p), groups])
    known: list[Structure] = [] if places is None else [Coordinates(int_array(places, "coordinates"))]
    known += [] if groups is None else [Groups(int_array(groups, "groups"))]
    return Network(
        spec,
        first + routers,
        source[order],
        target[order],
        capacity[order],
        terminal_count=first or terminal_count,
        structures=[*known, *structures],
        links_only=links_only,
    )
