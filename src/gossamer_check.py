"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format and the proofs are on the page "Certificates" of the documentation of gossamer.

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import json
import math
import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

MOST = 10**15  # the largest whole number of a certificate, outside texts
MANY = 4 * 10**6  # with more uses of links or ports by later generations that overlap, nothing is looked at
ENDS = 2 * 10**7  # with more ranks for which "all" stands
BITS = 10**10  # with more bits of sets of contributions
FAR = 10**100  # the time of what never happens


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
        raise Refused(
            f"{what} must have the keys {needed.strip()}" + (f", and may have {optional}" if optional else "")
        )
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
    nodes = whole(given["nodes"], "nodes", 1, 10**6)
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
    if any(s.occupancy > net.occupancy[e] for s in shared for e in s.links):
        raise Refused("a packet is longer in a shared port than on a link through it")
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
    items, listed = [], objects(fields(value, "the task", "items")["items"], "items")
    listed = [fields(given, "an item", "kind from to packets") for given in listed]
    if net.ranks * sum((given["from"] == "all") + (given["to"] == "all") for given in listed) not in range(ENDS):
        raise Refused("so many ranks of items are too much to check")
    for given in listed:
        kind, ends = given["kind"], {}
        if kind not in ("copy", "sum"):
            raise Refused('the kind of an item must be "copy" or "sum"')
        for name in ("from", "to"):
            some = list(range(net.ranks)) if given[name] == "all" else given[name]
            ends[name] = wholes(some, f"{name} of an item", 0, net.ranks - 1)
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
        few = range(everybody * (len(items) == len(first) * (everybody - 1)))
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
        for a, b in short:  # the first generation of which this transfer does not end before it
            g = max(0, (a - end) // period + 1)
            if g < generations and t + g * period < b:
                raise Refused(f"slot {max(a, t + g * period)} is shorter than a transfer in it")
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
    shifts = range(1, copies)
    if len(shifts) * len(uses) not in range(MANY):
        raise Refused("so many generations at once are too much to check")
    later = ((come + g * plan.period, at, leave + g * plan.period) for g in shifts for come, at, leave in uses)
    users: dict[int, list[int]] = {}
    for come, resource, leave in sorted(itertools.chain(uses, later)):
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
        if any(len(plan.slot) * len(x.sources) not in range(BITS) for x in items if x.kind == "sum"):
            raise Refused("so many contributions are too much to check")
        self.place = [{v: i * (x.kind == "sum") for i, v in enumerate(x.sources)} for x in items]
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
            place = self.place[self.item[packet]].get(node)
            has = 0 if place is None else 1 << place
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
                    held.has, held.since, held.left = 0, None, None
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
#
# A witness chooses a law and gives numbers for it; all that a time follows from is counted here, so that any numbers
# give a true bound, good or bad. The laws and their proofs are on the page "Bounds that a program can check".


@dataclass
class Flow:
    """Packets, of each of which something must get from nodes to others.

    copy: what each of `starts` has must come to all `ends`; else what `starts` contribute must come to the one end.
    """

    copy: bool
    starts: list[int]
    ends: list[int]
    packets: int
    after: int = 0  # slots that pass before it can begin
    before: int = 0  # slots that pass after it has ended

    @property
    def root(self) -> list[int]:
        """The starts of a copy, the end of a sum."""
        return self.starts if self.copy else self.ends

    @property
    def leaves(self) -> list[int]:
        """The ends of a copy, the starts of a sum."""
        return self.ends if self.copy else self.starts

    def to(self, leaves: list[int]) -> Flow:
        """Return the flow with some of its leaves."""
        return replace(self, ends=leaves) if self.copy else replace(self, starts=leaves)


class Law:
    """What laws share: a network, items with slots that pass before and after them, whether packets are whole."""

    def __init__(self, net: Net, items: list[tuple[Item, int, int]], whole_packets: bool) -> None:
        self.net, self.items, self.whole = net, items, whole_packets
        self.out: dict[bool, list[list[int]]] = {back: [[] for _ in range(net.nodes)] for back in (False, True)}
        for e, (u, v) in enumerate(zip(net.source, net.target)):
            self.out[False][u].append(e)
            self.out[True][v].append(e)
        self.times = net.group.order if net.group else 1
        self.delays: dict[bool, int] = {}

    def delay(self, back: bool) -> int:
        """Return the least time of travel between two ranks."""
        if back not in self.delays:
            rows = [self.travel({v: 0}, back)[0][: self.net.ranks] for v in range(self.net.ranks)]
            self.delays[back] = min(time for v, row in enumerate(rows) for u, time in enumerate(row) if u != v)
        return self.delays[back]

    def travel(self, at: dict[int, int], back: bool = False, shut: Any = ()) -> tuple[list[int], list[int]]:
        """Return when what is at nodes `at` some times can be at each node, and can enter each link; FAR if never.

        With `back`, time runs backwards. Parts of packets hold no link for long. Links of `shut` are not passed.
        """
        net, far = self.net, self.net.source if back else self.net.target
        here, enter, seen = [FAR] * net.nodes, [FAR] * len(far), set()
        for v, time in at.items():
            here[v] = time
        heap = sorted((time, v, 0) for v, time in at.items())
        while heap:
            time, u, came = heapq.heappop(heap)  # a switch cuts through; the tail is so many slots behind
            if (u, came) in seen:
                continue
            seen.add((u, came))
            for e in self.out[back][u]:
                hold, v = net.occupancy[e] if self.whole else 0, far[e]
                begin = time + max(0, came - hold)
                if begin >= enter[e]:
                    continue
                enter[e], end = begin, begin + hold + net.latency[e]
                if e not in shut:
                    here[v] = min(here[v], end)
                    passes = net.rules.cut_through and v >= net.ranks
                    heapq.heappush(heap, (begin + net.latency[e], v, hold) if passes else (end, v, 0))
        return here, enter

    def priced(self, length: list[int]) -> Law:
        """Return the network with other lengths of links."""
        net = replace(self.net, latency=length, rules=replace(self.net.rules, cut_through=False))
        return Law(net, [], False)

    def windows(self, flows: list[Flow], shut: Any = (), inward: bool = True) -> tuple[list[int], list[int]]:
        """Return the slots that pass before a packet of flows can enter each link, and after it has left it.

        Where it enters sets of nodes by links of `shut`, or leaves them (not `inward`), it then, or until then, stays.
        """
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        orbit = self.net.group.orbit if self.net.group else range(self.net.nodes)
        for flow in flows:
            for nodes, time, found in ((flow.starts, flow.after, first), (flow.ends, flow.before, last)):
                for u in {orbit[u] for u in nodes}:
                    found[u] = min(time, found.get(u, FAR))
        first, last = ({v: found[low] for v, low in enumerate(orbit) if low in found} for found in (first, last))
        return self.travel(first, False, () if inward else shut)[1], self.travel(last, True, shut if inward else ())[1]

    def flows(self, given: dict[str, Any]) -> list[tuple[int, Flow]]:
        """Return the flows of items, with their numbers, from the nodes `from` to the nodes `to`, of one kind if told.

        Of a sum for several nodes, the first is looked at; a sum of a single contribution is copied.
        """
        side = [
            set(wholes(given.get(x, list(range(self.net.nodes))), x, 0, self.net.nodes - 1)) for x in ("from", "to")
        ]
        found = []
        for i, (item, after, before) in enumerate(self.items):
            starts, ends = [v for v in item.sources if v in side[0]], [v for v in item.targets if v in side[1]]
            if given.get("of", item.kind) != item.kind or (item.kind == "copy" and starts != item.sources):
                continue
            copy = item.kind == "copy" or (len(starts) == 1 and len(ends) > 1)
            ends = [v for v in ends if v not in starts] if copy else ends[:1]
            starts = starts if copy else [v for v in starts if v not in ends]
            if starts and ends:
                found.append((i, Flow(copy, starts, ends, item.packets, after, before)))
        return found


class Prices:
    """What a packet pays on each link, `length`, and what links and ports are worth; see `Law`."""

    def __init__(self, law: Law, witness: dict[str, Any]) -> None:
        net, links = law.net, range(len(law.net.source))
        given = fields(witness["price"], "the prices", "", "link send receive shared")
        only = set(wholes(witness["only"], "only", 0, len(links) - 1)) if "only" in witness else set(links)
        limits = {"send": net.rules.send, "receive": net.rules.receive}
        least = min((limit for limit in limits.values() if limit is not None), default=FAR)
        if net.group and ("only" in witness or "shared" in given):
            raise Refused("with a symmetry, all links have prices")
        self.law, self.rooms, self.length = law, [], [0] * len(links)
        for name, values in given.items():
            count = {"link": len(links), "shared": len(net.shared)}.get(name, net.nodes)
            price = wholes([values] * count if type(values) is int else values, f"prices of {name}", size=count)
            if net.group:
                orbit = net.group.link_orbit if name == "link" else net.group.orbit
                if any(price[i] != price[low] for i, low in enumerate(orbit)):
                    raise Refused("with a symmetry, links of an orbit have the same price")
            for i in range(count):
                port = net.shared[i] if name == "shared" else None
                used, places = [i], min(net.capacity[i], least) if name == "link" else limits.get(name)
                if port:
                    used, places = port.links, port.capacity
                elif name != "link":
                    used = law.out[name == "receive"][i]
                used = [e for e in used if e in only]
                if not price[i] or not used:
                    continue
                if places is None:
                    raise Refused(f"{name} has a price, but no limit")
                held = [port.occupancy if port else net.occupancy[e] for e in used]
                even = min(held) == max(held) or witness.get("fastest") is True  # all pay as over the fastest link
                for e, slots in zip(used, held):
                    self.length[e] += price[i] * (min(held) if even else slots)
                unit, late = min(held) if even else 1, name == "receive" or (port is not None and port.receiving)
                self.rooms.append((late, port, list(zip(used, held)), price[i] * places * unit, unit, even))

    def time(self, needed: int, windows: list[tuple[list[int], list[int]]]) -> Fraction:
        """Return the least time in which links and ports are worth what is needed by packets with some windows."""
        net, rooms = self.law.net, []
        heads, tails = ([min(times) for times in zip(*side)] for side in zip(*windows)) if windows else ([], [])
        for late, port, used, worth, unit, even in self.rooms if windows else ():
            times = []
            for e, held in used:
                late_by = net.latency[e]
                if port and self.law.whole:  # longer on the link than in the port
                    late_by += net.occupancy[e] - port.occupancy
                if heads[e] < FAR and tails[e] < FAR:
                    more = held - unit if even and self.law.whole else 0
                    times.append((heads[e] + late_by * late, tails[e] + late_by * (not late), more))
            if times:  # of slower packets the first slots count, or the last ones
                first_slots = min(a for a, _, _ in times) + min(b + more for _, b, more in times)
                last_slots = min(a + more for a, _, more in times) + min(b for _, b, _ in times)
                rooms.append((max(first_slots, last_slots), worth, unit))
        return least_time(needed * self.law.times, rooms, self.law.whole)


def least_time(needed: int, rooms: list[tuple[int, int, int]], of_packets: bool) -> Fraction:
    """Return the least T with sum(worth * floor((T - wait) / unit)) / unit >= needed; of parts without the floor.

    `rooms` has (wait, worth, unit); worth is what a slot is worth, those with wait above T count nothing.
    """
    if needed <= 0:
        return Fraction(0)
    if not rooms:
        raise Refused("nothing passes what the bound needs")
    if of_packets:

        def enough(slots: int) -> bool:
            return sum(worth * max(0, (slots - wait) // unit) for wait, worth, unit in rooms) >= needed

        return Fraction(first(enough))
    rate, late, time = Fraction(0), Fraction(0), Fraction(0)
    for wait, worth, unit in sorted(rooms):
        if rate and time <= wait:
            break
        rate, late = rate + Fraction(worth, unit), late + Fraction(worth * wait, unit)
        time = (needed + late) / rate
    return time


def first(enough: Any) -> int:
    """Return the least number from 0 on that is enough, where all larger ones are, too."""
    low, high = -1, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def by_load(law: Law, witness: dict[str, Any]) -> Fraction:
    """Links and ports with prices must be worth what groups of items pay for them."""
    prices, needed = Prices(law, witness), 0
    windows: list[tuple[list[int], list[int]]] = []
    taken: set[int] = set()
    for group in objects(witness["groups"], "groups"):
        group = fields(group, "a group", "serve", "of from to sets weights across")
        serve = SERVES.get(group["serve"]) if type(group["serve"]) is str else None
        if serve is None:
            raise Refused("a group is served in no known way")
        numbers, pays, times = serve(law, prices.length, group)
        if taken & set(numbers):
            raise Refused("an item counts twice")
        taken.update(numbers)
        needed, windows = needed + pays, windows + times
    return prices.time(needed, windows)


def by_distance(law: Law, length: list[int], group: dict[str, Any]) -> Any:
    """Count for each item the cheapest path to the end that has the dearest one."""
    known, paid, pays, flows = {}, [], 0, law.flows(group)
    search = law.priced(length)
    for _, flow in flows:
        key = (flow.copy, *flow.root)
        if key not in known:
            known[key] = search.travel(dict.fromkeys(flow.root, 0), not flow.copy)[0]
        dearest = max(flow.leaves, key=known[key].__getitem__)
        if known[key][dearest]:
            pays += known[key][dearest] * flow.packets
            paid.append(flow.to([dearest]))
    return [i for i, _ in flows], pays, [law.windows(paid)]


class Sets:
    """Sets of nodes: which are entered, or left, by each link, and by how much a hop over it counts at least."""

    def __init__(self, law: Law, length: list[int], group: dict[str, Any], inward: bool) -> None:
        net = law.net
        sets = [[v] for v in range(net.ranks)] if group.get("sets") == "ranks" else objects(group.get("sets"), "sets")
        if net.group and group.get("sets") != "ranks":
            raise Refused("with a symmetry, the sets are the ranks")
        self.of: list[set[int]] = [set() for _ in range(net.nodes)]
        for k, nodes in enumerate(sets):
            for v in wholes(nodes, "a set", 0, net.nodes - 1):
                self.of[v].add(k)
        self.net, self.apart = net, max(map(len, self.of)) < 2
        near, far = (net.source, net.target) if inward else (net.target, net.source)
        self.crossed = [self.of[v] - self.of[u] for u, v in zip(near, far)]
        if "weights" in group:
            self.weight = wholes(group["weights"], "weights", size=len(sets))
            if any(sum(self.weight[k] for k in new) > pays for new, pays in zip(self.crossed, length)):
                raise Refused("a set counts more than a packet pays that crosses its border")
        elif not self.apart:
            raise Refused("sets that overlap need weights")
        else:
            self.weight = [FAR] * len(sets)
            for new, pays in zip(self.crossed, length):
                for k in new:
                    self.weight[k] = min(self.weight[k], pays)
        self.shut = {e for e, new in enumerate(self.crossed) if new} if self.apart else set()

    def at(self, nodes: list[int]) -> set[int]:
        """Return the sets that hold any of some nodes."""
        return set().union(*(self.of[v] for v in nodes))

    def even(self, of: list[set[int]], copy: bool) -> int:
        """Return what each of the sets `of` nodes counts at least, if only switches that do not copy are in none.

        For sums, switches that do not add.
        """
        none = [v for v, sets in enumerate(of) if not sets]
        does = self.net.rules.switches_copy if copy else self.net.rules.switches_add
        if not self.apart or (none and (does or min(none) < self.net.ranks)):
            raise Refused("what enters and what leaves the sets cannot be told apart")
        return min((self.weight[k] for sets in of for k in sets), default=0)


def by_sets(law: Law, length: list[int], group: dict[str, Any]) -> Any:
    """Count for each item the sets that it must enter; of a sum, those that it must leave.

    With `across`, count the links by which it leaves the sets from which it enters others, or enters others; between
    the sets there are only switches, that do not copy, or do not add.
    """
    pays, windows, flows = 0, [], law.flows(group)
    across = truth(group.get("across", False), "across")
    for copy in {flow.copy for _, flow in flows}:
        some, paid = [flow for _, flow in flows if flow.copy == copy], []
        sets = Sets(law, length, group, copy != across)
        least = sets.even(sets.of, copy) if across else 0
        for flow in some:
            crossed = sets.at(flow.leaves) - sets.at(flow.root)
            if crossed:
                pays += (len(crossed) * least if across else sum(sets.weight[k] for k in crossed)) * flow.packets
                paid.append(flow.to([v for v in flow.leaves if sets.of[v] & crossed]))
        windows.append(law.windows(paid, () if across else sets.shut, copy))
    return [i for i, _ in flows], pays, windows


def members(law: Law) -> list[tuple[int, Flow]]:
    """Return the sums for all their ranks."""
    sums = [(i, item) for i, (item, _, _) in enumerate(law.items) if item.kind == "sum"]
    return [(i, Flow(True, x.sources, x.sources, x.packets)) for i, x in sums if x.sources == x.targets]


def by_trees(law: Law, length: list[int], group: dict[str, Any]) -> Any:
    """Count for each sum for all its ranks two minimum spanning trees: calls from rank to rank, or hops."""
    net, pays, flows = law.net, 0, members(law)
    for _, flow in flows:
        mine = set(flow.starts)
        helped = net.nodes > net.ranks and (net.rules.switches_copy or net.rules.switches_add)
        away, home = [0] * net.nodes, list(range(net.nodes))
        if len(mine) == net.ranks and not helped:  # calls from rank to rank pay their whole paths
            away = [0 if v in mine else FAR for v in range(net.nodes)]
            heap = [(0, v) for v in sorted(mine)]
            while heap:
                far, u = heapq.heappop(heap)
                for e in law.out[False][u] + law.out[True][u] if far == away[u] else ():
                    v = net.source[e] + net.target[e] - u
                    if far + length[e] < away[v]:
                        away[v], home[v] = far + length[e], home[u]
                        heapq.heappush(heap, (away[v], v))
        links = zip(length, net.source, net.target)
        tree = sorted((away[u] + pay + away[v], home[u], home[v]) for pay, u, v in links)
        held = [v in mine for v in range(net.nodes)]
        root = list(range(net.nodes))
        for pay, u, v in tree:
            while root[u] != u:
                root[u] = u = root[root[u]]
            while root[v] != v:
                root[v] = v = root[root[v]]
            if u != v:
                pays += 2 * pay * flow.packets * (held[u] and held[v])
                held[u], root[v] = held[u] or held[v], u
    return [i for i, _ in flows], pays, [law.windows([flow for _, flow in flows])]


def by_calls(law: Law, length: list[int], group: dict[str, Any]) -> Any:
    """Count for each sum for all its ranks two hops into (or, `across`, out of) all but one of sets with such ranks.

    Between the sets there are only switches, that do not add, or do not copy.
    """
    pays, flows, across = 0, members(law), truth(group.get("across", False), "across")
    sets = Sets(law, length, group, not across)
    for _, flow in flows:
        chosen = sets.at(flow.starts)
        each = sets.even([own & chosen for own in sets.of], across)
        pays += 2 * max(0, len(chosen) - 1) * each * flow.packets
    return [i for i, _ in flows], pays, [law.windows([flow for _, flow in flows])]


SERVES = {"distance": by_distance, "sets": by_sets, "trees": by_trees, "calls": by_calls}


def by_travel(law: Law, witness: dict[str, Any]) -> Fraction:
    """Something takes so long to its end, with what must come before and after."""
    time = 0
    for _, flow in law.flows(witness):
        here = law.travel(dict.fromkeys(flow.root, 0), not flow.copy)[0]
        time = max(time, flow.after + max(here[v] for v in flow.leaves) + flow.before)
    return Fraction(time)


def by_growth(law: Law, witness: dict[str, Any]) -> Fraction:
    """Nodes that send (or take in) one packet at a time are informed, so many by a time."""
    net, best, far = law.net, 0, whole(witness["far"], "far")
    every, takes = min(net.occupancy, default=1), [o + a for o, a in zip(net.occupancy, net.latency)]
    for _, flow in law.flows(witness):
        limit = net.rules.send if flow.copy else net.rules.receive
        if len(flow.root) > 1 or limit != 1 or not law.whole or (net.rules.cut_through and net.nodes > net.ranks):
            raise Refused("nodes do not pass on one packet after the other")
        here = law.travel({flow.root[0]: 0}, not flow.copy)[0]
        count = sum(here[v] >= far for v in flow.leaves)

        def informs(time: int, left: int = count) -> bool:
            hops = max(1, -(-far // max(takes)))
            while left > 0 and max(far, hops * min(takes)) <= time:
                spare = (time - max(far, hops * min(takes))) // every
                left, hops = left - math.comb(spare + hops, hops), hops + 1
            return left <= 0

        if count and max(here[v] for v in flow.leaves) < FAR:
            best = max(best, flow.after + first(informs) + flow.before)
    return Fraction(best)


def by_ranks(law: Law, witness: dict[str, Any]) -> Fraction:
    """Ranks alone copy (or add); each begins so many transfers to other ranks in a time, which take a time."""
    net, best = law.net, 0
    for _, flow in law.flows(witness):
        does = net.rules.switches_copy if flow.copy else net.rules.switches_add
        if len(flow.root) > 1 or not law.whole or (does and net.nodes > net.ranks):
            raise Refused("others than ranks copy or add")
        out = law.out[not flow.copy][: net.ranks]
        limit = net.rules.send if flow.copy else net.rules.receive
        at_once = limit or max(sum(net.capacity[e] for e in links) for links in out)
        every = min((net.occupancy[e] for links in out for e in links), default=1)
        delay = law.delay(not flow.copy)
        if delay > 10**6:
            raise Refused("ranks do not inform each other, or not soon")
        new, known = [1], 1
        while known <= len(flow.leaves):
            t = len(new)
            new.append((new[t - every] if t > every else 0) + (at_once * new[t - delay] if t >= delay else 0))
            known += new[t]
        best = max(best, flow.after + len(new) - 1 + flow.before)
    return Fraction(best)


def at_least(law: Law, item: Item) -> int:
    """Return slots in which an item does not come to all its ends."""
    law.items = [(item, 0, 0)]
    times = [by_travel(law, {})]
    for other, given in ((by_growth, {"far": 0}), (by_ranks, {})):
        with contextlib.suppress(Refused):
            times.append(other(law, given))
    return max(map(math.floor, times))


def by_time_cut(law: Law, witness: dict[str, Any]) -> Fraction:
    """More must cross from nodes, from slots `since` on, to the others than can in so many slots."""
    net, slots, back = law.net, whole(witness["slots"], "slots"), truth(witness["back"], "back")
    since = wholes(witness["since"], "since", size=net.nodes)
    if not law.whole or net.group:
        raise Refused("slots are counted of whole packets, without a symmetry")
    needed, room = 0, 0
    for item, _, _ in law.items:
        starts, ends = (item.targets, item.sources) if back else (item.sources, item.targets)
        near, far = [since[v] == 0 for v in starts], [since[v] > slots for v in ends]
        all_of, any_of = (far, near) if back else (near, far)  # sources of a copy may do for each other
        needed += item.packets * (any(near) and any(far) and (item.kind == "sum" or (all(all_of) and any(any_of))))
    limits = [limit for limit in (net.rules.send, net.rules.receive) if limit is not None]
    for e, (u, v) in enumerate(zip(net.source, net.target)):
        u, v, took = (v, u, net.latency[e]) if back else (u, v, net.latency[e])
        passes = net.rules.cut_through and v >= net.ranks
        last = min(since[v] - 1 - took - (0 if passes else net.occupancy[e]), slots - took - net.occupancy[e])
        room += min([net.capacity[e], *limits]) * -(-max(0, last - since[u] + 1) // net.occupancy[e])
    return Fraction(slots + 1 if needed > room else 0)


def by_quickest(law: Law, witness: dict[str, Any]) -> Fraction:
    """All packets from one node to another, where links are worth as many: latencies and prices on the way."""
    prices, flows = Prices(law, witness), [flow for _, flow in law.flows(witness)]
    pairs = {(*flow.starts, *flow.ends) for flow in flows}
    worth = sum(worth // unit for _, _, _, worth, unit, _ in prices.rooms)
    if law.whole or law.net.group or len(pairs) != 1 or len(*pairs) != 2 or not worth:
        raise Refused("the packets do not flow from one node to another")
    if any(port or not even for _, port, _, _, _, even in prices.rooms):
        raise Refused("a port with a price is shared, or packets pay for it by different links")
    packets, (start, end) = sum(flow.packets for flow in flows), *pairs
    lengths = [a * worth + packets * pays for a, pays in zip(law.net.latency, prices.length)]
    return Fraction(law.priced(lengths).travel({start: 0})[0][end], worth)


def by_late(law: Law, witness: dict[str, Any]) -> Fraction:
    """Parts that leave a set of nodes late serve few others, as only ranks copy: what one rank reaches in time."""
    net, back, rooms, needed = law.net, truth(witness["back"], "back"), [], 0
    inside = set(wholes(witness["set"], "the set", 0, net.nodes - 1))
    if law.whole or net.group or (net.rules.switches_add if back else net.rules.switches_copy):
        raise Refused("parts are served late where switches make no copies, or do not add")
    starts: dict[int, int] = {}
    targets: set[int] = set()
    for _, flow in law.flows({"of": "sum" if back else "copy"}):
        outside = [v for v in flow.leaves if v not in inside]
        if flow.copy != back and inside.issuperset(flow.root) and outside:
            needed += flow.packets * len(outside)
            targets.update(outside)
            starts.update(dict.fromkeys(flow.root, 0))
    enter = law.travel(starts, back)[1]
    near, far = (net.target, net.source) if back else (net.source, net.target)
    border = {e for e, (u, v) in enumerate(zip(near, far)) if u in inside or v in inside}
    ranks = [v for v in range(net.ranks) if v not in inside]
    reach = {f: sorted(law.travel({f: 0}, back, border)[0][v] for v in targets) for f in ranks}
    stop = border | {e for e, u in enumerate(near) if u < net.ranks}
    limits = [limit for limit in (net.rules.send, net.rules.receive) if limit is not None]
    for e, (u, v) in enumerate(zip(near, far)):
        if u in inside and v not in inside:
            first_rank = law.travel({v: 0}, back, stop)[0]
            for j in range(len(targets)):
                left = min((first_rank[f] + reach[f][j] for f in ranks), default=FAR)
                if enter[e] + left < FAR:
                    rooms.append((enter[e] + net.latency[e] + left, min([net.capacity[e], *limits]), net.occupancy[e]))
    return least_time(needed, rooms, False)


LAWS = {
    "late": (by_late, "set back", ""),
    "load": (by_load, "price groups", "only fastest"),
    "travel": (by_travel, "", "of from to"),
    "growth": (by_growth, "far", "of from to"),
    "ranks": (by_ranks, "", "of from to"),
    "time-cut": (by_time_cut, "slots back since", ""),
    "quickest": (by_quickest, "price from to", "fastest"),
}


def lower_bound(net: Net, items: list[Item], witness: object) -> tuple[Fraction, str]:
    """Return a number of slots below which nothing is done, counted from a witness, and for which schedules.

    Schedules by reduce-scatter + allgather (`blocks`): each rank of a sum for all its ranks is the root of as many
    packets as another; a packet is summed up there, and only then copied from there.
    """
    kind = witness.get("kind") if type(witness) is dict else None
    if type(kind) is not str or kind not in LAWS:
        raise Refused("the bound has no witness of a known kind")
    law, needed, optional = LAWS[kind]
    given = fields(witness, "the bound", f"kind whole blocks {needed}", optional)
    of_packets = truth(given["whole"], "whole")
    scope = "schedules of these packets" if of_packets else "all schedules, however messages are cut"
    alike: dict[tuple[str, tuple[int, ...], tuple[int, ...]], int] = {}
    for item in items:
        key = item.kind, tuple(sorted(item.sources)), tuple(sorted(item.targets))
        alike[key] = alike.get(key, 0) + item.packets
    found = [(Item(kind, list(a), list(b), packets), 0, 0) for (kind, a, b), packets in alike.items()]
    if truth(given["blocks"], "blocks"):
        scope = f"schedules {'of these packets ' * of_packets}by reduce-scatter + allgather"
        found = in_blocks(net, found, of_packets)
    time = law(Law(net, found, of_packets), given)
    return Fraction(math.ceil(time)) if of_packets else time, scope


def in_blocks(net: Net, items: list[tuple[Item, int, int]], of_packets: bool) -> list[tuple[Item, int, int]]:
    """Return the items with each sum for all its ranks in two parts, and the slots before and after them."""
    orbit, order = (net.group.orbit, net.group.order) if net.group else (range(net.nodes), 1)
    found, alone = [], Law(net, [], of_packets)
    for item, _, _ in items:
        if item.kind == "copy" or item.sources != item.targets:
            found.append((item, 0, 0))
            continue
        roots = {orbit[v] for v in item.sources}
        packets, left = divmod(item.packets * order, len(item.sources))
        if left or item.sources != [v for v in range(net.ranks) if orbit[v] in roots]:
            raise Refused("the ranks of a sum cannot be the roots of equally many packets")
        for root in sorted(roots):
            others = [v for v in item.sources if v != root]
            both = Item("sum", item.sources, [root], packets), Item("copy", [root], others, packets)
            collect, tell = (at_least(alone, part) for part in both)
            found += [(both[0], 0, tell), (both[1], collect, 0)]
    return found


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
    if took != (None if claim["time"] is None else ratio(claim["time"], "the time of the claim")):
        raise Refused("the time of the claim is not that of the schedule")
    if took is not None:
        lines.append(f"completion time  {told(took, time['unit'])}")
    least = None if claim["bound"] is None else ratio(claim["bound"], "the bound of the claim")
    if least is None or data["bound"] == {"kind": "search"}:
        lines.append(
            "lower bound      "
            + ("none" if least is None else f"{told(least, time['unit'])}, by search: not certified")
        )
        return lines
    slots, scope = lower_bound(net, items, data["bound"])
    proved = slots * slot
    if proved < least:
        exact = proved if proved.denominator in range(MOST) else float(proved)
        raise Refused(f"the witness proves a bound of {exact}, not of {least}")
    if took is not None and took < least:
        raise Refused("the schedule is faster than the bound")
    lines.append(f"lower bound      {told(least, time['unit'])}, for {scope}")
    if took is not None and least:
        best = "no faster one" if data["bound"]["blocks"] else "optimal"  # of its form it need not be
        above = f"1: {best} among {scope}" if took == least else f"{float(took / least):.4f}"
        lines.append(f"ratio            {above}")
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
