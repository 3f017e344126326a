"""Shared ports in the picture of a network: arcs that span what goes through them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gossamer
from gossamer.networks import SharedPorts
from gossamer.plots.layouts import lay_out
from gossamer.plots.layouts.layout import link_lines
from gossamer.plots.network import network_figure, port_arcs

SERVER = Path(__file__).parents[1] / "data" / "networks" / "server_ports.edges"


def uplinks():
    """Two rows of three: each row has one uplink for all its three cables; inside the first, a port for each node."""
    net = gossamer.network("array:2x3")
    row = net.coordinates[:, 0]
    up = row[net.link_source] != row[net.link_target]
    first = ~up & (row[net.link_source] == 0)
    sending, receiving = (
        np.where(up, 3 + row[end], np.where(first, end, -1)) for end in (net.link_source, net.link_target)
    )
    return net.with_ports(SharedPorts(sending, receiving))


def drawn(net):
    layout = lay_out(net)
    return layout, port_arcs(net, layout.positions, link_lines(net, layout, 0.25, 0.06), 0.3)


def test_every_end_lies_under_an_arc_of_its_port_and_no_other():
    net = uplinks()
    layout, arcs = drawn(net)
    ports = net.shared_ports
    spans = {}
    for points, port in zip(arcs.points, arcs.port, strict=True):
        middle = layout.positions[np.argmin([abs(np.hypot(*(points - p).T) - 0.3).max() for p in layout.positions])]
        node = int(np.argmin(np.hypot(*(layout.positions - middle).T)))
        spans[node, port] = points - middle
    assert len(spans) == 3 + 6  # a port of each node of the first row, and an uplink at every node
    for link in range(net.link_count):
        for node, other, port in (
            (net.link_source[link], net.link_target[link], ports.sending[link]),
            (net.link_target[link], net.link_source[link], ports.receiving[link]),
        ):
            way = layout.positions[other] - layout.positions[node]
            for p in range(ports.count):
                if (int(node), p) in spans:
                    nearest = np.hypot(*(spans[int(node), p] - 0.3 * way / np.hypot(*way)).T).min()
                    assert (nearest < 0.1) == (p == port)


def test_ports_of_several_nodes_have_a_color_each():
    net = uplinks()
    _, arcs = drawn(net)
    assert [common for _, common in sorted(set(zip(arcs.port, arcs.common, strict=True)))] == [
        bool(len({n for n in range(6) if p in {*ends(net, n)}}) > 1) for p in range(net.shared_ports.count)
    ]
    figure = network_figure(net)
    collection = next(c for c in figure.axes[0].collections if c.get_zorder() == 1.8)
    colors = {port: set() for port in arcs.port}
    for port, color in zip(arcs.port, map(tuple, collection.get_edgecolors()), strict=True):
        colors[port].add(color)
    assert all(len(found) == 1 for found in colors.values())
    assert len(set.union(*colors.values())) == 3  # those of one node are alike


def ends(net, node):
    ports = net.shared_ports
    return [*ports.sending[net.link_source == node].tolist(), *ports.receiving[net.link_target == node].tolist()]


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (SERVER, "Arcs: 4 ports; the links under an arc share one."),
        (
            uplinks(),
            "5 ports; links under arcs of one color share one, those under a violet arc have one of their own.",
        ),
        ("array:2x3", None),
    ],
)
def test_the_caption_says_what_arcs_are(net, words):
    figure = network_figure(net if isinstance(net, gossamer.Network) else gossamer.network(str(net)))
    said = " ".join(" ".join(t.get_text() for t in reversed(figure.texts)).split())
    assert words in said if words else "Arcs" not in said
