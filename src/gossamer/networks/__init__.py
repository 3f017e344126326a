"""Interconnection networks: families, products, groups, the spec parser, and conversions.

The parser of spec strings is `parse` here and ``gossamer.network`` at the top.
"""

from __future__ import annotations

from gossamer.networks.as_network import as_network
from gossamer.networks.butterflies import butterfly, cube_connected_cycles
from gossamer.networks.cayley import cayley
from gossamer.networks.circulants import circulant, complete, extended_ring
from gossamer.networks.conversion import from_networkx, to_networkx
from gossamer.networks.de_bruijn import de_bruijn, generalized_de_bruijn
from gossamer.networks.disjoint_paths import node_disjoint_paths, product_disjoint_paths
from gossamer.networks.families import FAMILIES
from gossamer.networks.family import Family, Size
from gossamer.networks.fat_trees import fat_tree
from gossamer.networks.files import (
    read_coordinates,
    read_edge_list,
    read_ibnetdiscover,
    read_nccl_topology,
    read_network,
    read_nvidia_smi,
    read_slurm_topology,
    write_network,
)
from gossamer.networks.grids import array, hypercube, linear_array, ring, torus
from gossamer.networks.groups import AbelianGroup, CubeRotationGroup, Group, PermutationGroup, ProductGroup
from gossamer.networks.hypercycles import generalized_hypercube, hypercycle
from gossamer.networks.kautz import generalized_kautz, kautz
from gossamer.networks.network import MAX_LINKS, BreadthFirst, Factors, Network
from gossamer.networks.permutation_networks import bubble_sort, pancake, star
from gossamer.networks.product import product
from gossamer.networks.renumbering import Renumbered, renumbered
from gossamer.networks.spec import network as parse
from gossamer.networks.spec import network_size
from gossamer.networks.structures import CayleyGroup, Coordinates, Grid, Levels, Speeds, Structure
from gossamer.networks.transposed import transposed

__all__ = [
    "FAMILIES",
    "MAX_LINKS",
    "AbelianGroup",
    "BreadthFirst",
    "CayleyGroup",
    "Coordinates",
    "CubeRotationGroup",
    "Factors",
    "Family",
    "Grid",
    "Group",
    "Levels",
    "Network",
    "PermutationGroup",
    "ProductGroup",
    "Renumbered",
    "Size",
    "Speeds",
    "Structure",
    "array",
    "as_network",
    "bubble_sort",
    "butterfly",
    "cayley",
    "circulant",
    "complete",
    "cube_connected_cycles",
    "de_bruijn",
    "extended_ring",
    "fat_tree",
    "from_networkx",
    "generalized_de_bruijn",
    "generalized_hypercube",
    "generalized_kautz",
    "hypercube",
    "hypercycle",
    "kautz",
    "linear_array",
    "network_size",
    "node_disjoint_paths",
    "pancake",
    "parse",
    "product",
    "product_disjoint_paths",
    "read_coordinates",
    "read_edge_list",
    "read_ibnetdiscover",
    "read_nccl_topology",
    "read_network",
    "read_nvidia_smi",
    "read_slurm_topology",
    "renumbered",
    "ring",
    "star",
    "to_networkx",
    "torus",
    "transposed",
    "write_network",
]
