"""What builders share: trees and routes, flows, list scheduling, lock-step movement, edge coloring.

A builder chooses paths (`path_and_hop_tables`, `route_balancing`, `trees`, `priced_trees`, `disjoint_trees`) and says
when packets go along them (`list_scheduling`, `precedence_scheduling`, `retiming`, `lock_step_movement`,
`edge_coloring`). Both take arrays of nodes and links and give arrays of hops, for any algorithm to use; what a paper or
a closed form prescribes stands in `gossamer.algorithms`.
"""
