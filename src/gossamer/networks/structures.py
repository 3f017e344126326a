"""What may be known of a network beyond its links: small records, each with one idea.

A network carries those that apply to it, and `Network.find` returns the record of one kind or None; a family with an
idea of its own brings its own record. Products have theirs, `Factors`, beside the network.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks.finite_groups import Group

IntArray = npt.NDArray[np.int32]


def int_array(values: npt.ArrayLike, what: str) -> IntArray:
    """Return `values` as a read-only int32 array, without a copy where it is an int32 array already.

    Raises `NetworkError` if they are no integers of 32 bits, naming `what` they are.
    """
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise NetworkError(f"{what} must be integers, got {given.dtype} values")
    if given.size and given.dtype != np.int32 and max(int(given.max()), -int(given.min())) >= 2**31:
        raise NetworkError(f"{what} must be integers of at most 32 bits")
    array = np.asarray(given, np.int32, order="C")
    array.flags.writeable = False
    return array


class Structure:
    """Something known of a network; every record of this module is one.

    Attributes
    ----------
    of_nodes : bool
        Whether it is about nodes alone, so that it holds whatever links there are.
    """

    of_nodes = False

    def fault(self, nodes: int, links: int) -> str | None:
        """Return in a clause why it cannot be that of a network with so many nodes and links, or None."""
        return None

    def transposed(self, order: IntArray) -> Structure | None:
        """Return what is left of it when every link of a one-way network is turned round; None if nothing is.

        `order` int32[L] has the old number of each link of the network turned round. What is about nodes alone is left.
        """
        return self if self.of_nodes else None

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure | None:
        """Return what is left of it when only some nodes and links remain, by their old numbers in the new order."""
        return None

    def with_fewer_cables(self, lost: npt.NDArray[np.int64]) -> Structure:
        """Return what is left of it when links lose some of their cables, int64[L] of them, but not all."""
        return self


@dataclass(frozen=True)
class Grid(Structure):
    """The shape of an array or torus.

    Attributes
    ----------
    sides : tuple of int
        Nodes along each dimension, the first side most significant in the node number: node ``(x_0, ..., x_k)``
        has number ``(...(x_0*sides[1] + x_1)*sides[2] + ...)``. Digit l of the papers (0 = least significant) is
        dimension ``len(sides)-1-l``.
    wraps : tuple of bool
        Whether a dimension is a ring of at least 3 nodes. A 2-sided torus dimension is a single link pair, like
        that of an array, and so has ``wraps`` false (Varvarigos and Bertsekas 1994; erratum X1).
    """

    sides: tuple[int, ...]
    wraps: tuple[bool, ...]

    @property
    def dimensions(self) -> int:
        """Number of dimensions."""
        return len(self.sides)

    @property
    def strides(self) -> tuple[int, ...]:
        """Difference in node number of one step along each dimension."""
        strides = [1]
        for side in self.sides[:0:-1]:
            strides.append(strides[-1] * side)
        return tuple(reversed(strides))

    @property
    def diameter(self) -> int:
        """The largest distance between two nodes."""
        return sum(s // 2 if w else s - 1 for s, w in zip(self.sides, self.wraps, strict=True))


@dataclass(frozen=True)
class CayleyGroup(Structure):
    """The group of a Cayley network.

    Node numbers are element numbers, and every node's links are in the same order of generators, so that link
    ``u*degree + g`` goes from u by the g-th generator.
    """

    group: Group

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse a group of another order, and links that are not as many at every node."""
        if self.group.order == nodes and links % nodes == 0:
            return None
        return f"its group has {self.group.order} elements for {nodes} nodes"

    def transposed(self, order: IntArray) -> Structure:
        """Keep it: turned round, links go by the inverse generators."""
        return self


@dataclass(frozen=True)
class Levels(Structure):
    """The shape of a fat tree.

    Attributes
    ----------
    arities : tuple of int
        ``k_1, ..., k_h``: the children of a node of each level above the leaves.
    capacities : tuple of int
        ``c_1, ..., c_h``: the capacity of the branches below each level.
    """

    arities: tuple[int, ...]
    capacities: tuple[int, ...]

    @classmethod
    def uniform(cls, arity: int, height: int, capacities: tuple[int, ...] | None = None) -> Levels:
        """Return the shape of a complete k-ary tree, with branches of capacity 1 unless others are given."""
        return cls((arity,) * height, (1,) * height if capacities is None else capacities)

    @property
    def height(self) -> int:
        """Levels above the leaves, h."""
        return len(self.arities)

    @property
    def arity(self) -> int | None:
        """The children of every node that is no leaf, or None where levels differ or there are none."""
        return self.arities[0] if len(set(self.arities)) == 1 else None

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Leaves below a node of each level, ``n_0 = 1, n_1 = k_1, n_2 = k_1*k_2, ..., n_h = n``."""
        return tuple(itertools.accumulate(self.arities, lambda below, arity: below * arity, initial=1))

    def below(self, level: int, place: int) -> IntArray:
        """Return a node of a level, counted from the left, and all nodes below it.

        Nodes are numbered level by level, the leaves first.

        >>> Levels.uniform(2, 2).below(1, 1).tolist()
        [2, 3, 5]
        """
        sizes = [self.leaves[-1] // leaves for leaves in self.leaves]
        first = itertools.accumulate(sizes, initial=0)
        wide = [self.leaves[level] // leaves for leaves in self.leaves[: level + 1]]
        ranges = [np.arange(at + place * each, at + (place + 1) * each) for at, each in zip(first, wide, strict=False)]
        return int_array(np.concatenate(ranges), "nodes")


@dataclass(frozen=True, eq=False)
class Coordinates(Structure):
    """A place for each node: `places` int32[N, k]."""

    of_nodes = True

    places: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", int_array(self.places, "coordinates"))

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse anything but a row for each node."""
        if self.places.ndim == 2 and len(self.places) == nodes:
            return None
        return f"coordinates need one row for each of {nodes} nodes"

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep those of the nodes that remain."""
        return Coordinates(self.places[nodes])


@dataclass(frozen=True, eq=False)
class Groups(Structure):
    """Nodes that belong together, such as the routers of a group of a dragonfly: `group` int32[N], from 0 on."""

    of_nodes = True

    group: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", int_array(self.group, "groups"))

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse anything but a group for each node."""
        return None if self.group.shape == (nodes,) else f"groups need a number for each of {nodes} nodes"

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep those of the nodes that remain."""
        return Groups(self.group[nodes])


@dataclass(frozen=True)
class Tiers(Structure):
    """Terminals and switches in tiers: nodes are numbered tier by tier, the terminals first.

    Attributes
    ----------
    names : tuple of str
        What the nodes of each tier are called, in the plural.
    sizes : tuple of int
        How many nodes each tier has.
    rows : tuple of int
        Which row each tier is drawn in, counted from the bottom.
    """

    of_nodes = True

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: tuple[int, ...]

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse tiers that do not hold all nodes."""
        return None if sum(self.sizes) == nodes else f"its tiers hold {sum(self.sizes)} nodes, not {nodes}"

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep the tiers of the nodes that are left; a tier that none is left of is gone."""
        ends = np.cumsum(self.sizes)
        left = np.bincount(np.searchsorted(ends, nodes, side="right"), minlength=len(self.sizes)).tolist()
        kept = [told for told in zip(self.names, left, self.rows, strict=True) if told[1]]
        names, sizes, rows = zip(*kept, strict=True)
        return Tiers(names, sizes, rows)

    @property
    def coordinates(self) -> Coordinates:
        """The tier of each node and its place in the tier."""
        tier = np.repeat(np.arange(len(self.sizes)), self.sizes)
        place = np.concatenate([np.arange(size) for size in self.sizes])
        return Coordinates(int_array(np.stack([tier, place], axis=1), "coordinates"))


@dataclass(frozen=True)
class RatedLinks(Structure):
    """The published speed of a machine's links, which those take who ask for seconds without saying another.

    Attributes
    ----------
    bandwidth : int
        Bytes a second for each packet that a link carries at once; of so many packets, so many times as much.
    usual : bool
        Whether plans are in seconds unless steps are asked for, as where links have `Speeds`.
    """

    bandwidth: int
    usual: bool = field(default=False, compare=False)

    of_nodes = True

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep it: it is the same for all links."""
        return self


@dataclass(frozen=True, eq=False)
class Speeds(Structure):
    """What links carry in a second, and how long they take.

    From these and the size of a packet the occupancies and latencies in slots are made.

    Attributes
    ----------
    bandwidth : float64[L]
        Bytes a second of each link, for each of the packets that it carries at once; above 0.
    latency : float64[L]
        Seconds until the first byte is at the far end, 0 or more.
    """

    bandwidth: npt.NDArray[np.float64]
    latency: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, least, allowed in (("bandwidth", np.nextafter(0, 1), "above 0"), ("latency", 0.0, "0 or more")):
            column = np.array(getattr(self, name), np.float64)
            if column.size and not (np.isfinite(column).all() and float(column.min()) >= least):
                raise NetworkError(f"the {name} of every link must be a finite number, {allowed}")
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse anything but a value for each link."""
        if self.bandwidth.shape == self.latency.shape == (links,):
            return None
        return f"speeds need a bandwidth and a latency for each of {links} links"

    def transposed(self, order: IntArray) -> Structure:
        """Keep them in the order of the links turned round."""
        return Speeds(self.bandwidth[order], self.latency[order])

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep those of the links that remain."""
        return Speeds(self.bandwidth[links], self.latency[links])


@dataclass(frozen=True, eq=False)
class CableCounts(Structure):
    """Of how many equal cables each link is that has the speed of all of them together, such as 18 NVLinks.

    Attributes
    ----------
    count : int32[L]
        At least 1.
    """

    count: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", int_array(self.count, "numbers of cables"))

    def fault(self, nodes: int, links: int) -> str | None:
        """Refuse anything but a number for each link."""
        fits = self.count.shape == (links,) and (not links or int(self.count.min()) >= 1)
        return None if fits else f"a number of cables is needed for each of {links} links"

    def transposed(self, order: IntArray) -> Structure:
        """Keep them in the order of the links turned round."""
        return CableCounts(self.count[order])

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep those of the links that remain."""
        return CableCounts(self.count[links])


class Assumption(NamedTuple):
    """Something that a file or a data sheet does not say, and was decided.

    Attributes
    ----------
    text : str
        What was assumed, and from what, in one clause.
    change : str
        The option that changes it, in words; empty if there is none.
    """

    text: str
    change: str = ""

    def __str__(self) -> str:
        return f"{self.text}; to change it: {self.change}" if self.change else self.text


def no_latency(links: str = "links", option: str = "--latency TIME, such as --latency 2us") -> Assumption:
    """Return what is assumed of links that nobody gave a latency.

    >>> print(no_latency())
    latency of links taken as 0; to change it: --latency TIME, such as --latency 2us
    """
    return Assumption(f"latency of {links} taken as 0", option)


@dataclass(frozen=True)
class Assumptions(Structure):
    """What was assumed when the network was read or made, such as the speed of links that a file only counts.

    Attributes
    ----------
    every : tuple of Assumption
        In the order of their weight.
    """

    every: tuple[Assumption, ...]

    of_nodes = True

    @property
    def beside_latencies(self) -> Assumptions:
        """All but the one of links that nobody gave a latency."""
        option = no_latency().change
        return Assumptions(tuple(each for each in self.every if each.change != option))

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep them: they hold for what is left."""
        return self


@dataclass(frozen=True)
class SwitchAbilities(Structure):
    """What the switches of a machine can do with packets beside passing them on.

    A plan whose rules are left open takes `copies` for `Rules.replication`, and no reductions in switches.

    Attributes
    ----------
    copies : bool
        Whether they send several copies of a packet that they received once (multicast).
    combines : bool
        Whether they can combine contributions (reduction in the network).
    """

    copies: bool
    combines: bool

    of_nodes = True

    def remaining(self, nodes: IntArray, links: IntArray) -> Structure:
        """Keep it: it holds for the switches that are left."""
        return self

    @property
    def words(self) -> str:
        """What they can do, and which option says that they should, or should not.

        >>> SwitchAbilities(True, True).words
        'copy packets (--no-replication: not) and can reduce (--reduction)'
        """
        copy = "copy packets (--no-replication: not)" if self.copies else "do not copy packets (--replication: do)"
        return f"{copy} and can reduce (--reduction)" if self.combines else f"{copy} and do not reduce"
