"""The algorithm of `gossamer.synthesis.at_once`, for uneven exchanges that cannot wait for a search."""

from __future__ import annotations

from gossamer.algorithms.algorithm import Algorithm
from gossamer.synthesis.at_once import propose_at_once
from gossamer.tasks import DemandTable, Grouped, UnevenExchange

__all__ = ["SHARED_SHORTEST_WAYS"]

SHARED_SHORTEST_WAYS = Algorithm(
    name="shared-shortest-ways",
    tasks=(UnevenExchange, DemandTable, Grouped),
    propose=propose_at_once,
    networks="any with switches that store, in which the targets can be reached",
    source="gossamer; no promised time",
    summary="shortest ways that share the loads; what must get through a bottleneck is sent first",
    passes_on=True,
    timed=True,
)
