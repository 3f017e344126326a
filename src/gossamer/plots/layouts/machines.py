"""Layouts of machines: terminals in a row, switches above them by their distance, servers and racks as boxes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds, Tiers
from gossamer.plots.layouts.layout import STRAIGHT, Box, Layout, Points

Ints = npt.NDArray[np.int64]

MOST_TERMINALS = 256
"""With more terminals than this a row of them is too long for a page."""
_GAP = 0.7
"""Between boxes, in units of the layout."""
_DIRECT, _FLAT = 0.25, 0.5
"""Shares of links: more of them between terminals, or between switches at one distance, and rows show nothing."""
_SWEEPS = 4


def by_distance_from_terminals(network: Network) -> Layout | None:
    """Place terminals below and switches above them, or around a circle where all switches are at one distance.

    A switch that joins the terminals of one server, which have other links as well, is a bar below them. Terminals
    that share the fastest of their switches stand in one box. Where most links join terminals, those that are joined
    stand around a circle in one box.

    Returns: None for networks without switches, with more than 256 terminals, or with many links between these that
    join all of them, or some of them in pairs.

    Switches of a row are sorted by the mean place of what they have below them (Sugiyama, Tagawa and Toda 1981), then
    moved apart as little as possible. O(L log L) time, and the eigenvectors of the switches on a circle.

    >>> import gossamer
    >>> layout = by_distance_from_terminals(gossamer.network("servers:s=2,g=2"))
    >>> layout.positions[:4].tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.7, 0.0], [3.7, 0.0]]
    >>> [box.name for box in layout.boxes]
    ['server 0', 'server 1']
    """
    terminals, count = network.terminal_count, network.node_count
    if not 0 < terminals < count or terminals > MOST_TERMINALS:
        return None
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    switched = (source >= terminals) | (target >= terminals)
    if not switched.all() and (~switched).sum() > _DIRECT * source.size:
        return _meshes_below_switches(network, np.flatnonzero(~switched))
    row = rows_above(network)
    between = (source >= terminals) & (target >= terminals)
    level = between & (row[source] == row[target])
    home = homes(network)
    if level.sum() > _FLAT * between.sum() and np.unique(source[level]).size > 3:
        return _around_a_circle(network, home)
    return _in_rows(network, row, home)


def _meshes_below_switches(network: Network, direct: Ints) -> Layout | None:
    """Place terminals that are joined with each other around circles, a box each, and switches in rows above."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    terminals = network.terminal_count
    ends = network.link_source[direct], network.link_target[direct]
    _, server = connected_components(coo_array((np.ones(direct.size), ends), (terminals, terminals)), directed=False)
    members = [np.flatnonzero(server == k) for k in range(int(server.max()) + 1)]
    row = rows_above(network)
    if len(members) < 2 or min(map(len, members)) < 3 or int(row.max()) < 1:
        return None
    positions, hangs = np.zeros((network.node_count, 2)), np.full(network.node_count, np.nan)
    reach, at = max(0.6 / np.sin(np.pi / len(mine)) for mine in members), 0.0
    for mine in members:
        angles = np.pi / 2 - 2 * np.pi * (np.arange(len(mine)) + 0.5) / len(mine)
        positions[mine] = reach * np.stack([np.cos(angles), np.sin(angles)], axis=1) + (at, 0.0)
        hangs[mine] = np.degrees(angles)
        at += 2 * reach + _BETWEEN_MESHES
    width = at - _BETWEEN_MESHES - 2 * reach
    for r in range(1, int(row.max()) + 1):
        switches = np.flatnonzero(row == r)
        gap = max(width / max(switches.size - 1, 1), 1.2)
        positions[switches, 0] = width / 2 + gap * (np.arange(switches.size) - (switches.size - 1) / 2)
        positions[switches, 1] = reach + 2.4 * r
    names = [network.node_name(int(mine[0])).strip("()").rpartition(".")[0] for mine in members]
    told = all(names) and len(set(names)) == len(names)
    boxes = tuple(Box(names[k] if told else f"server {k}", mine, True) for k, mine in enumerate(members))
    return replace(Layout.of(network, positions, STRAIGHT), boxes=boxes, hangs=hangs, upward=True)


_BETWEEN_MESHES = 3.2
"""From the nodes of a circle to those of the next."""


def homes(network: Network) -> Ints:
    """Return the switch that each terminal stands with, int64[T]; -1 where it has none.

    It is the fastest of its switches; of equally fast ones the first.

    >>> import gossamer
    >>> homes(gossamer.network("servers:s=2,g=2")).tolist()
    [4, 4, 5, 5]
    """
    terminals = network.terminal_count
    speeds = network.find(Speeds)
    rate = network.link_capacity / network.link_occupancy * (1.0 if speeds is None else speeds.bandwidth)
    source, target = network.link_source, network.link_target
    own = np.flatnonzero((source < terminals) & (target >= terminals))
    order = own[np.lexsort((target[own], -rate[own], source[own]))]
    home = np.full(terminals, -1, np.int64)
    node, first = np.unique(source[order], return_index=True)
    home[node] = target[order[first]]
    return home


def rows_above(network: Network) -> Ints:
    """Return the hops of each node from the nearest terminal, either way; those that are never reached come last."""
    terminals = network.terminal_count
    ends = np.stack([network.link_source, network.link_target]).astype(np.int64)
    found = np.where(np.arange(network.node_count) < terminals, 0, -1).astype(np.int64)
    for distance in range(1, network.node_count):
        near = np.concatenate([b[(found[a] == distance - 1) & (found[b] < 0)] for a, b in (ends, ends[::-1])])
        if not near.size:
            break
        found[near] = distance
    return np.where(found < 0, found.max() + 1, found)


def _inside(network: Network, home: Ints) -> npt.NDArray[np.bool_]:
    """Return which switches join the terminals of one box alone, while these have other switches too."""
    terminals, count = network.terminal_count, network.node_count
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    inside = np.zeros(count, bool)
    inside[np.unique(home[home >= 0])] = True
    inside[target[source >= terminals]] = False  # a switch of switches
    stranger = (source < terminals) & (target >= terminals)
    stranger &= home[np.minimum(source, terminals - 1)] != target
    inside[target[stranger]] = False  # it has guests from elsewhere
    onward = np.zeros(count, bool)
    mine = home[source[stranger]]
    onward[mine[mine >= 0]] = True
    return inside & onward


def _in_rows(network: Network, row: Ints, home: Ints) -> Layout:
    terminals, count = network.terminal_count, network.node_count
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    inside = _inside(network, home)
    row[inside] = -1
    members = _boxes(network, row, home, inside)
    place = np.zeros(count)
    at = 0.0
    for box in members:
        place[box] = at + np.arange(len(box))
        at += len(box) + _GAP
    width = max(at - _GAP, 1.0)
    rows = range(1, int(row.max()) + 1)
    for r in rows:
        mine = np.flatnonzero(row == r)
        pairs = (row[source] == r) & (row[target] >= 0) & (row[target] < r)
        wanted = _means(source[pairs], place[target[pairs]], count)[mine]
        wanted = np.where(np.isnan(wanted), (width - 1) / 2, wanted)
        place[mine] = _spaced(wanted, 0.92 * width / max(mine.size, 1))
    for v in np.flatnonzero(inside).tolist():
        place[v] = place[:terminals][home == v].mean()
    rise = float(np.clip(0.3 * width / max(len(rows), 1), 1.8, 40.0))
    positions = np.stack([place, np.where(row > 0, row * rise, 0.0)], axis=1)
    positions[inside, 1] = -1.25
    layout = Layout.of(network, positions, STRAIGHT)
    hangs = np.where(np.arange(count) < terminals, -90.0, np.nan)
    boxes = tuple(_box(network, box, home, inside) for box in members if len(members) > 1)
    anchored = _anchored(network, layout, inside)
    bars = tuple(np.flatnonzero(inside).tolist())
    return replace(anchored, boxes=tuple(b for b in boxes if b is not None), hangs=hangs, bars=bars, upward=True)


def _boxes(network: Network, row: Ints, home: Ints, inside: npt.NDArray[np.bool_]) -> list[Ints]:
    """Return the terminals of each box, boxes next to each other where they share switches above."""
    keys = np.where(home < 0, network.node_count + np.arange(home.size), home)
    key, first = np.unique(keys, return_index=True)
    order = key[np.argsort(first, kind="stable")]
    members = [np.flatnonzero(keys == k) for k in order.tolist()]
    box_of = np.empty(home.size, np.int64)
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    place = np.zeros(network.node_count)
    for _ in range(_SWEEPS if len(members) > 2 else 0):
        at = 0
        for i, box in enumerate(members):
            place[box] = at + np.arange(len(box))
            box_of[box] = i
            at += len(box)
        for r in range(1, int(row.max()) + 1):
            mine = row == r
            pairs = mine[source] & (row[target] >= 0) & (row[target] < r)
            mean = _means(source[pairs], place[target[pairs]], network.node_count)
            place[mine] = np.where(np.isnan(mean[mine]), place[mine], mean[mine])
        for r in range(int(row.max()) - 1, 0, -1):  # switches below the same ones come together
            mine = row == r
            pairs = mine[source] & (row[target] > r)
            mean = _means(source[pairs], place[target[pairs]], network.node_count)
            place[mine] = np.where(np.isnan(mean[mine]), place[mine], mean[mine])
        wanted = [float(place[home[box[0]]]) if home[box[0]] >= 0 and not inside[home[box[0]]] else float(i)
                  for i, box in enumerate(members)]  # fmt: skip
        new = sorted(range(len(members)), key=lambda i: (round(wanted[i], 6), i))
        if new == list(range(len(members))):
            break
        members = [members[i] for i in new]
    return members


def _means(group: Ints, value: Points, count: int) -> Points:
    """Return the mean value of each group, NaN where there is none."""
    total, many = np.bincount(group, value, minlength=count), np.bincount(group, minlength=count)
    return np.where(many > 0, total / np.maximum(many, 1), np.nan)


def _spaced(wanted: Points, gap: float) -> Points:
    """Return the places nearest to those wanted that are at least a gap apart, in the same order.

    Least squares under an order: the blocks of isotonic regression.
    """
    order = np.argsort(np.round(wanted, 6), kind="stable")
    shifted = wanted[order] - gap * np.arange(order.size)
    blocks: list[tuple[float, int]] = []
    for value in shifted.tolist():
        mean, size = value, 1
        while blocks and blocks[-1][0] > mean:
            other, many = blocks.pop()
            mean, size = (other * many + mean * size) / (many + size), many + size
        blocks.append((mean, size))
    found = np.empty(order.size)
    found[order] = np.repeat([m for m, _ in blocks], [n for _, n in blocks]) + gap * np.arange(order.size)
    return found


def _box(network: Network, box: Ints, home: Ints, inside: npt.NDArray[np.bool_]) -> Box | None:
    switch = int(home[box[0]])
    if switch < 0:
        return None
    tiers = network.find(Tiers)
    server = bool(inside[switch])
    name = network.node_name(switch).strip("()")
    if tiers is not None:
        ends = np.cumsum(tiers.sizes)
        tier = int(np.searchsorted(ends, switch, side="right"))
        number = switch - (int(ends[tier - 1]) if tier else 0)
        name = f"{'server' if server else 'rack'} {number}"
    elif server and not name.lower().startswith(("server", "node", "host")):
        name = f"server {name}"
    return Box(name, np.append(box, switch), server)


def _anchored(network: Network, layout: Layout, inside: npt.NDArray[np.bool_]) -> Layout:
    """Let the links of a bar end on it straight below their terminals."""
    if not inside.any():
        return layout
    start, end = layout.positions[network.link_source], layout.positions[network.link_target]
    direction = layout.direction.copy()
    down, up = inside[network.link_target], inside[network.link_source]
    end[down, 0], start[up, 0] = start[down, 0], end[up, 0]
    direction[down], direction[up] = (0.0, -1.0), (0.0, 1.0)
    return replace(layout, ends=(start, end), direction=direction)


def _around_a_circle(network: Network, home: Ints) -> Layout:
    """Place switches that are joined with each other on a circle, each with its terminals outside it."""
    terminals, count = network.terminal_count, network.node_count
    switches = count - terminals
    order = terminals + _circular_order(network)
    own = [np.flatnonzero(home == v) for v in order.tolist()]
    room = np.array([max(len(mine), 1) + (_GAP if len(mine) else 0.0) for mine in own])
    total = float(room.sum())
    reach = max(total / (2 * np.pi), 1.2 / (2 * np.sin(np.pi / max(switches, 2))) + 1.7)
    positions, hangs = np.zeros((count, 2)), np.full(count, np.nan)
    begin = np.cumsum(room) - room
    for v, mine, at, wide in zip(order.tolist(), own, begin.tolist(), room.tolist(), strict=True):
        angles = np.pi / 2 - 2 * np.pi * (at + wide / 2 + np.arange(len(mine)) - (len(mine) - 1) / 2) / total
        middle = np.pi / 2 - 2 * np.pi * (at + wide / 2) / total
        inner = reach - max(1.7, 0.12 * reach)
        positions[v] = inner * np.array([np.cos(middle), np.sin(middle)])
        positions[mine] = reach * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        hangs[mine] = np.degrees(angles)
    homeless = np.flatnonzero(home < 0)
    positions[homeless] = np.stack([np.arange(homeless.size), np.full(homeless.size, -reach - 1.5)], axis=1)
    return replace(Layout.of(network, positions, STRAIGHT), hangs=hangs)


def _circular_order(network: Network) -> Ints:
    """Return the switches in an order around a circle in which neighbors are near: by two eigenvectors."""
    terminals, size = network.terminal_count, network.node_count - network.terminal_count
    laplacian: Any = np.zeros((size, size))
    between = (network.link_source >= terminals) & (network.link_target >= terminals)
    a, b = network.link_source[between] - terminals, network.link_target[between] - terminals
    np.add.at(laplacian, (a, b), -1.0)
    laplacian = (laplacian + laplacian.T) / 2
    laplacian[np.arange(size), np.arange(size)] -= laplacian.sum(axis=1)
    _, vectors = np.linalg.eigh(laplacian + 1e-6 * np.diag(np.arange(size)))
    plane = vectors[:, 1:3] if size > 2 else np.zeros((size, 2))
    plane = plane * np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.argsort(np.round(np.arctan2(plane[:, 1], plane[:, 0]), 6), kind="stable").astype(np.int64)
