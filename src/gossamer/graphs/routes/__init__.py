"""Paths of packets on an array or torus, chosen so that the most loaded link carries as little as possible."""

from __future__ import annotations

from gossamer.graphs.routes.balanced import Effort, balanced_paths, without_loops

__all__ = ["Effort", "balanced_paths", "without_loops"]
