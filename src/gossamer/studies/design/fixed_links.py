"""The search where some links stay: cubes that switches join, and networks that contain another."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from gossamer.errors import ModelError
from gossamer.networks import AbelianGroup, Network, parse
from gossamer.networks.group_specs import group_named
from gossamer.networks.lifts import lift
from gossamer.networks.optically_switched_cubes import switched_cubes
from gossamer.studies.design.problem import Problem
from gossamer.studies.design.random_groups import random_group
from gossamer.studies.design.search import CandidateNetwork, Say, priced

_LOOKS = 3_000
_HEAT = 1.0
_SOURCES = 64
_KEPT = 12


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
    ranked = sorted(found.values(), key=lambda c: (c.price, c.spec))[:_KEPT]
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
        looks = max(300, _LOOKS * 64 * 512 // (side**3 * cubes * side**3))
        inverse = np.asarray(group.inverse(every), np.int32)
        _kernels.joined_cubes(
            side, product, inverse, joins, looks, _HEAT * side**3 * cubes / 8, int(rng.integers(1 << 30))
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
    sources = np.sort(rng.choice(n, min(n, _SOURCES), replace=False))
    looks = max(200, 60_000_000 // (n * degree * sources.size))
    _kernels.joined_ports(target, begin, sources, looks, int(rng.integers(1 << 30)))
    edges = [(u, int(v), 0) for u in range(n) for v in np.sort(target[u]) if v > u]
    return lift("abelian(1)", edges), looks
