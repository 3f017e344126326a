"""Compiled search for a shallow spanning tree whose four rotations share no arc."""

from __future__ import annotations

import math

import numpy as np

from gossamer.jit import njit

__all__ = ["anneal", "depths"]

_UNREACHED = 1_000_000


@njit(cache=True, nogil=True, _nrt=False)
def depths(parent, depth, path):
    """Write the depth of every node below node 0, or a huge one where the parents run in a circle.

    `parent` int64[N] (of node 0 unused), `depth` int64[N] and `path` int64[N], a workspace.
    """
    nodes = parent.size
    for v in range(nodes):
        depth[v] = -1
    depth[0] = 0
    for v in range(nodes):
        k = 0
        u = v
        while depth[u] == -1:
            depth[u] = -2
            path[k] = u
            k += 1
            u = parent[u]
        base = _UNREACHED if depth[u] == -2 else depth[u]
        while k > 0:
            k -= 1
            if base < _UNREACHED:
                base += 1
            depth[path[k]] = base


@njit(cache=True, nogil=True, _nrt=False)
def _excess(depth, height, cap):
    total = 0
    for v in range(depth.size):
        over = depth[v] - height
        if over > 0:
            total += over if over < cap else cap
    return total


@njit(cache=True, nogil=True, _nrt=False, small=100_000)
def anneal(height, member, size, orbit, candidate, turns, allowed, choice, room, cap, seed, steps, warmth):
    """Change the choices of orbits until no node lies deeper than `height`; say whether that was reached.

    Parameters
    ----------
    height : int
        Depth allowed.
    member : int64[O, 4]
        Nodes of each orbit of the rotation.
    size : int64[O]
        Their number: 4, or 2 or 1 for orbits that a rotation maps to themselves sooner.
    orbit : int64[N]
        Orbit of each node.
    candidate : int64[O, 4, 4]
        Parent of member k if it takes arc orbit r.
    turns : int64[24, 4]
        The permutations of the arc orbits.
    allowed : bool[O, 24]
        Which permutations use no arc orbit twice.
    choice : int64[O]
        Permutation of each orbit, changed in place.
    room : int64[3, N]
        To work in.
    cap : int
        What a node that lies too deep weighs at the most.
    seed, steps : int
        Of the random choices; most of them.
    warmth : float
        Starting temperature.
    """
    np.random.seed(seed)
    nodes = orbit.size
    parent, depth, path = room[0], room[1], room[2]
    for o in range(size.size):
        for k in range(size[o]):
            parent[member[o, k]] = candidate[o, k, turns[choice[o], k]]
    depths(parent, depth, path)
    cost = _excess(depth, height, cap)
    for step in range(steps):
        if cost == 0:
            return True
        heat = warmth * (1 - step / steps) + 0.05
        v = np.random.randint(1, nodes)
        while depth[v] <= height:
            v = np.random.randint(1, nodes)
        for _ in range(np.random.randint(0, height + 1)):  # a node that lies too deep, or one above it
            if parent[v] == 0:
                break
            v = parent[v]
        o = orbit[v]
        old, new = choice[o], np.random.randint(0, turns.shape[0])
        if new == old or not allowed[o, new]:
            continue
        for k in range(size[o]):
            parent[member[o, k]] = candidate[o, k, turns[new, k]]
        depths(parent, depth, path)
        changed = _excess(depth, height, cap)
        if changed <= cost or np.random.random() < math.exp((cost - changed) / heat):
            cost = changed
            choice[o] = new
        else:
            for k in range(size[o]):
                parent[member[o, k]] = candidate[o, k, turns[old, k]]
            depths(parent, depth, path)
    return cost == 0
