"""The names of a network's nodes: numbers, coordinates, labels."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from gossamer.errors import NetworkError, shown
from gossamer.networks.link_table import LinkTable
from gossamer.networks.structures import Coordinates, Grid, IntArray, int_array
from gossamer.reading import whole

__all__ = ["NamedNodes"]


class NamedNodes(LinkTable):
    """What a network's nodes are called, and whom somebody means."""

    @cached_property
    def coordinates(self) -> IntArray | None:
        """Node coordinates, int32[N, k], or None where the family has none."""
        known, grid = self.find(Coordinates), self.find(Grid)
        if known is None and grid is not None:
            node = np.arange(self.node_count, dtype=np.int32)[:, None]
            digits = node // np.array(grid.strides, np.int32) % np.array(grid.sides, np.int32)
            return int_array(digits, "coordinates")
        return None if known is None else known.places

    def node_name(self, node: int) -> str:
        """Return a readable name: the label, else the coordinates where the family has them, else the number."""
        node = self._known(node)
        if self.labels is not None:
            return self.labels[node]
        if self.coordinates is None:
            return str(node)
        return "(" + ",".join(str(int(x)) for x in self.coordinates[node]) + ")"

    def node(self, value: object) -> int:
        """Return the number of the node that somebody means.

        Parameters
        ----------
        value : int, sequence of int or str
            A node number, coordinates, or the name that `node_name` prints, of coordinates with or without parentheses;
            a text of digits that is no such name is a number.

        Raises
        ------
        NetworkError
            If there is no such node.

        Examples
        --------
        >>> import gossamer
        >>> net = gossamer.network("torus:3x4")
        >>> net.node(6), net.node((1, 2)), net.node("(1,2)"), net.node("1,2")
        (6, 6, 6, 6)
        """
        if isinstance(value, str):
            text = "".join(value.split())
            if self.labels is not None and value in self.labels:
                return self.labels.index(value)
            if re.fullmatch(r"\([0-9,]+\)|[0-9]+(,[0-9]+)+", text):
                value = tuple(map(int, re.findall("[0-9]{1,10}", text)))
            elif re.fullmatch("[0-9]{1,10}", text):
                value = int(text)
        if isinstance(value, tuple | list | np.ndarray) and self.coordinates is not None:
            wanted = list(value)
            whole = all(isinstance(x, int | np.integer) for x in wanted)
            if whole and len(wanted) == len(self.coordinates[0]):
                hit = np.flatnonzero((self.coordinates == wanted).all(axis=1))
                if hit.size:
                    return int(hit[0])
        elif isinstance(value, int | np.integer) and not isinstance(value, bool):
            return self._known(int(value))
        example = self.node_name(self.node_count - 1)
        raise NetworkError(
            f"network {self.spec!r} has no node {shown(value)}; a node is a number 0..{self.node_count - 1} "
            f"or a name such as {example}"
        )

    def link_name(self, link: int) -> str:
        """Return ``source->target`` by node names."""
        link = whole(link, f"network {self.spec!r}: a link", 0, self.link_count - 1, error=NetworkError)
        return f"{self.node_name(int(self.link_source[link]))}->{self.node_name(int(self.link_target[link]))}"
