"""The table of network families: what the spec parser, ``gossamer networks`` and the docs go through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from gossamer.networks.butterflies import butterfly, cube_connected_cycles
from gossamer.networks.circulants import circulant, complete, extended_ring
from gossamer.networks.conversion import read_edge_list
from gossamer.networks.fat_trees import fat_tree
from gossamer.networks.grids import array, hypercube, ring, torus
from gossamer.networks.hypercycles import generalized_hypercube, hypercycle
from gossamer.networks.network import Network
from gossamer.networks.permutation_networks import bubble_sort, pancake, star
from gossamer.networks.product import product

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True)
class Family:
    """A family of networks and the form of its spec strings.

    Attributes
    ----------
    name : str
        What stands before the colon.
    function : callable
        Builds the network from the parameters, in the order of the text.
    form : str
        How the text after the colon is read: `numbers` (comma-separated, as many as `parameters` names), `sides`
        (``AxBx...``), `pairs` (``n,rhoxn,rho...``), `levels` (``k=...,h=...,capacity=...``), `factors`
        (``(spec)x(spec)...``), `path`.
    parameters : str
        The text after the colon, in words.
    summary : str
        One line.
    example : str
        A canonical spec.
    source : str
        Where the family is defined.
    aliases : tuple of str
        Other names that the parser accepts.
    """

    name: str
    function: Callable[..., Network]
    form: Literal["numbers", "sides", "pairs", "levels", "factors", "path"]
    parameters: str
    summary: str
    example: str
    source: str
    aliases: tuple[str, ...] = ()


FAMILIES: tuple[Family, ...] = (
    Family(
        "array",
        array,
        "sides",
        "AxBx...",
        "d-dimensional array (mesh) of any sides; one side: a linear array",
        "array:8x8",
        "Varvarigos and Bertsekas 1994, section 1; Dimakopoulos 1996, section 2.3",
        aliases=("mesh", "linear-array"),
    ),
    Family(
        "torus",
        torus,
        "sides",
        "AxBx...",
        "d-dimensional torus of any sides; a side of 2 is a single edge; one side: a ring",
        "torus:16x16x16",
        "Varvarigos and Bertsekas 1994, section 1; Dimakopoulos 1996, section 2.3",
    ),
    Family("ring", ring, "numbers", "n", "ring of n nodes", "ring:12", "Dimakopoulos 1996, section 2.3"),
    Family("hypercube", hypercube, "numbers", "d", "binary d-cube", "hypercube:10", "Dimakopoulos 1996, section 2.3"),
    Family(
        "extended-ring",
        extended_ring,
        "numbers",
        "n,rho",
        "ring of n nodes, each adjacent to those at most rho places away",
        "extended-ring:14,2",
        "Dimakopoulos 1996, section 2.3",
    ),
    Family(
        "circulant",
        circulant,
        "numbers",
        "n,jump...",
        "n nodes, node i adjacent to i+s and i-s for each jump s",
        "circulant:13,1,5",
        "Dimakopoulos 1996, section 4.4",
    ),
    Family(
        "complete", complete, "numbers", "n", "n nodes, all adjacent", "complete:8", "Dimakopoulos 1996, section 2.3"
    ),
    Family(
        "hypercycle",
        hypercycle,
        "pairs",
        "n,rhoxn,rhox...",
        "product of extended rings",
        "hypercycle:5,2x7,3",
        "Dimakopoulos 1996, section 2.3",
    ),
    Family(
        "generalized-hypercube",
        generalized_hypercube,
        "sides",
        "AxBx...",
        "product of complete networks",
        "generalized-hypercube:4x4x3",
        "Dimakopoulos 1996, section 2.3",
    ),
    Family(
        "star",
        star,
        "numbers",
        "m",
        "arrangements of m symbols, adjacent by swapping the first with another",
        "star:5",
        "Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4",
    ),
    Family(
        "pancake",
        pancake,
        "numbers",
        "m",
        "arrangements of m symbols, adjacent by reversing a prefix",
        "pancake:5",
        "Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4",
    ),
    Family(
        "bubble-sort",
        bubble_sort,
        "numbers",
        "m",
        "arrangements of m symbols, adjacent by swapping neighbors",
        "bubble-sort:5",
        "Akers and Krishnamurthy 1989; Dimakopoulos 1996, section 4.4",
    ),
    Family(
        "ccc",
        cube_connected_cycles,
        "numbers",
        "d",
        "cube-connected cycles: a d-cube with a cycle of d nodes at each corner",
        "ccc:4",
        "Preparata and Vuillemin 1981; Dimakopoulos 1996, section 4.4",
        aliases=("cube-connected-cycles",),
    ),
    Family(
        "butterfly",
        butterfly,
        "numbers",
        "d",
        "wrapped butterfly: d ranks of 2^d nodes",
        "butterfly:4",
        "Dimakopoulos 1996, section 4.4",
        aliases=("wrapped-butterfly",),
    ),
    Family(
        "fat-tree",
        fat_tree,
        "levels",
        "k=K,h=H,capacity=constant|exponential|c_1,...,c_h",
        "complete k-ary tree of height h whose leaves are the processors",
        "fat-tree:k=2,h=4,capacity=exponential",
        "Dimakopoulos 1996, section 6.1",
    ),
    Family(
        "product",
        product,
        "factors",
        "(SPEC)x(SPEC)...",
        "Cartesian product of any networks without routing nodes",
        "product:(ring:5)x(complete:4)",
        "Dimakopoulos 1996, section 2.1.1",
    ),
    Family(
        "edges",
        read_edge_list,
        "path",
        "PATH",
        "edge-list file, a line 'u v [capacity]' for each edge",
        "edges:network.txt",
        "gossamer.networks.read_edge_list",
        aliases=("edge-list",),
    ),
    Family(
        "directed-edges",
        partial(read_edge_list, directed=True),
        "path",
        "PATH",
        "edge-list file, a line 'u v [capacity]' for each link from u to v",
        "directed-edges:network.txt",
        "gossamer.networks.read_edge_list",
    ),
)
"""Every family, in the order in which they are shown."""
