"""What builders share: trees and routes, flows, list scheduling, lock-step movement, edge coloring.

A builder chooses paths (`routes`, `trees`, `forests`, `disjoint_trees`) and says when packets go along them
(`list_scheduling`, `precedence`, `retiming`, `lock_step`, `edge_coloring`). Both take arrays of nodes and links and
give arrays of hops, for any algorithm to use; what a paper or a closed form prescribes stands in
`gossamer.algorithms`.
"""
