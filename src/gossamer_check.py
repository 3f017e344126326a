"""Check a certificate of a communication schedule: ``python gossamer_check.py FILE.cert.json``.

A certificate says how a network is built, what must be communicated, what is sent when, and why nothing can be much
faster. This program believes nothing of it: it carries the schedule out, counts the bound again, and prints both. All
numbers are whole numbers and fractions; no decision is made by floating-point numbers. It needs Python 3.11 or later
and nothing else. The format and the proofs are on the page "Certificates" of the documentation of gossamer.

Exit status: 0 if the certificate is accepted, 1 if it is refused, with one line that says why.
"""

from __future__ import annotations

import heapq
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

FAR = 10**30  # the time of what never happens
MUCH, MANY = 10**10, 4 * 10**6  # more bits of contributions, or uses and ends that no row tells, are too much to check

# -- the form of a file: a range, a pattern of texts, a type, [of each], {key: of its value}, (one, or another); keys
# -- with "?" may be left out

NODE, WHOLE, ABOVE = range(10**6), range(10**15 + 1), range(1, 10**15 + 1)
LIMIT, NUMBERS = (ABOVE, type(None)), ([WHOLE], WHOLE)
ROW = range(-1, 10**15)
RATIO, RATIO_OR_NULL = "[0-9]{1,60}(/[1-9][0-9]{0,59})?", ("[0-9]{1,60}(/[1-9][0-9]{0,59})?", type(None))
ENDS = {"of?": "copy|sum", "from?": [NODE], "to?": [NODE]}
SCOPE = {"whole": bool, "blocks": ({"collect": [WHOLE], "tell": [WHOLE]}, type(None))}
PRICES = {"link?": NUMBERS, "send?": NUMBERS, "receive?": NUMBERS, "shared?": NUMBERS}
GROUPS = (
    {"serve": "distance", **ENDS},
    {"serve": "sets", "sets": ("ranks", [[NODE]]), "weights": NUMBERS, **ENDS},
    {"serve": "trees"},
)
LAWS = (
    {"kind": "load", "price": PRICES, "only?": [WHOLE], "groups": [GROUPS], **SCOPE},
    {"kind": "cut", "price": PRICES, "since": [WHOLE], "back": bool, **ENDS, **SCOPE},
    {"kind": "reach", "far?": WHOLE, **ENDS, **SCOPE},
    {"kind": "search"},
    type(None),
)
CERTIFICATE = {
    "format": "gossamer-certificate",
    "version": range(1, 2),
    "about?": object,
    "network": {
        "nodes": range(1, 10**6 + 1), "ranks": ABOVE, "source": [NODE], "target": [NODE],
        "capacity": ([ABOVE], ABOVE), "occupancy": ([ABOVE], ABOVE), "latency": NUMBERS,
        "shared?": [{"links": [WHOLE], "capacity": ABOVE, "occupancy": ABOVE, "receiving": bool}],
    },
    "rules": {
        "send": LIMIT, "receive": LIMIT, "cut_through": bool, "switches_copy": bool, "switches_add": bool,
        "buffer": LIMIT, "buffer_counts": "transit|all",
    },
    "time": {"unit": "step|second", "slot": RATIO},
    "task": (
        {"items": [{"kind": "copy|sum", "from": [NODE], "to": [NODE], "packets": ABOVE}]},
        {"name": "broadcast|scatter|gather|reduce", "root": NODE, "packets": ABOVE},
        {"name": "allgather|alltoall|reduce-scatter|allreduce", "packets": ABOVE},
    ),
    "schedule?": {
        "slot": [WHOLE], "link": [WHOLE], "packet": [WHOLE], "carries": [(ROW, [ROW])],
        "results?": {"packet": [WHOLE], "node": [NODE], "carries": [(ROW, [ROW])]},
        "period?": ABOVE, "generations?": ABOVE,
    },
    "symmetry?": {"generators": [[NODE]], "commuting": [[NODE]]},
    "claim": {"time": RATIO_OR_NULL, "bound": RATIO_OR_NULL},
    "bound": LAWS,
}  # fmt: skip


class Refused(Exception):
    """The certificate is malformed, or something that it says is not true."""


def need(true: object, why: str) -> None:
    """Refuse the certificate if something is not true."""
    if not true:
        raise Refused(why)


def misfit(value: Any, form: Any) -> str | None:
    """Return where in a value of a file something has not its form, and what it should be; None for nowhere."""
    inner: Iterable[tuple[str, Any, Any]]
    if isinstance(form, tuple):
        found = [misfit(value, each) for each in form]
        return None if None in found else found[0]
    if isinstance(form, list) and type(value) is list:
        inner = ((f"[{i}]", each, form[0]) for i, each in enumerate(value))
    elif isinstance(form, dict) and type(value) is dict:
        known = {key.strip("?"): key for key in form}
        if not {key for key in form if "?" not in key} <= set(value) <= set(known):
            return f" must have the keys {' '.join(form)}"
        inner = ((f".{key}", each, form[known[key]]) for key, each in value.items())
    elif isinstance(form, range):
        return None if type(value) is int and value in form else f" must be whole, {form.start}..{form.stop - 1}"
    elif isinstance(form, str):
        return None if type(value) is str and re.fullmatch(form, value) else f" must be a text: {form}"
    else:
        kind = type(form) if isinstance(form, list | dict) else form
        return None if kind in (type(value), object) else f" must be a {kind.__name__}"
    return next((place + wrong for place, each, of in inner if (wrong := misfit(each, of)) is not None), None)


# -- the network


@dataclass
class Item:
    """What must be communicated; with a symmetry, the item and all its images.

    copy: `packets` packets, which each of `sources` has, must come to all `targets`. sum: each of `sources` has
    `packets` packets, of which the sums, packet by packet, must come to all `targets`. A schedule has `after` slots
    less for it at its beginning, and `before` at its end.
    """

    kind: str
    sources: list[int]
    targets: list[int]
    packets: int
    after: int = 0
    before: int = 0

    @property
    def root(self) -> list[int]:
        """The sources of a copy, the targets of a sum."""
        return self.sources if self.kind == "copy" else self.targets

    @property
    def leaves(self) -> list[int]:
        """The targets of a copy, the sources of a sum."""
        return self.targets if self.kind == "copy" else self.sources

    def to(self, leaves: list[int]) -> Item:
        """Return the item with some of its leaves."""
        return replace(self, targets=leaves) if self.kind == "copy" else replace(self, sources=leaves)


class Net:
    """A directed network with its rules; lists have an entry for each link.

    Nodes 0..ranks-1 are ranks, the others switches. A packet that enters a link in slot t occupies a place of the link
    in slots t..t+occupancy-1 and is usable at its target from slot t + occupancy + latency on.

    A *resource* is what passes at most so many packets at once: a link, a port of a node, a port that links share, and
    the buffer of a node. With a symmetry, no member of which but the identity leaves a node where it is, a resource
    stands for its orbit: each row of the file has exactly one image over each link of the orbit of its link.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        net, rules = data["network"], data["rules"]
        self.nodes, self.ranks, self.source, self.target = (net[x] for x in ("nodes", "ranks", "source", "target"))
        self.links, self.rules, self.shared = range(len(self.source)), rules, len(net.get("shared", []))
        need(
            self.ranks <= self.nodes and len(self.target) == len(self.source),
            "there are more ranks, or ends, than may be",
        )
        need(max([-1, *self.source, *self.target]) < self.nodes, "a link has an end that is no node")
        need(not any(map(int.__eq__, self.source, self.target)), "a link must lead from a node to another one")
        self.capacity, self.occupancy, self.latency = (
            spread(net[x], len(self.links), x) for x in ("capacity", "occupancy", "latency")
        )
        self.orbit, self.link_orbit, self.order = list(range(self.nodes)), list(self.links), 1
        if "symmetry" in data:
            need("shared" not in net, "a network with shared ports has no symmetry here")
            self.fold(**data["symmetry"])
        self.room: dict[tuple[str, int], int] = {}  # packets at once, of each resource
        self.uses: list[list[tuple[tuple[str, int], bool, int]]] = [[] for _ in self.links]
        if rules["buffer"] is not None:
            self.room.update((("buffer", v), rules["buffer"]) for v in range(self.nodes))
        least = min(limit for limit in (rules["send"], rules["receive"], FAR) if limit)
        for e, (u, v) in enumerate(zip(self.source, self.target)):
            self.use("link", self.link_orbit[e], min(self.capacity[e], least), e, False, self.occupancy[e])
            self.use("send", self.orbit[u], rules["send"], e, False, self.occupancy[e])
            self.use("receive", self.orbit[v], rules["receive"], e, True, self.occupancy[e])
        for i, port in enumerate(net.get("shared", [])):
            need(set(port["links"]) <= set(self.links), "a shared port has a link that is none")
            for e in set(port["links"]):
                need(
                    port["occupancy"] <= self.occupancy[e],
                    "a packet is longer in a shared port than on a link through it",
                )
                self.use("shared", i, port["capacity"], e, port["receiving"], port["occupancy"])

    def use(self, kind: str, place: int, room: int | None, e: int, late: bool, held: int) -> None:
        """Note that packets over link e hold a resource for `held` slots, the first of their transfer or the last."""
        if room is not None:
            self.room[kind, place] = room
            self.uses[e].append(((kind, place), late, held))

    def fold(self, generators: list[list[int]], commuting: list[list[int]]) -> None:
        """Find the orbits of the group of generators, or refuse them.

        That none but the identity leaves a node where it is follows from permutations that commute with all generators
        and together take node 0 to every node: if s of the group leaves x where it is and c commutes with s, then
        s(c(x)) = c(s(x)) = c(x), so s leaves every node where it is.
        """
        seen: Counter[tuple[int, int]] = Counter()
        number: dict[tuple[int, int, int], int] = {}  # of a link, by its ends and how many of these come before
        for e, ends in enumerate(zip(self.source, self.target)):
            number[*ends, seen[ends]] = e
            seen[ends] += 1
        kinds, of_links = list(zip(self.capacity, self.occupancy, self.latency)), []
        for p in generators + commuting:
            need(sorted(p) == list(range(self.nodes)), "a generator, or what commutes with them, is no permutation")
        for p in generators:
            need(max(p[: self.ranks]) < self.ranks, "a generator takes a rank to a switch")
            image = [number.get((p[u], p[v], k), -1) for u, v, k in number]
            need(all(i >= 0 and kinds[e] == kinds[i] for e, i in enumerate(image)), "a generator is no automorphism")
            need(
                all(c[p[v]] == p[c[v]] for c in commuting for v in self.orbit),
                "something does not commute with a generator",
            )
            of_links.append(image)
        need(not any(joined(self.nodes, commuting)), "the commuting permutations do not take node 0 to every node")
        self.orbit, self.link_orbit = joined(self.nodes, generators), joined(len(self.links), of_links)
        self.order = self.nodes // len(set(self.orbit))


def spread(value: Any, count: int, what: str) -> list[int]:
    """Return a list of so many numbers, which a file has, or one number for all."""
    values = value if type(value) is list else [value] * count
    need(len(values) == count, f"{what} must have {count} numbers, or be one for all")
    return values


def joined(size: int, permutations: list[list[int]]) -> list[int]:
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


# -- the task


def read_task(task: dict[str, Any], net: Net) -> tuple[str, list[Item]]:
    """Return what must be communicated, in words and as items; of a named collective one item of each orbit."""
    ranks = range(net.ranks)
    if "items" in task:
        items = [Item(x["kind"], x["from"], x["to"], x["packets"]) for x in task["items"]]
        for x in items:
            for ends in (x.sources, x.targets):
                need(
                    ends and len(set(ends)) == len(ends) and max(ends) < net.ranks,
                    "an item must name ranks, none twice",
                )
        return f"a table of {len(items) * net.order} demands", items
    name, packets, roots = task["name"], task["packets"], [v for v in ranks if net.orbit[v] == v]
    words = f"{name} among {net.ranks} ranks, messages of {packets} packet" + "s" * (packets > 1)
    if "root" in task:
        need(task["root"] < net.ranks and net.order == 1, "the root is no rank, or has images")
        roots, words = [task["root"]], f"{words}, root {task['root']}"
    need(len(roots) * net.ranks < MANY, "so many ends are too much to check")
    if name == "allreduce":
        need(packets % net.order == 0, "packets of an allreduce do not come in orbits")
        return words, [Item("sum", list(ranks), list(ranks), packets // net.order)]
    items = []
    for root in roots:
        others = [v for v in ranks if v != root]
        if name in ("broadcast", "allgather"):
            items.append(Item("copy", [root], others, packets))
        elif name in ("reduce", "reduce-scatter"):
            items.append(Item("sum", list(ranks), [root], packets))
        else:
            items += [Item("copy", *(([v], [root]) if name == "gather" else ([root], [v])), packets) for v in others]
    return words, items


# -- the schedule


def never_more(spans: list[tuple[int, Any, int]], room: Any, period: int, generations: int) -> None:
    """Refuse if there are ever more users of a resource than it has room for.

    `spans` has for each user when it comes, the resource, and when it leaves. With generations, whatever is used at
    some time is used as well, a number of periods earlier, by as many of the first ones as fit into the time of one
    generation; later ones find no more in use.
    """
    length = max((leave for _, _, leave in spans), default=0) - min((come for come, _, _ in spans), default=0)
    copies = min(generations, -(-length // period))
    need((copies - 1) * len(spans) < MANY, "so many generations at once are too much to check")
    shifts = [period * g for g in range(copies)]
    leaves: dict[Any, list[int]] = {}
    for come, resource, leave in sorted(
        (come + s, resource, leave + s) for s in shifts for come, resource, leave in spans
    ):
        there = leaves.setdefault(resource, [])
        if len(there) < room[resource]:
            heapq.heappush(there, leave)
        elif heapq.heapreplace(there, leave) > come:
            raise Refused(f"{resource[0]} {resource[1]} is used by more than {room[resource]} at once in slot {come}")


class Replay:
    """Transfers carried out one by one, then what nodes have in the end compared with the items.

    A row carries a set of contributions, as bits: the union of what earlier rows brought to its node and, for -1, of
    what the node itself contributes, none of it twice. A copied packet is a sum of one contribution, which each of its
    sources has. A packet is usable at a rank when all of it is there, at a switch that cuts through as soon as its head
    is there if its tail is then not overtaken. Results are sums that nodes have in the end.
    """

    def __init__(self, net: Net, items: list[Item], plan: dict[str, Any], slots: int) -> None:
        self.net, self.items, self.plan, self.slots = net, items, plan, slots
        self.slot, self.link, self.packet, carries = (plan[name] for name in ("slot", "link", "packet", "carries"))
        self.period, self.generations = plan.get("period", 1), plan.get("generations", 1)
        rows, results = len(self.slot), plan.get("results", {"packet": [], "node": [], "carries": []})
        need(rows == len(self.link) == len(self.packet) == len(carries), "columns of the schedule are not equally long")
        need(len(set(map(len, results.values()))) == 1, "columns of the results are not equally long")
        need(not any(x.packets % self.generations for x in items), "packets of an item make no such generations")
        need(sum(x.packets // self.generations for x in items) <= rows, "there are fewer transfers than packets")
        wide = max((len(x.sources) for x in items if x.kind == "sum"), default=0)
        need((rows + len(results["node"])) * wide < MUCH, "so many contributions are too much to check")
        self.item = [i for i, x in enumerate(items) for _ in range(x.packets // self.generations)]
        self.own = [{v: 1 << i * (x.kind == "sum") for i, v in enumerate(x.sources)} for x in items]
        self.sets: list[int] = []  # what each row carries
        self.ends: list[int] = []
        self.users: dict[tuple[int, int, int], list[int]] = {}  # rows, and results, that take what a row brought
        spans: list[tuple[int, Any, int]] = []
        has: dict[tuple[int, int], int] = {}
        for row, (t, e, p, carried) in enumerate(zip(self.slot, self.link, self.packet, carries)):
            need(e < len(net.links) and p < len(self.item), f"row {row} of the schedule has no link, or no packet")
            end = t + net.occupancy[e] + net.latency[e]
            need(end + (self.generations - 1) * self.period <= slots, f"row {row} ends after the last slot")
            self.sets.append(self.gathered(row, t, t + net.occupancy[e], p, net.source[e], carried))
            self.ends.append(end)
            if items[self.item[p]].kind == "copy":
                has[p, net.target[e]] = 1
            for resource, late, held in net.uses[e]:
                begin = end - held if late else t
                spans.append((begin, resource, begin + held))
        self.times = self.slot + [slots] * (1 + len(results["node"]))
        ends = zip(results["packet"], results["node"], results["carries"])
        for row, (p, v, carried) in enumerate(ends, rows):
            need(p < len(self.item), "a result has no packet")
            has[p, v] = self.gathered(row, slots, slots, p, v, carried)
        for p, i in enumerate(self.item):
            for v in items[i].targets:
                there = has.get((p, v), self.own[i].get(v, 0))
                need(there == sum(set(self.own[i].values())), f"packet {p} is not complete at node {v} at the end")
        never_more(spans + self.stays(), net.room, self.period, self.generations)

    def gathered(self, row: int, t: int, gone: int, p: int, u: int, carried: Any) -> int:
        """Return the contributions that a row, or result, takes at node u in slot t; all of it is there by `gone`."""
        net, has = self.net, 0
        for k in carried if type(carried) is list else [carried]:
            if k >= 0:
                fits = k < min(row, len(self.ends)) and self.packet[k] == p and net.target[self.link[k]] == u
                need(fits, f"row {row} cannot carry on row {k}")
                passes = net.rules["cut_through"] and u >= net.ranks
                usable = self.slot[k] + net.latency[self.link[k]] if passes else self.ends[k]
                need(usable <= t and self.ends[k] <= gone, f"in slot {t} what row {row} carries is not there yet")
            new = self.sets[k] if k >= 0 else self.own[self.item[p]].get(u, 0)
            need(new and not has & new, f"row {row} carries nothing, or a contribution twice")
            if u >= net.ranks:
                need(net.rules["switches_add"] or not has, f"row {row} leaves a switch that cannot add")
                once = net.rules["switches_copy"] or (k, p, u) not in self.users
                need(once, f"row {row} leaves a switch that cannot copy")
            self.users.setdefault((k, p, u), []).append(row)
            has |= new
        need(has, f"row {row} carries nothing")
        return has

    def stays(self) -> list[tuple[int, Any, int]]:
        """Return the slots in which packets are in the buffers of nodes, if they are limited.

        What is always used together waits together. Delivered copies, if they count, wait to the end: the first ones.
        """
        if self.net.rules["buffer"] is None:
            return []
        everything = self.net.rules["buffer_counts"] == "all"
        if everything:
            first: dict[tuple[int, int], int] = {}
            for row, p in enumerate(self.packet):
                v = self.net.target[self.link[row]]
                if self.items[self.item[p]].kind == "copy" and v in self.items[self.item[p]].targets:
                    first[p, v] = min(row, first.get((p, v), row), key=self.ends.__getitem__)
            for (p, v), row in first.items():
                self.users.setdefault((row, p, v), []).append(len(self.times) - 1)
        begins: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for (k, p, v), rows in self.users.items():
            known = tuple(row for row in rows if everything or row < len(self.slot))
            if known and (k >= 0 or everything):
                begin = self.ends[k] if k >= 0 else -self.generations * self.period
                begins[v, p, known] = min(begin, begins.get((v, p, known), FAR))
        stays = [(begin, v, max(self.times[row] for row in rows) + 1) for (v, _, rows), begin in begins.items()]
        return [(begin, ("buffer", self.net.orbit[v]), end) for begin, v, end in stays if begin < end]


# -- the lower bound
#
# A witness chooses a law and gives numbers for it; all that a time follows from is counted here, so that any numbers
# give a true bound, good or bad. The laws and their proofs are on the page "Bounds that a program can check".


class Bound:
    """Whether a law says that nothing is done in less than `goal` slots.

    Of whole packets, the law must leave no way to do it in the `time` of a slot less; of parts as small as one likes,
    which hold no link for long, none in any time below `goal`.
    """

    def __init__(self, net: Net, whole: bool, goal: Fraction) -> None:
        self.net, self.whole, self.goal, self.items = net, whole, goal, list[Item]()
        self.time = Fraction(math.ceil(goal) - 1) if whole else goal
        self.hold = net.occupancy if whole else [0] * len(net.links)
        self.near: list[Any] = [[[] for _ in range(net.nodes)] for _ in (0, 1)]  # links from nodes, and to them
        self.least: dict[bool, int] = {}
        for e, (u, v) in enumerate(zip(net.source, net.target)):
            self.near[0][u].append((e, v))
            self.near[1][v].append((e, u))

    def shortest(self, start: dict[int, int], near: Any, length: list[int]) -> list[int]:
        """Return how far each node is from those of `start`, which have lengths; FAR if there is no way."""
        here, heap = [FAR] * self.net.nodes, sorted((far, v) for v, far in start.items())
        while heap:
            far, u = heapq.heappop(heap)
            if far < here[u]:
                here[u] = far
                for e, v in near[u]:
                    heapq.heappush(heap, (far + length[e], v))
        return here

    def travel(self, start: dict[int, int], back: bool) -> list[int]:
        """Return when what starts at some times can be at each node; its head, at switches that cut through."""
        net, far = self.net, self.net.source if back else self.net.target
        passes = [net.rules["cut_through"] and v >= net.ranks for v in far]
        takes = [a + hold * (not cut) for a, hold, cut in zip(net.latency, self.hold, passes)]
        return self.shortest(start, self.near[back], takes)

    def windows(self, flows: list[Item]) -> list[list[int]]:
        """Return the slots before something of flows, or of images of them, is at each node, and after it leaves."""
        found = []
        for back in (False, True):
            first: dict[int, int] = {}
            for flow in flows:
                for v in flow.targets if back else flow.sources:
                    low, slots = self.net.orbit[v], flow.before if back else flow.after
                    first[low] = min(slots, first.get(low, FAR))
            start = {v: first[low] for v, low in enumerate(self.net.orbit) if low in first}
            found.append(self.travel(start, back))
        return found

    def flows(self, given: dict[str, Any]) -> list[tuple[int, Item]]:
        """Return items, with their numbers, from the nodes `from` to the nodes `to`, of one kind if told.

        Of a sum for several nodes, the first is looked at; a sum of a single contribution is copied.
        """
        nodes, found = range(self.net.nodes), []
        from_, to = set(given.get("from", nodes)), set(given.get("to", nodes))
        for i, x in enumerate(self.items):
            starts, ends = [v for v in x.sources if v in from_], [v for v in x.targets if v in to]
            if given.get("of", x.kind) == x.kind and (x.kind == "sum" or starts == x.sources):
                copy = x.kind == "copy" or (len(starts) == 1 and len(ends) > 1)
                ends = [v for v in ends if v not in starts] if copy else ends[:1]
                starts = starts if copy else [v for v in starts if v not in ends]
                if starts and ends:
                    found.append((i, replace(x, kind="copy" if copy else "sum", sources=starts, targets=ends)))
        return found

    # prices: what a packet pays on each link, and what resources are worth

    def prices(self, law: dict[str, Any]) -> None:
        """Read what resources cost a slot, and note what a packet pays for them on each link."""
        net, only = self.net, set(law.get("only", self.net.links))
        sizes = {"link": len(net.links), "send": net.nodes, "receive": net.nodes, "shared": net.shared}
        price = {kind: spread(values, sizes[kind], f"prices of {kind}") for kind, values in law["price"].items()}
        self.pays = [0] * len(net.links)
        self.paid: dict[tuple[str, int], list[tuple[int, bool, int]]] = {}
        self.price: dict[tuple[str, int], int] = {}
        for e in net.links:
            for resource, late, held in net.uses[e] if net.link_orbit[e] in only else ():
                each = price[resource[0]][resource[1]] if resource[0] in price else 0
                if each:
                    self.pays[e] += each * held
                    self.price[resource] = each
                    self.paid.setdefault(resource, []).append((e, late, held))

    def worth(self, heads: list[int], tails: list[int]) -> Fraction:
        """Return what resources are worth within the time, of which some slots pass before and after nodes."""
        worth, net = Fraction(0), self.net
        for resource, links in self.paid.items():
            begins, ends, helds = [], [], {held for _, _, held in links}
            for e, late, held in links:
                over = net.latency[e] + (net.occupancy[e] - held if self.whole else 0)  # of it, not in the resource
                begins.append(heads[net.source[e]] + over * late)
                ends.append(self.time - tails[net.target[e]] - over * (not late))
            slots, unit = max(0, max(ends) - min(begins)), helds.pop() if self.whole and len(helds) == 1 else 1
            worth += self.price[resource] * net.room[resource] * (slots // unit * unit if self.whole else slots)
        return worth

    def load(self, law: dict[str, Any]) -> bool:
        """Tell whether resources are worth less than what groups of items pay for them; parts need a little more."""
        spare = self.spare(law)
        return spare < 0 or (spare == 0 and not self.whole)

    def spare(self, law: dict[str, Any]) -> Fraction:
        """Return what resources are worth more than what groups of items pay for them."""
        self.prices(law)
        needed, taken, paid = 0, set[int](), list[Item]()
        for group in law["groups"]:
            numbers, pays, flows = getattr(self, "by_" + group["serve"])(group)
            need(not taken & set(numbers), "an item counts twice")
            taken.update(numbers)
            needed, paid = needed + pays, paid + flows
        need(needed, "nothing is paid")
        return self.worth(*self.windows(paid)) - needed

    def by_distance(self, group: dict[str, Any]) -> Any:
        """Count for each item the cheapest path to the end that has the dearest one."""
        known, paid, pays, flows = {}, [], 0, self.flows(group)
        for _, flow in flows:
            key = (flow.kind, *flow.root)
            if key not in known:
                near = self.near[flow.kind == "sum"]
                known[key] = self.shortest(dict.fromkeys(flow.root, 0), near, self.pays)
            dearest = max(flow.leaves, key=known[key].__getitem__)
            if known[key][dearest]:
                pays += known[key][dearest] * flow.packets
                paid.append(flow.to([dearest]))
        return [i for i, _ in flows], pays, paid

    def by_sets(self, group: dict[str, Any]) -> Any:
        """Count for each item the weights of the sets of nodes that it must enter; of a sum, that it must leave."""
        net, paid, pays, flows = self.net, [], 0, self.flows(group)
        ranks = group["sets"] == "ranks"
        need(net.order == 1 or ranks, "with a symmetry, the sets are the ranks")
        sets = [[v] for v in range(net.ranks)] if ranks else group["sets"]
        weights = spread(group["weights"], len(sets), "weights")
        weights = [weights[net.orbit[k] if ranks else k] for k in range(len(sets))]
        of: list[set[int]] = [set() for _ in range(net.nodes)]
        for k, nodes in enumerate(sets):
            for v in nodes:
                need(v < net.nodes, "a set has a node that is none")
                of[v].add(k)
        for kind in {flow.kind for _, flow in flows}:
            near, far = (net.source, net.target) if kind == "copy" else (net.target, net.source)
            for e, pay in enumerate(self.pays):
                weight = sum(weights[k] for k in of[far[e]] - of[near[e]])
                need(weight <= pay, "sets count more than a packet pays that crosses their border")
        for _, flow in flows:
            crossed = set().union(*(of[v] for v in flow.leaves)).difference(*(of[v] for v in flow.root))
            if crossed:
                pays += flow.packets * sum(weights[k] for k in crossed)
                paid.append(flow.to([v for v in flow.leaves if of[v] & crossed]))
        return [i for i, _ in flows], pays, paid

    def by_trees(self, _: dict[str, Any]) -> Any:
        """Count for each sum for all its ranks two minimum spanning trees: of hops, or of calls between ranks."""
        net, pays, paid = self.net, 0, []
        helped = net.rules["switches_copy"] or net.rules["switches_add"]
        for i, x in enumerate(self.items):
            if x.kind == "sum" and x.sources == x.targets:
                away = [0] * net.nodes
                if len(x.sources) == net.ranks < net.nodes and not helped:  # calls pay their whole paths
                    both = [a + b for a, b in zip(*self.near)]
                    away = self.shortest(dict.fromkeys(x.sources, 0), both, self.pays)
                tree = sorted((away[u] + pay + away[v], u, v) for pay, u, v in zip(self.pays, net.source, net.target))
                members, root = set(x.sources), list(range(net.nodes))
                held = [v in members for v in root]
                for pay, u, v in tree:
                    u, v = self.top(root, u), self.top(root, v)
                    if u != v:
                        pays += 2 * pay * x.packets * (held[u] and held[v])
                        held[u], root[v] = held[u] or held[v], u
                paid.append((i, x))
        return [i for i, _ in paid], pays, [x for _, x in paid]

    def top(self, root: list[int], v: int) -> int:
        """Return the node that stands for the part of a node, and shorten the way to it."""
        while root[v] != v:
            root[v] = v = root[root[v]]
        return v

    def cut(self, law: dict[str, Any]) -> bool:
        """Tell whether more must cross from nodes, from slots `since` on, to the others than resources are worth."""
        net, back, since = self.net, law["back"], spread(law["since"], self.net.nodes, "since")
        passes = net.rules["cut_through"] and net.ranks < net.nodes
        need(self.whole and net.order == 1 and not passes, "slots are counted of packets that no switch cuts through")
        self.prices(law)
        last = [int(self.time) - min(slot - 1, int(self.time)) for slot in since]
        heads, tails = (last, since) if back else (since, last)
        least, needed = FAR, 0
        for e, (u, v) in enumerate(zip(net.source, net.target)):
            if heads[u] + net.occupancy[e] + net.latency[e] <= self.time - tails[v]:
                least = min(least, self.pays[e])
        for _, flow in self.flows(law):
            starts, ends = (flow.leaves, flow.root) if (flow.kind == "copy") == back else (flow.root, flow.leaves)
            near, far = [since[v] == 0 for v in starts], [since[v] > self.time for v in ends]
            all_of, any_of = (near, far) if (flow.kind == "copy") != back else (far, near)
            needed += least * flow.packets * (all(all_of) and any(any_of))
        return self.worth(heads, tails) < needed

    # times: how long something takes to its ends

    def reach(self, law: dict[str, Any]) -> bool:
        """Tell whether an item cannot come to all its ends in time."""
        flows = [flow for _, flow in self.flows(law)]
        return any(self.late(flow, law.get("far"), self.time - flow.after - flow.before) for flow in flows)

    def late(self, flow: Item, far: int | None, time: Fraction) -> bool:
        """Return whether a flow is not done within a time: a leaf is too far, or too many are at least `far` away."""
        net, copy = self.net, flow.kind == "copy"
        here = self.travel(dict.fromkeys(flow.root, 0), not copy)
        furthest = max((here[v] for v in flow.leaves), default=0)
        if furthest > time or (furthest == time and not self.whole):
            return True
        if far is None or len(flow.root) > 1 or not flow.leaves or not self.whole:
            return False
        count, found = sum(here[v] >= far for v in flow.leaves), []
        takes = [o + a for o, a in zip(net.occupancy, net.latency)]
        if net.nodes == net.ranks or not net.rules["cut_through"]:
            found.append(self.told(copy, net.nodes, min(takes), -(-far // max(takes)), far, int(time), count))
        if not net.rules["switches_copy" if copy else "switches_add"]:
            found.append(self.told(copy, net.ranks, self.between(not copy), 1, far, int(time), count))
        return any(each < count for each in found)

    def told(self, copy: bool, nodes: int, least: int, hops: int, far: int, time: int, enough: int) -> int:
        """Return how many nodes that are so far away can know something in time, or enough of them.

        The first `nodes` nodes begin at most `places` transfers in `every` slots, each of which takes `least` slots or
        more to the next of them; to those that are far it takes so many `hops` or more.
        """
        net, out, count = self.net, self.near[not copy][:nodes], 0
        places = net.rules["send" if copy else "receive"]
        places = places or max(sum(net.capacity[e] for e, _ in links) for links in out)
        every = min(net.occupancy[e] for links in out for e, _ in links)
        h = max(1, hops)
        while count < enough and max(far, h * least) <= time:
            count += places**h * math.comb((time - max(far, h * least)) // every + h, h)
            h += 1
        return count

    def between(self, back: bool) -> int:
        """Return the least time of travel between two ranks."""
        if back not in self.least:
            rows = [(v, self.travel({v: 0}, back)[: self.net.ranks]) for v in range(self.net.ranks)]
            self.least[back] = min((far for v, row in rows for u, far in enumerate(row) if u != v), default=FAR)
        return self.least[back]

    def blocks(self, collect: list[int], tell: list[int]) -> None:
        """Take each sum for all its ranks as two: one for each of them as a root, and copies from it.

        No sum is at its root before `collect` slots, and nothing comes from a root to all others in less than `tell`.
        """
        net, found = self.net, list[Item]()
        need(len(collect) == len(tell) == net.ranks, "collect and tell must have a number for each rank")
        for x in self.items:
            if x.kind == "copy" or x.sources != x.targets:
                found.append(x)
                continue
            roots = {net.orbit[v] for v in x.sources}
            packets, left = divmod(x.packets * net.order, len(x.sources))
            alike = sorted(x.sources) == [v for v in range(net.ranks) if net.orbit[v] in roots]
            need(alike and not left, "the ranks of a sum cannot be the roots of equally many packets")
            for root in sorted(roots):
                others = [v for v in x.sources if v != root]
                found.append(Item("sum", others, [root], packets, 0, tell[root]))
                found.append(Item("copy", [root], others, packets, collect[root], 0))
                for flow, least in ((found[-2], collect[root]), (found[-1], tell[root])):
                    time = Fraction(least - 1 if self.whole else least)
                    need(
                        not least or self.late(flow, 0, time),
                        f"the sum of rank {root} is complete, or told, in less time",
                    )
        self.items = found


def prove(net: Net, items: list[Item], law: dict[str, Any], goal: Fraction) -> str:
    """Return for which schedules a witness proves that they take `goal` slots; refuse it if it does not.

    Schedules by reduce-scatter + allgather (`blocks`): each rank of a sum for all its ranks is the root of as many
    packets as another; a packet is summed up there, and only then copied from there.
    """
    bound = Bound(net, law["whole"], goal)
    bound.items = items
    scope = "schedules of these packets" if law["whole"] else "all schedules, however messages are cut"
    if law["blocks"] is not None:
        scope = f"schedules {'of these packets ' * law['whole']}by reduce-scatter + allgather"
        bound.blocks(**law["blocks"])
    need(
        {"load": bound.load, "cut": bound.cut, "reach": bound.reach}[law["kind"]](law),
        "the witness does not prove the bound",
    )
    return scope


# -- the whole certificate


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, or refuse it if a key stands there twice."""
    need(len(dict(pairs)) == len(pairs), "a key stands twice in an object")
    return dict(pairs)


def refuse_number(text: str) -> None:
    """Refuse a number of JSON that is not whole."""
    raise Refused(f"{text[:40]} is no whole number")


def check(content: bytes) -> list[str]:
    """Return what a certificate proves, in lines for people; raise `Refused` if it does not."""
    try:
        options: Any = {"parse_float": refuse_number, "parse_constant": refuse_number}
        data = json.loads(content.decode(), object_pairs_hook=once, **options)
    except (ValueError, RecursionError) as error:
        raise Refused("it is no JSON in UTF-8") from error
    wrong = misfit(data, CERTIFICATE)
    need(wrong is None, f"the certificate{wrong}")
    net = Net(data)
    task, items = read_task(data["task"], net)
    unit, slot = data["time"]["unit"], Fraction(data["time"]["slot"])
    need(slot, "a slot takes time")
    took, least = (None if (text := data["claim"][x]) is None else Fraction(text) for x in ("time", "bound"))
    lines = ["accepted", f"task             {task}"]
    lines.append(f"network          {net.nodes} nodes, {net.ranks} of them ranks, {len(net.links)} links")
    need(("schedule" in data) == (took is not None), "a schedule has a time, and only a schedule")
    if took is not None:
        need((took / slot).denominator == 1, "the time of the claim is no number of slots")
        plan = data["schedule"]
        Replay(net, items, plan, int(took / slot))
        rows = len(plan["slot"])
        lines.append(f"transfers        {rows * plan.get('generations', 1) * net.order}, of {rows} in the file")
        lines.append(f"completion time  {told(took, unit)}")
    law = data["bound"]
    need((law is None) == (least is None), "a bound has a witness, and only a bound")
    if least is None:
        return [*lines, "lower bound      none"]
    if law["kind"] == "search":
        return [*lines, f"lower bound      {told(least, unit)}, by search: not certified"]
    scope = prove(net, items, law, least / slot)
    lines.append(f"lower bound      {told(least, unit)}, for {scope}")
    if took is not None and least:
        need(took >= least, "the schedule is faster than the bound")
        best = "optimal" if law["blocks"] is None else "no faster one"  # of its form it need not be
        lines.append(
            f"ratio            {f'1: {best} among {scope}' if took == least else f'{float(took / least):.4f}'}"
        )
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
