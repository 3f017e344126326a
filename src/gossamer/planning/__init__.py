"""Planning: from a question to a verified schedule beside its bounds.

Takes a network, a task, rules and a cost as the user gave them (`gossamer.questions`); gives an `Outcome` or a
`Comparison`, which hold nothing that the checker refused.

===================== ================================================================================
`planner`             `plan`, `compare`, `lower_bounds`
`offer_search`        asks the algorithms for offers, builds the best, has them verified
`outcome`             what planning returns
`allreduce_variants`  the forms in which an allreduce of some bytes can be carried out
`replanning`          a schedule for a network with failures, near one that is there
`collective_jobs`     several collectives that share a network
`explaining`          what a schedule does, in words
`switching`           store-and-forward and wormhole: what the planner, files and commands ask of each
===================== ================================================================================

To add a switching, see `gossamer.planning.switching`; an algorithm is added in `gossamer.algorithms`.
"""
