"""Valid schedules built in the plainest way, so that the pictures' tests lean on no algorithm of the package."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import gossamer
from gossamer.schedules import CONTROL, Phase, Schedule, Symmetry


def flood(network):
    """Broadcast from node 0: every node gets the message as early as it can."""
    search = network.breadth_first(0)
    order = search.order[1:]
    columns = search.distance[order] - 1, search.parent_link[order], np.zeros(order.size, np.int32)
    return Schedule(network, gossamer.task("broadcast"), gossamer.Rules(), *columns, algorithm="flood")


def scatter(network):
    """Scatter from node 0 along a breadth-first tree, the furthest first."""
    search = network.breadth_first(0)
    above = np.where(search.parent_link >= 0, network.link_source[search.parent_link], -1)
    paths = []
    for v in range(1, network.terminal_count):
        path = []
        while v != 0:
            path.append(int(search.parent_link[v]))
            v = int(above[v])
        paths.append(path[::-1])
    free, hops = {}, []
    for packet in sorted(range(len(paths)), key=lambda p: -len(paths[p])):
        first = free.get(paths[packet][0], 0)
        free[paths[packet][0]] = first + 1
        hops += [(first + k, link, packet) for k, link in enumerate(paths[packet])]
    slot, link, packet = zip(*sorted(hops), strict=True)
    return Schedule(network, gossamer.task("scatter"), gossamer.Rules(), slot, link, packet, algorithm="tree")


def gossip(network, generated_by=None):
    """Multinode broadcast, invariant: every representative's message grows a tree with each cell used once."""
    symmetry = Symmetry(network, generated_by)
    degree = network.degree
    free, hops = {}, []
    for packet, root in enumerate(symmetry.representatives.tolist()):
        reached = {root: 0}
        for link in network.breadth_first(root).parent_link[network.breadth_first(root).order[1:]].tolist():
            cell = (int(symmetry.orbit[link // degree]), link % degree)
            slot = max(free.get(cell, 0), reached[link // degree])
            free[cell] = reached[int(network.link_target[link])] = slot + 1
            hops.append((slot, link, packet))
    slot, link, packet = zip(*sorted(hops), strict=True)
    task = gossamer.task("multinode-broadcast")
    return Schedule(network, task, gossamer.Rules(), slot, link, packet, symmetry=symmetry, algorithm="greedy")


def with_control(network, control_slots=3):
    """A scatter after a phase of control packets on every third link, whose slots last a quarter of a step."""
    base = scatter(network)
    links = np.arange(0, network.link_count, 3)
    slot = np.repeat(np.arange(control_slots), links.size)
    half = base.slot_count // 2
    return base.replace(
        cost=gossamer.StepCost(Fraction(1, 4)),
        slot=np.concatenate([slot, base.slot + control_slots]),
        link=np.concatenate([np.tile(links, control_slots), base.link]),
        packet=np.concatenate([np.full(slot.size, CONTROL), base.packet]),
        phases=[
            Phase("asking", control_slots, Fraction(1, 4)),
            Phase("nothing", 0),
            Phase("first half", half),
            Phase("second half", base.slot_count - half),
        ],
    )


def broken(network):
    """A flood that forgets the last node."""
    whole = flood(network)
    return whole.replace(slot=whole.slot[:-1], link=whole.link[:-1], packet=whole.packet[:-1])


def texts(figure):
    """All that is written on a figure, its axes and their titles and ticks, as one string."""
    from matplotlib.text import Text

    return "\n".join(t.get_text() for t in figure.findobj(Text))
