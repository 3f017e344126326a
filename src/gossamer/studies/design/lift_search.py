"""The search for lifts of small graphs: which ports are joined, and by which elements of a group."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.jit import njit
from gossamer.networks import Network
from gossamer.networks.group_specs import group_named
from gossamer.networks.lifts import lift
from gossamer.studies.design.problem import Problem
from gossamer.studies.design.random_groups import random_group


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
