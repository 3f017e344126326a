"""Servers of several GPUs: a switch inside each, rails between them; DGX-1 and DGX A100."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks import spec_parameters
from gossamer.networks.family import MAX_CAPACITY, Family, Size, checked_size, whole_number
from gossamer.networks.machines import BOXES
from gossamer.networks.network import Network
from gossamer.networks.router_networks import both_ways, router_network
from gossamer.networks.structures import RatedLinks, Structure, Tiers
from gossamer.reading import choice

FAMILY = "servers"


def servers(
    servers: int, gpus: int, rails: int | None = None, inside: int = 1, outside: int = 1, spines: int = 0
) -> Network:
    """Return servers of several GPUs: a switch inside each joins its GPUs, and rails join the servers.

    Parameters
    ----------
    servers : int
        s, at least 1.
    gpus : int
        g, GPUs in each server, at least 1: the terminals.
    rails : int, optional
        r, 0..g: switches outside; GPU i of every server has a link to rail ``i mod r``. Default: g, a rail for each
        GPU. With 0 there is nothing outside, which only a single server can do without.
    inside : int
        Capacity of the link between a GPU and the switch of its server.
    outside : int
        Capacity of the link between a GPU and its rail.
    spines : int
        Further switches, each with a link to every rail, of the capacity ``ceil(s*g*outside / (r*spines))`` that
        makes rails and spines a folded Clos network of full bisection. 0: the rails are not joined.

    Returns
    -------
    Network
        Spec ``servers:s=S,g=G,rails=R,...`` with what is not at its default. The GPUs are nodes 0..s*g-1, server by
        server; then come the switches of the servers, the rails and the spines. Coordinates are (tier, place).

    Raises
    ------
    NetworkError
        If a parameter is out of range, the servers are not joined, or the network is too large.

    Notes
    -----
    A message to a GPU of the same rail of another server takes two hops; to another one, without spines, four: through
    the own server or the other. O(L log L) time.

    References
    ----------
    Wang, Ghobadi, Shakeri, Zhang and Hasani 2023.

    Examples
    --------
    >>> servers(32, 8, inside=9)
    <Network servers:s=32,g=8,inside=9: 296 nodes, 1024 links>
    """
    size = _servers_size(servers, gpus, rails, inside, outside, spines)
    s, g = int(servers), int(gpus)
    values = {"s": s, "g": g, "rails": g if rails is None else int(rails), "inside": int(inside)}
    values |= {"outside": int(outside), "spines": int(spines)}
    spec = spec_parameters.canonical(FAMILY, values, rails=g, inside=1, outside=1, spines=0)
    return _servers(spec, size, values)


def _servers(spec: str, size: Size, given: dict[str, int], *more: Structure) -> Network:
    s, g, r, spines = given["s"], given["g"], given["rails"], given["spines"]
    gpu = np.arange(s * g)
    switch = s * g + gpu // g
    rail = s * g + s + gpu % g % max(r, 1)
    pieces = [both_ways(gpu, switch, given["inside"])]
    if r:
        pieces.append(both_ways(gpu, rail, given["outside"]))
    if spines:
        low, high = np.divmod(np.arange(r * spines), spines)
        pieces.append(both_ways(s * g + s + low, s * g + s + r + high, _uplink(given)))
    sizes = {"GPUs": (s * g, 1), "server switches": (s, 0), "rails": (r, 2), "spines": (spines, 3)}
    present = {name: told for name, told in sizes.items() if told[0]}
    tiers = Tiers(tuple(present), tuple(n for n, _ in present.values()), tuple(row for _, row in present.values()))
    return router_network(spec, size.nodes, pieces, structures=[tiers, tiers.coordinates, *more], terminal_count=s * g)


def dgx_a100(servers: int, rails: int = 8, spines: int = 0) -> Network:
    """Return servers like the DGX A100: 8 GPUs, a switch inside of 12 times the speed of the link outside.

    Parameters
    ----------
    servers : int
        At least 1.
    rails : int
        Switches outside, 1..8; 0 for a single server on its own.
    spines : int
        As for `servers`.

    Returns
    -------
    Network
        Spec ``dgx-a100:servers=S``, with ``rails=...`` and ``spines=...`` where they are not 8 and 0: that of
        `servers` with 8 GPUs, ``inside=12`` and ``outside=1``. Capacity 1 is 25 GB/s each way: an NVLink of the third
        generation, of which a GPU has 12, or an InfiniBand port of 200 Gbit/s, of which there is one for each GPU. Who
        asks for seconds gets them at this speed, and others with a bandwidth of one's own, of which a link inside then
        has 12 times as much. ``dgx-a100:S`` without ``servers=`` is the machine with speeds and latencies of its own,
        which are options.

    Raises
    ------
    NetworkError
        If a parameter is out of range.

    References
    ----------
    Choquette, Gandhi, Giroux, Stam and Krashinsky 2021.

    Examples
    --------
    >>> dgx_a100(2, rails=1)
    <Network dgx-a100:servers=2,rails=1: 19 nodes, 64 links>
    """
    size = _dgx_a100_size(servers, rails, spines)
    values = {"servers": int(servers), "rails": int(rails), "spines": int(spines)}
    spec = spec_parameters.canonical("dgx-a100", values, rails=8, spines=0)
    given = {"s": int(servers), "g": 8, "rails": int(rails), "inside": 12, "outside": 1, "spines": int(spines)}
    return _servers(spec, size, given, RatedLinks(25_000_000_000))


def dgx_1(gpu: str) -> Network:
    """Return the 8 GPUs of a DGX-1, joined by NVLinks as two squares with diagonals and four edges between them.

    Parameters
    ----------
    gpu : {'p100', 'v100'}
        With P100 every GPU has 4 NVLinks, all to different GPUs. With V100 it has 6, of which two pairs go to one
        GPU each, as links of capacity 2.

    Returns
    -------
    Network
        Spec ``dgx-1:v100`` or ``dgx-1:p100``. GPUs 0..3 and 4..7 are the squares. Capacity 1 is 20 GB/s (P100) or 25
        GB/s (V100) each way, which is taken where seconds are asked for without a bandwidth.

    Raises
    ------
    NetworkError
        If there is no such machine.

    References
    ----------
    Li et al. 2020.

    Examples
    --------
    >>> dgx_1("v100").link_capacity[:4].tolist(), dgx_1("v100").diameter
    ([1, 1, 2, 2], 2)
    """
    _dgx_1_size(gpu)
    pairs = list(_DGX_1)
    width = [_DGX_1[pair] if gpu == "v100" else 1 for pair in pairs]
    low, high = np.array(pairs).T
    source, target, capacity = both_ways(low, high, width)
    order = np.lexsort((target, source))
    rated = RatedLinks(25_000_000_000 if gpu == "v100" else 20_000_000_000, usual=True)
    return router_network(f"dgx-1:{gpu}", 8, [(source[order], target[order], capacity[order])], structures=[rated])


_DGX_1 = {
    (0, 1): 1, (0, 2): 1, (0, 3): 2, (1, 2): 2, (1, 3): 1, (2, 3): 2,
    (4, 5): 1, (4, 6): 1, (4, 7): 2, (5, 6): 2, (5, 7): 1, (6, 7): 2,
    (0, 4): 2, (1, 5): 2, (2, 6): 1, (3, 7): 1,
}  # fmt: skip
"""NVLinks between the GPUs of a DGX-1 with V100."""


def _uplink(given: dict[str, int]) -> int:
    """Return the capacity of a link between rail and spine."""
    return -(-given["s"] * given["g"] * given["outside"] // (given["rails"] * given["spines"]))


def _servers_size(
    servers: int, gpus: int, rails: int | None = None, inside: int = 1, outside: int = 1, spines: int = 0,
    family: str = FAMILY,
) -> Size:  # fmt: skip
    s, g = whole_number(servers, family, "s"), whole_number(gpus, family, "g")
    r = g if rails is None else whole_number(rails, family, "rails", 0, g)
    for name, value in (("inside", inside), ("outside", outside)):
        whole_number(value, family, name, 1, MAX_CAPACITY)
    top = whole_number(spines, family, "spines", 0)
    if not r and (s > 1 or top):
        raise NetworkError(f"{family}: without rails nothing joins {s} servers{' and the spines' if top else ''}")
    size = checked_size(family, s * g + s + r + top, 2 * (s * g * (2 if r else 1) + r * top))
    if top:
        given = {"s": s, "g": g, "rails": r, "outside": int(outside), "spines": top}
        whole_number(_uplink(given), family, "the capacity of a link to a spine", 1, MAX_CAPACITY)
    return size


def _dgx_a100_size(servers: int, rails: int = 8, spines: int = 0) -> Size:
    return _servers_size(servers, 8, rails, spines=spines, family="dgx-a100")


def _dgx_1_size(gpu: str) -> Size:
    choice(gpu, "dgx-1: gpu", ("p100", "v100"), error=NetworkError)
    return Size(8, 32)


SERVERS = Family(
    name=FAMILY,
    function=servers,
    size=_servers_size,
    form=spec_parameters.named(
        dict.fromkeys(("s", "g", "rails", "inside", "outside", "spines"), spec_parameters.integer),
        rails=None, inside=1, outside=1, spines=0,
    ),
    parameters="s=S,g=G,rails=g,inside=1,outside=1,spines=0",
    summary="s servers of g GPUs: a switch inside each, rails that join GPU i of all, spines that join the rails",
    example="servers:s=4,g=8,inside=9",
    source="Wang, Ghobadi, Shakeri, Zhang and Hasani 2023",
    small=("servers:s=2,g=2,inside=2",),
)  # fmt: skip
DGX_1 = Family(
    name="dgx-1",
    function=dgx_1,
    size=_dgx_1_size,
    form=spec_parameters.named({"gpu": spec_parameters.word}),
    parameters="p100|v100",
    summary="8 GPUs joined by NVLinks; with V100 some links have capacity 2",
    example="dgx-1:v100",
    source="Li et al. 2020",
    small=("dgx-1:v100",),
    machine=True,
)
_RELATIVE = spec_parameters.named(
    dict.fromkeys(("servers", "rails", "spines"), spec_parameters.integer), rails=8, spines=0
)


def _a100_form(family: Family, text: str) -> list[object]:
    """Read ``servers=S,...``, of relative speeds, or the figures of a machine."""
    relative = re.search(r"(?i)(?:^|,)\s*servers\s*=", text)
    return _RELATIVE(family, text) if relative else BOXES[0].form(family, text)


def _a100(*given: int | Mapping[str, object]) -> Network:
    known = given[0]
    return BOXES[0].function(known) if isinstance(known, Mapping) else dgx_a100(*given)  # type: ignore[arg-type]


def _a100_size(*given: int | Mapping[str, object]) -> Size:
    known = given[0]
    return BOXES[0].size(known) if isinstance(known, Mapping) else _dgx_a100_size(*given)  # type: ignore[arg-type]


DGX_A100 = replace(
    BOXES[0],
    function=_a100,
    size=_a100_size,
    form=_a100_form,
    parameters=f"{BOXES[0].parameters}|servers=S,rails=8,spines=0",
    summary=f"{BOXES[0].summary}; with servers=S in relative speeds: links inside of capacity 12, those outside of 1",
    small=("dgx-a100:servers=1,rails=0",),
)
