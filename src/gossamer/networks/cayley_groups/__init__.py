"""Groups by their text: from ``semidirect(64,8,3)`` to a group and back, for Cayley networks of any group."""

from __future__ import annotations

from gossamer.networks.cayley_groups.enumerated import EnumeratedGroup, matrix_group, permutations
from gossamer.networks.cayley_groups.named import GROUP_KINDS, NamedGroup, group_named
from gossamer.networks.cayley_groups.polycyclic import PolycyclicGroup, polycyclic
from gossamer.networks.cayley_groups.semidirect import SemidirectGroup, semidirect, wreath

__all__ = [
    "GROUP_KINDS",
    "EnumeratedGroup",
    "NamedGroup",
    "PolycyclicGroup",
    "SemidirectGroup",
    "group_named",
    "matrix_group",
    "permutations",
    "polycyclic",
    "semidirect",
    "wreath",
]
