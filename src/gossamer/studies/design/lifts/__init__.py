"""The search for lifts of small graphs: which ports are joined, and by which elements of a group."""

from __future__ import annotations

import numpy as np

from gossamer.errors import NetworkError
from gossamer.networks import Network
from gossamer.networks.cayley_groups import group_named
from gossamer.networks.lifts import lift
from gossamer.studies.design.problem import Problem
from gossamer.studies.design.random_groups import random_group

__all__ = ["MOST_LIFTED", "lifts_wanted", "random_lift"]

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
    from gossamer.studies.design.lifts import _kernels

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
    _kernels.best_lift(
        vertices, degree, product, np.asarray(group.inverse(every), np.int64), looks, _HEAT * vertices,
        int(rng.integers(1 << 30)), pair, element,
    )  # fmt: skip
    ends = [(a, b) for a, b in enumerate(pair.tolist()) if a < b]
    edges = [(a // degree, b // degree, int(element[a // degree, a % degree])) for a, b in ends]
    try:
        return lift(text, edges), looks
    except NetworkError:  # two edges join the same nodes
        return None, looks
