"""The bound of concurrent flow for exchanges, from linear programming, with a proof that can be checked by hand.

If all messages flow at once, split at will, the most loaded link needs at least z slots, and no schedule is faster. The
least z is a linear program with one flow for each active node. Its dual gives every link a length; whatever the lengths
are, messages have to travel the sum of their distances, and all links together offer the sum of their lengths in each
slot. So the solver only proposes lengths. They are rounded to whole numbers, and the bound is worked out from these
in exact arithmetic. Where the program is too large, lengths come from a search for balanced routes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gossamer.atomic_files import quantity
from gossamer.bounds.bound import Bound
from gossamer.bounds.cut_nodes import branches_of
from gossamer.bounds.earliest_arrivals import takes_time
from gossamer.bounds.grid_cuts import Floats, amounts
from gossamer.bounds.proofs import Load, Mask, PortPrices, Prices, least_cut
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.questions.cases.links import FAR, Links
from gossamer.questions.tasks import Chunked, PartialExchange, PartialGather, TotalExchange

# The bound of prices of sending for messages that are copied, where nodes send one packet a step.
#
# Let sets of nodes have weights. Each message that has an origin outside a set and a target inside enters it at least
# once, so all messages together are worth at least the sum of what must enter each set, times its weight. A hop is
# worth the weights of the sets that it enters, and a node sends one packet a step, worth at most its dearest link. If
# all messages are worth m, and all nodes together send no more than w in a step, the time is at least ``m/w``.
#
# The best weights are the dual of a linear program: by Edmonds' theorem on branchings, counts of hops that bring enough
# into every set are spanning trees of all messages, and the least load of the busiest node is looked for. Its sets are
# found by maximum flows to one terminal after the other. The solver only proposes weights; they are rounded to whole
# numbers, and the bound is counted from these. Time reversed the same holds for contributions and nodes that receive.

_SENDING_WORK = 1_500_000
"""Links looked at by all flows together, which decides how often sets are looked for."""

_ROUNDS, _STALLED = 40, 5
"""Searches for sets at most, and how many without a larger bound are the last."""

_SCALES = (1, 2, 3, 4, 5, 6, 12, 60, 2520, 1_000_000)
"""What weights are multiplied by before they are rounded: small numbers are easier to check, large ones exact."""

_FLOW = 10_000
"""Units of flow that a message is."""

_CLOSE = 1e-6


class _Sets(NamedTuple):
    """Sets of nodes, bool[k, N], and the messages that must enter each, int64[k]."""

    inside: Mask
    need: Counts

    def joined(self, other: _Sets) -> _Sets:
        """Return these sets and others."""
        return _Sets(np.concatenate([self.inside, other.inside]), np.concatenate([self.need, other.need]))

    def entered(self, network: Network) -> Mask:
        """Return which link enters which set, bool[k, L]."""
        return np.asarray(~self.inside[:, network.link_source] & self.inside[:, network.link_target])


def sending_price_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of messages that are copied to nodes, and that of contributions combined on their way.

    A linear program of L variables and N flows for each of at most 40 searches for sets, fewer on large networks; none
    where two searches take more than a second or so (N (N + L) above 750,000).

    >>> import gossamer
    >>> import networkx as nx
    >>> network = gossamer.networks.from_networkx(nx.complete_bipartite_graph(2, 5))
    >>> for bound in sending_price_bounds(Case(network, gossamer.task("allgather"), gossamer.Rules(ports="one"))):
    ...     print(bound.value, bound.witness)  # doctest: +NORMALIZE_WHITESPACE
    15 weighting 5 sets of nodes, what must enter them comes to 30, and the nodes
    0, 1, sending one packet each at a time, bring in at most 2 a step
    """
    net = case.network
    if case.invariant or net.grid is not None or net.levels is not None:
        return  # bounds of their own: layers and color classes, routing nodes
    for limited, outward in ((case.send_limited, True), (case.receive_limited, False)):
        asked = tuple(d for d in case.demands if d.shared and d.outward == outward)
        if not limited or not asked:
            continue
        rounds = min(_ROUNDS, _SENDING_WORK // (net.terminal_count * (net.link_count + net.node_count)))
        if rounds > 1 and sum(_messages(d) for d in asked) > 1:
            found = case.once(_priced, net if outward else net.transposed, _turned(case, asked, outward), rounds)
            if found is not None:
                yield _sending_bound(case, found, outward)


def _turned(case: Case, asked: tuple[Demand, ...], outward: bool) -> tuple[Demand, ...]:
    """Return demands as they are backwards in time, if they lead inward."""
    return asked if outward else tuple(replace(d, outward=True) for d in asked)


def _messages(demand: Demand) -> int:
    return int(demand.hubs.size if isinstance(demand, HubDemand) else demand.origin.size)


def _sets(demands: tuple[Demand, ...], terminals: int, inside: Mask) -> _Sets:
    """Return sets of nodes with what must enter them."""
    need = np.zeros(len(inside), np.int64)
    for demand in demands:
        if isinstance(demand, HubDemand):
            hubs = inside @ demand.multiplicity(np.arange(inside.shape[1]))
            need += demand.crossings(hubs, inside[:, :terminals].sum(axis=1))[1]
            continue
        wanted = np.logical_or.reduceat(inside[:, demand.target], demand.first[:-1], axis=1)
        need += (wanted & ~inside[:, demand.origin]).sum(axis=1)
    return _Sets(inside, need)


class _Weighted(NamedTuple):
    """What all messages are worth, what all nodes send a step, the price of each node; the sets and their weights."""

    worth: int
    offered: int
    price: Counts
    inside: Mask
    weight: Counts


def _priced(network: Network, demands: tuple[Demand, ...], rounds: int) -> _Weighted | None:
    """Return the sets and weights that prove most."""
    terminals = network.terminal_count
    sets = _sets(demands, terminals, _first_sets(network))
    supply = [np.sum([amounts(d, v, network.node_count, True) for d in demands], axis=0) for v in range(terminals)]
    best: tuple[Fraction, _Weighted] | None = None
    middle, last = np.zeros(network.link_count), 0
    for i in range(rounds):
        least, hops, weight = _solved(network, sets)
        found = _rounded(network, sets, weight)
        if found is not None and (best is None or found[0] > best[0] * (1 + Fraction(1, 10**5))):
            best, last = found, i
        if i - last >= _STALLED:
            break
        # corners of the program jump about, so sets are looked for half way from those before
        middle = (middle + hops) / 2 if i else hops
        share, new = _missing(network, supply, middle)
        load = float(np.bincount(network.link_source, middle).max())
        if not len(new) or (share > 0 and np.ceil(load / share - _CLOSE) <= np.ceil(least - _CLOSE)):
            break  # of so many times these hops are trees of all messages, in no more steps
        sets = sets.joined(_sets(demands, terminals, new))
    return None if best is None else best[1]


def _first_sets(network: Network) -> Mask:
    """Return single terminals, and the branches that hang on single nodes with their complements."""
    n = network.node_count
    sets = [np.eye(n, dtype=np.bool_)[: network.terminal_count]]
    branches = branches_of(network)
    if branches is not None and branches.size.size:
        rows = np.argsort(-branches.size, kind="stable")[: 2 * n]
        hanging = np.zeros((rows.size, n), np.bool_)
        for i, row in enumerate(rows.tolist()):
            hanging[i, branches.order[branches.first[row] : branches.first[row] + branches.size[row]]] = True
        sets += [hanging, ~hanging]
    return np.unique(np.concatenate(sets), axis=0)


def _solved(network: Network, sets: _Sets) -> tuple[float, Floats, Floats]:
    """Solve the program: the least load of the busiest node, the hops over each link, and the weight of each set."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    links, nodes = network.link_count, network.node_count
    sends: Any = sparse.coo_array((np.ones(links), (network.link_source, np.arange(links))), shape=(nodes, links))
    entered: Any = sparse.coo_array(sets.entered(network).astype(np.float64))
    load: Any = sparse.coo_array((np.full(nodes, -1.0), (np.arange(nodes), np.zeros(nodes, np.int64))), (nodes, 1))
    none: Any = sparse.coo_array((sets.need.size, 1))
    table: Any = sparse.vstack([sparse.hstack([sends, load]), sparse.hstack([-entered, none])]).tocsr()
    wanted = np.concatenate([np.zeros(nodes), -sets.need.astype(np.float64)])
    found: Any = linprog(np.append(np.zeros(links), 1.0), A_ub=table, b_ub=wanted, method="highs")
    if found.status != 0:
        return 0.0, np.zeros(links), np.zeros(sets.need.size)
    weight = np.maximum(-np.asarray(found.ineqlin.marginals[nodes:], np.float64), 0.0)
    return float(found.fun), np.asarray(found.x[:links], np.float64), weight


def _rounded(network: Network, sets: _Sets, weight: Floats) -> tuple[Fraction, _Weighted] | None:
    """Return the best bound of weights rounded to whole numbers, first as it is, with what proves it."""
    some = np.flatnonzero(weight > _CLOSE * max(float(weight.max(initial=0)), 1e-300))
    if not some.size:
        return None
    weight = weight[some] / float(weight[some].min() if weight[some].min() > 1e-3 * weight.max() else weight.max())
    chosen = _Sets(sets.inside[some], sets.need[some])
    entered = chosen.entered(network)
    best: tuple[Fraction, _Weighted] | None = None
    for scale in _SCALES:
        whole = np.rint(weight * scale).astype(np.int64)
        price = np.zeros(network.node_count, np.int64)
        np.maximum.at(price, network.link_source, whole @ entered)
        worth, offered = int(whole @ chosen.need), int(price.sum())
        value = Fraction(worth, max(offered, 1))
        if offered and (best is None or value > best[0] * (1 + Fraction(1, 10**5))):
            best = value, _Weighted(worth, offered, price, chosen.inside[whole > 0], whole[whole > 0])
    return best


def _missing(network: Network, supply: list[Counts], hops: Floats) -> tuple[float, Mask]:
    """Return the least share of its messages that a terminal gets over so many hops, and sets too few hops enter."""
    n, least, new = network.node_count, 1.0, []
    unit = min(_FLOW, 2**30 // max(int(max(amount.sum() for amount in supply)), 1))
    rooms = np.floor(hops * unit + 0.5)
    for v, amount in enumerate(supply):
        some = np.flatnonzero(amount)
        if not some.size:
            continue
        room = np.concatenate([rooms, amount[some] * unit])
        tail = np.concatenate([network.link_source, np.full(some.size, n)])
        head = np.concatenate([network.link_target, some])
        cut = least_cut(tail, head, room, n, v)
        whole = int(amount.sum()) * unit
        least = min(least, cut.flow / whole)
        if cut.flow < whole - network.link_count:
            new += [~cut.near[:n], cut.far[:n]]
    return least, np.unique(np.array(new, np.bool_).reshape(-1, n), axis=0)


def _sending_bound(case: Case, found: _Weighted, outward: bool) -> Bound:
    worth, offered, price, inside, weight = found
    dear = np.flatnonzero(price)
    dear = dear[np.argsort(-price[dear], kind="stable")]
    names = ", ".join(case.name(int(v)) for v in dear[:3]) + (", ..." if dear.size > 3 else "")
    verb, way, side = ("sending", "enter", "in") if outward else ("receiving", "leave", "out")
    text = (
        f"weighting {quantity(weight.size, 'set')} of nodes, what must {way} them comes to {worth:,}, and the nodes "
        f"{names}, {verb} one packet each at a time, bring {side} at most {offered:,} {case.units.rate_text}"
    )
    source = "gossamer: linear programming duality, and Edmonds 1973 on branchings"
    sets = tuple(np.flatnonzero(row) for row in inside)
    proof = PortPrices.by(Load.of(worth, offered, whole=case.whole), price=price, sets=sets, weight=weight)
    return Bound.of("prices of sending" if outward else "prices of receiving", proof, text, "ports", source)


# Prices of links and ports: what messages must pay on their ways, and what all links can have taken in a time.
#
# If every packet pays for each slot in which it uses a link, no schedule takes less than the time by which the links
# can have taken what all messages must pay at the least, whatever the prices are. The best prices are the dual of a
# linear program, concurrent flow; close to the best are those that rise where routes of least price crowd
# (multiplicative weights).

ROUNDINGS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 60, 1000, 1_000_000)
"""The longest links of the roundings that are tried."""

_WORK = 20_000_000
"""Links looked at by the searches of the balancing, and by all evaluations together."""

_FEWEST, _MOST = 3, 200
_BATCHES = 8
_STEP, _STEEPEST = 1.5, 4.0


class Flows(NamedTuple):
    """Messages that are moved: ``amount[j]`` from source i to ``target[j]``, for j from ``row[i]`` to ``row[i+1]``.

    With one row only, the same for all sources; int64 arrays. `links` are those on which they go outward.
    """

    links: Links
    source: Counts
    row: Counts
    target: Counts
    amount: Counts

    @property
    def work(self) -> int:
        """Links looked at to find the shortest paths of all."""
        return int(self.source.size) * int(self.links.source.size + self.links.node_count)


class Resources(NamedTuple):
    """What links use up: themselves, or the ports of their nodes; a class of them where the case is invariant.

    `use` int64[k, L] lists k resources of each link, and `slots` int64[k, L] for how many slots a packet uses them. Of
    T slots, resource r has ``capacity * occupancy * floor((T - wait) / occupancy)`` packets times slots to give,
    int64[R].
    """

    use: Counts
    slots: Counts
    capacity: Counts
    occupancy: Counts
    wait: Counts


class Price(NamedTuple):
    """A time that is needed because messages must pay so much for links of these prices, int64[L] a slot.

    `toll` int64[L] is what a packet pays on each link; `each` has the prices of the resources, int64[R].
    """

    time: Fraction
    load: Load
    offered: int
    price: Counts
    toll: Counts
    each: Counts


def flows_of(case: Case) -> Flows | None:
    """Return the messages of a task that only moves messages, from the fewer nodes if they are hubs; else None."""
    if len(case.demands) != 1 or case.demands[0].shared:
        return None
    demand = case.demands[0]
    if isinstance(demand, HubDemand):
        links = case.links if demand.outward else case.links.turned
        hubs, count = np.unique(case.hubs(demand), return_counts=True)
        every = np.arange(demand.terminal_count)
        if bool((count == count[0]).all()):
            return Flows(links, hubs, np.array([0, every.size]), every, np.full(every.size, count[0]))
        row = np.arange(hubs.size + 1) * every.size
        return Flows(links, hubs, row, np.tile(every, hubs.size), np.repeat(count, every.size))
    pair = demand.origin[demand.message] * np.int64(case.network.node_count) + demand.target
    pairs, amount = np.unique(pair, return_counts=True)
    source, first = np.unique(pairs // case.network.node_count, return_index=True)
    return Flows(case.links, source, np.append(first, pairs.size), pairs % case.network.node_count, amount)


def resources_of(case: Case, flows: Flows) -> Resources:
    """Return the resources of the links of flows."""
    links = flows.links
    n, degree = links.node_count, max(links.source.size // links.node_count, 1)
    head, tail = np.zeros_like(links.latency), np.zeros_like(links.latency)
    if not case.invariant:
        ends = flows.target if flows.row.size == 2 else np.unique(flows.target)
        head = links.travel(flows.source).depart
        tail = links.turned.travel(ends).depart[links.turned_place]
    kinds: list[Counts] = []
    held = []
    columns: list[tuple[Counts, Counts, Counts]] = []
    if not case.limited:
        kind = links.number % degree if case.invariant else np.arange(links.source.size)
        count = degree if case.invariant else links.source.size
        first = np.zeros(count, np.int64)
        first[kind[::-1]] = np.arange(kind.size)[::-1]
        wait = np.minimum(head + links.latency + tail, FAR)[first]
        kinds.append(kind)
        held.append(links.occupancy)
        columns.append((links.capacity[first], links.occupancy[first], wait))
    for limited, ends, early, late in (
        (links.send_limited, links.source, head, links.latency + tail),
        (links.receive_limited, links.target, head + links.latency, tail),
    ):
        if limited:
            node = np.zeros_like(ends) if case.invariant else ends
            count = 1 if case.invariant else n
            least, most = np.full(count, FAR), np.zeros(count, np.int64)
            before, after = np.full(count, FAR), np.full(count, FAR)
            np.minimum.at(least, node, links.occupancy)
            np.maximum.at(most, node, links.occupancy)
            np.minimum.at(before, node, early)
            np.minimum.at(after, node, late)
            occupancy = np.where(least == most, least, 1)
            kinds.append(node)
            held.append(links.occupancy)
            columns.append((np.ones(count, np.int64), occupancy, np.minimum(before + after, FAR)))
    for kind, slots, column in _ports(case, flows, head, tail):
        kinds.append(kind)
        held.append(slots)
        columns.append(column)
    start = np.cumsum([0, *(c[0].size for c in columns)])
    use = np.stack([kind + s for kind, s in zip(kinds, start[:-1], strict=True)])
    return Resources(use, np.stack(held), *(np.concatenate([c[i] for c in columns]) for i in range(3)))


def _ports(
    case: Case, flows: Flows, head: Counts, tail: Counts
) -> Iterator[tuple[Counts, Counts, tuple[Counts, Counts, Counts]]]:
    """Yield the shared ports of each side, and for links that have none themselves once more."""
    links, ports = flows.links, flows.links.ports
    if ports is None:
        return
    count, total = ports.capacity.size, links.source.size
    for side, early, late, sends in (
        (ports.sending, head, links.latency + tail, True),
        (ports.receiving, head + links.latency, tail, False),
    ):
        alone = side < 0
        kind = np.where(alone, count + np.cumsum(alone) - 1, side)
        slots = np.where(alone, links.occupancy, np.append(ports.occupancy, 0)[side])
        beyond = np.where(alone | (not case.whole), 0, links.occupancy - slots)  # on the link alone
        first, last = np.full(count + int(alone.sum()), FAR), np.full(count + int(alone.sum()), FAR)
        np.minimum.at(first, kind, early + (0 if sends else beyond))
        np.minimum.at(last, kind, late + (beyond if sends else 0))
        rows = np.arange(total)[alone]
        yield kind, slots, (
            np.concatenate([ports.capacity, links.capacity[rows]]),
            np.concatenate([ports.occupancy, links.occupancy[rows]]),
            np.minimum(first + last, FAR),
        )  # fmt: skip


def paid(flows: Flows, length: Counts, load: Floats | None = None, sources: Counts | None = None) -> int:
    """Return the sum of the distances of all messages over links of whole lengths; -1 if one has no way.

    What the links of shortest paths carry is added to `load` float64[L]; only messages of some `sources` (positions in
    `flows.source`) where they are given.
    """
    from gossamer.questions.cases.links import lengths_of_ways

    links = flows.links
    n, count = links.node_count, links.source.size
    source, row, target, amount = flows.source, flows.row, flows.target, flows.amount
    if sources is not None:
        source = source[sources]
        if row.size > 2:
            lengths = np.diff(row)[sources]
            begin = np.append(0, np.cumsum(lengths))
            place = np.arange(begin[-1]) - np.repeat(begin[:-1] - row[sources], lengths)
            row, target, amount = begin, target[place], amount[place]
    room = np.zeros(count) if load is None else load
    found = lengths_of_ways(
        links.first, links.source, links.target, length, source, row, target, amount, np.empty(count + n, np.int64),
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), room,
    )  # fmt: skip
    return int(found)


def best_price(case: Case, flows: Flows, resources: Resources, prices: list[Floats]) -> Price | None:
    """Return the longest time that some prices of resources, float64[R] each, prove when they are rounded."""
    tries = max(1, min(len(ROUNDINGS), int(2 * _WORK // max(flows.work, 1))))
    best: Price | None = None
    for proposed in prices:
        for longest in ROUNDINGS[-tries - 1 :][:tries] if tries < len(ROUNDINGS) else ROUNDINGS:
            price = np.rint(proposed / max(float(proposed.max()), 1e-300) * longest).astype(np.int64)
            each = (price[resources.use] * resources.slots).sum(axis=0)
            offered = int(price @ (resources.capacity * (resources.wait < FAR)))
            if not offered or int(each.max()) > 2**40:
                continue
            needed = paid(flows, each)
            if best is not None and needed * best.offered <= best.load.needed * offered and not resources.wait.any():
                continue
            worth = price * resources.capacity * resources.occupancy
            load = Load(needed, worth, resources.occupancy, resources.wait, case.whole)
            time = load.time if needed > 0 else None
            if time is not None and (best is None or time > best.time):
                best = Price(time, load, offered, price[resources.use].sum(axis=0), each, price)
    return best


def room_used(resources: Resources, load: Floats) -> Floats:
    """Return the slots of each resource that links use up which carry so many packets each, float64[R]."""
    pairs = zip(resources.use, resources.slots, strict=True)
    used = [np.bincount(kind, load * slots, resources.capacity.size) for kind, slots in pairs]
    return np.asarray(np.sum(used, axis=0))


def balanced_prices(flows: Flows, resources: Resources, seed: int = 0) -> list[Floats]:
    """Return prices of resources that rise where cheapest routes crowd: equal ones, the last ones and their mean.

    Multiplicative weights. The messages of a few sources at a time take the cheapest paths; the price of a resource
    grows exponentially with its share of the largest load. O(rounds * sources * L log N), rounds by the size.

    Source: N. Garg, J. Koenemann, "Faster and simpler algorithms for multicommodity flow and other fractional packing
    problems", SIAM J. Computing 37, 2007.
    """
    room = resources.capacity.astype(np.float64)
    least = flows.links.occupancy
    rounds = max(_FEWEST, min(_MOST, _WORK // max(flows.work, 1)))
    share = min(1.0, _WORK / 3 / max(flows.work, 1))  # of the sources that are routed in a round
    rng = np.random.default_rng(seed)
    weight, mean, largest = np.zeros(room.size), np.zeros(room.size), 0.0
    for k in range(rounds):
        order = rng.permutation(flows.source.size)[: max(1, int(share * flows.source.size))]
        batches = np.array_split(order, min(_BATCHES, order.size))
        whole_round = np.zeros(room.size)
        for batch in batches:
            price = np.exp(weight - weight.max())
            dear = np.rint(price / price.max() * 10_000).astype(np.int64)
            length = (dear[resources.use] * resources.slots).sum(axis=0) + least
            load = np.zeros(least.size)
            paid(flows, length, load, np.sort(batch))
            used = room_used(resources, load) / room
            whole_round += used
            mean_largest = largest or float(used.max()) or 1.0
            weight += _STEP / np.sqrt(k + 1.0) * np.minimum(used / mean_largest, _STEEPEST)
            if 3 * k >= rounds:
                mean += price / float(price @ room)
        largest = float(whole_round.max()) / len(batches)
    return [np.ones(room.size), np.exp(weight - weight.max()), mean]


MAX_VARIABLES = 26_000
"""The most flows over links, one for each active node and link, for which the linear program is solved (seconds)."""

MAX_SEARCHED = 6_000
"""The same where prices can be balanced instead: those networks have no closed forms that make the program easy."""

MAX_WORK = 80_000_000
"""The most looks at links that one search from every active node may take, where prices are balanced instead."""


def concurrent_flow_bounds(case: Case) -> Iterator[Bound]:
    """Yield the bound of concurrent flow for messages that are moved, between more than one node and more than one."""
    net = case.network
    known = net.group is not None or net.levels is not None or net.grid is not None
    searched = not known or takes_time(case)
    uneven = case.invariant and net.group is not None and not net.group.abelian  # its generators may differ in load
    if net.link_count > (MAX_WORK if searched or uneven else MAX_VARIABLES):
        return  # even from one node
    flows = flows_of(case)
    if flows is None:
        return
    task = case.task.task if isinstance(case.task, Chunked) else case.task
    exchange = isinstance(task, PartialExchange | PartialGather | TotalExchange)
    several = case.invariant or (flows.source.size > 1 and np.unique(flows.target).size > 1)
    variables = flows.source.size * net.link_count
    solved = exchange and variables <= (MAX_SEARCHED if searched and several else MAX_VARIABLES)
    if not solved and not ((searched or uneven) and several and flows.work <= MAX_WORK):
        return
    resources = resources_of(case, flows)
    proposed = [_prices(case, flows, resources)] if solved else balanced_prices(flows, resources)
    best = best_price(case, flows, resources, proposed)
    if best is not None:
        yield _bound(case, flows, best)


def priced_text(case: Case, toll: Counts, needed: Fraction, moved: str, offered: float) -> str:
    """Return what must pay for links, and what links can have taken, for a witness.

    * `toll` (int64[L]): what a packet pays on each link of the network.
    * `needed`: what must be paid; of each node, as what is offered, where the case is invariant.
    * `moved`: what pays, with a verb.
    * `offered`: what links, or ports, take a step.
    """
    priced = np.flatnonzero(toll)
    least, times = int(toll[priced].min()), case.network.node_count if case.invariant else 1
    amount = case.units.amount_text(needed * times / least)
    dear = priced[toll[priced] == toll.max()]
    names = ", ".join(case.network.link_name(int(e)) for e in dear[:3]) + (", ..." if dear.size > 3 else "")
    if dear.size == priced.size:
        all_links = priced.size == case.network.link_count
        where = f"{'all ' * all_links}{case.links_text(priced)}{'' if all_links else f' ({names})'}"
        if case.limited:
            where += f", of which one-port nodes use at most {case.units.throughput_text(offered * times / least)}"
        return f"{moved} at least {amount} over {where}"
    offer = case.units.throughput_text(offered * times / least)
    shares: dict[str, list[int]] = {}
    for link in priced[np.argsort(-toll[priced], kind="stable")].tolist():
        shares.setdefault(f"{toll[link] / least:.3g}", []).append(link)
    every = priced.size == case.network.link_count
    if len(shares) == 1:
        where = (
            f"all {priced.size:,} links alike" if every else f"{_some_links(case, priced.tolist())} alike, no others"
        )
        return f"counting {where}, {moved} at least {amount}, and at most {offer} can be carried"
    if len(shares) > _TOLD:
        first, last = next(iter(shares)), next(reversed(shares))
        told = f"from {last} to {first} on {quantity(priced.size, 'link')}, most on {names}"
    else:
        told = ", ".join(f"{share} on {_some_links(case, some)}" for share, some in shares.items())
    told += "" if every else " and 0 on the others"
    return f"counting packets {told}, {moved} at least {amount}, so counted, and at most {offer} can be carried"


def _some_links(case: Case, links: list[int]) -> str:
    """Return how many links some are, with the names of the first."""
    names = ", ".join(case.network.link_name(link) for link in links[:2]) + (", ..." if links[2:] else "")
    each = f"each of {len(links):,} links" if links[1:] else "the link"
    return f"{each} ({names})" if links[1:] else f"{each} {names}"


_TOLD = 4
"""Different prices that are told one by one."""


def _prices(case: Case, flows: Flows, resources: Resources) -> Floats:
    """Solve the linear program and return the dual price of each resource."""
    import scipy.sparse as sparse
    from scipy.optimize import linprog

    tail, head = flows.links.source, flows.links.target
    n, links, count, sources = flows.links.node_count, tail.size, resources.capacity.size, flows.source.size
    width = sources * links + 1  # the last variable is z
    variable = np.arange(sources * links).reshape(sources, links)
    node = np.arange(sources)[:, None] * n
    balance: Any = sparse.csr_array(
        (
            np.repeat([1.0, -1.0], variable.size),
            (np.concatenate([(node + head).reshape(-1), (node + tail).reshape(-1)]), np.tile(variable.reshape(-1), 2)),
        ),
        shape=(sources * n, width),
    )
    users = np.concatenate([np.tile(kind, sources) for kind in resources.use])
    held = np.concatenate([np.tile(slots.astype(np.float64), sources) for slots in resources.slots])
    use: Any = sparse.csr_array(
        (
            np.concatenate([held, -resources.capacity.astype(float)]),
            (
                np.concatenate([users, np.arange(count)]),
                np.concatenate([np.tile(variable.reshape(-1), len(resources.use)), np.full(count, width - 1)]),
            ),
        ),
        shape=(count, width),
    )
    wanted = np.zeros((sources, n))
    for i in range(sources):
        row = i if flows.row.size > 2 else 0
        mine = slice(int(flows.row[row]), int(flows.row[row + 1]))
        wanted[i, flows.target[mine]] = flows.amount[mine]
        wanted[i, flows.source[i]] = 0
        wanted[i, flows.source[i]] = -wanted[i].sum()
    cost = np.zeros(width)
    cost[-1] = 1.0
    found = linprog(cost, A_ub=use, b_ub=np.zeros(count), A_eq=balance, b_eq=wanted.reshape(-1), method="highs-ipm")
    if found.status != 0:
        return np.zeros(count)
    return np.maximum(-np.asarray(found.ineqlin.marginals, np.float64), 0.0)


def _bound(case: Case, flows: Flows, found: Price) -> Bound:
    length, toll = np.zeros((2, case.network.link_count), np.int64)
    length[flows.links.number], toll[flows.links.number] = found.price, found.toll
    text = priced_text(case, toll, Fraction(found.load.needed), "all messages together move", found.offered)
    source = "gossamer: linear programming duality of concurrent flows"
    return Bound.of("concurrent flow", Prices.by(found.load, price=length, each=found.each), text, "load", source)
