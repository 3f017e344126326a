"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format is the page "Certificates" of the documentation of gossamer, and the laws of the bounds,
with their proofs, are the page "Bounds that a program can check".

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

from __future__ import annotations

import heapq
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from pathlib import Path
from typing import Any, NamedTuple

FAR = 10**150  # the time of what never happens, later than any claim
MANY = 4 * 10**6  # more ends, or uses of a resource, that no row tells are too much to check

# -- the form of a file: a range, a pattern of texts, a type, [of each], {key: of its value}, (one, or another); a key
# -- that is left out is null

NODE, WHOLE, ABOVE, ROW = range(10**6), range(10**15 + 1), range(1, 10**15 + 1), range(-1, 10**15)
NUMBERS, ABOVES, LIMIT, LISTED = ([WHOLE], WHOLE), ([ABOVE], ABOVE), (ABOVE, None), ([WHOLE], None)
RATIO = "[0-9]{1,60}(/[1-9][0-9]{0,59})?"
PORT = {"links": [WHOLE], "capacity": ABOVE, "occupancy": ABOVE, "receiving": bool}
SOME = {"of": ("copy|sum", None), "from": LISTED, "to": LISTED}
SETS = {"serve": "sets", "sets": [[NODE]], "weights": NUMBERS, **SOME}
PRICE = dict.fromkeys(("link", "send", "receive", "shared"), (*NUMBERS, None))
CERTIFICATE = {
    "format": "gossamer-certificate", "version": range(1, 2), "about": object,
    "network": {"nodes": range(1, 10**6 + 1), "ranks": ABOVE, "source": [NODE], "target": [NODE], "capacity": ABOVES,
                "occupancy": ABOVES, "latency": NUMBERS, "shared": ([PORT], None)},
    "rules": {"send": LIMIT, "receive": LIMIT, "cut_through": bool, "switches_copy": bool, "switches_add": bool,
              "buffer": LIMIT, "buffer_counts": "transit|all"},
    "time": {"unit": "step|second", "slot": RATIO},
    "task": ({"items": [{"kind": "copy|sum", "from": [NODE], "to": [NODE], "packets": ABOVE}]},
             {"name": "broadcast|scatter|gather|reduce", "root": NODE, "packets": ABOVE},
             {"name": "allgather|alltoall|reduce-scatter|allreduce", "packets": ABOVE}),
    "schedule": (None, {"slot": [WHOLE], "link": [WHOLE], "packet": [WHOLE], "carries": [[ROW]],
                        "period": LIMIT, "generations": LIMIT}),
    "symmetry": (None, {"generators": [[NODE]], "commuting": [[NODE]]}),
    "claim": {"time": (RATIO, None), "bound": (RATIO, None)},
    "bound": (None, {"kind": "search"}, {"kind": "reach", "whole": bool, "blocks": bool, "far": (WHOLE, None), **SOME},
              {"kind": "load", "whole": bool, "blocks": bool, "price": PRICE, "only": LISTED,
               "groups": [({"serve": "distance", **SOME}, SETS, {"serve": "trees"})]},
              {"kind": "cut", "whole": bool, "blocks": bool, "price": PRICE, "since": (*NUMBERS, [RATIO]), **SOME},
              {"kind": "everywhere", "whole": bool, "blocks": bool, "degree": ABOVE, "two_way": bool}),
}  # fmt: skip


class Refused(Exception):
    """The certificate is malformed, or something that it says is not true."""


def need(true: object, why: str) -> None:
    """Refuse the certificate if something is not true."""
    if not true:
        raise Refused(why)


def fits(value: Any, form: Any) -> bool:
    """Return whether a value of a file has its form."""
    if isinstance(form, tuple):
        return any(fits(value, each) for each in form)
    if isinstance(form, list):
        return type(value) is list and all(fits(each, form[0]) for each in value)
    if isinstance(form, dict):
        return type(value) is dict and set(value) <= set(form) and all(fits(value.get(key), form[key]) for key in form)
    if isinstance(form, range):
        return type(value) is int and value in form
    if isinstance(form, str):
        return type(value) is str and re.fullmatch(form, value) is not None
    return form is object or form in (value, type(value))


def spread(value: Any, count: int, what: str) -> list[int]:
    """Return a list of so many numbers, which a file has, or one number for all."""
    values = value if type(value) is list else [value] * count
    need(len(values) == count, f"{what} must have {count} numbers, or be one for all")
    return values


# -- the network


class Net:
    """A directed network with its rules; lists have an entry for each link.

    Nodes 0..ranks-1 are ranks, the others switches. A packet that enters a link in slot t occupies a place of the link
    in slots t..t+occupancy-1 and is usable at its target from slot t + occupancy + latency on.

    A *resource* is what passes at most so many packets at once: a link, a port of a node, a port that links share, and
    the buffer of a node. With a symmetry it is all of an orbit together: a row of the file stands for `order` uses at
    once, which are as many at each of the orbit as at another.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        net, rules, ports = data["network"], data["rules"], data["network"].get("shared") or []
        self.nodes, self.ranks, self.source, self.target = (net[x] for x in ("nodes", "ranks", "source", "target"))
        self.links, self.rules, self.shared = range(len(self.source)), rules, len(ports)
        need(self.ranks <= self.nodes, "there are more ranks than nodes")
        fit = len(self.target) == len(self.source) and all(v < self.nodes for v in self.source + self.target)
        need(fit, "links have not as many targets as sources, or an end that is no node")
        numbers = [spread(net[x], len(self.links), x) for x in ("capacity", "occupancy", "latency")]
        self.capacity, self.occupancy, self.latency = numbers
        self.passes = [rules["cut_through"] and v >= self.ranks for v in range(self.nodes)]
        self.orbit, self.link_orbit, self.generators = list(range(self.nodes)), list(self.links), list[list[int]]()
        if data.get("symmetry"):
            need(not ports, "a network with shared ports has no symmetry here")
            self.fold(**data["symmetry"])
        self.order, self.room = self.orbit.count(0), Counter[tuple[str, int]]()  # packets at once, of each resource
        for kind, v in product(("send", "receive", "buffer"), self.orbit):
            self.room[kind, v] += rules.get(kind) or FAR
        self.uses: list[list[tuple[tuple[str, int], bool, int]]] = []  # held for the last slots, or first; how many
        for e, (u, v, room, held) in enumerate(zip(self.source, self.target, self.capacity, self.occupancy)):
            link, out, into = ("link", self.link_orbit[e]), ("send", self.orbit[u]), ("receive", self.orbit[v])
            self.room[link] += min(room, rules.get("send") or FAR, rules.get("receive") or FAR)
            self.uses.append([(one, one == into, held) for one in (link, out, into) if self.room[one] < FAR])
        for i, port in enumerate(ports):
            self.room["shared", i] = port["capacity"]
            for e in set(port["links"]):
                need(e in self.links, "a shared port has a link that is none")
                need(port["occupancy"] <= self.occupancy[e], "a packet is longer in a shared port than on its link")
                self.uses[e].append((("shared", i), port["receiving"], port["occupancy"]))

    def fold(self, generators: list[list[int]], commuting: list[list[int]]) -> None:
        """Find the orbits of the group of generators, or refuse them.

        Only the identity leaves node 0 where it is: if s of the group leaves x where it is, and a map c commutes with
        all generators, then s(c(x)) = c(s(x)) = c(x), so s leaves c(x) where it is, too. From node 0, and from what no
        generator moves, such maps lead to all nodes. So the group has a member for each node of the orbit of node 0.
        """
        nodes, images, self.generators = range(self.nodes), [], generators
        kinds = list(zip(self.capacity, self.occupancy, self.latency, self.links))
        ordered = sorted((u, v, *kind) for u, v, kind in zip(self.source, self.target, kinds))
        for p in generators:
            need(sorted(p) == list(nodes), "a generator is no permutation")
            moved = sorted((p[u], p[v], *kind) for u, v, *kind in ordered)  # of links that are alike, in their order
            alike = [link[:-1] for link in moved] == [link[:-1] for link in ordered]
            need(alike and max(p[: self.ranks]) < self.ranks, "a generator is no automorphism")
            images.append([e for _, e in sorted((a[-1], b[-1]) for a, b in zip(moved, ordered))])
        for c in commuting:
            need(len(c) == self.nodes > max(c), "what commutes is no map of the nodes")
            need(all(c[p[v]] == p[c[v]] for p in generators for v in nodes), "something does not commute")
        found, new = set[int](), {0, *(v for v in nodes if all(p[v] == v for p in generators))}
        while new:
            found |= new
            new = {c[v] for c in commuting for v in new} - found
        need(len(found) == self.nodes, "the commuting maps do not take node 0 to every node")
        self.orbit, self.link_orbit = orbits(self.nodes, generators), orbits(len(self.links), images)
        need(self.orbit.count(0) * len({*self.orbit[: self.ranks]}) == self.ranks, "ranks have unequally many images")


def top(joined: list[int], place: int) -> int:
    """Return the place that stands for all that are joined to a place, and shorten the way to it."""
    while joined[place] != place:
        joined[place] = place = joined[joined[place]]
    return place


def orbits(size: int, permutations: list[list[int]]) -> list[int]:
    """Return for each of `size` places the lowest one that products of permutations take it to."""
    joined = list(range(size))
    for p in permutations:
        for place in range(size):
            low, high = sorted((top(joined, place), top(joined, p[place])))
            joined[high] = low
    return [top(joined, place) for place in range(size)]


# -- the task


class Item(NamedTuple):
    """What must be communicated; with a symmetry, the item and all its images.

    A copy: `packets` packets, which each of `root` has, must come to all `leaves`. A sum (`back`): each of `leaves` has
    `packets` packets, of which the sums, packet by packet, must come to all of `root`. A schedule has `after` slots
    less for it at its beginning, and `before` at its end.
    """

    back: bool
    root: list[int]
    leaves: list[int]
    packets: int
    after: int = 0
    before: int = 0
    number: int | None = None


def read_task(task: dict[str, Any], net: Net) -> tuple[str, list[Item]]:
    """Return what must be communicated, in words and as items; of a named collective one item of each orbit."""
    if "items" in task:
        for ends in (x[side] for x in task["items"] for side in ("from", "to")):
            need(0 < len(set(ends)) == len(ends) and max(ends) < net.ranks, "an item must name ranks, none twice")
        found = [(x["kind"] == "sum", x["from"], x["to"], x["packets"]) for x in task["items"]]
        items = [Item(True, to, from_, k) if back else Item(False, from_, to, k) for back, from_, to, k in found]
        return f"a table of {len(items) * net.order} demands", items
    name, packets, ranks = task["name"], task["packets"], list(range(net.ranks))
    words = f"{name} among {net.ranks} ranks, messages of {packets} packet" + "s" * (packets > 1)
    if name == "allreduce":
        need(packets % net.order == 0, "packets of an allreduce do not come in orbits")
        return words, [Item(True, ranks, ranks, packets // net.order)]
    roots = [v for v in ranks if net.orbit[v] == v]
    if "root" in task:
        need(task["root"] < net.ranks and net.order == 1, "the root is no rank, or has images")
        roots, words = [task["root"]], f"{words}, root {task['root']}"
    if name not in ("scatter", "gather", "alltoall"):
        return words, [Item(name in ("reduce", "reduce-scatter"), [root], ranks, packets) for root in roots]
    need(len(roots) * net.ranks < MANY, "so many ends are too much to check")
    pairs = [([root], [v]) for root in roots for v in ranks if v != root]
    return words, [Item(False, *(pair[::-1] if name == "gather" else pair), packets) for pair in pairs]


# -- the schedule


class Replay:
    """Transfers carried out one by one, then what nodes have in the end compared with the items.

    A row carries a set of contributions, as bits: the union of what earlier rows brought to its node and, for -1, of
    what the node itself contributes, none of it twice. A copied packet is a sum of one contribution, which each of its
    sources has. Links from number `len(net.links)` on lead from each node to itself in no time: over them go results,
    which the node has in the end.
    """

    def __init__(self, net: Net, items: list[Item], plan: dict[str, Any], slots: int) -> None:
        columns = [plan[name] for name in ("slot", "link", "packet", "carries")]
        self.net, self.slots, self.everything = net, slots, net.rules["buffer_counts"] == "all"
        self.period, self.generations = plan.get("period") or 1, plan.get("generations") or 1
        need(len(set(map(len, columns))) == 1, "columns of the schedule are not equally long")
        need(not any(x.packets % self.generations for x in items), "packets of an item make no such generations")
        need(sum(x.packets for x in items) <= len(plan["slot"]) * self.generations, "there are fewer rows than packets")
        packets: list[tuple[dict[int, int], int, list[int]]] = []  # what nodes have of each, all of it, who must get it
        for x in items:
            own = {v: 1 << i * x.back for i, v in enumerate(x.leaves if x.back else x.root)}
            whole = sum(set(own.values()))
            packets += [(own, whole, x.root if x.back else x.leaves)] * (x.packets // self.generations)
        ways = [*zip(net.source, net.target, net.occupancy, net.latency, net.uses)]
        ways += [(v, v, 0, 0, []) for v in range(net.nodes)]
        self.until: list[int] = []  # for each row, when what it carries has left its node; FAR for a result
        self.brought: list[tuple[int, int, int, int, int]] = []  # packet, node, what; from when on its head, and all
        self.users: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)  # rows that carry what there was
        self.spans: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)  # uses of resources
        complete = set()
        for row, (t, e, p, carried) in enumerate(zip(*columns)):
            need(e < len(ways) and p < len(packets), f"row {row} of the schedule has no link, or no packet")
            u, v, occupancy, latency, uses = ways[e]
            end = t + occupancy + latency
            need(end + (self.generations - 1) * self.period <= slots, f"row {row} ends after the last slot")
            own, whole, _ = packets[p]
            has = self.gathered(row, p, u, carried, own.get(u, 0), t, t + occupancy)
            self.brought.append((p, v, has, t + latency if net.passes[v] else end, end))
            self.until.append(t if uses else FAR)
            if has == whole and not (uses and self.everything):
                complete.add((p, v))
            for resource, late, held in uses:
                begin = end - held if late else t
                self.spans[resource].append((begin, begin + held))
        for p, (own, whole, targets) in enumerate(packets):
            for v in targets:
                need((p, v) in complete or own.get(v) == whole, f"packet {p} is not complete at node {v} at the end")
        if net.rules.get("buffer"):
            self.wait()
        for resource, spans in self.spans.items():
            self.fit(resource, spans)

    def gathered(self, row: int, p: int, u: int, carried: list[int], own: int, begin: int, gone: int) -> int:
        """Return the contributions that a row takes at node u from slot `begin` on; all must be there by `gone`."""
        rules, has = self.net.rules, 0
        need(u < self.net.ranks or rules["switches_add"] or len(carried) == 1, f"row {row} adds at a switch")
        for k in carried:
            new = own
            if k >= 0:
                fits = k < row and self.brought[k][:2] == (p, u) and self.until[k] < FAR
                need(fits, f"row {row} cannot carry on row {k}")
                _, _, new, usable, there = self.brought[k]
                need(usable <= begin and there <= gone, f"what row {row} carries is not there yet in slot {begin}")
            need(not has & new, f"row {row} carries a contribution twice")
            users = self.users[k, p, u]
            need(u < self.net.ranks or rules["switches_copy"] or not users, f"row {row} copies at a switch")
            users.append(row)
            has |= new
        need(has, f"row {row} carries nothing")
        return has

    def wait(self) -> None:
        """Note the slots in which packets are in buffers. What is always used together waits together."""
        begins: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for (k, p, v), rows in self.users.items():
            known = tuple(row for row in rows if self.everything or self.until[row] < FAR)
            if known and (k >= 0 or self.everything):
                begin = self.brought[k][4] if k >= 0 else -self.generations * self.period
                begins[v, p, known] = min(begin, begins.get((v, p, known), FAR))
        for (v, _, known), begin in begins.items():
            end = min(max(self.until[row] for row in known), self.slots)
            if begin <= end:
                self.spans["buffer", self.net.orbit[v]].append((begin, end + 1))

    def fit(self, resource: tuple[str, int], spans: list[tuple[int, int]]) -> None:
        """Refuse if there are ever more users of a resource than it has room for; spans are when each comes and leaves.

        Whatever is used at some time is used as well, a number of periods earlier, by as many of the first generations
        as fit into the time of one; later ones find no more in use.
        """
        length = max(leave for _, leave in spans) - min(come for come, _ in spans)
        copies = min(self.generations, -(-length // self.period))
        need(copies * len(spans) < MANY, "so many generations at once are too much to check")
        changes = [(come, 1) for come, _ in spans] + [(leave, -1) for _, leave in spans]
        ordered = sorted((time + self.period * g, change) for g in range(copies) for time, change in changes)
        most, room = self.net.order * max(accumulate(change for _, change in ordered)), self.net.room[resource]
        need(most <= room, f"{resource[0]} {resource[1]} is used by {most} at once, of at most {room}")


# -- the lower bound
#
# A witness chooses a law and gives numbers for it; all that a time follows from is counted here, so that any numbers
# give a true bound, good or bad.


class Bound:
    """How far a law is from saying that nothing is done in less than `goal` slots.

    Of whole packets, the law must leave no way to do it in the `time` of a slot less; of parts as small as one likes,
    which hold no link for long, none in any time below `goal`. Each law returns what there is more than is needed.
    """

    def __init__(self, net: Net, items: list[Item], whole: bool, blocks: bool) -> None:
        self.net, self.whole = net, whole
        self.hold = net.occupancy if whole else [0] * len(net.links)
        self.near: list[list[list[tuple[int, int]]]] = [[[] for _ in range(net.nodes)] for _ in range(3)]
        for e, (u, v) in enumerate(zip(net.source, net.target)):  # forwards, backwards, and either way
            for way, here, there in ((0, u, v), (1, v, u), (2, u, v), (2, v, u)):
                self.near[way][here].append((e, there))
        ends = (net.target, net.source)  # where switches that cut through pass on the head of a packet
        self.takes = [[a + o * (not net.passes[v]) for a, o, v in zip(net.latency, self.hold, to)] for to in ends]
        found = [part for x in items for part in (self.halves(x) if blocks and x.back and x.root == x.leaves else [x])]
        self.items = [x._replace(number=i) for i, x in enumerate(found)]

    def slack(self, law: dict[str, Any], goal: Fraction) -> Fraction:
        """Return what there is more than a law needs of all schedules of less than `goal` slots."""
        self.time = Fraction(math.ceil(goal) - 1) if self.whole else goal
        return {"load": self.load, "cut": self.cut, "reach": self.reach}[law["kind"]](law)

    def halves(self, item: Item) -> Iterator[Item]:
        """Yield a sum for all its ranks as two items of each of them: a sum for this root, and later copies from it."""
        net, members = self.net, item.leaves
        packets, left = divmod(item.packets * net.order, len(members))
        alike = net.order == 1 or len(members) == net.ranks
        need(alike and not left, "the ranks of a sum cannot be the roots of equally many packets")
        for root in sorted({net.orbit[v] for v in members}):
            others = [v for v in members if v != root]
            tell, collect = (max(self.travel({root: 0}, way)[v] for v in members) for way in (0, 1))
            yield Item(True, [root], others, packets, 0, tell)
            yield Item(False, [root], others, packets, collect, 0)

    def flows(self, given: dict[str, Any]) -> Iterator[Item]:
        """Yield some of each item: from the nodes `from` to the nodes `to`, of one kind if told.

        Of a sum for several nodes, the first is looked at; a sum of a single contribution is copied.
        """
        nodes = range(self.net.nodes)
        sources, targets = (set(nodes if given.get(side) is None else given[side]) for side in ("from", "to"))
        for x in self.items:
            near, far = (targets, sources) if x.back else (sources, targets)
            root, leaves = [v for v in x.root if v in near], [v for v in x.leaves if v in far]
            back = x.back and (len(leaves) > 1 or len(root) == 1)
            if x.back and not back:
                root, leaves = leaves, root
            root = root[:1] if back else root
            leaves = [v for v in leaves if v not in root]
            asked = given.get("of") in (None, "sum" if x.back else "copy") and (x.back or root == x.root)
            if asked and root and leaves:
                yield x._replace(back=back, root=root, leaves=leaves)

    # times: how long something takes to its ends

    def travel(
        self, start: dict[int, int], way: int, length: list[int] | None = None, both: Any = int.__add__
    ) -> list[int]:
        """Return when what starts at some times can be at each node, or how far it is by other lengths; FAR if never.

        At switches that cut through, when its head can be there. Lengths add up, or the largest one of a path counts.
        """
        length, here = length or self.takes[way], [FAR] * self.net.nodes
        heap = sorted((far, v) for v, far in start.items())
        while heap:
            far, u = heapq.heappop(heap)
            if far < here[u]:
                here[u] = far
                for e, v in self.near[way][u]:
                    heapq.heappush(heap, (both(far, length[e]), v))
        return here

    def reach(self, law: dict[str, Any]) -> Fraction:
        """Return how much earlier than in time each item can come to all its ends."""
        return min((self.early(flow, law.get("far")) for flow in self.flows(law)), default=self.time)

    def early(self, flow: Item, far: int | None) -> Fraction:
        """Return how much earlier a flow can be done, or, if less, how many more nodes at least `far` away it reaches.

        Where nodes copy (or, backwards, add), all tell others; else ranks alone, each by a transfer for each other one.
        Each begins at most `places` transfers in `every` slots, each of which takes `least` slots or more to the next.
        """
        net, back = self.net, flow.back
        copying, sending = ("switches_add", "receive") if back else ("switches_copy", "send")
        here, time = self.travel(dict.fromkeys(flow.root, 0), back), self.time - flow.after - flow.before
        slack, helped = time - max(here[v] for v in flow.leaves), net.rules[copying] or net.ranks == net.nodes
        if slack < 0 or far is None or not self.whole or len(flow.root) > 1 or (helped and any(net.passes)):
            return slack
        tell = range(net.nodes if helped else net.ranks)
        least = min(self.takes[back]) if helped else self.apart(back)
        every = min(net.occupancy[e] for u in tell for e, _ in self.near[back][u])
        places = net.rules.get(sending) or max(sum(net.capacity[e] for e, _ in self.near[back][u]) for u in tell)
        link = max(self.takes[back]) if helped else FAR
        wanted, told, hops = sum(here[v] >= far for v in flow.leaves), 0, max(1, -(-far // link))
        while told < wanted and max(far, hops * least) <= time:
            later = min(wanted, int(time - max(far, hops * least)) // every)  # more is enough as well
            told += places**hops * math.comb(later + hops, hops)
            hops += 1
        return min(slack, Fraction(told - wanted))

    def apart(self, way: int) -> int:
        """Return how long something takes at least from a rank to another one: their numbers differ in some bit."""
        ranks, found = range(self.net.ranks), list[int]()
        for bit, side in product(range(self.net.ranks.bit_length()), (0, 1)):
            here = self.travel({v: 0 for v in ranks if v >> bit & 1 == side}, way)
            found += [here[v] for v in ranks if v >> bit & 1 != side]
        return min(found)

    # prices: what a packet pays on each link, and what resources are worth

    def windows(self, flows: list[Item]) -> list[list[int]]:
        """Return the slots before something of flows, or of images of them, is at each node, and after it leaves."""
        found, orbit = [], self.net.orbit
        for back in (False, True):
            first: dict[int, int] = {}
            for flow in flows:
                for v in flow.root if flow.back == back else flow.leaves:
                    first[orbit[v]] = min(flow.before if back else flow.after, first.get(orbit[v], FAR))
            found.append(self.travel({v: first[low] for v, low in enumerate(orbit) if low in first}, back))
        return found

    def prices(self, law: dict[str, Any]) -> None:
        """Read what resources cost a slot, and note what a packet pays for them on each link."""
        net, only = self.net, set(self.net.links if law.get("only") is None else law["only"])
        sizes = {"link": len(net.links), "send": net.nodes, "receive": net.nodes, "shared": net.shared}
        self.price = {kind: spread(law["price"].get(kind) or 0, size, kind) for kind, size in sizes.items()}
        self.pays = [0] * len(net.links)
        self.paid: defaultdict[tuple[str, int], list[tuple[int, bool, int, int]]] = defaultdict(list)
        for e, ((kind, place), late, held) in ((e, use) for e, uses in enumerate(net.uses) for use in uses):
            if net.link_orbit[e] in only and self.price[kind][place]:
                self.pays[e] += self.price[kind][place] * held
                over = net.latency[e] + max(0, self.hold[e] - held)  # of the transfer, not in the resource
                self.paid[kind, place].append((e, late, held, over))

    def worth(self, heads: Sequence[Fraction | int], tails: Sequence[Fraction | int]) -> Fraction:
        """Return what resources are worth within the time, of which some slots pass before and after nodes."""
        worth, net = Fraction(0), self.net
        for (kind, place), links in self.paid.items():
            begin = min(heads[net.source[e]] + over * late for e, late, _, over in links)
            end = max(self.time - tails[net.target[e]] - over * (not late) for e, late, _, over in links)
            helds = {held for _, _, held, _ in links}
            slots, unit = max(0, end - begin), helds.pop() if len(helds) == 1 else 1
            slots = slots // unit * unit if self.whole else slots
            worth += self.price[kind][place] * net.room[kind, place] * slots
        return worth

    def load(self, law: dict[str, Any]) -> Fraction:
        """Return what resources are worth more than what groups of items pay for them."""
        self.prices(law)
        serve = {"distance": self.by_distance, "sets": self.by_sets, "trees": self.by_trees}
        counted = [each for group in law["groups"] for each in serve[group["serve"]](group)]
        need(len({flow.number for flow, _ in counted}) == len(counted), "an item counts twice")
        needed = self.net.order * sum(flow.packets * pays for flow, pays in counted)
        need(needed, "nothing is paid")
        return self.worth(*self.windows([flow for flow, pays in counted if pays])) - needed

    def by_distance(self, group: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each item the price of the cheapest path to the end that has the dearest one."""
        here = cache(lambda back, *roots: self.travel(dict.fromkeys(roots, 0), back, self.pays))
        for flow in self.flows(group):
            far = here(flow.back, *flow.root)
            dearest = max(flow.leaves, key=far.__getitem__)
            yield flow._replace(leaves=[dearest]), far[dearest]

    def by_sets(self, group: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each item the weights of the sets of nodes that it must enter; of a sum, that it must leave."""
        net, flows, sets = self.net, list(self.flows(group)), group["sets"]
        weights = spread(group["weights"], len(sets), "weights")
        of: defaultdict[int, set[int]] = defaultdict(set)  # the sets that a node is in
        for k, nodes in enumerate(sets):
            for v in nodes:
                of[v].add(k)
        need(all(v < net.nodes for v in of), "a set has a node that is none")
        family = sorted((sorted(nodes), weight) for nodes, weight in zip(sets, weights))
        images = (sorted((sorted(p[v] for v in nodes), weight) for nodes, weight in family) for p in net.generators)
        need(all(image == family for image in images), "the symmetry does not take sets to sets of the same weight")
        for back in {flow.back for flow in flows}:
            for u, v, pay in zip(net.source, net.target, self.pays):
                entered = of[u] - of[v] if back else of[v] - of[u]
                need(sum(weights[k] for k in entered) <= pay, "sets count more than a packet pays to enter them")
        for flow in flows:
            crossed = set().union(*(of[v] for v in flow.leaves)).difference(*(of[v] for v in flow.root))
            yield flow._replace(leaves=[v for v in flow.leaves if of[v] & crossed]), sum(weights[k] for k in crossed)

    def by_trees(self, _: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each sum for all its ranks two minimum spanning trees: of hops, or of calls between ranks.

        If switches neither copy nor add, a call pays its whole path. If they copy alone, it enters a rank by a hop of
        its own, with what one rank has sent; if they add alone, it leaves one so.
        """
        net, copies, adds = self.net, self.net.rules["switches_copy"], self.net.rules["switches_add"]
        both, ways = (max, (0, 1)) if copies or adds else (int.__add__, (2, 2))
        for x in self.items:
            if x.back and x.root == x.leaves:
                before = after = [0] * net.nodes  # what counts up to a link, and from there on
                if len(x.leaves) == net.ranks:
                    start = dict.fromkeys(x.leaves, 0)
                    before = before if copies else self.travel(start, ways[0], self.pays, both)
                    after = after if adds else self.travel(start, ways[1], self.pays, both)
                cost, joined, members = 0, list(range(net.nodes)), set(x.leaves)  # a part with members is named by one
                links = zip(self.pays, net.source, net.target)
                for pay, *ends in sorted((both(both(before[u], pay), after[v]), u, v) for pay, u, v in links):
                    u, v = sorted((top(joined, end) for end in ends), key=members.__contains__)
                    cost += 2 * pay * (u in members and u != v)
                    joined[u] = v
                yield x, cost

    def cut(self, law: dict[str, Any]) -> Fraction:
        """Return what resources are worth more than what must come from near nodes; each node is near since a time."""
        net, end = self.net, self.time + self.whole  # what is done within the time is done before this
        since = [Fraction(slot) for slot in spread(law["since"], net.nodes, "since")]
        need(net.order == 1, "a cut is of items without a symmetry")
        need(not (self.whole and any(net.passes)), "a cut is of packets that no switch cuts through")
        self.prices(law)
        links, needed = zip(net.source, net.target, *self.takes, self.pays), 0
        least = min((pay for u, v, takes, _, pay in links if since[u] + takes < min(end, since[v])), default=FAR)
        for flow in self.flows(law):
            near, far, of = (flow.leaves, flow.root, min) if flow.back else (flow.root, flow.leaves, max)
            begin, last = (of(since[v] for v in nodes) for nodes in (near, far))
            needed += least * flow.packets * (begin <= flow.after and last >= end - flow.before)
        return self.worth(since, [max(Fraction(0), end - slot) for slot in since]) - needed if needed else end


def everywhere(net: Net, task: dict[str, Any], law: dict[str, Any], goal: Fraction) -> Fraction:
    """Return what there is more than a collective needs in less than `goal` slots, on all networks of such nodes.

    At most `degree` links lead from each node, and to it; if they are two-way, as many from one to another as back. So
    at most `degree` nodes are at distance 1 of a node, and at most `onward` times as many at each distance more.
    """
    n, degree, two_way, whole, name = net.nodes, law["degree"], law["two_way"], law["whole"], task.get("name", "")
    slots, onward = Fraction(math.ceil(goal) - 1) if whole else goal, degree - two_way
    out, into, there, back = Counter[Any](), Counter[Any](), Counter[Any](), Counter[Any]()
    for u, v, places in zip(net.source, net.target, net.capacity):
        for count, key in ((out, u), (into, v), (there, (u, v)), (back, (v, u))):
            count[key] += places
    need(name and n == net.ranks > 1, "what holds on all networks is of a collective by its name, among ranks alone")
    need(all(places <= degree for places in (*out.values(), *into.values())), "a node has more links than it may")
    need(there == back or not two_way, "links are not two-way")
    away, left, room = list[int](), n - 1, degree  # nodes that are more than 0, 1, 2, ... links away, at least
    while left > 0:
        need(room, "no network of so few links is connected")
        away.append(left)
        left, room = left - room, room * onward
    send, receive = (min(degree, net.rules.get(way) or degree) for way in ("send", "receive"))

    def told(rate: int) -> int:  # slots until all know, each by another one who does, over a link that told no other
        fresh, known = [1], 1
        while known < n:
            links = ((degree if i + 1 == len(fresh) else onward) - i * rate for i in range(min(len(fresh), degree)))
            fresh.append(sum(fresh[-1 - i] * min(rate, max(0, more)) for i, more in enumerate(links)))
            known += fresh[-1]
        return len(fresh) - 1

    links = n * degree // (1 + two_way) * (1 + two_way)
    every = min(links, n * send, n * receive)  # hops of a slot, in the whole network
    needed, possible = {
        "broadcast": (n - 1, every), "reduce": (n - 1, every), "scatter": (n - 1, send), "gather": (n - 1, receive),
        "allgather": (n * (n - 1), every), "reduce-scatter": (n * (n - 1), every), "alltoall": (n * sum(away), every),
        "allreduce": (2 * (n - 1), every),
    }[name]  # fmt: skip
    slack: Fraction = possible * slots - task["packets"] * needed
    if whole and name in ("broadcast", "reduce", "allreduce"):
        first, then = told(receive) * (name != "broadcast"), told(send) * (name != "reduce")
        slack = min(slack, slots - (first + then if law["blocks"] else max(first, then)))
    return slack


def prove(net: Net, task: dict[str, Any], items: list[Item], law: dict[str, Any], goal: Fraction) -> str:
    """Return for which schedules a witness proves that they take `goal` slots; refuse it if it does not.

    Schedules by reduce-scatter + allgather (`blocks`): each rank of a sum for all its ranks is the root of as many
    packets as another; a packet is summed up there, and only then copied from there.
    """
    whole, blocks = law["whole"], law["blocks"]
    general = law["kind"] == "everywhere"
    slack = everywhere(net, task, law, goal) if general else Bound(net, items, whole, blocks).slack(law, goal)
    need(slack < 0 or (slack == 0 and not whole), "the witness does not prove the bound")
    if blocks:
        return f"schedules {'of these packets ' * whole}by reduce-scatter + allgather"
    return "schedules of these packets" if whole else "all schedules, however messages are cut"


# -- the whole certificate


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or refuse it if a key stands there twice."""
    need(len(dict(pairs)) == len(pairs), "a key stands twice in an object")
    return dict(pairs)


def check(content: bytes) -> list[str]:
    """Return what a certificate proves, in lines for people; raise `Refused` if it does not."""
    try:
        data = json.loads(content.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Refused("it is no JSON in UTF-8") from error
    wrong = [key for key, form in CERTIFICATE.items() if type(data) is dict and not fits(data.get(key), form)]
    need(fits(data, CERTIFICATE), f"the certificate has not the form of one: {' '.join(wrong)}")
    net, plan, claim, law = Net(data), data.get("schedule"), data["claim"], data.get("bound")
    task, items = read_task(data["task"], net)
    unit, slot = data["time"]["unit"], Fraction(data["time"]["slot"])
    took, least = (Fraction(claim.get(name) or "0") for name in ("time", "bound"))
    need(slot, "a slot takes time")
    told = [plan is None, law is None] == [claim.get(name) is None for name in ("time", "bound")]
    need(told, "a schedule has a time, a bound has a witness, and nothing else")
    lines = ["accepted", f"task             {task}"]
    lines.append(f"network          {net.nodes} nodes, {net.ranks} of them ranks, {len(net.links)} links")
    if plan is not None:
        need((took / slot).denominator == 1, "the time of the claim is no number of slots")
        Replay(net, items, plan, int(took / slot))
        rows = sum(e in net.links for e in plan["link"])
        lines.append(f"transfers        {rows * (plan.get('generations') or 1) * net.order}, of {rows} in the file")
        lines.append(f"completion time  {time_of(took, unit)}")
    if law is None or law["kind"] == "search":
        return [*lines, f"lower bound      {f'{time_of(least, unit)}, by search: not certified' if law else 'none'}"]
    if law["kind"] == "cut" and "name" in data["task"]:  # it needs all items, not one of each orbit
        net = Net(data | {"symmetry": None})
        items = read_task(data["task"], net)[1]
    scope = prove(net, data["task"], items, law, least / slot)
    if law["kind"] == "everywhere":
        size = f"{net.nodes} nodes and at most degree {law['degree']}{', links two-way' * law['two_way']}"
        scope += f", on all networks of {size}, {time_of(slot, unit)} or more a packet and link"
    lines.append(f"lower bound      {time_of(least, unit)}, for {scope}")
    if plan is not None and least:
        need(took >= least, "the schedule is faster than the bound")
        best = f"{'no faster one' if law['blocks'] else 'optimal'} among {scope}"  # of its form it need not be
        lines.append(f"ratio            {f'1: {best}' if took == least else f'{float(took / least):.4f}'}")
    return lines


def time_of(time: Fraction, unit: str) -> str:
    """Return a time for people, exact and as a decimal number."""
    return f"{time} {unit}" + "s" * (time != 1) + ("" if time.denominator == 1 else f" (about {float(time):.6g})")


def main(file: str) -> int:
    """Check the certificate in a file and return the exit status."""
    try:
        print("\n".join(check(Path(file).read_bytes())))
    except (OSError, Refused) as reason:
        print(f"refused: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: python gossamer_check.py FILE.cert.json")
