"""The table of network families: what the parser of specs, ``list networks``, the battery and the docs go through."""

from __future__ import annotations

from gossamer.networks.butterflies import BUTTERFLY, CCC
from gossamer.networks.cayley import CAYLEY
from gossamer.networks.circulants import CIRCULANT, COMPLETE, EXTENDED_RING, GENERALIZED_HYPERCUBE, HYPERCYCLE
from gossamer.networks.clos import FOLDED_CLOS, GENERALIZED_FAT_TREE, K_ARY_N_TREE, LEAF_SPINE
from gossamer.networks.de_bruijn import DE_BRUIJN, GENERALIZED_DE_BRUIJN, GENERALIZED_KAUTZ, KAUTZ
from gossamer.networks.derived import LIFT, TRANSPOSED
from gossamer.networks.diameter_two import POLARFLY, SLIM_FLY
from gossamer.networks.dragonfly import DRAGONFLY
from gossamer.networks.family import Family
from gossamer.networks.fat_trees import FAT_TREE
from gossamer.networks.files import FILE_FAMILIES
from gossamer.networks.gpu_servers import DGX_1, DGX_A100, SERVERS
from gossamer.networks.grids import ARRAY, HYPERCUBE, RING, TORUS
from gossamer.networks.hyperx import FLATTENED_BUTTERFLY, HYPERX
from gossamer.networks.machine_tori import TORI
from gossamer.networks.machines import BOXES
from gossamer.networks.permutation_networks import BUBBLE_SORT, MACRO_STAR, PANCAKE, STAR
from gossamer.networks.product import PRODUCT
from gossamer.networks.random_networks import JELLYFISH, XPANDER
from gossamer.networks.swapped_networks import CYCLIC, HIERARCHICAL_SWAPPED
from gossamer.networks.twisted_tori import SWITCHED_CUBES, TWISTED_TORUS

__all__ = ["FAMILIES"]

FAMILIES: tuple[Family, ...] = (
    ARRAY,
    TORUS,
    TWISTED_TORUS,
    RING,
    HYPERCUBE,
    EXTENDED_RING,
    CIRCULANT,
    COMPLETE,
    HYPERCYCLE,
    GENERALIZED_HYPERCUBE,
    STAR,
    PANCAKE,
    BUBBLE_SORT,
    MACRO_STAR,
    CAYLEY,
    LIFT,
    CCC,
    BUTTERFLY,
    KAUTZ,
    GENERALIZED_KAUTZ,
    DE_BRUIJN,
    GENERALIZED_DE_BRUIJN,
    HIERARCHICAL_SWAPPED,
    CYCLIC,
    DRAGONFLY,
    SLIM_FLY,
    POLARFLY,
    HYPERX,
    FLATTENED_BUTTERFLY,
    JELLYFISH,
    XPANDER,
    FAT_TREE,
    LEAF_SPINE,
    FOLDED_CLOS,
    K_ARY_N_TREE,
    GENERALIZED_FAT_TREE,
    SERVERS,
    SWITCHED_CUBES,
    PRODUCT,
    TRANSPOSED,
    DGX_1,
    DGX_A100,
    *BOXES[1:],
    *TORI,
    *FILE_FAMILIES,
)
"""Every family, in the order in which they are shown."""
