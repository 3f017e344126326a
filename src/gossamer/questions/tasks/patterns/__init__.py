"""Destinations for routing: named patterns, and random and adversarial instances.

Every pattern is a permutation of the terminals: entry u is the node to which the message of node u goes.
"""

from __future__ import annotations

from gossamer.questions.tasks.patterns.named import (
    PATTERNS,
    bit_permute_complement,
    one_to_many,
    pattern,
    permutation,
    random_disjoint_sets,
    random_partial,
    thinned,
)

__all__ = [
    "PATTERNS",
    "bit_permute_complement",
    "one_to_many",
    "pattern",
    "permutation",
    "random_disjoint_sets",
    "random_partial",
    "thinned",
]
