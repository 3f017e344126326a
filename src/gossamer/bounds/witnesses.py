"""Witnesses of bounds as plain values, from which ``gossamer_check.py`` counts a bound again.

Three laws cover nearly all bounds: what must be paid for links with prices, cuts of links and slots, and how long
something takes to its end, or how many nodes can be informed in a time. ``docs/explanation/certified_bounds.md``
has the laws. What is made here are proposals: what they prove, the checker counts by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from gossamer.bounds.allreduce_any_form import sums_of
from gossamer.bounds.bound import Bound
from gossamer.bounds.broadcast_growth import ClosedForm, DegreeGrowth, DelayedGrowth, Growth, LevelGrowth
from gossamer.bounds.proofs import (
    CallPrices,
    Chain,
    Cut,
    Load,
    OfTask,
    Partition,
    PartsOverTime,
    PortPrices,
    Prices,
    Proof,
    QuickestFlow,
    Region,
    Separator,
    TimeCut,
)
from gossamer.questions.cases import Case
from gossamer.questions.cases.demands import Counts, HubDemand, PairDemand
from gossamer.questions.cases.distances import axes_of
from gossamer.questions.tasks import Allreduce, Broadcast, Grouped, Task, includes

__all__ = ["witnesses_of"]

Witness = dict[str, Any]
_DRAWN = 60
"""Ranks of each part from which one is drawn, some of them several times, if that makes all equally likely."""
Mask = npt.NDArray[np.bool_]


def witnesses_of(case: Case, bound: Bound, orbits: tuple[list[int], list[int]] | None = None) -> Iterator[Witness]:
    """Yield what may prove a bound to ``gossamer_check.py``, with the widest scope first; nothing for some bounds.

    `orbits`: for each node, and for each link, the lowest one of its orbit under a symmetry of network and task, of
    which one item of each orbit is told.

    >>> import gossamer
    >>> from gossamer.bounds import bounds
    >>> case = Case(gossamer.network("ring:4"), gossamer.task("alltoall"))
    >>> total = next(bound for bound in bounds(case) if bound.name == "total hops")
    >>> next(witnesses_of(case, total))["groups"]
    [{'serve': 'distance'}]
    """
    laws = list(_Laws(case, bound.name).of(bound.proof))
    if orbits is not None:
        laws = [even for law in laws for even in _even(law, *orbits, case.network.terminal_count)]
    for whole in (False, True) if case.whole else (False,):
        for blocks in (False, True) if includes(case.task, Allreduce) else (False,):
            yield from ({"whole": whole, "blocks": blocks, **law} for law in laws)


def _even(law: Witness, nodes: list[int], links: list[int], ranks: int) -> Iterator[Witness]:
    """Yield a law with prices that are even over orbits: each gets what its orbit has together.

    Paths cost no less under the mean of all images of prices than they cost on average.
    """
    law = {name: value for name, value in law.items() if name not in ("from", "to")}
    if law["kind"] == "reach":
        yield law
    if law["kind"] != "load" or "shared" in law["price"] or "draw" in law:
        return
    only = np.zeros(len(links), bool)
    only[law.pop("only", slice(None))] = True
    price = {}
    for name, values in law["price"].items():
        orbit = np.array(links if name == "link" else nodes)
        own = np.broadcast_to(np.array(values), orbit.shape) * (only if name == "link" else 1)
        price[name] = np.bincount(orbit, own, orbit.size)[orbit].astype(np.int64)
    serves = {group["serve"] for group in law["groups"]}
    for serve in serves - {"sets"}:
        yield {**law, "price": _named(price), "groups": [{"serve": serve}]}
    if "sets" in serves:
        yield {**law, "price": _named(price), "groups": [{"serve": "sets", "sets": [[v] for v in range(ranks)]}]}
        yield {**law, "price": _named(price), "groups": [{"serve": "distance"}]}


class _Laws:
    """The laws that a proof may follow, for a case and the name of its bound."""

    def __init__(self, case: Case, name: str) -> None:
        self.case, self.name, self.links = case, name, case.links
        self.terminals = np.arange(case.network.terminal_count)

    def of(self, proof: Proof | None) -> Iterator[Witness]:
        """Yield the laws of a proof."""
        match proof:
            case OfTask(inner, task):
                yield from _of_task(self.case, self.name, inner, task)
            case Region():
                yield from self.region(proof)
            case Cut():
                yield from self.cut(proof)
            case Partition():
                yield from self.partition(proof)
            case Prices():
                groups = [{"serve": "distance"}]
                yield {"kind": "load", "price": self.priced(proof.each, self.inward), "groups": groups}
            case CallPrices():
                groups = [{"serve": "trees"}]
                yield {"kind": "load", "price": self.priced(proof.each, False), "groups": groups}
            case PartsOverTime():
                yield from self.parts_over_time(proof)
            case PortPrices():
                yield self.ports(proof)
            case Separator():
                yield from self.separator(proof)
            case Load():
                yield from self.load(proof)
            case TimeCut():
                yield from self.time_cut(proof)
            case QuickestFlow():
                yield from self.quickest_flow(proof)
            case Growth() | ClosedForm() | LevelGrowth() | DegreeGrowth():
                yield {"kind": "reach", "far": proof.distance}
            case DelayedGrowth():
                yield {"kind": "reach", "far": 0}
            case Chain():
                yield from self.chain(proof)

    @property
    def inward(self) -> bool:
        """Whether flows are those of messages to hubs."""
        demand = self.case.demands[0]
        return not getattr(demand, "outward", True) and hasattr(demand, "hubs")

    # prices

    def priced(self, each: Counts, back: bool) -> dict[str, Any]:
        """Return named prices of places in the order of `concurrent_flow.resources_of`."""
        case, n = self.case, self.case.network.node_count
        links = self.links.turned if back else self.links
        count, at = links.source.size, 0
        limits = [("send", links.send_limited), ("receive", links.receive_limited)]
        limited = sum(limit for _, limit in limits)
        one = links.ports is None and each.size < (limited * n or count)  # of classes of the links of a node
        price = {"link": np.zeros(case.network.link_count, np.int64)}
        if not limited:
            at = max(count // n, 1) if one else count
            price["link"][links.number] = each[links.number % at if one else np.arange(count)]
        for name, limit in limits:
            if limit:
                size = 1 if one else n
                there = {"send": "receive", "receive": "send"}[name] if back else name
                price[there] = np.broadcast_to(each[at : at + size], n)
                at += size
        ports = links.ports
        if ports is not None:
            count = ports.capacity.size
            shared = np.zeros((2, count), np.int64)
            for side, sends in ((ports.sending, True), (ports.receiving, False)):
                shared[int(sends == back)] = each[at : at + count]
                alone = np.flatnonzero(side < 0)
                price["link"][links.number[alone]] += each[at + count : at + count + alone.size]
                at += count + alone.size
            price["shared"] = self.shared(shared)
        return _named(price)

    def shared(self, each: Counts) -> Counts:
        """Return prices of the ports that are used to send, then of those used to receive; of int64[2, P]."""
        ports = self.links.ports
        assert ports is not None
        sides = (ports.sending, ports.receiving)
        used = [np.unique(side[side >= 0]) for side in sides]
        return np.concatenate([row[some] for row, some in zip(each, used, strict=True)])

    def even(self, across: Mask) -> Iterator[Witness]:
        """Yield prices at which a packet pays alike on some links, bool[L], on links or at one kind of ports."""
        links, network = self.links, self.case.network
        only = {} if across.all() else {"only": np.flatnonzero(_by_number(links.number, across)).tolist()}
        whole = int(np.lcm.reduce(np.unique(links.occupancy[across]))) if across.any() else 1
        price = np.zeros(network.link_count, np.int64)
        price[links.number] = np.where(across, whole // links.occupancy, 0)
        for limited, name, ends in (
            (links.send_limited, "send", links.source), (links.receive_limited, "receive", links.target),
        ):  # fmt: skip
            if limited and across.any():
                fastest = np.full(network.node_count, np.iinfo(np.int64).max)
                np.minimum.at(fastest, ends[across], links.occupancy[across])
                used = np.unique(ends[across])
                whole_ = int(np.lcm.reduce(fastest[used]))
                each = np.zeros(network.node_count, np.int64)
                each[used] = whole_ // fastest[used]
                yield {"kind": "load", "price": _named({name: each}), **only}
        yield {"kind": "load", "price": _named({"link": price}), **only}
        ports = links.ports
        if ports is None or not across.any():
            return
        for row, side in enumerate((ports.sending, ports.receiving)):
            rate = np.bincount(side[across] + 1, links.rate[across], ports.capacity.size + 1)[1:]
            for narrow in (np.ones(ports.capacity.size, bool), ports.capacity / ports.occupancy < rate):
                through = np.append(narrow, False)[side]
                slots = np.where(through, np.append(ports.occupancy, 1)[side], links.occupancy)
                unit = int(np.lcm.reduce(np.unique(slots[across])))
                alone = np.zeros(network.link_count, np.int64)
                alone[links.number] = np.where(across & ~through, unit // links.occupancy, 0)
                shared = np.zeros((2, ports.capacity.size), np.int64)
                used = np.unique(side[across & through])
                shared[row, used] = unit // ports.occupancy[used]
                yield {"kind": "load", "price": _named({"link": alone, "shared": self.shared(shared)}), **only}

    # laws

    def cut(self, proof: Cut) -> Iterator[Witness]:
        """Yield what must leave a set of nodes, or enter it."""
        out = np.zeros(self.case.network.node_count, np.bool_)  # the side that is left
        if proof.side is not None:
            out[proof.side] = True
        elif proof.nodes is not None:
            out[proof.nodes] = True
            out ^= proof.enter
        else:
            return
        across = out[self.links.source] & ~out[self.links.target]
        ends = {"from": proof.sources, "to": proof.targets}
        group = {"serve": "distance", **{k: v.tolist() for k, v in ends.items() if v is not None}}
        for price in self.even(across):
            yield {**price, "groups": [group]}

    def time_cut(self, proof: TimeCut) -> Iterator[Witness]:
        """Yield a cut of links and slots, and the links that it has, in all slots after what comes before."""
        price = next(self.even(np.ones(self.links.source.size, bool)))["price"]
        hub, others = (np.flatnonzero(some).tolist() for some in (proof.since == 0, proof.since > proof.slots))
        for back, links in ((False, self.links), (True, self.links.turned)):
            yield {"kind": "cut", "price": price, "back": back, "since": proof.since.tolist()}
            arrives = (
                proof.since[links.source] + links.latency + np.where(links.stores[links.target], links.occupancy, 0)
            )
            ends = {"from": others, "to": hub} if back else {"from": hub, "to": others}
            for each in self.even(arrives < np.minimum(proof.since[links.target], proof.slots + 1)):
                yield {**each, "groups": [{"serve": "distance", **ends}]}

    def quickest_flow(self, proof: QuickestFlow) -> Iterator[Witness]:
        """Yield a cut of links and times: how far each node is, if links count with their latencies and prices."""
        links = self.links
        length = links.latency * proof.worth + proof.packets * proof.toll[links.number]
        away, before = np.full(links.node_count, proof.way), np.zeros(0)
        away[proof.source] = 0
        while not np.array_equal(away, before):
            before = away.copy()
            np.minimum.at(away, links.target, before[links.source] + length)
        since = [str(Fraction(far, proof.worth)) for far in away.tolist()]
        for each in self.even(np.ones(links.source.size, bool)):
            yield {**each, "kind": "cut", "since": since, "from": [proof.source], "to": [proof.target]}

    def region(self, proof: Region) -> Iterator[Witness]:
        """Yield what must leave a set of nodes, as contributions or as results."""
        inside = np.zeros(self.case.network.node_count, np.bool_)
        inside[proof.nodes] = True
        within = inside[proof.roots]
        sums = {"from": [proof.deepest], "to": proof.roots[~within].tolist(), "of": "sum"}
        copies = {"from": proof.roots[within].tolist(), "to": [proof.furthest], "of": "copy"}
        groups = [{"serve": "distance", **group} for group in (sums, copies) if group["from"] and group["to"]]
        for price in self.even(inside[self.links.source] & ~inside[self.links.target]):
            yield {**price, "groups": groups}

    def chain(self, proof: Chain) -> Iterator[Witness]:
        """Yield what takes time before or after something, or both."""
        if self.name == "two furthest nodes":
            yield {"kind": "reach", "far": int(proof.value) - 1}
            return
        if proof.node is not None:
            yield from self.between(proof.node, self.name.startswith("node receives"))
        yield {"kind": "reach"}
        if self.name == "reduce, then broadcast":
            yield from ({"kind": "reach", "far": 0, "of": kind} for kind in ("sum", "copy"))
        for part in proof.parts:
            if isinstance(part, Bound):
                for law in _Laws(self.case, part.name).of(part.proof):
                    for some in ({}, {"of": "sum"}, {"of": "copy"}):
                        if "groups" in law:
                            yield {**law, "groups": [{**group, **some} for group in law["groups"]]}
                        else:
                            yield {**law, **some}
            elif not isinstance(part, Fraction):
                yield from self.of(part)

    def between(self, node: int, receives: bool) -> Iterator[Witness]:
        """Yield what a node must take in (or send) of an allreduce by blocks that comes late (or must go far)."""
        links = self.links if receives else self.links.turned
        ends = links.turned.travel(np.array([node])).usable  # to the node, or backwards in time
        across = (self.links.target if receives else self.links.source) == node
        for each in sums_of(self.case.network, self.case.task):
            members = each.members[each.members != node]
            if members.size == each.members.size:
                continue
            turned = links.turned
            early = [int(turned.travel(np.array([r])).usable[each.members].max()) for r in members.tolist()]
            arrive = np.array(early) + ends[members]
            mine = int(ends[each.members].max())
            last = [int(members[np.argmax(ends[members])])]
            here, there = ("to", "from") if receives else ("from", "to")
            for since in np.unique(np.append(arrive, mine)).tolist():
                late = members[arrive >= since].tolist()
                first, second = ("copy", "sum") if receives else ("sum", "copy")
                groups = [{"serve": "distance", "of": first, here: [node], there: late}] if late else []
                if mine >= since:
                    groups.append({"serve": "distance", "of": second, here: [node], there: last})
                for price in self.even(across):
                    yield {**price, "groups": groups}

    def partition(self, proof: Partition) -> Iterator[Witness]:
        """Yield what must enter parts, or leave them."""
        part, links = proof.part, self.links
        sets = [np.flatnonzero(part == k).tolist() for k in np.unique(part[part >= 0])]
        there, here = part[links.target], part[links.source]
        if self.name == "parts in any form":
            for ends in (there, here):
                for price in self.even((here != there) & (ends >= 0)):
                    yield {**price, "groups": [{"serve": "trees"}]}
            return
        if proof.leaves is not None and proof.enters is not None:
            yield from self.regions(part, proof.leaves, proof.enters)
            return
        for enter, ends in ((True, there), (False, here)):
            crossed = (here != there) & (ends >= 0)
            group = {"serve": "sets", "sets": sets, "of": "copy" if enter else "sum"}
            for price in self.even(crossed):
                yield {**price, "groups": [group]}
                yield {**price, "groups": [{"serve": "distance"}]}

    def parts_over_time(self, proof: PartsOverTime) -> Iterator[Witness]:
        """Yield what must get from part to part, whichever rank is drawn from each; from a root, if there is one."""
        rooted = not any(sums_of(self.case.network, self.case.task))
        demand = self.case.demands[0] if rooted else None
        own = proof.part[demand.hubs[:1]] if isinstance(demand, HubDemand) else np.zeros(0, np.int64)
        held = np.setdiff1d(proof.part[self.terminals], own)
        parts = [np.flatnonzero(proof.part == k) for k in held.tolist()]
        ranks = [nodes[nodes < self.terminals.size] for nodes in parts]
        count = math.lcm(*(some.size for some in ranks))
        count = count if count <= _DRAWN else max(some.size for some in ranks)
        across = proof.length[self.links.number] > 0
        pays = int(np.lcm.reduce(np.unique(self.links.occupancy[across])))  # on each of these links
        group: Witness = {"serve": "trees"}
        if rooted:
            group = {"serve": "sets", "sets": [nodes.tolist() for nodes in parts], "weights": pays}
        for price in self.even(across):
            yield {**price, "draw": [np.resize(some, count).tolist() for some in ranks], "groups": [group]}

    def regions(self, part: Counts, leaves: Counts, enters: Counts) -> Iterator[Witness]:
        """Yield what must leave regions, as contributions, and enter them, as results."""
        links, groups = self.links, []
        crossed = np.zeros(links.source.size, bool)
        for kind, chosen, view, here in (
            ("sum", leaves, links, part[links.source]),
            ("copy", enters, links.turned, part[links.target]),
        ):
            border = part[links.source] != part[links.target]
            some = border & np.isin(here, chosen)
            crossed |= some
            deep = []
            for k in chosen.tolist():
                mine = self.terminals[part[: self.terminals.size] == k]
                out = view.source[(part[view.source] == k) & (part[view.target] != k)]
                if mine.size and out.size:
                    away = [int(view.travel(np.array([v])).usable[out].min()) for v in mine.tolist()]
                    deep.append(int(mine[np.argmax(away)]))
            if deep:
                ends = {"from": deep} if kind == "sum" else {"to": deep}
                sets = [np.flatnonzero(part == k).tolist() for k in chosen.tolist()]
                groups.append({"serve": "sets", "of": kind, "sets": sets, **ends})
        for price in self.even(crossed):
            yield {**price, "groups": groups}

    def load(self, proof: Load) -> Iterator[Witness]:
        """Yield what all messages need of links or ports."""
        case, links = self.case, self.links
        across = np.ones(links.source.size, bool)
        groups = list(self.hops())
        if self.name.startswith("hops along"):
            for axis in axes_of(case.metric):
                if self.name == f"hops along {axis.name}":
                    across = axis.place(links.source) != axis.place(links.target)
        if self.name.startswith("port "):
            yield from self.port(self.name == "port receives")
            return
        for price in self.even(across):
            yield {**price, "groups": groups}

    def hops(self) -> Iterator[Witness]:
        """Yield what counts the least hops of each demand: to all ends of a copy, or along the way to the furthest."""
        if not any(demand.shared for demand in self.case.demands):
            yield {"serve": "distance"}
            return
        for kind, outward in (("copy", True), ("sum", False)):
            far = []
            for demand in self.case.demands:
                if isinstance(demand, PairDemand) and demand.shared and demand.outward == outward:
                    distance = self.case.metric.between(*demand.pairs)
                    furthest = np.maximum.reduceat(distance, demand.first[:-1]) > np.diff(demand.first)
                    far += demand.origin[furthest].tolist()
            near = np.setdiff1d(self.terminals, far).tolist()
            if far:
                yield {"serve": "distance", "of": kind, "from" if outward else "to": sorted(set(far))}
            if near:
                yield {
                    "serve": "sets",
                    "sets": [[v] for v in self.terminals.tolist()],
                    "of": kind,
                    "from" if outward else "to": near,
                }

    def ports(self, proof: PortPrices) -> Witness:
        """Return what is worth something to messages that must enter (or leave) sets of nodes."""
        sends = self.name == "prices of sending"
        group = {
            "serve": "sets", "of": "copy" if sends else "sum", "sets": [each.tolist() for each in proof.sets],
            "weights": proof.weight.tolist(),
        }  # fmt: skip
        price = _named({"send" if sends else "receive": proof.price})
        return {"kind": "load", "price": price, "groups": [group]}

    def separator(self, proof: Separator) -> Iterator[Witness]:
        """Yield what must pass nodes between parts, or the neighbors of others."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        links, n = self.links, self.case.network.node_count
        near, far = (links.source, links.target) if proof.send else (links.target, links.source)
        between, only = np.isin(np.arange(n), proof.nodes), {}
        price = {"send" if proof.send else "receive": between.astype(np.int64)}
        if proof.alone is not None:
            sets = [[v] for v in proof.alone.tolist()]
            across = np.isin(far, proof.alone)
        else:
            kept = ~between[links.source] & ~between[links.target]
            graph: Any = coo_array((kept[kept], (links.source[kept], links.target[kept])), shape=(n, n))
            part = connected_components(graph, directed=False)[1]
            sets = [np.flatnonzero(part == k).tolist() for k in np.unique(part[~between]).tolist()]
            across = between[near]
        only["only"] = np.flatnonzero(_by_number(links.number, across)).tolist()
        group = {"serve": "sets", "sets": sets}
        for groups in ([group], [{**group, "of": "copy" if proof.send else "sum"}], [{"serve": "distance"}]):
            for extra in (only, {}):
                yield {"kind": "load", "price": _named(price), **extra, "groups": groups}

    def port(self, receives: bool) -> Iterator[Witness]:
        """Yield what the shared port must pass that is the last, or first, of most nodes."""
        links, ports = self.links, self.links.ports
        if ports is None:
            return
        side, ends = (ports.receiving, links.target) if receives else (ports.sending, links.source)
        for port in range(ports.capacity.size):
            behind = np.setdiff1d(np.unique(ends[side == port]), np.unique(ends[side != port]))
            sets = [[int(v)] for v in behind[behind < links.terminal_count]]
            each = np.zeros((2, ports.capacity.size), np.int64)
            each[int(receives), port] = 1
            price = {"shared": self.shared(each)}
            if sets:
                yield {"kind": "load", "price": _named(price), "groups": [{"serve": "sets", "sets": sets}]}
                yield {"kind": "load", "price": _named(price), "groups": [{"serve": "distance"}]}


def _of_task(case: Case, name: str, proof: Proof, task: Task) -> Iterator[Witness]:
    """Yield the laws of the broadcast of what one member contributes, or of the reduction of what one gets."""
    inner = task
    row: tuple[int, ...] = tuple(range(case.network.terminal_count))
    while hasattr(inner, "task"):
        if isinstance(inner, Grouped):
            row = inner.groups[0]
        inner = inner.task
    root = row[inner.root]  # type: ignore[attr-defined]
    end, others = ("from", "to") if isinstance(inner, Broadcast) else ("to", "from")
    for law in _Laws(case.related(task=task), name).of(proof):
        groups = law.get("groups", [law])
        told = [{**group, end: [root], others: sorted({*row} & {*group.get(others, row)})} for group in groups]
        yield {**law, "groups": told} if "groups" in law else told[0]


def _by_number(number: Counts, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values of links in the order of the network."""
    found = np.zeros_like(values)
    found[number] = values
    return found


def _named(price: dict[str, Counts]) -> dict[str, Any]:
    """Return prices that are not all 0, one number where they are all alike."""
    kept = {name: each for name, each in price.items() if each.any()}
    return {k: int(each[0]) if bool((each == each[0]).all()) else each.tolist() for k, each in kept.items()}
