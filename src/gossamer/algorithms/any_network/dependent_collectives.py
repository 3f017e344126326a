"""Any mix of what is copied, moved and combined, with what waits for what, on any network.

Trees lead contributions to their roots and packets to their targets; all are grown together by the prices of
`gossamer.graphs.priced_trees`. Their hops make one graph of what waits for what: a hop for those that bring what it
carries, a result for its contributions, a collective for what an earlier one brings to a node. List scheduling does
the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gossamer.algorithms.algorithm import Algorithm
from gossamer.algorithms.any_network.packet_demands import GENERAL_TASKS, demand_of, least_slots
from gossamer.algorithms.any_network.priced_routing import branching, timed
from gossamer.graphs.precedence_scheduling import HopGraph, LinkResources, heights, scheduled
from gossamer.graphs.priced_trees import Forest, PacketDemand, TreeGrowth
from gossamer.networks.network import IntArray
from gossamer.questions.cases import Case, Offer, Refusal
from gossamer.questions.tasks import COMBINE, Messages
from gossamer.schedules import Schedule

__all__ = ["TREES_TOGETHER", "Half", "grown_halves", "halves_of", "joined", "together"]

_WORK = 150_000_000
_MOST_WORK = 5_000_000_000
_ROUNDS = 16
_BLUNT, _STEEP = 4.0, 40.0
_DEPTH_COSTS = 0.1, 1e6
"""What a slot of delay costs, in slots of a most loaded link: first even loads, then shortest ways."""

_ONCE = 30_000
"""Hops up to which both are tried."""

Longs = npt.NDArray[np.int64]


class _HalfHops(NamedTuple):
    """Hops of one half: link, number of the packet, whether it is the first or the last of its packet, and edges.

    The first hops of what is combined are those of contributors, the last ones those into its root; of the other half
    the first ones are those from the origin, and the last ones those into targets.
    """

    link: IntArray
    packet: Longs
    starts: npt.NDArray[np.bool_]
    ends: npt.NDArray[np.bool_]
    before: Longs
    behind: Longs


def together(case: Case) -> Schedule:
    """Build a schedule of trees for every message, each hop as soon as what it waits for is there.

    What is summed, what is copied and what is moved share the links. Trees for all of it are grown together at common
    prices, which rise with the loads, and then every hop begins as soon as what it waits for is there.

    Parameters
    ----------
    case : Case
        Any task on any strongly connected network, in any number of packets; any ports, links and switches.

    Raises
    ------
    NetworkError
        If a target or root cannot be reached.

    Notes
    -----
    O(P (L + N log N)) for each of at most 16 rounds, of P packets, and O(hops log hops). Where collectives wait for
    others, trees are also grown for those apart that do not share links as one is over before the other begins.

    References
    ----------
    Gossamer.

    Examples
    --------
    >>> import gossamer
    >>> task = gossamer.task("allreduce", groups=[[0, 1, 2], [3, 4, 5]])
    >>> together(Case(gossamer.network("array:2x3"), task)).completion_time
    Fraction(4, 1)
    """
    # Step 1: the packets that are combined on their way, and those that are not
    roads, halves = LinkResources.of(case.network, case.rules), halves_of(case)
    least = max((least_slots(half.demand, roads, moved=False) for half in halves if not half.inward), default=0)
    best: Schedule | None = None
    tries = [(depth_cost, False) for depth_cost in _DEPTH_COSTS]
    if case.messages.waits:
        tries.insert(1, (_DEPTH_COSTS[0], True))
    for depth_cost, apart in tries:
        if apart:
            # Step 2, where collectives wait for others: those that wait for as many in a row share links, no others
            graph, packet = joined(case, _grown_apart(case, roads, depth_cost))
        else:
            # Step 2: grow trees to roots and trees from origins, in turns, at common prices
            graph, packet = joined(case, grown_halves(case, roads, halves, depth_cost))
        small = graph.link.size < 100_000
        # Step 3: every hop as soon as what it waits for is there and its link is free; the shortest schedule is kept
        slots = scheduled(graph, roads, least=least, tries=6 if small else 3, rounds=4 if small else 1, seed=case.seed)
        found = timed(case, slots, graph.link, packet)
        if best is None or found.completion_time < best.completion_time:
            best = found
        if graph.link.size > _ONCE and apart == bool(case.messages.waits):
            break
    assert best is not None
    return best


class Half(NamedTuple):
    """The packets that are combined on the way (`inward`), or those that are not.

    `numbers` int64[P] are the packets, and `branches` bool[N] says which nodes may make copies, or combine.
    """

    inward: bool
    numbers: Longs
    demand: PacketDemand
    branches: npt.NDArray[np.bool_]


def halves_of(case: Case, only: npt.NDArray[np.bool_] | None = None) -> list[Half]:
    """Return the packets that are combined, and those that are not, where there are any.

    `only` bool[m]: of these messages alone.
    """
    messages = case.messages
    row = np.repeat(np.arange(messages.count), np.diff(messages.first_packet()))
    combined = messages.discipline == COMBINE
    found = []
    for inward in (True, False):
        mine = combined == inward if only is None else only & (combined == inward)
        numbers = np.flatnonzero(mine[row])
        if numbers.size:
            demand = demand_of(case, _part_of(messages, mine))
            found.append(Half(inward, numbers, demand, branching(case.network, case.rules, inward)))
    return found


def grown_halves(case: Case, roads: LinkResources, halves: list[Half], depth_cost: float) -> dict[bool, Forest]:
    """Return trees to the roots (True) and trees from the origins (False) that share links, soon there and back.

    Of several rounds those count in which the busiest link and the latencies of the longest ways take least together:
    in the first, where nothing is loaded yet, congestion may be least though some ways are long. A slot of delay costs
    `depth_cost`, in slots of a most loaded link.
    """
    growth, draw = TreeGrowth(roads), np.random.default_rng(case.seed)
    packets = sum(half.numbers.size for half in halves)
    rounds = max(2, min(_ROUNDS, _WORK // max(1, packets * roads.source.size)))
    growth.seldom(rounds * packets)
    now: dict[bool, Forest] = {}
    best, lowest = now, np.inf
    late = bool(roads.latency.any())
    waits = roads._replace(occupancy=np.zeros_like(roads.occupancy))
    for power in np.geomspace(_BLUNT, _STEEP, rounds):
        for half in halves:
            visit = draw.permutation(half.numbers.size)
            now[half.inward] = growth.grow(
                half.demand, half.branches, now.get(half.inward),
                power=float(power), depth_cost=depth_cost, inward=half.inward, visit=visit,
            )  # fmt: skip
        waited = sum(int(heights(forest.graph(), waits)[0].max(initial=0)) for forest in now.values()) if late else 0
        if growth.congestion + waited < lowest - 1e-9:
            best, lowest = dict(now), growth.congestion + waited
    return best


def _grown_apart(case: Case, roads: LinkResources, depth_cost: float) -> dict[bool, Forest]:
    """Return the trees of `grown_halves`, each grown beside those only that wait for as many collectives in a row."""
    messages, parts = case.messages, dict[bool, list[tuple[Longs, Forest]]]()
    assert messages.stage is not None
    depth = messages.stage_depths()[messages.stage]
    for each in range(int(depth.max()) + 1):
        halves = halves_of(case, depth == each)
        for inward, forest in grown_halves(case, roads, halves, depth_cost).items():
            numbers = next(half.numbers for half in halves if half.inward == inward)
            parts.setdefault(inward, []).append((numbers, forest))
    found = {}
    for inward, some in parts.items():
        order = np.argsort(np.concatenate([numbers for numbers, _ in some]), kind="stable")
        offsets = np.cumsum([0, *(forest.link.size for _, forest in some)]).tolist()
        begin, end = (
            np.concatenate([forest[k] + offset for (_, forest), offset in zip(some, offsets, strict=False)])[order]
            for k in (0, 1)
        )
        link, parent = (np.concatenate([forest[k] for _, forest in some]) for k in (2, 3))
        found[inward] = Forest(begin, end, link, parent)
    return found


def joined(case: Case, forests: dict[bool, Forest], whole: bool = False) -> tuple[HopGraph, IntArray]:
    """Return the hops of trees to the roots (True) and of trees from the origins (False) as one graph, and packets.

    Trees are those of the packets that are combined, and of the others, in the order of the messages. With `whole`, a
    result waits for all packets of what it depends on, also where the task would have it leave packet by packet.
    """
    messages = case.messages
    row = np.repeat(np.arange(messages.count), np.diff(messages.first_packet()))
    combined = messages.discipline[row] == COMBINE
    halves = []
    if True in forests:
        halves.append(_inward(case, forests[True].graph().turned_round(), np.flatnonzero(combined), row))
    if False in forests:
        halves.append(_outward(case, forests[False].graph(), np.flatnonzero(~combined), row))
    return _graph(case, halves, row, case.messages.partwise and not whole)


def _part_of(messages: Messages, kept: npt.NDArray[np.bool_]) -> Messages:
    """Return some of the messages, by themselves."""
    sizes = None if messages.sizes is None else messages.sizes[kept]
    start, targets = messages.target_start, messages.targets
    if start is not None and targets is not None:
        lengths = np.diff(start)
        targets = targets[np.repeat(kept, lengths)]
        start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[kept])])
    return Messages(messages.ids[kept], messages.origin[kept], messages.discipline[kept], start, targets, sizes=sizes)


def _inward(case: Case, graph: HopGraph, numbers: Longs, row: Longs) -> _HalfHops:
    """Return the hops of contributions."""
    packet = numbers[graph.packet]
    source = case.network.link_source[graph.link]
    into_root = np.diff(graph.first) == 0
    return _HalfHops(graph.link, packet, _listed(case, row[packet], source), into_root, *graph.edges())


def _outward(case: Case, graph: HopGraph, numbers: Longs, row: Longs) -> _HalfHops:
    """Return the hops of what is copied or moved."""
    packet = numbers[graph.packet]
    target = case.network.link_target[graph.link]
    return _HalfHops(graph.link, packet, graph.need == 0, _listed(case, row[packet], target), *graph.edges())


def _listed(case: Case, row: Longs, node: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether each node is a target, or a contributor, of the message of its row."""
    messages, n = case.messages, case.network.node_count
    if messages.target_start is None or messages.targets is None:
        return np.asarray(node < case.network.terminal_count)
    rows = np.repeat(np.arange(messages.count), np.diff(messages.target_start))
    keys = np.sort(rows * n + messages.targets)
    wanted = row * n + node
    return np.asarray(keys[np.minimum(np.searchsorted(keys, wanted), keys.size - 1)] == wanted)


def _graph(case: Case, halves: list[_HalfHops], row: Longs, partwise: bool) -> tuple[HopGraph, IntArray]:
    """Return all hops as one graph, each after those it waits for, and the packet of each."""
    offsets = np.cumsum([0, *(h.link.size for h in halves)])
    link = np.concatenate([h.link for h in halves] or [np.zeros(0, np.int32)])
    packet = np.concatenate([h.packet for h in halves] or [np.zeros(0, np.int64)])
    starts, ends = (
        np.flatnonzero(np.concatenate([getattr(h, name) for h in halves] or [np.zeros(0, np.bool_)]))
        for name in ("starts", "ends")
    )
    edges = [(h.before + k, h.behind + k) for h, k in zip(halves, offsets[:-1].tolist(), strict=True)]
    edges.append(_results(case, packet, starts, ends, row, partwise))
    edges += _waits(case, link, packet, starts, ends, row)
    before, behind = (np.concatenate([edge[k] for edge in edges]) for k in (0, 1))
    # hops in an order in which each comes after what it waits for: by collective, reductions before their results
    level = _levels(case)[row[packet]]
    order = np.argsort(level, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    numbers = packet[order].astype(np.int32)
    return HopGraph.of_edges(link[order].astype(np.int32), numbers, place[before], place[behind]), numbers


def _levels(case: Case) -> Longs:
    """Return for each message after how many others it may come: of earlier collectives, and of its contributions."""
    messages = case.messages
    result = np.zeros(messages.count, np.int64) if messages.after is None else (messages.after >= 0).astype(np.int64)
    if messages.stage is None:
        return result
    return 2 * messages.stage_depths()[messages.stage] + result


def _results(case: Case, packet: Longs, starts: Longs, ends: Longs, row: Longs, partwise: bool) -> tuple[Longs, Longs]:
    """Return the pairs of hops into a root and from it, of contributions and of the result that they make."""
    messages = case.messages
    nothing = np.zeros(0, np.int64)
    if messages.after is None:
        return nothing, nothing
    part = np.arange(row.size) - messages.first_packet()[row]
    most = int(part.max(initial=0)) + 1 if partwise else 1
    key = row * most + (part if partwise else 0)
    awaited = messages.after[row] * most + (part if partwise else 0)
    came = ends[messages.discipline[row[packet[ends]]] == COMBINE]
    go = starts[messages.after[row[packet[starts]]] >= 0]
    return _pairs(key[packet[came]], came, awaited[packet[go]], go)


def _waits(
    case: Case, link: IntArray, packet: Longs, starts: Longs, ends: Longs, row: Longs
) -> list[tuple[Longs, Longs]]:
    """Return, for each pair of collectives, the hops that bring the earlier to a node and begin the later there."""
    messages, network = case.messages, case.network
    if messages.stage is None:
        return []
    found = []
    stage = messages.stage[row[packet]]
    for later, earlier in messages.waits:
        came, go = ends[stage[ends] == earlier], starts[stage[starts] == later]
        found.append(_pairs(network.link_target[link[came]], came, network.link_source[link[go]], go))
    return found


def _pairs(
    left: npt.NDArray[np.integer], before: Longs, right: npt.NDArray[np.integer], behind: Longs
) -> tuple[Longs, Longs]:
    """Return all pairs of a hop of `before` and one of `behind` with the same key."""
    order = np.argsort(left, kind="stable")
    start = np.searchsorted(left[order], right, "left")
    size = np.searchsorted(left[order], right, "right") - start
    place = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + np.repeat(start, size)
    return before[order][place].astype(np.int64), np.repeat(behind, size).astype(np.int64)


def propose_together(case: Case) -> Offer[Schedule] | Refusal:
    """Offer trees for a mix of what is copied, moved and combined."""
    if case.rules.buffer is not None:
        return Refusal("does not limit the packets that a node holds")
    work = case.task.most_messages(case.network) * case.network.link_count
    if work > _MOST_WORK:
        return Refusal(f"would look at up to {work:,} links for its packets; at most {_MOST_WORK:,} are allowed")
    messages = case.messages
    if not messages.waits and not bool((messages.discipline == COMBINE).any()):
        return Refusal("is for contributions that are combined, or collectives that wait for others")
    return Offer(lambda: together(case), effort="search", hop_bytes=150, hop_seconds=1e-5)


TREES_TOGETHER = Algorithm(
    name="packed-trees",
    tasks=GENERAL_TASKS,
    propose=propose_together,
    networks="any strongly connected",
    source="gossamer; no promised time",
    summary="trees for what is combined, copied and moved, grown together; each hop as soon as it can",
    passes_on=True,
    timed=True,
)
