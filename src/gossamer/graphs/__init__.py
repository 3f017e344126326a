"""What builders share: routes and their balance, trees, list scheduling, lock-step movement, edge coloring.

A builder chooses paths and says when packets go along them. Both halves stand here, for any algorithm to use; what
a paper or a closed form prescribes stands in `gossamer.algorithms`.
"""
