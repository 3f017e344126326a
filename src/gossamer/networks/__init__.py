"""Interconnection networks: families, products, groups, files, and what is known of them.

A network is arrays of nodes and directed links (`network`, `link_table`) with the structures that are known of it
(`structures`). It comes from a spec such as ``torus:8x8`` (`spec`, `families`), a file (`files`), NetworkX
(`networkx_conversion`), or another network (`derived`, `product`); `recognition` finds structure in lists of links,
`description` says what a network is. A new family is a file and a line in `families`. The parser of spec strings is
`parse` here and ``gossamer.network`` at the top.
"""

from __future__ import annotations

from gossamer.networks.butterflies import butterfly, cube_connected_cycles
from gossamer.networks.cable_orbits import FreeGroup
from gossamer.networks.cayley import cayley
from gossamer.networks.circulants import circulant, complete, extended_ring, generalized_hypercube, hypercycle
from gossamer.networks.clos import folded_clos, generalized_fat_tree, k_ary_n_tree, leaf_spine
from gossamer.networks.de_bruijn import de_bruijn, generalized_de_bruijn, generalized_kautz, kautz
from gossamer.networks.derived import Renumbered, half_duplex, renumbered, transposed
from gossamer.networks.diameter_two import polarfly, slim_fly
from gossamer.networks.disjoint_paths import node_disjoint_paths, product_disjoint_paths
from gossamer.networks.dragonfly import dragonfly
from gossamer.networks.families import FAMILIES
from gossamer.networks.family import Family, Size
from gossamer.networks.fat_trees import fat_tree
from gossamer.networks.files import (
    read_coordinates,
    read_edge_list,
    read_host_file,
    read_ibnetdiscover,
    read_lstopo,
    read_mesh_graph,
    read_nccl_graph,
    read_nccl_topology,
    read_network,
    read_nvidia_smi,
    read_rocm_smi,
    read_simgrid,
    read_slurm_topology,
    write_network,
)
from gossamer.networks.finite_groups import (
    AbelianGroup,
    CubeRotationGroup,
    Group,
    LatticeGroup,
    PermutationGroup,
    ProductGroup,
)
from gossamer.networks.gpu_servers import dgx_1, dgx_a100, servers
from gossamer.networks.grids import array, hypercube, linear_array, ring, torus
from gossamer.networks.hyperx import flattened_butterfly, hyperx
from gossamer.networks.network import MAX_LINKS, BreadthFirst, Factors, Failed, Network, has_speeds
from gossamer.networks.networkx_conversion import from_networkx, to_networkx
from gossamer.networks.permutation_networks import bubble_sort, macro_star, pancake, star
from gossamer.networks.product import product
from gossamer.networks.random_networks import jellyfish, xpander
from gossamer.networks.recognition.free_groups import free_group
from gossamer.networks.shared_ports import SharedPorts
from gossamer.networks.spec import as_network, network_size
from gossamer.networks.spec import network as parse
from gossamer.networks.structures import (
    Assumption,
    Assumptions,
    CableCounts,
    CayleyGroup,
    Coordinates,
    Grid,
    Groups,
    Levels,
    RatedLinks,
    Speeds,
    Structure,
    SwitchAbilities,
    Tiers,
)
from gossamer.networks.swapped_networks import cyclic_network, hierarchical_swapped
from gossamer.networks.twisted_tori import twisted_torus

__all__ = [
    "FAMILIES",
    "MAX_LINKS",
    "AbelianGroup",
    "Assumption",
    "Assumptions",
    "BreadthFirst",
    "CableCounts",
    "CayleyGroup",
    "Coordinates",
    "CubeRotationGroup",
    "Factors",
    "Failed",
    "Family",
    "FreeGroup",
    "Grid",
    "Group",
    "Groups",
    "LatticeGroup",
    "Levels",
    "Network",
    "PermutationGroup",
    "ProductGroup",
    "RatedLinks",
    "Renumbered",
    "SharedPorts",
    "Size",
    "Speeds",
    "Structure",
    "SwitchAbilities",
    "Tiers",
    "array",
    "as_network",
    "bubble_sort",
    "butterfly",
    "cayley",
    "circulant",
    "complete",
    "cube_connected_cycles",
    "cyclic_network",
    "de_bruijn",
    "dgx_1",
    "dgx_a100",
    "dragonfly",
    "extended_ring",
    "fat_tree",
    "flattened_butterfly",
    "folded_clos",
    "free_group",
    "from_networkx",
    "generalized_de_bruijn",
    "generalized_fat_tree",
    "generalized_hypercube",
    "generalized_kautz",
    "half_duplex",
    "has_speeds",
    "hierarchical_swapped",
    "hypercube",
    "hypercycle",
    "hyperx",
    "jellyfish",
    "k_ary_n_tree",
    "kautz",
    "leaf_spine",
    "linear_array",
    "macro_star",
    "network_size",
    "node_disjoint_paths",
    "pancake",
    "parse",
    "polarfly",
    "product",
    "product_disjoint_paths",
    "read_coordinates",
    "read_edge_list",
    "read_host_file",
    "read_ibnetdiscover",
    "read_lstopo",
    "read_mesh_graph",
    "read_nccl_graph",
    "read_nccl_topology",
    "read_network",
    "read_nvidia_smi",
    "read_rocm_smi",
    "read_simgrid",
    "read_slurm_topology",
    "renumbered",
    "ring",
    "servers",
    "slim_fly",
    "star",
    "to_networkx",
    "torus",
    "transposed",
    "twisted_torus",
    "write_network",
    "xpander",
]
