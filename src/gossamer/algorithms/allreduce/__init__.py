"""Allreduce by partial sums: no part of the buffer has a root, and sums are exchanged in stages.

`exchange_stages` says who sends which chunk to whom in which stage, among ranks of any number; `staged_allreduce` lays
that over a network, with ways for what passes through other nodes, and predicts what it takes. A new pattern of
exchanges is one more function of a number of ranks in `exchange_stages` and a line in its table.
"""
