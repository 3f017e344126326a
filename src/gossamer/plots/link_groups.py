"""Links that belong together: directions of a grid, generators, levels of a tree, parallel links, the ways of worms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.networks.finite_groups import AbelianGroup, CubeRotationGroup, Group, PermutationGroup, ProductGroup
from gossamer.networks.network import Network
from gossamer.schedules import Timeline

_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, eq=False)
class LinkGroups:
    """The groups of a network's links.

    `names`: what each group is called. `group` (int32[L]): the group of each link.
    """

    names: tuple[str, ...]
    group: npt.NDArray[np.int32]


def link_groups(network: Network) -> LinkGroups:
    """Return the groups of the links, by generator, by dimension and direction, by level, or all in one.

    >>> import gossamer
    >>> groups = link_groups(gossamer.network("array:3"))
    >>> groups.names, groups.group.tolist()
    (('dim 0 +', 'dim 0 −'), [0, 0, 1, 1])
    """
    source, target = network.link_source, network.link_target
    if network.group is not None:
        generators = network.generators.tolist()
        names = tuple(_generator_name(network.group, g, network.grid is not None) for g in generators)
        if len(set(names)) < len(names):
            names = tuple(f"generator {g}" for g in range(len(names)))
        return LinkGroups(names, np.tile(np.arange(len(names), dtype=np.int32), network.node_count))
    if network.grid is not None and network.coordinates is not None:
        step = network.coordinates[target] - network.coordinates[source]
        dimension = np.abs(step).argmax(axis=1)
        back = step[np.arange(len(step)), dimension] < 0
        wrapped = np.abs(step).max(axis=1, initial=0) > 1
        key = 2 * dimension + (back ^ wrapped)
        return _present([f"dim {d} {sign}" for d in range(network.grid.dimensions) for sign in f"+{_MINUS}"], key)
    if network.levels is not None and network.coordinates is not None:
        level = network.coordinates[:, 0]
        low = np.minimum(level[source], level[target])
        key = 2 * low + (level[source] > level[target])
        pairs = [(i, i + 1) for i in range(network.levels.height)]
        return _present([f"level {a} to {b}" for i, j in pairs for a, b in ((i, j), (j, i))], key)
    if network.factors:
        key = np.zeros(network.link_count, np.int64)
        stride = network.node_count
        for i, factor in enumerate(network.factors):
            stride //= factor.node_count
            changed = source // stride % factor.node_count != target // stride % factor.node_count
            key[changed] = i
        return _present([f"factor {i}" for i in range(len(network.factors))], key)
    return LinkGroups(("links",), np.zeros(network.link_count, np.int32))


def _present(names: list[str], key: npt.NDArray[np.integer]) -> LinkGroups:
    """Return the groups that have links."""
    used, group = np.unique(key, return_inverse=True)
    return LinkGroups(tuple(names[k] for k in used.tolist()), group.reshape(-1).astype(np.int32))


def _generator_name(group: Group, generator: int, grid: bool) -> str:
    """Return what a generator does, in a word or two."""
    if isinstance(group, AbelianGroup):
        return _shift_name(group, generator, grid)
    if isinstance(group, PermutationGroup):
        moved = group.arrangement(generator)
        places = np.flatnonzero(moved != np.arange(moved.size))
        if places.size == 2:
            return f"swap {places[0]}, {places[1]}"
        return f"reverse {places[-1] + 1}" if places.size else f"generator {generator}"
    if isinstance(group, CubeRotationGroup):
        word, turn = divmod(generator, group.bits)
        steps = turn if 2 * turn <= group.bits else turn - group.bits
        way = {0: "", 1: "next", -1: "back"}.get(steps, f"{steps:+d}")
        return " ".join(w for w in (way, "across" if word else "") if w) or f"generator {generator}"
    if isinstance(group, ProductGroup):
        for i in reversed(range(len(group.factors))):
            order = group.factors[i].order
            if generator % order:
                return f"factor {i}: {_generator_name(group.factors[i], generator % order, grid)}"
            generator //= order
    return f"generator {generator}"


def _shift_name(group: AbelianGroup, generator: int, grid: bool) -> str:
    moves = []
    for i in reversed(range(len(group.moduli))):
        modulus = group.moduli[i]
        digit, generator = generator % modulus, generator // modulus
        if digit:
            size = min(digit, modulus - digit)
            sign = "±" if 2 * digit == modulus else "+" if digit == size else _MINUS
            name = f"{sign}{'' if grid else size}"
            moves.append(f"dim {i} {name}" if grid or len(group.moduli) > 1 else name)
    return ", ".join(reversed(moves))


# The links that each row of a timeline crosses: one of a hop, several of a worm; parallel links together.

Column = npt.NDArray[Any]


class NodePairs:
    """Links from one node to another, parallel ones together."""

    def __init__(self, network: Network) -> None:
        self.count = network.node_count
        key = network.link_source.astype(np.int64) * self.count + network.link_target
        self.key, self.first, of_link = np.unique(key, return_index=True, return_inverse=True)
        self.capacity = np.bincount(of_link, network.link_capacity).astype(np.int32)

    def number(self, source: Column, target: Column) -> npt.NDArray[np.int32]:
        """Return the number of the pair of each source and target."""
        wanted = source.astype(np.int64) * self.count + target
        return np.searchsorted(self.key, wanted).astype(np.int32)


def routes(
    schedule: Any, rows: Timeline, pairs: NodePairs
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the links that each row crosses, as `first` int32[R+1] and `way`: one a hop, several a worm.

    The third is the share of a worm that a row is, one of several pieces; empty where all rows are whole.
    """
    displacement = getattr(schedule, "displacement", None)
    if displacement is None:
        hop = np.arange(rows.count + 1, dtype=np.int32)
        return hop, pairs.number(rows.source, rows.target), np.zeros(0, np.float32)
    sizes = np.append(np.diff(schedule.payloads.first), 1)[schedule.payload]
    of = np.repeat(np.arange(len(sizes)), sizes)
    hops = schedule.hops[of]
    first = np.concatenate([[0], np.cumsum(hops)]).astype(np.int32)
    row = np.repeat(np.arange(rows.count), hops)
    within = np.arange(row.size) - first[row]
    channels = schedule.channels
    if not channels.on_grid:
        begins, links = channels.paths(schedule.source, displacement)
        link = links[begins[of][row] + within]
        net = schedule.network
        return first, pairs.number(net.link_source[link], net.link_target[link]), (1 / sizes[of]).astype(np.float32)
    steps = np.abs(displacement.astype(np.int64))
    gone = np.concatenate([np.zeros((len(steps), 1), np.int64), np.cumsum(steps, axis=1)], axis=1)[of]
    sign = np.sign(displacement.astype(np.int64))[of]

    def after(hop: Column) -> Column:
        moved = np.clip(hop[:, None] - gone[row, :-1], 0, steps[of][row]) * sign[row]
        return np.asarray(channels.target(rows.source[row], moved))

    return first, pairs.number(after(within), after(within + 1)), (1 / sizes[of]).astype(np.float32)
