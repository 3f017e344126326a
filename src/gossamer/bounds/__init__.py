"""Lower bounds: times that no schedule can beat, each with its witness.

One family a file: what a node receives and sends (`ports`), how far a message travels (`distances`), both with the
times of links (`arrivals`), how fast it spreads (`broadcasts`), all hops together (`loads`), cuts across dimensions
(`cuts`), around boxes (`boxes`), around clusters of active nodes (`clusters`), of any network (`sweeps`), and around
any set of nodes with times (`set_cuts`, found by `thin_cuts` among others), of links and slots (`cuts_over_time`, for
what one node sends or gets, by itself or as one of many),
exchanges as flows (`concurrent_flow`, `prices`), messages for many as trees (`sending_prices`), copies that switches
do not make (`copies`), branches, routing nodes and leaves of fat trees (`fat_trees`), nodes that separate others
(`separators`, `cut_nodes`), and tasks in sequence
(`sequences`). `table` lists and evaluates them; those that know plain links only bound what `relaxed` makes of a case.
"""

from __future__ import annotations

from gossamer.bounds.bound import Bound, Bounds
from gossamer.bounds.table import best_bound, bounds, counted_bounds, node_bounds

__all__ = ["Bound", "Bounds", "best_bound", "bounds", "counted_bounds", "node_bounds"]
