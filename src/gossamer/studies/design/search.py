"""The search for networks: cheap prices first, then plans that are verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.errors import NetworkError
from gossamer.networks import Network, parse
from gossamer.networks.group_specs import group_named
from gossamer.studies.design.lift_search import lifts_wanted, random_lift
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
