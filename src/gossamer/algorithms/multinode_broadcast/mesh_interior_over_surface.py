"""ARC: multinode broadcast among the inner nodes of a mesh, over its surface.

The nodes at no end of any dimension broadcast to each other; the others only pass packets on. A packet leaves the
inside straight along a dimension i, spreads over the positions of the face there that have an inner node behind them,
and comes back along i through all inner nodes. Every face takes about as many packets as every other one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.jit import njit
from gossamer.networks.grids import grid_links
from gossamer.networks.network import IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import GroupMultinodeBroadcast
from gossamer.schedules import Phase, Schedule

if TYPE_CHECKING:
    from gossamer.networks.network import Grid


@njit(cache=True, nogil=True)
def _onward(v, j, way, face, turn, at, last, links, out):
    """Write to `out` the links on which a packet leaves node v, where it came along dimension j; return how many.

    `j` is -1 at the source. The face is ``2 i + end``. Away from the source along i, over the face, and back along i.
    """
    d = last.size
    i, end = face // 2, face % 2
    outward = 1 if end == 0 else 0
    surface = 0 if end == 0 else last[i]
    count = 0
    if j == -1 or (j == i and way == outward and at[v, i] != surface):
        out[0] = links[v, i, outward]
        return 1
    if j == i and way != outward:
        beyond = at[v, i] + (1 if way == 0 else -1)
        if 0 < beyond < last[i]:
            out[0] = links[v, i, way]
            return 1
        return 0
    reached = -1  # place in the order of the other dimensions
    if j != i:
        reached = ((j - i - 1) % d - turn) % (d - 1)
        beyond = at[v, j] + (1 if way == 0 else -1)
        if 0 < beyond < last[j]:
            out[count] = links[v, j, way]
            count += 1
    for place in range(reached + 1, d - 1):
        k = (i + 1 + (place + turn) % (d - 1)) % d
        if at[v, k] + 1 < last[k]:
            out[count] = links[v, k, 0]
            count += 1
        if at[v, k] - 1 > 0:
            out[count] = links[v, k, 1]
            count += 1
    out[count] = links[v, i, 1 - outward]
    return count + 1


@njit(cache=True, nogil=True, small=100_000)
def _queue(nodes, face, turn, at, last, links, link_target, slot, link, packet):
    """Let every link send, slot after slot, what waited longest at it; return the slots.

    `at` are coordinates, `last` the last one of each dimension, `links` int32[N, d, 2] as from `grid_links`. The hops
    are written to the columns, which have just room for them. A copy that waits has the place that its hop will have
    in a list of all copies.
    """
    hops = slot.size
    copies = np.empty(hops, np.int32)  # packet
    after = np.empty(hops, np.int64)  # next copy in the queue
    count = link_target.size
    first = np.full(count, -1, np.int64)
    final = np.full(count, -1, np.int64)
    of_link = np.empty((count, 2), np.int32)  # dimension and way
    for v in range(links.shape[0]):
        for j in range(links.shape[1]):
            for way in range(2):
                if links[v, j, way] >= 0:
                    of_link[links[v, j, way], 0] = j
                    of_link[links[v, j, way], 1] = way
    busy = np.empty(count, np.int64)
    busy_count = 0
    out = np.empty(2 * last.size + 1, np.int32)
    used = 0
    for p in range(nodes.size):
        _onward(nodes[p], -1, 0, face[p], turn[p], at, last, links, out)
        used, busy_count = _wait(out[0], p, used, copies, after, first, final, busy, busy_count)
    made, t = 0, 0
    while busy_count:
        begin = made
        kept = 0
        for b in range(busy_count):
            e = busy[b]
            c = first[e]
            slot[made], link[made], packet[made] = t, e, copies[c]
            made += 1
            first[e] = after[c]
            if first[e] >= 0:
                busy[kept] = e
                kept += 1
        busy_count = kept
        for h in range(begin, made):
            e, p = link[h], packet[h]
            n = _onward(link_target[e], of_link[e, 0], of_link[e, 1], face[p], turn[p], at, last, links, out)
            for k in range(n):
                used, busy_count = _wait(out[k], p, used, copies, after, first, final, busy, busy_count)
        t += 1
    return t


@njit(cache=True, nogil=True)
def _wait(e, p, used, copies, after, first, final, busy, busy_count):
    """Queue a copy of packet p at link e; return the copies and the busy links so far."""
    copies[used], after[used] = p, -1
    if first[e] < 0:
        first[e] = used
        busy[busy_count] = e
        busy_count += 1
    else:
        after[final[e]] = used
    final[e] = used
    return used + 1, busy_count


def refuse_without_inside(network: Network) -> Refusal | None:
    """Refuse a network that is no array with inner nodes, or not.

    >>> import gossamer
    >>> refuse_without_inside(gossamer.network("array:3x3")).why
    'needs at least 2 inner nodes: sides of 3 or more, one of them of 4'
    """
    grid = network.grid
    if grid is None or any(grid.wraps):
        return Refusal("needs an array (mesh)")
    if network.uniform_capacity != 1:
        return Refusal("needs links of capacity 1")
    if min(grid.sides) < 3 or max(grid.sides) < 4:
        return Refusal("needs at least 2 inner nodes: sides of 3 or more, one of them of 4")
    return None


def inner_nodes(network: Network) -> IntArray:
    """Return the nodes that are at no end of any dimension of an array, int32, ascending.

    >>> import gossamer
    >>> inner_nodes(gossamer.network("array:4x5")).tolist()
    [6, 7, 8, 11, 12, 13]
    """
    grid, at = network.grid, network.coordinates
    assert grid is not None
    assert at is not None
    inside = ((at > 0) & (at < np.array(grid.sides) - 1)).all(axis=1)
    return np.flatnonzero(inside).astype(np.int32)


def face_quotas(distance: npt.ArrayLike) -> IntArray:
    """Assign nodes to faces, as many to each as to any other or one more, by short ways.

    `distance`: hops of each node to each face.

    Returns: int32[m]: face of each node.

    Nodes start at their nearest faces. While a face has too many or too few, the cheapest chain of moves that helps is
    made (successive shortest paths between faces). O(m faces) for each chain.

    >>> face_quotas([[1, 4], [2, 3], [1, 4], [1, 4]]).tolist()
    [1, 1, 0, 0]
    """
    cost = np.asarray(distance, np.int64)
    m, faces = cost.shape
    face = cost.argmin(axis=1)
    counts = np.bincount(face, minlength=faces)
    far = np.int64(1) << 40
    fewest, most = m // faces, -(-m // faces)
    while counts.max() > most or counts.min() < fewest:
        over = counts > (most if counts.max() > most else fewest)
        under = counts < (fewest if counts.min() < fewest else most)
        # cheapest[a, b] and by[a, b]: the node of face a that moves to face b at the least extra distance
        cheapest = np.full((faces, faces), far)
        by = np.zeros((faces, faces), np.int64)
        for a in np.flatnonzero(counts):
            own = np.flatnonzero(face == a)
            extra = cost[own] - cost[own, a][:, None]
            by[a] = own[extra.argmin(axis=0)]
            cheapest[a] = extra.min(axis=0)
        reach, via = np.where(over, 0, far), np.full(faces, -1)
        for _ in range(faces):  # Bellman-Ford between faces
            trial = reach[:, None] + cheapest
            best = trial.argmin(axis=0)
            better = trial[best, np.arange(faces)] < reach
            reach = np.where(better, trial[best, np.arange(faces)], reach)
            via = np.where(better, best, via)
        b = int(np.where(under, reach, far).argmin())
        counts[b] += 1
        while via[b] >= 0:
            face[by[via[b], b]] = b
            b = int(via[b])
        counts[b] -= 1
    return np.asarray(face, np.int32)


def arc_multinode_broadcast(case: Case) -> Schedule:
    """Build the ARC multinode broadcast among inner nodes of an array.

    The surface of an array has free links while the inside is busy. Every message goes straight to a face, spreads
    over that face, and comes back through the inside along parallel lines. The messages are divided among the faces,
    and each link passes on what came first.

    Parameters
    ----------
    case : Case
        A group multinode broadcast of inner nodes, all or some, with all ports on an array with sides of 3 or more, one
        of them 4 or more. Messages stay whole.

    Returns
    -------
    Schedule
        Of one phase, ``arc``. A link that has packets to pass on sends the one that came first.

    Notes
    -----
    M inner nodes are assigned to the 2d faces, floor or ceil(M / 2d) to each, the near ones if possible. The rotation
    of the other dimensions in which a face is covered alternates from packet to packet. O(hops), about N' hops for each
    of the M packets, N' being the number of inner nodes.

    Yeh, Varvarigos and Lee claim N'/(2d) + n_max - 3 steps, which no schedule of this kind can meet (erratum X4). In
    all cases tried it takes at most ceil(N'/(2d)) + n_max + d - 2, and N'/4 + n - 1 on square arrays with even sides.

    References
    ----------
    Yeh, Varvarigos and Lee 1998, section 3.2.

    Examples
    --------
    >>> import gossamer
    >>> network = gossamer.network("array:6x6")
    >>> task = gossamer.task("group-multinode-broadcast", active=inner_nodes(network))
    >>> s = arc_multinode_broadcast(Case(network, task))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(9, 1), True)
    """
    network, task = case.network, case.task
    assert isinstance(task, GroupMultinodeBroadcast)
    grid, at = network.grid, network.coordinates
    assert grid is not None
    assert at is not None
    nodes = np.array(task.active, np.int32)
    d, last = grid.dimensions, np.array(grid.sides, np.int32) - 1
    if nodes.size < 2:
        return Schedule.of(case, [], [], [], phases=[Phase("arc", 0)])
    distance = np.stack([at[nodes], last - at[nodes]], axis=2).reshape(nodes.size, -1)  # faces: 2 i + end
    # Step 1: give every message a face, near ones first, as many to each
    face = face_quotas(distance)
    # Step 2: messages of one face cover it along its dimensions in rotated orders, by turns
    turn = np.zeros(nodes.size, np.int32)
    for f in range(2 * d):
        own = np.flatnonzero(face == f)
        turn[own] = np.arange(own.size) % max(d - 1, 1)
    hops = int(_hops_each(grid, distance[np.arange(nodes.size), face], face // 2).sum())
    columns = (np.empty(hops, np.int32), np.empty(hops, np.int32), np.empty(hops, np.int32))
    # Step 3: out to the face, over it, and back through the inside; a link sends what came first
    made = _queue(
        nodes, face, turn, at, last, grid_links(network), network.link_target, *columns
    )  # fmt: skip
    return Schedule.of(case, *columns, phases=[Phase("arc", int(made))])


def _hops_each(grid: Grid, out: npt.NDArray[np.int32], i: IntArray) -> npt.NDArray[np.int64]:
    """Return the hops of packets that go `out` hops to a face of dimension `i`, over it, and back."""
    inner = np.prod([n - 2 for n in grid.sides], dtype=np.int64)
    behind = np.array(grid.sides, np.int64) - 2
    return out + (inner // behind[i] - 1) + inner


def _propose(case: Case) -> Offer[Schedule] | Refusal:
    network, task = case.network, case.task
    refusal = refuse_without_inside(network)
    if refusal is not None:
        return refusal
    assert isinstance(task, GroupMultinodeBroadcast)
    assert network.grid is not None
    inner, active = inner_nodes(network), len(task.active)
    outer = np.setdiff1d(np.array(task.active), inner)
    if outer.size:
        return Refusal(f"needs active nodes inside the array; node {case.name(outer[0])} is on its surface")
    if case.control_time:
        return Refusal("needs the active nodes known ahead (control time 0)")
    refusal = refuse_ports(case.rules) or refuse_hops(2 * active * network.node_count)
    if refusal is not None:
        return refusal
    d, longest = network.grid.dimensions, max(network.grid.sides)
    time = Fraction(-(-inner.size // (2 * d)) + longest + d - 2) if active == inner.size else None
    return Offer(lambda: arc_multinode_broadcast(case), time, at_most=True)


ARC = Algorithm(
    name="arc",
    tasks=(GroupMultinodeBroadcast,),
    propose=_propose,
    networks="arrays, among their inner nodes",
    source="Yeh, Varvarigos and Lee 1998, section 3.2, with the time corrected",
    summary="out of the inside to a face, over the face, and back through the inside",
)
