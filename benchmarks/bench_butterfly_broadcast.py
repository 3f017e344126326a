"""Broadcasts with one port: a proof that butterfly:5 takes 9 steps, not 8, and a search that finds 10 for butterfly:6.

    pytest benchmarks/bench_butterfly_broadcast.py -s

The links of a wrapped butterfly make up squares of four nodes and four links; every node is in two. A node that
learns the message in one square can send it in the other, its fresh one, to the two nodes opposite to it, and in the
first only to the node that is opposite there besides its sender. If nodes are worth something, what a tree of T steps
is worth at most follows by recursion over the steps that are left, where the same node may be counted again and
again. A broadcast has every node once. So no broadcast takes T steps if for some values, integers, not negative, even
such trees are worth less than all nodes together. A linear program looks for the values; the proof is the recursion,
in integers.

The six ways in which node 0 may share its four sends between its squares have values of their own. A reflection of the
butterfly swaps the two squares, so three ways are enough.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from scipy.optimize import linear_sum_assignment, linprog

import gossamer

SCALE = 10**7
WAYS = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
"""The sends of node 0 in the square of its first send, and in the other."""


def squares(network):
    """Return two arrays int64[N, 2, 3] for node v and its square s.

    The first has the two opposite nodes and the one beside v, the second which of their squares is the other one.
    """
    near = [set(targets.tolist()) for targets in np.split(network.link_target, network.first_link[1:-1])]
    members, place = [], {}
    for v in range(network.node_count):
        for x in sorted(near[v]):
            for y in sorted(near[v]):
                if x < y and len(near[x] & near[y]) == 2:
                    square = frozenset((x, y, *(near[x] & near[y])))
                    place.setdefault(v, {}).setdefault(square, len(place.get(v, {})))
                    members.append((v, square, x, y))
    node, fresh = np.zeros((network.node_count, 2, 3), np.int64), np.zeros((network.node_count, 2, 3), np.int64)
    links = set()
    for v, square, x, y in members:
        (beside,) = square - {v, x, y}
        s = place[v][square]
        node[v, s] = x, y, beside
        fresh[v, s] = [1 - place[u][square] for u in (x, y, beside)]
        links |= {(v, x), (v, y)}
    assert all(len(place[v]) == 2 for v in place)
    assert len(links) == network.link_count  # every link is in a square
    return node, fresh


def test_the_reflection_swaps_the_squares_of_node_0():
    """Level l goes to -l and bit i of a column to bit n-1-i."""
    network = gossamer.network("butterfly:5")
    column, level = network.coordinates.T
    number = {(int(c), int(i)): v for v, (c, i) in enumerate(zip(column, level, strict=True))}
    image = [number[int(f"{c:05b}"[::-1], 2), -i % 5] for c, i in zip(column.tolist(), level.tolist(), strict=True)]
    links = set(zip(network.link_source.tolist(), network.link_target.tolist(), strict=True))
    assert {(image[a], image[b]) for a, b in links} == links
    node, _ = squares(network)
    assert image[0] == 0
    assert {image[x] for x in node[0, 0, :2].tolist()} == set(node[0, 1, :2].tolist())


@njit
def learned(alone, shared, r, p, v, s):
    """Return the worth of node v and below, with r steps left: square s is fresh, and if p > 0 its p-th send goes back
    into the square where it learned the message."""
    if r < 0:
        return 0
    return alone[r, v, s] if p == 0 else shared[r, v, s, p - 1]


@njit
def fresh_square(alone, shared, node, fresh, v, s, r1, r2):
    """Return the most that node v makes of its fresh square s by two sends after which r1 > r2 steps are left, and the
    way: who is first, then p, q (who is informed by whom and in which send)."""
    best, way = 0, (0, 0, 0, 0)
    if r1 < 0:
        return best, way
    b, fb = node[v, s, 2], fresh[v, s, 2]
    for o in range(2):
        x, fx, y, fy = node[v, s, o], fresh[v, s, o], node[v, s, 1 - o], fresh[v, s, 1 - o]
        for p in range(4):
            worth = learned(alone, shared, r1, p, x, fx) + learned(alone, shared, r2, 0, y, fy)
            if p:  # x tells b
                worth += learned(alone, shared, r1 - p, 0, b, fb)
            if worth > best:
                best, way = worth, (0, o, p, 0)
            if p == 0:
                continue
            worth = learned(alone, shared, r1, 0, x, fx) + learned(alone, shared, r2, p, y, fy)
            worth += learned(alone, shared, r2 - p, 0, b, fb)  # y tells b
            if worth > best:
                best, way = worth, (1, o, p, 0)
            for q in range(1, 4):  # x tells b, and b tells y
                worth = learned(alone, shared, r1, p, x, fx) + learned(alone, shared, r1 - p, q, b, fb)
                worth += learned(alone, shared, r1 - p - q, 0, y, fy)
                if worth > best:
                    best, way = worth, (2, o, p, q)
    return best, way


@njit
def worths(value, node, fresh, steps):
    """Return the most that each node and what is below is worth, by steps left; see `learned`."""
    n = value.size
    alone, shared = np.zeros((steps, n, 2), np.int64), np.zeros((steps, n, 2, 3), np.int64)
    made = np.zeros((steps + 2, 2, n, 2), np.int64)  # of a fresh square, by r1 + 2 and r1 - r2 - 1
    for r in range(steps):
        for v in range(n):
            for s in range(2):
                alone[r, v, s] = value[v] + made[r + 1, 0, v, s]
                shared[r, v, s, 0] = value[v] + made[r, 0, v, s]
                shared[r, v, s, 1] = value[v] + made[r + 1, 1, v, s]
                shared[r, v, s, 2] = value[v] + made[r + 1, 0, v, s]
        if r + 2 < steps + 2:
            for v in range(n):
                for s in range(2):
                    for gap in range(2):
                        made[r + 2, gap, v, s] = fresh_square(alone, shared, node, fresh, v, s, r, r - 1 - gap)[0]
    return alone, shared


def best_tree(value, node, fresh, steps, way):
    """Return the most that a tree is worth in which node 0 shares its sends so, and how often it has each node."""
    alone, shared = worths(value, node, fresh, steps)
    count = np.zeros(value.size, np.int64)
    count[0] = 1
    total = int(value[0])
    left = [(0, s, *(steps - 1 - t for t in way[s])) for s in range(2)]
    total += sum(int(fresh_square(alone, shared, node, fresh, *square)[0]) for square in left)
    while left:
        v, s, r1, r2 = left.pop()
        if r1 < 0:
            continue
        kind, o, p, q = fresh_square(alone, shared, node, fresh, v, s, r1, r2)[1]
        x, y, b = o, 1 - o, 2
        told = {
            0: [(x, r1, p), (y, r2, 0)] + ([(b, r1 - p, 0)] if p else []),
            1: [(x, r1, 0), (y, r2, p), (b, r2 - p, 0)],
            2: [(x, r1, p), (b, r1 - p, q), (y, r1 - p - q, 0)],
        }[kind]
        for place, r, back in told:
            if r >= 0:
                count[node[v, s, place]] += 1
                sends = [r - t for t in (1, 2, 3) if t != back]
                left.append((node[v, s, place], fresh[v, s, place], sends[0], sends[1]))
    assert total == int(value @ count)
    return total, count


def classes_of(network, node):
    """Return classes of nodes that look alike from node 0 and its two squares, int64[N]."""
    alike = network.distances(0).astype(np.int64)
    alike[node[0, 0, :2]] = alike.max() + 1
    while True:
        keys = [(alike[v], *sorted((*sorted(alike[m[:2]]), alike[m[2]]) for m in node[v])) for v in range(alike.size)]
        number = {key: i for i, key in enumerate(sorted(set(keys)))}
        if len(number) == np.unique(alike).size:
            return np.array([number[key] for key in keys])
        alike = np.array([number[key] for key in keys])


def search(network, steps, way, rounds=900):
    """Return values of the nodes, int64[N], for which every tree is worth less than all nodes; None if none is found.

    It is given up when trees are found whose mixture has every node once or more often.
    """
    node, fresh = squares(network)
    alike = classes_of(network, node)
    size = np.bincount(alike)
    mixed, best, price = np.ones(size.size) / alike.size, np.inf, None
    rows = []
    for _ in range(rounds):
        value = np.round(mixed * SCALE).astype(np.int64)[alike]
        worth, count = best_tree(value, node, fresh, steps, way)
        if worth < value.sum():
            return value
        if worth / value.sum() < best:
            best, price = worth / value.sum(), mixed
        rows.append(np.bincount(alike, count))
        found = linprog(
            np.r_[np.zeros(size.size), 1], A_ub=np.c_[np.array(rows), -np.ones(len(rows))], b_ub=np.zeros(len(rows)),
            A_eq=[np.r_[size, 0]], b_eq=[1], bounds=[(0, None)] * size.size + [(None, None)],
        )  # fmt: skip
        if found.fun >= 1 - 1e-9:
            return None
        mixed = 0.3 * found.x[:-1] + 0.7 * price
    return None


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_no_broadcast_on_butterfly_5_takes_8_steps(way, capsys):
    network = gossamer.network("butterfly:5")
    value = search(network, 8, way)
    assert value is not None
    assert value.min() >= 0
    worth = best_tree(value, *squares(network), 8, way)[0]
    with capsys.disabled():
        print(
            f"\nbroadcast with one port on butterfly:5 in 8 steps, sends {way}: a tree is worth {worth:,} at most, "
            f"all nodes {value.sum():,}",
            end="",
        )
    assert worth < value.sum()


def test_no_true_broadcast_is_worth_more_than_the_recursion_says():
    """The nodes that learn the message in the first steps of a schedule, and random values of them."""
    network = gossamer.network("butterfly:5")
    made = gossamer.plan(network, gossamer.task("broadcast"), rules=gossamer.Rules(ports="one")).schedule
    table, random = squares(network), np.random.default_rng(0)
    for steps in range(3, 9):
        learned_first = np.zeros(network.node_count, np.int64)
        learned_first[[0, *network.link_target[made.link[made.slot < steps]]]] = 1
        for most in (1, 3, 1000):
            value = learned_first * random.integers(1, most + 1, network.node_count)
            ways = [*WAYS, *((b, a) for a, b in WAYS)]
            assert max(best_tree(value, *table, steps, way)[0] for way in ways) >= value.sum()


@pytest.mark.parametrize(("spec", "steps"), [("butterfly:5", 9), ("butterfly:6", 11)])
def test_nothing_is_proved_where_there_is_a_broadcast(spec, steps):
    network = gossamer.network(spec)
    plan = gossamer.plan(network, gossamer.task("broadcast"), rules=gossamer.Rules(ports="one"))
    assert plan.completion_time == steps
    assert all(search(network, steps, way, rounds=60) is None for way in WAYS)


@njit
def look_ahead(first_link, target, source, price, known, slots, factor):
    """Return what informing the end of each link is worth with so many slots left after it, float64[L].

    A node not yet known is worth its price, and `factor` times what it can inform itself: the heaviest neighbor first,
    and each further one counts for about half of what it would, since they compete for the same nodes.
    """
    worth = np.zeros((slots + 1, target.size))
    for left in range(slots + 1):
        for e in range(target.size):
            v = target[e]
            if known[v]:
                continue
            following = np.zeros(first_link[v + 1] - first_link[v])
            if left:
                for f in range(first_link[v], first_link[v + 1]):
                    if target[f] != source[e]:
                        following[f - first_link[v]] = worth[left - 1, f]
            following = np.sort(following)[::-1]
            total = price[v]
            for i in range(min(following.size, left)):
                total += factor * following[i] * 0.52**i
            worth[left, e] = total
    return worth[slots]


def informed_in(network, steps, trials, seed=0):
    """Return the hops (slot, link) of a broadcast from node 0 in so many steps, or None.

    In every step the heaviest matching of informed with uninformed nodes is informed. Nodes that are left at the end of
    a trial become dearer ("squeaky wheel").
    """
    source, target = network.link_source, network.link_target
    draw = np.random.default_rng(seed)
    price = np.ones(network.node_count)
    fewest, cheapest = network.node_count, price
    for _ in range(trials):
        known = np.zeros(network.node_count, np.bool_)
        known[0] = True
        factor, noise, hops = draw.uniform(0.75, 1.0), draw.choice([0.02, 0.1, 0.3]), []
        for slot in range(steps):
            worth = look_ahead(network.first_link, target, source, price, known, steps - 1 - slot, factor)
            link = np.flatnonzero(known[source] & ~known[target])
            sender, row = np.unique(source[link], return_inverse=True)
            receiver, column = np.unique(target[link], return_inverse=True)
            weight, over = np.zeros((sender.size, receiver.size)), np.full((sender.size, receiver.size), -1)
            weight[row, column] = worth[link] * (1 + noise * draw.random(link.size)) + 1e-3
            over[row, column] = link
            chosen = over[linear_sum_assignment(weight, maximize=True)]
            hops += [(slot, int(e)) for e in chosen if e >= 0]
            known[target[chosen[chosen >= 0]]] = True
        left = np.flatnonzero(~known)
        if not left.size:
            return hops
        if left.size < fewest:
            fewest, cheapest = left.size, price.copy()
        price *= 0.97
        price[left] += draw.uniform(0.1, 0.6)
        price += 0.03
        if draw.random() < 0.05:
            price = cheapest.copy()
    return None


def test_a_broadcast_on_butterfly_6_takes_10_steps(capsys):
    network, task, rules = gossamer.network("butterfly:6"), gossamer.task("broadcast"), gossamer.Rules(ports="one")
    hops = informed_in(network, 10, 400)
    assert hops is not None
    slot, link = zip(*hops, strict=True)
    schedule = gossamer.Schedule(network, task, rules, slot, link, np.zeros(len(hops), np.int32))
    assert gossamer.verify(schedule)
    bound = max(b.value for b in gossamer.lower_bounds(network, task, rules=rules))
    with capsys.disabled():
        print(f"\nbroadcast with one port on butterfly:6: {schedule.completion_time} steps, at least {bound}", end="")
    assert schedule.completion_time == bound == 10
