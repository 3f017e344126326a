"""A thousand small reductions, most of them as algorithms are, judged as by a short simulation that carries sets."""

from __future__ import annotations

from collections import Counter

import numpy as np

import gossamer
from gossamer.questions.tasks import PartialSumAllreduce, Reduce
from schedules.sums_twin import OF_SUMS


def right(hops, n, targets):
    """Whether hops (start, end, sender, receiver) bring the sum of n ranks to some, each contribution once."""
    sums = {v: {v} for v in range(n)}
    way = []
    for t in range(1 + max(end for _, end, _, _ in hops)):
        for v, held in sums.items():
            came = [a for end, w, a in way if (end, w) == (t, v)]
            came = [a for i, a in enumerate(came) if not any(a < b or (a == b and i < j) for j, b in enumerate(came))]
            both = set().union(*came)
            if sum(map(len, came)) == len(both) and both >= held:
                sums[v] = both  # a result takes the place of what went into it
                continue
            new = [a for a in came if not a <= held]
            sums[v] = held.union(*new)
            if len(held) + sum(map(len, new)) > len(sums[v]):
                return False  # some contribution would count twice
        for start, end, u, v in hops:
            if start == t:
                if not sums[u]:
                    return False
                way.append((end, v, set(sums[u])))
    return all(len(sums[v]) == n for v in targets)


def tree(draw, ranks):
    """Reduce to the first of some ranks along a random tree, then broadcast from it."""
    parent = {v: ranks[int(draw.integers(i))] for i, v in enumerate(ranks) if i}
    depth = {ranks[0]: 0}
    for v in ranks[1:]:
        depth[v] = depth[parent[v]] + 1
    down = [[(parent[v], v) for v in parent if depth[v] == d] for d in range(1, max(depth.values()) + 1)]
    return [[(v, u) for u, v in round_] for round_ in reversed(down)], down


def doubling(draw, ranks):
    """Exchange sums with partners along the bits of places in any order; those over a power of two go by another."""
    p = 1 << (len(ranks).bit_length() - 1)
    bits = draw.permutation(p.bit_length() - 1).tolist()
    spare = list(zip(ranks[p:], ranks, strict=False))
    rounds = [[(ranks[v], ranks[v ^ 1 << b]) for v in range(p)] for b in bits]
    return [spare, *rounds, [(v, u) for u, v in spare]]


def mixture(draw, ranks):
    """Reduce to several ranks along trees, exchange among these by doubling, and broadcast from each."""
    heads = min(len(ranks), int(draw.choice([2, 3, 4])))
    trees = [tree(draw, ranks[h::heads]) for h in range(heads) if len(ranks[h::heads]) > 1]

    def together(several):
        return [[p for each in several for p in each[t : t + 1] for p in p] for t in range(max(map(len, several)))]

    up, down = (together([each[k] for each in trees]) if trees else [] for k in (0, 1))
    return [*up, *doubling(draw, ranks[:heads]), *down]


def test_a_thousand_reductions_are_judged_as_by_sets():
    judged = Counter()
    for seed in range(1000):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(3, 10))
        net = gossamer.network(f"complete:{n}")
        if seed % 2:
            net = net.with_times(draw.integers(1, 4, net.link_count), draw.integers(0, 3, net.link_count))
        ranks, kind = draw.permutation(n).tolist(), ("tree", "doubling", "mixture")[seed % 3]
        rounds = [round_ for half in tree(draw, ranks) for round_ in half] if kind == "tree" else None
        rounds = rounds or (doubling if kind == "doubling" else mixture)(draw, ranks)
        took = (net.link_occupancy + net.link_latency).tolist()
        number = {
            ends: e for e, ends in enumerate(zip(net.link_source.tolist(), net.link_target.tolist(), strict=True))
        }
        rows, t = [], 0
        for round_ in rounds:
            rows += [(t, number[ends]) for ends in round_]
            t = max((t + took[number[ends]] for ends in round_), default=t)
        for _ in range(int(draw.integers(4)) if seed % 5 else 0):  # what breaks it, or does no harm
            i = int(draw.integers(len(rows)))
            start, link = rows[i]
            change = int(draw.integers(4))
            if change < 3 or len(rows) == 1:
                new = (int(draw.integers(t)), link) if change < 2 else (start, int(draw.integers(net.link_count)))
                rows[i : i + (change > 0)] = [new] if new not in rows else [rows[i]] * (change > 0)
            else:
                del rows[i]
        rows = sorted(set(rows))
        root = int(draw.integers(n))
        task, targets = (Reduce(root), [root]) if seed % 7 == 0 else (PartialSumAllreduce(), range(n))
        slot, link = np.array(rows).T
        found = gossamer.verify(gossamer.Schedule(net, task, gossamer.Rules(), slot, link, np.zeros_like(slot)))
        ends = net.link_source.tolist(), net.link_target.tolist()
        ok = right([(t, t + took[e], ends[0][e], ends[1][e]) for t, e in rows], n, targets)
        assert ok == (not any(found.counts.get(k) for k in OF_SUMS)), (seed, rows, str(found))
        judged[kind, ok] += 1
    assert judged.total() == 1000
    assert min(judged.values()) > 100, judged
