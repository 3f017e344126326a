"""Figs. 1 to 3 of Yeh, Varvarigos and Lee 1998: one broadcast of the priority scheme, of ARC, and its tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gossamer.networks.spec import network as parse_network
from gossamer.simulation.random_arrivals.scheme import Scheme
from gossamer.simulation.random_arrivals.schemes.arc import arc
from gossamer.simulation.random_arrivals.schemes.star import star
from gossamer.studies.reproductions.table import Cell, Table

__all__ = ["TABLES", "Sent", "arc_broadcast", "priority_broadcast", "sent_by", "unbalanced_tree"]


class Sent(NamedTuple):
    """One transmission of a broadcast that meets no other: its step from 1, its ends, its class, and what follows it.

    `counted` says whether the receipt is the first of a node that must receive, and `size` how many such receipts
    it brings, its own among them.
    """

    step: int
    source: int
    target: int
    priority: int
    counted: bool
    size: int


def sent_by(scheme: Scheme, source: int, choice: int) -> list[Sent]:
    """Return the transmissions of one broadcast alone in the network, by step.

    Examples
    --------
    >>> [s[:3] for s in sent_by(star(parse_network("ring:3")), 0, 0)]
    [(1, 0, 1), (1, 0, 2)]
    """
    network = scheme.network
    line = 0 if scheme.translated else int(np.flatnonzero(scheme.source_nodes == source)[0])
    found: list[Sent] = []

    def send(row: int, node: int, step: int) -> int:
        column = int(scheme.step[row])
        link = int(scheme.link_table[node, column]) if scheme.link_table is not None and scheme.translated else column
        to = int(network.link_target[link])
        place = len(found)
        found.append(Sent(step, node, to, int(scheme.priority[row]), bool(scheme.counted[row]), 0))
        after = scheme.children[scheme.child_first[row] : scheme.child_last[row]]
        size = int(scheme.counted[row]) + sum(send(int(child), to, step + 1) for child in after)
        found[place] = found[place]._replace(size=size)
        return size

    entries = slice(scheme.entry_first[line, choice, 0], scheme.entry_last[line, choice, 0])
    for row in scheme.children[entries]:
        send(int(row), source, 1)
    return sorted(found)


def _grid(side: int, texts: dict[int, str]) -> list[tuple[Cell, ...]]:
    return [(i, *(texts.get(i * side + j, "") for j in range(side))) for i in range(side)]


def priority_broadcast() -> Table:
    """Fig. 1: a broadcast in the 5-ary 2-cube by the priority broadcast scheme."""
    source = 12
    sent = sent_by(star(parse_network("torus:5x5")), source, 0)
    texts = {s.target: f"{s.step} {'low' if s.priority else 'high'}" for s in sent} | {source: "source"}
    high = sum(s.priority == 0 for s in sent)
    return Table(
        "Dynamic broadcast in a 5-ary 2-cube (Fig. 1)",
        ("row", *(f"column {j}" for j in range(5))),
        tuple(_grid(5, texts)),
        f"The step in which each node receives the packet, if no other is in the way, and the class of that copy: "
        f"{high} = N/n - 1 of high and {len(sent) - high} = (1 - 1/n)N of low priority, which end the broadcast.",
    )


def arc_broadcast() -> Table:
    """Fig. 2: a broadcast in the 6 x 6 mesh by ARC."""
    network = parse_network("array:6x6")
    scheme = arc(network)
    source = 3 * 6 + 2
    broadcasts = [sent_by(scheme, source, choice) for choice in range(scheme.choice_count)]
    down = next(some for some in broadcasts if some and some[0].target == source + 6)
    texts: dict[int, str] = {source: "source"}
    for s in down:
        word = f"{s.step} {'low' if s.priority else 'high'}"
        texts[s.target] = f"{texts[s.target]}, {word}" if s.target in texts else word
    return Table(
        "Dynamic broadcast in a 6 x 6 mesh by ARC (Fig. 2)",
        ("row", *(f"column {j}" for j in range(6))),
        tuple(_grid(6, texts)),
        "Steps and classes of the copies that each node gets: (a) down to the last row, (b) along it, (c) back through "
        "the inner 4 x 4 nodes. The source, and nodes on the way out, get the packet once more.",
    )


def unbalanced_tree() -> Table:
    """Fig. 3: the completely unbalanced spanning tree T_1 of the 4-cube, and its classes."""
    d = 4
    scheme = star(parse_network("hypercube:4"), priority="optimal")
    choices = [sent_by(scheme, 0, choice) for choice in range(scheme.choice_count)]
    names = {1 << k: 0 for k in range(d)}
    tree = next(some for some in choices if max(some, key=lambda s: s.size).target == 1 << (d - 1))
    for place, s in enumerate(sorted((s for s in tree if s.source == 0), key=lambda s: -s.size)):
        names[s.target] = d - place  # the paper's T_1 begins with dimension d
    rows: list[tuple[Cell, ...]] = []
    for s in tree:
        dimension = names[s.source ^ s.target]
        rows.append((f"{s.target:04b}", f"{s.source:04b}", dimension, s.size, s.priority + 1, -dimension % d + 1))
    return Table(
        "The completely unbalanced spanning tree T_1 of the 4-cube (Fig. 3)",
        ("node", "from", "dimension i", "nodes below, itself included", "class", "printed (j-i-1 mod d)+1"),
        tuple(rows),
        "j = 1. The class by the number of nodes below is the printed one. Dimensions are named in the paper's order.",
    )


TABLES: tuple[Callable[[], Table], ...] = (priority_broadcast, arc_broadcast, unbalanced_tree)
"""The functions that make the tables of the figures."""
