"""Networks with free groups of symmetries: lifts of small graphs by voltages, with capacities and switches."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gossamer.networks import Network

GROUPS = {
    "Z2": [[0, 1], [1, 0]],
    "Z3": [[(a + b) % 3 for b in range(3)] for a in range(3)],
    "Z4": [[(a + b) % 4 for b in range(4)] for a in range(4)],
    "Z2xZ2": [[a ^ b for b in range(4)] for a in range(4)],
    "S3": [[(a + b if a < 3 else a - b) % 3 + 3 * ((a > 2) ^ (b > 2)) for b in range(6)] for a in range(6)],
}
"""The product of elements a and b in row a and column b; of S3 elements 0..2 turn and 3..5 reflect as well."""


@st.composite
def lifts(draw, timed: bool = False, switches: bool = True) -> tuple[Network, list[list[int]]]:
    """A strongly connected network, its nodes in any order, and permutations that generate a free group.

    Nodes are (r, h) of an orbit r and a group element h; an arc of the small graph from r to s with voltage g gives a
    link from each (r, h) to (s, h*g), and x takes (r, h) to (r, x*h).
    """
    product = GROUPS[draw(st.sampled_from(sorted(GROUPS)))]
    order = len(product)
    orbits = draw(st.integers(1, 3))
    terminals = draw(st.integers(1, orbits)) if switches else orbits
    arcs = {(r, (r + 1) % orbits, 0) for r in range(orbits) if orbits > 1}
    arcs |= {(0, 0, g) for g in range(1, order)}  # the orbit of node (0, h) is connected in itself
    for _ in range(draw(st.integers(0, 3))):
        arcs.add(tuple(draw(st.integers(0, k - 1)) for k in (orbits, orbits, order)))
    arcs = sorted(a for a in arcs if a[0] != a[1] or a[2])
    sizes = [terminals * order, (orbits - terminals) * order]
    first, second = (draw(st.permutations(range(k))) for k in sizes)
    name = [*first, *(sizes[0] + x for x in second)]
    column = [draw(st.tuples(*(st.integers(a, b) for a, b in ((1, 2), (1, 3), (0, 2))))) for _ in arcs]
    rows = sorted(
        (name[r * order + h], name[s * order + product[h][g]], told)
        for (r, s, g), told in zip(arcs, column, strict=True)
        for h in range(order)
    )
    source, target, told = zip(*rows, strict=True)
    capacity, occupancy, latency = zip(*told, strict=True)
    times = {"link_occupancy": occupancy, "link_latency": latency} if timed else {}
    network = Network(
        "a lift",
        orbits * order,
        source,
        target,
        link_capacity=capacity,
        terminal_count=sizes[0],
        links_only=True,
        **times,
    )
    moved = np.zeros((order, orbits * order), int)
    for x in range(order):
        for r in range(orbits):
            for h in range(order):
                moved[x, name[r * order + h]] = name[r * order + product[x][h]]
    chosen = draw(st.sampled_from([range(1, order), [1, order - 1]]))
    return network, [moved[x].tolist() for x in chosen]
