"""Partial multinode broadcast on arrays and tori by ranking, packing and broadcasting along rotated dimensions.

Varvarigos and Bertsekas 1994, section 3. Algorithm A_0 ranks the M active nodes by a parallel prefix operation, moves
the packet of rank r to node r, and broadcasts along the dimensions one after the other. It uses one dimension at a
time, so d copies of it with rotated dimensions, A_0, ..., A_{d-1}, run side by side. *Split*: every packet is cut into
d parts, and class c consists of the parts c of all packets. *Whole*: class c consists of the packets whose rank modulo
d is c, which are ranked again within their class, in the order that A_c needs.

A multinode broadcast is the case in which all nodes are active and know it: the prefix phases fall away, and so
does the packing phase where every packet is at its place already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm, refuse_hops, refuse_ports
from gossamer.algorithms.multinode_broadcast.multiple_broadcasts_on_rings import subphase_slots, write_rounds
from gossamer.errors import ModelError
from gossamer.graphs.concentration_routing import RotatedClass, Rotation, links_along, rotations, write_packing
from gossamer.graphs.parallel_prefix import PrefixPhase, prefix_phase, prefix_ranks, write_prefix
from gossamer.networks.network import Grid, IntArray, Network
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import MultinodeBroadcast, PartialMultinodeBroadcast
from gossamer.schedules import Phase, Schedule

# Times of the partial multinode broadcast: exact ones for any sides, and the paper's upper bounds for equal sides.


def _turned(sides: Sequence[int], wraps: Sequence[bool]) -> list[tuple[int, bool]]:
    """Return side and wrap of each dimension of side 2 and more."""
    return [(p, w) for p, w in zip(sides, wraps, strict=True) if p > 1]


def broadcast_steps(sides: Sequence[int], wraps: Sequence[bool], packets: int, halves: bool) -> Fraction:
    """Return the time of the broadcast phase, in the time that a packet of a class takes on a link.

    `sides`: nodes along each dimension, in the order of `Grid`. `wraps`: whether each dimension is a ring of 3 nodes or
    more. `packets`: packets of the largest class: M, or M' = ceil(M/d). `halves`: whether a packet may be cut in halves
    on rings.

    With equal sides p: ``L * sum_{j=1..d} ceil(packets / p^j)``, L = p-1 on arrays, and on tori (p-1)/2, rounded up if
    packets stay whole. With unequal sides, subphase l of class c takes ``L_a * ceil(packets / (p_a * Q))``, where a
    is its dimension and Q the product of the d-l sides that the class uses after it; all classes wait for the
    longest: the sum over l of the maximum over c.

    Source: Varvarigos and Bertsekas 1994, Lemma 1.

    >>> broadcast_steps([4, 4], [True, True], 5, halves=True)
    Fraction(9, 2)
    """
    line = _turned(sides, wraps)
    d = len(line)
    total = Fraction(0)
    for later in range(d):  # a class uses dimension a, and afterwards the `later` ones that follow it
        longest = Fraction(0)
        for a in range(d):
            p, ring = line[a]
            length = Fraction(p - 1, 2 if ring else 1)
            if not halves:
                length = Fraction(math.ceil(length))
            behind = math.prod(line[(a + i) % d][0] for i in range(1, later + 1))
            longest = max(longest, -(-packets // (p * behind)) * length)
        total += longest
    return total


def split_parts(sides: Sequence[int], wraps: Sequence[bool]) -> int:
    """Return the parts that each packet is cut into: d, one a class; 2d if a ring has an even number of nodes.

    On a ring of even p the rounds take (p-1)/2 only with halves; the paper says d parts throughout (erratum X4).

    >>> split_parts([5, 5], [True, True]), split_parts([4, 4], [True, True]), split_parts([4, 4], [False, False])
    (2, 4, 2)
    """
    line = _turned(sides, wraps)
    even = any(ring and p % 2 == 0 for p, ring in line)
    return max(len(line), 1) * (2 if even else 1)


def split_time(
    sides: Sequence[int], wraps: Sequence[bool], M: int, control_time: Fraction = Fraction(0), full: bool = False
) -> Fraction:
    """Return the exact time of the partial multinode broadcast with split packets.

    `sides`, `wraps`: as for `broadcast_steps`. `M`: active nodes. `control_time`: steps of a control packet, t_p.
    `full`: whether it is known ahead that all nodes are active: no prefix phase, and no packing phase, since every
    packet is at its place.

    Equal sides p: ``2d(p-1) t_p + [d(p-1) + (p-1)/gamma * sum_j ceil(M/p^j)] / d``; full: ``(N-1)/(gamma d)``, the
    lower bound (4). Unequal sides: the prefix and packing phases take the longest side for p.

    >>> split_time([4, 4], [True, True], 5)
    Fraction(21, 4)
    >>> split_time([4, 4], [True, True], 16, full=True)
    Fraction(15, 4)
    """
    line = _turned(sides, wraps)
    d = len(line)
    if not d:
        return Fraction(0)
    broadcast = broadcast_steps(sides, wraps, M, halves=True) / d
    longest = max(p for p, _ in line) - 1
    return broadcast if full else 2 * d * longest * control_time + longest + broadcast


def whole_time(
    sides: Sequence[int], wraps: Sequence[bool], M: int, control_time: Fraction = Fraction(0), full: bool = False
) -> Fraction:
    """Return the exact time of the partial multinode broadcast with whole packets.

    `sides`, `wraps`, `M`, `control_time`: as for `split_time`. `full`: whether it is known ahead that all nodes are
    active: no prefix phases, and no packing phase if d = 1.

    Equal sides p: ``4d(p-1) t_p + d(p-1) + ceil((p-1)/gamma) * sum_j ceil(M'/p^j)``, M' = ceil(M/d). Unequal sides: the
    packing phase and the second prefix, of all classes at once, take the longest side for p; the first prefix
    ``2 * sum(p - 1)`` control steps.

    >>> whole_time([4, 4], [True, True], 5)
    Fraction(10, 1)
    """
    line = _turned(sides, wraps)
    d = len(line)
    if not d:
        return Fraction(0)
    longest = max(p for p, _ in line) - 1
    control = 0 if full else 2 * sum(p - 1 for p, _ in line) + 2 * d * longest
    packing = 0 if full and d == 1 else d * longest
    return control * control_time + packing + broadcast_steps(sides, wraps, -(-M // d), halves=False)


def split_bound(p: int, d: int, M: int, control_time: Fraction = Fraction(0), torus: bool = True) -> Fraction:
    """Return the paper's bound with split packets: (5a) = (7) on the torus, (6a) = (8) on the array.

    On the torus it holds for p >= 3 (erratum X1), and for even p only with 2d parts (X4).

    Source: Varvarigos and Bertsekas 1994, equations (5a), (6a), (7), (8).

    >>> split_bound(4, 3, 64)
    Fraction(15, 1)
    """
    gamma, N = (2, p**d) if torus else (1, p**d)
    fixed = Fraction(3, 2) if torus else 2
    return Fraction(M * (N - 1), gamma * d * N) + 2 * d * (p - 1) * control_time + fixed * (p - 1)


def whole_bound(p: int, d: int, M: int, control_time: Fraction = Fraction(0), torus: bool = True) -> Fraction:
    """Return the paper's bound with whole packets: (5b) on the torus, (6b) on the array.

    Source: Varvarigos and Bertsekas 1994, equations (5b), (6b).

    >>> whole_bound(4, 3, 64), whole_bound(3, 2, 1, torus=False)
    (Fraction(471, 16), Fraction(8, 1))
    """
    N, of_class = p**d, -(-M // d)
    control = 4 * (p - 1) * d * control_time
    if not torus:
        return Fraction(of_class + 2 * (p - 1) * d - 1) + control
    L = p // 2
    return Fraction(of_class * L * (N - 1), (p - 1) * N) + (p - 1) * d + d * L + control


def rotated_dimensions_split(case: Case, parts: int | None = None) -> Schedule:
    """Return the partial multinode broadcast in which every packet is split, one part or two for each dimension.

    A broadcast along one dimension after the other uses only the links of one dimension at a time. So the messages are
    divided into as many classes as there are dimensions, and each class takes the dimensions in another order, rotated
    by one: in every phase each dimension serves one class, and all links are busy. If only some nodes have a message,
    these are first moved to neighboring places, so that each line has about as many.

    Parameters
    ----------
    case : Case
        A multinode broadcast of M active nodes, or of all, on a grid with d dimensions of side 2 and more. All ports;
        messages may be split.
    parts : int, optional
        d or 2d; default `split_parts`.

    Returns
    -------
    Schedule
        Phases ``prefix`` (slots of t_p), ``packing``, ``broadcast 1`` to ``broadcast d`` (slots of 1/parts); the first
        two are absent when all nodes are known to be active. Completion time: `split_time`, whichever M nodes are
        active.

    Raises
    ------
    ModelError
        If `parts` is neither d nor 2d.

    Notes
    -----
    Time and memory linear in the hops, ``parts * M * (N-1)`` and ``2d(N-1)`` control hops.

    References
    ----------
    Varvarigos and Bertsekas 1994, Theorem 6; erratum X4.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 3, 5, 10, 11])
    >>> s = rotated_dimensions_split(Case(gossamer.network("torus:4x4"), task, gossamer.Rules(segmented=True)))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(21, 4), True)
    """
    network = case.network
    if network.node_count == 1:
        return Schedule.of(case, [], [], [], phases=())
    grid = _grid(network)
    turns = rotations(grid)
    d = len(turns)
    parts = split_parts(grid.sides, grid.wraps) if parts is None else parts
    if parts not in (d, 2 * d):
        raise ModelError(f"parts must be {d} or {2 * d}, one or two for each dimension, got {parts}")
    halves = parts // d
    origin = case.messages.origin
    active = _mask(network, origin)
    classes = []
    for turn in turns:
        rank, _ = prefix_ranks(turn, active)
        packet = np.arange(origin.size) * parts + turn.shift * halves
        classes.append(_class(turn, rank, origin, packet))
    links = links_along(network)
    if isinstance(case.task, MultinodeBroadcast):
        return _schedule(case, classes, links, [], halves=halves, packing=False)
    longest = max(turns[0].sides) - 1
    control = [prefix_phase("prefix", turns, links, [longest] * d)]
    return _schedule(case, classes, links, control, halves=halves)


def rotated_dimensions_whole(case: Case) -> Schedule:
    """Return the partial multinode broadcast with whole packets, each routed along one order of the dimensions.

    A broadcast along one dimension after the other uses only the links of one dimension at a time. So the messages are
    divided into as many classes as there are dimensions, and each class takes the dimensions in another order, rotated
    by one: in every phase each dimension serves one class, and all links are busy. If only some nodes have a message,
    these are first moved to neighboring places, so that each line has about as many.

    Parameters
    ----------
    case : Case
        A multinode broadcast of M active nodes, or of all, with all ports on a grid with d dimensions of side 2 and
        more.

    Returns
    -------
    Schedule
        Phases ``prefix``, ``prefix within classes`` (slots of t_p), ``packing``, ``broadcast 1`` to ``broadcast d``
        (slots of one step); the prefixes are absent when all nodes are known to be active, and so is the packing if
        then d = 1. Completion time: `whole_time`, whichever M nodes are active.

    Notes
    -----
    All classes keep to the subphase lengths of the largest one, M' = ceil(M/d). Time and memory linear in the hops,
    ``M * (N-1)`` and at most ``2(d+1)(N-1)`` control hops.

    References
    ----------
    Varvarigos and Bertsekas 1994, section 3.2; erratum X5.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("partial-multinode-broadcast", active=[0, 3, 5, 10, 11])
    >>> s = rotated_dimensions_whole(Case(gossamer.network("torus:4x4"), task))
    >>> s.completion_time, bool(gossamer.verify(s))
    (Fraction(10, 1), True)
    """
    network = case.network
    if network.node_count == 1:
        return Schedule.of(case, [], [], [], phases=())
    turns = rotations(_grid(network))
    d = len(turns)
    origin = case.messages.origin
    rank, _ = prefix_ranks(turns[0], _mask(network, origin))
    class_of = rank[origin] % d
    classes = []
    for turn in turns[: origin.size]:  # with fewer than d packets, classes M..d-1 are known to be empty
        rows = np.flatnonzero(class_of == turn.shift)
        rank_within, _ = prefix_ranks(turn, _mask(network, origin[rows]))
        classes.append(_class(turn, rank_within, origin[rows], rows))
    links = links_along(network)
    if isinstance(case.task, MultinodeBroadcast):
        return _schedule(case, classes, links, [], packing=d > 1)
    steps = [side - 1 for side in turns[0].sides]
    within = [each.rotation for each in classes]
    control = [
        prefix_phase("prefix", turns[:1], links, steps),
        prefix_phase("prefix within classes", within, links, [max(steps)] * d),
    ]
    return _schedule(case, classes, links, control)


def _schedule(
    case: Case,
    classes: Sequence[RotatedClass],
    links: IntArray,
    control: Sequence[PrefixPhase],
    *,
    halves: int | None = None,
    packing: bool = True,
) -> Schedule:
    """Put the phases one after the other: prefixes, packing, broadcasts. `halves` is None for whole packets."""
    network, d = case.network, links.shape[1]
    parts = 1 if halves is None else d * halves
    each_half = halves or 1
    longest = max(classes[0].rotation.sides) - 1
    subphases = subphase_slots(rotations(_grid(network)), max(each.size for each in classes), each_half)
    phases = [Phase(each.name, each.slots, case.control_time, control=True) for each in control]
    if packing:
        phases.append(Phase("packing", d * longest * each_half, Fraction(1, parts)))
    phases += [Phase(f"broadcast {turn}", slots, Fraction(1, parts)) for turn, slots in enumerate(subphases, 1)]

    packets = sum(each.size for each in classes) * each_half
    hops = packets * (network.node_count - 1) + sum(each.step.size for each in control)
    columns = (np.empty(hops, np.int32), np.empty(hops, np.int32), np.empty(hops, np.int32))
    at = first_slot = 0
    # Step 1: the active nodes are ranked (parallel prefix)
    for each in control:
        at = write_prefix(columns, at, first_slot, each)
        first_slot += each.slots
    # Step 2: the packet of rank r moves to node r
    if packing:
        at = write_packing(columns, at, first_slot, classes, links, longest, each_half)
        first_slot += d * longest * each_half
    # Step 3: broadcasts along one dimension after the other, in each class in another order
    write_rounds(columns, at, first_slot, classes, links, subphases, each_half)
    return Schedule.of(case, *columns, parts=parts, phases=phases)


def _class(
    turn: Rotation, rank: IntArray, origin: IntArray, packet: npt.NDArray[np.int64] | npt.NDArray[np.intp]
) -> RotatedClass:
    """Return the class of the packets of the given origins, in the order of their ranks."""
    by_rank = np.empty(origin.size, np.int64)
    by_rank[rank[origin]] = np.arange(origin.size)
    return RotatedClass(turn, turn.name[origin[by_rank]], packet[by_rank].astype(np.int32))


def _mask(network: Network, nodes: IntArray) -> npt.NDArray[np.bool_]:
    mask = np.zeros(network.node_count, np.bool_)
    mask[nodes] = True
    return mask


def _grid(network: Network) -> Grid:
    return network.grid or Grid((1,), (False,))


def _meets_port_bound(case: Case, time: Fraction) -> bool:
    """Whether a time is what the node that can receive the least needs for the messages of all others."""
    network = case.network
    if not network.link_count:
        return True
    capacity = np.bincount(network.link_target, network.link_capacity, network.node_count)
    bound = Fraction(network.node_count - 1, int(capacity.min()))
    return time == (math.ceil(bound) if case.whole else bound)


def _propose(case: Case, *, split: bool) -> Offer[Schedule] | Refusal:
    network, task, grid = case.network, case.task, case.network.grid
    if grid is None:
        return Refusal("needs an array or a torus")
    if split and case.whole:
        return Refusal("segments messages, which the rules do not allow")
    known_full = isinstance(task, MultinodeBroadcast)
    active = len(task.active) if isinstance(task, PartialMultinodeBroadcast) else network.node_count
    packets = active * (split_parts(grid.sides, grid.wraps) if split else 1)
    refusal = refuse_ports(case.rules, packets) or refuse_hops(packets * (network.node_count - 1))
    if refusal is not None:
        return refusal
    builder, time = (rotated_dimensions_split, split_time) if split else (rotated_dimensions_whole, whole_time)
    promised = time(grid.sides, grid.wraps, active, case.control_time, known_full)
    return Offer(lambda: builder(case), promised, optimal=known_full and _meets_port_bound(case, promised))


ROTATED_DIMENSIONS = tuple(
    Algorithm(
        name=f"rotated-dimensions-{name}",
        tasks=(PartialMultinodeBroadcast, MultinodeBroadcast),
        propose=partial(_propose, split=name == "segmented"),
        networks="arrays, tori and hypercubes",
        source=f"Varvarigos and Bertsekas 1994, {section}",
        summary="ranks and packs the packets if not all nodes are active, then broadcasts along the dimensions in d "
        f"rotated orders, packets {name}",
    )
    for name, section in (("segmented", "Theorem 6"), ("unsegmented", "section 3.2"))
)
