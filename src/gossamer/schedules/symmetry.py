"""Symmetry of a schedule: translations of a Cayley network, or a free group of symmetries of any network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.errors import ScheduleError
from gossamer.networks.cable_orbits import FreeGroup
from gossamer.networks.finite_groups import Elements
from gossamer.networks.network import Network
from gossamer.networks.recognition.free_groups import ShiftGroup, group_of
from gossamer.reading import instance, whole


class Symmetry:
    """The translations under which an invariant schedule looks the same.

    A translation takes nodes to nodes and links to links, and none but the identity leaves a terminal or a link where
    it is; switches may stay (`free`). On a Cayley network a translation by h maps node u to ``h*u`` and link ``(u, g)``
    to ``(h*u, g)``; on any network it may be a permutation of the nodes that keeps the links. A translation is named by
    what it makes of node 0.

    The nodes fall into orbits; a schedule stores the packets of one representative of each orbit, and the rest are
    their translates. A link in slot t is then used by exactly one translate of each stored hop in slot t over a link
    of its orbit.

    Parameters
    ----------
    network : Network
        A Cayley network with links of one capacity, and of one occupancy and latency for each generator; or with
        `permutations` any network without shared ports.
    generated_by : iterable of int, optional
        Elements that generate the subgroup. Default: the whole group.
    permutations : sequence of N nodes each, optional
        Symmetries of the network that generate the group, in place of translations of a Cayley network:
        ``permutations[i][u]`` is where the i-th takes node u. `gossamer.networks.free_group` looks for some.

    Attributes
    ----------
    elements : int64[H]
        The names of the translations, ascending; element 0 is the identity.
    orbit : int32[N]
        Orbit number of each node.
    representatives : int64[R]
        The lowest node of each orbit.

    Raises
    ------
    ScheduleError
        If the network has no group, several capacities, links by one generator with several times, or nodes that are
        no terminals, or a generating element is out of range; with permutations, if both are given, or the network has
        shared ports.
    NetworkError
        If a permutation is no symmetry of the network, or a product of some leaves one node where it is and moves
        another.

    Notes
    -----
    The whole group costs O(N); a proper subgroup O(N) per orbit; permutations O(N log N) for each translation, and 4
    bytes for each translation and node.

    References
    ----------
    Dimakopoulos 1996, Lemma 4.7: left multiplication is an automorphism of a Cayley graph.

    Examples
    --------
    >>> import gossamer
    >>> even = Symmetry(gossamer.network("ring:6"), [2])
    >>> even.elements.tolist(), even.orbit.tolist(), even.representatives.tolist()
    ([0, 2, 4], [0, 1, 0, 1, 0, 1], [0, 1])

    An array is no Cayley network, but may be turned round:

    >>> turned = Symmetry(gossamer.network("array:4"), permutations=[[3, 2, 1, 0]])
    >>> turned.elements.tolist(), turned.orbit.tolist(), turned.representatives.tolist()
    ([0, 3], [0, 1, 1, 0], [0, 1])
    """

    def __init__(
        self,
        network: Network,
        generated_by: Iterable[int] | None = None,
        *,
        permutations: Sequence[npt.ArrayLike] | None = None,
    ) -> None:
        self.network = instance(network, Network, "the network", error=ScheduleError)
        given = () if generated_by is None else generated_by
        named = tuple(whole(g, "a generator", -(2**31), error=ScheduleError) for g in given)
        self.generated_by = None if generated_by is None else named
        self._free: FreeGroup | ShiftGroup | None = None
        if permutations is None:
            self._check_translations()
            self._by_translations()
            return
        if self.generated_by is not None:
            raise ScheduleError("a symmetry is of elements that generate a subgroup, or of permutations, not of both")
        if network.shared_ports is not None:
            raise ScheduleError(f"{network.spec} has links that share ports, so it has no translations")
        self._free = group_of(network, permutations)
        self.elements: Elements = self._free.names
        self.orbit, self.representatives = self._free.orbit, self._free.representatives

    def _check_translations(self) -> None:
        network = self.network
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

    def _by_translations(self) -> None:
        """Find the orbits of the translations by a subgroup."""
        n, group = self.network.node_count, self.network.group
        assert group is not None
        if self.generated_by is None:
            self.elements = np.arange(n, dtype=np.int64)
            self.orbit = np.zeros(n, np.int32)
            self.representatives = np.zeros(1, np.int64)
            return
        for g in self.generated_by:
            if not 0 <= g < n:
                raise ScheduleError(f"element {g} is outside 0..{n - 1} of the group of {self.network.spec}")
        self.elements = self._closure(self.generated_by)
        self.orbit = np.full(n, -1, np.int32)
        found: list[int] = []
        for x in range(n):
            if self.orbit[x] < 0:
                self.orbit[group.compose(self.elements, x)] = len(found)
                found.append(x)
        self.representatives = np.array(found, np.int64)

    def _closure(self, generators: tuple[int, ...]) -> Elements:
        """Return the subgroup generated, ascending."""
        member = np.zeros(self.network.node_count, bool)
        member[0] = True
        frontier = np.zeros(1, np.int64)
        while frontier.size and generators:
            reached = np.unique(self.translate(frontier[:, None], np.array(generators)[None, :]))
            frontier = reached[~member[reached]]
            member[frontier] = True
        return np.flatnonzero(member).astype(np.int64)

    # -- sizes ------------------------------------------------------------------------------------------------

    @property
    def order(self) -> int:
        """Number of translations, the size of every orbit of terminals and of links."""
        return int(self.elements.size)

    @property
    def free(self) -> bool:
        """Whether no translation but the identity leaves any node where it is, not even a switch."""
        return self._free is None or self._free.free

    @property
    def broken(self) -> npt.NDArray[np.bool_] | None:
        """Links that have no translates because some of these are missing, bool[L]; None if all have.

        No schedule that is invariant uses them.
        """
        return None if self._free is None else self._free.broken

    @property
    def orbit_count(self) -> int:
        """Number of orbits of nodes."""
        return int(self.representatives.size)

    @property
    def link_orbit_count(self) -> int:
        """Number of orbits of links."""
        return self.orbit_count * self._degree if self._free is None else self._free.link_classes

    @property
    def by_generator(self) -> bool:
        """Whether links are numbered by generators, so that their orbits are too: ``orbit*degree + generator``."""
        return self._free is None

    @property
    def terminals(self) -> Elements:
        """The representatives that are terminals."""
        return self.representatives[self.representatives < self.network.terminal_count]

    @property
    def _degree(self) -> int:
        return max(self.network.link_count // self.network.node_count, 1)

    # -- translating ------------------------------------------------------------------------------------------

    def link_orbit(self, link: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the orbit numbers of links, from 0 in the order of the orbits of the nodes that they leave."""
        links = np.asarray(link, np.int64)
        if self._free is not None:
            return self._free.link_orbit(links)
        degree = self._degree
        return self.orbit[links // degree] * np.int64(degree) + links % degree

    def translate(self, by: npt.ArrayLike, nodes: npt.ArrayLike) -> Elements:
        """Return the translates of nodes by translations, each given by what it makes of node 0."""
        if self._free is not None:
            return self._free.translate(by, nodes)
        assert self.network.group is not None
        return self.network.group.compose(by, nodes)

    def translate_links(self, by: npt.ArrayLike, links: npt.NDArray[np.integer]) -> Elements:
        """Return the translates of links."""
        if self._free is not None:
            return self._free.translate_links(by, links)
        degree = self._degree
        return self.translate(by, links // degree) * degree + links % degree

    def taking(self, source: npt.ArrayLike, target: npt.ArrayLike) -> Elements:
        """Return the translations that take nodes to others of their orbits."""
        if self._free is not None:
            return self._free.taking(source, target)
        group = self.network.group
        assert group is not None
        return group.compose(target, group.inverse(source))

    def on(self, network: Network) -> Symmetry:
        """Return the same translations of a network with the same nodes; an error as in `Symmetry` if it has none."""
        return Symmetry(network, **self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return what a file tells of it: the keywords of the constructor."""
        if self._free is None:
            return {"generated_by": self.generated_by}
        nodes = np.arange(self.network.node_count)
        return {"permutations": [self.translate(g, nodes).tolist() for g in self._free.generators]}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Symmetry):
            return NotImplemented
        if self.network != other.network or not np.array_equal(self.elements, other.elements):
            return False
        free, nodes = self._free or other._free, np.arange(self.network.node_count)
        alike = ((self.translate(g, nodes), other.translate(g, nodes)) for g in (free.generators if free else ()))
        return all(np.array_equal(*pair) for pair in alike)

    def __hash__(self) -> int:
        return hash((self.network, self.order))

    def __repr__(self) -> str:
        return f"<Symmetry of {self.network.spec}: {self.order} translations, {self.orbit_count} orbits>"
