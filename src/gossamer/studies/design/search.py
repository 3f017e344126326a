"""The search for networks: cheap prices first, then plans that are verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError, NetworkError
from gossamer.jit import njit
from gossamer.networks import AbelianGroup, Network, parse
from gossamer.networks.derived import lift
from gossamer.networks.group_specs import group_named
from gossamer.networks.twisted_tori import switched_cubes
from gossamer.studies.design.problem import SPEC_FAMILIES, Problem, specs_of
from gossamer.studies.design.random_groups import GROUP_FAMILIES, random_group

# Pools of elements of a group, each with its column of the multiplication table, for searches of generators.

Ints = npt.NDArray[np.int32]

_WHOLE = 1100
_BASE = 6
_SOME = 128


class Pool(NamedTuple):
    """Elements of a group from which generators are taken.

    `text`: the group. `element`, int32[P]: element numbers, ascending, closed under inverses, without the identity.
    `inverse`, int32[P]: the row of the inverse of each. `right`, int32[P, N]: ``x*p`` for each of them and every
    element x.
    """

    text: str
    element: Ints
    inverse: Ints
    right: Ints


def pool_of(text: str, rng: np.random.Generator) -> Pool:
    """Return all elements of a group of up to 1,100, or some hundred that are random products of six.

    >>> pool = pool_of("semidirect(7,3,2)", np.random.default_rng(0))
    >>> pool.element.tolist() == list(range(1, 21)), pool.right.shape
    (True, (20, 21))
    """
    group = group_named(text).group
    n = group.order
    every = np.arange(n)
    base = rng.choice(every[1:], min(_BASE, n - 1), replace=False)
    columns = [group.compose(every, int(g)).astype(np.int32) for g in base]
    columns += [np.argsort(column).astype(np.int32) for column in columns]
    known: dict[int, Ints] = {0: every.astype(np.int32)}
    if n <= _WHOLE:
        frontier = [known[0]]
        while frontier:
            following = []
            for column in frontier:
                for step in columns:
                    if (x := int(step[column[0]])) not in known:
                        known[x] = step[column]
                        following.append(known[x])
            frontier = following
    else:
        tries = 0
        while len(known) < _SOME and tries < 4 * _SOME:
            tries += 1
            column = known[0]
            for k in rng.integers(0, len(columns), rng.integers(1, 7)):
                column = columns[k][column]
            if int(column[0]) not in known:
                known[int(column[0])] = column
                back = np.argsort(column).astype(np.int32)
                known[int(back[0])] = back
    del known[0]
    element = np.array(sorted(known), np.int32)
    right = np.stack([known[x] for x in element.tolist()])
    inverse = np.searchsorted(element, np.argsort(right, axis=1)[:, 0]).astype(np.int32)
    return Pool(text, element, inverse, right)


Say = Callable[[str], None]

_LOOKS = 6_000_000
_FEWEST_LOOKS = 600
_PATIENCE = 120
_KEPT = 6
_POOLS = 8
_TRIES = 3
_KEPT_CANDIDATES = 60
_GROUP_SHARE = 0.4
_LEAST_ROUNDS = 6
_ROUNDS_A_LIFT = 24


@dataclass(frozen=True)
class CandidateNetwork:
    """A network by its spec, and what is known of it before it is planned.

    * `spec`: parses back.
    * `family`: where it was found.
    * `nodes`, `diameter`: its size and largest distance.
    * `status`: sum of the distances from a node, the largest of all nodes if they differ.
    * `price`: its price over that of the best network there could be; 1 at the least.
    * `network`: the network, where its spec does not parse back.
    """

    spec: str
    family: str
    nodes: int
    diameter: int
    status: int
    price: float
    network: Network | None = field(default=None, compare=False, repr=False)

    @property
    def built(self) -> Network:
        """The network."""
        return parse(self.spec) if self.network is None else self.network

    @property
    def mean_distance(self) -> float:
        """Mean distance to another node."""
        return self.status / max(self.nodes - 1, 1)


@dataclass
class _Arm:
    """A kind of groups of one order: how it did so far."""

    kind: str
    nodes: int
    best: float = np.inf
    tries: int = 0
    empty: int = 0


class _Known(NamedTuple):
    """A group that did well: the best price, its kind, its pool and its best sets of generators."""

    price: float
    kind: str
    pool: Pool
    sets: npt.NDArray[np.int32]


@dataclass
class _State:
    """What a search knows."""

    problem: Problem
    rng: np.random.Generator
    found: dict[tuple[int, float, int], CandidateNetwork] = field(default_factory=dict)
    pools: dict[str, _Known] = field(default_factory=dict)
    best: dict[str, CandidateNetwork] = field(default_factory=dict)
    looks: int = 0

    def add(self, candidate: CandidateNetwork) -> None:
        """Keep a candidate, unless one of the same size, price and diameter is known."""
        if candidate.family not in self.best or candidate.price < self.best[candidate.family].price:
            self.best[candidate.family] = candidate
        key = candidate.nodes, round(candidate.price, 9), candidate.diameter
        if key not in self.found:
            self.found[key] = candidate
            if len(self.found) > 4 * _KEPT_CANDIDATES:
                best = sorted(self.found.items(), key=lambda item: item[1].price)[:_KEPT_CANDIDATES]
                self.found = dict(best)

    @property
    def ranked(self) -> list[CandidateNetwork]:
        """The candidates, the best first."""
        every = {c.spec: c for c in (*self.found.values(), *self.best.values())}
        return sorted(every.values(), key=lambda c: (c.price, c.spec))

    @property
    def told(self) -> str:
        """How it goes."""
        best = self.ranked[:1]
        told = f", best {best[0].price:.4f} x the limit's price" if best else ""
        return f"searching, {self.looks:,} networks looked at{told}"

    @property
    def kept(self) -> list[CandidateNetwork]:
        """The best candidates, and the best of every family."""
        ranked = self.ranked
        leaders = {c.spec for c in self.best.values()}
        return [c for place, c in enumerate(ranked) if place < _KEPT_CANDIDATES or c.spec in leaders]


def candidates(
    problem: Problem, *, budget: float = 14.0, rounds: int | None = None, seed: int = 0, say: Say | None = None
) -> tuple[list[CandidateNetwork], int]:
    """Return networks with small prices, the best first, and how many were looked at.

    * `problem`: what is wanted.
    * `budget`: seconds of CPU time for the search.
    * `rounds`: rounds to make instead, which takes the time that it takes: the same seed and rounds find the same
      networks.
    * `seed`: where chance comes from. Searches with the same seed make the same rounds, as many as the budget allows.
    * `say`, callable: told how it goes.

    A round draws a group, or continues one of the best, and searches sets of its generators: random ones, then
    exchanges of one generator for another, by the sum of the distances from the identity, a breadth-first search each.
    Kinds of groups that did well are drawn more often. Up to 400 nodes most of the time goes to lifts of small graphs,
    annealed by the sum of their distances.
    """
    state = _State(problem, np.random.default_rng(seed))
    began = time.process_time()
    families = problem.families or (*GROUP_FAMILIES, *SPEC_FAMILIES)
    for candidate in _listed(problem, [f for f in families if f in SPEC_FAMILIES], state.rng):
        state.looks += 1
        state.add(candidate)
        if rounds is None and candidate.family != "torus" and time.process_time() - began > budget / 3:
            break
    sizes = range(problem.nodes[0], problem.nodes[1] + 1)
    arms = [_Arm(kind, nodes) for nodes in sizes for kind in GROUP_FAMILIES if kind in families and nodes > 3]
    made = 0
    share = _GROUP_SHARE if lifts_wanted(problem) else 1.0
    while arms and (
        made < rounds if rounds is not None else made < _LEAST_ROUNDS or time.process_time() - began < share * budget
    ):
        arms = _round(state, arms, made)
        made += 1
        if say is not None and made % 8 == 0:
            say(state.told)
    lifts = 0
    while share < 1 and (
        lifts * _ROUNDS_A_LIFT < rounds if rounds is not None else time.process_time() - began < budget
    ):
        lifts += 1
        network, looks = random_lift(problem, state.rng)
        state.looks += looks
        found = None if network is None else priced(network, problem, "lift")
        if found is not None:
            state.add(found)
        if say is not None:
            say(state.told)
        if not looks and lifts > _PATIENCE:
            break
    return state.kept, state.looks


def _round(state: _State, arms: list[_Arm], made: int) -> list[_Arm]:
    """Make one round; return the kinds of groups that are left."""
    rng = state.rng
    if state.pools and rng.random() < min(0.5, made / 60):
        names = sorted(state.pools, key=lambda name: state.pools[name].price)
        known = state.pools[names[min(int(rng.exponential(1.5)), len(names) - 1)]]
        _searched(state, known.kind, known.pool, known.sets)
        return arms
    fresh = [arm for arm in arms if arm.tries + arm.empty < _TRIES]
    if fresh:
        arm = fresh[int(rng.integers(len(fresh)))]
    else:
        order = sorted(arms, key=lambda a: a.best)
        arm = order[min(int(rng.exponential(1.2)), len(order) - 1)]
    text = random_group(arm.kind, arm.nodes, rng)
    if text is None:
        arm.empty += 1
        return arms if arm.tries or arm.empty < _TRIES else [a for a in arms if a is not arm]
    try:
        before = state.pools.get(text)
        pool = pool_of(text, rng) if before is None else before.pool
    except NetworkError:
        arm.empty += 1
        return arms
    arm.tries += 1
    begin = np.zeros((0, state.problem.degree), np.int32) if before is None else before.sets
    arm.best = min(arm.best, _searched(state, arm.kind, pool, begin))
    return arms


def _searched(state: _State, kind: str, pool: Pool, begin: npt.NDArray[np.int32]) -> float:
    """Search sets of generators in a pool, keep the best; return the price of the best over the least."""
    from gossamer.studies.design import _kernels

    problem = state.problem
    nodes = pool.right.shape[1]
    by_sum, by_far = problem.prices
    looks = max(_FEWEST_LOOKS, _LOOKS // (nodes * problem.degree))
    sets, price, sums, wide, made = _kernels.best_sets(
        pool.right, pool.inverse, problem.degree, not problem.one_way, by_sum, by_far,
        np.zeros(0, np.int32), np.ascontiguousarray(begin), looks, _PATIENCE, _KEPT, int(state.rng.integers(1 << 30)),
    )  # fmt: skip
    state.looks += made
    good = [i for i in np.argsort(price) if np.isfinite(price[i])]
    least = problem.least_price(nodes)
    for i in good:
        numbers = ",".join(map(str, sorted(pool.element[sets[i]].tolist())))
        spec = f"cayley:{pool.text};{numbers}{';one-way' if problem.one_way else ''}"
        state.add(CandidateNetwork(spec, kind, nodes, int(wide[i]), int(sums[i]), float(price[i]) / least))
    if not good:
        return float("inf")
    best = float(price[good[0]]) / least
    state.pools[pool.text] = _Known(best, kind, pool, sets[good])
    if len(state.pools) > _POOLS:
        del state.pools[max(state.pools, key=lambda name: state.pools[name].price)]
    return best


def _listed(problem: Problem, families: list[str], rng: np.random.Generator) -> Iterator[CandidateNetwork]:
    """Yield the networks of families without generators, tori first."""
    for family in families:
        for nodes in range(problem.nodes[0], problem.nodes[1] + 1):
            if family == "kautz" and not problem.one_way:
                continue
            for spec in specs_of(family, nodes, problem.degree, rng):
                try:
                    network = parse(spec)
                except NetworkError:
                    continue
                found = priced(network, problem, family)
                if found is not None:
                    yield found


def priced(network: Network, problem: Problem, family: str) -> CandidateNetwork | None:
    """Return a network with its price, or None if it does not fit the problem or is not connected.

    >>> from gossamer.studies.design.problem import Problem, read_goals
    >>> problem = Problem((512, 512), 6, read_goals(["alltoall"]))
    >>> found = priced(parse("torus:8x8x8"), problem, "torus")
    >>> found.status, found.diameter, round(found.price, 2)
    (3072, 12, 1.69)
    """
    from gossamer.studies.design import _kernels

    n = network.node_count
    most = int(max(network.out_degree.max(initial=0), network.in_degree.max(initial=0)))
    fits = problem.nodes[0] <= n <= problem.nodes[1] and most <= problem.degree
    if not fits or network.terminal_count < n or not (problem.one_way or network.two_way):
        return None
    sources = np.arange(1 if network.group is not None else n)
    sums, wide = np.empty(sources.size, np.int64), np.empty(sources.size, np.int64)
    _kernels.distance_sums(network.first_link, network.link_target, sources, sums, wide, np.zeros(n, np.int64))
    if int(sums.min()) < 0:
        return None
    by_sum, by_far = problem.prices
    full = n * problem.degree / max(network.link_count, 1) if problem.rate > 1 else 1.0
    price = by_sum * float(sums.mean()) * full + by_far * int(wide.max())
    kept = network if network.links_only else None
    return CandidateNetwork(
        network.spec, family, n, int(wide.max()), int(sums.max()), price / problem.least_price(n), kept
    )


def single_paths(network: Network) -> float:
    """Return the share of ordered pairs of nodes between which there is one shortest path only. O(N links) time.

    >>> single_paths(parse("ring:5")), round(single_paths(parse("torus:4x4")), 3)
    (1.0, 0.267)
    """
    from gossamer.studies.design import _kernels

    n = network.node_count
    sources = np.arange(1 if network.group is not None else n)
    alone = int(_kernels.single_ways(network.first_link, network.link_target, sources))
    return alone / max(sources.size * (n - 1), 1)


# Lifts of small graphs: which ports are joined, and by which elements of a group.


@njit(cache=True, nogil=True)
def _status(far, element, product, stop, queue, mark):
    """Return the sum of the distances from one node of each vertex, -1 if it is over `stop` or some are not reached.

    Port j of vertex b leads to vertex ``far[b, j]`` by ``element[b, j]``. Ends as soon as the sum must be over `stop`
    even if every node from now on has degree - 1 links to new ones.
    """
    vertices, degree = far.shape
    order = product.shape[0]
    n = vertices * order
    total = 0
    for s in range(vertices):
        mark[:] = False
        queue[0] = s * order
        mark[s * order] = True
        start, end, tail, away = 0, 1, 1, 1
        while tail < n:
            for i in range(start, end):
                b = queue[i] // order
                x = queue[i] - b * order
                for j in range(degree):
                    v = far[b, j] * order + product[x, element[b, j]]
                    if not mark[v]:
                        mark[v] = True
                        queue[tail] = v
                        tail += 1
            if tail == end:
                return -1
            total += away * (tail - end)
            start, end = end, tail
            away += 1
            left, room, least, layer = n - tail, (end - start) * (degree - 1), total, away
            while left > 0 and room > 0:
                fill = min(room, left)
                least += fill * layer
                left -= fill
                room *= degree - 1
                layer += 1
            if left > 0 or least > stop:
                return -1
    return total


@njit(cache=True, nogil=True)
def _join(far, element, inverse, pair, a, b, g):
    """Join ports a and b, numbered vertex by vertex: the first leads by g, the second by its inverse."""
    degree = far.shape[1]
    pair[a], pair[b] = b, a
    far[a // degree, a % degree], element[a // degree, a % degree] = b // degree, g
    far[b // degree, b % degree], element[b // degree, b % degree] = a // degree, inverse[g]


@njit(cache=True, nogil=True)
def _keep(other, here, pair, element):
    """Write the ports that belong together, and their group elements, to the arrays of the best lift."""
    for port in range(other.size):
        pair[port] = other[port]
        element[port // here.shape[1], port % here.shape[1]] = here[port // here.shape[1], port % here.shape[1]]


@njit(cache=True, nogil=True)
def _best_lift(vertices, degree, product, inverse, looks, heat, seed, pair, element):
    """Anneal which ports are joined and by which elements; return the least sum of distances from all vertices.

    `product` int64[Q, Q] and `inverse` int64[Q] are those of the group. `pair` int64[vertices*degree] and `element`
    int64[vertices, degree] receive the best. A look exchanges the ends of two edges, or the element of one.
    """
    np.random.seed(seed)
    order = inverse.size
    ports = vertices * degree
    n = vertices * order
    queue = np.empty(n, np.int64)
    mark = np.zeros(n, np.bool_)
    far = np.zeros((vertices, degree), np.int64)
    here = np.zeros((vertices, degree), np.int64)
    other = np.zeros(ports, np.int64)
    mixed = np.random.permutation(ports)
    for i in range(0, ports, 2):
        _join(far, here, inverse, other, mixed[i], mixed[i + 1], np.random.randint(order))
    best = 1 << 40
    current = _status(far, here, product, best, queue, mark)
    if current < 0:
        current = best
    _keep(other, here, pair, element)
    for look in range(looks):
        a, c = np.random.randint(ports), np.random.randint(ports)
        b, e = other[a], other[c]
        one, two = here[a // degree, a % degree], here[c // degree, c % degree]
        swap = np.random.randint(2) == 1 and c != a and c != b
        g = np.random.randint(order)
        if swap:
            _join(far, here, inverse, other, a, c, g)
            _join(far, here, inverse, other, b, e, np.random.randint(order))
        else:
            _join(far, here, inverse, other, a, b, g)
        warm = heat * (1.0 - look / looks)
        room = current - warm * np.log(max(np.random.random(), 1e-12))
        found = _status(far, here, product, int(room), queue, mark)
        if found >= 0:
            current = found
            if found < best:
                best = found
                _keep(other, here, pair, element)
        else:
            _join(far, here, inverse, other, a, b, one)
            if swap:
                _join(far, here, inverse, other, c, e, two)
    return best


MOST_LIFTED = 400
"""Nodes up to which lifts are looked for: their exchanges are planned for every node, not for one."""
_KINDS = ("abelian", "semidirect", "2-group", "vectors", "permutations")
_MOST_VERTICES = 16
_LEAST_ORDER = 4
_WORK = 1_500_000
_FREE, _LEAST_LOOKS, _LOOKS_A_PORT = 800_000_000, 3_000, 400
"""Links looked at where nearly all joins are free, the looks that are worth it, and the most for each port."""
_HEAT = 2.0


def lifts_wanted(problem: Problem) -> bool:
    """Return whether lifts are looked for: where all-to-all counts, links have opposites, and there are few nodes."""
    asked = not problem.families or "lift" in problem.families
    exchanges = any(goal.task == "total-exchange" for goal in problem.goals)
    return asked and exchanges and not problem.one_way and problem.nodes[0] <= MOST_LIFTED and problem.degree > 2


def random_lift(problem: Problem, rng: np.random.Generator) -> tuple[Network | None, int]:
    """Return a lift over a random group, annealed by the sum of its distances, and how many were looked at.

    None where the numbers of nodes and ports drawn have no lift.
    """
    degree = problem.degree
    nodes = int(rng.integers(problem.nodes[0], min(problem.nodes[1], MOST_LIFTED) + 1))
    several = [k for k in range(2, nodes + 1) if nodes % k == 0 and k * degree % 2 == 0]
    counts = [k for k in several if k <= _MOST_VERTICES and nodes // k >= _LEAST_ORDER]
    if max(counts, default=0) <= 2:  # such as twice a prime: joined at will, or but for one symmetry
        counts += [k for k in several if nodes // k <= 2 and _FREE // (nodes * k * degree) >= _LEAST_LOOKS]
    if not counts:
        return None, 0
    vertices = int(rng.choice(counts))
    order = nodes // vertices
    text = f"abelian({order})" if order <= 2 else random_group(str(rng.choice(_KINDS)), order, rng)
    if text is None:
        return None, 0
    group = group_named(text).group
    every = np.arange(group.order)
    product = np.ascontiguousarray(group.compose(every[:, None], every), np.int64)
    ports = vertices * degree
    looks = max(100, _WORK // ports) if order > 2 else min(_FREE // (nodes * ports), _LOOKS_A_PORT * ports)
    pair, element = np.zeros(ports, np.int64), np.zeros((vertices, degree), np.int64)
    _best_lift(
        vertices, degree, product, np.asarray(group.inverse(every), np.int64), looks, _HEAT * vertices,
        int(rng.integers(1 << 30)), pair, element,
    )  # fmt: skip
    ends = [(a, b) for a, b in enumerate(pair.tolist()) if a < b]
    edges = [(a // degree, b // degree, int(element[a // degree, a % degree])) for a, b in ends]
    try:
        return lift(text, edges), looks
    except NetworkError:  # two edges join the same nodes
        return None, looks


# The search where some links stay: cubes that switches join, and networks that contain another.

_FIXED_LOOKS = 3_000
_FIXED_HEAT = 1.0
_FIXED_SOURCES = 64
_FIXED_KEPT = 12


def fixed_candidates(
    problem: Problem, *, budget: float = 14.0, rounds: int | None = None, seed: int = 0, say: Say | None = None
) -> tuple[list[CandidateNetwork], int]:
    """Return networks that have the links that stay, the best first, and how many were looked at.

    Parameters are those of `gossamer.studies.design.search.candidates`.

    Raises ModelError if no network of that size and degree has these links.
    """
    rng = np.random.default_rng(seed)
    wishes = problem.wishes
    found: dict[str, CandidateNetwork] = {}
    compared = _plain_cubes(problem) if wishes.cubes else []
    made = _cubes(problem, rng) if wishes.cubes else _containing(problem, rng)
    looks, began = 0, time.process_time()
    for network, count in made:
        candidate = priced(network, problem, "switched-cubes" if wishes.cubes else "joined")
        looks += count
        if candidate is not None:
            found[candidate.spec] = candidate
        if say is not None:
            best = min((c.price for c in found.values()), default=float("inf"))
            say(f"searching joins, {looks:,} looked at, best {best:.4f} x the limit's price")
        done = len(found) >= rounds if rounds is not None else time.process_time() - began > budget
        if done:
            break
    ranked = sorted(found.values(), key=lambda c: (c.price, c.spec))[:_FIXED_KEPT]
    return [*compared, *ranked], looks


def _plain_cubes(problem: Problem) -> list[CandidateNetwork]:
    """Return the torus whose sides are as equal as they can be, to compare with."""
    side = problem.wishes.cubes
    cubes = problem.nodes[0] // side**3
    best = min(
        ((a, b, cubes // a // b) for a in range(1, cubes + 1) if cubes % a == 0 for b in range(1, cubes // a + 1)
         if cubes // a % b == 0),
        key=lambda s: (max(s), s),
    )  # fmt: skip
    found = priced(parse("torus:" + "x".join(str(side * s) for s in best)), problem, "torus")
    return [] if found is None else [found]


def _cubes(problem: Problem, rng: np.random.Generator) -> Iterator[tuple[Network, int]]:
    """Yield networks of cubes, their switches annealed, over several groups of cubes."""
    from gossamer.studies.design import _kernels

    side = problem.wishes.cubes
    sizes = [n // side**3 for n in range(problem.nodes[0], problem.nodes[1] + 1) if n % side**3 == 0]
    if not sizes or problem.degree != 6:
        raise ModelError(f"cubes of {side}^3 nodes need a multiple of {side**3} nodes and a degree of 6")
    while True:
        cubes = int(rng.choice(sizes))
        kind = str(rng.choice(["abelian", "semidirect", "2-group", "vectors", "abelian"]))
        text = random_group(kind, cubes, rng) if cubes > 1 else "abelian(1)"
        if text is None:
            continue
        group = group_named(text).group
        every = np.arange(cubes)
        product = np.ascontiguousarray(group.compose(every[:, None], every), np.int32)
        joins = rng.integers(0, cubes, (3, side * side))
        looks = max(300, _FIXED_LOOKS * 64 * 512 // (side**3 * cubes * side**3))
        inverse = np.asarray(group.inverse(every), np.int32)
        _kernels.joined_cubes(
            side, product, inverse, joins, looks, _FIXED_HEAT * side**3 * cubes / 8, int(rng.integers(1 << 30))
        )
        yield switched_cubes(side, text, *(row.tolist() for row in joins)), looks


def _containing(problem: Problem, rng: np.random.Generator) -> Iterator[tuple[Network, int]]:
    """Yield networks with all links of another, the ports that are left joined at will."""
    inner = parse(problem.wishes.contains)
    n = inner.node_count
    left = problem.degree - inner.out_degree
    if not problem.nodes[0] <= n <= problem.nodes[1] or int(left.min()) < 0 or not inner.two_way:
        raise ModelError(
            f"{inner.spec} has {n} nodes of up to {inner.degree} links: it fits in no network of that size and degree"
        )
    if inner.terminal_count < n:
        raise ModelError(f"{inner.spec} has switches; name a network whose nodes are all terminals")
    if int(left.max()) == 0:
        yield inner, 1
        return
    while True:
        if isinstance(inner.group, AbelianGroup) and rng.random() < 0.5:
            yield _more_generators(problem, inner, rng)
        else:
            yield _joined(problem, inner, left, rng)


def _more_generators(problem: Problem, inner: Network, rng: np.random.Generator) -> tuple[Network, int]:
    """Add generators to an abelian Cayley network."""
    from gossamer.studies.design import _kernels

    group = inner.group
    assert isinstance(group, AbelianGroup)
    every = np.arange(group.order)
    own = inner.generators
    some = every[1:] if group.order <= 1100 else rng.choice(every[1:], 256, replace=False)
    element = np.unique(np.concatenate([some, group.inverse(some), own]))
    inverse = np.searchsorted(element, group.inverse(element)).astype(np.int32)
    right = group.compose(every[None, :], element[:, None]).astype(np.int32)
    by_sum, by_far = problem.prices
    looks = max(200, 2_000_000 // (group.order * problem.degree))
    sets, price, *_ = _kernels.best_sets(
        right, inverse, problem.degree, True, by_sum, by_far, np.searchsorted(element, own).astype(np.int32),
        np.zeros((0, problem.degree), np.int32), looks, 80, 3, int(rng.integers(1 << 30)),
    )  # fmt: skip
    best = int(np.argmin(price))
    if not np.isfinite(price[best]):
        return inner, looks
    numbers = [*own.tolist(), *sorted(set(element[sets[best]].tolist()) - set(own.tolist()))]
    moduli = ",".join(map(str, group.moduli))
    return parse(f"cayley:abelian({moduli});{','.join(map(str, numbers))}"), looks


def _joined(
    problem: Problem, inner: Network, left: npt.NDArray[np.int64], rng: np.random.Generator
) -> tuple[Network, int]:
    """Join the free ports at random, then exchange ends of joins while distances get shorter."""
    from gossamer.studies.design import _kernels

    n, degree = inner.node_count, problem.degree
    target = np.full((n, degree), -1, np.int32)
    begin = inner.out_degree.astype(np.int64)
    for u in range(n):
        links = inner.out_links(u)
        target[u, : len(links)] = inner.link_target[links.start : links.stop]
    fill = begin.copy()
    ports = rng.permutation(np.repeat(np.arange(n), left))
    waiting = ports.tolist()
    for _ in range(50):
        again: list[int] = []
        for a, b in zip(waiting[::2], waiting[1::2], strict=False):
            if a == b or b in target[a]:
                again += [a, b]
                continue
            target[a, fill[a]], target[b, fill[b]] = b, a
            fill[a] += 1
            fill[b] += 1
        waiting = rng.permutation(np.array(again, np.int64)).tolist()
    sources = np.sort(rng.choice(n, min(n, _FIXED_SOURCES), replace=False))
    looks = max(200, 60_000_000 // (n * degree * sources.size))
    _kernels.joined_ports(target, begin, sources, looks, int(rng.integers(1 << 30)))
    edges = [(u, int(v), 0) for u in range(n) for v in np.sort(target[u]) if v > u]
    return lift("abelian(1)", edges), looks
