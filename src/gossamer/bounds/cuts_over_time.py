"""Cuts of links and slots: exact for scatter and gather on small networks with all ports, and for each target alone.

What a broadcast, an allgather or any other task whose messages are copied brings to one terminal could be brought to it
alone; no copy is of use there, and a flow over time tells how long it takes at the least. It counts how soon packets
can be at a thin cut, how long they take behind it, and how many links there are on the way, all at once. Backwards in
time the same holds for contributions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.atomic_files import quantity
from gossamer.bounds.allreduce_any_form import quickest_flow
from gossamer.bounds.bound import Bound
from gossamer.bounds.earliest_arrivals import least_arrival, takes_time
from gossamer.bounds.fat_trees import branch_bounds, leaf_bounds
from gossamer.bounds.grid_cuts import amounts
from gossamer.bounds.partitions import Gossip, timed_divisions
from gossamer.bounds.proofs import QuickestFlow, SlotPrices, TimeCut, least_cut
from gossamer.networks.structures import Levels
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.links import FAR, Links

# A bound for total exchange in fat trees of any capacities: prices of the slots of every level.
#
# A message between leaves whose paths meet in level l climbs over a branch of each level 1, ..., l and comes down over
# them again, 2l hops one after the other. Let a hop over a branch of level i, up or down, in slot t cost a price. Then
# each message pays at least what the cheapest choice of slots costs, and all together pay at most the prices of all
# slots that there are. If what they must pay is more, they need more slots. The best prices are the dual solution of a
# linear program in which leaves and branches of a level are alike; they are rounded to integers, and the proof is
# checked with these.

LARGEST_FAT_TREE = 3_000
"""Hops of the longest ways of all levels, times slots, up to which the linear program is solved: tenths of a second."""

_SCALE = 100_000
"""What the highest price of a proof is rounded to."""

_SOURCE = "gossamer: linear programming duality of flows over time"
_NEVER = np.int64(1) << 50

Longs = npt.NDArray[np.int64]


def slot_prices(levels: Levels, slots: int) -> SlotPrices | None:
    """Return the prices that come closest to proving that a total exchange takes more than some slots.

    `levels`: the shape of the tree, at least of height 1. `slots`: T, at least 2h. Returns: None if the linear program
    was not solved.

    The linear program has O(h^2 T) variables and rows; what the prices need and offer is worked out in integers.

    Source: Gossamer: duality of flows over time.

    >>> tree = Levels((2, 2, 2), (2, 2, 4))
    >>> [slot_prices(tree, slots).proves for slots in (10, 11)]
    [True, False]
    """
    duals = _duals(levels, slots)
    if duals is None or not duals.max(initial=0.0) > 0:
        return None
    up, down = np.rint(duals / duals.max() * _SCALE).astype(np.int64)
    n = levels.leaves[-1]
    # step 1: what each branch offers in all slots
    offered = sum(
        c * (n // below) * int((up[i] + down[i]).sum())
        for i, (c, below) in enumerate(zip(levels.capacities, levels.leaves, strict=False))
    )
    # step 2: what a message of each level pays at least; cheapest[t] is the least price of its hops made before slot t
    needed = 0
    for top in range(1, levels.height + 1):
        cheapest = np.zeros(slots + 1, np.int64)
        for price in [*up[:top], *down[:top][::-1]]:
            cheapest = np.append(_NEVER, np.minimum.accumulate(cheapest[:-1] + price))
        needed += n * (levels.leaves[top] - levels.leaves[top - 1]) * int(cheapest[slots])
    return SlotPrices(up, down, needed, offered)


def _duals(levels: Levels, slots: int) -> npt.NDArray[np.float64] | None:
    """Return the dual prices of the levels in each slot, up and down, float64[2, h, T], or None.

    The linear program delivers as large a part of all messages as possible. Its variables are, for each level where
    ways meet and each hop of a way, the messages that have made it by the end of each slot in which it can be made.
    """
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    h, n = levels.height, levels.leaves[-1]
    first, count = {}, 0  # variable of hop j of the ways that meet in level l, in its first slot, j
    for top in range(1, h + 1):
        for j in range(2 * top):
            first[top, j], count = count, count + slots - 2 * top + 1
    rows: list[Longs] = []
    columns: list[Longs] = []
    values: list[npt.NDArray[np.float64]] = []

    def add(row: Any, column: Any, value: float) -> None:
        row, column = np.broadcast_arrays(row, column)
        rows.append(row.reshape(-1))
        columns.append(column.reshape(-1))
        values.append(np.full(row.size, value))

    # capacities: row (way, level, slot); by the end of slot t less by the end of slot t-1
    for top in range(1, h + 1):
        width = slots - 2 * top + 1
        for j in range(2 * top):
            way, level = (0, j) if j < top else (1, 2 * top - 1 - j)
            row = (way * h + level) * slots + j + np.arange(width)
            add(row, first[top, j] + np.arange(width), 1.0)
            add(row[1:], first[top, j] + np.arange(width - 1), -1.0)
    room = np.repeat([c * (n // below) for c, below in zip(levels.capacities, levels.leaves, strict=False)], slots)
    limits = [np.tile(room, 2).astype(np.float64)]
    at = 2 * h * slots
    for top in range(1, h + 1):
        width = slots - 2 * top + 1
        for j in range(2 * top):
            mine = first[top, j] + np.arange(width)
            if j:  # no hop before the one ahead of it
                add(at + np.arange(width), mine, 1.0)
                add(at + np.arange(width), first[top, j - 1] + np.arange(width), -1.0)
                at += width
            add(at + np.arange(width - 1), mine[:-1], 1.0)  # what was made stays made
            add(at + np.arange(width - 1), mine[1:], -1.0)
            at += width - 1
        add(at, count, float(n * (levels.leaves[top] - levels.leaves[top - 1])))
        add(at, first[top, 2 * top - 1] + slots - 2 * top, -1.0)
        at += 1
    limits.append(np.zeros(at - 2 * h * slots))
    matrix: Any = sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(at, count + 1)
    )
    goal = np.zeros(count + 1)
    goal[count] = -1.0
    found = linprog(goal, A_ub=matrix, b_ub=np.concatenate(limits), bounds=(0, None), method="highs")
    if found.status != 0:
        return None
    prices = np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)
    return prices[: 2 * h * slots].reshape(2, h, slots)


def fat_tree_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of prices of slots on a total exchange in a fat tree, where it beats those of `fat_trees`."""
    levels, demands = case.network.levels, case.hub_demands
    if levels is None or not case.whole or case.limited or len(demands) != 1:
        return
    if demands[0].shared or not demands[0].everywhere or levels.height < 2:
        return
    known = max(int(bound.value) for family in (branch_bounds, leaf_bounds) for bound in family(case))
    if levels.height * (levels.height + 1) * known > LARGEST_FAT_TREE:
        return
    best: SlotPrices | None = None
    slots, step, most = known, 1, None
    while most is None or slots < most:  # steps that grow, then halves: `slots - 1` is proved not to be enough
        tried = slots + step - 1 if most is None else (slots + most) // 2
        found = slot_prices(levels, tried)
        if found is not None and found.proves:
            best, slots, step = found, tried + 1, 2 * step
        else:
            most = tried
    if best is None:
        return
    text = (
        f"if each step of the branches of each level has a price, all messages together pay {best.needed:,}, and "
        f"{quantity(slots - 1, 'step')} of all branches are worth only {best.offered:,}"
    )
    yield Bound.of("prices of slots", best, text, "load", _SOURCE)


LARGEST = 30_000
"""Links times slots up to which the bound is worked out."""

_WORK, _LARGEST_ALONE = 400_000, 100_000
"""Links times slots of all flows to single terminals together, and of one of them."""

_VAIN, _FREE = 8, 100_000
"""Terminals in a row that may need no more slots than those before them, after so many links times slots; from then on
one is not looked at if another needed no more to which the packets have as far to go."""


def cut_over_time(links: Links, hub: int, slots: int, amount: Counts | None = None) -> TimeCut | None:
    """Return a cut that proves that a hub cannot send all messages within so many slots, if one is found.

    `links`: the links, of unsegmented messages. `amount` (int64[N]): the packets that each other node gets. Default:
    one for each terminal. Returns: where all occupancies are 1, None only if the messages can all be delivered in time.

    A minimum cut in the network of states (node, slot), in which packets may wait. A link of occupancy o is given an
    o-th of its capacity in each slot to find the cut; what it proves is then counted with whole packets.

    Source: L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6,
    1958.

    >>> import gossamer
    >>> case = Case(gossamer.network("array:4"), gossamer.task("scatter"))
    >>> cut = cut_over_time(case.links, 0, 2)
    >>> cut.messages, cut.room, cut.since.tolist()
    (3, 2, [0, 3, 3, 3])
    """
    nodes, end = links.node_count, (slots + 1) * links.node_count
    state = np.arange(nodes)
    if amount is None:
        amount = (state < links.terminal_count).astype(np.int64)
    others = np.flatnonzero((amount > 0) & (state != hub))
    asked = amount[others]
    many = int(asked.sum()) + 1
    scale = _unit(links.occupancy, many)
    room = np.minimum(np.minimum(links.capacity, many) * scale // links.occupancy, many * scale)
    length = links.latency + np.where(links.stores[links.target], links.occupancy, 0)
    slot = np.arange(slots)[:, None]
    arrives = slot + length
    at, e = np.nonzero((arrives <= slots) & (slot + links.occupancy + links.latency <= slots))
    tail = np.concatenate([at * nodes + links.source[e], (slot * nodes + state).ravel(), slots * nodes + others])
    head = np.concatenate(
        [arrives[at, e] * nodes + links.target[e], ((slot + 1) * nodes + state).ravel(), np.full(others.size, end)]
    )  # fmt: skip
    width = np.concatenate(
        [room[e], np.full(slots * nodes, many * scale), asked * scale]
    )  # fmt: skip
    found = least_cut(tail, head, width, hub, end)
    if found.flow == int(asked.sum()) * scale:
        return None
    states = found.near[:-1].reshape(slots + 1, nodes)
    since = np.where(states.any(axis=0), states.argmax(axis=0), slots + 1)
    messages = int(asked[since[others] > slots].sum())
    # the last slot in which a packet may leave so that it arrives on the other side, and in time
    last = np.minimum(since[links.target] - 1 - length, slots - links.occupancy - links.latency)
    across = np.maximum(last - since[links.source] + 1, 0)
    counted = int((-(-across // links.occupancy) * np.minimum(links.capacity, many)).sum())
    return TimeCut(slots, messages, counted, since) if counted < messages else None


def _unit(occupancy: Counts, many: int) -> int:
    """Return a multiple of all occupancies that 32 bits can take so many times, or as large a number as they can."""
    unit = 1
    for value in np.unique(occupancy).tolist():
        unit = int(np.lcm(unit, int(value)))
        if unit * many >= 2**29:
            return int(max(1, 2**29 // many))
    return unit


def cut_over_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for a scatter or gather on a small network, the least time that a flow over time allows.

    Exact with all ports and links without occupancies, and a bound with fewer. Only if it is more than what the
    distances and the links of the hub ask for.
    """
    demand = case.demands[0]
    if not isinstance(demand, HubDemand) or len(case.demands) > 1 or demand.shared or not case.whole:
        return
    hub, packets = int(demand.hubs[0]), demand.hubs.size
    if int(demand.hubs[-1]) != hub:
        return
    links = case.links if demand.outward else case.links.turned
    known = least_arrival(case, hub, not demand.outward)
    if known is None:
        return
    slots = int(known[0])
    cut: TimeCut | None = None
    amount = packets * (np.arange(links.node_count) < links.terminal_count)
    most, step = LARGEST // case.network.link_count, 1
    high: int | None = None  # slots that are enough
    while slots <= most if high is None else slots < high:
        now = min(slots + step - 1, most) if high is None else (slots + high) // 2
        following = cut_over_time(links, hub, now, amount)
        if following is None:
            high = now
        else:
            cut, slots, step = following, now + 1, 2 * step
    if cut is not None:
        owner = f"{'of' if demand.outward else 'for'} node {case.name(hub)}"
        text = (
            f"{case.packets_text(cut.messages, 'message')} {owner} must pass a bottleneck that lets "
            f"{case.packets_text(cut.room, 'packet')} through within {case.time_text(slots - 1)}"
        )
        yield Bound.of("cut over time", cut, text, "cut", "Ford and Fulkerson 1958")


def target_over_time_bounds(case: Case) -> Iterator[Bound]:
    """Yield, for a task of messages for several, the least time in which what one terminal gets can come to it alone.

    Of contributions, that in which those of one terminal can all leave it. Tried are the terminals with the longest
    and the shortest ways, as many as there is time for; one where network and task look the same from every node.
    """
    if len(case.demands) != 1 or not case.demands[0].shared or not case.whole or case.limited:
        return
    demand = case.demands[0]
    links = case.links.turned if demand.outward else case.links
    best = _latest(case, demand, links)
    if best is not None:
        hub, before, cut = best
        text = (
            f"{case.packets_text(cut.messages)} {'for' if demand.outward else 'of'} node {case.name(hub)} must pass a "
            f"bottleneck that lets {case.packets_text(cut.room, 'packet')} through within {case.time_text(before)}"
        )
        yield Bound.of("cut over time", cut, text, "cut", "Ford and Fulkerson 1958")


def _latest(case: Case, demand: Demand, links: Links) -> tuple[int, int, TimeCut] | None:
    """Return a terminal that needs more slots than the others looked at, one slot less, and the cut that proves it."""
    best: tuple[int, int, TimeCut] | None = None
    slots, work, vain, alike = 0, _WORK, 0, set[int]()
    for away, hub, amount in _alone(case, demand, links):
        if away in alike and work < _WORK - _FREE:
            continue
        if not slots:
            known = least_arrival(case, hub, demand.outward)
            slots = 1 if known is None else int(known[0])
        vain += 1
        high, step = None, 1  # slots that are enough for this terminal
        while high is None or slots < high:
            now = slots + step - 1 if high is None else (slots + high) // 2
            size = now * case.network.link_count
            if size > min(work, _LARGEST_ALONE):
                return best
            work -= size
            cut = cut_over_time(links, hub, now, amount)
            if cut is None:
                high = now
            else:
                best, slots, step, vain = (hub, now, cut), now + 1, 2 * step, 0
        if vain >= _VAIN and work < _WORK - _FREE:
            break
        if vain:
            alike.add(away)
    return best


def _alone(case: Case, demand: Demand, links: Links) -> list[tuple[int, int, Counts]]:
    """Return how far packets have to go to a terminal, the terminal, and those at each node: longest, shortest, ..."""
    nodes, terminals = links.node_count, 1 if case.invariant else links.terminal_count
    if case.network.link_count * terminals > _WORK:
        return []
    found = []
    for v in range(terminals):
        amount = amounts(demand, v, nodes, demand.outward)
        if amount.any():
            away = np.minimum(links.travel(np.array([v])).usable, FAR)
            found.append((int((away * amount).sum()), v, amount))
    found.sort(key=lambda row: (-row[0], row[1]))
    return [found[-1 - i // 2 if i % 2 else i // 2] for i in range(len(found))]


_FLOWS, _FLOW_LINKS, _DIVISIONS = 4, 6_000, 8
"""Terminals to which a quickest flow is looked for, one at least, and their links together; divisions of the network
in which parts with few links into them are looked for."""


def root_flow_bounds(case: Case) -> Iterator[Bound]:
    """Yield what a broadcast or reduction of any parts takes at least: the quickest flow between root and a terminal.

    All that the root has must get to each terminal, over all paths at once, with the latencies on them; backwards in
    time the same holds for contributions. Tried are terminals that are far away, or to which few or slow links lead.

    >>> import gossamer
    >>> slow = gossamer.network("ring:6").with_times(1, 2)
    >>> task, rules = gossamer.task("broadcast", packets=40), gossamer.Rules(segmented=True)
    >>> next(root_flow_bounds(Case(slow, task, rules))).value  # to the third node, 6 slots away both ways
    Fraction(26, 1)
    """
    demand = case.demands[0] if len(case.demands) == 1 else None
    if not isinstance(demand, HubDemand) or not demand.shared or case.whole or not takes_time(case):
        return
    hub, packets = int(demand.hubs[0]), demand.hubs.size
    links = case.links if demand.outward else case.links.turned
    if bool((demand.hubs != hub).any()) or links.source.size > _LARGEST_ALONE:
        return
    n = links.node_count
    ends = np.flatnonzero(amounts(demand, hub, n, not demand.outward)[: links.terminal_count])
    ends = ends[ends != hub]
    if not ends.size:
        return
    away = links.travel(np.array([hub])).usable[ends]
    into = np.bincount(links.target, links.rate, n)[ends]
    gossip = Gossip(links, np.append(ends, hub), hub, False, False, packets)
    for part in islice(timed_divisions(gossip), _DIVISIONS):  # links into the part of a terminal may be few
        entering = part[links.source] != part[links.target]
        rate = np.bincount(part[links.target[entering]], links.rate[entering], int(part.max()) + 1)
        into = np.where(part[ends] == part[hub], into, np.minimum(into, rate[part[ends]]))
    time = away + packets / np.maximum(np.minimum(np.bincount(links.source, links.rate, n)[hub], into), 1e-300)
    best: QuickestFlow | None = None
    tried = set[tuple[float, int]]()
    for i in np.argsort(-time, kind="stable").tolist():
        if len(tried) >= max(1, min(_FLOWS, _FLOW_LINKS // links.source.size)):
            break
        if (kind := (float(time[i]), int(away[i]))) not in tried:
            tried.add(kind)
            found = quickest_flow(links, hub, int(ends[i]), packets)
            if found is not None and (best is None or found.value > best.value):
                best = found
    if best is None:
        return
    node = best.target
    if not demand.outward:
        best = replace(best, source=node, target=hub)
    text = (
        f"{case.packets_text(packets)} must get from node {case.name(best.source)} to node {case.name(best.target)}, "
        f"over all paths at once{', with the latencies on them' * bool(links.latency.any())}"
    )
    yield Bound.of("quickest flow", best, text, "cut", "Ford and Fulkerson 1958; Lin and Jaillet 2015")
