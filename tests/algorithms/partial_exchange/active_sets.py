"""Active sets that several tests share: blocks of an array, and reference cases of partial exchanges."""

from __future__ import annotations

import math

import numpy as np


def block(sides, corner, shape):
    """Return the nodes of a box, in ascending order."""
    nodes = np.arange(math.prod(sides)).reshape(sides)
    return nodes[tuple(slice(a, a + n) for a, n in zip(corner, shape, strict=True))].reshape(-1).tolist()


def drawn(count, M, seed):
    return sorted(np.random.default_rng(seed).choice(count, M, replace=False).tolist())


# side, active nodes, cut bound, times for lowest id / farthest first / random / nearest first, bound
PLANE = {
    "4 corner 2x2": (4, block((4, 4), (0, 0), (2, 2)), 12, (21, 18, 18, 20), 54),
    "4 all": (4, list(range(16)), 16, (22, 22, 19, 22), 102),
    "8 corner 2x2": (8, block((8, 8), (0, 0), (2, 2)), 60, (108, 105, 107, 115), 238),
    "8 corner 4x4": (8, block((8, 8), (0, 0), (4, 4)), 96, (141, 161, 135, 168), 462),
    "8 center 4x4": (8, block((8, 8), (2, 2), (4, 4)), 48, (81, 79, 77, 84), 462),
    "8 two rows": (8, list(range(16)), 96, (117, 115, 105, 123), 462),
    "8 diagonal": (8, list(range(0, 64, 9)), 32, (69, 63, 63, 66), 238),
    "8 all": (8, list(range(64)), 128, (154, 210, 138, 169), 910),
    "10 corner 5x5": (10, block((10, 10), (0, 0), (5, 5)), 188, (267, 326, 259, 335), 918),
    "10 all": (10, list(range(100)), 250, (293, 427, 261, 336), 1818),
}

CUBE, FOUR, FIVE = (3,) * 3, (4,) * 3, (5,) * 3
# sides, active nodes, z of the linear program, time along balanced paths, congestion of phase 1 and time of spread. The
# nodes that the reference drew are lost; the sets drawn here have the same z, but another congestion.
OPEN = {
    "3^3 one corner": (CUBE, [0], "8.67", 9, 9, 12),
    "3^3 corner 2x2x2": (CUBE, block(CUBE, (0,) * 3, (2,) * 3), "12.67", 13, 13, 18),
    "3^3 line": (CUBE, [0, 1, 2], "12.00", 12, 12, 15),
    "3^3 plane": (CUBE, list(range(9)), "18.00", 18, 17, 24),
    "3^3 random": (CUBE, drawn(27, 9, 0), "10.00", 11, None, 14),
    "3^3 all": (CUBE, list(range(27)), "18.00", 19, 0, 19),
    "4^3 corner 8": (FOUR, block(FOUR, (0,) * 3, (2,) * 3), "37.33", 38, 37, 46),
    "4^3 center 8": (FOUR, block(FOUR, (1,) * 3, (2,) * 3), "18.67", 19, 19, 26),
    "4^3 plane": (FOUR, list(range(16)), "48.00", 48, 47, 61),
    "4^3 random": (FOUR, drawn(64, 16, 1), "21.00", 23, None, 34),
    "4^3 corner 27": (FOUR, block(FOUR, (0,) * 3, (3,) * 3), "39.56", 41, 37, 65),
    "4^3 all": (FOUR, list(range(64)), "64.00", 65, 0, 64),
    "5^3 corner 27": (FIVE, block(FIVE, (0,) * 3, (3,) * 3), "98.00", 99, 98, 133),
    "3^4 corner 16": ((3,) * 4, block((3,) * 4, (0,) * 4, (2,) * 4), "32.50", 33, 33, 44),
    "8^2 corner 16": ((8, 8), block((8, 8), (0, 0), (4, 4)), "96.00", 97, 95, 128),
}
