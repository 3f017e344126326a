"""Schemes: how a broadcast travels, which copies are urgent, and the table of all schemes by name."""

from __future__ import annotations

from gossamer.graphs.disjoint_trees import disjoint_tree, grown_trees
from gossamer.simulation.random_arrivals.schemes.balanced_tree_images import symmetric
from gossamer.simulation.random_arrivals.schemes.dimension_orders import (
    background_target,
    redo,
    redo_probabilities,
    star,
    star_probabilities,
)
from gossamer.simulation.random_arrivals.schemes.edge_disjoint_trees import (
    edge_disjoint_trees,
    mini_packets,
    stamoulis_tsitsiklis_direct,
    stamoulis_tsitsiklis_indirect,
    star_minis,
    varvarigos_banerjee_direct,
    varvarigos_banerjee_indirect,
)
from gossamer.simulation.random_arrivals.schemes.mesh_interior_over_surface import arc, arc_limit
from gossamer.simulation.random_arrivals.schemes.mixed_traffic import Mix, mixed
from gossamer.simulation.random_arrivals.schemes.registry import (
    SCHEME_ALIASES,
    SCHEMES,
    KnownScheme,
    broadcasts,
    covering,
    options_of,
    scheme,
)
from gossamer.simulation.random_arrivals.schemes.transmission_tables import PRIORITIES

__all__ = [
    "PRIORITIES",
    "SCHEMES",
    "SCHEME_ALIASES",
    "KnownScheme",
    "Mix",
    "arc",
    "arc_limit",
    "background_target",
    "broadcasts",
    "covering",
    "disjoint_tree",
    "edge_disjoint_trees",
    "grown_trees",
    "mini_packets",
    "mixed",
    "options_of",
    "redo",
    "redo_probabilities",
    "scheme",
    "stamoulis_tsitsiklis_direct",
    "stamoulis_tsitsiklis_indirect",
    "star",
    "star_minis",
    "star_probabilities",
    "symmetric",
    "varvarigos_banerjee_direct",
    "varvarigos_banerjee_indirect",
]
