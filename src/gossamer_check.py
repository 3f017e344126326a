"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format is the page "Certificates" of the documentation of gossamer, and the laws of the bounds,
with their proofs, are the page "Bounds that a program can check".

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

import heapq
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, chain, product
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
    "time": {"unit": "step|second", "slot": "[1-9][0-9]{0,59}(/[1-9][0-9]{0,59})?"},
    "task": ({"items": [{"kind": "copy|sum", "from": [NODE], "to": [NODE], "packets": ABOVE}]},
             {"name": "broadcast|scatter|gather|reduce", "root": NODE, "packets": ABOVE},
             {"name": "allgather|alltoall|reduce-scatter|allreduce", "packets": ABOVE}),
    "schedule": (None, {"slot": [WHOLE], "link": [WHOLE], "packet": [WHOLE], "carries": [[ROW]],
                        "period": LIMIT, "generations": LIMIT}),
    "symmetry": (None, {"generators": [[NODE]], "commuting": [[NODE]]}),
    "claim": {"time": (RATIO, None), "bound": (RATIO, None)},
    "bound": (None, {"kind": "search"}, {"kind": "reach", "whole": bool, "blocks": bool, "far": (WHOLE, None), **SOME},
              {"kind": "load", "whole": bool, "blocks": bool, "price": PRICE, "only": LISTED,
               "draw": ([[NODE]], None), "groups": [({"serve": "distance", **SOME}, SETS, {"serve": "trees"})]},
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
        self.nodes, self.ranks, self.source = net["nodes"], net["ranks"], net["source"]
        self.links, self.rules, self.shared = range(len(self.source)), rules, len(ports)
        columns = (spread(net[x], len(self.links), x) for x in ("target", "capacity", "occupancy", "latency"))
        self.target, self.capacity, self.occupancy, self.latency = columns
        need(max([self.ranks - 1, *self.source, *self.target]) < self.nodes, "a rank, or an end of a link, is no node")
        self.passes = [rules["cut_through"] and v >= self.ranks for v in range(self.nodes)]
        need(not (ports and data.get("symmetry")), "a network with shared ports has no symmetry here")
        self.fold(**(data.get("symmetry") or {"generators": [], "commuting": []}))
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
                need(e in self.links and port["occupancy"] <= self.occupancy[e], "a shared port fits to no such link")
                self.uses[e].append((("shared", i), port["receiving"], port["occupancy"]))

    def fold(self, generators: list[list[int]], commuting: list[list[int]]) -> None:
        """Find the orbits of the group of generators, or refuse them.

        Only the identity leaves node 0 where it is: if s of the group leaves x where it is, and a map c commutes with
        all generators, then s(c(x)) = c(s(x)) = c(x), so s leaves c(x) where it is, too. From node 0, and from what no
        generator moves, such maps lead to all nodes. So the group has a member for each node of the orbit of node 0.
        """
        nodes, images, self.generators = range(self.nodes), [], generators
        ordered = sorted(zip(self.source, self.target, self.capacity, self.occupancy, self.latency, self.links))
        for p in generators:
            need(sorted(p) == [*nodes] and max(p[: self.ranks]) < self.ranks, "a generator does not permute the ranks")
            moved = sorted((p[u], p[v], *kind) for u, v, *kind in ordered)  # of links that are alike, in their order
            need(all(a[:-1] == b[:-1] for a, b in zip(moved, ordered)), "a generator is no automorphism")
            images.append([e for _, e in sorted((a[-1], b[-1]) for a, b in zip(moved, ordered))])
        for c in commuting:
            fit = len(c) == self.nodes > max(c) and all(c[p[v]] == p[c[v]] for p in generators for v in nodes)
            need(fit, "what commutes is no map of the nodes, or does not commute")
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
    for p, place in product(permutations, range(size)):
        low, high = sorted((top(joined, place), top(joined, p[place])))
        joined[high] = low
    return [top(joined, place) for place in range(size)]


# -- the task


class Item(NamedTuple):
    """What must be communicated; with a symmetry, the item and all its images.

    A copy: `packets` packets, which the one node in `root` has, must come to all `leaves`. A sum (`back`): each of
    `leaves` has `packets` packets, of which the sums, packet by packet, must come to all of `root`. A schedule has so
    many slots less for it (`idle`) at its beginning, and at its end.
    """

    back: bool
    root: list[int]
    leaves: list[int]
    packets: int
    idle: tuple[int, int] = (0, 0)
    number: int | None = None


def read_task(task: dict[str, Any], net: Net) -> tuple[str, list[Item]]:
    """Return what must be communicated, in words and as items; of a named collective one item of each orbit."""
    if "items" in task:
        for x, side in product(task["items"], ("from", "to")):
            need(0 < len(set(x[side])) == len(x[side]) and max(x[side]) < net.ranks, "ends are no ranks, or some twice")
            need(side == "to" or x["kind"] == "sum" or len(x[side]) == 1, "a copy must have one source")
        found = [(x["kind"] == "sum", x["from"], x["to"], x["packets"]) for x in task["items"]]
        items = [Item(True, to, from_, k) if back else Item(False, from_, to, k) for back, from_, to, k in found]
        return f"a table of {len(items) * net.order} demands", items
    name, packets, ranks, root = task["name"], task["packets"], list(range(net.ranks)), task.get("root")
    words = f"{name} among {net.ranks} ranks, messages of {packets} packet" + "s" * (packets > 1)
    if name == "allreduce":
        need(packets % net.order == 0, "packets of an allreduce do not come in orbits")
        return words, [Item(True, ranks, ranks, packets // net.order)]
    need(root is None or (root < net.ranks and net.order == 1), "the root is no rank, or has images")
    roots = [v for v in ranks if net.orbit[v] == v] if root is None else [root]
    others = [[v] for v in ranks] if name in ("scatter", "gather", "alltoall") else [ranks]
    need(len(roots) * len(others) < MANY, "so many ends are too much to check")
    pairs = ((some, [one]) if name == "gather" else ([one], some) for one in roots for some in others if some != [one])
    items = [Item("reduce" in name, near, leaves, packets) for near, leaves in pairs]
    return words + f", root {root}" * (root is not None), items


# -- the schedule


def replay(net: Net, items: list[Item], plan: dict[str, Any], slots: int) -> None:
    """Carry out transfers one by one, then compare what nodes have in the end with the items.

    A row carries a set of contributions, as bits: the union of what earlier rows brought to its node and, for -1, of
    what the node itself contributes, none of it twice. A copied packet is a sum of one contribution. Links from number
    `len(net.links)` on lead from each node to itself in no time: over them go results, which the node has in the end.
    """
    columns, rules = [plan[name] for name in ("slot", "link", "packet", "carries")], net.rules
    period, generations = plan.get("period") or 1, plan.get("generations") or 1
    everything = rules["buffer_counts"] == "all"
    need(len(set(map(len, columns))) == 1, "columns of the schedule are not equally long")
    need(not any(x.packets % generations for x in items), "packets of an item make no such generations")
    need(sum(x.packets for x in items) <= len(plan["slot"]) * generations, "there are fewer rows than packets")

    # what there is by a row, of a packet, at a node: contributions, when its head can go on, when all of it is there,
    # and the rows that carry it, each with the slot in which it has left; all of each packet, and who has yet to get it
    there: dict[tuple[int, int, int], tuple[int, int, int, list[tuple[int, int]]]] = {}
    whole, missing = list[int](), set[tuple[int, int]]()
    for x in (each for each in items for _ in range(each.packets // generations)):
        sources, targets = (x.leaves, x.root) if x.back else (x.root, x.leaves)
        there.update(((-1, len(whole), v), (1 << i, 0, -generations * period, [])) for i, v in enumerate(sources))
        missing.update((len(whole), v) for v in targets if sources != [v])
        whole.append((1 << len(sources)) - 1)

    ways = [*zip(net.source, net.target, net.occupancy, net.latency, net.uses)]
    ways += [(v, v, 0, 0, []) for v in range(net.nodes)]
    spans: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)  # when each use of a resource is
    for row, (t, e, p, carried) in enumerate(zip(*columns)):
        need(e < len(ways) and p < len(whole), f"row {row} of the schedule has no link, or no packet")
        u, v, occupancy, latency, uses = ways[e]
        has, end, left = 0, t + occupancy + latency, t if uses else slots * everything
        need(end + (generations - 1) * period <= slots, f"row {row} ends after the last slot")
        adds = u < net.ranks or rules["switches_add"] or len(carried) == 1
        need(adds and carried, f"row {row} carries nothing, or adds at a switch")
        for k in carried:
            need((k, p, u) in there, f"row {row} cannot carry on row {k}")
            part, usable, complete, carriers = there[k, p, u]
            need(usable <= t and complete <= t + occupancy, f"what row {row} carries is not there yet in slot {t}")
            need(not has & part, f"row {row} carries a contribution twice")
            need(u < net.ranks or rules["switches_copy"] or not carriers, f"row {row} copies at a switch")
            carriers.append((row, left))
            has |= part
        if uses:
            there[row, p, v] = has, t + latency if net.passes[v] else end, end, []
        if has == whole[p] and not (uses and everything):
            missing.discard((p, v))
        for resource, late, held in uses:
            spans[resource].append((end - held, end) if late else (t, t + held))
    need(not missing, f"a packet is not complete at a node in the end: {sorted(missing)[:1]}")

    begins: defaultdict[Any, int] = defaultdict(lambda: FAR)  # what is always used together waits together
    for (k, p, v), (_, _, complete, carriers) in there.items():
        if carriers and (k >= 0 or everything):
            begins[v, p, *carriers] = min(begins[v, p, *carriers], complete)
    for (v, _, *carriers), begin in begins.items():
        spans["buffer", net.orbit[v]].append((begin, max(begin, *(left + 1 for _, left in carriers))))
    # whatever is used at some time is used as well, a number of periods earlier, by as many of the first generations as
    # fit into the time of one; later ones find no more in use
    for resource, some in spans.items():
        length = max(leave for _, leave in some) - min(come for come, _ in some)
        copies = min(generations, -(-length // period))
        need(copies * len(some) < MANY, "so many generations at once are too much to check")
        each = sorted((t + period * g, more) for g in range(copies) for span in some for t, more in zip(span, (1, -1)))
        most, room = net.order * max(accumulate((more for _, more in each), initial=0)), net.room[resource]
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

    def __init__(self, net: Net, task: dict[str, Any], items: list[Item], law: dict[str, Any]) -> None:
        self.net, self.task, self.law, self.whole, self.blocks = net, task, law, law["whole"], law["blocks"]
        self.hold = net.occupancy if self.whole else [0] * len(net.links)
        self.near: list[list[list[tuple[int, int]]]] = [[[] for _ in range(net.nodes)] for _ in range(2)]
        for (e, link), way in product(enumerate(zip(net.source, net.target)), (0, 1)):  # 1 is backwards
            self.near[way][link[way]].append((e, link[1 - way]))
        ends = (net.target, net.source)  # where switches that cut through pass on the head of a packet
        self.takes = [[a + o * (not net.passes[v]) for a, o, v in zip(net.latency, self.hold, to)] for to in ends]
        parts = (self.halves(x) if self.blocks and x.back and x.root == x.leaves else [x] for x in items)
        self.items = [x._replace(number=i) for i, x in enumerate(chain.from_iterable(parts))]

        sizes = {"link": len(net.links), "send": net.nodes, "receive": net.nodes, "shared": net.shared}
        given, only = law.get("price", {}), set(net.links if law.get("only") is None else law["only"])
        self.price = {kind: spread(given.get(kind) or 0, size, kind) for kind, size in sizes.items()}  # of a slot
        self.pays = [0] * len(net.links)  # a packet on each link, for all that it holds
        self.paid: defaultdict[tuple[str, int], list[tuple[int, bool, int, int]]] = defaultdict(list)
        for e, ((kind, place), late, held) in ((e, use) for e, uses in enumerate(net.uses) for use in uses):
            if net.link_orbit[e] in only and self.price[kind][place]:
                self.pays[e] += self.price[kind][place] * held
                over = net.latency[e] + max(0, self.hold[e] - held)  # of the transfer, not in the resource
                self.paid[kind, place].append((e, late, held, over))

    def slack(self, goal: Fraction) -> Fraction:
        """Return what there is more than the law needs of all schedules of less than `goal` slots."""
        self.time = Fraction(math.ceil(goal) - 1) if self.whole else goal
        return Fraction(min(getattr(self, self.law["kind"])(), default=self.time))

    def halves(self, item: Item) -> Iterator[Item]:
        """Yield a sum for all its ranks as two items of each of them: a sum for this root, and later copies from it."""
        net, members = self.net, item.leaves
        packets, left = divmod(item.packets * net.order, len(members))
        need(not left and (net.order == 1 or len(members) == net.ranks), "ranks are no roots of equally many packets")
        for root in sorted({net.orbit[v] for v in members}):
            tell, collect = (max(map(self.travel({root: 0}, way).__getitem__, members)) for way in (0, 1))
            yield Item(True, [root], members, packets, (0, tell))
            yield Item(False, [root], members, packets, (collect, 0))

    def flows(self, given: dict[str, Any]) -> Iterator[Item]:
        """Yield some of each item: from the nodes `from` to the nodes `to`, of one kind if told.

        Of a sum for several nodes, the first is looked at; a sum of a single contribution is copied.
        """
        sources, targets = (set(range(self.net.nodes) if given.get(x) is None else given[x]) for x in ("from", "to"))
        for x in self.items:
            near, far = (targets, sources) if x.back else (sources, targets)
            root, leaves = [v for v in x.root if v in near], [v for v in x.leaves if v in far]
            back = x.back and (len(leaves) > 1 or len(root) == 1)
            root, leaves = (root[:1], leaves) if back == x.back else (leaves, root)
            flow = x._replace(back=back, root=root, leaves=[v for v in leaves if v not in root])
            if flow.root and flow.leaves and given.get("of") in (None, "sum" if x.back else "copy"):
                yield flow

    # times: how long something takes to its ends

    def travel(self, start: dict[int, int], way: int, length: Any = None, both: Any = int.__add__) -> list[int]:
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

    def reach(self) -> Iterator[Fraction | int]:
        """Yield how much earlier than in time an item can come to its ends, and how many more at least `far` away.

        Where nodes copy (or, backwards, add), all tell others; else ranks alone, each by a transfer for each other one.
        Each begins at most `places` transfers in `every` slots, each of which takes `least` slots or more to the next.
        """
        net, far = self.net, self.law.get("far")
        for flow in self.flows(self.law):
            back, takes, near, time = flow.back, self.takes[flow.back], self.near[flow.back], self.time - sum(flow.idle)
            copying, sending = ("switches_add", "receive") if back else ("switches_copy", "send")
            here, helped = self.travel(dict.fromkeys(flow.root, 0), back), net.rules[copying] or net.ranks == net.nodes
            slack = time - max(here[v] for v in flow.leaves)
            yield slack
            if slack >= 0 and far is not None and self.whole and not (helped and any(net.passes)):
                links = [[e for e, _ in near[u]] for u in range(net.nodes if helped else net.ranks)]  # of who tells
                least, link = (min(takes), max(takes)) if helped else (self.apart(back), FAR)
                every = min(net.occupancy[e] for some in links for e in some)
                places = net.rules.get(sending) or max(sum(net.capacity[e] for e in some) for some in links)
                wanted, told, hops = sum(here[v] >= far for v in flow.leaves), 0, max(1, -(-far // link))
                while told < wanted and max(far, hops * least) <= time:
                    later = min(wanted, int(time - max(far, hops * least)) // every)  # more is enough as well
                    told += places**hops * math.comb(later + hops, hops)
                    hops += 1
                yield told - wanted

    def apart(self, back: bool) -> int:
        """Return how long something takes at least from a rank to another one: their numbers differ in some bit."""
        ranks = range(self.net.ranks)
        sides = product(range(len(ranks).bit_length()), (0, 1))
        starts = [{v: 0 for v in ranks if v >> bit & 1 == side} for bit, side in sides]
        return min(here for some in starts for v, here in zip(ranks, self.travel(some, back)) if v not in some)

    # prices: what a packet pays on each link, and what resources are worth

    def windows(self, flows: list[Item], back: bool) -> list[list[int]]:
        """Return the slots before something of flows, or of images, is at each node; or (`back`) after it leaves.

        If one end is drawn from each list of k, what is at a node is of use with a probability of n/k or more no
        earlier than the n-th nearest of all could be there; through switches that do not add (or copy), at a rank on
        the way. So these are the slots for each n from 1 to k. What resources are worth in all of them together is k
        times what is needed.
        """
        net, draw, passed_on = self.net, self.law.get("draw"), "switches_copy" if back else "switches_add"
        ends = [(v, x.idle[back]) for x in flows for v in (x.root if x.back == back else x.leaves)]
        first = dict(sorted({(net.orbit[v], slots) for v, slots in ends}, reverse=True))  # the least of each orbit
        starts = [{v: first[low] for v, low in enumerate(net.orbit) if low in first}]
        if draw:
            away = zip(*(self.travel({v: slots}, back) for v, slots in ends))
            near = [sorted(far) for far in away][: net.nodes if net.rules[passed_on] else net.ranks]
            starts = [{v: far[min(n, len(far) - 1)] for v, far in enumerate(near)} for n in range(len(draw[0]))]
        return [self.travel(start, back) for start in starts]

    def worth(self, needed: int, heads: Sequence[Fraction | int], tails: Sequence[Fraction | int]) -> Fraction:
        """Return what resources are worth more than is needed; some of the time passes before and after nodes.

        If nothing is needed, there is always more.
        """
        more, net = Fraction(-needed or FAR), self.net
        for (kind, place), links in self.paid.items():
            begin = min(heads[net.source[e]] + over * late for e, late, _, over in links)
            end = max(self.time - tails[net.target[e]] - over * (not late) for e, late, _, over in links)
            slots, unit = max(Fraction(0), end - begin), math.gcd(*(held for _, _, held, _ in links))
            more += self.price[kind][place] * net.room[kind, place] * (slots // unit * unit if self.whole else slots)
        return more

    def load(self) -> Iterator[Fraction | int]:
        """Yield what resources are worth more than what groups of items pay for them."""
        draw, alone = self.law.get("draw"), self.net.order == len(self.items) == 1
        need(not draw or (alone and all(draw) and len({*map(len, draw)}) == 1), "nothing is drawn so, of a single item")
        counted = [each for group in self.law["groups"] for each in getattr(self, "by_" + group["serve"])(group)]
        need(len({flow.number for flow, _ in counted}) == len(counted), "an item counts twice")
        needed = self.net.order * sum(flow.packets * pays for flow, pays in counted)
        paying = [flow for flow, pays in counted if pays]
        yield sum(self.worth(needed, *times) for times in zip(self.windows(paying, False), self.windows(paying, True)))

    def by_distance(self, group: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each item the price of the cheapest path to the end that has the dearest one."""
        here = cache(lambda back, root: self.travel({root: 0}, back, self.pays))
        for flow in self.flows(group):
            far = here(flow.back, flow.root[0])
            dearest = max(flow.leaves, key=far.__getitem__)
            yield flow._replace(leaves=[dearest]), far[dearest]

    def by_sets(self, group: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each item the weights of the sets of nodes that it must enter; of a sum, that it must leave."""
        net, flows, sets = self.net, list(self.flows(group)), group["sets"]
        weights = spread(group["weights"], len(sets), "weights")
        of: defaultdict[int, set[int]] = defaultdict(set)  # the sets that a node is in
        for k, v in ((k, v) for k, nodes in enumerate(sets) for v in nodes):
            of[v].add(k)
        need(all(v < net.nodes for v in of), "a set has a node that is none")
        family = sorted((sorted(nodes), weight) for nodes, weight in zip(sets, weights))
        images = (sorted((sorted(p[v] for v in nodes), weight) for nodes, weight in family) for p in net.generators)
        need(all(image == family for image in images), "the symmetry does not take sets to sets of the same weight")
        for back, (u, v, pay) in product({flow.back for flow in flows}, zip(net.source, net.target, self.pays)):
            entered = of[u] - of[v] if back else of[v] - of[u]
            need(sum(weights[k] for k in entered) <= pay, "sets count more than a packet pays to enter them")
        for flow in flows:
            ends, draw = set(flow.leaves), self.law.get("draw") or [[v] for v in flow.leaves]
            held = (set.intersection(*(of[v] for v in some)) - of[flow.root[0]] for some in draw)
            passed = [(some, sets) for some, sets in zip(draw, held) if sets and ends.issuperset(some)]
            crossed = set[int]().union(*(sets for _, sets in passed))
            yield flow._replace(leaves=[v for some, _ in passed for v in some]), sum(weights[k] for k in crossed)

    def by_trees(self, _: dict[str, Any]) -> Iterator[tuple[Item, int]]:
        """Yield for each sum for all its ranks two minimum spanning trees: of hops, or of calls between ranks.

        If switches neither copy nor add, a call pays its whole path. If they copy alone, it enters a rank by a hop of
        its own, with what one rank has sent; if they add alone, it leaves one so.
        """
        net, copies, adds = self.net, self.net.rules["switches_copy"], self.net.rules["switches_add"]
        both, ranks = max if copies or adds else int.__add__, dict.fromkeys(range(net.ranks), 0)
        before = [0] * net.nodes if copies else self.travel(ranks, False, self.pays, both)  # what counts up to a link
        after = [0] * net.nodes if adds else self.travel(ranks, True, self.pays, both)  # and from there on
        links = [(both(both(before[u], pay), after[v]), u, v) for pay, u, v in zip(self.pays, net.source, net.target)]
        for x in self.items:
            draw = self.law.get("draw") or [[v] for v in x.leaves]
            drawn, members = [*chain(*draw)], {*chain(*draw)}  # some may be drawn more often than others
            if x.root == x.leaves and members <= {*x.leaves}:
                free = [(0, some[0], v) for some in draw for v in some]  # whichever of them is drawn
                cost, joined = 0, list(range(net.nodes))  # a part with members is named by one
                for pay, *ends in sorted(links + free):
                    u, v = sorted((top(joined, end) for end in ends), key=members.__contains__)
                    cost += 2 * pay * (u in members and u != v)
                    joined[u] = v
                yield x._replace(root=drawn, leaves=drawn), cost

    def cut(self) -> Iterator[Fraction]:
        """Yield what resources are worth more than what must come from near nodes; each node is near since a time."""
        net, end = self.net, self.time + self.whole  # what is done within the time is done before this
        since = [Fraction(slot) for slot in spread(self.law["since"], net.nodes, "since")]
        fit = net.order == 1 and not (self.whole and any(net.passes))
        need(fit, "a cut is without a symmetry, and of packets that no switch cuts through")
        links, needed = zip(net.source, net.target, *self.takes, self.pays), 0
        least = min((pay for u, v, takes, _, pay in links if since[u] + takes < min(end, since[v])), default=FAR)
        for flow in self.flows(self.law):
            near, far, of = (flow.leaves, flow.root, min) if flow.back else (flow.root, flow.leaves, max)
            begin, last = (of(since[v] for v in nodes) for nodes in (near, far))
            needed += least * flow.packets * (begin <= flow.idle[0] and last >= end - flow.idle[1])
        yield self.worth(needed, since, [max(Fraction(0), end - slot) for slot in since])

    def everywhere(self) -> Iterator[Fraction]:
        """Yield what there is more than a collective needs, on all networks of such nodes.

        At most `degree` links lead from each node, and to it; if they are two-way, as many from one to another as back.
        So at most `degree` nodes are at distance 1 of a node, and at most `onward` times as many at each distance more.
        """
        net, degree, two_way, name = self.net, self.law["degree"], self.law["two_way"], self.task.get("name", "")
        n, onward, links = net.nodes, degree - two_way, Counter[Any]()
        for u, v, places in zip(net.source, net.target, net.capacity):
            links.update({("from", u): places, ("to", v): places, (u, v): places})
        need(name and n == net.ranks > 1, "all networks are those of a collective by its name, among ranks alone")
        lone = two_way and any(links[u, v] != links[v, u] for u, v in zip(net.source, net.target))
        need(not lone and all(k <= degree for k in links.values()), "a node has too many links, or one-way ones")

        def told(rate: int) -> list[int]:  # nodes told in each slot: each tells others, over links of their own
            fresh = [1]
            while sum(fresh) < n:
                left = ((degree if i + 1 == len(fresh) else onward) - i * rate for i in range(min(len(fresh), degree)))
                fresh.append(sum(fresh[-1 - i] * min(rate, max(0, more)) for i, more in enumerate(left)))
                need(fresh[-1], "no network of so few links is connected")
            return fresh

        send, receive = (min(degree, net.rules.get(way) or degree) for way in ("send", "receive"))
        away = sum(max(0, n - known) for known in accumulate(told(degree)))  # from a node to all, at least, in links
        every = min(n * degree - n * degree % (1 + two_way), n * send, n * receive)  # hops of a slot in all
        hops = {"alltoall": n * away, "allgather": n * (n - 1), "reduce-scatter": n * (n - 1), "allreduce": 2 * (n - 1)}
        possible = {"scatter": send, "gather": receive}.get(name, every)
        yield possible * self.time - self.task["packets"] * hops.get(name, n - 1)
        if self.whole and name in ("broadcast", "reduce", "allreduce"):
            first, then = (len(told(receive)) - 1) * (name != "broadcast"), (len(told(send)) - 1) * (name != "reduce")
            yield self.time - (first + then if self.blocks else max(first, then))


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
    need([plan is None, law is None] == [claim.get(x) is None for x in ("time", "bound")], "a claim or proof is absent")
    lines = ["accepted", f"task             {task}"]
    lines.append(f"network          {net.nodes} nodes, {net.ranks} of them ranks, {len(net.links)} links")
    if plan is not None:
        need((took / slot).denominator == 1, "the time of the claim is no number of slots")
        replay(net, items, plan, int(took / slot))
        rows = sum(e in net.links for e in plan["link"])
        lines.append(f"transfers        {rows * (plan.get('generations') or 1) * net.order}, of {rows} in the file")
        lines.append(f"completion time  {time_of(took, unit)}")
    if law is None or law["kind"] == "search":
        return [*lines, f"lower bound      {f'{time_of(least, unit)}, by search: not certified' if law else 'none'}"]
    if "name" in data["task"] and (law["kind"] == "cut" or law.get("draw")):  # of all items, not one of each orbit
        net = Net(data | {"symmetry": None})
        items = read_task(data["task"], net)[1]
    slack = Bound(net, data["task"], items, law).slack(least / slot)
    need(slack < 0 or (slack == 0 and not law["whole"]), "the witness does not prove the bound")
    scope = "schedules of these packets" if law["whole"] else "all schedules, however messages are cut"
    scope += ", by reduce-scatter + allgather" * law["blocks"]
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python gossamer_check.py FILE.cert.json")
    try:
        print("\n".join(check(Path(sys.argv[1]).read_bytes())))
    except (OSError, Refused) as reason:
        sys.exit(f"refused: {reason}")
