"""Broadcast: one node sends the same message to all.

Flooding takes the eccentricity too, but a node may get the message over several links; every tree here sends it once to
each node.
"""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.broadcast.matching_rounds import MATCHING_ROUNDS
from gossamer.algorithms.broadcast.named_trees import BINOMIAL_TREE, EXTENDED_RING_TREE, PRODUCT_TREE
from gossamer.algorithms.broadcast.shortest_path_tree import SHORTEST_PATH_TREE

__all__ = ["BROADCAST"]

BROADCAST: tuple[Algorithm, ...] = (
    SHORTEST_PATH_TREE,
    BINOMIAL_TREE,
    EXTENDED_RING_TREE,
    PRODUCT_TREE,
    MATCHING_ROUNDS,
)
"""The algorithms for broadcast."""
