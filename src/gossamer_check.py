"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format and the proofs are on the page "Certificates" of the documentation of gossamer.

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

from __future__ import annotations

import heapq
import itertools
import json
import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

MOST = 10**15  # the largest whole number of a certificate, outside texts
MANY = 10**8  # the most uses of links or ports that are looked at at once


class Refused(Exception):
    """The certificate is malformed, or something that it says is not true."""


@dataclass
class Shared:
    """A port that several links share: at most `capacity` packets at once, each for `occupancy` slots."""

    links: list[int]
    capacity: int
    occupancy: int
    receiving: bool  # a packet is in the port in the last slots of its transfer, else in the first ones


@dataclass
class Rules:
    """What nodes may do; None is no limit."""

    send: int | None  # packets that a node, rank or switch, sends at once
    receive: int | None
    cut_through: bool  # switches pass a packet on once its head is there
    switches_copy: bool  # switches may send several copies of what came once
    switches_add: bool  # switches may add partial sums
    buffer: int | None  # packets in a node between two slots
    buffer_counts: str  # "transit": packets on their way through a node; "all": its own and delivered ones, too


@dataclass
class Group:
    """Automorphisms of the network; none but the identity leaves a node where it is."""

    order: int
    orbit: list[int]  # of each node: the lowest node of its orbit
    link_orbit: list[int]  # of each link: the lowest link of its orbit


@dataclass
class Net:
    """A directed network: nodes 0..ranks-1 are ranks, the others switches; lists have an entry for each link.

    A packet that enters a link in slot t occupies a place of the link in slots t..t+occupancy-1 and is usable at its
    target from slot t + occupancy + latency on.
    """

    nodes: int
    ranks: int
    source: list[int]
    target: list[int]
    capacity: list[int]
    occupancy: list[int]
    latency: list[int]
    shared: list[Shared]
    rules: Rules
    group: Group | None = None


@dataclass
class Item:
    """What must be communicated; with a group, the item and all its images.

    copy: `packets` packets, which each of `sources` has, must come to all `targets`. sum: each of `sources` has
    `packets` packets, of which the sums, packet by packet, must come to all `targets`.
    """

    kind: str  # "copy" or "sum"
    sources: list[int]
    targets: list[int]
    packets: int


@dataclass
class Schedule:
    """Transfers, a row each, by slot, in the order in which they happen; `carries` is described at `replay`."""

    slot: list[int]
    link: list[int]
    packet: list[int]
    carries: list[int]
    slots: int  # of all
    period: int  # slots from a generation of packets to the next one
    generations: int


# -- the values of a file


def whole(value: object, what: str, low: int = 0, high: int = MOST) -> int:
    """Return a whole number of a file, or refuse it."""
    if type(value) is not int or not low <= value <= high:
        raise Refused(f"{what} must be a whole number in {low}..{high}")
    return value


def wholes(value: object, what: str, low: int = 0, high: int = MOST, size: int | None = None) -> list[int]:
    """Return a list of whole numbers of a file, `size` of them if that is given, or refuse it."""
    if type(value) is not list or (size is not None and len(value) != size):
        raise Refused(f"{what} must be a list" + ("" if size is None else f" of {size} numbers"))
    for number in value:
        whole(number, f"each number of {what}", low, high)
    return value


def ratio(value: object, what: str) -> Fraction:
    """Return a fraction of a file that is 0 or more, a text such as "35/2" or "17", or refuse it."""
    if type(value) is not str or not re.fullmatch(r"[0-9]{1,60}(/[1-9][0-9]{0,59})?", value):
        raise Refused(f'{what} must be a text such as "17" or "35/2"')
    return Fraction(value)


def fields(value: object, what: str, needed: str, optional: str = "") -> dict[str, Any]:
    """Return an object of a file that has all `needed` keys and no others but the `optional` ones, or refuse it."""
    if type(value) is not dict or not set(needed.split()) <= set(value) <= set((needed + " " + optional).split()):
        raise Refused(f"{what} must have the keys {needed}" + (f", and may have {optional}" if optional else ""))
    return value


def truth(value: object, what: str) -> bool:
    """Return true or false of a file, or refuse it."""
    if type(value) is not bool:
        raise Refused(f"{what} must be true or false")
    return value


def objects(value: object, what: str) -> list[Any]:
    """Return a list of a file, or refuse it."""
    if type(value) is not list:
        raise Refused(f"{what} must be a list")
    return value


# -- the network


def read_network(value: object, rules: object) -> Net:
    """Return the network of a certificate."""
    given = fields(value, "the network", "nodes ranks source target capacity occupancy latency", "shared")
    nodes = whole(given["nodes"], "nodes", 1, 10**7)
    ranks = whole(given["ranks"], "ranks", 1, nodes)
    source = wholes(given["source"], "source", 0, nodes - 1)
    target = wholes(given["target"], "target", 0, nodes - 1, len(source))
    if any(map(int.__eq__, source, target)):
        raise Refused("a link must lead from a node to another one")

    def of_links(name: str, low: int) -> list[int]:
        values = given[name]
        one = [values] * len(source) if type(values) is int else values
        return wholes(one, name, low, size=len(source))

    shared = []
    for port in objects(given.get("shared", []), "shared"):
        port = fields(port, "a shared port", "links capacity occupancy receiving")
        links = wholes(port["links"], "links of a shared port", 0, len(source) - 1)
        if len(set(links)) < len(links):
            raise Refused("a shared port has a link twice")
        places = whole(port["capacity"], "capacity of a shared port", 1)
        held = whole(port["occupancy"], "occupancy of a shared port", 1)
        shared.append(Shared(links, places, held, truth(port["receiving"], "receiving")))
    net = Net(
        nodes, ranks, source, target, of_links("capacity", 1), of_links("occupancy", 1), of_links("latency", 0),
        shared, read_rules(rules),
    )  # fmt: skip
    if any(s.receiving and s.occupancy > net.occupancy[e] + net.latency[e] for s in shared for e in s.links):
        raise Refused("a packet is in a receiving port before it is sent")
    return net


def read_rules(value: object) -> Rules:
    """Return the rules of a certificate."""
    names = "send receive cut_through switches_copy switches_add buffer buffer_counts"
    given = fields(value, "the rules", names)
    limits = [None if given[name] is None else whole(given[name], name, 1) for name in ("send", "receive", "buffer")]
    if given["buffer_counts"] not in ("transit", "all"):
        raise Refused('buffer_counts must be "transit" or "all"')
    cut, copy, add = (truth(given[name], name) for name in ("cut_through", "switches_copy", "switches_add"))
    return Rules(limits[0], limits[1], cut, copy, add, limits[2], given["buffer_counts"])


def joined(size: int, permutations: list[Any]) -> list[int]:
    """Return for each of `size` places the lowest one that products of permutations take it to."""
    lowest: dict[int, int] = {}
    for first in range(size):
        found = [first]
        while found:
            place = found.pop()
            if place not in lowest:
                lowest[place] = first
                found += [p[place] for p in permutations]
    return [lowest[place] for place in range(size)]


def read_group(value: object, net: Net) -> Group:
    """Return the group that the generators of a certificate generate, or refuse them.

    That none but the identity leaves a node where it is follows from permutations that commute with all generators
    and together take node 0 to every node: if s of the group leaves x where it is and c commutes with s, then
    s(c(x)) = c(s(x)) = c(x), so s leaves every node where it is.
    """
    given = fields(value, "the symmetry", "generators commuting")
    if net.shared:
        raise Refused("a network with shared ports has no symmetry here")
    lists = {}
    for name in ("generators", "commuting"):
        lists[name] = [wholes(p, f"one of the {name}", 0, net.nodes - 1, net.nodes) for p in objects(given[name], name)]
        if any(len(set(p)) < net.nodes for p in lists[name]):
            raise Refused(f"one of the {name} is no permutation")
    generators, commuting = lists["generators"], lists["commuting"]
    between: dict[tuple[int, int], list[int]] = {}
    for link, ends in enumerate(zip(net.source, net.target)):
        between.setdefault(ends, []).append(link)
    of_links = []
    for p in generators:
        if max(p[: net.ranks]) >= net.ranks:
            raise Refused("a generator takes a rank to a switch")
        image: dict[int, int] = {}
        for (u, v), links in between.items():
            others = between.get((p[u], p[v]), [])
            if len(others) != len(links):
                raise Refused("a generator is no automorphism: it does not take links to links")
            image.update(zip(links, others))
        for values in (net.capacity, net.occupancy, net.latency):
            if any(values[a] != values[b] for a, b in image.items()):
                raise Refused("a generator is no automorphism: it takes a link to a different one")
        of_links.append(image)
        if any(c[p[v]] != p[c[v]] for c in commuting for v in range(net.nodes)):
            raise Refused("one of the commuting permutations does not commute with a generator")
    if any(joined(net.nodes, commuting)):
        raise Refused("the commuting permutations do not take node 0 to every node")
    orbit = joined(net.nodes, generators)
    return Group(net.nodes // len(set(orbit)), orbit, joined(len(net.source), of_links))


# -- the task


def read_items(value: object, net: Net) -> list[Item]:
    """Return the items of a certificate; "all" stands for all ranks, or for all but the source of a copy."""
    items = []
    for given in objects(fields(value, "the task", "items")["items"], "items"):
        given = fields(given, "an item", "kind from to packets")
        kind, ends = given["kind"], {}
        if kind not in ("copy", "sum"):
            raise Refused('the kind of an item must be "copy" or "sum"')
        for name in ("from", "to"):
            listed = list(range(net.ranks)) if given[name] == "all" else given[name]
            ends[name] = wholes(listed, f"{name} of an item", 0, net.ranks - 1)
            if kind == "copy" and name == "to" and given["to"] == "all":
                ends["to"] = sorted(set(ends["to"]) - set(ends["from"]))
            if not ends[name] or len(set(ends[name])) < len(ends[name]):
                raise Refused(f"{name} of an item must name at least one rank, and none twice")
        if kind == "copy" and set(ends["from"]) & set(ends["to"]):
            raise Refused("an item is copied to a rank that has it")
        if ends["from"] == ends["to"] and len(ends["to"]) == 1:
            raise Refused("a sum of one rank alone")
        items.append(Item(kind, ends["from"], ends["to"], whole(given["packets"], "packets of an item", 1)))
    return items


def task_name(net: Net, items: list[Item]) -> str:
    """Return what the items are in the words of the field, if they are one of the usual collectives."""
    order = net.group.order if net.group else 1
    first = sorted(set(net.group.orbit[: net.ranks])) if net.group else list(range(net.ranks))
    shapes = {(item.kind, item.packets) for item in items}
    total = sum(item.packets for item in items) * order
    if len(shapes) == 1:
        (kind, packets), everybody = shapes.pop(), net.ranks
        size = f", messages of {packets} packet" + "s" * (packets > 1)
        widths = {(len(item.sources), len(item.targets)) for item in items}
        roots = sorted(min(item.targets if kind == "sum" else item.sources) for item in items)
        pairs = sorted((min(item.sources), min(item.targets)) for item in items)
        if kind == "copy" and widths == {(1, everybody - 1)} and everybody > 2:
            if roots == first:
                return f"allgather among {everybody} ranks{size}"
            if len(items) == order == 1:
                return f"broadcast from rank {min(roots)} to {everybody} ranks{size}"
        few = range(everybody if len(items) == len(first) * (everybody - 1) else 0)
        if kind == "copy" and widths == {(1, 1)} and pairs == [(u, v) for u in first for v in few if u != v]:
            return f"alltoall among {everybody} ranks{size}"
        if kind == "copy" and widths == {(1, 1)} and order == 1 and len(items) == everybody - 1:
            for word, role in (("scatter from", 0), ("gather to", 1)):
                root, ends = {pair[role] for pair in pairs}, {pair[1 - role] for pair in pairs}
                if len(root) == 1 and len(ends) == everybody - 1:
                    return f"{word} rank {min(root)} among {everybody} ranks{size}"
        if kind == "sum" and widths == {(everybody, 1)}:
            if roots == first:
                return f"reduce-scatter among {everybody} ranks{size}"
            if len(items) == order == 1:
                return f"reduce to rank {min(roots)} among {everybody} ranks{size}"
        if kind == "sum" and widths == {(everybody, everybody)}:
            return f"allreduce among {everybody} ranks, messages of {total} packet" + "s" * (total > 1)
    return f"a table of {len(items) * order} demands, {total} packets"


# -- the schedule


def read_schedule(value: object, length: Fraction, net: Net, items: list[Item]) -> tuple[Schedule, Fraction]:
    """Return the schedule of a certificate and its completion time; a transfer needs slots of at least a length."""
    given = fields(value, "the schedule", "phases slot link packet", "carries repetition")
    slot = wholes(given["slot"], "slot of the schedule")
    rows = len(slot)
    again = fields(given.get("repetition", {"period": MOST, "generations": 1}), "the repetition", "period generations")
    period = whole(again["period"], "period", 1)
    generations = whole(again["generations"], "generations", 1)
    if any(item.packets % generations for item in items):
        raise Refused("the packets of an item are not made of so many generations")
    packets = sum(item.packets for item in items) // generations
    if packets > rows:
        raise Refused(f"{packets} packets cannot be delivered by {rows} transfers")
    link = wholes(given["link"], "link of the schedule", 0, len(net.source) - 1, rows)
    packet = wholes(given["packet"], "packet of the schedule", 0, packets - 1, rows)
    carries = wholes(given.get("carries", [-1] * rows), "carries of the schedule", -2 - MOST, MOST, rows)
    for row, c in enumerate(carries):
        if c >= row:
            raise Refused(f"row {row} of the schedule cannot carry on row {c}")
    if any(a > b for a, b in itertools.pairwise(slot)):
        raise Refused("slots of the schedule must ascend")
    first, took, short = 0, Fraction(0), []
    for phase in objects(given["phases"], "phases"):
        phase = fields(phase, "a phase", "slots length")
        slots, each = whole(phase["slots"], "slots of a phase"), ratio(phase["length"], "length of a phase")
        if each < length:
            short.append((first, first + slots))
        first, took = first + slots, took + slots * each
    for t, e in zip(slot, link):
        end = t + net.occupancy[e] + net.latency[e]
        if end + (generations - 1) * period > first:
            raise Refused(f"a transfer begins in slot {t} and ends after the last slot")
        if any(t < b and a < end for a, b in short):
            raise Refused(f"slot {t} is shorter than a transfer in it")
    return Schedule(slot, link, packet, carries, first, period, generations), took


def never_more(uses: list[tuple[int, int, int]], places: Any, plan: Schedule, what: str) -> None:
    """Refuse if there are ever more users of a resource than it has places.

    `uses` has for each user when it comes, the number of the resource, and when it leaves. With generations, whatever
    is used at some time is used as well, a number of periods earlier, by as many of the first ones as fit into the
    time of one generation; later ones find no more in use.
    """
    if not uses:
        return
    span = max(leave for _, _, leave in uses) - min(come for come, _, _ in uses)
    copies = min(plan.generations, -(-span // plan.period))
    if copies * len(uses) > MANY:
        raise Refused("so many generations at once are too much to check")
    later = [g * plan.period for g in range(copies)]
    users: dict[int, list[int]] = {}
    for come, resource, leave in sorted((come + by, at, leave + by) for by in later for come, at, leave in uses):
        there = users.setdefault(resource, [])
        while there and there[0] <= come:
            heapq.heappop(there)
        if len(there) == places[resource]:
            raise Refused(f"{what.format(resource)} is used by more than {places[resource]} at once in slot {come}")
        heapq.heappush(there, leave)


def check_resources(net: Net, plan: Schedule) -> None:
    """Refuse a schedule that uses a link or a port by more packets than it passes.

    With a group, each link is used by one image of each transfer over a link of its orbit, and each node likewise, as
    no image of a link or node under another member of the group is itself.
    """
    rows = list(zip(plan.slot, plan.link))
    occupancy, latency, rules = net.occupancy, net.latency, net.rules
    of_link = net.group.link_orbit if net.group else range(len(net.source))
    of_node = net.group.orbit if net.group else range(net.nodes)
    never_more([(t, of_link[e], t + occupancy[e]) for t, e in rows], net.capacity, plan, "link {}")
    if rules.send is not None:
        uses = [(t, of_node[net.source[e]], t + occupancy[e]) for t, e in rows]
        never_more(uses, [rules.send] * net.nodes, plan, "the send port of node {}")
    if rules.receive is not None:
        uses = [(t + latency[e], of_node[net.target[e]], t + latency[e] + occupancy[e]) for t, e in rows]
        never_more(uses, [rules.receive] * net.nodes, plan, "the receive port of node {}")
    for port in net.shared:
        links, uses = set(port.links), []
        for t, e in rows:
            if e in links:
                come = t + occupancy[e] + latency[e] - port.occupancy if port.receiving else t
                uses.append((come, 0, come + port.occupancy))
        never_more(uses, {0: port.capacity}, plan, "a shared port")


@dataclass(slots=True)
class Held:
    """What a node has of a packet: a set of contributions, as bits; of a copied packet one bit."""

    has: int
    tail: int  # from when on all of it is there
    since: int | None  # from when on it counts as in the buffer, if it does
    left: int | None = None  # when it left last


class Replay:
    """Transfers carried out one by one.

    Of each packet a node holds one sum: the set of the ranks whose contributions are in it. A copied packet is a sum of
    one contribution, which every source has. A transfer copies the sum as it is when it begins (`carries` -1), or as it
    was in an earlier slot s (-2 - s), or what row k brought to its node or took from it (k). When the set A comes to a
    node with B, it holds the union if A and B are disjoint, A if A contains B, and B if B contains A; any other A would
    count a contribution twice. A sum is usable at a rank when all of it is there, at a switch that cuts through as soon
    as its head is there if its tail is then not overtaken.
    """

    def __init__(self, net: Net, items: list[Item], plan: Schedule) -> None:
        self.net, self.items, self.plan = net, items, plan
        self.item = [i for i, item in enumerate(items) for _ in range(item.packets // plan.generations)]
        self.share = [{v: 1 << i * (x.kind == "sum") for i, v in enumerate(x.sources)} for x in items]
        self.full = [(1 << len(x.sources)) - 1 if x.kind == "sum" else 1 for x in items]
        self.held: dict[int, Held] = {}
        older = {p * net.nodes + net.source[e] for p, e, c in zip(plan.packet, plan.link, plan.carries) if c < -1}
        self.was: dict[int, list[tuple[int, int, int]]] = {key: [] for key in older}  # (time, has, tail), by time
        self.coming: dict[int, list[tuple[int, int, int]]] = {}  # (usable, tail, set)
        self.stays: list[tuple[int, int, int]] = []
        self.run()

    def settle(self, packet: int, node: int, until: int) -> Held:
        """Return what a node has of a packet once everything that is usable by slot `until` is added to it."""
        key = packet * self.net.nodes + node
        held = self.held.get(key)
        if held is None:
            has = self.share[self.item[packet]].get(node, 0)
            own = 0 if has and self.net.rules.buffer_counts == "all" else None
            held = self.held[key] = Held(has, -MOST, own)
            if key in self.was:
                self.was[key].append((-MOST, has, -MOST))
        due: list[tuple[int, int, int]] = []
        later: list[tuple[int, int, int]] = []
        for arrival in self.coming.pop(key, ()):
            (due if arrival[0] <= until else later).append(arrival)
        if later:
            self.coming[key] = later
        for usable, together in itertools.groupby(sorted(due), lambda arrival: arrival[0]):
            self.add(held, node, [(has, tail) for _, tail, has in together])
            if key in self.was:
                self.was[key].append((usable, held.has, held.tail))
        return held

    def add(self, held: Held, node: int, arrivals: list[tuple[int, int]]) -> None:
        """Add to what a node has what comes at one time; of that, sets inside others are ignored."""
        new: list[tuple[int, int]] = []
        for has, tail in sorted(arrivals, key=lambda arrival: -arrival[0].bit_count()):
            if not any(has | other == other for other, _ in new):
                new.append((has, tail))
        union, tail = self.union(new), max(tail for _, tail in new)
        if union | held.has == union:  # it takes the place of what was there
            self.stay(held, node)
            tail = min(tail, held.tail) if union == held.has else tail
            held.has, held.tail, held.since, held.left = union, tail, tail, None
            return
        new = [(has, tail) for has, tail in new if has | held.has != held.has]
        if new:
            union, tail = self.union(new), max(tail for _, tail in new)
            if union & held.has:
                raise Refused(f"a contribution would count twice at node {node}")
            held.has, held.tail = union | held.has, max(tail, held.tail)
            held.since = tail if held.since is None else min(tail, held.since)

    def union(self, sets: list[tuple[int, int]]) -> int:
        """Return the union of sets that must be disjoint."""
        union = 0
        for has, _ in sets:
            if union & has:
                raise Refused("a contribution would count twice")
            union |= has
        return union

    def stay(self, held: Held, node: int) -> None:
        """Note from which slot to which something was in the buffer of a node."""
        if held.since is not None and held.left is not None and held.since <= held.left:
            self.stays.append((held.since, node, held.left + 1))

    def run(self) -> None:
        """Carry out all transfers, then compare with the items what nodes have."""
        net, plan, rules = self.net, self.plan, self.net.rules
        carried: list[tuple[int, int]] = []  # by row: a set, and from when on all of it is at the source
        usable: list[int] = []
        ends = [t + net.occupancy[e] + net.latency[e] for t, e in zip(plan.slot, plan.link)]
        sources, targets = ([side[e] for e in plan.link] for side in (net.source, net.target))
        passing = {c for row, c in enumerate(plan.carries) if c >= 0 and targets[c] == sources[row]}
        passed: dict[int, int] = {}
        for row, (t, e, packet, c) in enumerate(zip(plan.slot, plan.link, plan.packet, plan.carries)):
            u, v, ready = sources[row], targets[row], True
            once = u >= net.ranks and not rules.switches_copy
            if c >= 0:
                here = plan.packet[c] == packet and targets[c] == u and not (once and c in passed)
                again = plan.packet[c] == packet and sources[c] == u and not (once or rules.buffer)
                if not here and not again:
                    raise Refused(f"row {row} of the schedule cannot carry on row {c}")
                has, there = carried[c]
                if here:
                    there, ready, passed[c] = ends[c], usable[c] <= t, t
            else:
                if u >= net.ranks and self.items[self.item[packet]].kind == "sum" and not rules.switches_add:
                    raise Refused(f"row {row} of the schedule leaves a switch that cannot add, and carries on no row")
                when = t if c == -1 else -2 - c
                if when > t or (c < -1 and (once or rules.buffer)):
                    raise Refused(f"row {row} of the schedule cannot carry what was there in slot {when}")
                held = self.settle(packet, u, when)
                has, there, held.left = held.has, held.tail, t
                if c < -1:
                    was = self.was[packet * net.nodes + u]
                    _, has, there = was[bisect_right(was, when, key=lambda entry: entry[0]) - 1]
                if once:
                    self.stay(held, u)
                    self.held[packet * net.nodes + u] = Held(0, -MOST, None)
            if not has or not ready or there > t + net.occupancy[e]:
                raise Refused(f"in slot {t} node {u} sends packet {packet}, which is not there yet")
            carried.append((has, there))
            usable.append(t + net.latency[e] if rules.cut_through and v >= net.ranks else ends[row])
            if row not in passing:
                self.coming.setdefault(packet * net.nodes + v, []).append((usable[row], ends[row], has))
        for key in list(self.coming):
            packet, node = divmod(key, net.nodes)
            if node < net.ranks or rules.switches_add:
                self.settle(packet, node, plan.slots)
        for packet, i in enumerate(self.item):
            for node in self.items[i].targets:
                if self.settle(packet, node, plan.slots).has != self.full[i]:
                    raise Refused(f"packet {packet} is not complete at node {node} at the end")
        if rules.buffer is not None:
            self.check_buffers(rules.buffer, [(ends[c], targets[c], t + 1) for c, t in passed.items() if ends[c] <= t])

    def check_buffers(self, limit: int, passed: list[tuple[int, int, int]]) -> None:
        """Refuse the schedule if a node ever holds more packets between two slots than it has room for."""
        everything = self.net.rules.buffer_counts == "all"
        if everything and self.plan.generations > 1:
            raise Refused("buffers of delivered packets are not checked for generations")
        for key, held in self.held.items():
            packet, node = divmod(key, self.net.nodes)
            if everything and node in self.items[self.item[packet]].targets:
                held.left = self.plan.slots
            self.stay(held, node)
        orbit = self.net.group.orbit if self.net.group else range(self.net.nodes)
        uses = [(come, orbit[node], leave) for come, node, leave in self.stays + passed]
        never_more(uses, [limit] * self.net.nodes, self.plan, "the buffer of node {}")


# -- the lower bound


def lower_bound(net: Net, items: list[Item], witness: object) -> tuple[Fraction, str]:
    """Return a number of slots below which nothing is done, counted from a witness, and for which schedules."""
    raise Refused("the bound has no witness of a known kind")


# -- the whole certificate


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or refuse it if a key stands there twice."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise Refused("a key stands twice in an object")
    return dict(pairs)


def no_number(text: str) -> None:
    """Refuse a number of JSON that is not whole."""
    raise Refused(f"{text[:40]} is no whole number")


def check(content: bytes) -> list[str]:
    """Return what a certificate proves, in lines for people; raise `Refused` if it does not."""
    try:
        data = json.loads(content.decode(), object_pairs_hook=once, parse_float=no_number, parse_constant=no_number)
    except (ValueError, RecursionError) as error:
        raise Refused("it is no JSON in UTF-8") from error
    data = fields(
        data, "a certificate", "format version network rules time task claim bound", "about schedule symmetry"
    )
    if data["format"] != "gossamer-certificate" or whole(data["version"], "version") != 1:
        raise Refused("it is no gossamer-certificate of version 1")
    net = read_network(data["network"], data["rules"])
    if "symmetry" in data:
        net.group = read_group(data["symmetry"], net)
    items = read_items(data["task"], net)
    time = fields(data["time"], "the time", "unit slot")
    if time["unit"] not in ("step", "second"):
        raise Refused('the unit must be "step" or "second"')
    slot = ratio(time["slot"], "slot")
    if not slot:
        raise Refused("a slot takes time")
    claim = fields(data["claim"], "the claim", "time bound")
    shape = f"{net.nodes} nodes, {net.ranks} of them ranks, {len(net.source)} links"
    lines = ["accepted", f"task             {task_name(net, items)}", f"network          {shape}"]
    took = None
    if "schedule" in data:
        plan, took = read_schedule(data["schedule"], slot, net, items)
        check_resources(net, plan)
        Replay(net, items, plan)
        times = plan.generations * (net.group.order if net.group else 1)
        lines.append(f"transfers        {len(plan.slot) * times}, of {len(plan.slot)} in the file")
        lines.append(f"completion time  {told(took, time['unit'])}")
    if took != (None if claim["time"] is None else ratio(claim["time"], "the time of the claim")):
        raise Refused("the time of the claim is not that of the schedule")
    least = None if claim["bound"] is None else ratio(claim["bound"], "the bound of the claim")
    if least is None or data["bound"] == {"kind": "search"}:
        lines.append(
            "lower bound      "
            + ("none" if least is None else f"{told(least, time['unit'])}, by search: not certified")
        )
        return lines
    slots, scope = lower_bound(net, items, data["bound"])
    if slots * slot < least:
        raise Refused(f"the witness proves a bound of {slots * slot}, not of {least}")
    if took is not None and took < least:
        raise Refused("the schedule is faster than the bound")
    lines.append(f"lower bound      {told(least, time['unit'])}, for {scope}")
    if took is not None and least:
        ratio_text = "1: the schedule is optimal" if took == least else f"{float(took / least):.4f}"
        lines.append(f"ratio            {ratio_text}")
    return lines


def told(time: Fraction, unit: str) -> str:
    """Return a time for people, exact and as a decimal number."""
    near = "" if time.denominator == 1 else f" (about {float(time):.6g})"
    return f"{time} {unit}" + ("" if time == 1 else "s") + near


def main(arguments: list[str]) -> int:
    """Check the certificate in a file and return the exit status."""
    if len(arguments) != 1:
        print("usage: python gossamer_check.py FILE.cert.json", file=sys.stderr)
        return 2
    try:
        lines = check(Path(arguments[0]).read_bytes())
    except OSError as error:
        print(f"refused: the file cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    except Refused as reason:
        print(f"refused: {reason}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
