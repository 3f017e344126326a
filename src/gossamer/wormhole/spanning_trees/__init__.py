"""Broadcasts over four arc-disjoint spanning trees: the trees, and the schedules that use them."""

from __future__ import annotations

from gossamer.wormhole.spanning_trees.trees import ArcDisjointTrees, rotated, shallow_trees, tree_a, tree_b

__all__ = ["ArcDisjointTrees", "rotated", "shallow_trees", "tree_a", "tree_b"]
