"""The picture of a network: its nodes and links, and the two sides of its bottleneck."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import bandwidth_text, quantity
from gossamer.errors import FileFormatError
from gossamer.networks.bottleneck import NarrowCut
from gossamer.networks.derived import Renumbered
from gossamer.networks.hierarchy import hierarchy
from gossamer.networks.network import Network
from gossamer.networks.structures import Speeds
from gossamer.plots.appearance import (
    CATEGORICAL,
    MUTED,
    PAPER,
    UNWRITTEN,
    Dress,
    caption,
    headline,
    look,
    measured,
    spec_text,
    write,
)
from gossamer.plots.layouts import STUB, lay_out
from gossamer.plots.layouts.layout import Lines, link_lines
from gossamer.plots.layouts.machines import homes
from gossamer.plots.node_names import fitted, paint_nodes
from gossamer.plots.panels import Figure
from gossamer.plots.picture_files import picture_format, write_picture

Floats = npt.NDArray[np.float64]

# Ports that links share as arcs on the rims of nodes: an arc spans the links of a node that go through one port.

_PAD, _GRAIN = 0.16, 0.1
"""Radians by which an arc is longer than its links lie apart, and between its points."""


class PortArcs(NamedTuple):
    """Arcs: the points of each, float64[k, 2], its port, and whether that serves several nodes."""

    points: list[Floats]
    port: list[int]
    common: list[bool]


def port_arcs(network: Network, positions: Floats, lines: Sequence[Lines], radius: float) -> PortArcs:
    """Return an arc for each node and port through which links of the node go, the nodes in order.

    * `network`: whose links are drawn; without shared ports there are no arcs.
    * `positions` (float64[N, 2]): middles of the nodes.
    * `lines`: the lines of all links.
    * `radius`: of the arcs.

    The shortest arc that spans the links. O(L log L).

    >>> import gossamer
    >>> from gossamer.plots.layouts import lay_out
    >>> from gossamer.plots.layouts.layout import link_lines
    >>> net = gossamer.network("array:3")
    >>> shared = net.with_ports(gossamer.networks.SharedPorts(net.link_source, net.link_target))
    >>> layout = lay_out(shared)
    >>> port_arcs(shared, layout.positions, link_lines(shared, layout, 0.25, 0.1), 0.3).port
    [0, 1, 2]
    """
    ports = network.shared_ports
    found = PortArcs([], [], [])
    if ports is None or not lines:
        return found
    link = np.concatenate([group.link for group in lines])
    rows = []
    for side, node, point in ((ports.sending, network.link_source, 0), (ports.receiving, network.link_target, -1)):
        ends = np.concatenate([group.points[:, point] for group in lines]) - positions[node[link]]
        through = side[link] >= 0
        angle = np.arctan2(ends[:, 1], ends[:, 0])
        rows.append((node[link][through], side[link][through], angle[through]))
    node, port, angle = (np.concatenate([row[i] for row in rows]) for i in range(3))
    pairs, group = np.unique(node.astype(np.int64) * ports.count + port, return_inverse=True)
    served = np.bincount(pairs % ports.count, minlength=ports.count)
    for i, pair in enumerate(pairs.tolist()):
        first, last = _span(angle[group == i])
        turn = np.linspace(first, last, max(2, int((last - first) / _GRAIN)))
        middle = positions[pair // ports.count]
        found.points.append(middle + radius * np.column_stack([np.cos(turn), np.sin(turn)]))
        found.port.append(pair % ports.count)
        found.common.append(bool(served[pair % ports.count] > 1))
    return found


def _span(angle: Floats) -> tuple[float, float]:
    """Return where the shortest arc over some angles begins and ends, a little longer than they lie apart."""
    turns = np.sort(angle)
    gaps = np.diff(np.append(turns, turns[0] + 2 * np.pi))
    k = int(np.argmax(gaps))
    first = float(turns[(k + 1) % turns.size])
    return first - _PAD, first + 2 * np.pi - float(gaps[k]) + _PAD


class Marked(NamedTuple):
    """What is marked in a picture of a network: nodes and links, with what they are in words."""

    nodes: npt.NDArray[np.int64]
    links: npt.NDArray[np.int64]
    words: str


NODE_LIMIT = 5_000
_MOST_SPEEDS = 6
"""Of more speeds the key has the least and the largest."""
_RADIUS, _INK = 0.27, 0.12
_RIM, _RIM_WIDTH = 0.33, 0.06
"""Radius and width of the arcs of shared ports."""
_UNIT = 0.62
_PAGE = 9.0


def draw_network(network: Network, path: str | os.PathLike[str], cut: NarrowCut | None = None) -> None:
    """Write a picture of a network to a file, which appears whole or not at all.

    * `network`: at most 5,000 nodes, or a hierarchy of any size, which is drawn tier by tier.
    * `path`: ``.svg``, ``.png`` or ``.pdf``.
    * `cut`: a cut whose links are colored.

    Raises `FileFormatError` if the suffix names no format, the file cannot be written, or the network is too large to
    be seen.
    """
    picture_format(path)
    tiers = hierarchy(network) if network.node_count > NODE_LIMIT else None
    if tiers is not None:
        from gossamer.plots.tiers import tiers_figure

        write_picture(lambda: tiers_figure(tiers), path, network.spec)
        return
    if network.node_count > NODE_LIMIT:
        raise FileFormatError(
            f"a network of {network.node_count:,} nodes is not drawn; at most {NODE_LIMIT:,} are seen"
        )
    write_picture(lambda: network_figure(network, cut), path, network.spec)


def network_figure(
    network: Network, cut: NarrowCut | None = None, marked: Marked | None = None, **dressing: Unpack[Dress]
) -> Figure:
    """Return the picture: terminals round, switches square; links wider the more they carry, those of a cut colored.

    Ports that links share are arcs on the rims of nodes, violet; a port that serves several nodes has a color of its
    own.

    * `cut`: a cut whose links are colored.
    * `marked`: links that are colored instead, and nodes that have a ring round them.
    * `**dressing`: as for all figures. With `ax`: draw the network there.

    Returns: a figure of its own, unknown to pyplot, or that of `ax`. Raises `FileFormatError` if style or width are
    none.

    >>> import gossamer
    >>> figure = network_figure(gossamer.network("torus:4x4"), style="paper")
    >>> [text.get_text() for text in figure.axes[0].texts][:3]
    ['0,0', '0,1', '0,2']
    """
    dress = look(**dressing)
    whole, network = network, network if cut is not None or marked is not None else sampled(network)
    shown, place = _shown(network)
    found = lay_out(shown)
    lines = link_lines(shown, found, _RADIUS, 0.07)
    layout = found if shown is network else replace(found, positions=found.positions[place])
    stubs = bool((layout.shape == STUB).any())
    if (axes := dress.ax) is not None:
        box = axes.get_window_extent()
        room = (box.width / axes.figure.dpi * 72, box.height / axes.figure.dpi * 72)
        page = fitted(network, layout, lines, _RADIUS, room, 1e6)
        figure: Figure = axes.figure
    else:
        most = (_PAGE, _UNIT) if dress.width is None else (dress.width - 0.2, 2 * _UNIT)
        page = fitted(network, layout, lines, _RADIUS, (most[0] * 72, _PAGE * 72), most[1] * 72)
        size = (page.high - page.low) * page.unit / 72
        width = dress.width or max(float(size[0]) + 0.2, 3.2)
        key = _speeds(shown, width)
        told = "" if marked is None else f" Orange: {marked.words}."
        words = " ".join([_words(whole, cut, stubs, network) + told, *page.names.notes])
        top = headline(UNWRITTEN, dress.title, "", width, 1.0, dress) if dress.title else 0.1
        foot = caption(UNWRITTEN, words, width, 1.0, dress) + 0.06 + _KEY * len(key)
        height = max(float(size[1]), 0.3) + top + foot + 0.1
        figure = Figure((width, height), facecolor=PAPER)
        if dress.title:
            headline(figure, dress.title, "", width, height, dress)
        caption(figure, words, width, height, dress)
        _write_speeds(figure, key, width, height, foot)
        axes = figure.add_axes((0.0, foot / height, 1.0, 1 - (top + foot) / height))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set(xlim=(page.low[0], page.high[0]), ylim=(page.low[1], page.high[1]))
    _paint_links(axes, shown, lines, page.unit, _colored(network, shown, place, cut, marked))
    _paint_ports(axes, shown, found.positions, lines, page.unit)
    paint_nodes(axes, network, layout, page, _RADIUS)
    if marked is not None:
        _paint_rings(axes, layout.positions[marked.nodes])
    return figure


_KEY, _SAMPLE = 0.2, 0.3
"""Inches of a row of the key of speeds, and of the line that shows one."""


def _speeds(network: Network, width: float) -> list[list[tuple[float, float, str]]]:
    """Return the key of speeds, row by row: inches from the left, width of the line in points, and the words."""
    speeds = network.find(Speeds)
    rate = network.link_capacity * (1.0 if speeds is None else speeds.bandwidth)
    values, first = np.unique(rate, return_index=True)
    if values.size < 2:
        return []
    if values.size > _MOST_SPEEDS:
        values, first = values[[0, -1]], first[[0, -1]]
    wide = _widths(network)
    rows: list[list[tuple[float, float, str]]] = [[]]
    at = 0.2
    for value, link in zip(values.tolist(), first.tolist(), strict=True):
        text = f"capacity {value:,.0f}" if speeds is None else bandwidth_text(value)
        length = _SAMPLE + 0.08 + measured(text, 7.5)[0] / 72 + 0.25
        if rows[-1] and at + length > width:
            rows.append([])
            at = 0.2
        rows[-1].append((at, float(wide[link]), text))
        at += length
    return rows


def _write_speeds(
    figure: Figure, rows: list[list[tuple[float, float, str]]], width: float, height: float, foot: float
) -> None:
    from matplotlib.lines import Line2D

    for r, row in enumerate(rows):
        y = (foot - _KEY * (r + 0.6)) / height
        for x, wide, text in row:
            figure.add_artist(Line2D([x / width, (x + _SAMPLE) / width], [y, y], color=MUTED, linewidth=wide))
            write(figure, (x + _SAMPLE + 0.08) / width, y, text, 7.5, color=MUTED, va="center")


def _colored(
    network: Network, shown: Network, place: npt.NDArray[np.int64], cut: NarrowCut | None, marked: Marked | None
) -> npt.NDArray[np.bool_]:
    """Return which links of the network that is shown are colored: those of a cut, both ways, or those marked."""
    if marked is not None:
        n = shown.node_count
        mine = place[network.link_source[marked.links]] * n + place[network.link_target[marked.links]]
        return np.isin(shown.link_source.astype(np.int64) * n + shown.link_target, mine)
    side = np.zeros(shown.node_count, bool)
    if cut is not None:
        side[place[cut.nodes]] = True
    return np.asarray(side[shown.link_source] != side[shown.link_target], np.bool_)


def _paint_rings(axes: Any, positions: Floats) -> None:
    """Paint rings round nodes."""
    from matplotlib.collections import EllipseCollection

    side = np.full(len(positions), 2.6 * _RADIUS)
    axes.add_collection(
        EllipseCollection(
            side, side, np.zeros(side.size), units="xy", offsets=positions, transOffset=axes.transData,
            facecolors="none", edgecolors=CATEGORICAL[1], linewidths=1.3, zorder=3,
        )
    )  # fmt: skip


def _paint_links(axes: Any, shown: Network, lines: list[Lines], unit: float, colored: npt.NDArray[np.bool_]) -> None:
    """Paint all links, `unit` points to one of the layout, some colored."""
    from matplotlib.collections import LineCollection

    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    wide = _thinned(_widths(shown), lines, unit, (right - left) * (high - low) * unit**2)
    for group in lines:
        for of, color, least, zorder in ((~colored, MUTED, 0.0, 1), (colored, CATEGORICAL[1], 0.8, 1.5)):
            mine = of[group.link]
            widths = np.maximum(wide[group.link[mine]], least)
            axes.add_collection(
                LineCollection(list(group.points[mine]), linewidths=widths, colors=color, zorder=zorder)
            )


def _shown(network: Network) -> tuple[Network, npt.NDArray[np.int64]]:
    """Return the network that is laid out, and where its nodes are in it: what it was recognized as, if anything."""
    known = network.find(Renumbered)
    if known is None or network.terminal_count < network.node_count or known.original.link_count != network.link_count:
        return network, np.arange(network.node_count)
    return known.original, known.place.astype(np.int64)


def _widths(network: Network) -> Floats:
    speeds = network.find(Speeds)
    rate = network.link_capacity * (1.0 if speeds is None else speeds.bandwidth)
    if not rate.size:
        return np.zeros(0)
    return np.asarray(0.5 + 1.3 * np.sqrt(rate / rate.max()) * (rate.max() > rate.min()) + 0.3, np.float64)


def _thinned(wide: Floats, lines: list[Lines], unit: float, area: float) -> Floats:
    """Return widths in points that leave most of an area in square points white, `unit` points to one of the layout."""
    ink = sum(
        float((np.hypot(*np.moveaxis(np.diff(g.points, axis=1), 2, 0)).sum(axis=1) * unit * wide[g.link]).sum())
        for g in lines
    )
    return wide * min(1.0, _INK * area / max(ink, 1e-9))


def sampled(network: Network) -> Network:
    """Return a network of a few of the servers or racks of a large one, with the first switches above them.

    Large are more than 400 nodes; groups are the terminals of one switch. Other networks are returned as they are.

    >>> import gossamer
    >>> large = gossamer.network("leaf-spine:leaves=32,spines=16,hosts=32")
    >>> large.node_count, sampled(large).node_count
    (1072, 35)
    """
    if network.node_count <= _MANY or network.terminal_count == network.node_count:
        return network
    home, terminals = homes(network), network.terminal_count
    groups = np.unique(home)
    if home.min() < 0 or groups.size <= 2 * _GROUPS:
        return network
    kept = groups[:_GROUPS]
    near = np.concatenate([np.flatnonzero(home == switch)[:_MEMBERS] for switch in kept])
    source, target = network.link_source.astype(np.int64), network.link_target.astype(np.int64)
    below, found = np.concatenate([near, kept]), [near, kept]
    while below.size:  # the switches above, row by row
        above = np.setdiff1d(target[np.isin(source, below)], np.concatenate([*found, groups, np.arange(terminals)]))
        below = above[:_ABOVE]
        found.append(below)
    left = np.setdiff1d(np.arange(network.node_count), np.concatenate(found))
    return network.without(nodes=left.tolist())


_MANY, _GROUPS, _MEMBERS, _ABOVE = 400, 3, 8, 8
"""Nodes from which on a part is drawn; its servers or racks, the terminals of each, and switches of a row above."""


def _words(network: Network, cut: NarrowCut | None, stubs: bool, drawn: Network) -> str:
    text = f"{spec_text(network)}: {quantity(network.terminal_count, 'terminal')}"
    if network.terminal_count < network.node_count:
        text += f" (round) and {quantity(network.node_count - network.terminal_count, 'switch')} (square)"
    speeds = network.find(Speeds)
    if speeds is not None and speeds.bandwidth.size and np.ptp(speeds.bandwidth * network.link_capacity) == 0:
        text += f"; every link {bandwidth_text(float(speeds.bandwidth[0]) * int(network.link_capacity[0]))} each way"
    if drawn is not network:
        text += (
            f". Drawn are {drawn.terminal_count:,} terminals and {drawn.node_count - drawn.terminal_count:,} switches"
        )
        network = drawn
    if cut is not None:
        text += f". Orange: the narrowest cut found, {cut.links:,} links each way" * network.two_way
    if network.shared_ports is not None:
        common = _common(network)
        share = "links under arcs of one color share one" if common else "the links under an arc share one"
        own = (
            f", those under a {_ALONE_NAME} arc have one of their own"
            if 0 < common < network.shared_ports.count
            else ""
        )
        text += f". Arcs: {quantity(network.shared_ports.count, 'port')}; {share}{own}"
    return text + (". A link that is not drawn through is seen at both its ends." if stubs else ".")


_ALONE, _ALONE_NAME = CATEGORICAL[2], "violet"
_COMMON = (CATEGORICAL[0], *CATEGORICAL[3:])


def _common(network: Network) -> int:
    """Return how many shared ports serve several nodes."""
    ports = network.shared_ports
    if ports is None:
        return 0
    sides = ((ports.sending, network.link_source), (ports.receiving, network.link_target))
    port, node = (np.concatenate([row[i] for row in sides]).astype(np.int64) for i in range(2))
    pairs = np.unique(port[port >= 0] * network.node_count + node[port >= 0])
    return int((np.bincount(pairs // network.node_count) > 1).sum())


def _paint_ports(axes: Any, network: Network, positions: Floats, lines: list[Lines], unit: float) -> None:
    from matplotlib.collections import LineCollection

    arcs = port_arcs(network, positions, lines, _RIM)
    if not arcs.points:
        return
    number = {port: i for i, port in enumerate(sorted({p for p, c in zip(arcs.port, arcs.common, strict=True) if c}))}
    colors = [_COMMON[number[port] % len(_COMMON)] if port in number else _ALONE for port in arcs.port]
    axes.add_collection(
        LineCollection(arcs.points, linewidths=max(_RIM_WIDTH * unit, 0.6), colors=colors, zorder=1.8, capstyle="butt")
    )
