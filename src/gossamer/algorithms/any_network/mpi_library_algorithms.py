"""Collectives of message passing libraries, in rounds among ranks, laid over any network.

Who sends what to whom in which round is a pattern of a number of ranks in a line or ring; on grids it goes along one
dimension after the other. Ways that pass other nodes, and what they then need not be sent again, come from
`gossamer.graphs.round_routing`, and when hops begin from list scheduling.

Packets are neither combined nor delayed here: a packet leaves a rank when it is there, so that rounds say the ways of
packets only. Recursive doubling, Bruck's algorithm and Bine trees differ by the links that they use, and by these only.

The bucket algorithm on tori (Jain and Sabharwal 2010), rings along one dimension after the other in rotated orders, is
that of `gossamer.algorithms.multinode_broadcast.partial` where all nodes are active, with its reversal and both in
turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.allreduce.exchange_stages import Groups, doubling, rank_sides, swing
from gossamer.algorithms.any_network.packet_demands import demand_of
from gossamer.algorithms.any_network.priced_routing import branching, timed
from gossamer.algorithms.multinode_broadcast.hamiltonian_cycle import disjoint_hamiltonian_cycles, rank_rings
from gossamer.graphs.precedence_scheduling import LinkResources, scheduled
from gossamer.graphs.round_routing import SentPackets, carried_trees
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import (
    MOVE,
    Broadcast,
    Chunked,
    MultinodeBroadcast,
    Scatter,
    Task,
    TotalExchange,
    packets_of,
)
from gossamer.schedules import Schedule

_MOST_RANKS = 256
_MOST_WORK = 2_000_000
"""Packets times ranks that are looked at at the most."""

Longs = npt.NDArray[np.int64]
LinePattern = Callable[[int], Longs | None]
"""From ranks in a line to int64[roots, transfers, 3]: round, source and target of what each root has; or None."""


def _shifted(count: int, edges: Sequence[tuple[int, int, int]]) -> Longs:
    """Return a tree of rounds, sources and targets, for root 0, moved to every root.

    >>> _shifted(3, [(0, 0, 1), (1, 0, 2)])[2].tolist()
    [[0, 2, 0], [1, 2, 1]]
    """
    tree = np.array(edges, np.int64).reshape(-1, 3)
    found = np.repeat(tree[None], count, axis=0)
    found[:, :, 1:] = (found[:, :, 1:] + np.arange(count)[:, None, None]) % count
    return found


def bruck_tree(count: int) -> Longs:
    """Return Bruck's allgather (dissemination): in round k each rank that has a packet sends it 2**k places on.

    Everybody sends what it has to a partner further round the ring: in round k to the one 2**k places on. A message
    that is at 2**k places before the round is at twice as many after it, so that log2 of the ranks, rounded up, rounds
    are enough, for any number of ranks.

    Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 3.

    >>> bruck_tree(4)[0].tolist()
    [[0, 0, 1], [1, 0, 2], [1, 1, 3]]
    """
    # Step 1: round k bridges 2**k places, the nearest first
    far = [1 << k for k in range((count - 1).bit_length())]
    # Step 2: each of the 2**k ranks that have a packet sends it so many places on; all ranks do the same with theirs
    return _shifted(count, [(k, p, p + d) for k, d in enumerate(far) for p in range(d) if p + d < count])


def parallel_aggregated_tree(count: int) -> Longs:
    """Return the shifted binomial trees of PAT: the furthest first, so that the last rounds, with most data, are near.

    Each rank's packet goes down a binomial tree that begins with the furthest rank. As everybody sends in every round,
    and twice as many packets from round to round, the long ways carry little and the short ways carry much.

    Jeaugey 2025, without the linear part that limits what a rank keeps.

    >>> parallel_aggregated_tree(4)[0].tolist()
    [[0, 0, 2], [1, 0, 1], [1, 2, 3]]
    """
    # Step 1: round k halves the distance, the furthest first
    far = [1 << k for k in range((count - 1).bit_length())][::-1]
    # Step 2: who has the packet sends it half of the remaining distance on; all ranks do the same with theirs
    return _shifted(count, [(k, p, p + d) for k, d in enumerate(far) for p in range(0, count, 2 * d) if p + d < count])


def ring_tree(count: int, odd: bool = False) -> Longs:
    """Return in both directions around a ring, each to half of it; of an even number the last goes on in turns.

    The turns of `odd` are the others, so that packets of both together load all links alike.

    >>> ring_tree(4)[:2].tolist()
    [[[0, 0, 1], [0, 0, 3], [1, 1, 2]], [[0, 1, 2], [0, 1, 0], [1, 0, 3]]]
    """
    near = range((count - 1) // 2)
    tree = _shifted(count, [(k, way * k % count, way * (k + 1) % count) for k in near for way in (1, -1)])
    if count % 2 == 0:
        root, k = np.arange(count), count // 2 - 1
        before = (root + np.where((root + odd) % 2, -k, k)) % count
        last = np.stack([np.full(count, k), before, (root + count // 2) % count], axis=1)
        tree = np.concatenate([tree, last[:, None]], axis=1)
    return tree


def one_way_tree(count: int, odd: bool = False) -> Longs:
    """Return one way around a ring; the other way of `odd`.

    >>> one_way_tree(3)[1].tolist()
    [[0, 1, 2], [1, 2, 0]]
    """
    way = -1 if odd else 1
    return _shifted(count, [(k, way * k % count, way * (k + 1) % count) for k in range(count - 1)])


def _spread(count: int, stages: Sequence[Groups]) -> Longs | None:
    """Return how a packet of each rank goes to all where members of groups tell each other all; None if it does not."""
    has = np.eye(count, dtype=np.bool_)
    rows: list[Longs] = []
    for step, stage in enumerate(stages):
        members = stage.shape[1]
        new: list[Longs] = []
        for a in range(members):
            for b in range(members):
                root, group = np.nonzero(has[:, stage[:, a]] & ~has[:, stage[:, b]])
                new.append(np.stack([root, np.full(root.size, step), stage[group, a], stage[group, b]], axis=1))
        sent = np.concatenate(new)
        _, first = np.unique(sent[:, 0] * count + sent[:, 3], return_index=True)
        sent = sent[np.sort(first)]
        has[sent[:, 0], sent[:, 3]] = True
        rows.append(sent)
    if not has.all():
        return None
    every = np.concatenate(rows)
    return every[np.argsort(every[:, 0], kind="stable"), 1:].reshape(count, count - 1, 3)


def doubling_tree(count: int) -> Longs | None:
    """Return recursive doubling; those beyond a power of two give to partners first and are told at the end.

    Ranks meet in pairs and tell each other all they have: in the first round neighbors, then those two apart, then
    four. After each round everybody knows twice as much, so that log2 of the ranks rounds are enough where their
    number is a power of two.

    Thakur, Rabenseifner and Gropp 2005, section 4.1.

    >>> doubling_tree(4)[1].tolist()
    [[0, 1, 0], [1, 0, 2], [1, 1, 3]]
    """
    # Step 1: pairs at distances 1, 2, 4, ...: in each round both tell each other all they have
    stages = doubling(count)
    # Step 2: ranks beyond a power of two give to a partner first, and are told everything at the end
    folds = bool(stages) and stages[0].size < count
    return _spread(count, [*stages, stages[0]] if folds else stages)


def bine_tree(count: int) -> Longs | None:
    """Return Bine trees: distances 1, 1, 3, 5, 11 in turning directions as Swing has them, the furthest first.

    As in recursive doubling, but the partners are at distances 1, 1, 3, 5, 11 in turning directions, which are the
    places of a number in base -2. On a ring these are nearer than 1, 2, 4, 8 on the average, so that messages share
    links less.

    De Sensi et al. 2025.

    Returns: int64[roots, transfers, 3] or None: None where the number is no power of two of at least 4.

    Source: The trees are the sums of powers of -2, with ranks numbered in base -2. The allreduce of short vectors of
    the paper exchanges whole buffers between the same pairs as Swing, which `exchange_stages` has.

    >>> bine_tree(4)[0].tolist()
    [[0, 0, 3], [1, 0, 1], [1, 3, 2]]
    """
    # Step 1: the pairs at distances 1, 1, 3, 5, 11, ... in turning directions, the furthest first
    stages = swing(count)
    # Step 2: in each round both of a pair tell each other all they have
    return None if stages is None else _spread(count, stages[::-1])


def _along_dimensions(sides: Sequence[int], pattern: LinePattern, packets: int) -> SentPackets | None:
    """Return what ranks send in a grid along each dimension; packets, so many a rank, take orders of them in turns."""
    n, strides = int(np.prod(sides)), [int(np.prod(sides[i + 1 :])) for i in range(len(sides))]
    lines = {side: pattern(side) for side in set(sides) if side > 1}
    turns = [i for i, side in enumerate(sides) if side > 1]
    rank = np.arange(n)
    turn_of = sum((rank // strides[i] % sides[i] for i in turns), np.zeros(n, np.int64))
    columns: list[tuple[Longs, ...]] = []
    for turn, _ in enumerate(turns):
        chosen = [rank[(turn_of + p) % len(turns) == turn] for p in range(packets)]
        packet = np.concatenate([ranks * packets + p for p, ranks in enumerate(chosen)])
        place, held, begun = np.concatenate(chosen)[:, None], np.zeros(1, np.int64), 0
        for i in turns[turn:] + turns[:turn]:
            line = lines[sides[i]]
            if line is None:
                return None
            own = place // strides[i] % sides[i]
            place = place - own * strides[i]  # what is left is where others have it that differ in dimensions done
            rows = line[own[:, 0]][:, None]
            ends = (place + held)[..., None, None] + rows[..., 1:] * strides[i]
            step = np.broadcast_to(rows[..., 0] + begun, ends.shape[:3])
            whose = np.broadcast_to(packet[:, None, None], ends.shape[:3])
            columns.append(tuple(column.reshape(-1) for column in (step, ends[..., 0], ends[..., 1], whose)))
            held = (held[:, None] + np.arange(sides[i]) * strides[i]).reshape(-1)
            begun += int(line[..., 0].max(initial=-1)) + 1
    return _in_order(columns)


def _in_order(columns: Sequence[tuple[Longs, ...]]) -> SentPackets:
    """Return what is sent, by rounds."""
    step, source, target, packet = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.argsort(step, kind="stable")
    return SentPackets(step[order], source[order], target[order], packet[order])


# What is moved: a packet corrects one digit of the difference of its ranks a round.


def _by_digits(sides: Sequence[int], origin: Longs, target: Longs, far_first: bool) -> SentPackets:
    """Return how packets go by powers of two of the distance that they have to go round each dimension."""
    now, packet, stride, step = origin.copy(), np.arange(origin.size), 1, 0
    columns: list[tuple[Longs, ...]] = []
    for side in reversed(sides):
        away = (target // stride - origin // stride) % side
        bits = range((side - 1).bit_length())
        for k in reversed(bits) if far_first else bits:
            place = now // stride % side
            then = now + ((place + (away & (1 << k))) % side - place) * stride
            moved = np.flatnonzero(then != now)
            columns.append((np.full(moved.size, step), now[moved], then[moved], packet[moved]))
            now, step = then, step + 1
        stride *= side
    return SentPackets(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def bruck_exchange(sides: Sequence[int], origin: Longs, target: Longs) -> SentPackets:
    """Return Bruck's exchange: in round k the messages of which digit k of the distance is 1 go 2**k ranks on.

    A message for a rank y places away makes a hop of 2**k places for each 1 in the binary digits of y, the smallest
    first. In round k all messages of which digit k is 1 move together, so that log2 of the ranks, rounded up, rounds
    are enough; half of all messages move in each.

    Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 2, with radix 2.

    >>> bruck_exchange((8,), np.array([1]), np.array([7])).target.tolist()
    [3, 7]
    """
    # Step 1: in round k messages whose distance has digit k go 2**k ranks on; the others wait
    return _by_digits(sides, origin, target, far_first=False)


def halving_scatter(sides: Sequence[int], origin: Longs, target: Longs) -> SentPackets:
    """Return a scatter by halving: a binomial tree, in which half of what a rank has goes half of the ranks on.

    The root sends half of all messages to the rank half of the ranks away, which is then the root of that half; both
    go on in the same way. Every message moves at most once a round, and every rank sends half of what it has.

    Chan, Heimlich, Purkayastha and van de Geijn 2007, section 4.

    >>> halving_scatter((8,), np.array([0]), np.array([6])).target.tolist()
    [4, 6]
    """
    # Step 1: in each round those with messages for the other half send them half of the ranks on
    return _by_digits(sides, origin, target, far_first=True)


def pairwise_exchange(sides: Sequence[int], origin: Longs, target: Longs) -> SentPackets:
    """Return the pairwise exchange: in round k between ranks that differ by k in binary, or that are k apart.

    In each round every rank exchanges with one other rank only, so that nobody is asked for more than one message at a
    time: in round k with the rank whose number differs by k in binary, or, if their number is no power of two, with
    those k places away.

    Thakur, Rabenseifner and Gropp 2005, section 4.3.

    >>> pairwise_exchange((4,), np.array([0, 1, 2]), np.array([1, 0, 0])).step.tolist()
    [1, 1, 2]
    """
    n = int(np.prod(sides))
    # Step 1: in round k ranks whose numbers differ by k in binary exchange, or that are k apart
    step = origin ^ target if n & (n - 1) == 0 else (target - origin) % n
    # Step 2: messages leave in the order of rounds, each straight to its target
    order = np.argsort(step, kind="stable")
    order = order[step[order] > 0]
    return SentPackets(step[order], origin[order], target[order], order)


MovePattern = Callable[[Sequence[int], Longs, Longs], SentPackets]


class _Along(NamedTuple):
    """What ranks send, and the link that each of it takes; None where those are shortest paths."""

    sent: SentPackets
    links: Longs | None = None


def _around_rings(case: Case, pattern: Callable[[int, bool], Longs]) -> _Along:
    """Return a pattern around a ring laid along all rings of the network, of which packets take one each, in turns."""
    # Step 1: find rings of all ranks: cycles along cables that share none, or server by server along the rails
    rings, _ = rank_rings(case.network)
    if _one_port(case):  # which has nothing for a second ring
        rings = rings[:1]
    packets, n = packets_of(case.task), case.network.terminal_count
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    roots = np.array([task.root]) if isinstance(task, Broadcast) else np.arange(n)
    trees = [pattern(n, odd) for odd in (False, True)]
    columns: list[tuple[Longs, ...]] = []
    links: list[Longs] = []
    for number, ring in enumerate(rings):
        place = np.empty(n, np.int64)
        place[ring.order] = np.arange(n)
        # Step 2: packets take the rings in turns
        for p in range(packets):
            mine = np.flatnonzero((roots + p) % len(rings) == number)
            # Step 3: on its ring a packet goes one place on in each slot, in both directions where it may
            rows = trees[p // len(rings) % 2][place[roots[mine]]]
            packet = np.repeat(mine * packets + p, n - 1)
            nodes = ring.order[rows[..., 1:]]
            columns.append((rows[..., 0].reshape(-1), nodes[..., 0].reshape(-1), nodes[..., 1].reshape(-1), packet))
            if ring.forth is not None and ring.back is not None:
                source, target = rows[..., 1].reshape(-1), rows[..., 2].reshape(-1)
                forth = target == (source + 1) % n
                links.append(np.where(forth, ring.forth[source], ring.back[target]))
    sent = _in_order(columns)
    if not links:
        return _Along(sent)
    by_step = np.argsort(np.concatenate([column[0] for column in columns]), kind="stable")
    return _Along(sent, np.concatenate(links)[by_step])


def _multi_ring(case: Case) -> _Along:
    """Return rings around cycles of all ranks that share no link, of which packets take one each, in turns.

    The ranks stand in a ring, and messages go in both directions around it, each to half of the ranks. Where there are
    several cycles of cables that share none, as on a square torus or among the double NVLinks of a server, each is a
    ring, and messages take them in turns. Several servers have a ring for each accelerator, which enters and leaves
    servers there, so that all rails are used. Where there is neither, the ring is in the order of ranks. With one port
    there is one ring, and messages go one way around it.
    """
    return _around_rings(case, _one_way if _one_port(case) else ring_tree)


def _one_way(count: int, odd: bool) -> Longs:
    """Return one way around a ring, for all packets."""
    return one_way_tree(count)


def _one_port(case: Case) -> bool:
    return case.rules.send_limited or case.rules.receive_limited


def _ring_broadcast(case: Case) -> _Along:
    """Return a broadcast one way around a ring, packet after packet.

    The root sends a packet to the next rank of the ring, which passes it on to the one after it, and so on until it
    has been everywhere. A message in many packets is a pipeline: the next packet follows at once, so that a long
    message takes little more than its own time on one link. Packets take all rings in turns, and both ways around.
    """
    return _around_rings(case, one_way_tree)


def _binomial_broadcast(case: Case) -> _Along:
    """Return a broadcast along a binomial tree of the ranks, counted from the root.

    The root sends the message to the rank half of the ranks away; then both do the same in their half, and so on. After
    k rounds 2**k ranks have it, so that log2 of the ranks, rounded up, rounds are enough, for any number of ranks.
    """
    tree, packets = parallel_aggregated_tree(case.network.terminal_count)[_root(case)], packets_of(case.task)
    columns = [tuple(np.append(tree, np.full((len(tree), 1), p), axis=1).T) for p in range(packets)]
    return _Along(_in_order(columns))


def _scatter_and_gather(case: Case) -> _Along:
    """Return a broadcast in which the message is scattered among the ranks, and then gathered by all along a ring.

    A long message is cut into a block for each rank. The root scatters the blocks down a binomial tree, and each rank
    then sends its block around a ring, in both directions, as in an allgather. So every rank sends about as much as the
    others, and twice the message at the most.
    """
    n, packets, root = case.network.terminal_count, packets_of(case.task), _root(case)
    # Step 1: each packet belongs to a rank, in turns; the root sends it there by halving the distance
    owner = (root + np.arange(packets)) % n
    to = np.flatnonzero(owner != root)
    down = _by_digits((n,), np.full(to.size, root), owner[to], far_first=True)
    columns: list[tuple[Longs, ...]] = [(down.step, down.source, down.target, to[down.packet])]
    # Step 2: the ranks pass on all packets around the ring; those that have one already are left out
    rows, begin = ring_tree(n)[owner], int(down.step.max(initial=-1)) + 1
    columns.append((rows[..., 0].reshape(-1) + begin, rows[..., 1].reshape(-1), rows[..., 2].reshape(-1),
                    np.repeat(np.arange(packets), n - 1)))  # fmt: skip
    return _Along(_in_order(columns))


def _root(case: Case) -> int:
    """Return the root of a broadcast."""
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    assert isinstance(task, Broadcast)
    return task.root


def exchanged_in_rounds(case: Case, sent: SentPackets, links: Longs | None = None) -> Schedule:
    """Build the schedule of what ranks send in rounds, laid over a network.

    Who sends what to whom in which round is laid over the network: what a rank sends goes along paths that share the
    links evenly, and a hop begins as soon as the packet is there and its link is free.

    Parameters
    ----------
    case : Case
        Messages that are copied or moved, whole; any links, ports and switches.
    sent : SentPackets
        In the order of rounds.
    links : int64[T], optional
        The link that each takes, where they go between neighbors along given links.

    Raises
    ------
    NetworkError
        If some rank cannot be reached from another.

    Notes
    -----
    O(hops log hops).

    References
    ----------
    Of the patterns; gossamer for the ways, and for when hops begin.

    Examples
    --------
    >>> import gossamer
    >>> case = Case(gossamer.network("hypercube:3"), gossamer.task("alltoall"))
    >>> demand = demand_of(case)
    >>> ends = demand.origin.astype(np.int64), demand.target.astype(np.int64)
    >>> exchanged_in_rounds(case, pairwise_exchange((2, 2, 2), *ends)).completion_time
    Fraction(4, 1)
    """
    network = case.network
    copies = branching(network, case.rules)
    moved = bool((case.messages.discipline == MOVE).all())
    ends = demand_of(case).target.astype(np.int64) if moved else None
    # Step 1: lay what ranks send over paths of the network, and leave out what a node has already
    graph = carried_trees(network, sent, copies, ends, links)
    # Step 2: every hop begins as soon as its packet is there and its link and ports are free
    found = scheduled(graph, LinkResources.of(network, case.rules), rounds=1, seed=case.seed)
    return timed(case, found, graph.link, graph.packet)


Proposal = Callable[[Case], Offer[Schedule] | Refusal]


def _refusal(case: Case, kind: type[Task]) -> Refusal | None:
    n = case.network.terminal_count
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    if not isinstance(task, kind):
        return Refusal(f"is for {kind.name}")
    if not 2 <= n <= _MOST_RANKS:
        return Refusal(f"is for 2 to {_MOST_RANKS} ranks")
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    if not case.whole:
        return Refusal("sends unsegmented messages")
    if int(case.messages.first_packet()[-1]) * n > _MOST_WORK:
        return Refusal(f"is for at most {_MOST_WORK // n:,} packets among so many ranks")
    return None


def _offer(case: Case, sent: Callable[[], _Along], on_request: bool = False) -> Offer[Schedule]:
    return Offer(
        lambda: exchanged_in_rounds(case, *sent()),
        effort="search",
        on_request=on_request,
        hop_bytes=100,
        hop_seconds=1e-6,
    )


def _propose_copied(pattern: LinePattern, case: Case) -> Offer[Schedule] | Refusal:
    if refusal := _refusal(case, MultinodeBroadcast):
        return refusal
    sent = _along_dimensions(rank_sides(case.network, case.network.terminal_count), pattern, packets_of(case.task))
    if sent is None:
        return Refusal("needs sides that are powers of two of at least 4")
    return _offer(case, lambda: _Along(sent))


def _propose_moved(pattern: MovePattern, task: type[Task], case: Case) -> Offer[Schedule] | Refusal:
    def sent() -> _Along:
        demand = demand_of(case)
        sides = rank_sides(case.network, case.network.terminal_count)
        return _Along(pattern(sides, demand.origin.astype(np.int64), demand.target.astype(np.int64)))

    return _refusal(case, task) or _offer(case, sent)


def _propose_rings(rings: Callable[[Case], _Along], case: Case) -> Offer[Schedule] | Refusal:
    grid = case.network.grid
    closed = grid is not None and case.network.terminal_count == case.network.node_count
    cycles = closed and grid is not None and bool(disjoint_hamiltonian_cycles(grid))
    return _refusal(case, MultinodeBroadcast) or _offer(case, lambda: rings(case), on_request=not cycles)


def _propose_broadcast(
    pattern: Callable[[Case], _Along], case: Case, blocks: bool = False
) -> Offer[Schedule] | Refusal:
    ranks = case.network.terminal_count
    if blocks and isinstance(case.task, Broadcast | Chunked) and packets_of(case.task) < ranks:
        return Refusal(f"needs messages of {ranks} packets or more, one for each rank")
    return _refusal(case, Broadcast) or _offer(case, lambda: pattern(case), on_request=True)


def _in_rounds(name: str, task: type[Task], propose: Proposal, source: str, summary: str) -> Algorithm:
    return Algorithm(
        name=name,
        tasks=(task, Chunked),
        propose=propose,
        networks="any strongly connected",
        source=source,
        summary=summary,
        passes_on=True,
        timed=True,
    )


def _allgather(name: str, pattern: LinePattern, source: str, summary: str) -> Algorithm:
    return _in_rounds(name, MultinodeBroadcast, partial(_propose_copied, pattern), source, summary)


def _moving(name: str, task: type[Task], pattern: MovePattern, source: str, summary: str) -> Algorithm:
    return _in_rounds(name, task, partial(_propose_moved, pattern, task), source, summary)


ALLGATHERS = (
    _allgather(
        "doubling-trees", doubling_tree, "Thakur, Rabenseifner and Gropp 2005, section 4.1",
        "who has a message sends it to partners at doubling distances",
    ),
    _allgather(
        "bruck-trees", bruck_tree, "Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 3",
        "who has a message sends it 1, 2, 4, 8 ranks on",
    ),
    _allgather(
        "parallel-aggregated-trees", parallel_aggregated_tree, "Jeaugey 2025",
        "binomial trees, one a rank, that begin with the furthest",
    ),
    _allgather(
        "bine-trees", bine_tree, "De Sensi et al. 2025",
        "binomial trees in base -2, one a rank, that begin with the furthest",
    ),
)  # fmt: skip
"""Allgathers in rounds; reduce-scatters by reversal."""

MULTI_RING = replace(
    _in_rounds(
        "multi-ring", MultinodeBroadcast, partial(_propose_rings, _multi_ring),
        "folklore; cycles that share no link: Bae and Bose 2003",
        "both ways around cycles of all nodes that share no link, in turns",
    ),
    networks="arrays of an even number of nodes, tori; any other by name",
)  # fmt: skip

BROADCASTS = (
    _in_rounds(
        "ring-broadcast",
        Broadcast,
        partial(_propose_broadcast, _ring_broadcast),
        "folklore",
        "packet after packet around rings of all ranks",
    ),
    _in_rounds(
        "rank-binomial-tree",
        Broadcast,
        partial(_propose_broadcast, _binomial_broadcast),
        "Thakur, Rabenseifner and Gropp 2005, section 4.2",
        "who has the message sends it half of the remaining ranks on",
    ),
)
"""Broadcasts of communication libraries, which are built where they are named; reductions by reversal."""

BLOCK_BROADCASTS = (
    _in_rounds(
        "scatter-allgather", Broadcast, partial(_propose_broadcast, _scatter_and_gather, blocks=True),
        "Thakur, Rabenseifner and Gropp 2005, section 4.2",
        "scatters a long message among the ranks, which gather it along a ring",
    ),
)  # fmt: skip
"""Broadcasts of a block for each rank, which are built where they are named."""

EXCHANGES = (
    _moving(
        "bruck-exchange", TotalExchange, bruck_exchange, "Bruck, Ho, Kipnis, Upfal and Weathersby 1997, section 2",
        "in round k messages go 2**k ranks on where digit k of their distance is 1",
    ),
    _moving(
        "pairwise-exchange", TotalExchange, pairwise_exchange, "Thakur, Rabenseifner and Gropp 2005, section 4.3",
        "in round k messages go between ranks that differ by k",
    ),
)  # fmt: skip
"""Total exchanges in rounds."""

HALVING_SCATTER = _moving(
    "halving-scatter", Scatter, halving_scatter, "Chan, Heimlich, Purkayastha and van de Geijn 2007, section 4",
    "a binomial tree: half of what a rank has goes half of the ranks on",
)  # fmt: skip
"""A scatter in rounds; gathers by reversal."""
