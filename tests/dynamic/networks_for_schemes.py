"""Small networks that the tests of schemes share, with two that no family has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import networkx as nx
import numpy as np

from gossamer.networks import Network, cayley, from_networkx


@dataclass(frozen=True)
class HoltGroup:
    """Pairs (x mod 9, y mod 3) with (x, y)(e, f) = (x 7^f + e, y + f)."""

    order: int = 27
    abelian: bool = False

    def compose(self, a, b):
        a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
        x, y, e, f = a // 3, a % 3, b // 3, b % 3
        return (x * 7**f + e) % 9 * 3 + (y + f) % 3

    def inverse(self, a):
        a = np.asarray(a, np.int64)
        f = -(a % 3) % 3
        return (-(a // 3) * 7**f) % 9 * 3 + f


@cache
def holt() -> Network:
    """The smallest half-arc-transitive graph: 27 nodes, degree 4."""
    pairs = ((1, -1), (-1, -1), (2, 1), (-2, 1))
    return cayley("holt", HoltGroup(), [x % 9 * 3 + y % 3 for x, y in pairs])


@cache
def petersen() -> Network:
    """Node- and arc-transitive, and no Cayley graph."""
    return from_networkx(nx.petersen_graph())
