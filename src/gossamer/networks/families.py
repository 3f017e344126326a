"""The table of network families: what the spec parser, ``gossamer networks``, the battery and the docs go through."""

from __future__ import annotations

from gossamer.networks.butterflies import BUTTERFLY, CCC
from gossamer.networks.circulants import CIRCULANT, COMPLETE, EXTENDED_RING
from gossamer.networks.de_bruijn import DE_BRUIJN, GENERALIZED_DE_BRUIJN
from gossamer.networks.family import Family
from gossamer.networks.fat_trees import FAT_TREE
from gossamer.networks.files import FILE_FAMILIES
from gossamer.networks.grids import ARRAY, HYPERCUBE, RING, TORUS
from gossamer.networks.hypercycles import GENERALIZED_HYPERCUBE, HYPERCYCLE
from gossamer.networks.kautz import GENERALIZED_KAUTZ, KAUTZ
from gossamer.networks.permutation_networks import BUBBLE_SORT, PANCAKE, STAR
from gossamer.networks.product import PRODUCT
from gossamer.networks.transposed import TRANSPOSED

__all__ = ["FAMILIES"]

FAMILIES: tuple[Family, ...] = (
    ARRAY,
    TORUS,
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
    CCC,
    BUTTERFLY,
    KAUTZ,
    GENERALIZED_KAUTZ,
    DE_BRUIJN,
    GENERALIZED_DE_BRUIJN,
    FAT_TREE,
    PRODUCT,
    TRANSPOSED,
    *FILE_FAMILIES,
)
"""Every family, in the order in which they are shown."""
