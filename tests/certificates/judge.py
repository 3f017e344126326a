"""The verdict of gossamer's own checker on a certificate, every transfer of which is written out for it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from gossamer.errors import GossamerError
from gossamer.networks import Network, SharedPorts
from gossamer.questions.rules import Rules
from gossamer.questions.tasks import ALLCOMBINE, COMBINE, COPY, Messages, Task
from gossamer.schedules import Phase, Schedule
from gossamer.verification import verify

MOST = 50_000
PORTS = {(None, None): "all", (1, 1): "one", (1, None): "one-send", (None, 1): "one-receive"}


class NotComparableError(Exception):
    """What a certificate says cannot be said to gossamer's checker."""


class Packets(Task):
    """Each packet of a certificate as a message; of sums with several goals the k-th alone, unless all contribute."""

    name = "packets"

    def __init__(self, items: list[dict[str, Any]], k: int) -> None:
        origin, kinds, ends = [], [], []
        for item in items:
            sources, targets = item["from"], item["to"]
            if item["kind"] == "copy" or len(sources) == 1:
                if len(sources) > 1:
                    raise NotComparableError("several sources of a copy")
                kinds.append(COPY)
                origin.append(sources[0])
                ends.append([v for v in targets if v != sources[0]])
            elif set(sources) == set(targets):
                kinds.append(ALLCOMBINE)
                origin.append(sources[0])
                ends.append(sources)
            else:
                kinds.append(COMBINE)
                origin.append(targets[k % len(targets)])
                ends.append(sources)
        start = np.cumsum([0, *map(len, ends)])
        flat = np.array([v for row in ends for v in row], np.int32)
        self._messages = Messages(
            np.arange(len(kinds)), np.array(origin, np.int32), np.array(kinds, np.uint8), start, flat
        )

    def messages(self, network: Network, origins: Any = None) -> Messages:
        return self._messages


def network_of(data: dict[str, Any]) -> tuple[Network, np.ndarray]:
    """Return the network of a certificate, and for each of its links the number there."""
    given = data["network"]
    source = np.array(given["source"], int)
    order = np.argsort(source, kind="stable")
    number = np.empty(order.size, int)
    number[order] = np.arange(order.size)

    def column(name: str) -> np.ndarray:
        values = given[name]
        return np.full(order.size, values) if isinstance(values, int) else np.array(values)[order]

    net = Network(
        "certified", given["nodes"], source[order], np.array(given["target"], int)[order], column("capacity"),
        link_occupancy=column("occupancy"), link_latency=column("latency"), terminal_count=given["ranks"],
        links_only=True,
    )  # fmt: skip
    ports = given.get("shared") or []
    if not ports:
        return net, number
    sides = np.full((2, order.size), -1)
    for p, port in enumerate(ports):
        places = number[port["links"]]
        if (sides[int(port["receiving"]), places] >= 0).any():
            raise NotComparableError("a link in several ports")
        sides[int(port["receiving"]), places] = p
    capacity, held = ([port[name] for port in ports] for name in ("capacity", "occupancy"))
    return net.with_ports(SharedPorts(sides[0], sides[1], capacity, held)), number


def images(data: dict[str, Any]) -> list[tuple[list[int], list[int]]]:
    """Return every member of the group of a certificate, as what it makes of nodes and of links."""
    source, target = data["network"]["source"], data["network"]["target"]
    between: dict[tuple[int, int], list[int]] = {}
    for link, ends in enumerate(zip(source, target, strict=True)):
        between.setdefault(ends, []).append(link)
    found = [tuple(range(data["network"]["nodes"]))]
    for p in found:
        for g in (data.get("symmetry") or {}).get("generators", []):
            product = tuple(g[v] for v in p)
            if product not in found:
                found.append(product)
    links = []
    for p in found:
        image = [0] * len(source)
        for (u, v), some in between.items():
            for a, b in zip(some, between[p[u], p[v]], strict=True):
                image[a] = b
        links.append(image)
    return list(zip(map(list, found), links, strict=True))


def items_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a certificate; of a named collective, those of one root of each orbit."""
    task, ranks = data["task"], range(data["network"]["ranks"])
    if "items" in task:
        return list(task["items"])
    orbits = {min(nodes[v] for nodes, _ in images(data)) for v in ranks}
    roots, name = [task["root"]] if "root" in task else sorted(orbits), task["name"]
    packets = task["packets"] // (len(ranks) // len(orbits) if name == "allreduce" else 1)
    if name == "allreduce":
        return [{"kind": "sum", "from": list(ranks), "to": list(ranks), "packets": packets}]
    if name in ("reduce", "reduce-scatter"):
        return [{"kind": "sum", "from": list(ranks), "to": [r], "packets": packets} for r in roots]
    if name in ("broadcast", "allgather"):
        return [{"kind": "copy", "from": [r], "to": [v for v in ranks if v != r], "packets": packets} for r in roots]
    pairs = [(v, r) if name == "gather" else (r, v) for r in roots for v in ranks if v != r]
    return [{"kind": "copy", "from": [u], "to": [v], "packets": packets} for u, v in pairs]


def explicit(data: dict[str, Any]) -> tuple[list[dict[str, Any]], list[tuple[int, int, int, Any]], list[Any]]:
    """Return each packet that travels as an item, all transfers: slot, link, packet, what they carry, and results."""
    plan = data["schedule"]
    generations, period = (plan.get(name) or 1 for name in ("generations", "period"))
    rows = list(zip(plan["slot"], plan["link"], plan["packet"], plan["carries"], strict=True))
    group = images(data)
    if len(group) * generations * len(rows) > MOST:
        raise NotComparableError("too many transfers")
    packets = []
    for item in items_of(data):
        packets += [item] * (item["packets"] // generations)
    every, hops, results, many = [], [], [], len(data["network"]["source"])
    place = {k: sum(e < many for _, e, _, _ in rows[:k]) for k in range(len(rows))}

    def rows_from(first: int, carried: Any) -> list[int]:
        return [place[k] + first if k >= 0 else -1 for k in carried]

    for nodes, links in group:
        for g in range(generations):
            first, row = len(every), len(hops)
            every += [
                {"kind": p["kind"], **{name: [nodes[v] for v in p[name]] for name in ("from", "to")}} for p in packets
            ]
            for t, e, p, c in rows:
                if e < many:
                    hops.append((t + g * period, links[e], first + p, rows_from(row, c)))
                else:
                    results.append((first + p, nodes[e - many], rows_from(row, c)))
    return every, hops, results


def repeats_of(data: dict[str, Any], items: list[dict[str, Any]], hops: list[Any], results: list[Any]) -> list[int]:
    """Return what transfers carry as gossamer's checker knows it: what is there, a row, or what was there in a slot.

    Of copies always what is there.
    """
    net, switches_cut = data["network"], data["rules"]["cut_through"]

    def of(name: str, e: int) -> int:
        return int(net[name] if isinstance(net[name], int) else net[name][e])

    sets: list[set[int]] = []
    came: dict[tuple[int, int], list[tuple[int, set[int]]]] = {}
    found = []

    def there(p: int, v: int, slot: int) -> set[int]:
        has = {v} & set(items[p]["from"])
        for when, new in sorted(came.get((p, v), []), key=lambda each: (each[0], -len(each[1]))):
            if when <= slot:
                has = has | new if not has & new else new if has < new else has
        return has

    for t, e, p, parts in hops:
        u, v = net["source"][e], net["target"][e]
        own = {u} & set(items[p]["from"])
        added = [sets[k] if k >= 0 else own for k in parts]
        carried: set[int] = set().union(*added)
        assert items[p]["kind"] == "copy" or sum(map(len, added)) == len(carried)
        sets.append(carried)

        slots = [s for s in range(t, -1, -1) if there(p, u, s) == carried]
        passes = u >= net["ranks"] and not data["rules"]["switches_add"]
        if items[p]["kind"] == "copy" or len(items[p]["from"]) == 1:
            found.append(-1)
        elif slots and not passes:
            found.append(-1 if slots[0] == t else -2 - slots[0])
        elif len(parts) == 1 and parts[0] >= 0:
            found.append(parts[0])
        else:
            raise NotComparableError("a sum that was never there")
        usable = t + of("latency", e) + (0 if switches_cut and v >= net["ranks"] else of("occupancy", e))
        came.setdefault((p, v), []).append((usable, carried))
    for p, v, parts in results:
        own = {v} & set(items[p]["from"])
        added = [sets[k] if k >= 0 else own for k in parts]
        assert sum(map(len, added)) == len(set().union(*added))
        assert all(k < 0 or (hops[k][2] == p and net["target"][hops[k][1]] == v) for k in parts)
        came.setdefault((p, v), []).insert(0, (0, set().union(*added)))
    for p, item in enumerate(items):
        assert all(there(p, v, 10**18) == set(item["from"]) for v in item["to"] if item["kind"] == "sum")
    return found


def judged(data: dict[str, Any]) -> str | None:
    """Return what gossamer's checker has against the schedule of a certificate; None for nothing.

    Raises
    ------
    NotComparableError
        If it cannot be said to that checker.
    """
    rules = data["rules"]
    slots = Fraction(data["claim"]["time"]) / Fraction(data["time"]["slot"])
    if slots.denominator > 1:
        return "another completion time"
    ports = (rules.get("send"), rules.get("receive"))
    if ports not in PORTS:
        raise NotComparableError("several packets in a port")
    try:
        net, number = network_of(data)
        items, hops, results = explicit(data)
        order = sorted(range(len(hops)), key=lambda i: hops[i][0])
        place = {old: new for new, old in enumerate(order)}
        sums = [items[hops[i][2]]["kind"] == "sum" and len(items[hops[i][2]]["from"]) > 1 for i in order]
        carries = repeats_of(data, items, hops, results)
        repeats = [place[carries[i]] if carries[i] >= 0 else carries[i] for i in order]
        columns = [[hops[i][0] for i in order], number[[hops[i][1] for i in order]], [hops[i][2] for i in order]]
        given = Rules(
            ports=PORTS[ports], buffer=rules.get("buffer"), buffer_counts=rules["buffer_counts"],
            cut_through=rules["cut_through"], replication=rules["switches_copy"], reduction=rules["switches_add"],
        )  # fmt: skip
        goals = max((len(i["to"]) for i in items if i["kind"] == "sum" and set(i["from"]) != set(i["to"])), default=1)
        for k in range(goals):
            schedule = Schedule(
                net, Packets(items, k), given, *columns, phases=[Phase("all", int(slots))],
                repeats=None if set(repeats) <= {-1} else repeats,
            )  # fmt: skip
            found = verify(schedule)
            if not found and given.reduction:  # switches may add here, where that checker has them add all that comes
                stricter = verify(schedule.replace(rules=replace(given, reduction=False)))
                found = stricter if stricter else found
            copies = [v for v in found.violations if v.kind == "duplicate" and not any(sums)]
            if set(found.counts) == {"buffer"} and any(sums):
                raise NotComparableError("a sum that is replaced leaves the buffer")
            if set(found.counts) == {"duplicate"} and any(sums):
                raise NotComparableError("a sum that comes to a node that ignores it")
            if set(found.counts) <= {"duplicate", "delivery"} and max(repeats, default=-1) >= 0:
                raise NotComparableError("a sum that a node both keeps and sends on alone")
            if not found and len(copies) < sum(found.counts.values()):
                return str(found)
    except GossamerError as error:
        raise NotComparableError(str(error)) from error
    return None
