"""Lower bounds: times that no schedule can beat, each with its witness in words and its proof in numbers.

A function of a case yields bounds: of what a node or a port must pass (`ports`, with the times of links
`earliest_arrivals`), of ways and of all hops together (`loads`), of cuts across dimensions (`grid_cuts`), in the order
of a search, around clusters and at nodes that separate others (`cut_nodes`), around any set of nodes (`set_cuts`), of
boxes and of parts counted together (`partitions`), of links and slots (`cuts_over_time`), of prices of links and of
sending (`concurrent_flow`), of messages that spread (`broadcast_growth`), of regions of an allreduce in blocks
(`allreduce_congestion`) and of an allreduce in any form (`allreduce_any_form`), of fat trees (`fat_trees`), and of what
waits for what (`dependency_chains`). `proofs` has the few kinds of numbers from which their values follow. `registry`
lists and evaluates the functions, and says for which schedules each bound holds; those that know plain links only bound
what `relaxed` makes of a case.

To add one: "Add a bound" in CONTRIBUTING.
"""

from __future__ import annotations

from gossamer.bounds.bound import Bound, Bounds
from gossamer.bounds.registry import best_bound, bounds, counted_bounds, node_bounds

__all__ = ["Bound", "Bounds", "best_bound", "bounds", "counted_bounds", "node_bounds"]
