"""Who exchanges which sums with whom, stage by stage, in an allreduce among ranks.

A *stage* divides ranks into groups; in an exchange every member of a group sends its sum to all others of it. Stages
that together connect all ranks, each rank once, make an allreduce: recursive doubling where groups are pairs, dimension
exchange where they are lines of a grid. The first of them may be *halvings* instead, in which a chunk is sent to one
member of each group only, and which are taken back in opposite order at the end: reduce-scatter and allgather. Chunks
go through the dimensions in different orders, so that all links have something to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.networks.network import Network

Longs = npt.NDArray[np.int64]
Groups = npt.NDArray[np.int64]
"""Ranks by group, int64[groups, members]."""

_LARGEST_RADIX = 7
_MOST_DIRECT = 64
"""Most ranks of a line in which each sends to all others at once."""


def _prime_factors(count: int) -> list[int]:
    """Return the prime factors of a number, ascending.

    >>> _prime_factors(12)
    [2, 2, 3]
    """
    found, p = [], 2
    while p * p <= count:
        while count % p == 0:
            found.append(p)
            count //= p
        p += 1
    return found + [count] * (count > 1)


def doubling(count: int) -> list[Groups]:
    """Return the stages of recursive doubling: pairs at distances 1, 2, 4, and groups of 3, 5 or 7 where need be.

    Ranks meet in pairs and both add up what the two have: first neighbors, then those two apart, then four. After each
    stage a sum is of twice as many ranks. With halvings (Rabenseifner) the two of a pair share the work: each adds up
    one half of the buffer and, at the end, the halves are collected in the opposite order.

    Where the number has another prime factor, those beyond the largest power of two first give their sums to partners,
    from which they get the result (Thakur, Rabenseifner and Gropp 2005, section 4.4).

    >>> [stage.tolist() for stage in doubling(4)]
    [[[0, 1], [2, 3]], [[0, 2], [1, 3]]]
    """
    ranks = np.arange(count)
    # Step 1: the number of ranks as a product of small primes: a stage for each, of groups of so many ranks
    radices = _prime_factors(count)
    if radices and radices[-1] > _LARGEST_RADIX:
        # Step 2: where there is a large prime, ranks beyond the largest power of two give their sums to partners
        #   first
        power = 1 << (count.bit_length() - 1)
        return [np.stack([ranks[: count - power], ranks[power:]], axis=1), *doubling(power)]
    stages, stride = [], 1
    for radix in radices:
        # Step 3: the ranks of a stage are 1, 2, 4, ... apart
        blocks = ranks.reshape(-1, radix, stride)
        stages.append(np.swapaxes(blocks, 1, 2).reshape(-1, radix))
        stride *= radix
    return stages


def _swinging(count: int, turn: int) -> list[Groups] | None:
    if count < 4 or count & (count - 1):
        return None
    ranks, stages = np.arange(count), []
    for stage in range(count.bit_length() - 1):
        # Step 1: the distance of this stage: 1, -1, 3, -5, 11, ...
        far = (1 - (-2) ** (stage + 1)) // 3
        # Step 2: even ranks go one way and odd ranks the other, so that both of a pair choose each other
        partner = (ranks + turn * np.where(ranks % 2, -far, far)) % count
        stages.append(np.stack([ranks, partner], axis=1)[ranks < partner])
    return stages


def swing(count: int) -> list[Groups] | None:
    """Return the stages of Swing: pairs at distances 1, 1, 3, 5, 11 in turning directions, shorter ways on a ring.

    As recursive doubling, but the partners swing from side to side: they are 1, 1, 3, 5, 11, ... places away, in
    turning directions. On a ring that is nearer on the average than 1, 2, 4, 8, so that sums cross fewer links, and
    after each stage a sum is still of twice as many ranks.

    Sensi, Bonato, Saam and Hoefler 2024, section 3. None where the number is no power of two of at least 4.

    >>> [stage.tolist() for stage in swing(4)]
    [[[0, 1], [2, 3]], [[0, 3], [1, 2]]]
    """
    return _swinging(count, 1)


def _mirrored_swing(count: int) -> list[Groups] | None:
    """Return the stages of Swing in the other direction round, for other chunks at the same time."""
    return _swinging(count, -1)


def trivance(count: int) -> list[Groups] | None:
    """Return the stages of Trivance: every rank sends to both that are 1, 3, 9, 27 away and adds up what both send.

    A node of a ring has two ports, so it may hear from both sides at once: from those 1 away, then 3, 9 and 27. After
    each stage a sum is of three times as many ranks.

    Juerss, Addanki and Schmid 2026.

    Returns: list of int64[groups, members] or None: the pairs of a stage meet in ranks. None where the number is no
    power of three of at least 9.

    >>> [stage[:2].tolist() for stage in trivance(9)]
    [[[0, 1], [1, 2]], [[0, 3], [1, 4]]]
    """
    ranks, stages, far = np.arange(count), [], 1
    # Step 1: in each stage every rank sends to both that are so far away, and adds up what both send
    while far < count:
        stages.append(np.stack([ranks, (ranks + far) % count], axis=1))
        far *= 3
    return stages if far == count > 3 else None


def direct(count: int) -> list[Groups] | None:
    """Return one stage in which each rank sends to all others; None of more than 64 ranks.

    Where all ranks are next to each other, or behind one switch, each sends what it has to all others at once and adds
    up what comes. That takes a single stage, but every rank sends as many messages as there are others.

    >>> direct(3)[0].tolist()
    [[0, 1, 2]]
    """
    # Step 1: one group of all ranks: each sends to all others
    return [np.arange(count)[None, :]] if 2 < count <= _MOST_DIRECT else None


def rank_sides(network: Network, count: int) -> tuple[int, ...]:
    """Return the grid in which so many ranks lie: that of the network where they are all its nodes, else a line.

    >>> from gossamer.networks import torus
    >>> rank_sides(torus(4, 3), 12), rank_sides(torus(4, 3), 5)
    ((4, 3), (5,))
    """
    grid = network.grid
    return tuple(map(int, grid.sides)) if grid is not None and count == network.node_count else (count,)


PATTERNS: dict[str, tuple[Callable[[int], list[Groups] | None], ...]] = {
    "doubling": (doubling,),
    "swing": (swing, _mirrored_swing),
    "direct": (direct,),
    "trivance": (trivance,),
}
"""Stages by name: functions of a number of ranks in a line or ring; of several the chunks take turns."""


class ExchangePlan(NamedTuple):
    """How an allreduce goes on: a pattern along the dimensions of a grid of ranks.

    `pattern`: a name of `PATTERNS`. `sides`: of the grid; its ranks are numbered with the last dimension fastest.
    `halvings`: stages that are halved, from the first on. `turns`: orders of the dimensions, and directions, that
    chunks take; 1, or as many as there are.
    """

    pattern: str
    sides: tuple[int, ...]
    halvings: int
    turns: int

    @property
    def options(self) -> dict[str, object]:
        """What tells the plan from others of its pattern."""
        return {"sides": "x".join(map(str, self.sides)), "halvings": self.halvings, "turns": self.turns}


class Transfers(NamedTuple):
    """What is sent: rows in the order of steps, int64[T] each.

    `step`, int64[T]. `source`, `target`, int64[T]: ranks. `chunk`, int64[T]. `chunks`: number of chunks of the buffer.
    """

    step: npt.NDArray[np.int64]
    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    chunk: npt.NDArray[np.int64]
    chunks: int


class _Stage(NamedTuple):
    """Groups of ranks; where it `folds`, the second of a pair gives its sum to the first and gets the result back."""

    groups: Groups
    folds: bool


def _along(sides: Sequence[int], dimension: int, stages: Sequence[Groups]) -> list[_Stage]:
    """Return stages in a line as stages in all lines of a grid along a dimension."""
    ranks = np.arange(int(np.prod(sides))).reshape(tuple(sides))
    lines = np.moveaxis(ranks, dimension, -1).reshape(-1, sides[dimension])
    folded = bool(stages) and stages[0].size < sides[dimension]
    return [_Stage(lines[:, stage].reshape(-1, stage.shape[1]), folded and k == 0) for k, stage in enumerate(stages)]


def _orders(plan: ExchangePlan) -> list[list[_Stage]] | None:
    """Return the stages in each order that some chunks take; those that fold come first."""
    makers = PATTERNS[plan.pattern]
    dimensions = [d for d, side in enumerate(plan.sides) if side > 1]
    found = []
    for make in makers:
        lines = {d: make(plan.sides[d]) for d in dimensions}
        if all(line is None for line in lines.values()):
            return None
        for turn in range(len(dimensions)):
            order = dimensions[turn:] + dimensions[:turn]
            stages = [stage for d in order for stage in _along(plan.sides, d, lines[d] or doubling(plan.sides[d]))]
            found.append(sorted(stages, key=lambda stage: not stage.folds))
    return found[: plan.turns]


def exchange_plans(pattern: str, sides: Sequence[int]) -> Iterator[ExchangePlan]:
    """Yield the plans of a pattern among ranks in a grid of the given sides, without halvings first."""
    longest = tuple(sides)
    orders = _orders(ExchangePlan(pattern, longest, 0, 1))
    if orders is None:
        return
    stages = sum(not stage.folds for stage in orders[0])
    most = len(PATTERNS[pattern]) * sum(side > 1 for side in sides)
    for halvings in range(stages + 1):
        if (halvings and pattern == "trivance") or (pattern == "swing" and 0 < halvings < stages):
            continue  # partners of partners are not the same ranks
        for turns in sorted({1, most}):
            yield ExchangePlan(pattern, longest, halvings, turns)


def _grown(some: npt.NDArray[np.bool_], stage: Groups) -> npt.NDArray[np.bool_]:
    """Return ranks and all members of the groups of a stage that have one of them."""
    grown = some.copy()
    grown[stage[some[stage].any(axis=1)]] = True
    return grown


def transfers(plan: ExchangePlan) -> Transfers | None:
    """Return what an allreduce sends, or None where the pattern does not suit the numbers of ranks.

    With h halvings and groups of r members the buffer is cut into so many chunks for each order: the product of the r
    of the halved stages. O(chunks times ranks times stages).

    >>> found = transfers(ExchangePlan("doubling", (2, 2), 0, 2))
    >>> found.chunks, found.source[found.step == 0].tolist(), found.target[found.step == 0].tolist()
    (2, [0, 2, 1, 3, 0, 1, 2, 3], [2, 0, 3, 1, 1, 0, 3, 2])
    """
    orders = _orders(plan)
    if orders is None:
        return None
    n = int(np.prod(plan.sides))
    rows: list[tuple[npt.NDArray[np.int64], ...]] = []
    chunks = 0

    def send(step: int, stage: Groups, has: npt.NDArray[np.bool_], gets: npt.NDArray[np.bool_]) -> None:
        members = stage.shape[1]
        a, b = np.nonzero(~np.eye(members, dtype=bool))
        source, target = stage[:, a].reshape(-1), stage[:, b].reshape(-1)
        kept = has[source] & gets[target]
        source, target = source[kept], target[kept]
        rows.append((np.full(source.size, step), source, target, np.full(source.size, chunks)))

    for turn in orders:
        stages = [some.groups for some in turn]
        folded = np.concatenate([np.zeros(0, np.int64), *(some.groups[:, 1] for some in turn if some.folds)])
        halvings = plan.halvings + sum(some.folds for some in turn)
        seen: set[bytes] = set()
        for root in np.setdiff1d(np.arange(n), folded).tolist():
            middle = np.zeros(n, np.bool_)
            middle[root] = True
            for stage in stages[halvings:]:
                middle = _grown(middle, stage)
            if middle.tobytes() in seen:
                continue
            seen.add(middle.tobytes())
            active = [middle]
            for stage in stages[:halvings][::-1]:
                active.append(_grown(active[-1], stage))
            active.reverse()
            if not active[0].all():
                return None
            for k, stage in enumerate(stages[:halvings]):
                send(k, stage, active[k] & ~active[k + 1], active[k + 1])
            for k, stage in enumerate(stages[halvings:], halvings):
                send(k, stage, middle, middle)
            for k in range(halvings):  # back, the last halving first
                back = halvings - 1 - k
                send(len(stages) + k, stages[back], active[back + 1], active[back] & ~active[back + 1])
            chunks += 1
            if not plan.halvings:
                break  # one chunk, whoever adds up
    steps, sources, targets, whose = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.argsort(steps, kind="stable")
    return Transfers(steps[order], sources[order], targets[order], whose[order], chunks)


# Sums along trees: towards the root, and back.


def double_binary_trees(count: int, chains: Sequence[Longs]) -> list[Longs]:
    """Return two binary trees in turns: in each half of the ranks, or of the servers, are leaves, inner in the other.

    The sum of a chunk comes together up a binary tree and goes out down the same tree. A leaf of a tree sends one
    packet and gets one, an inner node three each; so half of the chunks take a second tree, in which the leaves are
    inner nodes, and everybody has the same to do. Trees are about log2 of the ranks deep, so that short messages come
    through soon, and chunks follow each other as in a pipeline. Servers are the nodes of the trees where there are
    several: in each the accelerators are one of the `chains`, with a pair of trees for each of these.

    Sanders, Speck and Traeff 2009.

    Returns: list of int64[N]: the parent of each rank, -1 of the root, in the trees of NCCL.

    >>> [tree.tolist() for tree in double_binary_trees(4, [np.zeros(1, int)])]
    [[-1, 2, 0, 2], [1, 3, 1, -1]]
    """
    server = chains[0].size
    units, found = count // server, list[Longs]()
    # Step 1: rank 4 of a tree has children 2 and 6, these have 1 and 3, 5 and 7; rank 0 is the root
    rank = np.arange(1, units)
    bit = rank & -rank
    up = (rank ^ bit) | bit << 1
    tree = np.append(-1, np.where(up < units, up, rank ^ bit))
    # Step 2: the other tree counts the ranks backwards, or, of an odd number, one rank on
    to = (np.arange(units) + 1) % units if units % 2 else np.arange(units)[::-1]
    other = np.full(units, -1)
    other[to] = np.where(tree < 0, -1, to[tree])
    # Step 3: in a server the accelerators are a chain, which begins with each of them in turns
    for chain in chains:
        for shape in (tree, other):
            parent = np.empty((units, server), np.int64)
            parent[:, chain[1:]] = np.arange(units)[:, None] * server + chain[:-1]
            parent[:, chain[0]] = np.where(shape < 0, -1, shape * server + chain[0])
            found.append(parent.reshape(-1))
    return found


def binomial_tree(count: int, chains: Sequence[Longs]) -> list[Longs]:
    """Return one binomial tree with root 0: a reduction to rank 0, and a broadcast from it.

    Everybody sends its sum to the rank whose number is its own without the last 1 in binary: first the odd ranks to
    those before them, then every second of these, until rank 0 has the sum. The result goes back the same way. Each of
    the two takes log2 of the ranks, rounded up, rounds, but rank 0 gets and sends the whole buffer in every round.

    Returns: list of int64[N]: the parent of each rank, -1 of the root.

    >>> binomial_tree(6, [])[0].tolist()
    [-1, 0, 0, 2, 0, 4]
    """
    # Step 1: the parent of a rank is its number without the last 1 in binary
    rank = np.arange(1, count)
    return [np.append(-1, rank & rank - 1)]


def along_trees(trees: Sequence[Longs], packets: int) -> Transfers:
    """Return what is sent where packets are summed towards the roots of trees, and results go back the same way.

    `trees` (sequence of int64[N]): the parent of each rank, -1 of the root. Packets take the trees in turns.

    >>> found = along_trees(binomial_tree(3, []), 1)
    >>> found.source.tolist(), found.target.tolist()
    ([1, 2, 0, 0], [0, 0, 1, 2])
    """
    rows: list[Longs] = []
    for number, parent in enumerate(trees[:packets]):
        depth, above = np.zeros(parent.size, np.int64), parent.copy()
        while bool((above >= 0).any()):
            depth[above >= 0] += 1
            above = np.where(above >= 0, parent[above], -1)
        child = np.flatnonzero(parent >= 0)
        deep = depth[child]
        both = np.concatenate([
            np.stack([deep.max(initial=0) - deep, child, parent[child]]),
            np.stack([deep.max(initial=0) + deep - 1, parent[child], child]),
        ], axis=1)  # fmt: skip
        own = np.arange(number, packets, len(trees))
        rows.append(np.concatenate([np.tile(both, own.size), np.repeat(own, both.shape[1])[None]]))
    step, source, target, chunk = np.concatenate(rows, axis=1)
    order = np.argsort(step, kind="stable")
    return Transfers(step[order], source[order], target[order], chunk[order], packets)


# Sums that meet in a block of neighbors, from where results go out.


def through_blocks(sides: Sequence[int], turns: int = 1) -> Transfers:
    """Return what is sent where sums meet in blocks of a torus: two nodes along each even side of 4 or more, else one.

    The way to one root and back is twice as long as to the furthest node. Where two neighbors are roots, none is
    further than half a ring less one, they exchange their sums in one hop more, and each sends results to its half.

    `sides`: of the torus, whose ranks are numbered with the last dimension fastest. `turns`: chunks for each place of
    the block; they take the dimensions in different orders. O(ranks^2 turns).

    >>> found = through_blocks((4,))
    >>> [(int(t), int(u), int(v)) for t, u, v, chunk, in zip(*found[:4]) if chunk == 0]
    [(0, 2, 1), (0, 3, 0), (1, 0, 1), (1, 1, 0), (2, 1, 2), (2, 0, 3)]
    """
    side = np.array(sides)
    wide = ((side % 2 == 0) & (side >= 4)).astype(np.int64)  # how far the last node of the block is from the first
    place = np.stack(np.unravel_index(np.arange(side.prod()), tuple(sides)), axis=1)
    after = (side - place) % side
    before = np.maximum(place - wide, 0)
    near = np.minimum(before, after)
    far = near.sum(axis=1)
    towards = np.where(near == 0, 0, np.where(before <= after, -1, 1))
    outside, inside = np.flatnonzero(far), np.flatnonzero(far == 0)
    last, dimensions = int(far.max()), range(side.size)
    rows, chunk = list[Longs](), 0
    for turn in range(turns):
        order = [(turn + d) % side.size for d in dimensions]
        # Step 1: each sends its sum one hop nearer to the block, along the dimension in which it is furthest from it
        along = np.array(order)[np.argmax(near[outside][:, order], axis=1)]
        hop = np.zeros((outside.size, side.size), np.int64)
        hop[np.arange(outside.size), along] = towards[outside, along]
        sent = [(last - far[outside], outside, place[outside] + hop)]
        # Step 2: in the block, pairs along one dimension after the other exchange their sums
        for k, d in enumerate(d for d in order if wide[d]):
            partner = place[inside].copy()
            partner[:, d] = 1 - partner[:, d]
            sent.append((np.full(inside.size, last + k), inside, partner))
        # Step 3: results go back the way that sums came
        step, source, target = (np.concatenate(column) for column in zip(*sent, strict=True))
        back = slice(outside.size)
        step = np.append(step, last + int(wide.sum()) - 1 + far[outside])
        source, target = np.append(place[source], target[back], axis=0), np.append(target, place[outside], axis=0)
        # Step 4: another chunk has its block at each place
        for first in place:
            u, v = (np.ravel_multi_index(tuple(((ends + first) % side).T), tuple(sides)) for ends in (source, target))
            rows.append(np.stack([step, u, v, np.full(step.size, chunk)]))
            chunk += 1
    step, source, target, whose = np.concatenate(rows, axis=1)
    by_step = np.argsort(step, kind="stable")
    return Transfers(step[by_step], source[by_step], target[by_step], whose[by_step], chunk)
