"""Symmetry of a schedule: left translations of a Cayley network by a subgroup of its group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.groups import Elements, Group
from gossamer.networks.network import Network

__all__ = ["Symmetry"]


class Symmetry:
    """The translations under which an invariant schedule looks the same.

    A translation by h maps node u to ``h*u`` and link ``(u, g)`` to ``(h*u, g)``. The nodes fall into orbits; a
    schedule stores the packets of one representative of each orbit, and the rest are their translates. A link
    (u, g) in slot t is then used by exactly one translate of each stored hop (v, g, t) with v in the orbit of u.

    Parameters
    ----------
    network : Network
        A Cayley network with links of one capacity, and of one occupancy and latency for each generator.
    generated_by : iterable of int, optional
        Elements that generate the subgroup. Default: the whole group.

    Attributes
    ----------
    elements : int64[H]
        The subgroup, ascending; element 0 is the identity.
    orbit : int32[N]
        Orbit number of each node.
    representatives : int64[R]
        The lowest node of each orbit.

    Raises
    ------
    ScheduleError
        If the network has no group, several capacities, links by one generator with several times, or nodes that are
        no terminals, or a generating element is out of range.

    Notes
    -----
    The whole group costs O(N); a proper subgroup O(N) per orbit.

    References
    ----------
    Dimakopoulos 1996, Lemma 4.7: left multiplication is an automorphism of a Cayley graph.

    Examples
    --------
    >>> import gossamer
    >>> even = Symmetry(gossamer.network("ring:6"), [2])
    >>> even.elements.tolist(), even.orbit.tolist(), even.representatives.tolist()
    ([0, 2, 4], [0, 1, 0, 1, 0, 1], [0, 1])
    """

    def __init__(self, network: Network, generated_by: Iterable[int] | None = None) -> None:
        if network.group is None:
            raise ScheduleError(f"{network.spec} is not a Cayley network, so it has no translations")
        if network.uniform_capacity is None:
            raise ScheduleError(f"{network.spec} has links of several capacities, so it has no translations")
        if network.terminal_count < network.node_count:
            raise ScheduleError(f"{network.spec} has nodes that are no terminals, so it has no translations")
        if network.shared_ports is not None:
            raise ScheduleError(f"{network.spec} has links that share ports, so it has no translations")
        if not network.alike:
            raise ScheduleError(f"{network.spec} has links whose times depend on the node, so it has no translations")
        self.network = network
        self.group: Group = network.group
        n = network.node_count
        self.generated_by = None if generated_by is None else tuple(int(g) for g in generated_by)
        if self.generated_by is None:
            self.elements: Elements = np.arange(n, dtype=np.int64)
            self.orbit = np.zeros(n, np.int32)
            self.representatives: Elements = np.zeros(1, np.int64)
            return
        for g in self.generated_by:
            if not 0 <= g < n:
                raise ScheduleError(f"element {g} is outside 0..{n - 1} of the group of {network.spec}")
        self.elements = self._closure(self.generated_by)
        self.orbit = np.full(n, -1, np.int32)
        found: list[int] = []
        for x in range(n):
            if self.orbit[x] < 0:
                self.orbit[self.group.compose(self.elements, x)] = len(found)
                found.append(x)
        self.representatives = np.array(found, np.int64)

    def _closure(self, generators: tuple[int, ...]) -> Elements:
        """Return the subgroup generated, ascending."""
        member = np.zeros(self.network.node_count, bool)
        member[0] = True
        frontier = np.zeros(1, np.int64)
        while frontier.size and generators:
            reached = np.unique(self.group.compose(frontier[:, None], np.array(generators)[None, :]))
            frontier = reached[~member[reached]]
            member[frontier] = True
        return np.flatnonzero(member).astype(np.int64)

    @property
    def order(self) -> int:
        """Number of translations, the size of every orbit."""
        return int(self.elements.size)

    @property
    def orbit_count(self) -> int:
        """Number of orbits of nodes."""
        return int(self.representatives.size)

    def link_orbit(self, link: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the orbit number ``orbit*degree + generator`` of links."""
        links = np.asarray(link, np.int64)
        degree = max(self.network.link_count // self.network.node_count, 1)
        return self.orbit[links // degree] * np.int64(degree) + links % degree

    def translate(self, by: int, nodes: npt.ArrayLike) -> Elements:
        """Return the nodes ``by*x``."""
        return self.group.compose(by, nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Symmetry):
            return NotImplemented
        return self.network == other.network and np.array_equal(self.elements, other.elements)

    def __hash__(self) -> int:
        return hash((self.network, self.order))

    def __repr__(self) -> str:
        return f"<Symmetry of {self.network.spec}: {self.order} translations, {self.orbit_count} orbits>"
