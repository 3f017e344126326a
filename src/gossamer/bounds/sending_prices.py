"""The bound of prices of sending for messages that are copied, where nodes send one packet a step.

Let sets of nodes have weights. Each message that has an origin outside a set and a target inside enters it at least
once, so all messages together are worth at least the sum of what must enter each set, times its weight. A hop is worth
the weights of the sets that it enters, and a node sends one packet a step, worth at most its dearest link. If all
messages are worth m, and all nodes together send no more than w in a step, the time is at least ``m/w``.

The best weights are the dual of a linear program: by Edmonds' theorem on branchings, counts of hops that bring enough
into every set are spanning trees of all messages, and the least load of the busiest node is looked for. Its sets are
found by maximum flows to one terminal after the other. The solver only proposes weights; they are rounded to whole
numbers, and the bound is counted from these. Time reversed the same holds for contributions and nodes that receive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gossamer.bounds.bound import Bound
from gossamer.bounds.cut_nodes import branches_of
from gossamer.bounds.thin_cuts import Floats, Mask, amounts
from gossamer.networks.network import Network
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, Demand, HubDemand
from gossamer.writing import quantity

__all__ = ["sending_price_bounds"]

_WORK = 1_500_000
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

    Notes
    -----
    A linear program of L variables and N flows for each of at most 40 searches for sets, fewer on large networks; none
    where two searches take more than a second or so (N (N + L) above 750,000).

    Examples
    --------
    >>> import gossamer
    >>> import networkx as nx
    >>> network = gossamer.networks.from_networkx(nx.complete_bipartite_graph(2, 5))
    >>> for bound in sending_price_bounds(Case(network, gossamer.task("allgather"), gossamer.Rules(ports="one"))):
    ...     print(bound.value, bound.witness)  # doctest: +NORMALIZE_WHITESPACE
    15 5 sets of nodes with weights: what must enter them is worth 30, and
    nodes that send one packet a step (0, 1) pass on 2 a step
    """
    net = case.network
    if case.invariant or net.grid is not None or net.levels is not None:
        return  # bounds of their own: layers and color classes, routing nodes
    for limited, outward in ((case.send_limited, True), (case.receive_limited, False)):
        asked = tuple(d for d in case.demands if d.shared and d.outward == outward)
        if not limited or not asked:
            continue
        rounds = min(_ROUNDS, _WORK // (net.terminal_count * (net.link_count + net.node_count)))
        if rounds > 1 and sum(_messages(d) for d in asked) > 1:
            found = case.once(_priced, net if outward else net.transposed, _turned(case, asked, outward), rounds)
            if found is not None:
                yield _bound(case, *found, outward)


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


def _priced(network: Network, demands: tuple[Demand, ...], rounds: int) -> tuple[int, int, Counts, int] | None:
    """Return what all messages are worth, what all nodes send a step, the price of each node, and how many sets."""
    terminals = network.terminal_count
    sets = _sets(demands, terminals, _first_sets(network))
    supply = [np.sum([amounts(d, v, network.node_count, True) for d in demands], axis=0) for v in range(terminals)]
    best: tuple[Fraction, int, int, Counts, int] | None = None
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
    return None if best is None else best[1:]


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


def _rounded(network: Network, sets: _Sets, weight: Floats) -> tuple[Fraction, int, int, Counts, int] | None:
    """Return the best bound of weights rounded to whole numbers, first as it is, with what proves it."""
    some = np.flatnonzero(weight > _CLOSE * max(float(weight.max(initial=0)), 1e-300))
    if not some.size:
        return None
    weight = weight[some] / float(weight[some].min() if weight[some].min() > 1e-3 * weight.max() else weight.max())
    chosen = _Sets(sets.inside[some], sets.need[some])
    entered = chosen.entered(network)
    best: tuple[Fraction, int, int, Counts, int] | None = None
    for scale in _SCALES:
        whole = np.rint(weight * scale).astype(np.int64)
        price = np.zeros(network.node_count, np.int64)
        np.maximum.at(price, network.link_source, whole @ entered)
        worth, offered = int(whole @ chosen.need), int(price.sum())
        value = Fraction(worth, max(offered, 1))
        if offered and (best is None or value > best[0] * (1 + Fraction(1, 10**5))):
            best = value, worth, offered, price, int(np.count_nonzero(whole))
    return best


def _missing(network: Network, supply: list[Counts], hops: Floats) -> tuple[float, Mask]:
    """Return the least share of its messages that a terminal gets over so many hops, and sets too few hops enter."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

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
        graph = coo_array((room, (tail, head)), shape=(n + 1, n + 1)).tocsr().astype(np.int32)
        flow = maximum_flow(graph, n, v)
        whole = int(amount.sum()) * unit
        least = min(least, flow.flow_value / whole)
        if flow.flow_value >= whole - network.link_count:
            continue
        residual = graph - flow.flow
        residual.eliminate_zeros()
        near = np.zeros(n + 1, np.bool_)
        near[breadth_first_order(residual, n, return_predecessors=False)] = True
        far = np.zeros(n + 1, np.bool_)
        far[breadth_first_order(residual.T.tocsr(), v, return_predecessors=False)] = True
        new += [~near[:n], far[:n]]
    return least, np.unique(np.array(new, np.bool_).reshape(-1, n), axis=0)


def _bound(case: Case, worth: int, offered: int, price: Counts, sets: int, outward: bool) -> Bound:
    dear = np.flatnonzero(price)
    dear = dear[np.argsort(-price[dear], kind="stable")]
    names = ", ".join(case.name(int(v)) for v in dear[:3]) + (", ..." if dear.size > 3 else "")
    verb, way = ("send", "enter") if outward else ("receive", "leave")
    text = (
        f"{quantity(int(sets), 'set')} of nodes with weights: what must {way} them is worth {worth:,}, and "
        f"nodes that {verb} one packet a step ({names}) pass on {offered:,} a step"
    )
    source = "gossamer: linear programming duality, and Edmonds 1973 on branchings"
    return Bound("prices of sending" if outward else "prices of receiving", case.steps(worth, offered), text, "ports",
                 source)  # fmt: skip
