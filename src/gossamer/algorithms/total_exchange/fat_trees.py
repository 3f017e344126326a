"""Total exchange (alltoall) among the leaves of a fat tree."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_buffers
from gossamer.algorithms.fat_trees import (
    exchange_paths,
    levels_of,
    phase_starts,
    proposing,
    refuse_fat_tree,
    serve_queues,
)
from gossamer.networks.network import Levels
from gossamer.questions.cases import Case, Offer, Refusal, first_refusal
from gossamer.questions.tasks import TotalExchange
from gossamer.schedules import Schedule

# Steps that a total exchange in a fat tree needs at the least; some of its algorithms take no more.


def branch_steps(levels: Levels) -> int:
    """Return the branch bound, ``max_i ceil(n_(i-1) * (n - n_(i-1)) / c_i) + 2i - 1`` over the levels i = 1..h.

    Source: Dimakopoulos 1996, (6.4), for i = h.

    >>> branch_steps(Levels.uniform(2, 5))
    265
    """
    n = levels.leaves[-1]
    below = enumerate(zip(levels.leaves[:-1], levels.capacities, strict=True))
    return max((2 * i + 1 - inner * (inner - n) // capacity for i, (inner, capacity) in below), default=0)


def routing_node_steps(levels: Levels) -> int:
    """Return the bound of the routing nodes, ``max_i n_i * (2n - n_i - n_(i-1)) + 2i - 1`` over the levels i = 1..h.

    That many packets pass a node of level i, one a step, from step i+1 on, and the last of them has i-1 more hops to
    go. In k-ary trees the maximum is at level h-1 for k = 2, where it is the printed ``n**2 * (2k+1)*(k-1)/k**3 + 2h -
    3``, and at the root for k >= 3: ``n**2 * (k-1)/k + 2h - 1``.

    Source: Dimakopoulos 1996, Theorem 6.6, for level h-1; corrected by erratum 9.7.

    >>> [routing_node_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 5), (3, 2), (4, 3)]]
    [3, 11, 647, 57, 3077]
    """
    n, pairs = levels.leaves[-1], enumerate(itertools.pairwise(levels.leaves), 1)
    return max((own * (2 * n - own - inner) + 2 * i - 1 for i, (inner, own) in pairs), default=0)


def way_steps(levels: Levels) -> int:
    """Return ``ceil(n - 2 + D)`` for the average distance D of two leaves, a bound in trees with ``c_1 = 1``.

    In k-ary trees it is ``n + 2h - 2``, and ``n + 2h - 3`` for k = 2 and h >= 3.

    The steps in which a leaf sends are at least 1, 2, ..., n-1, those in which one receives at most the last n-1, and
    a message that goes d hops arrives at least d-1 steps after the one in which it leaves.

    >>> [way_steps(Levels.uniform(k, h)) for k, h in [(2, 1), (2, 2), (2, 3), (2, 6), (3, 2), (4, 3)]]
    [2, 6, 11, 73, 11, 68]
    """
    if not levels.height:
        return 0
    n = levels.leaves[-1]
    distances = sum(2 * i * (own - inner) for i, (inner, own) in enumerate(itertools.pairwise(levels.leaves), 1))
    return n - 2 - (-distances // (n - 1))


def least_steps(levels: Levels) -> int:
    """Return the larger of `branch_steps` and, where ``c_1 = 1``, `way_steps`.

    >>> least_steps(Levels.uniform(2, 3)), least_steps(Levels.uniform(2, 3, (1, 2, 4)))
    (21, 11)
    """
    least = branch_steps(levels)
    return max(least, way_steps(levels)) if levels.capacities[:1] == (1,) else least


# Total exchange in fat trees whose every level carries what its leaves send, in the least time.


def offset_times(levels: Levels) -> npt.NDArray[np.int64]:
    """Return when the leaves send by each offset, and when these messages arrive.

    Returns: int64[2, n]: slots, from 0, of the first and of the last hop of the messages from a to ``a (+) d``, for d =
    1..n-1; column 0 means nothing. Both rows are without repetitions; a message of level l takes at least 2l-1 slots
    more.

    All arrive w slots after they left, with w = 2h - 1, the least for messages of level h. For k = 2 and h >= 3 it is
    one less: then blocks are made of up to 2m-1 messages of level h and one of level h-m, which leaves last. That one
    arrives w slots after the first of its block leaves, each of the others w+1 slots after it leaves. The blocks have
    places for more than all messages of level h.

    >>> offset_times(Levels.uniform(2, 2)).tolist(), offset_times(Levels.uniform(2, 3))[:, 1:].tolist()
    ([[0, 0, 1, 2], [0, 3, 4, 5]], [[3, 5, 6, 0, 1, 2, 4], [4, 8, 10, 5, 6, 7, 9]])
    """
    h, n = levels.height, levels.leaves[-1]
    times = np.zeros((2, n), np.int64)
    if levels.arity != 2 or h < 3:
        times[0, 1:] = np.arange(n - 1)
        times[1, 1:] = times[0, 1:] + 2 * h - 1
        return times
    w = 2 * h - 2
    longs, slot = n // 2, 0
    for d in range(1, n // 2):
        m = h - d.bit_length()
        block = min(2 * m - 1, n - longs)
        times[0, longs : longs + block] = slot + np.arange(block)
        times[1, longs : longs + block] = slot + np.arange(block) + w + 1
        times[0, d], times[1, d] = slot + block, slot + w
        longs += block
        slot += block + 1
    return times


def offset_exchange(case: Case) -> Schedule:
    """Exchange between all leaves by digitwise offsets, each at a time of its own at all leaves.

    Where branches are as wide as the leaves below them are many, only the leaves' own links are scarce. All leaves
    send to the same offset at the same time; the messages climb without waiting, wait where they turn, and come down
    in a slot of their own.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree with ``c_i >= n_(i-1) = k_1*...*k_(i-1)``, so that each branch
        carries a packet of every leaf below it.

    Returns
    -------
    Schedule
        In a slot every leaf a sends to ``a (+) d``, digits added without carries. The messages climb without waiting,
        wait where they turn, and come down without waiting in the slot that `offset_times` has for d.

    Notes
    -----
    The messages of an offset are at one level at a time, and fill ``n_(i-1)`` of the capacity of each branch of level
    i that they use. Different offsets leave, and arrive, in different slots, so they never meet on the way up, and
    never on the way down.

    In k-ary trees `way_steps`, which is optimal where ``c_1 = 1``: the phases of the source take n + 2h - 2, and are
    not optimal for k = 2 and h >= 3, as it conjectures. O(n**2 * h) time.

    References
    ----------
    Gossamer. Dimakopoulos 1996 has the bound n + 2h - 2 log_k(h) - 2 (Theorem 6.10) and the conjecture (chapter 7).

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), gossamer.task("alltoall"))
    >>> offset_exchange(case).completion_time
    Fraction(11, 1)
    """
    levels = levels_of(case.network)
    n = case.network.terminal_count
    leaf = np.arange(n)
    offset, level = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for i, (k, below) in enumerate(zip(levels.arities, levels.leaves[:-1], strict=True)):
        digit = (leaf // below - (leaf // below)[:, None]) % k
        offset += digit * below
        level[digit > 0] = i + 1
    start, arrival = offset_times(levels)[:, offset]
    return Schedule.of(case, *exchange_paths(case.network, start, arrival - start - 2 * level + 1))


def _propose_offsets(case: Case) -> Offer[Schedule] | Refusal:
    refusal = first_refusal(refuse_fat_tree(case, "all"), refuse_buffers(case.rules))
    if refusal is not None:
        return refusal
    levels = levels_of(case.network)
    for i, capacity in enumerate(levels.capacities):
        if capacity < levels.leaves[i]:
            return Refusal(f"needs c_i of k_1*...*k_(i-1) or more, but c_{i + 1} is {capacity}")
    least = way_steps(levels) if levels.capacities[:1] == (1,) else 0
    time = int(case.once(offset_times, levels)[1, 1:].max(initial=-1)) + 1
    return Offer(lambda: offset_exchange(case), Fraction(time), optimal=case.whole and time <= least)


OFFSETS = Algorithm(
    name="fat-tree-offsets",
    tasks=(TotalExchange,),
    propose=_propose_offsets,
    networks="fat trees with capacities of at least k_1*...*k_(i-1)",
    source="gossamer",
    summary="digitwise offsets, each with a slot of its own to leave and to arrive in",
)


# Total exchange in fat trees by phases, timed so that packets never wait on their way.


def usable_capacities(levels: Levels) -> list[int]:
    """Return how many packets a phase may send at a time over the branches below each of its nodes.

    Returns: item g-1 is ``C_g = min_j c_j * n_(g-1) / n_(j-1)`` over j = 1..g, with n_i the leaves below a node of
    level i; that is c_g where no c_(i+1) is more than ``k_i * c_i``. What is more than ``(k_g - 1) * n_(g-1)`` is
    rounded down to a multiple of that, which concerns only trees with c_1 > 1.

    Source: Dimakopoulos 1996, section 6.3.3.

    >>> usable_capacities(Levels.uniform(2, 3, (1, 1, 4)))
    [1, 1, 2]
    """
    found: list[int] = []
    for below, capacity in zip((1, *levels.arities), levels.capacities, strict=False):
        found.append(min(capacity, below * found[-1]) if found else capacity)
    blocks = [own - inner for inner, own in itertools.pairwise(levels.leaves)]
    return [c if c <= block else c // block * block for c, block in zip(found, blocks, strict=True)]


def phase_lengths(levels: Levels) -> list[int]:
    """Return the steps in which leaves send in each phase: item g-1 is ``N_g = ceil(n_(g-1) * (n_g - n_(g-1)) / C_g)``.

    >>> phase_lengths(Levels.uniform(2, 3, (1, 2, 4)))
    [1, 2, 4]
    """
    pairs = zip(itertools.pairwise(levels.leaves), usable_capacities(levels), strict=True)
    return [-(inner * (inner - own) // capacity) for (inner, own), capacity in pairs]


def phased_steps(levels: Levels) -> int:
    """Return the steps of `phased_exchange`, ``sum_g N_g + 2h - 1``.

    Source: Dimakopoulos 1996, (6.5), with C_g for c_g.

    >>> phased_steps(Levels.uniform(2, 5)), phased_steps(Levels.uniform(2, 5, (1, 2, 4, 8, 16)))
    (350, 40)
    """
    return sum(phase_lengths(levels)) + 2 * levels.height - 1 if levels.height else 0


def _starts(levels: Levels) -> npt.NDArray[np.int64]:
    """Return the slot in which each leaf sends to each, int64[n, n]; the diagonal means nothing."""
    n = levels.leaves[-1]
    before, usable = phase_starts(phase_lengths(levels)), usable_capacities(levels)
    leaf = np.arange(n)
    starts = np.zeros((n, n), np.int64)
    reverse = np.zeros(n, np.int64)  # the last g-1 digits of a leaf, reversed
    for g, (k, M) in enumerate(zip(levels.arities, levels.leaves[:-1], strict=True), 1):
        if g > 1:
            last = levels.arities[g - 2]
            reverse = reverse * last + leaf // levels.leaves[g - 2] % last
        s = (leaf // M - (leaf // M)[:, None]) % k
        x = reverse[:, None]
        d = (reverse - x) % M
        q = (d * (k - 1) + s - 1) * M + x
        here = (leaf // M != (leaf // M)[:, None]) & (leaf // (M * k) == (leaf // (M * k))[:, None])
        starts[here] = before[g] + q[here] // usable[g - 1]
    return starts


def phased_exchange(case: Case) -> Schedule:
    """Exchange between all leaves by one phase a level, the root's first, in which packets never wait.

    One phase for each level of the tree: in it the messages that turn at this level are exchanged. Within a phase
    leaves take turns in such an order that no branch is ever asked for more than it can carry, so that packets never
    wait.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        In phase g the nodes of level g exchange between their child subtrees. Every packet moves in every slot from
        the one in which it leaves its leaf.

    Notes
    -----
    With ``k = k_g`` and ``M = n_(g-1)``, the leaves below a child, number the turns of phase g as ``q = (d*(k-1) +
    s-1)*M + x`` for d, x in 0..M-1 and s in 1..k-1: in turn q leaf ``rev(x)`` of child subtree a sends to leaf
    ``rev((x+d) mod M)`` of child subtree ``(a+s) mod k``, for all a; ``rev`` reverses the g-1 digits of a leaf's number
    in its subtree. C_g turns are taken at a time. Among C_g consecutive ones each residue of x, and of x+d, modulo
    ``n_(g-1)/n_(j-1)`` occurs at most c_j times, so no branch is overloaded. No node holds more than ``max k_g * max
    C_g`` packets in transit.

    `phased_steps`: in k-ary trees ``sum_g ceil((k-1) * k**(2g-2) / C_g) + 2h - 1``, that is ``(n**2-1)/(k+1) + 2h - 1``
    with capacity 1 and ``n + 2h - 2`` with exponential capacities, which is optimal for k >= 3. The source has c_g for
    C_g, which holds only where no capacity is more than k times the one below it. O(n**2 * h) time.

    References
    ----------
    Dimakopoulos 1996, section 6.3.3 and Fig. 6.11; the order of the messages is Gossamer's.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("fat-tree:k=2,h=3,capacity=exponential"), gossamer.task("alltoall"))
    >>> phased_exchange(case).completion_time
    Fraction(12, 1)
    """
    # Step 1: one phase a level, in turns such that no branch carries too much; then each packet moves in every slot
    return Schedule.of(case, *exchange_paths(case.network, _starts(levels_of(case.network))))


def _refuse_room(case: Case) -> Refusal | None:
    """Refuse where a node may have no room for what turns downwards there, or not."""
    if case.rules.buffer is None:
        return None
    if case.rules.buffer_counts == "all":
        return Refusal("limits only the packets in transit")
    levels = levels_of(case.network)
    room = max(levels.arities, default=0) * max(usable_capacities(levels), default=0)
    return Refusal(f"may hold {room} packets in transit at a node") if case.rules.buffer < room else None


def _propose_phases(case: Case) -> Offer[Schedule] | Refusal:
    refusal = refuse_fat_tree(case, "all") or _refuse_room(case)
    if refusal is not None:
        return refusal
    levels = levels_of(case.network)
    steps = phased_steps(levels)
    return Offer(lambda: phased_exchange(case), Fraction(steps), optimal=case.whole and steps == least_steps(levels))


PHASES = Algorithm(
    name="fat-tree-phases",
    tasks=(TotalExchange,),
    propose=_propose_phases,
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.3.3, (6.5), corrected",
    summary="one phase a level in which packets never wait",
)


# Total exchange in fat trees by passing on what comes, with queues: the furthest messages leave first.


def digitwise_partners(levels: Levels) -> npt.NDArray[np.int64]:
    """Return to whom each leaf sends, in order: leaf a to ``a (+) d`` for d = n-1, n-2, ..., 1, the furthest first.

    Digit i of a leaf is its place among the ``k_i`` subtrees below its ancestor of level i. ``(+)`` adds digits modulo
    k_i, without carries, so that in each turn the partners are a permutation.

    Returns: int64[n, n-1].

    >>> digitwise_partners(Levels.uniform(2, 2)).tolist()
    [[3, 2, 1], [2, 3, 0], [1, 0, 3], [0, 1, 2]]
    """
    n = levels.leaves[-1]
    leaf, partner = np.arange(n)[:, None], np.zeros((n, n - 1), np.int64)
    offset = np.arange(n - 1, 0, -1)
    for k, below in zip(levels.arities, levels.leaves[:-1], strict=True):
        partner += (leaf // below + offset // below) % k * below
    return partner


def _exchange(case: Case, one_send: bool) -> Schedule:
    levels, n = levels_of(case.network), case.network.terminal_count
    # Step 1: each leaf sends to a (+) d for d = n-1, n-2, ..., 1: digits added without carries, the furthest first
    leaf, partner = np.arange(n)[:, None], digitwise_partners(levels)
    packet = (leaf * (n - 1) + partner - (partner > leaf)).astype(np.int32)
    destination = np.empty(n * (n - 1), np.int32)
    destination[packet] = partner
    # Step 2: every link has a queue, first in, first out; with one packet a slot and node upwards first
    return Schedule.of(case, *serve_queues(case.network, packet, destination, one_send))


def up_first_exchange(case: Case) -> Schedule:
    """Exchange between all leaves when nodes send one packet a slot and receive freely.

    A routing node that sends one packet a slot serves what goes up first, because those packets still have to come
    down again on the other side. The leaves send their furthest messages first for the same reason.

    Parameters
    ----------
    case : Case
        A total exchange with ports ``one-send`` in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Leaves send their messages furthest first. A routing node sends upward packets as long as there are any, else it
        serves its children in turn, one packet a slot.

    Notes
    -----
    `routing_node_steps`, a lower bound of every schedule: ``n**2 * 5/8 + 2h - 3`` for k = 2 and ``n**2 * (k-1)/k + 2h -
    1`` for k >= 3. That it is met is an observation on all k-ary trees of up to 64 leaves and all others of up to 40,
    not a theorem. Closest first is slower: 44 instead of 43 steps for k = 2, h = 3. O(n**2 * (h + n)) time.

    References
    ----------
    Dimakopoulos 1996, section 6.2.4 and Fig. 6.8. Theorem 6.8 is false for k >= 3, see the errata.

    Examples
    --------
    >>> import gossamer
    >>> rules = gossamer.Rules(ports="one-send")
    >>> up_first_exchange(Case(gossamer.network("fat-tree:k=3,h=2"), gossamer.task("alltoall"), rules)).completion_time
    Fraction(57, 1)
    """
    return _exchange(case, one_send=True)


def digitwise_exchange(case: Case) -> Schedule:
    """Exchange between all leaves with a first-in first-out queue for each link.

    All messages between the two halves of a tree must go through its root, so these should leave first and leave
    evenly. A leaf sends to a (+) d for d = n-1, n-2, ..., 1, with the digits of the two added without carries: the
    furthest first, and in every turn the partners of all leaves are a permutation, so that no branch is asked for more
    than its share.

    Parameters
    ----------
    case : Case
        A total exchange with all ports in a fat tree of any arity, height and capacities.

    Returns
    -------
    Schedule
        Leaf a sends to ``a (+) d`` for d = n-1, n-2, ..., 1, with digits added without carries; a link of capacity c
        carries up to c packets of its queue a slot.

    Notes
    -----
    Where all capacities are equal it takes `branch_steps`, which no schedule can beat: ``n**2 * (k-1)/k**2 + 2h - 1``
    for capacity 1. With exponential capacities it takes ``n + 2h - 2``, optimal for k >= 3. Both are observations on
    all k-ary trees of up to 64 leaves and all others of up to 40, not theorems. For other capacities nothing is
    claimed. O(n**2 * (h + n)) time.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> digitwise_exchange(Case(gossamer.network("fat-tree:k=2,h=5"), gossamer.task("alltoall"))).completion_time
    Fraction(265, 1)
    """
    return _exchange(case, one_send=False)


def _digitwise_steps(levels: Levels) -> int | None:
    if len(set(levels.capacities)) <= 1:
        return branch_steps(levels)
    return levels.leaves[-1] + 2 * levels.height - 2 if levels.capacities == levels.leaves[:-1] else None


DIGITWISE = Algorithm(
    name="fat-tree-digitwise",
    tasks=(TotalExchange,),
    propose=proposing(
        digitwise_exchange,
        "all",
        _digitwise_steps,
        optimal=lambda levels: _digitwise_steps(levels) == least_steps(levels),
    ),
    networks="fat trees",
    source="gossamer; Dimakopoulos 1996, (6.4), for the bound that it meets",
    summary="furthest first, partners by digits without carries, with a queue for each link",
)

UP_FIRST = Algorithm(
    name="fat-tree-up-first",
    tasks=(TotalExchange,),
    propose=proposing(up_first_exchange, "one-send", routing_node_steps, optimal=lambda levels: True),
    networks="fat trees",
    source="Dimakopoulos 1996, section 6.2.4, corrected",
    summary="furthest first; one packet a slot and node, upwards first, then to the children in turn",
)
