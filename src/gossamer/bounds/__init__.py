"""Lower bounds: times that no schedule can beat, each with its witness.

One family a file: what a node receives and sends (`ports`), how far a message travels (`distances`), how fast it
spreads (`broadcasts`), all hops together (`loads`), cuts across dimensions (`cuts`), around boxes (`boxes`), around
clusters of active nodes (`clusters`) and of any network (`sweeps`), exchanges as flows (`concurrent_flow`), branches,
routing nodes and leaves of fat trees (`fat_trees`), nodes that separate others (`separators`, `cut_nodes`), and tasks
in sequence (`sequences`). `table` lists and evaluates them.
"""

from __future__ import annotations

from gossamer.bounds.bound import Bound
from gossamer.bounds.table import best_bound, bounds

__all__ = ["Bound", "best_bound", "bounds"]
